/* classifier_stream.h -- a linear classifier from a stream of rows: by cumulated estimating
 * equations (classifier_renew.c) while D = M q is small, else by stochastic gradients
 * (classifier_stream.c). (Internal header.) */
#ifndef CREDENCE_MODELS_LOGISTIC_CLASSIFIER_STREAM_H
#define CREDENCE_MODELS_LOGISTIC_CLASSIFIER_STREAM_H

#include "classifier.h"
#include "base/scratch.h"

/* true where D x D matrices are small enough to be kept. */
bool cri_classifier_renews(const cri_classifier *m);
/* m, which holds no rows, comes to hold those of an old one and behind them x with its classes. */
cr_status cri_classifier_hold(cr_ctx *cx, const cri_classifier *opt_old,
                              const cri_classifier_rows *x, const uint32_t *y, cri_classifier *m);
/* true when no more should be held. */
bool cri_classifier_is_full(const cri_classifier *m);
/* The rows that m holds, which *out_x and *out_y borrow from it and from the arena. */
cr_status cri_classifier_held(cr_scratch *s, const cri_classifier *m, cri_classifier_rows *out_x,
                              uint32_t **out_y);
/* Lets go of them. */
void cri_classifier_release(cr_ctx *cx, cri_classifier *m);

/* Lets go of the quadratic. */
void cri_classifier_forget(cr_ctx *cx, cri_classifier *m);

/* m learns from the rows of f, and remembers them by a quadratic; m->theta, weight, steps and folds
 * follow. */
cr_status cri_classifier_fold(cr_ctx *cx, const cri_likelihood *f, double lambda, cri_classifier *m,
                              bool *out_converged);
/* After the last fold: theta is corrected for what the quadratics miss, m->distance is the largest
 * such correction in standard errors (one of 1 or more is not made; NaN: not known), and sds are
 * set. */
cr_status cri_classifier_settle(cr_ctx *cx, const cri_likelihood *f, double lambda,
                                cri_classifier *m);

/* Solves for the rows of x as if they were all: what cri_classifier_fit does with its rows. */
cr_status cri_classifier_solve(cr_ctx *cx, const cr_design *design, const cri_classifier_rows *x,
                               uint32_t *y, const cri_classifier_settings *o, cri_classifier *m,
                               cr_report *report);

#endif
