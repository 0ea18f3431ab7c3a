/* test_libsvm_model.c -- files of svm-train against what svm-predict says, the way back, and texts that are none.
 * tests/data/libsvm: svm-train 3.24 (Debian's libsvm-tools) on rows that were drawn for it. */
#include "../fixture.h"

#include "models/kernel/svm/libsvm_model.h"

static void release_libsvm(cr_ctx *cx, void *m) { (cr_model_free)(cx, m); }

static cr_model *read_model(cr_ctx *cx, const char *path)
{
    cr_model *m = NULL;
    assert_ok(cx, cr_model_read_libsvm(cx, path, &m));
    test_own(cx, m, release_libsvm);
    return m;
}

static const char *data(const char *name, const char *ending)
{
    char path[128];
    snprintf(path, sizeof path, "libsvm/%s.%s", name, ending);
    return test_data(path);
}

/* The first number of each line. */
static size_t read_lines(const char *path, double *out, size_t most)
{
    FILE  *f = fopen(path, "r");
    char   line[256];
    size_t n = 0;
    assert_non_null(f);
    while (n < most && fgets(line, sizeof line, f)) out[n++] = atof(line);
    fclose(f);
    return n;
}

static const struct {
    const char *model, *rows, *class;
} files[] = { { "c_rbf", "two", "svm" },
              { "c_polynomial", "three", "svm" },
              { "nu_linear", "three", "svm" },
              { "one_class", "two", "one-class-svm" },
              { "epsilon_linear", "number", "svr" },
              { "nu_sigmoid", "number", "svr" } };
enum { FILES = sizeof files / sizeof *files };

/* The answer for row i as svm-predict prints it: by the decision, where there are probabilities beside it. */
static double answer(const cr_prediction *p, size_t i)
{
    if (p->mean) return p->mean[i];
    if (p->vector) return p->vector[2 * i + 1] > 0 ? 1 : -1;
    size_t best = 0;
    if (p->n_decisions == 1 && p->decision) return atof(p->classes[p->decision[i] > 0]);
    for (size_t k = 1; k < p->n_classes; k++)
        if (p->prob[i * p->n_classes + k] > p->prob[i * p->n_classes + best]) best = k;
    return atof(p->classes[best]);
}

TEST(files_of_svm_train_predict_the_same)
{
    for (size_t f = 0; f < FILES; f++) {
        double        said[64];
        cr_model     *m = read_model(cx, data(files[f].model, "model"));
        cr_table     *t = read_table(cx, data(files[f].rows, "svm"));
        cr_prediction p = predict(cx, m, t);
        assert_string_equal(cr_class_name(cr_model_get_class(m)), files[f].class);
        assert_int_equal(read_lines(data(files[f].model, "out"), said, 64), p.n);
        for (size_t i = 0; i < p.n; i++) assert_close(answer(&p, i), said[i], 1e-5);
    }
}

/* The decision by its formula, straight from the text: 5, which comes first there, is the later class here. */
TEST(decisions_follow_the_formula)
{
    FILE         *f = fopen(data("c_rbf", "model"), "r");
    cr_table     *t = read_table(cx, data("two", "svm"));
    cr_prediction p = predict(cx, read_model(cx, data("c_rbf", "model")), t);
    double        sum[64], rho = 0, gamma = 0, A = 0, B = 0;
    char          line[512];
    bool          rows = false;
    for (size_t i = 0; i < p.n; i++) sum[i] = 0;
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        double v[3] = { 0, 0, 0 }, coef;
        char  *at;
        if (!rows) {
            sscanf(line, "rho %lf", &rho), sscanf(line, "gamma %lf", &gamma);
            sscanf(line, "probA %lf", &A), sscanf(line, "probB %lf", &B);
            rows = strncmp(line, "SV", 2) == 0;
            continue;
        }
        coef = strtod(line, &at);
        for (char *c; (c = strchr(at, ':'));) v[c[-1] - '1'] = strtod(c + 1, &at);
        for (size_t i = 0; i < p.n; i++) {
            double square = 0;
            for (size_t j = 0; j < 3; j++) {
                const cr_column *x = cr_table_column(t, j);
                square += (x->values[i * x->stride] - v[j]) * (x->values[i * x->stride] - v[j]);
            }
            sum[i] += coef * exp(-gamma * square);
        }
    }
    fclose(f);
    for (size_t i = 0; i < p.n; i++) {
        assert_string_equal(p.classes[1], "5");
        assert_close(p.decision[i], sum[i] - rho, 1e-12);
        assert_close(p.prob[2 * i + 1], 1 / (1 + exp(A * (sum[i] - rho) + B)), 1e-12);
    }
}

