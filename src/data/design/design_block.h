/* design_block.h -- the sparse block of a design: fitting it, and its part of opening rows.
 * (Internal header.) */
#ifndef CREDENCE_DATA_DESIGN_DESIGN_BLOCK_H
#define CREDENCE_DATA_DESIGN_DESIGN_BLOCK_H

#include "design_internal.h"

/* What a row counts; weights that are no such (missing, negative) are refused or left out later. */
double cri_row_weight(const cr_column *opt_w, size_t row);
/* Learns shift and scale of the terms, or of the target, from rows opened without. */
cr_status cri_standardise_terms(cr_ctx *cx, cr_design *design, const cri_rows *rows);
cr_status cri_standardise_target(cr_ctx *cx, cr_design *design, const cri_rows *rows);

/* The chosen columns of the table's sparse block (chosen [columns of the block]) into the design,
 * with what fills their gaps where the policy asks for it.  O(entries + columns). */
cr_status cri_design_fit_block(cr_ctx *cx, const cr_table *table, const cr_design_options *options,
                               const bool *chosen, cr_design *design);
void      cri_design_free_block(cr_ctx *cx, cri_design_block *block);

/* The entries of a table that a design's block reads: those of the table's own sparse block, or of
 * ordinary columns, gathered.  Row and column numbers are the table's. */
typedef struct cri_block_rows {
    cr_csr          X;
    uint32_t       *term; /* [X.columns] of each column, UINT32_MAX = not used; NULL = the same */
    size_t          missing; /* entries in use that are NaN */
    cri_sparse_copy gathered;
} cri_block_rows;

/* Finds the columns of the block in the table, and checks them: fails with CR_EDATA for one that is
 * not there, or infinite.  A table of LIBSVM may have fewer (they are 0) or more (with a warning,
 * ignored). To be closed also after a failure. */
cr_status cri_block_open(cr_ctx *cx, const cr_design *design, const cr_table *table,
                         cri_block_rows *out);
void      cri_block_close(cr_ctx *cx, cri_block_rows *block);
/* true when row `row` of the table lacks a value of the block. */
bool cri_block_is_missing(const cri_block_rows *block, size_t row);
/* Fails with the place of the first gap. */
cr_status cri_block_refuse_missing(cr_ctx *cx, const cr_design *design, const cr_table *table,
                                   const cri_block_rows *block);
/* Sets rows->sparse, once the rows to keep are known: the table's own arrays where they serve as
 * they are, else a copy with gaps filled and the other terms behind. */
cr_status cri_block_finish(cr_ctx *cx, const cri_block_rows *block, cri_rows *rows);

/* Sets rows->sparse to what rows->copy holds, [n x p]. */
cr_status cri_rows_view_sparse(cr_ctx *cx, cri_rows *rows);
/* Sets rows->sparse of a design without a block from the values of its numbers and the levels of
 * its categories (rows_levels.c).  O(n (numbers + categories)). */
cr_status cri_rows_gather_levels(cr_ctx *cx, cri_rows *rows);

/* The design's levels of a category: of the codes of the table, or of its rows where the table
 * holds numbers.  At most one is there. */
typedef struct cri_level_map {
    uint32_t *recode, *levels;
    const char *
        *unseen; /* of a column of texts: those of the table that the design does not know */
} cri_level_map;

/* The column of the table that a column of the design reads, and for a category its levels.  A
 * column that a LIBSVM file left out is all 0. */
cr_status cri_match_column(cr_ctx *cx, const cr_table *table, const cri_design_column *c,
                           const cr_column **out_column, cri_level_map *out_map);
/* Frees the levels of a column of the table. */
void cri_level_map_free(cr_ctx *cx, const cr_table *table, const cr_column *column,
                        cri_level_map map);
/* The design level in a row of the table that is not missing. */
static inline uint32_t cri_level_in(cri_level_map m, const cr_column *c, size_t row)
{
    return m.recode ? m.recode[c->codes[row]] : m.levels[row];
}
/* Fails at the first infinite value of a column. */
cr_status cri_column_check_finite(cr_ctx *cx, const cr_table *table, const cr_column *column);
/* The parts of filling X that concern ordinary columns: term k of those, raw or standardised. */
void cri_rows_fill_ordinary(const cri_rows *rows, size_t k, bool raw, size_t begin, size_t end,
                            double *out, size_t stride);

/* The number by which the indicators of a category are multiplied in row i of X; 1 without. */
double cri_rows_multiplier(const cri_rows *rows, size_t column, size_t i);

/* Functions of one basis, `count` terms, side by side in out, less shift [count] over scale.  Pure. */
void cri_rows_fill_basis(const cri_rows *rows, const cri_design_term *terms, size_t count,
                         const double *shift, const double *scale, size_t begin, size_t end,
                         double *out, size_t stride);
/* How many ordinary terms from k on are functions of one basis; 0 when k is none. */
size_t cri_rows_basis_run(const cr_design *design, size_t k);
/* Fails where a function of a basis overflows far outside its knots; the values are finite. */
cr_status cri_rows_check_bases(cr_ctx *cx, const cri_rows *rows);

/* Fills rows->y: numbers transformed and standardised as the design says, a category as the index of its level.
 * Fails with CR_EDATA, naming the place, where the transform is not defined (design_target.c). */
cr_status cri_rows_read_target(cr_ctx *cx, cri_rows *rows, const cr_column *column,
                               cri_level_map map);

#endif
