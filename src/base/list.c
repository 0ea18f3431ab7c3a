/* list.c -- splitting lists with commas and quotes, and writing their items. */
#include "list.h"

#include <string.h>

/* The text between the quotes that `at` opens, into opt_out; returns what follows the closing
 * quote, or the end of the text if there is none. */
static const char *read_quoted(const char *at, char *opt_out, bool *out_closed)
{
    size_t n = 0;
    *out_closed = false;
    for (at++; *at; at++) {
        if (*at == '"' && at[1] != '"') {
            *out_closed = true;
            at++;
            break;
        }
        if (*at == '"') at++;
        if (opt_out) opt_out[n++] = *at;
    }
    if (opt_out) opt_out[n] = '\0';
    return at;
}

/* The item at `at`, empty or not; returns its end.  What follows a closing quote is part of it. */
static const char *read_item(const char *at, char *opt_out, const char **out_fault)
{
    bool        closed;
    size_t      begun = at[0] == '!' && at[1] == '"';
    const char *end = at;
    *out_fault = NULL;
    if (opt_out && begun) opt_out[0] = '!';
    if (at[begun] == '"') {
        end = read_quoted(at + begun, opt_out ? opt_out + begun : NULL, &closed);
        if (!closed)
            *out_fault = "a double quote is not closed";
        else if (*end && *end != ',')
            *out_fault = "there is text between a double quote and a comma";
        if (opt_out) begun += strlen(opt_out + begun);
    }
    size_t rest = strcspn(end, ",");
    if (opt_out) memcpy(opt_out + begun, end, rest), opt_out[begun + rest] = '\0';
    return end + rest;
}

const char *cri_list_item_end(const char *at)
{
    const char *fault;
    return read_item(at, NULL, &fault);
}

bool cri_list_next(const char **at, char *out)
{
    const char *fault;
    while (**at) {
        const char *end = read_item(*at, out, &fault);
        *at = end + (*end == ',');
        if (out[0]) return true;
    }
    return false;
}

cr_status cri_list_split(cr_scratch *s, const char *opt_list, char ***out_items, size_t *out_n)
{
    const char *at = opt_list ? opt_list : "";
    size_t      size = strlen(at) + 1, n = 0;
    char      **items = cr_scratch_bytes(s, size / 2 + 1, sizeof *items);
    char       *buffer = cr_scratch_bytes(s, size, 1);
    if (s->status != CR_OK) return s->status;
    while (cri_list_next(&at, buffer)) {
        items[n++] = buffer;
        buffer += strlen(buffer) + 1; /* an item is no longer than it was, and its comma is free */
    }
    *out_items = items;
    *out_n = n;
    return CR_OK;
}

/* Brackets that are open at the end of a text. */
static int open_brackets(const char *text)
{
    int depth = 0;
    for (; *text; text++) depth += (strchr("([{", *text) != NULL) - (strchr(")]}", *text) != NULL);
    return depth;
}

cr_status cri_list_settings(cr_scratch *s, const char *opt_list, char ***out_items, size_t *out_n)
{
    size_t    n = 0, kept = 0;
    char    **items = NULL;
    cr_status st = cri_list_split(s, opt_list, &items, &n);
    for (size_t i = 0; st == CR_OK && i < n; i++) {
        if (kept == 0 || (strchr(items[i], '=') && open_brackets(items[kept - 1]) <= 0)) {
            items[kept++] = items[i];
            continue;
        }
        size_t a = strlen(items[kept - 1]), b = strlen(items[i]);
        char  *both = cr_scratch_bytes(s, a + b + 2, 1);
        if (!both) return s->status;
        memcpy(both, items[kept - 1], a);
        both[a] = ',';
        memcpy(both + a + 1, items[i], b);
        items[kept - 1] = both;
    }
    if (st != CR_OK) return st;
    *out_items = items;
    *out_n = kept;
    return CR_OK;
}

const char *cri_list_fault(const char *list)
{
    const char *fault = NULL;
    while (*list && !fault) {
        list = read_item(list, NULL, &fault);
        list += *list == ',';
    }
    return fault;
}

size_t cri_list_quote(const char *text, char *out, size_t size)
{
    bool   quoted = strchr(text, ',') || text[0] == '"' || (text[0] == '!' && text[1] == '"');
    size_t n = 0;
    if (quoted && n++ < size) out[n - 1] = '"';
    for (; *text; text++) {
        if (n++ < size) out[n - 1] = *text;
        if (quoted && *text == '"' && n++ < size) out[n - 1] = '"';
    }
    if (quoted && n++ < size) out[n - 1] = '"';
    if (size > 0) out[n < size ? n : size - 1] = '\0';
    return n;
}
