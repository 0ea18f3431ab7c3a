/* gp_known.h -- fits by default against the best evidence that is known. */
#ifndef CREDENCE_TEST_MODELS_GP_GP_KNOWN_H
#define CREDENCE_TEST_MODELS_GP_GP_KNOWN_H

#include "../fixture.h"

/* Searches for optima are for a build without sanitizers, in which they take a minute. */
static inline void leave_to_other_builds(void)
{
#ifdef __SANITIZE_ADDRESS__
    test_skip("too slow under sanitizers");
#endif
}

/* Every `step`-th row of the table from `first` on, `most` of them at the most. */
static inline cr_table *thin_table(cr_ctx *cx, const char *path, size_t first, size_t step,
                                   size_t most)
{
    cr_table *all = read_table(cx, path), *t = NULL;
    size_t    rows = cr_table_rows(all), n = (rows - first + step - 1) / step;
    if (n > most) n = most;
    double *column = malloc(n * sizeof *column);
    assert_ok(cx, cr_table_new(cx, "thin", n, &t));
    for (size_t j = 0; j < cr_table_columns(all); j++) {
        const cr_column *c = cr_table_column(all, j);
        for (size_t i = 0; i < n; i++) column[i] = c->values[(first + i * step) * c->stride];
        assert_ok(cx, cr_table_add_numbers(cx, t, c->name, CR_REAL, column, 1));
    }
    free(column);
    return t;
}

/* A fit by the evidence alone, and the best that many starts found: 30 to 200 random ones, several seeds. */
typedef struct known_fit {
    const char *table, *target;
    size_t      step, rows;
    const char *kernel;
    double      evidence;
} known_fit;

static inline void check_known(cr_ctx *cx, const known_fit *cases, size_t count)
{
    bool all = true;
    cr_ctx_set_threads(cx, 1);
    for (size_t c = 0; c < count; c++) {
        char name[100], settings[200];
        snprintf(name, sizeof name, "tabular/%s.csv", cases[c].table);
        snprintf(settings, sizeof settings, "target=%s hyper=best kernel=%s", cases[c].target,
                 cases[c].kernel);
        cr_table *t = thin_table(cx, test_data(name), 0, cases[c].step, cases[c].rows);
        double    found = cr_model_get_report(fit(cx, "gp", t, settings))->log_evidence;
        bool      reached = found > cases[c].evidence - 0.01;
        if (!reached)
            print_message("%s, %zu rows, %s: %.4f, %.4f known\n", cases[c].table, cases[c].rows,
                          cases[c].kernel, found, cases[c].evidence);
        all &= reached;
        cr_table_free(cx, t);
    }
    assert_true(all);
}

#endif
