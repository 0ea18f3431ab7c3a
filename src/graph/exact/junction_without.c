/* junction_without.c -- derivatives of log P(e) by the entries of tables.
 * P(e) is linear in each entry; its derivative is the product of everything else in the clique that
 * holds the table, summed onto the table's scope.  Darwiche (2003), "A differential approach to
 * inference in Bayesian networks". */
#include "junction_without.h"
#include "graph/factor/factor_internal.h"
#include "junction_internal.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

static size_t find_clique(const cr_junction *j, size_t t)
{
    for (size_t c = 0; c < j->cliques; c++)
        for (size_t i = 0; i < j->clique[c].tables; i++)
            if (j->clique[c].table[i] == t) return c;
    return CR_NONE;
}

/* Where an entry of the network's table is in what evidence leaves of it; CR_NONE: it is cut. */
static size_t find_entry(const cr_junction *j, const cr_table_view *v, size_t entry,
                         const cr_factor *f)
{
    const cri_problem *p = j->problem;
    size_t             at = 0;
    for (size_t k = v->n; k-- > 0;) {
        size_t x = v->scope[k], states = cr_network_states(j->net, x), s = entry % states, i = 0;
        entry /= states;
        while (i < p->left[x] && p->state[p->first[x] + i] != s) i++;
        if (i == p->left[x]) return CR_NONE;
        size_t place = p->rank[x] == CR_NONE ? CR_NONE : cr_factor_position(f, p->rank[x]);
        if (place != CR_NONE) at += i * f->stride[place];
    }
    return at;
}

cr_status cri_junction_derivatives(cr_ctx *cx, cr_junction *j, size_t t, double *out)
{
    cr_status     st = CR_OK;
    cr_table_view v = cr_network_table(j->net, t);
    cr_factor     f = { 0 };
    size_t        at = find_clique(j, t);
    double        sum = 0, log_e;
    CR_TRY(cr_junction_log_evidence(cx, j, &log_e));
    if (log_e == -INFINITY)
        CR_TRY(cr_fail(cx, CR_EDATA, "the evidence is impossible: its probability is 0"));
    memset(out, 0, v.size * sizeof *out);
    if (at == CR_NONE || !j->table[t].value) /* one entry is left, a constant */
        CR_TRY(cr_factor_new(cx, 0, NULL, NULL, NULL, &f));
    else
        CR_TRY(cri_clique_sum(cx, j, at, j->table[t].n, j->table[t].var, j->table[t].states,
                              &j->table[t], &f));
    cr_factor_set_log(&f, false);
    for (size_t e = 0; e < v.size; e++) {
        size_t place = find_entry(j, &v, e, &f);
        if (place == CR_NONE) continue;
        out[e] = f.value[place];
        sum += out[e] * v.value[e];
    }
    for (size_t e = 0; e < v.size; e++) out[e] /= sum;
done:
    cr_factor_free(cx, &f);
    return st;
}
