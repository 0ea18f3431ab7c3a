/* test_hmm_ties.c -- transitions that are tied: the M-step against closed forms, searches in one and two dimensions and other feasible points, fits
 * against all paths, what is counted as free, standard errors, and what is refused. */
#include "hmm_fixture.h"

#include "models/sequence/hmm_ties.h"

static void unfit(cr_ctx *cx, const cr_table *t, const char *settings, const char *sentence)
{
    cr_model *m = NULL;
    cr_status st = try_fit(cx, "hmm", t, settings, &m);
    if (st == CR_OK || !strstr(cr_error(cx), sentence))
        fail_msg("%s: %s", settings, st == CR_OK ? "is taken" : cr_error(cx));
    assert_null(m);
}

/* --- the M-step ------------------------------------------------------------------------------ */

/* A chain of k states that is drawn from A, and known: column z, with a column c that says nothing. */
static cr_table *known_chain(cr_ctx *cx, const double *A, size_t k, size_t n, double *count)
{
    enum { MOST = 1000 };
    static double z[MOST], c[MOST];
    assert_true(n <= MOST);
    cr_rng r = cr_rng_stream(11, k);
    size_t state = 0;
    memset(count, 0, k * k * sizeof *count);
    for (size_t i = 0; i < n; i++) {
        size_t before = state;
        if (i > 0) state = cr_rng_categorical(&r, A + state * k, k);
        if (i > 0) count[before * k + state]++;
        z[i] = 1 + (double)state, c[i] = (double)(i % 2);
    }
    cr_table *t = make_table(cx, NULL, n, 0, NULL, NULL);
    assert_ok(cx, cr_table_add_numbers(cx, t, "z", CR_REAL, z, 1));
    assert_ok(cx, cr_table_add_numbers(cx, t, "c", CR_REAL, c, 1));
    return t;
}

static const double drawn_from[9] = { 0.5, 0.3, 0.2, 0.1, 0.7, 0.2, 0.3, 0.1, 0.6 };

static const cri_hmm *fit_known(cr_ctx *cx, const cr_table *t, const char *tie)
{
    char settings[512];
    snprintf(settings, sizeof settings,
             "features=c emission=bernoulli state=z states=3 restarts=1 prior_transitions=1e-9 "
             "transitions={\"tie\":%s}",
             tie);
    return state_of(rising(cx, t, settings));
}

/* Where states are known the transitions are shares of pooled counts. */
TEST(pooled_counts)
{
    double         n[9], rows[3] = { 0 }, all = 0, stay, cycle[3] = { 0 };
    cr_table      *t = known_chain(cx, drawn_from, 3, 300, n);
    const cri_hmm *h = fit_known(cx, t, "[[\"s\",\"\",\"\"],[\"\",\"s\",\"\"],[null,null,\"s\"]]");
    for (size_t e = 0; e < 9; e++) rows[e / 3] += n[e], all += n[e];
    for (size_t e = 0; e < 9; e++) cycle[(e % 3 + 3 - e / 3) % 3] += n[e];
    stay = (n[0] + n[4] + n[8]) / all;
    for (size_t e = 0; e < 9; e++) {
        double other = n[e] / (rows[e / 3] - n[e / 3 * 4]) * (1 - stay);
        assert_close(h->A[e], e % 4 == 0 ? stay : other, 1e-10);
    }
    assert_close(cri_hmm_parameters(h), 2 + 4 + 3, 0);
    h = fit_known(cx, t, "[[\"a\",\"b\",\"c\"],[\"c\",\"a\",\"b\"],[\"b\",\"c\",\"a\"]]");
    for (size_t e = 0; e < 9; e++)
        assert_close(h->A[e], cycle[(e % 3 + 3 - e / 3) % 3] / all, 1e-10);
    assert_close(cri_hmm_parameters(h), 2 + 2 + 3, 0);
    h = fit_known(cx, t, "[[\"\",\"\",\"\"],[\"a\",\"b\",\"c\"],[\"a\",\"b\",\"c\"]]");
    for (size_t j = 0; j < 3; j++) {
        assert_close(h->A[j], n[j] / rows[0], 1e-10);
        assert_close(h->A[3 + j], (n[3 + j] + n[6 + j]) / (rows[1] + rows[2]), 1e-10);
        assert_true(h->A[3 + j] == h->A[6 + j]);
    }
    assert_close(cri_hmm_parameters(h), 2 + 4 + 3, 0);
    h = fit_known(cx, t, "[[\"a\",\"a\",\"a\"],[\"b\",\"b\",\"c\"],[\"\",\"\",\"\"]]");
    assert_close(h->A[1], 1.0 / 3, 1e-12);
    assert_close(h->A[3], (n[3] + n[4]) / rows[1] / 2, 1e-10);
    assert_close(cri_hmm_parameters(h), 2 + 3 + 3, 0);
}

