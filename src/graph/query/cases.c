/* cases.c -- rows of evidence to a network with states: one tree for all of them, or each by itself.
 */
#include "methods.h"
#include "graph/exact/enumerate.h"
#include "graph/exact/junction.h"
#include "graph/network/noisy.h"

#include <math.h>
#include <string.h>

typedef struct rows {
    cr_scratch            s;
    const cr_network     *net;      /* the network, or a copy that do() has cut */
    cr_network           *cut;      /* that copy, or NULL */
    const cr_network     *work;     /* what is computed with: net, or */
    cri_divorced          divorced; /* with auxiliary variables (noisy.h): of all rows, or of one */
    cr_evidence          *e;
    const cr_evidence    *seen;   /* what is known of the row: e, or that of `divorced` */
    cr_query_method       method; /* VE, JT, ENUMERATE, or an approximation */
    cr_junction          *tree;   /* JT */
    cr_approximate_answer answer; /* the posterior of one row, by an approximation */
    size_t               *begin;  /* [variables] where its marginals begin there */
} rows;

static cr_approximation approximation(const rows *r)
{
    return (cr_approximation)(r->method - CR_QUERY_APPROXIMATE);
}

/* --- all rows -------------------------------------------------------------------------------- */

/* Many parents of a noisy-or are divorced once for all rows, with the evidence that these have. */
static cr_status divorce(cri_cases *c, rows *r)
{
    cr_status st = CR_OK;
    r->work = r->net;
    r->seen = r->e;
    if (r->method == CR_QUERY_ENUMERATE || r->method == CR_QUERY_VE) return CR_OK;
    CR_TRY(cri_network_divorce(c->cx, r->net, r->e, true, &r->divorced));
    if (!r->divorced.net) goto done;
    c->divorced = true;
    r->work = r->divorced.net;
    cr_evidence_free(c->cx, r->e);
    r->seen = r->e = r->divorced.e;
    r->divorced.e = NULL;
done:
    return st;
}

/* Which method; a tree is made once for all rows. */
static cr_status choose_method(cri_cases *c, rows *r)
{
    cr_status st = CR_OK;
    r->method = c->o.method;
    if (r->method == CR_QUERY_AUTO) CR_TRY(cr_query_plan(c->cx, r->net, &c->o, &r->method, c->why));
    if (r->method == CR_QUERY_EXACT) r->method = CR_QUERY_JT; /* there are many rows */
    CR_TRY(divorce(c, r));
    if (r->method == CR_QUERY_JT) CR_TRY(cr_junction_new(c->cx, r->work, NULL, NULL, &r->tree));
    c->exact = r->method < CR_QUERY_APPROXIMATE;
    c->method = !c->exact                  ? cr_approximation_name(approximation(r))
                : r->method == CR_QUERY_JT ? "jt"
                : r->method == CR_QUERY_VE ? "ve"
                                           : "enumerate";
    r->begin = cr_scratch_index(&r->s, cr_network_size(r->net));
    CR_TRY(r->s.status);
    for (size_t v = 0, k = 0; v < cr_network_size(r->net); k += cr_network_states(r->net, v++))
        r->begin[v] = k;
done:
    return st;
}

/* What is known in all rows; what is done cuts the network. */
static cr_status take_known(cri_cases *c, rows *r, const cr_findings *known)
{
    cr_status st = CR_OK;
    for (size_t i = 0; i < known->n; i++) {
        const cr_finding *f = &known->item[i];
        CR_TRY(cr_evidence_weigh(c->cx, r->e, f->variable, f->weight));
        if (f->kind != CR_FINDING_DO) continue;
        if (!r->cut) CR_TRY(cr_network_copy(c->cx, r->net, &r->cut));
        r->net = r->cut;
        CR_TRY(
            cr_network_intervene(c->cx, r->cut, f->variable, cr_evidence_state(r->e, f->variable)));
    }
done:
    return st;
}

cr_status cri_states_open(cri_cases *c, const cr_findings *known)
{
    cr_status st = CR_OK;
    rows     *r = c->own = cr_alloc(c->cx, 1, sizeof *r);
    if (!r) return CR_ENOMEM;
    r->s = cr_scratch_begin(c->cx);
    r->net = c->any.net;
    CR_TRY(cr_evidence_new(c->cx, r->net, &r->e));
    CR_TRY(take_known(c, r, known));
    CR_TRY(choose_method(c, r));
done:
    return st;
}

