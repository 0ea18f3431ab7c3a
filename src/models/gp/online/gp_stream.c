/* gp_stream.c -- sums over batches, and what they become for other inducing inputs and kernels. */
#include "gp_stream.h"
#include "models/gp/sparse/gp_linear_model.h"
#include "base/scratch.h"
#include "math/constants.h"
#include "math/dense/chol.h"
#include "math/dense/decompose.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

static const double NOTHING =
    1e-14; /* eigenvalues of Phi below this share of the greatest are none */

/* --- pseudo-data ----------------------------------------------------------------------------- */

cr_status cri_gp_pseudo_new(cr_scratch *s, const cri_gp_stream_sums *sums, double noise,
                            const double *L, const cri_gp_data *Z, cri_gp_pseudo *out)
{
    cr_status st = CR_OK;
    size_t    m = sums->m, w = sums->q + 1, r = 0;
    double   *U = cr_scratch_matrix(s, m, m), *l = cr_scratch_f64(s, m);
    double   *P = cr_scratch_matrix(s, m, m), *E = cr_scratch_matrix(s, m, w);
    double   *rest = cr_scratch_matrix(s, w, w);

    CR_TRY(s->status);
    CR_TRY(cr_eigen(s->cx, cr_cmat_of(sums->Phi, m, m), l, cr_mat_of(U, m, m)));
    for (size_t j = m; j-- > 0 && l[j] > NOTHING * l[m - 1] && l[j] > 0; r++) {
        for (size_t i = 0; i < m; i++) P[i * m + r] = sqrt(l[j]) * U[i * m + j]; /* columns of R */
        for (size_t c = 0; c < w; c++) {
            E[r * w + c] = 0;
            for (size_t i = 0; i < m; i++)
                E[r * w + c] += U[i * m + j] * sums->M[i * w + c] / sqrt(l[j]);
        }
    }
    for (size_t i = 0; i < m; i++) /* side by side: [m x r] */
        for (size_t j = 0; j < r; j++) U[i * r + j] = P[i * m + j];
    CR_TRY(cr_chol_backward(s->cx, cr_cmat_of(L, m, m), cr_mat_of(U, m, r))); /* L^-T R */
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < r; j++) P[j * m + i] = U[i * r + j];
    memcpy(rest, sums->S, w * w * sizeof *rest);
    if (r) CR_TRY(cr_syrk(s->cx, -1, cr_cmat_of(E, r, w), CR_TRANSPOSED, 1, cr_mat_of(rest, w, w)));
    *out = (cri_gp_pseudo){ .Z = Z,
                            .r = r,
                            .q = sums->q,
                            .P = P,
                            .E = E,
                            .rest = rest,
                            .noise = noise,
                            .settled = sums->settled,
                            .loss = sums->loss,
                            .count = sums->count };
done:
    return st;
}

/* --- one evaluation -------------------------------------------------------------------------- */

typedef struct pass {
    cr_ctx               *cx;
    const cri_gp_problem *problem;
    const cr_kernel      *k;
    double                noise;
    const cri_gp_pseudo  *old;
    cri_gp_sparse        *sp;
    size_t                n, r, m, q, N; /* rows, pseudo-rows, inducing inputs, terms; n + r */
    double               *V, *E, *D;     /* [m x N], [N x (q + 1)], [n]                    */
    double               *P;             /* [r x m_old] of the pseudo-rows, at this noise */
    double               *Kaa, *Lambda;  /* [m_old x m_old] K(Z, Z), P^T P                */
    double               *Phi, *M, *S;   /* sums of all                                   */
    double                scale;         /* the noise of the pseudo-rows by this one      */
    double                settled, loss, count; /* of the sums                            */
} pass;

/* V and E of the rows, in the first n columns and rows; what they settle of the bound. */
static cr_status fill_rows(pass *p)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(p->cx);
    const cri_gp_data *data = p->problem->data;
    size_t             n = p->n, m = p->m, q = p->q, w = q + 1;
    cr_kernel_input    rows = cri_gp_inputs(data), z = cri_gp_inputs(&p->sp->Z);
    double            *C = cr_scratch_matrix(&s, m, n), *kii = cr_scratch_f64(&s, n);
    double             trace = 0, logs = 0;

    CR_TRY(s.status);
    CR_TRY(cr_kernel_cross(p->cx, p->k, &z, &rows, cr_mat_of(C, m, n)));
    CR_TRY(cr_chol_forward(p->cx, cr_cmat_of(p->sp->L, m, m), cr_mat_of(C, m, n)));
    CR_TRY(cr_kernel_diagonal(p->cx, p->k, &rows, false, kii));
    for (size_t i = 0; i < n; i++) {
        double root = sqrt(p->D[i] = p->noise * data->r[i]), q_ii = 0;
        for (size_t a = 0; a < m; a++) {
            q_ii += C[a * n + i] * C[a * n + i];
            p->V[a * p->N + i] = C[a * n + i] / root;
        }
        for (size_t j = 0; j < q; j++) p->E[i * w + j] = p->problem->H[i * q + j] / root;
        p->E[i * w + q] = data->y[i] / root;
        trace += (kii[i] - q_ii) / p->D[i];
        logs += log(p->D[i]);
    }
    p->settled += -0.5 * (trace + logs + (double)n * CRI_LOG_2PI) + cri_gp_merged(data, p->noise);
    p->loss += p->noise * trace + data->spread;
    p->count += data->count;
