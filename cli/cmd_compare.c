/* cmd_compare.c -- compare: by their evidence, groups of rows under one model. */
#include "compare.h"

static cr_status run_compare(cli *c)
{
    cr_status               st = CR_OK;
    const cr_group_options *o = c->own;
    cr_table               *t = NULL;
    CR_TRY(cli_check_settings(c));
    if (!o->by) {
        cr_fail(c->cx, CR_EARG, "compare: --by COLUMN is missing: the groups to be compared");
        CR_TRY(cr_fail_hint(c->cx, "usage: credence %s", c->verb->usage));
    }
    CR_TRY(cli_read_data(c, c->n_args - 1, NULL, &t));
    CR_TRY(compare_groups(c, t, o));
done:
    cr_table_free(c->cx, t);
    return st;
}

const cli_verb verb_compare = {
    .name = "compare",
    .usage = "compare MODEL DATA --by COLUMN [--prior-odds 1] [OPTIONS]",
    .summary = "whether groups of rows differ, by the Bayes factor",
    .example = "credence compare beta-bernoulli examples/aspirin.csv --by arm --weights people\n"
               "credence compare normal examples/diabetes.csv --by sex --features bmi "
               "--prior mean0=25,kappa0=1,nu0=2,var0=16",
    .options = cr_group_table,
    .options_size = sizeof(cr_group_options),
    .takes = VERB_READS | VERB_FITS | VERB_FACTORISES,
    .least = 2,
    .most = 2,
    .run = run_compare,
    .result = result_compare,
};
