/* drawn.h -- problems drawn at random for the oracles of trees and neighbours, and their answers. */
#ifndef CREDENCE_TEST_MODELS_DRAWN_H
#define CREDENCE_TEST_MODELS_DRAWN_H

#include "fixture.h"

enum { DRAWN_MOST = 4096 };

/* A problem of n rows: normal columns, the last one rounded to few values; y is a smooth function
 * of them with noise, or one of `classes`. */
typedef struct drawn_data {
    size_t n, p, classes;
    double X[DRAWN_MOST * 2], y[DRAWN_MOST], w[DRAWN_MOST];
} drawn_data;

static inline void draw_data(uint64_t seed, size_t n, size_t p, size_t classes, drawn_data *d)
{
    cr_rng r = cr_rng_stream(seed, 5);
    assert_true(n <= DRAWN_MOST && n * p <= DRAWN_MOST * 2);
    d->n = n, d->p = p, d->classes = classes;
    for (size_t i = 0; i < n; i++) {
        double *x = d->X + i * p, f;
        for (size_t j = 0; j < p; j++) x[j] = cr_rng_normal(&r);
        x[p - 1] = round(2 * x[p - 1]) / 2;
        f = sin(2 * x[0]) + (p > 1 ? 0.5 * x[1] : 0) + 0.3 * cr_rng_normal(&r);
        d->y[i] = classes ? (double)((size_t)fmin(fmax(f + 1.2, 0), 9) % classes) : f;
        d->w[i] = (double)(i % 4); /* 0, 1, 2, 3 */
    }
    for (size_t k = 0; k < classes && k < n; k++) d->y[k] = (double)k; /* no class is empty */
    for (size_t k = 0; k < classes && k < n; k++) d->w[k] = 1;
}

static inline void assert_same_answers(const cr_prediction *a, const cr_prediction *b,
                                       double tolerance)
{
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->n_classes, b->n_classes);
    const double *pairs[][2] = { { a->mean, b->mean }, { a->scale, b->scale }, { a->dof, b->dof } };
    for (size_t i = 0; i < a->n; i++)
        for (size_t k = 0; a->mean && k < 3; k++) {
            if (tolerance == 0) {
                assert_memory_equal(&pairs[k][0][i], &pairs[k][1][i], sizeof(double));
            } else if (isnan(pairs[k][0][i])) {
                assert_true(isnan(pairs[k][1][i]));
            } else {
                assert_close(pairs[k][0][i], pairs[k][1][i], tolerance);
            }
        }
    for (size_t i = 0; a->prob && i < a->n * a->n_classes; i++) {
        if (tolerance == 0)
            assert_memory_equal(&a->prob[i], &b->prob[i], sizeof(double));
        else
            assert_close(a->prob[i], b->prob[i], tolerance);
    }
}

static inline cr_prediction fit_and_predict(cr_ctx *cx, const char *model, const cr_table *t,
                                            const char *settings, const cr_table *at)
{
    cr_model     *m = fit(cx, model, t, settings);
    cr_prediction q = predict(cx, m, at);
    assert_proper(&q);
    return q;
}

#endif
