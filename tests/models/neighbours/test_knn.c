/* test_knn.c -- nearest neighbours against the definition over all rows, the bias-variance formula,
 * and leave-one-out by real refits. */
#include "../drawn.h"

static drawn_data data; /* large for a stack */

/* --- the definition -------------------------------------------------------------------------- */

typedef struct near_row {
    double distance;
    size_t row;
} near_row;

static int by_distance(const void *a, const void *b)
{
    double d = ((const near_row *)a)->distance - ((const near_row *)b)->distance;
    return d < 0 ? -1 : d > 0;
}

static double distance_between(const double *a, const double *b, size_t p, bool max_norm)
{
    double sum = 0;
    for (size_t j = 0; j < p; j++) {
        double t = fabs(a[j] - b[j]);
        sum = !max_norm ? sum + t * t : t > sum ? t : sum;
    }
    return max_norm ? sum : sqrt(sum);
}

/* The rows but `out` (SIZE_MAX: none), nearest first. */
static size_t rank_rows(const drawn_data *d, const double *x, bool max_norm, size_t out,
                        near_row *list)
{
    size_t n = 0;
    for (size_t i = 0; i < d->n; i++)
        if (i != out)
            list[n++] = (near_row){ distance_between(x, d->X + i * d->p, d->p, max_norm), i };
    qsort(list, n, sizeof *list, by_distance);
    return n;
}

typedef struct answer {
    double mean, scale, dof, votes[16];
} answer;

/* Only for data whose k-th and next distances differ; rows all of weight 1. */
static answer by_definition(const drawn_data *d, const double *x, size_t k, bool max_norm,
                            bool weighted, size_t out)
{
    near_row list[600];
    answer   a = { 0 };
    size_t   n = rank_rows(d, x, max_norm, out, list);
    double   v[64], mass = 0, squares = 0, spread = 0;
    assert_true(n <= 600 && k <= 64 && (k >= n || list[k].distance > list[k - 1].distance));
    for (size_t i = 0; i < k; i++) {
        bool met = list[0].distance == 0;
        v[i] = !weighted ? 1 : met ? list[i].distance == 0 : 1 / list[i].distance;
        mass += v[i];
    }
    for (size_t i = 0; i < k; i++) {
        v[i] /= mass;
        a.mean += v[i] * d->y[list[i].row];
        if (d->classes) a.votes[(size_t)d->y[list[i].row]] += v[i] * (double)k;
        squares += v[i] * v[i];
    }
    for (size_t i = 0; i < k; i++) spread += v[i] * pow(d->y[list[i].row] - a.mean, 2);
    double m = 1 / squares;
    a.dof = m - 1;
    a.scale = sqrt(spread * m / (m - 1) * (1 + 1 / m));
    return a;
}

static void check_against_definition(cr_ctx *cx, bool max_norm, bool weighted)
{
    char settings[256];
    draw_data(weighted ? 2 : max_norm, 300, 2, 0, &data);
    for (size_t i = 0; i < data.n; i++) data.X[2 * i + 1] += 0.001 * data.X[2 * i]; /* no ties */
    cr_table *t = make_table(cx, data.X, data.n, 2, data.y, NULL);
    snprintf(settings, sizeof settings, "target=y scale=none k=7 metric=%s weighting=%s",
             max_norm ? "max" : "euclid", weighted ? "distance" : "uniform");
    cr_model *m = fit(cx, "knn", t, settings);
    double    Q[40], y[20] = { 0 };
    cr_rng    r = cr_rng_stream(8, 8);
    draw_normals(&r, Q, 40);
    cr_table     *at = make_table(cx, Q, 20, 2, y, NULL);
    cr_prediction q = predict(cx, m, at);
    for (size_t i = 0; i < 20; i++) {
        answer a = by_definition(&data, Q + 2 * i, 7, max_norm, weighted, SIZE_MAX);
        assert_close(q.mean[i], a.mean, 1e-12);
        assert_close(q.scale[i], a.scale, 1e-12);
        assert_close(q.dof[i], a.dof, 1e-11);
    }
}

TEST(definition)
{
    for (unsigned bits = 0; bits < 4; bits++) check_against_definition(cx, bits & 1, bits & 2);
}

TEST(classes)
{
    draw_data(4, 300, 2, 3, &data);
    for (size_t i = 0; i < data.n; i++) data.X[2 * i + 1] += 0.001 * data.X[2 * i];
    cr_table *t = make_table(cx, data.X, data.n, 2, data.y, NULL);
    for (unsigned weighted = 0; weighted < 2; weighted++) {
        const char *settings =
            weighted
                ? "target=y task=classification scale=none k=9 smoothing=0.2 weighting=distance"
                : "target=y task=classification scale=none k=9 smoothing=0.7";
        double        smoothing = weighted ? 0.2 : 0.7;
        cr_prediction q = fit_and_predict(cx, "knn", t, settings, t);
        for (size_t i = 0; i < data.n; i++) {
            answer a = by_definition(&data, data.X + 2 * i, 9, false, weighted, SIZE_MAX);
            for (size_t k = 0; k < 3; k++)
                assert_close(q.prob[3 * i + k], (a.votes[k] + smoothing) / (9 + 3 * smoothing),
                             1e-12);
        }
    }
}

