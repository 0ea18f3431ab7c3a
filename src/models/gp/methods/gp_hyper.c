/* gp_hyper.c -- how much the data say of the hyper-parameters, and draws of them. */
#include "gp_cost.h"
#include "gp_fit.h"
#include "models/gp/posterior/gp_mcmc.h"
#include "models/gp/posterior/gp_noise.h"
#include "base/context_internal.h"
#include "base/rng.h"
#include "math/constants.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    SDS_ROWS = 700,      /* beyond, second derivatives would cost too much   */
    SDS_PARAMETERS = 30, /* likewise                                         */
    ROWS_EACH = 15       /* of a hyper-parameter: with 12, intervals of 95 % hold 91 % */
};
static const double OPEN_NOISE = 0.4; /* sd of log noise: intervals of 95 % would hold 93 % */

static const double MOST_WORK = 2e10;   /* operations that nobody has asked for: seconds */
static const double MOST_CHAINS = 3e10; /* likewise, until chains agree                  */

static size_t count_hyper(const cri_gp_posterior *m) { return m->n_theta + m->noise_learned; }

/* Operations of an evaluation of the exact evidence, about. */
static double evaluation_work(const cri_gp_fit *f)
{
    double n = (double)f->problem.data->n;
    return pow(n, 3) / 3 + 20 * n * n * (double)(f->problem.data->d + 2) + 2e4;
}

static double hessian_work(const cri_gp_fit *f)
{
    return 4 * (double)count_hyper(f->m) * evaluation_work(f);
}

static double chain_work(const cri_gp_fit *f)
{
    return cri_gp_mcmc_evaluations(count_hyper(f->m), f->draws) * evaluation_work(f);
}

cr_status cri_gp_learn_sds(cr_ctx *cx, cri_gp_fit *f)
{
    cri_gp_posterior *m = f->m;
    f->laplace.sd = m->sd;
    bool small = f->problem.data->n <= SDS_ROWS, few = m->n_theta <= SDS_PARAMETERS;
    bool cheap = f->laplace.root && hessian_work(f) < MOST_WORK;
    if (f->average != CRI_GP_HYPER_LAPLACE && !(small && (few || cheap))) return CR_OK;
    return cri_gp_laplace_at(cx, &f->learning, m->kernel, m->noise, &f->laplace);
}

