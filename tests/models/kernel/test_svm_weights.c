/* test_svm_weights.c -- machines of the linear kernel by the weights of their columns, against the solver for all
 * kernels and the conditions of their optimum. */
#include "../fixture.h"

enum { N = 1200, P = 4 };

static double X[N * P], number[N], two[N], three[N];

static cr_table *draw(cr_ctx *cx, const double *y)
{
    draw_regression(8, N, P, 1.5, X, number);
    for (size_t i = 0; i < N; i++) {
        two[i] = number[i] > 1.7;
        three[i] = number[i] < 0.5 ? 0 : number[i] > 2.5 ? 2 : 1;
    }
    return make_table(cx, X, N, P, y, NULL);
}

/* As a multiple of itself the kernel is none of columns as they are, and goes the other way. */
TEST(the_optimum_is_that_of_the_solver_for_all_kernels)
{
    static const struct {
        const char   *model, *more;
        const double *y;
        double        tolerance;
    } cases[] = { { "svm", "C=0.7", two, 2e-3 },
                  { "svm", "C=0.7 multi=ovr", three, 2e-3 },
                  { "svr", "C=0.7 epsilon=0.3 noise=none", number, 1e-4 } };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        cr_table *t = draw(cx, cases[c].y);
        char      settings[160];
        snprintf(settings, sizeof settings, "target=y tol=1e-6 kernel=linear %s", cases[c].more);
        cr_model *a = fit(cx, cases[c].model, t, settings);
        snprintf(settings, sizeof settings, "target=y tol=1e-6 kernel=1*linear %s", cases[c].more);
        cr_model     *b = fit(cx, cases[c].model, t, settings);
        cr_prediction p = predict(cx, a, t), q = predict(cx, b, t);
        json_t       *d = describe(cx, a), *e = describe(cx, b);
        assert_true(cr_model_get_report(a)->iterations < 100);
        if (cases[c].y != three)
            assert_relative(statistic(d, "dual_objective"), statistic(e, "dual_objective"), 1e-7);
        for (size_t i = 0; i < N; i++) {
            if (p.mean) assert_close(p.mean[i], q.mean[i], cases[c].tolerance);
            for (size_t k = 0; k < p.n_decisions; k++)
                assert_close(p.decision[i * p.n_decisions + k], q.decision[i * p.n_decisions + k],
                             cases[c].tolerance);
        }
    }
}

/* The slope of C sum max(0, 1 - y f)^2 along each standardised column: -w of half its square, within 1 of |w|. */
static void check_slopes(cr_ctx *cx, const char *settings, double C, bool l1)
{
    cr_table     *t = draw(cx, two);
    cr_model     *m = fit(cx, "svm", t, settings);
    cr_prediction p = predict(cx, m, t);
    double        constant = 0, w2 = 0, slope[P];
    size_t        zero = 0;
    for (size_t j = 0; j < P; j++) {
        double mean = 0, square = 0;
        for (size_t i = 0; i < N; i++) mean += X[i * P + j] / N;
        for (size_t i = 0; i < N; i++) square += pow(X[i * P + j] - mean, 2) / N;
        slope[j] = 0;
        for (size_t i = 0; i < N; i++) {
            double y = two[i] > 0 ? 1 : -1, u = fmax(0, 1 - y * p.decision[i]);
            slope[j] += 2 * C * u * y * (X[i * P + j] - mean) / sqrt(square);
            if (j == 0) constant += 2 * C * u * y;
        }
        w2 += slope[j] * slope[j];
        zero += fabs(slope[j]) < 1 - 1e-3;
        if (l1) assert_true(fabs(slope[j]) <= 1 + 1e-3);
    }
    assert_close(constant, 0, 1e-2);
    json_t *d = describe(cx, m);
    if (l1)
        assert_true(zero > 0 && statistic(d, "nonzero_weights") == (double)(P - zero));
    else
        assert_relative(1 / sqrt(w2), statistic(d, "margin"), 1e-3);
}

TEST(squared_hinges_have_the_slopes_of_their_penalties)
{
    check_slopes(cx, "target=y tol=1e-6 kernel=linear margin_loss=squared-hinge C=0.1", 0.1, false);
    check_slopes(cx, "target=y tol=1e-6 kernel=linear margin_loss=squared-hinge penalty=l1 C=0.002",
                 0.002, true);
}

