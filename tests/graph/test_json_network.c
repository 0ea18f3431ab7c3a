/* Networks as JSON: every kind of distribution is what its formula says; what was written comes
 * back; every mistake is shown in its place. */
#include "support.h"

#include "graph/exact/bucket.h"
#include "graph/files/json_network.h"
#include "graph/files/network_file.h"
#include "random_network.h"
#include "same_network.h"

static cr_network *parse(cr_ctx *cx, const char *text)
{
    cr_network *net = NULL;
    assert_ok(cx, cr_json_parse(cx, "x.json", text, strlen(text), &net));
    return net;
}

static size_t variable(const cr_network *net, const char *name)
{
    return cr_variable_lookup(cr_network_variables(net), name);
}

static cr_network *through(cr_ctx *cx, const cr_network *net, const char *name)
{
    char        path[512];
    cr_network *back = NULL;
    snprintf(path, sizeof path, "%s/%s", test_directory(), name);
    assert_ok(cx, cr_network_write(cx, net, path, CR_FORMAT_AUTO));
    assert_ok(cx, cr_network_read(cx, path, CR_FORMAT_AUTO, &back));
    return back;
}

/* --- kinds ----------------------------------------------------------------------------------- */

#define CAUSES                                                                                     \
    "\"a\": {\"states\": [\"no\", \"yes\"], \"table\": [0.9, 0.1]},\n"                             \
    "\"b\": {\"states\": [\"yes\", \"no\"], \"table\": {\"no\": 0.75, \"yes\": 0.25}},\n"          \
    "\"c\": {\"states\": [\"lo\", \"mid\", \"hi\"], \"table\": [0.2, 0.3, 0.5]}"
#define BAYES(more) "{\"network\": \"bayes\", \"variables\": {\n" CAUSES ",\n" more "}}"

static const char KINDS[] = BAYES(
    "\"t\": {\"states\": 2, \"parents\": [\"c\", \"a\"], \"table\": {\"mid, yes\": [0.4, 0.6], "
    "\"lo,no\": [0, 1], \"lo, yes\": {\"1\": 1}, \" mid , no\": [0.3, 0.7], \"hi, no\": [0.5, "
    "0.5], "
    "\"hi, yes\": [0.25, 0.75]}},\n"
    "\"l\": {\"states\": 2, \"parents\": [\"c\", \"a\"], \"table\": [[[0, 1], [0, 1]], [0.3, 0.7], "
    "[0.4, 0.6], [[0.5, 0.5, 0.25, 0.75]]]},\n"
    "\"d\": {\"states\": [\"x\", \"y\"], \"parents\": [\"a\", \"b\"], \"deterministic\": {\"no, "
    "no\": "
    "\"x\", \"no, yes\": \"y\", \"yes, no\": \"y\", \"yes, yes\": \"x\"}},\n"
    "\"o\": {\"states\": [\"no\", \"yes\"], \"parents\": [\"a\", \"b\"], \"noisy-or\": {\"leak\": "
    "0.1, "
    "\"strengths\": {\"b\": 0.7, \"a\": 0.4}, \"on\": {\"b\": \"yes\"}}},\n"
    "\"m\": {\"states\": [\"0\", \"1\", \"2\"], \"parents\": [\"a\", \"c\"], \"noisy-max\": "
    "{\"leak\": "
    "[0.9, 0.06, 0.04], \"effects\": {\"a\": {\"no\": [1, 0, 0], \"yes\": [0.5, 0.2, 0.3]}, \"c\": "
    "{\"lo\": {\"0\": 1}, \"mid\": [0.6, 0.3, 0.1], \"hi\": [0.1, 0.2, 0.7]}}}},\n"
    "\"r\": {\"states\": 2, \"parents\": [\"a\", \"b\", \"c\"], \"tree\": {\"split\": \"c\", "
    "\"branches\": {\"hi\": [0.1, 0.9], \"lo\": [1, 0], \"mid\": {\"split\": \"b\", \"branches\": "
    "{\"yes\": {\"split\": \"a\", \"branches\": {\"no\": [0.2, 0.8], \"yes\": [0.3, 0.7]}}, "
    "\"no\": "
    "[0.4, 0.6]}}}}}");

