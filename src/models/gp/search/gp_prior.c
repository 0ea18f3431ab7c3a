/* gp_prior.c -- weakly informative priors of hyper-parameters. */
#include "gp_prior.h"
#include "math/constants.h"
#include "math/kernel/kernel_internal.h"

#include <math.h>

static const double WIDE = 1.5, OTHER = 3, NOISE = 2; /* sds of logarithms       */
static const double SLOPE = 1;                        /* sd of slopes of a logarithm */
static const double NOISE_SHARE = 0.3;                /* of the target's variance */

/* The log of what the variance of a population is expected to be, as a multiple of that of n rows. */
static double excess(double n) { return log(n / fmax(n - 3, 0.25 * n)); }

static void set(cri_gp_prior *prior, const cri_gp_space *u, double n, size_t j)
{
    bool noise = u->kind[j] == CRI_GP_NOISE, variance = noise || u->kind[j] == CRI_GP_AMPLITUDE;
    bool slope = u->kind[j] == CRI_GP_SLOPE, other = u->kind[j] == CRI_GP_OTHER || slope;
    prior->weak[j] = true;
    prior->mean[j] = other ? u->given[j] : u->unit[j];
    if (variance) prior->mean[j] += excess(n);
    if (noise) prior->mean[j] += log(NOISE_SHARE);
    prior->sd[j] = slope ? SLOPE : other ? OTHER : noise ? NOISE : WIDE;
}

cr_status cri_gp_prior_new(cr_scratch *s, const cr_kernel *k, const cri_gp_space *u, double n,
                           cri_gp_prior *out)
{
    cri_gp_prior prior = { .size = u->size,
                           .weak = cr_scratch_bytes(s, u->size, sizeof(bool)),
                           .mean = cr_scratch_f64(s, u->size),
                           .sd = cr_scratch_f64(s, u->size) };
    if (s->status != CR_OK) return s->status;
    for (size_t i = 0, j = 0; i < k->n_params; i++) {
        if (k->params[i].fixed) continue;
        prior.mean[j] = prior.sd[j] = NAN;
        if (k->params[i].prior == CR_PRIOR_NONE) set(&prior, u, n, j);
        j++;
    }
    if (u->size > u->p) set(&prior, u, n, u->p);
    *out = prior;
    return CR_OK;
}

double cri_gp_log_prior(const cri_gp_prior *prior, const cr_kernel *k, const double *x,
                        double *opt_gradient)
{
    double sum = cr_kernel_log_prior(k, prior != NULL, opt_gradient);
    for (size_t j = 0; prior && j < prior->size; j++) {
        if (!prior->weak[j]) continue;
        double z = (x[j] - prior->mean[j]) / prior->sd[j];
        sum -= 0.5 * z * z + log(prior->sd[j]) + CRI_HALF_LOG_2PI;
        if (opt_gradient) opt_gradient[j] -= z / prior->sd[j];
    }
    return sum;
}
