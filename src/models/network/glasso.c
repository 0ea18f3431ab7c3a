/* glasso.c -- a sparse Gaussian graph: which pairs of columns depend on each other given all others.
 *   t = (x - centre) / scale ~ N(0, T^-1),   no edge between i and j  <=>  T_ij = 0
 *   T = argmin  -log det T + tr(S T) + lambda sum_(i != j) |T_ij|,   S = covariance of t, divisor n
 *   partial correlation of i and j given the others = -T_ij / (T_ii T_jj)^1/2
 * from the moments of the rows, O(n p^2), and for each penalty Newton steps of O(m^3) for the m columns of a connected
 * group (math/optim/graphical_lasso.h).  Friedman, Hastie & Tibshirani (2008), Biostatistics 9. */
#include "glasso.h"
#include "models/common/described.h"
#include "base/scratch.h"
#include "graph/query/methods.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"
#include "math/optim/graphical_lasso.h"
#include "prob/dist/small_matrix.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

CR_OPTIONS_TABLE(static, glasso_table, cri_glasso_options, CRI_GLASSO_OPTIONS);
CRI_RECORD_TABLE(static, glasso_record, cri_glasso, CRI_GLASSO_STATE);

enum {
    BLOCK = 128,
    HALVES = 50,
    HALVES_UP_TO = 200,
    FOLDS = 10,
    FOLDS_UP_TO = 400,
    TRACED_UP_TO = 60,
    MOST_TRACED = 40
};

static const cri_requirement glasso_requirements[] = {
    { "gamma", "choose", "ebic", false },
    { "instability", "choose", "stars", false },
    CRI_REQUIREMENT_LAST,
};

static void glasso_release(cr_ctx *cx, void *state)
{
    cri_glasso *m = state;
    cr_free(cx, m->L, m->p * m->p, sizeof *m->L);
    m->L = NULL;
    cr_gaussian_network_free(cx, m->network);
    m->network = NULL;
}

/* --- what follows from the edges -------------------------------------------------------------- */

/* T [p x p] of the scaled columns. */
void cri_glasso_precision(const cri_glasso *m, double *T)
{
    size_t p = m->p;
    memset(T, 0, p * p * sizeof *T);
    for (size_t i = 0; i < p; i++) T[i * p + i] = m->diagonal[i];
    for (size_t k = 0; k < m->edges; k++)
        T[m->row[k] * p + m->column[k]] = T[m->column[k] * p + m->row[k]] = m->value[k];
}

static cr_status glasso_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    cr_status   st = CR_OK;
    cri_glasso *m = state;
    size_t      p = m->p;
    if (p != cr_design_terms(design) || !cri_folded_fit(&m->folded, p)) return CR_EDATA;
    for (size_t k = 0; k < m->edges; k++)
        if (m->row[k] >= p || m->column[k] >= m->row[k]) return CR_EDATA;
    if (m->tried > 0 && m->chosen >= m->tried) return CR_EDATA;
    for (size_t k = 0; k < m->traced; k++)
        if (m->trace_row[k] >= (double)p || m->trace_column[k] >= (double)p) return CR_EDATA;
    m->L = cr_alloc(cx, p * p, sizeof *m->L);
    if (!m->L) return CR_ENOMEM;
    cri_glasso_precision(m, m->L);
    st = cr_chol(cx, cr_mat_of(m->L, p, p));
    if (st != CR_OK) return st == CR_ENUMERIC ? CR_EDATA : st;
    m->log_constant =
        -0.5 * (double)p * log(2 * M_PI) + 0.5 * cr_chol_logdet(cr_cmat_of(m->L, p, p));
    for (size_t j = 0; j < p; j++) m->log_constant -= log(m->scale[j]);
    return cri_glasso_network(cx, m, design, &m->network);
}

static const void *glasso_network(const void *state)
{
    return ((const cri_glasso *)state)->network;
}

/* --- fit -------------------------------------------------------------------------------------- */

