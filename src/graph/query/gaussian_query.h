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

/* Reads a question: of a finding weight[0] is the value.  CR_EARG, as cr_question_parse. */
CR_API cr_status cr_gaussian_question_parse(cr_ctx *cx, const cr_gaussian_network *net,
                                            const char *text, cr_question **out_q);
/* Adds values that are known from JSON, {"x": 1.2}, {"x": {"do": 1.2}}.  CR_EDATA, CR_EIO. */
CR_API cr_status cr_gaussian_findings_read(cr_ctx *cx, cr_findings *list,
                                           const cr_gaussian_network *net, const char *path);
/* The same from the bytes of such JSON; `source` is their name in messages. */
CR_API cr_status cr_gaussian_findings_parse(cr_ctx *cx, cr_findings *list,
                                            const cr_gaussian_network *net, const char *source,
                                            const char *bytes, size_t size);
/* Answers a question.  opt_more: values that are known besides.  Fails with CR_EARG when it makes
 * no sense of values, with CR_ENUMERIC when what is observed determines itself.
 * O(n^2 (parents + observed) + observed^3). */
CR_API cr_status cr_gaussian_query_run(cr_ctx *cx, const cr_gaussian_network *net,
                                       const cr_question *q, const cr_findings *opt_more,
                                       cr_query_answer *out);
/* The same from the text of the question. */
CR_API cr_status cr_gaussian_query(cr_ctx *cx, const cr_gaussian_network *net, const char *text,
                                   const cr_findings *opt_more, cr_query_answer *out);

#endif
