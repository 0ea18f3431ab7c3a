/* dates.c -- finding columns of dates, and turning their texts into numbers. */
#include "dates.h"
#include "data/table/table_internal.h"
#include "base/context_internal.h"
#include "base/list.h"
#include "base/find.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void cri_dates_free(cr_ctx *cx, cri_dates *d)
{
    for (size_t i = 0; i < d->n; i++) {
        cri_string_free(cx, d->columns[i].name);
        cri_string_free(cx, d->columns[i].format);
    }
    cr_free(cx, d->columns, d->n, sizeof *d->columns);
    *d = (cri_dates){ 0 };
}

/* --- what was asked for ---------------------------------------------------------------------- */

/* Cuts "COLUMN:FORMAT", or "COLUMN=FORMAT", at the last such sign before the first %; the format, or NULL. */
static char *cut_format(char *item)
{
    char *percent = strchr(item, '%'), *colon = NULL;
    for (char *at = item; percent && at < percent; at++)
        if (*at == ':' || *at == '=') colon = at;
    if (!colon) return NULL;
    *colon = '\0';
    return colon + 1;
}

cr_status cri_dates_ask(cr_scratch *s, const cr_read_options *options, cr_read_options *out)
{
    cr_status st = CR_OK;
    char    **items = NULL, *list;
    size_t    n = 0, length = options->category ? strlen(options->category) : 0, size = length + 1;
    *out = *options;
    if (!options->date) return CR_OK;
    CR_TRY(cri_list_split(s, options->date, &items, &n));
    for (size_t i = 0; i < n; i++) {
        const char *format = cut_format(items[i]);
        const char *fault = format ? cri_date_format_fault(format) : NULL;
        if (fault) {
            cr_fail(s->cx, CR_EARG, "--date: the format '%s' is not valid: %s", format, fault);
            CR_TRY(cr_fail_hint(s->cx,
                                "for example --date '%s:%%d.%%m.%%Y'; %%Y %%m %%d %%H %%I %%p "
                                "%%M %%S %%y %%b %%B %%j %%s %%z %%F %%T are known",
                                items[i]));
        }
        size += 2 * strlen(items[i]) + 4;
    }
    list = cr_scratch_bytes(s, size, 1);
    CR_TRY(s->status);
    if (length) memcpy(list, options->category, length);
    for (size_t i = 0; i < n; i++) {
        if (length) list[length++] = ',';
        length += cri_list_quote(items[i], list + length, size - length);
    }
    out->category = list;
done:
    return st;
}

/* --- which columns --------------------------------------------------------------------------- */

static cri_date_column *add(cr_ctx *cx, cri_dates *d, const char *name, const char *format)
{
    cri_date_column *more = cr_resize(cx, d->columns, d->n, d->n + 1, sizeof *more);
    if (!more) return NULL;
    d->columns = more;
    cri_date_column *c = &d->columns[d->n++];
    *c = (cri_date_column){ .name = cri_string_copy(cx, name) };
    if (format) c->format = cri_string_copy(cx, format);
    return c->name && (c->format || !format) ? c : NULL;
}

/* Those of options->date; their formats are cut off the items. */
static cr_status add_asked(cr_ctx *cx, cri_dates *d, char **items, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *format = cut_format(items[i]);
        if (!add(cx, d, items[i], format)) return CR_ENOMEM;
    }
    d->asked = d->n;
    return CR_OK;
}

/* How many levels are dates, and how many of the others are none at all. */
typedef struct counts {
    size_t dates, impossible, others, other; /* other: the last that is none */
} counts;

static counts count_dates(const cr_column *c, const char *format, size_t most_others)
{
    counts n = { 0 };
    for (size_t k = 0; k < c->n_levels && n.others <= most_others; k++) {
        double        x;
        cri_date_kind kind = cri_date_read_as(c->levels[k], format, &x);
        n.dates += kind >= CRI_DATE_DAY;
        n.impossible += kind == CRI_DATE_IMPOSSIBLE;
        if (kind == CRI_DATE_NOT) n.others++, n.other = k;
    }
    return n;
}

