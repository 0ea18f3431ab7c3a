/* dirichlet.c -- levels, counts and file of the categorical model. */
#include "dirichlet.h"
#include "base/number.h"
#include "base/parallel.h"
#include "base/sort.h"
#include "data/table/table_internal.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 256, MOST_VALUES = 1000 };

CRI_RECORD_TABLE(, cri_dirichlet_record, cri_dirichlet, CRI_DIRICHLET_STATE);
CRI_RECORD_TABLE(, cri_dirichlet_sums_record, cri_dirichlet, CRI_DIRICHLET_SUMS);

/* The level of a value among K rising ones; K when there is none. */
size_t cri_dirichlet_find(const double *values, size_t K, double x)
{
    size_t low = 0, high = K;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (values[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    return low < K && values[low] == x ? low : K;
}

/* --- the levels ------------------------------------------------------------------------------ */

/* The different whole numbers of a column, into values [MOST_VALUES]. */
static cr_status find_numbers(cr_ctx *cx, const cri_rows *rows, size_t j, double *values,
                              size_t *out_n)
{
    const cri_design_column *c = &rows->design->columns[j];
    size_t                   n = 0;
    char                     where[512];
    double                   x[BLOCK];
    for (size_t begin = 0; begin < rows->n; begin += BLOCK) {
        size_t end = rows->n - begin < BLOCK ? rows->n : begin + BLOCK;
        cri_rows_fill_term(rows, j, begin, end, x, 1);
        for (size_t i = begin; i < end; i++) {
            double value = x[i - begin];
            if (rows->w && rows->w[i] == 0) continue;
            if (value != floor(value)) {
                cri_table_where(rows->table, rows->index ? rows->index[i] : i, where, sizeof where);
                cr_fail(cx, CR_EDATA,
                        "%s: column '%s' is %g, but %s needs categories or whole numbers", where,
                        c->name, value, CRI_DIRICHLET);
                return cr_fail_hint(cx, "--category %s treats its values as text", c->name);
            }
            if (cri_dirichlet_find(values, n, value) < n) continue;
            if (n == MOST_VALUES)
                return cr_fail(cx, CR_EDATA,
                               "column '%s' has more than %d different values: it looks like a "
                               "measurement, not a category",
                               c->name, MOST_VALUES);
            values[n++] = value;
            cri_sort_doubles(values, n);
        }
    }
    *out_n = n;
    return CR_OK;
}

static cr_status find_levels(cr_ctx *cx, const cri_rows *rows, size_t j, double *values,
                             size_t *out_n)
{
    const cri_design_column *c = &rows->design->columns[j];
    bool                     category = c->type == CR_CATEGORY, truth = c->type == CR_BOOLEAN;
    if (!category && !truth) return find_numbers(cx, rows, j, values, out_n);
    *out_n = truth ? 2 : c->n_levels;
    for (size_t k = 0; values && k < *out_n; k++) values[k] = (double)k;
    return CR_OK;
}

/* A new state that knows the levels; counts and prior are zero. */
cr_status cri_dirichlet_new(cr_ctx *cx, const cri_rows *rows, cri_dirichlet **out)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(cx);
    size_t         most = MOST_VALUES;
    cri_dirichlet *m = NULL;
    for (size_t j = 0; j < rows->p; j++)
        if (rows->design->columns[j].n_levels > most) most = rows->design->columns[j].n_levels;
    double *values = cr_scratch_f64(&s, most);

    CR_TRY(s.status);
    m = cr_alloc(cx, 1, sizeof *m);
    if (!m) CR_TRY(CR_ENOMEM);
    for (size_t j = 0; j < rows->p; j++) {
        size_t K;
        CR_TRY(find_levels(cx, rows, j, values, &K));
        m->total += K;
    }
    m->n = rows->p;
    CR_TRY(cri_record_allocate(cx, cri_dirichlet_record, m));
    for (size_t j = 0, at = 0; j < m->n; j++) {
        size_t K;
        CR_TRY(find_levels(cx, rows, j, values, &K));
        memcpy(m->values + at, values, K * sizeof *values);
        m->sizes[j] = K;
        at += K;
    }
    *out = m;
    m = NULL;
done:
    cri_state_free(cx, &cri_class_dirichlet_categorical, m);
    cr_scratch_end(&s);
    return st;
}

/* The text of a level; buffer [CRI_DOUBLE_SIZE] is for numbers. */
const char *cri_dirichlet_level(const cri_design_column *c, double value, char *buffer)
{
    if (c->type == CR_CATEGORY) return c->levels[(size_t)value];
    if (c->type == CR_BOOLEAN) return value == 1 ? "true" : "false";
    buffer[cri_print_double(value, buffer)] = '\0';
    return buffer;
}

/* --- counts ---------------------------------------------------------------------------------- */

typedef struct counting {
    const cri_dirichlet *m;
    const cri_rows      *rows;
} counting;

static void count_block(void *arg, cri_range r, double *acc)
{
    const counting *a = arg;
    double          x[BLOCK];
    size_t          start = 0;
    for (size_t j = 0; j < a->m->n; j++) {
        size_t K = a->m->sizes[j];
        cri_rows_fill_term(a->rows, j, r.begin, r.end, x, 1);
        for (size_t i = r.begin; i < r.end; i++) {
            double w = a->rows->w ? a->rows->w[i] : 1;
            size_t k = cri_dirichlet_find(a->m->values + start, K, x[i - r.begin]);
            if (w > 0) acc[k < K ? start + k : a->m->total] += w;
        }
        start += K;
    }
}

cr_status cri_dirichlet_gather(cr_ctx *cx, const void *state, const cri_rows *rows,
                               const void *options, void *sums)
{
    cr_status            st = CR_OK;
    cr_scratch           s = cr_scratch_begin(cx);
    const cri_dirichlet *m = state;
    cri_dirichlet       *out = sums;
    double  *all = cr_scratch_f64(&s, m->total + 1); /* the last one counts the strangers */
    counting a = { m, rows };
    (void)options;
    CR_TRY(s.status);
    out->total = m->total;
    CR_TRY(cri_record_allocate(cx, cri_dirichlet_sums_record, out));
    CR_TRY(cri_parallel_sum(cx, "counting", rows->n, BLOCK, m->total + 1, count_block, &a, all));
    if (all[m->total] > 0) {
        cr_fail(cx, CR_EDATA, "%s: there is a value that the model has not seen",
                cr_table_source(rows->table));
        CR_TRY(cr_fail_hint(cx, "fit it again to all the rows"));
    }
    memcpy(out->counts, all, m->total * sizeof *all);
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_dirichlet_merge(cr_ctx *cx, const void *state, void *a, const void *b)
{
    cri_dirichlet *to = a;
    (void)cx, (void)state;
    for (size_t i = 0; i < to->total; i++) to->counts[i] += ((const cri_dirichlet *)b)->counts[i];
    return CR_OK;
}

/* --- file ------------------------------------------------------------------------------------ */

/* Sizes that fit the totals and the levels of the design, and values that rise. */
cr_status cri_dirichlet_ready(cr_ctx *cx, void *state, const cr_design *d)
{
    const cri_dirichlet *m = state;
    size_t               start = 0;
    (void)cx;
    if (m->n != d->p || m->n != d->n_columns) return CR_EDATA;
    for (size_t j = 0; j < m->n; start += m->sizes[j++]) {
        bool   category = d->columns[j].type == CR_CATEGORY;
        size_t K = m->sizes[j];
        if (K > m->total - start || (category && K != d->columns[j].n_levels)) return CR_EDATA;
        for (size_t k = 0; k < K; k++) {
            const double *value = m->values + start + k;
            bool          right = category ? *value == (double)k : k == 0 || *value > value[-1];
            double        sum = m->prior[start + k] + m->counts[start + k];
            if (!right || !(sum > 0 && isfinite(sum))) return CR_EDATA;
        }
    }
    return start == m->total ? CR_OK : CR_EDATA;
}
