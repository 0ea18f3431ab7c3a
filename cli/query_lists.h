/* query_lists.h -- answers of query that are lists, as rows of JSON objects. */
#ifndef CREDENCE_CLI_QUERY_LISTS_H
#define CREDENCE_CLI_QUERY_LISTS_H

#include "cli.h"
#include "models/graph/query.h"

/* Is this answer one of them: the best few, causes, parameters? */
bool query_is_list(const cr_query_answer *a);
/* Adds the rows, under their name, to the object of an answer. */
void query_list_json(const cr_network *net, const cr_query_answer *a, json_t *out);
/* Prints them as text. */
void query_list_text(cli *c, const cr_network *net, const cr_query_answer *a);
/* How many rows it has as CSV, and row i: up to `room` variables, their states, and the value.
 * Returns how many variables. */
size_t query_list_csv(const cr_network *net, const cr_query_answer *a, size_t i,
                      const char **variables, const char **states, size_t room, double *out_value);

#endif
