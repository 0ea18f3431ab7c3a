/* kalman_times.c -- the times of rows as numbers of steps.
 * A step is the smallest time between two rows where all others are whole multiples of it, to a tenth of a step, and
 * else the median one; --unit gives it.  Gaps that are whole are counted, others are lengths of time (kalman_steps.h). */
#include "kalman.h"
#include "kalman_steps.h"
#include "base/context_internal.h"
#include "base/sort.h"
#include "data/table/date.h"
#include "data/table/table_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double aside = 0.1, longest_gap = 1e9;

/* The time of row i of the data: in the units of its column, or in months since the year 0. */
static double time_of(const kalman_state *m, const cri_rows *rows, const cr_column *c, size_t i)
{
    size_t row = rows->sequences->row[i];
    double time = c->values[(rows->index ? rows->index[row] : row) * c->stride];
    if (m->steps != CRI_KALMAN_STEPS_MONTHS) return time;
    cri_calendar day = cri_date_calendar(c->type, time);
    return 12.0 * day.year + day.month - 1;
}

static cr_status find_times(cr_ctx *cx, const kalman_state *m, const cri_rows *rows,
                            const cr_column **out)
{
    const cr_column *c = cr_table_find(rows->table, rows->design->time);
    if (!c) return cri_table_no_column(cx, rows->table, rows->design->time);
    if (m->steps == CRI_KALMAN_STEPS_MONTHS && !cri_is_date(c->type))
        return cr_fail(cx, CR_EDATA, "%s: --steps months needs dates, and '%s' has numbers",
                       cr_table_source(rows->table), c->name);
    *out = c;
    return CR_OK;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* --- what a step is -------------------------------------------------------------------------- */

static bool are_whole(const double *gap, size_t n, double unit)
{
    for (size_t i = 0; i < n; i++)
        if (fabs(gap[i] / unit - round(gap[i] / unit)) > aside) return false;
    return true;
}

/* The step of times whose gaps [n] rise and are above 0: the smallest, corrected by each larger one in turn, since times
 * may have been rounded. */
static double smallest_step(const double *gap, size_t n)
{
    double sum = gap[0], steps = 1;
    for (size_t i = 1; i < n; i++) {
        double more = round(gap[i] * steps / sum);
        sum += gap[i], steps += more;
    }
    return sum / steps;
}

cr_status cri_kalman_find_unit(cr_ctx *cx, const cri_rows *rows, double opt_unit, kalman_state *m)
{
    cr_status            st = CR_OK;
    cr_scratch           s = cr_scratch_begin(cx);
    const cri_sequences *q = rows->sequences;
    const cr_column     *c = NULL;
    double              *gap = cr_scratch_f64(&s, rows->n);
    size_t               n = 0;
    CR_TRY(s.status);
    CR_TRY(find_times(cx, m, rows, &c));
    m->span = 0;
    for (size_t k = 0; k < q->n; k++) {
        for (size_t i = q->start[k] + 1; i < q->start[k + 1]; i++) {
            gap[n] = time_of(m, rows, c, i) - time_of(m, rows, c, i - 1);
            n += gap[n] > 0;
        }
        m->span = fmax(m->span,
                       time_of(m, rows, c, q->start[k + 1] - 1) - time_of(m, rows, c, q->start[k]));
    }
    if (n > 0) qsort(gap, n, sizeof *gap, compare);
    m->unit = !isnan(opt_unit) ? opt_unit : n > 0 ? smallest_step(gap, n) : 1;
    m->between = !are_whole(gap, n, m->unit);
    if (m->between && isnan(opt_unit)) m->unit = gap[n / 2];
    m->span /= m->unit;
    if (!isfinite(m->span) || !isfinite(m->unit))
        CR_TRY(cr_fail(cx, CR_ENUMERIC, "%s: the times in '%s' are too far apart",
                       cr_table_source(rows->table), rows->design->time));
done:
    cr_scratch_end(&s);
    return st;
}

void cri_kalman_warn_of_steps(cr_ctx *cx, const cri_rows *rows)
{
    const cri_sequences *q = rows->sequences;
    const cr_column *c = rows->design->time ? cr_table_find(rows->table, rows->design->time) : NULL;
    double           least = INFINITY, most = 0;
    for (size_t k = 0; c && k < q->n; k++)
        for (size_t i = q->start[k] + 1; i < q->start[k + 1]; i++) {
            size_t a = q->row[i - 1], b = q->row[i];
            double step = c->values[(rows->index ? rows->index[b] : b) * c->stride] -
                          c->values[(rows->index ? rows->index[a] : a) * c->stride];
            least = fmin(least, step);
            most = fmax(most, step);
        }
    if (most > 1.2 * least)
        cr_log(cx, CR_LOG_WARNING,
               "the steps of '%s' are from %g to %g, but each row counts as one step; --steps time "
               "counts the time between rows",
               rows->design->time, least, most);
}

/* --- counting -------------------------------------------------------------------------------- */

static cr_status fail_gap(cr_ctx *cx, const kalman_state *m, const cri_rows *rows, size_t i,
                          double gap)
{
    char   where[512];
    size_t row = rows->sequences->row[i];
    cri_table_where(rows->table, rows->index ? rows->index[row] : row, where, sizeof where);
    if (gap < 0) {
        cr_fail(cx, CR_EDATA, "%s: '%s' is before the rows that the series has had", where,
                rows->design->time);
        return cr_fail_hint(cx, "rows without any value are taken as those that follow");
    }
    if (gap > longest_gap)
        return cr_fail(cx, CR_EDATA, "%s: '%s' is %g steps of %g behind the row before", where,
                       rows->design->time, gap, m->unit);
    cr_fail(cx, CR_EDATA, "%s: '%s' is %g steps of %g behind the row before, but steps are whole",
            where, rows->design->time, gap, m->unit);
    return cr_fail_hint(cx, "fit the model to such rows, or with a smaller --unit");
}

cr_status cri_kalman_count_steps(cr_scratch *s, const kalman_state *m, const cri_rows *rows,
                                 const double *opt_begun, cri_kalman_data *data,
                                 cri_kalman_gaps *out)
{
    cr_status            st = CR_OK;
    const cri_sequences *q = rows->sequences;
    const cr_column     *c = NULL;
    *out = (cri_kalman_gaps){ 0 };
    if (m->steps == CRI_KALMAN_STEPS_ROWS) return CR_OK;
    double *gap = cr_scratch_f64(s, rows->n), *sorted = cr_scratch_f64(s, rows->n), *times;
    size_t *step = cr_scratch_index(s, rows->n), n = 0;
    data->time = times = cr_scratch_f64(s, rows->n);
    CR_TRY(s->status);
    CR_TRY(find_times(s->cx, m, rows, &c));
    for (size_t k = 0; k < q->n; k++)
        for (size_t i = q->start[k]; i < q->start[k + 1]; i++) {
            double begun = i > q->start[k] ? times[i - 1] : opt_begun ? opt_begun[k] : NAN;
            times[i] = time_of(m, rows, c, i);
            gap[i] = (times[i] - begun) / m->unit;
            if (isnan(begun)) continue;
            double whole = round(gap[i]);
            if (gap[i] < 0 || gap[i] > longest_gap || (!m->between && fabs(gap[i] - whole) > aside))
                CR_TRY(fail_gap(s->cx, m, rows, i, gap[i]));
            if (!m->between) gap[i] = whole;
            sorted[n++] = gap[i];
        }
    if (n > 0) qsort(sorted, n, sizeof *sorted, compare);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || sorted[i] != sorted[i - 1]) sorted[out->n++] = sorted[i];
    for (size_t i = 0; i < rows->n; i++) {
        const double *at =
            isnan(gap[i]) ? NULL : bsearch(&gap[i], sorted, out->n, sizeof *sorted, compare);
        step[i] = at ? (size_t)(at - sorted) : CRI_KALMAN_HERE;
    }
    out->gap = sorted;
    data->step = step;
done:
    return st;
}

cr_status cri_kalman_open_steps(cr_scratch *s, const kalman_state *m, const cri_rows *rows,
                                const double *opt_begun, cri_kalman_data *data,
                                cri_kalman_system *system)
{
    cri_kalman_gaps gaps;
    cr_status       st = cri_kalman_count_steps(s, m, rows, opt_begun, data, &gaps);
    if (st == CR_OK && data->step) st = cri_kalman_steps_new(s, m->plan, gaps.gap, gaps.n, system);
    if (st == CR_OK && data->step) st = cri_kalman_steps_build(s->cx, m->plan, system);
    return st;
}
