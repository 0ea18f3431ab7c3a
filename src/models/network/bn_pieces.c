/* bn_pieces.c -- rows with gaps, taken apart.  See bn_pieces.h. */
#include "bn_pieces.h"
#include "base/context_internal.h"
#include "base/find.h"
#include "base/scratch.h"
#include "graph/network/network_internal.h"

#include <math.h>
#include <string.h>

enum { SHAPE_HEADS = 1 << 12, PIECE_HEADS = 1 << 18 };

/* --- pieces ----------------------------------------------------------------------------------- */

/* Does the table of v count in a row? */
static bool counts(const cri_bn_counter *c, size_t row, size_t v)
{
    return !c->cases.set || c->cases.set[row] != v;
}

const size_t *cri_bn_scope(const cri_bn_counter *c, size_t v, size_t *out_n)
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
        const size_t *scope = cri_bn_scope(c, v, &n);
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
    const size_t *scope = cri_bn_scope(c, v, &n);
    *out_open = false;
    for (size_t k = 0; k < n; k++) {
        bool open = c->row[scope[k]] == CRI_BN_GAP;
        entry = entry * cri_bn_states(c, scope[k]) + (open ? 0 : c->row[scope[k]]);
        *out_open |= open;
    }
    return c->m->at[v] + entry;
}

/* The number of terms of the largest piece of the row. */
static double largest_piece(const cri_bn_counter *c)
{
    double most = 0, *terms = c->terms;
    for (size_t v = 0; v < c->cases.p; v++) terms[v] = 1;
    for (size_t v = 0; v < c->cases.p; v++)
        if (c->row[v] == CRI_BN_GAP) {
            double *t = &terms[cri_find_root(c->root, v)];
            *t *= (double)cri_bn_states(c, v);
            most = *t > most ? *t : most;
        }
    return most;
}

/* How the entry of a table moves with each state of the open variables together, the last running fastest. */
static cr_status spread_shape(cri_bn_counter *c, cri_bn_shape *a)
{
    const uint32_t *open = a->key + 2, *table = open + a->open;
    a->offset = cr_scratch_bytes(&c->s, a->states * a->tables, sizeof *a->offset);
    if (!a->offset) return c->s.status;
    for (size_t t = 0; t < a->tables; t++) {
        size_t        n;
        const size_t *scope = cri_bn_scope(c, table[t], &n);
        for (size_t i = 0; i < a->states; i++) {
            size_t inner = a->states, entry = 0;
            for (size_t k = 0; k < a->open; k++)
                c->label[open[k]] = (inner /= cri_bn_states(c, open[k]));
            for (size_t k = 0; k < n; k++) {
                bool   is_open = c->row[scope[k]] == CRI_BN_GAP;
                size_t states = cri_bn_states(c, scope[k]);
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
        const cri_bn_shape *a = &c->shape[i - 1];
        *out = i - 1;
        if (a->length == length && memcmp(a->key, key, length * sizeof *key) == 0) return CR_OK;
    }
    cri_bn_shape a = {
        .length = length, .open = key[0], .tables = key[1], .states = 1, .next = *head
    };
    a.key = cr_scratch_bytes(&c->s, length, sizeof *a.key);
    CR_TRY(c->s.status);
    memcpy(a.key, key, length * sizeof *key);
    for (size_t k = 0; k < a.open; k++) a.states *= cri_bn_states(c, key[2 + k]);
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
        cri_bn_piece *a = &c->piece[i - 1];
        if (a->shape != which || memcmp(a->entry, entry, tables * sizeof *entry) != 0) continue;
        a->weight += c->cases.weight[row];
        return CR_OK;
    }
    cri_bn_piece a = { .shape = which, .next = *head, .weight = c->cases.weight[row], .row = row };
    a.entry = cr_scratch_bytes(&c->s, tables, sizeof *a.entry);
    CR_TRY(c->s.status);
    memcpy(a.entry, entry, tables * sizeof *entry);
    CR_TRY(cri_array_grow(c->cx, &c->piece, c->pieces, &c->piece_room, sizeof *c->piece));
    c->piece[c->pieces++] = a;
    *head = (uint32_t)c->pieces;
done:
    return st;
}

cr_status cri_bn_find_piece(cri_bn_counter *c, size_t row, size_t root, size_t *out_shape,
                            uint32_t *entry)
{
    uint32_t *key = c->key;
    size_t    length = 2, tables = 0;
    for (size_t v = 0; v < c->cases.p; v++)
        if (c->row[v] == CRI_BN_GAP && cri_find_root(c->root, v) == root)
            key[length++] = (uint32_t)v;
    key[0] = (uint32_t)(length - 2);
    for (size_t v = 0; v < c->cases.p; v++) {
        size_t        n;
        bool          open = false, is_open;
        const size_t *scope = cri_bn_scope(c, v, &n);
        for (size_t k = 0; k < n && counts(c, row, v); k++)
            open |= c->row[scope[k]] == CRI_BN_GAP && cri_find_root(c->root, scope[k]) == root;
        if (!open) continue;
        entry[tables++] = (uint32_t)entry_of(c, v, &is_open);
        key[length++] = (uint32_t)v;
    }
    key[1] = (uint32_t)tables;
    return find_shape(c, key, length, out_shape);
}

double cri_bn_open_row(cri_bn_counter *c, size_t row)
{
    for (size_t v = 0; v < c->cases.p; v++) c->row[v] = c->cases.code[v][row];
    join_open(c, row);
    return largest_piece(c);
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

static cr_status take_row(cri_bn_counter *c, size_t row)
{
    cr_status st = CR_OK;
    size_t    which;
    if (cri_bn_open_row(c, row) > CRI_BN_MOST_TERMS) return add_tree_row(c, row);
    for (size_t v = 0; v < c->cases.p; v++) {
        bool   open;
        size_t at = entry_of(c, v, &open);
        if (!open && counts(c, row, v)) c->base[at] += c->cases.weight[row], c->base_row[at] = row;
        if (c->row[v] != CRI_BN_GAP || cri_find_root(c->root, v) != v) continue;
        CR_TRY(cri_bn_find_piece(c, row, v, &which, c->entry));
        CR_TRY(add_piece(c, which, c->entry, row));
    }
done:
    return st;
}

static cr_status open_counter(cri_bn_counter *c)
{
    cr_status st = CR_OK;
    size_t    p = c->data->p;
    c->key = cr_scratch_bytes(&c->s, 2 * p + 2, sizeof *c->key);
    c->entry = cr_scratch_bytes(&c->s, p, sizeof *c->entry);
    c->terms = cr_scratch_f64(&c->s, p);
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
        CR_TRY(take_row(c, i));
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

double cri_bn_sum_piece(const cri_bn_counter *c, const cri_bn_piece *a, double *term)
{
    const cri_bn_shape *b = &c->shape[a->shape];
    double              sum = 0;
    for (size_t i = 0; i < b->states; i++) {
        const uint32_t *offset = b->offset + i * b->tables;
        double          x = 1;
        for (size_t t = 0; t < b->tables; t++) x *= c->value[a->entry[t] + offset[t]];
        sum += term[i] = x;
    }
    return sum;
}
