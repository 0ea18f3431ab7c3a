/* least_squares.c -- what the roads to a least-squares fit share: the choice of one, the noise, the
 * factor of the covariance, and the names of terms that have no coefficient of their own. */
#include "least_squares.h"
#include "bordered.h"
#include "base/quoted.h"

#include <math.h>
#include <string.h>

CRI_RECORD_TABLE(, cri_least_squares_record, cri_least_squares, CRI_LEAST_SQUARES);

cr_status cri_least_squares_auto(cr_ctx *cx, const cri_rows *rows, bool intercept,
                                 cri_predictor *out_fit, cri_least_squares *out_facts)
{
    double n = (double)rows->n, p = (double)rows->p;
    bool   good = false;
    if (cri_bordered_pays(rows)) {
        cr_status st =
            cri_least_squares_levels(cx, rows, intercept, true, out_fit, out_facts, &good);
        if (st != CR_OK || good) return st;
    }
    if (n * p * p > 1e6 && n > 4 * p) {
        cr_status st = cri_least_squares_gram(cx, rows, intercept, out_fit, out_facts, NULL, &good);
        if (st != CR_OK || good) return st;
    }
    return cri_least_squares_qr(cx, rows, intercept, out_fit, out_facts);
}

void cri_predictor_set_noise(cri_predictor *fit, bool intercept, double weight, size_t rank,
                             double rss)
{
    fit->has_intercept = intercept;
    fit->mean_share = intercept && !fit->start ? 1 / weight : 0;
    fit->dof = weight - (double)rank - intercept;
    fit->sigma = fit->dof > 0 ? sqrt(rss / fit->dof) : NAN;
    cri_predictor_set_sds(fit);
}

cr_status cri_qr_end_at_rounding(cr_ctx *cx, cr_qr *qr, const double *centre, const double *scale,
                                 double unit, double *v)
{
    cr_status st = CR_OK;
    size_t    rank = qr->rank, k = 0;
    for (; k < rank; k++) {
        CR_TRY(cr_check_interrupt(cx));
        const double *r = qr->factors + k * qr->m; /* column k of R */
        double        rounding = 0;
        memcpy(v, r, k * sizeof(double));
        v[k] = 1;
        qr->rank = k;
        cr_qr_solve_r(qr, false, v);
        for (size_t j = 0; j <= k; j++) {
            size_t a = qr->pivot[j];
            rounding = hypot(rounding, v[j] * hypot(1, centre[a] / scale[a]));
        }
        if (!(fabs(r[k]) > unit * rounding)) break;
    }
done:
    qr->rank = k;
    return st;
}

/* v [k] less its projection on the rows of basis [kept x k], twice for its rounding; its norm. */
static double leave_basis(const double *basis, size_t kept, size_t k, double *v)
{
    double square = 0;
    for (size_t i = 0; i < 2 * kept; i++) {
        const double *e = basis + i % kept * k;
        double        dot = 0;
        for (size_t r = 0; r < k; r++) dot += e[r] * v[r];
        for (size_t r = 0; r < k; r++) v[r] -= dot * e[r];
    }
    for (size_t r = 0; r < k; r++) square += v[r] * v[r];
    return sqrt(square);
}

/* Marks the terms, in their order, that are farther than `tolerance` times their size from all
 * marked before; at[j] is where term j stands in R.  How many. */
static cr_status mark_earlier(cr_ctx *cx, const cr_qr *qr, const size_t *at, double tolerance,
                              double *basis, bool *keep, size_t *out_kept)
{
    cr_status st = CR_OK;
    size_t    k = qr->rank, kept = 0;
    for (size_t j = 0; j < qr->n; j++) {
        CR_TRY(cr_check_interrupt(cx));
        double *v = basis + kept * k, size;
        keep[j] = false;
        if (kept == k) continue;
        memset(v, 0, k * sizeof *v);
        memcpy(v, qr->factors + at[j] * qr->m, (at[j] < k ? at[j] + 1 : k) * sizeof *v);
        size = leave_basis(basis, 0, k, v);
        double far = leave_basis(basis, kept, k, v);
        keep[j] = far > tolerance * size;
        for (size_t r = 0; keep[j] && r < k; r++) v[r] /= far;
        kept += keep[j];
    }
    *out_kept = kept;
done:
    return st;
}

cr_status cri_qr_prefer_earlier(cr_ctx *cx, double *C, cr_qr *qr)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     k = qr->rank, p = qr->n, n = qr->m, kept = 0;
    double    *basis = cr_scratch_matrix(&s, k, k);
    size_t    *at = cr_scratch_index(&s, p);
    bool      *keep = cr_scratch_bytes(&s, p, sizeof *keep);
    cr_qr      again;

    if (k == p || k == 0) goto done;
    CR_TRY(s.status);
    for (size_t j = 0; j < p; j++) at[qr->pivot[j]] = j;
    for (double tolerance = 1e-7; kept < k && tolerance > 1e-14; tolerance /= 10)
        CR_TRY(mark_earlier(cx, qr, at, tolerance, basis, keep, &kept));
    if (kept < k) goto done; /* by the largest pivots, then */
    for (size_t j = 0; j < p; j++)
        for (size_t i = 0; !keep[j] && i < n; i++) C[i * p + j] = 0;
    CR_TRY(cr_qr_new(cx, cr_cmat_of(C, n, p), -1, &again));
    cr_qr_free(cx, qr);
    *qr = again;
done:
    cr_scratch_end(&s);
    return st;
}

void cri_predictor_set_qr(cri_predictor *fit, const cr_qr *qr, double *column)
{
    for (size_t j = 0; j < qr->rank; j++) {
        memset(column, 0, qr->rank * sizeof(double));
        column[j] = 1;
        cr_qr_solve_r(qr, true, column);
        for (size_t i = 0; i < qr->rank; i++) fit->factor[i * fit->p + qr->pivot[j]] = column[i];
    }
}

static void name_one_aliased(cr_ctx *cx, const char *name, bool constant)
{
    cr_log(cx, CR_LOG_WARNING,
           constant ? "'%s' is constant: its coefficient is not identified and was set to 0"
                    : "'%s' is a linear combination of the other columns: its coefficient is not "
                      "identified and was set to 0",
           name);
}

void cri_name_aliased(cr_ctx *cx, const cr_design *design, const size_t *terms,
                      const bool *constant, size_t n)
{
    enum { FEW = 5 };
    cri_quoted list = { .most = SIZE_MAX };
    for (size_t j = 0; j < n; j++) {
        const char *name = cr_design_term_name(design, terms[j]);
        if (n <= FEW) name_one_aliased(cx, name, constant[terms[j]]);
        cri_quoted_add(&list, name);
    }
    if (n > FEW)
        cr_log(
            cx, CR_LOG_WARNING,
            "%zu columns are constant or linear combinations of the others: their coefficients are "
            "not identified and were set to 0: %s",
            n, cri_quoted_text(&list));
}
