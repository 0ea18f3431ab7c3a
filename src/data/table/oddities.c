/* oddities.c -- looks at one column. */
#include "oddities.h"
#include "date.h"
#include "base/inner_loop.h"
#include "base/list.h"
#include "base/number.h"
#include "base/scratch.h"
#include "base/sort.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { FEWEST_ROWS = 20, SAMPLE = 8192 };
enum { SERIAL_ORIGIN = 25569 }; /* 1970-01-01 as a spreadsheet counts days */

/* --- ids ------------------------------------------------------------------------------------- */

/* "id", "ID", "patient_id", "customerId", "row", "index", "key". */
static bool is_named_like_id(const char *name)
{
    static const char *const words[] = { "id", "index", "row", "rownames", "key", "uuid" };
    size_t                   n = strlen(name);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(name, words[i]) == 0) return true;
    if (n < 3 || strcasecmp(name + n - 2, "id") != 0) return false;
    char before = name[n - 3];
    return before == '_' || before == '.' || before == '-' || before == ' ' ||
           (name[n - 2] == 'I' && before >= 'a' && before <= 'z');
}

/* 0, 1, 2, ... or 1, 2, 3, ...: row numbers. */
static bool counts_rows(const cr_column *c, size_t rows)
{
    double first = c->values[0];
    if (first != 0 && first != 1) return false;
    for (size_t i = 1; i < rows; i++)
        if (c->values[i * c->stride] != first + (double)i) return false;
    return true;
}

static cr_status all_different(cr_ctx *cx, const cr_column *c, size_t rows, bool *out)
{
    cr_scratch s = cr_scratch_begin(cx);
    double    *sorted = cr_scratch_f64(&s, rows);
    cr_status  st = s.status;
    *out = st == CR_OK;
    for (size_t i = 0; i < rows && *out; i++) sorted[i] = c->values[i * c->stride];
    if (*out) cri_sort_doubles(sorted, rows);
    for (size_t i = 1; i < rows && *out; i++) *out = sorted[i] != sorted[i - 1];
    cr_scratch_end(&s);
    return st;
}

/* --- codes ----------------------------------------------------------------------------------- */

/* -1, or 9, 99, 999, ... of either sign. */
static bool is_code(double x)
{
    double nines = fabs(x);
    if (x == -1) return true;
    for (double p = 99; p < 1e10; p = 10 * p + 9)
        if (nines == p) return true;
    return false;
}

/* What is left of a column without the value: its range, how often the value comes, and whether there are
 * at least five different others. */
typedef struct rest {
    double min, max;
    size_t count, different;
} rest;

static rest without(const cr_column *c, size_t rows, double code)
{
    rest   r = { .min = INFINITY, .max = -INFINITY };
    double seen[5];
    for (size_t i = 0; i < rows; i++) {
        double x = c->values[i * c->stride];
        if (x == code) r.count++;
        if (isnan(x) || x == code) continue;
        r.min = fmin(r.min, x);
        r.max = fmax(r.max, x);
        bool known = r.different == 5;
        for (size_t k = 0; k < r.different && !known; k++) known = seen[k] == x;
        if (!known) seen[r.different++] = x;
    }
    return r;
}

/* Far: farther from the nearest other than these are from each other; -1 may be a value like others, and
 * must be three times as far. */
static bool is_wild(const cr_column *c, size_t rows, double code, size_t *out_count)
{
    if (!is_code(code)) return false;
    rest   r = without(c, rows, code);
    double range = r.max - r.min, gap = code < r.min ? r.min - code : code - r.max;
    *out_count = r.count;
    return r.count >= 2 && r.different == 5 && gap > (code == -1 ? 3 : 1) * range;
}

/* --- units and days -------------------------------------------------------------------------- */

/* What stands behind the number that a text begins with, and behind its blanks: "kg" of "12.5 kg"; NULL without a
 * number, or without a unit that is one. */
static const char *unit_of(const char *text)
{
    text += *text == '-' || *text == '+';
    size_t digits = strspn(text, "0123456789"), number = strspn(text, "0123456789.,");
    if (digits == 0) return NULL;
    const char *unit = text + number + strspn(text + number, " ");
    size_t      length = strlen(unit);
    if (length == 0 || length > 12 || strpbrk(unit, "0123456789'\",;:/-+*.[\\")) return NULL;
    return unit;
}

