/* gp_optima.c -- starts of many kinds, and the optima that they lead to. */
#include "gp_optima.h"
#include "gp_lowrank_evidence.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

enum { LENGTHS = 5, NOISES = 4 };
enum { RANDOM = 6, MOST_RANDOM = 20, BEST_OF = 8 };
enum { KEPT = 4, KEPT_FEW = 2, RENEWED = 6 };
enum { GLANCE = 8, ROUGH_STEPS = 100, SURE = 2 };
enum { MOST_TERMS = 4 };
static const double lengths[LENGTHS] = { 0.05, 0.2, 0.6, 2, 10 };
static const double noises[NOISES] = { 0.001, 0.01, 0.1, 0.5 };
static const double CLEAR = 1e-6; /* of the target's variance: a noise that is none */
static const double clear_noises[NOISES] = { 1e-6, 1e-4, 0.01, 0.1 };
static const double CHEAP = 8e6;   /* n^3 for each of the starts that cost little */
static const double HOPELESS = 40; /* nats below the best of some of the rows */
static const double LACK = 10;     /* nats below the best after a glance that may yet be gained */
static const double LACK_CLEAR = 100; /* where the best leaves no noise: a climb of many nats */
static const double ALIKE = 0.02;     /* nats: the same optimum, or as good as */
static const double NEAR = 0.4;       /* by t: on the way to the same optimum */
_Static_assert(LENGTHS *NOISES + 3 + KEPT + MOST_TERMS + 2 * MOST_RANDOM <= CRI_GP_MOST_STARTS,
               "there is room for all starts");

void cri_gp_sort_starts(cri_gp_start_at *a, size_t n)
{
    for (size_t i = 1; i < n; i++)
        for (size_t j = i; j > 0 && a[j].at.value > a[j - 1].at.value; j--) {
            cri_gp_start_at keep = a[j];
            a[j] = a[j - 1];
            a[j - 1] = keep;
        }
}

/* All candidates with their values, best first: the grid, and the expression as it is. */
static cr_status try_starts(cri_gp_optimiser *r, cri_gp_start_at *a, size_t *out_n)
{
    cr_status           st = CR_OK;
    const cri_gp_space *u = &r->space;
    size_t              n = 0;
    size_t              some =
        r->learning->screen_rows ? LENGTHS : LENGTHS - 1; /* broad ones need exact values */
    for (size_t l = 0; l < (u->has_lengths ? some : 1); l++)
        for (size_t e = 0; e < (u->size > u->p ? NOISES : 1); e++) {
            double length = u->has_lengths ? lengths[l] : 1;
            cri_gp_start(u, length, u->size > u->p ? noises[e] : 0.1, a[n].at.x);
            a[n++].length = length;
        }
    for (size_t j = 0; j < u->size; j++)
        a[n].at.x[j] = fmin(fmax(u->given[j], u->lower[j]), u->upper[j]);
    a[n++].length = 0;
    for (size_t i = 0; i < n; i++) CR_TRY(cri_gp_try(r, a[i].at.x, false, &a[i].at.value));
    cri_gp_sort_starts(a, n);
    *out_n = n;
done:
    return st;
}

/* Puts start i next to the `chosen` first ones; returns how many these are then. */
static size_t choose(cri_gp_start_at *a, size_t chosen, size_t i)
{
    cri_gp_start_at keep = a[i];
    memmove(a + chosen + 1, a + chosen, (i - chosen) * sizeof *a);
    a[chosen] = keep;
    return chosen + 1;
}

/* true when one of n starts has this length. */
static bool has_length(const cri_gp_start_at *a, size_t n, double length)
{
    for (size_t i = 0; i < n; i++)
        if (a[i].length == length) return true;
    return false;
}

/* Puts first those to ascend from: the best two, the best of other lengths (`most` of these), and the
 * expression as it is when it says anything.  Returns how many. */
static size_t choose_starts(const cri_gp_space *u, cri_gp_start_at *a, size_t n, size_t most)
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

/* Drops starts that reached the value of one before them; of equals that whose run converged stays,
 * as the next run can go on from there. */
static size_t drop_equals(cri_gp_start_at *a, size_t n)
{
    size_t kept = 0;
    cri_gp_sort_starts(a, n);
    for (size_t i = 0; i < n; i++) {
        bool other = i == 0 || a[kept - 1].at.value - a[i].at.value > 1e-3;
        bool better = !other && a[kept - 1].at.stop == CR_STOP_NO_PROGRESS &&
                      a[i].at.stop == CR_STOP_TOLERANCE;
        if (!other && !better) continue;
        kept += other;
        cri_gp_start_at keep = a[kept - 1];
        a[kept - 1] = a[i];
        a[i] = keep;
    }
    return kept;
}

