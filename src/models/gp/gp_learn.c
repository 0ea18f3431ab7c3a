/* gp_learn.c -- the search for the best hyper-parameters. */
#include "gp_learn.h"
#include "../../base/scratch.h"
#include "../../math/chol.h"
#include "../../math/kernel/kernel_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LENGTHS = 4, NOISES = 4, LOUDER = 5, LOUDEST = 20, LARGE = 600 }; /* from LARGE rows on a gain of 1e-4 is none */
static const double lengths[LENGTHS] = { 0.05, 0.2, 0.6, 2 };
static const double noises[NOISES] = { 0.001, 0.01, 0.1, 0.5 };

cr_status cri_gp_exact_objective(cr_ctx *cx, void *method, const cri_gp_problem *problem,
                                 const cr_kernel *k, double noise, double *out_value,
                                 double *opt_gradient)
{
    cr_status          st = CR_OK;
    cri_gp_exact_room *room = method;
    CR_TRY(cri_gp_solve(cx, problem, k, noise, CRI_GP_NO_JITTER, room->L, &room->solution));
    if (opt_gradient)
        CR_TRY(cri_gp_gradient(cx, problem, k, noise, &room->solution, room->L, opt_gradient));
    *out_value = room->solution.log_evidence;
done:
    return st;
}

/* --- one run --------------------------------------------------------------------------------- */

/* x [size], or, tied, t [ties]:  x_j = base_j + t_tie(j). */
typedef struct run {
    cr_ctx               *cx;
    const cri_gp_task    *task;
    const cri_gp_problem *problem;
    cri_gp_objective     *objective;
    void                 *method;
    const cri_gp_search  *search;
    cr_kernel            *k; /* spoiled */
    double                noise;
    const double         *base;     /* NULL: not tied */
    double               *x, *gradient; /* [p + 1] */
    size_t                evaluations;
} run;

static cr_status evaluate(run *r, const double *x, double *out_value, double *opt_gradient)
{
    cr_status            st = CR_OK;
    const cri_gp_search *u = r->search;
    double               noise = u->size > u->p ? exp(x[u->p]) : r->noise;
    CR_TRY(cr_check_interrupt(r->cx));
    CR_TRY(cr_kernel_set_theta(r->cx, r->k, x));
    CR_TRY(r->objective(r->cx, r->method, r->problem, r->k, noise, out_value, opt_gradient));
    r->evaluations++;
    *out_value += cr_kernel_log_prior(r->k, false, opt_gradient);
    if (!isfinite(*out_value)) st = CR_ENUMERIC;
done:
    return st;
}

static cr_status objective(void *user, const double *t, size_t n, double *out_f, double *opt_gradient)
{
    run                 *r = user;
    const cri_gp_search *u = r->search;
    double               value = 0;
    for (size_t j = 0; j < u->size; j++) {
        double x = r->base ? r->base[j] + t[u->tie[j]] : t[j];
        r->x[j] = fmin(fmax(x, u->lower[j]), u->upper[j]);
    }
    cr_status st = evaluate(r, r->x, &value, opt_gradient ? r->gradient : NULL);
    if (st != CR_OK) return st;
    *out_f = -value;
    if (!opt_gradient) return CR_OK;
    for (size_t i = 0; i < n; i++) opt_gradient[i] = 0;
    for (size_t j = 0; j < u->size; j++) opt_gradient[r->base ? u->tie[j] : j] -= r->gradient[j];
    return CR_OK;
}

/* The value at a start; -INFINITY where there is none. */
static cr_status try_start(run *r, const double *x, double *out_value)
{
    cr_status st = evaluate(r, x, out_value, NULL);
    if (st == CR_ENUMERIC) *out_value = -INFINITY, st = CR_OK;
    return st;
}

/* Bounds of the ties: as far as any of their parameters may go. */
static void tie_bounds(const cri_gp_search *u, const double *base, double *lower, double *upper)
{
    for (size_t t = 0; t < u->ties; t++) lower[t] = -INFINITY, upper[t] = INFINITY;
    for (size_t j = 0; j < u->size; j++) {
        size_t t = u->tie[j];
        lower[t] = fmax(lower[t], u->lower[j] - base[j]);
        upper[t] = fmin(upper[t], u->upper[j] - base[j]);
    }
}

