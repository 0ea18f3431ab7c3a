/* causes.c -- what may have brought the evidence about.
 * For each variable asked for, the state that the evidence speaks for most: by the Bayes factor
 *   P(e | x=a) / P(e | x!=a)  =  odds of P(x=a | e) / odds of P(x=a)
 * The prior is that of the network, after do(); the largest factor comes first.  Factors compare
 * causes whatever their priors are, posteriors do not: a cause may stay improbable although all
 * speaks for it.  Good (1950), "Probability and the weighing of evidence"; Fitelson (2007). */
#include "query_more.h"
#include "graph/network/structure.h"
#include "base/scratch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct cause {
    size_t variable, state;
    double value[3], se[3]; /* before, after, the factor; their standard errors */
} cause;

/* Marginals of all variables, one after another. */
typedef struct side {
    double *p, *se;    /* [total] */
    double  effective; /* samples; 0: it was none that gave them */
} side;

static double odds(double p) { return p < 1 ? p / (1 - p) : INFINITY; }

/* Of n samples none or all: half of one is added to what was not seen, so that odds are finite. */
static void unseen(const side *s, size_t k, double *p, double *se)
{
    double least = s->effective > 1 ? 0.5 / s->effective : 0;
    *p = s->p[k];
    *se = s->se[k];
    if (least == 0 || (*p >= least && *p <= 1 - least)) return;
    *p = *p < least ? least : 1 - least;
    *se = sqrt(least * (1 - least) / s->effective);
}

/* Before, after, and the factor, 1 where it was certain before; errors of logits add up. */
static cause weigh(size_t v, size_t state, const side *before, const side *after, size_t k)
{
    cause  c = { .variable = v, .state = state };
    double b, a, *se = c.se;
    unseen(before, k, &b, &se[0]);
    unseen(after, k, &a, &se[1]);
    c.value[0] = b;
    c.value[1] = a;
    c.value[2] = b <= 0 || b >= 1 ? 1 : odds(a) / odds(b);
    double x = b > 0 && b < 1 ? se[0] / (b * (1 - b)) : 0;
    double y = a > 0 && a < 1 ? se[1] / (a * (1 - a)) : 0;
    se[2] = isfinite(c.value[2]) ? c.value[2] * sqrt(x * x + y * y) : NAN;
    return c;
}

static int by_factor(const void *a, const void *b)
{
    const cause *x = a, *y = b;
    for (size_t i = 3; i-- > 1;)
        if (x->value[i] != y->value[i]) return x->value[i] < y->value[i] ? 1 : -1;
    return (x->variable > y->variable) - (x->variable < y->variable);
}

static bool is_fixed(const cr_findings *known, size_t v)
{
    for (size_t i = 0; i < known->n; i++)
        if (known->item[i].variable == v)
            return known->item[i].kind == CR_FINDING_STATE || known->item[i].kind == CR_FINDING_DO;
    return false;
}

/* Marks what is asked for: by name, or the ancestors of what was observed that are open. */
static cr_status choose(const cri_engine *e, const cr_question *q, const cr_findings *known,
                        bool *mark)
{
    cr_status st = CR_OK;
    size_t    n = cr_network_size(e->base);
    for (size_t i = 0; i < q->n_x; i++) mark[q->x[i]] = true;
    if (q->n_x > 0) goto done;
    for (size_t i = 0; i < known->n; i++)
        if (known->item[i].kind != CR_FINDING_DO) mark[known->item[i].variable] = true;
    if (cr_network_get_kind(e->net) == CR_NETWORK_BAYES)
        CR_TRY(cr_network_ancestors(e->cx, e->base, mark));
    else
        for (size_t v = 0; v < n; v++) mark[v] = true;
    for (size_t v = 0; v < n; v++) mark[v] &= !is_fixed(known, v);
done:
    return st;
}

/* All marginals, and where samples gave them their errors. */
static cr_status ask(cri_engine *e, size_t total, side *out)
{
    cr_status                    st = CR_OK;
    const cr_approximate_answer *a;
    double                       log_e;
    CR_TRY(cri_engine_marginals(e, out->p, &log_e));
    if (!cri_engine_approximates(e)) goto done;
    CR_TRY(cri_engine_approximate(e, &a));
    if (!(a->report.samples > 0)) goto done;
    memcpy(out->se, a->se, total * sizeof *out->se);
    out->effective = a->report.effective;
done:
    return st;
}

