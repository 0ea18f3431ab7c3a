/* gp_mcmc_predict.c -- predictions and descriptions over draws of the hyper-parameters. */
#include "gp_mcmc.h"
#include "../linear/predictor.h"
#include "../../base/scratch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- one draw -------------------------------------------------------------------------------- */

/* A posterior at draw h of m, which shares its inputs; the memory is the arena's and the kernel's.
 */
static cr_status open_draw(cr_ctx *cx, cr_scratch *s, const cri_gp_posterior *m,
                           cri_gp_posterior *out)
{
    size_t n = m->at.n, q = m->q;
    *out = *m;
    out->n_draws = 0;
    out->kernel = NULL;
    out->L = cr_scratch_matrix(s, n, n);
    out->alpha = cr_scratch_f64(s, n);
    out->beta = cr_scratch_f64(s, q);
    out->U = cr_scratch_matrix(s, n, q);
    out->A = cr_scratch_matrix(s, q, q);
    return s->status == CR_OK ? cr_kernel_copy(cx, m->kernel, &out->kernel) : s->status;
}

static cr_status set_draw(cr_ctx *cx, const cri_gp_problem *problem, const double *theta,
                          cri_gp_posterior *out)
{
    cr_status       st = cr_kernel_set_theta(cx, out->kernel, theta);
    cri_gp_solution solution = cri_gp_posterior_solution(out);
    out->noise = exp(theta[out->n_theta]);
    if (st == CR_OK)
        st = cri_gp_solve(cx, problem, out->kernel, out->noise, CRI_GP_JITTER, out->L, &solution);
    return st;
}

/* --- predictions ----------------------------------------------------------------------------- */

cr_status cri_gp_mcmc_predict(cr_ctx *cx, const cri_gp_posterior *m, const cri_rows *rows,
                              cr_prediction *out)
{
    cr_status        st = CR_OK;
    cr_scratch       s = cr_scratch_begin(cx);
    size_t           n = rows->n, width = m->n_theta + 1;
    cri_gp_posterior one = { 0 };
    double          *H = cr_scratch_matrix(&s, m->at.n, m->q);
    double       *dof = cr_scratch_f64(&s, n), *between = cr_scratch_bytes(&s, n, sizeof(double));
    cr_prediction part = *out;

    part.mean = cr_scratch_f64(&s, n);
    part.scale = out->scale ? cr_scratch_f64(&s, n) : NULL;
    part.dof = dof;
    CR_TRY(open_draw(cx, &s, m, &one));
    cri_gp_mean_fill(&m->mean, m->at.X, m->at.n, H);
    cri_gp_problem problem = { &m->at, m->q, H };
    for (size_t i = 0; i < n; i++) out->mean[i] = 0;
    for (size_t i = 0; out->scale && i < n; i++) out->scale[i] = 0;
    for (size_t h = 0; h < m->n_draws; h++) {
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(set_draw(cx, &problem, m->draws + h * width, &one));
        CR_TRY(cri_gp_predict(cx, &one, rows, &part));
        for (size_t i = 0; i < n; i++) { /* moments, one draw after the other */
            double delta = part.mean[i] - out->mean[i];
            out->mean[i] += delta / (double)(h + 1);
            between[i] += delta * (part.mean[i] - out->mean[i]);
            if (out->scale) out->scale[i] += part.scale[i] * part.scale[i];
        }
    }
    for (size_t i = 0; out->scale && i < n; i++) {
        out->scale[i] = sqrt((out->scale[i] + between[i]) / (double)m->n_draws);
        out->dof[i] = INFINITY;
    }
done:
    cr_kernel_free(cx, one.kernel);
    cr_scratch_end(&s);
    return st;
}

cr_status cri_gp_mcmc_sample(cr_ctx *cx, const cri_gp_posterior *m, const cr_design *design,
                             const cri_rows *rows, size_t count, uint64_t seed, double *out)
{
    cr_status        st = CR_OK;
    cr_scratch       s = cr_scratch_begin(cx);
    size_t           n = rows ? rows->n : 0, width = m->n_theta + 1;
    cri_gp_posterior one = { 0 };
    double          *H = cr_scratch_matrix(&s, m->at.n, m->q), *column = NULL;

    CR_TRY(open_draw(cx, &s, m, &one));
    cri_gp_mean_fill(&m->mean, m->at.X, m->at.n, H);
    cri_gp_problem problem = { &m->at, m->q, H };
    column = cr_scratch_f64(&s, n * (count / m->n_draws + 1));
    CR_TRY(s.status);
    for (size_t h = 0; h < m->n_draws && h < count; h++) {
        size_t some = (count - h - 1) / m->n_draws + 1; /* targets h, h + n_draws, .. */
        CR_TRY(set_draw(cx, &problem, m->draws + h * width, &one));
        CR_TRY(cri_gp_sample(cx, &one, design, rows, some, seed + 0x9e3779b97f4a7c15u * (h + 1),
                             column));
        for (size_t i = 0; i < n; i++)
            for (size_t c = 0; c < some; c++)
                out[i * count + h + c * m->n_draws] = column[i * some + c];
    }
done:
    cr_kernel_free(cx, one.kernel);
    cr_scratch_end(&s);
    return st;
}

