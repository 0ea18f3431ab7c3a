/* gp_cg_precondition.c -- P = D + K_nm B^-1 K_mn: what it solves, and how it changes with the
 * hyper-parameters. */
#include "gp_cg.h"
#include "models/gp/exact/gp_pivoted_cholesky.h"
#include "base/rng.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"

#include <math.h>

enum { CANDIDATES = 4096, GREEDY = 500 };
static const double LEAST = 1e-10; /* of the mean variance: pivots below that are rounding        */
static const double REST = 0.1;    /* of the noise: so little left of the trace needs no landmark */
static const double FIRST = 1e-10, MOST = 1e-4; /* of the mean variance, added to K_mm            */

/* Pivots of the rows `chosen` [some]: their places in `chosen`, fewer than `most` where what is
 * left of the trace hides in the noise. */
static cr_status find_pivots(cr_ctx *cx, const cri_gp_operator *op, const size_t *chosen,
                             size_t some, size_t most, size_t *pivots, size_t *out_rank)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(cx);
    const cri_gp_data *data = op->data;
    double            *F = cr_scratch_matrix(&s, some, most), *diagonal = cr_scratch_f64(&s, some);
    double             mean = 0, noise = INFINITY;
    cri_gp_data        from;

    CR_TRY(cri_gp_data_pick(&s, data, chosen, some, &from));
    cr_kernel_input in = cri_gp_inputs(&from);
    CR_TRY(cr_kernel_diagonal(cx, op->k, &in, false, diagonal));
    for (size_t i = 0; i < some; i++) mean += diagonal[i] / (double)some;
    for (size_t i = 0; i < data->n; i++) noise = fmin(noise, op->noise * data->r[i]);
    double least = mean > 0 ? fmax(LEAST, REST * noise / ((double)data->n * mean)) : LEAST;
    CR_TRY(cri_gp_pivots(cx, &from, op->k, most, least, pivots, F, out_rank, NULL));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_gp_cg_landmarks(cr_ctx *cx, const cri_gp_operator *op, size_t most, uint64_t seed,
                              size_t *out, size_t *out_rank)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = op->data->n, m = most < n ? most : n, greedy = m < GREEDY ? m : GREEDY, rank = 0;
    size_t     some = n < CANDIDATES ? n : CANDIDATES;
    size_t    *order = cr_scratch_index(&s, n), *pivots = cr_scratch_index(&s, greedy);
    bool      *taken = cr_scratch_bytes(&s, n, sizeof(bool));
    cr_rng     rng = cr_rng_stream(seed, 8999);

    CR_TRY(s.status);
    cr_rng_permutation(&rng, n, order);
    CR_TRY(find_pivots(cx, op, order, some, greedy, pivots, &rank));
    bool all = rank < greedy; /* no more are needed */
    if (rank == 0) rank = 1, pivots[0] = 0;
    for (size_t i = 0; i < rank; i++) {
        out[i] = order[pivots[i]];
        taken[out[i]] = true;
    }
    for (size_t i = n; !all && rank < m && i-- > 0;) /* the rest at random */
        if (!taken[order[i]]) out[rank++] = order[i];
    *out_rank = rank;
done:
    cr_scratch_end(&s);
    return st;
}

