/* terms_make.h -- from items of --terms to columns and terms of a design.  (Internal header.) */
#ifndef CREDENCE_DATA_DESIGN_TERMS_MAKE_H
#define CREDENCE_DATA_DESIGN_TERMS_MAKE_H

#include "design_fit.h"
#include "made.h"

/* The items that are left when '.' and '-' are done, each once, in the order of their number of
 * atoms; their atoms know their columns in the table.  The sparse columns that are used as they are
 * are not among them: in_block says which. */
typedef struct cri_term_list {
    cri_term_item **items; /* [n] */
    size_t          n;
    bool           *in_block; /* [columns of the block]; NULL where they are spread out */
    cri_term_item  *varying;  /* (1 | COLUMN), which has no terms; NULL = none          */
} cri_term_list;

/* (terms_resolve.c)  Fails with CR_EARG or CR_EDATA where a column is not there, is not a feature or
 * has not the type that a function needs. */
cr_status cri_terms_resolve(cr_scratch *s, const cr_table *table, const cri_design_plan *plan,
                            cri_term_list *out);

/* A design while it is made. */
typedef struct cri_maker {
    cr_scratch            *s;
    const cr_table        *t;
    const cri_design_plan *plan;
    cri_term_list          list;
    cr_design             *d;
    const char           **keys; /* [functions] what the columns behind those read are of */
    size_t                 columns, terms, products; /* so far                            */
    bool                   counting; /* nothing is made yet                               */
} cri_maker;

/* The next column of the design, made of n others, whose factors are to be filled in. */
cr_status cri_maker_column(cri_maker *m, cri_made_kind kind, const char *name, cr_type type,
                           size_t n, cri_design_column **out);
/* (terms_cross.c)  The terms, and the columns that interactions need. */
cr_status cri_maker_cross(cri_maker *m);

#endif
