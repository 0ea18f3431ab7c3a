/* parse_words.c -- reading kernel expressions: faults, words, numbers, and what grows. */
#include "parse.h"
#include "base/context_internal.h"
#include "base/number.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WINDOW = 72 };

/* --- faults ---------------------------------------------------------------------------------- */

/* Notes with the line that `at` is in, at most WINDOW characters of it, and a caret below. */
void cri_parse_show(cri_parser *p, const char *at)
{
    const char *begin = at, *end = at;
    char        line[4 * WINDOW + 8], caret[WINDOW + 8];
    size_t      width = 0, used = 0;
    while (begin > p->text && begin[-1] != '\n' && width < WINDOW / 2) {
        begin--;
        width += ((unsigned char)*begin & 0xC0) != 0x80;
    }
    while (begin < at && ((unsigned char)*begin & 0xC0) == 0x80) begin++;
    while (*end && *end != '\n' && (size_t)(end - begin) < 2 * WINDOW) end++;
    while (end > at && ((unsigned char)*end & 0xC0) == 0x80) end--; /* no part of a character */
    width = 0;
    for (const char *c = begin; c < end && used + 1 < sizeof line; c++) {
        line[used++] = (unsigned char)*c < ' ' ? ' ' : *c;
        if (c < at) width += ((unsigned char)*c & 0xC0) != 0x80;
    }
    if (used == 0) line[used++] = ' '; /* a note without text would not be a line */
    line[used] = '\0';
    if (width > WINDOW) width = WINDOW;
    memset(caret, ' ', width);
    caret[width] = '^', caret[width + 1] = '\0';
    cr_fail_note(p->cx, "%s", line);
    cr_fail_note(p->cx, "%s", caret);
}

/* --- words and numbers ----------------------------------------------------------------------- */

void cri_parse_blanks(cri_parser *p)
{
    while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r') p->at++;
}

char cri_parse_peek(cri_parser *p)
{
    cri_parse_blanks(p);
    return *p->at;
}

bool cri_parse_accept(cri_parser *p, char c)
{
    if (cri_parse_peek(p) != c) return false;
    p->at++;
    return true;
}

/* The bytes of the character at `at`, which is not the end. */
static size_t next_character(const char *at)
{
    size_t n = 1;
    while (((unsigned char)at[n] & 0xC0) == 0x80) n++;
    return n;
}

const char *cri_parse_found(cri_parser *p, char out[CRI_PARSE_FOUND])
{
    unsigned char c = (unsigned char)cri_parse_peek(p);
    size_t        n = 0;
    if (!c) return "the end";
    while (cri_parse_in_name(p->at[n]) && n + next_character(p->at + n) + 3 < CRI_PARSE_FOUND)
        n += next_character(p->at + n);
    if (n == 0 && c < 0x80)
        snprintf(out, CRI_PARSE_FOUND, "'%c'", c < ' ' ? '?' : c);
    else
        snprintf(out, CRI_PARSE_FOUND, "'%.*s'", (int)n, p->at);
    return out;
}

cr_status cri_parse_expect(cri_parser *p, char c, const char *why)
{
    char seen[CRI_PARSE_FOUND];
    if (cri_parse_accept(p, c)) return CR_OK;
    return FAULT(p, p->at, "expected '%c' %s, found %s", c, why, cri_parse_found(p, seen));
}

