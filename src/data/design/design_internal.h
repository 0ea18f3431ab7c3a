/* design_internal.h -- fitting a design, and the rows of a table seen through it. */
#ifndef CREDENCE_DATA_DESIGN_DESIGN_INTERNAL_H
#define CREDENCE_DATA_DESIGN_DESIGN_INTERNAL_H

#include "basis.h"
#include "design.h"
#include "sequences.h"
#include "data/table/dictionary.h"
#include "math/transform.h"
#include "sparse_rows.h"
#include "terms.h"

enum { CRI_NO_LEVEL = -1 };

/* One column of X: a power of a number, a function of its basis, the indicator of a level (times a
 * number, where the column has one), or the level itself as a code 0 .. n_levels-1. */
typedef struct cri_design_term {
    char    *name;
    size_t   column;
    unsigned power;  /* 0 for all but powers              */
    double   centre; /* of powers from 2 on: taken off the number before; see cri_centre_powers */
    size_t   level;  /* of an indicator; or the function */
    bool     code;
} cri_design_term;

/* How a column that no table has is made of earlier columns of the design, row by row. */
typedef enum cri_made_kind {
    CRI_MADE_NOT,      /* it is read from the table                                           */
    CRI_MADE_FUNCTION, /* a function of one column                                            */
    CRI_MADE_PRODUCT,  /* numbers and indicators, multiplied                                  */
    CRI_MADE_CROSS     /* a category: each combination of the levels of some categories       */
} cri_made_kind;

typedef struct cri_made {
    cri_made_kind    kind;
    cri_term_step    step;    /* the function                                                  */
    cri_design_term *factors; /* [n] what is multiplied, without names; else columns alone     */
    size_t           n;
    size_t           by; /* of a cross: 1 + the column of numbers by which its indicators are
                            multiplied; 0 = none                                            */
} cri_made;

/* One column that the design reads from the table, or makes of those before it. */
typedef struct cri_design_column {
    char     *name;
    cr_type   type;
    char    **levels; /* [n_levels] of a category, sorted, unless it is made */
    size_t    n_levels;
    int       reference; /* the level without a term, or CRI_NO_LEVEL */
    double    fill;  /* imputed where missing: the mean, or the index of the most frequent level */
    cri_basis basis; /* of a number; kind NONE for powers */
    bool texts;   /* the model reads the levels as texts: other tables may bring new ones       */
    bool varying; /* its levels are groups with an intercept each: level n_levels is any other */
    cri_dictionary
             later; /* those that updates brought: their codes follow those of the levels      */
    cri_made made;
    double   origin;  /* of dates and times: the first, in the unit of the type; the model sees days
                        since then                                                         */
    char    *format;  /* of dates: as they were written; NULL = ISO 8601                       */
    bool     percent; /* of numbers: they were written with a percent sign                    */
} cri_design_column;

/* How the levels of a category become terms. */
typedef enum cri_coding {
    CRI_CODING_CONTRAST, /* an indicator of each level but the reference's, as the user asks  */
    CRI_CODING_ALL,      /* an indicator of each level                                        */
    CRI_CODING_CODE      /* one term that holds the code of the level; never standardised     */
} cri_coding;

/* Columns beside features, target and weights that a model reads: offsets, times, ... */
enum { CRI_MOST_ROLES = 4 };

/* Which powers are those of a number minus its mean. */
typedef enum cri_centring {
    CRI_CENTRE_FAR, /* where the number is so far from 0 that its powers are all but dependent */
    CRI_CENTRE_ALL, /* all: what is penalised must not depend on where the number begins       */
    CRI_CENTRE_NONE /* none: its mean is not known yet                                         */
} cri_centring;

/* What a model wants of its design. */
typedef struct cri_design_needs {
    cri_centring centre;
    bool         standardise, standardise_target;
    cri_coding   coding;
    bool         classes;               /* a target of numbers names classes by its values      */
    bool         spread;                /* sparse columns as ordinary ones, not as a block     */
    bool         keep_missing;          /* what --missing auto means: pass gaps on as NaN       */
    const char  *roles[CRI_MOST_ROLES]; /* columns of numbers, NULL where there is none         */
    const char
        *aside; /* a column of any type that is no feature, or NULL: the model looks at it itself */
    bool sequences; /* rows come in sequences                               */
    bool series;    /* the target may have gaps, and predictions look at it */
    bool varying;   /* takes varying intercepts, (1 | COLUMN)               */
    bool named;     /* the user has named each column: one that numbers the rows is meant to */
} cri_design_needs;

