/* query_answers.h -- answers of query, in the three forms of a result. */
#ifndef CREDENCE_CLI_VERBS_QUERY_ANSWERS_H
#define CREDENCE_CLI_VERBS_QUERY_ANSWERS_H

#include "../cli.h"
#include "graph/query/gaussian_query.h"
#include "graph/query/query.h"

typedef struct query_job {
    cli                       *c;
    const cr_network          *net; /* one of the two is set */
    const cr_gaussian_network *gaussian;
    const cr_variables        *vs;
    const char                *text; /* of the question */
    const char                *unit;
    double                     per; /* nats in one unit */
    bool        errors; /* CSV: some answer is approximate, so all rows say how they came */
    bool        causes, parameters; /* CSV: some answer has more than one number in a row */
    const char *method, *settled;
    double      before, after, parameter; /* of the row to come; NaN: none */
    double      se;                       /* of the row to come; NaN: none */
    char       *field; /* [bytes] room for a list of names, see query_field_bytes */
    size_t      bytes;
    cri_sheet  *shown; /* what is printed next as text */
} query_job;

/* A question and its answer, or why it has none. */
typedef struct asked {
    cr_question       *question;
    cr_query_answer    answer;
    cr_gaussian_answer normal;  /* of a Gaussian network */
    cr_ctx            *refused; /* holds the failure; NULL: answered */
} asked;

static inline const char *query_name(const query_job *j, size_t v)
{
    return cr_variable_name(j->vs, v);
}

static inline const char *query_state(const query_job *j, size_t v, size_t s)
{
    return cr_state_name(j->vs, v, s);
}

/* --- query_sheet.c: as a sheet --------------------------------------------------------------- */

/* What it holds. */
extern const cr_field query_answer_fields[];

/* The states of the variables asked for at entry e, the last running fastest; and where that is in
 * the table. */
size_t query_entry(const query_job *j, const cr_query_answer *a, size_t e, size_t *states);
/* "x": "yes", "y": "no" */
void query_put_assignment(const query_job *j, const cr_query_answer *a, const size_t *states,
                          cri_sheet *out);
/* {"variable": "x", "information": 0.1}, ... */
void query_put_gains(const query_job *j, size_t n, const size_t *variables, const double *nats,
                     cri_sheet *rows);
/* What answers of both kinds of network begin with, and what they say of the graph. */
void query_put_head(const query_job *j, const char *method, bool exact, double log_evidence,
                    cri_sheet *out);
void query_put_separation(const query_job *j, bool separated, size_t n, const size_t *trail,
                          cri_sheet *out);
/* H or I, by its name. */
void query_put_information(const query_job *j, const char *name, double nats, cri_sheet *out);
/* How good an answer is: of H and I the standard error in their unit. */
cr_approximate_report query_report(const query_job *j, const cr_query_answer *a);
/* One answer as an object; states: room for those of the variables asked for. */
void query_put_answer(const query_job *j, const cr_query_answer *a, size_t *states, cri_sheet *out);

/* --- query_text.c: for people ---------------------------------------------------------------- */

/* A list for the rows of a table, and that table printed. */
cri_sheet *query_rows(query_job *j);
void       query_print_rows(query_job *j);
/* What the column of probabilities is called beside those of the variables: `name`, or another where
 * one of them has it. */
const char *query_column(const query_job *j, const cr_query_answer *a, const char *name);
void        query_print_trail(const query_job *j, size_t n, const size_t *trail);
/* What stands below the question. */
void query_answer_text(query_job *j, const cr_query_answer *a, size_t *states);

/* --- query_csv.c: as rows -------------------------------------------------------------------- */

/* How many names may stand in one row. */
size_t query_list_room(const query_job *j, const cr_query_answer *a);
/* Bytes of the longest list of names or states, one of each of n variables, as one field of CSV. */
size_t query_field_bytes(const cr_variables *vs, size_t n);
/* The names of all columns; the flags say which there are. */
void query_csv_header(const query_job *j);
/* A list of names in one field, one of states in the next, and a value. */
void query_csv_row(const query_job *j, const char *const *variables, size_t n,
                   const char *const *states, size_t n_states, double value);
/* What stands in the columns behind the value, up to the end of the line. */
void query_csv_rest(const query_job *j);
/* One answer as rows; list: room for twice so many names. */
void query_answer_csv(query_job *j, const cr_query_answer *a, size_t *states, const char **list);

/* --- query_structure.c: answers of the graph ------------------------------------------------- */

extern const cr_field query_independence_fields[];

void query_put_structure(const query_job *j, const cr_query_answer *a, cri_sheet *out);
void query_structure_text(const query_job *j, const cr_query_answer *a);
/* Is the answer no? */
bool   query_structure_no(const cr_query_answer *a);
size_t query_structure_rows(const cr_query_answer *a);
/* Row i: its names; gives how many, and its value. */
size_t query_structure_csv(const query_job *j, const cr_query_answer *a, size_t i,
                           const char **list, double *out_value);

/* --- query_lists.c: the best few, causes, parameters ----------------------------------------- */

extern const cr_field query_cause_fields[], query_parameter_fields[];

/* The rows under their name. */
void query_put_list(const query_job *j, const cr_query_answer *a, cri_sheet *out);
void query_list_text(query_job *j, const cr_query_answer *a);
/* Row i as CSV: up to `room` variables, their states, and the value.  Returns how many variables.
 */
size_t query_list_csv(const query_job *j, const cr_query_answer *a, size_t i,
                      const char **variables, const char **states, size_t room, double *out_value);

/* --- query_gaussian.c: answers of a Gaussian network, in all three forms --------------------- */

void query_put_gaussian(const query_job *j, const cr_gaussian_answer *a, cri_sheet *out);
void query_gaussian_text(query_job *j, const cr_gaussian_answer *a);
void query_gaussian_csv(const query_job *j, const cr_gaussian_answer *a);

#endif
