/* em.c -- EM: passes over the rows, steps, starts. */
#include "em.h"
#include "leaps.h"
#include "passes.h"
#include "base/context_internal.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

#define CRI_TYPE cri_em_outcome
const cri_member cri_em_outcome_record[] = { CRI_EM_OUTCOME(CRI_RECORD_ROW) CRI_RECORD_END };
#undef CRI_TYPE

void cri_em_describe(const cri_em_outcome *o, cri_sheet *s)
{
    cri_put_count(s, "iterations", o->iterations);
    cri_put_count(s, "restarts", o->restarts);
    cri_put_count(s, "restarts_agreed", o->restarts_agreed);
    cri_put_real(s, "objective", o->objective);
    cri_put_flag(s, "converged", o->converged);
}

/* --- one pass --------------------------------------------------------------------------------- */

/* A node has the statistics that `add` gathers and, behind them, the weight of the rows. */
typedef struct pass {
    void (*add)(const void *of, const cri_rows *rows, cri_range range, double *sums, double *work);
    const void *of;          /* the state, or the plan of a search */
    size_t      width, work; /* of a node; of the workspace */
    cri_forest  forest;
    cr_status (*meet)(cr_ctx *cx, void *of, const cri_rows *leaf); /* NULL: nothing is to be met */
    void *met;
} pass;

static cr_status add_nodes(cr_ctx *cx, const void *of, void *a, const void *b)
{
    (void)cx;
    for (size_t i = 0; i < ((const pass *)of)->width; i++)
        ((double *)a)[i] += ((const double *)b)[i];
    return CR_OK;
}

static void free_node(cr_ctx *cx, const void *of, void *node)
{
    cr_free(cx, node, ((const pass *)of)->width, sizeof(double));
}

static cr_status copy_node(cr_ctx *cx, const void *of, const void *node, void **out)
{
    size_t  width = ((const pass *)of)->width;
    double *copy = cr_resize(cx, NULL, 0, width, sizeof *copy);
    if (!copy) return CR_ENOMEM;
    memcpy(copy, node, width * sizeof *copy);
    *out = copy;
    return CR_OK;
}

static const cri_forest_kind vectors = { add_nodes, copy_node, free_node };

typedef struct leaf_work {
    const pass     *p;
    const cri_rows *rows;
} leaf_work;

static void gather_block(void *arg, cri_range range, double *acc, double *work)
{
    const leaf_work *w = arg;
    w->p->add(w->p->of, w->rows, range, acc, work);
    for (size_t i = range.begin; i < range.end; i++)
        acc[w->p->width - 1] += w->rows->w ? w->rows->w[i] : 1;
}

static cr_status gather_leaf(cr_ctx *cx, void *arg, const cri_rows *rows)
{
    enum { BLOCK = 256 };
    pass     *p = arg;
    leaf_work w = { p, rows };
    cr_status st = p->meet ? p->meet(cx, p->met, rows) : CR_OK;
    double   *node = st == CR_OK ? cr_alloc(cx, p->width, sizeof *node) : NULL;
    if (st != CR_OK) return st;
    st = node ? cri_parallel_sum_in(cx, NULL, rows->n, BLOCK, p->width, p->work, gather_block, &w,
                                    node)
              : CR_ENOMEM;
    if (st == CR_OK) return cri_forest_push(cx, &vectors, p, &p->forest, node, 0);
    free_node(cx, p, node);
    return st;
}

static cr_status gather_rows(cr_ctx *cx, void *arg, const cri_rows *rows)
{
    return cri_each_leaf(cx, rows, gather_leaf, arg);
}

/* The rows of sequences are divided by whole sequences: `range` is of these. */
static void gather_sequences_block(void *arg, cri_range range, double *acc, double *work)
{
    const leaf_work *w = arg;
    const size_t    *start = w->rows->sequences->start;
    w->p->add(w->p->of, w->rows, range, acc, work);
    acc[w->p->width - 1] += (double)(start[range.end] - start[range.begin]);
}

