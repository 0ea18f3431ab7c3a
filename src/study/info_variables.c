/* info_variables.c -- columns of a table made ready: rows with values, codes, standardised numbers.
 */
#include "info_internal.h"
#include "base/sort.h"
#include "data/table/table_internal.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VALUES = 20, ROWS_PER_VALUE = 5 }; /* of an integer that is counted */

/* --- columns --------------------------------------------------------------------------------- */

static const char *column_name(const void *t, size_t i) { return cr_table_column(t, i)->name; }

cr_status cri_info_column(cr_ctx *cx, const cr_table *table, const char *name,
                          const cr_column **out)
{
    const cr_column *c = cr_table_find(table, name);
    if (!c) {
        cr_fail(cx, CR_EDATA, "column '%s' not found in %s", name, cr_table_source(table));
        return cr_fail_nearest(cx, name, "columns", cr_table_columns(table), column_name, table);
    }
    if (c->infinite)
        return cr_fail(cx, CR_EDATA, "column '%s' of %s has infinite values", name,
                       cr_table_source(table));
    *out = c;
    return CR_OK;
}

static size_t sort_unique(double *x, size_t n)
{
    size_t k = 0;
    cri_sort_doubles(x, n);
    for (size_t i = 0; i < n; i++)
        if (k == 0 || x[i] != x[k - 1]) x[k++] = x[i];
    return k;
}

cr_status cri_is_counted(cr_ctx *cx, const cr_column *column, size_t rows, bool *out_counted)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *x = NULL;
    size_t     n = 0;
    if (column->type != CR_INTEGER) {
        *out_counted = column->type != CR_REAL;
        goto done;
    }
    x = cr_scratch_f64(&s, rows);
    CR_TRY(s.status);
    for (size_t i = 0; i < rows; i++)
        if (!isnan(column->values[i * column->stride])) x[n++] = column->values[i * column->stride];
    size_t values = sort_unique(x, n);
    *out_counted = values <= MOST_VALUES && n >= ROWS_PER_VALUE * values;
done:
    cr_scratch_end(&s);
    return st;
}

/* The next value from place *at on that stands there more than once, its number in *count; *at moves
 * behind it.  NaN when there are no more. */
static double next_repeated(const double *x, size_t n, size_t *at, size_t *count)
{
    while (*at < n) {
        double value = x[*at];
        size_t begin = *at;
        while (*at < n && x[*at] == value) ++*at;
        if ((*count = *at - begin) > 1) return value;
    }
    return NAN;
}

/* How many digits a number has behind the decimal point, as it was written; MANY where it is no such number. */
enum { MOST_DECIMALS = 12, MANY };
static unsigned decimals_of(double x)
{
    double power = 1;
    for (unsigned d = 0; d <= MOST_DECIMALS; d++, power *= 10) {
        double y = x * power;
        if (fabs(y) > 9e15) return MANY;
        if (fabs(y - round(y)) <= 4 * DBL_EPSILON * fabs(y)) return d;
    }
    return MANY;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b, b = rest;
    }
    return a;
}

/* The step of the decimal numbers that at least three quarters of the rows are written as: 1 for whole numbers, 0.01
 * for two digits behind the point, 5 for multiples of 5.  (Of multiples of 0.25 half have one digit.)  NaN where they
 * have too many digits. */
static double decimal_step(const double *x, size_t n)
{
    size_t   rows[MANY + 1] = { 0 }, most = 0, sum = 0;
    uint64_t step = 0;
    double   power = 1, first = NAN;
    for (size_t i = 0; i < n; i++) rows[decimals_of(x[i])]++;
    while (4 * (sum += rows[most]) < 3 * n) most++;
    if (most == MANY) return NAN;
    for (size_t d = 0; d < most; d++) power *= 10;
    for (size_t i = 0; i < n; i++) {
        if (decimals_of(x[i]) > most) continue;
        if (isnan(first)) first = round(x[i] * power);
        step = common_divisor(step, (uint64_t)fabs(round(x[i] * power) - first));
    }
    return (step > 0 ? (double)step : 1) / power;
}

/* Half the distance between the neighbours of a repeated value, in the middle of all rows of such: for numbers that
 * are no decimals, or repeat for another reason than their digits (logs of whole numbers). */
static double neighbour_step(const double *x, size_t n, double *workspace)
{
    size_t m = 0;
    for (size_t begin = 0, end; begin < n; begin = end) {
        for (end = begin; end < n && x[end] == x[begin];) end++;
        double left = begin > 0 ? x[begin] - x[begin - 1] : x[end] - x[begin];
        double right = end < n ? x[end] - x[begin] : left;
        for (size_t k = begin; k < end && end - begin > 1; k++) workspace[m++] = (left + right) / 2;
    }
    cri_sort_doubles(workspace, m);
    return workspace[m / 2];
}

