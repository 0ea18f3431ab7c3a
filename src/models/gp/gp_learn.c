/* gp_learn.c -- the search for the best hyper-parameters. */
#include "gp_climb.h"
#include "gp_lowrank_evidence.h"
#include "../../base/scratch.h"
#include "../../math/kernel/kernel_internal.h"

#include <math.h>
#include <string.h>

enum { LENGTHS = 4, NOISES = 4 };
enum { BOUND_ROWS = 4096 }; /* that a bound over many is climbed on first */
enum { RANDOM = 6, MOST_RANDOM = 20, KEPT = 4, KEPT_FEW = 2, ROUGH_STEPS = 100 };
static const double lengths[LENGTHS] = { 0.05, 0.2, 0.6, 2 };
static const double noises[NOISES] = { 0.001, 0.01, 0.1, 0.5 };
static const double HOPELESS = 40; /* nats below the best of some of the rows */
static const double WORTH =
    4; /* evaluations of all rows that second derivatives of some may cost */

cr_status cri_gp_exact_objective(cr_ctx *cx, void *method, const cri_gp_problem *problem,
                                 const cr_kernel *k, double noise, double *out_value,
                                 double *opt_gradient)
{
    cr_status          st = CR_OK;
    cri_gp_exact_room *room = method;
    cr_kernel         *settled = NULL;
    CR_TRY(cri_kernel_settled(cx, k, false, &settled));
    if (settled) k = settled;
    CR_TRY(cri_gp_solve(cx, problem, k, noise, CRI_GP_NO_JITTER, room->L, &room->solution));
    if (opt_gradient)
        CR_TRY(cri_gp_gradient(cx, problem, k, noise, &room->solution, room->L, opt_gradient));
    *out_value = room->solution.log_evidence;
done:
    cr_kernel_free(cx, settled);
    return st;
}

/* --- starts ---------------------------------------------------------------------------------- */

typedef struct start {
    cri_gp_point at;
    double      *curvature; /* [size x size], or NULL */
    double       length;    /* in units; 0 for those not of the grid */
} start;

static void sort_starts(start *a, size_t n)
{
    for (size_t i = 1; i < n; i++)
        for (size_t j = i; j > 0 && a[j].at.value > a[j - 1].at.value; j--) {
            start keep = a[j];
            a[j] = a[j - 1];
            a[j - 1] = keep;
        }
}

/* All candidates with their values, best first: the grid, and the expression as it is. */
static cr_status try_starts(cri_gp_run *r, start *a, size_t *out_n)
{
    cr_status            st = CR_OK;
    const cri_gp_search *u = &r->search;
    size_t               n = 0;
    for (size_t l = 0; l < (u->has_lengths ? LENGTHS : 1); l++)
        for (size_t e = 0; e < (u->size > u->p ? NOISES : 1); e++) {
            double length = u->has_lengths ? lengths[l] : 1;
            cri_gp_start(u, length, u->size > u->p ? noises[e] : 0.1, a[n].at.x);
            a[n++].length = length;
        }
    for (size_t j = 0; j < u->size; j++)
        a[n].at.x[j] = fmin(fmax(u->given[j], u->lower[j]), u->upper[j]);
    a[n++].length = 0;
    for (size_t i = 0; i < n; i++) CR_TRY(cri_gp_try(r, a[i].at.x, false, &a[i].at.value));
    sort_starts(a, n);
    *out_n = n;
done:
    return st;
}

/* Puts start i next to the `chosen` first ones; returns how many these are then. */
static size_t choose(start *a, size_t chosen, size_t i)
{
    start keep = a[i];
    memmove(a + chosen + 1, a + chosen, (i - chosen) * sizeof *a);
    a[chosen] = keep;
    return chosen + 1;
}

/* true when one of n starts has this length. */
static bool has_length(const start *a, size_t n, double length)
{
    for (size_t i = 0; i < n; i++)
        if (a[i].length == length) return true;
    return false;
}

