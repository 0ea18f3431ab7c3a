/* test_pca_wide.c -- the three roads to principal components against a singular value decomposition by LAPACK of the
 * centred, scaled and weighted rows: few rows, sparse rows, flat spectra, and what is said where only some eigenvalues
 * are known. */
#include "../fixture.h"
#include "../life.h"
#include "../../data/sparse_fixture.h"

#include "base/context_internal.h"
#include "math/dense/decompose.h"
#include "models/core/parts.h"
#include "models/latent/components.h"
#include "models/latent/spread.h"

static const char *const solvers[] = { "moments", "dual", "krylov" };

/* What a decomposition of the rows themselves says. */
typedef struct truth {
    size_t  k;
    double *lambda, *V, total; /* [k], [p x k] in columns */
    double *Z;                 /* [n x p] */
} truth;

static truth decompose_rows(cr_ctx *cx, const sparse_data *d, bool standardise, bool weighted)
{
    size_t  n = d->n, p = d->p, k = n < p ? n : p;
    truth   t = { .k = k };
    double *U = calloc(n * k, sizeof *U), weight = 0;
    t.lambda = calloc(k, sizeof(double)), t.V = calloc(p * k, sizeof(double));
    t.Z = calloc(n * p, sizeof(double));
    for (size_t i = 0; i < n; i++) weight += weighted ? d->w[i] : 1;
    for (size_t j = 0; j < p; j++) {
        double mean = 0, square = 0;
        for (size_t i = 0; i < n; i++) mean += (weighted ? d->w[i] : 1) * d->X[i * p + j] / weight;
        for (size_t i = 0; i < n; i++) {
            double e = d->X[i * p + j] - mean;
            square += (weighted ? d->w[i] : 1) * e * e;
        }
        double scale = standardise && square > 0 ? sqrt(square / weight) : 1;
        for (size_t i = 0; i < n; i++)
            t.Z[i * p + j] =
                sqrt((weighted ? d->w[i] : 1) / (weight - 1)) * (d->X[i * p + j] - mean) / scale;
    }
    assert_ok(
        cx, cr_svd(cx, cr_cmat_of(t.Z, n, p), cr_mat_of(U, n, k), t.lambda, cr_mat_of(t.V, p, k)));
    for (size_t j = 0; j < k; j++) t.total += t.lambda[j] *= t.lambda[j];
    free(U);
    return t;
}

static void free_truth(truth *t) { free(t->lambda), free(t->V), free(t->Z); }

/* Eigenvalues to 1e-8, loadings where the gaps to the neighbours allow it, total, coordinates. */
static void compare(cr_ctx *cx, const cr_model *m, const cr_table *t, const truth *expected,
                    size_t p, double near)
{
    json_t       *d = describe(cx, m), *list = json_object_get(d, "parameters");
    size_t        q = (size_t)statistic(d, "components");
    cr_prediction z = predict(cx, m, t);
    assert_relative(statistic(d, "total"), expected->total, 1e-10);
    assert_int_equal(json_array_size(list), q * p);
    for (size_t j = 0; j < q; j++) {
        char   name[48];
        double l = expected->lambda[j], gap = l, square = 0, largest = 0;
        if (j > 0) gap = fmin(gap, expected->lambda[j - 1] - l);
        if (j + 1 < expected->k) gap = fmin(gap, l - expected->lambda[j + 1]);
        snprintf(name, sizeof name, "eigenvalue(z%zu)", j + 1);
        assert_relative(statistic(d, name), l, 1e-8);
        for (size_t i = 0; i < p; i++) {
            double v = number_of(json_array_get(list, j * p + i), "value");
            if (gap > 1e-3 * l) assert_close(v, expected->V[i * expected->k + j], near * l / gap);
            square += v * v;
            if (fabs(v) > fabs(largest) * (1 + 1e-6)) largest = v;
        }
        assert_relative(square, 1, 1e-10);
        assert_true(largest > 0);
    }
    assert_int_equal(z.n_classes, q);
}

