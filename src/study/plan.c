/* plan.c -- checks, folds, and the run of models over them. */
#include "plan.h"
#include "plan_internal.h"
#include "assess_internal.h"
#include "jobs.h"
#include "base/clock.h"
#include "base/context_internal.h"
#include "base/list.h"
#include "base/rng.h"
#include "base/sort.h"
#include "data/design/design_internal.h"
#include "data/design/terms.h"
#include "data/table/subset.h"
#include "data/table/table_internal.h"
#include "models/core/model_internal.h"

#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

uint64_t cri_item_seed(uint64_t seed, uint64_t purpose, uint64_t item)
{
    cr_rng r = cr_rng_stream(seed, (0x504c414eu + purpose) << 32 ^ item); /* "PLAN" */
    return item == 0 ? seed : cr_rng_u64(&r);
}

/* --- checks ---------------------------------------------------------------------------------- */

static const char *setting(const cr_model_spec *m, const char *name)
{
    return cri_setting_of(m->settings, m->n_settings, name);
}

/* The seed as the fit reads it: "1e3" is a number too. */
static cr_status read_seed(cr_ctx *cx, const char *text, uint64_t *out_seed)
{
    cr_fit_options o;
    cr_status      st = cr_options_init(cx, cr_fit_table, &o);
    if (st == CR_OK && text) st = cr_options_set(cx, cr_fit_table, &o, "seed", text);
    if (st == CR_OK) *out_seed = o.seed;
    cr_options_free(cx, cr_fit_table, &o);
    return st;
}

static const unsigned supervised = CR_TASK_REGRESSION | CR_TASK_CLASSIFICATION;

/* What a model does with a target: one task, or both. */
static unsigned tasks_of(cr_ctx *cx, const cr_model_spec *m)
{
    const cr_model_class *c = cr_class_find(cx, m->model);
    return c ? cr_class_tasks(c) & supervised : 0;
}

static bool does_both(cr_ctx *cx, const cr_model_spec *m) { return tasks_of(cx, m) == supervised; }

/* Whether models of these tasks, which have no target, are scored alike: by the density of the rows, which clusters,
 * networks and coordinates have beside what they are for.  */
static bool are_densities(cr_ctx *cx, const cr_model_spec *a, unsigned task, const cr_model_spec *b,
                          unsigned other)
{
    const cr_model_class *c = cr_class_find(cx, a->model), *d = cr_class_find(cx, b->model);
    return c && d && !((task | other) & supervised) &&
           cr_class_tasks(c) & cr_class_tasks(d) & CR_TASK_DENSITY;
}

/* All models must answer the same question: the same target, as numbers or as classes, or the density of rows. */
static cr_status check_specs(cr_ctx *cx, const cr_model_spec *specs, size_t n, const cr_table *t,
                             unsigned *out_task)
{
    cr_status   st = CR_OK;
    unsigned    task = 0;
    const char *first = setting(&specs[0], "target");
    for (size_t k = 0; k < n; k++) {
        const char *target = setting(&specs[k], "target");
        CR_TRY(cr_check_settings(cx, specs[k].model, specs[k].settings, specs[k].n_settings));
        /* Where the model may choose, the fits are told and say nothing; elsewhere they say it. */
        cri_mute_warnings(cx, !does_both(cx, &specs[k]) || setting(&specs[k], "task"));
        st = cri_fit_task(cx, specs[k].model, t, specs[k].settings, specs[k].n_settings, &task);
        cri_mute_warnings(cx, false);
        CR_TRY(st);
        if (k == 0) *out_task = task;
        if (task != *out_task && !are_densities(cx, &specs[0], *out_task, &specs[k], task)) {
            cr_fail(cx, CR_EARG, "%s does %s and %s %s: they cannot be compared", specs[0].model,
                    cr_task_name(*out_task), specs[k].model, cr_task_name(task));
            CR_TRY(does_both(cx, &specs[0]) || does_both(cx, &specs[k])
                       ? cr_fail_hint(cx, "--task classification treats the target as classes in "
                                          "every model that can")
                       : CR_EARG);
        }
        if ((first || target) && (!first || !target || strcmp(first, target) != 0))
            CR_TRY(cr_fail(cx, CR_EARG, "the models do not have the same target: '%s' and '%s'",
                           first ? first : "", target ? target : ""));
    }
done:
    return st;
}