/* --- the way back ---------------------------------------------------------------------------- */

static void check_way_back(cr_ctx *cx, const cr_model *m, const cr_table *t)
{
    char path[512];
    snprintf(path, sizeof path, "%s/back.model", test_directory());
    assert_ok(cx, cr_model_write_libsvm(cx, m, path));
    cr_prediction p = predict(cx, m, t), q = predict(cx, read_model(cx, path), t);
    assert_int_equal(p.n_decisions, q.n_decisions);
    for (size_t i = 0; i < p.n; i++) {
        if (p.mean) assert_close(p.mean[i], q.mean[i], 1e-10);
        if (p.vector) assert_close(p.vector[2 * i], q.vector[2 * i], 1e-10);
        for (size_t k = 0; k < p.n_decisions; k++)
            assert_close(p.decision[i * p.n_decisions + k], q.decision[i * q.n_decisions + k],
                         1e-10);
    }
}

TEST(what_was_read_can_be_written)
{
    for (size_t f = 0; f < FILES; f++)
        check_way_back(cx, read_model(cx, data(files[f].model, "model")),
                       read_table(cx, data(files[f].rows, "svm")));
}

TEST(what_was_fitted_here_can_be_written)
{
    static const char *const lines[][3] = {
        { "svm", "three", "target=y kernel=rbf(l=1.5) C=3 scale=none" },
        { "svm", "three", "target=y kernel=sigmoid(gamma=0.2,c=0.1) scale=none" },
        { "svm", "two", "target=y kind=nu nu=0.4 kernel=2*linear^3 scale=none" },
        { "svr", "number", "target=y kernel=polynomial(degree=2,c=0.5,variance=0.3) scale=none" },
        { "svr", "number", "target=y kernel=linear scale=none noise=laplace" },
        { "one-class-svm", "two", "features=x* kernel=rbf(l=2) nu=0.2 scale=none" },
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        cr_table *t = read_table(cx, data(lines[i][1], "svm"));
        check_way_back(cx, fit(cx, lines[i][0], t, lines[i][2]), t);
    }
}

TEST(what_has_no_such_model_is_refused)
{
    static const char *const lines[][4] = {
        { "svm", "three", "target=y kernel=rbf(l=1.5)", "standardised" },
        { "svm", "three", "target=y kernel=rbf(l=1.5) scale=none multi=ovr", "each class" },
        { "svr", "number", "target=y kernel=matern52(l=1) scale=none", "kernel" },
        { "svr", "number", "target=y kernel=rbf(x1;l=1) scale=none", "kernel" },
        { "ridge", "number", "target=y", "ridge" },
    };
    char path[512];
    snprintf(path, sizeof path, "%s/none.model", test_directory());
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        cr_model *m = fit(cx, lines[i][0], read_table(cx, data(lines[i][1], "svm")), lines[i][2]);
        assert_fails_with(cx, cr_model_write_libsvm(cx, m, path), CR_EUNSUPPORTED, lines[i][3]);
    }
}

/* --- texts that are none --------------------------------------------------------------------- */

#define HEAD                                                                                       \
    "svm_type c_svc\nkernel_type linear\nnr_class 2\ntotal_sv 2\nrho 0.5\nlabel 1 -1\nnr_sv 1 1\n"

