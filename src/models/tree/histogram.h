/* histogram.h -- what the rows of a node add up to in each bin of each column.
 * A cell of numbers is W and sum w (y - centre), one of classes their weights.  The histogram of a
 * node's second child is its own minus the first child's.  (Internal header.) */
#ifndef CREDENCE_MODELS_TREE_HISTOGRAM_H
#define CREDENCE_MODELS_TREE_HISTOGRAM_H

#include "split.h"

enum { CRI_NO_SLOT = -1 };

typedef struct cri_histograms {
    const cri_bins *bins;
    size_t          width;         /* numbers in a cell                                         */
    bool            numbers;       /* not classes                                               */
    bool            counted;       /* rows are counted too: weights that are not whole numbers do
                                      not cancel where a child leaves a bin empty               */
    double          centre;        /* of the numbers of this tree                               */
    int             slots, spared; /* slots; how many of them stand in `spare`                  */
    int            *spare;         /* [slots]                                                   */
    bool           *direct;        /* [slots]: added up, not subtracted                         */
    double         *sums;          /* [slots x cells x width]                                   */
    double         *squares;       /* [slots] of numbers: sum w (y - centre)^2                  */
    uint32_t       *counts;        /* [slots x cells]; NULL where nothing is subtracted         */
    size_t          parts;         /* most of them                                              */
    double         *part_sums;     /* [parts - 1 x cells x width]                               */
    uint32_t       *part_counts;   /* [parts - 1 x cells]                                       */
} cri_histograms;

/* Room for the histograms of a tree of that depth; at least three, and no more than about 64 MB. */
cr_status cri_histograms_new(cr_ctx *cx, const cri_bins *bins, size_t classes, size_t max_depth,
                             cri_histograms *out);
void      cri_histograms_free(cr_ctx *cx, cri_histograms *h);
/* All slots are free again. */
void cri_histograms_clear(cri_histograms *h);
/* A free slot, or CRI_NO_SLOT. */
int  cri_histogram_take(cri_histograms *h);
void cri_histogram_give(cri_histograms *h, int slot);

/* Adds up rows [n] (NULL: all) into the slot.  O(n p), in parts that n alone decides, added up in
 * order. */
cr_status cri_histogram_fill(cr_ctx *cx, cri_histograms *h, const cri_case *cases,
                             const uint32_t *rows, size_t n, int slot);
/* The slot minus another. */
void cri_histogram_subtract(cri_histograms *h, int slot, int less);
/* The cells of a column. */
cri_cells cri_histogram_cells(const cri_histograms *h, int slot, size_t column);

#endif
