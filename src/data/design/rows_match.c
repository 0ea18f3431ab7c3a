/* rows_match.c -- the columns of a table that those of a design read, and their levels. */
#include "design_block.h"
#include "data/table/date.h"
#include "data/table/table_internal.h"
#include "base/context_internal.h"
#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int compare_text(const void *key, const void *level)
{
    return strcmp(key, *(char *const *)level);
}

/* The design level with exactly this text, or CR_MISSING_CODE. */
static uint32_t find_text(const cri_design_column *c, const char *text)
{
    char   **found = NULL;
    uint32_t later;
    if (c->n_levels > 0)
        found = bsearch(text, c->levels, c->n_levels, sizeof *c->levels, compare_text);
    if (found) return (uint32_t)(found - c->levels);
    if (c->later.n == 0 || !cri_dictionary_find(&c->later, text, strlen(text), &later))
        return CR_MISSING_CODE;
    return (uint32_t)c->n_levels + later;
}

/* The same; a whole number may have a `.0` in one of the two: pandas writes 2002 so once its column has a
 * gap. */
static uint32_t find_level(const cri_design_column *c, const char *text)
{
    enum { LONGEST = 24 };
    char     other[LONGEST + 3];
    size_t   digits = strspn(text + (*text == '-'), "0123456789"), n = digits + (*text == '-');
    bool     point = strcmp(text + n, ".0") == 0;
    uint32_t found = find_text(c, text);
    if (found != CR_MISSING_CODE || digits == 0 || n > LONGEST || (text[n] && !point)) return found;
    snprintf(other, sizeof other, "%.*s%s", (int)n, text, point ? "" : ".0");
    return find_text(c, other);
}

static const char *level_name(const void *column, size_t k)
{
    return ((const cri_design_column *)column)->levels[k];
}

/* Whether the text has digits, and many levels are about as near to it as the nearest: they number things, and none of
 * them is meant. */
static bool numbers_things(const cri_design_column *c, const char *text)
{
    enum { MANY = 20, ALIKE = 3 };
    double best = INFINITY;
    size_t alike = 0;
    if (c->n_levels < MANY || !strpbrk(text, "0123456789")) return false;
    for (size_t k = 0; k < c->n_levels; k++)
        best = fmin(best, cri_edit_distance(text, c->levels[k], best));
    for (size_t k = 0; k < c->n_levels; k++)
        alike += cri_edit_distance(text, c->levels[k], best + 2) <= best + 1;
    return alike >= ALIKE;
}

static cr_status unseen_level(cr_ctx *cx, const cr_table *t, const cri_design_column *c, size_t row,
                              const char *text)
{
    char where[512];
    cr_fail(cx, CR_EDATA, "%s: column '%s' has the level '%s', which the model has not seen",
            cri_table_where(t, row, where, sizeof where), c->name, text);
    if (!numbers_things(c, text))
        return cr_fail_nearest(cx, text, "levels", c->n_levels, level_name, c);
    cr_fail_note(cx, "levels: %zu, such as %s, %s and %s", c->n_levels, c->levels[0], c->levels[1],
                 c->levels[2]);
    return cr_fail_hint(
        cx,
        "--features '!%s' leaves the column out of the fit; bayes-linear and glm take levels they "
        "have not seen as new groups with --terms '(1 | %s)'",
        c->name, c->name);
}

/* What stands for a level that the model has not seen: none, or a group that is new. */
static uint32_t unseen_code(const cri_design_column *c)
{
    return c->varying ? (uint32_t)c->n_levels : CR_MISSING_CODE;
}

/* recode[k] = design level of table level k; fails at the first row that uses an unseen one. */
static cr_status match_levels(cr_ctx *cx, const cr_table *t, const cri_design_column *c,
                              const cr_column *from, uint32_t *recode)
{
    bool unseen = false;
    for (size_t k = 0; k < from->n_levels; k++) {
        recode[k] = find_level(c, from->levels[k]);
        if (recode[k] == CR_MISSING_CODE) recode[k] = unseen_code(c);
        unseen |= recode[k] == CR_MISSING_CODE;
    }
    for (size_t i = 0; unseen && i < cr_table_rows(t); i++) {
        uint32_t code = from->codes[i];
        if (code != CR_MISSING_CODE && recode[code] == CR_MISSING_CODE)
            return unseen_level(cx, t, c, i, from->levels[code]);
    }
    return CR_OK;
}

