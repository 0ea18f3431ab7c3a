/* test_gp_classify_ep.c -- expectation propagation of Gaussian process classifiers: the integrals of a site,
 * the fixed point against its definition, evidence and moments against numeric integrals over all latent
 * values, gradients against differences, and what --infer auto makes of it. */
#include "classify_fixture.h"

#include "base/scratch.h"
#include "math/special/special.h"
#include "models/core/model.h"
#include "models/gp/classify/classify_ep.h"

/* --- one site -------------------------------------------------------------------------------- */

/* log of the integral of p(c | f) N(f; m, v) by a fine trapezoid rule over all that counts. */
static double log_integral(cri_classify_link link, const double *c, double m, double v)
{
    double sd = sqrt(v), top = -INFINITY, sum = 0, step = fmin(sd, 1) / 40;
    double to = m + v * cri_classify_at(link, c, m).first; /* the peak is on the way there */
    double low = fmin(m, to) - 14 * sd, high = fmax(m, to) + 14 * sd;
    for (int round = 0; round < 2; round++)
        for (double f = low; f <= high; f += step) {
            double z = (f - m) / sd, at = cri_classify_at(link, c, f).log_p - z * z / 2;
            if (round)
                sum += exp(at - top);
            else
                top = fmax(top, at);
        }
    return top + log(sum * step / sqrt(2 * M_PI * v));
}

TEST(integrals)
{
    const double counts[][2] = {
        { 1, 0 }, { 0, 1 }, { 3, 0 }, { 2.5, 0.75 }, { 40, 25 }, { 0, 0 }
    };
    const double means[] = { -30, -4.5, -0.3, 0, 2, 17 },
                 variances[] = { 1e-6, 0.04, 1.7, 30, 300 };
    for (int link = CRI_CLASSIFY_LOGIT; link <= CRI_CLASSIFY_PROBIT; link++)
        for (size_t k = 0; k < 6; k++)
            for (size_t i = 0; i < 6; i++)
                for (size_t j = 0; j < 5; j++) {
                    const double *c = counts[k], m = means[i], v = variances[j];
                    const double  h = 1e-3 * fmax(1, sqrt(v));
                    if (v * (c[0] + c[1]) > 1000) continue; /* too much to integrate finely */
                    cri_classify_slope s = cri_classify_average((cri_classify_link)link, c, m, v);
                    cri_classify_slope up =
                        cri_classify_average((cri_classify_link)link, c, m + h, v);
                    cri_classify_slope down =
                        cri_classify_average((cri_classify_link)link, c, m - h, v);
                    double truth = log_integral((cri_classify_link)link, c, m, v);
                    assert_close(s.log_p, truth, 1e-8 * fmax(1, fabs(truth)));
                    double size = fmax(1, c[0] + c[1]), tolerance = 1e-5 * size * size;
                    assert_close(s.first, (up.log_p - down.log_p) / (2 * h), tolerance);
                    assert_close(s.minus_second, (down.first - up.first) / (2 * h), tolerance);
                    assert_true(s.minus_second >= -1e-12 && v * s.minus_second < 1);
                }
}

/* --- the fixed point ------------------------------------------------------------------------- */

typedef struct solved {
    cri_laplace laplace;
    cri_ep      ep;
    double      value, gradient[16];
} solved;

static void solve(cr_ctx *cx, cr_scratch *s, const small *p, const cr_kernel *k, bool gradient,
                  solved *out)
{
    assert_ok(cx, cri_laplace_new(s, &p->data, p->n, NULL, NULL, &out->laplace));
    assert_ok(cx, cri_ep_new(s, &out->laplace, p->n, &out->ep));
    assert_ok(cx, cri_ep_objective(cx, &out->ep, &p->problem, k, 0, &out->value,
                                   gradient ? out->gradient : NULL));
    assert_true(out->ep.converged);
}

/* Posterior and evidence of the sites by explicit inverses: Sigma = (K^-1 + S)^-1, mu = Sigma nu, and the
 * evidence as that of targets nu / tau with noise 1 / tau, times what scales the sites; the moments of
 * each input are those of its cavity times p. */
