/* design.c -- the life of a design, and what it tells of itself. */
#include "made.h"
#include "base/context_internal.h"

#include <string.h>

CR_OPTIONS_TABLE(, cr_design_table, cr_design_options, CR_DESIGN_OPTIONS);

cr_design *cri_design_new(cr_ctx *cx, size_t n_columns, size_t n_terms)
{
    cr_design *d = cr_alloc(cx, 1, sizeof *d);
    if (!d) return NULL;
    d->n_columns = d->n_read = n_columns;
    d->n_terms = d->p = n_terms;
    d->target_scale = 1;
    d->columns = cr_alloc(cx, n_columns, sizeof *d->columns);
    d->terms = cr_alloc(cx, n_terms, sizeof *d->terms);
    d->shift = cr_alloc(cx, n_terms, sizeof *d->shift);
    d->scale = cr_alloc(cx, n_terms, sizeof *d->scale);
    if (!d->columns || !d->terms || !d->shift || !d->scale) {
        cri_design_free(cx, d);
        return NULL;
    }
    for (size_t j = 0; j < n_terms; j++) d->scale[j] = 1;
    return d;
}

cr_status cri_design_set_columns(cr_ctx *cx, cr_design *d, size_t n)
{
    cri_design_column *columns = cr_resize(cx, d->columns, d->n_columns, n, sizeof *columns);
    if (!columns) return CR_ENOMEM;
    for (size_t i = d->n_columns; i < n; i++) columns[i] = (cri_design_column){ 0 };
    d->columns = columns;
    d->n_columns = n;
    return CR_OK;
}

cr_status cri_design_set_terms(cr_ctx *cx, cr_design *d, size_t n)
{
    cri_design_term *terms = cr_alloc(cx, n, sizeof *terms);
    double *shift = cr_alloc(cx, n, sizeof *shift), *scale = cr_alloc(cx, n, sizeof *scale);
    if (!terms || !shift || !scale) {
        cr_free(cx, terms, n, sizeof *terms);
        cr_free(cx, shift, n, sizeof *shift);
        cr_free(cx, scale, n, sizeof *scale);
        return CR_ENOMEM;
    }
    for (size_t j = 0; j < n; j++) scale[j] = 1;
    cr_free(cx, d->terms, d->n_terms, sizeof *d->terms);
    cr_free(cx, d->shift, d->p, sizeof *d->shift);
    cr_free(cx, d->scale, d->p, sizeof *d->scale);
    d->terms = terms, d->shift = shift, d->scale = scale;
    d->n_terms = d->p = n;
    return CR_OK;
}

static void free_column(cr_ctx *cx, cri_design_column *c)
{
    for (size_t k = 0; c->levels && k < c->n_levels; k++) cri_string_free(cx, c->levels[k]);
    cr_free(cx, c->levels, c->n_levels, sizeof *c->levels);
    cri_string_free(cx, c->name);
    cri_string_free(cx, c->format);
    cri_basis_free(cx, &c->basis);
    cri_dictionary_free(cx, &c->later);
    cri_made_free(cx, &c->made);
}

cr_status cri_design_drop_inputs(cr_ctx *cx, cr_design *d)
{
    cri_design_column *columns = cr_alloc(cx, 0, sizeof *columns), *old = d->columns;
    cri_design_term   *terms = d->terms;
    size_t             n_columns = d->n_columns, n_terms = d->n_terms;
    d->terms = NULL;
    d->n_terms = 0;
    if (!columns || cri_design_set_terms(cx, d, 0) != CR_OK) {
        cr_free(cx, columns, 0, sizeof *columns);
        d->terms = terms, d->n_terms = n_terms;
        return CR_ENOMEM;
    }
    for (size_t i = 0; i < n_columns; i++) free_column(cx, &old[i]);
    for (size_t j = 0; j < n_terms; j++) cri_string_free(cx, terms[j].name);
    cr_free(cx, old, n_columns, sizeof *old);
    cr_free(cx, terms, n_terms, sizeof *terms);
    cri_design_free_block(cx, &d->block);
    d->block = (cri_design_block){ 0 };
    d->columns = columns;
    d->n_columns = d->n_read = 0;
    return CR_OK;
}

