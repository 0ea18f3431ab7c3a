/* approximate_joint.c -- joint distributions by messages, one variable after another:
 *   P(x_1, ..., x_n | e) = P(x_1 | e) P(x_2 | x_1, e) ...,   a run for each state of the first ones */
#include "approximate_internal.h"
#include "base/scratch.h"
#include "graph/network/network_internal.h"

#include <math.h>
#include <string.h>

enum { MOST_RUNS = 4096 };

typedef struct chain {
    cr_ctx                       *cx;
    const cr_network             *net;
    cr_evidence                  *e;
    cr_approximation              how;
    const cr_approximate_options *o;
    uint64_t                      seed;
    size_t                        n;
    const size_t                 *query;
    size_t                       *state; /* [variables] */
    cr_factor                    *joint;
} chain;

/* p: the marginals given the states of the first k variables, which have probability `share`. */
static cr_status follow(chain *c, size_t k, const double *p, double share)
{
    cr_status             st = CR_OK;
    cr_scratch            s = cr_scratch_begin(c->cx);
    cr_approximate_answer a = { 0 };
    size_t                v = c->query[k], states = cr_network_states(c->net, v);
    double               *mine = cr_scratch_f64(&s, states), *old = cr_scratch_f64(&s, states);
    const double         *known = cr_evidence_likelihood(c->e, v);
    bool                  weighed = known != NULL;
    CR_TRY(s.status);
    for (size_t x = 0; x < states; x++) {
        mine[x] = p[cri_states_before(c->net, v) + x];
        old[x] = weighed ? known[x] : 1;
    }
    for (size_t x = 0; x < states; x++) {
        c->state[v] = x;
        if (k + 1 == c->n) c->joint->value[cr_factor_index(c->joint, c->state)] = share * mine[x];
        if (k + 1 == c->n || mine[x] == 0) continue;
        CR_TRY(cr_evidence_observe(c->cx, c->e, v, x));
        CR_TRY(
            cri_approximate_once(c->cx, c->net, c->e, c->how, c->o, c->seed, 0, NULL, false, &a));
        if (a.report.log_evidence > -INFINITY || isnan(a.report.log_evidence))
            CR_TRY(follow(c, k + 1, a.marginal, share * mine[x]));
        cr_approximate_free(c->cx, &a);
    }
    if (weighed)
        CR_TRY(cr_evidence_weigh(c->cx, c->e, v, old));
    else
        cr_evidence_forget(c->cx, c->e, v);
done:
    cr_approximate_free(c->cx, &a);
    cr_scratch_end(&s);
    return st;
}

static cr_status copy_evidence(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                               cr_evidence **out)
{
    cr_status st = cr_evidence_new(cx, net, out);
    for (size_t v = 0; st == CR_OK && opt_e && v < cr_network_size(net); v++) {
        const double *l = cr_evidence_likelihood(opt_e, v);
        if (l) st = cr_evidence_weigh(cx, *out, v, l);
    }
    return st;
}

cr_status cri_approximate_chain(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                                cr_approximation how, const cr_approximate_options *o,
                                uint64_t seed, size_t n, const size_t *query,
                                cr_approximate_answer *a)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cr_factor  joint = { 0 };
    chain      c = { cx, net, NULL, how, o, seed, n, query, NULL, &joint };
    size_t    *states = cr_scratch_index(&s, n);
    double     runs = 1;
    c.state = cr_scratch_index(&s, cr_network_size(net));
    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++) {
        states[i] = cr_network_states(net, query[i]);
        if (i + 1 < n) runs *= (double)states[i];
    }
    if (runs > MOST_RUNS) {
        cr_fail(cx, CR_ENOMEM, "a table over these variables takes %.3g runs of %s, more than %d",
                runs, cr_approximation_name(how), MOST_RUNS);
        CR_TRY(cr_fail_hint(cx, "sampling needs only one run: use --method importance or gibbs"));
    }
    CR_TRY(cr_factor_new(cx, n, query, states, NULL, &joint));
    memset(joint.value, 0, joint.size * sizeof *joint.value);
    CR_TRY(copy_evidence(cx, net, opt_e, &c.e));
    CR_TRY(follow(&c, 0, a->marginal, 1));
    cr_factor_normalise(&joint, NULL);
    a->joint = joint;
    joint = (cr_factor){ 0 };
done:
    cr_evidence_free(cx, c.e);
    cr_factor_free(cx, &joint);
    cr_scratch_end(&s);
    return st;
}
