/* csv_cell.h -- one field of delimited text: where it ends, and what it is.
 * All text handed to these functions ends with the dialect's line end, so that no loop needs to
 * look for the end of the block.  (Internal header.) */
#ifndef CREDENCE_DATA_CSV_CSV_CELL_H
#define CREDENCE_DATA_CSV_CSV_CELL_H

#include "number_style.h"
#include "base/number.h"
#include "base/scratch.h"

#include <math.h>

enum { CRI_STOP = 1, CRI_STOP_NUL = 2 };

typedef struct cri_csv_dialect {
    char          delimiter, line_end;
    bool          runs;       /* the delimiter is any run of spaces and tabs */
    unsigned char stop[256];  /* CRI_STOP: ends an unquoted field; CRI_STOP_NUL: may not occur */
    unsigned char blank[256]; /* dropped around a field */

    const char *const *missing; /* [n_missing] further texts that mean no value ... */
    size_t             n_missing;
    const double      *missing_numbers; /* ... and those of them that are numbers */
    size_t             n_missing_numbers;
} cri_csv_dialect;

/* The dialect with this delimiter (' ' = runs of blanks) and line end, '\n' or '\r'. */
cri_csv_dialect cri_csv_dialect_of(char delimiter, char line_end);

typedef enum cri_csv_fault {
    CRI_CSV_FINE,
    CRI_CSV_UNCLOSED,    /* a quote is never closed       */
    CRI_CSV_AFTER_QUOTE, /* text after a closing quote    */
    CRI_CSV_NUL,
    CRI_CSV_RAGGED,       /* too few or too many fields    */
    CRI_CSV_NOT_A_NUMBER, /* in a column that must be real */
    CRI_CSV_OVERFLOW
} cri_csv_fault;

typedef struct cri_csv_cell {
    const char   *begin, *end; /* the text, without quotes and blanks around it */
    const char   *stop;        /* the delimiter or line end behind it           */
    bool          quoted;
    bool          escaped; /* the text still has doubled quotes             */
    cri_csv_fault fault;
    const char   *fault_at;
} cri_csv_cell;

/* The field that starts at `at`, up to `end` (one past the last line end).  After the last field of
 * a record *stop is the line end; the next field starts at stop + 1. */
cri_csv_cell cri_csv_next_cell(const cri_csv_dialect *d, const char *at, const char *end);

/* From the first character behind an unquoted field to its stop: over a run of blanks, and from
 * "\r\n" to its "\n"; p itself when there is neither. */
const char *cri_csv_settle(const cri_csv_dialect *d, const char *p);

/* Where the next record that is not blank begins; end if there is none. */
const char *cri_csv_skip_blank_lines(const cri_csv_dialect *d, const char *at, const char *end);

/* Turns doubled quotes into single ones, in place; returns the new end. */
char *cri_csv_unescape(char *begin, char *end);

/* What a text is; 0 for a missing value. */
enum {
    CRI_CSV_WHOLE = 1,
    CRI_CSV_REAL = 2,
    CRI_CSV_BOOLEAN = 4,
    CRI_CSV_TEXT = 8,
    CRI_CSV_TOO_LARGE = 16, /* together with CRI_CSV_REAL */
    CRI_CSV_LARGE = 32,     /* whole, beyond 2^53: as a number it keeps its digits ... */
    CRI_CSV_LOST = 64,      /* ... or loses some: 9007199254740993 */
    CRI_CSV_ZEROS = 128     /* whole, and would lose zeros: 007; told by the parser alone */
};
/* Also gives the value of a number or boolean, NaN for a missing value. */
unsigned cri_csv_classify(const cri_csv_dialect *d, const cri_csv_cell *cell, double *out_value);
/* The same in a column whose numbers have this style. */
unsigned cri_csv_classify_styled(const cri_csv_dialect *d, const cri_number_style *style,
                                 const cri_csv_cell *cell, double *out_value);
/* CRI_CSV_ZEROS where a whole number is written like 007. */
static inline unsigned cri_csv_zeros(unsigned kind, const char *begin, const char *end)
{
    return kind == CRI_CSV_WHOLE && *begin == '0' && end - begin > 1 ? CRI_CSV_ZEROS : 0;
}

/* Drops the blanks that quotes have kept. */
void cri_csv_trim(cri_csv_cell *cell);
bool cri_csv_is_missing(const cri_csv_dialect *d, const cri_csv_cell *cell);
bool cri_csv_is_missing_number(const cri_csv_dialect *d, double x);
/* The same for a number that has been read from [begin, end); notes from cri_scan_double. */
static inline unsigned cri_csv_classify_number(const cri_csv_dialect *d, const char *begin,
                                               const char *end, double *x, unsigned notes)
{
    const double largest = 9007199254740992; /* 2^53: below it every integer is a double */
    if (isnan(*x) || (d->n_missing_numbers > 0 && cri_csv_is_missing_number(d, *x))) {
        *x = NAN; /* without a sign */
        return 0;
    }
    if (notes & CRI_NUMBER_OVERFLOW) return CRI_CSV_REAL | CRI_CSV_TOO_LARGE;
    if (notes != CRI_NUMBER_WHOLE) return CRI_CSV_REAL;
    if (fabs(*x) < largest) return CRI_CSV_WHOLE;
    if (!cri_keeps_digits(begin, end, *x)) return CRI_CSV_LOST;
    return fabs(*x) == largest ? CRI_CSV_WHOLE : CRI_CSV_LARGE;
}

/* true when it holds numbers alone. */
static inline bool cri_csv_is_number(unsigned seen)
{
    return seen && !(seen & (CRI_CSV_TEXT | CRI_CSV_BOOLEAN));
}

/* true when it holds whole numbers alone, and some would lose digits as numbers: they are ids. */
static inline bool cri_csv_loses_digits(unsigned seen)
{
    return (seen & CRI_CSV_LOST) &&
           !(seen & ~(unsigned)(CRI_CSV_WHOLE | CRI_CSV_LARGE | CRI_CSV_LOST));
}

/* true when the kinds of its cells make a column a category, whatever else comes. */
static inline bool cri_csv_is_mixed(unsigned seen)
{
    const unsigned boolean = CRI_CSV_BOOLEAN;
    return (seen & CRI_CSV_TEXT) || ((seen & boolean) && (seen & ~boolean));
}

#endif
