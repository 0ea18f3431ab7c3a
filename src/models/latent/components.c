/* components.c -- the directions of most variance, and how many. */
#include "components.h"
#include "base/number.h"
#include "base/scratch.h"
#include "math/constants.h"
#include "math/dense/decompose_internal.h"
#include "math/special/special.h"

#include <math.h>
#include <string.h>

/* --- directions ------------------------------------------------------------------------------- */

static const double NOTHING = 1e-14; /* eigenvalues below this share of the trace are rounding */

double cri_direction_sign(const double *v, size_t p)
{
    double most = 0;
    size_t at = 0;
    for (size_t i = 0; i < p; i++) most = fabs(v[i]) > most ? fabs(v[i]) : most;
    while (at < p && fabs(v[at]) < (1 - 1e-7) * most) at++;
    return at < p && v[at] < 0 ? -1 : 1;
}

size_t cri_rank(const double *lambda, size_t n, size_t p, double total)
{
    size_t rank = 0;
    while (rank < n && lambda[rank] > NOTHING * (double)p * total) rank++;
    return rank;
}

/* Rows and eigenvalues in descending order in place of ascending. */
static void reverse(size_t p, double *lambda, double *V)
{
    for (size_t j = 0; j < p / 2; j++) {
        double *a = V + j * p, *b = V + (p - 1 - j) * p, swap = lambda[j];
        lambda[j] = lambda[p - 1 - j], lambda[p - 1 - j] = swap;
        for (size_t i = 0; i < p; i++) swap = a[i], a[i] = b[i], b[i] = swap;
    }
}

cr_status cri_directions(cr_ctx *cx, const double *C, size_t p, double *lambda, double *V,
                         size_t *out_rank)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *A = cr_scratch_matrix(&s, p, p), total = 0;

    cri_blas_enter();
    CR_TRY(s.status);
    CR_TRY(cri_decompose_check(cx, "eigen", cr_cmat_of(C, p, p), true));
    memcpy(A, C, p * p * sizeof *A);
    CR_TRY(cri_eigen_lower(cx, p, A, lambda, V));
    reverse(p, lambda, V);
    for (size_t i = 0; i < p; i++) total += C[i * p + i];
    *out_rank = cri_rank(lambda, p, p, total);
    for (size_t j = *out_rank; j < p; j++) lambda[j] = 0;
    for (size_t j = 0; j < p; j++) {
        double sign = cri_direction_sign(V + j * p, p);
        for (size_t i = 0; i < p; i++) V[j * p + i] *= sign;
    }
done:
    cri_blas_leave();
    cr_scratch_end(&s);
    return st;
}

/* --- what was tried --------------------------------------------------------------------------- */

const cr_field cri_tried_fields[] = {
    CR_COUNT("components", 0, "components, or factors"),
    CR_NUMBER("parameters", 0, "free parameters"),
    CR_MEASURE("log_likelihood", "nats", CR_FIELD_NULL,
               "of the best end; null where every end was spurious"),
    CR_NUMBER("bic", CR_FIELD_NULL, "-2 log likelihood + parameters ln n"),
    CR_FIELD_LAST,
};

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

/* The sums that the evidence of q components is made of, from which those of q + 1 follow: of the variances v up to
 * q, sum log v; over i < q and j > i, sum log (v_i - v_j); over i < j < q, sum log (1/v_j - 1/v_i); and the log of
 * the density of the uniform distribution over sets of q orthonormal directions. */
typedef struct evidence_sums {
    size_t q;
    double logs, gaps, inverses, uniform;
    double ratio; /* of each variance that is not known to the one before it */
} evidence_sums;

/* The ratio with which `count` variances that follow v have this sum; at most 1. */
static double ratio_of(double v, double sum, size_t count)
{
    double low = 0, high = 1;
    for (int step = 0; step < 60; step++) {
        double r = 0.5 * (low + high);
        double s = v * r * (1 - pow(r, (double)count)) / (1 - r);
        if (s < sum)
            low = r;
        else
            high = r;
    }
    return high;
}

static evidence_sums start_evidence(const cri_spectrum_of *of)
{
    evidence_sums s = { 0 };
    if (of->known > 0 && of->known < of->rank)
        s.ratio = ratio_of(of->variance[of->known - 1], of->rest, of->rank - of->known);
    return s;
}

/* log of a - b and of 1/b - 1/a, where two directions are alike as if they were not quite. */
static double log_gap(double a, double b) { return log(a > b ? a - b : 1e-12 * a); }
static double log_inverse_gap(double a, double b) { return log(fmax(1 / b - 1 / a, 1e-12 / a)); }

/* The mean of the variances from q on. */
static double mean_from(const cri_spectrum_of *of, size_t q)
{
    double sum = of->rest;
    for (size_t j = q; j < of->known; j++) sum += of->variance[j];
    return sum / (double)(of->rank - q);
}

