/* learning_curve.c -- growing parts of the training rows of every fold. */
#include "learning_curve.h"
#include "assess_internal.h"
#include "jobs.h"
#include "plan.h"
#include "plan_internal.h"
#include "base/rng.h"
#include "base/sort.h"
#include "data/table/subset.h"
#include "models/core/model_internal.h"

#include <math.h>
#include <stdlib.h>

typedef struct curve_work {
    const cri_plan *plan;
    const double   *shares;
    size_t          n;
    cr_assessment  *test, *train; /* [n x folds] */
    size_t         *rows;         /* [n] of the first fold */
} curve_work;

typedef struct placed_row {
    double place; /* in (0, 1): among the rows of its class, in random order */
    size_t row;
} placed_row;

CRI_COMPARE_BY_TWO(by_place, placed_row, place, row);

static const cr_column *class_column(const cri_plan *p)
{
    const cr_model_spec *m = &p->specs[0];
    const char          *target = cri_setting_of(m->settings, m->n_settings, "target");
    return target && p->task == CR_TASK_CLASSIFICATION ? cr_table_find(p->table, target) : NULL;
}

/* Orders rows[0..n) at random such that every beginning holds the classes in proportion. */
static cr_status order_rows(cr_ctx *cx, const cri_plan *p, uint64_t seed, size_t *rows, size_t n)
{
    cr_status        st = CR_OK;
    cr_scratch       s = cr_scratch_begin(cx);
    const cr_column *y = class_column(p);
    size_t           K = y ? y->n_levels + 1 : 1;
    size_t          *order = cr_scratch_index(&s, n);
    double          *size = cr_scratch_bytes(&s, K, sizeof *size);
    double          *seen = cr_scratch_bytes(&s, K, sizeof *seen);
    placed_row      *placed = cr_scratch_bytes(&s, n, sizeof *placed);
    cr_rng           r = cr_rng_stream(seed, (uint64_t)0x43555256u << 32); /* "CURV" */

    CR_TRY(s.status);
    cr_rng_permutation(&r, n, order);
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < n; i++) {
            size_t row = rows[order[i]], k = y ? y->codes[row] : 0;
            if (k >= K) k = K - 1; /* missing */
            if (pass == 0)
                size[k]++;
            else
                placed[i] = (placed_row){ (seen[k]++ + 0.5) / size[k], row };
        }
    if (y) qsort(placed, n, sizeof *placed, by_place);
    for (size_t i = 0; i < n; i++) rows[i] = placed[i].row;
done:
    cr_scratch_end(&s);
    return st;
}

static size_t part_of(double share, size_t n)
{
    double rows = round(share * (double)n);
    return rows < 1 ? 1 : rows > (double)n ? n : (size_t)rows;
}

static cr_status run_point(cr_ctx *cx, void *arg, size_t job)
{
    cr_status            st = CR_OK;
    const curve_work    *w = arg;
    size_t               folds = w->plan->folds * w->plan->repeats, f = job % folds, n;
    const cr_folds      *split = &w->plan->split[f / w->plan->folds];
    const cr_model_spec *m = &w->plan->specs[0];
    cr_scratch           s = cr_scratch_begin(cx);
    size_t              *rows = cr_scratch_index(&s, split->n);
    cr_table            *train = NULL, *test = NULL;
    cr_model            *model = NULL;

    CR_TRY(s.status);
    n = cr_folds_test(split, f % w->plan->folds, rows);
    CR_TRY(cri_table_subset(cx, w->plan->table, rows, n, &test));
    n = cr_folds_train(split, f % w->plan->folds, rows);
    CR_TRY(order_rows(cx, w->plan, cri_item_seed(w->plan->seed, 1, f + 1), rows, n));
    n = part_of(w->shares[job / folds], n);
    if (f == 0) w->rows[job / folds] = n;
    CR_TRY(cri_table_subset(cx, w->plan->table, rows, n, &train));
    st = cr_fit(cx, m->model, train, m->settings, m->n_settings, &model);
    if (st != CR_OK && st != CR_ENOMEM && st != CR_EINTERRUPTED)
        cr_fail_note(cx, "from %zu rows, a share of %g", n, w->shares[job / folds]);
    CR_TRY(st);
    CR_TRY(cri_evaluate(cx, model, test, &w->plan->how, &w->test[job]));
    CR_TRY(cri_evaluate(cx, model, train, &w->plan->how, &w->train[job]));
done:
    cr_model_free(cx, model);
    cr_table_free(cx, train);
    cr_table_free(cx, test);
    cr_scratch_end(&s);
    return st;
}

