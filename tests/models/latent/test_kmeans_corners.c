/* test_kmeans_corners.c -- k-means on tables in which something is odd: an answer without NaN, or a sentence. */
#include "../fixture.h"

#include "base/context_internal.h"
#include "models/core/model_internal.h"
#include "models/latent/kmeans.h"

static json_t *fit_text(cr_ctx *cx, const char *text, const char *settings)
{
    return describe(cx, fit(cx, "kmeans", table_of_text(cx, "few.csv", text), settings));
}

static double parameter_at(const json_t *d, size_t i, const char *key)
{
    return number_of(json_array_get(json_object_get(d, "parameters"), i), key);
}

/* A row far from all others is a cluster of its own: it has a centre without an sd, and a silhouette of 0. */
TEST(a_cluster_of_one_row)
{
    json_t *d = fit_text(cx, "x\n0\n1\n2\n3\n1000\n", "k=2 scale=none scores=true");
    json_t *alone = json_array_get(json_object_get(d, "parameters"), 1);
    double  sum = 0;
    assert_relative(statistic(d, "size(2)"), 1, 0);
    assert_relative(parameter_at(d, 1, "value"), 1000, 1e-12);
    assert_true(json_is_null(json_object_get(alone, "sd")) || !json_object_get(alone, "sd"));
    for (int i = 0; i < 4; i++) {
        double own = 0;
        for (int j = 0; j < 4; j++) own += fabs((double)(i - j)) / 3;
        sum += 1 - own / (1000 - i);
    }
    assert_relative(statistic(d, "silhouette"), sum / 5, 1e-12);
    assert_true(isfinite(statistic(d, "calinski_harabasz")));
}

/* A column that is there twice counts twice. */
TEST(equal_columns)
{
    json_t *one = fit_text(cx, "x\n1\n2\n4\n8\n9\n", "k=2 scale=none");
    json_t *two = fit_text(cx, "x,y\n1,1\n2,2\n4,4\n8,8\n9,9\n", "k=2 scale=none");
    assert_relative(statistic(two, "inertia"), 2 * statistic(one, "inertia"), 1e-12);
    assert_relative(parameter_at(two, 1, "value"), parameter_at(two, 0, "value"), 1e-12);
}

/* A row without any cell is left out where that is asked for, and refused in words otherwise. */
TEST(a_row_without_cells)
{
    const char *text = "x,y\n1,2\n,\n8,9\n1,3\n8,8\n";
    json_t     *d = fit_text(cx, text, "k=2 missing=drop");
    cr_model   *m = NULL;
    assert_relative(number_of(d, "rows"), 4, 0);
    assert_relative(statistic(d, "size(1)") + statistic(d, "size(2)"), 4, 0);
    cr_status st = try_fit(cx, "kmeans", table_of_text(cx, "few.csv", text), "k=2", &m);
    assert_fails_with(cx, st, CR_EDATA, "has no value");
    st = try_fit(cx, "kmeans", table_of_text(cx, "none.csv", "x,y\n,\n,\n"), "missing=drop", &m);
    assert_true(st != CR_OK && strlen(cr_error(cx)) > 20);
}

/* More clusters than different rows, far from 0: each is a cluster, and nothing is left. */
TEST(few_rows_far_away)
{
    json_t *d = fit_text(cx, "x\n1000000001\n1000000002\n1000000001\n1000000004\n", "k=2:6");
    assert_true(statistic(d, "k") <= 3);
    d = fit_text(cx, "x\n1000000001\n1000000002\n1000000001\n1000000004\n", "k=5 scores=true");
    assert_int_equal((size_t)statistic(d, "k"), 3);
    assert_close(statistic(d, "inertia"), 0, 1e-9);
    assert_relative(parameter_at(d, 0, "value"), 1000000001, 1e-15);
}

/* Noise: a start takes no more passes over the rows for swaps that lose at first than it may. */
TEST(noise_takes_few_passes)
{
    enum { ROWS = 3000, COLUMNS = 12, K = 8 };
    double         *X = malloc(ROWS * COLUMNS * sizeof *X), *w = malloc(ROWS * sizeof *w);
    double         *norm = calloc(ROWS, sizeof *norm), shift[COLUMNS] = { 0 };
    cr_rng          r = cr_rng_stream(17, 0);
    cri_kmeans_work work = { 0 };
    cri_clock       clock = cri_clock_start(cx, NAN);
    cri_kmeans_rows d = { .n = ROWS, .p = COLUMNS, .X = X, .w = w, .norm = norm, .shift = shift };
    cri_kmeans_settings s = { .restarts = 1, .polish = true, .limits = { 0, 1000, &clock, 0 } };
    draw_normals(&r, X, ROWS * COLUMNS);
    for (size_t i = 0; i < ROWS; i++) {
        w[i] = 1;
        d.weight += 1;
        for (size_t j = 0; j < COLUMNS; j++) norm[i] += pow(X[i * COLUMNS + j], 2);
        d.total += norm[i];
    }
    assert_ok(cx, cri_kmeans_work_open(cx, &d, K, &work));
    assert_ok(cx, cri_kmeans_run(cx, &work, &s, &r));
    if (work.passes > 250) fail_msg("%zu passes", work.passes);
    assert_true(work.passes >= work.iterations);
    cri_kmeans_work_close(cx, &work);
    free(X), free(w), free(norm);
}

/* The number of clusters at an end of its range is said; inside, or where it was given, nothing is. */
TEST(number_at_an_end_of_its_range)
{
    enum { ROWS = 90 };
    static const struct {
        const char *settings, *says;
    } kinds[] = { { "k=2:6", NULL },
                  { "k=3", NULL },
                  { "k=2:3", "--k 2:6 tries more" },
                  { "k=3:6", "--k 2:6 tries less" } };
    double      X[ROWS * 2];
    cr_rng      r = cr_rng_stream(3, 1);
    warnings    heard;
    const char *said;
    for (size_t i = 0; i < ROWS; i++) { /* three clusters */
        X[2 * i] = (double)(i % 3) * 20 + cr_rng_normal(&r);
        X[2 * i + 1] = (double)(i % 3 == 1) * 20 + cr_rng_normal(&r);
    }
    cr_table *three = make_table(cx, X, ROWS, 2, NULL, NULL);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        said = fit_and_hear(cx, "kmeans", three, kinds[k].settings, &heard);
        if (kinds[k].says ? !strstr(said, kinds[k].says) : heard.n > 0)
            fail_msg("%s: %s", kinds[k].settings, said);
    }
}