/* Puts first those to climb from: the best two, the best of other lengths (`most` of these), and the
 * expression as it is when it says anything.  Returns how many. */
static size_t choose_starts(const cri_gp_search *u, start *a, size_t n, size_t most)
{
    size_t chosen = n < 2 ? n : 2;
    for (size_t i = chosen; i < n && most > 0; i++)
        if (a[i].length > 0 && !has_length(a, chosen, a[i].length))
            chosen = choose(a, chosen, i), most--;
    for (size_t i = chosen; u->has_values && i < n; i++)
        if (a[i].length == 0) {
            chosen = choose(a, chosen, i);
            break;
        }
    while (chosen > 1 && isinf(a[chosen - 1].at.value)) chosen--;
    return chosen;
}

/* Drops starts that reached the value of one before them. */
static size_t drop_equals(start *a, size_t n)
{
    size_t kept = 0;
    sort_starts(a, n);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || a[kept - 1].at.value - a[i].at.value > 1e-3) {
            start keep = a[kept];
            a[kept++] = a[i];
            a[i] = keep;
        }
    return kept;
}

/* Of n starts, best first, those to go on with over more rows, `most` or less: a difference of some
 * nats may turn there, one of very many does not. */
static size_t drop_hopeless(const start *a, size_t n, size_t most)
{
    if (n > most) n = most;
    while (n > 1 && a[n - 1].at.value < a[0].at.value - HOPELESS) n--;
    return n;
}

/* A start that nothing is known of. */
static void begin(start *a) { *a = (start){ .at = { .x = a->at.x } }; }

static cr_status make_starts(cr_scratch *s, size_t size, size_t n, start **out)
{
    start *a = cr_scratch_bytes(s, n, sizeof *a);
    for (size_t i = 0; a && i < n; i++) a[i].at.x = cr_scratch_f64(s, size);
    *out = a;
    return s->status;
}

/* --- the search ------------------------------------------------------------------------------ */

/* `most` of the rows of a problem, with their H of the scratch; cri_gp_data_free(part). */
static cr_status draw_rows(cr_scratch *s, const cri_gp_problem *all, size_t most, uint64_t seed,
                           cri_gp_data *part, cri_gp_problem *out)
{
    cr_status st = CR_OK;
    CR_TRY(cri_gp_data_draw(s->cx, all->data, most, seed, part));
    double *H = cr_scratch_matrix(s, part->n, all->q);
    CR_TRY(s->status);
    for (size_t i = 0, k = 0; k < part->n; i++)
        if (all->data->first[i] == part->first[k]) {
            for (size_t c = 0; c < all->q; c++) H[k * all->q + c] = all->H[i * all->q + c];
            k++;
        }
    *out = (cri_gp_problem){ .data = part, .H = H, .q = all->q };
done:
    return st;
}

/* None of n starts has a value. */
static cr_status fail_singular(cri_gp_run *r, const start *a, size_t n)
{
    const cri_gp_search *u = &r->search;
    double               noise = u->size > u->p ? exp(a[0].at.x[u->p]) : r->noise;
    bool dense = r->objective == cri_gp_exact_objective || r->objective == cri_gp_quick_objective;
    if (!dense)
        return cr_fail(r->cx, CR_ENUMERIC,
                       "gp: the covariance of the rows is not positive definite "
                       "at any of %zu settings of the hyper-parameters",
                       n);
    cr_status st = cr_kernel_set_theta(r->cx, r->k, a[0].at.x);
    return st != CR_OK ? st
                       : cri_gp_fail_singular(r->cx, r->problem, r->k, noise, n,
                                              ((cri_gp_exact_room *)r->method)->L);
}

/* Starts made of the data: the best of the grid, lengths of several columns moved together, and a
 * broad one. */