/* Whether the groups have intercepts of their own, (1 | COLUMN): those of groups that were left out are then unknown,
 * as they should be.  false also of terms that cannot be read, which is said where they are used. */
static bool has_intercepts(cri_plan *p, const cr_model_spec *m, const char *group)
{
    const char *text = setting(m, "terms");
    cri_terms   terms = { 0 };
    if (!text || cri_terms_parse(&p->s, text, &terms) != CR_OK) return false;
    for (size_t i = 0; i < terms.n; i++)
        if (terms.items[i].kind == CRI_ITEM_VARYING &&
            strcmp(terms.items[i].atoms[0]->column, group) == 0)
            return true;
    return false;
}

/* The same models, with the column of the groups left out of the features.  Those that predict both numbers and
 * classes do what the others do, in every fold. */
static cr_status copy_specs(cr_ctx *cx, cri_plan *p, const cr_model_spec *specs,
                            const char *opt_group)
{
    cr_status      st = CR_OK;
    cr_model_spec *copy = cr_scratch_bytes(&p->s, p->n_specs, sizeof *copy);
    size_t         length = opt_group ? 2 * strlen(opt_group) + 8 : 1;
    char          *without = cr_scratch_bytes(&p->s, length, 1);
    unsigned       only = 0; /* what a model does that cannot choose */
    CR_TRY(p->s.status);
    without[0] = '!';
    if (opt_group) cri_list_quote(opt_group, without + 1, length - 1);
    for (size_t k = 0; k < p->n_specs; k++)
        if (!only && !does_both(cx, &specs[k])) only = tasks_of(cx, &specs[k]);
    for (int pass = 0; pass < 2; pass++) { /* the second when the task is known */
        for (size_t k = 0; k < p->n_specs; k++) {
            size_t      n = specs[k].n_settings;
            cr_setting *all = cr_scratch_bytes(&p->s, n + 2, sizeof *all);
            CR_TRY(p->s.status);
            if (n > 0) memcpy(all, specs[k].settings, n * sizeof *all);
            if (opt_group && !has_intercepts(p, &specs[k], opt_group) &&
                !cri_spec_has_sequence(cx, &specs[k], opt_group))
                all[n++] = (cr_setting){ "features", without };
            if (only && does_both(cx, &specs[k]) && !setting(&specs[k], "task"))
                all[n++] = (cr_setting){ "task", cr_task_name(only) };
            copy[k] = (cr_model_spec){ specs[k].model, all, n };
        }
        if (pass == 0) CR_TRY(check_specs(cx, copy, p->n_specs, p->table, &p->task));
        only = p->task & supervised;
    }
    p->specs = copy;
done:
    return st;
}

cr_status cri_plan_open_unsplit(cr_ctx *cx, const cr_model_spec *specs, size_t n_specs,
                                const cr_table *t, const char *opt_group, cri_plan *p)
{
    cr_status st = CR_OK;
    *p = (cri_plan){
        .table = t, .n_specs = n_specs, .began = cri_seconds(), .s = cr_scratch_begin(cx)
    };
    CR_TRY(read_seed(cx, setting(&specs[0], "seed"), &p->seed));
    if (opt_group && !cr_table_find(t, opt_group)) CR_TRY(cri_table_no_column(cx, t, opt_group));
    CR_TRY(copy_specs(cx, p, specs, opt_group));
    const char *target = setting(&specs[0], "target");
    if (p->task == CR_TASK_CLASSIFICATION && cr_table_find(t, target)->type != CR_CATEGORY) {
        CR_TRY(cri_table_with_classes(cx, t, target, &p->classes));
        p->table = p->classes;
    }
done:
    return st;
}

