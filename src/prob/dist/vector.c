/* vector.c -- the checked entry points of distributions of vectors and matrices. */
#include "check.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

size_t cr_dist_point_size(const cr_dist_class *c, size_t n)
{
    size_t d = cri_dist_dimension(c, n);
    return d == 0 ? 0 : c->vector ? c->vector->point(d) : 1;
}

size_t cr_dist_parameters_for(const cr_dist_class *c, size_t point_size)
{
    if (!c->vector)
        return point_size == 1 && cri_dist_numbers(c, 1) == cri_dist_numbers(c, 2)
                   ? cri_dist_numbers(c, 1)
                   : 0;
    for (size_t d = 1; d <= point_size && c->vector->point(d) <= point_size; d++)
        if (c->vector->point(d) == point_size) return cri_dist_numbers(c, d);
    return 0;
}

/* What a call works with: dimension, prepared parameters, workspace. */
typedef struct job {
    size_t  d, size;
    double *work, *spare, *point;
} job;

static cr_status begin(cr_ctx *cx, cr_scratch *s, const cr_dist_class *c, const double *params,
                       size_t n, bool offered, const char *what, job *out)
{
    cr_status         st = CR_OK;
    const cri_vector *v = c->vector;
    job               j;
    CR_TRY(cri_check_kind(cx, c, true));
    if (!offered) CR_TRY(cri_not_offered(cx, c, what));
    CR_TRY(cr_dist_check(cx, c, params, n));
    j.d = cri_dist_dimension(c, n);
    j.size = v->point(j.d);
    j.work = cr_scratch_f64(s, v->work ? v->work(j.d) : 0);
    j.spare = cr_scratch_f64(s, v->spare ? v->spare(j.d) : 0);
    j.point = cr_scratch_f64(s, j.size);
    CR_TRY(s->status);
    if (v->prepare) CR_TRY(v->prepare(cx, params, j.d, j.work));
    *out = j;
done:
    return st;
}

cr_status cr_dist_vector_logpdf(cr_ctx *cx, const cr_dist_class *c, const double *params, size_t n,
                                const double *x, size_t count, double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    job        j;
    CR_TRY(begin(cx, &s, c, params, n, c->vector && c->vector->logpdf, "a density", &j));
    for (size_t i = 0; i < count * j.size; i++)
        if (isnan(x[i]))
            CR_TRY(cr_fail(cx, CR_EARG, "%s: entry %zu of point %zu is not a number", c->name,
                           i % j.size + 1, i / j.size + 1));
    for (size_t i = 0; i < count; i++)
        out[i] = c->vector->logpdf(params, j.d, j.work, x + i * j.size, j.spare);
done:
    cr_scratch_end(&s);
    return st;
}

typedef void entries_kernel(const double *p, size_t d, const double *work, double *out);

/* A quantity with one number per entry; NaN anywhere: it does not exist. */
static cr_status entries(cr_ctx *cx, const cr_dist_class *c, entries_kernel *kernel,
                         const char *name, const double *params, size_t n, double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    job        j;
    if (c->vector && !kernel)
        CR_TRY(cr_fail(cx, CR_EUNSUPPORTED, "%s does not offer its %s", c->name, name));
    CR_TRY(begin(cx, &s, c, params, n, true, name, &j));
    kernel(params, j.d, j.work, j.point);
    for (size_t i = 0; i < j.size; i++) CR_TRY(cri_keep(cx, c, name, j.point[i], &j.point[i]));
    memcpy(out, j.point, j.size * sizeof *out);
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cr_dist_vector_mean(cr_ctx *cx, const cr_dist_class *c, const double *params, size_t n,
                              double *out)
{
    return entries(cx, c, c->vector ? c->vector->mean : NULL, "mean", params, n, out);
}

cr_status cr_dist_vector_mode(cr_ctx *cx, const cr_dist_class *c, const double *params, size_t n,
                              double *out)
{
    return entries(cx, c, c->vector ? c->vector->mode : NULL, "mode", params, n, out);
}

cr_status cr_dist_vector_variance(cr_ctx *cx, const cr_dist_class *c, const double *params,
                                  size_t n, double *out)
{
    return entries(cx, c, c->vector ? c->vector->variance : NULL, "variance", params, n, out);
}

cr_status cr_dist_vector_entropy(cr_ctx *cx, const cr_dist_class *c, const double *params, size_t n,
                                 double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    job        j;
    if (c->vector && !c->vector->entropy)
        CR_TRY(cr_fail(cx, CR_EUNSUPPORTED, "%s does not offer its entropy", c->name));
    CR_TRY(begin(cx, &s, c, params, n, true, "entropy", &j));
    CR_TRY(cri_keep_sum(cx, c, "entropy", c->vector->entropy(params, j.d, j.work), out));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cr_dist_vector_sample(cr_ctx *cx, const cr_dist_class *c, const double *params, size_t n,
                                cr_rng *rng, size_t count, double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    job        j;
    CR_TRY(begin(cx, &s, c, params, n, c->vector && c->vector->sample, "samples", &j));
    for (size_t i = 0; i < count; i++) {
        if (i % 4096 == 0) CR_TRY(cr_check_interrupt(cx));
        c->vector->sample(params, j.d, j.work, rng, out + i * j.size, j.spare);
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cr_dist_vector_kl(cr_ctx *cx, const cr_dist_class *c, const double *p, const double *q,
                            size_t n, double *out)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    job               j, k;
    const cri_vector *v = c->vector;
    CR_TRY(begin(cx, &s, c, p, n, v && (v->kl || v->kl_integral), "a divergence", &j));
    CR_TRY(begin(cx, &s, c, q, n, true, "a divergence", &k));
    if (v->kl_integral)
        CR_TRY(v->kl_integral(cx, p, j.work, q, k.work, j.d, out));
    else
        CR_TRY(cri_keep_sum(cx, c, "divergence", v->kl(p, j.work, q, k.work, j.d, j.spare), out));
done:
    cr_scratch_end(&s);
    return st;
}
