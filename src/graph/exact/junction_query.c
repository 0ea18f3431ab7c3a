/* junction_query.c -- answers from a junction tree. */
#include "graph/factor/factor_internal.h"
#include "junction_internal.h"
#include "base/scratch.h"
#include "graph/network/network_internal.h"

#include <math.h>
#include <string.h>

static cr_status check_compiled(cr_ctx *cx, const cr_junction *j)
{
    if (j->problem) return CR_OK;
    return cr_fail(cx, CR_EARG,
                   "the junction tree could not be compiled: set other evidence first");
}

/* Z is the product of all that was divided by. */
static double log_evidence(const cr_junction *j)
{
    double sum = j->constant;
    for (size_t t = 0; t < j->tables; t++) sum += j->scale[t];
    for (size_t c = 0; c < j->cliques; c++) sum += j->clique[c].up.scale;
    return sum;
}

cr_status cr_junction_log_evidence(cr_ctx *cx, cr_junction *j, double *out_log)
{
    cr_status st = check_compiled(cx, j);
    if (st == CR_OK) st = cri_junction_collect(cx, j);
    if (st == CR_OK) *out_log = log_evidence(j);
    return st;
}

static cr_status check_possible(cr_ctx *cx, cr_junction *j)
{
    double    log_e;
    cr_status st = cr_junction_log_evidence(cx, j, &log_e);
    return st != CR_OK || log_e > -INFINITY ? st : cri_fail_impossible(cx);
}

/* --- marginals ------------------------------------------------------------------------------- */

static void copy_marginal(const cr_junction *j, size_t v, double *out)
{
    size_t n = cr_network_states(j->net, v);
    if (j->problem->rank[v] != CR_NONE) {
        memcpy(out, j->marginal + j->offset[v], n * sizeof *out);
        return;
    }
    memset(out, 0, n * sizeof *out); /* one state left */
    out[j->problem->state[j->problem->first[v]]] = 1;
}

/* Fails when the marginal of v, just computed, or what is separate from it shows that P(e) = 0. */
static cr_status check_sums(cr_ctx *cx, cr_junction *j, size_t v)
{
    double sum = 0, scale = j->constant;
    for (size_t i = j->offset[v]; i < j->offset[v + 1]; i++) sum += j->marginal[i];
    for (size_t t = 0; t < j->tables; t++) scale += j->scale[t];
    for (size_t c = 0; c < j->cliques; c++)
        scale += j->clique[c].up.valid ? j->clique[c].up.scale : 0;
    if (sum > 0 && scale > -INFINITY) return CR_OK;
    j->known[v] = false;
    return cri_fail_impossible(cx);
}

cr_status cr_junction_marginal(cr_ctx *cx, cr_junction *j, size_t v, double *out)
{
    cr_status st = CR_OK;
    CR_TRY(check_compiled(cx, j));
    if (v >= cr_network_size(j->net)) CR_TRY(cr_fail(cx, CR_EARG, "there is no variable %zu", v));
    size_t rank = j->problem->rank[v];
    if (rank == CR_NONE) CR_TRY(check_possible(cx, j));
    if (rank != CR_NONE && !j->known[v]) {
        size_t            home = j->home[rank], place = 0;
        const cri_clique *c = &j->clique[home];
        while (c->scope[place] != rank) place++;
        CR_TRY(cri_junction_pull(cx, j, home));
        if (!cri_clique_marginals(cx, j, home, 1, &place, true)) CR_TRY(cri_fail_combine(cx, 1));
        CR_TRY(check_sums(cx, j, v));
    }
    copy_marginal(j, v, out);
done:
    return st;
}

cr_status cr_junction_marginals(cr_ctx *cx, cr_junction *j, double *out)
{
    cr_status st = cr_junction_calibrate(cx, j, CR_CALIBRATE_HUGIN);
    for (size_t v = 0; st == CR_OK && v < cr_network_size(j->net); v++)
        copy_marginal(j, v, out + j->offset[v]);
    return st;
}

/* --- joint ----------------------------------------------------------------------------------- */

static bool covers(const cri_clique *c, size_t n, const size_t *rank)
{
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        while (k < c->n && c->scope[k] < rank[i]) k++;
        if (k == c->n || c->scope[k] != rank[i]) return false;
    }
    return true;
}

