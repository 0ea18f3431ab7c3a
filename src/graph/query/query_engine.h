/* query_engine.h -- one face for all methods that answer questions to a network.
 * An engine holds a network and what is known; each method is a row of functions.  A function that
 * a method lacks is NULL, and another method stands in for it; `used` says which one it was.
 * (Internal header.) */
#ifndef CREDENCE_GRAPH_QUERY_QUERY_ENGINE_H
#define CREDENCE_GRAPH_QUERY_QUERY_ENGINE_H

#include "graph/exact/junction.h"
#include "query.h"

typedef struct cri_engine cri_engine;

struct cri_engine {
    cr_ctx           *cx;
    const cr_network *base; /* what the questions are about, after do() */
    const cr_network *net;  /* what is computed with: auxiliary variables come behind the others */
    cr_network       *own;  /* after do(): a copy, which base is then; else NULL */
    cr_network       *made; /* with tables or auxiliary variables (noisy.h), which net is then */
    size_t            hidden; /* auxiliary variables that have to be summed out */
    cr_evidence      *evidence;
    cr_query_options  o;
    cr_query_method   method; /* AUTO: each function takes its own */
    cr_query_method   used;
    cr_junction      *tree;  /* made when it is needed */
    bool              fresh; /* the tree knows the evidence */
    bool              many;  /* many questions are to come: worth a tree */
    cr_exact_report   cost;
    cr_approximate_answer known; /* by an approximation, for the evidence as it is */
    const cr_finding *mixed; /* soft evidence by runs given each state (query_mixture.h), or NULL */
    bool              is_known, compare; /* compare: AUTO has still to choose between two */
    cr_approximate_report error;         /* of what was answered last */
    cr_factor             spread; /* of the joint that samples gave last (approximate.h), or none */
    double                upper;  /* of the best: no assignment has a larger log */
    bool                  each;   /* marginals may be answered one by one */
    double                runs;   /* how often all marginals will be asked for; 0: once */
    double      share;   /* of the best by decimation: log P(states | e), estimated; else NaN */
    const char *by;      /* what answered last, where it is none of the methods; else NULL */
    bool        wide;    /* P(e) has been refused as too much work */
    bool        open;    /* the best found is not proven to be the best */
    double      began;   /* AUTO: when an approximation was taken; else 0 */
    char        cut[80]; /* that the budget made it shorter; else "" */
    char        why[256];
};

/* What an engine will be asked. */
typedef enum cri_purpose { CRI_ASK_TABLE, CRI_ASK_ALL, CRI_ASK_BEST } cri_purpose;

/* In which form a network is computed with, where it has a noisy-or or noisy-max of many parents.
 */
typedef enum cri_form {
    CRI_FORM_GRAPH, /* as it is */
    CRI_FORM_SUMS,  /* with auxiliary variables, which are summed out */
    CRI_FORM_BEST,  /* with tables, and where these are too large with auxiliary variables */
    CRI_FORM_TABLES /* with tables, or refused */
} cri_form;

/* Opens an engine with these findings but for the soft ones; cuts the network where there is do().
 */
cr_status   cri_engine_open(cr_ctx *cx, const cr_network *net, const cr_findings *known,
                            const cr_query_options *o, cri_form form, cri_engine *out);
void        cri_engine_close(cri_engine *e);
const char *cri_engine_name(const cri_engine *e);
/* Says that the evidence has been changed. */
void cri_engine_changed(cri_engine *e);

/* AUTO: exact or not?  Decided before any work by what the exact answer would cost. */
cr_status cri_engine_plan(cri_engine *e, cri_purpose purpose, size_t n, const size_t *query);
/* Does an approximation answer? */
bool cri_engine_approximates(const cri_engine *e);
/* An approximation's marginals for the evidence as it is; its error goes to e->error. */
cr_status cri_engine_approximate(cri_engine *e, const cr_approximate_answer **out);

/* log P(e); -INFINITY: impossible; NaN: the method has none. */
cr_status cri_engine_log_evidence(cri_engine *e, double *out_log);
/* P(query | e), n >= 1; CR_EDATA if the evidence is impossible. */
cr_status cri_engine_joint(cri_engine *e, size_t n, const size_t *query, cr_factor *out_f,
                           double *opt_log);
/* All P(v | e) of the variables of `base`, one after another. */
cr_status cri_engine_marginals(cri_engine *e, double *out, double *out_log);
/* The best states of all variables, by elimination where that fits, else by search
 * (best_portfolio.c). */
cr_status cri_best_portfolio(cri_engine *e, size_t *out_state, double *out_log);
/* The best states of the query (n = 0: of all, out [variables of base]) and log P(states, e). */
cr_status cri_engine_best(cri_engine *e, size_t n, const size_t *query, size_t *out_state,
                          double *out_log);

#endif
