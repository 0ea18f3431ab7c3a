/* prior.h -- what the user says of a prior, --prior: one word, or parameters by name.
 *     jeffreys          a=2,b=3          mean=0.8,sd=0.1
 * A model tries the forms it knows, one after the other, and refuses what none of them takes.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_CONJUGATE_PRIOR_H
#define CREDENCE_MODELS_CONJUGATE_PRIOR_H

#include "base/scratch.h"

typedef struct cri_prior_item {
    const char *key;
    double      value;
} cri_prior_item;

typedef struct cri_prior {
    const char     *model; /* whose prior it is, for messages    */
    const char     *text;  /* as it was given                    */
    const char     *word;  /* NULL where there are items         */
    cri_prior_item *items;
    size_t          n;
} cri_prior;

/* Reads the text into the arena.  Fails with CR_EARG where a value is not a number, a name comes
 * twice, or words and parameters are mixed. */
cr_status cri_prior_read(cr_ctx *cx, cr_scratch *s, const char *model, const char *text,
                         cri_prior *out);
/* true when it is this word. */
bool cri_prior_is(const cri_prior *p, const char *word);
/* true when the names are exactly these ("a,b", in any order); their values go to out in the order
 * of `keys`. */
bool cri_prior_match(const cri_prior *p, const char *keys, double *out);
/* Fails with CR_EARG unless the value is above the bound. */
cr_status cri_prior_above(cr_ctx *cx, const char *key, double value, double bound);
/* Fails with CR_EARG: no form fits; `forms` says which there are. */
cr_status cri_prior_refuse(cr_ctx *cx, const cri_prior *p, const char *forms);

/* The prior of a rate, out = (shape, rate) of a gamma: by shape and rate, by mean and sd, or by a word,
 * where the rate is 0 and the shape 1 (flat), 0 (haldane) or `jeffreys`.  `words`: for failures. */
cr_status cri_prior_rate(cr_ctx *cx, const cri_prior *p, double jeffreys, const char *words,
                         double out[2]);

#endif
