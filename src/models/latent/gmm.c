/* gmm.c -- Gaussian mixtures: rows in clusters, each a normal distribution of its own.
 *   p(x) = sum_c share_c N(x; mu_c, S_c),   c = 1 .. k
 * Shares, means and covariances maximise the likelihood of the rows, or its product with a weak prior on means and
 * covariances, by EM from several starts; the number of components is given or chosen by BIC.  Components are in
 * the order of their shares.  See gmm.h for the other files.
 * McLachlan & Peel (2000), Finite Mixture Models; Fraley & Raftery (2002), J. Am. Stat. Assoc. 97. */
#include "gmm.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "math/dense/blas_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

CR_OPTIONS_TABLE(static, gmm_table, cri_gmm_options, CRI_GMM_OPTIONS);

static const cri_requirement gmm_requirements[] = {
    { "alpha", "infer", "vb", false },
    { "prior_rows", "infer", "em", false },
    { "prior_rows", "prior", "niw", false },
    { "least_spread", "infer", "em", false },
    CRI_REQUIREMENT_LAST,
};

#define CRI_TYPE cri_gmm
const cri_member cri_gmm_record[] = { CRI_GMM(CRI_RECORD_ROW) CRI_RECORD_END };
#undef CRI_TYPE

enum { NAME_SIZE = 24, MOST_PAIRS_SHOWN = 20 };

static void gmm_release(cr_ctx *cx, void *state)
{
    cri_gmm *m = state;
    cr_free(cx, m->text, m->k, NAME_SIZE);
    cr_free(cx, m->names, m->k, sizeof *m->names);
    m->text = NULL, m->names = NULL;
}

cr_status cri_gmm_name(cr_ctx *cx, cri_gmm *m)
{
    m->text = cr_alloc(cx, m->k, NAME_SIZE);
    m->names = cr_alloc(cx, m->k, sizeof *m->names);
    if (!m->text || !m->names) return CR_ENOMEM;
    for (size_t c = 0; c < m->k; c++) {
        snprintf(m->text + c * NAME_SIZE, NAME_SIZE, "%zu", c + 1);
        m->names[c] = m->text + c * NAME_SIZE;
    }
    return CR_OK;
}

/* --- answers --------------------------------------------------------------------------------- */

typedef struct answering {
    const cri_gmm  *m;
    const cri_rows *rows;
    cr_prediction  *out;
} answering;

static void answer_block(void *arg, cri_range range, double *work)
{
    const answering *a = arg;
    const cri_gmm   *m = a->m;
    double          *X = work + cri_gmm_work(m);
    cri_rows_fill(a->rows, range.begin, range.end, X, m->d);
    cri_gmm_respond(m, X, range.end - range.begin, a->out->prob + range.begin * m->k,
                    a->out->log_density + range.begin, work);
}

static cr_status gmm_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                             cr_prediction *out)
{
    answering a = { state, rows, out };
    size_t    work = cri_gmm_work(state) + CRI_GMM_BLOCK * a.m->d;
    cr_status st = cri_blas_reserve(cx);
    return st != CR_OK
               ? st
               : cri_parallel_rows(cx, "scoring", rows->n, CRI_GMM_BLOCK, work, answer_block, &a);
}

static const char *const *gmm_labels(const void *state, size_t *out_n)
{
    const cri_gmm *m = state;
    *out_n = m->k;
    return m->names;
}

/* x = centre + scale (mu_c + L_c z), c by its share. */
static void draw_row(const cri_gmm *m, cr_rng *r, double *z, double *x)
{
    size_t        d = m->d, c = cr_rng_categorical(r, m->share, m->k);
    const double *L = m->L + c * d * m->width;
    bool          diagonal = cri_gmm_is_diagonal(m->form);
    double        stretch = 1, f = m->vb ? cri_gmm_vb_dof(m, c, &stretch) : INFINITY;
    if (m->vb) stretch *= f / (2 * cr_rng_gamma(r, 0.5 * f)); /* Student's t */
    for (size_t j = 0; j < d; j++) z[j] = sqrt(stretch) * cr_rng_normal(r);
    for (size_t i = 0; i < d; i++) {
        double t = m->mean[c * d + i] + (diagonal ? L[i] * z[i] : 0);
        for (size_t j = 0; !diagonal && j <= i; j++) t += L[i * d + j] * z[j];
        x[i] = m->centre[i] + m->scale[i] * t;
    }
}