size_t cri_gp_drop_hopeless(const cri_gp_start_at *a, size_t n, size_t most)
{
    if (n > most) n = most;
    while (n > 1 && a[n - 1].at.value < a[0].at.value - HOPELESS) n--;
    return n;
}

/* A start that nothing is known of. */
static void begin(cri_gp_start_at *a) { *a = (cri_gp_start_at){ .at = { .x = a->at.x } }; }

cr_status cri_gp_starts_new(cr_scratch *s, size_t size, size_t n, cri_gp_start_at **out)
{
    cri_gp_start_at *a = cr_scratch_bytes(s, n, sizeof *a);
    for (size_t i = 0; a && i < n; i++) a[i].at.x = cr_scratch_f64(s, size);
    *out = a;
    return s->status;
}

cr_status cri_gp_draw_problem(cr_scratch *s, const cri_gp_problem *all, size_t most, uint64_t seed,
                              cri_gp_data *part, cri_gp_problem *out)
{
    cr_status st = CR_OK;
    size_t    n = all->data->n;
    CR_TRY(cri_gp_data_draw(s->cx, all->data, n < most ? n : most, seed, part));
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

cr_status cri_gp_fail_starts(cri_gp_optimiser *r, const cri_gp_start_at *a, size_t n)
{
    const cri_gp_space *u = &r->space;
    double              noise = u->size > u->p ? exp(a[0].at.x[u->p]) : r->noise;
    bool dense = r->objective == cri_gp_exact_objective || r->objective == cri_gp_quick_objective;
    if (!dense)
        return cr_fail(r->cx, CR_ENUMERIC,
                       "gp: the covariance of the rows is not positive definite "
                       "at any of %zu settings of the hyper-parameters",
                       n);
    cr_status st = cr_kernel_set_theta(r->cx, r->k, a[0].at.x);
    return st != CR_OK ? st
                       : cri_gp_fail_singular(r->cx, r->problem, r->k, noise, n,
                                              ((cri_gp_exact_workspace *)r->workspace)->L);
}

/* Starts made of the data: the best of the grid, lengths of several columns moved together, and a
 * broad one. */
static cr_status make_first(cri_gp_optimiser *r, cri_gp_start_at *a, size_t *out_n)
{
    cr_status           st = CR_OK;
    const cri_gp_space *u = &r->space;
    size_t              n = 0, chosen;
    CR_TRY(try_starts(r, a, &n));
    if (isinf(a[0].at.value)) CR_TRY(cri_gp_fail_starts(r, a, n));
    chosen = choose_starts(u, a, n, r->learning->screen_rows ? LENGTHS : 1);
    for (size_t i = 0; u->tied && i < chosen; i++)
        CR_TRY(cri_gp_ascend(r, true, CRI_GP_ROUGH, 50, NULL, &a[i].at));
    chosen = u->tied ? drop_equals(a, chosen) : chosen;
    if (u->tied) {
        begin(&a[chosen]);
        cri_gp_start(u, 2, 0.1, a[chosen++].at.x); /* a broad one */
    }
    *out_n = chosen;
done:
    return st;
}

/* Adds starts in which one term of a sum explains what it can. */
static cr_status add_terms(cri_gp_optimiser *r, cri_gp_start_at *a, size_t *n)
{
    cr_status st = CR_OK;
    for (size_t i = 0; r->space.terms > 1 && i < r->space.terms && i < MOST_TERMS; i++) {
        begin(&a[*n]);
        CR_TRY(cri_gp_lead_by_term(r, i, &a[*n].at));
        *n += !isinf(a[*n].at.value);
    }
done:
    return st;
}

static void keep_better(const cri_gp_space *u, const double *z, double value, cri_gp_point *best)
{
    if (!(value > best->value)) return;
    memcpy(best->x, z, u->size * sizeof *z);
    best->value = value;
}

/* Adds the best of some starts of these lengths and noises. */
static cr_status add_best(cri_gp_optimiser *r, const double *length, size_t n_lengths,
                          const double *noise, size_t n_noises, cri_gp_start_at *a, size_t *n)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(r->cx);
    const cri_gp_space *u = &r->space;
    double             *z = cr_scratch_f64(&s, u->size), value;
    CR_TRY(s.status);
    if (u->size == u->p) goto done;
    begin(&a[*n]);
    a[*n].at.value = -INFINITY;
    for (size_t i = 0; i < n_lengths * n_noises; i++) {
        cri_gp_start(u, length[i / n_noises], noise[i % n_noises], z);
        CR_TRY(cri_gp_try(r, z, false, &value));
        keep_better(u, z, value, &a[*n].at);
    }
    *n += !isinf(a[*n].at.value);
done:
    cr_scratch_end(&s);
    return st;
}

