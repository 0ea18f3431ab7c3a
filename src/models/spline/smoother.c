/* smoother.c -- filtering and smoothing (f, f') along the knots.
 * Over a step h the pair moves by Phi = [1 h; 0 1] and gathers noise
 *     Q = q [h^3/3 h^2/2; h^2/2 h],   seen backwards  B = Phi^-1 Q Phi^-T = q [h^3/3 -h^2/2; -h^2/2
 * h]. With P the covariance before the step, det(Phi P Phi^T + Q) = det(P + B) =: D, where D = det
 * P + q (P_ss h^3/3 + P_fs h^2 + P_ff h) + q^2 h^4/12, and the pair before the step, given what was
 * known then (m, P) and the pair behind it, has mean  m + K (Phi^-1 next - m),   K = (det P I + P
 * adj B) / D, covariance  (det P B + det B P) / D.
 *
 * At the first knot the slope is unknown: P = A + k d d^T with k -> infinity.  In the limit all the
 * formulas hold with P = d d^T, det P = d^T adj(A) d, and the parts that are not multiplied by k
 * left out: that is what `flat` means. */
#include "smoother.h"

#include <math.h>

typedef struct belief {
    double f, s;            /* mean                         */
    double ff, fs, ss, det; /* covariance and determinant */
    bool   flat;
} belief;

static double determinant_after(const belief *b, double h, double q)
{
    double det = b->det + q * h * (b->ss * h * h / 3 + b->fs * h + b->ff);
    return b->flat ? det : det + q * q * h * h * h * h / 12;
}

static void step(belief *b, double h, double q)
{
    b->det = determinant_after(b, h, q);
    b->f += h * b->s;
    b->ff += h * (2 * b->fs + h * b->ss);
    b->fs += h * b->ss;
    if (b->flat) return;
    b->ff += q * h * h * h / 3;
    b->fs += q * h * h / 2;
    b->ss += q * h;
}

/* Takes in y = f + noise of variance r; adds to the evidence once the prior is proper. */
static void observe(belief *b, double y, double r, cri_spline_evidence *e)
{
    double S = b->flat ? b->ff : b->ff + r, v = y - b->f, share = r / S;
    if (!b->flat) {
        e->squares += v * v / S;
        e->log_variance += log(S);
    }
    b->f += b->ff / S * v;
    b->s += b->fs / S * v;
    b->ss = (b->det + r * b->ss) / S;
    b->ff *= share;
    b->fs *= share;
    b->det *= share;
    b->flat = false;
}

/* From the smoothed pair behind a step of length h, the smoothed pair before it. */
static belief step_back(const belief *b, const belief *next, double h, double q)
{
    double a = q * h, c = q * h * h / 2, d = q * h * h * h / 3; /* adj B = [a c; c d] */
    double D = determinant_after(b, h, q), det_B = q * q * h * h * h * h / 12;
    double K[4] = { (b->det + b->ff * a + b->fs * c) / D, (b->ff * c + b->fs * d) / D,
                    (b->fs * a + b->ss * c) / D, (b->det + b->fs * c + b->ss * d) / D };
    double tf = next->f - h * next->s - b->f, ts = next->s - b->s;
    double ff = next->ff - 2 * h * next->fs + h * h * next->ss; /* Phi^-1 V Phi^-T */
    double fs = next->fs - h * next->ss, ss = next->ss;
    belief s = { .f = b->f + K[0] * tf + K[1] * ts, .s = b->s + K[2] * tf + K[3] * ts };
    s.ff = K[0] * K[0] * ff + 2 * K[0] * K[1] * fs + K[1] * K[1] * ss +
           (b->det * d + det_B * b->ff) / D;
    s.fs = K[0] * K[2] * ff + (K[0] * K[3] + K[1] * K[2]) * fs + K[1] * K[3] * ss +
           (-b->det * c + det_B * b->fs) / D;
    s.ss = K[2] * K[2] * ff + 2 * K[2] * K[3] * fs + K[3] * K[3] * ss +
           (b->det * a + det_B * b->ss) / D;
    return s;
}

/* --- knots ----------------------------------------------------------------------------------- */

static belief filtered(const double *knot, bool first)
{
    return (belief){ .f = knot[CRI_KNOT_F],
                     .s = knot[CRI_KNOT_SLOPE],
                     .ff = knot[CRI_KNOT_PFF],
                     .fs = knot[CRI_KNOT_PFS],
                     .ss = knot[CRI_KNOT_PSS],
                     .det = knot[CRI_KNOT_DET],
                     .flat = first };
}

static belief smoothed(const double *knot)
{
    return (belief){ .f = knot[CRI_KNOT_F],
                     .s = knot[CRI_KNOT_SLOPE],
                     .ff = knot[CRI_KNOT_VFF],
                     .fs = knot[CRI_KNOT_VFS],
                     .ss = knot[CRI_KNOT_VSS] };
}