/* The same for a column of texts, where one that is new gets the next code. */
static void number_texts(const cri_design_column *c, const cr_column *from, uint32_t *recode,
                         const char **unseen)
{
    uint32_t next = (uint32_t)cri_design_known(c);
    for (size_t k = 0; k < from->n_levels; k++) {
        recode[k] = find_level(c, from->levels[k]);
        if (recode[k] != CR_MISSING_CODE) continue;
        *unseen++ = from->levels[k];
        recode[k] = next++;
    }
}

static cr_status refuse_numbers(cr_ctx *cx, const cr_table *t, const cri_design_column *c)
{
    cr_fail(cx, CR_EDATA, "%s: column '%s' was read as numbers, but the model needs text there",
            cr_table_source(t), c->name);
    return cr_fail_hint(cx, "--category %s reads it as text", c->name);
}

/* A category whose texts were read as numbers here ("1", "2"): the level that each value prints as.
 * Values seen last are remembered, so few are printed. */
static cr_status match_numbers(cr_ctx *cx, const cr_table *t, const cri_design_column *c,
                               const cr_column *from, uint32_t *levels)
{
    enum { SEEN = 8 };
    double   seen[SEEN];
    uint32_t level[SEEN];
    size_t   next = 0;
    char     buffer[CRI_DOUBLE_SIZE];
    for (size_t k = 0; k < SEEN; k++) seen[k] = NAN;
    for (size_t i = 0; i < cr_table_rows(t); i++) {
        double x = from->values[i * from->stride];
        size_t k = 0;
        levels[i] = CR_MISSING_CODE;
        if (isnan(x)) continue;
        while (k < SEEN && seen[k] != x) k++;
        if (k == SEEN) {
            const char *text = cri_level_text(from, x, buffer);
            k = next++ % SEEN;
            seen[k] = x;
            level[k] = find_level(c, text);
            if (level[k] == CR_MISSING_CODE) level[k] = unseen_code(c);
            if (level[k] == CR_MISSING_CODE) return unseen_level(cx, t, c, i, text);
        }
        levels[i] = level[k];
    }
    return CR_OK;
}

/* A column of texts where numbers are needed: the first that is none, and where it stands. */
static cr_status refuse_texts(cr_ctx *cx, const cr_table *t, const cr_column *c, cr_type wanted)
{
    const char *needs = wanted == CR_BOOLEAN ? "true or false" : "numbers";
    size_t      row = cr_table_rows(t), none = row;
    double      number;
    char        where[512];
    for (size_t i = none; i-- > 0;) {
        const char *text = c->codes[i] == CR_MISSING_CODE ? NULL : c->levels[c->codes[i]];
        if (!text) continue;
        row = i;
        bool fits = wanted == CR_BOOLEAN &&
                    (strcasecmp(text, "true") == 0 || strcasecmp(text, "false") == 0);
        if (!fits && cri_parse_double(text, text + strlen(text), &number) != strlen(text)) none = i;
    }
    if (none < cr_table_rows(t)) row = none;
    if (row == cr_table_rows(t)) /* levels that other rows have */
        return cr_fail(cx, CR_EDATA, "%s: column '%s' contains text, but the model needs %s",
                       cr_table_source(t), c->name, needs);
    cr_fail(cx, CR_EDATA, "%s: column '%s' contains text ('%s'), but the model needs %s",
            cri_table_where(t, row, where, sizeof where), c->name, c->levels[c->codes[row]], needs);
    if (none == cr_table_rows(t))
        return cr_fail_hint(cx, "its texts are numbers: --real '%s' reads them as such", c->name);
    if (wanted == CR_BOOLEAN)
        return cr_fail_hint(cx, "write true or false there, or 1 or 0 in the whole column");
    if (strcmp(cr_table_source(t), "stdin") == 0)
        return cr_fail_hint(cx, "such cells mean missing values with --missing-values '%s'",
                            c->levels[c->codes[row]]);
    return cr_fail_hint(cx, "credence describe %s shows the columns", cr_table_source(t));
}

