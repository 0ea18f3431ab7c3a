/* scratch.h -- memory that lives as long as one function call.
 * The arena remembers its first failed allocation, so a function needs one check (CR_TRY(s.status))
 * after all its requests, and one line, cr_scratch_end, frees everything.  Blocks are aligned to
 * 64 bytes.  A request for no elements gives a valid pointer to nothing. */
#ifndef CREDENCE_BASE_SCRATCH_H
#define CREDENCE_BASE_SCRATCH_H

#include "context.h"

typedef struct cr_scratch {
    cr_ctx   *cx;
    cr_status status;
    void     *blocks;
} cr_scratch;

/* Opens an arena; allocates nothing. */
CR_API cr_scratch cr_scratch_begin(cr_ctx *cx);
/* Frees all that the arena gave out. */
CR_API void cr_scratch_end(cr_scratch *s);
/* count elements of `size` bytes, zeroed.  NULL once the arena has failed. */
CR_API void *cr_scratch_bytes(cr_scratch *s, size_t count, size_t size);
/* n doubles, not initialised; NULL once the arena has failed, here as below. */
CR_API double *cr_scratch_f64(cr_scratch *s, size_t n);
/* rows x cols doubles, not initialised; a product that overflows fails as memory would. */
CR_API double *cr_scratch_matrix(cr_scratch *s, size_t rows, size_t cols);
/* n indices, not initialised. */
CR_API size_t *cr_scratch_index(cr_scratch *s, size_t n);

#endif
