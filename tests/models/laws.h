/* laws.h -- what holds of every model with a target: a row of weight 2 is two rows, the order of
 * rows does not matter, a saved model predicts the same bits, and so does any number of threads. */
#ifndef CREDENCE_TEST_MODELS_LAWS_H
#define CREDENCE_TEST_MODELS_LAWS_H

#include "life.h"

enum { LAW_MOST = 4096 };

/* A problem of n rows: normal columns, the last one rounded to few values; y is a smooth function
 * of them with noise, or one of `classes`. */
typedef struct law_data {
    size_t n, p, classes;
    double X[LAW_MOST * 2], y[LAW_MOST], w[LAW_MOST];
} law_data;

static inline void draw_laws(uint64_t seed, size_t n, size_t p, size_t classes, law_data *d)
{
    cr_rng r = cr_rng_stream(seed, 5);
    assert_true(n <= LAW_MOST && n * p <= LAW_MOST * 2);
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

/* Probabilities add up to one. */
static inline void assert_proper(const cr_prediction *a)
{
    for (size_t i = 0; a->prob && i < a->n; i++) {
        double sum = 0;
        for (size_t k = 0; k < a->n_classes; k++) {
            assert_true(a->prob[i * a->n_classes + k] >= 0);
            sum += a->prob[i * a->n_classes + k];
        }
        assert_close(sum, 1, 1e-12);
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

/* Weights 0, 1, 2, 3 against as many rows. */
static inline void check_repetition(const char *model, const law_data *d, const char *settings)
{
    cr_ctx *cx = test_context();
    double  X[LAW_MOST * 2], y[LAW_MOST];
    char    weighted[512];
    double  total = 0;
    for (size_t i = 0; i < d->n; i++) total += d->w[i];
    assert_true(total <= LAW_MOST && total * (double)d->p <= LAW_MOST * 2);
    size_t n = repeat_rows(d->X, d->y, d->w, d->n, d->p, X, y);
    snprintf(weighted, sizeof weighted, "%s features=x* weights=w", settings);
    cr_table     *few = make_table(cx, d->X, d->n, d->p, d->y, d->w);
    cr_table     *many = make_table(cx, X, n, d->p, y, NULL);
    cr_prediction a = fit_and_predict(cx, model, few, weighted, few);
    cr_prediction b = fit_and_predict(cx, model, many, settings, few);
    assert_same_answers(&a, &b, 1e-9);
    test_context_free(cx);
}

static inline void check_row_order(const char *model, const law_data *d, const char *settings)
{
    cr_ctx *cx = test_context();
    double  X[LAW_MOST * 2], y[LAW_MOST];
    size_t  order[LAW_MOST];
    cr_rng  r = cr_rng_stream(3, 9);
    cr_rng_permutation(&r, d->n, order);
    for (size_t i = 0; i < d->n; i++) {
        memcpy(X + i * d->p, d->X + order[i] * d->p, d->p * sizeof(double));
        y[i] = d->y[order[i]];
    }
    cr_table     *plain = make_table(cx, d->X, d->n, d->p, d->y, NULL);
    cr_table     *mixed = make_table(cx, X, d->n, d->p, y, NULL);
    cr_prediction a = fit_and_predict(cx, model, plain, settings, plain);
    cr_prediction b = fit_and_predict(cx, model, mixed, settings, plain);
    assert_same_answers(&a, &b, 1e-9);
    test_context_free(cx);
}

/* 1, 2, 3 and 7 threads, and a model that was saved: the same bits. */
static inline void check_same_bits(const char *model, const law_data *d, const char *settings)
{
    cr_ctx       *cx = test_context();
    const size_t  threads[] = { 1, 2, 3, 7 };
    cr_table     *t = make_table(cx, d->X, d->n, d->p, d->y, NULL);
    cr_prediction a = { 0 };
    for (size_t k = 0; k < 4; k++) {
        char     *bytes = NULL;
        size_t    size = 0;
        cr_model *back = NULL;
        cr_ctx_set_threads(cx, threads[k]);
        cr_model     *m = fit(cx, model, t, settings);
        cr_prediction b = predict(cx, m, t), c;
        if (k == 0) a = predict(cx, m, t);
        assert_ok(cx, cr_model_to_bytes(cx, m, &bytes, &size));
        assert_ok(cx, cr_model_from_bytes(cx, "saved", bytes, size, &back));
        c = predict(cx, back, t);
        assert_same_answers(&a, &b, 0);
        assert_same_answers(&a, &c, 0);
        json_t *before = describe(cx, m), *after = describe(cx, back);
        assert_true(json_equal(before, after));
        if (a.mean) {
            double mean[LAW_MOST];
            assert_ok(cx, cr_predict_mean(cx, m, t, mean));
            assert_memory_equal(mean, a.mean, a.n * sizeof(double));
        }
        cr_free(cx, bytes, size, 1);
        cr_model_free(cx, back);
    }
    test_context_free(cx);
}

static inline void check_allocations(const char *model, const law_data *d, const char *settings)
{
    check_allocations_on(d->X, d->n, d->p, d->y, model, (const char *const[]){ settings, NULL });
}

#endif
