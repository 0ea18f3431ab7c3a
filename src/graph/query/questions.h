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
    const cr_network   *net;  /* NULL: a Gaussian network */
    const char         *unit; /* of H and I */
    double              per;  /* nats in one unit */
} cri_answer_words;

/* What may stand behind the bar. */
typedef enum cri_given {
    CRI_GIVEN_NOTHING, /* there is no bar */
    CRI_GIVEN_EVIDENCE,
    CRI_GIVEN_VARIABLES /* variables too: averaged over, or given whatever their states */
} cri_given;

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
    cr_status (*parse)(cri_asking *p);
    cr_status (*answer)(cri_job *j);    /* of a network of states */
    cr_status (*normal)(cri_normal *j); /* of a Gaussian network; NULL: it has no answer */
    /* The values of an answer, under names of `cri_answer_fields`. */
    void (*put)(const cri_answer_words *w, const cr_query_answer *a, cri_sheet *out);
    /* The names of these, blanks between.  The first that is there is the answer itself: what CSV
     * has as rows and people see; the others stand beside it. */
    const char *shows;
} cri_question_row;

/* The row of a kind. */
const cri_question_row *cri_question_of(cr_question_kind kind);

/* "questions are P(x | e), argmax(x | e), ...": a hint. */
cr_status cri_hint_questions(cr_ctx *cx);
/* Is this one of the words of a list with blanks between?  Capital letters count as small ones. */
bool cri_is_listed_word(const char *list, const char *word, size_t n);

/* --- answers as sheets (answer_sheet.c) ------------------------------------------------------ */

extern const cr_field cri_answer_fields[];      /* of one answer */
extern const cr_field cri_approximate_fields[]; /* of its "error" */
extern const cr_field cri_comparison_fields[];  /* of its "comparison" */

/* One answer: the question, how it was computed, the values, the errors, the cost. */
void cri_answer_put(const cri_answer_words *w, const char *text, const cr_query_answer *a,
                    cri_sheet *out);
/* The value that is the answer itself; NULL: it has none. */
const cri_sheet *cri_answer_value(cr_question_kind kind, const cri_sheet *answer);
/* How good an answer is: of H and I the standard error in their unit. */
cr_approximate_report cri_answer_report(const cri_answer_words *w, const cr_query_answer *a);
/* "residual": ..., "standard_error": ...: what the method has. */
void cri_put_approximate(const cr_approximate_report *r, cri_sheet *out);
/* A list of the names of variables. */
void cri_put_names(cri_sheet *out, const char *name, const cr_variables *vs, const size_t *list,
                   size_t n);

void cri_put_table(const cri_answer_words *w, const cr_query_answer *a, cri_sheet *out);
void cri_put_marginals(const cri_answer_words *w, const cr_query_answer *a, cri_sheet *out);
void cri_put_probability(const cri_answer_words *w, const cr_query_answer *a, cri_sheet *out);
void cri_put_best(const cri_answer_words *w, const cr_query_answer *a, cri_sheet *out);
void cri_put_best_list(const cri_answer_words *w, const cr_query_answer *a, cri_sheet *out);
void cri_put_information(const cri_answer_words *w, const cr_query_answer *a, cri_sheet *out);
void cri_put_informative(const cri_answer_words *w, const cr_query_answer *a, cri_sheet *out);
void cri_put_causes(const cri_answer_words *w, const cr_query_answer *a, cri_sheet *out);
void cri_put_sensitivity(const cri_answer_words *w, const cr_query_answer *a, cri_sheet *out);
void cri_put_separation(const cri_answer_words *w, const cr_query_answer *a, cri_sheet *out);
void cri_put_list_of_names(const cri_answer_words *w, const cr_query_answer *a, cri_sheet *out);
void cri_put_sets(const cri_answer_words *w, const cr_query_answer *a, cri_sheet *out);
void cri_put_chordal(const cri_answer_words *w, const cr_query_answer *a, cri_sheet *out);
void cri_put_imap(const cri_answer_words *w, const cr_query_answer *a, cri_sheet *out);

/* --- parsers (query_parse.c) ----------------------------------------------------------------- */

cr_status cri_read_probability(cri_asking *p);
cr_status cri_read_best(cri_asking *p);
cr_status cri_read_best_list(cri_asking *p);
cr_status cri_read_names(cri_asking *p);
cr_status cri_read_information(cri_asking *p);
cr_status cri_read_sensitivity(cri_asking *p);
cr_status cri_read_separation(cri_asking *p);
cr_status cri_read_nothing(cri_asking *p);
cr_status cri_read_path(cri_asking *p);

/* --- answers (query.c, query_information.c, query_structure.c) ------------------------------- */

cr_status cri_answer_table(cri_job *j);
cr_status cri_answer_marginals(cri_job *j);
cr_status cri_answer_probability(cri_job *j);
cr_status cri_answer_best(cri_job *j);
cr_status cri_answer_list(cri_job *j); /* best(), causes(), sensitivity() */
cr_status cri_answer_separation(cri_job *j);
cr_status cri_answer_relatives(cri_job *j);
cr_status cri_answer_order(cri_job *j);
cr_status cri_answer_moral(cri_job *j);
cr_status cri_answer_cliques(cri_job *j);
cr_status cri_answer_chordal(cri_job *j);
cr_status cri_answer_imap(cri_job *j);

/* The variables of an answer: a copy of the list. */
cr_status cri_answer_name(cr_ctx *cx, cr_query_answer *out, size_t n, const size_t *list);

/* --- answers of a Gaussian network (gaussian_query.c) ---------------------------------------- */

cr_status cri_normal_table(cri_normal *j);
cr_status cri_normal_marginals(cri_normal *j);
cr_status cri_normal_density(cri_normal *j);
cr_status cri_normal_best(cri_normal *j);
cr_status cri_normal_entropy(cri_normal *j);
cr_status cri_normal_information(cri_normal *j);
cr_status cri_normal_informative(cri_normal *j);
cr_status cri_normal_separation(cri_normal *j);

#endif
