/* Files of networks: every format holds every network, bit by bit. */
#include "support.h"

#include "base/file.h"
#include "base/rng.h"
#include "graph/files/network_file.h"
#include "models/core/model.h"
#include "random_network.h"
#include "same_network.h"

#include <time.h>
#include <zlib.h>

static const char *const ENDINGS[] = { "bif", "xmlbif", "net", "uai", "cred" };
enum { FORMATS = sizeof ENDINGS / sizeof *ENDINGS };

/* Writes, reads, and compares; names too, where the format has them. */
static void round_trip(cr_ctx *cx, const cr_network *net, const char *ending)
{
    cr_network *back = NULL;
    char        path[1024];
    snprintf(path, sizeof path, "%s/net.%s", test_directory(), ending);
    assert_ok(cx, cr_network_write(cx, net, path, CR_FORMAT_AUTO));
    assert_ok(cx, cr_network_read(cx, path, CR_FORMAT_AUTO, &back));
    assert_same_network(net, back, strcmp(ending, "uai") != 0);
    if (strcmp(ending, "uai") != 0) assert_same_properties(net, back);
    cr_network_free(cx, back);
}

TEST(published_networks_round_trip)
{
    static const char *const NAMES[] = {
        "asia",  "cancer", "earthquake", "sachs",      "survey",
        "alarm", "child",  "insurance",  "hailfinder", "win95pts"
    };
    static const size_t NODES[] = { 8, 5, 5, 11, 6, 37, 20, 27, 56, 76 };
    static const size_t ENTRIES[] = { 36, 20, 20, 267, 37, 752, 344, 1419, 3741, 1148 };
    for (size_t i = 0; i < 10; i++) {
        char        name[64];
        cr_network *net = NULL;
        size_t      entries = 0;
        snprintf(name, sizeof name, "bn/%s.bif", NAMES[i]);
        assert_ok(cx, cr_network_read(cx, test_data(name), CR_FORMAT_AUTO, &net));
        for (size_t v = 0; v < cr_network_size(net); v++) entries += cr_network_table(net, v).size;
        assert_int_equal(cr_network_size(net), NODES[i]);
        assert_int_equal(entries, ENTRIES[i]);
        for (size_t f = 0; f < FORMATS; f++) round_trip(cx, net, ENDINGS[f]);
        round_trip(cx, net, i % 2 ? "bif.gz" : "net.zst");
        assert_fails_with(cx, cr_network_write(cx, net, "x.cred.gz", CR_FORMAT_AUTO), CR_EARG,
                          "not compressed again");
        cr_network_free(cx, net);
    }
}

/* Names that need quotes, escapes or another name; remarks of all sorts. */
TEST(odd_names_round_trip)
{
    static const char *const STATES[] = {
        "a b",          "<5",  "say \"hi\"",        "back\\slash", "x,y;{z}|(w)",
        "//no comment", "50%", "\xC3\xA9t\xC3\xA9", "&amp;"
    };
    cr_network *net;
    double      p[9], q[18] = { 0.25, 0.75 };
    size_t      first = 0;
    for (size_t i = 0; i < 9; i++) p[i] = i == 8 ? 0.2 : 0.1;
    for (size_t i = 0; i < 9; i++) q[2 * i] = 1.0 / (double)(i + 3), q[2 * i + 1] = 1 - q[2 * i];
    assert_ok(cx, cr_network_new(cx, CR_NETWORK_BAYES, &net));
    assert_ok(cx, cr_network_set_name(cx, net, "a \"strange\" <name>"));
    assert_ok(cx, cr_network_add_variable(cx, net, "the 1st: x=1", 9, STATES, NULL));
    assert_ok(cx, cr_network_add_variable(cx, net, "node", 2, STATES, NULL));
    assert_ok(cx, cr_network_add_variable(cx, net, "node_0", 1, STATES + 3, NULL));
    assert_ok(cx, cr_network_set_table(cx, net, 0, p));
    assert_ok(cx, cr_network_set_parents(cx, net, 1, 1, &first));
    assert_ok(cx, cr_network_set_table(cx, net, 1, q));
    assert_ok(cx, cr_network_set_table(cx, net, 2, (double[]){ 1 }));
    assert_ok(cx, cr_network_add_property(cx, net, CR_NONE, "author = me"));
    assert_ok(cx, cr_network_add_property(cx, net, 0, "position = (1, 2)"));
    assert_ok(cx, cr_network_add_property(cx, net, 1, "label = \"two words\""));
    for (size_t f = 0; f < FORMATS; f++) round_trip(cx, net, ENDINGS[f]);
    cr_network_free(cx, net);
}

