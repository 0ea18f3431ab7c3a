/* lasso_task.c -- one descent along the path, alone or together with others. */
#include "lasso_task.h"
#include "base/parallel.h"
#include "math/dense/blas_internal.h"

typedef cri_lasso_task task;

/* --- setting up ------------------------------------------------------------------------------ */

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
static cr_status prepare_gram(cr_ctx *cx, cr_scratch *s, const cri_path_settings *o, cri_moments *m,
                              task *t)
{
    cr_status st = cri_gram_new(cx, m, o->intercept, o->standardise, &t->at.gram);
    cri_moments_free(cx, m);
    if (st == CR_OK) st = cri_descent_of_gram(s, &t->at.gram, &o->descent, &t->at.descent);
    return st;
}

/* The weights of all rows, 0 in the fold. */
static double *weigh_rows(cr_scratch *s, const cri_lasso_source *from, size_t fold)
{
    const cri_rows *rows = from->rows;
    double         *w = cr_scratch_f64(s, rows->n);
    for (size_t i = 0; w && i < rows->n; i++)
        w[i] = from->view.fold[i] == fold ? 0 : rows->w ? rows->w[i] : 1;
    return w;
}

static cr_status prepare_columns(cr_ctx *cx, cr_scratch *s, const cri_lasso_source *from,
                                 size_t fold, task *t)
{
    cr_status                st = CR_OK;
    const cri_path_settings *o = from->settings;
    const cri_rows          *all = from->rows;
    bool                     has_fold = fold < from->view.folds;
    cri_columns             *X = cr_scratch_bytes(s, 1, sizeof *X);

    CR_TRY(s->status);
    if (cri_rows_are_sparse(all)) {
        CR_TRY(cri_columns_of_sparse(cx, s, has_fold ? &from->view.train[fold] : all, o->intercept,
                                     o->standardise, X));
    } else {
        const double *w = has_fold ? weigh_rows(s, from, fold) : all->w;
        CR_TRY(s->status);
        CR_TRY(cri_columns_of_shared(cx, s, &from->shared, all->y, w, o->intercept, o->standardise,
                                     X));
    }
    t->at.columns = *X; /* whose entries are freed with the task */
    CR_TRY(cri_descent_of_columns(s, X, &o->descent, &t->at.descent));
done:
    return st;
}

cr_status cri_lasso_task_new(cr_ctx *cx, cr_scratch *s, const cri_lasso_source *from, size_t fold,
                             double *error, cri_lasso_task *out)
{
    cr_status   st = CR_OK;
    cri_moments m = { 0 };
    bool        has_fold = fold < from->view.folds;
    size_t      p = from->rows->p, n = has_fold ? from->view.test[fold].n : 0;

    *out = (task){ .error = error };
    out->b = cr_scratch_f64(s, p);
    out->terms = cr_scratch_index(s, p);
    out->mean = cr_scratch_f64(s, n);
    out->x = cr_scratch_f64(s, n);
    CR_TRY(s->status);
    if (has_fold) out->test_rows = &from->view.test[fold];
    if (!from->settings->gram) {
        CR_TRY(prepare_columns(cx, s, from, fold, out));
        goto done;
    }
    if (has_fold) out->test = &from->moments[fold];
    CR_TRY(from->view.folds
               ? cri_folds_moments_without(cx, from->moments, from->view.folds, fold, &m)
               : cri_moments_of_rows(cx, from->rows, &m));
    CR_TRY(prepare_gram(cx, s, from->settings, &m, out));
done:
    return st;
}

/* --- the error of a fold --------------------------------------------------------------------- */

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

/* --- from lambda to lambda ------------------------------------------------------------------- */

bool cri_lasso_task_is_saturated(const cri_lasso_task *t)
{
    const cri_descent *d = &t->at.descent;
    return (double)d->p >= d->weight && cri_descent_mse(d) <= 1e-3 * d->tt;
}

/* What is noted at the end of a lambda. */
static void finish_lambda(task *t, size_t k)
{
    if (!t->test_rows) return;
    t->error[k] = t->saturated ? t->error[k - 1] : error_of(t, t->at.descent.p);
    t->saturated = t->saturated || (k > 0 && cri_lasso_task_is_saturated(t));
}

