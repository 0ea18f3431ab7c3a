/* bootstrap.c -- replicates in batches, sums over them in order. */
#include "bootstrap.h"
#include "jobs.h"
#include "plan.h"
#include "plan_internal.h"
#include "data/table/subset.h"
#include "data/table/table_internal.h"

#include <math.h>
#include <string.h>

enum { BATCH = 16 }; /* replicates whose predictions are held at once */

typedef struct boot {
    const cri_plan *plan;
    size_t          n, K;  /* rows; classes, 0 for numbers                                */
    const double   *y, *w; /* [n]; y NaN in rows that are not scored                     */
    const size_t   *drawn; /* [samples x n] or NULL                                      */
    size_t          first; /* replicate of the batch's first                             */
    double         *f;     /* [BATCH x n] predictions of rows left out; NaN for the rest */
    double         *count, *mean, *square, *loss; /* [n] over the replicates             */
    double         *votes;                        /* [n x K] */
} boot;

/* --- one prediction per row ------------------------------------------------------------------ */

static double point(const cr_prediction *p, size_t i)
{
    size_t best = 0, K = p->n_classes;
    if (p->mean) return p->mean[i];
    if (isnan(p->prob[i * K])) return NAN;
    for (size_t k = 1; k < K; k++)
        if (p->prob[i * K + k] > p->prob[i * K + best]) best = k;
    return (double)best;
}

static double loss(const boot *b, double y, double f)
{
    return b->K ? (double)(y != f) : (y - f) * (y - f);
}

/* Fits to the rows of a table and predicts rows[0..n) of the whole, out[row]. */
static cr_status fit_and_predict(cr_ctx *cx, const boot *b, const cr_table *train,
                                 const size_t *rows, size_t n, double *out)
{
    cr_status            st = CR_OK;
    const cr_model_spec *m = &b->plan->specs[0];
    cr_table            *test = NULL;
    cr_model            *model = NULL;
    cr_prediction        p = { 0 };
    CR_TRY(cr_fit(cx, m->model, train, m->settings, m->n_settings, &model));
    CR_TRY(cri_table_subset(cx, b->plan->table, rows, n, &test));
    CR_TRY(cr_predict(cx, model, test, &p));
    for (size_t i = 0; i < n; i++) out[rows[i]] = point(&p, i);
done:
    cr_prediction_free(cx, &p);
    cr_model_free(cx, model);
    cr_table_free(cx, test);
    return st;
}

/* The rows that a given sample leaves out. */
static size_t rows_left(const size_t *drawn, size_t n, size_t *left)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) left[i] = 0;
    for (size_t i = 0; i < n; i++) left[drawn[i]] = 1;
    for (size_t i = 0; i < n; i++)
        if (!left[i]) left[count++] = i;
    return count;
}

static cr_status run_replicate(cr_ctx *cx, void *arg, size_t job)
{
    cr_status   st = CR_OK;
    const boot *b = arg;
    cr_scratch  s = cr_scratch_begin(cx);
    size_t     *drawn = cr_scratch_index(&s, b->n), *left = cr_scratch_index(&s, b->n), n_left;
    size_t      replicate = b->first + job;
    double     *f = b->f + job * b->n;
    cr_table   *train = NULL;

    CR_TRY(s.status);
    if (b->drawn) {
        memcpy(drawn, b->drawn + replicate * b->n, b->n * sizeof *drawn);
        n_left = rows_left(drawn, b->n, left);
    } else {
        cr_bootstrap(b->n, b->plan->seed, replicate, drawn, left, &n_left);
    }
    for (size_t i = 0; i < b->n; i++) f[i] = NAN;
    CR_TRY(cri_table_subset(cx, b->plan->table, drawn, b->n, &train));
    if (n_left > 0) CR_TRY(fit_and_predict(cx, b, train, left, n_left, f));
done:
    cr_table_free(cx, train);
    cr_scratch_end(&s);
    return st;
}

/* --- sums ------------------------------------------------------------------------------------ */

static void add_prediction(boot *b, size_t i, double f)
{
    if (isnan(f) || isnan(b->y[i])) return;
    double before = f - b->mean[i];
    b->count[i]++;
    b->mean[i] += before / b->count[i];
    b->square[i] += before * (f - b->mean[i]); /* Welford (1962) */
    b->loss[i] += loss(b, b->y[i], f);
    if (b->K) b->votes[i * b->K + (size_t)f]++;
}