void cri_design_free(cr_ctx *cx, cr_design *d)
{
    if (!d) return;
    for (size_t i = 0; d->columns && i < d->n_columns; i++) free_column(cx, &d->columns[i]);
    for (size_t j = 0; d->terms && j < d->n_terms; j++) cri_string_free(cx, d->terms[j].name);
    free_column(cx, &d->target);
    cri_string_free(cx, d->weights);
    cri_string_free(cx, d->sequence);
    cri_string_free(cx, d->time);
    for (size_t k = 0; k < CRI_MOST_ROLES; k++) cri_string_free(cx, d->roles[k]);
    cri_design_free_block(cx, &d->block);
    cr_free(cx, d->columns, d->n_columns, sizeof *d->columns);
    cr_free(cx, d->terms, d->n_terms, sizeof *d->terms);
    cr_free(cx, d->shift, d->p, sizeof *d->shift);
    cr_free(cx, d->scale, d->p, sizeof *d->scale);
    cr_free(cx, d, 1, sizeof *d);
}

static const char *block_name(const cr_design *d, size_t j)
{
    return d->block.names + j * CR_NAME_SIZE;
}

const char *cr_design_term_name(const cr_design *d, size_t j)
{
    return j < d->block.n ? block_name(d, j) : d->terms[j - d->block.n].name;
}

const char *cr_design_column_name(const cr_design *d, size_t i)
{
    return i < d->block.n ? block_name(d, i) : d->columns[i - d->block.n].name;
}

cr_type cr_design_column_type(const cr_design *d, size_t i)
{
    return i < d->block.n ? d->block.type : d->columns[i - d->block.n].type;
}

double cr_design_column_origin(const cr_design *d, size_t i)
{
    return i < d->block.n ? 0 : d->columns[i - d->block.n].origin;
}

const char *cr_design_column_format(const cr_design *d, size_t i)
{
    return i < d->block.n ? NULL : d->columns[i - d->block.n].format;
}

size_t        cr_design_terms(const cr_design *d) { return d->p; }
const double *cr_design_shift(const cr_design *d) { return d->shift; }
const double *cr_design_scale(const cr_design *d) { return d->scale; }
size_t        cr_design_columns(const cr_design *d) { return d->block.n + d->n_read; }
size_t        cr_design_levels(const cr_design *d, size_t i)
{
    return i < d->block.n ? 0 : d->columns[i - d->block.n].n_levels;
}
const char *cr_design_level(const cr_design *d, size_t i, size_t k)
{
    return d->columns[i - d->block.n].levels[k];
}
const char *cr_design_target(const cr_design *d) { return d->target.name; }
const char *cr_design_weights(const cr_design *d) { return d->weights; }
const char *cr_design_time(const cr_design *d) { return d->time; }
size_t      cr_design_classes(const cr_design *d) { return d->target.n_levels; }
const char *cr_design_class(const cr_design *d, size_t i) { return d->target.levels[i]; }

bool cri_design_reads(const cr_design *d, const char *column)
{
    const char *others[] = { d->weights, d->sequence, d->time, d->series ? d->target.name : NULL };
    if (d->block.n > 0) return true; /* columns of a sparse block go by their places */
    for (size_t i = 0; i < d->n_columns; i++)
        if (strcmp(d->columns[i].name, column) == 0) return true;
    for (size_t k = 0; k < CRI_MOST_ROLES; k++)
        if (d->roles[k] && strcmp(d->roles[k], column) == 0) return true;
    for (size_t k = 0; k < 4; k++)
        if (others[k] && strcmp(others[k], column) == 0) return true;
    return false;
}

size_t cri_design_varying(const cr_design *d)
{
    for (size_t i = 0; i < d->n_read; i++)
        if (d->columns[i].varying) return i;
    return SIZE_MAX;
}
