/* Networks of slices as files and in questions: what is read is what is written; questions slice by slice have the answers
 * of the slices side by side; tables whose rows are slices; every mistake is shown in its place. */
#include "support.h"

#include "base/file.h"
#include "data/formats/read.h"
#include "data/table/table.h"
#include "graph/files/json_dynamic.h"
#include "graph/files/json_network.h"
#include "graph/query/cases_table.h"
#include "graph/query/dynamic_query.h"
#include "graph/query/dynamic_slices.h"
#include "graph/query/query_more.h"
#include "random_dynamic.h"

static const char UMBRELLA[] =
    "{\"network\": \"bayes\", \"name\": \"umbrella\", \"slices\": 2, \"variables\": {\n"
    "\"rain\": {\"states\": [\"no\", \"yes\"], \"initial\": {\"table\": [0.5, 0.5]},\n"
    "  \"parents\": [\"rain[-1]\"], \"table\": {\"no\": [0.7, 0.3], \"yes\": [0.3, 0.7]}},\n"
    "\"umbrella\": {\"states\": [\"no\", \"yes\"], \"parents\": [\"rain\"],\n"
    "  \"table\": {\"no\": [0.8, 0.2], \"yes\": [0.1, 0.9]}}}}";

static cri_dynamic *parse(cr_ctx *cx, const char *text)
{
    cri_dynamic *net = NULL;
    assert_true(cri_json_is_dynamic(text, strlen(text)));
    assert_ok(cx, cri_json_parse_dynamic(cx, "x.json", text, strlen(text), &net));
    return net;
}

/* The probability that a question has for an answer. */
static double number(cr_ctx *cx, const cri_dynamic *net, const char *text)
{
    cr_question    *q = NULL;
    cr_query_answer a = { 0 };
    assert_ok(cx, cri_dynamic_methods.parse(cx, net, text, &q));
    assert_ok(cx, cri_dynamic_query_run(cx, net, q, NULL, NULL, &a));
    double p = a.number;
    cr_query_answer_free(cx, &a);
    cr_question_free(cx, q);
    return p;
}

/* --- the umbrella of Russell & Norvig -------------------------------------------------------- */

TEST(umbrella)
{
    cri_dynamic *net = parse(cx, UMBRELLA);
    assert_close(number(cx, net, "P(rain[t=1]=yes | umbrella[t=1]=yes)"), 0.818181818, 1e-9);
    assert_close(number(cx, net, "P(rain[t=2]=yes | umbrella[t=1..2]=yes)"), 0.883357041, 1e-9);
    assert_close(number(cx, net, "P(rain[t=1]=yes | umbrella[t=1]=yes, umbrella[2]=yes)"),
                 0.883357041, 1e-9);
    assert_close(number(cx, net, "P(rain[t=100000]=yes | umbrella[t=1]=yes)"), 0.5, 1e-12);
    cri_dynamic_free(cx, net);
}

/* --- questions ------------------------------------------------------------------------------- */

static void check_same(cr_ctx *cx, const cr_query_answer *a, const cr_query_answer *b)
{
    assert_close(a->log_evidence, b->log_evidence, 1e-9);
    assert_int_equal(a->n, b->n);
    for (size_t i = 0; i < a->n; i++)
        assert_string_equal(cr_variable_name(cr_network_variables(a->about), a->variable[i]),
                            cr_variable_name(cr_network_variables(b->about), b->variable[i]));
    assert_int_equal(a->values, b->values);
    for (size_t i = 0; i < a->values; i++) assert_close(a->value[i], b->value[i], 1e-9);
    assert_int_equal(a->table.size, b->table.size);
    for (size_t i = 0; i < a->table.size; i++)
        assert_close(a->table.value[i], b->table.value[i], 1e-9);
    if (a->kind == CR_QUESTION_PROBABILITY) assert_close(a->number, b->number, 1e-9);
    if (a->kind == CR_QUESTION_BEST) assert_close(a->log_joint, b->log_joint, 1e-9);
    (void)cx;
}

