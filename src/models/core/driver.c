/* driver.c -- from a table to a fitted model, and from there to one that knows more rows: task, design, rows,
 * then the class, by sums over the rows or from all of them at once. */
#include "em.h"
#include "passes.h"
#include "rows_check.h"
#include "sums.h"
#include "transform_target.h"
#include "base/clock.h"
#include "base/context_internal.h"
#include "base/scratch.h"
#include "data/table/table_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- design -------------------------------------------------------------------------- */

/* Names and levels go into the model file, which is UTF-8. */
static cr_status check_text(cr_ctx *cx, const char *what, const char *text)
{
    json_t   *object = json_object();
    cr_status st = cri_store_set_text(cx, object, what, text);
    json_decref(object);
    return st;
}

static cr_status check_column_texts(cr_ctx *cx, const cri_design_column *c)
{
    cr_status st = check_text(cx, "column", c->name);
    for (size_t k = 0; k < c->n_levels && st == CR_OK; k++)
        st = check_text(cx, c->name, c->levels[k]);
    return st;
}

static cr_status check_texts(cr_ctx *cx, const cr_design *d)
{
    cr_status st = CR_OK;
    for (size_t i = 0; i < d->n_columns; i++) CR_TRY(check_column_texts(cx, &d->columns[i]));
    if (d->target.name) CR_TRY(check_column_texts(cx, &d->target));
done:
    return st;
}

/* The columns that options of the class name. */
static void find_roles(const cr_model *m, cri_design_needs *needs)
{
    for (size_t k = 0; m->class->roles && m->class->roles[k] && k < CRI_MOST_ROLES; k++) {
        const cr_option *o = cr_option_find(m->class->options, m->class->roles[k]);
        needs->roles[k] = o ? *(char **)((char *)m->options + o->offset) : NULL;
    }
    const cr_option *aside =
        m->class->aside ? cr_option_find(m->class->options, m->class->aside) : NULL;
    if (aside) needs->aside = *(char **)((char *)m->options + aside->offset);
}

/* A function of the target needs a target that may be any number. */
static cr_status check_transform(cr_ctx *cx, const cr_model *m)
{
    cri_transform transform;
    bool          open;
    cr_status st = cri_transform_parse(cx, m->design_options.transform_target, &transform, &open);
    if (st != CR_OK || transform.kind == CRI_TRANSFORM_NONE) return st;
    if (m->task != CR_TASK_REGRESSION) {
        cr_fail(cx, CR_EARG,
                "--transform-target needs a model that predicts numbers, but %s here does not",
                m->class->name);
        return cr_fail_hint(cx, "leave --transform-target out");
    }
    if (m->class->target_as_is)
        return cr_fail(
            cx, CR_EARG,
            "the model %s needs the target as it is: it cannot be combined with --transform-target",
            m->class->name);
    return CR_OK;
}

static bool takes_sparse(const cr_model *m)
{
    const cr_model_class *c = m->class;
    return c->takes_sparse && (!c->sparse_when || c->sparse_when(m->options));
}