static void try_roads(cr_ctx *cx, size_t n, size_t p, double density, bool weighted)
{
    sparse_data d = draw_sparse(n + p, n, p, density);
    for (int standardise = 0; standardise < 2; standardise++) {
        truth expected = decompose_rows(cx, &d, standardise, weighted);
        for (int sparse = 0; sparse < 2; sparse++) {
            cr_table *t = table_of(cx, &d, sparse);
            for (int solver = 0; solver < 3; solver++) {
                char settings[256];
                snprintf(settings, sizeof settings, "features=x* scale=%s components=5 solver=%s%s",
                         standardise ? "standard" : "none", solvers[solver],
                         weighted ? " weights=w" : "");
                cr_model *m = fit(cx, "pca", t, settings);
                compare(cx, m, t, &expected, p, 1e-7);
            }
            cr_table_free(cx, t);
        }
        free_truth(&expected);
    }
    free_sparse(&d);
}

TEST(more_columns_than_rows) { try_roads(cx, 40, 150, 0.3, false); }
TEST(more_rows_than_columns) { try_roads(cx, 300, 60, 0.1, false); }
TEST(weights) { try_roads(cx, 60, 90, 0.2, true); }
TEST(hardly_any_entries) { try_roads(cx, 500, 700, 0.01, false); }

/* --- what each road says of the same rows ----------------------------------------------------- */

/* The same rows by two roads: all that is described agrees, sds too where both know them. */
static void compare_roads(cr_ctx *cx, const cr_table *t, const char *settings, const char *one,
                          const char *other, double tolerance)
{
    char first[256], second[256];
    snprintf(first, sizeof first, "%s solver=%s", settings, one);
    snprintf(second, sizeof second, "%s solver=%s", settings, other);
    cr_model   *by_one = fit(cx, "pca", t, first), *by_other = fit(cx, "pca", t, second);
    json_t     *a = describe(cx, by_one), *b = describe(cx, by_other), *value;
    json_t     *list = json_object_get(a, "parameters");
    const char *key;
    check_solver(cx, by_one, one);
    check_solver(cx, by_other, other);
    json_object_foreach(json_object_get(a, "statistics"), key, value)
    {
        json_t *same = json_object_get(json_object_get(b, "statistics"), key);
        if (json_is_number(value) && same)
            assert_relative(json_number_value(value), json_number_value(same), tolerance);
        else if (!same)
            assert_true(strncmp(key, "eigenvalue_sd", 13) == 0 && strcmp(other, "krylov") == 0);
    }
    assert_int_equal(json_array_size(list), json_array_size(json_object_get(b, "parameters")));
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *x = json_array_get(list, i);
        json_t *y = json_array_get(json_object_get(b, "parameters"), i);
        assert_close(number_of(x, "value"), number_of(y, "value"), 1e3 * tolerance);
        if (strcmp(other, "krylov") == 0)
            assert_true(json_is_null(json_object_get(y, "sd")));
        else
            assert_close(number_of(x, "sd"), number_of(y, "sd"), 1e3 * tolerance);
    }
}

/* Numbers of components by share and by evidence, sds of both kinds. */
TEST(the_same_by_each_road)
{
    sparse_data d = draw_sparse(77, 60, 45, 0.4), wide = draw_sparse(78, 25, 70, 0.5);
    cr_table   *t = table_of(cx, &d, true), *u = table_of(cx, &wide, false);
    for (size_t j = 7; j < d.p; j += 13) /* constant columns are 0 in all rows */
        for (size_t i = 0; i < d.n; i++) assert_true(d.X[i * d.p + j] == 0);
    for (int scale = 0; scale < 2; scale++) {
        static const char *const numbers[] = { "3", "0.7", "auto", "all" };
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
            char settings[128];
            snprintf(settings, sizeof settings, "features=x* components=%s scale=%s", numbers[i],
                     scale ? "standard" : "none");
            bool all = strstr(settings, "=all") != NULL;
            compare_roads(cx, t, settings, "moments", "dual", all ? 1e-6 : 1e-9);
            compare_roads(cx, u, settings, "moments", "dual", all ? 1e-6 : 1e-9);
            if (i < 2) compare_roads(cx, t, settings, "moments", "krylov", 1e-8);
            if (!all) compare_roads(cx, u, settings, "dual", "krylov", 1e-8);
        }
    }
    cr_table_free(cx, t), cr_table_free(cx, u);
    free_sparse(&d), free_sparse(&wide);
}

