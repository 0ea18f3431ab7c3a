/* boost_gradient.c -- gradient boosting of the log likelihood, and of squared error. */
#include "boost.h"
#include "../../base/scratch.h"

#include <math.h>
#include <string.h>

typedef struct gradient {
    cr_ctx       *cx;
    cri_boost    *m;
    cri_grower   *g;
    const double *w, *y;
    size_t        n;
    cri_case     *cases; /* [n]: weight and gradient   */
    uint32_t     *leaf;  /* [n]                        */
    double       *F;     /* [n x widths]               */
    double       *prob;  /* [n x K], for classes       */
} gradient;

/* F before the first tree: the mean, the log odds, the logs of the shares. */
static void set_start(gradient *s)
{
    cri_boost *m = s->m;
    double     weight = 0;
    memset(m->start, 0, m->widths * sizeof(double));
    for (size_t i = 0; i < s->n; i++) {
        weight += s->w[i];
        if (m->K == 0)
            m->start[0] += s->w[i] * s->y[i];
        else if (m->widths == 1)
            m->start[0] += s->w[i] * (s->y[i] == 1);
        else
            m->start[(size_t)s->y[i]] += s->w[i];
    }
    for (size_t k = 0; k < m->widths; k++) {
        double share = m->start[k] / weight;
        m->start[k] = m->K == 0        ? share
                      : m->widths == 1 ? cri_log_share(share) - cri_log_share(1 - share)
                                       : cri_log_share(share);
    }
    for (size_t i = 0; i < s->n; i++)
        memcpy(s->F + i * m->widths, m->start, m->widths * sizeof(double));
}

/* [y = k] - p_k, or the residual. */
static double slope(const gradient *s, size_t i, size_t k)
{
    const cri_boost *m = s->m;
    if (m->K == 0) return s->y[i] - s->F[i];
    if (m->widths == 1) return (s->y[i] == 1) - s->prob[2 * i + 1];
    return ((size_t)s->y[i] == k) - s->prob[i * m->K + k];
}

/* Second derivative of the row's log likelihood, with the sign turned. */
static double curvature(const gradient *s, size_t i, size_t k)
{
    const cri_boost *m = s->m;
    if (m->K == 0) return 1;
    if (m->widths == 1) return s->prob[2 * i] * s->prob[2 * i + 1];
    double p = s->prob[i * m->K + k], K = (double)m->K;
    return p * (1 - p) * K / (K - 1);
}

/* One Newton step in each leaf of the tree that begins at `root`, and F moved by it. */
static cr_status take_steps(gradient *s, size_t root, size_t k)
{
    cr_status  st = CR_OK;
    cri_boost *m = s->m;
    cr_scratch sc = cr_scratch_begin(s->cx);
    size_t     n = m->tree.nodes - root;
    double    *sums = cr_scratch_bytes(&sc, 2 * n, sizeof(double));
    CR_TRY(sc.status);
    for (size_t i = 0; i < s->n; i++) {
        if (!(s->w[i] > 0)) continue;
        double *at = sums + 2 * (s->leaf[i] - root);
        at[0] += s->w[i] * slope(s, i, k);
        at[1] += s->w[i] * curvature(s, i, k);
    }
    for (size_t i = 0; i < n; i++) {
        double step = sums[2 * i + 1] > 1e-150 ? sums[2 * i] / sums[2 * i + 1] : 0;
        m->tree.value[root + i] = m->rate * step;
    }
    for (size_t i = 0; i < s->n; i++)
        if (s->w[i] > 0) s->F[i * m->widths + k] += m->tree.value[s->leaf[i]];
done:
    cr_scratch_end(&sc);
    return st;
}

static double mean_loss(const gradient *s)
{
    const cri_boost *m = s->m;
    double           loss = 0, weight = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (!(s->w[i] > 0)) continue;
        double e = m->K ? 0 : s->y[i] - s->F[i];
        loss += s->w[i] * (m->K ? -log(fmax(s->prob[i * m->K + (size_t)s->y[i]], 1e-300)) : e * e);
        weight += s->w[i];
    }
    return loss / weight;
}

static void set_probabilities(gradient *s)
{
    const cri_boost *m = s->m;
    for (size_t i = 0; m->K && i < s->n; i++)
        cri_boost_prob(m, s->F + i * m->widths, s->prob + i * m->K);
}

static cr_status boost_round(gradient *s, size_t t)
{
    cr_status  st = CR_OK;
    cri_boost *m = s->m;
    for (size_t k = 0; k < m->widths; k++) {
        size_t root = m->tree.nodes, tree = t * m->widths + k;
        for (size_t i = 0; i < s->n; i++) s->cases[i] = (cri_case){ s->w[i], slope(s, i, k) };
        CR_TRY(cri_tree_grow(s->cx, s->g, s->cases, &m->tree, s->leaf));
        CR_TRY(take_steps(s, root, k));
        m->root[tree] = (double)root;
        m->vote[tree] = 1;
    }
    set_probabilities(s); /* all trees of a round see the same */
    m->error[t] = mean_loss(s);
done:
    return st;
}

cr_status cri_boost_gradient(cr_ctx *cx, cri_boost *m, const cri_columns *columns, const double *w,
                             const double *y, double min_leaf)
{
    cr_status  st = CR_OK;
    cr_scratch sc = cr_scratch_begin(cx);
    size_t     n = columns->n;
    gradient   s = { .cx = cx, .m = m, .w = w, .y = y, .n = n };
    cri_grow   grow = { .loss = CRI_TREE_SQUARES, .max_depth = m->depth, .min_leaf = min_leaf };

    s.cases = cr_scratch_bytes(&sc, n, sizeof(cri_case));
    s.leaf = cr_scratch_bytes(&sc, n, sizeof(uint32_t));
    s.F = cr_scratch_matrix(&sc, n, m->widths);
    s.prob = cr_scratch_matrix(&sc, n, m->K);
    CR_TRY(sc.status);
    m->tree.width = 1;
    CR_TRY(cri_grower_new(cx, columns, &grow, &s.g));
    set_start(&s);
    set_probabilities(&s);
    for (size_t t = 0; t < m->rounds; t++) {
        CR_TRY(boost_round(&s, t));
        cr_progress(cx, "boosting", (double)(t + 1), (double)m->rounds);
    }
done:
    cri_grower_free(cx, s.g);
    cr_scratch_end(&sc);
    return st;
}