static const char *common_unit(const cr_column *c)
{
    const char *unit = c->n_levels > 1 ? unit_of(c->levels[0]) : NULL;
    for (size_t k = 1; unit && k < c->n_levels; k++) {
        const char *other = unit_of(c->levels[k]);
        if (!other || strcmp(other, unit) != 0) unit = NULL;
    }
    return unit;
}

/* Days since 1899-12-30: 1954 to 2064. */
static bool counts_days(const cr_column *c, double min, double max)
{
    static const char *const words[] = { "date", "day", "datum", "fecha" };
    if (c->type != CR_INTEGER || min < 20000 || max > 60000) return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        for (const char *at = c->name; *at; at++)
            if (strncasecmp(at, words[i], strlen(words[i])) == 0) return true;
    return false;
}

/* A day from 1900 to 2100 as the number 20230131. */
static bool is_packed_day(double x)
{
    char   text[16];
    double day;
    if (!(x >= 19000101 && x <= 21001231)) return false;
    snprintf(text, sizeof text, "%.0f", x);
    return cri_date_read_as(text, "%Y%m%d", &day) == CRI_DATE_DAY;
}

static bool are_packed_days(const cr_column *c, size_t rows, cri_ends ends)
{
    if (c->type != CR_INTEGER || !is_packed_day(ends.min) || !is_packed_day(ends.max)) return false;
    for (size_t i = 0; i < rows; i++) {
        double x = c->values[i * c->stride];
        if (!isnan(x) && !is_packed_day(x)) return false;
    }
    return true;
}

/* --- columns --------------------------------------------------------------------------------- */

/* One row in each of SAMPLE stretches, at a place scattered by multiplicative hashing (Knuth, 1998, The Art
 * of Computer Programming 3, sec. 6.4), so that nothing periodic is missed; all rows where they are fewer,
 * or all are asked for. */
static size_t step_of(size_t rows, bool all) { return all || rows <= SAMPLE ? 1 : rows / SAMPLE; }
static size_t place_of(size_t i, size_t step)
{
    return i * step + (size_t)((i * UINT64_C(0x9e3779b97f4a7c15)) >> 33) % step;
}

static cri_ends find_ends(const cr_column *c, size_t rows, bool all)
{
    cri_ends e = { INFINITY, -INFINITY, all };
    size_t   step = step_of(rows, all);
    for (size_t i = 0; i < rows / step; i++) {
        double x = c->values[place_of(i, step) * c->stride];
        e.min = x < e.min ? x : e.min;
        e.max = x > e.max ? x : e.max;
    }
    return e;
}

/* How many columns from k on, of CRI_SIDE_BY_SIDE at most, lie side by side in the rows of one matrix. */
static size_t count_side_by_side(const cr_table *t, size_t k)
{
    const cr_column *c = cr_table_column(t, k);
    size_t           n = 1;
    for (; c->stride > 1 && n < CRI_SIDE_BY_SIDE && k + n < cr_table_columns(t); n++) {
        const cr_column *next = cr_table_column(t, k + n);
        if (!next->values || next->stride != c->stride || next->values != c->values + n) break;
    }
    return n;
}

CRI_INNER_LOOP static void widen(const double *x, size_t n, double *min, double *max)
{
    cri_check_array(x, n);
    for (size_t j = 0; j < n; j++) {
        min[j] = x[j] < min[j] ? x[j] : min[j];
        max[j] = x[j] > max[j] ? x[j] : max[j];
    }
}

cri_ends cri_sampled_ends(const cr_table *t, size_t k, cri_sampled *known)
{
    const cr_column *c = cr_table_column(t, k);
    size_t           rows = cr_table_rows(t), step = step_of(rows, false);
    if (!c->values) return (cri_ends){ 0 };
    if (k < known->first || k >= known->end) {
        size_t n = count_side_by_side(t, k);
        if (n == 1) return find_ends(c, rows, false);
        for (size_t j = 0; j < n; j++) known->min[j] = INFINITY, known->max[j] = -INFINITY;
        for (size_t i = 0; i < rows / step; i++)
            widen(c->values + place_of(i, step) * c->stride, n, known->min, known->max);
        known->first = k;
        known->end = k + n;
    }
    return (cri_ends){ known->min[k - known->first], known->max[k - known->first], false };
}

