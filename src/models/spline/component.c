/* component.c -- merging rows into knots, and choosing lambda. */
#include "component.h"
#include "models/common/copies.h"
#include "math/optim/brent.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- rows to knots --------------------------------------------------------------------------- */

typedef struct place {
    double x;
    size_t row;
} place;

static int compare_places(const void *a, const void *b)
{
    const place *p = a, *q = b;
    if (p->x != q->x) return p->x > q->x ? 1 : -1;
    return (p->row > q->row) - (p->row < q->row);
}

/* Knots one apart on average; u of equal x is equal, and different x may not share u. */
static void lay_out(cri_component *c, const place *at)
{
    double low = at[0].x, high = at[c->n - 1].x;
    size_t distinct = 1;
    for (size_t i = 1; i < c->n; i++) distinct += at[i].x != at[i - 1].x;
    c->origin = low / 2 + high / 2;
    c->scale = distinct > 1 ? (high / 2 - low / 2) / (double)(distinct - 1) * 2 : 1;
    if (!(c->scale > 0)) c->scale = 1;
    if (c->scale > DBL_MAX) c->scale = DBL_MAX;
    c->m = 0;
    for (size_t i = 0; i < c->n; i++) {
        double u = (at[i].x - c->origin) / c->scale;
        if (c->m == 0 || u > c->knots[(c->m - 1) * CRI_KNOT_SIZE + CRI_KNOT_U])
            c->knots[c->m++ * CRI_KNOT_SIZE + CRI_KNOT_U] = u;
        c->knot_of[at[i].row] = c->m - 1;
    }
}

static size_t count_different(const place *at, size_t n)
{
    size_t m = n > 0;
    for (size_t i = 1; i < n; i++) m += at[i].x != at[i - 1].x;
    return m;
}

cr_status cri_component_new(cr_scratch *s, const double *x, const double *w, size_t n,
                            cri_component *out)
{
    cr_scratch    own = cr_scratch_begin(s->cx);
    cr_status     st = CR_OK;
    place        *at = cr_scratch_bytes(&own, n, sizeof *at);
    cri_component c = { .n = n, .w = w, .knot_of = cr_scratch_index(s, n) };

    CR_TRY(own.status);
    for (size_t i = 0; i < n; i++) at[i] = (place){ x[i], i };
    qsort(at, n, sizeof *at, compare_places);
    size_t m = count_different(at, n);
    c.W = cr_scratch_bytes(s, m, sizeof *c.W);
    c.knots = cr_scratch_bytes(s, m * CRI_KNOT_SIZE, sizeof *c.knots);
    c.mean = cr_scratch_bytes(s, m, sizeof *c.mean);
    CR_TRY(s->status);
    lay_out(&c, at);
    for (size_t i = 0; i < n; i++) {
        c.W[c.knot_of[i]] += w[i];
        c.total += w[i];
    }
    c.weight = c.total / (double)c.m;
    for (size_t k = 0; k < c.m; k++) c.W[k] /= c.weight;
    *out = c;
done:
    cr_scratch_end(&own);
    return st;
}

/* lambda integral f''^2 dx / weight = (1 / q) integral f_uu^2 du. */
double cri_component_lambda(const cri_component *c, double q)
{
    return c->weight / q * c->scale * c->scale * c->scale;
}

/* Beyond these limits f does not change any more. */
double cri_component_q(const cri_component *c, double lambda)
{
    double m = (double)c->m, q = c->weight / lambda * c->scale * c->scale * c->scale;
    return fmin(fmax(q, 1e-30 / (m * m * m * m)), 1e60);
}

/* --- one fit --------------------------------------------------------------------------------- */

void cri_component_set(cri_component *c, const double *y)
{
    c->y = y;
    memset(c->mean, 0, c->m * sizeof *c->mean);
    for (size_t i = 0; i < c->n; i++)
        c->mean[c->knot_of[i]] += c->w[i] / c->weight / c->W[c->knot_of[i]] * y[i];
    c->within = 0;
    for (size_t i = 0; i < c->n; i++) {
        double e = y[i] - c->mean[c->knot_of[i]];
        c->within += c->w[i] * e * e;
    }
}

/* The mean of leaving out each row, or each of its repetitions. */
static double left_out(const cri_component *c)
{
    double sum = 0;
    for (size_t i = 0; i < c->n; i++) {
        const double *knot = c->knots + c->knot_of[i] * CRI_KNOT_SIZE;
        double        h = knot[CRI_KNOT_VFF] * cri_left_out(c->whole, c->w[i]) / c->weight +
                   c->elsewhere / c->total;
        double e = (c->y[i] - knot[CRI_KNOT_F]) / (1 - h);
        sum += h < 1 ? c->w[i] * e * e : INFINITY;
    }
    return sum / c->total;
}

/* Restricted log likelihood at its best s^2 but for the parts without lambda; see spline.c. */
static double restricted(const cri_component *c, cri_spline_evidence e)
{
    double left = c->total - 2 - c->elsewhere;
    return -0.5 * (left * log(c->squares / left) + e.log_variance);
}

