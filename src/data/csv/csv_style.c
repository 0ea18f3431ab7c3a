/* csv_style.c -- how the numbers of a file are written, by what its first part holds.
 *
 * A style belongs to the whole file, a percent or currency sign to a column.  A column is of numbers in
 * a style when all its cells in the sample are, with the same sign, which only a currency may lack in
 * some, and not all in parentheses.  Of the styles under which
 * the columns that are numbers anyway stay so, the one is taken that makes most texts to numbers, if
 * some cell of them can be read by no other (1,5 or 1.234,50: yes; 1,234: no, it is 1234 to some and
 * 1.234 to others).  In a file whose delimiter is the comma, a comma is no decimal character.
 * The style that is usual, of the file that a model was fitted to, is taken where it makes as many texts
 * to numbers, or where no cell decides and all can be read so; if another style reads one of them
 * differently, that is said. */
#include "csv_internal.h"
#include "data/table/table_internal.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The first is the plain one. */
static const cri_number_style styles[] = {
    { '.', '\0', CRI_SIGN_NONE }, { ',', '.', CRI_SIGN_NONE }, { '.', ',', CRI_SIGN_NONE },
    { '.', ' ', CRI_SIGN_NONE },  { ',', ' ', CRI_SIGN_NONE }, { '.', '\'', CRI_SIGN_NONE },
    { ',', '\'', CRI_SIGN_NONE },
};
enum { N_STYLES = sizeof styles / sizeof *styles, PLAIN = 0 };

static bool is_named(const cri_csv_characters *a)
{
    return a->decimal || a->thousands || a->no_groups;
}

/* A comma cannot be a decimal character in this file, unless cells are quoted. */
static bool splits_at_commas(const cri_csv *csv)
{
    return csv->dialect.delimiter == ',' && csv->n > 1;
}

/* Which styles may be: those with the characters that are named. */
static unsigned candidates(const cri_csv *csv, const cri_csv_characters *a)
{
    unsigned mask = 0;
    for (unsigned k = 0; k < N_STYLES; k++) {
        const cri_number_style *s = &styles[k];
        if (s->decimal == ',' && csv->dialect.delimiter == ',' && !a->decimal) continue;
        if (a->decimal && s->decimal != a->decimal) continue;
        if (a->thousands && s->thousands != a->thousands) continue;
        if (a->no_groups && s->thousands && s->decimal == '.') continue;
        mask |= 1u << k;
    }
    return mask;
}

static void note_unclear(const char *begin, const char *end, cri_csv_look *k)
{
    size_t n = (size_t)(end - begin);
    if (k->unclear[0] || n >= sizeof k->unclear) return;
    memcpy(k->unclear, begin, n);
    k->unclear[n] = '\0';
}

static void look_at_text(const char *begin, const char *end, cri_csv_look *k)
{
    double          x[N_STYLES];
    unsigned        read = 0, notes;
    cri_number_sign sign = CRI_SIGN_NONE, seen = CRI_SIGN_NONE;
    for (unsigned s = 0; s < N_STYLES; s++) {
        if (!cri_read_styled(&styles[s], begin, end, &x[s], &notes, &sign)) continue;
        read |= 1u << s;
        seen = sign;
        if (!(notes & CRI_NUMBER_WHOLE)) k->whole &= ~(1u << s);
    }
    for (unsigned s = 0; s < N_STYLES; s++) {
        bool alone = read & 1u << s;
        for (unsigned t = 0; t < N_STYLES && alone; t++) alone = !(read & 1u << t) || x[t] == x[s];
        if (alone) k->decided |= 1u << s;
        if (!alone && read & 1u << s) note_unclear(begin, end, k);
    }
    k->fits &= read;
    if (!k->any || cri_number_sign_fits(k->sign, seen))
        k->sign = seen;
    else if (!cri_number_sign_fits(seen, k->sign))
        k->fits = 0;
    k->any = true;
    if (memchr(begin, '(', (size_t)(end - begin)))
        k->parentheses = true;
    else
        k->bare = true;
}

