/* time_ahead.h -- the times of rows to come, where those of the rows so far tell.  (Internal header.) */
#ifndef CREDENCE_MODELS_CORE_TIME_AHEAD_H
#define CREDENCE_MODELS_CORE_TIME_AHEAD_H

#include "data/design/design_internal.h"

/* How times go on. */
typedef struct cri_time_rule {
    cr_type type;   /* of the column */
    double  step;   /* in its unit; or */
    int     months; /* above 0: so many months, on the same day of the month */
    bool    ends;   /* or on its last one */
} cri_time_rule;

/* The rule of all sequences of the rows, whose times are known: dates a constant number of months apart, or times that are
 * equally far apart, to a millionth.  false where there is none. */
bool cri_time_rule_find(const cri_rows *rows, cr_type type, cri_time_rule *out);
/* The time `h` rows behind one at `last`, both as the column has it. */
double cri_time_ahead(const cri_time_rule *rule, double last, size_t h);
/* The time of row i, in the order of the sequences, as the column has it. */
double cri_time_at(const cri_rows *rows, cr_type type, size_t i);

#endif
