/* classes.h -- what the tests of classifiers share: data in classes, and comparisons of answers. */
#ifndef CREDENCE_TEST_MODELS_CLASSES_H
#define CREDENCE_TEST_MODELS_CLASSES_H

#include "../fixture.h"
#include "data/table/subset.h"

/* K classes of n rows in all, X [n x p]: means apart, columns that go together, y = class; weights
 * 1 to 3. */
static inline void draw_classes(uint64_t seed, size_t n, size_t p, size_t K, double *X, double *y,
                                double *w)
{
    cr_rng r = cr_rng_stream(seed, 5);
    for (size_t i = 0; i < n; i++) {
        size_t k = i < 3 * K ? i % K : (size_t)(cr_rng_uniform(&r) * (double)K);
        double common = cr_rng_normal(&r);
        y[i] = (double)k;
        w[i] = 1 + (double)(i % 3);
        for (size_t j = 0; j < p; j++)
            X[i * p + j] = 0.7 * (double)((k + j) % K) + 3 * (double)j +
                           (1 + 0.3 * (double)k) * (cr_rng_normal(&r) + 0.8 * common);
    }
}

/* Every probability the same to a tolerance; each row sums to one. */
static inline void assert_same_answers(const cr_prediction *a, const cr_prediction *b,
                                       double tolerance)
{
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->n_classes, b->n_classes);
    for (size_t i = 0; i < a->n; i++) {
        double sum = 0;
        for (size_t k = 0; k < a->n_classes; k++) {
            double p = a->prob[i * a->n_classes + k];
            assert_true(p >= 0 && p <= 1);
            assert_close(p, b->prob[i * a->n_classes + k], tolerance);
            sum += p;
        }
        assert_close(sum, 1, 1e-12);
    }
}

static inline void assert_same_bits(const cr_prediction *a, const cr_prediction *b)
{
    assert_int_equal(a->n, b->n);
    assert_memory_equal(a->prob, b->prob, a->n * a->n_classes * sizeof(double));
}

/* --- reference answers ----------------------------------------------------------------------- */

/* The rows of a table whose number is (not) a multiple of 5: the test (training) part. */
static inline cr_table *every_fifth(cr_ctx *cx, const cr_table *t, bool multiple)
{
    size_t   *rows = malloc((cr_table_rows(t) + 1) * sizeof *rows), n = 0;
    cr_table *part = NULL;
    for (size_t i = 0; i < cr_table_rows(t); i++)
        if ((i % 5 == 0) == multiple) rows[n++] = i;
    assert_ok(cx, cri_table_subset(cx, t, rows, n, &part));
    free(rows);
    return part;
}

typedef struct split_case {
    cr_table     *train, *test;
    cr_model     *model;
    cr_prediction p;
    double       *truth; /* [test rows] class index */
} split_case;

/* Fits to the training part of a case of reference.json and predicts the rest. */
static inline split_case run_case(cr_ctx *cx, const json_t *item, const char *model,
                                  const char *settings)
{
    char       all[4096];
    split_case c = { 0 };
    cr_table  *t = reference_table(cx, item, all, sizeof all);
    *strstr(all, " features=") = 0; /* all columns */
    snprintf(all + strlen(all), sizeof all - strlen(all), " %s", settings);
    c.train = every_fifth(cx, t, false);
    c.test = every_fifth(cx, t, true);
    cr_table_free(cx, t);
    c.model = fit(cx, model, c.train, all);
    c.p = predict(cx, c.model, c.test);
    c.truth = malloc(c.p.n * sizeof *c.truth);
    assert_ok(cx, cr_observed(cx, c.model, c.test, c.truth, NULL));
    return c;
}

static inline void end_case(cr_ctx *cx, split_case *c)
{
    free(c->truth);
    cr_table_free(cx, c->train), cr_table_free(cx, c->test);
}

/* Accuracy, posteriors, and differences of log joints where doubles hold them. */
static inline void check_case(const json_t *item, const split_case *c, double tolerance)
{
    json_t *want = json_object_get(item, "expected");
    json_t *joint = json_object_get(want, "log_joint_first3");
    json_t *posterior = json_object_get(want, "test_posterior_first6");
    json_t *accuracy = json_object_get(want, "test_accuracy"),
           *nll = json_object_get(want, "test_nll_mean");
    size_t K = c->p.n_classes, right = 0;
    double loss = 0;
    for (size_t i = 0; i < c->p.n; i++) {
        const double *prob = c->p.prob + i * K;
        size_t        best = 0;
        for (size_t k = 1; k < K; k++)
            if (prob[k] > prob[best]) best = k;
        right += best == (size_t)c->truth[i];
        loss -= log(prob[(size_t)c->truth[i]]);
    }
    assert_close((double)right / (double)c->p.n, json_number_value(accuracy), 1e-12);
    if (nll) assert_relative(loss / (double)c->p.n, json_number_value(nll), tolerance);
    if (!posterior) posterior = json_object_get(want, "posterior_first6");
    for (size_t i = 0; i < json_array_size(posterior); i++)
        for (size_t k = 0; k < K; k++)
            assert_close(c->p.prob[i * K + k], element(json_array_get(posterior, i), k), tolerance);
    for (size_t i = 0; i < json_array_size(joint); i++)
        for (size_t k = 1; k < K; k++) {
            json_t *row = json_array_get(joint, i);
            double  odds = element(row, k) - element(row, 0);
            if (odds > 600 || odds < -600) continue;
            assert_close(log(c->p.prob[i * K + k] / c->p.prob[i * K]), odds, tolerance);
        }
}

#endif
