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

/* --- predictions ----------------------------------------------------------------------------- */

/* The mixture over the draws: means, and variances by the law of total variance. */
static cr_status predict(cr_ctx *cx, const cri_gp_posterior *m, const cri_rows *rows,
                         cr_prediction *out)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    size_t        n = rows->n;
    double       *delta = cr_scratch_f64(&s, n);
    cr_prediction each = *out;
    mixture       x = { 0 };

    each.mean = cr_scratch_f64(&s, n);
    each.scale = out->scale ? cr_scratch_f64(&s, n) : NULL;
    each.dof = cr_scratch_f64(&s, n);
    CR_TRY(mixture_open(cx, &s, m, &x));
    clear(out->mean, n);
    clear(out->scale, n);
    for (size_t h = 0; h < m->n_draws; h++) {
        CR_TRY(mixture_set(cx, &x, h));
        CR_TRY(cri_gp_process_answers.predict(cx, &x.one, rows, &each));
        add_mean(each.mean, n, h, out->mean, delta);
        if (out->scale) add_spread(each.scale, delta, n, h, out->scale);
    }
    if (out->scale) take_roots(out->scale, n, m->n_draws);
    for (size_t i = 0; out->scale && i < n; i++) out->dof[i] = INFINITY;
done:
    mixture_close(cx, &x);
    cr_scratch_end(&s);
    return st;
}

/* S [n x n] grows by the covariance C of the process number h, and by that of the means. */
static void add_covariance(const double *C, const double *delta, size_t n, size_t h, double *S)
{
    double share = (double)h / (double)(h + 1);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) S[i * n + j] += C[i * n + j] + share * delta[i] * delta[j];
}

/* Mean, sd and covariance: the mean of the covariances, and the covariance of the means. */
static cr_status function(cr_ctx *cx, const cri_gp_posterior *m, const cri_rows *rows, bool prior,
                          double *mean, double *opt_sd, double *opt_covariance)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = rows->n;
    double *delta = cr_scratch_f64(&s, n), *f = cr_scratch_f64(&s, n), *sd = cr_scratch_f64(&s, n);
    double *C = opt_covariance ? cr_scratch_matrix(&s, n, n) : NULL;
    mixture x = { 0 };

    CR_TRY(mixture_open(cx, &s, m, &x));
    clear(mean, n);
    clear(opt_sd, n);
    clear(opt_covariance, n * n);
    for (size_t h = 0; h < m->n_draws; h++) {
        CR_TRY(mixture_set(cx, &x, h));
        CR_TRY(cri_gp_process_answers.function(cx, &x.one, rows, prior, f, opt_sd ? sd : NULL, C));
        add_mean(f, n, h, mean, delta);
        if (opt_sd) add_spread(sd, delta, n, h, opt_sd);
        if (C) add_covariance(C, delta, n, h, opt_covariance);
    }
    if (opt_sd) take_roots(opt_sd, n, m->n_draws);
    for (size_t i = 0; C && i < n * n; i++) opt_covariance[i] /= (double)m->n_draws;
done:
    mixture_close(cx, &x);
    cr_scratch_end(&s);
    return st;
}

/* The slopes of the mean, which are the mean of the slopes. */
static cr_status slopes(cr_ctx *cx, const cri_gp_posterior *m, const cri_rows *rows, double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = rows->n * m->at.d;
    double    *delta = cr_scratch_f64(&s, n), *each = cr_scratch_f64(&s, n);
    mixture    x = { 0 };

    CR_TRY(mixture_open(cx, &s, m, &x));
    clear(out, n);
    for (size_t h = 0; h < m->n_draws; h++) {
        CR_TRY(mixture_set(cx, &x, h));
        CR_TRY(cri_gp_process_slopes(cx, &x.one, rows, each));
        add_mean(each, n, h, out, delta);
    }
done:
    mixture_close(cx, &x);
    cr_scratch_end(&s);
    return st;
}

static cr_status part(cr_ctx *cx, const cri_gp_posterior *m, const cr_design *design, size_t k,
                      const cri_rows *rows, cr_part *out_part, double *mean, double *sd)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = rows->n;
    double    *delta = cr_scratch_f64(&s, n), *f = cr_scratch_f64(&s, n),
           *spread = cr_scratch_f64(&s, n);
    mixture x = { 0 };
    cr_part named = { 0 };

    CR_TRY(mixture_open(cx, &s, m, &x));
    clear(mean, n);
    clear(sd, n);
    for (size_t h = 0; h < m->n_draws; h++) {
        CR_TRY(mixture_set(cx, &x, h));
        CR_TRY(cri_gp_process_part(cx, &x.one, design, k, rows, &named, f, spread));
        if (!named.name[0]) break;
        add_mean(f, n, h, mean, delta);
        add_spread(spread, delta, n, h, sd);
    }
    take_roots(sd, n, m->n_draws);
    *out_part = named;
done:
    mixture_close(cx, &x);
    cr_scratch_end(&s);
    return st;
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
