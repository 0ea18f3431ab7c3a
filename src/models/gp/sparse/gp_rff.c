/* gp_rff.c -- evidence and gradient of a Gaussian process on random Fourier features. */
#include "gp_rff.h"
#include "gp_linear_model.h"
#include "base/parallel.h"
#include "math/constants.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"

#include <math.h>

enum { BLOCK = 1024, ERROR_ROWS = 200 };
static const double STEP = 1e-5; /* of differences of frequencies by theta, which are smooth */

typedef struct pass {
    cr_ctx               *cx;
    const cri_gp_problem *problem;
    const cr_kernel      *k;
    double                noise;
    cri_gp_rff           *rff;
    size_t                m, q, d;
    double               *V, *angle; /* [m x b] features times D^-1/2; angles */
    double               *E, *D;     /* [b x (q + 1)] D^-1/2 (H, y); [b]      */
    cri_gp_linear_model   sums;
} pass;

/* V, D and E of some rows. */
static cr_status fill_block(pass *p, cri_range r, bool angles)
{
    cr_status          st = CR_OK;
    const cri_gp_data *a = p->problem->data;
    const cri_gp_rff  *f = p->rff;
    size_t             b = r.end - r.begin;
    CR_TRY(cri_gp_waves(p->cx, f->W, f->weight, f->phase, p->m, a->X + r.begin * p->d, b, p->d,
                        p->V, angles ? p->angle : NULL));
    for (size_t i = 0; i < b; i++) p->D[i] = p->noise * a->r[r.begin + i];
    cri_gp_linear_model_scale(p->problem, r.begin, p->D, b, p->E, p->V, p->m);
done:
    return st;
}

/* --- gradient -------------------------------------------------------------------------------- */

typedef struct adjoint {
    double *Binv, *G;         /* [m x m] (I + V V^T)^-1; [m x b]                  */
    double *by_W, *by_weight; /* [m x d], [m] derivatives by frequencies and weights */
    double *a, *v;            /* [b]                                              */
    double  by_noise;
} adjoint;

/* G = d value / d phi of one block: a g^T - C^-1 Phi; its products with d phi. */
static cr_status differentiate_block(pass *p, adjoint *d, cri_range r)
{
    cr_status         st = CR_OK;
    const cri_gp_rff *f = p->rff;
    size_t            b = r.end - r.begin, m = p->m, q = p->q;

    CR_TRY(fill_block(p, r, true));
    CR_TRY(cr_gemm(p->cx, 1, cr_cmat_of(d->Binv, m, m), CR_PLAIN, cr_cmat_of(p->V, m, b), CR_PLAIN,
                   0, cr_mat_of(d->G, m, b)));
    for (size_t i = 0; i < b; i++) d->a[i] = d->v[i] = 0;
    for (size_t k = 0; k < m; k++)
        for (size_t i = 0; i < b; i++) {
            d->a[i] += p->V[k * b + i] * f->g[k];
            d->v[i] += p->V[k * b + i] * d->G[k * b + i];
        }
    for (size_t i = 0; i < b; i++) {
        double e = p->E[i * (q + 1) + q], root = sqrt(p->D[i]);
        for (size_t j = 0; j < q; j++) e -= p->E[i * (q + 1) + j] * f->beta[j];
        d->a[i] = (e - d->a[i]) / root;
        d->by_noise += 0.5 * (p->D[i] * d->a[i] * d->a[i] - (1 - d->v[i]));
        d->v[i] = root;
    }
    for (size_t k = 0; k < m; k++) {
        bool   straight = f->phase[k] == CRI_GP_STRAIGHT;
        double sum = 0;
        for (size_t i = 0; i < b; i++) {
            double g = d->a[i] * f->g[k] - d->G[k * b + i] / d->v[i], t = p->angle[k * b + i];
            sum += g * (straight ? t : cos(t));
            d->G[k * b + i] = straight ? 0 : -g * f->weight[k] * sin(t);
        }
        d->by_weight[k] += sum;
    }
    if (p->d)
        CR_TRY(cr_gemm(p->cx, 1, cr_cmat_of(d->G, m, b), CR_PLAIN,
                       cr_cmat_of(p->problem->data->X + r.begin * p->d, b, p->d), CR_PLAIN, 1,
                       cr_mat_of(d->by_W, m, p->d)));
done:
    return st;
}

/* From frequencies and weights to theta. */
static cr_status pull_back(pass *p, const adjoint *d, double *out_gradient)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(p->cx);
    size_t     m = p->m, size = m * p->d, t = cr_kernel_theta_size(p->k);
    cr_kernel *k = NULL;
    double    *W[2] = { cr_scratch_matrix(&s, m, p->d), cr_scratch_matrix(&s, m, p->d) };
    double    *weight[2] = { cr_scratch_f64(&s, m), cr_scratch_f64(&s, m) };
    double *phase = cr_scratch_f64(&s, m), *x = cr_scratch_f64(&s, t), *at = cr_scratch_f64(&s, t);

    CR_TRY(s.status);
    CR_TRY(cr_kernel_copy(p->cx, p->k, &k));
    cr_kernel_theta(p->k, x);
    for (size_t j = 0; j < t; j++) {
        double keep = x[j], ends[2], sum = 0;
        for (int side = 0; side < 2; side++) {
            x[j] = keep + (side ? STEP : -STEP);
            CR_TRY(cr_kernel_set_theta(p->cx, k, x));
            cr_kernel_theta(k, at);
            ends[side] = at[j]; /* not beyond a bound */
            cri_gp_spectrum_fill(p->rff->spectrum, k, W[side], weight[side], phase);
        }
        x[j] = keep;
        for (size_t i = 0; i < size; i++) sum += d->by_W[i] * (W[1][i] - W[0][i]);
        for (size_t i = 0; i < m; i++) sum += d->by_weight[i] * (weight[1][i] - weight[0][i]);
        out_gradient[j] = ends[1] > ends[0] ? sum / (ends[1] - ends[0]) : 0;
    }
