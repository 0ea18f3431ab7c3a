/* reference.c -- reference levels of categories. */
#include "reference.h"
#include "base/list.h"
#include "data/table/table_internal.h"

#include <string.h>

static const char *const usual_words[] = { "first", "frequent", "none" };

/* The '=' between column and level: the first behind the name of a column, else the first of all; NULL without one. */
static char *find_equals(const cr_table *t, char *item)
{
    for (char *at = strchr(item, '='); at; at = strchr(at + 1, '=')) {
        *at = '\0';
        bool found = cr_table_find(t, item) != NULL;
        *at = '=';
        if (found) return at;
    }
    return strchr(item, '=');
}

static const char *level_name(const void *column, size_t i)
{
    return ((const cr_column *)column)->levels[i];
}

static size_t find_level(const cr_column *c, const char *level)
{
    size_t k = 0;
    while (k < c->n_levels && strcmp(c->levels[k], level) != 0) k++;
    return k;
}

static cr_status check(cr_ctx *cx, const cr_table *t, const bool *chosen, const char *name,
                       const char *level)
{
    char             numbered[CR_NAME_SIZE];
    const cr_column *c = cr_table_find(t, name);
    if (!c) return cri_table_no_column(cx, t, name);
    for (size_t i = 0; i < cr_table_columns(t); i++)
        if (!chosen[i] && strcmp(cr_table_column_name(t, i, numbered), name) == 0)
            return cr_fail(cx, CR_EARG, "--reference: column '%s' is not a feature", name);
    if (c->type != CR_CATEGORY) {
        cr_fail(cx, CR_EARG, "--reference: column '%s' is not a category", name);
        return cr_fail_hint(cx, "--category %s makes it one", name);
    }
    if (find_level(c, level) < c->n_levels) return CR_OK;
    cr_fail(cx, CR_EARG, "--reference: '%s' is no level of column '%s'", level, name);
    return cr_fail_nearest(cx, level, "levels", c->n_levels, level_name, c);
}

static cr_status read_item(cr_ctx *cx, const cr_table *t, const bool *chosen, char *item,
                           cri_references *r)
{
    char *equals = find_equals(t, item);
    if (!equals) {
        for (int k = 0; k < 3; k++)
            if (strcmp(item, usual_words[k]) == 0) return r->usual = (cri_reference)k, CR_OK;
        cr_fail(cx, CR_EARG, "--reference: '%s' is not one of first|frequent|none", item);
        return cr_fail_hint(cx, "a level of a column: --reference COLUMN=LEVEL");
    }
    *equals = '\0';
    r->columns[r->n] = item;
    r->levels[r->n++] = equals + 1;
    return check(cx, t, chosen, item, equals + 1);
}

cr_status cri_references_read(cr_scratch *s, const cr_table *t, const bool *chosen,
                              const char *text, cri_references *out)
{
    cr_status st = CR_OK;
    char    **items = NULL;
    size_t    n = 0;
    *out = (cri_references){ .usual = CRI_REFERENCE_FIRST };
    if (text && cri_list_fault(text))
        CR_TRY(cr_fail(s->cx, CR_EARG, "--reference: '%s': %s", text, cri_list_fault(text)));
    CR_TRY(cri_list_split(s, text, &items, &n));
    out->columns = cr_scratch_bytes(s, n, sizeof *out->columns);
    out->levels = cr_scratch_bytes(s, n, sizeof *out->levels);
    CR_TRY(s->status);
    for (size_t i = 0; i < n; i++) CR_TRY(read_item(s->cx, t, chosen, items[i], out));
    if (out->usual == CRI_REFERENCE_NONE && out->n > 0)
        CR_TRY(
            cr_fail(s->cx, CR_EARG,
                    "--reference: none and '%s=%s' cannot be combined: either every category has a "
                    "reference level or none has",
                    out->columns[0], out->levels[0]));
done:
    return st;
}

int cri_references_level(const cri_references *r, const cr_column *c)
{
    for (size_t i = r->n; i-- > 0;) /* the last one counts */
        if (strcmp(r->columns[i], c->name) == 0) return (int)find_level(c, r->levels[i]);
    return CRI_NO_LEVEL;
}