/* Dates where the model reads something else, or the other way round. */
static cr_status check_dates(cr_ctx *cx, const cr_table *t, const cri_design_column *c,
                             const cr_column *from)
{
    bool wanted = cri_is_date(c->type), there = cri_is_date(from->type);
    if (wanted == there || (wanted && from->missing == cr_table_rows(t))) return CR_OK;
    if (wanted) {
        cr_fail(cx, CR_EDATA, "%s: column '%s' contains %s, but the model needs dates",
                cr_table_source(t), c->name, from->type == CR_CATEGORY ? "texts" : "numbers");
        return cr_fail_hint(cx, "--date '%s:%s' sets the format of the dates", c->name,
                            c->format ? c->format : "%d.%m.%Y");
    }
    bool texts = c->type == CR_CATEGORY;
    cr_fail(cx, CR_EDATA, "%s: column '%s' contains dates, but the model needs %s",
            cr_table_source(t), c->name, texts ? "texts" : "numbers");
    return texts ? cr_fail_hint(cx, "--category %s reads it as text", c->name) : CR_EDATA;
}

/* 5 % is 0.05: a column that has the sign in one of two files is probably not of one unit. */
static void warn_of_percent(cr_ctx *cx, const cr_table *t, const cri_design_column *c,
                            const cr_column *from)
{
    if (!from->written || c->percent == cri_is_in_percent(from)) return;
    if (from->missing == cr_table_rows(t) || cri_is_date(c->type)) return;
    if (c->percent)
        cr_log(cx, CR_LOG_WARNING,
               "column '%s' of %s has no %% signs, so 5 is read as 5; when the model was fitted it "
               "was written in percent, where 5 %% is 0.05",
               c->name, cr_table_source(t));
    else
        cr_log(cx, CR_LOG_WARNING,
               "column '%s' of %s is written in percent, and 5 %% is read as 0.05; when the model "
               "was fitted it had no %% signs",
               c->name, cr_table_source(t));
}

cr_status cri_match_column(cr_ctx *cx, const cr_table *t, const cri_design_column *c,
                           const cr_column **out_column, cri_level_map *out)
{
    static const double    zero = 0;
    static const cr_column zeros = { .name = "", .type = CR_INTEGER, .values = &zero, .stride = 0 };
    bool                   open = cri_table_is_open_column(t, c->name);
    const cr_column       *from = open ? &zeros : cr_table_find(t, c->name);
    if (!from) return cri_table_no_column(cx, t, c->name);
    *out_column = from;
    bool      category = c->type == CR_CATEGORY;
    cr_status st = check_dates(cx, t, c, from);
    if (st != CR_OK) return st;
    if (!category && from->type == CR_CATEGORY) return refuse_texts(cx, t, from, c->type);
    if (!category) return warn_of_percent(cx, t, c, from), CR_OK;
    if (c->texts && from->type != CR_CATEGORY && from->missing < cr_table_rows(t))
        return refuse_numbers(cx, t, c);
    if (from->type != CR_CATEGORY) {
        out->levels = cr_alloc(cx, cr_table_rows(t), sizeof *out->levels);
        return out->levels ? match_numbers(cx, t, c, from, out->levels) : CR_ENOMEM;
    }
    out->recode = cr_alloc(cx, from->n_levels, sizeof *out->recode);
    if (c->texts) {
        out->unseen = cr_alloc(cx, from->n_levels, sizeof *out->unseen);
        if (!out->recode || !out->unseen) return CR_ENOMEM;
        number_texts(c, from, out->recode, out->unseen);
        return CR_OK;
    }
    return out->recode ? match_levels(cx, t, c, from, out->recode) : CR_ENOMEM;
}

void cri_level_map_free(cr_ctx *cx, const cr_table *t, const cr_column *c, cri_level_map m)
{
    if (m.recode) cr_free(cx, m.recode, c->n_levels, sizeof *m.recode);
    if (m.levels) cr_free(cx, m.levels, cr_table_rows(t), sizeof *m.levels);
    if (m.unseen) cr_free(cx, m.unseen, c->n_levels, sizeof *m.unseen);
}
