/* gp_cg.c -- preconditioned conjugate gradients for several right-hand sides at once. */
#include "gp_cg.h"
#include "gp_pivots.h"
#include "../../base/context_internal.h"
#include "../../base/parallel.h"
#include "../../math/chol.h"
#include "../../math/dense.h"

#include <math.h>
#include <string.h>

enum { ROWS = 256 };               /* of K computed at a time when it is not kept */
static const double SHARE = 0.4;   /* of the memory left that K may take          */
static const double LEAST = 1e-10; /* pivots below that of the mean variance stop */

cri_gp_cg_settings cri_gp_cg_defaults(uint64_t seed)
{
    return (cri_gp_cg_settings){
        .rank = 500, .probes = 16, .max_iter = 1000, .tolerance = 1e-8, .seed = seed
    };
}

/* --- C --------------------------------------------------------------------------------------- */

cr_status cri_gp_operator_new(cr_ctx *cx, cr_scratch *s, const cri_gp_data *data,
                              const cr_kernel *k, double noise, cri_gp_operator *out)
{
    cr_status       st = CR_OK;
    size_t          n = data->n;
    cri_gp_operator op = { .data = data, .k = k, .noise = noise };
    if (8 * (double)n * (double)n <= SHARE * (double)cri_memory_left(cx)) {
        cr_kernel_input in = cri_gp_inputs(data);
        op.K = cr_scratch_matrix(s, n, n);
        CR_TRY(s->status);
        CR_TRY(cr_kernel_gram(cx, k, &in, CR_FILL_BOTH, cr_mat_of(op.K, n, n)));
    } else {
        op.room = cr_scratch_matrix(s, n < ROWS ? n : ROWS, n);
        CR_TRY(s->status);
    }
    *out = op;
done:
    return st;
}

static cr_status multiply_rows(cr_ctx *cx, const cri_gp_operator *op, cri_range r, const double *B,
                               size_t t, double *out)
{
    cr_status          st = CR_OK;
    const cri_gp_data *a = op->data;
    size_t             b = r.end - r.begin, n = a->n;
    cri_gp_data        part = {
               .n = b, .d = a->d, .c = a->c, .X = a->X + r.begin * a->d, .codes = a->codes + r.begin * a->c
    };
    cr_kernel_input rows = cri_gp_inputs(&part), all = cri_gp_inputs(a);
    CR_TRY(cr_kernel_cross(cx, op->k, &rows, &all, cr_mat_of(op->room, b, n)));
    CR_TRY(cr_gemm(cx, 1, cr_cmat_of(op->room, b, n), CR_PLAIN, cr_cmat_of(B, n, t), CR_PLAIN, 0,
                   cr_mat_of(out + r.begin * t, b, t)));
done:
    return st;
}

cr_status cri_gp_multiply(cr_ctx *cx, const cri_gp_operator *op, const double *B, size_t t,
                          double *out)
{
    cr_status st = CR_OK;
    size_t    n = op->data->n;
    if (op->K)
        CR_TRY(cr_gemm(cx, 1, cr_cmat_of(op->K, n, n), CR_PLAIN, cr_cmat_of(B, n, t), CR_PLAIN, 0,
                       cr_mat_of(out, n, t)));
    for (size_t b = 0; !op->K && b < cri_block_count(n, ROWS); b++) {
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(multiply_rows(cx, op, cri_block_range(n, ROWS, b), B, t, out));
    }
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < t; c++) out[i * t + c] += op->noise * op->data->r[i] * B[i * t + c];
done:
    return st;
}

/* --- P --------------------------------------------------------------------------------------- */

cr_status cri_gp_preconditioner_new(cr_ctx *cx, cr_scratch *s, const cri_gp_operator *op,
                                    size_t rank, cri_gp_preconditioner *out)
{
    cr_status             st = CR_OK;
    size_t                n = op->data->n, w = rank < n ? rank : n;
    cri_gp_preconditioner p = { .n = n,
                                .width = w,
                                .F = cr_scratch_matrix(s, n, w),
                                .D = cr_scratch_f64(s, n),
                                .G = cr_scratch_matrix(s, n, w),
                                .L = cr_scratch_matrix(s, w, w) };
    size_t               *pivots = cr_scratch_index(s, w);

    CR_TRY(s->status);
    CR_TRY(cri_gp_pivots(cx, op->data, op->k, w, LEAST, pivots, p.F, &p.rank, NULL));
    for (size_t i = 0; i < n; i++) {
        p.D[i] = op->noise * op->data->r[i];
        p.log_det += log(p.D[i]);
        for (size_t c = 0; c < w; c++) p.G[i * w + c] = p.F[i * w + c] / sqrt(p.D[i]);
    }
    CR_TRY(cr_syrk(cx, 1, cr_cmat_of(p.G, n, w), CR_TRANSPOSED, 0, cr_mat_of(p.L, w, w)));
    for (size_t c = 0; c < w; c++) p.L[c * w + c] += 1;
    CR_TRY(cr_chol(cx, cr_mat_of(p.L, w, w)));
    p.log_det += cr_chol_logdet(cr_cmat_of(p.L, w, w));
    *out = p;
done:
    return st;
}

