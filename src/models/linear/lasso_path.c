/* lasso_path.c -- the elastic net along a path of lambdas, on all rows and by cross-validation. */
#include "lasso_path.h"
#include "lasso_task.h"
#include "base/context_internal.h"
#include "base/parallel.h"
#include "math/dense/blas_internal.h"

#include <math.h>
#include <string.h>

CRI_RECORD_TABLE(, cri_lasso_path_record, cri_lasso_path, CRI_LASSO_PATH);
CRI_RECORD_FREE(cri_lasso_path);

void cri_path_end_free(cr_ctx *cx, cri_path_end *end)
{
    cri_gram_free(cx, &end->gram);
    cri_columns_release(cx, &end->columns);
}

typedef struct journey {
    const cri_path_settings *settings;
    size_t                   p, L;
    double                  *lambda; /* [L] */
    cri_lasso_source         source;
    double                  *errors; /* [folds x stride] */
    size_t                   stride; /* L at the start   */
    double                   weight;
    cri_lasso_task         **tasks;   /* of the batch at hand     */
    cri_range                stretch; /* the lambdas at hand      */
    cri_clock                clock;   /* of the time limit        */
} journey;

/* --- what is kept of all rows ---------------------------------------------------------------- */

/* A solution as the list of its terms that are not 0. */
typedef struct point {
    size_t  k, *terms;
    double *b;
} point;

enum { MOST_RANK = 464 }; /* terms whose rank is found out: up to k^3 = 1e8 */

/* The df of the lambda at hand, without the intercept; -1 where it would cost more than it tells.
 */
static cr_status measure_df(cr_ctx *cx, const cri_descent *d, const point *at, bool wanted,
                            cri_lasso_factor *factor, double *out)
{
    enum { CHEAP = 100 };
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    bool       plain = d->settings.l1_ratio == 1;
    size_t     k = at->k, *place = cr_scratch_index(&s, d->p);
    double     size =
        (double)k * (double)k * (double)(d->X && d->X->residual_size > k ? d->X->residual_size : k);
    bool counts = plain ? wanted && k <= factor->most && size <= 1e8 : wanted || k <= CHEAP;

    cri_blas_enter();
    *out = plain ? (double)k : -1;
    if (plain && counts) counts = !cri_lasso_independent(factor, &s, d, at->terms, k);
    double *G = cr_scratch_matrix(&s, counts ? k : 0, counts ? k : 0);
    CR_TRY(s.status);
    if (!counts) goto done;
    cri_descent_products(d, at->terms, 0, k, place, G);
    *out = cri_lasso_df(&s, G, k, d->lambda * (1 - d->settings.l1_ratio));
    CR_TRY(s.status);
done:
    cri_blas_leave();
    cr_scratch_end(&s);
    return st;
}

/* Notes the solution of all rows at lambda k. */
static cr_status note(cr_ctx *cx, cr_scratch *s, const journey *j, const cri_descent *d, size_t k,
                      double *b, cri_lasso_factor *factor, point *out, cri_lasso_path *path)
{
    size_t nonzero = cri_descent_nonzero(d);
    point  at = { 0, cr_scratch_index(s, nonzero), cr_scratch_f64(s, nonzero) };
    if (s->status != CR_OK) return s->status;
    cri_descent_coefficients(d, b);
    for (size_t i = 0; i < j->p; i++) {
        if (b[i] == 0) continue;
        at.terms[at.k] = i;
        at.b[at.k++] = b[i];
    }
    *out = at;
    path->lambda[k] = d->lambda;
    path->nonzero[k] = (double)nonzero;
    path->mse[k] = cri_descent_mse(d);
    path->sweeps += d->sweeps;
    path->violation = fmax(path->violation, d->violation);
    path->converged = path->converged && d->converged;
    return measure_df(cx, d, &at, j->settings->wants_df, factor, &path->df[k]);
}

/* The solutions as a matrix over the terms that occur in any. */
static cr_status pack(cr_ctx *cx, const journey *j, const point *points, cri_lasso_path *path)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t    *place = cr_scratch_bytes(&s, j->p, sizeof *place), m = 0; /* 1 + place, 0 = none */

    CR_TRY(s.status);
    for (size_t k = 0; k < j->L; k++)
        for (size_t a = 0; a < points[k].k; a++) place[points[k].terms[a]] = 1;
    for (size_t i = 0; i < j->p; i++)
        if (place[i]) place[i] = ++m;
    path->terms = cr_alloc(cx, m, sizeof(double));
    path->coef = cr_alloc(cx, j->L, m * sizeof(double));
    path->m = m;
    if (!path->terms || !path->coef) CR_TRY(CR_ENOMEM);
    for (size_t i = 0; i < j->p; i++)
        if (place[i]) path->terms[place[i] - 1] = (double)i;
    for (size_t k = 0; k < j->L; k++)
        for (size_t a = 0; a < points[k].k; a++)
            path->coef[k * m + place[points[k].terms[a]] - 1] = points[k].b[a];