static cr_status make_first(cri_gp_run *r, start *a, size_t *out_n)
{
    cr_status            st = CR_OK;
    const cri_gp_search *u = &r->search;
    size_t               n = 0, chosen;
    CR_TRY(try_starts(r, a, &n));
    if (isinf(a[0].at.value)) CR_TRY(fail_singular(r, a, n));
    chosen = choose_starts(u, a, n, r->task->screen_rows ? LENGTHS : 1);
    for (size_t i = 0; u->tied && i < chosen; i++)
        CR_TRY(cri_gp_climb(r, true, CRI_GP_ROUGH, 50, NULL, &a[i].at));
    chosen = u->tied ? drop_equals(a, chosen) : chosen;
    if (u->tied) {
        begin(&a[chosen]);
        cri_gp_start(u, 2, 0.1, a[chosen++].at.x); /* a broad one */
    }
    *out_n = chosen;
done:
    return st;
}

/* Adds random starts that have a value, the first of them number `from`. */
static cr_status add_random(cri_gp_run *r, size_t from, size_t count, start *a, size_t *n)
{
    cr_status st = CR_OK;
    for (size_t i = 0; i < count; i++) {
        begin(&a[*n]);
        cri_gp_start_random(&r->search, r->task->seed, from + i, a[*n].at.x);
        CR_TRY(cri_gp_try(r, a[*n].at.x, false, &a[*n].at.value));
        *n += !isinf(a[*n].at.value);
    }
done:
    return st;
}

/* Roughly to the top from each start; *n different ones are left, best first. */
static cr_status climb_roughly(cri_gp_run *r, start *a, size_t *n)
{
    cr_status st = CR_OK;
    for (size_t i = 0; i < *n; i++) {
        CR_TRY(cri_gp_try(r, a[i].at.x, true, &a[i].at.value));
        if (!isinf(a[i].at.value))
            CR_TRY(cri_gp_climb(r, false, CRI_GP_ROUGH, ROUGH_STEPS, NULL, &a[i].at));
    }
    *n = drop_equals(a, *n);
done:
    return st;
}

/* The optima of the rows of the run, best first.  Many starts are climbed from where that costs
 * little, on some of the rows; a few optima go on with twice as many rows, and again, until these
 * are all of them. */
static cr_status find_optima(cri_gp_run *r, start *a, size_t *n)
{
    cr_status             st = CR_OK;
    cr_scratch            s = cr_scratch_begin(r->cx);
    const cri_gp_problem *all = r->problem;
    size_t                rows = all->data->n, least = r->task->screen_rows, more = 0;
    cri_gp_data           part = { 0 };
    cri_gp_problem        few;

    *n = 0;
    if (rows > least) {
        size_t some = rows / 2 > least + least / 2 ? rows / 2 : least;
        CR_TRY(draw_rows(&s, all, some, r->task->seed, &part, &few));
        r->problem = &few;
        CR_TRY(find_optima(r, a, n));
        r->problem = all;
        *n = drop_hopeless(a, *n, rows > 2 * least ? KEPT_FEW : KEPT);
        for (size_t i = 0; i < *n; i++) a[i].at.iterations = 0;
    }
    if (rows <= 2 * least) CR_TRY(make_first(r, a + *n, &more));
    *n += more;
    size_t random = RANDOM * least / rows; /* the more, the less they cost */
    if (rows <= least && r->search.tied)
        CR_TRY(add_random(r, r->task->restarts, random < MOST_RANDOM ? random : MOST_RANDOM, a, n));
    CR_TRY(climb_roughly(r, a, n));
    for (size_t i = 0; i < *n && i < (rows > least ? 1 : KEPT); i++)
        CR_TRY(cri_gp_renew_columns(r, &a[i].at));
    sort_starts(a, *n);
    if (rows <= least) CR_TRY(cri_gp_renew_periods(r, &a[0].at));
done:
    r->problem = all;
    cri_gp_data_free(r->cx, &part);
    cr_scratch_end(&s);
    return st;
}