/* *out_made: as many as there is time for. */
static cr_status run_replicates(cr_ctx *cx, boot *b, size_t samples, size_t *out_made)
{
    cr_status st = CR_OK;
    bool      done[BATCH];
    size_t    made = 0;
    for (b->first = 0; b->first < samples && made == b->first; b->first += BATCH) {
        size_t n = samples - b->first < BATCH ? samples - b->first : BATCH;
        CR_TRY(cri_run_jobs_in_time(cx, "resampling", n, run_replicate, b, 0.9, done));
        for (size_t j = 0; j < n; j++) {
            for (size_t i = 0; done[j] && i < b->n; i++) add_prediction(b, i, b->f[j * b->n + i]);
            made += done[j];
        }
        cr_progress(cx, "resampling", (double)(b->first + n), (double)samples);
    }
    if (made == 0) CR_TRY(cri_plan_fail_time(cx, b->plan, "samples", samples));
    if (made < samples)
        cr_log(cx, CR_LOG_WARNING, "the time limit ended the bootstrap: %zu of %zu samples", made,
               samples);
    *out_made = made;
done:
    return st;
}

/* The class most replicates chose; the first of equals. */
static size_t main_class(const boot *b, size_t i)
{
    size_t best = 0;
    for (size_t k = 1; k < b->K; k++)
        if (b->votes[i * b->K + k] > b->votes[i * b->K + best]) best = k;
    return best;
}

/* What one row adds to bias and variances. */
static void add_parts(const boot *b, size_t i, double w, cr_bootstrap_error *e)
{
    double m = b->count[i], d = b->y[i] - b->mean[i];
    if (b->K == 0) {
        e->bias += w * d * d;
        e->variance += w * b->square[i] / m;
        return;
    }
    size_t f = main_class(b, i), y = (size_t)b->y[i];
    if (f == y)
        e->unbiased_variance += w * (1 - b->votes[i * b->K + f] / m);
    else
        e->bias += w, e->biased_variance += w * b->votes[i * b->K + y] / m;
}

static void sum_rows(const boot *b, cr_bootstrap_error *e)
{
    double W = 0, sum = 0, square = 0;
    size_t rows = 0;
    for (size_t i = 0; i < b->n; i++) {
        if (isnan(b->y[i])) continue;
        e->unjudged += b->count[i] == 0;
        if (b->count[i] == 0) continue;
        W += b->w[i];
        sum += b->w[i] * b->loss[i] / b->count[i];
        rows++;
    }
    e->leave_one_out = sum / W;
    for (size_t i = 0; i < b->n; i++) {
        if (isnan(b->y[i]) || b->count[i] == 0) continue;
        double d = b->loss[i] / b->count[i] - e->leave_one_out;
        square += b->w[i] / W * d * d;
        add_parts(b, i, b->w[i] / W, e);
    }
    e->leave_one_out_se = rows > 1 ? sqrt(square / (double)(rows - 1)) : NAN;
    if (b->K) e->variance = e->unbiased_variance - e->biased_variance;
}

/* The loss if targets and predictions had nothing to do with each other: every target with every
 * prediction.  O(n) by moments, or by the shares of the classes. */
static cr_status no_information(cr_ctx *cx, const boot *b, const double *f, double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *p = cr_scratch_bytes(&s, 2 * b->K, sizeof *p), *q = p ? p + b->K : NULL;
    double     W = 0, y = 0, g = 0, yy = 0, gg = 0, hit = 0;
    CR_TRY(s.status);
    for (size_t i = 0; i < b->n; i++) {
        if (isnan(b->y[i])) continue;
        W += b->w[i], y += b->w[i] * b->y[i], g += b->w[i] * f[i];
        if (b->K) p[(size_t)b->y[i]] += b->w[i], q[(size_t)f[i]] += b->w[i];
    }
    for (size_t i = 0; i < b->n; i++) {
        if (isnan(b->y[i])) continue;
        yy += b->w[i] / W * (b->y[i] - y / W) * (b->y[i] - y / W);
        gg += b->w[i] / W * (f[i] - g / W) * (f[i] - g / W);
    }
    for (size_t k = 0; k < b->K; k++) hit += p[k] / W * q[k] / W;
    *out = b->K ? 1 - hit : yy + gg + (y - g) / W * ((y - g) / W);
done:
    cr_scratch_end(&s);
    return st;
}

