/* discriminant.c -- covariances from moments, and the probabilities of classes. */
#include "discriminant.h"
#include "../../base/parallel.h"
#include "../../base/scratch.h"
#include "../../math/blas_internal.h"
#include "../../math/lapack.h"
#include "../../math/special.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

void cri_discriminant_free(cr_ctx *cx, cri_discriminant *d)
{
    cr_free(cx, d->log_prior, d->K, sizeof(double));
    cr_free(cx, d->mean, d->K, d->p * sizeof(double));
    cr_free(cx, d->inverse, d->groups, d->pp * sizeof(double));
    cr_free(cx, d->log_det, d->groups, sizeof(double));
    *d = (cri_discriminant){ 0 };
}

static cr_status new_discriminant(cr_ctx *cx, size_t K, size_t p, size_t groups,
                                  cri_discriminant *out)
{
    *out = (cri_discriminant){ .K = K,
                               .p = p,
                               .pp = p * p,
                               .groups = groups,
                               .log_prior = cr_alloc(cx, K, sizeof(double)),
                               .mean = cr_alloc(cx, K, p * sizeof(double)),
                               .inverse = cr_alloc(cx, groups, p * p * sizeof(double)),
                               .log_det = cr_alloc(cx, groups, sizeof(double)) };
    return out->log_prior && out->mean && out->inverse && out->log_det ? CR_OK : CR_ENOMEM;
}

/* --- covariances --------------------------------------------------------------------------------- */

/* L^-1 of S = L L^T over S [p x p], and log |S|; false where a pivot is lost in rounding.
 * size [p] is room. */
static bool invert_factor(size_t p, double *S, double *size, double *log_det)
{
    *log_det = 0;
    for (size_t i = 0; i < p; i++) {
        size[i] = S[i * p + i];
        if (!(size[i] > 0) || !isfinite(size[i])) return false;
    }
    if (p == 0) return true;
    if (cri_dpotrf('U', (int)p, S, (int)p) != 0) return false; /* row-major lower */
    for (size_t i = 0; i < p; i++) {
        double pivot = S[i * p + i] * S[i * p + i];
        if (!(pivot > 1e-12 * size[i])) return false;
        *log_det += log(pivot);
    }
    return cri_dtrtri('U', 'N', (int)p, S, (int)p) == 0;
}

/* What the covariances are made from. */
typedef struct recipe {
    const cri_class_moments *m;
    double                   pool;
    double                  *pooled; /* [pp] sum of scatters / (n - K)               */
    double                  *least;  /* [p]  the least variance that a class may have */
    double                  *size;   /* [p]  room                                    */
} recipe;

/* S of class k, or of all (k = K), into out. */
static void mix(const recipe *r, size_t k, double shrinkage, double *out)
{
    size_t p = r->m->p;
    double own = 0, share = 1;
    if (k < r->m->K && r->m->weight[k] > 1) {
        own = (1 - r->pool) / (r->m->weight[k] - 1);
        share = r->pool;
    }
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < p; j++) {
            double c = share * r->pooled[i * p + j];
            if (own > 0) c += own * r->m->scatter[k * r->m->pp + i * p + j];
            out[i * p + j] = i == j ? fmax(c, r->least[i]) : (1 - shrinkage) * c;
        }
}

/* All covariances at this shrinkage; the first class whose covariance is singular, or SIZE_MAX. */
static size_t try_shrinkage(const recipe *r, double shrinkage, cri_discriminant *d)
{
    d->shrinkage = shrinkage;
    for (size_t g = 0; g < d->groups; g++) {
        double *S = d->inverse + g * d->pp;
        mix(r, d->groups == 1 ? d->K : g, shrinkage, S);
        if (!invert_factor(d->p, S, r->size, &d->log_det[g])) return g;
    }
    return SIZE_MAX;
}

static cr_status make_covariances(cr_ctx *cx, const cr_design *design, const recipe *r,
                                  double shrinkage, cri_discriminant *d)
{
    static const double more[] = { 1e-6, 1e-4, 1e-2, 0.1, 1 };
    size_t              bad = try_shrinkage(r, shrinkage, d), first = bad;
    for (size_t i = 0; bad != SIZE_MAX && i < sizeof more / sizeof *more; i++)
        if (more[i] > shrinkage) bad = try_shrinkage(r, more[i], d);
    if (bad != SIZE_MAX)
        return cr_fail(cx, CR_ENUMERIC, "the covariance of the columns cannot be inverted");
    if (first == SIZE_MAX) return CR_OK;
    cr_log(cx, CR_LOG_WARNING,
           "the covariance %s%s%s is singular: shrunk by %g towards its diagonal; --shrinkage sets this",
           d->groups == 1 ? "of the columns" : "of class '",
           d->groups == 1 ? "" : cr_design_class(design, first), d->groups == 1 ? "" : "'",
           d->shrinkage);
    return CR_OK;
}

