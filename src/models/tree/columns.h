/* columns.h -- the features of the training rows, each column sorted once for any number of trees.
 * A number becomes its rank among the different values of its column, a category the code of its
 * level; a gap is CRI_GAP, and comes last.  For exact splits a column is a list of entries, a rank
 * and its row, 8 bytes; for splits between bins (bins.h) it is the code of each row, and its rank
 * where small nodes are to be split exactly.  (Internal header.) */
#ifndef CREDENCE_MODELS_TREE_COLUMNS_H
#define CREDENCE_MODELS_TREE_COLUMNS_H

#include "bins.h"
#include "models/common/kept.h"

#define CRI_GAP UINT32_MAX

typedef struct cri_entry {
    uint32_t rank, row;
} cri_entry;

typedef struct cri_columns {
    size_t     n, p;
    cri_entry *entries;  /* [p x n]: of each column, by rank; of a category in the order of rows;
                            NULL with bins                                                       */
    cri_bins   bins;     /* most = 0: there are none                                             */
    uint32_t  *ranks;    /* with bins: [p x n] by row; or NULL                                   */
    size_t    *distinct; /* [p]: different numbers, or levels                                    */
    bool      *category; /* [p]                                                                  */
    double   **values;   /* [p]: [distinct] numbers by rank; NULL for a category                 */
} cri_columns;

/* Sorts the columns of the kept rows; which are categories the design says.  With `bins` above 0
 * they are put into that many bins, with `ranks` beside them.  O(p n), side by side.  Fails with
 * CR_EDATA for 2^32 rows or more. */
cr_status cri_columns_new(cr_ctx *cx, const cri_kept *kept, const cr_design *design, size_t bins,
                          bool ranks, cri_columns *out);
void      cri_columns_free(cr_ctx *cx, cri_columns *c);

#endif
