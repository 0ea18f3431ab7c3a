/* fuzz_cred.c -- any bytes as a model file: refused, or all that it holds can be asked for.
 * The first byte chooses: 0 = the rest as it is; 1 = the rest with its checksum made right, to get
 * past it; else the rest is JSON and an array, made into a file with a right checksum.
 * clang -fsanitize=fuzzer,address,undefined. */
#include "data/bytes/zip.h"
#include "data/store/store_internal.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool fact)
{
    if (!fact) abort();
}

/* A sealed file: JSON up to the first NUL byte, then a .npy file. */
static char *build(cr_ctx *cx, const uint8_t *data, size_t size, size_t *out_size)
{
    const uint8_t *nul = size ? memchr(data, 0, size) : NULL;
    size_t         n = nul ? (size_t)(nul - data) : size;
    cri_zip_item   items[2] = { { "model.json", data, n },
                                { "a/b.npy", nul ? nul + 1 : data, nul ? size - n - 1 : 0 } };
    char           buffer[CRI_STORE_FRAME + 1], *bytes = NULL;
    memset(buffer, '.', CRI_STORE_FRAME);
    buffer[CRI_STORE_FRAME] = '\0';
    if (cri_zip_build(cx, items, 2, buffer, &bytes, out_size) != CR_OK) return NULL;
    cri_store_seal(bytes, *out_size, CRI_STORE_VERSION);
    return bytes;
}

static void ask_json(cr_ctx *cx, const cri_store *s, const json_t *object)
{
    const char *key;
    json_t     *value, *part;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        double      x;
        size_t      n;
        const char *text;
        cri_store_get_real(cx, s, object, key, &x);
        cri_store_get_count(cx, s, object, key, &n);
        cri_store_get_text(cx, s, object, key, &text);
        cri_store_get_array(cx, s, object, key, &part);
        if (cri_store_get_object(cx, s, object, key, &part) == CR_OK) ask_json(cx, s, part);
    }
}

/* What was loaded can be asked for, and saved and loaded again with the same bytes. */
static void ask_everything(cr_ctx *cx, const cri_store *s)
{
    ask_json(cx, s, cri_store_json(s));
    for (size_t i = 0; i < s->n; i++) {
        const cri_npy *a = &s->arrays[i].array;
        const char    *name = s->arrays[i].name;
        double        *got;
        cr_status      st = a->dims == 1 ? cri_store_get_vector(cx, s, name, a->rows, &got)
                                         : cri_store_get_matrix(cx, s, name, a->rows, a->cols, &got);
        if (st == CR_OK) cr_free(cx, got, a->rows * a->cols, sizeof *got);
    }
    char      *bytes[2] = { NULL, NULL };
    size_t     size[2] = { 0, 0 };
    cri_store *again = NULL;
    if (cri_store_to_bytes(cx, s, &bytes[0], &size[0]) == CR_OK &&
        cri_store_from_bytes(cx, "again", bytes[0], size[0], &again) == CR_OK &&
        cri_store_to_bytes(cx, again, &bytes[1], &size[1]) == CR_OK)
        require(size[0] == size[1] && memcmp(bytes[0], bytes[1], size[0]) == 0);
    else
        require(cr_error_status(cx) == CR_ENOMEM);
    cri_store_free(cx, again);
    for (size_t k = 0; k < 2; k++) cr_free(cx, bytes[k], size[k], 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cr_ctx *cx;
    if (size < 1 || cr_ctx_new(NULL, &cx) != CR_OK) return 0;
    cr_ctx_set_memory_limit(cx, (size_t)1 << 27);
    unsigned mode = data[0];
    size_t   n = size - 1;
    char    *bytes = mode > 1 ? build(cx, data + 1, n, &n) : cr_alloc(cx, n, 1);
    if (bytes) {
        if (mode <= 1 && n) memcpy(bytes, data + 1, n);
        if (mode == 1 && n >= CRI_STORE_FRAME) cri_store_seal(bytes, n, CRI_STORE_VERSION);
        cri_store *s = NULL;
        cr_status  st = cri_store_from_bytes(cx, "fuzz", bytes, n, &s);
        require(st == CR_OK || st == CR_EDATA || st == CR_ENOMEM);
        require((st == CR_OK) == (s != NULL));
        if (s) ask_everything(cx, s);
        cri_store_free(cx, s);
        cr_free(cx, bytes, n, 1);
    }
    require(cr_ctx_memory(cx) == 0);
    cr_ctx_free(cx);
    return 0;
}
