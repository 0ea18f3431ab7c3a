/* niw.c -- statistics, posterior and file of the multivariate normal model. */
#include "niw.h"
#include "base/context_internal.h"
#include "base/parallel.h"
#include "math/dense/chol.h"
#include "math/special/special.h"

#include <math.h>

enum { BLOCK = 128 };

CRI_RECORD_TABLE(, cri_niw_record, cri_niw, CRI_NIW_STATE);
CRI_RECORD_TABLE(, cri_niw_sums_record, cri_niw, CRI_NIW_SUMS);

cr_status cri_niw_new(cr_ctx *cx, size_t d, cri_niw **out)
{
    cr_status st = CR_OK;
    cri_niw  *m = cr_alloc(cx, 1, sizeof *m);
    if (!m) return CR_ENOMEM;
    m->d = d;
    CR_TRY(cri_record_allocate(cx, cri_niw_record, m));
    *out = m;
    m = NULL;
done:
    cri_state_free(cx, &cri_class_mvn, m);
    return st;
}

/* --- statistics ------------------------------------------------------------------------------ */

typedef struct summing {
    const cri_rows *rows;
    const double   *centre; /* [d]; NULL: 0 */
    bool            squares;
    const cr_ctx   *cx;
} summing;

/* acc: sum w, sum w (x - centre) [d], and, with squares, their products [d x d], lower triangle. */
static void add_block(void *arg, cri_range range, double *acc, double *x)
{
    const summing *a = arg;
    size_t         d = a->rows->p;
    for (size_t i = range.begin; i < range.end; i++) {
        double w = a->rows->w ? a->rows->w[i] : 1;
        if (w == 0) continue;
        if (cri_should_stop(a->cx)) return;
        cri_rows_fill(a->rows, i, i + 1, x, d);
        for (size_t j = 0; a->centre && j < d; j++) x[j] -= a->centre[j];
        acc[0] += w;
        for (size_t j = 0; j < d; j++) {
            double wx = w * x[j];
            acc[1 + j] += wx;
            for (size_t k = 0; a->squares && k <= j; k++) acc[1 + d + j * d + k] += wx * x[k];
        }
    }
}

/* The scatter about the mean of the first pass, with what that mean has lost to rounding taken off. */
cr_status cri_niw_gather(cr_ctx *cx, const void *state, const cri_rows *rows, const void *options,
                         void *sums)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_niw   *m = sums;
    size_t     d = rows->p, width = 1 + d + d * d;
    double    *centre = cr_scratch_f64(&s, d), *first = cr_scratch_f64(&s, 1 + d);
    double    *all = cr_scratch_f64(&s, width), *off = all + 1, *S = all + 1 + d;
    summing    a = { rows, NULL, false, cx };
    (void)state, (void)options;

    CR_TRY(s.status);
    m->d = d;
    CR_TRY(cri_record_allocate(cx, cri_niw_sums_record, m));
    CR_TRY(cri_parallel_sum_in(cx, "averaging", rows->n, BLOCK, 1 + d, d, add_block, &a, first));
    if (!(first[0] > 0)) goto done; /* no row counts */
    for (size_t j = 0; j < d; j++) centre[j] = first[1 + j] / first[0];
    a.centre = centre, a.squares = true;
    CR_TRY(cri_parallel_sum_in(cx, "measuring", rows->n, BLOCK, width, d, add_block, &a, all));
    CR_TRY(cr_check_interrupt(cx));
    m->n = all[0];
    for (size_t j = 0; j < d; j++)
        for (size_t k = 0; k <= j; k++)
            m->scatter[j * d + k] = m->scatter[k * d + j] = S[j * d + k] - off[j] * off[k] / m->n;
    for (size_t j = 0; j < d; j++) {
        m->xbar[j] = centre[j] + off[j] / m->n;
        if (!isfinite(m->xbar[j]) || !isfinite(m->scatter[j * d + j]))
            CR_TRY(cr_fail(cx, CR_ENUMERIC, "column '%s' is so large that its squares overflow",
                           rows->design->columns[j].name));
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* Chan, Golub & LeVeque (1983). */
cr_status cri_niw_merge(cr_ctx *cx, const void *state, void *to, const void *from)
{
    cri_niw       *a = to;
    const cri_niw *b = from;
    size_t         d = a->d;
    double         n = a->n + b->n, both = a->n / n * b->n;
    (void)cx, (void)state;
    if (!(b->n > 0)) return CR_OK;
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++)
            a->scatter[i * d + j] += b->scatter[i * d + j] +
                                     (both * (b->xbar[i] - a->xbar[i])) * (b->xbar[j] - a->xbar[j]);
    for (size_t j = 0; j < d; j++) a->xbar[j] += b->n / n * (b->xbar[j] - a->xbar[j]);
    a->n = n;
    return CR_OK;
}

