/* bp.c -- loopy belief propagation and its schedules. */
#include "bp.h"
#include "base/context_internal.h"
#include "base/parallel.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

enum { MOST_BLOCKS = 64 };
static const double MOST_WORKSPACE =
    1 << 22;                     /* numbers of working memory for all blocks, at the most */
static const double LATER = 0.5; /* damping, where it was not given and is needed         */

void cri_bp_free(cr_ctx *cx, cri_bp *b)
{
    if (!b->g) return;
    size_t size = b->g->offset[b->g->edges];
    cr_free(cx, b->m, size, sizeof *b->m);
    cr_free(cx, b->logs, size, sizeof *b->logs);
    if (b->power_at) cr_free(cx, b->power, b->power_at[b->g->m], sizeof *b->power);
    cr_free(cx, b->power_at, b->g->m + 1, sizeof *b->power_at);
    *b = (cri_bp){ 0 };
}

static cr_status make_powers(cr_ctx *cx, cri_bp *b)
{
    const cri_fgraph *g = b->g;
    b->power_at = cr_alloc(cx, g->m + 1, sizeof *b->power_at);
    if (!b->power_at) return CR_ENOMEM;
    size_t size = 0;
    for (size_t i = 0; i < g->m; i++) size += g->table[i].size;
    b->power = cr_alloc(cx, size, sizeof *b->power);
    if (!b->power) {
        cr_free(cx, b->power_at, g->m + 1, sizeof *b->power_at);
        b->power_at = NULL;
        return CR_ENOMEM;
    }
    for (size_t i = 0, k = 0; i < g->m; i++) {
        for (size_t e = 0; e < g->table[i].size; e++)
            b->power[k++] = pow(g->table[i].value[e], 1 / b->rho[i]);
        b->power_at[i + 1] = k;
    }
    return CR_OK;
}

cr_status cri_bp_new(cr_ctx *cx, const cri_fgraph *g, bool maximise, const double *opt_rho,
                     cri_bp *out)
{
    cr_status st = CR_OK;
    size_t    size = g->offset[g->edges];
    cri_bp    b = { .g = g, .maximise = maximise, .rho = opt_rho };
    b.m = cr_alloc(cx, size, sizeof *b.m);
    if (!b.m) CR_TRY(CR_ENOMEM);
    if (opt_rho) {
        b.logs = cr_alloc(cx, size, sizeof *b.logs);
        if (!b.logs) CR_TRY(CR_ENOMEM);
        CR_TRY(make_powers(cx, &b));
    }
    for (size_t e = 0; e < g->edges; e++) {
        double x = maximise ? 1 : 1 / (double)g->states[g->var[e]];
        for (size_t k = g->offset[e]; k < g->offset[e + 1]; k++) {
            b.m[k] = x;
            if (opt_rho) b.logs[k] = log(x);
        }
    }
    *out = b;
    b = (cri_bp){ 0 };
done:
    cri_bp_free(cx, &b);
    return st;
}

const double *cri_bp_values(const cri_bp *b, size_t i)
{
    return b->rho ? b->power + b->power_at[i] : b->g->table[i].value;
}

/* --- messages -------------------------------------------------------------------------------- */

/* Divides by the largest entry; 0 if all are. */
static double scale_to_one(double *x, size_t n)
{
    double most = 0;
    for (size_t k = 0; k < n; k++) most = x[k] > most ? x[k] : most;
    for (size_t k = 0; most > 0 && k < n; k++) x[k] /= most;
    return most;
}

static void normalise(double *x, size_t n, bool maximise)
{
    double sum = scale_to_one(x, n);
    if (maximise || sum == 0) return;
    sum = 0;
    for (size_t k = 0; k < n; k++) sum += x[k];
    for (size_t k = 0; k < n; k++) x[k] /= sum;
}

/* The product of what comes to v, except over the edge `left_out` (CR_NONE: of all). */
static void gather(const cri_bp *b, size_t v, size_t left_out, double *out)
{
    const cri_fgraph *g = b->g;
    size_t            n = g->states[v];
    for (size_t k = 0; k < n; k++) out[k] = b->rho ? 0 : 1;
    for (size_t i = g->begin[v]; i < g->begin[v + 1]; i++) {
        size_t        e = g->at[i];
        const double *m = (b->rho ? b->logs : b->m) + g->offset[e];
        double        most = 0;
        if (b->rho) {
            double power = b->rho[g->of[e]] - (e == left_out);
            for (size_t k = 0; k < n; k++) out[k] += m[k] == -INFINITY ? m[k] : power * m[k];
            continue;
        }
        if (e == left_out) continue;
        for (size_t k = 0; k < n; k++) {
            out[k] *= m[k];
            most = out[k] > most ? out[k] : most;
        }
        if (most < 1e-100) scale_to_one(out, n);
    }
    if (!b->rho) return;
    double most = -INFINITY;
    for (size_t k = 0; k < n; k++) most = out[k] > most ? out[k] : most;
    for (size_t k = 0; k < n; k++) out[k] = most > -INFINITY ? exp(out[k] - most) : 0;
}

