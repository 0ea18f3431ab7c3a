/* test_rvm_classes.c -- classification by relevance vectors: mode and Laplace's approximation by their definitions,
 * quadrature where there is one weight, and accuracies that other programs reach. */
#include "rvm_state.h"
#include "../gp/gp_reference.h"
#include "data/table/subset.h"
#include "models/core/parts.h"
#include "models/gp/classify/classify_link.h"

#include <math.h>

enum { N = 40, MOST = 60 };

static double evidence_of(const cr_model *m) { return cr_model_get_report(m)->log_evidence; }

/* Points of K classes in the plane, about as many of each; y: the index of the class. */
static cr_table *draw_groups(cr_ctx *cx, uint64_t seed, size_t K, double apart, double *X,
                             double *y, double *w)
{
    cr_rng r = cr_rng_stream(seed, 6);
    for (size_t i = 0; i < N; i++) {
        double angle = 2 * M_PI * (double)(i % K) / (double)K;
        y[i] = (double)(i % K);
        X[2 * i] = apart * cos(angle) + cr_rng_normal(&r);
        X[2 * i + 1] = apart * sin(angle) + cr_rng_normal(&r);
        w[i] = 1 + (double)(i % 3);
    }
    return make_table(cx, X, N, 2, y, w);
}

/* The log posterior, unnormalised, of weights; and by opt_H [M x M] minus its second derivatives. */
static double log_posterior(const cri_rvm *m, const double *X, const double *y, const double *w,
                            double l, const double *weight, long double *opt_H)
{
    double sum = 0;
    size_t M = m->M, F = m->F;
    for (size_t k = 0; opt_H && k < M * M; k++) opt_H[k] = k % (M + 1) ? 0 : m->alpha[k / (M + 1)];
    for (size_t k = 0; k < M; k++) sum -= 0.5 * m->alpha[k] * weight[k] * weight[k];
    for (size_t i = 0; i < N; i++) {
        double score[4] = { 0 }, phi[MOST], total = 0, p[4] = { 0 };
        for (size_t k = 0; k < M; k++) {
            phi[k] = rvm_phi(m, k, X + 2 * i, l);
            score[F == 1 ? 1 : (size_t)m->latent[k]] += weight[k] * phi[k];
        }
        size_t K = F == 1 ? 2 : F;
        for (size_t k = 0; k < K; k++) total += exp(score[k]);
        for (size_t k = 0; k < K; k++) p[k] = exp(score[k]) / total;
        sum += w[i] * log(p[(size_t)y[i]]);
        for (size_t a = 0; opt_H && a < M; a++)
            for (size_t b = 0; b < M; b++) {
                size_t f = F == 1 ? 1 : (size_t)m->latent[a], g = F == 1 ? 1 : (size_t)m->latent[b];
                opt_H[a * M + b] += w[i] * phi[a] * phi[b] * p[f] * ((f == g) - p[g]);
            }
    }
    return sum;
}