/* The objective of two names: rows (a, b, free), (b, b, free), (a, free, free). */
static double of_names(const double *n, double a, double b)
{
    double s[3] = { 1 - a - b, 1 - 2 * b, 1 - a };
    if (!(a > 0 && b > 0 && s[0] > 0 && s[1] > 0 && s[2] > 0)) return -INFINITY;
    return (n[0] + n[6]) * log(a) + (n[1] + n[3] + n[4]) * log(b) + n[2] * log(s[0]) +
           n[5] * log(s[1]) + (n[7] + n[8]) * log(s[2]);
}

/* Where names stand twice in a row, and rows differ in what they have beside: a search on finer and finer grids. */
TEST(names_by_search)
{
    double         n[9], a = 0.5, b = 0.25, width = 0.5;
    cr_table      *t = known_chain(cx, drawn_from, 3, 300, n);
    const cri_hmm *h =
        fit_known(cx, t, "[[\"a\",\"b\",\"\"],[\"b\",\"b\",\"\"],[\"a\",\"\",\"\"]]");
    for (int level = 0; level < 60; level++, width *= 0.7) {
        double best = of_names(n, a, b), from_a = a, from_b = b;
        for (int i = -10; i <= 10; i++)
            for (int j = -10; j <= 10; j++) {
                double x = from_a + i * width / 10, y = from_b + j * width / 10;
                double f = of_names(n, x, y);
                if (f > best) best = f, a = x, b = y;
            }
    }
    assert_close(h->A[0], a, 1e-6);
    assert_close(h->A[1], b, 1e-6);
    assert_true(h->A[0] == h->A[6] && h->A[1] == h->A[3] && h->A[1] == h->A[4]);
    assert_close(h->A[8] / h->A[7], n[8] / n[7], 1e-9);
    assert_close(of_names(n, h->A[0], h->A[1]), of_names(n, a, b), 1e-9);
    assert_close(cri_hmm_parameters(h), 2 + 3 + 3, 0); /* six numbers less three sums */
}

/* Any ties and counts of any size: rows sum to one, and no other A that the ties allow is better: as the objective is
 * concave, sum_ij c_ij B_ij / A_ij is at most sum_ij c_ij for all such B. */
TEST(no_other_is_better)
{
    enum { K = 4, KK = K * K };
    double   A[KK], B[KK], c[KK], other[KK], may_go[KK], work[5 * K * (K + 1)];
    uint32_t tie[KK];
    cri_hmm  m = { .k = K, .ties = K, .tie = tie, .may_go = may_go, .A = A };
    size_t   solved = 0;
    cr_rng   r = cr_rng_stream(3, 3);
    for (size_t trial = 0; trial < 600; trial++) {
        size_t names = 1 + cr_rng_below(&r, 6);
        double total = 0, gain = 0, low = 1, free[KK];
        for (size_t e = 0; e < KK; e++) {
            may_go[e] = e % (K + 1) == 0 || trial % 2 == 0 || cr_rng_uniform(&r) < 0.7;
            tie[e] = cr_rng_uniform(&r) < 0.5 ? 0 : 1 + (uint32_t)cr_rng_below(&r, names);
            c[e] = exp(20 * cr_rng_uniform(&r) - 10), other[e] = exp(2 * cr_rng_normal(&r));
            total += may_go[e] * c[e];
        }
        if (!cri_hmm_solve_ties(&m, other, B, work)) continue; /* there is none */
        for (size_t e = 0; e < KK; e++) low = may_go[e] > 0 ? fmin(low, B[e]) : low;
        if (low < 1e-6) continue;
        if (!cri_hmm_solve_ties(&m, c, A, work)) fail_msg("trial %zu has no end", trial);
        solved++;
        for (size_t i = 0; i < K; i++) {
            double sum = 0;
            for (size_t j = 0; j < K; j++) sum += A[i * K + j];
            assert_close(sum, 1, 1e-9);
        }
        for (size_t e = 0; e < KK; e++) {
            if (may_go[e] > 0) gain += c[e] * (B[e] / A[e] - 1);
            for (size_t f = 0; f < e; f++)
                assert_true(tie[e] == 0 || tie[e] != tie[f] || A[e] == A[f] ||
                            may_go[e] != may_go[f]);
        }
        if (!(gain < 1e-6 * total)) fail_msg("trial %zu: another is better by %g", trial, gain);
        size_t marked = 0, all = cri_hmm_ties_free(&m, free, work);
        for (size_t e = 0; e < KK; e++) marked += free[e] > 0;
        assert_close((double)marked, (double)all, 0);
    }
    assert_true(solved > 400);
}

