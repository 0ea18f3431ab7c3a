/* predict_sequence.c -- predict for models of sequences: filtered, smoothed, decoded, ahead. */
#include "predict_job.h"
#include "data/table/date.h"
#include "models/core/model_internal.h"

#include <math.h>
#include <string.h>

static cr_ctx *context(const predict_job *j) { return j->c->cx; }

/* The first option of sequences that was given, as it is typed; NULL: none. */
static const char *option_of(const predict_job *j, char *spelled)
{
    return cli_first_set(j->c, "filtered smoothed decode paths ahead", spelled);
}

cr_status predict_check_sequence(const predict_job *j)
{
    const predict_options *o = j->o;
    char                   spelled[64], own[64];
    const char            *whole = cli_first_set(
                   j->c,
                   "draws latent prior slopes log_joint reconstruct covariance mean_only coordinates "
                              "leverage",
                   spelled);
    const char *option = option_of(j, own);
    if (!option) return CR_OK;
    if (o->paths != CR_COUNT_UNSET && o->decode != DECODE_VITERBI) {
        cr_fail(context(j), CR_EARG, "--paths is about most probable paths");
        return cr_fail_hint(context(j), "--decode viterbi --paths %zu", o->paths);
    }
    if (o->paths != CR_COUNT_UNSET && cli_first_set(j->c, "loss parts interval smoothed", spelled))
        return cr_fail(context(j), CR_EARG,
                       "--%s requires predictions, but --paths shows paths alone", spelled);
    if (o->filtered && o->smoothed)
        return cr_fail(context(j), CR_EARG, "--filtered and --smoothed contradict each other");
    if (o->filtered && o->decode == DECODE_VITERBI) {
        cr_fail(context(j), CR_EARG,
                "--decode viterbi looks at all rows of a sequence: it cannot be combined with "
                "--filtered");
        return cr_fail_hint(context(j), "leave one of them out");
    }
    if (o->ahead && (o->filtered || o->smoothed || o->decode == DECODE_VITERBI || o->id))
        return cr_fail(context(j), CR_EARG,
                       "--ahead is about rows that are not there: --filtered, --smoothed, "
                       "--decode and --id need rows");
    if (whole)
        return cr_fail(context(j), CR_EARG, "--%s cannot be combined with --%s", whole, option);
    if (o->ahead && o->parts)
        return cr_fail(context(j), CR_EARG,
                       "--parts needs rows: add them to DATA without a value instead of --ahead");
    if (o->stream && (o->smoothed || o->ahead || o->decode == DECODE_VITERBI))
        return cr_fail(context(j), CR_EARG, "--%s needs all rows at once, without --stream",
                       option);
    return CR_OK;
}

cr_status predict_check_sequence_model(const predict_job *j)
{
    const struct {
        bool        wanted;
        const char *offer, *option;
    } needs[] = { { j->o->filtered, "filter", "filtered" },
                  { j->o->smoothed, "smooth", "smoothed" },
                  { j->o->decode == DECODE_VITERBI, "decode", "decode" },
                  { j->o->paths != CR_COUNT_UNSET, "paths", "paths" },
                  { j->o->ahead > 0, "forecast", "ahead" } };
    const cr_model_class *class = cr_model_get_class(j->model);
    for (size_t k = 0; k < sizeof needs / sizeof *needs; k++) {
        if (!needs[k].wanted || cr_class_offers(class, needs[k].offer)) continue;
        return cr_class_offers(class, "sequences")
                   ? cr_fail(context(j), CR_EUNSUPPORTED, "the model %s does not offer --%s",
                             cr_class_name(class), needs[k].option)
                   : cr_fail(context(j), CR_EUNSUPPORTED,
                             "--%s is for models of sequences, but %s treats rows one by one",
                             needs[k].option, cr_class_name(class));
    }
    if (j->o->stream && cr_class_offers(class, "sequences") && !cr_class_offers(class, "filter"))
        return cr_fail(context(j), CR_EUNSUPPORTED,
                       "the model %s looks at whole sequences: predict without --stream",
                       cr_class_name(class));
    return CR_OK;
}

bool predict_is_of_sequence(const predict_job *j)
{
    return j->follower || j->o->filtered || j->o->smoothed;
}

