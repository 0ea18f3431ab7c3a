/* qda.c -- quadratic discriminant analysis: Gaussian classes, each with its covariance; see
 * discriminant.h. */
#include "gda.h"

/* clang-format off */
#define QDA_OPTIONS(X)                                                                               \
    X(real,   shrinkage,  "0",      "0..1", "share by which covariances between columns are shrunk", "0.1") \
    X(real,   pool,       "0",      "0..1", "share of the pooled covariance in that of each class: 1 is lda", "0.2") \
    X(list,   priors,     "",       "",     "prior probabilities of the classes: uniform, or CLASS=P for each; default: their shares of the rows", "uniform")                                                    \
    X(choice, predictive, "plugin", "plugin|bayes",                                                  \
      "densities at the estimated parameters, or averaged over their posterior (Student's t)", "bayes")
/* clang-format on */

CR_OPTIONS(qda_options, qda_table, QDA_OPTIONS);

static cri_discriminant_options options_of(const qda_options *o)
{
    return (cri_discriminant_options){
        .bayes = o->predictive == 1, .shrinkage = o->shrinkage, .pool = o->pool, .priors = o->priors
    };
}

static cr_status qda_gather(cr_ctx *cx, const void *state, const cri_rows *rows,
                            const void *options, void *sums)
{
    (void)state, (void)options;
    return cri_class_moments_of_rows(cx, rows, false, sums);
}

static cr_status qda_solve(cr_ctx *cx, const cr_design *design, const void *options, void *state,
                           cr_report *report)
{
    cri_discriminant_options o = options_of(options);
    return cri_gda_solve(cx, design, &o, state, report);
}

const cr_model_class cri_class_qda = {
    .example = "examples/iris.csv --target species",
    .name = "qda",
    .summary = "quadratic discriminant analysis: Gaussian classes, each with its own covariance",
    .formulas = "p(x | k) = N(m_k, S_k),   S_k = (1 - s) C_k + s diag(C_k)\n"
                "C_k = (1 - r) scatter_k / (n_k - 1) + r pooled,   p(k | x) ~ prior_k p(x | k)\n"
                "--predictive bayes:  t with n_k - p degrees of freedom",
    .reference =
        "Hastie, Tibshirani & Friedman (2009), sec. 4.3; Friedman (1989), J. Am. Stat. Assoc. "
        "84; Geisser (1964), J. Royal Stat. Soc. B 26",
    .joint = true,
    .tasks = CR_TASK_CLASSIFICATION,
    .options = qda_table,
    .options_size = sizeof(qda_options),
    .default_scale = CR_SCALE_NONE,
    .scales_itself = true,
    .sums = CRI_GDA_SUMS(qda, each),
    .rows = &(const cri_rows_face){ .predict = cri_gda_predict, .log_joint = cri_gda_log_joint },
    .doubt = cri_gda_doubt,
    .describe = cri_gda_describe,
    .statistics = cri_gda_statistics,
    .state = cri_gda_record,
    .state_size = sizeof(cri_gda),
    .ready = cri_gda_ready_each,
};
