/* parse_declaration.c -- what begins with a type: declarations and functions.
 *   real<lower=0> a, b[3];   array[N] vector[K] x;   ordered[2] mu ~ normal(0, 2);   real f(real x) { ... } */
#include "parser.h"

#include <string.h>

static bool is_one_of(const cri_lexer *w, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (cri_lexer_is(w, names[i])) return true;
    return false;
}

bool cri_parse_at_type(const cri_lexer *w)
{
    static const char *const TYPES[] = {
        "int",
        "real",
        "complex",
        "vector",
        "row_vector",
        "matrix",
        "simplex",
        "ordered",
        "positive_ordered",
        "sum_to_zero_vector",
        "unit_vector",
        "cov_matrix",
        "corr_matrix",
        "cholesky_factor_corr",
        "cholesky_factor_cov",
        "array",
    };
    return is_one_of(w, TYPES, sizeof TYPES / sizeof *TYPES);
}

/* "<lower=0, upper=1>", appended to `bounds`. */
static cr_status parse_bounds(cri_program_parser *p, cri_syntax *bounds)
{
    static const char *const BOUNDS[] = { "lower", "upper", "offset", "multiplier" };
    cr_status                st = CR_OK;
    cri_lexer               *w = &p->words;
    if (!cri_lexer_take(w, '<')) return CR_OK;
    do {
        cri_syntax *bound = cri_parse_node(p, CRI_SYN_BOUND), *value = NULL;
        if (!is_one_of(w, BOUNDS, sizeof BOUNDS / sizeof *BOUNDS))
            CR_TRY(cri_lexer_fail(w, &w->now,
                                  "expected 'lower', 'upper', 'offset' or "
                                  "'multiplier' between '<' and '>'"));
        if (bound) bound->text = cri_parse_copy(p);
        cri_lexer_next(w);
        if (w->now.kind != CRI_WORD_ASSIGN)
            CR_TRY(cri_lexer_fail(w, &w->now, "expected '=' after the name of a bound"));
        cri_lexer_next(w);
        CR_TRY(cri_parse_bound_value(p, &value));
        cri_parse_adopt(bound, value);
        cri_parse_close(p, bound);
        cri_parse_adopt(bounds, bound);
    } while (cri_lexer_take(w, ','));
    CR_TRY(cri_lexer_expect(w, '>', "to close the bounds"));
done:
    return st;
}

/* A type up to the names: array[N] vector<lower=0>[K]. */
static cr_status parse_type(cri_program_parser *p, cri_syntax *declare)
{
    cr_status   st = CR_OK;
    cri_lexer  *w = &p->words;
    cri_syntax *bounds = cri_parse_node(p, CRI_SYN_LIST), *sizes = cri_parse_node(p, CRI_SYN_LIST),
               *array = cri_parse_node(p, CRI_SYN_LIST);
    if (cri_lexer_is(w, "array")) {
        cri_lexer_next(w);
        CR_TRY(cri_lexer_expect(w, '[', "after 'array'"));
        CR_TRY(cri_parse_items(p, ']', true, "in the dimensions of the array", array));
    }
    if (!cri_parse_at_type(w) || cri_lexer_is(w, "array"))
        CR_TRY(cri_lexer_fail(w, &w->now, "expected a type: real, int, vector, matrix, ..."));
    if (declare) declare->text = cri_parse_copy(p);
    cri_lexer_next(w);
    CR_TRY(parse_bounds(p, bounds));
    if (cri_lexer_take(w, '['))
        CR_TRY(cri_parse_items(p, ']', true, "in the size of the type", sizes));
    cri_parse_adopt(declare, bounds);
    cri_parse_adopt(declare, sizes);
    cri_parse_adopt(declare, array);
done:
    return st;
}

