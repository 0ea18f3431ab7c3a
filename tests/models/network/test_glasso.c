/* test_glasso.c -- sparse Gaussian graphs: densities, criteria and held-out scores by dense formulas, the graph of data
 * whose graph is known, and corners. */
#include "../fixture.h"

#include "math/optim/graphical_lasso.h"
#include "graph/query/methods.h"
#include "models/core/model_internal.h"
#include "models/network/glasso.h"

enum { N = 80, P = 6 };

/* A chain: each column follows the one before it. */
static cr_table *draw(cr_ctx *cx, size_t n, uint64_t seed, double *X)
{
    cr_rng r = cr_rng_stream(seed, 9);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < P; j++)
            X[i * P + j] = cr_rng_normal(&r) + (j > 0 ? 0.5 * X[i * P + j - 1] : 3);
    return make_table(cx, X, n, P, NULL, NULL);
}

static size_t column_of(const json_t *entry, const char *key)
{
    return (size_t)atoi(json_string_value(json_object_get(entry, key)) + 1) - 1;
}

/* The precision of the columns as they are, P x P, from the table. */
static void read_precision(const json_t *d, double *K)
{
    json_t *list = json_object_get(d, "precision"), *entry;
    size_t  e;
    memset(K, 0, P * P * sizeof *K);
    json_array_foreach(list, e, entry)
    {
        size_t i = column_of(entry, "row"), j = column_of(entry, "column");
        K[i * P + j] = K[j * P + i] = number_of(entry, "value");
    }
}

static void means_of(const double *X, size_t n, double *mean)
{
    for (size_t j = 0; j < P; j++) {
        mean[j] = 0;
        for (size_t i = 0; i < n; i++) mean[j] += X[i * P + j] / (double)n;
    }
}

/* log N(x; mean, K^-1). */
static double log_normal(const double *x, const double *mean, const double *K)
{
    long double A[P * P], b[P], square = 0, logdet = 0;
    for (size_t i = 0; i < P * P; i++) A[i] = K[i];
    for (size_t j = 0; j < P; j++) b[j] = x[j] - mean[j];
    for (size_t i = 0; i < P; i++)
        for (size_t j = 0; j < P; j++) square += b[i] * A[i * P + j] * b[j];
    for (size_t k = 0; k < P; k++) {
        logdet += logl(A[k * P + k]);
        for (size_t i = k + 1; i < P; i++)
            for (size_t j = P; j-- > k;) A[i * P + j] -= A[i * P + k] / A[k * P + k] * A[k * P + j];
    }
    return (double)(-0.5L * (P * logl(2 * acosl(-1)) - logdet + square));
}

/* Densities are those of the precision that is described; they sum to the likelihood. */
TEST(densities)
{
    double      X[N * P], K[P * P], mean[P], sum = 0;
    cr_table   *t = draw(cx, N, 1, X);
    const char *settings[] = { "", "lambda=0.1", "lambda=0.2 scale=none", "refit=true choose=bic" };
    for (size_t s = 0; s < 4; s++) {
        cr_model     *m = fit(cx, "glasso", t, settings[s]);
        json_t       *d = describe(cx, m);
        cr_prediction a = predict(cx, m, t);
        read_precision(d, K);
        means_of(X, N, mean);
        sum = 0;
        for (size_t i = 0; i < N; i++) {
            assert_close(a.log_density[i], log_normal(X + i * P, mean, K), 1e-9);
            sum += a.log_density[i];
        }
        assert_close(sum, number_of(d, "log_likelihood"), 1e-9);
    }
}

/* On its own graph the likelihood is the largest: the covariances of the edges are those of the rows, and the criteria
 * count edges, means and variances. */
TEST(criteria)
{
    double    X[N * P], K[P * P];
    cr_table *t = draw(cx, N, 2, X);
    json_t   *d = describe(cx, fit(cx, "glasso", t, "refit=true gamma=1"));
    double    edges = statistic(d, "edges"), k = 2 * P + edges, l = number_of(d, "log_likelihood");
    assert_close(statistic(d, "parameters"), k, 0);
    assert_close(statistic(d, "aic"), 2 * k - 2 * l, 1e-9);
    assert_close(statistic(d, "bic"), k * log(N) - 2 * l, 1e-9);
    assert_close(statistic(d, "ebic"), k * log(N) - 2 * l + 4 * edges * log(P), 1e-9);
    read_precision(d, K);

    long double A[P * P], W[P * P] = { 0 };
    double      mean[P];
    for (size_t i = 0; i < P * P; i++) A[i] = K[i];
    for (size_t i = 0; i < P; i++) W[i * P + i] = 1;
    solve_dense(P, A, W, P);
    means_of(X, N, mean);
    for (size_t i = 0; i < P; i++)
        for (size_t j = 0; j < P; j++) {
            double s = 0;
            for (size_t n = 0; n < N; n++)
                s += (X[n * P + i] - mean[i]) * (X[n * P + j] - mean[j]) / N;
            if (K[i * P + j] != 0) assert_close((double)W[i * P + j], s, 1e-5);
        }
}

