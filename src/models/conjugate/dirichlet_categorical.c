/* dirichlet_categorical.c -- which one: the probabilities of the levels of a category.
 *   x | p ~ Categorical(p),   p ~ Dirichlet(alpha):   p | x ~ Dirichlet(alpha + counts)
 *   log p(x_1 .. x_n) = log Gamma(A) / Gamma(A + n) + sum_k log Gamma(alpha_k + n_k) /
 * Gamma(alpha_k) P(next = k) = (alpha_k + n_k) / (A + n),   A = sum alpha. alpha = 1 is Laplace's
 * rule, add one to every count.  A column is a category, true or false, or whole numbers, whose
 * different values are the levels.  Several columns are independent. Gelman et al. (2013), BDA,
 * sec. 3.4; Murphy (2012), sec. 3.4. */
#include "dirichlet.h"
#include "base/number.h"
#include "base/parallel.h"
#include "math/special/special.h"

#include <math.h>
#include <string.h>

/* clang-format off */
#define DIRICHLET_CATEGORICAL_OPTIONS(X)                                                             \
    CRI_CONJUGATE_OPTIONS(X, "uniform",                                                              \
      "prior on the probabilities: uniform, jeffreys, perks, haldane, alpha=A for each level, or "   \
      "LEVEL=A for some", "alpha=0.5")
/* clang-format on */
CR_OPTIONS(dirichlet_categorical_options, dirichlet_categorical_table,
           DIRICHLET_CATEGORICAL_OPTIONS);

enum { BLOCK = 256 };

/* --- prior ----------------------------------------------------------------------------------- */

static const char FORMS[] = "uniform, jeffreys, perks, haldane; alpha=A; LEVEL=A, with alpha=A for "
                            "the other levels";

/* One number for every level: the words, and alpha; true when there is one. */
static bool common_alpha(const cri_prior *p, size_t K, double *out)
{
    if (cri_prior_is(p, "uniform") || cri_prior_is(p, "flat")) return *out = 1, true;
    if (cri_prior_is(p, "jeffreys")) return *out = 0.5, true;
    if (cri_prior_is(p, "perks")) return *out = 1 / (double)K, true;
    if (cri_prior_is(p, "haldane")) return *out = 0, true;
    *out = 1;
    for (size_t i = 0; i < p->n; i++)
        if (strcmp(p->items[i].key, "alpha") == 0) *out = p->items[i].value;
    return p->n > 0;
}

static cr_status fill_prior(cr_ctx *cx, const cri_prior *p, const cr_design *d, bool *used,
                            cri_dirichlet *m)
{
    cr_status st = CR_OK;
    for (size_t i = 0; i < p->n; i++) {
        CR_TRY(cri_prior_above(cx, p->items[i].key, p->items[i].value, 0));
        used[i] = strcmp(p->items[i].key, "alpha") == 0;
    }
    for (size_t j = 0, at = 0; j < m->n; j++)
        for (size_t k = 0, K = m->sizes[j]; k < K; k++, at++) {
            char        buffer[CRI_DOUBLE_SIZE];
            const char *text = cri_dirichlet_level(&d->columns[j], m->values[at], buffer);
            if (!common_alpha(p, K, &m->prior[at])) CR_TRY(cri_prior_refuse(cx, p, FORMS));
            for (size_t i = 0; i < p->n; i++)
                if (strcmp(p->items[i].key, text) == 0)
                    m->prior[at] = p->items[i].value, used[i] = true;
        }
    for (size_t i = 0; i < p->n; i++)
        if (!used[i]) {
            cr_fail(cx, CR_EARG, "--prior: no column has a level '%s'", p->items[i].key);
            CR_TRY(cr_fail_note(cx, "priors: %s", FORMS));
        }
done:
    return st;
}

static bool prior_is_proper(const cri_dirichlet *m)
{
    for (size_t i = 0; i < m->total; i++)
        if (!(m->prior[i] > 0)) return false;
    return true;
}

/* --- posterior and evidence ------------------------------------------------------------------ */

/* A of column j: the sum of prior, or prior and counts. */
static double sum_of(const double *a, const double *opt_b, size_t K)
{
    double sum = 0;
    for (size_t k = 0; k < K; k++) sum += a[k] + (opt_b ? opt_b[k] : 0);
    return sum;
}

static double log_evidence(const cri_dirichlet *m, size_t start, size_t K)
{
    double n = 0, sum = 0;
    for (size_t i = start; i < start + K; i++) {
        if (!(m->prior[i] > 0)) return NAN;
        sum += cr_lgamma_diff(m->prior[i], m->counts[i]);
        n += m->counts[i];
    }
    return sum - cr_lgamma_diff(sum_of(m->prior + start, NULL, K), n);
}

