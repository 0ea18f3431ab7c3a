/* answer_warn.c -- what a user should know of an answer. */
#include "questions.h"

#include <math.h>

const char *cri_steps_name(const cr_approximate_report *r)
{
    return r->chains > 0 || r->iterations > 0 ? "sweeps"
           : r->made < r->samples             ? "steps"
                                              : "samples";
}

static void warn_approximate(cr_ctx *cx, const char *what, const char *method,
                             const cr_approximate_report *r)
{
    if (r->planned > 0)
        cr_log(cx, CR_LOG_WARNING, "%s: the time limit ended %s after %zu of %zu %s%s", what,
               method, r->made, r->planned, cri_steps_name(r),
               r->samples > 0 ? ": its standard errors are wider for it" : "");
    if (r->iterations > 0 && !r->converged)
        cr_log(cx, CR_LOG_WARNING,
               "%s: %s has not converged after %zu sweeps (residual %.2g): the answer may be far "
               "off",
               what, method, r->iterations, r->residual);
    else if (r->far > CR_APPROXIMATE_FAR || (r->log_far > CR_APPROXIMATE_LOG_FAR &&
                                             isnan(r->lower))) /* a bound may be far below */
        cr_log(cx, CR_LOG_WARNING,
               "%s: %s has converged, but messages between %s differ from it, by up to %.2g in a "
               "probability and by %.3g in log P(e)",
               what, method, r->clusters > 0 ? "single variables" : "small clusters", r->far,
               r->log_far);
    if (r->chains > 0 && !r->converged)
        cr_log(cx, CR_LOG_WARNING,
               "%s: the chains have not mixed (R-hat %.3f): the answer may be far off", what,
               r->rhat);
    if (r->samples > 0 && r->chains == 0 && r->effective < 100)
        cr_log(cx, CR_LOG_WARNING,
               "%s: only %.3g effective samples of %zu: the standard errors are too small", what,
               r->effective, r->samples);
    else if (r->pareto_k > CR_APPROXIMATE_HEAVY)
        cr_log(cx, CR_LOG_WARNING,
               "%s: a few weights outweigh the others (Pareto k %.2f): the standard errors are too "
               "small",
               what, r->pareto_k);
    if (r->missed > CR_APPROXIMATE_MISSED)
        cr_log(cx, CR_LOG_WARNING,
               "%s: samples hardly reach what a chain visits (%.2g of it): the answer may be far "
               "off, even beyond the standard errors if the chains miss something too",
               what, r->missed);
    else if (r->modes > 1)
        cr_log(cx, CR_LOG_WARNING,
               "%s: the state space has at least %zu regions that chains do not leave: the "
               "standard errors do not account for regions that were not found",
               what, r->modes);
}

void cri_answer_warn(cr_ctx *cx, const char *text, const cr_query_answer *a)
{
    if (a->why[0]) cr_log(cx, CR_LOG_WARNING, "%s: %s", text, a->why);
    if (a->open)
        cr_log(cx, CR_LOG_WARNING,
               "%s: not proven to be the best: its log is %.6g, and no assignment exceeds %.6g",
               text, a->log_joint, a->upper);
    else if (!a->exact)
        warn_approximate(cx, text, a->method, &a->error);
}