void cri_plan_close(cr_ctx *cx, cri_plan *p)
{
    for (size_t r = 0; p->split && r < p->repeats; r++) cr_folds_free(cx, &p->split[r]);
    cr_table_free(cx, p->classes);
    cri_dealt_free(cx, &p->dealt);
    cr_loss_free(cx, &p->loss);
    cr_scratch_end(&p->s);
    *p = (cri_plan){ 0 };
}

/* --- folds ----------------------------------------------------------------------------------- */

typedef struct keyed_row {
    double value;
    size_t row;
} keyed_row;

CRI_COMPARE_BY(by_value, keyed_row, value);

cr_status cri_number_groups(cr_ctx *cx, const cr_table *t, const char *name, size_t *group)
{
    cr_status        st = CR_OK;
    cr_scratch       s = cr_scratch_begin(cx);
    size_t           n = cr_table_rows(t), g = 0;
    keyed_row       *rows = cr_scratch_bytes(&s, n, sizeof *rows);
    const cr_column *c = cr_table_find(t, name);
    char             where[512];

    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++) {
        bool   category = c->type == CR_CATEGORY;
        double v = category ? (double)c->codes[i] : c->values[i * c->stride];
        rows[i] = (keyed_row){ v, i };
        if (category ? c->codes[i] == CR_MISSING_CODE : isnan(v))
            CR_TRY(cr_fail(cx, CR_EDATA,
                           "%s: column '%s' has no value, so the row belongs to no group",
                           cri_table_where(t, i, where, sizeof where), name));
    }
    if (n > 0) qsort(rows, n, sizeof *rows, by_value);
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && rows[i].value != rows[i - 1].value) g++;
        group[rows[i].row] = g;
    }
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status stratify(cr_ctx *cx, const cri_plan *p, size_t folds, uint64_t seed, cr_folds *out)
{
    const char      *target = setting(&p->specs[0], "target");
    const cr_column *y = target ? cr_table_find(p->table, target) : NULL;
    if (y && y->type == CR_CATEGORY && p->dealt.table)
        return cri_dealt_folds(cx, &p->dealt, y->codes, folds, seed, out);
    if (y && y->type == CR_CATEGORY)
        return cr_folds_new_stratified(cx, y->codes, cr_table_rows(p->table), folds, seed, out);
    return cr_fail(cx, CR_EARG, "--split stratified needs a target that is a category");
}

static cr_status make_folds(cr_ctx *cx, const cri_plan *p, const cr_cv_options *o,
                            const size_t *opt_group, size_t repeat, cr_folds *out)
{
    size_t   n = cr_table_rows(p->table);
    uint64_t seed = cri_item_seed(p->seed, 0, repeat);
    bool     classes = p->task == CR_TASK_CLASSIFICATION;
    if (opt_group) return cr_folds_new_grouped(cx, opt_group, n, o->folds, seed, out);
    if (o->split == CR_SPLIT_ORDERED) return cr_folds_new_ordered(cx, n, o->folds, out);
    if (o->split == CR_SPLIT_STRATIFIED || (o->split == CR_SPLIT_AUTO && classes))
        return stratify(cx, p, o->folds, seed, out);
    return cri_dealt_split(cx, &p->dealt, n, o->folds, seed, out);
}

static cr_status check_options(cr_ctx *cx, const cr_table *t, const cr_cv_options *o)
{
    if (cr_table_rows(t) < o->folds) {
        cr_fail(cx, CR_EDATA, "%s has %zu rows, which is not enough for %zu folds",
                cr_table_source(t), cr_table_rows(t), o->folds);
        return cr_table_rows(t) < 2
                   ? CR_EDATA
                   : cr_fail_hint(cx, "--folds %zu leaves out one row at a time", cr_table_rows(t));
    }
    if (o->group && o->split != CR_SPLIT_AUTO)
        return cr_fail(
            cx, CR_EARG,
            "--group keeps groups together in folds: it cannot be combined with --split");
    if (o->split == CR_SPLIT_ORDERED && o->repeats > 1)
        return cr_fail(cx, CR_EARG,
                       "--repeats: with --split ordered there is only one way to make the folds");
    return CR_OK;
}

