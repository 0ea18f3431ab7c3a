/* fit_stream.c -- fits block by block. */
#include "fit_stream.h"
#include "model_internal.h"
#include "data/design/terms.h"
#include "data/stream/stream_internal.h"
#include "base/context_internal.h"

#include <stdio.h>
#include <string.h>

/* The setting under its name on the command line, which has hyphens. */
static cr_status refuse_setting(cr_ctx *cx, const cr_setting *s)
{
    char name[64];
    snprintf(name, sizeof name, "%s", s->name);
    for (char *c = name; *c; c++)
        if (*c == '_') *c = '-';
    cr_fail(cx, CR_EARG, "--%s %s needs all rows at once: it cannot be combined with a stream",
            name, s->value);
    return cr_fail_hint(cx, "without --stream the rows are held in memory");
}

/* Powers of a column need none of its rows; knots and other bases do. */
static bool learns_basis(const cri_atom *a)
{
    return a->basis && strncmp(a->basis, "poly:", 5) != 0;
}

static cr_status check_terms(cr_ctx *cx, const cr_setting *setting)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_terms  terms = { 0 };
    CR_TRY(cri_terms_parse(&s, setting->value, &terms));
    for (size_t i = 0; i < terms.n; i++)
        for (size_t k = 0; k < terms.items[i].n; k++)
            if (learns_basis(terms.items[i].atoms[k])) CR_TRY(refuse_setting(cx, setting));
done:
    cr_scratch_end(&s);
    return st;
}

/* Whether columns are standardised by all rows: by the class, or in a pass of their own. */
static bool scales_in_time(const cr_model_class *c)
{
    return c->scales_itself || cri_learning_of(c)->passes;
}

/* What is learned of the first block alone would be wrong for the others. */
static cr_status check_settings(cr_ctx *cx, const cr_model_class *c, const cr_setting *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool balanced = cri_setting_is(&s[i], "class_weights") && strstr(s[i].value, "balanced");
        bool impute = strcmp(s[i].name, "missing") == 0 && strcmp(s[i].value, "impute") == 0;
        bool scaled = cri_setting_is(&s[i], "scale_target") && strcmp(s[i].value, "standard") == 0;
        bool standard = strcmp(s[i].name, "scale") == 0 && strcmp(s[i].value, "standard") == 0;
        bool basis = strcmp(s[i].name, "basis") == 0 && strncmp(s[i].value, "poly:", 5) != 0;
        bool power = cri_setting_is(&s[i], "transform_target") && strcmp(s[i].value, "boxcox") == 0;
        bool map = strcmp(s[i].name, "calibrate") == 0 && strcmp(s[i].value, "none") != 0;
        if (balanced || impute || scaled || basis || map || power ||
            (standard && !scales_in_time(c)))
            return refuse_setting(cx, &s[i]);
        cr_status st = strcmp(s[i].name, "terms") == 0 ? check_terms(cx, &s[i]) : CR_OK;
        if (st != CR_OK) return st;
    }
    if (!c->sequences || !cri_learning_of(c)->passes || cri_setting_of(s, n, "sequence"))
        return CR_OK;
    cr_fail(cx, CR_EARG,
            "without --sequence all rows are one sequence, which needs to be in memory: "
            "it cannot be combined with a stream");
    return cr_fail_hint(cx, "name the column that identifies sequences, or leave out --stream");
}

/* By passes over all blocks, or block by block. */
static bool by_passes(const cr_model_class *c)
{
    return (c->em && !c->sequences) || cri_learning_of(c)->passes;
}

static cr_status check_class(cr_ctx *cx, const cr_model_class *c)
{
    bool whole = c->sequences && !by_passes(c); /* its blocks may cut sequences */
    if ((cri_class_updates(c) || by_passes(c)) && !cri_learning_of(c)->update_holds && !whole &&
        (scales_in_time(c) || c->default_scale != CR_SCALE_STANDARD))
        return CR_OK;
    const char *why = whole || (c->sequences && !cri_class_updates(c))
                          ? "a sequence may go on in the next block"
                      : !cri_class_updates(c) && !by_passes(c) ? "it has no exact update"
                      : cri_learning_of(c)->update_holds
                          ? "its hyper-parameters are learned from all rows at once"
                          : "its columns are standardised by all rows at once";
    cr_fail(cx, CR_EUNSUPPORTED, "the model %s cannot be fitted block by block: %s", c->name, why);
    return cr_fail_hint(cx, "without --stream it is fitted in memory");
}