void cri_bp_incoming(const cri_bp *b, size_t edge, double *out)
{
    gather(b, b->g->var[edge], edge, out);
    scale_to_one(out, b->g->states[b->g->var[edge]]);
}

void cri_bp_belief(const cri_bp *b, size_t v, double *out)
{
    gather(b, v, CR_NONE, out);
    normalise(out, b->g->states[v], b->maximise);
}

/* What one block works in. */
typedef struct desk {
    double *in, *out;  /* [sum of the states of a scope] */
    double *workspace; /* [2 x most_size] */
} desk;

static size_t desk_size(const cri_fgraph *g)
{
    return 2 * g->most_scope * g->most_states + 2 * g->most_size;
}

static desk desk_at(const cri_fgraph *g, double *workspace)
{
    size_t n = g->most_scope * g->most_states;
    return (desk){ workspace, workspace + n, workspace + 2 * n };
}

/* All messages that table i sends now, into d->out, damped.  Returns the largest change. */
static double send(const cri_bp *b, size_t i, double damping, const desk *d, bool *impossible)
{
    const cri_fgraph *g = b->g;
    const cr_factor  *f = &g->table[i];
    double            change = 0, *out = d->out, *in = d->in;
    for (size_t e = g->first[i]; e < g->first[i + 1]; in += g->states[g->var[e++]])
        cri_bp_incoming(b, e, in);
    for (size_t k = 0; k < f->n; k++) {
        size_t        e = g->first[i] + k;
        const double *old = b->m + g->offset[e];
        cri_table_message(f, cri_bp_values(b, i), d->in, k, b->maximise, d->workspace, out);
        normalise(out, f->states[k], b->maximise);
        if (damping > 0) {
            for (size_t s = 0; s < f->states[k]; s++)
                out[s] = out[s] > 0 && old[s] > 0
                             ? exp((1 - damping) * log(out[s]) + damping * log(old[s]))
                             : 0;
            normalise(out, f->states[k], b->maximise);
        }
        bool any = false;
        for (size_t s = 0; s < f->states[k]; s++) {
            change = fmax(change, fabs(out[s] - old[s]));
            any |= out[s] > 0;
        }
        *impossible |= !any;
        out += f->states[k];
    }
    return change;
}

/* Puts the messages of table i in force. */
static void commit(cri_bp *b, size_t i, const double *out)
{
    const cri_fgraph *g = b->g;
    size_t            begin = g->offset[g->first[i]], n = g->offset[g->first[i + 1]] - begin;
    memcpy(b->m + begin, out, n * sizeof *out);
    for (size_t k = begin; b->rho && k < begin + n; k++) b->logs[k] = log(b->m[k]);
}

/* --- a heap of tables ------------------------------------------------------------------------ */

typedef struct heap {
    size_t  n;
    size_t *at, *place; /* tables by their place, places of tables */
    double *key;        /* [tables] */
} heap;

static bool is_before(const heap *h, size_t a, size_t b)
{
    return h->key[a] > h->key[b] || (h->key[a] == h->key[b] && a < b);
}

static void put(heap *h, size_t place, size_t table)
{
    h->at[place] = table;
    h->place[table] = place;
}

static void lift(heap *h, size_t table)
{
    size_t i = h->place[table];
    for (; i > 0 && is_before(h, table, h->at[(i - 1) / 2]); i = (i - 1) / 2)
        put(h, i, h->at[(i - 1) / 2]);
    put(h, i, table);
}

static void sink(heap *h, size_t table)
{
    size_t i = h->place[table];
    for (;;) {
        size_t child = 2 * i + 1;
        if (child + 1 < h->n && is_before(h, h->at[child + 1], h->at[child])) child++;
        if (child >= h->n || !is_before(h, h->at[child], table)) break;
        put(h, i, h->at[child]);
        i = child;
    }
    put(h, i, table);
}

/* --- schedules ------------------------------------------------------------------------------- */