/* The weights are at the mode, their covariance is the inverse of the curvature there, and the evidence is Laplace's. */
TEST(laplace)
{
    for (size_t K = 2; K <= 3; K++) {
        double    X[2 * N], y[N], w[N], at[MOST];
        cr_table *t = draw_groups(cx, K, K, 1.3, X, y, w);
        cr_model *model = fit(
            cx, "rvm", t, "target=y weights=w kernel=rbf(l=1.5) scale=none task=classification");
        const cri_rvm *m = rvm_of(model);
        size_t         M = m->M;
        assert_true(M > 0 && M < MOST);
        assert_int_equal(m->F, K == 2 ? 1 : K);
        long double *H = calloc(M * M, sizeof *H), *C = calloc(M * M, sizeof *C);
        long double *zero = calloc(M, sizeof *zero), log_det;
        double       top = log_posterior(m, X, y, w, 1.5, m->weight, H), evidence = top;
        for (size_t k = 0; k < M; k++) {
            double side[2];
            for (int s = 0; s < 2; s++) {
                memcpy(at, m->weight, M * sizeof *at);
                at[k] += s ? 1e-4 : -1e-4;
                side[s] = log_posterior(m, X, y, w, 1.5, at, NULL);
            }
            assert_close((side[1] - side[0]) / 2e-4, 0, 1e-4);
            assert_true(side[0] < top && side[1] < top);
        }
        for (size_t a = 0; a < M; a++)
            for (size_t b = 0; b < M; b++) {
                long double sum = 0;
                for (size_t k = 0; k < M; k++) sum += H[a * M + k] * m->covariance[k * M + b];
                assert_close((double)sum, a == b, 1e-5);
            }
        memcpy(C, H, M * M * sizeof *C);
        quadratic_form(M, C, zero, &log_det);
        for (size_t k = 0; k < M; k++) evidence += 0.5 * log(m->alpha[k]);
        assert_close(evidence_of(model), evidence - 0.5 * (double)log_det, 1e-5);
        assert_int_equal(cr_model_get_report(model)->evidence, CR_EVIDENCE_LAPLACE);
        free(H), free(C), free(zero);
        cr_table_free(cx, t);
    }
}

/* Of one weight the evidence is an integral over a line, of which Laplace's is a good picture; and its precision is
 * about the one of the largest. */
TEST(quadrature)
{
    double    X[2 * N], y[N], w[N];
    cr_table *t = draw_groups(cx, 5, 2, 0, X, y, w);
    cr_rng    r = cr_rng_stream(9, 9);
    for (size_t i = 0; i < N; i++) {
        X[2 * i + 1] = 0, w[i] = 1;
        y[i] = cr_rng_uniform(&r) < 1 / (1 + exp(-2 * X[2 * i]));
    }
    cr_table_free(cx, t);
    t = make_table(cx, X, N, 2, y, NULL);
    cr_model      *model = fit(cx, "rvm", t,
                               "target=y features=x1 functions=terms intercept=false scale=none "
                                    "task=classification");
    const cri_rvm *m = rvm_of(model);
    assert_int_equal(m->M, 1);
    double least = INFINITY, best = 0;
    for (double a = m->alpha[0] / 4; a < 4.1 * m->alpha[0]; a *= 1.1) {
        double sum = 0;
        for (double v = -12; v < 12; v += 0.005) {
            double log_p = 0.5 * log(a / (2 * M_PI)) - 0.5 * a * v * v;
            for (size_t i = 0; i < N; i++)
                log_p -= log1p(exp(y[i] > 0 ? -v * X[2 * i] : v * X[2 * i]));
            sum += 0.005 * exp(log_p);
        }
        if (-log(sum) < least) least = -log(sum), best = a;
    }
    assert_close(evidence_of(model), -least, 0.1);
    assert_true(m->alpha[0] > best / 2 && m->alpha[0] < best * 2);
}

/* Probabilities are the link averaged over the normal of the score, and sum to one. */
TEST(probabilities)
{
    double X[2 * N], y[N], w[N];
    for (size_t K = 2; K <= 6; K += 2) {
        cr_table *t = draw_groups(cx, 20 + K, K, 2, X, y, w);
        cr_model *model = fit(
            cx, "rvm", t, "target=y features=x* kernel=rbf(l=1.5) scale=none task=classification");
        const cri_rvm *m = rvm_of(model);
        cr_prediction  p = predict(cx, model, t);
        size_t         hits = 0;
        assert_proper(&p);
        for (size_t i = 0; i < N; i++) {
            size_t best = 0;
            double mean = 0, variance = 0;
            for (size_t k = 0; k < K; k++)
                if (p.prob[i * K + k] > p.prob[i * K + best]) best = k;
            hits += best == (size_t)y[i];
            for (size_t a = 0; K == 2 && a < m->M; a++) {
                double phi = rvm_phi(m, a, X + 2 * i, 1.5);
                mean += m->weight[a] * phi;
                for (size_t b = 0; b < m->M; b++)
                    variance += m->covariance[a * m->M + b] * phi * rvm_phi(m, b, X + 2 * i, 1.5);
            }
            if (K == 2)
                assert_close(p.prob[2 * i + 1],
                             cri_classify_probability(CRI_CLASSIFY_LOGIT, mean, variance), 1e-9);
        }
        assert_true(hits > (K == 6 ? 0.5 : 0.7) * N);
    }
}

