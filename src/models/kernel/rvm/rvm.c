/* rvm.c -- relevance vector machines as a model: options and descriptor (rvm.h tells the story). */
#include "rvm.h"

CR_OPTIONS_TABLE(static, rvm_table, cri_rvm_options, CRI_RVM_OPTIONS);

static const cri_requirement rvm_requirements[] = {
    { "kernel", "functions", "kernels", false },
    { "query_precision", "basis_at_query", "true", false },
    { "basis_at_query", "functions", "kernels", false },
    CRI_REQUIREMENT_LAST,
};

static cr_status rvm_shape(cr_ctx *cx, const void *options, cr_design *design)
{
    return cri_gp_shape_texts(cx, ((const cri_rvm_options *)options)->kernel, design);
}

const cr_model_class cri_class_rvm = {
    .name = "rvm",
    .summary = "relevance vector machine: few kernels, chosen by the evidence",
    .formulas = "f(x) = w0 + sum_m w_m k(x, x_m),   w_m ~ N(0, 1 / alpha_m)\n"
                "y = f(x) + e, or p(class) = softmax f(x);   alpha of the largest evidence, most "
                "infinite",
    .reference = "Tipping (2001), JMLR 1; Tipping & Faul (2003), AISTATS",
    .tasks = CR_TASK_REGRESSION | CR_TASK_CLASSIFICATION,
    .options = rvm_table,
    .options_size = sizeof(cri_rvm_options),
    .requirements = rvm_requirements,
    .default_scale = CR_SCALE_STANDARD,
    .coding = CRI_CODING_CODE,
    .shape = rvm_shape,
    .whole = &(const cri_whole_face){ .fit = cri_rvm_fit },
    .rows = &(const cri_rows_face){ .predict = cri_rvm_predict,
                                    .mean = cri_rvm_mean,
                                    .probability_intervals = cri_rvm_probability_intervals },
    .function = &(const cri_function_face){ .function = cri_rvm_function,
                                            .inducing = cri_rvm_relevant,
                                            .marked = "relevance vectors" },
    .describe = cri_rvm_describe,
    .statistics = cri_rvm_statistics,
    .tables = cri_rvm_tables,
    .state = cri_rvm_record,
    .state_size = sizeof(cri_rvm),
    .ready = cri_rvm_ready,
    .release = cri_rvm_release,
};
