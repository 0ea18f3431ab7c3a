/* network_text.c -- tokens with their places; lists; output that remembers its first failure. */
#include "network_text.h"
#include "graph/network/network_internal.h"
#include "base/context_internal.h"
#include "base/number.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* --- tokens ---------------------------------------------------------------------------------- */

/* Are we at the beginning of a comment? */
static bool at_comment(const cri_words *w, const char *p)
{
    const cri_reader *r = &w->r;
    if (w->comment == '%') return *p == '%';
    return *p == '/' && p + 1 < r->end && (p[1] == '/' || p[1] == '*');
}

static void skip_comment(cri_words *w)
{
    cri_reader *r = &w->r;
    cri_reader  begin = *r;
    if (w->comment == '%' || r->at[1] == '/') {
        while (r->at < r->end && *r->at != '\n') cri_step(r);
        return;
    }
    for (cri_step(r), cri_step(r); r->at < r->end; cri_step(r))
        if (*r->at == '*' && r->at + 1 < r->end && r->at[1] == '/') {
            cri_step(r), cri_step(r);
            return;
        }
    *r = begin;
    cri_reader_fail_at(r, r->at, 2, "this comment has no end");
}

static void skip_space(cri_words *w)
{
    cri_reader *r = &w->r;
    while (r->status == CR_OK && r->at < r->end) {
        if (cri_is_space(*r->at))
            cri_step(r);
        else if (at_comment(w, r->at))
            skip_comment(w);
        else
            return;
    }
}

static void read_text(cri_words *w, cri_token *t)
{
    cri_reader *r = &w->r, begin = w->r;
    t->kind = CRI_TOKEN_TEXT;
    cri_step(r);
    t->text = r->at;
    while (r->at < r->end && *r->at != '"') {
        if (*r->at == '\\' && r->at + 1 < r->end) cri_step(r);
        cri_step(r);
    }
    if (r->at == r->end || *r->at != '"') {
        *r = begin;
        cri_reader_fail_at(r, r->at, 1, "this text has no closing quote");
        return;
    }
    t->length = (size_t)(r->at - t->text);
    cri_step(r);
}

static void read_word(cri_words *w, cri_token *t)
{
    cri_reader *r = &w->r;
    t->kind = CRI_TOKEN_WORD;
    t->text = r->at;
    while (r->at < r->end && !cri_is_space(*r->at) && *r->at != '"' && !strchr(w->marks, *r->at) &&
           !at_comment(w, r->at))
        r->at++;
    t->length = (size_t)(r->at - t->text);
}

void cri_words_next(cri_words *w)
{
    cri_reader *r = &w->r;
    w->last_end = w->now.from ? w->now.from + w->now.width : r->at;
    skip_space(w);
    cri_token t = { CRI_TOKEN_END, r->at, 0, r->at, 0, r->line_begin, r->line };
    if (r->status == CR_OK && r->at < r->end) {
        if (*r->at == '"') {
            read_text(w, &t);
        } else if (*r->at && strchr(w->marks, *r->at)) {
            t.kind = CRI_TOKEN_MARK;
            t.length = 1;
            r->at++;
        } else {
            read_word(w, &t);
        }
    }
    if (r->status != CR_OK) t = (cri_token){ CRI_TOKEN_END, r->end, 0, r->end, 0, r->end, r->line };
    t.width = (size_t)(r->at - t.from);
    w->now = t;
}

cri_words cri_words_open(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                         const char *marks, char comment)
{
    cri_words   w = { .r = cri_reader_open(cx, source, bytes, size),
                      .marks = marks,
                      .comment = comment };
    const char *zero = size ? memchr(bytes, '\0', size) : NULL;
    if (zero) { /* texts end with one: none may hold it */
        while (w.r.at < zero) cri_step(&w.r);
        cri_reader_fail_at(&w.r, zero, 1, "there is a zero byte in the file");
    }
    if (size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0 && !zero) w.r.at += 3;
    cri_words_next(&w);
    return w;
}

void cri_words_close(cri_words *w)
{
    cr_free(w->r.cx, w->name, w->capacity, 1);
    w->name = NULL;
    w->capacity = 0;
}

bool cri_words_is(const cri_words *w, const char *word)
{
    return w->now.kind == CRI_TOKEN_WORD && w->now.length == strlen(word) &&
           memcmp(w->now.text, word, w->now.length) == 0;
}

bool cri_words_at(const cri_words *w, char mark)
{
    return w->now.kind == CRI_TOKEN_MARK && w->now.text[0] == mark;
}

bool cri_words_take(cri_words *w, char mark)
{
    if (!cri_words_at(w, mark)) return false;
    cri_words_next(w);
    return true;
}

