/* test_dist_check.c -- the registry: every descriptor is complete, every bad parameter is refused
 * by name, and what is not offered is said in the same words. */
#include "cases.h"
#include "prob/dist/dist.h"

/* Good parameters of a class: from the examples that it declares. */
static size_t example_params(const cr_dist_class *c, double *out)
{
    size_t n = 0;
    for (const cri_dist_param *p = c->params; p->shown.name; p++)
        for (const char *at = p->shown.example; *at;) {
            char *end;
            out[n++] = strtod(at, &end);
            assert_true(end > at);
            at = *end ? end + 1 : end;
        }
    return n;
}

TEST(descriptors)
{
    for (size_t i = 0; i < cr_dist_count(); i++) {
        const cr_dist_class *c = cr_dist_at(i);
        double               v[64];
        assert_true(cr_dist_find(cx, cr_dist_name(c)) == c);
        if (i) assert_true(strcmp(cr_dist_name(cr_dist_at(i - 1)), cr_dist_name(c)) < 0);
        assert_true(cr_dist_summary(c)[0] && cr_dist_formula(c)[0] && cr_dist_reference(c)[0]);
        assert_true(cr_dist_support_text(c)[0]);
        assert_true(cr_dist_offers(c, "logpdf") && cr_dist_offers(c, "sample"));
        assert_false(cr_dist_offers(c, "magic"));
        assert_ok(cx, cr_dist_check(cx, c, v, example_params(c, v)));
        for (size_t j = 0; j < cri_dist_param_count(c); j++) {
            const cr_dist_param *p = cr_dist_parameter(c, j);
            assert_true(p->help[0] && p->example[0]);
            if (!c->vector) assert_string_equal(p->domain, c->params[j].domain->text);
        }
        assert_null(cr_dist_parameter(c, cri_dist_param_count(c)));
        if (c->vector) continue;
        assert_non_null(c->support);
        assert_non_null(c->data);
    }
    assert_null(cr_dist_find(cx, "gama"));
    assert_string_equal(cr_error_nearest(cx), "gamma");
    assert_true(cr_dist_find(cx, "student_t") == &cri_dist_student_t);
}

static bool allowed(const cri_domain *d, double x)
{
    return x >= d->low && x <= d->high && !(d->open_low && x == d->low) &&
           !(d->open_high && x == d->high) && (!d->whole || floor(x) == x);
}

/* Each parameter in turn takes each bad value; the sentence names it, and nothing is computed. */
TEST(bad_parameters)
{
    static const double values[] = { NAN, INFINITY, -INFINITY, -1, 0, 0.5, 1, 1.5, -0.0 };
    size_t              refused = 0;
    for (size_t i = 0; i < cr_dist_count(); i++) {
        const cr_dist_class *c = cr_dist_at(i);
        double               v[64], out = 42;
        size_t               n = example_params(c, v), at = 0, d = cri_dist_dimension(c, n);
        for (const cri_dist_param *p = c->params; p->shown.name; p++) {
            size_t size = p->shown.shape == CR_SHAPE_SCALAR   ? 1
                          : p->shown.shape == CR_SHAPE_VECTOR ? d
                                                              : d * d;
            for (size_t j = 0; j < size; j++, at++)
                for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
                    double old = v[at];
                    if (allowed(p->domain, values[k])) continue;
                    v[at] = values[k];
                    assert_fails_with(cx, cr_dist_check(cx, c, v, n), CR_EARG, p->shown.name);
                    assert_non_null(strstr(cr_error(cx), p->shown.domain));
                    assert_non_null(strstr(cr_error(cx), c->name));
                    if (!c->vector) {
                        assert_fails(cx, cr_dist_logpdf(cx, c, v, n, 0.5, &out), CR_EARG);
                        assert_fails(cx, cr_dist_cdf(cx, c, v, n, 0.5, &out), CR_EARG);
                        assert_fails(cx, cr_dist_quantile(cx, c, v, n, 0.5, &out), CR_EARG);
                        if (c->mean) assert_fails(cx, cr_dist_mean(cx, c, v, n, &out), CR_EARG);
                        if (c->kl) assert_fails(cx, cr_dist_kl(cx, c, v, n, v, n, &out), CR_EARG);
                    }
                    v[at] = old;
                    refused++;
                }
        }
        assert_true(out == 42);
        assert_fails(cx, cr_dist_check(cx, c, v, 0), CR_EARG);
        if (c->params[0].shown.shape == CR_SHAPE_SCALAR && !c->vector)
            assert_fails(cx, cr_dist_check(cx, c, v, n + 1), CR_EARG);
    }
    assert_true(refused > 150);
    double flat[] = { 1, 1 }, half[] = { 0.5, 0.4 };
    assert_fails_with(cx, cr_dist_check(cx, &cri_dist_uniform, flat, 2), CR_EARG, "high");
    assert_fails_with(cx, cr_dist_check(cx, &cri_dist_categorical, half, 2), CR_EARG, "sum to 0.9");
}