typedef struct sweep {
    cri_bp *b;
    double  damping;
    double *workspace, *next, *change; /* next [messages], change [blocks] */
    bool   *impossible;                /* [blocks] */
    size_t  blocks, width;
    heap    h;
} sweep;

static void flood_block(void *arg, size_t block)
{
    sweep            *w = arg;
    const cri_fgraph *g = w->b->g;
    desk              d = desk_at(g, w->workspace + block * desk_size(g));
    cri_range         r = cri_block_range(g->m, w->width, block);
    w->change[block] = 0;
    for (size_t i = r.begin; i < r.end; i++) {
        d.out = w->next + g->offset[g->first[i]];
        w->change[block] =
            fmax(w->change[block], send(w->b, i, w->damping, &d, &w->impossible[block]));
    }
}

/* Everything from the messages of the last sweep. */
static cr_status flood(cr_ctx *cx, sweep *w, double *out_change)
{
    cr_status st = cri_parallel_for(cx, NULL, w->blocks, flood_block, w);
    if (st != CR_OK) return st;
    for (size_t k = 0; k < w->blocks; k++) {
        *out_change = fmax(*out_change, w->change[k]);
        w->b->impossible |= w->impossible[k];
    }
    for (size_t i = 0; i < w->b->g->m; i++)
        commit(w->b, i, w->next + w->b->g->offset[w->b->g->first[i]]);
    return CR_OK;
}

static cr_status go_through(cr_ctx *cx, sweep *w, double *out_change)
{
    cr_status         st = CR_OK;
    const cri_fgraph *g = w->b->g;
    desk              d = desk_at(g, w->workspace);
    for (size_t i = 0; i < g->m; i++) {
        if (i % 256 == 0) CR_TRY(cr_check_interrupt(cx));
        *out_change = fmax(*out_change, send(w->b, i, w->damping, &d, &w->b->impossible));
        commit(w->b, i, d.out);
    }
done:
    return st;
}

/* Those that hear from table i by what changes in its messages. */
static void notify_others(sweep *w, size_t i, const double *out)
{
    const cri_fgraph *g = w->b->g;
    for (size_t e = g->first[i]; e < g->first[i + 1]; e++) {
        const double *old = w->b->m + g->offset[e];
        double        change = 0;
        for (size_t s = 0; s < g->states[g->var[e]]; s++, out++)
            change = fmax(change, fabs(*out - old[s]));
        if (change == 0) continue;
        for (size_t k = g->begin[g->var[e]]; k < g->begin[g->var[e] + 1]; k++) {
            size_t other = g->of[g->at[k]];
            if (other == i && !w->b->rho) continue;
            w->h.key[other] += change;
            lift(&w->h, other);
        }
    }
}

/* The tables whose incoming messages have changed most; *out_change: the most that is left. */
static cr_status go_by_residual(cr_ctx *cx, sweep *w, double tol, double *out_change)
{
    cr_status         st = CR_OK;
    const cri_fgraph *g = w->b->g;
    desk              d = desk_at(g, w->workspace);
    for (size_t k = 0; k < g->m; k++) {
        size_t i = w->h.at[0];
        if (w->h.key[i] <= tol) break;
        if (k % 256 == 0) CR_TRY(cr_check_interrupt(cx));
        w->h.key[i] = 0;
        double change = send(w->b, i, w->damping, &d, &w->b->impossible);
        if (w->damping > 0) w->h.key[i] = w->damping * change; /* it is not there yet */
        sink(&w->h, i);
        notify_others(w, i, d.out);
        commit(w->b, i, d.out);
    }
    *out_change = w->h.key[w->h.at[0]];
done:
    return st;
}

static cr_status prepare(cr_scratch *s, sweep *w, cr_schedule schedule)
{
    const cri_fgraph *g = w->b->g;
    double            most = MOST_WORKSPACE / (double)desk_size(g);
    size_t            blocks = most < 1 ? 1 : most > MOST_BLOCKS ? MOST_BLOCKS : (size_t)most;
    if (schedule != CR_SCHEDULE_FLOODING || g->m == 0) blocks = 1;
    w->width = (g->m + blocks - 1) / blocks + (g->m == 0);
    w->blocks = cri_block_count(g->m, w->width);
    w->workspace = cr_scratch_f64(s, (w->blocks ? w->blocks : 1) * desk_size(g));
    if (schedule == CR_SCHEDULE_FLOODING) {
        w->next = cr_scratch_f64(s, g->offset[g->edges]);
        w->change = cr_scratch_f64(s, w->blocks);
        w->impossible = cr_scratch_bytes(s, w->blocks, sizeof *w->impossible);
    }
    if (schedule != CR_SCHEDULE_RESIDUAL) return s->status;
    w->h = (heap){ g->m, cr_scratch_index(s, g->m), cr_scratch_index(s, g->m),
                   cr_scratch_f64(s, g->m) };
    for (size_t i = 0; s->status == CR_OK && i < g->m; i++) {
        put(&w->h, i, i);
        w->h.key[i] = 1e30; /* each at least once, in order */
    }
    return s->status;
}

