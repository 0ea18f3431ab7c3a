/* compare_models.c -- the comparison of models, shown. */
#include "compare.h"
#include "scores.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static json_t *paired_object(const cr_compared *m, size_t offset)
{
    double values[CR_MOST_METRICS];
    for (size_t i = 0; i < m->cv.mean.n; i++)
        memcpy(&values[i], (const char *)&m->paired[i] + offset, sizeof values[i]);
    return scores_values(&m->cv.mean, values);
}

static json_t *model_object(const char *name, const cr_compared *m, bool fitted)
{
    json_t *o = json_object();
    json_object_set_new(o, "model", json_string_nocheck(name));
    json_object_set_new(o, "metrics", scores_object(&m->cv.mean));
    json_object_set_new(o, "se", scores_values(&m->cv.mean, m->cv.se));
    json_object_set_new(o, "difference", paired_object(m, offsetof(cr_paired, difference)));
    json_object_set_new(o, "difference_se", paired_object(m, offsetof(cr_paired, se)));
    json_object_set_new(o, "t", paired_object(m, offsetof(cr_paired, t)));
    json_object_set_new(o, "p", paired_object(m, offsetof(cr_paired, p)));
    json_object_set_new(o, "folds", scores_folds(m->cv.fold, m->cv.folds, m->cv.repeats));
    if (!fitted) return o;
    json_object_set_new(o, "log_likelihood", scores_number(m->fit.log_likelihood));
    json_object_set_new(o, "likelihood", json_string(m->fit.joint ? "joint" : "conditional"));
    json_object_set_new(o, "log_evidence", scores_number(m->fit.log_evidence));
    json_object_set_new(
        o, "evidence",
        isnan(m->fit.log_evidence) ? json_null() : json_string(cr_evidence_name(m->fit.evidence)));
    json_object_set_new(o, "aic", scores_number(m->fit.aic));
    json_object_set_new(o, "bic", scores_number(m->fit.bic));
    json_object_set_new(o, "probability", scores_number(m->weight));
    return o;
}

static json_t *comparison_object(cli *c, const cr_comparison *x)
{
    const cr_assessment *a = &x->models[0].cv.mean;
    json_t              *root = json_object(), *models = json_array(), *best = json_object();
    json_object_set_new(root, "rows", json_integer((json_int_t)a->rows));
    json_object_set_new(root, "seed", json_integer((json_int_t)x->models[0].cv.seed));
    for (size_t k = 0; k < x->n; k++)
        json_array_append_new(models, model_object(c->args[k], &x->models[k], true));
    json_object_set_new(root, "models", models);
    for (size_t m = 0; m < a->n; m++)
        if (x->best[m] < x->n)
            json_object_set_new(best, a->metrics[m].name, json_string_nocheck(c->args[x->best[m]]));
    json_object_set_new(root, "best", best);
    json_object_set_new(root, "weights", json_string(cr_weight_basis_name(x->basis)));
    if (x->averaged)
        json_object_set_new(root, "average", model_object("average", &x->average, false));
    return root;
}

static void add_line(json_t *rows, const char *name, const cr_compared *m, size_t i)
{
    const cr_paired *p = &m->paired[i];
    json_t          *row = json_object();
    json_object_set_new(row, "metric", json_string(m->cv.mean.metrics[i].name));
    json_object_set_new(row, "model", json_string_nocheck(name));
    json_object_set_new(row, "mean", scores_cell(m->cv.mean.metrics[i].value));
    json_object_set_new(row, "se", scores_number(m->cv.se[i]));
    json_object_set_new(row, "difference", scores_number(p->difference));
    json_object_set_new(row, "difference_se", scores_number(p->se));
    json_object_set_new(row, "t", scores_number(p->t));
    json_object_set_new(row, "p", scores_number(p->p));
    json_array_append_new(rows, row);
}

/* One line for each metric and model. */
static json_t *score_table(cli *c, const cr_comparison *x)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < x->models[0].cv.mean.n; i++) {
        for (size_t k = 0; k < x->n; k++) add_line(rows, c->args[k], &x->models[k], i);
        if (x->averaged) add_line(rows, "average", &x->average, i);
    }
    return rows;
}

