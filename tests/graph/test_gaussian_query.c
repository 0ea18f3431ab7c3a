/* Questions to Gaussian networks: answers against the information form, solved in long double, and
 * against formulas by hand; networks from JSON and back. */
#include "support.h"

#include "base/rng.h"
#include "graph/query/gaussian_query.h"
#include "graph/files/json_network.h"
#include "graph/files/network_file.h"

enum { MOST = 8 };

/* --- the oracle: conditioning in information form -------------------------------------------- */

/* Inverts A [n x n] by elimination with pivots; returns log |det A|. */
static double invert(size_t n, long double A[MOST][MOST], long double out[MOST][MOST])
{
    long double log_det = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) out[i][k] = i == k;
    for (size_t c = 0; c < n; c++) {
        size_t best = c;
        for (size_t r = c; r < n; r++)
            if (fabsl(A[r][c]) > fabsl(A[best][c])) best = r;
        for (size_t k = 0; k < n; k++) {
            long double t = A[c][k];
            A[c][k] = A[best][k], A[best][k] = t;
            t = out[c][k], out[c][k] = out[best][k], out[best][k] = t;
        }
        long double pivot = A[c][c];
        log_det += logl(fabsl(pivot));
        for (size_t k = 0; k < n; k++) A[c][k] /= pivot, out[c][k] /= pivot;
        for (size_t r = 0; r < n; r++) {
            long double f = A[r][c];
            for (size_t k = 0; r != c && k < n; k++)
                A[r][k] -= f * A[c][k], out[r][k] -= f * out[c][k];
        }
    }
    return (double)log_det;
}

typedef struct oracle {
    size_t      n;
    long double J[MOST][MOST], h[MOST]; /* of the network after do(), built from its nodes */
} oracle;

/* J = sum a a' / s, h = sum a b / s with a = e_v - weights, in long double. */
static oracle make_oracle(const cr_gaussian_network *net)
{
    oracle o = { .n = cr_gaussian_network_size(net) };
    for (size_t v = 0; v < o.n; v++) {
        cr_gaussian_node x = cr_gaussian_network_node(net, v);
        long double      a[MOST] = { 0 };
        a[v] = 1;
        for (size_t i = 0; i < x.n; i++) a[x.parents[i]] = -(long double)x.weights[i];
        for (size_t i = 0; i < o.n; i++) {
            o.h[i] += a[i] * (long double)x.intercept / (long double)x.variance;
            for (size_t k = 0; k < o.n; k++) o.J[i][k] += a[i] * a[k] / (long double)x.variance;
        }
    }
    return o;
}

/* Mean and covariance of all open variables given the marked ones at x. */
static void condition(const oracle *o, const bool *seen, const double *x, double *mean,
                      double cov[MOST][MOST])
{
    long double A[MOST][MOST], inverse[MOST][MOST], h[MOST];
    size_t      open[MOST], m = 0;
    for (size_t v = 0; v < o->n; v++)
        if (!seen[v]) open[m++] = v;
    for (size_t i = 0; i < m; i++) {
        h[i] = o->h[open[i]];
        for (size_t v = 0; v < o->n; v++)
            if (seen[v]) h[i] -= o->J[open[i]][v] * (long double)x[v];
        for (size_t k = 0; k < m; k++) A[i][k] = o->J[open[i]][open[k]];
    }
    invert(m, A, inverse);
    for (size_t i = 0; i < m; i++) {
        long double sum = 0;
        for (size_t k = 0; k < m; k++) {
            sum += inverse[i][k] * h[k];
            cov[open[i]][open[k]] = (double)inverse[i][k];
        }
        mean[open[i]] = (double)sum;
    }
}

/* log det of the covariance of the marked variables. */
static double log_det(const oracle *o, double cov[MOST][MOST], const bool *mark)
{
    long double A[MOST][MOST], inverse[MOST][MOST];
    size_t      list[MOST], m = 0;
    for (size_t v = 0; v < o->n; v++)
        if (mark[v]) list[m++] = v;
    for (size_t i = 0; i < m; i++)
        for (size_t k = 0; k < m; k++) A[i][k] = cov[list[i]][list[k]];
    return invert(m, A, inverse);
}

/* --- random networks ------------------------------------------------------------------------- */