/* The sparse columns x<index + 1> of the training table: numbers, and a term each, the first n of
 * the design.  So much is kept instead of a cri_design_column and a cri_design_term. */
typedef struct cri_design_block {
    size_t    n, width; /* how many it uses, of how many there were */
    uint32_t *index;    /* [n] which, increasing; NULL = all        */
    double   *fill;     /* [n] imputed where missing; NULL = 0      */
    cr_type   type;
    char     *names; /* [n] of CR_NAME_SIZE bytes                */
} cri_design_block;

struct cr_design {
    cri_design_block   block;   /* n = 0: none */
    cri_design_column *columns; /* [n_columns] the others: n_read of the table, then those made */
    size_t             n_columns, n_read;
    cri_design_term   *terms; /* [n_terms] of the others: the terms block.n .. p - 1 */
    size_t             n_terms;
    size_t             p;             /* block.n + n_terms */
    double            *shift, *scale; /* [p] */
    double             target_shift, target_scale;
    cri_transform      transform;  /* of the target, before it is shifted and scaled */
    double             power_rows; /* that lambda of boxcox was learned from; 0: it was given */
    cri_design_column  target;     /* name NULL when there is none */
    char              *weights;    /* NULL when there are none     */
    char              *roles[CRI_MOST_ROLES]; /* NULL where there is none */
    bool               sequences;             /* rows are opened with their sequences: */
    char              *sequence, *time;       /* by these columns; NULL = one, as in the file */
    bool               series; /* the target may have gaps, and is read wherever it is there */
    cr_missing         missing;
    bool               standardised;  /* asked for, whoever does it: the design or the model */
    bool               sparse_levels; /* rows of ordinary columns are opened as sparse rows too */
};

/* true when term j holds the code of a level. */
static inline bool cri_design_is_code(const cr_design *d, size_t j)
{
    return j >= d->block.n && d->terms[j - d->block.n].code;
}

/* true when nearly all terms are indicators of categories with many levels: rows have few entries
 * that are not 0. */
bool cri_design_has_many_levels(const cr_design *d);
/* true when term k of a design without sparse columns is 1 at one level of a category, else 0. */
bool cri_design_is_indicator(const cr_design *d, size_t k);

/* true when predictions look at this column of the data. */
bool cri_design_reads(const cr_design *d, const char *column);

/* true when numbers of column i come in as functions of a basis. */
static inline bool cri_design_has_basis(const cr_design *d, size_t i)
{
    return d->columns[i].basis.kind != CRI_BASIS_NONE;
}

/* The column whose levels are the groups of a varying intercept; SIZE_MAX where there is none. */
size_t cri_design_varying(const cr_design *d);

/* true when numbers are made of others, so that terms are not columns of the table. */
static inline bool cri_design_has_made(const cr_design *d) { return d->n_read < d->n_columns; }

/* Fits a design to a table.  With standardise (and standardise_target) the terms (the target) are
 * brought to mean 0 and population sd 1; constant terms keep scale 1.  O(rows x p).
 * Fails with CR_ENUMERIC where mean and sd, or the mean that fills gaps, overflow; with CR_EDATA
 * where classes are wanted and the target has too many values to be that. */
cr_status cri_design_fit(cr_ctx *cx, const cr_table *table, const cr_design_options *options,
                         const cri_design_needs *needs, cr_design **out_design);
void      cri_design_free(cr_ctx *cx, cr_design *design);
/* A design with zeroed parts and no block; NULL on failure. */
cr_design *cri_design_new(cr_ctx *cx, size_t n_columns, size_t n_terms);
/* Changes the number of columns while a design is made: new ones are zeroed. */
cr_status cri_design_set_columns(cr_ctx *cx, cr_design *design, size_t n);
/* Gives a design without terms and block n of them, zeroed, with scale 1. */
cr_status cri_design_set_terms(cr_ctx *cx, cr_design *design, size_t n);
/* Leaves a new design without columns and terms, for a model that looks at its target alone. */
cr_status cri_design_drop_inputs(cr_ctx *cx, cr_design *design);
/* Gives a new design a block of n of `width` sparse columns, opt_index[i] or all; and room for what
 * fills gaps.  Copies the index. */
cr_status cri_design_add_block(cr_ctx *cx, cr_design *design, size_t n, size_t width,
                               const uint32_t *opt_index, bool fill);

/* The policy that --missing means for a model that does (keep) or does not take gaps itself. */
cr_missing cri_resolve_missing(int option, bool keep);

