/* nadaraya_watson.c -- kernel regression (kernel_weights.h), its bandwidth and its spread.
 * The bandwidth has the least leave-one-out squared error: one factor for all standardised columns,
 * over a grid and then by Brent's method; or one for each column, found in turn.
 * The predictive distribution is Student's t at the mean with m + 1 degrees of freedom and
 *   scale^2 = (m sum v_i e_i^2 + e^2) / (m + 1),
 * e_i the leave-one-out residuals, e^2 the mean of their squares, m the number of rows that say as
 * much as the weighted ones do: the spread near x, leaning on that of all rows where few are near.
 * Nadaraya (1964); Watson (1964); Fan & Yao (1998) for the spread. */
#include "kernel_weights.h"
#include "models/common/copies.h"
#include "models/common/kept.h"
#include "models/common/some_rows.h"
#include "models/core/parameters.h"
#include "models/core/rows_check.h"
#include "base/clock.h"
#include "base/context_internal.h"
#include "base/list.h"
#include "base/number.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "base/scratch.h"
#include "math/optim/brent.h"

#include <math.h>
#include <string.h>

/* clang-format off */
#define NW_OPTIONS(X)                                                                              \
    X(list,   bandwidth,  "auto",     "X",                                                         \
      "width of the kernel in standardised units: auto (by leave-one-out), one number, or one for each term", "0.3") \
    X(flag,   per_column, "false",    "",      "auto: a width for each column instead of one for all", "true") \
    X(choice, kernel,     "gaussian", "gaussian|epanechnikov", "how the weight decreases with distance", "epanechnikov") \
    X(choice, order,      "0",        "0|1",   "what is fitted around a point: 0 is a constant, 1 a plane", "1")
/* clang-format on */

CR_OPTIONS(nw_options, nw_table, NW_OPTIONS);

/* clang-format off */
#define NW_STATE(MEMBER)                                                                                \
    MEMBER(count,  n,        (),     ">=1", "rows that are kept")                                       \
    MEMBER(count,  p,        (),     "",    "terms")                                                    \
    MEMBER(flag,   compact,  (),     "",    "Epanechnikov's kernel, not the Gaussian")                  \
    MEMBER(flag,   linear,   (),     "",    "a plane around the point, not a constant")                 \
    MEMBER(matrix, X,        (n, p), "",    "the rows")                                                 \
    MEMBER(vector, y,        (n),    "",    "their targets")                                            \
    MEMBER(vector, w,        (n),    ">0",  "their weights")                                            \
    MEMBER(vector, h,        (p),    ">0",  "bandwidths")                                               \
    MEMBER(vector, residual, (n),    "",    "leave-one-out residuals")                                  \
    MEMBER(real,   mse,      (),     ">=0", "the mean of their squares")
/* clang-format on */

CRI_RECORD(nw_state, NW_STATE, bool whole; /* while it is fitted */);
CRI_RECORD_TABLE(static, nw_record, nw_state, NW_STATE);

static cri_smoother smoother_of(const nw_state *m)
{
    return (cri_smoother){ m->n, m->p, m->compact, m->linear, m->X, m->y, m->w, m->h, m->whole };
}

/* --- bandwidth ------------------------------------------------------------------------------- */

enum { MOST_QUERIES = 4000, STEPS = 29, STRIDE = 11, SWEEPS = 4 };
static const double narrowest = 0.005, widest = 50; /* of the grid, in standard deviations */

typedef struct search {
    cr_ctx       *cx;
    cri_smoother  m;
    const size_t *rows; /* [n_rows] that are predicted; NULL: all */
    size_t        n_rows;
    const double *base;    /* [p]: h = base exp(x)                    */
    size_t        column;  /* the one that is changed; SIZE_MAX: all */
    double        seconds; /* of one loss; 0: not known               */
    bool          late;    /* the time limit ended the search         */
    double        x, loss; /* the best of the factor that is looked for, so far */
} search;

/* Leaves time for the residuals of all rows.  Where that has come, the best so far is what there is: `late`; where it
 * is over, nothing. */
static cr_status check_time(search *s)
{
    double left = cri_time_left(s->cx), rest = s->seconds * (double)s->m.n / (double)s->n_rows;
    if (left > 1.5 * rest + s->seconds) return CR_OK;
    s->late = left > rest && s->seconds > 0;
    return cr_fail(s->cx, CR_ENOMEM, "the time limit is reached");
}