/* B [m x m] := the factor of K_mm with as little added as it takes: P may be any such matrix. */
static cr_status factor(cr_ctx *cx, const cr_kernel *k, const cr_kernel_input *Z, double *B)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     m = Z->rows;
    double    *diagonal = cr_scratch_f64(&s, m), mean = 0;

    CR_TRY(s.status);
    CR_TRY(cr_kernel_gram(cx, k, Z, CR_FILL_BOTH, cr_mat_of(B, m, m)));
    for (size_t i = 0; i < m; i++) {
        diagonal[i] = B[i * m + i];
        mean += diagonal[i] / (double)m;
    }
    if (!(mean > 0)) mean = 1;
    for (double share = FIRST; share <= MOST; share *= 100) {
        for (size_t i = 0; i < m; i++) {
            B[i * m + i] = diagonal[i] + share * mean;
            for (size_t j = 0; j < i; j++)
                B[i * m + j] = B[j * m + i]; /* as before a factor that failed */
        }
        st = cr_chol(cx, cr_mat_of(B, m, m));
        if (st != CR_ENUMERIC) break;
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_gp_preconditioner_new(cr_ctx *cx, cr_scratch *s, const cri_gp_operator *op,
                                    const size_t *landmarks, size_t rank,
                                    cri_gp_preconditioner *out)
{
    cr_status             st = CR_OK;
    size_t                n = op->data->n, m = rank;
    cri_gp_data           Z;
    cri_gp_preconditioner p = { .n = n,
                                .rank = m,
                                .landmarks = landmarks,
                                .D = cr_scratch_f64(s, n),
                                .G = cr_scratch_matrix(s, m, n),
                                .B = cr_scratch_matrix(s, m, m),
                                .L = cr_scratch_matrix(s, m, m) };

    CR_TRY(s->status);
    for (size_t i = 0; i < n; i++) {
        p.D[i] = op->noise * op->data->r[i];
        p.log_det += log(p.D[i]);
    }
    CR_TRY(cri_gp_data_pick(s, op->data, landmarks, m, &Z));
    cr_kernel_input rows = cri_gp_inputs(&Z), all = cri_gp_inputs(op->data);
    cr_progress(cx, "gp: preconditioner", 0, 3);
    CR_TRY(factor(cx, op->k, &rows, p.B));
    CR_TRY(cr_kernel_cross(cx, op->k, &rows, &all, cr_mat_of(p.G, m, n)));
    cr_progress(cx, "gp: preconditioner", 1, 3);
    CR_TRY(cr_chol_forward(cx, cr_cmat_of(p.B, m, m), cr_mat_of(p.G, m, n)));
    for (size_t a = 0; a < m; a++)
        for (size_t i = 0; i < n; i++) p.G[a * n + i] /= sqrt(p.D[i]);
    cr_progress(cx, "gp: preconditioner", 2, 3);
    CR_TRY(cr_syrk(cx, 1, cr_cmat_of(p.G, m, n), CR_PLAIN, 0, cr_mat_of(p.L, m, m)));
    for (size_t a = 0; a < m; a++) p.L[a * m + a] += 1;
    CR_TRY(cr_chol(cx, cr_mat_of(p.L, m, m)));
    p.log_det += cr_chol_logdet(cr_cmat_of(p.L, m, m));
    *out = p;
done:
    return st;
}

/* Woodbury: P^-1 = D^-1/2 (I - G^T (I + G G^T)^-1 G) D^-1/2. */
cr_status cri_gp_precondition(cr_ctx *cx, const cri_gp_preconditioner *p, const double *B, size_t t,
                              double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = p->n, m = p->rank;
    double    *T = cr_scratch_matrix(&s, m, t);

    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++) {
        double scale = 1 / sqrt(p->D[i]);
        for (size_t c = 0; c < t; c++) out[i * t + c] = B[i * t + c] * scale;
    }
    CR_TRY(cr_gemm(cx, 1, cr_cmat_of(p->G, m, n), CR_PLAIN, cr_cmat_of(out, n, t), CR_PLAIN, 0,
                   cr_mat_of(T, m, t)));
    CR_TRY(cr_chol_solve(cx, cr_cmat_of(p->L, m, m), cr_mat_of(T, m, t)));
    CR_TRY(cr_gemm(cx, -1, cr_cmat_of(p->G, m, n), CR_TRANSPOSED, cr_cmat_of(T, m, t), CR_PLAIN, 1,
                   cr_mat_of(out, n, t)));
    for (size_t i = 0; i < n; i++) {
        double scale = 1 / sqrt(p->D[i]);
        for (size_t c = 0; c < t; c++) out[i * t + c] *= scale;
    }
done:
    cr_scratch_end(&s);
    return st;
}

void cri_gp_cg_probes(const cri_gp_preconditioner *p, uint64_t seed, size_t first, size_t t,
                      double *B)
{
    for (size_t c = first; c < t; c++) {
        cr_rng rng = cr_rng_stream(seed, 9000 + c - first);
        for (size_t i = 0; i < p->n; i++) B[i * t + c] = cr_rng_u32(&rng) & 1 ? 1 : -1;
        for (size_t a = 0; a < p->rank; a++) {
            double sign = cr_rng_u32(&rng) & 1 ? 1 : -1;
            for (size_t i = 0; i < p->n; i++) B[i * t + c] += sign * p->G[a * p->n + i];
        }
        for (size_t i = 0; i < p->n; i++) B[i * t + c] *= sqrt(p->D[i]);
    }
}

/* --- derivatives ----------------------------------------------------------------------------- */

/* S [m x m] symmetric := B^-T S B^-1, B the factor of K_mm. */
static cr_status divide_both(cr_ctx *cx, const double *B, size_t m, double *S)
{
    cr_status st = CR_OK;
    for (int side = 0; side < 2; side++) {
        CR_TRY(cr_chol_backward(cx, cr_cmat_of(B, m, m), cr_mat_of(S, m, m)));
        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j < i; j++) {
                double keep = S[i * m + j];
                S[i * m + j] = S[j * m + i];
                S[j * m + i] = keep;
            }
    }
