/* dynamic_query.c -- questions to slices: the plan, and what is asked of slices side by side. */
#include "dynamic_query.h"
#include "dynamic_slices.h"
#include "graph/exact/interface.h"
#include "graph/exact/limits.h"

#include <stdio.h>

/* --- what is asked --------------------------------------------------------------------------- */

size_t cri_dynamic_horizon(const cri_dynamic *net, const cr_question *opt_q,
                           const cr_findings *opt_more)
{
    size_t slices = opt_q ? opt_q->slices : 0;
    for (size_t i = 0; opt_more && i < opt_more->n; i++) {
        size_t t = opt_more->item[i].variable / net->n + 1;
        if (t > slices) slices = t;
    }
    return slices;
}

/* Questions that have no answer here, or none that would not mislead. */
static cr_status refuse_kind(cr_ctx *cx, cr_question_kind kind)
{
    switch (kind) {
    case CR_QUESTION_SENSITIVITY:
        return cr_fail(
            cx, CR_EARG,
            "sensitivity() is not for networks with slices, which share their parameters");
    case CR_QUESTION_DESCENDANTS:
        cr_fail(cx, CR_EARG, "descendants in a network with slices go on for ever");
        return cr_fail_hint(cx, "children(x[t=1]) are in the same slice and the next");
    case CR_QUESTION_IMAP:
        return cr_fail(cx, CR_EARG, "imap() compares networks without slices");
    default:
        return CR_OK;
    }
}

/* The slices that have to be there for the answer. */
static cr_status find_slices(cr_ctx *cx, const cri_dynamic *net, const cr_question *q,
                             const cr_findings *opt_more, size_t *out_slices)
{
    const cri_question_row *row = cri_question_of(q->kind);
    size_t                  slices = cri_dynamic_horizon(net, q, opt_more);
    cr_status               st = refuse_kind(cx, q->kind);
    if (st != CR_OK) return st;
    if (slices == 0 && !row->graph) {
        cr_fail(cx, CR_EARG,
                "* means all variables up to the last slice that is named, but none is");
        return cr_fail_hint(cx, "name a slice, for example P(* | %s[t=3]=%s)",
                            cr_variable_name(cr_network_variables(net->first), 0),
                            cr_state_name(cr_network_variables(net->first), 0, 0));
    }
    if (q->kind == CR_QUESTION_CHILDREN || q->kind == CR_QUESTION_BLANKET) slices++;
    if (row->graph && slices < 2) slices = 2;
    *out_slices = slices;
    return CR_OK;
}

/* --- slices side by side --------------------------------------------------------------------- */

cr_status cri_dynamic_lay(cr_ctx *cx, const cri_dynamic *net, size_t slices, cr_network **out_net)
{
    if (slices <= CRI_MOST_UNROLLED / net->n || slices <= 2)
        return cri_dynamic_unroll(cx, net, slices, out_net);
    cr_fail(cx, CR_EARG, "%zu slices side by side would be %zu variables, of %d that are possible",
            slices, slices * net->n, CRI_MOST_UNROLLED);
    return cr_fail_hint(cx, "P(x[t=...] | e) of one variable, P(* | e), P(e) and argmax(* | e) are "
                            "computed slice by slice, however many there are");
}

static cr_status ask_unrolled(cr_ctx *cx, const cri_dynamic *net, size_t slices,
                              const cr_question *q, const cr_findings *opt_more,
                              const cr_query_options *opt_o, cr_query_answer *out)
{
    cr_status       st = CR_OK;
    cr_network     *whole = NULL;
    cr_query_answer a = { 0 };
    CR_TRY(cri_dynamic_lay(cx, net, slices, &whole));
    cr_log(cx, CR_LOG_INFO, "plan: unrolled, %zu slices are a network of %zu variables", slices,
           cr_network_size(whole));
    CR_TRY(cr_query_run(cx, whole, q, opt_more, opt_o, &a));
    a.about = whole;
    whole = NULL;
    *out = a;
done:
    cr_network_free(cx, whole);
    return st;
}

