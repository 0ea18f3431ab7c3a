/* reweight.h -- robust estimates by reweighted least squares: Student's t by EM, Huber's M.
 *   Student:  y = b0 + x.b + s t_nu;  w_i = (nu + 1) / (nu + r_i^2 / s^2),  s^2 = sum w r^2 / sum w,
 *             which is EM in an expanded model and much faster than EM itself; nu, where it is not
 *             given, maximises the objective at each step (ECME), from 1 to 500.
 *             The objective is the likelihood, or, restricted, the likelihood integrated over a flat b in
 *             the way of normal noise, log L + p log s, times the prior Gamma(2, 0.1) of nu: then
 *             s^2 = sum w r^2 / (n - p), where sum w = n + p / nu.  s -> 0 along a line through p rows
 *             costs nu (n - p) log s there, so that the objective is bounded, which the likelihood is not
 *             for nu < p / (n - p).  The prior is that of Juarez & Steel (2010), J. Bus. Econ. Stat. 28.
 *   Huber:    w_i = min(1, c s / |r_i|),  s = median |r| / 0.6745 at each step.
 * Where more than a share nu / (nu + 1) of the rows, or half of them, lie on a line exactly, s goes
 * to 0 and Student's likelihood to infinity: the line is that one, and s is not known (NaN).
 * Lange, Little & Taylor (1989), J. Am. Stat. Assoc. 84;  Kent, Tyler & Vardi (1994), Commun. Stat.
 * 23; Liu & Rubin (1994), Biometrika 81;  Huber (1981), Robust Statistics, ch. 7.  (Internal
 * header.) */
#ifndef CREDENCE_MODELS_ROBUST_REWEIGHT_H
#define CREDENCE_MODELS_ROBUST_REWEIGHT_H

#include "models/linear/least_squares.h"

typedef struct cri_robust_problem {
    const cri_rows *rows;
    const double   *weight; /* [n] what a row counts */
    bool            intercept;
    double          nu;         /* Student: degrees of freedom, NaN to estimate them */
    bool            restricted; /* Student: the objective above, not the likelihood alone */
    double          tuning;     /* Huber: c */
    double          tolerance;
    size_t          max_iter;
} cri_robust_problem;

typedef struct cri_robust_fit {
    cri_predictor     line; /* coefficients; geometry and sds are not those of the model */
    cri_least_squares facts;
    double           *r;                         /* [n] residuals */
    double            scale, nu, log_likelihood; /* scale NaN: the rows that count lie on a line */
    size_t            iterations;
    bool              converged;
} cri_robust_fit;

cr_status cri_student_solve(cr_ctx *cx, const cri_robust_problem *p, cri_robust_fit *out);
/* Where an estimate of nu ended: -1 at its least, 1 at its most, else 0. */
int       cri_student_bound(double nu);
cr_status cri_huber_solve(cr_ctx *cx, const cri_robust_problem *p, cri_robust_fit *out);
void      cri_robust_fit_free(cr_ctx *cx, const cri_robust_problem *p, cri_robust_fit *fit);

/* sum of w log p(r) under s t_nu. */
double cri_student_log_likelihood(const double *r, const double *w, size_t n, double scale,
                                  double nu);
/* The least x with at least the share of the weight at or below it; r is sorted in place, its
 * weights with it: pairs [n][2]. */
double cri_weighted_quantile(double (*pairs)[2], size_t n, double share);

#endif
