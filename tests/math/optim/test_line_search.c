/* The line search on the six functions of More & Thuente (1994), sec. 5, from steps of 1e-3 to 1e3,
 * on functions with walls of NaN, and where there is nothing to find. */
#include "support.h"

#include "math/optim/line_search.h"

typedef struct line {
    int    kind;
    double wall; /* NaN from here on */
    size_t calls;
} line;

/* sqrt(1 + g^2) - g, without loss for large g: (5.4) of the paper. */
static double gamma_of(double b) { return sqrt(1 + b * b) - b; }

static double yanai(double a, double b1, double b2, double *slope)
{
    double r1 = sqrt((1 - a) * (1 - a) + b2 * b2), r2 = sqrt(a * a + b1 * b1);
    *slope = -gamma_of(b1) * (1 - a) / r1 + gamma_of(b2) * a / r2;
    return gamma_of(b1) * r1 + gamma_of(b2) * r2;
}

static double oscillating(double a, double *slope)
{
    double b = 0.01, half = 1.57079632679489661923 * 39, l = 39; /* (5.3) with l = 39 */
    double base, d;
    if (a <= 1 - b)
        base = 1 - a, d = -1;
    else if (a >= 1 + b)
        base = a - 1, d = 1;
    else
        base = (a - 1) * (a - 1) / (2 * b) + b / 2, d = (a - 1) / b;
    *slope = d + (1 - b) * cos(half * a);
    return base + 2 * (1 - b) / (l * 3.14159265358979323846) * sin(half * a);
}

static cr_status phi(void *arg, double a, double *f, double *slope)
{
    line *l = arg;
    l->calls++;
    switch (l->kind) {
    case 1:
        *f = -a / (a * a + 2), *slope = (a * a - 2) / ((a * a + 2) * (a * a + 2));
        break;
    case 2: {
        double u = a + 0.004;
        *f = pow(u, 5) - 2 * pow(u, 4), *slope = 5 * pow(u, 4) - 8 * pow(u, 3);
        break;
    }
    case 3:
        *f = oscillating(a, slope);
        break;
    case 4:
        *f = yanai(a, 0.001, 0.001, slope);
        break;
    case 5:
        *f = yanai(a, 0.01, 0.001, slope);
        break;
    case 6:
        *f = yanai(a, 0.001, 0.01, slope);
        break;
    case 7:
        *f = exp(a) - 5 * a, *slope = exp(a) - 5;
        break; /* overflows far out */
    case 8:
        *f = -a, *slope = -1;
        break; /* falls for ever    */
    default:
        *f = a, *slope = -1;
        break; /* a wrong slope     */
    }
    if (a >= l->wall) *f = *slope = NAN;
    return CR_OK;
}

static cri_line_result search(line *l, const cri_line_options *o, double first,
                              cri_line_point *start, cri_line_point *end)
{
    cri_line_result result;
    double          last, f, slope;
    *start = (cri_line_point){ 0, 0, 0 };
    phi(l, 0, &start->f, &start->slope);
    l->calls = 0;
    assert_int_equal(cri_line_search(o, phi, l, *start, first, end, &last, &result), CR_OK);
    phi(l, end->a, &f, &slope);
    assert_true(f == end->f && slope == end->slope);
    return result;
}

TEST(published_functions)
{
    static const double constants[6][2] = { { 1e-3, 1e-1 },        { 0.1, 0.1 + 1e-9 },
                                            { 0.1, 0.1 + 1e-9 },   { 1e-3, 1e-3 + 1e-9 },
                                            { 1e-3, 1e-3 + 1e-9 }, { 1e-3, 1e-3 + 1e-9 } };
    for (int kind = 1; kind <= 6; kind++)
        for (double first = 1e-3; first < 2e3; first *= 100) {
            line             l = { kind, INFINITY, 0 };
            cri_line_options o = { constants[kind - 1][0], constants[kind - 1][1], INFINITY, 60,
                                   0 };
            cri_line_point   start, end;
            assert_int_equal(search(&l, &o, first, &start, &end), CRI_LINE_WOLFE);
            assert_true(end.f <= start.f + o.c1 * end.a * start.slope);
            assert_true(fabs(end.slope) <= o.c2 * fabs(start.slope));
            assert_true(l.calls <= 20); /* the paper's worst is 12 or so */
        }
}

TEST(walls)
{
    cri_line_options o = { 1e-4, 0.9, INFINITY, 60, 0 };
    cri_line_point   start, end;
    for (double first = 1e-3; first < 1e12; first *= 1000)
        for (double wall = 0.3; wall < 3e3; wall *= 10) {
            line            l = { 7, wall, 0 };
            cri_line_result r = search(&l, &o, first, &start, &end);
            assert_true(r == CRI_LINE_WOLFE || r == CRI_LINE_CUT_SHORT);
            assert_true(end.a > 0 && end.a < wall && end.f < start.f);
            assert_true(l.calls <= 30);
            assert_true(r != CRI_LINE_CUT_SHORT ||
                        wall < log(5)); /* else the minimum is in reach */
        }
}

TEST(longest_step)
{
    cri_line_options o = { 1e-4, 0.9, 7.5, 60, 0 };
    cri_line_point   start, end;
    line             l = { 8, INFINITY, 0 };
    assert_int_equal(search(&l, &o, 1, &start, &end), CRI_LINE_CUT_SHORT);
    assert_true(end.a == 7.5);
    o.most = 0;
    assert_int_equal(search(&l, &o, 1, &start, &end), CRI_LINE_FAILED);
    o.most = INFINITY; /* without end: as far as the evaluations go */
    assert_int_equal(search(&l, &o, 1, &start, &end), CRI_LINE_DECREASE);
    assert_true(end.a > 1e20);
}

TEST(nothing_to_find)
{
    cri_line_options o = { 1e-4, 0.9, INFINITY, 60, 0 };
    cri_line_point   start, end;
    line             wrong = { 9, INFINITY, 0 }, walled = { 1, 1e-300, 0 };
    assert_int_equal(search(&wrong, &o, 1, &start, &end), CRI_LINE_FAILED);
    assert_true(end.a == 0);
    assert_int_equal(search(&walled, &o, 1, &start, &end), CRI_LINE_FAILED);
    cri_line_result result;
    double          last;
    cri_line_point  uphill = { 0, 1, 1 }; /* not even called */
    wrong.calls = 0;
    assert_int_equal(cri_line_search(&o, phi, &wrong, uphill, 1, &end, &last, &result), CR_OK);
    assert_int_equal(result, CRI_LINE_FAILED);
    assert_int_equal(wrong.calls, 0);
}
