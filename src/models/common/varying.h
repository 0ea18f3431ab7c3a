/* varying.h -- what a linear predictor with varying intercepts knows of its groups after a fit.
 *   mean = b0 + x . b + u_g,   u_g ~ N(0, s_u^2) a priori,   J groups.
 * A row of group g then has the leverage
 *   h(x) + v_g + 2 (c_g0 + c_g . u),   u = (x - centre) / scale as in predictor.h,
 * v_g and c_g the variance of u_g and its covariances with the mean at the centre and with the
 * coefficients, over sigma^2; one of a group that was not seen the leverage h(x) + unseen.
 * Gelman & Hill (2007), ch. 12.  (Internal header.) */
#ifndef CREDENCE_MODELS_COMMON_VARYING_H
#define CREDENCE_MODELS_COMMON_VARYING_H

#include "predictor.h"

/* clang-format off */
#define CRI_VARYING(MEMBER)                                                                         \
    MEMBER(count,  groups,     (),              "as:varying_groups",     "J; 0: there are none")    \
    MEMBER(count,  width,      (),              "as:varying_width",      "1 + terms")               \
    MEMBER(real,   sd,         (),              ">=0 as:varying_sd",     "s_u: its mean")           \
    MEMBER(real,   lower,      (),              ">=0 none as:varying_lower", "95 % interval of it") \
    MEMBER(real,   upper,      (),              ">=0 none as:varying_upper", "likewise")            \
    MEMBER(real,   unseen,     (),              ">=0 as:varying_unseen", "of a group that is new, over sigma^2") \
    MEMBER(real,   unseen_dof, (),              "any endless as:varying_unseen_dof", "of the prediction there") \
    MEMBER(vector, weight,     (groups),        ">=0 as:varying/weight", "of the rows of each")     \
    MEMBER(vector, mean,       (groups),        "as:varying/mean",       "of u_g")                  \
    MEMBER(vector, variance,   (groups),        ">=0 as:varying/variance", "v_g")                   \
    MEMBER(matrix, covariance, (groups, width), "as:varying/covariance", "c_g0 and c_g")            \
    MEMBER(vector, dof,        (width),         ">0 none as:varying/dof", "of intervals of b0 and b; none: those of the fit")
/* clang-format on */
CRI_RECORD(cri_varying, CRI_VARYING);
extern const cri_member cri_varying_record[];

cr_status cri_varying_new(cr_ctx *cx, size_t groups, size_t width, cri_varying *out);

/* Adds the groups to predictions of the predictor. */
cr_status cri_varying_predict(cr_ctx *cx, const cri_varying *v, const cri_predictor *fit,
                              const cri_rows *rows, cr_prediction *out);

/* Statistics of the groups, for the table of a class; `unit` of s_u. */
#define CRI_VARYING_STATISTICS(unit)                                                               \
    CR_COUNT("groups", CR_FIELD_SOMETIMES, "with a varying intercept: number of groups"),          \
        CR_MEASURE("group_sd", unit, CR_FIELD_SOMETIMES,                                           \
                   "with a varying intercept: standard deviation of the groups"),                  \
        CR_MEASURE("group_sd_lower", unit, CR_FIELD_EITHER, "its 95 % interval"),                  \
        CR_MEASURE("group_sd_upper", unit, CR_FIELD_EITHER, "likewise")
/* The table of groups. */
extern const cr_field cri_varying_tables[];
/* Fills both: the statistics into `statistics`, the table into `out`. */
void cri_varying_describe(const cri_varying *v, const cri_predictor *fit, const cr_design *design,
                          cri_sheet *statistics, cri_sheet *out);

/* Whether what a file holds are the groups of this design, or none of one that has none. */
bool cri_varying_fits(const cri_varying *v, const cr_design *design);

#endif
