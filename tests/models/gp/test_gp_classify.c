/* test_gp_classify.c -- Gaussian process classification as a model: predictions against the
 * definition, weights, learning, categories, files, threads, corners. */
#include "classify_fixture.h"

#include "math/special/special.h"
#include "models/core/model.h"

/* Rows in the plane, class by where they are, with some noise; labels a, b, c ... */
static cr_table *draw_classes(cr_ctx *cx, uint64_t seed, size_t n, size_t C, double noise,
                              const double *opt_w)
{
    static const char *const levels[] = { "a", "b", "c", "d" };
    cr_rng                   r = cr_rng_stream(seed, 9);
    double                  *X = malloc(2 * n * sizeof *X);
    uint32_t                *y = malloc(n * sizeof *y);
    cr_table                *t;
    for (size_t i = 0; i < n; i++) {
        X[2 * i] = 2 * cr_rng_normal(&r), X[2 * i + 1] = cr_rng_normal(&r);
        double score = sin(X[2 * i]) + 0.8 * X[2 * i + 1] + noise * cr_rng_normal(&r);
        y[i] = C == 2 ? score > 0.1 : score > 0.9 ? 2 : score > -0.6 ? 0 : 1;
    }
    for (size_t i = 0; i < C; i++) y[i] = (uint32_t)i;
    t = make_table(cx, X, n, 2, NULL, opt_w);
    assert_ok(cx, cr_table_add_category(cx, t, "y", y, levels, C));
    free(X);
    free(y);
    return t;
}

static void assert_probabilities(const cr_prediction *p)
{
    for (size_t i = 0; i < p->n; i++) {
        double sum = 0;
        for (size_t k = 0; k < p->n_classes; k++) {
            double x = p->prob[i * p->n_classes + k];
            assert_true(x >= 0 && x <= 1);
            sum += x;
        }
        assert_close(sum, 1, 1e-14);
    }
}

/* --- predictions ----------------------------------------------------------------------------- */

/* A table with as many rows at the inputs of p as the counts (which must be whole) say, by
 * weights. */
static cr_table *table_of(cr_ctx *cx, const small *p)
{
    static const char *const levels[] = { "first", "second", "third", "zero" };
    double                   X[MOST_INPUTS * 8], w[MOST_INPUTS * 4];
    uint32_t                 y[MOST_INPUTS * 4];
    size_t                   rows = 0;
    cr_table                *t;
    for (size_t i = 0; i < p->n; i++)
        for (size_t c = 0; c < p->C; c++) {
            if (p->counts[i * p->C + c] == 0) continue;
            X[2 * rows] = p->X[2 * i], X[2 * rows + 1] = p->X[2 * i + 1];
            w[rows] = p->counts[i * p->C + c];
            y[rows++] = (uint32_t)(p->F == 1 ? 1 - c : c); /* the second level has f > 0 */
        }
    t = make_table(cx, X, rows, 2, NULL, w);
    assert_ok(cx, cr_table_add_category(cx, t, "y", y, levels, p->C));
    return t;
}

/* The softmax under N(mean, cov) by brute force: a grid over the Cholesky coordinates, three
 * functions. */
static void average_softmax(const double *mean, const double *cov, double *out)
{
    double L[9] = { 0 }, total = 0, h = 0.25;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j <= i; j++) {
            double sum = cov[3 * i + j];
            for (int k = 0; k < j; k++) sum -= L[3 * i + k] * L[3 * j + k];
            L[3 * i + j] = i == j ? sqrt(sum) : sum / L[3 * j + j];
        }
    memset(out, 0, 3 * sizeof *out);
    for (double a = -6; a <= 6; a += h)
        for (double b = -6; b <= 6; b += h)
            for (double c = -6; c <= 6; c += h) {
                double f[3] = { mean[0] + L[0] * a, mean[1] + L[3] * a + L[4] * b,
                                mean[2] + L[6] * a + L[7] * b + L[8] * c };
                double w = exp(-(a * a + b * b + c * c) / 2);
                cr_softmax(f, 3, f);
                for (int k = 0; k < 3; k++) out[k] += w * f[k];
                total += w;
            }
    for (int k = 0; k < 3; k++) out[k] /= total;
}

