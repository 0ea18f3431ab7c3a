/* cmd_plot.c -- a figure of a model and data. */
#include "cli.h"
#include "plot/figure.h"

#include <string.h>

#define PLOT_OPTIONS(X)                                                                            \
    X(real, interval, "0.95", "0<..<1", "mass of the intervals that are drawn", "0.9")
CR_OPTIONS_STRUCT(plot_options, PLOT_OPTIONS);
#define ROW(...) CR_OPTION_ROW(plot_options, __VA_ARGS__)
static const cr_option plot_table[] = { PLOT_OPTIONS(ROW) CR_OPTION_LAST };
#undef ROW

static cr_status run_plot(cli *c)
{
    cr_status           st = CR_OK;
    const plot_options *o = c->own;
    cr_table           *t = NULL;
    cr_model           *m = NULL;
    const char         *path;
    if (!c->global.output) {
        cr_fail(c->cx, CR_EARG, "plot needs a file for the figure");
        CR_TRY(cr_fail_hint(c->cx, "for example -o figure.svg"));
    }
    if (strcmp(c->global.output, "-") != 0 && !cli_ends_with(c->global.output, ".svg")) {
        cr_fail(c->cx, CR_EARG, "plot draws SVG, but '%s' is not the name of one",
                c->global.output);
        CR_TRY(cr_fail_hint(c->cx, "for example -o figure.svg"));
    }
    path = strcmp(c->global.output, "-") == 0 ? "/dev/stdout" : c->global.output;
    CR_TRY(cli_read_model(c, 0, &m));
    CR_TRY(cli_read_data(c, 1, m, &t));
    CR_TRY(cli_check_strict(c));
    CR_TRY(cr_plot_model(c->cx, m, t, o->interval, path));
done:
    cr_model_free(c->cx, m);
    cr_table_free(c->cx, t);
    return st;
}

const cli_verb verb_plot = {
    .name = "plot",
    .usage = "plot FILE.cred DATA -o FIGURE.svg",
    .summary = "draw a model and data: the fit with its band, or observed against predicted",
    .example = "credence plot model.cred examples/diabetes.csv -o figure.svg",
    .options = plot_table,
    .options_size = sizeof(plot_options),
    .takes = VERB_READS | VERB_FACTORISES,
    .least = 2,
    .most = 2,
    .run = run_plot,
};
