/* compare_models.c -- the comparison of models, shown. */
#include "compare.h"
#include "scores.h"
#include "study/assess_internal.h"

#include <math.h>

/* For programs, lines say which rows they are about. */
static cri_sheet *new_line(cli *c, cri_sheet *rows, const char *which)
{
    cri_sheet *row = cri_put_object(rows, NULL);
    if (c->format == FORMAT_CSV) cri_put_text(row, "rows", which);
    return row;
}

static void put_line(cri_sheet *row, const char *name, const cr_compared *m, size_t i)
{
    const cr_paired *p = &m->paired[i];
    cri_put_text(row, "metric", m->cv.mean.metrics[i].name);
    cri_put_text(row, "model", name);
    cli_put_cell(row, "mean", m->cv.mean.metrics[i].value);
    cri_put_real(row, "se", m->cv.se[i]);
    cri_put_real(row, "difference", p->difference);
    cri_put_real(row, "difference_se", p->se);
    cri_put_real(row, "t", p->t);
    cri_put_real(row, "p", p->p);
}

/* One line for each metric and model. */
static void put_score_table(cli *c, const cr_comparison *x, cri_sheet *rows)
{
    for (size_t i = 0; i < x->models[0].cv.mean.n; i++) {
        for (size_t k = 0; k < x->n; k++)
            put_line(new_line(c, rows, "folds"), c->args[k], &x->models[k], i);
        if (x->averaged) put_line(new_line(c, rows, "folds"), "average", &x->average, i);
    }
}

static void put_model(cri_sheet *row, const char *name, const cr_compared *m)
{
    const cr_assessment *a = &m->cv.mean;
    cri_put_text(row, "model", name);
    cli_put_cell(row, a->metrics[0].name, a->metrics[0].value);
    cri_put_real(row, "se", m->cv.se[0]);
    cri_put_real(row, "difference", m->paired[0].difference);
    cri_put_real(row, "difference_se", m->paired[0].se);
    cri_put_real(row, "p", m->paired[0].p);
    for (size_t i = 1; i < a->n; i++)
        if (cri_metric_kind_of(a->metrics[i].name)->main)
            cli_put_cell(row, a->metrics[i].name, a->metrics[i].value);
}

/* One line for each model: the first metric, how far from the best it is, and the main others. */
static void put_model_table(cli *c, const cr_comparison *x, cri_sheet *rows)
{
    for (size_t k = 0; k < x->n; k++)
        put_model(cri_put_object(rows, NULL), c->args[k], &x->models[k]);
    if (x->averaged) put_model(cri_put_object(rows, NULL), "average", &x->average);
}

static double fit_value(const cr_compared *m, size_t what)
{
    const double values[] = { m->fit.log_likelihood, m->fit.aic, m->fit.bic, m->fit.log_evidence,
                              m->weight };
    return values[what];
}
static const char *const fit_names[] = { "log_likelihood", "aic", "bic", "log_evidence",
                                         "probability" };
enum { N_FIT = sizeof fit_names / sizeof *fit_names };

/* The fits on all rows: a line for each model. */
static void put_fit_table(cli *c, const cr_comparison *x, cri_sheet *rows)
{
    for (size_t k = 0; k < x->n; k++) {
        cri_sheet *row = cri_put_object(rows, NULL);
        cri_put_text(row, "model", c->args[k]);
        for (size_t i = 0; i < N_FIT; i++)
            cri_put_real(row, fit_names[i], fit_value(&x->models[k], i));
    }
}

/* For programs: the same as further lines of the scores, a mean of one. */
static void put_fit_lines(cli *c, const cr_comparison *x, cri_sheet *rows)
{
    for (size_t i = 0; i < N_FIT; i++)
        for (size_t k = 0; k < x->n; k++) {
            cri_sheet *row = new_line(c, rows, "all");
            cri_put_text(row, "metric", fit_names[i]);
            cri_put_text(row, "model", c->args[k]);
            cri_put_real(row, "mean", fit_value(&x->models[k], i));
        }
}

/* Whether some likelihoods are of target and columns, and some of the target alone. */
static bool mixes_likelihoods(const cr_comparison *x)
{
    size_t joint = 0;
    for (size_t k = 0; k < x->n; k++) joint += x->models[k].fit.joint;
    return joint > 0 && joint < x->n;
}

/* Series of which other states start unknown: the values that find these have no density. */
static bool mixes_starts(const cr_comparison *x)
{
    size_t same = 0;
    for (size_t k = 0; k < x->n; k++) same += x->models[k].fit.unknown == x->models[0].fit.unknown;
    return same < x->n;
}

static void print_text(cli *c, const cr_table *t, const cr_comparison *x, const cri_sheet *scores,
                       const cri_sheet *fits)
{
    const cr_cv *cv = &x->models[0].cv;
    char         title[64];
    out_text(c, "%zu models, %s on %zu rows of %s, seed %llu\n\n", x->n,
             scores_title(cv->folds, cv->repeats, title), cv->mean.rows, cr_table_source(t),
             (unsigned long long)cv->seed);
    out_rows(c, scores);
    out_text(c,
             "\ndifference, its standard error and p: %s against the best model, fold by fold; "
             "--format csv has them "
             "for every metric\n",
             cv->mean.metrics[0].name);
    if (x->basis == CR_WEIGHTS_NONE && mixes_starts(x))
        out_text(c, "\nfitted to all rows; no model probabilities: other states start unknown in "
                    "some of the models, so\ntheir likelihoods, AIC and BIC are not of the same "
                    "values and cannot be compared\n\n");
    else if (x->basis == CR_WEIGHTS_NONE)
        out_text(c, "\nfitted to all rows; no model probabilities: not every model has an evidence "
                    "or a BIC\n\n");
    else
        out_text(c, "\nfitted to all rows; model probabilities by %s\n\n",
                 cr_weight_basis_name(x->basis));
    out_rows(c, fits);
    if (mixes_likelihoods(x)) out_text(c, "\nthe likelihood of");
    for (size_t k = 0, named = 0; mixes_likelihoods(x) && k < x->n; k++)
        if (x->models[k].fit.joint) out_text(c, "%s %s", named++ ? "," : "", c->args[k]);
    if (mixes_likelihoods(x))
        out_text(c, " is that of target and columns, that of the others is of the target given\n"
                    "the columns: their log likelihoods and evidences cannot be compared\n");
}

cr_status compare_models(cli *c, const cr_table *t, const cr_model_spec *specs, size_t n,
                         const cr_cv_options *o, bool average)
{
    cr_status     st = CR_OK;
    cr_comparison x = { 0 };
    cli_result    r = cli_result_new(c);
    cri_sheet    *fits = cri_put_list(r.whole, "fits");
    CR_TRY(cr_compare_models(c->cx, specs, n, t, o, average, &x));
    cri_put_comparison(&x, (const char *const *)c->args, r.object);
    if (c->format == FORMAT_TEXT)
        put_model_table(c, &x, r.rows);
    else
        put_score_table(c, &x, r.rows);
    put_fit_table(c, &x, fits);
    if (c->format == FORMAT_CSV) put_fit_lines(c, &x, r.rows);
    if (c->format != FORMAT_TEXT) {
        CR_TRY(cli_result_print(c, r));
    } else {
        CR_TRY(cli_result_open(c, r));
        print_text(c, t, &x, r.rows, fits);
    }
    scores_note_class(c, &x.models[0].cv.mean, o->positive);
done:
    cli_result_free(r);
    cr_comparison_free(c->cx, &x);
    return st;
}
