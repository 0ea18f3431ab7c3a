/* complete.h -- the candidates for a word of the command line: what the parts of `complete`
 * share. */
#ifndef CREDENCE_CLI_VERBS_COMPLETE_H
#define CREDENCE_CLI_VERBS_COMPLETE_H

#include "../cli.h"

/* A word of the command line. */
typedef struct complete_word {
    char   *text;  /* without quotes                                    */
    size_t *place; /* [length + 1] where each character stands in raw   */
    char    quote; /* the one still open at the end, or '\0'            */
} complete_word;

/* What is known of the line when a word of it is to be completed. */
typedef struct complete_line {
    cli            *c;
    int             shell;
    const char     *raw; /* the word to complete, as typed */
    complete_word   word;
    const char     *value; /* the part of word.text that is the option's value, if it is one */
    const char     *piece; /* the part of that which is completed */
    const cli_verb *verb;
    const cr_model_class *model;
    const cr_option      *option;   /* whose value the word is; NULL for an argument or option */
    size_t                position; /* among the arguments of the verb */
    bool                  ended;    /* after --                        */
    bool                  lost;     /* there is no such verb           */
    cr_read_options       read;
    const char           *args[4];
    size_t                n_args;
} complete_line;

/* true when the candidate begins with the piece. */
bool complete_begins(const complete_line *l, const char *candidate);
/* Prints what was typed before the piece, and a candidate. */
void complete_print(const complete_line *l, const char *candidate, const char *meaning);
/* Prints it if it begins as typed. */
void complete_offer(const complete_line *l, const char *candidate, const char *meaning);
/* Offers a column, in a list with the quotes that it needs, unless the list has it; user is the
 * line. */
void complete_column(void *user, const char *name);
/* ~/x as the shell would have it; `out` is for that. */
const char *complete_home(const char *path, char out[1024]);

/* Offers what may stand in a question to the network that the first argument names
 * (complete_question.c). */
void complete_question(complete_line *l);
/* Offers the variables of that network as items of a list. */
void complete_variables(complete_line *l);

#endif
