/* spread.c -- how well the eigenvalues and eigenvectors of a covariance are known.
 * For normal rows the error D of a covariance C has cov(D_ab, D_cd) = (C_ac C_bd + C_ad C_bc) / n, so that for a
 * symmetric M the variance of tr(M D) is 2 tr(M C M C) / n.  To first order the error of lambda_j is tr(M D) with
 *   M = v_j v_j^T - E,                                   E = diag(e),
 * and that of loading a of v_j, with w = sum_k!=j v_k v_ka / (lambda_j - lambda_k),
 *   M = (w v_j^T + v_j w^T) / 2 - E.
 * E is 0 for a covariance, which leaves the variances
 *   2 lambda_j^2 / n   and   lambda_j / n sum_k!=j lambda_k v_ka^2 / (lambda_j - lambda_k)^2.
 * In a correlation matrix R the error of the sds is taken off, dR = D - (diag(D) R + R diag(D)) / 2, which gives
 * e = lambda_j v_j^2 for the eigenvalue and, for the loading, e_i = v_ji (lambda_j w_i + (R w)_i) / 2.  With w orthogonal
 * to v_j
 *   2 tr(M C M C) = lambda_j w.Cw - 4 lambda_j sum_i (Cw)_i v_ji e_i + 2 sum_il e_i e_l C_il^2.
 * Of all loadings a at once, w and C w are columns of symmetric matrices, one of which gives the other:
 *   S = C W = sum_k!=j lambda_k / (lambda_j - lambda_k) v_k v_k^T,   lambda_j W = I - v_j v_j^T + S.
 * Eigenvalues that are 0 add nothing to S, so that their vectors need not be known. */
#include "spread.h"
#include "base/scratch.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

static const double MOST = 2.5e11; /* operations that the sds may take */
static const double ALIKE = 1e-9; /* relative gap below which two directions cannot be told apart */

typedef struct spread {
    const cri_decomposed *of;
    double                n;
    double               *G; /* [p x p] C_il^2; NULL where it is not needed                    */
    double               *A; /* [known x p] vectors, scaled                                    */
    double               *N; /* [known x known] of them                                        */
    double *S, *E, *GE;      /* [p x p] as above; e of each loading (columns); G times it */
} spread;

cri_spread_extent cri_spread_affordable(size_t p, size_t known, size_t q, bool standardised,
                                        bool has_C)
{
    double d = (double)p, r = (double)known, k = (double)q;
    if (!standardised) return CRI_SPREAD_VECTORS;
    if (k * (r * d * d + 2 * d * d * d) <= MOST) return CRI_SPREAD_VECTORS;
    return has_C || k * r * r * d <= MOST ? CRI_SPREAD_VALUES : CRI_SPREAD_NOTHING;
}

/* --- eigenvalues ------------------------------------------------------------------------------ */

/* sum_il u_i u_l C_il^2, u = v_j^2: from C, or, with N = V diag(u) V^T, as sum_kl lambda_k lambda_l N_kl^2. */
static cr_status crossed_sum(cr_ctx *cx, const spread *s, size_t j, double *out)
{
    cr_status     st = CR_OK;
    size_t        p = s->of->p, r = s->of->known;
    const double *v = s->of->V + j * p, *lambda = s->of->lambda;
    double        sum = 0;
    for (size_t i = 0; s->G && i < p; i++) {
        double row = 0;
        for (size_t l = 0; l < p; l++) row += v[l] * v[l] * s->G[i * p + l];
        sum += v[i] * v[i] * row;
    }
    if (!s->G) {
        for (size_t k = 0; k < r; k++)
            for (size_t i = 0; i < p; i++) s->A[k * p + i] = s->of->V[k * p + i] * v[i];
        CR_TRY(cr_syrk(cx, 1, cr_cmat_of(s->A, r, p), CR_PLAIN, 0, cr_mat_of(s->N, r, r)));
        for (size_t k = 0; k < r; k++)
            for (size_t l = 0; l < r; l++)
                sum += lambda[k] * lambda[l] * s->N[k * r + l] * s->N[k * r + l];
    }
    *out = sum;
done:
    return st;
}

