/* test_local_score.c -- scores of families: against sums over rows by the formulas, dense against sparse tables, the scores
 * that others compute of samples of known networks, weights as repetitions, interventions and rows held out as rows left
 * out, the cache under several threads. */
#include "learning.h"

#include "math/special/special.h"

#include <jansson.h>

enum { N = 300, P = 5 };
static const uint32_t LEVELS[P] = { 2, 3, 4, 1, 3 };

static cri_cases_table drawn(cr_scratch *s, uint16_t *code)
{
    cri_cases_table t;
    draw_cases(11, N, P, LEVELS, code);
    assert_ok(s->cx, cri_cases_group(s, N, P, LEVELS, code, NULL, NULL, NULL, &t));
    return t;
}

/* How many rows have states `a` of `who`, by looking at all of them. */
static double look(const uint16_t *code, const uint32_t *who, const size_t *a, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < N; i++) {
        bool same = true;
        for (size_t d = 0; d < n; d++) same &= code[i * P + who[d]] == a[d];
        sum += same;
    }
    return sum;
}

/* log Gamma(a + n) - log Gamma(a) as a product. */
static double rising(double a, double n)
{
    double sum = 0;
    for (double k = 0; k < n; k++) sum += log(a + k);
    return sum;
}

/* A score by its definition, over all states of parents and child. */
static double define(const uint16_t *code, cri_score_kind kind, double ess, uint32_t child,
                     const uint32_t *parents, size_t n)
{
    uint32_t who[P];
    size_t   a[P] = { 0 }, d;
    double   q = 1, r = LEVELS[child], sum = 0, seen = 0;
    for (d = 0; d < n; d++) q *= LEVELS[who[d] = parents[d]];
    who[n] = child;
    for (int pass = 0; pass < 2; pass++) {
        double alpha = kind == CRI_SCORE_K2 ? 1 : ess / (kind == CRI_SCORE_BDS ? seen : q) / r;
        memset(a, 0, sizeof a);
        do {
            double all = look(code, who, a, n);
            if (pass == 0) seen += all > 0;
            if (pass == 1 && kind >= CRI_SCORE_BDEU && kind <= CRI_SCORE_K2)
                sum -= rising(alpha * r, all);
            for (size_t k = 0; pass == 1 && k < LEVELS[child]; k++) {
                a[n] = k;
                double x = look(code, who, a, n + 1);
                if (kind >= CRI_SCORE_BDEU && kind <= CRI_SCORE_K2)
                    sum += rising(alpha, x);
                else if (x > 0)
                    sum += x * log(x / all);
            }
            for (d = n; d-- > 0;) {
                if (++a[d] < LEVELS[who[d]]) break;
                a[d] = 0;
            }
        } while (d != SIZE_MAX);
    }
    if (kind == CRI_SCORE_BIC) sum -= q * (r - 1) * log(N) / 2;
    if (kind == CRI_SCORE_AIC) sum -= q * (r - 1);
    return sum;
}

TEST(scores_are_sums_over_rows)
{
    static const uint32_t       sets[][4] = { { 0 }, { 1 }, { 0, 1 }, { 2, 3 }, { 0, 1, 2, 3 } };
    static const size_t         sizes[] = { 0, 1, 2, 2, 4 };
    static const cri_score_kind kinds[] = { CRI_SCORE_BIC, CRI_SCORE_AIC, CRI_SCORE_BDEU,
                                            CRI_SCORE_BDS, CRI_SCORE_K2,  CRI_SCORE_LOGLIK };
    cr_scratch                  s = cr_scratch_begin(cx);
    uint16_t                    code[N * P];
    cri_cases_table             t = drawn(&s, code);
    assert_true(t.n < N && t.whole && t.rows == N);
    for (size_t k = 0; k < 6; k++) {
        cri_score_source source;
        void            *work;
        assert_ok(cx, cri_table_score(&s, &t, kinds[k], 2.5, &source));
        assert_ok(cx, source.open_work(&s, source.own, &work));
        for (size_t i = 0; i < 5; i++) {
            double want = define(code, kinds[k], 2.5, 4, sets[i], sizes[i]);
            assert_close(source.score(source.own, 4, sets[i], sizes[i], work), want, 1e-11);
            cri_counts c = cri_count_family(&t, work, 4, sets[i], sizes[i]);
            assert_close(cri_counts_score(&c, kinds[k], 2.5), want, 1e-11);
        }
    }
    cr_scratch_end(&s);
}

/* The regret by its definition: a sum over all counts of r states. */
static double regret_by_sum(double n, double left, size_t r, double log_p)
{
    if (r == 1) return exp(log_p + (left > 0 ? left * log(left / n) - cr_lgamma_abs(left + 1) : 0));
    double sum = 0;
    for (double k = 0; k <= left; k++)
        sum += regret_by_sum(n, left - k, r - 1,
                             log_p + (k > 0 ? k * log(k / n) - cr_lgamma_abs(k + 1) : 0));
    return sum;
}