done:
    cr_scratch_end(&s);
    return st;
}

/* The same of the pseudo-rows, behind the others; they are those of the old noise, scaled. */
static cr_status fill_pseudo(pass *p)
{
    cr_status            st = CR_OK;
    cr_scratch           s = cr_scratch_begin(p->cx);
    const cri_gp_pseudo *o = p->old;
    size_t               r = p->r, m = p->m, w = p->q + 1, a = o->Z->n;
    cr_kernel_input      old = cri_gp_inputs(o->Z), z = cri_gp_inputs(&p->sp->Z);
    double *K = cr_scratch_matrix(&s, m, a), *C = cr_scratch_matrix(&s, m, r), trace = 0;
    double  root = sqrt(p->scale);

    CR_TRY(s.status);
    for (size_t i = 0; i < r * a; i++) p->P[i] = root * o->P[i];
    for (size_t i = 0; i < r * w; i++) p->E[p->n * w + i] = root * o->E[i];
    CR_TRY(cr_kernel_cross(p->cx, p->k, &z, &old, cr_mat_of(K, m, a)));
    CR_TRY(cr_kernel_cross(p->cx, p->k, &old, &old, cr_mat_of(p->Kaa, a, a)));
    CR_TRY(cr_gemm(p->cx, 1, cr_cmat_of(K, m, a), CR_PLAIN, cr_cmat_of(p->P, r, a), CR_TRANSPOSED,
                   0, cr_mat_of(C, m, r)));
    CR_TRY(cr_chol_forward(p->cx, cr_cmat_of(p->sp->L, m, m), cr_mat_of(C, m, r)));
    CR_TRY(cr_syrk(p->cx, 1, cr_cmat_of(p->P, r, a), CR_TRANSPOSED, 0, cr_mat_of(p->Lambda, a, a)));
    for (size_t i = 0; i < a * a; i++) trace += p->Lambda[i] * p->Kaa[i];
    for (size_t j = 0; j < m; j++)
        for (size_t i = 0; i < r; i++) {
            p->V[j * p->N + p->n + i] = C[j * r + i];
            trace -= C[j * r + i] * C[j * r + i];
        }
    p->settled += o->settled - 0.5 * trace +
                  0.5 * (o->count * log(p->scale) - (p->scale - 1) * o->loss / o->noise);
    p->loss += o->loss + p->noise * trace;
    p->count += o->count;
done:
    cr_scratch_end(&s);
    return st;
}

/* L2, U, A, b, g (in alpha) and the value from sums. */
static cr_status solve_sums(cr_ctx *cx, const cri_gp_stream_sums *u, cri_gp_sparse *sp)
{
    cr_status           st = CR_OK;
    cri_gp_linear_model model = { .m = u->m, .q = u->q, .Phi = u->Phi, .M = u->M, .S = u->S };
    CR_TRY(cri_gp_linear_model_solve(cx, &model, sp->L2, sp->alpha, sp->beta, sp->U, sp->A,
                                     &sp->value));
    sp->value += u->settled;
    if (!isfinite(sp->value))
        CR_TRY(cr_fail(cx, CR_ENUMERIC, "gp-online: the bound is not finite"));
done:
    return st;
}

/* --- gradient -------------------------------------------------------------------------------- */

/* As in gp_sparse.c, with weights W of K_mn for rows and, through P, for pseudo-rows; K(Z, Z) of
 * the old inducing inputs enters by its trace with P^T P. */
typedef struct adjoint {
    double *Linv, *J;      /* [m x m] L^-1; (B^-1 - I) L^-1       */
    double *Binv, *G;      /* [m x m] B^-1; weights of K_mm       */
    double *W, *T, *a, *v; /* [m x N], [m x N], [N], [N]          */
    double *some, *sum;    /* [theta + 1]                         */
} adjoint;