cr_status cri_words_expect(cri_words *w, char mark, const char *after)
{
    if (w->r.status != CR_OK) return w->r.status;
    if (w->now.kind == CRI_TOKEN_END)
        return cri_words_fail(w, &w->now, "the file ends where '%c' should be, after %s", mark,
                              after);
    if (!cri_words_at(w, mark))
        return cri_words_fail(w, &w->now, "expected '%c' after %s", mark, after);
    cri_words_next(w);
    return w->r.status;
}

cr_status cri_words_skip_block(cri_words *w)
{
    cri_token begin = w->now;
    size_t    depth = 0;
    for (bool open = false; !open || depth > 0; cri_words_next(w)) {
        if (w->now.kind == CRI_TOKEN_END)
            return cri_words_fail(w, &begin, "this block has no %s", open ? "closing '}'" : "'{'");
        bool opens = cri_words_at(w, '{');
        depth += opens;
        depth -= cri_words_at(w, '}') && depth > 0;
        open |= opens;
    }
    return w->r.status;
}

/* The same without going on. */
static const char *words_peek_name(cri_words *w, const char *what)
{
    const cri_token *t = &w->now;
    size_t           used = 0;
    if (w->r.status != CR_OK) return NULL;
    if (t->kind != CRI_TOKEN_WORD && t->kind != CRI_TOKEN_TEXT) {
        cri_words_fail(w, t,
                       t->kind == CRI_TOKEN_END ? "the file ends where %s should be"
                                                : "%s is expected here",
                       what);
        return NULL;
    }
    if (t->length + 1 > w->capacity) {
        char *more = cr_resize(w->r.cx, w->name, w->capacity, 2 * t->length + 32, 1);
        if (!more) {
            w->r.status = CR_ENOMEM;
            return NULL;
        }
        w->name = more;
        w->capacity = 2 * t->length + 32;
    }
    for (size_t i = 0; i < t->length; i++) {
        bool escaped = t->kind == CRI_TOKEN_TEXT && t->text[i] == '\\' && i + 1 < t->length &&
                       (t->text[i + 1] == '"' || t->text[i + 1] == '\\');
        i += escaped;
        w->name[used++] = t->text[i];
    }
    w->name[used] = '\0';
    return w->name;
}

const char *cri_words_name(cri_words *w, const char *what)
{
    const char *name = words_peek_name(w, what);
    if (name) cri_words_next(w);
    return w->r.status == CR_OK ? name : NULL;
}

double cri_words_number(cri_words *w, const char *what)
{
    double    x = 0;
    cri_token t = w->now;
    if (w->r.status != CR_OK) return 0;
    if (t.kind == CRI_TOKEN_END) {
        cri_words_fail(w, &t, "the file ends where %s should be", what);
        return 0;
    }
    bool whole =
        t.kind == CRI_TOKEN_WORD && cri_parse_double(t.text, t.text + t.length, &x) == t.length;
    if (!whole)
        cri_words_fail(w, &t, "%s should be a number", what);
    else if (!(x >= 0) || x > DBL_MAX)
        cri_words_fail(w, &t, "%s should be a finite number, 0 or more", what);
    else
        cri_words_next(w);
    return x;
}

cr_status cri_words_fail(cri_words *w, const cri_token *at, const char *format, ...)
{
    char    text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (w->r.status != CR_OK) return w->r.status;
    w->r.line = at->line;
    w->r.line_begin = at->line_begin;
    return cri_reader_fail_at(&w->r, at->from, at->width, "%s", text);
}

cr_status cri_words_place(cri_words *w, const cri_token *at, cr_status st)
{
    if (st == CR_EDATA || st == CR_EARG) return cri_words_fail(w, at, "%s", cr_error(w->r.cx));
    if (st == CR_ENOMEM && w->r.status == CR_OK)
        cr_fail_note(w->r.cx, "in %s, line %zu", w->r.source, at->line);
    if (st != CR_OK && w->r.status == CR_OK) w->r.status = st;
    return st;
}

static const char *name_of_variable(const void *user, size_t i)
{
    return cr_variable_name(user, i);
}

cr_status cri_nearest_variable(cr_ctx *cx, const cr_network *net, const char *name)
{
    return cr_fail_nearest(cx, name, "variables", cr_network_size(net), name_of_variable,
                           cr_network_variables(net));
}

cr_status cri_words_no_variable(cri_words *w, const cri_token *at, const cr_network *net,
                                const char *name)
{
    cri_words_fail(w, at, "there is no variable '%s'", name);
    return cri_nearest_variable(w->r.cx, net, name);
}

typedef struct states_of {
    const cr_variables *set;
    size_t              v;
} states_of;

static const char *name_of_state(const void *user, size_t i)
{
    const states_of *s = user;
    return cr_state_name(s->set, s->v, i);
}

cr_status cri_nearest_state(cr_ctx *cx, const cr_variables *vs, size_t v, const char *name)
{
    states_of s = { vs, v };
    return cr_fail_nearest(cx, name, "states", cr_variable_states(vs, v), name_of_state, &s);
}

