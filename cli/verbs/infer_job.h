/* infer_job.h -- infer: a network, and rows of evidence from wherever they come. */
#ifndef CREDENCE_CLI_VERBS_INFER_JOB_H
#define CREDENCE_CLI_VERBS_INFER_JOB_H

#include "network.h"
#include "base/scratch.h"
#include "data/formats/read_internal.h"
#include "data/formats/text_rows.h"
#include "graph/query/cases_table.h"

typedef struct infer_job {
    cli                *c;
    cr_scratch          s;
    cri_any_network     any;
    const cr_variables *vs;
    cri_cases           cases;
    cri_source         *source; /* NULL: a database */
    cri_text_rows      *text;   /* rows as they come, in constant memory; or else */
    cr_table           *t;      /* all rows at once */
    size_t              rows;   /* so far, or all where that is known before */
    cri_case_column    *known;
    size_t              n_known;
    size_t             *target, n_target;
    double             *p;          /* the numbers of all targets in one row */
    bool                has_target; /* the variables asked for are named */
    cri_case_order      order;      /* of rows that are slices */
} infer_job;

/* Opens the table of cases, and finds which columns are which variables. */
cr_status infer_open_cases(infer_job *j);
/* Row i becomes the evidence; false in *out_any behind the last one. */
cr_status infer_observe(infer_job *j, size_t row, bool *out_any);

#endif
