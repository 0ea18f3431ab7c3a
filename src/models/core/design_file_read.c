/* design_file_read.c -- a design from the JSON of the model file, every field checked. */
#include "design_file.h"
#include "base/context_internal.h"
#include "data/table/date.h"

#include <math.h>
#include <string.h>

cr_status cri_design_damaged(cr_ctx *cx, const cri_store *s, const char *what)
{
    return cr_fail(cx, CR_EDATA, "%s: the design in the model file is not valid: %s",
                   cri_store_source(s), what);
}

static cr_status read_type(cr_ctx *cx, const cri_store *s, const json_t *in, cr_type *out)
{
    const char *name;
    cr_status   st = cri_store_get_text(cx, s, in, "type", &name);
    if (st != CR_OK) return st;
    for (int t = CR_REAL; t <= CR_DATETIME; t++)
        if (strcmp(name, cr_type_name((cr_type)t)) == 0) return *out = (cr_type)t, CR_OK;
    return cri_design_damaged(cx, s, "an unknown column type");
}

static cr_status read_levels(cr_ctx *cx, const cri_store *s, const json_t *in, cri_design_column *c)
{
    json_t   *levels;
    cr_status st = cri_store_get_array(cx, s, in, "levels", &levels);
    if (st != CR_OK) return st;
    size_t n = json_array_size(levels);
    c->levels = cr_alloc(cx, n, sizeof *c->levels);
    if (!c->levels) return CR_ENOMEM;
    c->n_levels = n;
    for (size_t k = 0; k < n; k++) {
        const char *text = json_string_value(json_array_get(levels, k));
        if (!text) return cri_design_damaged(cx, s, "a level is not a text");
        if (k > 0 && strcmp(c->levels[k - 1], text) >= 0)
            return cri_design_damaged(cx, s, "the levels are not in order");
        c->levels[k] = cri_string_copy(cx, text);
        if (!c->levels[k]) return CR_ENOMEM;
    }
    json_int_t reference = json_integer_value(json_object_get(in, "reference"));
    if (reference < CRI_NO_LEVEL || reference >= (json_int_t)(n ? n : 1))
        return cri_design_damaged(cx, s, "the reference level is out of range");
    c->reference = (int)reference;
    if (!(c->fill >= 0 && c->fill < (double)(n ? n : 1)))
        return cri_design_damaged(cx, s, "the level for missing values is out of range");
    return CR_OK;
}

/* That a category is read as texts, and those that came after its levels. */
static cr_status read_later_texts(cr_ctx *cx, const cri_store *s, const json_t *in,
                                  cri_design_column *c)
{
    json_t   *array;
    cr_status st = cri_store_get_array(cx, s, in, "texts", &array);
    if (st != CR_OK) return st;
    if (c->type != CR_CATEGORY) return cri_design_damaged(cx, s, "a column of numbers has texts");
    c->texts = true;
    for (size_t k = 0; k < json_array_size(array); k++) {
        const char *text = json_string_value(json_array_get(array, k));
        uint32_t    code;
        if (!text) return cri_design_damaged(cx, s, "a text is none");
        st = cri_dictionary_code(cx, &c->later, text, strlen(text), &code);
        if (st != CR_OK) return st;
        if (code != k) return cri_design_damaged(cx, s, "a text occurs twice");
    }
    return CR_OK;
}

/* The member `key`, an array of n finite numbers, into out; left as it is when it is not there. */
static cr_status read_numbers(cr_ctx *cx, const cri_store *s, const json_t *in, const char *key,
                              size_t n, double *out)
{
    const json_t *array = json_object_get(in, key);
    if (!array) return CR_OK;
    if (json_array_size(array) != n)
        return cri_design_damaged(cx, s, "an array of numbers is cut short");
    for (size_t k = 0; k < n; k++) {
        if (!json_is_number(json_array_get(array, k)))
            return cri_design_damaged(cx, s, "an array has something that is not a number");
        out[k] = json_number_value(json_array_get(array, k));
    }
    return CR_OK;
}