/* More rows than columns of them stay in the cache: measured in blocks of rows, by weight too. */
TEST(many_rows)
{
    sparse_data d = draw_sparse(79, 5000, 12, 0.6);
    for (int sparse = 0; sparse < 2; sparse++) {
        cr_table *t = table_of(cx, &d, sparse);
        compare_roads(cx, t, "features=x* components=3 scale=none", "moments", "krylov", 1e-8);
        compare_roads(cx, t, "features=x* components=3 weights=w", "moments", "krylov", 1e-8);
        cr_table_free(cx, t);
    }
    free_sparse(&d);
}

/* Twelve levels of ten rows each as indicators: one eigenvalue eleven times, more often than a block of sparse rows
 * has vectors, and two columns of less variance behind it. */
TEST(equal_directions_of_sparse_rows)
{
    enum { LEVELS = 12, N = 120, P = LEVELS + 2 };
    sparse_data d = draw_sparse(80, N, P, 0.5);
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < LEVELS; j++) d.X[i * P + j] = i % LEVELS == j;
        d.X[i * P + LEVELS] = i % 40 == 0 ? 1 : 0;
        d.X[i * P + LEVELS + 1] = i % 60 == 7 ? 1 : 0;
    }
    free(d.column), free(d.value);
    d.column = calloc(N * P, sizeof *d.column), d.value = calloc(N * P, sizeof *d.value);
    compress(&d);
    cr_table *t = table_of(cx, &d, true);
    truth     expected = decompose_rows(cx, &d, false, false);
    assert_relative(expected.lambda[2], expected.lambda[9], 1e-9);
    assert_true(expected.lambda[LEVELS] < 0.5 * expected.lambda[9]);
    for (size_t components = 11; components <= 13; components++) {
        char settings[128];
        snprintf(settings, sizeof settings, "features=x* scale=none solver=krylov components=%zu",
                 components);
        json_t *s = describe(cx, fit(cx, "pca", t, settings));
        for (size_t j = 0; j < components; j++) {
            char name[48];
            snprintf(name, sizeof name, "eigenvalue(z%zu)", j + 1);
            assert_relative(statistic(s, name), expected.lambda[j], 1e-8);
        }
    }
    free_truth(&expected);
    cr_table_free(cx, t);
    free_sparse(&d);
}

/* sds of the eigenvalues of correlations without their matrix, from the vectors alone: as with it, and by the formula. */
TEST(sds_without_the_matrix)
{
    enum { P = 9, N = 7, Q = 3 };
    double Z[N * P], R[P * P] = { 0 }, lambda[P], V[P * P], with[Q], without[Q], vectors[Q * P];
    size_t rank;
    cr_rng r = cr_rng_stream(6, 6);
    draw_normals(&r, Z, N * P);
    for (size_t j = 0; j < P; j++) {
        double mean = 0, square = 0;
        for (size_t i = 0; i < N; i++) mean += Z[i * P + j] / N;
        for (size_t i = 0; i < N; i++) square += pow(Z[i * P + j] -= mean, 2);
        for (size_t i = 0; i < N; i++) Z[i * P + j] /= sqrt(square);
    }
    for (size_t i = 0; i < N * P * P; i++)
        R[i % (P * P)] += Z[i / (P * P) * P + i / P % P] * Z[i / (P * P) * P + i % P];
    assert_ok(cx, cri_directions(cx, R, P, lambda, V, &rank));
    assert_int_equal(rank, N - 1);
    cri_decomposed of = { R, V, lambda, P, rank, true, 100, NULL };
    assert_ok(cx, cri_spread(cx, &of, Q, CRI_SPREAD_VECTORS, with, vectors));
    of.opt_C = NULL;
    assert_ok(cx, cri_spread(cx, &of, Q, CRI_SPREAD_VALUES, without, NULL));
    for (size_t j = 0; j < Q; j++) {
        double l = lambda[j], variance = l * l;
        for (size_t i = 0; i < P; i++) {
            double u = V[j * P + i] * V[j * P + i];
            variance -= 2 * l * l * l * u * u;
            for (size_t k = 0; k < P; k++)
                variance += l * l * u * V[j * P + k] * V[j * P + k] * R[i * P + k] * R[i * P + k];
        }
        assert_relative(with[j], sqrt(2 * variance / 99), 1e-10);
        assert_relative(without[j], with[j], 1e-10);
    }
    /* without C, so many columns have the sds of the eigenvalues alone, and more none at all */
    assert_int_equal(cri_spread_affordable(3000, 29, 5, true, false), CRI_SPREAD_VALUES);
    assert_int_equal(cri_spread_affordable(100000, 2000, 5, true, false), CRI_SPREAD_NOTHING);
    assert_int_equal(cri_spread_affordable(100000, 2000, 5, false, false), CRI_SPREAD_VECTORS);
}

