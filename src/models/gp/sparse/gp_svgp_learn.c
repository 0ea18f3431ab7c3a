/* gp_svgp_learn.c -- hyper-parameters by Adam, q by natural gradients, on mini-batches. */
#include "gp_svgp.h"
#include "base/context_internal.h"
#include "base/rng.h"
#include "base/scratch.h"
#include "math/optim/stochastic.h"

#include <math.h>
#include <string.h>

enum { WARM_UP = 20 };                /* steps of q before anything else moves      */
static const double LEAST_RATE = 0.1; /* of q, from then on                         */

/* x = theta, log noise where it is learned, then Z / scale where it moves. */
typedef struct learner {
    cr_ctx                *cx;
    const cri_gp_learning *learning;
    cri_gp_svgp           *qv;
    cr_kernel             *k;
    double                 noise;
    size_t                 p, at; /* theta; where Z begins */
    bool                   move_inputs;
    double                *scale, *gradient, *dZ;
    size_t                 steps, all_steps;
} learner;

static cr_status take(learner *g, const double *x)
{
    cr_status    st = cr_kernel_set_theta(g->cx, g->k, x);
    cri_gp_data *Z = &g->qv->Z;
    if (g->learning->learn_noise) g->noise = exp(x[g->p]);
    for (size_t i = 0; g->move_inputs && i < Z->n * Z->d; i++)
        Z->X[i] = x[g->at + i] * g->scale[i % Z->d];
    return st;
}

/* Minus the bound, in the share of the items, and its gradient; then q moves. */
static cr_status evaluate_batch(void *user, const double *x, size_t n, const size_t *items,
                                size_t n_items, double *out_f, double *out_gradient)
{
    cr_status             st = CR_OK;
    learner              *g = user;
    const cri_gp_problem *problem = g->learning->problem;
    const cri_gp_data    *Z = &g->qv->Z;
    double                value, share = (double)n_items / (double)problem->data->n;
    CR_TRY(take(g, x));
    st = cri_gp_svgp_bound(g->cx, problem, g->k, g->noise, items, n_items, g->qv, &value,
                           g->gradient, g->move_inputs ? g->dZ : NULL);
    if (st == CR_ENUMERIC) { /* ends the run, where the values were still finite */
        *out_f = NAN;
        memset(out_gradient, 0, n * sizeof *out_gradient);
        return CR_OK;
    }
    CR_TRY(st);
    *out_f = -share * (value + cri_gp_log_prior(g->learning->prior, g->k, x, g->gradient));
    for (size_t j = 0; j < g->at; j++) out_gradient[j] = -share * g->gradient[j];
    for (size_t i = 0; g->at + i < n; i++)
        out_gradient[g->at + i] = -share * g->dZ[i] * g->scale[i % Z->d];
    CR_TRY(cri_gp_svgp_step(g->cx, problem, g->k, g->noise, items, n_items, LEAST_RATE, g->qv));
    g->steps++;
    cri_progress_part(g->cx, (double)g->steps / (double)g->all_steps);
done:
    return st;
}

/* q from some batches, each counting as much as the others. */
static cr_status warm_up(learner *g, size_t batch)
{
    cr_status             st = CR_OK;
    cr_scratch            s = cr_scratch_begin(g->cx);
    const cri_gp_problem *problem = g->learning->problem;
    size_t               *items = cr_scratch_index(&s, batch);

    CR_TRY(s.status);
    for (size_t t = 0; t < WARM_UP; t++) {
        cr_rng rng = cr_rng_stream(g->learning->seed, 1000000 + t);
        cr_rng_choose(&rng, problem->data->n, batch, items);
        CR_TRY(cri_gp_svgp_step(g->cx, problem, g->k, g->noise, items, batch, 1 / (double)(t + 1),
                                g->qv));
    }
done:
    cr_scratch_end(&s);
    return st;
}

static cri_gp_svgp svgp_new(cr_scratch *s, const cri_gp_sparse *sparse, size_t q)
{
    size_t m = sparse->Z.n;
    return (cri_gp_svgp){ .Z = sparse->Z,
                          .sums = cri_gp_linear_model_new(s, m, q),
                          .L = sparse->L,
                          .L2 = sparse->L2,
                          .g = sparse->alpha,
                          .beta = sparse->beta,
                          .U = sparse->U,
                          .A = sparse->A };
}