/* The kind, knots and widths; what they must be is checked where the basis is made ready. */
static cr_status read_basis(cr_ctx *cx, const cri_store *s, const json_t *in, cri_basis *b)
{
    cr_status   st = CR_OK;
    const char *name;
    size_t      n = json_array_size(json_object_get(in, "knots"));
    int         kind = CRI_BASIS_RBF;
    CR_TRY(cri_store_get_text(cx, s, in, "kind", &name));
    while (kind < CRI_BASIS_KINDS && strcmp(name, cri_basis_kind_name((cri_basis_kind)kind)) != 0)
        kind++;
    if (kind == CRI_BASIS_KINDS) CR_TRY(cri_design_damaged(cx, s, "an unknown basis"));
    if (n > CRI_MOST_FUNCTIONS + 1) CR_TRY(cri_design_damaged(cx, s, "a basis has too many knots"));
    b->kind = (cri_basis_kind)kind;
    if (b->kind == CRI_BASIS_BSPLINE) CR_TRY(cri_store_get_count(cx, s, in, "degree", &b->degree));
    if (b->kind == CRI_BASIS_FOURIER) {
        CR_TRY(cri_store_get_count(cx, s, in, "functions", &b->n));
        CR_TRY(cri_store_get_real(cx, s, in, "period", &b->period));
    }
    b->knots = cr_alloc(cx, n, sizeof *b->knots);
    if (!b->knots) CR_TRY(CR_ENOMEM);
    b->n_knots = n;
    CR_TRY(read_numbers(cx, s, in, "knots", n, b->knots));
    if (b->kind == CRI_BASIS_RBF) {
        b->widths = cr_alloc(cx, n, sizeof *b->widths);
        if (!b->widths) CR_TRY(CR_ENOMEM);
        CR_TRY(read_numbers(cx, s, in, "widths", n, b->widths));
    }
    st = cri_basis_prepare(cx, b);
    if (st == CR_EDATA) st = cri_design_damaged(cx, s, "the knots of a basis are not valid");
done:
    return st;
}

static cr_status read_name(cr_ctx *cx, const cri_store *s, const json_t *in, char **out)
{
    if (!json_is_string(in)) return cri_design_damaged(cx, s, "the name of a column is not a text");
    *out = cri_string_copy(cx, json_string_value(in));
    return *out ? CR_OK : CR_ENOMEM;
}

static cr_status read_column(cr_ctx *cx, const cri_store *s, const json_t *in, cri_design_column *c)
{
    cr_status   st = CR_OK;
    const char *name;
    bool        made = json_object_get(in, "made") != NULL;
    c->reference = CRI_NO_LEVEL;
    CR_TRY(cri_store_get_text(cx, s, in, "name", &name));
    CR_TRY(read_type(cx, s, in, &c->type));
    CR_TRY(cri_store_get_real(cx, s, in, "fill", &c->fill));
    c->name = cri_string_copy(cx, name);
    if (!c->name) CR_TRY(CR_ENOMEM);
    if (cri_is_date(c->type)) CR_TRY(cri_store_get_real(cx, s, in, "origin", &c->origin));
    if (cri_is_date(c->type) && json_object_get(in, "format"))
        CR_TRY(read_name(cx, s, json_object_get(in, "format"), &c->format));
    c->percent = json_is_true(json_object_get(in, "percent"));
    if (c->type == CR_CATEGORY && !made) CR_TRY(read_levels(cx, s, in, c));
    if (json_object_get(in, "texts")) CR_TRY(read_later_texts(cx, s, in, c));
    c->varying = json_is_true(json_object_get(in, "varying"));
    if (c->varying && (c->type != CR_CATEGORY || made || c->texts || c->n_levels == 0))
        CR_TRY(cri_design_damaged(cx, s, "the groups of a varying intercept are not a category"));
    if (json_object_get(in, "basis")) {
        if (c->type == CR_CATEGORY) CR_TRY(cri_design_damaged(cx, s, "a category has a basis"));
        CR_TRY(read_basis(cx, s, json_object_get(in, "basis"), &c->basis));
    }
done:
    return st;
}

/* The columns: those that are read first, then those made of them. */
static cr_status read_columns(cr_ctx *cx, const cri_store *s, const json_t *columns, cr_design *d)
{
    cr_status st = CR_OK;
    d->n_read = 0;
    for (size_t i = 0; i < d->n_columns; i++) {
        const json_t *in = json_array_get(columns, i), *made = json_object_get(in, "made");
        CR_TRY(read_column(cx, s, in, &d->columns[i]));
        if (made)
            CR_TRY(cri_made_read(cx, s, made, d, i, &d->columns[i]));
        else if (d->n_read++ < i)
            CR_TRY(cri_design_damaged(cx, s, "a raw column comes after a computed one"));
    }
done:
    return st;
}