/* Of the pseudo-rows, the squared distance of the targets from the mean function that no f changes. */
static double rest_square(const pass *p)
{
    size_t w = p->q + 1;
    double sum = 0;
    for (size_t i = 0; p->r && i < w; i++)
        for (size_t j = 0; j < w; j++)
            sum += p->scale * p->old->rest[i * w + j] * (i < p->q ? -p->sp->beta[i] : 1) *
                   (j < p->q ? -p->sp->beta[j] : 1);
    return sum;
}

static cr_status weigh(pass *p, adjoint *d, const double *g, double *by_noise)
{
    cr_status st = CR_OK;
    size_t    m = p->m, N = p->N, q = p->q, w = q + 1;
    cr_cmat   V = cr_cmat_of(p->V, m, N);

    memcpy(d->T, p->V, m * N * sizeof(double));
    CR_TRY(cr_chol_forward(p->cx, cr_cmat_of(p->sp->L2, m, m), cr_mat_of(d->T, m, N)));
    for (size_t i = 0; i < N; i++) {
        double e = p->E[i * w + q];
        for (size_t j = 0; j < q; j++) e -= p->E[i * w + j] * p->sp->beta[j];
        d->a[i] = e, d->v[i] = 0;
    }
    for (size_t k = 0; k < m; k++)
        for (size_t i = 0; i < N; i++) {
            d->a[i] -= p->V[k * N + i] * g[k];
            d->v[i] += d->T[k * N + i] * d->T[k * N + i];
        }
    *by_noise = 0.5 * (p->loss / p->noise - p->count + rest_square(p));
    for (size_t i = 0; i < N; i++) *by_noise += 0.5 * (d->a[i] * d->a[i] + d->v[i]);
    CR_TRY(cr_gemm(p->cx, -1, cr_cmat_of(d->J, m, m), CR_TRANSPOSED, V, CR_PLAIN, 0,
                   cr_mat_of(d->W, m, N)));
    for (size_t k = 0; k < m; k++)
        for (size_t i = 0; i < N; i++) {
            double root = i < p->n ? sqrt(p->D[i]) : 1;
            d->W[k * N + i] = (d->W[k * N + i] + p->sp->alpha[k] * d->a[i]) / root;
        }
    for (size_t i = 0; i < p->n; i++) d->v[i] = -0.5 / p->D[i];
done:
    return st;
}

static void add(const double *some, size_t t, double *sum)
{
    for (size_t j = 0; j < t; j++) sum[j] += some[j];
}

static cr_status differentiate_rows(pass *p, adjoint *d)
{
    cr_status       st = CR_OK;
    size_t          n = p->n, m = p->m, t = cr_kernel_theta_size(p->k);
    cr_kernel_input rows = cri_gp_inputs(p->problem->data), z = cri_gp_inputs(&p->sp->Z);
    for (size_t k = 0; k < m; k++)
        for (size_t i = 0; i < n; i++) d->T[i * m + k] = d->W[k * p->N + i];
    CR_TRY(cr_kernel_cross_gradient(p->cx, p->k, &rows, &z, cr_cmat_of(d->T, n, m), d->some,
                                    (cr_mat){ 0 }));
    add(d->some, t, d->sum);
    CR_TRY(cr_kernel_diagonal_gradient(p->cx, p->k, &rows, d->v, false, d->some, (cr_mat){ 0 }));
    add(d->some, t, d->sum);
done:
    return st;
}

static cr_status differentiate_pseudo(pass *p, adjoint *d)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(p->cx);
    size_t          r = p->r, m = p->m, a = p->old->Z->n, t = cr_kernel_theta_size(p->k);
    cr_kernel_input old = cri_gp_inputs(p->old->Z), z = cri_gp_inputs(&p->sp->Z);
    double         *W = cr_scratch_matrix(&s, r, m), *X = cr_scratch_matrix(&s, a, m);

    CR_TRY(s.status);
    for (size_t k = 0; k < m; k++)
        for (size_t i = 0; i < r; i++) W[i * m + k] = d->W[k * p->N + p->n + i];
    CR_TRY(cr_gemm(p->cx, 1, cr_cmat_of(p->P, r, a), CR_TRANSPOSED, cr_cmat_of(W, r, m), CR_PLAIN,
                   0, cr_mat_of(X, a, m)));
    CR_TRY(cr_kernel_cross_gradient(p->cx, p->k, &old, &z, cr_cmat_of(X, a, m), d->some,
                                    (cr_mat){ 0 }));
    add(d->some, t, d->sum);
    for (size_t i = 0; i < a * a; i++) p->Lambda[i] *= -0.5;
    CR_TRY(cr_kernel_gram_gradient(p->cx, p->k, &old, cr_cmat_of(p->Lambda, a, a), d->some));
    add(d->some, t, d->sum);