static cr_status gmm_sample(cr_ctx *cx, const void *state, const cr_design *design,
                            const cri_rows *opt_rows, size_t count, uint64_t seed, double *out)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(cx);
    const cri_gmm *m = state;
    double        *z = cr_scratch_f64(&s, m->d);
    (void)design, (void)opt_rows;
    CR_TRY(s.status);
    for (size_t i = 0; i < count; i++) {
        cr_rng r = cr_rng_stream(seed, i);
        if (i % 1024 == 0) CR_TRY(cr_check_interrupt(cx));
        draw_row(m, &r, z, out + i * m->d);
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* --- description ----------------------------------------------------------------------------- */

static const cr_field gmm_statistics[] = {
    CR_COUNT("components", 0, "components"),
    CR_TEXT("form", 0, "form of the covariances: volume, shape and orientation, each E, V or I"),
    CR_NUMBER("parameters", 0, "free parameters: shares, means and covariances"),
    CR_COUNT("occupied", 0, "components with at least one row, by their expected number"),
    CR_NUMBER("bic", CR_FIELD_NULL,
              "-2 log likelihood + parameters ln n: lower is better; null with --infer vb"),
    CR_NUMBER("aic", CR_FIELD_NULL, "-2 log likelihood + 2 parameters"),
    CR_NUMBER("icl", CR_FIELD_NULL, "bic - 2 sum of log p(cluster | row): lower is better"),
    CR_COUNT("rejected", 0, "starts whose end was spurious: a component on too few rows or flat"),
    CR_NUMBER("best_rejected", CR_FIELD_NULL,
              "the highest objective of these; null where there are none"),
    CRI_EM_FIELDS,
    CR_FIELD_LAST,
};

static const cr_field candidate_fields[] = {
    CR_COUNT("components", 0, "components"),
    CR_TEXT("form", 0, "form of the covariances"),
    CR_NUMBER("parameters", 0, "free parameters"),
    CR_MEASURE("log_likelihood", "nats", CR_FIELD_NULL,
               "of the best end; null where every end was spurious, and with --infer vb"),
    CR_NUMBER("bic", CR_FIELD_NULL, "-2 log likelihood + parameters ln n"),
    CR_MEASURE("log_evidence", "nats", CR_FIELD_NULL, "with --infer vb: the bound on it"),
    CR_FIELD_LAST,
};

static const cr_field covariance_fields[] = {
    CR_TEXT("component", 0, "the component"),
    CR_TEXT("column", 0, "a column"),
    CR_TEXT("with", 0, "another, or the same"),
    CR_NUMBER("covariance", 0, "of the two, in the units of the data"),
    CR_NUMBER("correlation", 0, "of the two"),
    CR_FIELD_LAST,
};

static const cr_field gmm_tables[] = {
    CR_INNER(ROWS, "candidates", CR_FIELD_SOMETIMES,
             "where there is more than one: numbers of components and forms that were tried",
             candidate_fields),
    CR_INNER(ROWS, "covariances", CR_FIELD_SOMETIMES,
             "of forms with correlations and at most 20 columns: each pair of columns",
             covariance_fields),
    CR_FIELD_LAST,
};

static double bic_of(double log_likelihood, int form, size_t k, size_t d, double weight)
{
    return -2 * log_likelihood + cri_gmm_parameters(form, k, d) * log(weight);
}

static void describe_candidates(const cri_gmm *m, cri_sheet *out)
{
    cri_sheet *list = m->tried > 1 ? cri_put_list(out, "candidates") : NULL;
    for (size_t i = 0; i < m->tried && m->tried > 1; i++) {
        cri_sheet *row = cri_put_object(list, NULL);
        size_t     k = (size_t)m->tried_k[i];
        int        form = (int)m->tried_form[i];
        cri_put_count(row, "components", k);
        cri_put_text(row, "form", cri_gmm_form_name(form));
        cri_put_real(row, "parameters", cri_gmm_parameters(form, k, m->d));
        double reached = m->tried_likelihood[i], likelihood = m->vb ? NAN : reached;
        cri_put_real(row, "log_likelihood", likelihood);
        cri_put_real(row, "bic", bic_of(likelihood, form, k, m->d, m->weight));
        cri_put_real(row, "log_evidence", m->vb ? reached : NAN);
    }
}

static void describe_covariances(const cri_gmm *m, const cr_design *design, double *S,
                                 cri_sheet *out)
{
    size_t     d = m->d;
    cri_sheet *list;
    if (cri_gmm_is_diagonal(m->form) || d > MOST_PAIRS_SHOWN) return;
    list = cri_put_list(out, "covariances");
    for (size_t c = 0; c < m->k; c++) {
        cri_gmm_covariance(m, c, S);
        for (size_t i = 0; i < d; i++)
            for (size_t j = i; j < d; j++) {
                cri_sheet *row = cri_put_object(list, NULL);
                cri_put_textf(row, "component", "c%zu", c + 1);
                cri_put_text(row, "column", cr_design_term_name(design, i));
                cri_put_text(row, "with", cr_design_term_name(design, j));
                cri_put_real(row, "covariance", S[i * d + j] * m->scale[i] * m->scale[j]);
                cri_put_real(row, "correlation",
                             i == j ? 1 : S[i * d + j] / sqrt(S[i * (d + 1)] * S[j * (d + 1)]));
            }
    }
}

static void describe_statistics(const cri_gmm *m, cri_sheet *s)
{
    double p = cri_gmm_parameters(m->form, m->k, m->d);
    double bic = bic_of(m->log_likelihood, m->form, m->k, m->d, m->weight);
    size_t occupied = 0;
    for (size_t c = 0; c < m->k; c++)
        occupied += (m->vb ? m->rows[c] : m->share[c] * m->weight) >= 1;
    cri_put_count(s, "components", m->k);
    cri_put_text(s, "form", cri_gmm_form_name(m->form));
    cri_put_real(s, "parameters", p);
    cri_put_count(s, "occupied", occupied);
    cri_put_real(s, "bic", bic);
    cri_put_real(s, "aic", -2 * m->log_likelihood + 2 * p);
    cri_put_real(s, "icl", bic - 2 * m->log_certainty);
    cri_put_count(s, "rejected", m->rejected);
    cri_put_real(s, "best_rejected", m->best_rejected);
    cri_em_describe(&m->em, s);
}

static cr_status gmm_describe(cr_ctx *cx, const void *state, const cr_design *design,
                              cri_sheet *out)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(cx);
    const cri_gmm *m = state;
    size_t         d = m->d;
    double        *S = cr_scratch_matrix(&s, d, d);
    cri_sheet     *list;

    CR_TRY(s.status);
    list = cri_put_list(out, "parameters");
    for (size_t c = 0; c < m->k; c++) {
        cri_gmm_covariance(m, c, S);
        cri_parameter_add(list, m->share[c], cri_gmm_vb_share_sd(m, c), "c%zu.share", c + 1);
        for (size_t j = 0; j < d; j++)
            cri_parameter_add(list, m->centre[j] + m->scale[j] * m->mean[c * d + j],
                              m->scale[j] * cri_gmm_vb_mean_sd(m, c, j), "c%zu.mean.%s", c + 1,
                              cr_design_term_name(design, j));
        for (size_t j = 0; j < d; j++)
            cri_parameter_add(list, m->scale[j] * sqrt(S[j * (d + 1)]), NAN, "c%zu.sd.%s", c + 1,
                              cr_design_term_name(design, j));
    }
    describe_statistics(m, cri_put_object(out, "statistics"));
    describe_candidates(m, out);
    describe_covariances(m, design, S, out);
done:
    cr_scratch_end(&s);
    return st;
}

