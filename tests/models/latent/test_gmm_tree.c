/* test_gmm_tree.c -- hierarchical clusters against merging the closest pair each time, and mixtures as vectors. */
#include "gmm_fixture.h"
#include "models/latent/gmm_tree.h"

enum { ROWS = 40, COLUMNS = 2 };

/* Rows in the order of their values in t, each of some weight; every fifth is like the one before it. */
static cri_gmm_rows draw_rows(uint64_t seed, double *T, double *w)
{
    cr_rng r = cr_rng_stream(seed, 1);
    for (size_t i = 0; i < ROWS; i++) {
        w[i] = (double)(1 + cr_rng_below(&r, 3));
        for (size_t j = 0; j < COLUMNS; j++) {
            T[i * COLUMNS + j] = cr_rng_normal(&r) + (i % 3 == j ? 3 : 0);
            if (i % 5 == 4) T[i * COLUMNS + j] = T[(i - 1) * COLUMNS + j];
        }
    }
    return (cri_gmm_rows){ .n = ROWS, .d = COLUMNS, .T = T, .w = w };
}

/* Whether two divisions put the same rows together. */
static bool are_same(const size_t *a, const size_t *b)
{
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < i; j++)
            if ((a[i] == a[j]) != (b[i] == b[j])) return false;
    return true;
}

/* The sum of squared distances of the rows of one cluster, or of two, to their centre; NaN without rows. */
static double inertia(const double *Y, const double *w, const size_t *label, size_t a, size_t b)
{
    double mean[COLUMNS] = { 0 }, sum = 0, weight = 0;
    for (size_t i = 0; i < ROWS; i++) {
        if (label[i] != a && label[i] != b) continue;
        weight += w[i];
        for (size_t j = 0; j < COLUMNS; j++) mean[j] += w[i] * Y[i * COLUMNS + j];
    }
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < COLUMNS && (label[i] == a || label[i] == b); j++)
            sum += w[i] * pow(Y[i * COLUMNS + j] - mean[j] / weight, 2);
    return weight > 0 ? sum : NAN;
}

/* Ward's clusters are those of merging, each time, the two clusters that raise the inertia least. */
TEST(ward)
{
    for (uint64_t seed = 0; seed < 6; seed++) {
        double T[ROWS * COLUMNS], w[ROWS], Y[ROWS * COLUMNS], C[COLUMNS * COLUMNS],
            L[COLUMNS * COLUMNS];
        cri_gmm_rows  rows = draw_rows(seed, T, w);
        cri_gmm_tree *t = NULL;
        size_t        label[ROWS], cut[ROWS], root[ROWS], left;
        assert_ok(cx, cri_gmm_tree_new(cx, &rows, &t));
        assert_int_equal(t->leaves, ROWS - ROWS / 5);
        for (size_t by = CRI_GMM_WARD; by <= CRI_GMM_WARD_WHITENED; by++) {
            cri_gmm_spread_rows(&rows, by == CRI_GMM_WARD_WHITENED, C, L, Y);
            memcpy(label, t->leaf, sizeof label);
            for (left = t->leaves; left > 0; left--) {
                double least = INFINITY;
                size_t one = 0, other = 0;
                cri_gmm_tree_cut(t, by, left, root, cut);
                assert_true(are_same(label, cut));
                for (size_t i = 0; i < ROWS; i++) assert_true(cut[i] < left);
                for (size_t a = 0; a < t->leaves; a++)
                    for (size_t b = 0; b < a; b++) {
                        double with = inertia(Y, w, label, a, b);
                        double gain =
                            with - inertia(Y, w, label, a, a) - inertia(Y, w, label, b, b);
                        if (!isnan(gain) && gain < least) least = gain, one = a, other = b;
                    }
                for (size_t i = 0; i < ROWS; i++)
                    if (label[i] == one) label[i] = other;
            }
        }
        cri_gmm_tree_free(cx, t);
    }
}

/* Clusters that lie across each other, one long and one round, are told apart by likelihood. */
TEST(likelihood)
{
    enum { MANY = 400 };
    double        T[MANY * 2], w[MANY];
    size_t        label[MANY], root[MANY], wrong = 0;
    cr_rng        r = cr_rng_stream(3, 3);
    cri_gmm_rows  rows = { .n = MANY, .d = 2, .T = T, .w = w };
    cri_gmm_tree *t = NULL;
    for (size_t i = 0; i < MANY; i++) {
        double x = cr_rng_normal(&r), y = cr_rng_normal(&r);
        w[i] = 1;
        T[i * 2] = i % 2 ? 4 * x : 0.3 * x;
        T[i * 2 + 1] = i % 2 ? 0.1 * y : 1.5 + 0.3 * y;
    }
    assert_ok(cx, cri_gmm_tree_new(cx, &rows, &t));
    cri_gmm_tree_cut(t, CRI_GMM_LIKELIHOOD, 2, root, label);
    for (size_t i = 0; i < MANY; i++) wrong += label[i] != label[i % 2];
    assert_true(wrong < MANY / 20);
    cri_gmm_tree_cut(t, CRI_GMM_WARD_WHITENED, 2, root, label);
    wrong = 0;
    for (size_t i = 0; i < MANY; i++) wrong += label[i] != label[i % 2];
    assert_true(wrong > MANY / 20);
    cri_gmm_tree_free(cx, t);
}

