/* mgh.h -- the test functions of More, Garbow & Hillstrom (1981), "Testing unconstrained
 * optimization software", ACM TOMS 7(1): sums of squares f = sum_i r_i(x)^2 with the Jacobian of r,
 * the standard starts, and the minima that the paper gives.  Data and numbers are those of the
 * paper.  Shapes: x [n], r [m], J [m x n]. */
#ifndef CREDENCE_TEST_MGH_H
#define CREDENCE_TEST_MGH_H

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { MGH_MOST_N = 20, MGH_MOST_M = 100 };

typedef void mgh_residuals(size_t n, size_t m, const double *x, double *r, double *J);

typedef struct mgh_problem {
    const char    *name;
    size_t         n, m;
    mgh_residuals *residuals;
    double         start[MGH_MOST_N];
    double         minimum, other; /* f at the minimum, at another local one or -1 for none */
} mgh_problem;

#define MGH_J(i, j) J[(i)*n + (j)]

static void mgh_rosenbrock(size_t n, size_t m, const double *x, double *r, double *J)
{
    (void)m;
    for (size_t i = 0; i < n; i += 2) {
        r[i] = 10 * (x[i + 1] - x[i] * x[i]);
        r[i + 1] = 1 - x[i];
        MGH_J(i, i) = -20 * x[i];
        MGH_J(i, i + 1) = 10;
        MGH_J(i + 1, i) = -1;
    }
}

static void mgh_freudenstein_roth(size_t n, size_t m, const double *x, double *r, double *J)
{
    double y = x[1];
    (void)m;
    r[0] = -13 + x[0] + ((5 - y) * y - 2) * y;
    r[1] = -29 + x[0] + ((y + 1) * y - 14) * y;
    MGH_J(0, 0) = MGH_J(1, 0) = 1;
    MGH_J(0, 1) = 10 * y - 3 * y * y - 2;
    MGH_J(1, 1) = 3 * y * y + 2 * y - 14;
}

static void mgh_powell_badly_scaled(size_t n, size_t m, const double *x, double *r, double *J)
{
    (void)m;
    r[0] = 1e4 * x[0] * x[1] - 1;
    r[1] = exp(-x[0]) + exp(-x[1]) - 1.0001;
    MGH_J(0, 0) = 1e4 * x[1];
    MGH_J(0, 1) = 1e4 * x[0];
    MGH_J(1, 0) = -exp(-x[0]);
    MGH_J(1, 1) = -exp(-x[1]);
}

static void mgh_brown_badly_scaled(size_t n, size_t m, const double *x, double *r, double *J)
{
    (void)m;
    r[0] = x[0] - 1e6;
    r[1] = x[1] - 2e-6;
    r[2] = x[0] * x[1] - 2;
    MGH_J(0, 0) = MGH_J(1, 1) = 1;
    MGH_J(2, 0) = x[1];
    MGH_J(2, 1) = x[0];
}

static void mgh_beale(size_t n, size_t m, const double *x, double *r, double *J)
{
    static const double y[] = { 1.5, 2.25, 2.625 };
    double              power = 1;
    for (size_t i = 0; i < m; i++) {
        MGH_J(i, 1) = x[0] * (double)(i + 1) * power;
        power *= x[1];
        r[i] = y[i] - x[0] * (1 - power);
        MGH_J(i, 0) = power - 1;
    }
}

static void mgh_jennrich_sampson(size_t n, size_t m, const double *x, double *r, double *J)
{
    for (size_t i = 0; i < m; i++) {
        double k = (double)(i + 1), a = exp(k * x[0]), b = exp(k * x[1]);
        r[i] = 2 + 2 * k - (a + b);
        MGH_J(i, 0) = -k * a;
        MGH_J(i, 1) = -k * b;
    }
}

static void mgh_helical_valley(size_t n, size_t m, const double *x, double *r, double *J)
{
    double turn = 2 * 3.14159265358979323846, d = x[0] * x[0] + x[1] * x[1], root = sqrt(d);
    double theta = atan(x[1] / x[0]) / turn + (x[0] < 0 ? 0.5 : 0);
    (void)m;
    r[0] = 10 * (x[2] - 10 * theta);
    r[1] = 10 * (root - 1);
    r[2] = x[2];
    MGH_J(0, 0) = 100 * x[1] / (turn * d);
    MGH_J(0, 1) = -100 * x[0] / (turn * d);
    MGH_J(0, 2) = 10;
    MGH_J(1, 0) = 10 * x[0] / root;
    MGH_J(1, 1) = 10 * x[1] / root;
    MGH_J(2, 2) = 1;
}

