/* svg_ticks.c -- where the ticks of an axis stand, and what they say.
 * A tick is an integer times a power of ten, so its label is made of exact digits. */
#include "svg.h"

#include <math.h>
#include <string.h>

enum { MOST_DIGITS = 20, PLAIN_DIGITS = 7, PLAIN_ZEROS = 3 };

#define MINUS "\u2212"
#define NARROW_SPACE "\u202f"
#define TIMES_TEN "\u00d710"

static const char *const superscripts[] = { "\u2070", "\u00b9", "\u00b2", "\u00b3", "\u2074",
                                            "\u2075", "\u2076", "\u2077", "\u2078", "\u2079" };

static size_t append(char *out, size_t used, const char *text)
{
    size_t length = strlen(text);
    if (used + length >= CRI_SVG_LABEL) return used;
    memcpy(out + used, text, length + 1);
    return used + length;
}

/* The digits of n, most significant first; returns how many (1 for zero). */
static int split_digits(uint64_t n, char out[MOST_DIGITS])
{
    int count = 1;
    for (uint64_t rest = n / 10; rest > 0; rest /= 10) count++;
    for (int i = count; i-- > 0; n /= 10) out[i] = (char)('0' + n % 10);
    return count;
}

static uint64_t magnitude(int64_t n) { return n < 0 ? 0 - (uint64_t)n : (uint64_t)n; }

size_t cri_svg_decimal(int64_t n, int exponent, char out[CRI_SVG_LABEL])
{
    char   digits[MOST_DIGITS];
    int    count = split_digits(magnitude(n), digits), whole = count + exponent;
    size_t used = 0;

    out[0] = '\0';
    while (n != 0 && count > 1 && digits[count - 1] == '0' && count > whole) count--;
    if (n == 0) whole = 1;
    if (n < 0) used = append(out, used, MINUS);
    if (whole <= 0) used = append(out, used, "0");
    for (int i = 0; i < whole; i++) {
        bool group = i > 0 && whole >= 5 && (whole - i) % 3 == 0;
        char digit[2] = { i < count ? digits[i] : '0', '\0' };
        if (group) used = append(out, used, NARROW_SPACE);
        used = append(out, used, digit);
    }
    if (n == 0 || count <= whole) return used;
    used = append(out, used, ".");
    for (int i = whole; i < count; i++) {
        char digit[2] = { i < 0 ? '0' : digits[i], '\0' };
        used = append(out, used, digit);
    }
    return used;
}

/* Decimals of n x 10^exponent. */
static size_t count_decimals(int64_t n, int exponent)
{
    size_t count = exponent < 0 && n != 0 ? (size_t)-exponent : 0;
    for (; count > 0 && n % 10 == 0; n /= 10) count--;
    return count;
}

/* As cri_svg_decimal, with at least so many decimals. */
static size_t print_padded(int64_t n, int exponent, size_t decimals, char out[CRI_SVG_LABEL])
{
    size_t used = cri_svg_decimal(n, exponent, out), has = count_decimals(n, exponent);
    if (has == 0 && decimals > 0) used = append(out, used, ".");
    for (; has < decimals; has++) used = append(out, used, "0");
    return used;
}

/* n x 10^(exponent - power) "x10^power"; a zero is just 0. */
static void print_power(int64_t n, int exponent, int power, size_t decimals,
                        char out[CRI_SVG_LABEL])
{
    char   digits[MOST_DIGITS];
    size_t used = print_padded(n, exponent - power, n == 0 ? 0 : decimals, out);
    if (n == 0) return;
    used = append(out, used, TIMES_TEN);
    if (power < 0) used = append(out, used, "\u207b");
    int count = split_digits(magnitude(power), digits);
    for (int i = 0; i < count; i++) used = append(out, used, superscripts[digits[i] - '0']);
}

/* --- the axis -------------------------------------------------------------------------------- */

void cri_svg_range(double *low, double *high)
{
    double a = fmin(*low, *high), b = fmax(*low, *high);
    if (!isfinite(*low) || !isfinite(*high)) {
        a = 0, b = 1;
    } else {
        double size = fmax(fabs(a), fabs(b)), half = b / 2 - a / 2;
        if (!(half > 1e-12 * size && half > 1e-280)) {
            double middle = a / 2 + b / 2, pad = size > 1e-270 ? size / 10 : 1;
            a = fmax(middle - pad, -1.7e308);
            b = fmin(middle + pad, 1.7e308);
        }
    }
    *low = a;
    *high = b;
}

