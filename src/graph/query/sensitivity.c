/* sensitivity.c -- how a probability changes with the parameters of its network.
 *   d P(y | e) / d theta  =  P(y, e)/P(e) (dlog P(y, e) - dlog P(e)),  dlog = d log / d theta
 * When an entry of a conditional table changes, the others of its row change in proportion, so that
 * the row keeps its sum; those of a row that is all in one entry share alike.  Tables of a Markov
 * network have no rows: each entry changes alone.  Soft evidence stays as it shall be while they
 * change.
 * Chan & Darwiche (2002), "When do numbers really matter?", J. AI Research 17; Laskey (1995). */
#include "graph/exact/junction_without.h"
#include "query_mixture.h"
#include "query_more.h"
#include "base/scratch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct job {
    cri_engine  *e;
    cr_scratch  *s;
    cr_evidence *with; /* the evidence and the event */
    cr_junction *tree, *tree_with;
    double       p;     /* P(event | e) */
    double       ratio; /* P(event, e) / P(e) of derivatives of tree_with: p, or 1 when p is 0 */
} job;

/* The evidence, with the event multiplied into it. */
static cr_status add_event(job *j, const cr_question *q, bool *out_none)
{
    cr_status st = CR_OK;
    CR_TRY(cr_evidence_new(j->e->cx, j->e->net, &j->with));
    for (size_t v = 0; v < cr_network_size(j->e->net); v++)
        if (cr_evidence_likelihood(j->e->evidence, v))
            CR_TRY(
                cr_evidence_weigh(j->e->cx, j->with, v, cr_evidence_likelihood(j->e->evidence, v)));
    *out_none = false;
    for (size_t i = 0; i < q->event.n; i++) {
        const cr_finding *f = &q->event.item[i];
        const double     *old = cr_evidence_likelihood(j->with, f->variable);
        double           *row = cr_scratch_f64(j->s, f->states), most = 0;
        CR_TRY(j->s->status);
        for (size_t k = 0; k < f->states; k++) {
            row[k] = f->weight[k] * (old ? old[k] : 1);
            if (row[k] > most) most = row[k];
        }
        if (most > 0)
            CR_TRY(cr_evidence_weigh(j->e->cx, j->with, f->variable, row));
        else
            *out_none = true;
    }
done:
    return st;
}

/* dP(z) by the entries of table t where P(z) = 0: from a Markov network with ones in its place,
 * divided by P(e). */
static cr_status derive_impossible(job *j, size_t t, double log_e, double *out)
{
    cr_status     st = CR_OK;
    cr_ctx       *cx = j->e->cx;
    cr_network   *copy = NULL;
    cr_factor     f = { 0 };
    cr_table_view v = cr_network_table(j->e->net, t);
    size_t       *state = cr_scratch_bytes(j->s, cr_network_size(j->e->net), sizeof *state);
    double       *ones = cr_scratch_f64(j->s, v.size), log_z;
    CR_TRY(j->s->status);
    for (size_t e = 0; e < v.size; e++) ones[e] = 1, out[e] = 0;
    CR_TRY(cr_network_new(cx, CR_NETWORK_MARKOV, &copy));
    for (size_t x = 0; x < cr_network_size(j->e->net); x++)
        CR_TRY(cr_network_add_variable(cx, copy,
                                       cr_variable_name(cr_network_variables(j->e->net), x),
                                       cr_network_states(j->e->net, x), NULL, NULL));
    for (size_t i = 0; i < cr_network_tables(j->e->net); i++) {
        cr_table_view w = cr_network_table(j->e->net, i);
        CR_TRY(cr_network_add_table(cx, copy, w.n, w.scope, i == t ? ones : w.value));
    }
    if (v.n == 0) goto done;
    st = cr_bucket_query(cx, copy, j->with, v.n, v.scope, &j->e->o.exact, &f, &log_z, NULL);
    if (st == CR_EDATA) { /* impossible whatever this table holds */
        st = CR_OK;
        goto done;
    }
    CR_TRY(st);
    for (size_t e = 0; e < v.size; e++) {
        size_t rest = e;
        for (size_t k = v.n; k-- > 0;) {
            state[v.scope[k]] = rest % cr_network_states(copy, v.scope[k]);
            rest /= cr_network_states(copy, v.scope[k]);
        }
        out[e] = f.value[cr_factor_index(&f, state)] * exp(log_z - log_e);
    }
done:
    cr_factor_free(cx, &f);
    cr_network_free(cx, copy);
    return st;
}

