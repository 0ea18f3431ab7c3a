/* discriminant_predict.c -- class probabilities and log joints from Gaussian or Student densities. */
#include "discriminant.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "math/dense/blas_internal.h"
#include "math/special/special.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

enum { BLOCK = 128, MOST_SLOTS = 32 };

typedef struct work {
    const cri_discriminant *d;
    const double           *mean; /* [K x p] */
    const cri_rows         *rows;
    double                 *out; /* [n x K] probabilities, or with `joint` log joints */
    bool                    joint;
    double                 *workspace; /* [slots][BLOCK x 2p]           */
    long double            *wide;      /* [slots][K]                    */
    double                 *level;     /* [K] what does not depend on x */
    size_t                  slots;
} work;

/* log p(x, k) where x is the mean of the class, normal or Student's t, but for shared_level. */
static double level_of(const cri_discriminant *d, size_t k)
{
    size_t g = d->groups == 1 ? 0 : k;
    double p = (double)d->p, nu = d->dof[k];
    if (!d->bayes) return d->log_prior[k] - 0.5 * d->log_det[g];
    if (!(nu > 0)) return -INFINITY; /* a class without rows, whose prior is 0 */
    return d->log_prior[k] + cr_lgamma_diff(nu / 2, p / 2) -
           0.5 * (p * log(nu * d->spread[k]) + d->log_det[g]);
}

/* What the densities of all classes share, which probabilities do not need. */
static double shared_level(const cri_discriminant *d)
{
    return -0.5 * (double)d->p * log(d->bayes ? M_PI : 2 * M_PI);
}

static double density(const cri_discriminant *d, size_t k, double level, double square)
{
    if (!d->bayes) return level - 0.5 * square;
    double nu = d->dof[k];
    if (!(nu > 0)) return -INFINITY;
    return level - 0.5 * (nu + (double)d->p) * log1p(square / (nu * d->spread[k]));
}

/* --- scores ---------------------------------------------------------------------------------- */

/* offset_k + slope_k . (x - centre) of n rows; X is centred in place. */
static void linear_scores(const cri_discriminant *d, double *X, size_t n, double *score)
{
    size_t p = d->p, K = d->K;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < p; j++) X[i * p + j] -= d->centre[j];
        memcpy(score + i * K, d->offset, K * sizeof *score);
    }
    if (p > 0)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)n, (int)K, (int)p, 1, X, (int)p,
                    d->slope, (int)p, 1, score, (int)K);
}

/* By the distances |L^-1 (x - m_k)|^2; U [n x p] is workspace. */
static void quadratic_scores(const work *w, const double *X, size_t n, double *U, double *score)
{
    const cri_discriminant *d = w->d;
    size_t                  p = d->p, K = d->K;
    for (size_t k = 0; k < K; k++) {
        const double *mean = w->mean + k * p;
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < p; j++) U[i * p + j] = X[i * p + j] - mean[j];
        if (p > 0)
            cblas_dtrmm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)n,
                        (int)p, 1, d->inverse + (d->groups == 1 ? 0 : k) * d->pp, (int)p, U,
                        (int)p);
        for (size_t i = 0; i < n; i++) {
            double square = 0;
            for (size_t j = 0; j < p; j++) square += U[i * p + j] * U[i * p + j];
            score[i * K + k] = density(d, k, w->level[k], square);
        }
    }
}

/* A row at which doubles overflow. */
typedef struct far_row {
    const work   *w;
    const double *x; /* [p], centred where the scores are linear */
    bool          linear;
} far_row;

/* The same scores in the range of long double. */
static void far_scores(const void *arg, long double *out)
{
    const far_row          *f = arg;
    const cri_discriminant *d = f->w->d;
    size_t                  p = d->p;
    for (size_t k = 0; k < d->K; k++) {
        const double *L = d->inverse + (d->groups == 1 ? 0 : k) * d->pp, *mean = f->w->mean + k * p;
        long double   square = 0, dot = 0, scale = d->dof[k] * d->spread[k];
        for (size_t i = 0; i < p && !f->linear; i++) {
            long double u = 0;
            for (size_t j = 0; j <= i; j++)
                u += (long double)L[i * p + j] * ((long double)f->x[j] - mean[j]);
            square += u * u;
        }
        for (size_t j = 0; j < p && f->linear; j++)
            dot += (long double)d->slope[k * p + j] * f->x[j];
        if (f->linear)
            out[k] = d->offset[k] + dot;
        else if (d->bayes && !(d->dof[k] > 0))
            out[k] = -INFINITY;
        else if (d->bayes)
            out[k] = f->w->level[k] - 0.5L * (d->dof[k] + (double)p) * log1pl(square / scale);
        else
            out[k] = f->w->level[k] - 0.5L * square;
    }
}

/* --- rows ------------------------------------------------------------------------------------ */

static void predict_slot(void *arg, size_t s)
{
    const work *w = arg;
    size_t      p = w->d->p, K = w->d->K, blocks = cri_block_count(w->rows->n, BLOCK);
    double     *X = w->workspace + s * BLOCK * 2 * p, *U = X + BLOCK * p;
    bool        linear = w->d->groups == 1 && !w->d->bayes && !w->joint;
    for (size_t b = s; b < blocks; b += w->slots) {
        cri_range range = cri_block_range(w->rows->n, BLOCK, b);
        size_t    n = range.end - range.begin;
        double   *score = w->out + range.begin * K;
        cri_rows_fill(w->rows, range.begin, range.end, X, p);
        if (linear)
            linear_scores(w->d, X, n, score);
        else
            quadratic_scores(w, X, n, U, score);
        for (size_t i = 0; i < n; i++) {
            far_row far = { w, X + i * p, linear };
            if (w->joint)
                cri_class_joints(score + i * K, K, shared_level(w->d), far_scores, &far,
                                 w->wide + s * K);
            else
                cri_class_probabilities(score + i * K, K, w->d->log_prior, far_scores, &far,
                                        w->wide + s * K);
        }
    }
}

static cr_status score_rows(cr_ctx *cx, const cri_discriminant *d, const double *mean,
                            const cri_rows *rows, bool joint, double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    work       w = { .d = d, .mean = mean, .rows = rows, .out = out, .joint = joint };

    w.slots = cri_block_count(rows->n, BLOCK);
    if (w.slots > MOST_SLOTS) w.slots = MOST_SLOTS;
    w.workspace = cr_scratch_matrix(&s, w.slots * BLOCK, 2 * d->p);
    w.wide = cr_scratch_bytes(&s, w.slots * d->K, sizeof *w.wide);
    w.level = cr_scratch_f64(&s, d->K);
    CR_TRY(s.status);
    CR_TRY(cri_blas_reserve(cx));
    for (size_t k = 0; k < d->K; k++) w.level[k] = level_of(d, k);
    cri_blas_enter();
    st = cri_parallel_for(cx, "predicting", w.slots, predict_slot, &w);
    cri_blas_leave();
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_discriminant_predict(cr_ctx *cx, const cri_discriminant *d, const double *mean,
                                   const cri_rows *rows, double *out)
{
    return score_rows(cx, d, mean, rows, false, out);
}

cr_status cri_discriminant_log_joint(cr_ctx *cx, const cri_discriminant *d, const double *mean,
                                     const cri_rows *rows, double *out)
{
    return score_rows(cx, d, mean, rows, true, out);
}
