/* query_answers.h -- answers of query, in the three forms of a result. */
#ifndef CREDENCE_CLI_QUERY_ANSWERS_H
#define CREDENCE_CLI_QUERY_ANSWERS_H

#include "cli.h"
#include "models/graph/query.h"

typedef struct query_job {
    cli                *c;
    const cr_network   *net;
    const cr_variables *vs;
    const char         *text; /* of the question */
    const char         *unit;
    double              per;    /* nats in one unit */
    bool                errors; /* CSV: some answer is approximate, so all rows say how they came */
    bool                causes, parameters; /* CSV: some answer has more than one number in a row */
    const char         *method, *settled;
    double              before, after, parameter; /* of the row to come; NaN: none */
    double              se;                       /* of the row to come; NaN: none */
    char               *field; /* [bytes] room for a list of names, see query_field_bytes */
    size_t              bytes;
} query_job;

/* The states of the variables asked for at entry e, the last running fastest; and where that is in
 * the table. */
size_t query_entry(const query_job *j, const cr_query_answer *a, size_t e, size_t *states);
/* {"x": "yes", "y": "no"} */
json_t *query_assignment(const query_job *j, const cr_query_answer *a, const size_t *states);
/* [{"variable": "x", "information": 0.1}, ...] */
json_t *query_gains(const query_job *j, const cr_query_answer *a);

/* How good an answer is: of H and I the standard error in their unit. */
cr_approximate_report query_report(const query_job *j, const cr_query_answer *a);
/* One answer as an object; states: room for those of the variables asked for. */
json_t *query_answer_json(const query_job *j, const cr_query_answer *a, size_t *states);
/* Answers of the graph (query_structure.c): to JSON, for people, as rows of CSV. */
void query_structure_json(const query_job *j, const cr_query_answer *a, json_t *out);
void query_structure_text(const query_job *j, const cr_query_answer *a);
/* Is the answer no? */
bool   query_structure_no(const cr_query_answer *a);
size_t query_structure_rows(const cr_query_answer *a);
/* Row i: its names; gives how many, and its value. */
size_t query_structure_csv(const query_job *j, const cr_query_answer *a, size_t i,
                           const char **list, double *out_value);
/* One answer for people. */
void query_answer_text(const query_job *j, const cr_query_answer *a, size_t *states);
/* How many names may stand in one row. */
size_t query_list_room(const query_job *j, const cr_query_answer *a);
/* Bytes of the longest list of names or states, one of each variable, as one field of CSV. */
size_t query_field_bytes(const cr_network *net);
/* The names of all columns; the flags say which there are. */
void query_csv_header(const query_job *j);
/* What stands in the columns behind the value, up to the end of the line. */
void query_csv_rest(const query_job *j);
/* One answer as rows; list: room for twice so many names. */
void query_answer_csv(query_job *j, const cr_query_answer *a, size_t *states, const char **list);

#endif
