/* query_job.c -- what the answers to all questions begin with: what is known is gathered, an engine
 * opened, exact or not is decided, soft evidence is fitted. */
#include "query_job.h"
#include "query_mixture.h"
#include "query_more.h"
#include "base/scratch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_SWEEPS = 10000, MOST_APPROXIMATE = 30, PATIENCE = 500 };
static const double SOFT_TOLERANCE = 1e-13, APPROXIMATE_TOLERANCE = 1e-6, CONTRADICTS = 1e-3;

size_t *cri_copy_indices(cr_ctx *cx, const size_t *list, size_t n)
{
    size_t *copy = cr_alloc(cx, n, sizeof *copy);
    if (copy && n > 0) memcpy(copy, list, n * sizeof *copy);
    return copy;
}

size_t cri_join_indices(size_t *out, size_t n, const size_t *more, size_t m)
{
    if (m > 0) memcpy(out + n, more, m * sizeof *out);
    return n + m;
}

/* --- what is known --------------------------------------------------------------------------- */

/* Evidence of two sources on one variable. */
static cr_status refuse_twice(const cri_job *j, const cr_finding *f, bool besides)
{
    for (size_t i = 0; besides && i < j->q->known.n; i++)
        if (j->q->known.item[i].variable == f->variable &&
            !cri_same_finding(&j->q->known.item[i], f))
            return cr_fail(j->cx, CR_EARG,
                           "there is evidence on '%s' both in the question and outside it",
                           cr_variable_name(cr_network_variables(j->net), f->variable));
    return CR_OK;
}

cr_status cri_job_gather(cri_job *j, const cr_findings *opt_more)
{
    cr_status          st = CR_OK;
    const cr_findings *lists[2] = { &j->q->known, opt_more };
    for (size_t l = 0; l < 2; l++)
        for (size_t i = 0; lists[l] && i < lists[l]->n; i++) {
            const cr_finding *f = &lists[l]->item[i];
            CR_TRY(refuse_twice(j, f, l > 0));
            CR_TRY(cr_findings_add(j->cx, &j->known, j->net, f->kind, f->variable, f->weight));
            j->soft |= f->kind == CR_FINDING_SOFT;
        }
done:
    return st;
}

/* "smoke=yes", or only the variable where it is not in one state. */
static void name_finding(const cri_job *j, const cr_finding *f, char *out, size_t capacity)
{
    const cr_variables *vs = cr_network_variables(j->net);
    size_t              s = 0;
    while (s < f->states && f->weight[s] == 0) s++;
    if (f->kind == CR_FINDING_STATE || f->kind == CR_FINDING_DO)
        snprintf(out, capacity, "%s=%s", cr_variable_name(vs, f->variable),
                 cr_state_name(vs, f->variable, s));
    else
        snprintf(out, capacity, "the evidence on %s", cr_variable_name(vs, f->variable));
}

/* Which finding it is that the ones before it exclude.  Adds a note to the failure. */
cr_status cri_job_refuse_impossible(cri_job *j)
{
    char        name[512];
    double      log_e = 0;
    size_t      i = 0;
    cr_findings some = j->known;
    if (j->known.n == 0) {
        cr_fail(j->cx, CR_EDATA,
                "the network excludes every assignment: its tables contradict each other");
        return cr_fail_hint(j->cx, "look for zeros: without evidence, some assignment must have a "
                                   "positive product");
    }
    j->engine.o.method = j->engine.plan.method;
    for (; i < j->known.n && log_e != -INFINITY; i++) {
        cri_engine engine;
        some.n = i + 1;
        if (cri_engine_open(j->cx, j->net, &some, &j->engine.o, CRI_FORM_SUMS, &engine) != CR_OK)
            break;
        cr_status st = cri_engine_log_evidence(&engine, &log_e);
        cri_engine_close(&engine);
        if (st != CR_OK) break;
    }
    cr_fail(j->cx, CR_EDATA, "the evidence is impossible: its probability is 0");
    if (log_e != -INFINITY || i == 0) return CR_EDATA;
    name_finding(j, &j->known.item[i - 1], name, sizeof name);
    return cr_fail_note(j->cx,
                        i > 1 ? "%s is impossible, given the evidence before it"
                              : "%s is impossible in this network",
                        name);
}

/* --- soft evidence --------------------------------------------------------------------------- */

/* No distribution has all the probabilities that are wished for: the fitting goes round. */
static cr_status refuse_contradiction(const cri_job *j, double worst)
{
    const cr_variables *vs = cr_network_variables(j->net);
    char                text[256] = "";
    size_t              used = 0;
    for (size_t i = 0; i < j->known.n && used < sizeof text; i++)
        if (j->known.item[i].kind == CR_FINDING_SOFT)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? ", " : "",
                                     cr_variable_name(vs, j->known.item[i].variable));
    return cr_fail(
        j->cx, CR_EDATA,
        "the soft evidence on %s is contradictory in this network: a probability is off by %.2g",
        text, worst);
}

