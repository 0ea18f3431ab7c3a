/* info_internal.h -- columns made ready for counting and measuring, and the estimators on them. */
#ifndef CREDENCE_STUDY_INFO_INTERNAL_H
#define CREDENCE_STUDY_INFO_INTERNAL_H

#include "info.h"
#include "base/rng.h"
#include "base/scratch.h"

/* Streams of random numbers, so that no two uses share any. */
enum {
    CRI_STREAM_SPREAD = 1,
    CRI_STREAM_DRAWS,
    CRI_STREAM_PARTS,
    CRI_STREAM_ORDERS,
    CRI_STREAM_EVEN
};
static inline cr_rng cri_info_rng(uint64_t seed, unsigned use, uint64_t number)
{
    return cr_rng_stream(seed, (uint64_t)use << 48 | number);
}

/* What a column is asked about as; a set of columns is a union of these. */
enum { CRI_A = 1, CRI_B = 2, CRI_GIVEN = 4 };

typedef struct cri_variable {
    const char                 *name;
    unsigned                    role;
    bool                        counted;
    size_t                      levels;     /* of a counted one                                   */
    uint32_t                   *code;       /* [n] below levels                                   */
    double                     *x;          /* [n] standardised, repeated values spread           */
    double                      log_scale;  /* log of the standard deviation it was divided by    */
    double                      resolution; /* in the column's own units; NaN if nothing repeats  */
    const struct cr_neighbours *opt_line;   /* x, ready to be searched; NULL: not yet made */
} cri_variable;

typedef struct cri_variables {
    size_t        n, dropped, m;
    size_t       *row; /* [n] places in the table */
    cri_variable *v;   /* [m]                     */
} cri_variables;

/* --- info_variables.c ------------------------------------------------------------------------ */

/* The columns `names` [m] with these roles, in the arena.  Fails as info.h says of all. */
cr_status cri_variables_read(cr_scratch *s, const cr_table *table, const char *const *names,
                             const unsigned *roles, size_t m, uint64_t seed, cri_variables *out);
/* Rows keep[0..n) of them. */
cr_status cri_variables_some(cr_scratch *s, const cri_variables *all, const size_t *keep, size_t n,
                             cri_variables *out);
/* The column called name; fails with CR_EDATA and the nearest name. */
cr_status cri_info_column(cr_ctx *cx, const cr_table *table, const char *name,
                          const cr_column **out);
/* Whether a column is counted; O(n log n) for integers.  *out_kind untouched on failure. */
cr_status cri_is_counted(cr_ctx *cx, const cr_column *column, size_t rows, bool *out_counted);
/* To what the values of x [n] are rounded, where some repeat, else NaN: the step of the decimal numbers that three
 * quarters of them are written as; or, where more repeat than that explains, the distance between repeated values and
 * their neighbours.  *opt_origin: some value that repeats.  Sorts x; workspace [n]. */
double cri_resolution(double *x, size_t n, double *opt_origin, double *workspace);
/* How wide a value is to be spread: the resolution where it repeats or stands on the grid about the origin,
 * 0 where it is written with more digits than they.  sorted [n]: as cri_resolution leaves it. */
double cri_rounding(const double *sorted, size_t n, double resolution, double origin, double value);

/* --- info_counts.c --------------------------------------------------------------------------- */

/* Rows that agree in the counted variables of a set share a cell: of [n], ids below `cells`. */
typedef struct cri_cells {
    size_t    cells;
    uint32_t *of;
} cri_cells;

/* The number of measured variables in the set. */
size_t cri_measured(const cri_variables *vs, unsigned set);
/* The cells of a set; one for all rows when nothing in it is counted. */
cr_status cri_cells_of(cr_scratch *s, const cri_variables *vs, unsigned set, cri_cells *out);
/* How many rows are in each: out [cells]. */
void cri_cells_count(const cri_cells *c, size_t n, uint64_t *out);
/* The rows cell by cell: order [n], and where each cell begins there: begin [cells + 1]. */
void cri_cells_sort(const cri_cells *c, size_t n, size_t *order, size_t *begin);
/* H of the counted variables of a set. */
cr_status cri_counts_entropy(cr_ctx *cx, const cri_variables *vs, unsigned set,
                             cr_info_estimator estimator, double *out);

