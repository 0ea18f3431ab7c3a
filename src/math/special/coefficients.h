/* coefficients.h -- Chebyshev series and other tables behind the special functions. */
#ifndef CREDENCE_MATH_SPECIAL_COEFFICIENTS_H
#define CREDENCE_MATH_SPECIAL_COEFFICIENTS_H

/* sum of c[k] T_k(t), t = -1 at `low` and 1 at `high`. */
typedef struct cri_chebyshev {
    double        low, high;
    int           n;
    const double *c;
} cri_chebyshev;

/* By Clenshaw's recurrence. */
static inline double cri_chebyshev_at(const cri_chebyshev *s, double x)
{
    double t = ((x - s->low) - (s->high - x)) / (s->high - s->low), twice = 2 * t, b1 = 0, b2 = 0;
    for (int k = s->n - 1; k > 0; k--) {
        double b = s->c[k] + (twice * b1 - b2);
        b2 = b1;
        b1 = b;
    }
    return s->c[0] + (t * b1 - b2);
}

/* See coefficients.c for the function behind each. */
extern const cri_chebyshev cri_stirling_1, cri_stirling_2, cri_i0_far, cri_i1_far, cri_ratio_far,
    cri_temme_1, cri_temme_2, cri_variance_1, cri_variance_2;

enum { CRI_LOG_FIRST = 45, CRI_LOG_LAST = 91, CRI_OLVER_LEVELS = 12, CRI_BESSEL_POWERS = 26 };
extern const double cri_bessel_powers[2][CRI_BESSEL_POWERS];
extern const double cri_log_table[CRI_LOG_LAST - CRI_LOG_FIRST + 1][3];
extern const double cri_olver[CRI_OLVER_LEVELS + 1][CRI_OLVER_LEVELS + 1];

#endif
