/* junction_bytes.c -- what a junction tree will hold, predicted before its first table is made. */
#include "junction_internal.h"
#include "graph/factor/message.h"
#include "table_sizes.h"

#include <math.h>

static double clique_size(const cr_junction *j, const cri_clique *c, size_t from)
{
    double size = 1;
    for (size_t i = from; i < c->n; i++) size *= (double)j->problem->active_states[c->scope[i]];
    return size;
}

static double separator_bytes(const cr_junction *j, const cri_clique *c)
{
    return cri_table_bytes(c->n - c->eliminated, clique_size(j, c, c->eliminated));
}

/* What a clique is asked for in one pass. */
typedef enum asked {
    UP,       /* the message to its parent */
    BELOW,    /* Hugin: all messages to its children, and the marginals that none of them has */
    ONE,      /* Shafer-Shenoy: the message to one child */
    MARGINALS /* the marginals that no child has */
} asked;

static void add_separator(const cr_junction *j, const cri_clique *c, cri_scopes *s)
{
    cri_scopes_add(s, j->problem, c->n - c->eliminated, c->scope + c->eliminated);
}

/* What goes into a clique: its tables, what comes up (but from `except`) and what comes down. */
static void add_inputs(const cr_junction *j, const cri_clique *c, asked what, size_t except,
                       cri_scopes *s)
{
    size_t tables = cr_network_tables(j->net);
    for (size_t i = 0; i < c->tables; i++) {
        size_t t = c->table[i], rank = t - tables;
        if (t < tables)
            cri_scopes_add_table(s, j->problem, t);
        else if (j->problem->weighed[j->problem->var[rank]])
            cri_scopes_add(s, j->problem, 1, &rank);
    }
    for (size_t i = 0; i < c->children; i++) {
        const cri_clique *k = &j->clique[c->child[i]];
        if (c->child[i] != except && k->n > k->eliminated) add_separator(j, k, s);
    }
    if (what != UP && c->n > c->eliminated) add_separator(j, c, s);
}

static bool child_has(const cr_junction *j, const cri_clique *c, size_t rank)
{
    for (size_t k = 0; k < c->children; k++) {
        const cri_clique *child = &j->clique[c->child[k]];
        for (size_t d = child->eliminated; d < child->n; d++)
            if (child->scope[d] == rank) return true;
    }
    return false;
}

static void add_outputs(const cr_junction *j, const cri_clique *c, asked what, size_t to,
                        cri_scopes *s)
{
    if (what == UP) add_separator(j, c, s);
    if (what == ONE) add_separator(j, &j->clique[to], s);
    for (size_t i = 0; what != UP && what != ONE && i < c->eliminated && i < CRI_MOST_DIMS; i++)
        if (!child_has(j, c, c->scope[i])) cri_scopes_add(s, j->problem, 1, &c->scope[i]);
    for (size_t k = 0; what == BELOW && k < c->children; k++)
        add_separator(j, &j->clique[c->child[k]], s);
}

/* The bytes that a pass over clique c holds beside messages. */
static cr_status pass_bytes(cr_ctx *cx, const cr_junction *j, const cri_clique *c, asked what,
                            size_t child, double *out)
{
    cr_status  st = CR_OK;
    cri_scopes in = { 0 }, to = { 0 };
    cri_space  sp = { 0 };
    double     size = clique_size(j, c, 0);
    size_t     inputs = c->children + (what != UP), outputs = 1 + c->children + c->eliminated;
    for (size_t i = 0; i < c->tables; i++) {
        size_t t = c->table[i], tables = cr_network_tables(j->net);
        inputs += t < tables || j->problem->weighed[j->problem->var[t - tables]];
    }
    *out = cri_small_sum_bytes(size, inputs,
                               what == BELOW       ? outputs
                               : what == MARGINALS ? c->eliminated
                                                   : 1);
    if (!cri_worth_a_look(size, inputs)) return CR_OK;
    for (size_t i = 0; i < c->n; i++)
        if (!cri_space_add(&sp, c->scope[i], j->problem->active_states[c->scope[i]])) return CR_OK;
    cri_scopes_begin(cx, inputs, &in);
    cri_scopes_begin(cx, outputs, &to);
    CR_TRY(in.scratch.status);
    CR_TRY(to.scratch.status);
    add_inputs(j, c, what, child, &in);
    add_outputs(j, c, what, child, &to);
    CR_TRY(in.scratch.status);
    CR_TRY(to.scratch.status);
    *out = cri_small_sum_bytes(1, 2, 1); /* all marginals are read off separators */
    if (to.n > 0 && !cri_send_bytes(cx, &sp, in.n, in.in, to.n, to.in, true, out))
        CR_TRY(cr_fail(cx, CR_ENOMEM, "out of memory for the plan of a junction tree"));
done:
    cri_scopes_end(&in);
    cri_scopes_end(&to);
    return st;
}

