/* boost_samme.c -- AdaBoost for any number of classes. */
#include "boost.h"
#include "../../base/scratch.h"

#include <math.h>
#include <string.h>

typedef struct samme {
    cr_ctx     *cx;
    cri_boost  *m;
    cri_grower *g;
    size_t      n;
    cri_case   *cases; /* [n]: d_t and y */
    uint32_t   *leaf;  /* [n]            */
} samme;

/* Weights that add up to one. */
static void normalise(cri_case *cases, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += cases[i].w;
    for (size_t i = 0; i < n; i++) cases[i].w /= sum;
}

static size_t class_of_node(const cri_boost *m, size_t node)
{
    const double *count = m->tree.value + node * m->K;
    size_t        best = 0;
    for (size_t k = 1; k < m->K; k++)
        if (count[k] > count[best]) best = k;
    return best;
}

static bool is_wrong(const samme *s, size_t i)
{
    return (double)class_of_node(s->m, s->leaf[i]) != s->cases[i].y;
}

/* One round; *out_stop when there is none after it.  A tree no better than guessing does not count.
 */
static cr_status boost_round(samme *s, size_t t, bool *out_stop)
{
    cr_status  st = CR_OK;
    cri_boost *m = s->m;
    double     K = (double)m->K, error = 0;
    size_t     nodes = m->tree.nodes, pool = m->tree.pool;
    CR_TRY(cri_tree_grow(s->cx, s->g, s->cases, &m->tree, s->leaf));
    for (size_t i = 0; i < s->n; i++)
        if (s->cases[i].w > 0 && is_wrong(s, i)) error += s->cases[i].w;
    *out_stop = error <= 1e-12 || error >= 1 - 1 / K - 1e-12;
    if (error >= 1 - 1 / K - 1e-12) {
        m->tree.nodes = nodes;
        m->tree.pool = pool;
        m->rounds = t;
        goto done;
    }
    double safe = fmax(error, 1e-12);
    m->root[t] = (double)nodes;
    m->error[t] = error;
    m->vote[t] = m->rate * (log((1 - safe) / safe) + log(K - 1));
    if (error <= 1e-12) m->rounds = t + 1;
    for (size_t i = 0; i < s->n; i++)
        if (s->cases[i].w > 0 && is_wrong(s, i)) s->cases[i].w *= exp(m->vote[t]);
    normalise(s->cases, s->n);
done:
    return st;
}

/* value [nodes x K], the weights of classes, to value [nodes], the class. */
static cr_status keep_classes(cr_ctx *cx, cri_boost *m)
{
    cri_tree *t = &m->tree;
    double *class = cr_alloc(cx, t->room_nodes, sizeof *class);
    if (!class) return CR_ENOMEM;
    for (size_t i = 0; i < t->nodes; i++) class[i] = (double)class_of_node(m, i);
    cr_free(cx, t->value, t->room_nodes, t->width * sizeof(double));
    t->value = class;
    t->width = 1;
    return CR_OK;
}

/* Without a tree: the shares of the classes. */
static void start_with_shares(cri_boost *m, const double *w, const double *y, size_t n)
{
    double weight = 0;
    for (size_t k = 0; k < m->K; k++) m->start[k] = 0;
    for (size_t i = 0; i < n; i++) m->start[(size_t)y[i]] += w[i], weight += w[i];
    for (size_t k = 0; k < m->K; k++) m->start[k] = cri_log_share(m->start[k] / weight);
}

/* The arrays as long as the rounds that were made. */
static cr_status shorten(cr_ctx *cx, cri_boost *m, size_t rounds)
{
    double **arrays[] = { &m->root, &m->vote, &m->error };
    for (size_t a = 0; a < 3; a++) {
        double *copy = cr_alloc(cx, m->rounds, sizeof *copy);
        if (!copy) {
            for (; a < 3; a++) cr_free(cx, *arrays[a], rounds, sizeof *copy), *arrays[a] = NULL;
            m->trees = m->rounds;
            return CR_ENOMEM;
        }
        memcpy(copy, *arrays[a], m->rounds * sizeof *copy);
        cr_free(cx, *arrays[a], rounds, sizeof *copy);
        *arrays[a] = copy;
    }
    m->trees = m->rounds;
    return CR_OK;
}

cr_status cri_boost_samme(cr_ctx *cx, cri_boost *m, const cri_columns *columns, const double *w,
                          const double *y)
{
    cr_status  st = CR_OK;
    cr_scratch sc = cr_scratch_begin(cx);
    size_t     n = columns->n, rounds = m->rounds;
    bool       stop = m->K < 2;
    samme      s = { .cx = cx,
                     .m = m,
                     .n = n,
                     .cases = cr_scratch_bytes(&sc, n, sizeof(cri_case)),
                     .leaf = cr_scratch_bytes(&sc, n, sizeof(uint32_t)) };
    cri_grow   grow = {
          .loss = CRI_TREE_GINI, .classes = m->K, .max_depth = m->depth, .min_leaf = 0
    };

    CR_TRY(sc.status);
    m->tree.width = m->K;
    CR_TRY(cri_grower_new(cx, columns, &grow, &s.g));
    for (size_t i = 0; i < n; i++) s.cases[i] = (cri_case){ w[i], y[i] };
    normalise(s.cases, n);
    if (stop) m->rounds = 0;
    for (size_t t = 0; t < rounds && !stop; t++) {
        CR_TRY(boost_round(&s, t, &stop));
        cr_progress(cx, "boosting", (double)(t + 1), (double)rounds);
    }
    if (m->rounds == 0) start_with_shares(m, w, y, n);
    CR_TRY(keep_classes(cx, m));
done:
    if (m->rounds < rounds) {
        cr_status shortened = shorten(cx, m, rounds);
        if (st == CR_OK) st = shortened;
    }
    cri_grower_free(cx, s.g);
    cr_scratch_end(&sc);
    return st;
}
