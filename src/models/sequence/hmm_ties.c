/* hmm_ties.c -- see hmm_ties.h.  The M-step of A with ties: with C_r the counts of name r together, which stands m_ir times in
 * row i, and F_i those of the entries of row i without a name,
 *   maximise   sum_r C_r log theta_r + sum_ij c_ij log A_ij,   sum_r m_ir theta_r + sum_j A_ij = 1 in each row,
 * which is concave, so that it is the one point with  A_ij = c_ij / l_i,  theta_r = C_r / sum_i m_ir l_i  whose rows sum to
 * one.  The multipliers l minimise the convex dual
 *   g(l) = sum_i l_i - sum_i F_i log l_i - sum_r C_r log(sum_i m_ir l_i),   dg / dl_i = 1 - the sum of row i,
 * by Newton's method with a search along the line, O(k^3) a step.  Rows that are alike have no l of their own: a hair on
 * the diagonal chooses one.  Counts are taken as shares, so that g has no units. */
#include "hmm_ties.h"
#include "base/scratch.h"
#include "prob/dist/small_matrix.h"

#include <math.h>
#include <string.h>

enum { MOST_STEPS = 200 };
static const double HAIR = 1e-10, ENOUGH = 1e-13, GOOD = 1e-9, SMALLEST = 1e-9;

typedef struct duel {
    const cri_hmm *m;
    size_t         k;
    const double  *c;                         /* [k x k] */
    double        *C, *u;                     /* [k x k] of names, by their number less 1 */
    double        *mult;                      /* [k x k] how often each name stands in a row */
    double        *F, *l, *at, *slope, *step; /* [k] */
    double        *H, *L;                     /* [k x k] */
} duel;

size_t cri_hmm_ties_work(const cri_hmm *m) { return m->ties > 0 ? 5 * m->k * (m->k + 1) : 0; }

static duel open_duel(const cri_hmm *m, const double *c, double *work)
{
    size_t k = m->k, kk = k * k;
    duel   d = { .m = m, .k = k, .c = c };
    d.C = work, d.u = d.C + kk, d.mult = d.u + kk, d.H = d.mult + kk, d.L = d.H + kk;
    d.F = d.L + kk, d.l = d.F + k, d.at = d.l + k, d.slope = d.at + k, d.step = d.slope + k;
    return d;
}

static bool is_possible(const duel *d, size_t e) { return d->m->may_go[e] > 0; }

/* Counts by name and, without one, by row. */
static void pool(duel *d, double total)
{
    size_t k = d->k;
    memset(d->C, 0, k * k * sizeof *d->C);
    memset(d->F, 0, k * sizeof *d->F);
    for (size_t e = 0; e < k * k; e++) {
        size_t r = d->m->tie[e];
        if (is_possible(d, e)) *(r > 0 ? &d->C[r - 1] : &d->F[e / k]) += d->c[e] / total;
    }
}

/* g at l, with u; infinite where l is not allowed. */
static double dual(duel *d, const double *l)
{
    size_t k = d->k;
    double g = 0;
    memset(d->u, 0, k * k * sizeof *d->u);
    for (size_t e = 0; e < k * k; e++)
        if (is_possible(d, e) && d->m->tie[e] > 0) d->u[d->m->tie[e] - 1] += l[e / k];
    for (size_t i = 0; i < k; i++) {
        g += l[i];
        if (d->F[i] > 0) g -= l[i] > 0 ? d->F[i] * log(l[i]) : -INFINITY;
    }
    for (size_t r = 0; r < k * k; r++)
        if (d->C[r] > 0) g -= d->u[r] > 0 ? d->C[r] * log(d->u[r]) : -INFINITY;
    return g;
}

/* slope and H at l, of which u is known; the largest slope. */
static double differentiate(duel *d)
{
    size_t k = d->k;
    double most = 0;
    memset(d->H, 0, k * k * sizeof *d->H);
    for (size_t b = 0; b < k; b++) {
        const double *l = d->l;
        memset(d->mult, 0, k * k * sizeof *d->mult);
        for (size_t e = b * k; e < b * k + k; e++)
            if (is_possible(d, e) && d->m->tie[e] > 0) d->mult[d->m->tie[e] - 1] += 1;
        d->slope[b] = 1 - (d->F[b] > 0 ? d->F[b] / l[b] : 0);
        for (size_t e = 0; e < k * k; e++) {
            size_t r = d->m->tie[e];
            if (!is_possible(d, e) || r == 0) continue;
            double theta = d->C[r - 1] / d->u[r - 1];
            d->H[e / k * k + b] += d->mult[r - 1] * theta / d->u[r - 1];
            if (e / k == b) d->slope[b] -= theta;
        }
        if (d->F[b] > 0) d->H[b * k + b] += d->F[b] / (l[b] * l[b]);
        most = fmax(most, fabs(d->slope[b]));
    }
    return most;
}

