/* task.c -- what a fit is for: numbers or classes, by the class of the model, the target and --task. */
#include "model_internal.h"
#include "data/design/formula.h"
#include "data/table/table_internal.h"

#include <math.h>

enum { TASK_AUTO, TASK_REGRESSION, TASK_CLASSIFICATION }; /* choices of --task */
enum { MOST_CODES = 20, MOST_CLASSES = 10 }; /* whole numbers, and any, that may well be classes */
static const unsigned supervised = CR_TASK_REGRESSION | CR_TASK_CLASSIFICATION;

/* Whole numbers of a few values may be codes of classes (1, 2, 3), ratings or counts.  How many
 * different ones there are, each in three rows on average; 0 for a target that is none of these. */
static size_t count_codes(const cr_column *y, size_t rows)
{
    enum { ROWS_PER_CODE = 3 };
    double codes[MOST_CODES];
    size_t n = 0, known = 0;
    for (size_t i = 0; i < rows; i++) {
        double x = y->values[i * y->stride];
        size_t k = 0;
        if (isnan(x)) continue;
        if (x != floor(x)) return 0;
        while (k < n && codes[k] != x) k++;
        if (k == MOST_CODES) return 0;
        codes[k] = x;
        n += k == n;
        known++;
    }
    return known >= n * ROWS_PER_CODE ? n : 0;
}

/* The task a target asks for, of those the class does: texts, yes and no, and two whole numbers are
 * classes; more than two are a number, with a warning where they are so few that they may be codes. */
static unsigned task_of_target(cr_ctx *cx, const cr_model_class *c, const cr_table *t,
                               const cr_column *y, int choice)
{
    if ((c->tasks & supervised) != supervised) return c->tasks & supervised;
    if (choice != TASK_AUTO)
        return choice == TASK_REGRESSION ? CR_TASK_REGRESSION : CR_TASK_CLASSIFICATION;
    if (y->type == CR_CATEGORY || y->type == CR_BOOLEAN) return CR_TASK_CLASSIFICATION;
    size_t codes = count_codes(y, cr_table_rows(t));
    if (codes == 2) return CR_TASK_CLASSIFICATION;
    if (codes > 2)
        cr_log(cx, CR_LOG_WARNING,
               "%s has %zu different whole numbers and is treated as a number: use --task "
               "classification if they are classes, or --task regression to silence this warning",
               y->name, codes);
    return CR_TASK_REGRESSION;
}

static cr_status fail_task(cr_ctx *cx, const cr_model_class *c, const char *wanted)
{
    return cr_fail(cx, CR_EARG, "the model %s does %s, not %s", c->name, cr_task_name(c->tasks),
                   wanted);
}

/* What to do where a target of texts meets a model of numbers. */
static cr_status hint_classes(cr_ctx *cx, const cr_model_class *c, const char *target)
{
    if (c->for_classes)
        return cr_fail_hint(cx, "%s; if it should be numeric, --real %s finds the cell that is not",
                            c->for_classes, target);
    return cr_fail_hint(
        cx,
        "credence fit logistic predicts classes; if it should be numeric, --real %s "
        "finds the cell that is not",
        target);
}

/* A target of texts for a model of numbers, which may take two classes as 0 and 1. */
static cr_status check_category(cr_ctx *cx, const cr_model *m, const cr_table *t,
                                const cr_column *y)
{
    const cr_model_class *c = m->class;
    const char           *words = c->two_classes ? c->two_classes(m->options) : NULL;
    if (words && y->n_levels == 2) return CR_OK;
    if (!words) {
        cr_fail(cx, CR_EDATA, "%s: the target '%s' is a category, but %s predicts numbers",
                cr_table_source(t), y->name, c->name);
        return hint_classes(cx, c, y->name);
    }
    if (y->n_levels == 1)
        cr_fail(cx, CR_EDATA,
                "%s: the target '%s' has only one class, '%.100s': there is nothing to distinguish",
                cr_table_source(t), y->name, y->levels[0]);
    else
        cr_fail(cx, CR_EDATA, "%s: the target '%s' has %zu classes, but %s needs two",
                cr_table_source(t), y->name, y->n_levels, words);
    return y->n_levels == 1
               ? cr_fail_hint(cx, "%s needs two classes, and logistic at least two", words)
               : cr_fail_hint(cx, "credence fit logistic takes any number of classes");
}

