/* spline.c -- smoothing splines: y = level + f_1(x_1) + ... + f_p(x_p) + noise, each f smooth.
 *   minimise  sum_i w_i (y_i - level - sum_j f_j(x_ij))^2 + sum_j lambda_j integral f_j''^2
 * One column: exact, O(n log n) to sort and O(n) per lambda (smoother.h).  Several: backfitting,
 * each f_j in turn to what the others leave (Buja, Hastie & Tibshirani 1989).  It starts with
 * lines; then come passes in which the lambdas are chosen, counting the df of all; then these stay.
 *
 * A smooth of numbers whose mean is 0 has mean 0, so the level is the mean of y and the f_j need no
 * centring.  Its variance 1/n is in each V_j(x), and so is that of a line: the variance of the sum is
 * taken as that of the lines together (lines.h) and what each V_j has beyond its own line.  It is
 * exact for one column, and for lines; else it leaves out how the curves go together. */
#include "component.h"
#include "models/common/copies.h"
#include "lines.h"
#include "math/constants.h"
#include "models/core/class.h"
#include "models/core/parameters.h"
#include "models/core/rows_check.h"
#include "base/context_internal.h"
#include "base/parallel.h"
#include "math/special/special.h"

#include <math.h>
#include <string.h>

/* clang-format off */
#define SPLINE_OPTIONS(X)                                                                            \
    X(choice, choose,   "gcv", "gcv|loo|evidence",                                                   \
      "how lambda is chosen: generalised cross-validation, leave-one-out, or the marginal likelihood", \
      "evidence")                                                                                    \
    X(real,   gamma,    "1.4", ">=1",                                                                \
      "gcv: the cost of a degree of freedom; 1 is the plain criterion, which may interpolate the points", "1") \
    X(real,   lambda,   "", ">0", "penalty on the integral of f''^2 over the column, instead of choosing it", \
      "10")                                                                                          \
    X(real,   df,       "", ">=2", "effective degrees of freedom of each f, instead of choosing lambda", "6") \
    X(count,  max_iter, "500", "1..1000000", "several columns: maximum number of passes", "100")                  \
    X(real,   tol,      "1e-8", ">0",                                                                \
      "several columns: stop when no f changes by more than this, in standard deviations of the target", "1e-5")
/* clang-format on */

CR_OPTIONS(spline_options, spline_table, SPLINE_OPTIONS);

enum { STRAIGHT_PASSES = 2, CHOOSING_PASSES = 5 }; /* of several columns */

/* clang-format off */
#define SPLINE_STATE(MEMBER)                                                                        \
    MEMBER(count,  p,      (),     "",      "columns")                                              \
    MEMBER(count,  ends,   (),     ">0",    "p + 1")                                                \
    MEMBER(count,  total,  (),     "",      "knots of all columns")                                 \
    MEMBER(count,  width,  (),     "",      "CRI_KNOT_SIZE")                                        \
    MEMBER(index,  starts, (ends), "rises", "the knots of column j are starts[j] .. starts[j+1]-1") \
    MEMBER(vector, origin, (p),    "",      "u = (x - origin) / scale")                             \
    MEMBER(vector, scale,  (p),    ">0",    "of u")                                                 \
    MEMBER(vector, q,      (p),    ">0",    "1 / lambda in u")                                      \
    MEMBER(vector, unit,   (p),    ">0",    "what V counts in")                                     \
    MEMBER(vector, lambda, (p),    "any",   "of the column")                                        \
    MEMBER(vector, df,     (p),    "any",   "effective degrees of freedom of f")                    \
    MEMBER(vector, rough,  (p),    "any",   "integral of f''^2 over x")                             \
    MEMBER(matrix, knots,  (total, width), "", "cri_spline_at")                                     \
    MEMBER(real,   level,  (),     "",      "the mean of the target")                               \
    MEMBER(real,   n,      (),     ">0",    "rows that count")                                      \
    MEMBER(real,   sigma,  (),     ">=0 any none", "of the noise")                                  \
    MEMBER(real,   dof,    (),     ">=0 any none", "of sigma")                                      \
    MEMBER(real,   rss,    (),     "any none", "residual sum of squares")                           \
    MEMBER(real,   r2,     (),     "any none", "share explained")                                   \
    MEMBER(real,   all_df, (),     "any none", "effective degrees of freedom of all f")             \
    MEMBER(real,   gcv,    (),     "any none", "generalised cross-validation")                      \
    MEMBER(real,   loocv,  (),     "any none", "leave-one-out error")                               \
    MEMBER(real,   restricted, (), "any none", "restricted log likelihood")                         \
    MEMBER(vector, centre, (p),    "none",  "of several columns: their means (lines.h)")            \
    MEMBER(vector, spread, (p),    ">0 none", "likewise: their sds")                                \
    MEMBER(matrix, excess, (p, p), "none",  "likewise: R^-1 - I; absent with many columns")
