/* UAI files: the competition's models and their answers; malformed files and their messages. */
#include "support.h"

#include "graph/exact/junction.h"
#include "graph/files/uai.h"

#include <jansson.h>

/* --- the reference answers ------------------------------------------------------------------- */

/* The largest distance between our marginals and those of a .MAR file. */
static double compare_marginals(const char *path, const double *p)
{
    char   name[1024], word[8];
    FILE  *f;
    int    n, states;
    double worst = 0, x;
    snprintf(name, sizeof name, "%s.MAR", path);
    f = fopen(name, "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%7s %d", word, &n), 2);
    for (int v = 0; v < n; v++) {
        assert_int_equal(fscanf(f, "%d", &states), 1);
        for (int s = 0; s < states; s++) {
            assert_int_equal(fscanf(f, "%lf", &x), 1);
            worst = fmax(worst, fabs(x - *p++));
        }
    }
    fclose(f);
    return worst;
}

static void check_model(cr_ctx *cx, const char *path, double log_z, double best)
{
    cr_network  *net;
    cr_evidence *e;
    cr_junction *j;
    char         name[1024];
    double       got;
    size_t       states = 0;
    assert_ok(cx, cr_uai_read(cx, path, &net));
    assert_ok(cx, cr_evidence_new(cx, net, &e));
    snprintf(name, sizeof name, "%s.evid", path);
    assert_ok(cx, cr_uai_read_evidence(cx, name, net, e));
    for (size_t v = 0; v < cr_network_size(net); v++) states += cr_network_states(net, v);
    double *p = malloc(states * sizeof *p);
    size_t *state = malloc(cr_network_size(net) * sizeof *state);
    assert_ok(cx, cr_junction_new(cx, net, e, NULL, &j));
    assert_ok(cx, cr_junction_marginals(cx, j, p));
    assert_true(compare_marginals(path, p) < 6e-7); /* six digits */
    assert_ok(cx, cr_junction_log_evidence(cx, j, &got));
    assert_relative(got, log_z, 1e-9);
    assert_ok(cx, cr_junction_best(cx, j, state, &got));
    assert_relative(got, best, 1e-9);
    assert_ok(cx, cr_bucket_log_evidence(cx, net, e, NULL, &got, NULL));
    assert_relative(got, log_z, 1e-9);
    assert_ok(cx, cr_bucket_best(cx, net, e, NULL, state, &got, NULL));
    assert_relative(got, best, 1e-9);
    assert_relative(cr_network_log_value(net, state), best, 1e-9);
    free(state);
    free(p);
    cr_junction_free(cx, j);
    cr_evidence_free(cx, e);
    cr_network_free(cx, net);
}

/* The models that take a moment at most; tests/cli has the marginals of all that take a second. */
TEST(the_competition_agrees)
{
    static const char *const MODELS[] = { "tiny/grid4x4",   "tiny/grid4x4_with_triplets",
                                          "tiny/paskin",    "tiny/simple5",
                                          "tiny/simple6",   "tiny/ChestClinic",
                                          "Grids_12",       "Promedus_13",
                                          "Promedus_15",    "Promedus_16",
                                          "Promedus_24",    "Promedus_30",
                                          "CSP_12",         "Promedus_21",
                                          "Segmentation_11" };
    const char              *reference = test_data("uai/reference.json");
    json_error_t             error;
    json_t                  *all = json_load_file(reference, 0, &error);
    assert_non_null(all);
    for (size_t i = 0; i < sizeof MODELS / sizeof *MODELS; i++) {
        char    name[128];
        json_t *one = json_object_get(all, MODELS[i]);
        snprintf(name, sizeof name, "uai/%s.uai", MODELS[i]);
        assert_non_null(one);
        check_model(cx, test_data(name), json_number_value(json_object_get(one, "lnZ")),
                    json_number_value(json_object_get(one, "map_logvalue")));
    }
    json_decref(all);
}

/* --- files ----------------------------------------------------------------------------------- */

static const char SMALL[] = "BAYES\n2\n2 3\n2\n1 0\n2 0\t1\n\n2\n 0.25 0.75\n6\n.1 .2 .7 1 0 0";

TEST(written_files_read_back)
{
    cr_network *a, *b;
    char        path[1024];
    assert_ok(cx, cr_uai_parse(cx, "small", SMALL, sizeof SMALL - 1, &a));
    snprintf(path, sizeof path, "%s/small.uai", test_directory());
    assert_ok(cx, cr_uai_write(cx, a, path));
    assert_ok(cx, cr_uai_read(cx, path, &b));
    assert_int_equal(cr_network_get_kind(b), CR_NETWORK_BAYES);
    for (size_t i = 0; i < 2; i++) {
        cr_table_view x = cr_network_table(a, i), y = cr_network_table(b, i);
        assert_int_equal(x.size, y.size);
        assert_memory_equal(x.value, y.value, x.size * sizeof(double));
        assert_memory_equal(x.scope, y.scope, x.n * sizeof(size_t));
    }
    cr_network_free(cx, a);
    cr_network_free(cx, b);
}

