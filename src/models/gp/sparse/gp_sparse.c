/* gp_sparse.c -- evidence, bound and gradients of sparse Gaussian processes.
 * With e = D^-1/2 (y - H b), g = B^-1 V e, alpha = L^-T g, a = D^-1/2 (e - V^T g), B = I + V V^T
 * and w = (a^2 - diag C^-1) / 2, the value changes by
 *   dK_nm:  a alpha^T - D^-1/2 V^T B^-1 L^-1 - 2 diag(v) D^1/2 V^T L^-1
 *   dK_mm:  - (alpha alpha^T - L^-T (I - B^-1) L^-1) / 2 + L^-T V diag(v) D V^T L^-1
 *   dK_ii:  v;      v = w for fitc, -1 / (2 D) for vfe, 0 for sor and dtc. */
#include "gp_sparse.h"
#include "gp_linear_model.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "math/constants.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"
#include "math/kernel/kernel_internal.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 1024, ATTEMPTS = 5 };
static const double LEAST_JITTER = 1e-12; /* of k(z, z): far above rounding */

/* --- blocks of rows -------------------------------------------------------------------------- */

typedef struct pass {
    cr_ctx               *cx;
    const cri_gp_problem *problem;
    const cr_kernel      *k;
    double                noise;
    cri_gp_sparse        *sp;
    size_t                m, q;
    double               *V; /* [m x b] L^-1 K_mn, then times D^-1/2                   */
    double               *D, *kii, *qii; /* [b] D; diagonals of K and of Q                      */
    double               *E; /* [b x (q + 1)] D^-1/2 (H, y)                            */
    cri_gp_linear_model   sums;
    double                trace;     /* sum (k - q) / D                                        */
    double                left, all; /* sum (k - q), sum k                                  */
    double                surplus;   /* sum (w - 1) log(D / (s r)): what w rows of fitc are more */
} pass;

/* A row of weight w is w rows, each with K - Q of its own (gp_sparse.h). */
static double weight_of(const cri_gp_data *a, size_t i) { return a->w ? a->w[i] : 1; }

/* V, D and E of some rows. */
static cr_status fill_block(pass *p, cri_range r, cr_kernel_input *out_rows)
{
    cr_status       st = CR_OK;
    cri_gp_data     part = cri_gp_data_view(p->problem->data, r.begin, r.end);
    size_t          b = part.n, m = p->m;
    cr_kernel_input rows = cri_gp_inputs(&part), z = cri_gp_inputs(&p->sp->Z);

    CR_TRY(cr_kernel_cross(p->cx, p->k, &z, &rows, cr_mat_of(p->V, m, b)));
    CR_TRY(cr_chol_forward(p->cx, cr_cmat_of(p->sp->L, m, m), cr_mat_of(p->V, m, b)));
    CR_TRY(cr_kernel_diagonal(p->cx, p->k, &rows, false, p->kii));
    memset(p->qii, 0, b * sizeof *p->qii);
    for (size_t a = 0; a < m; a++)
        for (size_t i = 0; i < b; i++) p->qii[i] += p->V[a * b + i] * p->V[a * b + i];
    for (size_t i = 0; i < b; i++) {
        double left = fmax(p->kii[i] - p->qii[i], 0);
        p->D[i] = p->noise * part.r[i];
        if (p->sp->approx == CRI_GP_FITC) p->D[i] += left / weight_of(&part, i);
    }
    cri_gp_linear_model_scale(p->problem, r.begin, p->D, b, p->E, p->V, m);
    *out_rows = rows;
done:
    return st;
}

static cr_status add_block(pass *p, cri_range r)
{
    cr_status       st = CR_OK;
    size_t          b = r.end - r.begin;
    cr_kernel_input rows;
    CR_TRY(fill_block(p, r, &rows));
    CR_TRY(cri_gp_linear_model_add(p->cx, &p->sums, p->V, p->E, p->D, b));
    for (size_t i = 0; i < b; i++) {
        double noise = p->noise * p->problem->data->r[r.begin + i];
        p->surplus += (weight_of(p->problem->data, r.begin + i) - 1) * log(p->D[i] / noise);
        p->trace += (p->kii[i] - p->qii[i]) / p->D[i];
        p->left += fmax(p->kii[i] - p->qii[i], 0);
        p->all += p->kii[i];
    }
done:
    return st;
}

/* --- the small systems ----------------------------------------------------------------------- */

