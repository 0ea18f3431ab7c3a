/* info_fixture.h -- what the tests of information in columns share: tables column by column, one measure of them. */
#ifndef CREDENCE_TEST_STUDY_INFO_FIXTURE_H
#define CREDENCE_TEST_STUDY_INFO_FIXTURE_H

#include "base/rng.h"
#include "study/info.h"
#include "support.h"

static inline cr_info_options plain(cr_ctx *cx)
{
    cr_info_options o;
    assert_ok(cx, cr_options_init(cx, cr_info_table, &o));
    o.bootstrap = 0;
    return o;
}

static inline cr_table *new_table(cr_ctx *cx, size_t rows)
{
    cr_table *t = NULL;
    assert_ok(cx, cr_table_new(cx, "test.csv", rows, &t));
    return t;
}

static inline void add_real(cr_ctx *cx, cr_table *t, const char *name, const double *x)
{
    assert_ok(cx, cr_table_add_numbers(cx, t, name, CR_REAL, x, 1));
}

static inline void add_codes(cr_ctx *cx, cr_table *t, const char *name, const uint32_t *codes,
                             size_t levels)
{
    static const char *const names[] = { "a", "b", "c", "d", "e", "f", "g", "h" };
    assert_ok(cx, cr_table_add_category(cx, t, name, codes, names, levels));
}

static inline double entropy_of(cr_ctx *cx, const cr_table *t, const char *a, const char *b,
                                const char *given, const cr_info_options *o)
{
    const char    *names[] = { a, b };
    cr_information g;
    assert_ok(cx, cr_table_entropy(cx, t, names, b ? 2 : 1, &given, given ? 1 : 0, o, 0, &g));
    return g.value;
}

static inline double mutual_of(cr_ctx *cx, const cr_table *t, const char *a, const char *b,
                               const char *given, const cr_info_options *o)
{
    cr_information g;
    assert_ok(cx, cr_table_mutual(cx, t, a, b, &given, given ? 1 : 0, o, 0, &g));
    return g.value;
}

enum { GAUSS = 1500 }; /* rows of a large table of normal columns */

/* x, y with correlation 0.8; w = x + noise; g: a fair coin that moves v by 2. */
static inline cr_table *normal_table(cr_ctx *cx, size_t rows, uint64_t stream, double shift)
{
    double   *x = malloc(4 * rows * sizeof *x), *y = x + rows, *w = y + rows, *v = w + rows;
    uint32_t *g = malloc(rows * sizeof *g);
    cr_rng    r = cr_rng_stream(41, stream);
    cr_table *t = new_table(cx, rows);
    for (size_t i = 0; i < rows; i++) {
        double a = cr_rng_normal(&r);
        x[i] = 3 * a + shift;
        y[i] = 100 * (0.8 * a + 0.6 * cr_rng_normal(&r)) - 7;
        w[i] = a + cr_rng_normal(&r);
        g[i] = (uint32_t)cr_rng_below(&r, 2);
        v[i] = 2 * (double)g[i] + cr_rng_normal(&r);
    }
    add_real(cx, t, "x", x), add_real(cx, t, "y", y), add_real(cx, t, "w", w);
    add_real(cx, t, "v", v), add_codes(cx, t, "g", g, 2);
    free(x), free(g);
    return t;
}

#endif