static cr_status glasso_open(cr_ctx *cx, const cri_rows *rows, const void *options,
                             void **out_state)
{
    const cri_glasso_options *o = options;
    cr_status                 st = cri_described_numbers(cx, "glasso", rows->design);
    cri_glasso               *m;
    if (st != CR_OK) return st;
    if (rows->p < 2) {
        cr_fail(cx, CR_EDATA, "glasso needs at least two columns, but there is only %zu feature(s)",
                rows->p);
        return cr_fail_hint(cx, "normal describes a single one");
    }
    m = cr_alloc(cx, 1, sizeof *m);
    if (!m) return CR_ENOMEM;
    m->folded.folds = o->kept_folds != CR_COUNT_UNSET ? o->kept_folds
                      : rows->p <= FOLDS_UP_TO        ? FOLDS
                                                      : 1;
    *out_state = m;
    return CR_OK;
}

static cr_status check_columns(cr_ctx *cx, const cr_design *design, const cri_gram *g)
{
    for (size_t j = 0; j < g->p; j++) {
        if (g->G[j * g->p + j] > 0) continue;
        cr_fail(cx, CR_EDATA, "glasso: column '%s' is constant: it can depend on no other",
                cr_design_term_name(design, j));
        return cr_fail_hint(cx, "leave it out: --features '!%s'", cr_design_term_name(design, j));
    }
    return CR_OK;
}

static cr_status check_folds(cr_ctx *cx, const cri_glasso *m, const cri_glasso_options *o)
{
    bool parts = isnan(o->lambda) && o->choose >= CRI_GLASSO_CV;
    if (m->folded.folds >= 2) return CR_OK;
    if (!parts && (o->stability == CR_COUNT_UNSET || o->stability == 0)) return CR_OK;
    cr_fail(cx, CR_EARG, "glasso: %s needs rows in at least 2 folds, but they are in one",
            parts ? "--choose cv or stars" : "--stability");
    return cr_fail_hint(cx, "--kept-folds 10");
}

/* How much a pair matters to a reader of the path: as its partial correlation where it was chosen, or, less, anywhere. */
static double weight_of(const cri_glasso_path *path, size_t pairs, size_t pair)
{
    double most = 0;
    for (size_t k = 0; k < path->tried; k++)
        most = fmax(most, fabs(path->opt_partial[k * pairs + pair]));
    return fabs(path->opt_partial[path->chosen * pairs + pair]) + 1e-3 * most;
}

/* The pairs of the largest weights, as many as are kept; mark [pairs] is workspace.  Returns how many. */
static size_t mark_traced(const cri_glasso_path *path, size_t pairs, double *mark)
{
    size_t n = 0;
    for (size_t k = 0; k < pairs; k++) mark[k] = weight_of(path, pairs, k);
    for (; n < MOST_TRACED; n++) {
        size_t best = 0;
        for (size_t k = 1; k < pairs; k++)
            if (mark[k] > mark[best]) best = k;
        if (!(mark[best] > 0)) break;
        mark[best] = -1;
    }
    return n;
}

static void keep_trace(const cri_glasso_path *path, const double *mark, cri_glasso *m)
{
    size_t pairs = m->p * (m->p - 1) / 2;
    for (size_t i = 0, pair = 0, n = 0; i < m->p; i++)
        for (size_t j = 0; j < i; j++, pair++) {
            if (mark[pair] >= 0) continue;
            m->trace_row[n] = (double)i, m->trace_column[n] = (double)j;
            for (size_t k = 0; k < m->tried; k++)
                m->trace[k * m->traced + n] = path->opt_partial[k * pairs + pair];
            n++;
        }
}

