/* json_internal.h -- what the parts of the JSON reader share.  (Internal header.) */
#ifndef CREDENCE_GRAPH_FILES_JSON_INTERNAL_H
#define CREDENCE_GRAPH_FILES_JSON_INTERNAL_H

#include "json_network.h"
#include "json_text.h"
#include "base/scratch.h"

typedef struct cri_json_network {
    cri_json    d;
    cr_network *net;
} cri_json_network;

/* Adds variable `name` with its states: a list of names, or their number. */
cr_status cri_json_variable(cri_json_network *f, const char *name, const json_t *at,
                            json_t *states);
/* The variable of this name, the state of this name; fails at the value, or at the key. */
cr_status cri_json_find_variable(const cri_json_network *f, const json_t *at, const char *opt_key,
                                 const char *name, size_t *out_v);
cr_status cri_json_find_state(const cri_json_network *f, const json_t *at, const char *opt_key,
                              size_t v, const char *name, size_t *out_s);
/* A list of names of variables, none twice; in the arena. */
cr_status cri_json_scope(const cri_json_network *f, cr_scratch *s, json_t *list, size_t *out_n,
                         size_t **out_scope);
/* The entry that the key "yes, no" stands for, of n variables, the last running fastest.  Of one
 * variable the key is the state; of several, states with commas are in double quotes. */
cr_status cri_json_entry(const cri_json_network *f, const json_t *object, const char *key, size_t n,
                         const size_t *scope, size_t *out_entry);
/* Fails: entry `e` is missing in the object. */
cr_status cri_json_no_entry(const cri_json_network *f, const json_t *object, size_t n,
                            const size_t *scope, size_t e);
/* The number of entries over a scope, if the table fits memory. */
cr_status cri_json_entries(const cri_json_network *f, size_t n, const size_t *scope, size_t *out);
/* A list of numbers, lists within lists as may be; exactly n of them. */
cr_status cri_json_numbers(const cri_json *d, json_t *list, const char *what, size_t n,
                           double *out);
/* Keeps the parameters that table i was made from. */
cr_status cri_network_keep(cr_ctx *cx, cr_network *net, size_t i, const json_t *parameters);

/* Adds the variables of an object, each with its states; bayes: it must be given as an object. */
cr_status cri_json_variables(cri_json_network *f, json_t *list, bool bayes);
/* The remarks in an object, about v or, if it is CR_NONE, about the network. */
cr_status cri_json_properties(cri_json_network *f, json_t *object, size_t v);
/* The name and the remarks of the network itself. */
cr_status cri_json_heading(cri_json_network *f);
/* "bayes" or "markov"; a Gaussian one is refused with where it can be read. */
cr_status cri_json_kind(const cri_json *d, bool *out_bayes);

/* The distribution of v in its definition (json_cpd.c), the tables of a Markov network
 * (json_markov.c). */
cr_status cri_json_cpd(cri_json_network *f, size_t v, json_t *definition);
/* The same where other keys are allowed, and have been checked. */
cr_status cri_json_distribution(cri_json_network *f, size_t v, json_t *definition);
cr_status cri_json_markov(cri_json_network *f);
/* "couplings" and "weights" (json_spins.c): adds the variables, then the tables. */
cr_status cri_json_spin_variables(cri_json_network *f);
cr_status cri_json_spin_tables(cri_json_network *f);

#endif
