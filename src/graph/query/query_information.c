/* query_information.c -- entropy and mutual information, of some variables or of each in turn. */
#include "query_job.h"
#include "base/scratch.h"
#include "base/find.h"

#include <math.h>

static const double ROUNDING = 1e-15; /* nats */

/* Where entry e of f falls in a marginal of it. */
static size_t entry_in(const cr_factor *f, size_t e, const cr_factor *m)
{
    size_t at = 0;
    for (size_t i = 0; i < m->n; i++) {
        size_t k = cr_factor_position(f, m->var[i]);
        at += e / f->stride[k] % f->states[k] * m->stride[i];
    }
    return at;
}

/* The entropy of the marginal of a normalised table over these variables.  score [f], if wanted,
 * gets sign times -log of the marginal, of which the entropy is the mean. */
static cr_status table_entropy(cr_ctx *cx, const cr_factor *f, size_t n, const size_t *keep,
                               double sign, double *opt_score, double *out)
{
    cr_factor m = { 0 };
    cr_status st = cr_factor_marginal(cx, f, n, keep, &m);
    if (st != CR_OK) return st;
    *out = 0;
    for (size_t e = 0; e < m.size; e++)
        if (m.value[e] > 0) *out -= m.value[e] * log(m.value[e]);
    for (size_t e = 0; opt_score && e < f->size; e++)
        if (f->value[e] > 0) opt_score[e] -= sign * log(m.value[entry_in(f, e, &m)]);
    cr_factor_free(cx, &m);
    return CR_OK;
}

/* The standard error of the mean score, an entropy of samples, by the delta method (the derivative
 * of -sum p log p along changes that sum to zero is -log p), with the second-order part
 * sum var(p) / 2p, which is what is left where the first vanishes; and no less than what one unseen
 * entry of probability 1 / effective would add. */
static double score_error(const cr_factor *p, const cr_factor *spread, const double *score,
                          double effective)
{
    double mean = 0, var = 0, bend = 0, unseen = 0;
    for (size_t k = 0; k < p->size; k++) mean += p->value[k] > 0 ? p->value[k] * score[k] : 0;
    for (size_t k = 0; k < p->size; k++) {
        double d = score[k] - mean;
        if (!(p->value[k] > 0) && effective > 1) unseen = (1 + log(effective)) / effective;
        if (!(p->value[k] > 0)) continue;
        var += spread->value[k] * d * d;
        bend += spread->value[k] * (1 - p->value[k]) / p->value[k] / 2;
    }
    return fmax(sqrt(var + bend * bend), unseen);
}

/* H(x, w) - H(w), or I = H(x, w) + H(y, w) - H(x, y, w) - H(w). */
static cr_status information(cri_job *j, size_t n_y, const size_t *y, double *out, double *opt_log)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(j->cx);
    const cr_question *q = j->q;
    cr_factor          f = { 0 };
    size_t            *scope = cr_scratch_index(&s, q->n_x + n_y + q->n_given), n = 0;
    double             h_x = 0, h_y = 0, h_all, h_w = 0, *score = NULL, sign = n_y > 0 ? -1 : 1;
    CR_TRY(s.status);
    n = cri_join_indices(scope, 0, q->given, q->n_given);
    n = cri_join_indices(scope, n, q->x, q->n_x);
    n = cri_join_indices(scope, n, y, n_y);
    CR_TRY(cri_engine_joint(&j->engine, n, scope, &f, opt_log));
    if (j->engine.result.spread.size == f.size) score = cr_scratch_bytes(&s, f.size, sizeof *score);
    CR_TRY(s.status);
    CR_TRY(table_entropy(j->cx, &f, n, scope, sign, score, &h_all));
    if (q->n_given > 0) CR_TRY(table_entropy(j->cx, &f, q->n_given, scope, -1, score, &h_w));
    if (n_y > 0) {
        CR_TRY(table_entropy(j->cx, &f, q->n_given + q->n_x, scope, 1, score, &h_x));
        n = cri_join_indices(scope, q->n_given, y, n_y);
        CR_TRY(table_entropy(j->cx, &f, n, scope, 1, score, &h_y));
    }
    *out = n_y > 0 ? h_x + h_y - h_all - h_w : h_all - h_w;
    if (*out < 0) *out = 0;
    if (score)
        j->engine.result.error.se =
            score_error(&f, &j->engine.result.spread, score, j->engine.result.error.effective);
done:
    cr_factor_free(j->cx, &f);
    cr_scratch_end(&s);
    return st;
}