static void mgh_bard(size_t n, size_t m, const double *x, double *r, double *J)
{
    static const double y[] = { 0.14, 0.18, 0.22, 0.25, 0.29, 0.32, 0.35, 0.39,
                                0.37, 0.58, 0.73, 0.96, 1.34, 2.10, 4.39 };
    for (size_t i = 0; i < m; i++) {
        double u = (double)(i + 1), v = 16 - u, w = fmin(u, v), d = v * x[1] + w * x[2];
        r[i] = y[i] - (x[0] + u / d);
        MGH_J(i, 0) = -1;
        MGH_J(i, 1) = u * v / (d * d);
        MGH_J(i, 2) = u * w / (d * d);
    }
}

static void mgh_gaussian(size_t n, size_t m, const double *x, double *r, double *J)
{
    static const double y[] = { 0.0009, 0.0044, 0.0175, 0.0540, 0.1295, 0.2420, 0.3521, 0.3989 };
    for (size_t i = 0; i < m; i++) {
        double t = (8 - (double)(i + 1)) / 2, d = t - x[2], e = exp(-x[1] * d * d / 2);
        r[i] = x[0] * e - y[i < 8 ? i : 14 - i];
        MGH_J(i, 0) = e;
        MGH_J(i, 1) = -x[0] * e * d * d / 2;
        MGH_J(i, 2) = x[0] * e * x[1] * d;
    }
}

static void mgh_meyer(size_t n, size_t m, const double *x, double *r, double *J)
{
    static const double y[] = { 34780, 28610, 23650, 19630, 16370, 13720, 11540, 9744,
                                8261,  7030,  6005,  5147,  4427,  3820,  3307,  2872 };
    for (size_t i = 0; i < m; i++) {
        double t = 45 + 5 * (double)(i + 1), d = t + x[2], e = exp(x[1] / d);
        r[i] = x[0] * e - y[i];
        MGH_J(i, 0) = e;
        MGH_J(i, 1) = x[0] * e / d;
        MGH_J(i, 2) = -x[0] * e * x[1] / (d * d);
    }
}

static void mgh_gulf(size_t n, size_t m, const double *x, double *r, double *J)
{
    for (size_t i = 0; i < m; i++) {
        double t = (double)(i + 1) / 100, y = 25 + pow(-50 * log(t), 2.0 / 3), d = y - x[1];
        double u = pow(fabs(d), x[2]) / x[0], e = exp(-u);
        r[i] = e - t;
        MGH_J(i, 0) = e * u / x[0];
        MGH_J(i, 1) = e * u * x[2] / d;
        MGH_J(i, 2) = -e * u * log(fabs(d));
    }
}

static void mgh_box(size_t n, size_t m, const double *x, double *r, double *J)
{
    for (size_t i = 0; i < m; i++) {
        double t = 0.1 * (double)(i + 1), c = exp(-t) - exp(-10 * t);
        r[i] = exp(-t * x[0]) - exp(-t * x[1]) - x[2] * c;
        MGH_J(i, 0) = -t * exp(-t * x[0]);
        MGH_J(i, 1) = t * exp(-t * x[1]);
        MGH_J(i, 2) = -c;
    }
}

static void mgh_powell_singular(size_t n, size_t m, const double *x, double *r, double *J)
{
    (void)m;
    for (size_t i = 0; i < n; i += 4) {
        double a = x[i + 1] - 2 * x[i + 2], b = x[i] - x[i + 3], s5 = sqrt(5), s10 = sqrt(10);
        r[i] = x[i] + 10 * x[i + 1];
        r[i + 1] = s5 * (x[i + 2] - x[i + 3]);
        r[i + 2] = a * a;
        r[i + 3] = s10 * b * b;
        MGH_J(i, i) = 1;
        MGH_J(i, i + 1) = 10;
        MGH_J(i + 1, i + 2) = s5;
        MGH_J(i + 1, i + 3) = -s5;
        MGH_J(i + 2, i + 1) = 2 * a;
        MGH_J(i + 2, i + 2) = -4 * a;
        MGH_J(i + 3, i) = 2 * s10 * b;
        MGH_J(i + 3, i + 3) = -2 * s10 * b;
    }
}