/* By the rows of the table, the first of opt_passes. */
static cr_status fit_design(cr_ctx *cx, cr_model *m, const cr_table *t, cri_passes *opt_passes)
{
    cr_status             st = CR_OK;
    const cr_model_class *c = m->class;
    bool             standard = cri_class_scale(c, m->design_options.scale) == CR_SCALE_STANDARD;
    bool             classes = m->task == CR_TASK_CLASSIFICATION;
    bool             standard_y = m->design_options.scale_target == CR_SCALE_STANDARD;
    bool             scaled = standard && !c->scales_itself;
    bool             later = scaled && opt_passes && cri_learning_of(c)->passes;
    bool             passes = opt_passes && cri_learning_of(c)->passes;
    cri_centring     centre = standard ? CRI_CENTRE_ALL : CRI_CENTRE_FAR;
    cri_design_needs needs = { .centre = opt_passes ? CRI_CENTRE_NONE : centre,
                               .standardise = scaled && !later,
                               .standardise_target = standard_y && m->task == CR_TASK_REGRESSION,
                               .coding = c->coding,
                               .classes = classes,
                               .spread = !takes_sparse(m),
                               .keep_missing = c->takes_missing,
                               .sequences = c->sequences,
                               .series = cri_sequence_of(c)->series,
                               .varying = c->varying,
                               .named = c->columns != NULL };
    const char      *only = m->design_options.sequence ? "sequence" : "time";
    if (!c->sequences && (m->design_options.sequence || m->design_options.time))
        return cr_fail(cx, CR_EARG,
                       "the model %s treats rows one by one: --%s needs a model of sequences",
                       c->name, only);
    if (standard_y && c->target_as_is)
        return cr_fail(cx, CR_EARG,
                       "the model %s needs the target as it is: it cannot be combined with "
                       "--scale-target standard",
                       c->name);
    CR_TRY(check_transform(cx, m));
    find_roles(m, &needs);
    if (c->columns && !m->design_options.features)
        CR_TRY(c->columns(cx, m->options, t, &m->design_options.features));
    CR_TRY(cri_design_fit(cx, t, &m->design_options, &needs, &m->design));
    CR_TRY(check_texts(cx, m->design));
    m->design->standardised = standard;
    m->design->sparse_levels = c->sparse_levels && cri_design_has_many_levels(m->design);
    if (c->shape) CR_TRY(c->shape(cx, m->options, m->design));
    if (opt_passes && !passes && standard && cri_design_has_powers(m->design))
        cr_log(cx, CR_LOG_WARNING,
               "powers of columns cannot be centred in a stream, so what is penalised depends on "
               "where the "
               "columns begin: take a typical value off them first, or fit without --stream");
    if (passes) CR_TRY(cri_passes_centre(cx, opt_passes, centre, m->design));
    if (later) CR_TRY(cri_passes_standardise(cx, opt_passes, m->design));
done:
    return st;
}

static cr_status check_rows(cr_ctx *cx, const cr_table *t, const cri_rows *rows)
{
    if (rows->imputed)
        cr_log(cx, CR_LOG_WARNING, "%zu missing values of %s were filled in", rows->imputed,
               cr_table_source(t));
    size_t dropped = cr_table_rows(t) - rows->n;
    if (dropped && rows->n)
        cr_log(cx, CR_LOG_WARNING, "%zu of %zu rows of %s were left out because of missing values",
               dropped, cr_table_rows(t), cr_table_source(t));
    if (rows->n == 0)
        return cr_fail(cx, CR_EDATA, "%s: no row is left to learn from", cr_table_source(t));
    return CR_OK;
}

static cr_status fail_weight(cr_ctx *cx, const cr_model *m, const cri_rows *rows)
{
    return m->fit.class_weights
               ? cr_fail(cx, CR_EARG, "--class-weights gives every row a weight of 0")
               : cri_rows_fail_weight(cx, rows);
}

/* --- fit -------------------------------------------------------------------------------------- */

/* Out of memory with sparse data that the class needs spread out: what that takes. */
static cr_status explain_spread(cr_ctx *cx, const cr_model *m, const cr_table *t, cr_status st)
{
    const cr_csr *X = cr_table_csr(t);
    if (st != CR_ENOMEM || !X || takes_sparse(m) || cri_should_stop(cx)) return st;
    return cr_fail_note(cx,
                        "the data are sparse, but the model %s works with a dense matrix, here of "
                        "%zu rows and %zu columns: %.3g GB",
                        m->class->name, X->rows, X->columns,
                        (double)X->rows * (double)X->columns * (double)sizeof(double) / 1e9);
}

cr_status cri_model_open_rows(cr_ctx *cx, const cr_model *m, const cr_table *t, bool *opt_any,
                              bool again, cri_rows *rows)
{
    bool part = m->open || opt_any;
    cri_pause_holding(cx, !again); /* what is said of them is true whatever other blocks come */
    cr_status st =
        cri_rows_open(cx, m->design, t, part ? CRI_TARGET_OF_PART : CRI_TARGET_NEEDED, rows);
    if (st == CR_OK && opt_any) *opt_any = rows->n > 0;
    if (st == CR_OK && (rows->n > 0 || !opt_any)) st = check_rows(cx, t, rows);
    if (st == CR_OK && rows->n > 0) st = cri_class_weights_apply(cx, m, rows);
    if (st == CR_OK && rows->weightless && !part) st = fail_weight(cx, m, rows);
    cri_pause_holding(cx, false);
    return st;
}

