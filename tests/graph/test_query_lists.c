/* The best few, sensitivity and causes against their definitions, by enumeration. */
#include "support.h"

#include "base/context_internal.h"
#include "graph/exact/enumerate.h"
#include "graph/query/query.h"
#include "random_network.h"

enum { MOST_STATES = 3, MOST_VARIABLES = 7 };

static cr_findings findings_of(cr_ctx *cx, const cr_network *net, const cr_evidence *e)
{
    cr_findings list = { 0 };
    for (size_t v = 0; v < cr_network_size(net); v++) {
        const double *l = cr_evidence_likelihood(e, v);
        if (!l) continue;
        cr_finding_kind kind =
            cr_evidence_state(e, v) != CR_NONE ? CR_FINDING_STATE : CR_FINDING_VIRTUAL;
        assert_ok(cx, cr_findings_add(cx, &list, net, kind, v, l));
    }
    return list;
}

/* p(x) times the likelihoods of an assignment. */
static double weight_of(const cr_network *net, const cr_evidence *e, const size_t *state)
{
    double w = exp(cr_network_log_value(net, state));
    for (size_t v = 0; v < cr_network_size(net); v++)
        if (cr_evidence_likelihood(e, v)) w *= cr_evidence_likelihood(e, v)[state[v]];
    return w;
}

static bool next_assignment(const cr_network *net, size_t *state)
{
    for (size_t v = cr_network_size(net); v-- > 0;) {
        if (++state[v] < cr_network_states(net, v)) return true;
        state[v] = 0;
    }
    return false;
}

