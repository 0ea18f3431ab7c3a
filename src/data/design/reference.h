/* reference.h -- which level of a category goes without a term (--reference): the first, the most frequent or none of
 * every category, and a level of their own for single columns.
 *
 *     first      frequent      none      kind=b      frequent,kind=b,"place=New York, NY"
 *
 * (Internal header.) */
#ifndef CREDENCE_DATA_DESIGN_REFERENCE_H
#define CREDENCE_DATA_DESIGN_REFERENCE_H

#include "design_internal.h"
#include "base/scratch.h"

/* For the categories that are not named. */
typedef enum cri_reference {
    CRI_REFERENCE_FIRST,
    CRI_REFERENCE_FREQUENT,
    CRI_REFERENCE_NONE
} cri_reference;

typedef struct cri_references {
    cri_reference usual;
    size_t        n;
    char        **columns, **levels; /* [n] of the arena */
} cri_references;

/* Reads the text of the option; chosen [columns of the table] says which are features.  Fails with CR_EARG where it is
 * none, or names what is no level of a category among the features. */
cr_status cri_references_read(cr_scratch *s, const cr_table *table, const bool *chosen,
                              const char *text, cri_references *out);
/* The level of its own that the column has, or CRI_NO_LEVEL. */
int cri_references_level(const cri_references *references, const cr_column *column);

#endif
