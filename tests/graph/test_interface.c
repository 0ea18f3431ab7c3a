/* Slices followed one after another: filtered, smoothed and predicted marginals and the best path are those of the slices
 * side by side, by elimination and by enumeration; a hidden Markov model is what forward-backward says it is. */
#include "support.h"

#include "base/context_internal.h"
#include "graph/exact/bucket.h"
#include "graph/exact/enumerate.h"
#include "graph/network/network_internal.h"
#include "random_dynamic.h"

enum { ROWS = 64, WIDTH = 128 };

typedef struct marginals {
    size_t width, visits, last;
    bool   falling; /* the last slice comes first */
    double p[ROWS][WIDTH];
} marginals;

static bool keep(void *arg, size_t t, const double *p)
{
    marginals *m = arg;
    if (m->visits++ > 0) assert_true(m->falling ? t + 1 == m->last : t == m->last + 1);
    m->last = t;
    memcpy(m->p[t], p, m->width * sizeof *p);
    return true;
}

/* P(v | e) of the network side by side. */
static void check_one(cr_ctx *cx, const cr_network *whole, const cr_evidence *e, size_t number,
                      const double *p, bool enumerated)
{
    cr_factor f = { 0 };
    double    log_e;
    assert_ok(cx, enumerated ? cr_enumerate_query(cx, whole, e, 1, &number, 0, &f, &log_e)
                             : cr_bucket_query(cx, whole, e, 1, &number, NULL, &f, &log_e, NULL));
    for (size_t s = 0; s < f.size; s++) assert_close(p[s], f.value[s], 1e-10);
    cr_factor_free(cx, &f);
}

/* The network of these slices with the evidence up to some slice. */
static cr_evidence *lay(cr_ctx *cx, const cri_dynamic *net, const sliced_evidence *x, size_t slices,
                        size_t known, cr_network **out)
{
    cr_evidence *e = NULL;
    assert_ok(cx, cri_dynamic_unroll(cx, net, slices, out));
    assert_ok(cx, cr_evidence_new(cx, *out, &e));
    lay_evidence(cx, x, *out, e, known * net->n);
    return e;
}

static void check_marginals(cr_ctx *cx, const cri_dynamic *net, const sliced_evidence *x,
                            const marginals *m, bool filtered)
{
    size_t slices = x->e.slices;
    for (size_t t = 0; t < slices; t++) {
        cr_network  *whole = NULL;
        cr_evidence *e = lay(cx, net, x, slices, filtered ? t + 1 : slices, &whole);
        for (size_t v = 0; v < net->n; v++)
            check_one(cx, whole, e, t * net->n + v, m->p[t] + cri_states_before(net->first, v),
                      slices * net->n <= 8 && cr_network_states(net->first, 0) < 10);
        cr_evidence_free(cx, e);
        cr_network_free(cx, whole);
    }
}

static void check_best(cr_ctx *cx, cri_interface *h, const cri_dynamic *net,
                       const sliced_evidence *x, double log_e)
{
    uint32_t     state[256];
    size_t       full[256], best[256], possible;
    double       log_best = 0, log_value, expected;
    cr_network  *whole = NULL;
    cr_evidence *e = lay(cx, net, x, x->e.slices, x->e.slices, &whole);
    assert_ok(cx, cri_interface_best(cx, h, &x->e, state, &log_best, &possible));
    assert_int_equal(possible, x->e.slices);
    assert_true(log_best <= log_e + 1e-9);
    for (size_t i = 0; i < cr_network_size(whole); i++) full[i] = state[i];
    log_value = cr_network_log_value(whole, full);
    for (size_t i = 0; i < cr_network_size(whole); i++)
        if (cr_evidence_likelihood(e, i)) log_value += log(cr_evidence_likelihood(e, i)[full[i]]);
    assert_close(log_value, log_best, 1e-9); /* the path has this probability, */
    assert_ok(cx, cr_bucket_best(cx, whole, e, NULL, best, &expected, NULL));
    assert_close(log_best, expected, 1e-9); /* and no other has more */
    cr_evidence_free(cx, e);
    cr_network_free(cx, whole);
}

