/* tree_describe.c -- a tree for people: its size, the columns that matter, its nodes as rows. */
#include "tree.h"
#include "models/core/parameters.h"
#include "base/context_internal.h"
#include "base/scratch.h"
#include "base/find.h"

#include <math.h>
#include <string.h>

enum { MOST_SHOWN = 500, MOST_LEVELS = 8 };

static double stat_of(const cri_tree *t, size_t node, size_t which)
{
    return t->stat[node * CRI_STAT_WIDTH + which];
}

size_t cri_tree_leaves(const cri_tree *t)
{
    size_t leaves = 0;
    for (size_t i = 0; i < t->nodes; i++) leaves += cri_is_leaf(t, i);
    return leaves;
}

void cri_tree_importance(const cri_tree *t, size_t p, double *out)
{
    double sum = 0;
    memset(out, 0, p * sizeof *out);
    for (size_t i = 0; i < t->nodes; i++) {
        if (cri_is_leaf(t, i)) continue;
        double gain = stat_of(t, i, CRI_LOSS) - stat_of(t, cri_child(t, i, false), CRI_LOSS) -
                      stat_of(t, cri_child(t, i, true), CRI_LOSS);
        out[(size_t)t->split[i * CRI_SPLIT_WIDTH + CRI_COLUMN]] += fmax(gain, 0);
    }
    for (size_t j = 0; j < p; j++) sum += out[j];
    for (size_t j = 0; sum > 0 && j < p; j++) out[j] /= sum;
}

/* --- rules ----------------------------------------------------------------------------------- */

/* "g in {a, b}" of the levels on one side. */
static char *levels_text(cr_ctx *cx, const cri_tree *t, const cr_design *d, const double *split,
                         bool right)
{
    const cri_design_column *c = &d->columns[d->terms[(size_t)split[CRI_COLUMN]].column];
    char                    *text = cri_string_format(cx, "%s in {", c->name);
    size_t                   shown = 0, all = 0;
    for (size_t k = 0; k < c->n_levels; k++) all += cri_level_goes_left(t, split, k) != right;
    for (size_t k = 0; text && k < c->n_levels && shown < MOST_LEVELS; k++) {
        if (cri_level_goes_left(t, split, k) == right) continue;
        char *more = cri_string_format(cx, "%s%s%s", text, shown ? ", " : "", c->levels[k]);
        cri_string_free(cx, text);
        text = more;
        shown++;
    }
    if (!text) return NULL;
    char *closed = all > shown ? cri_string_format(cx, "%s, and %zu more}", text, all - shown)
                               : cri_string_format(cx, "%s}", text);
    cri_string_free(cx, text);
    return closed;
}

/* Six digits, or as many as a large number has before the point, and one more: times in seconds differ there. */
static int digits_of(double x)
{
    double before = floor(log10(fmax(fabs(x), 1))) + 1;
    return before < 6 ? 6 : before < 15 ? (int)before + 1 : 15;
}

/* What leads from a node to its left or right child, in the units of the data. */
static char *rule_text(cr_ctx *cx, const cri_tree *t, const cr_design *d, size_t node, bool right)
{
    const double *split = t->split + node * CRI_SPLIT_WIDTH;
    size_t        j = (size_t)split[CRI_COLUMN];
    double        at = split[CRI_THRESHOLD] * d->scale[j] + d->shift[j];
    if (split[CRI_SUBSET] > 0) return levels_text(cx, t, d, split, right);
    return cri_string_format(cx, "%s %s %.*g", d->terms[j].name, right ? ">" : "<=", digits_of(at),
                             at);
}

/* --- nodes as rows --------------------------------------------------------------------------- */

typedef struct visit {
    size_t node, parent, depth;
    bool   right;
} visit;

