/* query_answers.h -- answers of query, which are sheets (graph/query/questions.h), for people and as
 * CSV.  What is printed goes by the value that is the answer, and by its form where it has no
 * layout of its own. */
#ifndef CREDENCE_CLI_VERBS_QUERY_ANSWERS_H
#define CREDENCE_CLI_VERBS_QUERY_ANSWERS_H

#include "../cli.h"
#include "graph/query/methods.h"

typedef struct query_job {
    cli              *c;
    cri_any_network   any;
    const cr_network *graph; /* its arcs */
    cri_answer_words  words;
    const char       *text;   /* of the question */
    bool              errors; /* CSV: some answer is approximate, so all rows say how they came */
    bool              causes, parameters; /* CSV: some answer has more than one number in a row */
    char             *field; /* [bytes] room for a list of names, see query_field_bytes */
    size_t            bytes;
    cri_sheet        *answer; /* of the question, as a sheet */
    cri_sheet        *shown;  /* what is printed next as text */
} query_job;

/* What stands below the question. */
void query_answer_text(query_job *j, const cr_query_answer *a);

/* Bytes of the longest list of names or states, one of each of n variables, as one field of CSV. */
size_t query_field_bytes(const cr_variables *vs, size_t n);
/* The names of all columns; the flags say which there are. */
void query_csv_header(const query_job *j);
/* One answer as rows. */
void query_answer_csv(query_job *j, const cr_query_answer *a);
/* A row of --against: where the difference is, and how large. */
void query_difference_csv(query_job *j, const char *opt_variable, const char *opt_state,
                          double difference);

#endif