/* All records of the sample from `at` on. */
static void look(const cri_csv *csv, const char *at, const char *end, cri_csv_look *k)
{
    const cri_csv_dialect *d = &csv->dialect;
    for (size_t c = 0; at < end; c++) {
        cri_csv_cell cell = cri_csv_next_cell(d, at, end);
        if (cell.fault) return;
        if (c < csv->n && cell.escaped)
            k[c].fits = 0;
        else if (c < csv->n && k[c].fits && !cri_csv_is_missing(d, &cell)) {
            cri_csv_trim(&cell);
            look_at_text(cell.begin, cell.end, &k[c]);
        }
        at = cell.stop + 1;
        if (*cell.stop != d->line_end) continue;
        c = SIZE_MAX; /* the next record begins with column 0 */
        at = cri_csv_skip_blank_lines(d, at, end);
    }
}

static bool is_text(const cri_csv_column *k) { return cri_csv_is_mixed(k->sampled); }

/* How many columns of texts are numbers in this style, which must leave the others as they are; 0 also
 * where none of their cells decides. */
static size_t gain(const cri_csv *csv, const cri_csv_look *k, unsigned s)
{
    size_t n = 0;
    bool   decided = false;
    for (size_t c = 0; c < csv->n; c++) {
        bool fits = k[c].fits >> s & 1;
        if (!k[c].any || csv->columns[c].sampled == CRI_CSV_BOOLEAN) continue;
        if (!is_text(&csv->columns[c]) && !fits) return 0;
        if (!is_text(&csv->columns[c]) || !fits) continue;
        n++;
        decided = decided || k[c].decided >> s & 1;
    }
    return decided ? n : 0;
}

static unsigned choose(const cri_csv *csv, const cri_csv_look *k, unsigned mask)
{
    unsigned best = PLAIN;
    size_t   most = mask & 1u << PLAIN ? gain(csv, k, PLAIN) : 0;
    if (!(mask & 1u << PLAIN) || is_named(&csv->asked)) /* the first that may be */
        for (best = 0; !(mask & 1u << best);) best++;
    for (unsigned s = 0; s < N_STYLES; s++) {
        size_t n = mask & 1u << s ? gain(csv, k, s) : 0;
        if (n > most) best = s, most = n;
    }
    return best;
}

/* Whether every column of numbers can be read in this style, too. */
static bool suits(const cri_csv *csv, const cri_csv_look *k, unsigned s)
{
    if (styles[s].decimal == ',' && splits_at_commas(csv)) return false;
    for (size_t c = 0; c < csv->n; c++)
        if (k[c].any && cri_csv_is_number(csv->columns[c].sampled) && !(k[c].fits >> s & 1))
            return false;
    return true;
}

/* The style of the file, `own` by its cells alone, or the usual one (above). */
static unsigned settle(cri_csv *csv, const cri_csv_look *k, unsigned own)
{
    unsigned mask = candidates(csv, &csv->usual);
    if (!mask) return own;
    unsigned usual = choose(csv, k, mask);
    size_t   gained = gain(csv, k, own), gain_usual = gain(csv, k, usual);
    if (gain_usual > 0 && gain_usual >= gained) return usual;
    if (gained > 0 || !suits(csv, k, usual)) return own;
    csv->is_unclear = usual != own;
    return usual;
}

/* A column whose texts are all numbers in some style, but not for certain in which. */
static void warn_undecided(const cri_csv *csv, const cri_csv_column *c, const cri_csv_look *k)
{
    unsigned comma = 1u << 1, groups = 1u << 2;
    if (!is_text(c) || !k->any || !(k->fits & (comma | groups)) || c->must_be_category ||
        c->must_be_real)
        return;
    cr_log(csv->cx, CR_LOG_WARNING, "the text in column '%s' of %s looks like numbers: %s%s%s",
           c->name, cri_source_name(csv->source),
           k->fits & comma ? "--decimal , reads 1,234 as 1.234" : "",
           k->fits & comma && k->fits & groups ? ", " : "",
           k->fits & groups ? "--thousands , reads 1,234 as 1234" : "");
}

/* A column that is read in the usual style, where one of its cells would be another number in another
 * style.  Two styles that read a cell differently have different decimal characters. */
