/* BIF: its dialects mean the same network; every mistake is shown in its place. */
#include "graph/files/bif.h"
#include "file_format.h"

#define VARIABLES                                                                                  \
    "network n { }\nvariable a { type discrete [ 2 ] { yes, no }; }\n"                             \
    "variable b { type discrete [ 3 ] { lo, mid, hi }; }\n"                                        \
    "variable c { type discrete [ 2 ] { t, f }; }\n"
#define PRIORS "probability ( a ) { table 0.3, 0.7; }\nprobability ( b ) { table .2, .3, .5; }\n"

static const char PLAIN[] =
    VARIABLES     PRIORS "probability ( c | a, b ) {\n"
                         "  (yes, lo) 0.1, 0.9;\n  (yes, mid) 0.2, 0.8;\n  (yes, hi) 0.3, 0.7;\n"
                         "  (no, lo) 0.4, 0.6;\n  (no, mid) 0.4, 0.6;\n  (no, hi) 0.4, 0.6;\n}\n";

static const file_format format = { cr_bif_parse, "x.bif" };

TEST(dialects_mean_the_same)
{
    static const char *const SAME[] = {
        /* rows in any order, a default, no commas, comments, other notations, blocks in any order
         */
        VARIABLES PRIORS "probability ( c | a, b ) {\n default 4e-1 6.E-1; // the rest\n"
                         "(yes, hi) +0.3 0.7; /* rows\n in any order */ (yes,lo) 1e-1, 90e-2;\n"
                         "(yes mid) .2 .8; }\n",
        "probability ( c | a, b ) { (yes, lo) 0.1, 0.9; (yes, mid) 0.2, 0.8; (yes, hi) 0.3, 0.7;"
        "default 0.4, 0.6; }" PRIORS VARIABLES,
        /* JavaBayes: quotes everywhere, no bar, the child slowest in a table */
        "network \"n\" { //3 variables\n property \"author me\"; }\n"
        "variable  \"a\" { //2 values\n type discrete[2] {  \"yes\"  \"no\" };\n"
        " property \"position = (218, 195)\" ;\n}\n"
        "variable  \"b\" { type discrete[3] {  \"lo\" \"mid\" \"hi\" }; }\n"
        "variable  \"c\" { type discrete[2] {  \"t\"  \"f\" }; property position = (1, 2) ; }\n"
        "probability (  \"a\" ) { table 0.3 0.7 ; }\nprobability (  \"b\" ) { table 0.2 0.3 0.5 ; "
        "}\n"
        "probability (  \"c\"  \"a\"  \"b\" ) { //3 variable(s) and 12 values\n"
        "  table 0.1 0.2 0.3 0.4 0.4 0.4 0.9 0.8 0.7 0.6 0.6 0.6 ;\n}\n",
        /* the same table row by row */
        VARIABLES PRIORS "probability ( c | a, b ) { table 0.1 0.9 0.2 0.8 0.3 0.7 0.4 0.6 0.4 0.6"
                         " 0.4 0.6; }",
        /* Windows line ends, a byte-order mark, no end of line at the end */
        "\xEF\xBB\xBF" VARIABLES "\r\n" PRIORS
        "probability(c|a,b){(yes,lo)0.1,0.9;(yes,mid)0.2,0.8;(yes,hi)0.3,0.7;\r\n"
        "(no,lo)0.4,0.6;(no,mid)0.4,0.6;(no,hi)0.4,0.6;}",
    };
    cr_network   *plain = parse_text(cx, &format, PLAIN);
    cr_table_view t = cr_network_table(plain, 2);
    assert_int_equal(t.size, 12);
    assert_true(t.value[4] == 0.3 && t.value[5] == 0.7 && t.value[6] == 0.4);
    check_dialects(cx, &format, PLAIN, SAME, sizeof SAME / sizeof *SAME);
    cr_network *java = parse_text(cx, &format, SAME[2]);
    assert_int_equal(cr_network_properties(java), 3);
    check_property(java, 0, "author me", CR_NONE);
    check_property(java, 1, "position = (218, 195)", 0);
    check_property(java, 2, "position = (1, 2)", 2);
    cr_network_free(cx, java);
    cr_network_free(cx, plain);
}

