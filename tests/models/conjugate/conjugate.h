/* conjugate.h -- what the tests of conjugate models share: columns from arrays, the numbers of a
 * description, log densities of rows. */
#ifndef CREDENCE_TEST_CONJUGATE_H
#define CREDENCE_TEST_CONJUGATE_H

#include "../fixture.h"
#include "math/quadrature.h"

/* One column x and, when given, weights w. */
static inline cr_table *column_table(cr_ctx *cx, const double *x, size_t n, const double *opt_w)
{
    cr_table *t = NULL;
    assert_ok(cx, cr_table_new(cx, "data.csv", n, &t));
    test_own(cx, t, release_table);
    assert_ok(cx, cr_table_add_numbers(cx, t, "x", CR_REAL, x, 1));
    if (opt_w) assert_ok(cx, cr_table_add_numbers(cx, t, "w", CR_REAL, opt_w, 1));
    return t;
}

static inline double log_evidence(const cr_model *m)
{
    return cr_model_get_report(m)->log_evidence;
}

/* The evidence of a model fitted to one column. */
static inline double evidence_of(cr_ctx *cx, const char *name, const double *x, size_t n,
                                 const char *settings)
{
    cr_table *t = column_table(cx, x, n, NULL);
    cr_model *m = fit(cx, name, t, settings);
    double    e = log_evidence(m);
    cr_table_free(cx, t);
    return e;
}

/* A number of distributions[i].part, by name. */
static inline double part_of(const json_t *d, size_t i, const char *part, const char *key)
{
    const json_t *item = json_array_get(json_object_get(d, "distributions"), i);
    assert_non_null(item);
    return number_of(json_object_get(item, part), key);
}

static inline const char *family_of(const json_t *d, size_t i, const char *part)
{
    const json_t *item = json_array_get(json_object_get(d, "distributions"), i);
    const char   *name = json_string_value(json_object_get(json_object_get(item, part), "family"));
    assert_non_null(name);
    return name;
}

/* Log predictive densities of n values of one column. */
static inline void densities(cr_ctx *cx, const cr_model *m, const double *x, size_t n, double *out)
{
    cr_table     *t = column_table(cx, x, n, NULL);
    cr_prediction p = predict(cx, m, t);
    assert_int_equal(p.kind, CR_ANSWER_DENSITY);
    memcpy(out, p.log_density, n * sizeof *out);
    cr_table_free(cx, t);
}

/* The integral of the predictive density over the line, by Simpson's rule in x = at + s tan(theta).
 */
static inline double integral_of_predictive(cr_ctx *cx, const cr_model *m, double at, double s)
{
    enum { STEPS = 4000 };
    double x[STEPS - 1], log_p[STEPS - 1], sum = 0, h = M_PI / STEPS;
    for (size_t i = 0; i < STEPS - 1; i++) x[i] = at + s * tan(-M_PI / 2 + (double)(i + 1) * h);
    densities(cx, m, x, STEPS - 1, log_p);
    for (size_t i = 0; i < STEPS - 1; i++) {
        double z = (x[i] - at) / s;
        sum += (i % 2 ? 2 : 4) * exp(log_p[i]) * s * (1 + z * z);
    }
    return sum * h / 3;
}

#endif