/* Classes that the training rows of a fold lack, but its test rows have: the model cannot know of
 * them.  One warning, of the first fold and class. */
static cr_status warn_of_unseen(cr_ctx *cx, const cri_plan *p)
{
    cr_status        st = CR_OK;
    cr_scratch       s = cr_scratch_begin(cx);
    const char      *target = setting(&p->specs[0], "target");
    const cr_column *y = target ? cr_table_find(p->table, target) : NULL;
    size_t           n = cr_table_rows(p->table), *rows = cr_scratch_index(&s, n);
    size_t          *seen = cr_scratch_index(&s, y ? y->n_levels : 0);
    CR_TRY(s.status);
    for (size_t f = 0; y && y->type == CR_CATEGORY && f < p->folds * p->repeats; f++) {
        const cr_folds *folds = &p->split[f / p->folds];
        size_t          count = cr_folds_train(folds, f % p->folds, rows);
        memset(seen, 0, y->n_levels * sizeof *seen);
        for (size_t i = 0; i < count; i++)
            if (y->codes[rows[i]] < y->n_levels) seen[y->codes[rows[i]]]++;
        count = cr_folds_test(folds, f % p->folds, rows);
        for (size_t i = 0; i < count; i++) {
            uint32_t code = y->codes[rows[i]];
            if (code >= y->n_levels || seen[code]) continue;
            cr_log(cx, CR_LOG_WARNING,
                   "the class '%s' of '%s' occurs in the test rows of fold %zu but not in its "
                   "training rows: the scores of that fold may be undefined",
                   y->levels[code], target, f % p->folds + 1);
            goto done;
        }
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* The column of counts by which rows are divided among folds: that of all models, whose weights are repetitions;
 * NULL where groups or the order of the rows decide. */
static const char *counted_by(const cr_model_spec *specs, size_t n, const cr_cv_options *o)
{
    const char *first = setting(&specs[0], "weights");
    if (o->group || o->split == CR_SPLIT_ORDERED || !first) return NULL;
    for (size_t k = 0; k < n; k++) {
        const char *w = setting(&specs[k], "weights"), *are = setting(&specs[k], "weights_are");
        if (!w || strcmp(w, first) != 0 || (are && strcmp(are, "repetitions") != 0)) return NULL;
    }
    return first;
}

/* A target of numbers; NULL for classes. */
static const char *target_of(cr_ctx *cx, const cr_model_spec *specs, const cr_table *t)
{
    unsigned task = 0;
    cri_mute_warnings(cx, true);
    cr_status st =
        cri_fit_task(cx, specs[0].model, t, specs[0].settings, specs[0].n_settings, &task);
    cri_mute_warnings(cx, false);
    return st == CR_OK && task == CR_TASK_REGRESSION ? setting(&specs[0], "target") : NULL;
}

cr_status cri_plan_open(cr_ctx *cx, const cr_model_spec *specs, size_t n_specs, const cr_table *t,
                        const cr_cv_options *options, cri_plan *p)
{
    cr_status     st = CR_OK;
    cr_cv_options kept = *options, *o = &kept;
    size_t       *group = NULL, repeats = o->repeats ? o->repeats : 1;
    const char   *by = NULL;
    cri_dealt     dealt = { 0 };
    uint64_t      seed;
    *p = (cri_plan){ .s = cr_scratch_begin(cx) };
    CR_TRY(cri_plan_keep_sequences(cx, specs, n_specs, o, &by));
    CR_TRY(read_seed(cx, setting(&specs[0], "seed"), &seed));
    if (!by && o->split != CR_SPLIT_ORDERED)
        CR_TRY(cri_dealt_open(cx, t, target_of(cx, specs, t), counted_by(specs, n_specs, o),
                              o->folds, seed, &dealt));
    if (dealt.table) t = dealt.table;
    CR_TRY(check_options(cx, t, o));
    CR_TRY(cri_plan_open_unsplit(cx, specs, n_specs, t, by, p));
    p->dealt = dealt;
    dealt = (cri_dealt){ 0 };
    group = cr_scratch_index(&p->s, by ? cr_table_rows(t) : 0);
    p->split = cr_scratch_bytes(&p->s, repeats, sizeof *p->split);
    CR_TRY(p->s.status);
    p->folds = o->folds, p->repeats = repeats;
    p->how = (cr_judging){ .level = o->interval, .opt_positive = o->positive, .one_of_many = true };
    if (o->loss) CR_TRY(cr_loss_read(cx, o->loss, &p->loss));
    if (o->loss) p->how.opt_loss = &p->loss;
    if (by) CR_TRY(cri_number_groups(cx, p->table, by, group));
    if (by) CR_TRY(cri_plan_check_groups(cx, specs, n_specs, p->table, by, group));
    for (size_t r = 0; r < repeats; r++)
        CR_TRY(make_folds(cx, p, o, by ? group : NULL, r, &p->split[r]));
    if (p->task == CR_TASK_CLASSIFICATION) CR_TRY(warn_of_unseen(cx, p));
done:
    cri_dealt_free(cx, &dealt);
    return st;
}

/* --- the run --------------------------------------------------------------------------------- */

/* The first fold of an order learns from the rows before it alone, fewer than any other. */
static bool learns_from_few(const cri_plan *p, size_t f)
{
    const cr_folds *all = &p->split[f / p->folds];
    return f % p->folds == 0 && p->folds > 2 &&
           cr_folds_train(all, 0, NULL) < cr_folds_train(all, p->folds - 1, NULL) / 2;
}

static void hint_at_folds(cr_ctx *cx, const cri_plan *p)
{
    char        old[512];
    const char *hint = cr_error_hint(cx);
    snprintf(old, sizeof old, "%s%s", hint && *hint ? "; " : "", hint ? hint : "");
    cr_fail_hint(cx, "--folds %zu leaves more rows before the first fold%s", p->folds / 2, old);
}

cr_status cri_plan_note(cr_ctx *cx, const cri_plan *p, size_t f, cr_status st)
{
    if (st == CR_OK || st == CR_ENOMEM || st == CR_EINTERRUPTED || st == CR_EARG) return st;
    if (p->repeats > 1)
        cr_fail_note(cx, "in fold %zu of %zu of repeat %zu", f % p->folds + 1, p->folds,
                     f / p->folds + 1);
    else
        cr_fail_note(cx, "in fold %zu of %zu", f + 1, p->folds);
    if (learns_from_few(p, f)) hint_at_folds(cx, p);
    return st;
}

cr_status cri_plan_tables(cr_ctx *cx, const cri_plan *p, size_t f, cr_table **out_train,
                          cr_table **out_test)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    const cr_folds *folds = &p->split[f / p->folds];
    size_t         *rows = cr_scratch_index(&s, folds->n), n;
    cr_table       *train = NULL;

    CR_TRY(s.status);
    n = cr_folds_train(folds, f % p->folds, rows);
    CR_TRY(cri_table_subset(cx, p->table, rows, n, &train));
    n = cr_folds_test(folds, f % p->folds, rows);
    CR_TRY(cri_table_subset(cx, p->table, rows, n, out_test));
    *out_train = train;
    train = NULL;
done:
    cr_table_free(cx, train);
    cr_scratch_end(&s);
    return st;
}

cr_status cri_plan_fold(cr_ctx *cx, const cri_plan *p, size_t job, cr_assessment *out)
{
    cr_status            st = CR_OK;
    size_t               folds = p->folds * p->repeats;
    const cr_model_spec *m = &p->specs[job / folds];
    cr_table            *train = NULL, *test = NULL;
    cr_model            *model = NULL;

    CR_TRY(cri_plan_tables(cx, p, job % folds, &train, &test));
    CR_TRY(cr_fit(cx, m->model, train, m->settings, m->n_settings, &model));
    CR_TRY(cri_evaluate(cx, model, test, &p->how, out));
    if (p->dealt.table) out->rows = (size_t)out->weight; /* parts of rows are no rows: copies are */
done:
    cr_model_free(cx, model);
    cr_table_free(cx, train);
    cr_table_free(cx, test);
    return cri_plan_note(cx, p, job % folds, st);
}

typedef struct fold_work {
    const cri_plan *plan;
    cr_assessment  *out;
} fold_work;

static cr_status run_fold(cr_ctx *cx, void *arg, size_t job)
{
    const fold_work *w = arg;
    return cri_plan_fold(cx, w->plan, job, &w->out[job]);
}

cr_status cri_plan_run(cr_ctx *cx, const cri_plan *p, cr_assessment *out, bool *done)
{
    fold_work w = { p, out };
    return cri_run_jobs_in_time(cx, "cross-validating", p->folds * p->repeats, run_fold, &w, 0.9,
                                done);
}

/* --- what the time limit leaves -------------------------------------------------------------- */

cr_status cri_plan_fail_time(cr_ctx *cx, const cri_plan *p, const char *what, size_t n)
{
    double seconds = cri_seconds() - p->began;
    cr_fail(cx, CR_ENOMEM, "the time limit is reached before the first of %zu %s is finished", n,
            what);
    return cr_fail_hint(cx, "it has taken %.2g s so far; all may take --time-limit %.0fs", seconds,
                        ceil(seconds * (double)n / (double)cr_ctx_threads(cx)));
}

static size_t count_done(const bool *done, size_t n)
{
    size_t count = 0;
    for (size_t f = 0; f < n; f++) count += done[f];
    return count;
}

cr_status cri_plan_keep(cr_ctx *cx, const cri_plan *p, const bool *done, size_t *which,
                        size_t *out_folds, size_t *out_repeats)
{
    size_t n = 0, whole = 0;
    for (size_t r = 0; r < p->repeats; r++) {
        if (count_done(done + r * p->folds, p->folds) < p->folds) continue;
        for (size_t f = 0; f < p->folds; f++) which[n++] = r * p->folds + f;
        whole++;
    }
    *out_folds = p->folds, *out_repeats = whole;
    if (whole == p->repeats) return CR_OK;
    if (whole > 0) {
        cr_log(cx, CR_LOG_WARNING,
               "the time limit ended the cross-validation: the scores are means over %zu of %zu "
               "repeats",
               whole, p->repeats);
        return CR_OK;
    }
    for (size_t f = 0; f < p->folds; f++)
        if (done[f]) which[n++] = f;
    if (n == 0) return cri_plan_fail_time(cx, p, "folds", p->folds * p->repeats);
    *out_folds = n, *out_repeats = 1;
    cr_log(cx, CR_LOG_WARNING,
           "the time limit ended the cross-validation: the scores are means over %zu of %zu folds",
           n, p->folds * p->repeats);
    return CR_OK;
}

cr_status cri_plan_compact(cr_ctx *cx, const size_t *which, size_t folds, size_t repeats, cr_cv *cv)
{
    size_t n = folds * repeats, before = cv->folds * cv->repeats;
    if (n == before) return CR_OK;
    for (size_t f = 0; f < n; f++) cv->fold[f] = cv->fold[which[f]]; /* which rises */
    cr_assessment *fold = cr_resize(cx, cv->fold, before, n, sizeof *fold);
    if (!fold) return CR_ENOMEM;
    cv->fold = fold;
    cv->folds = folds, cv->repeats = repeats;
    return CR_OK;
}
