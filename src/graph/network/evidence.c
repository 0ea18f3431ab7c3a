/* evidence.c -- a likelihood vector for some of the variables. */
#include "evidence.h"
#include "network_internal.h"

#include <float.h>
#include <string.h>

struct cr_evidence {
    size_t   n;
    size_t  *states;     /* [n] */
    double **likelihood; /* [n] NULL: nothing known */
};

cr_status cr_evidence_new(cr_ctx *cx, const cr_network *net, cr_evidence **out_e)
{
    cr_status    st = CR_OK;
    cr_evidence *e = cr_alloc(cx, 1, sizeof *e);
    if (!e) return CR_ENOMEM;
    e->n = cr_network_size(net);
    e->states = cr_alloc(cx, e->n, sizeof *e->states);
    e->likelihood = e->states ? cr_alloc(cx, e->n, sizeof *e->likelihood) : NULL;
    if (!e->likelihood) CR_TRY(CR_ENOMEM);
    for (size_t v = 0; v < e->n; v++) e->states[v] = cr_network_states(net, v);
    *out_e = e;
    e = NULL;
done:
    cr_evidence_free(cx, e);
    return st;
}

void cr_evidence_free(cr_ctx *cx, cr_evidence *e)
{
    if (!e) return;
    for (size_t v = 0; e->likelihood && v < e->n; v++) cr_evidence_forget(cx, e, v);
    cr_free(cx, e->likelihood, e->n, sizeof *e->likelihood);
    cr_free(cx, e->states, e->n, sizeof *e->states);
    cr_free(cx, e, 1, sizeof *e);
}

void cr_evidence_forget(cr_ctx *cx, cr_evidence *e, size_t v)
{
    cr_free(cx, e->likelihood[v], e->states[v], sizeof(double));
    e->likelihood[v] = NULL;
}

const double *cr_evidence_likelihood(const cr_evidence *e, size_t v) { return e->likelihood[v]; }

size_t cr_evidence_state(const cr_evidence *e, size_t v)
{
    size_t only = CR_NONE;
    for (size_t s = 0; e->likelihood[v] && s < e->states[v]; s++) {
        if (e->likelihood[v][s] == 0) continue;
        if (only != CR_NONE) return CR_NONE;
        only = s;
    }
    return only;
}

cr_status cr_evidence_weigh(cr_ctx *cx, cr_evidence *e, size_t v, const double *likelihood)
{
    if (v >= e->n)
        return cr_fail(cx, CR_EARG, "there is no variable %zu, only %zu of them", v, e->n);
    bool some = false;
    for (size_t s = 0; s < e->states[v]; s++) {
        if (!(likelihood[s] >= 0) || likelihood[s] > DBL_MAX)
            return cr_fail(cx, CR_EDATA, "the likelihood of state %zu of variable %zu is %g", s, v,
                           likelihood[s]);
        some |= likelihood[s] > 0;
    }
    if (!some) return cr_fail(cx, CR_EDATA, "no state of variable %zu has a likelihood above 0", v);
    double *copy = cr_resize(cx, NULL, 0, e->states[v], sizeof *copy);
    if (!copy) return CR_ENOMEM;
    memcpy(copy, likelihood, e->states[v] * sizeof *copy);
    cr_evidence_forget(cx, e, v);
    e->likelihood[v] = copy;
    return CR_OK;
}

cr_status cr_evidence_allow(cr_ctx *cx, cr_evidence *e, size_t v, size_t n, const size_t *states)
{
    if (v >= e->n)
        return cr_fail(cx, CR_EARG, "there is no variable %zu, only %zu of them", v, e->n);
    double *row = cr_alloc(cx, e->states[v], sizeof *row);
    if (!row) return CR_ENOMEM;
    cr_status st = CR_OK;
    for (size_t i = 0; i < n && st == CR_OK; i++) {
        if (states[i] < e->states[v])
            row[states[i]] = 1;
        else
            st = cr_fail(cx, CR_EARG, "variable %zu has no state %zu, only %zu of them", v,
                         states[i], e->states[v]);
    }
    if (st == CR_OK) st = cr_evidence_weigh(cx, e, v, row);
    cr_free(cx, row, e->states[v], sizeof *row);
    return st;
}

cr_status cr_evidence_observe(cr_ctx *cx, cr_evidence *e, size_t v, size_t state)
{
    return cr_evidence_allow(cx, e, v, 1, &state);
}

cr_status cri_fail_impossible(cr_ctx *cx)
{
    return cr_fail(cx, CR_EDATA, "the evidence is impossible: its probability is 0");
}
