/* number_texts.c -- why a column of texts is not one of numbers. */
#include "number_texts.h"
#include "data/csv/csv_internal.h"
#include "data/table/table_internal.h"
#include "base/find.h"
#include "base/list.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

typedef enum kind { NO_NUMBER, WHOLE, LOST, NUMBER } kind;

/* What the levels of a column are, and how many. */
typedef struct tally {
    unsigned char *kinds; /* [levels] */
    size_t         count[NUMBER + 1];
    size_t         first[NUMBER + 1]; /* level of each kind */
    unsigned       signs;             /* bits by cri_number_sign */
    size_t         signed_by[2];      /* levels with two different signs */
    bool           one_style;         /* some style reads all that are numbers */
    bool           plain;             /* the plain one does, and none has leading zeros */
    bool           blanks;            /* all others are what people write for a missing value */
} tally;

/* What often stands for a missing value, but may be a level, so that it is not read as missing by itself. */
static bool is_blank(const char *text)
{
    static const char *const usual[] = { "n/a",    "na",   "n.a.", ".",       "-",
                                         "--",     "#na",  "none", "missing", "unknown",
                                         "(null)", "<na>", "nil" };
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (strcasecmp(text, usual[i]) == 0) return true;
    return false;
}

static kind kind_of(const char *text, cri_number_style *style)
{
    const char *end = text + strlen(text);
    double      x;
    unsigned    notes = 0;
    if (cri_scan_double(text, end, &x, &notes) == (size_t)(end - text)) {
        style->sign = CRI_SIGN_NONE;
        if (notes != CRI_NUMBER_WHOLE) return NUMBER;
        return cri_keeps_digits(text, end, x) ? WHOLE : LOST;
    }
    return cri_csv_style_of(text, end, style) ? NUMBER : NO_NUMBER;
}

/* A percent sign and none, or two currencies. */
static bool signs_differ(unsigned signs)
{
    unsigned percent = 1u << CRI_SIGN_PERCENT, currencies = signs & ~(percent | 1u);
    return (signs & percent && signs != percent) || (currencies & (currencies - 1));
}

static void count(const char *const *levels, size_t n, tally *t)
{
    unsigned styles = ~0u;
    bool     padded = false;
    t->blanks = true;
    for (size_t k = 0; k < n; k++) {
        cri_number_style style = { '.', '\0', CRI_SIGN_NONE };
        kind             is = kind_of(levels[k], &style);
        t->kinds[k] = (unsigned char)is;
        if (t->count[is]++ == 0) t->first[is] = k;
        if (is == NO_NUMBER) t->blanks = t->blanks && is_blank(levels[k]);
        if (is == NO_NUMBER) continue;
        styles &= cri_csv_styles_of(levels[k], levels[k] + strlen(levels[k]));
        padded = padded || (levels[k][0] == '0' && levels[k][1] >= '0' && levels[k][1] <= '9');
        if (!t->signs) t->signed_by[0] = k;
        if (!signs_differ(t->signs) && signs_differ(t->signs | 1u << style.sign))
            t->signed_by[1] = k;
        t->signs |= 1u << style.sign;
    }
    t->one_style = styles != 0;
    t->plain = styles & 1 && !padded;
}

/* The levels that are no numbers as a value of --missing-values; false: they are too many for that. */
static bool list_texts(const char *const *levels, size_t n, const tally *t, char *out, size_t size)
{
    enum { MOST = 6 };
    size_t length = 0;
    if (t->count[NO_NUMBER] > MOST) return false;
    for (size_t k = 0; k < n; k++) {
        if (t->kinds[k] != NO_NUMBER) continue;
        if (strchr(levels[k], '\'') || length + 1 >= size) return false;
        if (length) out[length++] = ',';
        length += cri_list_quote(levels[k], out + length, size - length);
        if (length >= size) return false;
    }
    return true;
}

/* How many rows have a value, and how many of those a number; where the first has none. */
typedef struct rows {
    size_t present, numbers;
    char   where[512]; /* "": not known */
} rows;

static void count_rows(const cr_table *table, const cr_column *c, const tally *t, rows *r)
{
    size_t n = cr_table_rows(table), first = n;
    for (size_t i = n; i-- > 0;) {
        if (c->codes[i] == CR_MISSING_CODE) continue;
        bool number = t->kinds[c->codes[i]] != NO_NUMBER;
        r->present++;
        r->numbers += number;
        if (!number) first = i;
    }
    if (first < n) cri_table_where(table, first, r->where, sizeof r->where);
}

