/* query_job.h -- one question on its way to an answer: what is known, the engine, the answer so
 * far. (Internal header.) */
#ifndef CREDENCE_GRAPH_QUERY_QUERY_JOB_H
#define CREDENCE_GRAPH_QUERY_QUERY_JOB_H

#include "query_engine.h"

typedef struct cri_job {
    cr_ctx            *cx;
    const cr_network  *net; /* as it was given */
    const cr_question *q;
    cr_findings        known; /* of the question, and more */
    cri_engine         engine;
    bool               soft;
    cr_query_answer   *out;
} cri_job;

/* All findings, of the question and further ones. */
cr_status cri_job_gather(cri_job *j, const cr_findings *opt_more);
/* The form in which the question wants the network. */
cri_form cri_job_form(const cri_job *j);
/* Opens the engine; decides whether it is exact; log P(e) if it is needed; soft evidence.  A
 * question that learns P(e) by the way asks for no more than it needs. */
cr_status cri_job_prepare(cri_job *j, bool needs_log);
/* The answer of an engine with log P(e), which says when the evidence is impossible. */
cr_status cri_job_note_log(cri_job *j, cr_status st, const double *log_e);
/* Fails, and names the finding that those before it exclude. */
cr_status cri_job_refuse_impossible(cri_job *j);

/* Is the state of v known, and not asked for? */
bool cri_job_is_fixed(const cri_job *j, size_t v);
/* The variables that are open go to the answer. */
cr_status cri_job_list_open(cri_job *j);

/* A copy from cr_alloc; NULL: no memory. */
size_t *cri_copy_indices(cr_ctx *cx, const size_t *list, size_t n);
/* Appends lists without common elements; gives the new length. */
size_t cri_join_indices(size_t *out, size_t n, const size_t *more, size_t m);

/* H(x | e), I(x; y | e), and I(x; * | e) (query_information.c). */
cr_status cri_answer_information(cri_job *j);
cr_status cri_answer_informative(cri_job *j);
/* How often the engine is asked for all marginals by I(x; *). */
double cri_informative_runs(const cri_job *j);

#endif
