/* discriminant.c -- covariances from moments: pooled, shrunk, factored. */
#include "discriminant.h"
#include "base/scratch.h"
#include "math/constants.h"
#include "math/dense/blas_internal.h"
#include "math/dense/chol.h"
#include "math/dense/chol_internal.h"

#include <cblas.h>
#include <limits.h>
#include <math.h>
#include <string.h>

CRI_RECORD_TABLE(, cri_discriminant_record, cri_discriminant, CRI_DISCRIMINANT);
CRI_RECORD_FREE(cri_discriminant);

/* --- covariances ----------------------------------------------------------------------------- */

/* L^-1 of S = L L^T over S [p x p], its upper part zero, and log |S|; CR_ENUMERIC where a pivot is
 * lost in rounding.  The diagonal of S is in `variance`. */
static cr_status invert_factor(cr_ctx *cx, size_t p, double *S, const double *variance,
                               double *log_det)
{
    cr_status st = CR_OK;
    *log_det = 0;
    for (size_t i = 0; i < p; i++)
        if (!(variance[i] > 0) || !isfinite(variance[i])) return CR_ENUMERIC;
    CR_TRY(cr_chol(cx, cr_mat_of(S, p, p)));
    for (size_t i = 0; i < p; i++) {
        double pivot = S[i * p + i] * S[i * p + i];
        if (!(pivot > 1e-12 * variance[i])) return CR_ENUMERIC;
        *log_det += log(pivot);
        for (size_t j = i + 1; j < p; j++) S[i * p + j] = 0;
    }
    CR_TRY(cri_chol_invert_factor(cx, cr_mat_of(S, p, p)));
done:
    return st;
}

/* What the covariances are made from. */
typedef struct recipe {
    const cri_class_moments *m;
    double                   n, there; /* weight of all rows, classes that have some   */
    double                   pool;
    double                  *pooled; /* [pp] sum of scatters / (n - K)                 */
    double                  *least;  /* [p]  the least variance that a class may have  */
    size_t                   raised, at_class, at_term; /* variances below it; the last */
} recipe;

/* The pooled covariance, and the least variance of each term: 1e-9 of what it varies over all rows;
 * 1 of a term that is constant, which then tells nothing. */
static void prepare(const cri_class_moments *m, recipe *r)
{
    size_t p = m->p;
    cri_class_moments_pool(m, r->pooled);
    for (size_t k = 0; k < m->K; k++) r->n += m->weight[k], r->there += m->weight[k] > 0;
    for (size_t j = 0; j < p; j++) {
        double mean = 0, total = r->pooled[j * p + j];
        for (size_t k = 0; k < m->K; k++) mean += m->weight[k] / r->n * m->mean[k * p + j];
        for (size_t k = 0; k < m->K; k++) {
            double d = m->mean[k * p + j] - mean;
            total += m->weight[k] * d * d;
        }
        r->least[j] = total > 1e-26 * r->n * mean * mean ? 1e-9 * total / r->n : 1;
    }
    for (size_t i = 0; i < m->pp; i++) r->pooled[i] /= r->n > r->there ? r->n - r->there : 1;
}

/* S of class k, or of all (k = K), and its diagonal.  What the jitter adds is the same for all
 * classes: a direction without spread tells nothing of them. */
static void mix(recipe *r, size_t k, double shrinkage, double jitter, double *S, double *variance)
{
    const double *scatter = k < r->m->K ? cri_class_scatter(r->m, k) : NULL;
    size_t        p = r->m->p;
    double        own = 0, share = 1;
    if (scatter && r->m->weight[k] > 1) { /* one row has no spread of its own */
        own = (1 - r->pool) / (r->m->weight[k] - 1);
        share = r->pool;
    }
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < p; j++) {
            double c = share * r->pooled[i * p + j];
            if (own > 0) c += own * scatter[i * p + j];
            S[i * p + j] = i == j ? c : (1 - shrinkage) * c;
        }
    for (size_t i = 0; i < p; i++) {
        if (S[i * p + i] < r->least[i]) {
            if (r->least[i] != 1) r->raised++, r->at_class = k, r->at_term = i;
            S[i * p + i] = r->least[i];
        }
        S[i * p + i] += jitter * fmax(r->pooled[i * p + i], r->least[i]);
        variance[i] = S[i * p + i];
    }
}

