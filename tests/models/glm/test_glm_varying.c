/* test_glm_varying.c -- varying intercepts of generalised linear models: estimates of lme4 1.1 (glmer
 * with nAGQ = 1, lmer with REML = FALSE; R 4.2), the likelihood by its definition and by quadrature, and
 * groups that are new. */
#include "../fixture.h"

/* Contagious bovine pleuropneumonia in 15 herds: Lesnoff et al. (2004), as `cbpp` in lme4. */
static const char cattle[] =
    "herd,incidence,size,period\nh1,2,14,p1\nh1,3,12,p2\nh1,4,9,p3\nh1,0,5,p4\n"
    "h2,3,22,p1\nh2,1,18,p2\nh2,1,21,p3\nh3,8,22,p1\nh3,2,16,p2\nh3,0,16,p3\n"
    "h3,2,20,p4\nh4,2,10,p1\nh4,0,10,p2\nh4,2,9,p3\nh4,0,6,p4\nh5,5,18,p1\n"
    "h5,0,25,p2\nh5,0,24,p3\nh5,1,4,p4\nh6,3,17,p1\nh6,0,17,p2\nh6,0,18,p3\n"
    "h6,1,20,p4\nh7,8,16,p1\nh7,1,10,p2\nh7,3,9,p3\nh7,0,5,p4\nh8,12,34,p1\n"
    "h9,2,9,p1\nh9,0,6,p2\nh9,0,8,p3\nh9,0,6,p4\nh10,1,22,p1\nh10,1,22,p2\n"
    "h10,0,18,p3\nh10,2,22,p4\nh11,0,25,p1\nh11,5,27,p2\nh11,3,22,p3\nh11,1,22,p4\n"
    "h12,2,10,p1\nh12,1,8,p2\nh12,0,6,p3\nh12,0,5,p4\nh13,1,21,p1\nh13,2,24,p2\n"
    "h13,0,19,p3\nh13,0,23,p4\nh14,11,19,p1\nh14,0,2,p2\nh14,0,3,p3\nh14,0,2,p4\n"
    "h15,1,19,p1\nh15,1,15,p2\nh15,1,15,p3\nh15,0,15,p4\n";

/* Counts drawn from the model, 8 groups of 5 rows. */
static const char counts[] =
    "g,x,y\na,0.22,5\na,-0.54,2\na,0.89,2\na,0.6,6\na,1.64,6\nb,0.69,2\nb,-1.28,0\n"
    "b,-0.21,1\nb,1.9,4\nb,1.78,4\nc,0.57,5\nc,0.02,2\nc,0.38,8\nc,-0.05,5\n"
    "c,0.03,2\nd,0.17,0\nd,1.17,0\nd,-0.04,0\nd,-0.1,1\nd,-0.28,0\ne,1.54,1\n"
    "e,0.17,1\ne,1.31,3\ne,1.29,0\ne,0.59,0\nf,-0.28,0\nf,1.26,3\nf,0.91,0\n"
    "f,-0.93,0\nf,1.24,2\ng,0.15,5\ng,1.05,1\ng,-0.75,1\ng,-1.48,0\ng,0.86,2\n"
    "h,-0.4,0\nh,-0.23,0\nh,0.93,0\nh,-0.47,2\nh,-0.64,2\n";

static double group_value(const json_t *d, const char *group, const char *key)
{
    size_t  i;
    json_t *item, *list = json_object_get(d, "groups");
    json_array_foreach(list, i, item)
    {
        if (strcmp(json_string_value(json_object_get(item, "group")), group) == 0)
            return number_of(item, key);
    }
    fail_msg("there is no group '%s'", group);
    return NAN;
}