/* By the size of the data: columns up to 500, or as many as rows, from the moments; fewer rows in the dual. */
TEST(auto_chooses)
{
    double *X = malloc(600 * 600 * sizeof *X);
    cr_rng  r = cr_rng_stream(3, 3);
    draw_normals(&r, X, 600 * 600);
    static const struct {
        size_t      n, p;
        const char *solver;
    } sizes[] = { { 20, 500, "moments" }, { 20, 501, "dual" }, { 600, 600, "moments" } };
    for (size_t i = 0; i < 3; i++) {
        cr_table *t = make_table(cx, X, sizes[i].n, sizes[i].p, NULL, NULL);
        check_solver(cx, fit(cx, "pca", t, "components=2 scale=none"), sizes[i].solver);
    }
    free(X);
}

/* --- answers ---------------------------------------------------------------------------------- */

/* Sparse rows have the coordinates of the same rows filled in, and lead back to the same rows. */
TEST(coordinates_of_sparse_rows)
{
    sparse_data   d = draw_sparse(5, 80, 40, 0.2);
    cr_table     *sparse = table_of(cx, &d, true), *dense = table_of(cx, &d, false);
    cr_model     *m = fit(cx, "pca", sparse, "features=x* components=11 solver=krylov");
    cr_model     *all = fit(cx, "pca", sparse, "features=x* components=all");
    cr_prediction a = predict(cx, m, sparse), b = predict(cx, m, dense),
                  z = predict(cx, all, sparse);
    double *back = malloc(d.n * d.p * sizeof *back), *distance = malloc(d.n * sizeof *back);
    for (size_t i = 0; i < d.n * 11; i++) assert_close(a.vector[i], b.vector[i], 1e-12);
    assert_int_equal(cr_model_reconstructs(all), d.p);
    assert_string_equal(cr_model_reconstruct_name(all, d.p - 1), "x40");
    assert_ok(cx, cr_reconstruct(cx, all, z.vector, d.n, back, distance));
    for (size_t i = 0; i < d.n * d.p; i++) assert_close(back[i], d.X[i], 1e-9);
    free(back), free(distance);
    cr_table_free(cx, sparse), cr_table_free(cx, dense);
    free_sparse(&d);
}

/* A column without any 0 that is 1e9 away from it, beside sparse ones. */
TEST(far_from_zero)
{
    sparse_data d = draw_sparse(9, 90, 30, 0.3);
    cr_rng      r = cr_rng_stream(1, 2);
    for (size_t i = 0; i < d.n; i++) d.X[i * d.p + 4] = 1e9 + 20 * cr_rng_normal(&r);
    free(d.column), free(d.value);
    d.column = calloc(d.n * d.p, sizeof *d.column), d.value = calloc(d.n * d.p, sizeof *d.value);
    compress(&d);
    cr_table *t = table_of(cx, &d, true), *dense = table_of(cx, &d, false);
    truth     expected = decompose_rows(cx, &d, true, false);
    for (int solver = 0; solver < 3; solver++) {
        char settings[128];
        snprintf(settings, sizeof settings, "features=x* components=4 solver=%s", solvers[solver]);
        cr_model *m = fit(cx, "pca", t, settings);
        json_t   *s = describe(cx, m);
        for (size_t j = 0; j < 4; j++) {
            char name[48];
            snprintf(name, sizeof name, "eigenvalue(z%zu)", j + 1);
            assert_relative(statistic(s, name), expected.lambda[j], 1e-7);
        }
        cr_prediction a = predict(cx, m, t), b = predict(cx, m, dense);
        for (size_t i = 0; i < 4 * d.n; i++) assert_close(a.vector[i], b.vector[i], 1e-9);
    }
    free_truth(&expected);
    cr_table_free(cx, t), cr_table_free(cx, dense);
    free_sparse(&d);
}