/* All covariances with this jitter; *out_bad is the first that is singular, or SIZE_MAX. */
static cr_status try_jitter(cr_ctx *cx, recipe *r, double jitter, cri_discriminant *d,
                            size_t *out_bad)
{
    d->jitter = jitter;
    r->raised = 0;
    *out_bad = SIZE_MAX;
    for (size_t g = 0; g < d->groups; g++) {
        double *S = d->inverse + g * d->pp, *variance = d->variance + g * d->p;
        mix(r, d->groups == 1 ? d->K : g, d->shrinkage, jitter, S, variance);
        cr_status st = invert_factor(cx, d->p, S, variance, &d->log_det[g]);
        if (st == CR_ENUMERIC) *out_bad = g;
        if (st != CR_OK) return st == CR_ENUMERIC ? CR_OK : st;
    }
    return CR_OK;
}

static void warn(cr_ctx *cx, const cr_design *design, const recipe *r, const cri_discriminant *d,
                 size_t singular)
{
    size_t alone = 0, last = 0, constant = 0, same = 0;
    for (size_t k = 0; k < d->K && d->groups > 1; k++)
        if (r->m->weight[k] > 0 && r->m->weight[k] <= 1) alone++, last = k;
    for (size_t i = 0; i < d->p; i++)
        if (r->least[i] == 1 && constant++ == 0) same = i;
    if (constant)
        cr_log(cx, CR_LOG_WARNING,
               "'%s'%s is constant: it carries no information about the classes",
               cr_design_term_name(design, same), constant > 1 ? " (and others)" : "");
    if (alone)
        cr_log(cx, CR_LOG_WARNING,
               "the class '%s'%s has only one row: it uses the pooled covariance of all classes",
               cr_design_class(design, last), alone > 1 ? " (and others)" : "");
    if (r->raised)
        cr_log(cx, CR_LOG_WARNING,
               "'%s'%s does not vary within %s%s: its variance there is set to 1e-9 of that over "
               "all rows",
               cr_design_term_name(design, r->at_term), r->raised > 1 ? " (and others)" : "",
               r->at_class < d->K ? "the class " : "the classes",
               r->at_class < d->K ? cr_design_class(design, r->at_class) : "");
    if (singular != SIZE_MAX)
        cr_log(cx, CR_LOG_WARNING,
               "the covariance of %s%s is singular: %g of the variances was added to its diagonal; "
               "--shrinkage 0.1 may work better",
               d->groups == 1 ? "the columns" : "the class ",
               d->groups == 1 ? "" : cr_design_class(design, singular), d->jitter);
}

static cr_status make_covariances(cr_ctx *cx, const cr_design *design, recipe *r,
                                  cri_discriminant *d)
{
    static const double more[] = { 1e-8, 1e-6, 1e-4, 1e-2, 1 };
    cr_status           st = CR_OK;
    size_t              bad, first;
    CR_TRY(try_jitter(cx, r, 0, d, &bad));
    first = bad;
    for (size_t i = 0; bad != SIZE_MAX && i < sizeof more / sizeof *more; i++)
        CR_TRY(try_jitter(cx, r, more[i], d, &bad));
    if (bad != SIZE_MAX)
        return cr_fail(cx, CR_ENUMERIC, "the covariance of the columns cannot be inverted");
    warn(cx, design, r, d, first);
done:
    return st;
}

/* --- what follows from them ------------------------------------------------------------------ */

/* slope_k = S^-1 (m_k - centre), offset_k = log prior - (m_k - centre) . slope_k / 2. */
static void make_linear(const cri_class_moments *m, const recipe *r, cri_discriminant *d)
{
    size_t p = d->p;
    for (size_t j = 0; j < p; j++)
        for (size_t k = 0; k < d->K; k++) d->centre[j] += m->weight[k] / r->n * m->mean[k * p + j];
    for (size_t k = 0; k < d->K && d->groups == 1; k++) {
        double *u = d->slope + k * p, square = 0;
        for (size_t j = 0; j < p; j++) u[j] = m->mean[k * p + j] - d->centre[j];
        if (p > 0)
            cblas_dtrmv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, (int)p, d->inverse,
                        (int)p, u, 1);
        for (size_t j = 0; j < p; j++) square += u[j] * u[j];
        if (p > 0)
            cblas_dtrmv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, (int)p, d->inverse,
                        (int)p, u, 1);
        d->offset[k] = d->log_prior[k] - 0.5 * square;
    }
}