/* From x [size] uphill, all parameters by themselves or tied; *out_value as reached. */
static cr_status climb(run *r, bool tied, size_t max_iter, double *x, double *out_value,
                       cri_gp_learned *report)
{
    cr_status            st = CR_OK;
    cr_scratch           s = cr_scratch_begin(r->cx);
    const cri_gp_search *u = r->search;
    double              *t = cr_scratch_bytes(&s, u->size, sizeof(double)); /* ties at 0 */
    double              *lower = cr_scratch_f64(&s, u->size), *upper = cr_scratch_f64(&s, u->size);
    double              *base = cr_scratch_f64(&s, u->size);
    cr_minimize_options  o = cr_minimize_defaults();
    cr_minimize_report   done_report;
    cr_problem           problem = { .objective = objective, .user = r };

    CR_TRY(s.status);
    memcpy(base, x, u->size * sizeof *x);
    r->base = tied ? base : NULL;
    problem.n = tied ? u->ties : u->size;
    if (tied) tie_bounds(u, base, lower, upper);
    problem.lower = tied ? lower : u->lower;
    problem.upper = tied ? upper : u->upper;
    if (!tied) memcpy(t, x, u->size * sizeof *x);
    o.max_iter = max_iter;
    bool some = tied || r->problem != r->task->problem; /* of the rows: a start for all */
    bool rough = r->task->rough || r->problem->data->n > LARGE;
    o.gradient_tolerance = some ? 1e-4 : rough ? 3e-5 : 1e-6;
    o.f_tolerance = some ? 1e-7 : rough ? 5e-8 : 1e-10;
    CR_TRY(cr_minimize(r->cx, &problem, &o, t, &done_report));
    for (size_t j = 0; j < u->size; j++) {
        x[j] = tied ? base[j] + t[u->tie[j]] : t[j];
        x[j] = fmin(fmax(x[j], u->lower[j]), u->upper[j]);
    }
    *out_value = -done_report.f;
    report->iterations += done_report.iterations;
    report->converged = done_report.stop != CR_END_MAX_ITER && done_report.stop != CR_END_TIME;
done:
    cr_scratch_end(&s);
    return st;
}

/* --- starts ---------------------------------------------------------------------------------- */

typedef struct start {
    double *x, value;
    double  length; /* in units; 0 for those not of the grid */
} start;

static void sort_starts(start *a, size_t n)
{
    for (size_t i = 1; i < n; i++)
        for (size_t j = i; j > 0 && a[j].value > a[j - 1].value; j--) {
            start keep = a[j];
            a[j] = a[j - 1];
            a[j - 1] = keep;
        }
}

/* All candidates with their values, best first: the grid, and the expression as it is. */
static cr_status try_starts(run *r, start *a, size_t *out_n)
{
    cr_status            st = CR_OK;
    const cri_gp_search *u = r->search;
    size_t               n = 0;
    for (size_t l = 0; l < (u->has_lengths ? LENGTHS : 1); l++)
        for (size_t e = 0; e < (u->size > u->p ? NOISES : 1); e++) {
            double length = u->has_lengths ? lengths[l] : 1;
            cri_gp_start(u, length, u->size > u->p ? noises[e] : 0.1, a[n].x);
            a[n++].length = length;
        }
    for (size_t j = 0; j < u->size; j++)
        a[n].x[j] = fmin(fmax(u->given[j], u->lower[j]), u->upper[j]);
    a[n++].length = 0;
    for (size_t i = 0; i < n; i++) CR_TRY(try_start(r, a[i].x, &a[i].value));
    sort_starts(a, n);
    *out_n = n;
done:
    return st;
}

/* Puts first those to climb from: the best two, the best of another length, and the expression as it
 * is when it says anything.  Returns how many. */
static size_t choose_starts(const cri_gp_search *u, start *a, size_t n)
{
    size_t chosen = n < 2 ? n : 2;
    for (size_t i = chosen; i < n; i++)
        if (a[i].length != a[0].length && a[i].length != a[1].length && a[i].length > 0) {
            start keep = a[i];
            memmove(a + chosen + 1, a + chosen, (i - chosen) * sizeof *a);
            a[chosen++] = keep;
            break;
        }
    for (size_t i = chosen; u->has_values && i < n; i++)
        if (a[i].length == 0) {
            start keep = a[i];
            memmove(a + chosen + 1, a + chosen, (i - chosen) * sizeof *a);
            a[chosen++] = keep;
            break;
        }
    while (chosen > 1 && isinf(a[chosen - 1].value)) chosen--;
    return chosen;
}

/* Drops starts that reached the value of one before them. */
static size_t drop_equals(start *a, size_t n)
{
    size_t kept = 0;
    sort_starts(a, n);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || a[kept - 1].value - a[i].value > 1e-3) {
            start keep = a[kept];
            a[kept++] = a[i];
            a[i] = keep;
        }
    return kept;
}