static void check_fixed_point(cr_ctx *cx, cri_classify_link link, size_t n, const char *text)
{
    static long double K[MOST_LATENT * MOST_LATENT], Ki[MOST_LATENT * MOST_LATENT],
        S[MOST_LATENT * MOST_LATENT], C[MOST_LATENT * MOST_LATENT];
    cr_scratch  s = cr_scratch_begin(cx);
    small       p;
    solved      g;
    cr_kernel  *k = read_kernel(cx, text);
    double      gram[MOST_INPUTS * MOST_INPUTS];
    long double target[MOST_LATENT], log_det, evidence = 0;
    make_small(&p, link, n, 1, 31 + n);
    solve(cx, &s, &p, k, false, &g);
    cr_kernel_input in = cri_gp_inputs(&p.at);
    assert_ok(cx, cr_kernel_gram(cx, k, &in, CR_FILL_BOTH, cr_mat_of(gram, n, n)));
    for (size_t i = 0; i < n * n; i++) K[i] = gram[i];
    invert_dense(n, K, Ki);
    for (size_t i = 0; i < n; i++) Ki[i * n + i] += g.ep.tau[i];
    invert_dense(n, Ki, S);
    for (size_t i = 0; i < n; i++) {
        long double mu = 0, noise = 1 / (long double)g.ep.tau[i];
        for (size_t j = 0; j < n; j++) mu += S[i * n + j] * g.ep.nu[j];
        assert_close(g.ep.mean[i], (double)mu, 1e-8);
        assert_close(g.ep.variance[i], (double)S[i * n + i], 1e-8);
        double             v = (double)(1 / (1 / S[i * n + i] - g.ep.tau[i]));
        double             m = v * (double)(mu / S[i * n + i] - g.ep.nu[i]);
        cri_classify_slope z = cri_classify_average(link, p.counts + 2 * i, m, v);
        assert_close(m + v * z.first, (double)mu, 1e-7);
        assert_close(v - v * v * z.minus_second, (double)S[i * n + i], 1e-7);
        target[i] = g.ep.nu[i] * noise;
        long double wide = v + noise, d = m - target[i];
        evidence += z.log_p + 0.5L * logl(2 * 3.14159265358979323846L * wide) + d * d / (2 * wide);
        for (size_t j = 0; j < n; j++) C[i * n + j] = K[i * n + j] + (i == j ? noise : 0);
    }
    double square = (double)quadratic_form(n, C, target, &log_det);
    evidence -= 0.5L * ((long double)n * logl(2 * 3.14159265358979323846L) + log_det + square);
    assert_close(g.value, (double)evidence, 1e-8);
    assert_close(g.ep.log_evidence, g.value, 0);
    cr_kernel_free(cx, k);
    cr_scratch_end(&s);
}

TEST(fixed_point)
{
    for (int link = CRI_CLASSIFY_LOGIT; link <= CRI_CLASSIFY_PROBIT; link++) {
        check_fixed_point(cx, (cri_classify_link)link, 1, "2.5*rbf(l=1.3)");
        check_fixed_point(cx, (cri_classify_link)link, 7, "2.5*rbf(l=1.3)");
        check_fixed_point(cx, (cri_classify_link)link, 12,
                          "40*matern32(l=[0.5,0.9]) + 0.3*linear + 0.2");
        check_fixed_point(cx, (cri_classify_link)link, 12, "900*rbf(l=0.8)");
    }
}

/* --- against the integral -------------------------------------------------------------------- */

/* Evidence, means and variances of the true posterior of up to three latent values, by the trapezoid rule
 * in the coordinates of the Cholesky factor of K. */
typedef struct posterior {
    double log_evidence, mean[3], variance[3];
} posterior;

static posterior integrate(cr_ctx *cx, const small *p, const cr_kernel *k)
{
    double          K[9], L[9] = { 0 }, h = 0.2, z[3], total = 0;
    cr_kernel_input in = cri_gp_inputs(&p->at);
    size_t          n = p->n;
    int             points = 71, at[3] = { 0 };
    posterior       t = { 0 };
    assert_ok(cx, cr_kernel_gram(cx, k, &in, CR_FILL_BOTH, cr_mat_of(K, n, n)));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = K[i * n + j];
            for (size_t a = 0; a < j; a++) sum -= L[i * n + a] * L[j * n + a];
            L[i * n + j] = i == j ? sqrt(sum) : sum / L[j * n + j];
        }
    for (at[0] = 0; at[0] < points; at[0]++)
        for (at[1] = 0; at[1] < (n > 1 ? points : 1); at[1]++)
            for (at[2] = 0; at[2] < (n > 2 ? points : 1); at[2]++) {
                double log_w = 0, f[3] = { 0 };
                for (size_t i = 0; i < n; i++) {
                    z[i] = h * (at[i] - 35);
                    log_w -= 0.5 * z[i] * z[i];
                }
                for (size_t i = 0; i < n; i++) {
                    for (size_t j = 0; j <= i; j++) f[i] += L[i * n + j] * z[j];
                    log_w += cri_classify_at(p->data.link, p->counts + 2 * i, f[i]).log_p;
                }
                double w = exp(log_w);
                total += w;
                for (size_t i = 0; i < n; i++)
                    t.mean[i] += w * f[i], t.variance[i] += w * f[i] * f[i];
            }
    t.log_evidence = log(total * pow(h / sqrt(2 * M_PI), (double)n));
    for (size_t i = 0; i < n; i++) {
        t.mean[i] /= total;
        t.variance[i] = t.variance[i] / total - t.mean[i] * t.mean[i];
    }
    return t;
}