/* x and its box. */
static void set_box(const learner *g, const cri_gp_space *u, double *x, double *lower,
                    double *upper)
{
    const cri_gp_data *Z = &g->qv->Z;
    memcpy(lower, u->lower, g->at * sizeof *lower);
    memcpy(upper, u->upper, g->at * sizeof *upper);
    cr_kernel_theta(g->k, x);
    if (g->learning->learn_noise) x[g->p] = log(g->noise);
    for (size_t j = 0; j < g->at; j++) x[j] = fmin(fmax(x[j], lower[j]), upper[j]);
    for (size_t i = 0; g->move_inputs && i < Z->n * Z->d; i++) {
        x[g->at + i] = Z->X[i] / g->scale[i % Z->d];
        lower[g->at + i] = -INFINITY;
        upper[g->at + i] = INFINITY;
    }
}

/* The last epoch changed the bound by less than a thousandth of a nat a row. */
static bool has_settled(const cr_minimize_report *r)
{
    size_t last = r->trace_length;
    if (r->stop == CR_END_F) return true;
    if (r->stop != CR_END_MAX_ITER || r->trace_stride != 1 || last < 3) return false;
    return fabs(r->trace[last - 1] - r->trace[last - 2]) <= 1e-3;
}

cr_status cri_gp_svgp_learn(cr_ctx *cx, const cri_gp_learning *learning,
                            const cri_gp_svgp_options *options, cri_gp_sparse *sparse, cr_kernel *k,
                            double *noise, cri_gp_learned *out)
{
    cr_status    st = CR_OK;
    cr_scratch   s = cr_scratch_begin(cx);
    size_t       p = cr_kernel_theta_size(k), d = sparse->Z.d, inputs = sparse->Z.n * d;
    size_t       at = p + learning->learn_noise, size = at + (options->move_inputs ? inputs : 0);
    cri_gp_svgp  qv = svgp_new(&s, sparse, learning->problem->q);
    cri_gp_space u;
    learner      g = { .cx = cx,
                       .learning = learning,
                       .qv = &qv,
                       .k = k,
                       .noise = *noise,
                       .p = p,
                       .at = at,
                       .move_inputs = options->move_inputs,
                       .scale = cr_scratch_f64(&s, d),
                       .gradient = cr_scratch_f64(&s, p + 1),
                       .dZ = cr_scratch_f64(&s, inputs) };
    double      *x = cr_scratch_f64(&s, size), *lower = cr_scratch_f64(&s, size);
    double      *upper = cr_scratch_f64(&s, size);
    cr_minimize_report    report;
    cr_stochastic_options o = cr_stochastic_defaults();
    cr_stochastic_problem problem = { .n = size,
                                      .items = learning->problem->data->n,
                                      .batch = evaluate_batch,
                                      .lower = lower,
                                      .upper = upper,
                                      .user = &g };

    CR_TRY(s.status);
    CR_TRY(cri_gp_space_new(&s, k, learning->problem, learning->variance, *noise,
                            learning->learn_noise, &u));
    cri_gp_data_sds(learning->problem->data, g.scale);
    set_box(&g, &u, x, lower, upper);
    CR_TRY(take(&g, x));
    CR_TRY(warm_up(&g, options->batch));
    o.rate = 0.03;
    o.schedule = CR_SGD_COSINE;
    o.batch = options->batch;
    o.epochs = options->epochs;
    o.f_tolerance = 1e-5;
    o.seed = learning->seed;
    g.all_steps = o.epochs * ((problem.items + o.batch - 1) / o.batch);
    if (size > 0) {
        CR_TRY(cr_minimize_stochastic(cx, &problem, &o, x, &report));
        CR_TRY(take(&g, x));
        out->iterations = report.iterations;
        out->stop = has_settled(&report) ? CR_STOP_TOLERANCE : CR_STOP_LIMIT;
        out->expired = report.stop == CR_END_TIME;
        out->value = -report.f * (double)learning->problem->data->n;
    }
    out->evaluations += g.steps;
    *noise = g.noise;
done:
    cr_scratch_end(&s);
    return st;
}
