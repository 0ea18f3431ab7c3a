/* XMLBIF: what other programs write is understood; every mistake is shown in its place. */
#include "graph/files/xmlbif.h"
#include "file_format.h"

#define VARIABLES                                                                                  \
    "<BIF VERSION=\"0.3\"><NETWORK><NAME>n</NAME>\n"                                               \
    "<VARIABLE TYPE=\"nature\"><NAME>a</NAME><OUTCOME>yes</OUTCOME><OUTCOME>no</OUTCOME>"          \
    "</VARIABLE>\n<VARIABLE><NAME>c</NAME><OUTCOME>t</OUTCOME><OUTCOME>f</OUTCOME></VARIABLE>\n"
#define A "<DEFINITION><FOR>a</FOR><TABLE>0.3 0.7</TABLE></DEFINITION>\n"
#define C "<DEFINITION><FOR>c</FOR><GIVEN>a</GIVEN><TABLE>0.1 0.9 0.2 0.8</TABLE></DEFINITION>\n"
#define END "</NETWORK></BIF>\n"

static const char PLAIN[] = VARIABLES A C END;

static const file_format format = { cr_xmlbif_parse, "x.xml" };

TEST(dialects_mean_the_same)
{
    static const char *const SAME[] = {
        /* JavaBayes: a DTD, comments, properties, definitions first */
        "<?xml version=\"1.0\" encoding=\"US-ASCII\"?>\n<!-- by hand -->\n<!DOCTYPE BIF [\n"
        "<!ELEMENT BIF ( NETWORK )*>\n<!ATTLIST BIF VERSION CDATA #REQUIRED>\n]>\n"
        "<BIF VERSION=\"0.3\">\n<NETWORK>\n<NAME> n </NAME>\n<PROPERTY>author = me</PROPERTY>\n" C A
        "<VARIABLE TYPE=\"nature\">\n\t<NAME>a</NAME>\n\t<OUTCOME>yes</OUTCOME>\n"
        "\t<OUTCOME>no</OUTCOME>\n\t<PROPERTY>position = (73, 165)</PROPERTY>\n</VARIABLE>\n"
        "<VARIABLE TYPE=\"nature\"><NAME>c</NAME><OUTCOME>&#116;</OUTCOME><OUTCOME>f</OUTCOME>"
        "<OBSERVED>t</OBSERVED></VARIABLE>\n" END,
        VARIABLES A "<DEFINITION><FOR>c</FOR><GIVEN>a</GIVEN>\n<TABLE>1e-1 <!-- yes --> .9\n"
                    "<!-- no --> 0.2, 8E-1</TABLE></DEFINITION>" END,
    };
    cr_network *plain = parse_text(cx, &format, PLAIN);
    assert_true(cr_network_table(plain, 1).value[2] == 0.2);
    check_dialects(cx, &format, PLAIN, SAME, sizeof SAME / sizeof *SAME);
    cr_network *java = parse_text(cx, &format, SAME[0]);
    assert_int_equal(cr_network_properties(java), 2);
    check_property(java, 1, "position = (73, 165)", 0);
    cr_network_free(cx, java);
    cr_network_free(cx, plain);
}

TEST(mistakes_are_shown)
{
    static const mistake FILES[] = {
        { "", "not well-formed XML" },
        { "<BIF>", "x.xml:1:6: not well-formed XML: no element found" },
        { "<BIF></BIF>", "there are no variables in the file" },
        { "<HTML></HTML>", "x.xml:1:1: expected <BIF>, not <HTML>" },
        { "<BIF><NETWORK></BIF>", "x.xml:1:17: not well-formed XML: mismatched tag" },
        { "<!DOCTYPE BIF [<!ENTITY x \"y\">]><BIF></BIF>", "declares the entity 'x'" },
        { "<BIF><NETWORK><VARIABLE></VARIABLE>" END, "x.xml:1:15: a VARIABLE needs one NAME" },
        { "<BIF><NETWORK><VARIABLE><NAME>a</NAME></VARIABLE>" END, "variable 'a' has no states" },
        { "<BIF><NETWORK><VARIABLE TYPE=\"utility\"><NAME>a</NAME></VARIABLE>" END,
          "utility nodes are not supported" },
        { VARIABLES "<VARIABLE><NAME>a</NAME><OUTCOME>x</OUTCOME></VARIABLE>" END,
          "x.xml:4:1: there are two variables 'a'" },
        { VARIABLES
          "<VARIABLE><NAME>d</NAME><OUTCOME>x</OUTCOME><OUTCOME>x</OUTCOME></VARIABLE>" END,
          "two states 'x'" },
        { VARIABLES C END, "x.xml:2:1: variable 'a' has no probability table" },
        { VARIABLES A A C END, "x.xml:5:1: 'a' has a table already" },
        { VARIABLES A "<DEFINITION><FOR>d</FOR><TABLE>1</TABLE></DEFINITION>" END,
          "x.xml:5:1: there is no variable 'd'" },
        { VARIABLES A "<DEFINITION><FOR>c</FOR><GIVEN>d</GIVEN><TABLE>1</TABLE></DEFINITION>" END,
          "there is no variable 'd'" },
        { VARIABLES A "<DEFINITION><FOR>c</FOR></DEFINITION>" END, "needs one FOR and a TABLE" },
        { VARIABLES A "<DEFINITION><FOR>c</FOR><TABLE>0.1 0.8</TABLE></DEFINITION>" END,
          "x.xml:5:32: row 1 of the table of 'c' sums to 0.9, expected 1" },
        { VARIABLES A "<DEFINITION><FOR>c</FOR><TABLE>0.1</TABLE></DEFINITION>" END,
          "1 probabilities where 2 should be" },
        { VARIABLES A "<DEFINITION><FOR>c</FOR><TABLE>0.1 x</TABLE></DEFINITION>" END,
          "x.xml:5:36: 'x' in this table should be a number" },
        { VARIABLES A "<DEFINITION><FOR>c</FOR><TABLE><!-- 1 2 -->\n 0.5, 0.5\n 0.2 0.7</TABLE>"
                      "<GIVEN>a</GIVEN><PROPERTY>p</PROPERTY></DEFINITION>" END,
          "x.xml:7:2: row 2 of the table of 'c' sums to 0.9, expected 1" },
        { VARIABLES A "<DEFINITION><FOR>c</FOR><TABLE>0.5 &#120;</TABLE></DEFINITION>" END,
          "x.xml:5:25: 'x' in this table should be a number" },
        { VARIABLES A "<DEFINITION><FOR>c</FOR><TABLE>1.5 -0.5</TABLE></DEFINITION>" END,
          "x.xml:5:36: -0.5 in this table should be a probability" },
        { VARIABLES
          "<DEFINITION><FOR>a</FOR><GIVEN>c</GIVEN><TABLE>1 0 1 0</TABLE></DEFINITION>" C END,
          "x.xml:4:1: the arcs of the network form a cycle: a <- c <- a" },
        { VARIABLES A C "</NETWORK><NETWORK>" END, "there is a second network in the file" },
    };
    check_mistakes(cx, &format, FILES, sizeof FILES / sizeof *FILES);
    check_beginnings(cx, &format, PLAIN);
}

TEST(allocations_may_fail) { check_parse_allocations(&format, PLAIN); }
