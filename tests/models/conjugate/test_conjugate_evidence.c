/* test_conjugate_evidence.c -- posteriors and evidences by another road: integrals over the
 * parameters, the closed forms of textbooks, the reference answers, and draws. */
#include "conjugate.h"
#include "math/special/special.h"
#include "prob/dist/dist.h"

/* --- evidence by integration over the parameters --------------------------------------------- */

typedef struct problem {
    const double *x;
    size_t        n;
    double        a, b, c, d; /* of the prior */
    double        at, top;    /* the outer variable; what is taken out of the exponent */
    cr_ctx       *cx;
} problem;

static double integrate(cr_ctx *cx, cr_integrand *f, problem *p, double low, double high)
{
    double out = 0;
    assert_ok(cx, cr_integrate(cx, f, p, low, high, 0, 1e-12, &out, NULL));
    return out;
}

static double bernoulli_integrand(double q, void *user)
{
    const problem *p = user;
    double         f = pow(q, p->a - 1) * pow(1 - q, p->b - 1) * tgamma(p->a + p->b) /
               (tgamma(p->a) * tgamma(p->b));
    for (size_t i = 0; i < p->n; i++) f *= p->x[i] == 1 ? q : 1 - q;
    return f;
}

static double gamma_density(double l, double a, double b)
{
    return pow(b, a) / tgamma(a) * pow(l, a - 1) * exp(-b * l);
}

static double poisson_integrand(double l, void *user)
{
    const problem *p = user;
    double         f = gamma_density(l, p->a, p->b);
    for (size_t i = 0; i < p->n; i++) f *= exp(-l) * pow(l, p->x[i]) / tgamma(p->x[i] + 1);
    return f;
}

static double exponential_integrand(double l, void *user)
{
    const problem *p = user;
    double         f = gamma_density(l, p->a, p->b);
    for (size_t i = 0; i < p->n; i++) f *= l * exp(-l * p->x[i]);
    return f;
}

static double normal_density(double x, double mean, double variance)
{
    return exp(-(x - mean) * (x - mean) / (2 * variance)) / sqrt(2 * M_PI * variance);
}

static double likelihood(const problem *p, double mean, double variance)
{
    double f = 1;
    for (size_t i = 0; i < p->n; i++) f *= normal_density(p->x[i], mean, variance);
    return f;
}

/* mu ~ N(a, b), variance c known. */
static double mean_integrand(double mu, void *user)
{
    const problem *p = user;
    return normal_density(mu, p->a, p->b) * likelihood(p, mu, p->c);
}

static double inverse_gamma_density(double v, double a, double b)
{
    return pow(b, a) / tgamma(a) * pow(v, -a - 1) * exp(-b / v);
}

/* Mean c known, variance ~ InverseGamma(a, b). */
static double variance_integrand(double v, void *user)
{
    const problem *p = user;
    return v > 0 ? inverse_gamma_density(v, p->a, p->b) * likelihood(p, p->c, v) : 0;
}

/* Both unknown: mean | v ~ N(c, v / d). */
static double inner_integrand(double mu, void *user)
{
    const problem *p = user;
    return normal_density(mu, p->c, p->at / p->d) * likelihood(p, mu, p->at);
}

static double both_integrand(double v, void *user)
{
    problem p = *(problem *)user;
    double  wide = 9 * sqrt(v);
    p.at = v;
    return inverse_gamma_density(v, p.a, p.b) *
           integrate(p.cx, inner_integrand, &p, -wide, 3 + wide);
}

/* theta ~ Pareto(b, a), x < theta. */
static double uniform_integrand(double u, void *user)
{
    const problem *p = user;
    double         f = p->a * pow(p->b, p->a) / pow(u, p->a + 1);
    for (size_t i = 0; i < p->n; i++) f *= p->x[i] < u ? 1 / u : 0;
    return f;
}