/* A question slice by slice and side by side; false: its evidence is impossible, which both say. */
static bool ask_both(cr_ctx *cx, const cri_dynamic *net, const char *text)
{
    cr_question     *q = NULL;
    cr_query_answer  a = { 0 }, b = { 0 };
    cr_query_options o = cr_query_defaults();
    bool             lost;
    o.method = CR_QUERY_VE;
    assert_ok(cx, cri_dynamic_methods.parse(cx, net, text, &q));
    assert_true(cri_dynamic_by_slices(q, NULL));
    cr_status st = cri_dynamic_slices_run(cx, net, q->slices, q, NULL, &a, &lost);
    assert_false(lost);
    if (st == CR_OK) {
        assert_ok(cx, cri_dynamic_query_run(cx, net, q, NULL, &o, &b));
        check_same(cx, &a, &b);
    } else {
        assert_int_equal(st, CR_EDATA);
        assert_fails_with(cx, cri_dynamic_query_run(cx, net, q, NULL, &o, &b), CR_EDATA,
                          "impossible");
    }
    cr_query_answer_free(cx, &a);
    cr_query_answer_free(cx, &b);
    cr_question_free(cx, q);
    return st == CR_OK;
}

TEST(slice_by_slice_is_side_by_side)
{
    static const char *const QUESTIONS[] = {
        "P(v0[t=1] | v1[t=4]=0)",
        "P(v0[t=6])",
        "P(v0[t=2], v1[t=5], v2[t=2] | v1[t=3]=0)",
        "P(v2[t=3], v0[t=1] | v1[t=3]~{0:0.5, 1:0.25})",
        "P(v0[t=2], v1[t=2] | v1[t=2]=1, v0[t=3]=0)",
        "P(v0[t=2], v1[t=3] | v0[t=2]~{0:0.5, 1:0.25})",
        "P(* | v0[t=2]=1, v2[t=5]!=1)",
        "P(* | do(v0[t=2..3]=1), v1[t=4]=0)",
        "P(v0[t=1]=0, v2[t=4]=1 | v1[t=2]=0)",
        "P(v0[t=3]=1 | v0[t=3] in {0, 1}, v1[t=2]=1)",
        "P(v0[t=3]=1 | v0[t=3]=0)",
        "P(v1[t=1..3]=1)",
        "argmax(* | v0[t=4]=0, v1[t=2]=1)",
        "argmax(* | v0[t=1..2]=0, do(v1[t=3]=1))",
    };
    size_t n = sizeof QUESTIONS / sizeof *QUESTIONS, possible = 0, networks = 0;
    for (uint64_t seed = 1; networks < 20; seed++) {
        cr_rng       r = cr_rng_stream(seed, 1);
        cri_dynamic *net = random_dynamic(cx, &r, 3);
        bool         two = true; /* the likelihoods above are of two states */
        for (size_t v = 0; v < 3; v++) two &= cr_network_states(net->first, v) == 2;
        networks += two;
        for (size_t i = 0; i < n && two; i++) possible += ask_both(cx, net, QUESTIONS[i]);
        cri_dynamic_free(cx, net);
    }
    assert_true(possible > 20 * n / 2);
}

/* What the interface cannot answer, or what is short, is asked side by side; the plan says which. */
TEST(plan)
{
    static const struct {
        const char *text, *method;
    } QUESTIONS[] = {
        { "P(rain[t=3] | umbrella[t=1]=yes)", "ve" },
        { "P(rain[t=400] | umbrella[t=1]=yes)", "interface" },
        { "P(* | umbrella[t=400]=yes)", "interface" },
        { "argmax(* | umbrella[t=400]=yes)", "interface" },
        { "argmax(rain[t=1], rain[t=400] | umbrella[t=4]=yes)", "ve" },
        { "P(rain[t=1] | umbrella[t=300]:={yes:0.3, no:0.7})", "ve" },
        { "H(rain[t=300] | umbrella[t=299]=yes)", "ve" },
        { "rain[t=1] _|_ rain[t=5] | rain[t=3]", "graph" },
        { "children(rain[t=1])", "graph" },
    };
    cri_dynamic *net = parse(cx, UMBRELLA);
    for (size_t i = 0; i < sizeof QUESTIONS / sizeof *QUESTIONS; i++) {
        cr_question    *q = NULL;
        cr_query_answer a = { 0 };
        assert_ok(cx, cri_dynamic_methods.parse(cx, net, QUESTIONS[i].text, &q));
        assert_ok(cx, cri_dynamic_query_run(cx, net, q, NULL, NULL, &a));
        assert_string_equal(a.method, QUESTIONS[i].method);
        assert_true(a.exact && a.about);
        if (strcmp(a.method, "graph") != 0) assert_non_null(a.plan.method);
        cr_query_answer_free(cx, &a);
        cr_question_free(cx, q);
    }
    cri_dynamic_free(cx, net);
}

