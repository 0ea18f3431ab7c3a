/* bayes_kinds.c -- which distribution each column has: --numbers and --bandwidth. */
#include "bayes_columns.h"
#include "base/list.h"
#include "base/number.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

static const char *const kind_names[] = { "gaussian", "kernel", "multinomial", "bernoulli",
                                          "poisson" };
enum { KIND_NAMES = sizeof kind_names / sizeof *kind_names };

static const char *kind_name(const void *unused, size_t i)
{
    (void)unused;
    return kind_names[i];
}

static const char *column_name(const void *design, size_t i)
{
    return cr_design_column_name(design, i);
}

/* The column of term j, in the numbers of cr_design_columns. */
static size_t column_of(const cr_design *d, size_t j)
{
    size_t block = d->block.n;
    return j < block ? j : block + d->terms[j - block].column;
}

size_t cri_nb_levels(const cr_design *d, size_t j)
{
    return cri_design_is_code(d, j) ? cr_design_levels(d, column_of(d, j)) : 0;
}

/* A whole text as a number. */
static bool read_number(const char *text, double *out)
{
    size_t length = strlen(text);
    return length > 0 && cri_parse_double(text, text + length, out) == length && isfinite(*out);
}

/* The column that an item COLUMN=... names: its index, or the number of columns for one without. */
static cr_status split_item(cr_ctx *cx, const cr_design *d, const char *option, char *item,
                            size_t *out_column, char **out_value)
{
    char *cut = strrchr(item, '=');
    *out_column = cr_design_columns(d);
    *out_value = cut ? cut + 1 : item;
    if (!cut) return CR_OK;
    *cut = 0;
    for (size_t c = 0; c < cr_design_columns(d); c++)
        if (strcmp(cr_design_column_name(d, c), item) == 0) *out_column = c;
    if (*out_column == cr_design_columns(d)) {
        cr_fail(cx, CR_EARG, "--%s: the model does not use a column '%s'", option, item);
        return cr_fail_nearest(cx, item, "columns", cr_design_columns(d), column_name, d);
    }
    if (cr_design_column_type(d, *out_column) == CR_CATEGORY)
        return cr_fail(cx, CR_EARG, "--%s: the column '%s' is a category, not a number", option,
                       item);
    return CR_OK;
}

static cr_status read_kind(cr_ctx *cx, char *text, cri_nb_kind *kind, double *threshold)
{
    char *colon = strchr(text, ':');
    *threshold = 0;
    if (colon) *colon = 0;
    for (size_t i = 0; i < KIND_NAMES; i++) {
        if (strcmp(text, kind_names[i]) != 0) continue;
        *kind = (cri_nb_kind)i;
        if (!colon) return CR_OK;
        if (*kind == CRI_NB_BERNOULLI && read_number(colon + 1, threshold)) return CR_OK;
        cr_fail(cx, CR_EARG, "--numbers: '%s:%s' is not understood", text, colon + 1);
        return cr_fail_hint(cx, "only bernoulli takes a number, as in bernoulli:0.5");
    }
    cr_fail(cx, CR_EARG, "--numbers: there is no distribution '%s'", text);
    return cr_fail_nearest(cx, text, "distributions", KIND_NAMES, kind_name, NULL);
}

/* Sets what one item says for the terms of its column, or for all numbers but booleans. */
static cr_status apply_kind(cr_ctx *cx, const cr_design *d, char *item, cri_nb *m)
{
    size_t      column = 0;
    char       *value = NULL;
    cri_nb_kind kind = CRI_NB_GAUSSIAN;
    double      threshold = 0;
    cr_status   st = split_item(cx, d, "numbers", item, &column, &value);
    if (st == CR_OK) st = read_kind(cx, value, &kind, &threshold);
    if (st != CR_OK) return st;
    for (size_t j = 0; j < m->p; j++) {
        size_t  own = column_of(d, j);
        cr_type type = cr_design_column_type(d, own);
        bool    all = column == cr_design_columns(d) && type != CR_CATEGORY && type != CR_BOOLEAN;
        if (!all && own != column) continue;
        m->kind[j] = kind;
        m->threshold[j] = threshold;
    }
    return CR_OK;
}

static cr_status apply_width(cr_ctx *cx, const cr_design *d, char *item, cri_nb *m)
{
    size_t    column = 0;
    char     *value = NULL;
    double    width = 0;
    cr_status st = split_item(cx, d, "bandwidth", item, &column, &value);
    if (st != CR_OK) return st;
    if (!read_number(value, &width) || !(width > 0)) {
        cr_fail(cx, CR_EARG, "--bandwidth: '%s' is not a number above 0", value);
        return cr_fail_hint(cx, "for example --bandwidth 0.3, or area=5,rooms=0.5");
    }
    for (size_t j = 0; j < m->p; j++)
        if (column == cr_design_columns(d) || column_of(d, j) == column) m->width[j] = width;
    return CR_OK;
}

/* Items without a column first, so that those with one count whatever the order. */
static cr_status apply_items(cr_ctx *cx, const cr_design *d, char **items, size_t n, cri_nb *m,
                             cr_status (*apply)(cr_ctx *, const cr_design *, char *, cri_nb *))
{
    cr_status st = CR_OK;
    for (int named = 0; named < 2; named++)
        for (size_t i = 0; i < n && st == CR_OK; i++)
            if ((strchr(items[i], '=') != NULL) == named) st = apply(cx, d, items[i], m);
    return st;
}

cr_status cri_nb_read_kinds(cr_ctx *cx, const cr_design *d, const char *numbers,
                            const char *bandwidth, cri_nb *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    char     **items = NULL;
    size_t     n = 0;

    for (size_t j = 0; j < m->p; j++) {
        cr_type type = cr_design_column_type(d, column_of(d, j));
        m->kind[j] = type == CR_CATEGORY  ? CRI_NB_CATEGORY
                     : type == CR_BOOLEAN ? CRI_NB_BERNOULLI
                                          : CRI_NB_GAUSSIAN;
        m->threshold[j] = 0;
    }
    CR_TRY(cri_list_split(&s, numbers, &items, &n));
    CR_TRY(apply_items(cx, d, items, n, m, apply_kind));
    CR_TRY(cri_list_split(&s, bandwidth, &items, &n));
    CR_TRY(apply_items(cx, d, items, n, m, apply_width));
    for (size_t j = 0; j < m->p; j++) {
        cri_nb_kind kind = cri_nb_kind_of(m, j);
        m->first[j] = kind == CRI_NB_KERNEL ? m->kernels : m->L;
        m->kernels += kind == CRI_NB_KERNEL;
        m->L += cri_nb_levels(d, j);
    }
    m->cells = m->kernels * m->K;
    m->ends = m->cells + 1;
done:
    cr_scratch_end(&s);
    return st;
}
