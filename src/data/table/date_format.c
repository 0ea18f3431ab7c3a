/* date_format.c -- dates as a format says. */
#include "date.h"

#include <math.h>
#include <string.h>
#include <strings.h>

/* What has been read so far. */
typedef struct parts {
    long   year, month, day, hour, minute;
    long   dayofyear; /* -1: not given */
    double second, zone, epoch;
    bool   timed;             /* some part of the day is given */
    bool   twelve, afternoon; /* %I; %p is PM */
} parts;

/* One to `most` digits at *at. */
static bool read_number(const char **at, size_t most, long *out)
{
    size_t n = 0;
    for (*out = 0; n < most && **at >= '0' && **at <= '9'; n++, ++*at)
        *out = 10 * *out + (**at - '0');
    return n > 0;
}

/* The name of a month, whole or its first three letters. */
static bool read_month(const char **at, long *out)
{
    for (size_t m = 0; m < 12; m++) {
        const char *name = cri_month_name(m);
        size_t      whole = strlen(name), length = strncasecmp(*at, name, whole) == 0 ? whole : 3;
        if (strncasecmp(*at, name, length) != 0) continue;
        *at += length;
        *out = (long)m + 1;
        return true;
    }
    return false;
}

/* AM or PM, which follows or precedes the hour. */
static bool read_half(const char **at, bool *out_afternoon)
{
    bool am = strncasecmp(*at, "am", 2) == 0, pm = strncasecmp(*at, "pm", 2) == 0;
    *out_afternoon = pm;
    *at += am || pm ? 2 : 0;
    return am || pm;
}

static bool read_epoch(const char **at, parts *p)
{
    bool   minus = **at == '-';
    double x = 0, unit = 0.1;
    *at += minus;
    if (**at < '0' || **at > '9') return false;
    for (; **at >= '0' && **at <= '9'; ++*at) x = 10 * x + (**at - '0');
    if (**at == '.')
        for (++*at; **at >= '0' && **at <= '9'; ++*at, unit /= 10) x += unit * (**at - '0');
    p->epoch = minus ? -x : x;
    return true;
}

static bool read_years(const char **at, parts *p)
{
    if (!read_number(at, 2, &p->year)) return false;
    p->year += p->year < 69 ? 2000 : 1900;
    return true;
}

/* Four digits: of two, %Y would make a year of antiquity. */
static bool read_year(const char **at, long *out)
{
    const char *begin = *at;
    return read_number(at, 4, out) && *at - begin == 4;
}

static const char *expand(char directive)
{
    return directive == 'F' ? "%Y-%m-%d" : directive == 'T' ? "%H:%M:%S" : NULL;
}

static bool read_parts(const char **at, const char *format, parts *p);

/* What %c stands for, at *at. */
static bool read_part(const char **at, char c, parts *p)
{
    switch (c) {
    case 'Y':
        return read_year(at, &p->year);
    case 'y':
        return read_years(at, p);
    case 'm':
        return read_number(at, 2, &p->month);
    case 'b':
    case 'B':
        return read_month(at, &p->month);
    case 'q':
        if (**at < '1' || **at > '4') return false;
        p->month = 3 * (*(*at)++ - '1') + 1;
        return true;
    case 'd':
        while (**at == ' ') ++*at;
        return read_number(at, 2, &p->day);
    case 'j':
        return read_number(at, 3, &p->dayofyear);
    case 'H':
        return p->timed = true, read_number(at, 2, &p->hour);
    case 'I':
        return p->timed = p->twelve = true, read_number(at, 2, &p->hour);
    case 'p':
        return read_half(at, &p->afternoon);
    case 'M':
        return p->timed = true, read_number(at, 2, &p->minute);
    case 'S':
        return p->timed = true, cri_date_read_seconds(at, &p->second);
    case 'z':
        return cri_date_read_zone(at, &p->zone);
    case 's':
        return p->timed = true, read_epoch(at, p);
    case '%':
        return *(*at)++ == '%';
    default:
        return expand(c) && read_parts(at, expand(c), p);
    }
}

static bool read_parts(const char **at, const char *format, parts *p)
{
    for (; *format; format++) {
        if (*format == ' ') {
            while (**at == ' ' || **at == '\t') ++*at;
        } else if (*format != '%') {
            if (*(*at)++ != *format) return false;
        } else if (!read_part(at, *++format, p)) {
            return false;
        }
    }
    return true;
}

static cri_date_kind take_time(double seconds, double *out)
{
    *out = seconds;
    return cri_date_exists(CR_DATETIME, seconds) ? CRI_DATE_TIME : CRI_DATE_IMPOSSIBLE;
}

cri_date_kind cri_date_read_as(const char *text, const char *opt_format, double *out)
{
    parts  p = { .year = 1970, .month = 1, .day = 1, .dayofyear = -1, .epoch = NAN };
    double days;
    if (!opt_format) return cri_date_read(text, out);
    if (!read_parts(&text, opt_format, &p) || *text) return CRI_DATE_NOT;
    if (!isnan(p.epoch)) return take_time(p.epoch, out);
    if (!cri_date_days(p.year, p.month, p.day, &days)) return CRI_DATE_IMPOSSIBLE;
    if (p.dayofyear >= 0) {
        double next;
        if (p.dayofyear == 0 || !cri_date_days(p.year, 1, 1, &days)) return CRI_DATE_IMPOSSIBLE;
        days += (double)p.dayofyear - 1;
        if (cri_date_days(p.year + 1, 1, 1, &next) && days >= next) return CRI_DATE_IMPOSSIBLE;
    }
    if (p.twelve && (p.hour < 1 || p.hour > 12)) return CRI_DATE_IMPOSSIBLE;
    if (p.twelve) p.hour = p.hour % 12 + (p.afternoon ? 12 : 0);
    if (p.hour > 23 || p.minute > 59 || p.second >= 61) return CRI_DATE_IMPOSSIBLE;
    if (!p.timed) return *out = days, CRI_DATE_DAY;
    return take_time(86400 * days + 60 * (double)(60 * p.hour + p.minute) + p.second - p.zone, out);
}

const char *cri_date_format_fault(const char *format)
{
    bool any = false;
    for (const char *at = strchr(format, '%'); at; at = strchr(at + 2, '%')) {
        if (at[1] == '\0') return "it ends with %";
        if (!strchr("YymqbBdjHIpMSzsFT%", at[1])) return "it has an unknown % code";
        any |= at[1] != '%';
    }
    return any ? NULL : "it has no part of a date";
}