static cr_status eigenvalue_sd(cr_ctx *cx, const spread *s, size_t j, double *out)
{
    size_t        p = s->of->p;
    const double *v = s->of->V + j * p;
    double        l = s->of->lambda[j], fourth = 0, crossed = 0;
    *out = l * sqrt(2 / s->n);
    if (!s->of->standardised || !(l > 0)) return CR_OK;
    cr_status st = crossed_sum(cx, s, j, &crossed);
    for (size_t i = 0; i < p; i++) fourth += v[i] * v[i] * v[i] * v[i];
    *out = sqrt(fmax(2 / s->n * (l * l - 2 * l * l * l * fourth + l * l * crossed), 0));
    return st;
}

/* --- loadings --------------------------------------------------------------------------------- */

/* false where another direction is as long: loadings are not known at all then. */
static bool stands_apart(const cri_decomposed *of, size_t j)
{
    for (size_t k = 0; k < of->known; k++)
        if (k != j && fabs(of->lambda[j] - of->lambda[k]) <= ALIKE * of->lambda[0]) return false;
    return of->known == of->p || of->lambda[j] > ALIKE * of->lambda[0];
}

static double sd_of(double variance, double n)
{
    double sd = sqrt((variance > 0 ? variance : 0) / n);
    return sd < 1 ? sd : 1; /* no loading is longer */
}

void cri_spread_weights(const cri_decomposed *of, size_t j, double *out_f)
{
    double l = of->lambda[j];
    for (size_t k = 0; k < of->known; k++) {
        double gap = l - of->lambda[k];
        out_f[k] = k == j ? 0 : l * of->lambda[k] / gap / gap;
    }
}

/* f [known] is workspace. */
static void covariance_sds(const spread *s, size_t j, double *f, double *out)
{
    const cri_decomposed *of = s->of;
    size_t                p = of->p;
    if (of->opt_sums) {
        memcpy(out, of->opt_sums + j * p, p * sizeof *out);
    } else {
        memset(out, 0, p * sizeof *out);
        cri_spread_weights(of, j, f);
        for (size_t k = 0; k < of->known; k++)
            for (size_t a = 0; a < p; a++) out[a] += f[k] * of->V[k * p + a] * of->V[k * p + a];
    }
    for (size_t a = 0; a < p; a++) out[a] = sd_of(out[a], s->n);
}

/* S: the longer directions k < j have a factor below 0. */
static cr_status find_S(cr_ctx *cx, const spread *s, size_t j)
{
    cr_status             st = CR_OK;
    const cri_decomposed *of = s->of;
    size_t                p = of->p, behind = of->known - j - 1;
    cr_mat                S = cr_mat_of(s->S, p, p);
    for (size_t k = 0; k < of->known; k++) {
        double factor = k == j ? 0 : sqrt(of->lambda[k] / fabs(of->lambda[j] - of->lambda[k]));
        for (size_t a = 0; a < p; a++) s->A[k * p + a] = factor * of->V[k * p + a];
    }
    CR_TRY(cr_syrk(cx, 1, cr_cmat_of(s->A + (j + 1) * p, behind, p), CR_TRANSPOSED, 0, S));
    if (j > 0) CR_TRY(cr_syrk(cx, -1, cr_cmat_of(s->A, j, p), CR_TRANSPOSED, 1, S));
done:
    return st;
}