static bool has_decimals(const cr_column *y, size_t rows)
{
    for (size_t i = 0; i < rows; i++)
        if (!isnan(y->values[i * y->stride]) &&
            y->values[i * y->stride] != floor(y->values[i * y->stride]))
            return true;
    return false;
}

/* A column of numbers has more than `most` different ones; most <= MOST_CODES. */
static bool has_more_than(const cr_column *y, size_t rows, size_t most)
{
    double seen[MOST_CODES];
    size_t n = 0;
    if (y->type != CR_REAL && y->type != CR_INTEGER) return false;
    for (size_t i = 0; i < rows; i++) {
        double x = y->values[i * y->stride];
        size_t k = 0;
        if (isnan(x)) continue;
        while (k < n && seen[k] != x) k++;
        if (k < n) continue;
        if (n == most) return true;
        seen[n++] = x;
    }
    return false;
}

/* Numbers as classes: those with decimals that are too many are refused, whole ones that look like counts warned of. */
static cr_status check_numbers(cr_ctx *cx, const cr_model_class *c, const cr_table *t,
                               const cr_column *y)
{
    size_t rows = cr_table_rows(t);
    if (!has_more_than(y, rows, MOST_CLASSES)) return CR_OK;
    if (!has_decimals(y, rows)) {
        if (has_more_than(y, rows, MOST_CODES))
            cr_log(cx, CR_LOG_WARNING,
                   "%s has more than %d different whole numbers, and %s treats each as a class: "
                   "if they are counts or measurements, use a regression model such as glm or "
                   "linear; --task classification silences this warning",
                   y->name, MOST_CODES, c->name);
        return CR_OK;
    }
    cr_fail(cx, CR_EDATA,
            "%s: the target '%s' has more than %d different numbers with decimals, but %s predicts "
            "classes",
            cr_table_source(t), y->name, MOST_CLASSES, c->name);
    return cr_fail_hint(
        cx, "credence fit linear predicts numbers; --category %s makes each a class", y->name);
}

cr_status cri_resolve_task(cr_ctx *cx, const cr_model *m, const cr_table *t, unsigned *out_task)
{
    const cr_model_class    *c = m->class;
    const cr_design_options *o = &m->design_options;
    const cr_fit_options    *f = &m->fit;
    if (f->task == TASK_REGRESSION && !(c->tasks & CR_TASK_REGRESSION))
        return fail_task(cx, c, "regression");
    if (f->task == TASK_CLASSIFICATION && !(c->tasks & CR_TASK_CLASSIFICATION))
        return fail_task(cx, c, "classification");
    unsigned others = c->tasks & ~supervised;
    if (!(c->tasks & supervised) || (c->target_optional && !o->target)) {
        unsigned more = others & ~(unsigned)CR_TASK_DENSITY, tasks = more ? more : others;
        *out_task = tasks & (~tasks + 1); /* the lowest bit */
        return CR_OK;
    }
    if (!o->target && o->terms && cri_is_formula(o->terms)) return cri_formula_refuse(cx, o->terms);
    if (!o->target) {
        cr_fail(cx, CR_EARG, "the model %s needs a target: the column to predict", c->name);
        return cr_fail_hint(cx, "name it with --target COLUMN");
    }
    const cr_column *y = cr_table_find(t, o->target);
    if (!y) return cri_table_no_column(cx, t, o->target);
    *out_task = task_of_target(cx, c, t, y, f->task);
    if (*out_task == CR_TASK_CLASSIFICATION && f->task != TASK_CLASSIFICATION) {
        cr_status st = check_numbers(cx, c, t, y);
        if (st != CR_OK) return st;
    }
    return *out_task == CR_TASK_REGRESSION && y->type == CR_CATEGORY ? check_category(cx, m, t, y)
                                                                     : CR_OK;
}

cr_status cri_fit_task(cr_ctx *cx, const char *name, const cr_table *t, const cr_setting *settings,
                       size_t n_settings, unsigned *out_task)
{
    cr_status             st = CR_OK;
    const cr_model_class *c = cr_class_find(cx, name);
    cr_model             *m = c ? cri_model_new(cx, c) : NULL;
    if (!m) return c ? CR_ENOMEM : CR_EARG;
    for (size_t i = 0; i < n_settings && st == CR_OK; i++)
        st = cri_model_set(cx, m, settings[i].name, settings[i].value);
    if (st == CR_OK) st = cri_resolve_task(cx, m, t, out_task);
    cr_model_free(cx, m);
    return st;
}
