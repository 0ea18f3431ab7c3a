/* dbn_fit.c -- EM for the tables of a dynamic network.
 *   E   n(x, u)  =  sum over sequences and slices of  P(x, parents = u | what the sequence shows)
 *   M   p(x | u) =  (n(x, u) + N g(x | u)) / (n(u) + N),     g: the given tables, N: --prior
 * which maximises  log p(what is seen) + N sum g log p  over rows of tables: a Dirichlet prior of 1 + N g.  A step never
 * lowers it; entries that are 0 in the given tables stay 0.  A table that holds for slices of both kinds has one n.
 * Where nothing is missing the first step is the answer, in closed form. */
#include "dbn.h"
#include "base/clock.h"
#include "base/context_internal.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

typedef struct search {
    cr_ctx                *cx;
    cri_dbn               *m;
    const cri_rows        *rows;
    const cri_dbn_options *o;
    const cri_dbn_data    *data;
    cri_dbn_counter       *counter;
    const cri_dbn         *old;                   /* what earlier rows have taught, or NULL  */
    bool                   complete;              /* no cell is missing, no variable hidden */
    double                *given, *value, *count; /* [size] */
    double                *prior; /* [size] added to the counts: N given, and those of old */
    double                 shift; /* to the objective, for the rows of old */
    cri_clock              clock;
    double                 pass; /* seconds of the last pass */
    bool                   cut;  /* there is no time for another */
} search;

/* sum count log value, where anything is counted. */
static double log_of(const double *count, const double *value, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        if (count[i] > 0) sum += count[i] * log(value[i]);
    return sum;
}

static cr_status open_search(cr_scratch *s, search *a)
{
    cri_dbn *m = a->m;
    size_t   n = m->net->n;
    a->given = cr_scratch_f64(s, m->size);
    a->value = cr_scratch_f64(s, m->size);
    a->count = cr_scratch_f64(s, m->size);
    a->prior = cr_scratch_f64(s, m->size);
    if (s->status != CR_OK) return s->status;
    for (size_t k = 0; k < m->tables; k++)
        memcpy(a->given + m->table[k].at, m->table[k].value, m->table[k].size * sizeof(double));
    for (size_t i = 0; i < m->size; i++)
        a->prior[i] = a->o->prior * a->given[i] + (a->old ? a->old->count[i] : 0);
    if (a->old) a->shift = a->old->log_likelihood - log_of(a->old->count, a->old->value, m->size);
    a->complete = true;
    for (size_t i = 0; i < a->rows->n * n; i++) a->complete &= a->data->code[i] != CRI_CODE_OPEN;
    return cri_dbn_counter_new(s->cx, m, a->data, &a->counter);
}

/* --- steps ------------------------------------------------------------------------------------ */

static cr_status refuse_impossible(const search *a, size_t slice)
{
    cr_fail(a->cx, CR_EDATA,
            "%s, row %zu: by the network, it cannot come after the rows before it in its sequence",
            cr_table_source(a->rows->table), cri_dbn_row(a->rows, slice));
    return cr_fail_hint(a->cx, "what has probability 0 in the given tables is never learned: give "
                               "it a small probability");
}

/* The counts under the tables of the network, and the log likelihood. */
static cr_status expect(search *a, double *out_log)
{
    size_t    impossible;
    cr_status st = cri_dbn_count(a->counter, a->count, out_log, &impossible);
    return st == CR_OK && impossible != CR_NONE ? refuse_impossible(a, impossible) : st;
}

/* The tables that are best for the counts; a row that is counted nowhere becomes what was given. */
static void maximise(search *a)
{
    for (size_t k = 0; k < a->m->tables; k++) {
        const cri_dbn_table *t = &a->m->table[k];
        for (size_t i = t->at; i < t->at + t->size; i += t->states) {
            double sum = 0;
            for (size_t s = i; s < i + t->states; s++)
                sum += a->value[s] = a->count[s] + a->prior[s];
            for (size_t s = i; s < i + t->states; s++)
                a->value[s] = sum > 0 ? a->value[s] / sum : a->given[s];
        }
    }
    cri_dbn_set(a->m, a->value);
}

static double log_prior(const search *a) { return log_of(a->prior, a->value, a->m->size); }