static cr_status make_starts(cr_scratch *s, size_t size, size_t n, start **out)
{
    start *a = cr_scratch_bytes(s, n, sizeof *a);
    for (size_t i = 0; a && i < n; i++) a[i].x = cr_scratch_f64(s, size);
    *out = a;
    return s->status;
}

/* --- the search ------------------------------------------------------------------------------ */

/* On some of the rows, or all: starts climbed from, best first. */
static cr_status search_starts(run *r, start *a, size_t room, size_t *out_n, cri_gp_learned *report)
{
    cr_status            st = CR_OK;
    const cri_gp_search *u = r->search;
    size_t               n = 0, chosen;
    CR_TRY(try_starts(r, a, &n));
    if (isinf(a[0].value) && r->objective == cri_gp_exact_objective) {
        CR_TRY(cr_kernel_set_theta(r->cx, r->k, a[0].x));
        CR_TRY(cri_gp_fail_singular(r->cx, r->problem, r->k, u->size > u->p ? exp(a[0].x[u->p]) : r->noise, n,
                                    ((cri_gp_exact_room *)r->method)->L));
    }
    if (isinf(a[0].value))
        CR_TRY(cr_fail(r->cx, CR_ENUMERIC, "gp: the covariance of the rows is not positive definite "
                                           "at any of %zu settings of the hyper-parameters", n));
    chosen = choose_starts(u, a, n);
    for (size_t i = 0; u->tied && i < chosen; i++)
        CR_TRY(climb(r, true, 50, a[i].x, &a[i].value, report));
    chosen = u->tied ? drop_equals(a, chosen) : chosen;
    if (u->tied && chosen < room) cri_gp_start(u, 2, 0.1, a[chosen++].x); /* a broad one */
    for (size_t i = 0; i < r->task->restarts && chosen < room; i++) {
        double value;
        cri_gp_start_random(u, r->task->seed, i, a[chosen].x);
        CR_TRY(try_start(r, a[chosen].x, &value));
        if (!isinf(value)) chosen++;
    }
    *out_n = chosen;
done:
    return st;
}

static cr_status climb_all(run *r, start *a, size_t n, cri_gp_learned *out)
{
    cr_status st = CR_OK;
    bool      converged = false;
    out->starts = n;
    for (size_t i = 0; i < n; i++) {
        cr_progress(r->cx, "gp: learning", (double)i, (double)n);
        CR_TRY(try_start(r, a[i].x, &a[i].value));
        if (isinf(a[i].value)) continue;
        CR_TRY(climb(r, false, r->task->max_iter, a[i].x, &a[i].value, out));
        if (!(a[i].value <= out->value)) { /* also when there is none yet */
            out->value = a[i].value;
            converged = out->converged;
        }
    }
    sort_starts(a, n);
    out->converged = converged;
    for (size_t i = 0; i < n; i++) out->agreed += out->value - a[i].value < 0.01;
done:
    return st;
}

/* Adds a parameter that stands at a bound; returns false when there is no more room. */
static bool add_bound(const char *name, bool low, bool given, char *text, size_t size, size_t *used)
{
    int length = snprintf(text + *used, size - *used, "%s%s (%s%s)", *used ? ", " : "", name,
                          low ? "lower" : "upper", given ? " as given" : "");
    *used += length > 0 ? (size_t)length : 0;
    if (*used < size) return true;
    *used = size - 1;
    return false;
}

static void tell_bounds(const run *r, const double *x, cri_gp_learned *out)
{
    const cri_gp_search *u = r->search;
    size_t               used = 0, count = cr_kernel_parameters(r->k);
    for (size_t i = 0, j = 0; i <= count && j < u->size; i++) {
        if (i < count && r->k->params[i].fixed) continue;
        double width = u->upper[j] - u->lower[j], reach = isfinite(width) ? 1e-6 * width : 0;
        bool   low = x[j] - u->lower[j] <= reach, high = u->upper[j] - x[j] <= reach;
        j++;
        if (!low && !high) continue;
        cr_kernel_parameter p = { .name = "noise" };
        if (i < count) p = cr_kernel_parameter_at(r->k, i);
        const cri_param *param = &r->k->params[i < count ? i : 0]; /* its natural limits are not given ones */
        bool given = i < count && isfinite(cri_to_theta(param, low ? param->lower : param->upper));
        if (!add_bound(p.name, low, given, out->at_bound, sizeof out->at_bound, &used)) break;
    }
}

/* The optimum of the few is not that of a bound, which likes more noise and longer scales: of some such
 * changes x [size] takes the best.  The noise goes up by fours, until it is as loud as the target. */
