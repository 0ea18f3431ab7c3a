/* basis.c -- evaluating the functions of a basis. */
#include "basis.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *cri_basis_kind_name(cri_basis_kind kind)
{
    static const char *const names[CRI_BASIS_KINDS] = {
        "none", "poly", "rbf", "bspline", "natural", "piecewise", "hinge", "fourier"
    };
    return names[kind];
}

bool cri_basis_sums_to_one(const cri_basis *b)
{
    return b->kind == CRI_BASIS_BSPLINE || b->kind == CRI_BASIS_NATURAL ||
           b->kind == CRI_BASIS_PIECEWISE;
}

const char *cri_basis_function_name(const cri_basis *b, size_t k, char out[CRI_BASIS_NAME_SIZE])
{
    const char *what = cri_basis_kind_name(b->kind);
    size_t      number = k + 1;
    out[0] = '\0';
    if (b->kind == CRI_BASIS_HINGE && k == 0) return out;
    if (b->kind == CRI_BASIS_HINGE) number = k;
    if (b->kind == CRI_BASIS_FOURIER) {
        what = k % 2 ? "cos" : "sin";
        number = k / 2 + 1;
    }
    snprintf(out, CRI_BASIS_NAME_SIZE, "[%s %zu]", what, number);
    return out;
}

void cri_basis_free(cr_ctx *cx, cri_basis *b)
{
    cr_free(cx, b->knots, b->n_knots, sizeof *b->knots);
    cr_free(cx, b->widths, b->n_knots, sizeof *b->widths);
    cr_free(cx, b->curve, b->n * b->n, sizeof *b->curve);
    *b = (cri_basis){ 0 };
}

static cr_status copy_numbers(cr_ctx *cx, const double *from, size_t n, double **out)
{
    *out = cr_alloc(cx, n, sizeof **out);
    if (!*out) return CR_ENOMEM;
    if (n > 0) memcpy(*out, from, n * sizeof **out);
    return CR_OK;
}

cr_status cri_basis_copy(cr_ctx *cx, const cri_basis *from, cri_basis *out)
{
    cr_status st = CR_OK;
    cri_basis b = {
        .kind = from->kind, .degree = from->degree, .period = from->period, .n_knots = from->n_knots
    };
    if (b.kind == CRI_BASIS_FOURIER) b.n = from->n;
    CR_TRY(copy_numbers(cx, from->knots, b.n_knots, &b.knots));
    if (b.kind == CRI_BASIS_RBF) CR_TRY(copy_numbers(cx, from->widths, b.n_knots, &b.widths));
    *out = b;
    b = (cri_basis){ 0 };
done:
    cri_basis_free(cx, &b);
    return st;
}

/* --- one family after the other -------------------------------------------------------------- */

