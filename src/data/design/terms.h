/* terms.h -- what --terms says: which functions and interactions of columns a model sees.
 *
 *     terms    :=  item { (',' | '+' | '-') item }     '-' takes the term behind it away again
 *     item     :=  product | '.' | '(' '1' '|' NAME ')'
 *     product  :=  crossed { '*' crossed }             a*b is a, b and a:b
 *     crossed  :=  atom { ':' atom }                   a:b is the product of a and b
 *     atom     :=  primary [ '^' K ] | '1/' atom
 *     primary  :=  NAME | FUNCTION '(' atom { ',' ARGUMENT } ')'
 *
 * A NAME is letters, digits, '_' and '.', and does not begin with a digit; any other name is written
 * in double quotes, in which a quote is written twice.  '.' is every feature, as a term each; a list
 * that begins with '-' begins with all of them.  FUNCTION is a function of numbers (log, log1p, log2,
 * log10, exp, sqrt, square, abs, inverse), one of the calendar (year, month, weekday, dayofyear,
 * hour), I, which changes nothing, or a basis of basis.h with its numbers: poly(z,2),
 * bspline(x,8,degree=2), fourier(t,3,365.25).  (1 | zip) is a varying intercept.
 *
 * As in R, terms are in the order of how many columns they multiply, each once, and a category in an
 * interaction goes without its reference level where the interaction without this category is there
 * too; else it has all levels.  Other than in R, x^2 is the square of x.  (Internal header.) */
#ifndef CREDENCE_DATA_DESIGN_TERMS_H
#define CREDENCE_DATA_DESIGN_TERMS_H

#include "base/scratch.h"

enum {
    CRI_MOST_FACTORS = 8, /* that one term multiplies     */
    CRI_MOST_STEPS = 8,   /* functions within each other  */
    CRI_MOST_ITEMS = 5000 /* of one text                  */
};

typedef enum cri_function {
    CRI_FUNCTION_SELF,
    CRI_FUNCTION_LOG,
    CRI_FUNCTION_LOG1P,
    CRI_FUNCTION_LOG2,
    CRI_FUNCTION_LOG10,
    CRI_FUNCTION_EXP,
    CRI_FUNCTION_SQRT,
    CRI_FUNCTION_ABS,
    CRI_FUNCTION_INVERSE,
    CRI_FUNCTION_POWER,
    CRI_FUNCTION_YEAR, /* from here on of dates */
    CRI_FUNCTION_MONTH,
    CRI_FUNCTION_WEEKDAY,
    CRI_FUNCTION_DAYOFYEAR,
    CRI_FUNCTION_HOUR,
    CRI_FUNCTIONS
} cri_function;

/* "log", ... */
const char *cri_function_name(cri_function function);

/* One function of what is inside it. */
typedef struct cri_term_step {
    cri_function function;
    unsigned     power; /* of POWER: 2 .. CRI_MOST_POWERS */
} cri_term_step;

/* Where the values of an atom are, once its table is known: powers, functions of a basis or levels
 * first .. n - 1 of a column of the design. */
typedef struct cri_place {
    size_t index;  /* of its column in the table */
    size_t column; /* of the design              */
    size_t first, n;
    bool   category;
} cri_place;

/* A column, the functions around it, the innermost first, and the basis of their value. */
typedef struct cri_atom {
    const char   *column;
    cri_term_step steps[CRI_MOST_STEPS];
    size_t        n_steps;
    const char   *basis; /* "bspline:8" as --basis writes it; NULL = none */
    const char   *name;  /* the same for the same atom, and for no other  */
    cri_place     place;
} cri_atom;

typedef enum cri_term_item_kind {
    CRI_ITEM_TERM,
    CRI_ITEM_ALL,
    CRI_ITEM_VARYING
} cri_term_item_kind;

/* What is added or, with `minus`, taken away: the product of atoms; all features; or a varying
 * intercept, whose groups are the levels of column atoms[0]. */
typedef struct cri_term_item {
    cri_term_item_kind kind;
    bool               minus;
    cri_atom          *atoms[CRI_MOST_FACTORS];
    size_t             n;
} cri_term_item;

typedef struct cri_terms {
    cri_term_item *items; /* [n] as written, with each '*' multiplied out */
    size_t         n;
} cri_terms;

/* Reads a text; all memory is the arena's.  CR_EARG, with the place, for one that is not of the
 * grammar above.  Its columns are not looked for.  O(length). */
cr_status cri_terms_parse(cr_scratch *s, const char *text, cri_terms *out);

/* "log(x)": the column with the first n_steps of its functions, in the arena. */
const char *cri_atom_name(cr_scratch *s, const cri_atom *atom, size_t n_steps);
/* Whether an item is one column as it is. */
bool cri_term_item_is_plain(const cri_term_item *item);
/* Whether two items have the same atoms, in any order. */
bool cri_term_item_same(const cri_term_item *a, const cri_term_item *b);

#endif
