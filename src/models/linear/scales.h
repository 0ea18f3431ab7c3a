/* scales.h -- the posterior of both scales of a Bayesian linear regression, and what it makes of
 * the coefficients.
 *   t ~ N(Z w, s2 I),   w ~ N(0, s2 / l I),   log s2 flat,
 *   tau = signal / l,   sqrt(tau) half-Cauchy:
 * signal = tr G over the number of rows, so that sqrt(tau) is the sd of z . w over that of the noise
 * before any data: about 1, and with tails so long that a relation almost without noise, or one that
 * is not there, is no surprise.  (The share of the variance that the terms explain, tau / (1 + tau),
 * is then Beta(1/2, 1/2).)  Given l the noise is integrated out in
 * closed form,
 *   p(t | l) = c (2 pi)^(-n/2) |I + G / l|^(-1/2) Gamma(n/2) (R/2)^(-n/2),  R = |t - Z m|^2 + l |m|^2,
 * and w is Student t with n degrees of freedom, centre m(l), scale^2 R/n (G + l I)^-1.  What remains
 * is one integral over log l, by the trapezoid rule, whose error falls exponentially with the number
 * of nodes: a mixture of Student t's.
 * c = 1 / sqrt(4 pi): a flat prior of log s2 as high as a normal that knows what one row would tell
 * (variance 2) is in its middle, so that evidences compare (Kass & Wasserman 1995, JASA 90).
 * Liang, Paulo, Molina, Clyde & Berger (2008), JASA 103; Gelman (2006), Bayesian Analysis 1.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_LINEAR_SCALES_H
#define CREDENCE_MODELS_LINEAR_SCALES_H

#include "bordered.h"

/* The problem in the eigenbasis of G: all a step needs.  Directions that are not listed have d = 0.
 * With levels r = p and there is no eigenbasis, but equations to solve. */
typedef struct cri_shrinkage {
    size_t        p, r;  /* terms; directions */
    double        n;     /* observations that inform the noise: one less with a flat intercept */
    const double *d, *u; /* [r] */
    double        tt;
    double        rss0;   /* what no w can explain: tt - sum u^2 / d, at least the rounding of tt */
    double        top;    /* the largest d, about */
    double        signal; /* tr G over the number of rows */
    cri_bordered *levels; /* or NULL */
    double       *x;      /* [p + 1] the last answer of these */
    bool          quiet;  /* one of many: nothing is said of it */
} cri_shrinkage;

/* The sum over the directions of what all priors need, at lambda = alpha / beta. */
typedef struct cri_shrunk {
    double mm, rss, trace, logdet; /* |m|^2, |t - Z m|^2, tr (G + l)^-1, ln |G + l| */
} cri_shrunk;
/* By the levels. */
cr_status cri_shrunk_levels(cr_ctx *cx, const cri_shrinkage *s, double lambda, cri_shrunk *out);

/* A mixture over l: node k has lambda[k], the share weight[k] and noise[k] = R / n. */
typedef struct cri_scales {
    size_t  nodes;
    double *lambda, *weight, *noise; /* [nodes] of the arena */
    double  dof;                     /* n: of each of the t's */
    double  sigma2;                  /* sum weight noise */
    double  log_lambda;              /* its mean */
    double  log_alpha;               /* the mean of log alpha, the precision of the coefficients */
    double  log_evidence;            /* of t */
} cri_scales;

cr_status cri_scales_new(cr_ctx *cx, cr_scratch *arena, const cri_shrinkage *s, cri_scales *out);

/* The log density of x = - log tau where sqrt(tau) is half-Cauchy. */
double cri_log_prior_of_ratio(double x);

/* The mixture in one direction of eigenvalue d, of which the data say u: the mean of m = u / (d +
 * l). */
double cri_scales_mean(const cri_scales *q, double d, double u);
/* The mean of R / n / (d + l), the scale^2 of w in this direction; that of R / n / (l (d + l)) with
 * `inner`. */
double cri_scales_square(const cri_scales *q, double d, bool inner);
/* out [r x nodes] = sqrt(share) (m - mean), 0 where d is: what the m of the nodes add to the scales
 * is out out'.  A t of so many degrees of freedom then has the mixture's mean and variance, where
 * there is one. */
void cri_scales_spread(const cri_scales *q, size_t r, const double *d, const double *u,
                       double *out);

#endif