static void check_definition(cr_ctx *cx, cri_classify_link link, size_t F, const char *text)
{
    static dense g;
    small        p;
    double       Z[] = { 0.3, 0.1, -1.2, 0.9, 2.5, -0.4, 40, 40 }, latent[4 * 6];
    cr_kernel   *k = read_kernel(cx, text);
    char         settings[256];
    make_small(&p, link, 8, F, 17);
    solve_definition(&p, cx, k, &g);
    cr_table *t = table_of(cx, &p), *z = make_table(cx, Z, 4, 2, NULL, NULL);
    snprintf(settings, sizeof settings,
             "target=y features=x* weights=w optimize=none infer=laplace kernel=%s%s", text,
             link == CRI_CLASSIFY_PROBIT ? " likelihood=probit" : "");
    cr_model *m = fit(cx, "gp-classify", t, settings);
    assert_close(cr_model_get_report(m)->log_evidence, (double)g.log_evidence, 1e-10);
    assert_close(cr_model_get_report(m)->log_likelihood, (double)g.log_likelihood, 1e-9);
    assert_int_equal(cr_model_get_report(m)->evidence, CR_EVIDENCE_LAPLACE);
    cr_prediction q = predict(cx, m, z);
    size_t        labels = 0;
    assert_non_null(cr_transform_labels(m, &labels));
    assert_int_equal(labels, 2 * F);
    assert_ok(cx, cr_transform(cx, m, z, latent));
    assert_probabilities(&q);
    for (size_t i = 0; i < 4; i++) {
        double mean[3], cov[9], prob[3];
        predict_dense(&p, cx, k, &g, Z + 2 * i, mean, cov);
        for (size_t c = 0; c < F; c++) {
            assert_close(latent[i * 2 * F + 2 * c], mean[c], 1e-8);
            assert_close(latent[i * 2 * F + 2 * c + 1], sqrt(cov[c * F + c]), 1e-8);
        }
        if (F == 1) {
            prob[1] = cri_classify_probability(link, mean[0], cov[0]);
            assert_close(q.prob[2 * i + 1], prob[1], 1e-8);
            continue;
        }
        average_softmax(mean, cov, prob);
        for (size_t c = 0; c < 3; c++) assert_close(q.prob[3 * i + c], prob[c], 1e-6);
    }
    cr_kernel_free(cx, k);
}

TEST(definition)
{
    check_definition(cx, CRI_CLASSIFY_LOGIT, 1, "2.5*rbf(l=1.3)");
    check_definition(cx, CRI_CLASSIFY_PROBIT, 1, "9*matern52(l=0.7)");
    check_definition(cx, CRI_CLASSIFY_SOFTMAX, 3, "2.5*rbf(l=1.3)");
}

/* --- weights, order, units ------------------------------------------------------------------- */

static double evidence_with(cr_ctx *cx, const cr_table *t, const char *settings)
{
    cr_model *m = fit(cx, "gp-classify", t, settings);
    double    value = cr_model_get_report(m)->log_evidence;
    return value;
}

/* A row of weight 2 is two rows, one of weight 0 is none, and the order of the rows is nothing. */
TEST(weights_and_order)
{
    static const char *const settings[] = { "optimize=none", "max_iter=3",
                                            "optimize=none approx=svgp inducing=30",
                                            "optimize=none likelihood=probit" };
    cr_table                *weighted = table_of_text(cx, "w.csv",
                                                      "a,b,y,w\n1,2,u,2\n2,1,v,1\n0,3,u,0\n3,3,v,3\n-1,0,u,1\n"
                                                                     "0.5,1,v,1\n1.5,0.2,u,1\n2.2,2,v,0\n");
    cr_table                *repeated =
        table_of_text(cx, "r.csv",
                      "a,b,y\n3,3,v\n1,2,u\n2,1,v\n3,3,v\n-1,0,u\n1,2,u\n0.5,1,v\n3,3,v\n"
                      "1.5,0.2,u\n");
    for (size_t i = 0; i < 4; i++) {
        char with[128], without[128];
        snprintf(with, sizeof with, "target=y weights=w kernel=3*rbf(l=1.4) %s", settings[i]);
        snprintf(without, sizeof without, "target=y kernel=3*rbf(l=1.4) %s", settings[i]);
        cr_model *a = fit(cx, "gp-classify", weighted, with),
                 *b = fit(cx, "gp-classify", repeated, without);
        cr_prediction p = predict(cx, a, weighted), q = predict(cx, b, weighted);
        assert_close(cr_model_get_report(a)->log_evidence, cr_model_get_report(b)->log_evidence,
                     1e-8);
        for (size_t j = 0; j < 16; j++) assert_close(p.prob[j], q.prob[j], 1e-7);
    }
}