/* clang-format on */

CRI_RECORD(spline_state, SPLINE_STATE);
CRI_RECORD_TABLE(static, spline_record, spline_state, SPLINE_STATE);

/* --- the fit --------------------------------------------------------------------------------- */

/* A fit under way: the rows that count, and one component per column. */
typedef struct job {
    const spline_options *o;
    const cri_rows       *rows;
    size_t                n, p, active; /* active: columns of more than one value */
    double               *y, *w;        /* [n] y is what the fits so far leave     */
    double               *part;         /* [n] that and one f                      */
    cri_component        *c;            /* [p] */
    double                level, total, square, sd;
    size_t                evaluations;
} job;

/* Rows of weight 0 are left out; y becomes y - level. */
static void take_rows(job *j)
{
    const cri_rows *rows = j->rows;
    for (size_t i = 0; i < rows->n; i++) {
        double w = rows->w ? rows->w[i] : 1;
        if (w == 0) continue;
        j->w[j->n] = w;
        j->y[j->n++] = rows->y[i];
        j->total += w;
        j->level += w / j->total * (rows->y[i] - j->level);
    }
    for (size_t i = 0; i < j->n; i++) {
        j->y[i] -= j->level;
        j->square += j->w[i] * j->y[i] * j->y[i];
    }
    j->sd = sqrt(j->square / j->total);
}

static cr_status make_components(cr_scratch *s, job *j)
{
    const cri_rows *rows = j->rows;
    double         *x = cr_scratch_f64(s, rows->n);
    if (s->status != CR_OK) return s->status;
    for (size_t k = 0; k < j->p; k++) {
        size_t n = 0;
        cri_rows_fill_term(rows, k, 0, rows->n, x, 1);
        for (size_t i = 0; i < rows->n; i++)
            if (!rows->w || rows->w[i] != 0) x[n++] = x[i];
        cr_status st = cri_component_new(s, x, j->w, n, &j->c[k]);
        if (st != CR_OK) return st;
        j->active += j->c[k].m > 1;
        j->c[k].df = 2;
        j->c[k].gamma = j->o->gamma;
        j->c[k].whole = rows->whole;
    }
    return CR_OK;
}

static cr_status find_q(cr_ctx *cx, job *j, cri_component *c, double *out)
{
    c->elsewhere = 0;
    for (size_t k = 0; k < j->p; k++)
        if (&j->c[k] != c && j->c[k].m > 1) c->elsewhere += j->c[k].df - 1;
    if (!isnan(j->o->lambda)) return *out = cri_component_q(c, j->o->lambda), CR_OK;
    if (!isnan(j->o->df)) return cri_component_match_df(cx, c, j->o->df, out, &j->evaluations);
    return cri_component_choose(cx, c, (cri_spline_choice)j->o->choose, out, &j->evaluations);
}

/* How the lambdas of a pass come about. */
typedef enum way { AS_BEFORE, STRAIGHT, CHOOSE } way;

static way way_of(const job *j, size_t pass)
{
    bool several = j->active > 1, given = !isnan(j->o->lambda) || !isnan(j->o->df);
    if (given || !several) return pass == 0 ? CHOOSE : AS_BEFORE;
    if (pass < STRAIGHT_PASSES) return STRAIGHT;
    return pass < STRAIGHT_PASSES + CHOOSING_PASSES ? CHOOSE : AS_BEFORE;
}

/* Fits f_k to what the others leave; the largest change of f_k at a row. */
static cr_status refit(cr_ctx *cx, job *j, cri_component *c, way how, double *change)
{
    cr_status st = CR_OK;
    double    q = how == STRAIGHT ? cri_component_straight(c) : c->q;
    for (size_t i = 0; i < j->n; i++)
        j->part[i] = j->y[i] + c->knots[c->knot_of[i] * CRI_KNOT_SIZE + CRI_KNOT_F];
    cri_component_set(c, j->part);
    if (how == CHOOSE) CR_TRY(find_q(cx, j, c, &q));
    cri_component_fit(c, q);
    for (size_t i = 0; i < j->n; i++) {
        double left = j->part[i] - c->knots[c->knot_of[i] * CRI_KNOT_SIZE + CRI_KNOT_F];
        *change = fmax(*change, fabs(left - j->y[i]));
        j->y[i] = left;
    }
done:
    return st;
}