static cr_gaussian_network *random_gaussian(cr_ctx *cx, cr_rng *r, size_t n)
{
    cr_gaussian_network *net;
    assert_ok(cx, cr_gaussian_network_new(cx, &net));
    for (size_t v = 0; v < n; v++) {
        size_t parents[MOST], k = 0;
        double weights[MOST];
        char   name[32];
        for (size_t u = 0; u < v; u++)
            if (cr_rng_below(r, 2)) parents[k] = u, weights[k++] = 2 * cr_rng_uniform(r) - 1;
        snprintf(name, sizeof name, "v%zu", v);
        assert_ok(cx, cr_gaussian_network_add(cx, net, name, k, parents, weights,
                                              4 * cr_rng_uniform(r) - 2, 0.2 + cr_rng_uniform(r),
                                              NULL));
    }
    return net;
}

static cr_query_answer ask(cr_ctx *cx, const cr_gaussian_network *net, const char *question)
{
    cr_query_answer a = { 0 };
    assert_ok(cx, cr_gaussian_query(cx, net, question, NULL, &a));
    return a;
}

/* "v1=0.25, v3=-1.5" of the marked variables. */
static void write_known(char *out, size_t capacity, size_t n, const bool *seen, const double *x)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t v = 0; v < n; v++)
        if (seen[v])
            used += (size_t)snprintf(out + used, capacity - used, "%sv%zu=%.17g", used ? ", " : "",
                                     v, x[v]);
}

TEST(answers_agree_with_the_information_form)
{
    cr_rng r = cr_rng_stream(11, 0);
    for (size_t trial = 0; trial < 60; trial++) {
        size_t               n = 3 + cr_rng_below(&r, MOST - 3);
        cr_gaussian_network *net = random_gaussian(cx, &r, n);
        oracle               o = make_oracle(net);
        bool                 seen[MOST] = { 0 }, none[MOST] = { 0 }, mark[MOST];
        double               x[MOST], mean[MOST], cov[MOST][MOST], all[MOST], C[MOST][MOST];
        char                 known[400], text[600];
        for (size_t v = 2; v < n; v++)
            seen[v] = cr_rng_below(&r, 2), x[v] = 4 * cr_rng_uniform(&r) - 2;
        condition(&o, seen, x, mean, cov);
        condition(&o, none, x, all, C);
        write_known(known, sizeof known, n, seen, x);
        bool any = known[0] != '\0';

        snprintf(text, sizeof text, "P(*%s%s)", any ? " | " : "", known);
        cr_query_answer a = ask(cx, net, text);
        for (size_t i = 0; i < a.n; i++) {
            assert_close(a.value[i], mean[a.variable[i]], 1e-10);
            assert_close(a.covariance[i], cov[a.variable[i]][a.variable[i]], 1e-10);
        }
        /* log p(e) from the joint covariance of what is seen */
        size_t      list[MOST], m = 0;
        long double A[MOST][MOST], inverse[MOST][MOST], distance = 0;
        for (size_t v = 0; v < n; v++)
            if (seen[v]) list[m++] = v;
        for (size_t i = 0; i < m; i++)
            for (size_t k = 0; k < m; k++) A[i][k] = C[list[i]][list[k]];
        double log_e = -0.5 * (invert(m, A, inverse) + (double)m * log(2 * M_PI));
        for (size_t i = 0; i < m; i++)
            for (size_t k = 0; k < m; k++)
                distance +=
                    inverse[i][k] * (x[list[i]] - all[list[i]]) * (x[list[k]] - all[list[k]]);
        log_e -= 0.5 * (double)distance;
        assert_close(a.log_evidence, log_e, 1e-10);
        cr_query_answer_free(cx, &a);
        if (any) { /* P(e) as a question */
            snprintf(text, sizeof text, "P(%s)", known);
            a = ask(cx, net, text);
            assert_close(a.log_number, log_e, 1e-10);
            cr_query_answer_free(cx, &a);
        }
        snprintf(text, sizeof text, "P(v1, v0%s%s)", any ? " | " : "", known);
        a = ask(cx, net, text);
        assert_int_equal(a.variable[0], 1);
        assert_close(a.value[1], mean[0], 1e-10);
        assert_close(a.covariance[0], cov[1][1], 1e-10);
        assert_close(a.covariance[1], cov[0][1], 1e-10);
        assert_close(a.covariance[2], cov[0][1], 1e-10);
        cr_query_answer_free(cx, &a);

        snprintf(text, sizeof text, "I(v0; v1%s%s)", any ? " | " : "", known);
        a = ask(cx, net, text);
        double rho2 = cov[0][1] * cov[0][1] / cov[0][0] / cov[1][1];
        assert_close(a.number, -0.5 * log1p(-rho2), 1e-10);
        cr_query_answer_free(cx, &a);
        snprintf(text, sizeof text, "H(v0, v1%s%s)", any ? " | " : "", known);
        a = ask(cx, net, text);
        memset(mark, 0, sizeof mark), mark[0] = mark[1] = true;
        assert_close(a.number, 0.5 * (2 * log(2 * M_PI * M_E) + log_det(&o, cov, mark)), 1e-10);
        cr_query_answer_free(cx, &a);

        snprintf(text, sizeof text, "argmax(v0%s%s)", any ? " | " : "", known);
        a = ask(cx, net, text);
        assert_close(a.value[0], mean[0], 1e-10);
        assert_close(a.log_number, -0.5 * log(2 * M_PI * cov[0][0]), 1e-10);
        cr_query_answer_free(cx, &a);
        cr_gaussian_network_free(cx, net);
    }
}

