/* tune.c -- grid and random search by cross-validation. */
#include "tune.h"
#include "assess_internal.h"
#include "jobs.h"
#include "plan.h"
#include "space.h"
#include "base/context_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

CR_OPTIONS_TABLE(, cr_tune_table, cr_tune_options, CR_TUNE_OPTIONS);

/* --- candidates ------------------------------------------------------------------------------ */

/* opt_picks: which points of a space that has an end. */
static cr_status make_candidate(cr_ctx *cx, const cri_space *space, const cr_tune_options *o,
                                uint64_t seed, const size_t *opt_picks, size_t i, cr_candidate *out)
{
    cr_rng r = cr_rng_stream(seed, (uint64_t)0x54554e45u << 32 ^ i); /* "TUNE" */
    out->apparent = NAN;
    out->settings = cr_alloc(cx, space->n, sizeof *out->settings);
    if (!out->settings) return CR_ENOMEM;
    for (size_t d = 0; d < space->n; d++) {
        char *value = o->search == CR_SEARCH_GRID ? cri_space_at(cx, space, i, d)
                      : opt_picks                 ? cri_space_pick(cx, space, opt_picks[i], d)
                                                  : cri_space_draw(cx, space, &r, d);
        if (!value) return CR_ENOMEM;
        out->settings[d] = (cr_setting){ space->dimensions[d].name, value };
    }
    return CR_OK;
}

static cr_status make_candidates(cr_ctx *cx, const cri_space *space, const cr_tune_options *o,
                                 uint64_t seed, cr_tuning *t)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    bool       grid = o->search == CR_SEARCH_GRID;
    size_t     points = grid ? 0 : cri_space_count(space);
    size_t     n = grid ? cri_space_points(space) : o->draws, *picks = NULL;
    if (n > CRI_MOST_POINTS) {
        cr_fail(cx, CR_EARG, "the grid has more than %d combinations", CRI_MOST_POINTS);
        CR_TRY(cr_fail_hint(cx, "--search random tries as many as --draws allows"));
    }
    if (points > 0) { /* no combination twice, and no more than there are */
        cr_rng r = cr_rng_stream(seed, (uint64_t)0x54554e45u << 32);
        n = n < points ? n : points;
        picks = cr_scratch_index(&s, n);
        CR_TRY(s.status);
        cr_rng_choose(&r, points, n, picks);
    }
    t->candidates = cr_alloc(cx, n, sizeof *t->candidates);
    if (!t->candidates) CR_TRY(CR_ENOMEM);
    t->n = n;
    t->dimensions = space->n;
    for (size_t i = 0; i < n; i++)
        CR_TRY(make_candidate(cx, space, o, seed, picks, i, &t->candidates[i]));
done:
    cr_scratch_end(&s);
    return st;
}

static void free_settings(cr_ctx *cx, cr_tuning *t, size_t i)
{
    cr_setting *s = t->candidates[i].settings;
    for (size_t d = 0; s && d < t->dimensions; d++)
        cri_string_free(cx, (char *)(uintptr_t)s[d].value);
    cr_free(cx, s, t->dimensions, sizeof *s);
    t->candidates[i].settings = NULL;
}

void cr_tuning_free(cr_ctx *cx, cr_tuning *t)
{
    for (size_t i = 0; t->candidates && i < t->n; i++) free_settings(cx, t, i);
    cr_free(cx, t->candidates, t->n, sizeof *t->candidates);
    cr_free(cx, t->fold, t->n * t->folds * t->repeats, sizeof *t->fold);
    *t = (cr_tuning){ 0 };
}

/* Each candidate as a model: the settings of all, then its own, which count. */
static cr_status make_specs(cr_scratch *s, const cr_model_spec *base, const cr_tuning *t,
                            cr_model_spec **out)
{
    cr_model_spec *specs = cr_scratch_bytes(s, t->n, sizeof *specs);
    for (size_t i = 0; specs && i < t->n; i++) {
        cr_setting *all = cr_scratch_bytes(s, base->n_settings + t->dimensions, sizeof *all);
        if (!all) break;
        if (base->n_settings > 0) memcpy(all, base->settings, base->n_settings * sizeof *all);
        memcpy(all + base->n_settings, t->candidates[i].settings, t->dimensions * sizeof *all);
        specs[i] = (cr_model_spec){ base->model, all, base->n_settings + t->dimensions };
    }
    *out = specs;
    return s->status;
}

/* --- the search ------------------------------------------------------------------------------ */

typedef struct tune_work {
    const cri_plan *plan;
    cr_tuning      *tuning;
} tune_work;

