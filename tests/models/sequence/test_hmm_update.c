/* test_hmm_update.c -- hidden Markov models that take rows which come later. Where the states are known an update is the
 * fit to all rows; where the parameters are, the likelihood and the ends are; else a step is compared with sums over all
 * paths. */
#include "../life.h"
#include "hmm_fixture.h"

#include "data/table/subset.h"
#include "math/special/special.h"

static cr_model *updated(cr_ctx *cx, const cr_model *m, const cr_table *t)
{
    cr_model *next = NULL;
    assert_ok(cx, cr_update(cx, m, t, &next));
    test_own(cx, next, release_model);
    describe(cx, next);
    return next;
}

static void assert_not_updated(cr_ctx *cx, const cr_model *m, const cr_table *t,
                               const char *sentence)
{
    cr_model *next = NULL;
    cr_status st = cr_update(cx, m, t, &next);
    if (st == CR_OK || !strstr(cr_error(cx), sentence))
        fail_msg("%s", st == CR_OK ? "is taken" : cr_error(cx));
    assert_null(next);
}

/* Every parameter of b is that of a. */
static void compare_parameters(cr_ctx *cx, const cr_model *a, const cr_model *b, double tolerance,
                               const char *names)
{
    json_t *d = describe(cx, a), *e = describe(cx, b), *row;
    size_t  i, compared = 0;
    json_array_foreach(json_object_get(d, "parameters"), i, row)
    {
        const char *name = json_string_value(json_object_get(row, "name"));
        double      x = value_of(d, name), y = value_of(e, name);
        if (names && !strchr(names, name[0])) continue;
        if (!(fabs(x - y) <= tolerance * (1 + fabs(x)))) fail_msg("%s: %.12g, %.12g", name, x, y);
        compared++;
    }
    assert_true(compared > 3);
}

/* --- known states ---------------------------------------------------------------------------- */

#define HEAD "s,t,z,x,y,count,answer,colour,wait,angle\n"
#define FIRST                                                                                      \
    "a,1,1,0.3,1.0,2,true,red,0.5,0.1\n"                                                           \
    "b,1,2,5.1,7.5,9,false,blue,2.5,2.9\n"                                                         \
    "a,2,1,0.9,,1,true,red,0.9,0.4\n"                                                              \
    "a,3,2,4.2,6.1,7,,blue,3.1,-2.8\n"                                                             \
    "b,2,2,6.0,7.9,,false,blue,1.9,3.0\n"                                                          \
    "b,3,1,-0.4,0.2,0,true,green,0.2,-0.6\n"
#define THEN                                                                                       \
    "b,4,1,0.2,0.9,3,true,red,0.4,0.3\n"                                                           \
    "c,1,2,4.9,6.8,8,false,blue,2.2,2.6\n"                                                         \
    "c,2,1,,1.4,,true,red,0.8,0.9\n"
#define LAST                                                                                       \
    "a,4,2,3.9,,11,false,blue,2.9,2.2\n"                                                           \
    "c,3,1,0.1,0.1,1,true,red,0.3,0.2\n"                                                           \
    "a,5,2,5.5,7.0,10,false,blue,4.1,-2.9\n"                                                       \
    "d,1,1,1.1,0.6,2,true,red,0.6,0.0\n"

