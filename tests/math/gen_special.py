#!/usr/bin/env python3
"""Writes tests/math/special_values.csv: the special functions at hard arguments, by mpmath.

Columns function,a,b,c,value; the arguments are exact doubles.  No function is computed here by the
method of the library: series and continued fractions run with 60 digits and more, inverses by
bisection, Bessel's K and the bivariate normal by quadrature.
Usage: tests/math/gen_special.py > tests/math/special_values.csv      (a minute; needs mpmath)
"""
import math
import random
import sys

from mpmath import (asinh, besseli, cosh, digamma, erf, erfc, exp, expm1, gamma,
                    log, log1p, loggamma, mp, mpf, nstr, pi, psi, quad, sign, sqrt)

mp.dps = 40
HALF = mpf(1) / 2


# --- the incomplete functions: logarithms of both tails -------------------------------------------

def complement(log_p):
    return log(-expm1(log_p)) if log_p > -1 else log1p(-exp(log_p))


def with_digits(f, *args):
    """Both tails from f, the logarithm of one; more digits where that is almost 0."""
    with mp.workdps(60):
        first = f(*args)
        if first > -mpf("0.01"):
            with mp.workdps(80 + int(-log(-first, 10)) if first < 0 else 300):
                first = f(*args)
                return first, complement(first)
        return first, complement(first)


def log_gamma_lower(a, x):
    term = total = mpf(1)
    n = 0
    while term > total * mp.eps:
        n += 1
        term *= x / (a + n)
        total += term
    return a * log(x) - x - loggamma(a + 1) + log(total)


def log_gamma_upper(a, x):
    b, c = x + 1 - a, mpf(10) ** 500
    d = value = 1 / b
    n, step = 0, mpf(0)
    while abs(step - 1) > mp.eps * 4:
        n += 1
        b += 2
        d = 1 / (b - n * (n - a) * d)
        c = b - n * (n - a) / c
        step = c * d
        value *= step
    return a * log(x) - x - loggamma(a) + log(value)


def gamma_tails(a, x):
    if x < a + 1:
        return with_digits(log_gamma_lower, a, x)
    return with_digits(log_gamma_upper, a, x)[::-1]


def log_beta_lower(a, b, x, y):
    """x^a y^b / (a B) F(a + b, 1; a + 1; x), all terms positive."""
    term = total = mpf(1)
    n = 0
    while term > total * mp.eps or (a + b + n) * x > a + 1 + n:
        term *= (a + b + n) * x / (a + 1 + n)
        n += 1
        total += term
    log_b = loggamma(a) + loggamma(b) - loggamma(a + b)
    return a * log(x) + b * log(y) - log(a) - log_b + log(total)


def beta_tails(a, b, x, y=None):
    with mp.workdps(400):
        y = 1 - x if y is None else y
    if x * (b + 1) <= y * (a + 1):
        return with_digits(log_beta_lower, a, b, x, y)
    return with_digits(log_beta_lower, b, a, y, x)[::-1]


def t_tail(x, nu):
    """log P(T > |x|)."""
    with mp.workdps(100):
        whole = nu + x * x
        small, large = x * x / whole, nu / whole
    return beta_tails(nu / 2, HALF, large, small)[0] - log(2)


def f_upper(x, d1, d2):
    with mp.workdps(100):
        whole = d2 + d1 * x
        return beta_tails(d2 / 2, d1 / 2, d2 / whole, d1 * x / whole)[0]


# --- inverses -------------------------------------------------------------------------------------

def solve(f, low, high):
    """The zero of a rising f, by bisection and then by the secant method."""
    for _ in range(45):
        middle = (low + high) / 2
        if f(middle) < 0:
            low = middle
        else:
            high = middle
    at, before = (low + high) / 2, low
    f_at, f_before = f(at), f(before)
    for _ in range(40):
        if f_at == f_before or abs(at - before) < abs(at) * mpf(10) ** -36:
            break
        at, before, f_before = at - f_at * (at - before) / (f_at - f_before), at, f_at
        f_at = f(at)
    return at


def either(tails, p):
    """log of the smaller tail, less the wanted: rising in the lower tail."""
    lower, upper = tails
    return lower - log(p) if p < HALF else log1p(-p) - upper


def gamma_p_inv(a, p):
    return exp(solve(lambda u: either(gamma_tails(a, exp(u)), p), log(p) / a - 3, log(a + 200)))


def gamma_q_inv(a, q):
    def f(u):
        lower, upper = gamma_tails(a, exp(u))
        return log(q) - upper if q < HALF else lower - log1p(-q)
    return exp(solve(f, log1p(-q) / a - 3, log(2 * a + 400)))