/* With many rows the chain is found, and no other edge; its edges are in every half of the rows. */
TEST(a_chain)
{
    enum { MANY = 2000 };
    static double X[MANY * P];
    cr_table     *t = draw(cx, MANY, 3, X);
    const char   *by[] = { "choose=ebic", "choose=bic" };
    for (size_t c = 0; c < 2; c++) {
        json_t *d = describe(cx, fit(cx, "glasso", t, by[c])), *entry;
        size_t  e;
        json_array_foreach(json_object_get(d, "precision"), e, entry)
        {
            size_t i = column_of(entry, "row"), j = column_of(entry, "column");
            if (i == j) continue;
            assert_true(i == j + 1);
            assert_close(number_of(entry, "stability"), 1, 0);
        }
        assert_close(statistic(d, "edges"), P - 1, 0);
    }
}

enum { FOLDS = 5 };

/* The fold of a row: that which has it when it is gathered alone. */
static size_t fold_of(cr_ctx *cx, const cr_model *m, const double *x)
{
    cri_folded sums = { 0 }, state = { .folds = FOLDS };
    cri_rows   rows;
    size_t     fold = 0;
    cr_table  *t = make_table(cx, x, 1, P, NULL, NULL);
    assert_ok(cx, cri_rows_open(cx, cr_model_get_design(m), t, CRI_TARGET_NONE, &rows));
    assert_ok(cx, cri_folded_gather(cx, &state, &rows, NULL, &sums));
    while (sums.weight[fold] == 0) fold++;
    cri_record_free(cx, cri_folded_record, &sums);
    cri_rows_close(cx, &rows);
    return fold;
}

/* The mean log density of rows under what the rows of the other folds give. */
static double held_out(cr_ctx *cx, const double *X, const size_t *fold, double lambda)
{
    double sum = 0;
    for (size_t f = 0; f < FOLDS; f++) {
        double mean[P] = { 0 }, S[P * P] = { 0 }, T[P * P] = { 0 }, n = 0;
        for (size_t i = 0; i < N; i++) n += fold[i] != f;
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; fold[i] != f && j < P; j++) mean[j] += X[i * P + j] / n;
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; fold[i] != f && j < P * P; j++)
                S[j] += (X[i * P + j / P] - mean[j / P]) * (X[i * P + j % P] - mean[j % P]) / n;
        cri_graphical_lasso a = { .S = S, .p = P, .lambda = lambda, .tol = 1e-12, .max_iter = 100 };
        cri_graphical_lasso_report r;
        assert_ok(cx, cri_graphical_lasso_solve(cx, &a, T, NULL, &r));
        for (size_t i = 0; i < N; i++)
            if (fold[i] == f) sum += log_normal(X + i * P, mean, T);
    }
    return sum / N;
}

TEST(held_out_density)
{
    double    X[N * P], best = -INFINITY;
    size_t    fold[N], k;
    cr_table *t = draw(cx, N, 7, X);
    cr_model *m = fit(cx, "glasso", t, "choose=cv kept_folds=5 path=6 scale=none");
    json_t   *d = describe(cx, m), *one;
    for (size_t i = 0; i < N; i++) fold[i] = fold_of(cx, m, X + i * P);
    json_array_foreach(json_object_get(d, "graphs"), k, one)
    {
        double value = number_of(one, "criterion");
        assert_close(value, held_out(cx, X, fold, number_of(one, "lambda")), 1e-6);
        if (value > best) best = value;
        assert_true(value < best || statistic(d, "lambda") <= number_of(one, "lambda"));
    }
}

