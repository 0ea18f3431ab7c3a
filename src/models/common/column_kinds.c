/* column_kinds.c -- lists of options by column. */
#include "column_kinds.h"
#include "base/list.h"
#include "base/number.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

size_t cri_term_column(const cr_design *d, size_t j)
{
    size_t block = d->block.n;
    return j < block ? j : block + d->terms[j - block].column;
}

size_t cri_term_levels(const cr_design *d, size_t j)
{
    return cri_design_is_code(d, j) ? cr_design_levels(d, cri_term_column(d, j)) : 0;
}

bool cri_text_number(const char *text, double *out)
{
    size_t length = strlen(text);
    return length > 0 && cri_parse_double(text, text + length, out) == length && isfinite(*out);
}

static const char *column_name(const void *design, size_t i)
{
    return cr_design_column_name(design, i);
}

/* The column that an item COLUMN=... names: its index, or CRI_ALL_COLUMNS for one without. */
static cr_status split_item(cr_ctx *cx, const cr_design *d, const char *option, char *item,
                            size_t *out_column, char **out_value)
{
    char *cut = strrchr(item, '=');
    *out_column = CRI_ALL_COLUMNS;
    *out_value = cut ? cut + 1 : item;
    if (!cut) return CR_OK;
    *cut = 0;
    for (size_t c = 0; c < cr_design_columns(d); c++)
        if (strcmp(cr_design_column_name(d, c), item) == 0) *out_column = c;
    if (*out_column == CRI_ALL_COLUMNS) {
        cr_fail(cx, CR_EARG, "--%s: the model does not use a column '%s'", option, item);
        return cr_fail_nearest(cx, item, "columns", cr_design_columns(d), column_name, d);
    }
    if (cr_design_column_type(d, *out_column) == CR_CATEGORY)
        return cr_fail(cx, CR_EARG, "--%s: the column '%s' is a category, not a number", option,
                       item);
    return CR_OK;
}

cr_status cri_column_items(cr_ctx *cx, const cr_design *d, const char *option, const char *list,
                           cri_column_item *take, void *arg)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    char     **items = NULL, *value = NULL;
    size_t     n = 0, column = 0;

    CR_TRY(cri_list_split(&s, list, &items, &n));
    for (int named = 0; named < 2; named++)
        for (size_t i = 0; i < n; i++) {
            if ((strchr(items[i], '=') != NULL) != named) continue;
            CR_TRY(split_item(cx, d, option, items[i], &column, &value));
            CR_TRY(take(cx, d, column, value, arg));
        }
done:
    cr_scratch_end(&s);
    return st;
}

/* --- distributions ---------------------------------------------------------------------------- */

typedef struct kinds {
    const cri_kind_names *names;
    size_t               *kind;
    double               *threshold;
} kinds;

static const char *kind_name(const void *names, size_t i)
{
    return ((const cri_kind_names *)names)->names[i];
}

static cr_status read_kind(cr_ctx *cx, char *text, const cri_kind_names *of, size_t *kind,
                           double *threshold)
{
    char *colon = strchr(text, ':');
    *threshold = 0;
    if (colon) *colon = 0;
    for (size_t i = 0; i < of->n; i++) {
        if (strcmp(text, of->names[i]) != 0) continue;
        *kind = i;
        if (!colon || (i == of->graded && cri_text_number(colon + 1, threshold))) return CR_OK;
        cr_fail(cx, CR_EARG, "--%s: '%s:%s' is not understood", of->option, text, colon + 1);
        if (of->graded >= of->n) return CR_EARG;
        return cr_fail_hint(cx, "only %s takes a number, as in %s:0.5", of->names[of->graded],
                            of->names[of->graded]);
    }
    cr_fail(cx, CR_EARG, "--%s: there is no distribution '%s'", of->option, text);
    return cr_fail_nearest(cx, text, "distributions", of->n, kind_name, of);
}

/* Sets what one item says for the terms of its column, or for all numbers except booleans. */
static cr_status take_kind(cr_ctx *cx, const cr_design *d, size_t column, char *value, void *arg)
{
    const kinds *k = arg;
    size_t       kind = 0;
    double       threshold = 0;
    cr_status    st = read_kind(cx, value, k->names, &kind, &threshold);
    for (size_t j = 0; st == CR_OK && j < cr_design_terms(d); j++) {
        size_t  own = cri_term_column(d, j);
        cr_type type = cr_design_column_type(d, own);
        bool    all = column == CRI_ALL_COLUMNS && type != CR_CATEGORY && type != CR_BOOLEAN;
        if (!all && own != column) continue;
        k->kind[j] = kind;
        k->threshold[j] = threshold;
    }
    return st;
}

cr_status cri_column_kinds(cr_ctx *cx, const cr_design *d, const char *numbers,
                           const cri_kind_names *names, size_t *kind, double *threshold)
{
    kinds k = { names, kind, threshold };
    return cri_column_items(cx, d, names->option, numbers, take_kind, &k);
}