TEST(all_digits_are_kept)
{
    cr_network *net = parse_text(cx, &format,
                                 "variable x { type discrete [2] { 0, 1 }; }\n"
                                 "probability ( x ) { table 0.12345678901234567, "
                                 "0.87654321098765433; }");
    assert_true(cr_network_table(net, 0).value[0] == 0.12345678901234567);
    cr_network_free(cx, net);
}

static void count_warnings(void *user, cr_log_level level, const char *text)
{
    (void)text;
    if (level == CR_LOG_WARNING) ++*(size_t *)user;
}

TEST(rows_are_rescaled_with_a_warning)
{
    static const struct {
        const char *row;
        size_t      warnings;
    } ROWS[] = { { "0.3, 0.7", 0 }, { "0.3333333, 0.6666666", 0 }, { "0.3, 0.6995", 1 } };
    size_t warnings;
    cr_ctx_set_log(cx, count_warnings, &warnings);
    for (size_t i = 0; i < 3; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "variable x { type discrete [2] { 0, 1 }; }\n"
                 "probability ( x ) { table %s; }",
                 ROWS[i].row);
        warnings = 0;
        cr_network   *net = parse_text(cx, &format, text);
        const double *p = cr_network_table(net, 0).value;
        assert_close(p[0] + p[1], 1, 1e-15);
        assert_int_equal(warnings, ROWS[i].warnings);
        cr_network_free(cx, net);
    }
}