cr_status predict_sequence_rows(predict_job *j)
{
    if (j->follower) return cr_follow(context(j), j->follower, j->table, &j->p);
    return j->o->filtered ? cr_filter(context(j), j->model, j->table, &j->p)
                          : cr_smooth(context(j), j->model, j->table, &j->p);
}

cr_status predict_ahead(predict_job *j)
{
    cr_status st = CR_OK;
    if (j->c->n_args > 1) CR_TRY(cli_read_rows(j->c, 1, j->model, &j->table));
    CR_TRY(cr_forecast_rows(context(j), j->model, j->table, j->o->ahead, &j->forecast));
    CR_TRY(cr_forecast_columns_of(context(j), j->model, &j->forecast, predict_level(j), &j->ahead));
    j->p = j->forecast.p;
    j->forecast.p = (cr_prediction){ 0 };
done:
    return st;
}

/* When the rows to come are, under the name of the column. */
static void add_times(predict_job *j, const cr_forecast *f)
{
    size_t         n = j->p.n;
    char          *text = cr_scratch_bytes(&j->s, n, CRI_DATE_SIZE);
    const char   **texts = cr_scratch_bytes(&j->s, n, sizeof *texts);
    answer_column *a = answers_add(&j->a, f->time_name, f->time_name);
    a->group = "time";
    if (!cri_is_date(f->time_type)) {
        a->x = f->time;
        return;
    }
    for (size_t i = 0; j->s.status == CR_OK && i < n; i++) {
        texts[i] = text + i * CRI_DATE_SIZE;
        if (!isnan(f->time[i])) cri_date_print(f->time_type, f->time[i], text + i * CRI_DATE_SIZE);
    }
    a->texts = texts;
}

void predict_add_ahead(predict_job *j)
{
    const cr_forecast *f = &j->forecast;
    const char       **names = cr_scratch_bytes(&j->s, j->p.n, sizeof *names);
    double            *step = cr_scratch_f64(&j->s, j->p.n);
    for (size_t i = 0; step && i < j->p.n; i++) step[i] = (double)(i % f->ahead + 1);
    for (size_t i = 0; names && f->names && i < j->p.n; i++) names[i] = f->names[i / f->ahead];
    if (names && f->names) answers_add(&j->a, "sequence", "sequence")->texts = names;
    if (step) answers_add(&j->a, "ahead", "ahead")->x = step;
    if (f->time) add_times(j, f);
}

static void add_of_columns(predict_job *j, const char *prefix, const char *group, const double *x)
{
    const cr_forecast_columns *f = &j->ahead;
    for (size_t k = 0; k < f->columns; k++) {
        answer_column *a = answers_add(&j->a, answers_name(&j->s, prefix, f->name[k]), f->name[k]);
        a->group = group;
        a->x = x + k;
        a->stride = f->columns;
    }
}

void predict_add_ahead_columns(predict_job *j)
{
    const cr_forecast_columns *f = &j->ahead;
    add_of_columns(j, "mean.", "column_mean", f->mean);
    add_of_columns(j, "sd.", "column_sd", f->sd);
    add_of_columns(j, "lower.", "column_lower", f->lower);
    add_of_columns(j, "upper.", "column_upper", f->upper);
}

/* The entropy of all paths of the sequence of each row of the table, where the model knows it; else NULL. */
static cr_status find_entropy(predict_job *j, double **out)
{
    cr_status st = CR_OK;
    *out = NULL;
    if (!cr_class_offers(cr_model_get_class(j->model), "path-entropy")) return CR_OK;
    double *entropy = cr_scratch_f64(&j->s, cr_table_rows(j->table));
    CR_TRY(j->s.status);
    CR_TRY(cr_path_entropy(context(j), j->model, j->table, entropy));
    *out = entropy;
done:
    return st;
}

cr_status predict_add_path(predict_job *j)
{
    cr_status st = CR_OK;
    double   *path = cr_scratch_f64(&j->s, j->p.n), *entropy = NULL;
    double   *log_path = cr_scratch_f64(&j->s, j->p.n);
    CR_TRY(j->s.status);
    CR_TRY(cr_decode(context(j), j->model, j->table, path, log_path));
    CR_TRY(find_entropy(j, &entropy));
    for (size_t i = 0; i < j->a.n; i++) { /* the labels: the only column of names that p has */
        answer_column *column = &j->a.columns[i];
        if (column->names == j->p.classes && column->key &&
            (strcmp(column->key, "state") == 0 || strcmp(column->key, "label") == 0))
            column->x = path;
    }
    answers_add(&j->a, "log_path", "log_path")->x = log_path;
    if (entropy) answers_add(&j->a, "path_entropy", "path_entropy")->x = entropy;
done:
    return st;
}