TEST(known_states_as_a_fit)
{
    static const char *const kinds[] = {
        "features=x,y,colour,answer covariance=diag",
        "features=x,count,colour,answer covariance=tied emission=auto,count=poisson",
        "features=wait,angle,count emission=gamma,angle=von-mises,count=poisson",
        "features=wait,x emission=lognormal,x=gaussian",
    };
    cr_table *all = table_of_text(cx, "all.csv", HEAD FIRST THEN LAST),
             *first = table_of_text(cx, "first.csv", HEAD FIRST),
             *then = table_of_text(cx, "then.csv", HEAD THEN),
             *last = table_of_text(cx, "last.csv", HEAD LAST);
    for (size_t i = 0; i < 4; i++) {
        char settings[256];
        snprintf(settings, sizeof settings,
                 "%s sequence=s time=t state=z states=2 prior_rows=0 prior_transitions=0 "
                 "least_spread=0 tol=1e-13",
                 kinds[i]);
        cr_model *m = updated(cx, updated(cx, fit(cx, "hmm", first, settings), then), last);
        cr_model *whole = fit(cx, "hmm", all, settings);
        compare_parameters(cx, whole, m, 1e-9, NULL);
        assert_int_equal(state_of(m)->sequences, 4);
        assert_true(state_of(m)->weight == 13);
        for (size_t c = 0; c < 2; c++)
            assert_close(state_of(m)->share[c], state_of(whole)->share[c], 1e-12);
        cr_forecast a = { 0 }, b = { 0 };
        assert_ok(cx, cr_forecast_rows(cx, whole, NULL, 3, &a));
        assert_ok(cx, cr_forecast_rows(cx, m, NULL, 3, &b));
        assert_int_equal(a.n, 4);
        for (size_t s = 0; s < 4; s++) assert_string_equal(a.names[s], b.names[s]);
        for (size_t j = 0; j < 4 * 3 * 2; j++) assert_close(a.p.prob[j], b.p.prob[j], 1e-9);
        cr_forecast_free(cx, &a), cr_forecast_free(cx, &b);
    }
    /* two columns that are normal together, without gaps */
    static const char together[] = "features=x,wait sequence=s time=t state=z states=2 "
                                   "prior_rows=0 prior_transitions=0 least_spread=0 tol=1e-13";
    all = table_of_text(cx, "all.csv", HEAD FIRST LAST);
    cr_model *m = updated(cx, fit(cx, "hmm", first, together), last);
    compare_parameters(cx, fit(cx, "hmm", all, together), m, 1e-9, NULL);
}

/* Those of a posterior whose prior is not by the scale of the rows. */
TEST(known_states_as_a_posterior)
{
    static const char settings[] =
        "features=x,y,colour,answer sequence=s time=t state=z states=2 infer=vb alpha=0.5";
    cr_model *m = fit(cx, "hmm", table_of_text(cx, "first.csv", HEAD FIRST), settings);
    cr_model *whole = fit(cx, "hmm", table_of_text(cx, "all.csv", HEAD FIRST THEN LAST), settings);
    m = updated(cx, m, table_of_text(cx, "more.csv", HEAD THEN LAST));
    compare_parameters(cx, whole, m, 1e-9, "AB");
    const cri_hmm *h = state_of(m);
    assert_true(isfinite(m->report.log_evidence) && isnan(m->report.log_likelihood));
    assert_non_null(h->predictive);
    json_t *d = describe(cx, m), *e = describe(cx, whole);
    assert_close(number_at(d, "A[1,2]", "upper"), number_at(e, "A[1,2]", "upper"), 1e-9);
    assert_close(number_at(d, "B[2,blue]", "sd"), number_at(e, "B[2,blue]", "sd"), 1e-9);
}

/* Where states are known the bound is the evidence: that of a fit to all rows. */
TEST(bound_of_known_states)
{
    static const char settings[] =
        "features=colour,answer sequence=s time=t state=z states=2 infer=vb alpha=0.5";
    cr_model *m = fit(cx, "hmm", table_of_text(cx, "first.csv", HEAD FIRST), settings);
    cr_model *whole = fit(cx, "hmm", table_of_text(cx, "all.csv", HEAD FIRST THEN LAST), settings);
    m = updated(cx, m, table_of_text(cx, "then.csv", HEAD THEN));
    m = updated(cx, m, table_of_text(cx, "last.csv", HEAD LAST));
    assert_close(m->report.log_evidence, whole->report.log_evidence, 1e-12);
    assert_int_equal(m->report.evidence, CR_EVIDENCE_BOUND);
    assert_close(state_of(m)->tried_likelihood[0], m->report.log_evidence, 0);
}

/* With one state it grows by the log predictive density of the row that comes. */
TEST(bound_row_by_row)
{
    static const char *const settings[] = {
        "features=x,y,count,answer,colour sequence=s time=t states=1 infer=vb "
        "emission=auto,count=poisson",
        "features=x,wait sequence=s time=t states=1 infer=vb emission=gaussian,wait=lognormal "
        "covariance=diag",
        "features=x,y sequence=s time=t states=1 infer=vb covariance=tied",
    };
    static const char *const rows[] = { "a,4,1,0.3,4.1,2,true,red,0.7,0\n",
                                        "c,2,1,7,-3,30,false,blue,3,0\n",
                                        "c,3,1,0.1,9,0,true,green,0.1,0\n" };
    static const char        first[] = HEAD "a,1,1,0.3,1.0,2,true,red,0.5,0.1\n"
                                            "b,1,2,5.1,7.5,9,false,blue,2.5,2.9\n"
                                            "a,2,1,0.9,1.1,1,true,green,0.9,0.4\n"
                                            "a,3,2,4.2,6.1,7,false,red,3.1,-2.8\n";
    for (size_t i = 0; i < 3; i++) {
        cr_model *m = fit(cx, "hmm", table_of_text(cx, "first.csv", first), settings[i]);
        for (size_t k = 0; k < 3; k++) {
            char text[400];
            snprintf(text, sizeof text, "%s%s", HEAD, rows[k]);
            cr_table *t = table_of_text(cx, "row.csv", text);
            double    log_p = predict(cx, m, t).log_density[0], before = m->report.log_evidence;
            m = updated(cx, m, t);
            assert_close(m->report.log_evidence, before + log_p, 1e-9);
        }
    }
}

