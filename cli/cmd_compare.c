/* cmd_compare.c -- compare: models on the same folds, or groups of rows under one model. */
#include "compare.h"
#include "specs.h"

/* clang-format off */
#define COMPARE_OPTIONS(X)                                                                           \
    CR_GROUP_OPTIONS(X)                                                                              \
    CR_CV_OPTIONS(X)                                                                                 \
    X(flag, average, "false", "", "also judge the Bayesian average of the models", "")
/* clang-format on */
CR_OPTIONS_STRUCT(compare_options, COMPARE_OPTIONS);
#define ROW(...) CR_OPTION_ROW(compare_options, __VA_ARGS__)
static const cr_option compare_table[] = { COMPARE_OPTIONS(ROW) CR_OPTION_LAST };
#undef ROW
#define COPY(kind, field, fallback, range, help, example) .field = o->field,

static cr_status run_groups(cli *c, const compare_options *o)
{
    cr_status        st = CR_OK;
    cr_table        *t = NULL;
    cr_group_options groups = { CR_GROUP_OPTIONS(COPY) };
    CR_TRY(cli_check_settings(c));
    if (c->n_args > 2)
        CR_TRY(cr_fail(c->cx, CR_EARG,
                       "compare: --by compares groups under one model, and here are %zu",
                       c->n_args - 1));
    CR_TRY(cli_read_data(c, 1, NULL, &t));
    CR_TRY(compare_groups(c, t, &groups));
done:
    cr_table_free(c->cx, t);
    return st;
}

static cr_status run_models(cli *c, const compare_options *o)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(c->cx);
    cr_table      *t = NULL;
    cr_model_spec *specs = NULL;
    cr_cv_options  cv = { CR_CV_OPTIONS(COPY) };
    size_t         n = c->n_args - 1;
    CR_TRY(specs_read(c, &s, 0, n, &specs));
    CR_TRY(cli_read_data(c, n, NULL, &t));
    CR_TRY(compare_models(c, t, specs, n, &cv, o->average));
done:
    cr_table_free(c->cx, t);
    cr_scratch_end(&s);
    return st;
}

static cr_status run_compare(cli *c)
{
    const compare_options *o = c->own;
    if (o->by) return run_groups(c, o);
    if (c->n_args > 2) return run_models(c, o);
    if (!cr_class_find(c->cx, c->args[0])) return CR_EARG;
    cr_fail(c->cx, CR_EARG,
            "compare: --by COLUMN is missing, the groups to be compared, or a second model");
    return cr_fail_hint(c->cx, "usage: credence %s", c->verb->usage);
}

const cli_verb verb_compare = {
    .name = "compare",
    .usage = "compare MODEL DATA --by COLUMN, or MODEL... DATA --target COLUMN",
    .summary = "models on the same folds, or, with --by, whether groups differ",
    .example =
        "credence compare linear ridge:lambda=10 examples/diabetes.csv --target progression\n"
        "credence compare linear linear:features=bmi examples/diabetes.csv --target progression "
        "--average --folds 5\n"
        "credence compare beta-bernoulli examples/aspirin.csv --by arm --weights people\n"
        "credence compare normal examples/diabetes.csv --by sex --features bmi "
        "--prior mean0=25,kappa0=1,nu0=2,var0=16",
    .options = compare_table,
    .options_size = sizeof(compare_options),
    .takes = VERB_READS | VERB_FITS | VERB_FACTORISES,
    .least = 2,
    .most = 64,
    .run = run_compare,
    .result = result_compare,
};