/* Keeps the scaling, the edges of T, how stable each is, and the path to them. */
static cr_status keep(cr_ctx *cx, const cri_gram *g, const double *T, const double *share,
                      const cri_glasso_path *path, cri_glasso *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     p = m->p, k = 0, pairs = p * (p - 1) / 2;
    bool       traced = path->tried > 0 && path->opt_partial;
    double    *mark = cr_scratch_f64(&s, traced ? pairs : 0);
    CR_TRY(s.status);
    if (traced) m->traced = mark_traced(path, pairs, mark);
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < i; j++) m->edges += T[i * p + j] != 0;
    m->tried = path->tried, m->chosen = path->chosen;
    CR_TRY(cri_record_allocate(cx, glasso_record, m));
    for (size_t i = 0; i < m->tried; i++) {
        m->path_lambda[i] = path->lambda[i], m->path_value[i] = path->value[i];
        m->path_edges[i] = path->edges[i];
    }
    if (m->traced > 0) keep_trace(path, mark, m);
    for (size_t i = 0; i < p; i++) {
        m->centre[i] = g->centre[i], m->scale[i] = g->scale[i];
        m->sd[i] = g->scale[i] * sqrt(g->G[i * p + i]);
        m->diagonal[i] = T[i * p + i];
        for (size_t j = 0; j < i; j++) {
            if (T[i * p + j] == 0) continue;
            m->row[k] = i, m->column[k] = j, m->value[k] = T[i * p + j];
            m->stable[k++] = share ? share[i * p + j] : NAN;
        }
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* The likelihood on the graph of T, and T itself where it is asked for. */
static cr_status refit(cr_ctx *cx, const cri_glasso_task *t, double *T, cri_glasso *m,
                       cri_graphical_lasso_report *r)
{
    cr_status                  st = CR_OK;
    cr_scratch                 s = cr_scratch_begin(cx);
    size_t                     size = t->p * t->p;
    double                    *best = cr_scratch_f64(&s, size);
    bool                       found;
    cri_graphical_lasso_report of;
    CR_TRY(s.status);
    memcpy(best, T, size * sizeof *best);
    m->best_likelihood = NAN;
    CR_TRY(cri_glasso_refit(cx, t, best, &found, &of));
    if (found) CR_TRY(cri_glasso_likelihood(cx, t, best, &m->best_likelihood));
    if (!t->o->refit) goto done;
    if (!found) {
        cr_fail(cx, CR_EDATA,
                "glasso: with %g rows the likelihood has no maximum on a graph of %zu edges among "
                "%zu columns: --refit has nothing to find",
                t->n, r->edges, t->p);
        CR_TRY(cr_fail_hint(cx, "a larger --lambda makes the graph sparser"));
    }
    memcpy(T, best, size * sizeof *T);
    of.edges = r->edges, of.groups = r->groups, of.largest = r->largest;
    *r = of;
done:
    cr_scratch_end(&s);
    return st;
}

static void set_report(const cri_glasso *m, cr_report *report)
{
    report->stop = m->late ? CR_STOP_TIME : m->converged ? CR_STOP_TOLERANCE : CR_STOP_LIMIT;
    report->iterations = m->iterations;
    report->log_likelihood = m->log_likelihood;
}

static void warn_end(cr_ctx *cx, const cri_glasso_path *path)
{
    if (path->tried < 2 || path->late || path->chosen + 1 < path->tried) return;
    cr_log(cx, CR_LOG_WARNING,
           "glasso: the smallest penalty of the path was chosen, %g: a smaller one may be better "
           "(--lambda-min-ratio)",
           path->lambda[path->chosen]);
}

static size_t halves_for(const cri_glasso *m, const cri_glasso_options *o)
{
    if (o->stability != CR_COUNT_UNSET) return o->stability;
    return m->p <= HALVES_UP_TO && m->folded.folds >= 4 && !m->late ? HALVES : 0;
}

static cr_status glasso_solve(cr_ctx *cx, const cr_design *design, const void *options, void *state,
                              cr_report *report)
{
    cr_status                  st = CR_OK;
    cr_scratch                 s = cr_scratch_begin(cx);
    const cri_glasso_options  *o = options;
    cri_glasso                *m = state;
    cri_moments                all = { 0 };
    cri_gram                   g = { 0 };
    cri_graphical_lasso_report r = { 0 };
    size_t                     p = cr_design_terms(design);
    double         *T = cr_scratch_matrix(&s, p, p), *share = cr_scratch_matrix(&s, p, p);
    cri_glasso_path path = { .lambda = cr_scratch_f64(&s, o->path),
                             .value = cr_scratch_f64(&s, o->path),
                             .edges = cr_scratch_f64(&s, o->path) };
    if (p <= TRACED_UP_TO) path.opt_partial = cr_scratch_matrix(&s, o->path, p * (p - 1) / 2);

    CR_TRY(s.status);
    CR_TRY(check_folds(cx, m, o));
    CR_TRY(cri_folded_moments(cx, &m->folded, UINT32_MAX, &all));
    CR_TRY(cri_gram_new(cx, &all, true, design->standardised, &g));
    CR_TRY(check_columns(cx, design, &g));
    for (size_t i = 0; i < p * p; i++) g.G[i] /= g.weight;
    m->p = p, m->n = g.weight, m->chosen_by = o->choose, m->gamma = o->gamma;
    cri_glasso_task task = { o, &m->folded, design->standardised, g.G, p, g.weight, 0 };
    for (size_t j = 0; j < p; j++) task.log_scales += log(g.scale[j]);
    memset(T, 0, p * p * sizeof *T);
    m->lambda = o->lambda;
    if (isnan(o->lambda)) {
        CR_TRY(cri_glasso_choose_penalty(cx, &task, &path, T, &r));
        m->lambda = path.lambda[path.chosen];
        warn_end(cx, &path);
    } else {
        CR_TRY(cri_glasso_at(cx, &task, o->lambda, T, &r));
    }
    m->late = path.late || r.late;
    CR_TRY(refit(cx, &task, T, m, &r));
    size_t halves = halves_for(m, o);
    if (halves > 0) CR_TRY(cri_glasso_stability(cx, &task, m->lambda, halves, share, &m->halves));
    CR_TRY(keep(cx, &g, T, m->halves > 0 ? share : NULL, &path, m));
    CR_TRY(cri_glasso_likelihood(cx, &task, T, &m->log_likelihood));
    m->objective = r.objective, m->gap = r.gap, m->converged = r.converged,
    m->iterations = r.iterations;
    m->groups = r.groups, m->largest = r.largest;
    CR_TRY(glasso_ready(cx, m, design));
    set_report(m, report);
done:
    cri_gram_free(cx, &g);
    cri_moments_free(cx, &all);
    cr_scratch_end(&s);
    return st;
}

/* All but the moments, which the statistics are. */
static void glasso_reopen(cr_ctx *cx, void *state)
{
    cri_glasso *m = state, empty = { 0 };
    glasso_release(cx, m);
    cri_record_move(cx, cri_folded_record, &m->folded, &empty.folded);
    cri_record_free(cx, glasso_record, m);
    *m = empty;
}

/* --- answers ---------------------------------------------------------------------------------- */

typedef struct scoring {
    const cri_glasso *m;
    const cri_rows   *rows;
    double           *workspace; /* [blocks x p] */
    double           *out;
} scoring;

/* log p(x) = log_constant - t . T t / 2, by the edges. */
static void score_block(void *arg, size_t b)
{
    const scoring    *a = arg;
    const cri_glasso *m = a->m;
    cri_range         r = cri_block_range(a->rows->n, BLOCK, b);
    double           *t = a->workspace + b * m->p;
    for (size_t i = r.begin; i < r.end; i++) {
        double square = 0;
        cri_rows_fill(a->rows, i, i + 1, t, m->p);
        for (size_t j = 0; j < m->p; j++) {
            t[j] = (t[j] - m->centre[j]) / m->scale[j];
            square += m->diagonal[j] * t[j] * t[j];
        }
        for (size_t k = 0; k < m->edges; k++)
            square += 2 * m->value[k] * t[m->row[k]] * t[m->column[k]];
        a->out[i] = m->log_constant - square / 2;
    }
}

static cr_status glasso_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                                cr_prediction *out)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    const cri_glasso *m = state;
    size_t            blocks = cri_block_count(rows->n, BLOCK);
    scoring           a = { m, rows, cr_scratch_matrix(&s, blocks, m->p), out->log_density };
    CR_TRY(s.status);
    CR_TRY(cri_parallel_for(cx, "scoring", blocks, score_block, &a));
