/* cmd_update.c -- update: new rows to a model that is there; with --predictions each block of them
 * is predicted before it is taken in, so that the predictions tell how well the model does on the
 * way (Dawid 1984, "Statistical theory: the prequential approach", J. R. Statist. Soc. A 147). */
#include "../render/answers.h"
#include "blocks.h"
#include "models/core/model_internal.h"

#include <string.h>

#define UPDATE_OPTIONS(X)                                                                          \
    BLOCK_OPTIONS(X, "as many as 16 MiB of the data hold, or one row with --predictions")          \
    X(text, predictions, "", "FILE",                                                               \
      "predict each block before adding it, and write the predictions next to the observed "       \
      "values; -: to standard output, block by block",                                             \
      "-")                                                                                         \
    X(real, interval, "0.95", "0<..<1", "mass of the central interval of these predictions",       \
      "0.9")                                                                                       \
    EXP_OPTION(X)
CR_OPTIONS(update_options, update_table, UPDATE_OPTIONS);

/* One run. */
typedef struct job {
    cli                  *c;
    const update_options *o;
    cr_model             *model;        /* with all blocks so far                  */
    cr_stream            *stream;       /* NULL: all rows are one block            */
    size_t                blocks, rows; /* taken in                          */
    bool                  broken;       /* taking in a block failed: the model can only be freed */
    bool                  to_stdout;    /* of the predictions                */
    cli_format            format;       /* of the summary                    */
} job;

/* --- predictions ----------------------------------------------------------------------------- */

/* What was observed beside the prediction: a number, or the name of a class. */
static cr_status add_actual(job *j, const cr_table *block, cr_scratch *s, answers *a)
{
    cr_status        st = CR_OK;
    const cr_design *d = cr_model_get_design(j->model);
    double          *y = cr_scratch_f64(s, cr_table_rows(block));
    CR_TRY(s->status);
    if (!cr_design_target(d)) goto done;
    CR_TRY(cr_observed(j->c->cx, j->model, block, y, NULL));
    answer_column *column = answers_add(a, "actual", "actual");
    column->x = y;
    if (cr_model_get_task(j->model) == CR_TASK_CLASSIFICATION)
        column->names = cr_model_labels(j->model, &column->n_names);
done:
    return st;
}

static cr_status print_block(job *j, const answers *a)
{
    cr_status st = CR_OK;
    cli      *c = j->c;
    if (c->format == FORMAT_JSON)
        CR_TRY(answers_print_lines(c, a));
    else
        CR_TRY(j->blocks ? answers_print_more(c, a) : answers_print(c, a));
    CR_TRY(out_flush(c));
done:
    return st;
}

static cr_status predict_block(job *j, const cr_table *block)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(j->c->cx);
    cr_prediction p = { 0 };
    answers       a;

    CR_TRY(cr_predict(j->c->cx, j->model, block, &p));
    a = answers_new(&s, p.n, 16 + p.n_classes + p.n_params);
    CR_TRY(s.status);
    CR_TRY(answers_add_prediction(j->c, &s, j->model, &p, j->o->interval, false, &a));
    CR_TRY(add_actual(j, block, &s, &a));
    CR_TRY(print_block(j, &a));
done:
    cr_prediction_free(j->c->cx, &p);
    cr_scratch_end(&s);
    return st;
}

/* Predictions in a file are for programs. */
static cr_status open_predictions(job *j)
{
    cr_status   st = CR_OK;
    cli        *c = j->c;
    const char *path = j->o->predictions, *output = c->global.output;
    if (!path) return CR_OK;
    j->to_stdout = strcmp(path, "-") == 0;
    if (j->to_stdout && output && strcmp(output, "-") == 0) {
        cr_fail(c->cx, CR_EARG, "standard output cannot hold both the model and the predictions");
        CR_TRY(cr_fail_hint(c->cx, "give the model a file: -o FILE.cred"));
    }
    if (!j->to_stdout) CR_TRY(cli_check_output(c, path, 0));
    if (!j->to_stdout && output && strcmp(path, output) == 0) {
        cr_fail(c->cx, CR_EARG, "%s cannot hold both the model and the predictions", path);
        CR_TRY(cr_fail_hint(c->cx, "give the predictions a different name"));
    }
    if (!j->to_stdout && c->format == FORMAT_TEXT) c->format = FORMAT_CSV;
    CR_TRY(out_open(c, path));
done:
    return st;
}

/* --- blocks ---------------------------------------------------------------------------------- */

/* The next block; NULL at the end. */
static cr_status next_block(job *j, cr_table **out_block)
{
    if (j->stream) return cr_stream_next(j->c->cx, j->stream, out_block);
    return j->blocks ? CR_OK : cli_read_data(j->c, 1, j->model, out_block);
}

