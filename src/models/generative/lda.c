/* lda.c -- linear discriminant analysis: Gaussian classes that share one covariance.
 * The classes are told apart by  offset_k + slope_k . x;  see discriminant.h. */
#include "gda.h"

/* clang-format off */
#define LDA_OPTIONS(X)                                                                               \
    X(real,   shrinkage,  "0",      "0..1", "share by which covariances between columns are shrunk", "0.1") \
    X(list,   priors,     "",       "",     "prior probabilities of the classes: uniform, or CLASS=P for each; default: their shares of the rows", "uniform")                                                    \
    X(choice, predictive, "plugin", "plugin|bayes",                                                  \
      "densities at the estimated parameters, or averaged over their posterior (Student's t)", "bayes")
/* clang-format on */

CR_OPTIONS(lda_options, lda_table, LDA_OPTIONS);

static cri_discriminant_options options_of(const lda_options *o)
{
    return (cri_discriminant_options){
        .pooled = true, .bayes = o->predictive == 1, .shrinkage = o->shrinkage, .priors = o->priors
    };
}

static cr_status lda_gather(cr_ctx *cx, const void *state, const cri_rows *rows,
                            const void *options, void *sums)
{
    (void)state, (void)options;
    return cri_class_moments_of_rows(cx, rows, true, sums);
}

static cr_status lda_solve(cr_ctx *cx, const cr_design *design, const void *options, void *state,
                           cr_report *report)
{
    cri_discriminant_options o = options_of(options);
    return cri_gda_solve(cx, design, &o, state, report);
}

const cr_model_class cri_class_lda = {
    .example = "examples/iris.csv --target species",
    .name = "lda",
    .summary = "linear discriminant analysis: Gaussian classes with one covariance",
    .formulas =
        "p(x | k) = N(m_k, S),   S = (1 - s) C + s diag(C),   C = sum of scatters / (n - K)\n"
        "p(k | x) ~ prior_k p(x | k):  log odds linear in x\n"
        "--predictive bayes:  t with n - K - p + 1 degrees of freedom",
    .reference =
        "Fisher (1936), Annals of Eugenics 7; Hastie, Tibshirani & Friedman (2009), sec. 4.3; "
        "Geisser (1964), J. Royal Stat. Soc. B 26",
    .joint = true,
    .tasks = CR_TASK_CLASSIFICATION,
    .options = lda_table,
    .options_size = sizeof(lda_options),
    .default_scale = CR_SCALE_NONE,
    .scales_itself = true,
    .sums = CRI_GDA_SUMS(lda, pooled),
    .rows = &(const cri_rows_face){ .predict = cri_gda_predict, .log_joint = cri_gda_log_joint },
    .doubt = cri_gda_doubt,
    .describe = cri_gda_describe,
    .statistics = cri_gda_statistics,
    .state = cri_gda_record,
    .state_size = sizeof(cri_gda),
    .ready = cri_gda_ready_pooled,
};
