/* gmm.c -- Gaussian mixtures: rows in clusters, each a normal distribution of its own.
 *   p(x) = sum_c share_c N(x; mu_c, S_c),   c = 1 .. k
 * Shares, means and covariances maximise the likelihood of the rows, or its product with a weak prior on means and
 * covariances, by EM from several starts; the number of components is given or chosen by BIC.  Components are in
 * the order of their shares.  See gmm.h for the other files.
 * McLachlan & Peel (2000), Finite Mixture Models; Fraley & Raftery (2002), J. Am. Stat. Assoc. 97. */
#include "gmm_gibbs.h"
#include "em_starts.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "math/dense/blas_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

CR_OPTIONS_TABLE(static, gmm_table, cri_gmm_options, CRI_GMM_OPTIONS);

static const cri_requirement gmm_requirements[] = {
    { "alpha", "infer", "vb|gibbs", false },
    { "draws", "infer", "gibbs", false },
    { "chains", "infer", "gibbs", false },
    { "warm_up", "infer", "gibbs", false },
    { "prior_rows", "infer", "em", false },
    { "prior_rows", "prior", "niw", false },
    { "least_spread", "infer", "em", false },
    { "factors", "covariance", "ppca", false },
    CRI_REQUIREMENT_LAST,
};

#define CRI_TYPE cri_gmm_posterior_draws
const cri_member cri_gmm_posterior_draws_record[] = { CRI_GMM_POSTERIOR_DRAWS(CRI_RECORD_ROW)
                                                          CRI_RECORD_END };
#undef CRI_TYPE
#define CRI_TYPE cri_gmm
const cri_member cri_gmm_record[] = { CRI_GMM(CRI_RECORD_ROW) CRI_RECORD_END };
#undef CRI_TYPE

enum { MOST_PAIRS_SHOWN = 20 };

static void gmm_release(cr_ctx *cx, void *state)
{
    cri_gmm *m = state;
    cri_cluster_names_free(cx, m->k, &m->text, &m->names);
    cri_gmm_release_draws(cx, m);
}

cr_status cri_gmm_name(cr_ctx *cx, cri_gmm *m)
{
    return cri_cluster_names_new(cx, m->k, &m->text, &m->names);
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
    double          *prob = a->out->prob + range.begin * m->k;
    double          *log_density = a->out->log_density + range.begin;
    if (m->sampled.kept > 0) X = work + cri_gmm_average_work(m);
    cri_rows_fill(a->rows, range.begin, range.end, X, m->d);
    if (m->sampled.kept > 0)
        cri_gmm_average(m, X, range.end - range.begin, prob, log_density, work);
    else
        cri_gmm_respond(m, X, range.end - range.begin, prob, log_density, work);
}

static cr_status gmm_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                             cr_prediction *out)
{
    answering a = { state, rows, out };
    size_t    own = a.m->sampled.kept > 0 ? cri_gmm_average_work(a.m) : cri_gmm_work(a.m);
    size_t    work = own + CRI_GMM_BLOCK * a.m->d;
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
        cri_gmm of = m->sampled.kept > 0 ? cri_gmm_drawn(m, cr_rng_below(&r, m->sampled.kept)) : *m;
        draw_row(&of, &r, z, out + i * m->d);
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
    CR_NUMBER(
        "bic", CR_FIELD_NULL,
        "-2 log likelihood + parameters ln n: lower is better; null with --infer vb and gibbs"),
    CR_NUMBER("aic", CR_FIELD_NULL, "-2 log likelihood + 2 parameters"),
    CR_NUMBER("icl", CR_FIELD_NULL, "bic - 2 sum of log p(cluster | row): lower is better"),
    CR_TEXT(
        "standard_errors", 0,
        "where the sds of parameters come from: the information, the posterior; or why there are "
        "none"),
    CR_COUNT("rejected", 0, "starts whose end was spurious: a component on too few rows or flat"),
    CR_NUMBER("best_rejected", CR_FIELD_NULL,
              "the highest objective of these; null where there are none"),
    CRI_EM_FIELDS,
    CR_COUNT("draws", CR_FIELD_SOMETIMES, "of gibbs: draws after the warm-up, of all chains"),
    CR_COUNT("chains", CR_FIELD_SOMETIMES, "of gibbs: Markov chains"),
    CR_COUNT("relabelled", CR_FIELD_SOMETIMES,
             "of gibbs: draws whose components had another order, and were given back theirs"),
    CR_NUMBER("mean_log_likelihood", CR_FIELD_SOMETIMES,
              "of gibbs: mean over the draws of the log likelihood of the rows"),
    CR_NUMBER("rhat", CR_FIELD_EITHER,
              "of gibbs: greatest R-hat, of the log likelihood and all parameters; 1 is good"),
    CR_NUMBER("effective_draws", CR_FIELD_EITHER,
              "of gibbs: least effective number of draws, of the same"),
    CR_FIELD_LAST,
};

