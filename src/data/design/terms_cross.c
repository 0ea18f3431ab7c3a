/* terms_cross.c -- the terms of a design, and what interactions need:
 *
 *     numbers                     their product, one for each combination of functions of bases
 *     categories                  a crossed category, with terms for its levels or its code
 *     categories and numbers      a crossed category whose indicators are multiplied by the product;
 *                                 where categories are codes, a product for each level
 *
 * All is counted first and made then, by the same walk. */
#include "terms_make.h"
#include "base/context_internal.h"

enum { MOST_PRODUCTS = 10000 /* columns of numbers, of which each takes 8 bytes a row */ };

/* Of each atom of an item which power, function or level is meant. */
typedef struct choice {
    size_t unit[CRI_MOST_FACTORS];
} choice;

/* --- names ----------------------------------------------------------------------------------- */

/* "age:kind=b"; without opt_choice of the levels, "age:kind". */
static char *name_choice(cri_maker *m, const cri_term_item *item, const choice *c, bool levels)
{
    cr_ctx *cx = m->s->cx;
    char   *name = NULL;
    for (size_t i = 0; i < item->n; i++) {
        const cri_place *p = &item->atoms[i]->place;
        bool             code = p->category && !levels;
        char            *own =
            cri_design_name_term(cx, &m->d->columns[p->column], code ? 0 : c->unit[i], code);
        char *longer = !own ? NULL : name ? cri_string_format(cx, "%s:%s", name, own) : own;
        if (longer != own) cri_string_free(cx, own);
        cri_string_free(cx, name);
        if (!longer) return NULL;
        name = longer;
    }
    return name;
}

/* --- what a walk does ------------------------------------------------------------------------ */

/* The next term; takes over its name. */
static cr_status put_term(cri_maker *m, cri_design_term term)
{
    if (m->counting) return m->terms++, CR_OK;
    if (!term.name) return CR_ENOMEM;
    m->d->terms[m->terms++] = term;
    return CR_OK;
}

static cr_status refuse_products(cri_maker *m)
{
    return cr_fail(m->s->cx, CR_EDATA, "--terms: the interactions make more than %d columns",
                   (int)MOST_PRODUCTS);
}

static cri_design_term factor_of(const cri_maker *m, const cri_place *p, size_t unit)
{
    bool basis = m->d->columns[p->column].basis.kind != CRI_BASIS_NONE;
    return (cri_design_term){ .column = p->column,
                              .power = p->category || basis ? 0 : (unsigned)unit + 1,
                              .level = unit };
}

/* The column that is the product of the numbers of an item, and of opt_indicator. */
static cr_status put_product(cri_maker *m, const cri_term_item *item, const choice *c,
                             const cri_design_term *opt_indicator, size_t *out)
{
    size_t             n = opt_indicator != NULL;
    cri_design_column *column;
    *out = m->columns;
    if (++m->products > MOST_PRODUCTS) return refuse_products(m);
    if (m->counting) return m->columns++, CR_OK;
    for (size_t i = 0; i < item->n; i++) n += !item->atoms[i]->place.category;
    char     *name = name_choice(m, item, c, opt_indicator != NULL);
    cr_status st =
        name ? cri_maker_column(m, CRI_MADE_PRODUCT, name, CR_REAL, n, &column) : CR_ENOMEM;
    cri_string_free(m->s->cx, name);
    if (st != CR_OK) return st;
    n = 0;
    for (size_t i = 0; i < item->n; i++)
        if (!item->atoms[i]->place.category)
            column->made.factors[n++] = factor_of(m, &item->atoms[i]->place, c->unit[i]);
    if (opt_indicator) column->made.factors[n] = *opt_indicator;
    return CR_OK;
}

static cr_status refuse_levels(cri_maker *m, const cri_term_item *item)
{
    return cr_fail(m->s->cx, CR_EDATA,
                   "--terms: the interaction of '%s' with '%s' has more than %d combinations of "
                   "levels",
                   item->atoms[0]->name, item->atoms[item->n - 1]->name, (int)CRI_MOST_CROSSED);
}

