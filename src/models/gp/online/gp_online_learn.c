/* gp_online_learn.c -- hyper-parameters and inducing inputs of an on-line process. */
#include "gp_online_learn.h"
#include "models/gp/search/gp_optimiser.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

enum { MOST_NEW = 1000 }; /* new inputs that are looked at, evenly spaced */

static const double FAR = 2, NOTHING = 1e-10;

/* --- hyper-parameters ------------------------------------------------------------------------ */

typedef struct ascent {
    cr_ctx               *cx;
    const cri_gp_problem *problem;
    cri_gp_stream        *stream;
    const cri_gp_prior   *prior; /* or NULL */
    cr_kernel            *k;
    double                noise;
    bool                  learn_noise;
    double               *gradient; /* [theta + 1] */
} ascent;

static cr_status objective(void *user, const double *x, size_t n, double *out_f,
                           double *opt_gradient)
{
    cr_status st = CR_OK;
    ascent   *c = user;
    size_t    p = cr_kernel_theta_size(c->k);
    double    noise = c->learn_noise ? exp(x[p]) : c->noise, value = 0;
    CR_TRY(cr_check_interrupt(c->cx));
    CR_TRY(cr_kernel_set_theta(c->cx, c->k, x));
    CR_TRY(cri_gp_stream_objective(c->cx, c->stream, c->problem, c->k, noise, &value,
                                   opt_gradient ? c->gradient : NULL));
    value += cri_gp_log_prior(c->prior, c->k, x, opt_gradient ? c->gradient : NULL);
    *out_f = -value;
    for (size_t j = 0; opt_gradient && j < n; j++) opt_gradient[j] = -c->gradient[j];
    if (!isfinite(value)) st = CR_ENUMERIC;
done:
    return st;
}

cr_status cri_gp_online_ascend(cr_ctx *cx, const cri_gp_problem *problem, cri_gp_stream *stream,
                               const cri_gp_prior *opt_prior, bool learn_noise, size_t steps,
                               cr_kernel *k, double *noise, size_t *out_iterations,
                               cr_stop *out_stop)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(cx);
    size_t              p = cr_kernel_theta_size(k), n = p + learn_noise;
    double             *x = cr_scratch_f64(&s, p + 1), *lower = cr_scratch_f64(&s, p + 1);
    double             *upper = cr_scratch_f64(&s, p + 1);
    ascent              c = { .cx = cx,
                              .problem = problem,
                              .stream = stream,
                              .prior = opt_prior,
                              .k = k,
                              .noise = *noise,
                              .learn_noise = learn_noise,
                              .gradient = cr_scratch_f64(&s, p + 1) };
    cr_minimize_options o = cr_minimize_defaults();
    cr_minimize_report  report;
    cr_problem q = { .n = n, .objective = objective, .lower = lower, .upper = upper, .user = &c };

    CR_TRY(s.status);
    *out_iterations = 0, *out_stop = CR_STOP_CLOSED_FORM;
    if (n == 0) goto done;
    cr_kernel_theta(k, x);
    cr_kernel_theta_bounds(k, lower, upper);
    x[p] = log(*noise), lower[p] = -INFINITY, upper[p] = INFINITY;
    for (size_t j = 0; j < n; j++) {
        lower[j] = fmax(lower[j], x[j] - FAR);
        upper[j] = fmin(upper[j], x[j] + FAR);
    }
    o.max_iter = steps;
    o.gradient_tolerance = 1e-4;
    o.f_tolerance = 1e-8;
    CR_TRY(cr_minimize(cx, &q, &o, x, &report));
    CR_TRY(cr_kernel_set_theta(cx, k, x));
    if (learn_noise) *noise = exp(x[p]);
    *out_iterations = report.iterations;
    *out_stop = cri_gp_stop(&report);
done:
    cr_scratch_end(&s);
    return st;
}

/* --- inducing inputs ------------------------------------------------------------------------- */

static void copy_input(const cri_gp_data *from, size_t i, cri_gp_data *to, size_t j)
{
    if (to->d) memcpy(to->X + j * to->d, from->X + i * to->d, to->d * sizeof(double));
    if (to->c) memcpy(to->codes + j * to->c, from->codes + i * to->c, to->c * sizeof(uint32_t));
    to->y[j] = 0, to->r[j] = 1, to->first[j] = j;
}

/* The rows of a pivoted Cholesky factor: chosen [m], their number returned through *out_n. */
static cr_status pivot(cr_scratch *s, const cr_kernel *k, const cri_gp_data *all, size_t m,
                       size_t *chosen, size_t *out_n)
{
    cr_status       st = CR_OK;
    size_t          n = all->n;
    double         *left = cr_scratch_f64(s, n), *row = cr_scratch_f64(s, n);
    double         *F = cr_scratch_matrix(s, m, n), most = 0;
    cr_kernel_input in = cri_gp_inputs(all);

    CR_TRY(s->status);
    CR_TRY(cr_kernel_diagonal(s->cx, k, &in, false, left));
    for (size_t i = 0; i < n; i++) most = fmax(most, left[i]);
    for (*out_n = 0; *out_n < m; ++*out_n) {
        size_t at = 0, t = *out_n;
        for (size_t i = 1; i < n; i++)
            if (left[i] > left[at] * (1 + 1e-12)) at = i;
        if (!(left[at] > NOTHING * most)) break;
        cr_kernel_input one = { .rows = 1,
                                .numbers = cr_cmat_of(all->X + at * all->d, 1, all->d),
                                .codes = all->codes + at * all->c,
                                .categories = all->c };
        double          root = sqrt(left[at]);
        CR_TRY(cr_kernel_cross(s->cx, k, &one, &in, cr_mat_of(row, 1, n)));
        for (size_t j = 0; j < t; j++)
            for (size_t i = 0; i < n; i++) row[i] -= F[j * n + at] * F[j * n + i];
        for (size_t i = 0; i < n; i++) {
            F[t * n + i] = row[i] / root;
            left[i] -= F[t * n + i] * F[t * n + i];
        }
        left[at] = 0;
        chosen[t] = at;
    }
done:
    return st;
}

cr_status cri_gp_online_choose(cr_ctx *cx, const cr_kernel *k, const cri_gp_data *old,
                               const cri_gp_data *data, size_t m, cri_gp_data *out_Z)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     step = data->n / MOST_NEW + 1, more = (data->n + step - 1) / step, n = old->n + more,
           count = 0;
    size_t     *chosen = cr_scratch_index(&s, m);
    cri_gp_data all = { 0 }, Z = { 0 };

    CR_TRY(s.status);
    CR_TRY(cri_gp_data_new(cx, n, old->d, old->c, &all));
    for (size_t i = 0; i < old->n; i++) copy_input(old, i, &all, i);
    for (size_t i = 0; i < more; i++) copy_input(data, i * step, &all, old->n + i);
    CR_TRY(pivot(&s, k, &all, m, chosen, &count));
    if (count == 0) chosen[count++] = 0; /* a kernel that is 0: any input will do */
    CR_TRY(cri_gp_data_new(cx, count, old->d, old->c, &Z));
    for (size_t i = 0; i < count; i++) copy_input(&all, chosen[i], &Z, i);
    *out_Z = Z;
done:
    cri_gp_data_free(cx, &all);
    cr_scratch_end(&s);
    return st;
}