/* Angles: the product of densities, the direction summed over a fine grid (periodic: exact). */
static double angle_likelihood(const problem *p, double mu, double k)
{
    double f = 1;
    for (size_t i = 0; i < p->n; i++)
        f *= exp(k * cos(p->x[i] - mu)) / (2 * M_PI * exp(cr_log_bessel_i(0, k)));
    return f;
}

/* mu ~ VonMises(b, a) given k. */
static double over_directions(const problem *p, double k)
{
    enum { STEPS = 200 };
    double sum = 0;
    for (size_t i = 0; i < STEPS; i++) {
        double mu = 2 * M_PI * (double)i / STEPS;
        sum += exp(p->a * cos(mu - p->b) - cr_log_bessel_i(0, p->a)) / STEPS *
               angle_likelihood(p, mu, k);
    }
    return sum;
}

/* kappa ~ Gamma(c, d), the direction uniform. */
static double kappa_integrand(double k, void *user)
{
    const problem *p = user;
    return gamma_density(k, p->c, p->d) * over_directions(p, k);
}

static const double counts[] = { 3, 0, 2, 5, 1, 4, 2, 2 };
static const double reals[] = { 1.2, -0.4, 3.3, 2.1, 0.7 };
static const double times[] = { 0.3, 2.2, 0.05, 1.1, 0.9 };
static const double binary[] = { 1, 0, 0, 1, 1, 1, 0, 1 };
static const double angles[] = { 0.9, 0.5, -0.1, 1.05, 1.3, 2.4 };

TEST(against_quadrature)
{
    problem p = { .x = binary, .n = 8, .a = 1.3, .b = 0.7, .cx = cx };
    assert_close(evidence_of(cx, "beta-bernoulli", binary, 8, "prior=a=1.3,b=0.7"),
                 log(integrate(cx, bernoulli_integrand, &p, 0, 1)), 1e-9);
    p = (problem){ .x = counts, .n = 8, .a = 2, .b = 0.5 };
    assert_close(evidence_of(cx, "poisson", counts, 8, "prior=shape=2,rate=0.5"),
                 log(integrate(cx, poisson_integrand, &p, 0, INFINITY)), 1e-10);
    p = (problem){ .x = times, .n = 5, .a = 1.7, .b = 0.6 };
    assert_close(evidence_of(cx, "exponential", times, 5, "prior=shape=1.7,rate=0.6"),
                 log(integrate(cx, exponential_integrand, &p, 0, INFINITY)), 1e-10);
    p = (problem){ .x = reals, .n = 5, .a = 0.4, .b = 6.25, .c = 1.9 };
    assert_close(evidence_of(cx, "normal", reals, 5, "prior=mean=0.4,sd=2.5 known_variance=1.9"),
                 log(integrate(cx, mean_integrand, &p, -INFINITY, INFINITY)), 1e-10);
    p = (problem){ .x = reals, .n = 5, .a = 2.5, .b = 3.1, .c = 1.1 };
    assert_close(evidence_of(cx, "normal", reals, 5, "prior=shape=2.5,scale=3.1 known_mean=1.1"),
                 log(integrate(cx, variance_integrand, &p, 0, INFINITY)), 1e-10);
    p = (problem){ .x = reals, .n = 5, .a = 2.5, .b = 3.1, .c = 0.2, .d = 0.7, .cx = cx };
    assert_close(
        evidence_of(cx, "normal", reals, 5, "prior=mean0=0.2,kappa0=0.7,shape=2.5,scale=3.1"),
        log(integrate(cx, both_integrand, &p, 0.02, 2000)), 1e-6);
    assert_close(evidence_of(cx, "normal", reals, 5, "known_mean=1.1 known_variance=1.9"),
                 log(likelihood(&p, 1.1, 1.9)), 1e-13);
    p = (problem){ .x = times, .n = 5, .a = 1.4, .b = 0.8 };
    assert_close(evidence_of(cx, "uniform", times, 5, "prior=shape=1.4,scale=0.8"),
                 log(integrate(cx, uniform_integrand, &p, 2.2, INFINITY)), 1e-10);
    p = (problem){ .x = angles, .n = 6, .a = 0.8, .b = 0.3 };
    assert_close(evidence_of(cx, "von-mises", angles, 6, "kappa=1.6 prior=mu0=0.3,kappa0=0.8"),
                 log(over_directions(&p, 1.6)), 1e-12);
    p = (problem){ .x = angles, .n = 6, .a = 0, .c = 2.25, .d = 0.75 };
    assert_close(evidence_of(cx, "von-mises", angles, 6, "prior=kappa_mean=3,kappa_sd=2"),
                 log(integrate(cx, kappa_integrand, &p, 0, 60)), 1e-10);
}

