/* loss.c -- losses by name, and matrices of losses from a file. */
#include "decide.h"
#include "base/context_internal.h"
#include "base/number.h"
#include "data/design/design_internal.h"
#include "data/formats/read.h"
#include "data/table/table_internal.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

static const char *const names[] = { "0-1", "squared", "absolute", "quantile:0.9" };
static const char        QUANTILE[] = "quantile:";

static const char *name_at(const void *unused, size_t i)
{
    (void)unused;
    return names[i];
}

static cr_status read_quantile(cr_ctx *cx, const char *text, cr_loss *out)
{
    const char *at = text + strlen(QUANTILE);
    size_t      length = strlen(at);
    double      q = 0;
    if (length == 0 || cri_parse_double(at, at + length, &q) != length || !(q > 0 && q < 1)) {
        cr_fail(cx, CR_EARG, "--loss: '%s' is not quantile:Q with Q between 0 and 1", text);
        return cr_fail_hint(
            cx,
            "for example --loss quantile:0.9, if too little costs nine times as much as too much");
    }
    *out = (cr_loss){ .kind = CR_LOSS_QUANTILE, .quantile = q };
    return CR_OK;
}

/* --- a matrix -------------------------------------------------------------------------------- */

static cr_status allocate(cr_ctx *cx, size_t n_actions, size_t n_outcomes, cr_loss *l)
{
    l->kind = CR_LOSS_MATRIX;
    l->n_actions = n_actions, l->n_outcomes = n_outcomes;
    l->actions = cr_alloc(cx, n_actions, sizeof *l->actions);
    l->outcomes = cr_alloc(cx, n_outcomes, sizeof *l->outcomes);
    l->loss = cr_alloc(cx, n_actions * n_outcomes, sizeof *l->loss);
    return l->actions && l->outcomes && l->loss ? CR_OK : CR_ENOMEM;
}

/* The name of the action in a row, from the column that names them. */
static cr_status name_action(cr_ctx *cx, const cr_table *t, const cr_column *c, size_t row,
                             char **out)
{
    char buffer[CRI_DOUBLE_SIZE], where[512];
    bool missing = c->type == CR_CATEGORY ? c->codes[row] == CR_MISSING_CODE
                                          : isnan(c->values[row * c->stride]);
    if (missing)
        return cr_fail(cx, CR_EDATA, "%s: the action has no name",
                       cri_table_where(t, row, where, sizeof where));
    *out = cri_string_copy(cx, c->type == CR_CATEGORY
                                   ? c->levels[c->codes[row]]
                                   : cri_level_text(c, c->values[row * c->stride], buffer));
    return *out ? CR_OK : CR_ENOMEM;
}

static cr_status read_cells(cr_ctx *cx, const cr_table *t, size_t first, cr_loss *l)
{
    char where[512];
    for (size_t k = 0; k < l->n_outcomes; k++) {
        const cr_column *c = cr_table_column(t, first + k);
        if (!(l->outcomes[k] = cri_string_copy(cx, c->name))) return CR_ENOMEM;
        if (c->type == CR_CATEGORY)
            return cr_fail(cx, CR_EDATA, "%s: the losses in column '%s' are not numbers",
                           cr_table_source(t), c->name);
        for (size_t a = 0; a < l->n_actions; a++) {
            double x = c->values[a * c->stride];
            if (!isfinite(x))
                return cr_fail(cx, CR_EDATA, "%s: the loss in column '%s' is not a finite number",
                               cri_table_where(t, a, where, sizeof where), c->name);
            l->loss[a * l->n_outcomes + k] = x;
        }
    }
    return CR_OK;
}

static cr_status check_actions(cr_ctx *cx, const cr_table *t, const cr_loss *l)
{
    char where[512];
    for (size_t a = 0; a < l->n_actions; a++)
        for (size_t b = 0; b < a; b++)
            if (strcmp(l->actions[a], l->actions[b]) == 0)
                return cr_fail(cx, CR_EDATA, "%s: the action '%s' occurs twice",
                               cri_table_where(t, a, where, sizeof where), l->actions[a]);
    return CR_OK;
}

