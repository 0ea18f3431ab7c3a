/* lasso_df.c -- the degrees of freedom of a solution: the rank of its terms, less what the square
 * penalty takes.  Zou, Hastie & Tibshirani (2007), Ann. Stat. 35:2173-2192. */
#include "lasso_path.h"
#include "math/dense/lapack.h"

#include <cblas.h>
#include <string.h>

/* The rank of k columns with the products G [k x k], overwritten: Cholesky, the largest pivot
 * first, until what is left of every column is lost in rounding.  O(k^3). */
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

/* f->terms = the k terms, those at the beginning that are all still there in their places; returns
 * how many these are.  marks [p] are 0. */
static size_t arrange_terms(cri_lasso_factor *f, const size_t *terms, size_t k, bool *marks)
{
    size_t kept = 0, m = 0;
    for (size_t a = 0; a < k; a++) marks[terms[a]] = true;
    while (kept < f->k && marks[f->terms[kept]]) marks[f->terms[kept++]] = false;
    m = kept;
    for (size_t a = kept; a < f->k; a++) {
        size_t j = f->terms[a];
        if (marks[j]) f->terms[m++] = j;
        marks[j] = false;
    }
    for (size_t a = 0; a < k; a++)
        if (marks[terms[a]]) f->terms[m++] = terms[a];
    return kept;
}

static const double CLEARLY = 1e-8; /* the square of a pivot, over that of its column */

bool cri_lasso_independent(cri_lasso_factor *f, cr_scratch *s, const cri_descent *d,
                           const size_t *terms, size_t k)
{
    size_t *place = cr_scratch_index(s, d->p), kept, most = f->most;
    bool   *marks = cr_scratch_bytes(s, d->p, sizeof *marks), good = true;
    double *G = cr_scratch_matrix(s, k, k);
    if (s->status != CR_OK) return false;
    kept = arrange_terms(f, terms, k, marks);
    f->k = kept;
    if (kept == k) return true;
    int     n = (int)(k - kept), ld = (int)most;
    double *rows = f->L + kept * most, *corner = rows + kept;
    cri_descent_products(d, f->terms, kept, k, place, G);
    for (size_t a = kept; a < k; a++) memcpy(f->L + a * most, G + a * k, (a + 1) * sizeof *G);
    if (kept > 0) {
        cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, n, (int)kept,
                    1, f->L, ld, rows, ld);
        cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, n, (int)kept, -1, rows, ld, 1, corner,
                    ld);
    }
    if (cri_dpotrf('U', n, corner, ld) != 0) return false;
    for (size_t a = kept; good && a < k; a++) {
        double pivot = f->L[a * (most + 1)];
        good = pivot * pivot > CLEARLY * G[a * (k + 1)];
    }
    if (good) f->k = k;
    return good;
}

/* true when a plain Cholesky factor keeps digits of every column: the quick answer for most. */
static bool clearly_independent(const double *G, size_t k, double *copy)
{
    memcpy(copy, G, k * k * sizeof *copy);
    if (cri_dpotrf('U', (int)k, copy, (int)k) != 0) return false;
    for (size_t i = 0; i < k; i++)
        if (!(copy[i * k + i] * copy[i * k + i] > CLEARLY * G[i * k + i])) return false;
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
