/* independence.h -- is x independent of y given others?  Asked of a graph or of data.
 * Learners by constraints (pc.h, blanket.h) know nothing but this: a function that gives a verdict,
 * which cannot fail and may run on several threads, each with a workspace of its own.
 *   oracle    d-separation in a DAG: what endless data of a faithful distribution would say
 *   g2        G^2 = 2 sum n_xyz ln(n_xyz n_z / (n_xz n_yz)) = 2 n I(x; y | z), p from chi^2(df)
 *   x2        Pearson's sum (n_xyz - e_xyz)^2 / e_xyz,  e_xyz = n_xz n_yz / n_z, likewise
 *   mi        dependent when n I(x; y | z) > df/2 ln n, what BIC charges for the arc: no level alpha
 *   fisher-z  sqrt(n - k - 3) atanh(r), r the partial correlation given the k others, p from the normal
 * df = sum over z of (levels of x seen with z - 1) (levels of y seen with z - 1), so that a table with
 * empty margins is not asked for more than it has.  Spirtes, Glymour & Scheines (2000), Causation,
 * Prediction, and Search, sec. 5.5; Agresti (2013), Categorical Data Analysis, sec. 3.2.
 *   1. oracle.c            d-separation
 *   2. test_states.c       g2, x2 and mi from columns of states
 *   3. test_correlation.c  Fisher's z from a matrix of correlations
 * (Internal header.) */
#ifndef CREDENCE_GRAPH_LEARN_INDEPENDENCE_H
#define CREDENCE_GRAPH_LEARN_INDEPENDENCE_H

#include "local_score.h"
#include "pdag.h"

typedef struct cri_verdict {
    bool   independent;
    double p;           /* of a dependence at least as strong where there is none; oracle: 0 or 1 */
    double association; /* how strong: I(x; y | z) in nats, of normal variables for
                           fisher-z; oracle: 1 / arcs of the shortest active trail */
} cri_verdict;

typedef struct cri_independence {
    size_t      n; /* variables */
    const void *arg;
    /* Bytes that one verdict given at most so many others works in. */
    size_t (*workspace)(const void *arg, size_t most_given);
    cri_verdict (*verdict)(const void *arg, void *workspace, size_t x, size_t y, size_t k,
                           const size_t *given);
} cri_independence;

/* d-separation in a DAG, which is borrowed.  O(n^2) a question. */
cri_independence cri_independence_oracle(const cri_pdag *dag);

typedef enum cri_state_statistic { CRI_TEST_G2, CRI_TEST_X2, CRI_TEST_MI } cri_state_statistic;

typedef struct cri_state_test {
    const cri_cases_table *data;
    cri_state_statistic    statistic;
    double                 alpha;
    size_t                 most_states, more_states; /* of any variable; of the next */
} cri_state_test;
/* A test of these cases, which are borrowed.  Fails with CR_EUNSUPPORTED for 2^30 rows x states. */
cr_status cri_state_test_of(cr_ctx *cx, const cri_cases_table *data, cri_state_statistic statistic,
                            double alpha, cri_state_test *out);
/* O(rows (k + 1)) a question, rows that differ, exact for any number of others: states of the given
 * that do not occur cost nothing.  Memory of one: about 20 rows + 4 max(rows most_states, 2^16) bytes.
 * Which rows were set or held out is not looked at. */
cri_independence cri_independence_states(const cri_state_test *test);

typedef struct cri_correlation_test {
    size_t        n;
    double        rows, alpha;
    const double *correlation; /* [n x n] */
} cri_correlation_test;
/* O(k^3) a question.  With no degree of freedom left nothing can be shown: independent. */
cri_independence cri_independence_correlations(const cri_correlation_test *test);

#endif
