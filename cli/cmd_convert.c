/* cmd_convert.c -- data from one format to another. */
#include "cli.h"
#include "data/write.h"

#include <string.h>

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static cr_status run_convert(cli *c)
{
    cr_status   st = CR_OK;
    cr_table   *t = NULL;
    const char *to = c->args[1];
    bool        npy = ends_with(to, ".npy"), csv = ends_with(to, ".csv") || strcmp(to, "-") == 0;
    if (!npy && !csv) {
        cr_fail(c->cx, CR_EARG, "cannot tell the format of '%s' from its name", to);
        CR_TRY(cr_fail_hint(c->cx, "end it in .csv or .npy"));
    }
    if (cli_is_model(c->args[0])) {
        cr_fail(c->cx, CR_EUNSUPPORTED, "'%s' is a model; only data are converted", c->args[0]);
        CR_TRY(cr_fail_hint(c->cx, "credence describe %s --json prints all of it", c->args[0]));
    }
    CR_TRY(cli_read_data(c, 0, NULL, &t));
    if (strcmp(to, "-") == 0) to = "/dev/stdout";
    CR_TRY(npy ? cr_table_write_npy(c->cx, t, to) : cr_table_write_csv(c->cx, t, to));
done:
    cr_table_free(c->cx, t);
    return st;
}

const cli_verb verb_convert = {
    .name = "convert",
    .usage = "convert IN OUT",
    .summary = "write data in another format: .csv or .npy",
    .example = "credence convert examples/diabetes.csv diabetes.npy",
    .takes = VERB_READS,
    .least = 2,
    .most = 2,
    .run = run_convert,
};
