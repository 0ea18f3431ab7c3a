/* max_product.c -- a probable assignment, and a bound of the most probable one.
 * Max-product messages (bp.h) give max-marginals; an assignment is read off variable by variable,
 * each time from the tables and messages given what has been read before, and then improved while
 * that helps: one variable at a time (Besag's ICM), then whole blocks of them (blocks.h) at once,
 * each set to the best given the others.
 * The bound is the dual of the linear relaxation: with t_f(x_f) = log f(x_f) - sum_i d_{f,i}(x_i),
 *     max_x sum_f log f  <=  sum_f max t_f + sum_i max_{x_i} sum_f d_{f,i}(x_i)      for any d
 * lowered table by table: each d_{f,i} becomes the max-marginal of the table, with what the others
 * say of its variables, shared equally among them (MPLP).  log 0 counts as -1e4, which can only
 * raise the bound.  Globerson & Jaakkola (2007), NIPS; Sontag, Globerson & Jaakkola (2011). */
#include "approximate.h"
#include "blocks.h"
#include "bp.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

enum { MOST_SWEEPS = 200, BLOCK_SETS = 8, BLOCK_SIZE = 1024 };
static const double FLOOR = -1e4;

/* --- reading off an assignment --------------------------------------------------------------- */

/* log of the tables of v at its state x, the others as they are; where `fixed` is given, tables
 * with variables that are not fixed give their messages. */
static double local_value(const cri_fgraph *g, const cri_bp *b, const bool *opt_fixed,
                          size_t *state, size_t v, size_t x)
{
    double sum = 0;
    state[v] = x;
    for (size_t k = g->begin[v]; k < g->begin[v + 1]; k++) {
        size_t           e = g->at[k], i = g->of[e];
        const cr_factor *f = &g->table[i];
        bool             all = true;
        for (size_t j = 0; opt_fixed && j < f->n; j++)
            all &= f->var[j] == v || opt_fixed[f->var[j]];
        sum += log(all ? f->value[cr_factor_index(f, state)] : b->m[g->offset[e] + x]);
    }
    return sum;
}

static size_t best_state(const cri_fgraph *g, const cri_bp *b, const bool *opt_fixed, size_t *state,
                         size_t v)
{
    size_t best = state[v], from = state[v];
    double most = local_value(g, b, opt_fixed, state, v, from);
    for (size_t x = 0; x < g->states[v]; x++) {
        double value = x == from ? most : local_value(g, b, opt_fixed, state, v, x);
        if (value > most) most = value, best = x;
    }
    state[v] = best;
    return best;
}

/* Variables in the order in which a walk over the tables reaches them, so that each has neighbours
 * that are fixed. */
static void read_off(const cri_fgraph *g, const cri_bp *b, bool *fixed, size_t *queue, bool *queued,
                     size_t *state)
{
    memset(fixed, 0, g->n * sizeof *fixed);
    memset(queued, 0, g->n * sizeof *queued);
    memset(state, 0, g->n * sizeof *state);
    for (size_t root = 0, n = 0; root < g->n; root++) {
        size_t k = n;
        if (queued[root]) continue;
        queued[root] = true;
        queue[n++] = root;
        for (; k < n; k++) {
            size_t v = queue[k];
            best_state(g, b, fixed, state, v);
            fixed[v] = true;
            for (size_t a = g->begin[v]; a < g->begin[v + 1]; a++) {
                size_t i = g->of[g->at[a]];
                for (size_t e = g->first[i]; e < g->first[i + 1]; e++) {
                    if (queued[g->var[e]]) continue;
                    queued[g->var[e]] = true;
                    queue[n++] = g->var[e];
                }
            }
        }
    }
}

/* One variable at a time, while something changes. */
static cr_status improve(cr_ctx *cx, const cri_fgraph *g, size_t *state)
{
    cr_status st = CR_OK;
    bool      changed = true;
    for (size_t it = 0; changed && it < MOST_SWEEPS; it++) {
        changed = false;
        CR_TRY(cr_check_interrupt(cx));
        for (size_t v = 0; v < g->n; v++) {
            size_t old = state[v];
            changed |= best_state(g, NULL, NULL, state, v) != old;
        }
    }
done:
    return st;
}

