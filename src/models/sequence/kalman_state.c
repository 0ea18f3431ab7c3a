/* kalman_state.c -- what a fitted model keeps, made ready for work. */
#include "kalman.h"
#include "kalman_joint.h"
#include "base/context_internal.h"
#include "data/table/table_internal.h"

#include <math.h>
#include <string.h>

CRI_RECORD_TABLE(, cri_kalman_record, kalman_state, KALMAN_STATE);

/* --- the file -------------------------------------------------------------------------------- */

static bool fits_plan(const kalman_state *m)
{
    const cri_kalman_plan *plan = m->plan;
    if (plan->m != m->m || plan->k != m->k || plan->n_theta != m->n_theta) return false;
    if ((m->n_theta > 0 && !m->theta) || (m->k > 0 && (!m->centre || !m->spread))) return false;
    for (size_t i = 0; i < m->n_theta; i++) {
        bool zero = plan->scale[i] == CRI_KALMAN_VARIANCE && isinf(m->theta[i]) && m->theta[i] < 0;
        if (!zero && !isfinite(m->theta[i])) return false;
    }
    return true;
}

static bool has_matrices(const kalman_state *m)
{
    return m->T && m->Q && m->Z && m->start && m->P1 && m->diffuse && !isnan(m->h) && m->k == 0 &&
           m->n_theta == 0 && (m->beside == 0 || (m->beside_Z && m->beside_h));
}

/* The columns beside the target, and the states that are their noise. */
static bool fits_columns(const kalman_state *m)
{
    if (m->beside == 0) return m->noise == 0 && m->outlier_column == 0;
    return m->beside < CRI_KALMAN_MOST_JOINT && m->columns && m->beside_shift && m->beside_scale &&
           m->settings == 0 && m->k == 0 && m->steps == CRI_KALMAN_STEPS_ROWS && m->noise < m->m &&
           (m->noise == m->beside + 1 || (m->noise == 0 && !m->components)) &&
           m->outlier_column <= m->beside;
}

cr_status cri_kalman_split_lines(cr_ctx *cx, const char *opt_text, size_t n, const char ***out)
{
    if (!opt_text || *out) return CR_OK;
    size_t       bytes = strlen(opt_text) + 1, found = 0;
    char        *copy = cr_alloc(cx, bytes, 1);
    const char **list = *out = cr_alloc(cx, n + 1, sizeof *list);
    if (!list || !copy) {
        cr_free(cx, copy, bytes, 1);
        return CR_ENOMEM;
    }
    memcpy(copy, opt_text, bytes);
    list[n] = copy; /* freed by way of this */
    for (char *at = copy, *end; (end = strchr(at, '\n')); at = end + 1) {
        *end = '\0';
        if (found == n) return CR_EDATA;
        list[found++] = at;
    }
    return found == n ? CR_OK : CR_EDATA;
}

static void free_lines(cr_ctx *cx, const char *text, size_t n, const char **list)
{
    void *copy;
    if (!list) return;
    memcpy(&copy, &list[n], sizeof copy);
    if (copy) cr_free(cx, copy, strlen(text) + 1, 1);
    cr_free(cx, list, n + 1, sizeof *list);
}

/* The plan of the parts. */
static cr_status read_plan(cr_ctx *cx, const kalman_state *m, cri_kalman_plan *plan)
{
    cr_status st = cri_kalman_plan_read(cx, m->components, m->k, m->longest, plan);
    if (st == CR_OK && m->between) st = cri_kalman_plan_between(cx, plan);
    if (st == CR_OK && m->beside > 0) st = cri_kalman_plan_join(cx, m->beside + 1, plan);
    return st == CR_EARG || st == CR_EUNSUPPORTED ? CR_EDATA : st;
}

