/* approximate.c -- one face for all approximate methods. */
#include "approximate.h"
#include "approximate_internal.h"
#include "graph/best/best_search.h"
#include "bp.h"
#include "graph/factor/factor_internal.h"
#include "gbp.h"
#include "mean_field.h"
#include "sample.h"
#include "trees.h"
#include "base/clock.h"
#include "base/context_internal.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

enum { CHECK_SWEEPS = 25, CHECK_CLUSTER = 64 }; /* of the run that messages are compared with */
static const double SHORT_SEARCH = 5e6;         /* table entries */
static const double FIRST_STEP = 0.3; /* the weight of the first forest that is added by trw */

typedef struct task {
    cr_ctx                       *cx;
    const cr_network             *net;
    const cr_evidence            *evidence;
    const cr_approximate_options *o;
    cr_approximation              how;
    uint64_t                      seed;
    cri_fgraph                    g;
    bool                          check;         /* messages: compare with others */
    double                        began;         /* when, by the monotonic clock  */
    double                       *marginal, *se; /* of the active variables */
    cr_factor                     joint, spread; /* over ranks; size 0: not wanted */
    cr_approximate_report         report;
} task;

cr_approximate_options cr_approximate_defaults(void)
{
    return (cr_approximate_options){ .samples = CR_COUNT_UNSET,
                                     .chains = 4,
                                     .block = 256,
                                     .cluster = 4096,
                                     .steps = 100,
                                     .max_iter = CR_COUNT_UNSET,
                                     .tol = 1e-9,
                                     .damping = NAN,
                                     .schedule = CR_SCHEDULE_RESIDUAL };
}

void cr_approximate_free(cr_ctx *cx, cr_approximate_answer *a)
{
    cr_free(cx, a->marginal, a->states, sizeof *a->marginal);
    cr_free(cx, a->se, a->states, sizeof *a->se);
    cr_factor_free(cx, &a->joint);
    cr_factor_free(cx, &a->spread);
    *a = (cr_approximate_answer){ 0 };
}

/* --- messages -------------------------------------------------------------------------------- */

static void take_beliefs(task *t, const cri_bp *b)
{
    for (size_t v = 0; v < t->g.n; v++) cri_bp_belief(b, v, t->marginal + t->g.start[v]);
}

static cr_status pass_messages(task *t)
{
    cr_status st = CR_OK;
    cri_bp    b = { 0 };
    CR_TRY(cri_bp_new(t->cx, &t->g, false, NULL, &b));
    CR_TRY(cri_bp_run(t->cx, &b, t->o, &t->report));
    CR_TRY(cri_bp_log_z(t->cx, &b, &t->report.log_evidence));
    take_beliefs(t, &b);
done:
    cri_bp_free(t->cx, &b);
    return st;
}

static cr_status pass_clusters(task *t)
{
    bool      tree = false;
    cr_status st = cri_gbp(t->cx, &t->g, t->o, t->marginal, &tree, &t->report);
    if (tree) t->check = false; /* there is nothing to be far from */
    return st;
}

/* Is there as much time again as was used, within a time limit? */
static bool leaves_time(const task *t)
{
    return t->report.planned == 0 && cri_time_left(t->cx) > cri_seconds() - t->began;
}

/* How far a short run of another kind of messages is from the answer: messages that have settled
 * can be wrong, but two kinds are seldom wrong together.  (The bounds of trw
 * are too far apart to tell.) */
static cr_status compare_with(task *t, cr_status (*pass)(task *t), cr_approximate_options o)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(t->cx);
    task       other = *t;
    size_t     size = t->g.start[t->g.n];
    double     far = 0;
    if (!t->check || !isfinite(t->report.log_evidence) || !leaves_time(t)) goto done;
    other.o = &o;
    other.report = cri_report_empty();
    other.marginal = cr_scratch_f64(&s, size);
    CR_TRY(s.status);
    CR_TRY(pass(&other));
    if (!isfinite(other.report.log_evidence)) goto done;
    for (size_t k = 0; k < size; k++) far = fmax(far, fabs(other.marginal[k] - t->marginal[k]));
    t->report.far = far;
    t->report.log_far = fabs(other.report.log_evidence - t->report.log_evidence);
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status run_bp(task *t)
{
    cr_approximate_options o = *t->o;
    cr_status              st = pass_messages(t);
    o.max_iter = o.max_iter < CHECK_SWEEPS ? o.max_iter : CHECK_SWEEPS;
    o.cluster = CHECK_CLUSTER;
    return st == CR_OK ? compare_with(t, pass_clusters, o) : st;
}