/* Blocks instead of variables: several random choices of them. */
static cr_status improve_blocks(cr_ctx *cx, const cri_fgraph *g, size_t *state)
{
    cr_status st = CR_OK;
    for (uint64_t set = 0; set < BLOCK_SETS; set++) {
        cr_scratch s = cr_scratch_begin(cx);
        cri_blocks blocks = { 0 };
        bool       changed = true;
        double    *workspace = NULL;
        st = cri_blocks_new(cx, &s, g, BLOCK_SIZE, set, &blocks);
        if (st == CR_OK) workspace = cr_scratch_f64(&s, blocks.workspace);
        if (st == CR_OK) st = s.status;
        for (size_t it = 0; st == CR_OK && changed && it < MOST_SWEEPS; it++) {
            changed = false;
            st = cr_check_interrupt(cx);
            for (size_t b = 0; st == CR_OK && b < blocks.n; b++)
                changed |= cri_block_best(&blocks.block[b], workspace, state);
        }
        bool one = blocks.n == 1; /* that was exact */
        cr_scratch_end(&s);
        CR_TRY(st);
        if (one) break;
    }
done:
    return st;
}

/* --- the dual -------------------------------------------------------------------------------- */

typedef struct dual {
    const cri_fgraph *g;
    double           *logs;  /* tables, one after another, then t_f */
    size_t           *at;    /* [m] */
    double           *d;     /* [offset[edges]] */
    double           *total; /* [start[n]] sum over tables of d */
} dual;

/* Adds or takes away, for every entry of table i, what its variables say. */
static void shift(const dual *w, size_t i, double sign, const double *vectors, size_t *position)
{
    const cr_factor *f = &w->g->table[i];
    double          *t = w->logs + w->at[i];
    for (size_t k = 0; k < f->n; k++) position[k] = 0;
    for (size_t e = 0; e < f->size; e++) {
        const double *v = vectors;
        for (size_t k = 0; k < f->n; v += f->states[k++]) t[e] += sign * v[position[k]];
        for (size_t k = f->n; k-- > 0;) {
            if (++position[k] < f->states[k]) break;
            position[k] = 0;
        }
    }
}

static void max_marginals(const dual *w, size_t i, double *out, size_t *position)
{
    const cr_factor *f = &w->g->table[i];
    const double    *t = w->logs + w->at[i];
    size_t           all = 0;
    for (size_t k = 0; k < f->n; all += f->states[k++]) position[k] = 0;
    for (size_t k = 0; k < all; k++) out[k] = -INFINITY;
    for (size_t e = 0; e < f->size; e++) {
        double *o = out;
        for (size_t k = 0; k < f->n; o += f->states[k++])
            o[position[k]] = fmax(o[position[k]], t[e]);
        for (size_t k = f->n; k-- > 0;) {
            if (++position[k] < f->states[k]) break;
            position[k] = 0;
        }
    }
}

/* t_f + what the other tables say of its variables is shared out again. */
static void lower_table(dual *w, size_t i, double *vectors, double *share, size_t *position)
{
    const cri_fgraph *g = w->g;
    const cr_factor  *f = &g->table[i];
    double           *d = w->d + g->offset[g->first[i]];
    size_t            all = g->offset[g->first[i + 1]] - g->offset[g->first[i]];
    for (size_t k = 0, x = 0; k < f->n; k++)
        for (size_t s = 0; s < f->states[k]; s++, x++)
            vectors[x] = w->total[g->start[f->var[k]] + s];
    shift(w, i, 1, vectors, position); /* t + d + others = the table with all that is said */
    max_marginals(w, i, share, position);
    for (size_t x = 0; x < all; x++) share[x] /= (double)f->n;
    shift(w, i, -1, share, position);
    for (size_t k = 0, x = 0; k < f->n; k++)
        for (size_t s = 0; s < f->states[k]; s++, x++) {
            /* the variable is to have `share` in all: of others it keeps total - d */
            d[x] += share[x] - vectors[x];
            w->total[g->start[f->var[k]] + s] = share[x];
        }
}

static double dual_value(const dual *w)
{
    const cri_fgraph *g = w->g;
    double            sum = g->scale;
    for (size_t i = 0; i < g->m; i++) {
        double most = -INFINITY;
        for (size_t e = 0; e < g->table[i].size; e++) most = fmax(most, w->logs[w->at[i] + e]);
        sum += most;
    }
    for (size_t v = 0; v < g->n; v++) {
        double most = -INFINITY;
        for (size_t x = g->start[v]; x < g->start[v + 1]; x++) most = fmax(most, w->total[x]);
        sum += most;
    }
    return sum;
}