/* Units of the columns change length-scales, nothing else; from 1e-8 to 1e8. */
TEST(scales)
{
    static const double units[] = { 1, 1e8, 1e-8 };
    double              value[3], first[12];
    for (size_t k = 0; k < 3; k++) {
        char   text[1024] = "x,y\n";
        double unit = units[k];
        for (int i = 0; i < 12; i++)
            sprintf(text + strlen(text), "%.17g,%s\n", unit * (i * 5 % 13 - 6),
                    i * 5 % 13 > 3 && i * 5 % 13 < 10 ? "u" : "v");
        cr_table     *t = table_of_text(cx, "u.csv", text);
        cr_model     *m = fit(cx, "gp-classify", t, "target=y");
        cr_prediction p = predict(cx, m, t);
        value[k] = cr_model_get_report(m)->log_evidence;
        assert_close(value[k], value[0], 1e-6);
        for (size_t i = 0; i < 12; i++) {
            if (k == 0) first[i] = p.prob[2 * i];
            assert_close(p.prob[2 * i], first[i], 1e-3);
        }
    }
}

/* --- learning -------------------------------------------------------------------------------- */

TEST(learning)
{
    cr_table *two = draw_classes(cx, 1, 40, 2, 0.3, NULL),
             *three = draw_classes(cx, 2, 30, 3, 0.3, NULL);
    double fixed = evidence_with(cx, two, "target=y kernel=rbf(ard) optimize=none");
    double best = evidence_with(cx, two, "target=y hyper=best"),
           more = evidence_with(cx, two, "target=y hyper=best restarts=3");
    assert_true(best > fixed + 1 && more > best - 1e-4 && best < 0);
    assert_true(evidence_with(cx, two, "target=y hyper=best likelihood=probit") > fixed);
    assert_true(evidence_with(cx, two, "target=y hyper=best mean=constant") >
                best - 1e-4); /* contains the other */
    double bound = evidence_with(cx, two, "target=y hyper=best approx=svgp inducing=40");
    assert_true(fabs(bound - best) < 3);
    assert_true(evidence_with(cx, two, "target=y hyper=best approx=svgp inducing=5") <
                bound + 1e-4);
    assert_true(evidence_with(cx, three, "target=y hyper=best infer=laplace") >
                evidence_with(cx, three, "target=y infer=laplace kernel=rbf(ard) optimize=none") +
                    1);
    bound = evidence_with(cx, three, "target=y hyper=best");
    assert_true(bound > evidence_with(cx, three, "target=y kernel=rbf(ard) optimize=none") + 0.5);
    assert_close(bound, evidence_with(cx, three, "target=y hyper=best approx=svgp inducing=30"),
                 1e-3);

    cr_model *m = fit(cx, "gp-classify", two, "target=y hyper=best");
    json_t   *d = describe(cx, m);
    assert_true(statistic(d, "distinct_inputs") == 40 && parameter(d, "rbf.variance", "sd") > 0);
    assert_true(parameter(d, "rbf.l[1]", "lower") < parameter(d, "rbf.l[1]", "value"));
    cr_model_free(cx, m);
    m = fit(cx, "gp-classify", two, "target=y hyper=best max_iter=1");
    assert_int_equal(cr_model_get_report(m)->stop, CR_STOP_LIMIT);
}

/* The mean of a latent function with many rows of one class: far away it stays where a constant is
 * known of. */
TEST(mean)
{
    double    far[] = { 500, 500 };
    cr_table *t = table_of_text(
        cx, "m.csv", "x1,x2,y\n0,1,u\n1,0,u\n2,2,u\n3,1,u\n1,3,u\n0,3,u\n2,0,v\n3,3,u\n1,2,u\n");
    cr_table *z = make_table(cx, far, 1, 2, NULL, NULL);
    cr_model *zero = fit(cx, "gp-classify", t, "target=y optimize=none kernel=rbf");
    cr_model *constant =
        fit(cx, "gp-classify", t, "target=y optimize=none kernel=rbf mean=constant");
    cr_prediction p = predict(cx, zero, z), q = predict(cx, constant, z);
    assert_close(p.prob[0], 0.5, 1e-12);
    assert_true(q.prob[0] > 0.6);
}