static cr_status run_gbp(task *t)
{
    cr_approximate_options o = *t->o;
    cr_status              st = pass_clusters(t);
    o.max_iter = o.max_iter < 2 * CHECK_SWEEPS ? o.max_iter : 2 * CHECK_SWEEPS;
    return st == CR_OK ? compare_with(t, pass_messages, o) : st;
}

/* Messages and bound for the weights of the forests as they are; messages begin where b ended. */
static cr_status run_forests(task *t, const cri_trees *trees, cri_bp *b, cr_approximate_report *r)
{
    cr_status st = CR_OK;
    cri_bp    next = { 0 };
    size_t    size = t->g.offset[t->g.edges];
    CR_TRY(cri_bp_new(t->cx, &t->g, false, trees->rho, &next));
    if (b->m) memcpy(next.m, b->m, size * sizeof *next.m);
    if (b->m) memcpy(next.logs, b->logs, size * sizeof *next.logs);
    CR_TRY(cri_bp_run(t->cx, &next, t->o, r));
    CR_TRY(cri_trees_bound(t->cx, trees, &next, &r->upper));
    cri_bp_free(t->cx, b);
    *b = next;
    next = (cri_bp){ 0 };
done:
    cri_bp_free(t->cx, &next);
    return st;
}

/* The weights of the forests are improved in steps; one that does not help is taken back, and the
 * next is shorter. */
static cr_status run_trw(task *t)
{
    cr_status st = CR_OK;
    cri_bp    b = { 0 };
    cri_trees trees = { 0 };
    double    step = FIRST_STEP;
    CR_TRY(cri_trees_new(t->cx, &t->g, t->seed, &trees));
    CR_TRY(run_forests(t, &trees, &b, &t->report));
    take_beliefs(t, &b);
    for (size_t k = 0; k < t->o->reweigh && trees.n > 1 && !b.impossible; k++) {
        if (!leaves_time(t)) break;
        cr_approximate_report r = t->report;
        CR_TRY(cri_trees_step(t->cx, &trees, &b, step));
        CR_TRY(run_forests(t, &trees, &b, &r));
        if (r.upper < t->report.upper) {
            t->report = r;
            take_beliefs(t, &b);
            continue;
        }
        CR_TRY(cri_trees_take_back(t->cx, &trees));
        step /= 4;
    }
    t->report.log_evidence = t->report.upper;
done:
    cri_bp_free(t->cx, &b);
    cri_trees_free(t->cx, &trees);
    return st;
}

/* --- mean field ------------------------------------------------------------------------------ */

/* From the beliefs of messages and from equal probabilities; the better one stays.  Where tables have zeros it may
 * settle on one of several assignments that are as probable: messages between clusters say how
 * far it is off. */
