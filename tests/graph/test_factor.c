/* The algebra of factors, against loops that compute every index. */
#include "support.h"

#include "base/rng.h"
#include "graph/factor/factor.h"
#include "graph/factor/variable.h"

enum { VARIABLES = 9 };

/* --- the oracle: one entry at a time --------------------------------------------------------- */

/* The states of the variables of a sorted scope at entry e. */
static void states_at(const cr_factor *f, size_t e, size_t *state)
{
    for (size_t i = f->n; i-- > 0;) {
        state[f->var[i]] = e % f->states[i];
        e /= f->states[i];
    }
}

static size_t naive_index(const cr_factor *f, const size_t *state)
{
    size_t at = 0;
    for (size_t i = 0; i < f->n; i++) at = at * f->states[i] + state[f->var[i]];
    return at;
}

static double value_at(const cr_factor *f, const size_t *state)
{
    double x = f->value[naive_index(f, state)];
    return f->is_log ? exp(x) : x;
}

/* Sum or maximum over all assignments that agree with out's entry e of a (times b). */
static double naive_entry(const cr_factor *a, const cr_factor *b, const size_t *states,
                          bool maximise, const cr_factor *out, size_t e)
{
    size_t wanted[VARIABLES] = { 0 }, state[VARIABLES] = { 0 };
    bool   fixed[VARIABLES] = { 0 }, used[VARIABLES] = { 0 };
    double total = 0;
    states_at(out, e, wanted);
    for (size_t i = 0; i < out->n; i++) fixed[out->var[i]] = true;
    for (size_t i = 0; i < a->n; i++) used[a->var[i]] = true;
    for (size_t i = 0; b && i < b->n; i++) used[b->var[i]] = true;
    for (size_t v = 0; v < VARIABLES; v++) state[v] = fixed[v] ? wanted[v] : 0;
    for (;;) {
        double x = value_at(a, state) * (b ? value_at(b, state) : 1);
        total = maximise ? fmax(total, x) : total + x;
        size_t v = 0;
        for (; v < VARIABLES; v++) {
            if (fixed[v] || !used[v]) continue;
            if (++state[v] < states[v]) break;
            state[v] = 0;
        }
        if (v == VARIABLES) return total;
    }
}

/* --- random factors -------------------------------------------------------------------------- */

static void random_factor(cr_ctx *cx, cr_rng *r, const size_t *states, size_t most, cr_factor *out)
{
    size_t order[VARIABLES], var[VARIABLES], count[VARIABLES], size = 1, n = 0;
    cr_rng_permutation(r, VARIABLES, order);
    for (size_t i = 0; i < VARIABLES && n < most; i++) {
        if (cr_rng_below(r, 3) == 0) continue;
        var[n] = order[i];
        count[n] = states[order[i]];
        size *= count[n++];
    }
    double *v = malloc(size * sizeof *v);
    for (size_t e = 0; e < size; e++) v[e] = cr_rng_below(r, 5) ? cr_rng_uniform(r) : 0;
    assert_ok(cx, cr_factor_new(cx, n, var, count, v, out));
    for (size_t e = 0; e < size; e++) { /* the order in which they were given */
        size_t state[VARIABLES], rest = e;
        for (size_t i = n; i-- > 0;) {
            state[var[i]] = rest % count[i];
            rest /= count[i];
        }
        assert_true(out->value[naive_index(out, state)] == v[e]);
        assert_int_equal(cr_factor_index(out, state), naive_index(out, state));
    }
    free(v);
}

static void random_states(cr_rng *r, size_t *states)
{
    for (size_t v = 0; v < VARIABLES; v++) states[v] = 1 + cr_rng_below(r, 4);
}

/* --- tests ----------------------------------------------------------------------------------- */

TEST(operations_are_the_definitions)
{
    cr_rng r = cr_rng_stream(1, 0);
    for (int round = 0; round < 150; round++) {
        size_t    states[VARIABLES], keep[VARIABLES], kept = 0;
        cr_factor a, b, out[4];
        random_states(&r, states);
        random_factor(cx, &r, states, 4, &a);
        random_factor(cx, &r, states, 4, &b);
        for (size_t v = 0; v < VARIABLES; v++)
            if (cr_rng_below(&r, 2)) keep[kept++] = VARIABLES - 1 - v;
        cr_factor_set_log(&a, round % 2);
        cr_factor_set_log(&b, round / 2 % 2);
        assert_ok(cx, cr_factor_product(cx, &a, &b, &out[0]));
        assert_ok(cx, cr_factor_marginal(cx, &a, kept, keep, &out[1]));
        assert_ok(cx, cr_factor_max_marginal(cx, &a, kept, keep, &out[2]));
        assert_ok(cx, cr_factor_product_marginal(cx, &a, &b, kept, keep, &out[3]));
        for (int k = 0; k < 4; k++) {
            assert_true(out[k].is_log == a.is_log);
            for (size_t e = 0; e < out[k].size; e++) {
                double x = out[k].is_log ? exp(out[k].value[e]) : out[k].value[e];
                assert_close(x, naive_entry(&a, k % 3 ? NULL : &b, states, k == 2, &out[k], e),
                             1e-13);
            }
            cr_factor_free(cx, &out[k]);
        }
        cr_factor_free(cx, &a);
        cr_factor_free(cx, &b);
    }
}