def betainc_inv(a, b, p):
    """By the log odds, so that both ends are sharp."""
    def f(u):
        with mp.workdps(100):
            x, y = 1 / (1 + exp(-u)), 1 / (1 + exp(u))
        return either(beta_tails(a, b, x, y), p)
    with mp.workdps(60):
        u = solve(f, log(p) / a - 20, 20 - log1p(-p) / b)
        return 1 / (1 + exp(-u))


def student_t_ppf(p, nu):
    if p == HALF:
        return mpf(0)
    tail = min(p, 1 - p)
    value = exp(solve(lambda u: log(tail) - t_tail(exp(u), nu), mpf(-40), -log(tail) / nu + 5))
    return value if p > HALF else -value


def norm_ppf(p):
    with mp.workdps(60):
        tail = min(p, 1 - p)
        value = solve(lambda x: log(tail) - norm_logcdf(-x), mpf("-0.1"), mpf(40))
        return value if p > HALF else -value


def digamma_inv(y):
    return exp(solve(lambda u: digamma(exp(u)) - y, -log(abs(y) + 2) - 2, abs(y) + 2))


def ratio(x):
    return besseli(1, x) / besseli(0, x)


def ratio_inv(r):
    return exp(solve(lambda u: ratio(exp(u)) - r, log(r), log(2 / (1 - r) + 2)))


# --- normal ---------------------------------------------------------------------------------------

def norm_logcdf(x):
    return log(erfc(-x / sqrt(mpf(2))) / 2) if x < 0 else log1p(-erfc(x / sqrt(mpf(2))) / 2)


def inv_mills(x):
    return exp(-x * x / 2 - log(2 * pi) / 2 - norm_logcdf(x))


def var_above(a):
    with mp.workdps(70):
        mean = inv_mills(-a)
        return 1 - mean * (mean - a)


def erfcx(x):
    with mp.workdps(60):
        return exp(x * x) * erfc(x)


def panels(f, low, high, n):
    width = (high - low) / n
    return sum(quad(f, [low + i * width, low + (i + 1) * width], method="gauss-legendre")
               for i in range(n))


def owens_t(h, a):
    end = min(abs(a), 16 / abs(h))
    value = panels(lambda x: exp(-h * h * x * x / 2) / (1 + x * x), mpf(0), end, 8 + int(4 * end))
    return sign(a) * exp(-h * h / 2) * value / (2 * pi)


def bivariate(h, k, rho):
    """log P(X <= h, Y <= k), panels of 1/8 over all that matters."""
    s = sqrt(1 - rho * rho)
    g = lambda x: -x * x / 2 + norm_logcdf((k - rho * x) / s)
    grid = [h - mpf(i) / 8 for i in range(400)]
    top = max(g(x) for x in grid)
    f = lambda x: exp(g(x) - top)
    used = [x for x in grid if g(x) > top - 60]
    total = sum(quad(f, [x - mpf(1) / 8, x], method="gauss-legendre", maxdegree=5) for x in used)
    log_p = log(total) + top - log(2 * pi) / 2
    return log_p


# --- Bessel ---------------------------------------------------------------------------------------

def log_i(nu, x):
    term = total = mpf(1)
    k = 0
    while term > total * mp.eps:
        k += 1
        term *= x * x / 4 / (k * (nu + k))
        total += term
    return nu * log(x / 2) - loggamma(nu + 1) + log(total)


def log_k(nu, x):
    """The integral of exp(-x cosh t) cosh(nu t), by the trapezium rule, which is exact here."""
    h, peak = mpf(1) / 20 / sqrt(1 + (x + nu) / 10), asinh(nu / x)
    top = nu * peak - x * cosh(peak)
    total, t, value = exp(-x - top) / 2, mpf(0), mpf(1)
    while t < peak or value > total * mpf(10) ** -45:
        t += h
        e = -x * cosh(t) - top
        value = (exp(e + nu * t) + exp(e - nu * t)) / 2
        total += value
    return log(total * h) + top


# --- arguments ------------------------------------------------------------------------------------

def uniform(low, high):
    return lambda: random.uniform(low, high)


def spread(low, high):
    return lambda: math.exp(random.uniform(math.log(low), math.log(high)))


def either_sign(f):
    return lambda: random.choice((-1, 1)) * f()


def around(at, low, high):
    return lambda: at + random.choice((-1, 1)) * spread(low, high)()


def one_of(*fs):
    return lambda: random.choice(fs)()


PROBABILITY = one_of(uniform(0, 1), spread(1e-30, 0.5), around(0.5, 1e-9, 0.4))
SHAPE = one_of(spread(1e-3, 1), spread(1, 30), spread(30, 1e5))
REAL = one_of(uniform(-4, 4), either_sign(spread(1e-8, 30)))


