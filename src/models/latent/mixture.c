/* mixture.c -- mixtures of independent columns of mixed kinds: rows in hidden classes, within which columns of numbers,
 * counts, yes-no answers and categories know nothing of each other.
 *   p(x) = sum_c share_c prod_j p(x_j | c),   c = 1 .. k
 * With yes-no columns alone it is a mixture of Bernoulli distributions, with categories latent class analysis, with
 * numbers alone a Gaussian mixture with diagonal covariances.  Parameters maximise the likelihood of the rows, or its
 * product with a weak prior, by EM from several starts; the number of components is given or chosen by BIC.
 * Components are in the order of their shares.  See mixture.h for the other files.
 * Bishop (2006), PRML, sec. 9.3.3; McLachlan & Peel (2000), Finite Mixture Models; Lazarsfeld & Henry (1968), Latent
 * Structure Analysis. */
#include "mixture.h"
#include "em_starts.h"
#include "components.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "math/dense/blas_internal.h"
#include "models/common/column_kinds.h"
#include "prob/dist/counts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

CR_OPTIONS_TABLE(static, mixture_table, cri_mixture_options, CRI_MIXTURE_OPTIONS);

static const cri_requirement mixture_requirements[] = {
    { "prior_rows", "prior", "weak", false },
    { "draws", "e_step", "mc", false },
    CRI_REQUIREMENT_LAST,
};

#define CRI_TYPE cri_mixture
const cri_member cri_mixture_record[] = { CRI_MIXTURE(CRI_RECORD_ROW) CRI_RECORD_END };
#undef CRI_TYPE

static void mixture_release(cr_ctx *cx, void *state)
{
    cri_mixture *m = state;
    cri_cluster_names_free(cx, m->k, &m->text, &m->names);
}

cr_status cri_mixture_name(cr_ctx *cx, cri_mixture *m)
{
    return cri_cluster_names_new(cx, m->k, &m->text, &m->names);
}

/* --- answers --------------------------------------------------------------------------------- */

typedef struct answering {
    const cri_mixture *m;
    const cri_rows    *rows;
    cr_prediction     *out;
} answering;

static void answer_block(void *arg, cri_range range, double *work)
{
    const answering  *a = arg;
    size_t            k = a->m->k, n = range.end - range.begin;
    cri_mixture_block b = cri_mixture_cut(a->m, work);
    cri_mixture_respond(a->m, a->rows, range, false, &b);
    for (size_t i = 0; i < n; i++) {
        a->out->log_density[range.begin + i] = b.log_density[i];
        for (size_t c = 0; c < k; c++) a->out->prob[(range.begin + i) * k + c] = b.r[c * n + i];
    }
}

/* What has no density in a row of new data: a count that is none, a number that is not positive. */
static cr_status check_support(cr_ctx *cx, const cri_mixture *m, const cri_rows *rows)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *x = cr_scratch_f64(&s, rows->n);
    CR_TRY(s.status);
    for (size_t j = 0; j < m->p; j++) {
        cri_mixture_kind kind = cri_mixture_kind_of(m, j);
        if (kind != CRI_MIXTURE_POISSON && kind != CRI_MIXTURE_LOGNORMAL) continue;
        CR_TRY(cr_check_interrupt(cx));
        cri_rows_fill_term(rows, j, 0, rows->n, x, 1);
        for (size_t i = 0; i < rows->n; i++)
            CR_TRY(cri_mixture_check_cell(cx, rows, i, j, kind, x[i]));
    }
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status mixture_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                                 cr_prediction *out)
{
    cr_status st = CR_OK;
    answering a = { state, rows, out };
    CR_TRY(check_support(cx, a.m, rows));
    CR_TRY(cri_blas_reserve(cx));
    CR_TRY(cri_parallel_rows(cx, "scoring", rows->n, CRI_MIXTURE_BLOCK, cri_mixture_work(state),
                             answer_block, &a));
done:
    return st;
}

