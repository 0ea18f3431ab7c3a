/* parts.c -- the door to the parts, functions and evidence of a model. */
#include "model_internal.h"
#include "base/scratch.h"
#include "math/special/special.h"

#include <math.h>
#include <string.h>

bool cr_model_shows(const cr_model *m, const char *what)
{
    if (strcmp(what, "parts") == 0) return cri_function_of(m->class)->part != NULL;
    if (strcmp(what, "functions") == 0) return cri_function_of(m->class)->functions != NULL;
    if (strcmp(what, "evidence") == 0) return cri_function_of(m->class)->evidence_at != NULL;
    return false;
}

cr_status cr_model_part(cr_ctx *cx, const cr_model *m, size_t k, cr_part *out)
{
    *out = (cr_part){ 0 };
    if (!cri_function_of(m->class)->part) return CR_OK;
    return cri_function_of(m->class)->part(cx, m->state, m->design, k, NULL, out, NULL, NULL);
}

cr_status cr_predict_part(cr_ctx *cx, const cr_model *m, const cr_table *t, size_t k,
                          double *out_mean, double *out_sd)
{
    cr_status st = CR_OK;
    cri_rows  rows = { 0 };
    cr_part   part = { 0 };

    if (!cri_function_of(m->class)->part)
        CR_TRY(cr_fail(cx, CR_EUNSUPPORTED, "the model %s is not a sum of parts", m->class->name));
    CR_TRY(cri_rows_open(cx, m->design, t, CRI_INPUTS_ALONE, &rows));
    CR_TRY(cri_function_of(m->class)->part(cx, m->state, m->design, k, &rows, &part, out_mean,
                                           out_sd));
    if (!part.name[0]) CR_TRY(cr_fail(cx, CR_EARG, "the model has no part number %zu", k + 1));
    for (size_t i = 0; i < rows.n; i++) {
        out_mean[i] *= m->design->target_scale;
        out_sd[i] *= m->design->target_scale;
    }
    cri_rows_spread(&rows, 1, out_mean);
    cri_rows_spread(&rows, 1, out_sd);
done:
    cri_rows_close(cx, &rows);
    return st;
}

cr_status cr_predict_function(cr_ctx *cx, const cr_model *m, const cr_table *t, bool prior,
                              double *out_mean, double *opt_sd, double *opt_covariance)
{
    cr_status        st = CR_OK;
    cri_rows         rows = { 0 };
    const cr_design *d = m->design;

    if (!cri_function_of(m->class)->function) {
        cr_fail(cx, CR_EUNSUPPORTED,
                "the model %s predicts observations only, not a function without noise",
                m->class->name);
        if (!cri_answers_of(m->class)->transform || !cri_answers_of(m->class)->labels)
            CR_TRY(CR_EUNSUPPORTED);
        size_t             n;
        const char *const *labels = cri_answers_of(m->class)->labels(m->state, &n);
        CR_TRY(cr_fail_hint(cx, "--coordinates shows what it has for each row: %s ...",
                            n ? labels[0] : ""));
    }
    CR_TRY(cri_rows_open(cx, d, t, CRI_INPUTS_ALONE, &rows));
    if (opt_covariance && rows.n < cr_table_rows(t)) {
        cr_fail(cx, CR_EDATA, "%s: %zu of %zu rows have missing values, so they have no covariance",
                cr_table_source(t), cr_table_rows(t) - rows.n, cr_table_rows(t));
        CR_TRY(cr_fail_hint(cx, "remove them from the file, or leave out --covariance"));
    }
    CR_TRY(cri_function_of(m->class)->function(cx, m->state, &rows, prior, out_mean, opt_sd,
                                               opt_covariance));
    for (size_t i = 0; i < rows.n; i++) {
        out_mean[i] = out_mean[i] * d->target_scale + d->target_shift;
        if (opt_sd) opt_sd[i] *= d->target_scale;
    }
    for (size_t i = 0; opt_covariance && i < rows.n * rows.n; i++)
        opt_covariance[i] *= d->target_scale * d->target_scale;
    cri_rows_spread(&rows, 1, out_mean);
    if (opt_sd) cri_rows_spread(&rows, 1, opt_sd);
done:
    cri_rows_close(cx, &rows);
    return st;
}