static cr_status dirichlet_solve(cr_ctx *cx, const cr_design *d, const void *options, void *state,
                                 cr_report *report)
{
    const cri_dirichlet *m = state;
    (void)options;
    report->stop = CR_STOP_CLOSED_FORM;
    report->evidence = CR_EVIDENCE_EXACT;
    report->log_evidence = 0;
    for (size_t j = 0, start = 0; j < m->n; start += m->sizes[j++]) {
        size_t K = m->sizes[j];
        report->log_evidence += log_evidence(m, start, K);
        for (size_t i = start; i < start + K; i++)
            if (!(m->prior[i] + m->counts[i] > 0)) {
                cr_fail(cx, CR_EDATA,
                        "column '%s' makes the posterior improper: with this prior every level "
                        "must occur",
                        d->columns[j].name);
                return cr_fail_hint(cx, "use a proper prior: --prior jeffreys or uniform");
            }
    }
    return CR_OK;
}

static cr_status dirichlet_open(cr_ctx *cx, const cri_rows *rows, const void *options,
                                void **out_state)
{
    cr_status                            st = CR_OK;
    cr_scratch                           s = cr_scratch_begin(cx);
    const dirichlet_categorical_options *o = options;
    cri_dirichlet                       *m = NULL;
    cri_prior                            prior;

    CR_TRY(cri_conjugate_check(cx, CRI_DIRICHLET, rows->design));
    CR_TRY(cri_prior_read(cx, &s, CRI_DIRICHLET, o->prior, &prior));
    bool *used = cr_scratch_bytes(&s, prior.n, sizeof *used);
    CR_TRY(s.status);
    CR_TRY(cri_dirichlet_new(cx, rows, &m));
    m->level = o->level;
    CR_TRY(fill_prior(cx, &prior, rows->design, used, m));
    *out_state = m;
    m = NULL;
done:
    cri_state_free(cx, &cri_class_dirichlet_categorical, m);
    cr_scratch_end(&s);
    return st;
}

/* --- answers --------------------------------------------------------------------------------- */

typedef struct scoring {
    const cri_dirichlet *m;
    const cri_rows      *rows;
    double              *out;
} scoring;

static void score_block(void *arg, size_t b)
{
    const scoring *a = arg;
    cri_range      r = cri_block_range(a->rows->n, BLOCK, b);
    double         x[BLOCK];
    for (size_t i = r.begin; i < r.end; i++) a->out[i] = 0;
    for (size_t j = 0, start = 0; j < a->m->n; j++) {
        size_t K = a->m->sizes[j];
        double sum = sum_of(a->m->prior + start, a->m->counts + start, K);
        cri_rows_fill_term(a->rows, j, r.begin, r.end, x, 1);
        for (size_t i = r.begin; i < r.end; i++) {
            size_t k = cri_dirichlet_find(a->m->values + start, K, x[i - r.begin]);
            a->out[i] +=
                k == K ? -INFINITY : log((a->m->prior[start + k] + a->m->counts[start + k]) / sum);
        }
        start += K;
    }
}

static cr_status dirichlet_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                                   cr_prediction *out)
{
    scoring a = { state, rows, out->log_density };
    return cri_parallel_for(cx, "scoring", cri_block_count(rows->n, BLOCK), score_block, &a);
}

static cr_status dirichlet_next_levels(cr_ctx *cx, const void *state, const cr_design *design,
                                       cr_levels *out)
{
    cr_status            st = CR_OK;
    const cri_dirichlet *m = state;
    char                 buffer[CRI_DOUBLE_SIZE];
    CR_TRY(cri_levels_new(cx, m->n, m->total, out));
    for (size_t j = 0, at = 0; j < m->n; j++) {
        size_t end = at + m->sizes[j];
        double sum = sum_of(m->prior + at, m->counts + at, end - at);
        out->column[j] = j;
        out->first[j] = at;
        for (; at < end; at++) {
            out->prob[at] = (m->prior[at] + m->counts[at]) / sum;
            CR_TRY(cri_levels_name(
                cx, out, at, "", cri_dirichlet_level(&design->columns[j], m->values[at], buffer)));
        }
    }
done:
    return st;
}

/* One draw of p by gammas in logarithms, then one of x given p. */
static double draw_column(const cri_dirichlet *m, size_t start, size_t K, double *p, cr_rng *r)
{
    for (size_t k = 0; k < K; k++)
        p[k] = cr_rng_log_gamma(r, m->prior[start + k] + m->counts[start + k]);
    cr_softmax(p, K, p);
    return m->values[start + cr_rng_categorical(r, p, K)];
}