static cr_status adapt_start(run *r, double *x, double *best)
{
    cr_status            st = CR_OK;
    cr_scratch           s = cr_scratch_begin(r->cx);
    const cri_gp_search *u = r->search;
    double              *from = cr_scratch_f64(&s, u->size), *z = cr_scratch_f64(&s, u->size);
    double up = u->size > u->p ? (log(u->variance) - x[u->p]) / log(4) : 0;
    int    levels = (int)fmin(fmax(ceil(up) + 1, LOUDER), LOUDEST);

    CR_TRY(s.status);
    memcpy(from, x, u->size * sizeof *x);
    *best = -INFINITY;
    for (int step = 0; step < 2 * levels; step++) {
        double value, wider = step % 2 ? log(2) : 0, louder = (step / 2) * log(4);
        for (size_t j = 0; j < u->size; j++) {
            z[j] = from[j] + (u->kind[j] == CRI_GP_LENGTH  ? wider
                              : u->kind[j] == CRI_GP_NOISE ? louder
                                                           : 0);
            z[j] = fmin(fmax(z[j], u->lower[j]), u->upper[j]);
        }
        CR_TRY(try_start(r, z, &value));
        if (value <= *best) continue;
        *best = value;
        memcpy(x, z, u->size * sizeof *x);
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* Search and final climb on a set of rows: few of them first where there are many. */
static cr_status learn(cr_ctx *cx, run *r, start *a, size_t room, cri_gp_learned *out)
{
    cr_status             st = CR_OK;
    cr_scratch            s = cr_scratch_begin(cx);
    const cri_gp_problem *all = r->problem;
    cri_gp_data           part = { 0 };
    cri_gp_problem        few = *all;
    size_t                n = 0;

    if (all->data->n > r->task->search_rows) {
        CR_TRY(cri_gp_data_draw(cx, all->data, r->task->search_rows, r->task->seed, &part));
        double *H = cr_scratch_matrix(&s, part.n, all->q);
        CR_TRY(s.status);
        few.data = &part;
        few.H = H;
        for (size_t i = 0, k = 0; k < part.n; i++) /* the rows of H that were drawn */
            if (all->data->first[i] == part.first[k]) {
                memcpy(H + k * all->q, all->H + i * all->q, all->q * sizeof(double));
                k++;
            }
        r->problem = &few;
        if (r->task->search_objective) {
            r->objective = r->task->search_objective;
            r->method = r->task->search_method;
        }
        CR_TRY(search_starts(r, a, room, &n, out));
        for (size_t i = 0; i < n; i++) {
            CR_TRY(try_start(r, a[i].x, &a[i].value));
            if (!isinf(a[i].value))
                CR_TRY(climb(r, false, 100, a[i].x, &a[i].value, out));
        }
        n = drop_equals(a, n);
        r->problem = all;
        r->objective = r->task->objective;
        r->method = r->task->method;
        bool bound = r->task->objective != r->task->search_objective && r->task->search_objective;
        if (bound && n > 2) n = 2 + r->task->restarts < n ? 2 + r->task->restarts : n;
        for (size_t i = 0; i < n; i++)
            CR_TRY(bound ? adapt_start(r, a[i].x, &a[i].value) : try_start(r, a[i].x, &a[i].value));
        if (!bound) sort_starts(a, n);
        if (!bound && r->task->restarts == 0 && n > 1) n = all->data->n > 1000 ? 1 : 2;
    } else {
        CR_TRY(search_starts(r, a, room, &n, out));
    }
    CR_TRY(climb_all(r, a, n, out));
done:
    cri_gp_data_free(cx, &part);
    cr_scratch_end(&s);
    return st;
}

cr_status cri_gp_learn(cr_ctx *cx, const cri_gp_task *task, cr_kernel *k, double *noise,
                       cri_gp_learned *out)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(cx);
    size_t         room = LENGTHS * NOISES + 2 + task->restarts;
    cri_gp_search  search;
    cri_gp_learned learned = { .value = NAN };
    start         *a = NULL;
    run r = { .cx = cx, .task = task, .problem = task->problem, .objective = task->objective,
              .method = task->method, .search = &search, .noise = *noise };

    CR_TRY(cr_kernel_copy(cx, k, &r.k));
    CR_TRY(cri_gp_search_new(&s, k, task->problem, task->variance, *noise, task->learn_noise, &search));
    r.x = cr_scratch_f64(&s, search.p + 1);
    r.gradient = cr_scratch_f64(&s, search.p + 1);
    CR_TRY(make_starts(&s, search.p + 1, room, &a));
    if (search.size == 0) {
        CR_TRY(evaluate(&r, a[0].x, &learned.value, NULL));
        learned.converged = true;
    } else {
        CR_TRY(learn(cx, &r, a, room, &learned));
        CR_TRY(cr_kernel_set_theta(cx, k, a[0].x));
        if (task->learn_noise) *noise = exp(a[0].x[search.p]);
        tell_bounds(&r, a[0].x, &learned);
    }
    learned.evaluations = r.evaluations;
    *out = learned;
done:
    cr_kernel_free(cx, r.k);
    cr_scratch_end(&s);
    return st;
}

cr_status cri_gp_adapt(cr_ctx *cx, const cri_gp_task *task, cr_kernel *k, double *noise)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    size_t        p = cr_kernel_theta_size(k);
    double       *x = cr_scratch_f64(&s, p + 1), best;
    cri_gp_search u;
    run           r = { .cx = cx, .task = task, .problem = task->problem, .objective = task->objective,
                        .method = task->method, .search = &u, .noise = *noise };

    CR_TRY(s.status);
    CR_TRY(cr_kernel_copy(cx, k, &r.k));
    CR_TRY(cri_gp_search_new(&s, k, task->problem, task->variance, *noise, task->learn_noise, &u));
    cr_kernel_theta(k, x);
    x[p] = *noise > 0 ? log(*noise) : 0;
    if (u.size == 0) goto done;
    CR_TRY(adapt_start(&r, x, &best));
    if (isinf(best)) goto done;
    CR_TRY(cr_kernel_set_theta(cx, k, x));
    if (task->learn_noise) *noise = exp(x[p]);
done:
    cr_kernel_free(cx, r.k);
    cr_scratch_end(&s);
    return st;
}

