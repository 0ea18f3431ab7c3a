/* split.h -- which rows are for training and which for testing.
 * Everything is a function of the seed and of the number of rows (and of the classes, when
 * stratified) alone; draws come from streams of their own, so a model that is fitted with the same
 * seed shares no random numbers with its split.  Rows come out in increasing order, but for the
 * draws of the bootstrap.  Hastie, Tibshirani & Friedman (2009), The Elements of Statistical
 * Learning, sec. 7.10-7.11. */
#ifndef CREDENCE_DATA_JUDGE_SPLIT_H
#define CREDENCE_DATA_JUDGE_SPLIT_H

#include "base/context.h"

/* Folds 0 .. k-1 of n rows.  Row i belongs to block[i].  Shuffled: blocks 0 .. k-1; fold f tests on
 * block f and trains on all others.  In order of time: blocks 0 .. k; fold f tests on block f + 1
 * and trains on all blocks before it (an expanding window). */
typedef struct cr_folds {
    size_t  n, k;
    bool    ordered;
    size_t *block; /* [n] */
} cr_folds;

/* k folds in random order; every row is tested once, and the sizes of the folds differ by at most
 * one.  O(n) time.  Fails with CR_EARG unless 2 <= k <= n, or CR_ENOMEM; then *out_folds is left as
 * it was. */
CR_API cr_status cr_folds_new(cr_ctx *cx, size_t n, size_t k, uint64_t seed, cr_folds *out_folds);
/* The same, and the numbers of rows of each class (equal codes; CR_MISSING_CODE is a class of its
 * own) in the folds also differ by at most one.  O(n + largest code) time. */
CR_API cr_status cr_folds_new_stratified(cr_ctx *cx, const uint32_t *codes, size_t n, size_t k,
                                         uint64_t seed, cr_folds *out_folds);
/* Folds of rows that stand in the order of time: k + 1 blocks whose sizes differ by at most one, of
 * which the first is never tested.  Fails with CR_EARG unless 1 <= k < n. */
CR_API cr_status cr_folds_new_ordered(cr_ctx *cx, size_t n, size_t k, cr_folds *out_folds);
/* k folds of whole groups: rows with the same group[i] < n stay together.  The largest groups are
 * dealt first, each to the fold with the fewest rows so far; the seed decides among equals.  O(n
 * log n) time.  Fails with CR_EARG unless 2 <= k <= the number of groups. */
CR_API cr_status cr_folds_new_grouped(cr_ctx *cx, const size_t *group, size_t n, size_t k,
                                      uint64_t seed, cr_folds *out_folds);
/* Frees the blocks. */
CR_API void cr_folds_free(cr_ctx *cx, cr_folds *folds);

/* The rows that fold f < k trains on, in increasing order; returns how many.  O(n).  opt_rows needs
 * room for as many, at most n; NULL only counts. */
CR_API size_t cr_folds_train(const cr_folds *folds, size_t f, size_t *opt_rows);
/* The rows that fold f tests on, likewise. */
CR_API size_t cr_folds_test(const cr_folds *folds, size_t f, size_t *opt_rows);

/* Sets round(fraction n) rows aside for a test, at least one and at most n - 1.  out_rows [n]:
 * first the rows for training, *out_train of them, then those for the test.  O(n), no scratch.
 * Fails with CR_EARG unless n >= 2 and 0 < fraction < 1. */
CR_API cr_status cr_holdout(cr_ctx *cx, size_t n, double fraction, uint64_t seed, size_t *out_rows,
                            size_t *out_train);

/* Draw number `replicate` of n rows with replacement: out_drawn [n]; the rows never drawn, in
 * increasing order: out_left [n], of which *out_left_n are used.  O(n), no scratch; n = 0 gives
 * nothing.  Replicates are independent of each other. */
CR_API void cr_bootstrap(size_t n, uint64_t seed, uint64_t replicate, size_t *out_drawn,
                         size_t *out_left, size_t *out_left_n);

#endif