/* A variable that is averaged over: I(x; y | w) does not depend on the value of w. */
TEST(averages_are_over_covariances)
{
    cr_rng               r = cr_rng_stream(5, 0);
    cr_gaussian_network *net = random_gaussian(cx, &r, 5);
    cr_query_answer      a = ask(cx, net, "I(v0; v1, v2 | v3, v4=0.5)");
    cr_query_answer      b = ask(cx, net, "I(v0; v1, v2 | v3=7, v4=-2)");
    cr_query_answer c = ask(cx, net, "I(v0; * | v3, v4)"), d = ask(cx, net, "I(v0; v2 | v3, v4)");
    cr_query_answer e = ask(cx, net, "H(v0 | v3, v4)"), f = ask(cx, net, "H(v0 | v3, v4, v2)");
    assert_close(a.number, b.number, 1e-12);
    assert_int_equal(c.n, 2);
    assert_true(c.value[0] >= c.value[1]);
    assert_close(c.value[c.variable[0] == 2 ? 0 : 1], d.number, 1e-12);
    assert_close(e.number - f.number, d.number, 1e-12); /* I = H - H(. | .) */
    cr_query_answer *all[] = { &a, &b, &c, &d, &e, &f };
    for (size_t i = 0; i < 6; i++) cr_query_answer_free(cx, all[i]);
    cr_gaussian_network_free(cx, net);
}

/* --- by hand --------------------------------------------------------------------------------- */

/* x1 -> x2 -> x3 of Koller & Friedman (2009), example 7.3; children may come first. */
static const char CHAIN[] = "{\"network\": \"gaussian\", \"variables\": {\n"
                            "\"x3\": {\"linear-gaussian\": {\"intercept\": 1, \"weights\": "
                            "{\"x2\": -1}, \"variance\": 3}},\n"
                            "\"x1\": {\"linear-gaussian\": {\"intercept\": 1, \"variance\": 4}},\n"
                            "\"x2\": {\"linear-gaussian\": {\"intercept\": -3.5, \"weights\": "
                            "{\"x1\": 0.5}, \"variance\": 4}}}}";

static cr_gaussian_network *chain(cr_ctx *cx)
{
    cr_gaussian_network *net = NULL;
    assert_true(cr_json_is_gaussian(CHAIN, sizeof CHAIN - 1));
    assert_ok(cx, cr_json_parse_gaussian(cx, "g.json", CHAIN, sizeof CHAIN - 1, &net));
    return net;
}

TEST(actions_cut_arcs)
{
    cr_gaussian_network *net = chain(cx);
    size_t               x1, x3;
    assert_ok(cx, cr_gaussian_network_find(cx, net, "x1", &x1));
    assert_ok(cx, cr_gaussian_network_find(cx, net, "x3", &x3));
    cr_query_answer a = ask(cx, net, "P(* | do(x2=1.5))");
    assert_int_equal(a.n, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_close(a.value[i], a.variable[i] == x1 ? 1 : -0.5, 1e-15);
        assert_close(a.covariance[i], a.variable[i] == x1 ? 4 : 3, 1e-15);
    }
    assert_true(a.log_evidence == 0);
    cr_query_answer_free(cx, &a);
    a = ask(cx, net, "P(x1 | do(x2=1.5), x3=2)"); /* x3 tells nothing of x1 then */
    assert_close(a.value[0], 1, 1e-15);
    assert_close(a.covariance[0], 4, 1e-15);
    cr_query_answer_free(cx, &a);
    a = ask(cx, net, "P(x2 | do(x2=1.5))");
    assert_true(a.value[0] == 1.5 && a.covariance[0] == 0);
    cr_query_answer_free(cx, &a);
    a = ask(cx, net, "x1 _|_ x3 | do(x2=1)");
    assert_true(a.holds);
    cr_query_answer_free(cx, &a);
    a = ask(cx, net, "x1 _|_ x3");
    assert_false(a.holds);
    assert_int_equal(a.n, 3);
    cr_query_answer_free(cx, &a);
    a = ask(cx, net, "x1 _|_ x3 | x2");
    assert_true(a.holds);
    cr_query_answer_free(cx, &a);
    assert_close(cr_gaussian_network_node(net, x3).weights[0], -1,
                 0); /* the network is as it was */
    cr_gaussian_network_free(cx, net);
}