static cr_status gather_sequences(cr_ctx *cx, const pass *p, const cri_rows *rows, double *sums)
{
    leaf_work w = { p, rows };
    cr_status st = p->meet ? p->meet(cx, p->met, rows) : CR_OK;
    if (st != CR_OK) return st;
    size_t n = rows->sequences->n;
    return cri_parallel_sum_in(cx, NULL, n, cri_sequences_together(n), p->width, p->work,
                               gather_sequences_block, &w, sums);
}

/* sums [width] = the statistics of all rows, and their weight. */
static cr_status gather(cr_ctx *cx, pass p, const cri_rows *rows, double *sums)
{
    cr_status st = CR_OK;
    void     *sum = NULL;
    if (rows->sequences) return gather_sequences(cx, &p, rows, sums);
    CR_TRY(rows->passes ? cri_passes_each(cx, rows->passes, gather_rows, &p)
                        : gather_rows(cx, &p, rows));
    CR_TRY(cri_forest_fold(cx, &vectors, &p, &p.forest, &sum));
    memcpy(sums, sum, p.width * sizeof *sums);
done:
    cri_forest_free(cx, &vectors, &p, &p.forest);
    free_node(cx, &p, sum);
    return st;
}

cr_status cri_em_gather(cr_ctx *cx, const cri_em_pass *of, const cri_rows *rows, double *sums)
{
    pass p = { .add = of->add,
               .of = of->of,
               .width = of->width + 1,
               .work = of->work,
               .meet = of->meet,
               .met = of->met };
    return gather(cx, p, rows, sums);
}

/* --- a fit ------------------------------------------------------------------------------------ */

typedef struct em {
    const cr_model *model;
    const cri_rows *rows;
    double          tol;
    size_t          max_iter, restarts;
    double          reserve; /* seconds before the time limit at which it ends */
    bool            cut; /* it did: not all starts were made, or one was not followed to its end */
} em;

static const void *option(const cr_model *m, const char *name)
{
    return (const char *)m->options + cr_option_find(m->class->options, name)->offset;
}

static bool time_is_up(const em *e, const cr_ctx *cx) { return cri_time_left(cx) < e->reserve; }

static cri_em_outcome *outcome_of(const cr_model *m, void *state)
{
    return (cri_em_outcome *)((char *)state + m->class->em->at);
}

static const cri_em_search *search_of(const em *e) { return e->model->class->search; }

/* One pass at `state`: its statistics, and the objective. */
static cr_status look(cr_ctx *cx, em *e, const void *state, double *sums, double *out_objective)
{
    const cri_em_face *face = e->model->class->em;
    pass               p = {
                      .add = face->gather, .of = state, .width = face->width(state) + 1, .work = face->work(state)
    };
    cr_status st = gather(cx, p, e->rows, sums);
    if (st != CR_OK) return st;
    *out_objective = sums[0] + (search_of(e) ? search_of(e)->log_prior(state) : 0);
    return CR_OK;
}

/* The objective that a pass has left, at the end of the trace. */
static cr_status note_pass(cr_ctx *cx, const em *e, double objective, cri_em_outcome *o)
{
    double *trace;
    bool    impossible = objective == -INFINITY && o->iterations == 0;
    if (impossible && e->max_iter == 0)
        cr_log(cx, CR_LOG_WARNING,
               "%s: the rows have probability 0 under the parameters that were given",
               e->model->class->name);
    else if (impossible)
        return cr_fail(cx, CR_EDATA, "%s: the rows have probability 0 under the first parameters",
                       e->model->class->name);
    else if (!isfinite(objective))
        return cr_fail(cx, CR_ENUMERIC, "%s: the likelihood is not finite after %zu steps",
                       e->model->class->name, o->iterations);
    trace = cr_resize(cx, o->trace, o->iterations, o->iterations + 1, sizeof *trace);
    if (!trace) return CR_ENOMEM;
    o->trace = trace;
    trace[o->iterations++] = o->objective = objective;
    cri_progress_steps(cx, (double)o->iterations);
    return CR_OK;
}

/* --- steps ------------------------------------------------------------------------------------ */

/* Steps from the state until they gain no more, or lead nowhere; the objective is that of the state it ends
 * with, or of the one before it got lost. */
