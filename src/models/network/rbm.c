/* rbm.c -- restricted Boltzmann machine: columns of 0 and 1 that depend on each other through hidden units.
 *   p(v, h) = exp(b . v + c . h + h . W v) / Z,     v [p], h [K] of 0 and 1
 *   log p(v) = b . v + sum_k log(1 + exp(c_k + W_k . v)) - log Z,     P(h_k = 1 | v) = 1 / (1 + exp(-c_k - W_k . v))
 * Z by a sum over the smaller layer, O(2^min(p, K) p K), or by annealed importance sampling with a standard error.
 * Columns between 0 and 1 are taken as probabilities.  See rbm.h for the other files.
 * Smolensky (1986); Hinton (2002), Neural Computation 14; Salakhutdinov & Murray (2008), ICML. */
#include "rbm.h"
#include "base/context_internal.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

CR_OPTIONS_TABLE(static, rbm_table, cri_rbm_options, CRI_RBM_OPTIONS);
CRI_RECORD_TABLE(static, rbm_record, cri_rbm, CRI_RBM_STATE);

/* --- life ------------------------------------------------------------------------------------- */

static void rbm_release(cr_ctx *cx, void *state)
{
    cri_coordinates_free(cx, &((cri_rbm *)state)->units);
}

static cr_status rbm_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    cri_rbm *m = state;
    if (m->p != cr_design_terms(design) || m->method == CRI_RBM_AUTO ||
        m->hidden > SIZE_MAX / 4 / m->p || m->size != m->hidden * m->p + m->p + m->hidden)
        return CR_EDATA;
    return cri_units_name(cx, m->hidden, &m->units);
}

/* --- fit -------------------------------------------------------------------------------------- */

static cr_status check_values(cr_ctx *cx, const cri_rows *rows, const double *X)
{
    for (size_t i = 0; i < rows->n; i++)
        for (size_t j = 0; j < rows->p; j++) {
            double x = X[i * rows->p + j];
            if (x >= 0 && x <= 1) continue;
            cr_fail(cx, CR_EDATA,
                    "rbm takes columns of 0 and 1, or of probabilities, but '%s' has %g",
                    cr_design_term_name(rows->design, j), x);
            return cr_fail_hint(cx, "--features '!%s' leaves the column out",
                                cr_design_term_name(rows->design, j));
        }
    return CR_OK;
}

static void find_means(const cri_rbm_data *d, double *mean)
{
    for (size_t j = 0; j < d->p; j++) {
        double sum = 0;
        for (size_t i = 0; i < d->n; i++)
            sum += (d->weight ? d->weight[i] : 1) * d->X[i * d->p + j];
        mean[j] = fmin(fmax(sum / d->total, 0), 1);
    }
}

static cr_status find_log_z(cr_ctx *cx, const cri_rbm_options *o, uint64_t seed, cri_rbm *m)
{
    enum { FEW = 16, MOST = 24 };
    cri_machine machine = cri_machine_of(m->p, m->hidden, m->theta);
    size_t      smaller = cri_machine_smaller(m->p, m->hidden);
    if (o->log_z == CRI_RBM_SUM_EXACT && smaller > MOST) {
        cr_fail(cx, CR_EUNSUPPORTED,
                "--log-z exact sums over a layer of at most %d units, but both have %zu or more",
                MOST, smaller);
        return cr_fail_hint(cx, "--log-z ais");
    }
    m->log_z_sd = 0;
    if (o->log_z == CRI_RBM_SUM_EXACT || (o->log_z == CRI_RBM_SUM_AUTO && smaller <= FEW))
        return cri_machine_sum(cx, &machine, &m->log_z, NULL);
    cr_status st = cri_machine_anneal(cx, &machine, m->mean, o->ais_chains, o->temperatures,
                                      seed + 1, &m->log_z, &m->log_z_sd);
    if (st == CR_OK && m->log_z_sd > 0.5)
        cr_log(cx, CR_LOG_WARNING,
               "log Z is known to within %.2g only, and with it every density: more --temperatures "
               "help",
               m->log_z_sd);
    return st;
}