/* P(m <= k | u) is the product of the chances that each cause and the leak stay at k or below. */
static double noisy_max(size_t a, size_t c, size_t k)
{
    static const double A[2][3] = { { 1, 0, 0 }, { 0.5, 0.2, 0.3 } }, L[] = { 0.9, 0.06, 0.04 };
    static const double C[3][3] = { { 1, 0, 0 }, { 0.6, 0.3, 0.1 }, { 0.1, 0.2, 0.7 } };
    double              p = 0;
    for (size_t i = 0; i < 27; i++) { /* every way in which the three can come out */
        size_t x = i / 9, y = i / 3 % 3, z = i % 3, most = x > y ? x : y;
        if ((most > z ? most : z) == k) p += A[a][x] * C[c][y] * L[z];
    }
    return p;
}

static double tree(size_t a, size_t b, size_t c)
{
    if (c == 2) return 0.9;
    if (c == 0) return 0;
    if (b == 1) return 0.6;
    return a == 0 ? 0.8 : 0.7;
}

TEST(kinds_are_what_they_mean)
{
    cr_network   *net = parse(cx, KINDS);
    cr_table_view t = cr_network_table(net, variable(net, "t"));
    cr_table_view l = cr_network_table(net, variable(net, "l"));
    double        rows[] = { 0, 1, 0, 1, 0.3, 0.7, 0.4, 0.6, 0.5, 0.5, 0.25, 0.75 };
    assert_memory_equal(t.value, rows, sizeof rows);
    assert_memory_equal(l.value, rows, sizeof rows);
    assert_true(cr_network_table(net, variable(net, "c")).value[2] == 0.5);
    assert_true(cr_network_table(net, variable(net, "b")).value[0] == 0.25);

    t = cr_network_table(net, variable(net, "d"));
    assert_int_equal(t.kind, CR_CPD_DETERMINISTIC);
    for (size_t a = 0; a < 2; a++) /* b counts yes first */
        for (size_t b = 0; b < 2; b++) {
            size_t is = a == (b == 0) ? 0 : 1;
            assert_true(t.value[(2 * a + b) * 2 + is] == 1);
        }
    t = cr_network_table(net, variable(net, "o"));
    assert_int_equal(t.kind, CR_CPD_NOISY_OR);
    for (size_t a = 0; a < 2; a++)
        for (size_t b = 0; b < 2; b++) {
            double off = 0.9 * (a == 1 ? 0.6 : 1) * (b == 0 ? 1 - 0.7 : 1);
            assert_close(t.value[(2 * a + b) * 2], off, 1e-15);
            assert_close(t.value[(2 * a + b) * 2 + 1], 1 - off, 1e-15);
        }
    t = cr_network_table(net, variable(net, "m"));
    assert_int_equal(t.kind, CR_CPD_NOISY_MAX);
    for (size_t e = 0; e < 18; e++)
        assert_close(t.value[e], noisy_max(e / 9, e / 3 % 3, e % 3), 1e-14);
    t = cr_network_table(net, variable(net, "r"));
    assert_int_equal(t.kind, CR_CPD_TREE);
    for (size_t e = 0; e < 12; e++)
        assert_close(t.value[2 * e + 1], tree(e / 6, e / 3 % 2, e % 3), 1e-15);
    cr_network_free(cx, net);
}

/* --- Markov networks ------------------------------------------------------------------------- */

static double log_z(cr_ctx *cx, const cr_network *net)
{
    double z = NAN;
    assert_ok(cx, cr_bucket_log_evidence(cx, net, NULL, NULL, &z, NULL));
    return z;
}

