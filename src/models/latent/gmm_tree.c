/* gmm_tree.c -- hierarchical clusters: rows that are merged, two clusters at a time, until one is left.
 * Ward's criterion by chains of nearest neighbours: each cluster is followed by its nearest one until two are nearest
 * to each other, which are merged; the merges are those of the closest pair each time, in another order.  O(n^2 d).
 * The likelihood of normal distributions, each with its own covariance, is meaningless for clusters of a few rows; so
 * that tree begins with clusters of Ward's and merges those for which
 *   sum_g n_g log|(W_g + f P) / (n_g + f)|,    W_g the scatter of cluster g, P the pooled covariance, f = d + 2
 * rises least: n_g log|W_g / n_g| for large clusters.
 * Ward (1963), J. Am. Stat. Assoc. 58; Murtagh (1983), Computer Journal 26; Banfield & Raftery (1993), Biometrics 49;
 * Fraley (1998), SIAM J. Sci. Comp. 20. */
#include "gmm_tree.h"
#include "base/scratch.h"
#include "base/sort.h"
#include "prob/dist/small_matrix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double EFFORT = 4e7;       /* rows squared times columns, of Ward's trees */
static const double GROUP_EFFORT = 1e7; /* operations of the likelihoods of merged clusters */
enum { MOST_GROUPS = 128 };

/* --- rows ------------------------------------------------------------------------------------- */

void cri_gmm_overall_covariance(const cri_gmm_rows *rows, double *C)
{
    size_t d = rows->d;
    double weight = 0;
    memset(C, 0, d * d * sizeof *C);
    for (size_t i = 0; i < rows->n; i++) {
        weight += rows->w[i];
        for (size_t a = 0; a < d * d; a++) {
            double product = rows->T[i * d + a / d] * rows->T[i * d + a % d];
            C[a] += isnan(product) ? 0 : rows->w[i] * product;
        }
    }
    for (size_t a = 0; a < d * d; a++) C[a] /= weight;
}

void cri_gmm_spread_rows(const cri_gmm_rows *rows, bool whiten, double *C, double *L, double *Y)
{
    size_t d = rows->d;
    cri_gmm_overall_covariance(rows, C);
    whiten = whiten && cri_factor_point(C, d, L);
    for (size_t i = 0; i < rows->n; i++) {
        double *y = Y + i * d;
        for (size_t j = 0; j < d; j++) {
            double t = rows->T[i * d + j], sd = sqrt(C[j * d + j]);
            y[j] = isnan(t) ? 0 : whiten ? t : sd > 0 ? t / sd : 0;
        }
        if (whiten) cri_solve_lower(L, d, y);
    }
}

static bool are_alike(const double *a, const double *b, size_t d)
{
    for (size_t j = 0; j < d; j++)
        if (a[j] != b[j] && !(isnan(a[j]) && isnan(b[j]))) return false;
    return true;
}

/* Rows that are alike are neighbours, and one leaf: a row of weight 2 is two rows. */
static void find_leaves(const cri_gmm_rows *rows, cri_gmm_tree *t)
{
    size_t d = rows->d;
    for (size_t i = 0; i < t->n; i++) {
        bool known = i > 0 && are_alike(rows->T + i * d, rows->T + (i - 1) * d, d);
        t->leaf[i] = known ? t->leaves - 1 : t->leaves++;
    }
}

/* --- Ward ------------------------------------------------------------------------------------- */

typedef struct merging {
    double height;
    size_t order, a, b;
} merging;

CRI_COMPARE_BY_TWO(compare_mergings, merging, height, order);

/* Clusters that are left: those of the leaves active[0 .. n), each with a weight and a centre. */
typedef struct ward {
    size_t  n, d;
    size_t *active, *chain; /* [leaves]; chain: clusters, each the nearest of the one before it */
    double *w, *centre;     /* [leaves], [leaves x d] */
    double *height, *way;   /* [leaves] at which a cluster was made; workspace */
} ward;

/* Numbers that differ by rounding alone, as distances between rows of whole numbers do, count as equal: neither the order
 * of the rows nor how they come makes a difference. */
static const double TIE = 1e-9;

/* way [n]: what merging a with each of the clusters costs. */
static void measure(const ward *v, size_t a)
{
    size_t        d = v->d;
    const double *x = v->centre + a * d;
    for (size_t i = 0; i < v->n; i++) {
        size_t        b = v->active[i];
        const double *y = v->centre + b * d;
        double        sum = 0;
        for (size_t j = 0; j < d; j++) sum += (x[j] - y[j]) * (x[j] - y[j]);
        v->way[i] = b == a ? INFINITY : sum * v->w[a] * v->w[b] / (v->w[a] + v->w[b]);
    }
}