static cr_status check_classes(cr_ctx *cx, const cr_design *design, const cri_class_moments *m)
{
    size_t there = 0, last = 0;
    for (size_t k = 0; k < m->K; k++)
        if (m->weight[k] > 0) there++, last = k;
    if (there >= 2) return CR_OK;
    cr_fail(cx, CR_EDATA, "the target '%s' has one class only, '%s': there is nothing to tell apart",
            cr_design_target(design), m->K ? cr_design_class(design, last) : "");
    return cr_fail_hint(cx, "two classes at the least are needed");
}

/* pooled covariance, and variances below which a column counts as constant: 1e-9 of what it varies
 * over all rows, or 1. */
static void prepare(const cri_class_moments *m, recipe *r)
{
    size_t p = m->p;
    double n = 0, there = 0;
    cri_class_moments_pool(m, r->pooled);
    for (size_t k = 0; k < m->K; k++) n += m->weight[k], there += m->weight[k] > 0;
    for (size_t j = 0; j < p; j++) {
        double mean = 0, total = r->pooled[j * p + j];
        for (size_t k = 0; k < m->K; k++) mean += m->weight[k] / n * m->mean[k * p + j];
        for (size_t k = 0; k < m->K; k++)
            total += m->weight[k] * pow(m->mean[k * p + j] - mean, 2);
        r->least[j] = total > 0 ? 1e-9 * total / n : 1;
    }
    for (size_t i = 0; i < m->pp; i++) r->pooled[i] /= n > there ? n - there : 1;
}

cr_status cri_discriminant_make(cr_ctx *cx, const cr_design *design, const cri_class_moments *m,
                                const cri_discriminant_options *o, cri_discriminant *out)
{
    cr_status        st = CR_OK;
    cr_scratch       s = cr_scratch_begin(cx);
    cri_discriminant d = { 0 };
    recipe           r = { m, o->pool, cr_scratch_f64(&s, m->pp), cr_scratch_f64(&s, m->p),
                           cr_scratch_f64(&s, m->p) };
    CR_TRY(s.status);
    CR_TRY(check_classes(cx, design, m));
    CR_TRY(new_discriminant(cx, m->K, m->p, o->pooled ? 1 : m->K, &d));
    CR_TRY(cri_priors_read(cx, design, o->priors, m->weight, d.log_prior));
    memcpy(d.mean, m->mean, m->K * m->p * sizeof *d.mean);
    prepare(m, &r);
    CR_TRY(make_covariances(cx, design, &r, o->shrinkage, &d));
    *out = d;
    d = (cri_discriminant){ 0 };
done:
    cri_discriminant_free(cx, &d);
    cr_scratch_end(&s);
    return st;
}

double cri_discriminant_log_likelihood(const cri_discriminant *d, const cri_class_moments *m)
{
    double sum = 0;
    size_t p = d->p;
    for (size_t k = 0; k < d->K; k++) {
        size_t        g = d->groups == 1 ? 0 : k;
        const double *L = d->inverse + g * d->pp, *S = m->scatter + k * m->pp;
        double        trace = 0; /* of L^-1 S L^-T */
        if (!(m->weight[k] > 0)) continue;
        for (size_t i = 0; i < p; i++)
            for (size_t a = 0; a <= i; a++)
                for (size_t b = 0; b <= i; b++)
                    trace += L[i * p + a] * S[a * p + b] * L[i * p + b];
        sum += m->weight[k] * (d->log_prior[k] - 0.5 * (d->log_det[g] + (double)p * log(2 * M_PI))) -
               0.5 * trace;
    }
    return sum;
}

/* --- predict --------------------------------------------------------------------------------------- */

enum { BLOCK = 128 };

typedef struct predict_work {
    const cri_discriminant *d;
    const cri_rows         *rows;
    double                 *prob, *room; /* room [slots][BLOCK x 2p] */
    size_t                  slots;
} predict_work;

