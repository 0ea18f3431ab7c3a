/* folds.h -- folds of rows that are told by the ranks of the values in the rows, whatever the order
 * of the rows and the units of the columns, as the trees are.  A row of weight 3 is three copies of a row, and each copy is drawn into a fold by itself, by its
 * ranks, its number among its equals and the seed.  So a row of weight 3 and three equal rows are
 * dealt alike, and which fold a copy comes to says nothing of its target: were equal rows kept
 * together, all who answered alike would be left out at once where columns have few values; were
 * they spread evenly, those left out would be the image of the others, and no split would look too
 * fine.  A weight that is not a whole number is one copy.  (Internal header.) */
#ifndef CREDENCE_MODELS_TREE_FOLDS_H
#define CREDENCE_MODELS_TREE_FOLDS_H

#include "columns.h"

/* What of a row is left out with a fold. */
typedef struct cri_part {
    size_t row, fold;
    double weight;
} cri_part;

typedef struct cri_deal {
    size_t    n, folds;
    cri_part *part; /* [n], by row; the weights of the parts of a row sum to its own */
} cri_deal;

/* Folds 0 .. folds-1, `most` of them, or the number of copies where that is less.  Up to 16 equal
 * copies are dealt one by one, so that the folds, and of classes each, are of even size; of more,
 * the numbers in the folds are drawn together.  O(copies log copies), or rows where that is more,
 * and O(n p).  The columns are those of the rows.
 * Fails with CR_ENOMEM. */
cr_status cri_deal_folds(cr_ctx *cx, const cri_kept *kept, const cri_columns *columns, bool classes,
                         size_t most, uint64_t seed, cri_deal *out);
void      cri_deal_free(cr_ctx *cx, cri_deal *deal);

/* w [n] = the weights of the rows without fold f; returns the weight that it holds, or 0 where that
 * leaves nothing, so that nothing can be judged by it. */
double cri_deal_without(const cri_deal *deal, const cri_kept *kept, size_t f, double *w);

#endif