static cr_status note_pass(cr_ctx *cx, double objective, cri_em_outcome *o)
{
    double *trace = cr_resize(cx, o->trace, o->iterations, o->iterations + 1, sizeof *trace);
    if (!trace) return CR_ENOMEM;
    o->trace = trace;
    trace[o->iterations++] = o->objective = objective;
    cri_progress_steps(cx, (double)o->iterations);
    return CR_OK;
}

/* Is there no time for another pass?  One that is not finished is lost, and with it all others. */
static bool time_is_up(const search *a)
{
    return cri_clock_over(&a->clock) || cri_time_left(a->cx) < 2 * a->pass;
}

/* Steps from a->value until they gain no more: the tables it ends with are those of the last pass. */
static cr_status ascend(search *a, cri_em_outcome *o)
{
    cr_status st = CR_OK;
    double    worth = a->o->tol * (double)a->rows->n, log_p;
    cri_dbn_set(a->m, a->value);
    for (;;) {
        double before = o->objective;
        double began = cri_seconds();
        CR_TRY(expect(a, &log_p));
        a->pass = cri_seconds() - began;
        CR_TRY(note_pass(a->cx, log_p + log_prior(a) + a->shift, o));
        bool again = o->iterations > 1;
        o->converged = again && (a->complete || o->objective - before <= worth);
        a->cut = !o->converged && time_is_up(a);
        if (o->converged || a->cut || o->iterations >= a->o->max_iter) break;
        maximise(a);
    }
done:
    return st;
}

/* --- starts ----------------------------------------------------------------------------------- */

/* What was learned before, with one case more of what was given: so that nothing is 0 which may yet come. */
static void start_again(search *a)
{
    for (size_t k = 0; k < a->m->tables; k++) {
        const cri_dbn_table *t = &a->m->table[k];
        for (size_t i = t->at; i < t->at + t->size; i += t->states) {
            double sum = 0;
            for (size_t s = i; s < i + t->states; s++)
                sum += a->value[s] = a->prior[s] + a->given[s];
            for (size_t s = i; s < i + t->states; s++) a->value[s] /= sum;
        }
    }
}

/* Start 0 is what was given, or learned before; in others each row is any distribution over the states that are possible. */
static void choose_start(search *a, uint64_t seed, size_t start)
{
    cr_rng r = cr_rng_stream(seed, start);
    memcpy(a->value, a->given, a->m->size * sizeof(double));
    if (a->old) start_again(a);
    for (size_t k = 0; k < a->m->tables && start > 0; k++) {
        const cri_dbn_table *t = &a->m->table[k];
        for (size_t i = t->at; i < t->at + t->size; i += t->states) {
            double sum = 0;
            for (size_t s = i; s < i + t->states; s++)
                sum += a->value[s] = a->given[s] > 0 ? 1e-3 - log1p(-cr_rng_uniform(&r)) : 0;
            for (size_t s = i; s < i + t->states; s++) a->value[s] /= sum;
        }
    }
}

static void free_outcome(cr_ctx *cx, cri_em_outcome *o)
{
    if (o->trace) cr_free(cx, o->trace, o->iterations, sizeof *o->trace);
    o->trace = NULL, o->iterations = 0;
}

/* All starts; the best end is in m->value and m->em. */
static cr_status run(cr_scratch *s, search *a, uint64_t seed)
{
    cr_status      st = CR_OK;
    cri_dbn       *m = a->m;
    size_t         starts = a->complete || a->old ? 1 : a->o->restarts, made = 0;
    double        *end = cr_scratch_f64(s, starts);
    bool           own_bar = cri_progress_open_steps(a->cx, "EM");
    cri_em_outcome o = { 0 };
    CR_TRY(s->status);
    for (; made < starts && !a->cut && !(made > 0 && time_is_up(a)); made++) {
        CR_TRY(cr_check_interrupt(a->cx));
        if (own_bar) cri_progress_stage(a->cx, (double)(made + 1) / (double)starts);
        choose_start(a, seed, made);
        CR_TRY(ascend(a, &o));
        end[made] = o.objective;
        cr_log(a->cx, CR_LOG_INFO, "start %zu: %.10g after %zu passes", made + 1, o.objective,
               o.iterations);
        double enough = made == 0 ? 0 : fmax(10 * a->o->tol, 1e-9) * (double)a->rows->n;
        if (made == 0 || o.objective > m->em.objective + enough) {
            free_outcome(a->cx, &m->em);
            m->em = o;
            memcpy(m->value, a->value, m->size * sizeof(double));
            memcpy(m->count, a->count, m->size * sizeof(double));
            o = (cri_em_outcome){ 0 };
        }
        free_outcome(a->cx, &o);
    }
    a->cut |= made < starts;
    if (a->cut)
        cr_log(a->cx, CR_LOG_WARNING,
               "the time limit ended the search after %zu of %zu starts: this is the best so far",
               made, starts);
    m->em.restarts = made;
    m->em.restarts_agreed = 0;
    for (size_t i = 0; i < made; i++)
        m->em.restarts_agreed +=
            fabs(m->em.objective - end[i]) <= fmax(10 * a->o->tol, 1e-9) * (double)a->rows->n;
done:
    free_outcome(a->cx, &o);
    if (own_bar) cri_progress_close(a->cx);
    return st;
}