TEST(random_networks_round_trip)
{
    cr_rng r = cr_rng_stream(5, 0);
    for (size_t i = 0; i < 40; i++) {
        cr_network_kind kind = i % 4 ? CR_NETWORK_BAYES : CR_NETWORK_MARKOV;
        cr_network     *net = random_network(cx, &r, kind, 1 + i % 7);
        for (size_t f = kind == CR_NETWORK_BAYES ? 0 : 3; f < FORMATS; f++)
            round_trip(cx, net, ENDINGS[f]);
        cr_network_free(cx, net);
    }
}

TEST(the_format_is_told)
{
    static const struct {
        const char       *text;
        cr_network_format format;
    } BEGINNINGS[] = {
        { "network x {", CR_FORMAT_BIF },
        { " // BIF\n/* a */ variable x {", CR_FORMAT_BIF },
        { "\xEF\xBB\xBFnetwork \"x\"{}", CR_FORMAT_BIF },
        { "% Hugin\nnet\n{", CR_FORMAT_NET },
        { "net{}", CR_FORMAT_NET },
        { "class x {", CR_FORMAT_NET },
        { "<?xml version=\"1.0\"?>", CR_FORMAT_XMLBIF },
        { "<BIF VERSION=\"0.3\">", CR_FORMAT_XMLBIF },
        { "MARKOV\n2", CR_FORMAT_UAI },
        { "\nBAYES 1", CR_FORMAT_UAI },
        { "networks,2\n", CR_FORMAT_AUTO },
        { "x,y\n1,2\n", CR_FORMAT_AUTO },
        { "", CR_FORMAT_AUTO },
        { "/*", CR_FORMAT_AUTO },
        { "/", CR_FORMAT_AUTO },
    };
    for (size_t i = 0; i < sizeof BEGINNINGS / sizeof *BEGINNINGS; i++)
        assert_int_equal(cr_network_sniff(BEGINNINGS[i].text, strlen(BEGINNINGS[i].text)),
                         BEGINNINGS[i].format);
    assert_int_equal(cr_network_format_of("a/b.bif"), CR_FORMAT_BIF);
    assert_int_equal(cr_network_format_of("b.bif.gz"), CR_FORMAT_BIF);
    assert_int_equal(cr_network_format_of("b.xml"), CR_FORMAT_XMLBIF);
    assert_int_equal(cr_network_format_of("b.bifxml.zst"), CR_FORMAT_XMLBIF);
    assert_int_equal(cr_network_format_of(".bif"), CR_FORMAT_AUTO);
    assert_int_equal(cr_network_format_of("b.csv"), CR_FORMAT_AUTO);
    assert_string_equal(cr_network_format_name(CR_FORMAT_XMLBIF), "xmlbif");
}

static const char SMALL[] = "network small { } variable a { type discrete [ 2 ] { n, y }; }\n"
                            "variable b { type discrete [ 2 ] { n, y }; }\n"
                            "probability ( b | a ) { (y) 0.1, 0.9; (n) 0.25, 0.75; }\n"
                            "probability ( a ) { table 0.125, 0.875; }\n";

TEST(compressed_files_are_read)
{
    cr_network *a, *b;
    char        path[1024];
    snprintf(path, sizeof path, "%s/small.bif.gz", test_directory());
    gzFile file = gzopen(path, "wb");
    assert_int_equal(gzwrite(file, SMALL, sizeof SMALL - 1), sizeof SMALL - 1);
    gzclose(file);
    assert_ok(cx, cr_network_parse(cx, "small", SMALL, sizeof SMALL - 1, CR_FORMAT_AUTO, &a));
    assert_ok(cx, cr_network_read(cx, path, CR_FORMAT_AUTO, &b));
    assert_same_network(a, b, true);
    cr_network_free(cx, a);
    cr_network_free(cx, b);
}