TEST(mistakes_in_questions)
{
    static const struct {
        const char *text, *message;
    } QUESTIONS[] = {
        { "P(rain)", "'rain' is in every slice" },
        { "P(rain[t=0])", "slices are numbered from 1 to 1000000" },
        { "P(rain[t=1000001])", "slices are numbered from 1 to 1000000" },
        { "P(rain[t=99999999999999999999999])", "slices are numbered from 1 to 1000000" },
        { "P(rain[-1])", "slices are numbered from 1" },
        { "P(rain[])", "the number of a slice" },
        { "P(rain[t=2)", "expected ']'" },
        { "P(rain[t=3..2])", "comes before its first" },
        { "P(rain[t=1..20000])", "up to 10000 slices" },
        { "P(rain[t=1..3], rain[t=2])", "'rain[t=2]' occurs here twice" },
        { "P(rian[t=1])", "there is no variable 'rian'" },
        { "P(rain[t=1] | rain[t=2])", "what is the evidence on 'rain[t=2]'" },
        { "P(rain[t=1] | rain[t=2]=maybe)", "'rain' has no state 'maybe'" },
        { "rain[t=1] _|_ rain[t=1]", "'rain[t=1]' occurs on both sides" },
    };
    static const struct {
        const char *text, *message;
    } UNANSWERED[] = {
        { "P(*)", "* means all variables up to the last slice that is named" },
        { "sensitivity(rain[t=1]=yes)", "sensitivity() is not for networks with slices" },
        { "descendants(rain[t=1])", "go on for ever" },
        { "H(rain[t=900000])", "side by side" },
        { "P(rain[t=1] | umbrella[t=1]=yes, umbrella[t=1]=no)", "there is already evidence" },
    };
    cri_dynamic *net = parse(cx, UMBRELLA);
    for (size_t i = 0; i < sizeof QUESTIONS / sizeof *QUESTIONS; i++) {
        cr_question *q = NULL;
        assert_fails_with(cx, cri_dynamic_methods.parse(cx, net, QUESTIONS[i].text, &q), CR_EARG,
                          QUESTIONS[i].message);
        assert_null(q);
    }
    for (size_t i = 0; i < sizeof UNANSWERED / sizeof *UNANSWERED; i++) {
        cr_question    *q = NULL;
        cr_query_answer a = { 0 };
        cr_status       st = cri_dynamic_methods.parse(cx, net, UNANSWERED[i].text, &q);
        if (st == CR_OK) st = cri_dynamic_query_run(cx, net, q, NULL, NULL, &a);
        check_status(cx, st, CR_EARG, UNANSWERED[i].message, UNANSWERED[i].text, __FILE__,
                     __LINE__);
        cr_question_free(cx, q);
    }
    cri_dynamic_free(cx, net);
}

TEST(impossible_slices_are_named)
{
    cri_dynamic *net = parse(cx, "{\"network\": \"bayes\", \"slices\": 2, \"variables\": {\"x\": "
                                 "{\"states\": 2, \"initial\": {\"table\": [1, 0]}, \"parents\": "
                                 "[\"x[-1]\"], \"table\": [[1, 0], [0, 1]]}}}");
    cr_question *q = NULL;
    cr_query_answer a = { 0 };
    bool            lost;
    assert_ok(cx, cri_dynamic_methods.parse(cx, net, "P(* | x[t=7]=1, x[t=9]=0)", &q));
    assert_fails_with(cx, cri_dynamic_slices_run(cx, net, 9, q, NULL, &a, &lost), CR_EDATA,
                      "the evidence is impossible");
    cr_question_free(cx, q);
    cri_dynamic_free(cx, net);
}

/* What never changes is learned of for 200 slices, and then unlearned: in between its probability is no double. */
TEST(swings_that_no_double_holds)
{
    cri_dynamic *net =
        parse(cx, "{\"network\": \"bayes\", \"slices\": 2, \"variables\": {\"x\": {\"states\": "
                  "2, \"initial\": {\"table\": [0.5, 0.5]}, \"parents\": [\"x[-1]\"], \"table\": "
                  "[[1, 0], [0, 1]]}, \"y\": {\"states\": 2, \"parents\": [\"x\"], \"table\": "
                  "[[0.99, 0.01], [0.01, 0.99]]}}}");
    double even = number(cx, net, "P(x[t=1]=1 | y[t=1..200]=0, y[t=201..400]=1)");
    assert_close(even, 0.5, 1e-9);
    double last = number(cx, net, "P(x[t=1]=1 | y[t=1..200]=0, y[t=201..401]=1)");
    assert_close(last, 0.99, 1e-9);
    cri_dynamic_free(cx, net);
}

