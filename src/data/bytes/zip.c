/* zip.c -- reading and building zip archives in memory. */
#include "zip.h"
#include "expansion.h"
#include "base/context_internal.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <zip.h>
#include <zlib.h>

struct cri_zip {
    char  *source;
    zip_t *archive;
    size_t count;
};

/* libzip reports its own lack of memory, that of zlib in another way, and some of it as an archive
 * that is none; but malloc leaves its mark in errno, which is cleared before libzip is called. */
static bool is_memory(const zip_error_t *error)
{
    int code = zip_error_code_zip(error);
    return code == ZIP_ER_MEMORY || code == ZIP_ER_OK || errno == ENOMEM ||
           (code == ZIP_ER_ZLIB && zip_error_code_system(error) == Z_MEM_ERROR);
}

/* A failure of libzip in words; memory is told apart, since the caller can do something else. */
static cr_status fail_zip(cr_ctx *cx, const char *source, const char *what, zip_error_t *error)
{
    if (is_memory(error))
        return cr_fail(cx, CR_ENOMEM, "%s: out of memory in the zip archive", source);
    return cr_fail(cx, CR_EDATA, "%s: %s: %s", source, what, zip_error_strerror(error));
}

/* --- reading --------------------------------------------------------------------------------- */

/* Entries that share bytes would let a small archive stand for a huge one: their compressed sizes
 * must fit into the archive side by side.  What they unpack to is bounded as well; a claim that no
 * entry can meet is refused when it is extracted. */
static cr_status check_sizes(cr_ctx *cx, const cri_zip *z, size_t size)
{
    size_t   left = size;
    uint64_t unpacked = 0;
    for (size_t i = 0; i < z->count; i++) {
        zip_stat_t info;
        if (zip_stat_index(z->archive, i, 0, &info) != 0)
            return fail_zip(cx, z->source, "a damaged zip archive", zip_get_error(z->archive));
        if (!(info.valid & ZIP_STAT_COMP_SIZE) || info.comp_size > left)
            return cr_fail(cx, CR_EDATA,
                           "%s: a damaged zip archive: its entries do not fit into it", z->source);
        left -= (size_t)info.comp_size;
        if (info.valid & ZIP_STAT_SIZE && info.size / CRI_ZIP_RATIO <= info.comp_size)
            unpacked += info.size;
    }
    return cri_check_expansion(cx, z->source, size, unpacked);
}

cr_status cri_zip_open(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                       cri_zip **out_zip)
{
    cr_status     st = CR_OK;
    zip_error_t   error;
    zip_source_t *from = NULL;
    cri_zip      *z = cr_alloc(cx, 1, sizeof *z);

    zip_error_init(&error);
    if (!z) CR_TRY(CR_ENOMEM);
    z->source = cri_string_copy(cx, source);
    if (!z->source) CR_TRY(CR_ENOMEM);
    errno = 0;
    from = zip_source_buffer_create(bytes, size, 0, &error);
    if (!from) CR_TRY(fail_zip(cx, source, "the zip archive cannot be read", &error));
    z->archive = zip_open_from_source(from, ZIP_RDONLY, &error);
    if (!z->archive) CR_TRY(fail_zip(cx, source, "the zip archive cannot be read", &error));
    from = NULL; /* the archive has it now */
    zip_int64_t n = zip_get_num_entries(z->archive, 0);
    if (n < 0 || n > CRI_ZIP_ENTRIES)
        CR_TRY(cr_fail(cx, CR_EDATA, "%s: a zip archive of more than %d entries", source,
                       CRI_ZIP_ENTRIES));
    z->count = (size_t)n;
    CR_TRY(check_sizes(cx, z, size));
    *out_zip = z;
    z = NULL;
done:
    zip_source_free(from);
    zip_error_fini(&error);
    cri_zip_close(cx, z);
    return st;
}

void cri_zip_close(cr_ctx *cx, cri_zip *z)
{
    if (!z) return;
    if (z->archive) zip_discard(z->archive);
    cri_string_free(cx, z->source);
    cr_free(cx, z, 1, sizeof *z);
}

size_t cri_zip_count(const cri_zip *z) { return z->count; }

