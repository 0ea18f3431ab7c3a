/* factors_gaps.c -- hidden factors where cells are missing: EM over the cells.
 * With o the cells of a row that are there and m those that are not, t_m given t_o is normal with
 *   mean W_m^T z,  covariance W_m^T M_o^-1 W_m + diag psi_m,   z = M_o^-1 b_o,
 * so that the expected t and t t^T of all rows, which a fit to whole rows would take, cost no matrix of p x p to
 * be factored.  Dempster, Laird & Rubin (1977); Little & Rubin (2002), sec. 11.3. */
#include "factors.h"
#include "base/context_internal.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "math/constants.h"
#include "prob/dist/small_matrix.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 64 };

bool cri_rows_have_gaps(const cri_rows *rows)
{
    double x[256];
    size_t most = sizeof x / sizeof *x;
    for (size_t j = 0; j < rows->p && rows->design->missing == CR_MISSING_KEEP; j++)
        for (size_t i = 0; i < rows->n; i += most) {
            size_t n = rows->n - i < most ? rows->n - i : most;
            cri_rows_fill_term(rows, j, i, i + n, x, 1);
            for (size_t k = 0; k < n; k++)
                if (isnan(x[k])) return true;
        }
    return false;
}

double cri_factors_score_gaps(const cri_factors *m, const double *t, double *z, double *L)
{
    size_t p = m->p, q = m->q;
    double sum = 0, square = 0;
    for (size_t a = 0; a < q; a++) {
        z[a] = 0;
        for (size_t b = 0; b < q; b++) L[a * q + b] = a == b;
    }
    for (size_t j = 0; j < p; j++) {
        if (isnan(t[j])) continue;
        double over = 1 / m->psi[j];
        sum -= 0.5 * (CRI_LOG_2PI + log(m->psi[j]) + t[j] * t[j] * over);
        for (size_t a = 0; a < q; a++) {
            double w = m->loading[a * p + j] * over;
            z[a] += w * t[j];
            for (size_t b = 0; b <= a; b++) L[a * q + b] += w * m->loading[b * p + j];
        }
    }
    for (size_t a = 0; a < q; a++)
        for (size_t b = a + 1; b < q; b++) L[a * q + b] = L[b * q + a];
    cri_factor_point(L, q, L); /* M is I and more: it has a factor */
    cri_solve_lower(L, q, z);
    for (size_t a = 0; a < q; a++) square += z[a] * z[a];
    cri_solve_upper(L, q, z);
    return sum + 0.5 * square - 0.5 * cri_log_det(L, q);
}

/* --- what is expected of all rows ------------------------------------------------------------- */

typedef struct expecting {
    const cri_factors *m;
    const cri_rows    *rows;
} expecting;

/* log likelihood, weight, sum t [p], sum t t^T [p x p]; only its lower triangle is summed. */
static size_t sums_of(size_t p) { return 2 + p + p * p; }

/* Adds w times the covariance of the gaps of a row to S: column c of Y [q x p] is L^-1 W_c. */
static void add_covariance(const cri_factors *m, const bool *gap, const double *L, double w,
                           double *Y, double *S)
{
    size_t p = m->p, q = m->q;
    for (size_t c = 0; c < p; c++) {
        if (!gap[c]) continue;
        for (size_t a = 0; a < q; a++) Y[c * q + a] = m->loading[a * p + c];
        cri_solve_lower(L, q, Y + c * q);
        S[c * p + c] += w * m->psi[c];
        for (size_t d = 0; d <= c; d++) {
            if (!gap[d]) continue;
            double dot = 0;
            for (size_t a = 0; a < q; a++) dot += Y[c * q + a] * Y[d * q + a];
            S[c * p + d] += w * dot;
        }
    }
}

/* Workspace: t [p], z [q], L [q x q], Y [p x q], gap [p]. */
static size_t workspace_of(const cri_factors *m)
{
    return m->p + m->q + m->q * m->q + m->p * m->q + m->p;
}

static void expect_block(void *arg, cri_range range, double *sums, double *work)
{
    const expecting   *x = arg;
    const cri_factors *m = x->m;
    size_t             p = m->p, q = m->q;
    double            *t = work, *z = t + p, *L = z + q, *Y = L + q * q, *S = sums + 2 + p;
    bool              *gap = (bool *)(Y + p * q);
    for (size_t i = range.begin; i < range.end; i++) {
        double w = x->rows->w ? x->rows->w[i] : 1;
        bool   any = false;
        cri_rows_fill(x->rows, i, i + 1, t, p);
        for (size_t j = 0; j < p; j++) {
            t[j] = (t[j] - m->centre[j]) / m->scale[j];
            any |= gap[j] = isnan(t[j]);
        }
        sums[0] += w * cri_factors_score_gaps(m, t, z, L);
        sums[1] += w;
        for (size_t j = 0; j < p; j++) {
            if (gap[j]) t[j] = 0;
            for (size_t a = 0; a < q && gap[j]; a++) t[j] += m->loading[a * p + j] * z[a];
            if (!gap[j]) sums[0] -= w * log(m->scale[j]);
            sums[2 + j] += w * t[j];
        }
        for (size_t j = 0; j < p; j++)
            for (size_t k = 0; k <= j; k++) S[j * p + k] += w * t[j] * t[k];
        if (any) add_covariance(m, gap, L, w, Y, S);
    }
}

