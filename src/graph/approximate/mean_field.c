/* mean_field.c -- coordinate ascent of the free-energy bound. */
#include "mean_field.h"
#include "base/context_internal.h"
#include "base/scratch.h"

#include <math.h>

static const double PENALTIES[] = { 10, 30, 100, 1000 };
static const double NOTHING = 1e-30; /* what is less than this becomes 0 in the end */

typedef struct field {
    const cri_fgraph *g;
    double           *q;       /* [start[n]] */
    double           *logs;    /* of the tables, one after another */
    size_t           *at;      /* [m] where each begins */
    double            penalty; /* log 0 counts as minus this; INFINITY: as it is */
    double           *weight, *workspace, *out;
} field;

static void take_logs(field *w)
{
    for (size_t i = 0; i < w->g->m; i++)
        for (size_t e = 0; e < w->g->table[i].size; e++) {
            double x = log(w->g->table[i].value[e]);
            w->logs[w->at[i] + e] = x < -w->penalty ? -w->penalty : x;
        }
}

/* E_q[log f | x_i] of the edge's variable, into w->out. */
static void expect(field *w, size_t edge)
{
    const cri_fgraph *g = w->g;
    size_t            i = g->of[edge];
    double           *to = w->weight;
    for (size_t e = g->first[i]; e < g->first[i + 1]; e++)
        for (size_t x = 0; x < g->states[g->var[e]]; x++) *to++ = w->q[g->start[g->var[e]] + x];
    cri_table_message(&g->table[i], w->logs + w->at[i], w->weight, edge - g->first[i], false,
                      w->workspace, w->out);
}

/* Sets q_v to its optimum; returns the change.  Where all is -INFINITY it stays. */
static double update(field *w, size_t v, double *next)
{
    const cri_fgraph *g = w->g;
    double           *q = w->q + g->start[v], most = -INFINITY, sum = 0, change = 0;
    size_t            n = g->states[v];
    for (size_t x = 0; x < n; x++) next[x] = 0;
    for (size_t k = g->begin[v]; k < g->begin[v + 1]; k++) {
        expect(w, g->at[k]);
        for (size_t x = 0; x < n; x++) next[x] += w->out[x];
    }
    for (size_t x = 0; x < n; x++) most = fmax(most, next[x]);
    if (most == -INFINITY) return 0;
    for (size_t x = 0; x < n; x++) sum += next[x] = exp(next[x] - most);
    for (size_t x = 0; x < n; x++) {
        next[x] /= sum;
        change = fmax(change, fabs(next[x] - q[x]));
        q[x] = next[x];
    }
    return change;
}

/* F(q), with the scale of the graph. */
static double free_energy(field *w)
{
    const cri_fgraph *g = w->g;
    double            sum = g->scale;
    for (size_t i = 0; i < g->m; i++) {
        const double *q = w->q + g->start[g->var[g->first[i]]];
        expect(w, g->first[i]);
        for (size_t x = 0; x < g->table[i].states[0]; x++)
            if (q[x] > 0) sum += q[x] * w->out[x];
    }
    for (size_t k = 0; k < g->start[g->n]; k++)
        if (w->q[k] > 0) sum -= w->q[k] * log(w->q[k]);
    return sum;
}

/* What is next to nothing becomes nothing. */
static void drop_traces(field *w)
{
    for (size_t v = 0; v < w->g->n; v++) {
        double sum = 0, *q = w->q + w->g->start[v];
        for (size_t x = 0; x < w->g->states[v]; x++) {
            if (q[x] < NOTHING) q[x] = 0;
            sum += q[x];
        }
        for (size_t x = 0; x < w->g->states[v]; x++) q[x] /= sum;
    }
}

static cr_status ascend(cr_ctx *cx, field *w, const cr_approximate_options *o, double *next,
                        double *opt_trace, cr_approximate_report *report)
{
    cr_status st = CR_OK;
    cri_clock clock = cri_clock_start(cx, NAN);
    take_logs(w);
    report->converged = false;
    report->made = report->planned = 0;
    for (size_t it = 0; it < o->max_iter && !report->converged; it++) {
        double change = 0;
        if (it > 0 && cri_clock_over(&clock)) {
            report->made = it, report->planned = o->max_iter;
            break;
        }
        CR_TRY(cr_check_interrupt(cx));
        for (size_t v = 0; v < w->g->n; v++) change = fmax(change, update(w, v, next));
        report->converged = change <= o->tol;
        report->residual = change;
        report->iterations++;
        if (opt_trace) opt_trace[it] = free_energy(w);
        cr_progress(cx, "mean field", (double)it, (double)o->max_iter);
    }
done:
    return st;
}

static bool has_zeros(const cri_fgraph *g)
{
    for (size_t i = 0; i < g->m; i++)
        for (size_t e = 0; e < g->table[i].size; e++)
            if (g->table[i].value[e] == 0) return true;
    return false;
}

cr_status cri_mean_field(cr_ctx *cx, const cri_fgraph *g, const cr_approximate_options *o,
                         double *inout_q, double *opt_trace, double *out_bound,
                         cr_approximate_report *report)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    field      w = { .g = g, .q = inout_q, .penalty = INFINITY };
    size_t     size = 0;
    double    *next = cr_scratch_f64(&s, g->most_states);
    w.at = cr_scratch_index(&s, g->m);
    w.weight = cr_scratch_f64(&s, g->most_scope * g->most_states);
    w.workspace = cr_scratch_f64(&s, 2 * g->most_size);
    w.out = cr_scratch_f64(&s, g->most_states);
    CR_TRY(s.status);
    for (size_t i = 0; i < g->m; size += g->table[i++].size) w.at[i] = size;
    w.logs = cr_scratch_f64(&s, size);
    CR_TRY(s.status);
    if (has_zeros(g)) {
        for (size_t k = 0; k < sizeof PENALTIES / sizeof *PENALTIES; k++) {
            w.penalty = PENALTIES[k];
            CR_TRY(ascend(cx, &w, o, next, NULL, report));
        }
        drop_traces(&w);
        w.penalty = INFINITY;
    }
    CR_TRY(ascend(cx, &w, o, next, opt_trace, report));
    *out_bound = free_energy(&w);
done:
    cr_scratch_end(&s);
    return st;
}
