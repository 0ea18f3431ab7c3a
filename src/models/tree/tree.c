/* tree.c -- classification and regression trees (CART).
 * Grown by the best split (grow.h), pruned by cost and complexity (prune.h).  A leaf with rows of
 * weight W answers with
 *   a number:  t_{W-1}(mean, f s^2 (1 + 1/W)),   s^2 = sum w (y - mean)^2 / (W - 1)
 *   classes:   p_k = (W_k + a) / (W + a K), the mean under a Dirichlet prior
 * A leaf of one row, or whose rows agree, takes the spread pooled over all leaves.  Splits are chosen
 * to look good on the rows of the leaves, and so s^2 is too small for others: f is how many times
 * larger the squared error is in the rows that the cross-validation of the pruning left out.
 * Breiman, Friedman, Olshen & Stone (1984), Classification and Regression Trees. */
#include "tree.h"
#include "models/common/copies.h"
#include "prune.h"
#include "models/core/rows_check.h"
#include "base/clock.h"
#include "base/context_internal.h"
#include "base/parallel.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

/* clang-format off */
#define TREE_OPTIONS(X)                                                                            \
    X(choice, criterion, "gini", "gini|entropy",    "loss for classes; for numbers it is the squared error", "entropy") \
    X(count,  max_depth, "",     "0..1000000",      "maximum number of splits from the root to a leaf; default: no limit", "4") \
    X(count,  min_leaf,  "5",    "1..1000000000",   "minimum number (weight) of rows on each side of a split", "1") \
    X(count,  min_split, "10",   "2..1000000000",   "minimum number (weight) of rows in a node to be split", "2") \
    X(text,   prune,     "auto", "X",                                                              \
      "alpha: auto (smallest tree within one standard error of the best by cross-validation), min (the best), none, or a number", "0.01") \
    X(count,  prune_folds, "10", "2..1000",         "folds of that cross-validation", "5")         \
    X(real,   smoothing, "",     ">=0",             "classes: a in (W_k + a) / (W + a K); default: 1 / K", "1") \
    CRI_SPLITS_OPTIONS(X, 200000)
/* clang-format on */

CR_OPTIONS(tree_options, tree_table, TREE_OPTIONS);
static const cri_requirement tree_requirements[] = {
    { "criterion", "task", "classification", false },
    { "smoothing", "task", "classification", false },
    { "prune_folds", "prune", "auto|min", false },
    { "bins", "splits", "auto|histogram", false },
    CRI_REQUIREMENT_LAST,
};

CRI_RECORD_TABLE(static, cart_record, cri_cart, CRI_CART_STATE);

/* --- fit ------------------------------------------------------------------------------------- */

enum { MANY_ROWS = 200000 };
enum { PRUNE_AUTO, PRUNE_MIN, PRUNE_NONE, PRUNE_GIVEN = -1 };

static cr_status read_prune(cr_ctx *cx, const char *text, int *out_how, double *out_alpha)
{
    static const char *const words[] = { "auto", "min", "none", NULL };
    const char              *what = "auto, min, none or a number of 0 or more";
    cr_status st = cri_word_or_number(cx, "prune", text, words, what, out_how, out_alpha);
    if (st == CR_OK && *out_how == PRUNE_GIVEN && !(*out_alpha >= 0))
        return cr_fail(cx, CR_EARG, "--prune: '%s' is not %s", text, what);
    return st;
}

/* Replaces the tree by the pruned one. */
static cr_status prune(cr_ctx *cx, cri_cart *m, const cri_kept *kept, const cri_columns *columns,
                       const cri_grow *grow, const tree_options *o, double unit, bool late,
                       uint64_t seed)
{
    cr_status        st = CR_OK;
    cr_scratch       s = cr_scratch_begin(cx);
    double          *path = cr_scratch_f64(&s, m->tree.nodes), given = 0;
    cri_prune_choice choice;
    cri_tree         pruned = { 0 };
    int              how;

    CR_TRY(s.status);
    CR_TRY(read_prune(cx, o->prune, &how, &given));
    if (how == PRUNE_NONE || (how != PRUNE_GIVEN && kept->n < 2)) goto done;
    if (late && how != PRUNE_GIVEN) {
        cr_log(cx, CR_LOG_WARNING,
               "the time limit leaves no time for cross-validation: the tree is not pruned");
        goto done;
    }
    CR_TRY(cri_prune_path(cx, &m->tree, path));
    m->alpha = given / unit;
    if (how != PRUNE_GIVEN) {
        CR_TRY(cri_prune_choose(cx, kept, columns, grow, &m->tree, path, o->prune_folds,
                                how == PRUNE_AUTO ? 1 : 0, seed, &choice));
        m->alpha = choice.alpha;
        m->cv_loss = choice.chosen;
        m->cv_se = choice.se;
    }
    CR_TRY(cri_prune(cx, &m->tree, path, m->alpha, &pruned));
    cri_tree_free(cx, &m->tree);
    m->tree = pruned;
done:
    cr_scratch_end(&s);
    return st;
}

