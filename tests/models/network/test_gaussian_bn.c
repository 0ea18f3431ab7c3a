/* test_gaussian_bn.c -- linear-Gaussian networks learned from rows: regressions as `linear` has them, predictive densities
 * by quadrature over the posterior, graphs by enumeration, queries, corners. */
#include "../fixture.h"

#include "graph/query/methods.h"
#include "models/core/model_internal.h"
#include "models/network/gaussian_bn.h"

enum { N = 40, P = 4 };

/* x1 -> x2 -> x4 <- x3. */
static cr_table *draw(cr_ctx *cx, size_t n, uint64_t seed, double *X)
{
    cr_rng r = cr_rng_stream(seed, 4);
    for (size_t i = 0; i < n; i++) {
        double *x = X + i * P;
        x[0] = 5 + cr_rng_normal(&r);
        x[1] = 2 * x[0] + cr_rng_normal(&r);
        x[2] = 10 * cr_rng_normal(&r);
        x[3] = 1 - x[1] + 0.3 * x[2] + cr_rng_normal(&r);
    }
    return make_table(cx, X, n, P, NULL, NULL);
}

/* Weights, intercepts and their standard errors are those of least squares. */
TEST(regressions)
{
    double      X[N * P];
    cr_table   *t = draw(cx, N, 1, X);
    json_t     *d = describe(cx, fit(cx, "gaussian-bn", t,
                                     "require=x2>x4,x3>x4,x1>x2 order=x1+x3,x2,x4 "
                                         "max_parents=2 forbid=x3>x2,x1>x3,x3>x1"));
    json_t     *l = describe(cx, fit(cx, "linear", t, "target=x4 features=x2,x3"));
    const char *names[] = { "intercept", "x2", "x3" };
    for (size_t k = 0; k < 3; k++) {
        char name[32];
        snprintf(name, sizeof name, "x4.%s", names[k]);
        assert_close(parameter(d, name, "value"), parameter(l, names[k], "value"), 1e-9);
        assert_close(parameter(d, name, "sd"), parameter(l, names[k], "sd"), 1e-9);
    }
    assert_close(parameter(d, "x4.sd", "value"), statistic(l, "residual_sd"), 1e-9);
    assert_close(statistic(d, "arcs"), 3, 0);
}

/* What a row shows of a child is averaged over what the rows leave open of its regression: the density of x2 given x1,
 * by a grid over slope, intercept and log sd. */
TEST(predictive_density)
{
    enum { FEW = 6, GRID = 60 };
    double    X[FEW * P], at[P] = { 8, 15, 0, 0 }, joint, alone;
    cr_table *t = draw(cx, FEW, 2, X), *one = make_table(cx, at, 1, P, NULL, NULL);
    json_t   *d = describe(cx, fit(cx, "gaussian-bn", t, "features=x1,x2 require=x1>x2"));
    joint =
        predict(cx, fit(cx, "gaussian-bn", t, "features=x1,x2 require=x1>x2"), one).log_density[0];
    alone =
        predict(cx, fit(cx, "gaussian-bn", t, "features=x1 structure=empty"), one).log_density[0];

    double mean = 0, total = 0, sum = 0, sd = parameter(d, "x2.sd", "value");
    double slope = parameter(d, "x2.x1", "value"), slope_sd = parameter(d, "x2.x1", "sd"), b = 0;
    for (size_t i = 0; i < FEW; i++) mean += X[i * P] / FEW, b += X[i * P + 1] / FEW;
    for (int u = -GRID; u <= GRID; u++)
        for (int v = -GRID; v <= GRID; v++)
            for (int w = -GRID / 2; w <= GRID; w++) {
                double log_sd = log(sd) + 0.06 * w, s = exp(log_sd), l = 0;
                double b1 = slope + 0.25 * u * slope_sd, b0 = b + 0.25 * v * sd / sqrt(FEW);
                for (size_t i = 0; i < FEW; i++) {
                    double e = (X[i * P + 1] - b0 - b1 * (X[i * P] - mean)) / s;
                    l -= e * e / 2 + log_sd;
                }
                double e = (at[1] - b0 - b1 * (at[0] - mean)) / s, p = exp(l);
                total += p;
                sum += p * exp(-e * e / 2) / s / sqrt(2 * M_PI);
            }
    assert_close(joint - alone, log(sum / total), 0.01);
}

/* The best of all graphs of four columns, by looking at each. */
static double best_of_all(cr_ctx *cx, const double *X)
{
    double     S[P * P] = { 0 }, mean[P] = { 0 }, scale[P] = { 1, 1, 1, 1 }, best = -INFINITY;
    cr_scratch s = cr_scratch_begin(cx);
    cri_gaussian_cases cases = { P, N, S, scale };
    cri_score_source   source;
    void              *work;
    for (size_t i = 0; i < N * P; i++) mean[i % P] += X[i] / N;
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < P * P; k++)
            S[k] += (X[i * P + k / P] - mean[k / P]) * (X[i * P + k % P] - mean[k % P]) / N;
    assert_ok(cx, cri_gaussian_score(&s, &cases, CRI_GAUSSIAN_BIC, 1, &source));
    assert_ok(cx, source.open_work(&s, source.own, &work));
    for (unsigned code = 0; code < 1u << P * (P - 1); code++) {
        unsigned parents[P] = { 0 }, left = (1u << P) - 1;
        double   sum = 0;
        for (unsigned v = 0, bit = 0; v < P; v++)
            for (unsigned u = 0; u < P; u++)
                if (u != v && code >> bit++ & 1) parents[v] |= 1u << u;
        for (unsigned round = 0; round < P; round++)
            for (unsigned v = 0; v < P; v++)
                if (left >> v & 1 && !(parents[v] & left)) left &= ~(1u << v);
        if (left) continue; /* a cycle */
        for (unsigned v = 0; v < P; v++) {
            uint32_t list[P];
            size_t   n = 0;
            for (unsigned u = 0; u < P; u++)
                if (parents[v] >> u & 1) list[n++] = u;
            sum += source.score(source.own, v, list, n, work);
        }
        if (sum > best) best = sum;
    }
    cr_scratch_end(&s);
    return best;
}

