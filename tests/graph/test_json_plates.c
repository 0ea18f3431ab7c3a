/* Plates in networks as JSON: what is repeated is the network written out by hand, in all kinds of distributions, with and
 * without slices; names in questions; mistakes are shown where they are in the text. */
#include "support.h"

#include "graph/files/json_dynamic.h"
#include "graph/files/json_network.h"
#include "graph/files/json_plates.h"
#include "graph/network/network_internal.h"
#include "graph/query/query.h"
#include "same_network.h"

static cr_network *parse(cr_ctx *cx, const char *text)
{
    cr_network *net = NULL;
    assert_ok(cx, cr_json_parse(cx, "net.json", text, strlen(text), &net));
    return net;
}

static cri_dynamic *parse_slices(cr_ctx *cx, const char *text)
{
    cri_dynamic *net = NULL;
    assert_ok(cx, cri_json_parse_dynamic(cx, "net.json", text, strlen(text), &net));
    return net;
}

/* --- written out by hand --------------------------------------------------------------------- */

#define HEAD "{\"network\":\"bayes\","
#define ROW(a) "\"states\":[\"no\",\"yes\"],\"table\":[" a "]}"

#define DETERMINISTIC                                                                              \
    "\"deterministic\":{\"0,no,no\":\"1\",\"0,no,yes\":\"0\",\"0,yes,no\":\"0\",\"0,yes,yes\":"    \
    "\"1\",\"1,no,no\":\"0\",\"1,no,yes\":\"0\",\"1,yes,no\":\"1\",\"1,yes,yes\":\"1\"}"

/* Also what the parameters of tables are. */
static void assert_alike(const cr_network *a, const cr_network *b)
{
    assert_same_network(a, b, true);
    assert_same_properties(a, b);
    for (size_t i = 0; i < cr_network_tables(a); i++) {
        cr_table_view x = cr_network_table(a, i), y = cr_network_table(b, i);
        assert_int_equal(x.kind, y.kind);
        assert_true(!x.source == !y.source);
        if (x.source) assert_string_equal(x.source, y.source);
    }
}

static void same(cr_ctx *cx, const char *plates, const char *by_hand)
{
    cr_network *a = parse(cx, plates), *b = parse(cx, by_hand);
    assert_alike(a, b);
    cr_network_free(cx, a);
    cr_network_free(cx, b);
}

TEST(repetitions_are_what_is_written_by_hand)
{
    same(cx, HEAD "\"plates\":{\"s\":2},\"variables\":{\"a\":{\"plate\":\"s\"," ROW("0.1,0.9") "}}",
         HEAD "\"variables\":{\"a[s=1]\":{" ROW("0.1,0.9") ",\"a[s=2]\":{" ROW("0.1,0.9") "}}");
    /* in two plates, one with names; parents in one, in the other, in none; tables by key; remarks */
    same(cx,
         HEAD "\"plates\":{\"s\":2,\"c\":[\"x\",\"y z\"]},\"variables\":{"
              "\"d\":{\"plate\":[\"s\",\"c\"],\"states\":2,\"parents\":[\"b\",\"k\",\"a\"],"
              "\"properties\":[\"p\"],"
              "\"deterministic\":{\"0,no,no\":\"1\",\"0,no,yes\":\"0\",\"0,yes,no\":\"0\",\"0,yes,"
              "yes\":\"1\","
              "\"1,no,no\":\"0\",\"1,no,yes\":\"0\",\"1,yes,no\":\"1\",\"1,yes,yes\":\"1\"}},"
              "\"a\":{\"plate\":\"s\"," ROW(
                  "0.1,0.9") ","
                             "\"b\":{\"plate\":[\"c\"],\"states\":2,\"parents\":[\"k\"],\"table\":{"
                             "\"no\":[0.5,0.5],\"yes\":[0.3,0.7]}},"
                             "\"k\":{" ROW("0.2,0.8") "}}",
         HEAD
         "\"variables\":{"
         "\"d[s=1,c=x]\":{\"states\":2,\"parents\":[\"b[c=x]\",\"k\",\"a[s=1]\"],\"properties\":["
         "\"p\"]," DETERMINISTIC "},"
         "\"d[s=1,c=y z]\":{\"states\":2,\"parents\":[\"b[c=y "
         "z]\",\"k\",\"a[s=1]\"],\"properties\":[\"p\"]," DETERMINISTIC ""
         "},"
         "\"d[s=2,c=x]\":{\"states\":2,\"parents\":[\"b[c=x]\",\"k\",\"a[s=2]\"],\"properties\":["
         "\"p\"]," DETERMINISTIC "},"
         "\"d[s=2,c=y z]\":{\"states\":2,\"parents\":[\"b[c=y "
         "z]\",\"k\",\"a[s=2]\"],\"properties\":[\"p\"]," DETERMINISTIC ""
         "},"
         "\"a[s=1]\":{" ROW("0.1,0.9") ",\"a[s=2]\":{" ROW(
             "0.1,0.9") ","
                        "\"b[c=x]\":{\"states\":2,\"parents\":[\"k\"],\"table\":[0.5,0.5,0.3,0.7]},"
                        "\"b[c=y "
                        "z]\":{\"states\":2,\"parents\":[\"k\"],\"table\":[0.5,0.5,0.3,0.7]},"
                        "\"k\":{" ROW("0.2,0.8") "}}");
}

