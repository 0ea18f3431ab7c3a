/* read_options.c -- the table of the options of reading, and which of them outlive it. */
#include "read_options.h"
#include "base/context_internal.h"

#include <string.h>

CR_OPTIONS_TABLE(, cr_read_table, cr_read_options, CR_READ_OPTIONS);

static bool is_text(const cr_option *o)
{
    return o->kind == CR_OPTION_text || o->kind == CR_OPTION_list;
}

static char **text_at(const cr_option *o, cr_read_options *values)
{
    return (char **)(void *)((char *)values + o->offset);
}

static const char *text_of(const cr_option *o, const cr_read_options *values)
{
    return *(char *const *)(const void *)((const char *)values + o->offset);
}

cr_status cri_read_options_copy(cr_ctx *cx, const cr_read_options *from, cr_read_options *to)
{
    *to = *from;
    for (const cr_option *o = cr_read_table; o->name; o++)
        if (is_text(o)) *text_at(o, to) = NULL;
    for (const cr_option *o = cr_read_table; o->name; o++) {
        if (!is_text(o) || !text_of(o, from)) continue;
        *text_at(o, to) = cri_string_copy(cx, text_of(o, from));
        if (!*text_at(o, to)) return CR_ENOMEM;
    }
    return CR_OK;
}

bool cri_read_option_is_kept(const cr_option *o)
{
    static const char *const kept[] = { "missing_values", "decimal", "thousands" };
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (strcmp(kept[i], o->name) == 0) return true;
    return false;
}

static bool is_style(const cr_option *o)
{
    return strcmp(o->name, "decimal") == 0 || strcmp(o->name, "thousands") == 0;
}

static const char USUAL[] = "?";

bool cri_read_option_is_usual(const char *value)
{
    size_t n = value ? strlen(value) : 0;
    return n > 1 && strcmp(value + n - 1, USUAL) == 0;
}

static bool is_given_and_kept(const cr_option *o, const cr_read_options *values)
{
    if (!cri_read_option_is_kept(o) || cr_options_at_default(o, values)) return false;
    return !is_style(o) || !cri_read_option_is_usual(text_of(o, values));
}

bool cri_read_options_any_kept(const cr_read_options *values)
{
    for (const cr_option *o = cr_read_table; o->name; o++)
        if (is_given_and_kept(o, values)) return true;
    return false;
}

/* The value of one option as text, and `mark` behind it, from `from` to `to`. */
static cr_status carry(cr_ctx *cx, const cr_option *o, const cr_read_options *from,
                       const char *mark, cr_read_options *to)
{
    size_t length = cr_options_print(o, from, NULL, 0), size = length + strlen(mark) + 1;
    char  *text = cr_alloc(cx, size, 1);
    if (!text) return CR_ENOMEM;
    cr_options_print(o, from, text, length + 1);
    memcpy(text + length, mark, strlen(mark) + 1);
    cr_status st = cr_options_set(cx, cr_read_table, to, o->name, text);
    cr_free(cx, text, size, 1);
    return st;
}

static cr_status carry_all(cr_ctx *cx, const cr_read_options *from, const char *style_mark,
                           cr_read_options *to)
{
    cr_status st = CR_OK;
    bool      styled = to->decimal || to->thousands; /* the two go together */
    for (const cr_option *o = cr_read_table; o->name && st == CR_OK; o++) {
        if (!is_given_and_kept(o, from) || (is_style(o) && styled)) continue;
        if (o->kind == CR_OPTION_list || cr_options_at_default(o, to))
            st = carry(cx, o, from, is_style(o) ? style_mark : "", to);
    }
    return st;
}

cr_status cri_read_options_keep(cr_ctx *cx, const cr_read_options *from, cr_read_options *to)
{
    return carry_all(cx, from, "", to);
}

cr_status cri_read_options_expect(cr_ctx *cx, const cr_read_options *from, cr_read_options *to)
{
    return carry_all(cx, from, USUAL, to);
}

/* The first item of names that are only expected. */
static const char EXPECTED[] = "\x1e";

const char *cri_read_expected_names(const cr_read_options *o)
{
    size_t n = strlen(EXPECTED);
    return o->names && strncmp(o->names, EXPECTED, n) == 0 && o->names[n] ? o->names + n + 1 : NULL;
}

const char *cri_given_names(const cr_read_options *o)
{
    return o->names && strncmp(o->names, EXPECTED, strlen(EXPECTED)) == 0 ? NULL : o->names;
}

cr_status cri_read_options_expect_name(cr_ctx *cx, const char *name, cr_read_options *to)
{
    cr_status st = CR_OK;
    if (cri_given_names(to)) return CR_OK;
    if (!to->names) CR_TRY(cr_options_set(cx, cr_read_table, to, "names", EXPECTED));
    CR_TRY(cr_options_add(cx, cr_read_table, to, "names", name));
done:
    return st;
}
