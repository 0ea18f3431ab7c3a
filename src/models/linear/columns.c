/* columns.c -- dense standardised columns. */
#include "columns.h"
#include "moments.h"
#include "../../base/parallel.h"
#include "../../math/dense.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

/* --- access ---------------------------------------------------------------------------------- */

static double dense_dot(const cri_columns *X, size_t j, const double *r)
{
    return cblas_ddot((int)X->n, X->Z + j * X->n, 1, r, 1);
}

static void dense_add(const cri_columns *X, size_t j, double a, double *r)
{
    cblas_daxpy((int)X->n, a, X->Z + j * X->n, 1, r, 1);
}

static void dense_start(const cri_columns *X, double *r) { memcpy(r, X->t, X->n * sizeof(double)); }

static void dense_copy(const cri_columns *X, size_t j, double *r)
{
    memcpy(r, X->Z + j * X->n, X->n * sizeof(double));
}

static double dense_norm2(const cri_columns *X, const double *r) { return cr_dot(r, r, X->n); }

/* --- standardisation ------------------------------------------------------------------------- */

typedef struct standardise_work {
    const cri_rows *rows;
    cri_columns    *X;
    double         *Z, *root; /* root [n] = sqrt(w) */
    double *square, *size;    /* [p] sum of squares about the mean or 0, and size, for the checks */
    bool    intercept, standardise;
} standardise_work;

/* Weighted mean, and sum of squares about it: two passes. */
static void measure(const double *x, const double *w, size_t n, double weight, double *mean,
                    double *square)
{
    double sum = 0, left = 0, about = 0;
    for (size_t i = 0; i < n; i++) sum += (w ? w[i] : 1) * x[i];
    *mean = sum / weight;
    for (size_t i = 0; i < n; i++) {
        double d = x[i] - *mean, wd = (w ? w[i] : 1) * d;
        left += wd;
        about += wd * d;
    }
    *mean += left / weight;
    *square = fmax(about - left * left / weight, 0);
}

static void standardise_column(void *arg, size_t j)
{
    const standardise_work *s = arg;
    cri_columns            *X = s->X;
    size_t                  n = X->n;
    double                 *z = s->Z + j * n, mean, square;

    cri_rows_fill_term(s->rows, j, 0, n, z, 1);
    measure(z, s->rows->w, n, X->weight, &mean, &square);
    double raw = X->weight * mean * mean;
    bool   constant = !(square > 1e-26 * raw);
    s->square[j] = square + raw;
    s->size[j] = fabs(mean) + sqrt(square);
    X->centre[j] = s->intercept ? mean : 0;
    X->scale[j] = s->standardise && !constant ? sqrt(square / X->weight) : 1;
    for (size_t i = 0; i < n; i++)
        z[i] = (s->root ? s->root[i] : 1) * ((z[i] - X->centre[j]) / X->scale[j]);
    X->square[j] = s->intercept && constant ? 0 : cr_dot(z, z, n) / X->weight;
}

cr_status cri_columns_of_rows(cr_ctx *cx, cr_scratch *s, const cri_rows *rows, bool intercept,
                              bool standardise, cri_columns *out)
{
    cr_status        st = CR_OK;
    size_t           n = rows->n, p = rows->p;
    double           mean, square;
    double          *t = cr_scratch_f64(s, n);
    cri_columns      X = { .n = n,
                           .p = p,
                           .room = n,
                           .t = t,
                           .dot = dense_dot,
                           .add = dense_add,
                           .start = dense_start,
                           .copy = dense_copy,
                           .norm2 = dense_norm2 };
    standardise_work w = {
        .rows = rows, .X = &X, .intercept = intercept, .standardise = standardise
    };

    X.centre = cr_scratch_f64(s, p);
    X.scale = cr_scratch_f64(s, p);
    X.square = cr_scratch_f64(s, p);
    w.square = cr_scratch_f64(s, p);
    w.size = cr_scratch_f64(s, p);
    X.Z = w.Z = cr_scratch_matrix(s, p, n);
    w.root = rows->w ? cr_scratch_f64(s, n) : NULL;
    CR_TRY(s->status);
    for (size_t i = 0; i < n; i++) {
        X.weight += rows->w ? rows->w[i] : 1;
        if (w.root) w.root[i] = sqrt(rows->w[i]);
    }
    measure(rows->y, rows->w, n, X.weight, &mean, &square);
    CR_TRY(cri_check_squares(cx, p, p, square + X.weight * mean * mean, fabs(mean) + sqrt(square)));
    X.offset = intercept ? mean : 0;
    for (size_t i = 0; i < n; i++) t[i] = (w.root ? w.root[i] : 1) * (rows->y[i] - X.offset);
    X.tt = cr_dot(t, t, n);
    CR_TRY(cri_parallel_for(cx, NULL, p, standardise_column, &w));
    for (size_t j = 0; j < p; j++) CR_TRY(cri_check_squares(cx, j, p, w.square[j], w.size[j]));
    *out = X;
done:
    return st;
}