TEST(features_and_factors_multiply)
{
    static const char TEXT[] =
        "{\"network\": \"markov\", \"name\": \"m\", \"variables\": {\"x\": [\"no\", \"yes\"], "
        "\"y\": 3},"
        "\"factors\": [{\"scope\": [\"y\", \"x\"], \"table\": {\"0, no\": 1, \"1, no\": 2, \"2, "
        "no\": 3,"
        "\"0, yes\": 4, \"1, yes\": 5, \"2, yes\": 0}}, {\"scope\": [\"y\"], \"table\": [2, 3, 4]},"
        "{\"scope\": [], \"table\": [7]}, {\"scope\": [\"x\"], \"table\": {\"yes\": 2, \"no\": "
        "3}}],"
        "\"features\": [{\"when\": {\"x\": \"yes\", \"y\": \"1\"}, \"weight\": 0.5},"
        "{\"when\": {\"y\": \"1\", \"x\": \"no\"}, \"weight\": -0.25}, {\"when\": {}, \"weight\": "
        "2},"
        "{\"when\": {\"x\": \"no\"}, \"weight\": -1}]}";
    static const double FIRST[2][3] = { { 1, 2, 3 }, { 4, 5, 0 } };
    cr_network         *net = parse(cx, TEXT);
    assert_int_equal(cr_network_tables(net), 7); /* two features share a table */
    assert_int_equal(cr_network_table(net, 4).kind, CR_CPD_LOG_LINEAR);
    for (size_t x = 0; x < 2; x++)
        for (size_t y = 0; y < 3; y++) {
            size_t state[] = { x, y };
            double value = log(FIRST[x][y]) + log((double)(2 + y)) + log(7) + log(x ? 2 : 3) + 2;
            value += (x == 1 && y == 1 ? 0.5 : 0) + (x == 0 && y == 1 ? -0.25 : 0) - (x == 0);
            if (isfinite(value)) assert_close(cr_network_log_value(net, state), value, 1e-14);
        }
    cr_network_free(cx, net);
}

/* Z of rows x cols spins by the transfer matrix from column to column; opt_ring: the last column
 * is beside the first. */
static double transfer(size_t rows, size_t cols, double J, double h, bool ring)
{
    size_t  n = (size_t)1 << rows;
    double *T = malloc(n * n * sizeof *T), *p = calloc(n * n, sizeof *p),
           *q = malloc(n * n * sizeof *q);
    double z = 0;
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++) {
            double e = 0;
            for (size_t r = 0; r < rows; r++) {
                double x = a >> r & 1 ? 1 : -1, y = b >> r & 1 ? 1 : -1;
                double below = r + 1 < rows       ? (b >> (r + 1) & 1 ? 1 : -1)
                               : ring && rows > 2 ? (b & 1 ? 1 : -1)
                                                  : 0;
                e += J * x * y + h * y + J * y * below;
            }
            T[a * n + b] = exp(e);
        }
    for (size_t a = 0; a < n; a++) p[a * n + a] = 1;
    for (size_t c = 0; c < cols; c++) {
        for (size_t i = 0; i < n; i++)
            for (size_t b = 0; b < n; b++) {
                q[i * n + b] = 0;
                for (size_t a = 0; a < n; a++) q[i * n + b] += p[i * n + a] * T[a * n + b];
            }
        memcpy(p, q, n * n * sizeof *p);
    }
    if (ring)
        for (size_t a = 0; a < n; a++) z += p[a * n + a];
    free(q), free(T), free(p);
    return z;
}

/* A strip with open ends: the first column has no neighbour to its left. */
static double strip(size_t rows, size_t cols, double J, double h)
{
    size_t n = (size_t)1 << rows;
    double p[64], q[64], z = 0;
    for (size_t c = 0; c < cols; c++) {
        for (size_t b = 0; b < n; b++) {
            double within = 0, sum = c == 0;
            for (size_t r = 0; r < rows; r++) {
                double y = b >> r & 1 ? 1 : -1;
                within += h * y;
                if (r + 1 < rows) within += J * y * (b >> (r + 1) & 1 ? 1 : -1);
            }
            for (size_t a = 0; c > 0 && a < n; a++) {
                double e = 0;
                for (size_t r = 0; r < rows; r++)
                    e += J * (a >> r & 1 ? 1 : -1) * (b >> r & 1 ? 1 : -1);
                sum += p[a] * exp(e);
            }
            q[b] = sum * exp(within);
        }
        memcpy(p, q, sizeof p);
    }
    for (size_t b = 0; b < n; b++) z += p[b];
    return z;
}

TEST(strips_of_spins_agree_with_transfer_matrices)
{
    static const struct {
        size_t rows, cols;
        double J, h;
    } SIZES[] = { { 1, 1, 0.3, 0.2 },   { 1, 6, 0.4, 0 },    { 4, 1, -0.4, 0.1 },
                  { 3, 3, 0.44, 0.05 }, { 4, 7, 0.8, -0.3 }, { 2, 5, -1.5, 0.7 },
                  { 5, 6, 0.1, 0 } };
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++)
        for (int ring = 0; ring < 2; ring++) {
            char   text[256];
            size_t R = SIZES[i].rows, C = SIZES[i].cols;
            double J = SIZES[i].J, h = SIZES[i].h;
            if (ring && C < 3) continue; /* it has no more neighbours than without */
            snprintf(text, sizeof text,
                     "{\"network\": \"markov\", \"ising\": {\"rows\": %zu, \"cols\": %zu, "
                     "\"coupling\": %g, \"field\": %g, \"periodic\": %s}}",
                     R, C, J, h, ring ? "true" : "false");
            cr_network *net = parse(cx, text);
            assert_int_equal(cr_network_size(net), R * C);
            assert_close(log_z(cx, net), log(ring ? transfer(R, C, J, h, true) : strip(R, C, J, h)),
                         1e-12);
            cr_network_free(cx, net);
        }
}

