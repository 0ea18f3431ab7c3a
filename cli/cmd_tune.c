/* cmd_tune.c -- tune: settings chosen by cross-validation; the winner is fitted to all rows. */
#include "base/list.h"
#include "scores.h"
#include "specs.h"
#include "study/tune.h"

#include <math.h>
#include <string.h>

#define TUNE_OPTIONS(X) CR_TUNE_OPTIONS(X) CR_CV_OPTIONS(X)
CR_OPTIONS_STRUCT(tune_options, TUNE_OPTIONS);
#define ROW(...) CR_OPTION_ROW(tune_options, __VA_ARGS__)
static const cr_option tune_table[] = { TUNE_OPTIONS(ROW) CR_OPTION_LAST };
#undef ROW
#define COPY(kind, field, fallback, range, help, example) .field = o->field,

static json_t *settings_object(const cr_tuning *t, const cr_candidate *k)
{
    json_t *o = json_object();
    for (size_t d = 0; d < t->dimensions; d++)
        json_object_set_new(o, k->settings[d].name, json_string_nocheck(k->settings[d].value));
    return o;
}

static json_t *candidate_object(const cr_tuning *t, const cr_candidate *k)
{
    json_t *o = json_object();
    json_object_set_new(o, "settings", settings_object(t, k));
    json_object_set_new(o, "metrics", scores_object(&k->mean));
    json_object_set_new(o, "se", scores_values(&k->mean, k->se));
    size_t folds = t->folds * t->repeats;
    json_object_set_new(
        o, "folds",
        scores_folds(t->fold + (size_t)(k - t->candidates) * folds, t->folds, t->repeats));
    json_object_set_new(o, "within", json_boolean(k->within));
    json_object_set_new(o, "apparent", scores_number(k->apparent));
    return o;
}

static json_t *tuning_object(cli *c, const cr_tuning *t, const tune_options *o)
{
    const cr_candidate *chosen = &t->candidates[t->chosen];
    json_t             *root = json_object(), *all = json_array();
    json_object_set_new(root, "model", json_string_nocheck(c->args[0]));
    json_object_set_new(root, "rows", json_integer((json_int_t)chosen->mean.rows));
    json_object_set_new(root, "seed", json_integer((json_int_t)t->seed));
    json_object_set_new(root, "metric", json_string(chosen->mean.metrics[t->metric].name));
    json_object_set_new(root, "search",
                        json_string(o->search == CR_SEARCH_GRID ? "grid" : "random"));
    json_object_set_new(root, "rule", json_string(o->rule == CR_RULE_BEST ? "best" : "1se"));
    json_object_set_new(root, "folds", json_integer((json_int_t)t->folds));
    json_object_set_new(root, "repeats", json_integer((json_int_t)t->repeats));
    json_object_set_new(root, "chosen", candidate_object(t, chosen));
    json_object_set_new(root, "best", candidate_object(t, &t->candidates[t->best]));
    for (size_t i = 0; i < t->n; i++)
        json_array_append_new(all, candidate_object(t, &t->candidates[i]));
    json_object_set_new(root, "candidates", all);
    if (c->global.output)
        json_object_set_new(root, "output", json_string_nocheck(c->global.output));
    return root;
}

/* The settings, the score with its standard error, then the other scores. */
static json_t *tuning_table(const cr_tuning *t)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < t->n; i++) {
        const cr_candidate *k = &t->candidates[i];
        json_t             *row = settings_object(t, k);
        json_object_set_new(row, k->mean.metrics[t->metric].name,
                            scores_number(k->mean.metrics[t->metric].value));
        json_object_set_new(row, "se", scores_number(k->se[t->metric]));
        for (size_t m = 0; m < k->mean.n; m++)
            if (m != t->metric)
                json_object_set_new(row, k->mean.metrics[m].name,
                                    scores_number(k->mean.metrics[m].value));
        json_object_set_new(row, "mark",
                            json_string(i == t->chosen ? "chosen"
                                        : i == t->best ? "best"
                                        : k->within    ? "within 1 se"
                                                       : ""));
        json_array_append_new(rows, row);
    }
    return rows;
}