TEST(losses_are_of_weights_alone)
{
    cr_table *t = draw(cx, two);
    cr_model *m = NULL;
    assert_fails_with(cx, try_fit(cx, "svm", t, "target=y margin_loss=squared-hinge", &m), CR_EARG,
                      "linear");
    assert_fails_with(
        cx, try_fit(cx, "svm", t, "target=y kernel=linear margin_loss=squared-hinge C=inf", &m),
        CR_EARG, "finite");
    assert_fails_with(cx, try_fit(cx, "svm", t, "target=y kernel=linear penalty=l1", &m), CR_EARG,
                      "loss");
}

/* What is loaded decides to the same bits, also from the weights alone. */
TEST(saved_and_loaded)
{
    static const char *const lines[] = {
        "target=y kernel=linear",
        "target=y kernel=linear margin_loss=squared-hinge penalty=l1 C=0.01"
    };
    for (size_t i = 0; i < 2; i++) {
        cr_table *t = draw(cx, three);
        cr_model *m = fit(cx, "svm", t, lines[i]), *n = NULL;
        char     *bytes = NULL;
        size_t    size = 0;
        assert_ok(cx, cr_model_to_bytes(cx, m, &bytes, &size));
        assert_ok(cx, cr_model_from_bytes(cx, "saved", bytes, size, &n));
        test_own(cx, n, release_model);
        cr_free(cx, bytes, size, 1);
        cr_prediction p = predict(cx, m, t), q = predict(cx, n, t);
        assert_memory_equal(p.decision, q.decision, N * 3 * sizeof(double));
    }
}

/* Sparse rows give the machine of the same rows as ordinary columns, and decide as these do. */
TEST(sparse_rows_are_rows)
{
    static const char *const lines[] = {
        "target=y kernel=linear tol=1e-6", "target=y kernel=linear tol=1e-6 scale=none C=0.3",
        "target=y kernel=linear margin_loss=squared-hinge tol=1e-6"
    };
    enum { ROWS = 1100, COLUMNS = 6 };
    static size_t   start[ROWS + 1];
    static uint32_t column[ROWS * COLUMNS];
    static double   value[ROWS * COLUMNS], dense[ROWS * COLUMNS], y[ROWS];
    cr_rng          r = cr_rng_stream(4, 4);
    size_t          e = 0;
    for (size_t i = 0; i < ROWS; i++) {
        double f = cr_rng_normal(&r) - 0.4;
        for (size_t j = 0; j < COLUMNS; j++) {
            if (cr_rng_uniform(&r) < 0.7) continue;
            dense[i * COLUMNS + j] = value[e] = 1 + cr_rng_normal(&r);
            f += value[e] * (j % 2 ? 1 : -0.5);
            column[e++] = (uint32_t)j;
        }
        start[i + 1] = e;
        y[i] = f > 1 ? 2 : f > 0;
    }
    cr_table *t = make_table(cx, dense, ROWS, COLUMNS, y, NULL), *u = NULL;
    assert_ok(cx, cr_table_new(cx, "sparse", ROWS, &u));
    test_own(cx, u, release_table);
    assert_ok(cx, cr_table_borrow_csr(cx, u, CR_REAL,
                                      (cr_csr){ .rows = ROWS,
                                                .columns = COLUMNS,
                                                .row_start = start,
                                                .column = column,
                                                .value = value }));
    assert_ok(cx, cr_table_add_numbers(cx, u, "y", CR_REAL, y, 1));
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        cr_model     *a = fit(cx, "svm", t, lines[i]), *b = fit(cx, "svm", u, lines[i]);
        cr_prediction p = predict(cx, a, t), q = predict(cx, b, u), other = predict(cx, b, t);
        for (size_t k = 0; k < 3 * ROWS; k++) {
            assert_close(p.decision[k], q.decision[k], 2e-3);
            assert_close(other.decision[k], q.decision[k], 1e-12);
        }
        double needed = statistic(describe(cx, b), "support_vectors"); /* which are not unique */
        assert_true(needed > COLUMNS && needed <= ROWS);
    }
}
