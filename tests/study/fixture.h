/* fixture.h -- what the tests of studies share: options from one line, tables with classes. */
#ifndef CREDENCE_TEST_STUDY_FIXTURE_H
#define CREDENCE_TEST_STUDY_FIXTURE_H

#include "../models/fixture.h"
#include "study/cross_validate.h"

/* Options by "folds=5 repeats=2"; texts are freed by cr_options_free. */
static inline cr_cv_options cv_of(cr_ctx *cx, const char *text)
{
    cr_cv_options o;
    setting_list  s;
    split_settings(text, &s);
    assert_ok(cx, cr_options_init(cx, cr_cv_table, &o));
    for (size_t i = 0; i < s.n; i++)
        assert_ok(cx, cr_options_set(cx, cr_cv_table, &o, s.list[i].name, s.list[i].value));
    return o;
}

/* x1, x2 and a class y of K that goes with them, as a number 0 .. K-1; g = row / 3. */
static inline cr_table *class_table(cr_ctx *cx, size_t n, size_t K, uint64_t seed)
{
    double   *a = calloc(4 * n, sizeof *a);
    cr_rng    r = cr_rng_stream(seed, 5);
    cr_table *t = NULL;
    for (size_t i = 0; i < n; i++) {
        double x = cr_rng_normal(&r), z = cr_rng_normal(&r);
        double v = x + 0.5 * z + 0.8 * cr_rng_normal(&r);
        a[i] = x, a[n + i] = z, a[3 * n + i] = (double)(i / 3);
        a[2 * n + i] = v < -0.4 ? 0 : v < 0.5 || K == 2 ? 1 : 2;
    }
    const char *const names[] = { "x1", "x2", "y", "g" };
    assert_ok(cx, cr_table_new(cx, "classes.csv", n, &t));
    test_own(cx, t, release_table);
    for (size_t k = 0; k < 4; k++)
        assert_ok(cx, cr_table_add_numbers(cx, t, names[k], CR_INTEGER, a + k * n, 1));
    free(a);
    return t;
}

static inline double metric_of(const cr_assessment *a, const char *name)
{
    size_t i = cr_metric_find(a, name);
    if (i == a->n) fail_msg("there is no metric '%s'", name);
    return a->metrics[i].value;
}

/* r2 of the rows of all folds and its parts by the delta method.  The squares about the mean of a fold follow from its
 * own r2 and rmse; one of a single row has none. */
static inline double pooled_share(const cr_assessment *fold, size_t k, double *part)
{
    double errors = 0, total = 0, rows = 0, mean = 0;
    for (size_t f = 0; f < k; f++) {
        rows += (double)fold[f].rows;
        mean += (double)fold[f].rows * fold[f].target_mean;
    }
    for (size_t pass = 0; pass < 2; pass++)
        for (size_t f = 0; f < k; f++) {
            double n = (double)fold[f].rows, e = n * pow(metric_of(&fold[f], "rmse"), 2);
            double r2 = metric_of(&fold[f], "r2"), d = fold[f].target_mean - mean / rows;
            double t = n * d * d + (isnan(r2) ? 0 : e / (1 - r2));
            if (pass == 0)
                errors += e, total += t;
            else
                part[f] = 1 - errors / total + (double)k * (errors / total * t - e) / total;
        }
    return 1 - errors / total;
}

/* What the folds of one repeat say of metric i: the value over all of them, and the part of each.
 * The root of a mean over rows is that of all rows, its parts by the delta method; others are
 * means. */
static inline double pooled(const cr_assessment *fold, size_t k, size_t i, double *part)
{
    if (strcmp(fold[0].metrics[i].name, "r2") == 0) return pooled_share(fold, k, part);
    double sum = 0, rows = 0, K = (double)k;
    bool   root = strcmp(fold[0].metrics[i].name, "rmse") == 0;
    for (size_t f = 0; f < k; f++) {
        double x = fold[f].metrics[i].value;
        rows += (double)fold[f].rows;
        sum += root ? (double)fold[f].rows * x * x : x / K;
    }
    double all = root ? sqrt(sum / rows) : sum;
    for (size_t f = 0; f < k; f++) {
        double x = fold[f].metrics[i].value;
        part[f] = root ? all / 2 + K * (double)fold[f].rows * x * x / rows / (2 * all) : x;
    }
    return all;
}

#endif
