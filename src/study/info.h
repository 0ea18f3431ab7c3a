/* info.h -- information in the columns of a table: entropy, mutual information, divergence.
 * Columns are counted or measured.  Counted: categories, booleans, and integers of at most 20
 * different values with at least 5 rows for each; entropies come from their counts (prob/info.h).
 * Measured: all other numbers; densities come from the distance to the k-th nearest neighbour, in
 * the max norm of standardised columns:
 *   entropy              Kozachenko & Leonenko (1987)
 *   mutual information   Kraskov, Stoegbauer & Grassberger (2004), estimator 1; with a counted
 *                        column Ross (2014); given others Frenzel & Pompe (2007), Mesner & Shalizi
 *                        (2020)
 *   divergence           Wang, Kulkarni & Verdu (2009), with digammas in place of their logarithms,
 *                        so that it is cross-entropy less entropy
 * Numbers that repeat are taken as rounded: each is spread evenly over the step that most of them are written
 * with (0.01 for two digits behind the point) or, where that does not explain how many repeat, over the distance to
 * their neighbours; numbers with more digits stay where they are.
 * That changes no mutual information between rounded values.
 *
 * Intervals.  Counts: the bootstrap-t (Efron & Tibshirani 1993, sec. 12.5) with multinomial draws
 * from the shares; the error of a draw is its estimate less the plug-in value of the data, which is
 * the truth there, so that bias is taken off and not added a second time.  Neighbours: resampling
 * with replacement would make ties, so the rows are cut at random into m disjoint parts, whose
 * estimates have m times the variance of the whole: Holmes & Nemenman (2019).  These are normal
 * intervals, with the bias that the parts show added to the standard error.  No interval goes beyond
 * what is possible: 0, the log of the number of levels, for I(a; b) the upper ends of H(a) and H(b).
 * Where all rows agree the interval is not empty: it ends where they would with probability 1 - level.
 *
 * Everything is in nats.  Rows with a missing value in a column that is used are left out, and
 * counted in `dropped`. */
#ifndef CREDENCE_STUDY_INFO_H
#define CREDENCE_STUDY_INFO_H

#include "base/option.h"
#include "data/table/table.h"
#include "prob/info.h"

/* clang-format off */
#define CR_INFO_OPTIONS(X)                                                                             \
    X(choice, estimator,    "schuermann", CR_INFO_ESTIMATORS,                                          \
      "how an entropy is estimated from counts", "chao-shen")                                          \
    X(count,  neighbours,   "3", "1..1000",                                                            \
      "which nearest neighbour is used to estimate the density of numbers", "5")                             \
    X(count,  bootstrap,    "200", "0..1000000",                                                       \
      "resamplings for the intervals; 0 for no intervals", "1000")                                     \
    X(real,   level,        "0.95", "0<..<1", "mass of the intervals", "0.9")                          \
    X(count,  permutations, "0", "0..1000000",                                                         \
      "with --mutual or --matrix: permutations for the p-value of no dependence; with --mmd: relabellings of the rows, where 0 means 999", "999")                                                               \
    X(real,   smoothing,    "0", ">=0",                                                                \
      "with two files: amount added to the count of each category", "0.5")
/* clang-format on */
CR_OPTIONS_STRUCT(cr_info_options, CR_INFO_OPTIONS);
/* The table of these options. */
extern CR_API const cr_option cr_info_table[];

typedef struct cr_information {
    size_t rows, dropped;    /* used; left out because a value is missing                     */
    size_t alone;            /* of the rows used: no other has the same counted values, and so
                              * no neighbour; they do not enter the mean over the rows        */
    bool   counted;          /* all from counts; else neighbours took part                    */
    size_t cells;            /* different (joint) values of the counted columns               */
    double value;            /* the estimate                                                  */
    double plugin;           /* from the shares as they are; NaN unless counted               */
    double se, lower, upper; /* NaN without resampling                                        */
    double most;             /* entropy: the largest that is possible; INFINITY: no bound     */
    double p;                /* mutual information: P(as large without dependence), or NaN    */
    double resolution;       /* of a single measured column whose values repeat, else NaN     */
} cr_information;

/* H(columns | given): the joint entropy, differential where numbers are measured, of n >= 1 columns
 * given n_given others, which may be none: H(columns) - I(columns; given).  O(n log n) in the rows,
 * times the resamplings.  Fails with CR_EARG for a column named twice, CR_EDATA for an unknown
 * column, a measured column that is constant or infinite somewhere, or too few rows; CR_ENOMEM,
 * CR_EINTERRUPTED.  *out is then left as it was, here as below. */
CR_API cr_status cr_table_entropy(cr_ctx *cx, const cr_table *table, const char *const *columns,
                                  size_t n, const char *const *given, size_t n_given,
                                  const cr_info_options *options, uint64_t seed,
                                  cr_information *out);

/* I(a; b | given).  Estimates by neighbours may come out below 0, by chance; limits do not.  The
 * p-value is (1 + times that a random order of a, within the levels of `given`, reaches the
 * estimate) / (1 + permutations).  Fails also with CR_EDATA for a column of one level, and with
 * CR_EUNSUPPORTED for a p-value given measured columns. */
CR_API cr_status cr_table_mutual(cr_ctx *cx, const cr_table *table, const char *a, const char *b,
                                 const char *const *given, size_t n_given,
                                 const cr_info_options *options, uint64_t seed,
                                 cr_information *out);

/* The same for each pair of n columns: out [n (n - 1) / 2], columns a < b at b (b - 1) / 2 + a.  A
 * pair that fails with CR_EDATA, though the columns are there, gets NaN, and a warning says why. */
CR_API cr_status cr_table_mutual_pairs(cr_ctx *cx, const cr_table *table,
                                       const char *const *columns, size_t n,
                                       const cr_info_options *options, uint64_t seed,
                                       cr_information *out);

typedef struct cr_divergence {
    size_t rows[2], dropped[2];
    bool   counted;
    double entropy, cross_entropy; /* of the first sample; of the first, coded for the second    */
    double kl;                     /* cross_entropy - entropy; INFINITY when the second sample
                                    * lacks a value of the first and nothing is added to counts  */
    double js;                     /* Jensen-Shannon                                             */
    double se, lower, upper;       /* of kl; NaN without resampling                              */
    size_t shared;                 /* measured values that stand in both samples though none
                                    * repeats within one: the same rows twice?                   */
} cr_divergence;

/* How the rows of table b differ from those of table a in n columns taken together, all of them
 * counted or all measured.  Fails with CR_EUNSUPPORTED for a mixture, else as above. */
CR_API cr_status cr_table_divergence(cr_ctx *cx, const cr_table *a, const cr_table *b,
                                     const char *const *columns, size_t n,
                                     const cr_info_options *options, uint64_t seed,
                                     cr_divergence *out);

typedef struct cr_surprise {
    size_t  rows, dropped, columns;
    size_t *row;   /* [rows] their places in the table, from 0                                */
    double *total; /* [rows] -log of the probability, or density, of the row                  */
    double *part;  /* [rows x columns] what each column adds; NULL for the joint distribution */
} cr_surprise;

/* The information content of each row under the distribution of the table itself: of independent
 * columns, or of all of them jointly.  Its mean is the (plug-in) entropy. */
CR_API cr_status cr_table_surprise(cr_ctx *cx, const cr_table *table, const char *const *columns,
                                   size_t n, bool joint, const cr_info_options *options,
                                   uint64_t seed, cr_surprise *out);
/* Frees what a surprise holds. */
CR_API void cr_surprise_free(cr_ctx *cx, cr_surprise *s);

#endif
