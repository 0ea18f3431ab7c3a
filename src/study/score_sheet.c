/* score_sheet.c -- what studies found, in sheets. */
#include "score_sheet.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* --- metrics ---------------------------------------------------------------------------------- */

static void put_metrics(cri_sheet *object, const cr_assessment *a)
{
    for (size_t i = 0; i < a->n; i++) cri_put_real(object, a->metrics[i].name, a->metrics[i].value);
}

void cri_scores_put(cri_sheet *s, const char *name, const cr_assessment *a)
{
    put_metrics(cri_put_object(s, name), a);
}

void cri_scores_put_values(cri_sheet *s, const char *name, const cr_assessment *a,
                           const double *values)
{
    cri_sheet *object = cri_put_object(s, name);
    for (size_t i = 0; i < a->n; i++) cri_put_real(object, a->metrics[i].name, values[i]);
}

void cri_scores_put_means(cri_sheet *s, const cr_assessment *mean, const double *se)
{
    cri_scores_put(s, "metrics", mean);
    cri_scores_put_values(s, "se", mean, se);
}

/* The list "folds": each fold's metrics with its number of rows, and the repeat where there are several. */
static void scores_put_folds(cri_sheet *s, const cr_assessment *fold, size_t folds, size_t repeats)
{
    cri_sheet *list = cri_put_list(s, "folds");
    for (size_t f = 0; f < folds * repeats; f++) {
        cri_sheet *one = cri_put_object(list, NULL);
        put_metrics(one, &fold[f]);
        cri_put_count(one, "rows", fold[f].rows);
        if (repeats > 1) cri_put_count(one, "repeat", f / folds + 1);
    }
}

/* --- cross-validation ------------------------------------------------------------------------- */

void cri_put_cv(const cr_cv *cv, cri_sheet *root)
{
    cri_scores_put_means(root, &cv->mean, cv->se);
    if (!isnan(cv->mean.quantile)) cri_put_real(root, "quantile", cv->mean.quantile);
    if (*cv->mean.positive) cri_put_text(root, "positive", cv->mean.positive);
    scores_put_folds(root, cv->fold, cv->folds, cv->repeats);
}

/* --- comparison ------------------------------------------------------------------------------- */

/* One number of every comparison with the best model, by metric. */
static void put_paired(cri_sheet *o, const char *name, const cr_compared *m, size_t offset)
{
    double values[CR_MOST_METRICS];
    for (size_t i = 0; i < m->cv.mean.n; i++)
        memcpy(&values[i], (const char *)&m->paired[i] + offset, sizeof values[i]);
    cri_scores_put_values(o, name, &m->cv.mean, values);
}

static void put_scores(cri_sheet *o, const char *name, const cr_compared *m)
{
    cri_put_text(o, "model", name);
    cri_scores_put_means(o, &m->cv.mean, m->cv.se);
    put_paired(o, "difference", m, offsetof(cr_paired, difference));
    put_paired(o, "difference_se", m, offsetof(cr_paired, se));
    put_paired(o, "t", m, offsetof(cr_paired, t));
    put_paired(o, "p", m, offsetof(cr_paired, p));
    scores_put_folds(o, m->cv.fold, m->cv.folds, m->cv.repeats);
}

/* The fit to all rows. */
static void put_fit(cri_sheet *o, const cr_compared *m)
{
    const cr_fit_scores *f = &m->fit;
    cri_put_real(o, "log_likelihood", f->log_likelihood);
    cri_put_text(o, "likelihood", f->joint ? "joint" : "conditional");
    cri_put_real(o, "log_evidence", f->log_evidence);
    cri_put_text(o, "evidence", isnan(f->log_evidence) ? NULL : cr_evidence_name(f->evidence));
    cri_put_real(o, "aic", f->aic);
    cri_put_real(o, "bic", f->bic);
    cri_put_real(o, "probability", m->weight);
}

void cri_put_comparison(const cr_comparison *x, const char *const *names, cri_sheet *root)
{
    const cr_assessment *a = &x->models[0].cv.mean;
    cri_put_count(root, "rows", a->rows);
    cri_put_count(root, "seed", x->models[0].cv.seed);
    cri_sheet *models = cri_put_list(root, "models");
    for (size_t k = 0; k < x->n; k++) {
        cri_sheet *o = cri_put_object(models, NULL);
        put_scores(o, names[k], &x->models[k]);
        put_fit(o, &x->models[k]);
    }
    cri_sheet *best = cri_put_object(root, "best");
    for (size_t m = 0; m < a->n; m++)
        if (x->best[m] < x->n) cri_put_text(best, a->metrics[m].name, names[x->best[m]]);
    cri_put_text(root, "weights", cr_weight_basis_name(x->basis));
    if (x->averaged) put_scores(cri_put_object(root, "average"), "average", &x->average);
}

/* --- tuning ----------------------------------------------------------------------------------- */

void cri_put_candidate_settings(const cr_tuning *t, const cr_candidate *k, cri_sheet *to)
{
    for (size_t d = 0; d < t->dimensions; d++)
        cri_put_text(to, k->settings[d].name, k->settings[d].value);
}

static void put_candidate(const cr_tuning *t, size_t i, cri_sheet *o)
{
    const cr_candidate *k = &t->candidates[i];
    cri_put_candidate_settings(t, k, cri_put_object(o, "settings"));
    cri_scores_put_means(o, &k->mean, k->se);
    scores_put_folds(o, t->fold + i * t->folds * t->repeats, t->folds, t->repeats);
    cri_put_flag(o, "within", k->within);
    cri_put_real(o, "apparent", k->apparent);
}

void cri_put_tuning(const cr_tuning *t, int search, int rule, cri_sheet *root)
{
    const cr_assessment *mean = &t->candidates[t->chosen].mean;
    cri_put_count(root, "rows", mean->rows);
    cri_put_count(root, "seed", t->seed);
    cri_put_text(root, "metric", mean->metrics[t->metric].name);
    cri_put_text(root, "search", search == CR_SEARCH_GRID ? "grid" : "random");
    cri_put_text(root, "rule", rule == CR_RULE_BEST ? "best" : "1se");
    cri_put_count(root, "folds", t->folds);
    cri_put_count(root, "repeats", t->repeats);
    put_candidate(t, t->chosen, cri_put_object(root, "chosen"));
    put_candidate(t, t->best, cri_put_object(root, "best"));
    cri_sheet *all = cri_put_list(root, "candidates");
    for (size_t i = 0; i < t->n; i++) put_candidate(t, i, cri_put_object(all, NULL));
}
