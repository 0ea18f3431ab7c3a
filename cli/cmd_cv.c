/* cmd_cv.c -- cv: how good a model is on rows it has not seen, with uncertainty. */
#include "scores.h"

static cr_status print_cv(cli *c, const cr_cv *cv, const cr_table *t)
{
    cr_status st = CR_OK;
    char      title[64];
    json_t   *root = json_object(), *rows = scores_table(&cv->mean, cv->se);
    json_object_set_new(root, "model", json_string(c->args[0]));
    json_object_set_new(root, "rows", json_integer((json_int_t)cv->mean.rows));
    json_object_set_new(root, "metrics", scores_object(&cv->mean));
    json_object_set_new(root, "se", scores_values(&cv->mean, cv->se));
    json_object_set_new(root, "folds", scores_folds(cv->fold, cv->folds, cv->repeats));
    json_object_set_new(root, "seed", json_integer((json_int_t)cv->seed));
    CR_TRY(out_open(c, c->global.output));
    if (c->format == FORMAT_JSON) {
        out_json(c, "cv", root);
    } else {
        if (c->format == FORMAT_TEXT)
            out_text(c, "%s, %s on %zu rows of %s, seed %llu\n\n", c->args[0],
                     scores_title(cv->folds, cv->repeats, title), cv->mean.rows, cr_table_source(t),
                     (unsigned long long)cv->seed);
        out_table(c, rows);
    }
done:
    json_decref(root);
    json_decref(rows);
    return st;
}

static cr_status run_cv(cli *c)
{
    cr_status st = CR_OK;
    cr_table *t = NULL;
    cr_cv     cv = { 0 };
    CR_TRY(cli_check_settings(c));
    CR_TRY(cli_read_data(c, 1, NULL, &t));
    CR_TRY(cr_cross_validate(c->cx, c->args[0], t, c->settings, c->n_settings, c->own, &cv));
    CR_TRY(cli_check_strict(c));
    CR_TRY(print_cv(c, &cv, t));
done:
    cr_cv_free(c->cx, &cv);
    cr_table_free(c->cx, t);
    return st;
}

const cli_verb verb_cv = {
    .name = "cv",
    .usage = "cv MODEL DATA --target COLUMN [--folds 10] [OPTIONS]",
    .summary = "score a model by cross-validation, with standard errors",
    .example = "credence cv ridge examples/diabetes.csv --target progression --lambda 10 --folds 5",
    .options = cr_cv_table,
    .options_size = sizeof(cr_cv_options),
    .takes = VERB_READS | VERB_FITS | VERB_FACTORISES,
    .least = 2,
    .most = 2,
    .run = run_cv,
    .result = result_cv,
};
