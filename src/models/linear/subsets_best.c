/* subsets_best.c -- the best subset of every size by branch and bound.
 * A node is a sequence of n terms with its triangular factor, the first k of which stay.  Its
 * leading sets {1 .. i}, i > k, are candidates, whose RSS the factor has ready; its children leave
 * out one of the terms k+1 .. n-1 each and keep those before it.  So every set comes up exactly
 * once (Gatu & Kontoghiorghes 2006).  Terms that matter most are put first, that whole branches
 * without them can be cut. */
#include "subsets.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

enum { SORTED = 6 }; /* free terms from which on a node is worth sorting */

typedef struct node {
    size_t  n, k;
    size_t *term; /* [n]                                                             */
    double *R;    /* [n x (p + 1)] rows of the factor; the target in the last column */
    double  rss;  /* of all n terms                                                  */
} node;

typedef struct search {
    cr_ctx      *cx;
    size_t       p, stride, only, largest; /* largest: terms of an independent set */
    cri_subsets *out;
    node        *nodes;          /* [p + 1] one for each depth */
    double      *inverse, *gain; /* workspace                  */
    size_t      *order;
    double      *copy;
    size_t       visited;
} search;

/* --- the factor ------------------------------------------------------------------------------ */

/* Turns rows i - 1 and i so that R[i, j] becomes 0; columns before j are 0 in both. */
static void rotate(const search *s, double *R, size_t i, size_t j, size_t n)
{
    double *u = R + (i - 1) * s->stride, *v = R + i * s->stride;
    double  r = hypot(u[j], v[j]);
    if (v[j] == 0) return;
    double c = u[j] / r, t = v[j] / r;
    for (size_t k = j; k < n; k++) {
        double a = u[k], b = v[k];
        u[k] = c * a + t * b;
        v[k] = c * b - t * a;
    }
    double a = u[s->p], b = v[s->p];
    u[s->p] = c * a + t * b;
    v[s->p] = c * b - t * a;
    v[j] = 0;
}

/* out = parent without its term at place c, of which the c before it stay. */
static void leave_out(const search *s, const node *parent, size_t c, node *out)
{
    size_t n = parent->n;
    out->n = n - 1;
    out->k = c;
    for (size_t j = 0, to = 0; j < n; j++)
        if (j != c) out->term[to++] = parent->term[j];
    for (size_t i = 0; i < n; i++) {
        const double *from = parent->R + i * s->stride;
        double       *to = out->R + i * s->stride;
        memcpy(to, from, c * sizeof(double));
        memcpy(to + c, from + c + 1, (n - c - 1) * sizeof(double));
        to[s->p] = from[s->p];
    }
    for (size_t i = c + 1; i < n; i++) rotate(s, out->R, i, i - 1, n - 1);
    double left = out->R[(n - 1) * s->stride + s->p];
    out->rss = parent->rss + left * left;
}

/* gain[c] = what leaving out the free term at place k + c adds to the RSS; false when the terms are
 * too near to dependence to tell. */
static bool measure_gains(const search *s, const node *v)
{
    size_t  m = v->n - v->k;
    double *T = s->inverse; /* [m x m] the inverse of the free part, upper triangular */
    for (size_t j = 0; j < m; j++) {
        double pivot = v->R[(v->k + j) * s->stride + v->k + j];
        if (!(fabs(pivot) > 0)) return false;
        T[j * m + j] = 1 / pivot;
        for (size_t i = j; i-- > 0;) {
            const double *row = v->R + (v->k + i) * s->stride + v->k;
            double        sum = 0;
            for (size_t e = i + 1; e <= j; e++) sum += row[e] * T[e * m + j];
            T[i * m + j] = -sum / row[i];
        }
    }
    for (size_t i = 0; i < m; i++) {
        double b = 0, norm = 0;
        for (size_t j = i; j < m; j++) {
            b += T[i * m + j] * v->R[(v->k + j) * s->stride + s->p];
            norm += T[i * m + j] * T[i * m + j];
        }
        s->gain[i] = b * b / norm;
        if (!isfinite(s->gain[i])) return false;
    }
    return true;
}

/* Puts the free terms in the order of what they are worth, most first. */
static void sort_node(const search *s, node *v)
{
    size_t n = v->n, k = v->k, m = n - k, *order = s->order;
    if (m < SORTED || !measure_gains(s, v)) return;
    for (size_t a = 0; a < m; a++) {
        size_t at = a;
        for (; at > 0 && s->gain[order[at - 1]] < s->gain[a]; at--) order[at] = order[at - 1];
        order[at] = a;
    }
    for (size_t i = 0; i < n; i++) {
        double *row = v->R + i * s->stride + k;
        memcpy(s->copy, row, m * sizeof(double));
        for (size_t a = 0; a < m; a++) row[a] = s->copy[order[a]];
    }
    for (size_t a = 0; a < m; a++) s->copy[a] = (double)v->term[k + order[a]];
    for (size_t a = 0; a < m; a++) v->term[k + a] = (size_t)s->copy[a];
    for (size_t j = k; j < n; j++)
        for (size_t i = n - 1; i > j; i--) rotate(s, v->R, i, j, n);
}

/* --- the search ------------------------------------------------------------------------------ */

static bool wanted(const search *s, size_t size)
{
    return size <= s->largest && (s->only == SIZE_MAX || s->only == size);
}

/* The largest of the best RSS so far of the sizes from `from` to `to` that are wanted: a branch
 * with such sizes is of use only if its largest set is below it.  -1 when none is wanted. */
static double to_beat(const search *s, size_t from, size_t to)
{
    double most = -1;
    for (size_t size = from; size <= to && size <= s->out->most; size++)
        if (wanted(s, size))
            most = fmax(most, s->out->rss[size] < 0 ? INFINITY : s->out->rss[size]);
    return most;
}

