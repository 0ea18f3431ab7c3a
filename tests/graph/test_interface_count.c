/* Expected counts of families: by a sum over all joint states of the slices side by side; by numerical derivatives, which
 * they are, where tables are large; by counting, where all is observed; and what is not wanted stays as it is. */
#include "support.h"

#include "base/context_internal.h"
#include "graph/network/network_internal.h"
#include "random_dynamic.h"

enum { MOST_ENTRIES = 4096, MOST_VARIABLES = 8 };

/* Counts of all families, in arrays of their own. */
typedef struct counts {
    double  value[2][MOST_ENTRIES];
    double *first[MOST_VARIABLES], *next[MOST_VARIABLES];
} counts;

static cri_family_sums open_counts(const cri_dynamic *net, counts *c)
{
    size_t used[2] = { 0, 0 };
    memset(c->value, 0, sizeof c->value);
    for (size_t v = 0; v < net->n; v++) {
        c->first[v] = c->value[0] + used[0];
        c->next[v] = c->value[1] + used[1];
        used[0] += cr_network_table(net->first, v).size;
        used[1] += cr_network_table(net->next, net->n + v).size;
    }
    assert_true(used[0] <= MOST_ENTRIES && used[1] <= MOST_ENTRIES);
    return (cri_family_sums){ c->first, c->next };
}

/* The entry of the table of variable v in slice t where all variables have these states. */
static size_t entry_of(const cri_dynamic *net, size_t t, size_t v, const size_t *state)
{
    cr_table_view table =
        t == 0 ? cr_network_table(net->first, v) : cr_network_table(net->next, net->n + v);
    const size_t *from = t == 0 ? state : state + (t - 1) * net->n;
    size_t        entry = 0;
    for (size_t d = 0; d < table.n; d++)
        entry = entry * cr_network_states(t == 0 ? net->first : net->next, table.scope[d]) +
                from[table.scope[d]];
    return entry;
}

/* The same by the definition; the weight of all joint states. */
static double enumerate_counts(cr_ctx *cx, const cri_dynamic *net, const sliced_evidence *x,
                               counts *out)
{
    size_t       slices = x->e.slices, n = net->n, all = slices * n, state[64] = { 0 }, i;
    double       total = 0;
    cr_network  *whole = NULL;
    cr_evidence *e = NULL;
    open_counts(net, out);
    assert_ok(cx, cri_dynamic_unroll(cx, net, slices, &whole));
    assert_ok(cx, cr_evidence_new(cx, whole, &e));
    lay_evidence(cx, x, whole, e, all);
    do {
        double p = exp(cr_network_log_value(whole, state));
        for (i = 0; i < all; i++)
            if (cr_evidence_likelihood(e, i)) p *= cr_evidence_likelihood(e, i)[state[i]];
        for (i = 0; i < all && p > 0; i++) {
            bool set = x->code[i] < CRI_CODE_WEIGHED && x->code[i] & CRI_CODE_SET;
            if (!set)
                (i < n ? out->first : out->next)[i % n][entry_of(net, i / n, i % n, state)] += p;
        }
        total += p;
        for (i = all; i-- > 0;) {
            if (++state[i] < cr_network_states(whole, i)) break;
            state[i] = 0;
        }
    } while (i < all);
    for (size_t k = 0; k < 2; k++)
        for (i = 0; i < MOST_ENTRIES && total > 0; i++) out->value[k][i] /= total;
    cr_evidence_free(cx, e);
    cr_network_free(cx, whole);
    return total;
}

static bool check_random(cr_ctx *cx, uint64_t seed)
{
    static counts   found, expected;
    cr_rng          r = cr_rng_stream(seed, 3);
    size_t          n = 1 + cr_rng_below(&r, 3), slices = 1 + cr_rng_below(&r, n == 1 ? 6 : 3);
    cri_dynamic    *net = random_dynamic(cx, &r, n);
    cri_interface  *h = NULL;
    sliced_evidence x;
    double          log_e;
    size_t          possible;
    random_slices(&r, net, slices, &x);
    double          total = enumerate_counts(cx, net, &x, &expected);
    cri_family_sums sums = open_counts(net, &found);
    assert_ok(cx, cri_interface_new(cx, net, &h));
    assert_ok(cx, cri_interface_count(cx, h, &x.e, &sums, NULL, &log_e, &possible));
    assert_int_equal(possible == slices, total > 0);
    if (total > 0) assert_close(log_e, log(total), 1e-10);
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < MOST_ENTRIES; i++)
            assert_close(found.value[k][i], expected.value[k][i], 1e-10);
    cri_interface_free(cx, h);
    cri_dynamic_free(cx, net);
    return total > 0;
}

