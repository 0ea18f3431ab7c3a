/* interface_internal.h -- the elimination of one slice as a program: steps that are planned once and run for
 * every slice with the same variables observed.  (Internal header.) */
#ifndef CREDENCE_GRAPH_EXACT_INTERFACE_INTERNAL_H
#define CREDENCE_GRAPH_EXACT_INTERFACE_INTERNAL_H

#include "interface.h"
#include "base/scratch.h"
#include "graph/factor/combine.h"

/* Within a program variable v of the slice before has the id v, that of the slice itself n + v. */

/* What is known of a variable, as far as the steps depend on it. */
typedef enum cri_seen { CRI_SEEN_NOT, CRI_SEEN_WEIGHED, CRI_SEEN_STATE, CRI_SEEN_SET } cri_seen;

typedef enum cri_source_of {
    CRI_FROM_TABLE,      /* that of variable `index` */
    CRI_FROM_MESSAGE,    /* alpha of the slice before */
    CRI_FROM_LIKELIHOOD, /* lambda of variable `index` */
    CRI_FROM_STEP        /* what step `index` left */
} cri_source_of;

/* A table that a step multiplies. */
typedef struct cri_input {
    cri_source_of from;
    size_t        index;
    size_t        fixed;  /* observed variables of its scope: */
    size_t       *id;     /* [fixed] which */
    size_t       *stride; /* [fixed] by how much each state moves it */
} cri_input;

/* One variable is summed out of the product of some tables; or none, at the last step and where many tables are
 * multiplied some at a time, so that their product can be scaled. */
typedef struct cri_step {
    size_t       eliminated; /* its id, or CR_NONE */
    bool         last;       /* makes alpha */
    cri_space    space;
    size_t       inputs, size; /* size: entries that it leaves */
    cri_input   *input;
    cri_operand *in;           /* [inputs] with the strides */
    size_t       inner, block; /* the last variables of the space, and their joint states: */
    uint32_t *
        *at; /* [inputs + 1][block] where each table is, and the output; NULL: a large space */
    cri_output out;   /* with the strides */
    cri_input  place; /* of the last step: where in alpha */
    double    *value; /* [size] what it leaves, */
    double *
        adjoint; /* [size] and the derivative by it; of the last step NULL, both are the caller's */
    bool carries; /* depends on alpha of the slice before */
} cri_step;

typedef struct cri_program {
    cr_scratch     s;
    bool           first; /* of slice 1 */
    unsigned char *key;   /* [2n] what is seen of each id */
    size_t         steps;
    cri_step      *step; /* [steps] */
    double         operations;
    size_t         width;
} cri_program;

enum {
    CRI_MOST_PROGRAMS = 32,
    CRI_MOST_BLOCK = 1 << 10,  /* entries that have a list of places */
    CRI_LARGE_SPACE = 1 << 13, /* from here on the general walk over tables pays (combine.h) */
    CRI_MOST_INPUTS = 8        /* of a step */
};

struct cri_interface {
    const cri_dynamic *net;
    const cr_network  *first, *next;
    cr_network        *own_first, *own_next; /* with tables in place of many effects; or NULL */
    size_t             n, members, *member;  /* variables of the interface, ascending */
    size_t             size;                 /* of alpha; the last member runs fastest */
    size_t            *offset;               /* [n + 1] where the states of v begin among all */
    double *likelihood;   /* [width] lambda of the slice at hand; of the interface where weighed */
    double *derivative;   /* [width] by these */
    double *marginal;     /* [width] */
    unsigned char *key;   /* [2n] */
    size_t        *state; /* [2n] of what is observed, by id */
    bool           blank; /* nothing is known of the slice at hand */
    bool           lost;  /* some product underflowed */
    /* Of cri_interface_count at work, else NULL; d Z / d p(x | parents) by the places of a table, and in the order of a
     * space; entries of the largest table. */
    const cri_family_sums *sums;
    double                *family; /* [2 x entries]; NULL: not yet needed */
    size_t                 entries;
    cr_scratch             s;
    cri_program           *program[CRI_MOST_PROGRAMS]; /* the latest first */
    size_t                 programs;
};

/* --- planning (interface_plan.c) -------------------------------------------------------------- */

/* The program of a slice in which this is seen, key [2n].  scopes_only: without memory for tables. */
cr_status cri_program_new(cr_ctx *cx, const cri_interface *h, bool first, const unsigned char *key,
                          bool scopes_only, cri_program **out);
void      cri_program_free(cr_ctx *cx, cri_program *p);

/* --- running (interface_run.c) ---------------------------------------------------------------- */

/* Makes slice t the one at hand: its program, likelihoods and states. */
cr_status cri_slice_open(cr_ctx *cx, cri_interface *h, const cri_slice_evidence *e, size_t t,
                         cri_program **out);
/* alpha [size] from that of the slice before (NULL: the first slice); sums to 1, or by maxima has the maximum 1.
 * *out_log: the log of what it was divided by; -INFINITY: impossible.  CR_ENOMEM. */
cr_status cri_slice_forward(cr_ctx *cx, cri_interface *h, cri_program *p, bool maximise,
                            const double *before, double *out, double *out_log);
/* After cri_slice_forward by sums: from alpha and beta [size] of the slice, which is overwritten, the marginals into
 * h->marginal and beta of the slice before; with the marginals, the families into h->sums, where they are wanted. */
cr_status cri_slice_backward(cr_ctx *cx, cri_interface *h, cri_program *p, const double *before,
                             const double *alpha, double *beta, bool marginals,
                             double *opt_beta_before);
/* After cri_slice_forward by maxima: h->state has the states of the interface; gets those of all others, and of the
 * interface before. */
void cri_slice_trace(cri_interface *h, cri_program *p, const double *before);

#endif