/* The crossed categories of an item, times column by - 1. */
static cr_status put_cross(cri_maker *m, const cri_term_item *item, const choice *c, size_t by,
                           size_t *out)
{
    cri_design_column *column;
    size_t             n = 0, levels = 1;
    for (size_t i = 0; i < item->n; i++) {
        const cri_place *p = &item->atoms[i]->place;
        if (!p->category) continue;
        if (levels > CRI_MOST_CROSSED / p->n) return refuse_levels(m, item);
        levels *= p->n;
        n++;
    }
    *out = m->columns;
    if (m->counting) return m->columns++, CR_OK;
    char     *name = name_choice(m, item, c, false);
    cr_status st =
        name ? cri_maker_column(m, CRI_MADE_CROSS, name, CR_CATEGORY, n, &column) : CR_ENOMEM;
    cri_string_free(m->s->cx, name);
    if (st != CR_OK) return st;
    n = 0;
    for (size_t i = 0; i < item->n; i++)
        if (item->atoms[i]->place.category)
            column->made.factors[n++] =
                (cri_design_term){ .column = item->atoms[i]->place.column, .power = 1 };
    column->made.by = by;
    return cri_made_set_levels(m->s->cx, m->d, column);
}

/* --- walks ----------------------------------------------------------------------------------- */

/* The next choice of the atoms that are (not) categories, the first of them changing fastest; false
 * after the last. */
static bool next_choice(const cri_term_item *item, bool categories, choice *c)
{
    for (size_t i = 0; i < item->n; i++) {
        const cri_place *p = &item->atoms[i]->place;
        if (p->category != categories) continue;
        if (++c->unit[i] < p->n) return true;
        c->unit[i] = p->first;
    }
    return false;
}

/* Whether the model has the item without atom `a`, as it has the intercept. */
static bool has_without(const cri_maker *m, const cri_term_item *item, size_t a)
{
    cri_term_item rest = { .kind = CRI_ITEM_TERM };
    for (size_t i = 0; i < item->n; i++)
        if (i != a) rest.atoms[rest.n++] = item->atoms[i];
    for (size_t k = 0; k < m->list.n; k++)
        if (cri_term_item_same(m->list.items[k], &rest)) return true;
    return rest.n == 0;
}

/* What level of the crossed category a choice is, first changing slowest; false where one of its
 * levels is a reference that goes without a term. */
static bool find_level(const cri_maker *m, const cri_term_item *item, const bool *contrast,
                       const choice *c, size_t *out_level)
{
    bool there = true;
    *out_level = 0;
    for (size_t i = 0; i < item->n; i++) {
        const cri_place *p = &item->atoms[i]->place;
        if (!p->category) continue;
        int reference = m->d->columns[p->column].reference;
        if (contrast[i] && (int)c->unit[i] == reference) there = false;
        *out_level = *out_level * p->n + c->unit[i];
    }
    return there;
}

/* Terms of the levels of column `column`, one for each choice. */
static cr_status put_levels(cri_maker *m, const cri_term_item *item, size_t column, choice *c)
{
    bool contrast[CRI_MOST_FACTORS] = { false };
    for (size_t i = 0; i < item->n; i++)
        contrast[i] = item->atoms[i]->place.category && has_without(m, item, i);
    do {
        size_t level;
        if (!find_level(m, item, contrast, c, &level)) continue;
        char     *name = m->counting ? NULL : name_choice(m, item, c, true);
        cr_status st = put_term(m, (cri_design_term){ name, .column = column, .level = level });
        if (st != CR_OK) return st;
    } while (next_choice(item, true, c));
    return CR_OK;
}

static cr_status put_number(cri_maker *m, const cri_term_item *item, size_t column, const choice *c)
{
    char *name = m->counting ? NULL : name_choice(m, item, c, true);
    return put_term(m, (cri_design_term){ name, .column = column, .power = 1 });
}