/* Both ends of a uniform: p(l, u) integrated over a grid in the plane is slow, its closed form in u
 * is not: for each u > max, the integral over l < min of a (a+1) w^a / (u-l)^(a+2+n). */
static double both_ends_integrand(double u, void *user)
{
    const problem *p = user; /* a, low b, high c; least at, greatest top */
    double         a = p->a, low = fmin(p->b, p->at), n = (double)p->n;
    return a * (a + 1) * pow(p->c - p->b, a) * pow(u - low, -(a + 1 + n)) / (a + 1 + n);
}

TEST(uniform_with_both_ends)
{
    problem p = { .n = 5, .a = 1.4, .b = 0.5, .c = 0.9, .at = -0.4, .top = 3.3 };
    assert_close(evidence_of(cx, "uniform", reals, 5, "ends=both prior=low=0.5,high=0.9,shape=1.4"),
                 log(integrate(cx, both_ends_integrand, &p, 3.3, INFINITY)), 1e-10);
}

/* --- posteriors ------------------------------------------------------------------------------ */

/* The reference answers: closed forms, checked there by quadrature. */
TEST(reference)
{
    json_t *cases = reference_cases(cx, "conjugate"), *item;
    size_t  i, checked = 0;
    json_array_foreach(cases, i, item)
    {
        const char *id = json_string_value(json_object_get(item, "id"));
        json_t     *want = json_object_get(item, "expected");
        if (strcmp(id, "beta-binomial") == 0) {
            double x[20] = { 0 };
            for (size_t k = 0; k < 7; k++) x[3 * k % 20] = 1;
            cr_table *t = column_table(cx, x, 20, NULL);
            cr_model *m = fit(cx, "beta-bernoulli", t, "prior=jeffreys");
            json_t   *d = describe(cx, m), *post = json_object_get(want, "posterior");
            json_t   *ci = json_object_get(want, "ci95_equal_tail");
            assert_close(part_of(d, 0, "posterior", "a"), element(post, 0), 1e-12);
            assert_close(part_of(d, 0, "posterior", "b"), element(post, 1), 1e-12);
            assert_relative(parameter(d, "x=1", "lower"), element(ci, 0), 1e-10);
            assert_relative(parameter(d, "x=1", "upper"), element(ci, 1), 1e-10);
            assert_relative(part_of(d, 0, "predictive", "p"), number_of(want, "predictive_success"),
                            1e-10);
            assert_relative(log_evidence(m) + cr_lchoose(20, 7),
                            number_of(want, "log_marginal_of_k"), 1e-10);
        } else if (strcmp(id, "gamma-poisson") == 0) {
            double    x[5] = { 0, 1, 2, 3, 4 }, log_p[5];
            cr_table *t = column_table(cx, counts, 8, NULL);
            cr_model *m = fit(cx, "poisson", t, "prior=shape=2,rate=0.5");
            json_t   *d = describe(cx, m), *post = json_object_get(want, "posterior_shape_rate");
            assert_close(part_of(d, 0, "posterior", "shape"), element(post, 0), 1e-12);
            assert_close(part_of(d, 0, "posterior", "rate"), element(post, 1), 1e-12);
            assert_relative(log_evidence(m), number_of(want, "log_marginal"), 1e-10);
            densities(cx, m, x, 5, log_p);
            for (size_t k = 0; k < 5; k++)
                assert_relative(log_p[k],
                                element(json_object_get(want, "predictive_logpmf_0to4"), k), 1e-10);
        } else if (strcmp(id, "dirichlet-multinomial") == 0) {
            cr_table *t = table_of_text(cx, "c.csv", "c,n\na,5\nb,0\nc,3\nd,12\n");
            cr_model *m =
                fit(cx, "dirichlet-categorical", t, "features=c weights=n prior=a=0.5,alpha=1,d=2");
            json_t *d = describe(cx, m), *post = json_object_get(want, "posterior");
            json_t *alpha = json_object_get(
                json_object_get(json_array_get(json_object_get(d, "distributions"), 0),
                                "posterior"),
                "alpha");
            for (size_t k = 0; k < 4; k++) {
                char name[] = "c=a";
                name[2] = (char)('a' + (int)k);
                assert_relative(element(alpha, k), element(post, k), 1e-12);
                assert_relative(parameter(d, name, "value"),
                                element(json_object_get(want, "mean"), k), 1e-12);
            }
            assert_relative(log_evidence(m), number_of(want, "log_marginal_sequence"), 1e-10);
        } else if (strcmp(id, "normal-inverse-gamma") == 0) {
            cr_table *t = column_table(cx, reals, 5, NULL);
            cr_model *m = fit(cx, "normal", t, "prior=mean0=0,kappa0=0.1,shape=2,scale=1");
            json_t   *d = describe(cx, m);
            json_t   *predictive = json_object_get(want, "predictive_t_dof_loc_scale");
            assert_string_equal(family_of(d, 0, "posterior"), "normal-inverse-gamma");
            assert_relative(part_of(d, 0, "posterior", "mean"), number_of(want, "m_n"), 1e-12);
            assert_relative(part_of(d, 0, "posterior", "strength"), number_of(want, "kappa_n"),
                            1e-12);
            assert_relative(part_of(d, 0, "posterior", "shape"), number_of(want, "a_n"), 1e-12);
            assert_relative(part_of(d, 0, "posterior", "scale"), number_of(want, "b_n"), 1e-12);
            assert_relative(part_of(d, 0, "predictive", "df"), element(predictive, 0), 1e-12);
            assert_relative(part_of(d, 0, "predictive", "location"), element(predictive, 1), 1e-12);
            assert_relative(part_of(d, 0, "predictive", "scale"), element(predictive, 2), 1e-12);
            assert_relative(log_evidence(m), number_of(want, "log_marginal"), 1e-10);
        } else if (strcmp(id, "niw-iris") == 0) {
            const char *path = test_data("tabular/iris.csv");
            assert_non_null(path);
            cr_table *t = read_table(cx, path);
            cr_model *m =
                fit(cx, "mvn", t, "features=!species prior=mean0=0,kappa0=0.1,nu0=6,scale0=1");
            json_t *d = describe(cx, m);
            json_t *post = json_object_get(json_array_get(json_object_get(d, "distributions"), 0),
                                           "posterior");
            assert_relative(number_of(post, "strength"), number_of(want, "kappa_n"), 1e-12);
            assert_relative(number_of(post, "df"), number_of(want, "nu_n"), 1e-12);
            for (size_t k = 0; k < 16; k++) {
                json_t *row = json_array_get(json_object_get(want, "S_n"), k / 4);
                assert_relative(element(json_object_get(post, "scale"), k), element(row, k % 4),
                                1e-10);
                if (k < 4)
                    assert_relative(element(json_object_get(post, "mean"), k),
                                    element(json_object_get(want, "m_n"), k), 1e-12);
            }
            if (json_object_get(want, "log_marginal"))
                assert_relative(log_evidence(m), number_of(want, "log_marginal"), 1e-10);
        } else {
            continue;
        }
        checked++;
    }
    assert_int_equal(checked, 5);
}

