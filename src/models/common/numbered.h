/* numbered.h -- parts of a model that only numbers tell apart, clusters or hidden states: how many there are to be, and
 * their names.  (Internal header.) */
#ifndef CREDENCE_MODELS_COMMON_NUMBERED_H
#define CREDENCE_MODELS_COMMON_NUMBERED_H

#include "base/context.h"

enum { CRI_MOST_NUMBERED = 1000 };

/* The text of --option: "3", or "1:9", the first and last number to choose from.  Fails with CR_EARG. */
cr_status cri_read_numbers(cr_ctx *cx, const char *model, const char *option, const char *what,
                           const char *text, size_t *out_from, size_t *out_to);

/* The names of k of them, "1", "2", ...: `names` [k] point into `text`.  After a failure what is there is freed as
 * ever. */
cr_status cri_cluster_names_new(cr_ctx *cx, size_t k, char **text, const char ***names);
void      cri_cluster_names_free(cr_ctx *cx, size_t k, char **text, const char ***names);

#endif
