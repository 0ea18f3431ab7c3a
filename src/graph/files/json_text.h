/* json_text.h -- a JSON document whose values know their place.
 * jansson keeps no positions.  A failure names a value of the tree; the tree and the text are then
 * walked side by side until that value is reached, and the sentence gets file, line, column and a
 * caret.  The texts true, false and null are one value each, so that the first of them is shown.
 * (Internal header.) */
#ifndef CREDENCE_GRAPH_FILES_JSON_TEXT_H
#define CREDENCE_GRAPH_FILES_JSON_TEXT_H

#include "base/context.h"

#include <jansson.h>

/* A value that is not in the text, and the one there that it was made from. */
typedef struct cri_json_made {
    const json_t *value, *from;
} cri_json_made;

typedef struct cri_json {
    cr_ctx        *cx;
    const char    *source, *bytes; /* borrowed */
    size_t         size;
    json_t        *root; /* an object */
    json_t        *own;  /* what was made of it (json_plates.h), or NULL */
    cri_json_made *made; /* [n_made] of [capacity] by ascending `value`, once they are sorted */
    size_t         n_made, capacity;
} cri_json;

/* Reads an object; a key that stands twice is refused.  CR_EDATA. */
cr_status cri_json_open(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                        cri_json *out);
void      cri_json_close(cri_json *d);

/* What a value was made from: itself, where it is of the text. */
const json_t *cri_json_origin(const cri_json *d, const json_t *value);

/* Fails with CR_EDATA at a value. */
cr_status cri_json_fail(const cri_json *d, const json_t *at, const char *format, ...)
    CR_PRINTF(3, 4);
/* Fails at a key of an object. */
cr_status cri_json_fail_key(const cri_json *d, const json_t *object, const char *key,
                            const char *format, ...) CR_PRINTF(4, 5);
/* A failure of a function called for a value, CR_EDATA or CR_EARG, gets its place. */
cr_status cri_json_place(const cri_json *d, const json_t *at, cr_status st);

/* Checked access; `what` says in messages what should stand there. */
cr_status cri_json_is_object(const cri_json *d, const json_t *value, const char *what);
cr_status cri_json_is_array(const cri_json *d, const json_t *value, const char *what);
cr_status cri_json_text(const cri_json *d, const json_t *value, const char *what, const char **out);
cr_status cri_json_real(const cri_json *d, const json_t *value, const char *what, double *out);
/* A number from least to most. */
cr_status cri_json_real_in(const cri_json *d, const json_t *value, const char *what, double least,
                           double most, double *out);
/* A whole number from 1 to most. */
cr_status cri_json_count(const cri_json *d, const json_t *value, const char *what, size_t most,
                         size_t *out);
/* The member of this key; fails when it is not there. */
cr_status cri_json_member(const cri_json *d, const json_t *object, const char *key, json_t **out);
/* Fails on a key that is not one of `known`, which ends with NULL; with the nearest. */
cr_status cri_json_keys(const cri_json *d, json_t *object, const char *const *known);

#endif