/* --- texts (design_texts.c) ------------------------------------------------------------------ */

/* How many texts of a category the design knows: levels, and what updates brought. */
size_t cri_design_known(const cri_design_column *c);
/* The text of a code in the category that is the k-th term of codes; NULL when there is none.
 * O(p). */
const char *cri_design_text(const cr_design *design, size_t k, uint32_t code);
/* The new texts of a table, in the columns that are read as texts, into the design. */
cr_status cri_design_learn_texts(cr_ctx *cx, cr_design *design, const cr_table *table);

/* --- classes named by numbers (design_classes.c) --------------------------------------------- */

/* The text of a value as a level: its shortest number, or false and true in a boolean column. */
const char *cri_level_text(const cr_column *column, double value, char *buffer);
/* Fills *out for a target whose different values are its classes, sorted by bytes.  Fails with
 * CR_EDATA where there are so many that it looks like a measurement. */
cr_status cri_remember_classes(cr_ctx *cx, const cr_table *table, const cr_column *column,
                               cri_design_column *out);

/* The same of the groups of a varying intercept, whole numbers of which there may be any number.  Fails with CR_EDATA
 * where they are not whole. */
cr_status cri_remember_groups(cr_ctx *cx, const cr_table *table, const cr_column *column,
                              cri_design_column *out);

/* Classes of the target that a table has and the design has not join it, in their places by bytes:
 * class k becomes map[k], map [classes before]; nothing changes where there are none.  Fails as
 * cri_remember_classes does; the design is then as it was. */
cr_status cri_design_join_classes(cr_ctx *cx, cr_design *design, const cr_table *table,
                                  size_t *map);

/* The same table with the numbers of one column as a category of their values, so that some rows of
 * it know the classes of all.  Other columns are borrowed: the table must outlive the new one.
 * Fails as cri_remember_classes does. */
cr_status cri_table_with_classes(cr_ctx *cx, const cr_table *table, const char *column,
                                 cr_table **out_table);

/* The rows of a table as a model sees them.  Row i of X is table row index[i] (or i).  With a
 * design that has a block, or whose levels are sparse, `sparse` is all of X [n x p], also the terms
 * that are not of the block; without, NULL. */
typedef struct cri_rows {
    const cr_design  *design;
    const cr_table   *table;
    size_t            n, p;
    const cr_column **columns; /* [n_columns] of the table, matched by name     */
    uint32_t        **recode;  /* [n_columns] table code -> design level, or NULL */
    uint32_t        **levels;  /* [n_columns] row of the table -> design level, for a category
                                        that the table holds as numbers; or NULL      */
    cr_column        *made;    /* [n_columns] those that are not the table's own, else empty    */
    double          **numbers; /* [n_columns] their values, [rows of the table]; or NULL        */
    const char     ***unseen;  /* [n_columns] texts that the design does not know: their codes
                                        follow those it does; or NULL                 */
    size_t           *index;   /* [n] kept rows, NULL = all                     */
    double           *y; /* [n] target, transformed and standardised as the design says; or NULL */
    double           *w; /* [n] weights; NULL = all 1                     */
    double           *class_weight;          /* [classes] that w has been multiplied by; or NULL */
    double           *roles[CRI_MOST_ROLES]; /* [n] each; NULL where the design has none */
    cri_sequences    *sequences;             /* NULL where the design has none */
    const double     *matrix;                /* X itself, where the table holds it so; else NULL */
    const cri_sparse *sparse;  /* X as sparse rows, standardisation implicit; or NULL */
    cri_sparse_copy  *copy;    /* what `sparse` is the view of                   */
    double           *base;    /* [p] a standardised 0, where it is not 0; else NULL */
    size_t            imputed; /* cells that were filled in                     */
    bool              more;    /* a stream goes on behind them: what is made of all rows may wait */
    bool              whole;   /* each row is one observation, left out with all of its weight */
    bool              weightless; /* there are rows, and none has any weight */
    struct cri_passes
        *passes; /* of a fit to a stream: over all its blocks (models/core/passes.h) */
} cri_rows;

/* CRI_TARGET_NONE: no target, but that of a series where the table has it.  CRI_INPUTS_ALONE: neither the target nor the columns that options name, for what depends on
 * features alone; of a series as CRI_TARGET_NONE.  CRI_TARGET_OF_PART: as needed, of rows that are not all, and may be without any
 * weight. */
typedef enum cri_target_use {
    CRI_TARGET_NONE,
    CRI_TARGET_NEEDED,
    CRI_TARGET_OF_PART,
    CRI_INPUTS_ALONE
} cri_target_use;