static void mgh_wood(size_t n, size_t m, const double *x, double *r, double *J)
{
    double s90 = sqrt(90), s10 = sqrt(10);
    (void)m;
    r[0] = 10 * (x[1] - x[0] * x[0]);
    r[1] = 1 - x[0];
    r[2] = s90 * (x[3] - x[2] * x[2]);
    r[3] = 1 - x[2];
    r[4] = s10 * (x[1] + x[3] - 2);
    r[5] = (x[1] - x[3]) / s10;
    MGH_J(0, 0) = -20 * x[0];
    MGH_J(0, 1) = 10;
    MGH_J(1, 0) = MGH_J(3, 2) = -1;
    MGH_J(2, 2) = -2 * s90 * x[2];
    MGH_J(2, 3) = s90;
    MGH_J(4, 1) = MGH_J(4, 3) = s10;
    MGH_J(5, 1) = 1 / s10;
    MGH_J(5, 3) = -1 / s10;
}

static void mgh_kowalik_osborne(size_t n, size_t m, const double *x, double *r, double *J)
{
    static const double y[] = { 0.1957, 0.1947, 0.1735, 0.1600, 0.0844, 0.0627,
                                0.0456, 0.0342, 0.0323, 0.0235, 0.0246 };
    static const double u[] = { 4, 2, 1, 0.5, 0.25, 0.167, 0.125, 0.1, 0.0833, 0.0714, 0.0625 };
    for (size_t i = 0; i < m; i++) {
        double a = u[i] * (u[i] + x[1]), b = u[i] * (u[i] + x[2]) + x[3];
        r[i] = y[i] - x[0] * a / b;
        MGH_J(i, 0) = -a / b;
        MGH_J(i, 1) = -x[0] * u[i] / b;
        MGH_J(i, 2) = x[0] * a * u[i] / (b * b);
        MGH_J(i, 3) = x[0] * a / (b * b);
    }
}

static void mgh_brown_dennis(size_t n, size_t m, const double *x, double *r, double *J)
{
    for (size_t i = 0; i < m; i++) {
        double t = (double)(i + 1) / 5, a = x[0] + t * x[1] - exp(t),
               b = x[2] + x[3] * sin(t) - cos(t);
        r[i] = a * a + b * b;
        MGH_J(i, 0) = 2 * a;
        MGH_J(i, 1) = 2 * a * t;
        MGH_J(i, 2) = 2 * b;
        MGH_J(i, 3) = 2 * b * sin(t);
    }
}

static void mgh_osborne1(size_t n, size_t m, const double *x, double *r, double *J)
{
    static const double y[] = { 0.844, 0.908, 0.932, 0.936, 0.925, 0.908, 0.881, 0.850, 0.818,
                                0.784, 0.751, 0.718, 0.685, 0.658, 0.628, 0.603, 0.580, 0.558,
                                0.538, 0.522, 0.506, 0.490, 0.478, 0.467, 0.457, 0.448, 0.438,
                                0.431, 0.424, 0.420, 0.414, 0.411, 0.406 };
    for (size_t i = 0; i < m; i++) {
        double t = 10 * (double)i, a = exp(-t * x[3]), b = exp(-t * x[4]);
        r[i] = y[i] - (x[0] + x[1] * a + x[2] * b);
        MGH_J(i, 0) = -1;
        MGH_J(i, 1) = -a;
        MGH_J(i, 2) = -b;
        MGH_J(i, 3) = t * x[1] * a;
        MGH_J(i, 4) = t * x[2] * b;
    }
}

