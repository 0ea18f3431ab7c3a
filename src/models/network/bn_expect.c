/* bn_expect.c -- expected counts of rows with gaps.
 * What is missing in a row falls into *pieces* that have no table in common, given what is seen: each is summed over by
 * itself.  A piece is a shape (its open variables and the tables these stand in) and an entry of each table at the first
 * states; pieces that are equal, of whichever rows, are one with their weights added up, so that a pass costs not rows
 * but different situations.  Tables of which nothing is missing are counted once for all passes.  Rows with a piece of
 * more than 65536 terms go through a junction tree, each by itself. */
#include "bn.h"
#include "base/context_internal.h"
#include "base/find.h"
#include "base/scratch.h"
#include "graph/exact/junction.h"
#include "graph/network/evidence.h"
#include "graph/network/network_internal.h"

#include <math.h>
#include <string.h>

enum { MOST_TERMS = 1 << 16, SHAPE_HEADS = 1 << 12, PIECE_HEADS = 1 << 18 };

/* Open variables with `states` assignments together, and the tables they stand in. */
typedef struct shape {
    uint32_t *key; /* [2 + open + tables]: open, tables, the variables, the tables */
    size_t    length, open, tables, states, next;
    uint32_t *offset; /* [states x tables] from the entry at the first states */
} shape;

typedef struct piece {
    size_t    shape, next;
    uint32_t *entry; /* [tables] of all tables at the first states of the open variables */
    double    weight;
    size_t    row; /* one that it is of */
} piece;

struct cri_bn_counter {
    cr_ctx            *cx;
    cr_scratch         s;
    const cri_bn      *m;
    const cri_bn_rows *data;
    cri_cases_table    cases;    /* different rows */
    double            *base;     /* [m->size] counts of tables of which nothing is missing */
    size_t            *base_row; /* [m->size] one such row of each entry */
    shape             *shape;
    size_t             shapes, shape_room;
    piece             *piece;
    size_t             pieces, piece_room;
    uint32_t          *tree_row; /* [tree_rows] of the cases, that go through the tree */
    size_t             tree_rows;
    size_t             most_states;    /* of a shape */
    uint32_t *shape_head, *piece_head; /* 1 + the first of a hash, linked by `next`; 0: none */
    /* for a row */
    size_t   *root, *label; /* [p] */
    uint16_t *row;          /* [p] */
    /* for a pass */
    const double *value;
};

/* --- pieces ----------------------------------------------------------------------------------- */

static size_t states_of(const cri_bn_counter *c, size_t v)
{
    return cr_network_states(c->m->net, v);
}

/* Does the table of v count in a row? */
static bool counts(const cri_bn_counter *c, size_t row, size_t v)
{
    return !c->cases.set || c->cases.set[row] != v;
}

/* The scope of the table of v: its parents, then v. */
static const size_t *scope_of(const cri_bn_counter *c, size_t v, size_t *out_n)
{
    const size_t *scope = cr_network_parents(c->m->net, v, out_n);
    ++*out_n;
    return scope;
}

/* Variables that are missing and stand in one table get one root. */
static void join_open(cri_bn_counter *c, size_t row)
{
    size_t p = c->cases.p;
    for (size_t v = 0; v < p; v++) c->root[v] = v;
    for (size_t v = 0; v < p; v++) {
        size_t        n, first = CR_NONE;
        const size_t *scope = scope_of(c, v, &n);
        for (size_t k = 0; counts(c, row, v) && k < n; k++) {
            if (c->row[scope[k]] != CRI_BN_GAP) continue;
            if (first == CR_NONE) first = scope[k];
            c->root[cri_find_root(c->root, scope[k])] = cri_find_root(c->root, first);
        }
    }
}

/* The entry of v's table at what the row shows, gaps being first states; CR_NONE where something is missing, if asked. */
static size_t entry_of(const cri_bn_counter *c, size_t v, bool *out_open)
{
    size_t        n, entry = 0;
    const size_t *scope = scope_of(c, v, &n);
    *out_open = false;
    for (size_t k = 0; k < n; k++) {
        bool open = c->row[scope[k]] == CRI_BN_GAP;
        entry = entry * states_of(c, scope[k]) + (open ? 0 : c->row[scope[k]]);
        *out_open |= open;
    }
    return c->m->at[v] + entry;
}