/* first, first + 1, ..., last times m x 10^exponent lie in the interval, but for rounding. */
typedef struct steps {
    int64_t m, first, last;
    int     exponent;
} steps;

static double step_value(int64_t n, int exponent)
{
    double x = (double)n; /* |exponent| < 309, and both powers are finite */
    return exponent < 0 ? x / pow(10, -exponent) : x * pow(10, exponent);
}

static steps divide(double low, double high, int64_t m, int exponent)
{
    double step = step_value(m, exponent), slack = 1e-9;
    return (steps){ m, (int64_t)ceil(low / step - slack), (int64_t)floor(high / step + slack),
                    exponent };
}

static steps choose_steps(double low, double high, size_t most)
{
    static const int64_t multiples[] = { 1, 2, 5 };
    double               rough = high / (double)most - low / (double)most;
    int                  exponent = (int)floor(log10(rough)) - 1;
    for (;; exponent++)
        for (size_t i = 0; i < 3; i++) {
            steps t = divide(low, high, multiples[i], exponent);
            if (t.last - t.first < (int64_t)most) return t;
        }
}

size_t cri_svg_ticks(double low, double high, size_t most, cri_svg_tick *out)
{
    steps    t = choose_steps(low, high, most);
    size_t   n = (size_t)(t.last - t.first + 1);
    uint64_t a = magnitude(t.first * t.m), b = magnitude(t.last * t.m);
    char     digits[MOST_DIGITS];
    int      power = split_digits(a > b ? a : b, digits) - 1 + t.exponent; /* of the largest */
    bool     plain = (a == 0 && b == 0) || (power < PLAIN_DIGITS && power >= -PLAIN_ZEROS);
    int      exponent = plain ? t.exponent : t.exponent - power;
    size_t   decimals = 0; /* all labels of an axis have as many */

    for (size_t i = 0; i < n; i++) {
        size_t has = count_decimals((t.first + (int64_t)i) * t.m, exponent);
        decimals = has > decimals ? has : decimals;
    }
    for (size_t i = 0; i < n; i++) {
        int64_t k = (t.first + (int64_t)i) * t.m;
        out[i].value = step_value(k, t.exponent);
        if (plain)
            print_padded(k, t.exponent, decimals, out[i].label);
        else
            print_power(k, t.exponent, power, decimals, out[i].label);
    }
    return n;
}

/* --- powers of ten --------------------------------------------------------------------------- */

static void print_multiple(int64_t m, int power, char out[CRI_SVG_LABEL])
{
    if (power >= -PLAIN_ZEROS && power < PLAIN_DIGITS - 2)
        cri_svg_decimal(m, power, out);
    else
        print_power(m, power, power, 0, out);
}

/* Multiples 1 .. of every `every`-th power in [low, high]; how many, at most `most` + 1. */
static size_t powers(double low, double high, size_t n_multiples, int every, size_t most,
                     cri_svg_tick *out)
{
    static const int64_t multiples[] = { 1, 2, 5 };
    size_t               n = 0;
    for (int power = (int)floor(low) - 1; power <= (int)ceil(high); power++) {
        if (power % every != 0) continue;
        for (size_t i = 0; i < n_multiples; i++) {
            double at = power + log10((double)multiples[i]);
            if (at < low - 1e-9 || at > high + 1e-9) continue;
            if (n == most) return most + 1;
            out[n].value = at;
            print_multiple(multiples[i], power, out[n++].label);
        }
    }
    return n;
}

size_t cri_svg_log_ticks(double low, double high, size_t most, cri_svg_tick *out)
{
    if (high - low < 0.9 || fabs(low) > 290 || fabs(high) > 290) { /* 1, 2, 5 are too few */
        size_t n = cri_svg_ticks(pow(10, fmax(low, -290)), pow(10, fmin(high, 290)), most, out);
        for (size_t i = 0; i < n; i++) out[i].value = log10(out[i].value);
        return n;
    }
    size_t           n = powers(low, high, 3, 1, most, out);
    static const int steps_of[] = { 1, 2, 5, 10, 20, 50, 100, 200, 500 };
    for (size_t i = 0; n > most && i < 9; i++) n = powers(low, high, 1, steps_of[i], most, out);
    return n;
}