static void look_at_leading_sets(search *s, const node *v)
{
    double rss = v->rss;
    for (size_t size = v->n; size > v->k; size--) {
        double best = s->out->most >= size ? s->out->rss[size] : 0;
        if (wanted(s, size) && (best < 0 || rss < best)) {
            double *member = s->out->member + size * s->p;
            s->out->rss[size] = rss;
            memset(member, 0, s->p * sizeof(double));
            for (size_t i = 0; i < size; i++) member[v->term[i]] = 1;
        }
        double z = v->R[(size - 1) * s->stride + s->p];
        rss += z * z;
    }
}

static cr_status visit(search *s, size_t depth)
{
    enum { OFTEN = 4096 };
    cr_status st = CR_OK;
    node     *v = &s->nodes[depth];
    if (s->visited++ % OFTEN == 0) CR_TRY(cr_check_interrupt(s->cx));
    sort_node(s, v);
    look_at_leading_sets(s, v);
    for (size_t c = v->k; c + 1 < v->n; c++) {
        if (!(v->rss < to_beat(s, c + 1, v->n - 1))) break;
        leave_out(s, v, c, &s->nodes[depth + 1]);
        if (s->nodes[depth + 1].rss < to_beat(s, c + 1, v->n - 1)) CR_TRY(visit(s, depth + 1));
    }
done:
    return st;
}

/* The triangular factor of the cross-products, their diagonal widened by a share `ridge`. */
static void factor(const search *s, const cri_gram *g, double ridge, node *root)
{
    size_t p = s->p;
    double rss = g->tt;
    for (size_t i = 0; i < p; i++) {
        double *row = root->R + i * s->stride, pivot = g->G[i * p + i] * (1 + ridge);
        for (size_t e = 0; e < i; e++)
            pivot -= root->R[e * s->stride + i] * root->R[e * s->stride + i];
        double least = 1e-14 * (g->G[i * p + i] > 0 ? g->G[i * p + i] : 1); /* a constant term */
        pivot = sqrt(pivot > least ? pivot : least);
        for (size_t j = 0; j <= p; j++) {
            double sum = j < p ? g->G[i * p + j] : g->g[i];
            for (size_t e = 0; e < i; e++)
                sum -= root->R[e * s->stride + i] * root->R[e * s->stride + j];
            row[j] = j < i ? 0 : j == i ? pivot : sum / pivot;
        }
        rss -= row[p] * row[p];
        root->term[i] = i;
    }
    root->n = p;
    root->k = 0;
    root->rss = rss > 0 ? rss : 0;
}

/* RSS of one set, from the cross-products themselves; A [p x (p + 1)] and which [p] are
 * workspace. */
static double rss_of(const cri_gram *g, const double *member, double *A, size_t *which)
{
    size_t p = g->p, k = 0;
    double rss = g->tt;
    for (size_t j = 0; j < p; j++)
        if (member[j] != 0) which[k++] = j;
    for (size_t a = 0; a < k; a++) {
        double *row = A + a * (p + 1);
        for (size_t b = 0; b < k; b++) row[b] = g->G[which[a] * p + which[b]];
        row[k] = g->g[which[a]];
        for (size_t e = 0; e < a; e++) { /* take out what those before it explain */
            const double *before = A + e * (p + 1);
            double        f = row[e] / before[e];
            for (size_t b = e; b <= k; b++) row[b] -= f * before[b];
        }
        rss -= row[k] * row[k] / row[a];
    }
    return rss > 0 ? rss : 0;
}

static cr_status refuse(cr_ctx *cx, size_t p)
{
    cr_fail(cx, CR_EARG,
            "%zu terms are too many for the search for the best subset, which takes at most %d", p,
            CRI_MOST_BEST);
    return cr_fail_hint(cx, "use --select forward, or fit lasso, or name fewer --features");
}

cr_status cri_subsets_best(cr_ctx *cx, const cri_gram *g, size_t only, cri_subsets *out)
{
    cr_status  st = CR_OK;
    cr_scratch a = cr_scratch_begin(cx);
    size_t     p = g->p;
    search     s = { .cx = cx, .p = p, .stride = p + 1, .only = only, .out = out };

    if (p > CRI_MOST_BEST) CR_TRY(refuse(cx, p));
    s.nodes = cr_scratch_bytes(&a, p + 1, sizeof *s.nodes);
    s.inverse = cr_scratch_matrix(&a, p, p);
    s.gain = cr_scratch_f64(&a, p);
    s.copy = cr_scratch_f64(&a, p);
    s.order = cr_scratch_index(&a, p);
    CR_TRY(a.status);
    for (size_t d = 0; d <= p; d++) {
        s.nodes[d].term = cr_scratch_index(&a, p);
        s.nodes[d].R = cr_scratch_bytes(&a, p, s.stride * sizeof(double));
    }
    CR_TRY(a.status);
    CR_TRY(cri_subsets_forward(cx, g, out->most, out)); /* something to beat; the empty set, too */
    while (s.largest < out->most && out->rss[s.largest + 1] >= 0) s.largest++;
    for (size_t size = 0; size <= out->most; size++)
        if (!wanted(&s, size)) out->rss[size] = -1;
    /* Among dependent terms a little ridge tells sets apart as their RSS would. */
    factor(&s, g, s.largest < p ? 1e-9 : 0, &s.nodes[0]);
    if (p > 0) CR_TRY(visit(&s, 0));
    for (size_t size = 1; size <= out->most; size++)
        if (out->rss[size] >= 0)
            out->rss[size] = rss_of(g, out->member + size * p, s.nodes[0].R, s.order);
done:
    cr_scratch_end(&a);
    return st;
}
