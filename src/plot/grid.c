/* grid.c -- tables for the curves and maps of figures. */
#include "grid.h"
#include "chart.h"
#include "base/sort.h"
#include "data/table/date.h"
#include "data/table/table_internal.h"
#include "models/core/faces.h"

#include <math.h>
#include <string.h>

enum { MOST_TOLD = 4 };

/* --- what the other columns are held at ------------------------------------------------------ */

/* The median of a column of numbers; of whole ones the lower of two.  0 where there is none. */
static cr_status find_median(cr_ctx *cx, const cr_column *c, size_t rows, double *out)
{
    size_t  n = 0;
    double *v = cr_alloc(cx, rows, sizeof *v);
    if (!v) return CR_ENOMEM;
    for (size_t i = 0; i < rows; i++)
        if (isfinite(c->values[i * c->stride])) v[n++] = c->values[i * c->stride];
    cri_sort_doubles(v, n);
    *out = n == 0 ? 0 : v[(n - 1) / 2];
    if (n > 0 && c->type == CR_REAL) *out = 0.5 * v[(n - 1) / 2] + 0.5 * v[n / 2];
    cr_free(cx, v, rows, sizeof *v);
    return CR_OK;
}

/* The commonest level, of equals the first; CR_MISSING_CODE where there is none. */
static cr_status find_commonest(cr_ctx *cx, const cr_column *c, size_t rows, uint32_t *out)
{
    size_t *count = cr_alloc(cx, c->n_levels, sizeof *count);
    *out = CR_MISSING_CODE;
    if (!count) return CR_ENOMEM;
    for (size_t i = 0; i < rows; i++)
        if (c->codes[i] != CR_MISSING_CODE) count[c->codes[i]]++;
    for (size_t k = 0; k < c->n_levels; k++)
        if (count[k] > (*out == CR_MISSING_CODE ? 0 : count[*out])) *out = (uint32_t)k;
    cr_free(cx, count, c->n_levels, sizeof *count);
    return CR_OK;
}

static cr_status hold_number(cr_ctx *cx, const cr_column *c, size_t rows, size_t n, cr_table *grid)
{
    double    at, *v;
    cr_status st = find_median(cx, c, rows, &at);
    if (st != CR_OK) return st;
    v = cr_alloc(cx, n, sizeof *v);
    if (!v) return CR_ENOMEM;
    for (size_t i = 0; i < n; i++) v[i] = at;
    return cri_table_own_numbers(cx, grid, c->name, c->type, v);
}

static cr_status hold_category(cr_ctx *cx, const cr_column *c, size_t rows, size_t n,
                               cr_table *grid)
{
    uint32_t  code, *codes;
    cr_status st = find_commonest(cx, c, rows, &code);
    if (st != CR_OK) return st;
    codes = cr_alloc(cx, n, sizeof *codes);
    if (!codes) return CR_ENOMEM;
    for (size_t i = 0; i < n; i++) codes[i] = code;
    return cri_table_own_codes(cx, grid, c, codes);
}

static size_t find_name(const char *const *names, size_t n, const char *name)
{
    size_t k = 0;
    while (k < n && strcmp(names[k], name) != 0) k++;
    return k;
}

/* " bp = 93" or " sex = 1" */
static cr_status tell_column(cr_scratch *s, const cr_table *t, const char *name, const char **out)
{
    cr_status        st = CR_OK;
    const cr_column *c = cr_table_find(t, name);
    double           at;
    uint32_t         code;
    if (!c) return CR_OK;
    if (c->type == CR_CATEGORY) {
        CR_TRY(find_commonest(s->cx, c, cr_table_rows(t), &code));
        *out =
            cri_compose(s, "%s = %s", name, code == CR_MISSING_CODE ? "missing" : c->levels[code]);
    } else {
        CR_TRY(find_median(s->cx, c, cr_table_rows(t), &at));
        char text[CRI_DATE_SIZE];
        bool date = cri_is_date(c->type) && isfinite(at);
        if (date) cri_date_print(c->type, at, text);
        *out = date ? cri_compose(s, "%s = %s", name, text) : cri_compose(s, "%s = %.6g", name, at);
    }
done:
    return st;
}

cr_status cri_grid_held(cr_scratch *s, const cr_model *m, const cr_table *t,
                        const char *const *names, size_t n_names, const char **out)
{
    cr_status        st = CR_OK;
    const cr_design *d = cr_model_get_design(m);
    const char      *list = "";
    size_t           n = 0;
    for (size_t j = 0; j < cr_design_columns(d); j++) {
        const char *name = cr_design_column_name(d, j), *one = name;
        if (find_name(names, n_names, name) < n_names || n++ >= MOST_TOLD) continue;
        CR_TRY(tell_column(s, t, name, &one));
        list = cri_compose(s, "%s%s%s", list, n > 1 ? ", " : "", one);
    }
    *out = n == 0 ? NULL
           : n <= MOST_TOLD
               ? cri_compose(s, "Held at median or mode: %s.", list)
               : cri_compose(s, "Held at median or mode: %s and %zu more.", list, n - MOST_TOLD);
done:
    return st;
}

/* --- tables ---------------------------------------------------------------------------------- */