/* A sum without noise: y = a + b. */
TEST(sums_are_certain)
{
    static const char    TEXT[] = "{\"network\": \"gaussian\", \"variables\": {\"a\": "
                                  "{\"linear-gaussian\": {\"variance\": 1}},"
                                  "\"b\": {\"linear-gaussian\": {\"variance\": 3}}, \"y\": "
                                  "{\"linear-gaussian\": {\"variance\": 0, "
                                  "\"weights\": {\"a\": 1, \"b\": 1}}}}}";
    cr_gaussian_network *net = NULL;
    cr_query_answer      a = { 0 };
    assert_ok(cx, cr_json_parse_gaussian(cx, "g.json", TEXT, sizeof TEXT - 1, &net));
    a = ask(cx, net, "P(a, b | y=2)"); /* a gets its share of the variance */
    assert_close(a.value[0], 0.5, 1e-15);
    assert_close(a.value[1], 1.5, 1e-15);
    assert_close(a.covariance[0], 0.75, 1e-15);
    assert_close(a.covariance[1], -0.75, 1e-15);
    cr_query_answer_free(cx, &a);
    a = ask(cx, net, "argmax(* | a=1)");
    assert_close(a.value[0], 0, 1e-15);
    assert_close(a.value[1], 1, 1e-15);
    assert_true(isnan(a.log_number));
    cr_query_answer_free(cx, &a);
    a = ask(cx, net, "y _|_ b | a");
    assert_false(a.holds);
    cr_query_answer_free(cx, &a);
    assert_fails_with(cx, cr_gaussian_query(cx, net, "P(y | a=1, b=2, y=3)", NULL, &a), CR_ENUMERIC,
                      "follows from the others");
    assert_fails_with(cx, cr_gaussian_query(cx, net, "P(y=3 | a=1, b=2)", NULL, &a), CR_ENUMERIC,
                      "determined");
    assert_fails_with(cx, cr_gaussian_query(cx, net, "H(a | b, y)", NULL, &a), CR_ENUMERIC,
                      "determined");
    assert_fails_with(cx, cr_gaussian_query(cx, net, "P(b | do(a=1), do(b=2), y=3)", NULL, &a),
                      CR_ENUMERIC, "'y' is 3 for certain");
    cr_gaussian_network_free(cx, net);
}

TEST(overflow_is_named)
{
    static const char TEXT[] =
        "{\"network\": \"gaussian\", \"variables\": {\"a\": {\"linear-gaussian\": {\"variance\": "
        "1}},"
        "\"b\": {\"linear-gaussian\": {\"variance\": 1, \"weights\": {\"a\": 1e200}}}}}";
    cr_gaussian_network *net = NULL;
    cr_query_answer      a = { 0 };
    assert_ok(cx, cr_json_parse_gaussian(cx, "g.json", TEXT, sizeof TEXT - 1, &net));
    assert_fails_with(cx, cr_gaussian_query(cx, net, "P(*)", NULL, &a), CR_ENUMERIC,
                      "variance of 'b' is too large");
    cr_gaussian_network_free(cx, net);
}

