/* cmd_convert.c -- data, a network, or a support vector machine, from one format to another. */
#include "../cli.h"
#include "convert_model.h"
#include "network.h"
#include "data/formats/write.h"

#include <string.h>

/* In the order of cr_network_format. */
#define CONVERT_OPTIONS(X)                                                                         \
    X(choice, to, "auto", "auto|bif|xmlbif|net|uai|cred|json",                                     \
      "format of the network to write; auto: by the name of OUT", "bif")                           \
    X(flag, canonical, "false", "",                                                                \
      "write a network as weights of features, by Moebius inversion around a reference", "")       \
    X(list, reference, "", "VARIABLE=STATE",                                                       \
      "with --canonical: states of the reference; the default for each variable is its first "     \
      "state",                                                                                     \
      "x=yes,y=no")
CR_OPTIONS(convert_options, convert_table, CONVERT_OPTIONS);

typedef enum format { TO_CSV, TO_NPY, TO_LIBSVM } format;

static bool tell_format(const char *path, format *out)
{
    if (cli_ends_with(path, ".npy"))
        *out = TO_NPY;
    else if (cli_ends_with(path, ".libsvm") || cli_ends_with(path, ".svm"))
        *out = TO_LIBSVM;
    else if (cli_ends_with(path, ".csv") || cli_ends_with(path, ".csv.gz") ||
             cli_ends_with(path, ".csv.zst") || strcmp(path, "-") == 0)
        *out = TO_CSV;
    else
        return false;
    return true;
}

/* Is it clear where to write?  The second argument or --output. */
static cr_status check_target(cli *c, const char *to)
{
    if (!to || (c->n_args > 1 && c->global.output)) {
        cr_fail(c->cx, CR_EARG,
                to ? "convert: both OUT and --output are given"
                   : "convert: the argument OUT is missing");
        return cr_fail_hint(c->cx, "usage: credence %s", c->verb->usage);
    }
    if (c->format == FORMAT_JSON) {
        cr_fail(c->cx, CR_EARG, "convert does not write JSON");
        return cr_fail_hint(c->cx, "credence describe %s --json prints its contents", c->args[0]);
    }
    return CR_OK;
}

/* Where to write, and in which format; standard output is CSV. */
static cr_status find_target(cli *c, const char **out_path, format *out_format)
{
    const char *to = c->n_args > 1 ? c->args[1] : c->global.output;
    cr_status   st = check_target(c, to);
    if (st != CR_OK) return st;
    if (!tell_format(to, out_format)) {
        cr_fail(c->cx, CR_EARG, "cannot tell the format of '%s' from its name", to);
        return cr_fail_hint(c->cx, "end it in .csv (or .csv.gz, .csv.zst), .npy or .libsvm");
    }
    *out_path = to;
    c->n_args = 1; /* only IN is a file to be read */
    return cli_check_output(c, to, 0);
}

static cr_status convert_network(cli *c)
{
    const convert_options *o = c->own;
    const char            *to = c->n_args > 1 ? c->args[1] : c->global.output;
    cr_status              st = check_target(c, to);
    if (st != CR_OK) return st;
    c->n_args = 1;
    st = cli_check_output(c, to, 0);
    if (st == CR_OK && o->reference && !o->canonical) {
        cr_fail(c->cx, CR_EARG, "--reference requires --canonical");
        st = cr_fail_hint(c->cx, "add --canonical");
    }
    if (st != CR_OK) return st;
    return cli_convert_network(c, to, (cr_network_format)o->to, o->canonical, o->reference);
}

static cr_status convert_model(cli *c, cli_model_kind kind)
{
    const char *to = c->n_args > 1 ? c->args[1] : c->global.output;
    cr_status   st = check_target(c, to);
    if (st != CR_OK) return st;
    c->n_args = 1;
    st = cli_check_output(c, to, 0);
    return st == CR_OK ? cli_convert_model(c, kind, to) : st;
}

static cr_status run_convert(cli *c)
{
    cr_status   st = CR_OK;
    cr_table   *t = NULL;
    const char *to = NULL;
    format      f = TO_CSV;

    if (cli_find_network(c, 0) != CLI_NO_NETWORK) return convert_network(c);
    if (((const convert_options *)c->own)->to != CR_FORMAT_AUTO) {
        cr_fail(c->cx, CR_EARG,
                "--to is the format of a network, but %s does not have the name of one",
                c->args[0]);
        CR_TRY(cr_fail_hint(c->cx, "for data, the format follows from the name of OUT"));
    }
    cli_model_kind kind = cli_find_model(c, 0);
    if (kind != CLI_NO_MODEL) return convert_model(c, kind);
    CR_TRY(find_target(c, &to, &f));
    CR_TRY(cli_read_data(c, 0, NULL, &t));
    CR_TRY(cli_check_strict(c));
    if (strcmp(to, "-") == 0) to = "/dev/stdout";
    CR_TRY(f == TO_NPY      ? cr_table_write_npy(c->cx, t, to)
           : f == TO_LIBSVM ? cr_table_write_libsvm(c->cx, t, NULL, to)
                            : cr_table_write_csv(c->cx, t, to));
done:
    cr_table_free(c->cx, t);
    return st;
}

const cli_verb verb_convert = {
    .name = "convert",
    .usage = "convert IN OUT",
    .summary = "write data, a network or an SVM in another format, by file name",
    .example = "credence convert examples/diabetes.csv diabetes.npy\n"
               "credence convert examples/networks/burglary.bif burglary.uai\n"
               "credence convert examples/networks/misconception.uai features.json --canonical",
    .options = convert_table,
    .options_size = sizeof(convert_options),
    .takes = VERB_READS,
    .least = 1,
    .most = 2,
    .run = run_convert,
};