static cr_status backfit(cr_ctx *cx, job *j, cr_report *report)
{
    cr_status st = CR_OK;
    bool      settled = false, direct = !isnan(j->o->lambda) && j->active <= 1;
    size_t    pass = 0;
    cri_clock clock = cri_clock_start(cx, NAN);
    while (!settled && pass < j->o->max_iter && !(pass > 0 && cri_clock_over(&clock))) {
        double change = 0;
        way    how = way_of(j, pass++);
        CR_TRY(cr_check_interrupt(cx));
        for (size_t k = 0; k < j->p; k++)
            if (j->c[k].m > 1) CR_TRY(refit(cx, j, &j->c[k], how, &change));
        settled = j->active <= 1 || (how == AS_BEFORE && change <= j->o->tol * j->sd);
    }
    report->stop = !settled ? CR_STOP_LIMIT : direct ? CR_STOP_CLOSED_FORM : CR_STOP_TOLERANCE;
    report->iterations = direct ? 0 : j->active <= 1 ? j->evaluations : pass;
done:
    return st;
}

/* --- what is kept ---------------------------------------------------------------------------- */

/* The log density of the data with level and slope integrated out, s^2 at its best. */
static double restricted_likelihood(const cri_component *c)
{
    double left = c->total - 2, sum = left * (CRI_LOG_2PI + 1);
    double h = (c->knots[CRI_KNOT_SIZE + CRI_KNOT_U] - c->knots[CRI_KNOT_U]) * c->scale;
    for (size_t k = 0; k < c->m; k++) sum += log(c->W[k] * c->weight);
    sum -= ((double)c->m - 2) * log(c->weight);
    return left > 0 && c->squares > 0 ? c->log_likelihood - 0.5 * sum - log(h) : NAN;
}

static void keep_component(const cri_component *c, size_t k, spline_state *m)
{
    size_t start = m->starts[k];
    m->starts[k + 1] = start + c->m;
    m->origin[k] = c->origin;
    m->scale[k] = c->scale;
    m->q[k] = m->unit[k] = m->df[k] = 1;
    memcpy(m->knots + start * m->width, c->knots, c->m * m->width * sizeof(double));
    if (c->m < 2) return;
    m->q[k] = c->q;
    m->unit[k] = 1 / c->weight;
    m->df[k] = c->df;
    m->lambda[k] = cri_component_lambda(c, c->q);
    m->rough[k] = cri_component_roughness(c);
    if (!isfinite(m->lambda[k])) m->lambda[k] = 0;
    if (!isfinite(m->rough[k])) m->rough[k] = 0;
}

static const cri_component *only_component(const job *j)
{
    const cri_component *one = NULL;
    for (size_t k = 0; k < j->p; k++)
        if (j->c[k].m > 1) one = &j->c[k];
    return j->active == 1 ? one : NULL;
}

/* Noise and quality of the fit. */
static void measure(const job *j, spline_state *m)
{
    const cri_component *one = only_component(j);
    double               left;
    m->level = j->level;
    m->n = j->total;
    m->all_df = 1;
    for (size_t k = 0; k < j->p; k++) m->all_df += m->df[k] - 1;
    for (size_t i = 0; i < j->n; i++) m->rss += j->w[i] * j->y[i] * j->y[i];
    if (one && one->rss == 0) m->rss = 0;
    left = m->n - m->all_df;
    if (!(left > 1e-9 * m->n)) left = 0; /* it goes through the points: nothing is left for noise */
    if (fabs(left - 2) < 1e-6)
        left = 2; /* but for rounding: of 2 there is no variance, of little more a huge one */
    m->dof = left > 0 ? left : NAN;
    m->sigma = left > 0 ? sqrt(m->rss / left) : NAN;
    m->gcv = left > 0 ? m->n * m->rss / (left * left) : NAN;
    m->r2 = j->square > 0 ? 1 - m->rss / j->square : NAN;
    m->loocv = one && isfinite(one->loo) ? one->loo : NAN;
    m->restricted = one ? restricted_likelihood(one) : NAN;
    bool by_evidence =
        j->o->choose == CRI_CHOOSE_EVIDENCE && isnan(j->o->lambda) && isnan(j->o->df);
    if (one && by_evidence && m->n > 2) {
        m->dof = m->n - 2;
        m->sigma = sqrt(one->squares / m->dof);
    }
}

