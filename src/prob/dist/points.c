/* points.c -- a quantity of a distribution at many points. */
#include "dist.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

typedef cr_status point_call(cr_ctx *, const cr_dist_class *, const double *, size_t, double,
                             double *);

static const struct {
    const char *name;
    point_call *call;
    double (*then)(double);
} quantities[] = {
    { "pdf", cr_dist_logpdf, exp },         { "logpdf", cr_dist_logpdf, NULL },
    { "cdf", cr_dist_cdf, NULL },           { "sf", cr_dist_sf, NULL },
    { "logcdf", cr_dist_logcdf, NULL },     { "logsf", cr_dist_logsf, NULL },
    { "quantile", cr_dist_quantile, NULL },
};
enum { N_QUANTITIES = sizeof quantities / sizeof *quantities };

static const char *quantity_name(const void *unused, size_t i)
{
    (void)unused;
    return quantities[i].name;
}

cr_status cr_dist_points(cr_ctx *cx, const cr_dist_class *c, const double *params, size_t n,
                         const char *quantity, const double *x, size_t count, double *out)
{
    enum { BETWEEN_LOOKS = 1024 };
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *value = cr_scratch_f64(&s, count);
    size_t     q = 0;
    CR_TRY(s.status);
    while (q < N_QUANTITIES && strcmp(quantities[q].name, quantity) != 0) q++;
    if (q == N_QUANTITIES) {
        cr_fail(cx, CR_EARG, "there is no quantity '%s' of points", quantity);
        CR_TRY(cr_fail_nearest(cx, quantity, "quantities", N_QUANTITIES, quantity_name, NULL));
    }
    for (size_t i = 0; i < count; i++) {
        if (i % BETWEEN_LOOKS == 0) CR_TRY(cr_check_interrupt(cx));
        CR_TRY(quantities[q].call(cx, c, params, n, x[i], &value[i]));
        if (quantities[q].then) value[i] = quantities[q].then(value[i]);
    }
    if (count > 0) memcpy(out, value, count * sizeof *out);
done:
    cr_scratch_end(&s);
    return st;
}