TEST(binomial_as_glmer)
{
    cr_table *t = table_of_text(cx, "cattle.csv", cattle);
    cr_model *m =
        fit(cx, "glm", t, "target=incidence trials=size family=binomial terms=period,(1|herd)");
    json_t *d = describe(cx, m);
    assert_close(parameter(d, "intercept", "value"), -1.39853, 1e-4);
    assert_close(parameter(d, "period=p2", "value"), -0.99233, 1e-4);
    assert_close(parameter(d, "period=p3", "value"), -1.12867, 1e-4);
    assert_close(parameter(d, "period=p4", "value"), -1.58031, 1e-4);
    assert_close(parameter(d, "intercept", "sd"), 0.227891, 1e-4);
    assert_close(parameter(d, "period=p4", "sd"), 0.428795, 1e-4);
    assert_close(statistic(d, "group_sd"), 0.642261, 1e-4);
    assert_close(cr_model_get_report(m)->log_likelihood, -92.026282, 1e-6);
    assert_close(group_value(d, "h1", "intercept"), 0.590020, 2e-4);
    assert_close(group_value(d, "h6", "intercept"), -0.400269, 2e-4);
    assert_true(group_value(d, "h8", "weight") == 1);
}

TEST(poisson_as_glmer)
{
    cr_table *t = table_of_text(cx, "counts.csv", counts);
    cr_model *m = fit(cx, "glm", t, "target=y family=poisson terms=x,(1|g)");
    json_t   *d = describe(cx, m);
    assert_close(parameter(d, "intercept", "value"), 0.154446, 1e-4);
    assert_close(parameter(d, "x", "value"), 0.520594, 1e-4);
    assert_close(parameter(d, "intercept", "sd"), 0.313270, 1e-4);
    assert_close(parameter(d, "x", "sd"), 0.168693, 1e-4);
    assert_close(statistic(d, "group_sd"), 0.742239, 1e-4);
    assert_close(cr_model_get_report(m)->log_likelihood, -68.568960, 1e-6);
    assert_close(group_value(d, "c", "intercept"), 1.122923, 2e-4);
    double sd = statistic(d, "group_sd");
    assert_true(statistic(d, "group_sd_lower") < sd && sd < statistic(d, "group_sd_upper"));
}

/* log of the integral over u of prod_i Poisson(y_i | b0 + b x_i + u) N(u | 0, sd^2), for one group. */
static double log_integral(const cr_table *t, size_t code, double b0, double b, double sd)
{
    const cr_column *g = cr_table_find(t, "g"), *x = cr_table_find(t, "x"),
                    *y = cr_table_find(t, "y");
    double step = 0.01, sum = 0;
    for (double v = -8; v <= 8; v += step) {
        double f = -0.5 * v * v - 0.5 * log(2 * M_PI);
        for (size_t i = 0; i < cr_table_rows(t); i++) {
            if (g->codes[i] != code) continue;
            double eta = b0 + b * x->values[i * x->stride] + sd * v, k = y->values[i * y->stride];
            f += k * eta - exp(eta) - lgamma(k + 1);
        }
        sum += step * exp(f);
    }
    return log(sum);
}

/* Laplace's approximation is within a few hundredths of the integral, and the maximum is near. */
TEST(likelihood_by_quadrature)
{
    cr_table *t = table_of_text(cx, "counts.csv", counts);
    cr_model *m = fit(cx, "glm", t, "target=y family=poisson terms=x,(1|g)");
    json_t   *d = describe(cx, m);
    double    b0 = parameter(d, "intercept", "value"), b = parameter(d, "x", "value");
    double    sd = statistic(d, "group_sd"), exact = 0, wider = 0, narrower = 0;
    for (size_t g = 0; g < 8; g++) {
        exact += log_integral(t, g, b0, b, sd);
        wider += log_integral(t, g, b0, b, 1.3 * sd);
        narrower += log_integral(t, g, b0, b, sd / 1.3);
    }
    assert_close(cr_model_get_report(m)->log_likelihood, exact, 0.005);
    assert_true(exact > wider && exact > narrower);
}

