/* classify_ep.c -- expectation propagation for two classes. */
#include "classify_ep.h"
#include "base/parallel.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

enum { ROWS = 16, SWEEPS = 100, STALLED = 4 };
static const double FAIR_GAP = 1e-6;      /* converged too, where rounding lets it fall no more */
static const double LEAST_CAVITY = 1e-12; /* of 1 - tau Sigma, against rounding                */
static const double LEAST_SHARE = 0.05;   /* of the way that the sites go at the least          */

cr_status cri_ep_new(cr_scratch *s, cri_laplace *laplace, size_t n, cri_ep *out)
{
    *out = (cri_ep){ .laplace = laplace,
                     .tolerance = CRI_EP_CLOSE,
                     .L = cr_scratch_matrix(s, n, n),
                     .T = cr_scratch_matrix(s, n, n),
                     .root = cr_scratch_f64(s, n),
                     .tau = cr_scratch_f64(s, n),
                     .nu = cr_scratch_f64(s, n),
                     .next_tau = cr_scratch_f64(s, n),
                     .next_nu = cr_scratch_f64(s, n),
                     .b = cr_scratch_f64(s, n),
                     .mean = cr_scratch_f64(s, n),
                     .variance = cr_scratch_f64(s, n),
                     .part = cr_scratch_f64(s, n),
                     .gap = cr_scratch_f64(s, n) };
    return s->status;
}

void cri_ep_start(cri_ep *m)
{
    const cri_laplace *from = m->laplace;
    for (size_t i = 0; i < from->seen_n; i++) {
        m->tau[i] = from->root[i] * from->root[i];
        m->nu[i] = m->tau[i] * from->f[i] + from->slope[i];
    }
    m->seen = from->seen;
    m->seen_n = from->seen_n;
}

/* --- one sweep ------------------------------------------------------------------------------- */

typedef struct sweep_work {
    cri_ep *m;
    size_t  n;
} sweep_work;

static void fill_rows(void *arg, size_t block)
{
    const sweep_work *w = arg;
    cri_range         rows = cri_block_range(w->n, ROWS, block);
    for (size_t i = rows.begin; i < rows.end; i++) {
        const double *k = w->m->laplace->K + i * w->n;
        double       *t = w->m->T + i * w->n, r = w->m->root[i];
        for (size_t j = 0; j < w->n; j++) t[j] = r * k[j];
    }
}

/* Sigma_ii = K_ii - |L^-1 (S^1/2 K)_i|^2 of some columns; T is L^-1 S^1/2 K. */
static void find_variances(void *arg, size_t block)
{
    const sweep_work *w = arg;
    cri_range         r = cri_block_range(w->n, ROWS, block);
    double           *variance = w->m->variance;
    const double     *K = w->m->laplace->K;
    for (size_t i = r.begin; i < r.end; i++) variance[i] = 0;
    for (size_t a = 0; a < w->n; a++)
        for (size_t i = r.begin; i < r.end; i++)
            variance[i] += w->m->T[a * w->n + i] * w->m->T[a * w->n + i];
    for (size_t i = r.begin; i < r.end; i++) {
        double prior = K[i * w->n + i];
        variance[i] = fmax(prior - variance[i], 1e-14 * prior);
    }
}

/* The site that the moments at input i ask for, what i adds to the evidence, and how far the moments are
 * apart. */
static void match_moments(cri_ep *m, size_t i)
{
    cri_classify_link  link = m->laplace->all->link;
    double             tau = m->tau[i], nu = m->nu[i], variance = m->variance[i], mean = m->mean[i];
    double             share = fmax(1 - tau * variance, LEAST_CAVITY);
    double             v = variance / share, c = (mean - variance * nu) / share;
    cri_classify_slope z = cri_classify_average(link, m->laplace->counts + 2 * i, c, v);
    double             left = fmax(1 - v * z.minus_second, LEAST_CAVITY);
    m->next_tau[i] = fmax(z.minus_second, 0) / left;
    m->next_nu[i] = (z.first + c * z.minus_second) / left;
    m->part[i] =
        z.log_p + 0.5 * (-log(share) - nu * nu * variance + c * share * (tau * c - 2 * nu));
    m->gap[i] = fmax(fabs(c + v * z.first - mean) / sqrt(variance), fabs(v * left / variance - 1));
}

static void match_rows(void *arg, size_t block)
{
    const sweep_work *w = arg;
    cri_range         rows = cri_block_range(w->n, ROWS, block);
    for (size_t i = rows.begin; i < rows.end; i++) match_moments(w->m, i);
}

