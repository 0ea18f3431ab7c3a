/* test_coverage_slow.c -- how many 95 % intervals hold, of every model that predicts numbers: of new
 * rows and of coefficients, with data drawn as the model assumes them, from 6 rows to 200.  With
 * CREDENCE_COVERAGE=FILE the table is written there, as docs/uncertainty.md shows it. */
#include "fixture.h"
#include "math/special/special.h"
#include "models/core/class.h"

enum { SIZES = 5, MOST_ROWS = 200, MOST_COLUMNS = 3, TESTS = 20, TRIALS = 20 };

static const size_t sizes[SIZES] = { 6, 10, 20, 50, 200 };

/* How y follows from x; the last five by a linear predictor, of a family. */
typedef enum world {
    LINEAR,
    SMOOTH,
    STEPS,
    BINOMIAL,
    POISSON,
    NEGATIVE_BINOMIAL,
    GAMMA,
    INVERSE_GAUSSIAN
} world;

static bool has_coefficients(world w) { return w != SMOOTH && w != STEPS; }

/* What a model is tried on; from how many rows on its intervals are held to it, and why not before. */
typedef struct subject {
    const char *model, *settings;
    world       world;
    size_t      from;
    const char *why;
} subject;

enum { NEVER = 100000 }; /* measured where it is asked for */

static const subject subjects[] = {
    { "adaboost", "target=y", SMOOTH, 0, "" },
    { "bayes-linear", "target=y", LINEAR, 0, "" },
    { "bayes-linear", "target=y optimize=fixed-point intercept_prior=centre", LINEAR, 50,
      "noise and shrinkage are taken as known" },
    { "glm", "target=y family=gaussian", LINEAR, 0, "" },
    { "glm", "target=y family=binomial trials=w features=x*", BINOMIAL, 0, "" },
    { "glm", "target=y family=poisson", POISSON, 0, "" },
    { "glm", "target=y family=negative-binomial", NEGATIVE_BINOMIAL, 10,
      "wider than need be: a spread known to be no less than Poisson's counts as quite unknown" },
    { "glm", "target=y family=gamma link=log", GAMMA, 0, "" },
    { "glm", "target=y family=inverse-gaussian link=log", INVERSE_GAUSSIAN, 200,
      "estimates of a tail this long are not normal, and its fits warn" },
    { "gp", "target=y", SMOOTH, NEVER, "takes many minutes here" },
    { "gp-online", "target=y", SMOOTH, NEVER, "takes many minutes here" },
    { "kernel-ridge", "target=y", SMOOTH, 0, "" },
    { "knn", "target=y", SMOOTH, 0, "" },
    { "lasso", "target=y", LINEAR, 0, "" },
    { "linear", "target=y", LINEAR, 0, "" },
    { "nadaraya-watson", "target=y", SMOOTH, 0, "" },
    { "ridge", "target=y", LINEAR, 0, "" },
    { "robust", "target=y", LINEAR, 0, "" },
    { "robust", "target=y method=huber", LINEAR, 50, "the scale is taken as known" },
    { "robust", "target=y method=lad", LINEAR, NEVER, "for Laplace noise, and these are normal" },
    { "spline", "target=y", SMOOTH, 0, "" },
    { "rvm", "target=y", SMOOTH, 0, "" },
    { "rvm", "target=y hyper=best", SMOOTH, 50, "what the evidence chose is taken as known" },
    { "rvm", "target=y functions=terms", LINEAR, 0, "" },
    { "svr", "target=y", SMOOTH, 10, "the noise is that of six rows left out, taken as known" },
    { "kalman", "target=y", LINEAR, NEVER, "is of series, and these are rows" },
    { "tree", "target=y", STEPS, 20, "with fewer rows nothing is split, and the step is noise" },
};

typedef struct drawn {
    size_t n, p;
    double X[(MOST_ROWS + TESTS) * MOST_COLUMNS], y[MOST_ROWS + TESTS], b[MOST_COLUMNS];
    double w[MOST_ROWS + TESTS]; /* trials of the binomial */
} drawn;

static double draw_count(cr_rng *r, double mu)
{
    double n = 0;
    for (double t = cr_rng_exponential(r); t < mu; t += cr_rng_exponential(r)) n++;
    return n;
}

/* Michael, Schucany & Haas (1976). */
static double draw_inverse_gaussian(cr_rng *r, double mu, double shape)
{
    double z = cr_rng_normal(r), k = mu * z * z / (2 * shape);
    double y = mu * (1 + k - sqrt(k * (2 + k)));
    return cr_rng_uniform(r) * (mu + y) <= mu ? y : mu * mu / y;
}

static double draw_target(const drawn *d, world w, const double *x, cr_rng *r)
{
    double f = 0;
    for (size_t j = 0; j < d->p; j++) f += d->b[j] * x[j];
    double mu = exp(1.5 + f);
    switch (w) {
    case LINEAR:
        return 3 + f + cr_rng_normal(r);
    case SMOOTH:
        return 3 + 2 * sin(1.5 * x[0] + d->b[0]) + cr_rng_normal(r);
    case STEPS:
        return 3 + (x[0] > 0 ? 2 : -2) + d->b[0] + cr_rng_normal(r);
    case BINOMIAL:
        return (double)cr_rng_binomial(r, TRIALS, 1 / (1 + exp(-f)));
    case POISSON:
        return draw_count(r, mu);
    case NEGATIVE_BINOMIAL:
        return draw_count(r, mu * cr_rng_gamma(r, 2) / 2);
    case GAMMA:
        return mu * cr_rng_gamma(r, 2) / 2;
    case INVERSE_GAUSSIAN:
        return draw_inverse_gaussian(r, mu, 10);
    }
    return f;
}