static cr_status read_term(cr_ctx *cx, const cri_store *s, const json_t *in, cr_design *d, size_t k)
{
    cr_status        st = CR_OK;
    cri_design_term *t = &d->terms[k];
    size_t           j = d->block.n + k;
    const char      *name;
    size_t           power;
    CR_TRY(cri_store_get_text(cx, s, in, "name", &name));
    CR_TRY(cri_store_get_count(cx, s, in, "column", &t->column));
    CR_TRY(cri_store_get_count(cx, s, in, "power", &power));
    CR_TRY(cri_store_get_count(cx, s, in, "level", &t->level));
    CR_TRY(cri_store_get_real(cx, s, in, "shift", &d->shift[j]));
    CR_TRY(cri_store_get_real(cx, s, in, "scale", &d->scale[j]));
    if (t->column >= d->n_columns || d->columns[t->column].varying)
        CR_TRY(cri_design_damaged(cx, s, "a term names no column"));
    const cri_design_column *c = &d->columns[t->column];
    bool                     category = c->type == CR_CATEGORY;
    bool                     basis = c->basis.kind != CRI_BASIS_NONE;
    if (power > 64 || ((category || basis) != (power == 0)) ||
        (category && t->level >= c->n_levels) || (basis && t->level >= c->basis.n))
        CR_TRY(cri_design_damaged(cx, s, "a term is out of range"));
    if (!(d->scale[j] > 0)) CR_TRY(cri_design_damaged(cx, s, "a scale is not positive"));
    t->power = (unsigned)power;
    if (power > 1 && json_object_get(in, "centre"))
        CR_TRY(cri_store_get_real(cx, s, in, "centre", &t->centre));
    if (!isfinite(t->centre)) CR_TRY(cri_design_damaged(cx, s, "a centre is not finite"));
    t->code = json_is_true(json_object_get(in, "code"));
    if (t->code && (!category || d->shift[j] != 0 || d->scale[j] != 1))
        CR_TRY(cri_design_damaged(cx, s, "a code is not that of a category"));
    t->name = cri_string_copy(cx, name);
    if (!t->name) CR_TRY(CR_ENOMEM);
done:
    return st;
}

/* The columns in use: increasing, counted from 1, of `width`. */
static cr_status read_index(cr_ctx *cx, const cri_store *s, const json_t *array, size_t width,
                            uint32_t *out)
{
    json_int_t last = 0;
    for (size_t k = 0; k < json_array_size(array); k++) {
        json_int_t number = json_integer_value(json_array_get(array, k));
        if (number <= last || (uint64_t)number > width)
            return cri_design_damaged(cx, s, "the sparse columns are out of range");
        out[k] = (uint32_t)(number - 1);
        last = number;
    }
    return CR_OK;
}

static cr_status read_block(cr_ctx *cx, const cri_store *s, const json_t *in, cr_design *d)
{
    cr_status     st = CR_OK;
    const json_t *listed = json_object_get(in, "index");
    size_t        width, n;
    uint32_t     *index = NULL;
    CR_TRY(cri_store_get_count(cx, s, in, "columns", &width));
    n = listed ? json_array_size(listed) : width;
    if (n == 0 || n > width || width >= UINT32_MAX)
        CR_TRY(cri_design_damaged(cx, s, "the number of sparse columns is out of range"));
    if (listed) {
        index = cr_alloc(cx, n, sizeof *index);
        if (!index) CR_TRY(CR_ENOMEM);
        CR_TRY(read_index(cx, s, listed, width, index));
    }
    CR_TRY(cri_design_add_block(cx, d, n, width, index, json_object_get(in, "fill") != NULL));
    CR_TRY(read_type(cx, s, in, &d->block.type));
    if (d->block.type == CR_CATEGORY)
        CR_TRY(cri_design_damaged(cx, s, "sparse columns are not categories"));
    CR_TRY(read_numbers(cx, s, in, "shift", n, d->shift));
    CR_TRY(read_numbers(cx, s, in, "scale", n, d->scale));
    for (size_t j = 0; j < n; j++)
        if (!(d->scale[j] > 0)) CR_TRY(cri_design_damaged(cx, s, "a scale is not positive"));
    if (d->block.fill) CR_TRY(read_numbers(cx, s, in, "fill", n, d->block.fill));
done:
    if (index) cr_free(cx, index, n, sizeof *index);
    return st;
}

