/* mmd.h -- do two tables come from one distribution?  The maximum mean discrepancy and its test.
 *   MMD^2 = |E phi(x) - E phi(y)|^2 = E k(x, x') + E k(y, y') - 2 E k(x, y),   0 when p = q; for kernels such
 *   as rbf only then.  With m rows x and n rows y:
 *   biased    the means over all pairs, never below 0
 *   unbiased  without the pairs of a row with itself
 * The p-value is the share of random relabellings of the rows whose unbiased statistic is as large;
 * when there are no more relabellings than were asked for, all of them are gone through, and it is
 * exact.  O((m + n)^2) memory and, with P relabellings, O(P (m + n)^2) time, by matrix products.
 *   linear    the mean of k(x1, x2) + k(y1, y2) - k(x1, y2) - k(x2, y1) over separate pairs of rows: O(m + n),
 *             unbiased, normal for many rows, from which its p-value; less power for the same rows.
 * Gretton, Borgwardt, Rasch, Schoelkopf & Smola (2012), JMLR 13. */
#ifndef CREDENCE_STUDY_MMD_H
#define CREDENCE_STUDY_MMD_H

#include "data/table/table.h"

typedef struct cr_mmd_options {
    const char
        *kernel; /* an expression over the columns; NULL: rbf with the median distance between rows
                               * as length-scale, columns standardised, times hamming of the categories */
    size_t
         permutations; /* relabellings                                                           */
    bool linear;       /* the linear statistic                                                   */
} cr_mmd_options;

typedef struct cr_mmd {
    size_t rows[2], dropped[2]; /* of either table: used; left out because a value is missing     */
    size_t pairs;               /* linear: how many terms the mean has; else 0                    */
    double biased, unbiased;    /* of MMD^2; biased is NaN for the linear statistic               */
    double se;                  /* of the linear statistic; else NaN                              */
    double p, p_se;             /* p-value, and its standard error from so many relabellings      */
    size_t permutations;        /* relabellings that were gone through                            */
    bool   exact;               /* they were all there are                                        */
    char   kernel[512];         /* as it was used                                                 */
} cr_mmd;

/* Compares two tables in the named columns.  Fails with CR_EDATA when a column is missing in one,
 * or is of numbers in one and of categories in the other, or when fewer than two rows of either
 * have all values; CR_EARG for a kernel that cannot be read; CR_ENOMEM, with the linear statistic
 * as the hint, when the matrix of all pairs does not fit. */
CR_API cr_status cr_table_mmd(cr_ctx *cx, const cr_table *a, const cr_table *b,
                              const char *const *columns, size_t n, const cr_mmd_options *options,
                              uint64_t seed, cr_mmd *out);

#endif
