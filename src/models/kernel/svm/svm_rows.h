/* svm_rows.h -- rows of a kernel matrix, computed many at a time and kept while there is memory.
 * Columns are those of the active rows, all of them at first.  Kept rows are doubles where all n of them fit into the
 * memory that was given, else floats; the row that was used longest ago makes room.  A kernel matrix that the caller
 * has is read in its place.  (Internal header.) */
#ifndef CREDENCE_MODELS_KERNEL_SVM_SVM_ROWS_H
#define CREDENCE_MODELS_KERNEL_SVM_SVM_ROWS_H

#include "base/scratch.h"
#include "math/kernel/kernel_internal.h"

typedef struct cri_svm_rows {
    cr_ctx          *cx;
    const cr_kernel *kernel;
    cr_kernel_input  all;
    const double    *gram; /* [n x n] or NULL */
    size_t           n, active;
    size_t          *at; /* [active] the rows that are columns, rising */
    cr_kernel_input  columns;
    double          *numbers; /* of columns, where some rows are put aside */
    uint32_t        *codes;
    const char     **texts;
    cri_kernel_held *held; /* columns, once some are needed */
    bool             wide; /* kept rows are doubles                                             */
    size_t  slots, used;   /* how many rows may be kept, and are                                */
    void  **slab;          /* [slabs] memory for them, asked for when it is needed              */
    size_t  slabs, slab_size, per_slab; /* how many there may be; bytes of each; rows in each */
    size_t *turn, now; /* [n] when the row in a slot was last used                          */
    size_t *slot_of, *row_of;            /* [n]: SIZE_MAX where a row is not kept; [slots] */
    size_t *before, *after, first, last; /* [n] the slots, the one used longest ago first */
    size_t  chunk;                       /* rows computed at a time */
    double *buffer;                      /* [chunk x n] */
    size_t  buffer_size;
    double  computed, seconds; /* kernel values so far, and how long they took */
} cri_svm_rows;

/* What is asked for, or 0: half of what is left, 4 GB at the most. */
size_t cri_svm_rows_memory(cr_ctx *cx, size_t asked);
/* memory: bytes for rows that are kept.  The input is borrowed. */
cr_status cri_svm_rows_open(cr_ctx *cx, const cr_kernel *kernel, const cr_kernel_input *in,
                            const double *opt_gram, size_t memory, cri_svm_rows *out);
void      cri_svm_rows_close(cri_svm_rows *rows);
/* value[r] += sum_i coef[i] k(x_row[i], x_r) for all active r; value [n]. */
cr_status cri_svm_rows_add(cri_svm_rows *rows, const size_t *row, const double *coef, size_t n,
                           double *value);
/* The same for several values at once: coef [outputs x n], value [outputs x length]. */
cr_status cri_svm_rows_add_many(cri_svm_rows *rows, const size_t *row, const double *coef, size_t n,
                                size_t outputs, double *value, size_t length);
/* From now on only the active rows marked in keep [n] are columns. */
cr_status cri_svm_rows_shrink(cri_svm_rows *rows, const unsigned char *keep);
/* All rows are columns again; nothing is kept. */
void cri_svm_rows_restore(cri_svm_rows *rows);

#endif
