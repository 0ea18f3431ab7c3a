/* program.c -- a model as its user states it, in Stan's language, and its posterior by the No-U-Turn sampler.
 *   log p(theta | y) = sum over statements  y ~ d(...) + target += ... + log |J| of constraints + constant
 * The program is bound to the data (prob/program/binder.h), which leaves a tape of operations with its gradient; chains
 * start apart, learn step and scales, and are then compared (prob/mc/diagnose.h).  O(cost of a gradient) per step of a
 * trajectory; memory for the draws.  Carpenter et al. (2017), J. Statistical Software 76; Hoffman & Gelman (2014),
 * JMLR 15. */
#include "program.h"
#include "base/context_internal.h"
#include "base/scratch.h"
#include "data/bytes/source.h"
#include "models/common/described.h"

#include <math.h>
#include <string.h>

#define PROGRAM_OPTIONS(X)                                                                         \
    X(text, program, "", "",                                                                       \
      "the program itself, or a file of it whose name ends in .model or .stan",                    \
      "'y ~ normal(m, s); m ~ normal(0, 10); s ~ exponential(0.1)'")                               \
    X(text, arrays, "", "FILE",                                                                    \
      "more data, in CmdStan's JSON: an object of numbers and nested arrays, in a file or as it "  \
      "is",                                                                                        \
      "'{\"k\": 2}'")                                                                              \
    X(count, chains, "4", "1..1000", "chains, which are compared", "2")                            \
    X(count, warmup, "500", "", "draws of each chain before those that are kept", "1000")          \
    X(count, draws, "1000", ">=4", "draws of each chain that are kept", "4000")                    \
    X(real, accept, "0.8", "0.01..0.999",                                                          \
      "acceptance that the steps aim at: a higher one makes them smaller", "0.95")                 \
    X(count, max_depth, "10", "1..12", "a trajectory has at most 2^this - 1 steps", "12")
CR_OPTIONS(program_options, program_table, PROGRAM_OPTIONS);

#define CRI_TYPE cri_program
const cri_member cri_program_record[] = { CRI_PROGRAM(CRI_RECORD_ROW) CRI_RECORD_END };
#undef CRI_TYPE

/* --- the text --------------------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n > m && strcmp(text + n - m, end) == 0;
}

cr_status cri_program_text(cr_ctx *cx, const char *option, const char **out_source, char **out_text)
{
    cr_status   st = CR_OK;
    cri_source *source = NULL;
    cri_block   bytes = { 0 };
    size_t      skip;
    *out_source = "program";
    if (!option || !*option) {
        cr_fail(cx, CR_EARG, "program: there is no program to fit");
        return cr_fail_hint(cx,
                            "--program 'y ~ normal(m, s); m ~ normal(0, 10); s ~ exponential(1)', "
                            "or --program FILE.model");
    }
    if (!ends_with(option, ".model") && !ends_with(option, ".stan")) {
        *out_text = cri_string_copy(cx, option);
        return *out_text ? CR_OK : CR_ENOMEM;
    }
    *out_source = option;
    CR_TRY(cri_source_open(cx, option, &source));
    CR_TRY(cri_source_load(cx, source, &bytes));
    skip = bytes.size >= 3 && memcmp(bytes.bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    if (bytes.size > skip && memchr(bytes.bytes + skip, '\0', bytes.size - skip))
        CR_TRY(cr_fail(cx, CR_EDATA, "%s: not a program: there is a zero byte in it", option));
    *out_text = cri_string_copy_n(cx, bytes.size ? bytes.bytes + skip : "", bytes.size - skip);
    if (!*out_text) st = CR_ENOMEM;
done:
    cr_free(cx, bytes.bytes, bytes.capacity, 1);
    cri_source_close(source);
    return st;
}

static cr_status read_program(cr_ctx *cx, const program_options *o, char **out_text,
                              cri_syntax_tree *out_tree)
{
    cr_status   st = CR_OK;
    const char *source;
    CR_TRY(cri_program_text(cx, o->program, &source, out_text));
    CR_TRY(cri_syntax_read(cx, source, *out_text, strlen(*out_text), out_tree));
done:
    return st;
}

/* Only what the program names is read. */
static cr_status program_columns(cr_ctx *cx, const void *options, const cr_table *table,
                                 char **out_features)
{
    cr_status       st = CR_OK;
    char           *text = NULL;
    cri_syntax_tree tree = { 0 };
    CR_TRY(read_program(cx, options, &text, &tree));
    CR_TRY(cri_program_columns(cx, &tree, table, out_features));
done:
    if (tree.memory.cx) cri_syntax_free(&tree);
    cri_string_free(cx, text);
    return st;
}

/* A program that names no column has its data elsewhere. */
static cr_status program_shape(cr_ctx *cx, const void *options, cr_design *design)
{
    cr_status       st = CR_OK;
    char           *text = NULL;
    cri_syntax_tree tree = { 0 };
    bool            any = false;
    CR_TRY(read_program(cx, options, &text, &tree));
    for (size_t i = 0; i < design->n_columns; i++)
        any = any || cri_program_reads(&tree, design->columns[i].name);
    if (!any && !design->target.name && !design->weights)
        CR_TRY(cri_design_drop_inputs(cx, design));
done:
    if (tree.memory.cx) cri_syntax_free(&tree);
    cri_string_free(cx, text);
    return st;
}

