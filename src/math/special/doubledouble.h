/* doubledouble.h -- numbers of about 32 digits as unevaluated sums hi + lo of two doubles.
 * For residuals in iterative refinement, sums of many terms and differences of near-equal products.
 * |lo| <= ulp(hi) / 2 throughout; results are off by a few units of 2^-104 relative, sums and
 * products of finite numbers that neither overflow nor fall under 2^-960 or so.
 * Cost in flops: add 20, mul 9, div 32, dot 25 per element (a plain dot takes 2); mul needs a
 * hardware fma to be quick, and is right without one.
 * Dekker (1971), Numer. Math. 18; Knuth, TAOCP vol. 2, sec. 4.2.2; Hida, Li & Bailey (2001);
 * Ogita, Rump & Oishi (2005), SIAM J. Sci. Comput. 26.  (Internal header.) */
#ifndef CREDENCE_MATH_DOUBLEDOUBLE_H
#define CREDENCE_MATH_DOUBLEDOUBLE_H

#include <math.h>
#include <stddef.h>

typedef struct cri_dd {
    double hi, lo;
} cri_dd;

static inline cri_dd cri_dd_from(double x) { return (cri_dd){ x, 0 }; }
static inline double cri_dd_to_double(cri_dd x) { return x.hi + x.lo; }

/* a + b exactly; the second needs |a| >= |b| or a == 0. */
static inline cri_dd cri_two_sum(double a, double b)
{
    double s = a + b, part = s - a;
    return (cri_dd){ s, (a - (s - part)) + (b - part) };
}

static inline cri_dd cri_quick_two_sum(double a, double b)
{
    double s = a + b;
    return (cri_dd){ s, b - (s - a) };
}

/* a * b exactly. */
static inline cri_dd cri_two_prod(double a, double b)
{
    double p = a * b;
    return (cri_dd){ p, fma(a, b, -p) };
}

static inline cri_dd cri_dd_neg(cri_dd a) { return (cri_dd){ -a.hi, -a.lo }; }

static inline cri_dd cri_dd_add(cri_dd a, cri_dd b)
{
    cri_dd s = cri_two_sum(a.hi, b.hi), t = cri_two_sum(a.lo, b.lo);
    s = cri_quick_two_sum(s.hi, s.lo + t.hi);
    return cri_quick_two_sum(s.hi, s.lo + t.lo);
}

static inline cri_dd cri_dd_sub(cri_dd a, cri_dd b) { return cri_dd_add(a, cri_dd_neg(b)); }

static inline cri_dd cri_dd_add_double(cri_dd a, double b)
{
    cri_dd s = cri_two_sum(a.hi, b);
    return cri_quick_two_sum(s.hi, s.lo + a.lo);
}

static inline cri_dd cri_dd_mul(cri_dd a, cri_dd b)
{
    cri_dd p = cri_two_prod(a.hi, b.hi);
    return cri_quick_two_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

static inline cri_dd cri_dd_mul_double(cri_dd a, double b)
{
    cri_dd p = cri_two_prod(a.hi, b);
    return cri_quick_two_sum(p.hi, p.lo + a.lo * b);
}

/* Long division with two digits of 53 bits. */
static inline cri_dd cri_dd_div(cri_dd a, cri_dd b)
{
    double first = a.hi / b.hi;
    cri_dd rest = cri_dd_sub(a, cri_dd_mul_double(b, first));
    return cri_quick_two_sum(first, rest.hi / b.hi);
}

/* Newton's step from the square root in doubles; a >= 0. */
static inline cri_dd cri_dd_sqrt(cri_dd a)
{
    if (a.hi == 0) return cri_dd_from(0);
    double root = sqrt(a.hi);
    cri_dd rest = cri_dd_sub(a, cri_two_prod(root, root));
    return cri_quick_two_sum(root, rest.hi / (2 * root));
}

/* acc + x, and acc + x * y: the steps of long sums and dot products. */
static inline cri_dd cri_dd_accumulate(cri_dd acc, double x) { return cri_dd_add_double(acc, x); }

static inline cri_dd cri_dd_accumulate_product(cri_dd acc, double x, double y)
{
    return cri_dd_add(acc, cri_two_prod(x, y));
}

#endif
