/* lexer.c -- the words of a program. */
#include "lexer.h"
#include "base/number.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

cri_lexer cri_lexer_open(cr_ctx *cx, const char *source, const char *text, size_t size)
{
    cri_lexer l = { .r = cri_reader_open(cx, source, text, size) };
    l.last_end = text;
    cri_lexer_next(&l);
    return l;
}

static char peek_at(const cri_reader *r, size_t i)
{
    return i < cri_reader_left(r) ? r->at[i] : '\0';
}

/* Blanks and comments; stops before the end of a line. */
static void skip_blanks(cri_lexer *l)
{
    cri_reader *r = &l->r;
    for (;;) {
        char c = cri_peek(r);
        if (c == ' ' || c == '\t' || c == '\r' || (c == '\n' && l->open > 0)) {
            cri_step(r);
        } else if (c == '#' || (c == '/' && peek_at(r, 1) == '/')) {
            while (r->at < r->end && *r->at != '\n') cri_step(r);
        } else if (c == '/' && peek_at(r, 1) == '*') {
            const char *from = r->at;
            cri_reader  start = *r;
            cri_step(r), cri_step(r);
            while (r->at < r->end && !(*r->at == '*' && peek_at(r, 1) == '/')) cri_step(r);
            if (r->at >= r->end) {
                *r = start;
                cri_reader_fail_at(r, from, 2, "this comment has no end: '*/' is missing");
                return;
            }
            cri_step(r), cri_step(r);
        } else {
            return;
        }
    }
}

static bool begins_name(char c) { return isalpha((unsigned char)c) || c == '_' || (c & 0x80); }
static bool continues_name(char c) { return begins_name(c) || isdigit((unsigned char)c); }

static void read_number(cri_reader *r, cri_word *w)
{
    size_t n = 0;
    w->kind = CRI_WORD_NUMBER;
    w->whole = true;
    while (isdigit((unsigned char)peek_at(r, n))) n++;
    /* 2.*x is 2 .* x; 2. and 2.5 are numbers */
    char after = peek_at(r, n + 1);
    if (peek_at(r, n) == '.' && after != '*' && after != '/' && after != '^') {
        w->whole = false;
        for (n++; isdigit((unsigned char)peek_at(r, n));) n++;
    }
    if (peek_at(r, n) == 'e' || peek_at(r, n) == 'E') {
        size_t k = n + 1;
        if (peek_at(r, k) == '+' || peek_at(r, k) == '-') k++;
        if (isdigit((unsigned char)peek_at(r, k))) {
            w->whole = false;
            while (isdigit((unsigned char)peek_at(r, k))) k++;
            n = k;
        }
    }
    w->length = n;
    if (cri_parse_double(r->at, r->at + n, &w->number) != n || continues_name(peek_at(r, n)))
        cri_reader_fail_at(r, r->at, n + 1, "'%.*s' is not a number", (int)(n + 1), r->at);
    r->at += n;
}

static void read_text(cri_reader *r, cri_word *w)
{
    size_t n = 1;
    w->kind = CRI_WORD_TEXT;
    while (peek_at(r, n) != '"' && peek_at(r, n) != '\n' && n < cri_reader_left(r)) n++;
    if (peek_at(r, n) != '"') {
        cri_reader_fail_at(r, r->at, n, "this text has no closing '\"'");
        return;
    }
    w->length = n + 1;
    r->at += n + 1;
}

/* The longest sign here. */
static void read_sign(cri_reader *r, cri_word *w)
{
    static const struct {
        const char *text;
        int         sign;
        bool        assigns;
    } LONG[] = {
        { "%/%", CRI_SIGN_WHOLE_OVER, false },
        { ".*=", CRI_SIGN_TIMES_EACH, true },
        { "./=", CRI_SIGN_OVER_EACH, true },
        { "||", CRI_SIGN_OR, false },
        { "&&", CRI_SIGN_AND, false },
        { "==", CRI_SIGN_EQUAL, false },
        { "!=", CRI_SIGN_UNEQUAL, false },
        { "<=", CRI_SIGN_AT_MOST, false },
        { ">=", CRI_SIGN_AT_LEAST, false },
        { ".*", CRI_SIGN_TIMES_EACH, false },
        { "./", CRI_SIGN_OVER_EACH, false },
        { ".^", CRI_SIGN_POWER_EACH, false },
        { ".+", CRI_SIGN_PLUS_EACH, false },
        { ".-", CRI_SIGN_MINUS_EACH, false },
        { "+=", '+', true },
        { "-=", '-', true },
        { "*=", '*', true },
        { "/=", '/', true },
        { "<-", '=', true },
        { "=", '=', true },
    };
    for (size_t i = 0; i < sizeof LONG / sizeof *LONG; i++) {
        size_t n = strlen(LONG[i].text);
        if (cri_reader_left(r) < n || memcmp(r->at, LONG[i].text, n) != 0) continue;
        /* a <-1 compares: an arrow has a blank, a name or a digit's sign after it either way, so
         * only old Stan's "x <- 1", with its blank, assigns */
        if (LONG[i].text[0] == '<' && n == 2 && LONG[i].assigns &&
            !isspace((unsigned char)peek_at(r, 2)))
            continue;
        w->kind = LONG[i].assigns ? CRI_WORD_ASSIGN : CRI_WORD_SIGN;
        w->sign = LONG[i].sign;
        w->length = n;
        r->at += n;
        return;
    }
    char c = cri_peek(r);
    if (!strchr("+-*/\\%^!<>()[]{},;:?|~'", c) || c == '\0') {
        if (c > ' ' && c < 0x7f)
            cri_reader_fail_at(r, r->at, 1, "'%c' has no meaning here", c);
        else
            cri_reader_fail_at(r, r->at, 1, "a byte %u has no meaning here", (unsigned char)c);
        return;
    }
    w->kind = CRI_WORD_SIGN;
    w->sign = (unsigned char)c;
    w->length = 1;
    cri_step(r);
}

