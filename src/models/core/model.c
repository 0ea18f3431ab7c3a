/* model.c -- the model around a class: its life, its settings, and looks at it. */
#include "sums.h"
#include "base/list.h"
#include "base/scratch.h"

#include <stdio.h>
#include <string.h>

CR_OPTIONS_TABLE(, cr_fit_table, cr_fit_options, CR_FIT_OPTIONS);

/* --- life and settings ----------------------------------------------------------------------- */

cr_model *cri_model_new(cr_ctx *cx, const cr_model_class *c)
{
    cr_model *m = cr_alloc(cx, 1, sizeof *m);
    if (!m) return NULL;
    m->class = c;
    m->options = cr_alloc(cx, 1, c->options_size);
    bool ready = m->options && cr_options_init(cx, cr_fit_table, &m->fit) == CR_OK &&
                 cr_options_init(cx, cr_design_table, &m->design_options) == CR_OK &&
                 cr_options_init(cx, cr_read_table, &m->reading) == CR_OK &&
                 cr_options_init(cx, c->options, m->options) == CR_OK;
    if (ready) return m;
    cr_model_free(cx, m);
    return NULL;
}

cr_status cri_check_fitted(cr_ctx *cx, const cr_model *m)
{
    if (m->design) return CR_OK;
    cr_fail(cx, CR_EUNSUPPORTED, "this %s was not fitted to rows: it is a given network",
            m->class->name);
    return cr_fail_hint(cx, "cr_model_query queries it, and cr_model_write_network saves it");
}

void cr_model_free(cr_ctx *cx, cr_model *m)
{
    if (!m) return;
    if (m->class->sums) cri_sums_free(cx, m);
    cri_state_free(cx, m->class, m->state);
    cri_calibration_free(cx, m->calibration);
    cri_conformal_free(cx, m->conformal);
    cri_design_free(cx, m->design);
    if (m->options) cr_options_free(cx, m->class->options, m->options);
    cr_free(cx, m->options, 1, m->class->options_size);
    cr_options_free(cx, cr_read_table, &m->reading);
    cr_options_free(cx, cr_design_table, &m->design_options);
    cr_options_free(cx, cr_fit_table, &m->fit);
    cr_free(cx, m, 1, sizeof *m);
}

typedef struct option_names {
    const cr_option *tables[3];
} option_names;

static const char *option_name(const void *user, size_t i)
{
    const option_names *names = user;
    for (size_t t = 0; t < 3; t++)
        for (const cr_option *o = names->tables[t]; o->name; o++)
            if (i-- == 0) return o->name;
    return "";
}

bool cri_setting_is(const cr_setting *s, const char *name)
{
    const cr_option table[] = { { .name = name }, { .name = NULL } };
    return cr_option_find(table, s->name) != NULL;
}

const char *cri_setting_of(const cr_setting *settings, size_t n_settings, const char *name)
{
    for (size_t i = n_settings; i-- > 0;)
        if (cri_setting_is(&settings[i], name)) return settings[i].value;
    return NULL;
}

/* What follows the colon where the value is the word that carries another option; NULL where it is not. */
static const char *carried_value(const cri_carried *c, const char *name, const char *value)
{
    size_t n = c ? strlen(c->word) : 0;
    if (!c || !cri_setting_is(&(cr_setting){ name, value }, c->choice)) return NULL;
    return strncmp(value, c->word, n) == 0 && value[n] == ':' ? value + n + 1 : NULL;
}

