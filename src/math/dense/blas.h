/* blas.h -- which BLAS runs, and how. */
#ifndef CREDENCE_MATH_DENSE_BLAS_H
#define CREDENCE_MATH_DENSE_BLAS_H

#include "base/status.h"

typedef struct cr_blas_info {
    const char *library; /* "OpenBLAS 0.3.21 ...", as it names itself          */
    const char *kernel;  /* the core type it selected: "Haswell", "Prescott"   */
    bool        slow;    /* it fell back to kernels older than this CPU        */
    const char *better;  /* the OPENBLAS_CORETYPE that fits this CPU, else ""  */
} cr_blas_info;

/* What OpenBLAS chose when it was loaded, and what the CPU would allow. */
CR_API cr_blas_info cr_blas_query(void);

#endif
