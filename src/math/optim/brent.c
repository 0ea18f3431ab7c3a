/* brent.c -- minimum and root of a function of one variable. */
#include "brent.h"
#include "brent_internal.h"

#include <math.h>

static const double GOLDEN = 0.3819660112501051; /* (3 - sqrt 5) / 2 */

/* --- minimum --------------------------------------------------------------------------------- */

static cr_status evaluate(cr_ctx *cx, cr_scalar_fn *f, void *user, double x, double *out_f)
{
    cr_status st = cr_check_interrupt(cx);
    if (st == CR_OK) st = f(user, x, out_f);
    if (st == CR_OK && isnan(*out_f)) *out_f = INFINITY;
    return st;
}

/* x best, w second, v the former w; [a, b] holds the minimum. */
typedef struct bracket {
    double a, b, x, w, v, fx, fw, fv;
} bracket;

/* The move from x by the parabola through the three points; NaN when it is not to be trusted:
 * outside of [a, b], or not less than half the move before the last. */
static double parabola(const bracket *t, double before_last)
{
    double r = (t->x - t->w) * (t->fx - t->fv), q = (t->x - t->v) * (t->fx - t->fw);
    double p = (t->x - t->v) * q - (t->x - t->w) * r;
    q = 2 * (q - r);
    double move = -p / q;
    bool   inside = t->x + move > t->a && t->x + move < t->b;
    return inside && fabs(move) < fabs(before_last) / 2 ? move : NAN;
}

static void narrow(bracket *t, double u, double fu)
{
    if (fu <= t->fx) {
        if (u < t->x)
            t->b = t->x;
        else
            t->a = t->x;
        t->v = t->w, t->fv = t->fw;
        t->w = t->x, t->fw = t->fx;
        t->x = u, t->fx = fu;
        return;
    }
    if (u < t->x)
        t->a = u;
    else
        t->b = u;
    if (fu <= t->fw || t->w == t->x) {
        t->v = t->w, t->fv = t->fw;
        t->w = u, t->fw = fu;
    } else if (fu <= t->fv || t->v == t->x || t->v == t->w) {
        t->v = u, t->fv = fu;
    }
}

cr_status cri_brent_between(cr_ctx *cx, cr_scalar_fn *f, void *user, double a, double b, double x,
                            double fx, double tolerance, size_t most, double *out_x, double *out_f)
{
    cr_status st = CR_OK;
    bracket   t = { a, b, x, x, x, fx, fx, fx };
    double    move = 0, before_last = 0, floor = 1e-12 * (b - a);
    for (size_t k = 0; k < most; k++) {
        double middle = t.a + (t.b - t.a) / 2, fu;
        double least = fmax(tolerance, 0x1p-26) * fabs(t.x) + floor;
        if (least == 0) break;
        if (fabs(t.x - middle) <= 2 * least - (t.b - t.a) / 2) break;
        double trial = fabs(before_last) > least ? parabola(&t, before_last) : NAN;
        if (isnan(trial)) {
            before_last = (t.x < middle ? t.b : t.a) - t.x;
            move = GOLDEN * before_last;
        } else {
            before_last = move;
            move = trial;
            double u = t.x + move;
            if (u - t.a < 2 * least || t.b - u < 2 * least) move = t.x < middle ? least : -least;
        }
        double u = t.x + (fabs(move) >= least ? move : copysign(least, move));
        CR_TRY(evaluate(cx, f, user, u, &fu));
        narrow(&t, u, fu);
    }
    *out_x = t.x;
    *out_f = t.fx;
done:
    return st;
}

/* --- a bracket ------------------------------------------------------------------------------- */

/* From x downhill in steps that double, h first, until f rises or an end of [low, high] is reached:
 * then *out_a < *x < *out_b but at an end, *fx the least value seen. */
static cr_status find_bracket(cr_ctx *cx, cr_scalar_fn *f, void *user, double low, double high,
                              double h, double *x, double *fx, double *out_a, double *out_b)
{
    cr_status st = CR_OK;
    double    behind = *x, here = *x, f_here = *fx, ahead, f_ahead;
    for (int turn = 0; turn < 2; turn++) {
        double start = *x, step = turn ? -h : h;
        behind =
            turn ? fmin(high, start + h) : fmax(low, start - h); /* not yet looked at in turn 0 */
        here = start, f_here = *fx;
        for (;;) {
            ahead = fmax(low, fmin(high, here + step));
            if (ahead == here) break;
            CR_TRY(evaluate(cx, f, user, ahead, &f_ahead));
            if (!(f_ahead < f_here)) break;
            behind = here;
            here = ahead, f_here = f_ahead;
            step *= 2;
            if (f_here == -INFINITY || isinf(here + step)) break;
        }
        if (here != start) break;
    }
    *out_a = fmin(behind, ahead);
    *out_b = fmax(behind, ahead);
    *x = here;
    *fx = f_here;
done:
    return st;
}