/* How the lines of several columns go together. */
static cr_status keep_lines(cr_ctx *cx, const job *j, spline_state *m)
{
    size_t p = j->p;
    if (j->active < 2 || p > CRI_MOST_LINES) return CR_OK;
    m->centre = cr_alloc(cx, p, sizeof(double));
    m->spread = cr_alloc(cx, p, sizeof(double));
    m->excess = cr_alloc(cx, p * p, sizeof(double));
    if (!m->centre || !m->spread || !m->excess) return CR_ENOMEM;
    return cri_lines_measure(cx, j->c, p, j->w, j->n, m->centre, m->spread, m->excess);
}

static cr_status keep(cr_ctx *cx, const job *j, spline_state **out, cr_report *report)
{
    cr_status     st = CR_OK;
    spline_state *m = cr_alloc(cx, 1, sizeof *m);
    if (!m) return CR_ENOMEM;
    m->p = j->p;
    m->ends = j->p + 1;
    m->width = CRI_KNOT_SIZE;
    for (size_t k = 0; k < j->p; k++) m->total += j->c[k].m;
    CR_TRY(cri_record_allocate(cx, spline_record, m));
    for (size_t k = 0; k < j->p; k++) keep_component(&j->c[k], k, m);
    CR_TRY(keep_lines(cx, j, m));
    measure(j, m);
    report->log_likelihood = -0.5 * m->n * (log(2 * M_PI * m->rss / m->n) + 1) -
                             m->n * log(j->rows->design->target_scale);
    *out = m;
    m = NULL;
done:
    cri_state_free(cx, &cri_class_spline, m);
    return st;
}

static cr_status check_job(cr_ctx *cx, const job *j)
{
    if (!isfinite(j->square) || !isfinite(j->level)) {
        cr_fail(cx, CR_ENUMERIC, "the squares of the target overflow");
        return cr_fail_hint(cx, "--scale-target standard rescales it");
    }
    for (size_t k = 0; !isnan(j->o->df) && j->active == 1 && k < j->p; k++)
        if (j->c[k].m > 1 && j->o->df > (double)j->c[k].m)
            return cr_fail(cx, CR_EARG, "df is %g, but column '%s' has only %zu different values",
                           j->o->df, cr_design_term_name(j->rows->design, k), j->c[k].m);
    return CR_OK;
}

/* A choice at the edge of what was looked at is no choice. */
static void warn_of_bounds(cr_ctx *cx, const job *j)
{
    for (size_t k = 0; k < j->p; k++)
        if (j->c[k].at_bound)
            cr_log(
                cx, CR_LOG_WARNING,
                "gcv found no best lambda for column '%s': it is at its bound, with %.0f%% of the "
                "rows used as degrees of freedom; try --choose evidence, --gamma 1.4 or --df",
                cr_design_term_name(j->rows->design, k), 100 * CRI_MOST_DF);
}

static double square_of_target(const cri_rows *rows)
{
    double sum = 0;
    for (size_t i = 0; i < rows->n; i++)
        sum += (rows->w ? rows->w[i] : 1) * rows->y[i] * rows->y[i];
    return sum;
}

static cr_status fit_rows(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                          void **out_state, cr_report *report)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    spline_state *m = NULL;
    job           j = { .o = options, .rows = rows, .p = rows->p };
    (void)seed;

    if (!isnan(j.o->lambda) && !isnan(j.o->df))
        CR_TRY(cr_fail(cx, CR_EARG,
                       "--lambda and --df both set the smoothness: give only one of them"));
    j.y = cr_scratch_f64(&s, rows->n);
    j.w = cr_scratch_f64(&s, rows->n);
    j.part = cr_scratch_f64(&s, rows->n);
    j.c = cr_scratch_bytes(&s, j.p, sizeof *j.c);
    CR_TRY(s.status);
    take_rows(&j);
    CR_TRY(make_components(&s, &j));
    CR_TRY(check_job(cx, &j));
    CR_TRY(backfit(cx, &j, report));
    CR_TRY(keep(cx, &j, &m, report));
    warn_of_bounds(cx, &j);
    if (isnan(m->sigma)) cri_warn_no_spread(cx);
    if (m->rss <= 1e-26 * square_of_target(rows) && m->r2 > 0) cri_warn_of_perfect_fit(cx);
    *out_state = m;