/* --- posterior ------------------------------------------------------------------------------- */

bool cri_niw_proper(const cri_niw *m)
{
    return m->prior_kappa > 0 && m->prior_nu > (double)m->d - 1;
}

/* Psi' is scaled to a unit diagonal before it is factored: columns may have any units. */
static cr_status factor(cr_ctx *cx, cri_niw *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     d = m->d;
    double    *unit = cr_scratch_f64(&s, d);
    CR_TRY(s.status);
    st = CR_EDATA;
    for (size_t j = 0; j < d; j++) unit[j] = sqrt(m->Psi[j * d + j]);
    for (size_t j = 0; j < d; j++)
        if (!(unit[j] > 0)) goto done;
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) m->L[i * d + j] = m->Psi[i * d + j] / unit[i] / unit[j];
    st = cr_chol(cx, cr_mat_of(m->L, d, d));
    if (st != CR_OK) {
        st = st == CR_ENUMERIC ? CR_EDATA : st;
        goto done;
    }
    for (size_t i = 0; i < d; i++) {
        if (m->L[i * d + i] < 1e-7) st = CR_EDATA; /* its square is the rounding of the diagonal */
        for (size_t j = 0; j < d; j++) m->L[i * d + j] = j <= i ? unit[i] * m->L[i * d + j] : 0;
    }
done:
    cr_scratch_end(&s);
    return st;
}

static double log_evidence(const cri_niw *m)
{
    double d = (double)m->d, sum = -m->n * d / 2 * log(M_PI) - d / 2 * log1p(m->n / m->prior_kappa);
    double prior = 0, now = 0;
    for (size_t j = 0; j < m->d; j++) {
        sum += cr_lgamma_diff((m->prior_nu - (double)j) / 2, m->n / 2); /* of Gamma_d */
        prior += log(m->prior_scale[j]);
        now += 2 * log(m->L[j * m->d + j]);
    }
    return sum + m->prior_nu / 2 * prior - m->nu / 2 * now;
}

cr_status cri_niw_solve(cr_ctx *cx, cri_niw *m)
{
    size_t d = m->d;
    double k = m->prior_kappa;
    m->kappa = k + m->n;
    m->nu = m->prior_nu + m->n;
    for (size_t i = 0; i < d; i++) {
        double off = m->xbar[i] - m->prior_mean[i];
        m->mean[i] = m->prior_mean[i] + m->n / m->kappa * off;
        for (size_t j = 0; j < d; j++)
            m->Psi[i * d + j] = m->scatter[i * d + j] + (i == j ? m->prior_scale[i] : 0) +
                                k / m->kappa * m->n * off * (m->xbar[j] - m->prior_mean[j]);
    }
    cr_status st = m->nu > (double)d - 1 ? factor(cx, m) : CR_EDATA;
    if (st == CR_EDATA) {
        cr_fail(cx, CR_EDATA,
                "mvn: the posterior is improper: this prior needs more than %zu rows, and linearly "
                "independent columns",
                d);
        return cr_fail_hint(cx, "give a proper prior: --prior mean0=0,kappa0=0.1,nu0=%zu,scale0=1",
                            d + 2);
    }
    if (st == CR_OK) m->log_evidence = cri_niw_proper(m) ? log_evidence(m) : NAN;
    return st;
}

/* --- file ------------------------------------------------------------------------------------ */

cr_status cri_niw_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    cri_niw *m = state;
    if (m->d != design->p || m->d != design->n_columns) return CR_EDATA;
    cr_status st = cri_record_allocate(cx, cri_niw_record, m);
    if (st == CR_OK) st = cri_niw_solve(cx, m);
    return st == CR_ENUMERIC ? CR_EDATA : st;
}
