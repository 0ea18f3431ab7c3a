/* least_squares_factor.c -- least squares from the triangular factor of rows.
 * With R = [R_x r; 0 s] of the centred rows the problem is  minimise |r - R_x b|^2 + s^2.  Without
 * an intercept the row sqrt(weight) mean is taken into R first. */
#include "rows_factor.h"
#include "base/scratch.h"
#include "math/dense/decompose.h"

#include <math.h>
#include <string.h>

typedef struct problem {
    size_t  p, n;     /* n = p + 2 rows stand for all */
    double *C;        /* [n x p] scaled columns       */
    double *t;        /* [n] target                   */
    double *c, *D;    /* [p] centre, scale           */
    bool   *constant; /* [p] */
    double  root_W;
    cr_qr   qr;
} problem;

/* C, t and their scales.  A column without spread beyond the rounding of its mean becomes 0. */
static void set_up(const cri_rows_factor *f, bool intercept, problem *q)
{
    size_t p = f->p, all = f->q;
    q->root_W = sqrt(f->weight);
    for (size_t i = 0; i < all; i++) {
        for (size_t j = 0; j < p; j++) q->C[i * p + j] = f->R[i * all + j];
        q->t[i] = f->R[i * all + p];
    }
    for (size_t j = 0; j < p; j++) q->C[all * p + j] = intercept ? 0 : q->root_W * f->mean[j];
    q->t[all] = intercept ? 0 : q->root_W * f->mean[p];
    for (size_t j = 0; j < p; j++) {
        double norm = 0;
        q->c[j] = intercept ? f->mean[j] : 0;
        for (size_t i = 0; i < q->n; i++) norm = hypot(norm, q->C[i * p + j]);
        bool constant = !(norm > 0x1p-48 * q->root_W * fabs(q->c[j]));
        q->constant[j] = constant;
        q->D[j] = constant ? 1 : norm / q->root_W;
        for (size_t i = 0; i < q->n; i++)
            q->C[i * p + j] = constant ? 0 : q->C[i * p + j] / q->D[j];
    }
}

/* Coefficients of the scaled terms into b [p], and what is left of |t|^2. */
static cr_status solve(cr_ctx *cx, problem *q, double *b, double *out_rss)
{
    cr_status st = cr_qr_apply(cx, &q->qr, true, q->t);
    double    rss = 0;
    if (st != CR_OK) return st;
    for (size_t i = q->qr.rank; i < q->n; i++) rss += q->t[i] * q->t[i];
    cr_qr_solve_r(&q->qr, false, q->t);
    memset(b, 0, q->p * sizeof(double));
    for (size_t j = 0; j < q->qr.rank; j++) b[q->qr.pivot[j]] = q->t[j];
    *out_rss = rss;
    return CR_OK;
}

cr_status cri_least_squares_factor(cr_ctx *cx, const cri_rows_factor *f, const cr_design *design,
                                   bool intercept, cri_predictor *out_fit,
                                   cri_least_squares *out_facts)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     p = f->p, n = f->q + 1;
    double    *b = cr_scratch_f64(&s, p), *workspace = cr_scratch_f64(&s, p + 1), rss, rcond = 1,
           tss = 0, condition = 1;
    problem       q = { .p = p,
                        .n = n,
                        .C = cr_scratch_matrix(&s, n, p),
                        .t = cr_scratch_f64(&s, n),
                        .c = cr_scratch_f64(&s, p),
                        .D = cr_scratch_f64(&s, p),
                        .constant = cr_scratch_bytes(&s, p, sizeof(bool)) };
    cri_predictor fit = { 0 };

    CR_TRY(s.status);
    set_up(f, intercept, &q);
    for (size_t i = 0; i < n; i++) tss += q.t[i] * q.t[i];
    CR_TRY(cr_qr_new(cx, cr_cmat_of(q.C, n, p), -1, &q.qr));
    /* a little more than for rows (least_squares_qr.c), for the way that the factor has come */
    CR_TRY(cri_qr_end_at_rounding(cx, &q.qr, q.c, q.D, 0x1p-46 * q.root_W, workspace));
    CR_TRY(cri_qr_prefer_earlier(cx, q.C, &q.qr));
    CR_TRY(cri_predictor_new(cx, p, q.qr.rank, &fit));
    if (q.qr.rank > 0) CR_TRY(cr_qr_rcond(cx, &q.qr, &rcond));
    CR_TRY(cr_qr_condition(cx, &q.qr, &condition));
    CR_TRY(solve(cx, &q, b, &rss));
    memcpy(fit.centre, q.c, p * sizeof(double));
    memcpy(fit.scale, q.D, p * sizeof(double));
    cri_predictor_set_coef(&fit, b, intercept ? f->mean[p] : 0);
    cri_predictor_set_qr(&fit, &q.qr, workspace);
    cri_predictor_set_noise(&fit, intercept, f->weight, q.qr.rank, rss);
    for (size_t j = q.qr.rank; j < p; j++) fit.coef_sd[q.qr.pivot[j]] = NAN;
    if (q.qr.rank < p)
        cri_name_aliased(cx, design, q.qr.pivot + q.qr.rank, q.constant, p - q.qr.rank);
    *out_facts = (cri_least_squares){ .rank = q.qr.rank,
                                      .weight = f->weight,
                                      .rss = rss,
                                      .tss = tss,
                                      .condition = condition,
                                      .correction = 0x1p-52 / rcond };
    *out_fit = fit;
    fit = (cri_predictor){ 0 };
done:
    cri_predictor_free(cx, &fit);
    cr_qr_free(cx, &q.qr);
    cr_scratch_end(&s);
    return st;
}