TEST(best_graphs)
{
    const char *searches[] = { "", "structure=exact", "structure=tabu", "structure=ges" };
    for (uint64_t seed = 1; seed < 4; seed++) {
        double    X[N * P];
        cr_table *t = draw(cx, N, seed, X);
        double    best = best_of_all(cx, X);
        for (size_t k = 0; k < 4; k++)
            assert_close(
                statistic(describe(cx, fit(cx, "gaussian-bn", t, searches[k])), "score.bic"), best,
                1e-9);
    }
}

/* With many rows the graph is found, the arc that could lead either way is marked, and tests say the same. */
TEST(the_graph)
{
    enum { MANY = 3000 };
    static double X[MANY * P];
    cr_table     *t = draw(cx, MANY, 5, X);
    const char   *searches[] = { "", "criterion=bge", "structure=ges", "structure=pc" };
    for (size_t k = 0; k < 4; k++) {
        json_t *d = describe(cx, fit(cx, "gaussian-bn", t, searches[k]));
        assert_close(statistic(d, "arcs"), 3, 0);
        assert_close(statistic(d, "undirected"), 1, 0);
        assert_close(fabs(parameter(d, "x4.x2", "value")), 1, 0.1);
        assert_close(parameter(d, "x4.x3", "value"), 0.3, 0.05);
    }
}

/* As a network: P(x4 | x1) by the weights along the way; do() cuts what it should. */
TEST(queries)
{
    double    X[N * P];
    cr_model *m =
        fit(cx, "gaussian-bn", draw(cx, N, 6, X),
            "require=x2>x4,x3>x4,x1>x2 order=x1+x3,x2,x4 max_parents=2 forbid=x3>x2,x1>x3,x3>x1");
    json_t         *d = describe(cx, m);
    cri_any_network any = { .methods = m->class->network->methods,
                            .net = m->class->network->network(m->state) };
    cr_query_answer a = { 0 };
    double          x2 = parameter(d, "x2.intercept", "value") + 4 * parameter(d, "x2.x1", "value");
    double          x3 = parameter(d, "x3.intercept", "value");
    double x4 = parameter(d, "x4.intercept", "value") + x2 * parameter(d, "x4.x2", "value") +
                x3 * parameter(d, "x4.x3", "value");
    assert_ok(cx, cri_any_query(cx, any, "P(x4 | x1=4)", &a));
    assert_close(a.value[0], x4, 1e-9);
    cr_query_answer_free(cx, &a);
    assert_ok(cx, cri_any_query(cx, any, "P(x1 | do(x2=4))", &a));
    assert_close(a.value[0], parameter(d, "x1.intercept", "value"), 1e-9);
    cr_query_answer_free(cx, &a);
}

/* Copies of columns, more parents than rows, arcs that cannot be, constant columns. */
TEST(corners)
{
    double    X[N * P];
    cr_table *t = draw(cx, N, 7, X);
    cr_model *m;
    assert_fails_with(cx, try_fit(cx, "gaussian-bn", t, "require=x1>x2,x2>x1", &m), CR_EARG,
                      "cycle");
    assert_fails_with(cx, try_fit(cx, "gaussian-bn", t, "require=x1>x9", &m), CR_EARG, "x9");
    assert_fails_with(cx, try_fit(cx, "gaussian-bn", t, "structure=hc", &m), CR_EARG, "neither");
    assert_fails_with(cx, try_fit(cx, "gaussian-bn", t, "structure=ges forbid=x1>x2", &m), CR_EARG,
                      "ges");
    for (size_t i = 0; i < N; i++) X[i * P + 2] = X[i * P];
    t = make_table(cx, X, N, P, NULL, NULL);
    assert_fails_with(cx, try_fit(cx, "gaussian-bn", t, "require=x1>x4,x3>x4", &m), CR_EDATA,
                      "determine each other");
    assert_true(isfinite(number_of(describe(cx, fit(cx, "gaussian-bn", t, "")), "log_likelihood")));
    for (size_t i = 0; i < N; i++) X[i * P + 2] = 3;
    t = make_table(cx, X, N, P, NULL, NULL);
    assert_fails_with(cx, try_fit(cx, "gaussian-bn", t, "", &m), CR_EDATA, "'x3' is constant");
    t = draw(cx, 4, 8, X);
    assert_fails_with(cx, try_fit(cx, "gaussian-bn", t, "require=x1>x4,x2>x4,x3>x4", &m), CR_EDATA,
                      "too many");
    assert_true(isfinite(number_of(describe(cx, fit(cx, "gaussian-bn", t, "")), "log_likelihood")));
}
