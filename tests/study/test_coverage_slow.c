/* test_coverage_slow.c -- how many 95 % intervals hold, of every model that predicts numbers: of new
 * rows and of coefficients, with data drawn as the model assumes them, from 6 rows to 200.  With
 * CREDENCE_COVERAGE=FILE the table is written there, as docs/uncertainty.md shows it. */
#include "fixture.h"
#include "math/special/special.h"
#include "models/core/class.h"

enum { SIZES = 5, MOST_ROWS = 200, MOST_COLUMNS = 3, TESTS = 20 };

static const size_t sizes[SIZES] = { 6, 10, 20, 50, 200 };

/* How y follows from x. */
typedef enum world { LINEAR, SMOOTH, STEPS } world;

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
    { "tree", "target=y", STEPS, 20, "with fewer rows nothing is split, and the step is noise" },
};

typedef struct drawn {
    size_t n, p;
    double X[(MOST_ROWS + TESTS) * MOST_COLUMNS], y[MOST_ROWS + TESTS], b[MOST_COLUMNS];
} drawn;

static double mean_of(const drawn *d, world w, const double *x)
{
    double f = 0;
    switch (w) {
    case LINEAR:
        for (size_t j = 0; j < d->p; j++) f += d->b[j] * x[j];
        return f;
    case SMOOTH:
        return 2 * sin(1.5 * x[0] + d->b[0]);
    case STEPS:
        return (x[0] > 0 ? 2 : -2) + d->b[0];
    }
    return f;
}

/* n rows to learn from and TESTS more: columns, coefficients and noise are standard normal. */
static void draw(drawn *d, world w, size_t n, cr_rng *r)
{
    d->n = n;
    d->p = w == LINEAR ? (n < 10 ? 2 : 3) : 1;
    draw_normals(r, d->b, MOST_COLUMNS);
    draw_normals(r, d->X, (n + TESTS) * d->p);
    for (size_t i = 0; i < n + TESTS; i++)
        d->y[i] = 3 + mean_of(d, w, d->X + i * d->p) + cr_rng_normal(r);
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
        cr_table *train = make_table(cx, d.X, n, d.p, d.y, NULL);
        cr_table *test = make_table(cx, d.X + n * d.p, TESTS, d.p, NULL, NULL);
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
        if (s->world == LINEAR) coefficients += count_coefficients(cx, m, &d, &held);
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
        if (only ? strcmp(only, s->model) != 0 : s->from == NEVER && !f) continue;
        for (size_t i = 0; i < SIZES; i++) {
            at[i] = measure(s, sizes[i], 200);
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
