/* infer_ask.c -- the posterior of one row of evidence, by each of the methods. */
#include "infer_job.h"
#include "graph/exact/enumerate.h"

#include <math.h>
#include <string.h>

static cr_approximation approximation(const infer_job *j)
{
    return (cr_approximation)(j->method - CR_QUERY_APPROXIMATE);
}

bool infer_approximates(const infer_job *j) { return j->method >= CR_QUERY_APPROXIMATE; }

const char *infer_method_name(const infer_job *j)
{
    if (infer_approximates(j)) return cr_approximation_name(approximation(j));
    return j->method == CR_QUERY_JT ? "jt" : j->method == CR_QUERY_VE ? "ve" : "enumerate";
}

/* All marginals at once, and what they are worth. */
static cr_status approximate_row(infer_job *j, double *out_log)
{
    cr_status                    st = CR_OK;
    cr_ctx                      *cx = j->c->cx;
    const cr_approximate_report *r = &j->row.report;
    cr_approximate_free(cx, &j->row);
    st = cr_approximate(cx, j->work, j->seen, approximation(j), &j->approximate, j->c->fit.seed, 0,
                        NULL, &j->row);
    if (st == CR_ENUMERIC) {
        j->lost++;
        *out_log = -INFINITY;
        return CR_OK;
    }
    CR_TRY(st);
    *out_log = r->log_evidence;
    if (*out_log == -INFINITY) {
        j->impossible++;
        goto done;
    }
    j->unsure += (r->iterations > 0 || r->chains > 0) && !r->converged;
    j->thin += r->samples > 0 && r->chains == 0 && r->effective < 100;
    if (r->samples > 0 && r->se > j->worst) j->worst = r->se;
done:
    return st;
}

/* Elimination of one row: what is in its lowest state there parts its causes. */
static cr_status divorce_row(infer_job *j)
{
    cr_status st = CR_OK;
    cri_divorced_free(j->c->cx, &j->divorced);
    CR_TRY(cri_network_divorce(j->c->cx, j->net, j->e, true, &j->divorced));
    j->work = j->divorced.net ? j->divorced.net : j->net;
    j->seen = j->divorced.net ? j->divorced.e : j->e;
done:
    return st;
}

cr_status infer_ask(infer_job *j, double *out_log)
{
    cr_status st = CR_OK;
    cr_ctx   *cx = j->c->cx;
    if (j->method == CR_QUERY_VE) CR_TRY(divorce_row(j));
    if (infer_approximates(j)) return approximate_row(j, out_log);
    switch (j->method) {
    case CR_QUERY_VE:
        CR_TRY(cr_bucket_log_evidence(cx, j->work, j->seen, NULL, out_log, NULL));
        break;
    case CR_QUERY_ENUMERATE:
        CR_TRY(cr_enumerate_query(cx, j->work, j->seen, 0, NULL, 0, NULL, out_log));
        break;
    default:
        CR_TRY(cr_junction_set_evidence(cx, j->tree, j->seen));
        CR_TRY(cr_junction_log_evidence(cx, j->tree, out_log));
    }
    j->impossible += *out_log == -INFINITY;
done:
    return st;
}

cr_status infer_posterior(infer_job *j, size_t v)
{
    cr_status st = CR_OK;
    cr_ctx   *cx = j->c->cx;
    cr_factor f = { 0 };
    size_t    n = cr_network_states(j->net, v);
    if (infer_approximates(j)) {
        memcpy(j->p, j->row.marginal + j->begin[v], n * sizeof *j->p);
    } else if (j->method == CR_QUERY_JT) {
        CR_TRY(cr_junction_marginal(cx, j->tree, v, j->p));
    } else {
        CR_TRY(j->method == CR_QUERY_VE
                   ? cr_bucket_query(cx, j->work, j->seen, 1, &v, NULL, &f, NULL, NULL)
                   : cr_enumerate_query(cx, j->work, j->seen, 1, &v, 0, &f, NULL));
        memcpy(j->p, f.value, n * sizeof *j->p);
    }
done:
    cr_factor_free(cx, &f);
    return st;
}
