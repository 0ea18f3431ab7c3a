/* design_made_file.c -- the columns that a design makes, as JSON in the model file, and back. */
#include "design_file.h"
#include "data/table/date.h"

#include <string.h>

static const char *const kinds[] = { NULL, "function", "product", "cross" };

/* --- writing --------------------------------------------------------------------------------- */

cr_status cri_made_write(cr_ctx *cx, const cri_made *m, json_t *out)
{
    cr_status st = CR_OK;
    json_t   *factors = json_array();
    CR_TRY(cri_store_set(cx, out, "factors", factors));
    CR_TRY(cri_store_set(cx, out, "kind", json_string(kinds[m->kind])));
    if (m->kind == CRI_MADE_FUNCTION)
        CR_TRY(
            cri_store_set(cx, out, "function", json_string(cri_function_name(m->step.function))));
    if (m->step.power > 0)
        CR_TRY(cri_store_set(cx, out, "power", json_integer((json_int_t)m->step.power)));
    if (m->by > 0) CR_TRY(cri_store_set(cx, out, "by", json_integer((json_int_t)m->by - 1)));
    for (size_t i = 0; i < m->n; i++) {
        const cri_design_term *f = &m->factors[i];
        json_t                *triple =
            json_pack("[I,I,I]", (json_int_t)f->column, (json_int_t)f->power, (json_int_t)f->level);
        if (json_array_append_new(factors, triple) != 0)
            CR_TRY(cr_fail(cx, CR_ENOMEM, "out of memory"));
    }
done:
    return st;
}

/* --- reading --------------------------------------------------------------------------------- */

/* The integer at place k of a triple; SIZE_MAX where there is none. */
static size_t read_integer(const json_t *triple, size_t k)
{
    const json_t *x = json_array_get(triple, k);
    return json_is_integer(x) && json_integer_value(x) >= 0 ? (size_t)json_integer_value(x)
                                                            : SIZE_MAX;
}

/* Whether a factor may be: of a cross the categories themselves, of a function a number, of a
 * product what a term may be. */
static bool is_factor(const cr_design *d, const cri_made *m, const cri_design_term *f)
{
    const cri_design_column *c = &d->columns[f->column];
    if (c->varying) return false;
    bool category = c->type == CR_CATEGORY, basis = c->basis.kind != CRI_BASIS_NONE;
    if (m->kind == CRI_MADE_CROSS) return category && c->made.by == 0 && !c->texts;
    bool dates = cri_function_of_dates(m->step.function);
    if (m->kind == CRI_MADE_FUNCTION)
        return !category && !basis && f->power == 1 && (!dates || cri_is_date(c->type));
    if (category) return f->power == 0 && f->level < c->n_levels;
    if (basis) return f->power == 0 && f->level < c->basis.n;
    return f->power >= 1 && f->power <= CRI_MOST_POWERS;
}

static cr_status read_factors(cr_ctx *cx, const cri_store *s, const json_t *in, const cr_design *d,
                              size_t before, cri_made *m)
{
    json_t   *array;
    cr_status st = cri_store_get_array(cx, s, in, "factors", &array);
    if (st != CR_OK) return st;
    size_t n = json_array_size(array);
    if (n == 0 || n > CRI_MOST_FACTORS + 1 || (m->kind == CRI_MADE_FUNCTION && n > 1))
        return cri_design_damaged(cx, s, "a column is computed from too many columns or none");
    m->factors = cr_alloc(cx, n, sizeof *m->factors);
    if (!m->factors) return CR_ENOMEM;
    m->n = n;
    for (size_t i = 0; i < n; i++) {
        const json_t   *triple = json_array_get(array, i);
        size_t          power = read_integer(triple, 1);
        cri_design_term f = { .column = read_integer(triple, 0), .level = read_integer(triple, 2) };
        f.power = power > CRI_MOST_POWERS ? CRI_MOST_POWERS + 1 : (unsigned)power;
        if (f.column >= before || f.level == SIZE_MAX || !is_factor(d, m, &f))
            return cri_design_damaged(cx, s, "a column is computed from one that does not exist");
        m->factors[i] = f;
    }
    return CR_OK;
}

static cr_status read_step(cr_ctx *cx, const cri_store *s, const json_t *in, cri_term_step *out)
{
    const char *name;
    int         f = 0;
    cr_status   st = cri_store_get_text(cx, s, in, "function", &name);
    if (st != CR_OK) return st;
    while (f < CRI_FUNCTIONS && strcmp(cri_function_name((cri_function)f), name) != 0) f++;
    if (f == CRI_FUNCTIONS) return cri_design_damaged(cx, s, "an unknown function");
    out->function = (cri_function)f;
    json_int_t power = json_integer_value(json_object_get(in, "power"));
    if (f == CRI_FUNCTION_POWER ? power < 2 || power > CRI_MOST_POWERS : power != 0)
        return cri_design_damaged(cx, s, "a power is out of range");
    out->power = (unsigned)power;
    return CR_OK;
}

/* The numbers that multiply a cross. */
static cr_status read_by(cr_ctx *cx, const cri_store *s, const json_t *in, const cr_design *d,
                         size_t before, cri_made *m)
{
    const json_t *by = json_object_get(in, "by");
    if (!by) return CR_OK;
    json_int_t k = json_is_integer(by) ? json_integer_value(by) : -1;
    bool       fits = m->kind == CRI_MADE_CROSS && k >= 0 && (uint64_t)k < before &&
                d->columns[k].type != CR_CATEGORY && d->columns[k].basis.kind == CRI_BASIS_NONE;
    if (!fits)
        return cri_design_damaged(cx, s, "levels are multiplied by a column that does not exist");
    m->by = (size_t)k + 1;
    return CR_OK;
}

cr_status cri_made_read(cr_ctx *cx, const cri_store *s, const json_t *in, const cr_design *d,
                        size_t before, cri_design_column *c)
{
    cr_status   st = CR_OK;
    cri_made   *m = &c->made;
    const char *kind;
    CR_TRY(cri_store_get_text(cx, s, in, "kind", &kind));
    for (int k = CRI_MADE_FUNCTION; k <= CRI_MADE_CROSS; k++)
        if (strcmp(kind, kinds[k]) == 0) m->kind = (cri_made_kind)k;
    if (m->kind == CRI_MADE_NOT) CR_TRY(cri_design_damaged(cx, s, "an unknown kind of column"));
    if (m->kind == CRI_MADE_FUNCTION) CR_TRY(read_step(cx, s, in, &m->step));
    CR_TRY(read_factors(cx, s, in, d, before, m));
    CR_TRY(read_by(cx, s, in, d, before, m));
    cr_type type = m->kind == CRI_MADE_CROSS ? CR_CATEGORY
                   : m->kind == CRI_MADE_FUNCTION
                       ? cri_function_type(m->step.function, d->columns[m->factors[0].column].type)
                       : CR_REAL;
    if (c->type != type) CR_TRY(cri_design_damaged(cx, s, "a computed column has the wrong type"));
    if (type == CR_CATEGORY) CR_TRY(cri_made_set_levels(cx, d, c));
done:
    return st;
}