/* A parent in a particular place. */
TEST(full_names)
{
    same(cx,
         HEAD "\"plates\":{\"s\":2},\"variables\":{\"a\":{\"plate\":\"s\"," ROW(
             "0.1,0.9") ",\"b\":{\"plate\":\"s\",\"states\":2,\"parents\":[\"a[s=2]\"],\"table\":["
                        "1,0,0,1]}}}",
         HEAD "\"variables\":{\"a[s=1]\":{" ROW("0.1,0.9") ",\"a[s=2]\":{" ROW(
             "0.1,0.9") ",\"b[s=1]\":{\"states\":2,\"parents\":[\"a[s=2]\"],\"table\":[1,0,0,1]},"
                        "\"b[s=2]\":{\"states\":2,\"parents\":[\"a[s=2]\"],\"table\":[1,0,0,1]}}}");
}

/* Names within noisy-ors and trees; states that are called like the keys of these. */
TEST(names_within_distributions)
{
    same(cx,
         HEAD "\"plates\":{\"s\":2},\"variables\":{\"on\":{\"plate\":\"s\",\"states\":[\"yes\","
              "\"split\"],\"table\":[0.1,0.9]},"
              "\"b\":{\"plate\":\"s\",\"states\":[\"off\",\"on\"],\"table\":[0.4,0.6]},\"c\":{" ROW(
                  "0.2,0.8") ","
                             "\"n\":{\"plate\":\"s\",\"states\":[\"on\",\"off\"],\"parents\":["
                             "\"on\",\"b\",\"c\"],"
                             "\"noisy-or\":{\"leak\":0.1,\"strengths\":{\"on\":0.2,\"b\":0.3,\"c\":"
                             "0.4},\"on\":{\"n\":\"on\",\"on\":\"yes\"}}},"
                             "\"m\":{\"plate\":\"s\",\"states\":3,\"parents\":[\"on\",\"c\"],"
                             "\"noisy-max\":{\"effects\":{"
                             "\"on\":{\"yes\":[1,0,0],\"split\":[0.5,0.3,0.2]},\"c\":{\"no\":[1,0,"
                             "0],\"yes\":[0.2,0.2,0.6]}}}},"
                             "\"t\":{\"plate\":\"s\",\"states\":[\"split\",\"on\"],\"parents\":["
                             "\"on\",\"b\",\"c\"],\"tree\":{\"split\":\"b\","
                             "\"branches\":{\"off\":{\"split\":\"on\",\"branches\":{\"yes\":{"
                             "\"split\":0.5,\"on\":0.5},\"split\":[0.1,0.9]}},"
                             "\"on\":{\"split\":\"on\",\"branches\":{\"yes\":[0.2,0.8],\"split\":{"
                             "\"split\":\"c\",\"branches\":{\"no\":[0,1],"
                             "\"yes\":[1,0]}}}}}}}}}",
         HEAD "\"variables\":{\"on[s=1]\":{\"states\":[\"yes\",\"split\"],\"table\":[0.1,0.9]},"
              "\"on[s=2]\":{\"states\":[\"yes\",\"split\"],\"table\":[0.1,0.9]},"
              "\"b[s=1]\":{\"states\":[\"off\",\"on\"],\"table\":[0.4,0.6]},\"b[s=2]\":{\"states\":"
              "[\"off\",\"on\"],\"table\":[0.4,0.6]},"
              "\"c\":{" ROW("0.2,0.8") ","
#define NOISY(s)                                                                                   \
    "\"n[s=" s "]\":{\"states\":[\"on\",\"off\"],\"parents\":[\"on[s=" s "]\",\"b[s=" s            \
    "]\",\"c\"],\"noisy-or\":{\"leak\":0.1,"                                                       \
    "\"strengths\":{\"on[s=" s "]\":0.2,\"b[s=" s "]\":0.3,\"c\":0.4},\"on\":{\"n[s=" s            \
    "]\":\"on\",\"on[s=" s "]\":\"yes\"}}},"
         NOISY("1") NOISY("2")
#define MAX(s)                                                                                     \
    "\"m[s=" s "]\":{\"states\":3,\"parents\":[\"on[s=" s                                          \
    "]\",\"c\"],\"noisy-max\":{\"effects\":{\"on[s=" s "]\":{"                                     \
    "\"yes\":[1,0,0],\"split\":[0.5,0.3,0.2]},\"c\":{\"no\":[1,0,0],\"yes\":[0.2,0.2,0.6]}}}},"
             MAX("1") MAX("2")
#define TREE(s)                                                                                    \
    "\"t[s=" s "]\":{\"states\":[\"split\",\"on\"],\"parents\":[\"on[s=" s "]\",\"b[s=" s          \
    "]\",\"c\"],\"tree\":{\"split\":\"b[s=" s "]\","                                               \
    "\"branches\":{\"off\":{\"split\":\"on[s=" s                                                   \
    "]\",\"branches\":{\"yes\":{\"split\":0.5,\"on\":0.5},\"split\":[0.1,0.9]}},"                  \
    "\"on\":{\"split\":\"on[s=" s                                                                  \
    "]\",\"branches\":{\"yes\":[0.2,0.8],\"split\":{\"split\":\"c\",\"branches\":{\"no\":[0,1],"   \
    "\"yes\":[1,0]}}}}}}}"
                 TREE("1") "," TREE("2") "}}");
}