/* The cluster that is nearest to a: of equal ones `before`, or the first leaf. */
static size_t find_nearest(const ward *v, size_t a, size_t before, double *out_height)
{
    size_t best = SIZE_MAX;
    double least = INFINITY;
    measure(v, a);
    for (size_t i = 0; i < v->n; i++) least = v->way[i] < least ? v->way[i] : least;
    for (size_t i = 0; i < v->n; i++) {
        size_t b = v->active[i];
        if (b == a || v->way[i] > least * (1 + TIE)) continue;
        if (best == SIZE_MAX || b == before || (best != before && b < best)) best = b;
    }
    *out_height = (double)(float)least;
    return best;
}

static void merge_into(ward *v, size_t a, size_t b)
{
    double w = v->w[a] + v->w[b];
    for (size_t j = 0; j < v->d; j++) {
        double *x = &v->centre[a * v->d + j];
        *x += v->w[b] / w * (v->centre[b * v->d + j] - *x);
    }
    v->w[a] = w;
    for (size_t i = 0; i < v->n; i++)
        if (v->active[i] == b) {
            v->active[i] = v->active[--v->n];
            break;
        }
}

/* merge [leaves - 1][2] by Ward's criterion on the centres and weights of the leaves, which are overwritten. */
static cr_status merge_by_ward(cr_ctx *cx, size_t leaves, size_t d, double *centre, double *w,
                               size_t *merge)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    merging   *made = cr_scratch_bytes(&s, leaves, sizeof *made);
    ward       v = { .n = leaves, .d = d, .w = w, .centre = centre };
    size_t     length = 0, n_made = 0;

    v.active = cr_scratch_index(&s, leaves);
    v.chain = cr_scratch_index(&s, leaves);
    v.height = cr_scratch_bytes(&s, leaves, sizeof *v.height);
    v.way = cr_scratch_f64(&s, leaves);
    CR_TRY(s.status);
    for (size_t i = 0; i < leaves; i++) v.active[i] = i;
    while (v.n > 1) {
        double height;
        if (length == 0) v.chain[length++] = v.active[0];
        size_t a = v.chain[length - 1], before = length > 1 ? v.chain[length - 2] : a;
        size_t b = find_nearest(&v, a, before, &height);
        if (length == 1 || b != before) {
            v.chain[length++] = b;
            continue;
        }
        CR_TRY(cr_check_interrupt(cx));
        length -= 2;
        height = fmax(height, fmax(v.height[a], v.height[b])); /* rounding */
        merge_into(&v, a, b);
        v.height[a] = height;
        made[n_made] = (merging){ height, n_made, a, b };
        n_made++;
    }
    qsort(made, n_made, sizeof *made, compare_mergings);
    for (size_t i = 0; i < n_made; i++) merge[2 * i] = made[i].a, merge[2 * i + 1] = made[i].b;
done:
    cr_scratch_end(&s);
    return st;
}

/* --- likelihood ------------------------------------------------------------------------------- */

/* Clusters 0 .. n of rows, each with its weight, mean and scatter matrix; one that was merged into another has no
 * weight. */
typedef struct groups {
    size_t  n, d;
    size_t *leaf;                /* [n] one of its leaves */
    double *w, *mean, *W;        /* [n], [n x d], [n][d x d] */
    double *cost, *loss;         /* [n]; [n x n] what merging two costs */
    double *pooled, *tmp, *both; /* [d x d] */
} groups;

static double cost_of(const groups *g, double w, const double *W)
{
    size_t d = g->d;
    double firm = (double)d + 2;
    for (size_t i = 0; i < d * d; i++) g->both[i] = (W[i] + firm * g->pooled[i]) / (w + firm);
    return cri_factor_point(g->both, d, g->tmp) ? w * cri_log_det(g->tmp, d) : 0;
}

/* The scatter of two clusters together, into out [d x d]. */
static void add_scatter(const groups *g, size_t a, size_t b, double *out)
{
    size_t d = g->d;
    double by = g->w[a] * g->w[b] / (g->w[a] + g->w[b]);
    for (size_t i = 0; i < d * d; i++) {
        double x = g->mean[a * d + i / d] - g->mean[b * d + i / d];
        double y = g->mean[a * d + i % d] - g->mean[b * d + i % d];
        out[i] = g->W[a * d * d + i] + g->W[b * d * d + i] + by * x * y;
    }
}