static void describe_node(const cri_cart *m, const cr_design *d, const visit *v, const char *rule,
                          bool cut, cri_sheet *row)
{
    const cri_tree *t = &m->tree;
    size_t          i = v->node;
    double          unit = m->K ? 1 : d->target_scale * d->target_scale;
    double          weight = stat_of(t, i, CRI_WEIGHT);
    size_t          k = cri_largest(m->tree.value + i * m->K, m->K);
    cri_put_count(row, "node", i);
    cri_put_count(row, "depth", v->depth);
    cri_put_text(row, "rule", rule);
    cri_put_real(row, "weight", weight);
    cri_put_real(row, "loss", stat_of(t, i, CRI_LOSS) / weight * unit);
    if (m->K) {
        cri_put_text(row, "label", cr_design_class(d, k));
        cri_put_real(row, "share", t->value[i * m->K + k] / weight);
    } else
        cri_put_real(row, "mean", t->value[i] * d->target_scale + d->target_shift);
    cri_put_flag(row, "leaf", cri_is_leaf(t, i));
    cri_put_flag(row, "cut", cut);
}

/* Nodes depth first, those below `deepest` left out. */
static cr_status list_nodes(cr_ctx *cx, const cri_cart *m, const cr_design *d, size_t deepest,
                            visit *stack, cri_sheet *list)
{
    cr_status st = CR_OK;
    char     *rule = NULL;
    size_t    n = 0;
    stack[n++] = (visit){ 0 };
    while (n > 0) {
        visit v = stack[--n];
        bool  leaf = cri_is_leaf(&m->tree, v.node), cut = !leaf && v.depth == deepest;
        rule = v.depth ? rule_text(cx, &m->tree, d, v.parent, v.right)
                       : cri_string_copy(cx, "all rows");
        if (!rule) CR_TRY(CR_ENOMEM);
        describe_node(m, d, &v, rule, cut, cri_put_object(list, NULL));
        cri_string_free(cx, rule);
        rule = NULL;
        for (unsigned right = 2; !leaf && !cut && right-- > 0;)
            stack[n++] = (visit){ cri_child(&m->tree, v.node, right), v.node, v.depth + 1, right };
    }
done:
    cri_string_free(cx, rule);
    return st;
}

/* The depth of the tree, and the one down to which at most MOST_SHOWN nodes are. */
static void measure_depths(const cri_tree *t, size_t *depth, size_t *count, size_t *out_deepest,
                           size_t *out_shown)
{
    size_t deepest = 0, sum = 0, shown = 0;
    memset(depth, 0, t->nodes * sizeof *depth);
    memset(count, 0, t->nodes * sizeof *count);
    for (size_t i = 0; i < t->nodes; i++) {
        count[depth[i]]++;
        if (depth[i] > deepest) deepest = depth[i];
        if (cri_is_leaf(t, i)) continue;
        depth[cri_child(t, i, false)] = depth[cri_child(t, i, true)] = depth[i] + 1;
    }
    for (size_t k = 0; k <= deepest; k++) {
        sum += count[k];
        if (sum <= MOST_SHOWN || k == 0) shown = k;
    }
    *out_deepest = deepest;
    *out_shown = shown;
}

/* --- all ------------------------------------------------------------------------------------- */

void cri_tree_describe_importance(const cri_tree *t, const cr_design *d, double *share,
                                  cri_sheet *out)
{
    cri_sheet *list = cri_put_list(out, "parameters");
    cri_tree_importance(t, cr_design_terms(d), share);
    for (size_t j = 0; j < cr_design_terms(d); j++)
        cri_parameter_add(list, share[j], NAN, "%s", cr_design_term_name(d, j));
}

