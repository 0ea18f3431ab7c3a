/* test_forecast_columns.c -- what columns will be, from hidden states: against the mixture of the states' distributions. */
#include "../life.h"

#include "math/special/special.h"
#include "models/core/model_internal.h"
#include "models/core/sequence.h"
#include "models/sequence/hmm.h"

static void release(cr_ctx *cx, void *of) { cr_forecast_columns_free(cx, of); }
static void release_forecast(cr_ctx *cx, void *of) { cr_forecast_free(cx, of); }

static const cri_hmm *state_of(const cr_model *m) { return m->state; }

static void forecast(cr_ctx *cx, const cr_model *m, size_t ahead, double level, cr_forecast *f,
                     cr_forecast_columns *c)
{
    assert_ok(cx, cr_forecast_rows(cx, m, NULL, ahead, f));
    test_own(cx, f, release_forecast);
    assert_ok(cx, cr_forecast_columns_of(cx, m, f, level, c));
    test_own(cx, c, release);
}

/* Mean, variance and distribution function of a mixture of normals. */
TEST(mixtures_of_normal_columns)
{
    static cr_forecast         f;
    static cr_forecast_columns c;
    cr_rng                     r = cr_rng_stream(4, 1);
    text_buffer                b = text_new(1 << 15);
    size_t                     state = 0;
    text_put(&b, "x,word,y\n");
    for (size_t t = 0; t < 400; t++) {
        if (cr_rng_uniform(&r) < 0.1) state = 1 - state;
        text_put(&b, "%.5f,%s,%.5f\n", 4 * (double)state + cr_rng_normal(&r), state ? "a" : "b",
                 10 - 3 * (double)state + 2 * cr_rng_normal(&r));
    }
    cr_table *t = table_of_text(cx, "t.csv", b.at);
    free(b.at);
    cr_model      *m = fit(cx, "hmm", t, "states=2 restarts=2 covariance=diag");
    const cri_hmm *h = state_of(m);
    forecast(cx, m, 5, 0.8, &f, &c);
    assert_int_equal(c.n, 5);
    assert_int_equal(c.columns, 2); /* the word is no number */
    assert_string_equal(c.name[0], "x");
    assert_string_equal(c.name[1], "y");
    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < 2; j++) {
            size_t column = j == 0 ? 0 : 2, at = i * 2 + j;
            double mean = 0, square = 0, below[2] = { 0 };
            for (size_t s = 0; s < 2; s++) {
                double p = f.p.prob[i * 2 + s], sd = h->spread[column * 2 + s] * h->scale[column];
                double mu = h->centre[column] + h->scale[column] * h->mean[column * 2 + s];
                mean += p * mu, square += p * (sd * sd + mu * mu);
                below[0] += p * cr_norm_cdf((c.lower[at] - mu) / sd);
                below[1] += p * cr_norm_cdf((c.upper[at] - mu) / sd);
            }
            double sd = sqrt(square - mean * mean);
            assert_true(fabs(c.mean[at] - mean) < 0.02 * sd);
            assert_true(fabs(c.sd[at] - sd) < 0.02 * sd);
            assert_true(fabs(below[0] - 0.1) < 0.01 && fabs(below[1] - 0.9) < 0.01);
        }
}

/* Counts have whole ends; angles and rows with covariates none; a chain of symbols has no columns. */
TEST(columns_that_are_not_normal)
{
    static cr_forecast         f[3];
    static cr_forecast_columns c[3];
    const char *text = "n,a,u\n3,0.1,1\n5,0.3,2\n2,0.2,0\n40,2.9,1\n35,3.1,5\n44,3.0,2\n3,0.3,1\n";
    cr_table   *t = table_of_text(cx, "t.csv", text);
    cr_model   *m = fit(cx, "hmm", t, "features=n,a states=2 emission=poisson,a=von-mises");
    forecast(cx, m, 3, 0.95, &f[0], &c[0]);
    assert_int_equal(c[0].columns, 1);
    for (size_t i = 0; i < 3; i++) {
        assert_true(c[0].lower[i] == floor(c[0].lower[i]) && c[0].upper[i] == floor(c[0].upper[i]));
        assert_true(c[0].lower[i] < c[0].mean[i] && c[0].mean[i] < c[0].upper[i]);
    }
    forecast(cx, fit(cx, "hmm", t, "features=n,u states=2 covariates=u"), 2, 0.95, &f[1], &c[1]);
    assert_int_equal(c[1].columns, 0);
    forecast(cx, fit(cx, "markov", table_of_text(cx, "s.csv", "s\na\nb\na\n"), ""), 2, 0.95, &f[2],
             &c[2]);
    assert_int_equal(c[2].columns, 0);
    for (double level = 0; level <= 1; level += 1)
        assert_fails_with(cx, cr_forecast_columns_of(cx, m, &f[0], level, &c[1]), CR_EARG, "level");
}

typedef struct life_of {
    const cr_model *m;
} life_of;

static cr_status ask(cr_ctx *cx, void *arg)
{
    const life_of      *l = arg;
    cr_forecast         f = { 0 };
    cr_forecast_columns c = { 0 };
    cr_status           st = cr_forecast_rows(cx, l->m, NULL, 1, &f);
    if (st == CR_OK) st = cr_forecast_columns_of(cx, l->m, &f, 0.5, &c);
    cr_forecast_columns_free(cx, &c);
    cr_forecast_free(cx, &f);
    return st;
}

TEST(allocations)
{
    life_of l = { fit(cx, "hmm", table_of_text(cx, "t.csv", "x\n1\n2\n4\n1\n3\n"), "states=1") };
    test_every_allocation_fails(ask, &l);
}
