/* The table of questions: each row is whole, and what its answers hold is declared. */
#include "support.h"
#include "small_networks.h"

#include "graph/files/network_file.h"
#include "graph/query/methods.h"

static bool is_declared(const char *name, size_t n)
{
    for (const cr_field *f = cri_answer_fields; f->name; f++)
        if (strlen(f->name) == n && memcmp(f->name, name, n) == 0) return true;
    return false;
}

TEST(every_row_is_whole)
{
    assert_non_null(cx);
    for (size_t k = 0; k < CR_QUESTION_COUNT; k++) {
        const cri_question_row *row = cri_question_of((cr_question_kind)k);
        assert_true(row->answer && row->put && row->shows && row->shows[0]);
        assert_true(row->parse || !row->name); /* x _|_ y has no word to begin with */
        assert_true(!row->typed == !row->help);
        for (const char *at = row->shows; *at; at += strspn(at, " ")) {
            assert_true(is_declared(at, strcspn(at, " ")));
            at += strcspn(at, " ");
        }
    }
}

/* One question of each kind, in their order: x -> y -> z.  NULL: of no Gaussian network. */
static const struct {
    const char *states, *values;
} ASKED[CR_QUESTION_COUNT] = {
    [CR_QUESTION_TABLE] = { "P(x, y | z=z0)", "P(x, y | z=1)" },
    [CR_QUESTION_MARGINALS] = { "P(* | z=z0)", "P(* | z=1)" },
    [CR_QUESTION_PROBABILITY] = { "P(x=x0 | z=z0)", "P(x=0.5 | z=1)" },
    [CR_QUESTION_BEST] = { "argmax(*)", "argmax(* | x=2)" },
    [CR_QUESTION_BEST_LIST] = { "best(2; x, z)", NULL },
    [CR_QUESTION_ENTROPY] = { "H(x)", "H(x)" },
    [CR_QUESTION_INFORMATION] = { "I(x; z)", "I(x; z)" },
    [CR_QUESTION_INFORMATIVE] = { "I(x; *)", "I(x; *)" },
    [CR_QUESTION_CAUSES] = { "causes(* | z=z0)", NULL },
    [CR_QUESTION_SENSITIVITY] = { "sensitivity(x=x0 | z=z0)", NULL },
    [CR_QUESTION_SEPARATION] = { "x _|_ z", "x _|_ z | y" },
    [CR_QUESTION_DSEP] = { "dsep(x; z | y)", "dsep(x; z)" },
    [CR_QUESTION_PARENTS] = { "parents(y)", NULL },
    [CR_QUESTION_CHILDREN] = { "children(y)", NULL },
    [CR_QUESTION_ANCESTORS] = { "ancestors(z)", NULL },
    [CR_QUESTION_DESCENDANTS] = { "descendants(x)", NULL },
    [CR_QUESTION_BLANKET] = { "blanket(y)", NULL },
    [CR_QUESTION_ORDER] = { "order()", NULL },
    [CR_QUESTION_MORAL] = { "moral()", NULL },
    [CR_QUESTION_CLIQUES] = { "cliques()", NULL },
    [CR_QUESTION_CHORDAL] = { "chordal()", NULL },
    [CR_QUESTION_IMAP] = { NULL, NULL }, /* of a file: test_query_structure.c */
};

/* What stands in every answer. */
static const char HEAD[] = "query method exact log_evidence cost plan";