/* On some of the rows, or all: where to climb from, best first. */
static cr_status search_starts(cri_gp_run *r, start *a, size_t *out_n)
{
    cr_status st = CR_OK;
    CR_TRY(r->task->screen_rows ? find_optima(r, a, out_n) : make_first(r, a, out_n));
    CR_TRY(add_random(r, 0, r->task->restarts, a, out_n));
done:
    return st;
}

/* From each start to the top, to the very top from the best. */
static cr_status climb_all(cri_gp_run *r, start *a, size_t n, cri_gp_learned *out)
{
    cr_status st = CR_OK;
    size_t    most = r->task->max_iter;
    out->starts = n;
    for (size_t i = 0; i < n; i++) {
        r->climbs = n, r->climbing = i, r->begun = r->evaluations;
        CR_TRY(cri_gp_try(r, a[i].at.x, true, &a[i].at.value));
        if (isinf(a[i].at.value)) continue;
        cri_gp_care care = isnan(out->value) ? CRI_GP_FINE : CRI_GP_ROUGH;
        CR_TRY(cri_gp_climb(r, false, care, most, a[i].curvature, &a[i].at));
        if (a[i].at.value <= out->value) continue;
        if (care == CRI_GP_ROUGH) CR_TRY(cri_gp_climb(r, false, CRI_GP_FINE, most, NULL, &a[i].at));
        out->value = a[i].at.value;
    }
    cr_progress(r->cx, "gp: learning", (double)n, (double)n);
    sort_starts(a, n);
    if (isnan(out->value)) CR_TRY(fail_singular(r, a, n));
done:
    r->climbs = 0;
    return st;
}

/* The curvature at each start, from some of the rows: a good deal cheaper than to learn it on the
 * way. */
static cr_status look_ahead(cr_scratch *s, cri_gp_run *r, const cri_gp_problem *few, start *a,
                            size_t n)
{
    cr_status             st = CR_OK;
    const cri_gp_problem *all = r->problem;
    double                ratio = all->data->count / few->data->count;
    r->problem = few;
    for (size_t i = 0; i < n; i++) {
        double *A = cr_scratch_matrix(s, r->search.size, r->search.size);
        CR_TRY(s->status);
        st = cri_gp_curvature_ahead(r, a[i].at.x, ratio, A);
        if (st == CR_OK) a[i].curvature = A; /* at the edge of what has a value there is none */
        if (st == CR_ENUMERIC) st = CR_OK;
        CR_TRY(st);
    }
done:
    r->problem = all;
    return st;
}

/* Starts climbed from on some of the rows, best first. */
static cr_status search_few(cri_gp_run *r, const cri_gp_problem *few, start *a, size_t *n)
{
    cr_status             st = CR_OK;
    const cri_gp_problem *all = r->problem;
    r->problem = few;
    if (r->task->search_objective) {
        r->objective = r->task->search_objective;
        r->method = r->task->search_method;
    }
    CR_TRY(search_starts(r, a, n));
    CR_TRY(climb_roughly(r, a, n));
    CR_TRY(cri_gp_renew_terms(r, &a[0].at));
    if (r->task->restarts == 0) *n = drop_hopeless(a, *n, *n);
    for (size_t i = 0; i < *n; i++) a[i].at.iterations = 0; /* those over all rows count */
done:
    r->problem = all;
    r->objective = r->task->objective;
    r->method = r->task->method;
    return st;
}

/* From the exact evidence of few rows to a bound over all of them: starts that suit it, climbed from
 * on some of the rows where there are many, and the curvature there. */