static cr_status loss_at(void *user, double x, double *out)
{
    cr_status st = CR_OK;
    search   *s = user;
    double    begun = cri_seconds();
    CR_TRY(check_time(s));
    for (size_t j = 0; j < s->m.p; j++)
        s->m.h[j] = s->base[j] * (s->column == SIZE_MAX || s->column == j ? exp(x) : 1);
    CR_TRY(cri_smoother_loo(s->cx, &s->m, s->rows, s->n_rows, NULL, out));
    s->seconds = cri_seconds() - begun;
    if (*out < s->loss) s->loss = *out, s->x = x;
done:
    return st;
}

/* The best factor in [exp(low), exp(high)]: a grid, from one end to the other and in between, then Brent's method
 * around its best point; or the best so far. */
static cr_status best_factor(search *s, double low, double high, size_t steps, double *out_x,
                             double *out_loss)
{
    cr_status st = CR_OK;
    double    step = (high - low) / (double)(steps - 1), best = low, least = INFINITY, loss[STEPS];
    s->loss = INFINITY;
    for (size_t k = 0; k < steps; k++) {
        size_t i = k * STRIDE % steps;
        CR_TRY(loss_at(s, low + step * (double)i, &loss[i]));
        cr_progress(s->cx, "choosing the bandwidth", (double)(k + 1), (double)steps);
    }
    for (size_t i = 0; i < steps; i++)
        if (loss[i] < least * (1 - 1e-12)) least = loss[i], best = low + step * (double)i;
    CR_TRY(cr_brent_minimize(s->cx, loss_at, s, fmax(low, best - step), fmin(high, best + step),
                             1e-5, out_x, out_loss));
    if (least < *out_loss) *out_x = best, *out_loss = least;
done:
    if (!s->late || s->loss == INFINITY) return st;
    *out_x = s->x, *out_loss = s->loss;
    return CR_OK;
}

/* Each column in turn, from one width for all; stops when a sweep gains no more than 1e-4. */
static cr_status sweep_columns(search *s, double *base, double loss)
{
    cr_status st = CR_OK;
    for (size_t sweep = 0; sweep < SWEEPS && s->m.p > 1 && !s->late; sweep++) {
        double before = loss;
        for (size_t j = 0; j < s->m.p && !s->late; j++) {
            double x, now;
            s->column = j;
            CR_TRY(best_factor(s, log(0.25), log(sweep ? 4 : 64), sweep ? 3 : 5, &x, &now));
            if (now < loss) base[j] *= exp(x), loss = now;
        }
        if (loss > before * (1 - 1e-4)) break;
    }
done:
    return st;
}

static cr_status choose_bandwidth(cr_ctx *cx, nw_state *m, bool per_column, uint64_t seed,
                                  cr_report *report)
{
    cr_status  st = CR_OK;
    cr_scratch sc = cr_scratch_begin(cx);
    bool       some = m->n > MOST_QUERIES;
    size_t    *rows = some ? cr_scratch_index(&sc, MOST_QUERIES) : NULL;
    double    *base = cr_scratch_f64(&sc, m->p), x = 0, loss;
    search     s = { .cx = cx, .m = smoother_of(m), .n_rows = m->n, .base = base };

    CR_TRY(sc.status);
    if (some) {
        cr_rng r = cr_rng_stream(seed, 0);
        cr_rng_choose(&r, m->n, MOST_QUERIES, rows);
        s.rows = rows;
        s.n_rows = MOST_QUERIES;
    }
    for (size_t j = 0; j < m->p; j++) base[j] = 1;
    s.column = SIZE_MAX;
    CR_TRY(best_factor(&s, log(narrowest), log(widest), STEPS, &x, &loss));
    for (size_t j = 0; j < m->p; j++) base[j] = exp(x);
    if (per_column) CR_TRY(sweep_columns(&s, base, loss));
    memcpy(m->h, base, m->p * sizeof(double));
    if (!s.late) goto done;
    report->stop = CR_STOP_TIME;
    cr_log(cx, CR_LOG_WARNING,
           "the time limit ended the choice of the bandwidth: this is the best so far");
done:
    cr_scratch_end(&sc);
    return st;
}

