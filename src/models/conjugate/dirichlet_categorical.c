/* dirichlet_categorical.c -- which one: the probabilities of the levels of a category.
 *   x | p ~ Categorical(p),   p ~ Dirichlet(alpha):   p | x ~ Dirichlet(alpha + counts)
 *   log p(x_1 .. x_n) = log Gamma(A) / Gamma(A + n) + sum_k log Gamma(alpha_k + n_k) / Gamma(alpha_k)
 *   P(next = k) = (alpha_k + n_k) / (A + n),   A = sum alpha.
 * alpha = 1 is Laplace's rule, add one to every count.  A column is a category, true or false, or
 * whole numbers, whose different values are the levels.  Several columns are independent.
 * Gelman et al. (2013), BDA, sec. 3.4; Murphy (2012), sec. 3.4. */
#include "univariate.h"
#include "../../base/context_internal.h"
#include "../../base/number.h"
#include "../../base/parallel.h"
#include "../../data/table_internal.h"
#include "../../math/special.h"
#include "../fields.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
#define DIRICHLET_CATEGORICAL_OPTIONS(X)                                                             \
    CRI_CONJUGATE_OPTIONS(X, "uniform",                                                              \
      "prior of the probabilities: uniform, jeffreys, perks, haldane, alpha=A for each level, or "   \
      "LEVEL=A for some", "alpha=0.5")
/* clang-format on */
CR_OPTIONS_STRUCT(dirichlet_categorical_options, DIRICHLET_CATEGORICAL_OPTIONS);
#define ROW(...) CR_OPTION_ROW(dirichlet_categorical_options, __VA_ARGS__)
static const cr_option dirichlet_categorical_table[] = {
    DIRICHLET_CATEGORICAL_OPTIONS(ROW) CR_OPTION_LAST
};
#undef ROW

static const char MODEL[] = "dirichlet-categorical";
enum { BLOCK = 256, MOST_VALUES = 1000 };

typedef struct dirichlet {
    size_t  n, total; /* columns; levels of all of them                               */
    double  level;
    double *sizes;  /* [n] levels of each column                                      */
    double *values; /* [total] the value of each level: its code, or its number, rising */
    double *prior;  /* [total] */
    double *counts; /* [total] */
} dirichlet;

static const cri_field fields[] = {
    CRI_FIELD_COUNT(dirichlet, n),
    CRI_FIELD_COUNT(dirichlet, total),
    CRI_FIELD_REAL(dirichlet, level),
    CRI_FIELD_VECTOR(dirichlet, sizes, n),
    CRI_FIELD_VECTOR(dirichlet, values, total),
    CRI_FIELD_VECTOR(dirichlet, prior, total),
    CRI_FIELD_VECTOR(dirichlet, counts, total),
    CRI_FIELD_LAST,
};

static void dirichlet_free(cr_ctx *cx, void *state)
{
    cri_fields_free(cx, fields, state);
    cr_free(cx, state, 1, sizeof(dirichlet));
}

/* Where the levels of column j begin. */
static size_t start_of(const dirichlet *m, size_t j)
{
    size_t start = 0;
    for (size_t i = 0; i < j; i++) start += (size_t)m->sizes[i];
    return start;
}

/* The level of a value among K rising ones; K when there is none. */
static size_t find_value(const double *values, size_t K, double x)
{
    size_t low = 0, high = K;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (values[middle] < x) low = middle + 1;
        else high = middle;
    }
    return low < K && values[low] == x ? low : K;
}

/* --- the levels -------------------------------------------------------------------------------- */

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The different whole numbers of a column, into values [MOST_VALUES]. */
static cr_status find_numbers(cr_ctx *cx, const cri_rows *rows, size_t j, double *values,
                              size_t *out_n)
{
    const cri_design_column *c = &rows->design->columns[j];
    size_t                   n = 0;
    char                     where[512];
    double                   x[BLOCK];
    for (size_t begin = 0; begin < rows->n; begin += BLOCK) {
        size_t end = rows->n - begin < BLOCK ? rows->n : begin + BLOCK;
        cri_rows_fill_term(rows, j, begin, end, x, 1);
        for (size_t i = begin; i < end; i++) {
            double value = x[i - begin];
            if (rows->w && rows->w[i] == 0) continue;
            if (value != floor(value)) {
                cri_table_where(rows->table, rows->index ? rows->index[i] : i, where, sizeof where);
                cr_fail(cx, CR_EDATA, "%s: column '%s' is %g, but %s needs categories or whole numbers",
                        where, c->name, value, MODEL);
                return cr_fail_hint(cx, "--category %s takes its values as texts", c->name);
            }
            if (find_value(values, n, value) < n) continue;
            if (n == MOST_VALUES)
                return cr_fail(cx, CR_EDATA, "column '%s' has more than %d different values: that is "
                                             "a measurement, not a category", c->name, MOST_VALUES);
            values[n++] = value;
            qsort(values, n, sizeof *values, compare_numbers);
        }
    }
    *out_n = n;
    return CR_OK;
}

