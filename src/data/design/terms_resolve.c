/* terms_resolve.c -- which terms --terms names in a table: '.' and '-' done, columns found. */
#include "terms_make.h"
#include "data/table/date.h"
#include "data/table/table_internal.h"

#include <string.h>

typedef struct resolver {
    cr_scratch            *s;
    const cr_table        *t;
    const cri_design_plan *plan;
    size_t          columns, block[2]; /* of the table; the block's first, and behind its last */
    cri_term_item **items;             /* [n], NULL where one was taken away                  */
    size_t          n;
    size_t         *plain; /* [columns] 1 + the item that is this column as it is, 0 = none   */
    bool           *in_block;
    cri_term_item  *varying; /* (1 | COLUMN); NULL = none */
} resolver;

static bool is_in_block(const resolver *r, size_t k) { return k >= r->block[0] && k < r->block[1]; }

/* --- columns --------------------------------------------------------------------------------- */

static cr_status find_column(const resolver *r, const char *name, size_t *out)
{
    cr_ctx *cx = r->s->cx;
    char    numbered[CR_NAME_SIZE];
    size_t  k = 0;
    if (!cri_table_has(r->t, name)) return cri_table_no_column(cx, r->t, name);
    while (strcmp(cr_table_column_name(r->t, k, numbered), name) != 0) k++;
    *out = k;
    if (r->plan->chosen[k]) return CR_OK;
    const char *target = r->plan->options->target;
    if (target && strcmp(target, name) == 0)
        return cr_fail(cx, CR_EARG, "--terms: column '%s' is the target and cannot be a feature",
                       name);
    cr_fail(cx, CR_EARG, "--terms: column '%s' is not a feature", name);
    return r->plan->options->features
               ? cr_fail_hint(cx, "--features must name every column that --terms uses")
               : CR_EARG;
}

/* The functions of an atom need numbers, or dates. */
static cr_status check_type(const resolver *r, cri_atom *a)
{
    cr_ctx          *cx = r->s->cx;
    const cr_column *c = cr_table_column(r->t, a->place.index);
    if (!c) return CR_ENOMEM;
    cr_type type = c->type;
    for (size_t k = 0; k < a->n_steps; k++) {
        cri_function f = a->steps[k].function;
        if (cri_function_of_dates(f) && !cri_is_date(type)) {
            cr_fail(cx, CR_EDATA, "--terms: %s needs a date, but '%s' is %s",
                    cri_atom_name(r->s, a, k + 1), cri_atom_name(r->s, a, k),
                    type == CR_CATEGORY ? "a category" : "a number");
            return k == 0 ? cr_fail_hint(cx, "--date '%s:%%d.%%m.%%Y' reads the column as dates",
                                         a->column)
                          : CR_EDATA;
        }
        if (type == CR_CATEGORY)
            return cr_fail(cx, CR_EDATA, "--terms: %s needs a number, but '%s' is a category",
                           cri_atom_name(r->s, a, k + 1), cri_atom_name(r->s, a, k));
        type = cri_function_type(f, type);
    }
    if (a->basis && type == CR_CATEGORY)
        return cr_fail(cx, CR_EDATA, "--terms: '%s' is a category, which has no basis",
                       cri_atom_name(r->s, a, a->n_steps));
    a->place.category = type == CR_CATEGORY;
    return CR_OK;
}

static cr_status find_columns(const resolver *r, cri_term_item *item)
{
    cr_status st = CR_OK;
    for (size_t i = 0; i < item->n && st == CR_OK; i++) {
        st = find_column(r, item->atoms[i]->column, &item->atoms[i]->place.index);
        if (st == CR_OK) st = check_type(r, item->atoms[i]);
    }
    return st;
}

/* --- adding and taking away ------------------------------------------------------------------ */

/* The place of an item with several atoms or a function; r->n where there is none. */
static size_t find_made(const resolver *r, const cri_term_item *item)
{
    size_t i = 0;
    while (i < r->n && !(r->items[i] && !cri_term_item_is_plain(r->items[i]) &&
                         cri_term_item_same(r->items[i], item)))
        i++;
    return i;
}

static void add(resolver *r, cri_term_item *item)
{
    bool   plain = cri_term_item_is_plain(item);
    size_t k = item->atoms[0]->place.index;
    if (plain && is_in_block(r, k)) {
        r->in_block[k - r->block[0]] = true;
        return;
    }
    if (plain ? r->plain[k] > 0 : find_made(r, item) < r->n) return;
    r->items[r->n++] = item;
    if (plain) r->plain[k] = r->n;
}

static cr_status take_away(resolver *r, const cri_term_item *item)
{
    size_t k = item->atoms[0]->place.index, at = find_made(r, item);
    if (cri_term_item_is_plain(item) && is_in_block(r, k) && r->in_block[k - r->block[0]]) {
        r->in_block[k - r->block[0]] = false;
        return CR_OK;
    }
    if (cri_term_item_is_plain(item)) at = r->plain[k] ? r->plain[k] - 1 : r->n;
    if (at == r->n)
        return cr_fail(r->s->cx, CR_EARG, "--terms: '-%s%s' removes a term that is not there",
                       item->atoms[0]->name, item->n > 1 ? ":..." : "");
    if (cri_term_item_is_plain(item)) r->plain[k] = 0;
    r->items[at] = NULL;
    return CR_OK;
}

/* --- varying intercepts ---------------------------------------------------------------------- */