done:
    cr_scratch_end(&s);
    return st;
}

/* Rows are held out, with all their copies. */
static cr_status spline_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                            void **out_state, cr_report *report)
{
    return cri_fit_observations(cx, fit_rows, rows, options, seed, out_state, report);
}

/* --- predict --------------------------------------------------------------------------------- */

enum { BLOCK = 128 };

typedef struct predict_work {
    const spline_state *m;
    const cri_rows     *rows;
    cr_prediction      *out;
    double              noise; /* 1, or 0 of the mean alone */
} predict_work;

/* Mean and, unless opt_share is NULL, variance / s^2 of f at one row x [p]. */
static double answer(const spline_state *m, const double *x, double *opt_share)
{
    double mean = m->level, share = 1 / m->n, V;
    for (size_t k = 0; k < m->p; k++) {
        size_t start = m->starts[k], knots = m->starts[k + 1] - start;
        if (knots < 2) continue;
        mean += cri_spline_at(m->knots + start * m->width, knots, m->q[k],
                              (x[k] - m->origin[k]) / m->scale[k], opt_share ? &V : NULL);
        if (opt_share) share += fmax(0, V * m->unit[k] - 1 / m->n);
    }
    if (opt_share && m->excess)
        share += cri_lines_excess(m->p, m->centre, m->spread, m->excess, x) / m->n;
    if (opt_share) *opt_share = fmax(1 / m->n, share); /* but for rounding it is no less */
    return mean;
}

/* X [BLOCK x p] is workspace. */
static void predict_block(void *arg, cri_range range, double *X)
{
    const predict_work *w = arg;
    size_t              p = w->m->p;
    cr_prediction      *out = w->out;
    cri_rows_fill(w->rows, range.begin, range.end, X, p);
    for (size_t i = range.begin; i < range.end; i++) {
        double share;
        out->mean[i] = answer(w->m, X + (i - range.begin) * p, out->scale ? &share : NULL);
        if (!out->scale) continue;
        out->scale[i] = w->m->sigma * sqrt(w->noise + share);
        out->dof[i] = isnan(w->m->dof) ? INFINITY : w->m->dof;
    }
}

static cr_status spline_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                                cr_prediction *out)
{
    predict_work w = { state, rows, out, 1 };
    return cri_parallel_rows(cx, "predicting", rows->n, BLOCK, BLOCK * rows->p, predict_block, &w);
}

static cr_status spline_mean(cr_ctx *cx, const void *state, const cri_rows *rows,
                             cr_prediction *out)
{
    predict_work w = { state, rows, out, 0 };
    return cri_parallel_rows(cx, "predicting", rows->n, BLOCK, BLOCK * rows->p, predict_block, &w);
}

/* --- describe and file ----------------------------------------------------------------------- */

/* The level with its uncertainty, and how smooth each f is. */
static void add_parameters(const spline_state *m, const cr_design *d, cri_sheet *out)
{
    cri_sheet *list = cri_put_list(out, "parameters"), *row;
    double     scale = m->sigma / sqrt(m->n) * d->target_scale;
    double     spread = m->dof > 2 ? sqrt(m->dof / (m->dof - 2)) : INFINITY;
    double     half = isnan(m->dof) ? NAN : cr_student_t_ppf(0.975, m->dof) * scale;
    double     level = m->level * d->target_scale + d->target_shift;
    row = cri_parameter_add(list, level, scale * spread, "level");
    cri_parameter_interval(row, level, half);
    for (size_t k = 0; k < m->p; k++) {
        const char *name = cr_design_term_name(d, k);
        double      lambda = m->lambda[k] > 0 ? m->lambda[k] : NAN;
        cri_parameter_interval(cri_parameter_add(list, lambda, NAN, "lambda[%s]", name), NAN, NAN);
        cri_parameter_interval(cri_parameter_add(list, m->df[k], NAN, "df[%s]", name), NAN, NAN);
    }
}