static cr_status rbm_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                         void **out_state, cr_report *report)
{
    cr_status              st = CR_OK;
    cr_scratch             s = cr_scratch_begin(cx);
    const cri_rbm_options *o = options;
    size_t                 n = rows->n, p = rows->p;
    double                *X = cr_scratch_matrix(&s, n, p), sum;
    cri_rbm_data           d = { .n = n, .p = p, .X = X, .weight = rows->w };
    cri_rbm               *m = cr_alloc(cx, 1, sizeof *m);
    if (!m) CR_TRY(CR_ENOMEM);
    CR_TRY(s.status);
    cri_rows_fill(rows, 0, n, X, p);
    CR_TRY(check_values(cx, rows, X));
    m->p = p, m->hidden = o->hidden, m->l2 = o->l2;
    if (m->hidden > SIZE_MAX / 64 / (p + 1))
        CR_TRY(cr_fail(cx, CR_ENOMEM, "%zu hidden units do not fit into memory", m->hidden));
    m->size = m->hidden * p + p + m->hidden;
    CR_TRY(cri_record_allocate(cx, rbm_record, m));
    for (size_t i = 0; i < n; i++) d.total += rows->w ? rows->w[i] : 1;
    m->rows = d.total;
    find_means(&d, m->mean);
    CR_TRY(cri_rbm_learn(cx, &d, o, seed, m, report));
    CR_TRY(find_log_z(cx, o, seed, m));
    cri_machine machine = cri_machine_of(p, m->hidden, m->theta);
    CR_TRY(cri_machine_values(cx, &machine, &d, &sum));
    m->log_likelihood = report->log_likelihood = sum - d.total * m->log_z;
    CR_TRY(cri_units_name(cx, m->hidden, &m->units));
    *out_state = m;
    m = NULL;
done:
    cri_state_free(cx, &cri_class_rbm, m);
    cr_scratch_end(&s);
    return st;
}

/* --- answers ---------------------------------------------------------------------------------- */

typedef struct scoring {
    const cri_rbm  *m;
    const cri_rows *rows;
    double         *work; /* [blocks x p] */
    cr_prediction  *out;
} scoring;

enum { BLOCK = 64 };

static void score_block(void *arg, size_t b)
{
    const scoring *a = arg;
    cri_machine    m = cri_machine_of(a->m->p, a->m->hidden, a->m->theta);
    cri_range      r = cri_block_range(a->rows->n, BLOCK, b);
    double        *v = a->work + b * m.p;
    for (size_t i = r.begin; i < r.end; i++) {
        cri_rows_fill(a->rows, i, i + 1, v, m.p);
        double value =
            cri_machine_value(&m, v, a->out->vector ? a->out->vector + i * m.hidden : NULL);
        if (a->out->log_density) a->out->log_density[i] = value - a->m->log_z;
    }
}

static cr_status rbm_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                             cr_prediction *out)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(cx);
    const cri_rbm *m = state;
    size_t         blocks = cri_block_count(rows->n, BLOCK);
    scoring        a = { m, rows, cr_scratch_matrix(&s, blocks, m->p), out };
    CR_TRY(s.status);
    CR_TRY(cri_parallel_for(cx, "scoring", blocks, score_block, &a));
done:
    cr_scratch_end(&s);
    return st;
}

static const char *const *rbm_labels(const void *state, size_t *out_n)
{
    const cri_rbm *m = state;
    *out_n = m->units.q;
    return m->units.names;
}

enum { SWEEPS = 1000 };

typedef struct chains {
    const cri_rbm *m;
    uint64_t       seed;
    double        *v, *h; /* [count x p], [count x hidden] */
} chains;

static void run_chain(void *arg, size_t i)
{
    const chains *a = arg;
    cri_machine   m = cri_machine_of(a->m->p, a->m->hidden, a->m->theta);
    double       *v = a->v + i * m.p, *h = a->h + i * m.hidden;
    cr_rng        r = cr_rng_stream(a->seed, i);
    for (size_t j = 0; j < m.p; j++) v[j] = cr_rng_uniform(&r) < a->m->mean[j];
    for (size_t n = 0; n < SWEEPS; n++) {
        cri_machine_value(&m, v, h);
        for (size_t k = 0; k < m.hidden; k++) h[k] = cr_rng_uniform(&r) < h[k];
        for (size_t j = 0; j < m.p; j++) v[j] = m.b[j];
        for (size_t k = 0; k < m.hidden; k++)
            for (size_t j = 0; h[k] > 0 && j < m.p; j++) v[j] += m.W[k * m.p + j];
        for (size_t j = 0; j < m.p; j++) v[j] = cr_rng_uniform(&r) < cri_logistic_of(v[j]);
    }
}

/* Each draw is the end of a Gibbs chain of its own. */
static cr_status rbm_sample(cr_ctx *cx, const void *state, const cr_design *design,
                            const cri_rows *opt_rows, size_t count, uint64_t seed, double *out)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(cx);
    const cri_rbm *m = state;
    chains         a = { m, seed, out, cr_scratch_matrix(&s, count, m->hidden) };
    (void)opt_rows;
    CR_TRY(s.status);
    if (m->p != design->n_read) {
        cr_fail(cx, CR_EUNSUPPORTED,
                "a column of text became several of 0 and 1: draws would have no place");
        CR_TRY(cr_fail_hint(cx, "columns of two levels have one"));
    }
    CR_TRY(cri_parallel_for(cx, "drawing", count, run_chain, &a));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- reports ---------------------------------------------------------------------------------- */

