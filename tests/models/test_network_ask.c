/* Networks asked in words through a model: answers by hand, rows as questions, failures, memory. */
#include "support.h"
#include "../graph/small_networks.h"

#include "models/core/network_ask.h"
#include "plot/network_figure.h"

#include <jansson.h>

static cr_model *load(cr_ctx *cx, const char *text)
{
    cr_model   *m = NULL;
    const char *path = test_file("net.json", text, strlen(text));
    assert_ok(cx, cr_model_load_network(cx, path, CR_FORMAT_AUTO, &m));
    return m;
}

/* A number of the answer, by the names that lead to it. */
static double ask(cr_ctx *cx, const cr_model *m, const char *question, const char *evidence,
                  const char *a, const char *b, const char *c)
{
    char *text = NULL;
    assert_ok(cx, cr_model_query(cx, m, question, evidence, NULL, &text));
    json_t *root = json_loads(text, 0, NULL), *at = json_object_get(root, a);
    assert_non_null(at);
    if (b) at = json_object_get(at, b);
    if (c) at = json_object_get(at, c);
    assert_true(json_is_number(at));
    double x = json_number_value(at);
    json_decref(root);
    cr_free(cx, text, strlen(text) + 1, 1);
    return x;
}

/* P(z0 | x0) = 0.1 0.2 + 0.9 0.5 = 0.47, P(z0 | x1) = 0.32, P(z0) = 0.365. */
TEST(answers_are_those_of_enumeration)
{
    cr_model *m = load(cx, CHAIN);
    double    wanted = 0.3 * 0.47 / 0.365;
    assert_close(ask(cx, m, "P(x | z=z0)", NULL, "marginals", "x", "x0"), wanted, 1e-14);
    assert_close(ask(cx, m, "P(x)", "{\"z\": \"z0\"}", "marginals", "x", "x0"), wanted, 1e-14);
    assert_close(ask(cx, m, "P(x)", "{\"z\": \"z0\"}", "log_evidence", NULL, NULL), log(0.365),
                 1e-14);
    assert_close(ask(cx, m, "P(x)", "{\"y\": {\"do\": \"y0\"}}", "marginals", "x", "x0"), 0.3,
                 1e-14);
    assert_close(ask(cx, m, "P(x=x0 | z=z0)", NULL, "probability", NULL, NULL), wanted, 1e-14);
    cr_model_free(cx, m);
}

/* y ~ N(0.5, 1.5); x | y = 2: 1 + (1 / 1.5) (2 - 0.5) = 2, variance 2 - 1 / 1.5. */
TEST(values_too)
{
    cr_model *m = load(cx, NORMALS);
    bool      states = true;
    assert_int_equal(cr_variables_count(cr_model_variables(m, &states)), 3);
    assert_false(states);
    assert_close(ask(cx, m, "P(x)", "{\"y\": 2}", "marginals", "x", "mean"), 2, 1e-14);
    assert_close(ask(cx, m, "P(x | y=2)", NULL, "marginals", "x", "sd"), sqrt(2 - 1 / 1.5), 1e-14);
    cr_model_free(cx, m);
}

static cr_table *make_cases(cr_ctx *cx)
{
    static const uint32_t    z[] = { 0, 1, CR_MISSING_CODE };
    static const char *const levels[] = { "z0", "z1" };
    cr_table                *t = NULL;
    assert_ok(cx, cr_table_new(cx, "cases", 3, &t));
    assert_ok(cx, cr_table_add_category(cx, t, "z", z, levels, 2));
    return t;
}

/* Rows of evidence against the same as questions. */
TEST(rows_agree_with_questions)
{
    cr_model     *m = load(cx, CHAIN);
    cr_table     *t = make_cases(cx);
    cr_posteriors p = { 0 };
    assert_ok(cx, cr_model_infer(cx, m, t, NULL, NULL, NULL, &p));
    assert_true(p.rows == 3 && p.n == 3 && p.width == 6 && p.exact); /* z is open in one row */
    assert_close(p.value[0], 0.3 * 0.47 / 0.365, 1e-14);
    assert_close(p.value[6], 0.3 * 0.53 / 0.635, 1e-14);
    assert_close(p.value[12], 0.3, 1e-14);
    assert_close(p.log_evidence[0], log(0.365), 1e-14);
    assert_true(p.possible[0] && p.possible[1] && p.possible[2] && isnan(p.se[0]));
    cr_posteriors_free(cx, &p);
    assert_ok(cx, cr_model_infer(cx, m, t, "y", "{\"x\": \"x1\"}", NULL, &p));
    assert_true(p.n == 1 && p.variable[0] == 1 && p.width == 2);
    assert_close(p.value[0], 0.6 * 0.2 / 0.32, 1e-14);
    cr_posteriors_free(cx, &p);
    cr_table_free(cx, t);
    cr_model_free(cx, m);
}