static cr_status matrix_of_table(cr_ctx *cx, const cr_table *t, cr_loss *l)
{
    cr_status        st = CR_OK;
    size_t           rows = cr_table_rows(t), columns = cr_table_columns(t);
    const cr_column *c = columns ? cr_table_column(t, 0) : NULL;
    bool             named = c && (c->type == CR_CATEGORY || strcmp(c->name, "action") == 0);

    if (rows == 0 || columns < 1 + (size_t)named)
        CR_TRY(cr_fail(cx, CR_EDATA,
                       "%s: a matrix of losses needs a row for each action and a "
                       "column for each true class",
                       cr_table_source(t)));
    if (!named && rows != columns) {
        cr_fail(cx, CR_EDATA,
                "%s: there are %zu rows of losses and %zu columns: without names the actions are "
                "the classes, so there must be as many rows as columns",
                cr_table_source(t), rows, columns);
        CR_TRY(cr_fail_hint(cx, "name the actions in a first column called action"));
    }
    CR_TRY(allocate(cx, rows, columns - named, l));
    CR_TRY(read_cells(cx, t, named, l));
    for (size_t a = 0; a < rows; a++) {
        if (named)
            CR_TRY(name_action(cx, t, c, a, &l->actions[a]));
        else if (!(l->actions[a] = cri_string_copy(cx, l->outcomes[a])))
            CR_TRY(CR_ENOMEM);
    }
    CR_TRY(check_actions(cx, t, l));
done:
    return st;
}

static cr_status read_matrix(cr_ctx *cx, const char *path, cr_loss *out)
{
    cr_status       st = CR_OK;
    cr_read_options o = { 0 };
    cr_table       *t = NULL;
    cr_loss         l = { 0 };

    CR_TRY(cr_options_init(cx, cr_read_table, &o));
    CR_TRY(cr_options_set(cx, cr_read_table, &o, "header", "yes")); /* classes may be numbers */
    CR_TRY(cr_table_read(cx, path, &o, &t));
    CR_TRY(matrix_of_table(cx, t, &l));
    *out = l;
    l = (cr_loss){ 0 };
done:
    cr_loss_free(cx, &l);
    cr_table_free(cx, t);
    cr_options_free(cx, cr_read_table, &o);
    return st;
}

/* --- any ------------------------------------------------------------------------------------- */

cr_status cr_loss_read(cr_ctx *cx, const char *text, cr_loss *out)
{
    for (int k = CR_LOSS_ZERO_ONE; k < CR_LOSS_QUANTILE; k++)
        if (strcmp(text, names[k]) == 0) return *out = (cr_loss){ .kind = (cr_loss_kind)k }, CR_OK;
    if (strncmp(text, QUANTILE, strlen(QUANTILE)) == 0) return read_quantile(cx, text, out);
    if (access(text, F_OK) != 0) {
        cr_fail(cx, CR_EARG, "--loss: '%s' is neither a loss nor a file", text);
        return cr_fail_nearest(cx, text, "losses", sizeof names / sizeof *names, name_at, NULL);
    }
    return read_matrix(cx, text, out);
}

void cr_loss_free(cr_ctx *cx, cr_loss *l)
{
    for (size_t a = 0; l->actions && a < l->n_actions; a++) cri_string_free(cx, l->actions[a]);
    for (size_t k = 0; l->outcomes && k < l->n_outcomes; k++) cri_string_free(cx, l->outcomes[k]);
    cr_free(cx, l->actions, l->n_actions, sizeof *l->actions);
    cr_free(cx, l->outcomes, l->n_outcomes, sizeof *l->outcomes);
    cr_free(cx, l->loss, l->n_actions * l->n_outcomes, sizeof *l->loss);
    *l = (cr_loss){ 0 };
}