static int falling(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* --- the best few ---------------------------------------------------------------------------- */

static void check_best_all(cr_ctx *cx, const cr_network *net, const cr_evidence *e,
                           const cr_findings *known, size_t k)
{
    double          all[2187], sum = 0;
    size_t          n = 0, state[MOST_VARIABLES] = { 0 }, possible = 0;
    cr_query_answer a = { 0 };
    char            text[64];
    do sum += all[n++] = weight_of(net, e, state);
    while (next_assignment(net, state));
    qsort(all, n, sizeof *all, falling);
    while (possible < n && all[possible] > 0) possible++;
    snprintf(text, sizeof text, "best(%zu; *)", k);
    if (sum == 0) {
        assert_fails_with(cx, cr_query(cx, net, text, known, NULL, &a), CR_EDATA, "impossible");
        return;
    }
    assert_ok(cx, cr_query(cx, net, text, known, NULL, &a));
    assert_int_equal(a.rows, k < possible ? k : possible);
    for (size_t i = 0; i < a.rows; i++) {
        assert_relative(a.value[i], all[i] / sum, 1e-9);
        for (size_t v = 0; v < cr_network_size(net); v++)
            if (cr_evidence_state(e, v) != CR_NONE) state[v] = cr_evidence_state(e, v);
        for (size_t v = 0; v < a.n; v++) state[a.variable[v]] = a.states[i * a.n + v];
        assert_relative(weight_of(net, e, state) / sum, a.value[i], 1e-9);
        for (size_t r = 0; r < i; r++)
            assert_true(memcmp(a.states + r * a.n, a.states + i * a.n, a.n * sizeof *a.states) !=
                        0);
    }
    cr_query_answer_free(cx, &a);
}

/* Of two variables, the others summed out. */
static void check_best_pair(cr_ctx *cx, const cr_network *net, const cr_evidence *e,
                            const cr_findings *known)
{
    size_t          pair[2] = { 0, cr_network_size(net) - 1 };
    cr_factor       f = { 0 };
    cr_query_answer a = { 0 };
    char            text[64];
    snprintf(text, sizeof text, "best(4; v%zu, v%zu)", pair[1], pair[0]);
    if (cr_enumerate_query(cx, net, e, 2, pair, 0, &f, NULL) != CR_OK) return;
    assert_ok(cx, cr_query(cx, net, text, known, NULL, &a));
    for (size_t i = 0; i < a.rows; i++) {
        size_t state[MOST_VARIABLES] = { 0 };
        state[pair[1]] = a.states[2 * i];
        state[pair[0]] = a.states[2 * i + 1];
        assert_relative(f.value[cr_factor_index(&f, state)], a.value[i], 1e-9);
    }
    qsort(f.value, f.size, sizeof *f.value, falling);
    for (size_t i = 0; i < a.rows; i++) assert_relative(f.value[i], a.value[i], 1e-9);
    assert_true(a.rows == 4 || a.rows == f.size || f.value[a.rows] == 0);
    cr_factor_free(cx, &f);
    cr_query_answer_free(cx, &a);
}

TEST(the_best_few_are_those_of_enumeration)
{
    cr_rng r = cr_rng_stream(21, 1);
    for (size_t round = 0; round < 40; round++) {
        cr_network  *net = random_network(cx, &r, round % 3 ? CR_NETWORK_BAYES : CR_NETWORK_MARKOV,
                                          2 + cr_rng_below(&r, MOST_VARIABLES - 2));
        cr_evidence *e = random_evidence(cx, &r, net);
        cr_findings  known = findings_of(cx, net, e);
        check_best_all(cx, net, e, &known, 1 + cr_rng_below(&r, 9));
        check_best_pair(cx, net, e, &known);
        cr_findings_free(cx, &known);
        cr_evidence_free(cx, e);
        cr_network_free(cx, net);
    }
}

/* The time limit in the midst of a list leaves its beginning, and says so; before the first there is nothing. */
TEST(a_time_limit_leaves_the_best_so_far)
{
    cr_rng          r = cr_rng_stream(21, 2);
    cr_network     *net = random_network(cx, &r, CR_NETWORK_MARKOV, MOST_VARIABLES);
    size_t          cut = 0;
    cr_query_answer all = { 0 };
    assert_ok(cx, cr_query(cx, net, "best(20; *)", NULL, NULL, &all));
    for (uint64_t nth = 1; nth < 400; nth += 7) {
        cr_query_answer a = { 0 };
        cr_ctx_set_time_limit(cx, 3600);
        cri_ctx_stop_at(cx, nth);
        cr_status st = cr_query(cx, net, "best(20; *)", NULL, NULL, &a);
        cri_ctx_stop_at(cx, 0);
        cr_ctx_set_time_limit(cx, 0);
        if (st != CR_OK) {
            assert_int_equal(st, CR_ENOMEM);
            continue;
        }
        assert_true(a.rows > 0 && a.rows <= all.rows);
        assert_memory_equal(a.value, all.value, a.rows * sizeof *a.value);
        assert_memory_equal(a.states, all.states, a.rows * a.n * sizeof *a.states);
        cut += a.rows < all.rows;
        assert_int_equal(strstr(a.why, "the time limit ended the list") != NULL, a.rows < all.rows);
        cr_query_answer_free(cx, &a);
    }
    assert_true(cut > 3);
    cr_query_answer_free(cx, &all);
    cr_network_free(cx, net);
}

/* --- sensitivity ----------------------------------------------------------------------------- */

/* P(event | e) by enumeration. */
static double probability(cr_ctx *cx, const cr_network *net, const cr_evidence *e, size_t v,
                          size_t s)
{
    size_t state[MOST_VARIABLES] = { 0 };
    double part = 0, sum = 0;
    (void)cx;
    do {
        double w = weight_of(net, e, state);
        sum += w;
        part += state[v] == s ? w : 0;
    } while (next_assignment(net, state));
    return part / sum;
}

/* P(event | e) when an entry of table t is `h` more and its row follows. */
static double moved_probability(cr_ctx *cx, const cr_network *net, const cr_evidence *e, size_t t,
                                size_t entry, double h, size_t v, size_t s)
{
    cr_network   *copy;
    cr_table_view w = cr_network_table(net, t);
    double        value[256], p;
    size_t        states = cr_network_states(net, t), row = entry - entry % states;
    assert_true(w.size <= 256);
    memcpy(value, w.value, w.size * sizeof *value);
    for (size_t k = row; k < row + states; k++) {
        if (k == entry)
            value[k] += h;
        else if (w.value[entry] < 1)
            value[k] *= (1 - w.value[entry] - h) / (1 - w.value[entry]);
        else
            value[k] -= h / (double)(states - 1);
    }
    assert_ok(cx, cr_network_copy(cx, net, &copy));
    assert_ok(cx, cr_network_set_table(cx, copy, t, value));
    p = probability(cx, copy, e, v, s);
    cr_network_free(cx, copy);
    return p;
}

/* From both sides, or twice from one at the ends of the range. */
static double difference(cr_ctx *cx, const cr_network *net, const cr_evidence *e, size_t t,
                         size_t entry, size_t v, size_t s)
{
    double h = 1e-6, theta = cr_network_table(net, t).value[entry];
    if (theta < 1e-3) h = 1e-7;
    if (theta > 2 * h && theta < 1 - 2 * h)
        return (moved_probability(cx, net, e, t, entry, h, v, s) -
                moved_probability(cx, net, e, t, entry, -h, v, s)) /
               (2 * h);
    if (theta > 0.5) h = -h;
    double p0 = probability(cx, net, e, v, s),
           p1 = moved_probability(cx, net, e, t, entry, h, v, s);
    double p2 = moved_probability(cx, net, e, t, entry, 2 * h, v, s);
    return (4 * p1 - p2 - 3 * p0) / (2 * h);
}

TEST(sensitivity_is_the_slope)
{
    cr_rng r = cr_rng_stream(21, 2);
    size_t checked = 0, zeros = 0;
    for (size_t round = 0; round < 26; round++) {
        size_t          n = 2 + cr_rng_below(&r, 4);
        cr_network     *net = random_network(cx, &r, CR_NETWORK_BAYES, n);
        cr_evidence    *e = random_evidence(cx, &r, net);
        cr_findings     known = findings_of(cx, net, e);
        size_t          v = cr_rng_below(&r, n), s = cr_rng_below(&r, cr_network_states(net, v));
        cr_query_answer a = { 0 };
        char            text[64];
        snprintf(text, sizeof text, "sensitivity(*; v%zu=%zu)", v, s);
        if (cr_query(cx, net, text, &known, NULL, &a) == CR_OK) {
            assert_close(a.number, probability(cx, net, e, v, s), 1e-12);
            zeros += a.number == 0;
            for (size_t t = 0; t < n; t++)
                for (size_t k = 0; k < cr_network_table(net, t).size; k++) {
                    double listed = 0;
                    for (size_t i = 0; i < a.rows; i++)
                        if (a.parameter[i].table == t && a.parameter[i].entry == k)
                            listed = a.parameter[i].derivative;
                    if (cr_network_states(net, t) > 1)
                        assert_close(listed, difference(cx, net, e, t, k, v, s), 3e-5);
                    checked++;
                }
            for (size_t i = 1; i < a.rows; i++)
                assert_true(fabs(a.parameter[i].derivative) <= fabs(a.parameter[i - 1].derivative));
        }
        cr_query_answer_free(cx, &a);
        cr_findings_free(cx, &known);
        cr_evidence_free(cx, e);
        cr_network_free(cx, net);
    }
    assert_true(checked > 200 && zeros > 1);
}

/* Jeffrey's rule with the slopes: sum_s q(s) dP(v | u=s, e). */
TEST(sensitivity_with_soft_evidence)
{
    cr_rng r = cr_rng_stream(22, 2);
    size_t checked = 0;
    for (size_t round = 0; round < 12; round++) {
        size_t          n = 3 + cr_rng_below(&r, 2), u = cr_rng_below(&r, n), v = (u + 1) % n;
        cr_network     *net = random_network(cx, &r, CR_NETWORK_BAYES, n);
        cr_evidence    *e;
        cr_findings     known = { 0 };
        cr_query_answer a = { 0 };
        size_t          states = cr_network_states(net, u);
        double          q[16] = { 0 }, p = 0;
        char            text[64];
        assert_ok(cx, cr_evidence_new(cx, net, &e));
        for (size_t s = 0; s < states; s++)
            q[s] = (double)(s + 1) * 2 / (double)(states * (states + 1));
        assert_ok(cx, cr_findings_add(cx, &known, net, CR_FINDING_SOFT, u, q));
        snprintf(text, sizeof text, "sensitivity(*; v%zu=0)", v);
        bool possible = cr_query(cx, net, text, &known, NULL, &a) == CR_OK;
        for (size_t s = 0; s < states && possible; s++) {
            assert_ok(cx, cr_evidence_observe(cx, e, u, s));
            p += q[s] * probability(cx, net, e, v, 0);
        }
        if (possible) assert_close(a.number, p, 1e-12);
        for (size_t i = 0; i < a.rows; i++) {
            double slope = 0;
            for (size_t s = 0; s < states; s++) {
                assert_ok(cx, cr_evidence_observe(cx, e, u, s));
                slope +=
                    q[s] * difference(cx, net, e, a.parameter[i].table, a.parameter[i].entry, v, 0);
            }
            assert_close(a.parameter[i].derivative, slope, 3e-5);
            checked++;
        }
        cr_query_answer_free(cx, &a);
        cr_findings_free(cx, &known);
        cr_evidence_free(cx, e);
        cr_network_free(cx, net);
    }
    assert_true(checked > 50);
}

/* Tables of a Markov network: p = a b / (a b + c) and the like. */
TEST(sensitivity_of_a_markov_network)
{
    cr_network     *net;
    cr_query_answer a = { 0 };
    assert_ok(cx, cr_network_new(cx, CR_NETWORK_MARKOV, &net));
    assert_ok(cx, cr_network_add_variable(cx, net, "x", 2, NULL, NULL));
    assert_ok(cx, cr_network_add_table(cx, net, 1, (size_t[]){ 0 }, (double[]){ 3, 5 }));
    assert_ok(cx, cr_query(cx, net, "sensitivity(x=0)", NULL, NULL, &a));
    assert_int_equal(a.rows, 2);
    assert_close(a.parameter[0].derivative, 5.0 / 64, 1e-12); /* d 3/(3+5): b/(a+b)^2, -a/(a+b)^2 */
    assert_close(a.parameter[1].derivative, -3.0 / 64, 1e-12);
    cr_query_answer_free(cx, &a);
    assert_ok(cx, cr_query(cx, net, "sensitivity(x=0 | x:={0:0.5,1:0.5})", NULL, NULL, &a));
    assert_close(a.number, 0.5, 1e-15); /* whatever the table says */
    assert_int_equal(a.rows, 0);
    cr_query_answer_free(cx, &a);
    cr_network_free(cx, net);
}

/* --- causes ---------------------------------------------------------------------------------- */

/* P(e | x = s) or P(e | x != s), without a factor that both have. */
static double likelihood(const cr_network *net, const cr_evidence *e, size_t v, size_t s, bool is)
{
    size_t state[MOST_VARIABLES] = { 0 };
    double part = 0, sum = 0;
    do {
        if ((state[v] == s) != is) continue;
        part += weight_of(net, e, state);
        sum += exp(cr_network_log_value(net, state));
    } while (next_assignment(net, state));
    return part / sum;
}

TEST(causes_have_their_bayes_factors)
{
    cr_rng r = cr_rng_stream(21, 3);
    size_t checked = 0;
    for (size_t round = 0; round < 100; round++) {
        cr_network  *net = random_network(cx, &r, round % 3 ? CR_NETWORK_BAYES : CR_NETWORK_MARKOV,
                                          2 + cr_rng_below(&r, MOST_VARIABLES - 2));
        cr_evidence *e = random_evidence(cx, &r, net);
        cr_findings  known = findings_of(cx, net, e);
        cr_query_answer a = { 0 };
        if (cr_query(cx, net, "causes(*)", &known, NULL, &a) == CR_OK) {
            for (size_t i = 0; i < a.rows; i++) {
                size_t v = a.variable[i], best = a.states[i];
                assert_true(i == 0 || a.value[3 * i + 2] <= a.value[3 * i - 1]);
                for (size_t s = 0; s < cr_network_states(net, v); s++) {
                    double f = likelihood(net, e, v, s, true) / likelihood(net, e, v, s, false);
                    if (isnan(f) || !isfinite(f) || f > 1e8) continue;
                    if (s == best) {
                        assert_relative(a.value[3 * i + 2], f, 1e-6);
                        assert_close(a.value[3 * i + 1], probability(cx, net, e, v, s), 1e-9);
                        checked++;
                    } else {
                        assert_true(f <= a.value[3 * i + 2] * (1 + 1e-6));
                    }
                }
            }
        }
        cr_query_answer_free(cx, &a);
        cr_findings_free(cx, &known);
        cr_evidence_free(cx, e);
        cr_network_free(cx, net);
    }
    assert_true(checked > 40);
}

/* --- words ----------------------------------------------------------------------------------- */

TEST(wrong_questions_are_told)
{
    cr_rng          r = cr_rng_stream(21, 4);
    cr_network     *net = random_network(cx, &r, CR_NETWORK_BAYES, 4);
    cr_query_answer a = { 0 };
    static const struct {
        const char *text, *says;
    } wrong[] = {
        { "best(*)", "a number from 1 to 1000000" },
        { "best(0; *)", "a number from 1 to 1000000" },
        { "best(3 *)", "expected ';'" },
        { "best(3; w)", "no variable 'w'" },
        { "sensitivity(v0)", "needs the probability of a state" },
        { "sensitivity(0; v0=0)", "a number from 1 to 1000000" },
        { "causes(v0 | v1)", "what is the evidence on 'v1'?" },
        { "worst(3; *)", "there is no question 'worst'" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_fails_with(cx, cr_query(cx, net, wrong[i].text, NULL, NULL, &a), CR_EARG,
                          wrong[i].says);
    cr_network_free(cx, net);
}

static cr_status ask_all(cr_ctx *cx, void *arg)
{
    static const char *const questions[] = { "best(3; *)", "best(2; v0, v1)", "causes(* | v1=0)",
                                             "sensitivity(v0=0)" };
    cr_status                st = CR_OK;
    for (size_t i = 0; i < 4 && st == CR_OK; i++) {
        cr_query_answer a = { 0 };
        st = cr_query(cx, arg, questions[i], NULL, NULL, &a);
        cr_query_answer_free(cx, &a);
    }
    return st;
}

TEST(memory_may_be_short)
{
    cr_network *net;
    assert_ok(cx, cr_network_new(cx, CR_NETWORK_BAYES, &net));
    assert_ok(cx, cr_network_add_variable(cx, net, "v0", 2, NULL, NULL));
    assert_ok(cx, cr_network_add_variable(cx, net, "v1", 2, NULL, NULL));
    assert_ok(cx, cr_network_set_parents(cx, net, 1, 1, (size_t[]){ 0 }));
    assert_ok(cx, cr_network_set_table(cx, net, 0, (double[]){ 0.3, 0.7 }));
    assert_ok(cx, cr_network_set_table(cx, net, 1, (double[]){ 0.2, 0.8, 1, 0 }));
    test_every_allocation_fails(ask_all, net);
    cr_network_free(cx, net);
}
