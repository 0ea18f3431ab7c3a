/* rvm_state.h -- a fitted relevance vector machine from inside, and its evidence by the dense formula. */
#ifndef CREDENCE_TEST_MODELS_KERNEL_RVM_STATE_H
#define CREDENCE_TEST_MODELS_KERNEL_RVM_STATE_H

#include "../fixture.h"
#include "models/core/model_internal.h"
#include "models/kernel/rvm/rvm.h"

static inline const cri_rvm *rvm_of(const cr_model *m) { return m->state; }

/* The function of weight k at a row of numbers x, by its definition: rbf of one length-scale. */
static inline double rvm_phi(const cri_rvm *m, size_t k, const double *x, double l)
{
    double square = 0;
    if (m->function[k] < 0) return 1;
    if (m->terms) return x[(size_t)m->function[k]];
    for (size_t j = 0; j < m->d; j++) {
        double d = x[j] - m->X[(size_t)m->function[k] * m->d + j];
        square += d * d;
    }
    return exp(-square / (2 * l * l));
}

/* log N(y; 0, C), C [n x n] = noise diag(1 / w) + Phi diag(1 / alpha) Phi^T, Phi [n x M], as if each row of weight w were so many rows. */
static inline double dense_evidence(const double *Phi, size_t M, const double *alpha,
                                    const double *y, const double *opt_w, size_t n, double noise)
{
    long double *C = calloc(n * n, sizeof *C), *t = calloc(n, sizeof *t), log_det, square;
    double       merged = 0;
    for (size_t i = 0; i < n; i++) {
        double w = opt_w ? opt_w[i] : 1;
        merged += (w - 1) * log(2 * M_PI * noise) + log(w); /* repetitions of one value */
        t[i] = y[i];
        for (size_t j = 0; j < n; j++) {
            C[i * n + j] = i == j ? (long double)noise / w : 0;
            for (size_t m = 0; m < M; m++)
                C[i * n + j] += (long double)Phi[i * M + m] * Phi[j * M + m] / alpha[m];
        }
    }
    square = quadratic_form(n, C, t, &log_det);
    free(C);
    free(t);
    return (double)(-0.5L * (log_det + square + (long double)n * log(2 * M_PI))) - 0.5 * merged;
}

#endif