static const cr_field spline_statistics[] = {
    CR_TEXT("objective", 0, "what the curve minimises"),
    CR_NUMBER("lambda", CR_FIELD_EITHER, "of one column: the penalty"),
    CR_NUMBER("effective_df", CR_FIELD_NULL,
              "effective degrees of freedom: the trace of the smoother"),
    CR_NUMBER("roughness", CR_FIELD_NULL | CR_FIELD_OF_TARGET,
              "integral of f''^2, in units of the standardised columns"),
    CR_MEASURE("residual_sd", "target", CR_FIELD_NULL,
               "standard deviation of the noise, from the residuals"),
    CR_MEASURE("rss", "target^2", CR_FIELD_NULL, "residual sum of squares"),
    CR_NUMBER("r2", CR_FIELD_NULL | CR_FIELD_OF_TARGET, "share of the target's variance explained"),
    CR_MEASURE("gcv", "target^2", CR_FIELD_NULL,
               "mean squared error by generalised cross-validation"),
    CR_MEASURE("loocv", "target^2", CR_FIELD_NULL,
               "mean squared error with each row left out in turn"),
    CR_MEASURE("log_restricted_likelihood", "nats", CR_FIELD_NULL | CR_FIELD_LOG_SCORE,
               "of lambda and noise"),
    CR_FIELD_LAST,
};

static cr_status spline_describe(cr_ctx *cx, const void *state, const cr_design *design,
                                 cri_sheet *out)
{
    const spline_state *m = state;
    double              unit = design->target_scale, square = unit * unit, rough = 0;
    cri_sheet          *s;
    for (size_t k = 0; k < m->p; k++) rough += m->rough[k];
    add_parameters(m, design, out);
    s = cri_put_object(out, "statistics");
    cri_put_text(s, "objective", "sum w (y - f(x))^2 + lambda integral f''^2");
    if (m->p == 1) cri_put_real(s, "lambda", m->lambda[0] > 0 ? m->lambda[0] : NAN);
    cri_put_real(s, "effective_df", m->all_df);
    cri_put_real(s, "roughness", rough * square);
    cri_put_real(s, "residual_sd", m->sigma * unit);
    cri_put_real(s, "rss", m->rss * square);
    cri_put_real(s, "r2", m->r2);
    cri_put_real(s, "gcv", m->gcv * square);
    cri_put_real(s, "loocv", m->loocv * square);
    cri_put_real(s, "log_restricted_likelihood", m->restricted - (m->n - 2) * log(unit));
    (void)cx;
    return CR_OK;
}

/* Whatever a file says, looking up a knot stays inside the arrays and no step goes backwards. */
static bool is_valid(const spline_state *m, size_t p)
{
    bool valid = m->p == p && m->ends == p + 1 && m->width == CRI_KNOT_SIZE && m->starts[0] == 0 &&
                 m->starts[p] == m->total && !m->excess == !m->centre && !m->excess == !m->spread;
    for (size_t k = 0; valid && k < p; k++) {
        valid = m->starts[k + 1] > m->starts[k];
        for (size_t i = m->starts[k] + 1; valid && i < m->starts[k + 1]; i++)
            valid = m->knots[i * m->width + CRI_KNOT_U] > m->knots[(i - 1) * m->width + CRI_KNOT_U];
    }
    return valid;
}

static cr_status spline_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    (void)cx;
    return is_valid(state, cr_design_terms(design)) ? CR_OK : CR_EDATA;
}

const cr_model_class cri_class_spline = {
    .name = "spline",
    .summary = "smoothing spline of one column, or a sum of splines over several",
    .formulas =
        "minimise  sum_i w_i (y_i - f(x_i))^2 + lambda integral f''(x)^2 dx\n"
        "  = posterior mean under  f = line + integrated Wiener process, variance s^2/lambda\n"
        "several columns:  y = level + f_1(x_1) + ... + f_p(x_p), by backfitting",
    .reference =
        "Wahba (1990), Spline Models for Observational Data; Green & Silverman (1994), ch. 2; "
        "Kohn & Ansley (1987), SIAM J. Sci. Stat. Comput. 8",
    .example = "examples/filip.csv --target y",
    .tasks = CR_TASK_REGRESSION,
    .options = spline_table,
    .options_size = sizeof(spline_options),
    .default_scale = CR_SCALE_NONE,
    .whole = &(const cri_whole_face){ .fit = spline_fit },
    .rows = &(
        const cri_rows_face){ .predict = spline_predict, .mean = spline_mean, .means_alone = true },
    .describe = spline_describe,
    .statistics = spline_statistics,
    .state = spline_record,
    .state_size = sizeof(spline_state),
    .ready = spline_ready,
};
