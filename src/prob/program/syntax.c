/* syntax.c -- the tree: how it is built, walked and shown in failures. */
#include "parser.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

cri_syntax *cri_parse_node(cri_program_parser *p, cri_syntax_kind kind)
{
    cri_syntax *node = cr_scratch_bytes(&p->tree->memory, 1, sizeof *node);
    if (!node) return NULL;
    node->kind = kind;
    node->from = p->words.now.from;
    node->length = p->words.now.length;
    return node;
}

void cri_parse_adopt(cri_syntax *parent, cri_syntax *child)
{
    if (!parent || !child) return;
    if (parent->last)
        parent->last->next = child;
    else
        parent->child = child;
    parent->last = child;
}

void cri_parse_close(cri_program_parser *p, cri_syntax *node)
{
    if (node && p->words.last_end > node->from)
        node->length = (size_t)(p->words.last_end - node->from);
}

const char *cri_parse_copy(cri_program_parser *p)
{
    const cri_word *w = &p->words.now;
    char           *text = cr_scratch_bytes(&p->tree->memory, w->length + 1, 1);
    if (text) memcpy(text, w->from, w->length);
    return text;
}

cr_status cri_parse_deeper(cri_program_parser *p)
{
    if (++p->depth <= CRI_SYNTAX_DEPTH) return p->tree->memory.status;
    return cri_lexer_fail(&p->words, &p->words.now, "this is nested more than %d deep",
                          CRI_SYNTAX_DEPTH);
}

void cri_parse_skip_lines(cri_program_parser *p)
{
    while (p->words.now.kind == CRI_WORD_LINE) cri_lexer_next(&p->words);
}

cri_syntax *cri_syntax_child(const cri_syntax *node, size_t i)
{
    cri_syntax *child = node->child;
    while (child && i-- > 0) child = child->next;
    return child;
}

size_t cri_syntax_count(const cri_syntax *node)
{
    size_t n = 0;
    for (const cri_syntax *c = node->child; c; c = c->next) n++;
    return n;
}

cr_status cri_syntax_fail(cr_ctx *cx, const cri_syntax_tree *tree, const cri_syntax *node,
                          const char *format, ...)
{
    char       sentence[512];
    cri_reader r =
        cri_reader_open(cx, tree->source, tree->begin, (size_t)(tree->end - tree->begin));
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    while (r.at < node->from && r.at < r.end) cri_step(&r);
    return cri_reader_fail_at(&r, node->from, node->length, "%s", sentence);
}

cri_syntax *cri_parse_nothing(cri_program_parser *p)
{
    cri_syntax *node = cri_parse_node(p, CRI_SYN_NOTHING);
    if (node) node->length = 0;
    return node;
}
