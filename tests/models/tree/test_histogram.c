/* test_histogram.c -- splits between bins: with a bin for every value the exact tree, with fewer
 * what a plain search over bins finds; threads and weights on nodes large enough that all are split
 * by bins, which those of test_conformance.c are not. */
#include "../drawn.h"

#include <stdlib.h>

enum { MOST = 80000, P = 4 };
static double X[MOST * P], y[MOST], w[MOST];

/* Numbers rounded to about `distinct` values, the second with gaps; a target that bends along the
 * first two, or `classes` of it. */
static void draw(uint64_t seed, size_t n, double distinct, size_t classes)
{
    cr_rng r = cr_rng_stream(seed, 11);
    for (size_t i = 0; i < n; i++) {
        double *x = X + i * P, f;
        for (size_t j = 0; j < P; j++) {
            x[j] = cr_rng_normal(&r);
            if (distinct > 0) x[j] = round(x[j] * distinct / 8) / (distinct / 8);
        }
        f = sin(2 * x[0]) + x[1] * x[2] + 0.5 * cr_rng_normal(&r);
        y[i] = classes ? (double)((size_t)fmin(fmax(f + 1.5, 0), 9) % classes) : f;
        w[i] = (double)(1 + i % 3);
        if (i % 7 == 3) x[1] = NAN;
    }
}

/* --- a bin for every value ------------------------------------------------------------------- */

static json_t *nodes_of(cr_ctx *cx, cr_model *m)
{
    return json_object_get(describe(cx, m), "tree");
}

/* The same rules in the same order. */
static void assert_same_nodes(cr_ctx *cx, cr_model *a, cr_model *b)
{
    json_t *left = nodes_of(cx, a), *right = nodes_of(cx, b);
    assert_true(json_array_size(left) > 10);
    assert_int_equal(json_array_size(left), json_array_size(right));
    for (size_t i = 0; i < json_array_size(left); i++)
        assert_string_equal(json_string_value(json_object_get(json_array_get(left, i), "rule")),
                            json_string_value(json_object_get(json_array_get(right, i), "rule")));
}

/* The same importance of each column: of exact splits by squares of rows, of bins by sums. */
static void assert_same_importances(cr_ctx *cx, cr_model *a, cr_model *b)
{
    json_t *left = json_object_get(describe(cx, a), "parameters");
    json_t *right = json_object_get(describe(cx, b), "parameters");
    double  sum = 0;
    assert_int_equal(json_array_size(left), P);
    for (size_t j = 0; j < P; j++) {
        double x = number_of(json_array_get(left, j), "value");
        sum += x;
        assert_close(number_of(json_array_get(right, j), "value"), x, 1e-9);
    }
    assert_close(sum, 1, 1e-12);
}

/* Of the rows that are drawn. */
static void compare_with_exact(cr_ctx *cx, const char *model, size_t n, size_t classes,
                               const double *weights, const char *more)
{
    char exact[256], binned[256];
    snprintf(exact, sizeof exact, "target=y features=x* %s splits=exact %s%s",
             classes ? "task=classification" : "task=regression", more,
             weights ? " weights=w" : "");
    snprintf(binned, sizeof binned, "target=y features=x* %s splits=histogram bins=255 %s%s",
             classes ? "task=classification" : "task=regression", more,
             weights ? " weights=w" : "");
    cr_table     *t = make_table(cx, X, n, P, y, weights);
    cr_model     *a = fit(cx, model, t, exact), *b = fit(cx, model, t, binned);
    cr_prediction p = predict(cx, a, t), q = predict(cx, b, t);
    if (strcmp(model, "tree") == 0) assert_same_nodes(cx, a, b);
    assert_same_answers(&p, &q, 1e-9);
    assert_same_importances(cx, a, b);
    assert_string_equal(json_string_value(json_object_get(
                            json_object_get(describe(cx, b), "statistics"), "splits")),
                        "histogram");
}

static void check_same_as_exact(cr_ctx *cx, const char *model, size_t n, size_t classes,
                                const double *weights, const char *more)
{
    draw(classes + n, n, 100, classes);
    compare_with_exact(cx, model, n, classes, weights, more);
}

TEST(every_value_has_a_bin)
{
    check_same_as_exact(cx, "tree", 12000, 0, NULL, "prune=none max_depth=7");
    check_same_as_exact(cx, "tree", 12000, 0, w, "prune=none min_leaf=20");
    check_same_as_exact(cx, "tree", 12000, 2, w, "prune=none max_depth=7");
    check_same_as_exact(cx, "tree", 12000, 3, NULL, "prune=none max_depth=7");
    check_same_as_exact(cx, "tree", 12000, 4, w, "prune=none max_depth=6 criterion=entropy");
    check_same_as_exact(cx, "tree", 10000, 0, NULL, "prune_folds=3 min_leaf=50");
    check_same_as_exact(cx, "adaboost", 9000, 2, NULL, "rounds=12");
    check_same_as_exact(cx, "adaboost", 12000, 3, w, "rounds=8 depth=3"); /* weights in parts */
    check_same_as_exact(cx, "adaboost", 12000, 2, NULL, "rounds=8 depth=3 form=gradient");
    check_same_as_exact(cx, "adaboost", 300, 0, w, "rounds=10"); /* stumps: bins for few rows too */
}