/* The number of knots at or below x. */
static size_t count_below(const cri_basis *b, double x)
{
    size_t low = 0, high = b->n_knots;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (b->knots[middle] <= x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The piece i with t_i <= x < t_{i+1}; the outer ones reach on. */
static size_t find_piece(const cri_basis *b, double x)
{
    size_t below = count_below(b, x);
    if (below == 0) return 0;
    return below >= b->n_knots ? b->n_knots - 2 : below - 1;
}

static void eval_rbf(const cri_basis *b, double x, double *out)
{
    for (size_t k = 0; k < b->n; k++) {
        double z = (x - b->knots[k]) / b->widths[k];
        out[k] = exp(-0.5 * z * z);
    }
}

/* Knot i of the sequence in which the ends stand degree + 1 times. */
static double repeated_knot(const cri_basis *b, size_t i)
{
    size_t j = i < b->degree ? 0 : i - b->degree;
    return b->knots[j < b->n_knots ? j : b->n_knots - 1];
}

/* The degree + 1 functions that are not 0 in a piece, by the recurrence of Cox and de Boor; from
 * left to right, so that every term is a sum of numbers >= 0. */
static void eval_piece(const cri_basis *b, size_t piece, double x, double *out)
{
    double left[CRI_MOST_DEGREE + 1], right[CRI_MOST_DEGREE + 1];
    size_t at = piece + b->degree;
    out[0] = 1;
    for (size_t j = 1; j <= b->degree; j++) {
        double saved = 0;
        left[j] = x - repeated_knot(b, at + 1 - j);
        right[j] = repeated_knot(b, at + j) - x;
        for (size_t r = 0; r < j; r++) {
            double share = out[r] / (right[r + 1] + left[j - r]);
            out[r] = saved + right[r + 1] * share;
            saved = left[j - r] * share;
        }
        out[j] = saved;
    }
}

/* At the ends only the outermost function is 1 and its neighbour has the opposite slope. */
static void eval_bspline(const cri_basis *b, double x, double *out)
{
    double low = b->knots[0], high = b->knots[b->n_knots - 1], d = (double)b->degree;
    size_t last = b->n - 1;
    memset(out, 0, b->n * sizeof *out);
    if (x < low && b->degree > 0) {
        double slope = d / (b->knots[1] - low) * (x - low);
        out[0] = 1 - slope, out[1] = slope;
    } else if (x > high && b->degree > 0) {
        double slope = d / (high - b->knots[b->n_knots - 2]) * (x - high);
        out[last] = 1 + slope, out[last - 1] = -slope;
    } else {
        size_t piece = find_piece(b, x);
        eval_piece(b, piece, x, out + piece);
    }
}

/* The cubic of a piece from values and second derivatives at its ends; beyond the ends, the
 * tangent. */
static void eval_natural(const cri_basis *b, double x, double *out)
{
    size_t        i = find_piece(b, x), n = b->n;
    double        low = b->knots[i], high = b->knots[i + 1], h = high - low;
    double        at = x < b->knots[0] ? low : x > b->knots[n - 1] ? high : x;
    double        p = (high - at) / h, q = (at - low) / h; /* p + q = 1 */
    double        a = (p * p * p - p) * h * h / 6, c = (q * q * q - q) * h * h / 6;
    const double *left = b->curve + i * n, *right = left + n;
    for (size_t k = 0; k < n; k++) out[k] = a * left[k] + c * right[k];
    out[i] += p;
    out[i + 1] += q;
    if (at == x) return;
    double da = -(3 * p * p - 1) * h / 6, dc = (3 * q * q - 1) * h / 6, beyond = x - at;
    for (size_t k = 0; k < n; k++) out[k] += beyond * (da * left[k] + dc * right[k]);
    out[i] -= beyond / h;
    out[i + 1] += beyond / h;
}

static void eval_fourier(const cri_basis *b, double x, double *out)
{
    double turn = 2 * M_PI * (fmod(x, b->period) / b->period); /* far from 0 too */
    for (size_t k = 0; k < b->n; k += 2) {
        size_t harmonic = k / 2 + 1;
        double angle = turn * (double)harmonic;
        out[k] = sin(angle);
        out[k + 1] = cos(angle);
    }
}

void cri_basis_eval(const cri_basis *b, double x, double *out)
{
    if (isnan(x)) {
        for (size_t k = 0; k < b->n; k++) out[k] = x;
        return;
    }
    switch (b->kind) {
    case CRI_BASIS_RBF:
        eval_rbf(b, x, out);
        break;
    case CRI_BASIS_BSPLINE:
        eval_bspline(b, x, out);
        break;
    case CRI_BASIS_NATURAL:
        eval_natural(b, x, out);
        break;
    case CRI_BASIS_FOURIER:
        eval_fourier(b, x, out);
        break;
    case CRI_BASIS_PIECEWISE:
        memset(out, 0, b->n * sizeof *out);
        out[count_below(b, x)] = 1;
        break;
    case CRI_BASIS_HINGE:
        out[0] = x;
        for (size_t k = 1; k < b->n; k++) out[k] = fmax(0, x - b->knots[k - 1]);
        break;
    case CRI_BASIS_NONE:
    case CRI_BASIS_POLY:
    case CRI_BASIS_KINDS:
        break;
    }
}

/* --- making one ready ------------------------------------------------------------------------ */

/* curve [n x n]: column k = second derivatives at the knots of the natural cubic spline through 1
 * at t_k and 0 at the others; 0 at both ends.  The tridiagonal equations (Green & Silverman 1994,
 * (2.4)) are diagonally dominant: elimination needs no exchanges. */
static void bend(const cri_basis *b, double *diagonal)
{
    size_t        n = b->n;
    const double *t = b->knots;
    double       *M = b->curve;
    for (size_t i = 1; i + 1 < n; i++) {
        double h = t[i] - t[i - 1], next = t[i + 1] - t[i], *row = M + i * n;
        row[i - 1] += 6 / h;
        row[i] -= 6 / h + 6 / next;
        row[i + 1] += 6 / next;
        diagonal[i] = 2 * (h + next);
        if (i == 1) continue;
        double f = h / diagonal[i - 1];
        diagonal[i] -= f * h;
        for (size_t k = 0; k < n; k++) row[k] -= f * row[k - n];
    }
    for (size_t i = n - 2; i >= 1; i--) {
        double next = t[i + 1] - t[i], *row = M + i * n;
        for (size_t k = 0; k < n; k++) row[k] = (row[k] - next * row[k + n]) / diagonal[i];
    }
}

static cr_status refuse(cr_ctx *cx, const cri_basis *b, const char *why)
{
    return cr_fail(cx, CR_EDATA, "a %s basis %s", cri_basis_kind_name(b->kind), why);
}

/* The number of functions, 0 when kind, degree and knots do not go together. */
static size_t count_functions(const cri_basis *b)
{
    size_t m = b->n_knots;
    switch (b->kind) {
    case CRI_BASIS_RBF:
        return m;
    case CRI_BASIS_BSPLINE:
        return m < 2 || b->degree > CRI_MOST_DEGREE ? 0 : m - 1 + b->degree;
    case CRI_BASIS_NATURAL:
        return m < 2 ? 0 : m;
    case CRI_BASIS_PIECEWISE:
    case CRI_BASIS_HINGE:
        return m + 1;
    case CRI_BASIS_FOURIER:
        return m > 0 || !(b->period > 0) ? 0 : b->n;
    case CRI_BASIS_NONE:
    case CRI_BASIS_POLY:
    case CRI_BASIS_KINDS:
        break;
    }
    return 0;
}

cr_status cri_basis_prepare(cr_ctx *cx, cri_basis *b)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = count_functions(b);

    if (n == 0 || n > CRI_MOST_FUNCTIONS || (b->kind == CRI_BASIS_FOURIER && n % 2 != 0))
        CR_TRY(refuse(cx, b, "has an invalid number of functions"));
    for (size_t k = 0; k < b->n_knots; k++) {
        if (!isfinite(b->knots[k]) || (k > 0 && !(b->knots[k] > b->knots[k - 1])))
            CR_TRY(refuse(cx, b, "has knots that do not increase"));
        if (b->widths && !(b->widths[k] > 0 && isfinite(b->widths[k])))
            CR_TRY(refuse(cx, b, "has a width that is not positive"));
    }
    if (b->kind == CRI_BASIS_RBF && !b->widths) CR_TRY(refuse(cx, b, "has no widths"));
    if (b->kind == CRI_BASIS_NATURAL) {
        double *diagonal = cr_scratch_f64(&s, n);
        CR_TRY(s.status);
        b->curve = cr_alloc(cx, n * n, sizeof *b->curve);
        if (!b->curve) CR_TRY(CR_ENOMEM);
        b->n = n;
        bend(b, diagonal);
    }
    b->n = n;
done:
    cr_scratch_end(&s);
    return st;
}
