/* test_kmeans.c -- k-means against all assignments of a few rows, a plain step, the best known optima of real tables,
 * plain formulas of its scores; the inertia never rises. */
#include "../life.h"

#include "base/context_internal.h"
#include "models/core/fit_stream.h"
#include "models/core/model_internal.h"
#include "models/latent/kmeans.h"

#include <float.h>

/* The inertia has never risen on the way. */
static cr_model *check_trace(cr_model *m)
{
    const cri_kmeans *s = m->state;
    for (size_t i = 1; i < s->iterations; i++)
        assert_true(s->trace[i] <= s->trace[i - 1] + 1e-13 * s->total);
    if (s->iterations > 0) assert_true(s->inertia <= s->trace[s->iterations - 1] + 1e-9 * s->total);
    return m;
}

static cr_model *fit_kmeans(cr_ctx *cx, const cr_table *t, const char *settings)
{
    return check_trace(fit(cx, "kmeans", t, settings));
}

static double inertia_of(cr_ctx *cx, const cr_table *t, const char *settings)
{
    return statistic(describe(cx, fit_kmeans(cx, t, settings)), "inertia");
}

static void draw_blobs(uint64_t seed, size_t n, size_t p, size_t blobs, double spread, double *X)
{
    cr_rng r = cr_rng_stream(seed, 3);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < p; j++) {
            cr_rng of = cr_rng_stream(seed + 1000, i % blobs * p + j);
            X[i * p + j] = spread * cr_rng_normal(&of) + cr_rng_normal(&r);
        }
}

static double square(const double *a, const double *b, size_t p)
{
    double sum = 0;
    for (size_t j = 0; j < p; j++) sum += (a[j] - b[j]) * (a[j] - b[j]);
    return sum;
}

/* --- every assignment of a few rows ----------------------------------------------------------- */

/* The inertia of rows that are assigned by the digits of `code`, base k. */
static double inertia_by_code(const double *X, const double *w, size_t n, size_t p, size_t k,
                              size_t code)
{
    double mean[8 * 4] = { 0 }, size[8] = { 0 }, sum = 0;
    size_t rest = code;
    for (size_t i = 0; i < n; i++, rest /= k) {
        size[rest % k] += w[i];
        for (size_t j = 0; j < p; j++) mean[rest % k * p + j] += w[i] * X[i * p + j];
    }
    for (size_t c = 0; c < k * p; c++) mean[c] /= size[c / p] > 0 ? size[c / p] : 1;
    rest = code;
    for (size_t i = 0; i < n; i++, rest /= k)
        sum += w[i] * square(X + i * p, mean + rest % k * p, p);
    return sum;
}

TEST(all_assignments)
{
    enum { N = 8, P = 2 };
    for (uint64_t seed = 0; seed < 12; seed++)
        for (size_t k = 1; k <= 3; k++) {
            double X[N * P], w[N], least = INFINITY, codes = pow((double)k, N);
            char   settings[128];
            cr_rng r = cr_rng_stream(seed, 1);
            draw_normals(&r, X, N * P);
            for (size_t i = 0; i < N; i++) w[i] = seed % 2 ? 1 : (double)(1 + cr_rng_below(&r, 3));
            for (size_t code = 0; code < (size_t)codes; code++)
                least = fmin(least, inertia_by_code(X, w, N, P, k, code));
            cr_table *t = make_table(cx, X, N, P, NULL, w);
            snprintf(settings, sizeof settings, "k=%zu scale=none weights=w features=x1,x2", k);
            assert_relative(inertia_of(cx, t, settings), least, 1e-12);
        }
}

/* --- one step --------------------------------------------------------------------------------- */

/* A file with centres, as a setting. */
static const char *centres_file(const double *C, size_t k, size_t p)
{
    text_buffer b = text_new(64 * (k * p + p));
    static char setting[600];
    for (size_t j = 0; j < p; j++) text_put(&b, "%sx%zu", j ? "," : "", j + 1);
    for (size_t i = 0; i < k * p; i++) text_put(&b, "%s%.17g", i % p ? "," : "\n", C[i]);
    text_put(&b, "\n");
    snprintf(setting, sizeof setting, " init=%s", test_file("centres.csv", b.at, strlen(b.at)));
    free(b.at);
    return setting;
}