done:
    cr_scratch_end(&s);
    return st;
}

/* --- lambdas --------------------------------------------------------------------------------- */

/* From the largest on by a constant factor, to the last of the path or to the one given. */
static cr_status choose_lambdas(cr_scratch *s, journey *j, double most)
{
    const cri_path_settings *o = j->settings;
    double                   end = o->lambda;
    bool                     given = !isnan(end);
    j->lambda = cr_scratch_f64(s, o->lambdas + 1);
    if (s->status != CR_OK) return s->status;
    j->L = 0;
    for (size_t k = 0; k < o->lambdas && most > 0; k++) {
        double share = k == 0 ? 0 : (double)k / (double)(o->lambdas - 1);
        double lambda = most * pow(o->least_ratio, share);
        if (given && lambda <= end * (1 + 1e-9)) break;
        j->lambda[j->L++] = lambda;
    }
    if (given || j->L == 0) j->lambda[j->L++] = given ? end : 0;
    return CR_OK;
}

/* --- cross-validation ------------------------------------------------------------------------ */

/* The mean error of the folds at lambda k, and its standard error. */
static void summarise_lambda(const journey *j, size_t k, double *out_error, double *out_se)
{
    size_t folds = j->source.view.folds;
    double sum = 0, weight = 0, spread = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t f = 0; f < folds; f++) {
            const cri_rows *rows = &j->source.view.test[f];
            double          w = 0, e = j->errors[f * j->stride + k];
            for (size_t i = 0; i < rows->n; i++) w += rows->w ? rows->w[i] : 1;
            if (pass == 0)
                sum += w * e, weight += w;
            else
                spread += w * (e - sum / weight) * (e - sum / weight);
        }
    *out_error = sum / weight;
    *out_se = sqrt(spread / weight / (double)(folds - 1));
}

static void summarise_folds(const journey *j, cri_lasso_path *path)
{
    for (size_t k = 0; k < j->L; k++) summarise_lambda(j, k, &path->cv[k], &path->cv_se[k]);
}

/* After `done` lambdas: the least error lies far behind, and what comes fits the noise. */
static bool is_past_least(const journey *j, size_t done)
{
    enum { FAR = 20 };
    double least = INFINITY, least_se = 0, error, se;
    size_t at = 0;
    if (j->settings->gram || (double)j->p < j->weight) return false; /* cheap, or never so bad */
    for (size_t k = 0; k < done; k++) {
        summarise_lambda(j, k, &error, &se);
        if (error < least) least = error, least_se = se, at = k;
    }
    return done - at > FAR && error > least + 2 * least_se;
}

size_t cri_lasso_path_least(const cri_lasso_path *path)
{
    size_t best = 0;
    for (size_t k = 1; k < path->L; k++)
        if (path->cv[k] < path->cv[best]) best = k;
    return best;
}

size_t cri_lasso_path_one_se(const cri_lasso_path *path)
{
    size_t least = cri_lasso_path_least(path), k = 0;
    while (path->cv[k] > path->cv[least] + path->cv_se[least]) k++;
    return k;
}

/* --- the journey ----------------------------------------------------------------------------- */

static cr_status allocate_path(cr_ctx *cx, const journey *j, cri_lasso_path *path)
{
    *path =
        (cri_lasso_path){ .L = j->L, .p = j->p, .folds = j->source.view.folds, .converged = true };
    double **arrays[] = { &path->lambda, &path->nonzero, &path->df,
                          &path->mse,    &path->cv,      &path->cv_se };
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = cr_alloc(cx, j->L, sizeof(double));
        if (!*arrays[i]) return CR_ENOMEM;
    }
    return CR_OK;
}

/* Gives up the lambdas that were not reached. */
static cr_status shorten_path(cr_ctx *cx, const journey *j, cri_lasso_path *path)
{
    double **arrays[] = { &path->lambda, &path->nonzero, &path->df,
                          &path->mse,    &path->cv,      &path->cv_se };
    double  *shorter[6];
    if (j->L == path->L) return CR_OK;
    for (size_t i = 0; i < 6; i++) {
        shorter[i] = cr_alloc(cx, j->L, sizeof(double));
        for (size_t k = 0; !shorter[i] && k < i; k++) cr_free(cx, shorter[k], j->L, sizeof(double));
        if (!shorter[i]) return CR_ENOMEM;
        memcpy(shorter[i], *arrays[i], j->L * sizeof(double));
    }
    for (size_t i = 0; i < 6; i++) {
        cr_free(cx, *arrays[i], path->L, sizeof(double));
        *arrays[i] = shorter[i];
    }
    path->L = j->L;
    return CR_OK;
}

