/* svg_dates.c -- ticks at days, or parts and multiples of them. */
#include "svg.h"
#include "data/table/date.h"

#include <math.h>
#include <stdio.h>

/* A step from tick to tick: seconds, or months. */
typedef struct step {
    double seconds;
    int    months;
} step;

enum { MINUTE = 60, HOUR = 3600, DAY = 86400 };

static const step steps[] = {
    { 1, 0 },          { 5, 0 },           { 15, 0 },          { 30, 0 },      { MINUTE, 0 },
    { 5 * MINUTE, 0 }, { 15 * MINUTE, 0 }, { 30 * MINUTE, 0 }, { HOUR, 0 },    { 3 * HOUR, 0 },
    { 6 * HOUR, 0 },   { 12 * HOUR, 0 },   { DAY, 0 },         { 2 * DAY, 0 }, { 7 * DAY, 0 },
    { 14 * DAY, 0 },   { 0, 1 },           { 0, 2 },           { 0, 3 },       { 0, 6 },
    { 0, 12 },         { 0, 24 },          { 0, 60 },          { 0, 120 },     { 0, 240 },
    { 0, 600 },        { 0, 1200 },        { 0, 2400 },        { 0, 6000 },    { 0, 12000 },
    { 0, 24000 }
};

/* Seconds since 1970 of the first of a month, counted from that of January of the year 0. */
static bool month_start(long month, double *out)
{
    double days;
    if (!cri_date_days(month / 12, month % 12 + 1, 1, &days)) return false;
    *out = DAY * days;
    return true;
}

static void write_label(const step *s, double at, char out[CRI_SVG_LABEL])
{
    cri_calendar c = cri_date_calendar(CR_DATETIME, at);
    int          second = (int)(at - DAY * floor(at / DAY));
    if (s->months % 12 == 0 && s->months > 0)
        snprintf(out, CRI_SVG_LABEL, "%d", c.year);
    else if (s->months > 0)
        snprintf(out, CRI_SVG_LABEL, "%d-%02d", c.year, c.month);
    else if (s->seconds >= DAY)
        snprintf(out, CRI_SVG_LABEL, "%d-%02d-%02d", c.year, c.month, c.day);
    else if (second == 0)
        snprintf(out, CRI_SVG_LABEL, "%02d-%02d", c.month, c.day);
    else if (s->seconds >= MINUTE)
        snprintf(out, CRI_SVG_LABEL, "%02d:%02d", second / HOUR, second / MINUTE % 60);
    else
        snprintf(out, CRI_SVG_LABEL, "%02d:%02d:%02d", second / HOUR, second / MINUTE % 60,
                 second % 60);
}

/* The ticks of a step in [low, high], in seconds: how many, of which the first `most` are written. */
static size_t divide(const step *s, double low, double high, size_t most, cri_svg_tick *out)
{
    size_t n = 0;
    double at;
    if (s->months > 0) {
        cri_calendar c = cri_date_calendar(CR_DATETIME, fmax(low, -62135596800.0));
        long         month = (12L * c.year + c.month - 1) / s->months * s->months;
        for (;
             n <= most && month < 120000 && (month < 12 || (month_start(month, &at) && at <= high));
             month += s->months)
            if (month >= 12 && at >= low) {
                if (n < most) out[n].value = at;
                n++;
            }
        return n;
    }
    double monday = s->seconds >= 7.0 * DAY ? 4.0 * DAY : 0; /* 1970-01-05 */
    for (at = ceil((low - monday) / s->seconds) * s->seconds + monday; n <= most && at <= high;
         at += s->seconds, n++)
        if (n < most) out[n].value = at;
    return n;
}

size_t cri_svg_date_ticks(cr_type type, double low, double high, size_t most, cri_svg_tick *out)
{
    double unit = type == CR_DATE ? DAY : 1; /* to seconds */
    for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
        double length = steps[k].months > 0 ? 2.6e6 * steps[k].months : steps[k].seconds;
        if (type == CR_DATE && steps[k].months == 0 && steps[k].seconds < DAY) continue;
        if ((high - low) * unit / length > 4 * (double)most) continue; /* surely too many */
        size_t n = divide(&steps[k], low * unit, high * unit, most, out);
        if (n == 0 || n > most) continue;
        for (size_t i = 0; i < n; i++) {
            write_label(&steps[k], out[i].value, out[i].label);
            out[i].value /= unit;
        }
        return n;
    }
    return cri_svg_ticks(low, high, most, out); /* less than a second, or no calendar there */
}
