/* cmd_predict.c -- a distribution for every row, or for the next one; draws from it, and decisions.
 */
#include "predict_job.h"
#include "base/list.h"
#include "data/table/table_internal.h"
#include "models/core/faces.h"
#include "models/core/parts.h"
#include "prob/dist/dist.h"

#include <math.h>
#include <string.h>

CR_OPTIONS_TABLE(static, predict_table, predict_options, PREDICT_OPTIONS);

static cr_ctx *context(const predict_job *j) { return j->c->cx; }

double predict_level(const predict_job *j) { return isnan(j->o->interval) ? 0.95 : j->o->interval; }

/* true where intervals of the probabilities of classes were asked for, and there are some. */
static bool has_probability_intervals(const predict_job *j)
{
    return j->p.kind == CR_ANSWER_CLASS && !isnan(j->o->interval) && j->table && !j->o->ahead &&
           cr_model_has_probability_intervals(j->model);
}

/* The same of the means of numbers. */
static bool has_mean_intervals(const predict_job *j)
{
    return j->p.kind == CR_ANSWER_NUMBER && !isnan(j->o->interval) && j->table &&
           !j->o->mean_only && !j->o->latent && !j->o->prior && !j->o->ahead &&
           cr_model_has_mean_intervals(j->model);
}

/* true for the function without noise. */
static bool of_function(const predict_job *j) { return j->o->latent || j->o->prior; }

/* --- columns --------------------------------------------------------------------------------- */

/* A column that is named twice is shown twice, but an object has its name once. */
void predict_add_ids(predict_job *j, const size_t *opt_row)
{
    for (size_t k = 0; k < j->n_ids; k++) {
        answer_column *column = answers_add(&j->a, j->ids[k], NULL);
        size_t         first = 0;
        while (strcmp(j->ids[first], j->ids[k]) != 0) first++;
        if (first == k) column->group = "id", column->key = j->ids[k];
        column->from = cr_table_find(j->table, j->ids[k]);
        column->from_row = opt_row;
    }
}

cr_status predict_check_id_names(const predict_job *j)
{
    for (size_t k = 0; k < j->n_ids; k++)
        for (size_t i = j->n_ids; i < j->a.n; i++) {
            const char *name = j->a.columns[i].name;
            if (!name || strcmp(j->ids[k], name) != 0) continue;
            cr_fail(context(j), CR_EARG,
                    "--id '%s' would be the second column of that name: the "
                    "prediction has one, too",
                    j->ids[k]);
            return cr_fail_hint(context(j), "--rename '%s=%s_id' --id '%s_id'", j->ids[k],
                                j->ids[k], j->ids[k]);
        }
    return CR_OK;
}

/* Which column of the data each line is about. */
static void add_next_names(predict_job *j)
{
    const cr_design *d = cr_model_get_design(j->model);
    const char     **names = cr_scratch_bytes(&j->s, j->p.n, sizeof *names);
    for (size_t i = 0, k = 0; names && i < cr_design_columns(d) && k < j->p.n; i++)
        if (cr_design_column_type(d, i) != CR_CATEGORY) names[k++] = cr_design_column_name(d, i);
    if (names) answers_add(&j->a, "column", "column")->texts = names;
}

static cr_status add_decisions(predict_job *j)
{
    cr_status st = CR_OK;
    size_t    endless = 0;
    CR_TRY(cr_decide(context(j), &j->p, &j->loss, &j->decisions));
    answer_column *column = answers_add(&j->a, "action", "action");
    column->x = j->decisions.action;
    column->n_names = j->decisions.n_actions;
    if (column->n_names) column->names = j->decisions.actions;
    answers_add(&j->a, "expected_loss", "expected_loss")->x = j->decisions.expected_loss;
    for (size_t i = 0; i < j->decisions.n; i++)
        endless += isinf(j->decisions.expected_loss[i]) != 0;
    if (endless)
        cr_log(context(j), CR_LOG_WARNING,
               "the expected loss is infinite for any action in %zu of %zu rows: the tails of "
               "their distribution are too heavy",
               endless, j->decisions.n);
done:
    return st;
}

