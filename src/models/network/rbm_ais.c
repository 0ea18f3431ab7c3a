/* rbm_ais.c -- log Z by annealed importance sampling.
 *   log p_t(v) = (1 - t) b0 . v + t b . v + sum_k log(1 + exp(t (c_k + W_k . v))) - log Z_t,    0 = t_0 < ... < t_T = 1
 * At t = 0 the columns are independent with their means in the rows, and Z is known; a chain goes up, its weight the
 * product of p_(t+1)(v) / p_t(v), unnormalised, before each step of Gibbs sampling at t+1.  The mean weight is unbiased for
 * Z / Z_0; its spread gives the standard error of log Z.  Each chain has a stream of its own.
 * Neal (2001), Statistics and Computing 11; Salakhutdinov & Murray (2008), ICML. */
#include "rbm.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "base/scratch.h"
#include "math/special/special.h"

#include <math.h>

typedef struct annealing {
    const cri_machine *m;
    const double      *b0; /* [p] */
    size_t             temperatures;
    uint64_t           seed;
    double            *v, *x, *log_w; /* [chains x p], [chains x hidden], [chains] */
} annealing;

/* c + W v. */
static void find_inputs(const cri_machine *m, const double *v, double *x)
{
    for (size_t k = 0; k < m->hidden; k++) {
        double sum = m->c[k];
        for (size_t j = 0; j < m->p; j++) sum += m->W[k * m->p + j] * v[j];
        x[k] = sum;
    }
}

/* log p_t(v) up to Z_t, of inputs x. */
static double value_at(const annealing *a, const double *v, const double *x, double t)
{
    double sum = 0;
    for (size_t j = 0; j < a->m->p; j++) sum += ((1 - t) * a->b0[j] + t * a->m->b[j]) * v[j];
    for (size_t k = 0; k < a->m->hidden; k++) sum += cr_log1pexp(t * x[k]);
    return sum;
}

/* New states of the units given the columns, in x, then of the columns given them. */
static void step(const annealing *a, double t, cr_rng *r, double *v, double *x)
{
    const cri_machine *m = a->m;
    for (size_t k = 0; k < m->hidden; k++) x[k] = cr_rng_uniform(r) < cri_logistic_of(t * x[k]);
    for (size_t j = 0; j < m->p; j++) v[j] = (1 - t) * a->b0[j] + t * m->b[j];
    for (size_t k = 0; k < m->hidden; k++)
        for (size_t j = 0; x[k] > 0 && j < m->p; j++) v[j] += t * m->W[k * m->p + j];
    for (size_t j = 0; j < m->p; j++) v[j] = cr_rng_uniform(r) < cri_logistic_of(v[j]);
}

static void run_chain(void *arg, size_t i)
{
    const annealing *a = arg;
    double          *v = a->v + i * a->m->p, *x = a->x + i * a->m->hidden, log_w = 0, from = 0;
    cr_rng           r = cr_rng_stream(a->seed, i);
    for (size_t j = 0; j < a->m->p; j++) v[j] = cr_rng_uniform(&r) < cri_logistic_of(a->b0[j]);
    for (size_t n = 1; n <= a->temperatures; n++) {
        double t = (double)n / (double)a->temperatures;
        find_inputs(a->m, v, x);
        log_w += value_at(a, v, x, t) - value_at(a, v, x, from);
        if (n < a->temperatures) step(a, t, &r, v, x);
        from = t;
    }
    a->log_w[i] = log_w;
}

cr_status cri_machine_anneal(cr_ctx *cx, const cri_machine *m, const double *mean, size_t chains,
                             size_t temperatures, uint64_t seed, double *out_log_z, double *out_sd)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *b0 = cr_scratch_f64(&s, m->p), top = -INFINITY, sum = 0, square = 0;
    annealing  a = { .m = m, .b0 = b0, .temperatures = temperatures, .seed = seed };
    double     log_z = (double)m->hidden * log(2), n = (double)chains;
    a.v = cr_scratch_matrix(&s, chains, m->p);
    a.x = cr_scratch_matrix(&s, chains, m->hidden);
    a.log_w = cr_scratch_f64(&s, chains);
    CR_TRY(s.status);
    for (size_t j = 0; j < m->p; j++) {
        double q = fmin(fmax(mean[j], 0.01), 0.99);
        b0[j] = log(q / (1 - q));
        log_z += cr_log1pexp(b0[j]);
    }
    CR_TRY(cri_parallel_for(cx, "annealing", chains, run_chain, &a));
    for (size_t i = 0; i < chains; i++) top = fmax(top, a.log_w[i]);
    for (size_t i = 0; i < chains; i++) {
        double w = exp(a.log_w[i] - top);
        sum += w, square += w * w;
    }
    *out_log_z = log_z + top + log(sum / n);
    *out_sd = sqrt(fmax(square / n - sum * sum / (n * n), 0) * n / (n - 1) / n) / (sum / n);
done:
    cr_scratch_end(&s);
    return st;
}
