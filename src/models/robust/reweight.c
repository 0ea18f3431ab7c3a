/* reweight.c -- the loops of Student's and Huber's estimates. */
#include "reweight.h"
#include "base/context_internal.h"
#include "base/scratch.h"
#include "base/sort.h"
#include "models/linear/bordered.h"
#include "math/optim/brent.h"
#include "math/special/special.h"

#include <math.h>
#include <string.h>

enum { MANY_TERMS = 200 }; /* nearly all of them levels: their equations are solved without them */
static const double least_nu = 1, most_nu = 500; /* from Cauchy's to what is a normal */

typedef struct work {
    const cri_robust_problem *p;
    cri_rows                  rows;    /* with the working weights  */
    cri_rows                  entries; /* for predictions, where a category has many levels */
    double                   *w;       /* [n] the working weights   */
    double                   *last;    /* [n] the residuals before  */
    double (*pairs)[2];                /* [n] workspace for medians */
    cri_robust_fit *fit;
} work;

void cri_robust_fit_free(cr_ctx *cx, const cri_robust_problem *p, cri_robust_fit *f)
{
    cri_predictor_free(cx, &f->line);
    cr_free(cx, f->r, p->rows->n, sizeof *f->r);
    *f = (cri_robust_fit){ 0 };
}

/* The line by least squares with the working weights, and its residuals. */
static cr_status set_line(cr_ctx *cx, work *k)
{
    cr_status       st = CR_OK;
    cri_robust_fit *f = k->fit;
    cri_predictor   line = { 0 };
    bool            good = false;
    cr_prediction   at = { .n = k->rows.n, .mean = f->r };
    CR_TRY(cr_check_interrupt(cx));
    if (k->entries.design)
        CR_TRY(
            cri_least_squares_levels(cx, &k->rows, k->p->intercept, true, &line, &f->facts, &good));
    if (!good) CR_TRY(cri_least_squares_auto(cx, &k->rows, k->p->intercept, &line, &f->facts));
    cri_predictor_free(cx, &f->line);
    f->line = line;
    memcpy(k->last, f->r, k->rows.n * sizeof *f->r);
    CR_TRY(cri_predictor_predict(cx, &f->line, k->entries.design ? &k->entries : k->p->rows, &at));
    for (size_t i = 0; i < k->rows.n; i++) f->r[i] = k->p->rows->y[i] - f->r[i];
done:
    return st;
}

static cr_status begin(cr_ctx *cx, cr_scratch *s, const cri_robust_problem *p, cri_robust_fit *f,
                       work *k)
{
    cr_status st = CR_OK;
    size_t    n = p->rows->n;
    *k = (work){ .p = p,
                 .rows = *p->rows,
                 .w = cr_scratch_f64(s, n),
                 .last = cr_scratch_f64(s, n),
                 .pairs = cr_scratch_bytes(s, n, sizeof *k->pairs),
                 .fit = f };
    f->r = cr_alloc(cx, n, sizeof *f->r);
    CR_TRY(s->status);
    if (!f->r) CR_TRY(CR_ENOMEM);
    if (cri_bordered_beats(p->rows, MANY_TERMS))
        CR_TRY(cri_rows_open_entries(cx, p->rows, &k->entries));
    memcpy(k->w, p->weight, n * sizeof *k->w);
    k->rows.w = k->w;
    CR_TRY(set_line(cx, k));
done:
    return st;
}

/* --- quantiles of residuals ------------------------------------------------------------------ */

double cri_weighted_quantile(double (*pairs)[2], size_t n, double share)
{
    double total = 0, sum = 0;
    qsort(pairs, n, sizeof *pairs, cri_compare_doubles); /* by the first of each */
    for (size_t i = 0; i < n; i++) total += pairs[i][1];
    for (size_t i = 0; i < n; i++) {
        double before = sum;
        sum += pairs[i][1];
        if (sum == share * total && i + 1 < n) { /* between two: their middle */
            size_t j = i + 1;
            while (j + 1 < n && pairs[j][1] == 0) j++;
            return (pairs[i][0] + pairs[j][0]) / 2;
        }
        if (sum > share * total && sum > before) return pairs[i][0];
    }
    return n ? pairs[n - 1][0] : NAN;
}