cr_status cri_gp_inducing_factor(cr_ctx *cx, const cr_kernel *k, const cri_gp_data *Z, double *L,
                                 double *out_jitter)
{
    cr_status       st = CR_OK;
    size_t          m = Z->n;
    cr_kernel_input z = cri_gp_inputs(Z);
    double          mean = 0, jitter = 0;
    for (int attempt = 0; attempt <= ATTEMPTS; attempt++) {
        CR_TRY(cr_kernel_gram(cx, k, &z, CR_FILL_LOWER, cr_mat_of(L, m, m)));
        if (attempt == 0)
            for (size_t i = 0; i < m; i++) mean += L[i * m + i] / (double)m;
        jitter = LEAST_JITTER * mean * pow(10, attempt);
        for (size_t i = 0; i < m; i++) L[i * m + i] += jitter;
        st = cr_chol(cx, cr_mat_of(L, m, m));
        if (st != CR_ENUMERIC) break;
    }
    *out_jitter = jitter;
done:
    return st;
}

/* L2, U, A, b, g in the place of alpha, and the value, from the sums over all rows. */
static cr_status solve_sums(pass *p)
{
    cr_status          st = CR_OK;
    cri_gp_sparse     *sp = p->sp;
    const cri_gp_data *data = p->problem->data;
    CR_TRY(cri_gp_linear_model_solve(p->cx, &p->sums, sp->L2, sp->alpha, sp->beta, sp->U, sp->A,
                                     &sp->value));
    sp->value +=
        -0.5 * ((double)data->n * CRI_LOG_2PI + p->surplus) + cri_gp_merged(data, p->noise);
    if (sp->approx == CRI_GP_VFE) sp->value -= 0.5 * p->trace;
    sp->left = p->all > 0 ? p->left / p->all : 0;
    if (!isfinite(sp->value)) CR_TRY(cr_fail(p->cx, CR_ENUMERIC, "gp: the bound is not finite"));
done:
    return st;
}

/* --- gradient -------------------------------------------------------------------------------- */

typedef struct adjoint {
    double *Linv;         /* [m x m] L^-1                                         */
    double *J;            /* [m x m] B^-1 L^-1; for vfe less L^-1                 */
    double *W;            /* [m x b] the weights of K_mn                          */
    double *T;            /* [m x b] L2^-1 V, then V with weights                 */
    double *P;            /* [m x m] V diag(v) D V^T of fitc                      */
    double *g, *a, *v;    /* [m], [b], [b]                                      */
    double *some, *sum;   /* [theta + 1]                                       */
    double *dZ, *dZ_some; /* [m x d] or NULL                                 */
    double  by_noise;
} adjoint;

/* W and v of one block, whose V is there. */
static cr_status weigh_block(pass *p, adjoint *d, cri_range r)
{
    cr_status      st = CR_OK;
    cri_gp_sparse *sp = p->sp;
    size_t         b = r.end - r.begin, m = p->m, q = p->q;
    const double  *noise_share = p->problem->data->r + r.begin;
    bool           fitc = sp->approx == CRI_GP_FITC;
    cr_cmat        V = cr_cmat_of(p->V, m, b);
    cr_mat         T = cr_mat_of(d->T, m, b), W = cr_mat_of(d->W, m, b);

    memcpy(d->T, p->V, m * b * sizeof(double));
    CR_TRY(cr_chol_forward(p->cx, cr_cmat_of(sp->L2, m, m), T));
    for (size_t i = 0; i < b; i++) d->a[i] = d->v[i] = 0;
    for (size_t k = 0; k < m; k++)
        for (size_t i = 0; i < b; i++) {
            d->a[i] += p->V[k * b + i] * d->g[k];
            d->v[i] += d->T[k * b + i] * d->T[k * b + i];
        }
    for (size_t i = 0; i < b; i++) {
        double e = p->E[i * (q + 1) + q], root = sqrt(p->D[i]);
        for (size_t j = 0; j < q; j++) e -= p->E[i * (q + 1) + j] * sp->beta[j];
        d->a[i] = (e - d->a[i]) / root;
        double noise = p->noise * noise_share[i], rows = weight_of(p->problem->data, r.begin + i);
        double w = 0.5 * (d->a[i] * d->a[i] - (1 - d->v[i]) / p->D[i] - (rows - 1) / p->D[i]);
        d->by_noise += noise * w + 0.5 * (rows - 1);
        if (sp->approx == CRI_GP_VFE) d->by_noise += 0.5 * (p->kii[i] - p->qii[i]) / p->D[i];
        d->v[i] = fitc ? w / rows : sp->approx == CRI_GP_VFE ? -0.5 / p->D[i] : 0;
        if (p->kii[i] <= p->qii[i] && fitc) d->v[i] = 0; /* D does not feel it there */
    }
    for (size_t k = 0; k < m; k++)
        for (size_t i = 0; i < b; i++) {
            d->W[k * b + i] = d->a[i] * sp->alpha[k];
            d->T[k * b + i] = p->V[k * b + i] / sqrt(p->D[i]);
        }
    CR_TRY(cr_gemm(p->cx, -1, cr_cmat_of(d->J, m, m), CR_TRANSPOSED, cr_const(T), CR_PLAIN, 1, W));
    if (!fitc) goto done;
    for (size_t k = 0; k < m; k++)
        for (size_t i = 0; i < b; i++) d->T[k * b + i] = p->V[k * b + i] * d->v[i] * sqrt(p->D[i]);
    CR_TRY(
        cr_gemm(p->cx, -2, cr_cmat_of(d->Linv, m, m), CR_TRANSPOSED, cr_const(T), CR_PLAIN, 1, W));
    for (size_t k = 0; k < m; k++)
        for (size_t i = 0; i < b; i++) d->T[k * b + i] *= sqrt(p->D[i]);
    CR_TRY(cr_gemm(p->cx, 1, cr_const(T), CR_PLAIN, V, CR_TRANSPOSED, 1, cr_mat_of(d->P, m, m)));
done:
    return st;
}