/* The usual formats; those that read the same texts as a month and a day, or a day and a month, are
 * next to each other. */
static const char *const usual[] = { "%d.%m.%Y",
                                     "%d/%m/%Y",
                                     "%m/%d/%Y",
                                     "%d-%m-%Y",
                                     "%m-%d-%Y",
                                     "%Y/%m/%d",
                                     "%Y-%m-%d",
                                     "%d-%b-%Y",
                                     "%d %b %Y",
                                     "%b %d, %Y",
                                     "%d.%m.%y",
                                     "%d/%m/%y",
                                     "%m/%d/%y",
                                     "%d-%b-%y",
                                     "%d.%m.%Y %H:%M",
                                     "%d/%m/%Y %H:%M",
                                     "%m/%d/%Y %H:%M",
                                     "%Y/%m/%d %H:%M",
                                     "%d.%m.%Y %T",
                                     "%d/%m/%Y %T",
                                     "%m/%d/%Y %T",
                                     "%Y/%m/%d %T",

                                     "%d/%m/%Y %I:%M %p",
                                     "%m/%d/%Y %I:%M %p",
                                     "%d/%m/%Y %I:%M:%S %p",
                                     "%m/%d/%Y %I:%M:%S %p",
                                     "%Y-%m-%d %I:%M %p",
                                     "%Y-%m-%d %I:%M:%S %p",

                                     "%Y-%m",
                                     "%Y/%m",
                                     "%m/%Y",
                                     "%b %Y",
                                     "%b-%Y",
                                     "%b-%y",
                                     "%Y Q%q",
                                     "%Y-Q%q",
                                     "Q%q %Y",
                                     "Q%q-%Y",
                                     "Q%q/%Y",
                                     "%qQ%Y",
                                     "%qQ%y" };
enum { N_USUAL = sizeof usual / sizeof *usual };

/* Whether more than half of some levels, spread over all, are dates of the format. */
static bool seems_of(const cr_column *c, const char *format)
{
    enum { MOST = 64 };
    size_t step = c->n_levels / MOST + 1, looked = 0, dates = 0;
    for (size_t k = 0; k < c->n_levels; k += step, looked++) {
        double x;
        dates += cri_date_read_as(c->levels[k], format, &x) >= CRI_DATE_DAY;
    }
    return 2 * dates > looked;
}

/* "COLUMN:FORMAT" as an item of --date; false: it is too long. */
static bool date_item(const cr_column *c, const char *format, char *out, size_t size)
{
    char plain[256];
    int  n = snprintf(plain, sizeof plain, "%s:%s", c->name, format);
    return n > 0 && (size_t)n < sizeof plain && cri_list_quote(plain, out, size) < size;
}

/* Says which format a column seems to be of, if it is one of the usual. */
static void warn_of_format(cr_ctx *cx, const cr_column *c)
{
    char item[300], other[300];
    for (size_t f = 0; f < N_USUAL; f++) {
        if (!seems_of(c, usual[f]) || !date_item(c, usual[f], item, sizeof item)) continue;
        counts n = count_dates(c, usual[f], c->n_levels);
        bool   all = n.dates == c->n_levels;
        if (!all && f + 1 < N_USUAL && count_dates(c, usual[f + 1], 0).dates == c->n_levels)
            continue; /* 12/31/2024 decides */
        if (all && f + 1 < N_USUAL && count_dates(c, usual[f + 1], 0).dates == c->n_levels &&
            date_item(c, usual[f + 1], other, sizeof other))
            cr_log(
                cx, CR_LOG_WARNING,
                "column '%s' looks like dates, but is read as text, since '%s' can have the day "
                "or the month first: use --date '%s' or --date '%s', or --category %s to silence "
                "this warning",
                c->name, c->levels[0], item, other, c->name);
        else if (all)
            cr_log(cx, CR_LOG_WARNING,
                   "column '%s' looks like dates, but is read as text: use --date '%s' to read it "
                   "as dates, or --category %s to silence this warning",
                   c->name, item, c->name);
        else if (n.others > 0)
            cr_log(
                cx, CR_LOG_WARNING,
                "column '%s' contains dates, but also '%s', and is read as text: use --date '%s' "
                "and, if it means missing, --missing-values='%s'",
                c->name, c->levels[n.other], item, c->levels[n.other]);
        else
            continue;
        return;
    }
}

