/* rvm_laplace.c -- the mode of the weights of a classifier, by Newton's method, and Laplace's approximation there. */
#include "rvm_classes.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

enum { NEWTON = 100, HALVINGS = 40 };
static const double TOLERANCE = 1e-10; /* of the objective */

/* What Newton's method works on. */
typedef struct newton {
    double *eta; /* [n x F]       */
    double *U;   /* [M x n]       */
    double *H;   /* [M x M]       */
    double *gradient, *move, *trial;
} newton;

/* Scores and probabilities at these weights: the log likelihood. */
static double look(cri_rvm_classes *z, const double *weight, double *eta)
{
    size_t n = z->basis->n, C = z->basis->C, F = z->F;
    double log_likelihood = 0;
    memset(eta, 0, n * F * sizeof *eta);
    for (size_t m = 0; m < z->M; m++) {
        const double *phi = z->Phi + m * n;
        size_t        f = z->at[m] / C;
        for (size_t i = 0; i < n; i++) eta[i * F + f] += weight[m] * phi[i];
    }
    for (size_t i = 0; i < n; i++) {
        const double *e = eta + i * F, *t = z->T + i * F;
        double       *p = z->p + i * F, most = F == 1 ? 0 : e[0], sum = 0;
        for (size_t f = 0; f < F; f++) most = fmax(most, e[f]);
        for (size_t f = 0; f < F; f++) sum += p[f] = exp(e[f] - most);
        if (F == 1) sum += exp(-most);
        for (size_t f = 0; f < F; f++) {
            p[f] /= sum;
            log_likelihood += t[f] * e[f];
        }
        log_likelihood -= z->count[i] * (most + log(sum));
    }
    return log_likelihood;
}

static double penalty(const cri_rvm_classes *z, const double *weight)
{
    double sum = 0;
    for (size_t m = 0; m < z->M; m++) sum += z->alpha[m] * weight[m] * weight[m];
    return 0.5 * sum;
}

/* H at the present p.  The rows of one latent function at a time. */
static cr_status curvature(cr_ctx *cx, const cri_rvm_classes *z, const newton *w)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = z->basis->n, C = z->basis->C, M = z->M;
    double    *G = cr_scratch_matrix(&s, M, M);
    CR_TRY(s.status);
    for (size_t f = 0; f < z->F; f++) {
        for (size_t m = 0; m < M; m++)
            for (size_t i = 0; i < n; i++)
                w->U[m * n + i] = z->Phi[m * n + i] * cri_rvm_curvature(z, i, f, z->at[m] / C);
        CR_TRY(cr_gemm(cx, 1, cr_cmat_of(z->Phi, M, n), CR_PLAIN, cr_cmat_of(w->U, M, n),
                       CR_TRANSPOSED, 0, cr_mat_of(G, M, M)));
        for (size_t m = 0; m < M; m++)
            if (z->at[m] / C == f) memcpy(w->H + m * M, G + m * M, M * sizeof *G);
    }
    for (size_t m = 0; m < M; m++) w->H[m * M + m] += z->alpha[m];
done:
    cr_scratch_end(&s);
    return st;
}

/* H := its factor, of the matrix scaled to a diagonal of ones; root [M] the scales.  Where rounding forbids it the prior
 * precisions grow a shade. */
static cr_status factor(cr_ctx *cx, cri_rvm_classes *z, double *H, double *root)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     M = z->M;
    double    *L = cr_scratch_matrix(&s, M, M), scale = 1e-14;
    CR_TRY(s.status);
    for (st = CR_ENUMERIC; st == CR_ENUMERIC && scale < 1; scale *= 10) {
        for (size_t m = 0; m < M; m++) root[m] = sqrt(H[m * M + m]);
        for (size_t m = 0; m < M; m++)
            for (size_t k = 0; k <= m; k++)
                L[m * M + k] = m == k ? 1 : H[m * M + k] / root[m] / root[k];
        st = cr_chol(cx, cr_mat_of(L, M, M));
        for (size_t m = 0; st == CR_ENUMERIC && m < M; m++) {
            z->alpha[m] += scale * root[m] * root[m];
            H[m * M + m] += scale * root[m] * root[m];
        }
    }
    CR_TRY(st);
    memcpy(H, L, M * M * sizeof *H);