/* The ranks of the active query variables, ascending.  CR_EARG when one stands twice. */
static cr_status sort_ranks(cr_ctx *cx, const cr_junction *j, size_t n, const size_t *query,
                            size_t *rank, size_t *out_n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        if (query[i] >= cr_network_size(j->net))
            return cr_fail(cx, CR_EARG, "there is no variable %zu", query[i]);
        for (size_t k = 0; k < i; k++)
            if (query[k] == query[i])
                return cr_fail(cx, CR_EARG, "'%s' is asked for twice",
                               cr_variable_name(cr_network_variables(j->net), query[i]));
        size_t r = j->problem->rank[query[i]], at = count;
        if (r == CR_NONE) continue;
        for (; at > 0 && rank[at - 1] > r; at--) rank[at] = rank[at - 1];
        rank[at] = r;
        count++;
    }
    *out_n = count;
    return CR_OK;
}

cr_status cri_clique_sum(cr_ctx *cx, cr_junction *j, size_t at, size_t n, const size_t *rank,
                         const size_t *states, const cr_factor *opt_without, cr_factor *out_f)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    const cri_clique *c = &j->clique[at];
    const cr_factor **in = cr_scratch_bytes(&s, c->tables + c->children + 1, sizeof *in);
    cr_factor         f = { 0 };
    cri_space         sp;
    size_t            inputs, kept = 0;
    CR_TRY(s.status);
    CR_TRY(cri_junction_pull(cx, j, at));
    CR_TRY(cri_factor_make(cx, n, rank, states, &f));
    if (!cri_clique_space(j, c, &sp)) CR_TRY(cri_fail_dims(cx));
    cri_message m = { &f, 0 };
    inputs = cri_clique_inputs(j, c, CR_NONE, true, in, NULL);
    for (size_t i = 0; i < inputs; i++)
        if (in[i] != opt_without) in[kept++] = in[i];
    if (!cri_send(cx, &sp, false, kept, in, 1, &m, NULL, true))
        CR_TRY(cri_fail_combine(cx, f.size));
    *out_f = f;
    f = (cr_factor){ 0 };
done:
    cr_factor_free(cx, &f);
    cr_scratch_end(&s);
    return st;
}

cr_status cr_junction_joint(cr_ctx *cx, cr_junction *j, size_t n, const size_t *query,
                            cr_factor *out_f)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cr_factor  f = { 0 };
    size_t    *rank = cr_scratch_index(&s, n), count = 0, best = CR_NONE;
    size_t    *states = cr_scratch_index(&s, n);
    CR_TRY(s.status);
    if (n == 0) CR_TRY(cr_fail(cx, CR_EARG, "no variable is asked for"));
    CR_TRY(check_possible(cx, j));
    CR_TRY(sort_ranks(cx, j, n, query, rank, &count));
    for (size_t c = 0; count > 0 && c < j->cliques; c++)
        if (covers(&j->clique[c], count, rank) &&
            (best == CR_NONE || j->clique[c].n < j->clique[best].n))
            best = c;
    if (count > 0 && best == CR_NONE) {
        CR_TRY(cr_bucket_query(cx, j->net, j->evidence, n, query, &j->options, out_f, NULL, NULL));
        goto done;
    }
    for (size_t i = 0; i < count; i++) states[i] = j->problem->left[j->problem->var[rank[i]]];
    if (count > 0)
        CR_TRY(cri_clique_sum(cx, j, best, count, rank, states, NULL, &f));
    else
        CR_TRY(cr_factor_new(cx, 0, NULL, NULL, NULL, &f));
    CR_TRY(cri_problem_unpack(cx, j->problem, &f, n, query, out_f));
done:
    cr_factor_free(cx, &f);
    cr_scratch_end(&s);
    return st;
}

/* --- best ------------------------------------------------------------------------------------ */

/* Inputs of a clique when maximising: its tables and what came up, in `up`. */
static size_t best_inputs(const cr_junction *j, const cri_clique *c, const cr_factor *up,
                          const cr_factor **in)
{
    size_t n = 0;
    for (size_t i = 0; i < c->tables; i++)
        if (j->table[c->table[i]].value) in[n++] = &j->table[c->table[i]];
    for (size_t i = 0; i < c->children; i++)
        if (up[c->child[i]].n > 0) in[n++] = &up[c->child[i]];
    return n;
}