static cr_status ascend(cr_ctx *cx, em *e, void *state, double *out_weight, bool *out_lost)
{
    cr_status            st = CR_OK;
    cr_scratch           s = cr_scratch_begin(cx);
    const cri_em_face   *face = e->model->class->em;
    cri_em_outcome      *o = outcome_of(e->model, state);
    const cri_em_search *search = search_of(e);
    size_t               width = face->width(state);
    double              *sums = cr_scratch_f64(&s, width + 1), objective;
    cri_leaps            l;

    cri_leaps_begin(&s, face, state, &l);
    CR_TRY(s.status);
    for (;;) {
        double before = o->objective;
        CR_TRY(look(cx, e, state, sums, &objective));
        if (l.leapt && !(objective >= before && isfinite(objective))) {
            CR_TRY(note_pass(cx, e, before, o));
            CR_TRY(cri_leaps_back(cx, &l, state));
            continue;
        }
        CR_TRY(note_pass(cx, e, objective, o));
        *out_weight = sums[width];
        double worth = e->tol * sums[width];
        bool   enough = o->iterations > 1 && objective - before <= worth;
        o->converged = enough && !l.leapt;
        if (o->converged && search && search->refine) o->converged = !search->refine(state, worth);
        e->cut = !o->converged && time_is_up(e, cx);
        if (o->converged || e->cut || o->iterations >= e->max_iter) break;
        cri_leaps_from(&l, state);
        CR_TRY(face->solve(cx, e->model->options, sums, state));
        if (search && (*out_lost = search->lost(state))) break;
        /* a pass is left for the plain step */
        if (!enough && o->iterations + 2 <= e->max_iter) CR_TRY(cri_leaps_on(cx, &l, state));
    }
    if (search && !*out_lost) search->reach(state, sums);
done:
    cr_scratch_end(&s);
    return st;
}

/* --- starts ----------------------------------------------------------------------------------- */

/* The starts of one candidate, or of all there is without a search. */
typedef struct starts {
    size_t      candidate, restarts;
    cri_em_ends became;
    double     *ends;      /* [became.made] objectives, -INFINITY where rejected */
    void       *best;      /* NULL where all were rejected */
    double      criterion; /* of it, INFINITY where there is none */
    double      weight;    /* of the rows                         */
} starts;

/* What they are made of. */
typedef struct source {
    const cri_rows *first;
    void           *plan;
    bool            own_bar;
} source;

/* One start and its steps: the best of those so far is kept. */
static cr_status make_start(cr_ctx *cx, em *e, const source *from, starts *s)
{
    cr_status             st = CR_OK;
    const cr_model_class *c = e->model->class;
    const cri_em_search  *search = search_of(e);
    cr_rng                r = cr_rng_stream(e->model->fit.seed, s->became.made);
    void                 *state = NULL;
    bool                  rejected = false;

    CR_TRY(search ? search->start(cx, from->plan, s->candidate, s->became.made, s->best, &r, &state)
                  : c->em->start(cx, from->first, e->model->options, &r, &state));
    CR_TRY(ascend(cx, e, state, &s->weight, &rejected));
    if (search && !rejected) CR_TRY(search->judge(cx, from->plan, state, &rejected));
    const cri_em_outcome *o = outcome_of(e->model, state);
    cr_log(cx, CR_LOG_INFO, "start %zu: %.10g after %zu passes%s", s->became.made + 1, o->objective,
           o->iterations, rejected ? ", rejected" : "");
    double *ends = cr_resize(cx, s->ends, s->became.made, s->became.made + 1, sizeof *ends);
    if (!ends) CR_TRY(CR_ENOMEM);
    s->ends = ends;
    ends[s->became.made++] = rejected ? -INFINITY : o->objective;
    if (rejected) {
        s->became.rejected++;
        s->became.best_rejected = fmax(s->became.best_rejected, o->objective);
    } else if (!s->best || o->objective > outcome_of(e->model, s->best)->objective) {
        cri_state_free(cx, c, s->best);
        s->best = state;
        state = NULL;
    }
done:
    cri_state_free(cx, c, state);
    return st;
}

