/* kept.h -- the rows that count, in memory: for models that keep their data or pass over it often.
 * Rows of weight 0 are left out, so that they cannot matter.  (Internal header.) */
#ifndef CREDENCE_MODELS_COMMON_KEPT_H
#define CREDENCE_MODELS_COMMON_KEPT_H

#include "models/core/class.h"

typedef struct cri_kept {
    size_t  n, p;
    double *X;      /* [n x p]                         */
    double *y;      /* [n] target, or index of a class */
    double *w;      /* [n] weights above 0             */
    double  weight; /* their sum                       */
    bool    whole;  /* each is left out with all of its weight (copies.h) */
} cri_kept;

/* Copies the rows.  Fails with CR_EDATA where no row has a weight above 0, there is no column to
 * tell rows apart by, or all of them hold nothing but gaps (`model` is named). */
cr_status cri_kept_new(cr_ctx *cx, const char *model, const cri_rows *rows, cri_kept *out);
void      cri_kept_free(cr_ctx *cx, cri_kept *kept);

/* An option that is a word or a number: CR_OK with *out_word = i when text is words[i] (the list
 * ends with NULL), or -1 with the number in *out when it is one that is finite.  CR_EARG otherwise,
 * with `what` the option takes. */
cr_status cri_word_or_number(cr_ctx *cx, const char *option, const char *text,
                             const char *const *words, const char *what, int *out_word,
                             double *out);

#endif
