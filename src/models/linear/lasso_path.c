/* lasso_path.c -- the elastic net along a path of lambdas, on all rows and by cross-validation. */
#include "lasso_path.h"
#include "folds_view.h"
#include "../fields.h"
#include "../../base/context_internal.h"
#include "../../base/parallel.h"
#include "../../math/blas_internal.h"

#include <math.h>
#include <string.h>

static const cri_field path_fields[] = {
    CRI_FIELD_VECTOR(cri_lasso_path, lambda, L),
    CRI_FIELD_VECTOR(cri_lasso_path, nonzero, L),
    CRI_FIELD_VECTOR(cri_lasso_path, df, L),
    CRI_FIELD_VECTOR(cri_lasso_path, mse, L),
    CRI_FIELD_VECTOR(cri_lasso_path, cv, L),
    CRI_FIELD_VECTOR(cri_lasso_path, cv_se, L),
    CRI_FIELD_VECTOR(cri_lasso_path, terms, m),
    CRI_FIELD_MATRIX(cri_lasso_path, coef, L, m),
    CRI_FIELD_LAST,
};

void cri_lasso_path_free(cr_ctx *cx, cri_lasso_path *path)
{
    cri_fields_free(cx, path_fields, path);
    *path = (cri_lasso_path){ 0 };
}

void cri_path_end_free(cr_ctx *cx, cri_path_end *end)
{
    cri_gram_free(cx, &end->gram);
    cri_columns_release(cx, &end->columns);
}

/* All rows, or the training rows of a fold with the rows it is tested on. */
typedef struct task {
    cri_path_end       at;
    const cri_moments *test;      /* solved by cross-products */
    const cri_rows    *test_rows; /* solved by columns        */
    double            *error;     /* [L]                      */
    double            *b;         /* [p] room                 */
    size_t            *terms;     /* [p] room                 */
    double            *mean, *x;  /* [test rows] room         */
} task;

typedef struct journey {
    const cri_path_settings *settings;
    const cri_rows          *rows;
    size_t                   p, L;
    double                  *lambda; /* [L] */
    cri_folds_view           view;
    cri_moments             *moments; /* [folds] of the rows left out; solved by cross-products */
    double                  *errors;  /* [folds x stride] */
    size_t                   stride;  /* L at the start  */
    double                   weight;
    task                    *tasks;   /* of the batch at hand    */
    cri_range                stretch; /* the lambdas at hand      */
} journey;

/* --- a task ---------------------------------------------------------------------------------- */

static const double *centre_of(const task *t)
{
    return !t->at.descent.X ? t->at.gram.centre : t->at.columns.centre;
}
static const double *scale_of(const task *t)
{
    return !t->at.descent.X ? t->at.gram.scale : t->at.columns.scale;
}
static double offset_of(const task *t)
{
    return !t->at.descent.X ? t->at.gram.offset : t->at.columns.offset;
}

/* Takes over the moments. */
static cr_status prepare_gram(cr_ctx *cx, cr_scratch *s, const journey *j, cri_moments *m, task *t)
{
    const cri_path_settings *o = j->settings;
    cr_status                st = cri_gram_new(cx, m, o->intercept, o->standardise, &t->at.gram);
    cri_moments_free(cx, m);
    if (st == CR_OK) st = cri_descent_of_gram(s, &t->at.gram, &o->descent, &t->at.descent);
    return st;
}

static cr_status prepare_columns(cr_ctx *cx, cr_scratch *s, const journey *j, const cri_rows *rows,
                                 task *t)
{
    const cri_path_settings *o = j->settings;
    cri_columns             *X = cr_scratch_bytes(s, 1, sizeof *X);
    cr_status                st = s->status;
    if (st == CR_OK)
        st = (cri_rows_are_sparse(rows) ? cri_columns_of_sparse : cri_columns_of_rows)(
            cx, s, rows, o->intercept, o->standardise, X);
    if (st == CR_OK) t->at.columns = *X; /* whose entries are freed with the task */
    if (st == CR_OK) st = cri_descent_of_columns(s, X, &o->descent, &t->at.descent);
    return st;
}