TEST(mistakes_are_shown)
{
    static const mistake FILES[] = {
        { "", "x.bif:1:1: there are no variables in the file" },
        { "network", "the file ends where the name of the network should be" },
        { "network n { ", "x.bif:1:13: expected 'property' or '}'" },
        { "nettwork n { }", "x.bif:1:1: expected 'network', 'variable' or 'probability'" },
        { "network n { } variable a { }", "x.bif:1:24: variable 'a' has no type" },
        { "variable a { type real; }", "x.bif:1:19: only variables of type discrete" },
        { "variable a { type discrete [ 3 ] { x, y }; }",
          "x.bif:1:30: 3 states are declared, but 2 are listed" },
        { "variable a { type discrete [ 2 ] { x, x }; }",
          "x.bif:1:10: variable 'a' has two states 'x'" },
        { "variable a { type discrete { }; }", "variable 'a' has no states" },
        { "variable a { type discrete { x, y } }", "expected ';' after the states" },
        { "variable a { type discrete { x, y }; kind z; }", "expected 'type', 'property' or '}'" },
        { VARIABLES "variable a { type discrete { x }; }",
          "x.bif:5:10: there are two variables 'a'" },
        { "variable \"a { type", "x.bif:1:10: this text has no closing quote" },
        { "/* variable a", "x.bif:1:1: this comment has no end" },
        { VARIABLES "probability ( d ) { table 1; }", "x.bif:5:15: there is no variable 'd'" },
        { VARIABLES "probability ( a | d ) { }", "x.bif:5:19: there is no variable 'd'" },
        { VARIABLES "probability ( a | a ) { }", "x.bif:5:15: variable 'a' is its own parent" },
        { VARIABLES "probability ( a | b, b ) { }", "x.bif:5:15: 'b' occurs twice" },
        { VARIABLES "probability ( a ) { table 0.3, 0.65; }",
          "x.bif:5:27: probabilities sum to 0.95, expected 1" },
        { VARIABLES "probability ( a ) { table 0.3, 0.7, 0; }",
          "x.bif:5:27: 3 probabilities where 2 should be" },
        { VARIABLES "probability ( a ) { table 0.3; }", "1 probabilities where 2 should be" },
        { VARIABLES "probability ( a ) { table 1.3, -0.3; }",
          "x.bif:5:32: a probability should be a finite number, 0 or more" },
        { VARIABLES "probability ( a ) { table nan, 1; }", "should be a finite number" },
        { VARIABLES "probability ( a ) { table 1e999, 1; }", "should be a finite number" },
        { VARIABLES "probability ( a ) { table 0.3, O.7; }",
          "x.bif:5:32: a probability should be a number" },
        { VARIABLES "probability ( a ) { table 0.3, 0.7 }",
          "expected ';' after the probabilities" },
        { VARIABLES "probability ( a ) { table 0.3, 0.7; table 0.3, 0.7; }",
          "x.bif:5:37: the probabilities are given already" },
        { VARIABLES "probability ( a ) { }", "x.bif:5:21: the table of 'a' is missing" },
        { VARIABLES "probability ( a ) { 0.3, 0.7; }",
          "expected a row, 'table', 'default' or '}'" },
        { VARIABLES PRIORS "probability ( a ) { table 1, 0; }",
          "x.bif:7:15: 'a' has a table already" },
        { VARIABLES PRIORS, "x.bif:4:10: variable 'c' has no probability table" },
        { VARIABLES "probability ( c | a ) { (yes) 0.5, 0.5; }",
          "x.bif:5:41: the row (no) of 'c' is missing" },
        { VARIABLES "probability ( c | a ) { (yes) 0.5, 0.5; (yes) 0.5, 0.5; }",
          "x.bif:5:41: the probabilities of this row are given already" },
        { VARIABLES "probability ( c | a ) { (yse) 0.5, 0.5; }",
          "x.bif:5:26: 'a' has no state 'yse'" },
        { VARIABLES "probability ( c | a ) { (yes, no) 0.5, 0.5; }",
          "x.bif:5:25: the row names 2 states, but there is 1 parent" },
        { VARIABLES "probability ( c | a ) {\n  (yes)\n  0.5,\n 0.6; }",
          "x.bif:7:3: probabilities sum to 1.1, expected 1" },
        { VARIABLES "probability ( c | a ) { default 1, 0; default 1, 0; }",
          "x.bif:5:39: there is a default already" },
        { VARIABLES "probability ( a | b ) { default 1, 0; }\nprobability ( b | a ) "
                    "{ default 1, 0, 0; }\nprobability ( c ) { table 1, 0; }",
          "x.bif:5:15: the arcs of the network form a cycle: a <- b <- a" },
        { VARIABLES "probability ( c | a ) { (yes", "this block has no closing '}'" },
    };
    check_mistakes(cx, &format, FILES, sizeof FILES / sizeof *FILES);
    /* the caret, and the nearest name */
    cr_network *net = NULL;
    assert_fails_with(cx, cr_bif_parse(cx, "x.bif", "network n\n{ }\0", 14, &net), CR_EDATA,
                      "x.bif:2:4: there is a zero byte in the file");
    const char *text = VARIABLES "probability ( a ) {\n  table 0.30, 0.65;\n}";
    cr_status   st = cr_bif_parse(cx, "x.bif", text, strlen(text), &net);
    assert_int_equal(st, CR_EDATA);
    assert_non_null(strstr(cr_error_notes(cx), "|         ^~~~~~~~~~"));
    text = VARIABLES "probability ( c | a ) { (yse) 0.5, 0.5; }";
    st = cr_bif_parse(cx, "x.bif", text, strlen(text), &net);
    assert_int_equal(st, CR_EDATA);
    assert_string_equal(cr_error_nearest(cx), "yes");
    /* a table that cannot be held is refused before it is made, with the figure */
    char   large[4096];
    size_t used = 0;
    for (size_t i = 0; i < 40; i++)
        used += (size_t)snprintf(large + used, sizeof large - used,
                                 "variable v%zu { type discrete [2] { 0, 1 }; }\n", i);
    used += (size_t)snprintf(large + used, sizeof large - used, "probability ( v0 | ");
    for (size_t i = 1; i < 40; i++)
        used += (size_t)snprintf(large + used, sizeof large - used, "%sv%zu", i > 1 ? ", " : "", i);
    snprintf(large + used, sizeof large - used, " ) { default 1, 0; }");
    assert_fails_with(cx, cr_bif_parse(cx, "x.bif", large, strlen(large), &net), CR_ENOMEM,
                      "the table of v0 over 40 variables would have 1.1e+12 entries");
    assert_non_null(strstr(cr_error_notes(cx), "x.bif, line 41"));
}

/* Every beginning of a file is a file with a mistake, or a network; never more than that. */
TEST(cut_files_are_refused) { check_beginnings(cx, &format, PLAIN); }

TEST(allocations_may_fail)
{
    char text[] = "network \"n m\" { property a b; }\n"
                  "variable a { type discrete [ 2 ] { yes, no }; property \"x\"; }\n"
                  "variable b { type discrete [ 2 ] { yes, no }; }\n"
                  "probability ( a ) { table 0.3, 0.7; }\n"
                  "probability ( b | a ) { (no) 0.3, 0.7; default 1, 0; property p; }\n";
    check_parse_allocations(&format, text);
}
