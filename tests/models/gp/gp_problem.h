/* gp_problem.h -- rows that the tests of the solvers share, and the kernel of a text. */
#ifndef CREDENCE_TEST_MODELS_GP_PROBLEM_H
#define CREDENCE_TEST_MODELS_GP_PROBLEM_H

#include "gp_fixture.h"
#include "models/gp/posterior/gp_posterior.h"

/* n rows of two columns, y a wave and a slope with noise, in the arrays of the caller: X [n x 2],
 * y, r, first
 * [n], H [n x terms] of 1 and the first column. */
static inline cri_gp_data draw_rows(cr_rng *rng, size_t n, size_t terms, double *X, double *y,
                                    double *r, double *H, size_t *first)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < 2; j++) X[i * 2 + j] = 3 * cr_rng_uniform(rng);
        y[i] = sin(2 * X[i * 2]) + X[i * 2 + 1] + 0.2 * cr_rng_normal(rng);
        r[i] = 1 / (1 + (double)(i % 3));
        for (size_t a = 0; a < terms; a++) H[i * terms + a] = a ? X[i * 2] : 1;
        first[i] = i;
    }
    return (cri_gp_data){ .n = n,
                          .d = 2,
                          .X = X,
                          .y = y,
                          .r = r,
                          .first = first,
                          .count = (double)n + 11,
                          .spread = 0.9 };
}

static inline cr_kernel *parse(cr_ctx *cx, const char *text)
{
    cr_kernel *k;
    assert_ok(cx, cr_kernel_parse(cx, text, NULL, NULL, 0, &k));
    return k;
}

#endif