void cri_component_fit(cri_component *c, double q)
{
    cri_spline_evidence e = cri_spline_smooth(c->knots, c->m, c->mean, c->W, q);
    double              tiny = 0;
    c->q = q;
    c->rss = c->within;
    c->df = 0;
    for (size_t k = 0; k < c->m; k++) {
        const double *knot = c->knots + k * CRI_KNOT_SIZE;
        double        r = c->mean[k] - knot[CRI_KNOT_F];
        c->rss += c->weight * c->W[k] * r * r;
        c->df += c->W[k] * knot[CRI_KNOT_VFF];
        tiny += c->weight * c->W[k] * c->mean[k] * c->mean[k];
    }
    if (c->rss < 1e-28 * tiny) c->rss = 0; /* nothing but rounding is left */
    c->loo = left_out(c);
    c->squares = c->within + c->weight * e.squares;
    c->log_likelihood = restricted(c, e);
}

/* Where f is smooth, what it bends is lost in the rounding of f; but at the least of the objective
 * lambda integral f''^2 = sum W (y - f) f. */
double cri_component_roughness(const cri_component *c)
{
    double sum = 0, size = c->scale * c->scale * c->scale;
    if (c->q > 1) return cri_spline_roughness(c->knots, c->m) / size;
    for (size_t k = 0; k < c->m; k++) {
        double f = c->knots[k * CRI_KNOT_SIZE + CRI_KNOT_F];
        sum += c->W[k] * (c->mean[k] - f) * f;
    }
    return fmax(0, sum * c->q / size);
}

/* --- choosing -------------------------------------------------------------------------------- */

typedef struct search {
    cri_component    *c;
    cri_spline_choice by;
    double            df;
    size_t            evaluations;
} search;

static double criterion(search *s, double log_q)
{
    cri_component *c = s->c;
    double         n = c->total;
    cri_component_fit(c, exp(log_q));
    s->evaluations++;
    if (s->by == CRI_CHOOSE_LOO) return c->loo;
    if (s->by == CRI_CHOOSE_EVIDENCE) return c->squares > 0 ? -c->log_likelihood : -INFINITY;
    double df = c->df + c->elsewhere, left = n - c->gamma * df;
    if (df > CRI_MOST_DF * n) return INFINITY;
    return left > 1e-9 * n ? n * c->rss / (left * left) : INFINITY;
}

static cr_status criterion_at(void *user, double log_q, double *out)
{
    *out = criterion(user, log_q);
    return CR_OK;
}

static cr_status df_at(void *user, double log_q, double *out)
{
    search *s = user;
    cri_component_fit(s->c, exp(log_q));
    s->evaluations++;
    *out = s->c->df - s->df;
    return CR_OK;
}

/* From what is a line but for rounding to what goes through the points. */
static void set_limits(const cri_component *c, double *low, double *high)
{
    *low = log(1e-6) - 4 * log((double)c->m);
    *high = log(1e8);
}

double cri_component_straight(const cri_component *c)
{
    double low, high;
    set_limits(c, &low, &high);
    return exp(low);
}

cr_status cri_component_choose(cr_ctx *cx, cri_component *c, cri_spline_choice by, double *out_q,
                               size_t *evaluations)
{
    cr_status st = CR_OK;
    search    s = { .c = c, .by = by };
    double    low, high, step = log(10) / 2, best = INFINITY, at, value;
    set_limits(c, &low, &high);
    at = low;
    for (double x = low; x < high + step; x += step) { /* the smoothest of those that are equal */
        CR_TRY(cr_check_interrupt(cx));
        value = criterion(&s, x);
        bool better = isinf(best) ? value < best : value < best - 1e-9 * fabs(best);
        if (better) best = value, at = x;
    }
    double from = fmax(low, at - step), to = fmin(high + step, at + step), x = at;
    if (isfinite(best)) CR_TRY(cr_brent_minimize(cx, criterion_at, &s, from, to, 1e-9, &x, &value));
    if (isfinite(best) && value < best) at = x;
    (void)criterion(&s, at);
    c->at_bound = by == CRI_CHOOSE_GCV && isfinite(best) && c->rss > 0 &&
                  c->df + c->elsewhere > 0.99 * CRI_MOST_DF * c->total;
    *out_q = exp(at);
    *evaluations += s.evaluations;
done:
    return st;
}

cr_status cri_component_match_df(cr_ctx *cx, cri_component *c, double df, double *out_q,
                                 size_t *evaluations)
{
    cr_status st = CR_OK;
    search    s = { .c = c, .df = df };
    double    low, high, x, over;
    set_limits(c, &low, &high);
    CR_TRY(df_at(&s, low, &over));
    x = low;
    if (over < 0) {
        CR_TRY(df_at(&s, high, &over));
        x = high;
        if (over > 0) CR_TRY(cr_brent_root(cx, df_at, &s, low, high, 1e-12, &x));
    }
    *out_q = exp(x);
    *evaluations += s.evaluations;
done:
    return st;
}