cr_status cri_kalman_prepare(cr_ctx *cx, kalman_state *m)
{
    cr_status st = CR_OK;
    if (m->settings > 0 && (!m->setting || !m->share || !(m->dof > 0))) return CR_EDATA;
    if (m->width / (m->settings + 1) != cri_kalman_width(m) || m->width % (m->settings + 1) != 0)
        return CR_EDATA;
    if (m->steps != CRI_KALMAN_STEPS_ROWS && !(m->unit > 0)) return CR_EDATA;
    if (!fits_columns(m)) return CR_EDATA;
    if (!m->components) {
        if (m->settings > 0) return CR_EDATA;
        if (!has_matrices(m) || m->between) return CR_EDATA;
    } else {
        m->plan = cr_alloc(cx, 1, sizeof *m->plan);
        if (!m->plan) return CR_ENOMEM;
        if (m->k > CRI_KALMAN_MOST_STATES) return CR_EDATA;
        st = read_plan(cx, m, m->plan);
        if (st == CR_OK && !fits_plan(m)) st = CR_EDATA;
    }
    if (st == CR_OK) st = cri_kalman_split_lines(cx, m->names, m->series, &m->labels);
    return st == CR_OK ? cri_kalman_split_lines(cx, m->columns, m->beside, &m->others) : st;
}

void cri_kalman_unprepare(cr_ctx *cx, kalman_state *m)
{
    cr_free(cx, m->plan, 1, sizeof *m->plan);
    free_lines(cx, m->names, m->series, m->labels);
    free_lines(cx, m->columns, m->beside, m->others);
    m->plan = NULL;
    m->labels = m->others = NULL;
}

/* --- the matrices ---------------------------------------------------------------------------- */

double cri_kalman_mean(const kalman_state *m)
{
    return m->plan && m->plan->mean ? m->theta[m->n_theta - 1] : 0;
}

cr_status cri_kalman_open(cr_scratch *s, const kalman_state *m, cri_kalman_system *out)
{
    cr_status st = m->plan ? cri_kalman_new_of(s, m->plan, out)
                           : cri_kalman_new(s, m->m, m->beside + 1, m->k, out);
    size_t    square = m->m * m->m * sizeof(double), line = m->m * sizeof(double);
    if (st != CR_OK) return st;
    if (m->plan) {
        double *work = cr_scratch_f64(s, 6 * m->m * m->m);
        if (s->status != CR_OK) return s->status;
        if (!cri_kalman_build(m->plan, m->theta, out, work))
            return cr_fail(s->cx, CR_EDATA,
                           "the model contains parameters that no fit can produce");
        return CR_OK;
    }
    memcpy(out->T, m->T, square);
    memcpy(out->Q, m->Q, square);
    memcpy(out->P1, m->P1, square);
    memcpy(out->Z, m->Z, line);
    memcpy(out->start, m->start, line);
    out->h[0] = m->h;
    if (m->beside > 0) {
        memcpy(out->Z + m->m, m->beside_Z, m->beside * line);
        memcpy(out->h + 1, m->beside_h, m->beside * sizeof(double));
    }
    for (size_t i = 0; i < m->m; i++) out->diffuse[i] = m->diffuse[i] > 0;
    cri_kalman_pack(out);
    return CR_OK;
}

/* --- places ---------------------------------------------------------------------------------- */

void cri_kalman_start(const kalman_state *state, const cri_kalman_system *base, double *place,
                      cri_kalman_system *out)
{
    size_t m = state->m;
    *out = *base;
    if (!(place[0] > 0)) return;
    out->start = place + 1;
    out->P1 = place + 1 + m;
    out->unknown = place + 1 + m + m * m;
}

void cri_kalman_end(const kalman_state *state, const cri_kalman_path *path, double seen,
                    double *place)
{
    size_t m = path->system->m;
    if (path->data->time) place[state->width - 1] = path->data->time[path->data->n - 1];
    place[0] = seen;
    memcpy(place + 1, path->end, m * (2 * m + 1) * sizeof *place);
}

const double *cri_kalman_end_of(const kalman_state *m, const char *opt_name)
{
    if (!m->labels || !opt_name) return m->labels || opt_name ? NULL : m->places;
    for (size_t k = 0; k < m->series; k++)
        if (strcmp(m->labels[k], opt_name) == 0) return m->places + k * m->width;
    return NULL;
}