static cr_status run_mean_field(task *t)
{
    cr_status             st = CR_OK;
    cr_scratch            s = cr_scratch_begin(t->cx);
    const cri_fgraph     *g = &t->g;
    double               *q = cr_scratch_f64(&s, g->start[g->n]), bound = -INFINITY;
    size_t               *state = cr_scratch_index(&s, g->problem->n);
    cr_approximate_report best = t->report, other = t->report;
    CR_TRY(s.status);
    CR_TRY(pass_messages(t));
    if (t->report.log_evidence == -INFINITY) goto done;
    best.lower = -INFINITY;
    for (size_t start = 0; start < 2; start++) {
        cr_approximate_report r = other;
        for (size_t v = 0; v < g->n; v++)
            for (size_t k = 0; k < g->states[v]; k++)
                q[g->start[v] + k] =
                    start == 0 ? t->marginal[g->start[v] + k] : 1 / (double)g->states[v];
        CR_TRY(cri_mean_field(t->cx, g, t->o, q, NULL, &bound, &r));
        if (start == 1 && !(bound > best.lower)) continue;
        r.lower = bound;
        best = r;
        memcpy(t->marginal, q, g->start[g->n] * sizeof *q);
    }
    if (best.lower == -INFINITY) { /* one assignment that is possible */
        double upper;
        CR_TRY(cr_approximate_best(t->cx, t->net, t->evidence, t->o, state, &best.lower, &upper,
                                   &other));
        for (size_t v = 0; v < g->n; v++)
            for (size_t k = 0; k < g->states[v]; k++) {
                const cri_problem *p = g->problem;
                t->marginal[g->start[v] + k] =
                    p->state[p->first[p->var[v]] + k] == state[p->var[v]];
            }
    }
    best.log_evidence = best.lower;
    t->report = best;
    cr_approximate_options brief = *t->o;
    brief.max_iter = brief.max_iter < CHECK_SWEEPS ? brief.max_iter : CHECK_SWEEPS;
    brief.cluster = CHECK_CLUSTER;
    CR_TRY(compare_with(t, pass_clusters, brief));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- samples --------------------------------------------------------------------------------- */

/* A probable assignment of the active variables, by a short search; *out_found: there is one. */
static cr_status find_start(task *t, size_t *state, bool *out_found)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(t->cx);
    const cri_problem *p = t->g.problem;
    size_t            *all = cr_scratch_index(&s, p->n);
    double             log_best;
    CR_TRY(s.status);
    *out_found = false;
    st = cr_best_search(t->cx, t->net, t->evidence, SHORT_SEARCH, all, &log_best, NULL);
    if (st == CR_ENUMERIC || st == CR_EDATA) { /* others report what is impossible */
        st = CR_OK;
        goto done;
    }
    CR_TRY(st);
    for (size_t k = 0; k < t->g.n; k++) {
        const size_t *left = p->state + p->first[p->var[k]];
        for (state[k] = 0; left[state[k]] != all[p->var[k]];) state[k]++;
    }
    *out_found = true;
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status run_importance(task *t, const cr_factor *joint, size_t samples, cri_tally *total)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(t->cx);
    size_t    *start = cr_scratch_index(&s, t->g.n);
    bool       found;
    CR_TRY(s.status);
    CR_TRY(find_start(t, start, &found));
    CR_TRY(cri_sample_importance(t->cx, &t->g, joint, t->o, found ? start : NULL, samples, t->seed,
                                 total));
done:
    cr_scratch_end(&s);
    return st;
}

/* What to do where no sample agrees with the evidence. */
static const char *const INSTEAD[] = {
    [CR_APPROXIMATE_FORWARD] = "try --method gbp or importance, or more --samples",
    [CR_APPROXIMATE_REJECTION] = "try --method gbp or importance, or more --samples",
    [CR_APPROXIMATE_LIKELIHOOD_WEIGHTING] = "try --method gbp or importance, or more --samples",
    [CR_APPROXIMATE_IMPORTANCE] = "try --method gibbs or gbp, or exact if that fits",
    [CR_APPROXIMATE_ANNEALED] = "try --method gibbs or gbp, or more --steps",
};

