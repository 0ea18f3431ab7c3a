/* rvm_predict.c -- what a relevance vector machine answers. */
#include "rvm.h"
#include "rvm_basis.h"
#include "base/context_internal.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 256 };

/* Some rows as inputs of kernels. */
typedef struct inputs {
    double         *workspace, *X;
    uint32_t       *codes;
    cr_kernel_input in;
} inputs;

static inputs new_inputs(cr_scratch *s, const cri_rvm *m, const cri_rows *rows, size_t most)
{
    return (inputs){ .workspace = cr_scratch_matrix(s, most, rows->p),
                     .X = cr_scratch_matrix(s, most, m->d),
                     .codes = cr_scratch_bytes(s, most * m->c, sizeof(uint32_t)) };
}

static cr_status split(cr_ctx *cx, const cri_rvm *m, const cri_rows *rows, cri_range r, inputs *out)
{
    size_t count = r.end - r.begin;
    cri_gp_split(rows, r.begin, r.end, out->workspace, out->X, out->codes);
    out->in = (cr_kernel_input){ .rows = count,
                                 .numbers = cr_cmat_of(out->X, count, m->d),
                                 .codes = out->codes,
                                 .categories = m->c,
                                 .names = cri_gp_names(rows) };
    return m->kernel ? cri_gp_check_inputs(cx, m->kernel, rows, r.begin, &out->in) : CR_OK;
}

cr_status cri_rvm_functions(cr_ctx *cx, const cri_rvm *m, const cr_design *design,
                            const cr_kernel_input *in, double *out)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    size_t          width = m->terms ? cri_rvm_terms(design) : m->R;
    double         *K = cr_scratch_matrix(&s, in->rows, width);
    cr_kernel_input at = cri_rvm_inputs(m);

    CR_TRY(s.status);
    if (m->terms)
        cri_rvm_fill_terms(design, in, K, width);
    else if (m->R)
        CR_TRY(cr_kernel_cross(cx, m->kernel, in, &at, cr_mat_of(K, in->rows, m->R)));
    for (size_t i = 0; i < in->rows; i++)
        for (size_t k = 0; k < m->M; k++)
            out[i * m->M + k] = m->function[k] < 0 ? 1 : K[i * width + (size_t)m->function[k]];
done:
    cr_scratch_end(&s);
    return st;
}

/* mean [F] and cov [F x F] of one row, from its functions phi and v = covariance phi, in the latter's own latent
 * function alone. */
static void add_up(const cri_rvm *m, const double *phi, double *mean, double *cov)
{
    size_t F = m->F, M = m->M;
    memset(mean, 0, F * sizeof *mean);
    memset(cov, 0, F * F * sizeof *cov);
    for (size_t k = 0; k < M; k++) {
        size_t f = (size_t)m->latent[k];
        mean[f] += m->weight[k] * phi[k];
        for (size_t l = 0; l < M; l++)
            cov[f * F + (size_t)m->latent[l]] += m->covariance[k * M + l] * phi[k] * phi[l];
    }
    for (size_t f = 0; f < F; f++) cov[f * F + f] = fmax(cov[f * F + f], 0);
}

typedef struct sums {
    const cri_rvm *m;
    const double  *Phi;
    double        *mean, *cov;
} sums;

static void add_rows(void *arg, cri_range r, double *workspace)
{
    const sums *w = arg;
    size_t      F = w->m->F;
    (void)workspace;
    for (size_t i = r.begin; i < r.end; i++)
        add_up(w->m, w->Phi + i * w->m->M, w->mean + i * F, w->cov + i * F * F);
}

