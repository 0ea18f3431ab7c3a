/* csv_header.c -- whether the first record names the columns.
 * Texts above numbers say so at once.  Whole numbers may be names, too: years, 0, 1, 2, ... as pandas
 * numbers columns, or what is in quotes while the numbers below are not.  For the first two the rest
 * of the sample is looked at again, for what speaks against it (the row goes on below: its texts come
 * again, a column counts up from it, another row is such a run) and what speaks for it (only numbers
 * with decimal points below, no years below, an empty corner). */
#include "csv_header.h"
#include "base/list.h"

#include <math.h>
#include <string.h>

typedef enum verdict { DATA, DOUBT, NAMES } verdict;

/* One column: its cell in the first record, and what is below it. */
typedef struct column {
    const char *text;
    size_t      length;
    double      first; /* NaN: no number */
    size_t      rows, numbers, years;
    bool        recurs, has_gaps;
    double      last, step;
    bool        counts; /* all numbers so far are one progression that begins with `first` */
} column;

/* What the numbers of the first record look like. */
typedef struct likeness {
    size_t numbers, texts;
    bool   years, run, ascending; /* run: 0, 1, 2, ... or 1, 2, 3, ... */
    bool   corner;                /* the first cell is empty */
} likeness;

static bool is_year(double x) { return x >= 1800 && x <= 2100 && x == floor(x); }

/* --- the first record ------------------------------------------------------------------------ */

/* All the cells of the first record are different. */
static cr_status are_different(cri_csv *csv, const cri_csv_contents *k, bool *out)
{
    cr_status      st = CR_OK;
    cri_csv_levels texts = { .n = 0 };
    uint32_t       number;
    const char    *at = k->at;
    *out = true;
    for (size_t c = 0; c < k->n && *out; c++) {
        cri_csv_cell cell = cri_csv_next_cell(&csv->dialect, at, k->end);
        size_t       length = (size_t)(cell.end - cell.begin);
        st = cri_csv_levels_add(csv->cx, &texts, cell.begin, length, &number);
        if (st != CR_OK) CR_TRY(cri_csv_levels_fail(csv->cx, &texts, st));
        *out = number == c;
        at = cell.stop + 1;
    }
done:
    cri_csv_levels_clear(csv->cx, &texts);
    return st;
}

/* Whether cells of these kinds can be one column of numbers, or of booleans. */
static bool are_numbers(unsigned kinds)
{
    kinds &= ~(unsigned)(CRI_CSV_QUOTED | CRI_CSV_PADDED);
    return kinds && !(kinds & CRI_CSV_OTHER_TEXT) &&
           (!cri_csv_is_mixed(kinds) || kinds & CRI_CSV_STYLED_NUMBER);
}

/* Values of the first record are in quotes, numbers below are not. */
static bool is_quoted_above(const cri_csv_contents *k)
{
    bool any = false;
    for (size_t c = 0; c < k->n; c++) {
        bool numbers = are_numbers(k->later[c]);
        if (k->first[c] && !(k->first[c] & CRI_CSV_QUOTED)) return false;
        if (numbers && k->later[c] & CRI_CSV_QUOTED) return false;
        any = any || (numbers && k->first[c]);
    }
    return any;
}

/* Whole numbers and texts, and what the numbers look like; false: this record is data. */
static bool may_be_names(const cri_csv_contents *k, const column *columns, likeness *out)
{
    likeness l = { .years = true, .run = true, .ascending = true };
    double   last = NAN;
    for (size_t c = 0; c < k->n; c++) {
        unsigned kinds = k->first[c] & ~(unsigned)CRI_CSV_QUOTED;
        double   x = columns[c].first;
        if (kinds == 0 && c == 0) l.corner = true;
        if (kinds == 0 && c > 0) return false;
        if (kinds & CRI_CSV_OTHER_TEXT) l.texts++;
        if (kinds == 0 || kinds & CRI_CSV_OTHER_TEXT) continue;
        if (kinds != CRI_CSV_WHOLE) return false;
        l.years = l.years && is_year(x);
        l.run = l.run && (l.numbers ? x == last + 1 : x == 0 || x == 1);
        l.ascending = l.ascending && (l.numbers == 0 || x > last);
        last = x;
        l.numbers++;
    }
    *out = l;
    return l.numbers > 0 && l.ascending;
}