static cr_status add_decision_values(predict_job *j)
{
    const cr_prediction *p = &j->p;
    if (p->n_decisions == 0) {
        cr_fail(context(j), CR_EUNSUPPORTED, "--decision: the model %s has no decision values",
                cr_class_name(cr_model_get_class(j->model)));
        return cr_fail_hint(context(j), "it is for support vector machines of classes (svm)");
    }
    if (!p->ranks) answers_add_decisions(&j->s, p, &j->a); /* else they are there */
    return j->s.status;
}

static cr_status add_draws(predict_job *j)
{
    cr_status st = CR_OK;
    size_t    n = j->o->draws;
    double   *x = cr_scratch_matrix(&j->s, j->p.n, n);
    CR_TRY(j->s.status);
    CR_TRY(
        of_function(j)
            ? cr_sample_functions(context(j), j->model, j->table, j->o->prior, n, j->c->fit.seed, x)
            : cr_sample_targets(context(j), j->model, j->table, n, j->c->fit.seed, x));
    for (size_t k = 0; k < n; k++) {
        char number[32];
        out_number((double)(k + 1), true, number);
        answer_column *column = answers_add(&j->a, answers_name(&j->s, "draw", number), NULL);
        column->group = "draws";
        column->x = x + k, column->stride = n;
        if (j->p.kind == CR_ANSWER_CLASS)
            column->names = j->p.classes, column->n_names = j->p.n_classes;
    }
done:
    return st;
}

cr_status predict_make_columns(predict_job *j)
{
    cr_status            st = CR_OK;
    const cr_prediction *p = &j->p;
    size_t               parts = 0;
    if (!j->table && p->n == 0) return CR_OK; /* the levels of categories: made already */
    if (j->o->parts) CR_TRY(latent_count_parts(context(j), j->model, &parts));
    j->a =
        answers_new(&j->s, p->n,
                    16 + j->n_ids + 4 * p->n_classes + p->n_params + p->n_decisions + j->o->draws +
                        4 * j->ahead.columns + (j->o->slopes ? cr_model_slopes(j->model) : 0) +
                        parts + (j->o->reconstruct ? cr_model_reconstructs(j->model) : 0));
    CR_TRY(j->s.status);
    if (j->table && !j->o->ahead) predict_add_ids(j, NULL);
    if (j->o->ahead)
        predict_add_ahead(j);
    else if (!j->table)
        add_next_names(j);
    CR_TRY(
        answers_add_prediction(j->c, &j->s, j->model, p, predict_level(j), j->o->leverage, &j->a));
    predict_add_ahead_columns(j);
    if (j->o->decision) CR_TRY(add_decision_values(j));
    if (j->o->decode == DECODE_VITERBI) CR_TRY(predict_add_path(j));
    if (has_probability_intervals(j))
        CR_TRY(
            latent_add_probability_intervals(&j->s, j->model, j->table, predict_level(j), &j->a));
    if (has_mean_intervals(j))
        CR_TRY(latent_add_mean_intervals(&j->s, j->model, j->table, predict_level(j), &j->a));
    if (j->o->slopes) CR_TRY(latent_add_slopes(&j->s, j->model, j->table, &j->a));
    if (j->o->parts) CR_TRY(latent_add_parts(&j->s, j->model, j->table, &j->a));
    if (j->o->log_joint) CR_TRY(latent_add_log_joint(&j->s, j->model, j->table, &j->a));
    if (j->o->reconstruct) CR_TRY(latent_add_reconstruction(&j->s, j->model, j->table, &j->a));
    if (j->o->loss) CR_TRY(add_decisions(j));
    if (j->o->draws) CR_TRY(add_draws(j));
    CR_TRY(j->s.status);
    CR_TRY(predict_check_id_names(j));
done:
    return st;
}

