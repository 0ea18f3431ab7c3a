/* fa_gaps.c -- factor analysis of rows with missing cells.
 * First the covariance without any bound, by EM over the cells, as that of p - 1 factors and noise of one size, which is
 * any covariance: the number of factors and a start follow from it, and the likelihood that a test of fit compares with.
 * Then EM for the factors, whose every step maximises the likelihood of what is expected from where it is on. */
#include "components.h"
#include "fa.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

static const double MOST = 2e10;  /* operations that the information may take */
static const double FLOOR = 1e-9; /* of the smallest eigenvalue, by their mean */

/* --- a covariance without bound --------------------------------------------------------------- */

static cr_status solve_any(cr_ctx *cx, void *user, const double *C, double n, cri_factors *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     p = m->p, rank;
    double    *lambda = cr_scratch_f64(&s, p), *V = cr_scratch_matrix(&s, p, p), total = 0;
    (void)user, (void)n;

    CR_TRY(s.status);
    CR_TRY(cri_directions(cx, C, p, lambda, V, &rank));
    for (size_t j = 0; j < p; j++) total += lambda[j];
    double noise = fmax(lambda[p - 1], FLOOR * total / (double)p);
    for (size_t j = 0; j < p; j++) m->psi[j] = noise;
    for (size_t a = 0; a + 1 < p; a++)
        for (size_t i = 0; i < p; i++)
            m->loading[a * p + i] = sqrt(fmax(lambda[a] - noise, 0)) * V[i * p + a];
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_fa_fit_any(cr_ctx *cx, const cri_rows *rows, const cri_fa_options *o, cri_fa_any *out)
{
    cr_status        st = CR_OK;
    cri_factors      m = { .p = rows->p, .q = rows->p - 1 };
    cri_gaps_options how = { o->tol, o->max_iter, rows->design->standardised, false };
    cri_gaps_report  report = { .C = out->C };
    CR_TRY(cri_record_allocate(cx, cri_factors_record, &m));
    memset(m.centre, 0, m.p * sizeof *m.centre);
    memset(m.loading, 0, m.q * m.p * sizeof *m.loading);
    CR_TRY(cri_factors_fit_gaps(cx, rows, &how, solve_any, NULL, &m, &report));
    memcpy(out->centre, m.centre, m.p * sizeof *m.centre);
    memcpy(out->scale, m.scale, m.p * sizeof *m.scale);
    out->log_likelihood = report.log_likelihood;
done:
    cri_record_free(cx, cri_factors_record, &m);
    return st;
}

/* --- the factors ------------------------------------------------------------------------------ */

/* The best for a covariance, from the uniquenesses that m has. */
static cr_status solve(cr_ctx *cx, void *user, const double *C, double n, cri_factors *m)
{
    cr_status             st = CR_OK;
    cr_scratch            s = cr_scratch_begin(cx);
    const cri_fa_options *o = user;
    size_t                p = m->p, q = m->q;
    double               *R = cr_scratch_matrix(&s, p, p), *psi = cr_scratch_f64(&s, p);
    cri_fa_maximum        end = { .psi = m->psi, .W = m->loading };
    (void)n;

    CR_TRY(s.status);
    for (size_t i = 0; i < p; i++) {
        psi[i] = fmin(fmax(m->psi[i] / C[i * p + i], o->least_uniqueness), 1);
        for (size_t j = 0; j < p; j++)
            R[i * p + j] = C[i * p + j] / sqrt(C[i * p + i] * C[j * p + j]);
    }
    CR_TRY(cri_fa_maximise(cx, R, p, q, o, psi, &end));
    for (size_t i = 0; i < p; i++) {
        m->psi[i] *= C[i * p + i];
        for (size_t a = 0; a < q; a++) m->loading[a * p + i] *= sqrt(C[i * p + i]);
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_fa_fit_gaps(cr_ctx *cx, const cri_rows *rows, const cri_fa_options *o,
                          const cri_fa_any *any, cri_factors *m, cri_gaps_report *out)
{
    cri_gaps_options how = { o->tol, o->max_iter, rows->design->standardised, true };
    cri_fa_options   inner = *o;
    memcpy(m->centre, any->centre, m->p * sizeof *m->centre);
    memcpy(m->scale, any->scale, m->p * sizeof *m->scale);
    return cri_factors_fit_gaps(cx, rows, &how, solve, &inner, m, out);
}

/* --- the information -------------------------------------------------------------------------- */

/* The columns of row i that are there: their number, and where; x [p] is workspace. */
static size_t find_cells(const cri_rows *rows, size_t i, double *x, size_t *at)
{
    size_t n = 0;
    cri_rows_fill(rows, i, i + 1, x, rows->p);
    for (size_t j = 0; j < rows->p; j++)
        if (!isnan(x[j])) at[n++] = j;
    return n;
}

cr_status cri_fa_gaps_information(cr_ctx *cx, const cri_rows *rows, const cri_fa_fitted *of,
                                  double *I, bool *out_known)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     p = rows->p, *at = cr_scratch_index(&s, p), *all = cr_scratch_index(&s, p);
    double    *x = cr_scratch_f64(&s, p), whole = 0, cost = 0;
    double     square = (double)cri_fa_width(p, of->q) * (double)cri_fa_width(p, of->q);

    CR_TRY(s.status);
    *out_known = true;
    for (size_t j = 0; j < p; j++) all[j] = j;
    for (size_t i = 0; i < rows->n && *out_known; i++) {
        double w = rows->w ? rows->w[i] : 1;
        size_t n = find_cells(rows, i, x, at);
        if (n == p) whole += w;
        if (n == p || n == 0 || !(w > 0)) continue;
        cost += square + pow((double)n, 3);
        *out_known = cost <= MOST;
        if (*out_known) CR_TRY(cri_fa_add_information(cx, of, at, n, w, I));
    }
    if (whole > 0 && *out_known) CR_TRY(cri_fa_add_information(cx, of, all, p, whole, I));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- the rows --------------------------------------------------------------------------------- */

cr_status cri_fa_survey(cr_ctx *cx, const cri_rows *rows, size_t *out_constant, double *out_n)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     p = rows->p, *at = cr_scratch_index(&s, p);
    double    *x = cr_scratch_f64(&s, p), *low = cr_scratch_f64(&s, p);
    double    *high = cr_scratch_f64(&s, p), total = 0;

    CR_TRY(s.status);
    for (size_t j = 0; j < p; j++) low[j] = INFINITY, high[j] = -INFINITY;
    for (size_t i = 0; i < rows->n; i++) {
        double w = rows->w ? rows->w[i] : 1;
        size_t n = find_cells(rows, i, x, at);
        if (!(w > 0)) continue;
        total += n > 0 ? w : 0;
        for (size_t k = 0; k < n; k++) {
            low[at[k]] = fmin(low[at[k]], x[at[k]]);
            high[at[k]] = fmax(high[at[k]], x[at[k]]);
        }
    }
    *out_n = total;
    *out_constant = p;
    for (size_t j = p; j-- > 0;)
        if (low[j] == high[j]) *out_constant = j;
done:
    cr_scratch_end(&s);
    return st;
}