static cr_status go_over_to_bound(cr_scratch *s, cri_gp_run *r, start *a, size_t *n)
{
    cr_status             st = CR_OK;
    const cri_gp_problem *all = r->problem;
    cri_gp_data           part = { 0 };
    cri_gp_problem        some = *all;
    bool                  many = all->data->n > 2 * BOUND_ROWS;
    size_t                most = 2 + r->task->restarts;

    if (*n > most) *n = most;
    if (many) CR_TRY(draw_rows(s, all, BOUND_ROWS, r->task->seed, &part, &some));
    r->problem = &some;
    for (size_t i = 0; i < *n; i++) CR_TRY(cri_gp_adapt_point(r, a[i].at.x, &a[i].at.value));
    if (!many) goto done;
    CR_TRY(climb_roughly(r, a, n));
    if (r->task->restarts == 0) *n = drop_hopeless(a, *n, 1);
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
static cr_status go_over(cr_scratch *s, cri_gp_run *r, const cri_gp_problem *few, start *a,
                         size_t *n)
{
    cr_status st = CR_OK;
    size_t    rows = r->problem->data->n;
    double    share = (double)few->data->n / (double)rows;
    if (r->task->objective != r->task->search_objective && r->task->search_objective) {
        CR_TRY(go_over_to_bound(s, r, a, n));
        goto done;
    }
    for (size_t i = 0; i < *n; i++) CR_TRY(cri_gp_try(r, a[i].at.x, false, &a[i].at.value));
    sort_starts(a, *n);
    if (r->task->restarts == 0 && *n > 1) *n = rows > 1000 ? 1 : 2;
    if ((double)r->search.size * share * share < WORTH) CR_TRY(look_ahead(s, r, few, a, *n));
done:
    return st;
}

/* Search and final climb on a set of rows: few of them first where there are many. */
static cr_status learn(cr_ctx *cx, cri_gp_run *r, start *a, cri_gp_learned *out)
{
    cr_status             st = CR_OK;
    cr_scratch            s = cr_scratch_begin(cx);
    const cri_gp_problem *all = r->problem;
    cri_gp_data           part = { 0 };
    cri_gp_problem        few = *all;
    size_t                n = 0;
    bool                  many = all->data->n > r->task->search_rows;

    if (many) {
        CR_TRY(draw_rows(&s, all, r->task->search_rows, r->task->seed, &part, &few));
        CR_TRY(search_few(r, &few, a, &n));
        CR_TRY(go_over(&s, r, &few, a, &n));
    } else {
        CR_TRY(search_starts(r, a, &n));
    }
    CR_TRY(climb_all(r, a, n, out));
    if (!many) CR_TRY(cri_gp_renew_terms(r, &a[0].at));
    out->value = fmax(out->value, a[0].at.value);
    out->iterations = a[0].at.iterations;
    out->stop = a[0].at.stop;
    for (size_t i = 0; i < n; i++) out->agreed += out->value - a[i].at.value < 0.01;
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
    size_t         room = LENGTHS * NOISES + 2 + KEPT + MOST_RANDOM + task->restarts;
    cri_gp_learned learned = { .value = NAN };
    start         *a = NULL;
    cri_gp_run     r = { .cx = cx };

    CR_TRY(cri_gp_run_begin(&s, task, k, *noise, &r));
    CR_TRY(make_starts(&s, r.search.p + 1, room, &a));
    if (r.search.size == 0) {
        CR_TRY(cri_gp_evaluate(&r, a[0].at.x, &learned.value, NULL));
    } else {
        CR_TRY(learn(cx, &r, a, &learned));
        CR_TRY(cri_gp_drop_terms(&r, &a[0].at, true));
        learned.value = a[0].at.value;
        CR_TRY(cr_kernel_set_theta(cx, k, a[0].at.x));
        if (task->learn_noise) *noise = exp(a[0].at.x[r.search.p]);
        cri_gp_name_bounds(&r, a[0].at.x, learned.at_bound, sizeof learned.at_bound);
    }
    learned.evaluations = r.evaluations;
    learned.refused = r.refused;
    *out = learned;
done:
    cri_gp_run_end(&r);
    cr_scratch_end(&s);
    return st;
}
