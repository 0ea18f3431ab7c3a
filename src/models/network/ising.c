/* ising.c -- the Ising model: columns of two states as spins, fields and couplings.
 *   p(s) = exp(sum_i h_i s_i + sum_ij J_ij s_i s_j) / Z,      s_i = -1 in the first state of column i, +1 in the second
 * A log-linear model whose features are products of spins; with complete pairs it is a Boltzmann machine that is all
 * visible, with hidden variables one with hidden units.  See loglinear.h for all that it is made of.
 * Koller & Friedman (2009), box 4.C; Ackley, Hinton & Sejnowski (1985), Cognitive Science 9. */
#include "loglinear.h"
#include "graph/query/methods.h"

#define ISING_NO_MORE(X)                                                                           \
    X(count, bins, "", "2..1000",                                                                  \
      "cut columns of numbers into so many ranges: only 2 make a spin", "2")                       \
    X(count, levels, "20", ">=2", "most different whole numbers that are states by themselves",    \
      "50")
#define ISING_OPTIONS(X) CRI_LOGLINEAR_OPTIONS_OF(X, ISING_NO_MORE)
CR_OPTIONS_TABLE(static, ising_table, cri_loglinear_options, ISING_OPTIONS);

static cr_status ising_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                           void **out_state, cr_report *report)
{
    return cri_loglinear_fit(cx, rows, options, true, seed, out_state, report);
}

const cr_model_class cri_class_ising = {
    .name = "ising",
    .summary = "Ising model, or Boltzmann machine: columns of two states as spins with fields and "
               "couplings",
    .formulas = "p(s) = exp(sum_i h_i s_i + sum_ij J_ij s_i s_j) / Z,   s_i = -1 or +1\n"
                "h, J: maximise  log p(rows) - l2/2 |h, J|^2 - l1 |J|",
    .reference = "Koller & Friedman (2009), Probabilistic Graphical Models, box 4.C and ch. 20; "
                 "Ackley, Hinton & "
                 "Sejnowski (1985), Cognitive Science 9",
    .example = "examples/carcinoma.csv --features '!slides' --weights slides",
    .tasks = CR_TASK_DENSITY | CR_TASK_NETWORK,
    .options = ising_table,
    .options_size = sizeof(cri_loglinear_options),
    .requirements = cri_loglinear_requirements,
    .default_scale = CR_SCALE_NONE,
    .scales_itself = true,
    .takes_missing = true,
    .support = CRI_SUPPORT_LEVELS,
    .coding = CRI_CODING_CODE,
    .shape = cri_loglinear_shape,
    .whole = &(const cri_whole_face){ .fit = ising_fit },
    .rows =
        &(const cri_rows_face){ .predict = cri_loglinear_predict, .sample = cri_loglinear_sample },
    .network = &(const cri_network_face){ .methods = &cri_states_methods,
                                          .network = cri_loglinear_network },
    .describe = cri_loglinear_describe,
    .statistics = cri_loglinear_statistics,
    .tables = cri_loglinear_tables,
    .state = cri_loglinear_record,
    .state_size = sizeof(cri_loglinear),
    .ready = cri_loglinear_ready,
    .release = cri_loglinear_release,
};
