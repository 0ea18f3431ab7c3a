/* test_gmm_forms.c -- the fourteen forms of covariances: mclust's table of BIC, what is equal in each, the best of each. */
#include "gmm_fixture.h"

/* mclust's table of BIC for iris: all forms with one to five components, reached or improved. */
TEST(forms_of_mclust)
{
    json_t *cases = reference_cases(cx, "gmm"), *item, *row, *table = NULL;
    size_t  i, compared = 0;
    json_array_foreach(cases, i, item)
    {
        json_t *expected = json_object_get(item, "expected");
        if (json_object_get(expected, "models"))
            table = json_object_get(expected, "bic_mclust_sign(2ll-npar_ln_n)_rows_G1to5");
    }
    assert_non_null(table);
    cr_table *t = read_table(cx, test_data("classic/../tabular/iris.csv"));
    cr_model *m = rising(cx, t,
                         "features=!species covariance=auto k=1:5 prior=none restarts=8 tol=1e-8 "
                         "max_iter=2000");
    json_t   *d = describe(cx, m);
    json_array_foreach(json_object_get(d, "candidates"), i, row)
    {
        double  k = number_of(row, "components"), bic = number_of(row, "bic");
        json_t *of_k = json_array_get(table, (size_t)k - 1), *cell = json_array_get(of_k, i / 5);
        if (json_is_null(cell)) continue;
        double theirs = -json_number_value(cell);
        compared++;
        if (!(bic < theirs + 1) || (k == 1 && fabs(bic - theirs) > 1e-6))
            fail_msg("%s with %g components: BIC %.4f, mclust has %.4f",
                     json_string_value(json_object_get(row, "form")), k, bic, theirs);
    }
    assert_int_equal(compared, 5 * 14 - 2);
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(d, "statistics"), "form")), "VEV");
    assert_relative(statistic(d, "components"), 2, 0);
}

/* Eigenvalues of S_c, ascending, and eigenvectors. */
static void decompose(cr_ctx *cx, const cri_gmm *m, size_t c, double *w, double *V)
{
    double S[D * D];
    cri_gmm_covariance(m, c, S);
    assert_ok(cx, cr_eigen(cx, cr_cmat_of(S, D, D), w, cr_mat_of(V, D, D)));
}

/* -F/2 of the covariances of a state for scatter W and N. */
static double gain(const cri_gmm *m, const double *W, const double *n)
{
    double sum = 0;
    for (size_t c = 0; c < m->k; c++) {
        long double C[D * D], B[D * D], zero[D] = { 0 }, logdet;
        double      S[D * D];
        cri_gmm_covariance(m, c, S);
        for (size_t i = 0; i < D * D; i++) {
            size_t at = m->width > 1 ? c * D * D + i : c * D + i / D;
            C[i] = S[i], B[i] = m->width > 1 || i % (D + 1) == 0 ? (long double)W[at] : 0;
        }
        long double A[D * D];
        memcpy(A, C, sizeof A);
        quadratic_form(D, A, zero, &logdet);
        solve_dense(D, C, B, D);
        sum -= 0.5 * (n[c] * (double)logdet + (double)(B[0] + B[4] + B[8]));
    }
    return sum;
}

/* What is equal, what is not; and among covariances of a form that random scatter leads to, those of another scatter
 * gain less than the ones made for it. */
