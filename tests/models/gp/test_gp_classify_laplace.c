/* test_gp_classify_laplace.c -- the likelihoods, and Laplace's approximation against its
 * definition, numeric integrals and differences. */
#include "classify_fixture.h"

#include "base/scratch.h"
#include "math/special/special.h"

/* --- likelihoods ----------------------------------------------------------------------------- */

TEST(likelihoods)
{
    static const double at[] = { -40, -9.5, -3.1, -2.9, -0.7, 0, 0.3, 2.2, 6.5, 30 };
    const double        counts[][2] = { { 1, 0 }, { 0, 1 }, { 2.5, 0.75 } };
    for (int link = CRI_CLASSIFY_LOGIT; link <= CRI_CLASSIFY_PROBIT; link++)
        for (size_t k = 0; k < 3; k++)
            for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
                const double      *c = counts[k], f = at[i], h = 1e-4 * fmax(1, fabs(f));
                cri_classify_slope s = cri_classify_at((cri_classify_link)link, c, f);
                cri_classify_slope up = cri_classify_at((cri_classify_link)link, c, f + h);
                cri_classify_slope down = cri_classify_at((cri_classify_link)link, c, f - h);
                double             value = 0;
                for (int e = 0; e < 2; e++) {
                    double z = e ? -f : f;
                    if (c[e] > 0)
                        value += c[e] * (link == CRI_CLASSIFY_LOGIT ? -cr_log1pexp(-z)
                                                                    : cr_norm_logcdf(z));
                }
                assert_close(s.log_p, value, 1e-13);
                assert_close(s.first, (up.log_p - down.log_p) / (2 * h), 3e-7);
                assert_close(s.minus_second, (down.first - up.first) / (2 * h), 3e-7);
                assert_close(s.third, (down.minus_second - up.minus_second) / (2 * h), 3e-7);
                assert_true(s.minus_second >= 0 && isfinite(s.third));
            }
}

/* Moments of the normal up to degree 63, and expectations of log p against the trapezoid rule. */
TEST(hermite)
{
    cri_hermite rule;
    double      moment = 1;
    cri_hermite_fill(&rule);
    for (int degree = 0; degree < 64; degree += 2) {
        double sum = 0, odd = 0;
        if (degree > 0) moment *= degree - 1;
        for (int i = 0; i < CRI_HERMITE_POINTS; i++) {
            sum += rule.weight[i] * pow(rule.x[i], degree);
            odd += rule.weight[i] * pow(rule.x[i], degree + 1) / moment;
        }
        assert_relative(sum, moment, 1e-11);
        assert_close(odd, 0, 1e-10);
    }
    static const double sds[] = { 0, 0.5, 1.4, 1.5, 6, 20 },
                        errors[] = { 1e-12, 1e-12, 1e-8, 1e-7, 1e-7, 1e-7 };
    for (int link = CRI_CLASSIFY_LOGIT; link <= CRI_CLASSIFY_PROBIT; link++)
        for (size_t k = 0; k < 6; k++) {
            const double c[2] = { 1, 0.25 }, m = 0.8, sd = sds[k], step = 1e-3;
            double       value = 0, first = 0, second = 0;
            for (double x = -12; x <= 12; x += step) {
                cri_classify_slope s = cri_classify_at((cri_classify_link)link, c, m + sd * x);
                double             w = step * exp(cr_norm_logpdf(x));
                value += w * s.log_p;
                first += w * s.first;
                second += w * s.minus_second;
            }
            cri_classify_slope e =
                cri_classify_expect((cri_classify_link)link, &rule, c, m, sd * sd);
            assert_relative(e.log_p, value, errors[k]);
            assert_close(e.first, first, 30 * errors[k]);
            assert_close(e.minus_second, second, 300 * errors[k]);
        }
}

TEST(probability)
{
    const double m = -1.3, v = 2.9, step = 1e-3;
    for (int link = CRI_CLASSIFY_LOGIT; link <= CRI_CLASSIFY_PROBIT; link++) {
        double sum = 0;
        for (double x = -12; x <= 12; x += step) {
            double f = m + sqrt(v) * x;
            sum += step * exp(cr_norm_logpdf(x)) *
                   (link == CRI_CLASSIFY_LOGIT ? cr_sigmoid(f) : cr_norm_cdf(f));
        }
        assert_close(cri_classify_probability((cri_classify_link)link, m, v), sum, 1e-11);
        assert_close(cri_classify_probability((cri_classify_link)link, m, 0),
                     link == CRI_CLASSIFY_LOGIT ? cr_sigmoid(m) : cr_norm_cdf(m), 1e-15);
        assert_close(cri_classify_probability((cri_classify_link)link, m, v) +
                         cri_classify_probability((cri_classify_link)link, -m, v),
                     1, 1e-12);
    }
}