cr_status cri_bp_run(cr_ctx *cx, cri_bp *b, const cr_approximate_options *o,
                     cr_approximate_report *report)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    sweep       w = { .b = b, .damping = isnan(o->damping) ? 0 : o->damping };
    cr_schedule schedule = (cr_schedule)o->schedule;
    double      change = 0;
    size_t      it = 0;
    cri_clock   clock = cri_clock_start(cx, b->prepares ? cri_time_left(cx) / 10 : NAN);
    CR_TRY(prepare(&s, &w, schedule));
    report->converged = b->g->m == 0;
    report->made = report->planned = 0;
    while (!report->converged && !b->impossible && it < o->max_iter) {
        if (it > 0 && cri_clock_over(&clock)) {
            report->made = it, report->planned = o->max_iter;
            break;
        }
        change = 0;
        CR_TRY(cr_check_interrupt(cx));
        if (isnan(o->damping) && it > 20 && it > o->max_iter / 4) w.damping = LATER;
        if (schedule == CR_SCHEDULE_FLOODING)
            CR_TRY(flood(cx, &w, &change));
        else if (schedule == CR_SCHEDULE_SEQUENTIAL)
            CR_TRY(go_through(cx, &w, &change));
        else
            CR_TRY(go_by_residual(cx, &w, o->tol, &change));
        it++;
        report->converged = change <= o->tol;
        cr_progress(cx, "messages", (double)it, (double)o->max_iter);
    }
    report->iterations += it;
    report->residual = change;
    report->damping = w.damping;
done:
    cr_scratch_end(&s);
    return st;
}

/* --- the Bethe free energy ------------------------------------------------------------------- */

/* log Z = sum_f log Z_f + sum_i log Z_i - sum_(f,i) log Z_fi, which any scale of the messages
 * leaves as it is (Yedidia, Freeman & Weiss 2005, in terms of messages). */
cr_status cri_bp_log_z(cr_ctx *cx, const cri_bp *b, double *out)
{
    cr_status         st = CR_OK;
    const cri_fgraph *g = b->g;
    cr_scratch        s = cr_scratch_begin(cx);
    double           *workspace = cr_scratch_f64(&s, desk_size(g)), log_z = g->scale;
    CR_TRY(s.status);
    desk d = desk_at(g, workspace);
    for (size_t i = 0; i < g->m && log_z > -INFINITY; i++) {
        double *in = d.in, z = 0;
        for (size_t e = g->first[i]; e < g->first[i + 1]; in += g->states[g->var[e++]]) {
            double product = 0;
            cri_bp_incoming(b, e, in);
            for (size_t k = 0; k < g->states[g->var[e]]; k++)
                product += in[k] * b->m[g->offset[e] + k];
            log_z -= log(product);
        }
        cri_table_message(&g->table[i], g->table[i].value, d.in, 0, false, d.workspace, d.out);
        for (size_t k = 0; k < g->table[i].states[0]; k++) z += d.in[k] * d.out[k];
        log_z = z > 0 && log_z < INFINITY ? log_z + log(z) : -INFINITY;
    }
    for (size_t v = 0; v < g->n && log_z > -INFINITY; v++) {
        double sum = 0;
        size_t n = g->states[v];
        for (size_t k = 0; k < n; k++) d.in[k] = 1;
        for (size_t i = g->begin[v]; i < g->begin[v + 1]; i++) {
            const double *m = b->m + g->offset[g->at[i]];
            for (size_t k = 0; k < n; k++) d.in[k] *= m[k];
            double most = scale_to_one(d.in, n);
            log_z += log(most);
        }
        for (size_t k = 0; k < n; k++) sum += d.in[k];
        log_z = sum > 0 ? log_z + log(sum) : -INFINITY;
    }
    *out = b->impossible || isnan(log_z) ? -INFINITY : log_z;
done:
    cr_scratch_end(&s);
    return st;
}