/* What is said of the rows, and of those of old. */
static void sum_up(const search *a, const cri_dbn_data *data, cri_dbn *m)
{
    const cri_dbn *old = a->old;
    size_t         n = data->n;
    for (size_t i = 0; i < m->size && old; i++) m->count[i] += old->count[i];
    double penalty = m->prior > 0 ? m->prior * log_of(a->given, m->value, m->size) : 0;
    m->log_likelihood = m->em.objective - penalty;
    m->rows = (double)a->rows->n + (old ? old->rows : 0);
    m->sequences = data->of->n + (old ? old->sequences : 0);
    m->gaps = data->gaps + (old ? old->gaps : 0);
    m->hidden = 0;
    for (size_t v = 0; v < n; v++) {
        m->shown[v] = data->shown[v] || (old && old->shown[v] > 0);
        m->hidden += m->shown[v] == 0;
    }
}

/* Rows of old that lacked something are not at hand: nothing but their counts is known. */
static cr_status find_errors(search *a)
{
    cr_status          st = CR_OK;
    cri_interface_cost cost;
    bool               old_exact = !a->old || a->old->errors == CRI_DBN_EXACT;
    a->m->errors = a->complete && old_exact ? CRI_DBN_EXACT : CRI_DBN_EXPECTED;
    if (a->complete || a->old || !a->m->em.converged) goto done;
    if (cri_time_left(a->cx) < 4 * (double)(a->m->free + 1) * a->pass) goto done;
    CR_TRY(cri_interface_plan(a->cx, a->m->net, &cost));
    CR_TRY(cri_dbn_find_errors(a->cx, a->counter, a->prior, cost.operations * (double)a->rows->n,
                               a->m));
done:
    return st;
}

cr_status cri_dbn_fit(cr_ctx *cx, const cri_rows *rows, const cri_dbn_options *o, uint64_t seed,
                      const cri_dbn *opt_old, cri_dbn *m, cr_report *report)
{
    cr_status    st = CR_OK;
    cr_scratch   s = cr_scratch_begin(cx);
    cri_dbn_data data;
    search       a = { .cx = cx, .m = m, .rows = rows, .o = o, .data = &data, .old = opt_old };
    a.clock = cri_clock_start(cx, NAN);
    m->variables = m->net->n;
    m->value = cr_alloc(cx, m->size, sizeof *m->value);
    m->count = cr_alloc(cx, m->size, sizeof *m->count);
    m->shown = cr_alloc(cx, m->variables, sizeof *m->shown);
    if (!m->value || !m->count || !m->shown) CR_TRY(CR_ENOMEM);
    CR_TRY(cri_dbn_read_rows(&s, m, rows, &data));
    CR_TRY(open_search(&s, &a));
    CR_TRY(run(&s, &a, seed));
    if (cri_dbn_counter_lost(a.counter))
        cr_log(cx, CR_LOG_WARNING,
               "states that once had less than 1e-300 of the probability of others were left out: "
               "the tables may be far off");
    memcpy(a.value, m->value, m->size * sizeof(double));
    cri_dbn_set(m, m->value);
    CR_TRY(find_errors(&a));
    sum_up(&a, &data, m);
    report->iterations = m->em.iterations;
    report->stop = a.cut              ? CR_STOP_TIME
                   : !m->em.converged ? CR_STOP_LIMIT
                   : a.complete       ? CR_STOP_CLOSED_FORM
                                      : CR_STOP_TOLERANCE;
    report->log_likelihood = m->log_likelihood;
done:
    cri_dbn_counter_free(cx, a.counter);
    cr_scratch_end(&s);
    return st;
}