/* --- corners and limits ----------------------------------------------------------------------- */

/* One row, rows that are all alike, a constant column and a copy: by each road. */
TEST(corners)
{
    enum { N = 30, P = 6 };
    double X[N * P], same[4 * P];
    cr_rng r = cr_rng_stream(4, 4);
    draw_normals(&r, X, N * P);
    for (size_t i = 0; i < N; i++) X[i * P + 1] = 7, X[i * P + 2] = X[i * P];
    for (size_t i = 0; i < 4 * P; i++) same[i] = 2;
    for (int solver = 0; solver < 3; solver++) {
        char settings[128];
        snprintf(settings, sizeof settings, "components=all solver=%s", solvers[solver]);
        json_t *d = describe(cx, fit(cx, "pca", make_table(cx, X, N, P, NULL, NULL), settings));
        assert_relative(statistic(d, "components"), P - 2, 0);
        assert_relative(statistic(d, "explained"), 1, 1e-12);
        for (size_t n = 1; n <= 4; n += 3) {
            cr_table     *t = make_table(cx, same, n, P, NULL, NULL);
            cr_prediction z = predict(cx, fit(cx, "pca", t, settings), t);
            assert_int_equal(z.n_classes, 1);
            for (size_t i = 0; i < n; i++) assert_true(z.vector[i] == 0);
        }
    }
}

/* Any number of threads gives the same bits, of sparse rows and of filled panels. */
TEST(threads)
{
    sparse_data d = draw_sparse(21, 1500, 900, 0.02);
    for (int sparse = 0; sparse < 2; sparse++) {
        cr_table     *t = table_of(cx, &d, sparse);
        cr_prediction z[2];
        for (size_t k = 0; k < 2; k++) {
            cr_ctx_set_threads(cx, k ? 3 : 1);
            z[k] = predict(cx, fit(cx, "pca", t, "features=x* components=3 solver=krylov tol=1e-4"),
                           t);
        }
        assert_memory_equal(z[0].vector, z[1].vector, 3 * d.n * sizeof(double));
        cr_table_free(cx, t);
    }
    free_sparse(&d);
}

/* Products that are too few, a clock that runs out: the best so far, and it says so. */
TEST(limits)
{
    sparse_data d = draw_sparse(33, 400, 300, 0.05);
    cr_table   *t = table_of(cx, &d, true);
    cr_model   *m = fit(cx, "pca", t, "features=x* components=3 solver=krylov max_iter=2"), *late;
    assert_int_equal(cr_model_get_report(m)->stop, CR_STOP_LIMIT);
    assert_int_equal(cr_model_get_report(m)->iterations, 2);
    assert_true(statistic(describe(cx, m), "residual") > 1e-8);
    cri_ctx_run_out_at(cx, 4);
    late = fit(cx, "pca", t, "features=x* components=3 solver=krylov");
    cri_ctx_run_out_at(cx, 0);
    assert_int_equal(cr_model_get_report(late)->stop, CR_STOP_TIME);
    m = fit(cx, "pca", t, "features=x* components=3 solver=krylov");
    assert_int_equal(cr_model_get_report(m)->stop, CR_STOP_TOLERANCE);
    assert_true(statistic(describe(cx, m), "residual") <= 1e-8);
    assert_true(statistic(describe(cx, late), "eigenvalue(z1)") <=
                statistic(describe(cx, m), "eigenvalue(z1)") * (1 + 1e-12));
    cr_model *updated = NULL;
    assert_fails_with(cx, cr_update(cx, m, t, &updated), CR_EUNSUPPORTED, "no exact update");
    cr_table_free(cx, t);
    free_sparse(&d);
}

/* --- a part of the spectrum ------------------------------------------------------------------- */

