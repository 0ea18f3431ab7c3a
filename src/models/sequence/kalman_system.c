/* kalman_system.c -- the matrices of a state space model. */
#include "kalman_system.h"

#include <math.h>
#include <string.h>

cr_status cri_kalman_new(cr_scratch *s, size_t m, size_t p, size_t k, cri_kalman_system *out)
{
    cri_kalman_system a = { .m = m, .p = p, .k = k };
    a.T = cr_scratch_bytes(s, m * m, sizeof(double));
    a.Q = cr_scratch_bytes(s, m * m, sizeof(double));
    a.Z = cr_scratch_bytes(s, p * m, sizeof(double));
    a.h = cr_scratch_bytes(s, p, sizeof(double));
    a.start = cr_scratch_bytes(s, m, sizeof(double));
    a.P1 = cr_scratch_bytes(s, m * m, sizeof(double));
    a.diffuse = cr_scratch_bytes(s, m, sizeof(bool));
    a.shared = cr_scratch_bytes(s, m, sizeof(bool));
    a.noisy = cr_scratch_bytes(s, m, sizeof(bool));
    a.row = cr_scratch_bytes(s, m + 1, sizeof(size_t));
    a.column = cr_scratch_bytes(s, m * m, sizeof(size_t));
    a.entry = cr_scratch_bytes(s, m * m, sizeof(double));
    if (s->status == CR_OK) *out = a;
    return s->status;
}

void cri_kalman_pack(cri_kalman_system *a)
{
    size_t n = 0;
    for (size_t i = 0; i < a->m; i++) {
        a->row[i] = n;
        for (size_t j = 0; j < a->m; j++)
            if (a->T[i * a->m + j] != 0) {
                a->column[n] = j;
                a->entry[n++] = a->T[i * a->m + j];
            }
    }
    a->row[a->m] = n;
}

void cri_kalman_loadings(const cri_kalman_system *a, const cri_kalman_data *data, size_t t, size_t i,
                         double *out)
{
    memcpy(out, a->Z + i * a->m, a->m * sizeof *out);
    for (size_t j = 0; j < a->k; j++) out[a->m - a->k + j] = data->x[t * a->k + j];
}

void cri_kalman_move(const cri_kalman_system *a, double *state, double *work)
{
    for (size_t i = 0; i < a->m; i++) {
        double sum = 0;
        for (size_t e = a->row[i]; e < a->row[i + 1]; e++) sum += a->entry[e] * state[a->column[e]];
        work[i] = sum;
    }
    memcpy(state, work, a->m * sizeof *state);
}

void cri_kalman_carry(const cri_kalman_system *a, double *P, const double *opt_Q, double *work)
{
    size_t m = a->m;
    for (size_t i = 0; i < m; i++) { /* work = T P */
        double *to = work + i * m;
        memset(to, 0, m * sizeof *to);
        for (size_t e = a->row[i]; e < a->row[i + 1]; e++) {
            const double *from = P + a->column[e] * m;
            double        factor = a->entry[e];
            for (size_t j = 0; j < m; j++) to[j] += factor * from[j];
        }
    }
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j <= i; j++) {
            const double *from = work + i * m;
            double        sum = opt_Q ? opt_Q[i * m + j] : 0;
            for (size_t e = a->row[j]; e < a->row[j + 1]; e++)
                sum += a->entry[e] * from[a->column[e]];
            P[i * m + j] = P[j * m + i] = sum;
        }
}

static void multiply(const double *A, const double *B, size_t n, bool transposed, double *out)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = 0;
            for (size_t l = 0; l < n; l++) sum += A[i * n + l] * (transposed ? B[j * n + l] : B[l * n + j]);
            out[i * n + j] = sum;
        }
}

enum { MOST_DOUBLINGS = 60 };

bool cri_kalman_settle(const double *T, const double *Q, size_t n, double *P, double *work)
{
    double *A = work, *B = work + n * n, *C = work + 2 * n * n;
    memcpy(A, T, n * n * sizeof *A);
    memcpy(P, Q, n * n * sizeof *P);
    for (size_t step = 0; step < MOST_DOUBLINGS; step++) { /* P += A P A', A = A A */
        double change = 0, size = 0;
        multiply(A, P, n, false, B);
        multiply(B, A, n, true, C);
        for (size_t i = 0; i < n * n; i++) {
            change = fmax(change, fabs(C[i]));
            P[i] += C[i];
            size = fmax(size, fabs(P[i]));
        }
        if (!isfinite(size)) return false;
        if (change <= 1e-17 * size) return true;
        multiply(A, A, n, false, B);
        memcpy(A, B, n * n * sizeof *A);
    }
    return false;
}
