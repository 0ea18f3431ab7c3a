/* gp_learn.c -- the search for the best hyper-parameters. */
#include "gp_optima.h"
#include "base/scratch.h"
#include "math/kernel/kernel_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BOUND_ROWS = 4096 };      /* that a bound over many is maximised on first */
enum { STAGE = 3 };              /* times as many rows in the next stage of a search */
static const double ROUGHLY = 2; /* nats that a rough run may leave */
static const double WORTH =
    4; /* evaluations of all rows that second derivatives of some may cost */

cr_status cri_gp_exact_objective(cr_ctx *cx, void *method, const cri_gp_problem *problem,
                                 const cr_kernel *k, double noise, double *out_value,
                                 double *opt_gradient)
{
    cr_status               st = CR_OK;
    cri_gp_exact_workspace *workspace = method;
    cr_kernel              *settled = NULL;
    CR_TRY(cri_kernel_settled(cx, k, false, &settled));
    if (settled) k = settled;
    CR_TRY(
        cri_gp_solve(cx, problem, k, noise, CRI_GP_NO_JITTER, workspace->L, &workspace->solution));
    if (opt_gradient)
        CR_TRY(cri_gp_gradient(cx, problem, k, noise, &workspace->solution, workspace->L,
                               opt_gradient));
    *out_value = workspace->solution.log_evidence;
done:
    cr_kernel_free(cx, settled);
    return st;
}

/* true when the search has ascended roughly to the optimum from there over all rows. */
static bool is_top(const cri_gp_optimiser *r, const cri_gp_point *at)
{
    return r->learning->screen_rows > 0 && at->iterations > 0;
}

/* From each start to the optimum, closely from the best. */
static cr_status ascend_all(cri_gp_optimiser *r, cri_gp_start_at *a, size_t n, cri_gp_learned *out)
{
    cr_status st = CR_OK;
    size_t    most = r->learning->max_iter;
    out->starts = n;
    for (size_t i = 0; i < n; i++) {
        if (is_top(r, &a[i].at) && a[i].at.value < out->value - ROUGHLY) continue;
        CR_TRY(cri_gp_try(r, a[i].at.x, true, &a[i].at.value));
        if (isinf(a[i].at.value)) continue;
        cri_gp_care care = isnan(out->value) ? CRI_GP_FINE : CRI_GP_ROUGH;
        CR_TRY(cri_gp_ascend(r, false, care, most, a[i].curvature, &a[i].at));
        if (a[i].at.value <= out->value) continue;
        if (care == CRI_GP_ROUGH)
            CR_TRY(cri_gp_ascend(r, false, CRI_GP_FINE, most, NULL, &a[i].at));
        out->value = a[i].at.value;
    }
    cri_gp_sort_starts(a, n);
    if (a[0].at.stop == CR_STOP_NO_PROGRESS && cri_gp_may_ascend(r, &a[0].at)) {
        CR_TRY(cri_gp_ascend(r, false, CRI_GP_FINE, most, NULL, &a[0].at)); /* along the gradient */
        out->value = fmax(out->value, a[0].at.value);
    }
    if (isnan(out->value)) CR_TRY(cri_gp_fail_starts(r, a, n));
done:
    return st;
}

/* The curvature at each start, from some of the rows: a good deal cheaper than to learn it on the
 * way. */
static cr_status look_ahead(cr_scratch *s, cri_gp_optimiser *r, const cri_gp_problem *few,
                            cri_gp_start_at *a, size_t n)
{
    cr_status             st = CR_OK;
    const cri_gp_problem *all = r->problem;
    double                ratio = all->data->count / few->data->count;
    r->problem = few;
    for (size_t i = 0; i < n; i++) {
        double *A = cr_scratch_matrix(s, r->space.size, r->space.size);
        CR_TRY(s->status);
        st = cri_gp_hessian_ahead(r, a[i].at.x, ratio, A);
        if (st == CR_OK) a[i].curvature = A; /* at the edge of what has a value there is none */
        if (st == CR_ENUMERIC) st = CR_OK;
        CR_TRY(st);
    }
done:
    r->problem = all;
    return st;
}

/* Starts ascended from on some of the rows, best first. */
static cr_status search_few(cri_gp_optimiser *r, const cri_gp_problem *few, cri_gp_start_at *a,
                            size_t *n)
{
    cr_status             st = CR_OK;
    const cri_gp_problem *all = r->problem;
    r->problem = few;
    if (r->learning->search_objective) {
        r->objective = r->learning->search_objective;
        r->workspace = r->learning->search_workspace;
    }
    CR_TRY(cri_gp_search_starts(r, a, n));
    CR_TRY(cri_gp_ascend_roughly(r, a, n));
    CR_TRY(cri_gp_renew_terms(r, &a[0].at));
    if (r->learning->restarts == 0) *n = cri_gp_drop_hopeless(a, *n, *n);
    for (size_t i = 0; i < *n; i++) a[i].at.iterations = 0; /* those over all rows count */
done:
    r->problem = all;
    r->objective = r->learning->objective;
    r->workspace = r->learning->workspace;
    return st;
}

