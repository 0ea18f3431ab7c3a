/* design_choose.c -- which columns of a table are features. */
#include "design_fit.h"
#include "data/table/table_internal.h"
#include "base/list.h"
#include "base/scratch.h"

#include <fnmatch.h>
#include <string.h>

typedef struct choice {
    const cr_design_options *options;
    const cri_design_needs  *needs;
} choice;

static bool is_role(const choice *c, const char *name)
{
    const char *const own[] = { c->options->target, c->options->weights, c->options->sequence,
                                c->options->time };
    bool              role = c->needs->aside && strcmp(c->needs->aside, name) == 0;
    for (size_t k = 0; k < 4; k++) role |= own[k] && strcmp(own[k], name) == 0;
    for (size_t k = 0; k < CRI_MOST_ROLES; k++)
        role |= c->needs->roles[k] && strcmp(c->needs->roles[k], name) == 0;
    return role;
}

static bool is_pattern(const char *text) { return strpbrk(text, "*?[") != NULL; }

/* Marks the columns that one item of the list ("x*", "!id") takes in or leaves out. */
static cr_status apply_item(cr_ctx *cx, const cr_table *t, const choice *o, const char *item,
                            bool *chosen)
{
    const char *target = o->options->target;
    bool        keep = item[0] != '!', matched = false;
    const char *pattern = item + !keep;
    char        numbered[CR_NAME_SIZE];
    for (size_t i = 0; i < cr_table_columns(t); i++) {
        const char *name = cr_table_column_name(t, i, numbered);
        bool        exact = strcmp(pattern, name) == 0;
        if (!exact && !(is_pattern(pattern) && fnmatch(pattern, name, 0) == 0)) continue;
        matched = true;
        if (keep && exact && target && strcmp(target, name) == 0)
            return cr_fail(cx, CR_EARG, "column '%s' is the target and cannot be a feature", name);
        if (!is_role(o, name)) chosen[i] = keep;
    }
    if (matched) return CR_OK;
    if (!is_pattern(pattern)) return cri_table_no_column(cx, t, pattern);
    return cr_fail(cx, CR_EARG, "no column of %s matches '%s'", cr_table_source(t), pattern);
}

/* Another text in every row, as names of rows have, carries nothing over to other rows. */
static bool are_names(const cr_table *t, const cr_column *c, uint8_t *seen)
{
    size_t n = cr_table_rows(t);
    if (!c || c->type != CR_CATEGORY || c->missing > 0 || c->n_levels < n) return false;
    memset(seen, 0, c->n_levels);
    for (size_t i = 0; i < n; i++)
        if (seen[c->codes[i]]++) return false;
    return true;
}

/* Leaves them out, where other columns stay and nobody asked for features. */
static cr_status leave_names_out(cr_ctx *cx, cr_scratch *s, const cr_table *t,
                                 const cri_design_needs *needs, bool *chosen)
{
    enum { FEW = 10 };
    cr_status st = CR_OK;
    size_t    left = 0, p = cr_table_columns(t);
    if (cr_table_rows(t) < FEW || cr_table_csr(t) || needs->coding == CRI_CODING_CODE) return CR_OK;
    for (size_t i = 0; i < p; i++) left += chosen[i];
    for (size_t i = 0; i < p && left > 1; i++) {
        const cr_column *c = chosen[i] ? cr_table_column(t, i) : NULL;
        uint8_t         *seen =
            c && c->n_levels >= cr_table_rows(t) ? cr_scratch_bytes(s, c->n_levels, 1) : NULL;
        CR_TRY(s->status);
        if (!seen || !are_names(t, c, seen)) continue;
        chosen[i] = false;
        left--;
        cr_log(cx, CR_LOG_WARNING,
               "column '%s' has another text in every row, as names of rows have, and is left out; "
               "--features '*' takes it in",
               c->name);
    }
done:
    return st;
}

cr_status cri_design_choose(cr_ctx *cx, const cr_table *t, const cr_design_options *options,
                            const cri_design_needs *needs, bool *chosen)
{
    cr_status  st = CR_OK;
    choice     o = { options, needs };
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = cr_table_columns(t), n_items = 0, count = 0;
    char     **items = NULL, numbered[CR_NAME_SIZE];

    CR_TRY(cri_list_split(&s, options->features, &items, &n_items));
    bool all = n_items == 0 ? !options->features : items[0][0] == '!';
    for (size_t i = 0; i < n; i++)
        chosen[i] = all && !is_role(&o, cr_table_column_name(t, i, numbered));
    for (size_t k = 0; k < n_items; k++) CR_TRY(apply_item(cx, t, &o, items[k], chosen));
    if (n_items == 0 && !options->features && !options->terms)
        CR_TRY(leave_names_out(cx, &s, t, needs, chosen));
    for (size_t i = 0; i < n; i++) count += chosen[i];
    if (count == 0 && (options->features || !needs->series)) /* a series may stand alone */
        CR_TRY(
            cr_fail(cx, CR_EDATA, "%s has no column left to use as a feature", cr_table_source(t)));
done:
    cr_scratch_end(&s);
    return st;
}