/* Whether so many pairs of rows as are equal can be so by rounding to this step: about n^2 step / (4 sqrt(pi) sd) are,
 * for normal numbers. */
static bool explains_ties(const double *x, size_t n, double step)
{
    double sd = (x[n - 1 - n / 4] - x[n / 4]) / 1.349, pairs = 0;
    size_t at = 0, count;
    while (!isnan(next_repeated(x, n, &at, &count))) pairs += 0.5 * (double)(count * (count - 1));
    return pairs <= 10 + 4 * (double)n * (double)n * step / (4 * sqrt(M_PI) * sd);
}

double cri_resolution(double *x, size_t n, double *opt_origin, double *workspace)
{
    size_t at = 0, count;
    cri_sort_doubles(x, n);
    double first = next_repeated(x, n, &at, &count), step;
    if (isnan(first) || x[0] == x[n - 1]) return NAN;
    if (opt_origin) *opt_origin = first;
    step = decimal_step(x, n);
    if (!isnan(step) && explains_ties(x, n, step)) return step;
    return fmax(neighbour_step(x, n, workspace), step); /* NaN is not the larger */
}

double cri_rounding(const double *sorted, size_t n, double resolution, double origin, double value)
{
    const double *at = bsearch(&value, sorted, n, sizeof *sorted, cri_compare_doubles);
    double        steps = (value - origin) / resolution;
    bool          repeats =
        at && ((at > sorted && at[-1] == value) || (at + 1 < sorted + n && at[1] == value));
    return repeats || fabs(steps - round(steps)) <= 1e-6 * (1 + fabs(steps)) ? resolution : 0;
}

/* --- rows ------------------------------------------------------------------------------------ */

static size_t keep_rows(const cr_column *const *columns, size_t m, size_t rows, size_t *out)
{
    size_t n = 0;
    for (size_t i = 0; i < rows; i++) {
        bool whole = true;
        for (size_t j = 0; j < m && whole; j++) whole = !cri_is_missing(columns[j], i);
        if (whole) out[n++] = i;
    }
    return n;
}

/* --- values ---------------------------------------------------------------------------------- */

static cr_status read_codes(cr_scratch *s, const cr_column *c, const cri_variables *vs,
                            cri_variable *v)
{
    v->code = cr_scratch_bytes(s, vs->n, sizeof *v->code);
    if (s->status != CR_OK) return s->status;
    v->levels = c->n_levels;
    if (c->type == CR_CATEGORY) {
        for (size_t i = 0; i < vs->n; i++) v->code[i] = c->codes[vs->row[i]];
        return CR_OK;
    }
    double *values = cr_scratch_f64(s, vs->n);
    if (s->status != CR_OK) return s->status;
    for (size_t i = 0; i < vs->n; i++) values[i] = c->values[vs->row[i] * c->stride];
    v->levels = sort_unique(values, vs->n);
    for (size_t i = 0; i < vs->n; i++) {
        const double *at = bsearch(&c->values[vs->row[i] * c->stride], values, v->levels,
                                   sizeof *values, cri_compare_doubles);
        v->code[i] = (uint32_t)(at - values);
    }
    return CR_OK;
}

/* Each value of the table has its own random number, whatever rows are in use. */
static void spread(cri_variable *v, const cri_variables *vs, const double *sorted, double origin,
                   size_t rows, cr_rng r)
{
    for (size_t i = 0, k = 0; i < rows && k < vs->n; i++) {
        double u = cr_rng_uniform(&r) - 0.5;
        if (vs->row[k] != i) continue;
        v->x[k] += cri_rounding(sorted, vs->n, v->resolution, origin, v->x[k]) * u;
        k++;
    }
}

/* How many rows would have a value by chance, the rows about it being spread evenly over steps: those within a
 * quarter of the interquartile range, which there is. */
static double expected_repeats(const double *sorted, size_t n, double step, double value)
{
    double reach = (sorted[n - 1 - n / 4] - sorted[n / 4]) / 4;
    size_t about = 0;
    for (size_t i = 0; i < n; i++) about += sorted[i] != value && fabs(sorted[i] - value) <= reach;
    return (double)about * step / fmax(2 * reach, step);
}

/* One value that far more rows share than those about it let expect, which are fewer than one to a step: no spread
 * over a step undoes such a cluster. */
static void warn_of_cluster(cr_ctx *cx, const cr_column *c, const double *sorted, size_t n,
                            double step)
{
    size_t at = 0, count = 0, most = 0;
    double value, which = NAN;
    while (!isnan(value = next_repeated(sorted, n, &at, &count)))
        if (count > most) most = count, which = value;
    if (most == 0) return;
    double expected = expected_repeats(sorted, n, step, which);
    if (most > 5 && 20 * most > n && expected < 1)
        cr_log(cx, CR_LOG_WARNING,
               "%zu of %zu rows of '%s' are exactly %g among numbers with more digits: the density "
               "there is unbounded, so the entropy is too low; --category %s counts its values "
               "instead",
               most, n, c->name, which, c->name);
}