static bool adds_to_target(const cri_syntax *node)
{
    if (node->kind == CRI_SYN_TARGET) return true;
    for (const cri_syntax *child = node->child; child; child = child->next)
        if (adds_to_target(child)) return true;
    return false;
}

/* Statements of parameters alone sample their priors: where no blocks say that these are parameters, a slip. */
static cr_status check_use(cr_ctx *cx, const cri_syntax_tree *tree, const cri_bound *bound,
                           const cri_rows *rows)
{
    if (tree->has_blocks || bound->observed > 0 || adds_to_target(tree->root)) return CR_OK;
    cr_fail(cx, CR_EDATA, "%s: no statement has data of %s on its left: nothing is to be learned",
            tree->source, cr_table_source(rows->table));
    return cr_fail_hint(cx, "y ~ normal(m, s), with a column y, for names that are not columns are "
                            "parameters");
}

/* --- fit -------------------------------------------------------------------------------------- */

static cr_status check_rows(cr_ctx *cx, const cri_rows *rows)
{
    const cr_design *d = rows->design;
    if (rows->w) {
        cr_fail(cx, CR_EARG, "program: --weights has no meaning for a program");
        return cr_fail_hint(cx, "target += w[i] * normal_lpdf(y[i] | m, s) weighs a row");
    }
    return d->n_columns > 0 || d->target.name ? cri_described_check(cx, "program", d) : CR_OK;
}

static cr_status program_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                             void **out_state, cr_report *report)
{
    cr_status              st = CR_OK;
    cr_scratch             s = cr_scratch_begin(cx);
    const program_options *o = options;
    cri_syntax_tree        tree = { 0 };
    cri_bound              bound = { 0 };
    cri_program_datum     *data = NULL;
    size_t                 n_data = 0;
    bool                   late = false, agree = true;
    cri_program_request    request = { .chains = o->chains,
                                       .seed = seed,
                                       .nuts = { .warmup = o->warmup,
                                                 .draws = o->draws,
                                                 .accept = o->accept,
                                                 .depth = o->max_depth } };
    cri_program           *p = cr_alloc(cx, 1, sizeof *p);
    if (!p) CR_TRY(CR_ENOMEM);
    CR_TRY(check_rows(cx, rows));
    CR_TRY(read_program(cx, o, &p->source, &tree));
    CR_TRY(cri_program_data(&s, &tree, rows, o->arrays, &data, &n_data));
    CR_TRY(cri_program_bind(cx, &tree, data, n_data, &bound));
    CR_TRY(check_use(cx, &tree, &bound, rows));
    CR_TRY(cri_program_sample(cx, &bound, &request, p, &late));
    CR_TRY(cri_sequence_names_open(cx, p->names, p->n, &p->known));
    CR_TRY(cri_program_judge(cx, p, &agree));
    report->iterations = p->warmup + p->length;
    report->stop = late ? CR_STOP_TIME : agree ? CR_STOP_TOLERANCE : CR_STOP_LIMIT;
    *out_state = p;
    p = NULL;
done:
    if (bound.tape.memory.cx) cri_bound_free(&bound);
    if (tree.memory.cx) cri_syntax_free(&tree);
    cri_state_free(cx, &cri_class_program, p);
    cr_scratch_end(&s);
    return st;
}

/* --- file ------------------------------------------------------------------------------------- */

static cr_status program_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    cri_program *p = state;
    (void)design;
    if (!p->names || !p->source || p->chains > p->total || p->chains * p->length != p->total)
        return CR_EDATA;
    return cri_sequence_names_open(cx, p->names, p->n, &p->known);
}

static void program_release(cr_ctx *cx, void *state)
{
    cri_sequence_names_close(cx, &((cri_program *)state)->known);
}

const cr_model_class cri_class_program = {
    .example = "examples/schools.csv --program examples/schools.model --accept 0.95",
    .name = "program",
    .summary = "a model that you state yourself, in Stan's language, and its posterior by NUTS",
    .formulas =
        "log p(theta | data) = sum of the log densities of all statements y ~ d(...) + constant\n"
        "posterior by the No-U-Turn sampler; R-hat, effective draws and errors by ranks",
    .reference =
        "Carpenter et al. (2017), J. Statistical Software 76; Hoffman & Gelman (2014), JMLR 15; "
        "Vehtari et al. (2021), Bayesian Analysis 16",
    .tasks = CR_TASK_DENSITY,
    .options = program_table,
    .options_size = sizeof(program_options),
    .default_scale = CR_SCALE_NONE,
    .scales_itself = true,
    .coding = CRI_CODING_CODE,
    .columns = program_columns,
    .shape = program_shape,
    .whole = &(const cri_whole_face){ .fit = program_fit },
    .describe = cri_program_describe,
    .statistics = cri_program_statistics,
    .state = cri_program_record,
    .state_size = sizeof(cri_program),
    .ready = program_ready,
    .release = program_release,
};