static const cr_field candidate_fields[] = {
    CR_COUNT("components", 0, "components"),
    CR_TEXT("form", 0, "form of the covariances"),
    CR_NUMBER("parameters", 0, "free parameters"),
    CR_COUNT("restarts", CR_FIELD_NULL, "starts that were made"),
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

static double bic_of(const cri_gmm *m, double log_likelihood, int form, size_t k)
{
    return -2 * log_likelihood + cri_gmm_parameters(form, k, m->d, m->factors) * log(m->weight);
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
        cri_put_real(row, "parameters", cri_gmm_parameters(form, k, m->d, m->factors));
        if (m->started)
            cri_put_count(row, "restarts", (size_t)m->tried_starts[i]);
        else
            cri_put_real(row, "restarts", NAN);
        double reached = m->tried_likelihood[i], likelihood = m->vb ? NAN : reached;
        cri_put_real(row, "log_likelihood", likelihood);
        cri_put_real(row, "bic", bic_of(m, likelihood, form, k));
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

/* Number `at` of the errors. */
static double error_of(const cri_gmm *m, size_t at) { return m->error ? m->error[at] : NAN; }

static const char *errors_named(const cri_gmm *m)
{
    static const char *const names[] = {
        [CRI_GMM_ERRORS_UNKNOWN] = "none: fitted by a version without them",
        [CRI_GMM_ERRORS_FOUND] = "information",
        [CRI_GMM_ERRORS_FLAT] = "none: the information has no inverse",
        [CRI_GMM_ERRORS_MANY] = "none: more than 300 free parameters",
        [CRI_GMM_ERRORS_LATE] = "none: the time limit was reached",
    };
    return m->vb || m->sampled.kept > 0 ? "posterior" : names[m->errors];
}

static void describe_statistics(const cri_gmm *m, cri_sheet *s)
{
    double p = cri_gmm_parameters(m->form, m->k, m->d, m->factors);
    double bic = bic_of(m, m->log_likelihood, m->form, m->k);
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
    cri_put_text(s, "standard_errors", errors_named(m));
    cri_put_count(s, "rejected", m->rejected);
    cri_put_real(s, "best_rejected", m->best_rejected);
    cri_em_describe(&m->em, s);
    if (m->sampled.kept == 0) return;
    cri_put_count(s, "draws", m->sampled.made);
    cri_put_count(s, "chains", m->sampled.chains);
    cri_put_count(s, "relabelled", m->sampled.relabelled);
    cri_put_real(s, "mean_log_likelihood", m->sampled.log_likelihood);
    cri_put_real(s, "rhat", cri_gmm_worst_rhat(m));
    cri_put_real(s, "effective_draws", cri_gmm_least_ess(m));
}

/* R-hat and effective number of draws of parameter `at`, where it was drawn; a share of 1 has none. */
static void add_diagnostics(const cri_gmm *m, size_t at, cri_sheet *row)
{
    if (m->sampled.kept == 0) return;
    cri_put_real(row, "rhat", m->k == 1 && at == 0 ? NAN : m->sampled.rhat[at]);
    cri_put_real(row, "ess", m->k == 1 && at == 0 ? NAN : m->sampled.ess[at]);
}

static void describe_parameters(const cri_gmm *m, const cr_design *design, double *S,
                                cri_sheet *list)
{
    size_t d = m->d;
    bool   drawn = m->sampled.kept > 0;
    for (size_t c = 0; c < m->k; c++) {
        size_t mean = m->k + c * d, spread = mean + m->kd;
        cri_gmm_covariance(m, c, S);
        add_diagnostics(m, c,
                        cri_parameter_add(list, m->share[c],
                                          m->vb ? cri_gmm_vb_share_sd(m, c) : error_of(m, c),
                                          "c%zu.share", c + 1));
        for (size_t j = 0; j < d; j++) {
            double sd = m->vb ? cri_gmm_vb_mean_sd(m, c, j) : error_of(m, mean + j);
            add_diagnostics(m, mean + j,
                            cri_parameter_add(list, m->centre[j] + m->scale[j] * m->mean[c * d + j],
                                              m->scale[j] * sd, "c%zu.mean.%s", c + 1,
                                              cr_design_term_name(design, j)));
        }
        for (size_t j = 0; j < d; j++) {
            double sd = m->vb ? cri_gmm_vb_spread_sd(m, c, j) : error_of(m, spread + j);
            double value = drawn ? m->sampled.value[spread + j] : sqrt(S[j * (d + 1)]);
            add_diagnostics(m, spread + j,
                            cri_parameter_add(list, m->scale[j] * value, m->scale[j] * sd,
                                              "c%zu.sd.%s", c + 1, cr_design_term_name(design, j)));
        }
    }
}

static cr_status gmm_describe(cr_ctx *cx, const void *state, const cr_design *design,
                              cri_sheet *out)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(cx);
    const cri_gmm *m = state;
    size_t         d = m->d;
    double        *S = cr_scratch_matrix(&s, d, d);

    CR_TRY(s.status);
    describe_parameters(m, design, S, cri_put_list(out, "parameters"));
    describe_statistics(m, cri_put_object(out, "statistics"));
    describe_candidates(m, out);
    describe_covariances(m, design, S, out);
done:
    cr_scratch_end(&s);
    return st;
}

/* --- clusters, and the choice of their number ------------------------------------------------ */

static void gmm_cluster(const void *state, size_t c, double *out_share, double *mean,
                        double *opt_covariance)
{
    const cri_gmm *m = state;
    size_t         d = m->d;
    *out_share = m->share[c];
    for (size_t j = 0; j < d; j++) mean[j] = m->centre[j] + m->scale[j] * m->mean[c * d + j];
    if (!opt_covariance) return;
    cri_gmm_covariance(m, c, opt_covariance);
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) opt_covariance[i * d + j] *= m->scale[i] * m->scale[j];
}

