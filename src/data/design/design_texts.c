/* design_texts.c -- categories that a model reads as texts: what their codes stand for.
 * Codes 0 .. n_levels-1 are the levels of the training table, sorted; behind them come the texts
 * that updates brought, in the order they came; behind those the texts that only the rows at hand
 * have. */
#include "design_internal.h"
#include "base/utf8.h"

#include <string.h>

size_t cri_design_known(const cri_design_column *c) { return c->n_levels + c->later.n; }

/* The column of the k-th term of codes; SIZE_MAX when there is none. */
static size_t column_of(const cr_design *d, size_t k)
{
    for (size_t j = 0; j < d->n_terms; j++)
        if (d->terms[j].code && k-- == 0) return d->terms[j].column;
    return SIZE_MAX;
}

static const char *known_text(const cri_design_column *c, size_t code)
{
    if (code < c->n_levels) return c->levels[code];
    return code < cri_design_known(c) ? c->later.texts[code - c->n_levels] : NULL;
}

const char *cri_design_text(const cr_design *d, size_t k, uint32_t code)
{
    size_t i = column_of(d, k);
    return i == SIZE_MAX ? NULL : known_text(&d->columns[i], code);
}

const char *cri_rows_text(const cri_rows *rows, size_t k, uint32_t code)
{
    size_t i = column_of(rows->design, k);
    if (i == SIZE_MAX) return NULL;
    const cri_design_column *c = &rows->design->columns[i];
    size_t                   known = cri_design_known(c);
    if (code < known) return known_text(c, code);
    bool there = rows->unseen[i] && code - known < rows->columns[i]->n_levels;
    return there ? rows->unseen[i][code - known] : NULL;
}

static bool is_level(const cri_design_column *c, const char *text)
{
    size_t low = 0, high = c->n_levels;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int    order = strcmp(text, c->levels[middle]);
        if (order == 0) return true;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return false;
}

cr_status cri_design_learn_texts(cr_ctx *cx, cr_design *d, const cr_table *t)
{
    cr_status st = CR_OK;
    for (size_t i = 0; i < d->n_columns; i++) {
        cri_design_column *c = &d->columns[i];
        const cr_column   *from = c->texts ? cr_table_find(t, c->name) : NULL;
        if (!from || from->type != CR_CATEGORY)
            continue; /* which is told when the rows are opened */
        for (size_t k = 0; k < from->n_levels; k++) {
            uint32_t code;
            if (is_level(c, from->levels[k])) continue;
            if (!cri_utf8_valid(from->levels[k]))
                CR_TRY(cr_fail(cx, CR_EDATA,
                               "%s: column '%s' has the text '%s', which is not UTF-8",
                               cr_table_source(t), c->name, from->levels[k]));
            CR_TRY(cri_dictionary_code(cx, &c->later, from->levels[k], strlen(from->levels[k]),
                                       &code));
        }
    }
done:
    return st;
}