/* Lloyd's steps by plain loops; returns the inertia of the clusters that the last one made. */
static double plain_steps(const double *X, size_t n, size_t p, size_t k, size_t steps, double *C)
{
    double *sum = malloc((k * p + k) * sizeof *sum), inertia = 0;
    size_t *a = malloc(n * sizeof *a);
    for (size_t step = 0; step < steps; step++) {
        memset(sum, 0, (k * p + k) * sizeof *sum);
        for (size_t i = 0; i < n; i++) {
            a[i] = 0;
            for (size_t c = 1; c < k; c++)
                if (square(X + i * p, C + c * p, p) < square(X + i * p, C + a[i] * p, p)) a[i] = c;
            for (size_t j = 0; j < p; j++) sum[a[i] * p + j] += X[i * p + j];
            sum[k * p + a[i]]++;
        }
        for (size_t c = 0; c < k * p; c++) C[c] = sum[c] / sum[k * p + c / p];
    }
    for (size_t i = 0; i < n; i++) inertia += square(X + i * p, C + a[i] * p, p);
    free(sum), free(a);
    return inertia;
}

static void check_steps(cr_ctx *cx, const double *X, size_t n, size_t p, size_t k, size_t steps)
{
    double *C = malloc(k * p * sizeof *C);
    char    settings[800];
    for (size_t i = 0; i < k * p; i++) C[i] = X[i * 7 % (n * p)];
    snprintf(settings, sizeof settings, "scale=none polish=false max_iter=%zu%s", steps,
             centres_file(C, k, p));
    cr_table *t = make_table(cx, X, n, p, NULL, NULL);
    assert_relative(inertia_of(cx, t, settings), plain_steps(X, n, p, k, steps, C), 1e-12);
    free(C);
}

/* As many steps as one likes, from the same centres: bounds and sums that are kept change nothing. */
TEST(plain_steps)
{
    enum { N = 3000, P = 5 };
    double *X = malloc(N * P * sizeof *X);
    draw_blobs(4, N, P, 9, 1.5, X);
    for (size_t steps = 1; steps <= 48; steps += steps < 6 ? 1 : 7)
        check_steps(cx, X, N, P, 12, steps);
    free(X);
}

/* The same with so many centres that some rows are compared with a few of them, and rows of which many are alike in
 * their first columns, with zeros of both signs. */
TEST(plain_steps_with_many_centres)
{
    enum { N = 9000, P = 4 };
    double *X = malloc(N * P * sizeof *X);
    draw_blobs(5, N, P, 40, 1.5, X);
    for (size_t i = 0; i < N; i++)
        X[i * P] = round(X[i * P] / 6), X[i * P + 1] = round(X[i * P + 1]);
    for (size_t steps = 1; steps <= 31; steps += steps < 4 ? 1 : 9)
        check_steps(cx, X, N, P, 48, steps);
    free(X);
}

/* Nor does the order of many rows, of which some are alike in their first columns. */
TEST(order_of_many_rows)
{
    enum { N = 9000, P = 3 };
    double *X = malloc(N * P * sizeof *X), *turned = malloc(N * P * sizeof *X);
    draw_blobs(6, N, P, 4, 1.5, X);
    for (size_t i = 0; i < N; i++)
        X[i * P] = round(X[i * P] / 6), X[i * P + 1] = round(X[i * P + 1]);
    for (size_t i = 0; i < N; i++) memcpy(turned + i * P, X + (N - 1 - i) * P, P * sizeof *X);
    const char *settings = "k=5 restarts=1 polish=false max_iter=2 tol=0";
    double      a = inertia_of(cx, make_table(cx, X, N, P, NULL, NULL), settings);
    assert_true(a == inertia_of(cx, make_table(cx, turned, N, P, NULL, NULL), settings));
    free(X), free(turned);
}

/* --- the best known --------------------------------------------------------------------------- */

