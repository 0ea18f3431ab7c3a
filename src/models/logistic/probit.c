/* probit.c -- probit regression: P(second class) = Phi(b0 + z.b), Phi the normal distribution
 * function.
 *   minimise  - sum_i w_i log Phi(s_i (b0 + z_i.b)) / sum_i w_i + lambda/2 |b|^2,
 *   s_i = 1 for the second class, else -1,
 * by Newton with the observed information.  Three classes or more: one against the rest each, and
 * P(k) = Phi(eta_k) / sum.  Bliss (1934); McCullagh & Nelder (1989), ch. 4. */
#include "classifier.h"

/* clang-format off */
#define PROBIT_OPTIONS(X)                                                                            \
    X(real,   lambda,      "0",        ">=0", "penalty on the squared coefficients, added to the mean of nll", "0.01") \
    X(flag,   intercept,   "true",     "",    "fit a free intercept", "false")                       \
    X(choice, information, "expected", "expected|observed",                                          \
      "information used for the standard errors", "observed")                                              \
    CRI_CLASSIFIER_OPTIONS(X)
/* clang-format on */
enum { INFORMATION_EXPECTED, INFORMATION_OBSERVED };

CR_OPTIONS(probit_options, probit_table, PROBIT_OPTIONS);

static cr_status probit_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                            void **out_state, cr_report *report)
{
    const probit_options   *o = options;
    cri_classifier_settings settings = { .link = CRI_LINK_PROBIT,
                                         .intercept = o->intercept,
                                         .expected = o->information == INFORMATION_EXPECTED,
                                         .penalty = CRI_PENALTY_L2,
                                         .lambda = o->lambda,
                                         .solve = CRI_CLASSIFIER_SOLVE(o, seed) };
    return cri_classifier_fit(cx, rows, &settings, out_state, report);
}

const cr_model_class cri_class_probit = {
    .name = "probit",
    .summary = "probit regression: a latent normal variable for each class",
    .formulas =
        "P(second) = Phi(b0 + z.b)\n"
        "minimise  sum_i w_i nll_i / sum_i w_i + lambda/2 |b|^2,  b0 free\n"
        "more than two classes: one against the rest,  P(k) = Phi(eta_k) / sum_l Phi(eta_l)",
    .reference = "Bliss (1934), Science 79; McCullagh & Nelder (1989), ch. 4",
    .robust_classes = true,
    .tasks = CR_TASK_CLASSIFICATION,
    .options = probit_table,
    .options_size = sizeof(probit_options),
    .default_scale = CR_SCALE_STANDARD,
    .scales_itself = true,
    .takes_sparse = true,
    .whole = &(const cri_whole_face){ .fit = probit_fit },
    .rows = &(const cri_rows_face){ .predict = cri_classifier_predict },
    .describe = cri_classifier_describe,
    .statistics = cri_classifier_statistics,
    .state = cri_classifier_record,
    .state_size = sizeof(cri_classifier),
    .ready = cri_classifier_ready,
};
