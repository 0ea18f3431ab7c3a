/* rbm_learn.c -- weights of a restricted Boltzmann machine.
 * exact: L-BFGS on the penalised likelihood, from random starts; it has many maxima, and the best found is kept.
 * pcd, cd: stochastic steps along (means of h v in a batch of rows) - (the same in draws), where the draws are chains that
 * go on from step to step, or start at the rows of the batch; the length of steps falls to 0 in a straight line.
 * Steps are those of centred units, v - mu and h - lambda, mu the means of the rows and lambda a running mean: on toy
 * data without it most of the likelihood was not found in as many steps.
 *   dW = D(h v) - D(h) mu - lambda D(v),   db = D(v) - lambda dW,   dc = D(h) - dW mu,   D = rows less draws
 * Hinton (2002), Neural Computation 14; Tieleman (2008), ICML; Montavon & Muller (2012), Neural Networks: Tricks of the
 * Trade. */
#include "rbm.h"
#include "base/context_internal.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "base/scratch.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

/* --- the likelihood itself -------------------------------------------------------------------- */

typedef struct exact {
    cr_ctx             *cx;
    const cri_rbm_data *d;
    size_t              hidden;
    double              l2;
} exact;

static cr_status objective(void *user, const double *x, size_t n, double *out_f,
                           double *opt_gradient)
{
    const exact *e = user;
    (void)n;
    return cri_machine_objective(e->cx, e->d, e->hidden, e->l2, x, out_f, opt_gradient);
}

/* Biases of the columns at their means, the rest small. */
static void start(const cri_rbm *m, double spread, cr_rng *r, double *theta)
{
    size_t weights = m->hidden * m->p;
    for (size_t i = 0; i < m->size; i++) theta[i] = i < weights ? spread * cr_rng_normal(r) : 0;
    for (size_t j = 0; j < m->p; j++) {
        double q = fmin(fmax(m->mean[j], 0.01), 0.99);
        theta[weights + j] = log(q / (1 - q));
    }
}