static cr_status differentiate_block(pass *p, adjoint *d, cri_range r)
{
    cr_status       st = CR_OK;
    size_t          b = r.end - r.begin, m = p->m, t = cr_kernel_theta_size(p->k), dz = p->sp->Z.d;
    cr_kernel_input rows, z = cri_gp_inputs(&p->sp->Z);
    CR_TRY(fill_block(p, r, &rows));
    CR_TRY(weigh_block(p, d, r));
    for (size_t k = 0; k < m; k++) /* K_nm has a row for each row of the data */
        for (size_t i = 0; i < b; i++) d->T[i * m + k] = d->W[k * b + i];
    CR_TRY(cr_kernel_cross_gradient(p->cx, p->k, &rows, &z, cr_cmat_of(d->T, b, m), d->some,
                                    d->dZ ? cr_mat_of(d->dZ_some, m, dz) : (cr_mat){ 0 }));
    for (size_t j = 0; j < t; j++) d->sum[j] += d->some[j];
    for (size_t i = 0; d->dZ && i < m * dz; i++) d->dZ[i] += d->dZ_some[i];
    CR_TRY(cr_kernel_diagonal_gradient(p->cx, p->k, &rows, d->v, false, d->some, (cr_mat){ 0 }));
    for (size_t j = 0; j < t; j++) d->sum[j] += d->some[j];
done:
    return st;
}

/* X := L^-T X L^-1 for symmetric X [m x m]. */
static cr_status between(pass *p, const double *Linv, double *X, double *workspace)
{
    cr_status st = CR_OK;
    size_t    m = p->m;
    CR_TRY(cr_gemm(p->cx, 1, cr_cmat_of(X, m, m), CR_PLAIN, cr_cmat_of(Linv, m, m), CR_PLAIN, 0,
                   cr_mat_of(workspace, m, m)));
    CR_TRY(cr_gemm(p->cx, 1, cr_cmat_of(Linv, m, m), CR_TRANSPOSED, cr_cmat_of(workspace, m, m),
                   CR_PLAIN, 0, cr_mat_of(X, m, m)));
done:
    return st;
}

