/* grid.c -- tables for the curves and maps of figures. */
#include "grid.h"
#include "../data/table_internal.h"

#include <math.h>
#include <string.h>

static double mean_of(const cr_column *c, size_t rows)
{
    double sum = 0, n = 0;
    for (size_t i = 0; i < rows; i++) {
        double v = c->values[i * c->stride];
        if (!isfinite(v)) continue;
        n++;
        sum += (v - sum) / n; /* the mean so far */
    }
    return n > 0 ? sum : 0;
}

static cr_status hold_number(cr_ctx *cx, const cr_column *c, size_t rows, size_t n, cr_table *grid)
{
    double *v = cr_alloc(cx, n, sizeof *v), at = mean_of(c, rows);
    if (!v) return CR_ENOMEM;
    if (c->type != CR_REAL) at = round(at);
    for (size_t i = 0; i < n; i++) v[i] = at;
    return cri_table_own_numbers(cx, grid, c->name, c->type, v);
}

static cr_status hold_category(cr_ctx *cx, const cr_column *c, size_t rows, size_t n, cr_table *grid)
{
    uint32_t *codes = cr_alloc(cx, n, sizeof *codes), code = CR_MISSING_CODE;
    if (!codes) return CR_ENOMEM;
    for (size_t i = 0; i < rows && code == CR_MISSING_CODE; i++) code = c->codes[i];
    for (size_t i = 0; i < n; i++) codes[i] = code;
    return cri_table_own_codes(cx, grid, c, codes);
}

static cr_status all_levels(cr_ctx *cx, const cr_column *c, cr_table *grid)
{
    uint32_t *codes = cr_alloc(cx, c->n_levels, sizeof *codes);
    if (!codes) return CR_ENOMEM;
    for (size_t i = 0; i < c->n_levels; i++) codes[i] = (uint32_t)i;
    return cri_table_own_codes(cx, grid, c, codes);
}

/* As cri_grid_table; with opt_levels, n is how many that column has. */
static cr_status make_grid(cr_ctx *cx, const cr_table *t, size_t n, const char *const *names,
                           const double *const *values, size_t n_names, const char *opt_levels, cr_table **out)
{
    cr_status st = CR_OK;
    cr_table *grid = NULL;
    CR_TRY(cr_table_new(cx, "the grid of the figure", n, &grid));
    for (size_t j = 0; j < cr_table_columns(t); j++) {
        const cr_column *c = cr_table_column(t, j);
        size_t           k = 0;
        if (!c) CR_TRY(CR_ENOMEM);
        while (k < n_names && strcmp(names[k], c->name) != 0) k++;
        if (k < n_names)
            CR_TRY(cr_table_borrow_numbers(cx, grid, c->name, CR_REAL, values[k], 1));
        else if (opt_levels && strcmp(opt_levels, c->name) == 0)
            CR_TRY(all_levels(cx, c, grid));
        else if (c->type == CR_CATEGORY)
            CR_TRY(hold_category(cx, c, cr_table_rows(t), n, grid));
        else
            CR_TRY(hold_number(cx, c, cr_table_rows(t), n, grid));
    }
    *out = grid;
    grid = NULL;
done:
    cr_table_free(cx, grid);
    return st;
}

cr_status cri_grid_table(cr_ctx *cx, const cr_table *t, size_t n, const char *const *names,
                         const double *const *values, size_t n_names, cr_table **out)
{
    return make_grid(cx, t, n, names, values, n_names, NULL, out);
}

cr_status cri_grid_levels(cr_ctx *cx, const cr_table *t, const char *name, cr_table **out)
{
    const cr_column *c = cr_table_find(t, name);
    if (!c || c->type != CR_CATEGORY)
        return cr_fail(cx, CR_EDATA, "%s: the column '%s' has no levels to draw", cr_table_source(t), name);
    return make_grid(cx, t, c->n_levels, NULL, NULL, 0, name, out);
}

cr_status cri_grid_range(cr_ctx *cx, const cr_table *t, const char *name, const double *opt_y,
                         double *out_low, double *out_high)
{
    const cr_column *c = cr_table_find(t, name);
    double           low = INFINITY, high = -INFINITY;
    for (size_t i = 0; c && c->type != CR_CATEGORY && i < cr_table_rows(t); i++) {
        double v = c->values[i * c->stride];
        if (!isfinite(v) || (opt_y && !isfinite(opt_y[i]))) continue;
        low = fmin(low, v);
        high = fmax(high, v);
    }
    if (!(low <= high))
        return cr_fail(cx, CR_EDATA, "%s: the column '%s' has no number to draw", cr_table_source(t), name);
    *out_low = low;
    *out_high = high;
    return CR_OK;
}