/* Maximum likelihood of the rails of Pinheiro & Bates (2000), sec. 1.1. */
TEST(gaussian_as_lmer)
{
    cr_table *t = table_of_text(
        cx, "rail.csv",
        "rail,travel\na,55\na,53\na,54\nb,26\nb,37\nb,32\nc,78\nc,91\nc,85\nd,92\nd,100\nd,96\n"
        "e,49\ne,51\ne,50\nf,80\nf,85\nf,83\n");
    cr_model *m = fit(cx, "glm", t, "target=travel terms=(1|rail)");
    json_t   *d = describe(cx, m);
    assert_close(statistic(d, "group_sd"), 22.62435, 1e-5);
    assert_close(sqrt(statistic(d, "ml_dispersion")), 4.020779, 1e-5);
    assert_close(parameter(d, "intercept", "value"), 66.5, 1e-6);
    assert_close(cr_model_get_report(m)->log_likelihood, -64.28002, 1e-6);
}

/* Groups more alike than chance would have them: said, and only then. */
TEST(groups_that_do_not_differ)
{
    static const char alike[] = "g,x,y\na,1,1\na,2,3\na,3,0\nb,1,0\nb,2,3\nb,3,1\n"
                                "c,1,3\nc,2,0\nc,3,1\nd,1,1\nd,2,0\nd,3,3\n";
    cr_table         *t = table_of_text(cx, "alike.csv", alike),
             *other = table_of_text(cx, "counts.csv", counts);
    static const char *const settings[] = { "target=y family=poisson terms=x,(1|g)",
                                            "target=y terms=x,(1|g)" };
    for (size_t k = 0; k < 2; k++) {
        warnings  said = { 0 };
        cr_model *m = fit(cx, "glm", t, settings[k]);
        assert_true(statistic(describe(cx, m), "group_sd") < 1e-3);
        assert_non_null(
            strstr(fit_and_hear(cx, "glm", t, settings[k], &said), "the groups' sd is at 0"));
        assert_null(strstr(fit_and_hear(cx, "glm", other, settings[k], &said), "at 0"));
    }
}

/* A group that was not seen: the mean of an average one, and a wider spread than any. */
TEST(a_new_group)
{
    cr_table     *t = table_of_text(cx, "counts.csv", counts);
    cr_model     *m = fit(cx, "glm", t, "target=y family=poisson terms=x,(1|g)");
    json_t       *d = describe(cx, m);
    cr_table     *rows = table_of_text(cx, "rows.csv", "x,g\n0.5,a\n0.5,zz\n");
    warnings      said = { 0 };
    double        b0 = parameter(d, "intercept", "value"), b = parameter(d, "x", "value");
    cr_prediction q;
    cr_ctx_set_log(cx, keep_warning, &said);
    q = predict(cx, m, rows);
    assert_non_null(strstr(said.text, "1 row has a 'g' that the model has not seen"));
    assert_close(q.mean[0], exp(b0 + 0.5 * b + group_value(d, "a", "intercept")), 1e-9);
    assert_close(q.mean[1], exp(b0 + 0.5 * b), 1e-9);
    assert_true(q.scale[1] / q.mean[1] > q.scale[0] / q.mean[0]);
}

TEST(what_is_refused)
{
    cr_table *t = table_of_text(cx, "counts.csv", counts);
    cr_model *m = NULL;
    assert_fails_with(
        cx, try_fit(cx, "glm", t, "target=y family=poisson link=identity terms=x,(1|g)", &m),
        CR_EUNSUPPORTED, "not possible with this family and link");
    assert_fails_with(cx,
                      try_fit(cx, "glm", t, "target=y family=negative-binomial terms=x,(1|g)", &m),
                      CR_EUNSUPPORTED, "not possible with this family and link");
    assert_fails_with(cx,
                      try_fit(cx, "glm", t, "target=y family=poisson errors=hc1 terms=x,(1|g)", &m),
                      CR_EUNSUPPORTED, "--errors and --dispersion");
}
