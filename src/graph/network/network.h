/* network.h -- discrete Bayesian and Markov networks.
 *   Bayesian:  p(x) = prod_v p(x_v | parents of v), a table per variable; the arcs form no cycle
 *   Markov:    p(x) = (1/Z) prod_i phi_i(scope_i),  a list of tables
 * One type serves both: a list of variables (variable.h) and a list of tables.  In a Bayesian
 * network table v belongs to variable v and its scope is (parents of v, v).  A scope keeps the
 * order in which it was given and the last variable runs fastest, so rows of a conditional table
 * are adjacent and files can be written back as they were read. Koller & Friedman (2009), ch. 3-5.
 */
#ifndef CREDENCE_GRAPH_NETWORK_NETWORK_H
#define CREDENCE_GRAPH_NETWORK_NETWORK_H

#include "graph/factor/factor.h"
#include "graph/factor/variable.h"

typedef struct cr_network cr_network;

typedef enum cr_network_kind { CR_NETWORK_BAYES, CR_NETWORK_MARKOV } cr_network_kind;

/* How a table came about.  All kinds are kept as tables but for a noisy-or or noisy-max of many
 * parents, which is kept as the effects of each (cpd.h). */
typedef enum cr_cpd_kind {
    CR_CPD_NONE, /* no table yet */
    CR_CPD_TABLE,
    CR_CPD_DETERMINISTIC,
    CR_CPD_NOISY_OR,
    CR_CPD_NOISY_MAX,
    CR_CPD_TREE,
    CR_CPD_LOG_LINEAR
} cr_cpd_kind;

typedef struct cr_table_view {
    size_t        n, size; /* variables of the scope; entries */
    const size_t *scope;   /* [n] as given; in a Bayesian network the child is last */
    const double *value;   /* [size] the last variable runs fastest; NULL: no table yet, or too
                              large a noisy-or or noisy-max */
    cr_cpd_kind   kind;
    const char   *source; /* the parameters of the kind as JSON, as they were given; or NULL */
} cr_table_view;          /* borrowed from the network; valid until it changes */

/* An empty network.  Fails with CR_ENOMEM only. */
CR_API cr_status cr_network_new(cr_ctx *cx, cr_network_kind kind, cr_network **out_net);
/* Frees a network.  NULL is allowed. */
CR_API void cr_network_free(cr_ctx *cx, cr_network *net);
/* A network of its own that is the same. */
CR_API cr_status cr_network_copy(cr_ctx *cx, const cr_network *net, cr_network **out_net);
/* Bayesian or Markov. */
CR_API cr_network_kind cr_network_get_kind(const cr_network *net);
/* The name of the network; "" at first. */
CR_API const char *cr_network_name(const cr_network *net);
/* Names the network. */
CR_API cr_status cr_network_set_name(cr_ctx *cx, cr_network *net, const char *name);

/* Adds a variable: see cr_variables_add.  In a Bayesian network it has no parents and no table yet.
 */
CR_API cr_status cr_network_add_variable(cr_ctx *cx, cr_network *net, const char *name,
                                         size_t states, const char *const *opt_state_names,
                                         size_t *opt_index);
/* The variables, for names and lookups. */
CR_API const cr_variables *cr_network_variables(const cr_network *net);
/* How many variables there are. */
CR_API size_t cr_network_size(const cr_network *net);
/* The number of states of variable v. */
CR_API size_t cr_network_states(const cr_network *net, size_t v);

/* Bayesian: the parents of v, in this order; drops a table that v had.  Fails with CR_EDATA when
 * one is v itself or stands twice; cycles are found by cr_network_check, and whether a table fits
 * into memory when it is set. */
CR_API cr_status cr_network_set_parents(cr_ctx *cx, cr_network *net, size_t v, size_t n,
                                        const size_t *parents);
/* Bayesian: the parents of v; *out_n of them. */
CR_API const size_t *cr_network_parents(const cr_network *net, size_t v, size_t *out_n);
/* Bayesian: sets p(v | parents): [rows x states], one row per assignment of the parents, the last
 * parent running fastest.  A row whose sum is off by less than 1e-3 is divided by it (one warning
 * per table if it is off by more than 1e-6, so that digits rounded in a file pass silently);
 * otherwise, or when a value is negative or not finite, fails with CR_EDATA and names the row. */
CR_API cr_status cr_network_set_table(cr_ctx *cx, cr_network *net, size_t v, const double *values);
/* The same, remembering what it was made from (cpd.h). */
CR_API cr_status cr_network_set_table_kind(cr_ctx *cx, cr_network *net, size_t v,
                                           const double *values, cr_cpd_kind kind);
/* Markov: adds a table over n variables (n = 0: a constant), the last running fastest. */
CR_API cr_status cr_network_add_table(cr_ctx *cx, cr_network *net, size_t n, const size_t *scope,
                                      const double *values);
/* The same, remembering what it was made from. */
CR_API cr_status cr_network_add_table_kind(cr_ctx *cx, cr_network *net, size_t n,
                                           const size_t *scope, const double *values,
                                           cr_cpd_kind kind);
/* How many tables there are: the number of variables in a Bayesian network. */
CR_API size_t cr_network_tables(const cr_network *net);
/* Table i as it was given. */
CR_API cr_table_view cr_network_table(const cr_network *net, size_t i);
/* Table i as a factor (a copy, scope sorted). */
CR_API cr_status cr_network_factor(cr_ctx *cx, const cr_network *net, size_t i, cr_factor *out_f);

/* Is this a complete network?  Fails with CR_EDATA when a variable has no table, or names a cycle
 * with its nodes.  Every engine calls it.  O(variables + arcs). */
CR_API cr_status cr_network_check(cr_ctx *cx, const cr_network *net);

/* Remarks that files carry (position, author ...), kept in order: about variable v, or about the
 * network when v is CR_NONE. */
CR_API cr_status cr_network_add_property(cr_ctx *cx, cr_network *net, size_t v, const char *text);
/* How many remarks there are. */
CR_API size_t cr_network_properties(const cr_network *net);
/* Remark i; *opt_v gets its variable or CR_NONE. */
CR_API const char *cr_network_property(const cr_network *net, size_t i, size_t *opt_v);

/* The network in which nothing acts on v any more and v is in `state` for certain: do(v = state).
 * Bayesian only (CR_EARG). */
CR_API cr_status cr_network_intervene(cr_ctx *cx, cr_network *net, size_t v, size_t state);
/* log p(x) of a full assignment [variables]; of a Markov network without -log Z. */
CR_API double cr_network_log_value(const cr_network *net, const size_t *state);

#endif
