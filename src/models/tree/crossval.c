/* crossval.c -- how far to prune, by cross-validation. */
#include "folds.h"
#include "prune.h"
#include "base/context_internal.h"
#include "base/scratch.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STEPS = 200 };

/* --- losses along the path ------------------------------------------------------------------- */

typedef struct steps {
    size_t n;
    double alpha[MOST_STEPS + 1]; /* where trees on the path begin                    */
    double beta[MOST_STEPS + 1];  /* a value typical of the stretch                   */
    double sum[MOST_STEPS + 1], square[MOST_STEPS + 1]; /* weighted losses and squares */
} steps;

/* 0 and the different alphas; of too many, some spread over all. */
static cr_status list_steps(cr_ctx *cx, const cri_tree *tree, const double *path, steps *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = 1;
    double    *a = cr_scratch_f64(&s, tree->nodes + 1);
    CR_TRY(s.status);
    a[0] = 0;
    for (size_t i = 0; i < tree->nodes; i++)
        if (isfinite(path[i]) && path[i] > 0) a[n++] = path[i];
    cri_sort_doubles(a, n);
    size_t different = 1;
    for (size_t i = 1; i < n; i++)
        if (a[i] > a[different - 1] * (1 + 1e-9))
            a[different++] = a[i];
        else
            a[different - 1] = a[i];
    out->n = different > MOST_STEPS ? MOST_STEPS : different;
    for (size_t k = 0; k < out->n; k++)
        out->alpha[k] = a[out->n > 1 ? k * (different - 1) / (out->n - 1) : 0];
    for (size_t k = 0; k < out->n; k++)
        out->beta[k] = k + 1 < out->n ? sqrt(out->alpha[k] * out->alpha[k + 1]) : INFINITY;
done:
    cr_scratch_end(&s);
    return st;
}

static double row_loss(const cri_grow *o, const cri_tree *t, size_t node, double y)
{
    const double *v = t->value + node * t->width;
    double        weight = t->stat[node * CRI_STAT_WIDTH + CRI_WEIGHT], sum = 0;
    if (o->loss == CRI_TREE_SQUARES) return (y - v[0]) * (y - v[0]);
    if (o->loss == CRI_TREE_ENTROPY)
        return -log((v[(size_t)y] + 1 / (double)o->classes) / (weight + 1));
    for (size_t k = 0; k < o->classes; k++) {
        double e = v[k] / weight - (k == (size_t)y);
        sum += e * e;
    }
    return sum;
}

/* From the root down as beta falls. */
static void add_row(const cri_grow *o, const cri_tree *t, const double *path, const double *x,
                    double y, double w, steps *s)
{
    size_t node = 0;
    for (size_t k = s->n; k-- > 0;) {
        while (!cri_is_leaf(t, node) && path[node] > s->beta[k]) node = cri_tree_step(t, node, x);
        double loss = row_loss(o, t, node, y);
        s->sum[k] += w * loss;
        s->square[k] += w * loss * loss;
    }
}

/* Adds to *judged the weight of the fold. */
static cr_status try_fold(cr_ctx *cx, cri_grower *g, const cri_kept *kept, const cri_grow *o,
                          const cri_deal *deal, size_t f, steps *s, double *judged)
{
    cr_status  st = CR_OK;
    cr_scratch sc = cr_scratch_begin(cx);
    cri_tree   tree = { .width = o->classes ? o->classes : 1 };
    cri_case  *cases = cr_scratch_bytes(&sc, kept->n, sizeof *cases);
    double    *path = NULL, *w = cr_scratch_f64(&sc, kept->n), held;
    CR_TRY(sc.status);
    held = cri_deal_without(deal, kept, f, w);
    if (held == 0) goto done;
    *judged += held;
    for (size_t i = 0; i < kept->n; i++) cases[i] = (cri_case){ w[i], kept->y[i] };
    CR_TRY(cri_tree_grow(cx, g, cases, &tree, NULL));
    path = cr_scratch_f64(&sc, tree.nodes);
    CR_TRY(sc.status);
    CR_TRY(cri_prune_path(cx, &tree, path));
    for (size_t i = 0; i < deal->n; i++) {
        const cri_part *part = &deal->part[i];
        if (part->fold != f) continue;
        add_row(o, &tree, path, kept->X + part->row * kept->p, kept->y[part->row], part->weight, s);
    }
done:
    cri_tree_free(cx, &tree);
    cr_scratch_end(&sc);
    return st;
}

/* --- the choice ------------------------------------------------------------------------------ */

static void choose_step(const steps *s, double weight, double slack, cri_prune_choice *out)
{
    size_t best = 0, chosen;
    for (size_t k = 1; k < s->n; k++)
        if (s->sum[k] <= s->sum[best] * (1 + 1e-12)) best = k; /* of equals the smallest tree */
    double mean = s->sum[best] / weight, square = s->square[best] / weight;
    double se = sqrt(fmax(square - mean * mean, 0) / weight);
    chosen = best;
    for (size_t k = best; k < s->n; k++)
        if (s->sum[k] / weight <= mean + slack * se) chosen = k;
    *out = (cri_prune_choice){ s->alpha[chosen], mean, se, s->sum[chosen] / weight };
}

cr_status cri_prune_choose(cr_ctx *cx, const cri_kept *kept, const cri_columns *columns,
                           const cri_grow *o, const cri_tree *tree, const double *path,
                           size_t folds, double slack, uint64_t seed, cri_prune_choice *out)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    steps      *steps_of = cr_scratch_bytes(&s, 1, sizeof *steps_of);
    cri_grower *g = NULL;
    cri_deal    deal = { 0 };
    double      judged = 0;
    cri_clock   clock = cri_clock_start(cx, NAN);

    CR_TRY(s.status);
    CR_TRY(list_steps(cx, tree, path, steps_of));
    CR_TRY(cri_deal_folds(cx, kept, columns, o->classes > 0, folds, seed, &deal));
    *out = (cri_prune_choice){ 0, NAN, NAN, NAN };
    if (deal.folds < 2) goto done; /* one row */
    CR_TRY(cri_grower_new(cx, columns, o, &g));
    for (size_t f = 0; f < deal.folds; f++) {
        if (judged > 0 && cri_clock_over(&clock)) break; /* by the folds that were tried */
        CR_TRY(try_fold(cx, g, kept, o, &deal, f, steps_of, &judged));
        cr_progress(cx, "cross-validation", (double)(f + 1), (double)deal.folds);
    }
    if (judged > 0) choose_step(steps_of, judged, slack, out);
done:
    cri_grower_free(cx, g);
    cri_deal_free(cx, &deal);
    cr_scratch_end(&s);
    return st;
}