TEST(nonsense_is_refused)
{
    static const struct {
        const char *text, *message;
    } QUESTIONS[] = {
        { "best(3; *)", "the variables of a Gaussian network have values" },
        { "causes(* | x1=1)", "the variables of a Gaussian network have values" },
        { "sensitivity(x1=1)", "the variables of a Gaussian network have values" },
        { "P(x1 | x2 in {a, b})", "evidence on a Gaussian variable is a value" },
        { "P(x1 | x2~{a:1})", "evidence on a Gaussian variable is a value" },
        { "P(x1 | x2:={a:1})", "evidence on a Gaussian variable is a value" },
        { "P(x1 | x2!=1)", "evidence on a Gaussian variable is a value" },
        { "P(x1 > 2)", "evidence on a Gaussian variable is a value" },
        { "P(x1 | x2=low)", "a finite number is expected here" },
        { "P(x1 | x2=inf)", "a finite number is expected here" },
        { "P(x1 | x2=1, x2=2)", "there is already evidence on 'x2'" },
        { "P(x1 | x2)", "what is the evidence on 'x2'?" },
        { "P(x4)", "there is no variable 'x4'" },
        { "P(x1=1 | x1=2)", "'x1' is already known" },
        { "H(x1 | x1=2)", "'x1' is known" },
        { "I(x1; x2 | do(x2=1))", "'x2' is known" },
    };
    cr_gaussian_network *net = chain(cx);
    for (size_t i = 0; i < sizeof QUESTIONS / sizeof *QUESTIONS; i++) {
        cr_query_answer a = { 0 };
        assert_fails_with(cx, cr_gaussian_query(cx, net, QUESTIONS[i].text, NULL, &a), CR_EARG,
                          QUESTIONS[i].message);
        assert_null(a.variable);
    }
    cr_gaussian_network_free(cx, net);
}

/* --- files ----------------------------------------------------------------------------------- */

TEST(networks_come_back)
{
    cr_rng r = cr_rng_stream(7, 0);
    for (size_t trial = 0; trial < 10; trial++) {
        cr_gaussian_network *net = random_gaussian(cx, &r, 1 + cr_rng_below(&r, MOST)),
                            *back = NULL;
        cr_network *none = NULL;
        char        path[512];
        snprintf(path, sizeof path, "%s/g.json", test_directory());
        assert_ok(cx, cr_gaussian_network_set_name(cx, net, "a \"name\""));
        assert_ok(cx, cr_json_write_gaussian(cx, net, path));
        assert_ok(cx, cr_network_read_either(cx, path, CR_FORMAT_AUTO, &none, &back));
        assert_null(none);
        assert_string_equal(cr_gaussian_network_name(back), "a \"name\"");
        assert_int_equal(cr_gaussian_network_size(net), cr_gaussian_network_size(back));
        for (size_t v = 0; v < cr_gaussian_network_size(net); v++) {
            cr_gaussian_node a = cr_gaussian_network_node(net, v),
                             b = cr_gaussian_network_node(back, v);
            assert_int_equal(a.n, b.n);
            assert_true(a.intercept == b.intercept && a.variance == b.variance);
            for (size_t i = 0; i < a.n; i++)
                assert_true(a.parents[i] == b.parents[i] && a.weights[i] == b.weights[i]);
        }
        assert_fails_with(cx, cr_network_read(cx, path, CR_FORMAT_AUTO, &none), CR_EDATA,
                          "this one is Gaussian");
        cr_gaussian_network_free(cx, net);
        cr_gaussian_network_free(cx, back);
    }
}

TEST(values_come_from_files)
{
    cr_gaussian_network *net = chain(cx);
    cr_findings          known = { 0 };
    cr_query_answer      a = { 0 }, b = ask(cx, net, "P(x1 | x3=2, x2=-1)");
    const char          *good = test_file("e.json", "{\"x2\": -1}", 10);
    assert_ok(cx, cr_gaussian_findings_read(cx, &known, net, good));
    assert_ok(cx, cr_gaussian_query(cx, net, "P(x1 | x3=2)", &known, &a));
    assert_true(a.value[0] == b.value[0] && a.log_evidence == b.log_evidence);
    assert_fails_with(cx, cr_gaussian_query(cx, net, "P(x1 | x2=2)", &known, &a), CR_EARG,
                      "already evidence on 'x2'");
    cr_findings_free(cx, &known);
    cr_query_answer_free(cx, &a);
    cr_query_answer_free(cx, &b);
    assert_fails_with(
        cx, cr_gaussian_findings_read(cx, &known, net, test_file("f.json", "{\"x5\": 1}", 9)),
        CR_EDATA, ":1:2: there is no variable 'x5'");
    assert_fails_with(
        cx, cr_gaussian_findings_read(cx, &known, net, test_file("h.json", "{\"x2\": \"a\"}", 11)),
        CR_EDATA, "the value of a Gaussian variable should be a number");
    cr_gaussian_network_free(cx, net);
}