/* --- ties and weights ------------------------------------------------------------------------ */

/* Four rows as far away as each other: two places are shared by all of them. */
TEST(ties_are_shared)
{
    double    X[5] = { 1, -1, 1, -1, 9 }, y[5] = { 2, 4, 6, 8, 100 }, zero[1] = { 0 };
    cr_table *t = make_table(cx, X, 5, 1, y, NULL), *at = make_table(cx, zero, 1, 1, zero, NULL);
    cr_prediction q = fit_and_predict(cx, "knn", t, "target=y k=2 scale=none", at);
    assert_close(q.mean[0], 5, 1e-15);
    assert_close(q.dof[0], 1, 1e-12);
    assert_close(q.scale[0], sqrt(5 * 2 * 1.5), 1e-12); /* the spread of all four, as of two rows */
}

/* Weights below 1: as many rows as it takes. */
TEST(small_weights)
{
    double w[200];
    draw_data(31, 200, 2, 0, &data);
    for (size_t i = 0; i < data.n; i++) w[i] = 0.05;
    cr_table     *t = make_table(cx, data.X, data.n, 2, data.y, w);
    cr_prediction a = fit_and_predict(cx, "knn", t, "target=y k=2 features=x* weights=w", t);
    cr_prediction b = fit_and_predict(cx, "knn", t, "target=y k=40 features=x*", t);
    for (size_t i = 0; i < data.n; i++) {
        assert_close(a.mean[i], b.mean[i], 1e-12);
        assert_close(a.dof[i], 1, 1e-9);
    }
}

/* --- choosing k ------------------------------------------------------------------------------ */

/* The loss of every k by leaving out each row and asking the definition. */
static void check_choice(cr_ctx *cx, size_t classes, bool weighted)
{
    double least = INFINITY;
    size_t best = 0;
    char   settings[256];
    draw_data(40 + classes, 90, 2, classes, &data);
    for (size_t i = 0; i < data.n; i++) data.X[2 * i + 1] += 0.001 * data.X[2 * i];
    for (size_t k = classes ? 1 : 4; k <= 63; k++) {
        double loss = 0;
        for (size_t i = 0; i < data.n; i++) {
            answer a = by_definition(&data, data.X + 2 * i, k, false, weighted, i);
            double share =
                classes ? (a.votes[(size_t)data.y[i]] + 0.2) / ((double)k + 0.2 * (double)classes)
                        : 0;
            loss += (classes ? -log(share) : pow(data.y[i] - a.mean, 2)) / (double)data.n;
        }
        if (loss < least) least = loss, best = k;
    }
    cr_table *t = make_table(cx, data.X, data.n, 2, data.y, NULL);
    snprintf(settings, sizeof settings, "target=y scale=none k=auto smoothing=0.2 weighting=%s %s",
             weighted ? "distance" : "uniform", classes ? "task=classification" : "");
    cr_model *m = fit(cx, "knn", t, settings);
    json_t   *d = describe(cx, m);
    assert_int_equal(parameter(d, "k", "value"), best);
    assert_relative(statistic(d, classes ? "loo_log_loss" : "loo_mse"), least, 1e-11);
}

TEST(choice)
{
    for (unsigned bits = 0; bits < 4; bits++) check_choice(cx, bits & 1 ? 3 : 0, bits & 2);
}

/* The smoothing by leaving out each row, with one surprise added: of classes that a column separates little is
 * left, of classes drawn at random much. */
static double best_smoothing(const drawn_data *d, size_t k)
{
    double least = INFINITY, best = 0, K = (double)d->classes;
    for (double a = 4 / K; a > 0.005 / K; a /= 2) {
        double loss = -log(a / ((double)k + a * K));
        for (size_t i = 0; i < d->n; i++) {
            answer q = by_definition(d, d->X + 2 * i, k, false, false, i);
            loss -= log((q.votes[(size_t)d->y[i]] + a) / ((double)k + a * K));
        }
        if (loss < least) least = loss, best = a;
    }
    return best;
}

TEST(smoothing)
{
    cr_rng r = cr_rng_stream(3, 9);
    double said[2];
    for (unsigned random = 0; random < 2; random++) {
        draw_data(50, 120, 2, 3, &data);
        for (size_t i = 0; i < data.n; i++) {
            data.y[i] = random ? (double)cr_rng_below(&r, 3) : (double)(i % 3);
            data.X[2 * i] += 5 * (random ? 0 : data.y[i]);
            data.X[2 * i + 1] += 0.001 * data.X[2 * i];
        }
        cr_table *t = make_table(cx, data.X, data.n, 2, data.y, NULL);
        json_t   *d = describe(cx, fit(cx, "knn", t, "target=y task=classification scale=none"));
        said[random] = statistic(d, "smoothing");
        assert_close(said[random], best_smoothing(&data, 5), 1e-12);
    }
    assert_true(said[0] < 0.2 && said[1] > 0.5);
}

