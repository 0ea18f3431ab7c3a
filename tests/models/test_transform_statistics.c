/* test_transform_statistics.c -- what models report about a fit to a function of their target: log densities of the
 * target itself, and the names of all that is of the function. */
#include "fixture.h"

enum { N = 40 };

/* y = exp(z); the same rows with z, and with 2 z, under the name of the target. */
typedef struct rows {
    cr_table *y, *z, *twice;
    double    slopes; /* sum of log g'(y) */
} rows;

static rows make_rows(cr_ctx *cx)
{
    rows   r = { .slopes = 0 };
    double x[2 * N], y[N], z[N], twice[N];
    cr_rng rng = cr_rng_stream(5, 1);
    for (size_t i = 0; i < N; i++) {
        x[2 * i] = cr_rng_normal(&rng), x[2 * i + 1] = cr_rng_normal(&rng);
        z[i] = 0.4 + sin(x[2 * i]) - 0.3 * x[2 * i + 1] + 0.5 * cr_rng_normal(&rng);
        y[i] = exp(z[i]), z[i] = log(y[i]), twice[i] = 2 * z[i]; /* the same bits */
        r.slopes -= z[i];
    }
    r.y = make_table(cx, x, N, 2, y, NULL);
    r.z = make_table(cx, x, N, 2, z, NULL);
    r.twice = make_table(cx, x, N, 2, twice, NULL);
    return r;
}

static bool is_listed(const json_t *d, const char *name)
{
    size_t  i;
    json_t *item;
    json_array_foreach(json_object_get(d, "transformed"), i,
                       item) if (strcmp(json_string_value(item), name) == 0) return true;
    return false;
}

static bool differ(double a, double b, double tolerance)
{
    return isnan(a) != isnan(b) || fabs(a - b) > tolerance * (1 + fabs(b));
}

static bool has(const json_t *d, const char *name)
{
    return json_object_get(json_object_get(d, "statistics"), name) != NULL;
}

/* Log densities and criteria are those of the target, all else is as on the column that was transformed before; and
 * what changes with the scale of that is listed. */
static size_t check(cr_ctx *cx, const cr_model_class *c, const rows *r, const char *settings)
{
    char with[160];
    snprintf(with, sizeof with, "%s transform_target=log", settings);
    json_t *d = describe(cx, fit(cx, cr_class_name(c), r->y, with));
    json_t *plain = describe(cx, fit(cx, cr_class_name(c), r->z, settings));
    json_t *scaled = describe(cx, fit(cx, cr_class_name(c), r->twice, settings));
    size_t  faults = 0;
    assert_true(json_is_array(json_object_get(d, "transformed")) &&
                !json_object_get(plain, "transformed"));
    for (const cr_field *f = cr_class_statistics(c); f->name; f++) {
        if (f->type != CR_FIELD_NUMBER || !has(plain, f->name)) continue;
        double was = statistic(plain, f->name), is = statistic(d, f->name);
        double more = f->marks & CR_FIELD_LOG_SCORE   ? r->slopes
                      : f->marks & CR_FIELD_CRITERION ? -2 * r->slopes
                                                      : 0;
        if (differ(is, was + more, 1e-6)) {
            print_message("%s %s: %g instead of %g\n", cr_class_name(c), f->name, is, was + more);
            faults++;
        }
        double doubled = has(scaled, f->name) ? statistic(scaled, f->name) : was;
        if (strcmp(f->name, "inflation") == 0) continue; /* its folds are dealt by the values */
        if (more == 0 && !is_listed(d, f->name) && differ(doubled, was, 1e-4)) {
            print_message("%s %s: %g becomes %g where the target is doubled\n", cr_class_name(c),
                          f->name, was, doubled);
            faults++;
        }
    }
    return faults;
}

TEST(statistics_say_what_they_are_of)
{
    rows   r = make_rows(cx);
    size_t faults = 0, tried = 0;
    for (size_t i = 0; i < cr_class_count(); i++) {
        const cr_model_class *c = cr_class_at(i);
        const char           *name = cr_class_name(c);
        if (!(cr_class_tasks(c) & CR_TASK_REGRESSION)) continue;
        if (strcmp(name, "glm") == 0) continue; /* has links instead */
        if (strcmp(name, "gp-online") == 0)     /* its hyper-parameters need no rows then */
            faults += check(cx, c, &r, "target=y kernel=rbf(l=1) noise=0.2 scale_target=standard");
        else
            faults += check(cx, c, &r, "target=y");
        tried++;
    }
    assert_true(tried > 10);
    assert_int_equal(faults, 0);
}

/* Criteria in tables, too. */
TEST(criteria_of_subsets)
{
    rows    r = make_rows(cx);
    json_t *d = describe(cx, fit(cx, "linear", r.y, "target=y select=best transform_target=log"));
    json_t *plain = describe(cx, fit(cx, "linear", r.z, "target=y select=best"));
    json_t *a = json_object_get(d, "subsets"), *b = json_object_get(plain, "subsets");
    assert_true(json_array_size(a) > 1 && json_array_size(a) == json_array_size(b));
    for (size_t k = 0; k < json_array_size(a); k++)
        for (size_t j = 0; j < 2; j++) {
            const char *name = j == 0 ? "aic" : "bic";
            assert_close(number_of(json_array_get(a, k), name),
                         number_of(json_array_get(b, k), name) - 2 * r.slopes, 1e-8);
        }
}