/* Rows that are weighted by their class are those of another population, and no more rows than they were. */
static void warn_of_class_weights(cr_ctx *cx, const cr_model *m)
{
    if (!m->fit.class_weights) return;
    bool shifted = m->fit.calibrate == CRI_CALIBRATE_NONE, counted = !m->class->robust_classes;
    if (!shifted && !counted) return;
    cri_pause_holding(cx, true);
    cr_log(cx, CR_LOG_WARNING, "--class-weights: %s%s%s",
           shifted ? "probabilities are those of a population whose classes are as frequent as the "
                     "weights make them, and --calibrate platt gives those of the data"
                   : "",
           shifted && counted ? "; " : "",
           counted ? "standard errors, intervals and evidence, where there are any, count a row of "
                     "weight w as w rows and are too sure"
                   : "");
    cri_pause_holding(cx, false);
}

/* Where nothing was said about what the weights of a column mean.  Those of classes are ratios by themselves. */
static void warn_of_weights(cr_ctx *cx, const cr_model *m, const cri_rows *rows,
                            const cr_setting *settings, size_t n)
{
    if (m->fit.class_weights || cri_setting_of(settings, n, "weights_are")) return;
    cri_pause_holding(cx, true);
    cri_warn_of_weights(cx, rows, cr_option_find(m->class->options, "weights_are") != NULL);
    cri_pause_holding(cx, false);
}

/* From sums over the rows, of which more may come. */
static cr_status learn_sums(cr_ctx *cx, cr_model *m, const cri_rows *rows, bool more)
{
    cr_status            st = CR_OK;
    const cri_sums_face *face = m->class->sums;
    if (face->open)
        CR_TRY(face->open(cx, rows, m->options, &m->state));
    else if (!(m->state = cr_alloc(cx, 1, m->class->state_size)))
        CR_TRY(CR_ENOMEM);
    CR_TRY(cri_sums_gather(cx, m, rows));
    if (more) goto done;
    CR_TRY(cri_sums_solve(cx, m));
    if (face->review) CR_TRY(face->review(cx, rows, m->options, m->state, &m->report));
done:
    return st;
}

static cr_status learn(cr_ctx *cx, cr_model *m, const cri_rows *rows)
{
    bool                 more = rows->passes != NULL;
    const cri_sums_face *face = m->class->sums;
    bool                 serves =
        face && (more || !face->serves || face->serves(rows, m->options, cri_sums_leaves(rows)));
    m->open = more;
    m->weightless = rows->weightless;
    m->report = (cr_report){ .rows = rows->n, .log_evidence = NAN, .log_likelihood = NAN };
    if (serves) return learn_sums(cx, m, rows, more);
    cr_status st = m->class->em ? cri_em_fit(cx, m, rows)
                                : cri_learning_of(m->class)->fit(cx, rows, m->options, m->fit.seed,
                                                                 &m->state, &m->report);
    if (more && rows->passes->made > 0) m->report.rows = rows->passes->rows;
    return st;
}

/* The same; a fit that a clock has ended says so. */
static cr_status learn_in_time(cr_ctx *cx, cr_model *m, const cri_rows *rows)
{
    cri_ctx_take_late(cx);
    cr_status  st = learn(cx, m, rows);
    cr_report *r = &m->report;
    if (st != CR_OK || !cri_ctx_take_late(cx) || r->stop == CR_STOP_TIME) return st;
    r->stop = CR_STOP_TIME;
    if (r->iterations > 0)
        cr_log(cx, CR_LOG_WARNING,
               "the time limit ended the fit after %zu iterations: this is the best so far",
               r->iterations);
    else
        cr_log(cx, CR_LOG_WARNING, "the time limit ended the fit: this is the best so far");
    return CR_OK;
}