/* One network, with evidence, in all ways; false where the evidence is impossible. */
static bool check_random(cr_ctx *cx, uint64_t seed)
{
    cr_rng          r = cr_rng_stream(seed, 0);
    cri_dynamic    *net = random_dynamic(cx, &r, 1 + cr_rng_below(&r, 5));
    cri_interface  *h = NULL;
    sliced_evidence x;
    marginals       filtered = { 0 }, smoothed = { .falling = true };
    double          each[ROWS], log_e, expected, sum = 0;
    size_t          possible, again;
    cr_network     *whole = NULL;
    random_slices(&r, net, 1 + cr_rng_below(&r, 6), &x);
    assert_ok(cx, cri_interface_new(cx, net, &h));
    filtered.width = smoothed.width = cri_interface_width(h);
    assert_ok(cx, cri_interface_filter(cx, h, &x.e, keep, &filtered, each, &possible));
    assert_ok(cx, cri_interface_smooth(cx, h, &x.e, 0, x.e.slices - 1, keep, &smoothed, NULL,
                                       &log_e, &again));
    assert_int_equal(possible, again);
    for (size_t t = 0; t < x.e.slices; t++) sum += each[t];
    cr_evidence *e = lay(cx, net, &x, x.e.slices, x.e.slices, &whole);
    assert_ok(cx, cr_bucket_log_evidence(cx, whole, e, NULL, &expected, NULL));
    cr_evidence_free(cx, e);
    cr_network_free(cx, whole);
    assert_int_equal(possible == x.e.slices, expected > -INFINITY);
    assert_int_equal(filtered.visits, possible);
    assert_int_equal(smoothed.visits, possible == x.e.slices ? x.e.slices : 0);
    if (possible == x.e.slices) {
        assert_close(sum, expected, 1e-9);
        assert_close(log_e, expected, 1e-9);
        check_marginals(cx, net, &x, &filtered, true);
        check_marginals(cx, net, &x, &smoothed, false);
        check_best(cx, h, net, &x, log_e);
    } else {
        assert_true(sum == -INFINITY && each[possible] == -INFINITY);
    }
    cri_interface_free(cx, h);
    cri_dynamic_free(cx, net);
    return possible == x.e.slices;
}

TEST(slices_are_those_of_the_network_side_by_side)
{
    size_t possible = 0, tried = 300;
    for (uint64_t seed = 1; seed <= tried; seed++) possible += check_random(cx, seed);
    assert_true(possible > tried / 3 && possible < tried);
}

/* --- a hidden Markov model ------------------------------------------------------------------- */

enum { K = 3, SYMBOLS = 4 };

typedef struct hmm {
    double pi[K], a[K][K], b[K][SYMBOLS];
} hmm;

static void random_rows(cr_rng *r, size_t rows, size_t n, double *p)
{
    for (size_t i = 0; i < rows; i++) {
        double sum = 0;
        for (size_t k = 0; k < n; k++) sum += p[i * n + k] = 0.05 + cr_rng_uniform(r);
        for (size_t k = 0; k < n; k++) p[i * n + k] /= sum;
    }
}

static cri_dynamic *network_of(cr_ctx *cx, const hmm *m)
{
    cri_dynamic *net = NULL;
    size_t       zero = 0, two = 2;
    assert_ok(cx, cri_dynamic_new(cx, &net));
    assert_ok(cx, cr_network_add_variable(cx, net->first, "state", K, NULL, NULL));
    assert_ok(cx, cr_network_add_variable(cx, net->first, "symbol", SYMBOLS, NULL, NULL));
    assert_ok(cx, cri_dynamic_add_slices(cx, net));
    assert_ok(cx, cr_network_set_table(cx, net->first, 0, m->pi));
    assert_ok(cx, cr_network_set_parents(cx, net->first, 1, 1, &zero));
    assert_ok(cx, cr_network_set_table(cx, net->first, 1, m->b[0]));
    assert_ok(cx, cr_network_set_parents(cx, net->next, 2, 1, &zero));
    assert_ok(cx, cr_network_set_table(cx, net->next, 2, m->a[0]));
    assert_ok(cx, cr_network_set_parents(cx, net->next, 3, 1, &two));
    assert_ok(cx, cr_network_set_table(cx, net->next, 3, m->b[0]));
    return net;
}