/* Rows that are repeated are one row that weighs more; one row, and rows that are all alike, are one leaf. */
TEST(few_leaves)
{
    double        T[] = { 1, 2, 1, 2, NAN, 3, NAN, 3, 1, 2 }, w[] = { 1, 1, 2, 1, 1 };
    size_t        label[5], root[5];
    cri_gmm_tree *t = NULL;
    for (size_t n = 1; n <= 5; n++) {
        cri_gmm_rows rows = { .n = n, .d = 2, .T = T, .w = w };
        assert_ok(cx, cri_gmm_tree_new(cx, &rows, &t));
        assert_int_equal(t->leaves, n < 3 ? 1 : n < 5 ? 2 : 3);
        for (size_t by = 0; by < CRI_GMM_MERGINGS; by++)
            for (size_t k = 1; k <= 4; k++) {
                cri_gmm_tree_cut(t, by, k, root, label);
                for (size_t i = 0; i < n; i++) assert_true(label[i] < k && label[i] < t->leaves);
                if (n > 1) assert_int_equal(label[0], label[1]);
            }
        cri_gmm_tree_free(cx, t);
    }
}

/* --- vectors ---------------------------------------------------------------------------------- */

/* A state is that of its vector; and extrapolated between two states of a form it has the form: the covariances that
 * are best for its own, in the form, are its own. */
TEST(vectors)
{
    double X[N * D];
    draw(3, 2, X);
    cr_table *t = make_table(cx, X, N, D, NULL, NULL);
    for (int form = 0; form <= CRI_GMM_N_FORMS; form++) {
        char settings[128];
        bool vb = form == CRI_GMM_N_FORMS, valid = false;
        snprintf(settings, sizeof settings, "k=3 restarts=1 max_iter=3 %s%s",
                 vb ? "infer=vb" : "covariance=", vb ? "" : cri_gmm_form_name(form));
        cr_model *a = fit(cx, "gmm", t, settings);
        cri_gmm  *m = a->state;
        size_t    n = cri_gmm_dimension(m), size = D * m->width;
        bool      plain = form == CRI_GMM_EVE || form == CRI_GMM_VVE || form == CRI_GMM_EEV ||
                     form == CRI_GMM_VEV;
        assert_int_equal(n == 0, plain);
        if (plain) continue;
        double *v = malloc(n * sizeof *v), *u = malloc(n * sizeof *u), L[3 * D * D], C[3 * D * D],
               W[3 * D * D];
        cri_gmm_to_vector(m, v);
        memcpy(L, m->L, 3 * size * sizeof *L);
        assert_ok(cx, cri_gmm_from_vector(cx, v, m, &valid));
        assert_true(valid);
        for (size_t i = 0; i < 3 * size; i++) assert_close(m->L[i], L[i], 1e-7);
        cri_gmm_to_vector(m, u);
        for (size_t i = 0; i < n; i++) assert_close(u[i], v[i], 1e-6);
        snprintf(settings + strlen(settings), 64, " seed=5 max_iter=9 features=x1,x3,x2");
        cri_gmm_to_vector(fit(cx, "gmm", t, settings)->state, u);
        for (size_t i = 0; i < n; i++) u[i] = v[i] + 0.4 * (u[i] - v[i]);
        assert_ok(cx, cri_gmm_from_vector(cx, u, m, &valid));
        assert_true(valid);
        double shares = m->share[0] + m->share[1] + m->share[2];
        assert_close(shares, 1, 1e-12);
        for (size_t c = 0; c < 3; c++) {
            double S[D * D];
            cri_gmm_covariance(m, c, S);
            for (size_t i = 0; i < size; i++)
                W[c * size + i] = m->share[c] * S[m->width > 1 ? i : i * (D + 1)];
        }
        assert_ok(cx, cri_gmm_covariances(cx, m, W, m->share, C));
        for (size_t i = 0; i < 3 * size; i++) {
            double own = W[i] / m->share[i / size];
            assert_close(C[i], own, 1e-5 * (1 + fabs(own)));
        }
        u[0] = 800; /* the others have nothing left */
        assert_ok(cx, cri_gmm_from_vector(cx, u, m, &valid));
        assert_int_equal(valid, vb);
        u[0] = NAN;
        assert_ok(cx, cri_gmm_from_vector(cx, u, m, &valid));
        assert_false(valid);
        free(v), free(u);
    }
}