/* Far from all rows nothing tells the classes apart, however wide the functions are. */
TEST(far_away)
{
    double     far[] = { 1e6 };
    const char five[] = "x1,y\n0,a\n1,b\n2,c\n3,d\n4,e\n5,a\n6,b\n",
               three[] = "x1,y\n0,a\n1,b\n2,c\n3,c\n";
    cr_table *z = make_table(cx, far, 1, 1, NULL, NULL);
    for (int K = 3; K <= 5; K += 2) {
        cr_table *t = table_of_text(cx, "f.csv", K == 3 ? three : five);
        cr_model *m =
            fit(cx, "gp-classify", t, "target=y optimize=none kernel=1000*rbf scale=none");
        cr_prediction p = predict(cx, m, z);
        for (int k = 0; k < K; k++) assert_close(p.prob[k], 1.0 / K, K == 3 ? 1e-6 : 1e-12);
    }
}

/* Categories: only rows of the same level tell of each other with hamming; class weights move the
 * odds. */
TEST(categories)
{
    cr_table                *t = table_of_text(cx, "c.csv",
                                               "g,x,y\nr,1,u\nr,2,u\ns,1,v\ns,2,v\nr,3,u\ns,3,v\ns,4,v\nr,4,u\n");
    static const char *const settings[] = { "target=y", "target=y approx=svgp inducing=4" };
    for (size_t k = 0; k < 2; k++) {
        cr_model     *m = fit(cx, "gp-classify", t, settings[k]);
        cr_prediction p = predict(cx, m, t);
        for (size_t i = 0; i < 8; i++)
            assert_true((p.prob[2 * i] > 0.5) == (i < 2 || i == 4 || i == 7));
    }
    cr_model *even = fit(cx, "gp-classify", t, "target=y features=x optimize=none"),
             *odd = fit(cx, "gp-classify", t,
                        "target=y features=x optimize=none class_weights=u=3,v=1");
    cr_prediction p = predict(cx, even, t), q = predict(cx, odd, t);
    assert_close(p.prob[0], 0.5, 1e-12);
    assert_true(q.prob[0] > 0.55);
}

/* --- corners --------------------------------------------------------------------------------- */

static void check_refused(cr_ctx *cx, const char *text, const char *settings, cr_status status,
                          const char *sentence)
{
    cr_model *m = NULL;
    cr_table *t = table_of_text(cx, "t.csv", text);
    assert_fails_with(cx, try_fit(cx, "gp-classify", t, settings, &m), status, sentence);
    assert_null(m);
}

TEST(refusals)
{
    const char *three = "x,y,w\n1,u,1\n2,v,2\n3,t,1\n4,u,1\n";
    check_refused(cx, "x,y\n1,u\n2,u\n", "target=y", CR_EDATA, "only one class, 'u'");
    check_refused(cx, "x,y,w\n1,u,1\n2,v,0\n", "target=y weights=w", CR_EDATA, "only one class");
    check_refused(cx, "x,y,w\n1,u,0\n2,v,0\n", "target=y weights=w", CR_EDATA, "weight");
    check_refused(cx, three, "target=y likelihood=probit", CR_EUNSUPPORTED,
                  "requires two classes; 'y' has 3");
    check_refused(cx, three, "target=y kernel=rbf(x)+white weights=w", CR_EUNSUPPORTED, "white");
    check_refused(cx, three, "target=y kernel=rbf+white approx=svgp", CR_EUNSUPPORTED, "white");
    check_refused(cx, three, "target=y infer=ep", CR_EUNSUPPORTED,
                  "--infer ep is for two classes, but the target has 3");
    check_refused(cx, three, "target=y infer=bound approx=laplace", CR_EARG,
                  "--infer bound and --approx laplace cannot be combined: give one");
    check_refused(cx, three, "target=y kernel=sigmoid", CR_EARG, "positive semi-definite");
    check_refused(cx, three, "target=y kernel=rbf(q)", CR_EARG, "q");
    cr_table *t = draw_classes(cx, 3, 300, 2, 0.3, NULL),
             *many = draw_classes(cx, 3, 300, 3, 0.3, NULL);
    cr_model *m = NULL;
    cr_ctx_set_memory_limit(cx, 1 << 20);
    assert_fails_with(cx, try_fit(cx, "gp-classify", t, "target=y approx=laplace", &m), CR_ENOMEM,
                      "needs 0.00158 GB");
    assert_fails_with(cx, try_fit(cx, "gp-classify", many, "target=y approx=laplace", &m),
                      CR_ENOMEM, "3 latent functions");
    assert_fails_with(cx, try_fit(cx, "gp-classify", t, "target=y approx=svgp inducing=250", &m),
                      CR_ENOMEM, "250 inducing inputs");
    cr_ctx_set_memory_limit(cx, 0);
}

