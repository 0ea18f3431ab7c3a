/* parse_expression.c -- expressions, by the strength with which their operators bind.
 *   ?:   ||   &&   == !=   < <= > >=   + -   * / % %/%   \   .* ./   unary - + !   ^ .^   '  ( )  [ ]
 * from the weakest to the strongest; ^ and ?: group to the right, the others to the left. */
#include "parser.h"

static const struct {
    int sign, strength;
} BINARY[] = {
    { CRI_SIGN_OR, 1 },
    { CRI_SIGN_AND, 2 },
    { CRI_SIGN_EQUAL, 3 },
    { CRI_SIGN_UNEQUAL, 3 },
    { '<', 4 },
    { '>', 4 },
    { CRI_SIGN_AT_MOST, 4 },
    { CRI_SIGN_AT_LEAST, 4 },
    { '+', 5 },
    { '-', 5 },
    { CRI_SIGN_PLUS_EACH, 5 },
    { CRI_SIGN_MINUS_EACH, 5 },
    { '*', 6 },
    { '/', 6 },
    { '%', 6 },
    { CRI_SIGN_WHOLE_OVER, 6 },
    { '\\', 7 },
    { CRI_SIGN_TIMES_EACH, 8 },
    { CRI_SIGN_OVER_EACH, 8 },
    { '^', 10 },
    { CRI_SIGN_POWER_EACH, 10 },
};
enum { UNARY_STRENGTH = 9, POWER_STRENGTH = 10 };

static int strength_of(const cri_word *w)
{
    if (w->kind != CRI_WORD_SIGN) return 0;
    for (size_t i = 0; i < sizeof BINARY / sizeof *BINARY; i++)
        if (BINARY[i].sign == w->sign) return BINARY[i].strength;
    return 0;
}

/* --- calls, indices, brackets ---------------------------------------------------------------- */

/* An index: an expression, a slice low:high, or a bare ':'; also nothing, as in x[, 2]. */
static cr_status parse_index(cri_program_parser *p, cri_syntax **out)
{
    cr_status   st = CR_OK;
    cri_syntax *low = NULL, *high = NULL, *range;
    bool        empty = cri_lexer_at(&p->words, ',') || cri_lexer_at(&p->words, ']');
    if (empty || cri_lexer_at(&p->words, ':'))
        low = cri_parse_nothing(p);
    else
        CR_TRY(cri_parse_expression(p, &low));
    *out = low;
    if (empty || cri_lexer_at(&p->words, ':')) {
        range = cri_parse_node(p, CRI_SYN_RANGE);
        if (range && low && low->kind != CRI_SYN_NOTHING) range->from = low->from;
        if (!empty) cri_lexer_next(&p->words);
        if (empty || cri_lexer_at(&p->words, ',') || cri_lexer_at(&p->words, ']'))
            high = cri_parse_nothing(p);
        else
            CR_TRY(cri_parse_expression(p, &high));
        cri_parse_adopt(range, low);
        cri_parse_adopt(range, high);
        cri_parse_close(p, range);
        *out = range;
    }
done:
    return st;
}

cr_status cri_parse_items(cri_program_parser *p, char close, bool indices, const char *purpose,
                          cri_syntax *parent)
{
    cr_status st = CR_OK;
    char      shown[CRI_WORD_SHOWN];
    if (!indices && cri_lexer_take(&p->words, close)) return CR_OK;
    for (;;) {
        cri_syntax *item = NULL;
        if (indices)
            CR_TRY(parse_index(p, &item));
        else
            CR_TRY(cri_parse_expression(p, &item));
        cri_parse_adopt(parent, item);
        if (cri_lexer_take(&p->words, ',')) continue;
        if (!indices && close == ')' && parent && parent->bar == 0 &&
            cri_lexer_take(&p->words, '|')) {
            parent->bar = cri_syntax_count(parent);
            continue;
        }
        if (cri_lexer_take(&p->words, close)) break;
        CR_TRY(cri_lexer_fail(&p->words, &p->words.now, "expected ',' or '%c' %s, found %s", close,
                              purpose, cri_lexer_shown(&p->words.now, shown)));
    }
done:
    return st;
}

cr_status cri_parse_call_of(cri_program_parser *p, cri_syntax **out)
{
    cr_status   st = CR_OK;
    cri_syntax *call = cri_parse_node(p, CRI_SYN_CALL);
    if (call) call->text = cri_parse_copy(p);
    cri_lexer_next(&p->words);
    CR_TRY(cri_lexer_expect(&p->words, '(', "after the name of a function"));
    CR_TRY(cri_parse_items(p, ')', false, "in the list of arguments", call));
    cri_parse_close(p, call);
    *out = call;
done:
    return st;
}

static cr_status parse_bracketed(cri_program_parser *p, cri_syntax_kind kind, char close,
                                 cri_syntax **out)
{
    cr_status   st = CR_OK;
    cri_syntax *list = cri_parse_node(p, kind);
    cri_lexer_next(&p->words);
    CR_TRY(cri_parse_items(p, close, false, "in the list of values", list));
    cri_parse_close(p, list);
    *out = list;
done:
    return st;
}

