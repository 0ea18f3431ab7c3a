/* noise_model.h -- noise whose spread depends on some columns, of a linear model:
 *   y = b0 + x.b + e,   e ~ N(0, s(x)^2),   log s(x) = level + sum_k g_k (x_k - centre_k).
 * b by least squares with precisions 1 / s^2, g by Fisher's scoring of the squared residuals over 1 - h, h the
 * leverage, which takes the place of the degrees of freedom that b has used up; by turns until both stand still.
 * Cov(level, g) = (2 D'D)^-1, D the columns with a 1 before them.  Aitkin (1987), Applied Statistics 36:332-339; Smyth,
 * Huele & Verbyla (2001), Journal of Statistical Computation and Simulation 70.  (Internal header.) */
#ifndef CREDENCE_MODELS_LINEAR_NOISE_MODEL_H
#define CREDENCE_MODELS_LINEAR_NOISE_MODEL_H

#include "models/common/predictor.h"

/* clang-format off */
#define CRI_NOISE_MODEL(MEMBER)                                                                     \
    MEMBER(count,  noise_terms,  (),            "spare", "terms of the noise; 0: it is the same everywhere") \
    MEMBER(real,   noise_level,  (),            "spare", "log s at the centre")                     \
    MEMBER(real,   noise_zero_sd, (),           "spare", "of log s at x = 0")                       \
    MEMBER(index,  noise_term,   (noise_terms), "full",  "which terms of the design")               \
    MEMBER(vector, noise_centre, (noise_terms), "full",  "")                                        \
    MEMBER(vector, noise_coef,   (noise_terms), "full",  "g")                                       \
    MEMBER(vector, noise_sd,     (noise_terms), "full",  "of g")                                    \
    MEMBER(matrix, noise_cov,    (noise_terms, noise_terms), "none", "Cov g; older files have none, and take it as known")
/* clang-format on */
CRI_RECORD(cri_noise_model, CRI_NOISE_MODEL);
extern const cri_member cri_noise_model_record[];

/* The terms of the columns in the list, and their centres; g = 0.  Fails with CR_EARG for a column that is no feature. */
cr_status cri_noise_model_new(cr_ctx *cx, const char *columns, const cri_rows *rows,
                              cri_noise_model *out);
/* log s [n] of rows.  Pure. */
void cri_noise_model_at(const cri_noise_model *m, const cri_rows *rows, double *out);
/* One step of scoring from u [n] = e^2 / (s^2 (1 - h)): changes level, g and their sds; *out_step: the largest change
 * of log s. */
cr_status cri_noise_model_step(cr_ctx *cx, cri_noise_model *m, const cri_rows *rows,
                               const double *u, double *out_step);
/* The scales of a prediction, of the noise sigma everywhere, become those with the noise of each row instead; and as g is
 * an estimate, their degrees of freedom fall to d(x) with
 *   trigamma(d(x) / 2) = trigamma(d / 2) + 4 Var(g . (x - centre)),
 * the variance that the logarithm of a sample variance has.  Nothing to do without terms or scales. */
cr_status cri_noise_model_spread(cr_ctx *cx, const cri_noise_model *m, double sigma,
                                 const cri_rows *rows, cr_prediction *out);
/* What the log evidence gains when g, at its best, is integrated out under the prior g_k ~ N(0, 1 / sd_k^2), sd_k that of
 * the term, by Laplace's approximation. */
cr_status cri_noise_model_occam(cr_ctx *cx, const cri_noise_model *m, const cri_rows *rows,
                                double *out);
/* Whether what a file holds is of p terms. */
bool cri_noise_model_fits(const cri_noise_model *m, size_t p);
/* Adds noise.intercept and noise.TERM to the parameters; `unit` is the sd of the rest, in units of the target. */
void cri_noise_model_describe(const cri_noise_model *m, const cr_design *design, double unit,
                              cri_sheet *parameters);

#endif
