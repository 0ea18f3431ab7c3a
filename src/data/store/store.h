/* store.h -- the model file: a zip of `model.json` and `.npy` arrays.
 * `unzip` and numpy.load read it.  Entries are stored, not compressed, so an entry is never larger
 * than the file; the order of entries, their dates and the number texts are fixed, so the same
 * model gives the same bytes.  The archive comment holds format version, size and a checksum of all
 * bytes before it: a file with any bit changed is refused.  Loading never runs code.  (Internal
 * header.) */
#ifndef CREDENCE_DATA_STORE_STORE_H
#define CREDENCE_DATA_STORE_STORE_H

#include "base/context.h"

#include <jansson.h>

typedef struct cri_store cri_store;

cr_status cri_store_new(cr_ctx *cx, cri_store **out_store);
void      cri_store_free(cr_ctx *cx, cri_store *store);

/* The root object of model.json; owned by the store. */
json_t *cri_store_json(const cri_store *store);
/* The name used in messages: the path it came from, or "the model". */
const char *cri_store_source(const cri_store *store);

/* Adds an array under `name` (letters, digits, '_', '/'): n numbers, or a rows x cols matrix. */
cr_status cri_store_put_vector(cr_ctx *cx, cri_store *store, const char *name, const double *a,
                               size_t n);
cr_status cri_store_put_matrix(cr_ctx *cx, cri_store *store, const char *name, const double *a,
                               size_t rows, size_t cols);
/* Gives a copy of an array, from cr_alloc (freed with cr_free(cx, a, n, sizeof(double)), or with
 * rows * cols; never NULL, also for no elements).  The shape must be the one given; every value
 * must be finite unless the array was put with others.  Fails with CR_EDATA naming file and array
 * when it is not there or has another shape. */
cr_status cri_store_get_vector(cr_ctx *cx, const cri_store *store, const char *name, size_t n,
                               double **out_a);
cr_status cri_store_get_matrix(cr_ctx *cx, const cri_store *store, const char *name, size_t rows,
                               size_t cols, double **out_a);

/* From now on arrays are put, looked for and read under PREFIX/NAME; "" ends it.  For several of a kind. */
void cri_store_within(cri_store *store, const char *prefix);

/* true when there is an array under this name. */
bool cri_store_has(const cri_store *store, const char *name);

/* Checked reading of JSON members; `object` is the root or a part of it.  Fail with CR_EDATA. */
cr_status cri_store_get_real(cr_ctx *cx, const cri_store *store, const json_t *object,
                             const char *key, double *out);
cr_status cri_store_get_count(cr_ctx *cx, const cri_store *store, const json_t *object,
                              const char *key, size_t *out);
/* *out points into the store. */
cr_status cri_store_get_text(cr_ctx *cx, const cri_store *store, const json_t *object,
                             const char *key, const char **out);
cr_status cri_store_get_object(cr_ctx *cx, const cri_store *store, const json_t *object,
                               const char *key, json_t **out);
cr_status cri_store_get_array(cr_ctx *cx, const cri_store *store, const json_t *object,
                              const char *key, json_t **out);
/* Sets object[key] = value (the reference is taken, also on failure; NULL value = CR_ENOMEM). */
cr_status cri_store_set(cr_ctx *cx, json_t *object, const char *key, json_t *value);
/* Adds a value to a list, likewise. */
cr_status cri_store_append(cr_ctx *cx, json_t *list, json_t *value);
/* cri_store_set for a number, with CR_ENUMERIC when it is not finite, and for a text, with CR_EDATA
 * when it is not UTF-8: jansson makes NULL of either. */
cr_status cri_store_set_real(cr_ctx *cx, json_t *object, const char *key, double value);
cr_status cri_store_set_text(cr_ctx *cx, json_t *object, const char *key, const char *value);

/* To and from bytes (from cr_alloc) and files; saving is atomic. */
cr_status cri_store_to_bytes(cr_ctx *cx, const cri_store *store, char **out_bytes,
                             size_t *out_size);
cr_status cri_store_from_bytes(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                               cri_store **out_store);
cr_status cri_store_save(cr_ctx *cx, const cri_store *store, const char *path);
cr_status cri_store_load(cr_ctx *cx, const char *path, cri_store **out_store);

#endif