cr_status cri_rvm_latent(cr_ctx *cx, const cri_rvm *m, const cri_rows *rows, double *mean,
                         double *cov)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    size_t        most = rows->n < BLOCK ? rows->n : BLOCK, F = m->F;
    double       *Phi = cr_scratch_matrix(&s, most, m->M);
    inputs        x = new_inputs(&s, m, rows, most);
    cri_rvm_query query;

    CR_TRY(s.status);
    if (m->n) CR_TRY(cri_rvm_query_new(&s, m, rows->design, &query));
    for (size_t b = 0; b < cri_block_count(rows->n, BLOCK); b++) {
        cri_range r = cri_block_range(rows->n, BLOCK, b);
        CR_TRY(split(cx, m, rows, r, &x));
        CR_TRY(cri_rvm_functions(cx, m, rows->design, &x.in, Phi));
        sums w = { m, Phi, mean + r.begin * F, cov + r.begin * F * F };
        CR_TRY(cri_parallel_rows(cx, NULL, r.end - r.begin, 16, 0, add_rows, &w));
        if (m->n) CR_TRY(cri_rvm_query_add(cx, m, &query, &x.in, Phi, w.mean, w.cov));
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* --- far away -------------------------------------------------------------------------------- */

static const double FAR = 1e-3; /* the greatest correlation with a relevance vector */

/* How many rows no relevance vector reaches: all kernels nearly vanish there, and the spread with them. */
static cr_status count_far(cr_ctx *cx, const cri_rvm *m, const cri_rows *rows, size_t *out_far)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    size_t          most = rows->n < BLOCK ? rows->n : BLOCK;
    double         *K = cr_scratch_matrix(&s, most, m->R), *own = cr_scratch_f64(&s, most);
    double         *at = cr_scratch_f64(&s, m->R);
    inputs          x = new_inputs(&s, m, rows, most);
    cr_kernel_input vectors = cri_rvm_inputs(m);

    CR_TRY(s.status);
    CR_TRY(cr_kernel_diagonal(cx, m->kernel, &vectors, false, at));
    for (size_t b = 0; b < cri_block_count(rows->n, BLOCK); b++) {
        cri_range r = cri_block_range(rows->n, BLOCK, b);
        CR_TRY(split(cx, m, rows, r, &x));
        CR_TRY(cr_kernel_cross(cx, m->kernel, &x.in, &vectors, cr_mat_of(K, x.in.rows, m->R)));
        CR_TRY(cr_kernel_diagonal(cx, m->kernel, &x.in, false, own));
        for (size_t i = 0; i < x.in.rows; i++) {
            double near = 0;
            for (size_t k = 0; k < m->R; k++)
                near = fmax(near, fabs(K[i * m->R + k]) / sqrt(fabs(own[i] * at[k])));
            *out_far += near < FAR;
        }
    }
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status warn_of_far(cr_ctx *cx, const cri_rvm *m, const cri_rows *rows)
{
    size_t    far = 0;
    cr_status st = CR_OK;
    if (m->R == 0 || m->n || cri_warnings_muted(cx)) return CR_OK;
    CR_TRY(count_far(cx, m, rows, &far));
    if (far)
        cr_log(cx, CR_LOG_WARNING,
               "%zu row%s far from all relevance vectors, where the spread of the function "
               "vanishes: the model is surest where it knows least; fit with --basis-at-query for "
               "a spread that grows there",
               far, far == 1 ? " is" : "s are");
done:
    return st;
}

/* --- answers --------------------------------------------------------------------------------- */

double cri_rvm_dof(const cri_rvm *m)
{
    double left = m->rows - m->known - (double)m->taken;
    return m->given ? INFINITY : fmax(left, 1);
}

cr_status cri_rvm_mean(cr_ctx *cx, const void *state, const cri_rows *rows, cr_prediction *out)
{
    const cri_rvm *m = state;
    cr_status      st = cri_rvm_latent(cx, m, rows, out->mean, out->scale);
    for (size_t i = 0; st == CR_OK && i < rows->n; i++) {
        out->mean[i] += m->shift;
        out->scale[i] = sqrt(out->scale[i]);
        out->dof[i] = cri_rvm_dof(m);
    }
    return st;
}

cr_status cri_rvm_predict(cr_ctx *cx, const void *state, const cri_rows *rows, cr_prediction *out)
{
    const cri_rvm *m = state;
    cr_status      st = warn_of_far(cx, m, rows);
    if (st != CR_OK) return st;
    if (m->K) return cri_rvm_predict_classes(cx, m, rows, out);
    st = cri_rvm_latent(cx, m, rows, out->mean, out->scale);
    for (size_t i = 0; st == CR_OK && i < rows->n; i++) {
        out->mean[i] += m->shift;
        out->scale[i] = sqrt(out->scale[i] + m->noise);
        out->dof[i] = cri_rvm_dof(m);
    }
    return st;
}

cr_status cri_rvm_function(cr_ctx *cx, const void *state, const cri_rows *rows, bool prior,
                           double *mean, double *opt_sd, double *opt_covariance)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(cx);
    const cri_rvm *m = state;
    size_t         n = rows->n, M = m->M;
    double        *Phi = cr_scratch_matrix(&s, n, M), *T = cr_scratch_matrix(&s, n, M);
    double        *prior_covariance = cr_scratch_matrix(&s, M, M);
    inputs         x = new_inputs(&s, m, rows, n);
    double        *var = cr_scratch_f64(&s, n);
    const double  *C = prior ? prior_covariance : m->covariance;
    cri_rvm_query  query;

    CR_TRY(s.status);
    if (m->F > 1)
        CR_TRY(cr_fail(cx, CR_EUNSUPPORTED,
                       "the model has %zu latent functions: there is no one function to show",
                       m->F));
    for (size_t k = 0; k < M; k++)
        for (size_t l = 0; l < M; l++) prior_covariance[k * M + l] = k == l ? 1 / m->alpha[k] : 0;
    CR_TRY(split(cx, m, rows, (cri_range){ 0, n }, &x));
    CR_TRY(cri_rvm_functions(cx, m, rows->design, &x.in, Phi));
    CR_TRY(cr_gemm(cx, 1, cr_cmat_of(Phi, n, M), CR_PLAIN, cr_cmat_of(C, M, M), CR_PLAIN, 0,
                   cr_mat_of(T, n, M)));
    for (size_t i = 0; i < n; i++) {
        mean[i] = m->shift + (prior ? 0 : cr_dot(Phi + i * M, m->weight, M));
        var[i] = fmax(cr_dot(Phi + i * M, T + i * M, M), 0);
    }
    if (m->n && !prior && !opt_covariance) {
        CR_TRY(cri_rvm_query_new(&s, m, rows->design, &query));
        CR_TRY(cri_rvm_query_add(cx, m, &query, &x.in, Phi, mean, var));
    }
    for (size_t i = 0; opt_sd && i < n; i++) opt_sd[i] = sqrt(var[i]);
    if (opt_covariance)
        CR_TRY(cr_gemm(cx, 1, cr_cmat_of(Phi, n, M), CR_PLAIN, cr_cmat_of(T, n, M), CR_TRANSPOSED,
                       0, cr_mat_of(opt_covariance, n, n)));
done:
    cr_scratch_end(&s);
    return st;
}