done:
    cr_scratch_end(&s);
    return st;
}

/* Weights of K_mm: L^-T ((I - B^-1) - Phi) L^-1 / 2 - alpha alpha^T / 2. */
static cr_status differentiate_inducing(pass *p, adjoint *d)
{
    cr_status       st = CR_OK;
    size_t          m = p->m, t = cr_kernel_theta_size(p->k);
    cr_kernel_input z = cri_gp_inputs(&p->sp->Z);
    cr_mat          G = cr_mat_of(d->G, m, m), J = cr_mat_of(d->J, m, m);
    cr_cmat         Linv = cr_cmat_of(d->Linv, m, m);
    for (size_t i = 0; i < m * m; i++)
        d->G[i] = 0.5 * ((i % (m + 1) == 0) - d->Binv[i] - p->Phi[i]);
    CR_TRY(cr_gemm(p->cx, 1, cr_const(G), CR_PLAIN, Linv, CR_PLAIN, 0, J));
    CR_TRY(cr_gemm(p->cx, 1, Linv, CR_TRANSPOSED, cr_const(J), CR_PLAIN, 0, G));
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j <= i; j++) {
            double w =
                0.5 * (d->G[i * m + j] + d->G[j * m + i]) - 0.5 * p->sp->alpha[i] * p->sp->alpha[j];
            d->G[i * m + j] = d->G[j * m + i] = w;
        }
    CR_TRY(cr_kernel_gram_gradient(p->cx, p->k, &z, cr_const(G), d->some));
    add(d->some, t, d->sum);
done:
    return st;
}

static cr_status differentiate(pass *p, const double *g, double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(p->cx);
    size_t     m = p->m, N = p->N, t = cr_kernel_theta_size(p->k);
    double     by_noise = 0;
    adjoint    d = { .Linv = cr_scratch_bytes(&s, m * m, sizeof(double)),
                     .J = cr_scratch_matrix(&s, m, m),
                     .Binv = cr_scratch_matrix(&s, m, m),
                     .G = cr_scratch_matrix(&s, m, m),
                     .W = cr_scratch_matrix(&s, m, N),
                     .T = cr_scratch_matrix(&s, m, N),
                     .a = cr_scratch_f64(&s, N),
                     .v = cr_scratch_f64(&s, N),
                     .some = cr_scratch_f64(&s, t + 1),
                     .sum = cr_scratch_bytes(&s, t + 1, sizeof(double)) };

    CR_TRY(s.status);
    for (size_t i = 0; i < m; i++) d.Linv[i * m + i] = 1;
    CR_TRY(cr_chol_forward(p->cx, cr_cmat_of(p->sp->L, m, m), cr_mat_of(d.Linv, m, m)));
    CR_TRY(cr_chol_inverse(p->cx, cr_cmat_of(p->sp->L2, m, m), cr_mat_of(d.Binv, m, m)));
    CR_TRY(cr_gemm(p->cx, 1, cr_cmat_of(d.Binv, m, m), CR_PLAIN, cr_cmat_of(d.Linv, m, m), CR_PLAIN,
                   0, cr_mat_of(d.J, m, m)));
    for (size_t i = 0; i < m * m; i++) d.J[i] -= d.Linv[i];
    CR_TRY(weigh(p, &d, g, &by_noise));
    CR_TRY(differentiate_rows(p, &d));
    if (p->r) CR_TRY(differentiate_pseudo(p, &d));
    CR_TRY(differentiate_inducing(p, &d));
    memcpy(out, d.sum, t * sizeof(double));
    out[t] = by_noise;
done:
    cr_scratch_end(&s);
    return st;
}

/* --- all of it ------------------------------------------------------------------------------- */

static pass pass_new(cr_scratch *s, const cri_gp_problem *problem, const cr_kernel *k, double noise,
                     const cri_gp_pseudo *old, cri_gp_sparse *sp)
{
    size_t n = problem->data->n, r = old && old->Z ? old->r : 0, m = sp->Z.n, q = problem->q,
           w = q + 1;
    size_t a = r ? old->Z->n : 0;
    return (pass){ .cx = s->cx,
                   .problem = problem,
                   .k = k,
                   .noise = noise,
                   .old = old,
                   .sp = sp,
                   .n = n,
                   .r = r,
                   .m = m,
                   .q = q,
                   .N = n + r,
                   .V = cr_scratch_matrix(s, m, n + r),
                   .E = cr_scratch_matrix(s, n + r, w),
                   .D = cr_scratch_f64(s, n),
                   .scale = r ? old->noise / noise : 1,
                   .P = cr_scratch_matrix(s, r, a),
                   .Kaa = cr_scratch_matrix(s, a, a),
                   .Lambda = cr_scratch_matrix(s, a, a),
                   .Phi = cr_scratch_matrix(s, m, m),
                   .M = cr_scratch_matrix(s, m, w),
                   .S = cr_scratch_matrix(s, w, w) };
}