static cr_status dirichlet_sample(cr_ctx *cx, const void *state, const cr_design *design,
                                  const cri_rows *opt_rows, size_t count, uint64_t seed,
                                  double *out)
{
    cr_status            st = CR_OK;
    cr_scratch           s = cr_scratch_begin(cx);
    const cri_dirichlet *m = state;
    double              *p = cr_scratch_f64(&s, m->total);
    (void)design, (void)opt_rows;
    CR_TRY(s.status);
    for (size_t i = 0; i < count; i++) {
        cr_rng r = cr_rng_stream(seed, i);
        if (i % 4096 == 0) CR_TRY(cr_check_interrupt(cx));
        for (size_t j = 0, start = 0; j < m->n; start += m->sizes[j++])
            out[i * m->n + j] = draw_column(m, start, m->sizes[j], p, &r);
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* --- description ----------------------------------------------------------------------------- */

/* Adds {"family": opt_family, key: [a_k + b_k, each divided by sum]}. */
static void put_vector(cri_sheet *s, const char *name, const char *opt_family, const char *key,
                       const double *a, const double *b, size_t K, double sum)
{
    cri_sheet *object = cri_put_object(s, name), *list;
    if (opt_family) cri_put_text(object, "family", opt_family);
    list = cri_put_list(object, key);
    for (size_t k = 0; k < K; k++) cri_put_real(list, NULL, (a[k] + (b ? b[k] : 0)) / sum);
}

/* Each probability alone is Beta(alpha_k, A - alpha_k); with one level it is 1. */
static cr_status describe_level(cr_ctx *cx, const cri_dirichlet *m, const cri_design_column *c,
                                size_t i, double sum, cri_sheet *list)
{
    cr_status   st = CR_OK;
    char        buffer[CRI_DOUBLE_SIZE];
    double      a = m->prior[i] + m->counts[i];
    cri_named   beta = { "beta", 2, { "a", "b" }, { a, sum - a } };
    cri_summary one = { 1, 0, 1, 1, 1, 1, 1 };
    if (sum - a > 0) CR_TRY(cri_summarise(cx, &beta, m->level, &one));
    cri_add_summary(list, &beta, &one, "%s=%s", c->name,
                    cri_dirichlet_level(c, m->values[i], buffer));
done:
    return st;
}

static cr_status describe_column(cr_ctx *cx, const cri_dirichlet *m, const cri_design_column *c,
                                 size_t start, size_t K, cri_sheet *parameters,
                                 cri_sheet *distributions)
{
    cr_status     st = CR_OK;
    const double *prior = m->prior + start, *counts = m->counts + start;
    double        n = sum_of(counts, NULL, K), sum = sum_of(prior, counts, K);
    for (size_t k = 0; k < K; k++) CR_TRY(describe_level(cx, m, c, start + k, sum, parameters));
    cri_sheet *row = cri_add_distribution(distributions, c->name, n, log_evidence(m, start, K));
    put_vector(row, "posterior", "dirichlet", "alpha", prior, counts, K, 1);
    put_vector(row, "predictive", "categorical", "p", prior, counts, K, sum);
    put_vector(row, "statistics", NULL, "counts", counts, NULL, K, 1);
done:
    return st;
}

/* "dirichlet(alpha=0.5)" where all are alike. */
static const char *prior_text(const cri_dirichlet *m, char *out, size_t size)
{
    cri_named d = { "dirichlet", 1, { "alpha" }, { m->prior[0] } };
    for (size_t i = 1; i < m->total; i++)
        if (m->prior[i] != m->prior[0]) return "dirichlet, different from level to level";
    return cri_named_text(&d, out, size);
}

static cr_status dirichlet_describe(cr_ctx *cx, const void *state, const cr_design *design,
                                    cri_sheet *out)
{
    cr_status            st = CR_OK;
    const cri_dirichlet *m = state;
    cri_sheet           *parameters, *distributions;
    char                 text[128];
    cri_add_prior(out, prior_text(m, text, sizeof text), prior_is_proper(m), NULL, m->level);
    parameters = cri_put_list(out, "parameters");
    distributions = cri_put_list(out, "distributions");
    for (size_t j = 0, start = 0; j < m->n; start += m->sizes[j++])
        CR_TRY(describe_column(cx, m, &design->columns[j], start, m->sizes[j], parameters,
                               distributions));
done:
    return st;
}

const cr_model_class cri_class_dirichlet_categorical = {
    .name = "dirichlet-categorical",
    .summary = "the probabilities of the levels of categories, with a Dirichlet posterior",
    .formulas =
        "x | p ~ Categorical(p),  p ~ Dirichlet(alpha):  p | x ~ Dirichlet(alpha + counts)\n"
        "next: P(level k) = (alpha_k + n_k) / (A + n),  A = sum alpha",
    .reference = "Gelman et al. (2013), Bayesian Data Analysis, 3rd ed., sec. 3.4",
    .example = "examples/aspirin.csv --features arm,attack --weights people",
    .tasks = CR_TASK_DENSITY,
    .support = CRI_SUPPORT_LEVELS,
    .options = dirichlet_categorical_table,
    .options_size = sizeof(dirichlet_categorical_options),
    .default_scale = CR_SCALE_NONE,
    .scales_itself = true,
    .coding = CRI_CODING_CODE,
    .sums = &(const cri_sums_face){ .record = cri_dirichlet_sums_record,
                                    .size = sizeof(cri_dirichlet),
                                    .open = dirichlet_open,
                                    .gather = cri_dirichlet_gather,
                                    .merge = cri_dirichlet_merge,
                                    .solve = dirichlet_solve },
    .rows = &(const cri_rows_face){ .predict = dirichlet_predict,
                                    .next_levels = dirichlet_next_levels,
                                    .sample = dirichlet_sample },
    .describe = dirichlet_describe,
    .statistics = cri_prior_statistics,
    .tables = cri_distribution_tables,
    .state = cri_dirichlet_record,
    .state_size = sizeof(cri_dirichlet),
    .ready = cri_dirichlet_ready,
};