static cr_status find_levels(cr_ctx *cx, const cri_rows *rows, size_t j, double *values,
                             size_t *out_n)
{
    const cri_design_column *c = &rows->design->columns[j];
    bool                     category = c->type == CR_CATEGORY, truth = c->type == CR_BOOLEAN;
    if (!category && !truth) return find_numbers(cx, rows, j, values, out_n);
    *out_n = truth ? 2 : c->n_levels;
    for (size_t k = 0; values && k < *out_n; k++) values[k] = (double)k;
    return CR_OK;
}

/* A new state that knows the levels; counts and prior are zero. */
static cr_status new_state(cr_ctx *cx, const cri_rows *rows, dirichlet **out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     most = MOST_VALUES;
    dirichlet *m = NULL;
    for (size_t j = 0; j < rows->p; j++)
        if (rows->design->columns[j].n_levels > most) most = rows->design->columns[j].n_levels;
    double *values = cr_scratch_f64(&s, most);

    CR_TRY(s.status);
    m = cr_alloc(cx, 1, sizeof *m);
    if (!m) CR_TRY(CR_ENOMEM);
    for (size_t j = 0; j < rows->p; j++) {
        size_t K;
        CR_TRY(find_levels(cx, rows, j, values, &K));
        m->total += K;
    }
    m->n = rows->p;
    CR_TRY(cri_fields_allocate(cx, fields, m));
    for (size_t j = 0, at = 0; j < m->n; j++) {
        size_t K;
        CR_TRY(find_levels(cx, rows, j, values, &K));
        memcpy(m->values + at, values, K * sizeof *values);
        m->sizes[j] = (double)K;
        at += K;
    }
    *out = m;
    m = NULL;
done:
    if (m) dirichlet_free(cx, m);
    cr_scratch_end(&s);
    return st;
}

/* The text of a level; room [CRI_DOUBLE_SIZE] is for numbers. */
static const char *level_text(const cri_design_column *c, double value, char *room)
{
    if (c->type == CR_CATEGORY) return c->levels[(size_t)value];
    if (c->type == CR_BOOLEAN) return value == 1 ? "true" : "false";
    room[cri_print_double(value, room)] = '\0';
    return room;
}

/* --- counts ------------------------------------------------------------------------------------ */

typedef struct counting {
    const dirichlet *m;
    const cri_rows  *rows;
} counting;

static void count_block(void *arg, cri_range r, double *acc)
{
    const counting *a = arg;
    double          x[BLOCK];
    size_t          start = 0;
    for (size_t j = 0; j < a->m->n; j++) {
        size_t K = (size_t)a->m->sizes[j];
        cri_rows_fill_term(a->rows, j, r.begin, r.end, x, 1);
        for (size_t i = r.begin; i < r.end; i++) {
            double w = a->rows->w ? a->rows->w[i] : 1;
            size_t k = find_value(a->m->values + start, K, x[i - r.begin]);
            if (w > 0) acc[k < K ? start + k : a->m->total] += w;
        }
        start += K;
    }
}

/* Adds the rows to m->counts.  CR_EDATA at a number that is not among the levels. */
static cr_status count_rows(cr_ctx *cx, const cri_rows *rows, dirichlet *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *more = cr_scratch_f64(&s, m->total + 1); /* the last one counts the strangers */
    counting   a = { m, rows };
    CR_TRY(s.status);
    CR_TRY(cri_parallel_sum(cx, "counting", rows->n, BLOCK, m->total + 1, count_block, &a, more));
    if (more[m->total] > 0) {
        cr_fail(cx, CR_EDATA, "%s: there is a number that the model has not seen",
                cr_table_source(rows->table));
        CR_TRY(cr_fail_hint(cx, "fit it again on all the rows"));
    }
    for (size_t i = 0; i < m->total; i++) m->counts[i] += more[i];
done:
    cr_scratch_end(&s);
    return st;
}