/* The number of terms of the largest piece of the row. */
static double largest_piece(const cri_bn_counter *c, double *terms)
{
    double most = 0;
    for (size_t v = 0; v < c->cases.p; v++) terms[v] = 1;
    for (size_t v = 0; v < c->cases.p; v++)
        if (c->row[v] == CRI_BN_GAP) {
            double *t = &terms[cri_find_root(c->root, v)];
            *t *= (double)states_of(c, v);
            most = *t > most ? *t : most;
        }
    return most;
}

/* How the entry of a table moves with each state of the open variables together, the last running fastest. */
static cr_status spread_shape(cri_bn_counter *c, shape *a)
{
    const uint32_t *open = a->key + 2, *table = open + a->open;
    a->offset = cr_scratch_bytes(&c->s, a->states * a->tables, sizeof *a->offset);
    if (!a->offset) return c->s.status;
    for (size_t t = 0; t < a->tables; t++) {
        size_t        n;
        const size_t *scope = scope_of(c, table[t], &n);
        for (size_t i = 0; i < a->states; i++) {
            size_t inner = a->states, entry = 0;
            for (size_t k = 0; k < a->open; k++)
                c->label[open[k]] = (inner /= states_of(c, open[k]));
            for (size_t k = 0; k < n; k++) {
                bool   is_open = c->row[scope[k]] == CRI_BN_GAP;
                size_t states = states_of(c, scope[k]);
                entry = entry * states + (is_open ? i / c->label[scope[k]] % states : 0);
            }
            a->offset[i * a->tables + t] = (uint32_t)entry;
        }
    }
    return CR_OK;
}

static size_t hash_words(const uint32_t *word, size_t n, size_t more)
{
    uint64_t h = more + 1;
    for (size_t i = 0; i < n; i++) h = (h ^ word[i]) * UINT64_C(0x9e3779b97f4a7c15) ^ h >> 29;
    return (size_t)(h ^ h >> 32);
}

/* The shape with this key, made where there is none. */
static cr_status find_shape(cri_bn_counter *c, const uint32_t *key, size_t length, size_t *out)
{
    cr_status st = CR_OK;
    uint32_t *head = &c->shape_head[hash_words(key, length, 0) % SHAPE_HEADS];
    for (size_t i = *head; i > 0; i = c->shape[i - 1].next) {
        const shape *a = &c->shape[i - 1];
        *out = i - 1;
        if (a->length == length && memcmp(a->key, key, length * sizeof *key) == 0) return CR_OK;
    }
    shape a = { .length = length, .open = key[0], .tables = key[1], .states = 1, .next = *head };
    a.key = cr_scratch_bytes(&c->s, length, sizeof *a.key);
    CR_TRY(c->s.status);
    memcpy(a.key, key, length * sizeof *key);
    for (size_t k = 0; k < a.open; k++) a.states *= states_of(c, key[2 + k]);
    CR_TRY(spread_shape(c, &a));
    if (a.states > c->most_states) c->most_states = a.states;
    CR_TRY(cri_array_grow(c->cx, &c->shape, c->shapes, &c->shape_room, sizeof *c->shape));
    c->shape[c->shapes] = a;
    *out = c->shapes++;
    *head = (uint32_t)c->shapes;
done:
    return st;
}

/* Adds weight to the piece with these entries. */
static cr_status add_piece(cri_bn_counter *c, size_t which, const uint32_t *entry, size_t row)
{
    cr_status st = CR_OK;
    size_t    tables = c->shape[which].tables;
    uint32_t *head = &c->piece_head[hash_words(entry, tables, which) % PIECE_HEADS];
    for (size_t i = *head; i > 0; i = c->piece[i - 1].next) {
        piece *a = &c->piece[i - 1];
        if (a->shape != which || memcmp(a->entry, entry, tables * sizeof *entry) != 0) continue;
        a->weight += c->cases.weight[row];
        return CR_OK;
    }
    piece a = { .shape = which, .next = *head, .weight = c->cases.weight[row], .row = row };
    a.entry = cr_scratch_bytes(&c->s, tables, sizeof *a.entry);
    CR_TRY(c->s.status);
    memcpy(a.entry, entry, tables * sizeof *entry);
    CR_TRY(cri_array_grow(c->cx, &c->piece, c->pieces, &c->piece_room, sizeof *c->piece));
    c->piece[c->pieces++] = a;
    *head = (uint32_t)c->pieces;
done:
    return st;
}

