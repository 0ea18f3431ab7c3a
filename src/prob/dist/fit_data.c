/* fit_data.c -- the checked way into a maximum-likelihood fit: every datum and weight is looked at
 * before the family sees them. */
#include "check.h"
#include "../../base/number.h"
#include "../../base/scratch.h"

#include <math.h>
#include <string.h>

static cr_status refuse_value(cr_ctx *cx, const cr_dist_class *c, size_t i, double x)
{
    char text[CRI_DOUBLE_SIZE];
    text[cri_print_double(x, text)] = '\0';
    return cr_fail(cx, CR_EDATA, "%s: value %zu is %s, but must be %s", c->name, i + 1, text,
                   c->data->text);
}

static cr_status check_sample(cr_ctx *cx, const cr_dist_class *c, cri_sample *s)
{
    cr_status st = CR_OK;
    s->total = 0;
    for (size_t i = 0; i < s->n; i++) {
        double w = s->w ? s->w[i] : 1;
        if (!(w >= 0 && w < INFINITY))
            CR_TRY(
                cr_fail(cx, CR_EDATA, "%s: weight %zu is %g, but must be >=0", c->name, i + 1, w));
        if (!cri_in_domain(c->data, s->x[i]) || isinf(s->x[i]))
            CR_TRY(refuse_value(cx, c, i, s->x[i]));
        s->total += w;
    }
    if (s->n == 0) CR_TRY(cr_fail(cx, CR_EDATA, "%s: there are no values to fit", c->name));
    if (!(s->total > 0)) CR_TRY(cr_fail(cx, CR_EDATA, "%s: all weights are 0", c->name));
    if (s->total == INFINITY) CR_TRY(cr_fail(cx, CR_EDATA, "%s: the weights overflow", c->name));
done:
    return st;
}

/* The given parameters are checked before the fit, all of them after it. */
static cr_status check_given(cr_ctx *cx, const cr_dist_class *c, const double *v)
{
    for (size_t i = 0; c->params[i].shown.name; i++) {
        const cr_dist_param *p = &c->params[i].shown;
        if (p->given && !cri_in_domain(c->params[i].domain, v[i]))
            return cr_fail(cx, CR_EARG, "%s: %s is %g, but must be %s, and is not fitted", c->name,
                           p->name, v[i], p->domain);
    }
    return CR_OK;
}

static double log_likelihood(const cr_dist_class *c, const cri_sample *s, cri_par p)
{
    double sum = 0;
    for (size_t i = 0; i < s->n; i++) {
        double w = s->w ? s->w[i] : 1;
        if (w > 0) sum += w * cri_dist_logpdf(c, p, s->x[i]);
    }
    return sum;
}

cr_status cr_dist_fit(cr_ctx *cx, const cr_dist_class *c, const double *x,
                      const double *opt_weights, size_t N, double *params, size_t n,
                      double *opt_loglik)
{
    cr_status  st = CR_OK;
    cr_scratch scratch = cr_scratch_begin(cx);
    double    *v = cr_scratch_f64(&scratch, n);
    cri_sample s = { x, opt_weights, N, 0 };

    CR_TRY(scratch.status);
    CR_TRY(cri_check_kind(cx, c, false));
    if (!c->fit) CR_TRY(cri_not_offered(cx, c, "a fit"));
    if (cri_dist_dimension(c, n) == 0)
        CR_TRY(cr_fail(cx, CR_EARG, "%s: %zu is not its number of parameters", c->name, n));
    CR_TRY(check_given(cx, c, params));
    CR_TRY(check_sample(cx, c, &s));
    memcpy(v, params, n * sizeof *v);
    CR_TRY(c->fit(cx, &s, v, n));
    CR_TRY(cr_dist_check(cx, c, v, n));
    memcpy(params, v, n * sizeof *v);
    if (opt_loglik) *opt_loglik = log_likelihood(c, &s, (cri_par){ v, n });
done:
    cr_scratch_end(&scratch);
    return st;
}