static const char *const TOWNS =
    HEAD "\"slices\":2,\"plates\":{\"town\":2},\"variables\":{"
         "\"front\":{\"states\":2,\"initial\":{\"table\":[0.5,0.5]},\"parents\":[\"front[-1]\"],"
         "\"table\":[0.8,0.2,0.4,0.6]},"
         "\"rain\":{\"plate\":\"town\",\"states\":2,\"initial\":{\"parents\":[\"front\"],\"table\":"
         "[0.9,0.1,0.3,0.7]},"
         "\"parents\":[\"rain[-1]\",\"front\"],\"table\":[0.9,0.1,0.5,0.5,0.6,0.4,0.2,0.8]},"
         "\"wet\":{\"plate\":\"town\",\"states\":2,\"parents\":[\"rain\"],\"table\":[0.8,0.2,0.1,0."
         "9]}}}";

/* With slices, and what is written is what was read; like says which are the same. */
TEST(with_slices)
{
    static const char *const by_hand =
        HEAD "\"slices\":2,\"variables\":{"
             "\"front\":{\"states\":2,\"initial\":{\"table\":[0.5,0.5]},\"parents\":[\"front[-1]\"]"
             ",\"table\":[0.8,0.2,0.4,0.6]},"
#define RAIN(t)                                                                                    \
    "\"rain[town=" t                                                                               \
    "]\":{\"states\":2,\"initial\":{\"parents\":[\"front\"],\"table\":[0.9,0.1,0.3,0.7]},"         \
    "\"parents\":[\"rain[town=" t                                                                  \
    "][-1]\",\"front\"],\"table\":[0.9,0.1,0.5,0.5,0.6,0.4,0.2,0.8]},"
        RAIN("1") RAIN("2")
#define WET(t)                                                                                     \
    "\"wet[town=" t "]\":{\"states\":2,\"parents\":[\"rain[town=" t                                \
    "]\"],\"table\":[0.8,0.2,0.1,0.9]}"
            WET("1") "," WET("2") "}}";
    static const size_t like[] = { 0, 1, 1, 3, 3 };
    cri_dynamic        *a = parse_slices(cx, TOWNS), *b = parse_slices(cx, by_hand), *c = NULL;
    const char         *path = test_file("towns.json", "", 0);
    char                bytes[8192];
    assert_alike(a->first, b->first);
    assert_alike(a->next, b->next);
    for (size_t v = 0; v < 5; v++) assert_int_equal(a->like[v], like[v]);
    for (size_t v = 0; v < 5; v++) assert_int_equal(b->like[v], v);
    assert_ok(cx, cri_json_write_dynamic(cx, a, path));
    FILE  *f = fopen(path, "r");
    size_t size = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    assert_ok(cx, cri_json_parse_dynamic(cx, path, bytes, size, &c));
    assert_alike(a->first, c->first);
    assert_alike(a->next, c->next);
    cri_dynamic_free(cx, a);
    cri_dynamic_free(cx, b);
    cri_dynamic_free(cx, c);
}

