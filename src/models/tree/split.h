/* split.h -- the best split of a node along one column.
 * Its rows come as entries, one a row, or as cells: what the rows of each bin (of a category, of
 * each level) add up to.  Both ways search the same splits.  (Internal header.) */
#ifndef CREDENCE_MODELS_TREE_SPLIT_H
#define CREDENCE_MODELS_TREE_SPLIT_H

#include "grow.h"

/* What the search needs of a node. */
typedef struct cri_node_view {
    cri_tree_loss   loss;
    size_t          classes;
    const cri_case *cases;
    double          weight, mean; /* of the node; mean of numbers      */
    const double   *counts;       /* [classes] weights of the node     */
    double          min_leaf;
    double          base; /* cri_split_base                              */
    double          tie;  /* gains that differ less are the same         */
} cri_node_view;

typedef struct cri_split {
    double   gain;     /* what the children's losses fall short of the node's; -INFINITY where
                          there is no split                                                  */
    uint32_t rank;     /* a number: ranks (of cells: bins) up to this go left                */
    uint32_t next;     /* the next one in the node; CRI_GAP where the others are gaps        */
    bool     gap_left; /* gaps go left                                                       */
    bool     gaps;     /* there were some                                                    */
} cri_split;

/* The sums over the rows of a node in each bin of a column, those of gaps in the last cell. */
typedef struct cri_cells {
    size_t          bins;   /* without that of gaps                                            */
    size_t          width;  /* numbers in a cell: 2, or the classes                            */
    const double   *sums;   /* [bins + 1 x width]: W and sum w (y - centre); or class weights  */
    const uint32_t *counts; /* [bins + 1] rows; NULL where an empty cell has a weight of 0     */
    double          centre;
} cri_cells;

/* The score of the node itself, which gains are measured from: its weight minus its loss (gini),
 * minus its loss (entropy), 0 (squares). */
double cri_split_base(const cri_node_view *v);
/* Doubles of workspace that a search needs, all 0 before the first; for categories, rows of width
 * D. */
size_t cri_split_workspace_size(const cri_columns *columns, size_t classes);
size_t cri_level_workspace_size(size_t levels, size_t D);
/* The best split along a column of numbers; e [n] are its entries in the node, by rank. */
cri_split cri_split_numbers(const cri_node_view *v, const cri_entry *e, size_t n,
                            double *workspace);
cri_split cri_split_number_cells(const cri_node_view *v, const cri_cells *cells, double *workspace);
/* The best split along a category of `levels` levels.  left [levels] = 1 for those that go left, 0
 * for the others and -1 for levels that no row has; may be NULL.  O(n + k log k) for the k levels
 * that the node has, but for two things: left is [levels], and cells are looked at one by one. */
cri_split cri_split_levels(const cri_node_view *v, const cri_entry *e, size_t n, size_t levels,
                           double *workspace, double *opt_left);
cri_split cri_split_level_cells(const cri_node_view *v, const cri_cells *cells, double *workspace,
                                double *opt_left);

/* --- shared by the searches ------------------------------------------------------------------ */

static inline bool cri_split_is_large(const cri_node_view *v, double left, double right)
{
    double least = v->min_leaf * (1 - 1e-12);
    return left > 0 && right > 0 && left >= least && right >= least;
}
/* The rows, weight and sums of a cell. */
static inline bool cri_cell_is_empty(const cri_cells *c, size_t bin, double weight)
{
    return c->counts ? c->counts[bin] == 0 : !(weight > 0);
}
static inline double cri_cell_weight(const cri_cells *c, const cri_node_view *v, size_t bin)
{
    const double *cell = c->sums + bin * c->width;
    double        weight = cell[0];
    for (size_t k = 1; v->loss != CRI_TREE_SQUARES && k < c->width; k++) weight += cell[k];
    return weight;
}
/* sum_k c_k log c_k - w log w, and sum_k c_k^2 / w. */
double cri_entropy_score(const double *c, size_t K, double w);
double cri_gini_score(const double *c, size_t K, double w);

#endif
