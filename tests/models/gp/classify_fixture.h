/* classify_fixture.h -- Laplace's approximation of a Gaussian process classifier by its definition:
 * dense, in long double, with explicit inverses and no trick; and small problems to try it on. */
#ifndef CREDENCE_TEST_MODELS_CLASSIFY_FIXTURE_H
#define CREDENCE_TEST_MODELS_CLASSIFY_FIXTURE_H

#include "../fixture.h"

#include "models/gp/classify/classify_laplace.h"

enum { MOST_INPUTS = 12, MOST_LATENT = 36 };

/* Inputs with counts, and what the objectives take. */
typedef struct small {
    size_t            n, d, F, C;
    double            X[MOST_INPUTS * 2], y[MOST_INPUTS], r[MOST_INPUTS], counts[MOST_INPUTS * 4];
    size_t            first[MOST_INPUTS];
    cri_gp_data       at;
    cri_classify_data data;
    cri_gp_problem    problem;
} small;

/* n inputs in the plane, C classes in F functions; whole says how many rows there may be at an
 * input. */
static inline void make_small(small *p, cri_classify_link link, size_t n, size_t F, uint64_t seed)
{
    cr_rng rng = cr_rng_stream(seed, 3);
    *p = (small){ .n = n, .d = 2, .F = F, .C = F > 1 ? F : 2 };
    for (size_t i = 0; i < n; i++) {
        p->X[2 * i] = 1.3 * cr_rng_normal(&rng);
        p->X[2 * i + 1] = 0.7 * cr_rng_normal(&rng) + 0.2;
        p->first[i] = i;
        p->r[i] = 1;
        double *c = p->counts + i * p->C;
        c[(size_t)cr_rng_below(&rng, p->C)] = 1;
        if (i % 3 == 0) c[(size_t)cr_rng_below(&rng, p->C)] += 1.5;
    }
    p->at = (cri_gp_data){ .n = n, .d = 2, .X = p->X, .y = p->y, .r = p->r, .first = p->first };
    for (size_t i = 0; i < n * p->C; i++) p->at.count += p->counts[i];
    p->data =
        (cri_classify_data){ .at = &p->at, .link = link, .F = F, .C = p->C, .counts = p->counts };
    p->problem = (cri_gp_problem){ .data = &p->at, .H = p->y };
}

static inline cr_kernel *read_kernel(cr_ctx *cx, const char *text)
{
    cr_kernel *k = NULL;
    assert_ok(cx, cr_kernel_parse(cx, text, NULL, NULL, 0, &k));
    return k;
}

/* --- the definition -------------------------------------------------------------------------- */

/* Latent f_c(x_i) is number c n + i of N = F n. */
typedef struct dense {
    size_t      N;
    long double K[MOST_LATENT * MOST_LATENT], W[MOST_LATENT * MOST_LATENT], f[MOST_LATENT],
        slope[MOST_LATENT];
    long double log_likelihood, log_evidence;
} dense;

static inline long double phi_of(long double z)
{
    return expl(-z * z / 2) / sqrtl(2 * 3.14159265358979323846L);
}

/* log p, its gradient and minus its Hessian at f. */
static inline void look_dense(const small *p, dense *g)
{
    size_t n = p->n;
    g->log_likelihood = 0;
    memset(g->W, 0, sizeof g->W);
    for (size_t i = 0; i < n; i++) {
        const double *c = p->counts + i * p->C;
        if (p->data.link == CRI_CLASSIFY_SOFTMAX) {
            long double sum = 0, weight = 0, pi[4];
            for (size_t k = 0; k < p->F; k++) sum += expl(g->f[k * n + i]), weight += c[k];
            for (size_t k = 0; k < p->F; k++) pi[k] = expl(g->f[k * n + i]) / sum;
            for (size_t k = 0; k < p->F; k++) {
                g->log_likelihood += c[k] * logl(pi[k]);
                g->slope[k * n + i] = c[k] - weight * pi[k];
                for (size_t l = 0; l < p->F; l++)
                    g->W[(k * n + i) * g->N + l * n + i] =
                        weight * ((k == l) * pi[k] - pi[k] * pi[l]);
            }
            continue;
        }
        g->slope[i] = 0;
        for (int k = 0; k < 2; k++) {
            long double sign = k ? -1 : 1, z = sign * g->f[i], cdf, first, second;
            if (p->data.link == CRI_CLASSIFY_LOGIT) {
                cdf = 1 / (1 + expl(-z));
                first = 1 - cdf;
                second = -cdf * (1 - cdf);
            } else {
                cdf = 0.5L * erfcl(-z / sqrtl(2));
                first = phi_of(z) / cdf;
                second = -first * first - z * phi_of(z) / cdf;
            }
            g->log_likelihood += c[k] * logl(cdf);
            g->slope[i] += c[k] * sign * first;
            g->W[i * g->N + i] -= c[k] * second;
        }
    }
}

