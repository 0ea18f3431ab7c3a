/* cmd_compare.c -- compare: models on the same folds, or groups of rows under one model. */
#include "compare.h"
#include "scores.h"
#include "specs.h"

/* clang-format off */
#define COMPARE_OPTIONS(X)                                                                           \
    CR_GROUP_OPTIONS(X)                                                                              \
    CR_CV_OPTIONS(X)                                                                                 \
    X(flag, average, "false", "", "also score the Bayesian average of the models", "")
/* clang-format on */
CR_OPTIONS(compare_options, compare_table, COMPARE_OPTIONS);

static const cr_field compared_group[] = {
    CR_TEXT("group", 0, "the value of the grouping column"),
    CR_COUNT("rows", 0, "rows of the group"),
    CR_MEASURE("log_evidence", "nats", 0, "of the model fitted to these rows alone"),
    CR_INNER(ROWS, "parameters", 0, "the parameters learned from them, with their uncertainty",
             cr_parameter_table),
    CR_FIELD_LAST,
};

static const cr_field difference[] = {
    CR_TEXT("name", 0, "the parameter"),
    CR_TEXT("greater", 0, "the group in which it is greater"),
    CR_TEXT("than", 0, "the other group"),
    CR_NUMBER("probability", 0, "posterior probability that it is, by quadrature"),
    CR_FIELD_LAST,
};

#define PAIRED                                                                                     \
    CR_OTHER(NUMBERS, "difference", 0, "each mean minus that of the best model; 0 for the best"),  \
        CR_OTHER(NUMBERS, "difference_se", 0,                                                      \
                 "standard errors of these, corrected for overlapping training rows"),             \
        CR_OTHER(NUMBERS, "t", 0, "difference / se"),                                              \
        CR_OTHER(NUMBERS, "p", 0, "probability of a larger |t| by chance"),                        \
        CR_INNER(SCORES, "folds", 0, "each score in each fold", scores_fold)

static const cr_field compared_model[] = {
    CR_TEXT("model", 0, "the model, as it was named"),
    SCORES_OF_FOLDS,
    PAIRED,
    CR_MEASURE("log_likelihood", "nats", CR_FIELD_NULL,
               "of the fit to all rows; null if there is none"),
    CR_TEXT("likelihood", 0,
            "conditional: of the target given the columns; joint: of target and columns"),
    CR_MEASURE("log_evidence", "nats", CR_FIELD_NULL,
               "of the fit to all rows; null if there is none"),
    CR_TEXT("evidence", CR_FIELD_NULL, "exact, Laplace approximation, lower bound or estimate"),
    CR_NUMBER("aic", CR_FIELD_NULL, "Akaike's criterion of that fit"),
    CR_NUMBER("bic", CR_FIELD_NULL, "Schwarz's criterion of that fit"),
    CR_NUMBER("probability", CR_FIELD_NULL,
              "posterior probability of the model, with equal prior probabilities"),
    CR_FIELD_LAST,
};

static const cr_field averaged_model[] = {
    CR_TEXT("model", 0, "average"),
    SCORES_OF_FOLDS,
    PAIRED,
    CR_FIELD_LAST,
};

static const cr_field result[] = {
    CR_COUNT("rows", 0, "rows learned from, or scored over all folds"),
    CR_COUNT("seed", 0, "random seed of the split and the fits"),
    CR_INNER(ROWS, "models", CR_FIELD_SOMETIMES, "of models: each, in order", compared_model),
    CR_OTHER(WORDS, "best", CR_FIELD_SOMETIMES, "of models: the best by each score"),
    CR_TEXT("weights", CR_FIELD_SOMETIMES,
            "of models: what their probabilities are based on: evidence, bic, or none"),
    CR_INNER(OBJECT, "average", CR_FIELD_SOMETIMES,
             "with --average: the Bayesian average of the models", averaged_model),
    CR_TEXT("model", CR_FIELD_SOMETIMES, "of groups, here and below: name of the model"),
    CR_TEXT("by", CR_FIELD_SOMETIMES, "column that defines the groups"),
    CR_MEASURE("pooled_log_evidence", "nats", CR_FIELD_EITHER, "of a single model for all rows"),
    CR_MEASURE("separate_log_evidence", "nats", CR_FIELD_EITHER,
               "of a model for each group, summed"),
    CR_MEASURE("log_bayes_factor", "nats", CR_FIELD_EITHER,
               "separate minus pooled; above 0 favours a difference"),
    CR_NUMBER("prior_odds", CR_FIELD_SOMETIMES, "prior odds that the groups differ"),
    CR_NUMBER("probability", CR_FIELD_EITHER, "posterior probability that the groups differ"),
    CR_TEXT("evidence", CR_FIELD_SOMETIMES,
            "exact, Laplace approximation, lower bound or estimate"),
    CR_INNER(ROWS, "groups", CR_FIELD_SOMETIMES, "each group, in order", compared_group),
    CR_INNER(ROWS, "differences", CR_FIELD_SOMETIMES,
             "with two groups: each parameter whose posterior is a standard distribution; "
             "otherwise empty",
             difference),
    CR_FIELD_LAST,
};

#define COPY(kind, field, fallback, range, help, example) .field = o->field,

static cr_status run_groups(cli *c, const compare_options *o)
{
    cr_status        st = CR_OK;
    cr_table        *t = NULL;
    cr_group_options groups = { CR_GROUP_OPTIONS(COPY) };
    CR_TRY(cli_check_settings(c));
    if (c->n_args > 2)
        CR_TRY(cr_fail(c->cx, CR_EARG,
                       "compare: --by compares groups under a single model, but %zu were given",
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
    cr_fail(c->cx, CR_EARG, "compare: give --by COLUMN to compare groups, or a second model");
    return cr_fail_hint(c->cx, "usage: credence %s", c->verb->usage);
}

const cli_verb verb_compare = {
    .name = "compare",
    .usage = "compare MODEL DATA --by COLUMN, or MODEL... DATA --target COLUMN",
    .summary = "compare models on the same folds or, with --by, groups of rows",
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
    .result = result,
};