done:
    cr_scratch_end(&s);
    return st;
}

/* One step with halvings; *out_gain: of the objective, 0 where none was found. */
static cr_status step(cr_ctx *cx, cri_rvm_classes *z, const newton *w, double *root,
                      double *objective, double *out_gain)
{
    cr_status st = CR_OK;
    size_t    n = z->basis->n, C = z->basis->C, F = z->F, M = z->M;
    double    slope = 0, length = 1;
    CR_TRY(curvature(cx, z, w));
    CR_TRY(factor(cx, z, w->H, root));
    for (size_t m = 0; m < M; m++) {
        const double *phi = z->Phi + m * n;
        size_t        f = z->at[m] / C;
        double        sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += phi[i] * (z->T[i * F + f] - z->count[i] * z->p[i * F + f]);
        w->gradient[m] = sum - z->alpha[m] * z->weight[m];
        w->move[m] = w->gradient[m] / root[m];
    }
    CR_TRY(cr_chol_solve(cx, cr_cmat_of(w->H, M, M), cr_mat_of(w->move, M, 1)));
    for (size_t m = 0; m < M; m++) {
        w->move[m] /= root[m];
        slope += w->gradient[m] * w->move[m];
    }
    *out_gain = 0;
    for (size_t k = 0; k < HALVINGS && slope > 0; k++, length /= 2) {
        for (size_t m = 0; m < M; m++) w->trial[m] = z->weight[m] + length * w->move[m];
        double likelihood = look(z, w->trial, w->eta), now = likelihood - penalty(z, w->trial);
        if (!(now >= *objective + 1e-4 * length * slope) && slope > TOLERANCE) continue;
        if (!(now > *objective)) break;
        *out_gain = now - *objective;
        *objective = now, z->log_likelihood = likelihood;
        memcpy(z->weight, w->trial, M * sizeof *w->trial);
        goto done;
    }
    z->log_likelihood = look(z, z->weight, w->eta);
done:
    return st;
}

/* V and the evidence at the mode. */
static cr_status finish(cr_ctx *cx, cri_rvm_classes *z, const newton *w, double *root)
{
    cr_status st = CR_OK;
    size_t    M = z->M;
    CR_TRY(curvature(cx, z, w));
    CR_TRY(factor(cx, z, w->H, root));
    double log_det = M ? cr_chol_logdet(cr_cmat_of(w->H, M, M)) : 0;
    for (size_t m = 0; m < M; m++) log_det += 2 * log(root[m]) - log(z->alpha[m]);
    z->evidence = z->log_likelihood - penalty(z, z->weight) - 0.5 * log_det;
    if (M) CR_TRY(cr_chol_inverse(cx, cr_cmat_of(w->H, M, M), cr_mat_of(w->H, M, M)));
    for (size_t m = 0; m < M; m++)
        for (size_t k = 0; k < M; k++)
            z->V[m * z->capacity + k] = w->H[m * M + k] / root[m] / root[k];
done:
    return st;
}

cr_status cri_rvm_classes_mode(cr_ctx *cx, cri_rvm_classes *z)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = z->basis->n, M = z->M;
    newton     w = { .eta = cr_scratch_matrix(&s, n, z->F),
                     .U = cr_scratch_matrix(&s, M, n),
                     .H = cr_scratch_matrix(&s, M, M),
                     .gradient = cr_scratch_f64(&s, M),
                     .move = cr_scratch_f64(&s, M),
                     .trial = cr_scratch_f64(&s, M) };
    double    *root = cr_scratch_f64(&s, M), gain = INFINITY;

    CR_TRY(s.status);
    z->log_likelihood = look(z, z->weight, w.eta);
    double objective = z->log_likelihood - penalty(z, z->weight);
    for (size_t k = 0; M && k < NEWTON && gain > TOLERANCE * (1 + fabs(objective)); k++) {
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(step(cx, z, &w, root, &objective, &gain));
    }
    CR_TRY(finish(cx, z, &w, root));
done:
    cr_scratch_end(&s);
    return st;
}
