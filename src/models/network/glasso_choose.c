/* glasso_choose.c -- the penalty: a path from the largest, which leaves no edge, down, and what is thought of each.
 *   ebic   -2 log L + |E| log n + 4 gamma |E| log p, L being the largest likelihood on the graph E; bic: gamma = 0; aic:
 *          2 |E| for the last two (Foygel & Drton 2010)
 *   cv     the log density of the rows of each fold under the others
 *   stars  the smallest penalty at which the graphs of half samples still agree: the mean over all pairs of
 *          2 s (1 - s), s the share that have the edge, is below the bound (Liu, Roeder & Wasserman 2010) */
#include "glasso.h"
#include "base/rng.h"
#include "base/context_internal.h"
#include "base/scratch.h"
#include "math/dense/chol.h"
#include "math/optim/graphical_lasso.h"

#include <math.h>
#include <string.h>

/* With many columns the path ends after so many penalties without a better criterion. */
enum { MANY = 100, PATIENCE = 10 };
#define SAME 1e-9
#define REFIT_TOL 1e-8
#define NO_EDGE 1e-5 /* partial correlations that are as good as 0 */

/* --- one penalty ------------------------------------------------------------------------------ */

static double trace_of_product(const double *A, const double *B, size_t p)
{
    double sum = 0;
    for (size_t i = 0; i < p * p; i++) sum += A[i] * B[i];
    return sum;
}

/* log det of T. */
static cr_status log_det(cr_ctx *cx, const double *T, size_t p, double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *L = cr_scratch_matrix(&s, p, p);
    CR_TRY(s.status);
    memcpy(L, T, p * p * sizeof *L);
    CR_TRY(cr_chol(cx, cr_mat_of(L, p, p)));
    *out = cr_chol_logdet(cr_cmat_of(L, p, p));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_glasso_likelihood(cr_ctx *cx, const cri_glasso_task *t, const double *T, double *out)
{
    double    det;
    cr_status st = log_det(cx, T, t->p, &det);
    if (st == CR_OK)
        *out = -0.5 * t->n *
               ((double)t->p * log(2 * M_PI) - det + 2 * t->log_scales +
                trace_of_product(t->S, T, t->p));
    return st;
}

cr_status cri_glasso_at(cr_ctx *cx, const cri_glasso_task *t, double lambda, double *T,
                        cri_graphical_lasso_report *out)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(cx);
    cri_graphical_lasso a = {
        .S = t->S, .p = t->p, .lambda = lambda, .tol = t->o->tol, .max_iter = t->o->max_iter
    };
    if (t->o->penalize_diagonal) {
        double *S = cr_scratch_matrix(&s, t->p, t->p);
        CR_TRY(s.status);
        memcpy(S, t->S, t->p * t->p * sizeof *S);
        for (size_t i = 0; i < t->p; i++) S[i * t->p + i] += lambda;
        a.S = S;
    }
    CR_TRY(cri_graphical_lasso_solve(cx, &a, T, NULL, out));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_glasso_refit(cr_ctx *cx, const cri_glasso_task *t, double *T, bool *out_found,
                           cri_graphical_lasso_report *out)
{
    cr_status                  st = CR_OK;
    cr_scratch                 s = cr_scratch_begin(cx);
    size_t                     p = t->p;
    double                    *to = cr_scratch_matrix(&s, p, p);
    cri_graphical_lasso_report r;
    cri_graphical_lasso        a = {
               .S = t->S, .p = p, .opt_graph = T, .tol = REFIT_TOL, .max_iter = t->o->max_iter
    };
    CR_TRY(s.status);
    memcpy(to, T, p * p * sizeof *to);
    CR_TRY(cri_graphical_lasso_solve(cx, &a, to, NULL, &r));
    *out_found = r.converged;
    if (!r.converged) goto done;
    memcpy(T, to, p * p * sizeof *T);
    *out = r;
done:
    cr_scratch_end(&s);
    return st;
}

/* --- parts of the rows ------------------------------------------------------------------------ */

/* The covariance of some folds, scaled by themselves; *out_good is false where a column does not vary in them. */
static cr_status part_of(cr_ctx *cx, const cri_glasso_task *t, uint32_t which, cri_gram *out,
                         bool *out_good)
{
    cr_status   st = CR_OK;
    cri_moments m = { 0 };
    *out_good = false;
    CR_TRY(cri_folded_moments(cx, t->folded, which, &m));
    if (!(m.weight > 0)) goto done;
    CR_TRY(cri_gram_new(cx, &m, true, t->standardise, out));
    *out_good = true;
    for (size_t i = 0; i < t->p; i++) *out_good &= out->G[i * t->p + i] > 0;
    for (size_t i = 0; i < t->p * t->p; i++) out->G[i] /= out->weight;
    if (!*out_good) cri_gram_free(cx, out);
done:
    cri_moments_free(cx, &m);
    return st;
}

/* The folds of half sample h: of two that follow each other, one has the folds that the other lacks. */
static uint32_t half_of(size_t h, size_t folds)
{
    cr_rng   r = cr_rng_stream(h / 2, 0);
    uint32_t chosen = 0;
    size_t   wanted = folds / 2;
    for (size_t k = 0; k < folds && wanted > 0; k++)
        if (cr_rng_uniform(&r) * (double)(folds - k) < (double)wanted)
            chosen |= (uint32_t)1 << k, wanted--;
    return h % 2 == 0 ? chosen : ~chosen & (uint32_t)(((uint64_t)1 << folds) - 1);
}

/* A part of the rows, whose precision is followed down the path. */
typedef struct part {
    cri_gram gram;
    double  *T; /* [p x p] */
    uint32_t folds;
} part;

static void free_parts(cr_ctx *cx, const cri_glasso_task *t, part *parts, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        cri_gram_free(cx, &parts[k].gram);
        cr_free(cx, parts[k].T, t->p * t->p, sizeof(double));
    }
}