/* Fields and couplings by name, of values -1 and 1 and of 0 and 1, beside features of the same. */
TEST(machines_agree_with_enumeration)
{
    static const char TEXT[] =
        "{\"network\": \"markov\", \"variables\": {\"q\": [\"u\", \"d\"]},"
        "\"ising\": {\"fields\": {\"a\": 0.3, \"b\": 0}, \"couplings\": [[\"a\", \"b\", 0.7], "
        "[\"c\", \"a\", -0.4], [\"b\", \"c\", 0]]},"
        "\"boltzmann\": {\"biases\": {\"z\": -0.2}, \"weights\": [[\"z\", \"w\", 1.1], [\"q\", "
        "\"z\", "
        "0.9]]}, \"features\": [{\"when\": {\"a\": \"+1\", \"z\": \"1\"}, \"weight\": 0.6}]}";
    cr_network *net = parse(cx, TEXT);
    double      z = 0;
    size_t      q = variable(net, "q"), a = variable(net, "a"), b = variable(net, "b");
    size_t      c = variable(net, "c"), y = variable(net, "z"), w = variable(net, "w");
    assert_int_equal(cr_network_size(net), 6);
    for (size_t i = 0; i < 64; i++) {
        size_t state[6];
        double e, s[6];
        for (size_t v = 0; v < 6; v++) state[v] = i >> v & 1, s[v] = state[v] ? 1 : -1;
        e = 0.3 * s[a] + 0.7 * s[a] * s[b] - 0.4 * s[c] * s[a] - 0.2 * (double)state[y];
        e += 1.1 * (double)(state[y] * state[w]) + 0.9 * (double)(state[q] * state[y]);
        e += 0.6 * (double)(state[a] * state[y]);
        assert_close(cr_network_log_value(net, state), e, 1e-13);
        z += exp(e);
    }
    assert_close(log_z(cx, net), log(z), 1e-13);
    cr_network *back = through(cx, net, "machine.json"); /* as weights of features */
    assert_int_equal(cr_network_tables(back), cr_network_tables(net));
    for (size_t i = 0; i < 64; i++) {
        size_t state[6];
        for (size_t v = 0; v < 6; v++) state[v] = i >> v & 1;
        assert_close(cr_network_log_value(back, state), cr_network_log_value(net, state), 1e-15);
    }
    size_t kept = 0;
    for (size_t i = 0; i < cr_network_tables(back); i++)
        kept += cr_network_table(back, i).source != NULL;
    assert_int_equal(kept, cr_network_tables(back) - 1); /* all but the weight of 0 */
    cr_network_free(cx, back);
    cr_network_free(cx, net);
}

/* --- there and back -------------------------------------------------------------------------- */

TEST(parameters_come_back)
{
    cr_network *net = parse(cx, KINDS), *cred = through(cx, net, "k.cred");
    cr_network *json = through(cx, cred, "k.json"), *copy = NULL;
    assert_ok(cx, cr_network_copy(cx, json, &copy));
    assert_same_network(net, cred, true);
    assert_same_network(net, json, true);
    for (size_t v = 0; v < cr_network_size(net); v++) {
        cr_table_view a = cr_network_table(net, v), b = cr_network_table(copy, v);
        assert_int_equal(a.kind, b.kind);
        assert_true((a.source == NULL) == (b.source == NULL));
        if (a.source) assert_string_equal(a.source, b.source);
    }
    size_t o = variable(copy, "o");
    assert_non_null(cr_network_table(copy, o).source);
    assert_ok(cx, cr_network_set_table(cx, copy, o, cr_network_table(json, o).value));
    assert_null(cr_network_table(copy, o).source); /* it is a table now */
    assert_ok(cx, cr_network_intervene(cx, copy, variable(copy, "r"), 1));
    assert_null(cr_network_table(copy, variable(copy, "r")).source);
    cr_network *again = through(cx, copy, "again.json");
    assert_same_network(copy, again, true);
    cr_network *bif = through(cx, net, "k.bif");
    assert_same_network(net, bif, false);
    cr_network *list[] = { net, cred, json, copy, again, bif };
    for (size_t i = 0; i < 6; i++) cr_network_free(cx, list[i]);
}

