/* query.h -- questions to a network, written as formulas.
 *
 *     P(x | e)           the distribution of x            P(x, y | e)     of both together
 *     P(* | e)           of every variable that e leaves open
 *     P(x=a, y=b | e)    the probability of this          argmax(x, y | e)   marginal MAP
 *     argmax(* | e)      the most probable explanation    x, y _|_ z | w, v  are they separated?
 *     H(x | w, e)        entropy                          I(x; y | w, e)     mutual information
 *     I(x; * | e)        what every other variable would tell about x, the most first
 *     best(5; x, y | e)  the five most probable states of these; best(5; * | e) of all
 *     causes(x, y | e)   for which of its states the evidence speaks, of each; causes(* | e) of all
 *                        that comes before the evidence
 *     sensitivity(x=a | e)       how this probability changes with the parameters of the network;
 *     sensitivity(5; x=a | e)    the five largest changes (of the first form ten), * for all
 *
 * and of the graph alone:
 *     parents(x)  children(x)  ancestors(x)  descendants(x)  blanket(x)      relatives of x
 *     order()     causes before effects           moral()    edges of the moral graph
 *     cliques()   maximal ones after triangulation    chordal()   is the moral graph chordal?
 *     dsep(x; y | z)    are they separated, whatever the tables are?
 *     imap(FILE)  does every independence of this graph hold in the graph of that network?
 *
 * e is a list, with commas, of what is known, of five kinds that are kept apart:
 *     x=a               observed
 *     x in {a, b}       one of these states; x!=c, x!={c, d}: none of these
 *     x~{a:3, b:1}      virtual: how much more probable the observation is under a than under b
 *     x:={a:0.7, b:0.3} soft, by Jeffrey's rule: the probabilities that x shall have in the end
 *     do(x=a)           set from outside: what x depends on has no part in it
 * In x _|_ y | z nodes that are functions of z count as given; in dsep(x; y | z) they do not.
 * In H and I a variable without a state among them is averaged over.  Names and states stand in
 * quotes where they hold other characters than letters; a quote in them is written twice.
 *
 * In a network with slices a variable is named with its slice, x[t=3]; x[t=1..5] stands for all five.
 *
 * Soft evidence on one variable is P'(z) = sum_a q(a) P(z | x=a, e); on several, the distribution
 * nearest to P( . | e) in which each has its probabilities (iterative proportional fitting).
 * Pearl (1988), sec. 2.2-2.3; Jeffrey (1965); Csiszar (1975) for the limit of the fitting. */
#ifndef CREDENCE_GRAPH_QUERY_QUERY_H
#define CREDENCE_GRAPH_QUERY_QUERY_H

#include "graph/approximate/approximate.h"
#include "graph/exact/bucket.h"

typedef enum cr_finding_kind {
    CR_FINDING_STATE,
    CR_FINDING_SET,
    CR_FINDING_VIRTUAL,
    CR_FINDING_SOFT,
    CR_FINDING_DO
} cr_finding_kind;

/* What is known of one variable. */
typedef struct cr_finding {
    cr_finding_kind kind;
    size_t          variable, states;
    double         *weight; /* [states] 0 or 1, likelihoods, or probabilities */
} cr_finding;

typedef struct cr_findings {
    size_t      n, capacity;
    cr_finding *item;
} cr_findings; /* all zeros: none */

/* Adds a finding with a copy of its weights [states of v]; the same state once more changes
 * nothing.  Fails with CR_EARG when there is another one on v already, or when the weights cannot
 * be of this kind. */
CR_API cr_status cr_findings_add(cr_ctx *cx, cr_findings *list, const cr_network *net,
                                 cr_finding_kind kind, size_t v, const double *weight);
/* Reads findings from a file: {"x": "a"}, {"x": ["a", "b"]}, {"x": {"a": 3, "b": 1}} (virtual),
 * {"x": {"soft": {"a": 0.7, "b": 0.3}}}, {"x": {"do": "a"}} as JSON, or the evidence of a
 * UAI file where the name ends in .evid.  CR_EDATA, CR_EIO. */
CR_API cr_status cr_findings_read(cr_ctx *cx, cr_findings *list, const cr_network *net,
                                  const char *path);