TEST(evidence_from_a_file)
{
    static const char JSON[] =
        "{\"umbrella[t=2]\": \"yes\", \"rain[1]\": {\"no\": 0.2, \"yes\": 0.6}}";
    static const char *const BAD[] = { "{\"umbrella\": \"yes\"}", "{\"umbrella[t=1..2]\": \"yes\"}",
                                       "{\"umbrela[t=1]\": \"yes\"}",
                                       "{\"rain[t=1] x\": \"yes\"}" };
    cri_dynamic             *net = parse(cx, UMBRELLA);
    cr_question             *q = NULL;
    cr_query_answer          a = { 0 };
    cr_findings              more = { 0 };
    assert_ok(cx, cri_dynamic_methods.parse_findings(cx, &more, net, "e", JSON, strlen(JSON)));
    assert_ok(cx, cri_dynamic_methods.parse(cx, net, "P(rain[t=1]=yes)", &q));
    assert_ok(cx, cri_dynamic_query_run(cx, net, q, &more, NULL, &a));
    double expected =
        number(cx, net, "P(rain[t=1]=yes | umbrella[t=2]=yes, rain[t=1]~{no:0.2, yes:0.6})");
    assert_close(a.number, expected, 1e-12);
    cr_query_answer_free(cx, &a);
    cr_findings_free(cx, &more);
    for (size_t i = 0; i < 4; i++) {
        assert_fails_with(
            cx,
            cri_dynamic_methods.parse_findings(cx, &more, net, "e.json", BAD[i], strlen(BAD[i])),
            CR_EDATA, "e.json: ");
        cr_findings_free(cx, &more);
    }
    cr_question_free(cx, q);
    cri_dynamic_free(cx, net);
}

/* --- files ----------------------------------------------------------------------------------- */

static void check_same_tables(const cr_network *a, const cr_network *b, size_t from)
{
    assert_int_equal(cr_network_size(a), cr_network_size(b));
    for (size_t v = from; v < cr_network_size(a); v++) {
        cr_table_view x = cr_network_table(a, v), y = cr_network_table(b, v);
        assert_string_equal(cr_variable_name(cr_network_variables(a), v),
                            cr_variable_name(cr_network_variables(b), v));
        assert_int_equal(x.n, y.n);
        assert_memory_equal(x.scope, y.scope, x.n * sizeof *x.scope);
        assert_int_equal(x.size, y.size);
        assert_memory_equal(x.value, y.value, x.size * sizeof *x.value);
        assert_int_equal(x.kind, y.kind);
    }
}

TEST(files_come_back)
{
    static const char NOISY[] =
        "{\"network\": \"bayes\", \"slices\": 2, \"properties\": [\"two\"], \"variables\": {\n"
        "\"a\": {\"states\": [\"no\", \"yes\"], \"initial\": {\"table\": [0.9, 0.1]}, \"parents\": "
        "[\"a[-1]\", \"b[-1]\"], \"noisy-or\": {\"leak\": 0.1, \"strengths\": {\"a[-1]\": 0.7, "
        "\"b[-1]\": 0.2}}},\n"
        "\"b\": {\"states\": [\"no\", \"yes\"], \"parents\": [\"a\"], \"deterministic\": {\"no\": "
        "\"yes\", \"yes\": \"no\"}, \"properties\": [\"not a\"]},\n"
        "\"c\": {\"states\": 3, \"initial\": {\"parents\": [\"b\"], \"table\": [[0.2, 0.3, 0.5], "
        "[1, 0, "
        "0]]}, \"parents\": [\"c[-1]\", \"a\"], \"tree\": {\"split\": \"a\", \"branches\": "
        "{\"no\": "
        "{\"split\": \"c[-1]\", \"branches\": {\"0\": [1, 0, 0], \"1\": [0, 1, 0], \"2\": [0, 0, "
        "1]}}, \"yes\": [0.2, 0.2, 0.6]}}}}}";
    for (uint64_t seed = 0; seed < 30; seed++) {
        cr_rng       r = cr_rng_stream(seed, 2);
        cri_dynamic *net =
            seed ? random_dynamic(cx, &r, 1 + cr_rng_below(&r, 6)) : parse(cx, NOISY);
        cri_dynamic *back = NULL;
        char         path[512], *bytes;
        size_t       size;
        snprintf(path, sizeof path, "%s/d.json", test_directory());
        assert_ok(cx, cri_json_write_dynamic(cx, net, path));
        assert_ok(cx, cri_file_load(cx, path, 0, &bytes, &size));
        assert_ok(cx, cri_json_parse_dynamic(cx, path, bytes, size, &back));
        cr_free(cx, bytes, size, 1);
        check_same_tables(net->first, back->first, 0);
        check_same_tables(net->next, back->next, net->n);
        assert_int_equal(cr_network_properties(net->first), cr_network_properties(back->first));
        cri_dynamic_free(cx, back);
        cri_dynamic_free(cx, net);
    }
}

