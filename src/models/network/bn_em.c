/* bn_em.c -- tables from rows with gaps, by EM.
 *   E   n(x, u)  =  sum over rows of P(x, parents = u | what the row shows)         (bn_expect.c)
 *   M   p(x | u) =  (n(x, u) + a(x, u)) / (n(u) + a(u)),     a: the prior of the entry
 * which maximises  log P(what is seen) + sum a log p:  the mode under Dirichlet(1 + a), so that no entry with a > 0
 * becomes 0.  A step never lowers it.  A row of a table that is expected nowhere and has no prior is uniform.
 * Lauritzen (1995), The EM algorithm for graphical association models with missing data, CSDA 19. */
#include "bn.h"
#include "base/context_internal.h"
#include "base/rng.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

typedef struct search {
    cr_ctx               *cx;
    cri_bn               *m;
    const cri_rows       *rows;
    const cri_bn_options *o;
    const cri_bn_rows    *data;
    cri_bn_counter       *counter;
    double               *value, *count; /* [size] */
    cri_clock             clock;
    bool                  cut;
} search;

/* --- steps ------------------------------------------------------------------------------------ */

static void maximise(const search *a, const double *count, double *value)
{
    const cri_bn *m = a->m;
    for (size_t v = 0; v < cr_network_size(m->net); v++) {
        cri_bn_table t = cri_bn_table_of(m, v);
        for (size_t i = t.at; i < t.at + t.rows * t.states; i += t.states) {
            double sum = 0;
            for (size_t k = i; k < i + t.states; k++) sum += count[k] + m->prior[k];
            for (size_t k = i; k < i + t.states; k++)
                value[k] = sum > 0 ? (count[k] + m->prior[k]) / sum : 1 / (double)t.states;
        }
    }
}

static double log_prior(const search *a, const double *value)
{
    double sum = 0;
    for (size_t i = 0; i < a->m->size; i++)
        if (a->m->prior[i] > 0) sum += a->m->prior[i] * log(value[i]);
    return sum;
}

static cr_status note_pass(cr_ctx *cx, double objective, cri_em_outcome *o)
{
    double *trace = cr_resize(cx, o->trace, o->iterations, o->iterations + 1, sizeof *trace);
    if (!trace) return CR_ENOMEM;
    o->trace = trace;
    trace[o->iterations++] = o->objective = objective;
    cri_progress_steps(cx, (double)o->iterations);
    return CR_OK;
}

static cr_status refuse_impossible(const search *a)
{
    size_t row = cri_bn_find_impossible(a->counter, a->value);
    if (row == CR_NONE)
        return cr_fail(a->cx, CR_ENUMERIC, "bn: the likelihood of the rows underflows");
    cr_fail(a->cx, CR_EDATA, "%s, row %zu: it is impossible by the tables that EM starts from",
            cr_table_source(a->rows->table), (a->rows->index ? a->rows->index[row] : row) + 1);
    return cr_fail_hint(a->cx, "--prior bdeu:1 gives every state some probability");
}

/* A pass: counts at a->value, and the objective there. */
static cr_status pass(search *a, double *out_log, cri_em_outcome *o)
{
    cr_status st = CR_OK;
    CR_TRY(cri_bn_expect(a->counter, a->value, a->count, out_log));
    if (!isfinite(*out_log)) CR_TRY(refuse_impossible(a));
    CR_TRY(note_pass(a->cx, *out_log + log_prior(a, a->value), o));
done:
    return st;
}

/* Steps from a->value until they gain no more.  The counts are those of the last pass but one, from which the tables of the
 * last were made. */
static cr_status ascend(search *a, double *before, double *out_log, cri_em_outcome *o)
{
    cr_status st = CR_OK;
    double    enough = a->o->tol * a->m->rows;
    CR_TRY(pass(a, out_log, o));
    do {
        double last = o->objective;
        CR_TRY(cr_check_interrupt(a->cx));
        memcpy(before, a->count, a->m->size * sizeof *before);
        maximise(a, a->count, a->value);
        CR_TRY(pass(a, out_log, o));
        o->converged = o->objective - last <= enough;
        a->cut = !o->converged && cri_clock_over(&a->clock);
    } while (!o->converged && !a->cut && o->iterations < a->o->max_iter);
done:
    return st;
}

/* --- starts ----------------------------------------------------------------------------------- */

/* The first start has uniform rows of tables, except where a hidden variable stands in them: its states would stay
 * alike for ever.  In others each row is any distribution. */
static void choose_start(search *a, uint64_t seed, size_t start)
{
    const cri_bn *m = a->m;
    cr_rng        r = cr_rng_stream(seed, start);
    for (size_t v = 0; v < cr_network_size(m->net); v++) {
        size_t        n;
        const size_t *scope = cr_network_parents(m->net, v, &n);
        cri_bn_table  t = cri_bn_table_of(m, v);
        bool          drawn = start > 0;
        for (size_t k = 0; k <= n; k++) drawn |= !a->data->shown[scope[k]];
        for (size_t i = t.at; i < t.at + t.rows * t.states; i += t.states) {
            double sum = 0;
            for (size_t k = i; k < i + t.states; k++)
                sum += a->value[k] = drawn ? 0.1 - log1p(-cr_rng_uniform(&r)) : 1;
            for (size_t k = i; k < i + t.states; k++) a->value[k] /= sum;
        }
    }
}