static cr_status correlation_sds(cr_ctx *cx, const spread *s, size_t j, double *out)
{
    cr_status     st = CR_OK;
    size_t        p = s->of->p;
    const double *v = s->of->V + j * p;
    double        l = s->of->lambda[j];
    CR_TRY(find_S(cx, s, j));
    for (size_t i = 0; i < p; i++)
        for (size_t a = 0; a < p; a++)
            s->E[i * p + a] = v[i] * (s->S[i * p + a] + 0.5 * ((i == a) - v[i] * v[a]));
    CR_TRY(cr_gemm(cx, 1, cr_cmat_of(s->G, p, p), CR_PLAIN, cr_cmat_of(s->E, p, p), CR_PLAIN, 0,
                   cr_mat_of(s->GE, p, p)));
    memset(out, 0, p * sizeof *out);
    for (size_t i = 0; i < p; i++)
        for (size_t a = 0; a < p; a++) {
            double S = s->S[i * p + a], e = s->E[i * p + a], lw = (i == a) - v[i] * v[a] + S;
            out[a] += lw * S - 4 * l * S * v[i] * e + 2 * e * s->GE[i * p + a];
        }
    for (size_t a = 0; a < p; a++) out[a] = sd_of(out[a], s->n);
done:
    return st;
}

/* --- both ------------------------------------------------------------------------------------- */

/* G from C, or from the vectors. */
static cr_status find_squares(cr_ctx *cx, const spread *s)
{
    cr_status             st = CR_OK;
    const cri_decomposed *of = s->of;
    size_t                p = of->p;
    for (size_t k = 0; !of->opt_C && k < of->known; k++)
        for (size_t a = 0; a < p; a++) s->A[k * p + a] = sqrt(of->lambda[k]) * of->V[k * p + a];
    if (!of->opt_C)
        CR_TRY(cr_syrk(cx, 1, cr_cmat_of(s->A, of->known, p), CR_TRANSPOSED, 0,
                       cr_mat_of(s->G, p, p)));
    for (size_t i = 0; i < p * p; i++) {
        double c = of->opt_C ? of->opt_C[i] : s->G[i];
        s->G[i] = c * c;
    }
done:
    return st;
}

static void set_unknown(double *x, size_t n)
{
    for (size_t i = 0; i < n; i++) x[i] = INFINITY;
}

cr_status cri_spread(cr_ctx *cx, const cri_decomposed *of, size_t q, cri_spread_extent extent,
                     double *value_sd, double *vector_sd)
{
    cr_status  st = CR_OK;
    cr_scratch memory = cr_scratch_begin(cx);
    size_t     p = of->p, r = of->known;
    bool       vectors = extent == CRI_SPREAD_VECTORS, squares = of->opt_C || vectors;
    spread     s = { .of = of, .n = fmax(of->n - 1, 1) };
    double    *f = cr_scratch_f64(&memory, r);

    if (of->standardised && extent != CRI_SPREAD_NOTHING) {
        s.G = squares ? cr_scratch_matrix(&memory, p, p) : NULL;
        s.A = cr_scratch_matrix(&memory, r, p);
        s.N = squares ? NULL : cr_scratch_matrix(&memory, r, r);
        s.S = vectors ? cr_scratch_matrix(&memory, p, p) : NULL;
        s.E = vectors ? cr_scratch_matrix(&memory, p, p) : NULL;
        s.GE = vectors ? cr_scratch_matrix(&memory, p, p) : NULL;
    }
    CR_TRY(memory.status);
    if (s.G) CR_TRY(find_squares(cx, &s));
    set_unknown(value_sd, q);
    for (size_t j = 0; j < q && extent != CRI_SPREAD_NOTHING; j++) {
        double *sds = vector_sd ? vector_sd + j * p : NULL;
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(eigenvalue_sd(cx, &s, j, &value_sd[j]));
        if (!sds) continue;
        if (!vectors || !(of->lambda[j] > 0) || !stands_apart(of, j))
            set_unknown(sds, p);
        else if (of->standardised)
            CR_TRY(correlation_sds(cx, &s, j, sds));
        else
            covariance_sds(&s, j, f, sds);
        cr_progress(cx, "finding standard errors", (double)(j + 1), (double)q);
    }
done:
    cr_scratch_end(&memory);
    return st;
}