/* Gradients are measured by sums of bins: far from 0 to begin with, with weights, of three classes,
 * and where a child is pure. */
TEST(gradients_by_sums)
{
    check_same_as_exact(cx, "adaboost", 60000, 0, w, "rounds=3 depth=3");
    check_same_as_exact(cx, "adaboost", 60000, 3, w, "rounds=2 depth=3 form=gradient");
    draw(6, 60000, 100, 0);
    for (size_t i = 0; i < 60000; i++) y[i] += 1e6;
    compare_with_exact(cx, "adaboost", 60000, 0, NULL, "rounds=3 depth=2");
    draw(7, 60000, 100, 2);
    for (size_t i = 0; i < 60000; i++) y[i] = X[i * P] > 0.3 && X[i * P + 2] > 0;
    compare_with_exact(cx, "adaboost", 60000, 2, NULL, "rounds=3 depth=3 form=gradient");
}

/* Numbers that differ in their last digits alone. */
TEST(values_close_together)
{
    draw(5, 12000, 100, 2);
    for (size_t i = 0; i < 12000 * P; i++) X[i] = 1 + round(X[i] * 12.5) * 0x1p-45;
    compare_with_exact(cx, "adaboost", 12000, 2, NULL, "rounds=8 depth=3 form=gradient");
    compare_with_exact(cx, "adaboost", 12000, 2, NULL, "rounds=8");
}

/* --- categories ------------------------------------------------------------------------------ */

/* A category of many levels and one of a few, with gaps; levels by their mean, or of three classes
 * one against the rest. */
static cr_table *categories(cr_ctx *cx, size_t n, size_t levels, size_t classes)
{
    char  *text = malloc(n * 64 + 64);
    size_t at = (size_t)sprintf(text, "g,h,x,y\n");
    cr_rng r = cr_rng_stream(levels + classes, 12);
    for (size_t i = 0; i < n; i++) {
        size_t g = cr_rng_below(&r, levels), h = cr_rng_below(&r, 5);
        double x = round(cr_rng_normal(&r) * 10) / 10;
        double f = sin((double)g * 1.7) + 0.3 * (double)(h == 2) + 0.3 * x + cr_rng_normal(&r) / 4;
        if (i % 11 != 5) at += (size_t)sprintf(text + at, "g%zu", g);
        at += (size_t)sprintf(text + at, ",h%zu,%.1f,", h, x);
        at += (size_t)(classes ? sprintf(text + at, "c%d\n", (int)fmin(fmax(f + 1, 0), 2))
                               : sprintf(text + at, "%.6f\n", f));
    }
    cr_table *t = table_of_text(cx, "categories.csv", text);
    free(text);
    return t;
}

TEST(levels)
{
    const size_t levels[] = { 40, 600 }; /* bytes, and 32 bits */
    for (size_t i = 0; i < 4; i++) {
        cr_table     *t = categories(cx, 9000, levels[i % 2], i / 2 * 3);
        cr_model     *a = fit(cx, "tree", t, "target=y splits=exact prune=none max_depth=5");
        cr_model     *b = fit(cx, "tree", t, "target=y splits=histogram prune=none max_depth=5");
        cr_prediction p = predict(cx, a, t), q = predict(cx, b, t);
        assert_same_nodes(cx, a, b);
        assert_same_answers(&p, &q, 1e-9);
        cr_table_free(cx, t);
    }
}

/* --- fewer bins than values, by a plain search ----------------------------------------------- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, z = *(const double *)b;
    return x < z ? -1 : x > z;
}

/* The thresholds between bins of column j, by the rule of bins.h over the sorted rows; all values
 * are different. */
static size_t thresholds(size_t n, size_t j, size_t bins, double *out)
{
    double *pair = malloc(2 * n * sizeof *pair), left = 0, here = 0;
    size_t  known = 0, made = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(X[i * P + j])) {
            pair[2 * known] = X[i * P + j], pair[2 * known + 1] = w[i];
            left += w[i];
            known++;
        }
    qsort(pair, known, 2 * sizeof *pair, compare);
    for (size_t i = 0; i < known; i++) {
        double weight = pair[2 * i + 1];
        if (here > 0 && made + 1 < bins && here + weight / 2 > left / (double)(bins - made)) {
            out[made++] = (pair[2 * i] + pair[2 * i - 2]) / 2;
            left -= here;
            here = 0;
        }
        here += weight;
    }
    free(pair);
    return made;
}

/* Squared error of two means; rows with a gap on the left or right. */
static double loss_of(size_t n, size_t j, double cut, bool gap_left, double mean[2])
{
    double sum[2] = { 0 }, weight[2] = { 0 }, loss = 0;
    for (unsigned pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < n; i++) {
            double x = X[i * P + j];
            bool   right = isnan(x) ? !gap_left : x > cut;
            if (pass)
                loss += w[i] * (y[i] - mean[right]) * (y[i] - mean[right]);
            else
                sum[right] += w[i] * y[i], weight[right] += w[i];
        }
        for (unsigned k = 0; !pass && k < 2; k++) mean[k] = sum[k] / weight[k];
    }
    return loss;
}

