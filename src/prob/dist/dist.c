/* dist.c -- the checked entry points of distributions of one variable. */
#include "check.h"
#include "base/number.h"

#include <math.h>

/* --- density and tails ----------------------------------------------------------------------- */

static cr_status check_point(cr_ctx *cx, const cr_dist_class *c, double x)
{
    return isnan(x) ? cr_fail(cx, CR_EARG, "%s: x is not a number", c->name) : CR_OK;
}

/* All that a call on one variable needs: the right kind, good parameters, and the function. */
static cr_status check_call(cr_ctx *cx, const cr_dist_class *c, const double *params, size_t n,
                            bool offered, const char *what)
{
    cr_status st = CR_OK;
    CR_TRY(cri_check_kind(cx, c, false));
    if (!offered) CR_TRY(cri_not_offered(cx, c, what));
    CR_TRY(cr_dist_check(cx, c, params, n));
done:
    return st;
}

cr_status cr_dist_support(cr_ctx *cx, const cr_dist_class *c, const double *params, size_t n,
                          double *out_low, double *out_high)
{
    cr_status st = CR_OK;
    CR_TRY(check_call(cx, c, params, n, c->support != NULL, "a support"));
    c->support((cri_par){ params, n }, out_low, out_high);
done:
    return st;
}

cr_status cr_dist_logpdf(cr_ctx *cx, const cr_dist_class *c, const double *params, size_t n,
                         double x, double *out)
{
    cr_status st = CR_OK;
    CR_TRY(check_call(cx, c, params, n, c->logpdf != NULL, "a density"));
    CR_TRY(check_point(cx, c, x));
    CR_TRY(cri_keep(cx, c, "density", cri_dist_logpdf(c, (cri_par){ params, n }, x), out));
done:
    return st;
}

static cr_status tail(cr_ctx *cx, const cr_dist_class *c, const double *params, size_t n, double x,
                      unsigned side, double *out)
{
    cr_status st = CR_OK;
    CR_TRY(check_call(cx, c, params, n, c->cdf != NULL, "a distribution function"));
    CR_TRY(check_point(cx, c, x));
    CR_TRY(cri_keep(cx, c, "distribution function",
                    cri_dist_cdf(c, (cri_par){ params, n }, x, side), out));
done:
    return st;
}

cr_status cr_dist_cdf(cr_ctx *cx, const cr_dist_class *c, const double *params, size_t n, double x,
                      double *out)
{
    return tail(cx, c, params, n, x, CRI_LOWER, out);
}

cr_status cr_dist_sf(cr_ctx *cx, const cr_dist_class *c, const double *params, size_t n, double x,
                     double *out)
{
    return tail(cx, c, params, n, x, CRI_UPPER, out);
}

cr_status cr_dist_logcdf(cr_ctx *cx, const cr_dist_class *c, const double *params, size_t n,
                         double x, double *out)
{
    return tail(cx, c, params, n, x, CRI_LOWER | CRI_LOG, out);
}

cr_status cr_dist_logsf(cr_ctx *cx, const cr_dist_class *c, const double *params, size_t n,
                        double x, double *out)
{
    return tail(cx, c, params, n, x, CRI_UPPER | CRI_LOG, out);
}

static cr_status check_probability(cr_ctx *cx, const cr_dist_class *c, double p)
{
    char text[CRI_DOUBLE_SIZE];
    if (p >= 0 && p <= 1) return CR_OK;
    text[cri_print_double(p, text)] = '\0';
    return cr_fail(cx, CR_EARG, "%s: the probability is %s, but must be 0..1", c->name, text);
}

cr_status cr_dist_quantile(cr_ctx *cx, const cr_dist_class *c, const double *params, size_t n,
                           double p, double *out)
{
    cr_status st = CR_OK;
    CR_TRY(check_call(cx, c, params, n, c->cdf != NULL, "quantiles"));
    CR_TRY(check_probability(cx, c, p));
    CR_TRY(cri_keep(cx, c, "quantile", cri_dist_quantile(c, (cri_par){ params, n }, p), out));
done:
    return st;
}

/* --- numbers that sum it up ------------------------------------------------------------------ */

static cr_status number(cr_ctx *cx, const cr_dist_class *c, double (*kernel)(cri_par),
                        const char *name, const double *params, size_t n, double *out)
{
    cr_status st = CR_OK;
    CR_TRY(cri_check_kind(cx, c, false));
    if (!kernel) CR_TRY(cr_fail(cx, CR_EUNSUPPORTED, "%s does not offer its %s", c->name, name));
    CR_TRY(cr_dist_check(cx, c, params, n));
    CR_TRY(cri_keep(cx, c, name, kernel((cri_par){ params, n }), out));
done:
    return st;
}

cr_status cr_dist_mean(cr_ctx *cx, const cr_dist_class *c, const double *params, size_t n,
                       double *out)
{
    return number(cx, c, c->mean, "mean", params, n, out);
}

cr_status cr_dist_mode(cr_ctx *cx, const cr_dist_class *c, const double *params, size_t n,
                       double *out)
{
    return number(cx, c, c->mode, "mode", params, n, out);
}

cr_status cr_dist_variance(cr_ctx *cx, const cr_dist_class *c, const double *params, size_t n,
                           double *out)
{
    return number(cx, c, c->variance, "variance", params, n, out);
}

cr_status cr_dist_entropy(cr_ctx *cx, const cr_dist_class *c, const double *params, size_t n,
                          double *out)
{
    cr_status st = CR_OK;
    CR_TRY(cri_check_kind(cx, c, false));
    if (!c->entropy) CR_TRY(cr_fail(cx, CR_EUNSUPPORTED, "%s does not offer its entropy", c->name));
    CR_TRY(cr_dist_check(cx, c, params, n));
    CR_TRY(cri_keep_sum(cx, c, "entropy", c->entropy((cri_par){ params, n }), out));
done:
    return st;
}

/* --- samples, divergence --------------------------------------------------------------------- */

cr_status cr_dist_sample(cr_ctx *cx, const cr_dist_class *c, const double *params, size_t n,
                         cr_rng *rng, size_t count, double *out)
{
    cr_status st = CR_OK;
    CR_TRY(check_call(cx, c, params, n, c->sample != NULL, "samples"));
    for (size_t i = 0; i < count; i++) {
        if (i % 65536 == 0) CR_TRY(cr_check_interrupt(cx));
        out[i] = c->sample((cri_par){ params, n }, rng);
    }
done:
    return st;
}

cr_status cr_dist_kl(cr_ctx *cx, const cr_dist_class *c, const double *p, size_t n_p,
                     const double *q, size_t n_q, double *out)
{
    cr_status st = CR_OK;
    CR_TRY(check_call(cx, c, p, n_p, c->kl || c->kl_integral, "a divergence"));
    CR_TRY(cr_dist_check(cx, c, q, n_q));
    cri_par a = { p, n_p }, b = { q, n_q };
    if (c->kl_integral)
        CR_TRY(c->kl_integral(cx, a, b, out));
    else
        CR_TRY(cri_keep_sum(cx, c, "divergence", c->kl(a, b), out));
done:
    return st;
}