void cri_kalman_begin(const kalman_state *m, const char *opt_name, const cri_kalman_data *one,
                      double *place)
{
    bool empty = true;
    for (size_t i = 0; empty && i < one->n * (m->beside + 1); i++) empty = isnan(one->y[i]);
    const double *end = empty ? cri_kalman_end_of(m, opt_name) : NULL;
    if (end)
        memcpy(place, end, m->width * sizeof *place);
    else
        memset(place, 0, m->width * sizeof *place);
}

cr_status cri_kalman_join_names(cr_ctx *cx, const char *opt_old, const cri_sequences *q,
                                const bool *opt_which, char **out)
{
    size_t size = 1 + (opt_old ? strlen(opt_old) : 0), length;
    *out = NULL;
    if (!q->names) return CR_OK;
    for (size_t k = 0; k < q->n; k++) {
        if (opt_which && !opt_which[k]) continue;
        if (strchr(q->names[k], '\n'))
            return cr_fail(cx, CR_EDATA, "the label of series %zu has a line feed in it", k + 1);
        size += strlen(q->names[k]) + 1;
    }
    char *at = *out = cr_alloc(cx, size, 1);
    if (!at) return CR_ENOMEM;
    if (opt_old) memcpy(at, opt_old, length = strlen(opt_old)), at += length;
    for (size_t k = 0; k < q->n; k++) {
        if (opt_which && !opt_which[k]) continue;
        memcpy(at, q->names[k], length = strlen(q->names[k]));
        at[length] = '\n';
        at += length + 1;
    }
    return CR_OK;
}

/* --- the rows -------------------------------------------------------------------------------- */

/* A table without the series says nothing, unless it has regressors of rows that follow. */
static cr_status refuse_rows(cr_ctx *cx, const cri_rows *rows)
{
    cr_status st = cri_table_no_column(cx, rows->table, cr_design_target(rows->design));
    if (st != CR_EDATA) return st;
    return cr_fail_hint(cx, "it is the series; --ahead forecasts the rows that follow it");
}

cr_status cri_kalman_gather(cr_scratch *s, const cri_rows *rows, const kalman_state *m, double mean,
                            cri_kalman_data *out)
{
    size_t k = m->k;
    if (!rows->y && k == 0 && m->beside == 0) return refuse_rows(s->cx, rows);
    cr_status            st = CR_OK;
    const cri_sequences *q = rows->sequences;
    size_t               p = m->beside + 1;
    double *y = cr_scratch_matrix(s, rows->n, p), *x = cr_scratch_matrix(s, rows->n, k);
    double *column = cr_scratch_f64(s, rows->n);
    if (s->status != CR_OK) return s->status;
    for (size_t c = 0; st == CR_OK && c < p; c++) {
        double shift = cri_kalman_shift_of(m, c), scale = cri_kalman_scale_of(m, c);
        st = cri_kalman_values_of(s->cx, rows, m, c, column);
        for (size_t i = 0; st == CR_OK && i < rows->n; i++)
            y[i * p + c] = (column[q->row[i]] - shift) / scale - mean;
    }
    if (st != CR_OK) return st;
    for (size_t i = 0; k > 0 && i < rows->n; i++) {
        cri_rows_fill(rows, q->row[i], q->row[i] + 1, x + i * k, k);
        for (size_t j = 0; j < k; j++) x[i * k + j] = (x[i * k + j] - m->centre[j]) / m->spread[j];
    }
    *out = (cri_kalman_data){ .n = rows->n, .series = q->n, .start = q->start, .y = y };
    if (k > 0) out->x = x;
    return CR_OK;
}

cri_kalman_data cri_kalman_series(const kalman_state *m, const cri_kalman_data *all, size_t k,
                                  size_t *ends)
{
    size_t          from = all->start[k];
    cri_kalman_data one = { .n = all->start[k + 1] - from, .series = 1, .start = ends };
    ends[0] = 0;
    ends[1] = one.n;
    one.y = all->y + from * (m->beside + 1);
    if (all->x) one.x = all->x + from * m->k;
    if (all->step) one.step = all->step + from, one.time = all->time + from;
    return one;
}
