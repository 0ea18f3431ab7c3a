/* counts.c -- cases with equal rows grouped, and how often states of a family occur in them. */
#include "local_score.h"

#include <math.h>
#include <string.h>

/* --- equal rows ------------------------------------------------------------------------------- */

typedef struct grouping {
    size_t          rows, p;
    const uint16_t *code; /* [rows x p] */
    const double   *weight;
    const uint32_t *set;
    const uint8_t  *held;
    size_t          kept;
    uint32_t *first, *slot; /* [rows] of each kept row its first; [slots] 1 + a kept row, 0: free */
    double   *sum;          /* [rows] weights of kept rows */
} grouping;

static uint64_t mix(uint64_t h)
{
    h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
    h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return h ^ h >> 32;
}

static uint64_t hash_row(const grouping *g, size_t i)
{
    const uint16_t *row = g->code + i * g->p;
    uint64_t        h = g->set ? g->set[i] : 0;
    if (g->held) h = h << 1 | g->held[i];
    for (size_t v = 0; v < g->p; v++) h = (h ^ row[v]) * UINT64_C(0x9e3779b97f4a7c15) ^ h >> 29;
    return mix(h);
}

static bool is_same_row(const grouping *g, size_t a, size_t b)
{
    return (!g->set || g->set[a] == g->set[b]) && (!g->held || g->held[a] == g->held[b]) &&
           memcmp(g->code + a * g->p, g->code + b * g->p, g->p * sizeof *g->code) == 0;
}

static size_t slots_for(size_t n)
{
    size_t slots = 16;
    while (slots < n + n / 2) slots *= 2;
    return slots;
}

static cr_status find_groups(cr_scratch *s, grouping *g)
{
    cr_status st = CR_OK;
    size_t    slots = slots_for(g->rows);
    g->slot = cr_scratch_bytes(s, slots, sizeof *g->slot);
    g->first = cr_scratch_bytes(s, g->rows, sizeof *g->first);
    g->sum = cr_scratch_f64(s, g->rows);
    CR_TRY(s->status);
    for (size_t i = 0; i < g->rows; i++) {
        double w = g->weight ? g->weight[i] : 1;
        size_t k = (size_t)hash_row(g, i) & (slots - 1);
        if (i % 4096 == 0) CR_TRY(cr_check_interrupt(s->cx));
        if (!(w > 0)) continue;
        while (g->slot[k] && !is_same_row(g, g->first[g->slot[k] - 1], i))
            k = (k + 1) & (slots - 1);
        if (!g->slot[k]) {
            g->first[g->kept] = (uint32_t)i;
            g->sum[g->kept] = 0;
            g->slot[k] = (uint32_t)++g->kept;
        }
        g->sum[g->slot[k] - 1] += w;
    }
done:
    return st;
}

/* The columns of the kept rows. */
static cr_status keep_rows(cr_scratch *s, const grouping *g, const uint32_t *levels,
                           cri_cases_table *t)
{
    size_t n = t->n, p = t->p;
    bool   whole = true;
    t->levels = cr_scratch_bytes(s, p, sizeof *t->levels);
    t->code = cr_scratch_bytes(s, p, sizeof *t->code);
    t->weight = cr_scratch_f64(s, n);
    t->whole = cr_scratch_bytes(s, n, sizeof *t->whole);
    if (g->set) t->set = cr_scratch_bytes(s, n, sizeof *t->set);
    if (g->held) t->held = cr_scratch_bytes(s, n, 1);
    uint16_t *block = cr_scratch_bytes(s, p > 0 ? n : 0, p * sizeof *block);
    if (s->status != CR_OK) return s->status;
    memcpy(t->levels, levels, p * sizeof *levels);
    for (size_t v = 0; v < p; v++) {
        t->code[v] = block + v * n;
        for (size_t i = 0; i < n; i++) t->code[v][i] = g->code[g->first[i] * p + v];
    }
    for (size_t i = 0; i < n; i++) {
        t->weight[i] = g->sum[i];
        t->rows += g->sum[i];
        whole &= g->sum[i] == floor(g->sum[i]) && g->sum[i] < 4e9;
        if (g->set) t->set[i] = g->set[g->first[i]];
        if (g->held) t->held[i] = g->held[g->first[i]];
        if (whole) t->whole[i] = (uint32_t)g->sum[i];
    }
    if (!whole || t->rows >= 4e9) t->whole = NULL;
    return CR_OK;
}

cr_status cri_cases_group(cr_scratch *s, size_t rows, size_t p, const uint32_t *levels,
                          const uint16_t *code, const double *opt_weight, const uint32_t *opt_set,
                          const uint8_t *opt_held, cri_cases_table *out)
{
    cr_status       st = CR_OK;
    cr_scratch      own = cr_scratch_begin(s->cx);
    cri_cases_table t = { .p = p };
    grouping        g = {
               .rows = rows, .p = p, .code = code, .weight = opt_weight, .set = opt_set, .held = opt_held
    };
    if (rows >= UINT32_MAX)
        CR_TRY(
            cr_fail(s->cx, CR_EUNSUPPORTED, "%zu rows are too many to be counted at once", rows));
    CR_TRY(find_groups(&own, &g));
    t.n = g.kept;
    CR_TRY(keep_rows(s, &g, levels, &t));
    *out = t;
done:
    cr_scratch_end(&own);
    return st;
}

/* --- a workspace ------------------------------------------------------------------------------ */

/* A dense table costs as much as its cells, a sparse one some ten times as much as its rows. */
enum { FEWEST_CELLS = 1024, MOST_CELLS = 1 << 20 };

