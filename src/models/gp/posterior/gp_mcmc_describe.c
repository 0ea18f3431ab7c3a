/* gp_mcmc_describe.c -- what is told of draws of the hyper-parameters. */
#include "gp_mcmc.h"
#include "gp_noise.h"
#include "base/sort.h"
#include "models/common/predictor.h"
#include "base/scratch.h"
#include "prob/mc/chains.h"

#include <math.h>

/* --- agreement ------------------------------------------------------------------------------- */

void cri_gp_chains_agreement(const double *draws, size_t length, size_t width, size_t columns,
                             double *out_rhat, double *out_ess)
{
    double rhat, ess;
    *out_rhat = NAN;
    *out_ess = NAN;
    for (size_t c = 0; c < columns; c++) {
        cri_chains_diagnose(draws + c, CRI_GP_CHAINS, length, width, &rhat, &ess);
        *out_rhat = fmax(*out_rhat, rhat); /* of NaN and a number, the number */
        *out_ess = fmin(*out_ess, ess);
    }
}

void cri_gp_mcmc_agreement(const cri_gp_posterior *m, double *out_rhat, double *out_ess)
{
    cri_gp_chains_agreement(m->draws, m->n_draws / CRI_GP_CHAINS, m->n_theta + 1,
                            m->n_theta + m->noise_learned, out_rhat, out_ess);
}

/* --- description ----------------------------------------------------------------------------- */

static void add_item(cri_sheet *list, const char *name, double *x, size_t n, double rhat,
                     double ess)
{
    double mean = 0, square = 0;
    for (size_t i = 0; i < n; i++) {
        double delta = x[i] - mean;
        mean += delta / (double)(i + 1);
        square += delta * (x[i] - mean);
    }
    cri_sort_doubles(x, n);
    cri_sheet *item =
        cri_parameter_add(list, mean, n > 1 ? sqrt(square / (double)(n - 1)) : NAN, "%s", name);
    cri_put_real(item, "lower", cri_sorted_quantile(x, n, 0.025));
    cri_put_real(item, "upper", cri_sorted_quantile(x, n, 0.975));
    cri_put_real(item, "rhat", rhat);
    cri_put_real(item, "ess", ess);
}

cr_status cri_gp_mcmc_describe(cr_ctx *cx, const cri_gp_posterior *m, cri_sheet *list)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = m->n_draws, width = m->n_theta + 1, count = cr_kernel_parameters(m->kernel);
    double    *x = cr_scratch_f64(&s, n), rhat, ess;
    cr_kernel *k = NULL;

    CR_TRY(s.status);
    for (cri_sheet *row = cri_sheet_first(list); row; row = cri_sheet_next(row)) {
        cri_put_null(row, "rhat"); /* those of the mean function have no chains */
        cri_put_null(row, "ess");
    }
    CR_TRY(cr_kernel_copy(cx, m->kernel, &k));
    for (size_t i = 0; i <= count; i++) {
        double              unit = 1;
        cr_kernel_parameter p = i < count
                                    ? cri_gp_shown_parameter(k, i, &unit)
                                    : (cr_kernel_parameter){ .name = "noise", .theta = m->n_theta };
        if (p.given) continue;
        if (i == count && (m->noise_column || cri_gp_noise_level(k) != SIZE_MAX)) break;
        bool still = i < count ? p.fixed : !m->noise_learned;
        for (size_t h = 0; h < n; h++) {
            const double *theta = m->draws + h * width;
            if (i < count) CR_TRY(cr_kernel_set_theta(cx, k, theta));
            x[h] = i < count ? cr_kernel_parameter_at(k, i).value / unit : exp(theta[m->n_theta]);
        }
        rhat = ess = NAN;
        if (!still)
            cri_chains_diagnose(m->draws + p.theta, CRI_GP_CHAINS, n / CRI_GP_CHAINS, width, &rhat,
                                &ess);
        add_item(list, p.name, x, n, rhat, ess);
    }
done:
    cr_kernel_free(cx, k);
    cr_scratch_end(&s);
    return st;
}