/* More starts of a candidate, until `most` are made, and one whose end is not rejected; or as many as there is time for.
 * The best of their ends knows how many agreed. */
static cr_status make_starts(cr_ctx *cx, em *e, const source *from, size_t most, starts *s)
{
    if (most > s->restarts) most = s->restarts;
    while ((s->became.made < most || (s->became.made < s->restarts && !s->best)) && !e->cut &&
           !(s->became.made > 0 && time_is_up(e, cx))) {
        cr_status st = cr_check_interrupt(cx);
        if (from->own_bar)
            cri_progress_stage(cx, (double)(s->became.made + 1) / (double)s->restarts);
        if (st == CR_OK) st = make_start(cx, e, from, s);
        if (st != CR_OK) return st;
    }
    e->cut |= s->became.made < most;
    if (!s->best) return CR_OK;
    cri_em_outcome *o = outcome_of(e->model, s->best);
    o->restarts = s->became.made;
    o->restarts_agreed = 0;
    for (size_t i = 0; i < s->became.made; i++)
        o->restarts_agreed += s->ends[i] == o->objective ||
                              o->objective - s->ends[i] <= fmax(10 * e->tol, 1e-9) * s->weight;
    return CR_OK;
}

static void free_starts(cr_ctx *cx, const em *e, starts *s)
{
    cri_state_free(cx, e->model->class, s->best);
    cr_free(cx, s->ends, s->became.made, sizeof *s->ends);
    s->best = NULL, s->ends = NULL, s->became.made = 0;
}

/* --- candidates ------------------------------------------------------------------------------- */

/* One pass over the rows, for what all candidates share. */
static cr_status survey(cr_ctx *cx, em *e, source *from)
{
    cr_status            st = CR_OK;
    cr_scratch           room = cr_scratch_begin(cx);
    const cri_em_search *search = search_of(e);
    CR_TRY(search->open(cx, from->first, e->model->options, &from->plan));
    if (!search->survey) goto done;
    size_t  width = search->survey_width(from->plan) + 1;
    double *sums = cr_scratch_f64(&room, width);
    CR_TRY(room.status);
    CR_TRY(gather(cx,
                  (pass){ .add = search->survey,
                          .of = from->plan,
                          .width = width,
                          .work = search->survey_work(from->plan),
                          .meet = search->meet,
                          .met = from->plan },
                  e->rows, sums));
    CR_TRY(search->settle(cx, from->plan, sums));
done:
    cr_scratch_end(&room);
    return st;
}

static cr_status make_candidate(cr_ctx *cx, em *e, const source *from, size_t most, starts *s)
{
    cr_status st = make_starts(cx, e, from, most, s);
    s->criterion = INFINITY;
    if (st == CR_OK)
        search_of(e)->note(from->plan, s->candidate, &s->became, s->best, &s->criterion);
    return st;
}

/* Lets go of all candidates but the first with the lowest criterion and those within the margin of it; returns that,
 * NULL where none has an end. */
static starts *drop_others(cr_ctx *cx, const em *e, starts *all, size_t n, double margin)
{
    starts *lowest = NULL;
    for (size_t i = 0; i < n; i++)
        if (all[i].best && (!lowest || all[i].criterion < lowest->criterion)) lowest = &all[i];
    for (size_t i = 0; lowest && i < n; i++)
        if (&all[i] != lowest && !(all[i].criterion <= lowest->criterion + margin))
            free_starts(cx, e, &all[i]);
    return lowest;
}

/* The candidate with the lowest criterion, each by its best end.  Where there is a margin they get their starts in
 * rounds: one of each, then another of those within the margin of the lowest, which is half as wide after each. */