/* Where a quantity can be: no interval goes beyond. */
typedef struct cri_span {
    double least, most;
} cri_span;

/* *out = the largest entropy of a counted variable of n rows: the log of its levels.  It is more where
 * there is one level only; and where the rows are so few that one more level, as common as the others, could
 * have been missed, and the rarest that was seen is in so few rows that one like it could too.  Other levels
 * may then have the share that all rows miss with probability 1 - level. */
cr_status cri_largest_entropy(cr_ctx *cx, const cri_variable *v, size_t n, double level,
                              double *out);

/* A sum of entropies with signs, all of counted variables. */
typedef struct cri_sum {
    size_t   terms;
    double   sign[4];
    unsigned set[4];
} cri_sum;

/* Its value, plug-in value and interval, and the number of cells, into out.  Where nothing varies, 0 is
 * the estimate, and the interval ends where all rows would agree so with probability 1 - level. */
cr_status cri_counts_measure(cr_ctx *cx, const cri_variables *vs, const cri_sum *sum,
                             const cr_info_options *o, uint64_t seed, cri_span span,
                             cr_information *out);
/* Its value alone, as a cri_estimate (below): arg is a cri_counts_arg. */
typedef struct cri_counts_arg {
    const cri_sum         *sum;
    const cr_info_options *options;
} cri_counts_arg;
cr_status cri_counts_value(cr_ctx *cx, const cri_variables *vs, const void *arg, double *out);
/* The bootstrap-t interval around `value` with standard error se, from the error [n] of each draw
 * (changed) and the standard error draw_se [n] that it would show itself; *out_se: the standard
 * deviation of the errors.  Within the span, from the end of it that an estimate beyond is nearest to;
 * where both ends would be the same, the one within is that of a normal interval. */
void cri_bootstrap_interval(double value, double se, double *error, const double *draw_se, size_t n,
                            double level, cri_span span, double *out_se, double *out_lower,
                            double *out_upper);

/* --- info_neighbours.c ----------------------------------------------------------------------- */

/* The contribution of each row to the differential entropy of the measured variables of a set
 * within its cell, NaN for rows alone in theirs: out_h [n]; their mean; how many are alone. */
cr_status cri_local_entropy(cr_ctx *cx, const cri_variables *vs, unsigned set, size_t k,
                            double *opt_h, double *out_mean, size_t *out_alone);
/* H(set), counted and measured variables together. */
cr_status cri_mixed_entropy(cr_ctx *cx, const cri_variables *vs, unsigned set,
                            const cr_info_options *o, double *out, size_t *out_alone);
/* I(A; B | GIVEN), something among A, B or GIVEN being measured. */
cr_status cri_neighbours_mutual(cr_ctx *cx, const cri_variables *vs, size_t k, double *out,
                                size_t *out_alone);

/* --- info_resample.c ------------------------------------------------------------------------- */

typedef cr_status cri_estimate(cr_ctx *cx, const cri_variables *vs, const void *arg, double *out);

/* The standard error of an estimate `value` on all rows, from about o->bootstrap disjoint parts; NaN when
 * there are too few rows for parts.  It includes the bias that the parts show: taken to fall with the
 * number of rows, it is (mean over the parts - value) / (parts - 1) on all of them. */
cr_status cri_parts_error(cr_ctx *cx, const cri_variables *vs, cri_estimate *estimate,
                          const void *arg, double value, const cr_info_options *o, uint64_t seed,
                          double *out_se);
/* value -+ z se within the span, from the end of it that a value beyond is nearest to. */
void cri_normal_interval(double value, double se, double level, cri_span span, double *out_lower,
                         double *out_upper);
/* P(the estimate is as large) when A has nothing to do with B: A is put in random orders within the
 * cells of GIVEN, o->permutations times. */
cr_status cri_permutation_p(cr_ctx *cx, const cri_variables *vs, cri_estimate *estimate,
                            const void *arg, double value, const cr_info_options *o, uint64_t seed,
                            double *out_p);

#endif
