/* hmm_given.h -- parameters of a hidden Markov model in JSON, in a file or as the text of an option itself:
 *   {"pi": [..], "A": [[..], ..], "B": [[..], ..], "rate": [..], "mean": [..], "covariance": [[[..]]]}
 * Every list has an entry for each state.  B has probabilities of the levels, in the order of the levels or {"level": p};
 * parameters of numbers have a number, or a list of them where several columns have such a parameter; instead of the
 * list of states an object may give one for each column.  "tie" has a name for each entry of A, "" or null where it has none:
 * those of the same name are equal.  What is not named is left as it was.  (Internal header.) */
#ifndef CREDENCE_MODELS_SEQUENCE_HMM_GIVEN_H
#define CREDENCE_MODELS_SEQUENCE_HMM_GIVEN_H

#include "graph/files/json_text.h"
#include "hmm.h"

typedef struct cri_given {
    cri_json d;
    char    *bytes;
    size_t   size;
    size_t   k;    /* states that it is about */
    bool     ties; /* whether it names transitions */
} cri_given;

/* Reads the text, or the file of this name; `option` is the one that it comes from. */
cr_status cri_given_open(cr_ctx *cx, const char *option, const char *text, cri_given *out);
void      cri_given_close(cr_ctx *cx, cri_given *given);
/* Sets the parameters of a state with as many states, and which of pi and A may be above 0.  The columns are in the units
 * of the model afterwards. */
cr_status cri_given_apply(cr_ctx *cx, const cri_given *given, const cr_design *design, cri_hmm *m);

#endif
