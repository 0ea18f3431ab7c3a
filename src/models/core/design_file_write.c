/* design_file_write.c -- a design as JSON in the model file. */
#include "design_file.h"
#include "data/table/date.h"

const char *const cri_role_keys[CRI_MOST_ROLES] = { "role1", "role2", "role3", "role4" };

static json_t *texts(char *const *a, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; array && i < n; i++) {
        if (json_array_append_new(array, json_string_nocheck(a[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

/* n numbers as an array; NULL on failure. */
static json_t *numbers(const double *a, size_t n)
{
    json_t *array = json_array();
    for (size_t j = 0; array && j < n; j++) {
        if (json_array_append_new(array, json_real(a[j])) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

/* The basis of a column: its kind and what was learned. */
static cr_status write_basis(cr_ctx *cx, const cri_basis *b, json_t *out)
{
    cr_status st = CR_OK;
    CR_TRY(cri_store_set(cx, out, "kind", json_string(cri_basis_kind_name(b->kind))));
    if (b->kind == CRI_BASIS_BSPLINE)
        CR_TRY(cri_store_set(cx, out, "degree", json_integer((json_int_t)b->degree)));
    if (b->kind == CRI_BASIS_FOURIER) {
        CR_TRY(cri_store_set(cx, out, "functions", json_integer((json_int_t)b->n)));
        CR_TRY(cri_store_set(cx, out, "period", json_real(b->period)));
    } else {
        CR_TRY(cri_store_set(cx, out, "knots", numbers(b->knots, b->n_knots)));
    }
    if (b->widths) CR_TRY(cri_store_set(cx, out, "widths", numbers(b->widths, b->n_knots)));
done:
    return st;
}

static cr_status write_column(cr_ctx *cx, const cri_design_column *c, json_t *out)
{
    cr_status st = CR_OK;
    json_t   *basis, *made;
    CR_TRY(cri_store_set(cx, out, "name", json_string_nocheck(c->name)));
    CR_TRY(cri_store_set(cx, out, "type", json_string(cr_type_name(c->type))));
    CR_TRY(cri_store_set(cx, out, "fill", json_real(c->fill)));
    if (c->made.kind != CRI_MADE_NOT) {
        CR_TRY(cri_store_set(cx, out, "made", made = json_object()));
        CR_TRY(cri_made_write(cx, &c->made, made));
    } else if (c->type == CR_CATEGORY) {
        CR_TRY(cri_store_set(cx, out, "levels", texts(c->levels, c->n_levels)));
        CR_TRY(cri_store_set(cx, out, "reference", json_integer(c->reference)));
        if (c->varying) CR_TRY(cri_store_set(cx, out, "varying", json_true()));
        if (c->texts) CR_TRY(cri_store_set(cx, out, "texts", texts(c->later.texts, c->later.n)));
    }
    if (cri_is_date(c->type)) CR_TRY(cri_store_set(cx, out, "origin", json_real(c->origin)));
    if (c->percent) CR_TRY(cri_store_set(cx, out, "percent", json_true()));
    if (c->format) CR_TRY(cri_store_set(cx, out, "format", json_string_nocheck(c->format)));
    if (c->basis.kind != CRI_BASIS_NONE) {
        CR_TRY(cri_store_set(cx, out, "basis", basis = json_object()));
        CR_TRY(write_basis(cx, &c->basis, basis));
    }
done:
    return st;
}

static cr_status write_term(cr_ctx *cx, const cr_design *d, size_t k, json_t *out)
{
    cr_status              st = CR_OK;
    const cri_design_term *t = &d->terms[k];
    size_t                 j = d->block.n + k;
    CR_TRY(cri_store_set(cx, out, "name", json_string_nocheck(t->name)));
    CR_TRY(cri_store_set(cx, out, "column", json_integer((json_int_t)t->column)));
    CR_TRY(cri_store_set(cx, out, "power", json_integer((json_int_t)t->power)));
    CR_TRY(cri_store_set(cx, out, "level", json_integer((json_int_t)t->level)));
    if (t->centre != 0) CR_TRY(cri_store_set(cx, out, "centre", json_real(t->centre)));
    if (t->code) CR_TRY(cri_store_set(cx, out, "code", json_true()));
    CR_TRY(cri_store_set(cx, out, "shift", json_real(d->shift[j])));
    CR_TRY(cri_store_set(cx, out, "scale", json_real(d->scale[j])));
done:
    return st;
}

static bool all_are(const double *a, size_t n, double value)
{
    for (size_t j = 0; j < n; j++)
        if (a[j] != value) return false;
    return true;
}

/* The sparse block: how many columns x1, x2, ... there were, which of them are used if not all, and
 * their numbers where these are not the plain ones. */
static cr_status write_block(cr_ctx *cx, const cr_design *d, json_t *out)
{
    cr_status               st = CR_OK;
    const cri_design_block *b = &d->block;
    json_t                 *index = NULL;
    CR_TRY(cri_store_set(cx, out, "columns", json_integer((json_int_t)b->width)));
    CR_TRY(cri_store_set(cx, out, "type", json_string(cr_type_name(b->type))));
    if (b->index) CR_TRY(cri_store_set(cx, out, "index", index = json_array()));
    for (size_t k = 0; b->index && k < b->n; k++)
        if (json_array_append_new(index, json_integer((json_int_t)b->index[k] + 1)) != 0)
            CR_TRY(cr_fail(cx, CR_ENOMEM, "out of memory"));
    if (!all_are(d->shift, b->n, 0))
        CR_TRY(cri_store_set(cx, out, "shift", numbers(d->shift, b->n)));
    if (!all_are(d->scale, b->n, 1))
        CR_TRY(cri_store_set(cx, out, "scale", numbers(d->scale, b->n)));
    if (b->fill) CR_TRY(cri_store_set(cx, out, "fill", numbers(b->fill, b->n)));
done:
    return st;
}

/* Appends a new object to the array; NULL on failure. */
static json_t *append_object(json_t *array)
{
    json_t *object = json_object();
    return json_array_append_new(array, object) == 0 ? object : NULL;
}

/* The function of the target that the model sees; nothing where it is the target itself. */
static cr_status write_transform(cr_ctx *cx, const cr_design *d, json_t *out)
{
    cr_status st = CR_OK;
    json_t   *part;
    if (d->transform.kind == CRI_TRANSFORM_NONE) goto done;
    CR_TRY(cri_store_set(cx, out, "transform", part = json_object()));
    CR_TRY(cri_store_set_text(cx, part, "kind", cri_transform_name(d->transform.kind)));
    CR_TRY(cri_store_set_real(cx, part, "lambda", d->transform.lambda));
    if (d->power_rows > 0) CR_TRY(cri_store_set_real(cx, part, "learned_from", d->power_rows));
done:
    return st;
}

cr_status cri_design_write(cr_ctx *cx, const cr_design *d, json_t *out)
{
    cr_status st = CR_OK;
    json_t   *columns = json_array(), *terms = json_array(), *target = NULL, *block = NULL, *item;

    CR_TRY(cri_store_set(cx, out, "columns", columns));
    CR_TRY(cri_store_set(cx, out, "terms", terms));
    if (d->block.n > 0) {
        CR_TRY(cri_store_set(cx, out, "sparse", block = json_object()));
        CR_TRY(write_block(cx, d, block));
    }
    for (size_t i = 0; i < d->n_columns; i++) {
        if (!(item = append_object(columns))) CR_TRY(cr_fail(cx, CR_ENOMEM, "out of memory"));
        CR_TRY(write_column(cx, &d->columns[i], item));
    }
    for (size_t j = 0; j < d->n_terms; j++) {
        if (!(item = append_object(terms))) CR_TRY(cr_fail(cx, CR_ENOMEM, "out of memory"));
        CR_TRY(write_term(cx, d, j, item));
    }
    if (d->target.name) {
        CR_TRY(cri_store_set(cx, out, "target", target = json_object()));
        CR_TRY(write_column(cx, &d->target, target));
        CR_TRY(cri_store_set(cx, target, "shift", json_real(d->target_shift)));
        CR_TRY(cri_store_set(cx, target, "scale", json_real(d->target_scale)));
        CR_TRY(write_transform(cx, d, target));
    }
    if (d->weights) CR_TRY(cri_store_set(cx, out, "weights", json_string_nocheck(d->weights)));
    for (size_t k = 0; k < CRI_MOST_ROLES; k++)
        if (d->roles[k])
            CR_TRY(cri_store_set(cx, out, cri_role_keys[k], json_string_nocheck(d->roles[k])));
    if (d->sequences) {
        CR_TRY(cri_store_set(cx, out, "sequences", item = json_object()));
        if (d->sequence) CR_TRY(cri_store_set(cx, item, "by", json_string_nocheck(d->sequence)));
        if (d->time) CR_TRY(cri_store_set(cx, item, "time", json_string_nocheck(d->time)));
        if (d->series) CR_TRY(cri_store_set(cx, item, "series", json_true()));
    }
    CR_TRY(cri_store_set(cx, out, "standardised", json_boolean(d->standardised)));
done:
    return st;
}