/* The sheet of an answer is what is declared and what its row shows, with the value that is the answer. */
static void check_answer(cr_ctx *cx, cri_any_network any, size_t kind, const char *text)
{
    cr_query_answer  a = { 0 };
    cri_sheet       *sheet = cri_sheet_new(cx);
    char             fault[256] = "";
    cri_answer_words words = { cri_any_variables(any), any.methods->states ? any.net : NULL, "nats",
                               1, true };
    assert_ok(cx, cri_any_query(cx, any, text, &a));
    assert_int_equal(a.kind, kind);
    cri_answer_put(&words, text, &a, sheet);
    assert_ok(cx, cri_sheet_status(sheet));
    if (cri_sheet_find_fault(sheet, cri_answer_fields, fault, sizeof fault))
        fail_msg("%s: %s", text, fault);
    assert_true(cri_sheet_kind_of(cri_answer_value(a.kind, sheet)) > CRI_SHEET_NULL);
    for (const cri_sheet *v = cri_sheet_first(sheet); v; v = cri_sheet_next(v))
        assert_true(cri_is_listed_word(HEAD, cri_sheet_name(v), strlen(cri_sheet_name(v))) ||
                    cri_is_listed_word(cri_question_of(a.kind)->shows, cri_sheet_name(v),
                                       strlen(cri_sheet_name(v))));
    assert_string_equal(cri_sheet_text(cri_sheet_get(sheet, "query")), text);
    cr_query_answer_free(cx, &a);
    cri_sheet_free(sheet);
}

TEST(answers_hold_what_is_declared)
{
    cr_network          *net = NULL, *none = NULL;
    cr_gaussian_network *gaussian = NULL;
    const char          *chain = test_file("chain.json", CHAIN, strlen(CHAIN));
    assert_ok(cx, cr_network_read_either(cx, chain, CR_FORMAT_AUTO, &net, &gaussian));
    assert_true(net && !gaussian);
    const char *normals = test_file("normals.json", NORMALS, strlen(NORMALS));
    assert_ok(cx, cr_network_read_either(cx, normals, CR_FORMAT_AUTO, &none, &gaussian));
    assert_true(!none && gaussian);
    cri_any_network states = { .methods = &cri_states_methods, .net = net },
                    values = { .methods = &cri_gaussian_methods, .net = gaussian };
    for (size_t k = 0; k < CR_QUESTION_COUNT; k++) {
        assert_true(!ASKED[k].values == !cri_question_of((cr_question_kind)k)->normal);
        if (ASKED[k].states) check_answer(cx, states, k, ASKED[k].states);
        if (ASKED[k].values) check_answer(cx, values, k, ASKED[k].values);
    }
    cr_network_free(cx, net);
    cr_gaussian_network_free(cx, gaussian);
}

/* Rows of a Gaussian network agree with its questions, with evidence that all rows have. */
TEST(rows_of_values_agree_with_questions)
{
    cr_network          *none = NULL;
    cr_gaussian_network *net = NULL;
    cri_cases            cases;
    cr_findings          known = { 0 };
    cr_query_answer      a = { 0 };
    cr_query_options     o = cr_query_defaults();
    double               log_e, p[2];
    bool                 possible;
    const char          *normals = test_file("normals.json", NORMALS, strlen(NORMALS));
    assert_ok(cx, cr_network_read_either(cx, normals, CR_FORMAT_AUTO, &none, &net));
    cri_any_network any = { .methods = &cri_gaussian_methods, .net = net };
    assert_ok(cx, cr_gaussian_findings_read(cx, &known, net, test_file("e.json", "{\"x\": 2}", 8)));
    assert_ok(cx, cri_cases_open(cx, any, &known, &o, &cases));
    assert_true(any.methods->is_fixed(&cases, 0) && !any.methods->is_fixed(&cases, 1));
    assert_ok(cx, any.methods->observe(&cases, 2, -0.75));
    assert_ok(cx, any.methods->ask(&cases, &log_e, &possible));
    assert_true(possible);
    assert_ok(cx, any.methods->posterior(&cases, 1, p));
    assert_ok(cx, cri_any_query(cx, any, "P(y | x=2, z=-0.75)", &a));
    assert_close(p[0], a.value[0], 1e-12);
    assert_close(p[1], sqrt(a.covariance[0]), 1e-12);
    assert_close(log_e, a.log_evidence, 1e-12);
    cri_cases_close(&cases);
    o.method = CR_QUERY_VE;
    assert_fails_with(cx, cri_cases_open(cx, any, &known, &o, &cases), CR_EARG,
                      "always answered exactly");
    cr_query_answer_free(cx, &a);
    cr_findings_free(cx, &known);
    cr_gaussian_network_free(cx, net);
}
