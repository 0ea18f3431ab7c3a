/* programs.h -- programs in tests: from text and numbers to a tape. */
#ifndef CREDENCE_TEST_PROGRAMS_H
#define CREDENCE_TEST_PROGRAMS_H

#include "support.h"

#include "prob/program/binder.h"

/* A vector of data, and whole numbers as an array, of a static array. */
#define VECTOR(name_, values_)                                                                     \
    {                                                                                              \
        .name = name_, .column = true, .dims = 1, .dim = { sizeof(values_) / sizeof(double) },     \
        .values = values_                                                                          \
    }
#define WHOLES(name_, values_)                                                                     \
    {                                                                                              \
        .name = name_, .whole = true, .dims = 1, .dim = { sizeof(values_) / sizeof(double) },      \
        .values = values_                                                                          \
    }

static inline cr_status bind_text(cr_ctx *cx, const char *text, const cri_program_datum *data,
                                  size_t n, cri_bound *out)
{
    cri_syntax_tree tree;
    cr_status       st = cri_syntax_read(cx, "test", text, strlen(text), &tree);
    if (st != CR_OK) return st;
    st = cri_program_bind(cx, &tree, data, n, out);
    cri_syntax_free(&tree);
    return st;
}

/* log density at u, and its gradient. */
static inline double density_at(cr_ctx *cx, const cri_bound *p, const double *u,
                                double *opt_gradient)
{
    cr_scratch   s = cr_scratch_begin(cx);
    cri_tape_run run = cri_tape_open(&p->tape, &s);
    double       value = cri_tape_density(&run, u, opt_gradient);
    cr_scratch_end(&s);
    return value;
}

/* The gradient agrees with differences that are extrapolated once. */
static inline void check_gradient(cr_ctx *cx, const cri_bound *p, const double *u)
{
    size_t n = p->tape.n_parameters;
    double x[64], g[64];
    assert_true(n <= 64);
    memcpy(x, u, n * sizeof *x);
    density_at(cx, p, u, g);
    for (size_t i = 0; i < n; i++) {
        double d[2];
        for (int k = 0; k < 2; k++) {
            double h = k ? 5e-4 : 1e-3;
            x[i] = u[i] + h;
            d[k] = density_at(cx, p, x, NULL);
            x[i] = u[i] - h;
            d[k] = (d[k] - density_at(cx, p, x, NULL)) / (2 * h);
            x[i] = u[i];
        }
        assert_close(g[i], (4 * d[1] - d[0]) / 3, 1e-7);
    }
}

#endif
