/* next_levels.c -- predict without data, of columns that hold categories: the probability of each level
 * in the next row, or the action of least expected loss, from the description of the model. */
#include "answers.h"
#include "models/decide.h"

#include <string.h>

/* The levels of all columns, one after the other; all of it is in the arena. */
typedef struct level_table {
    cr_scratch  *s;
    const char **column, **level;
    double      *p;
    size_t       n, columns;
    size_t      *first; /* [columns + 1] of each column */
} level_table;

static void add_level(level_table *t, const char *column, const char *level, double p)
{
    t->column[t->n] = answers_name(t->s, "", column);
    t->level[t->n] = answers_name(t->s, "", level);
    t->p[t->n++] = p;
}

/* "column=level" without the column. */
static const char *level_of(const json_t *parameters, size_t i, const char *column)
{
    const char *name = json_string_value(json_object_get(json_array_get(parameters, i), "name"));
    size_t      skip = strlen(column) + 1;
    return name && strlen(name) > skip ? name + skip : "";
}

/* A success, and what else there is. */
static void add_binary(level_table *t, const cr_design *d, size_t j, const char *success, double p)
{
    const char *column = cr_design_column_name(d, j);
    add_level(t, column, success, p);
    if (cr_design_levels(d, j) != 2) {
        add_level(t, column, answers_name(t->s, "not ", success), 1 - p);
        return;
    }
    size_t other = strcmp(cr_design_level(d, j, 0), success) == 0;
    add_level(t, column, cr_design_level(d, j, other), 1 - p);
}

/* Columns of numbers that are not levels are left out. */
static void read_levels(level_table *t, const cr_design *d, const json_t *about)
{
    const json_t *all = json_object_get(about, "distributions");
    const json_t *parameters = json_object_get(about, "parameters");
    for (size_t j = 0, at = 0; j < json_array_size(all); j++) {
        const json_t *next = json_object_get(json_array_get(all, j), "predictive");
        const json_t *p = json_object_get(next, "p");
        const char   *column = cr_design_column_name(d, j);
        size_t        K = json_array_size(p); /* 0: not an array */
        t->first[t->columns] = t->n;
        for (size_t k = 0; k < K; k++)
            add_level(t, column, level_of(parameters, at + k, column),
                      json_number_value(json_array_get(p, k)));
        if (json_is_number(p) && cr_design_column_type(d, j) == CR_CATEGORY)
            add_binary(t, d, j, level_of(parameters, at, column), json_number_value(p));
        t->columns += t->n > t->first[t->columns];
        at += K ? K : 1;
    }
    t->first[t->columns] = t->n;
}

static cr_status make_table(cr_scratch *s, const cr_design *d, const json_t *about, level_table *t)
{
    size_t room = 2 * json_array_size(json_object_get(about, "parameters"));
    size_t columns = json_array_size(json_object_get(about, "distributions"));
    *t = (level_table){ .s = s };
    t->column = cr_scratch_bytes(s, room, sizeof *t->column);
    t->level = cr_scratch_bytes(s, room, sizeof *t->level);
    t->p = cr_scratch_f64(s, room);
    t->first = cr_scratch_index(s, columns + 1);
    if (s->status == CR_OK) read_levels(t, d, about);
    return s->status;
}

/* One line for each column. */
static cr_status decide(cr_ctx *cx, level_table *t, const cr_loss *loss, answers *out)
{
    cr_status    st = CR_OK;
    const char **action = cr_scratch_bytes(t->s, t->columns, sizeof *action);
    const char **column = cr_scratch_bytes(t->s, t->columns, sizeof *column);
    double      *expected = cr_scratch_f64(t->s, t->columns);
    cr_decisions made = { 0 };
    CR_TRY(t->s->status);
    for (size_t j = 0; j < t->columns; j++) {
        size_t        i = t->first[j];
        cr_prediction p = { .kind = CR_ANSWER_CLASS, .n = 1, .n_classes = t->first[j + 1] - i,
                            .classes = t->level + i, .prob = t->p + i };
        CR_TRY(cr_decide(cx, &p, loss, &made));
        column[j] = t->column[i];
        action[j] = answers_name(t->s, "", made.actions[(size_t)made.action[0]]);
        expected[j] = made.expected_loss[0];
        cr_decisions_free(cx, &made);
    }
    *out = answers_new(t->s, t->columns, 3);
    CR_TRY(t->s->status);
    answers_add(out, "column", "column")->texts = column;
    answers_add(out, "action", "action")->texts = action;
    answers_add(out, "expected_loss", "expected_loss")->x = expected;
done:
    cr_decisions_free(cx, &made);
    return st;
}

cr_status answers_next_levels(cli *c, const cr_model *m, const cr_loss *opt_loss, cr_scratch *s, answers *out)
{
    cr_status   st = CR_OK;
    json_t     *about = NULL;
    level_table t;
    CR_TRY(cli_describe_model(c, m, &about));
    CR_TRY(make_table(s, cr_model_get_design(m), about, &t));
    *out = (answers){ 0 };
    if (t.n == 0) goto done;
    if (opt_loss) {
        CR_TRY(decide(c->cx, &t, opt_loss, out));
        goto done;
    }
    *out = answers_new(s, t.n, 3);
    CR_TRY(s->status);
    answers_add(out, "column", "column")->texts = t.column;
    answers_add(out, "level", "level")->texts = t.level;
    answers_add(out, "probability", "probability")->x = t.p;
done:
    json_decref(about);
    return st;
}
