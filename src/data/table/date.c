/* date.c -- the calendar, and dates in ISO 8601. */
#include "date.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DAY = 86400 };

static const char *const months[] = { "January",   "February", "March",    "April",
                                      "May",       "June",     "July",     "August",
                                      "September", "October",  "November", "December" };
static const char *const weekdays[] = { "Monday", "Tuesday",  "Wednesday", "Thursday",
                                        "Friday", "Saturday", "Sunday" };

const char *cri_month_name(size_t month) { return months[month % 12]; }
const char *cri_weekday_name(size_t weekday) { return weekdays[weekday % 7]; }
double      cri_date_unit(cr_type type) { return type == CR_DATETIME ? 1.0 / DAY : 1; }

/* --- the calendar ---------------------------------------------------------------------------- */

static bool is_leap(long year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

static long days_in_month(long year, long month)
{
    return month == 2 ? 28 + is_leap(year) : 30 + ((month + month / 8) % 2);
}

/* The days from 0001-01-01 to January 1 of a year. */
static long days_before(long year)
{
    long past = year - 1;
    return 365 * past + past / 4 - past / 100 + past / 400;
}

bool cri_date_days(long year, long month, long day, double *out)
{
    if (year < 1 || year > 9999 || month < 1 || month > 12) return false;
    if (day < 1 || day > days_in_month(year, month)) return false;
    long days = days_before(year) - days_before(1970) + day - 1;
    for (long m = 1; m < month; m++) days += days_in_month(year, m);
    *out = (double)days;
    return true;
}

cri_calendar cri_date_calendar(cr_type type, double value)
{
    double       all = type == CR_DATETIME ? floor(value / DAY) : floor(value);
    cri_calendar c = { 0 };
    if (!(fabs(all) < 4e6)) return c; /* further than the year 9999 */
    long days = (long)all, since = days + days_before(1970);
    if (since < 0) return c; /* before the year 1 */
    c.hour = type == CR_DATETIME ? (value - DAY * all) / 3600 : 0;
    long year = since / 366 + 1;
    while (days_before(year + 1) <= since) year++;
    long rest = since - days_before(year), month = 1;
    c.dayofyear = (int)rest + 1;
    while (month < 12 && rest >= days_in_month(year, month)) rest -= days_in_month(year, month++);
    c.year = (int)year;
    c.month = (int)month;
    c.day = (int)rest + 1;
    c.weekday = (int)(((days + 3) % 7 + 7) % 7); /* 1970-01-01 was a Thursday */
    return c;
}

bool cri_date_exists(cr_type type, double value)
{
    int year = cri_date_calendar(type, value).year;
    return year >= 1 && year <= 9999;
}

/* --- ISO 8601 -------------------------------------------------------------------------------- */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* n digits at *at, which moves behind them. */
static bool read_digits(const char **at, size_t n, long *out)
{
    *out = 0;
    for (size_t k = 0; k < n; k++, ++*at) {
        if (!is_digit(**at)) return false;
        *out = 10 * *out + (**at - '0');
    }
    return true;
}

bool cri_date_read_seconds(const char **at, double *out)
{
    long whole;
    if (!read_digits(at, 2, &whole)) return false;
    double part = 0, unit = 0.1;
    if (**at == '.' || **at == ',') {
        if (!is_digit(*++*at)) return false;
        for (; is_digit(**at); ++*at, unit /= 10) part += unit * (**at - '0');
    }
    *out = (double)whole + part;
    return true;
}

bool cri_date_read_zone(const char **at, double *out)
{
    long hours, minutes = 0;
    bool west = **at == '-';
    *out = 0;
    if (**at == 'Z' || **at == 'z') return ++*at, true;
    if (strncmp(*at, "UTC", 3) == 0 || strncmp(*at, "GMT", 3) == 0) return *at += 3, true;
    if (**at != '+' && !west) return false;
    ++*at;
    if (!read_digits(at, 2, &hours)) return false;
    if (**at == ':') ++*at;
    if (is_digit(**at) && !read_digits(at, 2, &minutes)) return false;
    if (hours > 23 || minutes > 59) return false;
    *out = (west ? -60.0 : 60.0) * (double)(60 * hours + minutes);
    return true;
}

/* "10:20[:30[.5]][zone]" as seconds since midnight in UTC; NOT where it is something else. */
static cri_date_kind read_time(const char *at, double *out)
{
    long   hour, minute;
    double second = 0, zone = 0;
    if (!read_digits(&at, 2, &hour) || *at++ != ':' || !read_digits(&at, 2, &minute))
        return CRI_DATE_NOT;
    if (*at == ':' && (at++, !cri_date_read_seconds(&at, &second))) return CRI_DATE_NOT;
    if (*at == ' ') at++;
    if (*at && !cri_date_read_zone(&at, &zone)) return CRI_DATE_NOT;
    if (*at) return CRI_DATE_NOT;
    if (hour > 23 || minute > 59 || second >= 61) return CRI_DATE_IMPOSSIBLE;
    *out = 60 * (double)(60 * hour + minute) + second - zone;
    return CRI_DATE_TIME;
}

cri_date_kind cri_date_read(const char *text, double *out)
{
    const char *at = text;
    long        year, month, day;
    double      days, seconds = 0;
    if (!read_digits(&at, 4, &year) || *at++ != '-' || !read_digits(&at, 2, &month) ||
        *at++ != '-' || !read_digits(&at, 2, &day) || is_digit(*at))
        return CRI_DATE_NOT;
    cri_date_kind kind = CRI_DATE_DAY;
    if (*at == 'T' || *at == 't' || *at == ' ')
        kind = read_time(at + 1, &seconds);
    else if (*at)
        kind = CRI_DATE_NOT;
    if (kind == CRI_DATE_NOT) return kind;
    if (!cri_date_days(year, month, day, &days)) return CRI_DATE_IMPOSSIBLE;
    if (kind == CRI_DATE_IMPOSSIBLE) return kind;
    *out = kind == CRI_DATE_DAY ? days : DAY * days + seconds;
    return kind == CRI_DATE_DAY || cri_date_exists(CR_DATETIME, *out) ? kind : CRI_DATE_IMPOSSIBLE;
}

/* --- printing -------------------------------------------------------------------------------- */

/* "10:20:30", with the fraction in as few digits as it needs, at most six. */
static size_t print_time(double seconds, char *out, size_t size)
{
    long   whole = (long)seconds, micro = lround((seconds - (double)whole) * 1e6);
    size_t n = (size_t)snprintf(out, size, "T%02ld:%02ld:%02ld", whole / 3600, whole / 60 % 60,
                                whole % 60);
    if (micro == 0) return n;
    n += (size_t)snprintf(out + n, size - n, ".%06ld", micro);
    while (out[n - 1] == '0') n--;
    out[n] = '\0';
    return n;
}

size_t cri_date_print(cr_type type, double value, char out[CRI_DATE_SIZE])
{
    if (type == CR_DATETIME) value = floor(value * 1e6 + 0.5) / 1e6; /* so that no part carries */
    cri_calendar c = cri_date_calendar(type, value);
    if (!cri_date_exists(type, value)) return (size_t)snprintf(out, CRI_DATE_SIZE, "%.6g", value);
    size_t n = (size_t)snprintf(out, CRI_DATE_SIZE, "%04d-%02d-%02d", c.year, c.month, c.day);
    if (type != CR_DATETIME) return n;
    return n + print_time(value - DAY * floor(value / DAY), out + n, CRI_DATE_SIZE - n);
}
