/* parse.h -- reading kernel expressions: the parser, and the steps that its files share.
 * (Internal header.) */
#ifndef CREDENCE_MATH_KERNEL_PARSE_H
#define CREDENCE_MATH_KERNEL_PARSE_H

#include "kernel_internal.h"

enum {
    CRI_PARSE_NAME = 256,
    CRI_PARSE_FOUND = 48
}; /* room for a name, and for what is found in its place */

/* The end of a value: what else is known about a parameter. */
typedef struct cri_parse_ends {
    bool            fixed, bounded;
    double          lower, upper, prior_a, prior_b;
    cr_kernel_prior prior;
    const char     *bounds_at, *prior_at;
} cri_parse_ends;

typedef struct cri_parse_value {
    const char *at;
    bool        number; /* false: only its ends are given, name~prior(...) */
    double      x;

    cri_parse_ends ends;
} cri_parse_value;

typedef struct cri_parser {
    cr_ctx                  *cx;
    const char              *text, *at;
    const cr_kernel_columns *columns; /* may be NULL */
    cr_kernel               *k;
    cri_parse_value         *values; /* all that were read, waiting for their node */
    size_t                   n_values, value_capacity, depth;
} cri_parser;

/* What the parentheses of a kernel held, before it is made a node. */
typedef struct cri_parse_given {
    const char *where;    /* where it stands; NULL: not given */
    size_t      begin, n; /* of p->values                     */
} cri_parse_given;

/* --- words (parse_words.c) ------------------------------------------------------------------- */

/* Notes with the line that `at` is in, at most 72 characters of it, and a caret below. */
void cri_parse_show(cri_parser *p, const char *at);
/* A failure with that place. */
#define FAULT(p, where, ...)                                                                       \
    (cr_fail((p)->cx, CR_EARG, "kernel: " __VA_ARGS__), cri_parse_show((p), (where)), CR_EARG)

/* Past blanks. */
void cri_parse_blanks(cri_parser *p);
/* Past blanks, and the next character. */
char cri_parse_peek(cri_parser *p);
/* true, and past it, when the next character is c. */
bool cri_parse_accept(cri_parser *p, char c);
/* The same, and a fault when it is not. */
cr_status cri_parse_expect(cri_parser *p, char c, const char *why);
/* "the end", or the next word or character in quotes, for sentences. */
const char *cri_parse_found(cri_parser *p, char out[CRI_PARSE_FOUND]);
/* true for the first character of a bare word. */
bool cri_parse_begins_name(char c);
/* true for a further one. */
bool cri_parse_in_name(char c);
/* true when a number comes next. */
bool cri_parse_begins_number(cri_parser *p);
/* A bare word, or a text in double quotes in which a quote is written twice. */
cr_status cri_parse_name(cri_parser *p, const char *what, char out[CRI_PARSE_NAME],
                         bool *out_quoted);
/* A finite number. */
cr_status cri_parse_number(cri_parser *p, double *out);
/* true, and past it, when the next word is this one. */
bool cri_parse_word(cri_parser *p, const char *word);

/* Room in an array for one more than n. */
cr_status cri_parse_grow(cri_parser *p, void **array, size_t n, size_t *capacity, size_t size);
/* One more node of the kernel. */
cr_status cri_parse_add_node(cri_parser *p, cri_node node, size_t *out);
/* One more column that its nodes name. */
cr_status cri_parse_add_column(cri_parser *p, size_t index, const char *name);
/* One more parameter. */
cr_status cri_parse_add_param(cri_parser *p, cri_param param);

/* --- values (parse_values.c) ----------------------------------------------------------------- */

/* Reads a value, a list of values, or ends alone, into p->values. */
cr_status cri_parse_values(cri_parser *p, size_t *out_begin, size_t *out_n);
/* Adds a parameter; without a number it starts at the centre of its prior, moved into its
 * bounds. */
cr_status cri_parse_param(cri_parser *p, const cri_spec *spec, const cri_parse_value *v,
                          size_t node, size_t element);

/* --- kernels (parse_call.c, parse.c) --------------------------------------------------------- */

/* name(...)@[...] to a node. */
cr_status cri_parse_call(cri_parser *p, size_t *out);
/* constant(value): a plain number, or the amplitude that `variance=` stands for. */
cr_status cri_parse_constant(cri_parser *p, const cri_parse_given *g, size_t *out);
/* A whole expression to a node. */
cr_status cri_parse_sum(cri_parser *p, size_t *out);

#endif
