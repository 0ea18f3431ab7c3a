/* registry.c -- looking up the model classes of list.h. */
#include "class.h"

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

const cr_model_class *cr_class_find(cr_ctx *cx, const char *name)
{
    for (size_t i = 0; i < cr_class_count(); i++)
        if (strcmp(classes[i]->name, name) == 0) return classes[i];
    cr_fail(cx, CR_EARG, "there is no model '%s'", name);
    cr_fail_nearest(cx, name, "models", cr_class_count(), class_name, NULL);
    return NULL;
}

const char      *cr_class_name(const cr_model_class *c) { return c->name; }
const char      *cr_class_summary(const cr_model_class *c) { return c->summary; }
const char      *cr_class_formulas(const cr_model_class *c) { return c->formulas; }
const char      *cr_class_reference(const cr_model_class *c) { return c->reference; }
unsigned         cr_class_tasks(const cr_model_class *c) { return c->tasks; }
const cr_option *cr_class_options(const cr_model_class *c) { return c->options; }

const char *cr_class_example(const cr_model_class *c)
{
    if (c->example) return c->example;
    if (c->tasks & CR_TASK_REGRESSION) return "examples/diabetes.csv --target progression";
    if (c->tasks & CR_TASK_CLASSIFICATION) return "examples/diabetes.csv --target sex";
    return "examples/diabetes.csv --features bmi,bp";
}

bool cr_class_offers(const cr_model_class *c, const char *verb)
{
    if (strcmp(verb, "update") == 0) return c->update != NULL;
    if (strcmp(verb, "relearn") == 0) return c->update && !c->update_holds && !c->update_forgets;
    if (strcmp(verb, "hold") == 0) return c->update_holds;
    if (strcmp(verb, "predict") == 0 || strcmp(verb, "score") == 0) return c->predict != NULL;
    if (strcmp(verb, "missing") == 0) return c->takes_missing;
    if (strcmp(verb, "negative") == 0) return !c->target_as_is;
    if (strcmp(verb, "numbers") == 0)
        return c->takes == CRI_TAKES_ANY || c->takes == CRI_TAKES_LEVELS;
    if (strcmp(verb, "fractions") == 0) return c->takes <= CRI_TAKES_POSITIVE;
    if (strcmp(verb, "transform") == 0) return c->transform || c->tasks & CR_TASK_TRANSFORM;
    if (strcmp(verb, "reconstruct") == 0) return c->reconstruct != NULL;
    if (strcmp(verb, "next") == 0) return c->next != NULL;
    if (strcmp(verb, "log-joint") == 0) return c->log_joint != NULL;
    if (strcmp(verb, "function") == 0) return c->function != NULL;
    if (strcmp(verb, "next-levels") == 0) return c->next_levels != NULL;
    if (strcmp(verb, "sample") == 0)
        return c->sample || c->tasks & (CR_TASK_REGRESSION | CR_TASK_CLASSIFICATION);
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

cr_scale cri_class_scale(const cr_model_class *c, int scale_option)
{
    return scale_option == CR_SCALE_AUTO ? c->default_scale : (cr_scale)scale_option;
}
