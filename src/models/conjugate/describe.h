/* describe.h -- posteriors for people and for programs: a distribution with its parameters by name,
 * and the numbers that sum it up.  (Internal header.) */
#ifndef CREDENCE_MODELS_CONJUGATE_DESCRIBE_H
#define CREDENCE_MODELS_CONJUGATE_DESCRIBE_H

#include "models/core/parameters.h"

enum { CRI_MOST_NAMED = 6 };

/* A distribution by name; where the registry has it, the parameters are all of them, in its order.
 */
typedef struct cri_named {
    const char *family;
    size_t      n;
    const char *names[CRI_MOST_NAMED];
    double      values[CRI_MOST_NAMED];
} cri_named;

typedef struct cri_summary { /* NaN where there is none */
    double mean, sd, mode, lower, upper, hdi_lower, hdi_upper;
} cri_summary;

/* The summary of a distribution of one variable of the registry, with intervals of mass `level`. */
cr_status cri_summarise(cr_ctx *cx, const cri_named *d, double level, cri_summary *out);

/* Adds {"family": ..., "a": ..., ...}. */
void cri_put_named(cri_sheet *s, const char *name, const cri_named *d);
/* "beta(a=2, b=3)", cut off where it is longer than size. */
const char *cri_named_text(const cri_named *d, char *out, size_t size);

/* Appends a parameter: name, posterior (NULL: one without a name), value, sd, lower, upper, mode,
 * hdi_lower, hdi_upper. */
void cri_add_summary(cri_sheet *parameters, const cri_named *opt_posterior, const cri_summary *s,
                     const char *name, ...) CR_PRINTF(4, 5);
/* Appends what is known of one column (NULL: of all together); posterior, predictive and statistics
 * are put into the new row. */
cri_sheet *cri_add_distribution(cri_sheet *distributions, const char *opt_column, double n,
                                double log_evidence);
/* Adds statistics: the prior as text, how the evidence is known, the mass of the intervals. */
void cri_add_prior(cri_sheet *out, const char *prior, bool proper, const char *opt_evidence,
                   double level);
extern const cr_field cri_prior_statistics[], cri_distribution_tables[];

#endif
