/* dense_terms.c -- rows in memory, centred and scaled without cross-products. */
#include "dense_terms.h"

#include <math.h>

cr_status cri_measure_rows(cr_ctx *cx, const cri_rows *rows, const double *X, bool intercept,
                           bool standardise, cri_gram *g)
{
    size_t n = rows->n, p = rows->p;
    *g = (cri_gram){ .p = p,
                     .centre = cr_alloc(cx, p, sizeof(double)),
                     .scale = cr_alloc(cx, p, sizeof(double)) };
    if (!g->centre || !g->scale) return CR_ENOMEM;
    cr_status st = CR_OK;
    for (size_t j = 0; j <= p && st == CR_OK; j++) { /* the target last */
        double weight = 0, mean = 0, square = 0;
        for (size_t i = 0; i < n; i++) {
            double w = rows->w ? rows->w[i] : 1, x = j < p ? X[i * p + j] : rows->y[i];
            if (w == 0) continue;
            double delta = x - mean;
            weight += w;
            mean += w / weight * delta;
            square += w * delta * (x - mean);
        }
        bool constant = !(square > 1e-26 * weight * mean * mean);
        st = cri_check_squares(cx, j, p, square + weight * mean * mean, fabs(mean) + sqrt(square));
        if (j < p) {
            g->centre[j] = intercept ? mean : 0;
            g->scale[j] = standardise && !constant ? sqrt(square / weight) : 1;
        } else {
            g->weight = weight;
            g->offset = intercept ? mean : 0;
            g->tt = intercept ? square : square + weight * mean * mean;
        }
    }
    return st;
}

void cri_standardise_rows(const cri_rows *rows, const cri_gram *g, double *Z, double *t)
{
    for (size_t i = 0; i < rows->n; i++) {
        double root = rows->w ? sqrt(rows->w[i]) : 1;
        for (size_t j = 0; j < g->p; j++)
            Z[i * g->p + j] = root * (Z[i * g->p + j] - g->centre[j]) / g->scale[j];
        t[i] = root * (rows->y[i] - g->offset);
    }
}
