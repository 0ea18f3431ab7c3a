/* joint.h -- columns that are normal together in each state: x | c ~ N(mu_c, Sigma_c), Sigma_c any covariance or the
 * same in all states.  As in emission.h all states are treated at once: entry (a, b) of all covariances is an array [k].
 * Missing cells are integrated out: the density is that of the cells that are there, and the statistics are those
 * expected given them.  O(n k g^2) for n rows of g columns; O(k g^3) for each row with a gap.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_SEQUENCE_JOINT_H
#define CREDENCE_MODELS_SEQUENCE_JOINT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cri_joint {
    size_t               k, stride, g;
    bool                 tied;
    const double *const *x;          /* [g] the columns, from the first of all steps         */
    const size_t        *column;     /* [g] which columns they are: where their means stand  */
    double              *mean;       /* [columns x k]                                        */
    double              *covariance; /* [g x g x k]                                        */
    double              *whiten;     /* [g x g x k] lower triangles W with W Sigma W^T = I      */
    double              *peak;       /* [k] log density at the mean                             */
    const double        *opt_dof;    /* [k] Student's t, with these as scale matrices; 0: normal */
    double              *work;       /* [cri_joint_work]                                        */
} cri_joint;

size_t cri_joint_work(size_t k, size_t g);
/* Statistics: rows [k], sums of d = x - mu [g x k] and of products d d^T [g x g x k], lower triangles. */
size_t cri_joint_width(size_t k, size_t g);

/* whiten and peak of the covariances; false where one is not positive definite. */
bool cri_joint_prepare(cri_joint *j);
/* Adds log N(x_t) to out [(end - begin) x stride]. */
void cri_joint_score(const cri_joint *j, size_t begin, size_t end, double *out);
void cri_joint_gather(const cri_joint *j, size_t begin, size_t end, const double *gamma,
                      double *sums);
/* The best parameters for the statistics, with a prior of s rows of mean 0 and covariance I in each state; whiten and
 * peak follow.  false where a covariance is none. */
bool   cri_joint_solve(cri_joint *j, double s, const double *sums);
double cri_joint_log_prior(const cri_joint *j);
/* The least conditional variance of a column, given those before it, in any state. */
double cri_joint_least(const cri_joint *j);

#endif