/* --- prior ------------------------------------------------------------------------------------- */

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
                            dirichlet *m)
{
    cr_status st = CR_OK;
    for (size_t i = 0; i < p->n; i++) {
        CR_TRY(cri_prior_above(cx, p->items[i].key, p->items[i].value, 0));
        used[i] = strcmp(p->items[i].key, "alpha") == 0;
    }
    for (size_t j = 0, at = 0; j < m->n; j++)
        for (size_t k = 0, K = (size_t)m->sizes[j]; k < K; k++, at++) {
            char        room[CRI_DOUBLE_SIZE];
            const char *text = level_text(&d->columns[j], m->values[at], room);
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

static bool prior_is_proper(const dirichlet *m)
{
    for (size_t i = 0; i < m->total; i++)
        if (!(m->prior[i] > 0)) return false;
    return true;
}

/* --- posterior and evidence -------------------------------------------------------------------- */

/* A of column j: the sum of prior, or prior and counts. */
static double sum_of(const double *a, const double *opt_b, size_t K)
{
    double sum = 0;
    for (size_t k = 0; k < K; k++) sum += a[k] + (opt_b ? opt_b[k] : 0);
    return sum;
}

static double log_evidence(const dirichlet *m, size_t start, size_t K)
{
    double n = 0, sum = 0;
    for (size_t i = start; i < start + K; i++) {
        if (!(m->prior[i] > 0)) return NAN;
        sum += cr_lgamma_diff(m->prior[i], m->counts[i]);
        n += m->counts[i];
    }
    return sum - cr_lgamma_diff(sum_of(m->prior + start, NULL, K), n);
}

static cr_status finish(cr_ctx *cx, const cr_design *d, const dirichlet *m, cr_report *report)
{
    report->stop = CR_STOP_CLOSED_FORM;
    report->evidence = CR_EVIDENCE_EXACT;
    report->log_evidence = 0;
    for (size_t j = 0, start = 0; j < m->n; start += (size_t)m->sizes[j++]) {
        size_t K = (size_t)m->sizes[j];
        report->log_evidence += log_evidence(m, start, K);
        for (size_t i = start; i < start + K; i++)
            if (!(m->prior[i] + m->counts[i] > 0)) {
                cr_fail(cx, CR_EDATA, "column '%s' leaves the posterior improper: under this prior "
                                      "every level must occur", d->columns[j].name);
                return cr_fail_hint(cx, "--prior jeffreys, or uniform, is proper");
            }
    }
    return CR_OK;
}

static cr_status dirichlet_categorical_fit(cr_ctx *cx, const cri_rows *rows, const void *options,
                                           uint64_t seed, void **out_state, cr_report *report)
{
    cr_status                            st = CR_OK;
    cr_scratch                           s = cr_scratch_begin(cx);
    const dirichlet_categorical_options *o = options;
    dirichlet                           *m = NULL;
    cri_prior                            prior;
    (void)seed;

    CR_TRY(cri_conjugate_check(cx, MODEL, rows->design));
    CR_TRY(cri_prior_read(cx, &s, MODEL, o->prior, &prior));
    bool *used = cr_scratch_bytes(&s, prior.n, sizeof *used);
    CR_TRY(s.status);
    CR_TRY(new_state(cx, rows, &m));
    m->level = o->level;
    CR_TRY(fill_prior(cx, &prior, rows->design, used, m));
    CR_TRY(count_rows(cx, rows, m));
    CR_TRY(finish(cx, rows->design, m, report));
    *out_state = m;
    m = NULL;
done:
    if (m) dirichlet_free(cx, m);
    cr_scratch_end(&s);
    return st;
}

static cr_status dirichlet_update(cr_ctx *cx, const void *state, const cri_rows *rows,
                                  const void *options, void **out_state, cr_report *report)
{
    cr_status        st = CR_OK;
    const dirichlet *old = state;
    dirichlet       *m = cr_alloc(cx, 1, sizeof *m);
    (void)options;

    if (!m) return CR_ENOMEM;
    m->n = old->n, m->total = old->total, m->level = old->level;
    CR_TRY(cri_fields_allocate(cx, fields, m));
    memcpy(m->sizes, old->sizes, m->n * sizeof(double));
    memcpy(m->values, old->values, m->total * sizeof(double));
    memcpy(m->prior, old->prior, m->total * sizeof(double));
    memcpy(m->counts, old->counts, m->total * sizeof(double));
    CR_TRY(count_rows(cx, rows, m));
    CR_TRY(finish(cx, rows->design, m, report));
    *out_state = m;
    m = NULL;
done:
    if (m) dirichlet_free(cx, m);
    return st;
}

/* --- answers ----------------------------------------------------------------------------------- */

typedef struct scoring {
    const dirichlet *m;
    const cri_rows  *rows;
    double          *out;
} scoring;

static void score_block(void *arg, size_t b)
{
    const scoring *a = arg;
    cri_range      r = cri_block_range(a->rows->n, BLOCK, b);
    double         x[BLOCK];
    for (size_t i = r.begin; i < r.end; i++) a->out[i] = 0;
    for (size_t j = 0, start = 0; j < a->m->n; j++) {
        size_t K = (size_t)a->m->sizes[j];
        double sum = sum_of(a->m->prior + start, a->m->counts + start, K);
        cri_rows_fill_term(a->rows, j, r.begin, r.end, x, 1);
        for (size_t i = r.begin; i < r.end; i++) {
            size_t k = find_value(a->m->values + start, K, x[i - r.begin]);
            a->out[i] += k == K ? -INFINITY
                                : log((a->m->prior[start + k] + a->m->counts[start + k]) / sum);
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

/* One draw of p by gammas in logarithms, then one of x given p. */
static double draw_column(const dirichlet *m, size_t start, size_t K, double *p, cr_rng *r)
{
    for (size_t k = 0; k < K; k++) p[k] = cr_rng_log_gamma(r, m->prior[start + k] + m->counts[start + k]);
    cr_softmax(p, K, p);
    return m->values[start + cr_rng_categorical(r, p, K)];
}

static cr_status dirichlet_sample(cr_ctx *cx, const void *state, const cr_design *design,
                                  const cri_rows *opt_rows, size_t count, uint64_t seed,
                                  double *out)
{
    cr_status        st = CR_OK;
    cr_scratch       s = cr_scratch_begin(cx);
    const dirichlet *m = state;
    double          *p = cr_scratch_f64(&s, m->total);
    (void)design, (void)opt_rows;
    CR_TRY(s.status);
    for (size_t i = 0; i < count; i++) {
        cr_rng r = cr_rng_stream(seed, i);
        if (i % 4096 == 0) CR_TRY(cr_check_interrupt(cx));
        for (size_t j = 0, start = 0; j < m->n; start += (size_t)m->sizes[j++])
            out[i * m->n + j] = draw_column(m, start, (size_t)m->sizes[j], p, &r);
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* --- description ------------------------------------------------------------------------------- */

/* {"family": name, key: [a_k + b_k, each divided by sum]}: a new reference. */
static json_t *vector_json(const char *name, const char *key, const double *a, const double *b,
                           size_t K, double sum)
{
    json_t *object = json_object(), *list = json_array();
    int     failed = 0;
    for (size_t k = 0; k < K; k++)
        failed |= json_array_append_new(list, cri_number_or_null((a[k] + (b ? b[k] : 0)) / sum));
    if (name) failed |= json_object_set_new(object, "family", json_string(name));
    failed |= json_object_set_new(object, key, list);
    if (!failed) return object;
    json_decref(object);
    return NULL;
}

/* Each probability alone is Beta(alpha_k, A - alpha_k); with one level it is 1. */
static cr_status describe_level(cr_ctx *cx, const dirichlet *m, const cri_design_column *c, size_t i,
                                double sum, json_t *list)
{
    cr_status   st = CR_OK;
    char        room[CRI_DOUBLE_SIZE];
    double      a = m->prior[i] + m->counts[i];
    cri_named   beta = { "beta", 2, { "a", "b" }, { a, sum - a } };
    cri_summary one = { 1, 0, 1, 1, 1, 1, 1 };
    char       *name = cri_string_format(cx, "%s=%s", c->name, level_text(c, m->values[i], room));
    if (!name) return CR_ENOMEM;
    if (sum - a > 0) CR_TRY(cri_summarise(cx, &beta, m->level, &one));
    CR_TRY(cri_add_summary(cx, list, name, cri_named_json(&beta), &one));
done:
    cri_string_free(cx, name);
    return st;
}

static cr_status describe_column(cr_ctx *cx, const dirichlet *m, const cri_design_column *c,
                                 size_t start, size_t K, json_t *parameters, json_t *distributions)
{
    cr_status     st = CR_OK;
    const double *prior = m->prior + start, *counts = m->counts + start;
    double        n = sum_of(counts, NULL, K), sum = sum_of(prior, counts, K);
    for (size_t k = 0; k < K; k++)
        CR_TRY(describe_level(cx, m, c, start + k, sum, parameters));
    CR_TRY(cri_add_distribution(cx, distributions, c->name, n, log_evidence(m, start, K),
                                vector_json("dirichlet", "alpha", prior, counts, K, 1),
                                vector_json("categorical", "p", prior, counts, K, sum),
                                vector_json(NULL, "counts", counts, NULL, K, 1)));
done:
    return st;
}

/* "dirichlet(alpha=0.5)" where all are alike. */
static const char *prior_text(const dirichlet *m, char *out, size_t size)
{
    cri_named d = { "dirichlet", 1, { "alpha" }, { m->prior[0] } };
    for (size_t i = 1; i < m->total; i++)
        if (m->prior[i] != m->prior[0]) return "dirichlet, different from level to level";
    return cri_named_text(&d, out, size);
}

static cr_status dirichlet_describe(cr_ctx *cx, const void *state, const cr_design *design,
                                    json_t *out)
{
    cr_status        st = CR_OK;
    const dirichlet *m = state;
    json_t          *parameters, *distributions;
    char             text[128];
    CR_TRY(cri_add_prior(cx, out, prior_text(m, text, sizeof text), prior_is_proper(m), NULL,
                         m->level));
    CR_TRY(cri_store_set(cx, out, "parameters", parameters = json_array()));
    CR_TRY(cri_store_set(cx, out, "distributions", distributions = json_array()));
    for (size_t j = 0, start = 0; j < m->n; start += (size_t)m->sizes[j++])
        CR_TRY(describe_column(cx, m, &design->columns[j], start, (size_t)m->sizes[j], parameters,
                               distributions));
done:
    return st;
}

/* --- file -------------------------------------------------------------------------------------- */

static cr_status dirichlet_write(cr_ctx *cx, const void *state, cri_store *store, json_t *out)
{
    return cri_fields_write(cx, fields, state, store, out);
}

/* Sizes that fit the totals and the levels of the design. */
static bool fits(const dirichlet *m, const cr_design *d)
{
    if (m->n != d->p || m->n != d->n_columns || !(m->level > 0 && m->level < 1)) return false;
    double sum = 0;
    for (size_t j = 0; j < m->n; j++) {
        const cri_design_column *c = &d->columns[j];
        double                   K = m->sizes[j];
        if (!(K >= 1 && K == floor(K) && K <= (double)m->total)) return false;
        if (c->type == CR_CATEGORY && K != (double)c->n_levels) return false;
        sum += K;
    }
    if (sum != (double)m->total) return false;
    for (size_t j = 0; j < m->n; j++)
        for (size_t k = 0, start = start_of(m, j); k < (size_t)m->sizes[j]; k++) {
            double value = m->values[start + k];
            bool   category = d->columns[j].type == CR_CATEGORY;
            if (category ? value != (double)k : k > 0 && !(value > m->values[start + k - 1]))
                return false;
            if (!(m->prior[start + k] + m->counts[start + k] > 0)) return false;
        }
    return true;
}

static cr_status dirichlet_read(cr_ctx *cx, const cri_store *store, const json_t *in,
                                const cr_design *design, void **out_state)
{
    cr_status  st = CR_OK;
    dirichlet *m = cr_alloc(cx, 1, sizeof *m);
    if (!m) return CR_ENOMEM;
    CR_TRY(cri_fields_read(cx, fields, store, in, m));
    if (!fits(m, design))
        CR_TRY(cr_fail(cx, CR_EDATA, "%s: the state of %s does not fit its design",
                       cri_store_source(store), MODEL));
    *out_state = m;
    m = NULL;
done:
    if (m) dirichlet_free(cx, m);
    return st;
}

const cr_model_class cri_class_dirichlet_categorical = {
    .name = "dirichlet-categorical",
    .summary = "the probabilities of the levels of categories, with a Dirichlet posterior",
    .formulas = "x | p ~ Categorical(p),  p ~ Dirichlet(alpha):  p | x ~ Dirichlet(alpha + counts)\n"
                "next: P(level k) = (alpha_k + n_k) / (A + n),  A = sum alpha",
    .reference = "Gelman et al. (2013), Bayesian Data Analysis, 3rd ed., sec. 3.4",
    .example = "examples/aspirin.csv --features arm,attack --weights people",
    .tasks = CR_TASK_DENSITY,
    .options = dirichlet_categorical_table,
    .options_size = sizeof(dirichlet_categorical_options),
    .default_scale = CR_SCALE_NONE,
    .scales_itself = true,
    .coding = CRI_CODING_CODE,
    .fit = dirichlet_categorical_fit,
    .update = dirichlet_update,
    .predict = dirichlet_predict,
    .sample = dirichlet_sample,
    .describe = dirichlet_describe,
    .write = dirichlet_write,
    .read = dirichlet_read,
    .free = dirichlet_free,
};