static void warn_unclear(const cri_csv *csv, const cri_csv_column *c, const cri_csv_look *k)
{
    const char     *begin = k->unclear, *end = begin + strlen(begin);
    double          x, other;
    unsigned        notes;
    cri_number_sign sign;
    char            ours[CRI_DOUBLE_SIZE], theirs[CRI_DOUBLE_SIZE];
    if (begin == end || c->must_be_category || cri_csv_is_mixed(c->sampled)) return;
    if (!cri_read_styled(&csv->style, begin, end, &x, &notes, &sign)) return;
    for (unsigned s = 0; s < N_STYLES; s++) {
        if (!cri_read_styled(&styles[s], begin, end, &other, &notes, &sign) || other == x) continue;
        cri_print_double(x, ours);
        cri_print_double(other, theirs);
        cr_log(csv->cx, CR_LOG_WARNING,
               "'%s' in column '%s' of %s is read as %s, as in the file that the model was fitted "
               "to: --decimal %c reads it as %s",
               begin, c->name, cri_source_name(csv->source), ours, styles[s].decimal, theirs);
        return;
    }
}

void cri_csv_warn_of_styles(const cri_csv *csv)
{
    for (size_t c = 0; csv->looks && c < csv->n; c++) {
        warn_undecided(csv, &csv->columns[c], &csv->looks[c]);
        if (csv->is_unclear) warn_unclear(csv, &csv->columns[c], &csv->looks[c]);
    }
}

void cri_csv_style_options(const cri_number_style *s, char out[static CRI_CSV_STYLE_OPTIONS])
{
    const char *group = s->thousands == ' ' ? "space" : s->thousands == '\'' ? "\"'\"" : ",";
    bool        groups = s->thousands && s->thousands != '.';
    snprintf(out, CRI_CSV_STYLE_OPTIONS, "%s%s%s%s", s->decimal == ',' ? "--decimal ," : "",
             s->decimal == ',' && groups ? " " : "", groups ? "--thousands " : "",
             groups ? group : "");
}

/* The styles that all levels are numbers in, and which level first is none in the style of the file. */
static unsigned common_styles(const cri_csv *csv, const cr_column *column, size_t *out_odd)
{
    unsigned common = (1u << N_STYLES) - 1, notes;
    *out_odd = SIZE_MAX;
    for (size_t k = 0; k < column->n_levels && common; k++) {
        const char     *begin = column->levels[k], *end = begin + strlen(begin);
        double          x;
        cri_number_sign sign;
        common &= cri_csv_styles_of(begin, end);
        if (*out_odd == SIZE_MAX && !cri_read_styled(&csv->style, begin, end, &x, &notes, &sign))
            *out_odd = k;
    }
    return common;
}

void cri_csv_warn_of_late_style(const cri_csv *csv, const cri_csv_column *c, const cr_table *table,
                                const cr_column *column)
{
    size_t odd, row = 0;
    char   options[CRI_CSV_STYLE_OPTIONS], where[512];
    if (is_text(c) || c->must_be_category) return;
    unsigned common = common_styles(csv, column, &odd), unclear = 1u << 1 | 1u << 2, s = PLAIN;
    if (odd == SIZE_MAX || !common || common & 1u << PLAIN) return;
    while (!(common >> s & 1)) s++;
    cri_csv_style_options(&styles[s], options);
    while (column->codes[row] != odd) row++;
    cr_log(csv->cx, CR_LOG_WARNING,
           "column '%s' is read as text, because '%s' (%s) is written unlike the numbers above it: "
           "%s%s reads them all as numbers",
           c->name, column->levels[odd], cri_table_where(table, row, where, sizeof where), options,
           (common & unclear) == unclear ? ", or --thousands ," : "");
}

