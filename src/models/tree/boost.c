/* boost.c -- what the two forms of boosting share. */
#include "boost.h"

#include <math.h>
#include <string.h>

cr_status cri_boost_allocate(cr_ctx *cx, cri_boost *m)
{
    size_t each = m->gradient ? m->widths : 1;
    m->trees = m->rounds * each;
    m->root = cr_alloc(cx, m->trees, sizeof(double));
    m->vote = cr_alloc(cx, m->trees, sizeof(double));
    m->error = cr_alloc(cx, m->rounds, sizeof(double));
    m->start = cr_alloc(cx, m->widths, sizeof(double));
    return m->root && m->vote && m->error && m->start ? CR_OK : CR_ENOMEM;
}

void cri_boost_free(cr_ctx *cx, cri_boost *m)
{
    cri_tree_free(cx, &m->tree);
    cr_free(cx, m->root, m->trees, sizeof(double));
    cr_free(cx, m->vote, m->trees, sizeof(double));
    cr_free(cx, m->error, m->rounds, sizeof(double));
    cr_free(cx, m->start, m->widths, sizeof(double));
    m->root = m->vote = m->error = m->start = NULL;
}

void cri_boost_sum(const cri_boost *m, const double *x, double *F)
{
    memcpy(F, m->start, m->widths * sizeof(double));
    for (size_t t = 0; t < m->trees; t++) {
        double value = m->tree.value[cri_tree_find(&m->tree, (size_t)m->root[t], x)];
        if (m->gradient)
            F[t % m->widths] += value;
        else
            F[(size_t)value] += m->vote[t];
    }
}

void cri_boost_prob(const cri_boost *m, const double *F, double *prob)
{
    double most = -INFINITY, sum = 0;
    if (m->widths == 1 && m->K == 2) {
        double f = F[0], small = exp(-fabs(f)), p = small / (1 + small);
        prob[0] = f > 0 ? p : 1 - p;
        prob[1] = f > 0 ? 1 - p : p;
        return;
    }
    for (size_t k = 0; k < m->K; k++) most = fmax(most, F[k]);
    for (size_t k = 0; k < m->K; k++) sum += prob[k] = exp(F[k] - most);
    for (size_t k = 0; k < m->K; k++) prob[k] /= sum;
}