/* The least inertia of 1000 restarts (digits: 150), which 50 starts reach. */
TEST(best_known)
{
    json_t *cases = reference_cases(cx, "kmeans"), *item, *expected;
    size_t  i;
    json_array_foreach(cases, i, item)
    {
        char        more[512], settings[1024];
        const char *k, *scaled = json_string_value(json_object_get(item, "preprocess"));
        const char *id = json_string_value(json_object_get(item, "id"));
        const char *drop =
            json_string_value(json_object_get(json_object_get(item, "data"), "drop"));
        char path[256];
        snprintf(path, sizeof path, "classic/%s",
                 json_string_value(json_object_get(json_object_get(item, "data"), "file")));
        cr_table *t = read_table(cx, test_data(path));
        snprintf(more, sizeof more, "features=%s%s scale=%s", drop ? "!" : "*", drop ? drop : "",
                 strcmp(scaled, "none") ? "standard" : "none");
        json_object_foreach(json_object_get(json_object_get(item, "expected"), "by_k"), k, expected)
        {
            double best = number_of(expected, "best_inertia"), found;
            snprintf(settings, sizeof settings, "%s k=%s restarts=50", more, k);
            found = inertia_of(cx, t, settings);
            if (found > best * (1 + 1e-6))
                fail_msg("%s, k = %s: %.10g, and %.10g is known", id, k, found, best);
        }
    }
}

/* Swaps that lose at first: ten starts find what is known of digits, where without them fifty did not with this seed. */
TEST(few_starts)
{
    cr_table *t = read_table(cx, test_data("classic/../tabular/digits.csv"));
    assert_relative(inertia_of(cx, t, "features=!digit scale=none k=10 restarts=10 seed=6"),
                    1165109.46019567, 1e-6);
}

/* --- scores ----------------------------------------------------------------------------------- */

/* The clusters that the model gives rows. */
static void clusters_of(cr_ctx *cx, const cr_model *m, const cr_table *t, size_t *out)
{
    cr_prediction p = predict(cx, m, t);
    assert_int_equal(p.kind, CR_ANSWER_DISTANCE);
    for (size_t i = 0; i < p.n; i++) {
        out[i] = 0;
        for (size_t c = 1; c < p.n_classes; c++)
            if (p.vector[i * p.n_classes + c] < p.vector[i * p.n_classes + out[i]]) out[i] = c;
    }
}

/* The definition, row by row. */
static double plain_silhouette(const double *X, const size_t *a, size_t n, size_t p, size_t k)
{
    double total = 0;
    for (size_t i = 0; i < n; i++) {
        double sum[8] = { 0 }, count[8] = { 0 }, nearest = INFINITY, own;
        for (size_t j = 0; j < n; j++)
            if (j != i) sum[a[j]] += sqrt(square(X + i * p, X + j * p, p)), count[a[j]]++;
        if (count[a[i]] == 0) continue;
        own = sum[a[i]] / count[a[i]];
        for (size_t c = 0; c < k; c++)
            if (c != a[i]) nearest = fmin(nearest, sum[c] / count[c]);
        total += (nearest - own) / fmax(nearest, own);
    }
    return total / (double)n;
}

TEST(scores)
{
    enum { N = 60, P = 3, K = 4 };
    double X[N * P], mean[P] = { 0 }, total = 0, inertia;
    size_t a[N];
    draw_blobs(8, N, P, K, 3, X);
    memcpy(X + P, X, P * sizeof *X); /* two rows alike */
    cr_table *t = make_table(cx, X, N, P, NULL, NULL);
    cr_model *m = fit_kmeans(cx, t, "k=4 scale=none scores=true");
    json_t   *d = describe(cx, m);
    clusters_of(cx, m, t, a);
    for (size_t i = 0; i < N * P; i++) mean[i % P] += X[i] / N;
    for (size_t i = 0; i < N; i++) total += square(X + i * P, mean, P);
    inertia = statistic(d, "inertia");
    assert_relative(statistic(d, "silhouette"), plain_silhouette(X, a, N, P, K), 1e-12);
    assert_relative(statistic(d, "calinski_harabasz"),
                    (total - inertia) / (K - 1) / (inertia / (N - K)), 1e-11);
}

