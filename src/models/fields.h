/* fields.h -- a model's state as a list of its members, from which it is saved, loaded and freed.
 *     static const cri_field fields[] = {
 *         CRI_FIELD_COUNT(state, p),
 *         CRI_FIELD_REAL(state, sigma),
 *         CRI_FIELD_VECTOR(state, coef, p),         coef [p]
 *         CRI_FIELD_MATRIX(state, F, r, p),         F [r x p]
 *         CRI_FIELD_LAST
 *     };
 * Counts that give the shape of an array stand before it.  Arrays are doubles from cr_alloc, saved
 * under the name of the member.  (Internal header.) */
#ifndef CREDENCE_MODELS_FIELDS_H
#define CREDENCE_MODELS_FIELDS_H

#include "store.h"

#include <stddef.h>

typedef enum cri_field_kind {
    CRI_KIND_LAST,
    CRI_KIND_COUNT,  /* size_t                          */
    CRI_KIND_FLAG,   /* bool                            */
    CRI_KIND_REAL,   /* double, null where not finite   */
    CRI_KIND_VECTOR, /* double *                        */
    CRI_KIND_MATRIX  /* double *                        */
} cri_field_kind;

typedef struct cri_field {
    const char    *name;
    cri_field_kind kind;
    size_t         offset, rows, cols; /* offsets of the member and of the counts of its shape */
    bool           optional;           /* an array that may be NULL                            */
} cri_field;

#define CRI_FIELD_COUNT(type, m)                                                                   \
    {                                                                                              \
#m, CRI_KIND_COUNT, offsetof(type, m), 0, 0, false                                         \
    }
#define CRI_FIELD_FLAG(type, m)                                                                    \
    {                                                                                              \
#m, CRI_KIND_FLAG, offsetof(type, m), 0, 0, false                                          \
    }
#define CRI_FIELD_REAL(type, m)                                                                    \
    {                                                                                              \
#m, CRI_KIND_REAL, offsetof(type, m), 0, 0, false                                          \
    }
#define CRI_FIELD_VECTOR(type, m, n)                                                               \
    {                                                                                              \
#m, CRI_KIND_VECTOR, offsetof(type, m), offsetof(type, n), 0, false                        \
    }
#define CRI_FIELD_MATRIX(type, m, r, c)                                                            \
    {                                                                                              \
#m, CRI_KIND_MATRIX, offsetof(type, m), offsetof(type, r), offsetof(type, c), false        \
    }
#define CRI_FIELD_OPTIONAL_MATRIX(type, m, r, c)                                                   \
    {                                                                                              \
#m, CRI_KIND_MATRIX, offsetof(type, m), offsetof(type, r), offsetof(type, c), true         \
    }
#define CRI_FIELD_LAST                                                                             \
    {                                                                                              \
        NULL, CRI_KIND_LAST, 0, 0, 0, false                                                        \
    }

/* Writes the members of a state: numbers to `out`, arrays to the store.  An array that is NULL is
 * left out. */
cr_status cri_fields_write(cr_ctx *cx, const cri_field *fields, const void *state, cri_store *store,
                           json_t *out);
/* Reads them into a zeroed state, arrays from cr_alloc; an optional one that is absent stays NULL.
 * CR_EDATA when a member is missing or of another shape.  What was
 * read is freed by cri_fields_free. */
cr_status cri_fields_read(cr_ctx *cx, const cri_field *fields, const cri_store *store,
                          const json_t *in, void *state);
/* Allocates the arrays that are not optional, zeroed, by the counts that are set.  For states that
 * are made by a fit. */
cr_status cri_fields_allocate(cr_ctx *cx, const cri_field *fields, void *state);
/* Frees the arrays, not the state. */
void cri_fields_free(cr_ctx *cx, const cri_field *fields, void *state);

#endif
