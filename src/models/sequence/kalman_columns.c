/* kalman_columns.c -- the columns that are observed: the target, and those beside it. */
#include "kalman.h"
#include "base/context_internal.h"
#include "base/list.h"
#include "data/design/design_block.h"
#include "data/table/table_internal.h"

#include <math.h>
#include <string.h>

/* --- which they are --------------------------------------------------------------------------- */

static cr_status check_name(cr_ctx *cx, const cr_design *d, const char *const *names, size_t i)
{
    bool again = false;
    for (size_t j = 0; j < i; j++) again = again || strcmp(names[j], names[i]) == 0;
    if (again || strcmp(names[i], cr_design_target(d)) == 0)
        return cr_fail(cx, CR_EARG, "--beside: the column '%s' is %s", names[i],
                       again ? "there twice" : "the target itself");
    if ((d->time && strcmp(names[i], d->time) == 0) ||
        (d->sequence && strcmp(names[i], d->sequence) == 0))
        return cr_fail(cx, CR_EARG, "--beside: the column '%s' orders the rows", names[i]);
    if (strchr(names[i], '\n'))
        return cr_fail(cx, CR_EARG, "--beside: the name of column %zu has a line feed in it",
                       i + 1);
    return CR_OK;
}

cr_status cri_kalman_name_columns(cr_ctx *cx, const cr_design *d, const char *list, kalman_state *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    char     **names = NULL, *at;
    size_t     n = 0, size = 1;
    CR_TRY(cri_list_split(&s, list, &names, &n));
    for (size_t i = 0; i < n; i++) {
        CR_TRY(check_name(cx, d, (const char *const *)names, i));
        size += strlen(names[i]) + 1;
    }
    if (n == 0) goto done;
    m->beside = n;
    m->beside_shift = cr_alloc(cx, n, sizeof(double));
    m->beside_scale = cr_alloc(cx, n, sizeof(double));
    if (!m->beside_shift || !m->beside_scale) CR_TRY(CR_ENOMEM);
    at = m->columns = cr_alloc(cx, size, 1);
    if (!at) CR_TRY(CR_ENOMEM);
    for (size_t i = 0; i < n; i++) {
        size_t length = strlen(names[i]);
        memcpy(at, names[i], length);
        at[length] = '\n';
        at += length + 1;
    }
    CR_TRY(cri_kalman_split_lines(cx, m->columns, n, &m->others));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- their values ----------------------------------------------------------------------------- */

/* Column c > 0 of a table; *out NULL: a column without any value, whose type nobody knows. */
static cr_status find_column(cr_ctx *cx, const cri_rows *rows, const char *name,
                             const cr_column **out)
{
    const cr_column *c = cr_table_find(rows->table, name);
    if (!c) {
        cr_status st = cri_table_no_column(cx, rows->table, name);
        return st != CR_EDATA ? st
                              : cr_fail_note(cx, "it is observed beside the target; it may be "
                                                 "empty");
    }
    if (c->type == CR_CATEGORY && c->n_levels > 0)
        return cr_fail(cx, CR_EDATA, "%s: the column '%s' contains text, but it must be numeric",
                       cr_table_source(rows->table), name);
    *out = c->type == CR_CATEGORY ? NULL : c;
    return *out ? cri_column_check_finite(cx, rows->table, c) : CR_OK;
}

cr_status cri_kalman_values_of(cr_ctx *cx, const cri_rows *rows, const kalman_state *m, size_t c,
                               double *out)
{
    const cr_column *column = NULL;
    cr_status        st = c > 0 ? find_column(cx, rows, m->others[c - 1], &column) : CR_OK;
    for (size_t i = 0; st == CR_OK && i < rows->n; i++) {
        size_t row = rows->index ? rows->index[i] : i;
        out[i] = c == 0   ? (rows->y ? rows->y[i] : NAN)
                 : column ? column->values[row * column->stride]
                          : NAN;
    }
    return st;
}

/* --- what they are a sum of ------------------------------------------------------------------- */

void cri_kalman_signal(const kalman_state *m, const cri_kalman_system *s,
                       const cri_kalman_data *data, size_t t, size_t c, double *out)
{
    cri_kalman_loadings(s, data, t, c, out);
    for (size_t i = m->m - m->noise; i < m->m; i++) out[i] = 0;
}

double cri_kalman_noise(const kalman_state *m, const cri_kalman_system *s, size_t c)
{
    size_t i = m->m - m->noise + c;
    return m->noise > 0 ? s->Q[i * m->m + i] : s->h[c];
}

double cri_kalman_log_units(const kalman_state *m, const cri_kalman_path *path)
{
    size_t p = m->beside + 1;
    double sum = 0;
    for (size_t t = 0; p > 1 && t < path->data->n; t++) {
        cri_kalman_slot slot = cri_kalman_slot_at(path, path->slot[t]);
        for (size_t c = 0; c < p; c++)
            if (slot.use[c] == CRI_KALMAN_REGULAR) sum += log(cri_kalman_scale_of(m, c));
    }
    return p > 1 ? sum : (double)(path->observed - path->fixing) * log(m->scale);
}
