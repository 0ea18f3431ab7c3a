/* gp_svgp.c -- the stochastic variational bound, its gradient, and steps of q. */
#include "gp_svgp.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 1024 };

/* --- some rows ------------------------------------------------------------------------------- */

typedef struct batch {
    cr_ctx               *cx;
    const cri_gp_problem *problem;
    const cr_kernel      *k;
    double                noise;
    const cri_gp_svgp    *qv;
    size_t                m, q;
    cri_gp_data           rows; /* copies of the rows at hand */
    double               *H;    /* [b x q]                    */
    double               *V;    /* [m x b] L^-1 K_mn          */
    double               *D, *kii;
} batch;

static cr_status batch_new(cr_scratch *s, cr_ctx *cx, const cri_gp_problem *problem,
                           const cr_kernel *k, double noise, const cri_gp_svgp *qv, size_t items,
                           batch *out)
{
    size_t b = items < BLOCK ? items : BLOCK, d = problem->data->d, c = problem->data->c;
    *out = (batch){ .cx = cx,
                    .problem = problem,
                    .k = k,
                    .noise = noise,
                    .qv = qv,
                    .m = qv->Z.n,
                    .q = problem->q,
                    .rows = { .d = d,
                              .c = c,
                              .X = cr_scratch_matrix(s, b, d),
                              .codes = cr_scratch_bytes(s, b * c, sizeof(uint32_t)),
                              .y = cr_scratch_f64(s, b),
                              .r = cr_scratch_f64(s, b) },
                    .H = cr_scratch_matrix(s, b, problem->q),
                    .V = cr_scratch_matrix(s, qv->Z.n, b),
                    .D = cr_scratch_f64(s, b),
                    .kii = cr_scratch_f64(s, b) };
    return s->status;
}

/* The rows items[begin .. end), or those rows themselves, with their V, D and k(x, x). */
static cr_status batch_fill(batch *t, const size_t *opt_items, cri_range r)
{
    cr_status          st = CR_OK;
    const cri_gp_data *a = t->problem->data;
    cri_gp_data       *rows = &t->rows;
    size_t             b = rows->n = r.end - r.begin, m = t->m;
    for (size_t i = 0; i < b; i++) {
        size_t from = opt_items ? opt_items[r.begin + i] : r.begin + i;
        for (size_t j = 0; j < a->d; j++) rows->X[i * a->d + j] = a->X[from * a->d + j];
        for (size_t j = 0; j < a->c; j++) rows->codes[i * a->c + j] = a->codes[from * a->c + j];
        for (size_t j = 0; j < t->q; j++) t->H[i * t->q + j] = t->problem->H[from * t->q + j];
        rows->y[i] = a->y[from];
        rows->r[i] = a->r[from];
        t->D[i] = t->noise * a->r[from];
    }
    cr_kernel_input in = cri_gp_inputs(rows), z = cri_gp_inputs(&t->qv->Z);
    CR_TRY(cr_kernel_cross(t->cx, t->k, &z, &in, cr_mat_of(t->V, m, b)));
    CR_TRY(cr_chol_forward(t->cx, cr_cmat_of(t->qv->L, m, m), cr_mat_of(t->V, m, b)));
    CR_TRY(cr_kernel_diagonal(t->cx, t->k, &in, false, t->kii));
done:
    return st;
}

/* --- q --------------------------------------------------------------------------------------- */

/* sums := (1 - rate) sums + rate times those of the items, as if they were all rows. */
cr_status cri_gp_svgp_step(cr_ctx *cx, const cri_gp_problem *problem, const cr_kernel *k,
                           double noise, const size_t *opt_items, size_t n_items, double rate,
                           cri_gp_svgp *qv)
{
    cr_status            st = CR_OK;
    cr_scratch           s = cr_scratch_begin(cx);
    size_t               m = qv->Z.n, q = problem->q, w = q + 1;
    cri_gp_linear_model *sums = &qv->sums;
    batch                t;
    double               jitter, unused, each = rate * (double)problem->data->n / (double)n_items;
    double              *E = cr_scratch_matrix(&s, n_items < BLOCK ? n_items : BLOCK, w);

    CR_TRY(batch_new(&s, cx, problem, k, noise, qv, n_items, &t));
    CR_TRY(cri_gp_inducing_factor(cx, k, &qv->Z, qv->L, &jitter));
    for (size_t i = 0; i < m * m; i++) sums->Phi[i] *= 1 - rate;
    for (size_t i = 0; i < m * w; i++) sums->M[i] *= 1 - rate;
    for (size_t i = 0; i < w * w; i++) sums->S[i] *= 1 - rate;
    for (size_t c = 0; c < cri_block_count(n_items, BLOCK); c++) {
        cri_range r = cri_block_range(n_items, BLOCK, c);
        size_t    b = r.end - r.begin;
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(batch_fill(&t, opt_items, r));
        for (size_t i = 0; i < b; i++) {
            double root = sqrt(each / t.D[i]);
            for (size_t j = 0; j < q; j++) E[i * w + j] = root * t.H[i * q + j];
            E[i * w + q] = root * t.rows.y[i];
            t.kii[i] = root;
        }
        for (size_t a = 0; a < m; a++)
            for (size_t i = 0; i < b; i++) t.V[a * b + i] *= t.kii[i];
        CR_TRY(cri_gp_linear_model_add(cx, sums, t.V, E, t.D, b));
    }
    CR_TRY(cri_gp_linear_model_solve(cx, sums, qv->L2, qv->g, qv->beta, qv->U, qv->A, &unused));
    qv->ready = true;
done:
    cr_scratch_end(&s);
    return st;
}