static void set_style(cri_csv_column *c, const cri_csv_look *k, unsigned s)
{
    bool reads = k->any && k->fits >> s & 1;
    if (s != PLAIN && !is_text(c)) c->styled = true; /* later cells may have groups */
    c->style = styles[s];
    if (!reads) return;
    c->style.sign = k->sign;
    if (s == PLAIN && k->sign == CRI_SIGN_NONE && !is_text(c)) return;
    c->restyled = is_text(c);
    c->parentheses = k->parentheses;
    c->styled = true;
    c->sampled = k->whole >> s & 1 ? CRI_CSV_WHOLE : CRI_CSV_REAL;
    c->mode = CRI_CSV_NUMBERS;
}

cr_status cri_csv_find_styles(cri_csv *csv, const char *at, const char *end)
{
    const unsigned all = (1u << N_STYLES) - 1;
    bool           texts = is_named(&csv->asked) || is_named(&csv->usual);
    unsigned       mask, style;
    for (size_t c = 0; c < csv->n; c++) texts = texts || is_text(&csv->columns[c]);
    csv->style = styles[PLAIN];
    if (!texts) return CR_OK;
    cri_csv_look *k = cr_scratch_bytes(&csv->scratch, csv->n, sizeof *k);
    if (!k) return csv->scratch.status;
    for (size_t c = 0; c < csv->n; c++) k[c] = (cri_csv_look){ .fits = all, .whole = all };
    at = cri_csv_skip_blank_lines(&csv->dialect, at, end);
    look(csv, at, end, k);
    for (size_t c = 0; c < csv->n; c++)
        if (!k[c].bare) k[c].fits = 0; /* (1), (2), ... are labels */
    csv->looks = k;
    mask = candidates(csv, &csv->asked);
    if (!mask) return CR_OK;
    style = choose(csv, k, mask);
    if (is_named(&csv->usual) && !is_named(&csv->asked)) style = settle(csv, k, style);
    csv->style = styles[style];
    if (csv->asked.no_groups) csv->style.thousands = '\0';
    for (size_t c = 0; c < csv->n; c++) {
        set_style(&csv->columns[c], &k[c], style);
        csv->columns[c].style.thousands = csv->style.thousands;
    }
    return CR_OK;
}

const char *cri_csv_written(const cri_csv_column *c)
{
    static const char *const groups[2][4] = { { "1.234,5", "", "1 234,5", "1'234,5" },
                                              { "", "1,234.5", "1 234.5", "1'234.5" } };
    const cri_number_style  *s = &c->style;
    if (!c->restyled) return "";
    if (s->sign == CRI_SIGN_PERCENT) return CRI_WRITTEN_PERCENT;
    if (s->sign != CRI_SIGN_NONE) return cri_number_sign_name(s->sign);
    if (c->parentheses) return "(5) = -5";
    if (s->decimal == '.' && !s->thousands) return ""; /* another minus, or spaces */
    size_t k = s->thousands == ',' ? 1 : s->thousands == ' ' ? 2 : s->thousands == '\'' ? 3 : 0;
    return groups[s->decimal == '.'][k];
}

/* Options borrow their texts, and nobody writes to them. */
static char *lend(const char *text) { return (char *)(uintptr_t)text; }

cr_read_options cri_csv_reading(const cri_csv *csv)
{
    cr_read_options o = *csv->options;
    char            t = csv->style.thousands;
    if (cri_read_option_is_usual(o.decimal)) o.decimal = NULL;
    if (cri_read_option_is_usual(o.thousands)) o.thousands = NULL;
    if (csv->style.decimal == ',') o.decimal = lend(",");
    if (t) o.thousands = lend(t == '.' ? "." : t == ',' ? "," : t == ' ' ? "space" : "'");
    return o;
}

bool cri_csv_style_of(const char *begin, const char *end, cri_number_style *out)
{
    double   x;
    unsigned notes;
    for (unsigned s = 0; s < N_STYLES; s++) {
        *out = styles[s];
        if (cri_read_styled(&styles[s], begin, end, &x, &notes, &out->sign)) return true;
    }
    return false;
}

unsigned cri_csv_styles_of(const char *begin, const char *end)
{
    double          x;
    unsigned        notes, read = 0;
    cri_number_sign sign;
    for (unsigned s = 0; s < N_STYLES; s++)
        if (cri_read_styled(&styles[s], begin, end, &x, &notes, &sign)) read |= 1u << s;
    return read;
}
