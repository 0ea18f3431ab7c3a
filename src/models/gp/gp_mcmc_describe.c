/* gp_mcmc_describe.c -- what is told of draws of the hyper-parameters. */
#include "gp_mcmc.h"
#include "../linear/predictor.h"
#include "../../base/scratch.h"

#include <math.h>
#include <stdlib.h>

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
    size_t     at;
    json_t    *item;

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
    json_array_foreach(list, at, item) /* those of the mean function have no chains */
        if (!json_object_get(item, "rhat"))
    {
        CR_TRY(cri_store_set(cx, item, "rhat", json_null()));
        CR_TRY(cri_store_set(cx, item, "ess", json_null()));
    }
done:
    cr_kernel_free(cx, k);
    cr_scratch_end(&s);
    return st;
}
