/* sequence_names.h -- the labels of the sequences of a fit, kept in the state as one text.  (Internal header.) */
#ifndef CREDENCE_MODELS_COMMON_SEQUENCE_NAMES_H
#define CREDENCE_MODELS_COMMON_SEQUENCE_NAMES_H

#include "data/design/design_internal.h"

/* The labels, each before a line feed, as a text of its own; NULL where they have none, or one has a line feed. */
cr_status cri_sequence_labels_join(cr_ctx *cx, const cri_sequences *sequences, char **out_text);

/* Such a text cut into the names of n sequences. */
typedef struct cri_sequence_names {
    char        *text;
    size_t       size, n;
    const char **name; /* [n]; NULL: they have none */
} cri_sequence_names;
/* CR_EDATA where it has another number of them.  After a failure what is there is freed as ever. */
cr_status cri_sequence_names_open(cr_ctx *cx, const char *opt_labels, size_t n,
                                  cri_sequence_names *out);
void      cri_sequence_names_close(cr_ctx *cx, cri_sequence_names *names);

#endif
