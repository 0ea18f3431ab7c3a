/* How many evaluations lbfgs takes on the functions of More, Garbow & Hillstrom, free and in boxes,
 * beside L-BFGS-B in SciPy (scipy_evaluations.h): not more than 1.2 times as many. */
#include "support.h"
#include "boxes.h"
#include "mgh.h"
#include "scipy_evaluations.h"

#include "math/optim/minimize.h"

enum { COUNT = sizeof scipy_evaluations / sizeof scipy_evaluations[0] };

static cr_status objective(void *user, const double *x, size_t n, double *out_f, double *opt_g)
{
    (void)n;
    *out_f = mgh_value(user, x, opt_g);
    return CR_OK;
}

static cr_minimize_report run(cr_ctx *cx, const mgh_problem *p, bool boxed)
{
    double     x[MGH_MOST_N], lower[MGH_MOST_N], upper[MGH_MOST_N];
    cr_problem problem = { .n = p->n, .objective = objective, .user = (void *)(uintptr_t)p };
    cr_minimize_options o = cr_minimize_defaults();
    cr_minimize_report  r;
    mgh_box_of(p, lower, upper);
    if (boxed) problem.lower = lower, problem.upper = upper;
    o.max_iter = 15000;
    o.f_tolerance = 1e-12;
    memcpy(x, p->start, sizeof x);
    assert_ok(cx, cr_minimize(cx, &problem, &o, x, &r));
    for (size_t i = 0; boxed && i < p->n; i++) assert_true(x[i] >= lower[i] && x[i] <= upper[i]);
    return r;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

TEST(no_more_than_scipy)
{
    double ratio[COUNT], ours = 0, theirs = 0;
    size_t counted = 0;
    assert_int_equal(COUNT, 2 * MGH_COUNT);
    for (size_t k = 0; k < COUNT; k++) {
        const mgh_problem *p = &mgh_problems[k % MGH_COUNT];
        cr_minimize_report r = run(cx, p, k >= MGH_COUNT);
        double f = scipy_evaluations[k].f, evaluations = scipy_evaluations[k].evaluations;
        assert_memory_equal(scipy_evaluations[k].name, p->name, strlen(p->name));
        if (fabs(r.f - f) > 1e-6 * fmax(1e-3, fabs(f))) continue; /* another local minimum */
        ratio[counted++] = (double)r.f_evaluations / evaluations;
        ours += (double)r.f_evaluations;
        theirs += evaluations;
    }
    qsort(ratio, counted, sizeof *ratio, ascending);
    print_message("%zu of %d problems: %g evaluations, SciPy %g: ratio %.3f, median %.3f\n",
                  counted, COUNT, ours, theirs, ours / theirs, ratio[counted / 2]);
    assert_true(counted >= 60);
    assert_true(ours <= 1.2 * theirs);
    assert_true(ratio[counted / 2] <= 1.2);
}