static void warn_of_texts(cr_ctx *cx, const char *column, const char *name,
                          const char *const *levels, size_t n, const tally *t, const rows *r,
                          const char *example)
{
    char missing[256], help[512] = "";
    if (list_texts(levels, n, t, missing, sizeof missing))
        snprintf(help, sizeof help, "if %s missing, use --missing-values='%s'",
                 t->count[NO_NUMBER] == 1 ? "it means" : "they mean", missing);
    else
        snprintf(help, sizeof help,
                 "--real '%s' shows where, --missing-values names those that mean missing", name);
    if (r)
        cr_log(cx, CR_LOG_WARNING,
               "column '%s' is read as text: %zu of its %zu values %s not %s, such as '%s' (%s): "
               "%s; --category '%s' silences this warning",
               column, r->present - r->numbers, r->present,
               r->present - r->numbers == 1 ? "is" : "are",
               r->present - r->numbers == 1 ? "a number" : "numbers", example, r->where, help,
               name);
    else
        cr_log(cx, CR_LOG_WARNING,
               "column '%s' is read as text: %s its values are numbers, but not '%s': %s; "
               "--category '%s' silences this warning",
               column, 2 * t->count[NO_NUMBER] < n ? "most of" : "some of", example, help, name);
}

static cr_status explain(cr_ctx *cx, bool quoted, const cr_table *opt_table, const cr_column *c)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = c->n_levels, numbers;
    tally      t = { .kinds = cr_scratch_bytes(&s, n, 1) };
    rows       r = { 0 };
    char       name[256];
    CR_TRY(s.status);
    count((const char *const *)c->levels, n, &t);
    numbers = n - t.count[NO_NUMBER];
    if (numbers == 0 || cri_list_quote(c->name, name, sizeof name) >= sizeof name) goto done;
    if (t.count[WHOLE] + t.count[LOST] == n && t.count[LOST] > 0) {
        cr_log(
            cx, CR_LOG_WARNING,
            "column '%s' is read as text: whole numbers beyond 2^53 such as %s would lose digits "
            "as numbers; --real '%s' reads them as numbers, --category '%s' silences this "
            "warning",
            c->name, c->levels[t.first[LOST]], name, name);
        goto done;
    }
    if (numbers == n && signs_differ(t.signs))
        cr_log(
            cx, CR_LOG_WARNING,
            "column '%s' is read as text: '%s' and '%s' do not have the same sign; write %% or one "
            "currency in all cells of a column, or --category '%s' to silence this warning",
            c->name, c->levels[t.signed_by[0]], c->levels[t.signed_by[1]], name);
    else if (numbers == n && !t.one_style)
        cr_log(cx, CR_LOG_WARNING,
               "column '%s' is read as text: its numbers, such as '%s' and '%s', are written in "
               "different formats; --category '%s' silences this warning",
               c->name, c->levels[0], c->levels[n - 1], name);
    else if (numbers == n && quoted && t.plain)
        cr_log(cx, CR_LOG_WARNING,
               "column '%s' is read as text: its values are numbers, but in quotes, some or all of "
               "them; --real '%s' reads them as numbers, --category '%s' silences this warning",
               c->name, name, name);
    if (numbers == n) goto done;
    if (opt_table) count_rows(opt_table, c, &t, &r);
    if (t.blanks || (opt_table ? 2 * r.numbers > r.present : 2 * numbers > n)) {
        size_t row = 0;
        while (opt_table && (c->codes[row] == CR_MISSING_CODE || t.kinds[c->codes[row]])) row++;
        warn_of_texts(cx, c->name, name, (const char *const *)c->levels, n, &t,
                      opt_table ? &r : NULL,
                      c->levels[opt_table ? c->codes[row] : t.first[NO_NUMBER]]);
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* The columns that the user wants to be texts, and those of dates (dates.h). */
static cr_status list_categories(cr_scratch *s, const cr_read_options *o, char ***out,
                                 size_t *out_n)
{
    *out_n = 0;
    return cri_list_split(s, o->category, out, out_n);
}

cr_status cri_warn_of_number_texts(cr_ctx *cx, const cr_read_options *o, bool quoted,
                                   const cr_table *table)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    char     **meant = NULL;
    size_t     n = 0;
    CR_TRY(list_categories(&s, o, &meant, &n));
    for (size_t k = 0; k < cri_table_ordinary(table); k++) {
        const cr_column *c = cri_table_ordinary_column(table, k);
        if (c->type != CR_CATEGORY || cri_has_name((const char *const *)meant, n, c->name))
            continue;
        CR_TRY(explain(cx, quoted, table, c));
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_warn_of_number_levels(cr_ctx *cx, const cr_read_options *o, bool quoted,
                                    const char *column, const char *const *levels, size_t n_levels)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    char     **meant = NULL;
    size_t     n = 0;
    cr_column  c = { .name = column,
                     .type = CR_CATEGORY,
                     .levels = (const char **)(uintptr_t)levels,
                     .n_levels = n_levels };
    CR_TRY(list_categories(&s, o, &meant, &n));
    if (!cri_has_name((const char *const *)meant, n, column)) CR_TRY(explain(cx, quoted, NULL, &c));
done:
    cr_scratch_end(&s);
    return st;
}