/* KL(q(v) | N(0, I)); the inverse of L2 goes to workspace [m x m]. */
static cr_status divergence(cr_ctx *cx, const cri_gp_svgp *qv, double *workspace, double *out)
{
    size_t m = qv->Z.n;
    double trace = 0, square = 0;
    memset(workspace, 0, m * m * sizeof *workspace);
    for (size_t i = 0; i < m; i++) workspace[i * m + i] = 1;
    cr_status st = cr_chol_forward(cx, cr_cmat_of(qv->L2, m, m), cr_mat_of(workspace, m, m));
    for (size_t i = 0; st == CR_OK && i < m * m; i++) trace += workspace[i] * workspace[i];
    for (size_t i = 0; i < m; i++) square += qv->g[i] * qv->g[i];
    *out = 0.5 * (trace + square - (double)m + cr_chol_logdet(cr_cmat_of(qv->L2, m, m)));
    return st;
}

/* --- the bound ------------------------------------------------------------------------------- */

typedef struct slope {
    double *T;            /* [m x b] L2^-1 V, then (L2 L2^T)^-1 V, then the weights of V         */
    double *W;            /* [b x m] the weights of K_nm                                         */
    double *P;            /* [m x m] sum of weights of V times V^T                               */
    double *error, *v;    /* [b] y - h b - v . g; weights of k(x, x)                             */
    double *some, *sum;   /* [theta + 1]                                                         */
    double *dZ, *dZ_some; /* [m x d] or NULL                                                     */
    double  value, by_noise;
} slope;

/* What the rows at hand add to the value; T = L2^-1 V stays. */
static cr_status add_value(const batch *t, slope *d, double scale)
{
    cr_status          st = CR_OK;
    const cri_gp_svgp *qv = t->qv;
    size_t             b = t->rows.n, m = t->m, q = t->q;

    memcpy(d->T, t->V, m * b * sizeof(double));
    CR_TRY(cr_chol_forward(t->cx, cr_cmat_of(qv->L2, m, m), cr_mat_of(d->T, m, b)));
    for (size_t i = 0; i < b; i++) {
        d->error[i] = t->rows.y[i];
        for (size_t j = 0; j < q; j++) d->error[i] -= t->H[i * q + j] * qv->beta[j];
        d->v[i] = t->kii[i];
    }
    for (size_t a = 0; a < m; a++)
        for (size_t i = 0; i < b; i++) {
            double v = t->V[a * b + i], z = d->T[a * b + i];
            d->error[i] -= v * qv->g[a];
            d->v[i] += z * z - v * v;
        }
    for (size_t i = 0; i < b; i++) {
        double square = (d->error[i] * d->error[i] + d->v[i]) / t->D[i];
        d->value -= 0.5 * scale * (log(2 * M_PI * t->D[i]) + square);
        d->by_noise -= 0.5 * scale * (1 - square);
        d->v[i] = -0.5 * scale / t->D[i];
    }
done:
    return st;
}

/* The weights of V: -2 v_i (error g + V - (L2 L2^T)^-1 V); those of K_nm: L^-T times them. */
static cr_status add_slope(const batch *t, slope *d)
{
    cr_status          st = CR_OK;
    const cri_gp_svgp *qv = t->qv;
    size_t             b = t->rows.n, m = t->m, p = cr_kernel_theta_size(t->k);
    cr_mat             T = cr_mat_of(d->T, m, b);
    cr_kernel_input    rows = cri_gp_inputs(&t->rows), z = cri_gp_inputs(&qv->Z);

    CR_TRY(cr_chol_backward(t->cx, cr_cmat_of(qv->L2, m, m), T));
    for (size_t a = 0; a < m; a++)
        for (size_t i = 0; i < b; i++)
            d->T[a * b + i] =
                -2 * d->v[i] * (d->error[i] * qv->g[a] + t->V[a * b + i] - d->T[a * b + i]);
    CR_TRY(cr_gemm(t->cx, 1, cr_const(T), CR_PLAIN, cr_cmat_of(t->V, m, b), CR_TRANSPOSED, 1,
                   cr_mat_of(d->P, m, m)));
    CR_TRY(cr_chol_backward(t->cx, cr_cmat_of(qv->L, m, m), T));
    for (size_t a = 0; a < m; a++)
        for (size_t i = 0; i < b; i++) d->W[i * m + a] = d->T[a * b + i];
    CR_TRY(cr_kernel_cross_gradient(t->cx, t->k, &rows, &z, cr_cmat_of(d->W, b, m), d->some,
                                    d->dZ ? cr_mat_of(d->dZ_some, m, qv->Z.d) : (cr_mat){ 0 }));
    for (size_t j = 0; j < p; j++) d->sum[j] += d->some[j];
    for (size_t i = 0; d->dZ && i < m * qv->Z.d; i++) d->dZ[i] += d->dZ_some[i];
    CR_TRY(cr_kernel_diagonal_gradient(t->cx, t->k, &rows, d->v, false, d->some, (cr_mat){ 0 }));
    for (size_t j = 0; j < p; j++) d->sum[j] += d->some[j];
done:
    return st;
}