/* The term of the design that is the i-th number; design->p beyond the last.  Sparse columns come first, and are. */
static size_t number_at(const cr_design *d, size_t i)
{
    size_t j = d->block.n;
    if (i < d->block.n) return i;
    for (i -= d->block.n; j < d->p; j++)
        if (!cri_design_is_code(d, j) && i-- == 0) break;
    return j;
}

static size_t count_numbers(const cr_design *d)
{
    size_t n = 0;
    for (size_t j = 0; j < d->p; j++) n += !cri_design_is_code(d, j);
    return n;
}

size_t cr_model_slopes(const cr_model *m)
{
    return cri_function_of(m->class)->slopes ? count_numbers(m->design) : 0;
}

const char *cr_model_slope_name(const cr_model *m, size_t i)
{
    return cr_design_term_name(m->design, number_at(m->design, i));
}

cr_status cr_predict_slopes(cr_ctx *cx, const cr_model *m, const cr_table *t, double *out)
{
    cr_status        st = CR_OK;
    cri_rows         rows = { 0 };
    const cr_design *d = m->design;
    size_t           width = cr_model_slopes(m);

    if (!cri_function_of(m->class)->slopes)
        CR_TRY(cr_fail(cx, CR_EUNSUPPORTED, "the model %s has no slopes", m->class->name));
    CR_TRY(cri_rows_open(cx, d, t, CRI_INPUTS_ALONE, &rows));
    CR_TRY(cri_function_of(m->class)->slopes(cx, m->state, &rows, out));
    for (size_t k = 0; k < width; k++) {
        double unit = d->target_scale / d->scale[number_at(d, k)];
        for (size_t i = 0; i < rows.n; i++) out[i * width + k] *= unit;
    }
    cri_rows_spread(&rows, width, out);
done:
    cri_rows_close(cx, &rows);
    return st;
}

cr_status cr_predict_log_joint(cr_ctx *cx, const cr_model *m, const cr_table *t, double *out)
{
    cr_status st = CR_OK;
    cri_rows  rows = { 0 };

    if (!cri_answers_of(m->class)->log_joint) {
        cr_fail(cx, CR_EUNSUPPORTED, "the model %s has no distribution of the columns",
                m->class->name);
        CR_TRY(cr_fail_hint(cx, "lda, qda and naive-bayes have one"));
    }
    CR_TRY(cri_rows_open(cx, m->design, t, CRI_INPUTS_ALONE, &rows));
    CR_TRY(cri_answers_of(m->class)->log_joint(cx, m->state, &rows, out));
    cri_rows_spread(&rows, m->design->target.n_levels, out);
done:
    cri_rows_close(cx, &rows);
    return st;
}

cr_status cri_mean_spread(cr_ctx *cx, const cr_model *m, const cr_table *t, double *out_scale,
                          double *out_dof)
{
    cr_status st = CR_OK;
    cri_rows  rows = { 0 };
    double    scale = NAN, dof = INFINITY;

    bool mapped = m->design->transform.kind != CRI_TRANSFORM_NONE;
    if (!cri_answers_of(m->class)->mean_spread || mapped) goto done;
    CR_TRY(cri_rows_open(cx, m->design, t, CRI_INPUTS_ALONE, &rows));
    if (rows.n > 0)
        CR_TRY(cri_answers_of(m->class)->mean_spread(cx, m->state, &rows, &scale, &dof));
done:
    cri_rows_close(cx, &rows);
    if (st != CR_OK) return st;
    *out_scale = scale * m->design->target_scale;
    *out_dof = dof;
    return CR_OK;
}

bool cr_model_has_probability_intervals(const cr_model *m)
{
    return cri_answers_of(m->class)->probability_intervals && !m->calibration;
}

static cr_status check_level(cr_ctx *cx, double level)
{
    if (level > 0 && level < 1) return CR_OK;
    return cr_fail(cx, CR_EARG, "the mass of an interval is %g, not between 0 and 1", level);
}

static cr_status check_probability_intervals(cr_ctx *cx, const cr_model *m)
{
    if (!cri_answers_of(m->class)->probability_intervals) {
        cr_fail(cx, CR_EUNSUPPORTED, "the model %s has no intervals for its probabilities",
                m->class->name);
        return cr_fail_hint(cx, "bayes-logistic and gp-classify have them");
    }
    if (m->calibration)
        return cr_fail(cx, CR_EUNSUPPORTED,
                       "the probabilities were calibrated: there are no intervals for them");
    return CR_OK;
}