TEST(regrets)
{
    for (size_t r = 1; r < 6; r++)
        assert_close(cri_log_regret(12, (double)r),
                     log(regret_by_sum(12, 12, r, cr_lgamma_abs(13))), 1e-12);
    /* the approximation of many states goes on where the recursion ends */
    double at = cri_log_regret(300, 1024), beyond = cri_log_regret(300, 1025);
    assert_true(fabs(beyond - at) < 0.01 * at && beyond > at - 0.05);
    assert_true(cri_log_regret(0, 4) == 0 && cri_log_regret(7, 1) == 0);
}

TEST(qnml_is_likelihood_less_regrets)
{
    cr_scratch       s = cr_scratch_begin(cx);
    uint16_t         code[N * P];
    cri_cases_table  t = drawn(&s, code);
    cri_score_source q, l;
    void            *work;
    uint32_t         parents[] = { 1, 2 };
    assert_ok(cx, cri_table_score(&s, &t, CRI_SCORE_QNML, 1, &q));
    assert_ok(cx, cri_table_score(&s, &t, CRI_SCORE_LOGLIK, 1, &l));
    assert_ok(cx, q.open_work(&s, q.own, &work));
    assert_close(
        q.score(q.own, 0, parents, 2, work),
        l.score(l.own, 0, parents, 2, work) - cri_log_regret(N, 24) + cri_log_regret(N, 12), 1e-11);
    cr_scratch_end(&s);
}

/* --- tables too large to be dense ------------------------------------------------------------- */

TEST(sparse_tables_say_the_same)
{
    enum { M = 400, Q = 6 };
    static const uint32_t levels[Q] = { 40, 50, 7, 60, 30, 5 };
    cr_scratch            s = cr_scratch_begin(cx);
    uint16_t              code[M * Q];
    cri_cases_table       t;
    cri_counter           counter, wide;
    uint32_t              parents[] = { 0, 1, 3 };
    draw_cases(5, M, Q, levels, code);
    assert_ok(cx, cri_cases_group(&s, M, Q, levels, code, NULL, NULL, NULL, &t));
    assert_ok(cx, cri_counter_new(&s, &t, &counter));
    /* room for all states: the same counts in a dense table */
    wide = counter;
    wide.cells = 40 * 50 * 60 * 5;
    wide.tally = cr_scratch_bytes(&s, wide.cells, sizeof *wide.tally);
    wide.cell = cr_scratch_f64(&s, wide.cells);
    wide.config = cr_scratch_f64(&s, wide.cells);
    assert_ok(cx, s.status);
    for (cri_score_kind k = CRI_SCORE_BIC; k <= CRI_SCORE_LOGLIK; k++) {
        cri_counts dense = cri_count_family(&t, &wide, 5, parents, 3);
        double     want = cri_counts_score(&dense, k, 10);
        cri_counts sparse = cri_count_family(&t, &counter, 5, parents, 3);
        assert_true(dense.dense && !sparse.dense && sparse.of);
        assert_true(sparse.q == 40 * 50 * 60 && sparse.cells <= M && sparse.total == M);
        assert_close(cri_counts_score(&sparse, k, 10), want, 1e-11);
    }
    cr_scratch_end(&s);
}

/* --- rows that do not count alike ------------------------------------------------------------- */

/* The score of child 2 given 0 and 1. */
static double score_two(cr_scratch *s, const cri_cases_table *t, cri_score_kind kind)
{
    uint32_t         parents[] = { 0, 1 };
    cri_score_source source;
    void            *work;
    assert_ok(s->cx, cri_table_score(s, t, kind, 1, &source));
    assert_ok(s->cx, source.open_work(s, source.own, &work));
    return source.score(source.own, 2, parents, 2, work);
}

TEST(weights_count_as_repetitions)
{
    cr_scratch      s = cr_scratch_begin(cx);
    uint16_t        code[N * P], repeated[3 * N * P];
    double          weight[N], part[N];
    size_t          n = 0;
    cri_cases_table a, b, c;
    draw_cases(11, N, P, LEVELS, code);
    for (size_t i = 0; i < N; i++) {
        weight[i] = (double)(i % 4);
        part[i] = weight[i] / 4 + 0.1;
        for (size_t k = 0; k < i % 4; k++)
            memcpy(repeated + P * n++, code + i * P, P * sizeof *code);
    }
    assert_ok(cx, cri_cases_group(&s, N, P, LEVELS, code, weight, NULL, NULL, &a));
    assert_ok(cx, cri_cases_group(&s, n, P, LEVELS, repeated, NULL, NULL, NULL, &b));
    assert_ok(cx, cri_cases_group(&s, N, P, LEVELS, code, part, NULL, NULL, &c));
    assert_true(a.n == b.n && a.whole && !c.whole);
    for (cri_score_kind k = CRI_SCORE_BIC; k <= CRI_SCORE_LOGLIK; k++)
        assert_true(score_two(&s, &a, k) == score_two(&s, &b, k));
    assert_close(c.rows, (double)n / 4 + 0.1 * N, 1e-12);
    assert_true(isfinite(score_two(&s, &c, CRI_SCORE_BDEU)));
    cr_scratch_end(&s);
}