/* How often draws of the weights give a probability of class k at x that lies between two numbers. */
static double share_between(const cri_rvm *m, const double *x, size_t k, double low, double high)
{
    enum { DRAWS = 3000 };
    size_t M = m->M, K = m->F == 1 ? 2 : m->F, inside = 0;
    double L[MOST * MOST], z[MOST];
    cr_rng r = cr_rng_stream(7, 7);
    for (size_t a = 0; a < M; a++)
        for (size_t b = 0; b <= a; b++) {
            double sum = m->covariance[a * M + b];
            for (size_t c = 0; c < b; c++) sum -= L[a * M + c] * L[b * M + c];
            L[a * M + b] = a == b ? sqrt(fmax(sum, 0)) : L[b * M + b] > 0 ? sum / L[b * M + b] : 0;
        }
    for (size_t d = 0; d < DRAWS; d++) {
        double score[4] = { 0 }, total = 0;
        draw_normals(&r, z, M);
        for (size_t a = 0; a < M; a++) {
            double weight = m->weight[a];
            for (size_t b = 0; b <= a; b++) weight += L[a * M + b] * z[b];
            score[K == 2 ? 1 : (size_t)m->latent[a]] += weight * rvm_phi(m, a, x, 1.5);
        }
        for (size_t c = 0; c < K; c++) total += exp(score[c] - score[k]);
        inside += 1 / total >= low && 1 / total <= high;
    }
    return (double)inside / DRAWS;
}

/* Intervals of probabilities hold as many draws of the posterior as they say. */
TEST(intervals)
{
    double X[2 * N], y[N], w[N], lower[3 * N], upper[3 * N];
    for (size_t K = 2; K <= 3; K++) {
        cr_table *t = draw_groups(cx, 40 + K, K, 1.5, X, y, w);
        cr_model *model = fit(cx, "rvm", t,
                              "target=y features=x* kernel=rbf(l=1.5) scale=none "
                              "task=classification");
        assert_ok(cx, cr_predict_probability_intervals(cx, model, t, 0.9, lower, upper));
        for (size_t i = 0; i < N * K; i += 7) {
            double share = share_between(rvm_of(model), X + i / K * 2, i % K, lower[i], upper[i]);
            assert_true(share > 0.875 && (share < 0.925 || upper[i] == 1));
        }
        cr_table_free(cx, t);
    }
}

/* More steps, more evidence. */
TEST(monotone)
{
    double    X[2 * N], y[N], w[N], last = -INFINITY;
    cr_table *t = draw_groups(cx, 31, 3, 1.5, X, y, w);
    for (size_t steps = 1; steps < 30; steps += 2) {
        char settings[200];
        snprintf(settings, sizeof settings,
                 "target=y features=x* kernel=rbf(l=1) start=up max_iter=%zu task=classification",
                 steps);
        cr_model *m = fit(cx, "rvm", t, settings);
        assert_true(evidence_of(m) >= last - 1e-9);
        last = evidence_of(m);
    }
}

