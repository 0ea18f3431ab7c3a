/* parse_statement.c -- statements and blocks, by recursive descent. */
#include "parser.h"

#include <string.h>

/* --- statements ------------------------------------------------------------------------------ */

/* ';', the end of a line, or what closes the text or the block. */
cr_status cri_parse_end(cri_program_parser *p)
{
    cri_lexer *w = &p->words;
    char       shown[CRI_WORD_SHOWN];
    if (cri_lexer_take(w, ';')) return CR_OK;
    if (w->now.kind == CRI_WORD_LINE || w->now.kind == CRI_WORD_END || cri_lexer_at(w, '}'))
        return w->r.status;
    return cri_lexer_fail(w, &w->now, "expected ';' or the end of the line, found %s",
                          cri_lexer_shown(&w->now, shown));
}

/* An expression in parentheses after a word of a '~' statement or of a loop. */
static cr_status parse_parenthesis(cri_program_parser *p, const char *purpose, cri_syntax **out)
{
    cr_status st = CR_OK;
    CR_TRY(cri_lexer_expect(&p->words, '(', purpose));
    CR_TRY(cri_parse_expression(p, out));
    CR_TRY(cri_lexer_expect(&p->words, ')', "to close the parenthesis"));
done:
    return st;
}

/* lhs ~ call T[low, high] censored(c) weights(w); the lhs is read. */
static cr_status parse_tilde(cri_program_parser *p, cri_syntax *lhs, cri_syntax **out)
{
    cr_status   st = CR_OK;
    cri_lexer  *w = &p->words;
    char        shown[CRI_WORD_SHOWN];
    cri_syntax *tilde = cri_parse_node(p, CRI_SYN_TILDE), *call = NULL, *low = NULL, *high = NULL,
               *censored = NULL, *weights = NULL;
    cri_lexer_next(w);
    const cri_word *ahead = cri_lexer_ahead(w);
    if (w->now.kind != CRI_WORD_NAME || ahead->kind != CRI_WORD_SIGN || ahead->sign != '(')
        CR_TRY(cri_lexer_fail(w, &w->now, "expected a distribution after '~', found %s",
                              cri_lexer_shown(&w->now, shown)));
    CR_TRY(cri_parse_call_of(p, &call));
    for (;;) {
        if (cri_lexer_is(w, "T") && !low) {
            if (tilde) tilde->whole = true;
            cri_lexer_next(w);
            CR_TRY(cri_lexer_expect(w, '[', "after 'T'"));
            if (cri_lexer_at(w, ','))
                low = cri_parse_nothing(p);
            else
                CR_TRY(cri_parse_expression(p, &low));
            CR_TRY(cri_lexer_expect(w, ',', "between the bounds of 'T'"));
            if (cri_lexer_at(w, ']'))
                high = cri_parse_nothing(p);
            else
                CR_TRY(cri_parse_expression(p, &high));
            CR_TRY(cri_lexer_expect(w, ']', "to close the bounds of 'T'"));
        } else if (cri_lexer_is(w, "censored") && !censored) {
            cri_lexer_next(w);
            CR_TRY(parse_parenthesis(p, "after 'censored'", &censored));
        } else if (cri_lexer_is(w, "weights") && !weights) {
            cri_lexer_next(w);
            CR_TRY(parse_parenthesis(p, "after 'weights'", &weights));
        } else {
            break;
        }
    }
    CR_TRY(cri_parse_end(p));
    cri_parse_adopt(tilde, lhs);
    cri_parse_adopt(tilde, call);
    cri_parse_adopt(tilde, low ? low : cri_parse_nothing(p));
    cri_parse_adopt(tilde, high ? high : cri_parse_nothing(p));
    cri_parse_adopt(tilde, censored ? censored : cri_parse_nothing(p));
    cri_parse_adopt(tilde, weights ? weights : cri_parse_nothing(p));
    if (tilde && lhs) tilde->from = lhs->from;
    cri_parse_close(p, tilde);
    *out = tilde;
done:
    return st;
}

static cr_status parse_for(cri_program_parser *p, cri_syntax **out)
{
    cr_status   st = CR_OK;
    cri_lexer  *w = &p->words;
    char        shown[CRI_WORD_SHOWN];
    cri_syntax *loop = cri_parse_node(p, CRI_SYN_FOR), *over = NULL, *high = NULL, *body = NULL;
    cri_lexer_next(w);
    CR_TRY(cri_lexer_expect(w, '(', "after 'for'"));
    if (w->now.kind != CRI_WORD_NAME)
        CR_TRY(cri_lexer_fail(w, &w->now, "expected the name of the index of the loop, found %s",
                              cri_lexer_shown(&w->now, shown)));
    if (loop) loop->text = cri_parse_copy(p);
    cri_lexer_next(w);
    if (!cri_lexer_is(w, "in"))
        CR_TRY(cri_lexer_fail(w, &w->now, "expected 'in' after the index of the loop, found %s",
                              cri_lexer_shown(&w->now, shown)));
    cri_lexer_next(w);
    CR_TRY(cri_parse_expression(p, &over));
    if (cri_lexer_at(w, ':')) {
        cri_syntax *range = cri_parse_node(p, CRI_SYN_RANGE);
        cri_lexer_next(w);
        CR_TRY(cri_parse_expression(p, &high));
        if (range && over) range->from = over->from;
        cri_parse_adopt(range, over);
        cri_parse_adopt(range, high);
        cri_parse_close(p, range);
        over = range;
    }
    CR_TRY(cri_lexer_expect(w, ')', "to close the head of the loop"));
    CR_TRY(cri_parse_item(p, &body));
    cri_parse_adopt(loop, over);
    cri_parse_adopt(loop, body);
    cri_parse_close(p, loop);
    *out = loop;
done:
    return st;
}