/* A product and a term for each level, times the numbers. */
static cr_status put_level_products(cri_maker *m, const cri_term_item *item, size_t category,
                                    choice *c)
{
    const bool none[CRI_MOST_FACTORS] = { false };
    do {
        size_t level, column;
        find_level(m, item, none, c, &level);
        cri_design_term indicator = { .column = category, .level = level };
        cr_status       st = put_product(m, item, c, &indicator, &column);
        if (st == CR_OK) st = put_number(m, item, column, c);
        if (st != CR_OK) return st;
    } while (next_choice(item, true, c));
    return CR_OK;
}

static cr_status put_code(cri_maker *m, const cri_term_item *item, size_t column, const choice *c)
{
    char *name = m->counting ? NULL : name_choice(m, item, c, false);
    return put_term(m, (cri_design_term){ name, .column = column, .code = true });
}

/* An item of categories alone, or of the numbers that c chooses and categories. */
static cr_status put_categories(cri_maker *m, const cri_term_item *item, size_t numbers, choice *c)
{
    cr_status st = CR_OK;
    bool      code = m->plan->needs->coding == CRI_CODING_CODE, one = item->n - numbers == 1;
    size_t    column = 0, by = 0, product;
    for (size_t i = 0; i < item->n; i++) /* the only number, or the only category */
        if (item->atoms[i]->place.category)
            column = item->atoms[i]->place.column;
        else
            by = item->atoms[i]->place.column + 1;
    if (code && numbers > 0) {
        if (!one) CR_TRY(put_cross(m, item, c, 0, &column));
        return put_level_products(m, item, column, c);
    }
    bool simple = numbers == 0;
    for (size_t i = 0; i < item->n && numbers == 1; i++)
        simple |= !item->atoms[i]->place.category && !item->atoms[i]->basis;
    if (!simple) {
        CR_TRY(put_product(m, item, c, NULL, &product));
        by = product + 1;
    }
    if (!one || numbers > 0) CR_TRY(put_cross(m, item, c, by, &column));
    return code ? put_code(m, item, column, c) : put_levels(m, item, column, c);
done:
    return st;
}

static cr_status put_item(cri_maker *m, const cri_term_item *item)
{
    cr_status st = CR_OK;
    choice    c = { { 0 } };
    size_t    numbers = 0, column;
    for (size_t i = 0; i < item->n; i++) {
        c.unit[i] = item->atoms[i]->place.first;
        numbers += !item->atoms[i]->place.category;
    }
    for (size_t i = 0; i < item->n; i++)
        if (item->atoms[i]->place.n <= item->atoms[i]->place.first) return CR_OK; /* no levels */
    do {
        if (numbers < item->n) {
            CR_TRY(put_categories(m, item, numbers, &c));
        } else if (item->n == 1) {
            cri_design_term term = factor_of(m, &item->atoms[0]->place, c.unit[0]);
            term.name = m->counting ? NULL : name_choice(m, item, &c, true);
            CR_TRY(put_term(m, term));
        } else {
            CR_TRY(put_product(m, item, &c, NULL, &column));
            CR_TRY(put_number(m, item, column, &c));
        }
    } while (next_choice(item, false, &c));
done:
    return st;
}

static cr_status put_items(cri_maker *m)
{
    cr_status st = CR_OK;
    m->terms = m->products = 0;
    for (size_t i = 0; i < m->list.n && st == CR_OK; i++) st = put_item(m, m->list.items[i]);
    return st;
}

cr_status cri_maker_cross(cri_maker *m)
{
    cr_status st = CR_OK;
    size_t    before = m->columns;
    m->counting = true;
    CR_TRY(put_items(m));
    CR_TRY(cri_design_set_columns(m->s->cx, m->d, m->columns));
    CR_TRY(cri_design_set_terms(m->s->cx, m->d, m->terms));
    m->counting = false;
    m->columns = before;
    CR_TRY(put_items(m));
done:
    return st;
}