cr_status cri_ep_moments(cr_ctx *cx, size_t n, cri_ep *m)
{
    cr_status  st = CR_OK;
    sweep_work w = { m, n };
    cr_cmat    K = cr_cmat_of(m->laplace->K, n, n), L = cr_cmat_of(m->L, n, n);
    size_t     blocks = cri_block_count(n, ROWS);
    for (size_t i = 0; i < n; i++) m->root[i] = sqrt(m->tau[i]);
    CR_TRY(cri_laplace_factor(cx, n, m->laplace->K, m->root, m->L));
    CR_TRY(cri_parallel_for(cx, NULL, blocks, fill_rows, &w));
    CR_TRY(cr_chol_forward(cx, L, cr_mat_of(m->T, n, n)));
    CR_TRY(cri_parallel_for(cx, NULL, blocks, find_variances, &w));
    CR_TRY(cr_gemv(cx, 1, K, CR_PLAIN, m->nu, 0, m->b));
    for (size_t i = 0; i < n; i++) m->b[i] *= m->root[i];
    CR_TRY(cr_chol_solve(cx, L, cr_mat_of(m->b, n, 1)));
    for (size_t i = 0; i < n; i++) m->b[i] = m->nu[i] - m->root[i] * m->b[i];
    CR_TRY(cr_gemv(cx, 1, K, CR_PLAIN, m->b, 0, m->mean));
done:
    return st;
}

/* Posterior, evidence and the sites to go to; *out_gap = the largest. */
static cr_status sweep(cr_ctx *cx, size_t n, cri_ep *m, double *out_gap)
{
    cr_status  st = CR_OK;
    sweep_work w = { m, n };
    double     gap = 0;
    CR_TRY(cr_check_interrupt(cx));
    CR_TRY(cri_ep_moments(cx, n, m));
    CR_TRY(cri_parallel_for(cx, NULL, cri_block_count(n, ROWS), match_rows, &w));
    m->log_evidence = 0.5 * (cr_dot(m->nu, m->mean, n) - cr_chol_logdet(cr_cmat_of(m->L, n, n)));
    for (size_t i = 0; i < n; i++) {
        m->log_evidence += m->part[i];
        gap = isnan(m->gap[i]) ? NAN : fmax(gap, m->gap[i]);
        if (isnan(gap)) break;
    }
    *out_gap = gap;
done:
    return st;
}

/* --- the fixed point ------------------------------------------------------------------------- */

/* Sweeps until the moments agree, or nearly agree and come no nearer; where they drift apart the sites go
 * half as far, down to LEAST_SHARE of the way. */
static cr_status find_fixed_point(cr_ctx *cx, size_t n, cri_ep *m)
{
    cr_status st = CR_OK;
    double    share = 1, gap = INFINITY, last;
    size_t    stalled = 0;
    m->converged = false;
    for (m->sweeps = 1; m->sweeps <= SWEEPS; m->sweeps++) {
        last = gap;
        CR_TRY(sweep(cx, n, m, &gap));
        stalled = gap > 0.9 * last ? stalled + 1 : 0;
        m->converged = gap <= m->tolerance || (gap <= FAIR_GAP && stalled >= STALLED);
        if (m->converged || isnan(gap) || isnan(m->log_evidence)) break;
        share = gap > last ? fmax(0.5 * share, LEAST_SHARE) : fmin(1, 1.1 * share);
        for (size_t i = 0; i < n; i++) {
            m->tau[i] += share * (m->next_tau[i] - m->tau[i]);
            m->nu[i] += share * (m->next_nu[i] - m->nu[i]);
        }
    }
    m->log_likelihood = 0;
    for (size_t i = 0; i < n; i++)
        m->log_likelihood +=
            cri_classify_at(m->laplace->all->link, m->laplace->counts + 2 * i, m->mean[i]).log_p;
done:
    return st;
}

cr_status cri_ep_objective(cr_ctx *cx, void *method, const cri_gp_problem *problem,
                           const cr_kernel *k, double noise, double *out_value,
                           double *opt_gradient)
{
    cr_status       st = CR_OK;
    cri_ep         *m = method;
    cri_laplace    *shared = m->laplace;
    size_t          n = problem->data->n;
    cr_kernel_input in = cri_gp_inputs(problem->data);
    (void)noise;

    CR_TRY(cr_kernel_gram(cx, k, &in, CR_FILL_BOTH, cr_mat_of(shared->K, n, n)));
    if (m->seen != problem->data || m->seen_n != n) {
        cri_classify_take(shared->all, problem->data, shared->counts);
        memset(m->tau, 0, n * sizeof *m->tau);
        memset(m->nu, 0, n * sizeof *m->nu);
    }
    m->seen = NULL;
    CR_TRY(find_fixed_point(cx, n, m));
    if (!m->converged || !isfinite(m->log_evidence))
        CR_TRY(cr_fail(cx, CR_ENUMERIC, "expectation propagation did not converge in %d sweeps",
                       SWEEPS));
    m->seen = problem->data;
    m->seen_n = n;
    if (opt_gradient) {
        memset(m->part, 0, n * sizeof *m->part); /* nothing moves with the parameters */
        CR_TRY(cr_chol_inverse(cx, cr_cmat_of(m->L, n, n), cr_mat_of(m->L, n, n)));
        CR_TRY(cri_laplace_weigh(cx, n, m->root, m->b, m->part, m->L));
        CR_TRY(cr_kernel_gram_gradient(cx, k, &in, cr_cmat_of(m->L, n, n), opt_gradient));
        opt_gradient[cr_kernel_theta_size(k)] = 0;
    }
    *out_value = m->log_evidence;
done:
    return st;
}