/* Which candidate failed. */
static cr_status note_candidate(cr_ctx *cx, const cr_tuning *t, size_t i, cr_status st)
{
    const cr_setting *s = t->candidates[i].settings;
    if (st == CR_OK || st == CR_ENOMEM || st == CR_EINTERRUPTED) return st;
    for (size_t d = 0; d < t->dimensions; d++)
        cr_fail_note(cx, "with %s = %s", s[d].name, s[d].value);
    return st;
}

static cr_status try_fold(cr_ctx *cx, void *arg, size_t job)
{
    const tune_work *w = arg;
    cr_status        st = cri_plan_fold(cx, w->plan, job, &w->tuning->fold[job]);
    return note_candidate(cx, w->tuning, job / (w->plan->folds * w->plan->repeats), st);
}

/* How well a candidate fits the rows it learned from. */
static cr_status try_apparent(cr_ctx *cx, void *arg, size_t i)
{
    cr_status            st = CR_OK;
    const tune_work     *w = arg;
    const cr_model_spec *m = &w->plan->specs[i];
    cr_model            *model = NULL;
    cr_assessment        a;
    if (!w->tuning->candidates[i].within) return CR_OK;
    CR_TRY(cr_fit(cx, m->model, w->plan->table, m->settings, m->n_settings, &model));
    CR_TRY(cri_evaluate(cx, model, w->plan->table, &w->plan->how, &a));
    w->tuning->candidates[i].apparent = a.metrics[w->tuning->metric].value;
done:
    cr_model_free(cx, model);
    return note_candidate(cx, w->tuning, i, st);
}

static const char *metric_name(const void *assessment, size_t i)
{
    return ((const cr_assessment *)assessment)->metrics[i].name;
}

/* The model may have an option of the same name, which is then a setting to be tried. */
static cr_status refuse_metric(cr_ctx *cx, const cr_assessment *a, const char *name,
                               const char *model)
{
    const cr_option *o = cr_option_find(cr_class_options(cr_class_find(cx, model)), "metric");
    cr_fail(cx, CR_EARG, "--metric: there is no score '%s' here", name);
    cr_fail_nearest(cx, name, "scores", a->n, metric_name, a);
    if (!o) return CR_EARG;
    return cr_fail_hint(cx, "--metric of tune is the score; --over 'metric=%s' sets that of %s",
                        name, model);
}

static cr_status find_metric(cr_ctx *cx, const cr_assessment *a, const char *opt_name,
                             const char *model, size_t *out)
{
    const char *name = opt_name ? opt_name : cr_metric_default(a);
    *out = cr_metric_find(a, name);
    if (*out == a->n) return refuse_metric(cx, a, name, model);
    if (cr_metric_sense(name) == 0)
        return cr_fail(cx, CR_EARG, "--metric: '%s' has no best direction", name);
    return CR_OK;
}

/* The best mean, and who is within one of its standard errors. */
static cr_status find_best(cr_ctx *cx, cr_tuning *t)
{
    const char *name = t->candidates[0].mean.metrics[t->metric].name;
    double      sense = cr_metric_sense(name);
    t->best = t->n;
    for (size_t i = 0; i < t->n; i++) {
        double x = sense * t->candidates[i].mean.metrics[t->metric].value;
        if (isnan(x)) continue;
        if (t->best == t->n || x > sense * t->candidates[t->best].mean.metrics[t->metric].value)
            t->best = i;
    }
    if (t->best == t->n)
        return cr_fail(cx, CR_EUNSUPPORTED, "%s is undefined for every candidate", name);
    const cr_candidate *b = &t->candidates[t->best];
    double              least = sense * b->mean.metrics[t->metric].value - b->se[t->metric];
    for (size_t i = 0; i < t->n; i++)
        t->candidates[i].within =
            i == t->best || sense * t->candidates[i].mean.metrics[t->metric].value >= least;
    return CR_OK;
}

/* The candidate within one standard error that follows its training rows least: the simplest one,
 * by what it does rather than by what it is called. */
static cr_status choose_simplest(cr_ctx *cx, tune_work *w)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cr_tuning *t = w->tuning;
    size_t     finished = 0;
    bool      *done = cr_scratch_bytes(&s, t->n, sizeof *done);
    double     sense = cr_metric_sense(t->candidates[0].mean.metrics[t->metric].name);
    CR_TRY(s.status);
    CR_TRY(cri_run_jobs_in_time(cx, "fitting", t->n, try_apparent, w, 0.75, done));
    for (size_t i = 0; i < t->n; i++) finished += done[i];
    if (finished < t->n) {
        cr_log(cx, CR_LOG_WARNING,
               "the time limit leaves no time for --rule 1se: the best mean score is chosen");
        goto done;
    }
    for (size_t i = 0; i < t->n; i++)
        if (t->candidates[i].within &&
            sense * t->candidates[i].apparent < sense * t->candidates[t->chosen].apparent)
            t->chosen = i;
done:
    cr_scratch_end(&s);
    return st;
}

