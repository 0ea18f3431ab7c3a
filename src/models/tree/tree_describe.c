/* tree_describe.c -- a tree for people: its size, the columns that matter, its nodes as rows. */
#include "tree.h"
#include "../parameters.h"
#include "../../base/context_internal.h"
#include "../../base/scratch.h"

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
    const double            *left = t->subset + (size_t)split[CRI_SUBSET] - 1;
    char                    *text = cri_string_format(cx, "%s in {", c->name);
    size_t                   shown = 0, all = 0;
    for (size_t k = 0; k < c->n_levels; k++) all += (left[k] != 0) != right;
    for (size_t k = 0; text && k < c->n_levels && shown < MOST_LEVELS; k++) {
        if ((left[k] != 0) == right) continue;
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

/* What leads from a node to its left or right child, in the units of the data. */
static char *rule_text(cr_ctx *cx, const cri_tree *t, const cr_design *d, size_t node, bool right)
{
    const double *split = t->split + node * CRI_SPLIT_WIDTH;
    size_t        j = (size_t)split[CRI_COLUMN];
    double        at = split[CRI_THRESHOLD] * d->scale[j] + d->shift[j];
    if (split[CRI_SUBSET] > 0) return levels_text(cx, t, d, split, right);
    return cri_string_format(cx, "%s %s %.6g", d->terms[j].name, right ? ">" : "<=", at);
}

/* --- nodes as rows --------------------------------------------------------------------------- */

static size_t largest_class(const cri_cart *m, size_t node)
{
    const double *count = m->tree.value + node * m->K;
    size_t        best = 0;
    for (size_t k = 1; k < m->K; k++)
        if (count[k] > count[best]) best = k;
    return best;
}

typedef struct visit {
    size_t node, parent, depth;
    bool   right;
} visit;

static json_t *node_json(const cri_cart *m, const cr_design *d, const visit *v, const char *rule,
                         bool cut)
{
    const cri_tree *t = &m->tree;
    size_t          i = v->node;
    double          unit = m->K ? 1 : d->target_scale * d->target_scale;
    double          weight = stat_of(t, i, CRI_WEIGHT);
    size_t          k = m->K ? largest_class(m, i) : 0;
    json_t         *row = json_object();
    int             failed = !row;
    failed |= json_object_set_new(row, "node", json_integer((json_int_t)i));
    failed |= json_object_set_new(row, "depth", json_integer((json_int_t)v->depth));
    failed |= json_object_set_new(row, "rule", json_string(rule));
    failed |= json_object_set_new(row, "weight", json_real(weight));
    failed |=
        json_object_set_new(row, "loss", cri_json_number(stat_of(t, i, CRI_LOSS) / weight * unit));
    if (m->K) {
        failed |= json_object_set_new(row, "label", json_string(cr_design_class(d, k)));
        failed |= json_object_set_new(row, "share", json_real(t->value[i * m->K + k] / weight));
    } else {
        double mean = t->value[i] * d->target_scale + d->target_shift;
        failed |= json_object_set_new(row, "mean", cri_json_number(mean));
    }
    failed |= json_object_set_new(row, "leaf", json_boolean(cri_is_leaf(t, i)));
    failed |= json_object_set_new(row, "cut", json_boolean(cut));
    if (!failed) return row;
    json_decref(row);
    return NULL;
}

/* Nodes depth first, those below `deepest` left out. */
static cr_status list_nodes(cr_ctx *cx, const cri_cart *m, const cr_design *d, size_t deepest,
                            visit *stack, json_t *list)
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
        json_t *row = node_json(m, d, &v, rule, cut);
        CR_TRY(cri_store_append(cx, list, row));
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

static cr_status describe_importance(cr_ctx *cx, const cri_cart *m, const cr_design *d,
                                     double *share, json_t *out)
{
    cr_status st = CR_OK;
    json_t   *list;
    CR_TRY(cri_store_set(cx, out, "parameters", list = json_array()));
    cri_tree_importance(&m->tree, cr_design_terms(d), share);
    for (size_t j = 0; j < cr_design_terms(d); j++) {
        CR_TRY(cri_parameter_add(cx, list, json_string_nocheck(cr_design_term_name(d, j)), share[j],
                                 NAN, NULL));
    }
done:
    return st;
}

static cr_status describe_statistics(cr_ctx *cx, const cri_cart *m, const cr_design *d,
                                     size_t deepest, json_t *out)
{
    cr_status   st = CR_OK;
    double      unit = m->K ? 1 : d->target_scale * d->target_scale;
    const char *loss = !m->K ? "squared error" : m->entropy ? "entropy" : "gini";
    json_t     *s;
    CR_TRY(cri_store_set(cx, out, "statistics", s = json_object()));
    CR_TRY(cri_store_set(cx, s, "criterion", json_string(loss)));
    CR_TRY(cri_tree_describe_splits(cx, &m->tree, s));
    CR_TRY(cri_store_set(cx, s, "leaves", json_integer((json_int_t)cri_tree_leaves(&m->tree))));
    CR_TRY(cri_store_set(cx, s, "depth", json_integer((json_int_t)deepest)));
    CR_TRY(cri_store_set(cx, s, "full_leaves", json_integer((json_int_t)m->full_leaves)));
    CR_TRY(cri_store_set(cx, s, "alpha", cri_json_number(m->alpha * unit)));
    CR_TRY(cri_store_set(cx, s, "cv_loss", cri_json_number(m->cv_loss * unit)));
    CR_TRY(cri_store_set(cx, s, "cv_se", cri_json_number(m->cv_se * unit)));
    if (!m->K)
        CR_TRY(cri_store_set(cx, s, "residual_sd", cri_json_number(sqrt(m->spread * unit))));
    else
        CR_TRY(cri_store_set_real(cx, s, "smoothing", m->smoothing));
done:
    return st;
}

cr_status cri_cart_describe(cr_ctx *cx, const cri_cart *m, const cr_design *design, json_t *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = m->tree.nodes, deepest, shown;
    size_t    *depth = cr_scratch_index(&s, n), *count = cr_scratch_index(&s, n);
    visit     *stack = cr_scratch_bytes(&s, MOST_SHOWN + 2, sizeof *stack);
    double    *share = cr_scratch_f64(&s, cr_design_terms(design));
    json_t    *nodes;

    CR_TRY(s.status);
    measure_depths(&m->tree, depth, count, &deepest, &shown);
    CR_TRY(describe_importance(cx, m, design, share, out));
    CR_TRY(describe_statistics(cx, m, design, deepest, out));
    CR_TRY(cri_store_set(cx, out, "tree", nodes = json_array()));
    CR_TRY(list_nodes(cx, m, design, shown, stack, nodes));
done:
    cr_scratch_end(&s);
    return st;
}