/* Priors by their moments. */
TEST(moments)
{
    cr_table *t = column_table(cx, binary, 8, NULL), *r = column_table(cx, reals, 5, NULL);
    cr_model *m = fit(cx, "beta-bernoulli", t, "prior=mean=0.8,sd=0.1"); /* Beta(12, 3) */
    json_t   *d = describe(cx, m);
    assert_relative(part_of(d, 0, "posterior", "a"), 12 + 5, 1e-14);
    assert_relative(part_of(d, 0, "posterior", "b"), 3 + 3, 1e-14);
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(d, "statistics"), "prior")),
        "beta(a=12, b=3)");
    cr_model_free(cx, m);
    m = NULL;
    assert_fails_with(cx, try_fit(cx, "beta-bernoulli", t, "prior=mean=0.8,sd=0.4", &m), CR_EARG,
                      "no beta distribution has mean 0.8 and sd 0.4");
    assert_non_null(strstr(cr_error_hint(cx), "below 0.4"));
    assert_fails_with(cx, try_fit(cx, "beta-bernoulli", t, "prior=mean=1.2,sd=0.1", &m), CR_EARG,
                      "between 0 and 1");

    /* The same prior by moments and by parameters gives the same evidence. */
    assert_close(evidence_of(cx, "poisson", counts, 8, "prior=mean=4,sd=2"),
                 evidence_of(cx, "poisson", counts, 8, "prior=shape=4,rate=1"), 1e-14);
    /* InverseGamma(a, b) of mean 3 and sd 1.5: a = 6, b = 15; sd of mu 2: k = 3 / 4. */
    assert_close(
        evidence_of(cx, "normal", reals, 5, "prior=mean=1,sd=2,variance_mean=3,variance_sd=1.5"),
        evidence_of(cx, "normal", reals, 5, "prior=mean0=1,kappa0=0.75,shape=6,scale=15"), 1e-14);
    assert_close(evidence_of(cx, "normal", reals, 5, "prior=mean0=1,kappa0=0.75,nu0=12,var0=2.5"),
                 evidence_of(cx, "normal", reals, 5, "prior=mean0=1,kappa0=0.75,shape=6,scale=15"),
                 1e-14);
    /* Pareto(w, a) of mean 3 and sd 1.5: (3 / 1.5)^2 = a (a - 2). */
    double a = 1 + sqrt(5);
    char   text[128];
    snprintf(text, sizeof text, "prior=shape=%.17g,scale=%.17g", a, 3 * (a - 1) / a);
    assert_close(evidence_of(cx, "uniform", times, 5, "prior=mean=3,sd=1.5"),
                 evidence_of(cx, "uniform", times, 5, text), 1e-13);
    cr_table_free(cx, t);
    cr_table_free(cx, r);
}