/* The piece of the row whose open variables have this root. */
static cr_status take_piece(cri_bn_counter *c, size_t row, size_t root, uint32_t *key,
                            uint32_t *entry)
{
    size_t length = 2, tables = 0, which;
    for (size_t v = 0; v < c->cases.p; v++)
        if (c->row[v] == CRI_BN_GAP && cri_find_root(c->root, v) == root)
            key[length++] = (uint32_t)v;
    key[0] = (uint32_t)(length - 2);
    for (size_t v = 0; v < c->cases.p; v++) {
        size_t        n;
        bool          open = false, is_open;
        const size_t *scope = scope_of(c, v, &n);
        for (size_t k = 0; k < n && counts(c, row, v); k++)
            open |= c->row[scope[k]] == CRI_BN_GAP && cri_find_root(c->root, scope[k]) == root;
        if (!open) continue;
        entry[tables++] = (uint32_t)entry_of(c, v, &is_open);
        key[length++] = (uint32_t)v;
    }
    key[1] = (uint32_t)tables;
    cr_status st = find_shape(c, key, length, &which);
    return st == CR_OK ? add_piece(c, which, entry, row) : st;
}

/* A row that is too much for pieces. */
static cr_status add_tree_row(cri_bn_counter *c, size_t row)
{
    if (c->cases.set && c->cases.set[row] != CRI_NOT_SET)
        return cr_fail(c->cx, CR_EUNSUPPORTED,
                       "a row in which a variable was set has too much missing to be summed over");
    c->tree_row[c->tree_rows++] = (uint32_t)row;
    return CR_OK;
}

static cr_status take_row(cri_bn_counter *c, size_t row, uint32_t *key, uint32_t *entry,
                          double *terms)
{
    cr_status st = CR_OK;
    for (size_t v = 0; v < c->cases.p; v++) c->row[v] = c->cases.code[v][row];
    join_open(c, row);
    if (largest_piece(c, terms) > MOST_TERMS) return add_tree_row(c, row);
    for (size_t v = 0; v < c->cases.p; v++) {
        bool   open;
        size_t at = entry_of(c, v, &open);
        if (!open && counts(c, row, v)) c->base[at] += c->cases.weight[row], c->base_row[at] = row;
        if (c->row[v] == CRI_BN_GAP && cri_find_root(c->root, v) == v)
            CR_TRY(take_piece(c, row, v, key, entry));
    }
done:
    return st;
}

static cr_status open_counter(cri_bn_counter *c)
{
    cr_status st = CR_OK;
    size_t    p = c->data->p;
    uint32_t *key = cr_scratch_bytes(&c->s, 2 * p + 2, sizeof *key);
    uint32_t *entry = cr_scratch_bytes(&c->s, p, sizeof *entry);
    double   *terms = cr_scratch_f64(&c->s, p);
    c->base = cr_scratch_f64(&c->s, c->m->size);
    c->base_row = cr_scratch_index(&c->s, c->m->size);
    c->root = cr_scratch_index(&c->s, p);
    c->label = cr_scratch_index(&c->s, p);
    c->row = cr_scratch_bytes(&c->s, p, sizeof *c->row);
    c->shape_head = cr_scratch_bytes(&c->s, SHAPE_HEADS, sizeof *c->shape_head);
    c->piece_head = cr_scratch_bytes(&c->s, PIECE_HEADS, sizeof *c->piece_head);
    if (c->m->size > UINT32_MAX)
        CR_TRY(cr_fail(c->cx, CR_EUNSUPPORTED, "tables of %zu entries are too large for EM",
                       c->m->size));
    CR_TRY(cri_bn_cases(&c->s, c->m, c->data, NULL, &c->cases));
    c->tree_row = cr_scratch_bytes(&c->s, c->cases.n, sizeof *c->tree_row);
    CR_TRY(c->s.status);
    memset(c->base, 0, c->m->size * sizeof *c->base);
    for (size_t i = 0; i < c->cases.n; i++) {
        if (i % 256 == 0) CR_TRY(cr_check_interrupt(c->cx));
        CR_TRY(take_row(c, i, key, entry, terms));
    }
    cr_log(c->cx, CR_LOG_INFO,
           "%zu different rows, %zu pieces of %zu shapes, %zu rows by a junction tree", c->cases.n,
           c->pieces, c->shapes, c->tree_rows);
done:
    return st;
}

