/* test_dbn_later.c -- tables of dynamic networks after the fit: sequences that come later, standard deviations against
 * second derivatives by a sum over all joint states and against truth, draws. */
#include "../life.h"
#include "dbn_fixture.h"

#include "data/table/subset.h"
#include "math/dense/chol.h"
#include "math/special/special.h"

/* --- update ----------------------------------------------------------------------------------- */

static const char *const early = "s,rain,umbrella\n1,no,no\n1,yes,yes\n1,yes,no\n2,yes,yes\n";
static const char *const late = "s,rain,umbrella\n3,no,yes\n3,no,no\n4,no,no\n4,yes,yes\n";
static const char *const both = "s,rain,umbrella\n1,no,no\n1,yes,yes\n1,yes,no\n2,yes,yes\n"
                                "3,no,yes\n3,no,no\n4,no,no\n4,yes,yes\n";

static cr_model *update(cr_ctx *cx, const cr_model *m, const cr_table *t)
{
    cr_model *after = NULL;
    assert_ok(cx, cr_update(cx, m, t, &after));
    test_own(cx, after, release_model);
    return after;
}

TEST(complete_rows_later_are_rows_of_a_fit)
{
    for (size_t prior = 0; prior < 3; prior++) {
        char settings[600];
        snprintf(settings, sizeof settings, "sequence=s prior=%zu network=%s", prior, UMBRELLA);
        const cr_model *first = fit(cx, "dbn", table_of_text(cx, "a.csv", early), settings);
        const cr_model *whole = fit(cx, "dbn", table_of_text(cx, "b.csv", both), settings);
        const cr_model *now = update(cx, first, table_of_text(cx, "c.csv", late));
        const cri_dbn  *a = state_of(whole), *b = state_of(now);
        for (size_t i = 0; i < a->size; i++) {
            assert_close(a->value[i], b->value[i], 1e-14);
            assert_close(a->count[i], b->count[i], 1e-13);
        }
        assert_close(a->log_likelihood, b->log_likelihood, 1e-13);
        assert_close(now->report.log_likelihood, a->log_likelihood, 1e-13);
        assert_close(a->em.objective, b->em.objective, 1e-13);
        assert_int_equal(now->report.rows, 8);
        assert_int_equal(b->sequences, 4);
        assert_int_equal(b->errors, CRI_DBN_EXACT);
        assert_string_equal(b->labels, a->labels);
        json_t *p = describe(cx, whole), *q = describe(cx, now);
        assert_close(statistic(p, "bic"), statistic(q, "bic"), 1e-13);
    }
}

/* With gaps it is near the fit on all rows, and the log likelihood that it says is a bound. */
TEST(rows_with_gaps_later)
{
    const char *settings = "sequence=town restarts=1 network=" UMBRELLA;
    cr_table   *t = draw_days(cx, 7, 4000, 0.4);
    size_t      index[4000];
    for (size_t i = 0; i < 4000; i++) index[i] = i;
    cr_table *a = NULL, *b = NULL;
    assert_ok(cx, cri_table_subset(cx, t, index, 2000, &a));
    test_own(cx, a, release_table);
    assert_ok(cx, cri_table_subset(cx, t, index + 2000, 2000, &b));
    test_own(cx, b, release_table);
    cr_model *m = update(cx, fit(cx, "dbn", a, settings), b), *whole = fit(cx, "dbn", t, settings);
    const cri_dbn *x = state_of(m), *y = state_of(whole);
    for (size_t i = 0; i < x->size; i++) assert_true(fabs(x->value[i] - y->value[i]) < 0.02);
    for (size_t i = 1; i < x->em.iterations; i++)
        assert_true(x->em.trace[i] >= x->em.trace[i - 1] - 1e-9);
    assert_int_equal(x->gaps, y->gaps);
    assert_int_equal(x->hidden, 0);
    assert_int_equal(x->errors, CRI_DBN_EXPECTED);
    cr_prediction p = predict(cx, m, t);
    double        sum = 0;
    for (size_t i = 0; i < 4000; i++) sum += p.log_density[i];
    assert_true(x->log_likelihood <= sum && x->log_likelihood > sum - 10);
    assert_true(sum <= y->log_likelihood + 1 && sum > y->log_likelihood - 2);
}