cr_status cri_model_set(cr_ctx *cx, cr_model *m, const char *name, const char *value)
{
    const cri_carried *c = m->class->carried;
    const char        *second = carried_value(c, name, value);
    if (second) {
        const cr_option *o = cr_option_find(m->class->options, c->option);
        cr_status        st = cr_options_set(cx, m->class->options, m->options, o->name, second);
        if (st == CR_EARG)
            cr_fail_hint(cx, "for example --%s %s:%s", c->choice, c->word, o->example);
        if (st != CR_OK) return st;
        value = c->word;
    }
    struct {
        const cr_option *table;
        void            *values;
    } parts[] = { { m->class->options, m->options },
                  { cr_design_table, &m->design_options },
                  { cr_fit_table, &m->fit } };
    size_t n = 0;
    for (size_t i = 0; i < 3; i++) {
        if (cr_option_find(parts[i].table, name))
            return cr_options_set(cx, parts[i].table, parts[i].values, name, value);
        for (const cr_option *o = parts[i].table; o->name; o++) n++;
    }
    option_names names = { { m->class->options, cr_design_table, cr_fit_table } };
    cr_fail(cx, CR_EARG, "the model %s has no option '%s'", m->class->name, name);
    return cr_fail_nearest(cx, name, "options", n, option_name, &names);
}

cr_status cr_check_settings(cr_ctx *cx, const char *name, const cr_setting *settings,
                            size_t n_settings)
{
    cr_status             st = CR_OK;
    const cr_model_class *c = cr_class_find(cx, name);
    cr_model             *m = c ? cri_model_new(cx, c) : NULL;
    if (!m) return c ? CR_ENOMEM : CR_EARG;
    for (size_t i = 0; i < n_settings && st == CR_OK; i++)
        st = cri_model_set(cx, m, settings[i].name, settings[i].value);
    cr_model_free(cx, m);
    return st;
}

/* --- looks ----------------------------------------------------------------------------------- */

const cr_model_class *cr_model_get_class(const cr_model *m) { return m->class; }
const cr_design      *cr_model_get_design(const cr_model *m) { return m->design; }
const cr_report      *cr_model_get_report(const cr_model *m) { return &m->report; }
uint64_t              cr_model_get_seed(const cr_model *m) { return m->fit.seed; }
unsigned              cr_model_get_task(const cr_model *m) { return m->task; }

/* Dates are written as they were when the model was fitted, unless the user says otherwise. */
static cr_status take_format(cr_ctx *cx, const char *name, const char *format,
                             cr_read_options *options)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    char     **items = NULL;
    size_t     n = 0, length = strlen(name), size = length + strlen(format) + 2;
    char      *item = cr_scratch_bytes(&s, size, 1);
    CR_TRY(cri_list_split(&s, options->date, &items, &n));
    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++)
        if (strncmp(items[i], name, length) == 0 && (!items[i][length] || items[i][length] == ':'))
            goto done; /* another is given */
    snprintf(item, size, "%s:%s", name, format);
    CR_TRY(cr_options_add(cx, cr_read_table, options, "date", item));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cr_model_read_options(cr_ctx *cx, const cr_model *m, cr_read_options *options)
{
    enum { ENOUGH = 256 }; /* names to know a header by */
    cr_status st = CR_OK;
    for (size_t i = 0; i < cr_design_columns(m->design); i++) {
        const char *name = cr_design_column_name(m->design, i);
        if (i < ENOUGH) CR_TRY(cri_read_options_expect_name(cx, name, options));
        if (cr_design_column_type(m->design, i) == CR_CATEGORY)
            CR_TRY(cr_options_add(cx, cr_read_table, options, "category", name));
        else if (cr_design_column_format(m->design, i))
            CR_TRY(take_format(cx, name, cr_design_column_format(m->design, i), options));
    }
    CR_TRY(cri_read_options_expect(cx, &m->reading, options));
done:
    return st;
}

const char *cr_evidence_name(cr_evidence_kind kind)
{
    static const char *const names[] = { "exact", "Laplace approximation", "lower bound",
                                         "estimate" };
    return names[kind];
}

const char *cr_stop_name(cr_stop stop)
{
    static const char *const names[] = { "closed form", "converged", "iteration limit",
                                         "no progress", "time limit" };
    return names[stop];
}