/* --- how sure -------------------------------------------------------------------------------- */

/* B [m x m] = minus the second derivatives by the free parameters `at` [m]. */
static cr_status second_derivatives(run *r, const double *x, const size_t *at, size_t m, double *B)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(r->cx);
    size_t     p = r->search->p;
    double    *z = cr_scratch_f64(&s, p + 1), *up = cr_scratch_f64(&s, p + 1);
    double    *down = cr_scratch_f64(&s, p + 1), value, h = 1e-4;

    CR_TRY(s.status);
    for (size_t i = 0; i < m; i++) {
        memcpy(z, x, r->search->size * sizeof *z);
        z[at[i]] = x[at[i]] + h;
        CR_TRY(evaluate(r, z, &value, up));
        z[at[i]] = x[at[i]] - h;
        CR_TRY(evaluate(r, z, &value, down));
        for (size_t j = 0; j < m; j++) B[i * m + j] = (down[at[j]] - up[at[j]]) / (2 * h);
    }
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < i; j++)
            B[i * m + j] = B[j * m + i] = 0.5 * (B[i * m + j] + B[j * m + i]);
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_gp_spread(cr_ctx *cx, const cri_gp_task *task, const cr_kernel *k, double noise,
                        double *out)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    size_t        m = 0, p = cr_kernel_theta_size(k);
    cri_gp_search u;
    run           r = { .cx = cx, .task = task, .problem = task->problem, .objective = task->objective,
                        .method = task->method, .search = &u, .noise = noise };
    double       *x = cr_scratch_f64(&s, p + 1), *B = cr_scratch_matrix(&s, p + 1, p + 1);
    size_t       *at = cr_scratch_index(&s, p + 1);

    CR_TRY(s.status);
    CR_TRY(cr_kernel_copy(cx, k, &r.k));
    CR_TRY(cri_gp_search_new(&s, k, task->problem, task->variance, noise, task->learn_noise, &u));
    cr_kernel_theta(k, x);
    x[p] = noise > 0 ? log(noise) : 0;
    for (size_t j = 0; j <= p; j++) out[j] = NAN;
    for (size_t j = 0; j < u.size; j++)
        if (x[j] > u.lower[j] + 1e-3 && x[j] < u.upper[j] - 1e-3) at[m++] = j;
    st = second_derivatives(&r, x, at, m, B);
    if (st == CR_OK) st = cr_chol(cx, cr_mat_of(B, m, m));
    if (st == CR_OK) st = cr_chol_inverse(cx, cr_cmat_of(B, m, m), cr_mat_of(B, m, m));
    for (size_t i = 0; st == CR_OK && i < m; i++) /* beyond e^5 the data say nothing */
        out[at[i]] = B[i * m + i] < 25 ? sqrt(B[i * m + i]) : NAN;
    if (st == CR_ENUMERIC) st = CR_OK; /* flat or at no maximum: nothing to tell */
done:
    cr_kernel_free(cx, r.k);
    cr_scratch_end(&s);
    return st;
}