/* The usual format of a text; NULL: it has none. */
static const char *format_of(const char *text)
{
    double x;
    for (size_t f = 0; f < N_USUAL; f++)
        if (cri_date_read_as(text, usual[f], &x) >= CRI_DATE_DAY) return usual[f];
    return NULL;
}

/* Whether all texts of column c are dates; says so where they only look like dates. */
static bool holds_dates(cr_ctx *cx, const cr_column *c)
{
    if (c->type != CR_CATEGORY || c->n_levels == 0) return false;
    counts n = { 0 };
    if (seems_of(c, NULL))
        n = count_dates(c, NULL, c->n_levels);
    else
        n = count_dates(c, NULL, 0);
    if (n.dates > 0 && n.dates + n.impossible == c->n_levels) return true;
    if (n.dates > c->n_levels / 2 && format_of(c->levels[n.other]))
        cr_log(
            cx, CR_LOG_WARNING,
            "column '%s' contains dates in different formats, such as '%s' and '%s', and is read "
            "as text: write them all in one format; --date %s names the first that is not in "
            "ISO 8601",
            c->name, c->levels[c->n_levels - 1 == n.other ? 0 : c->n_levels - 1],
            c->levels[n.other], c->name);
    else if (n.dates > c->n_levels / 2)
        cr_log(cx, CR_LOG_WARNING,
               "column '%s' contains dates, but also '%s', and is read as text: use --date %s to "
               "find the cell, or --missing-values '%s' if it means missing",
               c->name, c->levels[n.other], c->name, c->levels[n.other]);
    else
        warn_of_format(cx, c);
    return false;
}

static cr_status find(cr_ctx *cx, cri_dates *d, const cr_read_options *o, const cr_table *t)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    char     **asked = NULL, **texts = NULL;
    size_t     n_asked = 0, n_texts = 0;
    CR_TRY(cri_list_split(&s, o->date, &asked, &n_asked));
    CR_TRY(cri_list_split(&s, o->category, &texts, &n_texts));
    CR_TRY(add_asked(cx, d, asked, n_asked));
    for (size_t i = 0; i < n_asked; i++)
        if (!cri_table_has(t, asked[i])) CR_TRY(cri_table_no_column(cx, t, asked[i]));
    for (size_t k = 0; k < cri_table_ordinary(t); k++) {
        const cr_column *c = cri_table_ordinary_column(t, k);
        if (cri_has_name((const char *const *)asked, n_asked, c->name) ||
            cri_has_name((const char *const *)texts, n_texts, c->name))
            continue;
        if (!holds_dates(cx, c)) continue;
        cri_date_column *found = add(cx, d, c->name, NULL);
        if (!found) CR_TRY(CR_ENOMEM);
        found->dated = true;
    }
    d->settled = true;
done:
    cr_scratch_end(&s);
    return st;
}

/* --- by a first pass ------------------------------------------------------------------------- */

static cri_date_column *find_column(const cri_dates *d, const char *name)
{
    for (size_t i = 0; i < d->n; i++)
        if (strcmp(d->columns[i].name, name) == 0) return &d->columns[i];
    return NULL;
}

/* A text of a column: in its format, or else of ISO 8601.  What has the form of the format but is no
 * date (2023-01-31 for %Y-%d-%m) is not tried again, as the days of the others would be mistaken. */
static cri_date_kind read_text(const cri_date_column *d, const char *text, double *out)
{
    cri_date_kind kind = cri_date_read_as(text, d->format, out);
    return kind == CRI_DATE_NOT && d->format ? cri_date_read_as(text, NULL, out) : kind;
}