/* The same from the bytes of such JSON; `source` is their name in messages. */
CR_API cr_status cr_findings_parse(cr_ctx *cx, cr_findings *list, const cr_network *net,
                                   const char *source, const char *bytes, size_t size);
/* Frees the list and leaves none. */
CR_API void cr_findings_free(cr_ctx *cx, cr_findings *list);

/* Each has a row in the table of questions (questions.h). */
typedef enum cr_question_kind {
    CR_QUESTION_TABLE,       /* P(x, y | e) */
    CR_QUESTION_MARGINALS,   /* P(* | e) */
    CR_QUESTION_PROBABILITY, /* P(x=a | e) */
    CR_QUESTION_BEST,        /* argmax(x, y | e), argmax(* | e) */
    CR_QUESTION_BEST_LIST,   /* best(k; x, y | e) */
    CR_QUESTION_ENTROPY,     /* H(x | e) */
    CR_QUESTION_INFORMATION, /* I(x; y | e) */
    CR_QUESTION_INFORMATIVE, /* I(x; * | e) */
    CR_QUESTION_CAUSES,      /* causes(x, y | e) */
    CR_QUESTION_SENSITIVITY, /* sensitivity(k; x=a | e) */
    CR_QUESTION_SEPARATION,  /* x _|_ y | z */
    CR_QUESTION_DSEP,        /* dsep(x; y | z), whatever the tables are */
    CR_QUESTION_PARENTS,     /* and the next four: of x, or of several together */
    CR_QUESTION_CHILDREN,
    CR_QUESTION_ANCESTORS,
    CR_QUESTION_DESCENDANTS,
    CR_QUESTION_BLANKET,
    CR_QUESTION_ORDER,
    CR_QUESTION_MORAL,
    CR_QUESTION_CLIQUES,
    CR_QUESTION_CHORDAL,
    CR_QUESTION_IMAP, /* imap(FILE) */
    CR_QUESTION_COUNT
} cr_question_kind;

typedef struct cr_question {
    cr_question_kind kind;
    size_t          *x, *y, *given; /* variables, in the order they were named */
    size_t           n_x, n_y, n_given;
    size_t           count;  /* how many are asked for, of BEST_LIST and SENSITIVITY */
    char            *path;   /* of IMAP: the file of the other network */
    size_t           slices; /* of a network with slices: the last that is named; else 0 */
    cr_findings      event, known;
} cr_question;

/* Reads a question about this network.  Fails with CR_EARG: what is wrong, a caret under it, and
 * the nearest name. */
CR_API cr_status cr_question_parse(cr_ctx *cx, const cr_network *net, const char *text,
                                   cr_question **out_q);
/* Frees a question.  NULL is allowed. */
CR_API void cr_question_free(cr_ctx *cx, cr_question *q);

/* How it is computed. */
#define CR_QUERY_METHODS "auto|exact|ve|jt|enumerate|" CR_APPROXIMATIONS
typedef enum cr_query_method {
    CR_QUERY_AUTO,  /* exact if that fits memory and the budget, else an approximation */
    CR_QUERY_EXACT, /* the exact one that is least work */
    CR_QUERY_VE,    /* bucket elimination, bucket.h */
    CR_QUERY_JT,    /* junction tree, junction.h */
    CR_QUERY_ENUMERATE,
    CR_QUERY_APPROXIMATE /* and those of approximate.h follow: CR_QUERY_APPROXIMATE + the method */
} cr_query_method;

typedef struct cr_query_options {
    cr_query_method        method;
    cr_exact_options       exact;
    cr_approximate_options approximate;
    uint64_t               seed;
    double                 budget; /* AUTO: seconds that an exact answer may take, by estimate; the
                                      search for the best of all goes on in proportion */
} cr_query_options;

/* An entry of a table, and how much the probability changes with it: the derivative, the other
 * entries of the row changing in proportion. */
typedef struct cr_parameter {
    size_t table, entry; /* of a Bayesian network table v is that of variable v */
    double value, derivative;
} cr_parameter;

/* How an answer was planned before any work. */
typedef struct cr_query_planned {
    const char     *method; /* what was to compute it; NULL: there was nothing to plan */
    cr_exact_report cost;   /* as predicted; of an approximation, what an exact answer would take */
    char            why[256]; /* the reason in words */
} cr_query_planned;

