/* group_posterior.c -- coefficients and groups of a linear predictor with varying intercepts. */
#include "group_posterior.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"
#include "math/special/special.h"

#include <math.h>

cr_status cri_group_posterior_new(cr_scratch *arena, const cri_group_sums *s,
                                  cri_group_posterior *out)
{
    const size_t q = s->p + 1, size = sizeof(double); /* sums begin at 0 */
    *out = (cri_group_posterior){ .q = q,
                                  .v = cr_scratch_bytes(arena, q, size),
                                  .C = cr_scratch_bytes(arena, q, q * size),
                                  .C1 = cr_scratch_matrix(arena, q, q),
                                  .mean = cr_scratch_bytes(arena, s->J, size),
                                  .vv = cr_scratch_bytes(arena, s->J, size),
                                  .c = cr_scratch_bytes(arena, s->J, q * size),
                                  .log = cr_scratch_bytes(arena, q, size),
                                  .log2 = cr_scratch_bytes(arena, q, size) };
    return arena->status;
}

/* C1: b0 = c_t - c . w + N(0, s2 / rows) where it is flat. */
static cr_status covariance_of(cr_ctx *cx, size_t p, const cri_group_node *n,
                               cri_group_posterior *a)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    size_t        q = a->q;
    const double *c = n->e->c;
    double       *C = a->C1, *W = cr_scratch_matrix(&s, p, p);
    double        corner = n->flat ? n->sigma2 / n->e->rows : 0;
    CR_TRY(s.status);
    if (p > 0)
        CR_TRY(cr_syrk(cx, n->sigma2, cr_cmat_of(n->factor, p, p), CR_TRANSPOSED, 0,
                       cr_mat_of(W, p, p)));
    for (size_t j = 0; j < p; j++) {
        double with = 0;
        for (size_t k = 0; k < p; k++) {
            C[(1 + j) * q + 1 + k] = W[j * p + k];
            with -= W[j * p + k] * c[k];
        }
        C[1 + j] = C[(1 + j) * q] = with;
        corner -= with * c[j];
    }
    C[0] = corner;
done:
    cr_scratch_end(&s);
    return st;
}

/* The scale^2 of v_i at a node. */
static void add_scale(cri_group_posterior *a, size_t i, double share, double scale2)
{
    double x = log(fmax(scale2, 1e-300));
    a->log[i] += share * x;
    a->log2[i] += share * x * x;
}

cr_status cri_group_posterior_add(cr_ctx *cx, const cri_group_sums *s, const cri_group_node *n,
                                  double share, double spread, cri_group_posterior *a,
                                  double *out_kept)
{
    size_t    q = a->q, p = s->p;
    double    sigma2 = n->sigma2, theta = n->e->theta, kept = 0;
    double    total = a->total + share, cross = spread * share * a->total / total;
    cr_status st = covariance_of(cx, p, n, a);
    if (st != CR_OK) return st;
    for (size_t g = 0; g < s->J; g++) {
        const double *z = s->mean + g * s->q;
        double        D = s->N[g] + theta, k = s->N[g] / D, u = z[p] - n->v[0], vv = 0;
        for (size_t j = 0; j < p; j++) u -= z[j] * n->v[1 + j];
        double delta = k * u - a->mean[g], *c = a->c + g * q;
        for (size_t j = 0; j < q; j++) {
            double with = a->C1[j * q]; /* C1 (1, z_g) */
            for (size_t i = 0; i < p; i++) with += a->C1[j * q + 1 + i] * z[i];
            vv += with * (j == 0 ? 1 : z[j - 1]);
            c[j] += -share * k * with + cross * delta * (n->v[j] - a->v[j]);
        }
        vv = sigma2 / D + k * k * vv;
        kept += theta * vv / sigma2;
        a->vv[g] += share * vv + cross * delta * delta;
        a->mean[g] += share / total * delta;
    }
    for (size_t i = 0; i < q; i++)
        for (size_t j = 0; j < q; j++)
            a->C[i * q + j] +=
                share * a->C1[i * q + j] + cross * (n->v[i] - a->v[i]) * (n->v[j] - a->v[j]);
    for (size_t i = 0; i < q; i++) a->v[i] += share / total * (n->v[i] - a->v[i]);
    for (size_t i = 0; i < q; i++) add_scale(a, i, share, a->C1[i * q + i]);
    a->total = total;
    *out_kept = kept;
    return CR_OK;
}

