/* rotation.c -- varimax, promax, and the order of factors. */
#include "rotation.h"
#include "prob/dist/small_matrix.h"

#include <math.h>
#include <string.h>

enum { SWEEPS = 1000 };
static const double STILL = 1e-13; /* an angle below this is none */

/* --- varimax ---------------------------------------------------------------------------------- */

/* length [p] of the columns of W. */
static void measure(size_t p, size_t q, const double *W, double *length)
{
    for (size_t i = 0; i < p; i++) {
        double sum = 0;
        for (size_t a = 0; a < q; a++) sum += W[a * p + i] * W[a * p + i];
        length[i] = sqrt(sum);
    }
}

/* The angle by which to turn factors x and y in their plane: with u = x^2 - y^2 and v = 2 x y of the columns at
 * length 1, the criterion is a cosine of four times the angle (Kaiser 1958, eq. 5). */
static double angle_of(size_t p, const double *x, const double *y, const double *length)
{
    double A = 0, B = 0, C = 0, D = 0, n = (double)p;
    for (size_t i = 0; i < p; i++) {
        if (!(length[i] > 0)) continue;
        double a = x[i] / length[i], b = y[i] / length[i];
        double u = (a - b) * (a + b), v = 2 * a * b;
        A += u, B += v;
        C += (u - v) * (u + v), D += 2 * u * v;
    }
    double sine = D - 2 * A * B / n, cosine = C - (A - B) * (A + B) / n;
    if (hypot(sine, cosine) <= 1e-15 * n) return 0; /* any angle is as good */
    return 0.25 * atan2(sine, cosine);
}

static void turn_plane(size_t p, double *x, double *y, double angle)
{
    double c = cos(angle), s = sin(angle);
    for (size_t i = 0; i < p; i++) {
        double a = x[i], b = y[i];
        x[i] = c * a + s * b;
        y[i] = c * b - s * a;
    }
}

void cri_varimax(size_t p, size_t q, double *W, double *length)
{
    measure(p, q, W, length);
    for (size_t sweep = 0; sweep < SWEEPS; sweep++) {
        double most = 0;
        for (size_t a = 0; a < q; a++)
            for (size_t b = a + 1; b < q; b++) {
                double angle = angle_of(p, W + a * p, W + b * p, length);
                turn_plane(p, W + a * p, W + b * p, angle);
                most = fmax(most, fabs(angle));
            }
        if (most < STILL) break;
    }
}

/* With l_a the loadings of columns at length 1 and m_a the mean of l_a^2,
 *   c_ab = sum_i l_ia l_ib (l_ib^2 - l_ia^2 - m_b + m_a). */
void cri_varimax_condition(size_t p, size_t q, const double *W, size_t a, size_t b, double *out)
{
    const double *x = W + a * p, *y = W + b * p;
    double        difference = 0, product = 0, n = (double)p;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < p; i++) {
            double length = 0;
            for (size_t c = 0; c < q; c++) length += W[c * p + i] * W[c * p + i];
            length = sqrt(length);
            double s = length > 0 ? x[i] / length : 0, t = length > 0 ? y[i] / length : 0;
            if (pass == 0) {
                difference += (s * s - t * t) / n;
                product += s * t;
                continue;
            }
            double by_s = t * (t * t - 3 * s * s + difference) + 2 * product * s / n;
            double by_t = s * (3 * t * t - s * s + difference) - 2 * product * t / n;
            double along = by_s * s + by_t * t; /* lengths stay 1 */
            for (size_t c = 0; c <= q; c++) out[i * (q + 1) + c] = 0;
            for (size_t c = 0; c < q && length > 0; c++) {
                double by_c = c == a ? by_s : c == b ? by_t : 0;
                out[i * (q + 1) + c] = (by_c - along * W[c * p + i] / length) / length;
            }
        }
}

/* --- promax ----------------------------------------------------------------------------------- */

