/* dealt.h -- rows that stand for several equal ones, by their weights, dealt to folds copy by copy.
 * A row of weight w counts as w rows: a table of counts must be judged as the same table with a row for each copy is.
 * So each row is divided into parts, as its copies would fall into folds if each were drawn by itself (a multinomial
 * draw), and the parts of a row go to different folds.  O(rows x folds + parts x columns).  (Internal header.) */
#ifndef CREDENCE_DATA_JUDGE_DEALT_H
#define CREDENCE_DATA_JUDGE_DEALT_H

#include "data/table/table.h"
#include "split.h"

typedef struct cri_dealt {
    cr_table *table; /* the parts, row by row; NULL: rows are not divided */
    size_t   *first; /* [rows + 1] the parts of row i are first[i] .. first[i + 1] - 1 */
    size_t    rows;
    size_t *
        group; /* [rows] of observations that are held out with all their copies (copies.h); or NULL */
} cri_dealt;

/* Divides the rows of a table for so many folds, where the column of weights holds whole numbers, some above 1, and
 * copies are observations of their own; groups rows that are copies of one; else *out is empty.  Freed by
 * cri_dealt_free. */
cr_status cri_dealt_open(cr_ctx *cx, const cr_table *table, const char *opt_target,
                         const char *opt_weights, size_t folds, uint64_t seed, cri_dealt *out);
void      cri_dealt_free(cr_ctx *cx, cri_dealt *dealt);

/* Folds of n rows: of whole groups, of the parts, or cr_folds_new. */
cr_status cri_dealt_split(cr_ctx *cx, const cri_dealt *dealt, size_t n, size_t k, uint64_t seed,
                          cr_folds *out_folds);
/* cr_folds_new, or with opt_codes [parts] cr_folds_new_stratified, of the parts. */
cr_status cri_dealt_folds(cr_ctx *cx, const cri_dealt *dealt, const uint32_t *opt_codes, size_t k,
                          uint64_t seed, cr_folds *out_folds);

/* The order in which rows are dealt (split.c): a permutation of n rows, class after class where they have codes. */
cr_status cri_deal_order(cr_ctx *cx, const uint32_t *opt_codes, size_t n, uint64_t seed,
                         size_t *order);

#endif
