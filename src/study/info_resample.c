/* info_resample.c -- standard errors from disjoint parts, and p-values from random orders. */
#include "info_internal.h"
#include "math/special/special.h"

#include <math.h>

enum { LEAST_PART = 50 };

/* --- parts ----------------------------------------------------------------------------------- */

/* How n rows are cut: parts of at least 50 rows if that is possible, and how often. */
static void plan_parts(size_t n, size_t k, size_t draws, size_t *out_parts, size_t *out_times)
{
    size_t least = LEAST_PART > 4 * k ? LEAST_PART : 4 * k, parts = n / least;
    if (parts < 2) parts = n >= 2 * (2 * k + 2) ? 2 : 0;
    if (parts > draws) parts = draws;
    *out_parts = parts;
    *out_times = parts > 1 ? (draws + parts - 1) / parts : 0;
}

/* Mean and variance of the estimates on the parts of one cut; NaN when a part has too little in it. */
static cr_status cut_once(cr_ctx *cx, const cri_variables *vs, cri_estimate *estimate,
                          const void *arg, size_t parts, cr_rng r, double *out_mean,
                          double *out_variance)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t    *order = cr_scratch_index(&s, vs->n);
    double     mean = 0, square = 0;
    CR_TRY(s.status);
    cr_rng_permutation(&r, vs->n, order);
    for (size_t i = 0; i < parts; i++) {
        cr_scratch    inner = cr_scratch_begin(cx);
        size_t        begin = vs->n * i / parts, end = vs->n * (i + 1) / parts;
        cri_variables part;
        double        value = 0;
        st = cri_variables_some(&inner, vs, order + begin, end - begin, &part);
        if (st == CR_OK) st = estimate(cx, &part, arg, &value);
        cr_scratch_end(&inner);
        if (st == CR_EDATA)
            value = NAN;
        else
            CR_TRY(st);
        double step = value - mean;
        mean += step / (double)(i + 1);
        square += step * (value - mean);
    }
    *out_mean = mean;
    *out_variance = square / (double)(parts - 1);
    st = CR_OK;
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_parts_error(cr_ctx *cx, const cri_variables *vs, cri_estimate *estimate,
                          const void *arg, double value, const cr_info_options *o, uint64_t seed,
                          double *out_se)
{
    cr_status st = CR_OK;
    size_t    parts, times;
    double    variance = 0, mean = 0;
    plan_parts(vs->n, o->neighbours, o->bootstrap, &parts, &times);
    for (size_t t = 0; t < times; t++) {
        double one = 0, middle = 0;
        CR_TRY(cut_once(cx, vs, estimate, arg, parts, cri_info_rng(seed, CRI_STREAM_PARTS, t),
                        &middle, &one));
        variance += one / (double)times;
        mean += middle / (double)times;
        cr_progress(cx, "parts", (double)(t + 1), (double)times);
        CR_TRY(cr_check_interrupt(cx));
    }
    double bias = times ? (mean - value) / (double)(parts - 1) : NAN;
    *out_se = times ? sqrt(variance / (double)parts + bias * bias) : NAN;
done:
    return st;
}

void cri_normal_interval(double value, double se, double level, cri_span span, double *out_lower,
                         double *out_upper)
{
    double z = cr_norm_ppf(0.5 * (1 + level)), near = fmin(fmax(value, span.least), span.most);
    *out_lower = isnan(se) ? NAN : fmax(span.least, near - z * se);
    *out_upper = isnan(se) ? NAN : fmin(span.most, near + z * se);
}

/* --- random orders --------------------------------------------------------------------------- */

/* The variables of A take the values of other rows of the same cell. */
static cr_status reorder(cr_scratch *s, const cri_variables *vs, const size_t *order,
                         const size_t *begin, size_t cells, cr_rng *r, cri_variables *out)
{
    cri_variables vs_new = *vs;
    size_t       *from = cr_scratch_index(s, vs->n), *shuffled = cr_scratch_index(s, vs->n);
    vs_new.v = cr_scratch_bytes(s, vs->m, sizeof *vs_new.v);
    if (s->status != CR_OK) return s->status;
    for (size_t c = 0; c < cells; c++) {
        size_t n = begin[c + 1] - begin[c];
        cr_rng_permutation(r, n, shuffled);
        for (size_t i = 0; i < n; i++) from[order[begin[c] + i]] = order[begin[c] + shuffled[i]];
    }
    for (size_t j = 0; j < vs->m; j++) {
        cri_variable *v = &vs_new.v[j];
        *v = vs->v[j];
        if (v->role != CRI_A) continue;
        v->code = v->counted ? cr_scratch_bytes(s, vs->n, sizeof *v->code) : NULL;
        v->x = v->counted ? NULL : cr_scratch_f64(s, vs->n);
        v->opt_line = NULL;
        if (s->status != CR_OK) return s->status;
        for (size_t i = 0; i < vs->n; i++) {
            if (v->counted)
                v->code[i] = vs->v[j].code[from[i]];
            else
                v->x[i] = vs->v[j].x[from[i]];
        }
    }
    *out = vs_new;
    return CR_OK;
}

cr_status cri_permutation_p(cr_ctx *cx, const cri_variables *vs, cri_estimate *estimate,
                            const void *arg, double value, const cr_info_options *o, uint64_t seed,
                            double *out_p)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_cells  cells;
    size_t     reached = 0, *order = cr_scratch_index(&s, vs->n), *begin;
    CR_TRY(cri_cells_of(&s, vs, CRI_GIVEN, &cells));
    begin = cr_scratch_index(&s, cells.cells + 1);
    CR_TRY(s.status);
    cri_cells_sort(&cells, vs->n, order, begin);
    for (size_t t = 0; t < o->permutations; t++) {
        cr_scratch    inner = cr_scratch_begin(cx);
        cr_rng        r = cri_info_rng(seed, CRI_STREAM_ORDERS, t);
        cri_variables other;
        double        got = 0;
        st = reorder(&inner, vs, order, begin, cells.cells, &r, &other);
        if (st == CR_OK) st = estimate(cx, &other, arg, &got);
        cr_scratch_end(&inner);
        CR_TRY(st);
        reached += got >= value - 1e-12 * fabs(value); /* the same table, added in another order */
        cr_progress(cx, "permutations", (double)(t + 1), (double)o->permutations);
        CR_TRY(cr_check_interrupt(cx));
    }
    *out_p = (double)(reached + 1) / (double)(o->permutations + 1);
done:
    cr_scratch_end(&s);
    return st;
}
