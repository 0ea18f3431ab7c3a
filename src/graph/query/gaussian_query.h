/* gaussian_query.h -- questions to a linear-Gaussian network, written as formulas (query.h).
 *
 *     P(x | e)        mean and variance of x          P(x, y | e)   mean and covariance of both
 *     P(* | e)        of every variable that is open  P(x=1.2 | e)  a density
 *     argmax(x | e)   the mode, which is the mean     x _|_ y | z   are they separated?
 *     H(x | w, e)     differential entropy            I(x; y | w, e), I(x; * | e)  information
 *
 * e is a list of values, x=1.2, and of do(x=1.2).  All answers are those of one multivariate
 * normal,
 *
 *     mean_a + S_ab S_bb^-1 (x_b - mean_b),   S_aa - S_ab S_bb^-1 S_ba,
 *
 *     H = log det(2 pi e S) / 2,   I(x; y) = (log det S_x + log det S_y - log det S_xy) / 2.
 *
 * Koller & Friedman (2009), sec. 7.1-7.2; Cover & Thomas (2006), sec. 8.4. */
#ifndef CREDENCE_GRAPH_QUERY_GAUSSIAN_QUERY_H
#define CREDENCE_GRAPH_QUERY_GAUSSIAN_QUERY_H

#include "graph/network/gaussian_network.h"
#include "query.h"

typedef struct cr_gaussian_answer {
    cr_question_kind kind;
    size_t           n, *variable; /* TABLE, BEST: as asked for; MARGINALS: those that are open */
    double          *mean;         /* [n] of these */
    double          *covariance;   /* [n x n] of these; of MARGINALS [n], the variances */
    size_t           covariances;  /* how many numbers that are */
    double          *value;        /* [n] INFORMATIVE: nats, falling */
    double number;     /* ENTROPY and INFORMATION in nats; PROBABILITY, BEST: the density given e */
    double log_number; /* of a density its log */
    double log_evidence;         /* log density of e; NaN where it was not needed */
    bool   separated;            /* SEPARATION */
    size_t trail_length, *trail; /* if not: the nodes of a trail that is active */
} cr_gaussian_answer;            /* all zeros: nothing to free */

typedef struct cr_gaussian_values {
    size_t  n, room, *variable;
    double *value;
} cr_gaussian_values; /* all zeros: none */

/* Reads values that are known from JSON, {"x": 1.2}.  CR_EDATA, CR_EIO. */
CR_API cr_status cr_gaussian_values_read(cr_ctx *cx, const cr_gaussian_network *net,
                                         const char *path, cr_gaussian_values *out);
/* Frees the list and leaves none. */
CR_API void cr_gaussian_values_free(cr_ctx *cx, cr_gaussian_values *list);

/* Answers a question.  opt_more: values that are known besides.  Fails with CR_EARG when the
 * question cannot be read or makes no sense of values, with CR_ENUMERIC when what is observed
 * determines itself.  O(n^2 (parents + observed) + observed^3). */
CR_API cr_status cr_gaussian_query(cr_ctx *cx, const cr_gaussian_network *net, const char *text,
                                   const cr_gaussian_values *opt_more, cr_gaussian_answer *out);
/* Frees what an answer holds and leaves none. */
CR_API void cr_gaussian_answer_free(cr_ctx *cx, cr_gaussian_answer *a);

#endif