static cr_status read_numbers(cr_scratch *s, const cr_table *t, const cr_column *c,
                              const cri_variables *vs, cr_rng r, cri_variable *v)
{
    double mean = 0, square = 0, low = INFINITY, high = -INFINITY, origin = 0, *sorted, *workspace;
    v->x = cr_scratch_f64(s, vs->n);
    sorted = cr_scratch_f64(s, vs->n);
    workspace = cr_scratch_f64(s, vs->n);
    if (s->status != CR_OK) return s->status;
    for (size_t i = 0; i < vs->n; i++) {
        sorted[i] = v->x[i] = c->values[vs->row[i] * c->stride];
        low = fmin(low, v->x[i]), high = fmax(high, v->x[i]);
    }
    if (vs->n > 1 && low == high) {
        cr_fail(s->cx, CR_EDATA, "column '%s' of %s is constant: it has no density", c->name,
                cr_table_source(t));
        return cr_fail_hint(s->cx, "--category %s counts its values instead", c->name);
    }
    v->resolution = cri_resolution(sorted, vs->n, &origin, workspace);
    if (!isnan(v->resolution)) warn_of_cluster(s->cx, c, sorted, vs->n, v->resolution);
    if (!isnan(v->resolution)) spread(v, vs, sorted, origin, cr_table_rows(t), r);
    for (size_t i = 0; i < vs->n; i++) mean += v->x[i] / (double)vs->n;
    for (size_t i = 0; i < vs->n; i++) {
        double e = (v->x[i] - mean) / (high - low); /* a scale that cannot overflow */
        square += e * e;
    }
    double sd = (high - low) * sqrt(square / (double)vs->n);
    for (size_t i = 0; i < vs->n; i++) v->x[i] = (v->x[i] - mean) / sd;
    v->log_scale = log(sd);
    return CR_OK;
}

static size_t column_place(const cr_table *t, const cr_column *c)
{
    size_t j = 0;
    while (cr_table_column(t, j) != c) j++;
    return j;
}

cr_status cri_variables_read(cr_scratch *s, const cr_table *table, const char *const *names,
                             const unsigned *roles, size_t m, uint64_t seed, cri_variables *out)
{
    cr_status         st = CR_OK;
    size_t            rows = cr_table_rows(table);
    cri_variables     vs = { .m = m };
    const cr_column **columns = cr_scratch_bytes(s, m, sizeof(const cr_column *));
    vs.row = cr_scratch_index(s, rows);
    vs.v = cr_scratch_bytes(s, m, sizeof *vs.v);
    CR_TRY(s->status);
    for (size_t j = 0; j < m; j++) {
        CR_TRY(cri_info_column(s->cx, table, names[j], &columns[j]));
        for (size_t i = 0; i < j; i++)
            if (columns[i] == columns[j])
                CR_TRY(cr_fail(s->cx, CR_EARG, "column '%s' is named twice", names[j]));
    }
    vs.n = keep_rows(columns, m, rows, vs.row);
    vs.dropped = rows - vs.n;
    for (size_t j = 0; j < m; j++) {
        cri_variable *v = &vs.v[j];
        size_t        place = column_place(table, columns[j]);
        *v = (cri_variable){ .name = columns[j]->name, .role = roles[j], .resolution = NAN };
        CR_TRY(cri_is_counted(s->cx, columns[j], rows, &v->counted));
        if (v->counted)
            CR_TRY(read_codes(s, columns[j], &vs, v));
        else
            CR_TRY(read_numbers(s, table, columns[j], &vs,
                                cri_info_rng(seed, CRI_STREAM_SPREAD, place), v));
    }
    *out = vs;
done:
    return st;
}

cr_status cri_variables_some(cr_scratch *s, const cri_variables *all, const size_t *keep, size_t n,
                             cri_variables *out)
{
    cri_variables vs = { .n = n, .m = all->m, .row = cr_scratch_index(s, n) };
    vs.v = cr_scratch_bytes(s, all->m, sizeof *vs.v);
    if (s->status != CR_OK) return s->status;
    memcpy(vs.v, all->v, all->m * sizeof *vs.v);
    for (size_t i = 0; i < n; i++) vs.row[i] = all->row[keep[i]];
    for (size_t j = 0; j < all->m; j++) {
        const cri_variable *from = &all->v[j];
        cri_variable       *v = &vs.v[j];
        v->code = from->counted ? cr_scratch_bytes(s, n, sizeof *v->code) : NULL;
        v->x = from->counted ? NULL : cr_scratch_f64(s, n);
        v->opt_line = NULL;
        if (s->status != CR_OK) return s->status;
        for (size_t i = 0; i < n; i++) {
            if (v->counted)
                v->code[i] = from->code[keep[i]];
            else
                v->x[i] = from->x[keep[i]];
        }
    }
    *out = vs;
    return CR_OK;
}