/* Variance within the leaves, of all together. */
static void pool_spread(cri_cart *m)
{
    double loss = 0, dof = 0;
    for (size_t i = 0; i < m->tree.nodes; i++) {
        const double *stat = m->tree.stat + i * CRI_STAT_WIDTH;
        if (!cri_is_leaf(&m->tree, i) || !(stat[CRI_WEIGHT] > 1)) continue;
        loss += stat[CRI_LOSS];
        dof += stat[CRI_WEIGHT] - 1;
    }
    m->spread = dof > 0 ? loss / dof : NAN;
    m->spread_dof = dof > 0 ? dof : NAN;
}

/* The variance of a leaf without inflation, and its degrees of freedom. */
static double leaf_variance(const cri_cart *m, const double *stat, double *out_dof)
{
    double dof = stat[CRI_WEIGHT] - 1, variance = stat[CRI_LOSS] / dof;
    bool   own = dof > 0 && variance > 0;
    *out_dof = own ? dof : m->spread_dof;
    return (own ? variance : m->spread) * (1 + 1 / stat[CRI_WEIGHT]);
}

/* The squared error in rows left out over what the leaves say of it; 0 where it is no larger, or nothing is split. */
static void inflate_spread(cri_cart *m)
{
    double said = 0, weight = 0, dof;
    for (size_t i = 0; i < m->tree.nodes && !m->K; i++) {
        const double *stat = m->tree.stat + i * CRI_STAT_WIDTH;
        if (!cri_is_leaf(&m->tree, i)) continue;
        said += stat[CRI_WEIGHT] * leaf_variance(m, stat, &dof);
        weight += stat[CRI_WEIGHT];
    }
    bool larger = m->tree.nodes > 1 && said > 0 && m->cv_loss * weight > said;
    m->inflation = larger ? m->cv_loss * weight / said : 0;
}

static cr_status grow_and_prune(cr_ctx *cx, cri_cart *m, const cri_kept *kept,
                                const cri_columns *columns, const tree_options *o, double unit,
                                uint64_t seed)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    cri_grower *g = NULL;
    cri_case   *cases = cr_scratch_bytes(&s, kept->n, sizeof *cases);
    double      began = cri_seconds();
    cri_clock   clock = cri_clock_start(cx, cri_time_left(cx) / 2);
    cri_grow    grow = { .loss = !m->K        ? CRI_TREE_SQUARES
                                 : m->entropy ? CRI_TREE_ENTROPY
                                              : CRI_TREE_GINI,
                         .classes = m->K,
                         .max_depth = o->max_depth,
                         .min_leaf = (double)o->min_leaf,
                         .min_split = (double)o->min_split,
                         .opt_clock = &clock };
    CR_TRY(s.status);
    for (size_t i = 0; i < kept->n; i++) cases[i] = (cri_case){ kept->w[i], kept->y[i] };
    CR_TRY(cri_grower_new(cx, columns, &grow, &g));
    CR_TRY(cri_tree_grow(cx, g, cases, &m->tree, NULL));
    cri_grower_free(cx, g);
    g = NULL;
    m->full_leaves = cri_tree_leaves(&m->tree);
    grow.opt_clock = NULL;
    bool late = cri_clock_over(&clock) || cri_time_left(cx) < 1.5 * (cri_seconds() - began);
    CR_TRY(prune(cx, m, kept, columns, &grow, o, unit, late, seed));
    CR_TRY(cri_tree_trim(cx, &m->tree));
    pool_spread(m);
    inflate_spread(m);
done:
    cri_grower_free(cx, g);
    cr_scratch_end(&s);
    return st;
}

static cr_status fit_rows(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                          void **out_state, cr_report *report)
{
    cr_status           st = CR_OK;
    const tree_options *o = options;
    cri_kept            kept = { 0 };
    cri_columns         columns = { 0 };
    cri_cart           *m = cr_alloc(cx, 1, sizeof *m);
    double              unit = rows->design->target_scale;

    if (!m) return CR_ENOMEM;
    m->K = cr_design_classes(rows->design);
    m->entropy = o->criterion == 1;
    m->smoothing = !isnan(o->smoothing) ? o->smoothing : m->K ? 1 / (double)m->K : 0;
    m->alpha = m->cv_loss = m->cv_se = NAN;
    m->tree.width = m->K ? m->K : 1;
    CR_TRY(cri_check_sizes(cx, rows, false));
    CR_TRY(cri_kept_new(cx, "tree", rows, &kept));
    CR_TRY(cri_columns_new(cx, &kept, rows->design,
                           cri_choose_bins(o->splits, o->bins, kept.n, MANY_ROWS), true, &columns));
    CR_TRY(grow_and_prune(cx, m, &kept, &columns, o, m->K ? 1 : unit * unit, seed));
    if (!m->K && isnan(m->spread)) cri_warn_no_spread(cx);
    report->stop = CR_STOP_CLOSED_FORM;
    *out_state = m;
    m = NULL;
done:
    cri_columns_free(cx, &columns);
    cri_kept_free(cx, &kept);
    if (m) cri_tree_free(cx, &m->tree);
    cri_state_free(cx, &cri_class_tree, m);
    return st;
}