/* out [q x q] = A B^T, of rows of length p. */
static void multiply_rows(size_t p, size_t q, const double *A, const double *B, double *out)
{
    for (size_t a = 0; a < q; a++)
        for (size_t b = 0; b < q; b++) {
            double sum = 0;
            for (size_t i = 0; i < p; i++) sum += A[a * p + i] * B[b * p + i];
            out[a * q + b] = sum;
        }
}

/* U = (W W^T)^-1 W Q^T, the regression of the powers Q on the loadings; column c of U is row c here.  Q stands in
 * pattern. */
static bool regress_powers(size_t p, size_t q, const double *W, const double *Q, double *L,
                           double *U)
{
    multiply_rows(p, q, W, W, L);
    if (!cri_factor_point(L, q, L)) return false;
    multiply_rows(p, q, Q, W, U);
    for (size_t c = 0; c < q; c++) {
        cri_solve_lower(L, q, U + c * q);
        cri_solve_upper(L, q, U + c * q);
    }
    return true;
}

bool cri_promax(size_t p, size_t q, double power, const double *W, double *pattern, double *turn,
                double *correlation, double *work)
{
    double *U = work, *L = U + q * q, *column = L + q * q;
    for (size_t i = 0; i < p * q; i++) pattern[i] = W[i] * pow(fabs(W[i]), power - 1);
    if (!regress_powers(p, q, W, pattern, L, U)) return false;
    for (int pass = 0; pass < 2;
         pass++) { /* U^T U, its inverse; then again, of factors of variance 1 */
        multiply_rows(q, q, U, U, L);
        if (!cri_factor_point(L, q, L)) return false;
        cri_small_inverse(L, q, correlation, column);
        for (size_t c = 0; c < q && pass == 0; c++) {
            double sd = sqrt(correlation[c * q + c]);
            for (size_t a = 0; a < q; a++) U[c * q + a] *= sd;
        }
    }
    for (size_t a = 0; a < q; a++)
        for (size_t b = 0; b < q; b++) { /* U^-1 = (U^T U)^-1 U^T */
            double sum = 0;
            for (size_t c = 0; c < q; c++) sum += correlation[a * q + c] * U[c * q + b];
            turn[a * q + b] = sum;
        }
    for (size_t a = 0; a < q; a++)
        for (size_t i = 0; i < p; i++) {
            double sum = 0;
            for (size_t c = 0; c < q; c++) sum += U[a * q + c] * W[c * p + i];
            pattern[a * p + i] = sum;
        }
    return true;
}

/* --- the order of factors --------------------------------------------------------------------- */

static void swap_rows(double *A, size_t width, size_t a, size_t b)
{
    for (size_t i = 0; i < width && a != b; i++) {
        double swap = A[a * width + i];
        A[a * width + i] = A[b * width + i], A[b * width + i] = swap;
    }
}

static void flip_row(double *A, size_t width, size_t a)
{
    for (size_t i = 0; i < width; i++) A[a * width + i] = -A[a * width + i];
}

/* true where the largest loading, or the first of those as large, is below 0. */
static bool is_negative(const double *w, size_t p)
{
    double most = 0;
    size_t at = 0;
    for (size_t i = 0; i < p; i++) most = fmax(most, fabs(w[i]));
    while (fabs(w[at]) < (1 - 1e-7) * most) at++;
    return w[at] < 0;
}

void cri_rotation_order(size_t p, size_t q, double *W, double *opt_more, size_t more,
                        double *length)
{
    for (size_t a = 0; a < q; a++) {
        length[a] = 0;
        for (size_t i = 0; i < p; i++) length[a] += W[a * p + i] * W[a * p + i];
    }
    for (size_t a = 0; a < q; a++) {
        size_t longest = a;
        for (size_t b = a + 1; b < q; b++)
            if (length[b] > length[longest]) longest = b;
        swap_rows(W, p, a, longest);
        swap_rows(length, 1, a, longest);
        if (opt_more) swap_rows(opt_more, more, a, longest);
        if (!is_negative(W + a * p, p)) continue;
        flip_row(W, p, a);
        if (opt_more) flip_row(opt_more, more, a);
    }
}