/* How many tasks fit into memory side by side. */
static size_t batch_size(const journey *j)
{
    const double budget = 1e9;
    double       p = (double)j->p, direct = fmin(p, 1500), entries = 0;
    if (cri_rows_are_sparse(j->source.rows))
        entries = 2 * (double)cri_sparse_entries(j->source.rows->sparse);
    double each = 8 * (j->settings->gram ? 2 * p * p : entries + 30 * p + 2 * direct * direct);
    return each * 64 < budget ? 64 : each < budget / 2 ? (size_t)(budget / each) : 1;
}

/* --- by cross-products ----------------------------------------------------------------------- */

/* So many lambdas that threads meet a few hundred times at the most, and not in vain. */
static size_t stretch_length(const journey *j)
{
    double p = (double)j->p, length = 1e7 / (p * p + 1);
    return length < 1 ? 1 : length < (double)j->L ? (size_t)length : j->L;
}

static void advance(void *arg, size_t i)
{
    const journey *j = arg;
    for (size_t k = j->stretch.begin; k < j->stretch.end; k++) {
        if (cri_should_stop(j->settings->descent.cx)) return; /* which the caller finds out too */
        cri_lasso_task_step(j->tasks[i], j->lambda[k], k);
    }
}

/* Whether the path should end here, where no lambda at its end was asked for. */
static bool is_late(const journey *j)
{
    return isnan(j->settings->lambda) && cri_clock_over(&j->clock);
}

/* The n tasks of a batch of folds, each on its own. */
static cr_status run_folds_alone(cr_ctx *cx, journey *j, size_t n)
{
    cr_status st = CR_OK;
    size_t    length = stretch_length(j), blocks = cri_block_count(j->L, length);
    for (size_t b = 0; b < blocks && st == CR_OK; b++) {
        if (b > 0 && is_late(j)) { /* they are all as far */
            j->L = j->stretch.end;
            break;
        }
        j->stretch = cri_block_range(j->L, length, b);
        cri_blas_enter();
        st = cri_parallel_for(cx, NULL, n, advance, j);
        cri_blas_leave();
        cr_progress(cx, "cross-validating", (double)j->stretch.end, (double)j->L);
    }
    return st;
}

/* --- all tasks ------------------------------------------------------------------------------- */

/* What is kept of all rows while they go along. */
typedef struct record {
    cr_scratch       *s;
    cri_lasso_task   *all;
    double           *b; /* [p] workspace */
    cri_lasso_factor *factor;
    point            *points;
    cri_lasso_path   *path;
} record;

/* The n tasks of a batch from lambda to lambda; all rows among them when there is a record. */
static cr_status run_together(cr_ctx *cx, journey *j, size_t n, const record *rec)
{
    cr_status st = CR_OK;
    size_t    folds = n - (rec ? 1 : 0);
    for (size_t k = 0; k < j->L; k++) {
        CR_TRY(cr_check_interrupt(cx));
        if (k > 0 && is_late(j)) {
            j->L = k;
            break;
        }
        if (j->settings->gram) {
            cri_blas_enter();
            cri_lasso_task_step(rec->all, j->lambda[k], k);
            cri_blas_leave();
        } else {
            CR_TRY(cri_lasso_tasks_step(cx, j->tasks, n, j->lambda[k], k));
        }
        cr_progress(cx, "following the path", (double)(k + 1), (double)j->L);
        if (rec) {
            CR_TRY(note(cx, rec->s, j, &rec->all->at.descent, k, rec->b, rec->factor,
                        &rec->points[k], rec->path));
            if (isnan(j->settings->lambda) && cri_lasso_task_is_saturated(rec->all)) j->L = k + 1;
        }
        if (folds > 0 && folds == j->source.view.folds && is_past_least(j, k + 1)) j->L = k + 1;
    }
done:
    return st;
}

/* The folds begin .. end-1 side by side; by columns, with the last of them all rows. */
static cr_status run_batch(cr_ctx *cx, journey *j, cri_range folds, const record *rec)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    size_t          n = folds.end - folds.begin, made = 0;
    cri_lasso_task *tasks = cr_scratch_bytes(&s, n, sizeof *tasks);
    bool            with_all = folds.end == j->source.view.folds && !j->settings->gram;

    j->tasks = cr_scratch_bytes(&s, n + 1, sizeof *j->tasks);
    CR_TRY(s.status);
    for (; made < n; made++) {
        size_t f = folds.begin + made;
        j->tasks[made] = &tasks[made];
        st = cri_lasso_task_new(cx, &s, &j->source, f, j->errors + f * j->stride, &tasks[made]);
        if (st != CR_OK) made++;
        CR_TRY(st);
    }
    j->tasks[n] = rec->all;
    CR_TRY(j->settings->gram ? run_folds_alone(cx, j, n)
                             : run_together(cx, j, n + with_all, with_all ? rec : NULL));