/* Leaves the first n candidates, all whose folds were finished in time. */
static cr_status keep_first(cr_ctx *cx, cr_tuning *t, size_t n)
{
    size_t folds = t->folds * t->repeats;
    if (n == t->n) return CR_OK;
    for (size_t i = n; i < t->n; i++) free_settings(cx, t, i);
    cr_assessment *fold = cr_resize(cx, t->fold, t->n * folds, n * folds, sizeof *fold);
    if (!fold) return CR_ENOMEM;
    t->fold = fold;
    cr_candidate *candidates = cr_resize(cx, t->candidates, t->n, n, sizeof *candidates);
    if (!candidates) { /* the folds are of n already */
        cr_free(cx, t->fold, n * folds, sizeof *t->fold);
        t->fold = NULL;
        return CR_ENOMEM;
    }
    t->candidates = candidates;
    t->n = n;
    return CR_OK;
}

/* Every candidate on every fold, or as many of the candidates as there is time for. */
static cr_status try_candidates(cr_ctx *cx, tune_work *w)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cr_tuning *t = w->tuning;
    size_t     folds = t->folds * t->repeats, jobs = t->n * folds, first = 0, n;
    bool      *done = cr_scratch_bytes(&s, jobs, sizeof *done);
    CR_TRY(s.status);
    CR_TRY(cri_run_jobs_in_time(cx, "tuning", jobs, try_fold, w, 0.75, done));
    while (first < jobs && done[first]) first++;
    n = first / folds;
    if (n == 0) CR_TRY(cri_plan_fail_time(cx, w->plan, "candidates", t->n));
    if (n < t->n)
        cr_log(cx, CR_LOG_WARNING,
               "the time limit ended the search: the best of the first %zu of %zu candidates", n,
               t->n);
    CR_TRY(keep_first(cx, t, n));
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status search(cr_ctx *cx, const cr_tune_options *o, tune_work *w)
{
    cr_status  st = CR_OK;
    cr_tuning *t = w->tuning;
    size_t     folds = w->plan->folds * w->plan->repeats;
    t->fold = cr_alloc(cx, t->n * folds, sizeof *t->fold);
    if (!t->fold) CR_TRY(CR_ENOMEM);
    CR_TRY(try_candidates(cx, w));
    for (size_t i = 0; i < t->n; i++) {
        char   name[256];
        size_t used = (size_t)snprintf(name, sizeof name, "%s", w->plan->specs[0].model);
        for (size_t d = 0; d < t->dimensions && used < sizeof name; d++)
            used += (size_t)snprintf(name + used, sizeof name - used, "%s%s=%s",
                                     d ? ", " : " with ", t->candidates[i].settings[d].name,
                                     t->candidates[i].settings[d].value);
        cri_scores_warn(cx, name, t->fold + i * folds, folds);
    }
    for (size_t i = 0; i < t->n; i++)
        cri_scores_mean(t->fold + i * folds, w->plan->folds, w->plan->repeats,
                        &t->candidates[i].mean, t->candidates[i].se);
    CR_TRY(find_metric(cx, &t->candidates[0].mean, o->metric, w->plan->specs[0].model, &t->metric));
    CR_TRY(find_best(cx, t));
    t->chosen = t->best;
    if (o->rule == CR_RULE_1SE) CR_TRY(choose_simplest(cx, w));
done:
    return st;
}

cr_status cr_tune(cr_ctx *cx, const cr_model_spec *spec, const cr_table *table,
                  const cr_tune_options *o, const cr_cv_options *cv, cr_tuning *out)
{
    cr_status             st = CR_OK;
    cr_scratch            s = cr_scratch_begin(cx);
    const cr_model_class *c = cr_class_find(cx, spec->model);
    cri_space             space = { 0 };
    cri_plan              plan = { 0 }, first = { 0 };
    cr_tuning             t = { 0 };
    cr_model_spec        *specs = NULL;
    tune_work             w = { &plan, &t };

    if (!c) CR_TRY(CR_EARG);
    CR_TRY(cri_space_read(&s, c, o->over, &space));
    CR_TRY(cri_plan_open_unsplit(cx, spec, 1, table, NULL, &first)); /* for the seed */
    CR_TRY(make_candidates(cx, &space, o, first.seed, &t));
    CR_TRY(make_specs(&s, spec, &t, &specs));
    CR_TRY(cri_plan_open(cx, specs, t.n, table, cv, &plan));
    t.folds = plan.folds, t.repeats = plan.repeats, t.seed = plan.seed;
    CR_TRY(search(cx, o, &w));
    *out = t;
    t = (cr_tuning){ 0 };
done:
    cr_tuning_free(cx, &t);
    cri_plan_close(cx, &plan);
    cri_plan_close(cx, &first);
    cr_scratch_end(&s);
    return st;
}
