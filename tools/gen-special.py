#!/usr/bin/env python3
"""Writes src/math/special/coefficients.c: Chebyshev series, the table of the double-double
logarithm, and Olver's polynomials.  Needs mpmath.
Usage: tools/gen-special.py > src/math/special/coefficients.c
"""
from fractions import Fraction

from mpmath import cos, erfc, exp, log, loggamma, mp, mpf, pi, besseli, rgamma, sqrt

mp.dps = 50
NODES, LEAST = 64, mpf("2e-18")


def chebyshev(f, low, high):
    """Coefficients of f on [low, high], cut where the rest is below LEAST of the largest value."""
    at = [cos(pi * (mpf(i) + mpf(1) / 2) / NODES) for i in range(NODES)]
    value = [f((high - low) / 2 * t + (high + low) / 2) for t in at]
    c = [2 / mpf(NODES) * sum(v * cos(pi * k * (mpf(i) + mpf(1) / 2) / NODES)
                              for i, v in enumerate(value)) for k in range(NODES)]
    c[0] /= 2
    size = min(abs(v) for v in value)
    while abs(c[-1]) < LEAST * size:
        c.pop()
    assert len(c) < NODES - 6, "more nodes"
    return c


def stirling_error(x):
    return loggamma(x) - (x - mpf(1) / 2) * log(x) + x - log(2 * pi) / 2


def by_reciprocal(t):
    return stirling_error(1 / t) / t


def mean_above(a):
    return exp(-a * a / 2) / (sqrt(pi / 2) * erfc(a / sqrt(mpf(2))))


def temme(mu, sign):
    if sign < 0 and mu == 0:
        mu = mpf(10) ** -20
    a, b = rgamma(1 - mu), rgamma(1 + mu)
    return (a - b) / (2 * mu) if sign < 0 else (a + b) / 2


def far(f):
    """f of x from 8 to infinity as a function of 8 / x."""
    return lambda t: f(8 / t) if t > mpf(10) ** -9 else f(mpf(8) * 10**9)


SERIES = [  # name, what, function, low, high
    ("stirling_1", "x error(x), in 1/x, 1 <= x <= 2.5", by_reciprocal, "0.4", 1),
    ("stirling_2", "x error(x), in 1/x, 2.5 <= x <= 10", by_reciprocal, "0.1", "0.4"),
    ("i0_far", "sqrt(x) exp(-x) I0(x), in 8/x",
     far(lambda x: sqrt(x) * exp(-x) * besseli(0, x)), 0, 1),
    ("i1_far", "sqrt(x) exp(-x) I1(x), in 8/x",
     far(lambda x: sqrt(x) * exp(-x) * besseli(1, x)), 0, 1),
    ("ratio_far", "x (1 - I1/I0), in 8/x",
     far(lambda x: x * (besseli(0, x) - besseli(1, x)) / besseli(0, x)), 0, 1),
    ("temme_1", "(1/Gamma(1-m) - 1/Gamma(1+m)) / (2 m), in m^2",
     lambda s: temme(sqrt(s), -1), 0, "0.25"),
    ("temme_2", "(1/Gamma(1-m) + 1/Gamma(1+m)) / 2, in m^2",
     lambda s: temme(sqrt(s), 1), 0, "0.25"),
    ("variance_1", "variance of a normal above a, -2 <= a <= 1",
     lambda a: 1 - mean_above(a) * (mean_above(a) - a), -2, 1),
    ("variance_2", "the same times 1 + a^2, 1 <= a <= 5",
     lambda a: (1 - mean_above(a) * (mean_above(a) - a)) * (1 + a * a), 1, 5),
]
LEVELS, POWERS = 12, 26


def print_numbers(numbers):
    line = "   "
    for text in numbers:
        if len(line) + len(text) + 2 > 99:
            print(line)
            line = "   "
        line += f" {text},"
    print(line)


def as_double(x):
    return repr(float(x)) if abs(x) != 1 else str(int(x))


def print_series():
    for name, what, f, low, high in SERIES:
        c = chebyshev(f, mpf(low), mpf(high))
        print(f"\n/* {what} */\nstatic const double {name}[] = {{")
        print_numbers(as_double(x) for x in c)
        print("};")
        print(f"const cri_chebyshev cri_{name} = {{ {low}, {high}, {len(c)}, {name} }};")


def print_powers():
    print("\n/* 1 / (k! (k + order)!) for I0 and I1 */")
    print("const double cri_bessel_powers[2][CRI_BESSEL_POWERS] = {")
    for order in range(2):
        print("    {")
        print_numbers(as_double(rgamma(k + 1) * rgamma(k + 1 + order)) for k in range(POWERS))
        print("    },")
    print("};")


def print_logarithms():
    print("\n/* 64/i and the logarithm of what that is rounded to, negated, as hi + lo. */")
    print("const double cri_log_table[CRI_LOG_LAST - CRI_LOG_FIRST + 1][3] = {")
    for i in range(45, 92):
        c = 64.0 / i
        value = -log(mpf(c))
        hi = float(value)
        print(f"    {{ {as_double(c)}, {hi!r}, {float(value - hi)!r} }},")
    print("};")


def next_olver(u):
    """DLMF 10.41.9, u[i] the coefficient of p^i."""
    r = [Fraction(0)] * (len(u) + 3)
    for i, c in enumerate(u):
        r[i + 1] += Fraction(i, 2) * c + Fraction(1, 8) * c / (i + 1)
        r[i + 3] -= Fraction(i, 2) * c + Fraction(5, 8) * c / (i + 3)
    return r


def print_olver():
    print("\n/* U_k(p) = p^k (sum over i <= k of row[k][i] p^(2 i)) */")
    print("const double cri_olver[CRI_OLVER_LEVELS + 1][CRI_OLVER_LEVELS + 1] = {")
    u = [Fraction(1)]
    for k in range(LEVELS + 1):
        row = [as_double(mpf(c.numerator) / c.denominator) for c in u[k:3 * k + 1:2]]
        line = "    { "
        for i, text in enumerate(row):
            end = " }," if i + 1 == len(row) else ","
            if len(line) + len(text) + len(end) > 99:
                print(line.rstrip())
                line = "      "
            line += text + end + ("" if i + 1 == len(row) else " ")
        print(line)
        u = next_olver(u)
    print("};")


def main():
    print("/* coefficients.c -- tables of the special functions.  Generated by"
          " tools/gen-special.py")
    print(" * (mpmath, 50 digits); do not edit. */")
    print('#include "coefficients.h"')
    print_series()
    print_powers()
    print_logarithms()
    print_olver()


main()