const cr_field cri_cart_statistics[] = {
    CR_TEXT("criterion", 0, "what splits reduce: squared error, gini or entropy"),
    CRI_SPLIT_FIELDS,
    CR_COUNT("leaves", 0, "leaves of the tree"),
    CR_COUNT("depth", 0, "splits above its deepest leaf"),
    CR_COUNT("full_leaves", 0, "leaves before pruning"),
    CR_NUMBER("alpha", CR_FIELD_NULL | CR_FIELD_OF_TARGET,
              "cost of a leaf used in pruning, in units of the loss"),
    CR_NUMBER("cv_loss", CR_FIELD_NULL | CR_FIELD_OF_TARGET, "mean loss by cross-validation"),
    CR_NUMBER("cv_se", CR_FIELD_NULL | CR_FIELD_OF_TARGET, "its standard error"),
    CR_MEASURE("residual_sd", "target", CR_FIELD_EITHER,
               "of numbers: standard deviation within the leaves, pooled"),
    CR_NUMBER("inflation", CR_FIELD_SOMETIMES,
              "of numbers: squared error in held-out rows divided by that within the leaves, if "
              "above 1; variances are multiplied by it"),
    CR_NUMBER("smoothing", CR_FIELD_EITHER, "of classes: added to every count of a leaf"),
    CR_FIELD_LAST,
};

static const cr_field node[] = {
    CR_COUNT("node", 0, "its number; the root is 0"),
    CR_COUNT("depth", 0, "splits above it"),
    CR_TEXT("rule", 0, "the condition that leads to it from the node above"),
    CR_NUMBER("weight", 0, "total weight of the rows in it"),
    CR_NUMBER("loss", CR_FIELD_NULL, "mean loss of these rows: squared error, gini or entropy"),
    CR_TEXT("label", CR_FIELD_SOMETIMES, "of classes: the most frequent"),
    CR_NUMBER("share", CR_FIELD_SOMETIMES, "of classes: its share of the rows"),
    CR_MEASURE("mean", "target", CR_FIELD_EITHER, "of numbers: the mean of the rows"),
    CR_FLAG("leaf", 0, "true if it is not split"),
    CR_FLAG("cut", 0, "true if the nodes below it are not listed because there are too many"),
    CR_FIELD_LAST,
};

const cr_field cri_cart_tables[] = {
    CR_INNER(ROWS, "tree", 0, "the nodes, each one before those below it", node),
    CR_FIELD_LAST,
};

static void describe_statistics(const cri_cart *m, const cr_design *d, size_t deepest,
                                cri_sheet *out)
{
    double      unit = m->K ? 1 : d->target_scale * d->target_scale;
    const char *loss = !m->K ? "squared error" : m->entropy ? "entropy" : "gini";
    cri_sheet  *s = cri_put_object(out, "statistics");
    cri_put_text(s, "criterion", loss);
    cri_tree_describe_splits(&m->tree, s);
    cri_put_count(s, "leaves", cri_tree_leaves(&m->tree));
    cri_put_count(s, "depth", deepest);
    cri_put_count(s, "full_leaves", m->full_leaves);
    cri_put_real(s, "alpha", m->alpha * unit);
    cri_put_real(s, "cv_loss", m->cv_loss * unit);
    cri_put_real(s, "cv_se", m->cv_se * unit);
    if (!m->K) cri_put_real(s, "residual_sd", sqrt(m->spread * unit));
    if (m->inflation > 0) cri_put_real(s, "inflation", m->inflation);
    if (m->K) cri_put_real(s, "smoothing", m->smoothing);
}

cr_status cri_cart_describe(cr_ctx *cx, const cri_cart *m, const cr_design *design, cri_sheet *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = m->tree.nodes, deepest, shown;
    size_t    *depth = cr_scratch_index(&s, n), *count = cr_scratch_index(&s, n);
    visit     *stack = cr_scratch_bytes(&s, MOST_SHOWN + 2, sizeof *stack);
    double    *share = cr_scratch_f64(&s, cr_design_terms(design));

    CR_TRY(s.status);
    measure_depths(&m->tree, depth, count, &deepest, &shown);
    cri_tree_describe_importance(&m->tree, design, share, out);
    describe_statistics(m, design, deepest, out);
    CR_TRY(list_nodes(cx, m, design, shown, stack, cri_put_list(out, "tree")));
done:
    cr_scratch_end(&s);
    return st;
}