static cr_status run_samples(task *t)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(t->cx);
    bool       importance = t->how == CR_APPROXIMATE_IMPORTANCE;
    bool       annealed = t->how == CR_APPROXIMATE_ANNEALED;
    size_t     usual = importance ? 20000 : annealed ? 500 : 100000;
    size_t     samples = t->o->samples == CR_COUNT_UNSET ? usual : t->o->samples;
    cr_factor *joint = t->joint.value ? &t->joint : NULL;
    size_t     n = t->g.start[t->g.n];
    double    *workspace = cr_scratch_f64(&s, cri_tally_size(&t->g, joint));
    double    *log_w = cr_scratch_f64(&s, samples), *doubt = cr_scratch_f64(&s, n);
    CR_TRY(s.status);
    cri_tally total = cri_tally_empty(&t->g, joint, workspace);
    total.log_w = t->how == CR_APPROXIMATE_REJECTION ? NULL : log_w; /* these are all 1 */
    total.doubt = doubt;
    for (size_t k = 0; k < n; k++) doubt[k] = 0;
    if (!importance && !annealed && cr_network_get_kind(t->net) != CR_NETWORK_BAYES) {
        cr_fail(t->cx, CR_EARG,
                "%s samples from causes to effects, which a Markov network does not have",
                cr_approximation_name(t->how));
        CR_TRY(cr_fail_hint(t->cx, "use --method importance, gibbs or annealed"));
    }
    if (importance)
        CR_TRY(run_importance(t, joint, samples, &total));
    else if (annealed)
        CR_TRY(cri_sample_annealed(t->cx, &t->g, t->o, samples, t->seed, &total));
    else
        CR_TRY(cri_sample_forward(t->cx, &t->g, joint, t->how, samples, t->seed, &total));
    if (total.drawn == 0)
        t->report.log_evidence = -INFINITY;
    else
        CR_TRY(cri_tally_finish(t->cx, &total, INSTEAD[t->how], t->marginal, t->se, joint,
                                &t->spread, &t->report));
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status run_gibbs(task *t)
{
    size_t sweeps = t->o->samples == CR_COUNT_UNSET ? 5000 : t->o->samples;
    return cri_sample_gibbs(t->cx, &t->g, t->o, sweeps, t->seed, t->marginal, t->se,
                            t->joint.value ? &t->joint : NULL, &t->spread, &t->report);
}

/* --- the table of methods -------------------------------------------------------------------- */

typedef struct approximation {
    const char *name;
    cr_status (*run)(task *t);
    bool samples; /* counts joint tables by itself */
} approximation;

static const approximation METHODS[] = {
    [CR_APPROXIMATE_BP] = { "bp", run_bp, false },
    [CR_APPROXIMATE_TRW] = { "trw", run_trw, false },
    [CR_APPROXIMATE_GBP] = { "gbp", run_gbp, false },
    [CR_APPROXIMATE_MEAN_FIELD] = { "mean-field", run_mean_field, false },
    [CR_APPROXIMATE_FORWARD] = { "forward", run_samples, true },
    [CR_APPROXIMATE_REJECTION] = { "rejection", run_samples, true },
    [CR_APPROXIMATE_LIKELIHOOD_WEIGHTING] = { "likelihood-weighting", run_samples, true },
    [CR_APPROXIMATE_IMPORTANCE] = { "importance", run_samples, true },
    [CR_APPROXIMATE_GIBBS] = { "gibbs", run_gibbs, true },
    [CR_APPROXIMATE_ANNEALED] = { "annealed", run_samples, true },
};

const char *cr_approximation_name(cr_approximation how) { return METHODS[how].name; }

/* The shape of the joint of those query variables that evidence leaves open. */
static cr_status shape_joint(task *t, size_t n, const size_t *query)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(t->cx);
    const cri_problem *p = t->g.problem;
    size_t            *rank = cr_scratch_index(&s, n), *states = cr_scratch_index(&s, n), m = 0;
    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++) {
        size_t r = p->rank[query[i]], at = m;
        if (r == CR_NONE) continue;
        for (; at > 0 && rank[at - 1] > r; at--) rank[at] = rank[at - 1];
        rank[at] = r;
        m++;
    }
    for (size_t i = 0; i < m; i++) states[i] = t->g.states[rank[i]];
    CR_TRY(cri_factor_make(t->cx, m, rank, states, &t->joint));
    CR_TRY(cri_factor_make(t->cx, m, rank, states, &t->spread));
done:
    cr_scratch_end(&s);
    return st;
}

/* The joint in the query's own states, and its spread, which does not sum to one. */
static cr_status unpack_joint(task *t, size_t n, const size_t *query, cr_approximate_answer *a)
{
    cr_status st = CR_OK;
    double    sum = 0;
    for (size_t k = 0; k < t->spread.size; k++) sum += t->spread.value[k];
    CR_TRY(cri_problem_unpack(t->cx, t->g.problem, &t->joint, n, query, &a->joint));
    CR_TRY(cri_problem_unpack(t->cx, t->g.problem, &t->spread, n, query, &a->spread));
    for (size_t k = 0; k < a->spread.size; k++) a->spread.value[k] *= sum;
done:
    return st;
}

