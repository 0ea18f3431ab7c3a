/* component.h -- a smoothing spline of one column in a fit: rows that share a value are merged into
 * one knot, which changes nothing; lambda is given, or chosen by a criterion.
 *   gcv       n RSS / (n - gamma df)^2                     (Craven & Wahba 1979: gamma = 1)
 *   loo       sum_i w_i ((y_i - f_i) / (1 - h_i))^2 / n, the error of each row left out
 *   evidence  the restricted likelihood of lambda and s^2: the density of the data with the line
 *             integrated out under a flat prior (Wahba 1985; Speed 1991)
 * df = sum_k W_k V_k = the trace of the smoother, with what the others have where there are
 * several. n is the sum of the weights.
 *
 * As lambda goes to 0, RSS and (n - df)^2 both vanish as lambda^2: plain gcv tends to a number that
 * two close rows with like targets make arbitrarily small, and then goes through the points.  With
 * gamma = 1.4 that end is closed (Kim & Gu 2004, JRSS B 66, 337-356); for any gamma, df over the
 * share CRI_MOST_DF of n is not looked at.  (Internal header.) */
#ifndef CREDENCE_MODELS_SPLINE_COMPONENT_H
#define CREDENCE_MODELS_SPLINE_COMPONENT_H

#include "smoother.h"
#include "base/scratch.h"

typedef enum cri_spline_choice {
    CRI_CHOOSE_GCV,
    CRI_CHOOSE_LOO,
    CRI_CHOOSE_EVIDENCE
} cri_spline_choice;

/* Of n: gcv means nothing where the degrees of freedom are nearly as many as the rows. */
#define CRI_MOST_DF 0.9

typedef struct cri_component {
    size_t        n, m;          /* rows and knots; m = 1 for a column of one value: f is 0 */
    double        origin, scale; /* u = (x - origin) / scale                              */
    double        weight, total; /* mean weight of a knot, and the sum                    */
    size_t       *knot_of;       /* [n] knot of each row                                  */
    const double *w;             /* [n] weights of the rows                               */
    double       *W;             /* [m] weights / weight                                  */
    double       *knots;         /* [m x CRI_KNOT_SIZE]                                   */
    double       *mean;          /* [m] of the rows at the knot                           */
    const double *y;             /* [n] of the last fit                                   */
    double        within;        /* sum of w (y - mean of its knot)^2                     */
    double        q;             /* of the last fit: 1 / lambda in the units of u         */
    double        rss, df, loo;
    double        elsewhere; /* df of other components, which the criteria count with its own */
    bool          whole;     /* a row is left out with all of its weight (models/common/copies.h) */
    double        gamma;     /* what gcv counts a degree of freedom for */
    bool          at_bound;  /* gcv would have gone on to more than CRI_MOST_DF n */
    double        squares, log_likelihood; /* restricted; squares / (n - 2) is its s^2    */
} cri_component;

/* Sorts a column and merges its rows; all memory from the arena.  x [n] finite, w [n] > 0, kept. */
cr_status cri_component_new(cr_scratch *s, const double *x, const double *w, size_t n,
                            cri_component *out);
/* lambda of the integral over x, and back to q. */
double cri_component_lambda(const cri_component *c, double q);
double cri_component_q(const cri_component *c, double lambda);
/* Means of the knots and the sum of squares within; y [n] is borrowed until the next call. */
void cri_component_set(cri_component *c, const double *y);
/* Fits with q; fills knots, rss, df, loo and the restricted likelihood. */
void cri_component_fit(cri_component *c, double q);
/* The integral of f''^2 over x, of the last fit. */
double cri_component_roughness(const cri_component *c);
/* The q of what is a line but for rounding. */
double cri_component_straight(const cri_component *c);
/* The q of the least criterion: on a grid of half decades, then by Brent's method; sets
 * at_bound. */
cr_status cri_component_choose(cr_ctx *cx, cri_component *c, cri_spline_choice by, double *out_q,
                               size_t *evaluations);
/* The q that has these effective degrees of freedom, or the nearest that can be had. */
cr_status cri_component_match_df(cr_ctx *cx, cri_component *c, double df, double *out_q,
                                 size_t *evaluations);

#endif
