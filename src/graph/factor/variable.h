/* variable.h -- the discrete variables of a network: a name, and named states.
 * Variables and states are numbered from 0 in the order in which they were added; names are looked
 * up by hashing.  A set of variables is what a network, a table of cases and a query share. */
#ifndef CREDENCE_GRAPH_FACTOR_VARIABLE_H
#define CREDENCE_GRAPH_FACTOR_VARIABLE_H

#include "base/context.h"

/* No variable, no state. */
#define CR_NONE SIZE_MAX

typedef struct cr_variables cr_variables;

/* An empty set of variables.  Fails with CR_ENOMEM only. */
CR_API cr_status cr_variables_new(cr_ctx *cx, cr_variables **out_set);
/* Frees a set of variables.  NULL is allowed. */
CR_API void cr_variables_free(cr_ctx *cx, cr_variables *set);

/* Adds a variable of `states` >= 1 states; names NULL means "0", "1", ...  Fails with CR_EDATA when
 * the name is empty or taken, when there are no states, or when two states have one name.
 * opt_index gets its number. */
CR_API cr_status cr_variables_add(cr_ctx *cx, cr_variables *set, const char *name, size_t states,
                                  const char *const *opt_state_names, size_t *opt_index);
/* How many variables there are. */
CR_API size_t cr_variables_count(const cr_variables *set);
/* The name of variable v. */
CR_API const char *cr_variable_name(const cr_variables *set, size_t v);
/* The number of states of variable v. */
CR_API size_t cr_variable_states(const cr_variables *set, size_t v);
/* The name of state s of variable v. */
CR_API const char *cr_state_name(const cr_variables *set, size_t v, size_t s);
/* The variable of this name.  Fails with CR_EARG, the nearest name as the hint. */
CR_API cr_status cr_variable_find(cr_ctx *cx, const cr_variables *set, const char *name,
                                  size_t *out_v);
/* The state of variable v that has this name.  Fails with CR_EARG, the nearest name as the hint. */
CR_API cr_status cr_state_find(cr_ctx *cx, const cr_variables *set, size_t v, const char *name,
                               size_t *out_s);
/* The same without a failure: CR_NONE when there is none.  For readers that word their own. */
CR_API size_t cr_variable_lookup(const cr_variables *set, const char *name);
/* The state of variable v that has this name, or CR_NONE. */
CR_API size_t cr_state_lookup(const cr_variables *set, size_t v, const char *name);

#endif
