/* lasso_df.c -- the degrees of freedom of a solution: the rank of its terms, less what the square
 * penalty takes.  Zou, Hastie & Tibshirani (2007), Ann. Stat. 35:2173-2192. */
#include "lasso_path.h"
#include "../../math/blas_internal.h"
#include "../../math/lapack.h"

#include <string.h>

/* The rank of k columns with the products G [k x k], spoiled: Cholesky, the largest pivot first,
 * until what is left of every column is lost in rounding.  O(k^3). */
static size_t rank_of(double *G, size_t k, bool *used, double *whole)
{
    const double lost = 1e-12;
    size_t       rank = 0;
    for (size_t i = 0; i < k; i++) used[i] = false, whole[i] = G[i * k + i];
    for (; rank < k; rank++) {
        size_t q = k;
        double most = lost;
        for (size_t i = 0; i < k; i++)
            if (!used[i] && G[i * k + i] > most * whole[i]) most = G[i * k + i] / whole[i], q = i;
        if (q == k) break;
        used[q] = true;
        for (size_t i = 0; i < k; i++) {
            double share = used[i] ? 0 : G[i * k + q] / G[q * k + q];
            for (size_t j = 0; share != 0 && j < k; j++)
                if (!used[j]) G[i * k + j] -= share * G[q * k + j];
        }
    }
    return rank;
}

/* true when a plain Cholesky factor keeps digits of every column: the quick answer for most. */
static bool clearly_independent(const double *G, size_t k, double *copy)
{
    memcpy(copy, G, k * k * sizeof *copy);
    if (cri_dpotrf('U', (int)k, copy, (int)k) != 0) return false;
    for (size_t i = 0; i < k; i++)
        if (!(copy[i * k + i] * copy[i * k + i] > 1e-8 * G[i * k + i])) return false;
    return true;
}

double cri_lasso_df(cr_scratch *s, double *G, size_t k, double l2)
{
    double df = (double)k;
    int    n = (int)k;
    if (k == 0) return df;
    if (l2 == 0) {
        bool   *used = cr_scratch_bytes(s, k, sizeof *used);
        double *whole = cr_scratch_f64(s, k), *copy = cr_scratch_f64(s, k * k);
        if (s->status != CR_OK) return -1;
        return clearly_independent(G, k, copy) ? df : (double)rank_of(G, k, used, whole);
    }
    for (size_t i = 0; i < k; i++) G[i * k + i] += l2;
    if (cri_dpotrf('U', n, G, n) != 0) return -1;
    int info;
    dpotri_("U", &n, G, &n, &info, 1);
    for (size_t i = 0; i < k; i++) df -= l2 * G[i * k + i];
    return info == 0 ? df : -1;
}
