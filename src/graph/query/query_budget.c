/* query_budget.c -- approximations of AUTO within the budget.
 * A short run shows what a sweep takes on this machine; the run that counts has as many sweeps as
 * are left in the budget, and as many as usual where all of them are.  With all of them, or where the
 * messages have converged within fewer, the answer is the same on every machine; else `why` says that
 * it is not. */
#include "query_approximate.h"
#include "base/clock.h"
#include "base/context_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FEW_MESSAGES = 5, FEW_SAMPLES = 400 };
static const double LEAST = 5; /* seconds: a budget that only keeps exact answers off is no haste */

double cri_budget_left(const cri_engine *e)
{
    double left = e->began + fmax(e->o.budget, LEAST) - cri_seconds();
    return fmin(left, cri_time_left(e->cx) / 2);
}

/* Which number of sweeps the method takes, and what it is if nothing is said. */
static size_t *sweeps_of(cr_approximate_options *o, cr_approximation how, size_t *usual)
{
    bool gibbs = how == CR_APPROXIMATE_GIBBS;
    *usual = gibbs ? 5000 : 100;
    return gibbs ? &o->samples : &o->max_iter;
}

cr_status cri_budget_ask(cri_engine *e, cr_approximation how, cr_approximate_answer *out)
{
    cr_status             st = CR_OK;
    cr_approximate_answer a = { 0 };
    size_t                usual, few = how == CR_APPROXIMATE_GIBBS ? FEW_SAMPLES : FEW_MESSAGES;
    size_t               *sweeps = sweeps_of(&e->o.approximate, how, &usual), asked = *sweeps;
    double                began = cri_seconds();
    if (asked != CR_COUNT_UNSET) usual = asked;
    *sweeps = few < usual ? few : usual;
    CR_TRY(cri_approximate_ask(e, how, 0, NULL, &a));
    bool   settled = how != CR_APPROXIMATE_GIBBS && a.report.converged;
    double now = cri_seconds(), left = cri_budget_left(e);
    double affordable = left / (now - began) * (double)*sweeps; /* of sweeps */
    if (settled || a.report.planned > 0 || usual <= few || a.report.log_evidence == -INFINITY)
        goto done;
    if (affordable < (double)usual) {
        snprintf(e->result.cut, sizeof e->result.cut, "%s was cut short by the budget of %.3g s",
                 cr_approximation_name(how), fmax(e->o.budget, LEAST));
        usual = affordable > (double)few ? (size_t)affordable : few;
    }
    if (usual == few) goto done;
    cr_approximate_free(e->cx, &a);
    *sweeps = usual;
    CR_TRY(cri_approximate_ask(e, how, 0, NULL, &a));
    if (how != CR_APPROXIMATE_GIBBS && a.report.converged) e->result.cut[0] = '\0'; /* enough */
done:
    if (!e->result.cut[0]) *sweeps = asked; /* else further runs are cut short too */
    if (st == CR_OK) {
        *out = a;
        return st;
    }
    cr_approximate_free(e->cx, &a);
    return st;
}

void cri_budget_report(cri_engine *e)
{
    size_t used = strlen(e->result.why);
    double seconds = cri_seconds() - e->began;
    if (e->began == 0 || !cri_engine_approximates(e)) return;
    if (e->result.cut[0])
        used += (size_t)snprintf(e->result.why + used, sizeof e->result.why - used, "; %s",
                                 e->result.cut);
    if (used < sizeof e->result.why && seconds > 1.5 * fmax(e->o.budget, LEAST))
        snprintf(e->result.why + used, sizeof e->result.why - used, "; all took %.3g s", seconds);
}