cr_status cri_zip_name(cr_ctx *cx, const cri_zip *z, size_t index, const char **out_name)
{
    errno = 0;
    const char *name = zip_get_name(z->archive, index, ZIP_FL_ENC_STRICT);
    if (!name) return fail_zip(cx, z->source, "a damaged zip archive", zip_get_error(z->archive));
    *out_name = name;
    return CR_OK;
}

bool cri_zip_is_stored(const cri_zip *z, size_t index)
{
    const zip_uint64_t needed =
        ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
    zip_stat_t info;
    return zip_stat_index(z->archive, index, 0, &info) == 0 && (info.valid & needed) == needed &&
           info.comp_method == ZIP_CM_STORE && info.encryption_method == ZIP_EM_NONE &&
           info.size == info.comp_size;
}

/* The size an entry claims to have, when its compressed bytes can make that many. */
static cr_status claimed_size(cr_ctx *cx, const cri_zip *z, size_t index, size_t *out_size)
{
    const zip_uint64_t needed = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
    zip_stat_t         info;
    if (zip_stat_index(z->archive, index, 0, &info) != 0)
        return fail_zip(cx, z->source, "a damaged zip archive", zip_get_error(z->archive));
    const char *name = info.valid & ZIP_STAT_NAME ? info.name : "?";
    if ((info.valid & needed) != needed ||
        (info.comp_method != ZIP_CM_STORE && info.comp_method != ZIP_CM_DEFLATE))
        return cr_fail(cx, CR_EDATA, "%s: entry '%.200s' is neither stored nor deflated", z->source,
                       name);
    if (info.valid & ZIP_STAT_ENCRYPTION_METHOD && info.encryption_method != ZIP_EM_NONE)
        return cr_fail(cx, CR_EDATA, "%s: entry '%.200s' is encrypted", z->source, name);
    zip_uint64_t ratio = info.comp_method == ZIP_CM_STORE ? 1 : CRI_ZIP_RATIO;
    if (info.size / ratio > info.comp_size || info.size > PTRDIFF_MAX)
        return cr_fail(cx, CR_EDATA,
                       "%s: entry '%.200s' claims to unpack from %llu to %llu bytes: damaged, or "
                       "made to fill the memory",
                       z->source, name, (unsigned long long)info.comp_size,
                       (unsigned long long)info.size);
    *out_size = (size_t)info.size;
    return CR_OK;
}

/* Reads exactly size bytes, which must be all; the last read, at the end, verifies the checksum. */
static cr_status read_entry(cr_ctx *cx, const cri_zip *z, zip_file_t *file, char *bytes,
                            size_t size)
{
    enum { STEP = 1 << 24 };
    cr_status st = CR_OK;
    size_t    used = 0;
    char      extra;
    for (;;) {
        size_t      space = size - used;
        zip_int64_t n = zip_fread(file, space ? bytes + used : &extra,
                                  space == 0     ? 1
                                  : space < STEP ? space
                                                 : STEP);
        if (n < 0)
            CR_TRY(fail_zip(cx, z->source, "a damaged entry in the zip archive",
                            zip_file_get_error(file)));
        if (n == 0) break;
        if (space == 0)
            CR_TRY(cr_fail(cx, CR_EDATA, "%s: an entry is larger than it claims", z->source));
        used += (size_t)n;
        CR_TRY(cr_check_interrupt(cx));
    }
    if (used < size && errno == ENOMEM)
        CR_TRY(fail_zip(cx, z->source, "", zip_file_get_error(file)));
    if (used < size)
        CR_TRY(cr_fail(cx, CR_EDATA, "%s: an entry is shorter than it claims", z->source));
done:
    return st;
}

cr_status cri_zip_extract(cr_ctx *cx, const cri_zip *z, size_t index, char **out_bytes,
                          size_t *out_size)
{
    cr_status   st = CR_OK;
    zip_file_t *file = NULL;
    char       *bytes = NULL;
    size_t      size = 0;

    CR_TRY(claimed_size(cx, z, index, &size));
    bytes = cr_resize(cx, NULL, 0, size, 1);
    if (!bytes) CR_TRY(CR_ENOMEM);
    errno = 0;
    file = zip_fopen_index(z->archive, index, 0);
    if (!file)
        CR_TRY(fail_zip(cx, z->source, "a damaged entry in the zip archive",
                        zip_get_error(z->archive)));
    CR_TRY(read_entry(cx, z, file, bytes, size));
    *out_bytes = bytes;
    *out_size = size;
    bytes = NULL;
done:
    if (file) zip_fclose(file);
    cr_free(cx, bytes, size, 1);
    return st;
}

