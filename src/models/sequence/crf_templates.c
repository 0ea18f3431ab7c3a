/* crf_templates.c -- reading --window: products of columns at a distance.
 *   ITEM = ATOM {'*' ATOM},  ATOM = COLUMN | COLUMN[OFFSET] | COLUMN[FROM:TO]
 * A range stands for each of its offsets, but for 0 where the atom is alone, as every column is
 * there at 0 anyway. */
#include "crf_attributes.h"
#include "base/context_internal.h"
#include "base/list.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* --- columns --------------------------------------------------------------------------------- */

/* What a term is called in a window: the category itself, or the term. */
static const char *term_label(const void *design, size_t j)
{
    const cr_design *d = design;
    return cri_design_is_code(d, j) ? d->columns[d->terms[j - d->block.n].column].name
                                    : cr_design_term_name(d, j);
}

static size_t find_term(const cr_design *d, const char *name)
{
    for (size_t j = 0; j < d->p; j++)
        if (strcmp(term_label(d, j), name) == 0) return j;
    return SIZE_MAX;
}

/* --- atoms ----------------------------------------------------------------------------------- */

typedef struct maker {
    cr_ctx          *cx;
    cr_scratch      *s;
    const cr_design *design;
    const char      *item; /* as it was written */
    cri_template    *list;
    size_t           n, room;
} maker;

static cr_status add_template(maker *m, const cri_template *t)
{
    if (m->n == m->room) {
        size_t        room = m->room ? 2 * m->room : 16;
        cri_template *list = cr_scratch_bytes(m->s, room, sizeof *list);
        if (!list) return m->s->status;
        if (m->n) memcpy(list, m->list, m->n * sizeof *list);
        m->list = list;
        m->room = room;
    }
    for (size_t k = 0; k < m->n; k++) { /* one that is there counts once */
        bool same = m->list[k].n == t->n;
        for (size_t i = 0; same && i < t->n; i++)
            same = m->list[k].atoms[i].term == t->atoms[i].term &&
                   m->list[k].atoms[i].offset == t->atoms[i].offset;
        if (same) return CR_OK;
    }
    m->list[m->n++] = *t;
    return CR_OK;
}

/* A whole number from -CRI_MOST_DISTANCE to CRI_MOST_DISTANCE at *at, which moves on. */
static bool read_offset(const char **at, int *out)
{
    char *end;
    long  value = strtol(*at, &end, 10);
    if (end == *at || value < -CRI_MOST_DISTANCE || value > CRI_MOST_DISTANCE) return false;
    *out = (int)value;
    *at = end;
    return true;
}

/* The part in brackets at the end of text, which is cut off: from .. to.  false where it is none. */
static bool cut_offsets(char *text, int *from, int *to)
{
    size_t      length = strlen(text);
    char       *open = strrchr(text, '[');
    const char *at = open ? open + 1 : NULL;
    if (!open || open == text || text[length - 1] != ']' || !read_offset(&at, from)) return false;
    *to = *from;
    if (*at == ':') {
        at++;
        if (!read_offset(&at, to)) return false;
    }
    if (strcmp(at, "]") != 0 || *from > *to) return false;
    *open = '\0';
    return true;
}

static char *trim(char *text)
{
    while (*text == ' ' || *text == '\t') text++;
    size_t n = strlen(text);
    while (n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\t')) text[--n] = '\0';
    return text;
}

typedef struct ranged {
    size_t term;
    int    from, to;
} ranged;

static cr_status read_atom(maker *m, char *text, ranged *out)
{
    text = trim(text);
    *out = (ranged){ .term = find_term(m->design, text) };
    if (out->term != SIZE_MAX) return CR_OK;
    bool brackets = strchr(text, '[') != NULL;
    if (!*text || (brackets && !cut_offsets(text, &out->from, &out->to))) {
        cr_fail(m->cx, CR_EARG, "--window '%s' cannot be read", m->item);
        return cr_fail_hint(m->cx,
                            "it has products of columns at a distance of up to %d rows: "
                            "'word[-1], word[1:2], word[-1]*word'",
                            CRI_MOST_DISTANCE);
    }
    text = trim(text);
    out->term = find_term(m->design, text);
    if (out->term != SIZE_MAX) return CR_OK;
    cr_fail(m->cx, CR_EARG, "--window '%s': '%s' is not one of the features", m->item, text);
    return cr_fail_nearest(m->cx, text, "features", m->design->p, term_label, m->design);
}

/* --- items ----------------------------------------------------------------------------------- */

/* All combinations of the offsets of n atoms. */
static cr_status spread(maker *m, const ranged *atoms, size_t n)
{
    int at[CRI_MOST_ATOMS];
    for (size_t i = 0; i < n; i++) at[i] = atoms[i].from;
    for (;;) {
        cri_template t = { .n = n };
        for (size_t i = 0; i < n; i++)
            t.atoms[i] = (cri_template_atom){ atoms[i].term, at[i],
                                              cri_design_is_code(m->design, atoms[i].term) };
        cr_status st = add_template(m, &t);
        if (st != CR_OK) return st;
        size_t i = n;
        while (i > 0 && at[i - 1] == atoms[i - 1].to) i--, at[i] = atoms[i].from;
        if (i == 0) return CR_OK;
        at[i - 1]++;
    }
}

static cr_status read_item(maker *m, char *item)
{
    cr_status st = CR_OK;
    ranged    atoms[CRI_MOST_ATOMS];
    size_t    n = 0, all = 1;
    size_t    size = strlen(item) + 1;
    char     *copy = cr_scratch_bytes(m->s, size, 1);
    if (!copy) return m->s->status;
    memcpy(copy, item, size);
    m->item = copy;
    for (char *at = item, *next; at; at = next) {
        next = strchr(at, '*');
        if (next) *next++ = '\0';
        if (n == CRI_MOST_ATOMS)
            return cr_fail(m->cx, CR_EARG, "--window '%s' has more than %d factors", m->item,
                           CRI_MOST_ATOMS);
        CR_TRY(read_atom(m, at, &atoms[n]));
        all *= (size_t)(atoms[n].to - atoms[n].from) + 1;
        if (all > 10000)
            return cr_fail(m->cx, CR_EARG, "--window '%s' stands for more than 10000 products",
                           m->item);
        n++;
    }
    CR_TRY(spread(m, atoms, n));
done:
    return st;
}

cr_status cri_templates_make(cr_ctx *cx, cr_scratch *s, const cr_design *d, bool intercept,
                             const char *opt_window, cri_template **out, size_t *out_n)
{
    cr_status st = CR_OK;
    maker     m = { .cx = cx, .s = s, .design = d };
    char    **items = NULL;
    size_t    n = 0;
    if (intercept) CR_TRY(add_template(&m, &(cri_template){ 0 }));
    for (size_t j = 0; j < d->p; j++) {
        cri_template t = { .n = 1, .atoms = { { j, 0, cri_design_is_code(d, j) } } };
        CR_TRY(add_template(&m, &t));
    }
    CR_TRY(cri_list_split(s, opt_window, &items, &n));
    for (size_t i = 0; i < n; i++) CR_TRY(read_item(&m, items[i]));
    *out = m.list;
    *out_n = m.n;
done:
    return st;
}