/* --- fits ------------------------------------------------------------------------------------ */

enum { STEPS = 10 };
static const size_t symbols[STEPS] = { 0, 0, 0, 1, 1, 0, 1, 1, 1, 0 };

/* log p of the symbols by all paths, and the prior, for s = A[1,1] = A[2,2], pi[1], B[1,a], B[2,a]. */
static double by_paths(const double *v, double prior)
{
    double pi[2] = { v[1], 1 - v[1] }, A[4] = { v[0], 1 - v[0], 1 - v[0], v[0] }, b[2 * STEPS];
    for (size_t i = 0; i < 4; i++)
        if (!(v[i] > 0 && v[i] < 1)) return -INFINITY;
    for (size_t t = 0; t < STEPS; t++)
        for (size_t c = 0; c < 2; c++) b[2 * t + c] = log(symbols[t] ? 1 - v[2 + c] : v[2 + c]);
    double pairs = 2 * (log(v[0]) + log(1 - v[0])) + log(pi[0]) + log(pi[1]);
    return log_by_paths(pi, A, b, STEPS, 2) + prior / 2 * pairs;
}

/* The end of EM is a maximum among all with these ties: a search around it by all paths finds nothing higher, and from
 * anywhere else ends no higher. */
TEST(symmetric_by_paths)
{
    cr_table      *t = table_of_text(cx, "data.csv", "c\na\na\na\nb\nb\na\nb\nb\nb\na\n");
    cr_model      *m = rising(cx, t,
                              "features=c prior_rows=0 prior_transitions=0.5 tol=1e-14 restarts=10 "
                                   "transitions={\"tie\":[[\"s\",\"m\"],[\"m\",\"s\"]]}");
    const cri_hmm *h = state_of(m);
    double         found[4] = { h->A[0], h->pi[0], h->level[0], h->level[1] };
    double         top = by_paths(found, 0.5);
    cr_rng         r = cr_rng_stream(8, 8);
    assert_close(m->report.log_likelihood + cri_hmm_log_prior(h), top, 1e-9);
    for (int start = 0; start < 5; start++) {
        double v[4], now, width = 0.3;
        for (size_t i = 0; i < 4; i++) v[i] = start == 0 ? found[i] : cr_rng_uniform(&r);
        now = by_paths(v, 0.5);
        for (int i = 0; i < 3000; i++, width = fmax(width * 0.99, 1e-9)) {
            double w[4], f;
            for (size_t a = 0; a < 4; a++) w[a] = v[a] + width * cr_rng_normal(&r);
            if ((f = by_paths(w, 0.5)) > now) now = f, memcpy(v, w, sizeof v);
        }
        if (!(now < top + 1e-7)) fail_msg("a search ends %g higher", now - top);
    }
}

/* A symmetric chain is recovered, with fewer free parameters and a lower BIC than without ties; the errors hold. */
TEST(symmetric_is_recovered)
{
    enum { N = 3000 };
    static double x[N];
    cr_table     *t = table_of_text(cx, "data.csv", "x\n1\n0\n2\n");
    cr_model     *m = fit(cx, "hmm", t,
                          "max_iter=0 start={\"pi\":[1,0,0],\"A\":[[0.8,0.1,0.1],[0.1,0.8,0.1],"
                              "[0.1,0.1,0.8]],\"mean\":[0,3,6],\"sd\":[1,1,1]}");
    assert_ok(cx, m->class->rows->sample(cx, m->state, m->design, NULL, N, 4, x));
    t = make_table(cx, NULL, N, 0, NULL, NULL);
    assert_ok(cx, cr_table_add_numbers(cx, t, "x", CR_REAL, x, 1));
    json_t *plain = describe(cx, rising(cx, t, "states=3 restarts=3"));
    m = rising(cx, t,
               "restarts=3 transitions={\"tie\":[[\"s\",\"m\",\"m\"],[\"m\",\"s\",\"m\"],[\"m\","
               "\"m\",\"s\"]]}");
    json_t *d = describe(cx, m);
    double  sd = number_at(d, "A[1,1]", "sd");
    assert_close(state_of(m)->A[0], 0.8, 4 * sd);
    assert_true(sd > 0.005 && sd < 0.012); /* sqrt(s (1 - s) / n) is 0.0073 */
    assert_close(number_at(d, "A[2,3]", "sd"), sd / 2, 1e-4);
    assert_true(number_at(plain, "A[1,1]", "sd") > 1.4 * sd);
    assert_close(statistic(plain, "parameters") - statistic(d, "parameters"), 5, 0);
    assert_true(statistic(d, "bic") < statistic(plain, "bic"));
}

