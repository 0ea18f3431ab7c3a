/* latent.c -- what a model says of its function rather than of observations. */
#include "latent.h"
#include "data/formats/write.h"
#include "math/special/special.h"
#include "models/core/parts.h"

#include <math.h>
#include <stdio.h>

/* Room for numbers that are normal. */
static cr_status numbers_new(cr_ctx *cx, size_t n, bool spread, cr_prediction *out)
{
    cr_prediction p = { .kind = CR_ANSWER_NUMBER, .n = n, .mean = cr_alloc(cx, n, sizeof(double)) };
    if (spread) {
        p.scale = cr_alloc(cx, n, sizeof(double));
        p.dof = cr_alloc(cx, n, sizeof(double));
    }
    if (!p.mean || (spread && (!p.scale || !p.dof))) {
        cr_prediction_free(cx, &p);
        return CR_ENOMEM;
    }
    for (size_t i = 0; spread && i < n; i++) p.dof[i] = INFINITY;
    *out = p;
    return CR_OK;
}

cr_status latent_predict(cr_ctx *cx, const cr_model *m, const cr_table *t, bool prior,
                         cr_prediction *out)
{
    cr_status st = numbers_new(cx, cr_table_rows(t), true, out);
    if (st == CR_OK) st = cr_predict_function(cx, m, t, prior, out->mean, out->scale, NULL);
    for (size_t i = 0; st == CR_OK && i < out->n; i++)
        if (isnan(out->mean[i])) out->dof[i] = NAN;
    return st;
}

cr_status latent_means(cr_ctx *cx, const cr_model *m, const cr_table *t, cr_prediction *out)
{
    cr_status st = numbers_new(cx, cr_table_rows(t), false, out);
    return st == CR_OK ? cr_predict_mean(cx, m, t, out->mean) : st;
}

cr_status latent_add_slopes(cr_scratch *s, const cr_model *m, const cr_table *t, answers *a)
{
    cr_status st = CR_OK;
    size_t    n = cr_model_slopes(m);
    double   *x = cr_scratch_matrix(s, cr_table_rows(t), n);
    CR_TRY(s->status);
    CR_TRY(cr_predict_slopes(s->cx, m, t, x));
    for (size_t k = 0; k < n; k++) {
        const char    *name = cr_model_slope_name(m, k);
        answer_column *column = answers_add(a, answers_name(s, "slope_", name), name);
        column->group = "slopes";
        column->x = x + k, column->stride = n;
    }
done:
    return st;
}

cr_status latent_count_parts(cr_ctx *cx, const cr_model *m, size_t *out_columns)
{
    size_t n = 0;
    for (cr_part part = { .name = "?" }; *part.name;) {
        cr_status st = cr_model_part(cx, m, n, &part);
        if (st != CR_OK) return st;
        n += *part.name != '\0';
    }
    if (n == 0)
        return cr_fail(cx, CR_EUNSUPPORTED, "the model %s has no parts",
                       cr_class_name(cr_model_get_class(m)));
    *out_columns = 2 * n;
    return CR_OK;
}

cr_status latent_add_parts(cr_scratch *s, const cr_model *m, const cr_table *t, answers *a)
{
    cr_status st = CR_OK;
    size_t    columns = 0, rows = cr_table_rows(t);
    CR_TRY(latent_count_parts(s->cx, m, &columns));
    for (size_t k = 0; k < columns / 2; k++) {
        cr_part part;
        double *mean = cr_scratch_f64(s, rows), *sd = cr_scratch_f64(s, rows);
        CR_TRY(s->status);
        CR_TRY(cr_model_part(s->cx, m, k, &part));
        CR_TRY(cr_predict_part(s->cx, m, t, k, mean, sd));
        const char    *name = answers_name(s, "", part.name);
        const char    *spread = answers_name(s, part.name, "_sd");
        answer_column *column = answers_add(a, name, name);
        column->group = "parts";
        column->x = mean;
        column = answers_add(a, spread, name);
        column->group = "parts_sd";
        column->x = sd;
    }
done:
    return st;
}

