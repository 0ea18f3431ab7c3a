/* parts.h -- a model looked at from inside: log joints, its function without noise, draws and slopes of it, the
 * parts it is a sum of, its inducing inputs, and the evidence at other values of its hyper-parameters.  For models that
 * offer it: a Gaussian process whose kernel is a sum is the sum of independent processes, and the
 * data tell of each (Duvenaud 2014, thesis, sec. 2.4.5). */
#ifndef CREDENCE_MODELS_CORE_PARTS_H
#define CREDENCE_MODELS_CORE_PARTS_H

#include "model.h"

/* One part of a sum. */
typedef struct cr_part {
    char        name[192];
    const char *column;   /* the one column that it looks at, of the design; else NULL */
    bool        category; /* that column has levels, not numbers                       */
} cr_part;

/* One hyper-parameter at its learned value. */
typedef struct cr_hyper {
    char   name[96];
    double value, lower, upper; /* of its range */
    double log_sd;              /* of its logarithm; NaN where it is not known */
    bool   positive;
} cr_hyper;

/* The part number k; an empty name beyond the last, and for models that have no parts. */
CR_API cr_status cr_model_part(cr_ctx *cx, const cr_model *model, size_t k, cr_part *out_part);
/* Mean and sd of the part number k at every row, NaN in rows left out: out [rows of the table].
 * All means add up to the predictive mean, but for the shift of a standardised target.
 * CR_EUNSUPPORTED where the model has no parts, CR_EARG beyond the last. */
CR_API cr_status cr_predict_part(cr_ctx *cx, const cr_model *model, const cr_table *table, size_t k,
                                 double *out_mean, double *out_sd);
/* The function itself at the rows, without the noise of observations, after the data, or before
 * them (prior) at the hyper-parameters of the model: mean and, where wanted, sd [rows], NaN in rows
 * left out, and the covariance [rows x rows], for which no row may be left out (CR_EDATA).
 * CR_EUNSUPPORTED where the model offers none. */
CR_API cr_status cr_predict_function(cr_ctx *cx, const cr_model *model, const cr_table *table,
                                     bool prior, double *out_mean, double *opt_sd,
                                     double *opt_covariance);
/* Joint draws of it: out [rows x count]. */
CR_API cr_status cr_sample_functions(cr_ctx *cx, const cr_model *model, const cr_table *table,
                                     bool prior, size_t count, uint64_t seed, double *out);
/* How many columns of numbers the mean of the function has a slope by; 0 where the model offers
 * none. */
CR_API size_t cr_model_slopes(const cr_model *model);
/* The name of the i-th of them. */
CR_API const char *cr_model_slope_name(const cr_model *model, size_t i);
/* The gradient of the predictive mean, in the units of the data: out [rows x cr_model_slopes], NaN
 * in rows left out.  CR_EUNSUPPORTED where the model offers none. */
CR_API cr_status cr_predict_slopes(cr_ctx *cx, const cr_model *model, const cr_table *table,
                                   double *out);
/* log p(x, class) of each row and class of a generative classifier, in the units of the data and before any
 * calibration: out [rows x classes of the target], NaN in rows left out; their log-sum-exp over the classes is
 * log p(x).  Where values are missing that the model can do without, x are those that are there.
 * CR_EUNSUPPORTED where the model offers none. */
CR_API cr_status cr_predict_log_joint(cr_ctx *cx, const cr_model *model, const cr_table *table,
                                      double *out);
/* true when the model has intervals of its probabilities, as below. */
CR_API bool cr_model_has_probability_intervals(const cr_model *model);
/* The central interval of mass `level` of the probability of each class, by what the data leave open of the parameters:
 * out_lower and out_upper [rows x classes], NaN in rows left out.  CR_EUNSUPPORTED where the model offers none, or its
 * probabilities were calibrated. */
CR_API cr_status cr_predict_probability_intervals(cr_ctx *cx, const cr_model *model,
                                                  const cr_table *table, double level,
                                                  double *out_lower, double *out_upper);
/* true when the model has intervals of its means, as below. */
CR_API bool cr_model_has_mean_intervals(const cr_model *model);
/* The central interval of mass `level` of the mean of each row, by what the data leave open of the parameters and without the
 * noise of an observation: out_lower and out_upper [rows], infinite where there is no end, NaN in rows left out.
 * CR_EUNSUPPORTED where the model offers none, or its target was transformed. */
CR_API cr_status cr_predict_mean_intervals(cr_ctx *cx, const cr_model *model, const cr_table *table,
                                           double level, double *out_lower, double *out_upper);
/* How many columns of numbers a row has that is made from coordinates; 0 where the model offers
 * none. */
CR_API size_t cr_model_reconstructs(const cr_model *model);
/* The name of the i-th of them. */
CR_API const char *cr_model_reconstruct_name(const cr_model *model, size_t i);
/* The way back from coordinates (cr_transform), Z [n x labels]: rows in the units of the data, out
 * [n x cr_model_reconstructs], whose place in the whole space of the model is nearest to the points
 * that have these coordinates there, as far as was found, and the distance that is left,
 * opt_distance [n]; NaN where a coordinate is.  CR_EUNSUPPORTED where the model offers none. */
CR_API cr_status cr_reconstruct(cr_ctx *cx, const cr_model *model, const double *Z, size_t n,
                                double *out, double *opt_distance);
/* The inducing inputs or landmarks u = f(Z) that a sparse process leans on, and q(u), what it holds
 * of its function there: Z in the units of the data, a column for each term of the design. */
typedef struct cr_inducing {
    size_t       n, terms;
    double      *Z;          /* [n x terms]; of a category the code of its level           */
    const char **text;       /* [n x terms] the level itself, the model's; NULL of numbers */
    double      *mean;       /* [n]                                                        */
    double      *covariance; /* [n x n]                                                    */
} cr_inducing;
/* Fills *out.  m^3 operations and 3 m^2 numbers for m inputs.  CR_EUNSUPPORTED where the model has
 * none; *out is empty then. */
CR_API cr_status cr_model_inducing(cr_ctx *cx, const cr_model *model, cr_inducing *out);
/* Frees what it holds. */
CR_API void cr_inducing_free(cr_ctx *cx, cr_inducing *it);
/* The hyper-parameter number k; an empty name beyond the last. */
CR_API cr_status cr_model_hyper(cr_ctx *cx, const cr_model *model, size_t k, cr_hyper *out_hyper);
/* The log evidence of the rows of a table with their targets, or its bound, with the
 * hyper-parameters number which[0] .. which[n - 1] at values [count x n], the others as learned:
 * out [count], NaN where there is none.  CR_EUNSUPPORTED where the model offers none. */
CR_API cr_status cr_evidence_at(cr_ctx *cx, const cr_model *model, const cr_table *table,
                                const size_t *which, size_t n, const double *values, size_t count,
                                double *out);
/* true when the model's class offers "parts", "functions" or "evidence". */
CR_API bool cr_model_shows(const cr_model *model, const char *what);

#endif