static cr_status check_shares(cr_ctx *cx, const double *shares, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(shares[i] > 0 && shares[i] <= 1 && (i == 0 || shares[i] > shares[i - 1])))
            return cr_fail(cx, CR_EARG,
                           "the shares of a learning curve must increase and lie between 0 and 1, "
                           "but number %zu is %g",
                           i + 1, shares[i]);
    return n > 0 ? CR_OK : cr_fail(cx, CR_EARG, "a learning curve needs at least one share");
}

/* All points of the curve, or *out_n of them: those with the fewest rows, of which all folds were finished in time. */
static cr_status run_points(cr_ctx *cx, curve_work *w, size_t *out_n)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     folds = w->plan->folds * w->plan->repeats, jobs = w->n * folds, first = 0;
    bool      *done = cr_scratch_bytes(&s, jobs, sizeof *done);
    CR_TRY(s.status);
    CR_TRY(cri_run_jobs_in_time(cx, "learning curve", jobs, run_point, w, 0.9, done));
    while (first < jobs && done[first]) first++;
    *out_n = first / folds;
    if (*out_n == 0) CR_TRY(cri_plan_fail_time(cx, w->plan, "points", w->n));
    if (*out_n < w->n)
        cr_log(cx, CR_LOG_WARNING,
               "the time limit ended the learning curve: %zu of %zu points, up to a share of %g",
               *out_n, w->n, w->shares[*out_n - 1]);
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cr_learn_curve(cr_ctx *cx, const cr_model_spec *spec, const cr_table *t,
                         const double *shares, size_t n, const cr_cv_options *o,
                         cr_learning_curve *out)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    cri_plan          plan = { 0 };
    cr_learning_curve c = { 0 };
    curve_work        w = { &plan, shares, n, NULL, NULL, NULL };

    CR_TRY(check_shares(cx, shares, n));
    CR_TRY(cri_plan_open(cx, spec, 1, t, o, &plan));
    CR_TRY(cri_plan_refuse_sequences(cx, spec, 1, "a learning curve"));
    size_t folds = plan.folds * plan.repeats;
    w.test = cr_scratch_bytes(&s, n * folds, sizeof *w.test);
    w.train = cr_scratch_bytes(&s, n * folds, sizeof *w.train);
    w.rows = cr_scratch_index(&s, n);
    CR_TRY(s.status);
    CR_TRY(run_points(cx, &w, &n));
    c.points = cr_alloc(cx, n, sizeof *c.points);
    if (!c.points) CR_TRY(CR_ENOMEM);
    c.n = n, c.folds = plan.folds, c.repeats = plan.repeats, c.seed = plan.seed;
    for (size_t i = 0; i < n; i++) {
        cr_curve_point *p = &c.points[i];
        p->share = shares[i], p->rows = w.rows[i];
        cri_scores_mean(w.test + i * folds, c.folds, c.repeats, &p->test, p->test_se);
        cri_scores_mean(w.train + i * folds, c.folds, c.repeats, &p->train, p->train_se);
    }
    *out = c;
    c = (cr_learning_curve){ 0 };
done:
    cr_learning_curve_free(cx, &c);
    cri_plan_close(cx, &plan);
    cr_scratch_end(&s);
    return st;
}

void cr_learning_curve_free(cr_ctx *cx, cr_learning_curve *c)
{
    cr_free(cx, c->points, c->n, sizeof *c->points);
    *c = (cr_learning_curve){ 0 };
}