void cri_states_close(cri_cases *c)
{
    rows *r = c->own;
    cr_approximate_free(c->cx, &r->answer);
    cr_junction_free(c->cx, r->tree);
    cr_evidence_free(c->cx, r->e);
    cri_divorced_free(c->cx, &r->divorced);
    cr_network_free(c->cx, r->cut);
    cr_scratch_end(&r->s);
    cr_free(c->cx, r, 1, sizeof *r);
}

bool cri_states_is_fixed(const cri_cases *c, size_t v)
{
    return cr_evidence_state(((const rows *)c->own)->e, v) != CR_NONE;
}

/* --- one row --------------------------------------------------------------------------------- */

cr_status cri_states_observe(cri_cases *c, size_t v, double x)
{
    rows *r = c->own;
    if (!isnan(x)) return cr_evidence_observe(c->cx, r->e, v, (size_t)x);
    cr_evidence_forget(c->cx, r->e, v);
    return CR_OK;
}

/* All marginals at once, and what they are worth. */
static cr_status approximate_row(cri_cases *c, rows *r, double *out_log)
{
    cr_status                    st = CR_OK;
    const cr_approximate_report *p = &r->answer.report;
    cr_approximate_free(c->cx, &r->answer);
    st = cr_approximate(c->cx, r->work, r->seen, approximation(r), &c->o.approximate, c->o.seed, 0,
                        NULL, &r->answer);
    if (st == CR_ENUMERIC) {
        c->lost++;
        *out_log = -INFINITY;
        return CR_OK;
    }
    CR_TRY(st);
    c->report = *p;
    *out_log = p->log_evidence;
    if (*out_log == -INFINITY) {
        c->impossible++;
        goto done;
    }
    c->unsure += (p->iterations > 0 || p->chains > 0) && !p->converged;
    c->thin += p->samples > 0 && p->chains == 0 && p->effective < 100;
    if (p->samples > 0 && p->se > c->worst) c->worst = p->se;
done:
    return st;
}

/* Elimination of one row: what is in its lowest state there parts its causes. */
static cr_status divorce_row(cri_cases *c, rows *r)
{
    cr_status st = CR_OK;
    cri_divorced_free(c->cx, &r->divorced);
    CR_TRY(cri_network_divorce(c->cx, r->net, r->e, true, &r->divorced));
    r->work = r->divorced.net ? r->divorced.net : r->net;
    r->seen = r->divorced.net ? r->divorced.e : r->e;
done:
    return st;
}

static cr_status ask_row(cri_cases *c, rows *r, double *out_log)
{
    cr_status st = CR_OK;
    if (r->method == CR_QUERY_VE) CR_TRY(divorce_row(c, r));
    if (!c->exact) return approximate_row(c, r, out_log);
    switch (r->method) {
    case CR_QUERY_VE:
        CR_TRY(cr_bucket_log_evidence(c->cx, r->work, r->seen, NULL, out_log, NULL));
        break;
    case CR_QUERY_ENUMERATE:
        CR_TRY(cr_enumerate_query(c->cx, r->work, r->seen, 0, NULL, 0, NULL, out_log));
        break;
    default:
        CR_TRY(cr_junction_set_evidence(c->cx, r->tree, r->seen));
        CR_TRY(cr_junction_log_evidence(c->cx, r->tree, out_log));
    }
    c->impossible += *out_log == -INFINITY;
done:
    return st;
}

cr_status cri_states_ask(cri_cases *c, double *out_log, bool *out_possible)
{
    cr_status st = ask_row(c, c->own, out_log);
    *out_possible = st == CR_OK && *out_log != -INFINITY;
    return st;
}

cr_status cri_states_posterior(cri_cases *c, size_t v, double *out)
{
    cr_status   st = CR_OK;
    const rows *r = c->own;
    cr_factor   f = { 0 };
    size_t      n = cr_network_states(r->net, v);
    if (!c->exact) {
        memcpy(out, r->answer.marginal + r->begin[v], n * sizeof *out);
    } else if (r->method == CR_QUERY_JT) {
        CR_TRY(cr_junction_marginal(c->cx, r->tree, v, out));
    } else {
        CR_TRY(r->method == CR_QUERY_VE
                   ? cr_bucket_query(c->cx, r->work, r->seen, 1, &v, NULL, &f, NULL, NULL)
                   : cr_enumerate_query(c->cx, r->work, r->seen, 1, &v, 0, &f, NULL));
        memcpy(out, f.value, n * sizeof *out);
    }
done:
    cr_factor_free(c->cx, &f);
    return st;
}