/* scikit-learn 1.2.1: KMeans(3, n_init=50), metrics.silhouette_score, metrics.calinski_harabasz_score. */
TEST(scores_of_iris)
{
    cr_table *t = read_table(cx, "examples/iris.csv");
    json_t   *d = describe(cx, fit_kmeans(cx, t, "features=*_cm k=3 scale=none scores=true"));
    assert_relative(statistic(d, "inertia"), 78.851441426146, 1e-12);
    assert_relative(statistic(d, "silhouette"), 0.5528190123564094, 1e-12);
    assert_relative(statistic(d, "calinski_harabasz"), 561.62775662962, 1e-11);
}

/* --- how many --------------------------------------------------------------------------------- */

/* Four blobs far apart are found among 1 to 7, by either score; every number is listed. */
TEST(number_of_clusters)
{
    enum { N = 200, P = 2 };
    double X[N * P];
    for (size_t i = 0; i < N; i++) {
        cr_rng r = cr_rng_stream(6, i);
        X[i * P] = (i % 2 ? 10 : 0) + cr_rng_normal(&r);
        X[i * P + 1] = (i / 2 % 2 ? 10 : 0) + cr_rng_normal(&r);
    }
    cr_table *t = make_table(cx, X, N, P, NULL, NULL);
    for (size_t by = 0; by < 2; by++) {
        json_t *d = describe(cx, fit_kmeans(cx, t, by ? "k=1:7 choose=silhouette" : "k=1:7"));
        json_t *choice = json_object_get(d, "choice");
        assert_int_equal((size_t)statistic(d, "k"), 4);
        assert_int_equal(json_array_size(choice), 7);
        for (size_t i = 0; i < 7; i++) {
            json_t *row = json_array_get(choice, i);
            assert_int_equal((size_t)number_of(row, "k"), i + 1);
            assert_true(json_is_true(json_object_get(row, "chosen")) == (i == 3));
            assert_true(json_is_null(json_object_get(row, "score")) == (i == 0));
            if (i > 0)
                assert_true(number_of(row, "inertia") <
                            number_of(json_array_get(choice, i - 1), "inertia"));
        }
    }
    cr_model *m = NULL;
    assert_fails_with(cx, try_fit(cx, "kmeans", t, "k=0", &m), CR_EARG, "--k is '0'");
    assert_fails_with(cx, try_fit(cx, "kmeans", t, "k=5:3", &m), CR_EARG, "--k is '5:3'");
    assert_fails_with(cx, try_fit(cx, "kmeans", t, "k=2:", &m), CR_EARG, "--k is '2:'");
    assert_fails_with(cx, try_fit(cx, "kmeans", t, "k=two", &m), CR_EARG, "--k is 'two'");
}

/* --- laws ------------------------------------------------------------------------------------- */

static double parameter_at(const json_t *d, size_t i, const char *key)
{
    return number_of(json_array_get(json_object_get(d, "parameters"), i), key);
}

/* Centres are the means of the rows of their clusters, with the sd of a mean, in the units of the data; the largest
 * cluster is the first; an offset of 1e9 changes nothing but the centres. */