static cr_status read_bandwidth(cr_ctx *cx, nw_state *m, const char *text)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    char     **items = NULL;
    size_t     n = 0;
    CR_TRY(cri_list_split(&s, text, &items, &n));
    if (n != 1 && n != m->p)
        CR_TRY(cr_fail(cx, CR_EARG, "--bandwidth has %zu numbers, but the design has %zu terms", n,
                       m->p));
    for (size_t j = 0; j < m->p; j++) {
        const char *item = items[n == 1 ? 0 : j];
        size_t      length = strlen(item);
        if (cri_parse_double(item, item + length, &m->h[j]) != length || length == 0 ||
            !(m->h[j] > 0) || isinf(m->h[j]))
            CR_TRY(cr_fail(cx, CR_EARG, "--bandwidth: '%s' is not auto or a number above 0", item));
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* It is told in the units of the data. */
static cr_status check_bandwidth(cr_ctx *cx, const nw_state *m, const cr_design *design)
{
    for (size_t j = 0; j < m->p; j++)
        if (!isfinite(m->h[j] * design->scale[j])) {
            cr_fail(cx, CR_ENUMERIC, "column '%s' is so large that its bandwidth overflows",
                    cr_design_term_name(design, j));
            return cr_fail_hint(cx, "multiply the column by a power of ten, such as 1e-100");
        }
    return CR_OK;
}

/* --- fit ------------------------------------------------------------------------------------- */

static cr_status fit_rows(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                          void **out_state, cr_report *report)
{
    cr_status         st = CR_OK;
    const nw_options *o = options;
    cri_kept          kept = { 0 };
    cri_smoother      smoother;
    nw_state         *m = cr_alloc(cx, 1, sizeof *m);

    if (!m) return CR_ENOMEM;
    CR_TRY(cri_check_sizes(cx, rows, true));
    CR_TRY(cri_kept_new(cx, "nadaraya-watson", rows, &kept));
    *m = (nw_state){
        .n = kept.n, .p = kept.p, .X = kept.X, .y = kept.y, .w = kept.w, .whole = kept.whole
    };
    kept = (cri_kept){ 0 };
    m->compact = o->kernel == 1;
    m->linear = o->order == 1;
    m->h = cr_alloc(cx, m->p, sizeof(double));
    m->residual = cr_alloc(cx, m->n, sizeof(double));
    if (!m->h || !m->residual) CR_TRY(CR_ENOMEM);
    report->stop = CR_STOP_CLOSED_FORM;
    CR_TRY(strcmp(o->bandwidth, "auto") == 0 ? choose_bandwidth(cx, m, o->per_column, seed, report)
                                             : read_bandwidth(cx, m, o->bandwidth));
    CR_TRY(check_bandwidth(cx, m, rows->design));
    smoother = smoother_of(m);
    CR_TRY(cri_smoother_loo(cx, &smoother, NULL, m->n, m->residual, &m->mse));
    if (m->n < 2) cri_warn_no_spread(cx);
    *out_state = m;
    m = NULL;
done:
    cri_kept_free(cx, &kept);
    cri_state_free(cx, &cri_class_nadaraya_watson, m);
    return st;
}

/* Rows are held out, with all their copies. */
static cr_status fit_observations(cr_ctx *cx, const cri_rows *rows, const void *options,
                                  uint64_t seed, void **out_state, cr_report *report)
{
    return cri_fit_observations(cx, fit_rows, rows, options, seed, out_state, report);
}

/* Within a time limit, of some rows where all take too long. */
static cr_status nw_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                        void **out_state, cr_report *report)
{
    return cri_fit_some(cx, fit_observations, rows, options, seed, out_state, report);
}

/* --- predict --------------------------------------------------------------------------------- */

enum { BLOCK = 16 };

typedef struct predict_work {
    const nw_state *m;
    cri_smoother    smoother;
    const cri_rows *rows;
    cr_prediction  *out;
} predict_work;