static const char *const *mixture_labels(const void *state, size_t *out_n)
{
    const cri_mixture *m = state;
    *out_n = m->k;
    return m->names;
}

/* A component by its share, then each column by itself. */
static void draw_row(const cri_mixture *m, cr_rng *r, double *x)
{
    size_t c = cr_rng_categorical(r, m->share, m->k);
    for (size_t j = 0; j < m->p; j++) {
        cri_mixture_kind kind = cri_mixture_kind_of(m, j);
        double           mean = m->mean[c * m->p + j], sd = m->sd[c * m->p + j];
        if (cri_mixture_is_real(kind))
            x[j] = m->centre[j] + m->scale[j] * (mean + sd * cr_rng_normal(r));
        if (kind == CRI_MIXTURE_LOGNORMAL) x[j] = exp(x[j]);
        if (kind == CRI_MIXTURE_BERNOULLI) x[j] = cr_rng_uniform(r) < mean;
        if (kind == CRI_MIXTURE_POISSON) x[j] = cri_draw_poisson(r, mean);
        if (kind == CRI_MIXTURE_CATEGORY)
            x[j] = (double)cr_rng_categorical(r, m->level + c * m->L + m->first[j],
                                              cri_mixture_levels(m, j));
    }
}

static cr_status mixture_sample(cr_ctx *cx, const void *state, const cr_design *design,
                                const cri_rows *opt_rows, size_t count, uint64_t seed, double *out)
{
    const cri_mixture *m = state;
    (void)design, (void)opt_rows;
    for (size_t i = 0; i < count; i++) {
        cr_rng r = cr_rng_stream(seed, i);
        if (i % 1024 == 0 && cr_check_interrupt(cx) != CR_OK) return CR_EINTERRUPTED;
        draw_row(m, &r, out + i * m->p);
    }
    return CR_OK;
}

/* --- description ----------------------------------------------------------------------------- */

static const cr_field mixture_statistics[] = {
    CR_COUNT("components", 0, "components"),
    CR_NUMBER("parameters", 0, "free parameters: shares, and those of each column"),
    CR_NUMBER("bic", 0, "-2 log likelihood + parameters ln n: lower is better"),
    CR_NUMBER("aic", 0, "-2 log likelihood + 2 parameters"),
    CR_NUMBER("icl", 0, "bic - 2 sum of log p(cluster | row): lower is better"),
    CR_COUNT("rejected", 0,
             "starts whose end was spurious: a component on too few rows or hardly varying"),
    CR_NUMBER("best_rejected", CR_FIELD_NULL,
              "the highest objective of these; null where there are none"),
    CR_COUNT("draws", CR_FIELD_SOMETIMES,
             "with --e-step mc: draws of the component of each row, at the last pass"),
    CR_MEASURE("draws_error", "nats", CR_FIELD_SOMETIMES,
               "with --e-step mc: Monte-Carlo standard error of the expected log likelihood of "
               "rows with their components"),
    CR_MEASURE("gain", "nats", CR_FIELD_SOMETIMES,
               "with --e-step mc: what the last step gained, as the draws say"),
    CR_MEASURE("gain_error", "nats", CR_FIELD_SOMETIMES,
               "with --e-step mc: its Monte-Carlo standard error"),
    CRI_EM_FIELDS,
    CR_FIELD_LAST,
};

static const cr_field column_fields[] = {
    CR_TEXT("column", 0, "a column"),
    CR_TEXT("distribution", 0, "of it in a component"),
    CR_FIELD_LAST,
};

static const cr_field mixture_tables[] = {
    CR_INNER(ROWS, "kinds", 0, "which distribution each column has", column_fields),
    CRI_TRIED_NUMBERS,
    CR_FIELD_LAST,
};

static double bic_of(const cri_mixture *m, double log_likelihood, size_t k)
{
    return -2 * log_likelihood + cri_mixture_parameters(m, k) * log(m->weight);
}