def gamma_point():
    a = SHAPE()
    near = a * math.exp(random.uniform(-3, 3) / math.sqrt(1 + a))
    return a, one_of(lambda: near, spread(1e-5, 3), lambda: a * random.uniform(0.6, 1.6))()


def beta_point():
    a, b = one_of(spread(1e-3, 2), spread(0.1, 100), spread(10, 2e4))(), spread(1e-2, 2e3)()
    if random.random() < 0.5:
        a, b = b, a
    mean = a / (a + b)
    sd = math.sqrt(mean * (1 - mean) / (1 + a + b))
    x = one_of(uniform(0.001, 0.999), lambda: mean + sd * random.uniform(-4, 4))()
    return a, b, min(max(x, 1e-9), 1 - 1e-9)


def separate(*fs):
    return lambda: tuple(f() for f in fs)


def choose_point():
    n = round(spread(2, 1e12)())
    return float(n), float(round(random.uniform(0, 1) ** 3 * n))


def dimension_point():
    p = random.randint(1, 12)
    return float(p), (p - 1) / 2 + spread(1e-2, 1e4)()


def deviance_point():
    x = spread(1e-3, 1e8)()
    return x, x * math.exp(either_sign(spread(1e-8, 5))())


BETA_SHAPE = one_of(spread(1e-8, 1e8), spread(0.3, 30))
NU = one_of(lambda: 0.0, lambda: 1.0, spread(1e-3, 25), uniform(20, 30), spread(1, 300))
LARGE_OR_NEGATIVE = one_of(spread(1e-6, 1e6), lambda: -spread(0.01, 30)(), uniform(0.5, 3))
T_POINT = separate(one_of(REAL, lambda: -spread(1, 1e4)()), one_of(spread(0.2, 50), spread(1, 1e4)))