/* The predictor: its centre is where the mean is free of w, so that leverages are a sum. */
static cr_status set_predictor(cr_ctx *cx, const cri_group_sums *s, const cri_group_posterior *a,
                               double sigma2, cri_predictor *fit, double *shift)
{
    cr_status  st = CR_OK;
    cr_scratch scratch = cr_scratch_begin(cx);
    size_t     p = s->p, q = a->q;
    double    *L = cr_scratch_matrix(&scratch, p, p), at = s->offset + a->v[0];

    CR_TRY(scratch.status);
    for (size_t j = 0; j < p; j++) {
        for (size_t k = 0; k < p; k++) L[j * p + k] = a->C[(1 + j) * q + 1 + k] / sigma2;
        shift[j] = a->C[(1 + j) * q] / sigma2;
    }
    if (p > 0) CR_TRY(cr_chol(cx, cr_mat_of(L, p, p)));
    if (p > 0) CR_TRY(cr_chol_solve(cx, cr_cmat_of(L, p, p), cr_mat_of(shift, p, 1)));
    fit->mean_share = a->C[0] / sigma2;
    for (size_t j = 0; j < p; j++) {
        fit->centre[j] = s->centre[j] - shift[j] * s->scale[j];
        fit->scale[j] = s->scale[j];
        fit->mean_share -= shift[j] * a->C[(1 + j) * q] / sigma2;
        at -= shift[j] * a->v[1 + j];
        for (size_t k = 0; k < p; k++) fit->factor[j * p + k] = k >= j ? L[k * p + j] : 0;
    }
    fit->mean_share = fmax(fit->mean_share, 0);
    cri_predictor_set_coef(fit, a->v + 1, at);
    cri_predictor_set_sds(fit);
done:
    cr_scratch_end(&scratch);
    return st;
}

/* Degrees of freedom of the interval of v_i. */
static double dof_of(const cri_group_posterior *a, size_t i, double dof)
{
    double variance = a->log2[i] - a->log[i] * a->log[i];
    if (!(variance > 1e-6)) return dof;
    return 2 * cr_trigamma_inv(variance + (isfinite(dof) ? cr_trigamma(dof / 2) : 0));
}

/* Where there are nodes that differ. */
static cr_status set_dof(cr_ctx *cx, const cri_group_posterior *a, double dof, cri_varying *v)
{
    bool differ = false;
    for (size_t i = 0; i < v->width; i++) differ = differ || dof_of(a, i, dof) < dof;
    if (!differ) return CR_OK;
    v->dof = cr_alloc(cx, v->width, sizeof(double));
    if (!v->dof) return CR_ENOMEM;
    for (size_t i = 0; i < v->width; i++) v->dof[i] = dof_of(a, i, dof);
    return CR_OK;
}

cr_status cri_group_posterior_finish(cr_ctx *cx, const cri_group_sums *s,
                                     const cri_group_posterior *a, double sigma2,
                                     cri_predictor *fit, cri_varying *out)
{
    cr_status  st = CR_OK;
    cr_scratch scratch = cr_scratch_begin(cx);
    size_t     q = a->q;
    double    *shift = cr_scratch_f64(&scratch, s->p);

    CR_TRY(scratch.status);
    CR_TRY(set_predictor(cx, s, a, sigma2, fit, shift));
    CR_TRY(cri_varying_new(cx, s->J, q, out));
    CR_TRY(set_dof(cx, a, fit->dof, out));
    for (size_t g = 0; g < s->J; g++) {
        double *c = out->covariance + g * q;
        out->weight[g] = s->N[g];
        out->mean[g] = a->mean[g];
        out->variance[g] = a->vv[g] / sigma2;
        for (size_t j = 0; j < q; j++) c[j] = a->c[g * q + j] / sigma2;
        for (size_t j = 1; j < q; j++) c[0] -= shift[j - 1] * c[j];
    }
done:
    cr_scratch_end(&scratch);
    return st;
}