cr_status cri_answer_information(cri_job *j)
{
    cr_status st = CR_OK;
    double    log_e = 0;
    CR_TRY(cri_job_prepare(j, false));
    CR_TRY(
        cri_job_note_log(j, information(j, j->q->n_y, j->q->y, &j->out->number, &log_e), &log_e));
done:
    return st;
}

static bool is_candidate(const cri_job *j, size_t v)
{
    return !cri_job_is_fixed(j, v) && !cri_has_index(j->q->x, j->q->n_x, v) &&
           !cri_has_index(j->q->given, j->q->n_given, v);
}

/* --- what each variable would tell ----------------------------------------------------------- */

static double joint_states(const cri_job *j)
{
    double n = 1;
    for (size_t i = 0; i < j->q->n_x; i++) n *= (double)cr_network_states(j->net, j->q->x[i]);
    for (size_t i = 0; i < j->q->n_given; i++)
        n *= (double)cr_network_states(j->net, j->q->given[i]);
    return n;
}

/* Is it less work to ask for all marginals given each joint state of x and w, than for the joint of
 * x, w and each variable in turn?  Elimination and enumeration have marginals one by one only; of a
 * mixture by soft evidence the shares change with x. */
static bool conditions(const cri_job *j)
{
    cr_query_method m = j->engine.plan.method;
    return m != CR_QUERY_VE && m != CR_QUERY_ENUMERATE && !j->engine.mixed &&
           joint_states(j) < (double)cr_network_size(j->net);
}

double cri_informative_runs(const cri_job *j)
{
    return 1 + (conditions(j) ? joint_states(j) : (double)cr_network_size(j->net));
}

/* The work of I(x; * | w) by conditioning.  With p = P(w, x | e), m = P(v | w, x, e) of each:
 *   I(x; v | w) = sum_{w,x} p sum_v m log m  -  sum_w P(w | e) sum_v P(v | w, e) log P(v | w, e) */
typedef struct condition {
    size_t  n, *scope, *state; /* w, then x; the last runs fastest */
    size_t  total;             /* states of all variables */
    double *marginal, *mixed;  /* [total] m; sum over x of p m */
    double *gain;              /* [variables] */
    double  all, mass;         /* sum of p so far; of this w */
} condition;

static double x_log_x(double x) { return x > 0 ? x * log(x) : 0; }

static void add_marginals(const cri_job *j, condition *c, double p)
{
    c->mass += p;
    for (size_t v = 0, k = 0; v < cr_network_size(j->net); v++)
        for (size_t s = 0; s < cr_network_states(j->net, v); s++, k++) {
            c->gain[v] += p * x_log_x(c->marginal[k]);
            c->mixed[k] += p * c->marginal[k];
        }
}

/* All states of x have been seen for this state of w. */
static void close_mixture(const cri_job *j, condition *c)
{
    for (size_t v = 0, k = 0; v < cr_network_size(j->net); v++)
        for (size_t s = 0; s < cr_network_states(j->net, v); s++, k++) {
            if (c->mass > 0) c->gain[v] -= c->mass * x_log_x(c->mixed[k] / c->mass);
            c->mixed[k] = 0;
        }
    c->all += c->mass;
    c->mass = 0;
}

/* All marginals given the states of w and x.  These take the place of what else was known of w and
 * x, which P(w, x | e) holds already. */
static cr_status ask_given(cri_job *j, condition *c)
{
    cr_status st = CR_OK;
    double    log_e;
    for (size_t k = 0; k < c->n; k++)
        CR_TRY(cr_evidence_observe(j->cx, j->engine.evidence, c->scope[k], c->state[k]));
    cri_engine_changed(&j->engine);
    CR_TRY(cri_engine_marginals(&j->engine, c->marginal, &log_e));
done:
    return st;
}

/* An approximation may find no way to a state that it holds for possible. */
static bool is_lost(const cri_job *j, cr_status st)
{
    return (st == CR_EDATA || st == CR_ENUMERIC) && cri_engine_approximates(&j->engine);
}

