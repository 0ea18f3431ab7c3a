/* boost_gradient.c -- gradient boosting of the log likelihood, and of squared error. */
#include "boost.h"
#include "base/context_internal.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "math/kernel/array.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 8192, CHUNK = 256, MANY_NODES = 4096 };

typedef struct gradient {
    cr_ctx       *cx;
    cri_boost    *m;
    cri_grower   *g;
    const double *w, *y;
    size_t        n;
    size_t        k, root; /* of the tree in hand      */
    bool          grown;   /* there is one               */
    cri_case     *cases;   /* [n]: weight and gradient   */
    uint32_t     *leaf;    /* [n]                        */
    double       *F;       /* [n x widths]               */
    double       *prob;    /* [n x K], for classes; of two: [n] that of the less likely, below 0
                            * where it is the second */
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

/* [y = k] - p_k, or the residual; of two classes `judge_two` has it. */
static double slope(const gradient *s, size_t i, size_t k)
{
    const cri_boost *m = s->m;
    if (m->K == 0) return s->y[i] - s->F[i];
    return ((size_t)s->y[i] == k) - s->prob[i * m->K + k];
}

/* Second derivative of the row's log likelihood, with the sign turned. */
static double curvature(const gradient *s, size_t i, size_t k)
{
    const cri_boost *m = s->m;
    if (m->K == 0) return 1;
    if (m->widths == 1) return fabs(s->prob[i]) * (1 - fabs(s->prob[i]));
    double p = s->prob[i * m->K + k], K = (double)m->K;
    return p * (1 - p) * K / (K - 1);
}

/* --- passes over the rows, block by block ---------------------------------------------------- */

/* Weight and gradient of the rows, for tree k of the round. */
static void set_cases(void *arg, cri_range r, double *workspace)
{
    const gradient *s = arg;
    (void)workspace;
    for (size_t i = r.begin; i < r.end; i++) s->cases[i] = (cri_case){ s->w[i], slope(s, i, s->k) };
}

/* Both derivatives, added up in each leaf: acc [nodes x 2].  Of few nodes in four sums, since each
 * would wait for itself. */
static void add_derivatives(void *arg, cri_range r, double *acc)
{
    enum { FEW = 32, SUMS = 4 };
    const gradient *s = arg;
    size_t          n = s->m->tree.nodes - s->root, lanes = n <= FEW ? SUMS : 1;
    double          few[SUMS][2 * FEW] = { { 0 } };
    for (size_t i = r.begin; i < r.end; i++) {
        if (!(s->w[i] > 0)) continue;
        size_t  node = 2 * (s->leaf[i] - s->root);
        double *at = (lanes > 1 ? few[i % SUMS] : acc) + node;
        at[0] += s->w[i] * s->cases[i].y;
        at[1] += s->w[i] * curvature(s, i, s->k);
    }
    for (size_t k = 0; lanes > 1 && k < 2 * n; k++)
        acc[k] += (few[0][k] + few[1][k]) + (few[2][k] + few[3][k]);
}

static void move_rows(void *arg, cri_range r, double *workspace)
{
    const gradient  *s = arg;
    const cri_boost *m = s->m;
    (void)workspace;
    for (size_t i = r.begin; i < r.end; i++)
        if (s->w[i] > 0) s->F[i * m->widths + s->k] += m->tree.value[s->leaf[i]];
}

/* Two classes: the probabilities at F, and with them the cases, weight and gradient, and what the rows
 * add to the loss, acc [2] as below, some exponentials at a time.  With e = exp(-|F|)
 *   -log p of the own class = log(1 + e), and |F| more where it is the less likely one;
 * rows of the same weight share a logarithm, that of the product of their 1 + e. */
static void judge_two(const gradient *s, cri_range r, double *acc)
{
    double e[CHUNK];
    for (size_t at = r.begin; at < r.end; at += CHUNK) {
        size_t        n = r.end - at < CHUNK ? r.end - at : CHUNK;
        const double *F = s->F + at, *y = s->y + at, *w = s->w + at;
        double       *prob = s->prob + at, product = 1, beyond = 0, unlike = 0;
        cri_case     *cases = s->cases + at;
        for (size_t i = 0; i < n; i++) e[i] = -fabs(F[i]);
        cri_exp_array(e, n);
#pragma omp simd reduction(* : product) reduction(+ : beyond, unlike)
        for (size_t i = 0; i < n; i++) {
            double p = e[i] / (1 + e[i]), side = y[i] - 0.5;
            bool   less = F[i] * side < 0 || (F[i] == 0 && side > 0); /* the own class is */
            prob[i] = F[i] > 0 ? p : -p;
            cases[i] = (cri_case){ w[i], copysign(less ? 1 - p : p, side) };
            product *= 1 + e[i];
            beyond += less ? fabs(F[i]) : 0;
            unlike += w[i] != w[0];
        }
        if (unlike == 0) {
            acc[0] += w[0] * (log(product) + beyond);
            acc[1] += w[0] * (double)n;
        }
        for (size_t i = 0; unlike > 0 && i < n; i++) {
            acc[0] += w[i] * (log1p(e[i]) + (cases[i].y * cases[i].y > 0.25 ? fabs(F[i]) : 0));
            acc[1] += w[i];
        }
    }
}

/* acc [2]: minus the log likelihood, and the weight.  Rows of the same weight share a logarithm, that
 * of the product of their probabilities, which is never below 1e-304. */
static void add_log_losses(const gradient *s, cri_range r, double *acc)
{
    double product = 1, weight = 0;
    for (size_t i = r.begin; i < r.end; i++) {
        double w = s->w[i], p = s->prob[i * s->m->K + (size_t)s->y[i]];
        if (!(w > 0)) continue;
        if (w != weight || product < 1e-4) {
            if (product < 1) acc[0] -= weight * log(product);
            product = 1, weight = w;
        }
        product *= p > 1e-300 ? p : 1e-300;
        acc[1] += w;
    }
    if (product < 1) acc[0] -= weight * log(product);
}

static void add_squares(const gradient *s, cri_range r, double *acc)
{
    for (size_t i = r.begin; i < r.end; i++) {
        double e = s->y[i] - s->F[i];
        if (!(s->w[i] > 0)) continue;
        acc[0] += s->w[i] * e * e;
        acc[1] += s->w[i];
    }
}

/* The probabilities at F, and the loss and weight of the rows: acc [2].  Where a round has one tree,
 * the rows are moved by it before, and made the cases of the next, while they are at hand. */
static void add_losses(void *arg, cri_range r, double *acc)
{
    const gradient  *s = arg;
    const cri_boost *m = s->m;
    if (m->widths == 1 && s->grown) move_rows(arg, r, NULL);
    if (m->K && m->widths == 1) {
        judge_two(s, r, acc);
        return;
    }
    for (size_t i = r.begin; m->widths > 1 && i < r.end; i++)
        cri_boost_prob(m, s->F + i * m->widths, s->prob + i * m->K);
    if (m->K)
        add_log_losses(s, r, acc);
    else
        add_squares(s, r, acc);
    if (m->widths == 1) set_cases(arg, r, NULL);
}

/* --- rounds ---------------------------------------------------------------------------------- */

/* One Newton step in each leaf of the tree that begins at s->root, and F moved by it; where it is the
 * only tree of the round, F is moved by `judge`. */
static cr_status take_steps(gradient *s)
{
    cr_status  st = CR_OK;
    cri_boost *m = s->m;
    cr_scratch sc = cr_scratch_begin(s->cx);
    size_t     n = m->tree.nodes - s->root;
    double    *sums = cr_scratch_f64(&sc, 2 * n);
    CR_TRY(sc.status);
    memset(sums, 0, 2 * n * sizeof *sums);
    if (n > MANY_NODES)
        add_derivatives(s, (cri_range){ 0, s->n }, sums);
    else
        CR_TRY(cri_parallel_sum(s->cx, NULL, s->n, BLOCK, 2 * n, add_derivatives, s, sums));
    for (size_t i = 0; i < n; i++) {
        double step = sums[2 * i + 1] > 1e-150 ? sums[2 * i] / sums[2 * i + 1] : 0;
        m->tree.value[s->root + i] = m->rate * step;
    }
    if (m->widths > 1) CR_TRY(cri_parallel_rows(s->cx, NULL, s->n, BLOCK, 0, move_rows, s));
done:
    cr_scratch_end(&sc);
    return st;
}

/* Probabilities, and the mean loss. */
static cr_status judge(gradient *s, double *out_loss)
{
    double    acc[2];
    cr_status st = cri_parallel_sum(s->cx, NULL, s->n, BLOCK, 2, add_losses, s, acc);
    if (st == CR_OK) *out_loss = acc[0] / acc[1];
    return st;
}

static cr_status boost_round(gradient *s, size_t t)
{
    cr_status  st = CR_OK;
    cri_boost *m = s->m;
    for (size_t k = 0; k < m->widths; k++) {
        size_t tree = t * m->widths + k;
        s->root = m->tree.nodes;
        s->k = k;
        if (m->widths > 1) CR_TRY(cri_parallel_rows(s->cx, NULL, s->n, BLOCK, 0, set_cases, s));
        CR_TRY(cri_tree_grow(s->cx, s->g, s->cases, &m->tree, s->leaf));
        CR_TRY(take_steps(s));
        m->root[tree] = s->root;
        m->vote[tree] = 1;
    }
    CR_TRY(judge(s, &m->error[t])); /* all trees of a round see the same probabilities */
done:
    return st;
}

cr_status cri_boost_gradient(cr_ctx *cx, cri_boost *m, const cri_columns *columns, const double *w,
                             const double *y, double min_leaf, double share)
{
    cr_status  st = CR_OK;
    cr_scratch sc = cr_scratch_begin(cx);
    size_t     n = columns->n, rounds = m->rounds;
    double     before;
    cri_clock  clock = cri_clock_start(cx, share * cri_time_left(cx));
    gradient   s = { .cx = cx, .m = m, .w = w, .y = y, .n = n };
    cri_grow   grow = {
          .loss = CRI_TREE_SQUARES, .max_depth = m->depth, .min_leaf = min_leaf, .by_sums = true
    };

    s.cases = cr_scratch_bytes(&sc, n, sizeof(cri_case));
    s.leaf = cr_scratch_bytes(&sc, n, sizeof(uint32_t));
    s.F = cr_scratch_matrix(&sc, n, m->widths);
    s.prob = cr_scratch_matrix(&sc, n, m->widths == 1 ? m->K > 0 : m->K);
    CR_TRY(sc.status);
    CR_TRY(cri_grower_new(cx, columns, &grow, &s.g));
    set_start(&s);
    CR_TRY(judge(&s, &before));
    s.grown = true;
    for (size_t t = 0; t < rounds; t++) {
        if (t > 0 && cri_clock_over(&clock)) {
            m->rounds = t;
            break;
        }
        CR_TRY(boost_round(&s, t));
        cr_progress(cx, "boosting", (double)(t + 1), (double)rounds);
    }
done:
    if (m->rounds < rounds) {
        cr_status shortened = cri_boost_shorten(cx, m, rounds);
        if (st == CR_OK) st = shortened;
    }
    cri_grower_free(cx, s.g);
    cr_scratch_end(&sc);
    return st;
}
