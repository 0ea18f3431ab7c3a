/* gaussian_network.h -- linear-Gaussian networks: continuous variables, one multivariate normal.
 *   x_v | parents ~ N(b_v + sum_p w_vp x_p, s_v)
 * With W [n x n] of the weights, b and S = diag(s):  x = (I - W)^-1 (b + noise), so
 *   mean = (I - W)^-1 b,   covariance = (I - W)^-1 S (I - W)^-T,   information J = (I - W)^T S^-1
 * (I - W). Koller & Friedman (2009), sec. 7.2. */
#ifndef CREDENCE_GRAPH_NETWORK_GAUSSIAN_NETWORK_H
#define CREDENCE_GRAPH_NETWORK_GAUSSIAN_NETWORK_H

#include "math/dense/view.h"
#include "graph/factor/variable.h"

typedef struct cr_gaussian_network cr_gaussian_network;

/* An empty network. */
CR_API cr_status cr_gaussian_network_new(cr_ctx *cx, cr_gaussian_network **out_net);
/* Frees a network.  NULL is allowed. */
CR_API void cr_gaussian_network_free(cr_ctx *cx, cr_gaussian_network *net);
/* Adds a variable; its n parents must be there already, so there are no cycles.  variance >= 0.
 * Fails with CR_EDATA on a name that is taken, a parent that is missing, or numbers that are not
 * finite. */
CR_API cr_status cr_gaussian_network_add(cr_ctx *cx, cr_gaussian_network *net, const char *name,
                                         size_t n, const size_t *parents, const double *weights,
                                         double intercept, double variance, size_t *opt_index);
/* The name of the network; "" at first. */
CR_API const char *cr_gaussian_network_name(const cr_gaussian_network *net);
/* Names the network. */
CR_API cr_status cr_gaussian_network_set_name(cr_ctx *cx, cr_gaussian_network *net,
                                              const char *name);
/* How many variables there are. */
CR_API size_t cr_gaussian_network_size(const cr_gaussian_network *net);
/* The variable of this name; CR_EARG, with the nearest, if there is none. */
CR_API cr_status cr_gaussian_network_find(cr_ctx *cx, const cr_gaussian_network *net,
                                          const char *name, size_t *out_v);
/* The variables, for names; each has one state, which stands for all values. */
CR_API const cr_variables *cr_gaussian_network_names(const cr_gaussian_network *net);

/* Its graph is undirected: the m edges a[i] - b[i] between variables that are there, of strengths that may be drawn, in
 * place of the arcs, which then are one way to write the distribution down.  CR_EARG, CR_ENOMEM. */
CR_API cr_status cr_gaussian_network_set_edges(cr_ctx *cx, cr_gaussian_network *net, size_t m,
                                               const size_t *a, const size_t *b,
                                               const double *strength);

typedef struct cr_gaussian_edges {
    bool          undirected; /* else the graph is that of the arcs */
    size_t        m;
    const size_t *a, *b;    /* [m] */
    const double *strength; /* [m] partial correlations */
} cr_gaussian_edges;        /* borrowed from the network */

/* The edges of a network with an undirected graph. */
CR_API cr_gaussian_edges cr_gaussian_network_edges(const cr_gaussian_network *net);

typedef struct cr_gaussian_node {
    size_t        n;
    const size_t *parents; /* [n] */
    const double *weights; /* [n] */
    double        intercept, variance;
} cr_gaussian_node; /* borrowed from the network */

/* Variable v: its parents, and how it depends on them. */
CR_API cr_gaussian_node cr_gaussian_network_node(const cr_gaussian_network *net, size_t v);
/* Sets v to this value, whatever its parents are: do(v = value).  CR_EARG. */
CR_API cr_status cr_gaussian_network_intervene(cr_ctx *cx, cr_gaussian_network *net, size_t v,
                                               double value);
/* A network of its own that is the same. */
CR_API cr_status cr_gaussian_network_copy(cr_ctx *cx, const cr_gaussian_network *net,
                                          cr_gaussian_network **out_net);
/* The joint: mean [n], covariance [n x n].  O(n^2 times the mean number of parents).
 * CR_ENUMERIC when they are too large for numbers; then the outputs hold no result. */
CR_API cr_status cr_gaussian_network_joint(cr_ctx *cx, const cr_gaussian_network *net,
                                           double *out_mean, cr_mat out_covariance);
/* The information form: J [n x n] and h = J mean [n].  CR_ENUMERIC when a variance is 0. */
CR_API cr_status cr_gaussian_network_information(cr_ctx *cx, const cr_gaussian_network *net,
                                                 double *out_h, cr_mat out_J);
/* Given k observed variables with their values: mean [n] and covariance [n x n] of all (those
 * observed: their values and 0), and the log density of the observations.  CR_ENUMERIC when they
 * are tied to each other. */
CR_API cr_status cr_gaussian_network_condition(cr_ctx *cx, const cr_gaussian_network *net, size_t k,
                                               const size_t *observed, const double *values,
                                               double *out_mean, cr_mat out_covariance,
                                               double *opt_log_density);

#endif
