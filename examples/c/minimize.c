/* minimize.c -- the least value of a function of two variables, Rosenbrock's (1960).
 *   cc minimize.c $(pkg-config --cflags --libs credence) -o minimize */
#include <credence/math.h>

#include <stdio.h>

/* f(x, y) = (1 - x)^2 + 100 (y - x^2)^2 and its gradient */
static cr_status rosenbrock(void *user, const double *x, size_t n, double *f, double *g)
{
    double a = 1 - x[0], b = x[1] - x[0] * x[0];
    (void)user, (void)n;
    *f = a * a + 100 * b * b;
    if (g) {
        g[0] = -2 * a - 400 * x[0] * b;
        g[1] = 200 * b;
    }
    return CR_OK;
}

int main(void)
{
    cr_ctx            *cx = NULL;
    double             x[2] = { -1.2, 1 };
    cr_problem         problem = { .n = 2, .objective = rosenbrock };
    cr_minimize_report report;

    if (cr_ctx_new(NULL, &cx) != CR_OK) return 1;
    cr_status st = cr_minimize(cx, &problem, NULL, x, &report);
    if (st == CR_OK)
        printf("(%.4f, %.4f), ended by %s\n", x[0], x[1], cr_end_name(report.stop));
    else
        fprintf(stderr, "error: %s\n", cr_error(cx));
    cr_ctx_free(cx);
    return st == CR_OK ? 0 : 1;
}
