/* formula.h -- a formula of R in the options of a fit:  'y ~ x + factor(g) - 1'  is
 *   --target y --terms 'x + g' --category g --no-intercept
 * since what stands behind the tilde is nearly what --terms takes (terms.h); bs and ns are bases with other names.  log(y) and sqrt(y) before it are
 * --transform-target.  (Internal header.) */
#ifndef CREDENCE_DATA_DESIGN_FORMULA_H
#define CREDENCE_DATA_DESIGN_FORMULA_H

#include "base/scratch.h"

/* true when there is a tilde outside double quotes. */
bool cri_is_formula(const char *text);

typedef struct cri_formula {
    const char *target;     /* NULL where it is no name, or a function that is not known */
    const char *transform;  /* of the target; NULL: none          */
    const char *terms;      /* "" for all features or none at all */
    const char *categories; /* "a,b"; "" : none                   */
    bool        without_intercept, nothing; /* - 1; and of y ~ 1: no terms at all */
    const char *instead; /* for what no option says: what does; NULL: there is nothing such */
    bool        varying; /* has (1 | g), which few models take */
} cri_formula;

/* Takes a formula apart. */
cr_status cri_formula_read(cr_scratch *s, const char *text, cri_formula *out);
/* The options as they are typed, with a space before each: " --target y --terms 'x + g'"; NULL where there are none that
 * say the same. */
const char *cri_formula_options(cr_scratch *s, const cri_formula *formula);
/* A hint where there are no such options. */
const char *cri_formula_instead(const cri_formula *formula);
/* What to add to a hint with the options; "": nothing. */
const char *cri_formula_remark(const cri_formula *formula);
/* Fails with CR_EARG for a formula in --terms, with the options that say the same. */
cr_status cri_formula_refuse(cr_ctx *cx, const char *text);

#endif