TEST(plain_search)
{
    enum { N = 5000, BINS = 9 };
    for (uint64_t seed = 1; seed <= 3; seed++) {
        double best = INFINITY, cut = 0, answer[2] = { 0 }, mean[2], cuts[BINS];
        size_t column = 0;
        bool   gap = false;
        draw(seed, N, 0, 0);
        for (size_t j = 0; j < P; j++) {
            size_t made = thresholds(N, j, BINS, cuts);
            assert_int_equal(made, BINS - 1);
            for (size_t k = 0; k < made; k++)
                for (unsigned gap_left = 0; gap_left < 2; gap_left++) {
                    double loss = loss_of(N, j, cuts[k], gap_left, mean);
                    if (loss < best - 1e-9) {
                        best = loss, cut = cuts[k], column = j, gap = gap_left;
                        memcpy(answer, mean, sizeof mean);
                    }
                }
        }
        cr_table     *t = make_table(cx, X, N, P, y, w);
        cr_prediction q = fit_and_predict(
            cx, "tree", t,
            "target=y features=x* weights=w prune=none max_depth=1 splits=histogram bins=9", t);
        for (size_t i = 0; i < N; i++) {
            double x = X[i * P + column];
            assert_close(q.mean[i], answer[isnan(x) ? !gap : x > cut], 1e-9);
        }
    }
}

/* --- laws ------------------------------------------------------------------------------------ */

static const char *const forms[] = {
    "target=y task=classification rounds=4 depth=3 splits=histogram bins=60",
    "target=y task=classification rounds=3 depth=2 form=gradient splits=histogram",
    "target=y rounds=2 depth=3 splits=histogram",
};

TEST(any_number_of_threads)
{
    for (size_t i = 0; i < 3; i++) {
        draw(70 + i, MOST, 0, i == 0 ? 3 : i == 1 ? 2 : 0);
        cr_table     *t = make_table(cx, X, MOST, P, y, i ? NULL : w);
        cr_prediction first = { 0 };
        for (size_t threads = 1; threads <= 4; threads *= 2) {
            cr_ctx_set_threads(cx, threads);
            cr_prediction q = fit_and_predict(cx, "adaboost", t, forms[i], t);
            if (threads == 1)
                first = q;
            else
                assert_same_answers(&first, &q, 0);
        }
    }
}

TEST(weights_are_repetitions)
{
    for (size_t i = 0; i < 3; i++) {
        size_t n = 7000, many = 0;
        draw(80 + i, n, 0, i == 0 ? 3 : i == 1 ? 2 : 0);
        double *X2 = malloc(3 * n * P * sizeof *X2), *y2 = malloc(3 * n * sizeof *y2);
        for (size_t k = 0; k < n; k++)
            for (double c = 0; c < w[k]; c++, many++) {
                memcpy(X2 + many * P, X + k * P, P * sizeof *X2);
                y2[many] = y[k];
            }
        cr_table *t = make_table(cx, X, n, P, y, w), *u = make_table(cx, X2, many, P, y2, NULL);
        char      weighted[256];
        snprintf(weighted, sizeof weighted, "%s features=x* weights=w", forms[i]);
        cr_prediction p = fit_and_predict(cx, "adaboost", t, weighted, t);
        cr_prediction q = fit_and_predict(cx, "adaboost", u, forms[i], t);
        assert_same_answers(&p, &q, 1e-8);
        free(X2);
        free(y2);
    }
}

/* --- quality --------------------------------------------------------------------------------- */

/* Bins cost no more than the noise of the test: the mean loss on fresh rows. */
TEST(as_good_as_exact)
{
    enum { N = 16000, FRESH = 20000 };
    const char *const splits[] = {
        "target=y rounds=40 depth=3 learning_rate=0.3 splits=exact",
        "target=y rounds=40 depth=3 learning_rate=0.3 splits=histogram"
    };
    double sum = 0, square = 0;
    draw(99, N + FRESH, 0, 0);
    cr_table     *train = make_table(cx, X, N, P, y, NULL);
    cr_table     *fresh = make_table(cx, X + N * P, FRESH, P, y + N, NULL);
    cr_prediction a = fit_and_predict(cx, "adaboost", train, splits[0], fresh);
    cr_prediction b = fit_and_predict(cx, "adaboost", train, splits[1], fresh);
    for (size_t i = 0; i < FRESH; i++) {
        double e = y[N + i] - a.mean[i], f = y[N + i] - b.mean[i], d = f * f - e * e;
        sum += d;
        square += d * d;
    }
    double mean = sum / FRESH, se = sqrt((square / FRESH - mean * mean) / FRESH);
    assert_true(mean < 3 * se);
    assert_true(memcmp(a.mean, b.mean, FRESH * sizeof(double)) != 0); /* they are not the same */
}
