/* query_mixture.c -- Jeffrey's rule by runs given each state. */
#include "query_mixture.h"
#include "base/find.h"

#include <math.h>

bool cri_engine_samples(const cri_engine *e)
{
    return (int)e->plan.method >= (int)CR_QUERY_APPROXIMATE + (int)CR_APPROXIMATE_FORWARD;
}

cr_status cri_mixture_refuse(cr_ctx *cx, const cr_network *net, const cr_finding *f, size_t state,
                             bool others)
{
    const cr_variables *vs = cr_network_variables(net);
    return cr_fail(cx, CR_EDATA, "%s=%s should have probability %g, but it is impossible%s",
                   cr_variable_name(vs, f->variable), cr_state_name(vs, f->variable, state),
                   f->weight[state], others ? " with the rest of the evidence" : "");
}

/* Runs of different states are independent. */
static uint64_t seed_of(const cri_engine *e, size_t state)
{
    return e->o.seed + (uint64_t)(state + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

cr_status cri_mixture_assume(const cri_engine *e, size_t state, cr_evidence **out_e)
{
    cr_status    st = CR_OK;
    cr_evidence *copy = NULL;
    CR_TRY(cr_evidence_new(e->cx, e->net, &copy));
    for (size_t v = 0; v < cr_network_size(e->net); v++) {
        const double *l = cr_evidence_likelihood(e->evidence, v);
        if (l) CR_TRY(cr_evidence_weigh(e->cx, copy, v, l));
    }
    CR_TRY(cr_evidence_observe(e->cx, copy, e->mixed->variable, state));
    *out_e = copy;
    copy = NULL;
done:
    cr_evidence_free(e->cx, copy);
    return st;
}

static bool has_others(const cri_engine *e)
{
    for (size_t v = 0; v < cr_network_size(e->net); v++)
        if (cr_evidence_likelihood(e->evidence, v)) return true;
    return false;
}

/* Adds the report of a run with weight q; squares of errors are summed until the end. */
static void add_report(cr_approximate_report *sum, const cr_approximate_report *r, double q)
{
    bool   first = sum->samples == 0;
    double se = first ? 0 : sum->se, share = first ? 0 : sum->effective;
    size_t samples = sum->samples, largest = sum->largest, clusters = sum->clusters;
    bool   converged = first || sum->converged;
    double rhat = sum->rhat, accepted = sum->accepted;
    *sum = *r;
    sum->samples += samples;
    sum->se = se + q * q * r->se * r->se;
    sum->effective = share + q * q / fmax(r->effective, 1);
    sum->converged &= converged;
    if (!first) {
        sum->rhat = fmax(rhat, r->rhat);
        sum->accepted = fmin(accepted, r->accepted);
        if (largest > sum->largest) sum->largest = largest;
        if (clusters > sum->clusters) sum->clusters = clusters;
    }
    sum->log_evidence = sum->log_evidence_se = NAN;
}

static void close_report(cr_approximate_report *sum)
{
    sum->se = sqrt(sum->se);
    sum->effective = 1 / sum->effective;
}

/* sum += q a, errors as squares; a is left empty. */
static void add_answer(cr_ctx *cx, cr_approximate_answer *sum, cr_approximate_answer *a, double q)
{
    bool first = !sum->marginal;
    for (size_t k = 0; k < a->states; k++) {
        a->marginal[k] = q * a->marginal[k] + (first ? 0 : sum->marginal[k]);
        a->se[k] = q * q * a->se[k] * a->se[k] + (first ? 0 : sum->se[k]);
    }
    for (size_t k = 0; k < a->joint.size; k++)
        a->joint.value[k] = q * a->joint.value[k] + (first ? 0 : sum->joint.value[k]);
    for (size_t k = 0; k < a->spread.size; k++)
        a->spread.value[k] = q * q * a->spread.value[k] + (first ? 0 : sum->spread.value[k]);
    cr_approximate_report r = a->report;
    a->report = sum->report;
    add_report(&a->report, &r, q);
    cr_approximate_free(cx, sum);
    *sum = *a;
    *a = (cr_approximate_answer){ 0 };
}

cr_status cri_mixture_ask(cri_engine *e, cr_approximation how, size_t n, const size_t *query,
                          cr_approximate_answer *out)
{
    cr_status             st = CR_OK;
    cr_approximate_answer a = { 0 }, sum = { 0 };
    cr_evidence          *given = NULL;
    const cr_finding     *f = e->mixed;
    for (size_t s = 0; s < f->states; s++) {
        if (f->weight[s] == 0) continue;
        CR_TRY(cri_mixture_assume(e, s, &given));
        CR_TRY(cr_approximate(e->cx, e->net, given, how, &e->o.approximate, seed_of(e, s), n, query,
                              &a));
        if (a.report.log_evidence == -INFINITY)
            CR_TRY(cri_mixture_refuse(e->cx, e->net, f, s, has_others(e)));
        add_answer(e->cx, &sum, &a, f->weight[s]);
        cr_evidence_free(e->cx, given);
        given = NULL;
    }
    for (size_t k = 0; k < sum.states; k++) sum.se[k] = sqrt(sum.se[k]);
    close_report(&sum.report);
    *out = sum;
    sum = (cr_approximate_answer){ 0 };
done:
    cr_approximate_free(e->cx, &a);
    cr_approximate_free(e->cx, &sum);
    cr_evidence_free(e->cx, given);
    return st;
}

cr_status cri_mixture_best(cri_engine *e, size_t n, const size_t *query, size_t *out_state)
{
    cr_status st = CR_OK;
    cr_factor f = { 0 };
    CR_TRY(cri_engine_joint(e, n, query, &f, NULL));
    size_t best = cri_largest(f.value, f.size);
    for (size_t i = 0; i < n; i++)
        out_state[i] =
            best / f.stride[cr_factor_position(&f, query[i])] % cr_network_states(e->net, query[i]);
    e->result.share = log(f.value[best]);
done:
    cr_factor_free(e->cx, &f);
    return st;
}

cr_status cri_mixture_number(cri_job *j, cr_status (*run)(cri_job *j, double *p), double *out)
{
    cr_status             st = CR_OK;
    cri_engine           *e = &j->engine;
    const cr_finding     *f = e->mixed;
    cr_evidence          *before = e->evidence, *given = NULL;
    cr_approximate_report sum = { 0 };
    uint64_t              seed = e->o.seed;
    double                total = 0, p;
    for (size_t s = 0; s < f->states; s++) {
        if (f->weight[s] == 0) continue;
        CR_TRY(cri_mixture_assume(e, s, &given));
        e->o.seed = seed_of(e, s);
        e->mixed = NULL;
        e->evidence = given;
        cri_engine_changed(e);
        st = run(j, &p);
        e->mixed = f;
        e->evidence = before;
        e->o.seed = seed;
        if (st == CR_EDATA) CR_TRY(cri_mixture_refuse(e->cx, e->net, f, s, has_others(e)));
        CR_TRY(st);
        total += f->weight[s] * p;
        add_report(&sum, &e->result.error, f->weight[s]);
        cr_evidence_free(e->cx, given);
        given = NULL;
    }
    close_report(&sum);
    e->result.error = sum;
    cri_engine_changed(e);
    *out = total < 1 ? total : 1;
done:
    cr_evidence_free(e->cx, given);
    return st;
}