typedef struct cr_query_answer {
    cr_question_kind      kind;
    const char           *method; /* what computed it: "ve", "jt", "search", "graph", "bp", ... */
    bool                  exact;
    char                  why[256]; /* AUTO: why an approximation was taken; else "" */
    cr_approximate_report error;    /* if it is not exact */
    bool                  open;     /* BEST by search: not proven to be the best */
    bool   estimated; /* BEST of some variables by an approximation: so are the numbers below */
    double upper;     /* BEST, not exact: no assignment has a larger log P(states, e); else NaN */
    double
        log_evidence; /* log P(e) of all but soft evidence; of a Markov network log Z; NaN: none */
    size_t           sweeps; /* of fitting soft evidence */
    cr_exact_report  cost;   /* CLIQUES: `width` is theirs */
    cr_query_planned plan;
    cr_factor        table; /* TABLE: normalised, its scope ascending */
    size_t  n, *variable;   /* TABLE, BEST, BEST_LIST: as asked for; relatives and ORDER; of others
                             those it has; SEPARATION, DSEP: a trail that is active, or, of those that
                             are separated, functions of the given ones if it rests on them; of no
                             IMAP: x, y and what is given */
    size_t  values;         /* of these: */
    double *value;          /* MARGINALS: their lists of probabilities; INFORMATIVE: nats, falling;
                      BEST_LIST: probabilities given e, falling; CAUSES: [n x 3] before and after the
                      evidence, and the Bayes factor, falling; Gaussian: [n] means */
    double *se;             /* [values] MARGINALS, CAUSES by samples: standard errors; else NULL */
    size_t  covariances;
    double *covariance; /* Gaussian TABLE, BEST: [n x n]; MARGINALS: [n] the variances */
    size_t  rows, n_states, *states; /* BEST, BEST_LIST [rows x n]; CAUSES [n] */
    size_t *begin; /* [rows + 1] of MORAL, CLIQUES: set i of variables begins at states[begin[i]] */
    cr_parameter *parameter;  /* SENSITIVITY [rows], the largest first */
    double        number;     /* PROBABILITY, SENSITIVITY; ENTROPY and INFORMATION in nats; BEST:
                             P(states | e), NaN where P(e) would take too long; Gaussian: densities */
    double        log_number; /* the log of it; not of ENTROPY and INFORMATION */
    double log_joint; /* BEST: log P(states, e); of a Markov network log of the product of tables */
    bool   holds;     /* SEPARATION, DSEP, CHORDAL, IMAP: yes */
    cr_network *about; /* of a network with slices: the variables that the numbers above mean; else
                          NULL: those of the network that was asked */
} cr_query_answer;     /* all zeros: nothing to free */

/* The usual options. */
CR_API cr_query_options cr_query_defaults(void);
/* Answers a question.  opt_more: findings besides those of the question.  Fails with CR_EARG, with
 * CR_EDATA when the evidence is impossible (and says which part of it), with CR_ENOMEM before any
 * work when it would take too much. */
CR_API cr_status cr_query_run(cr_ctx *cx, const cr_network *net, const cr_question *q,
                              const cr_findings *opt_more, const cr_query_options *opt_o,
                              cr_query_answer *out);
/* The same from the text of the question. */
CR_API cr_status cr_query(cr_ctx *cx, const cr_network *net, const char *text,
                          const cr_findings *opt_more, const cr_query_options *opt_o,
                          cr_query_answer *out);
/* What AUTO takes for all marginals of this network without evidence: CR_QUERY_JT; CR_QUERY_VE, which holds some
 * variables fixed in turn, where one tree does not fit into memory; or CR_QUERY_APPROXIMATE + a method.  why: a
 * sentence if it is not exact, else "". */
CR_API cr_status cr_query_plan(cr_ctx *cx, const cr_network *net, const cr_query_options *opt_o,
                               cr_query_method *out_method, char out_why[256]);
/* Frees what an answer holds and leaves none. */
CR_API void cr_query_answer_free(cr_ctx *cx, cr_query_answer *a);

#endif