TEST(counts_are_sums_over_all_states)
{
    size_t possible = 0, tried = 200;
    for (uint64_t seed = 1; seed <= tried; seed++) possible += check_random(cx, seed);
    assert_true(possible > tried / 3 && possible < tried);
}

/* --- large tables ---------------------------------------------------------------------------- */

enum { WIDE = 30, PLACES = 12 };

static void random_rows(cr_ctx *cx, cr_rng *r, cr_network *net, size_t v, size_t n,
                        const size_t *parents)
{
    size_t states = cr_network_states(net, v), size = states;
    for (size_t i = 0; i < n; i++) size *= cr_network_states(net, parents[i]);
    double *p = malloc(size * sizeof *p);
    for (size_t i = 0; i < size; i += states) {
        double sum = 0;
        for (size_t s = 0; s < states; s++) sum += p[i + s] = 0.05 + cr_rng_uniform(r);
        for (size_t s = 0; s < states; s++) p[i + s] /= sum;
    }
    assert_ok(cx, cr_network_set_parents(cx, net, v, n, parents));
    assert_ok(cx, cr_network_set_table(cx, net, v, p));
    free(p);
}

/* z -> z', u, y: the table of z' given z and u has more entries than are walked by lists of places. */
static cri_dynamic *large_network(cr_ctx *cx, cr_rng *r)
{
    cri_dynamic *net = NULL;
    size_t       z_from[] = { 0, 4 }, y_from = 3, first_from[] = { 1 }, first_y = 0;
    assert_ok(cx, cri_dynamic_new(cx, &net));
    assert_ok(cx, cr_network_add_variable(cx, net->first, "z", WIDE, NULL, NULL));
    assert_ok(cx, cr_network_add_variable(cx, net->first, "u", PLACES, NULL, NULL));
    assert_ok(cx, cr_network_add_variable(cx, net->first, "y", 2, NULL, NULL));
    assert_ok(cx, cri_dynamic_add_slices(cx, net));
    random_rows(cx, r, net->first, 0, 1, first_from);
    random_rows(cx, r, net->first, 1, 0, NULL);
    random_rows(cx, r, net->first, 2, 1, &first_y);
    random_rows(cx, r, net->next, 3, 2, z_from);
    random_rows(cx, r, net->next, 4, 0, NULL);
    random_rows(cx, r, net->next, 5, 1, &y_from);
    return net;
}

static double log_evidence(cr_ctx *cx, const cri_dynamic *net, const cri_slice_evidence *e)
{
    cri_interface *h = NULL;
    double         log_e[16], sum = 0;
    size_t         possible;
    assert_ok(cx, cri_interface_new(cx, net, &h));
    assert_ok(cx, cri_interface_filter(cx, h, e, NULL, NULL, log_e, &possible));
    for (size_t t = 0; t < e->slices; t++) sum += log_e[t];
    cri_interface_free(cx, h);
    return sum;
}

/* n(x, u) = p(x | u) d log P(e) / d p(x | u), tables being free to have any sums. */
TEST(counts_of_large_tables_are_derivatives)
{
    enum { SLICES = 4, N = 3 };
    cr_rng         r = cr_rng_stream(9, 1);
    cri_dynamic   *net = large_network(cx, &r);
    cri_interface *h = NULL;
    uint32_t       code[SLICES * N];
    double        *first[N] = { NULL, NULL, NULL }, *next[N] = { NULL, NULL, NULL }, log_e, sum = 0;
    size_t         size, possible;
    double        *p = cri_dynamic_table(net, false, 0, &size), *count = calloc(size, sizeof *p);
    for (size_t i = 0; i < SLICES * N; i++) code[i] = i % N == 2 ? i / N % 2 : CRI_CODE_OPEN;
    cri_slice_evidence e = { .slices = SLICES, .code = code };
    next[0] = count; /* the other families are not wanted */
    assert_int_equal(size, WIDE * WIDE * PLACES);
    assert_ok(cx, cri_interface_new(cx, net, &h));
    assert_ok(cx, cri_interface_count(cx, h, &e, &(cri_family_sums){ first, next }, NULL, &log_e,
                                      &possible));
    for (size_t i = 0; i < size; i++) sum += count[i];
    assert_close(sum, SLICES - 1, 1e-10);
    for (size_t k = 0; k < 20; k++) {
        size_t i = cr_rng_below(&r, size);
        double was = p[i], up, down;
        p[i] = was * 1.01;
        up = log_evidence(cx, net, &e);
        p[i] = was * 0.99;
        down = log_evidence(cx, net, &e);
        p[i] = was;
        assert_close(count[i], (up - down) / 0.02, 1e-7);
    }
    free(count);
    cri_interface_free(cx, h);
    cri_dynamic_free(cx, net);
}