/* --- agreement ------------------------------------------------------------------------------- */

void cri_gp_mcmc_agreement(const cri_gp_posterior *m, double *out_rhat, double *out_ess)
{
    size_t width = m->n_theta + 1;
    double rhat, ess;
    *out_rhat = NAN;
    *out_ess = NAN;
    for (size_t c = 0; c < m->n_theta + m->noise_learned; c++) {
        cri_gp_chain_report(m->draws + c, CRI_GP_CHAINS, m->n_draws / CRI_GP_CHAINS, width, &rhat,
                            &ess);
        *out_rhat = fmax(*out_rhat, rhat); /* of NaN and a number, the number */
        *out_ess = fmin(*out_ess, ess);
    }
}

/* --- description ----------------------------------------------------------------------------- */

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The quantile of sorted values, between neighbours. */
static double quantile(const double *x, size_t n, double p)
{
    double at = p * (double)(n - 1);
    size_t i = (size_t)at;
    return i + 1 < n ? x[i] + (at - (double)i) * (x[i + 1] - x[i]) : x[n - 1];
}

static cr_status add_item(cr_ctx *cx, json_t *list, const char *name, double *x, size_t n,
                          double rhat, double ess)
{
    cr_status st = CR_OK;
    json_t   *item = json_object();
    double    mean = 0, square = 0;
    if (json_array_append_new(list, item) != 0) return cr_fail(cx, CR_ENOMEM, "out of memory");
    for (size_t i = 0; i < n; i++) {
        double delta = x[i] - mean;
        mean += delta / (double)(i + 1);
        square += delta * (x[i] - mean);
    }
    qsort(x, n, sizeof *x, compare_numbers);
    CR_TRY(cri_store_set(cx, item, "name", json_string_nocheck(name)));
    CR_TRY(cri_store_set(cx, item, "value", cri_json_number(mean)));
    CR_TRY(cri_store_set(cx, item, "sd",
                         cri_json_number(n > 1 ? sqrt(square / (double)(n - 1)) : NAN)));
    CR_TRY(cri_store_set(cx, item, "lower", cri_json_number(quantile(x, n, 0.025))));
    CR_TRY(cri_store_set(cx, item, "upper", cri_json_number(quantile(x, n, 0.975))));
    CR_TRY(cri_store_set(cx, item, "rhat", cri_json_number(rhat)));
    CR_TRY(cri_store_set(cx, item, "ess", cri_json_number(ess)));
done:
    return st;
}

cr_status cri_gp_mcmc_describe(cr_ctx *cx, const cri_gp_posterior *m, json_t *list)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = m->n_draws, width = m->n_theta + 1, count = cr_kernel_parameters(m->kernel);
    double    *x = cr_scratch_f64(&s, n), rhat, ess;
    cr_kernel *k = NULL;

    CR_TRY(s.status);
    CR_TRY(cr_kernel_copy(cx, m->kernel, &k));
    for (size_t i = 0; i <= count; i++) {
        cr_kernel_parameter p = i < count
                                    ? cr_kernel_parameter_at(k, i)
                                    : (cr_kernel_parameter){ .name = "noise", .theta = m->n_theta };
        if (i == count && m->noise_column) break;
        bool still = i < count ? p.fixed : !m->noise_learned;
        for (size_t h = 0; h < n; h++) {
            const double *theta = m->draws + h * width;
            if (i < count) CR_TRY(cr_kernel_set_theta(cx, k, theta));
            x[h] = i < count ? cr_kernel_parameter_at(k, i).value : exp(theta[m->n_theta]);
        }
        rhat = ess = NAN;
        if (!still)
            cri_gp_chain_report(m->draws + p.theta, CRI_GP_CHAINS, n / CRI_GP_CHAINS, width, &rhat,
                                &ess);
        CR_TRY(add_item(cx, list, p.name, x, n, rhat, ess));
    }
done:
    cr_kernel_free(cx, k);
    cr_scratch_end(&s);
    return st;
}