/* --- mode and evidence ----------------------------------------------------------------------- */

static double evidence_of(cr_ctx *cx, small *p, const cr_kernel *k, double *opt_gradient)
{
    cr_scratch  s = cr_scratch_begin(cx);
    cri_laplace workspace;
    double      value = NAN;
    assert_ok(cx, cri_laplace_new(&s, &p->data, p->n, NULL, NULL, &workspace));
    assert_ok(cx, cri_laplace_objective(cx, &workspace, &p->problem, k, 0, &value, opt_gradient));
    assert_true(workspace.converged);
    cr_scratch_end(&s);
    return value;
}

static void check_definition(cr_ctx *cx, cri_classify_link link, size_t n, size_t F,
                             const char *text)
{
    static dense g;
    small        p;
    cr_scratch   s = cr_scratch_begin(cx);
    cr_kernel   *k = read_kernel(cx, text);
    cri_laplace  workspace;
    double       value;
    make_small(&p, link, n, F, 11 + n);
    solve_definition(&p, cx, k, &g);
    assert_ok(cx, cri_laplace_new(&s, &p.data, n, NULL, NULL, &workspace));
    assert_ok(cx, cri_laplace_objective(cx, &workspace, &p.problem, k, 0, &value, NULL));
    assert_close(value, (double)g.log_evidence, 1e-10);
    assert_close(workspace.log_likelihood, (double)g.log_likelihood, 1e-10);
    for (size_t a = 0; a < F * n; a++) assert_close(workspace.f[a], (double)g.f[a], 1e-8);
    for (size_t a = 0; a < F * n; a++) assert_close(workspace.a[a], (double)g.slope[a], 1e-8);
    /* again from where it is, and from elsewhere: the same mode */
    double again;
    assert_ok(cx, cri_laplace_objective(cx, &workspace, &p.problem, k, 0, &again, NULL));
    assert_close(again, value, 1e-11);
    for (size_t a = 0; a < F * n; a++) workspace.a[a] = a % 2 ? 0.9 : -0.4;
    assert_ok(cx, cri_laplace_objective(cx, &workspace, &p.problem, k, 0, &again, NULL));
    assert_close(again, value, 1e-10);
    cr_kernel_free(cx, k);
    cr_scratch_end(&s);
}

TEST(definition)
{
    for (int link = CRI_CLASSIFY_LOGIT; link <= CRI_CLASSIFY_PROBIT; link++) {
        check_definition(cx, (cri_classify_link)link, 1, 1, "2.5*rbf(l=1.3)");
        check_definition(cx, (cri_classify_link)link, 7, 1, "2.5*rbf(l=1.3)");
        check_definition(cx, (cri_classify_link)link, 12, 1,
                         "40*matern32(l=[0.5,0.9]) + 0.3*linear + 0.2");
    }
    check_definition(cx, CRI_CLASSIFY_SOFTMAX, 1, 3, "2.5*rbf(l=1.3)");
    check_definition(cx, CRI_CLASSIFY_SOFTMAX, 7, 3, "2.5*rbf(l=1.3)");
    check_definition(cx, CRI_CLASSIFY_SOFTMAX, 9, 4, "30*matern32(l=[0.5,0.9]) + 0.3*linear + 0.2");
}

/* Two functions with kernel k, of which only the difference counts, are one with kernel 2 k. */
TEST(two_as_many)
{
    small      two, many;
    cr_kernel *k = read_kernel(cx, "3.4*rbf(l=0.8)"), *twice = read_kernel(cx, "6.8*rbf(l=0.8)");
    double     by_two[4], by_many[4];
    make_small(&two, CRI_CLASSIFY_LOGIT, 11, 1, 5);
    many = two;
    make_small(&many, CRI_CLASSIFY_SOFTMAX, 11, 2, 5);
    memcpy(many.counts, two.counts, sizeof two.counts);
    double a = evidence_of(cx, &two, twice, by_two), b = evidence_of(cx, &many, k, by_many);
    assert_close(b, a, 1e-10);
    for (int j = 0; j < 2; j++) assert_close(by_many[j], by_two[j], 1e-9);
    cr_kernel_free(cx, k);
    cr_kernel_free(cx, twice);
}

