/* spread.c -- how well the eigenvalues and eigenvectors of a covariance are known.
 * For normal rows the error D of a covariance C has cov(D_ab, D_cd) = (C_ac C_bd + C_ad C_bc) / n, so that for a
 * symmetric M the variance of tr(M D) is 2 tr(M C M C) / n.  To first order the error of lambda_j is tr(M D) with
 *   M = v_j v_j^T - E,                                   E = diag(e),
 * and that of loading a of v_j, with w = sum_k!=j v_k v_ka / (lambda_j - lambda_k),
 *   M = (w v_j^T + v_j w^T) / 2 - E.
 * E is 0 for a covariance.  In a correlation matrix R the error of the sds is taken off, dR = D - (diag(D) R +
 * R diag(D)) / 2, which gives e = lambda_j v_j^2 for the eigenvalue and, for the loading,
 * e_i = v_ji (lambda_j w_i + (R w)_i) / 2.  With w orthogonal to v_j
 *   2 tr(M C M C) = lambda_j w.Cw - 4 lambda_j sum_i (Cw)_i v_ji e_i + 2 sum_il e_i e_l C_il^2. */
#include "spread.h"
#include "base/scratch.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

static const double MOST = 2e10;  /* operations that the sds may take */
static const double ALIKE = 1e-9; /* relative gap below which two directions cannot be told apart */

typedef struct spread {
    const double *V, *lambda; /* [p x p] columns, [p] descending */
    size_t        p;
    double        n;
    bool          standardised;
    double       *G;           /* [p x p] C_il^2                                  */
    double       *W, *CW;      /* [p x p] w of each loading (columns), and C times it */
    double       *E, *GE;      /* [p x p] e of each loading (columns), and G times it */
    double       *coefficient; /* [p x p] of v_k in w of loading a                */
} spread;

static double eigenvalue_sd(const spread *s, size_t j)
{
    size_t p = s->p;
    double l = s->lambda[j], fourth = 0, crossed = 0;
    if (!s->standardised) return l * sqrt(2 / s->n);
    for (size_t i = 0; i < p; i++) {
        double square = s->V[i * p + j] * s->V[i * p + j];
        fourth += square * square;
        for (size_t k = 0; k < p; k++)
            crossed += square * s->V[k * p + j] * s->V[k * p + j] * s->G[i * p + k];
    }
    return sqrt(fmax(2 / s->n * (l * l - 2 * l * l * l * fourth + l * l * crossed), 0));
}

/* false where another direction is as long: loadings are not known at all then. */
static bool stands_apart(const spread *s, size_t j)
{
    for (size_t k = 0; k < s->p; k++)
        if (k != j && fabs(s->lambda[j] - s->lambda[k]) <= ALIKE * s->lambda[0]) return false;
    return true;
}

/* Column a of W and of CW: w, and C w, of loading a of direction j. */
static cr_status find_w(cr_ctx *cx, const spread *s, size_t j)
{
    cr_status st = CR_OK;
    size_t    p = s->p;
    for (int times = 0; times < 2; times++) { /* C v_k = lambda_k v_k */
        for (size_t k = 0; k < p; k++) {
            double gap = k == j ? INFINITY : s->lambda[j] - s->lambda[k];
            double factor = (times ? s->lambda[k] : 1) / gap;
            for (size_t a = 0; a < p; a++) s->coefficient[k * p + a] = factor * s->V[a * p + k];
        }
        CR_TRY(cr_gemm(cx, 1, cr_cmat_of(s->V, p, p), CR_PLAIN, cr_cmat_of(s->coefficient, p, p),
                       CR_PLAIN, 0, cr_mat_of(times ? s->CW : s->W, p, p)));
    }
done:
    return st;
}

static cr_status loading_sds(cr_ctx *cx, const spread *s, size_t j, double *out)
{
    cr_status st = CR_OK;
    size_t    p = s->p;
    double    l = s->lambda[j];
    CR_TRY(find_w(cx, s, j));
    for (size_t i = 0; i < p; i++)
        for (size_t a = 0; a < p; a++)
            s->E[i * p + a] = s->standardised
                                  ? 0.5 * s->V[i * p + j] * (l * s->W[i * p + a] + s->CW[i * p + a])
                                  : 0;
    if (s->standardised)
        CR_TRY(cr_gemm(cx, 1, cr_cmat_of(s->G, p, p), CR_PLAIN, cr_cmat_of(s->E, p, p), CR_PLAIN, 0,
                       cr_mat_of(s->GE, p, p)));
    for (size_t a = 0; a < p; a++) {
        double variance = 0;
        for (size_t i = 0; i < p; i++) {
            double cw = s->CW[i * p + a], e = s->E[i * p + a];
            variance += l * s->W[i * p + a] * cw - 4 * l * cw * s->V[i * p + j] * e;
            if (s->standardised) variance += 2 * e * s->GE[i * p + a];
        }
        out[a] = fmin(sqrt(fmax(variance, 0) / s->n), 1); /* no loading is longer */
    }
done:
    return st;
}

cr_status cri_spread(cr_ctx *cx, const cri_decomposed *of, size_t q, double *value_sd,
                     double *vector_sd)
{
    cr_status  st = CR_OK;
    cr_scratch memory = cr_scratch_begin(cx);
    size_t     p = of->p;
    bool       affordable = (double)q * pow((double)p, 3) <= MOST;
    spread     s = { .V = of->V,
                     .lambda = of->lambda,
                     .p = p,
                     .n = fmax(of->n - 1, 1),
                     .standardised = of->standardised };

    s.G = cr_scratch_matrix(&memory, p, p);
    if (affordable) {
        s.W = cr_scratch_matrix(&memory, p, p), s.CW = cr_scratch_matrix(&memory, p, p);
        s.E = cr_scratch_matrix(&memory, p, p), s.GE = cr_scratch_matrix(&memory, p, p);
        s.coefficient = cr_scratch_matrix(&memory, p, p);
    }
    CR_TRY(memory.status);
    for (size_t i = 0; i < p * p; i++) s.G[i] = of->C[i] * of->C[i];
    for (size_t j = 0; j < q; j++) {
        CR_TRY(cr_check_interrupt(cx));
        value_sd[j] = eigenvalue_sd(&s, j);
        if (affordable && s.lambda[j] > 0 && stands_apart(&s, j))
            CR_TRY(loading_sds(cx, &s, j, vector_sd + j * p));
        else
            for (size_t i = 0; i < p; i++) vector_sd[j * p + i] = INFINITY;
    }
done:
    cr_scratch_end(&memory);
    return st;
}