static cr_status climb(cr_ctx *cx, const cri_rbm_data *d, const cri_rbm_options *o, uint64_t seed,
                       cri_rbm *m, cr_stop *out_stop)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(cx);
    exact               e = { cx, d, m->hidden, o->l2 };
    cr_problem          problem = { .n = m->size, .objective = objective, .user = &e };
    cr_minimize_options how = cr_minimize_defaults();
    cr_minimize_report  r;
    cri_clock           clock = cri_clock_start(cx, NAN);
    double             *x = cr_scratch_f64(&s, m->size), best = INFINITY;
    CR_TRY(s.status);
    how.method = CR_METHOD_LBFGS;
    how.gradient_tolerance = o->tol;
    how.max_iter = o->max_iter;
    for (size_t k = 0; k < o->restarts; k++) {
        cr_rng g = cr_rng_stream(seed, k);
        start(m, 0.5, &g, x);
        CR_TRY(cr_minimize(cx, &problem, &how, x, &r));
        if (r.f < best) {
            best = r.f;
            memcpy(m->theta, x, m->size * sizeof *x);
            m->iterations = r.iterations;
            m->converged = cr_end_converged(r.stop);
            *out_stop = m->converged                   ? CR_STOP_TOLERANCE
                        : r.stop == CR_END_NO_PROGRESS ? CR_STOP_NO_PROGRESS
                                                       : CR_STOP_LIMIT;
        }
        if (r.stop == CR_END_TIME || cri_clock_over(&clock)) {
            *out_stop = CR_STOP_TIME, m->converged = false;
            break;
        }
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* --- contrastive divergence ------------------------------------------------------------------- */

/* A layer of `rows` chains given the other: 1 with the probability of its input, or that probability itself. */
typedef struct layer {
    size_t        width;
    double       *x;    /* [rows x width] inputs, then states */
    const double *bias; /* [width] */
    cr_rng       *rng;  /* [rows]; NULL: probabilities */
} layer;

static void activate(void *arg, size_t i)
{
    const layer *a = arg;
    double      *x = a->x + i * a->width;
    for (size_t j = 0; j < a->width; j++) {
        double p = cri_logistic_of(x[j] + a->bias[j]);
        x[j] = a->rng ? cr_rng_uniform(&a->rng[i]) < p : p;
    }
}

typedef struct descent {
    cr_ctx *cx;
    size_t  p, hidden, batch;
    double *theta, *slope;     /* [size] */
    double *V, *H, *chain, *G; /* [batch x p], [batch x hidden], [batch x p], [batch x hidden] */
    cr_rng *rng;               /* [batch] */
    const double *mu;          /* [p] */
    double       *lambda;      /* [hidden] */
} descent;

static cr_status find_hidden(descent *a, const double *v, double *h, cr_rng *opt_rng)
{
    layer     of = { a->hidden, h, a->theta + a->hidden * a->p + a->p, opt_rng };
    cr_status st = cr_gemm(a->cx, 1, cr_cmat_of(v, a->batch, a->p), CR_PLAIN,
                           cr_cmat_of(a->theta, a->hidden, a->p), CR_TRANSPOSED, 0,
                           cr_mat_of(h, a->batch, a->hidden));
    return st == CR_OK ? cri_parallel_for(a->cx, NULL, a->batch, activate, &of) : st;
}

static cr_status find_columns(descent *a, const double *h, double *v)
{
    layer     of = { a->p, v, a->theta + a->hidden * a->p, a->rng };
    cr_status st =
        cr_gemm(a->cx, 1, cr_cmat_of(h, a->batch, a->hidden), CR_PLAIN,
                cr_cmat_of(a->theta, a->hidden, a->p), CR_PLAIN, 0, cr_mat_of(v, a->batch, a->p));
    return st == CR_OK ? cri_parallel_for(a->cx, NULL, a->batch, activate, &of) : st;
}

/* slope += sign * means of h v, v and h in the batch. */
static cr_status add_means(descent *a, const double *h, const double *v, double sign)
{
    double   *b = a->slope + a->hidden * a->p, *c = b + a->p, scale = sign / (double)a->batch;
    cr_status st =
        cr_gemm(a->cx, scale, cr_cmat_of(h, a->batch, a->hidden), CR_TRANSPOSED,
                cr_cmat_of(v, a->batch, a->p), CR_PLAIN, 1, cr_mat_of(a->slope, a->hidden, a->p));
    for (size_t i = 0; i < a->batch; i++) {
        for (size_t j = 0; j < a->p; j++) b[j] += scale * v[i * a->p + j];
        for (size_t k = 0; k < a->hidden; k++) c[k] += scale * h[i * a->hidden + k];
    }
    return st;
}

/* A batch of rows, drawn by their weights; cumulative [n]. */
static void draw_rows(const cri_rbm_data *d, const double *opt_cumulative, cr_rng *r, descent *a)
{
    for (size_t i = 0; i < a->batch; i++) {
        size_t row = (size_t)cr_rng_below(r, d->n);
        if (opt_cumulative) {
            double u = cr_rng_uniform(r) * d->total;
            size_t low = 0, high = d->n - 1;
            while (low < high) {
                size_t middle = (low + high) / 2;
                if (opt_cumulative[middle] > u)
                    high = middle;
                else
                    low = middle + 1;
            }
            row = low;
        }
        memcpy(a->V + i * a->p, d->X + row * d->p, d->p * sizeof *a->V);
    }
}

/* The slope becomes that of centred units. */
static void centre(descent *a)
{
    double *W = a->slope, *b = W + a->hidden * a->p, *c = b + a->p;
    for (size_t k = 0; k < a->hidden; k++) {
        double *row = W + k * a->p, off = 0;
        for (size_t j = 0; j < a->p; j++) {
            row[j] -= c[k] * a->mu[j] + a->lambda[k] * b[j];
            off += row[j] * a->mu[j];
        }
        c[k] -= off;
    }
    for (size_t k = 0; k < a->hidden; k++)
        for (size_t j = 0; j < a->p; j++) b[j] -= a->lambda[k] * W[k * a->p + j];
}

static cr_status step(descent *a, const cri_rbm_options *o, bool persistent, double rate,
                      double decay)
{
    cr_status st = CR_OK;
    size_t    size = a->hidden * a->p + a->p + a->hidden;
    memset(a->slope, 0, size * sizeof *a->slope);
    CR_TRY(find_hidden(a, a->V, a->H, NULL));
    CR_TRY(add_means(a, a->H, a->V, 1));
    for (size_t k = 0; k < a->hidden; k++)
        a->lambda[k] = 0.95 * a->lambda[k] + 0.05 * a->slope[a->hidden * a->p + a->p + k];
    if (!persistent) memcpy(a->chain, a->V, a->batch * a->p * sizeof *a->V);
    for (size_t n = 0; n < o->steps; n++) {
        CR_TRY(find_hidden(a, a->chain, a->G, a->rng));
        CR_TRY(find_columns(a, a->G, a->chain));
    }
    CR_TRY(find_hidden(a, a->chain, a->G, NULL));
    CR_TRY(add_means(a, a->G, a->chain, -1));
    centre(a);
    for (size_t i = 0; i < size; i++) a->theta[i] += rate * (a->slope[i] - decay * a->theta[i]);
done:
    return st;
}

static cr_status diverge(cr_ctx *cx, const cri_rbm_data *d, const cri_rbm_options *o, uint64_t seed,
                         cri_rbm *m, cr_stop *out_stop)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     per_epoch = (d->n + o->batch - 1) / o->batch, batch = o->batch;
    size_t     steps = per_epoch * o->epochs > 2000 ? per_epoch * o->epochs : 2000;
    double     first = !isnan(o->rate) ? o->rate : 0.5 * fmin(1, sqrt(20 / (double)m->p));
    cri_clock  clock = cri_clock_start(cx, NAN);
    cr_rng     r = cr_rng_stream(seed, 0);
    descent    a = { .cx = cx, .p = m->p, .hidden = m->hidden, .batch = batch, .theta = m->theta };
    double    *cumulative = d->weight ? cr_scratch_f64(&s, d->n) : NULL;
    a.slope = cr_scratch_f64(&s, m->size);
    a.V = cr_scratch_matrix(&s, batch, m->p), a.chain = cr_scratch_matrix(&s, batch, m->p);
    a.H = cr_scratch_matrix(&s, batch, m->hidden), a.G = cr_scratch_matrix(&s, batch, m->hidden);
    a.mu = m->mean, a.lambda = cr_scratch_f64(&s, m->hidden);
    a.rng = cr_scratch_bytes(&s, batch, sizeof *a.rng);
    CR_TRY(s.status);
    for (size_t i = 0; cumulative && i < d->n; i++)
        cumulative[i] = d->weight[i] + (i > 0 ? cumulative[i - 1] : 0);
    for (size_t i = 0; i < batch; i++) a.rng[i] = cr_rng_stream(seed, 1 + i);
    for (size_t k = 0; k < m->hidden; k++) a.lambda[k] = 0.5;
    start(m, 0.1, &r, m->theta);
    draw_rows(d, cumulative, &r, &a);
    memcpy(a.chain, a.V, batch * m->p * sizeof *a.V);
    *out_stop = CR_STOP_LIMIT;
    for (size_t n = 0; n < steps; n++) {
        double rate = first * (1 - (double)n / (double)steps);
        CR_TRY(cr_check_interrupt(cx));
        draw_rows(d, cumulative, &r, &a);
        CR_TRY(step(&a, o, m->method == CRI_RBM_PCD, rate, o->l2 / d->total));
        m->iterations = n + 1;
        if (cri_clock_over(&clock)) break;
    }
    m->converged = m->iterations == steps;
    *out_stop = m->converged ? CR_STOP_TOLERANCE : CR_STOP_TIME;
done:
    cr_scratch_end(&s);
    return st;
}

/* --- which ------------------------------------------------------------------------------------ */

cr_status cri_rbm_learn(cr_ctx *cx, const cri_rbm_data *d, const cri_rbm_options *o, uint64_t seed,
                        cri_rbm *m, cr_report *report)
{
    enum { FEW = 8, MOST = 20 };
    cr_status st = CR_OK;
    size_t    smaller = cri_machine_smaller(m->p, m->hidden);
    m->method = o->method;
    if (o->method == CRI_RBM_AUTO) m->method = smaller <= FEW ? CRI_RBM_EXACT : CRI_RBM_PCD;
    if (m->method == CRI_RBM_EXACT && smaller > MOST) {
        cr_fail(cx, CR_EUNSUPPORTED,
                "--method exact sums over a layer of at most %d units, but both have %zu or more",
                MOST, smaller);
        return cr_fail_hint(cx, "--method pcd");
    }
    st = m->method == CRI_RBM_EXACT ? climb(cx, d, o, seed, m, &report->stop)
                                    : diverge(cx, d, o, seed, m, &report->stop);
    report->iterations = m->iterations;
    return st;
}
