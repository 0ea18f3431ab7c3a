/* parser.h -- what the two halves of the parser, statements and expressions, share.  (Internal header.) */
#ifndef CREDENCE_PROB_PROGRAM_PARSER_H
#define CREDENCE_PROB_PROGRAM_PARSER_H

#include "lexer.h"

typedef struct cri_program_parser {
    cri_lexer        words;
    cri_syntax_tree *tree;
    size_t           depth; /* of what is being read inside of what                          */
} cri_program_parser;

/* A node that begins at the current word, with no children yet; NULL where memory is out. */
cri_syntax *cri_parse_node(cri_program_parser *p, cri_syntax_kind kind);
/* Appends a child; either may be NULL. */
void cri_parse_adopt(cri_syntax *parent, cri_syntax *child);
/* The node ends with the word before the current one. */
void cri_parse_close(cri_program_parser *p, cri_syntax *node);
/* The current word's text, in the tree. */
const char *cri_parse_copy(cri_program_parser *p);
/* One level deeper; fails beyond CRI_SYNTAX_DEPTH.  The caller takes it back. */
cr_status cri_parse_deeper(cri_program_parser *p);
/* A place left empty, before the current word. */
cri_syntax *cri_parse_nothing(cri_program_parser *p);
/* ';', the end of a line, or what closes the text or the block. */
cr_status cri_parse_end(cri_program_parser *p);
/* Steps over ends of lines. */
void cri_parse_skip_lines(cri_program_parser *p);

cr_status cri_parse_expression(cri_program_parser *p, cri_syntax **out);
/* The same without comparisons, whose '>' would be the one that closes <lower=0>. */
cr_status cri_parse_bound_value(cri_program_parser *p, cri_syntax **out);
/* name(arguments), the current word being the name. */
cr_status cri_parse_call_of(cri_program_parser *p, cri_syntax **out);
/* Expressions between the sign that was just taken and `close`, which is taken too; of indices,
 * slices and places left empty as well. */
cr_status cri_parse_items(cri_program_parser *p, char close, bool indices, const char *purpose,
                          cri_syntax *parent);
/* A statement; NULL for an empty one. */
cr_status cri_parse_item(cri_program_parser *p, cri_syntax **out);
/* Does a type begin here? */
bool cri_parse_at_type(const cri_lexer *w);
/* What begins with a type; NULL for a function that is announced only. */
cr_status cri_parse_declaration(cri_program_parser *p, cri_syntax **out);
/* What follows the type of a function: name(arguments) body. */
cr_status cri_parse_function(cri_program_parser *p, bool is_void, cri_syntax **out);

#endif