cr_status cri_brent_from(cr_ctx *cx, cr_scalar_fn *f, void *user, double low, double high, double h,
                         double x, double fx, double tolerance, size_t most, double *out_x,
                         double *out_f)
{
    cr_status st = CR_OK;
    double    a = x, b = x;
    CR_TRY(find_bracket(cx, f, user, low, high, h, &x, &fx, &a, &b));
    *out_x = x;
    *out_f = fx;
    if (fx != -INFINITY && a < b)
        CR_TRY(cri_brent_between(cx, f, user, a, b, x, fx, tolerance, most, out_x, out_f));
done:
    return st;
}

cr_status cr_brent_minimize(cr_ctx *cx, cr_scalar_fn *f, void *user, double a, double b,
                            double tolerance, double *out_x, double *out_f)
{
    cr_status st = CR_OK;
    double    x = a + GOLDEN * (b - a), fx, fa, fb;
    if (!(a <= b) || !isfinite(b - a))
        CR_TRY(cr_fail(cx, CR_EARG, "brent: %g and %g are not the ends of an interval", a, b));
    CR_TRY(evaluate(cx, f, user, x, &fx));
    CR_TRY(cri_brent_between(cx, f, user, a, b, x, fx, tolerance, 1000, &x, &fx));
    CR_TRY(evaluate(cx, f, user, a, &fa)); /* the method itself never looks at the ends */
    CR_TRY(evaluate(cx, f, user, b, &fb));
    if (fa < fx) x = a, fx = fa;
    if (fb < fx) x = b, fx = fb;
    *out_x = x;
    *out_f = fx;
done:
    return st;
}

/* --- root ------------------------------------------------------------------------------------ */

/* The move from b towards the root by inverse quadratic interpolation through a, b, c, or the
 * secant when a = c; *out_q is its divisor. */
static double interpolate(double a, double b, double c, double fa, double fb, double fc,
                          double *out_q)
{
    double s = fb / fa, half = (c - b) / 2, p, q;
    if (a == c) {
        p = 2 * half * s;
        q = 1 - s;
    } else {
        double r = fb / fc, u = fa / fc;
        p = s * (2 * half * u * (u - r) - (b - a) * (r - 1));
        q = (u - 1) * (r - 1) * (s - 1);
    }
    *out_q = p > 0 ? -q : q;
    return fabs(p);
}

cr_status cr_brent_root(cr_ctx *cx, cr_scalar_fn *f, void *user, double a, double b,
                        double tolerance, double *out_x)
{
    cr_status st = CR_OK;
    double    fa, fb, c = a, fc, move = b - a, before = move;
    if (!isfinite(a) || !isfinite(b))
        CR_TRY(cr_fail(cx, CR_EARG, "root: %g and %g are not the ends of an interval", a, b));
    CR_TRY(f(user, a, &fa));
    CR_TRY(f(user, b, &fb));
    if (isnan(fa) || isnan(fb)) CR_TRY(cr_fail(cx, CR_ENUMERIC, "root: f is NaN at an end"));
    if ((fa > 0 && fb > 0) || (fa < 0 && fb < 0))
        CR_TRY(cr_fail(cx, CR_EARG, "root: f has the same sign at %g and %g", a, b));
    if (fa == 0) b = a, fb = 0;
    for (fc = fa; fb != 0;) { /* b best, a the one before, c on the other side */
        if ((fb > 0) == (fc > 0)) c = a, fc = fa, move = before = b - a;
        if (fabs(fc) < fabs(fb)) a = b, b = c, c = a, fa = fb, fb = fc, fc = fa;
        double least = 0x1p-51 * fabs(b) + tolerance / 2, half = (c - b) / 2, q;
        if (fabs(half) <= least || fb == 0) break;
        double p = interpolate(a, b, c, fa, fb, fc, &q);
        bool   good = fabs(before) >= least && fabs(fa) > fabs(fb) &&
                    p < fmin(1.5 * half * q - fabs(least * q) / 2, fabs(before * q) / 2);
        before = good ? move : half;
        move = good ? p / q : half;
        a = b, fa = fb;
        b += fabs(move) > least ? move : copysign(least, half);
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(f(user, b, &fb));
        if (isnan(fb)) CR_TRY(cr_fail(cx, CR_ENUMERIC, "root: f is NaN at %g", b));
    }
    *out_x = b;
done:
    return st;
}
