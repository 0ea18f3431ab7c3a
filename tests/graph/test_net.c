/* Hugin NET: what other programs write is understood; every mistake is shown in its place. */
#include "graph/files/net.h"
#include "file_format.h"

#define NODES                                                                                      \
    "net { }\nnode a { states = (\"yes\" \"no\"); }\n"                                             \
    "node b { states = (\"lo\" \"mid\" \"hi\"); }\nnode c { states = (\"t\" \"f\"); }\n"
#define PRIORS "potential (a) { data = (0.3 0.7); }\npotential (b) { data = (0.2 0.3 0.5); }\n"

static const char PLAIN[] = NODES PRIORS "potential (c | a b) { data = (((0.1 0.9)(0.2 0.8)(0.3 "
                                         "0.7))((0.4 0.6)(0.5 0.5)(0.6 0.4))); }\n";

static const file_format format = { cr_net_parse, "x.net" };

TEST(dialects_mean_the_same)
{
    static const char *const SAME[] = {
        /* comments, fields of Hugin's, blocks in any order, flat data */
        "% Hugin\nnet\n{\n  node_size = (80 40);\n  HR_Color = \"1 2; 3\";\n}\n"
        "potential (c | a b)\n{\n  data = (0.1 0.9 % p(c | yes, lo)\n 2e-1 .8 0.3 0.7\n"
        "    0.4 0.6 0.5 0.5 0.6 0.4);\n}\n"
        "discrete node a { label = \"An A\"; position = (10 20); states = (\"yes\" \"no\"); }\n"
        "node b { states = (\"lo\" \"mid\" \"hi\"); subtype = label; }\n"
        "node c { states = (\"t\" \"f\"); }\n" PRIORS,
        "class Main { inputs = ();\n outputs = (a);\n node a { states = (\"yes\" \"no\"); }\n"
        "node b { states = (\"lo\" \"mid\" \"hi\"); }\nnode c { states = (\"t\" \"f\"); }\n" PRIORS
        "potential (c | a b) { data = (((0.1 0.9)(0.2 0.8)(0.3 0.7))((0.4 0.6)(0.5 0.5)(0.6 0.4)));"
        "}\n}",
    };
    cr_network *plain = parse_text(cx, &format, PLAIN);
    assert_true(cr_network_table(plain, 2).value[4] == 0.3);
    check_dialects(cx, &format, PLAIN, SAME, sizeof SAME / sizeof *SAME);
    cr_network *hugin = parse_text(cx, &format, SAME[0]);
    assert_int_equal(cr_network_properties(hugin), 5);
    check_property(hugin, 1, "HR_Color = \"1 2; 3\"", CR_NONE);
    check_property(hugin, 2, "label = \"An A\"", 0);
    cr_network_free(cx, hugin);
    cr_network *flat =
        parse_text(cx, &format, NODES PRIORS "potential (c | a) { }"); /* no data: equal */
    assert_true(cr_network_table(flat, 2).value[3] == 0.5);
    cr_network_free(cx, flat);
    cr_network_free(cx, plain);
}

TEST(mistakes_are_shown)
{
    static const mistake FILES[] = {
        { "", "there are no nodes in the file" },
        { "net { }", "there are no nodes in the file" },
        { "nets { }", "x.net:1:1: expected 'net', 'node' or 'potential'" },
        { "net { node_size = (80 40) }", "expected ';' after this value" },
        { "net { node_size (80 40); }", "expected '=' after the name of a field" },
        { "net { name = \"x\"; ", "the file ends within a block" },
        { "utility u { }", "x.net:1:1: utility nodes are not supported" },
        { "continuous node u { }", "continuous nodes are not supported" },
        { "node a { }", "x.net:1:6: variable 'a' has no states" },
        { "node a { states = (\"x\" \"x\"); }", "two states 'x'" },
        { "node a { states = (\"x\"); } node a { states = (\"x\"); }", "there are two nodes 'a'" },
        { NODES "potential (d) { data = (1); }", "x.net:5:12: there is no variable 'd'" },
        { NODES "potential (a | a) { data = (1); }", "its own parent" },
        { NODES "potential (a b | c) { }", "a potential of several nodes together" },
        { NODES "potential (a) { data = (0.3 0.6); }", "x.net:5:25: probabilities sum to 0.9" },
        { NODES "potential (a) { data = (0.3 0.7 0 1); }", "4 probabilities where 2 should be" },
        { NODES "potential (a) { data = (0.3); }", "1 probabilities where 2 should be" },
        { NODES "potential (a) { data = 0.3; }", "expected '(' after 'data ='" },
        { NODES "potential (a) { data = (0.3 -0.7); }", "should be a finite number" },
        { NODES "potential (a) { data = normal(0, 1); }", "expected '(' after 'data ='" },
        { NODES "potential (a) { data = (normal(0, 1)); }", "tables made by expressions" },
        { NODES "potential (a) { model_nodes = (b); }", "tables made by expressions" },
        { NODES "potential (a) { data = (1 0); data = (1 0); }", "the data are given already" },
        { NODES PRIORS "potential (a) { data = (1 0); }", "'a' has a potential already" },
        { NODES PRIORS, "x.net:4:6: variable 'c' has no probability table" },
        { NODES "potential (a | b) { data = ((1 0)(1 0)(1 0)); }\npotential (b | a) { data = "
                "((1 0 0)(1 0 0)); }\npotential (c) { data = (1 0); }",
          "x.net:5:12: the arcs of the network form a cycle: a <- b <- a" },
        { NODES "potential (a) { data = (0.2 0.3 0.5); }", "3 probabilities where 2 should be" },
        { NODES PRIORS "potential (c) { data = (1 0; }", "should be a number" },
        { NODES PRIORS "potential (c) { data = (1 0", "this block has no closing '}'" },
    };
    check_mistakes(cx, &format, FILES, sizeof FILES / sizeof *FILES);
    check_beginnings(cx, &format, PLAIN);
}

TEST(allocations_may_fail)
{
    check_parse_allocations(
        &format, "net { name = \"n\"; x = 1; }\nnode a { states = (\"yes\" \"no\"); credence_name"
                 " = \"the a\"; label = \"A\"; }\nnode b { states = (\"t\"); }\n"
                 "potential (a | b) { data = (0.3 0.7); y = 2; }\npotential (b) { }\n");
}
