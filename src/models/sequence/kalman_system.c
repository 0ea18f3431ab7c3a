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
    cri_kalman_entries *lists[] = { &a.forward, &a.backward };
    for (size_t i = 0; i < 2; i++) {
        lists[i]->row = cr_scratch_bytes(s, m + 1, sizeof(size_t));
        lists[i]->column = cr_scratch_bytes(s, m * m, sizeof(size_t));
        lists[i]->entry = cr_scratch_bytes(s, m * m, sizeof(double));
    }
    if (s->status == CR_OK) *out = a;
    return s->status;
}

void cri_kalman_list(const double *T, size_t m, bool transposed, cri_kalman_entries *out)
{
    size_t n = 0;
    for (size_t i = 0; i < m; i++) {
        out->row[i] = n;
        for (size_t j = 0; j < m; j++) {
            double entry = transposed ? T[j * m + i] : T[i * m + j];
            if (entry == 0) continue;
            out->column[n] = j;
            out->entry[n++] = entry;
        }
    }
    out->row[m] = n;
}

void cri_kalman_pack(cri_kalman_system *a)
{
    cri_kalman_list(a->T, a->m, false, &a->forward);
    cri_kalman_list(a->T, a->m, true, &a->backward);
}

void cri_kalman_loadings(const cri_kalman_system *a, const cri_kalman_data *data, size_t t,
                         size_t i, double *out)
{
    memcpy(out, a->Z + i * a->m, a->m * sizeof *out);
    for (size_t j = 0; j < a->k; j++) out[a->m - a->k + j] = data->x[t * a->k + j];
}

void cri_kalman_move(const cri_kalman_entries *A, size_t m, double *state, double *work)
{
    for (size_t i = 0; i < m; i++) {
        double sum = 0;
        for (size_t e = A->row[i]; e < A->row[i + 1]; e++) sum += A->entry[e] * state[A->column[e]];
        work[i] = sum;
    }
    memcpy(state, work, m * sizeof *state);
}

/* Row by row. */
void cri_kalman_apply(const cri_kalman_entries *A, size_t m, const double *P, double *out)
{
    for (size_t i = 0; i < m; i++) {
        double *restrict to = out + i * m;
        size_t e = A->row[i], end = A->row[i + 1];
        if (e == end) {
            memset(to, 0, m * sizeof *to);
            continue;
        }
        const double *restrict from = P + A->column[e] * m;
        double factor = A->entry[e];
        for (size_t j = 0; j < m; j++) to[j] = factor * from[j];
        for (e++; e < end; e++) {
            from = P + A->column[e] * m;
            factor = A->entry[e];
            for (size_t j = 0; j < m; j++) to[j] += factor * from[j];
        }
    }
}

void cri_kalman_carry(const cri_kalman_entries *A, size_t m, double *P, const double *opt_Q,
                      bool lopsided, double *work)
{
    cri_kalman_apply(A, m, P, work);
    for (size_t j = 0; j < m; j++) { /* P = work A': row j of A meets the rows of work */
        size_t begin = A->row[j], end = A->row[j + 1];
        for (size_t i = lopsided ? 0 : j; i < m; i++) {
            const double *from = work + i * m;
            double        sum = 0;
            for (size_t e = begin; e < end; e++) sum += A->entry[e] * from[A->column[e]];
            if (opt_Q) sum += opt_Q[i * m + j];
            P[i * m + j] = sum;
            if (!lopsided) P[j * m + i] = sum;
        }
    }
}

static void multiply(const double *A, const double *B, size_t n, bool transposed, double *out)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = 0;
            for (size_t l = 0; l < n; l++)
                sum += A[i * n + l] * (transposed ? B[j * n + l] : B[l * n + j]);
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