/* A large table: many blocks, several parts, the same bits for any number of threads. */
TEST(large_tables_do_not_depend_on_threads)
{
    cr_rng    r = cr_rng_stream(2, 0);
    size_t    states[VARIABLES] = { 5, 4, 6, 3, 7, 1, 5, 4, 6 };
    cr_factor a, b, out[2];
    size_t    sa[] = { 0, 2, 3, 4, 6, 8 }, ca[] = { 5, 6, 3, 7, 5, 6 };
    size_t    sb[] = { 1, 2, 5, 6, 7 }, cb[] = { 4, 6, 1, 5, 4 };
    assert_ok(cx, cr_factor_new(cx, 6, sa, ca, NULL, &a));
    assert_ok(cx, cr_factor_new(cx, 5, sb, cb, NULL, &b));
    for (size_t e = 0; e < a.size; e++) a.value[e] = cr_rng_uniform(&r);
    for (size_t e = 0; e < b.size; e++) b.value[e] = cr_rng_uniform(&r);
    size_t keeps[][3] = { { 0, 1, 8 }, { 2, 6, 7 }, { 7, 8, 4 }, { 0, 3, 5 } };
    for (size_t k = 0; k < 4; k++) {
        for (size_t i = 0; i < 2; i++) {
            cr_ctx_set_threads(cx, i ? 4 : 1);
            assert_ok(cx, cr_factor_product_marginal(cx, &a, &b, 3, keeps[k], &out[i]));
        }
        assert_memory_equal(out[0].value, out[1].value, out[0].size * sizeof(double));
        for (size_t e = 0; e < out[0].size; e += 1 + out[0].size / 5)
            assert_relative(out[0].value[e], naive_entry(&a, &b, states, false, &out[0], e), 1e-12);
        cr_factor_free(cx, &out[0]);
        cr_factor_free(cx, &out[1]);
    }
    cr_factor_free(cx, &a);
    cr_factor_free(cx, &b);
}

TEST(laws_hold)
{
    cr_rng r = cr_rng_stream(3, 0);
    for (int round = 0; round < 50; round++) {
        size_t    states[VARIABLES];
        cr_factor a, b, c, ab, ba, bc, left, right, back;
        random_states(&r, states);
        random_factor(cx, &r, states, 3, &a);
        random_factor(cx, &r, states, 3, &b);
        random_factor(cx, &r, states, 3, &c);
        assert_ok(cx, cr_factor_product(cx, &a, &b, &ab));
        assert_ok(cx, cr_factor_product(cx, &b, &a, &ba));
        assert_memory_equal(ab.value, ba.value, ab.size * sizeof(double)); /* a b = b a */
        assert_ok(cx, cr_factor_product(cx, &b, &c, &bc));
        assert_ok(cx, cr_factor_product(cx, &ab, &c, &left));
        assert_ok(cx, cr_factor_product(cx, &a, &bc, &right));
        for (size_t e = 0; e < left.size; e++)
            assert_relative(left.value[e], right.value[e], 1e-15); /* (a b) c = a (b c) */
        assert_ok(cx, cr_factor_divide(cx, &ab, &b, &back));
        for (size_t e = 0; e < back.size; e++) {
            size_t state[VARIABLES] = { 0 };
            states_at(&back, e, state);
            double expected = value_at(&b, state) > 0 ? value_at(&a, state) : 0; /* (a b) / b = a */
            assert_relative(back.value[e], expected, 1e-15);
        }
        double log_sum, sum = 0;
        for (size_t e = 0; e < ab.size; e++) sum += ab.value[e];
        cr_factor_normalise(&ab, &log_sum);
        if (sum > 0)
            assert_close(log_sum, log(sum), 1e-13);
        else
            assert_true(isinf(log_sum));
        cr_factor *all[] = { &a, &b, &c, &ab, &ba, &bc, &left, &right, &back };
        for (size_t i = 0; i < 9; i++) cr_factor_free(cx, all[i]);
    }
}

