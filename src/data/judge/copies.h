/* copies.h -- rows that are copies of one observation.
 * A row of weight 2 is that row twice, and both count.  But where the noise, how smooth a function is, or how good a
 * model is, is learned from rows held out, a row whose twin stays in is foretold by itself: noise looks like none.  In
 * a table of counts, in which rows of equal features have different targets, each copy is an observation of its own, as
 * likely held out as any other.  Where rows of equal features never differ in a target of numbers, which differs between
 * other rows, no noise came between them: they are copies of one observation, which is held out as a whole.
 * (Internal header.) */
#ifndef CREDENCE_DATA_JUDGE_COPIES_H
#define CREDENCE_DATA_JUDGE_COPIES_H

#include "data/table/table.h"

typedef struct cri_keyed_row {
    uint64_t key; /* a hash of the features */
    double   y, w;
    size_t   row;
} cri_keyed_row;

/* Whether rows [n], of weight above 0, are copies of fewer observations, or of as many, some of them several times by
 * weights that are whole numbers.  If so, they become the observations, the first row of each with the weight of all, in the order of the rows.
 * O(n log n). */
bool cri_copies_merge_keyed(cri_keyed_row *rows, size_t *n);

/* The same of a table whose columns but the target and the weights are all features; *out_together false also without
 * a target of numbers.  group [rows]: rows of one observation have the same number, below the number of rows. */
cr_status cri_copies_in_table(cr_ctx *cx, const cr_table *t, const char *opt_target,
                              const char *opt_weights, size_t *group, bool *out_together);

#endif