static void check_truth(cr_ctx *cx, cri_classify_link link, size_t n, const char *text,
                        double close)
{
    cr_scratch s = cr_scratch_begin(cx);
    small      p;
    solved     g;
    double     laplace;
    cr_kernel *k = read_kernel(cx, text);
    make_small(&p, link, n, 1, 5);
    posterior t = integrate(cx, &p, k);
    solve(cx, &s, &p, k, false, &g);
    assert_close(g.value, t.log_evidence, close);
    for (size_t i = 0; i < n; i++) {
        assert_close(g.ep.mean[i], t.mean[i], 10 * close * sqrt(t.variance[i]));
        assert_relative(g.ep.variance[i], t.variance[i], 20 * close);
    }
    assert_ok(cx, cri_laplace_objective(cx, &g.laplace, &p.problem, k, 0, &laplace, NULL));
    assert_true(fabs(g.value - t.log_evidence) < 0.2 * fabs(laplace - t.log_evidence));
    cr_kernel_free(cx, k);
    cr_scratch_end(&s);
}

/* One input, or inputs that do not know of each other: exact.  Else near, and much nearer than Laplace. */
TEST(near_the_truth)
{
    for (int link = CRI_CLASSIFY_LOGIT; link <= CRI_CLASSIFY_PROBIT; link++) {
        check_truth(cx, (cri_classify_link)link, 1, "6*rbf(l=1)", 1e-8);
        check_truth(cx, (cri_classify_link)link, 3, "6*rbf(l=0.001)", 1e-8);
        check_truth(cx, (cri_classify_link)link, 2, "2*rbf(l=1.5)", 2e-3);
        check_truth(cx, (cri_classify_link)link, 3, "9*rbf(l=1)", 1e-2);
        check_truth(cx, (cri_classify_link)link, 3, "60*rbf(l=0.6)", 1e-2);
    }
}

/* --- gradient, starts ------------------------------------------------------------------------ */

TEST(gradient)
{
    static const char *const texts[] = { "2.5*rbf(l=1.3)",
                                         "40*matern32(l=[0.5,0.9]) + 0.3*linear + 0.2" };
    for (int link = CRI_CLASSIFY_LOGIT; link <= CRI_CLASSIFY_PROBIT; link++)
        for (size_t e = 0; e < 2; e++) {
            cr_scratch s = cr_scratch_begin(cx);
            small      p;
            solved     g, at;
            cr_kernel *k = read_kernel(cx, texts[e]);
            size_t     size = cr_kernel_theta_size(k);
            double     x[16];
            make_small(&p, (cri_classify_link)link, 12, 1, 8);
            solve(cx, &s, &p, k, true, &g);
            assert_close(g.gradient[size], 0, 0);
            cr_kernel_theta(k, x);
            for (size_t j = 0; j < size; j++) {
                double h = 1e-4, value[2], keep = x[j];
                for (int side = 0; side < 2; side++) {
                    x[j] = keep + (side ? h : -h);
                    assert_ok(cx, cr_kernel_set_theta(cx, k, x));
                    solve(cx, &s, &p, k, false, &at);
                    value[side] = at.value;
                }
                x[j] = keep;
                assert_close(g.gradient[j], (value[1] - value[0]) / (2 * h), 1e-6);
            }
            cr_kernel_free(cx, k);
            cr_scratch_end(&s);
        }
}

