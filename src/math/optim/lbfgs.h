/* lbfgs.h -- the limited memory of lbfgs: the last m pairs s = x' - x, y = g' - g, and the matrix
 *   B = theta I - W M W^T,  W = [Y, theta S] [n x 2k],
 *   M^-1 = [ -D  L^T ; L  theta S^T S ],  D = diag(s_i . y_i),  L_ij = s_i . y_j for i > j
 * that they stand for (Byrd, Nocedal & Schnabel 1994; Byrd, Lu, Nocedal & Zhu 1995, sec. 3).
 * Pairs are numbered 0 .. k-1 from the oldest.  (Internal header.) */
#ifndef CREDENCE_MATH_OPTIM_LBFGS_H
#define CREDENCE_MATH_OPTIM_LBFGS_H

#include "run.h"

typedef struct cri_lbfgs {
    size_t  n, m, k, first; /* room for m pairs, k are there, the oldest in row `first`    */
    double *S, *Y;          /* [m x n]: rows in a ring                                     */
    double *SS, *SY, *YY;   /* [m x m] by rows of the ring: s.s', s.y', y.y'               */
    bool    products;       /* they are kept; else the diagonal of SY alone                */
    double  theta;          /* y.y / s.y of the newest pair; 1 without pairs               */
    double *alpha;          /* [m]: of the two-loop recursion                              */
} cri_lbfgs;

/* Room for m pairs, from the run's scratch; `products` for the box. */
cr_status cri_lbfgs_begin(cri_run *run, size_t m, bool products, cri_lbfgs *out_memory);
/* The pair of the trial and the current point; left out when s . y is not clearly positive. */
void cri_lbfgs_remember(cri_lbfgs *memory, const cri_run *run);
/* d = -H g, H = B^-1, by the two-loop recursion (Nocedal 1980).  O(4 k n). */
void cri_lbfgs_direction(cri_lbfgs *memory, const double *g, double *d);

/* The row of the ring that holds pair i. */
static inline size_t cri_lbfgs_row(const cri_lbfgs *memory, size_t i)
{
    return (memory->first + i) % memory->m;
}

/* The step in the box: scratch of its own. */
typedef struct cri_lbfgsb {
    cri_lbfgs *memory;
    double    *t;           /* [n]: where the path of the projected gradient hits a bound   */
    double    *cauchy;      /* [n]: the generalised Cauchy point, later the subspace minimum */
    size_t    *heap, *free; /* [n]: breakpoints to come, free variables                     */
    size_t     free_count;
    double    *K, *N, *G; /* [2m x 2m]: LU of M^-1, of the reduced system; W_F^T W_F      */
    size_t    *pivot_K, *pivot_N;
    double    *p, *c, *w, *v; /* [2m]                                                         */
} cri_lbfgsb;

cr_status cri_lbfgsb_begin(cri_run *run, cri_lbfgs *memory, cri_lbfgsb *out_box);
/* d [n]: from x to the minimiser of the quadratic model on the face of the box that the Cauchy
 * point lies on.  false when the model is broken; the memory should then be forgotten. */
bool cri_lbfgsb_direction(cri_lbfgsb *box, const cri_run *run, double *d);

#endif
