/* fit_data.c -- the checked way into a maximum-likelihood fit: every datum and weight is looked at
 * before the family sees them. */
#include "check.h"
#include "base/number.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

static cr_status refuse_value(cr_ctx *cx, const cr_dist_class *c, size_t i, double x)
{
    char text[CRI_DOUBLE_SIZE];
    text[cri_print_double(x, text)] = '\0';
    return cr_fail(cx, CR_EDATA, "%s: value %zu is %s, but must be %s", c->name, i + 1, text,
                   c->data->text);
}

/* Weights (NULL: all 1) that are >= 0 and whose sum is a positive number. */
static cr_status check_weights(cr_ctx *cx, const cr_dist_class *c, const double *opt_w, size_t n,
                               double *total)
{
    *total = 0;
    for (size_t i = 0; i < n; i++) {
        double w = opt_w ? opt_w[i] : 1;
        if (!(w >= 0 && w < INFINITY))
            return cr_fail(cx, CR_EDATA, "%s: weight %zu is %g, but must be >=0", c->name, i + 1,
                           w);
        *total += w;
    }
    if (n == 0) return cr_fail(cx, CR_EDATA, "%s: there are no values to fit", c->name);
    if (!(*total > 0)) return cr_fail(cx, CR_EDATA, "%s: all weights are 0", c->name);
    if (*total == INFINITY) return cr_fail(cx, CR_EDATA, "%s: the weights overflow", c->name);
    return CR_OK;
}

static cr_status check_sample(cr_ctx *cx, const cr_dist_class *c, cri_sample *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (!cri_in_domain(c->data, s->x[i]) || isinf(s->x[i]))
            return refuse_value(cx, c, i, s->x[i]);
    return check_weights(cx, c, s->w, s->n, &s->total);
}

static cr_status check_points(cr_ctx *cx, const cr_dist_class *c, cri_points *s)
{
    for (size_t i = 0; i < s->n * s->size; i++)
        if (!isfinite(s->x[i]))
            return cr_fail(cx, CR_EDATA, "%s: entry %zu of point %zu is %g", c->name,
                           i % s->size + 1, i / s->size + 1, s->x[i]);
    return check_weights(cx, c, s->w, s->n, &s->total);
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

/* The weighted sum of the log densities; points of weight 0 may lie anywhere. */
static cr_status vector_log_likelihood(cr_ctx *cx, const cr_dist_class *c, const cri_points *s,
                                       const double *v, size_t n, double *out)
{
    cr_status  st = CR_OK;
    cr_scratch scratch = cr_scratch_begin(cx);
    double    *each = cr_scratch_f64(&scratch, s->n), sum = 0;
    CR_TRY(scratch.status);
    CR_TRY(cr_dist_vector_logpdf(cx, c, v, n, s->x, s->n, each));
    for (size_t i = 0; i < s->n; i++)
        if (!s->w || s->w[i] > 0) sum += (s->w ? s->w[i] : 1) * each[i];
    *out = sum;
done:
    cr_scratch_end(&scratch);
    return st;
}

cr_status cr_dist_vector_fit(cr_ctx *cx, const cr_dist_class *c, const double *x,
                             const double *opt_weights, size_t N, double *params, size_t n,
                             double *opt_loglik)
{
    cr_status  st = CR_OK;
    cr_scratch scratch = cr_scratch_begin(cx);
    double    *v = cr_scratch_f64(&scratch, n), loglik = 0;
    cri_points s = { x, opt_weights, N, cr_dist_point_size(c, n), 0 };

    CR_TRY(scratch.status);
    CR_TRY(cri_check_kind(cx, c, true));
    if (!c->vector->fit) CR_TRY(cri_not_offered(cx, c, "a fit"));
    if (s.size == 0)
        CR_TRY(cr_fail(cx, CR_EARG, "%s: %zu is not its number of parameters", c->name, n));
    CR_TRY(check_given(cx, c, params));
    CR_TRY(check_points(cx, c, &s));
    memcpy(v, params, n * sizeof *v);
    CR_TRY(c->vector->fit(cx, &s, v, cri_dist_dimension(c, n)));
    CR_TRY(cr_dist_check(cx, c, v, n));
    if (opt_loglik) CR_TRY(vector_log_likelihood(cx, c, &s, v, n, &loglik));
    memcpy(params, v, n * sizeof *v);
    if (opt_loglik) *opt_loglik = loglik;
done:
    cr_scratch_end(&scratch);
    return st;
}
