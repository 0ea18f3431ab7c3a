/* report.c -- studies as JSON. */
#include "report.h"
#include "score_sheet.h"

/* Takes the sheet, which is freed. */
static cr_status write_sheet(cr_ctx *cx, cri_sheet *sheet, char **out_json)
{
    cr_status st = cri_sheet_status(sheet);
    if (st == CR_OK) st = cri_sheet_to_json(cx, sheet, out_json);
    cri_sheet_free(sheet);
    return st;
}

cr_status cr_cv_report(cr_ctx *cx, const cr_model_spec *spec, const cr_table *table,
                       const cr_cv_options *options, char **out_json)
{
    cr_cv      cv = { 0 };
    cri_sheet *sheet;
    cr_status  st =
        cr_cross_validate(cx, spec->model, table, spec->settings, spec->n_settings, options, &cv);
    if (st != CR_OK) return st;
    sheet = cri_sheet_new(cx);
    cri_put_count(sheet, "rows", cv.mean.rows);
    cri_put_count(sheet, "seed", cv.seed);
    cri_put_cv(&cv, sheet);
    st = write_sheet(cx, sheet, out_json);
    cr_cv_free(cx, &cv);
    return st;
}

cr_status cr_compare_report(cr_ctx *cx, const cr_model_spec *specs, const char *const *names,
                            size_t n, const cr_table *table, const cr_cv_options *options,
                            bool average, char **out_json)
{
    cr_comparison x = { 0 };
    cri_sheet    *sheet;
    cr_status     st = cr_compare_models(cx, specs, n, table, options, average, &x);
    if (st != CR_OK) return st;
    sheet = cri_sheet_new(cx);
    cri_put_comparison(&x, names, sheet);
    st = write_sheet(cx, sheet, out_json);
    cr_comparison_free(cx, &x);
    return st;
}

cr_status cr_tune_report(cr_ctx *cx, const cr_model_spec *spec, const cr_table *table,
                         const cr_tune_options *options, const cr_cv_options *cv, char **out_json)
{
    cr_tuning  t = { 0 };
    cri_sheet *sheet;
    cr_status  st = cr_tune(cx, spec, table, options, cv, &t);
    if (st != CR_OK) return st;
    sheet = cri_sheet_new(cx);
    cri_put_tuning(&t, options->search, options->rule, sheet);
    st = write_sheet(cx, sheet, out_json);
    cr_tuning_free(cx, &t);
    return st;
}
