/* terms_make.c -- a design of functions and interactions: the columns that are read, functions of
 * them, and the bases of these.  terms_cross.c goes on with what interactions need. */
#include "terms_make.h"
#include "base/context_internal.h"

#include <string.h>

/* --- columns that are read ------------------------------------------------------------------- */

/* Each column of the table that an atom reads gets its place in the design, in the table's order. */
static cr_status number_columns(cri_maker *m, size_t *number, size_t *out_n)
{
    size_t n = cr_table_columns(m->t);
    for (size_t i = 0; i < m->list.n; i++)
        for (size_t a = 0; a < m->list.items[i]->n; a++)
            number[m->list.items[i]->atoms[a]->place.index] = 1;
    if (m->list.varying) number[m->list.varying->atoms[0]->place.index] = 1;
    *out_n = 0;
    for (size_t k = 0; k < n; k++)
        if (number[k]) number[k] = (*out_n)++;
    return CR_OK;
}

static cr_status remember_columns(cri_maker *m, const size_t *number)
{
    cr_status st = CR_OK;
    bool      impute = m->d->missing == CR_MISSING_IMPUTE;
    for (size_t i = 0; i < m->list.n; i++)
        for (size_t a = 0; a < m->list.items[i]->n; a++) {
            cri_place         *place = &m->list.items[i]->atoms[a]->place;
            cri_design_column *c = &m->d->columns[number[place->index]];
            place->column = number[place->index];
            if (c->name) continue;
            const cr_column *from = cr_table_column(m->t, place->index);
            if (!from) return CR_ENOMEM;
            cri_design_warn_of_levels(m->s->cx, m->t, from, m->plan);
            CR_TRY(cri_design_remember(m->s->cx, m->t, from, m->plan, impute, c));
        }
done:
    return st;
}

/* The groups of a varying intercept: texts, or whole numbers. */
static cr_status remember_groups(cri_maker *m, const size_t *number)
{
    cr_ctx *cx = m->s->cx;
    if (!m->list.varying) return CR_OK;
    const cri_atom    *atom = m->list.varying->atoms[0];
    cri_design_column *c = &m->d->columns[number[atom->place.index]];
    const cr_column   *from = cr_table_column(m->t, atom->place.index);
    if (!from) return CR_ENOMEM;
    cr_status st =
        from->type == CR_CATEGORY
            ? cri_design_remember(cx, m->t, from, m->plan, m->d->missing == CR_MISSING_IMPUTE, c)
            : cri_remember_groups(cx, m->t, from, c);
    if (st != CR_OK) return st;
    c->varying = true;
    c->reference = CRI_NO_LEVEL;
    if (c->n_levels >= 3) return CR_OK;
    cr_fail(cx, CR_EDATA,
            "--terms: (1 | %s) has %zu group%s, too few to learn how much groups differ", c->name,
            c->n_levels, c->n_levels == 1 ? "" : "s");
    return cr_fail_hint(cx, "the term %s gives each level a coefficient", c->name);
}

/* --- functions and bases --------------------------------------------------------------------- */

cr_status cri_maker_column(cri_maker *m, cri_made_kind kind, const char *name, cr_type type,
                           size_t n, cri_design_column **out)
{
    cr_ctx            *cx = m->s->cx;
    cri_design_column *c = &m->d->columns[m->columns++];
    *c = (cri_design_column){ .type = type, .reference = CRI_NO_LEVEL, .made = { .kind = kind } };
    c->name = cri_string_copy(cx, name);
    c->made.factors = c->name ? cr_alloc(cx, n, sizeof *c->made.factors) : NULL;
    if (!c->made.factors) return CR_ENOMEM;
    c->made.n = n;
    *out = c;
    return CR_OK;
}

/* The column of a key, made as a function of column *at where it is new; *at becomes it. */
static cr_status apply_function(cri_maker *m, const char *key, const char *name, cri_term_step step,
                                size_t *at)
{
    size_t k = 0, made = m->columns - m->d->n_read;
    while (k < made && strcmp(m->keys[k], key) != 0) k++;
    if (k == made) {
        cri_design_column *c;
        cr_type            type = cri_function_type(step.function, m->d->columns[*at].type);
        cr_status          st = cri_maker_column(m, CRI_MADE_FUNCTION, name, type, 1, &c);
        if (st != CR_OK) return st;
        m->keys[k] = key;
        c->made.step = step;
        c->made.factors[0] = (cri_design_term){ .column = *at, .power = 1 };
        if (m->plan->reference != CRI_REFERENCE_NONE && type == CR_CATEGORY) c->reference = 0;
        if (type == CR_CATEGORY) st = cri_made_set_levels(m->s->cx, m->d, c);
        if (st != CR_OK) return st;
    }
    *at = m->d->n_read + k;
    return CR_OK;
}