/* A step of Newton's from 0 overshoots here; the halved ones do not. */
TEST(hard_mode)
{
    static const char *const kernels[] = { "1e6*rbf(l=0.02)", "1e9*rbf(l=3)", "1e-9*rbf",
                                           "1e4*linear + 1e5" };
    for (int link = CRI_CLASSIFY_LOGIT; link <= CRI_CLASSIFY_SOFTMAX; link++)
        for (size_t i = 0; i < 4; i++) {
            small      p;
            double     gradient[8];
            cr_kernel *k = read_kernel(cx, kernels[i]);
            make_small(&p, (cri_classify_link)link, 10, link == CRI_CLASSIFY_SOFTMAX ? 3 : 1, 8);
            double value = evidence_of(cx, &p, k, gradient);
            assert_true(value < 0 && isfinite(value));
            for (size_t j = 0; j < cr_kernel_theta_size(k); j++) assert_true(isfinite(gradient[j]));
            if (i == 2) assert_close(value, -p.at.count * log((double)p.C), 1e-6);
            cr_kernel_free(cx, k);
        }
}

/* --- gradient -------------------------------------------------------------------------------- */

static void check_gradient(cr_ctx *cx, cri_classify_link link, size_t F, const char *text)
{
    small      p;
    cr_kernel *k = read_kernel(cx, text);
    size_t     size = cr_kernel_theta_size(k);
    double     theta[8], gradient[9], overwritten[9], h = 1e-4;
    make_small(&p, link, 10, F, 4);
    evidence_of(cx, &p, k, gradient);
    assert_true(gradient[size] == 0); /* there is no noise */
    cr_kernel_theta(k, theta);
    for (size_t j = 0; j < size; j++) {
        double f[4];
        for (int e = 0; e < 4; e++) {
            double z[8];
            memcpy(z, theta, sizeof z);
            z[j] += h * (e - 1.5) * 2 / 3; /* -h, -h/3, h/3, h */
            assert_ok(cx, cr_kernel_set_theta(cx, k, z));
            f[e] = evidence_of(cx, &p, k, e == 0 ? overwritten : NULL);
        }
        double wide = (f[3] - f[0]) / (2 * h), narrow = (f[2] - f[1]) / (2 * h / 3);
        assert_close(gradient[j], narrow + (narrow - wide) / 8, 1e-6);
    }
    cr_kernel_free(cx, k);
}

TEST(gradient)
{
    static const char *const kernels[] = { "2.1*rbf(l=[0.8,1.7])",
                                           "30*matern52(l=0.6) + 0.7*linear(x1)",
                                           "4*rbf(l=0.9)*rq(l=2,alpha=1.3) + white(0.3)" };
    for (size_t i = 0; i < 3; i++) {
        check_gradient(cx, CRI_CLASSIFY_LOGIT, 1, kernels[i]);
        check_gradient(cx, CRI_CLASSIFY_PROBIT, 1, kernels[i]);
        check_gradient(cx, CRI_CLASSIFY_SOFTMAX, 3, kernels[i]);
    }
}

/* --- against integrals ----------------------------------------------------------------------- */

/* The evidence itself, over both latent values on a grid: Laplace's is near. */
TEST(integral)
{
    for (int link = CRI_CLASSIFY_LOGIT; link <= CRI_CLASSIFY_PROBIT; link++) {
        small           p;
        cr_kernel      *k = read_kernel(cx, "1.2*rbf(l=1.5)");
        cr_kernel_input in;
        double          K[4], sum = 0, step = 0.05;
        make_small(&p, (cri_classify_link)link, 2, 1, 21);
        in = cri_gp_inputs(&p.at);
        assert_ok(cx, cr_kernel_gram(cx, k, &in, CR_FILL_BOTH, cr_mat_of(K, 2, 2)));
        double det = K[0] * K[3] - K[1] * K[2];
        for (double f = -8; f <= 8; f += step)
            for (double g = -8; g <= 8; g += step) {
                double square = (K[3] * f * f - 2 * K[1] * f * g + K[0] * g * g) / det;
                double log_p = cri_classify_at((cri_classify_link)link, p.counts, f).log_p +
                               cri_classify_at((cri_classify_link)link, p.counts + 2, g).log_p;
                sum += step * step * exp(log_p - square / 2) / (2 * M_PI * sqrt(det));
            }
        assert_close(evidence_of(cx, &p, k, NULL), log(sum), 0.02);
        cr_kernel_free(cx, k);
    }
}
