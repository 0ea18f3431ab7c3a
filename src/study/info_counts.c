/* info_counts.c -- entropies of counted columns, with bootstrap intervals and permutation tests. */
#include "info_internal.h"
#include "base/parallel.h"
#include "base/sort.h"
#include "math/special/special.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- cells ----------------------------------------------------------------------------------- */

size_t cri_measured(const cri_variables *vs, unsigned set)
{
    size_t d = 0;
    for (size_t j = 0; j < vs->m; j++) d += vs->v[j].role & set && !vs->v[j].counted;
    return d;
}

static int compare_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Pairs (cell, code) become cells, numbered in the order of the pairs; by a table where that is not
 * much larger than the rows, else by sorting.  c->of is replaced. */
static cr_status join(cr_scratch *s, cri_cells *c, const uint32_t *code, size_t levels, size_t n)
{
    size_t    capacity = c->cells * levels, k = 0;
    bool      small = levels < SIZE_MAX / (c->cells + 1) && capacity <= 4 * n + 1024;
    uint32_t *of = cr_scratch_bytes(s, n, sizeof *of);
    uint64_t *keys = cr_scratch_bytes(s, small ? capacity : n, sizeof *keys);
    if (s->status != CR_OK) return s->status;
    if (small) {
        for (size_t i = 0; i < n; i++) keys[c->of[i] * levels + code[i]] = 1;
        for (size_t i = 0; i < capacity; i++)
            if (keys[i]) keys[i] = k++;
        for (size_t i = 0; i < n; i++) of[i] = (uint32_t)keys[c->of[i] * levels + code[i]];
    } else {
        for (size_t i = 0; i < n; i++) keys[i] = (uint64_t)c->of[i] << 32 | code[i];
        qsort(keys, n, sizeof *keys, compare_keys);
        for (size_t i = 0; i < n; i++)
            if (k == 0 || keys[i] != keys[k - 1]) keys[k++] = keys[i];
        for (size_t i = 0; i < n; i++) {
            uint64_t key = (uint64_t)c->of[i] << 32 | code[i];
            of[i] = (uint32_t)((uint64_t *)bsearch(&key, keys, k, sizeof key, compare_keys) - keys);
        }
    }
    *c = (cri_cells){ k, of };
    return CR_OK;
}

cr_status cri_cells_of(cr_scratch *s, const cri_variables *vs, unsigned set, cri_cells *out)
{
    cr_status st = CR_OK;
    cri_cells c = { 1, cr_scratch_bytes(s, vs->n, sizeof *c.of) };
    CR_TRY(s->status);
    for (size_t j = 0; j < vs->m; j++)
        if (vs->v[j].role & set && vs->v[j].counted)
            CR_TRY(join(s, &c, vs->v[j].code, vs->v[j].levels, vs->n));
    *out = c;
done:
    return st;
}

void cri_cells_count(const cri_cells *c, size_t n, uint64_t *out)
{
    memset(out, 0, c->cells * sizeof *out);
    for (size_t i = 0; i < n; i++) out[c->of[i]]++;
}

void cri_cells_sort(const cri_cells *c, size_t n, size_t *order, size_t *begin)
{
    memset(begin, 0, (c->cells + 1) * sizeof *begin);
    for (size_t i = 0; i < n; i++) begin[c->of[i] + 1]++;
    for (size_t j = 0; j < c->cells; j++) begin[j + 1] += begin[j];
    for (size_t i = 0; i < n; i++) order[begin[c->of[i]]++] = i;
    for (size_t j = c->cells; j > 0; j--) begin[j] = begin[j - 1];
    begin[0] = 0;
}

cr_status cri_counts_entropy(cr_ctx *cx, const cri_variables *vs, unsigned set,
                             cr_info_estimator estimator, double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_cells  c;
    uint64_t  *count = NULL;
    CR_TRY(cri_cells_of(&s, vs, set, &c));
    count = cr_scratch_bytes(&s, c.cells, sizeof *count);
    CR_TRY(s.status);
    cri_cells_count(&c, vs->n, count);
    *out = cr_info_entropy_counts(count, c.cells, estimator);
done:
    cr_scratch_end(&s);
    return st;
}

/* The share of rows of a kind that all n would miss with probability 1 - level: the rule of three. */
static double missed_share(size_t n, double level) { return -expm1(log1p(-level) / (double)n); }

cr_status cri_largest_entropy(cr_ctx *cx, const cri_variable *v, size_t n, double level,
                              double *out)
{
    const double OFTEN = 0.1; /* chance to miss a level as rare as the rarest that was seen */
    cr_status    st = CR_OK;
    cr_scratch   s = cr_scratch_begin(cx);
    double       k = (double)v->levels, share = fmin(missed_share(n, level), 1 / (k + 1));
    uint64_t    *count = cr_scratch_bytes(&s, v->levels, sizeof *count), least = n;
    CR_TRY(s.status);
    cri_cells_count(&(cri_cells){ v->levels, v->code }, n, count);
    for (size_t i = 0; i < v->levels; i++)
        if (count[i] > 0 && count[i] < least) least = count[i];
    bool rare = (double)n * log1p(-(double)least / (double)n) > log(OFTEN);
    bool few = log(k + 1) + (double)n * log(k / (k + 1)) > log(0.5 * (1 - level));
    bool all = v->levels > 1 && !(rare && few);
    *out = all ? log(k) : (1 - share) * log(k) + cr_entropy_binary_nats(share);
done:
    cr_scratch_end(&s);
    return st;
}