/* --- reading --------------------------------------------------------------------------------- */

/* A column that is carried along is read as text, so that 007 stays 007; not where the model takes
 * it for numbers. */
static cr_status keep_text(predict_job *j, const char *name)
{
    const cr_design *d = cr_model_get_design(j->model);
    const char      *weights = cr_design_weights(d), *target = cr_design_target(d);
    const char      *time = cr_design_time(d), *beside;
    bool used = (weights && strcmp(weights, name) == 0) || (time && strcmp(time, name) == 0) ||
                (target && strcmp(target, name) == 0 && !cr_design_classes(d));
    for (size_t i = 0; i < cr_design_columns(d); i++)
        used |= strcmp(cr_design_column_name(d, i), name) == 0;
    for (size_t k = 0; (beside = cri_model_beside(j->model, k)); k++)
        used |= strcmp(beside, name) == 0;
    if (used) return CR_OK;
    return cr_options_add(context(j), cr_read_table, &j->c->read, "category", name);
}

cr_status predict_read_ids(predict_job *j)
{
    cr_status st = CR_OK;
    CR_TRY(cri_list_split(&j->s, j->o->id, &j->ids, &j->n_ids));
    for (size_t k = 0; k < j->n_ids; k++) CR_TRY(keep_text(j, j->ids[k]));
done:
    return st;
}

cr_status predict_check_ids(const predict_job *j)
{
    for (size_t k = 0; k < j->n_ids; k++)
        if (!cr_table_find(j->table, j->ids[k]))
            return cri_table_no_column(context(j), j->table, j->ids[k]);
    return CR_OK;
}

/* Without data there is the next row, if the model says anything of it. */
static cr_status answer_next(predict_job *j)
{
    char        spelled[64];
    const char *option = cli_first_set(j->c,
                                       "id draws leverage coordinates slopes parts log_joint "
                                       "decision reconstruct covariance latent prior",
                                       spelled);
    const char *name = cr_class_name(cr_model_get_class(j->model));
    bool        next = cr_class_offers(cr_model_get_class(j->model), "next");
    cr_status st = answers_next_levels(j->c, j->model, j->o->loss ? &j->loss : NULL, &j->s, &j->a);
    if (st != CR_OK) return st;
    if (!next && j->a.n == 0) {
        cr_fail(context(j), CR_EARG, "predict: DATA is missing: %s needs rows to predict", name);
        return cr_fail_hint(context(j), "usage: credence %s", j->c->verb->usage);
    }
    if (option) {
        cr_fail(context(j), CR_EARG, "--%s needs rows of data", option);
        return j->o->draws
                   ? cr_fail_hint(context(j), "credence sample %s draws whole rows", j->c->args[0])
                   : CR_EARG;
    }
    if (next) st = cr_next(context(j), j->model, &j->p);
    if (st == CR_OK && j->p.n == 0 && j->a.n == 0)
        return cr_fail(
            context(j), CR_EARG,
            "the model %s has no prediction of the next row if all columns are categories", name);
    if (st == CR_OK && j->p.n > 0 && j->a.n > 0)
        cr_log(context(j), CR_LOG_WARNING,
               "columns of categories are left out next to those of numbers: fit them alone, or "
               "see describe");
    return st;
}

/* Options that contradict each other. */
static cr_status check_options(const predict_job *j)
{
    char        spelled[64];
    const char *other = cli_first_set(j->c, "loss leverage latent prior draws covariance", spelled);
    if (j->o->prior && j->o->slopes) {
        cr_fail(context(j), CR_EARG,
                "--slopes cannot be combined with --prior: slopes are those of the mean given the "
                "data");
        return cr_fail_hint(context(j), "leave --prior out, or --slopes");
    }
    if (j->o->mean_only && other) {
        cr_fail(context(j), CR_EARG,
                "--mean-only cannot be combined with --%s, which needs more than the mean", other);
        return cr_fail_hint(context(j), "leave --mean-only out");
    }
    return CR_OK;
}

