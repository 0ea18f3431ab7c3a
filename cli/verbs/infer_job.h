/* infer_job.h -- infer: a network, and rows of evidence from wherever they come. */
#ifndef CREDENCE_CLI_VERBS_INFER_JOB_H
#define CREDENCE_CLI_VERBS_INFER_JOB_H

#include "network.h"
#include "base/scratch.h"
#include "data/formats/read_internal.h"
#include "data/formats/text_rows.h"
#include "graph/exact/junction.h"
#include "graph/network/noisy.h"
#include "graph/query/query.h"

/* A column that names a variable. */
typedef struct case_column {
    size_t           variable;
    bool             gaps;   /* some row may have no value */
    const cr_column *column; /* of a table, and what its levels mean: */
    size_t          *state;  /* [levels] */
    size_t           place;  /* of text that streams: which cell */
} case_column;

typedef struct infer_job {
    cli                *c;
    cr_scratch          s;
    cr_network         *net;
    const cr_network   *work;     /* what is computed with: net, or */
    cri_divorced        divorced; /* with auxiliary variables (noisy.h): of all rows, or of one */
    const cr_evidence  *seen;     /* what is known of the row: e, or that of `divorced` */
    const cr_variables *vs;
    cri_source         *source; /* NULL: a database */
    cri_text_rows      *text;   /* rows as they come, in constant memory; or else */
    cr_table           *t;      /* all rows at once */
    size_t              rows;   /* so far, or all where that is known before */
    case_column        *known;
    size_t              n_known;
    size_t             *target, n_target;
    cr_evidence        *e;
    cr_query_method     method; /* VE, JT, ENUMERATE, or an approximation */
    cr_junction        *tree;   /* JT */
    cr_approximate_options approximate;
    cr_approximate_answer  row;          /* the posterior of one, by an approximation */
    size_t                *begin;        /* [variables] where its marginals begin there */
    size_t                 unsure, lost; /* rows that did not converge; without any weight */
    size_t                 thin;         /* rows of few effective samples */
    double                 worst;        /* the largest standard error of all rows */
    double                *p;            /* room for the states of one variable */
    size_t                 impossible;
    bool                   has_target; /* the variables asked for are named */
} infer_job;

/* Those of a list, or all variables that are not known in every row.  Fails with CR_EARG. */
cr_status infer_choose_targets(cr_scratch *s, const cr_variables *vs, const char *opt_list,
                               const bool *known, size_t all, size_t **out_target, size_t *out_n);
/* What a result begins with. */
void infer_put_head(const cli *c, size_t rows, const char *method, bool exact, cri_sheet *out);
/* What each row begins with; returns the object for its marginals, empty where it is impossible. */
cri_sheet *infer_put_row(double log_evidence, bool possible, cri_sheet *row);

/* "jt", "gibbs", ... */
const char *infer_method_name(const infer_job *j);
/* Is it by an approximation? */
bool infer_approximates(const infer_job *j);
/* log P(e) of the row that is observed; -INFINITY: it is impossible, or no sample agrees with it.
 */
cr_status infer_ask(infer_job *j, double *out_log);
/* P(v | e) of the same row goes to j->p. */
cr_status infer_posterior(infer_job *j, size_t v);

/* Opens the table of cases, and finds which columns are which variables. */
cr_status infer_open_cases(infer_job *j);
/* Row i becomes the evidence; false in *out_any behind the last one. */
cr_status infer_observe(infer_job *j, size_t row, bool *out_any);

#endif
