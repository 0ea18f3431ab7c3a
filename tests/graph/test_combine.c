/* Combinations of large tables, several outputs at once, against plain loops. */
#include "support.h"

#include "base/rng.h"
#include "graph/factor/combine.h"

enum { DIMS = 8, TABLES = 5 };

typedef struct table {
    size_t  n, var[DIMS], states[DIMS], size;
    double *value;
} table;

static const size_t STATES[DIMS] = { 4, 4, 3, 5, 6, 4, 7, 6 }; /* 241920 entries: several parts */

static void make_table(table *t, unsigned scope)
{
    *t = (table){ .size = 1 };
    for (size_t d = 0; d < DIMS; d++) {
        if (!(scope >> d & 1)) continue;
        t->var[t->n] = d;
        t->states[t->n++] = STATES[d];
        t->size *= STATES[d];
    }
    t->value = calloc(t->size, sizeof *t->value);
}

static size_t place(const table *t, const size_t *state)
{
    size_t at = 0;
    for (size_t i = 0; i < t->n; i++) at = at * t->states[i] + state[t->var[i]];
    return at;
}

/* The next joint state; false after the last. */
static bool next(size_t *state)
{
    for (size_t d = DIMS; d-- > 0;) {
        if (++state[d] < STATES[d]) return true;
        state[d] = 0;
    }
    return false;
}

static void naive(const table *in, table *out, bool maximise)
{
    size_t state[DIMS] = { 0 };
    do {
        double x = 1;
        for (size_t i = 0; i < TABLES; i++) x *= in[i].value[place(&in[i], state)];
        for (size_t k = 0; k < TABLES; k++) {
            double *o = &out[k].value[place(&out[k], state)];
            *o = maximise ? fmax(*o, x) : *o + x;
        }
    } while (next(state));
}

static void run(cr_ctx *cx, cri_semiring ring, const table *in, table *out, size_t outputs)
{
    cri_space   sp = { 0 };
    cri_operand operand[TABLES];
    cri_output  to[TABLES];
    bool        lost;
    for (size_t d = 0; d < DIMS; d++) assert_true(cri_space_add(&sp, d, STATES[d]));
    for (size_t i = 0; i < TABLES; i++) {
        operand[i].value = in[i].value;
        cri_space_strides(&sp, in[i].n, in[i].var, in[i].states, operand[i].stride);
    }
    for (size_t k = 0; k < outputs; k++) {
        to[k] = (cri_output){ .value = out[k].value };
        cri_space_strides(&sp, out[k].n, out[k].var, out[k].states, to[k].stride);
    }
    assert_true(cri_combine(cx, &sp, ring, TABLES, operand, outputs, to, true, &lost));
    assert_false(lost);
}

TEST(several_outputs_at_once)
{
    for (uint64_t round = 0; round < 6; round++) {
        cr_rng r = cr_rng_stream(61, round);
        table  in[TABLES], expected[TABLES], got[2][TABLES];
        bool   maximise = round % 3 == 2;
        for (size_t i = 0; i < TABLES; i++) {
            /* some outputs are single variables, some almost everything */
            unsigned bits = (unsigned)cr_rng_below(&r, 256);
            unsigned scope = i == 0   ? 1u << cr_rng_below(&r, 8)
                             : i == 1 ? 0xff & ~(1u << round)
                                      : bits;
            make_table(&in[i], (unsigned)cr_rng_below(&r, 256));
            for (size_t e = 0; e < in[i].size; e++) in[i].value[e] = 0.5 + cr_rng_uniform(&r);
            make_table(&expected[i], scope);
            make_table(&got[0][i], scope);
            make_table(&got[1][i], scope);
        }
        naive(in, expected, maximise);
        for (size_t t = 0; t < 2; t++) {
            cr_ctx_set_threads(cx, t ? 4 : 1);
            run(cx, maximise ? CRI_MAX : CRI_SUM, in, got[t], TABLES);
        }
        for (size_t k = 0; k < TABLES; k++) {
            for (size_t e = 0; e < expected[k].size; e++)
                assert_relative(got[0][k].value[e], expected[k].value[e], 1e-12);
            assert_memory_equal(got[0][k].value, got[1][k].value,
                                expected[k].size * sizeof(double));
            memset(got[0][k].value, 0, expected[k].size * sizeof(double)); /* and one by one */
            run(cx, maximise ? CRI_MAX : CRI_SUM, in, &got[0][k], 1);
            for (size_t e = 0; e < expected[k].size; e++)
                assert_relative(got[0][k].value[e], expected[k].value[e], 1e-12);
        }
        for (size_t i = 0; i < TABLES; i++) {
            free(in[i].value);
            free(expected[i].value);
            free(got[0][i].value);
            free(got[1][i].value);
        }
    }
}

/* The caller's floating-point flags are as they were, and underflow is told. */
TEST(underflow_is_told)
{
    cri_space   sp = { 0 };
    double      tiny[] = { 1e-200, 1 }, out = 0;
    cri_operand in[2] = { { .value = tiny, .stride = { 1 } }, { .value = tiny, .stride = { 1 } } };
    cri_output  to = { .value = &out };
    bool        lost = false;
    assert_true(cri_space_add(&sp, 0, 2));
    assert_true(cri_combine(cx, &sp, CRI_SUM, 2, in, 1, &to, true, &lost));
    assert_true(lost && out == 1);
    tiny[0] = 1e-100;
    out = 0;
    assert_true(cri_combine(cx, &sp, CRI_SUM, 2, in, 1, &to, true, &lost));
    assert_false(lost);
}