/* --- a sum of entropies ---------------------------------------------------------------------- */

/* Each set of the sum seen from the cells of all variables together. */
typedef struct views {
    cri_cells joint;
    uint64_t *count; /* [joint.cells] */
    size_t    terms;
    double    sign[4];
    size_t    cells[4];
    uint32_t *of[4]; /* [joint.cells]: the cell of the set that a joint cell lies in */
} views;

static cr_status make_views(cr_scratch *s, const cri_variables *vs, const cri_sum *sum, views *out)
{
    cr_status st = CR_OK;
    views     w = { .terms = sum->terms };
    CR_TRY(cri_cells_of(s, vs, CRI_A | CRI_B | CRI_GIVEN, &w.joint));
    w.count = cr_scratch_bytes(s, w.joint.cells, sizeof *w.count);
    CR_TRY(s->status);
    cri_cells_count(&w.joint, vs->n, w.count);
    for (size_t t = 0; t < w.terms; t++) {
        cri_cells c;
        CR_TRY(cri_cells_of(s, vs, sum->set[t], &c));
        w.sign[t] = sum->sign[t];
        w.cells[t] = c.cells;
        w.of[t] = cr_scratch_bytes(s, w.joint.cells, sizeof *w.of[t]);
        CR_TRY(s->status);
        for (size_t i = 0; i < vs->n; i++) w.of[t][w.joint.of[i]] = c.of[i];
    }
    *out = w;
done:
    return st;
}

/* The sum for these counts of the joint cells; workspace [most cells]. */
static double evaluate(const views *w, const uint64_t *count, cr_info_estimator estimator,
                       uint64_t *workspace)
{
    double value = 0;
    for (size_t t = 0; t < w->terms; t++) {
        memset(workspace, 0, w->cells[t] * sizeof *workspace);
        for (size_t i = 0; i < w->joint.cells; i++) workspace[w->of[t][i]] += count[i];
        value += w->sign[t] * cr_info_entropy_counts(workspace, w->cells[t], estimator);
    }
    return value;
}

/* Its standard error in large samples: each row adds -log of its share, with the signs; their
 * standard deviation over sqrt(N).  influence [joint cells]. */
static double delta_error(const views *w, const uint64_t *count, uint64_t *workspace,
                          double *influence)
{
    double N = 0, mean = 0, square = 0;
    memset(influence, 0, w->joint.cells * sizeof *influence);
    for (size_t i = 0; i < w->joint.cells; i++) N += (double)count[i];
    for (size_t t = 0; t < w->terms; t++) {
        memset(workspace, 0, w->cells[t] * sizeof *workspace);
        for (size_t i = 0; i < w->joint.cells; i++) workspace[w->of[t][i]] += count[i];
        for (size_t i = 0; i < w->joint.cells; i++)
            if (count[i]) influence[i] -= w->sign[t] * log((double)workspace[w->of[t][i]] / N);
    }
    for (size_t i = 0; i < w->joint.cells; i++) mean += (double)count[i] / N * influence[i];
    for (size_t i = 0; i < w->joint.cells; i++)
        square += (double)count[i] / N * (influence[i] - mean) * (influence[i] - mean);
    return sqrt(square / N);
}

/* --- bootstrap ------------------------------------------------------------------------------- */

enum { SIDES = 8 }; /* draws that may run side by side, each with counts of its own */

typedef struct bootstrap {
    const views      *w;
    cr_info_estimator estimator;
    uint64_t          seed, rows;
    size_t            draws;
    const double     *share; /* [cells]: weights */
    double            plugin;
    uint64_t         *workspace; /* [SIDES x 2 cells]                                 */
    double           *influence; /* [SIDES x cells]                                   */
    double           *error;     /* [draws]: estimate of the draw - what it should be */
    double           *se;        /* [draws]: standard error that the draw would show  */
} bootstrap;

static void draw_side(void *arg, size_t side)
{
    const bootstrap *b = arg;
    size_t           cells = b->w->joint.cells;
    uint64_t        *count = b->workspace + 2 * side * cells, *workspace = count + cells;
    for (size_t i = side; i < b->draws; i += SIDES) {
        cr_rng r = cri_info_rng(b->seed, CRI_STREAM_DRAWS, i);
        cr_rng_multinomial(&r, b->rows, b->share, cells, count);
        b->error[i] = evaluate(b->w, count, b->estimator, workspace) - b->plugin;
        b->se[i] = delta_error(b->w, count, workspace, b->influence + side * cells);
    }
}