/* Predictions for j->table. */
cr_status predict_table_rows(predict_job *j)
{
    cr_status st = CR_OK;
    CR_TRY(predict_check_ids(j));
    CR_TRY(predict_is_of_sequence(j) ? predict_sequence_rows(j)
           : of_function(j)  ? latent_predict(context(j), j->model, j->table, j->o->prior, &j->p)
           : j->o->mean_only ? latent_means(context(j), j->model, j->table, &j->p)
                             : cr_predict(context(j), j->model, j->table, &j->p));
    if (j->o->leverage && !j->p.leverage)
        CR_TRY(cr_fail(context(j), CR_EUNSUPPORTED, "the model %s has no leverage",
                       cr_class_name(cr_model_get_class(j->model))));
done:
    return st;
}

static cr_status answer_rows(predict_job *j)
{
    cr_status st = CR_OK;
    CR_TRY(predict_read_ids(j));
    CR_TRY(cli_read_rows(j->c, 1, j->model, &j->table));
    CR_TRY(predict_table_rows(j));
done:
    return st;
}

/* --- the verb -------------------------------------------------------------------------------- */

void predict_count_missing(predict_job *j)
{
    const cr_prediction *p = &j->p;
    const double        *first = p->mean     ? p->mean
                                 : p->prob   ? p->prob
                                 : p->vector ? p->vector
                                             : p->log_density;
    size_t               width = p->prob || p->vector ? p->n_classes : 1;
    for (size_t i = 0; i < p->n; i++) j->missing += isnan(first[i * width]) != 0;
    j->rows += p->n;
}

/* An interval that was asked for, where there is none. */
static void warn_of_interval(const predict_job *j)
{
    const char *name = cr_class_name(cr_model_get_class(j->model));
    if (j->p.kind == CR_ANSWER_NUMBER || isnan(j->o->interval) || has_probability_intervals(j) ||
        j->ahead.columns > 0)
        return;
    if (j->p.kind == CR_ANSWER_CLASS)
        cr_log(context(j), CR_LOG_WARNING,
               "--interval has no effect: %s %s has no intervals for its probabilities; "
               "bayes-logistic and gp-classify have them",
               cr_class_offers(cr_model_get_class(j->model), "probability-intervals")
                   ? "a calibrated"
                   : "the model",
               name);
    else
        cr_log(context(j), CR_LOG_WARNING,
               "--interval has no effect: it is for numbers, but %s predicts none", name);
}

void predict_warn_missing(const predict_job *j)
{
    if (j->missing)
        cr_log(context(j), CR_LOG_WARNING,
               "%zu of %zu rows have missing values%s and get no prediction", j->missing, j->rows,
               cr_class_offers(cr_model_get_class(j->model), "smooth")
                   ? ", or come before anything is known of their series, which begins anew with "
                     "these rows,"
                   : "");
}

static cr_status print(predict_job *j)
{
    cr_status  st = CR_OK;
    cri_sheet *head = cri_sheet_new(context(j));
    cri_put_text(head, "model", cr_class_name(cr_model_get_class(j->model)));
    cri_put_count(head, "rows",
                  j->o->paths == CR_COUNT_UNSET ? j->a.rows : cr_table_rows(j->table));
    cri_put_real(head, "interval", predict_level(j));
    cri_put_count(head, "seed", j->o->draws ? j->c->fit.seed : cr_model_get_seed(j->model));
    if (j->p.family) cri_put_text(head, "distribution", cr_dist_name(j->p.family));
    if (j->o->loss) cri_put_text(head, "loss", j->o->loss);
    CR_TRY(cri_sheet_status(head));
    CR_TRY(out_open(j->c, j->c->global.output));
    CR_TRY(answers_print_result(j->c, &j->a, head, "predictions"));
done:
    cri_sheet_free(head);
    return st;
}

