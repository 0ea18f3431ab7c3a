/* bn_expect.c -- expected counts of rows with gaps: a pass over their pieces (bn_pieces.h). */
#include "bn_pieces.h"
#include "base/context_internal.h"
#include "base/scratch.h"
#include "graph/exact/junction.h"
#include "graph/network/evidence.h"

#include <math.h>
#include <string.h>

/* Adds the pieces of a range to acc [1 + size]: log P, then counts. */
static void add_pieces(void *arg, cri_range range, double *acc, double *term)
{
    const cri_bn_counter *c = arg;
    for (size_t k = range.begin; k < range.end; k++) {
        const cri_bn_piece *a = &c->piece[k];
        const cri_bn_shape *b = &c->shape[a->shape];
        double              sum = cri_bn_sum_piece(c, a, term);
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
    const size_t *scope = cri_bn_scope(c, v, &n);
    for (size_t k = 0; k < n; k++)
        if (c->row[scope[k]] == CRI_BN_GAP) c->label[open++] = scope[k];
    if (open > 0) CR_TRY(cr_junction_joint(c->cx, tree, open, c->label, &f));
    if (f.is_log) cr_factor_set_log(&f, false);
    for (size_t i = 0; i < (open > 0 ? f.size : 1); i++) {
        size_t entry = 0;
        for (size_t k = 0; k < n; k++) {
            size_t at = open > 0 ? cr_factor_position(&f, scope[k]) : CR_NONE;
            entry = entry * cri_bn_states(c, scope[k]) +
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
        if (!(cri_bn_sum_piece(c, &c->piece[k], term) > 0)) row = c->piece[k].row;
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