static cr_status prepare_all_rows(cr_ctx *cx, cr_scratch *s, const journey *j, task *t)
{
    cri_moments m = { 0 };
    cr_status   st;
    if (!j->settings->gram) return prepare_columns(cx, s, j, j->rows, t);
    st = j->view.folds ? cri_folds_moments_without(cx, j->moments, j->view.folds, j->view.folds, &m)
                       : cri_moments_of_rows(cx, j->rows, &m);
    return st == CR_OK ? prepare_gram(cx, s, j, &m, t) : st;
}

static cr_status prepare_fold(cr_ctx *cx, cr_scratch *s, const journey *j, size_t f, task *t)
{
    cri_moments m = { 0 };
    size_t      n = j->view.test[f].n;
    t->error = j->errors + f * j->stride;
    t->b = cr_scratch_f64(s, j->p);
    t->terms = cr_scratch_index(s, j->p);
    t->mean = cr_scratch_f64(s, n);
    t->x = cr_scratch_f64(s, n);
    if (s->status != CR_OK) return s->status;
    t->test_rows = &j->view.test[f];
    if (!j->settings->gram) return prepare_columns(cx, s, j, &j->view.train[f], t);
    t->test = &j->moments[f];
    cr_status st = cri_folds_moments_without(cx, j->moments, j->view.folds, f, &m);
    return st == CR_OK ? prepare_gram(cx, s, j, &m, t) : st;
}

/* The mean of w (y - b0 - x . b)^2 over the rows left out, row by row; b [k] of t->terms, or for
 * sparse rows b [p]. */
static double error_by_rows(const task *t, double b0, const double *b, size_t k)
{
    const cri_rows *rows = t->test_rows;
    double          sum = 0, weight = 0;
    bool            sparse = cri_rows_are_sparse(rows);
    for (size_t i = 0; i < rows->n; i++)
        t->mean[i] = b0 + (sparse ? cri_sparse_dot(rows->sparse, i, b) : 0);
    for (size_t a = 0; !sparse && a < k; a++) {
        cri_rows_fill_term(rows, t->terms[a], 0, rows->n, t->x, 1);
        for (size_t i = 0; i < rows->n; i++) t->mean[i] += b[a] * t->x[i];
    }
    for (size_t i = 0; i < rows->n; i++) {
        double w = rows->w ? rows->w[i] : 1, e = rows->y[i] - t->mean[i];
        sum += w * e * e;
        weight += w;
    }
    return sum / weight;
}

static double error_of(task *t, size_t p)
{
    size_t k = 0;
    double b0 = offset_of(t);
    bool   sparse = !t->test && cri_rows_are_sparse(t->test_rows);
    cri_descent_coefficients(&t->at.descent, t->b);
    for (size_t j = 0; j < p; j++) {
        if (t->b[j] == 0) continue;
        double b = t->b[j] / scale_of(t)[j];
        b0 -= b * centre_of(t)[j];
        t->terms[k] = j;
        t->b[sparse ? j : k] = b;
        k++;
    }
    return t->test ? cri_moments_mse(t->test, b0, t->terms, t->b, k)
                   : error_by_rows(t, b0, t->b, k);
}

static void advance(void *arg, size_t i)
{
    const journey *j = arg;
    task          *t = &j->tasks[i];
    for (size_t k = j->stretch.begin; k < j->stretch.end; k++) {
        if (cri_should_stop(j->settings->descent.cx)) return; /* which the caller finds out too */
        cri_descent_step(&t->at.descent, j->lambda[k]);
        t->error[k] = error_of(t, j->p);
    }
}

/* --- what is kept of all rows ---------------------------------------------------------------- */

/* A solution as the list of its terms that are not 0. */
typedef struct point {
    size_t  k, *terms;
    double *b;
} point;

/* The df of the lambda at hand, without the intercept; -1 where it would cost more than it tells.
 */
