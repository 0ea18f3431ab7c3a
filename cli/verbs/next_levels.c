/* next_levels.c -- predict without data, of columns that hold levels: the probability of each in
 * the next row, or the action of least expected loss. */
#include "../render/answers.h"
#include "models/core/decide.h"

/* One line for each level; the texts go into the arena. */
static cr_status list_levels(const cr_levels *l, const cr_design *d, cr_scratch *s, answers *out)
{
    size_t       total = l->first[l->n];
    const char **column = cr_scratch_bytes(s, total, sizeof *column);
    const char **level = cr_scratch_bytes(s, total, sizeof *level);
    double      *p = cr_scratch_f64(s, total);
    *out = answers_new(s, total, 3);
    if (s->status != CR_OK) return s->status;
    for (size_t j = 0; j < l->n; j++)
        for (size_t i = l->first[j]; i < l->first[j + 1]; i++) {
            column[i] = cr_design_column_name(d, l->column[j]);
            level[i] = answers_name(s, "", l->level[i]);
            p[i] = l->prob[i];
        }
    answers_add(out, "column", "column")->texts = column;
    answers_add(out, "level", "level")->texts = level;
    answers_add(out, "probability", "probability")->x = p;
    return s->status;
}

/* One line for each column. */
static cr_status decide(cr_ctx *cx, const cr_levels *l, const cr_design *d, const cr_loss *loss,
                        cr_scratch *s, answers *out)
{
    cr_status    st = CR_OK;
    const char **action = cr_scratch_bytes(s, l->n, sizeof *action);
    const char **column = cr_scratch_bytes(s, l->n, sizeof *column);
    double      *expected = cr_scratch_f64(s, l->n);
    cr_decisions made = { 0 };
    *out = answers_new(s, l->n, 3);
    CR_TRY(s->status);
    for (size_t j = 0; j < l->n; j++) {
        size_t        i = l->first[j];
        cr_prediction p = { .kind = CR_ANSWER_CLASS,
                            .n = 1,
                            .n_classes = l->first[j + 1] - i,
                            .classes = (const char *const *)l->level + i,
                            .prob = l->prob + i };
        CR_TRY(cr_decide(cx, &p, loss, &made));
        column[j] = cr_design_column_name(d, l->column[j]);
        action[j] = answers_name(s, "", made.actions[(size_t)made.action[0]]);
        expected[j] = made.expected_loss[0];
        cr_decisions_free(cx, &made);
    }
    answers_add(out, "column", "column")->texts = column;
    answers_add(out, "action", "action")->texts = action;
    answers_add(out, "expected_loss", "expected_loss")->x = expected;
done:
    cr_decisions_free(cx, &made);
    return st;
}

cr_status answers_next_levels(cli *c, const cr_model *m, const cr_loss *opt_loss, cr_scratch *s,
                              answers *out)
{
    cr_status        st = CR_OK;
    cr_levels        l = { 0 };
    const cr_design *d = cr_model_get_design(m);
    *out = (answers){ 0 };
    if (!cr_class_offers(cr_model_get_class(m), "next-levels")) return CR_OK;
    CR_TRY(cr_next_levels(c->cx, m, &l));
    if (l.n == 0) goto done;
    if (opt_loss)
        CR_TRY(decide(c->cx, &l, d, opt_loss, s, out));
    else
        CR_TRY(list_levels(&l, d, s, out));
done:
    cr_levels_free(c->cx, &l);
    return st;
}
