/* gaussian_bn.c -- linear-Gaussian networks learned from rows: each column a regression on its parents.
 *   x_v | parents ~ N(b_v + w_v . x_parents, s_v)
 * Given the arcs, columns are regressions of their own.  Under the prior 1 / s_v, flat in b_v and w_v, what a row shows of
 * v given its parents has a Student distribution with n - k - 1 degrees of freedom, k parents, and scale
 *   sd_v (1 + 1/n + d . C^-1 d / n)^1/2,   d: how far the parents are from their means, C: their covariance, divisor n;
 * densities and draws are made of these, the network of the estimates.  The arcs maximise a score of the moments
 * (graph/learn/gaussian_score.h): O(n p^2) for them, then nothing more of the rows.
 * Geiger & Heckerman (2002), Annals of Statistics 30; Koller & Friedman (2009), sec. 7.2 and 18.3. */
#include "gaussian_bn.h"
#include "base/scratch.h"
#include "graph/query/methods.h"
#include "math/special/special.h"
#include "models/common/described.h"

#include <math.h>
#include <string.h>

CR_OPTIONS_TABLE(static, gaussian_bn_table, cri_gaussian_bn_options, CRI_GAUSSIAN_BN_OPTIONS);
CRI_RECORD_TABLE(static, gaussian_bn_record, cri_gaussian_bn, CRI_GAUSSIAN_BN);

enum { BLOCK = 128 };
static const double LEAST_SHARE = 1e-10; /* of a variance that its parents determine */

static const cri_requirement gaussian_bn_requirements[] = {
    { "prior_rows", "criterion", "bge", false },
    { "alpha", "structure", "pc", false },
    CRI_REQUIREMENT_LAST,
};

/* --- moments as cases ------------------------------------------------------------------------- */

/* The covariance of the scaled columns, which g keeps. */
static cr_status open_cases(cr_ctx *cx, const cri_moments *moments, const cr_design *design,
                            cri_gram *g, cri_gaussian_cases *out)
{
    cr_status st = cri_gram_new(cx, moments, true, design->standardised, g);
    if (st != CR_OK) return st;
    for (size_t i = 0; i < g->p * g->p; i++) g->G[i] /= g->weight;
    *out = (cri_gaussian_cases){ g->p, g->weight, g->G, g->scale };
    return CR_OK;
}

static cr_status check_columns(cr_ctx *cx, const cr_design *design, const cri_gaussian_cases *c)
{
    for (size_t j = 0; j < c->p; j++) {
        if (c->S[j * (c->p + 1)] > 0) continue;
        cr_fail(cx, CR_EDATA, "gaussian-bn: column '%s' is constant: it can depend on no other",
                cr_design_term_name(design, j));
        return cr_fail_hint(cx, "leave it out: --features '!%s'", cr_design_term_name(design, j));
    }
    return CR_OK;
}

static cr_status fail_parents(cr_ctx *cx, const cr_design *design, size_t v, size_t k, double n)
{
    cr_fail(cx, CR_EDATA, "gaussian-bn: '%s' has %zu parent%s, too many for %g rows",
            cr_design_term_name(design, v), k, k == 1 ? "" : "s", n);
    return cr_fail_hint(cx, "--max-parents allows a search fewer");
}

static double freedom(const cri_gaussian_bn *m, size_t v)
{
    return m->n - (double)(m->first[v + 1] - m->first[v]) - 1;
}

/* --- regressions ------------------------------------------------------------------------------ */

/* first [p + 1]: where the arcs to each column begin. */
static void find_first(cri_gaussian_bn *m)
{
    for (size_t v = 0, k = 0; v <= m->p; v++) {
        while (k < m->arcs && m->to[k] < v) k++;
        m->first[v] = k;
    }
}

