/* cmd_tune.c -- tune: settings chosen by cross-validation; the winner is fitted to all rows. */
#include "base/context_internal.h"
#include "base/list.h"
#include "scores.h"
#include "specs.h"
#include "study/tune.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TUNE_OPTIONS(X) CR_TUNE_OPTIONS(X) CR_CV_OPTIONS(X)
CR_OPTIONS(tune_options, tune_table, TUNE_OPTIONS);
#define COPY(kind, field, fallback, range, help, example) .field = o->field,

static const cr_field candidate[] = {
    CR_OTHER(WORDS, "settings", 0, "what was tried"),
    SCORES_OF_FOLDS,
    CR_INNER(SCORES, "folds", 0, "each score in each fold", scores_fold),
    CR_FLAG("within", 0, "whether its score is within one standard error of the best"),
    CR_NUMBER("apparent", CR_FIELD_NULL, "with --rule 1se: its score on its training rows"),
    CR_FIELD_LAST,
};

static const cr_field result[] = {
    CR_TEXT("model", 0, "the model, as it was named"),
    CR_COUNT("rows", 0, "rows that were scored, over all folds"),
    CR_COUNT("seed", 0, "random seed of split, search and fits"),
    CR_TEXT("metric", 0, "the score used for the choice"),
    CR_TEXT("search", 0, "grid or random"),
    CR_TEXT("rule", 0, "best or 1se"),
    CR_COUNT("folds", 0, "number of folds"),
    CR_COUNT("repeats", 0, "number of times the folds were made"),
    CR_INNER(OBJECT, "chosen", 0, "the winner", candidate),
    CR_INNER(OBJECT, "best", 0, "the best mean score", candidate),
    CR_INNER(ROWS, "candidates", 0, "all that were tried, in order", candidate),
    CR_TEXT("output", CR_FIELD_SOMETIMES, "file the fitted winner was saved to, with --output"),
    CR_FIELD_LAST,
};

/* The settings, the score with its standard error, then the other scores. */
static void put_table(const cr_tuning *t, cri_sheet *rows)
{
    for (size_t i = 0; i < t->n; i++) {
        const cr_candidate *k = &t->candidates[i];
        const cr_metric    *metrics = k->mean.metrics;
        cri_sheet          *row = cri_put_object(rows, NULL);
        cri_put_candidate_settings(t, k, row);
        cri_put_real(row, metrics[t->metric].name, metrics[t->metric].value);
        cri_put_real(row, "se", k->se[t->metric]);
        for (size_t m = 0; m < k->mean.n; m++)
            if (m != t->metric) cri_put_real(row, metrics[m].name, metrics[m].value);
        cri_put_text(row, "mark",
                     i == t->chosen ? "chosen"
                     : i == t->best ? "best"
                     : k->within    ? "within 1 se"
                                    : "");
    }
}

static void print_text(cli *c, const cr_tuning *t, const cr_table *data, const cri_sheet *rows)
{
    const cr_candidate *k = &t->candidates[t->chosen];
    char                title[64], mean[32], se[32];
    out_text(c, "%s, %zu candidates by %s on %zu rows of %s, seed %llu\n\n", c->args[0], t->n,
             scores_title(t->folds, t->repeats, title), k->mean.rows, cr_table_source(data),
             (unsigned long long)t->seed);
    out_rows(c, rows);
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
    int              search, rule;
} outcome;

static cr_status print_tuning(cli *c, const void *arg)
{
    cr_status      st = CR_OK;
    const outcome *w = arg;
    cli_result     r = cli_result_new(c);
    cri_put_text(r.object, "model", c->args[0]);
    cri_put_tuning(w->tuning, w->search, w->rule, r.object);
    if (c->global.output) cri_put_text(r.object, "output", c->global.output);
    put_table(w->tuning, r.rows);
    CR_TRY(cri_sheet_status(r.whole));
    if (c->format == FORMAT_JSON)
        out_result(c, "tune", r.object);
    else if (c->format == FORMAT_CSV)
        out_rows(c, r.rows);
    else
        print_text(c, w->tuning, w->data, r.rows);
done:
    cli_result_free(r);
    return st;
}

/* The search is over, but there is no time for the model. */
static void fail_late(cli *c, const cr_tuning *t)
{
    const cr_candidate *k = &t->candidates[t->chosen];
    char                text[512] = "";
    size_t              used = 0;
    for (size_t d = 0; d < t->dimensions && used < sizeof text; d++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s %s=%s", d ? "," : "",
                                 k->settings[d].name, k->settings[d].value);
    cr_fail(c->cx, CR_ENOMEM,
            "the time limit is reached: the best of %zu candidates,%s, has not been fitted to all "
            "rows",
            t->n, text);
    cr_fail_hint(c->cx, "give it longer, or fit the model with these settings");
}

/* The winner, fitted to all rows. */
static cr_status fit_chosen(cli *c, cr_scratch *s, const cr_model_spec *m, const cr_tuning *t,
                            const tune_options *o, const cr_table *data, cr_model **out)
{
    cr_status   st = CR_OK;
    size_t      n = m->n_settings, capacity = o->group ? 2 * strlen(o->group) + 8 : 1;
    cr_setting *all = cr_scratch_bytes(s, n + t->dimensions + 1, sizeof *all);
    char       *without = cr_scratch_bytes(s, capacity, 1);
    CR_TRY(s->status);
    if (n > 0) memcpy(all, m->settings, n * sizeof *all);
    memcpy(all + n, t->candidates[t->chosen].settings, t->dimensions * sizeof *all);
    n += t->dimensions;
    if (o->group) {
        without[0] = '!';
        cri_list_quote(o->group, without + 1, capacity - 1);
        all[n++] = (cr_setting){ "features", without };
    }
    st = cr_fit(c->cx, m->model, data, all, n, out);
    if (st == CR_ENOMEM && cri_should_stop(c->cx)) fail_late(c, t);
done:
    return st;
}

/* Values to try of an option that the model has, by the command as it was typed. */
static cr_status fail_without_over(cli *c)
{
    static const char *const known[] = { "lambda=0.01..100:log:5", "'k=1|2|4|8'",
                                         "'components=1|2|4'",     "'rounds=50|100|200'",
                                         "'depth=2|4|6'",          "c=0.1..100:log:5" };
    const cr_model_class    *m = cr_class_find(c->cx, c->args[0]);
    char                     name[32], command[1024];
    if (!m) return CR_EARG;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const char *first = known[i] + (known[i][0] == '\'');
        snprintf(name, sizeof name, "%.*s", (int)strcspn(first, "="), first);
        if (!cr_option_find(cr_class_options(m), name)) continue;
        cli_without_flag(c, "over", command, sizeof command);
        cr_fail(c->cx, CR_EARG, "--over is missing: it gives the settings to try");
        return cr_fail_hint(c->cx, "for example %s --over %s", command, known[i]);
    }
    cr_fail(c->cx, CR_EARG, "--over is missing: it gives the settings to try");
    return cr_fail_hint(c->cx,
                        "credence models %s lists options of the model, for --over "
                        "'NAME=VALUE|VALUE'",
                        c->args[0]);
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
    if (!tune.over) CR_TRY(fail_without_over(c));
    CR_TRY(cr_tune(c->cx, spec, data, &tune, &cv, &t));
    if (c->global.output) CR_TRY(fit_chosen(c, &s, spec, &t, o, data, &m));
    CR_TRY(cli_check_strict(c));
    CR_TRY(cli_print_and_save(c, m, print_tuning, &(outcome){ &t, data, o->search, o->rule }));
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
    .result = result,
};
