/* precise_log.c -- logarithms in double-double arithmetic.
 * Reduction by a table of reciprocals as in Tang (1990), "Table-driven implementation of the
 * logarithm function in IEEE floating-point arithmetic", ACM TOMS 16(4); the rest by the series of
 * atanh, only its first terms with all digits. */
#include "precise_log.h"
#include "coefficients.h"

static const cri_dd LN2 = { 0.69314718055994530942, 2.3190468138462995584e-17 };

/* sum of (2 / (2 k + 1)) s^(k - first), k = first, ... */
static double atanh_rest(double s, int first, int last)
{
    double sum = 0;
    for (int k = last; k >= first; k--) sum = sum * s + 2.0 / (2 * k + 1);
    return sum;
}

/* 2 atanh(r) - 2 r = r^3 (2/3 + 2/5 r^2 + ...), |r| < 1/16. */
static cri_dd atanh_bend(cri_dd r)
{
    static const cri_dd third = { 2.0 / 3, 3.7007434154171883e-17 };
    static const cri_dd fifth = { 0.4, -2.2204460492503131e-17 };
    cri_dd              square = cri_dd_mul(r, r);
    cri_dd              sum = cri_dd_mul_double(square, atanh_rest(square.hi, 3, 10));
    sum = cri_dd_mul(square, cri_dd_add(fifth, sum));
    return cri_dd_mul(cri_dd_mul(r, square), cri_dd_add(third, sum));
}

/* 2 atanh(r) - 2 r for |r| < 1/180: here 2/5 r^2 needs no second part. */
static cri_dd atanh_bend_short(cri_dd r)
{
    static const cri_dd third = { 2.0 / 3, 3.7007434154171883e-17 };
    cri_dd              square = cri_dd_mul(r, r);
    double              rest = square.hi * atanh_rest(square.hi, 2, 6);
    return cri_dd_mul(cri_dd_mul(r, square), cri_dd_add_double(third, rest));
}

cri_dd cri_dd_log(cri_dd x)
{
    if (!(x.hi > 0 && x.hi < INFINITY)) return cri_dd_from(log(x.hi));
    int    exponent, index;
    double m = frexp(x.hi, &exponent);
    if (m < M_SQRT1_2) {
        m *= 2;
        exponent--;
    }
    index = (int)(m * 64 + 0.5);
    const double *row = cri_log_table[index - CRI_LOG_FIRST];
    cri_dd        r = cri_dd_add_double(cri_two_prod(m, row[0]), -1);
    if (x.lo != 0) r = cri_dd_add_double(r, ldexp(x.lo, -exponent) * row[0]);
    cri_dd s = cri_dd_div(r, cri_dd_add_double(r, 2));
    cri_dd near = cri_dd_add((cri_dd){ 2 * s.hi, 2 * s.lo }, atanh_bend_short(s));
    cri_dd far = cri_dd_add(cri_dd_mul_double(LN2, exponent), (cri_dd){ row[1], row[2] });
    return cri_dd_add(far, near);
}

/* With r = t / (2 + t), log(1 + t) = 2 atanh(r), and 2 r - t = -r t. */
cri_dd cri_dd_log1pmx(cri_dd t)
{
    if (fabs(t.hi) > 0.11) return cri_dd_sub(cri_dd_log(cri_dd_add_double(t, 1)), t);
    cri_dd r = cri_dd_div(t, cri_dd_add_double(t, 2));
    return cri_dd_sub(atanh_bend(r), cri_dd_mul(r, t));
}

/* The deviance is homogeneous: very large ones are computed smaller. */
static cri_dd large_deviance(double x, cri_dd m)
{
    cri_dd d = cri_dd_deviance(ldexp(x, -80), (cri_dd){ ldexp(m.hi, -80), ldexp(m.lo, -80) });
    return (cri_dd){ ldexp(d.hi, 80), d.hi > 1e280 ? 0 : ldexp(d.lo, 80) };
}

/* Where m is far below x, log(m / x) from the two, for 1 + t would lose what is left of m. */
cri_dd cri_dd_deviance(double x, cri_dd m)
{
    if (x < 1e-40 * m.hi) return m;
    if (x > 1e250 && m.hi < 1e-40 * x) return cri_dd_from(x * (log(x) - log(m.hi) - 1));
    if (x > 1e290 || m.hi > 1e290) return large_deviance(x, m);
    cri_dd gap = cri_dd_add_double(m, -x);
    if (fabs(gap.hi) <= 0.11 * x)
        return cri_dd_neg(cri_dd_mul_double(cri_dd_log1pmx(cri_dd_div(gap, cri_dd_from(x))), x));
    cri_dd ratio = cri_dd_sub(cri_dd_log(cri_dd_from(x)), cri_dd_log(m));
    return cri_dd_add(cri_dd_mul_double(ratio, x), gap);
}

double cri_exp_dd(cri_dd x)
{
    return x.hi < -746 ? 0 : x.hi > 710 ? INFINITY : exp(x.hi) * (1 + x.lo);
}
