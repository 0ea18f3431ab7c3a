/* cmd_fit.c -- fit: data to a model. */
#include "blocks.h"
#include "../cli.h"
#include "models/core/describe.h"
#include "models/core/fit_stream.h"
#include "models/core/model_internal.h"

#include <stdio.h>
#include <string.h>

const cr_field result_fit[] = {
    CR_MEASURE("seconds", "seconds", 0, "time of the fit, excluding reading"),
    CR_TEXT("output", CR_FIELD_SOMETIMES, "file the model was saved to, with --output"),
    CR_FIELD_LAST,
};

#define FIT_OPTIONS(X)                                                                             \
    BLOCK_OPTIONS(X, "as many as 16 MiB of the data hold")                                         \
    EXP_OPTION(X)
CR_OPTIONS(block_options, block_table, FIT_OPTIONS);

typedef struct summary {
    const cr_model *model;
    const char     *schema;
} summary;

static cr_status print_summary(cli *c, const void *arg)
{
    const summary *s = arg;
    cr_status      st = CR_OK;
    cri_sheet     *d = NULL;
    CR_TRY(cri_model_describe(c->cx, s->model, &d));
    CR_TRY(cli_put_exp(c, d));
    cri_put_real(d, "seconds", cr_model_get_report(s->model)->seconds);
    if (c->global.output) cri_put_text(d, "output", c->global.output);
    CR_TRY(cri_sheet_status(d));
    if (c->format == FORMAT_JSON)
        out_result(c, s->schema, d);
    else if (c->format == FORMAT_CSV)
        cli_print_parameters(c, d);
    else
        cli_print_model(c, d);
    if (c->format == FORMAT_TEXT && c->global.output) out_text(c, "\n");
done:
    cri_sheet_free(d);
    return st;
}

static cr_status print_and_save(cli *c, const cr_model *model, const char *schema)
{
    return cli_print_and_save(c, model, print_summary, &(summary){ model, schema });
}

/* Whether a fit stopped because it had the iterations that its option allows. */
static bool at_most_iterations(const cr_model *m)
{
    const cr_option *o = cr_option_find(cr_class_options(cr_model_get_class(m)), "max_iter");
    char             most[64], done[64];
    if (!o) return false;
    cr_options_print(o, m->options, most, sizeof most);
    snprintf(done, sizeof done, "%zu", cr_model_get_report(m)->iterations);
    return strcmp(most, done) == 0;
}

cr_status cli_deliver_model(cli *c, const cr_model *model, const char *schema)
{
    cr_status        st = CR_OK;
    const cr_report *r = cr_model_get_report(model);
    if (r->stop == CR_STOP_LIMIT)
        cr_log(c->cx, CR_LOG_WARNING, "not converged: stopped after %zu iterations%s",
               r->iterations,
               at_most_iterations(model) ? "; a larger --max-iter lets it continue" : "");
    if (r->stop == CR_STOP_NO_PROGRESS)
        cr_log(c->cx, CR_LOG_WARNING,
               "not converged: after %zu iterations no step improves the fit, although its "
               "gradient is not small",
               r->iterations);
    CR_TRY(cli_check_strict(c));
    CR_TRY(print_and_save(c, model, schema));
done:
    return st;
}

static cr_status fit_stream(cli *c, cr_model **out_model)
{
    cr_status            st = CR_OK;
    const block_options *o = c->own;
    cr_stream           *stream = NULL;
    CR_TRY(cli_open_stream(c, 1, NULL, o->block, &stream));
    CR_TRY(cr_fit_stream(c->cx, c->args[0], stream, c->settings, c->n_settings, out_model));
done:
    cr_stream_free(c->cx, stream);
    return st;
}

static cr_status run_fit(cli *c)
{
    cr_status            st = CR_OK;
    const block_options *o = c->own;
    cr_table            *t = NULL;
    cr_model            *m = NULL;
    CR_TRY(cli_check_settings(c));
    if (o->stream) {
        CR_TRY(fit_stream(c, &m));
    } else {
        CR_TRY(cli_program_table(c, c->args[1], &t));
        if (!t) CR_TRY(cli_read_data(c, 1, NULL, &t));
        CR_TRY(cr_fit(c->cx, c->args[0], t, c->settings, c->n_settings, &m));
    }
    cr_ctx_set_time_limit(c->cx, 0); /* what was learned in time is saved and shown */
    CR_TRY(cli_deliver_model(c, m, "fit"));
done:
    cr_model_free(c->cx, m);
    cr_table_free(c->cx, t);
    return st;
}

const cli_verb verb_fit = {
    .name = "fit",
    .usage = "fit MODEL DATA --target COLUMN [-o FILE.cred] [OPTIONS]",
    .summary = "learn a model from data; print it, and save it with -o",
    .example =
        "credence fit bayes-linear examples/diabetes.csv --target progression -o model.cred\n"
        "credence fit linear examples/diabetes.csv --target progression --features 'bmi,s*'\n"
        "credence fit ridge examples/diabetes.csv --target progression --stream\n"
        "credence fit examples/schools.model examples/schools.csv --accept 0.95",
    .options = block_table,
    .options_size = sizeof(block_options),
    .takes = VERB_READS | VERB_FITS | VERB_FACTORISES | VERB_SAVES,
    .least = 2,
    .most = 2,
    .run = run_fit,
    .result = result_fit,
    .describes = DESCRIBES_MODEL,
};