TEST(centres)
{
    enum { N = 90, P = 3, K = 3 };
    double X[N * P], Y[N * P], sum[K * P] = { 0 }, squares[K * P] = { 0 }, size[K] = { 0 };
    size_t a[N];
    draw_blobs(21, N, P, K, 4, X);
    for (size_t i = 0; i < N * P; i++) X[i] = 100 * X[i], Y[i] = X[i] + 1e9;
    for (size_t i = 0; i < N; i++) X[i * P + 1] *= 1e-3, Y[i * P + 1] = X[i * P + 1] + 5;
    cr_table *t = make_table(cx, X, N, P, NULL, NULL), *u = make_table(cx, Y, N, P, NULL, NULL);
    cr_model *m = fit_kmeans(cx, t, "k=3"), *far = fit_kmeans(cx, u, "k=3");
    json_t   *d = describe(cx, m), *e = describe(cx, far);
    clusters_of(cx, m, t, a);
    for (size_t i = 0; i < N; i++) {
        size[a[i]]++;
        for (size_t j = 0; j < P; j++) sum[a[i] * P + j] += X[i * P + j];
    }
    for (size_t i = 0; i < N * P; i++) {
        size_t at = a[i / P] * P + i % P;
        squares[at] += pow(X[i] - sum[at] / size[at / P], 2);
    }
    for (size_t c = 0; c < K * P; c++) {
        double s = size[c / P];
        assert_relative(parameter_at(d, c, "value"), sum[c] / s, 1e-10);
        assert_relative(parameter_at(d, c, "sd"), sqrt(squares[c] / (s - 1) / s), 1e-10);
        assert_close(parameter_at(e, c, "value") - parameter_at(d, c, "value"),
                     c % P == 1 ? 5 : 1e9, 1e-5);
        assert_relative(parameter_at(e, c, "sd"), parameter_at(d, c, "sd"), 1e-6);
    }
    assert_true(size[0] >= size[1] && size[1] >= size[2]);
    assert_relative(statistic(e, "inertia"), statistic(d, "inertia"), 1e-7);
}

/* --- corners ---------------------------------------------------------------------------------- */

static json_t *fit_text(cr_ctx *cx, const char *text, const char *settings)
{
    return describe(cx, fit_kmeans(cx, table_of_text(cx, "few.csv", text), settings));
}

/* Fewer different rows than clusters; one row; rows that are all alike; a constant column. */
TEST(few_rows)
{
    json_t *d = fit_text(cx, "x,y\n1,2\n1,2\n3,4\n3,4\n3,4\n", "k=3");
    assert_int_equal((size_t)statistic(d, "k"), 2);
    assert_close(statistic(d, "inertia"), 0, 1e-12);
    assert_relative(statistic(d, "size(1)"), 3, 0);
    d = fit_text(cx, "x,y\n1,2\n", "");
    assert_int_equal((size_t)statistic(d, "k"), 1);
    assert_relative(parameter_at(d, 1, "value"), 2, 0);
    d = fit_text(cx, "x,y\n7,2\n7,2\n7,2\n", "k=2:4 scores=true");
    assert_int_equal((size_t)statistic(d, "k"), 1);
    d = fit_text(cx, "x,y\n7,2\n7,3\n7,12\n7,13\n", "k=2");
    assert_relative(parameter_at(d, 0, "value"), 7, 0);
    assert_relative(parameter_at(d, 1, "value"), 2.5, 1e-14);
    assert_relative(parameter_at(d, 3, "value"), 12.5, 1e-14);
}

/* Centres that no row is nearest to get rows all the same. */
TEST(empty_clusters)
{
    enum { N = 40, P = 2, K = 4 };
    double X[N * P], C[K * P] = { 0, 0, 500, 500, 500, 500, 900, -900 };
    char   settings[800];
    draw_blobs(2, N, P, K, 3, X);
    cr_table *t = make_table(cx, X, N, P, NULL, NULL);
    snprintf(settings, sizeof settings, "scale=none k=4%s", centres_file(C, K, P));
    json_t *d = describe(cx, fit_kmeans(cx, t, settings));
    for (size_t c = 1; c <= K; c++) {
        char name[32];
        snprintf(name, sizeof name, "size(%zu)", c);
        assert_true(statistic(d, name) >= 1);
    }
    cr_model *m = NULL;
    snprintf(settings, sizeof settings, "scale=none k=3%s", centres_file(C, K, P));
    assert_fails_with(cx, try_fit(cx, "kmeans", t, settings, &m), CR_EARG, "4 centres");
    t = make_table(cx, X, 3, P, NULL, NULL);
    snprintf(settings, sizeof settings, "scale=none%s", centres_file(C, K, P));
    assert_fails_with(cx, try_fit(cx, "kmeans", t, settings, &m), CR_EARG, "only 3 rows differ");
}

/* --- many rows -------------------------------------------------------------------------------- */