/* median |r| / 0.6745: the sd of a normal. */
static double median_scale(work *k)
{
    for (size_t i = 0; i < k->rows.n; i++) {
        k->pairs[i][0] = fabs(k->fit->r[i]);
        k->pairs[i][1] = k->p->weight[i];
    }
    return cri_weighted_quantile(k->pairs, k->rows.n, 0.5) / 0.67448975019608171;
}

/* Where the spread vanishes there is nothing left to weigh: the line stands as it is. */
static void stop_without_spread(cri_robust_fit *f)
{
    f->scale = NAN;
    f->log_likelihood = NAN;
    f->converged = true;
}

/* The size of the target, against which a spread is 0. */
static double size_of(const work *k)
{
    double largest = 0;
    for (size_t i = 0; i < k->rows.n; i++)
        if (k->p->weight[i] > 0) largest = fmax(largest, fabs(k->p->rows->y[i]));
    return largest;
}

static double largest_move(const work *k)
{
    double largest = 0;
    for (size_t i = 0; i < k->rows.n; i++)
        if (k->p->weight[i] > 0) largest = fmax(largest, fabs(k->fit->r[i] - k->last[i]));
    return largest;
}

/* A scale far below that of least squares may be no more than the way still to go to a line that
 * half of the rows lie on: then takes that line.  Costs two more fits, where the scale is
 * suspicious. */
static cr_status check_spread(cr_ctx *cx, work *k, double first, double size)
{
    cr_status       st = CR_OK;
    cri_robust_fit *f = k->fit;
    double          total = 0, near = 0, worst = 0, reach = 10 * f->scale;
    size_t          count = 0, n = k->rows.n;
    if (!(f->scale < 1e-4 * first)) return CR_OK;
    for (size_t i = 0; i < n; i++) {
        bool close = k->p->weight[i] > 0 && fabs(f->r[i]) <= reach;
        total += k->p->weight[i];
        near += close ? k->p->weight[i] : 0;
        count += close;
        k->pairs[i][0] = k->w[i], k->pairs[i][1] = close;
    }
    if (2 * near < total || count <= f->facts.rank + k->p->intercept) return CR_OK;
    for (size_t i = 0; i < n; i++) k->w[i] = k->pairs[i][1] > 0 ? k->p->weight[i] : 0;
    CR_TRY(set_line(cx, k));
    for (size_t i = 0; i < n; i++)
        if (k->pairs[i][1] > 0) worst = fmax(worst, fabs(f->r[i]));
    if (worst <= 1e-12 * size) {
        stop_without_spread(f);
        goto done;
    }
    for (size_t i = 0; i < n; i++) k->w[i] = k->pairs[i][0];
    CR_TRY(set_line(cx, k));
done:
    return st;
}

/* --- Student --------------------------------------------------------------------------------- */

double cri_student_log_likelihood(const double *r, const double *w, size_t n, double scale,
                                  double nu)
{
    double sum = 0, weight = 0;
    for (size_t i = 0; i < n; i++) {
        double z = r[i] / scale;
        sum += w[i] * log1p(z * z / nu);
        weight += w[i];
    }
    return weight * (cr_student_t_logpdf(0, nu) - log(scale)) - (nu + 1) / 2 * sum;
}

/* The log of the prior of nu, less a constant. */
static double log_prior(double nu) { return log(nu) - 0.1 * nu; }

static cr_status minus_profile(void *user, double log_nu, double *out)
{
    const work *k = user;
    double      nu = exp(log_nu);
    *out = -cri_student_log_likelihood(k->fit->r, k->p->weight, k->rows.n, k->fit->scale, nu) -
           (k->p->restricted ? log_prior(nu) : 0);
    return CR_OK;
}

static double parameters(const work *k) { return (double)(k->fit->facts.rank + k->p->intercept); }

/* What the steps raise. */
static double objective(const work *k)
{
    const cri_robust_fit *f = k->fit;
    if (!k->p->restricted) return f->log_likelihood;
    return f->log_likelihood + parameters(k) * log(f->scale) +
           (isnan(k->p->nu) ? log_prior(f->nu) : 0);
}