/* Said once for each doubling of the rows. */
TEST(states_found_from_few_rows)
{
    cr_model *m = fit(cx, "hmm", table_of_text(cx, "first.csv", HEAD FIRST),
                      "features=x,y sequence=s states=2 restarts=2"),
             *next = NULL;
    const char *more = HEAD LAST; /* 4 rows to 6, then to 10 and 14 */
    for (size_t k = 0; k < 4; k++) {
        warnings heard = { { 0 }, 0 };
        cr_ctx_set_log(cx, keep_warning, &heard);
        next = updated(cx, m, table_of_text(cx, "last.csv", more));
        cr_ctx_set_log(cx, NULL, NULL);
        assert_int_equal(strstr(heard.text, "were found from 6 rows") != NULL, k == 1);
        m = next;
    }
}

/* --- known parameters ------------------------------------------------------------------------ */

TEST(known_parameters_go_on)
{
    static const char settings[] =
        "features=count emission=poisson sequence=s time=t max_iter=0 "
        "start={\"pi\":[0.7,0.3],\"A\":[[0.8,0.2],[0.4,0.6]],\"rate\":[2,6]}";
    cr_table *all = table_of_text(cx, "all.csv", HEAD FIRST THEN LAST);
    cr_model *m = fit(cx, "hmm", table_of_text(cx, "first.csv", HEAD FIRST), settings);
    m = updated(cx, m, table_of_text(cx, "then.csv", HEAD THEN));
    m = updated(cx, m, table_of_text(cx, "last.csv", HEAD LAST));
    cr_model *whole = fit(cx, "hmm", all, settings);
    compare_parameters(cx, whole, m, 1e-14, NULL);
    assert_close(m->report.log_likelihood, whole->report.log_likelihood, 1e-12);
    const cri_hmm *h = state_of(m), *w = state_of(whole);
    assert_int_equal(h->sequences, 4);
    for (size_t i = 0; i < 4 * h->place; i++) assert_close(h->ends[i], w->ends[i], 1e-12);
}

/* --- a step ---------------------------------------------------------------------------------- */