/* The regression of v: its numbers in m, and the inverse of the covariance of its parents in their own units. */
static cr_status regress(cr_ctx *cx, const cri_gaussian_cases *c, const cr_design *design, size_t v,
                         bool keep, uint32_t *parents, double *work, cri_gaussian_bn *m)
{
    const size_t *from = m->from + m->first[v];
    size_t        k = m->first[v + 1] - m->first[v];
    double       *w = work + (k + 1) * (k + 1) + k, *inverse = m->inverse + m->at[v], share, s2;
    if (!(freedom(m, v) > 0)) return fail_parents(cx, design, v, k, m->n);
    for (size_t i = 0; i < k; i++) parents[i] = (uint32_t)from[i];
    share = cri_gaussian_regress(c, v, parents, k, w, inverse, work);
    if (isnan(share)) {
        cr_fail(cx, CR_EDATA, "gaussian-bn: the parents of '%s' determine each other",
                cr_design_term_name(design, v));
        return cr_fail_hint(cx, "leave out columns that are copies or sums of others");
    }
    s2 = fmax(share, LEAST_SHARE) * c->S[v * (c->p + 1)] * m->n / freedom(m, v);
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++) inverse[i * k + j] /= c->scale[from[i]] * c->scale[from[j]];
    if (!keep) return CR_OK;
    double square = 1, *sd = &m->sd[v]; /* of the intercept: 0 is so far from the means */
    *sd = c->scale[v] * sqrt(s2);
    m->intercept[v] = m->mean[v];
    for (size_t i = 0; i < k; i++) {
        double weight = w[i] * c->scale[v] / c->scale[from[i]];
        m->weight[m->first[v] + i] = weight;
        m->weight_sd[m->first[v] + i] = *sd * sqrt(inverse[i * k + i] / m->n);
        m->intercept[v] -= weight * m->mean[from[i]];
        for (size_t j = 0; j < k; j++)
            square += m->mean[from[i]] * inverse[i * k + j] * m->mean[from[j]];
    }
    m->intercept_sd[v] = *sd * sqrt(square / m->n);
    return CR_OK;
}

