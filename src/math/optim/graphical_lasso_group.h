/* graphical_lasso_group.h -- one group of connected columns on its way to its precision matrix.  (Internal header.) */
#ifndef CREDENCE_MATH_OPTIM_GRAPHICAL_LASSO_GROUP_H
#define CREDENCE_MATH_OPTIM_GRAPHICAL_LASSO_GROUP_H

#include "base/context.h"

/* Entries of the step that may differ from 0, in both triangles, row by row: those of row i are
 * [start[i], start[i+1]), column[k] rising, and mirror[k] is the place of the other one. */
typedef struct cri_free_entries {
    size_t  n, room;
    size_t *start, *filled;  /* [m + 1]; [m] workspace */
    size_t *column, *mirror; /* [room] */
    double *D;               /* [room] the step        */
    double *work;            /* [4 room] of the conjugate gradients */
} cri_free_entries;

enum { CRI_LASSO_LANES = 16 };

typedef struct cri_lasso_group {
    cr_ctx       *cx;
    size_t        m;
    double        lambda;
    const double *graph;                /* [m x m] or NULL */
    double       *S, *T, *W, *L, *next; /* [m x m]; behind W as many numbers as lanes, of no use */
    size_t        slots;                /* of workspaces for rows at work */
    double       *r;   /* [slots][m x CRI_LASSO_LANES] rows of the product of W and a step */
    double       *row; /* [slots][m] one of these */
    cri_free_entries free;
    double           objective; /* of T, of which L is the factor and W the inverse */
} cri_lasso_group;

/* true where an entry may differ from 0. */
static inline bool cri_lasso_allows(const cri_lasso_group *g, size_t i, size_t j)
{
    return !g->graph || i == j || g->graph[i * g->m + j] != 0;
}

/* The step D that nearly minimises the model of the objective about T,
 *   tr(G D) + tr(W D W D) / 2 + lambda |T + D|,   G = S - W,
 * over the entries that are not 0 or are about to leave it; the later the iteration, the more exactly. */
cr_status cri_lasso_step(cri_lasso_group *g, size_t iteration);
void      cri_lasso_release(cri_lasso_group *g);

#endif
