/* average.h -- Bayesian model averaging: predictions of several models, mixed by what the data say
 * of each.  With equal prior probabilities,
 *   w_k = p(D | M_k) / sum_j p(D | M_j),    p(y | x, D) = sum_k w_k p(y | x, D, M_k)
 * The log evidence is the model's own; where some model has none, -BIC / 2 stands for that of all.
 * Hoeting, Madigan, Raftery & Volinsky (1999), "Bayesian model averaging", Stat. Sci. 14:382-417;
 * Kass & Raftery (1995), sec. 4.1, for the BIC. */
#ifndef CREDENCE_STUDY_AVERAGE_H
#define CREDENCE_STUDY_AVERAGE_H

#include "assess.h"

typedef enum cr_weight_basis {
    CR_WEIGHTS_NONE,     /* not all have the one or the other, or they saw different rows */
    CR_WEIGHTS_EVIDENCE, /* of all models                                      */
    CR_WEIGHTS_BIC       /* of all models, where not all have an evidence      */
} cr_weight_basis;

/* "none", "evidence", "bic". */
CR_API const char *cr_weight_basis_name(cr_weight_basis basis);

/* What a fit says of itself, for comparison; NaN where it says nothing. */
typedef struct cr_fit_scores {
    double           log_likelihood, log_evidence, aic, bic;
    cr_evidence_kind evidence;
    size_t           rows;
    bool joint; /* of target and columns: no match for those of the target given the columns */
    size_t
        unknown; /* of a series: what starts unknown, as a number; values that find it have no density */
} cr_fit_scores;

/* Reads them from the report and the statistics of a model. */
CR_API cr_status cr_fit_scores_of(cr_ctx *cx, const cr_model *model, cr_fit_scores *out_scores);

/* The posterior probabilities of n models from their scores; NaN with CR_WEIGHTS_NONE. */
CR_API cr_weight_basis cr_model_weights(const cr_fit_scores *scores, size_t n, double *out_weights);

/* The mixture of the models' predictions for every row: class probabilities exactly; of numbers the
 * mean and sd of the mixture, as a normal distribution (dof infinite).  Rows that some model leaves
 * out are left out.  Fails with CR_EARG unless all models predict numbers, or the same classes. */
CR_API cr_status cr_average_predict(cr_ctx *cx, const cr_model *const *models,
                                    const double *weights, size_t n, const cr_table *table,
                                    cr_prediction *out_prediction);
/* Scores the mixture itself, as cr_evaluate does a model: its density, its quantiles, its CRPS, not
 * those of a normal with the same moments. */
CR_API cr_status cr_average_evaluate(cr_ctx *cx, const cr_model *const *models,
                                     const double *weights, size_t n, const cr_table *table,
                                     double level, cr_assessment *out_assessment);

#endif