/* if and while */
static cr_status parse_conditional(cri_program_parser *p, cri_syntax_kind kind, cri_syntax **out)
{
    cr_status   st = CR_OK;
    cri_lexer  *w = &p->words;
    cri_syntax *node = cri_parse_node(p, kind), *condition = NULL, *body = NULL, *other = NULL;
    cri_lexer_next(w);
    CR_TRY(parse_parenthesis(p, kind == CRI_SYN_IF ? "after 'if'" : "after 'while'", &condition));
    CR_TRY(cri_parse_item(p, &body));
    cri_parse_adopt(node, condition);
    cri_parse_adopt(node, body);
    if (kind == CRI_SYN_IF) {
        while (w->now.kind == CRI_WORD_LINE && cri_lexer_ahead(w)->kind == CRI_WORD_NAME &&
               w->ahead.length == 4 && memcmp(w->ahead.from, "else", 4) == 0)
            cri_lexer_next(w);
        if (cri_lexer_is(w, "else")) {
            cri_lexer_next(w);
            CR_TRY(cri_parse_item(p, &other));
        }
        cri_parse_adopt(node, other ? other : cri_parse_nothing(p));
    }
    cri_parse_close(p, node);
    *out = node;
done:
    return st;
}

/* Items up to the '}' that closes, which is taken. */
static cr_status parse_body(cri_program_parser *p, cri_syntax *body)
{
    cr_status   st = CR_OK;
    cri_lexer  *w = &p->words;
    cri_syntax *item;
    while (!cri_lexer_take(w, '}')) {
        if (w->now.kind == CRI_WORD_END) {
            CR_TRY(w->r.status);
            CR_TRY(cri_lexer_fail(w, &w->now, "expected '}' to close what '{' opened"));
        }
        item = NULL;
        CR_TRY(cri_parse_item(p, &item));
        cri_parse_adopt(body, item);
    }
    cri_parse_close(p, body);
done:
    return st;
}

/* lhs = expr, lhs += expr, lhs ~ call, or a call for what it does. */
static cr_status parse_simple(cri_program_parser *p, cri_syntax **out)
{
    cr_status   st = CR_OK;
    cri_lexer  *w = &p->words;
    char        shown[CRI_WORD_SHOWN];
    cri_syntax *lhs = NULL, *rhs = NULL, *node;
    bool target = cri_lexer_is(w, "target"), log_prob = cri_lexer_is(w, "increment_log_prob");
    CR_TRY(cri_parse_expression(p, &lhs));
    if (cri_lexer_at(w, '~')) return parse_tilde(p, lhs, out);
    if (w->now.kind == CRI_WORD_ASSIGN) {
        node = cri_parse_node(p, target && w->now.sign == '+' ? CRI_SYN_TARGET : CRI_SYN_ASSIGN);
        if (node) node->sign = w->now.sign;
        if (lhs && lhs->kind != CRI_SYN_NAME && lhs->kind != CRI_SYN_INDEX)
            CR_TRY(cri_syntax_fail(w->r.cx, p->tree, lhs,
                                   "a value can only be assigned to a name or to a part of one"));
        cri_lexer_next(w);
        CR_TRY(cri_parse_expression(p, &rhs));
        if (node && node->kind == CRI_SYN_ASSIGN) cri_parse_adopt(node, lhs);
        cri_parse_adopt(node, rhs);
    } else if (lhs && lhs->kind == CRI_SYN_CALL) {
        node = cri_parse_node(p, log_prob ? CRI_SYN_TARGET : CRI_SYN_RUN);
        cri_parse_adopt(node, log_prob ? lhs->child : lhs);
    } else {
        CR_TRY(w->r.status);
        CR_TRY(cri_lexer_fail(w, &w->now, "expected '~' or '=', found %s",
                              cri_lexer_shown(&w->now, shown)));
        goto done;
    }
    if (node && lhs) node->from = lhs->from;
    cri_parse_close(p, node);
    CR_TRY(cri_parse_end(p));
    *out = node;
done:
    return st;
}

static cr_status parse_word_statement(cri_program_parser *p, cri_syntax_kind kind, cri_syntax **out)
{
    cr_status   st = CR_OK;
    cri_lexer  *w = &p->words;
    cri_syntax *node = cri_parse_node(p, kind), *value = NULL;
    cri_lexer_next(w);
    if (kind == CRI_SYN_RETURN && !cri_lexer_at(w, ';') && w->now.kind != CRI_WORD_LINE)
        CR_TRY(cri_parse_expression(p, &value));
    if (kind == CRI_SYN_RETURN) cri_parse_adopt(node, value ? value : cri_parse_nothing(p));
    cri_parse_close(p, node);
    CR_TRY(cri_parse_end(p));
    *out = node;
done:
    return st;
}