/* The direction of Newton; false where rounding leaves none. */
static bool find_step(duel *d)
{
    size_t k = d->k;
    for (size_t i = 0; i < k; i++) {
        for (size_t j = 0; j < i; j++) /* the same number up to rounding */
            d->H[j * k + i] = d->H[i * k + j];
        d->at[i] = sqrt(d->H[i * k + i]);
    }
    for (size_t e = 0; e < k * k; e++) d->H[e] /= d->at[e / k] * d->at[e % k];
    for (size_t i = 0; i < k; i++) d->H[i * k + i] = 1 + HAIR * (double)k;
    if (!cri_factor_point(d->H, k, d->L)) return false;
    for (size_t i = 0; i < k; i++) d->step[i] = -d->slope[i] / d->at[i];
    cri_solve_lower(d->L, k, d->step);
    cri_solve_upper(d->L, k, d->step);
    for (size_t i = 0; i < k; i++) d->step[i] /= d->at[i];
    return true;
}

/* Goes along the step as far as g falls; false where it does not. */
static bool go_along(duel *d, double *g)
{
    double rate = 0, rounding = 1e-14 * (1 + fabs(*g)), t = 1;
    for (size_t i = 0; i < d->k; i++) rate += d->slope[i] * d->step[i];
    for (int tries = 0; tries < 60; tries++, t /= 2) {
        for (size_t i = 0; i < d->k; i++) d->at[i] = d->l[i] + t * d->step[i];
        double next = dual(d, d->at);
        if (!(next <= *g + 1e-4 * t * rate + rounding)) continue;
        memcpy(d->l, d->at, d->k * sizeof *d->l);
        *g = next;
        return true;
    }
    return false;
}

bool cri_hmm_solve_ties(const cri_hmm *m, const double *count, double *A, double *work)
{
    duel   d = open_duel(m, count, work);
    size_t k = m->k;
    double total = 0, g, most = INFINITY;
    for (size_t e = 0; e < k * k; e++) total += is_possible(&d, e) ? count[e] : 0;
    if (!(total > 0) || !isfinite(total)) return false;
    pool(&d, total);
    for (size_t i = 0; i < k; i++) { /* exact where nothing is tied */
        d.l[i] = 0;
        for (size_t j = 0; j < k; j++)
            d.l[i] += is_possible(&d, i * k + j) ? count[i * k + j] / total : 0;
        if (!(d.l[i] > 0)) return false;
    }
    g = dual(&d, d.l);
    for (int steps = 0; steps < MOST_STEPS; steps++) {
        double before = most;
        most = differentiate(&d);
        bool still = most < GOOD && most > before / 2; /* rounding decides */
        if (most <= ENOUGH || still || !find_step(&d) || !go_along(&d, &g)) break;
    }
    if (!(most <= GOOD)) return false;
    dual(&d, d.l);
    for (size_t e = 0; e < k * k; e++) {
        size_t r = m->tie[e];
        A[e] = !is_possible(&d, e) ? 0
               : r > 0             ? d.C[r - 1] / d.u[r - 1]
                                   : count[e] / total / d.l[e / k];
    }
    return true;
}

/* --- which are free -------------------------------------------------------------------------- */

/* Takes the column [k] of an entry, or of a name, into a basis of those before it; false where it is one of them. */
static bool extend(double *basis, size_t rank, size_t k, double *column)
{
    size_t top = 0;
    for (size_t b = 0; b < rank; b++) { /* each is 1 in a row in which those behind it are 0 */
        const double *of = basis + b * (k + 1);
        double        by = column[(size_t)of[k]];
        for (size_t i = 0; i < k && by != 0; i++) column[i] -= by * of[i];
        column[(size_t)of[k]] = 0;
    }
    for (size_t i = 1; i < k; i++) top = fabs(column[i]) > fabs(column[top]) ? i : top;
    if (!(fabs(column[top]) > 1e-9)) return false;
    double *to = basis + rank * (k + 1), pivot = column[top];
    for (size_t i = 0; i < k; i++) to[i] = column[i] / pivot;
    to[k] = (double)top;
    return true;
}