/* A name that is declared: b[3] = 0, or mu ~ normal(0, 1). */
static cr_status parse_declared(cri_program_parser *p, cri_syntax *declare)
{
    cr_status   st = CR_OK;
    cri_lexer  *w = &p->words;
    char        shown[CRI_WORD_SHOWN];
    cri_syntax *name = cri_parse_node(p, CRI_SYN_DECLARED),
               *array = cri_parse_node(p, CRI_SYN_LIST), *value = NULL, *call = NULL;
    if (w->now.kind != CRI_WORD_NAME)
        CR_TRY(cri_lexer_fail(w, &w->now, "expected the name of what is declared, found %s",
                              cri_lexer_shown(&w->now, shown)));
    if (name) name->text = cri_parse_copy(p);
    cri_lexer_next(w);
    if (cri_lexer_take(w, '['))
        CR_TRY(cri_parse_items(p, ']', true, "in the dimensions of the array", array));
    cri_parse_close(p, name);
    if (w->now.kind == CRI_WORD_ASSIGN && w->now.sign == '=') {
        cri_lexer_next(w);
        CR_TRY(cri_parse_expression(p, &value));
    }
    if (cri_lexer_take(w, '~')) {
        if (w->now.kind != CRI_WORD_NAME)
            CR_TRY(cri_lexer_fail(w, &w->now, "expected a distribution after '~', found %s",
                                  cri_lexer_shown(&w->now, shown)));
        CR_TRY(cri_parse_call_of(p, &call));
    }
    cri_parse_adopt(name, array);
    cri_parse_adopt(name, value ? value : cri_parse_nothing(p));
    cri_parse_adopt(name, call ? call : cri_parse_nothing(p));
    cri_parse_adopt(declare, name);
done:
    return st;
}

/* What follows the type of a function: its name, its arguments, its body.  Types of arguments are
 * read over: what is given says them. */
cr_status cri_parse_function(cri_program_parser *p, bool is_void, cri_syntax **out)
{
    cr_status   st = CR_OK;
    cri_lexer  *w = &p->words;
    char        shown[CRI_WORD_SHOWN];
    cri_syntax *function = cri_parse_node(p, CRI_SYN_FUNCTION), *body = NULL;
    if (function) {
        function->text = cri_parse_copy(p);
        function->sign = is_void ? 'v' : 0;
    }
    cri_lexer_next(w);
    CR_TRY(cri_lexer_expect(w, '(', "after the name of a function"));
    while (!cri_lexer_take(w, ')')) {
        if (cri_lexer_is(w, "data")) cri_lexer_next(w);
        if (cri_lexer_is(w, "array")) {
            cri_lexer_next(w);
            CR_TRY(cri_lexer_expect(w, '[', "after 'array'"));
            while (cri_lexer_take(w, ',')) continue;
            CR_TRY(cri_lexer_expect(w, ']', "to close the dimensions"));
        }
        if (!cri_parse_at_type(w))
            CR_TRY(cri_lexer_fail(w, &w->now, "expected the type of an argument, found %s",
                                  cri_lexer_shown(&w->now, shown)));
        cri_lexer_next(w);
        if (cri_lexer_take(w, '[')) {
            while (cri_lexer_take(w, ',')) continue;
            CR_TRY(cri_lexer_expect(w, ']', "to close the dimensions"));
        }
        if (w->now.kind != CRI_WORD_NAME)
            CR_TRY(cri_lexer_fail(w, &w->now, "expected the name of an argument, found %s",
                                  cri_lexer_shown(&w->now, shown)));
        cri_syntax *argument = cri_parse_node(p, CRI_SYN_NAME);
        if (argument) argument->text = cri_parse_copy(p);
        cri_parse_adopt(function, argument);
        cri_lexer_next(w);
        if (cri_lexer_take(w, ',') || cri_lexer_at(w, ')')) continue;
        CR_TRY(cri_lexer_fail(w, &w->now, "expected ',' or ')' in the list of arguments, found %s",
                              cri_lexer_shown(&w->now, shown)));
    }
    if (cri_lexer_take(w, ';')) {
        *out = NULL; /* announced here, defined later */
        goto done;
    }
    CR_TRY(cri_parse_item(p, &body));
    cri_parse_adopt(function, body);
    cri_parse_close(p, function);
    *out = function;
done:
    return st;
}

cr_status cri_parse_declaration(cri_program_parser *p, cri_syntax **out)
{
    cr_status   st = CR_OK;
    cri_lexer  *w = &p->words;
    cri_syntax *declare = cri_parse_node(p, CRI_SYN_DECLARE);
    CR_TRY(parse_type(p, declare));
    const cri_word *ahead = cri_lexer_ahead(w);
    if (w->now.kind == CRI_WORD_NAME && ahead->kind == CRI_WORD_SIGN && ahead->sign == '(')
        return cri_parse_function(p, false, out);
    do {
        CR_TRY(parse_declared(p, declare));
    } while (cri_lexer_take(w, ','));
    CR_TRY(cri_parse_end(p));
    cri_parse_close(p, declare);
    *out = declare;
done:
    return st;
}