static void gmm_choice(const void *state, cri_choice *out)
{
    const cri_gmm *m = state;
    *out = (cri_choice){ .n = m->tried,
                         .by = m->vb ? "bound on the log evidence" : "BIC",
                         .of = "components",
                         .lower = !m->vb,
                         .no_value = "every start ended with a spurious component",
                         .how = "--k 1:9" };
}

static void gmm_candidate(const void *state, size_t i, cri_candidate *out)
{
    const cri_gmm *m = state;
    size_t         k = (size_t)m->tried_k[i];
    int            form = (int)m->tried_form[i];
    double         reached = m->tried_likelihood[i];
    *out = (cri_candidate){ .number = k,
                            .form = cri_gmm_form_name(form),
                            .value = m->vb ? reached : bic_of(m, reached, form, k),
                            .chosen = k == m->k && form == m->form };
}

/* --- file ------------------------------------------------------------------------------------ */

/* A whole number below `end` in each place. */
static bool are_whole(const double *x, size_t n, double end)
{
    for (size_t i = 0; i < n; i++)
        if (!(x[i] < end) || x[i] != floor(x[i])) return false;
    return true;
}

/* Whether the draws of a state, where it has any, are mixtures of its shape. */
static bool draws_fit(const cri_gmm *m)
{
    const cri_gmm_posterior_draws *o = &m->sampled;
    if (!o->draws) return true;
    if (o->size != cri_gmm_draw_size(m) || o->listed != m->k + 2 * m->kd || m->vb || !m->error ||
        (m->form != CRI_GMM_VVV && m->form != CRI_GMM_VVI))
        return false;
    for (size_t i = 0; i < o->kept; i++) {
        const double *share = o->draws + i * o->size, *L = share + m->k + m->kd;
        double        sum = 0;
        for (size_t c = 0; c < m->k; c++) {
            if (!(share[c] >= 0)) return false;
            sum += share[c];
        }
        if (!(fabs(sum - 1) < 1e-6)) return false;
        for (size_t j = 0; j < m->kd; j++)
            if (!(L[j * m->width + (m->width > 1 ? j % m->d : 0)] > 0)) return false;
    }
    return true;
}

static cr_status gmm_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    cri_gmm *m = state;
    size_t   d = m->d, width = cri_gmm_is_diagonal(m->form) ? 1 : d;
    bool     fits = d == cr_design_terms(design) && m->kd / d == m->k && m->kd % d == 0 &&
                m->width == width && are_whole(m->tried_k, m->tried, 1e6) &&
                are_whole(m->tried_form, m->tried, CRI_GMM_FULL) &&
                (m->started == 0 || m->started == m->tried) &&
                are_whole(m->tried_starts, m->started, 1e15) &&
                (m->form == CRI_GMM_PPCA) == (m->factors > 0) && m->factors < d &&
                m->errors <= CRI_GMM_ERRORS_LATE && (!m->error || m->listed == m->k + 2 * m->kd) &&
                (!m->vb || (m->form == CRI_GMM_VVV && m->alpha > 0 && m->prior_kappa > 0 &&
                            m->prior_rows > (double)d - 1)) &&
                draws_fit(m);
    for (size_t i = 0; fits && i < m->kd; i++) fits = m->L[i * width + (width > 1 ? i % d : 0)] > 0;
    if (!fits) return CR_EDATA;
    cr_status st = cri_record_allocate(cx, cri_gmm_record, m);
    if (st != CR_OK) return st;
    cri_gmm_prepare(m);
    if (m->sampled.kept > 0) st = cri_gmm_ready_draws(cx, m);
    return st == CR_OK ? cri_gmm_name(cx, m) : st;
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
    .carried = &(const cri_carried){ "covariance", "ppca", "factors" },
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
    .clusters = &(const cri_clusters_face){ .cluster = gmm_cluster, .covariances = true },
    .choice = &(const cri_choice_face){ .choice = gmm_choice, .candidate = gmm_candidate },
    .describe = gmm_describe,
    .statistics = gmm_statistics,
    .tables = gmm_tables,
    .state = cri_gmm_record,
    .state_size = sizeof(cri_gmm),
    .ready = gmm_ready,
    .release = gmm_release,
};