TEST(values_that_are_set_come_from_json)
{
    cr_gaussian_network *net = chain(cx);
    cr_findings          known = { 0 };
    cr_query_answer      a = { 0 }, b = ask(cx, net, "P(* | x3=2, do(x2=-1))");
    static const char    set[] = "{\"x2\": {\"do\": -1}}";
    assert_ok(cx, cr_gaussian_findings_parse(cx, &known, net, "set", set, strlen(set)));
    assert_int_equal(known.item[0].kind, CR_FINDING_DO);
    assert_ok(cx, cr_gaussian_query(cx, net, "P(* | x3=2)", &known, &a));
    assert_true(a.n == b.n && a.value[0] == b.value[0]);
    cr_findings_free(cx, &known);
    cr_query_answer_free(cx, &a);
    cr_query_answer_free(cx, &b);
    assert_fails_with(
        cx, cr_gaussian_findings_parse(cx, &known, net, "set", "{\"x2\": {\"to\": 1}}", 17),
        CR_EDATA, "should be a number");
    cr_gaussian_network_free(cx, net);
}

#define NET(variables) "{\"network\": \"gaussian\", \"variables\": {" variables "}}"

TEST(mistakes_are_shown)
{
    static const struct {
        const char *text, *message;
    } FILES[] = {
        { NET(""), "there are no variables in the network" },
        { "{\"network\": \"bayes\", \"variables\": {}}", "a Gaussian network is needed here" },
        { NET("\"x\": 1"), "an object with \"linear-gaussian\" is expected here" },
        { NET("\"x\": {}"), "the key \"linear-gaussian\" is missing" },
        { NET("\"x\": {\"states\": 2}"), "the two cannot be mixed" },
        { NET("\"x\": {\"linear-gaussian\": {\"mean\": 1}}"), "there is no key \"mean\"" },
        { NET("\"x\": {\"linear-gaussian\": {}}"), "the key \"variance\" is missing" },
        { NET("\"x\": {\"linear-gaussian\": {\"variance\": -1}}"),
          "the variance should be 0 or more" },
        { NET("\"x\": {\"linear-gaussian\": {\"variance\": 1, \"weights\": {\"y\": 1}}}"),
          "there is no variable 'y'" },
        { NET("\"x\": {\"linear-gaussian\": {\"variance\": 1, \"weights\": {\"x\": 1}}}"),
          "variable 'x' is its own parent" },
        { NET("\"x\": {\"linear-gaussian\": {\"variance\": 1, \"weights\": {\"y\": 1}}},"
              "\"y\": {\"linear-gaussian\": {\"variance\": 1, \"weights\": {\"x\": 1}}}"),
          "'x' depends on itself through a cycle of parents" },
        { NET("\"x\": {\"linear-gaussian\": {\"variance\": 1}}, \"y\": {\"linear-gaussian\": "
              "{\"variance\": 1, \"weights\": {\"x\": \"a\"}}}"),
          "a weight should be a number" },
    };
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) {
        cr_gaussian_network *net = NULL;
        assert_fails_with(
            cx, cr_json_parse_gaussian(cx, "g.json", FILES[i].text, strlen(FILES[i].text), &net),
            CR_EDATA, FILES[i].message);
        assert_null(net);
        assert_true(strncmp(cr_error(cx), "g.json:1:", 9) == 0);
    }
}

/* --- memory ---------------------------------------------------------------------------------- */

static cr_status ask_all(cr_ctx *cx, void *path)
{
    static const char *const QUESTIONS[] = { "P(x1, x2 | x3=1)", "P(* | do(x2=1))",
                                             "P(x1=1 | x2=2)",   "argmax(* | x1=1)",
                                             "I(x1; * | x3=1)",  "x1 _|_ x3",
                                             "H(x1 | x2)",       "I(x1; x3)" };
    cr_network              *none = NULL;
    cr_gaussian_network     *net = NULL;
    cr_status                st = cr_network_read_either(cx, path, CR_FORMAT_JSON, &none, &net);
    for (size_t i = 0; i < 8 && st == CR_OK; i++) {
        cr_query_answer a = { 0 };
        st = cr_gaussian_query(cx, net, QUESTIONS[i], NULL, &a);
        cr_query_answer_free(cx, &a);
    }
    cr_gaussian_network_free(cx, net);
    return st;
}

TEST(every_allocation_may_fail)
{
    char path[512];
    snprintf(path, sizeof path, "%s", test_file("chain.json", CHAIN, sizeof CHAIN - 1));
    test_every_allocation_fails(ask_all, path);
}