static double table_bytes(const cr_junction *j)
{
    const cri_problem *p = j->problem;
    double             sum = 0;
    size_t             tables = cr_network_tables(j->net), first;
    for (size_t t = 0; t < tables; t++) sum += cri_problem_table_bytes(p, t, &first);
    for (size_t i = 0; i < p->active; i++)
        if (p->weighed[p->var[i]]) sum += cri_table_bytes(1, (double)p->active_states[i]);
    return sum;
}

/* A walk through the passes: how many small cliques of a level go side by side, what is live. */
typedef struct forecast {
    cr_ctx            *cx;
    const cr_junction *j;
    double             beside, live, peak;
} forecast;

/* Notes a pass over clique c beside what is live. */
static cr_status note_pass(forecast *w, size_t c, asked what, size_t child)
{
    double    more = 0;
    cr_status st = pass_bytes(w->cx, w->j, &w->j->clique[c], what, child, &more);
    if (clique_size(w->j, &w->j->clique[c], 0) < CRI_ALONE) more *= w->beside;
    if (w->live + more > w->peak) w->peak = w->live + more;
    return st;
}

/* The end of the level that begins at place `first` of the order, and how many of its cliques go
 * side by side. */
static size_t find_level(forecast *w, const size_t *order, bool down, size_t first)
{
    const cr_junction *j = w->j;
    const cri_clique  *c = &j->clique[order[first]];
    double             total = 0, small = 0, threads = (double)cr_ctx_threads(w->cx);
    size_t             i = first;
    for (; i < j->cliques; i++) {
        const cri_clique *q = &j->clique[order[i]];
        double            size = clique_size(j, q, 0);
        if (down ? q->depth != c->depth : q->height != c->height) break;
        if (size < CRI_ALONE) small++, total += size;
    }
    w->beside = total < CRI_WORTH_THREADS ? 1 : fmin(threads, small);
    return i;
}

static cr_status walk_up(forecast *w)
{
    cr_status          st = CR_OK;
    const cr_junction *j = w->j;
    for (size_t i = 0, end = 0; i < j->cliques; i++) {
        if (i == end) end = find_level(w, j->by_height, false, i);
        w->live += separator_bytes(j, &j->clique[j->by_height[i]]);
        CR_TRY(note_pass(w, j->by_height[i], UP, CR_NONE));
    }
done:
    return st;
}

/* Messages down to the children of each clique, and marginals. */
static cr_status walk_down(forecast *w, cr_calibration how)
{
    cr_status          st = CR_OK;
    const cr_junction *j = w->j;
    for (size_t i = 0, end = 0; i < j->cliques; i++) {
        size_t            at = j->by_depth[i];
        const cri_clique *c = &j->clique[at];
        if (i == end) end = find_level(w, j->by_depth, true, i);
        for (size_t k = 0; k < c->children; k++) {
            w->live += separator_bytes(j, &j->clique[c->child[k]]);
            if (how == CR_CALIBRATE_SHAFER_SHENOY) CR_TRY(note_pass(w, at, ONE, c->child[k]));
        }
        if (how == CR_CALIBRATE_HUGIN) CR_TRY(note_pass(w, at, BELOW, CR_NONE));
    }
    w->beside = j->report.operations < CRI_WORTH_THREADS ? 1 : (double)cr_ctx_threads(w->cx);
    for (size_t c = 0; how == CR_CALIBRATE_SHAFER_SHENOY && c < j->cliques; c++)
        CR_TRY(note_pass(w, c, MARGINALS, CR_NONE));
done:
    return st;
}

/* Tables, messages and sums at the most at a time. */
static cr_status walk_passes(cr_ctx *cx, const cr_junction *j, cr_calibration how, double *peak)
{
    forecast  w = { .cx = cx, .j = j, .live = table_bytes(j) };
    cr_status st;
    w.live += 9 * (double)j->cliques; /* lists of a pass */
    st = walk_up(&w);
    if (st == CR_OK) st = walk_down(&w, how);
    *peak = w.peak;
    return st;
}

cr_status cri_junction_predict(cr_ctx *cx, cr_junction *j, const cr_order *o, double finding,
                               double held, double passing)
{
    cr_status st = CR_OK;
    j->report = (cr_exact_report){ .variables = j->problem->active,
                                   .width = o->width,
                                   .runs = 1,
                                   .order = o->method,
                                   .tries = o->tries };
    for (size_t c = 0; c < j->cliques; c++)
        j->report.operations += 2 * clique_size(j, &j->clique[c], 0);
    j->least = fmax(finding, held + table_bytes(j));
    j->lists = held - passing;
    CR_TRY(walk_passes(cx, j, CR_CALIBRATE_HUGIN, &j->report.tables));
    j->report.bytes = fmax(j->least, j->lists + j->report.tables);
done:
    return st;
}

cr_status cr_junction_bytes(cr_ctx *cx, const cr_junction *j, cr_calibration how, double *out_bytes)
{
    double peak = 0;
    if (!j->problem)
        return cr_fail(cx, CR_EARG,
                       "the junction tree could not be compiled: set other evidence first");
    cr_status st = walk_passes(cx, j, how, &peak);
    if (st == CR_OK) *out_bytes = fmax(j->least, j->lists + peak);
    return st;
}
