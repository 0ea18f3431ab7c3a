/* gaussian_bn_structure.c -- the arcs of a linear-Gaussian network: those of a file, none, or the best that a search
 * finds. */
#include "gaussian_bn.h"
#include "arc_options.h"
#include "base/context_internal.h"
#include "base/scratch.h"
#include "graph/learn/exact.h"
#include "graph/learn/ges.h"
#include "graph/learn/pc.h"
#include "graph/learn/search.h"

#include <math.h>
#include <string.h>

enum { EXACT_UP_TO = 15, MOST_PASSES = 10000 };

/* A search at work. */
typedef struct job {
    const cri_gaussian_bn_task *t;
    cri_arc_rules               rules;
    cri_score_source            source;
    cri_local_scores           *scores;
    cri_clock                   clock;
    cri_search_result           result; /* dag, steps, cut */
    double                      bound;
} job;

static size_t restarts_for(const job *j)
{
    size_t by_size = MOST_PASSES / j->rules.n;
    if (j->t->o->restarts != CR_COUNT_UNSET) return j->t->o->restarts;
    return by_size < 10 ? 10 : by_size > 1000 ? 1000 : by_size;
}

static cr_status climb(cr_scratch *s, job *j, bool tabu)
{
    cri_search_options o = { .tabu = tabu, .memory = 15, .restarts = restarts_for(j) };
    cr_status          st = cri_search_dag(s, j->scores, &j->rules, &o, &j->result);
    if (j->result.trace)
        cr_free(s->cx, j->result.trace, j->result.trace_size, sizeof *j->result.trace);
    j->result.trace = NULL;
    return st;
}

static cr_status find_greedy(cr_scratch *s, job *j) { return climb(s, j, false); }
static cr_status find_tabu(cr_scratch *s, job *j) { return climb(s, j, true); }

/* A member of a class. */
static cr_status take_member(cr_scratch *s, const cri_pdag *class, cri_dag *out)
{
    cr_status st = CR_OK;
    cr_ctx   *cx = s->cx;
    cri_pdag  g = { 0 };
    bool      consistent;
    *out = cri_dag_new(s, class->n);
    CR_TRY(s->status);
    CR_TRY(cri_pdag_new(cx, class->n, &g));
    cri_pdag_copy(class, &g);
    CR_TRY(cri_pdag_extend(cx, &g, &consistent));
    for (size_t v = 0; v < g.n; v++)
        for (size_t u = 0; u < g.n; u++)
            if (cri_pdag_arrow(&g, u, v)) cri_bit_add(cri_dag_parents(out, v), u);
    if (!cri_dag_close(out, NULL))
        CR_TRY(cr_fail(cx, CR_ENUMERIC, "tests contradict each other: their arcs form a cycle"));
done:
    cri_pdag_free(cx, &g);
    return st;
}

static cr_status find_class(cr_scratch *s, job *j)
{
    cr_status       st = CR_OK;
    cr_ctx         *cx = s->cx;
    cri_pdag        g = { 0 };
    cri_ges_report  report;
    cri_ges_options o = { .most_parents = j->rules.most_parents,
                          .restarts = restarts_for(j),
                          .opt_clock = &j->clock };
    CR_TRY(cri_pdag_new(cx, j->rules.n, &g));
    CR_TRY(cri_ges(cx, j->scores, &o, &g, &report));
    CR_TRY(take_member(s, &g, &j->result.dag));
    j->result.steps = report.inserted + report.removed;
    j->result.cut = report.stopped;
done:
    cri_pdag_free(cx, &g);
    return st;
}

/* From the best graph that tabu search finds, which is then proven or beaten. */
static cr_status find_exact(cr_scratch *s, job *j)
{
    cr_status         st = CR_OK;
    cri_exact_report  report;
    cri_exact_options o = { .opt_clock = &j->clock };
    CR_TRY(climb(s, j, true));
    CR_TRY(cri_exact_search(s->cx, &j->source, &j->rules, &o, &j->result.dag, &report));
    j->bound = isfinite(report.bound) ? report.bound : NAN;
    j->result.cut = !report.proven;
    if (!report.proven)
        cr_log(s->cx, CR_LOG_WARNING,
               "not proven: a graph may score up to %.6g more than the one that was found",
               report.bound - report.score);
done:
    return st;
}