/* log of the product of the inputs at an assignment of ranks. */
static double value_at(size_t inputs, const cr_factor *const *in, const size_t *choice)
{
    double sum = 0;
    for (size_t i = 0; i < inputs; i++) {
        double x = in[i]->value[cr_factor_index(in[i], choice)];
        sum += in[i]->is_log ? x : log(x);
    }
    return sum;
}

/* Sets the eliminated variables of c to the best states, those of its separator being set. */
static void choose_best(const cr_junction *j, const cri_clique *c, size_t inputs,
                        const cr_factor *const *in, size_t *choice, size_t *best)
{
    double most = -INFINITY;
    for (size_t i = 0; i < c->eliminated; i++) choice[c->scope[i]] = best[i] = 0;
    for (;;) {
        double x = value_at(inputs, in, choice);
        if (x > most) {
            most = x;
            for (size_t i = 0; i < c->eliminated; i++) best[i] = choice[c->scope[i]];
        }
        size_t i = c->eliminated;
        for (; i-- > 0;) {
            if (++choice[c->scope[i]] < j->problem->left[j->problem->var[c->scope[i]]]) break;
            choice[c->scope[i]] = 0;
        }
        if (i == SIZE_MAX) break;
    }
    for (size_t i = 0; i < c->eliminated; i++) choice[c->scope[i]] = best[i];
}

/* Maximises upwards: up [cliques]; *out_log: the log of the best product. */
static cr_status maximise_up(cr_ctx *cx, const cr_junction *j, cr_factor *up, double *out_log)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double     sum = j->constant;
    size_t     most = 0;
    for (size_t c = 0; c < j->cliques; c++) {
        size_t n = j->clique[c].tables + j->clique[c].children;
        if (n > most) most = n;
    }
    const cr_factor **in = cr_scratch_bytes(&s, most, sizeof *in);
    CR_TRY(s.status);
    for (size_t t = 0; t < j->tables; t++) sum += j->scale[t];
    for (size_t i = 0; i < j->cliques; i++) {
        size_t            at = j->by_height[i];
        const cri_clique *c = &j->clique[at];
        cri_space         sp;
        if (!cri_clique_space(j, c, &sp)) CR_TRY(cri_fail_dims(cx));
        if (!cri_clique_table(cx, j, c, c->eliminated, &up[at])) CR_TRY(cri_fail_combine(cx, 1));
        cri_message m = { &up[at], 0 };
        if (!cri_send(cx, &sp, true, best_inputs(j, c, up, in), in, 1, &m, NULL, true))
            CR_TRY(cri_fail_combine(cx, up[at].size));
        sum += m.scale;
        CR_TRY(cr_check_interrupt(cx));
    }
    *out_log = sum;
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cr_junction_best(cr_ctx *cx, cr_junction *j, size_t *out_state, double *out_log)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(cx);
    double             sum;
    const cri_problem *p = j->problem;
    CR_TRY(check_compiled(cx, j));
    size_t    *choice = cr_scratch_bytes(&s, p->active, sizeof *choice);
    size_t    *best = cr_scratch_index(&s, p->active);
    cr_factor *up = cr_scratch_bytes(&s, j->cliques, sizeof *up);
    CR_TRY(s.status);
    st = maximise_up(cx, j, up, &sum);
    if (st == CR_OK && sum == -INFINITY) st = cri_fail_impossible(cx);
    for (size_t i = 0; st == CR_OK && i < j->cliques; i++) {
        const cri_clique *c = &j->clique[j->by_depth[i]];
        const cr_factor **in = cr_scratch_bytes(&s, c->tables + c->children, sizeof *in);
        st = s.status;
        if (st == CR_OK) choose_best(j, c, best_inputs(j, c, up, in), in, choice, best);
    }
    for (size_t c = 0; c < j->cliques; c++) cr_factor_free(cx, &up[c]);
    CR_TRY(st);
    for (size_t v = 0; v < p->n; v++) {
        size_t at = p->rank[v] == CR_NONE ? 0 : choice[p->rank[v]];
        out_state[v] = p->state[p->first[v] + at];
    }
    *out_log = sum;
done:
    cr_scratch_end(&s);
    return st;
}
