/* store_file.c -- the model file: the zip archive and the frame that tells damage.
 * The frame is the archive comment, the last CRI_STORE_FRAME bytes of the file: the version of the
 * format, the size of the file, and the CRC-32 of every byte before the digits of the checksum. */
#include "store_internal.h"
#include "base/bytes.h"
#include "base/file.h"
#include "base/scratch.h"
#include "data/bytes/zip.h"

#include <stdio.h>
#include <string.h>
#include <zlib.h>

enum {
    CHECKSUM_SIZE = 8,
    VERSION_MOST = 9, /* one digit: the frame has a fixed size */
    NAME_AT = 30,     /* of the first entry's name in a zip archive */
    JSON_MOST = 1 << 28
};

static const char entry_start[] = "PK\3\4";
static const char archive_end[] = "PK\5\6";
static const char frame_start[] = "credence ";
static const char json_name[] = "model.json";

/* --- the frame ------------------------------------------------------------------------------- */

static uint32_t checksum(const char *bytes, size_t size)
{
    return (uint32_t)crc32_z(0, (const unsigned char *)bytes, size);
}

/* "credence 1 size=00000000000000004711 crc32=01234567" */
static void print_frame(char out[CRI_STORE_FRAME + 1], unsigned version, size_t size, uint32_t crc)
{
    snprintf(out, CRI_STORE_FRAME + 1, "%s%u size=%020zu crc32=%08lx", frame_start,
             version % (VERSION_MOST + 1), size, (unsigned long)crc);
}

void cri_store_seal(char *bytes, size_t size, unsigned version)
{
    char frame[CRI_STORE_FRAME + 1];
    print_frame(frame, version, size, 0);
    memcpy(bytes + size - CRI_STORE_FRAME, frame, CRI_STORE_FRAME);
    print_frame(frame, version, size, checksum(bytes, size - CHECKSUM_SIZE));
    memcpy(bytes + size - CRI_STORE_FRAME, frame, CRI_STORE_FRAME);
}

/* The version in the frame at `frame`, or 0 when there is no frame. */
static unsigned version_of(const char *frame)
{
    size_t n = sizeof frame_start - 1;
    bool   ours = memcmp(frame, frame_start, n) == 0 && frame[n] >= '1' && frame[n] <= '9' &&
                memcmp(frame + n + 1, " size=", 6) == 0;
    return ours ? (unsigned)(frame[n] - '0') : 0;
}

static cr_status fail_foreign(cr_ctx *cx, const char *source, const char *why)
{
    cr_fail(cx, CR_EDATA, "%s is not a model file: %s", source, why);
    return cr_fail_hint(cx, "make one: credence fit MODEL DATA --target COLUMN -o FILE.cred");
}

/* A file whose first entry is not ours, or that is too short to say. */
static cr_status check_start(cr_ctx *cx, const char *source, const char *bytes, size_t size)
{
    size_t magic = sizeof entry_start - 1, name = sizeof json_name - 1;
    if (size == 0) return fail_foreign(cx, source, "it is empty");
    if (memcmp(bytes, entry_start, size < magic ? size : magic) != 0)
        return fail_foreign(cx, source, "it does not begin like a model file");
    if (size >= NAME_AT + name && memcmp(bytes + NAME_AT, json_name, name) != 0)
        return fail_foreign(cx, source, "it is a zip archive that does not begin with model.json");
    return CR_OK;
}

/* No frame at the end: more bytes after it, or less than the whole. */
static cr_status fail_end(cr_ctx *cx, const char *source, const char *bytes, size_t size)
{
    const char *end = cri_find_text(bytes, size, archive_end);
    if (end) return cr_fail(cx, CR_EDATA, "%s is damaged: its checksum is not at its end", source);
    cr_fail(cx, CR_EDATA, "%s is cut short: only its first %zu bytes are there", source, size);
    return cr_fail_hint(cx, "copy it again, or fit it again");
}