static cr_status find_by_tests(cr_scratch *s, job *j)
{
    cr_status                 st = CR_OK;
    const cri_gaussian_cases *c = &j->t->cases;
    size_t                    p = c->p;
    double                   *R = cr_scratch_matrix(s, p, p);
    cri_pdag                  g = { 0 };
    cri_pc_report             report;
    cri_pc_options            o = { .most_given = SIZE_MAX,
                                    .colliders = CRI_COLLIDERS_MAJORITY,
                                    .opt_rules = &j->rules,
                                    .opt_clock = &j->clock };
    CR_TRY(s->status);
    for (size_t a = 0; a < p; a++)
        for (size_t b = 0; b < p; b++)
            R[a * p + b] = c->S[a * p + b] / sqrt(c->S[a * (p + 1)] * c->S[b * (p + 1)]);
    cri_correlation_test test = { p, c->n, j->t->o->alpha, R };
    cri_independence     asked = cri_independence_correlations(&test);
    CR_TRY(cri_pc(s->cx, &asked, &o, &g, NULL, &report));
    CR_TRY(take_member(s, &g, &j->result.dag));
    j->result.steps = (size_t)report.tests;
    j->result.cut = report.stopped;
done:
    cri_pdag_free(s->cx, &g);
    return st;
}

typedef struct search_row {
    const char *name;
    cr_status (*find)(cr_scratch *s, job *j);
    bool takes_rules;
} search_row;

static cr_status find_best(cr_scratch *s, job *j)
{
    return j->rules.n <= EXACT_UP_TO ? find_exact(s, j) : find_tabu(s, j);
}

static const search_row searches[] = {
    { "auto", find_best, true },  { "greedy", find_greedy, true }, { "tabu", find_tabu, true },
    { "ges", find_class, false }, { "exact", find_exact, true },   { "pc", find_by_tests, true },
};

static const search_row *search_called(const char *name)
{
    for (size_t i = 0; i < sizeof searches / sizeof *searches; i++)
        if (strcmp(searches[i].name, name) == 0) return &searches[i];
    return NULL;
}

/* --- what was found --------------------------------------------------------------------------- */

/* The class of the network, within the rules: what they ask for is as it is. */
static cr_status find_compelled(cr_ctx *cx, const cri_dag *g, const cri_arc_rules *opt_rules,
                                cri_pdag *out)
{
    cr_status st = cri_pdag_new(cx, g->n, out);
    if (st != CR_OK) return st;
    for (size_t v = 0; v < g->n; v++)
        for (size_t u = 0; u < g->n; u++)
            if (cri_dag_has(g, u, v)) cri_pdag_set_arrow(out, u, v);
    st = cri_pdag_complete(cx, out);
    for (size_t v = 0; opt_rules && v < g->n; v++)
        for (size_t u = 0; u < g->n; u++)
            if (cri_pdag_line(out, u, v) && cri_dag_has(g, u, v) &&
                (cri_arc_required(opt_rules, u, v) || !cri_arc_allowed(opt_rules, v, u)))
                cri_pdag_set_arrow(out, u, v);
    if (st == CR_OK) cri_pdag_meek(out);
    return st;
}

static cr_status keep_arcs(cr_ctx *cx, const cri_dag *g, const cri_arc_rules *opt_rules,
                           cri_gaussian_bn *m)
{
    cr_status st = CR_OK;
    cri_pdag class = { 0 };
    CR_TRY(find_compelled(cx, g, opt_rules, &class));
    m->arcs = g->arcs;
    m->from = cr_alloc(cx, m->arcs, sizeof *m->from);
    m->to = cr_alloc(cx, m->arcs, sizeof *m->to);
    m->compelled = cr_alloc(cx, m->arcs, sizeof *m->compelled);
    if (m->arcs > 0 && (!m->from || !m->to || !m->compelled)) CR_TRY(CR_ENOMEM);
    for (size_t v = 0, k = 0; v < g->n; v++)
        for (size_t u = 0; u < g->n; u++) {
            if (!cri_dag_has(g, u, v)) continue;
            m->from[k] = u, m->to[k] = v;
            m->compelled[k++] = cri_pdag_arrow(&class, u, v);
        }
done:
    cri_pdag_free(cx, &class);
    return st;
}