static cr_status all_levels(cr_ctx *cx, const cr_column *c, cr_table *grid)
{
    uint32_t *codes = cr_alloc(cx, c->n_levels, sizeof *codes);
    if (!codes) return CR_ENOMEM;
    for (size_t i = 0; i < c->n_levels; i++) codes[i] = (uint32_t)i;
    return cri_table_own_codes(cx, grid, c, codes);
}

/* As cri_grid_table; with opt_levels, n is how many that column has. */
static cr_status make_grid(cr_ctx *cx, const cr_table *t, size_t n, const char *const *names,
                           const double *const *values, size_t n_names, const char *opt_levels,
                           cr_table **out)
{
    cr_status st = CR_OK;
    cr_table *grid = NULL;
    CR_TRY(cr_table_new(cx, "the grid of the figure", n, &grid));
    for (size_t k = 0; !t && k < n_names; k++)
        CR_TRY(cr_table_borrow_numbers(cx, grid, names[k], CR_REAL, values[k], 1));
    for (size_t j = 0; t && j < cr_table_columns(t); j++) {
        const cr_column *c = cr_table_column(t, j);
        if (!c) CR_TRY(CR_ENOMEM);
        size_t  k = find_name(names, n_names, c->name);
        cr_type type = cri_is_date(c->type) ? c->type : CR_REAL;
        if (k < n_names)
            CR_TRY(cr_table_borrow_numbers(cx, grid, c->name, type, values[k], 1));
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
        return cr_fail(cx, CR_EDATA, "%s: the column '%s' has no levels to draw",
                       cr_table_source(t), name);
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
        return cr_fail(cx, CR_EDATA, "%s: the column '%s' has no number to draw",
                       cr_table_source(t), name);
    *out_low = low;
    *out_high = high;
    return CR_OK;
}

/* --- the columns of an axis ------------------------------------------------------------------ */

static bool is_number(const cr_design *d, size_t j)
{
    cr_type type = cr_design_column_type(d, j);
    return type == CR_REAL || type == CR_INTEGER || cri_is_date(type);
}

cr_type cri_grid_type(const cr_model *opt_m, const cr_table *opt_t, const char *opt_column)
{
    const cr_design *d = opt_m ? cr_model_get_design(opt_m) : NULL;
    const cr_column *c = opt_t && opt_column ? cr_table_find(opt_t, opt_column) : NULL;
    if (c) return c->type;
    for (size_t j = 0; d && opt_column && j < cr_design_columns(d); j++)
        if (strcmp(cr_design_column_name(d, j), opt_column) == 0)
            return cr_design_column_type(d, j);
    return CR_REAL;
}

size_t cri_grid_numbers(const cr_model *m, const char **names, size_t most)
{
    const cr_design *d = cr_model_get_design(m);
    size_t           n = 0;
    for (size_t j = 0; j < cr_design_columns(d); j++) {
        if (!is_number(d, j)) continue;
        if (n < most) names[n] = cr_design_column_name(d, j);
        n++;
    }
    return n;
}

static const char *column_name(const void *design, size_t j)
{
    return cr_design_column_name(design, j);
}

cr_status cri_grid_over(cr_ctx *cx, const cr_model *m, const cr_plot_options *o, size_t count)
{
    const cr_design *d = cr_model_get_design(m);
    size_t           n = cr_design_columns(d);
    if (o->n_over != count)
        return cr_fail(cx, CR_EARG, "this figure is drawn over %s, not %zu",
                       count == 1 ? "one column" : "two columns", o->n_over);
    for (size_t k = 0; k < count; k++) {
        size_t j = 0;
        while (j < n && strcmp(cr_design_column_name(d, j), o->over[k]) != 0) j++;
        if (j == n) {
            cr_fail(cx, CR_EARG, "the model has no column '%s' to draw over", o->over[k]);
            return cr_fail_nearest(cx, o->over[k], "columns", n, column_name, d);
        }
        if (!is_number(d, j))
            return cr_fail(cx, CR_EARG,
                           "the column '%s' is a %s, but a figure is drawn over numeric columns",
                           o->over[k], cr_type_name(cr_design_column_type(d, j)));
    }
    if (count == 2 && strcmp(o->over[0], o->over[1]) == 0)
        return cr_fail(cx, CR_EARG, "the two columns of the figure are the same");
    return CR_OK;
}

cr_status cri_grid_marked(cr_scratch *s, const cr_model *model, const char *const *names, size_t n,
                          double **at, size_t *out_count, const char **out_name)
{
    cr_status        st = CR_OK;
    const cr_design *d = cr_model_get_design(model);
    size_t           count = 0, p = cr_design_terms(d);
    double          *Z = NULL;
    CR_TRY(cri_model_marked(s->cx, model, out_name, &Z, &count));
    *out_count = 0;
    for (size_t k = 0; count && k < n; k++) {
        size_t j = 0;
        while (j < p && strcmp(cr_design_term_name(d, j), names[k]) != 0) j++;
        if (j == p) goto done;
        at[k] = cr_scratch_f64(s, count);
        CR_TRY(s->status);
        for (size_t i = 0; i < count; i++) at[k][i] = Z[i * p + j];
    }
    *out_count = count;
done:
    cr_free(s->cx, Z, count * p, sizeof *Z);
    return st;
}
