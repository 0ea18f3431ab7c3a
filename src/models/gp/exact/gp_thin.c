/* gp_thin.c -- a factor of small rank, or the knowledge that there is none. */
#include "gp_thin.h"
#include "gp_pivots.h"

#include <math.h>
#include <string.h>

enum {
    MOST = 600, /* pivots at all              */
    FIRST = 32  /* pivots of the first attempt */
};

/* Will the largest variance that is left, which falls at best as it did over the last half of the
 * pivots, be below `least` in time? */
static bool has_hope(const double *F, const size_t *pivots, size_t width, size_t most, double least)
{
    size_t half = width / 2, last = width - 1;
    double before = 2 * log(F[pivots[half] * width + half]),
           now = 2 * log(F[pivots[last] * width + last]);
    double slope = (now - before) / (double)(last - half);
    return now + slope * (double)(most - width) < log(least);
}

static cr_status mean_variance(cr_ctx *cx, const cri_gp_data *data, const cr_kernel *k, double *out)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    cr_kernel_input in = cri_gp_inputs(data);
    double         *diagonal = cr_scratch_f64(&s, data->n);

    CR_TRY(s.status);
    CR_TRY(cr_kernel_diagonal(cx, k, &in, false, diagonal));
    *out = 0;
    for (size_t i = 0; i < data->n; i++) *out += diagonal[i] / (double)data->n;
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_gp_thin_begin(cr_ctx *cx, const cri_gp_data *data, const cr_kernel *k, double least,
                            size_t most, cri_gp_thin *out)
{
    cr_status st = CR_OK;
    size_t    n = data->n;
    double    mean, *F;

    *out = (cri_gp_thin){ .memory = cr_scratch_begin(cx) };
    if (most > MOST) most = MOST;
    if (most < FIRST || !cr_kernel_is_psd(k)) goto done;
    CR_TRY(mean_variance(cx, data, k, &mean));
    if (!(mean > 0 && isfinite(mean))) goto done;
    for (size_t width = FIRST;; width = 2 * width < most ? 2 * width : most) {
        cr_scratch_end(&out->memory);
        out->memory = cr_scratch_begin(cx);
        out->pivots = cr_scratch_index(&out->memory, width);
        F = cr_scratch_matrix(&out->memory, n, width);
        CR_TRY(out->memory.status);
        CR_TRY(cri_gp_pivots(cx, data, k, width, least, out->pivots, F, &out->rank, NULL));
        out->F = (cr_mat){ F, n, out->rank, width };
        if (out->rank < width) break;
        out->rank = 0;
        if (width == most || !has_hope(F, out->pivots, width, most, least * mean)) goto done;
    }
    for (size_t i = 0; i < out->rank; i++) /* what rounding left above L */
        for (size_t j = i + 1; j < out->rank; j++) F[out->pivots[i] * out->F.stride + j] = 0;
done:
    return st;
}

void cri_gp_thin_end(cri_gp_thin *thin)
{
    cr_scratch_end(&thin->memory);
    thin->rank = 0;
}

void cri_gp_thin_factor(const cri_gp_thin *thin, double *L)
{
    size_t r = thin->rank;
    for (size_t i = 0; i < r; i++)
        memcpy(L + i * r, thin->F.a + thin->pivots[i] * thin->F.stride, r * sizeof *L);
}