cr_status cri_gp_rough_occam(cr_ctx *cx, const cri_gp_prior *prior, const cr_kernel *k,
                             double noise, double n, double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     p = cr_kernel_theta_size(k);
    double    *x = cr_scratch_f64(&s, p + 1), each = CRI_HALF_LOG_2PI - 0.5 * log(fmax(n / 2, 1));

    CR_TRY(s.status);
    cr_kernel_theta(k, x);
    x[p] = noise > 0 ? log(noise) : CRI_GP_NO_NOISE;
    *out = cri_gp_log_prior(prior, k, x, NULL) + (double)prior->size * each;
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_gp_charge_evidence(cr_ctx *cx, cri_gp_fit *f)
{
    cri_gp_posterior *m = f->m;
    if (!f->learning.prior) return CR_OK;
    if (isnan(f->laplace.log_integral))
        return cri_gp_rough_occam(cx, &f->prior, m->kernel, m->noise, m->rows, &m->occam);
    m->occam = f->laplace.log_integral - m->evidence;
    return CR_OK;
}

/* The sd of the log noise; 0 where it is given. */
static double sd_of_noise(const cri_gp_posterior *m)
{
    size_t level = cri_gp_noise_level(m->kernel);
    size_t theta = level == SIZE_MAX ? SIZE_MAX : cr_kernel_parameter_at(m->kernel, level).theta;
    if (m->noise_learned) theta = m->n_theta;
    return theta == SIZE_MAX ? 0 : m->sd[theta];
}

/* Whether intervals at the best hyper-parameters would be too narrow: these are many for the rows, or
 * the data leave the noise open.  why [size]: in words. */
static bool is_open(const cri_gp_fit *f, char *why, size_t size)
{
    const cri_gp_posterior *m = f->m;
    size_t                  count = count_hyper(m);
    double                  sd = sd_of_noise(m);
    bool                    many = (double)(ROWS_EACH * count) > m->rows;
    if (many)
        snprintf(why, size, "%zu hyper-parameters are many for %.0f rows", count, m->rows);
    else
        snprintf(why, size, "the noise is known only to a factor of %.1f", exp(2 * sd));
    return count > 0 && (many || sd > OPEN_NOISE);
}

cr_status cri_gp_average_if_open(cr_ctx *cx, cri_gp_fit *f, bool *out_averaged)
{
    char why[128];
    bool chains = chain_work(f) <= MOST_WORK, known = !isnan(f->laplace.log_integral);
    *out_averaged = is_open(f, why, sizeof why);
    if (!*out_averaged) return CR_OK;
    if (!chains && !known) {
        *out_averaged = false;
        cr_log(cx, CR_LOG_WARNING,
               "%s, and averaging over them would take long: intervals may be too narrow; --kernel "
               "rbf has one length-scale for all columns, --hyper mcmc averages anyway",
               why);
        return CR_OK;
    }
    cr_log(cx, CR_LOG_INFO,
           "gp: %s: predictions are averaged over them; --hyper map keeps one value of each", why);
    return cri_gp_draw_hyper(cx, f, chains ? CRI_GP_HYPER_MCMC : CRI_GP_HYPER_LAPLACE);
}

/* --- draws ----------------------------------------------------------------------------------- */

/* Pairs on both sides of the optimum, within the bounds. */
static cr_status draw_normal(cr_ctx *cx, const cri_gp_fit *f, size_t count, double *draws)
{
    cr_status               st = CR_OK;
    cr_scratch              s = cr_scratch_begin(cx);
    const cri_gp_posterior *m = f->m;
    size_t                  size = count_hyper(m), width = m->n_theta + 1;
    double                 *z = cr_scratch_f64(&s, size), *best = cr_scratch_f64(&s, width);
    cri_gp_space            u;

    CR_TRY(s.status);
    CR_TRY(cri_gp_space_new(&s, m->kernel, &f->problem, f->learning.variance, m->noise,
                            m->noise_learned, &u));
    cr_kernel_theta(m->kernel, best);
    best[m->n_theta] = m->noise > 0 ? log(m->noise) : CRI_GP_NO_NOISE;
    for (size_t h = 0; h < count; h++) {
        cr_rng  rng = cr_rng_stream(f->seed, 30000 + h / 2);
        double *x = draws + h * width, sign = h % 2 ? -1 : 1;
        for (size_t e = 0; e < size; e++) z[e] = sign * cr_rng_normal(&rng);
        x[width - 1] = best[width - 1];
        for (size_t j = 0; j < size; j++) {
            x[j] = best[j];
            for (size_t e = 0; e < size; e++) x[j] += f->laplace.root[j * size + e] * z[e];
            x[j] = fmin(fmax(x[j], u.lower[j]), u.upper[j]);
        }
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* Says where chains are too short; `level`: of too few draws to tell. */
static void report_chains(cr_ctx *cx, const cri_gp_posterior *m, cr_log_level level)
{
    double rhat, ess;
    cri_gp_mcmc_agreement(m, &rhat, &ess);
    if (isnan(rhat))
        cr_log(cx, level,
               "%zu draws of the hyper-parameters are too few to tell whether their chains agree: "
               "use --draws-hyper 100",
               m->n_draws);
    if (rhat > CRI_GP_DISAGREE)
        cr_log(
            cx, CR_LOG_WARNING,
            "the chains of the hyper-parameters do not agree yet (R-hat %.2f, %.0f effective "
            "draws): the sds of predictions may change with --seed; --draws-hyper %zu would help",
            rhat, ess, 4 * m->n_draws);
}

cr_status cri_gp_draw_hyper(cr_ctx *cx, cri_gp_fit *f, cri_gp_hyper_kind kind)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    cri_gp_posterior *m = f->m;
    size_t            asked = (f->draws + CRI_GP_CHAINS - 1) / CRI_GP_CHAINS * CRI_GP_CHAINS;
    size_t            width = m->n_theta + 1, evaluations = 0, count = asked;
    double           *centre = cr_scratch_bytes(&s, width, sizeof(double));

    CR_TRY(s.status);
    if (count_hyper(m) == 0) goto done;
    if (kind == CRI_GP_HYPER_LAPLACE && isnan(f->laplace.log_integral)) {
        cr_log(cx, CR_LOG_WARNING,
               "the evidence has no second derivatives at its best hyper-parameters: these are "
               "kept, without an average over others");
        goto done;
    }
    double *draws = cr_scratch_matrix(&s, asked, width);
    CR_TRY(s.status);
    CR_TRY(kind == CRI_GP_HYPER_LAPLACE
               ? draw_normal(cx, f, asked, draws)
               : cri_gp_mcmc(cx, &f->learning, m->kernel, m->noise, m->sd,
                             MOST_CHAINS / evaluation_work(f), &count, draws, &evaluations));
    m->evaluations += evaluations;
    f->expired = count < asked;
    if (f->expired)
        cr_log(cx, CR_LOG_WARNING,
               "the time limit ended the chains of the hyper-parameters: %zu of %zu draws%s", count,
               asked, count ? "" : ", so they stay at their best values");
    if (count == 0) goto done;
    m->draws = cr_alloc(cx, count * width, sizeof(double));
    if (!m->draws) CR_TRY(CR_ENOMEM);
    memcpy(m->draws, draws, count * width * sizeof *draws);
    m->n_draws = count;
    m->hyper = kind;
    for (size_t c = 0; c < width; c++)
        for (size_t h = 0; h < count; h++) centre[c] += m->draws[h * width + c] / (double)count;
    CR_TRY(cr_kernel_set_theta(cx, m->kernel, centre));
    if (m->noise_learned) m->noise = exp(centre[m->n_theta]);
    if (kind == CRI_GP_HYPER_MCMC)
        report_chains(cx, m, f->method == &cri_gp_method_mcmc ? CR_LOG_WARNING : CR_LOG_INFO);
done:
    cr_scratch_end(&s);
    return st;
}