/* Jeffreys' prior does not depend on the parametrisation: the posterior mass of p < 0.3 is that of
 * logit p < logit 0.3 under the prior sqrt(I(phi)), I(phi) = p (1 - p). */
static double logit_integrand(double phi, void *user)
{
    const problem *p = user;
    double         q = cr_sigmoid(phi), f = sqrt(q * (1 - q));
    for (size_t i = 0; i < p->n; i++) f *= p->x[i] == 1 ? q : 1 - q;
    return f;
}

TEST(jeffreys_invariance)
{
    problem   p = { .x = binary, .n = 8 };
    cr_table *t = column_table(cx, binary, 8, NULL);
    cr_model *m = fit(cx, "beta-bernoulli", t, "prior=jeffreys");
    json_t   *d = describe(cx, m);
    double    below = integrate(cx, logit_integrand, &p, -INFINITY, cr_logit(0.3));
    double    all = below + integrate(cx, logit_integrand, &p, cr_logit(0.3), INFINITY);
    assert_close(cr_betainc(part_of(d, 0, "posterior", "a"), part_of(d, 0, "posterior", "b"), 0.3),
                 below / all, 1e-11);
    cr_table_free(cx, t);
}

/* The classical t interval comes from Jeffreys' prior: mean +- t s / sqrt(n). */
TEST(classical_interval)
{
    double mean = 0, square = 0;
    for (size_t i = 0; i < 5; i++) mean += reals[i] / 5;
    for (size_t i = 0; i < 5; i++) square += pow(reals[i] - mean, 2);
    cr_table *t = column_table(cx, reals, 5, NULL);
    cr_model *m = fit(cx, "normal", t, "level=0.9");
    json_t   *d = describe(cx, m);
    double    half = cr_student_t_ppf(0.95, 4) * sqrt(square / 4 / 5);
    assert_close(parameter(d, "x.mean", "lower"), mean - half, 1e-13);
    assert_close(parameter(d, "x.mean", "upper"), mean + half, 1e-13);
    /* chi-square interval of the variance: square / quantiles with n - 1 degrees of freedom */
    assert_close(cr_chi2_sf(square / parameter(d, "x.variance", "lower"), 4), 0.05, 1e-12);
    assert_close(cr_chi2_sf(square / parameter(d, "x.variance", "upper"), 4), 0.95, 1e-12);
    assert_close(part_of(d, 0, "predictive", "scale"), sqrt(square / 4 * (1 + 1.0 / 5)), 1e-13);
    cr_table_free(cx, t);
}

