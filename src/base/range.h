/* range.h -- the numbers that an option or a member of a record may be, as text: "" (any), ">0",
 * ">=0", "1..10", "0<..<1" ('<' beside the dots leaves the end out).  (Internal header.) */
#ifndef CREDENCE_BASE_RANGE_H
#define CREDENCE_BASE_RANGE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cri_range_of {
    double low, high;
    bool   open_low, open_high;
} cri_range_of;

/* The range that the first `length` characters of a text tell. */
cri_range_of cri_range_parse(const char *text, size_t length);
/* true for a number in it; never for NaN. */
bool cri_range_holds(cri_range_of range, double x);

#endif
