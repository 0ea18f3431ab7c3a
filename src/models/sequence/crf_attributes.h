/* crf_attributes.h -- what a row says of its label: attributes with values, from templates.
 * A template is a product of atoms, each a term of the design at a distance from the row in its
 * sequence: word, word[-1], word[-1]*word, length.  A row has at most one attribute of a template:
 * the combination of the levels that its categories have there, with the product of its numbers as
 * value, 1 without any.  Beyond the ends of a sequence a category has a level of its own, a number
 * none; where something is missing, or the combination was not seen in training, the row has no
 * attribute of the template.  A template without atoms is the intercept, which every row has.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_SEQUENCE_CRF_ATTRIBUTES_H
#define CREDENCE_MODELS_SEQUENCE_CRF_ATTRIBUTES_H

#include "data/design/design_internal.h"
#include "base/scratch.h"

enum { CRI_MOST_ATOMS = 8, CRI_MOST_DISTANCE = 1000 };

typedef struct cri_template_atom {
    size_t term;   /* of the design */
    int    offset; /* rows from here */
    bool   code;   /* of a category */
} cri_template_atom;

typedef struct cri_template {
    size_t            n;
    cri_template_atom atoms[CRI_MOST_ATOMS];
} cri_template;

/* The templates of a design: its terms as they are, those of opt_window (a list of products of
 * COLUMN[OFFSET] or COLUMN[FROM:TO]), and first the intercept where that is wanted.  In the arena.
 * Fails with CR_EARG for a window that cannot be read, CR_EDATA for a column that is not there. */
cr_status cri_templates_make(cr_ctx *cx, cr_scratch *s, const cr_design *design, bool intercept,
                             const char *opt_window, cri_template **out, size_t *out_n);

/* Keys numbered in the order of their first appearance, found by hashing: row a of keys [n x width]
 * has the number of a template, then for each of its atoms 1 + the level, 0 beyond the ends and for
 * numbers. */
typedef struct cri_attributes {
    size_t    width, n, capacity;
    uint32_t *keys;  /* [capacity x width] */
    size_t    slots; /* a power of two, at least twice the capacity */
    uint32_t *slot;  /* [slots] 1 + the number of a key, 0: free */
} cri_attributes;

/* Makes keys [n x width] of another owner findable. */
cr_status cri_attributes_index(cr_ctx *cx, uint32_t *keys, size_t n, size_t width,
                               cri_attributes *out);
/* Frees the keys and what finds them, or the latter alone. */
void cri_attributes_free(cr_ctx *cx, cri_attributes *a);
void cri_attributes_free_index(cr_ctx *cx, cri_attributes *a);
/* Sorts the keys; to [n] says where each has gone. */
cr_status cri_attributes_sort(cr_ctx *cx, cri_attributes *a, uint32_t *to);

/* The attributes of rows, in the order of the sequences: those of row number sequences->row[i] of X
 * are start[i] .. start[i + 1] - 1. */
typedef struct cri_attribute_rows {
    size_t    n, room;
    size_t   *start; /* [n + 1] */
    uint32_t *which; /* [room] */
    double   *value; /* [room]; NULL: all 1 */
} cri_attribute_rows;

/* Finds them; with `learn`, attributes that are new join the dictionary, which may be empty at
 * first.  O(rows x atoms). */
cr_status cri_attribute_rows_open(cr_ctx *cx, const cri_rows *rows, const cri_template *templates,
                                  size_t n_templates, cri_attributes *dictionary, bool learn,
                                  cri_attribute_rows *out);
void      cri_attribute_rows_free(cr_ctx *cx, cri_attribute_rows *r);

#endif