/* --- the records below ----------------------------------------------------------------------- */

static void look_at_cell(const cri_csv_dialect *d, const cri_csv_cell *cell, column *c, double *x)
{
    unsigned kind = cri_csv_classify(d, cell, x);
    size_t   length = (size_t)(cell->end - cell->begin);
    c->rows++;
    c->has_gaps = c->has_gaps || kind == 0;
    if (kind & CRI_CSV_TEXT)
        c->recurs = c->recurs || (length == c->length && memcmp(cell->begin, c->text, length) == 0);
    if (isnan(*x) || isnan(c->first)) return;
    c->years += is_year(*x);
    double step = *x - (c->numbers ? c->last : c->first);
    if (c->numbers == 0) c->step = step;
    c->counts =
        fabs(step - c->step) <= 1e-9 * fabs(c->step) && step != 0 && (c->numbers == 0 || c->counts);
    c->last = *x;
    c->numbers++;
}

/* Reads the records below; true when the numbers of one of them are a run, too. */
static bool look_below(const cri_csv *csv, const cri_csv_contents *k, column *columns)
{
    const cri_csv_dialect *d = &csv->dialect;
    bool                   any_run = false;
    for (const char *at = k->below; at && at < k->end;) {
        size_t numbers = 0;
        bool   run = true;
        double last = NAN;
        for (size_t c = 0;; c++) {
            cri_csv_cell cell = cri_csv_next_cell(d, at, k->end);
            double       x = NAN;
            if (cell.fault) return any_run;
            if (c < k->n) look_at_cell(d, &cell, &columns[c], &x);
            at = cell.stop + 1;
            if (!isnan(x)) run = run && (numbers++ == 0 || x == last + 1), last = x;
            if (*cell.stop == d->line_end) break;
        }
        any_run = any_run || (run && numbers > 1);
        at = cri_csv_skip_blank_lines(d, at, k->end);
    }
    return any_run;
}

/* How many columns of the first record's numbers ... */
typedef struct evidence {
    size_t with_points; /* have numbers below, and all with a decimal point */
    size_t over_texts;  /* have texts alone below */
    size_t apart;       /* have numbers below, and no year */
} evidence;

static evidence weigh(const cri_csv_contents *k, const column *columns)
{
    evidence e = { 0, 0, 0 };
    for (size_t c = 0; c < k->n; c++) {
        unsigned later = k->later[c] & ~(unsigned)CRI_CSV_QUOTED;
        if (isnan(columns[c].first)) continue;
        e.with_points += later == CRI_CSV_REAL;
        e.over_texts += later == (CRI_CSV_TEXT | CRI_CSV_OTHER_TEXT);
        e.apart += columns[c].numbers > 0 && columns[c].years == 0;
    }
    return e;
}

static bool goes_on_below(const cri_csv_contents *k, const column *columns)
{
    for (size_t c = 0; c < k->n; c++) {
        const column *m = &columns[c];
        bool          years = m->numbers > 0 && m->years == m->numbers && is_year(m->first);
        if (m->recurs || years || (m->counts && m->numbers > 1)) return true;
    }
    return false;
}

static verdict judge(const cri_csv *csv, const cri_csv_contents *k, column *columns)
{
    likeness l;
    if (!k->below || k->below >= k->end || !may_be_names(k, columns, &l)) return DATA;
    bool     any_run = look_below(csv, k, columns), corner = l.corner && !columns[0].has_gaps;
    evidence e = weigh(k, columns);
    if ((l.corner && !corner) || goes_on_below(k, columns)) return DATA;
    bool all_points = e.with_points + e.over_texts == l.numbers;
    if ((l.years || l.run) && corner) return NAMES;
    if (l.years && l.numbers > 1)
        return all_points || e.apart + e.over_texts == l.numbers ? NAMES : DOUBT;
    if (l.years) return l.texts == 0 ? DATA : all_points ? NAMES : e.apart ? DOUBT : DATA;
    if (l.run && l.numbers > 1) {
        if (all_points || e.over_texts > 0 || (l.numbers > 2 && e.with_points > 0)) return NAMES;
        return !any_run && (e.with_points > 0 || l.texts > 0 || l.numbers > 2) ? DOUBT : DATA;
    }
    return l.texts > 0 && all_points ? DOUBT : DATA;
}