static cr_status regress_all(cr_ctx *cx, const cri_gaussian_cases *c, const cr_design *design,
                             bool keep, cri_gaussian_bn *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     p = m->p, most = 0;
    for (size_t v = 0; v < p; v++)
        if (m->first[v + 1] - m->first[v] > most) most = m->first[v + 1] - m->first[v];
    uint32_t *parents = cr_scratch_bytes(&s, most, sizeof *parents);
    double   *work = cr_scratch_f64(&s, (most + 1) * (most + 1) + 2 * most);
    CR_TRY(s.status);
    for (size_t v = 0; v < p; v++) CR_TRY(regress(cx, c, design, v, keep, parents, work, m));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- what follows from arcs and moments ------------------------------------------------------- */

static size_t inverse_size(const cri_gaussian_bn *m)
{
    size_t size = 0;
    for (size_t v = 0; v < m->p; v++) {
        size_t k = m->first[v + 1] - m->first[v];
        size += k * k;
    }
    return size;
}

static void gaussian_bn_release(cr_ctx *cx, void *state)
{
    cri_gaussian_bn *m = state;
    if (m->first && m->inverse) cr_free(cx, m->inverse, inverse_size(m), sizeof *m->inverse);
    cr_free(cx, m->at, m->p, sizeof *m->at);
    cr_free(cx, m->column, m->p, sizeof *m->column);
    cr_free(cx, m->place, m->p, sizeof *m->place);
    cr_free(cx, m->first, m->p + 1, sizeof *m->first);
    cr_free(cx, m->mean, m->p, sizeof *m->mean);
    cr_free(cx, m->drawn, m->arcs, sizeof *m->drawn);
    cr_gaussian_network_free(cx, m->network);
    m->inverse = m->mean = m->drawn = NULL, m->at = m->column = m->place = m->first = NULL;
    m->network = NULL;
}

static cr_status open_workings(cr_ctx *cx, cri_gaussian_bn *m)
{
    m->at = cr_alloc(cx, m->p, sizeof *m->at);
    m->column = cr_alloc(cx, m->p, sizeof *m->column);
    m->place = cr_alloc(cx, m->p, sizeof *m->place);
    m->first = cr_alloc(cx, m->p + 1, sizeof *m->first);
    m->mean = cr_alloc(cx, m->p, sizeof *m->mean);
    if (!m->at || !m->column || !m->place || !m->first || !m->mean) return CR_ENOMEM;
    find_first(m);
    for (size_t v = 0, size = 0; v < m->p; v++) {
        size_t k = m->first[v + 1] - m->first[v];
        m->at[v] = size;
        size += k * k;
    }
    m->inverse = cr_alloc(cx, inverse_size(m), sizeof *m->inverse);
    m->drawn = cr_alloc(cx, m->arcs, sizeof *m->drawn);
    if (m->arcs > 0 && (!m->inverse || !m->drawn)) return CR_ENOMEM;
    memcpy(m->mean, m->moments.mean, m->p * sizeof *m->mean);
    return CR_OK;
}

/* column and place: parents first; false where there is a cycle. */
static bool find_order(cri_gaussian_bn *m)
{
    size_t done = 0;
    for (size_t v = 0; v < m->p; v++) m->place[v] = CR_NONE;
    for (bool more = true; more && done < m->p;) {
        more = false;
        for (size_t v = 0; v < m->p; v++) {
            bool ready = m->place[v] == CR_NONE;
            for (size_t k = m->first[v]; ready && k < m->first[v + 1]; k++)
                ready = m->place[m->from[k]] != CR_NONE;
            if (!ready) continue;
            m->column[done] = v, m->place[v] = done++;
            more = true;
        }
    }
    return done == m->p;
}

static cr_status make_network(cr_ctx *cx, const cr_design *design, cri_gaussian_bn *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t    *parents = cr_scratch_index(&s, m->p);
    CR_TRY(s.status);
    CR_TRY(cr_gaussian_network_new(cx, &m->network));
    for (size_t i = 0, arc = 0; i < m->p; i++) {
        size_t v = m->column[i], n = m->first[v + 1] - m->first[v];
        for (size_t k = 0; k < n; k++) {
            parents[k] = m->place[m->from[m->first[v] + k]];
            m->drawn[arc++] = m->compelled[m->first[v] + k];
        }
        CR_TRY(cr_gaussian_network_add(cx, m->network, cr_design_term_name(design, v), n, parents,
                                       n ? m->weight + m->first[v] : NULL, m->intercept[v],
                                       m->sd[v] * m->sd[v], NULL));
    }
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status gaussian_bn_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    cr_status          st = CR_OK;
    cri_gaussian_bn   *m = state;
    cri_gram           g = { 0 };
    cri_gaussian_cases c;
    if (m->p != cr_design_terms(design) || !cri_moments_fit(&m->moments, m->p)) return CR_EDATA;
    for (size_t k = 0; k < m->arcs; k++)
        if (m->from[k] >= m->p || m->to[k] >= m->p || (k > 0 && m->to[k] < m->to[k - 1]))
            return CR_EDATA;
    CR_TRY(open_workings(cx, m));
    if (!find_order(m)) CR_TRY(CR_EDATA);
    st = open_cases(cx, &m->moments, design, &g, &c);
    if (st == CR_OK) st = regress_all(cx, &c, design, false, m);
    if (st == CR_OK) st = make_network(cx, design, m);
    if (st != CR_OK && st != CR_ENOMEM && st != CR_EINTERRUPTED) st = CR_EDATA;
done:
    cri_gram_free(cx, &g);
    return st;
}

static const void *gaussian_bn_network(const void *state)
{
    return ((const cri_gaussian_bn *)state)->network;
}

static void gaussian_bn_arcs(const void *state, const double **out_strength,
                             const double **out_compelled)
{
    *out_strength = NULL;
    *out_compelled = ((const cri_gaussian_bn *)state)->drawn;
}

/* --- fit -------------------------------------------------------------------------------------- */

static cr_status gaussian_bn_open(cr_ctx *cx, const cri_rows *rows, const void *options,
                                  void **out_state)
{
    cr_status st = cri_described_numbers(cx, "gaussian-bn", rows->design);
    (void)options;
    if (st != CR_OK) return st;
    *out_state = cr_alloc(cx, 1, sizeof(cri_gaussian_bn));
    return *out_state ? CR_OK : CR_ENOMEM;
}

/* The largest log likelihood, and bge, of the graph that was found. */
static cr_status judge(cr_ctx *cx, const cri_gaussian_cases *c, const cri_gaussian_bn_options *o,
                       cri_gaussian_bn *m)
{
    cr_status        st = CR_OK;
    cr_scratch       s = cr_scratch_begin(cx);
    cri_score_source bge;
    void            *work;
    uint32_t        *parents = cr_scratch_bytes(&s, m->p, sizeof *parents);
    CR_TRY(s.status);
    CR_TRY(cri_gaussian_score(&s, c, CRI_GAUSSIAN_BGE, o->prior_rows, &bge));
    CR_TRY(bge.open_work(&s, bge.own, &work));
    m->prior_rows = o->prior_rows;
    for (size_t v = 0; v < m->p; v++) {
        size_t k = m->first[v + 1] - m->first[v];
        for (size_t i = 0; i < k; i++) parents[i] = (uint32_t)m->from[m->first[v] + i];
        double s2 = m->sd[v] * m->sd[v] * freedom(m, v) / m->n; /* divisor n */
        m->log_likelihood -= 0.5 * m->n * (1 + log(2 * M_PI * s2));
        m->bge += bge.score(bge.own, v, parents, k, work);
    }
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status gaussian_bn_solve(cr_ctx *cx, const cr_design *design, const void *options,
                                   void *state, cr_report *report)
{
    cr_status            st = CR_OK;
    cri_gaussian_bn     *m = state;
    cri_gram             g = { 0 };
    cri_gaussian_bn_task task = { options, design, { 0 } };

    CR_TRY(open_cases(cx, &m->moments, design, &g, &task.cases));
    CR_TRY(check_columns(cx, design, &task.cases));
    m->p = task.cases.p, m->n = task.cases.n;
    CR_TRY(cri_gaussian_bn_find(cx, &task, m));
    CR_TRY(cri_record_allocate(cx, gaussian_bn_record, m));
    CR_TRY(open_workings(cx, m));
    if (!find_order(m)) CR_TRY(cr_fail(cx, CR_ENUMERIC, "gaussian-bn: the arcs form a cycle"));
    CR_TRY(regress_all(cx, &task.cases, design, true, m));
    CR_TRY(make_network(cx, design, m));
    CR_TRY(judge(cx, &task.cases, options, m));
    report->stop = m->cut ? CR_STOP_TIME : m->steps > 0 ? CR_STOP_TOLERANCE : CR_STOP_CLOSED_FORM;
    report->iterations = m->steps;
    report->log_likelihood = m->log_likelihood;
done:
    cri_gram_free(cx, &g);
    return st;
}

/* All but the moments, which the statistics are. */
static void gaussian_bn_reopen(cr_ctx *cx, void *state)
{
    cri_gaussian_bn *m = state, empty = { 0 };
    gaussian_bn_release(cx, m);
    cri_record_move(cx, cri_moments_record, &m->moments, &empty.moments);
    cri_record_free(cx, gaussian_bn_record, m);
    *m = empty;
}

/* --- answers ---------------------------------------------------------------------------------- */

/* What x says of column v by its parents: location and scale of a Student distribution. */
static double locate(const cri_gaussian_bn *m, size_t v, const double *x, double *out_scale)
{
    const size_t *from = m->from + m->first[v];
    const double *inverse = m->inverse + m->at[v];
    size_t        k = m->first[v + 1] - m->first[v];
    double        mean = m->intercept[v], square = 0;
    for (size_t i = 0; i < k; i++) {
        double d = x[from[i]] - m->mean[from[i]];
        mean += m->weight[m->first[v] + i] * x[from[i]];
        for (size_t j = 0; j < k; j++)
            square += d * inverse[i * k + j] * (x[from[j]] - m->mean[from[j]]);
    }
    *out_scale = m->sd[v] * sqrt(1 + (1 + square) / m->n);
    return mean;
}

typedef struct scoring {
    const cri_gaussian_bn *m;
    const cri_rows        *rows;
    double                *workspace; /* [blocks x p] */
    double                *out;
} scoring;

static void score_block(void *arg, size_t b)
{
    const scoring         *a = arg;
    const cri_gaussian_bn *m = a->m;
    cri_range              r = cri_block_range(a->rows->n, BLOCK, b);
    double                *x = a->workspace + b * m->p;
    for (size_t i = r.begin; i < r.end; i++) {
        a->out[i] = 0;
        cri_rows_fill(a->rows, i, i + 1, x, m->p);
        for (size_t v = 0; v < m->p; v++) {
            double scale, mean = locate(m, v, x, &scale);
            a->out[i] += cr_student_t_logpdf((x[v] - mean) / scale, freedom(m, v)) - log(scale);
        }
    }
}

static cr_status gaussian_bn_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                                     cr_prediction *out)
{
    cr_status              st = CR_OK;
    cr_scratch             s = cr_scratch_begin(cx);
    const cri_gaussian_bn *m = state;
    size_t                 blocks = cri_block_count(rows->n, BLOCK);
    scoring                a = { m, rows, cr_scratch_matrix(&s, blocks, m->p), out->log_density };
    CR_TRY(s.status);
    CR_TRY(cri_parallel_for(cx, "scoring", blocks, score_block, &a));
done:
    cr_scratch_end(&s);
    return st;
}

/* Parents first; t = z / (chi^2 / degrees)^1/2. */
static cr_status gaussian_bn_sample(cr_ctx *cx, const void *state, const cr_design *design,
                                    const cri_rows *opt_rows, size_t count, uint64_t seed,
                                    double *out)
{
    cr_status              st = CR_OK;
    const cri_gaussian_bn *m = state;
    (void)design, (void)opt_rows;
    for (size_t i = 0; i < count; i++) {
        cr_rng  r = cr_rng_stream(seed, i);
        double *x = out + i * m->p;
        if (i % 1024 == 0) CR_TRY(cr_check_interrupt(cx));
        for (size_t c = 0; c < m->p; c++) {
            size_t v = m->column[c];
            double scale, mean = locate(m, v, x, &scale), free = freedom(m, v);
            double z = cr_rng_normal(&r);
            x[v] = mean + scale * z / sqrt(2 * cr_rng_gamma(&r, free / 2) / free);
        }
    }
done:
    return st;
}

/* Means and sds under the network of the estimates. */
static cr_status gaussian_bn_next(cr_ctx *cx, const void *state, const cr_design *design,
                                  cr_prediction *out)
{
    cr_status              st = CR_OK;
    cr_scratch             s = cr_scratch_begin(cx);
    const cri_gaussian_bn *m = state;
    size_t                 p = m->p;
    double                *mean = cr_scratch_f64(&s, p), *cov = cr_scratch_matrix(&s, p, p);
    (void)design;
    CR_TRY(s.status);
    CR_TRY(cr_gaussian_network_joint(cx, m->network, mean, cr_mat_of(cov, p, p)));
    for (size_t v = 0; v < p; v++) {
        out->mean[v] = mean[m->place[v]];
        out->scale[v] = sqrt(cov[m->place[v] * (p + 1)]);
        out->dof[v] = INFINITY;
    }
done:
    cr_scratch_end(&s);
    return st;
}

const cr_model_class cri_class_gaussian_bn = {
    .name = "gaussian-bn",
    .summary = "Bayesian network of numbers: arcs learned, each column a linear regression on its "
               "parents",
    .formulas = "x_v | parents ~ N(b_v + w_v . x_parents, s_v)\n"
                "arcs: maximise  sum_v score(v, parents of v)  over graphs without cycles",
    .reference = "Geiger & Heckerman (2002), Annals of Statistics 30; Koller & Friedman (2009), "
                 "Probabilistic Graphical Models, sec. 7.2 and 18.3",
    .example = "examples/diabetes.csv",
    .tasks = CR_TASK_DENSITY | CR_TASK_NETWORK,
    .options = gaussian_bn_table,
    .options_size = sizeof(cri_gaussian_bn_options),
    .requirements = gaussian_bn_requirements,
    .default_scale = CR_SCALE_STANDARD,
    .scales_itself = true,
    .sums = &(const cri_sums_face){ .record = cri_moments_record,
                                    .size = sizeof(cri_moments),
                                    .at = offsetof(cri_gaussian_bn, moments),
                                    .open = gaussian_bn_open,
                                    .gather = cri_moments_gather,
                                    .merge = cri_moments_add,
                                    .solve = gaussian_bn_solve,
                                    .reopen = gaussian_bn_reopen },
    .rows = &(const cri_rows_face){ .predict = gaussian_bn_predict,
                                    .next = gaussian_bn_next,
                                    .sample = gaussian_bn_sample },
    .network = &(const cri_network_face){ .methods = &cri_gaussian_methods,
                                          .network = gaussian_bn_network,
                                          .arcs = gaussian_bn_arcs },
    .describe = cri_gaussian_bn_describe,
    .statistics = cri_gaussian_bn_statistics,
    .tables = cri_gaussian_bn_tables,
    .state = gaussian_bn_record,
    .state_size = sizeof(cri_gaussian_bn),
    .ready = gaussian_bn_ready,
    .release = gaussian_bn_release,
};
