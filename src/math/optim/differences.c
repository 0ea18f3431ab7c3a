/* differences.c -- derivatives by finite differences. */
#include "differences.h"

#include <math.h>

static const double CUBE_ROOT_EPS = 6.055454452393343e-06;
static const double ROOT_EPS = 1.4901161193847656e-08;

static cr_status value_at(cri_value_fn *f, void *arg, double *x, size_t i, double xi, double *out_f)
{
    double kept = x[i];
    x[i] = xi;
    cr_status st = f(arg, x, out_f);
    x[i] = kept;
    return st;
}

/* --- first derivatives ----------------------------------------------------------------------- */

cr_status cri_difference_gradient(cr_ctx *cx, cri_value_fn *f, void *arg, size_t n, double *x,
                                  double f_at_x, cri_box box, double *out_g)
{
    cr_status st = CR_OK;
    for (size_t i = 0; i < n; i++) {
        double h = CUBE_ROOT_EPS * fmax(1, fabs(x[i])), up = x[i] + h, down = x[i] - h;
        if (box.upper && up > box.upper[i]) up = x[i];
        if (box.lower && down < box.lower[i]) down = x[i];
        double f_up = f_at_x, f_down = f_at_x;
        CR_TRY(cr_check_interrupt(cx));
        if (up > x[i]) CR_TRY(value_at(f, arg, x, i, up, &f_up));
        if (down < x[i]) CR_TRY(value_at(f, arg, x, i, down, &f_down));
        if (!isfinite(f_up)) up = x[i], f_up = f_at_x;
        if (!isfinite(f_down)) down = x[i], f_down = f_at_x;
        out_g[i] = up > down ? (f_up - f_down) / (up - down) : 0;
    }
done:
    return st;
}

cr_status cri_ridders(cri_value_fn *f, void *arg, double *x, size_t i, double *out_derivative)
{
    enum { ROWS = 10 };
    static const double SHRINK = 1.4;
    cr_status           st = CR_OK;
    double              table[ROWS][ROWS], best = NAN, least = INFINITY;
    double              h = 1e-2 * fmax(fabs(x[i]), 1e-1);

    for (int k = 0; k < ROWS; k++, h /= SHRINK) {
        double up = x[i] + h, down = x[i] - h, f_up, f_down, factor = SHRINK * SHRINK;
        CR_TRY(value_at(f, arg, x, i, up, &f_up));
        CR_TRY(value_at(f, arg, x, i, down, &f_down));
        table[k][0] = (f_up - f_down) / (up - down);
        for (int j = 1; j <= k; j++, factor *= SHRINK * SHRINK) {
            table[k][j] = (factor * table[k][j - 1] - table[k - 1][j - 1]) / (factor - 1);
            double error =
                fmax(fabs(table[k][j] - table[k][j - 1]), fabs(table[k][j] - table[k - 1][j - 1]));
            if (error < least) least = error, best = table[k][j];
        }
    }
    *out_derivative = best;
done:
    return st;
}

/* --- second derivatives ---------------------------------------------------------------------- */

static void make_symmetric(size_t n, double *h)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            h[i * n + j] = h[j * n + i] = (h[i * n + j] + h[j * n + i]) / 2;
}

static cr_status gradient_at(cri_gradient_fn *g, void *arg, double *x, size_t i, double xi,
                             double *out_g)
{
    double kept = x[i];
    x[i] = xi;
    cr_status st = g(arg, x, out_g);
    x[i] = kept;
    return st;
}

cr_status cri_difference_hessian(cr_ctx *cx, cri_gradient_fn *gradient, void *arg, size_t n,
                                 double *x, const double *g, double *work, double *out_h)
{
    cr_status st = CR_OK;
    for (size_t i = 0; i < n; i++) {
        double moved = x[i] + ROOT_EPS * fmax(1, fabs(x[i])), h = moved - x[i];
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(gradient_at(gradient, arg, x, i, moved, work));
        for (size_t j = 0; j < n; j++) out_h[i * n + j] = (work[j] - g[j]) / h;
    }
    make_symmetric(n, out_h);
done:
    return st;
}