/* x: room for the row [p], its shares [n], and what the smoother needs. */
static void predict_row(const predict_work *a, size_t i, double *x)
{
    const nw_state *m = a->m;
    double         *v = x + m->p, *workspace = v + m->n, count, near = 0;
    cri_rows_fill(a->rows, i, i + 1, x, m->p);
    a->out->mean[i] = cri_smoother_mean(&a->smoother, x, SIZE_MAX, v, workspace, &count);
    if (!a->out->scale) return;
    for (size_t k = 0; k < m->n; k++) near += v[k] * m->residual[k] * m->residual[k];
    a->out->scale[i] = m->n > 1 ? sqrt((count * near + m->mse) / (count + 1)) : NAN;
    a->out->dof[i] = count + 1;
}

static void predict_block(void *arg, cri_range r, double *workspace)
{
    for (size_t i = r.begin; i < r.end; i++) predict_row(arg, i, workspace);
}

static cr_status nw_predict(cr_ctx *cx, const void *state, const cri_rows *rows, cr_prediction *out)
{
    const nw_state *m = state;
    predict_work    a = { m, smoother_of(m), rows, out };
    size_t          workspace_size = m->p + m->n + cri_smoother_workspace_size(&a.smoother);
    return cri_parallel_rows(cx, "predicting", rows->n, BLOCK, workspace_size, predict_block, &a);
}

/* --- describe and file ----------------------------------------------------------------------- */

static const cr_field nw_statistics[] = {
    CR_TEXT("kernel", 0, "gaussian or epanechnikov"),
    CR_NUMBER("bandwidth", CR_FIELD_NULL,
              "in units of the standardised features; null if each has its own"),
    CR_COUNT("order", 0, "0: a local mean, 1: a local plane"),
    CR_MEASURE("loo_mse", "target^2", CR_FIELD_NULL, "mean squared error with each row left out"),
    CR_MEASURE("loo_rmse", "target", CR_FIELD_NULL, "its root"),
    CR_FIELD_LAST,
};

/* The bandwidth of each term, in the units of the data. */
static cr_status nw_describe(cr_ctx *cx, const void *state, const cr_design *design, cri_sheet *out)
{
    const nw_state *m = state;
    const double   *scale = cr_design_scale(design);
    double          square = design->target_scale * design->target_scale;
    bool            alike = true;
    cri_sheet      *list = cri_put_list(out, "parameters"), *s;
    for (size_t j = 0; j < m->p; j++) {
        alike = alike && m->h[j] == m->h[0];
        cri_parameter_add(list, m->h[j] * scale[j], NAN, "%s", cr_design_term_name(design, j));
    }
    s = cri_put_object(out, "statistics");
    cri_put_text(s, "kernel", m->compact ? "epanechnikov" : "gaussian");
    cri_put_real(s, "bandwidth", alike ? m->h[0] : NAN);
    cri_put_count(s, "order", m->linear);
    cri_put_real(s, "loo_mse", m->mse * square);
    cri_put_real(s, "loo_rmse", sqrt(m->mse * square));
    (void)cx;
    return CR_OK;
}

static cr_status nw_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    (void)cx;
    return ((nw_state *)state)->p == cr_design_terms(design) ? CR_OK : CR_EDATA;
}

const cr_model_class cri_class_nadaraya_watson = {
    .name = "nadaraya-watson",
    .summary = "kernel regression: a mean weighted by proximity, or a local plane",
    .formulas =
        "mean(x) = sum_i v_i y_i,  v_i ~ w_i K(sum_j ((x_j - x_ij) / h_j)^2)\n"
        "K(u^2) = exp(-u^2/2) or max(0, 1 - u^2);  h by leave-one-out\n"
        "y ~ t(m + 1; mean, (m sum v_i e_i^2 + mse) / (m + 1)),  e: leave-one-out residuals",
    .reference = "Nadaraya (1964), Theory Probab. Appl. 9; Watson (1964), Sankhya A 26; Fan & Yao "
                 "(1998), Biometrika 85",
    .tasks = CR_TASK_REGRESSION,
    .options = nw_table,
    .options_size = sizeof(nw_options),
    .default_scale = CR_SCALE_STANDARD,
    .coding = CRI_CODING_ALL,
    .whole = &(const cri_whole_face){ .fit = nw_fit },
    .rows = &(const cri_rows_face){ .predict = nw_predict, .means_alone = true },
    .describe = nw_describe,
    .statistics = nw_statistics,
    .state = nw_record,
    .state_size = sizeof(nw_state),
    .ready = nw_ready,
};
