/* rbm_exact.c -- log Z of a restricted Boltzmann machine by a sum over the states of its smaller layer, given which the
 * units of the other are independent:
 *   Z = sum_s exp(a . s) prod_j (1 + exp(d_j + sum_k s_k U_kj)),    O(2^n (n + m)) for layers of n and m units
 * and the likelihood of rows with its gradient. */
#include "rbm.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "math/special/special.h"

#include <math.h>
#include <string.h>

double cri_logistic_of(double x)
{
    double e = exp(-fabs(x));
    return x > 0 ? 1 / (1 + e) : e / (1 + e);
}

double cri_machine_value(const cri_machine *m, const double *v, double *opt_active)
{
    double sum = 0;
    for (size_t j = 0; j < m->p; j++) sum += m->b[j] * v[j];
    for (size_t k = 0; k < m->hidden; k++) {
        double x = m->c[k];
        for (size_t j = 0; j < m->p; j++) x += m->W[k * m->p + j] * v[j];
        sum += cr_log1pexp(x);
        if (opt_active) opt_active[k] = cri_logistic_of(x);
    }
    return sum;
}

/* --- the sum over a layer --------------------------------------------------------------------- */

/* n units that are summed over, with biases a; m others, with biases d; U_kj at u[k * row + j * column]. */
typedef struct layers {
    size_t        n, m, row, column;
    const double *a, *d, *u;
    double       *log_p; /* [2^n] */
    double        top;
} layers;

/* Inputs of the others in state s, x [m]; the logarithm of the term. */
static double term_of(const layers *l, size_t s, double *x)
{
    double sum = 0;
    for (size_t j = 0; j < l->m; j++) x[j] = l->d[j];
    for (size_t k = 0; k < l->n; k++) {
        if (!(s >> k & 1)) continue;
        sum += l->a[k];
        for (size_t j = 0; j < l->m; j++) x[j] += l->u[k * l->row + j * l->column];
    }
    for (size_t j = 0; j < l->m; j++) sum += cr_log1pexp(x[j]);
    return sum;
}

static void find_terms(void *arg, cri_range range, double *work)
{
    layers *l = arg;
    for (size_t s = range.begin; s < range.end; s++) l->log_p[s] = term_of(l, s, work);
}

/* Adds p, then sums of s_k, x_j and s_k x_j under p, to acc [1 + n + m + n m]. */
static void add_terms(void *arg, cri_range range, double *acc, double *work)
{
    const layers *l = arg;
    double       *of = acc + 1, *others = of + l->n, *both = others + l->m;
    for (size_t s = range.begin; s < range.end; s++) {
        double p = exp(l->log_p[s] - l->top);
        acc[0] += p;
        term_of(l, s, work);
        for (size_t j = 0; j < l->m; j++) others[j] += work[j] = p * cri_logistic_of(work[j]);
        for (size_t k = 0; k < l->n; k++) {
            if (!(s >> k & 1)) continue;
            of[k] += p;
            for (size_t j = 0; j < l->m; j++) both[k * l->m + j] += work[j];
        }
    }
}