TEST(both_dialects_of_evidence)
{
    static const struct {
        const char *text;
        size_t      first, second; /* states, CR_NONE for none */
    } FILES[] = {
        { "1 1 2", CR_NONE, 2 },
        { "1\n1 1 2", CR_NONE, 2 },
        { "2 0 1 1 0\n", 1, 0 },
        { "1\n2 0 1 1 0", 1, 0 },
        { "0", CR_NONE, CR_NONE },
        { "", CR_NONE, CR_NONE },
        { "0\n2 0\n\n", CR_NONE, CR_NONE },
        { "1\n0\n", CR_NONE, CR_NONE },
    };
    cr_network *net;
    assert_ok(cx, cr_uai_parse(cx, "small", SMALL, sizeof SMALL - 1, &net));
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) {
        cr_evidence *e;
        assert_ok(cx, cr_evidence_new(cx, net, &e));
        assert_ok(cx, cr_uai_read_evidence(
                          cx, test_file("x.evid", FILES[i].text, strlen(FILES[i].text)), net, e));
        assert_true(cr_evidence_state(e, 0) == FILES[i].first);
        assert_true(cr_evidence_state(e, 1) == FILES[i].second);
        cr_evidence_free(cx, e);
    }
    cr_evidence *e;
    assert_ok(cx, cr_evidence_new(cx, net, &e));
    assert_fails_with(cx, cr_uai_read_evidence(cx, test_file("x.evid", "1 1 3", 5), net, e),
                      CR_EDATA, "a state should be a whole number below 3");
    assert_fails_with(cx, cr_uai_read_evidence(cx, test_file("x.evid", "2 1 0", 5), net, e),
                      CR_EDATA, "ends");
    cr_evidence_free(cx, e);
    assert_ok(cx, cr_evidence_new(cx, net, &e));
    assert_fails_with(cx, cr_uai_read_evidence(cx, test_file("x.evid", "2 1 0\n1 1", 9), net, e),
                      CR_EDATA, "x.evid:2:1: variable 1 is observed already");
    cr_evidence_free(cx, e);
    assert_ok(cx, cr_evidence_new(cx, net, &e));
    assert_fails_with(cx, cr_uai_read_evidence(cx, test_file("x.evid", "1 1 0 7 5", 9), net, e),
                      CR_EDATA, "x.evid:1:7: the file should end here, after 1 observations");
    cr_evidence_free(cx, e);
    cr_network_free(cx, net);
}

TEST(malformed_files_are_refused)
{
    static const struct {
        const char *text, *message;
    } FILES[] = {
        { "", "expected MARKOV or BAYES" },
        { "MARKOW 1", "x:1:1: expected MARKOV or BAYES" },
        { "MARKOV\nx", "x:2:1: the number of variables should be a number" },
        { "MARKOV 1 2.5", "a number of states should be a whole number" },
        { "MARKOV 1 0 0", "has no states" },
        { "MARKOV 2 2 2 999999999", "there are not 999999999 tables" },
        { "MARKOV 2 2 2 1 3 0 1 0", "the size of a scope should be a whole number below 3" },
        { "MARKOV 2 2 2 1 1 2 2 1 1", "a variable should be a whole number below 2" },
        { "MARKOV 2 2 2 1 2 0 0 4 1 1 1 1", "occurs twice" },
        { "MARKOV 1 2 1 1 0 3 1 1 1", "table 1 has 3 entries, but its scope needs 2" },
        { "MARKOV 1 2 1 1 0 2 1", "the file ends where an entry should be" },
        { "MARKOV 1\n2 1 1 0 2\n 1 -1", "x:3:4: an entry should be a finite number, 0 or more" },
        { "MARKOV 1 2 1 1 0 2 1e999 1", "x:1:20: an entry should be a finite number, 0 or more" },
        { "MARKOV 1 2 1 1 0 2 nan 1", "x:1:20: an entry should be a finite number, 0 or more" },
        { "MARKOV 2 2 2 1\n2 1 1 4 1 1 1 1", "x:2:5: variable 1 occurs twice in this scope" },
        { "MARKOV 2\n2 0 0", "x:2:3: variable 1 has no states" },
        { "MARKOV 1 2 1 1 0 2 1 1\n\n 5 6", "x:3:2: the file should end here, after table 1" },
        { "MARKOV 1 2 1 1 0 2 1 1 end", "x:1:24: the file should end here, after table 1" },
        { "MARKOV 1 2 2 1 0 1 0\n2 1 1 7\n2 1 1",
          "x:2:7: table 2 has 7 entries, but its scope needs 2" },
        { "BAYES 2\n2 2 1 1 0 2 1 0", "x:2:3: variable 'x1' has no probability table" },
        { "BAYES 1 2 2\n1 0\n1 0 2 1 0 2 1 0", "x:3:1: variable 0 has two tables" },
        { "BAYES 2 2 2 2\n2 1 0\n2 0 1 4 1 0 1 0 4 1 0 1 0",
          "x:2:1: the arcs of the network form a cycle: x0 <- x1 <- x0" },
    };
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) {
        cr_network *net = NULL;
        assert_fails_with(cx, cr_uai_parse(cx, "x", FILES[i].text, strlen(FILES[i].text), &net),
                          CR_EDATA, FILES[i].message);
        assert_null(net);
    }
    cr_network *net; /* rows of zeros: a Markov network after all */
    const char  zeros[] = "BAYES 1 2 1 1 0 2 0 0.5";
    assert_ok(cx, cr_uai_parse(cx, "x", zeros, strlen(zeros), &net));
    assert_int_equal(cr_network_get_kind(net), CR_NETWORK_MARKOV);
    cr_network_free(cx, net);
    assert_fails(cx, cr_uai_read(cx, "/nowhere/x.uai", &net), CR_EIO);
}

static cr_status read_small(cr_ctx *cx, void *unused)
{
    (void)unused;
    cr_network *net = NULL;
    cr_status   st = cr_uai_parse(cx, "small", SMALL, sizeof SMALL - 1, &net);
    cr_network_free(cx, net);
    return st;
}

TEST(allocations_may_fail) { test_every_allocation_fails(read_small, NULL); }