static cr_status apply_functions(cri_maker *m, cri_atom *a)
{
    cr_status st = CR_OK;
    for (size_t k = 0; k < a->n_steps && st == CR_OK; k++) {
        const char *name = cri_atom_name(m->s, a, k + 1);
        st = m->s->status == CR_OK ? apply_function(m, name, name, a->steps[k], &a->place.column)
                                   : m->s->status;
    }
    if (st != CR_OK || !a->basis || strncmp(a->basis, "poly:", 5) == 0) return st;
    const char *inner = cri_atom_name(m->s, a, a->n_steps);
    return m->s->status == CR_OK
               ? apply_function(m, a->name, inner, (cri_term_step){ 0 }, &a->place.column)
               : m->s->status;
}

static cr_status make_functions(cri_maker *m)
{
    cr_status st = CR_OK;
    for (size_t i = 0; i < m->list.n && st == CR_OK; i++)
        for (size_t k = 0; k < m->list.items[i]->n && st == CR_OK; k++)
            st = apply_functions(m, m->list.items[i]->atoms[k]);
    return st;
}

/* The powers or functions that an atom stands for; learns its basis if that is new. */
static cr_status expand(cri_maker *m, const cri_rows *rows, cri_atom *a)
{
    cri_design_column *c = &m->d->columns[a->place.column];
    const char        *weights = m->plan->options->weights;
    cri_basis_spec     spec;
    a->place.n = a->place.category ? c->n_levels : 1;
    if (!a->basis) return CR_OK;
    cr_status st = cri_basis_parse(m->s, a->basis, &spec);
    if (st != CR_OK) return st;
    if (spec.kind == CRI_BASIS_POLY) { /* powers of 0 and 1 are the same column */
        if (c->type != CR_BOOLEAN) a->place.n = spec.count;
        return CR_OK;
    }
    if (c->basis.kind == CRI_BASIS_NONE)
        st = cri_basis_learn(m->s->cx, m->t, rows->columns[a->place.column],
                             weights ? cr_table_find(m->t, weights) : NULL, &spec, &c->basis);
    if (st != CR_OK) return st;
    a->place.n = c->basis.n;
    a->place.first =
        m->plan->reference != CRI_REFERENCE_NONE && cri_basis_sums_to_one(&c->basis) ? 1 : 0;
    return CR_OK;
}

static bool has_bases(const cri_maker *m)
{
    for (size_t i = 0; i < m->list.n; i++)
        for (size_t k = 0; k < m->list.items[i]->n; k++)
            if (m->list.items[i]->atoms[k]->basis) return true;
    return false;
}

static cr_status expand_all(cri_maker *m)
{
    cr_status st = CR_OK;
    cri_rows  rows = { .design = m->d, .table = m->t };
    bool      open = has_bases(m);
    if (open) CR_TRY(cri_rows_open_columns(m->s->cx, &rows));
    for (size_t i = 0; i < m->list.n; i++)
        for (size_t k = 0; k < m->list.items[i]->n; k++)
            CR_TRY(expand(m, &rows, m->list.items[i]->atoms[k]));
done:
    if (open) cri_rows_close_columns(m->s->cx, &rows);
    return st;
}

/* The columns that are read and functions of them, with their bases. */
static cr_status make_columns(cri_maker *m)
{
    cr_status st = CR_OK;
    cr_ctx   *cx = m->s->cx;
    size_t   *number = cr_scratch_bytes(m->s, cr_table_columns(m->t), sizeof *number);
    size_t    n_read, functions = 0;

    CR_TRY(m->s->status);
    CR_TRY(number_columns(m, number, &n_read));
    for (size_t i = 0; i < m->list.n; i++)
        for (size_t k = 0; k < m->list.items[i]->n; k++)
            functions += m->list.items[i]->atoms[k]->n_steps + 1;
    m->keys = cr_scratch_bytes(m->s, functions, sizeof *m->keys);
    CR_TRY(m->s->status);
    m->d = cri_design_new(cx, n_read + functions, 0);
    if (!m->d) CR_TRY(CR_ENOMEM);
    m->d->missing = cri_resolve_missing(m->plan->options->missing, m->plan->needs->keep_missing);
    m->d->n_read = m->columns = n_read;
    CR_TRY(remember_columns(m, number));
    CR_TRY(remember_groups(m, number));
    CR_TRY(make_functions(m));
    CR_TRY(cri_design_set_columns(cx, m->d, m->columns));
    CR_TRY(expand_all(m));
done:
    return st;
}

cr_status cri_design_fit_terms(cr_ctx *cx, const cr_table *t, const cri_design_plan *plan,
                               cr_design **out_design)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_maker  m = { .s = &s, .t = t, .plan = plan };

    if (plan->options->basis) {
        cr_fail(cx, CR_EARG, "--basis and --terms cannot both be given");
        CR_TRY(cr_fail_hint(cx, "write the basis as a term, such as bspline(x,8) for "
                                "--basis x=bspline:8"));
    }
    CR_TRY(cri_terms_resolve(&s, t, plan, &m.list));
    CR_TRY(make_columns(&m));
    CR_TRY(cri_maker_cross(&m));
    if (m.list.in_block) CR_TRY(cri_design_fit_block(cx, t, plan->options, m.list.in_block, m.d));
    *out_design = m.d;
    m.d = NULL;
done:
    cri_design_free(cx, m.d);
    cr_scratch_end(&s);
    return st;
}