/* The evidence of one component more.  O(rank). */
static double next_evidence(const cri_spectrum_of *of, evidence_sums *s)
{
    size_t p = of->rank, i = s->q, q = ++s->q;
    double n = of->n, v = of->variance[i], rest = mean_from(of, q), half = 0.5 * (double)(p - i);
    double angles = (double)q * ((double)p - 0.5 * (double)(q + 1)), behind = 0;

    s->logs += log(v);
    s->uniform += cr_lgamma_abs(half) - half * log(M_PI) - M_LN2;
    for (size_t j = q; j < of->known; j++) s->gaps += log_gap(v, of->variance[j]);
    double next = of->known > 0 ? of->variance[of->known - 1] : 0;
    for (size_t j = of->known; j < p; j++) s->gaps += log_gap(v, next *= s->ratio);
    for (size_t k = 0; k < i; k++) s->inverses += log_inverse_gap(of->variance[k], v);
    if (!(rest > 0)) return NAN;
    for (size_t k = 0; k < q; k++) behind += log_inverse_gap(of->variance[k], rest);
    double curvature = s->gaps + s->inverses + (double)(p - q) * behind + angles * log(n);
    return s->uniform - 0.5 * n * (s->logs + (double)(p - q) * log(rest)) +
           0.5 * (angles + (double)q) * CRI_LOG_2PI - 0.5 * curvature - 0.5 * (double)q * log(n);
}

double cri_components_evidence(const cri_spectrum_of *of, size_t q)
{
    evidence_sums s = start_evidence(of);
    double        e = NAN;
    while (s.q < q) e = next_evidence(of, &s);
    return e;
}

double cri_components_bic(const cri_spectrum_of *of, size_t q)
{
    double p = (double)of->rank, k = (double)q, rest = mean_from(of, q), logs = 0;
    if (!(rest > 0)) return NAN;
    for (size_t j = 0; j < q; j++) logs += log(of->variance[j]);
    return of->n * (logs + (p - k) * log(rest)) + (p * k - k * (k - 1) / 2) * log(of->n);
}

/* --- the choice ------------------------------------------------------------------------------- */

/* How many numbers of components can be compared: those that leave a direction, among the first that are known. */
static size_t candidates(const cri_spectrum_of *of)
{
    size_t most = of->rank > 0 ? of->rank - 1 : 0;
    return of->known < most ? of->known : most;
}

/* By the evidence or by BIC, in the space that the rows vary in; 1 where nothing can be told. */
static size_t by_criterion(const cri_spectrum_of *of, bool bic)
{
    evidence_sums s = start_evidence(of);
    size_t        best = 1, most = candidates(of);
    double        highest = -INFINITY;
    while (s.q < most) {
        double e = next_evidence(of, &s);
        if (bic) e = -cri_components_bic(of, s.q);
        if (e > highest) highest = e, best = s.q;
    }
    return best;
}

/* The first that explain a share, or all that are known. */
static size_t by_share(const cri_spectrum_of *of, double share, bool *out_reached)
{
    double total = of->rest, sum = 0;
    size_t q = 0;
    for (size_t j = 0; j < of->known; j++) total += of->variance[j];
    while (q < of->known && sum < share * total) sum += of->variance[q++];
    *out_reached = sum >= share * total || of->known == of->rank;
    return q > 0 ? q : 1;
}

bool cri_components_decided(const char *text, const cri_spectrum_of *of)
{
    cri_components w;
    bool           reached = true;
    cri_components_read(text, &w);
    if (of->known == of->rank) return true;
    if (w.all) return false;
    if (w.automatic || w.bic) return by_criterion(of, w.bic) < of->known;
    if (w.share > 0) by_share(of, w.share, &reached);
    return w.share > 0 ? reached : w.count <= of->known;
}

bool cri_components_given(const char *text)
{
    cri_components w;
    return cri_components_read(text, &w) && w.count > 0;
}

size_t cri_components_first(const char *text, size_t most)
{
    enum { SOME = 32 };
    cri_components w;
    cri_components_read(text, &w);
    size_t first = w.all ? most : w.count > 0 ? w.count : SOME;
    return first < most ? first : most;
}

static void warn_undecided(cr_ctx *cx, const char *model, const cri_components *w,
                           const cri_spectrum_of *of)
{
    if (w->automatic || w->bic)
        cr_log(cx, CR_LOG_WARNING, "%s: %s at %zu components, the most that were looked for", model,
               w->bic ? "BIC still falls" : "the evidence still rises", of->known);
    else
        cr_log(cx, CR_LOG_WARNING,
               "%s: %zu components, the most that were looked for, explain less than %g of the "
               "variance",
               model, of->known, w->share);
}

size_t cri_components_choose(cr_ctx *cx, const char *model, const char *text,
                             const cri_spectrum_of *of)
{
    cri_components w;
    size_t         most = of->known > 0 ? of->known : 1;
    bool           reached;
    cri_components_read(text, &w);
    if (w.all) return most;
    if ((w.automatic || w.bic || w.share > 0) && !cri_components_decided(text, of))
        warn_undecided(cx, model, &w, of);
    if (w.automatic || w.bic) return by_criterion(of, w.bic);
    if (w.share > 0) return by_share(of, w.share, &reached);
    if (w.count <= most) return w.count;
    cr_log(cx, CR_LOG_WARNING, "%s: the rows vary in only %zu direction%s, fewer than %zu", model,
           of->rank, of->rank == 1 ? "" : "s", w.count);
    return most;
}