TEST(what_the_forms_mean)
{
    enum { TRIES = 30 };
    cr_rng r = cr_rng_stream(31, 1);
    for (int form = 0; form < CRI_GMM_N_FORMS; form++) {
        const char *name = cri_gmm_form_name(form);
        cri_gmm    *m = NULL;
        double      W[TRIES][3 * D * D], n[3] = { 20, 35, 50 }, C[TRIES][3 * D * D];
        assert_ok(cx, cri_gmm_new(cx, 3, D, form, 1, &m));
        for (size_t i = 0; i < 3 * D * m->width; i++)
            m->L[i] = m->U[i] = m->width == 1 || i / D % D == i % D ? 1 : 0;
        for (size_t t = 0; t < TRIES; t++) {
            for (size_t c = 0; c < 3; c++) {
                double A[D * D];
                draw_normals(&r, A, D * D);
                for (size_t i = 0; i < D * m->width; i++) {
                    size_t a = m->width > 1 ? i / D : i, b = m->width > 1 ? i % D : i;
                    double sum = 0;
                    for (size_t l = 0; l < D; l++) sum += A[a * D + l] * A[b * D + l];
                    W[t][c * D * m->width + i] =
                        n[c] * ((double)(c + 1) + (t == 0 && a == b ? 3 : 0)) * sum;
                }
            }
            /* rounds begin at the state: several steps lead to the best */
            for (size_t step = 0; step < 40; step++) {
                assert_ok(cx, cri_gmm_covariances(cx, m, W[t], n, C[t]));
                assert_true(cri_gmm_set_covariances(m, C[t]));
                for (size_t j = 0; j < D; j++) m->scale[j] = 1;
                cri_gmm_prepare(m);
            }
        }
        assert_true(cri_gmm_set_covariances(m, C[0]));
        double best = gain(m, W[0], n), w[3][D], V[3][D * D];
        for (size_t c = 0; c < 3; c++) decompose(cx, m, c, w[c], V[c]);
        for (size_t c = 1; c < 3; c++) {
            double volume[2] = { cbrt(w[0][0] * w[0][1] * w[0][2]),
                                 cbrt(w[c][0] * w[c][1] * w[c][2]) };
            bool   alike = true, turned = false;
            assert_int_equal(fabs(volume[0] / volume[1] - 1) < 1e-7, name[0] == 'E');
            for (size_t j = 0; j < D; j++) {
                double dot = 0;
                alike &= fabs(w[0][j] / volume[0] - w[c][j] / volume[1]) < 1e-7;
                for (size_t i = 0; i < D; i++) /* the axes of 0 are those of c, in any order */
                    for (size_t l = 0; l < D; l++) {
                        dot = 0;
                        for (size_t e = 0; e < D; e++) dot += V[0][e * D + i] * V[c][e * D + l];
                        turned |= fabs(dot) > 1e-4 && fabs(dot) < 1 - 1e-4;
                    }
            }
            assert_int_equal(alike, name[1] != 'V');
            assert_int_equal(turned, name[2] == 'V');
        }
        for (size_t t = 1; t < TRIES; t++) {
            assert_true(cri_gmm_set_covariances(m, C[t]));
            assert_true(gain(m, W[0], n) <= best + 1e-9 * fabs(best));
            for (size_t i = 0; i < 3 * D * m->width;
                 i++) /* and so do steps towards it, in the form */
                C[t][i] = W[0][i] + 0.05 * W[t][i];
            double mixed[3 * D * D];
            assert_true(cri_gmm_set_covariances(m, C[0]));
            cri_gmm_prepare(m);
            assert_ok(cx, cri_gmm_covariances(cx, m, C[t], n, mixed));
            assert_true(cri_gmm_set_covariances(m, mixed));
            assert_true(gain(m, W[0], n) <= best + 1e-7 * fabs(best));
        }
        cri_state_free(cx, &cri_class_gmm, m);
    }
}

/* The objective rises with every form, with and without the prior and missing cells. */
TEST(all_forms_rise)
{
    double X[N * D], Y[N * D];
    draw(22, 5, X);
    memcpy(Y, X, sizeof Y);
    leave_gaps(Y);
    cr_table *whole = make_table(cx, X, N, D, NULL, NULL),
             *gaps = make_table(cx, Y, N, D, NULL, NULL);
    for (int form = 0; form < CRI_GMM_N_FORMS; form++) {
        char settings[128];
        snprintf(settings, sizeof settings, "k=3 restarts=2 tol=1e-7 covariance=%s",
                 cri_gmm_form_name(form));
        rising(cx, whole, settings);
        rising(cx, gaps, settings);
        strcat(settings, " prior=none");
        rising(cx, whole, settings);
    }
}
