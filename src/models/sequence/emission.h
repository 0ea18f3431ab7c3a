/* emission.h -- what a hidden state emits in one column: distributions of numbers, each a row of functions.
 * All states of a column are treated at once: arrays [k] of their parameters, and rows [k] of densities and
 * responsibilities, `stride` apart.  A missing cell is NaN: it has no factor and adds to no statistics.
 *   gaussian            mean, sd
 *   lognormal           the same of log x
 *   student-t           location, scale, degrees of freedom
 *   bernoulli           p = P(x = 1)
 *   poisson             rate
 *   negative-binomial   mean, size: variance mean + mean^2 / size
 *   gamma               mean, shape: variance mean^2 / shape
 *   von-mises           direction, concentration; angles in radians
 *   mixture             M normal parts: weights, means, sds (emission_mixture.c)
 *   regressed           gaussian, the mean linear in covariates: intercept, sd and coefficients (emission_regress.c)
 * Each has a prior that counts for s rows like all rows together: s times the mean of log p(x) over all rows is added
 * to the objective; for student-t that of a normal distribution, for negative-binomial nothing.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_SEQUENCE_EMISSION_H
#define CREDENCE_MODELS_SEQUENCE_EMISSION_H

#include "base/rng.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum cri_emission_kind {
    CRI_EMIT_AUTO, /* of numbers that option leaves open: gaussian */
    CRI_EMIT_GAUSSIAN,
    CRI_EMIT_LOGNORMAL,
    CRI_EMIT_STUDENT,
    CRI_EMIT_BERNOULLI,
    CRI_EMIT_POISSON,
    CRI_EMIT_NEGATIVE_BINOMIAL,
    CRI_EMIT_GAMMA,
    CRI_EMIT_VON_MISES,
    CRI_EMIT_NUMBERS, /* so many kinds of numbers can be asked for */
    CRI_EMIT_CATEGORY = CRI_EMIT_NUMBERS,
    CRI_EMIT_JOINT,     /* gaussian, together with the other such columns: joint.h */
    CRI_EMIT_COVARIATE, /* not emitted: the means of the regressed columns are linear in it */
    CRI_EMIT_REGRESSED, /* gaussian, where there are covariates */
    CRI_EMIT_MIXTURE    /* of gaussian ones, by itself */
} cri_emission_kind;

typedef enum cri_emission_support {
    CRI_ALL_NUMBERS,
    CRI_POSITIVE,
    CRI_COUNTS,
    CRI_ZERO_ONE
} cri_emission_support;

enum { CRI_EMIT_SUMS = 5, CRI_EMIT_WORK = 4 };

/* The parameters of one column in all states, and what is known of it in all rows together. */
typedef struct cri_emitted {
    size_t  k, stride;
    double *mean, *spread, *tail; /* [k] the first, second and third parameter                */
    double  overall, overall2;    /* over all rows: of x and, of gamma, log x; of cos and sin */
    double *work;                 /* [CRI_EMIT_WORK x stride], of regressed ones its own too  */
    /* Of regressed columns: q covariates, coefficients [q x k], and u [n x q] of the rows at hand. */
    size_t        q;
    double       *coef;
    const double *u;
    /* Of mixtures: M parts, [M x k] each. */
    size_t  M;
    double *part_weight, *part_mean, *part_sd;
} cri_emitted;

/* Statistics of a column: sums [CRI_EMIT_SUMS x k], of regressed ones [cri_emit_regress_sums x k], of mixtures [3 M x k],
 * the first the rows that are there. */
typedef struct cri_emission {
    const char          *name;
    const char          *parameter[3]; /* names; NULL: it has no such                       */
    cri_emission_support support;
    bool                 moved;  /* in units (x - centre) / scale                     */
    bool                 scaled; /* in units x / scale                                */
    /* Adds log p(x_t | state), up to what no state changes (`shared`), to out [n x stride]. */
    void (*score)(const cri_emitted *e, const double *x, size_t n, double *out);
    double (*shared)(double x);
    void (*gather)(const cri_emitted *e, const double *x, size_t n, const double *gamma,
                   double *sums);
    /* The parameters of state c that are best for its statistics sums[0], sums[k], ..., with s rows of prior.  A state
     * without rows and prior stays as it is. */
    void (*solve)(const cri_emitted *e, size_t c, double s, const double *sums);
    double (*log_prior)(const cri_emitted *e, size_t c);
    double (*draw)(const cri_emitted *e, size_t c, cr_rng *r);
    /* Parameters of a state that stands for rows like x, within those of all rows. */
    void (*begin)(const cri_emitted *e, size_t c, double x);
} cri_emission;

/* NULL for categories, joint columns and covariates. */
const cri_emission *cri_emission_of(size_t kind);
const char         *cri_emission_name(size_t kind);

extern const cri_emission cri_emit_gaussian, cri_emit_lognormal, cri_emit_bernoulli,
    cri_emit_poisson, cri_emit_regressed, cri_emit_mixture;
extern const cri_emission cri_emit_student, cri_emit_negative_binomial, cri_emit_gamma,
    cri_emit_von_mises;

/* Of regressed columns with q covariates: statistics of a state, and numbers to work in. */
size_t cri_emit_regress_sums(size_t q);
size_t cri_emit_regress_work(size_t q);

/* The parts of a mixture in state c in the order of their means; its mean and spread become those of the whole. */
void cri_emit_order_parts(const cri_emitted *e, size_t c);

/* 0: nothing that no state changes. */
double cri_emit_shares_nothing(double x);
/* sums of 1, x and x^2 about `about` [k]. */
void cri_emit_moments(const cri_emitted *e, const double *x, size_t n, const double *gamma,
                      double *sums);

#endif
