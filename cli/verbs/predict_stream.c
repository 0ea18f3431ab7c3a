/* predict_stream.c -- predictions of rows as they come in: a filter in a pipe, and files larger than
 * memory. */
#include "predict_job.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What needs all rows at once, or an order of them that blocks do not have. */
cr_status predict_check_stream(const predict_job *j)
{
    const predict_options *o = j->o;
    char                   spelled[64];
    const char            *other = cli_first_set(j->c, "coordinates covariance draws", spelled);
    if (!o->stream && o->block) return cr_fail(j->c->cx, CR_EARG, "--block needs --stream");
    if (!o->stream) return CR_OK;
    if (j->c->n_args < 2) return cr_fail(j->c->cx, CR_EARG, "--stream needs data");
    if (!other) return CR_OK;
    return cr_fail(j->c->cx, CR_EARG, "--%s needs all rows at once, without --stream", other);
}

/* Lines of JSON, or a table whose header comes once. */
static cr_status print_block(const predict_job *j, bool first)
{
    cr_status st = CR_OK;
    cli      *c = j->c;
    if (c->format == FORMAT_JSON)
        CR_TRY(answers_print_lines(c, &j->a));
    else
        CR_TRY(first ? answers_print(c, &j->a) : answers_print_more(c, &j->a));
    CR_TRY(out_flush(c));
done:
    return st;
}

static cr_status answer_block(predict_job *j, cr_table *block, bool first)
{
    cr_status  st = CR_OK;
    cr_scratch whole = j->s; /* of the ids: that of a block ends with it */
    j->table = block;
    j->s = cr_scratch_begin(j->c->cx);
    CR_TRY(predict_table_rows(j));
    predict_count_missing(j);
    CR_TRY(predict_make_columns(j));
    CR_TRY(print_block(j, first));
done:
    cr_decisions_free(j->c->cx, &j->decisions);
    cr_prediction_free(j->c->cx, &j->p);
    cr_table_free(j->c->cx, block);
    j->table = NULL;
    cr_scratch_end(&j->s);
    j->s = whole;
    return st;
}

/* One row of a pipe at a time, so that none waits for the next. */
static size_t block_rows(const predict_job *j)
{
    struct stat info;
    const char *path = j->c->args[1];
    bool pipe = strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &info) != 0 || !S_ISREG(info.st_mode)
                                       : stat(path, &info) == 0 && !S_ISREG(info.st_mode);
    return j->o->block ? j->o->block : pipe ? 1 : 0;
}

cr_status predict_stream(predict_job *j)
{
    cr_status  st = CR_OK;
    cr_stream *stream = NULL;
    CR_TRY(predict_read_ids(j));
    CR_TRY(cli_open_rows(j->c, 1, j->model, j->ids, j->n_ids, block_rows(j), &stream));
    CR_TRY(out_open(j->c, j->c->global.output));
    if (cr_class_offers(cr_model_get_class(j->model), "sequences"))
        CR_TRY(cr_follow_open(j->c->cx, j->model, &j->follower));
    for (bool first = true;; first = false) {
        cr_table *block = NULL;
        CR_TRY(cr_stream_next(j->c->cx, stream, &block));
        if (!block) break;
        CR_TRY(answer_block(j, block, first));
    }
    predict_warn_missing(j);
    CR_TRY(cli_check_strict(j->c));
done:
    cr_follow_free(j->c->cx, j->follower);
    cr_stream_free(j->c->cx, stream);
    return st;
}
