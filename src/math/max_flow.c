/* max_flow.c -- Dinic's algorithm.  Source and sink are not vertices: what the source can still
 * give to a vertex, and what that can still give to the sink, stands beside it. */
#include "max_flow.h"

#include <math.h>
#include <string.h>

struct cri_flow {
    size_t  n, m, most_arcs; /* vertices; arcs (twice the pairs), of most_arcs                   */
    double *source, *sink;   /* [n] what is left                                                 */
    size_t *head, *tail;     /* [most_arcs] arc a goes from tail to head; its other one is a ^ 1 */
    double *left;            /* [most_arcs] capacity that is left                                */
    size_t *begin, *arc;     /* [n + 1], [most_arcs] the arcs that leave a vertex                */
    size_t *level, *next; /* [n] distance from the source plus one, 0: none; the arc to try next */
    size_t *queue;        /* [n] also the way of a search: arcs                                  */
};

cri_flow *cri_flow_new(cr_scratch *s, size_t n, size_t m)
{
    cri_flow *f = cr_scratch_bytes(s, 1, sizeof *f);
    if (!f) return NULL;
    *f = (cri_flow){ .n = n,
                     .most_arcs = 2 * m,
                     .source = cr_scratch_f64(s, n),
                     .sink = cr_scratch_f64(s, n),
                     .head = cr_scratch_index(s, 2 * m),
                     .tail = cr_scratch_index(s, 2 * m),
                     .left = cr_scratch_f64(s, 2 * m),
                     .begin = cr_scratch_index(s, n + 2),
                     .arc = cr_scratch_index(s, 2 * m),
                     .level = cr_scratch_index(s, n),
                     .next = cr_scratch_index(s, n),
                     .queue = cr_scratch_index(s, n + 1) };
    if (s->status != CR_OK) return NULL;
    cri_flow_clear(f);
    return f;
}

void cri_flow_clear(cri_flow *f)
{
    f->m = 0;
    memset(f->source, 0, f->n * sizeof *f->source);
    memset(f->sink, 0, f->n * sizeof *f->sink);
}

void cri_flow_terminal(cri_flow *f, size_t v, double from_source, double to_sink)
{
    f->source[v] += from_source;
    f->sink[v] += to_sink;
}

void cri_flow_arc(cri_flow *f, size_t u, size_t v, double there, double back)
{
    size_t a = f->m;
    if (f->m + 2 > f->most_arcs) return;
    f->tail[a] = f->head[a + 1] = u;
    f->head[a] = f->tail[a + 1] = v;
    f->left[a] = there;
    f->left[a + 1] = back;
    f->m += 2;
}

static void list_arcs(cri_flow *f)
{
    memset(f->begin, 0, (f->n + 2) * sizeof *f->begin);
    for (size_t a = 0; a < f->m; a++) f->begin[f->tail[a] + 2]++;
    for (size_t v = 2; v < f->n + 2; v++) f->begin[v] += f->begin[v - 1];
    for (size_t a = 0; a < f->m; a++) f->arc[f->begin[f->tail[a] + 1]++] = a;
}

/* Distances from the source along arcs with capacity left; true: the sink can be reached. */
static bool find_levels(cri_flow *f)
{
    size_t n = 0;
    bool   reached = false;
    memset(f->level, 0, f->n * sizeof *f->level);
    for (size_t v = 0; v < f->n; v++)
        if (f->source[v] > 0) f->level[v] = 1, f->queue[n++] = v;
    for (size_t at = 0; at < n; at++) {
        size_t v = f->queue[at];
        reached |= f->sink[v] > 0;
        for (size_t k = f->begin[v]; k < f->begin[v + 1]; k++) {
            size_t a = f->arc[k], w = f->head[a];
            if (f->left[a] > 0 && f->level[w] == 0)
                f->level[w] = f->level[v] + 1, f->queue[n++] = w;
        }
    }
    return reached;
}

/* Sends along the way in queue [length] of arcs from v to u as much as it takes. */
static double send(cri_flow *f, size_t from, size_t length, size_t to)
{
    double amount = fmin(f->source[from], f->sink[to]);
    for (size_t i = 0; i < length; i++) amount = fmin(amount, f->left[f->queue[i]]);
    f->source[from] -= amount;
    f->sink[to] -= amount;
    for (size_t i = 0; i < length; i++) {
        f->left[f->queue[i]] -= amount;
        f->left[f->queue[i] ^ 1] += amount;
    }
    return amount;
}

/* How many arcs of the way still have capacity in a row: from there the search goes on. */
static size_t keep_way(const cri_flow *f, size_t length)
{
    size_t i = 0;
    while (i < length && f->left[f->queue[i]] > 0) i++;
    return i;
}

/* All that can be sent from one vertex along rising levels. */
static double drain(cri_flow *f, size_t from)
{
    double total = 0;
    size_t length = 0, at = from;
    while (f->source[from] > 0) {
        if (f->sink[at] > 0) {
            total += send(f, from, length, at);
            length = keep_way(f, length);
            at = length ? f->head[f->queue[length - 1]] : from;
            continue;
        }
        while (f->next[at] < f->begin[at + 1]) {
            size_t a = f->arc[f->next[at]];
            if (f->left[a] > 0 && f->level[f->head[a]] == f->level[at] + 1) break;
            f->next[at]++;
        }
        if (f->next[at] < f->begin[at + 1]) {
            size_t a = f->arc[f->next[at]];
            f->queue[length++] = a;
            at = f->head[a];
        } else if (length > 0) { /* a dead end */
            at = f->tail[f->queue[--length]];
            f->next[at]++;
        } else {
            break;
        }
    }
    return total;
}

cr_status cri_flow_run(cr_scratch *s, cri_flow *f, double *out_flow)
{
    double total = 0;
    list_arcs(f);
    for (size_t v = 0; v < f->n; v++) { /* straight through */
        double both = fmin(f->source[v], f->sink[v]);
        f->source[v] -= both, f->sink[v] -= both;
        total += both;
    }
    while (find_levels(f)) {
        cr_status st = cr_check_interrupt(s->cx);
        if (st != CR_OK) return st;
        for (size_t v = 0; v < f->n; v++) f->next[v] = f->begin[v];
        for (size_t v = 0; v < f->n; v++)
            if (f->source[v] > 0) total += drain(f, v);
    }
    *out_flow = total;
    return CR_OK;
}

bool cri_flow_reached(const cri_flow *f, size_t v) { return f->level[v] > 0; }