cr_status cri_counter_new(cr_scratch *s, const cri_cases_table *t, cri_counter *out)
{
    cri_counter c = { .slots = slots_for(t->n) };
    c.cells = 4 * t->n < FEWEST_CELLS ? FEWEST_CELLS
              : 4 * t->n < MOST_CELLS ? 4 * t->n
                                      : MOST_CELLS;
    if (c.cells < t->n) c.cells = t->n;
    c.index = cr_scratch_bytes(s, t->n, sizeof *c.index);
    c.of = cr_scratch_bytes(s, t->n, sizeof *c.of);
    c.tally = cr_scratch_bytes(s, c.cells, sizeof *c.tally);
    c.cell = cr_scratch_f64(s, c.cells);
    c.config = cr_scratch_f64(s, c.cells);
    c.held = cr_scratch_f64(s, t->held ? c.cells : 0);
    c.key = cr_scratch_bytes(s, c.slots, sizeof *c.key);
    c.number = cr_scratch_bytes(s, c.slots, sizeof *c.number);
    if (s->status == CR_OK) *out = c;
    return s->status;
}

/* --- dense tables ----------------------------------------------------------------------------- */

/* index = index x levels + code of further variables. */
static void extend(uint32_t *restrict index, const uint16_t *restrict code, uint32_t levels,
                   size_t n)
{
    for (size_t i = 0; i < n; i++) index[i] = index[i] * levels + code[i];
}

static void fill_index(const cri_cases_table *t, uint32_t *index, size_t child,
                       const uint32_t *parents, size_t n)
{
    const uint16_t *first = t->code[n > 0 ? parents[0] : child];
    for (size_t i = 0; i < t->n; i++) index[i] = first[i];
    for (size_t d = 1; d < n; d++) extend(index, t->code[parents[d]], t->levels[parents[d]], t->n);
    if (n > 0) extend(index, t->code[child], t->levels[child], t->n);
}

/* Does row i count for what is learned about the child? */
static bool counts_for(const cri_cases_table *t, size_t i, size_t child)
{
    return !t->set || t->set[i] != child;
}

/* Adds up the rows of each cell. */
static void tally_rows(const cri_cases_table *t, const cri_counter *c, size_t child, size_t cells)
{
    if (t->whole && !t->set && !t->held) {
        for (size_t i = 0; i < t->n; i++) c->tally[c->index[i]] += t->whole[i];
        for (size_t k = 0; k < cells; k++) c->cell[k] = c->tally[k];
        memset(c->tally, 0, cells * sizeof *c->tally);
        return;
    }
    for (size_t k = 0; k < cells; k++) c->cell[k] = 0;
    for (size_t k = 0; k < cells && t->held; k++) c->held[k] = 0;
    for (size_t i = 0; i < t->n; i++)
        if (counts_for(t, i, child))
            (t->held && t->held[i] ? c->held : c->cell)[c->index[i]] += t->weight[i];
}

static void count_dense(const cri_cases_table *t, const cri_counter *c, size_t child,
                        const uint32_t *parents, size_t n, cri_counts *out)
{
    out->configs = (size_t)out->q;
    out->cells = out->configs * out->r;
    out->dense = true;
    fill_index(t, c->index, child, parents, n);
    tally_rows(t, c, child, out->cells);
    for (size_t j = 0; j < out->configs; j++) {
        double sum = 0;
        for (size_t k = 0; k < out->r; k++) sum += c->cell[j * out->r + k];
        c->config[j] = sum;
    }
}

/* --- sparse tables ---------------------------------------------------------------------------- */

/* The pairs (index, code) get numbers in the order in which they appear: index becomes that, opt_of [pairs] what it was;
 * how many there are. */
static size_t renumber(const cri_counter *c, const uint16_t *code, size_t rows, uint32_t *opt_of)
{
    size_t n = 0;
    memset(c->key, 0xff, c->slots * sizeof *c->key);
    for (size_t i = 0; i < rows; i++) {
        uint64_t key = (uint64_t)c->index[i] << 16 | code[i];
        size_t   k = (size_t)mix(key) & (c->slots - 1);
        while (c->key[k] != UINT64_MAX && c->key[k] != key) k = (k + 1) & (c->slots - 1);
        if (c->key[k] == UINT64_MAX) {
            if (opt_of) opt_of[n] = c->index[i];
            c->key[k] = key;
            c->number[k] = (uint32_t)n++;
        }
        c->index[i] = c->number[k];
    }
    return n;
}

static void count_sparse(const cri_cases_table *t, const cri_counter *c, size_t child,
                         const uint32_t *parents, size_t n, cri_counts *out)
{
    for (size_t i = 0; i < t->n; i++) c->index[i] = 0;
    out->configs = 1;
    for (size_t d = 0; d < n; d++) out->configs = renumber(c, t->code[parents[d]], t->n, NULL);
    out->cells = renumber(c, t->code[child], t->n, c->of);
    out->of = c->of;
    tally_rows(t, c, child, out->cells);
    for (size_t j = 0; j < out->configs; j++) c->config[j] = 0;
    for (size_t k = 0; k < out->cells; k++) c->config[c->of[k]] += c->cell[k];
}

cri_counts cri_count_family(const cri_cases_table *t, cri_counter *c, size_t child,
                            const uint32_t *parents, size_t n)
{
    cri_counts out = { .r = t->levels[child], .q = 1, .cell = c->cell, .config = c->config };
    for (size_t d = 0; d < n; d++) out.q *= t->levels[parents[d]];
    if (t->held) out.held = c->held;
    if (out.q * (double)out.r <= (double)c->cells)
        count_dense(t, c, child, parents, n, &out);
    else
        count_sparse(t, c, child, parents, n, &out);
    for (size_t j = 0; j < out.configs; j++) out.total += out.config[j];
    return out;
}