static void set_loss(groups *g, size_t a, size_t b, double *scatter)
{
    add_scatter(g, a, b, scatter);
    g->loss[a * g->n + b] = g->loss[b * g->n + a] =
        cost_of(g, g->w[a] + g->w[b], scatter) - g->cost[a] - g->cost[b];
}

/* The groups of rows Y [n x d] by their labels. */
static void gather_groups(const cri_gmm_tree *t, const cri_gmm_rows *rows, const double *Y,
                          const size_t *label, groups *g)
{
    size_t d = g->d;
    double total = 0;
    for (size_t i = 0; i < t->n; i++) {
        size_t c = label[i];
        double w = g->w[c] + rows->w[i];
        g->leaf[c] = t->leaf[i];
        for (size_t a = 0; a < d * d; a++)
            g->W[c * d * d + a] += rows->w[i] * g->w[c] / w *
                                   (Y[i * d + a / d] - g->mean[c * d + a / d]) *
                                   (Y[i * d + a % d] - g->mean[c * d + a % d]);
        for (size_t j = 0; j < d; j++)
            g->mean[c * d + j] += rows->w[i] / w * (Y[i * d + j] - g->mean[c * d + j]);
        g->w[c] = w;
        total += rows->w[i];
    }
    for (size_t c = 0; c < g->n; c++)
        for (size_t a = 0; a < d * d; a++) g->pooled[a] += g->W[c * d * d + a] / total;
    for (size_t j = 0; j < d; j++) g->pooled[j * (d + 1)] += 0.01; /* columns have variance 1 */
}