/* log p(x, k) of n rows X [n x p] for all classes, to score [n x K]; U [n x p] is room. */
static void joint_scores(const cri_discriminant *d, const double *X, size_t n, double *U, double *score)
{
    size_t p = d->p, K = d->K;
    for (size_t k = 0; k < K; k++) {
        size_t        g = d->groups == 1 ? 0 : k;
        const double *mean = d->mean + k * p;
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < p; j++) U[i * p + j] = X[i * p + j] - mean[j];
        if (p > 0)
            cblas_dtrmm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)n,
                        (int)p, 1, d->inverse + g * d->pp, (int)p, U, (int)p);
        for (size_t i = 0; i < n; i++) {
            double square = 0;
            for (size_t j = 0; j < p; j++) square += U[i * p + j] * U[i * p + j];
            score[i * K + k] = d->log_prior[k] - 0.5 * (d->log_det[g] + square);
        }
    }
}

static void predict_slot(void *arg, size_t s)
{
    const predict_work *w = arg;
    size_t              p = w->d->p, K = w->d->K, blocks = cri_block_count(w->rows->n, BLOCK);
    double             *X = w->room + s * BLOCK * 2 * p, *U = X + BLOCK * p;
    for (size_t b = s; b < blocks; b += w->slots) {
        cri_range range = cri_block_range(w->rows->n, BLOCK, b);
        size_t    n = range.end - range.begin;
        double   *score = w->prob + range.begin * K;
        cri_rows_fill(w->rows, range.begin, range.end, X, p);
        joint_scores(w->d, X, n, U, score);
        for (size_t i = 0; i < n; i++) cr_softmax(score + i * K, K, score + i * K);
    }
}

cr_status cri_discriminant_predict(cr_ctx *cx, const cri_discriminant *d, const cri_rows *rows,
                                   cr_prediction *out)
{
    enum { MOST_SLOTS = 32 };
    cr_status    st = CR_OK;
    cr_scratch   s = cr_scratch_begin(cx);
    predict_work w = { .d = d, .rows = rows, .prob = out->prob };
    w.slots = cri_block_count(rows->n, BLOCK);
    if (w.slots > MOST_SLOTS) w.slots = MOST_SLOTS;
    w.room = cr_scratch_matrix(&s, w.slots * BLOCK, 2 * d->p);
    CR_TRY(s.status);
    cri_blas_enter();
    st = cri_parallel_for(cx, "predicting", w.slots, predict_slot, &w);
    cri_blas_leave();
done:
    cr_scratch_end(&s);
    return st;
}

/* --- describe -------------------------------------------------------------------------------------- */

static cr_status add_class(cr_ctx *cx, const cri_discriminant *d, const cri_class_moments *m,
                           const cr_design *design, size_t k, json_t *list)
{
    cr_status st = CR_OK;
    size_t    p = d->p;
    for (size_t j = 0; j < p; j++) {
        json_t *item = json_object();
        char    name[512];
        double  n = m->weight[k], variance = n > 1 ? m->scatter[k * m->pp + j * p + j] / (n - 1) : NAN;
        double  shift = design->shift[j], scale = design->scale[j];
        if (json_array_append_new(list, item) != 0) return cr_fail(cx, CR_ENOMEM, "out of memory");
        snprintf(name, sizeof name, "%s | %s", cr_design_term_name(design, j),
                 cr_design_class(design, k));
        CR_TRY(cri_store_set(cx, item, "name", json_string_nocheck(name)));
        CR_TRY(cri_store_set_real(cx, item, "value", m->mean[k * p + j] * scale + shift));
        CR_TRY(cri_store_set(cx, item, "sd",
                             variance >= 0 ? json_real(sqrt(variance / n) * scale) : json_null()));
    }
done:
    return st;
}

cr_status cri_discriminant_describe(cr_ctx *cx, const cri_discriminant *d,
                                    const cri_class_moments *m, const cr_design *design, json_t *out)
{
    cr_status st = CR_OK;
    json_t   *list = json_array(), *s;
    CR_TRY(cri_store_set(cx, out, "parameters", list));
    for (size_t k = 0; k < d->K; k++) CR_TRY(add_class(cx, d, m, design, k, list));
    CR_TRY(cri_store_set(cx, out, "statistics", s = json_object()));
    CR_TRY(cri_store_set_real(cx, s, "shrinkage", d->shrinkage));
    for (size_t k = 0; k < d->K; k++) {
        char name[512];
        snprintf(name, sizeof name, "rows(%s)", cr_design_class(design, k));
        CR_TRY(cri_store_set_real(cx, s, name, m->weight[k]));
        snprintf(name, sizeof name, "prior(%s)", cr_design_class(design, k));
        CR_TRY(cri_store_set_real(cx, s, name, exp(d->log_prior[k])));
    }
done:
    return st;
}
