/* em.c -- EM: passes over the rows, steps, starts. */
#include "em.h"
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

/* A node has the statistics of the class and, behind them, the weight of the rows. */
typedef struct pass {
    const cr_model *model;
    const void     *state;
    size_t          width; /* of a node */
    cri_forest      forest;
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
    w->p->model->class->em->gather(w->p->state, w->rows, range, acc, work);
    for (size_t i = range.begin; i < range.end; i++)
        acc[w->p->width - 1] += w->rows->w ? w->rows->w[i] : 1;
}

static cr_status gather_leaf(cr_ctx *cx, void *arg, const cri_rows *rows)
{
    enum { BLOCK = 256 };
    pass     *p = arg;
    leaf_work w = { p, rows };
    double   *node = cr_alloc(cx, p->width, sizeof *node);
    cr_status st =
        node ? cri_parallel_sum_in(cx, NULL, rows->n, BLOCK, p->width,
                                   p->model->class->em->work(p->state), gather_block, &w, node)
             : CR_ENOMEM;
    if (st == CR_OK) return cri_forest_push(cx, &vectors, p, &p->forest, node, 0);
    free_node(cx, p, node);
    return st;
}

static cr_status gather_rows(cr_ctx *cx, void *arg, const cri_rows *rows)
{
    return cri_each_leaf(cx, rows, gather_leaf, arg);
}

/* sums [width of the class + 1] = the statistics of all rows under the state. */
static cr_status gather(cr_ctx *cx, const cr_model *m, const void *state, const cri_rows *rows,
                        double *sums)
{
    cr_status st = CR_OK;
    pass      p = { .model = m, .state = state, .width = m->class->em->width(state) + 1 };
    void     *sum = NULL;
    CR_TRY(rows->passes ? cri_passes_each(cx, rows->passes, gather_rows, &p)
                        : gather_rows(cx, &p, rows));
    CR_TRY(cri_forest_fold(cx, &vectors, &p, &p.forest, &sum));
    memcpy(sums, sum, p.width * sizeof *sums);
done:
    cri_forest_free(cx, &vectors, &p, &p.forest);
    free_node(cx, &p, sum);
    return st;
}

/* --- steps ------------------------------------------------------------------------------------ */

typedef struct em {
    const cr_model *model;
    const cri_rows *rows;
    double          tol;
    size_t          max_iter, restarts;
    double          reserve; /* seconds before the time limit at which it ends */
    bool            cut;     /* it did */
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

/* One pass at `state`: sums, and the objective at the end of the trace. */
static cr_status look(cr_ctx *cx, em *e, void *state, double *sums, cri_em_outcome *o)
{
    cr_status st = gather(cx, e->model, state, e->rows, sums);
    double   *trace;
    if (st != CR_OK) return st;
    if (!isfinite(sums[0]))
        return cr_fail(cx, CR_ENUMERIC, "%s: the likelihood is not finite after %zu steps",
                       e->model->class->name, o->iterations);
    trace = cr_resize(cx, o->trace, o->iterations, o->iterations + 1, sizeof *trace);
    if (!trace) return CR_ENOMEM;
    o->trace = trace;
    trace[o->iterations++] = o->objective = sums[0];
    return CR_OK;
}

/* Steps from the state until they gain no more; the objective is that of the state it ends with. */
static cr_status ascend(cr_ctx *cx, em *e, void *state, double *out_weight)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    cri_em_outcome *o = outcome_of(e->model, state);
    size_t          width = e->model->class->em->width(state);
    double         *sums = cr_scratch_f64(&s, width + 1);

    CR_TRY(s.status);
    for (;;) {
        double before = o->objective;
        CR_TRY(look(cx, e, state, sums, o));
        cri_progress_steps(cx, (double)o->iterations);
        *out_weight = sums[width];
        o->converged = o->iterations > 1 && o->objective - before <= e->tol * sums[width];
        e->cut = !o->converged && time_is_up(e, cx);
        if (o->converged || e->cut || o->iterations == e->max_iter) break;
        CR_TRY(e->model->class->em->solve(cx, e->model->options, sums, state));
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* --- starts ----------------------------------------------------------------------------------- */

static cr_status run(cr_ctx *cx, em *e, const cri_rows *first, void **out_state)
{
    cr_status             st = CR_OK;
    cr_scratch            s = cr_scratch_begin(cx);
    const cr_model_class *c = e->model->class;
    double               *ends = cr_scratch_f64(&s, e->restarts), weight = 0;
    void                 *best = NULL, *state = NULL;
    size_t                made = 0, agreed = 0;
    bool                  own_bar = cri_progress_open_steps(cx, "EM");

    CR_TRY(s.status);
    while (made < e->restarts && !e->cut && !(made > 0 && time_is_up(e, cx))) {
        cr_rng r = cr_rng_stream(e->model->fit.seed, made);
        CR_TRY(cr_check_interrupt(cx));
        if (own_bar) cri_progress_stage(cx, (double)(made + 1) / (double)e->restarts);
        CR_TRY(c->em->start(cx, first, e->model->options, &r, &state));
        CR_TRY(ascend(cx, e, state, &weight));
        ends[made++] = outcome_of(e->model, state)->objective;
        cr_log(cx, CR_LOG_INFO, "start %zu: %.10g after %zu passes", made, ends[made - 1],
               outcome_of(e->model, state)->iterations);
        bool better = !best || ends[made - 1] > outcome_of(e->model, best)->objective;
        cri_state_free(cx, c, better ? best : state);
        if (better) best = state;
        state = NULL;
    }
    cri_em_outcome *o = outcome_of(e->model, best);
    for (size_t i = 0; i < made; i++)
        agreed += o->objective - ends[i] <= fmax(10 * e->tol, 1e-9) * weight;
    o->restarts = made;
    o->restarts_agreed = agreed;
    *out_state = best;
    best = NULL;
done:
    if (own_bar) cri_progress_close(cx);
    cri_state_free(cx, c, best);
    cri_state_free(cx, c, state);
    cr_scratch_end(&s);
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
    cr_status st = cri_each_leaf(cx, rows, run_on_first, &w);
    if (st != CR_OK) return st;
    const cri_em_outcome *o = outcome_of(m, m->state);
    m->report.iterations = o->iterations;
    m->report.stop = o->converged ? CR_STOP_TOLERANCE : e.cut ? CR_STOP_TIME : CR_STOP_LIMIT;
    m->report.log_likelihood = o->objective;
    if (e.cut || o->restarts < e.restarts)
        cr_log(cx, CR_LOG_WARNING,
               "the time limit ended the search after %zu of %zu starts: this is the best so far",
               o->restarts, e.restarts);
    return CR_OK;
}
