/* time_ahead.c -- see time_ahead.h. */
#include "time_ahead.h"
#include "data/table/date.h"

#include <math.h>

static const double SECONDS = 86400;

double cri_time_at(const cri_rows *rows, cr_type type, size_t i)
{
    double time = rows->sequences->time[rows->sequences->row[i]];
    return type == CR_DATETIME ? time * SECONDS : time;
}

static int days_of_month(int year, int month)
{
    double first, next;
    int    years = month == 12;
    if (!cri_date_days(year, month, 1, &first)) return 0;
    if (!cri_date_days(year + years, month % 12 + 1, 1, &next)) return 31;
    return (int)(next - first);
}

static int month_number(cri_calendar c) { return 12 * c.year + c.month - 1; }

/* Months that all rows are apart, on one day of the month, or on the last; 0: they are not. */
static int find_months(const cri_rows *rows, cr_type type, bool *out_ends)
{
    const cri_sequences *q = rows->sequences;
    int                  months = 0, day = 0;
    bool                 same = true, last = true;
    for (size_t k = 0; k < q->n; k++)
        for (size_t i = q->start[k]; i < q->start[k + 1]; i++) {
            cri_calendar c = cri_date_calendar(type, cri_time_at(rows, type, i));
            if (c.year == 0 || c.hour != 0) return 0;
            if (day == 0) day = c.day;
            same = same && c.day == day;
            last = last && c.day == days_of_month(c.year, c.month);
            if (i == q->start[k]) continue;
            int gap = month_number(c) -
                      month_number(cri_date_calendar(type, cri_time_at(rows, type, i - 1)));
            if (gap <= 0 || (months > 0 && gap != months)) return 0;
            months = gap;
        }
    *out_ends = last && !same;
    return same || last ? months : 0;
}

/* The distance that all rows have, or NaN. */
static double find_step(const cri_rows *rows, cr_type type)
{
    const cri_sequences *q = rows->sequences;
    double               step = NAN;
    for (size_t k = 0; k < q->n; k++)
        for (size_t i = q->start[k] + 1; i < q->start[k + 1]; i++) {
            double gap = cri_time_at(rows, type, i) - cri_time_at(rows, type, i - 1);
            if (isnan(step)) step = gap;
            if (!(gap > 0) || fabs(gap - step) > 1e-6 * step) return NAN;
        }
    return step;
}

bool cri_time_rule_find(const cri_rows *rows, cr_type type, cri_time_rule *out)
{
    *out = (cri_time_rule){ .type = type, .step = NAN };
    if (!rows->sequences->time) return false;
    if (cri_is_date(type)) out->months = find_months(rows, type, &out->ends);
    if (out->months == 0) out->step = find_step(rows, type);
    return out->months > 0 || isfinite(out->step);
}

double cri_time_ahead(const cri_time_rule *rule, double last, size_t h)
{
    if (rule->months == 0) return last + (double)h * rule->step;
    cri_calendar c = cri_date_calendar(rule->type, last);
    long         number = (long)month_number(c) + (long)h * rule->months;
    long         year = number / 12, month = number % 12 + 1;
    int          most = year < 10000 ? days_of_month((int)year, (int)month) : 0;
    double       days;
    if (!cri_date_days(year, month, rule->ends || c.day > most ? most : c.day, &days)) return NAN;
    return rule->type == CR_DATETIME ? days * SECONDS : days;
}
