/* model_file.c -- a whole model to and from its file.
 * model.json: format, program, model, settings, reading, design, report, state; arrays beside it. */
#include "design_file.h"
#include "network_model.h"
#include "sums.h"

#include <math.h>
#include <string.h>

/* --- pieces ---------------------------------------------------------------------------------- */

/* Options that came when files had been written: left out at their default, so that a file saved again is the same. */
static bool is_left_out(const cr_option *o, const void *values)
{
    return strncmp(o->name, "conformal", 9) == 0 && cr_options_at_default(o, values);
}

/* Adds an option that has a value to the object as name: text; a long one too. */
static cr_status write_option(cr_ctx *cx, const cr_option *o, const void *values, json_t *out)
{
    cr_status st = CR_OK;
    size_t    length = cr_options_print(o, values, NULL, 0);
    char     *text = cr_alloc(cx, length + 1, 1);
    if (!text) return CR_ENOMEM;
    cr_options_print(o, values, text, length + 1);
    if (length > 0) st = cri_store_set_text(cx, out, o->name, text);
    cr_free(cx, text, length + 1, 1);
    return st;
}

static cr_status write_options(cr_ctx *cx, const cr_option *table, const void *values, json_t *out)
{
    cr_status st = CR_OK;
    for (const cr_option *o = table; o->name && st == CR_OK; o++)
        if (!is_left_out(o, values)) st = write_option(cx, o, values, out);
    return st;
}

static cr_status write_settings(cr_ctx *cx, const cr_model *m, json_t *out)
{
    cr_status st = CR_OK;
    CR_TRY(write_options(cx, cr_fit_table, &m->fit, out));
    CR_TRY(write_options(cx, cr_design_table, &m->design_options, out));
    CR_TRY(write_options(cx, m->class->options, m->options, out));
done:
    return st;
}

/* What the cells of its rows meant, where something was said of it. */
static cr_status write_reading(cr_ctx *cx, const cr_model *m, json_t *root)
{
    json_t   *part = json_object();
    cr_status st = CR_OK;
    if (!cri_read_options_any_kept(&m->reading)) {
        json_decref(part);
        return CR_OK;
    }
    CR_TRY(cri_store_set(cx, root, "reading", part));
    for (const cr_option *o = cr_read_table; o->name; o++)
        if (cri_read_option_is_kept(o) && !cr_options_at_default(o, &m->reading))
            CR_TRY(write_option(cx, o, &m->reading, part));
done:
    return st;
}

static json_t *finite_or_null(double x) { return isfinite(x) ? json_real(x) : json_null(); }

static cr_status write_report(cr_ctx *cx, const cr_report *r, json_t *out)
{
    cr_status st = CR_OK;
    CR_TRY(cri_store_set(cx, out, "rows", json_integer((json_int_t)r->rows)));
    if (!isnan(r->log_evidence))
        CR_TRY(cri_store_set(cx, out, "log_evidence", finite_or_null(r->log_evidence)));
    if (!isnan(r->log_evidence) && r->evidence != CR_EVIDENCE_EXACT)
        CR_TRY(cri_store_set(cx, out, "evidence", json_string(cr_evidence_name(r->evidence))));
    if (!isnan(r->log_likelihood) || isnan(r->log_evidence)) /* one of the two is always there */
        CR_TRY(cri_store_set(cx, out, "log_likelihood", finite_or_null(r->log_likelihood)));
    CR_TRY(cri_store_set(cx, out, "iterations", json_integer((json_int_t)r->iterations)));
    CR_TRY(cri_store_set(cx, out, "stop", json_string(cr_stop_name(r->stop))));
done:
    return st;
}

static cr_status read_report(cr_ctx *cx, const cri_store *s, const json_t *in, cr_report *r)
{
    cr_status   st = CR_OK;
    const char *stop;
    json_t     *evidence = json_object_get(in, "log_evidence");
    json_t     *likelihood = json_object_get(in, "log_likelihood");
    *r = (cr_report){ .log_evidence = NAN, .log_likelihood = NAN };
    CR_TRY(cri_store_get_count(cx, s, in, "rows", &r->rows));
    CR_TRY(cri_store_get_count(cx, s, in, "iterations", &r->iterations));
    CR_TRY(cri_store_get_text(cx, s, in, "stop", &stop));
    if (json_is_number(evidence)) r->log_evidence = json_number_value(evidence);
    if (json_is_number(likelihood)) r->log_likelihood = json_number_value(likelihood);
    const char *kind = json_string_value(json_object_get(in, "evidence"));
    for (int i = CR_EVIDENCE_EXACT; kind && i <= CR_EVIDENCE_ESTIMATE; i++)
        if (strcmp(kind, cr_evidence_name((cr_evidence_kind)i)) == 0)
            r->evidence = (cr_evidence_kind)i;
    r->stop = CR_STOP_LIMIT;
    for (int i = CR_STOP_CLOSED_FORM; i <= CR_STOP_TIME; i++)
        if (strcmp(stop, cr_stop_name((cr_stop)i)) == 0) r->stop = (cr_stop)i;
done:
    return st;
}