static cr_status add_varying(resolver *r, cri_term_item *item)
{
    cr_ctx     *cx = r->s->cx;
    const char *group = item->atoms[0]->column;
    if (!r->plan->needs->varying) {
        cr_fail(cx, CR_EUNSUPPORTED,
                "--terms: (1 | %s) is a varying intercept, which this model does not have", group);
        return cr_fail_hint(cx,
                            "bayes-linear and glm have varying intercepts; in other models the "
                            "term %s gives each level a coefficient",
                            group);
    }
    if (r->varying && strcmp(r->varying->atoms[0]->column, group) != 0)
        return cr_fail(
            cx, CR_EUNSUPPORTED,
            "--terms: only one varying intercept is possible, but there are (1 | %s) and (1 | %s)",
            r->varying->atoms[0]->column, group);
    r->varying = item;
    return CR_OK;
}

/* The levels of a varying intercept have no coefficients beside it. */
static cr_status check_varying(const resolver *r)
{
    size_t group = r->varying ? r->varying->atoms[0]->place.index : SIZE_MAX;
    for (size_t i = 0; i < r->n; i++)
        for (size_t a = 0; r->items[i] && a < r->items[i]->n; a++)
            if (r->items[i]->atoms[a]->place.index == group)
                return cr_fail(r->s->cx, CR_EARG,
                               "--terms: '%s' cannot be a term beside its varying intercept "
                               "(1 | %s)",
                               r->items[i]->atoms[a]->name, r->varying->atoms[0]->column);
    return CR_OK;
}

/* Every feature as a term of its own, except the groups of a varying intercept. */
static cr_status add_all(resolver *r)
{
    for (size_t k = 0; k < r->columns; k++) {
        if (!r->plan->chosen[k] || (r->varying && r->varying->atoms[0]->place.index == k)) continue;
        cri_atom      *atom = cr_scratch_bytes(r->s, 1, sizeof *atom);
        cri_term_item *item = cr_scratch_bytes(r->s, 1, sizeof *item);
        if (r->s->status != CR_OK) return r->s->status;
        if (!is_in_block(r, k)) {
            const cr_column *c = cr_table_column(r->t, k);
            if (!c) return CR_ENOMEM;
            atom->column = atom->name = c->name;
            atom->place.category = c->type == CR_CATEGORY;
        }
        atom->place.index = k;
        *item = (cri_term_item){ .atoms = { atom }, .n = 1 };
        add(r, item);
    }
    return CR_OK;
}

static cr_status apply(resolver *r, cri_term_item *item)
{
    if (item->kind == CRI_ITEM_ALL) return add_all(r);
    cr_status st = find_columns(r, item);
    if (st != CR_OK) return st;
    if (item->minus) return take_away(r, item);
    if (item->kind == CRI_ITEM_VARYING) return CR_OK; /* by find_varying */
    add(r, item);
    return CR_OK;
}

/* Before all else, so that '.' knows. */
static cr_status find_varying(resolver *r, const cri_terms *terms)
{
    cr_status st = CR_OK;
    for (size_t i = 0; i < terms->n && st == CR_OK; i++) {
        cri_term_item *item = &terms->items[i];
        if (item->kind != CRI_ITEM_VARYING || item->minus) continue;
        st = find_columns(r, item);
        if (st == CR_OK) st = add_varying(r, item);
    }
    return st;
}

/* --- the list -------------------------------------------------------------------------------- */

/* The items with few atoms first, else in the order they came. */
static void sort_items(resolver *r, cri_term_item **out, size_t *out_n)
{
    *out_n = 0;
    for (size_t atoms = 1; atoms <= CRI_MOST_FACTORS; atoms++)
        for (size_t i = 0; i < r->n; i++)
            if (r->items[i] && r->items[i]->n == atoms) out[(*out_n)++] = r->items[i];
}

static size_t count_all(const cri_terms *terms)
{
    size_t n = 0;
    for (size_t i = 0; i < terms->n; i++) n += terms->items[i].kind == CRI_ITEM_ALL;
    return n;
}

cr_status cri_terms_resolve(cr_scratch *s, const cr_table *t, const cri_design_plan *plan,
                            cri_term_list *out)
{
    cr_status st = CR_OK;
    resolver  r = { .s = s, .t = t, .plan = plan, .columns = cr_table_columns(t) };
    cri_terms terms = { 0 };
    size_t    used = 0;

    CR_TRY(cri_terms_parse(s, plan->options->terms, &terms));
    if (cr_table_csr(t) && !plan->needs->spread) {
        r.block[0] = cr_table_csr_first(t);
        r.block[1] = r.block[0] + cr_table_csr(t)->columns;
    }
    size_t most = 2 * terms.n + (count_all(&terms) ? r.columns : 0); /* taken away and back */
    r.items = cr_scratch_bytes(s, most, sizeof *r.items);
    r.plain = cr_scratch_bytes(s, r.columns, sizeof *r.plain);
    r.in_block = cr_scratch_bytes(s, r.block[1] - r.block[0], sizeof *r.in_block);
    out->items = cr_scratch_bytes(s, most, sizeof *out->items);
    CR_TRY(s->status);
    CR_TRY(find_varying(&r, &terms));
    for (size_t i = 0; i < terms.n; i++) CR_TRY(apply(&r, &terms.items[i]));
    CR_TRY(check_varying(&r));
    out->varying = r.varying;
    sort_items(&r, out->items, &out->n);
    for (size_t k = 0; k < r.block[1] - r.block[0]; k++) used += r.in_block[k];
    out->in_block = used > 0 ? r.in_block : NULL;
    if (out->n + used == 0 && !r.varying)
        CR_TRY(cr_fail(s->cx, CR_EARG, "--terms: '%s' leaves no term", plan->options->terms));
done:
    return st;
}