TEST(bad_points)
{
    for (size_t i = 0; i < N_CASES; i++) {
        const dist_case     *k = &cases[i];
        const cr_dist_class *c = cr_dist_find(cx, k->name);
        double               out = 42, low, high, p;
        assert_fails(cx, cr_dist_logpdf(cx, c, k->v, k->n, NAN, &out), CR_EARG);
        assert_fails(cx, cr_dist_cdf(cx, c, k->v, k->n, NAN, &out), CR_EARG);
        assert_fails_with(cx, cr_dist_quantile(cx, c, k->v, k->n, 1.5, &out), CR_EARG, "1.5");
        assert_fails(cx, cr_dist_quantile(cx, c, k->v, k->n, -0.1, &out), CR_EARG);
        assert_fails(cx, cr_dist_quantile(cx, c, k->v, k->n, NAN, &out), CR_EARG);
        assert_fails(cx, cr_dist_interval(cx, c, k->v, k->n, 1, &out, &out), CR_EARG);
        assert_true(out == 42);
        assert_ok(cx, cr_dist_support(cx, c, k->v, k->n, &low, &high));
        assert_ok(cx, cr_dist_cdf(cx, c, k->v, k->n, INFINITY, &p));
        assert_true(p == 1);
        assert_ok(cx, cr_dist_cdf(cx, c, k->v, k->n, -INFINITY, &p));
        assert_true(p == 0);
        assert_ok(cx, cr_dist_logsf(cx, c, k->v, k->n, INFINITY, &p));
        assert_true(p == -INFINITY);
        assert_ok(cx, cr_dist_logpdf(cx, c, k->v, k->n, INFINITY, &p));
        assert_true(p == -INFINITY);
        if (isfinite(low) && !c->circular) {
            assert_ok(cx, cr_dist_logpdf(cx, c, k->v, k->n, low - 1, &p));
            assert_true(p == -INFINITY);
            assert_ok(cx, cr_dist_quantile(cx, c, k->v, k->n, 0, &p));
            assert_true(p == low);
        }
        for (int far = 0; far < 2; far++) { /* no NaN at the edges and in the far tails */
            double x = far ? 1e300 : low;
            assert_ok(cx, cr_dist_logpdf(cx, c, k->v, k->n, x, &p));
            assert_ok(cx, cr_dist_logcdf(cx, c, k->v, k->n, x, &p));
            assert_ok(cx, cr_dist_logsf(cx, c, k->v, k->n, x, &p));
        }
        if (c->discrete) assert_ok(cx, cr_dist_logpdf(cx, c, k->v, k->n, 0.5, &p));
        if (c->discrete) assert_true(p == -INFINITY);
    }
}

TEST(same_words)
{
    double cauchy[] = { 0, 1 }, t[] = { 1, 0, 1 }, v[] = { 3, 2 }, out = 42, eta[4];
    assert_fails_with(cx, cr_dist_mean(cx, &cri_dist_cauchy, cauchy, 2, &out), CR_EUNSUPPORTED,
                      "cauchy does not offer its mean");
    assert_fails_with(cx, cr_dist_mean(cx, &cri_dist_student_t, t, 3, &out), CR_ENUMERIC,
                      "student-t: the mean does not exist for these parameters");
    assert_fails_with(cx, cr_dist_natural(cx, &cri_dist_laplace, v, 2, eta, eta, &out),
                      CR_EUNSUPPORTED, "laplace does not offer natural parameters");
    double one[] = { 1 };
    assert_fails_with(cx, cr_dist_natural(cx, &cri_dist_bernoulli, one, 1, eta, eta, &out),
                      CR_ENUMERIC, "natural parameters do not exist");
    double wide[] = { 1e9, 0.01 };
    assert_fails_with(cx, cr_dist_entropy(cx, &cri_dist_negative_binomial, wide, 2, &out),
                      CR_ENUMERIC, "20 million terms");
    double beta[] = { 0.5, 0.5 };
    assert_fails(cx, cr_dist_mode(cx, &cri_dist_beta, beta, 2, &out), CR_ENUMERIC);
    assert_true(out == 42);
}