void cri_lasso_task_step(cri_lasso_task *t, double lambda, size_t k)
{
    if (!t->saturated) cri_descent_step(&t->at.descent, lambda);
    finish_lambda(t, k);
}

typedef struct round_work {
    task *const   *tasks;
    const double **wanted; /* [tasks] a residual, or NULL                      */
    size_t        *place;  /* [tasks] of its products in c                     */
    const double  *c;      /* [p x wants] by term                              */
    size_t         wants, k;
    double         lambda;
    bool          *done; /* [tasks] */
} round_work;

static void begin_one(void *arg, size_t i)
{
    const round_work *w = arg;
    cri_descent      *d = &w->tasks[i]->at.descent;
    cri_descent_begin(d, w->lambda);
    cri_descent_solve(d);
    w->wanted[i] = cri_descent_wanted(d);
}

static void check_one(void *arg, size_t i)
{
    const round_work *w = arg;
    cri_descent      *d = &w->tasks[i]->at.descent;
    w->done[i] = cri_descent_check(d, w->wanted[i] ? w->c + w->place[i] : NULL, w->wants);
    if (w->done[i]) {
        finish_lambda(w->tasks[i], w->k);
        return;
    }
    cri_descent_solve(d);
    w->wanted[i] = cri_descent_wanted(d);
}

/* The products that the tasks want, all at once. */
static cr_status multiply_wanted(cr_ctx *cx, cr_scratch *s, round_work *w, size_t count, double *c)
{
    cr_status           st = CR_OK;
    const cri_columns **X = cr_scratch_bytes(s, count, sizeof *X);
    const double      **r = cr_scratch_bytes(s, count, sizeof *r);
    CR_TRY(s->status);
    w->wants = 0;
    for (size_t i = 0; i < count; i++) {
        if (!w->wanted[i]) continue;
        w->place[i] = w->wants;
        X[w->wants] = w->tasks[i]->at.descent.X;
        r[w->wants++] = w->wanted[i];
    }
    if (w->wants > 0) CR_TRY(cri_columns_gradients(cx, X, r, w->wants, c));
    w->c = c;
done:
    return st;
}

/* One round: a check of the tasks that are not done, in the first places of `tasks`. */
static cr_status run_round(cr_ctx *cx, cr_scratch *s, task **tasks, size_t *count, round_work *w,
                           double *c)
{
    cr_status st = CR_OK;
    size_t    left = 0;
    CR_TRY(multiply_wanted(cx, s, w, *count, c));
    cri_blas_enter();
    st = cri_parallel_for(cx, NULL, *count, check_one, w);
    cri_blas_leave();
    CR_TRY(st);
    for (size_t i = 0; i < *count; i++) {
        if (w->done[i]) continue;
        w->wanted[left] = w->wanted[i];
        tasks[left++] = tasks[i];
    }
    *count = left;
done:
    return st;
}

cr_status cri_lasso_tasks_step(cr_ctx *cx, cri_lasso_task *const *all, size_t n, double lambda,
                               size_t k)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     count = 0, p = n ? all[0]->at.descent.p : 0;
    task     **tasks = cr_scratch_bytes(&s, n, sizeof *tasks);
    double    *c = cr_scratch_matrix(&s, p, n);
    round_work w = { .tasks = tasks, .k = k, .lambda = lambda };

    w.done = cr_scratch_bytes(&s, n, sizeof *w.done);
    w.wanted = cr_scratch_bytes(&s, n, sizeof *w.wanted);
    w.place = cr_scratch_index(&s, n);
    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++) {
        if (!all[i]->saturated)
            tasks[count++] = all[i];
        else
            finish_lambda(all[i], k);
    }
    cri_blas_enter();
    st = cri_parallel_for(cx, NULL, count, begin_one, &w);
    cri_blas_leave();
    while (st == CR_OK && count > 0) st = run_round(cx, &s, tasks, &count, &w, c);
done:
    cr_scratch_end(&s);
    return st;
}