/* Centres that are found on samples end as low as the blobs that the rows were drawn from. */
TEST(samples)
{
    enum { N = 40000, P = 3, K = 6 };
    double *X = malloc(N * P * sizeof *X), blobs = 0, mean[K * P] = { 0 };
    draw_blobs(31, N, P, K, 12, X);
    cr_table *t = make_table(cx, X, N, P, NULL, NULL);
    for (size_t i = 0; i < N * P; i++) mean[i / P % K * P + i % P] += X[i] * K / N;
    for (size_t i = 0; i < N; i++) blobs += square(X + i * P, mean + i % K * P, P);
    assert_true(inertia_of(cx, t, "k=6 scale=none restarts=1") <= blobs * (1 + 1e-3));
    free(X);
}

static cr_model *fit_stream(cr_ctx *cx, const char *path, size_t block, const char *settings)
{
    cr_read_options o;
    cr_stream      *stream = NULL;
    setting_list    list;
    cr_model       *m = NULL;
    split_settings(settings, &list);
    assert_ok(cx, cr_options_init(cx, cr_read_table, &o));
    assert_ok(cx, cr_stream_open(cx, path, &o, block, &stream));
    cr_status st = cr_fit_stream(cx, "kmeans", stream, list.list, list.n, &m);
    cr_stream_free(cx, stream);
    cr_options_free(cx, cr_read_table, &o);
    if (st != CR_OK) return NULL;
    test_own(cx, m, release_model);
    return check_trace(m);
}

/* A stream of more rows than are kept: the same optimum, scale and sizes as of all rows in memory. */
TEST(long_streams)
{
    enum { N = 5000, P = 2, K = 3 };
    double *X = malloc(N * P * sizeof *X);
    draw_blobs(41, N, P, K, 6, X);
    text_buffer b = text_new(64 * N);
    text_put(&b, "x1,x2,w\n");
    for (size_t i = 0; i < N; i++)
        text_put(&b, "%.15g,%.15g,%zu\n", 1e6 + 10 * X[i * P], X[i * P + 1], 1 + i % 3);
    const char *path = test_file("many.csv", b.at, strlen(b.at));
    cr_model   *whole = fit_kmeans(cx, read_table(cx, path), "k=3 weights=w");
    cri_set_leaf_bytes(cx, 2048); /* so that 1024 rows are kept */
    cr_model *m = fit_stream(cx, path, 700, "k=3 weights=w");
    assert_non_null(m);
    json_t *now = describe(cx, m), *then = describe(cx, whole);
    assert_relative(number_of(now, "rows"), N, 0);
    assert_relative(statistic(now, "inertia"), statistic(then, "inertia"), 1e-6);
    assert_relative(statistic(now, "explained"), statistic(then, "explained"), 1e-6);
    for (size_t c = 0; c < K * P; c++) {
        assert_relative(parameter_at(now, c, "value"), parameter_at(then, c, "value"), 1e-3);
        assert_relative(parameter_at(now, c, "sd"), parameter_at(then, c, "sd"), 1e-2);
    }
    assert_relative(
        statistic(now, "size(1)") + statistic(now, "size(2)") + statistic(now, "size(3)"),
        statistic(then, "size(1)") + statistic(then, "size(2)") + statistic(then, "size(3)"),
        1e-12);
    assert_null(fit_stream(cx, path, 700, "k=3 weights=w scores=true"));
    assert_non_null(strstr(cr_error(cx), "--scores needs all rows at once"));
    free(b.at), free(X);
}

/* The most that a move of one row from its cluster to another gains, as a share of the inertia. */
static double best_move(cr_ctx *cx, const cr_model *m, const cr_table *t)
{
    const cri_kmeans *s = m->state;
    cr_prediction     p = predict(cx, m, t);
    double            most = 0;
    for (size_t i = 0; i < p.n; i++) {
        const double *d = p.vector + i * s->k;
        size_t        a = 0;
        for (size_t c = 1; c < s->k; c++)
            if (d[c] < d[a]) a = c;
        for (size_t c = 0; c < s->k && s->size[a] > 1; c++)
            if (c != a)
                most = fmax(most, d[a] * d[a] * s->size[a] / (s->size[a] - 1) -
                                      d[c] * d[c] * s->size[c] / (s->size[c] + 1));
    }
    return most / s->inertia;
}

