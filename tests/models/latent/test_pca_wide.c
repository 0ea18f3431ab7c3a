/* test_pca_wide.c -- the three roads to principal components against a singular value decomposition by LAPACK of the
 * centred, scaled and weighted rows: few rows, sparse rows, flat spectra, and what is said where only some eigenvalues
 * are known. */
#include "../fixture.h"
#include "../life.h"
#include "../../data/sparse_fixture.h"

#include "math/dense/decompose.h"
#include "math/sparse/lanczos.h"
#include "models/latent/components.h"

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
            t.Z[i * p + j] = sqrt((weighted ? d->w[i] : 1) / (weight - 1)) *
                             (d->X[i * p + j] - mean) / scale;
    }
    assert_ok(cx, cr_svd(cx, cr_cmat_of(t.Z, n, p), cr_mat_of(U, n, k), t.lambda,
                         cr_mat_of(t.V, p, k)));
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
                static const char *const names[] = { "moments", "dual", "krylov" };
                char settings[256];
                snprintf(settings, sizeof settings, "features=x* scale=%s components=5 solver=%s%s",
                         standardise ? "standard" : "none", names[solver],
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
