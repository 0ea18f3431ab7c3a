/* lapack.h -- the LAPACK routines we call, straight from the library that holds them.
 * OpenBLAS brings LAPACK along; its C interface LAPACKE would load a second copy of both and take
 * longer than all the rest of a start.  Column-major, arguments as in the LAPACK Users' Guide
 * (Anderson et al. 1999); the lengths of the texts come last, as gfortran passes them.
 * (Internal header.) */
#ifndef CREDENCE_MATH_DENSE_LAPACK_H
#define CREDENCE_MATH_DENSE_LAPACK_H

#include <stddef.h>

/* clang-format off */
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t);
void dtrtri_(const char *uplo, const char *diag, const int *n, double *a, const int *lda, int *info, size_t, size_t);
void dlauum_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t);
void dpocon_(const char *uplo, const int *n, const double *a, const int *lda, const double *anorm, double *rcond, double *work, int *iwork, int *info, size_t);
void dtrcon_(const char *norm, const char *uplo, const char *diag, const int *n, const double *a, const int *lda, double *rcond, double *work, int *iwork, int *info, size_t, size_t, size_t);
void dgeqp3_(const int *m, const int *n, double *a, const int *lda, int *jpvt, double *tau, double *work, const int *lwork, int *info);
void dgeqrf_(const int *m, const int *n, double *a, const int *lda, double *tau, double *work, const int *lwork, int *info);
double dlansy_(const char *norm, const char *uplo, const int *n, const double *a, const int *lda, double *work, size_t, size_t);
void dlatrd_(const char *uplo, const int *n, const int *nb, double *a, const int *lda, double *e, double *tau, double *w, const int *ldw, size_t);
void dsytd2_(const char *uplo, const int *n, double *a, const int *lda, double *d, double *e, double *tau, int *info, size_t);
void dstedc_(const char *compz, const int *n, double *d, double *e, double *z, const int *ldz, double *work, const int *lwork, int *iwork, const int *liwork, int *info, size_t);
void dormtr_(const char *side, const char *uplo, const char *trans, const int *m, const int *n, const double *a, const int *lda, const double *tau, double *c, const int *ldc, double *work, const int *lwork, int *info, size_t, size_t, size_t);
void dlaqps_(const int *m, const int *n, const int *offset, const int *nb, int *kb, double *a, const int *lda, int *jpvt, double *tau, double *vn1, double *vn2, double *auxv, double *f, const int *ldf);
void dgesdd_(const char *jobz, const int *m, const int *n, double *a, const int *lda, double *s, double *u, const int *ldu, double *vt, const int *ldvt, double *work, const int *lwork, int *iwork, int *info, size_t);
void dgesvj_(const char *joba, const char *jobu, const char *jobv, const int *m, const int *n, double *a, const int *lda, double *sva, const int *mv, double *v, const int *ldv, double *work, const int *lwork, int *info, size_t, size_t, size_t);
void dpotrs_(const char *uplo, const int *n, const int *nrhs, const double *a, const int *lda, double *b, const int *ldb, int *info, size_t);
void dpotri_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t);
/* clang-format on */

/* The same by value; they return info: 0, or what the Users' Guide says. */
static inline int cri_dpotrf(char uplo, int n, double *a, int lda)
{
    int info;
    dpotrf_(&uplo, &n, a, &lda, &info, 1);
    return info;
}

static inline int cri_dtrtri(char uplo, char diag, int n, double *a, int lda)
{
    int info;
    dtrtri_(&uplo, &diag, &n, a, &lda, &info, 1, 1);
    return info;
}

static inline int cri_dlauum(char uplo, int n, double *a, int lda)
{
    int info;
    dlauum_(&uplo, &n, a, &lda, &info, 1);
    return info;
}

static inline int cri_dpocon(char uplo, int n, const double *a, int lda, double anorm,
                             double *rcond, double *work, int *iwork)
{
    int info;
    dpocon_(&uplo, &n, a, &lda, &anorm, rcond, work, iwork, &info, 1);
    return info;
}

static inline int cri_dtrcon(char norm, char uplo, char diag, int n, const double *a, int lda,
                             double *rcond, double *work, int *iwork)
{
    int info;
    dtrcon_(&norm, &uplo, &diag, &n, a, &lda, rcond, work, iwork, &info, 1, 1, 1);
    return info;
}

static inline int cri_dgeqp3(int m, int n, double *a, int lda, int *jpvt, double *tau, double *work,
                             int lwork)
{
    int info;
    dgeqp3_(&m, &n, a, &lda, jpvt, tau, work, &lwork, &info);
    return info;
}

static inline int cri_dgeqrf(int m, int n, double *a, int lda, double *tau, double *work, int lwork)
{
    int info;
    dgeqrf_(&m, &n, a, &lda, tau, work, &lwork, &info);
    return info;
}

static inline int cri_dgesdd(char jobz, int m, int n, double *a, int lda, double *s, double *u,
                             int ldu, double *vt, int ldvt, double *work, int lwork, int *iwork)
{
    int info;
    dgesdd_(&jobz, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, work, &lwork, iwork, &info, 1);
    return info;
}

/* Singular values and right vectors V (columns) of a square matrix, by one-sided Jacobi rotations;
 * the values are sva times work[0]. */
static inline int cri_dgesvj(int n, double *a, double *sva, double *v, double *work, int lwork)
{
    int info;
    dgesvj_("G", "N", "V", &n, &n, a, &n, sva, &n, v, &n, work, &lwork, &info, 1, 1, 1);
    return info;
}

static inline int cri_dpotrs(char uplo, int n, int nrhs, const double *a, int lda, double *b,
                             int ldb)
{
    int info;
    dpotrs_(&uplo, &n, &nrhs, a, &lda, b, &ldb, &info, 1);
    return info;
}

static inline int cri_dpotri(char uplo, int n, double *a, int lda)
{
    int info;
    dpotri_(&uplo, &n, a, &lda, &info, 1);
    return info;
}

#endif
