/* gp_starts.h -- where the search for hyper-parameters begins, and how far it may go, from the
 * data.  Every parameter has a unit: for a length-scale the distances between the rows (median
 * distance, or sqrt(2 d) standard deviations of its column), for an amplitude the variance of the
 * target divided among the terms of the expression.  A start is a multiple of the units; bounds are
 * far multiples. (Internal header.) */
#ifndef CREDENCE_MODELS_GP_SEARCH_GP_STARTS_H
#define CREDENCE_MODELS_GP_SEARCH_GP_STARTS_H

#include "models/gp/exact/gp_exact.h"
#include "base/scratch.h"

typedef struct cri_gp_space {
    size_t  p;             /* of theta; the noise is number p where it is learned          */
    size_t  size;          /* p, or p + 1 with the noise                                   */
    double  variance;      /* of the target about its mean function                        */
    double  nearest;       /* how far neighbours are, in units of one length for all columns */
    double *lower, *upper; /* [p + 1] bounds                                               */
    double *unit;          /* [p + 1] theta at the units                                   */
    double *given;         /* [p + 1] theta as in the expression                           */
    int    *kind;          /* [p + 1] of enum cri_gp_kind                                  */
    size_t *tie;           /* [p + 1] parameters that move together at first have one tie  */
    size_t  ties;          /* how many different ones                                      */
    size_t *term;          /* [p + 1] its term of the sum at the root; the noise: `terms`  */
    size_t  terms;         /* up to the last one with parameters; 1 where there is no sum  */
    bool    tied;          /* fewer ties than parameters                                   */
    bool    has_values;    /* the expression gives values of its own                       */
    bool    has_lengths;
} cri_gp_space;

/* Slopes are those of loglinear, by a unit of their columns. */
enum cri_gp_kind { CRI_GP_OTHER, CRI_GP_LENGTH, CRI_GP_AMPLITUDE, CRI_GP_NOISE, CRI_GP_SLOPE };

/* The lowest noise that is learned, relative to the variance of the target about its mean. */
#define CRI_GP_NOISE_FLOOR 1e-8

/* Each term of a sum begins at lengths a third of those of the term before it: log 3. */
#define CRI_GP_TERM_STEP 1.0986122886681098

/* Units and bounds; the memory is the arena's.  variance > 0. */
cr_status cri_gp_space_new(cr_scratch *s, const cr_kernel *k, const cri_gp_problem *problem,
                           double variance, double noise, bool learn_noise, cri_gp_space *out);
/* x [size] := lengths at `length` units, amplitudes at what the noise (a share of the variance)
 * leaves, larger for long ones, others as given; within the bounds. */
void cri_gp_start(const cri_gp_space *space, double length, double noise, double *x);
/* x := a random start, each parameter by itself. */
void cri_gp_start_random(const cri_gp_space *space, uint64_t seed, uint64_t number, double *x);
/* How many length-scales the kernel of parameter j has, one a column; 0 where it is none. */
size_t cri_gp_count_columns(const cri_gp_space *space, size_t j);
/* true for a length-scale beside others of its kernel. */
bool cri_gp_is_column(const cri_gp_space *space, size_t j);
/* x := another, in which all columns of each kernel count, or half of them, or two, these also at
 * lengths as short as the columns are fine, and now and then without noise: optima that differ by the
 * columns that are in lie around such points. */
void cri_gp_start_sparse(const cri_gp_space *space, uint64_t seed, uint64_t number, double *x);
/* Where the mean function meets the average at every input, of f nothing is left to be learned, and
 * of the noise what rows of the same input tell: that of the greatest evidence.  Says so; constant: y
 * does not vary. */
void cri_gp_learn_noise_alone(cr_ctx *cx, const cri_gp_data *data, bool constant, bool learn,
                              double *noise);
/* Warns of hyper-parameters at a bound, "rbf.l (upper), noise (lower)", and what that means;
 * classes: of a classifier. */
void cri_gp_report_bounds(cr_ctx *cx, const char *at_bound, bool classes);
/* The mean square of y about the mean function (weighted least squares, noise alone). */
cr_status cri_gp_target_variance(cr_ctx *cx, const cri_gp_problem *problem, double *out_variance);

#endif