cr_status cri_words_no_state(cri_words *w, const cri_token *at, const cr_network *net, size_t v,
                             const char *name)
{
    cri_words_fail(w, at, "'%s' has no state '%s'", cr_variable_name(cr_network_variables(net), v),
                   name);
    return cri_nearest_state(w->r.cx, cr_network_variables(net), v, name);
}

/* --- places ---------------------------------------------------------------------------------- */

cr_status cri_places_set(cr_ctx *cx, cri_places *p, size_t v, const char *from)
{
    if (v >= p->n) {
        size_t       n = v < 8 ? 16 : 2 * v;
        const char **more = cr_resize(cx, p->from, p->n, n, sizeof *more);
        if (!more) return CR_ENOMEM;
        for (size_t i = p->n; i < n; i++) more[i] = NULL;
        p->from = more;
        p->n = n;
    }
    p->from[v] = from;
    return CR_OK;
}

void cri_places_free(cr_ctx *cx, cri_places *p)
{
    cr_free(cx, p->from, p->n, sizeof *p->from);
    *p = (cri_places){ 0 };
}

cr_status cri_check_placed(cri_reader *r, const cr_network *net, const cri_places *p)
{
    char      text[1024];
    size_t    v = CR_NONE, width = 0;
    cr_status st = cri_network_check(r->cx, net, &v);
    if (st != CR_EDATA || v >= p->n || !p->from[v]) return st;
    snprintf(text, sizeof text, "%s", cr_error(r->cx));
    while (p->from[v] + width < r->end && !strchr(" \t\r\n(){}|,;>", p->from[v][width])) width++;
    r->line = 1;
    r->line_begin = r->begin;
    for (const char *c = r->begin; c < p->from[v]; c++)
        if (*c == '\n') r->line++, r->line_begin = c + 1;
    r->at = p->from[v];
    return cri_reader_fail_at(r, r->at, width ? width : 1, "%s", text);
}

/* --- lists ----------------------------------------------------------------------------------- */

cr_status cri_names_add(cr_ctx *cx, cri_names *names, const char *name, size_t length)
{
    if (cri_array_grow(cx, &names->name, names->n, &names->capacity, sizeof *names->name) != CR_OK)
        return CR_ENOMEM;
    char *copy = cri_string_copy_n(cx, name, length);
    if (!copy) return CR_ENOMEM;
    names->name[names->n++] = copy;
    return CR_OK;
}

void cri_names_clear(cr_ctx *cx, cri_names *names)
{
    for (size_t i = 0; i < names->n; i++) cri_string_free(cx, names->name[i]);
    names->n = 0;
}

void cri_names_free(cr_ctx *cx, cri_names *names)
{
    cri_names_clear(cx, names);
    cr_free(cx, names->name, names->capacity, sizeof *names->name);
    *names = (cri_names){ 0 };
}

cr_status cri_numbers_add(cr_ctx *cx, cri_numbers *numbers, double x)
{
    if (cri_array_grow(cx, &numbers->value, numbers->n, &numbers->capacity,
                       sizeof *numbers->value) != CR_OK)
        return CR_ENOMEM;
    numbers->value[numbers->n++] = x;
    return CR_OK;
}

void cri_numbers_free(cr_ctx *cx, cri_numbers *numbers)
{
    cr_free(cx, numbers->value, numbers->capacity, sizeof *numbers->value);
    *numbers = (cri_numbers){ 0 };
}

cr_status cri_bayes_only(cr_ctx *cx, const cr_network *net, const char *format)
{
    if (cr_network_get_kind(net) == CR_NETWORK_BAYES) return CR_OK;
    cr_fail(cx, CR_EARG, "%s can only hold Bayesian networks, but this is a Markov network",
            format);
    return cr_fail_hint(cx, "write it as .uai, .json or .cred");
}

bool cri_sums_to_one(double sum) { return fabs(sum - 1) < 1e-3; }

/* --- writing --------------------------------------------------------------------------------- */

void cri_put_n(cri_writer *w, const char *text, size_t length)
{
    if (w->status == CR_OK) w->status = cri_packed_write(w->file, text, length);
}

void cri_put(cri_writer *w, const char *text) { cri_put_n(w, text, strlen(text)); }

void cri_put_format(cri_writer *w, const char *format, ...)
{
    char    text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    cri_put(w, text);
}

void cri_put_number(cri_writer *w, double x)
{
    char text[CRI_DOUBLE_SIZE];
    cri_put_n(w, text, cri_print_double(x, text));
}

void cri_put_quoted(cri_writer *w, const char *text)
{
    cri_put(w, "\"");
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') cri_put(w, "\\");
        cri_put_n(w, text, 1);
    }
    cri_put(w, "\"");
}

cr_status cri_writer_close(cri_writer *w)
{
    cri_packed *file = w->file;
    w->file = NULL;
    if (w->status == CR_OK) return cri_packed_commit(file);
    cri_packed_abandon(file);
    return w->status;
}