done:
    for (size_t i = 0; i < made; i++) cri_path_end_free(cx, &tasks[i].at);
    cr_scratch_end(&s);
    return st;
}

static cr_status run_all(cr_ctx *cx, journey *j, const record *rec)
{
    cr_status st = CR_OK;
    size_t    folds = j->source.view.folds, size = batch_size(j);
    for (size_t i = 0; i < cri_block_count(folds, size) && st == CR_OK; i++)
        st = run_batch(cx, j, cri_block_range(folds, size, i), rec);
    if (st == CR_OK && (folds == 0 || j->settings->gram)) {
        j->tasks = (cri_lasso_task *[]){ rec->all };
        st = run_together(cx, j, 1, rec);
    }
    return st == CR_OK ? shorten_path(cx, j, rec->path) : st;
}

/* The folds, and what their tasks read of the rows. */
static cr_status open_source(cr_ctx *cx, cr_scratch *s, cri_lasso_source *out)
{
    cr_status                st = CR_OK;
    const cri_path_settings *o = out->settings;
    bool                     sparse = cri_rows_are_sparse(out->rows);
    if (o->folds > 0)
        CR_TRY(
            cri_folds_of_rows(cx, s, out->rows, o->folds, o->seed, !o->gram && sparse, &out->view));
    out->moments = cr_scratch_bytes(s, out->view.folds, sizeof *out->moments);
    CR_TRY(s->status);
    if (o->gram) CR_TRY(cri_folds_moments(cx, &out->view, out->moments));
    if (!o->gram && !sparse)
        CR_TRY(cri_shared_columns_of_rows(cx, s, out->rows, o->intercept, &out->shared));
done:
    return st;
}

cr_status cri_lasso_path_follow(cr_ctx *cx, cr_scratch *s, const cri_rows *rows,
                                const cri_path_settings *o, cri_lasso_path *out_path,
                                cri_path_end *out_end)
{
    cr_status      st = CR_OK;
    journey        j = { .settings = o, .p = rows->p, .source = { .settings = o, .rows = rows } };
    cri_lasso_path path = { 0 };
    cri_lasso_task all = { 0 };
    j.clock = cri_clock_start(cx, NAN);
    record rec = { .s = s, .all = &all, .path = &path, .b = cr_scratch_f64(s, rows->p) };
    bool   ranks = o->wants_df && o->descent.l1_ratio == 1;
    size_t rank = !ranks ? 0 : rows->p < MOST_RANK ? rows->p : MOST_RANK;

    cri_lasso_factor factor = { .most = rank,
                                .terms = cr_scratch_index(s, rank),
                                .L = cr_scratch_matrix(s, rank, rank) };
    rec.factor = &factor;
    CR_TRY(cri_blas_reserve(cx));
    CR_TRY(open_source(cx, s, &j.source));
    CR_TRY(cri_lasso_task_new(cx, s, &j.source, j.source.view.folds, NULL, &all));
    double most = cri_descent_lambda_max(&all.at.descent);
    CR_TRY(choose_lambdas(s, &j, most));
    rec.points = cr_scratch_bytes(s, j.L, sizeof *rec.points);
    j.errors = cr_scratch_matrix(s, j.source.view.folds, j.L);
    j.stride = j.L;
    j.weight = all.at.descent.weight;
    CR_TRY(s->status);
    CR_TRY(allocate_path(cx, &j, &path));
    CR_TRY(run_all(cx, &j, &rec));
    CR_TRY(pack(cx, &j, rec.points, &path));
    if (j.source.view.folds > 0) summarise_folds(&j, &path);
    path.lambda_max = most;
    path.weight = all.at.descent.weight;
    path.offset = all.at.descent.X ? all.at.columns.offset : all.at.gram.offset;
    path.tt = all.at.descent.tt;
    *out_path = path;
    *out_end = all.at;
    path = (cri_lasso_path){ 0 };
    all = (cri_lasso_task){ 0 };
done:
    cri_lasso_path_free(cx, &path);
    cri_path_end_free(cx, &all.at);
    for (size_t f = 0; j.source.moments && f < j.source.view.folds; f++)
        cri_moments_free(cx, &j.source.moments[f]);
    return st;
}