static cr_status choose(cr_ctx *cx, em *e, source *from, void **out_state)
{
    cr_status            st = CR_OK;
    const cri_em_search *search = search_of(e);
    cr_scratch           room = cr_scratch_begin(cx);
    starts              *all = NULL, *lowest = NULL;
    size_t               n = 0, begun = 0;

    CR_TRY(survey(cx, e, from));
    n = search->candidates(from->plan);
    double margin = search->margin && n > 1 ? search->margin(from->plan) : 0;
    size_t first = margin > 0 ? 1 : e->restarts;
    all = cr_scratch_bytes(&room, n, sizeof *all);
    CR_TRY(room.status);
    for (; begun < n && !(lowest && (e->cut |= time_is_up(e, cx))); begun++) {
        all[begun] = (starts){ .candidate = begun, .became = { .best_rejected = NAN } };
        all[begun].restarts = search->starts(from->plan, begun, e->restarts);
        CR_TRY(make_candidate(cx, e, from, first, &all[begun]));
        lowest = drop_others(cx, e, all, begun + 1, margin);
    }
    for (size_t most = first + 1; most <= e->restarts && lowest && !e->cut; most++) {
        for (size_t i = 0; i < begun && !(e->cut |= time_is_up(e, cx)); i++)
            if (all[i].best && all[i].became.made < most && all[i].became.made < all[i].restarts)
                CR_TRY(make_candidate(cx, e, from, most, &all[i]));
        lowest = drop_others(cx, e, all, begun, margin /= 2);
    }
    lowest = drop_others(cx, e, all, begun, 0);
    CR_TRY(search->finish(cx, from->plan, lowest ? lowest->best : NULL));
    if (search->review)
        CR_TRY(search->review(cx, from->plan, e->rows, e->model->fit.seed, e->cut, lowest->best));
    *out_state = lowest->best;
    lowest->best = NULL;
done:
    for (size_t i = 0; all && i < n; i++) free_starts(cx, e, &all[i]);
    if (from->plan) search->close(cx, from->plan);
    cr_scratch_end(&room);
    return st;
}

static cr_status run(cr_ctx *cx, em *e, const cri_rows *first, void **out_state)
{
    cr_status st = CR_OK;
    starts    s = { .restarts = e->restarts };
    source    from = { .first = first, .own_bar = cri_progress_open_steps(cx, "EM") };
    if (search_of(e)) {
        CR_TRY(choose(cx, e, &from, out_state));
    } else {
        CR_TRY(make_starts(cx, e, &from, e->restarts, &s));
        *out_state = s.best;
        s.best = NULL;
    }
done:
    if (from.own_bar) cri_progress_close(cx);
    free_starts(cx, e, &s);
    return st;
}

typedef struct start_of {
    em    *e;
    void **state;
    bool   done;
} start_of;

/* Of all leaves the first is what the starts are made of. */
static cr_status run_on_first(cr_ctx *cx, void *arg, const cri_rows *leaf)
{
    start_of *w = arg;
    if (w->done) return CR_OK;
    w->done = true;
    return run(cx, w->e, leaf, w->state);
}

cr_status cri_em_fit(cr_ctx *cx, cr_model *m, const cri_rows *rows)
{
    double    left = cri_time_left(cx);
    em        e = { .model = m,
                    .rows = rows,
                    .tol = *(const double *)option(m, "tol"),
                    .max_iter = *(const size_t *)option(m, "max_iter"),
                    .restarts = *(const size_t *)option(m, "restarts"),
                    .reserve = isinf(left) ? 0 : fmin(left / 4, 2) };
    start_of  w = { &e, &m->state, false };
    cr_status st =
        rows->sequences ? run(cx, &e, rows, &m->state) : cri_each_leaf(cx, rows, run_on_first, &w);
    if (st != CR_OK) return st;
    const cri_em_outcome *o = outcome_of(m, m->state);
    m->report.iterations = o->iterations;
    m->report.stop = o->converged ? CR_STOP_TOLERANCE : e.cut ? CR_STOP_TIME : CR_STOP_LIMIT;
    m->report.log_likelihood =
        o->objective - (search_of(&e) ? search_of(&e)->log_prior(m->state) : 0);
    if (search_of(&e) && search_of(&e)->report) search_of(&e)->report(m->state, &m->report);
    if (e.cut)
        cr_log(cx, CR_LOG_WARNING,
               "the time limit ended the search after %zu of %zu starts: this is the best so far",
               o->restarts, e.restarts);
    return CR_OK;
}
