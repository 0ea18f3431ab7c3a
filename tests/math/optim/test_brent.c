/* Minimum and root of one variable against closed forms. */
#include "support.h"

#include "math/optim/brent.h"

typedef struct call {
    int    kind;
    size_t calls;
} call;

static cr_status f(void *user, double x, double *out)
{
    call *c = user;
    c->calls++;
    switch (c->kind) {
    case 0:
        *out = (x - 2) * (x - 2) + 1;
        break;
    case 1:
        *out = cosh(x - 0.7) - 0.3 * x;
        break; /* minimum at 0.7 + asinh 0.3         */
    case 2:
        *out = x < 1 ? NAN : x - log(x - 1);
        break; /* minimum at 2                       */
    case 3:
        *out = x;
        break; /* at the left end                    */
    case 4:
        *out = fabs(x);
        break;
    case 5:
        *out = x * x * x - 2 * x - 5;
        break; /* root 2.0945514815423265 (Newton's) */
    case 6:
        *out = cos(x) - x;
        break; /* 0.7390851332151607                 */
    case 7:
        *out = pow(x - 1, 9);
        break; /* very flat                          */
    case 8:
        *out = x < 0.3 ? -1 : 1;
        break; /* a jump                             */
    case 9:
        *out = NAN;
        break;
    default:
        return CR_EDATA;
    }
    return CR_OK;
}

TEST(minimum)
{
    static const struct {
        int    kind;
        double a, b, x, tolerance;
    } cases[] = {
        { 0, -10, 30, 2, 1e-7 },
        { 0, 2, 2, 2, 0 },
        { 0, 3, 5, 3, 0 },
        { 0, -5, 1, 1, 0 },
        { 1, -3, 40, 0.99567304756342, 1e-7 },
        { 2, -4, 9, 2, 1e-7 },
        { 3, -2, 7, -2, 0 },
        { 4, -1, 2, 0, 1e-11 },
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        call   c = { cases[k].kind, 0 };
        double x, fx, check;
        assert_ok(cx, cr_brent_minimize(cx, f, &c, cases[k].a, cases[k].b, 0, &x, &fx));
        assert_close(x, cases[k].x, cases[k].tolerance);
        assert_true(c.calls < 80);
        f(&c, x, &check);
        assert_true(check == fx);
    }
}

TEST(root)
{
    static const struct {
        int    kind;
        double a, b, x, tolerance;
        size_t calls;
    } cases[] = {
        { 5, 2, 3, 2.0945514815423265, 4e-15, 12 },
        { 5, 3, 2, 2.0945514815423265, 4e-15, 12 },
        { 6, -10, 10, 0.7390851332151607, 4e-15, 20 },
        { 7, -3, 3.7, 1, 1e-2, 400 },
        { 8, 0, 1, 0.3, 1e-14, 120 },
        { 3, 0, 5, 0, 0, 4 },
        { 3, -5, 0, 0, 0, 4 },
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        call   c = { cases[k].kind, 0 };
        double x;
        assert_ok(cx, cr_brent_root(cx, f, &c, cases[k].a, cases[k].b, 0, &x));
        assert_close(x, cases[k].x, cases[k].tolerance);
        assert_true(c.calls <= cases[k].calls);
    }
}

TEST(refusals)
{
    double x = 7, fx = 8;
    call   c = { 0, 0 }, none = { 9, 0 }, broken = { 99, 0 };
    assert_fails(cx, cr_brent_minimize(cx, f, &c, 1, 0, 0, &x, &fx), CR_EARG);
    assert_fails(cx, cr_brent_minimize(cx, f, &c, 0, INFINITY, 0, &x, &fx), CR_EARG);
    assert_fails(cx, cr_brent_minimize(cx, f, &c, NAN, 1, 0, &x, &fx), CR_EARG);
    assert_fails_with(cx, cr_brent_root(cx, f, &c, 0, 1, 0, &x), CR_EARG, "same sign");
    assert_fails_with(cx, cr_brent_root(cx, f, &none, 0, 1, 0, &x), CR_ENUMERIC, "NaN");
    assert_fails(cx, cr_brent_root(cx, f, &broken, 0, 1, 0, &x), CR_EDATA);
    assert_fails(cx, cr_brent_minimize(cx, f, &broken, 0, 1, 0, &x, &fx), CR_EDATA);
    cr_interrupt(cx);
    assert_fails(cx, cr_brent_minimize(cx, f, &c, 0, 1, 0, &x, &fx), CR_EINTERRUPTED);
    call newton = { 5, 0 };
    assert_fails(cx, cr_brent_root(cx, f, &newton, 2, 3, 0, &x), CR_EINTERRUPTED);
    assert_true(x == 7 && fx == 8);
}