/* A row of weight 2 is a row twice, and rows with the same columns and different classes share an input. */
TEST(weights)
{
    double X[2 * N], y[N], w[N], Xs[6 * N], ys[3 * N];
    draw_groups(cx, 3, 2, 1, X, y, w);
    memcpy(X + 2, X, sizeof(double[2])); /* rows 0 and 1 are of different classes */
    cr_table *t = make_table(cx, X, N, 2, y, w);
    size_t    n = repeat_rows(X, y, w, N, 2, Xs, ys);
    cr_table *u = make_table(cx, Xs, n, 2, ys, NULL);
    cr_model *a =
        fit(cx, "rvm", t, "target=y weights=w kernel=rbf(l=1) scale=none task=classification");
    cr_model     *b = fit(cx, "rvm", u, "target=y kernel=rbf(l=1) scale=none task=classification");
    cr_prediction p = predict(cx, a, t), q = predict(cx, b, t);
    assert_close(evidence_of(a), evidence_of(b), 1e-7);
    for (size_t i = 0; i < 2 * N; i++) assert_close(p.prob[i], q.prob[i], 1e-6);
}

/* As many rows right as the other program, or two fewer. */
TEST(reference)
{
    json_t *root = load_reference(), *item;
    size_t  i, seen = 0;
    json_array_foreach(json_object_get(root, "cases"), i, item)
    {
        const char *id = json_string_value(json_object_get(item, "id"));
        if (strncmp(id, "rvmc/", 5)) continue;
        const json_t *s = json_object_get(json_object_get(root, "splits"),
                                          json_string_value(json_object_get(item, "split")));
        const json_t *train = json_object_get(s, "train"), *test = json_object_get(s, "test");
        char          path[256], settings[200];
        size_t        part[2][1000], hits = 0;
        snprintf(path, sizeof path, "tabular/%s", json_string_value(json_object_get(s, "dataset")));
        cr_table *t = read_table(cx, test_data(path)), *rows[2];
        for (int k = 0; k < 2; k++) {
            const json_t *which = k ? test : train;
            size_t        n = json_array_size(which);
            for (size_t r = 0; r < n; r++) part[k][r] = (size_t)element(which, r);
            assert_ok(cx, cri_table_subset(cx, t, part[k], n, &rows[k]));
            test_own(cx, rows[k], release_table);
        }
        const char *target = cr_table_column(t, cr_table_columns(t) - 1)->name;
        double      gamma = number_of(json_object_get(item, "kernel"), "gamma");
        snprintf(settings, sizeof settings, "target=%s task=classification kernel=rbf(l=%.17g)",
                 target, sqrt(0.5 / gamma));
        cr_model     *m = fit(cx, "rvm", rows[0], settings);
        cr_prediction p = predict(cx, m, rows[1]);
        double       *truth = calloc(p.n, sizeof *truth);
        assert_ok(cx, cr_observed(cx, m, rows[1], truth, NULL));
        for (size_t r = 0; r < p.n; r++) hits += (p.prob[2 * r + 1] > 0.5) == (truth[r] > 0.5);
        double dlib = number_of(json_object_get(item, "dlib_rvm"), "test_accuracy");
        if ((double)hits < dlib * (double)p.n - 2.01)
            fail_msg("%s: %g against %g", id, (double)hits / (double)p.n, dlib);
        free(truth);
        seen++;
    }
    assert_int_equal(seen, 4);
    json_decref(root);
}

TEST(corners)
{
    double    x[4] = { 1, 2, 3, 4 }, one[4] = { 1, 1, 1, 1 }, two[4] = { 0, 1, 0, 1 };
    cr_model *m = NULL;
    cr_table *t = make_table(cx, x, 4, 1, one, NULL), *u = make_table(cx, one, 4, 1, two, NULL);
    cr_table *v = make_table(cx, x, 4, 1, two, NULL);
    assert_fails(cx, try_fit(cx, "rvm", t, "target=y task=classification", &m), CR_EDATA);
    cr_prediction p = predict(cx, fit(cx, "rvm", u, "target=y task=classification"), u);
    for (size_t i = 0; i < 8; i++) assert_close(p.prob[i], 0.5, 1e-9); /* one input, both classes */
    assert_fails(cx, try_fit(cx, "rvm", v, "target=y task=classification noise=1", &m), CR_EARG);
    p = predict(cx, fit(cx, "rvm", v, "target=y task=classification basis_at_query=true"), v);
    assert_proper(&p);
}