/* From the exact evidence of few rows to a bound over all of them: starts that suit it, ascended from
 * on some of the rows where there are many, and the curvature there. */
static cr_status go_over_to_bound(cr_scratch *s, cri_gp_optimiser *r, cri_gp_start_at *a, size_t *n)
{
    cr_status             st = CR_OK;
    const cri_gp_problem *all = r->problem;
    cri_gp_data           part = { 0 };
    cri_gp_problem        some = *all;
    bool                  many = all->data->n > 2 * BOUND_ROWS;
    size_t                most = 2 + r->learning->restarts;

    if (*n > most) *n = most;
    if (many) CR_TRY(cri_gp_draw_problem(s, all, BOUND_ROWS, r->learning->seed, &part, &some));
    r->problem = &some;
    for (size_t i = 0; i < *n; i++) CR_TRY(cri_gp_adapt_point(r, a[i].at.x, &a[i].at.value));
    if (!many) goto done;
    CR_TRY(cri_gp_ascend_roughly(r, a, n));
    if (r->learning->restarts == 0) *n = cri_gp_drop_hopeless(a, *n, 1);
    for (size_t i = 0; i < *n; i++) a[i].at.iterations = 0;
    r->problem = all;
    CR_TRY(look_ahead(s, r, &some, a, *n));
done:
    r->problem = all;
    cri_gp_data_free(r->cx, &part);
    return st;
}

/* From the few to all rows: which starts, by their values there, and what is known of the
 * curvature. */
static cr_status go_over(cr_scratch *s, cri_gp_optimiser *r, const cri_gp_problem *few,
                         cri_gp_start_at *a, size_t *n)
{
    cr_status st = CR_OK;
    size_t    rows = r->problem->data->n;
    double    share = (double)few->data->n / (double)rows;
    if (r->learning->objective != r->learning->search_objective && r->learning->search_objective) {
        CR_TRY(go_over_to_bound(s, r, a, n));
        goto done;
    }
    for (size_t i = 0; i < *n; i++) CR_TRY(cri_gp_try(r, a[i].at.x, false, &a[i].at.value));
    cri_gp_sort_starts(a, *n);
    if (r->learning->restarts == 0 && *n > 1) *n = rows > 1000 ? 1 : 2;
    if ((double)r->space.size * share * share < WORTH) CR_TRY(look_ahead(s, r, few, a, *n));
done:
    return st;
}

/* Starts, best first, ascended from on some of the rows, go on to a larger draw of them. */
static cr_status refine(cr_scratch *s, cri_gp_optimiser *r, const cri_gp_problem *few,
                        const cri_gp_problem *more, cri_gp_start_at *a, size_t *n)
{
    cr_status             st = CR_OK;
    const cri_gp_problem *all = r->problem;
    r->problem = more;
    CR_TRY(go_over(s, r, few, a, n));
    for (size_t i = 0; i < *n; i++) {
        CR_TRY(cri_gp_try(r, a[i].at.x, true, &a[i].at.value));
        if (!isinf(a[i].at.value))
            CR_TRY(cri_gp_ascend(r, false, CRI_GP_ROUGH, r->learning->max_iter, a[i].curvature,
                                 &a[i].at));
        a[i].at.iterations = 0;
        a[i].curvature = NULL;
    }
    cri_gp_sort_starts(a, *n);
done:
    r->problem = all;
    return st;
}

/* The search on few rows, then on more and more of them, STAGE times as many each time, up to all: these
 * are then evaluated a few times only, from the optimum of a good part of them and the curvature
 * there. */