/* --- saving ---------------------------------------------------------------------------------- */

cr_status cri_model_write_parts(cr_ctx *cx, const cr_model *m, cri_store *store, json_t *out)
{
    cr_status st = CR_OK;
    json_t   *part;
    CR_TRY(cri_store_set(cx, out, "design", part = json_object()));
    CR_TRY(cri_design_write(cx, m->design, part));
    CR_TRY(cri_store_set(cx, out, "report", part = json_object()));
    CR_TRY(write_report(cx, &m->report, part));
    CR_TRY(cri_store_set(cx, out, "state", part = json_object()));
    CR_TRY(cri_state_write(cx, m->class, m->state, store, part));
done:
    return st;
}

static cr_status model_to_store(cr_ctx *cx, const cr_model *m, cri_store *store)
{
    cr_status st = CR_OK;
    json_t   *root = cri_store_json(store), *part;
    CR_TRY(cri_check_fitted(cx, m));
    CR_TRY(cri_store_set(cx, root, "format", json_integer(1)));
    CR_TRY(cri_store_set(cx, root, "program", json_string("credence " CREDENCE_VERSION)));
    CR_TRY(cri_store_set(cx, root, "model", json_string(m->class->name)));
    CR_TRY(cri_store_set(cx, root, "task", json_string(cr_task_name(m->task))));
    CR_TRY(cri_store_set(cx, root, "settings", part = json_object()));
    CR_TRY(write_settings(cx, m, part));
    CR_TRY(write_reading(cx, m, root));
    CR_TRY(cri_model_write_parts(cx, m, store, root));
    CR_TRY(cri_sums_write(cx, m, store, root));
    if (m->design->transform.kind != CRI_TRANSFORM_NONE)
        CR_TRY(cri_store_set_real(cx, root, "log_slopes", m->log_slopes));
    if (m->calibration) {
        CR_TRY(cri_store_set(cx, root, "calibration", part = json_object()));
        CR_TRY(cri_calibration_write(cx, m->calibration, store, part));
    }
    if (m->conformal) {
        CR_TRY(cri_store_set(cx, root, "conformal", part = json_object()));
        CR_TRY(cri_conformal_write(cx, m->conformal, store, part));
    }
done:
    return st;
}

cr_status cr_model_save(cr_ctx *cx, const cr_model *m, const char *path)
{
    cr_status  st = CR_OK;
    cri_store *store = NULL;
    CR_TRY(cri_store_new(cx, &store));
    CR_TRY(model_to_store(cx, m, store));
    CR_TRY(cri_store_save(cx, store, path));
done:
    cri_store_free(cx, store);
    return st;
}

cr_status cr_model_to_bytes(cr_ctx *cx, const cr_model *m, char **out_bytes, size_t *out_size)
{
    cr_status  st = CR_OK;
    cri_store *store = NULL;
    CR_TRY(cri_store_new(cx, &store));
    CR_TRY(model_to_store(cx, m, store));
    CR_TRY(cri_store_to_bytes(cx, store, out_bytes, out_size));
done:
    cri_store_free(cx, store);
    return st;
}

/* --- loading --------------------------------------------------------------------------------- */

static cr_status set_reading(cr_ctx *cx, cr_model *m, const char *name, const char *value)
{
    return cr_options_set(cx, cr_read_table, &m->reading, name, value);
}

/* The members of an object of texts, by `set`; there may be none. */
static cr_status read_settings(cr_ctx *cx, const cri_store *s, json_t *opt_in, cr_model *m,
                               cr_status (*set)(cr_ctx *, cr_model *, const char *, const char *))
{
    const char *key;
    json_t     *value;
    json_object_foreach(opt_in, key, value)
    {
        if (!json_is_string(value))
            return cr_fail(cx, CR_EDATA, "%s: the setting '%s' is not a text", cri_store_source(s),
                           key);
        cr_status st = set(cx, m, key, json_string_value(value));
        if (st == CR_EARG)
            return cr_fail(cx, CR_EDATA, "%s: a setting in the model file is not valid: %s",
                           cri_store_source(s), cr_error(cx));
        if (st != CR_OK) return st;
    }
    return CR_OK;
}

/* The task must be one that the class does and the design allows. */
static cr_status read_task(cr_ctx *cx, const cri_store *s, const json_t *root, cr_model *m)
{
    const char *name = json_string_value(json_object_get(root, "task"));
    const char *wrong = NULL;
    m->task = m->class->tasks;
    for (unsigned bit = 1; name && bit <= CR_TASK_NETWORK; bit <<= 1)
        if (strcmp(name, cr_task_name(bit)) == 0) m->task = bit;
    bool classes = m->design->target.name && m->design->target.type == CR_CATEGORY;
    if (m->task & (m->task - 1) || !(m->task & m->class->tasks))
        wrong = "does not belong to a task of the model";
    else if (m->task & (CR_TASK_REGRESSION | CR_TASK_CLASSIFICATION) && !m->design->target.name)
        wrong = "has no target";
    else if (m->task & (CR_TASK_REGRESSION | CR_TASK_CLASSIFICATION) &&
             (m->task == CR_TASK_CLASSIFICATION) != classes &&
             !(classes && m->class->two_classes && m->design->target.n_levels == 2))
        wrong = "has a target of the wrong type for its task";
    if (!wrong) return CR_OK;
    return cr_fail(cx, CR_EDATA, "%s: the design in the model file %s", cri_store_source(s), wrong);
}

