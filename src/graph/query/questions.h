/* questions.h -- the questions to networks: each is a row of one table.
 * From a row come the parser, the answer of both kinds of network, the sheet of the answer with its
 * schema, hints and completion.  A new question is a kind (query.h), a row, and the functions it
 * names; text, CSV and JSON follow from the fields that it shows.  (Internal header.) */
#ifndef CREDENCE_GRAPH_QUERY_QUESTIONS_H
#define CREDENCE_GRAPH_QUERY_QUESTIONS_H

#include "gaussian_query.h"
#include "query_items.h"
#include "query_job.h"
#include "base/sheet.h"

/* A question to a Gaussian network that is being answered (gaussian_query.c). */
typedef struct cri_normal cri_normal;

/* What an answer is written with. */
typedef struct cri_answer_words {
    const cr_variables *variables;
    const cr_network   *net;   /* NULL: a Gaussian network */
    const char         *unit;  /* of H and I */
    double              per;   /* nats in one unit */
    bool                plans; /* the plan is told too */
} cri_answer_words;

/* What may stand behind the bar. */
typedef enum cri_given {
    CRI_GIVEN_NOTHING, /* there is no bar */
    CRI_GIVEN_EVIDENCE,
    CRI_GIVEN_VARIABLES /* variables too: averaged over, or given whatever their states */
} cri_given;

typedef cr_status cri_question_parse(cri_asking *p);
typedef cr_status cri_question_answer(cri_job *j);
typedef cr_status cri_question_normal(cri_normal *j);
typedef void cri_question_put(const cri_answer_words *w, const cr_query_answer *a, cri_sheet *out);

typedef struct cri_question_row {
    const char *name;   /* the word before the parenthesis; NULL: x _|_ y */
    const char *syntax; /* an example for hints; NULL: not named there */
    const char *typed;  /* what completion offers; NULL: a row before has the same word */
    const char *help;   /* its meaning, in a few words */
    const char *others; /* what others call it, in small letters, blanks between; may be NULL */
    cri_given   given;
    bool        graph;  /* the graph answers, without an engine */
    bool        arrows; /* of arrows: a Markov network has none */
    /* Reads what stands between the parenthesis and the bar; may change the kind of the question. */
    cri_question_parse  *parse;
    cri_question_answer *answer; /* of a network of states */
    cri_question_normal *normal; /* of a Gaussian network; NULL: it has no answer */
    /* The values of an answer, under names of `cri_answer_fields`. */
    cri_question_put *put;
    /* The names of these, blanks between.  The first that is there is the answer itself: what CSV
     * has as rows and people see; the others stand beside it. */
    const char *shows;
    const char *none; /* for people: why a list is empty; NULL: that says nothing */
} cri_question_row;

/* The row of a kind. */
const cri_question_row *cri_question_of(cr_question_kind kind);

/* "questions are P(x | e), argmax(x | e), ...": a hint. */
cr_status cri_hint_questions(cr_ctx *cx);
/* Is this one of the words of a list with blanks between?  Capital letters count as small ones. */
bool cri_is_listed_word(const char *list, const char *word, size_t n);

/* --- answers as sheets (answer_fields.c, answer_sheet.c) -------------------------------------- */

extern const cr_field cri_answer_fields[];      /* of one answer */
extern const cr_field cri_approximate_fields[]; /* of its "error" */
extern const cr_field cri_comparison_fields[];  /* of its "comparison" */

/* One answer: the question, how it was computed, the values, the errors, the cost. */
void cri_answer_put(const cri_answer_words *w, const char *text, const cr_query_answer *a,
                    cri_sheet *out);
/* What the time limit has ended, by its report: "sweeps", "steps" or "samples". */
const char *cri_steps_name(const cr_approximate_report *r);
/* Warns where it is not exact, or not certain; `text` is the question. */
void cri_answer_warn(cr_ctx *cx, const char *text, const cr_query_answer *a);
/* The value that is the answer itself; NULL: it has none. */
const cri_sheet *cri_answer_value(cr_question_kind kind, const cri_sheet *answer);
/* How good an answer is: of H and I the standard error in their unit. */
cr_approximate_report cri_answer_report(const cri_answer_words *w, const cr_query_answer *a);
/* "residual": ..., "standard_error": ...: what the method has. */
void cri_put_approximate(const cr_approximate_report *r, cri_sheet *out);
/* A list of the names of variables. */
void cri_put_names(cri_sheet *out, const char *name, const cr_variables *vs, const size_t *list,
                   size_t n);

/* --- the functions that rows name ------------------------------------------------------------ */

cri_question_put cri_put_table, cri_put_marginals, cri_put_probability, cri_put_best,
    cri_put_best_list, cri_put_information, cri_put_informative, cri_put_causes,
    cri_put_sensitivity, cri_put_separation, cri_put_list_of_names, cri_put_sets, cri_put_flag_only,
    cri_put_imap;
/* query_parse.c */
cri_question_parse cri_read_probability, cri_read_best, cri_read_best_list, cri_read_names,
    cri_read_information, cri_read_sensitivity, cri_read_separation, cri_read_nothing,
    cri_read_path;
/* query.c, query_information.c, query_structure.c; `list` is best(), causes(), sensitivity() */
cri_question_answer cri_answer_table, cri_answer_marginals, cri_answer_probability, cri_answer_best,
    cri_answer_list, cri_answer_separation, cri_answer_relatives, cri_answer_order,
    cri_answer_moral, cri_answer_cliques, cri_answer_chordal, cri_answer_imap;
/* gaussian_query.c */
cri_question_normal cri_normal_table, cri_normal_marginals, cri_normal_density, cri_normal_best,
    cri_normal_entropy, cri_normal_information, cri_normal_informative, cri_normal_separation;

/* The variables of an answer: a copy of the list. */
cr_status cri_answer_name(cr_ctx *cx, cr_query_answer *out, size_t n, const size_t *list);

#endif