/* The part of K_mm, through its Cholesky factor: weights -L^-T sym(P) L^-1 / 2, of which P is the
 * lower triangle (Murray 2016, arXiv:1602.07527). */
static cr_status add_inducing(const batch *t, slope *d, double *workspace)
{
    cr_status          st = CR_OK;
    const cri_gp_svgp *qv = t->qv;
    size_t             m = t->m, p = cr_kernel_theta_size(t->k);
    cr_kernel_input    z = cri_gp_inputs(&qv->Z);
    cr_cmat            L = cr_cmat_of(qv->L, m, m);

    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j <= i; j++) d->P[i * m + j] = d->P[j * m + i] = -0.5 * d->P[i * m + j];
    CR_TRY(cr_chol_backward(t->cx, L, cr_mat_of(d->P, m, m)));
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++) workspace[i * m + j] = d->P[j * m + i];
    CR_TRY(cr_chol_backward(t->cx, L, cr_mat_of(workspace, m, m)));
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j <= i; j++)
            d->P[i * m + j] = d->P[j * m + i] = 0.5 * (workspace[i * m + j] + workspace[j * m + i]);
    CR_TRY(cr_kernel_gram_gradient(t->cx, t->k, &z, cr_cmat_of(d->P, m, m), d->some));
    for (size_t j = 0; j < p; j++) d->sum[j] += d->some[j];
    if (d->dZ)
        CR_TRY(cr_kernel_gram_input_gradient(t->cx, t->k, &z, cr_cmat_of(d->P, m, m),
                                             cr_mat_of(d->dZ_some, m, qv->Z.d)));
    for (size_t i = 0; d->dZ && i < m * qv->Z.d; i++) d->dZ[i] += d->dZ_some[i];
done:
    return st;
}

static slope slope_new(cr_scratch *s, const batch *t, size_t b, double *opt_dZ)
{
    size_t m = t->m, p = cr_kernel_theta_size(t->k);
    return (slope){ .T = cr_scratch_matrix(s, m, b),
                    .W = cr_scratch_matrix(s, m, b),
                    .P = cr_scratch_bytes(s, m * m, sizeof(double)),
                    .error = cr_scratch_f64(s, b),
                    .v = cr_scratch_f64(s, b),
                    .some = cr_scratch_f64(s, p + 1),
                    .sum = cr_scratch_bytes(s, p + 1, sizeof(double)),
                    .dZ = opt_dZ,
                    .dZ_some = cr_scratch_matrix(s, m, t->qv->Z.d) };
}

cr_status cri_gp_svgp_bound(cr_ctx *cx, const cri_gp_problem *problem, const cr_kernel *k,
                            double noise, const size_t *opt_items, size_t n_items,
                            const cri_gp_svgp *qv, double *out_value, double *opt_gradient,
                            double *opt_dZ)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(cx);
    const cri_gp_data *data = problem->data;
    size_t             m = qv->Z.n, p = cr_kernel_theta_size(k);
    double             scale = (double)data->n / (double)n_items, kl, jitter;
    batch              t;
    double            *workspace = cr_scratch_matrix(&s, m, m);

    CR_TRY(batch_new(&s, cx, problem, k, noise, qv, n_items, &t));
    slope d = slope_new(&s, &t, n_items < BLOCK ? n_items : BLOCK, opt_dZ);
    CR_TRY(s.status);
    CR_TRY(cri_gp_inducing_factor(cx, k, &qv->Z, qv->L, &jitter));
    for (size_t i = 0; opt_dZ && i < m * qv->Z.d; i++) opt_dZ[i] = 0;
    for (size_t c = 0; c < cri_block_count(n_items, BLOCK); c++) {
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(batch_fill(&t, opt_items, cri_block_range(n_items, BLOCK, c)));
        CR_TRY(add_value(&t, &d, scale));
        if (opt_gradient) CR_TRY(add_slope(&t, &d));
    }
    CR_TRY(divergence(cx, qv, workspace, &kl));
    double value = d.value - kl + cri_gp_merged(data, noise);
    if (!isfinite(value)) CR_TRY(cr_fail(cx, CR_ENUMERIC, "gp: the bound is not finite"));
    if (opt_gradient) {
        CR_TRY(add_inducing(&t, &d, workspace));
        memcpy(opt_gradient, d.sum, p * sizeof(double));
        opt_gradient[p] =
            d.by_noise + 0.5 * (data->spread / noise - (data->count - (double)data->n));
    }
    *out_value = value;
done:
    cr_scratch_end(&s);
    return st;
}
