/* gmm_swap.c -- other optima of a mixture by moving one component to another place, and a run of EM from there.
 * The place is a row, with a share of the average covariance; or some rows that are near each other, with their mean
 * and covariance, which finds small clusters.  Moves that gain are kept, one after the other.  What such a run gains
 * shows late: after few steps the highest are those that close in on a few rows, so that each goes on until it gains
 * little, and ends that are spurious do not count.
 * Zhao, Hautamaki, Karkkainen & Franti (2012), Pattern Recognition 45. */
#include "gmm_start.h"
#include "base/scratch.h"
#include "base/sort.h"
#include "prob/dist/small_matrix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST = 3 }; /* moves that are tried */

typedef cri_gmm_trial trial;

/* A cell of the rows, the mean where it is missing. */
static double cell(const cri_gmm_rows *rows, size_t i, size_t j)
{
    double t = rows->T[i * rows->d + j];
    return isnan(t) ? 0 : t;
}

/* Rows nearest to a row: their mean and covariance. */
typedef struct group {
    const cri_gmm_rows *rows;
    size_t              row;
    double              weight;   /* of them */
    double             *mean, *S; /* [d], [d x d] */
} group;

typedef struct way {
    float  square; /* rounding does not decide */
    size_t row;
} way;

CRI_COMPARE_BY_TWO(compare_ways, way, square, row);

/* Distances are taken in units of the covariance A; missing cells are at the mean. */
static cr_status gather_near(cr_ctx *cx, const group *g, const double *A)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(cx);
    const cri_gmm_rows *rows = g->rows;
    size_t              d = rows->d;
    way                *ways = cr_scratch_bytes(&s, rows->n, sizeof *ways);
    double             *L = cr_scratch_matrix(&s, d, d), *z = cr_scratch_f64(&s, d), weight = 0;

    CR_TRY(s.status);
    bool whole = cri_factor_point(A, d, L);
    for (size_t i = 0; i < rows->n; i++) {
        ways[i].row = i;
        for (size_t j = 0; j < d; j++) z[j] = cell(rows, i, j) - cell(rows, g->row, j);
        if (whole) cri_solve_lower(L, d, z);
        double square = 0;
        for (size_t j = 0; j < d; j++) square += z[j] * z[j];
        ways[i].square = (float)square;
    }
    qsort(ways, rows->n, sizeof *ways, compare_ways);
    memset(g->mean, 0, d * sizeof(double));
    memset(g->S, 0, d * d * sizeof(double));
    for (size_t i = 0; i < rows->n && weight < g->weight; i++) {
        double w = fmin(rows->w[ways[i].row], g->weight - weight);
        weight += w;
        for (size_t j = 0; j < d; j++) z[j] = cell(rows, ways[i].row, j) - g->mean[j];
        for (size_t a = 0; a < d * d; a++) g->S[a] += w * (1 - w / weight) * z[a / d] * z[a % d];
        for (size_t j = 0; j < d; j++) g->mean[j] += w / weight * z[j];
    }
    for (size_t a = 0; a < d * d; a++) g->S[a] /= weight;
done:
    cr_scratch_end(&s);
    return st;
}

/* Component c goes to a place: a row with `spread` times the average covariance of the others and an equal share, or,
 * where `near` is not 0, so many rows nearest to that row, in units of the average covariance. */
static cr_status move_component(cr_ctx *cx, const cri_gmm_rows *rows, size_t c, size_t row,
                                double spread, double near, cri_gmm *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     d = m->d, size = d * m->width;
    bool       diagonal = cri_gmm_is_diagonal(m->form);
    double    *W = cr_scratch_matrix(&s, m->k, size), *C = cr_scratch_matrix(&s, m->k, size);
    double    *S = cr_scratch_matrix(&s, d, d), *A = cr_scratch_bytes(&s, d * d, sizeof(double));
    double    *N = cr_scratch_f64(&s, m->k), share, rest;
    group      g = { rows, row, near, m->mean + c * d, S };

    CR_TRY(s.status);
    rest = 1 - m->share[c];
    for (size_t other = 0; other < m->k; other++) {
        if (other == c) continue;
        cri_gmm_covariance(m, other, S);
        for (size_t a = 0; a < size; a++) W[other * size + a] = S[diagonal ? a * (d + 1) : a];
        for (size_t a = 0; a < d * d; a++) A[a] += S[a] / (double)(m->k - 1);
    }
    share = near > 0 ? fmin(near / rows->weight, 0.5) : 1 / (double)m->k;
    if (near > 0)
        CR_TRY(gather_near(cx, &g, A));
    else
        for (size_t j = 0; j < d; j++) g.mean[j] = cell(rows, row, j);
    for (size_t a = 0; a < size; a++) {
        size_t at = diagonal ? a * (d + 1) : a;
        W[c * size + a] = near > 0 ? S[at] + 0.03 * A[at] : spread * A[at];
    }
    for (size_t i = 0; i < m->k; i++) {
        N[i] = m->share[i] = i == c ? share : m->share[i] / rest * (1 - share);
        for (size_t a = 0; a < size; a++) W[i * size + a] *= N[i];
    }
    CR_TRY(cri_gmm_covariances(cx, m, W, N, C));
    m->lost = !cri_gmm_set_covariances(m, C);
    if (!m->lost) cri_gmm_prepare(m);
done:
    cr_scratch_end(&s);
    return st;
}

/* One of the components, at random, goes to a place at random. */
static cr_status move_any(cr_ctx *cx, const cri_gmm_rows *rows, cr_rng *r, cri_gmm *m)
{
    size_t c = (size_t)cr_rng_below(r, m->k), row = cri_gmm_draw_row(rows, NULL, r);
    bool   local = cr_rng_uniform(r) < 0.5;
    double u = cr_rng_uniform(r), low = (double)m->d + 2, near = 0;
    double high = fmax(0.5 * rows->weight / (double)m->k, low);
    if (local) near = fmin(floor(low * pow(high / low, u)), rows->weight);
    return move_component(cx, rows, c, row, pow(10, -2 * fmax(2 * u - 1, 0)), near, m);
}

cr_status cri_gmm_swap(cr_ctx *cx, const cri_gmm_rows *rows, const cri_gmm *from, double effort,
                       bool away, cr_rng *rng, cri_gmm *m)
{
    cr_status st = CR_OK;
    size_t swaps = (size_t)fmin(fmax(effort / (rows->weight * (double)m->k), LEAST), effort / 500);
    double enough = CRI_GMM_ENOUGH * rows->weight, reached;
    bool   gained = false;
    trial  best = { 0 }, other = { 0 };

    CR_TRY(cri_gmm_trial_open(cx, m, &best));
    CR_TRY(cri_gmm_trial_open(cx, m, &other));
    cri_gmm_take(from, best.kept);
    cri_gmm_take(from, m);
    CR_TRY(cri_gmm_try(cx, rows, 0, m, &best));
    for (size_t b = 0; b < swaps; b++) {
        cri_gmm_take(best.kept, m);
        CR_TRY(move_any(cx, rows, rng, m));
        CR_TRY(cri_gmm_short_run(cx, rows, CRI_GMM_LONG_RUN, m, &reached));
        bool   gains = reached > best.best + enough;
        trial *at = gains ? &best : &other;
        gained |= gains;
        if (reached > at->best) at->best = reached, cri_gmm_take(m, at->kept);
    }
    cri_gmm_take(away && !gained && other.best > -INFINITY ? other.kept : best.kept, m);
done:
    cri_state_free(cx, &cri_class_gmm, best.kept);
    cri_state_free(cx, &cri_class_gmm, other.kept);
    return st;
}