static void keep_filtered(double *knot, const belief *b)
{
    knot[CRI_KNOT_F] = b->f, knot[CRI_KNOT_SLOPE] = b->s;
    knot[CRI_KNOT_PFF] = b->ff, knot[CRI_KNOT_PFS] = b->fs, knot[CRI_KNOT_PSS] = b->ss;
    knot[CRI_KNOT_DET] = b->det;
}

static void keep_smoothed(double *knot, const belief *b)
{
    knot[CRI_KNOT_F] = b->f, knot[CRI_KNOT_SLOPE] = b->s;
    knot[CRI_KNOT_VFF] = b->ff, knot[CRI_KNOT_VFS] = b->fs, knot[CRI_KNOT_VSS] = b->ss;
}

static const double *knot_at(const double *knots, size_t i) { return knots + i * CRI_KNOT_SIZE; }

cri_spline_evidence cri_spline_smooth(double *knots, size_t m, const double *y, const double *W,
                                      double q)
{
    cri_spline_evidence e = { 0, 0 };
    belief              b = { .f = y[0], .ss = 1, .det = 1 / W[0], .flat = true };
    keep_filtered(knots, &b);
    for (size_t i = 1; i < m; i++) {
        double *knot = knots + i * CRI_KNOT_SIZE;
        step(&b, knot[CRI_KNOT_U] - knot[CRI_KNOT_U - CRI_KNOT_SIZE], q);
        observe(&b, y[i], 1 / W[i], &e);
        keep_filtered(knot, &b);
    }
    keep_smoothed(knots + (m - 1) * CRI_KNOT_SIZE, &b);
    for (size_t i = m - 1; i-- > 0;) {
        double *knot = knots + i * CRI_KNOT_SIZE;
        belief  before = filtered(knot, i == 0);
        b = step_back(&before, &b, knot[CRI_KNOT_SIZE + CRI_KNOT_U] - knot[CRI_KNOT_U], q);
        keep_smoothed(knot, &b);
    }
    return e;
}

/* --- between and beyond the knots ------------------------------------------------------------ */

/* The last knot at or before u; m when u lies before all. */
static size_t find_knot(const double *knots, size_t m, double u)
{
    size_t low = 0, high = m;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (knot_at(knots, middle)[CRI_KNOT_U] <= u)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? low - 1 : m;
}

/* The line on which f goes on, a signed distance h beyond an end. */
static double go_on(const double *knot, double h, double q, double *opt_variance)
{
    if (opt_variance) {
        double V = knot[CRI_KNOT_VFF] + h * (2 * knot[CRI_KNOT_VFS] + h * knot[CRI_KNOT_VSS]);
        *opt_variance = V + q * fabs(h) * h * h / 3;
    }
    return knot[CRI_KNOT_F] + h * knot[CRI_KNOT_SLOPE];
}

double cri_spline_at(const double *knots, size_t m, double q, double u, double *opt_variance)
{
    size_t        i = find_knot(knots, m, u);
    const double *left = knot_at(knots, i < m ? i : 0), *right = left + CRI_KNOT_SIZE;
    double        behind = u - left[CRI_KNOT_U];
    if (i == m || i + 1 == m || behind == 0) return go_on(left, behind, q, opt_variance);

    double h = right[CRI_KNOT_U] - left[CRI_KNOT_U], t = behind / h;
    if (opt_variance) {
        belief b = filtered(left, i == 0), next = smoothed(right);
        step(&b, behind, q);
        *opt_variance = step_back(&b, &next, right[CRI_KNOT_U] - u, q).ff;
    }
    double rise = right[CRI_KNOT_F] - left[CRI_KNOT_F]; /* Hermite's cubic */
    double a = left[CRI_KNOT_SLOPE] * h - rise, b = rise - right[CRI_KNOT_SLOPE] * h;
    return left[CRI_KNOT_F] + t * rise + t * (1 - t) * ((1 - t) * a + t * b);
}

double cri_spline_roughness(const double *knots, size_t m)
{
    double sum = 0;
    for (size_t i = 0; i + 1 < m; i++) {
        const double *left = knot_at(knots, i), *right = left + CRI_KNOT_SIZE;
        double        h = right[CRI_KNOT_U] - left[CRI_KNOT_U];
        double        chord = (right[CRI_KNOT_F] - left[CRI_KNOT_F]) / h;
        double        a = (6 * chord - 4 * left[CRI_KNOT_SLOPE] - 2 * right[CRI_KNOT_SLOPE]) / h;
        double        b = (2 * left[CRI_KNOT_SLOPE] + 4 * right[CRI_KNOT_SLOPE] - 6 * chord) / h;
        sum += h / 3 * (a * a + a * b + b * b);
    }
    return sum;
}