TEST(reducing_is_slicing)
{
    cr_rng r = cr_rng_stream(4, 0);
    for (int round = 0; round < 50; round++) {
        size_t    states[VARIABLES], v = cr_rng_below(&r, VARIABLES), s;
        cr_factor a, out;
        random_states(&r, states);
        random_factor(cx, &r, states, 5, &a);
        s = cr_rng_below(&r, states[v]);
        assert_ok(cx, cr_factor_reduce(cx, &a, v, s, &out));
        assert_int_equal(out.n, a.n - (cr_factor_position(&a, v) != CR_NONE));
        for (size_t e = 0; e < out.size; e++) {
            size_t state[VARIABLES] = { 0 };
            states_at(&out, e, state);
            state[v] = s;
            assert_true(out.value[e] == value_at(&a, state));
        }
        cr_factor_free(cx, &out);
        if (cr_factor_position(&a, v) != CR_NONE)
            assert_fails_with(cx, cr_factor_reduce(cx, &a, v, states[v], &out), CR_EARG,
                              "no state");
        cr_factor_free(cx, &a);
    }
}

TEST(logarithms_reach_far)
{
    cr_factor f, sum;
    size_t    var = 3, two = 2, none = 0;
    assert_ok(cx, cr_factor_new(cx, 1, &var, &two, NULL, &f));
    cr_factor_set_log(&f, true);
    f.value[0] = -5000, f.value[1] = -5001;
    assert_ok(cx, cr_factor_marginal(cx, &f, 0, &none, &sum));
    assert_close(sum.value[0], -5000 + log1p(exp(-1)), 1e-15);
    double total;
    cr_factor_normalise(&f, &total);
    assert_close(total, -5000 + log1p(exp(-1)), 1e-15);
    assert_close(exp(f.value[0]) + exp(f.value[1]), 1, 1e-12);
    cr_factor_free(cx, &sum);
    f.value[0] = f.value[1] = -INFINITY;
    assert_ok(cx, cr_factor_marginal(cx, &f, 0, &none, &sum));
    assert_true(isinf(sum.value[0]));
    cr_factor_free(cx, &sum);
    cr_factor_free(cx, &f);
}

TEST(wrong_arguments_are_named)
{
    cr_factor a = { 0 }, b = { 0 }, out = { 0 };
    size_t    twice[] = { 1, 1 }, var[] = { 0, 1 }, two[] = { 2, 2 }, three[] = { 3, 3 };
    size_t    many[40], binary[40];
    double    bad[] = { 0.5, -1 }, nan[] = { 0.5, NAN }, zero[] = { 0, 1 };
    for (size_t i = 0; i < 40; i++) many[i] = i, binary[i] = 1000;
    assert_fails_with(cx, cr_factor_new(cx, 2, twice, two, NULL, &a), CR_EARG, "twice");
    assert_fails_with(cx, cr_factor_new(cx, 1, var, two, bad, &a), CR_EDATA, "-1");
    assert_fails_with(cx, cr_factor_new(cx, 1, var, two, nan, &a), CR_EDATA, "nan");
    assert_fails_with(cx, cr_factor_new(cx, 40, many, binary, NULL, &a), CR_ENOMEM, "1e+120");
    assert_ok(cx, cr_factor_new(cx, 2, var, two, NULL, &a));
    assert_ok(cx, cr_factor_new(cx, 2, var, three, NULL, &b));
    assert_fails_with(cx, cr_factor_product(cx, &a, &b, &out), CR_EARG, "2 states");
    cr_factor_free(cx, &b);
    assert_ok(cx, cr_factor_new(cx, 1, var, two, zero, &b));
    assert_fails_with(cx, cr_factor_divide(cx, &a, &b, &out), CR_ENUMERIC, "by 0");
    assert_fails_with(cx, cr_factor_divide(cx, &b, &a, &out), CR_EARG, "variable 1");
    assert_null(out.value);
    cr_factor_free(cx, &a);
    cr_factor_free(cx, &b);
}

static cr_status every_operation(cr_ctx *cx, void *unused)
{
    (void)unused;
    cr_status st = CR_OK;
    cr_factor a = { 0 }, b = { 0 }, out[5] = { { 0 } };
    size_t    va[] = { 2, 0 }, vb[] = { 2, 1 }, states[] = { 3, 2 };
    CR_TRY(cr_factor_new(cx, 2, va, states, NULL, &a));
    CR_TRY(cr_factor_new(cx, 2, vb, states, NULL, &b));
    cr_factor_set_log(&b, true);
    CR_TRY(cr_factor_product(cx, &a, &b, &out[0]));
    CR_TRY(cr_factor_marginal(cx, &b, 1, va, &out[1]));
    CR_TRY(cr_factor_divide(cx, &out[0], &b, &out[2]));
    CR_TRY(cr_factor_reduce(cx, &a, 2, 1, &out[3]));
    CR_TRY(cr_factor_product_marginal(cx, &a, &b, 1, va, &out[4]));
done:
    cr_factor_free(cx, &a);
    cr_factor_free(cx, &b);
    for (size_t i = 0; i < 5; i++) cr_factor_free(cx, &out[i]);
    return st;
}

TEST(allocations_may_fail) { test_every_allocation_fails(every_operation, NULL); }