enum { MOST_LISTED = 5000 };

static const cr_field rbm_statistics[] = {
    CR_COUNT("hidden", 0, "hidden units"),
    CR_COUNT("parameters", 0, "weights and biases"),
    CR_TEXT("method", 0, "how it was learned: exact, pcd or cd"),
    CR_NUMBER("log_z", 0, "log of the normalising constant Z"),
    CR_NUMBER("log_z_sd", 0, "its standard error; 0: it was summed up"),
    CR_NUMBER("mean_log_likelihood", 0, "log likelihood per row"),
    CR_COUNT("iterations", 0, "steps of the search"),
    CR_FLAG("converged", 0,
            "whether it ended within the tolerance; of pcd and cd: whether all steps were made"),
    CR_FIELD_LAST,
};

static cr_status rbm_describe(cr_ctx *cx, const void *state, const cr_design *design,
                              cri_sheet *out)
{
    static const char *const methods[] = { "auto", "exact", "pcd", "cd" };
    const cri_rbm           *m = state;
    cri_machine              x = cri_machine_of(m->p, m->hidden, m->theta);
    cri_sheet *list = cri_put_list(out, "parameters"), *s = cri_put_object(out, "statistics");
    bool       all = m->size <= MOST_LISTED;
    for (size_t j = 0; all && j < m->p; j++)
        cri_parameter_add(list, x.b[j], NAN, "b[%s]", cr_design_term_name(design, j));
    for (size_t k = 0; all && k < m->hidden; k++) {
        cri_parameter_add(list, x.c[k], NAN, "c[%s]", m->units.names[k]);
        for (size_t j = 0; j < m->p; j++)
            cri_parameter_add(list, x.W[k * m->p + j], NAN, "W[%s,%s]", m->units.names[k],
                              cr_design_term_name(design, j));
    }
    cri_put_count(s, "hidden", m->hidden);
    cri_put_count(s, "parameters", m->size);
    cri_put_text(s, "method", methods[m->method]);
    cri_put_real(s, "log_z", m->log_z);
    cri_put_real(s, "log_z_sd", m->log_z_sd);
    cri_put_real(s, "mean_log_likelihood", m->log_likelihood / m->rows);
    cri_put_count(s, "iterations", m->iterations);
    cri_put_flag(s, "converged", m->converged);
    if (!all) cr_log(cx, CR_LOG_INFO, "%zu weights and biases are not listed", m->size);
    return CR_OK;
}

static const cri_requirement rbm_requirements[] = {
    { "steps", "method", "auto|pcd|cd", false },    { "epochs", "method", "auto|pcd|cd", false },
    { "batch", "method", "auto|pcd|cd", false },    { "rate", "method", "auto|pcd|cd", false },
    { "restarts", "method", "auto|exact", false },  { "tol", "method", "auto|exact", false },
    { "max_iter", "method", "auto|exact", false },  { "ais_chains", "log_z", "auto|ais", false },
    { "temperatures", "log_z", "auto|ais", false }, CRI_REQUIREMENT_LAST,
};

const cr_model_class cri_class_rbm = {
    .name = "rbm",
    .summary =
        "restricted Boltzmann machine: columns of 0 and 1 through hidden units, which are features",
    .formulas = "p(v, h) = exp(b . v + c . h + h . W v) / Z,   v, h of 0 and 1\n"
                "P(h_k = 1 | v) = 1 / (1 + exp(-c_k - W_k . v))",
    .reference = "Hinton (2002), Neural Computation 14; Tieleman (2008), ICML; Salakhutdinov & "
                 "Murray (2008), ICML",
    .example = "examples/carcinoma.csv --features '!slides' --weights slides --hidden 2",
    .tasks = CR_TASK_TRANSFORM | CR_TASK_DENSITY,
    .options = rbm_table,
    .options_size = sizeof(cri_rbm_options),
    .requirements = rbm_requirements,
    .default_scale = CR_SCALE_NONE,
    .whole = &(const cri_whole_face){ .fit = rbm_fit },
    .rows = &(
        const cri_rows_face){ .predict = rbm_predict, .labels = rbm_labels, .sample = rbm_sample },
    .describe = rbm_describe,
    .statistics = rbm_statistics,
    .state = rbm_record,
    .state_size = sizeof(cri_rbm),
    .ready = rbm_ready,
    .release = rbm_release,
};