#define SLICES(variables) "{\"network\": \"bayes\", \"slices\": 2, \"variables\": {" variables "}}"
#define X(more) "\"x\": {\"states\": 2, " more "}"
#define TWO "\"table\": [[0.5, 0.5], [0.5, 0.5]]"

TEST(mistakes_in_files)
{
    static const struct {
        const char *text, *message;
    } FILES[] = {
        { "{\"network\": \"bayes\", \"slices\": 3, \"variables\": {}}", "\"slices\" should be 2" },
        { "{\"network\": \"bayes\", \"slices\": \"two\", \"variables\": {}}", "should be 2" },
        { "{\"network\": \"markov\", \"slices\": 2}", "only Bayesian networks have slices" },
        { SLICES(""), "there are no variables" },
        { SLICES(X("\"parents\": [\"x[-1]\"], " TWO)), "nothing says how it begins" },
        { SLICES(X("\"parents\": [\"x[-2]\"], " TWO)), "not in this slice or the one before" },
        { SLICES(X("\"parents\": [\"x[1]\"], " TWO)), "not in this slice or the one before" },
        { SLICES(X("\"parents\": [\"z[-1]\"], \"initial\": {\"table\": [1, 0]}, " TWO)),
          "there is no variable 'z[-1]'" },
        { SLICES(X("\"parents\": [\"x\"], " TWO)), "'x' is its own parent" },
        { SLICES(X("\"initial\": {\"parents\": [\"x[-1]\"], " TWO "}, \"table\": [1, 0]")),
          "which the first slice lacks" },
        { SLICES(X("\"initial\": {\"table\": [1, 1]}, \"parents\": [\"x[-1]\"], " TWO)),
          "sum to 2" },
        { SLICES(X("\"initial\": {\"states\": 2, \"table\": [1, 0]}, \"table\": [1, 0]")),
          "states" },
        { SLICES(X("\"initial\": 3, \"table\": [1, 0]")), "an object with the probabilities" },
        { SLICES(X("\"parents\": 3, \"table\": [1, 0]")), "a list of variables" },
        { SLICES("\"x[1]\": {\"states\": 2, \"table\": [1, 0]}"), "cannot contain brackets" },
        { SLICES(
              X("\"parents\": [\"y\"], " TWO) ", \"y\": {\"states\": 2, \"parents\": [\"x\"], " TWO
                                              "}"),
          "cycle" },
        { "{\"network\": \"bayes\", \"slices\": 2, \"variables\": {}, \"factors\": {}}",
          "no key \"factors\"" },
    };
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) {
        cri_dynamic *net = NULL;
        assert_fails_with(
            cx, cri_json_parse_dynamic(cx, "d.json", FILES[i].text, strlen(FILES[i].text), &net),
            CR_EDATA, FILES[i].message);
        assert_null(net);
        assert_true(strncmp(cr_error(cx), "d.json:1:", 9) == 0);
    }
    cr_network *plain = NULL; /* where only networks without slices are known */
    assert_fails_with(cx, cr_json_parse(cx, "d.json", UMBRELLA, sizeof UMBRELLA - 1, &plain),
                      CR_EDATA, "a network without slices is needed here");
}

/* --- rows that are slices -------------------------------------------------------------------- */

static cr_table *read_table(cr_ctx *cx, const char *text)
{
    cr_read_options o;
    cr_table       *t = NULL;
    assert_ok(cx, cr_options_init(cx, cr_read_table, &o));
    assert_ok(cx, cr_table_read(cx, test_file("rows.csv", text, strlen(text)), &o, &t));
    cr_options_free(cx, cr_read_table, &o);
    return t;
}