done:
    cr_kernel_free(p->cx, k);
    cr_scratch_end(&s);
    return st;
}

static cr_status differentiate(pass *p, size_t width, double *out_gradient)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(p->cx);
    const cri_gp_data *data = p->problem->data;
    size_t             m = p->m, t = cr_kernel_theta_size(p->k);
    adjoint            d = { .Binv = cr_scratch_matrix(&s, m, m),
                             .G = cr_scratch_matrix(&s, m, width),
                             .by_W = cr_scratch_bytes(&s, m * p->d, sizeof(double)),
                             .by_weight = cr_scratch_bytes(&s, m, sizeof(double)),
                             .a = cr_scratch_f64(&s, width),
                             .v = cr_scratch_f64(&s, width) };

    CR_TRY(s.status);
    CR_TRY(cr_chol_inverse(p->cx, cr_cmat_of(p->rff->L2, m, m), cr_mat_of(d.Binv, m, m)));
    for (size_t b = 0; b < cri_block_count(data->n, BLOCK); b++)
        CR_TRY(differentiate_block(p, &d, cri_block_range(data->n, BLOCK, b)));
    CR_TRY(pull_back(p, &d, out_gradient));
    out_gradient[t] =
        d.by_noise + 0.5 * (data->spread / p->noise - (data->count - (double)data->n));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- all of it ------------------------------------------------------------------------------- */

cr_status cri_gp_rff_solve(cr_ctx *cx, const cri_gp_problem *problem, const cr_kernel *k,
                           double noise, cri_gp_rff *rff, double *opt_gradient)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(cx);
    const cri_gp_data *data = problem->data;
    size_t             m = rff->spectrum->m, q = problem->q, w = data->n < BLOCK ? data->n : BLOCK;
    pass               p = { .cx = cx,
                             .problem = problem,
                             .k = k,
                             .noise = noise,
                             .rff = rff,
                             .m = m,
                             .q = q,
                             .d = data->d,
                             .V = cr_scratch_matrix(&s, m, w),
                             .angle = cr_scratch_matrix(&s, m, opt_gradient ? w : 0),
                             .E = cr_scratch_matrix(&s, w, q + 1),
                             .D = cr_scratch_f64(&s, w),
                             .sums = cri_gp_linear_model_new(&s, m, q) };

    CR_TRY(s.status);
    cri_gp_spectrum_fill(rff->spectrum, k, rff->W, rff->weight, rff->phase);
    for (size_t b = 0; b < cri_block_count(data->n, BLOCK); b++) {
        cri_range r = cri_block_range(data->n, BLOCK, b);
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(fill_block(&p, r, false));
        CR_TRY(cri_gp_linear_model_add(cx, &p.sums, p.V, p.E, p.D, r.end - r.begin));
    }
    CR_TRY(cri_gp_linear_model_solve(cx, &p.sums, rff->L2, rff->g, rff->beta, rff->U, rff->A,
                                     &rff->value));
    rff->value += -0.5 * (double)data->n * CRI_LOG_2PI + cri_gp_merged(data, noise);
    if (!isfinite(rff->value)) CR_TRY(cr_fail(cx, CR_ENUMERIC, "gp: the evidence is not finite"));
    if (opt_gradient) CR_TRY(differentiate(&p, w, opt_gradient));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_gp_rff_objective(cr_ctx *cx, void *method, const cri_gp_problem *problem,
                               const cr_kernel *k, double noise, double *out_value,
                               double *opt_gradient)
{
    cri_gp_rff *rff = method;
    cr_status   st = cri_gp_rff_solve(cx, problem, k, noise, rff, opt_gradient);
    if (st == CR_OK) *out_value = rff->value;
    return st;
}

cr_status cri_gp_rff_error(cr_ctx *cx, const cri_gp_data *data, const cr_kernel *k,
                           const cri_gp_rff *rff, double *out_error)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    size_t      n = data->n < ERROR_ROWS ? data->n : ERROR_ROWS, m = rff->spectrum->m, d = data->d;
    cri_gp_data some = { 0 };
    double *F = cr_scratch_matrix(&s, m, n), *K = cr_scratch_matrix(&s, n, n), mean = 0, square = 0;

    CR_TRY(s.status);
    CR_TRY(cri_gp_data_draw(cx, data, n, 0, &some));
    cr_kernel_input in = cri_gp_inputs(&some);
    CR_TRY(cr_kernel_gram(cx, k, &in, CR_FILL_BOTH, cr_mat_of(K, n, n)));
    for (size_t i = 0; i < n; i++) mean += K[i * n + i] / (double)n;
    CR_TRY(cri_gp_waves(cx, rff->W, rff->weight, rff->phase, m, some.X, n, d, F, NULL));
    CR_TRY(cr_syrk(cx, -1, cr_cmat_of(F, m, n), CR_TRANSPOSED, 1, cr_mat_of(K, n, n)));
    for (size_t i = 0; i < n * n; i++) square += K[i] * K[i] / (double)(n * n);
    *out_error = mean > 0 ? sqrt(square) / mean : 0;
done:
    cri_gp_data_free(cx, &some);
    cr_scratch_end(&s);
    return st;
}
