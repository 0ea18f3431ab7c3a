/* gp_optimiser.h -- the optimiser of hyper-parameters: one evaluation, one run of L-BFGS, the
 * Hessian.  x [size] are the free parameters of the kernel and, last, the log noise where it is
 * learned.  (Internal header.) */
#ifndef CREDENCE_MODELS_GP_SEARCH_GP_OPTIMISER_H
#define CREDENCE_MODELS_GP_SEARCH_GP_OPTIMISER_H

#include "gp_learn.h"

/* The state of the optimiser.  It remembers the last point with its gradient: to evaluate that point
 * again costs nothing. */
typedef struct cri_gp_optimiser {
    cr_ctx                *cx;
    const cri_gp_learning *learning;
    const cri_gp_problem  *problem; /* all rows, or some of them             */
    cri_gp_objective      *objective;
    void                  *workspace;
    cri_gp_space           space;
    cr_kernel             *k; /* a copy, overwritten                       */
    double                 noise;
    const double          *base;   /* of tied parameters, x_j = base_j + t_tie(j); NULL: not tied */
    const double *from_t, *from_x; /* [size] where the run began, both ways                      */
    double *x, *gradient; /* [p + 1] workspace                                                 */
    double *seen;         /* [2 (p + 1)] the point remembered, its gradient               */
    double  seen_value;
    const cri_gp_problem
           *seen_problem;         /* NULL: none                                                   */
    size_t  evaluations, refused; /* refused: those without a value */
    double  work;                 /* in evaluations of all rows: for progress */
    size_t  timed_rows;           /* of the last evaluation                   */
    double  timed_seconds;        /* the least that one of these took        */
    double  reserve;              /* seconds that the first evaluations leave */
    double *best, best_value;     /* [p + 1] the best point of most rows      */
    size_t  best_rows;            /* these; 0: none yet                       */
    bool    expired;              /* the time limit came near                 */
} cri_gp_optimiser;

/* A setting of the hyper-parameters that runs improve. */
typedef struct cri_gp_point {
    double *x, value;   /* [size]                                           */
    size_t  iterations; /* steps that led there; max_iter of them at the most */
    cr_stop stop;       /* why the last run ended                         */
} cri_gp_point;

/* How a minimisation ended: converged only where the gradient vanishes, be it that no step lowers
 * the function, or that the last one hardly did. */
cr_stop cri_gp_stop(const cr_minimize_report *report);

/* An optimiser over all rows, memory of the arena; free it with cri_gp_optimiser_end. */
cr_status cri_gp_optimiser_begin(cr_scratch *s, const cri_gp_learning *learning, const cr_kernel *k,
                                 double noise, cri_gp_optimiser *out);
void      cri_gp_optimiser_end(cri_gp_optimiser *run);

/* The optimiser works in t instead of x.  A length-scale, x = log l, has t = asinh(L / l), L beyond the
 * distances of the rows: t is -log l up to a constant where l is short, and L / l where it is so
 * long that the column hardly counts.  There the value depends on 1 / l^2: in t one Newton step drops
 * the column, which in log l would take very many. */
double cri_gp_to_t(const cri_gp_space *space, size_t j, double x);
/* x of parameter j from its t. */
double cri_gp_from_t(const cri_gp_space *space, size_t j, double t);
/* dx / dt, and the second derivative. */
double cri_gp_slope_of_t(const cri_gp_space *space, size_t j, double t, double *opt_second);

/* Value with the log prior at x [size], and its gradient [p + 1]; CR_ENUMERIC where there is
 * none.  CR_ENOMEM where the time limit would come before the end, with what is to follow; the run
 * has expired then, and its best point is what it leaves. */
cr_status cri_gp_evaluate(cri_gp_optimiser *run, const double *x, double *out_value,
                          double *opt_gradient);
/* true when the time that is left does not even do for the posterior of all rows, which takes about a third of an
 * evaluation. */
