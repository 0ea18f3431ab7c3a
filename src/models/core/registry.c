/* registry.c -- looking up the model classes of list.h. */
#include "class.h"
#include "base/context_internal.h"

#include <string.h>

/* Models from outside the tree, after ours: X(stem) for each (the option of the same name in
 * CMakeLists.txt). */
#ifndef CREDENCE_EXTRA_MODELS
#define CREDENCE_EXTRA_MODELS(X)
#endif
#define DECLARED(stem) extern const cr_model_class cri_class_##stem;
#define LISTED(stem) &cri_class_##stem,
CREDENCE_EXTRA_MODELS(DECLARED)

static const cr_model_class *const classes[] = { CRI_MODELS(LISTED) CREDENCE_EXTRA_MODELS(LISTED) };

size_t                cr_class_count(void) { return sizeof classes / sizeof *classes; }
const cr_model_class *cr_class_at(size_t i) { return classes[i]; }

static const char *class_name(const void *unused, size_t i)
{
    (void)unused;
    return classes[i]->name;
}

static const char no_forests[] =
    "there are no random forests; adaboost combines trees, tree is a single one";

/* What others call a model that is here, or one that is not, with the nearest to it. */
static const struct {
    const char *name, *meant, *instead;
} other_names[] = {
    { "lm", "linear", NULL },
    { "ols", "linear", NULL },
    { "regression", "linear", NULL },
    { "linear-regression", "linear", NULL },
    { "logit", "logistic", NULL },
    { "logistic-regression", "logistic", NULL },
    { "elastic-net", "lasso", NULL },
    { "glmnet", "lasso", NULL },
    { "boosting", "adaboost", NULL },
    { "gradient-boosting", "adaboost", NULL },
    { "xgboost", "adaboost", NULL },
    { "decision-tree", "tree", NULL },
    { "cart", "tree", NULL },
    { "gaussian-process", "gp", NULL },
    { "forest", NULL, no_forests },
    { "random-forest", NULL, no_forests },
    { "randomforest", NULL, no_forests },
    { "rf", NULL, no_forests },
    { "svc", "svm", NULL },
    { "libsvm", "svm", NULL },
    { "support-vector-machine", "svm", NULL },
};

static void hint_at_other_name(cr_ctx *cx, const char *name)
{
    for (size_t i = 0; i < sizeof other_names / sizeof *other_names; i++) {
        if (strcmp(other_names[i].name, name) != 0) continue;
        if (other_names[i].meant)
            cri_fail_meant(cx, name, other_names[i].meant);
        else
            cri_fail_meant(cx, name, ""), cr_fail_hint(cx, "%s", other_names[i].instead);
    }
}

const cr_model_class *cr_class_find(cr_ctx *cx, const char *name)
{
    for (size_t i = 0; i < cr_class_count(); i++)
        if (strcmp(classes[i]->name, name) == 0) return classes[i];
    cr_fail(cx, CR_EARG, "there is no model '%s'", name);
    cr_fail_nearest(cx, name, "models", cr_class_count(), class_name, NULL);
    hint_at_other_name(cx, name);
    return NULL;
}

const char      *cr_class_name(const cr_model_class *c) { return c->name; }
const char      *cr_class_summary(const cr_model_class *c) { return c->summary; }
const char      *cr_class_formulas(const cr_model_class *c) { return c->formulas; }
const char      *cr_class_reference(const cr_model_class *c) { return c->reference; }
unsigned         cr_class_tasks(const cr_model_class *c) { return c->tasks; }
const cr_option *cr_class_options(const cr_model_class *c) { return c->options; }

bool cr_class_option_serves(const cr_model_class *c, const char *option, unsigned task)
{
    for (const cri_requirement *r = c->requirements; r && r->option; r++)
        if (strcmp(r->with, "task") == 0 && strcmp(r->option, option) == 0)
            return strcmp(r->values, cr_task_name(task)) == 0;
    return true;
}

const char *cr_class_example(const cr_model_class *c)
{
    if (c->example) return c->example;
    if (c->tasks & CR_TASK_REGRESSION) return "examples/diabetes.csv --target progression";
    if (c->tasks & CR_TASK_CLASSIFICATION) return "examples/diabetes.csv --target sex";
    return "examples/diabetes.csv --features bmi,bp";
}

const cri_whole_face *cri_learning_of(const cr_model_class *c)
{
    static const cri_whole_face none = { 0 };
    return c->whole ? c->whole : &none;
}

bool cri_class_updates(const cr_model_class *c) { return c->sums || cri_learning_of(c)->update; }

const cri_rows_face *cri_answers_of(const cr_model_class *c)
{
    static const cri_rows_face none = { 0 };
    return c->rows ? c->rows : &none;
}

const cri_function_face *cri_function_of(const cr_model_class *c)
{
    static const cri_function_face none = { 0 };
    return c->function ? c->function : &none;
}

const cri_sequence_face *cri_sequence_of(const cr_model_class *c)
{
    static const cri_sequence_face none = { 0 };
    return c->sequence ? c->sequence : &none;
}

bool cr_class_offers(const cr_model_class *c, const char *what)
{
    const cri_whole_face    *learns = cri_learning_of(c);
    const cri_rows_face     *rows = cri_answers_of(c);
    const cri_function_face *function = cri_function_of(c);
    const cri_sequence_face *sequence = cri_sequence_of(c);
    bool                     supervised = c->tasks & (CR_TASK_REGRESSION | CR_TASK_CLASSIFICATION);
    const struct {
        const char *name;
        bool        offered;
    } all[] = {
        { "update", cri_class_updates(c) },
        { "relearn", cri_class_updates(c) && !learns->update_holds && !learns->update_forgets },
        { "hold", learns->update_holds },
        { "passes", (c->em && !c->sequences) || learns->passes },
        { "predict", rows->predict },
        { "score", rows->predict },
        { "missing", c->takes_missing },
        { "negative", !c->target_as_is },
        { "numbers", c->support == CRI_SUPPORT_ANY || c->support == CRI_SUPPORT_LEVELS },
        { "fractions", c->support <= CRI_SUPPORT_POSITIVE },
        { "transform", rows->transform || c->tasks & CR_TASK_TRANSFORM },
        { "reconstruct", rows->reconstruct },
        { "next", rows->next },
        { "next-levels", rows->next_levels },
        { "log-joint", rows->log_joint },
        { "probability-intervals", rows->probability_intervals },
        { "mean-intervals", cri_class_knows_means(c) },
        { "distances", rows->by_distance },
        { "decisions", rows->decides },
        { "sample", rows->sample || supervised },
        { "function", function->function },
        { "sequences", c->sequences },
        { "filter", sequence->filter },
        { "smooth", sequence->smooth },
        { "decode", sequence->decode },
        { "paths", sequence->paths },
        { "path-entropy", sequence->path_entropy },
        { "forecast", sequence->forecast },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(what, all[i].name) == 0) return all[i].offered;
    return false;
}

const char *cr_task_name(unsigned task)
{
    static const char *const names[] = { "regression", "classification", "density", "cluster",
                                         "transform",  "sequence",       "network" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (task & 1u << i) return names[i];
    return "none";
}

bool cri_class_knows_means(const cr_model_class *c)
{
    const cri_rows_face *rows = cri_answers_of(c);
    return c->tasks & CR_TASK_REGRESSION &&
           (rows->mean_intervals || rows->mean || cri_function_of(c)->function);
}

cr_scale cri_class_scale(const cr_model_class *c, int scale_option)
{
    return scale_option == CR_SCALE_AUTO ? c->default_scale : (cr_scale)scale_option;
}