cr_status cri_model_fit(cr_ctx *cx, const char *name, const cr_table *t, const cr_setting *settings,
                        size_t n_settings, cr_stream *opt_rest, cr_model **out_model)
{
    cr_status             st = CR_OK;
    double                start = cri_seconds();
    const cr_model_class *c = cr_class_find(cx, name);
    cr_model             *m = NULL;
    cri_rows              rows = { 0 };
    cri_passes            passes = { .stream = opt_rest };

    if (!c) return CR_EARG;
    passes.model = m = cri_model_new(cx, c);
    if (!m) CR_TRY(CR_ENOMEM);
    for (size_t i = 0; i < n_settings; i++) {
        CR_TRY(cri_model_set(cx, m, settings[i].name, settings[i].value));
        CR_TRY(check_text(cx, settings[i].name, settings[i].value));
    }
    if (cri_table_reading(t)) CR_TRY(cri_read_options_keep(cx, cri_table_reading(t), &m->reading));
    CR_TRY(cri_resolve_task(cx, m, t, &m->task));
    CR_TRY(cri_check_unused(cx, m));
    m->open = opt_rest != NULL;
    CR_TRY(explain_spread(cx, m, t, fit_design(cx, m, t, opt_rest ? &passes : NULL)));
    CR_TRY(explain_spread(cx, m, t, cri_model_open_rows(cx, m, t, NULL, false, &rows)));
    warn_of_weights(cx, m, &rows, settings, n_settings);
    warn_of_class_weights(cx, m);
    rows.more = opt_rest != NULL;
    rows.passes = opt_rest ? &passes : NULL;
    if (m->task == CR_TASK_CLASSIFICATION && !cri_class_updates(c) &&
        !rows.passes) /* else others may come yet */
        CR_TRY(cri_check_row_classes(cx, &rows));
    st = learn_in_time(cx, m, &rows);
    bool wide = (double)rows.p * (double)rows.p * (double)sizeof(double) >
                1e9; /* columns by columns are more */
    CR_TRY(rows.sparse || wide ? cri_rows_explain(cx, &rows, st) : explain_spread(cx, m, t, st));
    if (!opt_rest || !c->sums) CR_TRY(cri_state_check(cx, c, m->state)); /* else it is not solved */
    cri_model_count_slopes(m, &rows, !opt_rest);
    if (m->fit.calibrate == CRI_CALIBRATE_CONFORMAL)
        CR_TRY(cri_conformal_fit(cx, m, t, settings, n_settings));
    else if (m->fit.calibrate != CRI_CALIBRATE_NONE)
        CR_TRY(cri_calibrate_model(cx, m, t, settings, n_settings));
    else if (m->task == CR_TASK_CLASSIFICATION && !opt_rest)
        CR_TRY(cri_doubt_probabilities(cx, m, t));
    else if (m->task == CR_TASK_REGRESSION && !opt_rest)
        CR_TRY(cri_doubt_intervals(cx, m, t, &rows));
    m->report.seconds = cri_seconds() - start;
    *out_model = m;
    m = NULL;
done:
    cri_rows_close(cx, &rows);
    cr_model_free(cx, m);
    return st;
}

cr_status cr_fit(cr_ctx *cx, const char *name, const cr_table *t, const cr_setting *settings,
                 size_t n_settings, cr_model **out_model)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    cr_setting *all = cr_scratch_bytes(&s, n_settings + 1, sizeof *all);
    char        text[32];
    double      lambda;

    if (!cri_wants_power(settings, n_settings)) {
        CR_TRY(cri_model_fit(cx, name, t, settings, n_settings, NULL, out_model));
        goto done;
    }
    CR_TRY(s.status);
    CR_TRY(cri_find_power(cx, name, t, settings, n_settings, &lambda));
    snprintf(text, sizeof text, "boxcox:%g", lambda);
    memcpy(all, settings, n_settings * sizeof *all);
    all[n_settings] = (cr_setting){ "transform_target", text };
    CR_TRY(cri_model_fit(cx, name, t, all, n_settings + 1, NULL, out_model));
    (*out_model)->design->power_rows = (double)(*out_model)->report.rows;
done:
    cr_scratch_end(&s);
    return st;
}

/* --- update ----------------------------------------------------------------------------------- */

cr_status cri_model_copy(cr_ctx *cx, const cr_model *model, cr_model **out_model)
{
    char     *bytes = NULL;
    size_t    size = 0;
    cr_status st = cr_model_to_bytes(cx, model, &bytes, &size);
    if (st == CR_OK) st = cr_model_from_bytes(cx, "the model", bytes, size, out_model);
    cr_free(cx, bytes, size, 1);
    return st;
}

cr_status cr_update(cr_ctx *cx, const cr_model *old, const cr_table *t, cr_model **out_model)
{
    cr_status st = CR_OK;
    cr_model *m = NULL;
    if (!cri_class_updates(old->class)) {
        cr_fail(cx, CR_EUNSUPPORTED, "the model %s has no exact update", old->class->name);
        return cr_fail_hint(cx, "fit it again to all the rows");
    }
    CR_TRY(cri_model_copy(cx, old, &m));
    CR_TRY(cri_model_take(cx, m, t, false, NULL));
    *out_model = m;
    m = NULL;
done:
    cr_model_free(cx, m);
    return st;
}

/* Classes that the model has not seen join its design, where its class can take them: *out_map [classes so far],
 * of `s`, says what becomes of those it has; NULL where none came. */
