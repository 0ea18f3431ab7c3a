/* The functions of More, Garbow & Hillstrom (1981): their gradients against differences, and the
 * minima of the paper by every method that should find them. */
#include "support.h"
#include "mgh.h"

#include "math/optim/check_gradient.h"
#include "math/optim/minimize.h"

static cr_status objective(void *user, const double *x, size_t n, double *out_f, double *opt_g)
{
    (void)n;
    *out_f = mgh_value(user, x, opt_g);
    return CR_OK;
}

static cr_problem problem_of(const mgh_problem *p)
{
    return (cr_problem){ .n = p->n, .objective = objective, .user = (void *)(uintptr_t)p };
}

TEST(gradients)
{
    assert_true(MGH_COUNT >= 18);
    for (size_t k = 0; k < MGH_COUNT; k++) {
        const mgh_problem *p = &mgh_problems[k];
        cr_problem         problem = problem_of(p);
        cr_gradient_check  check;
        double             x[MGH_MOST_N];
        for (size_t i = 0; i < p->n; i++) x[i] = p->start[i] + 0.013 * (double)(i + 1);
        assert_ok(cx, cr_check_gradient(cx, &problem, x, &check));
        if (!(check.error < 1e-7))
            fail_msg("%s: gradient[%zu] is %.15g, differences say %.15g", p->name, check.worst,
                     check.given, check.measured);
    }
}

/* Strong Wolfe at every step that was not cut short. */
typedef struct watch {
    const mgh_problem *p;
    size_t             steps, wolfe;
    double             f;
} watch;

static cr_status watched(void *user, const double *x, size_t n, double *out_f, double *opt_g)
{
    return objective((void *)(uintptr_t)((watch *)user)->p, x, n, out_f, opt_g);
}

static void observe(void *user, const cr_step *s)
{
    watch *w = user;
    double rounding = 0x1p-49 * fabs(s->f_before), slope = 0, lost = 0, g[MGH_MOST_N];
    w->steps++;
    assert_int_equal(s->iteration, w->steps);
    assert_true(s->f_before == w->f);
    assert_true(s->f <= s->f_before + rounding);
    assert_true(s->f == mgh_value(w->p, s->x, g));
    w->f = s->f;
    if (s->step == 0) return;
    for (size_t i = 0; i < w->p->n; i++) { /* x - x_before is the step, up to rounding of x */
        slope += g[i] * (s->x[i] - s->x_before[i]);
        lost += fabs(g[i] * s->x[i]) * 0x1p-51;
    }
    assert_true(fabs(slope / s->step - s->slope) <= 1e-9 * fabs(s->slope_before) + lost / s->step);
    assert_true(s->slope_before < 0);
    if (s->cut_short) return;
    w->wolfe++;
    assert_true(s->f <= s->f_before + s->decrease * s->step * s->slope_before + rounding);
    assert_true(fabs(s->slope) <= s->curvature * fabs(s->slope_before));
}

/* Whether f is one of the minima of the paper, given there to six digits. */
static bool at_minimum(const mgh_problem *p, double f, double slack)
{
    double off = fabs(f - p->minimum) - 1e-5 * p->minimum;
    if (p->other >= 0) off = fmin(off, fabs(f - p->other) - 1e-5 * p->other);
    return off <= slack;
}

static void find_all(int method, double slack, const char *const *exceptions)
{
    cr_ctx *cx = test_context();
    size_t  steps = 0, wolfe = 0;
    for (size_t k = 0; k < MGH_COUNT; k++) {
        watch      w = { &mgh_problems[k], 0, 0, 0 };
        cr_problem problem = { .n = w.p->n, .objective = watched, .observe = observe, .user = &w };
        cr_minimize_options o = cr_minimize_defaults();
        cr_minimize_report  r;
        double              x[MGH_MOST_N];
        bool                hard = false;
        for (const char *const *e = exceptions; *e; e++) hard |= strcmp(*e, w.p->name) == 0;
        memcpy(x, w.p->start, sizeof x);
        w.f = mgh_value(w.p, x, NULL);
        o.method = method;
        o.gradient_tolerance = 1e-8;
        o.f_tolerance = 1e-14;
        o.max_iter = hard ? 500 : 5000;
        assert_ok(cx, cr_minimize(cx, &problem, &o, x, &r));
        assert_true(r.f == mgh_value(w.p, x, NULL));
        if (!hard && !at_minimum(w.p, r.f, slack))
            fail_msg("%s: f = %.10g, the minimum is %.10g (%s)", w.p->name, r.f, w.p->minimum,
                     cr_end_text(r.stop));
        steps += w.steps;
        wolfe += w.wolfe;
    }
    if (method < CR_METHOD_COORDINATE && method != CR_METHOD_NEWTON)
        assert_true((double)wolfe > 0.98 * (double)steps);
    test_context_free(cx);
}

TEST(lbfgs) { find_all(CR_METHOD_LBFGS, 1e-9, (const char *const[]){ NULL }); }

TEST(bfgs) { find_all(CR_METHOD_BFGS, 1e-8, (const char *const[]){ NULL }); }

TEST(newton) { find_all(CR_METHOD_NEWTON, 1e-8, (const char *const[]){ NULL }); }

/* Conjugate gradients stop in the long flat valleys of these. */
TEST(cg)
{
    find_all(CR_METHOD_CG, 1e-6,
             (const char *const[]){ "meyer", "watson-9", "osborne-1", "gulf", NULL });
}

/* Steepest descent creeps along every valley: these it finds. */
TEST(gradient)
{
    static const char *const hard[] = { "rosenbrock",
                                        "freudenstein-roth",
                                        "powell-badly-scaled",
                                        "brown-badly-scaled",
                                        "bard",
                                        "meyer",
                                        "gulf",
                                        "box",
                                        "powell-singular",
                                        "wood",
                                        "kowalik-osborne",
                                        "osborne-1",
                                        "biggs",
                                        "osborne-2",
                                        "watson-6",
                                        "watson-9",
                                        "extended-rosenbrock",
                                        "extended-powell",
                                        "penalty-1",
                                        "penalty-2",
                                        "brown-almost-linear",
                                        NULL };
    find_all(CR_METHOD_GRADIENT, 1e-6, hard);
}

TEST(simplex)
{
    find_all(CR_METHOD_SIMPLEX, 1e-7,
             (const char *const[]){ "meyer", "trigonometric", "extended-rosenbrock",
                                    "extended-powell", NULL });
}