cr_status cri_bn_counter_new(cr_ctx *cx, const cri_bn *m, const cri_bn_rows *data,
                             cri_bn_counter **out)
{
    cri_bn_counter *c = cr_alloc(cx, 1, sizeof *c);
    if (!c) return CR_ENOMEM;
    c->cx = cx, c->m = m, c->data = data, c->s = cr_scratch_begin(cx);
    cr_status st = open_counter(c);
    if (st == CR_OK)
        *out = c;
    else
        cri_bn_counter_free(c);
    return st;
}

void cri_bn_counter_free(cri_bn_counter *c)
{
    if (!c) return;
    if (c->shape) cr_free(c->cx, c->shape, c->shape_room, sizeof *c->shape);
    if (c->piece) cr_free(c->cx, c->piece, c->piece_room, sizeof *c->piece);
    cr_scratch_end(&c->s);
    cr_free(c->cx, c, 1, sizeof *c);
}

/* --- a pass ----------------------------------------------------------------------------------- */

/* The terms of a piece into term [states]; their sum. */
static double sum_piece(const cri_bn_counter *c, const piece *a, double *term)
{
    const shape *b = &c->shape[a->shape];
    double       sum = 0;
    for (size_t i = 0; i < b->states; i++) {
        const uint32_t *offset = b->offset + i * b->tables;
        double          x = 1;
        for (size_t t = 0; t < b->tables; t++) x *= c->value[a->entry[t] + offset[t]];
        sum += term[i] = x;
    }
    return sum;
}

/* Adds the pieces of a range to acc [1 + size]: log P, then counts. */
static void add_pieces(void *arg, cri_range range, double *acc, double *term)
{
    const cri_bn_counter *c = arg;
    for (size_t k = range.begin; k < range.end; k++) {
        const piece *a = &c->piece[k];
        const shape *b = &c->shape[a->shape];
        double       sum = sum_piece(c, a, term);
        acc[0] += a->weight * log(sum);
        for (size_t i = 0; i < b->states && sum > 0; i++) {
            const uint32_t *offset = b->offset + i * b->tables;
            double          share = a->weight * term[i] / sum;
            for (size_t t = 0; t < b->tables; t++) acc[1 + a->entry[t] + offset[t]] += share;
        }
    }
}

/* Joint posteriors of what is missing in the table of v, given the evidence of the tree. */
static cr_status add_posterior(cri_bn_counter *c, cr_junction *tree, size_t row, size_t v,
                               double *count)
{
    cr_status     st = CR_OK;
    cr_factor     f = { 0 };
    size_t        n, open = 0;
    const size_t *scope = scope_of(c, v, &n);
    for (size_t k = 0; k < n; k++)
        if (c->row[scope[k]] == CRI_BN_GAP) c->label[open++] = scope[k];
    if (open > 0) CR_TRY(cr_junction_joint(c->cx, tree, open, c->label, &f));
    if (f.is_log) cr_factor_set_log(&f, false);
    for (size_t i = 0; i < (open > 0 ? f.size : 1); i++) {
        size_t entry = 0;
        for (size_t k = 0; k < n; k++) {
            size_t at = open > 0 ? cr_factor_position(&f, scope[k]) : CR_NONE;
            entry = entry * states_of(c, scope[k]) +
                    (at == CR_NONE ? c->row[scope[k]] : i / f.stride[at] % f.states[at]);
        }
        count[c->m->at[v] + entry] += c->cases.weight[row] * (open > 0 ? f.value[i] : 1);
    }
done:
    cr_factor_free(c->cx, &f);
    return st;
}