/* From the first merges of Ward, which leave n_groups, to the last by likelihood. */
static cr_status merge_by_likelihood(cr_ctx *cx, const cri_gmm_tree *t, const cri_gmm_rows *rows,
                                     const double *Y, size_t n_groups, size_t *merge)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     d = rows->d, size = d * d;
    size_t    *root = cr_scratch_index(&s, t->leaves), *label = cr_scratch_index(&s, t->n);
    double    *scatter = cr_scratch_matrix(&s, d, d);
    groups     g = { .n = n_groups, .d = d, .leaf = cr_scratch_index(&s, n_groups) };

    g.w = cr_scratch_bytes(&s, n_groups, sizeof(double));
    g.mean = cr_scratch_bytes(&s, n_groups, d * sizeof(double));
    g.W = cr_scratch_bytes(&s, n_groups, size * sizeof(double));
    g.cost = cr_scratch_f64(&s, n_groups);
    g.loss = cr_scratch_matrix(&s, n_groups, n_groups);
    g.pooled = cr_scratch_bytes(&s, size, sizeof(double));
    g.tmp = cr_scratch_matrix(&s, d, d);
    g.both = cr_scratch_matrix(&s, d, d);
    CR_TRY(s.status);
    cri_gmm_tree_cut(t, CRI_GMM_WARD_WHITENED, n_groups, root, label);
    gather_groups(t, rows, Y, label, &g);
    for (size_t a = 0; a < n_groups; a++) {
        CR_TRY(cr_check_interrupt(cx));
        g.cost[a] = cost_of(&g, g.w[a], g.W + a * size);
        for (size_t b = 0; b < a; b++) set_loss(&g, a, b, scatter);
    }
    merge += 2 * (t->leaves - n_groups);
    for (size_t left = n_groups; left > 1; left--, merge += 2) {
        size_t best_a = 0, best_b = 0;
        double least = INFINITY;
        CR_TRY(cr_check_interrupt(cx));
        for (size_t a = 0; a < n_groups; a++)
            for (size_t b = 0; b < a && g.w[a] > 0; b++)
                if (g.w[b] > 0 && (g.loss[a * n_groups + b] < least - TIE * (1 + fabs(least)) ||
                                   best_a == best_b))
                    least = g.loss[a * n_groups + b], best_a = a, best_b = b;
        merge[0] = g.leaf[best_a], merge[1] = g.leaf[best_b];
        add_scatter(&g, best_a, best_b, scatter);
        memcpy(g.W + best_a * size, scatter, size * sizeof *scatter);
        for (size_t j = 0; j < d; j++) {
            double *x = &g.mean[best_a * d + j];
            *x += g.w[best_b] / (g.w[best_a] + g.w[best_b]) * (g.mean[best_b * d + j] - *x);
        }
        g.w[best_a] += g.w[best_b], g.w[best_b] = 0;
        g.cost[best_a] = cost_of(&g, g.w[best_a], g.W + best_a * size);
        for (size_t b = 0; b < n_groups; b++)
            if (b != best_a && g.w[b] > 0) set_loss(&g, best_a, b, scatter);
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* --- trees ------------------------------------------------------------------------------------ */

void cri_gmm_tree_free(cr_ctx *cx, cri_gmm_tree *t)
{
    if (!t) return;
    cr_free(cx, t->leaf, t->n, sizeof *t->leaf);
    for (size_t i = 0; i < CRI_GMM_MERGINGS; i++)
        cr_free(cx, t->merge[i], 2 * t->n, sizeof(size_t));
    cr_free(cx, t, 1, sizeof *t);
}

/* Clusters that the likelihood merges: each of some rows, and not too many for matrices of this size. */
static size_t choose_groups(const cri_gmm_tree *t, size_t d)
{
    double D = (double)d, each = D * D * D / 3 + 6 * D * D + 50;
    double most = fmin(fmin(sqrt(GROUP_EFFORT / each), MOST_GROUPS), (double)t->leaves / (D + 1));
    return most < 1 ? 1 : (size_t)most;
}

cr_status cri_gmm_tree_new(cr_ctx *cx, const cri_gmm_rows *rows, cri_gmm_tree **out)
{
    cr_status    st = CR_OK;
    cr_scratch   s = cr_scratch_begin(cx);
    size_t       d = rows->d, most = (size_t)sqrt(EFFORT / (double)d);
    cri_gmm_rows first = *rows;
    first.n = rows->n < most ? rows->n : most;
    double *Y = cr_scratch_matrix(&s, first.n, d), *centre = cr_scratch_matrix(&s, first.n, d);
    double *C = cr_scratch_matrix(&s, d, d), *L = cr_scratch_matrix(&s, d, d);
    double *w = cr_scratch_f64(&s, first.n);
    cri_gmm_tree *t = cr_alloc(cx, 1, sizeof *t);

    CR_TRY(s.status);
    if (!t) CR_TRY(CR_ENOMEM);
    t->n = first.n;
    t->leaf = cr_alloc(cx, t->n, sizeof *t->leaf);
    for (size_t i = 0; i < CRI_GMM_MERGINGS; i++) {
        t->merge[i] = cr_alloc(cx, 2 * t->n, sizeof(size_t));
        if (!t->merge[i] || !t->leaf) CR_TRY(CR_ENOMEM);
    }
    find_leaves(&first, t);
    for (size_t by = CRI_GMM_WARD; by <= CRI_GMM_WARD_WHITENED; by++) {
        cri_gmm_spread_rows(&first, by == CRI_GMM_WARD_WHITENED, C, L, Y);
        memset(w, 0, t->leaves * sizeof *w);
        for (size_t i = 0; i < t->n; i++) {
            w[t->leaf[i]] += first.w[i];
            memcpy(centre + t->leaf[i] * d, Y + i * d, d * sizeof *Y);
        }
        CR_TRY(merge_by_ward(cx, t->leaves, d, centre, w, t->merge[by]));
    }
    memcpy(t->merge[CRI_GMM_LIKELIHOOD], t->merge[CRI_GMM_WARD_WHITENED],
           2 * t->leaves * sizeof(size_t));
    CR_TRY(
        merge_by_likelihood(cx, t, &first, Y, choose_groups(t, d), t->merge[CRI_GMM_LIKELIHOOD]));
    *out = t;
    t = NULL;
done:
    cri_gmm_tree_free(cx, t);
    cr_scratch_end(&s);
    return st;
}

static size_t find_root(size_t *root, size_t i)
{
    while (root[i] != i) i = root[i] = root[root[i]];
    return i;
}

void cri_gmm_tree_cut(const cri_gmm_tree *t, cri_gmm_merging by, size_t k, size_t *root,
                      size_t *label)
{
    size_t found = 0;
    for (size_t i = 0; i < t->leaves; i++) root[i] = i;
    for (size_t i = 0; i + k < t->leaves; i++) {
        size_t a = find_root(root, t->merge[by][2 * i]);
        size_t b = find_root(root, t->merge[by][2 * i + 1]);
        root[a > b ? a : b] = a > b ? b : a;
    }
    for (size_t i = 0; i < t->leaves; i++) root[i] = find_root(root, i);
    for (size_t i = 0; i < t->leaves; i++) /* a root comes first: its number takes its place */
        root[i] = root[i] == i ? found++ : root[root[i]];
    for (size_t i = 0; i < t->n; i++) label[i] = root[t->leaf[i]];
}