/* The rows that are new are expected by all their paths; one M-step follows. */
TEST(one_step_by_paths)
{
    enum { N = 5, K = 2 };
    const size_t symbol[N] = { 1, 0, 1, 1, 0 };
    cr_table    *first = table_of_text(cx, "first.csv", "c\na\na\nb\na\nb\nb\nb\na\na\n");
    cr_table    *more = table_of_text(cx, "more.csv", "c\nb\na\nb\nb\na\n");
    const char  *settings[] = {
         "states=2 restarts=1 max_iter=2 prior_rows=0.3 prior_transitions=0.2",
         "states=2 restarts=1 max_iter=2 infer=vb alpha=0.6"
    };
    for (size_t which = 0; which < 2; which++) {
        cr_model      *a = fit(cx, "hmm", first, settings[which]), *b = updated(cx, a, more);
        const cri_hmm *m = state_of(a), *next = state_of(b);
        double         A[K][K], level[2][K], pairs[K][K], counts[2][K] = { { 0 } }, total = 0;
        cri_hmm_sums   old = cri_hmm_sums_at(m, m->sums);
        for (size_t i = 0; i < K; i++)
            for (size_t j = 0; j < K; j++) {
                double all = which ? m->leaving[i] + 1.2 : 1, of = m->A[i * K + j];
                double rows = which ? m->seen[i] + 2 : 1, b_ij = m->level[j * K + i];
                A[i][j] = which ? exp(cr_digamma(all * of) - cr_digamma(all)) : of;
                level[j][i] = which ? exp(cr_digamma(rows * b_ij) - cr_digamma(rows)) : b_ij;
                pairs[i][j] = 0;
            }
        for (int pass = 0; pass < 2; pass++)
            for (size_t path = 0; path < 1 << (N + 1); path++) {
                double p = m->ends[1 + path % K];
                for (size_t t = 0; t < N; t++)
                    p *= A[path >> t & 1][path >> (t + 1) & 1] *
                         level[symbol[t]][path >> (t + 1) & 1];
                if (pass == 0) total += p;
                for (size_t t = 0; t < N && pass == 1; t++) {
                    pairs[path >> t & 1][path >> (t + 1) & 1] += p / total;
                    counts[symbol[t]][path >> (t + 1) & 1] += p / total;
                }
            }
        assert_close(next->em.trace[0], log(total), 1e-12);
        for (size_t i = 0; i < K; i++) {
            double leave = 0, rows = 0, s = which ? 0.6 : 0.1;
            for (size_t j = 0; j < K; j++)
                leave += old.pairs[i * K + j] + pairs[i][j] + s,
                    rows +=
                    old.levels[j * K + i] + counts[j][i] + (which ? 1 : 0.3 * m->overall_level[j]);
            for (size_t j = 0; j < K; j++) {
                double prior = which ? 1 : 0.3 * m->overall_level[j];
                assert_close(next->A[i * K + j], (old.pairs[i * K + j] + pairs[i][j] + s) / leave,
                             1e-12);
                assert_close(next->level[j * K + i],
                             (old.levels[j * K + i] + counts[j][i] + prior) / rows, 1e-12);
            }
        }
    }
}

/* What is expected of old rows stays as it was, about the new mean; E[log u] counts in full, with what the sums leave
 * to the degrees of freedom. */
TEST(statistics_of_weights)
{
    const double fresh[] = { 2.5, -3.1, 9.7, 1.2 };
    cr_table    *first = table_of_text(cx, "a.csv", "x\n1.1\n-0.3\n7.5\n0.8\n-1.9\n0.2\n1.4\n"),
             *then = table_of_text(cx, "b.csv", "x\n2.5\n-3.1\n9.7\n1.2\n");
    cr_model      *a = fit(cx, "hmm", first, "emission=student-t states=1 max_iter=6");
    const cri_hmm *old = state_of(a), *m = state_of(updated(cx, a, then));
    double         nu = m->tail[0], step = m->mean[0] - old->mean[0], sums[5], log_u[2];
    assert_true(fabs(nu - old->tail[0]) > 0.05 && fabs(step) > 0.01);
    memcpy(sums, cri_hmm_sums_at(old, old->sums).columns, sizeof sums);
    for (size_t i = 0; i < 2; i++) {
        double half = ((i ? nu : old->tail[0]) + 1) / 2;
        log_u[i] = cr_digamma(half) - log(half);
    }
    double squares = sums[3] - 2 * step * sums[2] + step * step * sums[1];
    sums[2] -= step * sums[1], sums[3] = squares;
    sums[4] += sums[0] * (log_u[0] - log_u[1]);
    for (size_t i = 0; i < 4; i++) {
        double d = (fresh[i] - m->centre[0]) / m->scale[0] - m->mean[0], z = d / m->spread[0];
        double u = (nu + 1) / (nu + z * z), add[] = { 1, u, u * d, u * d * d, log(u) - u };
        for (size_t j = 0; j < 5; j++) sums[j] += add[j];
    }
    for (size_t j = 0; j < 5; j++)
        assert_close(cri_hmm_sums_at(m, m->sums).columns[j], sums[j], 1e-10);
}

/* A few more rows of the same move the parameters little, and near those of a fit to all rows. */
TEST(near_a_fit_to_all_rows)
{
    enum { FIRST_ROWS = 1200 };
    static const char settings[] =
        "features=x0,x1 states=3 restarts=3 emission=student-t,x0=gaussian";
    cr_table *all = read_table(cx, test_data("classic/hmm/gauss3.csv")), *part[2] = { 0 };
    size_t    n = cr_table_rows(all), *rows = calloc(n, sizeof *rows);
    for (size_t i = 0; i < n; i++) rows[i] = i;
    assert_ok(cx, cri_table_subset(cx, all, rows, FIRST_ROWS, &part[0]));
    test_own(cx, part[0], release_table);
    assert_ok(cx, cri_table_subset(cx, all, rows + FIRST_ROWS, n - FIRST_ROWS, &part[1]));
    test_own(cx, part[1], release_table);
    free(rows);
    cr_model *m = updated(cx, fit(cx, "hmm", part[0], settings), part[1]);
    cr_model *whole = fit(cx, "hmm", all, settings);
    compare_parameters(cx, whole, m, 0.02, "AmlS");
    assert_true(whole->report.log_likelihood - m->report.log_likelihood < 5);
    for (size_t c = 0; c < 3; c++)
        assert_true(fabs(state_of(m)->share[c] - state_of(whole)->share[c]) < 0.01);
}