/* Adds the folds to the parts, where all columns vary in them. */
static cr_status add_part(cr_ctx *cx, const cri_glasso_task *t, uint32_t folds, part *parts,
                          size_t *n)
{
    bool      good;
    part     *it = &parts[*n];
    cr_status st = part_of(cx, t, folds, &it->gram, &good);
    if (st != CR_OK || !good) return st;
    it->folds = folds;
    (*n)++;
    it->T = cr_alloc(cx, t->p * t->p, sizeof *it->T);
    return it->T ? CR_OK : CR_ENOMEM;
}

static cr_status solve_part(cr_ctx *cx, const cri_glasso_task *t, double lambda, part *it,
                            bool *out_late)
{
    cri_graphical_lasso_report r;
    cri_glasso_task            of = *t;
    of.S = it->gram.G;
    cr_status st = cri_glasso_at(cx, &of, lambda, it->T, &r);
    if (st == CR_OK) *out_late |= r.late;
    return st;
}

static cr_status add_halves(cr_ctx *cx, const cri_glasso_task *t, size_t halves, part *parts,
                            size_t *n)
{
    cr_status st = CR_OK;
    for (size_t h = 0; h < halves; h++)
        CR_TRY(add_part(cx, t, half_of(h, t->folded->folds), parts, n));
done:
    return st;
}

/* share [p x p]: of the parts, those that have each edge; one that only rounding may have made is none. */
static void count_edges(const part *parts, size_t n, size_t p, double *share)
{
    memset(share, 0, p * p * sizeof *share);
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < p; i++)
            for (size_t j = 0; j < p; j++) {
                const double *T = parts[k].T;
                double        size = sqrt(T[i * (p + 1)] * T[j * (p + 1)]);
                share[i * p + j] += fabs(T[i * p + j]) > NO_EDGE * size;
            }
    for (size_t i = 0; n > 0 && i < p * p; i++) share[i] /= (double)n;
}

cr_status cri_glasso_stability(cr_ctx *cx, const cri_glasso_task *t, double lambda, size_t halves,
                               double *share, size_t *out_halves)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = 0, solved = 0;
    bool       late = false;
    part      *parts = cr_scratch_bytes(&s, halves, sizeof *parts);
    CR_TRY(s.status);
    CR_TRY(add_halves(cx, t, halves, parts, &n));
    while (solved < n && !late) {
        CR_TRY(solve_part(cx, t, lambda, &parts[solved], &late));
        solved += !late;
    }
    count_edges(parts, solved, t->p, share);
    *out_halves = solved;
done:
    if (parts) free_parts(cx, t, parts, halves);
    cr_scratch_end(&s);
    return st;
}

/* --- criteria --------------------------------------------------------------------------------- */

