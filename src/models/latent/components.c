/* components.c -- the directions of most variance, and how many. */
#include "components.h"
#include "base/number.h"
#include "math/constants.h"
#include "math/dense/decompose.h"
#include "math/special/special.h"

#include <math.h>
#include <string.h>

/* --- directions ------------------------------------------------------------------------------- */

static const double NOTHING = 1e-14; /* eigenvalues below this share of the trace are rounding */

/* 1 or -1: the sign of the largest number of a column of V, of the first where several are as large. */
static double sign_of(size_t p, const double *V, size_t j)
{
    double most = 0;
    size_t at = 0;
    for (size_t i = 0; i < p; i++) most = fmax(most, fabs(V[i * p + j]));
    while (fabs(V[at * p + j]) < (1 - 1e-7) * most) at++;
    return V[at * p + j] < 0 ? -1 : 1;
}

/* Columns and eigenvalues in descending order in place of ascending. */
static void reverse(size_t p, double *lambda, double *V)
{
    for (size_t j = 0; j < p / 2; j++) {
        double swap = lambda[j];
        lambda[j] = lambda[p - 1 - j], lambda[p - 1 - j] = swap;
        for (size_t i = 0; i < p; i++) {
            swap = V[i * p + j];
            V[i * p + j] = V[i * p + p - 1 - j], V[i * p + p - 1 - j] = swap;
        }
    }
}

cr_status cri_directions(cr_ctx *cx, const double *C, size_t p, double *lambda, double *V,
                         size_t *out_rank)
{
    cr_status st = cr_eigen(cx, cr_cmat_of(C, p, p), lambda, cr_mat_of(V, p, p));
    size_t    rank = 0;
    double    total = 0;
    if (st != CR_OK) return st;
    reverse(p, lambda, V);
    for (size_t i = 0; i < p; i++) total += C[i * p + i];
    while (rank < p && lambda[rank] > NOTHING * (double)p * total) rank++;
    for (size_t j = rank; j < p; j++) lambda[j] = 0;
    for (size_t j = 0; j < p; j++) {
        double sign = sign_of(p, V, j);
        for (size_t i = 0; i < p; i++) V[i * p + j] *= sign;
    }
    *out_rank = rank;
    return CR_OK;
}

/* --- what was asked for ----------------------------------------------------------------------- */

bool cri_components_read(const char *text, cri_components *out)
{
    double x = 0;
    *out = (cri_components){ .automatic = strcmp(text, "auto") == 0,
                             .bic = strcmp(text, "bic") == 0,
                             .all = strcmp(text, "all") == 0 };
    if (out->automatic || out->bic || out->all) return true;
    size_t length = strlen(text);
    if (length == 0 || cri_parse_double(text, text + length, &x) != length || !(x > 0) ||
        !isfinite(x))
        return false;
    if (x < 1) return out->share = x, true;
    out->count = (size_t)x;
    return x == floor(x) && x < 1e9;
}

cr_status cri_components_check(cr_ctx *cx, const char *model, const char *text)
{
    cri_components w;
    if (cri_components_read(text, &w)) return CR_OK;
    cr_fail(cx, CR_EARG,
            "%s: --components is '%s', but must be a whole number from 1, a share between 0 and 1, "
            "all, auto, or bic",
            model, text);
    return cr_fail_hint(cx, "--components 2 for two coordinates, --components 0.95 for as many as "
                            "explain 95 %% of the variance");
}

/* --- the evidence ----------------------------------------------------------------------------- */

/* log of the density of the uniform distribution over sets of q orthonormal directions in p dimensions. */
static double log_uniform(size_t p, size_t q)
{
    double sum = -(double)q * M_LN2;
    for (size_t i = 0; i < q; i++) {
        double half = 0.5 * (double)(p - i);
        sum += cr_lgamma_abs(half) - half * log(M_PI);
    }
    return sum;
}

double cri_components_evidence(const cri_spectrum_of *of, size_t q)
{
    size_t        p = of->p;
    double        n = of->n, rest = 0, curvature = 0, sum = log_uniform(p, q);
    const double *v = of->variance;
    double        free_angles = (double)q * ((double)p - 0.5 * (double)(q + 1));

    for (size_t j = q; j < p; j++) rest += v[j] / (double)(p - q);
    if (q < p && !(rest > 0)) return NAN;
    for (size_t i = 0; i < q; i++) {
        for (size_t j = i + 1; j < p; j++) {
            double other = j < q ? v[j] : rest, gap = v[i] - v[j];
            if (!(gap > 0) || !(v[i] > other)) gap = 1e-12 * v[i]; /* two directions alike */
            double inverse = fmax(1 / other - 1 / v[i], 1e-12 / v[i]);
            curvature += log(inverse) + log(gap) + log(n);
        }
        sum -= 0.5 * n * log(v[i]);
    }
    if (q < p) sum -= 0.5 * n * (double)(p - q) * log(rest);
    return sum + 0.5 * (free_angles + (double)q) * CRI_LOG_2PI - 0.5 * curvature -
           0.5 * (double)q * log(n);
}

double cri_components_bic(const cri_spectrum_of *of, size_t q)
{
    double p = (double)of->p, k = (double)q, rest = 0, logs = 0;
    for (size_t j = q; j < of->p; j++) rest += of->variance[j] / (p - k);
    if (!(rest > 0)) return NAN;
    for (size_t j = 0; j < q; j++) logs += log(of->variance[j]);
    return of->n * (logs + (p - k) * log(rest)) + (p * k - k * (k - 1) / 2) * log(of->n);
}

/* --- the choice ------------------------------------------------------------------------------- */

/* Of 1 .. rank - 1, in the space that the rows vary in, by the evidence or by BIC; 1 where nothing can be told. */
static size_t by_criterion(const cri_spectrum_of *of, bool bic)
{
    cri_spectrum_of within = *of;
    size_t          best = 1;
    double          highest = -INFINITY;
    within.p = of->rank;
    for (size_t q = 1; q < of->rank; q++) {
        double e = bic ? -cri_components_bic(&within, q) : cri_components_evidence(&within, q);
        if (e > highest) highest = e, best = q;
    }
    return best;
}

static size_t by_share(const cri_spectrum_of *of, double share)
{
    double total = 0, sum = 0;
    size_t q = 0;
    for (size_t j = 0; j < of->p; j++) total += of->variance[j];
    while (q < of->rank && sum < share * total) sum += of->variance[q++];
    return q > 0 ? q : 1;
}

size_t cri_components_choose(cr_ctx *cx, const char *model, const char *text,
                             const cri_spectrum_of *of)
{
    cri_components w;
    size_t         most = of->rank > 0 ? of->rank : 1;
    cri_components_read(text, &w);
    if (w.all) return most;
    if (w.automatic || w.bic) return by_criterion(of, w.bic);
    if (w.share > 0) return by_share(of, w.share);
    if (w.count <= most) return w.count;
    cr_log(cx, CR_LOG_WARNING, "%s: the rows vary in only %zu direction%s, fewer than %zu", model,
           of->rank, of->rank == 1 ? "" : "s", w.count);
    return most;
}