static void describe_tables(const cri_mixture *m, const cr_design *design, cri_sheet *out)
{
    static const char *const names[CRI_MIXTURE_KINDS] = { "auto",      "gaussian", "lognormal",
                                                          "bernoulli", "poisson",  "category" };
    cri_sheet               *list = cri_put_list(out, "kinds");
    for (size_t j = 0; j < m->p; j++) {
        cri_sheet *row = cri_put_object(list, NULL);
        cri_put_text(row, "column", cr_design_term_name(design, j));
        cri_put_text(row, "distribution", names[m->kind[j]]);
    }
    list = m->tried > 1 ? cri_put_list(out, "tried") : NULL;
    for (size_t i = 0; i < m->tried && m->tried > 1; i++) {
        cri_sheet *row = cri_put_object(list, NULL);
        size_t     k = (size_t)m->tried_k[i];
        cri_put_count(row, "components", k);
        cri_put_real(row, "parameters", cri_mixture_parameters(m, k));
        cri_put_real(row, "log_likelihood", m->tried_likelihood[i]);
        cri_put_real(row, "bic", bic_of(m, m->tried_likelihood[i], k));
    }
}

static void describe_statistics(const cri_mixture *m, cri_sheet *s)
{
    double p = cri_mixture_parameters(m, m->k), bic = bic_of(m, m->log_likelihood, m->k);
    cri_put_count(s, "components", m->k);
    cri_put_real(s, "parameters", p);
    cri_put_real(s, "bic", bic);
    cri_put_real(s, "aic", -2 * m->log_likelihood + 2 * p);
    cri_put_real(s, "icl", bic - 2 * m->log_certainty);
    cri_put_count(s, "rejected", m->rejected);
    cri_put_real(s, "best_rejected", m->best_rejected);
    if (m->draws) {
        cri_put_count(s, "draws", m->draws);
        cri_put_real(s, "draws_error", m->draws_error);
        cri_put_real(s, "gain", m->gain);
        cri_put_real(s, "gain_error", m->gain_error);
    }
    cri_em_describe(&m->em, s);
}

/* The parameters of column j in component c, in the units of the data. */
static void describe_cell(const cri_mixture *m, const cr_design *design, size_t c, size_t j,
                          cri_sheet *list)
{
    const char *name = cr_design_term_name(design, j);
    size_t      cell = c * m->p + j;
    double      mean = m->mean[cell], error = m->mean_error[cell], scale = m->scale[j];
    const char *of = cri_mixture_kind_of(m, j) == CRI_MIXTURE_LOGNORMAL ? "log" : "";
    switch (cri_mixture_kind_of(m, j)) {
    case CRI_MIXTURE_BERNOULLI:
        cri_parameter_add(list, mean, error, "c%zu.p.%s", c + 1, name);
        break;
    case CRI_MIXTURE_POISSON:
        cri_parameter_add(list, mean, error, "c%zu.rate.%s", c + 1, name);
        break;
    case CRI_MIXTURE_CATEGORY:
        for (size_t l = 0; l < cri_mixture_levels(m, j); l++) {
            size_t at = c * m->L + m->first[j] + l;
            cri_parameter_add(list, m->level[at], m->level_error[at], "c%zu.p.%s=%s", c + 1, name,
                              cr_design_level(design, cri_term_column(design, j), l));
        }
        break;
    default:
        cri_parameter_add(list, m->centre[j] + scale * mean, scale * error, "c%zu.mean%s.%s", c + 1,
                          of, name);
        cri_parameter_add(list, scale * m->sd[cell], scale * m->sd_error[cell], "c%zu.sd%s.%s",
                          c + 1, of, name);
    }
}