done:
    cr_scratch_end(&s);
    return st;
}

/* W_jj = |column j of L^-1|^2. */
static cr_status glasso_next(cr_ctx *cx, const void *state, const cr_design *design,
                             cr_prediction *out)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    const cri_glasso *m = state;
    size_t            p = m->p;
    double           *W = cr_scratch_matrix(&s, p, p);
    (void)design;
    CR_TRY(s.status);
    CR_TRY(cr_chol_inverse(cx, cr_cmat_of(m->L, p, p), cr_mat_of(W, p, p)));
    for (size_t j = 0; j < p; j++) {
        out->mean[j] = m->centre[j];
        out->scale[j] = m->scale[j] * sqrt(W[j * p + j]);
        out->dof[j] = INFINITY;
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* x = centre + scale L^-T z. */
static cr_status glasso_sample(cr_ctx *cx, const void *state, const cr_design *design,
                               const cri_rows *opt_rows, size_t count, uint64_t seed, double *out)
{
    cr_status         st = CR_OK;
    const cri_glasso *m = state;
    (void)design, (void)opt_rows;
    for (size_t i = 0; i < count; i++) {
        cr_rng  r = cr_rng_stream(seed, i);
        double *x = out + i * m->p;
        if (i % 256 == 0) CR_TRY(cr_check_interrupt(cx));
        for (size_t j = 0; j < m->p; j++) x[j] = cr_rng_normal(&r);
        cri_solve_upper(m->L, m->p, x);
        for (size_t j = 0; j < m->p; j++) x[j] = m->centre[j] + m->scale[j] * x[j];
    }
done:
    return st;
}

/* --- the choice ------------------------------------------------------------------------------- */

static const char *const criteria[] = { "EBIC", "BIC", "AIC", "held-out log density",
                                        "instability" };

static void glasso_choice(const void *state, cri_choice *out)
{
    const cri_glasso *m = state;
    *out = (cri_choice){ .n = m->tried,
                         .by = criteria[m->chosen_by],
                         .of = "edges",
                         .lower = m->chosen_by != CRI_GLASSO_CV,
                         .no_value = "the likelihood has no maximum on their graph",
                         .how = "--choose ebic" };
}

static void glasso_candidate(const void *state, size_t i, cri_candidate *out)
{
    const cri_glasso *m = state;
    *out = (cri_candidate){ (size_t)m->path_edges[i], NULL, m->path_value[i], i == m->chosen };
}

/* The path as a function would have it: of pairs. */
static void glasso_path(const void *state, cri_coefficient_path *out)
{
    const cri_glasso *m = state;
    *out = (cri_coefficient_path){ .n_lambdas = m->traced > 0 ? m->tried : 0,
                                   .n_terms = m->traced,
                                   .chosen = m->chosen,
                                   .lambda = m->path_lambda,
                                   .terms = m->trace_row,
                                   .others = m->trace_column,
                                   .coef = m->trace,
                                   .nonzero = m->path_edges };
}

const cr_model_class cri_class_glasso = {
    .name = "glasso",
    .summary = "a sparse Gaussian graph: which columns depend on each other given all others",
    .formulas = "(x - centre) / scale ~ N(0, T^-1),   no edge between i and j  <=>  T_ij = 0\n"
                "T = argmin -log det T + tr(S T) + lambda sum_(i != j) |T_ij|",
    .reference = "Friedman, Hastie & Tibshirani (2008), Biostatistics 9; Foygel & Drton (2010)",
    .example = "examples/diabetes.csv --features '*'",
    .tasks = CR_TASK_DENSITY | CR_TASK_NETWORK,
    .options = glasso_table,
    .options_size = sizeof(cri_glasso_options),
    .requirements = glasso_requirements,
    .default_scale = CR_SCALE_STANDARD,
    .scales_itself = true,
    .sums = &(const cri_sums_face){ .record = cri_folded_record,
                                    .size = sizeof(cri_folded),
                                    .at = offsetof(cri_glasso, folded),
                                    .open = glasso_open,
                                    .gather = cri_folded_gather,
                                    .merge = cri_folded_merge,
                                    .solve = glasso_solve,
                                    .reopen = glasso_reopen },
    .rows = &(const cri_rows_face){ .predict = glasso_predict,
                                    .next = glasso_next,
                                    .sample = glasso_sample },
    .function = &(const cri_function_face){ .path = glasso_path },
    .network =
        &(const cri_network_face){ .methods = &cri_gaussian_methods, .network = glasso_network },
    .choice = &(const cri_choice_face){ .choice = glasso_choice, .candidate = glasso_candidate },
    .describe = cri_glasso_describe,
    .statistics = cri_glasso_statistics,
    .tables = cri_glasso_tables,
    .state = glasso_record,
    .state_size = sizeof(cri_glasso),
    .ready = glasso_ready,
    .release = glasso_release,
};