static cr_status look_again(cri_csv *csv, const cri_csv_contents *k)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(csv->cx);
    column     *columns = cr_scratch_bytes(&s, k->n, sizeof *columns);
    const char *at = k->at;
    bool        different;
    CR_TRY(s.status);
    for (size_t c = 0; c < k->n; c++) {
        cri_csv_cell cell = cri_csv_next_cell(&csv->dialect, at, k->end);
        columns[c] = (column){ .text = cell.begin, .length = (size_t)(cell.end - cell.begin) };
        cri_csv_classify(&csv->dialect, &cell, &columns[c].first);
        at = cell.stop + 1;
    }
    verdict is = judge(csv, k, columns);
    if (is == DATA) goto done;
    CR_TRY(are_different(csv, k, &different));
    csv->has_header = different && is == NAMES;
    csv->header_in_doubt = different && is == DOUBT;
done:
    cr_scratch_end(&s);
    return st;
}

/* --- the rule -------------------------------------------------------------------------------- */

/* Names that the file should have, by the model that will read it, are all in the first record. */
static cr_status has_expected_names(cri_csv *csv, const cri_csv_contents *k, bool *out)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(csv->cx);
    cri_csv_levels texts = { .n = 0 };
    char         **names = NULL;
    size_t         n = 0;
    uint32_t       number;
    const char    *at = k->at, *expected = cri_read_expected_names(csv->options);
    CR_TRY(cri_list_split(&s, expected, &names, &n));
    for (size_t c = 0; c < k->n; c++) {
        cri_csv_cell cell = cri_csv_next_cell(&csv->dialect, at, k->end);
        st = cri_csv_levels_add(csv->cx, &texts, cell.begin, (size_t)(cell.end - cell.begin),
                                &number);
        if (st != CR_OK) CR_TRY(cri_csv_levels_fail(csv->cx, &texts, st));
        at = cell.stop + 1;
    }
    *out = n > 0;
    for (size_t i = 0; i < n; i++)
        if (cri_csv_levels_find(&texts, names[i], strlen(names[i])) == UINT32_MAX) *out = false;
done:
    cri_csv_levels_clear(csv->cx, &texts);
    cr_scratch_end(&s);
    return st;
}

cr_status cri_csv_find_header(cri_csv *csv, const cri_csv_contents *k)
{
    cr_status st = CR_OK;
    bool      over_numbers = false, all_texts = true, data = false;
    csv->has_header = csv->options->header == CRI_HEADER_YES || csv->has_row_names;
    if (csv->options->header != CRI_HEADER_AUTO || csv->has_row_names) return CR_OK;
    if (cri_read_expected_names(csv->options)) CR_TRY(has_expected_names(csv, k, &csv->has_header));
    if (csv->has_header) return CR_OK;
    for (size_t c = 0; c < k->n; c++) {
        if (k->first[c] & CRI_CSV_INFINITY_WORD) continue;
        const unsigned never = CRI_CSV_REAL | CRI_CSV_LARGE | CRI_CSV_LOST | CRI_CSV_BOOLEAN;
        if (k->first[c] & (never | CRI_CSV_STYLED_NUMBER)) data = true;
        bool text = k->first[c] & CRI_CSV_OTHER_TEXT;
        if (text && are_numbers(k->later[c])) over_numbers = true;
        if (!text && (c > 0 || k->first[c])) all_texts = false;
    }
    if (k->n == 1 && !k->first[0]) all_texts = false;
    csv->has_header = over_numbers && !data;
    if (csv->has_header) return CR_OK;
    if (all_texts || is_quoted_above(k)) return are_different(csv, k, &csv->has_header);
    if (!data && !cri_read_expected_names(csv->options)) CR_TRY(look_again(csv, k));
done:
    return st;
}