/* Degrees of freedom and spread of the predictive t; fails where no degree is left. */
static cr_status make_predictive(cr_ctx *cx, const cr_design *design, const cri_class_moments *m,
                                 const recipe *r, cri_discriminant *d)
{
    for (size_t k = 0; k < d->K; k++) {
        double n = m->weight[k], own = d->groups == 1 ? r->n - r->there : n - 1;
        double dof = own - (double)d->p + 1;
        if (!(n > 0)) continue;
        d->dof[k] = dof;
        d->spread[k] = dof != 0 ? (1 + 1 / n) * own / dof : 0;
        if (dof > 0 || !d->bayes) continue;
        cr_fail(cx, CR_EDATA, "--predictive bayes: %s%s has too few rows for %zu columns",
                d->groups == 1 ? "the table" : "the class ",
                d->groups == 1 ? "" : cr_design_class(design, k), d->p);
        return cr_fail_hint(cx, "use --predictive plugin%s",
                            d->groups == 1 ? "" : ", or lda, which shares one covariance");
    }
    return CR_OK;
}

cr_status cri_discriminant_make(cr_ctx *cx, const cr_design *design, const cri_class_moments *m,
                                const cri_discriminant_options *o, cri_discriminant *out)
{
    cr_status        st = CR_OK;
    cr_scratch       s = cr_scratch_begin(cx);
    recipe           r = { .m = m, .pool = o->pool };
    cri_discriminant d = { .K = m->K,
                           .p = m->p,
                           .pp = m->pp,
                           .groups = o->pooled ? 1 : m->K,
                           .bayes = o->bayes,
                           .shrinkage = o->shrinkage,
                           .pool = o->pool };
    r.pooled = cr_scratch_f64(&s, m->pp);
    r.least = cr_scratch_f64(&s, m->p);
    CR_TRY(s.status);
    CR_TRY(cri_class_moments_check(cx, design, m));
    if (m->p > INT_MAX / 2) CR_TRY(cr_fail(cx, CR_EUNSUPPORTED, "there are too many columns"));
    CR_TRY(cri_record_allocate(cx, cri_discriminant_record, &d));
    CR_TRY(cri_priors_read(cx, design, o->priors, m->weight, d.log_prior));
    CR_TRY(cri_blas_reserve(cx));
    prepare(m, &r);
    cri_blas_enter();
    st = make_covariances(cx, design, &r, &d);
    if (st == CR_OK) make_linear(m, &r, &d);
    cri_blas_leave();
    CR_TRY(st);
    CR_TRY(make_predictive(cx, design, m, &r, &d));
    *out = d;
    d = (cri_discriminant){ 0 };
done:
    cri_discriminant_free(cx, &d);
    cr_scratch_end(&s);
    return st;
}

/* *trace += tr S^-1 scatter of L^-1 = inverse; workspace [p x p]. */
static cr_status add_trace(cr_ctx *cx, size_t p, const double *inverse, const double *scatter,
                           double *workspace, double *trace)
{
    enum { COLUMNS = 128 };
    cr_status st = CR_OK;
    memcpy(workspace, scatter, p * p * sizeof *workspace);
    for (size_t j = 0; j < p; j += COLUMNS) {
        CR_TRY(cr_check_interrupt(cx));
        cblas_dtrmm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, (int)p,
                    p - j < COLUMNS ? (int)(p - j) : COLUMNS, 1, inverse, (int)p, workspace + j,
                    (int)p);
    }
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j <= i; j++) *trace += workspace[i * p + j] * inverse[i * p + j];
done:
    return st;
}

cr_status cri_discriminant_log_likelihood(cr_ctx *cx, const cri_discriminant *d,
                                          const cri_class_moments *m, double *workspace,
                                          double *out)
{
    cr_status st = CR_OK;
    double    sum = 0, trace = 0;
    cri_blas_enter();
    for (size_t k = 0; k < d->K; k++) {
        size_t g = d->groups == 1 ? 0 : k;
        if (!(m->weight[k] > 0)) continue;
        sum +=
            m->weight[k] * (d->log_prior[k] - 0.5 * (d->log_det[g] + (double)d->p * CRI_LOG_2PI));
        if (m->groups > 1)
            CR_TRY(add_trace(cx, d->p, d->inverse + g * d->pp, cri_class_scatter(m, k), workspace,
                             &trace));
    }
    if (m->groups == 1) CR_TRY(add_trace(cx, d->p, d->inverse, m->scatter, workspace, &trace));
    *out = sum - 0.5 * trace;
done:
    cri_blas_leave();
    return st;
}

/* --- file ------------------------------------------------------------------------------------- */

bool cri_discriminant_fits(const cri_discriminant *d, const cri_class_moments *m)
{
    return d->K == m->K && d->p == m->p && d->pp == m->pp && d->groups == m->groups;
}
