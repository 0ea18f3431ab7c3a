/* bucket_bytes.c -- what an elimination will hold, predicted before its first table is made.
 * A table of the network lives until its first variable is eliminated, a message until its own
 * first variable is; what maximising remembers, to the end. */
#include "bucket_internal.h"
#include "graph/factor/message.h"
#include "table_sizes.h"

#include <math.h>

typedef struct forecast {
    cr_ctx        *cx;
    const cri_run *r;
    size_t        *first, *next;    /* tables by their first rank: lists; [active], [tables] */
    size_t        *child, *sibling; /* [active] messages by where they go */
    double        *bytes;           /* [tables] */
    double         live, peak;
} forecast;

static double message_size(const cri_run *r, size_t i)
{
    double size = 1;
    for (size_t k = r->tree.begin[i]; k < r->tree.begin[i + 1]; k++)
        size *= (double)r->problem->active_states[r->tree.later[k]];
    return size;
}

static double message_bytes(const cri_run *r, size_t i)
{
    return cri_table_bytes(r->tree.begin[i + 1] - r->tree.begin[i], message_size(r, i));
}

static void note(forecast *w, double more)
{
    if (w->live + more > w->peak) w->peak = w->live + more;
}

/* Which tables there are; all are held at the start. */
static void place_tables(forecast *w)
{
    const cri_problem *p = w->r->problem;
    for (size_t i = 0; i < p->active; i++) w->first[i] = w->child[i] = CR_NONE;
    for (size_t t = 0; t < cr_network_tables(p->net); t++) {
        size_t at;
        if (!p->needed[t]) continue;
        w->live += w->bytes[t] = cri_problem_table_bytes(p, t, &at);
        if (at == CR_NONE) continue;
        w->next[t] = w->first[at];
        w->first[at] = t;
    }
    for (size_t v = 0; v < p->n; v++)
        if (p->weighed[v]) w->live += cri_table_bytes(p->rank[v] != CR_NONE, (double)p->left[v]);
    note(w, 0);
}

/* The bytes of the sum that eliminates rank i, beside its tables. */
static cr_status sum_bytes(forecast *w, size_t i, double size, double *out)
{
    cr_status      st = CR_OK;
    const cri_run *r = w->r;
    cri_scopes     s = { 0 };
    cri_space      sp = { 0 };
    size_t         inputs = 1, begin = r->tree.begin[i], n = r->tree.begin[i + 1] - begin;
    for (size_t t = w->first[i]; t != CR_NONE; t = w->next[t]) inputs++;
    for (size_t c = w->child[i]; c != CR_NONE; c = w->sibling[c]) inputs++;
    *out = cri_small_sum_bytes(size, inputs - 1, 1);
    if (!cri_worth_a_look(size, inputs)) return CR_OK;
    if (!cri_space_add(&sp, i, r->problem->active_states[i])) return CR_OK;
    for (size_t k = begin; k < begin + n; k++)
        if (!cri_space_add(&sp, r->tree.later[k], r->problem->active_states[r->tree.later[k]]))
            return CR_OK;
    cri_scopes_begin(w->cx, inputs, &s);
    CR_TRY(s.scratch.status);
    cri_scopes_add(&s, r->problem, n, r->tree.later + begin);
    for (size_t t = w->first[i]; t != CR_NONE; t = w->next[t])
        cri_scopes_add_table(&s, r->problem, t);
    for (size_t c = w->child[i]; c != CR_NONE; c = w->sibling[c])
        cri_scopes_add(&s, r->problem, r->tree.begin[c + 1] - r->tree.begin[c],
                       r->tree.later + r->tree.begin[c]);
    CR_TRY(s.scratch.status);
    if (!cri_send_bytes(w->cx, &sp, s.n - 1, s.in + 1, 1, s.in, true, out))
        CR_TRY(cr_fail(w->cx, CR_ENOMEM, "out of memory for the plan of an elimination"));
done:
    cri_scopes_end(&s);
    return st;
}

static cr_status eliminate(forecast *w, size_t i, size_t kept, cr_exact_report *report)
{
    cr_status      st = CR_OK;
    const cri_run *r = w->r;
    size_t         width = r->tree.begin[i + 1] - r->tree.begin[i], parent = r->tree.parent[i];
    double size = message_size(r, i), clique = size * (double)r->problem->active_states[i], more;
    if (width > report->width) report->width = width;
    report->operations += clique;
    CR_TRY(sum_bytes(w, i, clique, &more));
    w->live += message_bytes(r, i) + (i >= r->first_max ? 2 * size : 0);
    note(w, more);
    for (size_t t = w->first[i]; t != CR_NONE; t = w->next[t]) w->live -= w->bytes[t];
    for (size_t c = w->child[i]; c != CR_NONE; c = w->sibling[c]) w->live -= message_bytes(r, c);
    if (parent == CR_NONE || parent + kept >= r->problem->active) return CR_OK;
    w->sibling[i] = w->child[parent];
    w->child[parent] = i;
done:
    return st;
}

cr_status cri_run_predict(cr_ctx *cx, const cri_run *r, double finding, double held,
                          cr_exact_report *out)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    size_t          n = r->problem->active, tables = cr_network_tables(r->problem->net), some = n;
    forecast        w = { .cx = cx, .r = r };
    cr_exact_report report = {
        .variables = n, .runs = 1, .order = r->order.method, .tries = r->order.tries
    };
    double joint = 1;
    w.first = cr_scratch_index(&s, n);
    w.child = cr_scratch_index(&s, n);
    w.sibling = cr_scratch_index(&s, n);
    w.next = cr_scratch_index(&s, tables);
    w.bytes = cr_scratch_f64(&s, tables);
    CR_TRY(s.status);
    place_tables(&w);
    for (size_t i = 0; i + r->kept < n; i++) CR_TRY(eliminate(&w, i, r->kept, &report));
    for (size_t i = n - r->kept; i < n; i++) joint *= (double)r->problem->active_states[i];
    w.live += cri_table_bytes(r->kept, joint);
    note(&w, cri_small_sum_bytes(fmin(joint, 256), r->kept + 1, 1));
    report.operations += joint;
    for (size_t t = 0; t < tables; t++) some += r->problem->needed[t];
    for (size_t v = 0; v < r->problem->n; v++) some += r->problem->weighed[v];
    report.tables = w.peak;
    /* the lists of buckets and tables */
    held += (double)(some * (sizeof(cr_factor) + 2 * sizeof(size_t)) + 2 * n * sizeof(size_t));
    if (r->first_max != CR_NONE) held += (double)(n * (sizeof(uint16_t *) + sizeof(size_t)));
    report.bytes = fmax(finding, held + w.peak);
    *out = report;
done:
    cr_scratch_end(&s);
    return st;
}