cr_status cri_machine_sum(cr_ctx *cx, const cri_machine *m, double *out_log_z, double *opt_gradient)
{
    enum { TOGETHER = 256 };
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    bool       turned = m->p < m->hidden; /* over the columns */
    layers     l = turned ? (layers){ m->p, m->hidden, 1, m->p, m->b, m->c, m->W, NULL, -INFINITY }
                          : (layers){ m->hidden, m->p, m->p, 1, m->c, m->b, m->W, NULL, -INFINITY };
    size_t     states = (size_t)1 << l.n, width = 1 + l.n + l.m + l.n * l.m;
    double     sum = 0, *acc = cr_scratch_f64(&s, width);
    l.log_p = cr_scratch_f64(&s, states);
    CR_TRY(s.status);
    CR_TRY(cri_parallel_rows(cx, NULL, states, TOGETHER, l.m, find_terms, &l));
    for (size_t i = 0; i < states; i++) l.top = fmax(l.top, l.log_p[i]);
    if (!isfinite(l.top)) CR_TRY(CR_ENUMERIC);
    for (size_t i = 0; i < states; i++) sum += exp(l.log_p[i] - l.top);
    *out_log_z = l.top + log(sum);
    if (!opt_gradient) goto done;
    CR_TRY(cri_parallel_sum_in(cx, NULL, states, TOGETHER, width, l.m, add_terms, &l, acc));
    double *W = opt_gradient, *b = W + m->hidden * m->p, *c = b + m->p, *both = acc + 1 + l.n + l.m;
    memcpy(turned ? b : c, acc + 1, l.n * sizeof *acc);
    memcpy(turned ? c : b, acc + 1 + l.n, l.m * sizeof *acc);
    for (size_t k = 0; k < l.n; k++)
        for (size_t j = 0; j < l.m; j++)
            W[turned ? j * m->p + k : k * m->p + j] = both[k * l.m + j];
    for (size_t i = 0; i < m->hidden * m->p + m->p + m->hidden; i++) opt_gradient[i] /= acc[0];
done:
    cr_scratch_end(&s);
    return st;
}

/* --- rows ------------------------------------------------------------------------------------- */

typedef struct pass {
    const cri_machine  *m;
    const cri_rbm_data *d;
    bool                slope;
} pass;

/* Adds values, then their gradients, to acc [1 + size]. */
static void add_rows(void *arg, cri_range range, double *acc, double *active)
{
    const pass        *a = arg;
    const cri_machine *m = a->m;
    double            *W = acc + 1, *b = W + m->hidden * m->p, *c = b + m->p;
    for (size_t i = range.begin; i < range.end; i++) {
        const double *v = a->d->X + i * m->p;
        double        w = a->d->weight ? a->d->weight[i] : 1;
        acc[0] += w * cri_machine_value(m, v, active);
        for (size_t j = 0; a->slope && j < m->p; j++) b[j] += w * v[j];
        for (size_t k = 0; a->slope && k < m->hidden; k++) {
            double x = w * active[k];
            c[k] += x;
            for (size_t j = 0; j < m->p; j++) W[k * m->p + j] += x * v[j];
        }
    }
}

static cr_status sum_rows(cr_ctx *cx, const cri_machine *m, const cri_rbm_data *d, double *out,
                          bool slope)
{
    enum { TOGETHER = 64 };
    pass   a = { m, d, slope };
    size_t width = 1 + (slope ? m->hidden * m->p + m->p + m->hidden : 0);
    return cri_parallel_sum_in(cx, NULL, d->n, TOGETHER, width, m->hidden, add_rows, &a, out);
}

cr_status cri_machine_values(cr_ctx *cx, const cri_machine *m, const cri_rbm_data *d,
                             double *out_sum)
{
    return sum_rows(cx, m, d, out_sum, false);
}

cr_status cri_machine_objective(cr_ctx *cx, const cri_rbm_data *d, size_t hidden, double l2,
                                const double *theta, double *out_f, double *opt_gradient)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    cri_machine m = cri_machine_of(d->p, hidden, theta);
    size_t      size = hidden * d->p + d->p + hidden;
    double      log_z, squares = 0, *sums = cr_scratch_f64(&s, 1 + size);
    CR_TRY(s.status);
    CR_TRY(cri_machine_sum(cx, &m, &log_z, opt_gradient));
    CR_TRY(sum_rows(cx, &m, d, sums, opt_gradient != NULL));
    for (size_t i = 0; i < size; i++) {
        squares += theta[i] * theta[i];
        if (opt_gradient) opt_gradient[i] += (l2 * theta[i] - sums[1 + i]) / d->total;
    }
    *out_f = log_z - sums[0] / d->total + l2 * squares / (2 * d->total);
done:
    cr_scratch_end(&s);
    return st;
}
