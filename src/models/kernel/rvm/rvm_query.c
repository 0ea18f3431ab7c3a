/* rvm_query.c -- predictions with a function added where one is asked for.
 * Far from the relevance vectors all functions vanish, and with them the spread: a relevance vector machine is surest
 * where it knows nothing.  A function k(x*, .) at the query itself, with a weight of prior precision alpha, mends that:
 *   q = phi^T residual,   s = phi^T B phi - v^T C v,   v = Phi^T B phi,   phi_i = k(x_i, x*)
 *   w* ~ N(q / (alpha + s), 1 / (alpha + s)),   f(x*) gains e w*,   e = k(x*, x*) - phi(x*)^T C v
 * B the precisions of the rows, C the covariance of the weights.  Near many rows s is large and little changes; far
 * away the spread grows to that of the prior, k(x*, x*) / alpha^1/2.  O(n M) a query.
 * Rasmussen & Quinonero-Candela (2005), "Healing the relevance vector machine through augmentation", ICML. */
#include "rvm_job.h"
#include "base/parallel.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

cr_status cri_rvm_keep_rows(cr_ctx *cx, const cri_rvm_job *j, const double *residual,
                            const double *precision, double opt_query, double variance, cri_rvm *m)
{
    cr_status st = CR_OK;
    size_t    n = j->at.n;
    double  **empty[] = { &m->inputs, &m->residual, &m->precision }; /* of no elements yet */
    for (size_t k = 0; k < 3; k++) {
        cr_free(cx, *empty[k], 0, sizeof(double));
        *empty[k] = NULL;
    }
    cr_free(cx, m->levels, 0, sizeof *m->levels);
    m->levels = NULL;
    m->n = n, m->query = opt_query, m->variance = variance;
    CR_TRY(cri_record_allocate(cx, cri_rvm_record, m));
    memcpy(m->residual, residual, n * sizeof *residual);
    memcpy(m->precision, precision, n * sizeof *precision);
    if (m->d) memcpy(m->inputs, j->at.X, n * m->d * sizeof *m->inputs);
    if (m->c) memcpy(m->levels, j->at.codes, n * m->c * sizeof *m->levels);
done:
    return st;
}

cr_status cri_rvm_query_new(cr_scratch *s, const cri_rvm *m, const cr_design *design,
                            cri_rvm_query *out)
{
    size_t          n = m->n, M = m->M;
    cr_kernel_input in = {
        .rows = n, .numbers = cr_cmat_of(m->inputs, n, m->d), .codes = m->levels, .categories = m->c
    };
    *out = (cri_rvm_query){ .in = in, .BPhi = cr_scratch_matrix(s, n, M) };
    if (s->status != CR_OK) return s->status;
    cr_status st = cri_rvm_functions(s->cx, m, design, &in, out->BPhi);
    for (size_t i = 0; st == CR_OK && i < n; i++)
        for (size_t k = 0; k < M; k++) out->BPhi[i * M + k] *= m->precision[i];
    return st;
}

cr_status cri_rvm_query_add(cr_ctx *cx, const cri_rvm *m, const cri_rvm_query *all,
                            const cr_kernel_input *in, const double *Phi, double *mean, double *var)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = m->n, M = m->M, q = in->rows;
    double    *K = cr_scratch_matrix(&s, q, n), *V = cr_scratch_matrix(&s, q, M);
    double    *CV = cr_scratch_matrix(&s, q, M), *own = cr_scratch_f64(&s, q);

    CR_TRY(s.status);
    CR_TRY(cr_kernel_cross(cx, m->kernel, in, &all->in, cr_mat_of(K, q, n)));
    CR_TRY(cr_kernel_diagonal(cx, m->kernel, in, false, own));
    if (M) {
        CR_TRY(cr_gemm(cx, 1, cr_cmat_of(K, q, n), CR_PLAIN, cr_cmat_of(all->BPhi, n, M), CR_PLAIN,
                       0, cr_mat_of(V, q, M)));
        CR_TRY(cr_gemm(cx, 1, cr_cmat_of(V, q, M), CR_PLAIN, cr_cmat_of(m->covariance, M, M),
                       CR_PLAIN, 0, cr_mat_of(CV, q, M)));
    }
    for (size_t i = 0; i < q; i++) {
        const double *k = K + i * n;
        double        S = -cr_dot(V + i * M, CV + i * M, M), square = 0;
        double        Q = cr_dot(k, m->residual, n);
        double        e = own[i] - cr_dot(Phi + i * M, CV + i * M, M);
        for (size_t r = 0; r < n; r++) square += m->precision[r] * k[r] * k[r];
        double alpha = isnan(m->query) ? own[i] * own[i] / m->variance : m->query;
        double total = alpha + fmax(S + square, 0);
        if (!(total > 0)) continue;
        mean[i] += e * Q / total;
        var[i] += e * e / total;
    }
done:
    cr_scratch_end(&s);
    return st;
}
