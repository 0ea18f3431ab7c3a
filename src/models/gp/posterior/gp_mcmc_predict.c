/* gp_mcmc_predict.c -- predictions over draws of the hyper-parameters: a mixture of processes in
 * equal shares. */
#include "gp_mcmc.h"
#include "gp_method.h"
#include "math/kernel/kernel_internal.h"

#include <math.h>

/* The processes of a mixture, one after the other: `one` is that of the draw it was set to. */
typedef struct mixture {
    const cri_gp_posterior *m;
    cri_gp_posterior        one; /* shares the inputs of m */
    cri_gp_problem          problem;
} mixture;

/* --- one draw -------------------------------------------------------------------------------- */

/* Workspace for one process, of the arena, except the kernel.  O(n^2) numbers. */
static cr_status mixture_open(cr_ctx *cx, cr_scratch *s, const cri_gp_posterior *m, mixture *out)
{
    size_t            n = m->at.n, q = m->q;
    double           *H = cr_scratch_matrix(s, n, q);
    cri_gp_posterior *one = &out->one;

    *out = (mixture){ .m = m, .one = *m, .problem = { &m->at, q, H } };
    one->n_draws = 0;
    one->kernel = NULL;
    one->low = (cri_gp_lowrank){ 0 };
    one->L = cr_scratch_matrix(s, n, n);
    one->alpha = cr_scratch_f64(s, n);
    one->beta = cr_scratch_f64(s, q);
    one->U = cr_scratch_matrix(s, n, q);
    one->A = cr_scratch_matrix(s, q, q);
    if (s->status != CR_OK) return s->status;
    cri_gp_mean_fill(&m->mean, m->at.X, n, H);
    return cr_kernel_copy(cx, m->kernel, &one->kernel);
}

/* The process at draw h.  O(n^3 / 3). */
static cr_status mixture_set(cr_ctx *cx, mixture *x, size_t h)
{
    cr_status         st = CR_OK;
    cri_gp_posterior *one = &x->one;
    const double     *theta = x->m->draws + h * (x->m->n_theta + 1);
    cri_gp_solution   solution = cri_gp_posterior_solution(one);
    CR_TRY(cr_check_interrupt(cx));
    CR_TRY(cr_kernel_set_theta(cx, one->kernel, theta));
    one->noise = exp(theta[one->n_theta]);
    CR_TRY(cri_kernel_settle(cx, one->kernel));
    CR_TRY(cri_gp_solve(cx, &x->problem, one->kernel, one->noise, CRI_GP_QUIET_JITTER, one->L,
                        &solution));
done:
    return st;
}

static void mixture_close(cr_ctx *cx, mixture *x)
{
    cr_kernel_free(cx, x->one.kernel);
    x->one.kernel = NULL;
}

/* --- moments --------------------------------------------------------------------------------- */

static void clear(double *x, size_t n)
{
    for (size_t i = 0; x && i < n; i++) x[i] = 0;
}

/* mean [n] := that of h + 1 processes, of which x has the mean of the last; delta [n]: x less the
 * mean of those before, so that the sum of the squares about the mean grows by delta^2 h / (h +
 * 1). */
static void add_mean(const double *x, size_t n, size_t h, double *mean, double *delta)
{
    for (size_t i = 0; i < n; i++) {
        delta[i] = x[i] - mean[i];
        mean[i] += delta[i] / (double)(h + 1);
    }
}

/* square [n] grows by what the process number h adds: its variance, and that of the means. */
static void add_spread(const double *sd, const double *delta, size_t n, size_t h, double *square)
{
    double share = (double)h / (double)(h + 1);
    for (size_t i = 0; i < n; i++) square[i] += sd[i] * sd[i] + share * delta[i] * delta[i];
}

static void take_roots(double *square, size_t n, size_t count)
{
    for (size_t i = 0; i < n; i++) square[i] = sqrt(square[i] / (double)count);
}

/* S [n x n] grows by the covariance C of the process number h, and by that of the means. */
static void add_covariance(const double *C, const double *delta, size_t n, size_t h, double *S)
{
    double share = (double)h / (double)(h + 1);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) S[i * n + j] += C[i * n + j] + share * delta[i] * delta[j];
}

/* A question to one process: n means, sds and covariances of them, the latter two where asked for. */
typedef struct question question;
struct question {
    cr_status (*ask)(cr_ctx *cx, const question *q, const cri_gp_posterior *one, double *mean,
                     double *opt_sd, double *opt_covariance);
    const cri_rows  *rows;
    cr_prediction   *out;    /* of predict   */
    bool             prior;  /* of functions */
    const cr_design *design; /* of a part    */
    size_t           part;   /* likewise     */
};

/* The answer of the mixture: the mean of the means; of variances and covariances that of all
 * processes and that of their means (the law of total variance). */
