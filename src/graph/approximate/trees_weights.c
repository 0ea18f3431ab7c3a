/* trees_weights.c -- weights of forests that make the bound of log Z small.
 * At a fixed point the derivative of the bound by rho_f is minus the information that the variables
 * of f have of each other in its pseudo-marginal,
 *     b_f(x_f) ~ K_f(x_f) prod_j B_j(x_j),   I_f = sum b_f log b_f - sum_j sum b_j log b_j,
 * so the forest with the most information is the direction in which it falls fastest (conditional
 * gradient).  Wainwright, Jaakkola & Willsky (2005), IEEE Trans. Inf. Theory 51, sec. VI. */
#include "trees.h"
#include "base/scratch.h"

#include <math.h>

static double entropy_sum(const double *p, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        if (p[i] > 0) sum += p[i] * log(p[i]);
    return sum;
}

/* b_f in `out` [size], its sum 1; n_j = B_j / m_fj of all slots in `weight`. */
static void find_table_belief(const cri_bp *b, size_t i, const double *weight, size_t *position,
                              double *out)
{
    const cr_factor *f = &b->g->table[i];
    const double    *value = cri_bp_values(b, i);
    double           sum = 0;
    for (size_t k = 0; k < f->n; k++) position[k] = 0;
    for (size_t e = 0; e < f->size; e++) {
        const double *w = weight;
        double        p = value[e];
        for (size_t k = 0; k < f->n; w += f->states[k++]) p *= w[position[k]];
        sum += out[e] = p;
        for (size_t k = f->n; k-- > 0;) {
            if (++position[k] < f->states[k]) break;
            position[k] = 0;
        }
    }
    for (size_t e = 0; sum > 0 && e < f->size; e++) out[e] /= sum;
}

/* I_f; workspace: the messages, a table and marginals. */
static double find_information(const cri_bp *b, size_t i, double *weight, double *table,
                               double *marginal, size_t *position)
{
    const cri_fgraph *g = b->g;
    const cr_factor  *f = &g->table[i];
    double            information;
    for (size_t k = 0, at = 0; k < f->n; at += f->states[k++])
        cri_bp_incoming(b, g->first[i] + k, weight + at);
    find_table_belief(b, i, weight, position, table);
    information = entropy_sum(table, f->size);
    for (size_t k = 0; k < f->n; k++) {
        for (size_t x = 0; x < f->states[k]; x++) marginal[x] = 0;
        for (size_t e = 0; e < f->size; e++) marginal[e / f->stride[k] % f->states[k]] += table[e];
        information -= entropy_sum(marginal, f->states[k]);
    }
    return information > 0 ? information : 0;
}

cr_status cri_trees_step(cr_ctx *cx, cri_trees *t, const cri_bp *b, double step)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    const cri_fgraph *g = b->g;
    size_t            most = g->most_scope * g->most_states;
    double           *weight = cr_scratch_f64(&s, most), *table = cr_scratch_f64(&s, g->most_size);
    double           *marginal = cr_scratch_f64(&s, g->most_states);
    double           *information = cr_scratch_f64(&s, g->m);
    size_t           *position = cr_scratch_index(&s, g->most_scope);
    CR_TRY(s.status);
    for (size_t i = 0; i < g->m; i++) {
        if (i % 256 == 0) CR_TRY(cr_check_interrupt(cx));
        information[i] = find_information(b, i, weight, table, marginal, position);
    }
    CR_TRY(cri_trees_add(cx, g, t, information, step));
done:
    cr_scratch_end(&s);
    return st;
}