/* One row of a conditional table: d[i] with the others in proportion. */
static void vary_together(size_t n, const double *theta, const double *d, double *out)
{
    double sum = 0, all = 0;
    for (size_t k = 0; k < n; k++) sum += theta[k] * d[k], all += d[k];
    for (size_t k = 0; k < n; k++) {
        double others = 1 - theta[k];
        if (n == 1)
            out[k] = 0; /* it must stay 1 */
        else if (others > 1e-12)
            out[k] = d[k] - (sum - theta[k] * d[k]) / others;
        else
            out[k] = d[k] - (all - d[k]) / (double)(n - 1);
    }
}

static int by_size(const void *a, const void *b)
{
    const cr_parameter *x = a, *y = b;
    double              p = fabs(x->derivative), q = fabs(y->derivative);
    if (p != q) return p < q ? 1 : -1;
    if (x->table != y->table) return x->table < y->table ? -1 : 1;
    return (x->entry > y->entry) - (x->entry < y->entry);
}

static bool is_done(const cr_findings *known, size_t v)
{
    for (size_t i = 0; i < known->n; i++)
        if (known->item[i].variable == v) return known->item[i].kind == CR_FINDING_DO;
    return false;
}

/* The derivatives of P(event | e) by the entries of table t. */
static cr_status derive_table(job *j, size_t t, double log_e, double *with, double *without,
                              double *out)
{
    cr_status     st = CR_OK;
    cr_table_view v = cr_network_table(j->e->net, t);
    CR_TRY(cri_junction_derivatives(j->e->cx, j->tree, t, without));
    if (j->p > 0)
        CR_TRY(cri_junction_derivatives(j->e->cx, j->tree_with, t, with));
    else
        CR_TRY(derive_impossible(j, t, log_e, with));
    for (size_t e = 0; e < v.size; e++) with[e] = j->ratio * with[e] - j->p * without[e];
    memcpy(out, with, v.size * sizeof *out);
    if (cr_network_get_kind(j->e->net) != CR_NETWORK_BAYES) goto done;
    size_t states = cr_network_states(j->e->net, t);
    for (size_t row = 0; row < v.size; row += states)
        vary_together(states, v.value + row, with + row, out + row);
done:
    return st;
}

static size_t count_entries(const cr_network *net, size_t *out_most)
{
    size_t all = 0;
    *out_most = 0;
    for (size_t t = 0; t < cr_network_tables(net); t++) {
        size_t size = cr_network_table(net, t).size;
        all += size;
        if (size > *out_most) *out_most = size;
    }
    return all;
}

/* Adds the derivatives by all entries, times a share, to sum. */
static cr_status derive_all(job *j, const cr_findings *known, double log_e, double share,
                            double *sum)
{
    cr_status st = CR_OK;
    size_t    most;
    bool      bayes = cr_network_get_kind(j->e->net) == CR_NETWORK_BAYES;
    count_entries(j->e->net, &most);
    double *with = cr_scratch_f64(j->s, most), *without = cr_scratch_f64(j->s, most);
    double *out = cr_scratch_f64(j->s, most);
    CR_TRY(j->s->status);
    for (size_t t = 0; t < cr_network_tables(j->e->net); t++) {
        cr_table_view v = cr_network_table(j->e->net, t);
        CR_TRY(cr_check_interrupt(j->e->cx));
        if (!(bayes && is_done(known, t))) {
            CR_TRY(derive_table(j, t, log_e, with, without, out));
            for (size_t e = 0; e < v.size; e++) sum[e] += share * out[e];
        }
        sum += v.size;
    }
done:
    return st;
}