/* Standard errors where the states are known are those of pooled counts. */
TEST(errors_of_pooled_counts)
{
    double    n[9], all = 0;
    cr_table *t = known_chain(cx, drawn_from, 3, 400, n);
    json_t   *d = describe(
          cx,
          rising(cx, t,
                 "features=c emission=bernoulli state=z states=3 restarts=1 "
                   "prior_transitions=1e-4 transitions={\"tie\":[[\"s\",\"\",\"\"],[\"\",\"s\",\"\"],"
                   "[\"\",\"\",\"s\"]]}"));
    for (size_t e = 0; e < 9; e++) all += n[e];
    double s = (n[0] + n[4] + n[8]) / all, error = sqrt(s * (1 - s) / all);
    double away = n[1] + n[2], q = n[1] / away;
    assert_relative(number_at(d, "A[1,1]", "sd"), error, 2e-3);
    assert_relative(number_at(d, "A[3,3]", "sd"), error, 2e-3);
    assert_relative(number_at(d, "A[1,2]", "sd"),
                    hypot(q * error, (1 - s) * sqrt(q * (1 - q) / away)), 2e-3);
}

/* Given transitions are brought to what the ties allow, and rows that come later are learned from with them. */
TEST(starts_and_updates)
{
    cr_table      *t = table_of_text(cx, "data.csv", "c\na\nb\na\na\nb\nb\na\nb\nb\nb\na\na\n");
    cr_model      *m = rising(cx, t,
                              "features=c max_iter=1 start={\"A\":[[0.9,0.1],[0.3,0.7]],\"tie\":[[\"s\","
                                   "\"\"],[\"\",\"s\"]],\"B\":[[0.6,0.4],[0.3,0.7]]}");
    const cri_hmm *h = state_of(m);
    assert_true(h->A[0] == h->A[3]);
    assert_close(h->A[1], h->A[2], 1e-12);
    cr_model *later = NULL;
    assert_ok(cx, cr_update(cx, m, t, &later));
    test_own(cx, later, release_model);
    h = state_of(later);
    assert_true(h->A[0] == h->A[3] && h->ties == 2 && h->free_transitions == 1);
    describe(cx, later);
    m = rising(cx, t, "features=c start={\"tie\":[[\"one\"]]}");
    assert_close(state_of(m)->A[0], 1, 1e-12);
    cr_table *one = table_of_text(cx, "one.csv", "c\na\n");
    rising(cx, one, "features=c transitions={\"tie\":[[\"s\",\"m\"],[\"m\",\"s\"]]} restarts=2");
}

TEST(ties_refused)
{
    cr_table *t = table_of_text(cx, "data.csv", "x,c\n1,a\n2,b\n-3,a\n");
    static const struct {
        const char *settings, *sentence;
    } bad[] = {
        { "tie\":[[\"a\",\"\"],[\"\"]]}", "a row of tie: there are 1 names, but there must be 2" },
        { "tie\":[[\"a\",1],[\"\",\"a\"]]}", "a name of tie" },
        { "tie\":[1,2]}", "a row of tie" },
        { "tie\":[[\"a\",\"\"],[\"\",\"a\"]],\"A\":[[1]]}", "lists about" },
        { "tie\":[[\"a\",\"\"],[\"a\",\"\"]],\"A\":[[1,0],[0.5,0.5]]}", "no transitions above 0" },
        { "tie\":[[\"a\",\"b\",\"\"],[\"a\",\"a\",\"b\"],[\"a\",\"b\",\"\"]]} topology=banded:1",
          "are tied, but only one" },
        { "tie\":[[\"a\",\"b\"],[\"a\",\"a\"]],\"A\":[[0,1],[0.5,0.5]]}", "A[1,1] and A[2,1]" },
        { "tie\":[[\"a\",\"\"],[\"\",\"a\"]]} infer=vb", "no posterior by --infer vb" },
        { "tie\":[[\"a\",\"\"],[\"\",\"a\"]]} duration=3", "with --duration" },
        { "tie\":[[\"a\",\"\"],[\"\",\"a\"]]} prior_transitions=0", "above 0" },
        { "tie\":[[\"a\",\"\"],[\"\",\"a\"]]} start={\"pi\":[1,0]} max_iter=0", "--max-iter 0" },
        { "tie\":[[\"a\",\"\"],[\"\",\"a\"]]} states=3", "has 2 states" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char settings[256];
        snprintf(settings, sizeof settings, "features=x transitions={\"%s", bad[i].settings);
        unfit(cx, t, settings, bad[i].sentence);
    }
}
