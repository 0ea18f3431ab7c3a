/* causes.c -- what may have brought the evidence about.
 * For each variable asked for, the state that the evidence speaks for most: by the Bayes factor
 *   P(e | x=a) / P(e | x!=a)  =  odds of P(x=a | e) / odds of P(x=a)
 * The prior is that of the network, after do(); the largest factor comes first.  Factors compare
 * causes whatever their priors are, posteriors do not: a cause may stay improbable although all
 * speaks for it.  Good (1950), "Probability and the weighing of evidence"; Fitelson (2007). */
#include "query_more.h"
#include "structure.h"
#include "../../base/scratch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct cause {
    size_t variable, state;
    double before, after, factor;
} cause;

static double odds(double p) { return p < 1 ? p / (1 - p) : INFINITY; }

/* 1 where it was certain before. */
static double bayes_factor(double before, double after)
{
    if (before <= 0 || before >= 1) return 1;
    return odds(after) / odds(before);
}

static int by_factor(const void *a, const void *b)
{
    const cause *x = a, *y = b;
    if (x->factor != y->factor) return x->factor < y->factor ? 1 : -1;
    if (x->after != y->after) return x->after < y->after ? 1 : -1;
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

/* All marginals with nothing known but what do() has set. */
static cr_status find_priors(const cri_engine *e, const cr_findings *known, double *out)
{
    cr_status   st = CR_OK;
    cri_engine  plain = { .cx = e->cx };
    double      log_z;
    size_t      n = 0;
    cr_finding *done_list = cr_alloc(e->cx, known->n, sizeof *done_list);
    if (!done_list) return CR_ENOMEM;
    for (size_t i = 0; i < known->n; i++)
        if (known->item[i].kind == CR_FINDING_DO) done_list[n++] = known->item[i];
    cr_findings actions = { .n = n, .room = known->n, .item = done_list };
    CR_TRY(cri_engine_open(e->cx, e->base, &actions, &e->o, CRI_FORM_SUMS, &plain));
    plain.each = true;
    CR_TRY(cri_engine_plan(&plain, CRI_ASK_ALL, 0, NULL));
    CR_TRY(cri_engine_marginals(&plain, out, &log_z));
done:
    cri_engine_close(&plain);
    cr_free(e->cx, done_list, known->n, sizeof *done_list);
    return st;
}

cr_status cri_answer_causes(cri_engine *e, const cr_question *q, const cr_findings *known,
                            cr_query_answer *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(e->cx);
    size_t     n = cr_network_size(e->base), total = 0, rows = 0, at = 0;
    bool      *mark = cr_scratch_bytes(&s, n, sizeof *mark);
    cause     *list = cr_scratch_bytes(&s, n, sizeof *list);
    double    *before, *after, log_e;
    for (size_t v = 0; v < n; v++) total += cr_network_states(e->net, v);
    before = cr_scratch_f64(&s, total);
    after = cr_scratch_f64(&s, total);
    CR_TRY(s.status);
    CR_TRY(choose(e, q, known, mark));
    CR_TRY(find_priors(e, known, before));
    CR_TRY(cri_engine_marginals(e, after, &log_e));
    for (size_t v = 0; v < n; at += cr_network_states(e->net, v++)) {
        cause best = { .factor = -1 };
        for (size_t k = 0; k < cr_network_states(e->net, v); k++) {
            double factor = bayes_factor(before[at + k], after[at + k]);
            if (factor > best.factor) best = (cause){ v, k, before[at + k], after[at + k], factor };
        }
        if (mark[v]) list[rows++] = best;
    }
    qsort(list, rows, sizeof *list, by_factor);
    out->states = cr_alloc(e->cx, rows, sizeof *out->states);
    if (!out->states) CR_TRY(CR_ENOMEM);
    out->rows = out->n_states = rows;
    out->variable = cr_alloc(e->cx, rows, sizeof *out->variable);
    if (!out->variable) CR_TRY(CR_ENOMEM);
    out->n = rows;
    out->value = cr_alloc(e->cx, 3 * rows, sizeof *out->value);
    if (!out->value) CR_TRY(CR_ENOMEM);
    out->values = 3 * rows;
    for (size_t i = 0; i < rows; i++) {
        out->variable[i] = list[i].variable;
        out->states[i] = list[i].state;
        out->value[3 * i] = list[i].before;
        out->value[3 * i + 1] = list[i].after;
        out->value[3 * i + 2] = list[i].factor;
    }
done:
    cr_scratch_end(&s);
    return st;
}