TEST(questions_name_places_without_quotes)
{
    static const char *const asked[] = { "P(a[s=1,c=2])",
                                         "P( a[s=1,c=2] | b[s=1]=yes, k=no )",
                                         "P(\"a[s=1,c=2]\" | b[s=2] = yes)",
                                         "argmax(k, a[s=2,c=1])",
                                         "P(k, a[s=1,c=2])",
                                         "P(a[s=1,c=2]=no, k=yes)" };
    cr_network              *net = parse(
                     cx,
                     HEAD "\"plates\":{\"s\":2,\"c\":2},\"variables\":{\"a\":{\"plate\":[\"s\",\"c\"],"
                                       "\"parents\":[\"b\"],"
                                       "\"states\":[\"no\",\"yes\"],\"table\":[0.1,0.9,0.2,0.8]},\"b\":{\"plate\":\"s\"," ROW(
                              "0.5,0.5") ",\"k\":{" ROW("0.5,0.5") "}}");
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        cr_query_answer a = { 0 };
        assert_ok(cx, cr_query(cx, net, asked[i], NULL, NULL, &a));
        cr_query_answer_free(cx, &a);
    }
    cr_query_answer a = { 0 };
    assert_fails_with(cx, cr_query(cx, net, "P(a[s=3,c=1])", NULL, NULL, &a), CR_EARG,
                      "no variable");
    cr_network_free(cx, net);
}

/* --- mistakes -------------------------------------------------------------------------------- */