/* alpha and beta by their recursions, gamma [T][K], and log P(symbols). */
static double forward_backward(const hmm *m, size_t slices, const uint32_t *symbol, double *gamma)
{
    double log_e = 0, beta[K] = { 1, 1, 1 }, *alpha = gamma;
    for (size_t t = 0; t < slices; t++) {
        double sum = 0;
        for (size_t k = 0; k < K; k++) {
            double p = t == 0 ? m->pi[k] : 0;
            for (size_t i = 0; t > 0 && i < K; i++) p += alpha[(t - 1) * K + i] * m->a[i][k];
            sum += alpha[t * K + k] = p * m->b[k][symbol[t]];
        }
        for (size_t k = 0; k < K; k++) alpha[t * K + k] /= sum;
        log_e += log(sum);
    }
    for (size_t t = slices; t-- > 0;) {
        double next[K], sum = 0, most = 0;
        for (size_t k = 0; k < K; k++) sum += gamma[t * K + k] *= beta[k];
        for (size_t k = 0; k < K; k++) gamma[t * K + k] /= sum;
        for (size_t i = 0; i < K; i++) {
            next[i] = 0;
            for (size_t k = 0; k < K; k++) next[i] += m->a[i][k] * m->b[k][symbol[t]] * beta[k];
            if (next[i] > most) most = next[i];
        }
        for (size_t i = 0; i < K; i++) beta[i] = next[i] / most;
    }
    return log_e;
}

/* Viterbi's recursion in logs: the probability of the best path. */
static double viterbi(const hmm *m, size_t slices, const uint32_t *symbol)
{
    double delta[K], most = -INFINITY;
    for (size_t t = 0; t < slices; t++) {
        double next[K];
        for (size_t k = 0; k < K; k++) {
            double best = t == 0 ? log(m->pi[k]) : -INFINITY;
            for (size_t i = 0; t > 0 && i < K; i++) best = fmax(best, delta[i] + log(m->a[i][k]));
            next[k] = best + log(m->b[k][symbol[t]]);
        }
        memcpy(delta, next, sizeof delta);
    }
    for (size_t k = 0; k < K; k++) most = fmax(most, delta[k]);
    return most;
}

typedef struct compared {
    const double *gamma;
    double        worst;
    size_t        n;
} compared;

static bool compare(void *arg, size_t t, const double *p)
{
    compared *c = arg;
    for (size_t k = 0; k < K; k++) c->worst = fmax(c->worst, fabs(p[k] - c->gamma[t * K + k]));
    c->n++;
    return true;
}

/* So many slices, with this much memory for the messages (0: enough). */
static void check_hmm(cr_ctx *cx, size_t slices, size_t memory)
{
    cr_rng         r = cr_rng_stream(7, slices);
    hmm            m;
    cri_interface *h = NULL;
    uint32_t      *symbol = malloc(slices * sizeof *symbol);
    uint32_t *both = malloc(2 * slices * sizeof *both), *path = malloc(2 * slices * sizeof *path);
    double   *gamma = malloc(slices * K * sizeof *gamma), log_e, log_best, total = 0;
    cri_slice_evidence e = { .slices = slices, .code = both };
    compared           c = { .gamma = gamma };
    size_t             possible;
    assert_true(symbol && both && path && gamma);
    random_rows(&r, 1, K, m.pi);
    random_rows(&r, K, K, m.a[0]);
    random_rows(&r, K, SYMBOLS, m.b[0]);
    for (size_t t = 0; t < slices; t++) {
        symbol[t] = (uint32_t)cr_rng_below(&r, SYMBOLS);
        both[2 * t] = CRI_CODE_OPEN;
        both[2 * t + 1] = symbol[t];
    }
    cri_dynamic *net = network_of(cx, &m);
    assert_ok(cx, cri_interface_new(cx, net, &h));
    if (memory) cr_ctx_set_memory_limit(cx, cr_ctx_memory(cx) + memory);
    log_e = forward_backward(&m, slices, symbol, gamma);
    assert_ok(cx,
              cri_interface_smooth(cx, h, &e, 0, slices - 1, compare, &c, NULL, &total, &possible));
    assert_int_equal(possible, slices);
    assert_int_equal(c.n, slices);
    assert_true(c.worst < 1e-11);
    assert_close(total, log_e, 1e-9);
    assert_ok(cx, cri_interface_best(cx, h, &e, path, &log_best, &possible));
    assert_close(log_best, viterbi(&m, slices, symbol), 1e-9);
    double log_path = 0;
    for (size_t t = 0; t < slices; t++) {
        size_t k = path[2 * t];
        assert_int_equal(path[2 * t + 1], symbol[t]);
        log_path += log(t == 0 ? m.pi[k] : m.a[path[2 * t - 2]][k]) + log(m.b[k][symbol[t]]);
    }
    assert_close(log_path, log_best, 1e-9);
    cr_ctx_set_memory_limit(cx, 0);
    cri_interface_free(cx, h);
    cri_dynamic_free(cx, net);
    free(gamma);
    free(symbol);
    free(both);
    free(path);
}