/* The fits on all rows. */
static json_t *fit_table(cli *c, const cr_comparison *x)
{
    json_t *rows = json_array();
    for (size_t k = 0; k < x->n; k++) {
        const cr_fit_scores *f = &x->models[k].fit;
        json_t              *row = json_object();
        json_object_set_new(row, "model", json_string_nocheck(c->args[k]));
        json_object_set_new(row, "log_likelihood", scores_number(f->log_likelihood));
        json_object_set_new(row, "aic", scores_number(f->aic));
        json_object_set_new(row, "bic", scores_number(f->bic));
        json_object_set_new(row, "log_evidence", scores_number(f->log_evidence));
        json_object_set_new(row, "probability", scores_number(x->models[k].weight));
        json_array_append_new(rows, row);
    }
    return rows;
}

/* For programs: the scores, then the fits on all rows as lines of the same columns, a mean of
 * one. */
static json_t *long_table(const json_t *scores, const json_t *fits)
{
    static const char *const what[] = { "log_likelihood", "aic", "bic", "log_evidence",
                                        "probability" };
    json_t                  *lines = json_array(), *row;
    size_t                   i, k;
    json_array_foreach(scores, i, row)
    {
        json_t *line = json_object();
        json_object_set_new(line, "rows", json_string("folds"));
        json_object_update(line, row);
        json_array_append_new(lines, line);
    }
    for (k = 0; k < sizeof what / sizeof *what; k++) {
        json_array_foreach(fits, i, row)
        {
            json_t *line = json_object();
            json_object_set_new(line, "rows", json_string("all"));
            json_object_set_new(line, "metric", json_string(what[k]));
            json_object_set(line, "model", json_object_get(row, "model"));
            json_object_set(line, "mean", json_object_get(row, what[k]));
            json_array_append_new(lines, line);
        }
    }
    return lines;
}

/* Whether some likelihoods are of target and columns, and some of the target alone. */
static bool mixes_likelihoods(const cr_comparison *x)
{
    size_t joint = 0;
    for (size_t k = 0; k < x->n; k++) joint += x->models[k].fit.joint;
    return joint > 0 && joint < x->n;
}

static void print_text(cli *c, const cr_table *t, const cr_comparison *x, const json_t *scores,
                       const json_t *fits)
{
    const cr_cv *cv = &x->models[0].cv;
    char         title[64];
    out_text(c, "%zu models, %s on %zu rows of %s, seed %llu\n\n", x->n,
             scores_title(cv->folds, cv->repeats, title), cv->mean.rows, cr_table_source(t),
             (unsigned long long)cv->seed);
    out_table(c, scores);
    out_text(c, "\nfitted to all rows; probabilities of the models by %s\n\n",
             x->basis == CR_WEIGHTS_NONE ? "neither evidence nor BIC: not known"
                                         : cr_weight_basis_name(x->basis));
    out_table(c, fits);
    if (mixes_likelihoods(x)) out_text(c, "\nthe likelihood of");
    for (size_t k = 0, named = 0; mixes_likelihoods(x) && k < x->n; k++)
        if (x->models[k].fit.joint) out_text(c, "%s %s", named++ ? "," : "", c->args[k]);
    if (mixes_likelihoods(x))
        out_text(c, " is that of target and columns, of the others that of the target given\n"
                    "the columns: their log likelihoods and evidences cannot be compared\n");
}

cr_status compare_models(cli *c, const cr_table *t, const cr_model_spec *specs, size_t n,
                         const cr_cv_options *o, bool average)
{
    cr_status     st = CR_OK;
    cr_comparison x = { 0 };
    json_t       *root = NULL, *scores = NULL, *fits = NULL, *lines = NULL;
    CR_TRY(cr_compare_models(c->cx, specs, n, t, o, average, &x));
    CR_TRY(cli_check_strict(c));
    root = comparison_object(c, &x);
    scores = score_table(c, &x);
    fits = fit_table(c, &x);
    CR_TRY(out_open(c, c->global.output));
    if (c->format == FORMAT_JSON)
        out_json(c, "compare", root);
    else if (c->format == FORMAT_CSV)
        out_table(c, lines = long_table(scores, fits));
    else
        print_text(c, t, &x, scores, fits);
done:
    json_decref(root);
    json_decref(scores);
    json_decref(fits);
    json_decref(lines);
    cr_comparison_free(c->cx, &x);
    return st;
}