/* One column of mvn is normal: InverseWishart(nu, s) is InverseGamma(nu / 2, s / 2). */
TEST(mvn_of_one_column)
{
    assert_close(
        evidence_of(cx, "mvn", reals, 5, "prior=mean0=0.4,kappa0=0.3,nu0=5,scale0=6"),
        evidence_of(cx, "normal", reals, 5, "prior=mean0=0.4,kappa0=0.3,shape=2.5,scale=3"), 1e-13);
}

/* --- predictives ----------------------------------------------------------------------------- */

/* Dirichlet(1): one is added to every count; the probabilities of all levels sum to one. */
TEST(add_one)
{
    cr_table *t = table_of_text(cx, "c.csv", "c\nu\nu\nv\nu\nw\n");
    cr_table *each = table_of_text(cx, "e.csv", "c\nu\nv\nw\n");
    cr_model *m = fit(cx, "dirichlet-categorical", t, "");
    double    log_p[3];
    assert_ok(cx, cr_score(cx, m, each, log_p));
    assert_close(exp(log_p[0]), 4.0 / 8, 1e-15);
    assert_close(exp(log_p[1]), 2.0 / 8, 1e-15);
    assert_close(exp(log_p[0]) + exp(log_p[1]) + exp(log_p[2]), 1, 1e-15);
}

TEST(predictives_are_distributions)
{
    const struct {
        const char   *model, *settings;
        const double *x;
        size_t        n;
        double        at, spread;
    } line[] = { { "normal", "prior=jeffreys", reals, 5, 1.4, 1.5 },
                 { "normal", "prior=mean=0,sd=2 known_variance=2", reals, 5, 1.4, 1.5 },
                 { "mvn", "prior=jeffreys", reals, 5, 1.4, 1.5 } };
    for (size_t i = 0; i < 3; i++) {
        cr_table *t = column_table(cx, line[i].x, line[i].n, NULL);
        cr_model *m = fit(cx, line[i].model, t, line[i].settings);
        assert_close(integral_of_predictive(cx, m, line[i].at, line[i].spread), 1, 1e-9);
        cr_table_free(cx, t);
    }
    /* counts: the sum; angles: the periodic sum over one turn, which is exact */
    enum { MANY = 300 };
    double            x[MANY], log_p[MANY], sum = 0;
    cr_table         *t = column_table(cx, counts, 8, NULL);
    cr_model         *m = fit(cx, "poisson", t, "");
    const char *const circle[] = { "kappa=1.6", "prior=jeffreys", "prior=kappa_mean=2,kappa_sd=1" };
    for (size_t i = 0; i < MANY; i++) x[i] = (double)i;
    densities(cx, m, x, MANY, log_p);
    for (size_t i = 0; i < MANY; i++) sum += exp(log_p[i]);
    assert_close(sum, 1, 1e-13);
    cr_model_free(cx, m);
    cr_table_free(cx, t);
    t = column_table(cx, angles, 6, NULL);
    for (size_t k = 0; k < 3; k++) {
        m = fit(cx, "von-mises", t, circle[k]);
        for (size_t i = 0; i < 100; i++) x[i] = 2 * M_PI * (double)i / 100;
        densities(cx, m, x, 100, log_p);
        sum = 0;
        for (size_t i = 0; i < 100; i++) sum += exp(log_p[i]) * 2 * M_PI / 100;
        assert_close(sum, 1, 1e-10);
        cr_model_free(cx, m);
    }
    cr_table_free(cx, t);
}