/* Tells a sound file of this version from everything else, before anything in it is believed. */
static cr_status check_frame(cr_ctx *cx, const char *source, const char *bytes, size_t size)
{
    cr_status st = CR_OK;
    CR_TRY(check_start(cx, source, bytes, size));
    const char *frame = size > CRI_STORE_FRAME ? bytes + size - CRI_STORE_FRAME : NULL;
    unsigned    version = frame ? version_of(frame) : 0;
    if (version == 0) CR_TRY(fail_end(cx, source, bytes, size));

    char right[CRI_STORE_FRAME + 1];
    print_frame(right, version, size, checksum(bytes, size - CHECKSUM_SIZE));
    if (memcmp(frame, right, CRI_STORE_FRAME) != 0) {
        cr_fail(cx, CR_EDATA, "%s is damaged: its %s does not match its contents", source,
                memcmp(frame, right, CRI_STORE_FRAME - CHECKSUM_SIZE) != 0 ? "size" : "checksum");
        CR_TRY(cr_fail_hint(cx, "copy it again, or fit it again"));
    }
    if (version > CRI_STORE_VERSION)
        CR_TRY(cr_fail(cx, CR_EDATA,
                       "%s was made by a newer credence (format %u; this one reads %d)", source,
                       version, CRI_STORE_VERSION));
done:
    return st;
}

/* --- to bytes -------------------------------------------------------------------------------- */

static cr_status print_json(cr_ctx *cx, const cri_store *s, char **out_text, size_t *out_size)
{
    const size_t flags = JSON_INDENT(1) | JSON_REAL_PRECISION(17);
    size_t       size = json_dumpb(s->root, NULL, 0, flags);
    char        *text = size ? cr_resize(cx, NULL, 0, size, 1) : NULL;
    if (size && !text) return CR_ENOMEM;
    if (!text || json_dumpb(s->root, text, size, flags) != size) {
        cr_free(cx, text, size, 1);
        return cr_fail(cx, CR_ENOMEM, "%s: out of memory while its JSON is written", s->source);
    }
    *out_text = text;
    *out_size = size;
    return CR_OK;
}

cr_status cri_store_to_bytes(cr_ctx *cx, const cri_store *s, char **out_bytes, size_t *out_size)
{
    cr_status     st = CR_OK;
    cr_scratch    scratch = cr_scratch_begin(cx);
    cri_zip_item *items = cr_scratch_bytes(&scratch, s->n + 1, sizeof *items);
    size_t        json_size = 0;
    char         *json = NULL, frame[CRI_STORE_FRAME + 1];

    CR_TRY(scratch.status);
    CR_TRY(print_json(cx, s, &json, &json_size));
    items[0] = (cri_zip_item){ json_name, json, json_size };
    for (size_t i = 0; i < s->n; i++) {
        const cri_stored *a = &s->arrays[i];
        size_t            capacity = strlen(a->name) + sizeof ".npy";
        char             *name = cr_scratch_bytes(&scratch, capacity, 1);
        CR_TRY(scratch.status);
        snprintf(name, capacity, "%s.npy", a->name);
        items[i + 1] = (cri_zip_item){ name, a->bytes, a->size };
    }
    print_frame(frame, CRI_STORE_VERSION, 0, 0); /* its room */
    CR_TRY(cri_zip_build(cx, items, s->n + 1, frame, out_bytes, out_size));
    cri_store_seal(*out_bytes, *out_size, CRI_STORE_VERSION);
done:
    cr_free(cx, json, json_size, 1);
    cr_scratch_end(&scratch);
    return st;
}

cr_status cri_store_save(cr_ctx *cx, const cri_store *s, const char *path)
{
    char     *bytes;
    size_t    size;
    cr_status st = cri_store_to_bytes(cx, s, &bytes, &size);
    if (st != CR_OK) return st;
    st = cri_file_save(cx, path, bytes, size);
    cr_free(cx, bytes, size, 1);
    return st;
}

/* --- from bytes ------------------------------------------------------------------------------ */

/* No less memory than jansson takes for this text: an empty object is 3 bytes there, 250 here. */
static size_t json_memory(const char *text, size_t size)
{
    size_t groups = 1, members = 1;
    for (size_t i = 0; i < size; i++) {
        groups += text[i] == '{' || text[i] == '[';
        members += text[i] == ',' || text[i] == ':';
    }
    return 256 * groups + 128 * members + 2 * size;
}