static cr_status find_bound(cr_ctx *cx, const cri_fgraph *g, size_t sweeps, double tol, double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    dual       w = { .g = g, .at = cr_scratch_index(&s, g->m) };
    size_t     size = 0, most = g->most_scope * g->most_states;
    double    *vectors = cr_scratch_f64(&s, most), *share = cr_scratch_f64(&s, most);
    size_t    *position = cr_scratch_index(&s, g->most_scope);
    CR_TRY(s.status);
    for (size_t i = 0; i < g->m; size += g->table[i++].size) w.at[i] = size;
    w.logs = cr_scratch_f64(&s, size);
    w.d = cr_scratch_bytes(&s, g->offset[g->edges], sizeof *w.d);
    w.total = cr_scratch_bytes(&s, g->start[g->n], sizeof *w.total);
    CR_TRY(s.status);
    for (size_t i = 0; i < g->m; i++)
        for (size_t e = 0; e < g->table[i].size; e++)
            w.logs[w.at[i] + e] = fmax(log(g->table[i].value[e]), FLOOR);
    *out = dual_value(&w);
    for (size_t it = 0; it < sweeps && it < MOST_SWEEPS; it++) {
        for (size_t i = 0; i < g->m; i++) {
            if (i % 256 == 0) CR_TRY(cr_check_interrupt(cx));
            lower_table(&w, i, vectors, share, position);
        }
        double now = dual_value(&w), gain = *out - now;
        if (now < *out) *out = now;
        cr_progress(cx, "bound", (double)it, MOST_SWEEPS);
        if (gain <= fmax(tol, 1e-12) * (1 + fabs(now))) break;
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* --- both ------------------------------------------------------------------------------------ */

cr_status cri_find_assignment(cr_ctx *cx, const cri_fgraph *g, const cr_approximate_options *o,
                              cr_approximate_report *report, size_t *out_state, double *out_log)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_bp     b = { 0 };
    bool      *fixed = cr_scratch_bytes(&s, g->n, sizeof *fixed);
    bool      *queued = cr_scratch_bytes(&s, g->n, sizeof *queued);
    size_t    *queue = cr_scratch_index(&s, g->n), *state = cr_scratch_index(&s, g->n);
    CR_TRY(s.status);
    *out_log = -INFINITY;
    for (size_t way = 0; way < 2; way++) { /* by max-product, then by sum-product messages */
        cr_approximate_report r = *report;
        CR_TRY(cri_bp_new(cx, g, way == 0, NULL, &b));
        CR_TRY(cri_bp_run(cx, &b, o, &r));
        if (b.impossible)
            CR_TRY(cr_fail(cx, CR_EDATA, "the evidence is impossible: its probability is 0"));
        read_off(g, &b, fixed, queue, queued, state);
        CR_TRY(improve(cx, g, state));
        if (way == 1 && *out_log >= cri_fgraph_log_value(g, state)) /* the better one goes on */
            memcpy(state, out_state, g->n * sizeof *state);
        if (way == 1) CR_TRY(improve_blocks(cx, g, state));
        double value = cri_fgraph_log_value(g, state);
        if (way == 0) *report = r;
        if (way == 0 || value > *out_log) {
            *out_log = value;
            memcpy(out_state, state, g->n * sizeof *state);
        }
        cri_bp_free(cx, &b);
    }
    if (*out_log == -INFINITY) {
        cr_fail(cx, CR_ENUMERIC, "max-product found no assignment consistent with the evidence");
        CR_TRY(cr_fail_hint(cx, "there may be none; an exact --method can tell, if it fits"));
    }
done:
    cri_bp_free(cx, &b);
    cr_scratch_end(&s);
    return st;
}

cr_status cr_approximate_best(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                              const cr_approximate_options *opt_o, size_t *out_state,
                              double *out_log, double *out_upper, cr_approximate_report *opt_report)
{
    cr_status              st = CR_OK;
    cr_scratch             s = cr_scratch_begin(cx);
    cri_fgraph             g = { 0 };
    cr_approximate_options o = opt_o ? *opt_o : cr_approximate_defaults();
    if (o.max_iter == CR_COUNT_UNSET) o.max_iter = 1000;
    cr_approximate_report report = cri_report_empty();
    double                log_best, upper;
    CR_TRY(cri_fgraph_new(cx, net, opt_e, NULL, &g));
    if (g.scale == -INFINITY)
        CR_TRY(cr_fail(cx, CR_EDATA, "the evidence is impossible: its probability is 0"));
    size_t *state = cr_scratch_index(&s, g.n);
    CR_TRY(s.status);
    CR_TRY(cri_find_assignment(cx, &g, &o, &report, state, &log_best));
    CR_TRY(find_bound(cx, &g, o.max_iter, o.tol, &upper));
    cri_fgraph_assign(&g, state, out_state);
    *out_log = log_best;
    *out_upper = fmax(upper, log_best);
    if (opt_report) *opt_report = report;
done:
    cri_fgraph_free(cx, &g);
    cr_scratch_end(&s);
    return st;
}