/* The same fixed point from nothing, from Laplace's normal, and from where it is. */
TEST(starts)
{
    cr_scratch s = cr_scratch_begin(cx);
    small      p;
    solved     g, from;
    cr_kernel *k = read_kernel(cx, "30*rbf(l=0.9)");
    double     value;
    make_small(&p, CRI_CLASSIFY_LOGIT, 12, 1, 4);
    solve(cx, &s, &p, k, false, &g);
    size_t cold = g.ep.sweeps;
    assert_ok(cx, cri_ep_objective(cx, &g.ep, &p.problem, k, 0, &value, NULL));
    assert_close(value, g.value, 1e-10);
    assert_true(g.ep.sweeps <= 2 && cold > 2);
    assert_ok(cx, cri_laplace_new(&s, &p.data, p.n, NULL, NULL, &from.laplace));
    assert_ok(cx, cri_ep_new(&s, &from.laplace, p.n, &from.ep));
    assert_ok(cx, cri_laplace_objective(cx, &from.laplace, &p.problem, k, 0, &value, NULL));
    cri_ep_start(&from.ep);
    assert_ok(cx, cri_ep_objective(cx, &from.ep, &p.problem, k, 0, &value, NULL));
    assert_true(from.ep.converged);
    assert_close(value, g.value, 1e-9);
    for (size_t i = 0; i < p.n; i++) assert_close(from.ep.mean[i], g.ep.mean[i], 1e-7);
    cr_kernel_free(cx, k);
    cr_scratch_end(&s);
}

/* --- the model ------------------------------------------------------------------------------- */

/* Rows on a line, in two classes whose border is sharp, or not. */
static cr_table *draw_line(cr_ctx *cx, size_t n, double noise)
{
    static const char *const levels[] = { "no", "yes" };
    cr_rng                   r = cr_rng_stream(5, 1);
    double                   X[200];
    uint32_t                 y[200];
    assert_true(n <= 200);
    for (size_t i = 0; i < n; i++) {
        X[i] = 6 * ((double)i + cr_rng_uniform(&r)) / (double)n - 3;
        y[i] = sin(1.5 * X[i]) + noise * cr_rng_normal(&r) > 0;
    }
    cr_table *t = make_table(cx, X, n, 1, NULL, NULL);
    assert_ok(cx, cr_table_add_category(cx, t, "y", y, levels, 2));
    return t;
}

static double mean_gap(cr_ctx *cx, const cr_model *a, const cr_model *b, const cr_table *t)
{
    cr_prediction p = predict(cx, a, t), q = predict(cx, b, t);
    double        sum = 0;
    for (size_t i = 0; i < p.n; i++) sum += fabs(p.prob[2 * i] - q.prob[2 * i]) / (double)p.n;
    return sum;
}

/* A sharp border: auto is ep, to the bit; its evidence is called an estimate.  A blurred one: it is Laplace's. */
TEST(auto_takes_ep_where_laplace_differs)
{
    cr_table *sharp = draw_line(cx, 40, 0), *blurred = draw_line(cx, 200, 1.5);
    cr_model *m = fit(cx, "gp-classify", sharp, "target=y"),
             *ep = fit(cx, "gp-classify", sharp, "target=y infer=ep"),
             *laplace = fit(cx, "gp-classify", sharp, "target=y infer=laplace");
    assert_close(mean_gap(cx, m, ep, sharp), 0, 0);
    assert_true(mean_gap(cx, m, laplace, sharp) > 0.01);
    assert_int_equal(cr_model_get_report(m)->evidence, CR_EVIDENCE_ESTIMATE);
    m = fit(cx, "gp-classify", blurred, "target=y");
    laplace = fit(cx, "gp-classify", blurred, "target=y infer=laplace");
    assert_close(mean_gap(cx, m, laplace, blurred), 0, 0);
    assert_int_equal(cr_model_get_report(m)->evidence, CR_EVIDENCE_LAPLACE);
    assert_close(cr_model_get_report(m)->log_evidence, cr_model_get_report(laplace)->log_evidence,
                 0);
}

/* The optimum of the evidence of EP: no step from there is higher. */
TEST(learns_by_its_evidence)
{
    cr_table *t = draw_line(cx, 40, 0.3);
    cr_model *m =
        fit(cx, "gp-classify", t, "target=y infer=ep hyper=best kernel=rbf likelihood=probit");
    double   best = cr_model_get_report(m)->log_evidence, value;
    cr_hyper h[2];
    size_t   which[2] = { 0, 1 };
    double   x[2];
    for (size_t k = 0; k < 2; k++)
        assert_ok(cx, cr_model_hyper(cx, m, k, &h[k])), x[k] = h[k].value;
    assert_ok(cx, cr_evidence_at(cx, m, t, which, 2, x, 1, &value));
    assert_close(value, best, 1e-7);
    for (size_t k = 0; k < 2; k++)
        for (int side = 0; side < 2; side++) {
            double at[2] = { x[0], x[1] };
            at[k] *= side ? 1.1 : 0.9;
            assert_ok(cx, cr_evidence_at(cx, m, t, which, 2, at, 1, &value));
            assert_true(value < best);
        }
}
