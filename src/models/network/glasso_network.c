/* glasso_network.c -- the columns as a Gaussian network: eliminated one after the other, the one with the fewest
 * neighbours first, each given those that are left.
 *   x_v | the others left ~ N(-sum_k T_vk x_k / T_vv, 1 / T_vv),   T_kl -= T_kv T_vl / T_vv
 * which is the distribution itself; its arcs are those of one elimination order, and the graph is that of the edges.
 * O(sum of squared degrees). */
#include "glasso.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

typedef struct elimination {
    size_t  p;
    double *T;    /* [p x p] what is left of the precision */
    bool   *done; /* [p] */
    size_t *degree, *order,
        *place; /* [p]; order: the first eliminated first; place: in the network */
} elimination;

static void count_degrees(elimination *e)
{
    for (size_t i = 0; i < e->p; i++)
        for (size_t j = 0; j < e->p; j++) e->degree[i] += j != i && e->T[i * e->p + j] != 0;
}

static size_t next_of(const elimination *e)
{
    size_t best = CR_NONE;
    for (size_t i = 0; i < e->p; i++)
        if (!e->done[i] && (best == CR_NONE || e->degree[i] < e->degree[best])) best = i;
    return best;
}

/* Takes v out: its neighbours become neighbours of each other. */
static void eliminate(elimination *e, size_t v, size_t *list)
{
    size_t  p = e->p, n = 0;
    double *T = e->T;
    e->done[v] = true;
    for (size_t k = 0; k < p; k++)
        if (!e->done[k] && T[v * p + k] != 0) list[n++] = k;
    for (size_t a = 0; a < n; a++) {
        e->degree[list[a]]--;
        for (size_t b = 0; b < n; b++) {
            size_t at = list[a] * p + list[b];
            if (a != b && T[at] == 0) e->degree[list[a]]++;
            T[at] -= T[list[a] * p + v] * T[v * p + list[b]] / T[v * p + v];
        }
    }
}

/* Adds column v, given those after it in the order; parents and weights [p] are workspace. */
static cr_status add_column(cr_ctx *cx, const cri_glasso *m, const cr_design *design,
                            const elimination *e, size_t at, size_t *parents, double *weights,
                            cr_gaussian_network *net)
{
    size_t p = e->p, n = 0, v = e->order[at];
    double here = e->T[v * p + v], intercept = m->centre[v];
    for (size_t i = p; i-- > at + 1;) {
        size_t k = e->order[i];
        double t = e->T[v * p + k];
        if (t == 0) continue;
        parents[n] = e->place[k];
        weights[n] = -t / here * m->scale[v] / m->scale[k];
        intercept -= weights[n++] * m->centre[k];
    }
    return cr_gaussian_network_add(cx, net, cr_design_term_name(design, v), n, parents, weights,
                                   intercept, m->scale[v] * m->scale[v] / here, NULL);
}

static cr_status add_edges(cr_ctx *cx, const cri_glasso *m, const size_t *place,
                           cr_gaussian_network *net)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t    *a = cr_scratch_index(&s, m->edges), *b = cr_scratch_index(&s, m->edges);
    double    *strength = cr_scratch_f64(&s, m->edges);
    CR_TRY(s.status);
    for (size_t k = 0; k < m->edges; k++) {
        size_t i = m->row[k], j = m->column[k];
        a[k] = place[j], b[k] = place[i];
        strength[k] = -m->value[k] / sqrt(m->diagonal[i] * m->diagonal[j]);
    }
    CR_TRY(cr_gaussian_network_set_edges(cx, net, m->edges, a, b, strength));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_glasso_network(cr_ctx *cx, const cri_glasso *m, const cr_design *design,
                             cr_gaussian_network **out)
{
    cr_status            st = CR_OK;
    cr_scratch           s = cr_scratch_begin(cx);
    size_t               p = m->p, *list = cr_scratch_index(&s, p);
    double              *weights = cr_scratch_f64(&s, p);
    cr_gaussian_network *net = NULL;
    elimination          e = { .p = p,
                               .T = cr_scratch_matrix(&s, p, p),
                               .done = cr_scratch_bytes(&s, p, sizeof(bool)),
                               .degree = cr_scratch_bytes(&s, p, sizeof(size_t)),
                               .order = cr_scratch_index(&s, p),
                               .place = cr_scratch_index(&s, p) };

    CR_TRY(s.status);
    cri_glasso_precision(m, e.T);
    count_degrees(&e);
    for (size_t k = 0; k < p; k++) {
        if (k % 64 == 0) CR_TRY(cr_check_interrupt(cx));
        e.order[k] = next_of(&e);
        e.place[e.order[k]] = p - 1 - k;
        eliminate(&e, e.order[k], list);
    }
    CR_TRY(cr_gaussian_network_new(cx, &net));
    for (size_t k = p; k-- > 0;) CR_TRY(add_column(cx, m, design, &e, k, list, weights, net));
    CR_TRY(add_edges(cx, m, e.place, net));
    *out = net;
    net = NULL;
done:
    cr_gaussian_network_free(cx, net);
    cr_scratch_end(&s);
    return st;
}
