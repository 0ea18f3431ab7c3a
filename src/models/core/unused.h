/* unused.h -- options that have a meaning only beside a value of another, and are refused without
 * it: what a user sets must not be ignored in silence.  (Internal header.) */
#ifndef CREDENCE_MODELS_CORE_UNUSED_H
#define CREDENCE_MODELS_CORE_UNUSED_H

#include "base/context.h"
#include "base/option.h"

/* `option` requires `with` at one of `values`, "a|b" (of a list: an item that names one); ""
 * is any value but its default, and "task" stands for what the model does.  The default of `option`
 * is never refused: it asks for nothing.  Where a run over values may well pass through the one
 * without effect, `warns` says so and lets it be. */
typedef struct cri_requirement {
    const char *option, *with, *values;
    bool        warns;
} cri_requirement;

#define CRI_REQUIREMENT_LAST                                                                       \
    {                                                                                              \
        NULL, NULL, NULL, false                                                                    \
    }

struct cr_model;

/* The options of a model against the table of its class.  Fails with CR_EARG. */
cr_status cri_check_unused(cr_ctx *cx, const struct cr_model *model);
/* The failure itself, for a class that must look closer. */
cr_status cri_fail_unused(cr_ctx *cx, const char *option, const char *with, const char *values);
/* A warning where only the data showed that an option has no effect: "--batch 8 does nothing `to`
 * an exact process: with `would` it would".  Silent when the option is at its default. */
void cri_tell_unused(cr_ctx *cx, const cr_option *table, const void *values, const char *option,
                     const char *to, const char *would);

#endif
