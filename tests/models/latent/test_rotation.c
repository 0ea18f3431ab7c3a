/* test_rotation.c -- axes of factors: varimax against its definition at other angles, what holds at its end by finite
 * differences, and promax by what it must keep. */
#include "../fixture.h"

#include "models/latent/rotation.h"

enum { P = 7, Q = 3 };

static void draw_loadings(uint64_t seed, double *W)
{
    cr_rng r = cr_rng_stream(seed, 2);
    for (size_t i = 0; i < Q * P; i++)
        W[i] = (i % P % Q == i / P ? 0.8 : 0.1) + 0.3 * cr_rng_normal(&r);
}

/* Loading a of column i, where columns have length 1. */
static double at_length_1(const double *W, size_t a, size_t i)
{
    double square = 0;
    for (size_t c = 0; c < Q; c++) square += W[c * P + i] * W[c * P + i];
    return W[a * P + i] / sqrt(square);
}

/* The sum over factors of the variance of the squared loadings. */
static double criterion(const double *W)
{
    double total = 0;
    for (size_t a = 0; a < Q; a++) {
        double sum = 0, square = 0;
        for (size_t i = 0; i < P; i++) {
            double x = pow(at_length_1(W, a, i), 2);
            sum += x / P, square += x * x / P;
        }
        total += square - sum * sum;
    }
    return total;
}

static void turn(double *W, size_t a, size_t b, double angle)
{
    for (size_t i = 0; i < P; i++) {
        double x = W[a * P + i], y = W[b * P + i];
        W[a * P + i] = cos(angle) * x + sin(angle) * y;
        W[b * P + i] = cos(angle) * y - sin(angle) * x;
    }
}

TEST(varimax)
{
    double W[Q * P], start[Q * P], T[Q * P], length[P];
    cr_rng r = cr_rng_stream(3, 0);
    for (uint64_t seed = 0; seed < 20; seed++) {
        draw_loadings(seed, W);
        memcpy(start, W, sizeof W);
        cri_varimax(P, Q, W, length);
        for (size_t i = 0; i < P; i++) /* a rotation: covariances stay */
            for (size_t j = 0; j < P; j++) {
                double before = 0, after = 0;
                for (size_t a = 0; a < Q; a++) {
                    before += start[a * P + i] * start[a * P + j];
                    after += W[a * P + i] * W[a * P + j];
                }
                assert_close(after, before, 1e-12);
            }
        assert_true(criterion(W) >= criterion(start));
        for (size_t trial = 0; trial < 100; trial++) {
            memcpy(T, W, sizeof W);
            for (size_t k = 0; k < Q; k++) turn(T, k, (k + 1) % Q, 0.05 * cr_rng_normal(&r));
            assert_true(criterion(T) <= criterion(W) + 1e-14);
        }
    }
}

/* What holds at the end is that the criterion does not change when two factors turn: its derivative by the angle, up to a
 * factor, as a function of the loadings.  Its gradient, anywhere. */
TEST(condition)
{
    double       W[Q * P], gradient[P * (Q + 1)], scale = 0;
    const double step = 1e-3;
    draw_loadings(31, W);
    for (size_t a = 0; a < Q; a++)
        for (size_t b = a + 1; b < Q; b++) {
            cri_varimax_condition(P, Q, W, a, b, gradient);
            for (size_t i = 0; i < P; i++) {
                assert_true(gradient[i * (Q + 1) + Q] == 0);
                for (size_t c = 0; c < Q; c++) {
                    double slope[2];
                    for (int side = 0; side < 2; side++) {
                        double T[Q * P], f[2];
                        for (int way = 0; way < 2; way++) {
                            memcpy(T, W, sizeof W);
                            T[c * P + i] += side ? step : -step;
                            turn(T, a, b, way ? step : -step);
                            f[way] = criterion(T);
                        }
                        slope[side] = (f[1] - f[0]) / (2 * step);
                    }
                    double expected = (slope[1] - slope[0]) / (2 * step);
                    if (scale == 0) scale = expected / gradient[i * (Q + 1) + c];
                    assert_close(scale * gradient[i * (Q + 1) + c], expected, 1e-4);
                }
            }
        }
    assert_close(fabs(scale), 4.0 / P, 1e-3);
}

/* pattern^T turn = W^T: the same rows; the factors have variance 1.  Where each column belongs to one of three factors
 * with correlations 0.4, loadings on the others become smaller, and the correlations are found, about. */
TEST(promax)
{
    static const double L[Q][Q] = { { 1, 0, 0 }, { 0.4, 0.91652, 0 }, { 0.4, 0.26186, 0.87831 } };
    double              W[Q * P], pattern[Q * P], of[Q * Q], phi[Q * Q], work[3 * Q * Q], length[P];
    double              small = 0, smaller = 0;
    for (size_t i = 0; i < P; i++)
        for (size_t c = 0; c < Q; c++) W[c * P + i] = (0.5 + 0.06 * (double)i) * L[i % Q][c];
    cri_varimax(P, Q, W, length);
    assert_true(cri_promax(P, Q, 4, W, pattern, of, phi, work));
    for (size_t i = 0; i < P; i++)
        for (size_t b = 0; b < Q; b++) {
            double sum = 0;
            for (size_t a = 0; a < Q; a++) sum += pattern[a * P + i] * of[a * Q + b];
            assert_close(sum, W[b * P + i], 1e-12);
        }
    for (size_t a = 0; a < Q; a++)
        for (size_t b = 0; b < Q; b++) {
            double sum = 0;
            for (size_t c = 0; c < Q; c++) sum += of[a * Q + c] * of[b * Q + c];
            assert_close(phi[a * Q + b], sum, 1e-12);
            if (a == b) assert_close(sum, 1, 1e-12);
            if (a != b) assert_close(fabs(sum), 0.4, 0.1);
        }
    for (size_t i = 0; i < Q * P; i++)
        if (fabs(W[i]) < 0.3) small += W[i] * W[i], smaller += pattern[i] * pattern[i];
    assert_true(smaller < small);
    for (size_t i = 0; i < P; i++) W[i] = 0;
    assert_false(cri_promax(P, Q, 4, W, pattern, of, phi, work)); /* a factor without loadings */
}

/* In descending order of their sums of squares, the largest loading positive. */
TEST(order)
{
    double W[Q * P], more[Q], length[P];
    draw_loadings(7, W);
    for (size_t i = 0; i < P; i++) W[P + i] *= -3;
    for (size_t a = 0; a < Q; a++) more[a] = W[a * P];
    cri_rotation_order(P, Q, W, more, 1, length);
    for (size_t a = 0; a < Q; a++) {
        double most = 0, square = 0, before = 0;
        assert_true(more[a] == W[a * P]);
        for (size_t i = 0; i < P; i++) {
            if (fabs(W[a * P + i]) > fabs(most)) most = W[a * P + i];
            square += W[a * P + i] * W[a * P + i];
            before += a ? W[(a - 1) * P + i] * W[(a - 1) * P + i] : INFINITY;
        }
        assert_true(most > 0 && square <= before);
    }
}
