/* bins.h -- the features of the training rows as bins, for trees that add up histograms.
 * A number goes to one of at most `most` bins that hold about the same weight, ranks side by side;
 * where there are no more different numbers than bins, each has its own.  The bins of a category
 * are its levels.  After the bins of a column comes one for its gaps.  Up to eight columns stand
 * together, the codes of a row side by side in bytes, so that one look at a row serves them all; a
 * column of more than 255 bins stands alone, in 32 bits.  (Internal header.) */
#ifndef CREDENCE_MODELS_TREE_BINS_H
#define CREDENCE_MODELS_TREE_BINS_H

#include "base/context.h"

enum { CRI_GROUP_MOST = 8, CRI_NARROW_BINS = 255 };

typedef struct cri_bin_group {
    size_t    first, width; /* columns order[first] .. order[first + width - 1]  */
    uint8_t  *narrow;       /* [n x width]; or NULL                              */
    uint32_t *wide;         /* [n], of a width of 1                              */
} cri_bin_group;

typedef struct cri_bins {
    size_t         n, p, most, groups, cells;
    size_t        *count;  /* [p] bins, without that of gaps                     */
    size_t        *offset; /* [p] the first of a column's cells                  */
    uint32_t     **last;   /* [p]: [count] the highest rank in each bin; NULL for a category */
    size_t        *order;  /* [p] columns by group                               */
    size_t        *place;  /* [p] where a column is in `order`                   */
    size_t        *member; /* [p] its group                                      */
    cri_bin_group *group;  /* [groups]                                           */
} cri_bins;

/* Cuts `ranks` ranks of weights w [ranks] into at most `most` bins: last [most] as above.  Each bin
 * takes ranks until it has its share of what is left, so that a heavy rank has a bin of its own.
 * Returns the number of bins. */
size_t cri_bins_cut(const double *w, size_t ranks, size_t most, uint32_t *last);

/* Puts the columns into groups by their numbers of bins (n, p, most, count and last are set), and
 * makes room for the codes. */
cr_status cri_bins_group(cr_ctx *cx, cri_bins *b);
/* Stores the codes [n] of a column.  Not for two columns of a group at once. */
void cri_bins_store(cri_bins *b, size_t column, const uint32_t *codes);
void cri_bins_free(cr_ctx *cx, cri_bins *b);

/* The codes of one column, for passes over rows. */
typedef struct cri_bin_column {
    const uint8_t  *narrow;
    const uint32_t *wide;
    size_t          stride;
} cri_bin_column;

static inline cri_bin_column cri_bins_column(const cri_bins *b, size_t column)
{
    const cri_bin_group *g = &b->group[b->member[column]];
    size_t               at = b->place[column] - g->first;
    return (cri_bin_column){ g->narrow ? g->narrow + at : NULL, g->wide, g->width };
}
static inline uint32_t cri_bin_of(const cri_bin_column *c, size_t row)
{
    return c->wide ? c->wide[row] : c->narrow[row * c->stride];
}

#endif