TEST(rows_in_which_a_variable_was_set_do_not_count_for_it)
{
    cr_scratch      s = cr_scratch_begin(cx);
    uint16_t        code[N * P], left[N * P];
    uint32_t        set[N];
    size_t          n = 0;
    cri_cases_table a, b, all;
    draw_cases(11, N, P, LEVELS, code);
    for (size_t i = 0; i < N; i++) {
        set[i] = i % 5 == 0 ? 2 : i % 7 == 0 ? 1 : CRI_NOT_SET;
        if (set[i] != 2) memcpy(left + P * n++, code + i * P, P * sizeof *code);
    }
    assert_ok(cx, cri_cases_group(&s, N, P, LEVELS, code, NULL, set, NULL, &a));
    assert_ok(cx, cri_cases_group(&s, n, P, LEVELS, left, NULL, NULL, NULL, &b));
    assert_ok(cx, cri_cases_group(&s, N, P, LEVELS, code, NULL, NULL, NULL, &all));
    for (cri_score_kind k = CRI_SCORE_BIC; k <= CRI_SCORE_LOGLIK; k++) {
        assert_close(score_two(&s, &a, k), score_two(&s, &b, k), 1e-12);
        assert_true(fabs(score_two(&s, &a, k) - score_two(&s, &all, k)) > 0.1);
    }
    cr_scratch_end(&s);
}

TEST(held_out_rows_are_predicted_by_the_others)
{
    cr_scratch      s = cr_scratch_begin(cx);
    uint16_t        code[N * P];
    uint8_t         held[N];
    double          want = 0;
    cri_cases_table t;
    draw_cases(11, N, P, LEVELS, code);
    for (size_t i = 0; i < N; i++) held[i] = i % 4 == 1;
    assert_ok(cx, cri_cases_group(&s, N, P, LEVELS, code, NULL, NULL, held, &t));
    for (size_t i = 0; i < N; i++) {
        double same = 0, all = 0;
        for (size_t k = 0; k < N; k++) {
            bool alike =
                !held[k] && code[k * P] == code[i * P] && code[k * P + 1] == code[i * P + 1];
            all += alike;
            same += alike && code[k * P + 2] == code[i * P + 2];
        }
        if (held[i]) want += log((same + 1.0 / 24) / (all + 1.0 / 6));
    }
    assert_close(score_two(&s, &t, CRI_SCORE_HOLDOUT), want, 1e-11);
    cr_scratch_end(&s);
}

/* --- what others compute ---------------------------------------------------------------------- */

/* The score of the true network, by names. */
static double score_network(cr_ctx *cx, const cr_network *net, const cr_table *data,
                            cri_score_kind kind, double ess)
{
    cr_scratch        s = cr_scratch_begin(cx);
    cri_cases_table   t = cases_of_table(&s, data);
    cri_score_source  source;
    cri_local_scores *scores = NULL;
    double            sum = 0;
    assert_ok(cx, cri_table_score(&s, &t, kind, ess, &source));
    assert_ok(cx, cri_local_scores_new(cx, &source, &scores));
    for (size_t v = 0; v < t.p; v++) {
        uint32_t      parents[16];
        char          name[CR_NAME_SIZE];
        size_t        n, at = 0;
        const size_t *of = cr_network_parents(
            net, cr_variable_lookup(cr_network_variables(net), cr_table_column_name(data, v, name)),
            &n);
        for (size_t u = 0; u < t.p; u++)
            for (size_t i = 0; i < n; i++)
                if (strcmp(cr_table_column_name(data, u, name),
                           cr_variable_name(cr_network_variables(net), of[i])) == 0)
                    parents[at++] = (uint32_t)u;
        assert_int_equal(at, n);
        sum += cri_local_score(scores, v, parents, n);
        assert_true(cri_local_score(scores, v, parents, n) ==
                    cri_local_score(scores, v, parents, n));
    }
    assert_int_equal(cri_local_scores_computed(scores), t.p);
    assert_int_equal(cri_local_scores_asked(scores), 3 * t.p);
    cri_local_scores_free(scores);
    cr_scratch_end(&s);
    return sum;
}

