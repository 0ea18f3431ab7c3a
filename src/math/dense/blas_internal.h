/* blas_internal.h -- BLAS with one thread for as long as one of our calls needs it.  (Internal.)
 * Threads inside BLAS would change the bits of a result and crowd our own threads, so every
 * function that calls BLAS or LAPACK does it between cri_blas_enter and cri_blas_leave. */
#ifndef CREDENCE_MATH_DENSE_BLAS_INTERNAL_H
#define CREDENCE_MATH_DENSE_BLAS_INTERNAL_H

#include "base/context.h"
#include "blas.h"
#include "view.h"

/* Sets BLAS to one thread; the last of all that entered sets the former number again.  Any thread,
 * any nesting; some tens of nanoseconds when the number already is one.  The count is the one piece
 * of state that belongs to the process, because the number of threads in BLAS does. */
void cri_blas_enter(void);
void cri_blas_leave(void);

/* Sees to it that every thread of the context finds a buffer in OpenBLAS, which asks for one for
 * ever where the system gives none, deaf to all requests to stop.  Where there is room for some
 * only, the context works with so many threads.  Fails with CR_ENOMEM where there is none at all.
 * Due once before the first use of BLAS; some microseconds then, and next to nothing later: what a
 * process has stays reserved.  cri_blas_check includes it. */
cr_status cri_blas_reserve(cr_ctx *cx);

/* The number of threads BLAS would use now; 1 when it cannot say. */
int cri_blas_threads(void);

/* Generations of x86 vector units, oldest first, as far as they matter to matrix kernels. */
typedef enum cri_simd { CRI_SIMD_SSE, CRI_SIMD_AVX, CRI_SIMD_AVX2, CRI_SIMD_AVX512 } cri_simd;

/* The OPENBLAS_CORETYPE that should replace `kernel` on a CPU of this generation; "" when `kernel`
 * is unknown or good enough. */
const char *cri_blas_better(const char *kernel, cri_simd cpu, bool amd);

/* BLAS counts with int: fails with CR_EUNSUPPORTED when a size of A does not fit, with CR_EARG when
 * the rows of A overlap (stride < cols).  `who` starts the sentence.  With cri_blas_reserve. */
cr_status cri_blas_check(cr_ctx *cx, const char *who, cr_cmat A);

/* The leading dimension BLAS wants: at least 1, also for a matrix without columns. */
static inline int cri_blas_stride(size_t stride) { return stride ? (int)stride : 1; }

#endif