TEST(refusals_say_why)
{
    cr_model     *m = load(cx, CHAIN), *normals = load(cx, NORMALS);
    cr_table     *t = make_cases(cx), *others = NULL;
    cr_posteriors p = { 0 };
    char         *text = NULL;
    assert_fails_with(cx, cr_model_query(cx, m, "P(w)", NULL, NULL, &text), CR_EARG,
                      "variable 'w'");
    assert_fails_with(cx, cr_model_query(cx, m, "P(x)", "{\"z\": \"z9\"}", NULL, &text), CR_EDATA,
                      "the evidence: 'z' has no state 'z9'");
    assert_fails_with(cx, cr_model_query(cx, m, "P(x)", "[1]", NULL, &text), CR_EDATA,
                      "the evidence");
    assert_fails_with(cx, cr_model_infer(cx, m, t, "w", NULL, NULL, &p), CR_EARG, "'w'");
    assert_fails_with(cx, cr_model_infer(cx, m, t, NULL, "{\"z\": \"z0\"}", NULL, &p), CR_EDATA,
                      "is also a column of cases");
    assert_ok(cx, cr_table_new(cx, "others", 3, &others));
    assert_ok(cx, cr_table_add_category(cx, others, "g", (uint32_t[]){ 0, 0, 0 },
                                        (const char *[]){ "a" }, 1));
    assert_fails_with(cx, cr_model_infer(cx, normals, others, NULL, NULL, NULL, &p), CR_EDATA,
                      "no column of others names a variable");
    assert_fails_with(cx, cr_model_write_network(cx, normals, "x.bif", CR_FORMAT_AUTO), CR_EARG,
                      "only .json and .cred");
    assert_null(text);
    cr_table_free(cx, others);
    cr_table_free(cx, t);
    cr_model_free(cx, m);
    cr_model_free(cx, normals);
}

static cr_status use(cr_ctx *cx, void *path)
{
    cr_status     st = CR_OK;
    cr_model     *m = NULL;
    cr_table     *t = NULL;
    cr_posteriors p = { 0 };
    char         *text = NULL;
    CR_TRY(cr_model_load_network(cx, path, CR_FORMAT_AUTO, &m));
    CR_TRY(cr_table_new(cx, "cases", 1, &t));
    CR_TRY(cr_table_add_category(cx, t, "z", (uint32_t[]){ 0 }, (const char *[]){ "z0" }, 1));
    CR_TRY(cr_model_infer(cx, m, t, "x,y", NULL, NULL, &p));
    CR_TRY(cr_model_query(cx, m, "P(x)", "{\"z\": \"z0\"}", NULL, &text));
    cr_free(cx, text, strlen(text) + 1, 1);
    text = NULL;
    CR_TRY(cr_model_describe_network(cx, m, &text));
    CR_TRY(cr_plot_model_network(cx, m, "P(* | z=z0)", "{\"y\": \"y0\"}", "chain", "/dev/null"));
done:
    if (text) cr_free(cx, text, strlen(text) + 1, 1);
    cr_posteriors_free(cx, &p);
    cr_table_free(cx, t);
    cr_model_free(cx, m);
    return st;
}

/* A network as it was given has no design: what only fitted models can do is refused, not tried. */
TEST(what_takes_a_fitted_model_is_refused)
{
    const double  x[] = { 0, 1 };
    cr_model     *m = load(cx, CHAIN);
    cr_table     *t = NULL;
    char         *bytes = NULL;
    size_t        size = 0;
    double        mean[2];
    cr_prediction p = { 0 };
    assert_ok(cx, cr_table_new(cx, "rows", 2, &t));
    assert_ok(cx, cr_table_add_numbers(cx, t, "x", CR_REAL, x, 1));
    const char *const why = "was not fitted to rows";
    assert_fails_with(cx, cr_model_to_bytes(cx, m, &bytes, &size), CR_EUNSUPPORTED, why);
    assert_fails_with(cx, cr_describe(cx, m, &bytes), CR_EUNSUPPORTED, why);
    assert_fails_with(cx, cr_predict(cx, m, t, &p), CR_EUNSUPPORTED, why);
    assert_fails_with(cx, cr_predict_mean(cx, m, t, mean), CR_EUNSUPPORTED, why);
    assert_fails(cx, cr_update(cx, m, t, &m), CR_EUNSUPPORTED);
    cr_table_free(cx, t);
    cr_model_free(cx, m);
}

TEST(every_allocation_may_fail)
{
    assert_non_null(cx);
    test_every_allocation_fails(use, (void *)(uintptr_t)test_file("n.json", CHAIN, strlen(CHAIN)));
}
