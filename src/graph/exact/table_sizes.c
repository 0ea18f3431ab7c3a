/* table_sizes.c -- scopes of tables, and their bytes. */
#include "table_sizes.h"
#include "graph/factor/combine_internal.h"

#include <math.h>

/* Blocks of a walk are of about this size, and at the most this many tables are multiplied before
 * it (combine.c, merge.c: each is a sixteenth of the space at the most). */
enum { USUAL_BLOCK = 256, MERGED = 2, MERGED_SHARE = 16, WORTH_MERGING = 4096 };

void cri_scopes_begin(cr_ctx *cx, size_t capacity, cri_scopes *out)
{
    *out = (cri_scopes){ .scratch = cr_scratch_begin(cx) };
    out->f = cr_scratch_bytes(&out->scratch, capacity, sizeof *out->f);
    out->in = cr_scratch_bytes(&out->scratch, capacity, sizeof *out->in);
}

void cri_scopes_end(cri_scopes *s) { cr_scratch_end(&s->scratch); }

void cri_scopes_add(cri_scopes *s, const cri_problem *p, size_t n, const size_t *rank)
{
    cr_factor f = { .n = n, .size = 1, .var = cr_scratch_index(&s->scratch, 3 * n) };
    if (s->scratch.status != CR_OK) return;
    f.states = f.var + n;
    f.stride = f.states + n;
    for (size_t i = n; i-- > 0;) {
        f.var[i] = rank[i];
        f.states[i] = p->active_states[rank[i]];
        f.stride[i] = f.size;
        f.size *= f.states[i];
    }
    s->f[s->n] = f;
    s->in[s->n] = &s->f[s->n];
    s->n++;
}

void cri_scopes_add_table(cri_scopes *s, const cri_problem *p, size_t t)
{
    cr_table_view v = cr_network_table(p->net, t);
    size_t        n = 0, *rank = cr_scratch_index(&s->scratch, v.n);
    if (s->scratch.status != CR_OK) return;
    for (size_t k = 0; k < v.n; k++) {
        size_t r = p->rank[v.scope[k]], at = n;
        if (r == CR_NONE) continue;
        for (; at > 0 && rank[at - 1] > r; at--) rank[at] = rank[at - 1];
        rank[at] = r;
        n++;
    }
    if (n > 0) cri_scopes_add(s, p, n, rank);
}

double cri_table_bytes(size_t n, double size)
{
    return (double)(3 * n * sizeof(size_t) + (n == 0)) + size * (double)sizeof(double);
}

double cri_problem_table_bytes(const cri_problem *p, size_t t, size_t *out_first)
{
    cr_table_view v = cr_network_table(p->net, t);
    size_t        n = 0;
    double        size = 1;
    *out_first = CR_NONE;
    for (size_t k = 0; k < v.n; k++) {
        size_t rank = p->rank[v.scope[k]];
        if (rank == CR_NONE) continue;
        n++;
        size *= (double)p->active_states[rank];
        if (*out_first == CR_NONE || rank < *out_first) *out_first = rank;
    }
    return cri_table_bytes(n, size);
}

bool cri_worth_a_look(double size, size_t tables)
{
    return size >= 4096 && size <= 1e12 && tables <= 128;
}

double cri_small_sum_bytes(double size, size_t inputs, size_t outputs)
{
    double block = fmin(size, USUAL_BLOCK), tables = (double)(inputs + outputs);
    double walk = tables * ((double)(sizeof(cri_operand) + sizeof(cri_track)) + 4 * block) +
                  (double)(inputs + 1) * 8 * block;
    return walk + (size >= WORTH_MERGING ? MERGED * 8 * size / MERGED_SHARE : 0);
}