static cr_status measure_df(cr_ctx *cx, const cri_descent *d, const point *at, bool wanted,
                            double *out)
{
    enum { CHEAP = 100 };
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    bool       plain = d->settings.l1_ratio == 1;
    size_t     k = at->k, *place = cr_scratch_index(&s, d->p);
    double     size = (double)k * (double)k * (double)(d->X && d->X->room > k ? d->X->room : k);
    bool       counts = plain ? wanted && size <= 1e8 : wanted || k <= CHEAP;
    double    *G = cr_scratch_matrix(&s, counts ? k : 0, counts ? k : 0);

    CR_TRY(s.status);
    *out = plain ? (double)k : -1;
    if (!counts) goto done;
    cri_descent_products(d, at->terms, k, place, G);
    *out = cri_lasso_df(&s, G, k, d->lambda * (1 - d->settings.l1_ratio));
    CR_TRY(s.status);
done:
    cr_scratch_end(&s);
    return st;
}

/* Notes the solution of all rows at lambda k. */
static cr_status note(cr_ctx *cx, cr_scratch *s, const journey *j, const cri_descent *d, size_t k,
                      double *b, point *out, cri_lasso_path *path)
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
    return measure_df(cx, d, &at, j->settings->wants_df, &path->df[k]);
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
    size_t folds = j->view.folds;
    double sum = 0, weight = 0, spread = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t f = 0; f < folds; f++) {
            const cri_rows *rows = &j->view.test[f];
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
    *path = (cri_lasso_path){ .L = j->L, .p = j->p, .folds = j->view.folds, .converged = true };
    double **arrays[] = { &path->lambda, &path->nonzero, &path->df,
                          &path->mse,    &path->cv,      &path->cv_se };
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = cr_alloc(cx, j->L, sizeof(double));
        if (!*arrays[i]) return CR_ENOMEM;
    }
    return CR_OK;
}

/* Nothing is left to be explained: with as many terms as rows what follows is rounding, and takes
 * the longest. */
static bool is_saturated(const journey *j, const cri_descent *d, double mse)
{
    return isnan(j->settings->lambda) && (double)j->p >= d->weight && mse <= 1e-3 * d->tt;
}

/* Gives up the lambdas that were not reached. */
static cr_status shorten_path(cr_ctx *cx, const journey *j, cri_lasso_path *path)
{
    double **arrays[] = { &path->lambda, &path->nonzero, &path->df,
                          &path->mse,    &path->cv,      &path->cv_se };
    double  *room[6];
    if (j->L == path->L) return CR_OK;
    for (size_t i = 0; i < 6; i++) {
        room[i] = cr_alloc(cx, j->L, sizeof(double));
        for (size_t k = 0; !room[i] && k < i; k++) cr_free(cx, room[k], j->L, sizeof(double));
        if (!room[i]) return CR_ENOMEM;
        memcpy(room[i], *arrays[i], j->L * sizeof(double));
    }
    for (size_t i = 0; i < 6; i++) {
        cr_free(cx, *arrays[i], path->L, sizeof(double));
        *arrays[i] = room[i];
    }
    path->L = j->L;
    return CR_OK;
}

/* All rows through all lambdas. */
static cr_status run_all_rows(cr_ctx *cx, cr_scratch *s, journey *j, cri_descent *d, point *points,
                              cri_lasso_path *path)
{
    cr_status  st = CR_OK;
    cr_scratch room = cr_scratch_begin(cx);
    double    *b = cr_scratch_f64(&room, j->p);

    CR_TRY(room.status);
    cri_blas_enter();
    for (size_t k = 0; k < j->L && st == CR_OK; k++) {
        cri_descent_step(d, j->lambda[k]);
        st = note(cx, s, j, d, k, b, &points[k], path);
        if (st == CR_OK) st = cr_check_interrupt(cx);
        cr_progress(cx, "following the path", (double)(k + 1), (double)j->L);
        if (st == CR_OK && is_saturated(j, d, path->mse[k])) j->L = k + 1;
    }
    cri_blas_leave();
    CR_TRY(st);
    CR_TRY(shorten_path(cx, j, path));
done:
    cr_scratch_end(&room);
    return st;
}

/* How many tasks fit into memory side by side. */
static size_t batch_size(const journey *j)
{
    const double budget = 1e9;
    double       p = (double)j->p, n = (double)j->rows->n;
    double       direct = fmin(p, 1500), entries = n * p;
    if (cri_rows_are_sparse(j->rows))
        entries = 2 * (double)cri_sparse_entries(j->rows->sparse) + 8 * p;
    double each = 8 * (j->settings->gram ? 2 * p * p : entries + direct * direct);
    return each * 64 < budget ? 64 : each < budget / 2 ? (size_t)(budget / each) : 1;
}

