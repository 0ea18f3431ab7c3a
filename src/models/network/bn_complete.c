/* bn_complete.c -- rows with gaps as complete rows that weigh as much as they are probable.
 * Of a row with at most 64 completions each is there with its posterior probability; of others 64 are drawn, by random
 * numbers that belong to what the row shows, not to its place. */
#include "bn_pieces.h"
#include "base/context_internal.h"
#include "base/find.h"
#include "base/rng.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

enum { MOST_COMPLETIONS = 64 };

/* The pieces of the row at hand: their shapes, and posteriors of their open variables. */
typedef struct row_pieces {
    size_t   n, *shape; /* [p] */
    double **posterior; /* [p] to [states] */
} row_pieces;

/* How many completions the row at hand has; INFINITY where a piece is too large. */
static double count_completions(cri_bn_counter *c, size_t row)
{
    double all = 1;
    if (cri_bn_open_row(c, row) > CRI_BN_MOST_TERMS) return INFINITY;
    for (size_t v = 0; v < c->cases.p; v++)
        if (c->row[v] == CRI_BN_GAP) all *= (double)cri_bn_states(c, v);
    return all;
}

static size_t kept_of(double completions)
{
    return isinf(completions)               ? 0
           : completions > MOST_COMPLETIONS ? MOST_COMPLETIONS
                                            : (size_t)completions;
}

/* The posteriors of all pieces of the row at hand, in the arena. */
static cr_status find_posteriors(cr_scratch *s, cri_bn_counter *c, size_t row, row_pieces *out)
{
    cr_status st = CR_OK;
    out->n = 0;
    for (size_t v = 0; v < c->cases.p; v++) {
        cri_bn_piece a = { .entry = c->entry };
        if (c->row[v] != CRI_BN_GAP || cri_find_root(c->root, v) != v) continue;
        CR_TRY(cri_bn_find_piece(c, row, v, &a.shape, c->entry));
        size_t  states = c->shape[a.shape].states;
        double *p = cr_scratch_f64(s, states);
        CR_TRY(s->status);
        double sum = cri_bn_sum_piece(c, &a, p);
        for (size_t i = 0; i < states; i++) p[i] = sum > 0 ? p[i] / sum : 1 / (double)states;
        out->shape[out->n] = a.shape;
        out->posterior[out->n++] = p;
    }
done:
    return st;
}

/* Writes state `i` of the open variables of a shape into a row. */
static void put_states(const cri_bn_counter *c, const cri_bn_shape *a, size_t i, uint16_t *row)
{
    for (size_t k = a->open; k-- > 0;) {
        size_t v = a->key[2 + k], states = cri_bn_states(c, v);
        row[v] = (uint16_t)(i % states);
        i /= states;
    }
}

static size_t draw(const double *p, size_t n, cr_rng *r)
{
    double u = cr_rng_uniform(r);
    size_t i = 0;
    while (i + 1 < n && u >= p[i]) u -= p[i++];
    return i;
}

static uint64_t hash_row(const uint16_t *row, size_t p)
{
    uint64_t h = 1;
    for (size_t v = 0; v < p; v++) h = (h ^ row[v]) * UINT64_C(0x9e3779b97f4a7c15) ^ h >> 29;
    return h ^ h >> 32;
}

/* The completions of the row at hand, behind those that are there. */
static void put_completions(const cri_bn_counter *c, const row_pieces *x, size_t row, double all,
                            uint64_t seed, double *weight, cri_bn_rows *out)
{
    size_t n = kept_of(all), p = out->p;
    cr_rng r = cr_rng_stream(seed, hash_row(c->row, p));
    for (size_t k = 0; k < n; k++) {
        uint16_t *to = out->code + out->n * p;
        double    share = all > MOST_COMPLETIONS ? 1 / (double)n : 1;
        size_t    rest = k;
        memcpy(to, c->row, p * sizeof *to);
        for (size_t j = 0; j < x->n; j++) {
            const cri_bn_shape *a = &c->shape[x->shape[j]];
            size_t              i =
                all > MOST_COMPLETIONS ? draw(x->posterior[j], a->states, &r) : rest % a->states;
            if (all <= MOST_COMPLETIONS) share *= x->posterior[j][i], rest /= a->states;
            put_states(c, a, i, to);
        }
        weight[out->n] = c->cases.weight[row] * share;
        if (out->set) out->set[out->n] = c->cases.set[row];
        out->n++;
    }
}

cr_status cri_bn_complete(cr_scratch *s, cri_bn_counter *c, const double *value, uint64_t seed,
                          cri_bn_rows *out, size_t *out_left)
{
    cr_status   st = CR_OK;
    size_t      rows = 0, p = c->cases.p;
    cri_bn_rows d = { .p = p, .complete = true };
    row_pieces  x = { .shape = cr_scratch_index(s, p),
                      .posterior = cr_scratch_bytes(s, p, sizeof *x.posterior) };
    *out_left = 0;
    c->value = value;
    for (size_t i = 0; i < c->cases.n; i++) rows += kept_of(count_completions(c, i));
    double *weight = cr_scratch_f64(s, rows);
    d.code = cr_scratch_bytes(s, rows * p, sizeof *d.code);
    if (c->cases.set) d.set = cr_scratch_bytes(s, rows, sizeof *d.set);
    CR_TRY(s->status);
    for (size_t i = 0; i < c->cases.n; i++) {
        cr_scratch own = cr_scratch_begin(s->cx);
        double     all = count_completions(c, i);
        if (isinf(all)) {
            ++*out_left;
            continue;
        }
        st = find_posteriors(&own, c, i, &x);
        if (st == CR_OK) put_completions(c, &x, i, all, seed, weight, &d);
        cr_scratch_end(&own);
        if (i % 256 == 0 && st == CR_OK) st = cr_check_interrupt(s->cx);
        CR_TRY(st);
    }
    d.weight = weight;
    *out = d;
done:
    return st;
}