static cr_status add_up(pass *p)
{
    cr_status st = CR_OK;
    size_t    m = p->m, N = p->N, w = p->q + 1;
    cr_cmat   V = cr_cmat_of(p->V, m, N), E = cr_cmat_of(p->E, N, w);
    CR_TRY(cr_syrk(p->cx, 1, V, CR_PLAIN, 0, cr_mat_of(p->Phi, m, m)));
    CR_TRY(cr_gemm(p->cx, 1, V, CR_PLAIN, E, CR_PLAIN, 0, cr_mat_of(p->M, m, w)));
    CR_TRY(cr_syrk(p->cx, 1, E, CR_TRANSPOSED, 0, cr_mat_of(p->S, w, w)));
    for (size_t i = 0; p->r && i < w * w; i++) p->S[i] += p->scale * p->old->rest[i];
done:
    return st;
}

cr_status cri_gp_stream_solve(cr_ctx *cx, const cri_gp_problem *problem, const cr_kernel *k,
                              double noise, const cri_gp_stream *stream, double *opt_gradient)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(cx);
    cri_gp_sparse     *sp = stream->sparse;
    pass               p = pass_new(&s, problem, k, noise, stream->old, sp);
    double            *g = cr_scratch_f64(&s, p.m);
    cri_gp_stream_sums u = { p.m, p.q, p.q + 1, p.Phi, p.M, p.S, 0, 0, 0 };

    CR_TRY(s.status);
    CR_TRY(cri_gp_inducing_factor(cx, k, &sp->Z, sp->L, &sp->jitter));
    CR_TRY(fill_rows(&p));
    if (p.r) CR_TRY(fill_pseudo(&p));
    CR_TRY(add_up(&p));
    u.settled = p.settled;
    CR_TRY(solve_sums(cx, &u, sp));
    memcpy(g, sp->alpha, p.m * sizeof *g);
    CR_TRY(cr_chol_backward(cx, cr_cmat_of(sp->L, p.m, p.m), cr_mat_of(sp->alpha, p.m, 1)));
    if (opt_gradient) CR_TRY(differentiate(&p, g, opt_gradient));
    if (stream->opt_sums) {
        cri_gp_stream_sums *to = stream->opt_sums;
        memcpy(to->Phi, p.Phi, p.m * p.m * sizeof(double));
        memcpy(to->M, p.M, p.m * (p.q + 1) * sizeof(double));
        memcpy(to->S, p.S, (p.q + 1) * (p.q + 1) * sizeof(double));
        to->settled = p.settled, to->loss = p.loss;
        to->count = stream->old && stream->old->Z && stream->old->count == 0 ? 0 : p.count;
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_gp_stream_objective(cr_ctx *cx, void *method, const cri_gp_problem *problem,
                                  const cr_kernel *k, double noise, double *out_value,
                                  double *opt_gradient)
{
    const cri_gp_stream *stream = method;
    cr_status            st = cri_gp_stream_solve(cx, problem, k, noise, stream, opt_gradient);
    if (st == CR_OK) *out_value = stream->sparse->value;
    return st;
}

cr_status cri_gp_stream_add(cr_ctx *cx, const cri_gp_problem *problem, const cr_kernel *k,
                            double noise, cri_gp_sparse *sp, cri_gp_stream_sums *sums)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    pass       p = pass_new(&s, problem, k, noise, NULL, sp);
    size_t     m = p.m, w = p.q + 1;

    CR_TRY(s.status);
    CR_TRY(fill_rows(&p));
    CR_TRY(add_up(&p));
    for (size_t i = 0; i < m * m; i++) sums->Phi[i] += p.Phi[i];
    for (size_t i = 0; i < m * w; i++) sums->M[i] += p.M[i];
    for (size_t i = 0; i < w * w; i++) sums->S[i] += p.S[i];
    sums->settled += p.settled, sums->loss += p.loss;
    if (sums->count > 0) sums->count += p.count;
    CR_TRY(solve_sums(cx, sums, sp));
    CR_TRY(cr_chol_backward(cx, cr_cmat_of(sp->L, m, m), cr_mat_of(sp->alpha, m, 1)));
done:
    cr_scratch_end(&s);
    return st;
}