/* Two rows, one input, constant columns, separable classes, duplicates in conflict, a level without
 * rows. */
TEST(corners)
{
    static const char *const texts[] = { "x,y\n1,u\n2,v\n",
                                         "x,y\n1,u\n1,v\n1,v\n",
                                         "x,z,y\n1,5,u\n2,5,v\n3,5,v\n",
                                         "x,y\n-3,u\n-2,u\n-1,u\n1,v\n2,v\n3,v\n",
                                         "x,y\n1,u\n1,v\n2,u\n2,u\n2,v\n",
                                         "x,y\n1,a\n2,b\n3,c\n",
                                         "x,y\n1,a\n1,b\n1,c\n",
                                         "x,y\n1e150,a\n-1e150,b\n0,c\n",
                                         "x,y\n1e-150,a\n-1e-150,b\n0,a\n" };
    static const char *const settings[] = { "target=y", "target=y likelihood=probit",
                                            "target=y approx=svgp inducing=3",
                                            "target=y mean=constant kernel=matern12" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t k = 0; k < 4; k++) {
            if (k == 1 && (strstr(texts[i], "c\n"))) continue;
            cr_table     *t = table_of_text(cx, "t.csv", texts[i]);
            cr_model     *m = fit(cx, "gp-classify", t, settings[k]);
            cr_prediction p = predict(cx, m, t);
            assert_probabilities(&p);
            assert_true(cr_model_get_report(m)->log_evidence <= 1e-9);
            if (i == 1) assert_true(p.prob[0] < 0.5 && p.prob[0] > 0.2);
            if (i == 3) assert_true(p.prob[0] > 0.5 && p.prob[11] > 0.5);
        }
}

/* A sparse fit is chosen for many rows, and says so. */
TEST(automatic)
{
    warnings  w = { 0 };
    cr_table *t = draw_classes(cx, 4, 2001, 2, 0.3, NULL);
    cr_ctx_set_log(cx, keep_warning, &w);
    cr_model *m = fit(cx, "gp-classify", t, "target=y optimize=none inducing=5");
    assert_non_null(strstr(
        w.text,
        "2001 distinct inputs: the sparse approximation svgp with 5 inducing inputs is used"));
    assert_non_null(strstr(w.text, "0.0641 GB"));
    assert_int_equal(cr_model_get_report(m)->evidence, CR_EVIDENCE_BOUND);
}

/* --- files and threads ----------------------------------------------------------------------- */

static void check_threads(cr_ctx *cx, const cr_table *t, const char *settings)
{
    size_t        threads[] = { 1, 2, 3, 7 };
    cr_prediction first = { 0 };
    double        value = 0;
    for (size_t k = 0; k < 4; k++) {
        char  *bytes = NULL;
        size_t size = 0;
        cr_ctx_set_threads(cx, threads[k]);
        cr_model     *m = fit(cx, "gp-classify", t, settings), *again = NULL;
        cr_prediction p = predict(cx, m, t), q;
        assert_ok(cx, cr_model_to_bytes(cx, m, &bytes, &size));
        assert_ok(cx, cr_model_from_bytes(cx, "m", bytes, size, &again));
        q = predict(cx, again, t);
        assert_memory_equal(p.prob, q.prob, p.n * p.n_classes * sizeof(double));
        if (k == 0) first = predict(cx, m, t), value = cr_model_get_report(m)->log_evidence;
        assert_memory_equal(p.prob, first.prob, p.n * p.n_classes * sizeof(double));
        assert_true(cr_model_get_report(again)->log_evidence == value);
        cr_model_free(cx, again);
        cr_free(cx, bytes, size, 1);
    }
}

TEST(file_and_threads)
{
    cr_table *two = draw_classes(cx, 6, 610, 2, 0.3, NULL),
             *three = draw_classes(cx, 6, 40, 3, 0.3, NULL);
    check_threads(cx, two, "target=y optimize=none kernel=0.5*rbf likelihood=probit");
    check_threads(cx, two, "target=y optimize=none kernel=30*rbf infer=ep");
    check_threads(cx, two, "target=y optimize=none kernel=0.5*rbf approx=svgp inducing=5");
    check_threads(cx, three, "target=y max_iter=1 kernel=rbf");
    check_threads(cx, three, "target=y optimize=none approx=svgp inducing=9");
}
