/* query_solution.h -- answers of query as solution files of the UAI competitions, and compared with
 * one. */
#ifndef CREDENCE_CLI_VERBS_QUERY_SOLUTION_H
#define CREDENCE_CLI_VERBS_QUERY_SOLUTION_H

#include "query_answers.h"
#include "graph/files/uai_solution.h"

/* The kind of solution that --output names; none where --format or --json asks for another form. */
cr_solution_kind query_solution_asked(const cli *c);
/* Writes the answer to a question with what is known as a solution of this kind.  Fails with
 * CR_EARG where the question has no such answer. */
cr_status query_solution_write(const query_job *j, const cr_question *q, const cr_findings *more,
                               const cr_query_answer *a, cr_solution_kind kind, const char *path);
/* Compares the answer with a solution in a file: "file", "kind", "difference", ... */
cr_status query_solution_compare(const query_job *j, const cr_question *q, const cr_findings *more,
                                 const cr_query_answer *a, const char *path, cri_sheet *out);
/* The largest difference of a comparison; of logs it may be infinite. */
double query_solution_difference(const cri_sheet *comparison);
/* A comparison for people. */
void query_solution_text(cli *c, const cri_sheet *comparison);

#endif