/* Opens a table through a design.  Fails with CR_EDATA naming file, line and column when a column
 * is absent, of the wrong type, has an unseen level (but in columns of texts), or holds a value
 * that is infinite or (under the error policy) missing.  With CRI_TARGET_NEEDED also the target and
 * the weights are read, of those the design has; a table without the column of weights counts each
 * row once, with a warning. */
cr_status cri_rows_open(cr_ctx *cx, const cr_design *design, const cr_table *table,
                        cri_target_use target, cri_rows *out_rows);
void      cri_rows_close(cr_ctx *cx, cri_rows *rows);
/* The targets of rows opened with them, in their own units: out [n]. */
void cri_rows_targets(const cri_rows *rows, double *out);
/* The sum of log g'(y) over rows opened with their target, weighted or not: what the log density of the targets has
 * more than that of their transforms; 0 without a transform. */
double cri_rows_log_slopes(const cri_rows *rows, bool weighted);
/* The transform that --transform-target names; *out_open: lambda is to be learned. */
cr_status cri_transform_parse(cr_ctx *cx, const char *opt_text, cri_transform *out, bool *out_open);
/* The failure of rows whose weights are all 0. */
cr_status cri_rows_fail_weight(cr_ctx *cx, const cri_rows *rows);
/* Finds the sequences of rows whose design has them, by cri_rows_open.  Fails with CR_EDATA, naming
 * the place, where a label or a time is missing or of the wrong kind; warns of equal times. */
cr_status cri_rows_open_sequences(cr_ctx *cx, cri_rows *rows);
void      cri_rows_close_sequences(cr_ctx *cx, cri_rows *rows);
/* The same rows, whose design has no sparse columns, with X as sparse rows too.  All but the entries
 * is borrowed.  O(n (numbers + categories)). */
cr_status cri_rows_open_entries(cr_ctx *cx, const cri_rows *rows, cri_rows *out_view);
void      cri_rows_close_entries(cr_ctx *cx, cri_rows *view);

/* The groups of rows whose design has a varying intercept: out [n], its number of levels where the
 * design has not seen the group.  Pure. */
void cri_rows_groups(const cri_rows *rows, size_t *out);

/* X[i - begin, 0..p) for rows i in [begin, end); X has `stride` doubles between rows.  Pure. */
void cri_rows_fill(const cri_rows *rows, size_t begin, size_t end, double *X, size_t stride);

/* One term of those rows: out[(i - begin) * stride].  Pure. */
void cri_rows_fill_term(const cri_rows *rows, size_t term, size_t begin, size_t end, double *out,
                        size_t stride);

/* The rows [begin, end) as rows of their own, whose memory is of `s` or borrowed; empty when it has failed. */
struct cr_scratch;
cri_rows cri_rows_slice(struct cr_scratch *s, const cri_rows *rows, size_t begin, size_t end);

/* As cri_design_text, also of the codes that only these rows have. */
const char *cri_rows_text(const cri_rows *rows, size_t k, uint32_t code);

/* Moves answers a [n x width] for the rows to their places in the table, a [table rows x width];
 * NaN for the rows that were left out.  a may be NULL. */
void cri_rows_spread(const cri_rows *rows, size_t width, double *a);

/* All of X [n x p] into contiguous memory, in parallel. */
cr_status cri_rows_matrix(cr_ctx *cx, const cri_rows *rows, double *X);

/* Mean and population sd of a term, over rows of so much weight where it is no gap. */
typedef struct cri_term_moments {
    double weight, mean, sd;
} cri_term_moments;

/* Adds rows, opened by a design that does not standardise yet, to the moments of their terms [p], all 0 at
 * first; and standardises the design by them. */
cr_status cri_terms_measure(cr_ctx *cx, const cri_rows *rows, cri_term_moments *terms);
/* Centres powers by the moments of the terms, whose names then say so: x, (x - 7)^2, (x - 7)^3 and a constant span the
 * same polynomials. */
cr_status cri_centre_powers(cr_ctx *cx, cr_design *design, cri_centring how,
                            const cri_term_moments *terms);
bool      cri_design_has_powers(const cr_design *design);
cr_status cri_terms_standardise(cr_ctx *cx, cr_design *design, const cri_term_moments *terms);

/* What became of work on these rows: when memory ran out and they are sparse, a note with the size
 * of X as a dense matrix is added to the failure.  Returns the status. */
cr_status cri_rows_explain(cr_ctx *cx, const cri_rows *rows, cr_status status);

#endif