/* Woodbury: P^-1 = D^-1/2 (I - G (I + G^T G)^-1 G^T) D^-1/2. */
cr_status cri_gp_precondition(cr_ctx *cx, const cri_gp_preconditioner *p, const double *B, size_t t,
                              double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = p->n, w = p->width;
    double    *T = cr_scratch_matrix(&s, w, t);

    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < t; c++) out[i * t + c] = B[i * t + c] / sqrt(p->D[i]);
    CR_TRY(cr_gemm(cx, 1, cr_cmat_of(p->G, n, w), CR_TRANSPOSED, cr_cmat_of(out, n, t), CR_PLAIN, 0,
                   cr_mat_of(T, w, t)));
    CR_TRY(cr_chol_solve(cx, cr_cmat_of(p->L, w, w), cr_mat_of(T, w, t)));
    CR_TRY(cr_gemm(cx, -1, cr_cmat_of(p->G, n, w), CR_PLAIN, cr_cmat_of(T, w, t), CR_PLAIN, 1,
                   cr_mat_of(out, n, t)));
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < t; c++) out[i * t + c] /= sqrt(p->D[i]);
done:
    cr_scratch_end(&s);
    return st;
}

/* --- conjugate gradients --------------------------------------------------------------------- */

/* out [t] = the products of the columns of A and B. */
static void column_products(const double *A, const double *B, size_t n, size_t t, double *out)
{
    memset(out, 0, t * sizeof *out);
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < t; c++) out[c] += A[i * t + c] * B[i * t + c];
}

typedef struct iteration {
    size_t  n, t;
    double *X, *R, *Z, *P, *Q;           /* [n x t]                                          */
    double *rz, *pq, *rr, *size, *ratio; /* [t]; size: |B|^2                                 */
    bool   *going;                       /* [t]                                              */
} iteration;

/* X and R move along P; the columns that are done stay. */
static void advance(const iteration *w, double *step)
{
    for (size_t c = 0; c < w->t; c++)
        step[c] = w->going[c] && w->pq[c] > 0 ? w->rz[c] / w->pq[c] : 0;
    for (size_t i = 0; i < w->n; i++)
        for (size_t c = 0; c < w->t; c++) {
            w->X[i * w->t + c] += step[c] * w->P[i * w->t + c];
            w->R[i * w->t + c] -= step[c] * w->Q[i * w->t + c];
        }
}

/* P := Z + ratio P; returns whether any column goes on. */
static bool turn(iteration *w, double tolerance)
{
    bool any = false;
    column_products(w->R, w->R, w->n, w->t, w->rr);
    column_products(w->R, w->Z, w->n, w->t, w->pq);
    for (size_t c = 0; c < w->t; c++) {
        w->ratio[c] = w->going[c] && w->rz[c] > 0 ? w->pq[c] / w->rz[c] : 0;
        w->rz[c] = w->pq[c];
        if (!(w->rr[c] > tolerance * tolerance * w->size[c]) || !(w->rz[c] > 0))
            w->going[c] = false;
        any = any || w->going[c];
    }
    for (size_t i = 0; i < w->n; i++)
        for (size_t c = 0; c < w->t; c++)
            w->P[i * w->t + c] = w->Z[i * w->t + c] + w->ratio[c] * w->P[i * w->t + c];
    return any;
}

cr_status cri_gp_cg_solve(cr_ctx *cx, const cri_gp_operator *op, const cri_gp_preconditioner *p,
                          const double *B, size_t t, double tolerance, size_t max_iter, double *X,
                          double *opt_steps, size_t *opt_count, cri_gp_cg_report *out_report)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = op->data->n, round = 0;
    iteration  w = { .n = n,
                     .t = t,
                     .X = X,
                     .R = cr_scratch_matrix(&s, n, t),
                     .Z = cr_scratch_matrix(&s, n, t),
                     .P = cr_scratch_matrix(&s, n, t),
                     .Q = cr_scratch_matrix(&s, n, t),
                     .rz = cr_scratch_f64(&s, t),
                     .pq = cr_scratch_f64(&s, t),
                     .rr = cr_scratch_f64(&s, t),
                     .size = cr_scratch_f64(&s, t),
                     .ratio = cr_scratch_f64(&s, t),
                     .going = cr_scratch_bytes(&s, t, sizeof(bool)) };
    double    *step = cr_scratch_f64(&s, t), worst = 0;

    CR_TRY(s.status);
    memset(X, 0, n * t * sizeof *X);
    memcpy(w.R, B, n * t * sizeof *B);
    CR_TRY(cri_gp_precondition(cx, p, w.R, t, w.Z));
    memcpy(w.P, w.Z, n * t * sizeof *B);
    column_products(w.R, w.Z, n, t, w.rz);
    column_products(B, B, n, t, w.size);
    bool any = false;
    for (size_t c = 0; c < t; c++) any |= w.going[c] = w.size[c] > 0;
    for (size_t c = 0; opt_count && c < t; c++) opt_count[c] = 0;
    for (; any && round < max_iter; round++) {
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(cri_gp_multiply(cx, op, w.P, t, w.Q));
        column_products(w.P, w.Q, n, t, w.pq);
        for (size_t c = 0; opt_count && c < t; c++) opt_count[c] += w.going[c];
        advance(&w, step);
        CR_TRY(cri_gp_precondition(cx, p, w.R, t, w.Z));
        any = turn(&w, tolerance);
        for (size_t c = 0; opt_steps && c < t; c++) {
            opt_steps[round * 2 * t + c] = step[c];
            opt_steps[round * 2 * t + t + c] = w.ratio[c];
        }
    }
    column_products(w.R, w.R, n, t, w.rr);
    for (size_t c = 0; c < t; c++)
        if (w.size[c] > 0) worst = fmax(worst, sqrt(w.rr[c] / w.size[c]));
    *out_report = (cri_gp_cg_report){ round, worst };
done:
    cr_scratch_end(&s);
    return st;
}