/* --- steps ------------------------------------------------------------------------------------ */

/* Mean and sd of the cells that are there; psi 1 and no factors: columns that have nothing to do with each other. */
static cr_status start(cr_ctx *cx, const cri_rows *rows, bool standardise, cri_factors *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     p = m->p;
    double    *x = cr_scratch_f64(&s, p), *weight = cr_scratch_f64(&s, p);
    double    *square = cr_scratch_f64(&s, p);
    CR_TRY(s.status);
    memset(square, 0, p * sizeof *square);
    for (int pass = 0; pass < 2; pass++) {
        memset(weight, 0, p * sizeof *weight);
        for (size_t i = 0; i < rows->n; i++) {
            double w = rows->w ? rows->w[i] : 1;
            cri_rows_fill(rows, i, i + 1, x, p);
            for (size_t j = 0; j < p; j++) {
                if (isnan(x[j])) continue;
                weight[j] += w;
                if (pass == 0)
                    m->centre[j] += w * x[j];
                else
                    square[j] += w * (x[j] - m->centre[j]) * (x[j] - m->centre[j]);
            }
        }
        for (size_t j = 0; j < p && pass == 0; j++) {
            if (!(weight[j] > 0))
                CR_TRY(cr_fail(cx, CR_EDATA, "every cell of '%s' is missing",
                               cr_design_term_name(rows->design, j)));
            m->centre[j] /= weight[j];
        }
    }
    for (size_t j = 0; j < p; j++) {
        double variance = square[j] / weight[j];
        bool   varies = variance > 0;
        m->scale[j] = standardise && varies ? sqrt(variance) : 1;
        m->psi[j] = varies ? variance / (m->scale[j] * m->scale[j]) : 1;
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* C [p x p] and the step of the centre from the sums. */
static void find_covariance(const double *sums, cri_factors *m, double *C)
{
    size_t        p = m->p;
    double        n = sums[1];
    const double *mean = sums + 2, *S = sums + 2 + p;
    for (size_t j = 0; j < p; j++)
        for (size_t k = 0; k <= j; k++)
            C[j * p + k] = C[k * p + j] = S[j * p + k] / n - mean[j] / n * (mean[k] / n);
    for (size_t j = 0; j < p; j++) m->centre[j] += m->scale[j] * mean[j] / n;
}

cr_status cri_factors_fit_gaps(cr_ctx *cx, const cri_rows *rows, const cri_gaps_options *o,
                               cri_factors_solve_fn *solve, void *user, cri_factors *m,
                               cri_gaps_report *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     p = m->p, width = sums_of(p);
    double    *sums = cr_scratch_f64(&s, width), before = -INFINITY;
    expecting  x = { m, rows };
    cri_clock  clock = cri_clock_start(cx, NAN);
    bool       own_bar = cri_progress_open_steps(cx, "EM");

    CR_TRY(s.status);
    if (!o->warm) CR_TRY(start(cx, rows, o->standardise, m));
    for (out->iterations = 0;; out->iterations++) {
        CR_TRY(cr_check_interrupt(cx));
        memset(sums, 0, width * sizeof *sums);
        CR_TRY(cri_parallel_sum_in(cx, NULL, rows->n, BLOCK, width, workspace_of(m), expect_block,
                                   &x, sums));
        if (!isfinite(sums[0]))
            CR_TRY(cr_fail(cx, CR_ENUMERIC, "the likelihood is not finite after %zu steps",
                           out->iterations));
        out->log_likelihood = sums[0], out->n = sums[1];
        cri_progress_steps(cx, (double)out->iterations);
        out->converged = out->iterations > 0 && sums[0] - before <= o->tol * sums[1];
        out->cut = !out->converged && out->iterations > 0 && cri_clock_over(&clock);
        if (out->converged || out->cut || out->iterations == o->max_iter) break;
        before = sums[0];
        find_covariance(sums, m, out->C);
        CR_TRY(solve(cx, user, out->C, sums[1], m));
    }
done:
    if (own_bar) cri_progress_close(cx);
    cr_scratch_end(&s);
    return st;
}