bool cri_gp_is_hopeless(const cri_gp_optimiser *run);
/* The same value, -INFINITY where there is none; with_gradient: with the gradient, remembered for a run
 * from there. */
cr_status cri_gp_try(cri_gp_optimiser *run, const double *x, bool with_gradient, double *out_value);
/* How near to the optimum a run goes: a millionth of the value will do for a start of something else;
 * as near as tells apart what users see; with few rows, as near as rounding lets it. */
typedef enum cri_gp_care { CRI_GP_ROUGH, CRI_GP_FINE } cri_gp_care;
/* From the point uphill, all parameters by themselves or tied, by `most` steps and no more than the
 * max_iter leaves to it.  opt_curvature [size x size]: minus the second derivatives by t, about. */
cr_status cri_gp_ascend(cri_gp_optimiser *run, bool tied, cri_gp_care care, size_t most,
                        const double *opt_curvature, cri_gp_point *point);
/* B [m x m] := minus the second derivatives at x by the parameters `at` [m], from differences of
 * the gradient, and the gradient [p + 1] there: m + 1 evaluations, m where the point is
 * remembered. */
cr_status cri_gp_hessian(cri_gp_optimiser *run, const double *x, const size_t *at, size_t m,
                         double *out_gradient, double *B);

/* text := those of x that stand at a bound, "noise (lower), rbf.l[2] (upper)"; "" for none. */
void cri_gp_name_bounds(const cri_gp_optimiser *run, const double *x, char *text, size_t size);

/* A [size x size] := what a run over `ratio` times as much data may take for the curvature by t
 * at x: positive definite, 1 for parameters at a bound. */
cr_status cri_gp_hessian_ahead(cri_gp_optimiser *run, const double *x, double ratio, double *A);

/* true when max_iter leaves steps to a run from the point; where it does not, to look for better
 * places to ascend from is of no use. */
bool cri_gp_may_ascend(const cri_gp_optimiser *run, const cri_gp_point *point);
/* From `to`, another point that may lead higher than `best`: some steps, and roughly to the optimum if
 * they come near.  *out_higher: it is above `best` by 0.01; then it has become `best`. */
cr_status cri_gp_ascend_rival(cri_gp_optimiser *run, cri_gp_point *to, cri_gp_point *best,
                              bool *out_higher);
/* For the sum of several terms: from the best point so far each term in turn is given other lengths
 * and sizes while the others stay, and each two are exchanged; what looks best is ascended from, for
 * as long as that gains.  A term that had joined another, or died away, finds its own place so; one
 * that is not needed goes to its bound. */
cr_status cri_gp_renew_terms(cri_gp_optimiser *run, cri_gp_point *best);
/* Each term in turn goes to the lower bound of its variance, where that is better: log v would creep
 * there.  A small one also where it makes no difference, so that the report can name it: a run ends
 * wherever the slope is too small to see.  small_only: no others are tried. */
cr_status cri_gp_drop_terms(cri_gp_optimiser *run, cri_gp_point *best, bool small_only);
/* For kernels of one length-scale a column: from the best point so far each column in turn is given
 * other lengths while the others stay, as a column that was given up, or taken for the cause of
 * what another one explains, does not come back by itself. */
cr_status cri_gp_renew_columns(cri_gp_optimiser *run, cri_gp_point *best);
/* A start for sums: this term explains what it can, the others are quiet and short. */
cr_status cri_gp_lead_by_term(cri_gp_optimiser *run, size_t term, cri_gp_point *point);
/* For periodic kernels: each period in turn over the frequencies that the rows can tell apart, as the
 * evidence has a narrow peak at each one that is there.  A value of the evidence for each, no
 * gradients. */
cr_status cri_gp_renew_periods(cri_gp_optimiser *run, cri_gp_point *best);
/* The optimum of few rows is not that of a bound, which likes more noise, longer scales or a smaller
 * function: of some such changes x [size] takes the best, *out its value, -INFINITY for none. */
cr_status cri_gp_adapt_point(cri_gp_optimiser *run, double *x, double *out);

#endif