/* Efron & Tibshirani (1997), (27)-(32). */
static void combine(cr_bootstrap_error *e)
{
    double err = e->apparent, err1 = e->leave_one_out, gamma = e->no_information;
    double least = fmin(err1, gamma);
    e->overfitting = err1 > err && gamma > err ? (least - err) / (gamma - err) : 0;
    e->err_632 = 0.368 * err + 0.632 * err1;
    double R = e->overfitting;
    e->err_632_plus = e->err_632 + (least - err) * 0.368 * 0.632 * R / (1 - 0.368 * R);
}

/* --- the door -------------------------------------------------------------------------------- */

static cr_status check_drawn(cr_ctx *cx, const size_t *drawn, size_t samples, size_t n)
{
    for (size_t i = 0; drawn && i < samples * n; i++)
        if (drawn[i] >= n)
            return cr_fail(cx, CR_EARG, "sample %zu contains row %zu, but there are %zu rows",
                           i / n + 1, drawn[i] + 1, n);
    return CR_OK;
}

/* The fit on all rows: its loss on them, and what that would be without information.  Also the
 * targets, weights and number of classes. */
static cr_status fit_whole(cr_ctx *cx, boot *b, double *y, double *w, cr_bootstrap_error *e)
{
    cr_status            st = CR_OK;
    const cr_model_spec *m = &b->plan->specs[0];
    cr_scratch           s = cr_scratch_begin(cx);
    double              *f = cr_scratch_f64(&s, b->n), W = 0, sum = 0;
    cr_model            *model = NULL;
    cr_prediction        p = { 0 };

    CR_TRY(s.status);
    CR_TRY(cr_fit(cx, m->model, b->plan->table, m->settings, m->n_settings, &model));
    CR_TRY(cr_observed(cx, model, b->plan->table, y, w));
    CR_TRY(cr_predict(cx, model, b->plan->table, &p));
    b->K = p.n_classes;
    for (size_t i = 0; i < b->n; i++) {
        f[i] = point(&p, i);
        if (isnan(f[i])) y[i] = NAN;
        if (isnan(y[i])) continue;
        W += w[i], sum += w[i] * loss(b, y[i], f[i]);
        e->rows++;
    }
    e->apparent = sum / W;
    CR_TRY(no_information(cx, b, f, &e->no_information));
done:
    cr_prediction_free(cx, &p);
    cr_model_free(cx, model);
    cr_scratch_end(&s);
    return st;
}

cr_status cr_bootstrap_assess(cr_ctx *cx, const cr_model_spec *spec, const cr_table *t,
                              size_t samples, const size_t *opt_drawn, cr_bootstrap_error *out)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(cx);
    cri_plan           plan = { 0 };
    size_t             n = cr_table_rows(t);
    double            *y = cr_scratch_f64(&s, n), *w = cr_scratch_f64(&s, n);
    boot               b = { .plan = &plan, .n = n, .y = y, .w = w, .drawn = opt_drawn };
    cr_bootstrap_error e = { .samples = samples };

    CR_TRY(s.status);
    if (samples == 0) CR_TRY(cr_fail(cx, CR_EARG, "a bootstrap needs at least one sample"));
    CR_TRY(check_drawn(cx, opt_drawn, samples, n));
    CR_TRY(cri_plan_open_unsplit(cx, spec, 1, t, NULL, &plan));
    CR_TRY(cri_plan_refuse_sequences(cx, spec, 1, "the bootstrap"));
    if (!(plan.task & (CR_TASK_REGRESSION | CR_TASK_CLASSIFICATION)))
        CR_TRY(cr_fail(cx, CR_EUNSUPPORTED, "the model %s has no target to score", spec->model));
    CR_TRY(fit_whole(cx, &b, y, w, &e));
    e.seed = plan.seed;
    e.loss = b.K ? "error rate" : "squared error";
    b.f = cr_scratch_matrix(&s, samples < BATCH ? samples : BATCH, n);
    double **sums[] = { &b.count, &b.mean, &b.square, &b.loss };
    for (size_t k = 0; k < 4; k++) *sums[k] = cr_scratch_bytes(&s, n, sizeof(double));
    b.votes = cr_scratch_bytes(&s, n * b.K, sizeof(double));
    CR_TRY(s.status);
    CR_TRY(run_replicates(cx, &b, samples, &e.samples));
    sum_rows(&b, &e);
    if (b.K == 0) e.unbiased_variance = e.biased_variance = NAN;
    if (e.unjudged)
        cr_log(cx, CR_LOG_WARNING,
               "%zu of %zu rows were in every sample and are not scored: more samples are needed",
               e.unjudged, e.rows);
    combine(&e);
    *out = e;
done:
    cri_plan_close(cx, &plan);
    cr_scratch_end(&s);
    return st;
}