TEST(mistakes_are_shown_where_they_are)
{
#define A(more) "\"variables\":{\"a\":{\"plate\":\"s\"," more ROW("0.5,0.5") "}}"
    static const struct {
        const char *text, *says;
    } bad[] = {
        { HEAD A(""), "net.json:1:46: there is no plate 's'" },
        { HEAD "\"plates\":3," A(""), "net.json:1:29: an object from plates" },
        { HEAD "\"plates\":{\"s\":0}," A(""),
          "net.json:1:34: how often a plate repeats should be" },
        { HEAD "\"plates\":{\"s\":[]}," A(""), "there is no place in this plate" },
        { HEAD "\"plates\":{\"s\":[\"x\",\"x\"]}," A(""), "net.json:1:39: 'x' occurs here twice" },
        { HEAD "\"plates\":{\"s\":[\"x=\"]}," A(""), "net.json:1:35: names in plates" },
        { HEAD "\"plates\":{\"t\":2}," A(""), "t stands for time" },
        { HEAD "\"plates\":{\"s\":2}," A("\"plate\":\"s\","), "twice" },
        { HEAD
          "\"plates\":{\"s\":400,\"u\":400},\"variables\":{\"a\":{\"plate\":[\"s\",\"u\"]," ROW(
              "0.5,0.5") "}}",
          "net.json:1:60: more than 100000 variables" },
        { HEAD
          "\"plates\":{\"s\":2},\"variables\":{\"a\":{\"plate\":[\"s\",\"s\"]," ROW("0.5,0.5") "}}",
          "'s' occurs here twice" },
        { HEAD "\"plates\":{\"s\":2},\"variables\":{\"a\":{\"plate\":7," ROW("0.5,0.5") "}}",
          "the name of a plate" },
        { HEAD "\"plates\":{\"s\":2},\"variables\":{\"a[1]\":{\"plate\":\"s\"," ROW("0.5,0.5") "}}",
          "has no brackets" },
        { HEAD "\"plates\":{\"s\":2},\"variables\":{\"a[s=1]\":{" ROW(
              "0.5,0.5") ",\"a\":{\"plate\":\"s\"," ROW("0.5,0.5") "}}",
          "the variable 'a[s=1]' exists already" },
        { HEAD "\"plates\":{\"s\":2},\n" A("\"colour\":1,"),
          "net.json:2:31: there is no key \"colour\"" },
        { HEAD "\"plates\":{\"s\":2},\"variables\":{\"a\":{\"plate\":\"s\"," ROW(
              "0.5,0.5") ",\n\"b\":{\"parents\":[\"a\"]," ROW("1,0,0,1") "}}",
          "net.json:2:17: 'a' is repeated by 's', but 'b' is not" },
        { HEAD "\"plates\":{\"s\":2},\"variables\":{\"a\":{\"plate\":\"s\",\"states\":2,"
               "\n\"parents\":[\"a\"],\"table\":[1,0,0,1]}}}",
          "net.json:2:11: " },
        { HEAD "\"plates\":{\"s\":2},\"variables\":{\"a\":{\"plate\":\"s\",\"states\":2,"
               "\n\"parents\":[\"z\"],\"table\":[1,0,0,1]}}}",
          "net.json:2:12: there is no variable 'z'" },
        { HEAD "\"plates\":{\"s\":2},\"variables\":{\"c\":{\"plate\":\"s\"," ROW(
              "0.5,0.5") ",\"a\":{\"plate\":\"s\",\"states\":2,"
                         "\"parents\":[\"c\"],\n\"noisy-or\":{\"strengths\":{\"d\":0.5}}}}}",
          "net.json:2:26: there is no variable 'd'" },
        { HEAD "\"plates\":{\"s\":2},\"variables\":{\"c\":{\"plate\":\"s\"," ROW(
              "0.5,0.5") ",\"a\":{\"plate\":\"s\",\"states\":2,"
                         "\"parents\":[\"c\"],\n\"noisy-or\":{\"strengths\":{\"c\":1.5}}}}}",
          "net.json:2:30: a strength should lie" },
        { HEAD "\"plates\":{\"s\":2},\"variables\":{\"c\":{\"plate\":\"s\"," ROW(
              "0.5,0.5") ",\"a\":{\"plate\":\"s\",\"states\":2,"
                         "\"parents\":[],\n\"noisy-or\":{\"strengths\":{\"c\":0.5}}}}}",
          "net.json:2:26: 'c[s=1]' is not a parent" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cr_network *net = NULL;
        cr_status   st = cr_json_parse(cx, "net.json", bad[i].text, strlen(bad[i].text), &net);
        if (st != CR_EDATA || !strstr(cr_error(cx), bad[i].says))
            fail_msg("%s\nis %s, expected %s", bad[i].text, st == CR_OK ? "taken" : cr_error(cx),
                     bad[i].says);
    }
    cr_network *net = NULL;
    const char *markov =
        "{\"network\":\"markov\",\"plates\":{\"s\":2},\"variables\":{\"a\":2},\"factors\":[]}";
    assert_fails_with(cx, cr_json_parse(cx, "net.json", markov, strlen(markov), &net), CR_EDATA,
                      "no key \"plates\"");
}

TEST(names_with_places)
{
    static const char *const good[] = { "a[s=1]", "a b[s=1,c=x y]", "x.y[k=-1]" };
    static const char *const bad[] = { "a",       "a[1]",        "[s=1]",    "a[s=]",
                                       "a[=1]",   "a[s=1",       "a[s=1]b",  "a[t=1]",
                                       "a[s=1,]", "a[s=1][c=2]", "a[s=1=2]", "" };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(cri_json_is_repeated(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(cri_json_is_repeated(bad[i]));
}

static cr_status read_towns(cr_ctx *cx, void *arg)
{
    cri_dynamic *net = NULL;
    (void)arg;
    cr_status st = cri_json_parse_dynamic(cx, "towns.json", TOWNS, strlen(TOWNS), &net);
    cri_dynamic_free(cx, net);
    return st;
}

TEST(allocations_may_fail) { test_every_allocation_fails(read_towns, NULL); }