/* One column is no graph, a constant one has none, and texts have no covariance. */
TEST(refused)
{
    double X[N * P];
    draw(cx, N, 4, X);
    for (size_t i = 0; i < N; i++) X[i * P + 2] = 5;
    cr_table *t = make_table(cx, X, N, P, NULL, NULL);
    cr_model *m;
    assert_fails_with(cx, try_fit(cx, "glasso", t, "", &m), CR_EDATA, "'x3' is constant");
    assert_fails_with(cx, try_fit(cx, "glasso", t, "features=x1", &m), CR_EDATA, "at least two");
    assert_fails_with(cx, try_fit(cx, "glasso", t, "features=x1,x2 choose=cv kept_folds=1", &m),
                      CR_EARG, "at least 2 folds");
    assert_fails_with(cx, try_fit(cx, "glasso", t, "features=x1,x2 instability=0.1", &m), CR_EARG,
                      "--choose stars");
}

/* More columns than rows, and copies of columns: a graph with a penalty, none without. */
TEST(few_rows)
{
    double    X[N * P];
    cr_table *t = draw(cx, 5, 5, X);
    cr_model *m;
    json_t   *d = describe(cx, fit(cx, "glasso", t, "lambda=0.3"));
    assert_true(statistic(d, "duality_gap") < 1e-8);
    assert_fails_with(cx, try_fit(cx, "glasso", t, "lambda=0", &m), CR_ENUMERIC, "singular");
    assert_fails_with(cx, try_fit(cx, "glasso", t, "lambda=1e-4 refit=true", &m), CR_EDATA,
                      "no maximum");
    for (size_t i = 0; i < N; i++) X[i * P + 1] = X[i * P];
    draw(cx, N, 6, X);
    for (size_t i = 0; i < N; i++) X[i * P + 1] = X[i * P];
    t = make_table(cx, X, N, P, NULL, NULL);
    d = describe(cx, fit(cx, "glasso", t, ""));
    assert_true(isfinite(number_of(d, "log_likelihood")));
}

/* As a network it answers what the normal distribution does: the mean and sd of a column given others, by the dense
 * formula; columns without an edge are separated by the others; what would be caused it does not say. */
TEST(queries)
{
    enum { MANY = 400 };
    static double X[MANY * P];
    double        K[P * P], mean[P];
    cr_table     *t = draw(cx, MANY, 8, X);
    cr_model     *m = fit(cx, "glasso", t, "lambda=0.15");
    json_t       *d = describe(cx, m);
    read_precision(d, K);
    means_of(X, MANY, mean);
    cri_any_network any = { .methods = m->class->network->methods,
                            .net = m->class->network->network(m->state) };

    /* x3 given x1 and x2, the others summed out: from the covariance of the three. */
    long double A[P * P], W[P * P] = { 0 };
    for (size_t i = 0; i < P * P; i++) A[i] = K[i];
    for (size_t i = 0; i < P; i++) W[i * P + i] = 1;
    solve_dense(P, A, W, P);
    long double S[4] = { W[0], W[1], W[P], W[P + 1] }, w[2] = { W[2], W[P + 2] };
    solve_dense(2, S, w, 1);
    double expected = (double)(mean[2] + w[0] * (1 - mean[0]) + w[1] * (7 - mean[1]));
    double variance = (double)(W[2 * P + 2] - w[0] * W[2] - w[1] * W[P + 2]);

    cr_query_answer a = { 0 };
    assert_ok(cx, cri_any_query(cx, any, "P(x3 | x1=1, x2=7)", &a));
    assert_close(a.value[0], expected, 1e-9);
    assert_close(a.covariance[0], variance, 1e-9);
    cr_query_answer_free(cx, &a);

    for (size_t i = 1; i < P; i++)
        for (size_t j = 0; j < i; j++) {
            char text[128];
            int  n = snprintf(text, sizeof text, "dsep(x%zu; x%zu | ", i + 1, j + 1);
            for (size_t k = 0, first = 1; k < P; k++) {
                if (k == i || k == j) continue;
                n +=
                    snprintf(text + n, sizeof text - (size_t)n, "%sx%zu", first ? "" : ", ", k + 1);
                first = 0;
            }
            snprintf(text + n, sizeof text - (size_t)n, ")");
            assert_ok(cx, cri_any_query(cx, any, text, &a));
            assert_true(a.holds == (K[i * P + j] == 0));
            cr_query_answer_free(cx, &a);
        }
    assert_fails_with(cx, cri_any_query(cx, any, "P(x3 | do(x1=1))", &a), CR_EARG, "undirected");
}