/* So many lambdas that threads meet a few hundred times at the most, and not in vain. */
static size_t stretch_length(const journey *j)
{
    double p = (double)j->p, n = j->settings->gram ? p : (double)j->rows->n, cells = n * p;
    if (cri_rows_are_sparse(j->rows)) cells = 4 * (double)cri_sparse_entries(j->rows->sparse) + p;
    double length = 1e7 / (cells + 1);
    return length < 1 ? 1 : length < (double)j->L ? (size_t)length : j->L;
}

/* The folds begin .. end-1 side by side. */
static cr_status run_batch(cr_ctx *cx, journey *j, cri_range folds)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = folds.end - folds.begin, length = stretch_length(j);

    j->tasks = cr_scratch_bytes(&s, n, sizeof *j->tasks);
    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++) CR_TRY(prepare_fold(cx, &s, j, folds.begin + i, &j->tasks[i]));
    for (size_t b = 0; b < cri_block_count(j->L, length); b++) {
        j->stretch = cri_block_range(j->L, length, b);
        cri_blas_enter();
        st = cri_parallel_for(cx, NULL, n, advance, j);
        cri_blas_leave();
        CR_TRY(st);
        cr_progress(cx, "cross-validating", (double)j->stretch.end, (double)j->L);
        if (n == j->view.folds && is_past_least(j, j->stretch.end)) j->L = j->stretch.end;
    }
done:
    for (size_t i = 0; j->tasks && i < n; i++) cri_path_end_free(cx, &j->tasks[i].at);
    cr_scratch_end(&s);
    return st;
}

static cr_status run_folds(cr_ctx *cx, journey *j)
{
    size_t    folds = j->view.folds, size = batch_size(j);
    cr_status st = CR_OK;
    for (size_t i = 0; i < cri_block_count(folds, size) && st == CR_OK; i++)
        st = run_batch(cx, j, cri_block_range(folds, size, i));
    return st;
}

cr_status cri_lasso_path_follow(cr_ctx *cx, cr_scratch *s, const cri_rows *rows,
                                const cri_path_settings *o, cri_lasso_path *out_path,
                                cri_path_end *out_end)
{
    cr_status      st = CR_OK;
    journey        j = { .settings = o, .rows = rows, .p = rows->p };
    cri_lasso_path path = { 0 };
    task           all = { 0 };
    point         *points;

    if (o->folds > 0) CR_TRY(cri_folds_of_rows(cx, s, rows, o->folds, o->seed, !o->gram, &j.view));
    j.moments = cr_scratch_bytes(s, j.view.folds, sizeof *j.moments);
    CR_TRY(s->status);
    if (o->gram) CR_TRY(cri_folds_moments(cx, &j.view, j.moments));
    CR_TRY(prepare_all_rows(cx, s, &j, &all));
    double most = cri_descent_lambda_max(&all.at.descent);
    CR_TRY(choose_lambdas(s, &j, most));
    points = cr_scratch_bytes(s, j.L, sizeof *points);
    j.errors = cr_scratch_matrix(s, j.view.folds, j.L);
    j.stride = j.L;
    j.weight = all.at.descent.weight;
    CR_TRY(s->status);
    CR_TRY(run_folds(cx, &j));
    CR_TRY(allocate_path(cx, &j, &path));
    CR_TRY(run_all_rows(cx, s, &j, &all.at.descent, points, &path));
    CR_TRY(pack(cx, &j, points, &path));
    if (j.view.folds > 0) summarise_folds(&j, &path);
    path.lambda_max = most;
    path.weight = all.at.descent.weight;
    path.offset = offset_of(&all);
    path.tt = all.at.descent.tt;
    *out_path = path;
    *out_end = all.at;
    path = (cri_lasso_path){ 0 };
    all = (task){ 0 };
done:
    cri_lasso_path_free(cx, &path);
    cri_path_end_free(cx, &all.at);
    for (size_t f = 0; j.moments && f < j.view.folds; f++) cri_moments_free(cx, &j.moments[f]);
    return st;
}
