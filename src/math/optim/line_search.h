/* line_search.h -- a step along a line that satisfies the strong Wolfe conditions:
 *   phi(a) <= phi(0) + c1 a phi'(0)   (decrease)
 *   |phi'(a)| <= c2 |phi'(0)|         (curvature)
 * with phi'(0) < 0 and 0 < c1 < c2 < 1.  More & Thuente (1994), "Line search algorithms with
 * guaranteed sufficient decrease", ACM TOMS 20(3).  Beyond the paper: a value that is not finite
 * is a wall, from which the search steps back and which it does not cross again; a rise of f by no
 * more than its rounding error counts as none.  (Internal header.) */
#ifndef CREDENCE_MATH_OPTIM_LINE_SEARCH_H
#define CREDENCE_MATH_OPTIM_LINE_SEARCH_H

#include "base/status.h"

typedef struct cri_line_point {
    double a, f, slope;
} cri_line_point;

typedef struct cri_line_options {
    double c1, c2;
    double most; /* the longest step: an end of the box, or INFINITY */
    size_t max_evaluations;
    double f_error; /* a rise of f by no more counts as none */
} cri_line_options;

typedef enum cri_line_result {
    CRI_LINE_WOLFE,     /* both conditions hold                                            */
    CRI_LINE_CUT_SHORT, /* sufficient decrease, still falling, but the longest step or a
                         * wall of non-finite values is reached                            */
    CRI_LINE_DECREASE,  /* f is lower, but rounding or the number of evaluations ended it  */
    CRI_LINE_FAILED     /* no step with a lower f was found                                */
} cri_line_result;

typedef cr_status cri_line_fn(void *arg, double a, double *out_f, double *out_slope);

/* Searches from start (its a is 0) with the trial step `first` > 0.  *out_point is the step found
 * and *out_last the step of the last call of phi: where they differ, the caller must evaluate
 * again.  Fails only as phi does. */
cr_status cri_line_search(const cri_line_options *options, cri_line_fn *phi, void *arg,
                          cri_line_point start, double first, cri_line_point *out_point,
                          double *out_last, cri_line_result *out_result);

#endif