/* cr_next says the same as the log densities. */
TEST(next)
{
    const struct {
        const char   *model, *settings, *family;
        const double *x;
        size_t        n;
    } all[] = { { "beta-bernoulli", "", "bernoulli", binary, 8 },
                { "beta-bernoulli", "success=0", "bernoulli", binary, 8 },
                { "poisson", "", "negative-binomial", counts, 8 },
                { "exponential", "", "lomax", times, 5 },
                { "normal", "", NULL, reals, 5 },
                { "normal", "known_variance=2", NULL, reals, 5 },
                { "mvn", "", NULL, reals, 5 } };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        cr_prediction p = { 0 };
        double        x[1] = { 1 }, log_p, by_next;
        cr_table     *t = column_table(cx, all[i].x, all[i].n, NULL);
        cr_model     *m = fit(cx, all[i].model, t, all[i].settings);
        assert_ok(cx, cr_next(cx, m, &p));
        assert_int_equal(p.n, 1);
        densities(cx, m, x, 1, &log_p);
        if (all[i].family) {
            assert_string_equal(cr_dist_name(p.family), all[i].family);
            assert_ok(cx, cr_dist_logpdf(cx, p.family, p.params, p.n_params, 1, &by_next));
        } else {
            double z = (1 - p.mean[0]) / p.scale[0];
            by_next = (isinf(p.dof[0]) ? cr_norm_logpdf(z) : cr_student_t_logpdf(z, p.dof[0])) -
                      log(p.scale[0]);
        }
        assert_close(log_p, by_next, 1e-13);
        cr_prediction_free(cx, &p);
        cr_table_free(cx, t);
    }
}

/* Draws have the predictive distribution: the share of them below some points is its cdf there. */
TEST(draws)
{
    enum { DRAWS = 4000 };
    static double x[DRAWS];
    const struct {
        const char   *model, *settings;
        const double *data;
        size_t        n;
    } all[] = { { "normal", "", reals, 5 },          { "normal", "known_mean=1", reals, 5 },
                { "exponential", "", times, 5 },     { "poisson", "", counts, 8 },
                { "beta-bernoulli", "", binary, 8 }, { "mvn", "", reals, 5 } };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        cr_prediction p = { 0 };
        cr_table     *t = column_table(cx, all[i].data, all[i].n, NULL);
        cr_model     *m = fit(cx, all[i].model, t, all[i].settings);
        assert_ok(cx, cr_next(cx, m, &p));
        assert_ok(cx, cr_sample(cx, m, DRAWS, 11, x));
        for (double q = -1; q < 4; q += 0.77) {
            double below = 0, want;
            for (size_t k = 0; k < DRAWS; k++) below += (x[k] <= q) / (double)DRAWS;
            if (p.family)
                assert_ok(cx, cr_dist_cdf(cx, p.family, p.params, p.n_params, q, &want));
            else
                want = cr_student_t_cdf((q - p.mean[0]) / p.scale[0], p.dof[0]);
            assert_true(fabs(below - want) < 4.5 * sqrt(want * (1 - want) / DRAWS) + 1e-12);
        }
        cr_prediction_free(cx, &p);
        cr_table_free(cx, t);
    }
}

/* Draws of angles and of uniforms by the log density: the mean of 1 / p over draws within a region
 * is its length. */
