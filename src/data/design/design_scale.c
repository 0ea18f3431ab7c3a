/* design_scale.c -- means and standard deviations of terms and target, for standardising. */
#include "design_block.h"
#include "base/context_internal.h"
#include "base/parallel.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

typedef cri_term_moments moments;

typedef struct term_moments {
    const cri_rows *rows;
    moments        *terms; /* [p] */
} term_moments;

/* Term p is the target. */
static void fill_term(const cri_rows *rows, size_t term, size_t begin, size_t end, double *x)
{
    if (term < rows->p)
        cri_rows_fill_term(rows, term, begin, end, x, 1);
    else
        memcpy(x, rows->y + begin, (end - begin) * sizeof *x);
}

/* sum over rows of w (unit x - centre)^power for one term, power 1 or 2; also of w, and the largest
 * |x|. */
static double sum_term(const cri_rows *rows, size_t term, double unit, double centre, int power,
                       double *out_w, double *out_largest)
{
    enum { BLOCK = 256 };
    double x[BLOCK], sum = 0, weight = 0, largest = 0;
    for (size_t begin = 0; begin < rows->n; begin += BLOCK) {
        size_t end = rows->n - begin > BLOCK ? begin + BLOCK : rows->n;
        double part = 0;
        fill_term(rows, term, begin, end, x);
        for (size_t i = begin; i < end; i++) {
            double w = rows->w ? rows->w[i] : 1, z = unit * x[i - begin] - centre;
            if (isnan(z)) continue; /* a gap that the model takes */
            part += w * (power == 1 ? z : z * z);
            weight += w;
            if (fabs(x[i - begin]) > largest) largest = fabs(x[i - begin]);
        }
        sum += part;
    }
    *out_w = weight;
    *out_largest = largest;
    return sum;
}

/* Weighted mean and population sd of unit x; the second look at the mean takes up what the first
 * lost to rounding. */
static moments measure_in(const cri_rows *rows, size_t term, double unit, double *out_largest)
{
    double w, mean = 0;
    for (int pass = 0; pass < 2; pass++) {
        double sum = sum_term(rows, term, unit, mean, 1, &w, out_largest);
        if (w > 0) mean += sum / w;
    }
    double square = sum_term(rows, term, unit, mean, 2, &w, out_largest);
    return (moments){ w, mean, w > 0 ? sqrt(square / w) : 0 };
}

static bool is_sound(moments m) { return isfinite(m.mean) && isfinite(m.sd) && m.sd > 0x1p-480; }

/* The same of x.  Where squares overflow or vanish, x is measured in units of a power of two near
 * its largest value, which changes no digit.  sd is infinite when x - mean would be. */
static moments measure(const cri_rows *rows, size_t term)
{
    double  largest;
    int     exponent;
    moments m = measure_in(rows, term, 1, &largest);
    if (is_sound(m)) return m;
    if (largest == 0) return m;
    frexp(largest, &exponent);
    if (exponent < -1000) exponent = -1000; /* 2^-exponent is a double too */
    m = measure_in(rows, term, ldexp(1, -exponent), &largest);
    m.mean = ldexp(m.mean, exponent);
    m.sd = ldexp(m.sd, exponent);
    if (!isfinite(largest + fabs(m.mean))) m.sd = INFINITY;
    return m;
}

static void measure_term(void *arg, size_t term)
{
    const term_moments *m = arg;
    m->terms[term] = measure(m->rows, term);
}

/* All terms of sparse rows at once; those whose squares overflow or vanish one by one. */
static cr_status measure_sparse(cr_ctx *cx, const cri_rows *rows, moments *terms)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *mean = cr_scratch_f64(&s, rows->p), *variance = cr_scratch_f64(&s, rows->p);

    CR_TRY(s.status);
    CR_TRY(cri_sparse_moments(cx, rows->sparse, rows->w, mean, variance));
    for (size_t j = 0; j < rows->p; j++) {
        terms[j] = (moments){ .mean = mean[j], .sd = sqrt(variance[j]) };
        bool all_zero = mean[j] == 0 && variance[j] == 0;
        if (!all_zero && !is_sound(terms[j])) terms[j] = measure(rows, j);
    }
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status set_scale(cr_ctx *cx, const char *opt_source, const char *name, moments m,
                           double *shift, double *scale)
{
    if (!isfinite(m.mean) || !isfinite(m.sd)) {
        cr_fail(cx, CR_ENUMERIC, "%s%s'%s' cannot be standardised: its mean and sd overflow",
                opt_source ? opt_source : "", opt_source ? ": " : "", name);
        return cr_fail_hint(cx, "give it in a larger unit");
    }
    bool constant = !(m.sd > 1e-14 * fabs(m.mean)); /* below that is rounding */
    *shift = m.mean;
    *scale = constant ? 1 : m.sd;
    return CR_OK;
}