/* Each row's sum takes one number, the largest there are: n numbers less the rank of the sums remain. */
size_t cri_hmm_ties_free(const cri_hmm *m, double *free, double *work)
{
    size_t  k = m->k, n = 0, rank = 0;
    double *basis = work, *column = basis + k * (k + 1), *left = column + k;
    for (size_t e = 0; e < k * k; e++) {
        bool first = m->may_go[e] > 0;
        for (size_t f = 0; f < e && first && m->tie[e] > 0; f++) first = m->tie[f] != m->tie[e];
        left[e] = first ? m->A[e] : -1;
        free[e] = first;
        n += first;
    }
    for (size_t tried = 0; tried < n && rank < k; tried++) {
        size_t top = 0;
        for (size_t e = 1; e < k * k; e++) top = left[e] > left[top] ? e : top;
        left[top] = -1;
        for (size_t i = 0; i < k; i++) {
            column[i] = i == top / k && m->tie[top] == 0;
            for (size_t j = 0; j < k && m->tie[top] > 0; j++)
                column[i] += m->may_go[i * k + j] > 0 && m->tie[i * k + j] == m->tie[top];
        }
        if (!extend(basis, rank, k, column)) continue;
        rank++;
        free[top] = 0;
    }
    return n - rank;
}

double cri_hmm_transition_rows(const cri_hmm *m, size_t i, size_t j)
{
    size_t k = m->k;
    double rows = 0;
    if (m->ties == 0 || m->tie[i * k + j] == 0) return m->share[i] * m->weight;
    for (size_t e = 0; e < k * k; e++)
        rows += m->tie[e] == m->tie[i * k + j] ? m->share[e / k] * m->weight : 0;
    return rows;
}

/* --- a start --------------------------------------------------------------------------------- */

static cr_status check_possible(cr_ctx *cx, const cri_hmm *m)
{
    size_t k = m->k;
    for (size_t e = 0; e < k * k; e++)
        for (size_t f = e + 1; f < k * k && m->tie[e] > 0; f++)
            if (m->tie[e] == m->tie[f] && (m->may_go[e] > 0) != (m->may_go[f] > 0))
                return cr_fail(cx, CR_EARG,
                               "hmm: A[%zu,%zu] and A[%zu,%zu] are tied, but only one of them may "
                               "be above 0",
                               e / k + 1, e % k + 1, f / k + 1, f % k + 1);
    for (size_t e = 0; e < k * k; e++)
        if (!(m->may_go[e] > 0)) m->tie[e] = 0;
    return CR_OK;
}

cr_status cri_hmm_ties_settle(cr_ctx *cx, cri_hmm *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     k = m->k;
    double    *ones = cr_scratch_matrix(&s, k, k), *A = cr_scratch_matrix(&s, k, k), least = 1;
    double    *work = cr_scratch_f64(&s, cri_hmm_ties_work(m));
    bool       solved;

    CR_TRY(s.status);
    CR_TRY(check_possible(cx, m));
    for (size_t e = 0; e < k * k; e++) ones[e] = 1;
    solved = cri_hmm_solve_ties(m, ones, A, work);
    for (size_t e = 0; e < k * k && solved; e++)
        least = m->may_go[e] > 0 ? fmin(least, A[e]) : least;
    if (!solved || !(least > SMALLEST)) {
        cr_fail(cx, CR_EARG,
                "hmm: no transitions above 0 have rows that sum to one and these ties");
        CR_TRY(cr_fail_hint(
            cx, "the names of one row say what it sums to: [\"a\", \"a\"] is one half each"));
    }
    memcpy(ones, m->A, k * k * sizeof *ones);
    if (cri_hmm_solve_ties(m, ones, A, work)) memcpy(m->A, A, k * k * sizeof *A);
    m->free_transitions = cri_hmm_ties_free(m, ones, work);
done:
    cr_scratch_end(&s);
    return st;
}

bool cri_hmm_ties_fit(const cri_hmm *m)
{
    size_t k = m->k;
    if (m->ties == 0) return m->free_transitions == 0;
    if (m->ties != k || k > CRI_HMM_MOST_TIED || m->stages > 0 || m->alpha > 0 ||
        !(m->prior_transitions > 0) || m->free_transitions > k * k)
        return false;
    for (size_t e = 0; e < k * k; e++)
        if (m->tie[e] > k * k || (m->tie[e] > 0 && !(m->may_go[e] > 0))) return false;
    return true;
}