/* --coordinates: where the rows stand in the space the model works in, instead of predictions. */
static cr_status make_coordinates(predict_job *j)
{
    cr_status          st = CR_OK;
    size_t             q = 0, n;
    const char *const *names = cr_transform_labels(j->model, &q);
    double            *Z;
    CR_TRY(cli_read_rows(j->c, 1, j->model, &j->table));
    n = cr_table_rows(j->table);
    Z = cr_scratch_matrix(&j->s, n, q);
    j->a = answers_new(&j->s, n, q);
    CR_TRY(j->s.status);
    CR_TRY(cr_transform(context(j), j->model, j->table, Z));
    answers_add_coordinates(&j->a, names, q, Z);
done:
    return st;
}

/* Coordinates stand alone: what belongs to predictions would be lost without a word. */
static cr_status check_coordinates(const predict_job *j)
{
    char        spelled[64];
    const char *other =
        cli_first_set(j->c, "id draws leverage loss log_joint reconstruct", spelled);
    if (!j->o->coordinates || !other) return CR_OK;
    return cr_fail(context(j), CR_EARG, "--%s requires predictions, but --coordinates shows none",
                   other);
}

static cr_status run_predict(cli *c)
{
    cr_status   st = CR_OK;
    predict_job j = { .c = c, .o = c->own, .s = cr_scratch_begin(c->cx) };
    bool        coordinates;

    CR_TRY(check_options(&j));
    CR_TRY(check_coordinates(&j));
    CR_TRY(predict_check_sequence(&j));
    CR_TRY(predict_check_stream(&j));
    if (j.o->loss) CR_TRY(cr_loss_read(c->cx, j.o->loss, &j.loss));
    CR_TRY(cli_read_model(c, 0, &j.model));
    CR_TRY(predict_check_sequence_model(&j));
    if (j.o->stream) {
        CR_TRY(predict_stream(&j));
        goto done;
    }
    coordinates = j.o->coordinates && c->n_args > 1;
    if (coordinates) {
        CR_TRY(make_coordinates(&j));
    } else if (j.o->paths != CR_COUNT_UNSET) {
        CR_TRY(predict_make_paths(&j));
    } else {
        CR_TRY(j.o->ahead ? predict_ahead(&j) : c->n_args > 1 ? answer_rows(&j) : answer_next(&j));
        predict_count_missing(&j);
        warn_of_interval(&j);
        predict_warn_missing(&j);
        CR_TRY(predict_make_columns(&j));
    }
    CR_TRY(cli_check_strict(c));
    if (j.o->covariance && !coordinates)
        CR_TRY(latent_write_covariance(c->cx, j.model, j.table, j.o->prior, j.o->covariance));
    CR_TRY(print(&j));
done:
    cr_decisions_free(c->cx, &j.decisions);
    cr_loss_free(c->cx, &j.loss);
    cr_prediction_free(c->cx, &j.p);
    cr_forecast_columns_free(c->cx, &j.ahead);
    cr_forecast_free(c->cx, &j.forecast);
    cr_model_free(c->cx, j.model);
    cr_table_free(c->cx, j.table);
    cr_scratch_end(&j.s);
    return st;
}

const cli_verb verb_predict = {
    .name = "predict",
    .usage = "predict FILE.cred [DATA] [--interval 0.95] [OPTIONS] [-o FILE]",
    .summary = "show the predictive distribution of every row",
    .example = "credence predict model.cred examples/diabetes.csv --interval 0.9\n"
               "credence predict model.cred examples/diabetes.csv --loss quantile:0.9\n"
               "credence predict model.cred examples/diabetes.csv --stream --block 100",
    .options = predict_table,
    .options_size = sizeof(predict_options),
    .takes = VERB_READS | VERB_FACTORISES,
    .least = 1,
    .most = 2,
    .run = run_predict,
    .result = predict_result,
};
