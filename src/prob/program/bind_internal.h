/* bind_internal.h -- what the parts of the binder share.  (Internal header.) */
#ifndef CREDENCE_PROB_PROGRAM_BIND_INTERNAL_H
#define CREDENCE_PROB_PROGRAM_BIND_INTERNAL_H

#include "binder.h"
#include "kernels.h"

typedef enum cri_name_role {
    CRI_NAME_DATA,
    CRI_NAME_PARAMETER,
    CRI_NAME_DERIVED,
    CRI_NAME_LOCAL
} cri_name_role;

typedef struct cri_bound_variable {
    const char   *name;
    cri_name_role role;
    cri_value     value;
    double       *own_data; /* the value's numbers, where they may be written                     */
    cri_slot     *own_slot;
    size_t        room; /* entries there is place for: of a vector, more than it has */
    bool          has_prior, set;
    const cri_syntax *declared; /* its DECLARE, or NULL                                        */
} cri_bound_variable;

typedef struct cri_own_function {
    const char       *name;
    const cri_syntax *node;
} cri_own_function;

typedef struct cri_binder {
    cr_ctx                *cx;
    const cri_syntax_tree *tree;
    cri_bound             *p;
    cr_scratch             s; /* what lives as long as the binding                             */
    cri_bound_variable    *variable;
    size_t                 n_variables, most_variables;
    cri_own_function      *function;
    size_t                 n_functions, most_functions;
    size_t                 depth; /* of calls of the program's functions                        */
    uint64_t               steps; /* statements followed so far                                 */
    bool                   stan;  /* with blocks: whole numbers divide as whole numbers         */
    bool                   leaving, breaking, continuing; /* return, break, continue            */
    cri_value              returned;
    bool                   density; /* does the statement at hand count for the density?        */
    char                  *chunk;   /* of what values are made in                            */
    size_t                 chunk_left;
    const double          *given; /* numbers put into the tape last: not twice                */
    size_t                 n_given;
    cri_slot               given_at;
} cri_binder;

#define CRI_BIND_FAIL(b, node, ...) cri_syntax_fail((b)->cx, (b)->tree, node, __VA_ARGS__)

cri_bound_variable *cri_bind_find(const cri_binder *b, const char *name);
/* A new variable; a local one hides those of the same name. */
cr_status cri_bind_variable(cri_binder *b, const char *name, cri_name_role role,
                            cri_bound_variable **out);

/* --- values ----------------------------------------------------------------------------------- */
cri_value cri_value_number(cri_binder *b, double x, bool whole);
cri_value cri_value_shaped(const cri_value *like); /* its shape, no numbers yet                 */
double   *cri_value_fill(cri_binder *b, cri_value *v);  /* known numbers, to be written         */
cri_slot *cri_value_slots(cri_binder *b, cri_value *v); /* slots, to be written                 */
/* All entries as slots one after another in the tape. */
cri_slot cri_value_run(cri_binder *b, const cri_value *v);
/* Entry i as a slot. */
cri_slot cri_value_slot(cri_binder *b, const cri_value *v, size_t i);
/* The value whose entries are the n slots from `at`. */
cri_value cri_value_of_run(cri_binder *b, const cri_value *like, cri_slot at);
/* Entries picked by position. */
cri_value cri_value_pick(cri_binder *b, const cri_value *from, const size_t *place,
                         const cri_value *shape);
/* "vector of 3", for sentences. */
enum { CRI_SHAPE_TEXT = 64 };
const char *cri_value_shape(const cri_value *v, char out[CRI_SHAPE_TEXT]);

/* --- expressions and statements --------------------------------------------------------------- */
cr_status cri_bind_expression(cri_binder *b, const cri_syntax *node, cri_value *out);
/* A known whole number. */
cr_status cri_bind_whole(cri_binder *b, const cri_syntax *node, const char *what, size_t *out);
cr_status cri_bind_number(cri_binder *b, const cri_syntax *node, const char *what, double *out);
/* f(x) or f(x, z), entry by entry. */
cr_status cri_bind_each(cri_binder *b, const cri_syntax *node, const cri_each_function *f,
                        const cri_value *x, const cri_value *opt_z, cri_value *out);
cr_status cri_bind_product(cri_binder *b, const cri_syntax *node, const cri_value *x,
                           const cri_value *z, cri_value *out);
cr_status cri_bind_call(cri_binder *b, const cri_syntax *node, cri_value *out);
/* log density of y given the parameters, summed; y and arguments [n_arguments]. */
cr_status cri_bind_log_density(cri_binder *b, const cri_syntax *node, const char *name,
                               const cri_value *y, const cri_value *argument, size_t n,
                               cri_value *out);
/* The same of distributions of several numbers together; *out_found: is it one of them? */
cr_status cri_bind_joint(cri_binder *b, const cri_syntax *node, const char *name,
                         const cri_value *y, const cri_value *argument, size_t n, bool *out_found,
                         cri_value *out);
/* The places that the indices of an INDEX node say, in a value of this shape, and the shape of what
 * is there. */
cr_status cri_bind_places(cri_binder *b, const cri_syntax *node, const cri_value *of,
                          size_t **out_place, cri_value *out_shape);
/* Refuses T[low, high] of a TILDE where it is more than a constant (bind_truncate.c). */
cr_status cri_bind_truncation(cri_binder *b, const cri_syntax *tilde,
                              const cri_bound_variable *opt_left, const cri_value *argument,
                              size_t n);
cr_status cri_bind_statement(cri_binder *b, const cri_syntax *node);
cr_status cri_bind_body(cri_binder *b, const cri_syntax *first);
/* Gives a variable of that shape storage; NaN until it is set. */
cr_status cri_bind_declare(cri_binder *b, const cri_syntax *declare, const cri_syntax *declared,
                           cri_name_role role, cri_bound_variable **out);
/* A parameter: unconstrained slots, the transform to its support, the Jacobian. */
cr_status cri_bind_parameter(cri_binder *b, const cri_syntax *node, const char *name,
                             cri_value *shape, cri_constraint support, const cri_value *low,
                             const cri_value *high);

#endif
