/* lines.c -- the joint variance of lines in several columns. */
#include "lines.h"
#include "math/dense/decompose.h"
#include "math/dense/dense.h"

#include <math.h>

static const double DEPENDENT = 1e-10; /* the share of a direction that counts as none */

/* x of row i. */
static double value_at(const cri_component *c, size_t i)
{
    return c->origin + c->scale * c->knots[c->knot_of[i] * CRI_KNOT_SIZE + CRI_KNOT_U];
}

/* Column k of Z [n x p]: z times the root of the weight, so that Z^T Z / total is R. */
static void standardise(const cri_component *c, const double *w, size_t n, double *out_centre,
                        double *out_spread, double *Z, size_t p)
{
    double total = 0, mean = 0, square = 0;
    for (size_t i = 0; i < n; i++) {
        double x = value_at(c, i), step = x - mean;
        total += w[i];
        mean += step * w[i] / total;
        square += w[i] * step * (x - mean);
    }
    double sd = sqrt(square / total);
    if (c->m < 2 || !(sd > 0) || !isfinite(sd)) sd = 1;
    *out_centre = mean;
    *out_spread = sd;
    for (size_t i = 0; i < n; i++)
        Z[i * p] = c->m < 2 ? 0 : (value_at(c, i) - mean) / sd * sqrt(w[i] / total);
}

cr_status cri_lines_measure(cr_ctx *cx, const cri_component *c, size_t p, const double *w, size_t n,
                            double *out_centre, double *out_spread, double *out_excess)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *Z = cr_scratch_matrix(&s, n, p), *R = cr_scratch_matrix(&s, p, p);
    double    *V = cr_scratch_matrix(&s, p, p), *root = cr_scratch_f64(&s, p);

    CR_TRY(s.status);
    for (size_t k = 0; k < p; k++)
        standardise(&c[k], w, n, &out_centre[k], &out_spread[k], Z + k, p);
    CR_TRY(cr_syrk(cx, 1, cr_cmat_of(Z, n, p), CR_TRANSPOSED, 0, cr_mat_of(R, p, p)));
    CR_TRY(cr_eigen(cx, cr_cmat_of(R, p, p), root, cr_mat_of(V, p, p)));
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < p; j++) {
            double sum = 0;
            for (size_t e = 0; e < p; e++)
                if (root[e] > DEPENDENT * root[p - 1])
                    sum += V[i * p + e] * V[j * p + e] * (1 / root[e] - 1);
            out_excess[i * p + j] = sum;
        }
done:
    cr_scratch_end(&s);
    return st;
}

double cri_lines_excess(size_t p, const double *centre, const double *spread, const double *excess,
                        const double *x)
{
    double sum = 0;
    for (size_t i = 0; i < p; i++) {
        double row = 0;
        for (size_t j = 0; j < p; j++) row += excess[i * p + j] * (x[j] - centre[j]) / spread[j];
        sum += row * (x[i] - centre[i]) / spread[i];
    }
    return sum;
}