done:
    return st;
}

typedef struct weights {
    double *mn, *mm; /* [m x n], [m x m] of the entries of K_mn and K_mm */
    double  noise;   /* the derivative by log noise                      */
} weights;

/* With A = P^-1 K_nm B^-1, V = B^-1 K_mn U:
 *   d log det P = tr(P^-1 dD) + 2 <A, dK_nm> - <B^-1 K_mn A, dB>,
 *   u' dP u = u' dD u + 2 u' dK_nm v - v' dB v;
 * minus a half of the former, plus a half of the mean of the latter. */
static cr_status set_weights(cr_ctx *cx, const cri_gp_preconditioner *p, const double *U, size_t t,
                             weights *w)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = p->n, m = p->rank;
    double    *Y = cr_scratch_matrix(&s, m, m), *V = cr_scratch_matrix(&s, m, t);
    double    *DU = cr_scratch_matrix(&s, n, t), share = 1 / (double)t, trace = 0, squares = 0;

    CR_TRY(s.status);
    CR_TRY(cr_chol_inverse(cx, cr_cmat_of(p->L, m, m), cr_mat_of(Y, m, m)));
    for (size_t i = 0; i < m; i++) {
        trace += Y[i * m + i];
        for (size_t j = 0; j < m; j++) w->mm[i * m + j] = 0.5 * ((i == j) - Y[i * m + j]);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < t; c++) {
            DU[i * t + c] = sqrt(p->D[i]) * U[i * t + c];
            squares += share * pow(DU[i * t + c], 2);
        }
    w->noise = -0.5 * ((double)n - (double)m + trace - squares);
    CR_TRY(cr_gemm(cx, 1, cr_cmat_of(p->G, m, n), CR_PLAIN, cr_cmat_of(DU, n, t), CR_PLAIN, 0,
                   cr_mat_of(V, m, t)));
    CR_TRY(cr_chol_backward(cx, cr_cmat_of(p->B, m, m), cr_mat_of(V, m, t)));
    CR_TRY(divide_both(cx, p->B, m, w->mm));
    CR_TRY(cr_gemm(cx, -0.5 * share, cr_cmat_of(V, m, t), CR_PLAIN, cr_cmat_of(V, m, t),
                   CR_TRANSPOSED, 1, cr_mat_of(w->mm, m, m)));
    CR_TRY(cr_chol_backward(cx, cr_cmat_of(p->B, m, m), cr_mat_of(Y, m, m)));
    CR_TRY(cr_gemm(cx, -1, cr_cmat_of(Y, m, m), CR_PLAIN, cr_cmat_of(p->G, m, n), CR_PLAIN, 0,
                   cr_mat_of(w->mn, m, n)));
    for (size_t a = 0; a < m; a++)
        for (size_t i = 0; i < n; i++) w->mn[a * n + i] /= sqrt(p->D[i]);
    CR_TRY(cr_gemm(cx, share, cr_cmat_of(V, m, t), CR_PLAIN, cr_cmat_of(U, n, t), CR_TRANSPOSED, 1,
                   cr_mat_of(w->mn, m, n)));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_gp_preconditioner_gradient(cr_ctx *cx, const cri_gp_operator *op,
                                         const cri_gp_preconditioner *p, const double *U, size_t t,
                                         double *gradient)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    size_t      n = p->n, m = p->rank, size = cr_kernel_theta_size(op->k);
    cri_gp_data Z;
    weights     w = { .mn = cr_scratch_matrix(&s, m, n), .mm = cr_scratch_matrix(&s, m, m) };
    double     *some = cr_scratch_f64(&s, size);

    CR_TRY(s.status);
    CR_TRY(set_weights(cx, p, U, t, &w));
    CR_TRY(cri_gp_data_pick(&s, op->data, p->landmarks, m, &Z));
    cr_kernel_input rows = cri_gp_inputs(&Z), all = cri_gp_inputs(op->data);
    CR_TRY(cr_kernel_cross_gradient(cx, op->k, &rows, &all, cr_cmat_of(w.mn, m, n), some,
                                    (cr_mat){ 0 }));
    for (size_t j = 0; j < size; j++) gradient[j] += some[j];
    CR_TRY(cr_kernel_gram_gradient(cx, op->k, &rows, cr_cmat_of(w.mm, m, m), some));
    for (size_t j = 0; j < size; j++) gradient[j] += some[j];
    gradient[size] += w.noise;
done:
    cr_scratch_end(&s);
    return st;
}
