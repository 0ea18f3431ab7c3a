/* gp_elements.c -- what the elements of a list of parameters are of: columns of numbers, levels of
 * a category. */
#include "models/kernel/inputs/gp_data.h"
#include "math/kernel/kernel_internal.h"

#include <string.h>

/* The term of the design that is the k-th of its kind. */
static size_t term_at(const cr_design *d, bool code, size_t k)
{
    size_t j = 0;
    while (j < d->p && (cri_design_is_code(d, j) != code || k-- > 0)) j++;
    return j;
}

/* A level of the category number `column`. */
static const char *level_of(const cr_design *d, size_t column, size_t level)
{
    size_t j = term_at(d, true, column);
    if (j >= d->p || j < d->block.n) return NULL;
    const cri_design_column *c = &d->columns[d->terms[j - d->block.n].column];
    return level < c->n_levels ? c->levels[level] : NULL;
}

/* What parameter i is of, when it is an element of a list: the column, or the level of a category;
 * else NULL. */
static const char *gp_element_of(const cr_kernel *k, size_t i, const cr_design *design)
{
    const cri_param *p = &k->params[i];
    const cri_node  *node = &k->nodes[p->node];
    size_t values = node->class ? node->n_values[p->spec - node->class->specs] : 0, numbers,
           categories;
    if (values < 2) return NULL;
    cri_gp_shape(design, &numbers, &categories);
    if (node->class == &cri_kernel_category) {
        size_t levels = (size_t)node->setting[0];
        return level_of(design, cri_column_at(k, node, 0),
                        levels ? p->element * levels / values : 0);
    }
    bool each = node->class->kind == CR_KERNEL_NUMBER &&
                values == (node->n_columns ? node->n_columns : numbers);
    if (!each) return NULL;
    size_t j = term_at(design, false, cri_column_at(k, node, p->element));
    return j < design->p ? cr_design_term_name(design, j) : NULL;
}

/* The parameter with this name; SIZE_MAX: none. */
static size_t find_parameter(const cr_kernel *k, const char *name)
{
    for (size_t i = 0; i < cr_kernel_parameters(k); i++)
        if (strcmp(cr_kernel_parameter_at(k, i).name, name) == 0) return i;
    return SIZE_MAX;
}

void cri_gp_report_elements(const cr_kernel *k, const cr_design *design, cri_sheet *list)
{
    bool any = false;
    for (size_t i = 0; i < cr_kernel_parameters(k); i++)
        any = any || (!cr_kernel_parameter_at(k, i).given && gp_element_of(k, i, design));
    for (cri_sheet *row = any ? cri_sheet_first(list) : NULL; row; row = cri_sheet_next(row)) {
        size_t i = find_parameter(k, cri_sheet_text(cri_sheet_get(row, "name")));
        cri_put_text(row, "of", i == SIZE_MAX ? NULL : gp_element_of(k, i, design));
    }
}