/* --- file ------------------------------------------------------------------------------------ */

/* A whole number below `end` in each place. */
static bool are_whole(const double *x, size_t n, double end)
{
    for (size_t i = 0; i < n; i++)
        if (!(x[i] < end) || x[i] != floor(x[i])) return false;
    return true;
}

static cr_status gmm_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    cri_gmm *m = state;
    size_t   d = m->d, width = cri_gmm_is_diagonal(m->form) ? 1 : d;
    bool     fits = d == cr_design_terms(design) && m->kd / d == m->k && m->kd % d == 0 &&
                m->width == width && are_whole(m->tried_k, m->tried, 1e6) &&
                are_whole(m->tried_form, m->tried, CRI_GMM_N_FORMS) &&
                (!m->vb || (m->form == CRI_GMM_VVV && m->alpha > 0 && m->prior_kappa > 0 &&
                            m->prior_rows > (double)d - 1));
    for (size_t i = 0; fits && i < m->kd; i++) fits = m->L[i * width + (width > 1 ? i % d : 0)] > 0;
    if (!fits) return CR_EDATA;
    cr_status st = cri_record_allocate(cx, cri_gmm_record, m);
    if (st != CR_OK) return st;
    cri_gmm_prepare(m);
    return cri_gmm_name(cx, m);
}

const cr_model_class cri_class_gmm = {
    .example = "examples/iris.csv --features '*cm' --k 3",
    .name = "gmm",
    .summary = "Gaussian mixture: rows in clusters, each a normal distribution of its own",
    .formulas = "p(x) = sum_c share_c N(x; mu_c, S_c),   c = 1 .. k\n"
                "p(c | x) = share_c N(x; mu_c, S_c) / p(x)\n"
                "EM on the likelihood, times a normal-inverse-Wishart prior of each (mu_c, S_c)",
    .reference = "McLachlan & Peel (2000), Finite Mixture Models; Fraley & Raftery (2007), "
                 "J. Classification 24",
    .tasks = CR_TASK_DENSITY | CR_TASK_CLUSTER,
    .options = gmm_table,
    .options_size = sizeof(cri_gmm_options),
    .requirements = gmm_requirements,
    .default_scale = CR_SCALE_NONE,
    .scales_itself = true,
    .takes_missing = true,
    .em = &(const cri_em_face){ .at = offsetof(cri_gmm, em),
                                .width = cri_gmm_width,
                                .work = cri_gmm_work,
                                .gather = cri_gmm_gather,
                                .solve = cri_gmm_solve,
                                .dimension = cri_gmm_dimension,
                                .to_vector = cri_gmm_to_vector,
                                .from_vector = cri_gmm_from_vector },
    .search = &cri_gmm_search,
    .rows = &(
        const cri_rows_face){ .predict = gmm_predict, .labels = gmm_labels, .sample = gmm_sample },
    .describe = gmm_describe,
    .statistics = gmm_statistics,
    .tables = gmm_tables,
    .state = cri_gmm_record,
    .state_size = sizeof(cri_gmm),
    .ready = gmm_ready,
    .release = gmm_release,
};
