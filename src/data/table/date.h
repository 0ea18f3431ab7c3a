/* date.h -- days and times of the proleptic Gregorian calendar as numbers.
 * A date is the number of days since 1970-01-01, a time the seconds since its midnight in UTC
 * without leap seconds; years are 1 to 9999.  A time that names no zone counts as UTC.
 * (Internal header.) */
#ifndef CREDENCE_DATA_TABLE_DATE_H
#define CREDENCE_DATA_TABLE_DATE_H

#include "table.h"

typedef enum cri_date_kind {
    CRI_DATE_NOT,        /* not of the form                    */
    CRI_DATE_IMPOSSIBLE, /* of the form, but there is no such  */
    CRI_DATE_DAY,        /* a date, in days                    */
    CRI_DATE_TIME        /* a date with a time, in seconds     */
} cri_date_kind;

enum { CRI_DATE_SIZE = 40 }; /* of a printed one, with its '\0' */

typedef struct cri_calendar {
    int    year, month, day;   /* month and day from 1 */
    int    weekday, dayofyear; /* Monday is 0; January 1 is 1 */
    double hour;               /* with its minutes, 0 to below 24 */
} cri_calendar;

/* true for dates and times. */
static inline bool cri_is_date(cr_type type) { return type == CR_DATE || type == CR_DATETIME; }
/* How many days the unit of such a column is: 1, or 1/86400. */
double cri_date_unit(cr_type type);

/* Reads "2023-01-31", "2023-01-31T10:20", "2023-01-31 10:20:30.5+02:00" (ISO 8601). */
cri_date_kind cri_date_read(const char *text, double *out);
/* Reads by a format: %Y %m %d %H %I (1 to 12, with %p: AM or PM) %M %S (with a fraction) %y (69 to 99 are 19yy, 00 to 68 20yy), %b
 * and %B (English names of months), %q (the quarter, 1 to 4, at its first day), %j (day of the year), %s (seconds since 1970), %z (Z, +0200,
 * +02:00), %F = %Y-%m-%d, %T = %H:%M:%S, %%; a blank stands for any number of them.  NULL means
 * cri_date_read. */
cri_date_kind cri_date_read_as(const char *text, const char *opt_format, double *out);
/* The parts of both: seconds with their fraction, and a zone in seconds east of UTC, at *at, which
 * moves behind them; false where something else stands there. */
bool cri_date_read_seconds(const char **at, double *out);
bool cri_date_read_zone(const char **at, double *out);
/* What is wrong with a format, for people; NULL when nothing is. */
const char *cri_date_format_fault(const char *format);

/* Writes a value of such a column in ISO 8601; returns its length. */
size_t cri_date_print(cr_type type, double value, char out[CRI_DATE_SIZE]);
/* The day that a value of such a column is in; all 0 where it is in none. */
cri_calendar cri_date_calendar(cr_type type, double value);
/* Whether a value of such a column is in the years 1 to 9999. */
bool cri_date_exists(cr_type type, double value);
/* The number of days to a day, month and day from 1; false where there is none. */
bool cri_date_days(long year, long month, long day, double *out);

/* "January", ... of month 0 .. 11, and "Monday", ... of weekday 0 .. 6. */
const char *cri_month_name(size_t month);
const char *cri_weekday_name(size_t weekday);

#endif