TEST(draws_by_density)
{
    enum { DRAWS = 1500 };
    static double x[DRAWS], log_p[DRAWS];
    const struct {
        const char   *model, *settings;
        const double *data;
        size_t        n;
        double        low, high;
    } all[] = { { "von-mises", "kappa=1.6", angles, 6, 0, 1.5 },
                { "von-mises", "", angles, 6, 0, 1.5 },
                { "uniform", "", times, 5, 0.5, 2.8 },
                { "uniform", "ends=both", times, 5, -0.3, 2.8 } };
    for (size_t i = 0; i < 4; i++) {
        double    sum = 0, square = 0;
        cr_table *t = column_table(cx, all[i].data, all[i].n, NULL);
        cr_model *m = fit(cx, all[i].model, t, all[i].settings);
        assert_ok(cx, cr_sample(cx, m, DRAWS, 12, x));
        densities(cx, m, x, DRAWS, log_p);
        for (size_t k = 0; k < DRAWS; k++) {
            double f = x[k] > all[i].low && x[k] < all[i].high ? exp(-log_p[k]) : 0;
            sum += f, square += f * f;
        }
        double mean = sum / DRAWS, se = sqrt((square / DRAWS - mean * mean) / DRAWS);
        assert_true(fabs(mean - (all[i].high - all[i].low)) < 4.5 * se);
        assert_true(se < 0.1);
        cr_table_free(cx, t);
    }
}

/* --- von Mises by integrals over kappa ------------------------------------------------------- */

static double kappa_moment(double k, void *user)
{
    const problem *p = user;
    return kappa_integrand(k, user) * (p->top == 1 ? k : p->top == 2 ? k < p->at : 1);
}

TEST(concentration)
{
    cr_table *t = column_table(cx, angles, 6, NULL);
    cr_model *m = fit(cx, "von-mises", t, "prior=kappa_mean=3,kappa_sd=2");
    json_t   *d = describe(cx, m);
    problem   p = { .x = angles, .n = 6, .c = 2.25, .d = 0.75 };
    double    all = integrate(cx, kappa_moment, &p, 0, 60);
    p.top = 1;
    assert_relative(parameter(d, "x.concentration", "value"),
                    integrate(cx, kappa_moment, &p, 0, 60) / all, 1e-9);
    p.top = 0;
    assert_close(integrate(cx, kappa_moment, &p, 0, parameter(d, "x.concentration", "lower")) / all,
                 0.025, 1e-9);
    assert_close(integrate(cx, kappa_moment, &p, 0, parameter(d, "x.concentration", "upper")) / all,
                 0.975, 1e-9);
    /* the ends of the shortest interval are equally dense, and hold the mass */
    double low = parameter(d, "x.concentration", "hdi_lower");
    double high = parameter(d, "x.concentration", "hdi_upper");
    assert_close(integrate(cx, kappa_moment, &p, low, high) / all, 0.95, 1e-9);
    assert_relative(kappa_integrand(low, &p), kappa_integrand(high, &p), 1e-6);
    double mode = parameter(d, "x.concentration", "mode");
    assert_true(kappa_integrand(mode, &p) >= kappa_integrand(mode * 1.0001, &p));
    assert_true(kappa_integrand(mode, &p) >= kappa_integrand(mode / 1.0001, &p));
    cr_model_free(cx, m);

    /* angles that lie close together: kappa large, and the normal limit of the spread */
    double close[40];
    for (size_t i = 0; i < 40; i++) close[i] = 0.7 + 1e-3 * cr_norm_ppf(((double)i + 0.5) / 40);
    cr_table *tight = column_table(cx, close, 40, NULL);
    m = fit(cx, "von-mises", tight, "");
    d = describe(cx, m);
    assert_close(parameter(d, "x.direction", "value"), 0.7, 1e-9);
    double scatter = 0;
    for (size_t i = 0; i < 40; i++) scatter += pow(close[i] - 0.7, 2);
    /* 1 / k ~ inverse gamma like a variance under Jeffreys' rule, n / 2 and scatter / 2 */
    assert_relative(parameter(d, "x.concentration", "value"), 40 / scatter, 1e-3);
    cr_table_free(cx, tight);
    cr_table_free(cx, t);
}
