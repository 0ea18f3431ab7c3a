/* range.h -- what an option or a member of a record may be, as text.
 * Numbers: "" (any), ">0", ">=0", "1..10", "0<..<1" ('<' beside the dots leaves the end out).
 * Choices: "a|b|c".  (Internal header.) */
#ifndef CREDENCE_BASE_RANGE_H
#define CREDENCE_BASE_RANGE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cri_bounds {
    double low, high;
    bool   open_low, open_high;
} cri_bounds;

/* The bounds that the first `length` characters of a text tell. */
cri_bounds cri_bounds_parse(const char *text, size_t length);
/* true for a number within them; never for NaN. */
bool cri_bounds_hold(cri_bounds bounds, double x);

/* The index of `value` among the choices, or -1. */
int cri_choice_find(const char *choices, const char *value);
/* The text of choice number `index`, *out, and its length. */
size_t cri_choice_text(const char *choices, int index, const char **out);

#endif