cr_status cri_standardise_terms(cr_ctx *cx, cr_design *d, const cri_rows *rows)
{
    cr_status    st = CR_OK;
    cr_scratch   s = cr_scratch_begin(cx);
    term_moments m = { rows, cr_scratch_bytes(&s, d->p, sizeof *m.terms) };

    CR_TRY(s.status);
    CR_TRY(rows->sparse ? measure_sparse(cx, rows, m.terms)
                        : cri_parallel_for(cx, "standardising", d->p, measure_term, &m));
    for (size_t j = 0; j < d->p; j++) {
        if (cri_design_is_code(d, j)) continue;
        CR_TRY(set_scale(cx, cr_table_source(rows->table), cr_design_term_name(d, j), m.terms[j],
                         &d->shift[j], &d->scale[j]));
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_standardise_target(cr_ctx *cx, cr_design *d, const cri_rows *rows)
{
    return set_scale(cx, cr_table_source(rows->table), d->target.name, measure(rows, d->p),
                     &d->target_shift, &d->target_scale);
}

/* --- of rows that come in parts -------------------------------------------------------------- */

/* a becomes the moments of both (Chan, Golub & LeVeque 1983), by sds, whose squares might overflow. */
static void merge(moments *a, moments b)
{
    if (!(b.weight > 0)) return;
    double all = a->weight + b.weight, share = b.weight / all, gap = b.mean - a->mean;
    double within = hypot(sqrt(1 - share) * a->sd, sqrt(share) * b.sd);
    a->sd = hypot(within, sqrt(share * (1 - share)) * gap);
    a->mean = share == 1 ? b.mean : a->mean + share * gap;
    a->weight = all;
}

cr_status cri_terms_measure(cr_ctx *cx, const cri_rows *rows, cri_term_moments *terms)
{
    cr_status    st = CR_OK;
    cr_scratch   s = cr_scratch_begin(cx);
    term_moments m = { rows, cr_scratch_bytes(&s, rows->p, sizeof *m.terms) };
    CR_TRY(s.status);
    CR_TRY(cri_parallel_for(cx, "standardising", rows->p, measure_term, &m));
    for (size_t j = 0; j < rows->p; j++) merge(&terms[j], m.terms[j]);
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_terms_standardise(cr_ctx *cx, cr_design *d, const cri_term_moments *terms)
{
    cr_status st = CR_OK;
    for (size_t j = 0; j < d->p; j++)
        if (!cri_design_is_code(d, j))
            CR_TRY(set_scale(cx, NULL, cr_design_term_name(d, j), terms[j], &d->shift[j],
                             &d->scale[j]));
done:
    return st;
}

/* --- centres of powers ------------------------------------------------------------------------ */

/* Of a mean in units of the spread: beyond, x^3 is a combination of lower powers up to a millionth. */
static const double FAR = 100;

bool cri_design_has_powers(const cr_design *d)
{
    for (size_t k = 0; k < d->n_terms; k++)
        if (d->terms[k].power > 1) return true;
    return false;
}

/* The term that is the column itself, or SIZE_MAX. */
static size_t first_power(const cr_design *d, size_t column)
{
    for (size_t k = 0; k < d->n_terms; k++)
        if (d->terms[k].column == column && d->terms[k].power == 1) return k;
    return SIZE_MAX;
}

static cr_status centre_term(cr_ctx *cx, const cr_design *d, double centre, cri_design_term *t)
{
    char *name = cri_string_format(cx, "(%s %c %.6g)^%u", d->columns[t->column].name,
                                   centre < 0 ? '+' : '-', fabs(centre), t->power);
    if (!name) return CR_ENOMEM;
    cri_string_free(cx, t->name);
    t->name = name;
    t->centre = centre;
    return CR_OK;
}

cr_status cri_centre_powers(cr_ctx *cx, cr_design *d, cri_centring how,
                            const cri_term_moments *terms)
{
    cr_status st = CR_OK;
    for (size_t k = 0; how != CRI_CENTRE_NONE && k < d->n_terms; k++) {
        size_t column = d->terms[k].column, first = first_power(d, column);
        if (d->terms[k].power < 2 || first == SIZE_MAX) continue;
        moments m = terms[d->block.n + first];
        bool    far = fabs(m.mean) > FAR * m.sd;
        if (!isfinite(m.mean) || m.mean == 0 || !(m.sd > 0)) continue;
        if (how == CRI_CENTRE_FAR && !far) continue;
        CR_TRY(centre_term(cx, d, m.mean, &d->terms[k]));
    }
done:
    return st;
}
