/* cmd_sample.c -- rows drawn from a model of densities. */
#include "../render/answers.h"

#define SAMPLE_OPTIONS(X) X(count, count, "1", "0..1000000000", "number of rows to draw", "100")
CR_OPTIONS(sample_options, sample_table, SAMPLE_OPTIONS);

static const cr_field drawn[] = {
    CR_OTHER(VALUES, "values", 0, "each column by its name"),
    CR_FIELD_LAST,
};

static const cr_field result[] = {
    CR_TEXT("model", 0, "name of the model"),
    CR_COUNT("rows", 0, "rows that were drawn"),
    CR_COUNT("seed", 0, "random seed of the draws"),
    CR_INNER(ROWS, "sample", 0, "one for each row", drawn),
    CR_FIELD_LAST,
};

static const char *const truth[] = { "false", "true" };

/* What is drawn for a column of truth values need not be one: a normal model knows none. */
static bool all_truth_values(const answer_column *c, size_t rows)
{
    for (size_t i = 0; i < rows; i++)
        if (c->x[i * c->stride] != 0 && c->x[i * c->stride] != 1) return false;
    return true;
}

/* What stands for the codes of a column: its levels, or false and true. */
static void name_values(cr_scratch *s, const cr_design *d, size_t i, size_t rows, answer_column *c)
{
    size_t       n = cr_design_levels(d, i);
    const char **names = n ? cr_scratch_bytes(s, n, sizeof *names) : NULL;
    for (size_t k = 0; names && k < n; k++) names[k] = cr_design_level(d, i, k);
    c->names = names, c->n_names = n;
    if (cr_design_column_type(d, i) == CR_BOOLEAN && all_truth_values(c, rows))
        c->names = truth, c->n_names = 2;
}

static cr_status fail_draws(cli *c, const cr_model *m)
{
    unsigned task = cr_model_get_task(m);
    cr_fail(c->cx, CR_EUNSUPPORTED, "the model %s does not draw rows",
            cr_class_name(cr_model_get_class(m)));
    if (!(task & (CR_TASK_REGRESSION | CR_TASK_CLASSIFICATION))) return CR_EUNSUPPORTED;
    return cr_fail_hint(c->cx,
                        "it predicts %s from other columns: credence predict %s DATA --draws N "
                        "draws from these predictions",
                        cr_design_target(cr_model_get_design(m)), c->args[0]);
}

static cr_status print(cli *c, const cr_model *m, const answers *a)
{
    cr_status  st = CR_OK;
    cri_sheet *head = cri_sheet_new(c->cx);
    cri_put_text(head, "model", cr_class_name(cr_model_get_class(m)));
    cri_put_count(head, "rows", a->rows);
    cri_put_count(head, "seed", c->fit.seed);
    CR_TRY(cri_sheet_status(head));
    CR_TRY(out_open(c, c->global.output));
    CR_TRY(answers_print_result(c, a, head, "sample"));
done:
    cri_sheet_free(head);
    return st;
}

static cr_status run_sample(cli *c)
{
    cr_status             st = CR_OK;
    cr_scratch            s = cr_scratch_begin(c->cx);
    const sample_options *o = c->own;
    cr_model             *m = NULL;
    const cr_design      *d;
    answers               a;
    size_t                p;
    double               *x;

    CR_TRY(cli_read_model(c, 0, &m));
    if (!cr_class_offers(cr_model_get_class(m), "sample") ||
        cr_model_get_task(m) & (CR_TASK_REGRESSION | CR_TASK_CLASSIFICATION))
        CR_TRY(fail_draws(c, m));
    d = cr_model_get_design(m);
    p = cr_design_columns(d);
    x = cr_scratch_matrix(&s, o->count, p);
    a = answers_new(&s, o->count, p);
    CR_TRY(s.status);
    CR_TRY(cr_sample(c->cx, m, o->count, c->fit.seed, x));
    for (size_t j = 0; j < p; j++) {
        answer_column *column =
            answers_add(&a, cr_design_column_name(d, j), cr_design_column_name(d, j));
        column->group = "values";
        column->x = x + j, column->stride = p;
        name_values(&s, d, j, o->count, column);
    }
    CR_TRY(s.status);
    CR_TRY(cli_check_strict(c));
    CR_TRY(print(c, m, &a));
done:
    cr_model_free(c->cx, m);
    cr_scratch_end(&s);
    return st;
}

const cli_verb verb_sample = {
    .name = "sample",
    .usage = "sample FILE.cred [-n 1] [--seed 0] [-o FILE]",
    .summary = "draw rows from a model of densities",
    .example = "credence fit mvn examples/diabetes.csv --features bmi,bp -o density.cred\n"
               "credence sample density.cred -n 1000 --seed 7 -o drawn.csv",
    .options = sample_table,
    .options_size = sizeof(sample_options),
    .takes = VERB_FACTORISES,
    .least = 1,
    .most = 1,
    .run = run_sample,
    .result = result,
};