static cr_status look_at_numbers(cr_ctx *cx, const cr_column *c, size_t rows, cri_ends ends,
                                 cri_oddity *out)
{
    cr_status st = CR_OK;
    bool      different = false;
    bool      counts = c->type == CR_INTEGER && ends.max - ends.min > 0.5 * (double)rows;
    if (!ends.all && (counts || !(ends.min < ends.max))) ends = find_ends(c, rows, true);
    double min = ends.min, max = ends.max;
    if (c->missing == 0 && min == max) out->kind = CRI_ODD_CONSTANT;
    if (is_wild(c, rows, min, &out->count))
        *out = (cri_oddity){ .kind = CRI_ODD_CODE, .code = min, .count = out->count };
    else if (is_wild(c, rows, max, &out->count))
        *out = (cri_oddity){ .kind = CRI_ODD_CODE, .code = max, .count = out->count };
    if (!out->kind && counts_days(c, min, max))
        *out = (cri_oddity){ .kind = CRI_ODD_SERIAL, .code = min };
    if (!out->kind && are_packed_days(c, rows, ends))
        *out = (cri_oddity){ .kind = CRI_ODD_PACKED, .code = min };
    if (out->kind || c->type != CR_INTEGER || c->missing || max - min + 1 < (double)rows) return st;
    if (counts_rows(c, rows))
        different = true;
    else if (is_named_like_id(c->name))
        CR_TRY(all_different(cx, c, rows, &different));
    if (different) out->kind = CRI_ODD_ID;
done:
    return st;
}

/* Most levels are numbers that would lose nothing as such: the column is rather one of numbers that quotes, or some of
 * its cells, have made texts, which is told where it is read. */
static bool are_numbers(const cr_column *c)
{
    size_t numbers = 0;
    for (size_t k = 0; k < c->n_levels; k++) {
        const char *text = c->levels[k];
        double      x;
        bool        padded = text[0] == '0' && text[1] >= '0' && text[1] <= '9';
        size_t      length = strlen(text);
        numbers +=
            !padded && cri_parse_double(text, text + length, &x) == length && fabs(x) <= 0x1p53;
    }
    return 2 * numbers > c->n_levels;
}

static cr_status look_at_levels(cr_ctx *cx, const cr_column *c, cri_oddity *out)
{
    if (cri_are_times(c, &out->unit, out->alike)) {
        out->kind = CRI_ODD_TIMES;
        return CR_OK;
    }
    cr_status st = cri_find_alike(cx, c, &out->alike[0], &out->alike[1]);
    if (out->alike[0]) out->kind = CRI_ODD_ALIKE;
    return st;
}

cr_status cri_find_oddity(cr_ctx *cx, const cr_column *c, size_t rows, cri_ends ends,
                          cri_oddity *out)
{
    *out = (cri_oddity){ .kind = CRI_ODD_NOTHING };
    if (c->type == CR_CATEGORY) {
        cr_status st = look_at_levels(cx, c, out);
        if (st != CR_OK || out->kind) return st;
    } else if (c->infinite) {
        out->kind = CRI_ODD_INFINITE;
        for (size_t i = 0; i < rows; i++) out->count += isinf(c->values[i * c->stride]) != 0;
        return CR_OK;
    }
    if (rows < FEWEST_ROWS || c->missing == rows) return CR_OK;
    if (c->type == CR_BOOLEAN) return CR_OK;
    if (c->type != CR_CATEGORY) return look_at_numbers(cx, c, rows, ends, out);
    if (c->n_levels == rows - c->missing && !are_numbers(c)) out->kind = CRI_ODD_TEXTS;
    if (c->n_levels == 1 && c->missing == 0) out->kind = CRI_ODD_CONSTANT;
    const char *unit = common_unit(c);
    if (unit) *out = (cri_oddity){ .kind = CRI_ODD_UNIT, .unit = unit };
    return CR_OK;
}