TEST(hidden_markov_model) { check_hmm(cx, 50, 0); }
TEST(long_sequences_do_not_underflow) { check_hmm(cx, 100000, 0); }
TEST(little_memory_takes_blocks) { check_hmm(cx, 20000, 1500000); }

/* --- large tables ---------------------------------------------------------------------------- */

/* A hidden state so large that tables are walked in blocks, or as large ones are. */
static void check_large(cr_ctx *cx, size_t states)
{
    cr_rng                 r = cr_rng_stream(11, states);
    cri_dynamic           *net = NULL;
    cri_interface         *h = NULL;
    static double          value[WIDTH * WIDTH];
    static marginals       filtered, smoothed;
    static sliced_evidence x;
    double                 log_e;
    size_t                 possible, zero = 0, two = 2;
    assert_ok(cx, cri_dynamic_new(cx, &net));
    assert_ok(cx, cr_network_add_variable(cx, net->first, "state", states, NULL, NULL));
    assert_ok(cx, cr_network_add_variable(cx, net->first, "symbol", 3, NULL, NULL));
    assert_ok(cx, cri_dynamic_add_slices(cx, net));
    random_rows(&r, 1, states, value);
    assert_ok(cx, cr_network_set_table(cx, net->first, 0, value));
    random_rows(&r, states, 3, value);
    assert_ok(cx, cr_network_set_parents(cx, net->first, 1, 1, &zero));
    assert_ok(cx, cr_network_set_table(cx, net->first, 1, value));
    assert_ok(cx, cr_network_set_parents(cx, net->next, 3, 1, &two));
    assert_ok(cx, cr_network_set_table(cx, net->next, 3, value));
    random_rows(&r, states, states, value);
    assert_ok(cx, cr_network_set_parents(cx, net->next, 2, 1, &zero));
    assert_ok(cx, cr_network_set_table(cx, net->next, 2, value));
    x.e = (cri_slice_evidence){ .slices = 4, .code = x.code };
    for (size_t t = 0; t < 4; t++) {
        x.code[2 * t] = CRI_CODE_OPEN;
        x.code[2 * t + 1] = t == 2 ? CRI_CODE_OPEN : (uint32_t)cr_rng_below(&r, 3);
    }
    assert_ok(cx, cri_interface_new(cx, net, &h));
    filtered = (marginals){ .width = states + 3 };
    smoothed = (marginals){ .width = states + 3, .falling = true };
    assert_ok(cx, cri_interface_filter(cx, h, &x.e, keep, &filtered, NULL, &possible));
    assert_ok(cx,
              cri_interface_smooth(cx, h, &x.e, 0, 3, keep, &smoothed, NULL, &log_e, &possible));
    check_marginals(cx, net, &x, &filtered, true);
    check_marginals(cx, net, &x, &smoothed, false);
    check_best(cx, h, net, &x, log_e);
    cri_interface_free(cx, h);
    cri_dynamic_free(cx, net);
}

TEST(blocks_of_a_table) { check_large(cx, 50); }
TEST(large_tables) { check_large(cx, 100); }

/* --- many observations in a slice ------------------------------------------------------------ */