/* The evidence by its definition, term by term: Minka (2001), eq. (30). */
static double evidence_by_definition(const cri_spectrum_of *of, size_t q)
{
    size_t        p = of->rank;
    const double *v = of->variance;
    double        sum = -(double)q * log(2), rest = 0, curvature = 0;
    double        angles = (double)q * ((double)p - 0.5 * (double)(q + 1));
    for (size_t j = q; j < p; j++) rest += v[j] / (double)(p - q);
    for (size_t i = 0; i < q; i++) {
        sum += lgamma(0.5 * (double)(p - i)) - 0.5 * (double)(p - i) * log(M_PI) -
               0.5 * of->n * log(v[i]);
        for (size_t j = i + 1; j < p; j++)
            curvature += log(1 / (j < q ? v[j] : rest) - 1 / v[i]) + log(v[i] - v[j]) + log(of->n);
    }
    return sum - 0.5 * of->n * (double)(p - q) * log(rest) +
           0.5 * (angles + (double)q) * log(2 * M_PI) - 0.5 * curvature -
           0.5 * (double)q * log(of->n);
}

/* Of a spectrum that falls geometrically behind the first, a part says all; of another, nearly. */
TEST(evidence_of_a_part)
{
    double          v[40];
    cri_spectrum_of all = { v, 40, 40, 300, 0 }, part = { v, 12, 40, 300, 0 };
    for (int kind = 0; kind < 2; kind++) {
        part.rest = 0;
        for (size_t j = 0; j < 40; j++) {
            double fall = 0.02 * (double)j;
            v[j] = (j < 5 ? 10 : 1) * (kind ? 1 - fall + 0.2 * fall * fall : exp(-fall));
            if (j >= 12) part.rest += v[j];
        }
        for (size_t q = 1; q < 13; q++) {
            double e = cri_components_evidence(&all, q);
            assert_relative(e, evidence_by_definition(&all, q), 1e-10);
            assert_close(cri_components_evidence(&part, q), e, kind ? 0.5 : 1e-9);
        }
        assert_relative(cri_components_evidence(&all, 39), evidence_by_definition(&all, 39), 1e-10);
        assert_int_equal(cri_components_choose(cx, "pca", "auto", &part), 5);
        assert_int_equal(cri_components_choose(cx, "pca", "auto", &all), 5);
    }
    assert_true(cri_components_decided("auto", &part) && !cri_components_decided("0.99", &part));
    assert_true(cri_components_decided("12", &part) && !cri_components_decided("13", &part));
}

/* Three directions in noise, found by 32 of 120 eigenvalues; and the first 64 by a share that 32 do not explain. */
TEST(numbers_from_a_part)
{
    enum { N = 300, P = 120 };
    double *X = malloc(N * P * sizeof *X), w[3][P];
    cr_rng  r = cr_rng_stream(8, 8);
    draw_normals(&r, &w[0][0], 3 * P);
    for (size_t i = 0; i < N; i++) {
        double a[3] = { 2 * cr_rng_normal(&r), cr_rng_normal(&r), 0.7 * cr_rng_normal(&r) };
        for (size_t j = 0; j < P; j++)
            X[i * P + j] = a[0] * w[0][j] + a[1] * w[1][j] + a[2] * w[2][j] + cr_rng_normal(&r);
    }
    cr_table *t = make_table(cx, X, N, P, NULL, NULL);
    for (int solver = 0; solver < 3; solver++) {
        char settings[128];
        snprintf(settings, sizeof settings, "scale=none solver=%s", solvers[solver]);
        assert_relative(statistic(describe(cx, fit(cx, "pca", t, settings)), "components"), 3, 0);
    }
    json_t *a = describe(cx, fit(cx, "pca", t, "scale=none components=0.95 solver=moments"));
    json_t *b = describe(cx, fit(cx, "pca", t, "scale=none components=0.95 solver=krylov"));
    assert_true(statistic(a, "components") > 32);
    assert_relative(statistic(a, "components"), statistic(b, "components"), 0);
    free(X);
}

/* --- memory ----------------------------------------------------------------------------------- */

TEST(allocations)
{
    sparse_data d = draw_sparse(41, 30, 40, 0.2);
    cr_table   *sparse = table_of(cx, &d, true), *dense = table_of(cx, &d, false);
    check_every_allocation(sparse, "pca", "features=x* components=2 solver=krylov");
    check_every_allocation(dense, "pca", "features=x* components=0.5 solver=krylov");
    check_every_allocation(sparse, "pca", "features=x* components=2 solver=dual");
    check_every_allocation(dense, "pca", "features=x* components=2 solver=dual");
    cr_table_free(cx, sparse), cr_table_free(cx, dense);
    free_sparse(&d);
}
