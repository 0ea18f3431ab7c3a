/* compare_groups.h -- do groups of rows differ?  The Bayes factor of a model with parameters of its
 * own for each group against the same model with the same parameters for all:
 *   B = prod_g p(D_g) / p(D),   P(differ | D) = B o / (1 + B o),   o the prior odds of a difference
 * It goes by the log evidence alone, so any model that has one will do; the prior counts, since a
 * vague one makes the separate models pay for each of their parameters.  Kass & Raftery (1995),
 * "Bayes factors", JASA 90, 773-795. */
#ifndef CREDENCE_STUDY_COMPARE_GROUPS_H
#define CREDENCE_STUDY_COMPARE_GROUPS_H

#include "models/core/model.h"

/* clang-format off */
#define CR_GROUP_OPTIONS(X)                                                                          \
    X(text, by,         "",  "COLUMN", "column whose values define the groups", "treatment")           \
    X(real, prior_odds, "1", ">0",     "prior odds that the groups differ", "0.1")
/* clang-format on */
CR_OPTIONS_STRUCT(cr_group_options, CR_GROUP_OPTIONS);
/* The table of these options. */
extern CR_API const cr_option cr_group_table[];

typedef struct cr_group {
    char     *name; /* the level                */
    cr_model *model;
} cr_group;

typedef struct cr_group_comparison {
    size_t           n;      /* groups                                                    */
    cr_group        *groups; /* [n] in the order of their levels                          */
    cr_model        *pooled; /* the model of all rows                                     */
    double           pooled_log_evidence, separate_log_evidence;
    double           log_bayes_factor; /* of a difference: separate less pooled               */
    double           probability;      /* that the groups differ, at the prior odds           */
    cr_evidence_kind evidence;         /* the weakest of those that went into it              */
} cr_group_comparison;

/* Fits the model to all rows and to each group.  Rows without a group are left out, with a warning.
 * Fails with CR_EARG for an unknown model, setting or column, with CR_EDATA when there are fewer
 * than two groups, or groups in which the model has not the same parameters, and with
 * CR_EUNSUPPORTED when a fit has no log evidence. */
CR_API cr_status cr_compare_groups(cr_ctx *cx, const char *model, const cr_table *table,
                                   const cr_setting *settings, size_t n_settings,
                                   const cr_group_options *options, cr_group_comparison *out);
/* Frees its parts. */
CR_API void cr_group_comparison_free(cr_ctx *cx, cr_group_comparison *comparison);

/* P(A > B) for independent variables of the families a and b, by quadrature to about 1e-10. */
CR_API cr_status cr_probability_greater(cr_ctx *cx, const cr_dist_class *a, const double *a_params,
                                        size_t n_a, const cr_dist_class *b, const double *b_params,
                                        size_t n_b, double *out);

#endif
