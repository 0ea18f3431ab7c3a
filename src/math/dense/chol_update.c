/* chol_update.c -- rank-one changes of a Cholesky factor by plane rotations. */
#include "chol.h"
#include "chol_internal.h"
#include "dense.h"
#include "base/scratch.h"

#include <cblas.h>
#include <float.h>
#include <math.h>

enum { PANEL = 64 }; /* columns whose rotations are kept together, so that rows are read in order */

typedef struct rotations {
    double c[PANEL], s[PANEL];
} rotations;

/* (l, x) := (c l + s x, c x - s l), for the first `count` columns of a row; x is carried along. */
static double rotate_row(const rotations *r, size_t count, double *row, double x)
{
    for (size_t j = 0; j < count; j++) {
        double l = row[j];
        row[j] = r->c[j] * l + r->s[j] * x;
        x = r->c[j] * x - r->s[j] * l;
    }
    return x;
}

/* Rotation j turns (L_jj, x_j) into (r, 0); x enters row by row as it was left by rotations < j. */
void cr_chol_update(cr_mat L, double *x)
{
    rotations r;
    for (size_t begin = 0; begin < L.rows; begin += PANEL) {
        size_t width = L.rows - begin < PANEL ? L.rows - begin : PANEL;
        for (size_t i = begin; i < begin + width; i++) {
            double *row = L.a + i * L.stride + begin;
            size_t  j = i - begin;
            double  xi = rotate_row(&r, j, row, x[i]), length = hypot(row[j], xi);
            r.c[j] = length > 0 ? row[j] / length : 1;
            r.s[j] = length > 0 ? xi / length : 0;
            row[j] = length;
        }
        for (size_t i = begin + width; i < L.rows; i++)
            x[i] = rotate_row(&r, width, L.a + i * L.stride + begin, x[i]);
    }
}

/* With L p = x and rho^2 = 1 - |p|^2, rotations that turn (p, rho) into (0, 1), last row first,
 * take (L, 0) to (L', x): the method of LINPACK's dchdd. */
cr_status cr_chol_downdate(cr_ctx *cx, cr_mat L, double *x)
{
    cr_status  st = CR_OK;
    cr_scratch scratch = cr_scratch_begin(cx);
    size_t     n = L.rows;
    double    *c = NULL, *s = NULL;

    CR_TRY(cri_chol_check(cx, "chol downdate", cr_const(L), cr_const(L)));
    c = cr_scratch_f64(&scratch, n);
    s = cr_scratch_f64(&scratch, n);
    CR_TRY(scratch.status);
    CR_TRY(cr_chol_forward(cx, cr_const(L), cr_mat_of(x, n, 1)));
    double norm = cr_norm2(x, n), rho2 = (1 - norm) * (1 + norm);
    if (!(rho2 > (double)n * DBL_EPSILON) && n > 0) {
        cr_fail(cx, CR_ENUMERIC,
                "chol downdate: A - x x^T would not be positive definite "
                "(x^T A^-1 x is %.17g, not below 1)",
                norm * norm);
        CR_TRY(cr_fail_hint(cx, "factor the smaller matrix again"));
    }
    double alpha = sqrt(rho2);
    for (size_t j = n; j-- > 0;) {
        double length = hypot(alpha, x[j]);
        c[j] = alpha / length, s[j] = x[j] / length, alpha = length;
    }
    for (size_t i = 0; i < n; i++) {
        double *row = L.a + i * L.stride, carried = 0;
        for (size_t j = i + 1; j-- > 0;) {
            double l = row[j];
            row[j] = c[j] * l - s[j] * carried;
            carried = c[j] * carried + s[j] * l;
        }
    }
done:
    cr_scratch_end(&scratch);
    return st;
}