static void print_text(cli *c, const cr_tuning *t, const cr_table *data, const json_t *rows)
{
    const cr_candidate *k = &t->candidates[t->chosen];
    char                title[64], mean[32], se[32];
    out_text(c, "%s, %zu candidates by %s on %zu rows of %s, seed %llu\n\n", c->args[0], t->n,
             scores_title(t->folds, t->repeats, title), k->mean.rows, cr_table_source(data),
             (unsigned long long)t->seed);
    out_table(c, rows);
    out_text(c, "\nchosen:");
    for (size_t d = 0; d < t->dimensions; d++)
        out_text(c, "%s %s=%s", d ? "," : "", k->settings[d].name, k->settings[d].value);
    out_text(c, ", %s %s, standard error %s\n", k->mean.metrics[t->metric].name,
             out_number(k->mean.metrics[t->metric].value, false, mean),
             out_number(k->se[t->metric], false, se));
}

typedef struct outcome {
    const cr_tuning *tuning;
    const cr_table  *data;
} outcome;

static cr_status print_tuning(cli *c, const void *arg)
{
    const outcome *w = arg;
    json_t        *root = tuning_object(c, w->tuning, c->own), *rows = tuning_table(w->tuning);
    if (c->format == FORMAT_JSON)
        out_json(c, "tune", root);
    else if (c->format == FORMAT_CSV)
        out_table(c, rows);
    else
        print_text(c, w->tuning, w->data, rows);
    json_decref(root);
    json_decref(rows);
    return CR_OK;
}

/* The winner, fitted to all rows. */
static cr_status fit_chosen(cli *c, cr_scratch *s, const cr_model_spec *m, const cr_tuning *t,
                            const tune_options *o, const cr_table *data, cr_model **out)
{
    cr_status   st = CR_OK;
    size_t      n = m->n_settings, room = o->group ? 2 * strlen(o->group) + 8 : 1;
    cr_setting *all = cr_scratch_bytes(s, n + t->dimensions + 1, sizeof *all);
    char       *without = cr_scratch_bytes(s, room, 1);
    CR_TRY(s->status);
    if (n > 0) memcpy(all, m->settings, n * sizeof *all);
    memcpy(all + n, t->candidates[t->chosen].settings, t->dimensions * sizeof *all);
    n += t->dimensions;
    if (o->group) {
        without[0] = '!';
        cri_list_quote(o->group, without + 1, room - 1);
        all[n++] = (cr_setting){ "features", without };
    }
    CR_TRY(cr_fit(c->cx, m->model, data, all, n, out));
done:
    return st;
}

static cr_status run_tune(cli *c)
{
    cr_status           st = CR_OK;
    const tune_options *o = c->own;
    cr_scratch          s = cr_scratch_begin(c->cx);
    cr_tune_options     tune = { CR_TUNE_OPTIONS(COPY) };
    cr_cv_options       cv = { CR_CV_OPTIONS(COPY) };
    cr_model_spec      *spec = NULL;
    cr_table           *data = NULL;
    cr_tuning           t = { 0 };
    cr_model           *m = NULL;

    CR_TRY(specs_read(c, &s, 0, 1, &spec));
    CR_TRY(cli_read_data(c, 1, NULL, &data));
    CR_TRY(cr_tune(c->cx, spec, data, &tune, &cv, &t));
    if (c->global.output) CR_TRY(fit_chosen(c, &s, spec, &t, o, data, &m));
    CR_TRY(cli_check_strict(c));
    CR_TRY(cli_print_and_save(c, m, print_tuning, &(outcome){ &t, data }));
done:
    cr_tuning_free(c->cx, &t);
    cr_model_free(c->cx, m);
    cr_table_free(c->cx, data);
    cr_scratch_end(&s);
    return st;
}

const cli_verb verb_tune = {
    .name = "tune",
    .usage = "tune MODEL DATA --target COLUMN --over NAME=VALUES [OPTIONS]",
    .summary = "choose settings by cross-validation; save the winner with -o",
    .example = "credence tune ridge examples/diabetes.csv --target progression "
               "--over lambda=0.01..100:log:5 --over 'basis=poly:1|poly:2' --folds 5\n"
               "credence tune ridge examples/diabetes.csv --target progression "
               "--over lambda=0.01..1000:log --search random --draws 8 --rule 1se -o model.cred",
    .options = tune_table,
    .options_size = sizeof(tune_options),
    .takes = VERB_READS | VERB_FITS | VERB_FACTORISES | VERB_SAVES,
    .least = 2,
    .most = 2,
    .run = run_tune,
    .result = result_tune,
};