static cr_status run(task *t, size_t n, const size_t *query, cr_approximate_answer *a)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(t->cx);
    bool       counts = METHODS[t->how].samples;
    CR_TRY(cri_fgraph_new(t->cx, t->net, t->evidence, NULL, &t->g));
    size_t size = t->g.start[t->g.n];
    t->marginal = cr_scratch_f64(&s, size);
    t->se = cr_scratch_f64(&s, size);
    CR_TRY(s.status);
    for (size_t k = 0; k < size; k++) t->marginal[k] = 0, t->se[k] = NAN;
    if (n > 1 && counts) CR_TRY(shape_joint(t, n, query));
    if (t->g.scale == -INFINITY)
        t->report.log_evidence = -INFINITY;
    else
        CR_TRY(METHODS[t->how].run(t));
    bool impossible = t->report.log_evidence == -INFINITY;
    cri_fgraph_spread(&t->g, t->marginal, impossible ? 0 : 1, a->marginal);
    cri_fgraph_spread(&t->g, t->se, counts ? 0 : NAN, a->se);
    if (n > 1 && counts && !impossible) CR_TRY(unpack_joint(t, n, query, a));
done:
    cr_scratch_end(&s);
    return st;
}

cr_approximate_report cri_report_empty(void)
{
    return (cr_approximate_report){ .residual = NAN,
                                    .damping = NAN,
                                    .lower = NAN,
                                    .upper = NAN,
                                    .log_evidence = NAN,
                                    .log_evidence_se = NAN,
                                    .effective = NAN,
                                    .se = NAN,
                                    .accepted = NAN,
                                    .pareto_k = NAN,
                                    .missed = NAN,
                                    .far = NAN,
                                    .log_far = NAN,
                                    .rhat = NAN };
}

cr_status cri_approximate_once(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                               cr_approximation how, const cr_approximate_options *o, uint64_t seed,
                               size_t n, const size_t *query, bool check,
                               cr_approximate_answer *out)
{
    cr_status             st = CR_OK;
    cr_approximate_answer a = { 0 };
    task                  t = { .cx = cx,
                                .check = check,
                                .began = cri_seconds(),
                                .net = net,
                                .evidence = opt_e,
                                .o = o,
                                .how = how,
                                .seed = seed,
                                .report = cri_report_empty() };
    for (size_t v = 0; v < cr_network_size(net); v++) a.states += cr_network_states(net, v);
    a.marginal = cr_alloc(cx, a.states, sizeof *a.marginal);
    a.se = a.marginal ? cr_alloc(cx, a.states, sizeof *a.se) : NULL;
    if (!a.se) CR_TRY(CR_ENOMEM);
    CR_TRY(run(&t, n, query, &a));
    a.report = t.report;
    *out = a;
    a = (cr_approximate_answer){ 0 };
done:
    cr_factor_free(cx, &t.joint);
    cr_factor_free(cx, &t.spread);
    cri_fgraph_free(cx, &t.g);
    cr_approximate_free(cx, &a);
    return st;
}

/* --- the answer ------------------------------------------------------------------------------ */

cr_status cr_approximate(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                         cr_approximation how, const cr_approximate_options *opt_o, uint64_t seed,
                         size_t n, const size_t *query, cr_approximate_answer *out)
{
    cr_status              st = CR_OK;
    cr_approximate_answer  a = { 0 };
    cr_approximate_options usual = cr_approximate_defaults(), *o = &usual;
    if (opt_o) usual = *opt_o;
    if (usual.max_iter == CR_COUNT_UNSET) usual.max_iter = how == CR_APPROXIMATE_GBP ? 100 : 1000;
    CR_TRY(cri_approximate_once(cx, net, opt_e, how, o, seed, n, query, true, &a));
    if (n > 1 && !METHODS[how].samples && a.report.log_evidence != -INFINITY)
        CR_TRY(cri_approximate_chain(cx, net, opt_e, how, o, seed, n, query, &a));
    *out = a;
    a = (cr_approximate_answer){ 0 };
done:
    cr_approximate_free(cx, &a);
    return st;
}