typedef struct walk {
    const cri_glasso_task *t;
    part                  *parts; /* of cv: all but one fold; of stars: halves */
    size_t                 n;
    double                *T;               /* [p x p] at this penalty */
    double                *refit;           /* [p x p] workspace */
    double                *share;           /* likewise */
    double                 lambda, largest; /* largest: instability so far */
    bool                   late;
} walk;

/* On the graph of T; NaN where its likelihood has no maximum. */
static cr_status criterion(cr_ctx *cx, walk *w, size_t edges, double *out)
{
    const cri_glasso_task     *t = w->t;
    const cri_glasso_options  *o = t->o;
    cr_status                  st = CR_OK;
    cri_graphical_lasso_report r;
    double                     likelihood, each = o->choose == CRI_GLASSO_AIC ? 2 : log(t->n);
    bool                       found;
    if (o->choose == CRI_GLASSO_EBIC) each += 4 * o->gamma * log((double)t->p);
    memcpy(w->refit, w->T, t->p * t->p * sizeof *w->refit);
    CR_TRY(cri_glasso_refit(cx, t, w->refit, &found, &r));
    *out = NAN;
    if (!found) goto done;
    CR_TRY(cri_glasso_likelihood(cx, t, w->refit, &likelihood));
    *out = -2 * likelihood + (double)edges * each;
done:
    return st;
}

/* The mean log density of the rows of the folds that a part lacks, scaled as it is. */
static cr_status score_fold(cr_ctx *cx, const walk *w, const part *it, double *sum, double *weight)
{
    cr_status              st = CR_OK;
    const cri_glasso_task *t = w->t;
    size_t                 p = t->p, q = p + 1;
    uint32_t               all = (uint32_t)(((uint64_t)1 << t->folded->folds) - 1);
    const cri_gram        *g = &it->gram;
    cri_moments            held = { 0 };
    double                 det, square = 0;
    CR_TRY(cri_folded_moments(cx, t->folded, all & ~it->folds, &held));
    CR_TRY(log_det(cx, it->T, p, &det));
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < p; j++) {
            double away = (held.mean[i] - g->centre[i]) * (held.mean[j] - g->centre[j]);
            square += it->T[i * p + j] * (held.S[i * q + j] + held.weight * away) /
                      (g->scale[i] * g->scale[j]);
        }
    for (size_t i = 0; i < p; i++) det -= 2 * log(g->scale[i]);
    *sum += -0.5 * (held.weight * ((double)p * log(2 * M_PI) - det) + square);
    *weight += held.weight;
done:
    cri_moments_free(cx, &held);
    return st;
}

static cr_status held_out(cr_ctx *cx, walk *w, double *out)
{
    cr_status st = CR_OK;
    double    sum = 0, weight = 0;
    for (size_t k = 0; k < w->n; k++) {
        CR_TRY(solve_part(cx, w->t, w->lambda, &w->parts[k], &w->late));
        CR_TRY(score_fold(cx, w, &w->parts[k], &sum, &weight));
    }
    *out = sum / weight;
done:
    return st;
}

static cr_status instability(cr_ctx *cx, walk *w, double *out)
{
    cr_status st = CR_OK;
    size_t    p = w->t->p;
    double    sum = 0;
    for (size_t k = 0; k < w->n; k++)
        CR_TRY(solve_part(cx, w->t, w->lambda, &w->parts[k], &w->late));
    count_edges(w->parts, w->n, p, w->share);
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < i; j++) sum += 2 * w->share[i * p + j] * (1 - w->share[i * p + j]);
    w->largest = fmax(w->largest, 2 * sum / ((double)p * (double)(p - 1)));
    *out = w->largest;
done:
    return st;
}

/* --- the path --------------------------------------------------------------------------------- */

static cr_status make_parts(cr_ctx *cx, walk *w)
{
    const cri_glasso_task *t = w->t;
    cr_status              st = CR_OK;
    size_t                 folds = t->folded->folds;
    uint32_t               all = (uint32_t)(((uint64_t)1 << folds) - 1);
    if (t->o->choose == CRI_GLASSO_STARS) return add_halves(cx, t, 2 * folds, w->parts, &w->n);
    for (size_t k = 0; t->o->choose == CRI_GLASSO_CV && k < folds; k++)
        if (t->folded->weight[k] > 0)
            CR_TRY(add_part(cx, t, all & ~((uint32_t)1 << k), w->parts, &w->n));
done:
    return st;
}

