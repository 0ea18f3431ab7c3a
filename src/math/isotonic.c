/* isotonic.c -- pool adjacent violators. */
#include "isotonic.h"
#include "base/scratch.h"

#include <math.h>

typedef struct pool {
    double mean, weight;
    size_t n;
} pool;

static cr_status check(cr_ctx *cx, const double *y, const double *opt_w, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(y[i])) return cr_fail(cx, CR_EDATA, "number %zu is not finite", i + 1);
        if (opt_w && !(opt_w[i] > 0 && isfinite(opt_w[i])))
            return cr_fail(cx, CR_EDATA, "weight %zu is not a number above 0", i + 1);
    }
    return CR_OK;
}

cr_status cr_isotonic(cr_ctx *cx, const double *y, const double *opt_w, size_t n, double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    pool      *pools = cr_scratch_bytes(&s, n, sizeof *pools);
    size_t     m = 0;

    CR_TRY(s.status);
    CR_TRY(check(cx, y, opt_w, n));
    for (size_t i = 0; i < n; i++) {
        pool p = { y[i], opt_w ? opt_w[i] : 1, 1 };
        while (m > 0 && pools[m - 1].mean >= p.mean) { /* >=: equal neighbours are one pool */
            pool   last = pools[--m];
            double weight = last.weight + p.weight;
            p.mean = last.mean + (p.mean - last.mean) * (p.weight / weight);
            p.weight = weight;
            p.n += last.n;
        }
        pools[m++] = p;
    }
    for (size_t k = 0, i = 0; k < m; k++)
        for (size_t j = 0; j < pools[k].n; j++) out[i++] = pools[k].mean;
done:
    cr_scratch_end(&s);
    return st;
}