static void mgh_biggs(size_t n, size_t m, const double *x, double *r, double *J)
{
    for (size_t i = 0; i < m; i++) {
        double t = 0.1 * (double)(i + 1), y = exp(-t) - 5 * exp(-10 * t) + 3 * exp(-4 * t);
        double a = exp(-t * x[0]), b = exp(-t * x[1]), c = exp(-t * x[4]);
        r[i] = x[2] * a - x[3] * b + x[5] * c - y;
        MGH_J(i, 0) = -t * x[2] * a;
        MGH_J(i, 1) = t * x[3] * b;
        MGH_J(i, 2) = a;
        MGH_J(i, 3) = -b;
        MGH_J(i, 4) = -t * x[5] * c;
        MGH_J(i, 5) = c;
    }
}

static void mgh_osborne2(size_t n, size_t m, const double *x, double *r, double *J)
{
    static const double y[] = {
        1.366, 1.191, 1.112, 1.013, 0.991, 0.885, 0.831, 0.847, 0.786, 0.725, 0.746, 0.679, 0.608,
        0.655, 0.616, 0.606, 0.602, 0.626, 0.651, 0.724, 0.649, 0.649, 0.694, 0.644, 0.624, 0.661,
        0.612, 0.558, 0.533, 0.495, 0.500, 0.423, 0.395, 0.375, 0.372, 0.391, 0.396, 0.405, 0.428,
        0.429, 0.523, 0.562, 0.607, 0.653, 0.672, 0.708, 0.633, 0.668, 0.645, 0.632, 0.591, 0.559,
        0.597, 0.625, 0.739, 0.710, 0.729, 0.720, 0.636, 0.581, 0.428, 0.292, 0.162, 0.098, 0.054
    };
    for (size_t i = 0; i < m; i++) {
        double t = (double)i / 10, a = exp(-t * x[4]);
        r[i] = y[i] - x[0] * a;
        MGH_J(i, 0) = -a;
        MGH_J(i, 4) = t * x[0] * a;
        for (size_t j = 1; j < 4; j++) {
            double d = t - x[7 + j], b = exp(-d * d * x[4 + j]);
            r[i] -= x[j] * b;
            MGH_J(i, j) = -b;
            MGH_J(i, 4 + j) = x[j] * b * d * d;
            MGH_J(i, 7 + j) = -2 * x[j] * b * d * x[4 + j];
        }
    }
}

static void mgh_watson(size_t n, size_t m, const double *x, double *r, double *J)
{
    for (size_t i = 0; i < m - 2; i++) {
        double t = (double)(i + 1) / 29, power = 1, slope = 0, sum = 0;
        for (size_t j = 0; j < n; j++, power *= t) {
            sum += x[j] * power;
            if (j > 0) slope += (double)j * x[j] * (power / t);
        }
        r[i] = slope - sum * sum - 1;
        power = 1;
        for (size_t j = 0; j < n; j++, power *= t)
            MGH_J(i, j) = (j > 0 ? (double)j * (power / t) : 0) - 2 * sum * power;
    }
    r[m - 2] = x[0];
    r[m - 1] = x[1] - x[0] * x[0] - 1;
    MGH_J(m - 2, 0) = 1;
    MGH_J(m - 1, 0) = -2 * x[0];
    MGH_J(m - 1, 1) = 1;
}

static void mgh_penalty1(size_t n, size_t m, const double *x, double *r, double *J)
{
    double a = sqrt(1e-5);
    r[m - 1] = -0.25;
    for (size_t i = 0; i < n; i++) {
        r[i] = a * (x[i] - 1);
        r[m - 1] += x[i] * x[i];
        MGH_J(i, i) = a;
        MGH_J(m - 1, i) = 2 * x[i];
    }
}

static void mgh_penalty2(size_t n, size_t m, const double *x, double *r, double *J)
{
    double a = sqrt(1e-5);
    r[0] = x[0] - 0.2;
    MGH_J(0, 0) = 1;
    r[m - 1] = -1;
    for (size_t i = 0; i < n; i++) {
        r[m - 1] += (double)(n - i) * x[i] * x[i];
        MGH_J(m - 1, i) = 2 * (double)(n - i) * x[i];
        if (i == 0) continue;
        double k = (double)i, y = exp((k + 1) / 10) + exp(k / 10);
        r[i] = a * (exp(x[i] / 10) + exp(x[i - 1] / 10) - y);
        MGH_J(i, i) = a * exp(x[i] / 10) / 10;
        MGH_J(i, i - 1) = a * exp(x[i - 1] / 10) / 10;
        r[n + i - 1] = a * (exp(x[i] / 10) - exp(-0.1));
        MGH_J(n + i - 1, i) = a * exp(x[i] / 10) / 10;
    }
}