cr_status cri_curvature_steps(cr_ctx *cx, cri_value_fn *f, void *arg, size_t n, double *x,
                              double f_at_x, double *out_step)
{
    enum { TRIES = 60 };
    static const double LEAST = 2e-4, MOST = 5e-3;
    cr_status           st = CR_OK;
    for (size_t i = 0; i < n; i++) {
        double h = 1e-3 * fmax(1, fabs(x[i])), noise = 64 * 0x1p-52 * fabs(f_at_x);
        CR_TRY(cr_check_interrupt(cx));
        for (int k = 0; k < TRIES; k++) {
            double up, down;
            CR_TRY(value_at(f, arg, x, i, x[i] + h, &up));
            CR_TRY(value_at(f, arg, x, i, x[i] - h, &down));
            double rise = (up - f_at_x) / 2 + (down - f_at_x) / 2;
            if (rise >= LEAST && rise <= MOST) break;
            if (!isfinite(rise))
                h *= 0.1;
            else if (rise <= noise)
                h *= 8;
            else
                h *= fmin(8, fmax(0.01, sqrt(1e-3 / rise)));
        }
        out_step[i] = h;
    }
done:
    return st;
}

/* out [n] = (g(x + h e_i) - g(x - h e_i)) / 2h; work [n]. */
static cr_status central_row(cri_gradient_fn *gradient, void *arg, size_t n, double *x, size_t i,
                             double h, double *work, double *out)
{
    cr_status st = CR_OK;
    double    up = x[i] + h, down = x[i] - h;
    CR_TRY(gradient_at(gradient, arg, x, i, up, out));
    CR_TRY(gradient_at(gradient, arg, x, i, down, work));
    for (size_t j = 0; j < n; j++) out[j] = (out[j] - work[j]) / (up - down);
done:
    return st;
}

cr_status cri_extrapolated_hessian(cr_ctx *cx, cri_gradient_fn *gradient, void *arg, size_t n,
                                   double *x, const double *step, double *work, double *out_h)
{
    cr_status st = CR_OK;
    double   *wide = work, *narrow = work + n, *workspace = work + 2 * n;
    for (size_t i = 0; i < n; i++) {
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(central_row(gradient, arg, n, x, i, step[i], workspace, wide));
        CR_TRY(central_row(gradient, arg, n, x, i, step[i] / 2, workspace, narrow));
        for (size_t j = 0; j < n; j++) out_h[i * n + j] = (4 * narrow[j] - wide[j]) / 3;
    }
    make_symmetric(n, out_h);
done:
    return st;
}

/* d2f / dx_i dx_j over steps a and b, error O(a^2 + b^2). */
static cr_status second_difference(cri_value_fn *f, void *arg, double *x, double f_at_x, size_t i,
                                   size_t j, double a, double b, double *out)
{
    cr_status st = CR_OK;
    double    v[4], xi = x[i];
    if (i == j) {
        CR_TRY(value_at(f, arg, x, i, xi + a, &v[0]));
        CR_TRY(value_at(f, arg, x, i, xi - a, &v[1]));
        *out = ((v[0] - f_at_x) + (v[1] - f_at_x)) / (a * a);
        return CR_OK;
    }
    for (int k = 0; k < 4; k++) {
        x[i] = k < 2 ? xi + a : xi - a;
        st = value_at(f, arg, x, j, k % 2 ? x[j] - b : x[j] + b, &v[k]);
        x[i] = xi;
        if (st != CR_OK) goto done;
    }
    *out = ((v[0] - v[1]) - (v[2] - v[3])) / (4 * a * b);
done:
    return st;
}

cr_status cri_second_differences(cr_ctx *cx, cri_value_fn *f, void *arg, size_t n, double *x,
                                 double f_at_x, const double *step, double *out_h)
{
    cr_status st = CR_OK;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double a = step[i], b = step[j], wide, narrow;
            CR_TRY(cr_check_interrupt(cx));
            CR_TRY(second_difference(f, arg, x, f_at_x, i, j, a, b, &wide));
            CR_TRY(second_difference(f, arg, x, f_at_x, i, j, a / 2, b / 2, &narrow));
            out_h[i * n + j] = out_h[j * n + i] = (4 * narrow - wide) / 3;
        }
done:
    return st;
}
