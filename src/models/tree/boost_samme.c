/* boost_samme.c -- AdaBoost for any number of classes. */
#include "boost.h"
#include "base/context_internal.h"
#include "base/parallel.h"
#include "base/scratch.h"

#include <math.h>

enum { BLOCK = 8192 };

typedef struct samme {
    cr_ctx     *cx;
    cri_boost  *m;
    cri_grower *g;
    size_t      n, root; /* root: of the tree in hand                  */
    cri_case   *cases;   /* [n]: d_t and y                             */
    uint32_t   *leaf;    /* [n]                                        */
    double *class;       /* [its nodes]: what the tree in hand answers */
    double factor;       /* of weights                                 */
} samme;

/* --- passes over the rows, block by block ---------------------------------------------------- */

static bool is_wrong(const samme *s, size_t i)
{
    return s->class[s->leaf[i] - s->root] != s->cases[i].y;
}

static void add_errors(void *arg, cri_range r, double *acc)
{
    const samme *s = arg;
    double       sum = *acc;
    for (size_t i = r.begin; i < r.end; i++)
        if (s->cases[i].w > 0 && is_wrong(s, i)) sum += s->cases[i].w;
    *acc = sum;
}

/* Rows that the tree has wrong weigh more; the sum of all weights. */
static void add_reweighted(void *arg, cri_range r, double *acc)
{
    const samme *s = arg;
    double       sum = *acc;
    for (size_t i = r.begin; i < r.end; i++) {
        if (s->cases[i].w > 0 && is_wrong(s, i)) s->cases[i].w *= s->factor;
        sum += s->cases[i].w;
    }
    *acc = sum;
}

static void add_weights(void *arg, cri_range r, double *acc)
{
    const samme *s = arg;
    for (size_t i = r.begin; i < r.end; i++) *acc += s->cases[i].w;
}

static void divide(void *arg, cri_range r, double *workspace)
{
    const samme *s = arg;
    (void)workspace;
    for (size_t i = r.begin; i < r.end; i++) s->cases[i].w /= s->factor;
}

/* Weights that add up to one, what `add` leaves of them. */
static cr_status normalise(samme *s, void (*add)(void *, cri_range, double *))
{
    cr_status st = CR_OK;
    double    sum;
    CR_TRY(cri_parallel_sum(s->cx, NULL, s->n, BLOCK, 1, add, s, &sum));
    s->factor = sum;
    CR_TRY(cri_parallel_rows(s->cx, NULL, s->n, BLOCK, 0, divide, s));
done:
    return st;
}

/* The class of most weight in a leaf; the first, where others differ by rounding alone. */
static double leading_class(const double *weight, size_t K)
{
    const double tie = 1e-12;
    size_t       best = 0;
    for (size_t k = 1; k < K; k++)
        if (weight[k] > (1 + tie) * weight[best]) best = k;
    return (double)best;
}

/* --- rounds ---------------------------------------------------------------------------------- */

/* One round; *out_stop when there is none after it.  A tree no better than guessing does not count.
 */
static cr_status boost_round(samme *s, size_t t, bool *out_stop)
{
    cr_status  st = CR_OK;
    cri_boost *m = s->m;
    cr_scratch sc = cr_scratch_begin(s->cx);
    double     K = (double)m->K, error = 0;
    size_t     nodes = m->tree.nodes, pool = m->tree.pool;
    CR_TRY(cri_tree_grow(s->cx, s->g, s->cases, &m->tree, s->leaf));
    s->root = nodes;
    s->class = cr_scratch_f64(&sc, m->tree.nodes - nodes);
    CR_TRY(sc.status);
    for (size_t i = nodes; i < m->tree.nodes; i++)
        s->class[i - nodes] = leading_class(m->tree.value + i * m->K, m->K);
    CR_TRY(cri_parallel_sum(s->cx, NULL, s->n, BLOCK, 1, add_errors, s, &error));
    *out_stop = error <= 1e-12 || error >= 1 - 1 / K - 1e-12;
    if (error >= 1 - 1 / K - 1e-12) {
        m->tree.nodes = nodes;
        m->tree.pool = pool;
        m->rounds = t;
        goto done;
    }
    double safe = fmax(error, 1e-12);
    m->root[t] = nodes;
    m->error[t] = error;
    m->vote[t] = m->rate * (log((1 - safe) / safe) + log(K - 1));
    if (error <= 1e-12) m->rounds = t + 1;
    s->factor = exp(m->vote[t]);
    CR_TRY(normalise(s, add_reweighted));
done:
    cr_scratch_end(&sc);
    return st;
}

/* value [nodes x K], the weights of classes, to value [nodes], the class. */
static cr_status keep_classes(cr_ctx *cx, cri_boost *m)
{
    cri_tree *t = &m->tree;
    double *class = cr_alloc(cx, t->node_capacity, sizeof *class);
    if (!class) return CR_ENOMEM;
    for (size_t i = 0; i < t->nodes; i++) class[i] = leading_class(m->tree.value + i * m->K, m->K);
    cr_free(cx, t->value, t->node_capacity, t->width * sizeof(double));
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

cr_status cri_boost_samme(cr_ctx *cx, cri_boost *m, const cri_columns *columns, const double *w,
                          const double *y)
{
    cr_status  st = CR_OK;
    cr_scratch sc = cr_scratch_begin(cx);
    size_t     n = columns->n, rounds = m->rounds;
    bool       stop = m->K < 2;
    cri_clock  clock = cri_clock_start(cx, NAN);
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
    CR_TRY(normalise(&s, add_weights));
    if (stop) m->rounds = 0;
    for (size_t t = 0; t < rounds && !stop; t++) {
        if (t > 0 && cri_clock_over(&clock)) {
            m->rounds = t;
            break;
        }
        CR_TRY(boost_round(&s, t, &stop));
        cr_progress(cx, "boosting", (double)(t + 1), (double)rounds);
    }
    if (m->rounds == 0) start_with_shares(m, w, y, n);
    CR_TRY(keep_classes(cx, m));
done:
    if (m->rounds < rounds) {
        cr_status shortened = cri_boost_shorten(cx, m, rounds);
        if (st == CR_OK) st = shortened;
    }
    cri_grower_free(cx, s.g);
    cr_scratch_end(&sc);
    return st;
}