/* Weights and scale at the present residuals. */
static void set_student_weights(work *k)
{
    cri_robust_fit *f = k->fit;
    double          squares = 0, sum = 0, n = 0, p = k->p->restricted ? parameters(k) : 0;
    for (size_t i = 0; i < k->rows.n; i++) {
        n += k->p->weight[i];
        double z = f->r[i] / f->scale, u = (f->nu + 1) / (f->nu + z * z);
        k->w[i] = k->p->weight[i] * u;
        squares += k->w[i] * f->r[i] * f->r[i];
        sum += k->w[i];
    }
    f->scale = sqrt(squares / sum * (n + p / f->nu) / (n - p));
}

int cri_student_bound(double nu) { return (nu > 0.99 * most_nu) - (nu < 1.001 * least_nu); }

cr_status cri_student_solve(cr_ctx *cx, const cri_robust_problem *p, cri_robust_fit *out)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(cx);
    cri_robust_fit f = { 0 };
    work           k = { 0 };
    double         before = -INFINITY, size, first, value;
    cri_clock      clock = cri_clock_start(cx, NAN);

    CR_TRY(begin(cx, &s, p, &f, &k));
    size = size_of(&k);
    first = sqrt(f.facts.rss / f.facts.weight);
    f.nu = isnan(p->nu) ? 4 : p->nu;
    f.scale = median_scale(&k);
    if (!(f.scale > 1e-13 * size)) f.scale = first;
    if (!(f.scale > 1e-13 * size)) stop_without_spread(&f);
    while (f.iterations < p->max_iter && !f.converged) {
        if (f.iterations > 0 && cri_clock_over(&clock)) break;
        set_student_weights(&k);
        if (!(f.scale > 1e-13 * size)) {
            stop_without_spread(&f);
            break;
        }
        CR_TRY(set_line(cx, &k));
        if (isnan(p->nu)) {
            double log_nu = 0;
            CR_TRY(cr_brent_minimize(cx, minus_profile, &k, log(least_nu), log(most_nu), 1e-9,
                                     &log_nu, &value));
            f.nu = exp(log_nu);
        }
        f.log_likelihood = cri_student_log_likelihood(f.r, p->weight, k.rows.n, f.scale, f.nu);
        value = objective(&k);
        f.converged = fabs(value - before) <= p->tolerance * (fabs(value) + 1) &&
                      largest_move(&k) <= 0.01 * sqrt(p->tolerance) * f.scale;
        before = value;
        f.iterations++;
    }
    CR_TRY(check_spread(cx, &k, first, size));
    *out = f;
    f = (cri_robust_fit){ 0 };
done:
    cri_rows_close_entries(cx, &k.entries);
    cri_robust_fit_free(cx, p, &f);
    cr_scratch_end(&s);
    return st;
}

/* --- Huber ----------------------------------------------------------------------------------- */

cr_status cri_huber_solve(cr_ctx *cx, const cri_robust_problem *p, cri_robust_fit *out)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(cx);
    cri_robust_fit f = { .nu = INFINITY, .log_likelihood = NAN };
    work           k = { 0 };
    double         size, first;
    cri_clock      clock = cri_clock_start(cx, NAN);

    CR_TRY(begin(cx, &s, p, &f, &k));
    size = size_of(&k);
    first = sqrt(f.facts.rss / f.facts.weight);
    while (f.iterations < p->max_iter && !f.converged) {
        if (f.iterations > 0 && cri_clock_over(&clock)) break;
        double change = 0;
        f.scale = median_scale(&k);
        if (!(f.scale > 1e-13 * size)) {
            stop_without_spread(&f);
            break;
        }
        for (size_t i = 0; i < k.rows.n; i++) {
            double z = fabs(f.r[i]) / f.scale, u = z > p->tuning ? p->tuning / z : 1;
            change = fmax(change, fabs(p->weight[i] * u - k.w[i]));
            k.w[i] = p->weight[i] * u;
        }
        CR_TRY(set_line(cx, &k));
        f.iterations++;
        f.converged = change <= sqrt(p->tolerance);
    }
    if (f.scale > 0) f.scale = median_scale(&k);
    CR_TRY(check_spread(cx, &k, first, size));
    *out = f;
    f = (cri_robust_fit){ 0 };
done:
    cri_rows_close_entries(cx, &k.entries);
    cri_robust_fit_free(cx, p, &f);
    cr_scratch_end(&s);
    return st;
}