/* The block at hand, and the one behind it: so that the last is known as such. */
typedef struct ahead {
    cr_stream *stream;
    cr_table  *block, *next; /* NULL: there are no more */
} ahead;

/* With a class whose classes may join later, the levels of the target are left open. */
static cr_status start(cr_ctx *cx, cr_stream *stream, const cr_model_class *c, const char *target,
                       ahead *a)
{
    cr_status st = CR_OK;
    *a = (ahead){ .stream = stream };
    cri_stream_leave_open(stream, c->sums && c->sums->join ? target : NULL);
    CR_TRY(cr_stream_next(cx, stream, &a->block));
    if (!a->block) CR_TRY(cr_fail(cx, CR_EDATA, "the stream has no rows"));
    CR_TRY(cr_stream_next(cx, stream, &a->next));
done:
    return st;
}

static cr_status go_on(cr_ctx *cx, ahead *a)
{
    cr_status st = cr_check_interrupt(cx);
    cr_table_free(cx, a->block);
    a->block = a->next;
    a->next = NULL;
    if (st == CR_OK && a->block) st = cr_stream_next(cx, a->stream, &a->next);
    cr_log(cx, CR_LOG_INFO, "%zu rows read", cr_stream_rows(a->stream));
    return st;
}

static void finish(cr_ctx *cx, ahead *a)
{
    cr_table_free(cx, a->block);
    cr_table_free(cx, a->next);
    if (a->stream) cri_stream_leave_open(a->stream, NULL);
}

/* Takes in the blocks from the one at hand on. */
static cr_status take_blocks(cr_ctx *cx, ahead *a, cr_model *model)
{
    cr_status st = CR_OK;
    while (a->block && st == CR_OK) {
        bool any;
        cri_hold_warnings(cx); /* what is said of a block need not be true of all */
        st = cri_model_take(cx, model, a->block, a->next != NULL, &any);
        if (st == CR_OK) st = go_on(cx, a);
    }
    return st;
}

cr_status cr_fit_stream(cr_ctx *cx, const char *name, cr_stream *stream, const cr_setting *settings,
                        size_t n_settings, cr_model **out_model)
{
    cr_status             st = CR_OK;
    const cr_model_class *c = cr_class_find(cx, name);
    ahead                 a = { 0 };
    cr_model             *m = NULL;

    if (!c) return CR_EARG;
    CR_TRY(check_class(cx, c));
    CR_TRY(check_settings(cx, c, settings, n_settings));
    CR_TRY(start(cx, stream, c, cri_setting_of(settings, n_settings, "target"), &a));
    cri_hold_warnings(cx);
    CR_TRY(cri_model_fit(cx, name, a.block, settings, n_settings, a.next ? stream : NULL, &m));
    if (!by_passes(c)) CR_TRY(go_on(cx, &a));
    if (!by_passes(c)) CR_TRY(take_blocks(cx, &a, m));
    *out_model = m;
    m = NULL;
done:
    cri_release_warnings(cx, st == CR_OK);
    finish(cx, &a);
    cr_model_free(cx, m);
    return st;
}

cr_status cr_update_stream(cr_ctx *cx, const cr_model *old, cr_stream *stream, cr_model **out_model)
{
    cr_status st = CR_OK;
    ahead     a = { 0 };
    cr_model *m = NULL;

    if (!cri_class_updates(old->class)) return cr_update(cx, old, NULL, out_model); /* says why */
    CR_TRY(start(cx, stream, old->class, cr_design_target(old->design), &a));
    CR_TRY(cri_model_copy(cx, old, &m));
    CR_TRY(take_blocks(cx, &a, m));
    *out_model = m;
    m = NULL;
done:
    cri_release_warnings(cx, st == CR_OK);
    finish(cx, &a);
    cr_model_free(cx, m);
    return st;
}