TEST(only_new_sequences)
{
    cr_model *m = fit(cx, "dbn", table_of_text(cx, "a.csv", early), "sequence=s network=" UMBRELLA);
    cr_model *after = NULL;
    warnings  heard = { { 0 }, 0 };
    cr_table *again = table_of_text(cx, "b.csv", "s,rain,umbrella\n9,no,no\n2,yes,yes\n");
    assert_fails_with(cx, cr_update(cx, m, again, &after), CR_EUNSUPPORTED,
                      "the sequence '2' is known from earlier rows");
    m = fit(cx, "dbn", table_of_text(cx, "a.csv", early),
            "features=rain,umbrella network=" UMBRELLA);
    cr_ctx_set_log(cx, keep_warning, &heard);
    m = update(cx, m, again);
    cr_ctx_set_log(cx, NULL, NULL);
    assert_non_null(strstr(heard.text, "taken as a new one"));
    assert_int_equal(state_of(m)->sequences, 2);
    m = update(
        cx,
        update(cx,
               fit(cx, "dbn", table_of_text(cx, "a.csv", early), "sequence=s network=" UMBRELLA),
               table_of_text(cx, "c.csv", late)),
        table_of_text(cx, "d.csv", "s,rain,umbrella\n9,no,no\n"));
    assert_int_equal(state_of(m)->sequences, 5);
    assert_fails_with(cx, cr_update(cx, m, table_of_text(cx, "c.csv", late), &after),
                      CR_EUNSUPPORTED, "the sequence '3' is known");
}

/* A variable that is hidden at first and shown later. */
TEST(what_is_hidden_can_be_shown_later)
{
    cr_model *m = fit(cx, "dbn", table_of_text(cx, "a.csv", "s,a,b,c\n1,,1,0\n1,,0,1\n2,,,0\n"),
                      "sequence=s network=" CRANE);
    assert_int_equal(state_of(m)->hidden, 2);
    assert_int_equal(state_of(m)->gaps, 1);
    m = update(cx, m, table_of_text(cx, "b.csv", "s,a,b,c\n3,0,1,\n3,1,0,1\n"));
    assert_int_equal(state_of(m)->hidden, 1);
    assert_int_equal(state_of(m)->gaps, 2);
}

/* --- standard deviations ---------------------------------------------------------------------- */

TEST(of_complete_rows_they_are_dirichlet)
{
    json_t     *d = describe(cx, fit(cx, "dbn", table_of_text(cx, "a.csv", both),
                                     "sequence=s prior=2 network=" UMBRELLA));
    const char *name = "P(rain=yes | rain[-1]=no)";
    double      a = 2 * 0.3 + 2, b = 2 * 0.7 + 1; /* 1: no yes; 3: no no; 4: no yes */
    assert_close(parameter(d, name, "value"), a / (a + b), 1e-14);
    assert_close(parameter(d, name, "sd"), sqrt(a * b / (a + b + 1)) / (a + b), 1e-13);
    assert_close(parameter(d, name, "lower"), cr_betainc_inv(a, b, 0.025), 1e-10);
    assert_close(parameter(d, name, "upper"), cr_betainc_inv(a, b, 0.975), 1e-10);
}

/* The log posterior of all sequences at the tables of m with eta of the entries moved. */
static double posterior_at(cr_ctx *cx, cri_dbn *m, const double *value, const double *eta,
                           const double *given, double prior, const story *x, size_t n)
{
    double p[MOST_SIZE], count[MOST_SIZE] = { 0 }, sum = 0;
    for (size_t i = 0; i < m->size; i += 2) {
        p[i] = value[i] * exp(eta[i]), p[i + 1] = value[i + 1] * exp(eta[i + 1]);
        double total = p[i] + p[i + 1];
        p[i] /= total, p[i + 1] /= total;
        for (size_t s = i; s < i + 2; s++) sum += prior * given[s] * log(p[s]);
    }
    cri_dbn_set(m, p);
    for (size_t k = 0; k < n; k++) sum += add_counts(cx, m, &x[k], count);
    cri_dbn_set(m, value);
    return sum;
}