/* --- long sequences, and values that change -------------------------------------------------- */

/* All observed: counts are counts, to the last bit, and one array may hold those of both kinds of slices. */
TEST(what_is_observed_is_counted)
{
    enum { SLICES = 3000 };
    cr_rng         r = cr_rng_stream(2, 1);
    cri_dynamic   *net = random_dynamic(cx, &r, 1);
    cri_interface *h = NULL;
    size_t         states = cr_network_states(net->first, 0), possible, seen[MOST_STATES] = { 0 };
    uint32_t      *code = malloc(SLICES * sizeof *code);
    double         one[MOST_STATES] = { 0 }, *both = one, log_e;
    assert_ok(cx, cr_network_set_parents(cx, net->next, 1, 0, NULL));
    for (size_t k = 0; k < 2; k++)
        assert_ok(cx, cr_network_set_table(cx, k ? net->next : net->first, k,
                                           states == 1   ? (double[]){ 1 }
                                           : states == 2 ? (double[]){ 0.5, 0.5 }
                                                         : (double[]){ 0.2, 0.5, 0.3 }));
    for (size_t t = 0; t < SLICES; t++) seen[code[t] = (uint32_t)cr_rng_below(&r, states)]++;
    cri_slice_evidence e = { .slices = SLICES, .code = code };
    assert_ok(cx, cri_interface_new(cx, net, &h));
    assert_ok(cx, cri_interface_count(cx, h, &e, &(cri_family_sums){ &both, &both }, NULL, &log_e,
                                      &possible));
    for (size_t s = 0; s < states; s++) assert_true(one[s] == (double)seen[s]);
    free(code);
    cri_interface_free(cx, h);
    cri_dynamic_free(cx, net);
}

/* An open handle sees new values of tables, with and without tables of its own beside the network. */
TEST(tables_may_change_their_values)
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        static counts   a, b;
        cr_rng          r = cr_rng_stream(seed, 5);
        cri_dynamic    *net = random_dynamic(cx, &r, 2);
        cri_interface  *h = NULL, *fresh = NULL;
        sliced_evidence x = { .e = { .slices = 3, .code = x.code } };
        double          log_a, log_b;
        size_t          size, possible;
        for (size_t i = 0; i < 6; i++) x.code[i] = CRI_CODE_OPEN;
        assert_ok(cx, cri_interface_new(cx, net, &h));
        cri_family_sums sums = open_counts(net, &a);
        assert_ok(cx, cri_interface_count(cx, h, &x.e, &sums, NULL, &log_a, &possible));
        double *p = cri_dynamic_table(net, false, 0, &size);
        size_t  states = cr_network_states(net->first, 0);
        for (size_t i = 0; i < size; i++) p[i] = 1 / (double)states;
        cri_interface_renew(h);
        sums = open_counts(net, &a);
        assert_ok(cx, cri_interface_count(cx, h, &x.e, &sums, NULL, &log_a, &possible));
        assert_ok(cx, cri_interface_new(cx, net, &fresh));
        sums = open_counts(net, &b);
        assert_ok(cx, cri_interface_count(cx, fresh, &x.e, &sums, NULL, &log_b, &possible));
        assert_memory_equal(a.value, b.value, sizeof a.value);
        cri_interface_free(cx, h);
        cri_interface_free(cx, fresh);
        cri_dynamic_free(cx, net);
    }
}