static cr_status take_block(job *j, const cr_table *block)
{
    cr_status st = CR_OK;
    cr_model *next = NULL;
    bool
        any; /* else the block has no row that is whole, and its predictions stand for themselves */
    if (j->o->predictions) CR_TRY(predict_block(j, block));
    if (j->stream) {
        j->broken = true;
        CR_TRY(cri_model_take(j->c->cx, j->model, block, false, &any));
        j->broken = false;
    } else {
        CR_TRY(cr_update(j->c->cx, j->model, block, &next));
        cr_model_free(j->c->cx, j->model);
        j->model = next;
    }
    j->blocks++;
    j->rows += cr_table_rows(block);
    if (j->stream) cr_log(j->c->cx, CR_LOG_INFO, "%zu rows read", j->rows);
done:
    return st;
}

static cr_status take_blocks(job *j)
{
    cr_status st = CR_OK;
    cr_table *block = NULL;
    for (;;) {
        CR_TRY(cr_check_interrupt(j->c->cx));
        CR_TRY(next_block(j, &block));
        if (!block) break;
        CR_TRY(take_block(j, block));
        cr_table_free(j->c->cx, block);
        block = NULL;
    }
done:
    cr_table_free(j->c->cx, block);
    return st;
}

/* --- the verb -------------------------------------------------------------------------------- */

/* A stream that is broken off, by hand or by the time limit, has taught something up to there. */
static cr_status save_what_there_is(job *j, cr_status st)
{
    cr_ctx     *cx = j->c->cx;
    const char *path = j->c->global.output;
    if (st == CR_OK || cr_check_interrupt(cx) == CR_OK) return st;
    if (j->blocks == 0 || !path || strcmp(path, "-") == 0) return st;
    cli_stop_is_heeded();
    cr_interrupt_clear(cx);
    cr_ctx_set_time_limit(cx, 0);
    cr_status saved = cr_model_save(cx, j->model, path);
    if (saved != CR_OK) return saved;
    cr_fail(cx, st, "%s after %zu rows; the model of these rows is saved to %s",
            st == CR_EINTERRUPTED ? "interrupted" : "the time limit is reached", j->rows, path);
    return cr_fail_hint(cx, "another update can add the remaining rows");
}

/* So has one that ends at a bad row, or when nobody takes the predictions any more: the sentence
 * about that stays, the hint is what became of the rows before. */
static cr_status save_up_to_fault(job *j, cr_status st)
{
    cr_ctx     *cx = j->c->cx;
    const char *path = j->c->global.output;
    bool        unread = st == CR_EIO && j->to_stdout;
    if ((st != CR_EDATA && !unread) || !j->stream || j->broken || j->blocks == 0) return st;
    if (!path || strcmp(path, "-") == 0)
        return unread ? st
                      : cr_fail_hint(cx,
                                     "with -o FILE.cred the model of the %zu rows before it would "
                                     "have been saved",
                                     j->rows);
    cr_status saved = cr_model_save(cx, j->model, path);
    if (saved != CR_OK) return saved;
    return cr_fail_hint(cx,
                        "the model of the %zu rows before it is saved to %s; another update can "
                        "add the remaining rows",
                        j->rows, path);
}

/* With the predictions on standard output there is no summary. */
static cr_status deliver(job *j)
{
    cr_status   st = CR_OK;
    const char *path = j->c->global.output;
    if (!j->to_stdout) {
        CR_TRY(out_close(j->c, CR_OK)); /* the predictions, where there are any */
        j->c->format = j->format;
        CR_TRY(cli_deliver_model(j->c, j->model, "update"));
        if (!path)
            cli_notice(j->c, "the updated model is shown but not saved: use -o FILE to save it");
        goto done;
    }
    CR_TRY(cli_check_strict(j->c));
    if (path) CR_TRY(cr_model_save(j->c->cx, j->model, path));
done:
    return st;
}

static cr_status run_update(cli *c)
{
    cr_status st = CR_OK;
    job       j = { .c = c, .o = c->own, .format = c->format };
    size_t    rows = j.o->block ? j.o->block : j.o->predictions ? 1 : 0;
    CR_TRY(cli_read_model(c, 0, &j.model));
    CR_TRY(open_predictions(&j));
    if (j.o->stream) {
        CR_TRY(cli_open_stream(c, 1, j.model, rows, &j.stream));
        cr_stream_free_levels(j.stream);
    }
    st = take_blocks(&j);
    st = save_what_there_is(&j, st);
    CR_TRY(save_up_to_fault(&j, st));
    if (j.blocks == 0) CR_TRY(cr_fail(c->cx, CR_EDATA, "%s has no rows", c->args[1]));
    CR_TRY(deliver(&j));
done:
    cr_model_free(c->cx, j.model);
    cr_stream_free(c->cx, j.stream);
    return st;
}

const cli_verb verb_update = {
    .name = "update",
    .usage = "update FILE.cred DATA [-o FILE.cred] [--predictions FILE]",
    .summary = "add new rows to a fitted model",
    .example =
        "credence update model.cred examples/diabetes.csv -o model.cred\n"
        "credence update model.cred examples/diabetes.csv --stream --predictions - -o model.cred",
    .options = update_table,
    .options_size = sizeof(update_options),
    .takes = VERB_READS | VERB_FACTORISES | VERB_SAVES,
    .least = 2,
    .most = 2,
    .run = run_update,
    .result = result_fit,
    .describes = DESCRIBES_MODEL,
};
