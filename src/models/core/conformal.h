/* conformal.h -- intervals of numbers that hold as often as they say, whatever the model assumes.
 * Rows that a fit had not seen show by how much it errs.  With m_k the model fitted without fold k, s_k(x) its
 * spread (or 1), and for row i of fold k
 *   R_i = |y_i - m_k(x_i)| / s_k(x_i)
 * the interval of level 1 - a at x goes from the lower to the upper of these quantiles over all rows i:
 *   upper: the ceil((1 - a)(n + 1))-th smallest of m_k(i)(x) + s_k(i)(x) R_i,   lower: likewise of minus these
 *   split       one fold of --calibrate-folds, and one model: at least 1 - a of new rows are held
 *   cv          CV+, all folds: at least 1 - 2 a - sqrt(2 / n) are, and in practice close to 1 - a
 *   jackknife   jackknife+, every row a fold of its own: at least 1 - 2 a
 * for rows that are exchangeable.  Where (1 - a)(n + 1) > n no finite interval can promise that much, and it is
 * infinite.  Rows count by their weights, the new one as 1.  Mean, sd and density stay the model's own.
 * A target that was transformed has its scores before the way back, and the ends are mapped.
 * Vovk, Gammerman & Shafer (2005), Algorithmic Learning in a Random World, sec. 2.2; Lei, G'Sell, Rinaldo,
 * Tibshirani & Wasserman (2018), JASA 113:1094-1111; Barber, Candes, Ramdas & Tibshirani (2021), Annals of
 * Statistics 49:486-507.  (Internal header.) */
#ifndef CREDENCE_MODELS_CORE_CONFORMAL_H
#define CREDENCE_MODELS_CORE_CONFORMAL_H

#include "class.h"

enum {
    CRI_CONFORMAL_CV,
    CRI_CONFORMAL_SPLIT,
    CRI_CONFORMAL_JACKKNIFE
}; /* choices of --conformal */
enum {
    CRI_CONFORMAL_SCALE_AUTO,
    CRI_CONFORMAL_SCALE_SD,
    CRI_CONFORMAL_SCALE_NONE
}; /* choices of --conformal-scale */

/* The scores of held-out rows, those of a fold together and rising. */
/* clang-format off */
#define CRI_CONFORMAL(MEMBER)                                                                       \
    MEMBER(count,  folds,            (),      ">0",  "models, each without the rows of a fold")     \
    MEMBER(count,  rows,             (),      ">0",  "with a score")                                \
    MEMBER(flag,   scaled,           (),      "",    "scores are in units of the model's spread")   \
    MEMBER(real,   weight,           (),      ">0",  "of all rows")                                 \
    MEMBER(index,  conformal_first,  (folds), "",    "where the rows of a fold begin")              \
    MEMBER(vector, conformal_score,  (rows),  ">=0", "how far off the model without the row was")   \
    MEMBER(vector, conformal_weight, (rows),  ">=0", "of the rows of the fold up to this one")
/* clang-format on */
struct cr_conformal {
    CRI_CONFORMAL(CRI_RECORD_MEMBER)
    cr_model    **models;    /* [folds] */
    cri_transform transform; /* of the target, as of the model: scores are before the way back */
};

/* Learns scores for a fitted model of numbers: fits it again without each fold. */
cr_status cri_conformal_fit(cr_ctx *cx, cr_model *model, const cr_table *table,
                            const cr_setting *settings, size_t n_settings);
/* From held-out rows, sorted by fold: score [rows], weight [rows], count [folds]; the models are not there yet. */
cr_status cri_conformal_new(cr_ctx *cx, const double *score, const double *weight,
                            const size_t *count, size_t folds, bool scaled,
                            cr_conformal **out_conformal);
void      cri_conformal_free(cr_ctx *cx, cr_conformal *conformal);

/* The interval of level `level` where model k has mean[k] and, if scaled, scale[k]; NaN where one of them is.
 * Pure; work [2 folds]. */
void cri_conformal_interval(const cr_conformal *conformal, const double *mean,
                            const double *opt_scale, double level, size_t *work, double *opt_lower,
                            double *opt_upper);
/* The same of the rows begin .. end-1 of a prediction that has these models' answers, to opt_lower[0], ...;
 * warns where they are infinite. */
cr_status cri_conformal_intervals(cr_ctx *cx, const cr_prediction *prediction, size_t begin,
                                  size_t end, double level, double *opt_lower, double *opt_upper);
/* The least weight of rows by which intervals of this level are finite. */
double cri_conformal_least(double level);

/* What the models without a fold say of the rows of a table: fold_mean and fold_scale of a prediction. */
cr_status cri_conformal_predict(cr_ctx *cx, const cr_conformal *conformal, const cr_table *table,
                                cr_prediction *prediction);

/* How far intervals of some levels reach out: the rows of `conformal` in a description. */
cr_status cri_conformal_describe(cr_ctx *cx, const cr_conformal *conformal, cri_sheet *out);
/* To and from the model file. */
cr_status cri_conformal_write(cr_ctx *cx, const cr_conformal *conformal, cri_store *store,
                              json_t *out);
cr_status cri_conformal_read(cr_ctx *cx, cri_store *store, const json_t *in, const cr_model *model,
                             cr_conformal **out_conformal);

#endif
