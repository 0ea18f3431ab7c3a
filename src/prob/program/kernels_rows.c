/* kernels_rows.c -- the likelihoods of many rows, in blocks whose numbers stay in the cache, with exp and log
 * of whole blocks (math/kernel/array.h).  Same values as kernels_density.c, where one row is written out.
 *   normal           z = (y - m) / s:   sum -z^2 / 2 - log s - log(2 pi) / 2
 *   bernoulli_logit  sum -log(1 + exp(-+u)),   slope y - 1 / (1 + exp(-u))
 *   poisson_log      sum y u - exp(u) - log y! */
#include "kernels.h"
#include "math/kernel/array.h"
#include "math/special/special.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 256 };

static inline double at(const cri_tape_op *op, const double *v, unsigned k, uint32_t i)
{
    return v[op->in[k].at + (op->in[k].n > 1 ? i : 0)];
}

static inline void add(const cri_tape_op *op, double *a, unsigned k, uint32_t i, double slope)
{
    a[op->in[k].at + (op->in[k].n > 1 ? i : 0)] += slope;
}

/* --- normal ----------------------------------------------------------------------------------- */

static void normal(const cri_tape_op *op, double *v)
{
    const double HALF_LOG_2PI = 0.9189385332046727418;
    double       sum = 0, logs = 0;
    bool         one = op->in[2].n == 1;
    double       inverse = 1 / at(op, v, 2, 0);
    for (uint32_t i = 0; i < op->n; i++) {
        double z = at(op, v, 0, i) - at(op, v, 1, i);
        z *= one ? inverse : 1 / at(op, v, 2, i);
        sum += z * z;
        if (!one) logs += log(at(op, v, 2, i));
    }
    if (one) logs = (double)op->n * log(at(op, v, 2, 0));
    v[op->out] = -0.5 * sum - logs - (double)op->n * HALF_LOG_2PI;
}

static void normal_back(const cri_tape_op *op, const double *v, double *a)
{
    double da = a[op->out], spread = 0, centre = 0;
    bool   one = op->in[2].n == 1, one_mean = op->in[1].n == 1;
    double inverse = 1 / at(op, v, 2, 0);
    if (da == 0 || !isfinite(v[op->out])) return;
    for (uint32_t i = 0; i < op->n; i++) {
        double r = one ? inverse : 1 / at(op, v, 2, i), z = (at(op, v, 0, i) - at(op, v, 1, i)) * r;
        double g = da * z * r, h = (z * z - 1) * r;
        if (!op->in[0].constant) add(op, a, 0, i, -g);
        if (one_mean)
            centre += g;
        else if (!op->in[1].constant)
            a[op->in[1].at + i] += g;
        if (one)
            spread += h;
        else if (!op->in[2].constant)
            a[op->in[2].at + i] += da * h;
    }
    if (one_mean && !op->in[1].constant) a[op->in[1].at] += centre;
    if (one && !op->in[2].constant) a[op->in[2].at] += da * spread;
}

/* --- bernoulli, logit ------------------------------------------------------------------------- */

static void bernoulli_logit(const cri_tape_op *op, double *v)
{
    double sum = 0, e[BLOCK];
    for (uint32_t from = 0; from < op->n; from += BLOCK) {
        uint32_t n = op->n - from < BLOCK ? op->n - from : BLOCK;
        for (uint32_t i = 0; i < n; i++) e[i] = -fabs(at(op, v, 1, from + i));
        cri_exp_array(e, n);
        cri_log1p_array(e, n);
        for (uint32_t i = 0; i < n; i++) {
            double u = at(op, v, 1, from + i), t = at(op, v, 0, from + i) != 0 ? -u : u;
            sum -= (t > 0 ? t : 0) + e[i];
        }
    }
    v[op->out] = sum;
}

static void bernoulli_logit_back(const cri_tape_op *op, const double *v, double *a)
{
    double da = a[op->out], e[BLOCK];
    if (da == 0 || !isfinite(v[op->out]) || op->in[1].constant) return;
    for (uint32_t from = 0; from < op->n; from += BLOCK) {
        uint32_t n = op->n - from < BLOCK ? op->n - from : BLOCK;
        for (uint32_t i = 0; i < n; i++) e[i] = -fabs(at(op, v, 1, from + i));
        cri_exp_array(e, n);
        for (uint32_t i = 0; i < n; i++) {
            double p = (at(op, v, 1, from + i) >= 0 ? 1 : e[i]) / (1 + e[i]);
            add(op, a, 1, from + i, da * ((at(op, v, 0, from + i) != 0) - p));
        }
    }
}

/* --- poisson, log ----------------------------------------------------------------------------- */

static void poisson_log(const cri_tape_op *op, double *v)
{
    double sum = 0, e[BLOCK];
    for (uint32_t from = 0; from < op->n; from += BLOCK) {
        uint32_t n = op->n - from < BLOCK ? op->n - from : BLOCK;
        for (uint32_t i = 0; i < n; i++) e[i] = at(op, v, 1, from + i);
        cri_exp_array(e, n);
        for (uint32_t i = 0; i < n; i++) {
            double u = at(op, v, 1, from + i), y = at(op, v, 0, from + i);
            sum += y * u - (u > 709 ? INFINITY : e[i]);
        }
    }
    v[op->out] = sum - op->known;
}

static void poisson_log_back(const cri_tape_op *op, const double *v, double *a)
{
    double da = a[op->out], e[BLOCK];
    if (da == 0 || !isfinite(v[op->out]) || op->in[1].constant) return;
    for (uint32_t from = 0; from < op->n; from += BLOCK) {
        uint32_t n = op->n - from < BLOCK ? op->n - from : BLOCK;
        for (uint32_t i = 0; i < n; i++) e[i] = at(op, v, 1, from + i);
        cri_exp_array(e, n);
        for (uint32_t i = 0; i < n; i++)
            add(op, a, 1, from + i, da * (at(op, v, 0, from + i) - e[i]));
    }
}

/* log y! of all rows: the counts are data, or the tape would not have this density. */
static double log_factorials(const cri_tape_op *op, const double *v)
{
    double sum = 0;
    for (uint32_t i = 0; i < op->n; i++) sum += cr_lgamma_abs(at(op, v, 0, i) + 1);
    return sum;
}

static const cri_tape_kernel rows_normal = {
    "normal", normal, normal_back, false, true, NULL, NULL
};
static const cri_tape_kernel rows_bernoulli_logit = {
    "bernoulli_logit", bernoulli_logit, bernoulli_logit_back, false, true, NULL, NULL
};
static const cri_tape_kernel rows_poisson_log = { "poisson_log", poisson_log, poisson_log_back,
                                                  false,         true,        NULL,
                                                  log_factorials };

const cri_tape_kernel *cri_rows_kernel(const char *name)
{
    static const cri_tape_kernel *const ALL[] = { &rows_normal, &rows_bernoulli_logit,
                                                  &rows_poisson_log };
    for (size_t i = 0; i < sizeof ALL / sizeof *ALL; i++)
        if (strcmp(ALL[i]->name, name) == 0) return ALL[i];
    return NULL;
}