static cr_status mixture_describe(cr_ctx *cx, const void *state, const cr_design *design,
                                  cri_sheet *out)
{
    const cri_mixture *m = state;
    cri_sheet         *list = cri_put_list(out, "parameters");
    (void)cx;
    for (size_t c = 0; c < m->k; c++) {
        cri_parameter_add(list, m->share[c], m->share_error[c], "c%zu.share", c + 1);
        for (size_t j = 0; j < m->p; j++) describe_cell(m, design, c, j, list);
    }
    describe_statistics(m, cri_put_object(out, "statistics"));
    describe_tables(m, design, out);
    return CR_OK;
}

/* --- file ------------------------------------------------------------------------------------ */

/* Whether kinds and levels are what the columns of the design give, and the parameters of each column can be. */
static bool fits_design(const cri_mixture *m, const cr_design *d)
{
    size_t L = 0;
    bool   fits = m->p == cr_design_terms(d);
    for (size_t j = 0; fits && j < m->p; j++) {
        cri_mixture_kind kind = cri_mixture_kind_of(m, j);
        fits = (cri_term_levels(d, j) > 0) == (kind == CRI_MIXTURE_CATEGORY) && m->first[j] == L;
        L += cri_term_levels(d, j);
        for (size_t c = 0; fits && c < m->k; c++) {
            double mean = m->mean[c * m->p + j];
            if (cri_mixture_is_linear(kind)) fits = mean > 0;
            if (kind == CRI_MIXTURE_BERNOULLI) fits &= mean < 1;
        }
    }
    for (size_t i = 0; fits && i < m->tried; i++)
        fits = m->tried_k[i] == floor(m->tried_k[i]) && m->tried_k[i] < 1e6;
    fits = fits && m->L == L;
    for (size_t l = 0; fits && l < m->k * L; l++) fits = m->level[l] > 0 && m->level[l] <= 1;
    return fits;
}

static cr_status mixture_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    cri_mixture *m = state;
    cr_status    st = fits_design(m, design) ? CR_OK : CR_EDATA;
    if (st == CR_OK) st = cri_record_allocate(cx, cri_mixture_record, m);
    if (st != CR_OK) return st;
    cri_mixture_place(m);
    cri_mixture_prepare(m);
    return cri_mixture_name(cx, m);
}

const cr_model_class cri_class_mixture = {
    .example = "examples/iris.csv --k 3",
    .name = "mixture",
    .summary = "mixture of columns of all kinds, independent within hidden classes",
    .formulas = "p(x) = sum_c share_c prod_j p(x_j | c),   c = 1 .. k;  a missing x_j has no "
                "factor\n"
                "numbers: normal, log-normal, Poisson, Bernoulli;  categories: a probability per "
                "level\n"
                "EM on the likelihood, times a weak prior that counts for a fraction of a row",
    .reference = "Bishop (2006), sec. 9.3.3; McLachlan & Peel (2000), Finite Mixture Models; "
                 "Lazarsfeld & Henry (1968), Latent Structure Analysis",
    .tasks = CR_TASK_DENSITY | CR_TASK_CLUSTER,
    .options = mixture_table,
    .options_size = sizeof(cri_mixture_options),
    .requirements = mixture_requirements,
    .default_scale = CR_SCALE_NONE,
    .scales_itself = true,
    .takes_missing = true,
    .coding = CRI_CODING_CODE,
    .em = &(const cri_em_face){ .at = offsetof(cri_mixture, em),
                                .width = cri_mixture_width,
                                .work = cri_mixture_work,
                                .gather = cri_mixture_gather,
                                .solve = cri_mixture_solve },
    .search = &cri_mixture_search,
    .rows = &(const cri_rows_face){ .predict = mixture_predict,
                                    .labels = mixture_labels,
                                    .sample = mixture_sample },
    .describe = mixture_describe,
    .statistics = mixture_statistics,
    .tables = mixture_tables,
    .state = cri_mixture_record,
    .state_size = sizeof(cri_mixture),
    .ready = mixture_ready,
    .release = mixture_release,
};