/* Rows are held out, with all their copies. */
static cr_status tree_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                          void **out_state, cr_report *report)
{
    return cri_fit_observations(cx, fit_rows, rows, options, seed, out_state, report);
}

/* --- predict --------------------------------------------------------------------------------- */

enum { BLOCK = 256 };

typedef struct predict_work {
    const cri_cart *m;
    const cri_rows *rows;
    cr_prediction  *out;
} predict_work;

static void answer_number(const cri_cart *m, size_t leaf, cr_prediction *out, size_t i)
{
    out->mean[i] = m->tree.value[leaf];
    if (!out->scale) return;
    double variance = leaf_variance(m, m->tree.stat + leaf * CRI_STAT_WIDTH, &out->dof[i]);
    out->scale[i] = sqrt(m->inflation > 0 ? variance * m->inflation : variance);
}

static void answer_class(const cri_cart *m, size_t leaf, double *prob)
{
    const double *count = m->tree.value + leaf * m->K;
    double        total = m->tree.stat[leaf * CRI_STAT_WIDTH] + m->smoothing * (double)m->K;
    for (size_t k = 0; k < m->K; k++) prob[k] = (count[k] + m->smoothing) / total;
}

/* X [BLOCK x p] is workspace. */
static void predict_block(void *arg, cri_range r, double *X)
{
    const predict_work *a = arg;
    const cri_cart     *m = a->m;
    size_t              p = a->rows->p;
    cri_rows_fill(a->rows, r.begin, r.end, X, p);
    for (size_t i = r.begin; i < r.end; i++) {
        size_t leaf = cri_tree_find(&m->tree, 0, X + (i - r.begin) * p);
        if (m->K)
            answer_class(m, leaf, a->out->prob + i * m->K);
        else
            answer_number(m, leaf, a->out, i);
    }
}

static cr_status tree_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                              cr_prediction *out)
{
    predict_work a = { state, rows, out };
    return cri_parallel_rows(cx, "predicting", rows->n, BLOCK, BLOCK * rows->p, predict_block, &a);
}

/* --- describe and file ----------------------------------------------------------------------- */

static cr_status tree_describe(cr_ctx *cx, const void *state, const cr_design *design,
                               cri_sheet *out)
{
    return cri_cart_describe(cx, state, design, out);
}

/* Numbers in the nodes; of classes their weights, which add up to that of the node. */
static bool are_values_sound(const cri_cart *m)
{
    const cri_tree *t = &m->tree;
    for (size_t i = 0; i < t->nodes; i++) {
        const double *value = t->value + i * t->width, weight = t->stat[i * CRI_STAT_WIDTH];
        double        sum = 0;
        for (size_t k = 0; k < t->width; k++) {
            if (m->K && value[k] < 0) return false;
            sum += value[k];
        }
        if (m->K && !(fabs(sum - weight) <= 1e-6 * weight)) return false;
    }
    return true;
}

static cr_status tree_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    const cri_cart *m = state;
    (void)cx;
    bool fits = m->K == cr_design_classes(design) &&
                cri_tree_fits(&m->tree, design, m->K ? m->K : 1) && are_values_sound(m);
    return fits ? CR_OK : CR_EDATA;
}

const cr_model_class cri_class_tree = {
    .name = "tree",
    .summary = "classification and regression tree, pruned by cross-validation",
    .formulas =
        "number:  y ~ t(W-1; mean of the leaf, f s^2 (1 + 1/W)),  f >= 1 by cross-validation\n"
        "class k: P = (W_k + a) / (W + a K),  W: weight of the leaf's rows\n"
        "grown by the largest fall of the loss; pruned to the least  loss/n + alpha leaves",
    .reference = "Breiman, Friedman, Olshen & Stone (1984), Classification and Regression Trees",
    .tasks = CR_TASK_REGRESSION | CR_TASK_CLASSIFICATION,
    .example = "examples/iris.csv --target species",
    .options = tree_table,
    .requirements = tree_requirements,
    .options_size = sizeof(tree_options),
    .default_scale = CR_SCALE_NONE,
    .takes_missing = true,
    .coding = CRI_CODING_CODE,
    .whole = &(const cri_whole_face){ .fit = tree_fit },
    .rows = &(const cri_rows_face){ .predict = tree_predict, .means_alone = true },
    .describe = tree_describe,
    .statistics = cri_cart_statistics,
    .tables = cri_cart_tables,
    .state = cart_record,
    .state_size = sizeof(cri_cart),
    .ready = tree_ready,
};