/* With nothing known but what do() has set; by other samples than those that come after. */
static cr_status ask_before(cri_engine *e, const cr_findings *known, size_t total, side *out)
{
    cr_status   st = CR_OK;
    cri_engine  plain = { .cx = e->cx };
    size_t      n = 0;
    cr_finding *done_list = cr_alloc(e->cx, known->n, sizeof *done_list);
    if (!done_list) return CR_ENOMEM;
    for (size_t i = 0; i < known->n; i++)
        if (known->item[i].kind == CR_FINDING_DO) done_list[n++] = known->item[i];
    cr_findings actions = { .n = n, .capacity = known->n, .item = done_list };
    CR_TRY(cri_engine_open(e->cx, e->base, &actions, &e->o, CRI_FORM_SUMS, &plain));
    CR_TRY(cri_engine_plan(&plain, &(cri_asked){ .purpose = CRI_ASK_ALL, .each = true }));
    plain.o.seed += UINT64_C(0x9e3779b97f4a7c15);
    CR_TRY(ask(&plain, total, out));
    if (!cri_engine_approximates(&plain) || cri_engine_approximates(e)) goto done;
    e->plan.method = e->result.used = plain.plan.method; /* one side is enough */
    e->result.error = plain.result.error;
    memcpy(e->result.why, plain.result.why, sizeof e->result.why);
done:
    cri_engine_close(&plain);
    cr_free(e->cx, done_list, known->n, sizeof *done_list);
    return st;
}

/* The rows of an answer. */
static cr_status keep(cr_ctx *cx, const cause *list, size_t rows, bool samples,
                      cr_query_answer *out)
{
    out->states = cr_alloc(cx, rows, sizeof *out->states);
    if (!out->states) return CR_ENOMEM;
    out->rows = out->n_states = rows;
    out->variable = cr_alloc(cx, rows, sizeof *out->variable);
    if (!out->variable) return CR_ENOMEM;
    out->n = rows;
    out->value = cr_alloc(cx, 3 * rows, sizeof *out->value);
    if (!out->value) return CR_ENOMEM;
    out->values = 3 * rows;
    if (samples && !(out->se = cr_alloc(cx, 3 * rows, sizeof *out->se))) return CR_ENOMEM;
    for (size_t i = 0; i < rows; i++) {
        out->variable[i] = list[i].variable;
        out->states[i] = list[i].state;
        memcpy(out->value + 3 * i, list[i].value, sizeof list[i].value);
        if (samples) memcpy(out->se + 3 * i, list[i].se, sizeof list[i].se);
    }
    return CR_OK;
}

cr_status cri_answer_causes(cri_engine *e, const cr_question *q, const cr_findings *known,
                            cr_query_answer *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(e->cx);
    size_t     n = cr_network_size(e->base), total = 0, rows = 0, at = 0;
    bool      *mark = cr_scratch_bytes(&s, n, sizeof *mark);
    cause     *list = cr_scratch_bytes(&s, n, sizeof *list);
    side       before = { 0 }, after = { 0 };
    for (size_t v = 0; v < n; v++) total += cr_network_states(e->base, v);
    before.p = cr_scratch_f64(&s, total);
    before.se = cr_scratch_bytes(&s, total, sizeof *before.se); /* zeros */
    after.p = cr_scratch_f64(&s, total);
    after.se = cr_scratch_bytes(&s, total, sizeof *after.se);
    CR_TRY(s.status);
    CR_TRY(choose(e, q, known, mark));
    CR_TRY(ask(e, total, &after));
    CR_TRY(ask_before(e, known, total, &before));
    for (size_t v = 0; v < n; at += cr_network_states(e->base, v++)) {
        cause best = { .value = { 0, 0, -1 } };
        for (size_t k = 0; k < cr_network_states(e->base, v); k++) {
            cause c = weigh(v, k, &before, &after, at + k);
            if (c.value[2] > best.value[2]) best = c;
        }
        if (mark[v]) list[rows++] = best;
    }
    qsort(list, rows, sizeof *list, by_factor);
    CR_TRY(keep(e->cx, list, rows, before.effective > 0 || after.effective > 0, out));
done:
    cr_scratch_end(&s);
    return st;
}