/* Lloyd's steps end where single moves still gain, the polish does not; also of many rows. */
TEST(single_moves)
{
    enum { N = 33000, P = 2 };
    double *X = malloc(N * P * sizeof *X);
    cr_rng  r = cr_rng_stream(71, 0);
    draw_normals(&r, X, N * P);
    for (size_t n = 300; n <= N; n += N - 300) {
        cr_table *t = make_table(cx, X, n, P, NULL, NULL);
        assert_true(best_move(cx, fit_kmeans(cx, t, "k=7 restarts=1"), t) < 1e-13);
        assert_true(best_move(cx, fit_kmeans(cx, t, "k=7 restarts=1 polish=false"), t) > 1e-12);
    }
    free(X);
}

/* A clock that runs out leaves the best so far, and says so. */
TEST(time_limit)
{
    enum { N = 500, P = 3 };
    double X[N * P];
    draw_blobs(51, N, P, 7, 2, X);
    cr_table *t = make_table(cx, X, N, P, NULL, NULL);
    for (uint64_t nth = 1; nth < 60; nth += 7) {
        cri_ctx_run_out_at(cx, nth);
        cr_model *m = fit_kmeans(cx, t, "k=6:7 restarts=4"), *one = fit_kmeans(cx, t, "k=6");
        cri_ctx_run_out_at(cx, 0);
        assert_int_equal(cr_model_get_report(m)->stop, CR_STOP_TIME);
        assert_int_equal(cr_model_get_report(one)->stop, CR_STOP_TIME);
        assert_true(statistic(describe(cx, m), "inertia") > 0);
        assert_true(statistic(describe(cx, one), "restarts") < 10);
    }
    cri_ctx_run_out_at(cx, 2);
    json_t *d = describe(cx, fit_kmeans(cx, t, "k=6 scores=true"));
    cri_ctx_run_out_at(cx, 0);
    assert_true(json_is_null(json_object_get(json_object_get(d, "statistics"), "silhouette")));
}

/* --- memory ----------------------------------------------------------------------------------- */

/* Samples of many rows, and centres from a file. */
TEST(allocations_of_samples)
{
    enum { N = 33000 };
    double *X = malloc(N * sizeof *X), C[] = { -1, 1 };
    char    given[800];
    draw_blobs(61, N, 1, 2, 5, X);
    snprintf(given, sizeof given, "scale=none%s", centres_file(C, 2, 1));
    cr_table *t = make_table(cx, X, N, 1, NULL, NULL);
    check_every_allocation(t, "kmeans", "k=2 restarts=1 polish=false");
    check_every_allocation(make_table(cx, X, 20, 1, NULL, NULL), "kmeans", given);
    free(X);
}

typedef struct streamed {
    const char *path;
} streamed;

static cr_status fit_streamed(cr_ctx *cx, void *arg)
{
    cr_status       st = CR_OK;
    cr_read_options o = { 0 };
    cr_stream      *stream = NULL;
    cr_model       *m = NULL;
    cr_setting      settings[] = { { "k", "2" }, { "restarts", "1" } };
    cri_set_leaf_bytes(cx, 1024);
    CR_TRY(cr_options_init(cx, cr_read_table, &o));
    CR_TRY(cr_stream_open(cx, ((streamed *)arg)->path, &o, 600, &stream));
    CR_TRY(cr_fit_stream(cx, "kmeans", stream, settings, 2, &m));
done:
    cr_model_free(cx, m);
    cr_stream_free(cx, stream);
    cr_options_free(cx, cr_read_table, &o);
    return st;
}

TEST(allocations_of_streams)
{
    text_buffer     b = text_new(1 << 15);
    test_call_sites known = { 0 };
    text_put(&b, "x\n");
    for (size_t i = 0; i < 1500; i++) text_put(&b, "%zu\n", i * 7919 % 1500 + i % 2 * 9000);
    streamed s = { test_file("stream.csv", b.at, strlen(b.at)) };
    test_new_allocations_fail(&known, fit_streamed, &s);
    test_call_sites_free(&known);
    free(b.at);
    (void)cx;
}
