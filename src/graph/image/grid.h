/* grid.h -- Markov networks on the pixels of an image.
 *   E(x) = sum_i D_i(x_i) + J sum_{i~j} min(|x_i - x_j|, T),      p(x) = exp(-E(x)) / Z
 * x_i one of K labels, i~j neighbours in the four directions.  K = 2 is the Ising model in a field;
 * T = 1 is Potts' model; T > 1 a truncated linear metric, which lets edges be sharp and slopes be
 * smooth.  Four ways to the best image, or to a good one:
 *   ICM            one pixel after another takes its best label: fast, the nearest valley
 *   max-product    messages along rows and columns, on a graph with loops: often very good
 *   Gibbs          draws from p(x); each pixel takes its most frequent label: few wrong pixels
 *   cut            two labels: the minimum of E, by a smallest cut, exactly; more: expansion moves,
 *                  within a known factor of the minimum
 * Besag (1986); Geman & Geman (1984); Greig, Porteous & Seheult (1989); Boykov, Veksler & Zabih
 * (2001), "Fast approximate energy minimization via graph cuts"; Felzenszwalb & Huttenlocher
 * (2006). */
#ifndef CREDENCE_GRAPH_IMAGE_GRID_H
#define CREDENCE_GRAPH_IMAGE_GRID_H

#include "graph/network/network.h"

typedef struct cr_grid {
    size_t        width, height, labels;
    const double *cost;     /* [height x width x labels] D */
    double        coupling; /* J >= 0 */
    double        truncate; /* T >= 1, in labels */
} cr_grid;                  /* borrows its costs */

#define CR_GRID_METHODS "cut|icm|max-product|gibbs"
typedef enum cr_grid_method {
    CR_GRID_CUT,
    CR_GRID_ICM,
    CR_GRID_MAX_PRODUCT,
    CR_GRID_GIBBS
} cr_grid_method;

typedef struct cr_grid_options {
    cr_grid_method method;
    size_t         sweeps; /* at the most; of Gibbs: so many, the first fifth is not counted */
    uint64_t       seed;   /* of Gibbs */
} cr_grid_options;

typedef struct cr_grid_report {
    size_t sweeps;    /* of ICM, max-product and Gibbs; moves of expansion */
    bool   converged; /* nothing changed in the last one */
    bool   exact;     /* this is the minimum of E */
    bool   timed;     /* the time limit ended it: the labels so far */
    double energy;    /* E of the answer */
} cr_grid_report;

/* cut, 100 sweeps, seed 0. */
CR_API cr_grid_options cr_grid_defaults(void);
/* E(x), x [height x width]. */
CR_API double cr_grid_energy(const cr_grid *g, const size_t *x);
/* The best labels: of all but Gibbs those of the least E that it finds, starting from the cheapest
 * label of each pixel; of the sweeps that a time limit leaves time for.  CR_EARG where the grid has no pixels or labels, or a cost is not finite. */
CR_API cr_status cr_grid_solve(cr_ctx *cx, const cr_grid *g, const cr_grid_options *opt_o,
                               size_t *out_x, cr_grid_report *opt_report);
/* The same model as a Markov network of variables "p0_0" (row, column), ...: for all that is done
 * with networks. */
CR_API cr_status cr_grid_network(cr_ctx *cx, const cr_grid *g, cr_network **out_net);

#endif