/* --- corners --------------------------------------------------------------------------------- */

TEST(rows_that_say_nothing)
{
    cr_table *first = table_of_text(cx, "first.csv", HEAD FIRST);
    cr_model *m = fit(cx, "hmm", first, "features=x,y sequence=s states=2 restarts=2");
    cr_model *next = updated(cx, m, table_of_text(cx, "d.csv", HEAD "a,4,,,,,,,,\n"));
    assert_true(state_of(next)->weight == 7);
    for (size_t i = 0; i < 4; i++) assert_true(isfinite(state_of(next)->covariance[i]));
    /* far from all that was seen */
    next = updated(cx, m, table_of_text(cx, "d.csv", HEAD "e,1,,1e6,-1e6,,,,,\n"));
    for (size_t i = 0; i < 8; i++) assert_true(isfinite(state_of(next)->covariance[i]));
}

TEST(updates_that_are_refused)
{
    cr_model *old = NULL, *m;
    cr_table *t = read_table(cx, test_data("golden/d.csv"));
    assert_ok(cx, cr_model_load(cx, test_data("golden/hmm-1.cred"), &old));
    test_own(cx, old, release_model);
    assert_not_updated(cx, old, t, "stored without the statistics");
    cr_table *first = table_of_text(cx, "first.csv", HEAD FIRST);
    m = fit(cx, "hmm", first,
            "features=colour sequence=s state=z states=2 prior_rows=0 prior_transitions=0");
    assert_not_updated(cx, m, table_of_text(cx, "d.csv", HEAD "a,4,2,,,,,green,,\n"),
                       "have probability 0");
    assert_not_updated(cx, m, table_of_text(cx, "d.csv", HEAD "a,4,3,,,,,red,,\n"), "a state 3");
}

TEST(update_on_threads)
{
    enum { N = 3000 };
    static double     x[N], s[N];
    static const char settings[] = "features=x sequence=s states=2 restarts=1 infer=";
    cr_rng            r = cr_rng_stream(4, 4);
    double            first[2][2];
    for (size_t i = 0; i < N; i++) {
        s[i] = (double)(cr_rng_below(&r, 900) * cr_rng_below(&r, 3));
        x[i] = cr_rng_normal(&r) + (i / 40 % 2 ? 3 : 0);
    }
    for (size_t threads = 1; threads <= 4; threads += 3)
        for (size_t vb = 0; vb < 2; vb++) {
            char      text[96];
            cr_ctx   *own = test_context();
            cr_table *t = make_table(own, NULL, N, 0, NULL, NULL);
            snprintf(text, sizeof text, "%s%s", settings, vb ? "vb" : "em");
            assert_ok(own, cr_table_add_numbers(own, t, "x", CR_REAL, x, 1));
            assert_ok(own, cr_table_add_numbers(own, t, "s", CR_REAL, s, 1));
            cr_ctx_set_threads(own, threads);
            first[threads > 1][vb] =
                state_of(updated(own, fit(own, "hmm", t, text), t))->em.objective;
            test_context_free(own);
        }
    assert_memory_equal(first[0], first[1], sizeof first[0]);
}

TEST(allocations_of_updates)
{
    cr_table *t = table_of_text(cx, "first.csv", HEAD FIRST);
    check_every_allocation_with_update(t, "hmm",
                                       "features=x,y,colour sequence=s states=2 restarts=1");
    check_every_allocation_with_update(
        t, "hmm", "features=x,wait,answer states=1:2 restarts=1 infer=vb max_iter=3");
    check_every_allocation_with_update(
        t, "hmm",
        "features=x restarts=1 max_iter=3 transitions={\"tie\":[[\"s\",\"\"],[\"\",\"s\"]]}");
}