/* The part of K_mm: its weights in d->P. */
static cr_status differentiate_inducing(pass *p, adjoint *d, const double *Binv)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(p->cx);
    cri_gp_sparse  *sp = p->sp;
    size_t          m = p->m, t = cr_kernel_theta_size(p->k), dz = sp->Z.d;
    cr_kernel_input z = cri_gp_inputs(&sp->Z);
    double         *workspace = cr_scratch_matrix(&s, m, m);

    CR_TRY(s.status);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++) {
            size_t at = i * m + j;
            d->P[at] += 0.5 * ((i == j) - Binv[at]);
            if (sp->approx == CRI_GP_VFE) d->P[at] -= 0.5 * p->sums.Phi[at];
        }
    CR_TRY(between(p, d->Linv, d->P, workspace));
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j <= i; j++) {
            double w =
                0.5 * (d->P[i * m + j] + d->P[j * m + i]) - 0.5 * sp->alpha[i] * sp->alpha[j];
            d->P[i * m + j] = d->P[j * m + i] = w;
        }
    CR_TRY(cr_kernel_gram_gradient(p->cx, p->k, &z, cr_cmat_of(d->P, m, m), d->some));
    for (size_t j = 0; j < t; j++) d->sum[j] += d->some[j];
    if (d->dZ)
        CR_TRY(cr_kernel_gram_input_gradient(p->cx, p->k, &z, cr_cmat_of(d->P, m, m),
                                             cr_mat_of(d->dZ_some, m, dz)));
    for (size_t i = 0; d->dZ && i < m * dz; i++) d->dZ[i] += d->dZ_some[i];
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status differentiate(pass *p, size_t width, double *out_gradient, double *opt_dZ)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(p->cx);
    cri_gp_sparse     *sp = p->sp;
    const cri_gp_data *data = p->problem->data;
    size_t             m = p->m, t = cr_kernel_theta_size(p->k), dz = sp->Z.d;
    double            *Binv = cr_scratch_matrix(&s, m, m);
    adjoint            d = { .Linv = cr_scratch_bytes(&s, m * m, sizeof(double)),
                             .J = cr_scratch_matrix(&s, m, m),
                             .W = cr_scratch_matrix(&s, m, width),
                             .T = cr_scratch_matrix(&s, m, width),
                             .P = cr_scratch_bytes(&s, m * m, sizeof(double)),
                             .g = cr_scratch_f64(&s, m),
                             .a = cr_scratch_f64(&s, width),
                             .v = cr_scratch_f64(&s, width),
                             .some = cr_scratch_f64(&s, t + 1),
                             .sum = cr_scratch_bytes(&s, t + 1, sizeof(double)),
                             .dZ = opt_dZ,
                             .dZ_some = cr_scratch_matrix(&s, m, dz) };

    CR_TRY(s.status);
    for (size_t i = 0; i < m; i++) d.Linv[i * m + i] = 1;
    CR_TRY(cr_chol_forward(p->cx, cr_cmat_of(sp->L, m, m), cr_mat_of(d.Linv, m, m)));
    CR_TRY(cr_chol_inverse(p->cx, cr_cmat_of(sp->L2, m, m), cr_mat_of(Binv, m, m)));
    CR_TRY(cr_gemm(p->cx, 1, cr_cmat_of(Binv, m, m), CR_PLAIN, cr_cmat_of(d.Linv, m, m), CR_PLAIN,
                   0, cr_mat_of(d.J, m, m)));
    for (size_t i = 0; sp->approx == CRI_GP_VFE && i < m * m; i++) d.J[i] -= d.Linv[i];
    memcpy(d.g, sp->alpha, m * sizeof(double)); /* g, of which alpha = L^-T g is made here */
    CR_TRY(cr_chol_backward(p->cx, cr_cmat_of(sp->L, m, m), cr_mat_of(sp->alpha, m, 1)));
    for (size_t i = 0; opt_dZ && i < m * dz; i++) opt_dZ[i] = 0;
    for (size_t b = 0; b < cri_block_count(data->n, BLOCK); b++)
        CR_TRY(differentiate_block(p, &d, cri_block_range(data->n, BLOCK, b)));
    CR_TRY(differentiate_inducing(p, &d, Binv));
    memcpy(out_gradient, d.sum, t * sizeof(double));
    out_gradient[t] =
        d.by_noise + 0.5 * (data->spread / p->noise - (data->count - (double)data->n));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- all of it ------------------------------------------------------------------------------- */

cr_status cri_gp_sparse_solve(cr_ctx *cx, const cri_gp_problem *problem, const cr_kernel *k,
                              double noise, cri_gp_sparse *sparse, double *opt_gradient,
                              double *opt_dZ)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cr_kernel *settled = NULL;
    size_t     n = problem->data->n, m = sparse->Z.n, q = problem->q, w = n < BLOCK ? n : BLOCK;
    pass       p = { .cx = cx,
                     .problem = problem,
                     .k = k,
                     .noise = noise,
                     .sp = sparse,
                     .m = m,
                     .q = q,
                     .V = cr_scratch_matrix(&s, m, w),
                     .D = cr_scratch_f64(&s, w),
                     .kii = cr_scratch_f64(&s, w),
                     .qii = cr_scratch_f64(&s, w),
                     .E = cr_scratch_matrix(&s, w, q + 1),
                     .sums = cri_gp_linear_model_new(&s, m, q) };

    CR_TRY(s.status);
    CR_TRY(cri_kernel_settled(cx, k, opt_gradient != NULL, &settled));
    if (settled) p.k = k = settled;
    CR_TRY(cri_gp_inducing_factor(cx, k, &sparse->Z, sparse->L, &sparse->jitter));
    for (size_t b = 0; b < cri_block_count(n, BLOCK); b++) {
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(add_block(&p, cri_block_range(n, BLOCK, b)));
    }
    CR_TRY(solve_sums(&p));
    if (opt_gradient)
        CR_TRY(differentiate(&p, w, opt_gradient, opt_dZ));
    else
        CR_TRY(cr_chol_backward(cx, cr_cmat_of(sparse->L, m, m), cr_mat_of(sparse->alpha, m, 1)));
done:
    cr_kernel_free(cx, settled);
    cr_scratch_end(&s);
    return st;
}

cr_status cri_gp_sparse_objective(cr_ctx *cx, void *method, const cri_gp_problem *problem,
                                  const cr_kernel *k, double noise, double *out_value,
                                  double *opt_gradient)
{
    cri_gp_sparse *sparse = method;
    cr_status      st = cri_gp_sparse_solve(cx, problem, k, noise, sparse, opt_gradient, NULL);
    if (st == CR_OK) *out_value = sparse->value;
    return st;
}