/* Goes through the joint states; p: P(w, x | e). */
static cr_status ask_all_given(cri_job *j, condition *c, const cr_factor *p)
{
    cr_status             st = CR_OK;
    size_t                w = 1;
    cr_approximate_report worst = j->engine.result.error;
    for (size_t i = j->q->n_given; i < c->n; i++) w *= cr_network_states(j->net, c->scope[i]);
    for (size_t e = 0; e < p->size; e++) {
        size_t at = 0, rest = e;
        for (size_t k = c->n; k-- > 0;) {
            size_t n = cr_network_states(j->net, c->scope[k]);
            c->state[k] = rest % n;
            rest /= n;
            at += c->state[k] * p->stride[cr_factor_position(p, c->scope[k])];
        }
        CR_TRY(cr_check_interrupt(j->cx));
        cr_progress(j->cx, "states", (double)e, (double)p->size);
        if (p->value[at] > 0) {
            st = ask_given(j, c);
            if (st == CR_OK) add_marginals(j, c, p->value[at]);
            if (is_lost(j, st)) st = CR_OK;
            CR_TRY(st);
            if (!j->engine.result.error.converged) worst = j->engine.result.error;
        }
        if ((e + 1) % w == 0) close_mixture(j, c);
    }
    cri_engine_changed(&j->engine);
    j->engine.result.error = worst;
    for (size_t v = 0; v < cr_network_size(j->net); v++) c->gain[v] /= c->all;
done:
    return st;
}

static cr_status gains_by_states(cri_job *j, double *gain)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(j->cx);
    cr_factor  p = { 0 };
    condition  c = { .n = j->q->n_given + j->q->n_x, .gain = gain };
    for (size_t v = 0; v < cr_network_size(j->net); v++) c.total += cr_network_states(j->net, v);
    c.scope = cr_scratch_index(&s, c.n);
    c.state = cr_scratch_index(&s, c.n);
    c.marginal = cr_scratch_f64(&s, c.total);
    c.mixed = cr_scratch_bytes(&s, c.total, sizeof *c.mixed); /* zeros */
    CR_TRY(s.status);
    cri_join_indices(c.scope, 0, j->q->given, j->q->n_given);
    cri_join_indices(c.scope, j->q->n_given, j->q->x, j->q->n_x);
    CR_TRY(cri_engine_joint(&j->engine, c.n, c.scope, &p, NULL));
    CR_TRY(ask_all_given(j, &c, &p));
done:
    cr_factor_free(j->cx, &p);
    cr_scratch_end(&s);
    return st;
}

static cr_status gains_one_by_one(cri_job *j, double *gain)
{
    cr_status st = CR_OK;
    size_t    n = cr_network_size(j->net);
    for (size_t v = 0; v < n; v++) {
        CR_TRY(cr_check_interrupt(j->cx));
        cr_progress(j->cx, "variables", (double)v, (double)n);
        if (is_candidate(j, v)) CR_TRY(information(j, 1, &v, &gain[v], NULL));
    }
done:
    return st;
}

/* The candidates, the most informative first, ties in order; what is but rounding counts as none.
 */
static cr_status sort_gains(cri_job *j, const double *gain)
{
    cr_query_answer *a = j->out;
    size_t           n = 0, used = 0;
    for (size_t v = 0; v < cr_network_size(j->net); v++) n += is_candidate(j, v);
    a->value = cr_alloc(j->cx, n, sizeof *a->value);
    if (!a->value) return CR_ENOMEM;
    a->values = n;
    a->variable = cr_alloc(j->cx, n, sizeof *a->variable);
    if (!a->variable) return CR_ENOMEM;
    a->n = n;
    for (size_t v = 0; v < cr_network_size(j->net); v++) {
        size_t at = used;
        double mine = gain[v] > ROUNDING ? gain[v] : 0;
        if (!is_candidate(j, v)) continue;
        for (; at > 0 && a->value[at - 1] < mine; at--) {
            a->value[at] = a->value[at - 1];
            a->variable[at] = a->variable[at - 1];
        }
        a->value[at] = mine;
        a->variable[at] = v;
        used++;
    }
    return CR_OK;
}

cr_status cri_answer_informative(cri_job *j)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(j->cx);
    double    *gain = cr_scratch_f64(&s, cr_network_size(j->net));
    CR_TRY(s.status);
    for (size_t v = 0; v < cr_network_size(j->net); v++) gain[v] = 0;
    CR_TRY(cri_job_prepare(j, true));
    j->engine.many = true;
    cr_log(j->cx, CR_LOG_INFO, "%.0f runs, one for each %s", cri_informative_runs(j) - 1,
           conditions(j) ? "joint state of the variables asked about" : "variable");
    CR_TRY(conditions(j) ? gains_by_states(j, gain) : gains_one_by_one(j, gain));
    j->engine.result.error.se = NAN; /* of many numbers there is not one */
    CR_TRY(sort_gains(j, gain));
done:
    cr_scratch_end(&s);
    return st;
}