static cr_status join_classes(cr_ctx *cx, cr_scratch *s, cr_model *m, const cr_table *t,
                              size_t **out_map)
{
    cr_status st = CR_OK;
    size_t    K = cr_design_classes(m->design), *map = cr_scratch_index(s, K);
    *out_map = NULL;
    CR_TRY(s->status);
    if (!m->class->sums || !m->class->sums->join || m->task != CR_TASK_CLASSIFICATION ||
        m->calibration)
        goto done;
    CR_TRY(cri_design_join_classes(cx, m->design, t, map));
    if (cr_design_classes(m->design) == K) goto done;
    CR_TRY(check_texts(cx, m->design));
    *out_map = map;
done:
    return st;
}

/* A class that an update brings may be a misspelt one.  map [K]: what became of those there were. */
static void warn_of_new_classes(cr_ctx *cx, const cr_model *m, const cri_rows *rows,
                                const size_t *map, size_t K)
{
    for (size_t k = 0; k < cr_design_classes(m->design); k++) {
        size_t n = 0;
        bool   known = false;
        for (size_t j = 0; j < K; j++) known = known || map[j] == k;
        for (size_t i = 0; !known && i < rows->n; i++) n += rows->y[i] == (double)k;
        if (!known)
            cr_log(cx, CR_LOG_WARNING,
                   "the target '%s' has a class that is new to the model, '%s', in %zu %s",
                   cr_design_target(m->design), cr_design_class(m->design, k), n,
                   n == 1 ? "row" : "rows");
    }
}

/* More rows, where the model is by sums. */
static cr_status take_sums(cr_ctx *cx, cr_model *m, const cri_rows *rows, bool more,
                           const size_t *opt_map)
{
    cr_status st = CR_OK;
    if (!m->open) CR_TRY(cri_sums_reopen(cx, m));
    if (opt_map) CR_TRY(cri_sums_join(cx, m, opt_map, cr_design_classes(m->design)));
    CR_TRY(cri_sums_gather(cx, m, rows));
    if (!more) CR_TRY(cri_sums_solve(cx, m));
done:
    return st;
}

static cr_status take_whole(cr_ctx *cx, cr_model *m, const cri_rows *rows)
{
    void     *state = NULL;
    cr_status st =
        cri_learning_of(m->class)->update(cx, m->state, rows, m->options, &state, &m->report);
    if (st != CR_OK) return st;
    cri_state_free(cx, m->class, m->state);
    m->state = state;
    return CR_OK;
}

cr_status cri_model_take(cr_ctx *cx, cr_model *m, const cr_table *t, bool more, bool *opt_any)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double     start = cri_seconds();
    cri_rows   rows = { 0 };
    size_t    *map = NULL, K = cr_design_classes(m->design);

    CR_TRY(cri_design_learn_texts(cx, m->design, t));
    CR_TRY(join_classes(cx, &s, m, t, &map));
    CR_TRY(cri_model_open_rows(cx, m, t, opt_any, false, &rows));
    if (map && !m->open) warn_of_new_classes(cx, m, &rows, map, K);
    rows.more = more;
    if (rows.n == 0 && !map && (more || !m->open)) goto done; /* but none may end a stream */
    m->weightless = m->weightless && (rows.weightless || rows.n == 0);
    if (m->weightless && !more) CR_TRY(fail_weight(cx, m, &rows));
    m->report =
        (cr_report){ .rows = m->report.rows + rows.n, .log_evidence = NAN, .log_likelihood = NAN };
    CR_TRY(m->class->sums ? take_sums(cx, m, &rows, more, map) : take_whole(cx, m, &rows));
    if (!more || !m->class->sums) CR_TRY(cri_state_check(cx, m->class, m->state));
    cri_model_count_slopes(m, &rows, !more);
    m->open = more;
    if (m->calibration && !more)
        cr_log(cx, CR_LOG_WARNING,
               "the calibration was learned from the rows of the fit and is not updated; to update "
               "it, use fit --calibrate on all the rows");
    if (m->conformal && !more)
        cr_log(cx, CR_LOG_WARNING,
               "the conformal intervals were learned from the rows of the fit and are not updated; "
               "to update them, use fit --calibrate conformal on all the rows");
    m->report.seconds = cri_seconds() - start;
done:
    cri_rows_close(cx, &rows);
    cr_scratch_end(&s);
    return st;
}