cr_status cr_predict_probability_intervals(cr_ctx *cx, const cr_model *m, const cr_table *t,
                                           double level, double *lower, double *upper)
{
    cr_status st = CR_OK;
    cri_rows  rows = { 0 };

    CR_TRY(check_level(cx, level));
    CR_TRY(check_probability_intervals(cx, m));
    CR_TRY(cri_rows_open(cx, m->design, t, CRI_INPUTS_ALONE, &rows));
    CR_TRY(
        cri_answers_of(m->class)->probability_intervals(cx, m->state, &rows, level, lower, upper));
    cri_rows_spread(&rows, m->design->target.n_levels, lower);
    cri_rows_spread(&rows, m->design->target.n_levels, upper);
done:
    cri_rows_close(cx, &rows);
    return st;
}

/* The mean of rows, in the units rows->y has, and how well it is known: by the face that says so, or by the function
 * without noise, which is normal. */
static cr_status known_means(cr_ctx *cx, const cr_model *m, const cri_rows *rows,
                             cr_prediction *out)
{
    const cri_rows_face *answers = cri_answers_of(m->class);
    if (answers->mean) return answers->mean(cx, m->state, rows, out);
    for (size_t i = 0; i < rows->n; i++) out->dof[i] = INFINITY;
    return cri_function_of(m->class)->function(cx, m->state, rows, false, out->mean, out->scale,
                                               NULL);
}

static cr_status mean_intervals(cr_ctx *cx, const cr_model *m, const cri_rows *rows, double level,
                                double *lower, double *upper)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    size_t        n = rows->n;
    double        unit = m->design->target_scale, shift = m->design->target_shift;
    double        dof = NAN, reach = NAN;
    cr_prediction p = { .kind = CR_ANSWER_NUMBER,
                        .n = n,
                        .mean = cr_scratch_f64(&s, n),
                        .scale = cr_scratch_f64(&s, n),
                        .dof = cr_scratch_f64(&s, n),
                        .leverage = cr_scratch_f64(&s, n) };

    CR_TRY(s.status);
    CR_TRY(known_means(cx, m, rows, &p));
    for (size_t i = 0; i < n; i++) {
        if (p.dof[i] != dof) reach = cr_student_t_ppf((1 + level) / 2, dof = p.dof[i]);
        lower[i] = (p.mean[i] - reach * p.scale[i]) * unit + shift;
        upper[i] = (p.mean[i] + reach * p.scale[i]) * unit + shift;
    }
done:
    cr_scratch_end(&s);
    return st;
}

bool cr_model_has_mean_intervals(const cr_model *m)
{
    return m->task == CR_TASK_REGRESSION && m->design->transform.kind == CRI_TRANSFORM_NONE &&
           cri_class_knows_means(m->class);
}

static cr_status check_mean_intervals(cr_ctx *cx, const cr_model *m)
{
    if (cr_model_has_mean_intervals(m)) return CR_OK;
    if (!cri_class_knows_means(m->class))
        return cr_fail(cx, CR_EUNSUPPORTED, "the model %s has no intervals for its means",
                       m->class->name);
    return cr_fail(cx, CR_EUNSUPPORTED,
                   m->task == CR_TASK_REGRESSION
                       ? "the target was transformed: there are no intervals for its mean"
                       : "the model predicts classes, which have no mean");
}

cr_status cr_predict_mean_intervals(cr_ctx *cx, const cr_model *m, const cr_table *t, double level,
                                    double *lower, double *upper)
{
    cr_status            st = CR_OK;
    cri_rows             rows = { 0 };
    const cri_rows_face *answers = cri_answers_of(m->class);

    CR_TRY(check_level(cx, level));
    CR_TRY(check_mean_intervals(cx, m));
    CR_TRY(cri_rows_open(cx, m->design, t, CRI_TARGET_NONE, &rows));
    CR_TRY(answers->mean_intervals
               ? answers->mean_intervals(cx, m->state, &rows, level, lower, upper)
               : mean_intervals(cx, m, &rows, level, lower, upper));
    cri_rows_spread(&rows, 1, lower);
    cri_rows_spread(&rows, 1, upper);
done:
    cri_rows_close(cx, &rows);
    return st;
}