void cri_warn_of_oddity(cr_ctx *cx, const cr_column *c, const cri_oddity *o)
{
    char name[256], code[CRI_DOUBLE_SIZE], day[CRI_DATE_SIZE];
    if (cri_list_quote(c->name, name, sizeof name) >= sizeof name) return;
    switch (o->kind) {
    case CRI_ODD_NOTHING:
        return;
    case CRI_ODD_ID:
        cr_log(cx, CR_LOG_WARNING,
               "column '%s' numbers the rows: leave it out of the features with --features '!%s'",
               c->name, name);
        return;
    case CRI_ODD_TEXTS:
        cr_log(cx, CR_LOG_WARNING,
               "column '%s' has a different text in every row: leave it out of the features with "
               "--features '!%s'",
               c->name, name);
        return;
    case CRI_ODD_CONSTANT:
        cr_log(cx, CR_LOG_WARNING,
               "column '%s' has the same value in every row: leave it out of the features with "
               "--features '!%s'",
               c->name, name);
        return;
    case CRI_ODD_CODE:
        cri_print_double(o->code, code);
        cr_log(cx, CR_LOG_WARNING,
               "column '%s' is %s in %zu rows, far from its other values: if that means missing, "
               "use --missing-values=%s",
               c->name, code, o->count, code);
        return;
    case CRI_ODD_UNIT:
        cr_log(cx, CR_LOG_WARNING,
               "column '%s' is text, as every cell has the unit '%s' behind its number: sed "
               "'s/\\([0-9]\\) *%s/\\1/' "
               "FILE makes numbers of them",
               c->name, o->unit, o->unit);
        return;
    case CRI_ODD_SERIAL:
        cri_date_print(CR_DATE, o->code - SERIAL_ORIGIN, day);
        cr_log(cx, CR_LOG_WARNING,
               "column '%s' may have days as a spreadsheet counts them (%.0f is %s), and is read "
               "as numbers: give the "
               "cells the format yyyy-mm-dd before you save the file as CSV, to have months and "
               "weekdays too",
               c->name, o->code, day);
        return;
    case CRI_ODD_INFINITE:
        cr_log(cx, CR_LOG_WARNING,
               "column '%s' is infinite in %zu row%s, which no model takes: if that means missing, "
               "use --missing-values=inf,-inf",
               c->name, o->count, o->count == 1 ? "" : "s");
        return;
    case CRI_ODD_PACKED:
        cr_log(cx, CR_LOG_WARNING,
               "column '%s' looks like dates, such as %.0f, but is read as numbers: --date "
               "'%s:%%Y%%m%%d' reads them as dates, --real '%s' silences this warning",
               c->name, o->code, name, name);
        return;
    case CRI_ODD_TIMES:
        if (!o->unit)
            cr_log(cx, CR_LOG_WARNING,
                   "column '%s' has times of day in two formats, such as %s and %s, and is read as "
                   "text: write them all in one format for --date",
                   c->name, o->alike[0], o->alike[1]);
        else
            cr_log(
                cx, CR_LOG_WARNING,
                "column '%s' has times of day, such as %s, which are read as text: --date '%s:%s' "
                "reads them as times",
                c->name, c->levels[0], name, o->unit);
        return;
    case CRI_ODD_ALIKE:
        cr_log(cx, CR_LOG_WARNING,
               "column '%s' has levels that differ only in capital letters or in blanks at their "
               "ends, such as '%s' and '%s', and count as different: write them alike in the file "
               "if they mean the same",
               c->name, o->alike[0], o->alike[1]);
    }
}

/* --- rows ------------------------------------------------------------------------------------ */

static bool is_missing(const cr_column *c, size_t row)
{
    return c->values ? isnan(c->values[row * c->stride]) : c->codes[row] == CR_MISSING_CODE;
}

/* Most tables have a column without gaps, and are not read. */
void cri_warn_of_empty_rows(cr_ctx *cx, const cr_table *t)
{
    size_t empty = 0, first = 0;
    if (cr_table_columns(t) < 2 || cr_table_csr(t)) return;
    for (size_t k = 0; k < cr_table_columns(t); k++)
        if (cr_table_column(t, k)->missing == 0) return;
    for (size_t i = 0; i < cr_table_rows(t); i++) {
        size_t k = 0;
        while (k < cr_table_columns(t) && is_missing(cr_table_column(t, k), i)) k++;
        if (k < cr_table_columns(t)) continue;
        if (empty++ == 0) first = i + 1;
    }
    if (empty < 2) return; /* one is seldom more than the end of a file */
    cr_log(cx, CR_LOG_WARNING,
           "%zu rows of %s have no value in any column, the first of them row %zu: --missing drop "
           "leaves them out of a fit",
           empty, cr_table_source(t), first);
}

void cri_warn_of_digits(cr_ctx *cx, const char *source, const char *column)
{
    char name[256];
    if (cri_list_quote(column, name, sizeof name) >= sizeof name) return;
    cr_log(cx, CR_LOG_WARNING,
           "column '%s' of %s has whole numbers beyond 2^53, which lose digits as numbers: "
           "--category '%s' keeps them as they are written",
           column, source, name);
}