/* P(rain=yes) of each row. */
static void infer(cr_ctx *cx, const char *text, const cri_case_order *order, size_t rows,
                  double *out, double *out_log)
{
    cri_dynamic     *net = parse(cx, UMBRELLA);
    cri_any_network  any = { .methods = &cri_dynamic_methods, .net = net };
    cr_table        *t = read_table(cx, text);
    cr_scratch       s = cr_scratch_begin(cx);
    cr_query_options o = cr_query_defaults();
    cr_findings      none = { 0 };
    cri_cases        cases;
    cri_case_column *known;
    size_t           n;
    assert_ok(cx, cri_cases_match(&s, any, t, order, &known, &n));
    assert_ok(cx, cri_cases_open(cx, any, &none, &o, &cases));
    assert_ok(cx, cri_cases_follow(&cases, t, order, known, n));
    assert_int_equal(cr_table_rows(t), rows);
    for (size_t i = 0; i < rows; i++) {
        bool   possible;
        double p[2];
        assert_ok(cx, any.methods->ask(&cases, &out_log[i], &possible));
        assert_true(possible);
        assert_ok(cx, any.methods->posterior(&cases, 0, p));
        out[i] = p[1];
    }
    cri_cases_close(&cases);
    cr_scratch_end(&s);
    cr_table_free(cx, t);
    cri_dynamic_free(cx, net);
}

TEST(rows_are_slices)
{
    static const char    ROWS[] = "day,place,umbrella\n2,a,yes\n1,b,no\n1,a,yes\n3,a,no\n2,b,\n";
    const cri_case_order smoothed = { "place", "day", false }, filtered = { "place", "day", true };
    cri_dynamic         *net = parse(cx, UMBRELLA);
    double               p[5], log_e[5];
    infer(cx, ROWS, &smoothed, 5, p, log_e);
    assert_close(p[2], number(cx, net, "P(rain[t=1]=yes | umbrella[t=1..2]=yes, umbrella[t=3]=no)"),
                 1e-12);
    assert_close(p[0], number(cx, net, "P(rain[t=2]=yes | umbrella[t=1..2]=yes, umbrella[t=3]=no)"),
                 1e-12);
    assert_close(p[3], number(cx, net, "P(rain[t=3]=yes | umbrella[t=1..2]=yes, umbrella[t=3]=no)"),
                 1e-12);
    assert_close(p[4], number(cx, net, "P(rain[t=2]=yes | umbrella[t=1]=no)"), 1e-12);
    assert_close(exp(log_e[2] + log_e[0] + log_e[3]),
                 number(cx, net, "P(umbrella[t=1..2]=yes, umbrella[t=3]=no)"), 1e-12);
    assert_true(log_e[4] == 0);
    infer(cx, ROWS, &filtered, 5, p, log_e);
    assert_close(p[2], number(cx, net, "P(rain[t=1]=yes | umbrella[t=1]=yes)"), 1e-12);
    assert_close(p[0], number(cx, net, "P(rain[t=2]=yes | umbrella[t=1..2]=yes)"), 1e-12);
    assert_close(p[1], number(cx, net, "P(rain[t=1]=yes | umbrella[t=1]=no)"), 1e-12);
    cri_dynamic_free(cx, net);
}

/* --- memory ---------------------------------------------------------------------------------- */

static cr_status ask_all(cr_ctx *cx, void *arg)
{
    static const char *const QUESTIONS[] = {
        "P(rain[t=2], rain[t=1] | umbrella[t=2]~{no:0.5, yes:0.2})", "P(* | umbrella[t=2]=yes)",
        "P(rain[t=2]=yes | do(umbrella[t=1]=no))", "argmax(* | umbrella[t=2]=yes)"
    };
    cri_dynamic *net = NULL;
    cr_status    st = cri_json_parse_dynamic(cx, "u", UMBRELLA, sizeof UMBRELLA - 1, &net);
    (void)arg;
    for (size_t i = 0; i < 8 && st == CR_OK; i++) {
        cr_question    *q = NULL;
        cr_query_answer a = { 0 };
        bool            lost;
        st = cri_dynamic_methods.parse(cx, net, QUESTIONS[i / 2], &q);
        if (st == CR_OK)
            st = i % 2 ? cri_dynamic_query_run(cx, net, q, NULL, NULL, &a)
                       : cri_dynamic_slices_run(cx, net, 2, q, NULL, &a, &lost);
        cr_query_answer_free(cx, &a);
        cr_question_free(cx, q);
    }
    cri_dynamic_free(cx, net);
    return st;
}

TEST(allocations_may_fail) { test_every_allocation_fails(ask_all, NULL); }