static void read_word(cri_lexer *l, cri_word *w)
{
    cri_reader *r = &l->r;
    skip_blanks(l);
    *w = (cri_word){
        .kind = CRI_WORD_END, .from = r->at, .line = r->line, .line_begin = r->line_begin
    };
    if (r->status != CR_OK || r->at >= r->end) return;
    char c = *r->at;
    if (c == '\n') {
        w->kind = CRI_WORD_LINE;
        while (r->at < r->end && r->status == CR_OK && *r->at == '\n') {
            cri_step(r);
            skip_blanks(l);
        }
    } else if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)peek_at(r, 1)))) {
        read_number(r, w);
    } else if (begins_name(c)) {
        w->kind = CRI_WORD_NAME;
        while (continues_name(cri_peek(r))) cri_step(r);
        w->length = (size_t)(r->at - w->from);
    } else if (c == '"') {
        read_text(r, w);
    } else {
        read_sign(r, w);
        if (w->kind == CRI_WORD_SIGN && strchr("([{", w->sign)) l->open++;
        if (w->kind == CRI_WORD_SIGN && strchr(")]}", w->sign) && l->open > 0) l->open--;
    }
    if (r->status != CR_OK) w->kind = CRI_WORD_END;
}

void cri_lexer_next(cri_lexer *l)
{
    l->last_end = l->now.from ? l->now.from + l->now.length : l->r.begin;
    if (l->has_ahead) {
        l->now = l->ahead;
        l->has_ahead = false;
    } else {
        read_word(l, &l->now);
    }
}

const cri_word *cri_lexer_ahead(cri_lexer *l)
{
    if (!l->has_ahead) read_word(l, &l->ahead);
    l->has_ahead = true;
    return &l->ahead;
}

bool cri_lexer_is(const cri_lexer *l, const char *name)
{
    return l->now.kind == CRI_WORD_NAME && strlen(name) == l->now.length &&
           memcmp(l->now.from, name, l->now.length) == 0;
}

bool cri_lexer_at(const cri_lexer *l, int sign)
{
    return l->now.kind == CRI_WORD_SIGN && l->now.sign == sign;
}

bool cri_lexer_take(cri_lexer *l, int sign)
{
    if (!cri_lexer_at(l, sign)) return false;
    cri_lexer_next(l);
    return true;
}

const char *cri_lexer_shown(const cri_word *w, char out[CRI_WORD_SHOWN])
{
    if (w->kind == CRI_WORD_END)
        snprintf(out, CRI_WORD_SHOWN, "the end of the program");
    else if (w->kind == CRI_WORD_LINE)
        snprintf(out, CRI_WORD_SHOWN, "the end of the line");
    else
        snprintf(out, CRI_WORD_SHOWN, "'%.*s%s'", (int)(w->length < 36 ? w->length : 36), w->from,
                 w->length < 36 ? "" : "...");
    return out;
}

cr_status cri_lexer_expect(cri_lexer *l, int sign, const char *purpose)
{
    char shown[CRI_WORD_SHOWN];
    if (cri_lexer_take(l, sign)) return CR_OK;
    return cri_lexer_fail(l, &l->now, "expected '%c' %s, found %s", sign, purpose,
                          cri_lexer_shown(&l->now, shown));
}

cr_status cri_lexer_fail(cri_lexer *l, const cri_word *w, const char *format, ...)
{
    char    sentence[512];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    l->r.line = w->line;
    l->r.line_begin = w->line_begin;
    return cri_reader_fail_at(&l->r, w->from, w->length ? w->length : 1, "%s", sentence);
}