/* Classes are codes 0 .. n_levels-1, by which arrays are addressed: nothing rescales them. */
static cr_status read_transform(cr_ctx *cx, const cri_store *s, const json_t *opt_in, cr_design *d)
{
    cr_status     st = CR_OK;
    const char   *name;
    cri_transform t = { CRI_TRANSFORM_LOG, 0 };
    if (!opt_in) goto done;
    CR_TRY(cri_store_get_text(cx, s, opt_in, "kind", &name));
    CR_TRY(cri_store_get_real(cx, s, opt_in, "lambda", &t.lambda));
    if (json_object_get(opt_in, "learned_from"))
        CR_TRY(cri_store_get_real(cx, s, opt_in, "learned_from", &d->power_rows));
    if (!(d->power_rows >= 0))
        CR_TRY(cri_design_damaged(cx, s, "a power is learned from fewer rows than none"));
    while (t.kind < CRI_TRANSFORM_KINDS && strcmp(name, cri_transform_name(t.kind)) != 0) t.kind++;
    if (t.kind == CRI_TRANSFORM_KINDS)
        CR_TRY(cri_design_damaged(cx, s, "an unknown function of the target"));
    d->transform = t;
done:
    return st;
}

static cr_status read_target(cr_ctx *cx, const cri_store *s, const json_t *in, cr_design *d)
{
    cr_status st = CR_OK;
    CR_TRY(read_column(cx, s, in, &d->target));
    CR_TRY(cri_store_get_real(cx, s, in, "shift", &d->target_shift));
    CR_TRY(cri_store_get_real(cx, s, in, "scale", &d->target_scale));
    if (!(d->target_scale > 0))
        CR_TRY(cri_design_damaged(cx, s, "the target's scale is not positive"));
    if (d->target.basis.kind != CRI_BASIS_NONE || d->target.texts || d->target.varying ||
        json_object_get(in, "made"))
        CR_TRY(cri_design_damaged(cx, s, "the target is also a feature"));
    CR_TRY(read_transform(cx, s, json_object_get(in, "transform"), d));
    if (d->target.type != CR_CATEGORY) goto done;
    if (d->target.n_levels == 0) CR_TRY(cri_design_damaged(cx, s, "the target has no classes"));
    if (d->target_shift != 0 || d->target_scale != 1 || d->transform.kind != CRI_TRANSFORM_NONE)
        CR_TRY(cri_design_damaged(cx, s, "the classes of the target are scaled"));
done:
    return st;
}

static cr_status read_roles(cr_ctx *cx, const cri_store *s, const json_t *in, cr_design *d)
{
    cr_status st = CR_OK;
    json_t   *target = json_object_get(in, "target"), *weights = json_object_get(in, "weights");
    if (target) CR_TRY(read_target(cx, s, target, d));
    if (weights) CR_TRY(read_name(cx, s, weights, &d->weights));
    for (size_t k = 0; k < CRI_MOST_ROLES; k++) {
        json_t *role = json_object_get(in, cri_role_keys[k]);
        if (role) CR_TRY(read_name(cx, s, role, &d->roles[k]));
    }
    json_t *sequences = json_object_get(in, "sequences"), *by = json_object_get(sequences, "by");
    json_t *time = json_object_get(sequences, "time");
    d->sequences = sequences != NULL;
    d->series = json_is_true(json_object_get(sequences, "series"));
    if (by) CR_TRY(read_name(cx, s, by, &d->sequence));
    if (time) CR_TRY(read_name(cx, s, time, &d->time));
    d->standardised = json_is_true(json_object_get(in, "standardised"));
done:
    return st;
}

cr_status cri_design_read(cr_ctx *cx, const cri_store *s, const json_t *in, cr_missing missing,
                          cr_design **out_design)
{
    cr_status  st = CR_OK;
    json_t    *columns, *terms;
    cr_design *d = NULL;

    CR_TRY(cri_store_get_array(cx, s, in, "columns", &columns));
    CR_TRY(cri_store_get_array(cx, s, in, "terms", &terms));
    d = cri_design_new(cx, json_array_size(columns), json_array_size(terms));
    if (!d) CR_TRY(CR_ENOMEM);
    d->missing = missing;
    if (json_object_get(in, "sparse")) CR_TRY(read_block(cx, s, json_object_get(in, "sparse"), d));
    CR_TRY(read_columns(cx, s, columns, d));
    for (size_t j = 0; j < d->n_terms; j++)
        CR_TRY(read_term(cx, s, json_array_get(terms, j), d, j));
    CR_TRY(read_roles(cx, s, in, d));
    *out_design = d;
    d = NULL;
done:
    cri_design_free(cx, d);
    return st;
}