TEST(random_networks_come_back)
{
    cr_rng r = cr_rng_stream(3, 0);
    for (size_t trial = 0; trial < 40; trial++) {
        cr_network *net = random_network(cx, &r, trial % 2 ? CR_NETWORK_MARKOV : CR_NETWORK_BAYES,
                                         1 + cr_rng_below(&r, 6));
        cr_network *back = through(cx, net, "r.json");
        assert_same_network(net, back, true);
        cr_network_free(cx, back);
        cr_network_free(cx, net);
    }
}

/* Names that need quotes, escapes and care. */
TEST(odd_names_come_back)
{
    static const char *const ODD[] = { "a, b", " x", "say \"hi\"", "tab\tend ", "!\xC3\xA9", "\\" };
    static const char *const PLAIN[] = { "x y", "z" };
    cr_network              *net;
    double value[12], two[] = { 0.5, 0.5 }, six[] = { 0.1, 0.2, 0.3, 0.1, 0.1, 0.2 };
    size_t both[] = { 0, 1 };
    for (size_t i = 0; i < 12; i++) value[i] = 0.5;
    for (int markov = 0; markov < 2; markov++) {
        assert_ok(cx, cr_network_new(cx, markov ? CR_NETWORK_MARKOV : CR_NETWORK_BAYES, &net));
        assert_ok(cx, cr_network_set_name(cx, net, "a \"net\""));
        assert_ok(cx, cr_network_add_variable(cx, net, "odd, \"v\"", 6, ODD, NULL));
        assert_ok(cx, cr_network_add_variable(cx, net, "p", 2, PLAIN, NULL));
        assert_ok(cx, cr_network_add_variable(cx, net, "c", 2, NULL, NULL));
        assert_ok(cx, cr_network_add_property(cx, net, CR_NONE, "remark = \"1\""));
        assert_ok(cx, cr_network_add_property(cx, net, 1, "position = (1, 2)"));
        if (markov) {
            for (size_t i = 0; i < 12; i++) value[i] = (double)i / 7;
            assert_ok(cx, cr_network_add_table(cx, net, 2, both, value));
            assert_ok(cx, cr_network_add_table(cx, net, 1, both, six));
        } else {
            assert_ok(cx, cr_network_set_table(cx, net, 0, six));
            assert_ok(cx, cr_network_set_table(cx, net, 1, two));
            assert_ok(cx, cr_network_set_parents(cx, net, 2, 2, both));
            double rows[24];
            for (size_t i = 0; i < 12; i++)
                rows[2 * i] = (double)i / 16, rows[2 * i + 1] = 1 - rows[2 * i];
            assert_ok(cx, cr_network_set_table(cx, net, 2, rows));
        }
        cr_network *back = through(cx, net, "odd.json");
        assert_same_network(net, back, true);
        assert_same_properties(net, back);
        cr_network_free(cx, back);
        cr_network_free(cx, net);
    }
}

TEST(names_that_are_not_text_are_refused)
{
    cr_network *net;
    double      one = 1;
    char        path[512];
    assert_ok(cx, cr_network_new(cx, CR_NETWORK_BAYES, &net));
    assert_ok(cx, cr_network_add_variable(cx, net, "caf\xE9", 1, NULL, NULL));
    assert_ok(cx, cr_network_set_table(cx, net, 0, &one));
    snprintf(path, sizeof path, "%s/latin.json", test_directory());
    assert_fails_with(cx, cr_network_write(cx, net, path, CR_FORMAT_AUTO), CR_EDATA, "not");
    cr_network_free(cx, net);
}

TEST(bytes_tell)
{
    static const char TEXT[] = "\xEF\xBB\xBF {\"network\": \"markov\", \"variables\": {\"x\": 2}}";
    cr_network       *net = NULL;
    assert_int_equal(cr_network_sniff(TEXT, sizeof TEXT - 1), CR_FORMAT_JSON);
    assert_int_equal(cr_network_sniff("{\"x\": \"a\"}", 10), CR_FORMAT_AUTO);
    assert_int_equal(cr_network_format_of("a/b.json.gz"), CR_FORMAT_JSON);
    assert_ok(cx, cr_network_parse(cx, "?", TEXT, sizeof TEXT - 1, CR_FORMAT_AUTO, &net));
    assert_int_equal(cr_network_size(net), 1);
    cr_network_free(cx, net);
}

