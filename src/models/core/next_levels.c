/* next_levels.c -- what the next row would be in columns of levels. */
#include "model_internal.h"
#include "base/context_internal.h"

void cr_levels_free(cr_ctx *cx, cr_levels *l)
{
    size_t total = l->first ? l->first[l->n] : 0;
    for (size_t i = 0; l->level && i < total; i++) cri_string_free(cx, l->level[i]);
    cr_free(cx, l->prob, total, sizeof *l->prob);
    cr_free(cx, l->level, total, sizeof *l->level);
    cr_free(cx, l->column, l->n, sizeof *l->column);
    cr_free(cx, l->first, l->n + 1, sizeof *l->first);
    *l = (cr_levels){ 0 };
}

cr_status cri_levels_new(cr_ctx *cx, size_t n, size_t total, cr_levels *out)
{
    cr_levels l = { .n = n, .first = cr_alloc(cx, n + 1, sizeof *l.first) };
    if (!l.first) return CR_ENOMEM;
    l.first[n] = total;
    l.column = cr_alloc(cx, n, sizeof *l.column);
    if (l.column) l.level = cr_alloc(cx, total, sizeof *l.level);
    if (l.level) l.prob = cr_alloc(cx, total, sizeof *l.prob);
    if (!l.prob) {
        cr_levels_free(cx, &l);
        return CR_ENOMEM;
    }
    *out = l;
    return CR_OK;
}

cr_status cri_levels_name(cr_ctx *cx, cr_levels *out, size_t i, const char *prefix,
                          const char *level)
{
    out->level[i] = cri_string_format(cx, "%s%s", prefix, level);
    return out->level[i] ? CR_OK : CR_ENOMEM;
}

cr_status cr_next_levels(cr_ctx *cx, const cr_model *m, cr_levels *out)
{
    cr_status st = CR_OK;
    cr_levels l = { 0 };
    if (!cri_answers_of(m->class)->next_levels)
        return cr_fail(cx, CR_EUNSUPPORTED,
                       "the model %s does not predict the levels of the next row", m->class->name);
    CR_TRY(cri_answers_of(m->class)->next_levels(cx, m->state, m->design, &l));
    *out = l;
    l = (cr_levels){ 0 };
done:
    cr_levels_free(cx, &l);
    return st;
}