static void watch_column(const cr_column *c, cri_date_column *d)
{
    double x;
    for (size_t k = 0; k < c->n_levels && !d->texts; k++) {
        cri_date_kind kind = read_text(d, c->levels[k], &x);
        d->dated |= kind >= CRI_DATE_DAY;
        d->timed |= kind == CRI_DATE_TIME;
        d->texts = kind == CRI_DATE_NOT;
    }
}

cr_status cri_dates_watch(cr_ctx *cx, cri_dates *d, const cr_read_options *o, const cr_table *t)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    char     **asked = NULL, **texts = NULL;
    size_t     n_asked = 0, n_texts = 0;
    if (d->settled) goto done;
    CR_TRY(cri_list_split(&s, o->date, &asked, &n_asked));
    CR_TRY(cri_list_split(&s, o->category, &texts, &n_texts));
    if (d->asked < n_asked) CR_TRY(add_asked(cx, d, asked, n_asked));
    for (size_t k = 0; k < cri_table_ordinary(t); k++) {
        const cr_column *c = cri_table_ordinary_column(t, k);
        cri_date_column *known = find_column(d, c->name);
        if (c->type != CR_CATEGORY ||
            (!known && cri_has_name((const char *const *)texts, n_texts, c->name)))
            continue;
        if (!known && !(known = add(cx, d, c->name, NULL))) CR_TRY(CR_ENOMEM);
        watch_column(c, known);
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* Whether column i is one of dates, as far as was seen. */
static bool is_of_dates(const cri_dates *d, size_t i)
{
    return i < d->asked || (d->columns[i].dated && !d->columns[i].texts);
}

bool cri_dates_settle(cri_dates *d)
{
    bool lacks = false;
    for (size_t i = 0; i < d->n; i++) {
        cri_date_column *c = &d->columns[i];
        c->type = c->timed ? CR_DATETIME : CR_DATE;
        c->settled = c->dated;
        lacks |= c->passed_over && !is_of_dates(d, i);
    }
    d->settled = true;
    return lacks;
}

bool cri_dates_pass_over(cri_dates *d, const char *column)
{
    cri_date_column *c = find_column(d, column);
    if (!c) return false;
    bool may_be = d->settled ? is_of_dates(d, (size_t)(c - d->columns))
                             : !c->texts || c < d->columns + d->asked;
    c->passed_over |= may_be;
    return may_be;
}

void cri_dates_warn(cr_ctx *cx, const cr_read_options *o, const char *column,
                    const char *const *levels, size_t n)
{
    cr_scratch s = cr_scratch_begin(cx);
    char     **texts = NULL;
    size_t     n_texts = 0;
    cr_column  c = { .name = column,
                     .type = CR_CATEGORY,
                     .levels = (const char **)(uintptr_t)levels,
                     .n_levels = n };
    if (cri_list_split(&s, o->category, &texts, &n_texts) == CR_OK &&
        !cri_has_name((const char *const *)texts, n_texts, column))
        holds_dates(cx, &c);
    cr_scratch_end(&s);
}

/* --- numbers --------------------------------------------------------------------------------- */

static cr_status refuse(cr_ctx *cx, const cr_table *t, const cr_column *c, const cri_date_column *d,
                        size_t level, cri_date_kind kind)
{
    size_t row = 0;
    char   where[512];
    while (row < cr_table_rows(t) && c->codes[row] != level) row++;
    cri_table_where(t, row, where, sizeof where);
    if (kind == CRI_DATE_IMPOSSIBLE)
        cr_fail(cx, CR_EDATA, "%s: '%s' in column '%s' is not a valid date", where,
                c->levels[level], c->name);
    else if (kind == CRI_DATE_TIME)
        cr_fail(cx, CR_EDATA,
                "%s: '%s' in column '%s' has a time of day, but the column began with plain dates",
                where, c->levels[level], c->name);
    else
        cr_fail(cx, CR_EDATA, "%s: '%s' in column '%s' is not a date%s%s", where, c->levels[level],
                c->name, d->format ? " of the form " : " such as 2023-01-31",
                d->format ? d->format : "");
    if (kind == CRI_DATE_IMPOSSIBLE && d->format && strstr(d->format, "%s"))
        return cr_fail_hint(cx, "%%s is seconds since 1970: divide milliseconds by 1000");
    if (kind != CRI_DATE_NOT)
        return cr_fail_hint(cx,
                            "use --missing-values '%s' if it means missing, or --category %s to "
                            "read the column as text",
                            c->levels[level], c->name);
    const char *form = format_of(c->levels[level]);
    if (!form && d->format)
        return cr_fail_hint(
            cx,
            "use --missing-values='%s' if it means missing, or --category %s to read "
            "the column as text",
            c->levels[level], c->name);
    return cr_fail_hint(cx,
                        "use --date '%s:%s' for another format, --missing-values '%s' if "
                        "it means missing, or --category %s to read the column as text",
                        c->name, form ? form : "%d.%m.%Y", c->levels[level], c->name);
}

/* value [levels] of a column whose texts are dates, and its type. */
static cr_status read_levels(cr_ctx *cx, const cr_table *t, const cr_column *c, cri_date_column *d,
                             cri_date_kind *kinds, double *value)
{
    bool timed = d->settled && d->type == CR_DATETIME;
    for (size_t k = 0; k < c->n_levels; k++) {
        kinds[k] = read_text(d, c->levels[k], &value[k]);
        if (kinds[k] < CRI_DATE_DAY) return refuse(cx, t, c, d, k, kinds[k]);
        if (kinds[k] == CRI_DATE_TIME && d->settled && !timed)
            return refuse(cx, t, c, d, k, kinds[k]);
        timed |= kinds[k] == CRI_DATE_TIME;
    }
    d->type = timed ? CR_DATETIME : CR_DATE;
    d->settled |= c->n_levels > 0; /* a block of gaps says nothing of the others */
    for (size_t k = 0; k < c->n_levels && timed; k++)
        if (kinds[k] == CRI_DATE_DAY) value[k] *= 86400;
    return CR_OK;
}

static cr_status take_column(cr_ctx *cx, cr_table *t, size_t k, cri_date_column *d)
{
    cr_status        st = CR_OK;
    cr_scratch       s = cr_scratch_begin(cx);
    const cr_column *c = cri_table_ordinary_column(t, k);
    double          *value = cr_scratch_f64(&s, c->n_levels), *out = NULL;
    cri_date_kind   *kinds = cr_scratch_bytes(&s, c->n_levels, sizeof *kinds);
    size_t           rows = cr_table_rows(t);

    if (c->type != CR_CATEGORY && !d->settled)
        goto done; /* all are missing, of what is not known */
    CR_TRY(s.status);
    CR_TRY(read_levels(cx, t, c, d, kinds, value));
    out = cr_resize(cx, NULL, 0, rows, sizeof *out);
    if (!out) CR_TRY(CR_ENOMEM);
    for (size_t i = 0; i < rows; i++)
        out[i] = !c->codes || c->codes[i] == CR_MISSING_CODE ? (double)NAN : value[c->codes[i]];
    CR_TRY(cri_table_set_dates(cx, t, k, d->type, d->format, out));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_dates_take(cr_ctx *cx, cri_dates *d, const cr_read_options *o, cr_table *t)
{
    cr_status st = CR_OK;
    if (!d->settled) CR_TRY(find(cx, d, o, t));
    for (size_t i = 0; i < d->n; i++)
        for (size_t k = 0; is_of_dates(d, i) && k < cri_table_ordinary(t); k++)
            if (strcmp(cri_table_ordinary_column(t, k)->name, d->columns[i].name) == 0)
                CR_TRY(take_column(cx, t, k, &d->columns[i]));
done:
    return st;
}

cr_status cri_dates_take_all(cr_ctx *cx, const cr_read_options *options, cr_table **table)
{
    cri_dates d = { 0 };
    cr_status st = cri_dates_take(cx, &d, options, *table);
    cri_dates_free(cx, &d);
    if (st == CR_OK) return CR_OK;
    cr_table_free(cx, *table);
    *table = NULL;
    return st;
}