void cr_inducing_free(cr_ctx *cx, cr_inducing *it)
{
    cr_free(cx, it->Z, it->n * it->terms, sizeof(double));
    cr_free(cx, it->text, it->n * it->terms, sizeof *it->text);
    cr_free(cx, it->mean, it->n, sizeof(double));
    cr_free(cx, it->covariance, it->n * it->n, sizeof(double));
    *it = (cr_inducing){ 0 };
}

cr_status cr_model_inducing(cr_ctx *cx, const cr_model *m, cr_inducing *out)
{
    cr_status        st = CR_OK;
    const cr_design *d = m->design;
    cr_inducing      it = { .terms = d->p };

    *out = (cr_inducing){ 0 };
    if (!cri_function_of(m->class)->inducing || !cri_function_of(m->class)->function)
        CR_TRY(cr_fail(cx, CR_EUNSUPPORTED, "the model %s has no inducing inputs", m->class->name));
    CR_TRY(cri_function_of(m->class)->inducing(cx, m->state, d, &it.Z, &it.n));
    it.text = cr_alloc(cx, it.n * it.terms, sizeof *it.text);
    it.mean = cr_alloc(cx, it.n, sizeof(double));
    it.covariance = cr_alloc(cx, it.n * it.n, sizeof(double));
    if (!it.text || !it.mean || !it.covariance) CR_TRY(CR_ENOMEM);
    /* rows of a matrix that is in the units of the terms already */
    const cr_column *whole = &(cr_column){ .stride = d->p };
    cri_rows rows = { .design = d, .n = it.n, .p = d->p, .columns = &whole, .matrix = it.Z };
    CR_TRY(cri_function_of(m->class)->function(cx, m->state, &rows, false, it.mean, NULL,
                                               it.covariance));
    for (size_t i = 0; i < it.n; i++) {
        it.mean[i] = it.mean[i] * d->target_scale + d->target_shift;
        for (size_t j = 0, code = 0; j < d->p; j++) {
            double *z = &it.Z[i * d->p + j];
            if (cri_design_is_code(d, j))
                it.text[i * d->p + j] = cri_design_text(d, code++, (uint32_t)*z);
            else
                *z = *z * d->scale[j] + d->shift[j];
        }
    }
    for (size_t i = 0; i < it.n * it.n; i++) it.covariance[i] *= d->target_scale * d->target_scale;
    *out = it;
    it = (cr_inducing){ 0 };
done:
    cr_inducing_free(cx, &it);
    return st;
}

cr_status cri_model_marked(cr_ctx *cx, const cr_model *m, const char **out_name, double **out_Z,
                           size_t *out_n)
{
    const cri_function_face *face = cri_function_of(m->class);
    const cr_design         *d = m->design;
    *out_name = face->marked;
    *out_Z = NULL, *out_n = 0;
    if (!face->marked || !face->inducing) return CR_OK;
    cr_status st = face->inducing(cx, m->state, d, out_Z, out_n);
    for (size_t i = 0; st == CR_OK && i < *out_n; i++)
        for (size_t j = 0; j < d->p; j++)
            if (!cri_design_is_code(d, j))
                (*out_Z)[i * d->p + j] = (*out_Z)[i * d->p + j] * d->scale[j] + d->shift[j];
    return st;
}

size_t cr_model_reconstructs(const cr_model *m)
{
    return cri_answers_of(m->class)->reconstruct ? count_numbers(m->design) : 0;
}

const char *cr_model_reconstruct_name(const cr_model *m, size_t i)
{
    return cr_design_term_name(m->design, number_at(m->design, i));
}

