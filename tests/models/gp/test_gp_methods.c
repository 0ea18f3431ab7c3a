/* test_gp_methods.c -- the table of methods: every row is whole, and options lead to the right one;
 * laws that hold for the answers of all of them. */
#include "../fixture.h"

#include "models/core/model_internal.h"
#include "models/gp/methods/gp_fit.h"

enum { N = 300, D = 1, ROWS = 7 };

static const struct {
    const char *settings, *name;
} asked[] = {
    { "approx=exact", "low rank" }, /* smooth and on one column */
    { "approx=exact kernel=matern12", "exact" },
    { "solver=cg inducing=40", "cg" },
    { "solver=cg inducing=4", "cg" }, /* with the nearest inputs */
    { "hyper=mcmc draws_hyper=4", "mcmc" },
    { "approx=sor inducing=12", "sor" },
    { "approx=dtc inducing=12", "dtc" },
    { "approx=fitc inducing=12", "fitc" },
    { "approx=vfe inducing=12", "vfe" },
    { "approx=svgp inducing=12", "svgp" },
    { "approx=nystrom inducing=12", "nystrom" },
    { "approx=rff inducing=40", "rff" },
};

static void check_row(const cri_gp_method *m)
{
    assert_true(m->name && m->option && m->help && m->process && m->inputs && m->uses);
    assert_true(m->check && m->cost && m->prepare && m->open && m->learn && m->condition);
    assert_true(m->answers && m->cross && m->project && m->moments && m->slopes && m->describe);
    assert_int_equal(!m->evidence_at, !m->workspace);
    assert_true(m->answers->predict && m->answers->function && m->answers->draw &&
                m->answers->slopes && m->answers->part && m->answers->parameters);
}

TEST(rows_are_whole)
{
    for (int approx = CRI_GP_EXACT; approx <= CRI_GP_RFF; approx++) {
        assert_int_equal(cri_gp_method_at(approx)->approx, approx);
        check_row(cri_gp_method_at(approx));
    }
    check_row(&cri_gp_method_lowrank);
    check_row(&cri_gp_method_cg);
    check_row(&cri_gp_method_mcmc);
}

static cr_table *draw(cr_ctx *cx)
{
    static double x[N], y[N];
    cr_rng        r = cr_rng_stream(5, 1);
    for (size_t i = 0; i < N; i++) {
        x[i] = 6 * cr_rng_uniform(&r);
        y[i] = 2 + sin(x[i]) + 0.3 * cr_rng_normal(&r);
    }
    return make_table(cx, x, N, D, y, NULL);
}

/* Each option leads to its method; the state alone shows which it is, also when it was read from a
 * file, and predicts as before. */
TEST(options_lead_to_rows)
{
    cr_table *t = draw(cx);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        char settings[200], path[200];
        snprintf(settings, sizeof settings, "target=y noise=0.1 mean=zero %s%s", asked[i].settings,
                 strstr(asked[i].settings, "mcmc") ? "" : " optimize=none");
        cr_model     *m = fit(cx, "gp", t, settings), *again = NULL;
        cr_prediction p = predict(cx, m, t), q;
        assert_string_equal(cri_gp_method_of(m->state)->name, asked[i].name);
        snprintf(path, sizeof path, "%s/method.cred", test_directory());
        assert_ok(cx, cr_model_save(cx, m, path));
        assert_ok(cx, cr_model_load(cx, path, &again));
        assert_string_equal(cri_gp_method_of(again->state)->name, asked[i].name);
        q = predict(cx, again, t);
        for (size_t k = 0; k < N; k++) assert_true(p.mean[k] == q.mean[k]);
        cr_model_free(cx, again);
    }
}

/* What the rows of a method say one by one is the diagonal of what they say together. */
TEST(variances_are_those_of_the_covariance)
{
    cr_table *t = draw(cx), *few = make_table(cx, (double[ROWS]){ -1, 0, 0.5, 2, 4, 6, 9 }, ROWS, D,
                                              (double[ROWS]){ 0 }, NULL);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        double mean[ROWS], sd[ROWS], other[ROWS], S[ROWS * ROWS];
        char   settings[200];
        snprintf(settings, sizeof settings, "target=y noise=0.1 %s%s", asked[i].settings,
                 strstr(asked[i].settings, "mcmc") ? "" : " optimize=none");
        cr_model *m = fit(cx, "gp", t, settings);
        assert_ok(cx, cr_predict_function(cx, m, few, false, mean, sd, NULL));
        assert_ok(cx, cr_predict_function(cx, m, few, false, other, NULL, S));
        for (size_t k = 0; k < ROWS; k++) {
            assert_close(mean[k], other[k], 1e-7);
            assert_close(sd[k] * sd[k], S[k * ROWS + k], 1e-6);
            assert_true(sd[k] > 0);
        }
    }
}