static cr_status parse_item_at(cri_program_parser *p, cri_syntax **out)
{
    cri_lexer *w = &p->words;
    if (cri_lexer_at(w, '{')) {
        cri_syntax *body = cri_parse_node(p, CRI_SYN_BODY);
        cri_lexer_next(w);
        *out = body;
        return parse_body(p, body);
    }
    if (cri_lexer_is(w, "for")) return parse_for(p, out);
    if (cri_lexer_is(w, "if")) return parse_conditional(p, CRI_SYN_IF, out);
    if (cri_lexer_is(w, "while")) return parse_conditional(p, CRI_SYN_WHILE, out);
    if (cri_lexer_is(w, "return")) return parse_word_statement(p, CRI_SYN_RETURN, out);
    if (cri_lexer_is(w, "break")) return parse_word_statement(p, CRI_SYN_BREAK, out);
    if (cri_lexer_is(w, "continue")) return parse_word_statement(p, CRI_SYN_CONTINUE, out);
    if (cri_lexer_is(w, "void")) {
        cri_lexer_next(w);
        return cri_parse_function(p, true, out);
    }
    if (cri_parse_at_type(w)) return cri_parse_declaration(p, out);
    return parse_simple(p, out);
}

cr_status cri_parse_item(cri_program_parser *p, cri_syntax **out)
{
    cr_status st = CR_OK;
    *out = NULL;
    cri_parse_skip_lines(p);
    CR_TRY(cri_parse_deeper(p));
    if (!cri_lexer_take(&p->words, ';')) CR_TRY(parse_item_at(p, out));
    p->depth--;
    cri_parse_skip_lines(p);
done:
    return st;
}

/* --- the program ----------------------------------------------------------------------------- */

/* The length of the name of the block that begins here, in words of one blank; 0: none does. */
static bool take_block_name(cri_program_parser *p, const char **out_name)
{
    static const char *const BLOCKS[] = { "functions",
                                          "data",
                                          "transformed data",
                                          "parameters",
                                          "transformed parameters",
                                          "model",
                                          "generated quantities" };
    cri_lexer               *w = &p->words;
    const cri_word          *ahead = cri_lexer_ahead(w);
    for (size_t i = 0; i < sizeof BLOCKS / sizeof *BLOCKS; i++) {
        const char *blank = strchr(BLOCKS[i], ' ');
        size_t      n = blank ? (size_t)(blank - BLOCKS[i]) : strlen(BLOCKS[i]);
        if (w->now.length != n || memcmp(w->now.from, BLOCKS[i], n) != 0) continue;
        if (!blank && !(ahead->kind == CRI_WORD_SIGN && ahead->sign == '{')) continue;
        if (blank && !(ahead->kind == CRI_WORD_NAME && ahead->length == strlen(blank + 1) &&
                       memcmp(ahead->from, blank + 1, ahead->length) == 0))
            continue;
        if (blank) cri_lexer_next(w);
        *out_name = BLOCKS[i];
        return true;
    }
    return false;
}

static cr_status parse_program(cri_program_parser *p)
{
    cr_status   st = CR_OK;
    cri_lexer  *w = &p->words;
    cri_syntax *item;
    const char *name;
    p->tree->root = cri_parse_node(p, CRI_SYN_LIST);
    for (cri_parse_skip_lines(p); w->now.kind != CRI_WORD_END; cri_parse_skip_lines(p)) {
        CR_TRY(p->tree->memory.status);
        if (w->now.kind == CRI_WORD_NAME && take_block_name(p, &name)) {
            item = cri_parse_node(p, CRI_SYN_BLOCK);
            if (item) item->text = name;
            cri_lexer_next(w);
            CR_TRY(cri_lexer_expect(w, '{', "after the name of a block"));
            CR_TRY(parse_body(p, item));
            p->tree->has_blocks = true;
        } else {
            CR_TRY(cri_parse_item(p, &item));
        }
        cri_parse_adopt(p->tree->root, item);
    }
    CR_TRY(w->r.status);
    CR_TRY(p->tree->memory.status);
done:
    return st;
}

cr_status cri_syntax_read(cr_ctx *cx, const char *source, const char *text, size_t size,
                          cri_syntax_tree *out_tree)
{
    cr_status       st = CR_OK;
    cri_syntax_tree tree = {
        .memory = cr_scratch_begin(cx), .source = source, .begin = text, .end = text + size
    };
    cri_program_parser p = { .words = cri_lexer_open(cx, source, text, size), .tree = &tree };
    CR_TRY(p.words.r.status);
    CR_TRY(parse_program(&p));
    *out_tree = tree;
    return CR_OK;
done:
    cr_scratch_end(&tree.memory);
    return st;
}

void cri_syntax_free(cri_syntax_tree *tree)
{
    cr_scratch_end(&tree->memory);
    *tree = (cri_syntax_tree){ 0 };
}
