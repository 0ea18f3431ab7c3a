/* sparse_probes.c -- the degrees of freedom of a ridge on sparse rows, by random probes. */
#include "sparse_probes.h"
#include "base/rng.h"

#include <math.h>

enum { PROBES = CRI_SPARSE_PANEL };

/* Signs for the rows that count, without their part along sqrt(w), which Z (centred) does not
 * reach; returns the squared length. */
static double draw_probe(const cri_sparse_terms *z, bool centred, uint64_t seed, size_t c,
                         double *E)
{
    cr_rng r = cr_rng_stream(seed, c);
    double along = 0, length = 0;
    for (size_t i = 0; i < z->n; i++) {
        double root = z->root ? z->root[i] : 1, sign = cr_rng_below(&r, 2) ? 1 : -1;
        E[i * PROBES + c] = root > 0 ? sign : 0;
        along += root * E[i * PROBES + c] / z->weight;
    }
    for (size_t i = 0; i < z->n; i++) {
        double *e = &E[i * PROBES + c];
        if (centred) *e -= along * (z->root ? z->root[i] : 1);
        length += *e * *e;
    }
    return length;
}

/* The mean of the ratios told / lengths, and its standard error. */
static double summarise(const double *told, const double *lengths, double *out_se)
{
    double sum = 0, squares = 0;
    for (size_t c = 0; c < PROBES; c++) {
        double share = lengths[c] > 0 ? told[c] / lengths[c] : 0;
        sum += share / PROBES;
        squares += share * share / PROBES;
    }
    *out_se = sqrt(fmax(squares - sum * sum, 0) / (PROBES - 1));
    return sum;
}

bool cri_probes_settled(const double *told, const double *taken, const double *lengths)
{
    const double LEAST = 1e-7, MOST = 1e-5, PART = 0.1;
    double       se, mean = summarise(told, lengths, &se);
    double       share = fmin(MOST, fmax(LEAST, mean > 0 ? PART * se / mean : 0));
    for (size_t c = 0; c < PROBES; c++)
        if (taken[c] > share * told[c]) return false;
    return true;
}

cr_status cri_sparse_trace(cr_ctx *cx, const cri_sparse_terms *z, bool centred, uint64_t seed,
                           cri_probe_measure measure, void *user, double *out_df, double *out_se)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *E = cr_scratch_matrix(&s, z->n, PROBES);
    double     lengths[PROBES], told[PROBES], most = centred ? -1 : 0;

    CR_TRY(s.status);
    cr_progress(cx, "estimating the degrees of freedom", 0, 1);
    for (size_t c = 0; c < PROBES; c++) lengths[c] = draw_probe(z, centred, seed, c, E);
    for (size_t i = 0; i < z->n; i++) most += !z->root || z->root[i] > 0;
    CR_TRY(measure(cx, user, E, lengths, told));
    *out_df = most * summarise(told, lengths, out_se);
    *out_se *= most;
done:
    cr_scratch_end(&s);
    return st;
}