cr_status cr_reconstruct(cr_ctx *cx, const cr_model *m, const double *Z, size_t n, double *out,
                         double *opt_distance)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     width = cr_model_reconstructs(m), q = 0, known = 0;
    cr_transform_labels(m, &q);
    double *points = cr_scratch_matrix(&s, n, q), *X = cr_scratch_matrix(&s, n, width);
    double *distance = cr_scratch_f64(&s, n);
    size_t *row = cr_scratch_index(&s, n), *terms = cr_scratch_index(&s, width);

    if (!cri_answers_of(m->class)->reconstruct)
        CR_TRY(cr_fail(cx, CR_EUNSUPPORTED, "the model %s cannot reconstruct rows from coordinates",
                       m->class->name));
    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++) { /* those that have coordinates */
        bool whole = true;
        for (size_t j = 0; j < q; j++)
            whole = whole && isfinite(points[known * q + j] = Z[i * q + j]);
        row[i] = whole ? known++ : SIZE_MAX;
    }
    for (size_t j = 0, k = 0; j < m->design->p; j++)
        if (!cri_design_is_code(m->design, j)) terms[k++] = j;
    CR_TRY(cri_answers_of(m->class)->reconstruct(cx, m->state, points, known, X, distance));
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < width; k++) {
            size_t term = terms[k];
            out[i * width + k] =
                row[i] == SIZE_MAX
                    ? NAN
                    : X[row[i] * width + k] * m->design->scale[term] + m->design->shift[term];
        }
        if (opt_distance) opt_distance[i] = row[i] == SIZE_MAX ? NAN : distance[row[i]];
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cr_sample_functions(cr_ctx *cx, const cr_model *m, const cr_table *t, bool prior,
                              size_t count, uint64_t seed, double *out)
{
    cr_status        st = CR_OK;
    cri_rows         rows = { 0 };
    const cr_design *d = m->design;

    if (!cri_function_of(m->class)->functions)
        CR_TRY(
            cr_fail(cx, CR_EUNSUPPORTED, "the model %s does not draw functions", m->class->name));
    CR_TRY(cri_rows_open(cx, d, t, CRI_INPUTS_ALONE, &rows));
    CR_TRY(cri_function_of(m->class)->functions(cx, m->state, &rows, prior, count, seed, out));
    for (size_t i = 0; i < rows.n * count; i++) out[i] = out[i] * d->target_scale + d->target_shift;
    cri_rows_spread(&rows, count, out);
done:
    cri_rows_close(cx, &rows);
    return st;
}

cr_status cr_model_hyper(cr_ctx *cx, const cr_model *m, size_t k, cr_hyper *out)
{
    *out = (cr_hyper){ 0 };
    return cri_function_of(m->class)->hyper ? cri_function_of(m->class)->hyper(cx, m->state, k, out)
                                            : CR_OK;
}

cr_status cr_evidence_at(cr_ctx *cx, const cr_model *m, const cr_table *t, const size_t *which,
                         size_t n, const double *values, size_t count, double *out)
{
    cr_status st = CR_OK;
    cri_rows  rows = { 0 };
    double    weight = 0;

    if (!cri_function_of(m->class)->evidence_at)
        CR_TRY(cr_fail(cx, CR_EUNSUPPORTED,
                       "the model %s has no evidence at other hyper-parameters", m->class->name));
    CR_TRY(cri_rows_open(cx, m->design, t, CRI_TARGET_NEEDED, &rows));
    if (rows.n == 0)
        CR_TRY(cr_fail(cx, CR_EDATA, "%s: there is no row with a target", cr_table_source(t)));
    CR_TRY(
        cri_function_of(m->class)->evidence_at(cx, m->state, &rows, which, n, values, count, out));
    for (size_t i = 0; i < rows.n; i++) weight += rows.w ? rows.w[i] : 1;
    double slopes = cri_rows_log_slopes(&rows, true);
    for (size_t i = 0; i < count; i++) out[i] += slopes - weight * log(m->design->target_scale);
done:
    cri_rows_close(cx, &rows);
    return st;
}

bool cri_model_has_region(const cr_model *m)
{
    return cr_model_get_class(m)->rows && cr_model_get_class(m)->rows->region;
}

bool cri_model_has_prices(const cr_model *m)
{
    return cr_model_get_class(m)->rows && cr_model_get_class(m)->rows->prices;
}

cri_price_path cri_model_prices(const cr_model *m)
{
    cri_price_path out = { 0 };
    if (cri_model_has_prices(m)) cr_model_get_class(m)->rows->prices(m->state, &out);
    return out;
}

cri_coefficient_path cri_model_path(const cr_model *m)
{
    cri_coefficient_path path = { 0 };
    if (cri_function_of(m->class)->path) cri_function_of(m->class)->path(m->state, &path);
    return path;
}

const cri_clusters_face *cri_model_clusters(const cr_model *m, const void **out_state)
{
    *out_state = m->state;
    return m->class->clusters;
}

const cri_choice_face *cri_model_choice(const cr_model *m, const void **out_state)
{
    *out_state = m->state;
    return m->class->choice;
}
