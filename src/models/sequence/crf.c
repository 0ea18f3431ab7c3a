/* crf.c -- the linear-chain conditional random field.
 *   p(y | x) = exp(sum_t w_(y_t) . f(x, t) + sum_(t>0) T_(y_(t-1), y_t)) / Z(x)
 *   minimise  -sum_sequences log p(y | x) + l1 |w|_1 + lambda/2 |w|^2,   w all weights with T
 * f(x, t) are the attributes of row t (crf_attributes.h): indicators of the levels of categories,
 * numbers, and products of both, of the row and of those around it.  Each label has a weight for each
 * attribute; there are none for the ends of a sequence.
 *   crf_templates.c   what --window asks for      crf_attributes.c  attributes of rows
 *   crf_chain.c       sums over labellings        crf_objective.c   objective and gradient
 *   crf_rows.c        rows to learn from          crf_blocks.c      the objective over a stream
 *   crf_fit.c         learning                    crf_sgd.c         learning from row to row
 *   crf_lanes.h       the inner loops             crf_answer.c      probabilities, paths, draws
 *   crf_describe.c    description, file
 * Lafferty, McCallum & Pereira (2001), ICML 18; Sutton & McCallum (2012), Foundations and Trends in
 * Machine Learning 4. */
#include "crf.h"

/* clang-format off */
#define CRF_OPTIONS(X)                                                                               \
    X(real,   lambda,    "1",    ">=0",                                                              \
      "quadratic penalty lambda/2 |w|^2 beside -sum log p(y | x): the prior variance of a weight is 1 / lambda", "0.1") \
    X(real,   l1,        "0",    ">=0", "absolute penalty l1 |w|, which makes weights exactly 0", "0.5") \
    X(list,   window,    "",     "",                                                                 \
      "columns of other rows of the sequence and products of columns: COLUMN[OFFSET], COLUMN[FROM:TO], A*B", \
      "'word[-1:1],word[-1]*word'")                                                                  \
    X(choice, pairs,     "all",  "all|seen",                                                         \
      "weights for every attribute and label, or for those that were seen together only", "seen")    \
    X(choice, bias, "auto", "auto|true|false",                                                       \
      "a weight for each label in every row; auto: if no feature is a category", "true")             \
    X(choice, solver, "lbfgs", "lbfgs|sgd",                                                          \
      "lbfgs: to the minimum, a pass over the rows for each step; sgd: stochastic gradient descent, near it in few passes", \
      "sgd")                                                                                         \
    X(real,   tol,       "",     "0<..<1",                                                           \
      "stop when no entry of the gradient exceeds this times max(1, objective); default: 1e-8, of sgd 1e-3", "1e-5") \
    X(count,  max_iter,  "",     ">=1",                                                              \
      "give up after this many steps of L-BFGS, default 2000, or passes of sgd, default 63", "100")
/* clang-format on */

CR_OPTIONS(crf_options, crf_table, CRF_OPTIONS);
CRI_RECORD_TABLE(, cri_crf_record, cri_crf, CRI_CRF);

enum { INTERCEPT_AUTO, INTERCEPT_TRUE, INTERCEPT_FALSE };
enum { PAIRS_ALL, PAIRS_SEEN };
enum { SOLVER_LBFGS, SOLVER_SGD };

static bool has_category(const cr_design *d)
{
    for (size_t j = 0; j < d->p; j++)
        if (cri_design_is_code(d, j)) return true;
    return false;
}

/* Stochastic gradients have no kinks, and need the penalty for the length of their steps. */
static cr_status check_solver(cr_ctx *cx, const crf_options *o)
{
    if (o->solver != SOLVER_SGD || (o->l1 == 0 && o->lambda > 0)) return CR_OK;
    cr_fail(cx, CR_EARG,
            o->l1 > 0 ? "crf: --l1 has kinks that --solver sgd does not take"
                      : "crf: --solver sgd needs a quadratic penalty above 0");
    return cr_fail_hint(cx, o->l1 > 0 ? "leave --l1 out, or use --solver lbfgs"
                                      : "--lambda 0.01 is a weak one, or use --solver lbfgs");
}

static cr_status crf_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                         void **out_state, cr_report *report)
{
    const crf_options *o = options;
    cri_crf_settings   settings = { .lambda = o->lambda,
                                    .l1 = o->l1,
                                    .tol = o->tol,
                                    .max_iter = o->max_iter,
                                    .seen = o->pairs == PAIRS_SEEN,
                                    .sgd = o->solver == SOLVER_SGD,
                                    .seed = seed,
                                    .window = o->window };
    cri_crf           *m = check_solver(cx, o) == CR_OK ? cr_alloc(cx, 1, sizeof *m) : NULL;
    if (!m) return cr_error_status(cx);
    settings.intercept =
        o->bias == INTERCEPT_TRUE || (o->bias == INTERCEPT_AUTO && !has_category(rows->design));
    cr_status st = cri_crf_fit(cx, rows, &settings, m, report);
    if (st == CR_OK) st = cri_crf_ready(cx, m, rows->design);
    if (st == CR_OK)
        *out_state = m;
    else
        cri_state_free(cx, &cri_class_crf, m);
    return st;
}

/* A level that training has not seen is no failure: the row has no attribute of it.  But columns that
 * the design itself makes others of must be known to it. */
static cr_status crf_shape(cr_ctx *cx, const void *options, cr_design *d)
{
    (void)cx;
    (void)options;
    for (size_t j = 0; j < d->n_terms; j++) {
        size_t column = d->terms[j].column;
        bool   made = d->columns[column].made.kind != CRI_MADE_NOT;
        for (size_t c = 0; c < d->n_columns; c++)
            for (size_t i = 0; i < d->columns[c].made.n; i++)
                made |= d->columns[c].made.factors[i].column == column;
        if (d->terms[j].code && !made) d->columns[column].texts = true;
    }
    return CR_OK;
}

const cr_model_class cri_class_crf = {
    .name = "crf",
    .summary = "conditional random field: the labels of a sequence, each with its neighbours",
    .formulas =
        "p(y | x) = exp(sum_t w_(y_t) . f(x, t) + sum_(t>0) T_(y_(t-1), y_t)) / Z(x)\n"
        "minimise  -sum log p(y | x) + l1 |w|_1 + lambda/2 |w|^2,  w all weights with T\n"
        "f: levels of categories, numbers, and products of both, of the row and of --window",
    .reference = "Lafferty, McCallum & Pereira (2001), ICML 18; Sutton & McCallum (2012), "
                 "Foundations and Trends in Machine Learning 4",
    .example = "examples/ingredients.csv --target tag --sequence line",
    .tasks = CR_TASK_CLASSIFICATION,
    .options = crf_table,
    .options_size = sizeof(crf_options),
    .default_scale = CR_SCALE_STANDARD,
    .takes_missing = true,
    .sequences = true,
    .coding = CRI_CODING_CODE,
    .shape = crf_shape,
    .whole = &(const cri_whole_face){ .fit = crf_fit, .passes = true },
    .rows = &(const cri_rows_face){ .predict = cri_crf_predict, .sample = cri_crf_sample },
    .sequence = &(const cri_sequence_face){ .decode = cri_crf_decode,
                                            .paths = cri_crf_paths,
                                            .path_entropy = cri_crf_path_entropy },
    .describe = cri_crf_describe,
    .statistics = cri_crf_statistics,
    .state = cri_crf_record,
    .state_size = sizeof(cri_crf),
    .ready = cri_crf_ready,
    .release = cri_crf_release,
};
