/* network_text.h -- words in and words out: what the text formats of networks share.
 * A file is a list of words, texts in double quotes (\" and \\ inside are a quote and a backslash)
 * and marks of one character; comments are white space.  Every token remembers its place, so that
 * a fault found later is still shown with its line and a caret.  (Internal header.) */
#ifndef CREDENCE_GRAPH_FILES_NETWORK_TEXT_H
#define CREDENCE_GRAPH_FILES_NETWORK_TEXT_H

#include "graph/network/network.h"
#include "base/reader.h"
#include "data/bytes/packed.h"

/* The name that BIF files have for want of one. */
#define CRI_BIF_NO_NAME "unknown"
/* The field that a NET file has for a name that is not an identifier. */
#define CRI_NET_NAME_FIELD "credence_name"

static inline bool cri_is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* --- reading --------------------------------------------------------------------------------- */

typedef enum cri_token_kind {
    CRI_TOKEN_END,
    CRI_TOKEN_WORD,
    CRI_TOKEN_TEXT,
    CRI_TOKEN_MARK
} cri_token_kind;

typedef struct cri_token {
    cri_token_kind kind;
    const char    *text; /* in the file; of a text what is between the quotes, as written */
    size_t         length;
    const char    *from; /* with the quotes */
    size_t         width;
    const char    *line_begin;
    size_t         line;
} cri_token;

typedef struct cri_words {
    cri_reader  r;
    const char *marks;    /* each a token of its own, never within a word                    */
    char        comment;  /* '/': // to the end of the line, and slash-star; '%': to its end */
    cri_token   now;      /* the token that is next                                          */
    const char *last_end; /* behind the token before it                                      */
    char       *name;     /* [capacity] see cri_words_name                                   */
    size_t      capacity;
} cri_words;

/* Opens a list of words; `now` is the first.  A byte-order mark is skipped; a zero byte is refused
 * (r.status). */
cri_words cri_words_open(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                         const char *marks, char comment);
void      cri_words_close(cri_words *w);
/* Goes to the next token.  Fails (w->r.status) on a text or comment without an end. */
void cri_words_next(cri_words *w);
/* Is the next token this word, this mark? */
bool cri_words_is(const cri_words *w, const char *word);
bool cri_words_at(const cri_words *w, char mark);
/* Takes the mark if it is next. */
bool cri_words_take(cri_words *w, char mark);
/* Takes the mark, or fails: "expected ')' after ...". */
cr_status cri_words_expect(cri_words *w, char mark, const char *after);
/* From the first word of a block behind the '}' that closes it. */
cr_status cri_words_skip_block(cri_words *w);
/* Takes a word or text as a name, with its '\0'; valid until the next call.  NULL: failed. */
const char *cri_words_name(cri_words *w, const char *what);
/* Takes a number >= 0; fails with what it should be. */
double cri_words_number(cri_words *w, const char *what);
/* Fails at a token, as cri_reader_fail_at. */
cr_status cri_words_fail(cri_words *w, const cri_token *at, const char *format, ...)
    CR_PRINTF(3, 4);
/* A failure of a function called for a token, CR_EDATA or CR_EARG, gets the place of it. */
cr_status cri_words_place(cri_words *w, const cri_token *at, cr_status st);
/* Fails: there is no variable of this name; with the nearest. */
cr_status cri_words_no_variable(cri_words *w, const cri_token *at, const cr_network *net,
                                const char *name);
/* Fails: the variable has no state of this name; with the nearest. */
cr_status cri_words_no_state(cri_words *w, const cri_token *at, const cr_network *net, size_t v,
                             const char *name);

/* Adds the nearest name to the failure just recorded. */
cr_status cri_nearest_variable(cr_ctx *cx, const cr_network *net, const char *name);
cr_status cri_nearest_state(cr_ctx *cx, const cr_variables *vs, size_t v, const char *name);

/* --- lists of names -------------------------------------------------------------------------- */

/* Names that a file gives one after another. */
typedef struct cri_names {
    char **name; /* [n] of [capacity] */
    size_t n, capacity;
} cri_names;

cr_status cri_names_add(cr_ctx *cx, cri_names *names, const char *name, size_t length);
void      cri_names_clear(cr_ctx *cx, cri_names *names);
void      cri_names_free(cr_ctx *cx, cri_names *names);

/* Numbers likewise. */
typedef struct cri_numbers {
    double *value;
    size_t  n, capacity;
} cri_numbers;

cr_status cri_numbers_add(cr_ctx *cx, cri_numbers *numbers, double x);
void      cri_numbers_free(cr_ctx *cx, cri_numbers *numbers);

/* Where each variable stands in a file: its table; before that is met, itself. */
typedef struct cri_places {
    const char **from; /* [n]; NULL: nowhere */
    size_t       n;
} cri_places;

cr_status cri_places_set(cr_ctx *cx, cri_places *p, size_t v, const char *from);
void      cri_places_free(cr_ctx *cx, cri_places *p);
/* Is the network complete, without a cycle?  A failure has the place of a variable it is about; r
 * is a reader over the file. */
cr_status cri_check_placed(cri_reader *r, const cr_network *net, const cri_places *p);

/* --- conditional tables ---------------------------------------------------------------------- */

/* Fails with CR_EARG for a Markov network, which `format` cannot hold. */
cr_status cri_bayes_only(cr_ctx *cx, const cr_network *net, const char *format);
/* The sum of a row is near enough to one to be divided by it. */
bool cri_sums_to_one(double sum);

/* --- writing --------------------------------------------------------------------------------- */

/* Collects the first failure, so that lines of output read as lines. */
typedef struct cri_writer {
    cri_packed *file;
    cr_status   status;
} cri_writer;

void cri_put(cri_writer *w, const char *text);
void cri_put_n(cri_writer *w, const char *text, size_t length);
void cri_put_format(cri_writer *w, const char *format, ...) CR_PRINTF(2, 3);
void cri_put_number(cri_writer *w, double x);
/* A text in double quotes. */
void cri_put_quoted(cri_writer *w, const char *text);
/* Commits the file, or gives it up. */
cr_status cri_writer_close(cri_writer *w);

#endif