TEST(damaged_files_are_refused_in_words)
{
    static const char *const texts[][2] = {
        { HEAD "SV\n1 1:2 \n-1 1:3", "1 lines of support vectors follow, but total_sv is 2" },
        { HEAD "SV\n1 1:2 \n", "1 lines" },
        { HEAD "SV\n1 1:2 \n-1 1:3 2\n", "m:10:8: '2' is not of the form index:value" },
        { HEAD "SV\n1 1:2 \n-1 2:3 2:1\n", "rise along the line" },
        { HEAD "SV\n1 1:2 \n-1 0:3\n", "begin at 1" },
        { HEAD "SV\n1 1:2 \n-1 1:nan\n", "index:value" },
        { HEAD "SV\n\n-1 1:3\n", "too few values" },
        { HEAD "SV\n1 1:2 \n-1\n\n", "3 lines" },
        { HEAD, "'SV' is missing" },
        { "svm_type c_svc\nkernel_type precomputed\n", "m:2:13: the kernel_type 'precomputed'" },
        { "svm_type d_svc\n", "'d_svc'" },
        { "svm_type c_svc\nrho 1\n", "before nr_class" },
        { "svm_type c_svc\nnr_class 1\n", "less than 2" },
        { "svm_type c_svc\nnr_class 2 3\n", "one value too many" },
        { "svm_type c_svc\nnr_class 2\nnr_class 2\n", "twice" },
        { "svm_type c_svc\nnr_class 10000\nrho 1 2\n", "too few values" },
        { "svm_type c_svc\nkernel_type rbf\ngamma 0\nnr_class 2\ntotal_sv 0\nrho 1\nlabel 1 "
          "2\nnr_sv 0 0\nSV\n",
          "gamma must be above 0" },
        { "svm_type c_svc\nkernel_type linear\nnr_class 2\ntotal_sv 1\nrho 1\nlabel 1 2\nnr_sv 0 "
          "0\nSV\n1 1:1\n",
          "adds up to 0" },
        { "svm_type c_svc\nkernel_type linear\nnr_class 2\ntotal_sv 0\nrho 1\nlabel 1 1\n",
          "comes twice" },
        { "svm_type c_svc\nkernel_type linear\nnr_class 2\ntotal_sv 0\nrho 1\nSV\n",
          "'label' is missing" },
        { "svm_type nu_svr\nkernel_type linear\nnr_class 3\ntotal_sv 0\nrho 1 2 3\nSV\n",
          "nr_class 2" },
        { "svm_type nu_svr\nkernel_type linear\nnr_class 2\ntotal_sv 0\nrho 1\nSV\n",
          "any column" },
        { "svm_type c_svc\nweight 1\n", "'weight' is not known" },
        { "svm_type c_svc\n\nnr_class 2\n", "empty" },
        { "svm_type c_svc\ngamma x\n", "not a finite number" },
        { "svm_type c_svc\ndegree 2.5\n", "whole number" },
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        cr_model *m = NULL;
        assert_fails_with(cx, cr_model_parse_libsvm(cx, "m", texts[i][0], strlen(texts[i][0]), &m),
                          CR_EDATA, texts[i][1]);
        assert_null(m);
    }
    assert_true(cr_is_libsvm_model(HEAD, sizeof HEAD - 1) && !cr_is_libsvm_model("svm_typ", 7));
}

/* A file that breaks off anywhere is refused. */
TEST(every_beginning_is_refused)
{
    const char *path = data("c_polynomial", "model");
    char        bytes[4096];
    FILE       *f = fopen(path, "r");
    assert_non_null(f);
    size_t size = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    for (size_t n = 0; n < size; n++) {
        cr_model *m = NULL;
        assert_fails(cx, cr_model_parse_libsvm(cx, "m", bytes, n, &m), CR_EDATA);
    }
}

static cr_status read_and_write(cr_ctx *cx, void *arg)
{
    cr_status st = CR_OK;
    cr_model *m = NULL;
    char      path[512];
    snprintf(path, sizeof path, "%s/again.model", test_directory());
    CR_TRY(cr_model_read_libsvm(cx, arg, &m));
    CR_TRY(cr_model_write_libsvm(cx, m, path));
done:
    (cr_model_free)(cx, m);
    return st;
}

TEST(every_allocation_may_fail)
{
    for (size_t f = 0; f < FILES; f += f == 0 ? 3 : 1) {
        char path[512];
        snprintf(path, sizeof path, "%s", data(files[f].model, "model"));
        test_every_allocation_fails(read_and_write, path);
    }
}
