/* boost.c -- what the two forms of boosting share. */
#include "boost.h"

#include <math.h>
#include <string.h>

CRI_RECORD_TABLE(, cri_boost_record, cri_boost, CRI_BOOST_STATE);

cr_status cri_boost_allocate(cr_ctx *cx, cri_boost *m)
{
    m->trees = m->rounds * (m->gradient ? m->widths : 1);
    m->tree.width = 1;
    cr_status st = cri_record_allocate(cx, cri_tree_record, &m->tree);
    return st == CR_OK ? cri_record_allocate(cx, cri_boost_record, m) : st;
}

void cri_boost_free(cr_ctx *cx, cri_boost *m)
{
    cri_tree_free(cx, &m->tree);
    cri_record_free(cx, cri_boost_record, m);
}

cr_status cri_boost_shorten(cr_ctx *cx, cri_boost *m, size_t capacity)
{
    cr_status st = CR_OK;
    cri_boost less = { 0 }, all = *m;
    size_t    width = m->gradient ? m->widths : 1; /* trees of a round */
    all.trees = m->rounds * width;
    all.tree = (cri_tree){ 0 };
    CR_TRY(cri_record_copy(cx, cri_boost_record, &all, &less));
    all.trees = capacity * width, all.rounds = capacity;
    cri_record_free(cx, cri_boost_record, &all);
    less.tree = m->tree;
    *m = less;
    less = (cri_boost){ 0 };
done:
    if (st != CR_OK) m->rounds = capacity, m->trees = capacity * width;
    cri_record_free(cx, cri_boost_record, &less);
    return st;
}

/* What a leaf of tree t adds, and to which of the widths. */
typedef struct addend {
    double value;
    size_t at;
} addend;

static addend addend_of(const cri_boost *m, size_t t, size_t node)
{
    double value = m->tree.value[node];
    if (m->gradient) return (addend){ value, t % m->widths };
    return (addend){ m->vote[t], (size_t)value };
}

/* A tree of one split along a number: what it needs is looked up once for all rows. */
static void sum_stump(const cri_boost *m, size_t t, const double *X, size_t n, size_t p, double *F)
{
    const double *split = m->tree.split + m->root[t] * CRI_SPLIT_WIDTH;
    size_t        j = (size_t)split[CRI_COLUMN];
    double        threshold = split[CRI_THRESHOLD];
    bool          gap_left = split[CRI_GAP_LEFT] != 0;
    addend        add[2] = { addend_of(m, t, (size_t)split[CRI_RIGHT]),
                             addend_of(m, t, (size_t)split[CRI_LEFT]) };
    for (size_t i = 0; i < n; i++) {
        double x = X[i * p + j];
        bool   left = x <= threshold || (gap_left && isnan(x));
        F[i * m->widths + add[left].at] += add[left].value;
    }
}

static bool is_stump(const cri_tree *t, size_t root)
{
    return !cri_is_leaf(t, root) && t->split[root * CRI_SPLIT_WIDTH + CRI_SUBSET] == 0 &&
           cri_is_leaf(t, cri_child(t, root, false)) && cri_is_leaf(t, cri_child(t, root, true));
}

void cri_boost_sum(const cri_boost *m, const double *X, size_t n, size_t p, double *F)
{
    for (size_t i = 0; i < n; i++) memcpy(F + i * m->widths, m->start, m->widths * sizeof(double));
    for (size_t t = 0; t < m->trees; t++) {
        size_t root = m->root[t];
        if (is_stump(&m->tree, root)) {
            sum_stump(m, t, X, n, p, F);
            continue;
        }
        for (size_t i = 0; i < n; i++) {
            addend add = addend_of(m, t, cri_tree_find(&m->tree, root, X + i * p));
            F[i * m->widths + add.at] += add.value;
        }
    }
}

void cri_boost_prob(const cri_boost *m, const double *F, double *prob)
{
    double most = -INFINITY, sum = 0, t = m->temper > 0 ? m->temper : 1;
    if (m->widths == 1 && m->K == 2) {
        double f = t * F[0], small = exp(-fabs(f)), p = small / (1 + small);
        prob[0] = f > 0 ? p : 1 - p;
        prob[1] = f > 0 ? 1 - p : p;
        return;
    }
    for (size_t k = 0; k < m->K; k++) most = fmax(most, F[k]);
    for (size_t k = 0; k < m->K; k++) sum += prob[k] = exp(t * (F[k] - most));
    for (size_t k = 0; k < m->K; k++) prob[k] /= sum;
}
