/* number_style.h -- numbers as people and spreadsheets write them: 1.234,50   1 234.5   $12   5 %   (7).
 * A style is a decimal character and perhaps one between groups of three digits; a space there also
 * stands for no-break, thin and figure spaces, ' for the typographic one.  A percent sign or a currency
 * sign may stand with the number: the first divides it by 100, the others change nothing.  Parentheses
 * around a number make it negative, as accountants write.  (Internal header.) */
#ifndef CREDENCE_DATA_CSV_NUMBER_STYLE_H
#define CREDENCE_DATA_CSV_NUMBER_STYLE_H

#include <stdbool.h>
#include <stddef.h>

typedef enum cri_number_sign {
    CRI_SIGN_NONE,
    CRI_SIGN_PERCENT,
    CRI_SIGN_DOLLAR,
    CRI_SIGN_EURO,
    CRI_SIGN_POUND,
    CRI_SIGN_YEN
} cri_number_sign;

typedef struct cri_number_style {
    char            decimal;   /* '.' or ',' */
    char            thousands; /* '.' ',' ' ' '\'' or '\0' for none */
    cri_number_sign sign;      /* that the numbers have */
} cri_number_style;

/* true when a number with this sign may stand in a column whose numbers have the other: 5 and 5 % mean
 * different things, 5 and $5 do not. */
static inline bool cri_number_sign_fits(cri_number_sign sign, cri_number_sign column)
{
    return sign == column || (sign == CRI_SIGN_NONE && column != CRI_SIGN_PERCENT);
}

/* Reads all of [begin, end) as a number of this style, whatever its sign, which is told; also inf.
 * Notes are those of cri_scan_double.  false: it is none. */
bool cri_read_styled(const cri_number_style *style, const char *begin, const char *end, double *out,
                     unsigned *out_notes, cri_number_sign *out_sign);

/* "percent", "$", ...; "" for none. */
const char *cri_number_sign_name(cri_number_sign sign);

#endif
