/* class_weights.c -- rows that count by their class: --class-weights balanced, or spam=5,ham=1. */
#include "model_internal.h"
#include "base/list.h"
#include "base/number.h"
#include "base/scratch.h"
#include "rows_check.h"

#include <float.h>
#include <string.h>

static const char *class_name(const void *design, size_t k) { return cr_design_class(design, k); }

/* n / (K n_k) of the summed weights, K the classes that have any. */
static void balance(const cri_rows *rows, size_t K, double *weight)
{
    double total = 0, there = 0;
    memset(weight, 0, K * sizeof *weight);
    for (size_t i = 0; i < rows->n; i++) {
        double w = rows->w ? rows->w[i] : 1;
        weight[(size_t)rows->y[i]] += w;
        total += w;
    }
    for (size_t k = 0; k < K; k++) there += weight[k] > 0;
    for (size_t k = 0; k < K; k++) weight[k] = weight[k] > 0 ? total / (there * weight[k]) : 1;
}

cr_status cri_class_item(cr_ctx *cx, const cr_design *d, const cri_class_numbers *which, char *item,
                         double *out)
{
    char  *cut = strrchr(item, '=');
    double x = 0;
    size_t length = cut ? strlen(cut + 1) : 0;
    if (!cut || length == 0 || cri_parse_double(cut + 1, cut + 1 + length, &x) != length ||
        !(x >= 0 && x <= which->most)) {
        cr_fail(cx, CR_EARG, "%s: '%s' is not %s", which->option, item, which->form);
        return cr_fail_hint(cx, "for example %s %s", which->option, which->example);
    }
    *cut = 0;
    for (size_t k = 0; k < cr_design_classes(d); k++)
        if (strcmp(cr_design_class(d, k), item) == 0) return out[k] = x, CR_OK;
    cr_fail(cx, CR_EARG, "%s: the target '%s' has no class '%s'", which->option,
            cr_design_target(d), item);
    return cr_fail_nearest(cx, item, "classes", cr_design_classes(d), class_name, d);
}

static const cri_class_numbers WEIGHTS = { "--class-weights",
                                           "CLASS=WEIGHT with a weight of 0 or more",
                                           "balanced, or spam=5,ham=1", DBL_MAX };

cr_status cri_class_weights_apply(cr_ctx *cx, const cr_model *m, cri_rows *rows)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     K = cr_design_classes(m->design), n_items = 0;
    double    *weight = cr_scratch_f64(&s, K), total = 0;
    char     **items = NULL;

    CR_TRY(s.status);
    if (!m->fit.class_weights) goto done;
    if (m->task != CR_TASK_CLASSIFICATION)
        CR_TRY(cr_fail(cx, CR_EARG,
                       "--class-weights needs a model that predicts classes, but %s here does not",
                       m->class->name));
    CR_TRY(cri_list_split(&s, m->fit.class_weights, &items, &n_items));
    for (size_t k = 0; k < K; k++) weight[k] = 1;
    if (n_items == 1 && strcmp(items[0], "balanced") == 0)
        balance(rows, K, weight);
    else
        for (size_t i = 0; i < n_items; i++)
            CR_TRY(cri_class_item(cx, m->design, &WEIGHTS, items[i], weight));
    if (!rows->w) {
        size_t n = cr_table_rows(rows->table); /* as cri_rows_close frees it */
        rows->w = cr_resize(cx, NULL, 0, n, sizeof *rows->w);
        if (!rows->w) CR_TRY(CR_ENOMEM);
        for (size_t i = 0; i < rows->n; i++) rows->w[i] = 1;
    }
    for (size_t i = 0; i < rows->n; i++) total += rows->w[i] *= weight[(size_t)rows->y[i]];
    rows->class_weight = cr_alloc(cx, K, sizeof *weight);
    if (!rows->class_weight) CR_TRY(CR_ENOMEM);
    memcpy(rows->class_weight, weight, K * sizeof *weight);
    rows->weightless = !(total > 0);
done:
    cr_scratch_end(&s);
    return st;
}