/* Adds random starts that have a value, the first of them number `from`. */
static cr_status add_random(cri_gp_optimiser *r, size_t from, size_t count, cri_gp_start_at *a,
                            size_t *n)
{
    cr_status st = CR_OK;
    for (size_t i = 0; i < count; i++) {
        begin(&a[*n]);
        cri_gp_start_random(&r->space, r->learning->seed, from + i, a[*n].at.x);
        CR_TRY(cri_gp_try(r, a[*n].at.x, false, &a[*n].at.value));
        *n += !isinf(a[*n].at.value);
    }
done:
    return st;
}

/* Adds starts for kernels without a length a column, as many as cost little against the search: the
 * first as short as neighbours are far, which may tell of nobody else, the others random. */
static cr_status add_cheap(cri_gp_optimiser *r, cri_gp_start_at *a, size_t *n)
{
    cr_status    st = CR_OK;
    double       rows = (double)r->problem->data->n;
    const double nearest[] = { r->space.nearest, r->space.nearest / 2 };
    size_t       count = (size_t)fmin(CHEAP / pow(rows, 3), MOST_RANDOM);
    if (r->space.tied || count == 0) goto done;
    if (r->space.nearest < 1) CR_TRY(add_best(r, nearest, 2, clear_noises, NOISES, a, n));
    CR_TRY(add_random(r, r->learning->restarts, count - 1, a, n));
done:
    return st;
}

