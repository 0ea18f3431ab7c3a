/* csv_doubt.c -- columns where a point may stand between thousands: 950, 1.000, 12.500.
 *
 * In a file of the plain style, 1.000 is one.  It is in doubt whether one or a thousand is meant when each cell of the
 * column with a point has one to three digits before it, the first not 0, and three behind it, and either other cells
 * have no point, none of them with more than three digits and some larger than a cell with a point (who writes decimals
 * with three digits writes 950.000), or all have one and semicolons are between the fields, as where commas are decimal
 * characters.  A point anywhere in the file that can only be a decimal one, as in 0.125 or 7.4, removes the doubt; in
 * most files that is one of the first cells, where the search ends. */
#include "csv_internal.h"
#include "base/number.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct points {
    size_t with, without;     /* cells */
    double smallest, largest; /* of those with a point; of those without */
    bool   decided;           /* that its points are no thousands */
    char   example[24];       /* a cell with one */
} points;

static const cri_number_style plain = { '.', '\0', CRI_SIGN_NONE },
                              grouped = { ',', '.', CRI_SIGN_NONE };

/* false: a point of this cell can only be a decimal one. */
static bool look_at_cell(const char *begin, const char *end, points *p)
{
    size_t          n = (size_t)(end - begin);
    double          x, y;
    unsigned        notes;
    cri_number_sign sign;
    if (!cri_read_styled(&plain, begin, end, &x, &notes, &sign)) {
        p->decided = true;
        return true;
    }
    if (!memchr(begin, '.', n)) {
        p->without++;
        p->largest = fmax(p->largest, fabs(x));
        return true;
    }
    if (!cri_read_styled(&grouped, begin, end, &y, &notes, &sign)) return false;
    p->smallest = p->with++ == 0 ? fabs(x) : fmin(p->smallest, fabs(x));
    if (p->example[0] || n >= sizeof p->example) return true;
    memcpy(p->example, begin, n);
    p->example[n] = '\0';
    return true;
}

static bool is_doubtful(const cri_csv *csv, const points *p)
{
    if (p->decided || p->with == 0) return false;
    if (p->without == 0) return csv->dialect.delimiter == ';';
    return p->largest < 1000 && p->largest > p->smallest;
}

/* All records of the sample; false: some point can only be a decimal one. */
static bool look(const cri_csv *csv, const char *at, const char *end, points *p)
{
    const cri_csv_dialect *d = &csv->dialect;
    for (size_t c = 0; at < end; c++) {
        cri_csv_cell cell = cri_csv_next_cell(d, at, end);
        if (cell.fault) return true;
        if (c < csv->n && csv->columns[c].mode == CRI_CSV_NUMBERS &&
            !cri_csv_is_missing(d, &cell)) {
            cri_csv_trim(&cell);
            if (!look_at_cell(cell.begin, cell.end, &p[c])) return false;
        }
        at = cell.stop + 1;
        if (*cell.stop != d->line_end) continue;
        c = SIZE_MAX; /* the next record begins with column 0 */
        at = cri_csv_skip_blank_lines(d, at, end);
    }
    return true;
}

cr_status cri_csv_find_doubts(cri_csv *csv, const char *at, const char *end)
{
    const cri_csv_characters *a = &csv->asked;
    if (a->decimal || a->thousands || a->no_groups) return CR_OK;
    if (csv->style.decimal != '.' || csv->style.thousands) return CR_OK;
    points *p = cr_scratch_bytes(&csv->scratch, csv->n, sizeof *p);
    if (!p) return csv->scratch.status;
    at = cri_csv_skip_blank_lines(&csv->dialect, at, end);
    if (!look(csv, at, end, p)) return CR_OK;
    for (size_t c = 0; c < csv->n; c++)
        if (is_doubtful(csv, &p[c])) csv->columns[c].doubtful = p[c].example;
    return CR_OK;
}

static void warn(const cri_csv *csv, const cri_csv_column *k, const char *text);

void cri_csv_warn_of_doubts(const cri_csv *csv)
{
    for (size_t c = 0; c < csv->n; c++) {
        const cri_csv_column *k = &csv->columns[c];
        if (k->doubtful && !k->must_be_category && k->mode != CRI_CSV_SKIP)
            warn(csv, k, k->doubtful);
    }
}

static void warn(const cri_csv *csv, const cri_csv_column *k, const char *text)
{
    const char     *end = text + strlen(text);
    double          x[2];
    unsigned        notes;
    cri_number_sign sign;
    char            read[CRI_DOUBLE_SIZE], other[CRI_DOUBLE_SIZE];
    if (!cri_read_styled(&plain, text, end, &x[0], &notes, &sign)) return;
    if (!cri_read_styled(&grouped, text, end, &x[1], &notes, &sign)) return;
    cri_print_double(x[0], read);
    cri_print_double(x[1], other);
    cr_log(csv->cx, CR_LOG_WARNING,
           "'%s' in column '%s' of %s is read as %s: --thousands . reads it as %s, "
           "--decimal . says that %s is right",
           text, k->name, cri_source_name(csv->source), read, other, read);
}

/* By the values, as the texts are gone: all points have three digits behind them, at the most, and some no fewer. */
void cri_csv_warn_of_late_points(const cri_csv *csv, const cri_csv_column *k, const double *values,
                                 size_t n)
{
    const cri_csv_characters *a = &csv->asked;
    points                    p = { 0 };
    double                    example = NAN;
    if (k->sampled != CRI_CSV_WHOLE || !(k->seen & CRI_CSV_REAL) || k->styled || k->must_be_real ||
        a->decimal || a->thousands || a->no_groups || csv->style.decimal != '.')
        return;
    for (size_t i = 0; i < n; i++) {
        double x = fabs(values[i]), thousand = 1000 * x;
        if (isnan(x)) continue;
        if (x == floor(x)) {
            p.without++;
            p.largest = fmax(p.largest, x);
            continue;
        }
        if (!(x >= 1 && x < 1000 && fabs(thousand - round(thousand)) < 1e-9 * thousand)) return;
        bool three = fabs(100 * x - round(100 * x)) > 1e-6;
        if (three && isnan(example)) example = values[i];
        p.smallest = p.with++ == 0 ? x : fmin(p.smallest, x);
    }
    if (isnan(example) || !is_doubtful(csv, &p)) return;
    snprintf(p.example, sizeof p.example, "%.3f", example);
    warn(csv, k, p.example);
}