TEST(scores_of_samples_of_known_networks)
{
    static const struct {
        const char    *key;
        cri_score_kind kind;
        double         ess;
    } scores[] = { { "loglik", CRI_SCORE_LOGLIK, 1 },  { "aic", CRI_SCORE_AIC, 1 },
                   { "bic", CRI_SCORE_BIC, 1 },        { "k2", CRI_SCORE_K2, 1 },
                   { "bdeu_iss1", CRI_SCORE_BDEU, 1 }, { "bdeu_iss10", CRI_SCORE_BDEU, 10 } };
    json_t     *root = json_load_file(test_extra_data("bn/learning/score_reference.json"), 0, NULL);
    const char *file;
    json_t     *item;
    assert_non_null(root);
    json_object_foreach(root, file, item)
    {
        char        path[256];
        cr_network *net = NULL;
        snprintf(path, sizeof path, "bn/%s.bif",
                 json_string_value(json_object_get(item, "network")));
        assert_ok(cx, cr_network_read(cx, test_extra_data(path), CR_FORMAT_AUTO, &net));
        snprintf(path, sizeof path, "bn/learning/%s", file);
        cr_table *data = table_of_file(cx, test_extra_data(path));
        json_t   *want = json_object_get(item, "true_dag");
        for (size_t k = 0; k < sizeof scores / sizeof *scores; k++)
            assert_close(score_network(cx, net, data, scores[k].kind, scores[k].ess),
                         json_number_value(json_object_get(want, scores[k].key)), 1e-11);
        cr_table_free(cx, data);
        cr_network_free(cx, net);
    }
    json_decref(root);
}

/* --- words ------------------------------------------------------------------------------------ */

TEST(scores_by_name)
{
    cri_score_kind kind;
    double         ess;
    assert_ok(cx, cri_score_parse(cx, "bdeu:10", &kind, &ess));
    assert_true(kind == CRI_SCORE_BDEU && ess == 10);
    assert_ok(cx, cri_score_parse(cx, "bic", &kind, &ess));
    assert_true(kind == CRI_SCORE_BIC && ess == 1);
    for (cri_score_kind k = CRI_SCORE_BIC; k <= CRI_SCORE_HOLDOUT; k++) {
        assert_ok(cx, cri_score_parse(cx, cri_score_name(k), &kind, &ess));
        assert_int_equal(kind, k);
    }
    assert_fails(cx, cri_score_parse(cx, "bdue", &kind, &ess), CR_EARG);
    assert_string_equal(cr_error_nearest(cx), "bdeu");
    assert_fails(cx, cri_score_parse(cx, "bdeu:0", &kind, &ess), CR_EARG);
    assert_fails(cx, cri_score_parse(cx, "bdeu:x", &kind, &ess), CR_EARG);
    assert_fails(cx, cri_score_parse(cx, "bic:3", &kind, &ess), CR_EARG);
}

/* --- memory ----------------------------------------------------------------------------------- */

typedef struct asked {
    cri_local_scores *scores;
    double            out[64];
} asked;

static void ask_all(void *arg, size_t block)
{
    asked   *a = arg;
    uint32_t parents[P];
    size_t   n = 0, child = block % P;
    for (uint32_t u = 0; u < P; u++)
        if (u != child && block >> u & 1) parents[n++] = u;
    a->out[block] = cri_local_score(a->scores, child, parents, n);
}

TEST(every_allocation_may_fail)
{
    uint16_t code[N * P];
    asked    first = { 0 };
    draw_cases(11, N, P, LEVELS, code);
    for (uint64_t nth = 0;; nth++) {
        cr_scratch       s = cr_scratch_begin(cx);
        cri_cases_table  t;
        cri_score_source source;
        asked            now = { 0 };
        cr_ctx_fail_allocation(cx, nth);
        cr_status st = cri_cases_group(&s, N, P, LEVELS, code, NULL, NULL, NULL, &t);
        if (st == CR_OK) st = cri_table_score(&s, &t, CRI_SCORE_QNML, 1, &source);
        if (st == CR_OK) st = cri_local_scores_new(cx, &source, &now.scores);
        if (st == CR_OK) st = cri_parallel_for(cx, NULL, 64, ask_all, &now);
        cr_ctx_fail_allocation(cx, 0);
        assert_true(st == CR_OK || st == CR_ENOMEM);
        bool through = st == CR_OK && nth > 60;
        if (nth == 0) first = now;
        if (st == CR_OK)
            for (size_t b = 0; b < 64; b++) assert_true(now.out[b] == first.out[b]);
        cri_local_scores_free(now.scores);
        cr_scratch_end(&s);
        if (through) break;
    }
}