/* Scales the likelihoods of one variable so that it has the probabilities it shall have.  *worst:
 * how far it was from them. */
static cr_status fit_finding(cri_job *j, const cr_finding *f, double *worst)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(j->cx);
    cri_engine *e = &j->engine;
    cr_factor   p = { 0 };
    double     *weight = cr_scratch_f64(&s, f->states), most = 0;
    CR_TRY(s.status);
    CR_TRY(cri_engine_joint(e, 1, &f->variable, &p, NULL));
    const double *old = cr_evidence_likelihood(e->evidence, f->variable);
    for (size_t k = 0; k < f->states; k++) {
        double off = fabs(p.value[k] - f->weight[k]);
        if (f->weight[k] > 0 && p.value[k] == 0 && j->out->sweeps > 0)
            CR_TRY(refuse_contradiction(j, f->weight[k])); /* it was possible before */
        if (f->weight[k] > 0 && p.value[k] == 0)
            CR_TRY(cri_mixture_refuse(j->cx, j->net, f, k, j->known.n > 1));
        if (off > *worst) *worst = off;
        weight[k] = f->weight[k] > 0 ? (old ? old[k] : 1) * f->weight[k] / p.value[k] : 0;
    }
    /* only ratios matter: so they stay in bounds */
    for (size_t k = 0; k < f->states; k++) most = weight[k] > most ? weight[k] : most;
    for (size_t k = 0; k < f->states; k++) weight[k] /= most;
    CR_TRY(cr_evidence_weigh(j->cx, e->evidence, f->variable, weight));
    cri_engine_changed(e);
done:
    cr_factor_free(j->cx, &p);
    cr_scratch_end(&s);
    return st;
}

static size_t count_soft(const cri_job *j)
{
    size_t soft = 0;
    for (size_t i = 0; i < j->known.n; i++) soft += j->known.item[i].kind == CR_FINDING_SOFT;
    return soft;
}

/* Samples: weights that are fitted to samples would have an error that none of them knows. */
static cr_status mix_soft_evidence(cri_job *j)
{
    if (count_soft(j) > 1) {
        cr_fail(j->cx, CR_EUNSUPPORTED,
                "sampling cannot fit soft evidence on several variables (--method %s)",
                cr_approximation_name(
                    (cr_approximation)(j->engine.plan.method - CR_QUERY_APPROXIMATE)));
        return cr_fail_hint(j->cx, "use --method exact, or gbp if that is too expensive");
    }
    for (size_t i = 0; i < j->known.n; i++)
        if (j->known.item[i].kind == CR_FINDING_SOFT) j->engine.mixed = &j->known.item[i];
    cri_engine_changed(&j->engine);
    return CR_OK;
}

/* Iterative proportional fitting: one sweep does for one variable. */
static cr_status fit_soft_evidence(cri_job *j)
{
    cr_status st = CR_OK;
    bool      approximate = cri_engine_approximates(&j->engine);
    size_t    soft = 0, most = approximate ? MOST_APPROXIMATE : MOST_SWEEPS;
    double    worst = 1, least = INFINITY,
           tolerance = approximate ? APPROXIMATE_TOLERANCE : SOFT_TOLERANCE;
    soft = count_soft(j);
    j->engine.many = soft > 1;
    for (j->out->sweeps = 0; soft > 0 && worst > tolerance; j->out->sweeps++) {
        if (j->out->sweeps == most || (soft == 1 && j->out->sweeps == 1)) break;
        if (j->out->sweeps % PATIENCE ==
            PATIENCE - 1) { /* a limit that it does not come nearer to */
            if (worst > CONTRADICTS && worst > 0.99 * least) CR_TRY(refuse_contradiction(j, worst));
            least = worst;
        }
        worst = 0;
        CR_TRY(cr_check_interrupt(j->cx));
        for (size_t i = 0; i < j->known.n; i++)
            if (j->known.item[i].kind == CR_FINDING_SOFT)
                CR_TRY(fit_finding(j, &j->known.item[i], &worst));
    }
    if (j->out->sweeps == most && !approximate && worst > CONTRADICTS)
        CR_TRY(refuse_contradiction(j, worst));
    if (j->out->sweeps == most)
        cr_log(j->cx, CR_LOG_WARNING,
               "soft evidence is only met to within %.2g after %zu sweeps: %s", worst, most,
               worst > CONTRADICTS ? "it may be contradictory" : "it converges slowly");
done:
    return st;
}