static void mgh_variably_dimensioned(size_t n, size_t m, const double *x, double *r, double *J)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        r[i] = x[i] - 1;
        MGH_J(i, i) = 1;
        sum += (double)(i + 1) * (x[i] - 1);
    }
    r[m - 2] = sum;
    r[m - 1] = sum * sum;
    for (size_t i = 0; i < n; i++) {
        MGH_J(m - 2, i) = (double)(i + 1);
        MGH_J(m - 1, i) = 2 * sum * (double)(i + 1);
    }
}

static void mgh_trigonometric(size_t n, size_t m, const double *x, double *r, double *J)
{
    double sum = (double)n;
    for (size_t j = 0; j < n; j++) sum -= cos(x[j]);
    for (size_t i = 0; i < m; i++) {
        double k = (double)(i + 1);
        r[i] = sum + k * (1 - cos(x[i])) - sin(x[i]);
        for (size_t j = 0; j < n; j++) MGH_J(i, j) = sin(x[j]);
        MGH_J(i, i) += k * sin(x[i]) - cos(x[i]);
    }
}

static void mgh_brown_almost_linear(size_t n, size_t m, const double *x, double *r, double *J)
{
    double sum = -(double)(n + 1), product = 1;
    for (size_t j = 0; j < n; j++) sum += x[j], product *= x[j];
    for (size_t i = 0; i + 1 < m; i++) {
        r[i] = x[i] + sum;
        for (size_t j = 0; j < n; j++) MGH_J(i, j) = i == j ? 2 : 1;
    }
    r[m - 1] = product - 1;
    for (size_t j = 0; j < n; j++) {
        MGH_J(m - 1, j) = 1;
        for (size_t k = 0; k < n; k++)
            if (k != j) MGH_J(m - 1, j) *= x[k];
    }
}

static void mgh_boundary_value(size_t n, size_t m, const double *x, double *r, double *J)
{
    double h = 1 / (double)(n + 1);
    (void)m;
    for (size_t i = 0; i < n; i++) {
        double u = x[i] + h * (double)(i + 1) + 1;
        r[i] =
            2 * x[i] - (i > 0 ? x[i - 1] : 0) - (i + 1 < n ? x[i + 1] : 0) + h * h * u * u * u / 2;
        MGH_J(i, i) = 2 + 1.5 * h * h * u * u;
        if (i > 0) MGH_J(i, i - 1) = -1;
        if (i + 1 < n) MGH_J(i, i + 1) = -1;
    }
}

static void mgh_integral_equation(size_t n, size_t m, const double *x, double *r, double *J)
{
    double h = 1 / (double)(n + 1);
    (void)m;
    for (size_t i = 0; i < n; i++) {
        double ti = h * (double)(i + 1);
        r[i] = x[i];
        for (size_t j = 0; j < n; j++) {
            double t = h * (double)(j + 1), u = x[j] + t + 1;
            double weight = h / 2 * (j <= i ? (1 - ti) * t : ti * (1 - t));
            r[i] += weight * u * u * u;
            MGH_J(i, j) = (i == j) + 3 * weight * u * u;
        }
    }
}

static void mgh_broyden_tridiagonal(size_t n, size_t m, const double *x, double *r, double *J)
{
    (void)m;
    for (size_t i = 0; i < n; i++) {
        r[i] = (3 - 2 * x[i]) * x[i] - (i > 0 ? x[i - 1] : 0) - (i + 1 < n ? 2 * x[i + 1] : 0) + 1;
        MGH_J(i, i) = 3 - 4 * x[i];
        if (i > 0) MGH_J(i, i - 1) = -1;
        if (i + 1 < n) MGH_J(i, i + 1) = -2;
    }
}

static void mgh_broyden_banded(size_t n, size_t m, const double *x, double *r, double *J)
{
    (void)m;
    for (size_t i = 0; i < n; i++) {
        r[i] = x[i] * (2 + 5 * x[i] * x[i]) + 1;
        MGH_J(i, i) = 2 + 15 * x[i] * x[i];
        for (size_t j = i < 5 ? 0 : i - 5; j < n && j <= i + 1; j++) {
            if (j == i) continue;
            r[i] -= x[j] * (1 + x[j]);
            MGH_J(i, j) = -(1 + 2 * x[j]);
        }
    }
}