static cr_status parse_primary(cri_program_parser *p, cri_syntax **out)
{
    cr_status   st = CR_OK;
    cri_lexer  *w = &p->words;
    cri_syntax *node = NULL;
    char        shown[CRI_WORD_SHOWN];
    cri_parse_skip_lines(p);
    if (w->now.kind == CRI_WORD_NUMBER) {
        node = cri_parse_node(p, CRI_SYN_NUMBER);
        if (node) node->number = w->now.number, node->whole = w->now.whole;
        cri_lexer_next(w);
    } else if (w->now.kind == CRI_WORD_TEXT) {
        node = cri_parse_node(p, CRI_SYN_TEXT);
        if (node) node->text = cri_parse_copy(p);
        cri_lexer_next(w);
    } else if (w->now.kind == CRI_WORD_NAME) {
        const cri_word *ahead = cri_lexer_ahead(w);
        if (ahead->kind == CRI_WORD_SIGN && ahead->sign == '(') {
            CR_TRY(cri_parse_call_of(p, &node));
        } else {
            node = cri_parse_node(p, CRI_SYN_NAME);
            if (node) node->text = cri_parse_copy(p);
            cri_lexer_next(w);
        }
    } else if (cri_lexer_take(w, '(')) {
        CR_TRY(cri_parse_expression(p, &node));
        CR_TRY(cri_lexer_expect(w, ')', "to close the parenthesis"));
    } else if (cri_lexer_at(w, '{')) {
        CR_TRY(parse_bracketed(p, CRI_SYN_ARRAY, '}', &node));
    } else if (cri_lexer_at(w, '[')) {
        CR_TRY(parse_bracketed(p, CRI_SYN_ROW, ']', &node));
    } else {
        CR_TRY(cri_lexer_fail(w, &w->now, "expected a number, a name or '(', found %s",
                              cri_lexer_shown(&w->now, shown)));
    }
    *out = node;
done:
    return st;
}

/* What follows a primary without an operator: x[i, 2:3], x'. */
static cr_status parse_postfix(cri_program_parser *p, cri_syntax **out)
{
    cr_status   st = CR_OK;
    cri_syntax *node = NULL, *outer;
    CR_TRY(parse_primary(p, &node));
    for (;;) {
        if (cri_lexer_at(&p->words, '[')) {
            outer = cri_parse_node(p, CRI_SYN_INDEX);
            cri_parse_adopt(outer, node);
            cri_lexer_next(&p->words);
            CR_TRY(cri_parse_items(p, ']', true, "in the list of indices", outer));
        } else if (cri_lexer_at(&p->words, '\'')) {
            outer = cri_parse_node(p, CRI_SYN_TRANSPOSE);
            cri_parse_adopt(outer, node);
            cri_lexer_next(&p->words);
        } else {
            break;
        }
        if (outer && node) outer->from = node->from;
        cri_parse_close(p, outer);
        node = outer;
    }
    *out = node;
done:
    return st;
}

/* --- operators ------------------------------------------------------------------------------- */

static cr_status parse_binary(cri_program_parser *p, int weakest, cri_syntax **out);

static cr_status parse_operand(cri_program_parser *p, cri_syntax **out)
{
    cr_status   st = CR_OK;
    cri_syntax *node;
    cri_parse_skip_lines(p);
    if (!cri_lexer_at(&p->words, '-') && !cri_lexer_at(&p->words, '+') &&
        !cri_lexer_at(&p->words, '!'))
        return parse_postfix(p, out);
    node = cri_parse_node(p, CRI_SYN_UNARY);
    if (node) node->sign = p->words.now.sign;
    cri_lexer_next(&p->words);
    cri_syntax *operand = NULL;
    CR_TRY(cri_parse_deeper(p));
    CR_TRY(parse_binary(p, UNARY_STRENGTH, &operand));
    p->depth--;
    cri_parse_adopt(node, operand);
    cri_parse_close(p, node);
    *out = node;
done:
    return st;
}

/* Operators that bind at least as strongly as `weakest`. */
static cr_status parse_binary(cri_program_parser *p, int weakest, cri_syntax **out)
{
    cr_status   st = CR_OK;
    cri_syntax *left = NULL, *right, *node;
    CR_TRY(parse_operand(p, &left));
    for (int strength; (strength = strength_of(&p->words.now)) >= weakest && strength > 0;) {
        node = cri_parse_node(p, CRI_SYN_BINARY);
        if (node) node->sign = p->words.now.sign;
        cri_lexer_next(&p->words);
        right = NULL;
        CR_TRY(cri_parse_deeper(p));
        CR_TRY(parse_binary(p, strength == POWER_STRENGTH ? UNARY_STRENGTH : strength + 1, &right));
        p->depth--;
        if (node && left) node->from = left->from;
        cri_parse_adopt(node, left);
        cri_parse_adopt(node, right);
        cri_parse_close(p, node);
        left = node;
    }
    *out = left;
done:
    return st;
}

cr_status cri_parse_expression(cri_program_parser *p, cri_syntax **out)
{
    cr_status   st = CR_OK;
    cri_syntax *node = NULL, *choice;
    CR_TRY(cri_parse_deeper(p));
    CR_TRY(parse_binary(p, 1, &node));
    if (cri_lexer_at(&p->words, '?')) {
        cri_syntax *yes = NULL, *no = NULL;
        choice = cri_parse_node(p, CRI_SYN_CHOICE);
        if (choice && node) choice->from = node->from;
        cri_lexer_next(&p->words);
        CR_TRY(cri_parse_expression(p, &yes));
        CR_TRY(cri_lexer_expect(&p->words, ':', "between the two values of '?'"));
        CR_TRY(cri_parse_expression(p, &no));
        cri_parse_adopt(choice, node);
        cri_parse_adopt(choice, yes);
        cri_parse_adopt(choice, no);
        cri_parse_close(p, choice);
        node = choice;
    }
    p->depth--;
    *out = node;
done:
    return st;
}

cr_status cri_parse_bound_value(cri_program_parser *p, cri_syntax **out)
{
    enum { ABOVE_COMPARISONS = 5 };
    return parse_binary(p, ABOVE_COMPARISONS, out);
}
