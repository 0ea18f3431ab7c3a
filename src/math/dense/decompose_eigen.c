/* decompose_eigen.c -- symmetric eigenvalues, in steps that look whether they are to stop.
 * LAPACK's dsyevd is one call of many seconds for some thousand rows.  Its parts are
 *   1. reduction to a tridiagonal matrix, Q^T A Q = T, by panels of columns    4 n^3 / 3
 *   2. divide and conquer, T = S diag(w) S^T; much less where values lie close up to 4 n^3 / 3
 *   3. Z = Q S, by blocks of columns                                           2 n^3
 * of which the first and the last are taken piece by piece here.  With panels of LAPACK's width
 * all results are those of dsyevd.  (Anderson et al. 1999, LAPACK Users' Guide, sec. 2.4.4.) */
#include "decompose_internal.h"
#include "lapack.h"

#include <cblas.h>
#include <float.h>
#include <math.h>

enum { PANEL = 32, NARROW_PANEL = 8, LARGE = 1000 };

typedef struct tridiagonal {
    int     n;
    double *A;   /* [n x n] column-major: the reflectors, above the diagonal */
    double *d;   /* [n] diagonal of T                                        */
    double *e;   /* [n - 1] beside it                                        */
    double *tau; /* [n - 1]                                                  */
} tridiagonal;

/* Reduces the upper triangle of A from its last columns on.  A panel of k columns takes k products
 * of what is left of A with a vector; W [n x PANEL] is workspace. */
static cr_status reduce(cr_ctx *cx, tridiagonal *t, double *W)
{
    int       n = t->n, left = n, info = 0, width = n > LARGE ? NARROW_PANEL : PANEL;
    cr_status st = CR_OK;
    for (; left > PANEL; left -= width) {
        int     first = left - width; /* of the columns in this panel */
        double *panel = t->A + (size_t)first * (size_t)n;
        CR_TRY(cr_check_interrupt(cx));
        dlatrd_("U", &left, &width, t->A, &n, t->e, t->tau, W, &n, 1);
        cblas_dsyr2k(CblasColMajor, CblasUpper, CblasNoTrans, first, width, -1, panel, n, W, n, 1,
                     t->A, n);
        for (int j = first; j < left; j++) {
            t->A[(size_t)j * (size_t)n + (size_t)j - 1] = t->e[j - 1];
            t->d[j] = t->A[(size_t)j * (size_t)n + (size_t)j];
        }
    }
    dsytd2_("U", &left, t->A, &n, t->d, t->e, t->tau, &info, 1);
done:
    return st;
}

/* T = S diag(w) S^T; w over the diagonal, S into Z. */
static cr_status solve(cr_ctx *cx, tridiagonal *t, double *Z)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double     size = 0, *work = NULL;
    int        isize = 0, ask = -1, info = 0;
    dstedc_("I", &t->n, t->d, t->e, Z, &t->n, &size, &ask, &isize, &ask, &info, 1);
    CR_TRY(cri_decompose_work(cx, "eigen", &s, size, &work));
    int *iwork = cr_scratch_bytes(&s, (size_t)isize, sizeof *iwork), given = (int)size;
    CR_TRY(s.status);
    CR_TRY(cr_check_interrupt(cx));
    dstedc_("I", &t->n, t->d, t->e, Z, &t->n, work, &given, iwork, &isize, &info, 1);
    if (info != 0) CR_TRY(cr_fail(cx, CR_ENUMERIC, "eigen: the iteration did not converge"));
done:
    cr_scratch_end(&s);
    return st;
}

/* Z := Q Z.  The blocks are such as take some hundredths of a second. */
static cr_status turn_back(cr_ctx *cx, const tridiagonal *t, double *Z)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    int        n = t->n, ask = -1, info = 0;
    int        block = (int)fmin(n, fmax(32, 1e9 / ((double)n * n)));
    double     size = 0, *work = NULL;
    dormtr_("L", "U", "N", &n, &block, t->A, &n, t->tau, Z, &n, &size, &ask, &info, 1, 1, 1);
    CR_TRY(cri_decompose_work(cx, "eigen", &s, size, &work));
    int given = (int)size;
    for (int j = 0; j < n; j += block) {
        int cols = n - j < block ? n - j : block;
        CR_TRY(cr_check_interrupt(cx));
        dormtr_("L", "U", "N", &n, &cols, t->A, &n, t->tau, Z + (size_t)j * (size_t)n, &n, work,
                &given, &info, 1, 1, 1);
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* The factor that brings the largest entry of the upper triangle to where squares neither overflow
 * nor vanish; 1 for most matrices. */
static double safe_factor(int n, const double *A)
{
    const double least = sqrt(DBL_MIN / DBL_EPSILON), most = 1 / least;
    double       norm = dlansy_("M", "U", &n, A, &n, NULL, 1, 1);
    if (norm == 0) return 1;
    return norm < least ? least / norm : norm > most ? most / norm : 1;
}

static void multiply(size_t n, double *x, double by)
{
    for (size_t i = 0; by != 1 && i < n; i++) x[i] *= by;
}

cr_status cri_eigen_lower(cr_ctx *cx, size_t n, double *A, double *w, double *Z)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    tridiagonal t = { .n = (int)n, .A = A, .d = w };
    double     *W = cr_scratch_matrix(&s, n, PANEL);
    t.e = cr_scratch_f64(&s, n);
    t.tau = cr_scratch_f64(&s, n);
    CR_TRY(s.status);
    double factor = safe_factor(t.n, A);
    for (size_t i = 0; i < n; i++) multiply(i + 1, A + i * n, factor);
    CR_TRY(reduce(cx, &t, W));
    CR_TRY(solve(cx, &t, Z));
    CR_TRY(turn_back(cx, &t, Z));
    multiply(n, w, 1 / factor);
done:
    cr_scratch_end(&s);
    return st;
}
