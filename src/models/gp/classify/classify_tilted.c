/* classify_tilted.c -- the tilted bound of the expected log of a sum of exponentials. */
#include "classify_tilted.h"
#include "models/common/softmax_normal.h"
#include "math/special/special.h"

#include <math.h>
#include <string.h>

enum { STEPS = 60 };

/* phi(a), and g = the softmax of m + (1 - 2 a) v / 2. */
static double value_at(size_t F, const double *m, const double *v, const double *a, double *g)
{
    double phi = 0;
    for (size_t c = 0; c < F; c++) {
        g[c] = m[c] + (0.5 - a[c]) * v[c];
        phi += 0.5 * a[c] * a[c] * v[c];
    }
    double sum = cr_logsumexp(g, F);
    for (size_t c = 0; c < F; c++) g[c] = exp(g[c] - sum);
    return phi + sum;
}

/* L [F x F] := the factor of I + v^1/2 J v^1/2. */
static void factor(size_t F, const double *v, const double *g, double *L)
{
    for (size_t c = 0; c < F; c++)
        for (size_t d = 0; d <= c; d++)
            L[c * F + d] = (c == d) + sqrt(v[c] * v[d]) * ((c == d ? g[c] : 0) - g[c] * g[d]);
    cri_factor_small(L, F);
}

static void forward(size_t F, const double *L, double *x, size_t step)
{
    for (size_t c = 0; c < F; c++) {
        for (size_t d = 0; d < c; d++) x[c * step] -= L[c * F + d] * x[d * step];
        x[c * step] /= L[c * F + c];
    }
}

/* d := (I + J V)^-1 (a - g) = r - J V^1/2 (L L^T)^-1 V^1/2 r; x [F] is workspace. */
static void newton(size_t F, const double *v, const double *g, const double *L, const double *a,
                   double *x, double *d)
{
    double mean = 0;
    for (size_t c = 0; c < F; c++) x[c] = sqrt(v[c]) * (a[c] - g[c]);
    forward(F, L, x, 1);
    for (size_t c = F; c-- > 0;) {
        for (size_t e = c + 1; e < F; e++) x[c] -= L[e * F + c] * x[e];
        x[c] /= L[c * F + c];
    }
    for (size_t c = 0; c < F; c++) x[c] *= sqrt(v[c]), mean += g[c] * x[c];
    for (size_t c = 0; c < F; c++) d[c] = a[c] - g[c] - g[c] * (x[c] - mean);
}

/* bend := J - (L^-1 v^1/2 J)^T (L^-1 v^1/2 J); B [F x F] is workspace. */
static void find_bend(size_t F, const double *v, const double *g, const double *L, double *B,
                      double *bend)
{
    for (size_t c = 0; c < F; c++)
        for (size_t d = 0; d < F; d++) {
            bend[c * F + d] = (c == d ? g[c] : 0) - g[c] * g[d];
            B[c * F + d] = sqrt(v[c]) * bend[c * F + d];
        }
    for (size_t d = 0; d < F; d++) forward(F, L, B + d, F);
    for (size_t e = 0; e < F; e++)
        for (size_t c = 0; c < F; c++)
            for (size_t d = 0; d < F; d++) bend[c * F + d] -= B[e * F + c] * B[e * F + d];
}

double cri_tilted(size_t F, const double *m, const double *v, double *workspace, double *g,
                  double *opt_bend)
{
    double *L = workspace, *B = L + F * F, *a = B + F * F, *from = a + F, *d = from + F, *x = d + F;
    double  phi;
    cr_softmax(m, F, a);
    phi = value_at(F, m, v, a, g);
    for (int k = 0; k < STEPS; k++) {
        double most = 0, before = phi, share = 1;
        factor(F, v, g, L);
        newton(F, v, g, L, a, x, d);
        for (size_t c = 0; c < F; c++) most = fmax(most, fabs(d[c]));
        if (!(most > 1e-13)) break;
        memcpy(from, a, F * sizeof *a);
        for (int halvings = 0; halvings < 40; halvings++, share *= 0.5) {
            for (size_t c = 0; c < F; c++) a[c] = from[c] - share * d[c];
            phi = value_at(F, m, v, a, g);
            if (phi <= before + 1e-15 * fabs(before)) break;
        }
        if (most <= 1e-8) break; /* the next would be below 1e-15 */
    }
    if (opt_bend) {
        factor(F, v, g, L);
        find_bend(F, v, g, L, B, opt_bend);
    }
    return phi;
}
