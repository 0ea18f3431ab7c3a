/* syntax.h -- the text of a program as a tree.
 *
 *     y ~ normal(a + b * x, s)        TILDE( NAME y, CALL normal( PLUS(NAME a, TIMES(NAME b, NAME x)), NAME s ) )
 *
 * Stan's statements and expressions; blocks may be there or not, and outside of blocks and brackets
 * the end of a line ends a statement.  The tree says how a text is put together and nothing else:
 * what its names mean is for the binder.  Each node keeps the words it was read from, so that any
 * later failure can point at them.
 *   program := { block | item }        block := ("data" | "parameters" | "model" | ...) "{" { item } "}"
 *   item    := declaration | lhs "=" expr end | lhs "~" call tail end | "target" "+=" expr end
 *            | "for" "(" name "in" expr [":" expr] ")" item | "if" "(" expr ")" item ["else" item]
 *            | "while" "(" expr ")" item | function | "{" { item } "}" | call end
 *   tail    := ["T" "[" [expr] "," [expr] "]"] ["censored" "(" expr ")"] ["weights" "(" expr ")"]
 * Stan reference manual 2.35, "Language Syntax".  (Internal header.) */
#ifndef CREDENCE_PROB_PROGRAM_SYNTAX_H
#define CREDENCE_PROB_PROGRAM_SYNTAX_H

#include "base/scratch.h"

typedef enum cri_syntax_kind {
    /* expressions */
    CRI_SYN_NUMBER,    /* number; `whole` if written as an integer                          */
    CRI_SYN_TEXT,      /* "...": in print and reject only                                   */
    CRI_SYN_NAME,      /* text                                                              */
    CRI_SYN_CALL,      /* text (arguments...); `bar` if f(a | b): so many before the bar    */
    CRI_SYN_INDEX,     /* base, one child per index                                         */
    CRI_SYN_RANGE,     /* low, high; of a slice `:` either may be NOTHING                   */
    CRI_SYN_NOTHING,   /* a place left empty                                                */
    CRI_SYN_UNARY,     /* sign, operand                                                     */
    CRI_SYN_BINARY,    /* sign, left, right                                                 */
    CRI_SYN_CHOICE,    /* condition ? then : else                                           */
    CRI_SYN_TRANSPOSE, /* operand'                                                          */
    CRI_SYN_ARRAY,     /* {a, b, c}                                                         */
    CRI_SYN_ROW,       /* [a, b, c]                                                         */
    /* statements */
    CRI_SYN_BLOCK,    /* text = its name; items                                             */
    CRI_SYN_DECLARE,  /* text = type; LIST of BOUNDs, LIST of sizes, LIST of array
                       * dimensions, then a DECLARED for each name                          */
    CRI_SYN_BOUND,    /* text = lower, upper, offset or multiplier; expr                    */
    CRI_SYN_DECLARED, /* text = name; LIST of dimensions after the name, then the value
                       * or NOTHING, then the call of a '~' or NOTHING                      */
    CRI_SYN_LIST,     /* children                                                           */
    CRI_SYN_ASSIGN,   /* lhs, rhs; sign '=', or that of +=, -=, ...                         */
    CRI_SYN_TILDE,    /* lhs, call, low, high, censored, weights (NOTHING where left out);
                       * `whole` if T[...] was written                                      */
    CRI_SYN_TARGET,   /* expr                                                               */
    CRI_SYN_FOR,      /* text = index; RANGE or a list to walk over; body                   */
    CRI_SYN_IF,       /* condition, then, else or NOTHING                                   */
    CRI_SYN_WHILE,    /* condition, body                                                    */
    CRI_SYN_BODY,     /* items                                                              */
    CRI_SYN_FUNCTION, /* text = name; a NAME per argument, then BODY; sign 'v' if void      */
    CRI_SYN_RETURN,   /* expr or NOTHING                                                    */
    CRI_SYN_BREAK,
    CRI_SYN_CONTINUE,
    CRI_SYN_RUN, /* a call for what it does: print, reject                             */
} cri_syntax_kind;

/* Signs of operators of more than one character; those of one stand for themselves. */
enum cri_syntax_sign {
    CRI_SIGN_OR = 256,
    CRI_SIGN_AND,
    CRI_SIGN_EQUAL,
    CRI_SIGN_UNEQUAL,
    CRI_SIGN_AT_MOST,
    CRI_SIGN_AT_LEAST,
    CRI_SIGN_TIMES_EACH, /* .* */
    CRI_SIGN_OVER_EACH,  /* ./ */
    CRI_SIGN_POWER_EACH, /* .^ */
    CRI_SIGN_PLUS_EACH,  /* .+ */
    CRI_SIGN_MINUS_EACH, /* .- */
    CRI_SIGN_WHOLE_OVER, /* %/% */
};

typedef struct cri_syntax cri_syntax;
struct cri_syntax {
    cri_syntax_kind kind;
    int             sign;
    bool            whole;
    size_t          bar;
    double          number;
    const char     *text; /* ends with '\0'; of the tree                           */
    const char     *from; /* the words it was read from: [from, from + length)     */
    size_t          length;
    cri_syntax *child, *last, *next; /* the first and the last child; the next of the parent    */
};

/* A text and its tree; `root` is a LIST of items. */
typedef struct cri_syntax_tree {
    cr_scratch  memory;
    const char *source, *begin, *end; /* the text itself is the caller's                    */
    cri_syntax *root;
    bool        has_blocks;
} cri_syntax_tree;

enum { CRI_SYNTAX_DEPTH = 200 };

/* Reads [text, text + size), called `source` in failures; both stay the caller's and must outlive
 * the tree.  O(size).  Fails with CR_EDATA at the first word that does not fit. */
cr_status cri_syntax_read(cr_ctx *cx, const char *source, const char *text, size_t size,
                          cri_syntax_tree *out_tree);
void      cri_syntax_free(cri_syntax_tree *tree);

/* The i-th child, or NULL; how many there are. */
cri_syntax *cri_syntax_child(const cri_syntax *node, size_t i);
size_t      cri_syntax_count(const cri_syntax *node);
/* A failure that shows the node's line with a caret under its words. */
cr_status cri_syntax_fail(cr_ctx *cx, const cri_syntax_tree *tree, const cri_syntax *node,
                          const char *format, ...) CR_PRINTF(4, 5);

#endif