TEST(what_cannot_be)
{
    cr_network *net = NULL, *other = NULL;
    cr_model   *model = NULL;
    char        path[1024];
    assert_fails(cx, cr_network_read(cx, "/nowhere/x.bif", CR_FORMAT_AUTO, &net), CR_EIO);
    assert_fails_with(cx, cr_network_parse(cx, "x", "a,b\n", 4, CR_FORMAT_AUTO, &net), CR_EDATA,
                      "does not look like a network");
    assert_ok(cx, cr_network_new(cx, CR_NETWORK_MARKOV, &net));
    for (size_t f = 0; f < 3; f++) {
        snprintf(path, sizeof path, "%s/m.%s", test_directory(), ENDINGS[f]);
        assert_fails_with(cx, cr_network_write(cx, net, path, CR_FORMAT_AUTO), CR_EARG,
                          "this is a Markov network");
    }
    assert_fails_with(cx, cr_network_write(cx, net, "x.txt", CR_FORMAT_AUTO), CR_EARG,
                      "cannot tell the format");
    cr_network_free(cx, net);

    /* A network is not a model of the registry, and the other way round. */
    assert_ok(cx, cr_network_parse(cx, "small", SMALL, sizeof SMALL - 1, CR_FORMAT_BIF, &net));
    snprintf(path, sizeof path, "%s/small.cred", test_directory());
    assert_ok(cx, cr_network_write(cx, net, path, CR_FORMAT_AUTO));
    assert_fails_with(cx, cr_model_load(cx, path, &model), CR_EDATA, "network");

    /* A file with any bit changed is refused. */
    char  *bytes;
    size_t size;
    assert_ok(cx, cri_file_load(cx, path, 0, &bytes, &size));
    for (size_t i = 0; i < size; i += 7) {
        bytes[i] ^= 4;
        assert_fails(cx, cr_network_parse(cx, "x", bytes, size, CR_FORMAT_CRED, &other), CR_EDATA);
        bytes[i] ^= 4;
    }
    cr_free(cx, bytes, size, 1);
    cr_network_free(cx, net);
}

/* A thousand nodes and 70,000 parameters are read in a moment: the lists are not searched. */
TEST(large_networks_are_read_quickly)
{
    enum { NODES = 1000, STATES = 4 };
    cr_network *net, *back;
    char        name[32], path[1024];
    double      value[STATES * STATES * STATES];
    for (size_t i = 0; i < STATES * STATES * STATES; i++)
        value[i] = i % STATES == 3 ? 1 - 0.1 - 1.0 / 7 - 1.0 / 3
                                   : (double[]){ 0.1, 1.0 / 7, 1.0 / 3 }[i % STATES];
    assert_ok(cx, cr_network_new(cx, CR_NETWORK_BAYES, &net));
    for (size_t v = 0; v < NODES; v++) {
        size_t parents[2] = { v - 1, v - 2 };
        snprintf(name, sizeof name, "variable_%zu", v);
        assert_ok(cx, cr_network_add_variable(cx, net, name, STATES, NULL, NULL));
        assert_ok(cx, cr_network_set_parents(cx, net, v, v > 1 ? 2 : 0, parents));
        assert_ok(cx, cr_network_set_table(cx, net, v, value));
    }
    for (size_t f = 0; f < FORMATS; f++) {
        snprintf(path, sizeof path, "%s/large.%s", test_directory(), ENDINGS[f]);
        assert_ok(cx, cr_network_write(cx, net, path, CR_FORMAT_AUTO));
        clock_t begin = clock();
        assert_ok(cx, cr_network_read(cx, path, CR_FORMAT_AUTO, &back));
        assert_true((double)(clock() - begin) < 1.5 * CLOCKS_PER_SEC); /* also with a sanitizer */
        assert_same_network(net, back, f != 3);
        cr_network_free(cx, back);
    }
    cr_network_free(cx, net);
}

static cr_status save_and_load(cr_ctx *cx, void *ending)
{
    cr_network *net = NULL, *back = NULL;
    char        path[1024];
    snprintf(path, sizeof path, "%s/failing.%s", test_directory(), (const char *)ending);
    cr_status st = cr_network_parse(cx, "small", SMALL, sizeof SMALL - 1, CR_FORMAT_BIF, &net);
    if (st == CR_OK) st = cr_network_write(cx, net, path, CR_FORMAT_AUTO);
    if (st == CR_OK) st = cr_network_read(cx, path, CR_FORMAT_AUTO, &back);
    cr_network_free(cx, net);
    cr_network_free(cx, back);
    return st;
}

TEST(allocations_may_fail)
{
    for (size_t f = 0; f < FORMATS; f++) {
        char ending[16];
        snprintf(ending, sizeof ending, "%s", ENDINGS[f]);
        test_every_allocation_fails(save_and_load, ending);
    }
}