/* A word that names no search, and does not look like a file either. */
static cr_status check_word(cr_ctx *cx, const char *word)
{
    if (strpbrk(word, "./\\")) return CR_OK;
    cr_fail(cx, CR_EARG, "--structure: '%s' is neither a search nor a network file", word);
    return cr_fail_hint(cx,
                        "empty, auto, greedy, tabu, ges, exact, pc, or a file such as net.json");
}

/* Given arcs, and that they form no cycle. */
static cr_status take_file(cr_scratch *s, job *j, const char *const *names)
{
    cr_status st = CR_OK;
    cri_dag  *g = &j->result.dag;
    size_t    on;
    *g = cri_dag_new(s, j->rules.n);
    CR_TRY(s->status);
    if (strcmp(j->t->o->structure, "empty") != 0) {
        CR_TRY(check_word(s->cx, j->t->o->structure));
        CR_TRY(cri_arcs_of_file(s->cx, "structure", j->t->o->structure, g->n, names, g->words,
                                g->parents));
    }
    if (!cri_dag_close(g, &on))
        CR_TRY(cr_fail(s->cx, CR_EDATA, "--structure: a cycle goes through '%s'", names[on]));
done:
    return st;
}

/* A family of required parents must have a score. */
static cr_status check_required(cr_scratch *s, const job *j, const char *const *names)
{
    uint32_t *parents = cr_scratch_bytes(s, j->rules.n, sizeof *parents);
    for (size_t v = 0; parents && v < j->rules.n; v++) {
        size_t k = cri_bit_list(j->rules.required + v * j->rules.words, j->rules.words, parents);
        if (isfinite(cri_local_score(j->scores, v, parents, k))) continue;
        cr_fail(s->cx, CR_EDATA,
                "--require: the parents of '%s' determine each other, or are too many for %g rows",
                names[v], j->t->cases.n);
        return cr_fail_hint(s->cx, "--criterion bge takes any parents");
    }
    return s->status;
}

static cr_status run_search(cr_scratch *s, job *j, const char *const *names)
{
    cr_status                      st = CR_OK;
    const cri_gaussian_bn_options *o = j->t->o;
    const search_row              *row = search_called(o->structure);
    bool                           ruled = o->order || o->require || o->forbid || o->start;
    cri_arc_options                arcs = { o->order, o->require, o->forbid, o->start,
                             o->max_parents == CR_COUNT_UNSET ? SIZE_MAX : o->max_parents };
    if (ruled && !row->takes_rules) {
        cr_fail(s->cx, CR_EARG,
                "--structure %s cannot keep to --order, --require, --forbid and --start",
                row->name);
        CR_TRY(cr_fail_hint(s->cx, "--structure tabu and exact can"));
    }
    CR_TRY(cri_arc_options_read(s, j->rules.n, names, &arcs, &j->rules));
    CR_TRY(cri_gaussian_score(s, &j->t->cases, (cri_gaussian_score_kind)o->criterion, o->prior_rows,
                              &j->source));
    CR_TRY(cri_local_scores_new(s->cx, &j->source, &j->scores));
    CR_TRY(check_required(s, j, names));
    CR_TRY(row->find(s, j));
done:
    return st;
}

cr_status cri_gaussian_bn_find(cr_ctx *cx, const cri_gaussian_bn_task *t, cri_gaussian_bn *m)
{
    cr_status    st = CR_OK;
    cr_scratch   s = cr_scratch_begin(cx);
    size_t       p = t->cases.p;
    const char **names = cr_scratch_bytes(&s, p, sizeof *names);
    job          j = { .t = t, .clock = cri_clock_start(cx, NAN), .bound = NAN };

    CR_TRY(s.status);
    j.rules.n = p;
    for (size_t v = 0; v < p; v++) names[v] = cr_design_term_name(t->design, v);
    if (search_called(t->o->structure))
        CR_TRY(run_search(&s, &j, names));
    else
        CR_TRY(take_file(&s, &j, names));
    CR_TRY(keep_arcs(cx, &j.result.dag, j.rules.allowed ? &j.rules : NULL, m));
    m->bound = j.bound, m->steps = j.result.steps, m->cut = j.result.cut;
    m->how = cri_string_copy(cx, search_called(t->o->structure)          ? t->o->structure
                                 : strcmp(t->o->structure, "empty") == 0 ? "empty"
                                                                         : "given");
    if (!m->how) CR_TRY(CR_ENOMEM);
done:
    cri_local_scores_free(j.scores);
    cr_scratch_end(&s);
    return st;
}