static cr_status search_in_stages(cr_scratch *s, cri_gp_optimiser *r, cri_gp_start_at *a, size_t *n)
{
    cr_status             st = CR_OK;
    const cri_gp_problem *all = r->problem;
    cri_gp_data           part[2] = { { 0 }, { 0 } };
    cri_gp_problem        few[2];
    size_t                at = 0, few_rows = r->learning->search_rows, share = 1;
    bool                  bound =
        r->learning->search_objective && r->learning->objective != r->learning->search_objective;

    CR_TRY(cri_gp_draw_problem(s, all, few_rows, r->learning->seed, &part[at], &few[at]));
    CR_TRY(search_few(r, &few[at], a, n));
    while (!bound && all->data->n / (share * STAGE) > few_rows) share *= STAGE;
    for (; share > 1; share /= STAGE) {
        size_t next = 1 - at, rows = all->data->n / share;
        cri_gp_data_free(r->cx, &part[next]);
        r->seen_problem = NULL; /* other rows come to the same place */
        CR_TRY(cri_gp_draw_problem(s, all, rows, r->learning->seed, &part[next], &few[next]));
        CR_TRY(refine(s, r, &few[at], &few[next], a, n));
        at = next;
    }
    CR_TRY(go_over(s, r, &few[at], a, n));
done:
    cri_gp_data_free(r->cx, &part[0]);
    cri_gp_data_free(r->cx, &part[1]);
    return st;
}

/* The parameters of the kernel as the only start. */
static cr_status start_here(cri_gp_optimiser *r, cri_gp_start_at *a, size_t *n)
{
    cr_kernel_theta(r->k, a[0].at.x);
    if (r->space.size > r->space.p) a[0].at.x[r->space.p] = log(r->noise);
    *n = 1;
    return cri_gp_try(r, a[0].at.x, true, &a[0].at.value);
}

/* Search and final run on a set of rows: few of them first where there are many. */
static cr_status learn(cr_ctx *cx, cri_gp_optimiser *r, cri_gp_start_at *a, cri_gp_learned *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = 0;
    bool       near = r->learning->near, many = r->problem->data->n > r->learning->search_rows;

    CR_TRY(near   ? start_here(r, a, &n)
           : many ? search_in_stages(&s, r, a, &n)
                  : cri_gp_search_starts(r, a, &n));
    CR_TRY(ascend_all(r, a, n, out));
    if (!many && !near) CR_TRY(cri_gp_renew_terms(r, &a[0].at));
    out->value = fmax(out->value, a[0].at.value);
    out->iterations = a[0].at.iterations;
    out->stop = a[0].at.stop;
    for (size_t i = 0; i < n; i++) out->agreed += out->value - a[i].at.value < 0.01;
done:
    cr_scratch_end(&s);
    return st;
}

void cri_gp_report_expired(cr_ctx *cx, size_t evaluations, size_t some, size_t all)
{
    char of[64] = "";
    if (some < all) snprintf(of, sizeof of, ", by %zu of %zu inputs", some, all);
    cr_log(cx, CR_LOG_WARNING,
           "the time limit ended the search for hyper-parameters after %zu evaluations: these are "
           "the best so far%s",
           evaluations, of);
}

/* What a search that had to end leaves. */
static void take_best(cri_gp_optimiser *r, cri_gp_point *at, cri_gp_learned *out)
{
    memcpy(at->x, r->best, r->space.size * sizeof *at->x);
    at->value = r->best_value;
    out->expired = true;
    out->stop = CR_STOP_TIME;
    cri_gp_report_expired(r->cx, r->evaluations, r->best_rows, r->learning->problem->data->n);
}

cr_status cri_gp_learn(cr_ctx *cx, const cri_gp_learning *learning, cr_kernel *k, double *noise,
                       cri_gp_learned *out)
{
    cr_status        st = CR_OK;
    cr_scratch       s = cr_scratch_begin(cx);
    size_t           workspace = CRI_GP_MOST_STARTS + learning->restarts;
    cri_gp_learned   learned = { .value = NAN };
    cri_gp_start_at *a = NULL;
    cri_gp_optimiser r = { .cx = cx };

    CR_TRY(cri_gp_optimiser_begin(&s, learning, k, *noise, &r));
    CR_TRY(cri_gp_starts_new(&s, r.space.p + 1, workspace, &a));
    if (r.space.size == 0) {
        CR_TRY(cri_gp_evaluate(&r, a[0].at.x, &learned.value, NULL));
    } else {
        st = learn(cx, &r, a, &learned);
        if (st == CR_OK) st = cri_gp_drop_terms(&r, &a[0].at, true);
        if (st != CR_OK && r.expired && !cri_gp_is_hopeless(&r)) {
            take_best(&r, &a[0].at, &learned);
            st = CR_OK;
        }
        CR_TRY(st);
        learned.value = a[0].at.value;
        CR_TRY(cr_kernel_set_theta(cx, k, a[0].at.x));
        if (learning->learn_noise) *noise = exp(a[0].at.x[r.space.p]);
        cri_gp_name_bounds(&r, a[0].at.x, learned.at_bound, sizeof learned.at_bound);
    }
    learned.evaluations = r.evaluations;
    learned.refused = r.refused;
    *out = learned;
done:
    cri_gp_optimiser_end(&r);
    cr_scratch_end(&s);
    return st;
}
