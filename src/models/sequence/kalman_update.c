/* kalman_update.c -- rows that come later: the filter goes on where it ended, with the parameters of the fit.
 * A series whose name is new begins.  Without changed parameters nothing of the old rows is needed: the update
 * is exact. */
#include "kalman.h"
#include "base/context_internal.h"

#include <math.h>
#include <string.h>

/* A copy with room for so many series in place of those it has. */
static cr_status copy_state(cr_ctx *cx, const kalman_state *old, const cri_sequences *q,
                            const bool *fresh, size_t series, kalman_state **out)
{
    cr_status     st = CR_OK;
    double       *places = NULL;
    kalman_state *m = cr_alloc(cx, 1, sizeof *m);
    if (!m) return CR_ENOMEM;
    CR_TRY(cri_record_copy(cx, cri_kalman_record, old, m));
    places = cr_resize(cx, m->places, m->series * m->width, series * m->width, sizeof *places);
    if (!places) CR_TRY(CR_ENOMEM);
    memset(places + m->series * m->width, 0, (series - m->series) * m->width * sizeof *places);
    m->places = places;
    m->series = series;
    char *names = NULL;
    if (old->names) CR_TRY(cri_kalman_join_names(cx, old->names, q, fresh, &names));
    if (names) {
        cri_string_free(cx, m->names);
        m->names = names;
    }
    CR_TRY(cri_kalman_prepare(cx, m));
    *out = m;
    m = NULL;
done:
    cri_state_free(cx, &cri_class_kalman, m);
    return st;
}

/* Which series are new, fresh [n], and the place of each, at [n]. */
static void match_series(const kalman_state *m, const cri_sequences *q, bool *fresh, size_t *at,
                         size_t *out_series)
{
    size_t next = m->series;
    for (size_t k = 0; k < q->n; k++) {
        const double *place = cri_kalman_end_of(m, q->names ? q->names[k] : NULL);
        fresh[k] = !place;
        at[k] = place ? (size_t)(place - m->places) / m->width : next++;
    }
    *out_series = next;
}

/* At the last row: a place is a step beyond it where rows are steps, to which Q belongs. */
static void keep_coefficients(const double *Q, kalman_state *m)
{
    size_t        n = m->m, first = n - m->k;
    const double *a = m->places + 1, *P = a + n, *Pinf = P + n * n;
    for (size_t j = 0; j < m->k; j++) {
        size_t i = first + j;
        bool   known = !(Pinf[i * n + i] > 0);
        m->coefficient[j] = known ? a[i] : NAN;
        double ahead = m->plan->walk && m->steps == CRI_KALMAN_STEPS_ROWS ? Q[i * n + i] : 0;
        m->coefficient_sd[j] = known ? sqrt(P[i * n + i] - ahead) : NAN;
    }
}

static cr_status go_on(cr_ctx *cx, const cri_rows *rows, const size_t *at, kalman_state *m)
{
    cr_status            st = CR_OK;
    cr_scratch           s = cr_scratch_begin(cx);
    const cri_sequences *q = rows->sequences;
    cri_kalman_system    base, system;
    cri_kalman_data      all, one; /* the path refers to it */
    size_t               ends[2];
    double              *begun = cr_scratch_f64(&s, q->n);
    cri_kalman_path      path = { 0 };
    CR_TRY(s.status);
    CR_TRY(cri_kalman_open(&s, m, &base));
    CR_TRY(cri_kalman_gather(&s, rows, m, cri_kalman_mean(m), &all));
    for (size_t k = 0; k < q->n; k++)
        begun[k] = cri_kalman_time_of(m, m->places + at[k] * m->width);
    CR_TRY(cri_kalman_open_steps(&s, m, rows, begun, &all, &base));
    for (size_t k = 0; k < q->n; k++) {
        double *place = m->places + at[k] * m->width, seen = place[0];
        one = cri_kalman_series(m, &all, k, ends);
        cri_kalman_start(m, &base, place, &system);
        CR_TRY(cri_kalman_filter(cx, &system, &one, false, &path));
        if (isnan(path.log_likelihood))
            CR_TRY(cr_fail(cx, CR_ENUMERIC,
                           "by the model, a value is known for sure from the rows before"));
        cri_kalman_end(m, &path, seen + (double)one.n, place);
        m->observed += path.observed;
        m->fixing += path.fixing;
        m->log_likelihood += path.log_likelihood - cri_kalman_log_units(m, &path);
        for (size_t j = 0; j < m->k && m->plan->walk && !(seen > 0); j++)
            m->log_likelihood -= log(m->spread[j] * rows->design->scale[j]);
        cri_kalman_path_free(cx, &path);
    }
    if (m->k > 0) keep_coefficients(base.Q, m);
done:
    cri_kalman_path_free(cx, &path);
    cr_scratch_end(&s);
    return st;
}

/* At theta and at every setting, whose shares stay. */
static cr_status go_on_everywhere(cr_ctx *cx, const cri_rows *rows, const size_t *at,
                                  kalman_state *m)
{
    cr_status st = CR_OK;
    for (size_t h = 0; h <= m->settings; h++) {
        cr_scratch   s = cr_scratch_begin(cx);
        kalman_state view;
        st = cri_kalman_view(&s, m, h, &view);
        if (st == CR_OK) st = go_on(cx, rows, at, &view);
        if (st == CR_OK) cri_kalman_put_places(m, h, view.places, m->series, m->places);
        if (st == CR_OK && h == 0) {
            m->observed = view.observed;
            m->fixing = view.fixing;
            m->log_likelihood = view.log_likelihood;
            if (m->k > 0) memcpy(m->coefficient, view.coefficient, m->k * sizeof(double));
            if (m->k > 0) memcpy(m->coefficient_sd, view.coefficient_sd, m->k * sizeof(double));
        }
        cr_scratch_end(&s);
        CR_TRY(st);
    }
done:
    return st;
}

cr_status cri_kalman_update(cr_ctx *cx, const void *state, const cri_rows *rows,
                            const void *options, void **out_state, cr_report *report)
{
    cr_status            st = CR_OK;
    cr_scratch           s = cr_scratch_begin(cx);
    const kalman_state  *old = state;
    const cri_sequences *q = rows->sequences;
    bool                *fresh = cr_scratch_bytes(&s, q->n, sizeof *fresh);
    size_t              *at = cr_scratch_index(&s, q->n), series;
    kalman_state        *m = NULL;
    (void)options;
    CR_TRY(s.status);
    if (rows->w) CR_TRY(cr_fail(cx, CR_EUNSUPPORTED, "the model kalman knows no weights"));
    match_series(old, q, fresh, at, &series);
    if (old->k > 0 && series > 1 && !old->plan->walk) {
        cr_fail(cx, CR_EUNSUPPORTED,
                "coefficients that several series share cannot be updated exactly");
        CR_TRY(cr_fail_hint(cx, "fit it again to all the rows"));
    }
    CR_TRY(copy_state(cx, old, q, fresh, series, &m));
    CR_TRY(go_on_everywhere(cx, rows, at, m));
    report->stop = CR_STOP_CLOSED_FORM;
    report->log_likelihood =
        m->log_likelihood - (double)(m->observed - m->fixing) * log(rows->design->target_scale);
    *out_state = m;
    m = NULL;
done:
    cri_state_free(cx, &cri_class_kalman, m);
    cr_scratch_end(&s);
    return st;
}