/* --- the plan -------------------------------------------------------------------------------- */

/* How often all slices are gone through: forwards, and then forwards and backwards; of several variables for each
 * state of all but one. */
static double count_passes(const cri_dynamic *net, const cr_question *q)
{
    double runs = 1;
    for (size_t i = 0; i + 1 < q->n_x && q->kind == CR_QUESTION_TABLE; i++)
        runs *= (double)cr_network_states(net->first, q->x[i] % net->n);
    return q->kind == CR_QUESTION_PROBABILITY ? 2 : 4 * runs;
}

/* Slice by slice, if that can answer it, and the slices side by side would be many; or else they would be too many.
 * *out_planned: what it takes. */
static bool goes_by_slices(cr_ctx *cx, const cri_dynamic *net, size_t slices, const cr_question *q,
                           const cr_findings *opt_more, const cr_query_options *o,
                           cr_query_planned *out_planned)
{
    enum { SHORT = 500 };
    cri_interface_cost cost;
    cr_query_planned   p = { .method = "interface" };
    if (o->method > CR_QUERY_EXACT || slices * net->n <= SHORT) return false;
    if (!cri_dynamic_by_slices(q, opt_more)) return false;
    if (cri_interface_plan(cx, net, &cost) != CR_OK) return false;
    double operations = (double)slices * cost.operations * count_passes(net, q);
    p.cost = (cr_exact_report){ .variables = slices * net->n,
                                .width = cost.width,
                                .operations = operations,
                                .bytes = (double)slices * (8 * cost.size + 4 * (double)net->n) };
    bool dear = o->method == CR_QUERY_AUTO && cri_exact_seconds(operations) > o->budget;
    if (dear && slices * net->n <= CRI_MOST_UNROLLED) return false;
    snprintf(
        p.why, sizeof p.why,
        "%zu slices one after another, connected by %zu variable%s with %.3g joint states; about "
        "%.2g s",
        slices, cost.members, cost.members == 1 ? "" : "s", cost.size,
        cri_exact_seconds(operations));
    cr_log(cx, CR_LOG_INFO, "plan: interface, width %zu, %.3g operations, %.3g bytes: %s",
           cost.width, operations, p.cost.bytes, p.why);
    *out_planned = p;
    return true;
}

cr_status cri_dynamic_query_run(cr_ctx *cx, const cri_dynamic *net, const cr_question *q,
                                const cr_findings *opt_more, const cr_query_options *opt_o,
                                cr_query_answer *out)
{
    cr_status        st = CR_OK;
    cr_query_options o = opt_o ? *opt_o : cr_query_defaults();
    cr_query_planned plan;
    cr_query_answer  a = { 0 };
    size_t           slices;
    bool             lost = false;
    CR_TRY(find_slices(cx, net, q, opt_more, &slices));
    if (!goes_by_slices(cx, net, slices, q, opt_more, &o, &plan)) {
        CR_TRY(ask_unrolled(cx, net, slices, q, opt_more, &o, out));
        goto done;
    }
    st = cri_dynamic_slices_run(cx, net, slices, q, opt_more, &a, &lost);
    if (lost && (st == CR_OK || st == CR_EDATA) && slices * net->n <= CRI_MOST_UNROLLED) {
        cr_log(cx, CR_LOG_INFO, "plan: numbers too small for a double call for logarithms");
        cr_query_answer_free(cx, &a);
        CR_TRY(ask_unrolled(cx, net, slices, q, opt_more, &o, out));
        goto done;
    }
    CR_TRY(st);
    if (lost)
        cr_log(cx, CR_LOG_WARNING,
               "states that once had less than 1e-300 of the probability of others were left out: "
               "the answer may be far off");
    *out = a;
    out->plan = plan;
    out->cost = plan.cost;
done:
    return st;
}