/* Hundreds of sensors of one state: the product of their likelihoods is far below the smallest double. */
TEST(many_sensors_do_not_underflow)
{
    enum { SENSORS = 600 };
    cri_dynamic       *net = NULL;
    cri_interface     *h = NULL;
    static uint32_t    code[2 * (SENSORS + 1)];
    static double      p[2 * WIDTH * 20];
    double             start[] = { 0.5, 0.5 }, stay[] = { 0.9, 0.1, 0.1, 0.9 };
    double             sensor[] = { 0.2, 0.8, 0.21, 0.79 }, log_e[2];
    cri_slice_evidence e = { .slices = 2, .code = code };
    size_t             possible, zero = 0, own = SENSORS + 1;
    char               name[16];
    assert_ok(cx, cri_dynamic_new(cx, &net));
    for (size_t v = 0; v <= SENSORS; v++) {
        snprintf(name, sizeof name, "s%zu", v);
        assert_ok(cx, cr_network_add_variable(cx, net->first, name, 2, NULL, NULL));
    }
    assert_ok(cx, cri_dynamic_add_slices(cx, net));
    assert_ok(cx, cr_network_set_table(cx, net->first, 0, start));
    assert_ok(cx, cr_network_set_parents(cx, net->next, own, 1, &zero));
    assert_ok(cx, cr_network_set_table(cx, net->next, own, stay));
    for (size_t v = 1; v <= SENSORS; v++) {
        assert_ok(cx, cr_network_set_parents(cx, net->first, v, 1, &zero));
        assert_ok(cx, cr_network_set_table(cx, net->first, v, sensor));
        assert_ok(cx, cr_network_set_parents(cx, net->next, own + v, 1, &own));
        assert_ok(cx, cr_network_set_table(cx, net->next, own + v, sensor));
    }
    code[0] = code[SENSORS + 1] = CRI_CODE_OPEN;
    assert_ok(cx, cri_interface_new(cx, net, &h));
    assert_true(cri_interface_width(h) <= sizeof p / sizeof *p);
    assert_ok(cx, cri_interface_filter(cx, h, &e, NULL, NULL, log_e, &possible));
    assert_int_equal(possible, 2);
    double low = SENSORS * log(0.2), ratio = pow(0.21 / 0.2, SENSORS);
    assert_close(log_e[0], low + log(0.5 + 0.5 * ratio), 1e-9);
    double on = ratio / (1 + ratio), next = 0.9 * on + 0.1 * (1 - on);
    assert_close(log_e[1], low + log(1 - next + next * ratio), 1e-9);
    cri_interface_free(cx, h);
    cri_dynamic_free(cx, net);
}

/* --- memory ---------------------------------------------------------------------------------- */

static cr_status follow_all(cr_ctx *cx, void *arg)
{
    const sliced_evidence *x = arg;
    cr_status              st = CR_OK;
    cri_interface         *h = NULL;
    static marginals       m;
    cri_dynamic           *net = NULL;
    uint32_t               state[256];
    size_t                 possible;
    double                 log_e;
    double                 p[] = { 0.3, 0.7 }, q[] = { 0.2, 0.8, 0.6, 0.4 };
    size_t                 zero = 0;
    CR_TRY(cri_dynamic_new(cx, &net));
    CR_TRY(cr_network_add_variable(cx, net->first, "a", 2, NULL, NULL));
    CR_TRY(cri_dynamic_add_slices(cx, net));
    CR_TRY(cr_network_set_table(cx, net->first, 0, p));
    CR_TRY(cr_network_set_parents(cx, net->next, 1, 1, &zero));
    CR_TRY(cr_network_set_table(cx, net->next, 1, q));
    CR_TRY(cri_interface_new(cx, net, &h));
    m = (marginals){ .width = 2, .falling = true };
    CR_TRY(cri_interface_smooth(cx, h, &x->e, 0, 3, keep, &m, NULL, &log_e, &possible));
    CR_TRY(cri_interface_filter(cx, h, &x->e, NULL, NULL, NULL, &possible));
    CR_TRY(cri_interface_best(cx, h, &x->e, state, &log_e, &possible));
done:
    cri_interface_free(cx, h);
    cri_dynamic_free(cx, net);
    return st;
}

TEST(allocations_may_fail)
{
    static sliced_evidence x;
    x.e = (cri_slice_evidence){ .slices = 4, .code = x.code };
    for (size_t i = 0; i < 4; i++) x.code[i] = i == 2 ? 1 : CRI_CODE_OPEN;
    test_every_allocation_fails(follow_all, &x);
}