/* --- several paths --------------------------------------------------------------------------- */

/* The columns of a list of paths, a line for each row of each path. */
typedef struct path_lines {
    size_t  n;
    size_t *table_row;
    double *path, *row, *state, *log_path, *entropy;
} path_lines;

/* Path after path, of each the rows of the sequences that have it. */
static cr_status list_lines(predict_job *j, size_t count, size_t n, const double *path,
                            const double *log_path, const double *opt_entropy, path_lines *out)
{
    cr_status  st = CR_OK;
    path_lines l = { 0 };
    for (size_t i = 0; i < count * n; i++) l.n += isnan(path[i]) ? 0 : 1;
    l.table_row = cr_scratch_index(&j->s, l.n);
    l.path = cr_scratch_f64(&j->s, l.n), l.row = cr_scratch_f64(&j->s, l.n);
    l.state = cr_scratch_f64(&j->s, l.n), l.log_path = cr_scratch_f64(&j->s, l.n);
    if (opt_entropy) l.entropy = cr_scratch_f64(&j->s, l.n);
    CR_TRY(j->s.status);
    for (size_t r = 0, at = 0; r < count; r++)
        for (size_t i = 0; i < n; i++) {
            if (isnan(path[r * n + i])) continue;
            l.table_row[at] = i;
            l.path[at] = (double)(r + 1), l.row[at] = (double)(i + 1);
            l.state[at] = path[r * n + i], l.log_path[at] = log_path[r * n + i];
            if (opt_entropy) l.entropy[at] = opt_entropy[i];
            at++;
        }
    *out = l;
done:
    return st;
}

static void warn_of_no_path(const predict_job *j, size_t n, const double *first)
{
    size_t none = 0;
    for (size_t i = 0; i < n; i++) none += isnan(first[i]) != 0;
    if (none)
        cr_log(context(j), CR_LOG_WARNING,
               "%zu of %zu rows are on no path: they have missing values, or their sequence cannot "
               "be",
               none, n);
}

cr_status predict_make_paths(predict_job *j)
{
    cr_status          st = CR_OK;
    size_t             count = j->o->paths, n, states = 0;
    const char *const *names = cr_model_labels(j->model, &states);
    const char        *word = cr_model_get_task(j->model) == CR_TASK_CLUSTER ? "state" : "label";
    double            *path, *log_path, *entropy = NULL;
    path_lines         l = { 0 };
    if (j->c->n_args < 2) CR_TRY(cr_fail(context(j), CR_EARG, "--paths needs rows of data"));
    CR_TRY(predict_read_ids(j));
    CR_TRY(cli_read_rows(j->c, 1, j->model, &j->table));
    CR_TRY(predict_check_ids(j));
    n = cr_table_rows(j->table);
    CR_TRY(cri_check_paths(context(j), count, n));
    path = cr_scratch_matrix(&j->s, count, n), log_path = cr_scratch_matrix(&j->s, count, n);
    CR_TRY(j->s.status);
    CR_TRY(cr_decode_paths(context(j), j->model, j->table, count, path, log_path));
    CR_TRY(find_entropy(j, &entropy));
    CR_TRY(list_lines(j, count, n, path, log_path, entropy, &l));
    warn_of_no_path(j, n, path);
    j->a = answers_new(&j->s, l.n, 8 + j->n_ids);
    CR_TRY(j->s.status);
    predict_add_ids(j, l.table_row);
    answers_add(&j->a, "path", "path")->x = l.path;
    answers_add(&j->a, "row", "row")->x = l.row;
    answer_column *column = answers_add(&j->a, word, word);
    column->x = l.state, column->names = names, column->n_names = states;
    answers_add(&j->a, "log_path", "log_path")->x = l.log_path;
    if (entropy) answers_add(&j->a, "path_entropy", "path_entropy")->x = l.entropy;
    CR_TRY(predict_check_id_names(j));
done:
    return st;
}