static cr_status average(cr_ctx *cx, const cri_gp_posterior *m, const question *q, size_t n,
                         double *mean, double *opt_sd, double *opt_covariance)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *delta = cr_scratch_f64(&s, n), *f = cr_scratch_f64(&s, n);
    double    *sd = opt_sd ? cr_scratch_f64(&s, n) : NULL;
    double    *C = opt_covariance ? cr_scratch_matrix(&s, n, n) : NULL;
    mixture    x = { 0 };

    CR_TRY(mixture_open(cx, &s, m, &x));
    clear(mean, n);
    clear(opt_sd, n);
    clear(opt_covariance, n * n);
    for (size_t h = 0; h < m->n_draws; h++) {
        CR_TRY(mixture_set(cx, &x, h));
        CR_TRY(q->ask(cx, q, &x.one, f, sd, C));
        add_mean(f, n, h, mean, delta);
        if (sd) add_spread(sd, delta, n, h, opt_sd);
        if (C) add_covariance(C, delta, n, h, opt_covariance);
    }
    if (sd) take_roots(opt_sd, n, m->n_draws);
    for (size_t i = 0; C && i < n * n; i++) opt_covariance[i] /= (double)m->n_draws;
done:
    mixture_close(cx, &x);
    cr_scratch_end(&s);
    return st;
}

/* --- answers --------------------------------------------------------------------------------- */

static cr_status ask_prediction(cr_ctx *cx, const question *q, const cri_gp_posterior *one,
                                double *mean, double *opt_sd, double *opt_covariance)
{
    cr_prediction each = *q->out; /* its dof are those of any process */
    (void)opt_covariance;
    each.mean = mean;
    each.scale = opt_sd;
    return cri_gp_process_answers.predict(cx, one, q->rows, &each);
}

static cr_status predict(cr_ctx *cx, const cri_gp_posterior *m, const cri_rows *rows,
                         cr_prediction *out)
{
    question q = { .ask = ask_prediction, .rows = rows, .out = out };
    return average(cx, m, &q, rows->n, out->mean, out->scale, NULL);
}

static cr_status ask_function(cr_ctx *cx, const question *q, const cri_gp_posterior *one,
                              double *mean, double *opt_sd, double *opt_covariance)
{
    return cri_gp_process_answers.function(cx, one, q->rows, q->prior, mean, opt_sd,
                                           opt_covariance);
}

static cr_status function(cr_ctx *cx, const cri_gp_posterior *m, const cri_rows *rows, bool prior,
                          double *mean, double *opt_sd, double *opt_covariance)
{
    question q = { .ask = ask_function, .rows = rows, .prior = prior };
    return average(cx, m, &q, rows->n, mean, opt_sd, opt_covariance);
}

static cr_status ask_slopes(cr_ctx *cx, const question *q, const cri_gp_posterior *one,
                            double *mean, double *opt_sd, double *opt_covariance)
{
    (void)opt_sd, (void)opt_covariance;
    return cri_gp_process_slopes(cx, one, q->rows, mean);
}

static cr_status slopes(cr_ctx *cx, const cri_gp_posterior *m, const cri_rows *rows, double *out)
{
    question q = { .ask = ask_slopes, .rows = rows };
    return average(cx, m, &q, rows->n * m->at.d, out, NULL, NULL);
}

static cr_status ask_part(cr_ctx *cx, const question *q, const cri_gp_posterior *one, double *mean,
                          double *opt_sd, double *opt_covariance)
{
    cr_part named;
    (void)opt_covariance;
    return cri_gp_process_part(cx, one, q->design, q->part, q->rows, &named, mean, opt_sd);
}

/* Its name has the values of the mean of the draws. */
static cr_status part(cr_ctx *cx, const cri_gp_posterior *m, const cr_design *design, size_t k,
                      const cri_rows *rows, cr_part *out_part, double *mean, double *sd)
{
    question  q = { .ask = ask_part, .rows = rows, .design = design, .part = k };
    cr_status st = cri_gp_process_part(cx, m, design, k, NULL, out_part, NULL, NULL);
    if (st != CR_OK || !rows || !out_part->name[0]) return st;
    return average(cx, m, &q, rows->n, mean, sd, NULL);
}

/* --- draws ----------------------------------------------------------------------------------- */

/* Each with hyper-parameters of its own as far as there are enough; fewer take some of all chains. */
static cr_status draw(cr_ctx *cx, const cri_gp_posterior *m, const cri_rows *rows,
                      cri_gp_drawn what, size_t count, uint64_t seed, double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = rows->n, used = count < m->n_draws ? count : m->n_draws;
    double    *column = cr_scratch_f64(&s, n * (count / m->n_draws + 1));
    mixture    x = { 0 };

    CR_TRY(mixture_open(cx, &s, m, &x));
    for (size_t h = 0; h < used; h++) {
        size_t some = (count - h - 1) / used + 1; /* draws h, h + used, .. */
        CR_TRY(mixture_set(cx, &x, h * m->n_draws / used));
        CR_TRY(cri_gp_process_answers.draw(cx, &x.one, rows, what, some,
                                           seed + 0x9e3779b97f4a7c15u * (h + 1), column));
        for (size_t i = 0; i < n; i++)
            for (size_t c = 0; c < some; c++) out[i * count + h + c * used] = column[i * some + c];
    }
done:
    mixture_close(cx, &x);
    cr_scratch_end(&s);
    return st;
}

const cri_gp_answers cri_gp_mixture_answers = { .predict = predict,
                                                .function = function,
                                                .draw = draw,
                                                .slopes = slopes,
                                                .part = part,
                                                .parameters = cri_gp_mcmc_describe };
