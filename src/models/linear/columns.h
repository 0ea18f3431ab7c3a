/* columns.h -- the terms column by column, standardised, as coordinate descent reads them.
 *   Z = sqrt(w) (X - centre) / scale   [n x p],   t = sqrt(w) (y - offset),
 * centre and offset the weighted means (0 without intercept), scale the population sd (1 where the
 * column is constant, or without standardisation).  A residual is t - Z b, as a vector of `room`
 * numbers; who keeps Z in another form (entries that are not 0, say) puts other functions here, and
 * may keep in the residual more than its n numbers.  (Internal header.) */
#ifndef CREDENCE_MODELS_LINEAR_COLUMNS_H
#define CREDENCE_MODELS_LINEAR_COLUMNS_H

#include "../../base/scratch.h"
#include "../../data/design_internal.h"
#include "sparse_terms.h"

typedef struct cri_columns cri_columns;
struct cri_columns {
    size_t          n, p, room;
    double          weight, offset, tt; /* sum w, the mean of y or 0, |t|^2           */
    double         *centre, *scale;     /* [p]                                        */
    double         *square;             /* [p] |z_j|^2 / weight; 0 of a constant term */
    const double   *t;                  /* [n]                                        */
    const double   *Z;                  /* [p x n], a column after the other; or NULL */
    const double   *mean;               /* [p] of the columns, sparse ones            */
    const double   *w;                  /* [n] weights or NULL, likewise              */
    cri_sparse_copy entries;            /* X', likewise; entries.value times w is not kept */
    /* z_j . r */
    double (*dot)(const cri_columns *X, size_t j, const double *r);
    /* r += a z_j */
    void (*add)(const cri_columns *X, size_t j, double a, double *r);
    /* r = t, and r = z_j */
    void (*start)(const cri_columns *X, double *r);
    void (*copy)(const cri_columns *X, size_t j, double *r);
    /* |r|^2 */
    double (*norm2)(const cri_columns *X, const double *r);
};

/* Dense columns of all rows, in the arena.  O(n p) time and memory.  Fails with CR_ENUMERIC where
 * squares over- or underflow, CR_ENOMEM, CR_EINTERRUPTED. */
cr_status cri_columns_of_rows(cr_ctx *cx, cr_scratch *s, const cri_rows *rows, bool intercept,
                              bool standardise, cri_columns *out);

/* Sparse columns: the entries of X' with memory of its own, freed by cri_columns_release, all else
 * in the arena.  A step costs the entries of the column.  O(entries + n + p) time and memory. */
cr_status cri_columns_of_sparse(cr_ctx *cx, cr_scratch *s, const cri_rows *rows, bool intercept,
                                bool standardise, cri_columns *out);
/* Frees what sparse columns hold beside the arena; dense ones hold nothing. */
void cri_columns_release(cr_ctx *cx, cri_columns *X);

#endif
