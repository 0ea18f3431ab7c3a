/* lexer.h -- the words of a program, one after the other.
 * Comments (//, #, and slash-star) and blanks separate words.  The end of a line is a word where no
 * bracket is open.  (Internal header.) */
#ifndef CREDENCE_PROB_PROGRAM_LEXER_H
#define CREDENCE_PROB_PROGRAM_LEXER_H

#include "syntax.h"
#include "base/reader.h"

typedef enum cri_word_kind {
    CRI_WORD_END,
    CRI_WORD_LINE, /* the end of a line that may end a statement                           */
    CRI_WORD_NAME,
    CRI_WORD_NUMBER,
    CRI_WORD_TEXT,
    CRI_WORD_SIGN, /* `sign`: a character, or one of enum cri_syntax_sign                         */
    CRI_WORD_ASSIGN, /* = += -= *= /= .*= ./=: `sign` is '=' or the operator's               */
} cri_word_kind;

typedef struct cri_word {
    cri_word_kind kind;
    int           sign;
    bool          whole; /* a number without point and exponent                             */
    double        number;
    const char   *from;
    size_t        length;
    size_t        line;
    const char   *line_begin;
} cri_word;

typedef struct cri_lexer {
    cri_reader  r;
    size_t      open; /* brackets, parentheses and braces                                    */
    cri_word    now, ahead;
    bool        has_ahead;
    const char *last_end; /* where the word before `now` ended                               */
} cri_lexer;

cri_lexer cri_lexer_open(cr_ctx *cx, const char *source, const char *text, size_t size);
/* Makes `now` the next word.  After a failure, which sticks in r.status, there are only ENDs. */
void cri_lexer_next(cri_lexer *l);
/* The word after `now`. */
const cri_word *cri_lexer_ahead(cri_lexer *l);

bool cri_lexer_is(const cri_lexer *l, const char *name);
bool cri_lexer_at(const cri_lexer *l, int sign);
/* As `at`, and if so steps over it. */
bool cri_lexer_take(cri_lexer *l, int sign);
/* Steps over the sign, or fails: "expected ')' to close the list of arguments, found 'x'". */
cr_status cri_lexer_expect(cri_lexer *l, int sign, const char *purpose);
/* Fails at the word, which is shown with a caret. */
cr_status cri_lexer_fail(cri_lexer *l, const cri_word *w, const char *format, ...) CR_PRINTF(3, 4);

/* The word as it may be shown in a sentence: 'abc', the end of the text, ... */
enum { CRI_WORD_SHOWN = 48 };
const char *cri_lexer_shown(const cri_word *w, char out[CRI_WORD_SHOWN]);

#endif