/* --- building -------------------------------------------------------------------------------- */

/* The moment that libzip, which thinks in local time, writes as 1980-01-01 12:00. */
static time_t fixed_date(void)
{
    struct tm date = { .tm_year = 80, .tm_mday = 1, .tm_hour = 12, .tm_isdst = -1 };
    return mktime(&date);
}

static cr_status fail_build(cr_ctx *cx, zip_error_t *error)
{
    if (is_memory(error))
        return cr_fail(cx, CR_ENOMEM, "out of memory while a zip archive is built");
    return cr_fail(cx, CR_EIO, "a zip archive cannot be built: %s", zip_error_strerror(error));
}

static cr_status add_item(cr_ctx *cx, zip_t *archive, const cri_zip_item *item)
{
    zip_source_t *from = zip_source_buffer(archive, item->bytes, item->size, 0);
    zip_int64_t   index = from ? zip_file_add(archive, item->name, from, 0) : -1;
    if (index < 0) {
        zip_source_free(from);
        return fail_build(cx, zip_get_error(archive));
    }
    if (zip_set_file_compression(archive, (zip_uint64_t)index, ZIP_CM_STORE, 0) != 0 ||
        zip_file_set_mtime(archive, (zip_uint64_t)index, fixed_date(), 0) != 0)
        return fail_build(cx, zip_get_error(archive));
    return CR_OK;
}

/* Copies what libzip wrote out of its buffer. */
static cr_status copy_out(cr_ctx *cx, zip_source_t *from, char **out_bytes, size_t *out_size)
{
    cr_status  st = CR_OK;
    zip_stat_t info;
    char      *bytes = NULL;
    size_t     size = 0, used = 0;
    bool       opened = false;

    if (zip_source_stat(from, &info) != 0 || !(info.valid & ZIP_STAT_SIZE))
        CR_TRY(fail_build(cx, zip_source_error(from)));
    size = (size_t)info.size;
    bytes = cr_resize(cx, NULL, 0, size, 1);
    if (!bytes) CR_TRY(CR_ENOMEM);
    opened = zip_source_open(from) == 0;
    if (!opened) CR_TRY(fail_build(cx, zip_source_error(from)));
    while (used < size) {
        zip_int64_t n = zip_source_read(from, bytes + used, size - used);
        if (n <= 0) CR_TRY(fail_build(cx, zip_source_error(from)));
        used += (size_t)n;
    }
    *out_bytes = bytes;
    *out_size = size;
    bytes = NULL;
done:
    if (opened) zip_source_close(from);
    cr_free(cx, bytes, size, 1);
    return st;
}

cr_status cri_zip_build(cr_ctx *cx, const cri_zip_item *items, size_t n, const char *comment,
                        char **out_bytes, size_t *out_size)
{
    cr_status     st = CR_OK;
    zip_t        *archive = NULL;
    zip_error_t   error;
    zip_source_t *into;

    errno = 0;
    zip_error_init(&error);
    into = zip_source_buffer_create(NULL, 0, 0, &error);
    if (!into) CR_TRY(fail_build(cx, &error));
    archive = zip_open_from_source(into, ZIP_TRUNCATE, &error);
    if (!archive) CR_TRY(fail_build(cx, &error));
    zip_source_keep(into); /* the archive frees its own hold when it is closed */
    for (size_t i = 0; i < n; i++) CR_TRY(add_item(cx, archive, &items[i]));
    if (zip_set_archive_comment(archive, comment, (zip_uint16_t)strlen(comment)) != 0 ||
        zip_close(archive) != 0)
        CR_TRY(fail_build(cx, zip_get_error(archive)));
    archive = NULL;
    CR_TRY(copy_out(cx, into, out_bytes, out_size));
done:
    if (archive) zip_discard(archive);
    zip_source_free(into);
    zip_error_fini(&error);
    return st;
}