/* What cri_model_write_parts has written, into a model that has its settings; `root` has the task. */
static cr_status read_parts(cr_ctx *cx, const cri_store *s, const json_t *in, const json_t *root,
                            cr_model *m)
{
    cr_status             st = CR_OK;
    const cr_model_class *c = m->class;
    json_t               *design, *report, *state;
    CR_TRY(cri_store_get_object(cx, s, in, "design", &design));
    CR_TRY(cri_store_get_object(cx, s, in, "report", &report));
    CR_TRY(cri_store_get_object(cx, s, in, "state", &state));
    CR_TRY(cri_design_read(cx, s, design,
                           cri_resolve_missing(m->design_options.missing, c->takes_missing),
                           &m->design));
    m->design->sparse_levels = c->sparse_levels && cri_design_has_many_levels(m->design);
    CR_TRY(read_task(cx, s, root, m));
    CR_TRY(read_report(cx, s, report, &m->report));
    CR_TRY(cri_state_read(cx, c, s, state, m->design, &m->state));
done:
    return st;
}

cr_status cri_model_read_parts(cr_ctx *cx, cri_store *s, const json_t *in, const cr_model *like,
                               cr_model **out_model)
{
    cr_status st = CR_OK;
    json_t   *root = cri_store_json(s), *settings;
    cr_model *m = cri_model_new(cx, like->class);
    if (!m) CR_TRY(CR_ENOMEM);
    CR_TRY(cri_store_get_object(cx, s, root, "settings", &settings));
    CR_TRY(read_settings(cx, s, settings, m, cri_model_set));
    m->fit.calibrate = CRI_CALIBRATE_NONE;
    CR_TRY(read_parts(cx, s, in, root, m));
    *out_model = m;
    m = NULL;
done:
    cr_model_free(cx, m);
    return st;
}

static cr_status store_to_model(cr_ctx *cx, cri_store *s, cr_model **out_model)
{
    cr_status             st = CR_OK;
    json_t               *root = cri_store_json(s), *settings, *conformal;
    const char           *name;
    const cr_model_class *c;
    cr_model             *m = NULL;

    CR_TRY(cri_store_get_text(cx, s, root, "model", &name));
    c = cri_class_of_name(name);
    if (c && !cri_class_learns(c)) { /* as it was given: graph/files/network_store.h */
        cr_fail(cx, CR_EDATA, "%s is a network, not a fitted model", cri_store_source(s));
        CR_TRY(cr_fail_hint(cx, "credence describe and credence query read networks"));
    }
    CR_TRY(cri_store_get_object(cx, s, root, "settings", &settings));
    if (!c)
        CR_TRY(cr_fail(cx, CR_EDATA, "%s: the model '%s' is not known to this credence",
                       cri_store_source(s), name));
    m = cri_model_new(cx, c);
    if (!m) CR_TRY(CR_ENOMEM);
    CR_TRY(read_settings(cx, s, settings, m, cri_model_set));
    CR_TRY(read_settings(cx, s, json_object_get(root, "reading"), m, set_reading));
    CR_TRY(read_parts(cx, s, root, root, m));
    CR_TRY(cri_sums_read(cx, s, root, m));
    if (m->design->transform.kind != CRI_TRANSFORM_NONE)
        CR_TRY(cri_store_get_real(cx, s, root, "log_slopes", &m->log_slopes));
    if (m->task == CR_TASK_CLASSIFICATION && json_object_get(root, "calibration"))
        CR_TRY(cri_calibration_read(cx, s, json_object_get(root, "calibration"),
                                    cr_design_classes(m->design), &m->calibration));
    conformal = json_object_get(root, "conformal");
    if (m->task == CR_TASK_REGRESSION && conformal)
        CR_TRY(cri_conformal_read(cx, s, conformal, m, &m->conformal));
    *out_model = m;
    m = NULL;
done:
    cr_model_free(cx, m);
    return st;
}

cr_status cr_model_load(cr_ctx *cx, const char *path, cr_model **out_model)
{
    cr_status  st = CR_OK;
    cri_store *store = NULL;
    CR_TRY(cri_store_load(cx, path, &store));
    CR_TRY(store_to_model(cx, store, out_model));
done:
    cri_store_free(cx, store);
    return st;
}

cr_status cr_model_from_bytes(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                              cr_model **out_model)
{
    cr_status  st = CR_OK;
    cri_store *store = NULL;
    CR_TRY(cri_store_from_bytes(cx, source, bytes, size, &store));
    CR_TRY(store_to_model(cx, store, out_model));
done:
    cri_store_free(cx, store);
    return st;
}
