/* calibrate.h -- probabilities of classes brought in line with how often they come true.
 * A classifier says p; a map g is learned from rows that its fit had not seen, such that g(p) is
 * the share of them that is of the class:
 *   isotonic   any rising g, by pooling adjacent violators; straight lines between its steps.  Kept
 *              within 1/(n+2) of 0 and 1: what never happened in n rows may happen yet
 *   platt      g(p) = 1 / (1 + exp(-(a logit(p) + b))), by maximum likelihood of Platt's targets
 *              (n_+ + 1)/(n_+ + 2) and 1/(n_- + 2); a = 1 and b = 0 leave p as it is
 * Two classes need one map, of the second; more have one each, against the rest, and the answers
 * are made to sum to one.  A classifier that decides between pairs of classes has a map for each pair, of its decision value
 * (in the place of logit(p), or of p), learned from the rows of both; what the pairs say, r_ij, becomes the p that minimise
 * sum_i<j (r_ji p_i - r_ij p_j)^2 (Wu, Lin & Weng 2004, JMLR 5, method 2).  Platt (1999), "Probabilistic outputs for support vector machines"; Lin,
 * Lin & Weng (2007), Machine Learning 68:267-276; Zadrozny & Elkan (2002), KDD.  (Internal
 * header.) */
#ifndef CREDENCE_MODELS_CORE_CALIBRATE_H
#define CREDENCE_MODELS_CORE_CALIBRATE_H

#include "class.h"

enum {
    CRI_CALIBRATE_NONE,
    CRI_CALIBRATE_ISOTONIC,
    CRI_CALIBRATE_PLATT,
    CRI_CALIBRATE_CONFORMAL /* of numbers: conformal.h */
};                          /* choices of --calibrate */

/* The maps; those of isotonic lie behind each other in the knots. */
/* clang-format off */
#define CRI_CALIBRATION(MEMBER)                                                                     \
    MEMBER(count,  method,             (),      "", "platt or isotonic")                            \
    MEMBER(count,  classes,            (),      "", "of the classifier")                            \
    MEMBER(count,  maps,               (),      "", "one for two classes, else one for each")       \
    MEMBER(count,  pairs,              (),      "spare", "1: one for each pair of classes, of decision values") \
    MEMBER(count,  knots,              (),      "", "of all maps")                                  \
    MEMBER(vector, calibration_slope,  (maps),  "any", "a of platt")                                \
    MEMBER(vector, calibration_offset, (maps),  "any", "b of platt")                                \
    MEMBER(vector, calibration_map,    (knots), "any", "whose knot it is")                          \
    MEMBER(vector, calibration_x,      (knots), "any", "rising in a map")                           \
    MEMBER(vector, calibration_y,      (knots), "any", "what it is put to")
/* clang-format on */
CRI_RECORD(cri_calibration, CRI_CALIBRATION);

/* Room for maps, zeroed; NULL where there is no memory. */
cri_calibration *cri_calibration_new(cr_ctx *cx, size_t method, size_t K, bool pairs, size_t knots);
/* Learns the maps: P as the classifier said, [n x K] or, with pairs, [n x K (K - 1) / 2] decision values; codes [n] what
 * came, weights [n] or NULL. */
cr_status cri_calibration_fit(cr_ctx *cx, size_t method, const double *P, bool pairs,
                              const uint32_t *codes, const double *opt_weight, size_t n, size_t K,
                              cri_calibration **out_calibration);
/* Puts n rows of K probabilities right, in place, with pairs by the decision values; rows of NaN stay. */
void cri_calibration_apply(const cri_calibration *calibration, double *P, const double *decision,
                           size_t n);
/* The classes i < j of pair number `pair`: (0, 1), (0, 2), .. (1, 2), .. */
void cri_pair_classes(size_t K, size_t pair, size_t *out_i, size_t *out_j);
/* Frees it; NULL is allowed. */
void cri_calibration_free(cr_ctx *cx, cri_calibration *calibration);
/* To and from the model file. */
cr_status cri_calibration_write(cr_ctx *cx, const cri_calibration *calibration, cri_store *store,
                                json_t *out);
cr_status cri_calibration_read(cr_ctx *cx, const cri_store *store, const json_t *in, size_t classes,
                               cri_calibration **out_calibration);

/* Calibrates a fitted model by cross-fitting: the model of these settings is fitted to all folds
 * but one and predicts that one; the maps are learned from all these predictions. */
cr_status cri_calibrate_model(cr_ctx *cx, cr_model *model, const cr_table *table,
                              const cr_setting *settings, size_t n_settings);

/* A model of these settings fitted to all folds but number f, and the rows of that fold as a table of their own; rows
 * [rows of the table] is workspace. */
struct cr_folds;
struct cri_dealt;
/* The rows of a table divided by their weights for the folds of a calibration, where these are counts. */
cr_status cri_dealt_rows(cr_ctx *cx, const cr_model *model, const cr_table *table,
                         struct cri_dealt *out);
cr_status cri_fit_without(cr_ctx *cx, const char *name, const cr_table *table,
                          const cr_setting *settings, size_t n_settings,
                          const struct cr_folds *folds, size_t f, size_t *rows,
                          cr_model **out_model, cr_table **out_test);

#endif