bool cri_parse_begins_name(char c)
{
    return isalpha((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

bool cri_parse_in_name(char c)
{
    return cri_parse_begins_name(c) || isdigit((unsigned char)c) || c == '.';
}

/* A bare word, or a text in double quotes in which a quote is written twice. */
cr_status cri_parse_name(cri_parser *p, const char *what, char out[CRI_PARSE_NAME],
                         bool *out_quoted)
{
    const char *begin = (cri_parse_blanks(p), p->at);
    size_t      n = 0;
    char        seen[CRI_PARSE_FOUND];
    bool        quoted = cri_parse_accept(p, '"');
    if (out_quoted) *out_quoted = quoted;
    if (!quoted && !cri_parse_begins_name(*p->at))
        return FAULT(p, p->at, "expected %s, found %s", what, cri_parse_found(p, seen));
    while (quoted ? *p->at && (*p->at != '"' || p->at[1] == '"') : cri_parse_in_name(*p->at)) {
        if (n + 1 >= CRI_PARSE_NAME)
            return FAULT(p, begin, "a name has more than %d characters", CRI_PARSE_NAME - 1);
        if (quoted && *p->at == '"') p->at++;
        out[n++] = *p->at++;
    }
    if (quoted && *p->at++ != '"') {
        p->at--;
        return FAULT(p, begin, "this quote is not closed");
    }
    out[n] = '\0';
    return n ? CR_OK : FAULT(p, begin, "a name is empty");
}

bool cri_parse_begins_number(cri_parser *p)
{
    char c = cri_parse_peek(p);
    return isdigit((unsigned char)c) || c == '.' || c == '-' || c == '+';
}

cr_status cri_parse_number(cri_parser *p, double *out)
{
    char   seen[CRI_PARSE_FOUND];
    double x = 0;
    cri_parse_blanks(p);
    size_t n = cri_parse_begins_number(p) ? cri_parse_double(p->at, p->at + strlen(p->at), &x) : 0;
    if (n == 0) return FAULT(p, p->at, "expected a number, found %s", cri_parse_found(p, seen));
    if (!isfinite(x)) return FAULT(p, p->at, "the number is out of range");
    if (cri_parse_in_name(p->at[n]))
        return FAULT(p, p->at + n, "expected a number, found '%.*s'",
                     (int)(n + next_character(p->at + n)), p->at);
    p->at += n;
    *out = x;
    return CR_OK;
}

/* true, and past it, when the next word is this one. */
bool cri_parse_word(cri_parser *p, const char *word)
{
    size_t n = strlen(word);
    cri_parse_blanks(p);
    if (strncmp(p->at, word, n) != 0 || cri_parse_in_name(p->at[n])) return false;
    p->at += n;
    return true;
}

/* --- growing arrays -------------------------------------------------------------------------- */

cr_status cri_parse_grow(cri_parser *p, void **array, size_t n, size_t *capacity, size_t size)
{
    return cri_array_grow(p->cx, array, n, capacity, size);
}

cr_status cri_parse_add_node(cri_parser *p, cri_node node, size_t *out)
{
    cr_kernel *k = p->k;
    cr_status  st =
        cri_parse_grow(p, (void **)&k->nodes, k->n_nodes, &k->node_capacity, sizeof *k->nodes);
    if (st != CR_OK) return st;
    if (k->n_nodes >= CRI_MOST_NODES)
        return FAULT(p, p->at, "the expression has more than %d parts", CRI_MOST_NODES);
    k->nodes[ *out = k->n_nodes++] = node;
    return CR_OK;
}

cr_status cri_parse_add_column(cri_parser *p, size_t index, const char *name)
{
    cr_kernel *k = p->k;
    cr_status  st = cri_parse_grow(p, (void **)&k->columns, k->n_columns, &k->column_capacity,
                                   sizeof *k->columns);
    char      *copy = st == CR_OK ? cri_string_copy(p->cx, name) : NULL;
    if (!copy) return CR_ENOMEM;
    k->columns[k->n_columns++] = (cri_column){ index, copy };
    return CR_OK;
}

cr_status cri_parse_add_param(cri_parser *p, cri_param param)
{
    cr_kernel *k = p->k;
    cr_status  st =
        cri_parse_grow(p, (void **)&k->params, k->n_params, &k->param_capacity, sizeof *k->params);
    if (st == CR_OK) k->params[k->n_params++] = param;
    return st;
}