static void free_outcome(cr_ctx *cx, cri_em_outcome *o)
{
    if (o->trace) cr_free(cx, o->trace, o->iterations, sizeof *o->trace);
    o->trace = NULL, o->iterations = 0;
}

/* All starts: the best has its counts in m->count, its course in m->em. */
static cr_status run(cr_scratch *s, search *a, uint64_t seed)
{
    cr_status      st = CR_OK;
    cri_bn        *m = a->m;
    size_t         starts = a->o->restarts == CR_COUNT_UNSET ? 5 : a->o->restarts + 1, made = 0;
    double        *end = cr_scratch_f64(s, starts), *counts = cr_scratch_f64(s, m->size);
    double         same = fmax(10 * a->o->tol, 1e-9) * m->rows, log_p;
    bool           own_bar = cri_progress_open_steps(a->cx, "EM");
    cri_em_outcome o = { 0 };
    CR_TRY(s->status);
    for (; made < starts && !a->cut; made++) {
        CR_TRY(cr_check_interrupt(a->cx));
        if (own_bar) cri_progress_stage(a->cx, (double)(made + 1) / (double)starts);
        choose_start(a, seed, made);
        CR_TRY(ascend(a, counts, &log_p, &o));
        end[made] = o.objective;
        cr_log(a->cx, CR_LOG_INFO, "start %zu: %.10g after %zu passes", made + 1, o.objective,
               o.iterations);
        if (made == 0 || o.objective > m->em.objective + same) {
            free_outcome(a->cx, &m->em);
            m->em = o;
            m->log_likelihood = log_p;
            memcpy(m->count, counts, m->size * sizeof *counts);
            o = (cri_em_outcome){ 0 };
        }
        free_outcome(a->cx, &o);
    }
    m->em.restarts = made;
    m->em.restarts_agreed = 0;
    for (size_t i = 0; i < made; i++)
        m->em.restarts_agreed += fabs(m->em.objective - end[i]) <= same;
    if (a->cut)
        cr_log(a->cx, CR_LOG_WARNING,
               "the time limit ended EM in start %zu of %zu: this is the best so far", made,
               starts);
done:
    free_outcome(a->cx, &o);
    if (own_bar) cri_progress_close(a->cx);
    return st;
}

/* --- what the rows can tell ------------------------------------------------------------------- */

/* Is there a row that shows a variable and all its parents? */
static bool is_observed(const cri_bn *m, const cri_bn_rows *d, size_t v)
{
    size_t        n;
    const size_t *scope = cr_network_parents(m->net, v, &n);
    for (size_t i = 0; i < d->n; i++) {
        bool all = true;
        for (size_t k = 0; k <= n && all; k++) all = d->code[i * d->p + scope[k]] != CRI_BN_GAP;
        if (all) return true;
    }
    return false;
}

static void warn_of_unobserved(const search *a)
{
    const cr_variables *vs = cr_network_variables(a->m->net);
    size_t              hidden = 0, apart = 0, which = 0, other = 0;
    for (size_t v = 0; v < a->data->p; v++) {
        bool shown = a->data->shown[v];
        if (!shown && cr_network_states(a->m->net, v) > 1 && hidden++ == 0) which = v;
        if (shown && !is_observed(a->m, a->data, v) && apart++ == 0) other = v;
    }
    if (hidden > 0)
        cr_log(a->cx, CR_LOG_WARNING,
               "'%s'%s is hidden: its states are known up to their order, and may be others in "
               "another start",
               cr_variable_name(vs, which), hidden > 1 ? " (and others)" : "");
    if (apart > 0)
        cr_log(a->cx, CR_LOG_WARNING,
               "no row shows '%s'%s together with its parents: its table is known only through "
               "other variables",
               cr_variable_name(vs, other), apart > 1 ? " (and others)" : "");
}

/* How much of the information of complete rows there is. */
static cr_status note_shares(search *a)
{
    cr_status st = CR_OK;
    cri_bn   *m = a->m;
    bool      known = false;
    double   *share = cr_alloc(a->cx, m->size, sizeof *share);
    if (!share) return CR_ENOMEM;
    maximise(a, m->count, a->value);
    st = cri_bn_find_shares(a->cx, a->counter, a->value, m->count, share, &known);
    if (st == CR_OK && known)
        m->share = share, m->shares = m->size;
    else
        cr_free(a->cx, share, m->size, sizeof *share);
    return st;
}

cr_status cri_bn_fit_em(cr_ctx *cx, const cri_rows *rows, const cri_bn_options *o,
                        const cri_bn_rows *data, uint64_t seed, cri_bn *m, cr_report *report)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    search     a = { .cx = cx, .m = m, .rows = rows, .o = o, .data = data };
    a.clock = cri_clock_start(cx, NAN);
    a.value = cr_scratch_f64(&s, m->size);
    a.count = cr_scratch_f64(&s, m->size);
    CR_TRY(s.status);
    CR_TRY(cri_bn_counter_new(cx, m, data, &a.counter));
    warn_of_unobserved(&a);
    CR_TRY(run(&s, &a, seed));
    CR_TRY(cri_bn_set_tables(cx, m));
    CR_TRY(note_shares(&a));
    m->log_evidence = NAN;
    report->iterations = m->em.iterations;
    report->log_likelihood = m->log_likelihood;
    report->stop = a.cut ? CR_STOP_TIME : !m->em.converged ? CR_STOP_LIMIT : CR_STOP_TOLERANCE;
done:
    cri_bn_counter_free(a.counter);
    cr_scratch_end(&s);
    return st;
}
