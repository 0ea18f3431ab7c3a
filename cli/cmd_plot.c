/* cmd_plot.c -- figures of a model and data. */
#include "cli.h"
#include "plot/figure.h"
#include "plot/kinds.h"

#include <string.h>

/* clang-format off */
#define PLOT_OPTIONS(X)                                                                              \
    X(choice, kind, "fit", "fit|residuals|calibration|roc|pr|learning-curve|path",                   \
      "what is drawn: fit: the model with its band, or observed against predicted; path: coefficients of a lasso, without DATA; the others judge it; all but fit are drawn as text without -o", \
      "residuals")                                                                                   \
    X(real, interval, "0.95", "0<..<1", "mass of the intervals that are drawn", "0.9")
/* clang-format on */
enum { KIND_FIT, KIND_PATH = CR_PLOT_PATH + 1 }; /* the others follow as in cr_plot_kind */
CR_OPTIONS_STRUCT(plot_options, PLOT_OPTIONS);
#define ROW(...) CR_OPTION_ROW(plot_options, __VA_ARGS__)
static const cr_option plot_table[] = { PLOT_OPTIONS(ROW) CR_OPTION_LAST };
#undef ROW

enum { TEXT_WIDTH = 64, TEXT_HEIGHT = 21 };

static cr_status check_path(cli *c, const plot_options *o)
{
    const char *path = c->global.output;
    if (!path && o->kind != KIND_FIT) return CR_OK;
    if (!path) {
        cr_fail(c->cx, CR_EARG, "plot needs a file for the figure");
        return cr_fail_hint(c->cx, "for example -o figure.svg");
    }
    if (strcmp(path, "-") == 0 || cli_ends_with(path, ".svg")) return CR_OK;
    cr_fail(c->cx, CR_EARG, "plot draws SVG, but '%s' is not the name of one", path);
    return cr_fail_hint(c->cx, "for example -o figure.svg");
}

static cr_status print_figure(cli *c, const cr_model *m, const cr_table *t, const plot_options *o)
{
    cr_status st = CR_OK;
    char     *text = NULL;
    CR_TRY(cr_plot_text(c->cx, m, t, (cr_plot_kind)(o->kind - 1), o->interval, TEXT_WIDTH,
                        TEXT_HEIGHT, &text));
    CR_TRY(cli_check_strict(c));
    CR_TRY(out_open(c, NULL));
    out_bytes(c, text, strlen(text));
done:
    if (text) cr_free(c->cx, text, strlen(text) + 1, 1);
    return st;
}

static cr_status check_data(cli *c, const plot_options *o)
{
    if (c->n_args == 2 || o->kind == KIND_PATH) return CR_OK;
    cr_fail(c->cx, CR_EARG, "plot needs data beside the model: plot FILE.cred DATA");
    return cr_fail_hint(c->cx, "--kind path alone, of a lasso, needs none");
}

static cr_status run_plot(cli *c)
{
    cr_status           st = CR_OK;
    const plot_options *o = c->own;
    cr_table           *t = NULL;
    cr_model           *m = NULL;
    const char         *path;
    CR_TRY(check_path(c, o));
    CR_TRY(check_data(c, o));
    CR_TRY(cli_read_model(c, 0, &m));
    if (o->kind != KIND_PATH) CR_TRY(cli_read_data(c, 1, m, &t));
    CR_TRY(cli_check_strict(c));
    if (!c->global.output) {
        CR_TRY(print_figure(c, m, t, o));
        goto done;
    }
    path = strcmp(c->global.output, "-") == 0 ? "/dev/stdout" : c->global.output;
    if (o->kind == KIND_FIT)
        CR_TRY(cr_plot_model(c->cx, m, t, o->interval, path));
    else
        CR_TRY(cr_plot(c->cx, m, t, (cr_plot_kind)(o->kind - 1), o->interval, path));
done:
    cr_model_free(c->cx, m);
    cr_table_free(c->cx, t);
    return st;
}

const cli_verb verb_plot = {
    .name = "plot",
    .usage = "plot FILE.cred [DATA] [--kind fit] [-o FIGURE.svg]",
    .summary = "draw a model and data: its fit, or figures that judge it",
    .example = "credence plot model.cred examples/diabetes.csv -o figure.svg\n"
               "credence plot model.cred examples/diabetes.csv --kind residuals",
    .options = plot_table,
    .options_size = sizeof(plot_options),
    .takes = VERB_READS | VERB_FACTORISES,
    .least = 1,
    .most = 2,
    .run = run_plot,
};