static cr_status fail_parts(cr_ctx *cx)
{
    cr_fail(cx, CR_EDATA,
            "glasso: too few rows for --choose cv or stars: in parts of them some "
            "column does not vary");
    return cr_fail_hint(cx, "--choose ebic needs no parts");
}

static double largest_covariance(const double *S, size_t p)
{
    double most = 0;
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < i; j++) most = fmax(most, fabs(S[i * p + j]));
    return most;
}

/* true where the criterion and the edges are those of the best: of penalties with one graph, the smallest shrinks
 * least. */
static bool is_same_graph(const cri_glasso_path *path, size_t k, double value)
{
    double best = path->value[path->chosen];
    return path->edges[k] == path->edges[path->chosen] && fabs(value - best) <= SAME * fabs(best);
}

/* out [pairs] the partial correlations under T. */
static void trace(const walk *w, double *out)
{
    size_t        p = w->t->p;
    const double *T = w->T;
    for (size_t i = 0, k = 0; i < p; i++)
        for (size_t j = 0; j < i; j++, k++)
            out[k] = -T[i * p + j] / sqrt(T[i * (p + 1)] * T[j * (p + 1)]);
}

/* Goes down the path whose penalties are there; best [p x p] is the precision of the best. */
static cr_status go_down(cr_ctx *cx, walk *w, cri_glasso_path *path, double *best,
                         cri_graphical_lasso_report *out)
{
    cr_status                 st = CR_OK;
    const cri_glasso_options *o = w->t->o;
    size_t                    p = w->t->p;
    bool                      stars = o->choose == CRI_GLASSO_STARS;
    double                    sign = o->choose == CRI_GLASSO_CV ? -1 : 1;
    for (size_t k = 0, n = path->tried; k < n; k++) {
        cri_graphical_lasso_report r;
        double                     value;
        w->lambda = path->lambda[k];
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(cri_glasso_at(cx, w->t, w->lambda, w->T, &r));
        if (o->choose == CRI_GLASSO_CV)
            CR_TRY(held_out(cx, w, &value));
        else if (stars)
            CR_TRY(instability(cx, w, &value));
        else
            CR_TRY(criterion(cx, w, r.edges, &value));
        path->edges[k] = (double)r.edges, path->value[k] = value;
        if (path->opt_partial) trace(w, path->opt_partial + k * (p * (p - 1) / 2));
        bool better = stars ? value <= o->instability
                            : sign * value < sign * path->value[path->chosen] ||
                                  is_same_graph(path, k, value);
        if (k == 0 || better) {
            path->chosen = k, *out = r;
            memcpy(best, w->T, w->t->p * w->t->p * sizeof *best);
        }
        path->late = w->late || r.late;
        bool ended = path->late || isnan(value) ||
                     (stars ? !better && k > 0 : w->t->p > MANY && k - path->chosen >= PATIENCE);
        if (ended) n = path->tried = k + 1;
    }
done:
    return st;
}

cr_status cri_glasso_choose_penalty(cr_ctx *cx, const cri_glasso_task *t, cri_glasso_path *path,
                                    double *T, cri_graphical_lasso_report *out)
{
    cr_status                 st = CR_OK;
    cr_scratch                s = cr_scratch_begin(cx);
    const cri_glasso_options *o = t->o;
    size_t                    p = t->p, most = 2 * t->folded->folds;
    double                    largest = largest_covariance(t->S, p);
    walk                      w = { .t = t, .parts = cr_scratch_bytes(&s, most, sizeof(part)) };
    w.T = cr_scratch_matrix(&s, p, p), w.refit = cr_scratch_matrix(&s, p, p);
    w.share = cr_scratch_matrix(&s, p, p);

    CR_TRY(s.status);
    memset(w.T, 0, p * p * sizeof *w.T);
    CR_TRY(make_parts(cx, &w));
    if (o->choose >= CRI_GLASSO_CV && w.n < 2) CR_TRY(fail_parts(cx));
    for (size_t k = 0; k < o->path; k++)
        path->lambda[k] = largest * pow(o->lambda_min_ratio, (double)k / (double)(o->path - 1));
    path->tried = o->path;
    CR_TRY(go_down(cx, &w, path, T, out));
done:
    if (w.parts) free_parts(cx, t, w.parts, most);
    cr_scratch_end(&s);
    return st;
}
