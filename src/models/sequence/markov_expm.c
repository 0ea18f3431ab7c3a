/* markov_expm.c -- see markov_expm.h. */
#include "markov_expm.h"
#include "base/inner_loop.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { TERMS = 18 }; /* 1 / 19! is below the rounding */

size_t cri_generator_work(size_t k) { return 5 * k * k; }

/* C (+)= A B. */
CRI_INNER_LOOP static void multiply(const double *A, const double *B, size_t k, bool add, double *C)
{
    cri_check_bytes(A, k * k * sizeof *A), cri_check_bytes(B, k * k * sizeof *B);
    cri_check_bytes(C, k * k * sizeof *C);
    if (!add) memset(C, 0, k * k * sizeof *C);
    for (size_t i = 0; i < k; i++)
        for (size_t l = 0; l < k; l++) {
            double a = A[i * k + l];
            for (size_t j = 0; a != 0 && j < k; j++) C[i * k + j] += a * B[l * k + j];
        }
}

static void scale(double *A, size_t n, double by)
{
    for (size_t i = 0; i < n; i++) A[i] *= by;
}

static void make_rows_sum_to_one(double *P, size_t k)
{
    for (size_t i = 0; i < k; i++) {
        double sum = 0;
        for (size_t j = 0; j < k; j++) sum += P[i * k + j];
        scale(P + i * k, k, 1 / sum);
    }
}

void cri_generator_exponential(const double *Q, size_t k, double t, const double *opt_W, double *P,
                               double *opt_L, double *work)
{
    size_t  kk = k * k;
    double *N = work, *E = N + kk, *R = E + kk, *D = R + kk, *next = D + kk, q = 0;
    int     squarings = 0;
    for (size_t i = 0; i < k; i++) q = fmax(q, -Q[i * k + i]);
    if (!(q * t < 1e300)) t = 1e300 / q; /* the long run was long before */
    if (q * t > 1) frexp(q * t, &squarings);
    double h = ldexp(t, -squarings);
    for (size_t i = 0; i < kk; i++) N[i] = Q[i] * h;
    for (size_t i = 0; i < k; i++) N[i * k + i] = (Q[i * k + i] + q) * h;
    /* Horner's scheme: R = I + N R / n, and its derivative D = (E R + N D) / n where N moves by E. */
    memset(R, 0, kk * sizeof *R);
    memset(D, 0, kk * sizeof *D);
    for (size_t i = 0; i < k; i++) R[i * k + i] = 1;
    for (size_t i = 0; opt_W && i < kk; i++) E[i] = opt_W[i] * h;
    for (size_t n = TERMS; n > 0; n--) {
        if (opt_W) {
            multiply(E, R, k, false, next);
            multiply(N, D, k, true, next);
            memcpy(D, next, kk * sizeof *D);
            scale(D, kk, 1 / (double)n);
        }
        multiply(N, R, k, false, next);
        memcpy(R, next, kk * sizeof *R);
        scale(R, kk, 1 / (double)n);
        for (size_t i = 0; i < k; i++) R[i * k + i] += 1;
    }
    scale(R, kk, exp(-q * h));
    scale(D, kk, exp(-q * h));
    make_rows_sum_to_one(R, k);
    for (int s = 0; s < squarings; s++) {
        if (opt_W) {
            multiply(R, D, k, false, next);
            multiply(D, R, k, true, next);
            memcpy(D, next, kk * sizeof *D);
        }
        multiply(R, R, k, false, next);
        memcpy(R, next, kk * sizeof *R);
        make_rows_sum_to_one(R, k);
    }
    memcpy(P, R, kk * sizeof *P);
    if (opt_W) memcpy(opt_L, D, kk * sizeof *D);
}
