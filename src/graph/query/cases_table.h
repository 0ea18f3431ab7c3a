/* cases_table.h -- rows of evidence from a table: which of its columns name variables, what their cells say,
 * and whose posterior is asked for.  (Internal header.) */
#ifndef CREDENCE_GRAPH_QUERY_CASES_TABLE_H
#define CREDENCE_GRAPH_QUERY_CASES_TABLE_H

#include "methods.h"
#include "data/table/table.h"

/* A column that names a variable. */
typedef struct cri_case_column {
    size_t           variable;
    bool             gaps;   /* some row may have no value */
    const cr_column *column; /* of a table; of states what its levels mean: */
    size_t          *state;  /* [levels] */
    size_t           place;  /* of text that streams: which cell */
} cri_case_column;

/* How rows follow each other, in a network with slices. */
typedef struct cri_case_order {
    const char *sequence,
        *time;     /* columns; NULL: all rows are one sequence, in the order of the table */
    bool filtered; /* posteriors given the rows so far */
} cri_case_order;

/* Refuses two columns of one variable, which may contradict each other: CR_EDATA. */
cr_status cri_cases_refuse_twice(cr_scratch *s, const cr_variables *vs, const char *source,
                                 const char *const *names, size_t n);
/* Says once which columns name no variable. */
void cri_cases_warn_unused(cr_ctx *cx, const cr_variables *vs, const char *const *names, size_t n);
/* The columns of a table that name variables of a network, in the arena, and what their levels mean; those of the
 * order are none of them.
 * *out_n is 0 where there are none.  CR_EDATA for a level that is no state, or a text where a value should
 * be. */
cr_status cri_cases_match(cr_scratch *s, cri_any_network any, const cr_table *t,
                          const cri_case_order *opt_order, cri_case_column **out, size_t *out_n);
/* Fails with CR_EARG where there is an order, but rows are cases by themselves. */
cr_status cri_cases_refuse_order(cr_ctx *cx, cri_any_network any, const cri_case_order *opt_order);
/* Of a network with slices, whose rows follow each other: takes them all.  Of others nothing, or, where an order is
 * given, CR_EARG. */
cr_status cri_cases_follow(cri_cases *c, const cr_table *t, const cri_case_order *opt_order,
                           const cri_case_column *columns, size_t n);
/* What a row of the table says of a column: a state, a value, or NaN. */
double cri_case_cell(const cri_case_column *k, size_t row);

/* Evidence that all rows have must not stand in a column too, and cannot be soft.  `source` and `table` are
 * their names in messages. */
cr_status cri_cases_check_known(cr_ctx *cx, const cr_variables *vs, const cr_findings *known,
                                const cri_case_column *columns, size_t n, const char *source,
                                const char *table);
/* The variables of a list of names, or, without one, all that are not known in every row. */
cr_status cri_cases_targets(cr_scratch *s, const cri_cases *c, const char *opt_list,
                            const cri_case_column *columns, size_t n, size_t **out, size_t *out_n);
/* What is to be said before the first row: why an approximation was taken; and after the last. */
void cri_cases_warn_method(const cri_cases *c);
void cri_cases_warn_rows(const cri_cases *c, size_t rows);

#endif