cr_status latent_add_probability_intervals(cr_scratch *s, const cr_model *m, const cr_table *t,
                                           double level, answers *a)
{
    static const char *const prefix[] = { "p_lower_", "p_upper_" }, *const group[] = { "p_lower",
                                                                                       "p_upper" };
    cr_status          st = CR_OK;
    size_t             K = 0, rows = cr_table_rows(t);
    const char *const *classes = cr_model_labels(m, &K);
    double            *ends[] = { cr_scratch_matrix(s, rows, K), cr_scratch_matrix(s, rows, K) };
    CR_TRY(s->status);
    CR_TRY(cr_predict_probability_intervals(s->cx, m, t, level, ends[0], ends[1]));
    for (size_t k = 0; k < K; k++)
        for (size_t e = 0; e < 2; e++) {
            answer_column *column =
                answers_add(a, answers_name(s, prefix[e], classes[k]), classes[k]);
            column->group = group[e];
            column->x = ends[e] + k, column->stride = K;
        }
done:
    return st;
}

cr_status latent_add_mean_intervals(cr_scratch *s, const cr_model *m, const cr_table *t,
                                    double level, answers *a)
{
    cr_status st = CR_OK;
    size_t    rows = cr_table_rows(t);
    double   *lower = cr_scratch_f64(s, rows), *upper = cr_scratch_f64(s, rows);
    CR_TRY(s->status);
    CR_TRY(cr_predict_mean_intervals(s->cx, m, t, level, lower, upper));
    answers_add(a, "mean_lower", "mean_lower")->x = lower;
    answers_add(a, "mean_upper", "mean_upper")->x = upper;
done:
    return st;
}

cr_status latent_add_log_joint(cr_scratch *s, const cr_model *m, const cr_table *t, answers *a)
{
    cr_status          st = CR_OK;
    size_t             K = 0, rows = cr_table_rows(t);
    const char *const *classes = cr_model_labels(m, &K);
    double            *x = cr_scratch_matrix(s, rows, K), *density = cr_scratch_f64(s, rows);
    CR_TRY(s->status);
    CR_TRY(cr_predict_log_joint(s->cx, m, t, x));
    for (size_t k = 0; k < K; k++) {
        answer_column *column =
            answers_add(a, answers_name(s, "log_joint_", classes[k]), classes[k]);
        column->group = "log_joint";
        column->x = x + k, column->stride = K;
    }
    for (size_t i = 0; i < rows; i++) density[i] = cr_logsumexp(x + i * K, K);
    answers_add(a, "log_density", "log_density")->x = density;
done:
    return st;
}

cr_status latent_add_reconstruction(cr_scratch *s, const cr_model *m, const cr_table *t, answers *a)
{
    cr_status st = CR_OK;
    size_t    n = cr_model_reconstructs(m), rows = cr_table_rows(t), q = 0;
    cr_transform_labels(m, &q);
    double *Z = cr_scratch_matrix(s, rows, q), *x = cr_scratch_matrix(s, rows, n),
           *left = cr_scratch_f64(s, rows);
    CR_TRY(s->status);
    if (q > 0) CR_TRY(cr_transform(s->cx, m, t, Z));
    CR_TRY(cr_reconstruct(s->cx, m, Z, rows, x, left));
    for (size_t k = 0; k < n; k++) {
        const char    *name = cr_model_reconstruct_name(m, k);
        answer_column *column = answers_add(a, answers_name(s, "rec_", name), name);
        column->group = "reconstruction";
        column->x = x + k, column->stride = n;
    }
    answers_add(a, "rec_distance", "reconstruction_distance")->x = left;
done:
    return st;
}

cr_status latent_write_covariance(cr_ctx *cx, const cr_model *m, const cr_table *t, bool prior,
                                  const char *path)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cr_table  *table = NULL;
    size_t     n = cr_table_rows(t);
    bool       npy = cli_ends_with(path, ".npy");
    double    *mean = cr_scratch_f64(&s, n), *S = cr_scratch_matrix(&s, n, n);

    if (!npy && !cli_ends_with(path, ".csv")) {
        cr_fail(cx, CR_EARG, "--covariance '%s': a matrix is written as CSV or NPY", path);
        CR_TRY(cr_fail_hint(cx, "give the file a name that ends in .csv or .npy"));
    }
    CR_TRY(s.status);
    CR_TRY(cr_predict_function(cx, m, t, prior, mean, NULL, S));
    CR_TRY(cr_table_new(cx, "covariance", n, &table));
    for (size_t j = 0; j < n; j++) { /* column j is row j */
        char name[32];
        snprintf(name, sizeof name, "row%zu", j + 1);
        CR_TRY(cr_table_add_numbers(cx, table, name, CR_REAL, S + j * n, 1));
    }
    CR_TRY(npy ? cr_table_write_npy(cx, table, path) : cr_table_write_csv(cx, table, path));
done:
    cr_table_free(cx, table);
    cr_scratch_end(&s);
    return st;
}
