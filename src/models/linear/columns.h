/* columns.h -- the terms column by column, standardised, as coordinate descent reads them.
 *   Z = sqrt(w) (X - centre) / scale   [n x p],   t = sqrt(w) (y - offset),
 * centre and offset the weighted means (0 without intercept), scale the population sd (1 where the
 * column is constant, or without standardisation).  A residual is t - Z b, as a vector of
 * `residual_size` numbers; who keeps Z in another form (entries that are not 0, say) puts other
 * functions here, and may keep in the residual more than its n numbers.
 *
 * Dense columns are held once for all rows, standardised over these (cri_shared_columns), and the
 * training rows of a fold are all rows with the weight 0 for those left out.  So the gradients of
 * all folds are one product of matrices.  (Internal header.) */
#ifndef CREDENCE_MODELS_LINEAR_COLUMNS_H
#define CREDENCE_MODELS_LINEAR_COLUMNS_H

#include "base/scratch.h"
#include "data/design/design_internal.h"
#include "sparse_terms.h"

/* x_j = mean_j + sd_j Z_j; mean is 0 without intercept, sd 1 where the column is constant. */
typedef struct cri_shared_columns {
    size_t        n, p;
    const double *Z;         /* [p x n], a column after the other */
    const double *mean, *sd; /* [p]                               */
} cri_shared_columns;

/* A pass of coordinate descent over m places (descent.h). */
typedef struct cri_column_pass {
    size_t        m;
    const size_t *order;                 /* [m] their terms                          */
    double       *b;                     /* [m]                                      */
    const double *square;                /* [m] |z|^2 / weight; 0 of a constant term */
    bool          nonzero;               /* only places whose b is not 0             */
    double        l1, l2, slight, worst; /* violations, squared: what is left alone, the largest */
} cri_column_pass;

typedef struct cri_columns cri_columns;
struct cri_columns {
    size_t          n, p, residual_size;
    double          weight, offset, tt; /* sum w, the mean of y or 0, |t|^2                */
    double         *centre, *scale;     /* [p]                                             */
    double         *square;             /* [p] |z_j|^2 / weight; 0 of a constant term      */
    const double   *t;                  /* [n]                                             */
    const double   *w;                  /* [n] weights, or NULL                            */
    const double   *Z;                  /* [p x n] shared columns, or NULL                 */
    const double   *shift, *spread;     /* [p] z_j = sqrt(w) (Z_j - shift) / spread        */
    const double   *mean, *per_scale;   /* [p] of sparse columns; 1 / scale                */
    cri_sparse_copy entries;            /* X', likewise; entries.value times w is not kept */
    /* z_j . r */
    double (*dot)(const cri_columns *X, size_t j, const double *r);
    /* out [count]: z_j . r of residuals one after the other, R [count x residual_size]; may be
     * NULL */
    void (*dots)(const cri_columns *X, size_t j, const double *R, size_t count, double *out);
    /* r += a z_j */
    void (*add)(const cri_columns *X, size_t j, double a, double *r);
    /* the pass, with r for its residual: dot, step and add of each place; may be NULL */
    void (*sweep)(const cri_columns *X, cri_column_pass *pass, double *r);
    /* r = t, and r = z_j */
    void (*start)(const cri_columns *X, double *r);
    void (*copy)(const cri_columns *X, size_t j, double *r);
    /* a . r of two residuals */
    double (*inner)(const cri_columns *X, const double *a, const double *r);
};

/* Dense columns of all rows, in the arena.  O(n p) time and memory.  Fails with CR_ENUMERIC where
 * squares over- or underflow, CR_ENOMEM, CR_EINTERRUPTED. */
cr_status cri_shared_columns_of_rows(cr_ctx *cx, cr_scratch *s, const cri_rows *rows,
                                     bool intercept, cri_shared_columns *out);
/* The same seen with weights w [n] of the rows, 0 for those that are not there; NULL = 1.  O(n p)
 * time, O(n + p) memory in the arena; borrows both arguments. */
cr_status cri_columns_of_shared(cr_ctx *cx, cr_scratch *s, const cri_shared_columns *shared,
                                const double *y, const double *w, bool intercept, bool standardise,
                                cri_columns *out);

/* Sparse columns: the entries of X' with memory of its own, freed by cri_columns_release, all else
 * in the arena.  A step costs the entries of the column.  O(entries + n + p) time and memory. */
cr_status cri_columns_of_sparse(cr_ctx *cx, cr_scratch *s, const cri_rows *rows, bool intercept,
                                bool standardise, cri_columns *out);
/* Frees what sparse columns hold beside the arena; dense ones hold nothing. */
void cri_columns_release(cr_ctx *cx, cri_columns *X);

/* out [p x count]: z_j . r[k] for the columns X[k], k < count, all of them sparse or all sharing
 * one Z: then by products of matrices, block by block of columns. */
cr_status cri_columns_gradients(cr_ctx *cx, const cri_columns *const *X, const double *const *r,
                                size_t count, double *out);

#endif