void cri_bootstrap_interval(double value, double se, double *error, const double *draw_se, size_t n,
                            double level, cri_span span, double *out_se, double *out_lower,
                            double *out_upper)
{
    double mean = 0, square = 0, tail = 0.5 * (1 - level);
    for (size_t i = 0; i < n; i++) mean += error[i] / (double)n;
    for (size_t i = 0; i < n; i++) square += (error[i] - mean) * (error[i] - mean);
    double sd = n > 1 ? sqrt(square / (double)(n - 1)) : se;
    double floor = 0.25 * fmax(se, sd); /* where the first order vanishes: equal shares, say */
    *out_se = sd;
    cri_normal_interval(value, sd, level, span, out_lower, out_upper);
    if (!(floor > 0)) return;
    for (size_t i = 0; i < n; i++) error[i] /= fmax(draw_se[i], floor);
    cri_sort_doubles(error, n);
    se = fmax(se, floor);
    double near = fmin(fmax(value, span.least), span.most);
    double lower = near - se * cri_sorted_quantile(error, n, 1 - tail);
    double upper = near - se * cri_sorted_quantile(error, n, tail);
    lower = fmin(fmax(lower, span.least), span.most);
    upper = fmin(fmax(upper, span.least), span.most);
    if (upper > lower) *out_lower = lower, *out_upper = upper;
}

/* Nothing is left open: all rows agree, or those that agree in the given columns do. */
static bool is_settled(const views *w) { return w->terms == 2 && w->cells[1] == w->cells[0]; }

/* The largest entropy with which rows would all be settled with probability 1 - level: a share e of them
 * that is not, (1 - e)^rows = 1 - level, may be any of the levels (Fano's inequality). */
static double settled_most(const views *w, size_t rows, double level)
{
    double share = missed_share(rows, level), others = (double)w->joint.cells - 1;
    share = fmin(share, fmax(others, 1) / (fmax(others, 1) + 1));
    return cr_entropy_binary_nats(share) + share * log(fmax(others, 1));
}

static cr_status resample(cr_ctx *cx, const views *w, const cr_info_options *o, uint64_t seed,
                          size_t rows, cri_span span, cr_information *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     cells = w->joint.cells;
    double    *share = cr_scratch_f64(&s, cells);
    bootstrap  b = { .w = w,
                     .estimator = (cr_info_estimator)o->estimator,
                     .seed = seed,
                     .rows = rows,
                     .share = share,
                     .plugin = out->plugin,
                     .draws = o->bootstrap };
    b.workspace = cr_scratch_bytes(&s, 2 * SIDES * cells, sizeof *b.workspace);
    b.influence = cr_scratch_f64(&s, SIDES * cells);
    b.error = cr_scratch_f64(&s, b.draws);
    b.se = cr_scratch_f64(&s, b.draws);
    CR_TRY(s.status);
    if (is_settled(w)) {
        out->se = 0, out->lower = 0;
        out->upper = fmin(settled_most(w, rows, o->level), span.most);
        goto done;
    }
    for (size_t i = 0; i < cells; i++) share[i] = (double)w->count[i];
    if (cells * b.draws >= 100000)
        CR_TRY(cri_parallel_for(cx, "bootstrap", SIDES, draw_side, &b));
    else
        for (size_t side = 0; side < SIDES; side++) draw_side(&b, side);
    cri_bootstrap_interval(out->value, delta_error(w, w->count, b.workspace, b.influence), b.error,
                           b.se, b.draws, o->level, span, &out->se, &out->lower, &out->upper);
done:
    cr_scratch_end(&s);
    return st;
}

/* --- both ------------------------------------------------------------------------------------ */

/* out has its rows already; with `resampled` also the interval. */
static cr_status measure(cr_ctx *cx, const cri_variables *vs, const cri_sum *sum,
                         const cr_info_options *o, uint64_t seed, cri_span span, bool resampled,
                         cr_information *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    views      w;
    uint64_t  *workspace = NULL;
    CR_TRY(make_views(&s, vs, sum, &w));
    workspace = cr_scratch_bytes(&s, w.joint.cells, sizeof *workspace);
    CR_TRY(s.status);
    out->cells = w.joint.cells;
    out->value = evaluate(&w, w.count, (cr_info_estimator)o->estimator, workspace);
    out->plugin = evaluate(&w, w.count, CR_INFO_PLUGIN, workspace);
    if (resampled) CR_TRY(resample(cx, &w, o, seed, vs->n, span, out));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_counts_value(cr_ctx *cx, const cri_variables *vs, const void *arg, double *out)
{
    const cri_counts_arg *a = arg;
    cr_information        got = { 0 };
    cr_status st = measure(cx, vs, a->sum, a->options, 0, (cri_span){ 0, INFINITY }, false, &got);
    if (st == CR_OK) *out = got.value;
    return st;
}

cr_status cri_counts_measure(cr_ctx *cx, const cri_variables *vs, const cri_sum *sum,
                             const cr_info_options *o, uint64_t seed, cri_span span,
                             cr_information *out)
{
    return measure(cx, vs, sum, o, seed, span, o->bootstrap > 0 && vs->n > 0, out);
}