FUNCTIONS = [  # name, reference, arguments
    ("lgamma_abs", lambda x: log(abs(gamma(x))),
     separate(one_of(spread(1e-9, 100), around(1, 1e-9, 0.5), around(2, 1e-9, 0.5),
                     lambda: -spread(0.1, 20)()))),
    ("digamma", digamma,
     separate(one_of(LARGE_OR_NEGATIVE, around(1.4616321449683622, 1e-9, 0.4)))),
    ("trigamma", lambda x: psi(1, x), separate(LARGE_OR_NEGATIVE)),
    ("tetragamma", lambda x: psi(2, x), separate(LARGE_OR_NEGATIVE)),
    ("digamma_inv", digamma_inv, separate(one_of(uniform(-30, 25), around(0, 1e-6, 1)))),
    ("log_digamma_inv", lambda y: log(digamma_inv(y)), separate(uniform(-30, 25))),
    ("lmvgamma", lambda p, a: p * (p - 1) / 4 * log(pi)
     + sum(loggamma(a - mpf(j) / 2) for j in range(int(p))), dimension_point),
    ("lgamma_diff", lambda x, h: loggamma(x + h) - loggamma(x),
     separate(spread(1e-3, 1e6), spread(1e-8, 1e3))),
    ("stirlerr", lambda x: loggamma(x) - (x - HALF) * log(x) + x - log(2 * pi) / 2,
     separate(one_of(spread(1e-3, 1e5), uniform(0.5, 12)))),
    ("bd0", lambda x, m: x * log(x / m) + m - x, deviance_point),
    ("gamma_p", lambda a, x: exp(gamma_tails(a, x)[0]), gamma_point),
    ("gamma_q", lambda a, x: exp(gamma_tails(a, x)[1]), gamma_point),
    ("log_gamma_p", lambda a, x: gamma_tails(a, x)[0], gamma_point),
    ("log_gamma_q", lambda a, x: gamma_tails(a, x)[1], gamma_point),
    ("gamma_p_inv", gamma_p_inv, separate(spread(0.05, 300), PROBABILITY)),
    ("gamma_q_inv", gamma_q_inv, separate(spread(0.05, 300), PROBABILITY)),
    ("chi2_logsf", lambda x, d: gamma_tails(d / 2, x / 2)[1],
     separate(spread(1e-2, 500), spread(0.2, 500))),
    ("lbeta", lambda a, b: loggamma(a) + loggamma(b) - loggamma(a + b),
     separate(BETA_SHAPE, BETA_SHAPE)),
    ("lchoose", lambda n, k: loggamma(n + 1) - loggamma(k + 1) - loggamma(n - k + 1), choose_point),
    ("betainc", lambda a, b, x: exp(beta_tails(a, b, x)[0]), beta_point),
    ("betainc_upper", lambda a, b, x: exp(beta_tails(a, b, x)[1]), beta_point),
    ("log_betainc", lambda a, b, x: beta_tails(a, b, x)[0], beta_point),
    ("log_betainc_upper", lambda a, b, x: beta_tails(a, b, x)[1], beta_point),
    ("betainc_inv", betainc_inv, separate(spread(0.1, 50), spread(0.1, 50), PROBABILITY)),
    ("f_logsf", f_upper, separate(spread(1e-2, 50), spread(0.2, 300), spread(0.2, 300))),
    ("log_bessel_i", log_i, separate(NU, one_of(spread(1e-5, 600), uniform(20, 40)))),
    ("log_bessel_k", log_k, separate(NU, one_of(spread(1e-5, 600), uniform(0.5, 3)))),
    ("bessel_i0_scaled", lambda x: besseli(0, x) * exp(-abs(x)), separate(spread(1e-3, 500))),
    ("bessel_i1_scaled", lambda x: besseli(1, x) * exp(-abs(x)), separate(spread(1e-3, 500))),
    ("bessel_i1_over_i0", ratio, separate(spread(1e-6, 5e3))),
    ("bessel_ratio_inv", ratio_inv, separate(one_of(uniform(0.01, 0.99), spread(1e-6, 0.5)))),
    ("erf", erf, separate(either_sign(spread(1e-8, 5)))),
    ("erfc", erfc, separate(one_of(uniform(-3, 3), spread(1, 26)))),
    ("erfcx", erfcx, separate(one_of(uniform(-5, 5), spread(1, 1e3)))),
    ("erfinv",
     lambda y: sign(y) * norm_ppf((1 + abs(y)) / 2) / sqrt(mpf(2)), separate(uniform(-1, 1))),
    ("erfcinv", lambda y: -norm_ppf(y / 2) / sqrt(mpf(2)),
     separate(one_of(spread(1e-290, 1), uniform(0, 2)))),
    ("norm_cdf", lambda x: exp(norm_logcdf(x)), separate(uniform(-37, 8))),
    ("norm_logcdf", norm_logcdf, separate(one_of(uniform(-40, 9), lambda: -spread(1, 1e3)()))),
    ("norm_ppf", norm_ppf, separate(one_of(PROBABILITY, spread(1e-300, 1)))),
    ("inv_mills", inv_mills, separate(one_of(uniform(-40, 30), lambda: -spread(1, 1e3)()))),
    ("trunc_norm_mean_above", lambda a: inv_mills(-a), separate(uniform(-30, 40))),
    ("trunc_norm_var_above", var_above, separate(one_of(uniform(-4, 12), spread(1, 1e3)))),
    ("owens_t", owens_t, separate(either_sign(spread(1e-2, 20)), either_sign(spread(1e-2, 20)))),
    ("log_bvn_cdf_h_k_rho", bivariate,
     separate(uniform(-6, 0.3), uniform(-6, 3), uniform(-0.9, 0.9))),
    ("student_t_logpdf", lambda x, nu: loggamma((nu + 1) / 2) - loggamma(nu / 2) - log(pi * nu) / 2
     - (nu + 1) / 2 * log1p(x * x / nu), T_POINT),
    ("student_t_cdf", lambda x, nu: exp(t_tail(x, nu)) if x < 0 else -expm1(t_tail(x, nu)),
     T_POINT),
    ("student_t_logcdf", lambda x, nu: t_tail(x, nu) if x < 0 else complement(t_tail(x, nu)),
     T_POINT),
    ("student_t_ppf", student_t_ppf, separate(PROBABILITY, spread(0.3, 1e3))),
    ("xlogy", lambda x, y: x * log(y), separate(spread(1e-5, 1e5), spread(1e-5, 0.9))),
    ("logit", lambda p: log(p / (1 - p)), separate(PROBABILITY)),
    ("sigmoid", lambda x: 1 / (1 + exp(-x)), separate(REAL)),
    ("log_sigmoid", lambda x: -log1p(exp(-x)), separate(REAL)),
    ("log1pexp", lambda x: log1p(exp(x)), separate(REAL)),
    ("log1mexp", complement, separate(lambda: -spread(1e-9, 300)())),
    ("expm1_over_x", lambda x: expm1(x) / x, separate(REAL)),
    ("entropy_binary_nats", lambda p: -p * log(p) - (1 - p) * log1p(-p), separate(PROBABILITY)),
]


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 25
    random.seed(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    print("function,a,b,c,value")
    for name, reference, point in FUNCTIONS:
        for _ in range(count):
            args = point()
            value = reference(*(mpf(x) for x in args))
            if abs(value) < mpf(10) ** -290:
                continue
            fields = [repr(x) for x in args] + [""] * (3 - len(args))
            print(",".join([name, *fields, nstr(value, 20, strip_zeros=True)]), flush=True)


main()