/* n rows to learn from and TESTS more: columns, coefficients and noise are standard normal; a third of these
 * coefficients where they are of an exponent. */
static void draw(drawn *d, world w, size_t n, cr_rng *r)
{
    d->n = n;
    d->p = has_coefficients(w) ? (n < 10 ? 2 : 3) : 1;
    draw_normals(r, d->b, MOST_COLUMNS);
    draw_normals(r, d->X, (n + TESTS) * d->p);
    for (size_t j = 0; j < MOST_COLUMNS && w >= BINOMIAL; j++) d->b[j] /= 3;
    for (size_t i = 0; i < n + TESTS; i++) d->w[i] = TRIALS;
    for (size_t i = 0; i < n + TESTS; i++) d->y[i] = draw_target(d, w, d->X + i * d->p, r);
}

typedef struct shares {
    double rows, coefficients; /* NaN without any */
    size_t refused;
} shares;

static size_t count_coefficients(cr_ctx *cx, const cr_model *m, const drawn *d, size_t *inside)
{
    json_t *of = json_object_get(describe(cx, m), "parameters"), *row;
    size_t  k, found = 0;
    json_array_foreach(of, k, row)
    {
        const char *name = json_string_value(json_object_get(row, "name"));
        json_t     *lower = json_object_get(row, "lower"), *upper = json_object_get(row, "upper");
        if (!name || name[0] != 'x' || !json_is_number(lower) || !json_is_number(upper)) continue;
        double b = d->b[name[1] - '1'];
        *inside += b >= json_number_value(lower) && b <= json_number_value(upper);
        found++;
    }
    return found;
}

static shares measure(const subject *s, size_t n, size_t runs)
{
    cr_ctx *cx = test_context();
    shares  out = { 0 };
    size_t  inside = 0, rows = 0, held = 0, coefficients = 0;
    for (uint64_t run = 0; run < runs; run++) {
        static drawn d;
        cr_rng       r = cr_rng_stream(n, run);
        cr_model    *m = NULL;
        draw(&d, s->world, n, &r);
        const double *w = s->world == BINOMIAL ? d.w : NULL;
        cr_table     *train = make_table(cx, d.X, n, d.p, d.y, w);
        cr_table     *test = make_table(cx, d.X + n * d.p, TESTS, d.p, NULL, w);
        if (try_fit(cx, s->model, train, s->settings, &m) != CR_OK) {
            out.refused++;
            continue;
        }
        cr_prediction q = { 0 };
        if (cr_predict(cx, m, test, &q) == CR_OK) {
            for (size_t i = 0; i < TESTS; i++) {
                double sd, lower, upper, y = d.y[n + i];
                cr_prediction_interval(cx, &q, i, 0.95, &sd, &lower, &upper);
                if (isnan(lower)) continue;
                rows++;
                inside += y >= lower && y <= upper;
            }
            cr_prediction_free(cx, &q);
        }
        if (has_coefficients(s->world)) coefficients += count_coefficients(cx, m, &d, &held);
        cr_model_free(cx, m);
    }
    out.rows = rows ? (double)inside / (double)rows : NAN;
    out.coefficients = coefficients ? (double)held / (double)coefficients : NAN;
    test_context_free(cx);
    return out;
}

static void write_share(FILE *f, double share)
{
    if (isnan(share))
        fprintf(f, " |");
    else
        fprintf(f, " %.3f |", share);
}

static bool holds(double share) { return isnan(share) || (share >= 0.92 && share <= 0.98); }

static void write_row(FILE *f, const subject *s, const shares *at)
{
    const char *more = strchr(s->settings, ' ');
    fprintf(f, "| `%s%s` |", s->model, more ? more : "");
    for (size_t i = 0; i < SIZES; i++) write_share(f, at[i].rows);
    for (size_t i = 0; i < SIZES; i++) write_share(f, at[i].coefficients);
    fprintf(f, "\n");
    fflush(f);
}

TEST(simulated)
{
    const char *path = getenv("CREDENCE_COVERAGE");
    const char *only = getenv("CREDENCE_COVERAGE_OF"); /* a model */
    FILE       *f = path ? fopen(path, "w") : NULL;
    size_t      broken = 0;
    for (size_t k = 0; k < sizeof subjects / sizeof *subjects; k++) {
        const subject *s = &subjects[k];
        shares         at[SIZES];
        size_t         runs = s->world >= BINOMIAL ? 1000 : 200; /* a fit takes 0.1 ms */
        if (only ? strcmp(only, s->model) != 0 : s->from == NEVER && !f) continue;
        for (size_t i = 0; i < SIZES; i++) {
            at[i] = measure(s, sizes[i], runs);
            if (sizes[i] < s->from || (holds(at[i].rows) && holds(at[i].coefficients))) continue;
            broken++;
            fprintf(stderr, "%s %s with %zu rows: %.3f of rows, %.3f of coefficients\n", s->model,
                    s->settings, sizes[i], at[i].rows, at[i].coefficients);
        }
        if (f) write_row(f, s, at);
    }
    if (f) fclose(f);
    assert_int_equal(broken, 0);
}

/* No model of numbers is left out. */
TEST(all_models_are_tried)
{
    for (size_t i = 0; i < cr_class_count(); i++) {
        const cr_model_class *c = cr_class_at(i);
        bool                  found = !(c->tasks & CR_TASK_REGRESSION);
        for (size_t k = 0; !found && k < sizeof subjects / sizeof *subjects; k++)
            found = strcmp(subjects[k].model, cr_class_name(c)) == 0;
        if (!found) fail_msg("the coverage of %s is not known", cr_class_name(c));
    }
}