static cr_status show_row(cri_bn_counter *c, cr_evidence *e, size_t row)
{
    cr_status st = CR_OK;
    for (size_t v = 0; v < c->cases.p; v++) {
        c->row[v] = c->cases.code[v][row];
        if (c->row[v] == CRI_BN_GAP)
            cr_evidence_forget(c->cx, e, v);
        else
            CR_TRY(cr_evidence_observe(c->cx, e, v, c->row[v]));
    }
done:
    return st;
}

/* A network with these tables. */
static cr_status fill_network(cri_bn_counter *c, cr_network **out)
{
    cr_status st = cr_network_copy(c->cx, c->m->net, out);
    for (size_t v = 0; v < c->cases.p && st == CR_OK; v++)
        st = cr_network_set_table(c->cx, *out, v, c->value + c->m->at[v]);
    return st;
}

static cr_status expect_trees(cri_bn_counter *c, double *count, double *out_log)
{
    cr_status    st = CR_OK;
    cr_network  *net = NULL;
    cr_evidence *e = NULL;
    cr_junction *tree = NULL;
    if (c->tree_rows == 0) return CR_OK;
    CR_TRY(fill_network(c, &net));
    CR_TRY(cr_evidence_new(c->cx, net, &e));
    CR_TRY(cr_junction_new(c->cx, net, NULL, NULL, &tree));
    for (size_t i = 0; i < c->tree_rows && isfinite(*out_log); i++) {
        double log_p;
        size_t row = c->tree_row[i];
        CR_TRY(cr_check_interrupt(c->cx));
        CR_TRY(show_row(c, e, row));
        CR_TRY(cr_junction_set_evidence(c->cx, tree, e));
        CR_TRY(cr_junction_log_evidence(c->cx, tree, &log_p));
        *out_log += c->cases.weight[row] * log_p;
        for (size_t v = 0; v < c->cases.p && isfinite(log_p); v++)
            CR_TRY(add_posterior(c, tree, row, v, count));
    }
done:
    cr_junction_free(c->cx, tree);
    cr_evidence_free(c->cx, e);
    cr_network_free(c->cx, net);
    return st;
}

cr_status cri_bn_expect(cri_bn_counter *c, const double *value, double *count, double *out_log)
{
    enum { TOGETHER = 64 };
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(c->cx);
    size_t     size = c->m->size;
    double    *sums = cr_scratch_f64(&s, size + 1), log_p = 0;
    CR_TRY(s.status);
    c->value = value;
    memset(sums, 0, (size + 1) * sizeof *sums);
    if (c->pieces > 0)
        CR_TRY(cri_parallel_sum_in(c->cx, NULL, c->pieces, TOGETHER, size + 1, c->most_states,
                                   add_pieces, c, sums));
    log_p = sums[0];
    for (size_t i = 0; i < size; i++) {
        if (c->base[i] > 0) log_p += c->base[i] * log(value[i]);
        count[i] = c->base[i] + sums[1 + i];
    }
    if (isfinite(log_p)) CR_TRY(expect_trees(c, count, &log_p));
    *out_log = isfinite(log_p) ? log_p : -INFINITY;
done:
    cr_scratch_end(&s);
    return st;
}

size_t cri_bn_find_impossible(cri_bn_counter *c, const double *value)
{
    cr_scratch s = cr_scratch_begin(c->cx);
    double    *term = cr_scratch_f64(&s, c->most_states);
    size_t     row = CR_NONE;
    c->value = value;
    for (size_t i = 0; i < c->m->size && row == CR_NONE; i++)
        if (c->base[i] > 0 && !(value[i] > 0)) row = c->base_row[i];
    for (size_t k = 0; k < c->pieces && row == CR_NONE && term; k++)
        if (!(sum_piece(c, &c->piece[k], term) > 0)) row = c->piece[k].row;
    for (size_t i = 0; i < c->data->n && row != CR_NONE;
         i++) { /* of the cases: the first such row of the data */
        bool same = true;
        for (size_t v = 0; v < c->data->p && same; v++)
            same = c->data->code[i * c->data->p + v] == c->cases.code[v][row];
        if (same) {
            row = i;
            break;
        }
    }
    cr_scratch_end(&s);
    return row;
}