/* What the engine will be asked. */
static cr_status plan(cri_job *j)
{
    const cr_question *q = j->q;
    size_t             n = q->n_x + q->n_y + q->n_given, soft = count_soft(j);
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(j->cx);
    size_t            *query = cr_scratch_index(&s, n);
    CR_TRY(s.status);
    n = cri_join_indices(query, 0, q->x, q->n_x);
    n = cri_join_indices(query, n, q->y, q->n_y);
    n = cri_join_indices(query, n, q->given, q->n_given);
    bool      each = q->kind == CR_QUESTION_MARGINALS || q->kind == CR_QUESTION_CAUSES;
    bool      all = each || q->kind == CR_QUESTION_INFORMATIVE || soft > 1;
    bool      list = q->kind == CR_QUESTION_BEST_LIST;
    cri_asked asked = { .n = n, .query = query, .each = each && soft <= 1, .list = list };
    asked.purpose = all                                   ? CRI_ASK_ALL
                    : list || q->kind == CR_QUESTION_BEST ? CRI_ASK_BEST
                                                          : CRI_ASK_TABLE;
    if (q->kind == CR_QUESTION_INFORMATIVE) asked.runs = cri_informative_runs(j);
    CR_TRY(cri_engine_plan(&j->engine, &asked));
done:
    cr_scratch_end(&s);
    return st;
}

/* best and sensitivity weigh small differences: they are exact, or not answered. */
static cr_status refuse_approximation(const cri_job *j)
{
    const char *name = j->q->kind == CR_QUESTION_SENSITIVITY ? "sensitivity" : "best";
    if (j->engine.result.why[0]) {
        cr_fail(j->cx, CR_ENOMEM, "%s(...) is always exact, but this network is too wide: %s", name,
                j->engine.result.why);
        return cr_fail_hint(j->cx, "argmax(...) and P(...) can be approximated; a larger --budget "
                                   "or --memory-limit may help");
    }
    cr_fail(j->cx, CR_EUNSUPPORTED, "%s(...) is always exact and cannot use %s", name,
            cri_engine_name(&j->engine));
    return cr_fail_hint(j->cx, "leave --method out, or use --method exact");
}

/* Of all variables the best: auxiliary ones are not to be maximised over. */
cri_form cri_job_form(const cri_job *j)
{
    bool best = j->q->kind == CR_QUESTION_BEST || j->q->kind == CR_QUESTION_BEST_LIST;
    if (j->q->kind == CR_QUESTION_SENSITIVITY) return CRI_FORM_TABLES;
    return best && j->q->n_x == 0 ? CRI_FORM_BEST : CRI_FORM_SUMS;
}

static bool must_be_exact(cr_question_kind kind)
{
    return kind == CR_QUESTION_BEST_LIST || kind == CR_QUESTION_SENSITIVITY;
}

cr_status cri_job_prepare(cri_job *j, bool needs_log)
{
    cr_status st = CR_OK;
    CR_TRY(cri_engine_open(j->cx, j->net, &j->known, &j->engine.o, cri_job_form(j), &j->engine));
    CR_TRY(plan(j));
    if (must_be_exact(j->q->kind) && j->engine.plan.method >= CR_QUERY_APPROXIMATE) {
        j->engine.result.used = j->engine.plan.method;
        CR_TRY(refuse_approximation(j));
    }
    if (count_soft(j) > 1) j->engine.compare = false;
    if (j->soft && j->q->kind == CR_QUESTION_BEST && j->q->n_x == 0 && j->engine.hidden == 0 &&
        cri_engine_samples(&j->engine)) /* max-product messages: samples have no part in it */
        j->engine.plan.method = (cr_query_method)(CR_QUERY_APPROXIMATE + (int)CR_APPROXIMATE_GBP);
    if (needs_log || j->soft) {
        CR_TRY(cri_engine_log_evidence(&j->engine, &j->out->log_evidence));
        if (j->out->log_evidence == -INFINITY) CR_TRY(cri_job_refuse_impossible(j));
    }
    if (j->soft)
        CR_TRY(cri_engine_samples(&j->engine) ? mix_soft_evidence(j) : fit_soft_evidence(j));
done:
    return st;
}

cr_status cri_job_note_log(cri_job *j, cr_status st, const double *log_e)
{
    if (st == CR_EDATA && !j->soft) return cri_job_refuse_impossible(j);
    if (st == CR_OK && !j->soft) j->out->log_evidence = *log_e;
    return st;
}

/* --- what is open ---------------------------------------------------------------------------- */

bool cri_job_is_fixed(const cri_job *j, size_t v)
{
    for (size_t i = 0; i < j->known.n; i++)
        if (j->known.item[i].variable == v)
            return j->known.item[i].kind == CR_FINDING_STATE ||
                   j->known.item[i].kind == CR_FINDING_DO;
    return false;
}

cr_status cri_job_list_open(cri_job *j)
{
    size_t n = 0, all = cr_network_size(j->net);
    for (size_t v = 0; v < all; v++) n += !cri_job_is_fixed(j, v);
    j->out->variable = cr_alloc(j->cx, n, sizeof *j->out->variable);
    if (!j->out->variable) return CR_ENOMEM;
    j->out->n = n;
    for (size_t v = 0, k = 0; v < all; v++)
        if (!cri_job_is_fixed(j, v)) j->out->variable[k++] = v;
    return CR_OK;
}