/* sd of p: p (1 - p) times that of its eta, by the inverse of the second derivatives of the above. */
TEST(of_gaps_they_are_by_the_curvature)
{
    static const story x[] = { { 4, { { 0, -1 }, { -1, 1 }, { -1, 0 }, { 1, -1 } } },
                               { 3, { { -1, 1 }, { -1, 1 }, { 0, -1 } } },
                               { 3, { { 1, 1 }, { -1, 0 }, { -1, -1 } } } };
    enum { FREE = 5 };
    const double             h = 1e-3, prior = 1.5;
    text_buffer              b = text_new(1024);
    double                   given[MOST_SIZE], H[FREE * FREE], eta[MOST_SIZE] = { 0 };
    static const char *const states[] = { "no", "yes" };
    text_put(&b, "s,rain,umbrella\n");
    for (size_t k = 0; k < 3; k++)
        for (size_t t = 0; t < x[k].slices; t++)
            text_put(&b, "%zu,%s,%s\n", k, x[k].cell[t][0] < 0 ? "" : states[x[k].cell[t][0]],
                     x[k].cell[t][1] < 0 ? "" : states[x[k].cell[t][1]]);
    cr_table *t = table_of_text(cx, "gaps.csv", b.at);
    free(b.at);
    cr_model *m = fit(cx, "dbn", t,
                      "sequence=s prior=1.5 restarts=1 tol=1e-13 max_iter=3000 network=" UMBRELLA);
    cri_dbn  *state = m->state;
    assert_int_equal(state->errors, CRI_DBN_CURVATURE);
    assert_int_equal(state->size, 2 * FREE);
    memcpy(given, (double[]){ 0.5, 0.5, 0.7, 0.3, 0.3, 0.7, 0.8, 0.2, 0.1, 0.9 },
           sizeof(double) * 10);
    for (size_t i = 0; i < FREE; i++)
        for (size_t j = 0; j < FREE; j++) {
            double sum = 0;
            for (int a = -1; a <= 1; a += 2)
                for (int c = -1; c <= 1; c += 2) {
                    eta[2 * i] += a * h, eta[2 * j] += c * h;
                    sum -= a * c * posterior_at(cx, state, state->value, eta, given, prior, x, 3);
                    eta[2 * i] = eta[2 * j] = 0;
                }
            H[i * FREE + j] = sum / (4 * h * h);
        }
    assert_ok(cx, cr_chol(cx, (cr_mat){ H, FREE, FREE, FREE }));
    assert_ok(
        cx, cr_chol_inverse(cx, (cr_cmat){ H, FREE, FREE, FREE }, (cr_mat){ H, FREE, FREE, FREE }));
    for (size_t i = 0; i < 2 * FREE; i++) {
        double p = state->value[i];
        assert_close(state->sd[i], p * (1 - p) * sqrt(H[i / 2 * FREE + i / 2]), 1e-4);
    }
}

/* Intervals contain the truth as often as they say, more often than those of the expected counts. */
TEST(intervals_of_tables_contain_the_truth)
{
    const struct {
        const char *name;
        double      truth;
    } all[] = { { "P(rain=yes | rain[-1]=no)", 0.1 },
                { "P(rain=yes | rain[-1]=yes)", 0.8 },
                { "P(umbrella=yes | rain=no)", 0.25 },
                { "P(umbrella=yes | rain=yes)", 0.95 } };
    size_t size = simulation_size(100, 10), within = 0;
    for (size_t k = 0; k < size; k++) {
        json_t *d = describe(cx, fit(cx, "dbn", draw_days(cx, 100 + k, 400, 0.7),
                                     "sequence=town restarts=1 prior=0.5 network=" UMBRELLA));
        for (size_t i = 0; i < 4; i++)
            within += parameter(d, all[i].name, "lower") <= all[i].truth &&
                      parameter(d, all[i].name, "upper") >= all[i].truth;
    }
    double share = (double)within / (4 * (double)size);
    if (!(share > (size < 100 ? 0.8 : 0.9) && share <= (size < 100 ? 1 : 0.985)))
        fail_msg("%g", share);
}