/* out = A^-1 for A [N x N]. */
static inline void invert_dense(size_t N, const long double *A, long double *out)
{
    static long double copy[MOST_LATENT * MOST_LATENT];
    memcpy(copy, A, N * N * sizeof *A);
    for (size_t a = 0; a < N; a++)
        for (size_t b = 0; b < N; b++) out[a * N + b] = a == b;
    solve_dense(N, copy, out, N);
}

/* Newton's method on log p(y | f) - f^T K^-1 f / 2, and the evidence from log|I + K W|. */
static inline void solve_definition(const small *p, cr_ctx *cx, const cr_kernel *k, dense *g)
{
    static long double Ki[MOST_LATENT * MOST_LATENT], H[MOST_LATENT * MOST_LATENT],
        B[MOST_LATENT * MOST_LATENT];
    double          gram[MOST_INPUTS * MOST_INPUTS];
    cr_kernel_input in = cri_gp_inputs(&p->at);
    size_t          n = p->n, N = g->N = p->F * n;
    memset(g->K, 0, sizeof g->K);
    memset(g->f, 0, sizeof g->f);
    assert_ok(cx, cr_kernel_gram(cx, k, &in, CR_FILL_BOTH, cr_mat_of(gram, n, n)));
    for (size_t c = 0; c < p->F; c++)
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) g->K[(c * n + i) * N + c * n + j] = gram[i * n + j];
    invert_dense(N, g->K, Ki);
    for (int step = 0; step < 60; step++) {
        long double b[MOST_LATENT];
        look_dense(p, g);
        for (size_t a = 0; a < N * N; a++) H[a] = Ki[a] + g->W[a];
        for (size_t a = 0; a < N; a++) {
            b[a] = g->slope[a];
            for (size_t e = 0; e < N; e++) b[a] += g->W[a * N + e] * g->f[e];
        }
        solve_dense(N, H, b, 1);
        memcpy(g->f, b, N * sizeof *b);
    }
    look_dense(p, g);
    g->log_evidence = g->log_likelihood;
    for (size_t a = 0; a < N; a++)
        for (size_t e = 0; e < N; e++) g->log_evidence -= 0.5L * g->f[a] * Ki[a * N + e] * g->f[e];
    for (size_t a = 0; a < N; a++) /* log|I + K W| = log|K| + log|K^-1 + W| */
        for (size_t e = 0; e < N; e++) B[a * N + e] = Ki[a * N + e] + g->W[a * N + e];
    long double        zero[MOST_LATENT] = { 0 }, first, second;
    static long double K[MOST_LATENT * MOST_LATENT];
    memcpy(K, g->K, sizeof K);
    quadratic_form(N, K, zero, &first);
    quadratic_form(N, B, zero, &second);
    g->log_evidence -= 0.5L * (first + second);
}

/* Mean [F] and covariance [F x F] of f(x): k^T K^-1 f;  k(x, x) - k^T K^-1 k + k^T K^-1 (K^-1 +
 * W)^-1 K^-1 k. */
static inline void predict_dense(const small *p, cr_ctx *cx, const cr_kernel *k, const dense *g,
                                 const double *x, double *mean, double *cov)
{
    static long double Ki[MOST_LATENT * MOST_LATENT], H[MOST_LATENT * MOST_LATENT],
        S[MOST_LATENT * MOST_LATENT];
    size_t          n = p->n, N = g->N, F = p->F;
    cr_kernel_input in = cri_gp_inputs(&p->at), at = cr_kernel_rows(cr_cmat_of(x, 1, 2));
    double          cross[MOST_INPUTS], own;
    long double     u[4 * MOST_LATENT] = { 0 };
    assert_ok(cx, cr_kernel_cross(cx, k, &in, &at, cr_mat_of(cross, n, 1)));
    assert_ok(cx, cr_kernel_diagonal(cx, k, &at, true, &own));
    invert_dense(N, g->K, Ki);
    for (size_t a = 0; a < N * N; a++) H[a] = Ki[a] + g->W[a];
    invert_dense(N, H, S);
    for (size_t c = 0; c < F; c++) /* u_c = K^-1 k_c */
        for (size_t a = 0; a < N; a++)
            for (size_t i = 0; i < n; i++) u[c * N + a] += Ki[a * N + c * n + i] * cross[i];
    for (size_t c = 0; c < F; c++) {
        long double m = 0;
        for (size_t a = 0; a < N; a++) m += u[c * N + a] * g->f[a];
        mean[c] = (double)m;
        for (size_t e = 0; e < F; e++) {
            long double v = c == e ? own : 0;
            for (size_t i = 0; c == e && i < n; i++) v -= cross[i] * u[c * N + c * n + i];
            for (size_t a = 0; a < N; a++)
                for (size_t b = 0; b < N; b++) v += u[c * N + a] * S[a * N + b] * u[e * N + b];
            cov[c * F + e] = (double)v;
        }
    }
}

#endif