static void mgh_linear_full_rank(size_t n, size_t m, const double *x, double *r, double *J)
{
    double sum = 0;
    for (size_t j = 0; j < n; j++) sum += x[j];
    for (size_t i = 0; i < m; i++) {
        r[i] = (i < n ? x[i] : 0) - 2 / (double)m * sum - 1;
        for (size_t j = 0; j < n; j++) MGH_J(i, j) = (i == j) - 2 / (double)m;
    }
}

static void mgh_linear_rank_one(size_t n, size_t m, const double *x, double *r, double *J)
{
    double sum = 0;
    for (size_t j = 0; j < n; j++) sum += (double)(j + 1) * x[j];
    for (size_t i = 0; i < m; i++) {
        r[i] = (double)(i + 1) * sum - 1;
        for (size_t j = 0; j < n; j++) MGH_J(i, j) = (double)(i + 1) * (double)(j + 1);
    }
}

static void mgh_chebyquad(size_t n, size_t m, const double *x, double *r, double *J)
{
    for (size_t j = 0; j < n; j++) {
        double y = 2 * x[j] - 1, t0 = 1, t1 = y, d0 = 0,
               d1 = 2; /* T_k(y) and its derivative by x */
        for (size_t i = 0; i < m; i++) {
            r[i] += t1 / (double)n;
            MGH_J(i, j) = d1 / (double)n;
            double t2 = 2 * y * t1 - t0, d2 = 4 * t1 + 2 * y * d1 - d0;
            t0 = t1, t1 = t2, d0 = d1, d1 = d2;
        }
    }
    for (size_t i = 1; i < m; i += 2) r[i] += 1 / ((double)(i + 1) * (double)(i + 1) - 1);
}

/* clang-format off */
#define MGH_TENTH 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1
#define MGH_ONES  1, 1, 1, 1, 1, 1, 1, 1, 1, 1
#define MGH_MINUS -1, -1, -1, -1, -1, -1, -1, -1, -1, -1
#define MGH_BVP  /* t (t - 1), t = i / 11 */                                                        \
    -10 / 121., -18 / 121., -24 / 121., -28 / 121., -30 / 121., -30 / 121., -28 / 121., -24 / 121.,  \
    -18 / 121., -10 / 121.
