/* gaussian.c -- where is the ship?  A Gaussian prior, bearings that depend on it linearly, Bayes'
 * rule.
 *   cc gaussian.c $(pkg-config --cflags --libs credence) -o gaussian */
#include <credence/dist.h>

#include <stdio.h>

/* Position (east, north) in km by dead reckoning, and two measurements of it: the distance north,
 * and the difference north - east, which a radio beacon gives (made-up numbers). */
static const double reckoned[2] = { 10, 20 };
static const double reckoned_covariance[2 * 2] = { 4, 1, 1, 9 };
static const double measures[2 * 2] = { 0, 1, -1, 1 };
static const double noise[2 * 2] = { 0.25, 0, 0, 1 };
static const double readings[2] = { 22, 13 };

static void print_gaussian(const char *what, const cr_gaussian *g)
{
    printf("%-22s", what);
    for (size_t i = 0; i < g->d; i++)
        printf("  %6.3f (variance %.3f)", g->mean[i], g->covariance[i * g->d + i]);
    printf("\n");
}

static cr_status locate(cr_ctx *cx)
{
    const cr_linear_gaussian sensors = { .A = cr_cmat_of(measures, 2, 2),
                                         .R = cr_cmat_of(noise, 2, 2) };
    const size_t             east = 0;
    const double             at_buoy = 10.5;
    cr_status                st = CR_OK;
    cr_gaussian             *prior = NULL, *expected = NULL, *posterior = NULL, *north = NULL;
    double                   log_evidence, log_density, kl;

    CR_TRY(cr_gaussian_new(cx, reckoned, cr_cmat_of(reckoned_covariance, 2, 2), &prior));
    CR_TRY(cr_gaussian_predictive(cx, prior, &sensors, &expected));
    CR_TRY(cr_gaussian_posterior(cx, prior, &sensors, readings, &posterior, &log_evidence));
    print_gaussian("dead reckoning", prior);
    print_gaussian("readings expected", expected);
    print_gaussian("position, readings in", posterior);
    CR_TRY(cr_gaussian_kl(cx, posterior, prior, &kl));
    printf("log evidence %.4f, learnt %.3f nats\n", log_evidence, kl);

    CR_TRY(cr_gaussian_condition(cx, posterior, &east, 1, &at_buoy, &north, &log_density));
    print_gaussian("north, at the buoy", north);
done:
    cr_gaussian_free(cx, north);
    cr_gaussian_free(cx, posterior);
    cr_gaussian_free(cx, expected);
    cr_gaussian_free(cx, prior);
    return st;
}

int main(void)
{
    cr_ctx *cx = NULL;
    if (cr_ctx_new(NULL, &cx) != CR_OK) return 1;
    cr_status st = locate(cx);
    if (st != CR_OK) fprintf(stderr, "error: %s\n", cr_error(cx));
    cr_ctx_free(cx);
    return st == CR_OK ? 0 : 1;
}
