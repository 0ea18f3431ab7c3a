/* query_engine.h -- one face for all methods that answer questions to a network.
 * An engine holds a network and what is known, makes a plan (plan.h) and executes it; each method is
 * a row of functions.  A function that a method lacks is NULL, and another method stands in for it;
 * the result says which one it was.  (Internal header.) */
#ifndef CREDENCE_GRAPH_QUERY_QUERY_ENGINE_H
#define CREDENCE_GRAPH_QUERY_QUERY_ENGINE_H

#include "graph/exact/junction.h"
#include "plan.h"

/* How the last answer came about, and how good it is. */
typedef struct cri_result {
    cr_query_method       used;
    const char           *by;   /* what answered, where it is none of the methods; else NULL */
    cr_exact_report       cost; /* what it took */
    cr_approximate_report error;
    cr_factor             spread; /* of the joint that samples gave (approximate.h), or none */
    double                upper;  /* of the best: no assignment has a larger log */
    double share;    /* of the best by decimation: log P(states | e), estimated; else NaN */
    bool   open;     /* the best found is not proven to be the best */
    char   cut[80];  /* that the budget made it shorter; else "" */
    char   why[256]; /* AUTO: why it is not exact; else "" */
} cri_result;

typedef struct cri_engine {
    cr_ctx           *cx;
    const cr_network *base; /* what the questions are about, after do() */
    const cr_network *net;  /* what is computed with: auxiliary variables come behind the others */
    cr_network       *own;  /* after do(): a copy, which base is then; else NULL */
    cr_network       *made; /* with tables or auxiliary variables (noisy.h), which net is then */
    size_t            hidden; /* auxiliary variables that have to be summed out */
    cr_evidence      *evidence;
    const cr_finding *mixed; /* soft evidence by runs given each state (query_mixture.h), or NULL */
    cr_query_options  o;
    cri_plan          plan;
    cr_junction      *tree;                  /* made when it is needed, and used again */
    bool              fresh;                 /* the tree knows the evidence */
    bool              many;                  /* many questions are to come: worth a tree */
    cr_approximate_answer known;             /* by an approximation, for the evidence as it is */
    bool                  is_known, compare; /* compare: AUTO has still to choose between two */
    bool                  wide;              /* P(e) has been refused as too much work */
    double                began;             /* AUTO: when an approximation was taken; else 0 */
    double                spent;             /* operations of a list's maximisations so far */
    cri_result            result;
} cri_engine;

/* In which form a network is computed with, where it has a noisy-or or noisy-max of many parents.
 */
typedef enum cri_form {
    CRI_FORM_GRAPH, /* as it is */
    CRI_FORM_SUMS,  /* with auxiliary variables, which are summed out */
    CRI_FORM_BEST,  /* with tables, and where these are too large with auxiliary variables */
    CRI_FORM_TABLES /* with tables, or refused */
} cri_form;

/* Opens an engine with these findings except the soft ones; cuts the network where there is do().
 * The network must have been checked. */
cr_status   cri_engine_open(cr_ctx *cx, const cr_network *net, const cr_findings *known,
                            const cr_query_options *o, cri_form form, cri_engine *out);
void        cri_engine_close(cri_engine *e);
const char *cri_engine_name(const cri_engine *e);
/* Says that the evidence has been changed: what was planned and found for it is dropped. */
void cri_engine_changed(cri_engine *e);

/* Plans the answer (plan.c).  AUTO: exact or not is decided by what the exact answer would cost. */
cr_status cri_engine_plan(cri_engine *e, const cri_asked *asked);
/* Takes note of a plan and reports it: what computes it, what that takes, why. */
void             cri_engine_note_plan(cri_engine *e, const char *name, const cr_exact_report *cost,
                                      const char *why);
cr_query_planned cri_engine_planned(const cri_engine *e);
/* Is it still within the budget of a list, with so many operations more?  CR_ENOMEM. */
cr_status cri_engine_spend(cri_engine *e, double operations);
/* Does an approximation answer? */
bool cri_engine_approximates(const cri_engine *e);
/* An approximation's marginals for the evidence as it is; its error goes to the result. */
cr_status cri_engine_approximate(cri_engine *e, const cr_approximate_answer **out);

/* log P(e); -INFINITY: impossible; NaN: the method has none. */
cr_status cri_engine_log_evidence(cri_engine *e, double *out_log);
/* P(query | e), n >= 1; CR_EDATA if the evidence is impossible. */
cr_status cri_engine_joint(cri_engine *e, size_t n, const size_t *query, cr_factor *out_f,
                           double *opt_log);
/* All P(v | e) of the variables of `base`, one after another. */
cr_status cri_engine_marginals(cri_engine *e, double *out, double *out_log);
/* Elimination with these limits, as it was planned or by a plan of its own. */
cr_status cri_engine_eliminate(cri_engine *e, cri_goal goal, size_t n, const size_t *query,
                               const cr_exact_options *o, cri_eliminated *out);
/* The best states of all variables, by elimination where that fits, else by search
 * (best_portfolio.c). */
cr_status cri_best_portfolio(cri_engine *e, size_t *out_state, double *out_log);
/* The best states of the query (n = 0: of all, out [variables of base]) and log P(states, e). */
cr_status cri_engine_best(cri_engine *e, size_t n, const size_t *query, size_t *out_state,
                          double *out_log);

#endif