/* Adds the best of `of` sparse starts, `count` times. */
static cr_status add_sparse(cri_gp_optimiser *r, size_t count, size_t of, cri_gp_start_at *a,
                            size_t *n)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(r->cx);
    double    *z = cr_scratch_f64(&s, r->space.size), value;
    CR_TRY(s.status);
    for (size_t i = 0; i < count; i++) {
        begin(&a[*n]);
        a[*n].at.value = -INFINITY;
        for (size_t k = 0; k < of; k++) {
            cri_gp_start_sparse(&r->space, r->learning->seed, i * of + k, z);
            CR_TRY(cri_gp_try(r, z, false, &value));
            keep_better(&r->space, z, value, &a[*n].at);
        }
        *n += !isinf(a[*n].at.value);
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* How many random starts: the fewer the rows, the less they cost. */
static size_t count_random(size_t each, size_t least, size_t rows)
{
    size_t count = each * least / rows;
    return count < MOST_RANDOM ? count : MOST_RANDOM;
}

/* Adds starts of other kinds, for rows so few that many cost little: one where these rows are but
 * some of very many. */
static cr_status add_others(cri_gp_optimiser *r, cri_gp_start_at *a, size_t *n)
{
    cr_status st = CR_OK;
    size_t    least = r->learning->screen_rows, rows = r->problem->data->n;
    bool      small = r->learning->problem->data->n <= 2 * least;
    if (small && rows <= least) CR_TRY(add_terms(r, a, n));
    if (small) CR_TRY(add_best(r, lengths, LENGTHS, &CLEAR, 1, a, n)); /* next to no noise */
    if (small) CR_TRY(add_cheap(r, a, n));
    if (r->space.tied)
        CR_TRY(add_sparse(r, small ? count_random(RANDOM, least, rows) : 1, BEST_OF, a, n));
done:
    return st;
}

/* Uphill from each start that has a value, by `most` steps. */
static cr_status ascend_each(cri_gp_optimiser *r, cri_gp_start_at *a, size_t n, size_t most)
{
    cr_status st = CR_OK;
    for (size_t i = 0; i < n; i++) {
        CR_TRY(cri_gp_try(r, a[i].at.x, true, &a[i].at.value));
        if (!isinf(a[i].at.value))
            CR_TRY(cri_gp_ascend(r, false, CRI_GP_ROUGH, most, NULL, &a[i].at));
    }
done:
    return st;
}

cr_status cri_gp_ascend_roughly(cri_gp_optimiser *r, cri_gp_start_at *a, size_t *n)
{
    cr_status st = CR_OK;
    CR_TRY(ascend_each(r, a, *n, ROUGH_STEPS));
    *n = drop_equals(a, *n);
done:
    return st;
}

/* true when x is near one of n optima, as far as the rows can tell lengths apart. */
static bool is_near(const cri_gp_space *u, const cri_gp_start_at *a, size_t n, const double *x)
{
    for (size_t i = 0; i < n; i++) {
        size_t j = 0;
        while (j < u->size &&
               fabs(cri_gp_to_t(u, j, x[j]) - cri_gp_to_t(u, j, a[i].at.x[j])) < NEAR)
            j++;
        if (j == u->size) return true;
    }
    return false;
}

/* Next to no noise is left to this optimum. */
static bool is_clear(const cri_gp_space *u, const cri_gp_point *at)
{
    return u->size > u->p && at->x[u->p] < log(0.01 * u->variance);
}

/* Roughly to the optimum from the `first` starts; from the others a few steps, and then to the optimum from
 * the best of them and those that may yet reach the highest, the most promising first.  *n different
 * ones are left, best first. */
static cr_status race(cri_gp_optimiser *r, cri_gp_start_at *a, size_t first, size_t *n)
{
    cr_status st = CR_OK;
    size_t    kept = first, top = 0;
    CR_TRY(ascend_each(r, a, first, ROUGH_STEPS));
    CR_TRY(ascend_each(r, a + first, *n - first, GLANCE));
    for (size_t i = 1; i < first; i++)
        if (a[i].at.value > a[top].at.value) top = i;
    double best = first > 0 ? a[top].at.value : -INFINITY;
    double lack = first > 0 && is_clear(&r->space, &a[top].at) ? LACK_CLEAR : LACK;
    cri_gp_sort_starts(a + first, *n - first);
    for (size_t i = first; i < *n; i++) {
        if (a[i].at.value < best - lack && kept >= first + SURE) break;
        if (is_near(&r->space, a, kept, a[i].at.x)) continue;
        cri_gp_start_at keep = a[kept];
        a[kept] = a[i];
        a[i] = keep;
        if (a[kept].at.stop != CR_STOP_TOLERANCE)
            CR_TRY(cri_gp_ascend(r, false, CRI_GP_ROUGH, ROUGH_STEPS, NULL, &a[kept].at));
        best = fmax(best, a[kept++].at.value);
    }
    *n = drop_equals(a, kept);
done:
    return st;
}

/* Other lengths for the columns of the best optima, and of the best that leave next to no noise: on few
 * rows these lie below those with noise, and yet the highest of all may be reached from them.  Of optima
 * alike one. */
static cr_status renew_best(cri_gp_optimiser *r, cri_gp_start_at *a, size_t n)
{
    cr_status st = CR_OK;
    size_t    renewed[2] = { 0 };
    double    last[2] = { INFINITY, INFINITY };
    for (size_t i = 0; i < n; i++) {
        int    clear = is_clear(&r->space, &a[i].at);
        double value = a[i].at.value;
        if (last[clear] - value < ALIKE || renewed[clear] == RENEWED) continue;
        CR_TRY(cri_gp_renew_columns(r, &a[i].at));
        last[clear] = value;
        renewed[clear]++;
    }
done:
    return st;
}

/* The optima of the rows of the run, best first.  Many starts are ascended from where that costs
 * little, on some of the rows; a few optima go on with twice as many rows, and again, until these
 * are all of them. */
static cr_status find_optima(cri_gp_optimiser *r, cri_gp_start_at *a, size_t *n)
{
    cr_status             st = CR_OK;
    cr_scratch            s = cr_scratch_begin(r->cx);
    const cri_gp_problem *all = r->problem;
    size_t                rows = all->data->n, least = r->learning->screen_rows, more = 0;
    cri_gp_data           part = { 0 };
    cri_gp_problem        few;

    *n = 0;
    if (rows > least) {
        size_t some = rows / 2 > least + least / 2 ? rows / 2 : least;
        CR_TRY(cri_gp_draw_problem(&s, all, some, r->learning->seed, &part, &few));
        r->problem = &few;
        CR_TRY(find_optima(r, a, n));
        r->problem = all;
        *n = cri_gp_drop_hopeless(a, *n, rows > 2 * least ? KEPT_FEW : KEPT);
        for (size_t i = 0; i < *n; i++) a[i].at.iterations = 0;
    }
    if (rows <= 2 * least) CR_TRY(make_first(r, a + *n, &more));
    *n += more;
    if (rows <= least && r->space.tied)
        CR_TRY(add_random(r, r->learning->restarts, count_random(RANDOM, least, rows), a, n));
    size_t first = *n;
    if (rows <= least || (rows <= 2 * least && all == r->learning->problem))
        CR_TRY(add_others(r, a, n));
    CR_TRY(race(r, a, first, n));
    if (*n > 0) CR_TRY(rows > least ? cri_gp_renew_columns(r, &a[0].at) : renew_best(r, a, *n));
    cri_gp_sort_starts(a, *n);
    if (rows <= least) CR_TRY(cri_gp_renew_periods(r, &a[0].at));
done:
    r->problem = all;
    cri_gp_data_free(r->cx, &part);
    cr_scratch_end(&s);
    return st;
}

cr_status cri_gp_search_starts(cri_gp_optimiser *r, cri_gp_start_at *a, size_t *out_n)
{
    cr_status st = CR_OK;
    CR_TRY(r->learning->screen_rows ? find_optima(r, a, out_n) : make_first(r, a, out_n));
    CR_TRY(add_random(r, 0, r->learning->restarts, a, out_n));
done:
    return st;
}