/* P(event | e) and its derivatives for the evidence as it is, times a share, to *p and sum. */
static cr_status add_run(cri_engine *e, const cr_question *q, const cr_findings *known,
                         double share, double *p, double *sum)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(e->cx);
    job        j = { .e = e, .s = &s };
    double     log_with = -INFINITY, log_e = 0;
    bool       none;
    CR_TRY(add_event(&j, q, &none));
    CR_TRY(cr_junction_new(e->cx, e->net, e->evidence, &e->o.exact, &j.tree));
    CR_TRY(cr_junction_log_evidence(e->cx, j.tree, &log_e));
    e->result.cost = cr_junction_report(j.tree);
    e->result.used = CR_QUERY_JT;
    if (log_e == -INFINITY) CR_TRY(cr_fail(e->cx, CR_EDATA, "the evidence is impossible"));
    if (none) goto done;
    CR_TRY(cr_junction_new(e->cx, e->net, j.with, &e->o.exact, &j.tree_with));
    CR_TRY(cr_junction_log_evidence(e->cx, j.tree_with, &log_with));
    j.p = exp(log_with - log_e < 0 ? log_with - log_e : 0);
    j.ratio = j.p > 0 ? j.p : 1;
    *p += share * j.p;
    CR_TRY(derive_all(&j, known, log_e, share, sum));
done:
    cr_junction_free(e->cx, j.tree);
    cr_junction_free(e->cx, j.tree_with);
    cr_evidence_free(e->cx, j.with);
    cr_scratch_end(&s);
    return st;
}

/* Jeffrey's rule: d P'(y) = sum_s q(s) d P(y | x=s, e), a run given each state. */
static cr_status add_runs(cri_engine *e, const cr_question *q, const cr_findings *known,
                          const cr_finding *soft, double *p, double *sum)
{
    cr_status    st = CR_OK;
    cr_evidence *before = e->evidence, *given = NULL;
    for (size_t s = 0; s < soft->states; s++) {
        if (soft->weight[s] == 0) continue;
        e->mixed = soft;
        CR_TRY(cri_mixture_assume(e, s, &given));
        e->evidence = given;
        st = add_run(e, q, known, soft->weight[s], p, sum);
        e->evidence = before;
        cr_evidence_free(e->cx, given);
        given = NULL;
        CR_TRY(st);
    }
done:
    e->mixed = NULL;
    cri_engine_changed(e);
    return st;
}

/* Entries by which it changes, the largest first, q->count of them at the most. */
static cr_status list_changes(cri_engine *e, const cr_question *q, const double *sum,
                              cr_parameter *list, cr_query_answer *a)
{
    size_t n = 0;
    for (size_t t = 0; t < cr_network_tables(e->net); t++) {
        cr_table_view v = cr_network_table(e->net, t);
        for (size_t k = 0; k < v.size; k++)
            if (fabs(sum[k]) > 1e-14) list[n++] = (cr_parameter){ t, k, v.value[k], sum[k] };
        sum += v.size;
    }
    qsort(list, n, sizeof *list, by_size);
    if (n > q->count) n = q->count;
    a->parameter = cr_alloc(e->cx, n, sizeof *list);
    if (!a->parameter) return CR_ENOMEM;
    if (n > 0) memcpy(a->parameter, list, n * sizeof *list);
    a->rows = n;
    return CR_OK;
}

cr_status cri_answer_sensitivity(cri_engine *e, const cr_question *q, const cr_findings *known,
                                 cr_query_answer *out)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(e->cx);
    const cr_finding *soft = NULL;
    size_t            most, all = count_entries(e->net, &most);
    double           *sum = cr_scratch_bytes(&s, all, sizeof *sum), p = 0; /* zeros */
    cr_parameter     *list = cr_scratch_bytes(&s, all, sizeof *list);
    CR_TRY(s.status);
    for (size_t i = 0; i < known->n; i++) {
        if (known->item[i].kind != CR_FINDING_SOFT) continue;
        if (soft) {
            cr_fail(e->cx, CR_EUNSUPPORTED, "sensitivity takes soft evidence on only one variable");
            CR_TRY(
                cr_fail_hint(e->cx, "virtual evidence, x~{a:3, b:1}, can be on several variables"));
        }
        soft = &known->item[i];
    }
    CR_TRY(soft ? add_runs(e, q, known, soft, &p, sum) : add_run(e, q, known, 1, &p, sum));
    out->number = p < 1 ? p : 1;
    out->log_number = log(out->number);
    CR_TRY(list_changes(e, q, sum, list, out));
done:
    cr_scratch_end(&s);
    return st;
}