static const mgh_problem mgh_problems[] = {
    { "rosenbrock",             2,  2, mgh_rosenbrock, { -1.2, 1 }, 0, -1 },
    { "freudenstein-roth",      2,  2, mgh_freudenstein_roth, { 0.5, -2 }, 48.98425367924, 0 },
    { "powell-badly-scaled",    2,  2, mgh_powell_badly_scaled, { 0, 1 }, 0, -1 },
    { "brown-badly-scaled",     2,  3, mgh_brown_badly_scaled, { 1, 1 }, 0, -1 },
    { "beale",                  2,  3, mgh_beale, { 1, 1 }, 0, -1 },
    { "jennrich-sampson",       2, 10, mgh_jennrich_sampson, { 0.3, 0.4 }, 124.36218235562, -1 },
    { "helical-valley",         3,  3, mgh_helical_valley, { -1, 0, 0 }, 0, -1 },
    { "bard",                   3, 15, mgh_bard, { 1, 1, 1 }, 8.21487e-3, 17.4286 },
    { "gaussian",               3, 15, mgh_gaussian, { 0.4, 1, 0 }, 1.12793e-8, -1 },
    { "meyer",                  3, 16, mgh_meyer, { 0.02, 4000, 250 }, 87.9458, -1 },
    { "gulf",                   3, 99, mgh_gulf, { 5, 2.5, 0.15 }, 0, -1 },
    { "box",                    3, 10, mgh_box, { 0, 10, 20 }, 0, -1 },
    { "powell-singular",        4,  4, mgh_powell_singular, { 3, -1, 0, 1 }, 0, -1 },
    { "wood",                   4,  6, mgh_wood, { -3, -1, -3, -1 }, 0, -1 },
    { "kowalik-osborne",        4, 11, mgh_kowalik_osborne, { 0.25, 0.39, 0.415, 0.39 }, 3.07505e-4, 1.02734e-3 },
    { "brown-dennis",           4, 20, mgh_brown_dennis, { 25, 5, -5, -1 }, 85822.2016264, -1 },
    { "osborne-1",              5, 33, mgh_osborne1, { 0.5, 1.5, -1, 0.01, 0.02 }, 5.46489e-5, -1 },
    { "biggs",                  6, 13, mgh_biggs, { 1, 2, 1, 1, 1, 1 }, 5.65565e-3, 0 },
    { "osborne-2",             11, 65, mgh_osborne2, { 1.3, 0.65, 0.65, 0.7, 0.6, 3, 5, 7, 2, 4.5, 5.5 }, 4.01377e-2, -1 },
    { "watson-6",               6, 31, mgh_watson, { 0 }, 2.28767e-3, -1 },
    { "watson-9",               9, 31, mgh_watson, { 0 }, 1.39976e-6, -1 },
    { "extended-rosenbrock",   20, 20, mgh_rosenbrock, { -1.2, 1, -1.2, 1, -1.2, 1, -1.2, 1, -1.2, 1, -1.2, 1, -1.2, 1, -1.2, 1, -1.2, 1, -1.2, 1 }, 0, -1 },
    { "extended-powell",       12, 12, mgh_powell_singular, { 3, -1, 0, 1, 3, -1, 0, 1, 3, -1, 0, 1 }, 0, -1 },
    { "penalty-1",             10, 11, mgh_penalty1, { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 }, 7.08765e-5, -1 },
    { "penalty-2",              4,  8, mgh_penalty2, { 0.5, 0.5, 0.5, 0.5 }, 9.37629e-6, -1 },
    { "variably-dimensioned",  10, 12, mgh_variably_dimensioned, { 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0 }, 0, -1 },
    { "trigonometric",         10, 10, mgh_trigonometric, { MGH_TENTH }, 2.79506e-5, 0 },
    { "brown-almost-linear",   10, 10, mgh_brown_almost_linear, { 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5 }, 0, 1 },
    { "boundary-value",        10, 10, mgh_boundary_value, { MGH_BVP }, 0, -1 },
    { "integral-equation",     10, 10, mgh_integral_equation, { MGH_BVP }, 0, -1 },
    { "broyden-tridiagonal",   10, 10, mgh_broyden_tridiagonal, { MGH_MINUS }, 0, -1 },
    { "broyden-banded",        10, 10, mgh_broyden_banded, { MGH_MINUS }, 0, -1 },
    { "linear-full-rank",      10, 20, mgh_linear_full_rank, { MGH_ONES }, 10, -1 },
    { "linear-rank-one",       10, 20, mgh_linear_rank_one, { MGH_ONES }, 4.634146341463414, -1 },
    { "chebyquad-8",            8,  8, mgh_chebyquad, { 1 / 9., 2 / 9., 3 / 9., 4 / 9., 5 / 9., 6 / 9., 7 / 9., 8 / 9. }, 3.51687e-3, -1 },
    { "chebyquad-10",          10, 10, mgh_chebyquad, { 1 / 11., 2 / 11., 3 / 11., 4 / 11., 5 / 11., 6 / 11., 7 / 11., 8 / 11., 9 / 11., 10 / 11. }, 6.50395e-3, 4.77271e-3 },
};
/* clang-format on */
enum { MGH_COUNT = sizeof mgh_problems / sizeof mgh_problems[0] };

/* f at x, and its gradient 2 J^T r when opt_g is not NULL. */
static double mgh_value(const mgh_problem *p, const double *x, double *opt_g)
{
    double r[MGH_MOST_M] = { 0 }, J[MGH_MOST_M * MGH_MOST_N], f = 0;
    memset(J, 0, p->m * p->n * sizeof *J);
    p->residuals(p->n, p->m, x, r, J);
    if (opt_g) memset(opt_g, 0, p->n * sizeof *opt_g);
    for (size_t i = 0; i < p->m; i++) {
        f += r[i] * r[i];
        for (size_t j = 0; opt_g && j < p->n; j++) opt_g[j] += 2 * r[i] * J[i * p->n + j];
    }
    return f;
}

#endif
