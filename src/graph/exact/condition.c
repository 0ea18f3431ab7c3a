/* condition.c -- cutsets: evidence with some variables held fixed. */
#include "condition.h"

cr_status cri_evidence_copy(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                            cr_evidence **out_e)
{
    cr_status    st = CR_OK;
    cr_evidence *e = NULL;
    CR_TRY(cr_evidence_new(cx, net, &e));
    for (size_t v = 0; opt_e && v < cr_network_size(net); v++)
        if (cr_evidence_likelihood(opt_e, v))
            CR_TRY(cr_evidence_weigh(cx, e, v, cr_evidence_likelihood(opt_e, v)));
    *out_e = e;
    e = NULL;
done:
    cr_evidence_free(cx, e);
    return st;
}

/* --- joint states ---------------------------------------------------------------------------- */

static size_t states_left(const cr_network *net, const cr_evidence *opt_e, size_t v)
{
    const double *l = opt_e ? cr_evidence_likelihood(opt_e, v) : NULL;
    size_t        n = 0;
    for (size_t s = 0; s < cr_network_states(net, v); s++) n += !l || l[s] > 0;
    return n;
}

void cri_cutset_add(cri_cutset *c, const cr_network *net, const cr_evidence *opt_e, size_t v)
{
    if (c->n == 0) c->runs = 1;
    c->var[c->n++] = v;
    c->runs *= (double)states_left(net, opt_e, v);
}

/* Which state variable i of the cutset has in that run. */
static size_t cutset_state(const cri_cutset *c, const cr_network *net, const cr_evidence *opt_e,
                           size_t run, size_t i)
{
    const double *l = opt_e ? cr_evidence_likelihood(opt_e, c->var[i]) : NULL;
    size_t        state = 0;
    for (size_t k = 0; k < i; k++) run /= states_left(net, opt_e, c->var[k]);
    run %= states_left(net, opt_e, c->var[i]);
    for (;; state++) {
        if (l && l[state] == 0) continue;
        if (run-- == 0) return state;
    }
}

cr_status cri_cutset_fix(cr_ctx *cx, const cri_cutset *c, const cr_network *net,
                         const cr_evidence *opt_e, size_t run, cr_evidence *e)
{
    for (size_t i = 0; i < c->n; i++) {
        size_t        v = c->var[i], state = cutset_state(c, net, opt_e, run, i);
        const double *l = opt_e ? cr_evidence_likelihood(opt_e, v) : NULL;
        double       *row = cr_alloc(cx, cr_network_states(net, v), sizeof *row);
        if (!row) return CR_ENOMEM;
        row[state] = l ? l[state] : 1;
        cr_status st = cr_evidence_weigh(cx, e, v, row);
        cr_free(cx, row, cr_network_states(net, v), sizeof *row);
        if (st != CR_OK) return st;
    }
    return CR_OK;
}
