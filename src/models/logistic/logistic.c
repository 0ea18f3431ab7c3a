/* logistic.c -- logistic and softmax regression.
 *   two classes     log P(second) / P(first) = b0 + z.b
 *   K classes       P(k) = exp(b0_k + z.b_k) / sum;  without a penalty b of the first class is 0
 *   minimise  sum_i w_i nll_i / n + lambda (r |b|_1 + (1 - r)/2 |b|^2),   n = sum_i w_i
 * r = 0 for l2, 1 for l1, between them elastic: the scale that lasso has.  z standardised, intercepts
 * without penalty.  sd: inverse information; with l2, of the posterior under the prior
 * b ~ N(0, 1/(n lambda)); none with an absolute penalty.  Hastie, Tibshirani & Friedman (2009),
 * sec. 4.4; McCullagh & Nelder (1989), ch. 4. */
#include "classifier.h"

/* clang-format off */
#define LOGISTIC_OPTIONS(X)                                                                          \
    X(real,   lambda,    "0",    ">=0",                                                              \
      "penalty on the coefficients, added to the mean of nll; 0 is maximum likelihood", "0.01")        \
    X(choice, penalty,   "l2",   "l2|l1|elastic",                                                    \
      "mean of nll + lambda/2 |b|^2 (l2), + lambda |b|_1 (l1), or a mixture of the two (elastic)", "l1") \
    X(real,   l1_ratio,  "0.5",  "0..1", "elastic: share r of the absolute penalty", "0.9")          \
    X(flag,   intercept, "true", "",    "fit free intercepts", "false")                              \
    CRI_CLASSIFIER_OPTIONS(X)
/* clang-format on */

CR_OPTIONS(logistic_options, logistic_table, LOGISTIC_OPTIONS);
static const cri_requirement logistic_requirements[] = {
    { "l1_ratio", "penalty", "elastic", false },
    { "penalty", "lambda", "", true },
    { "batch", "solver", "sgd", false },
    CRI_REQUIREMENT_LAST,
};

static cri_classifier_settings settings_of(const logistic_options *o, uint64_t seed)
{
    return (cri_classifier_settings){ .link = CRI_LINK_LOGIT,
                                      .intercept = o->intercept,
                                      .penalty = o->penalty,
                                      .lambda = o->lambda,
                                      .l1_ratio = o->l1_ratio,
                                      .solve = CRI_CLASSIFIER_SOLVE(o, seed) };
}

static cr_status logistic_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                              void **out_state, cr_report *report)
{
    const logistic_options *o = options;
    cri_classifier_settings settings = settings_of(o, seed);
    bool                    absolute = o->lambda > 0 && cri_classifier_l1_share(&settings) > 0;
    if (absolute && o->solver != CRI_SOLVER_AUTO && o->solver != CRI_SOLVER_NEWTON) {
        cr_fail(cx, CR_EARG, "an absolute penalty is solved by proximal Newton only");
        return cr_fail_hint(cx, "leave --solver out, or use --penalty l2");
    }
    return cri_classifier_fit(cx, rows, &settings, out_state, report);
}

const cr_model_class cri_class_logistic = {
    .name = "logistic",
    .summary = "logistic and softmax regression, with or without a penalty",
    .formulas =
        "P(k) = exp(b0_k + z.b_k) / sum_l exp(b0_l + z.b_l)\n"
        "minimise  sum_i w_i nll_i / sum_i w_i + lambda (r |b|_1 + (1 - r)/2 |b|^2),  b0 free\n"
        "r = 0 (l2), 1 (l1) or --l1-ratio (elastic)\n"
        "two classes: b of the second against the first; more, and lambda = 0: against the first;\n"
        "more, and lambda > 0: one b for each class, intercepts that sum to 0",
    .reference = "Hastie, Tibshirani & Friedman (2009), sec. 4.4; McCullagh & Nelder (1989), ch. 4",
    .robust_classes = true,
    .tasks = CR_TASK_CLASSIFICATION,
    .options = logistic_table,
    .requirements = logistic_requirements,
    .options_size = sizeof(logistic_options),
    .default_scale = CR_SCALE_STANDARD,
    .scales_itself = true,
    .takes_sparse = true,
    .sparse_levels = true,
    .whole = &(const cri_whole_face){ .fit = logistic_fit, .passes = true },
    .rows = &(const cri_rows_face){ .predict = cri_classifier_predict },
    .describe = cri_classifier_describe,
    .statistics = cri_classifier_statistics,
    .state = cri_classifier_record,
    .state_size = sizeof(cri_classifier),
    .ready = cri_classifier_ready,
};