/* A ridge: nothing tells which state is which where the given tables do not, and nothing is said that is wrong. */
TEST(no_mode_no_curvature)
{
    cr_model *m = fit(cx, "dbn", table_of_text(cx, "a.csv", "umbrella\nno\nyes\nyes\n"),
                      "prior=0 restarts=1 network=" UMBRELLA);
    json_t   *d = describe(cx, m);
    assert_non_null(json_object_get(json_object_get(d, "statistics"), "standard_errors"));
}

/* --- draws ------------------------------------------------------------------------------------ */

TEST(draws_follow_the_tables)
{
    enum { N = 40000 };
    static double out[2 * N], less[2 * 100];
    cr_model *m = fit(cx, "dbn", draw_days(cx, 3, 2000, 0.3), "sequence=town network=" UMBRELLA);
    json_t   *d = describe(cx, m);
    double    after[2][2] = { { 0 } }, brings[2][2] = { { 0 } };
    assert_ok(cx, cr_sample(cx, m, N, 5, out));
    assert_ok(cx, cr_sample(cx, m, 100, 5, less));
    assert_memory_equal(out, less, sizeof less);
    for (size_t t = 0; t < N; t++) {
        if (t > 0) after[(int)out[2 * t - 2]][(int)out[2 * t]]++;
        brings[(int)out[2 * t]][(int)out[2 * t + 1]]++;
    }
    const double p[] = { parameter(d, "P(rain=yes | rain[-1]=no)", "value"),
                         parameter(d, "P(rain=yes | rain[-1]=yes)", "value"),
                         parameter(d, "P(umbrella=yes | rain=no)", "value"),
                         parameter(d, "P(umbrella=yes | rain=yes)", "value") };
    for (size_t i = 0; i < 4; i++) {
        double *n = i < 2 ? after[i] : brings[i - 2], all = n[0] + n[1];
        assert_true(fabs(n[1] / all - p[i]) < 4.5 * sqrt(p[i] * (1 - p[i]) / all));
    }
}

/* A state that the rows do not show is drawn all the same; a column that is a number has numbers; a hidden variable none,
 * and neither has a column that is no variable. */
TEST(draws_of_any_columns)
{
    static double out[3 * 200];
    bool          seen[2] = { false, false };
    cr_model     *m = fit(cx, "dbn", table_of_text(cx, "a.csv", "umbrella,x\nno,1\nno,2\nno,1\n"),
                          "network=" UMBRELLA);
    const cr_design *d = m->design;
    assert_ok(cx, cr_sample(cx, m, 200, 1, out));
    assert_int_equal(d->columns[0].n_levels, 2);
    for (size_t t = 0; t < 200; t++) {
        seen[(int)out[2 * t]] = true;
        assert_true(isnan(out[2 * t + 1]));
    }
    assert_true(seen[0] && seen[1]);
    m = fit(cx, "dbn", table_of_text(cx, "a.csv", "b,c\n2,0\n1,1\n0,1\n"), "network=" CRANE);
    assert_ok(cx, cr_sample(cx, m, 200, 1, out));
    for (size_t t = 0; t < 200; t++) assert_true(out[2 * t] >= 0 && out[2 * t] <= 2);
}

TEST(allocations_of_updates_and_draws)
{
    cr_table *t = table_of_text(cx, "a.csv", early);
    check_every_allocation_with_update(
        t, "dbn", "features=rain,umbrella restarts=2 max_iter=3 network=" UMBRELLA);
    check_every_allocation(table_of_text(cx, "b.csv", "s,umbrella\n1,no\n1,\n1,yes\n2,yes\n"),
                           "dbn", "sequence=s restarts=1 max_iter=200 network=" UMBRELLA);
}