static cr_status parse_json(cr_ctx *cx, const char *source, const char *text, size_t size,
                            json_t **out_root)
{
    json_error_t error;
    if (size > JSON_MOST)
        return cr_fail(cx, CR_EDATA, "%s: its model.json has %zu bytes, more than the %d allowed",
                       source, size, JSON_MOST);
    /* jansson allocates by itself, and when that fails it may lose characters (2.14): ask first
     * whether the memory limit and the system leave it the room. */
    size_t capacity = json_memory(text, size);
    void  *probe = cr_resize(cx, NULL, 0, capacity, 1);
    if (!probe) return CR_ENOMEM;
    cr_free(cx, probe, capacity, 1);
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    /* where jansson runs out of memory it often says nothing at all */
    if (!root && (error.text[0] == '\0' || json_error_code(&error) == json_error_out_of_memory))
        return cr_fail(cx, CR_ENOMEM, "%s: out of memory for the model's JSON", source);
    if (!root)
        return cr_fail(cx, CR_EDATA, "%s: model.json:%d:%d: %s", source, error.line, error.column,
                       error.text);
    if (!json_is_object(root)) {
        json_decref(root);
        return cr_fail(cx, CR_EDATA, "%s: model.json is not an object", source);
    }
    *out_root = root;
    return CR_OK;
}

/* The bytes of an entry, which must be stored as it is, and its name. */
static cr_status take_entry(cr_ctx *cx, const char *source, const cri_zip *zip, size_t index,
                            const char **out_name, char **out_bytes, size_t *out_size)
{
    cr_status st = cri_zip_name(cx, zip, index, out_name);
    if (st == CR_OK && !cri_zip_is_stored(zip, index))
        st = cr_fail(cx, CR_EDATA, "%s: entry '%.200s' is compressed; a model file's are not",
                     source, *out_name);
    return st == CR_OK ? cri_zip_extract(cx, zip, index, out_bytes, out_size) : st;
}

static cr_status take_json(cr_ctx *cx, const char *source, const cri_zip *zip,
                           cri_store **out_store)
{
    cr_status   st = CR_OK;
    const char *name;
    char       *bytes = NULL;
    size_t      size = 0;
    json_t     *root = NULL;

    CR_TRY(take_entry(cx, source, zip, 0, &name, &bytes, &size));
    if (strcmp(name, json_name) != 0)
        CR_TRY(
            cr_fail(cx, CR_EDATA, "%s: its first entry is '%.200s', not model.json", source, name));
    CR_TRY(parse_json(cx, source, bytes, size, &root));
    CR_TRY(cri_store_with_json(cx, source, root, out_store));
done:
    cr_free(cx, bytes, size, 1);
    return st;
}

static cr_status take_array(cr_ctx *cx, const cri_zip *zip, size_t index, cri_store *s)
{
    const char *name;
    char       *bytes;
    size_t      size;
    cr_status   st = take_entry(cx, s->source, zip, index, &name, &bytes, &size);
    if (st != CR_OK) return st;
    size_t n = strlen(name);
    if (n >= 4 && strcmp(name + n - 4, ".npy") == 0)
        return cri_store_add(cx, s, name, n - 4, bytes, size);
    cr_free(cx, bytes, size, 1);
    return cr_fail(cx, CR_EDATA, "%s: its entry '%.200s' is not known in a model file", s->source,
                   name);
}

cr_status cri_store_from_bytes(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                               cri_store **out_store)
{
    cr_status  st = CR_OK;
    cri_zip   *zip = NULL;
    cri_store *s = NULL;

    CR_TRY(check_frame(cx, source, bytes, size));
    CR_TRY(cri_zip_open(cx, source, bytes, size, &zip));
    size_t n = cri_zip_count(zip);
    if (n == 0) CR_TRY(cr_fail(cx, CR_EDATA, "%s: model.json is missing", source));
    CR_TRY(take_json(cx, source, zip, &s));
    for (size_t i = 1; i < n; i++) CR_TRY(take_array(cx, zip, i, s));
    *out_store = s;
    s = NULL;
done:
    cri_store_free(cx, s);
    cri_zip_close(cx, zip);
    return st;
}

cr_status cri_store_load(cr_ctx *cx, const char *path, cri_store **out_store)
{
    char     *bytes;
    size_t    size;
    cr_status st = cri_file_load(cx, path, 0, &bytes, &size);
    if (st != CR_OK) return st;
    st = cri_store_from_bytes(cx, path, bytes, size, out_store);
    cr_free(cx, bytes, size, 1);
    return st;
}
