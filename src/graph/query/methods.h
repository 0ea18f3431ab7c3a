/* methods.h -- what a network can be asked, whichever kind it is: with states, linear-Gaussian, or of
 * slices that repeat over time.
 * Verbs and pictures hold a network as a pair, the network and the table of functions of its kind;
 * none of them asks which kind that is.  (Internal header.) */
#ifndef CREDENCE_GRAPH_QUERY_METHODS_H
#define CREDENCE_GRAPH_QUERY_METHODS_H

#include "questions.h"
#include "base/scratch.h"
#include "graph/files/network_file.h"

typedef struct cri_network_methods cri_network_methods;

typedef struct cri_any_network {
    const cri_network_methods *methods;
    const void *net; /* borrowed: a cr_network, a cr_gaussian_network or a cri_dynamic */
    /* What is known of its arcs, by child and parent; borrowed.  NULL: nothing. */
    const double *strength;  /* probability that the two are joined; NaN: not known */
    const double *compelled; /* 0: the other way fits as well */
} cri_any_network;

/* Rows of evidence to the same network, one after another. */
typedef struct cri_cases {
    cr_ctx               *cx;
    cri_any_network       any;
    cr_query_options      o;
    const char           *method; /* what answers all of them */
    bool                  exact;
    bool                  divorced;        /* with auxiliary variables for all rows (noisy.h) */
    char                  why[256];        /* AUTO: why an approximation was taken; else "" */
    cr_approximate_report report;          /* of the row, if it is not exact */
    size_t impossible, lost, unsure, thin; /* rows without an answer; no sample agrees;
                                                             not converged; few effective samples */
    double worst;                          /* the largest standard error of all rows */
    void  *own;                            /* of the methods */
} cri_cases;

/* Rows that are slices. */
typedef struct cri_followed {
    const struct cri_sequences
        *sequences; /* which rows follow each other (data/design/sequences.h) */
    const struct cri_case_column *columns; /* [n] what they say (cases_table.h) */
    size_t                        n;
    bool                          filtered; /* each given the rows up to it; else given all */
} cri_followed;

struct cri_network_methods {
    bool        states;  /* variables have states; else values */
    const char *word;    /* "Gaussian ": before "network", or "" */
    unsigned    formats; /* of files that hold such a network: bits 1 << cr_network_format */
    const char *(*name)(const void *net);
    const cr_variables *(*variables)(const void *net);
    /* The arcs: the network itself, or one that is made for this and has to be freed. */
    cr_status (*graph)(cr_ctx *cx, const void *net, const cr_network **out, cr_network **out_made);
    /* The slices that a question is about, of none the first two, side by side; NULL: it has no slices. */
    cr_status (*unroll)(cr_ctx *cx, const void *net, const cr_question *opt_q,
                        const cr_findings *opt_more, cr_network **out_made);
    /* What stands at the arc from parent number i of v, in the arena; may be NULL: nothing does. */
    const char *(*label)(cr_scratch *s, const void *net, size_t v, size_t i);

    /* The same at the edge between u and v of an undirected graph. */
    const char *(*edge_label)(cr_scratch *s, const void *net, size_t u, size_t v);

    /* Questions (query.h, gaussian_query.h). */
    cr_status (*parse)(cr_ctx *cx, const void *net, const char *text, cr_question **out_q);
    /* Fails with CR_EARG where a method cannot answer questions to such a network; NULL: any can. */
    cr_status (*check_method)(cr_ctx *cx, cr_query_method method);
    cr_status (*read_findings)(cr_ctx *cx, cr_findings *list, const void *net, const char *path);
    cr_status (*parse_findings)(cr_ctx *cx, cr_findings *list, const void *net, const char *source,
                                const char *bytes, size_t size);
    cr_status (*add_finding)(cr_ctx *cx, cr_findings *list, const void *net, const cr_finding *f);
    cr_status (*run)(cr_ctx *cx, const void *net, const cr_question *q, const cr_findings *opt_more,
                     const cr_query_options *opt_o, cr_query_answer *out);

    /* "network" and "variables" of a description; all: with the relatives of each variable where
     * there are not many. */
    cr_status (*describe)(cr_ctx *cx, const void *net, bool all, cri_sheet *out);
    /* Free parameters. */
    size_t (*parameters)(const void *net);
    /* Fails with CR_EDATA where it excludes everything; `source` is its name in messages.  May be
     * NULL: such a network never does. */
    cr_status (*check)(cr_ctx *cx, const void *net, const char *source);
    cr_status (*write)(cr_ctx *cx, const void *net, const char *path, cr_network_format format);

    /* Rows of evidence: `known` holds for all of them, and has no soft evidence. */
    cr_status (*open)(cri_cases *c, const cr_findings *known);
    /* Rows that are slices of sequences: takes all of them, before the first is asked for.  NULL: each is by itself. */
    cr_status (*follow)(cri_cases *c, const cri_followed *rows);
    void (*close)(cri_cases *c);
    /* Is a variable fixed by what holds for all rows? */
    bool (*is_fixed)(const cri_cases *c, size_t v);
    /* The state, or the value, of a variable in the row; NaN: it is open. */
    cr_status (*observe)(cri_cases *c, size_t v, double x);
    /* log P(row), NaN where there is none; *out_possible: there are posteriors. */
    cr_status (*ask)(cri_cases *c, double *out_log, bool *out_possible);
    /* Of one variable, out [as many numbers as there are]. */
    cr_status (*posterior)(cri_cases *c, size_t v, double *out);
    /* How many numbers that are, what number k is called, and the mark between variable and name. */
    size_t (*numbers)(const void *net, size_t v);
    const char *(*number_name)(const void *net, size_t v, size_t k);
    const char *mark;
};

extern const cri_network_methods cri_states_methods, cri_gaussian_methods, cri_dynamic_methods;

extern const cr_field cri_network_fields[], cri_network_variable_fields[]; /* of describe */

static inline const cr_variables *cri_any_variables(cri_any_network any)
{
    return any.methods->variables(any.net);
}

/* A question in words, answered. */
cr_status cri_any_query(cr_ctx *cx, cri_any_network any, const char *text, cr_query_answer *out);

/* Opens rows of evidence.  Fails as questions do. */
cr_status cri_cases_open(cr_ctx *cx, cri_any_network any, const cr_findings *known,
                         const cr_query_options *o, cri_cases *out);
void      cri_cases_close(cri_cases *c);

/* Those of networks with states (cases.c). */
cr_status cri_states_open(cri_cases *c, const cr_findings *known);
void      cri_states_close(cri_cases *c);
bool      cri_states_is_fixed(const cri_cases *c, size_t v);
cr_status cri_states_observe(cri_cases *c, size_t v, double x);
cr_status cri_states_ask(cri_cases *c, double *out_log, bool *out_possible);
cr_status cri_states_posterior(cri_cases *c, size_t v, double *out);

/* Those of networks with slices (dynamic_rows.c). */
cr_status cri_dynamic_open(cri_cases *c, const cr_findings *known);
cr_status cri_dynamic_follow(cri_cases *c, const cri_followed *rows);
void      cri_dynamic_close(cri_cases *c);
bool      cri_dynamic_is_fixed(const cri_cases *c, size_t v);
cr_status cri_dynamic_observe(cri_cases *c, size_t v, double x);
cr_status cri_dynamic_ask(cri_cases *c, double *out_log, bool *out_possible);
cr_status cri_dynamic_posterior(cri_cases *c, size_t v, double *out);

#endif