/* E (f(x0) + e - mean)^2 = s^2 + (f(x0) - mean_i f(x_i))^2 + s^2 / k at fixed x, over the noise:
 * Hastie, Tibshirani & Friedman (2009), eq. 7.10. */
TEST(bias_and_variance)
{
    enum { N = 60, TIMES = 500 };
    const double noise = 0.5, x0[1] = { 0.31 };
    double       X[N], y[N], zero[1] = { 0 };
    cr_rng       r = cr_rng_stream(77, 1);
    const size_t ks[] = { 1, 5, 20 };
    cr_table    *at = make_table(cx, x0, 1, 1, zero, NULL);
    for (size_t i = 0; i < N; i++) X[i] = (double)i / N;
    for (size_t c = 0; c < 3; c++) {
        double     error = 0, fourth = 0, mean_f = 0, said = 0;
        near_row   list[600];
        char       settings[64];
        drawn_data d = { 0 };
        d.n = N, d.p = 1;
        memcpy(d.X, X, sizeof X);
        rank_rows(&d, x0, false, SIZE_MAX, list);
        for (size_t i = 0; i < ks[c]; i++) mean_f += sin(8 * X[list[i].row]) / (double)ks[c];
        snprintf(settings, sizeof settings, "target=y scale=none k=%zu", ks[c]);
        for (size_t time = 0; time < TIMES; time++) {
            for (size_t i = 0; i < N; i++) y[i] = sin(8 * X[i]) + noise * cr_rng_normal(&r);
            cr_table     *t = make_table(cx, X, N, 1, y, NULL);
            cr_prediction q = fit_and_predict(cx, "knn", t, settings, at);
            double        e = sin(8 * x0[0]) + noise * cr_rng_normal(&r) - q.mean[0];
            error += e * e / TIMES;
            fourth += e * e * e * e / TIMES;
            said += q.scale[0] * q.scale[0] / TIMES;
        }
        double bias = sin(8 * x0[0]) - mean_f, k = (double)ks[c];
        double truth = noise * noise * (1 + 1 / k) + bias * bias;
        double se = sqrt((fourth - error * error) / TIMES);
        assert_true(fabs(error - truth) < 4 * se);
        if (ks[c] == 5) assert_close(said, noise * noise * (1 + 1 / k), 0.05); /* little bias */
    }
}

/* --- corners --------------------------------------------------------------------------------- */

TEST(corners)
{
    double    X[4] = { 1, 2, 3, 4 }, y[4] = { 5, 6, 7, 8 }, none[4] = { 0 };
    cr_model *m = NULL;
    warnings  said = { 0 };
    cr_ctx_set_log(cx, keep_warning, &said);
    cr_table     *one = make_table(cx, X, 1, 1, y, NULL), *t = make_table(cx, X, 4, 1, y, none);
    cr_prediction q = fit_and_predict(cx, "knn", one, "target=y", one);
    assert_close(q.mean[0], 5, 1e-15);
    assert_true(isnan(q.scale[0]));
    assert_non_null(strstr(said.text, "fewer than k = 5 rows"));
    q = fit_and_predict(cx, "knn", one, "target=y k=auto", one);
    assert_close(q.mean[0], 5, 1e-15);
    assert_fails_with(cx, try_fit(cx, "knn", one, "target=y task=classification k=auto", &m),
                      CR_EDATA, "only one class");
    q = fit_and_predict(cx, "knn", t, "target=y features=x1 k=9", t); /* all of them */
    for (size_t i = 0; i < 4; i++) assert_close(q.mean[i], 6.5, 1e-15);
    assert_fails_with(cx, try_fit(cx, "knn", t, "target=y features=x1 weights=w", &m), CR_EDATA,
                      "all zero");
    const char *const bad[] = { "0", "-3", "2.5", "many", "nan" };
    for (size_t i = 0; i < 5; i++) {
        char settings[64];
        snprintf(settings, sizeof settings, "target=y k=%s", bad[i]);
        assert_fails_with(cx, try_fit(cx, "knn", t, settings, &m), CR_EARG,
                          "is not a whole number above 0, or auto");
    }
}

/* Categories: a level is as far from any other as from a third. */
TEST(categories)
{
    cr_table     *t = table_of_text(cx, "g.csv", "g,y\na,1\na,2\nb,10\nb,12\nc,20\n");
    cr_table     *at = table_of_text(cx, "at.csv", "g\na\nb\n");
    cr_prediction q = fit_and_predict(cx, "knn", t, "target=y k=2 scale=none", at);
    assert_close(q.mean[0], 1.5, 1e-15);
    assert_close(q.mean[1], 11, 1e-15);
}

/* Thousands of equal rows. */
TEST(many_copies)
{
    double X[3000] = { 0 }, y[3000], sum = 0;
    for (size_t i = 0; i < 3000; i++) y[i] = (double)(i % 7);
    for (size_t i = 0; i < 3000; i++) sum += y[i] / 3000;
    cr_table     *t = make_table(cx, X, 3000, 1, y, NULL), *at = make_table(cx, X, 1, 1, y, NULL);
    cr_prediction q = fit_and_predict(cx, "knn", t, "target=y", at);
    assert_close(q.mean[0], sum, 1e-12);
}