/* --- mistakes -------------------------------------------------------------------------------- */

#define ONE(definition) BAYES("\"v\": {\"states\": [\"no\", \"yes\"], " definition "}")
#define MARKOV(more)                                                                               \
    "{\"network\": \"markov\", \"variables\": {\"x\": [\"no\", \"yes\"], \"y\": 3}, " more "}"

TEST(mistakes_are_shown)
{
    static const struct {
        const char *text, *message;
    } FILES[] = {
        { "", "x.json:1:1: not JSON" },
        { "[1]", "x.json:1:1: an object, { ... }, is expected here" },
        { "{\"network\": \"bayes\",\n \"variables\": {\"a\": }}", "x.json:2:" },
        { "{\"network\": \"bayes\", \"network\": 1}", "a key occurs twice in one object" },
        { "{\"variables\": {}}", "x.json:1:1: the key \"network\" is missing here" },
        { "{\"network\": \"bays\"}", "x.json:1:13: there is no network \"bays\"" },
        { "{\"network\": 3}", "x.json:1:13: \"bayes\", \"markov\" or \"gaussian\" is expected" },
        { "{\"network\": \"gaussian\"}", "this one is Gaussian" },
        { "{\"network\": \"bayes\"}", "the key \"variables\" is missing" },
        { "{\"network\": \"bayes\", \"variables\": {}}", "there are no variables in the network" },
        { "{\"network\": \"bayes\", \"variables\": []}", "an object of variables is expected" },
        { "{\"network\": \"bayes\", \"factors\": []}", "x.json:1:22: there is no key \"factors\"" },
        { BAYES("\"v\": 3"), "x.json:5:6: an object with states and probabilities is expected" },
        { BAYES("\"v\": {}"), "x.json:5:6: the key \"states\" is missing here" },
        { BAYES("\"v\": {\"states\": \"x\"}"), "the states of 'v' are expected here" },
        { BAYES("\"v\": {\"states\": 0}"), "the number of states should be a whole number from 1" },
        { BAYES("\"v\": {\"states\": []}"), "variable 'v' has no states" },
        { BAYES("\"v\": {\"states\": [\"x\", 2]}"),
          "x.json:5:23: the name of a state is expected here" },
        { BAYES("\"v\": {\"states\": [\"x\", \"x\"]}"), "two states 'x'" },
        { BAYES("\"a\": {\"states\": [\"x\"]}"), "a key occurs twice" },
        { ONE("\"tabel\": [1]"), "there is no key \"tabel\" here" },
        { ONE("\"parents\": []"), "x.json:5:6: 'v' has no probabilities" },
        { ONE("\"table\": [1, 0], \"tree\": [1, 0]"), "'v' has a \"table\" already" },
        { ONE("\"parents\": [\"d\"], \"table\": []"), "there is no variable 'd'" },
        { ONE("\"parents\": [\"a\", \"a\"], \"table\": []"), "'a' occurs here twice" },
        { ONE("\"parents\": [\"v\"], \"table\": []"), "variable 'v' is its own parent" },
        { ONE("\"parents\": \"a\", \"table\": []"), "a list of variables is expected here" },
        { ONE("\"table\": [0.5, 0.4]"), "x.json:5:41: probabilities sum to 0.9, expected 1" },
        { ONE("\"table\": [1.5, 0.4]"), "a probability should lie between 0 and 1, not 1.5" },
        { ONE("\"table\": [1, -0.1]"), "a probability should lie between 0 and 1, not -0.1" },
        { ONE("\"table\": [1]"), "1 probabilities where 'v' has 2 states" },
        { ONE("\"table\": [1, \"x\"]"), "a probability should be a number" },
        { ONE("\"table\": {\"maybe\": 1}"), "'v' has no state 'maybe'" },
        { ONE("\"table\": 1"), "a list of probabilities, or an object by states, is expected" },
        { ONE("\"parents\": [\"a\"], \"table\": [[1, 0]]"), "2 numbers where 4 should be" },
        { ONE("\"parents\": [\"a\"], \"table\": [1, 0, 1, 0, 1]"),
          "there are more than 4 numbers" },
        { ONE("\"parents\": [\"a\"], \"table\": [1, 0, 0.5, 0.4]"), "'v' given a=yes sum to 0.9" },
        { ONE("\"parents\": [\"a\"], \"table\": {\"no\": [1, 0]}"), "there is no value for a=yes" },
        { ONE("\"parents\": [\"a\"], \"table\": {\"on\": [1, 0]}"), "'a' has no state 'on'" },
        { ONE("\"parents\": [\"a\", \"c\"], \"table\": {\"no\": [1, 0]}"),
          "this key should name the states of 2 variables" },
        { ONE("\"parents\": [\"a\", \"c\"], \"table\": {\"no, lo, no\": [1, 0]}"),
          "this key should name the states of 2 variables" },
        { ONE("\"parents\": [\"a\", \"c\"], \"table\": {\"no, lo\": [1, 0], \"no,lo\": [1, 0]}"),
          "these states occur here twice" },
        { ONE("\"deterministic\": \"on\""), "'v' has no state 'on'" },
        { ONE("\"parents\": [\"a\"], \"deterministic\": \"no\""), "an object from the parents'" },
        { ONE("\"parents\": [\"a\"], \"deterministic\": {\"no\": \"no\"}"), "no value for a=yes" },
        { ONE("\"parents\": [\"a\"], \"noisy-or\": []"), "an object with \"leak\" and" },
        { ONE("\"parents\": [\"a\"], \"noisy-or\": {\"leek\": 1}"), "there is no key \"leek\"" },
        { ONE("\"parents\": [\"a\"], \"noisy-or\": {\"leak\": 1.5}"),
          "the leak should lie between" },
        { ONE("\"parents\": [\"a\"], \"noisy-or\": {}"), "the key \"strengths\" is missing" },
        { ONE("\"parents\": [\"a\"], \"noisy-or\": {\"strengths\": {}}"), "parent 'a' is missing" },
        { ONE("\"parents\": [\"a\"], \"noisy-or\": {\"strengths\": {\"c\": 1}}"),
          "'c' is not a parent" },
        { ONE("\"parents\": [\"a\"], \"noisy-or\": {\"strengths\": {\"a\": 2}}"),
          "a strength should" },
        { ONE("\"parents\": [\"b\"], \"noisy-or\": {\"strengths\": {\"b\": 0.5}}"),
          "the second state counts as on, which for 'b' would be 'no'" },
        { ONE("\"parents\": [\"c\"], \"noisy-or\": {\"strengths\": {\"c\": 0.5}}"),
          "two states each" },
        { ONE("\"parents\": [\"a\"], \"noisy-or\": {\"strengths\": {\"a\": 0.5}, \"on\": {\"a\": "
              "\"maybe\"}}"),
          "'a' has no state 'maybe'" },
        { ONE("\"parents\": [\"a\"], \"noisy-max\": {\"effects\": {}}"), "parent 'a' is missing" },
        { ONE("\"parents\": [\"a\"], \"noisy-max\": {\"effects\": {\"a\": {\"no\": [1, 0]}}}"),
          "no value for a=yes" },
        { ONE("\"parents\": [\"a\"], \"noisy-max\": {\"leak\": [1, 1]}"),
          "probabilities sum to 2" },
        { ONE("\"parents\": [\"a\"], \"tree\": {\"split\": \"c\", \"branches\": {}}"),
          "'c' is not a parent of 'v'" },
        { ONE("\"parents\": [\"a\"], \"tree\": {\"split\": \"a\"}"), "\"branches\" is missing" },
        { ONE("\"parents\": [\"a\"], \"tree\": {\"split\": \"a\", \"branches\": {\"no\": [1, 0]}}"),
          "no value for a=yes" },
        { ONE("\"parents\": [\"a\"], \"tree\": {\"split\": \"a\", \"branches\": {\"yes\": [1, 0], "
              "\"no\": {\"split\": \"a\", \"twigs\": {}}}}"),
          "there is no key \"twigs\"" },
        { BAYES("\"v\": {\"states\": 2, \"parents\": [\"w\"], \"table\": [1, 0, 1, 0]},"
                "\"w\": {\"states\": 2, \"parents\": [\"v\"], \"table\": [1, 0, 1, 0]}"),
          "cycle" },
        { BAYES("\"v\": {\"linear-gaussian\": {\"variance\": 1}}"), "the two cannot be mixed" },
        { MARKOV("\"table\": []"), "there is no key \"table\"" },
        { MARKOV("\"factors\": {}"), "a list of factors is expected here" },
        { MARKOV("\"factors\": [{\"table\": []}]"), "the key \"scope\" is missing" },
        { MARKOV("\"factors\": [{\"scope\": [\"x\"], \"table\": [1, -1]}]"),
          "value 2 of factor 1 is -1" },
        { MARKOV("\"factors\": [{\"scope\": [\"x\"], \"table\": [1]}]"),
          "1 numbers where 2 should be" },
        { MARKOV("\"factors\": [{\"scope\": [\"x\", \"y\"], \"table\": {\"no, 1\": 2}}]"),
          "there is no value for x=no, y=0 here" },
        { MARKOV("\"features\": [{\"when\": {\"x\": \"no\"}}]"), "the key \"weight\" is missing" },
        { MARKOV("\"features\": [{\"when\": {\"z\": \"no\"}, \"weight\": 1}]"), "no variable 'z'" },
        { MARKOV("\"features\": [{\"when\": {\"x\": \"on\"}, \"weight\": 1}]"), "no state 'on'" },
        { MARKOV("\"features\": [{\"when\": {}, \"weight\": 1e3}]"),
          "a weight should lie between" },
        { MARKOV("\"ising\": {\"rows\": 2}"), "the key \"cols\" is missing" },
        { MARKOV("\"ising\": {\"rows\": 2, \"cols\": 1e9, \"coupling\": 1}"),
          "whole number from 1" },
        { MARKOV("\"ising\": {\"rows\": 2, \"cols\": 2}"), "the key \"coupling\" is missing" },
        { MARKOV("\"ising\": {\"rows\": 2, \"cols\": 2, \"coupling\": 1, \"periodic\": 1}"),
          "\"periodic\" should be true or false" },
        { MARKOV("\"ising\": {\"field\": {\"x\": 1}}"), "there is no key \"field\"" },
        { MARKOV("\"ising\": {\"fields\": {\"y\": 1}}"),
          "'y' has 3 states, but here it should have" },
        { MARKOV("\"ising\": {\"couplings\": [[\"a\", \"b\"]]}"), "two variables and a number" },
        { MARKOV("\"ising\": {\"couplings\": [[\"a\", \"a\", 1]]}"), "'a' is paired with itself" },
        { MARKOV("\"ising\": {\"couplings\": [[\"a\", \"b\", 1], [\"c\", \"b\", 1], [\"b\", \"a\", "
                 "2]]}"),
          "this pair occurs here twice" },
        { MARKOV("\"boltzmann\": {\"biases\": {\"z\": \"1\"}}"), "a weight should be a number" },
    };
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) {
        cr_network *net = NULL;
        assert_fails_with(cx,
                          cr_json_parse(cx, "x.json", FILES[i].text, strlen(FILES[i].text), &net),
                          CR_EDATA, FILES[i].message);
        assert_null(net);
        assert_true(strncmp(cr_error(cx), "x.json:", 7) == 0);
    }
}

/* --- memory ---------------------------------------------------------------------------------- */

static cr_status read_and_write(cr_ctx *cx, void *text)
{
    cr_network *net = NULL, *copy = NULL;
    char        path[512];
    cr_status   st = cr_json_parse(cx, "x.json", text, strlen(text), &net);
    snprintf(path, sizeof path, "%s/memory.json", test_directory());
    if (st == CR_OK) st = cr_network_copy(cx, net, &copy);
    if (st == CR_OK) st = cr_json_write(cx, copy, path);
    cr_network_free(cx, net);
    cr_network_free(cx, copy);
    return st;
}

TEST(every_allocation_may_fail)
{
    static char markov[] = MARKOV("\"features\": [{\"when\": {\"x\": \"no\"}, \"weight\": 1}], "
                                  "\"factors\": [{\"scope\": [\"x\"], \"table\": [1, 2]}], "
                                  "\"ising\": {\"couplings\": [[\"a\", \"b\", 1]]}");
    static char bayes[sizeof KINDS];
    memcpy(bayes, KINDS, sizeof KINDS);
    test_every_allocation_fails(read_and_write, bayes);
    test_every_allocation_fails(read_and_write, markov);
}
