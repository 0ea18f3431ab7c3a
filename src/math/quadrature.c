/* quadrature.c -- adaptive Gauss-Kronrod, and one fixed Gauss rule. */
#include "quadrature.h"
#include "base/scratch.h"

#include <math.h>

/* --- rules ----------------------------------------------------------------------------------- */

/* Node, weight of the 21-point Kronrod rule, weight of the 10-point Gauss rule (0: not its node).
 */
static const double kronrod[11][3] = {
    { 0, 0.14944555400291690566, 0 },
    { 0.14887433898163121088, 0.14773910490133849137, 0.29552422471475287017 },
    { 0.29439286270146019813, 0.1427759385770600808, 0 },
    { 0.4333953941292471908, 0.13470921731147332593, 0.26926671930999635509 },
    { 0.56275713466860468334, 0.12349197626206585108, 0 },
    { 0.67940956829902440623, 0.1093871588022976419, 0.219086362515982044 },
    { 0.78081772658641689706, 0.093125454583697605535, 0 },
    { 0.86506336668898451073, 0.075039674810919952767, 0.14945134915058059315 },
    { 0.930157491355708226, 0.054755896574351996031, 0 },
    { 0.97390652851717172008, 0.032558162307964727479, 0.066671344308688137594 },
    { 0.99565716302580808074, 0.011694638867371874278, 0 },
};

static const double gauss[10][2] = {
    { 0.07652652113349733375, 0.1527533871307258507 },
    { 0.2277858511416450781, 0.1491729864726037468 },
    { 0.3737060887154195607, 0.1420961093183820513 },
    { 0.510867001950827098, 0.1316886384491766269 },
    { 0.6360536807265150255, 0.1181945319615184173 },
    { 0.7463319064601507926, 0.101930119817240435 },
    { 0.8391169718222188234, 0.08327674157670474872 },
    { 0.9122344282513259059, 0.06267204833410906357 },
    { 0.9639719272779137913, 0.04060142980038694133 },
    { 0.9931285991850949248, 0.01761400713915211831 },
};

double cr_gauss20(cr_integrand *f, void *user, double a, double b)
{
    double half = 0.5 * (b - a), middle = a + half, sum = 0;
    for (int i = 9; i >= 0; i--) { /* the small weights first */
        double step = half * gauss[i][0];
        sum += gauss[i][1] * (f(middle - step, user) + f(middle + step, user));
    }
    return half * sum;
}

/* --- infinite ends --------------------------------------------------------------------------- */

typedef enum ends { FINITE, TO_INFINITY, FROM_INFINITY, EVERYWHERE } ends;

typedef struct problem {
    cr_integrand *f;
    void         *user;
    ends          kind;
    double        anchor; /* the finite end, when there is one */
} problem;

/* The integrand in the variable t of the finite interval. */
static double evaluate(const problem *p, double t)
{
    if (p->kind == FINITE) return p->f(t, p->user);
    if (p->kind == EVERYWHERE) {
        double gap = (1 - t) * (1 + t);
        return p->f(t / gap, p->user) * (1 + t * t) / (gap * gap);
    }
    double gap = 1 - t, reach = t / gap;
    double x = p->kind == TO_INFINITY ? p->anchor + reach : p->anchor - reach;
    return p->f(x, p->user) / (gap * gap);
}

static problem pose(cr_integrand *f, void *user, double *a, double *b)
{
    problem p = { f, user, FINITE, 0 };
    if (isinf(*a) && isinf(*b)) {
        p.kind = EVERYWHERE, *a = -1, *b = 1;
    } else if (isinf(*a) || isinf(*b)) {
        p.kind = isinf(*b) ? TO_INFINITY : FROM_INFINITY;
        p.anchor = isinf(*b) ? *a : *b;
        *a = 0, *b = 1;
    }
    return p;
}

/* --- pieces ---------------------------------------------------------------------------------- */

typedef struct piece {
    double a, b, value, error;
} piece;

/* The error is the difference of the rules, sharpened as in QUADPACK: it falls with the power 3/2
 * of how smooth the function is on the piece. */
static piece measure(const problem *p, double a, double b)
{
    double middle = 0.5 * (a + b), half = 0.5 * (b - a), fine = 0, coarse = 0, spread = 0, y[21];
    for (int i = 0; i < 11; i++)
        for (int side = 0; side < (i ? 2 : 1); side++) {
            double at = side ? middle - half * kronrod[i][0] : middle + half * kronrod[i][0];
            double value = evaluate(p, at);
            y[i ? 2 * i - 1 + side : 0] = value;
            fine += kronrod[i][1] * value;
            coarse += kronrod[i][2] * value;
        }
    for (int i = 0; i < 21; i++) spread += kronrod[(i + 1) / 2][1] * fabs(y[i] - 0.5 * fine);
    double error = fabs(half * (fine - coarse)), scale = half * spread;
    if (scale > 0 && error > 0) error = scale * fmin(1, pow(200 * error / scale, 1.5));
    return (piece){ a, b, half * fine, error };
}

static size_t find_worst(const piece *pieces, size_t n)
{
    size_t worst = 0;
    for (size_t i = 1; i < n; i++)
        if (pieces[i].error > pieces[worst].error) worst = i;
    return worst;
}

static piece total(const piece *pieces, size_t n)
{
    piece sum = { 0, 0, 0, 0 };
    for (size_t i = 0; i < n; i++) {
        sum.value += pieces[i].value;
        sum.error += pieces[i].error;
    }
    return sum;
}

enum { MOST_PIECES = 2000 };

/* Halves the worst piece; one too short to halve counts as done. */
static size_t refine(const problem *p, piece *pieces, size_t n)
{
    piece *w = &pieces[find_worst(pieces, n)];
    double middle = 0.5 * (w->a + w->b), b = w->b;
    if (middle <= w->a || middle >= b) {
        w->error = 0;
        return n;
    }
    *w = measure(p, w->a, middle);
    pieces[n] = measure(p, middle, b);
    return n + 1;
}

cr_status cr_integrate(cr_ctx *cx, cr_integrand *f, void *user, double a, double b, double absolute,
                       double relative, double *out, double *opt_error)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    piece     *pieces = cr_scratch_bytes(&s, MOST_PIECES, sizeof *pieces), sum;
    size_t     n = 4;
    double     sign = a <= b ? 1 : -1, low = fmin(a, b), high = fmax(a, b);

    CR_TRY(s.status);
    if (isnan(a) || isnan(b)) CR_TRY(cr_fail(cx, CR_EARG, "integral: an end is not a number"));
    problem p = pose(f, user, &low, &high);
    for (size_t i = 0; i < n; i++) /* four pieces, lest a narrow peak hide between the nodes */
        pieces[i] = measure(&p, low + (high - low) * (double)i / 4,
                            low + (high - low) * (double)(i + 1) / 4);
    for (sum = total(pieces, n);
         low < high && sum.error > fmax(absolute, relative * fabs(sum.value));
         sum = total(pieces, n)) {
        if (n == MOST_PIECES)
            CR_TRY(cr_fail(cx, CR_ENUMERIC, "integral: %d pieces leave an error of %g on %g",
                           MOST_PIECES, sum.error, sum.value));
        if (!isfinite(sum.value)) break;
        n = refine(&p, pieces, n);
    }
    if (low < high && !isfinite(sum.value))
        CR_TRY(cr_fail(cx, CR_ENUMERIC, "integral: the function is not finite"));
    *out = low < high ? sign * sum.value : 0;
    if (opt_error) *opt_error = low < high ? sum.error : 0;
done:
    cr_scratch_end(&s);
    return st;
}
