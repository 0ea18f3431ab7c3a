/* Pictures of networks: well-formed, with the marginals that a query gives, evidence marked. */
#include "support.h"
#include "wellformed.h"

#include "../graph/random_network.h"
#include "base/file.h"
#include "graph/files/network_file.h"
#include "plot/network_figure.h"

static const char BURGLARY[] =
    "network \"a < b\" { }\n"
    "variable burglary { type discrete [ 2 ] { yes, no }; }\n"
    "variable earthquake { type discrete [ 2 ] { yes, no }; }\n"
    "variable alarm { type discrete [ 2 ] { on, off }; }\n"
    "variable john { type discrete [ 2 ] { yes, no }; }\n"
    "probability ( burglary ) { table 0.001, 0.999; }\n"
    "probability ( earthquake ) { table 0.002, 0.998; }\n"
    "probability ( alarm | burglary, earthquake ) { (yes, yes) 0.95, 0.05; (no, yes) 0.29, 0.71;\n"
    "  (yes, no) 0.94, 0.06; (no, no) 0.001, 0.999; }\n"
    "probability ( john | alarm ) { (on) 0.9, 0.1; (off) 0.05, 0.95; }\n";

static cr_network *burglary(cr_ctx *cx)
{
    cr_network *net;
    const char *path = test_file("burglary.bif", BURGLARY, sizeof BURGLARY - 1);
    assert_ok(cx, cr_network_read(cx, path, CR_FORMAT_BIF, &net));
    return net;
}

/* The picture as text, freed by the caller. */
static char *draw(cr_ctx *cx, const cr_network *net, const char *question)
{
    cr_question    *q = NULL;
    char            path[512], *text;
    cr_network_plot p = { 0 };
    snprintf(path, sizeof path, "%s/net.svg", test_directory());
    if (question) assert_ok(cx, cr_question_parse(cx, net, question, &q));
    p.question = q;
    assert_ok(cx, cr_plot_network(cx, net, &p, path));
    cr_question_free(cx, q);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    text = calloc(1, 1 << 22);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 22) - 1, f) > 0);
    fclose(f);
    assert_null(find_xml_error(text));
    return text;
}

TEST(the_burglary_is_drawn)
{
    cr_network *net = burglary(cx);
    char       *text = draw(cx, net, NULL);
    assert_int_equal(count_text(text, "font-weight='600'>burglary<"), 1);
    assert_int_equal(count_text(text, " stroke='none' d='M"), 3); /* arrows */
    assert_non_null(strstr(text, ">0.1%<"));
    assert_non_null(strstr(text, "a &lt; b"));
    assert_null(strstr(text, "observed"));
    free(text);

    text = draw(cx, net, "P(* | john=yes, earthquake~{yes:2, no:1})");
    assert_int_equal(count_text(text, ">observed<"), 1);
    assert_int_equal(count_text(text, ">virtual<"), 1);
    assert_non_null(strstr(text, "given john=yes, earthquake~{yes:2, no:1}"));
    assert_non_null(strstr(text, ">100%<"));
    free(text);

    text = draw(cx, net, "P(* | do(alarm=on), burglary:={yes:0.25, no:0.75})");
    assert_int_equal(count_text(text, "stroke-dasharray"), 2);
    assert_int_equal(count_text(text, " stroke='none' d='M"), 1);
    assert_non_null(strstr(text, ">25.0%<"));
    assert_int_equal(count_text(text, ">90.0%<"), 1); /* john */
    free(text);
    cr_network_free(cx, net);
}

/* Every picture is well-formed, and has as many arrows as arcs. */
TEST(random_networks_are_drawn)
{
    cr_rng r = cr_rng_stream(8, 1);
    for (size_t round = 0; round < 30; round++) {
        bool        bayes = round % 2 == 0;
        cr_network *net = random_network(cx, &r, bayes ? CR_NETWORK_BAYES : CR_NETWORK_MARKOV,
                                         1 + cr_rng_below(&r, 10));
        size_t      arcs = 0, squares = 0;
        double      log_z;
        assert_ok(cx, cr_bucket_log_evidence(cx, net, NULL, NULL, &log_z, NULL));
        if (log_z > -INFINITY) {
            char *text = draw(cx, net, NULL);
            for (size_t i = 0; i < cr_network_tables(net); i++) {
                size_t n = cr_network_table(net, i).n;
                if (bayes) arcs += n - 1;
                squares += !bayes && n > 2;
            }
            assert_int_equal(count_text(text, " stroke='none' d='M"), arcs);
            assert_int_equal(count_text(text, "width='9' height='9'"), squares);
            free(text);
        }
        cr_network_free(cx, net);
    }
}

TEST(many_states_are_few_rows)
{
    cr_network *net;
    double      p[20];
    char       *text;
    for (size_t s = 0; s < 20; s++) p[s] = s == 13 ? 0.5 : s == 4 ? 0.25 : 0.25 / 18;
    assert_ok(cx, cr_network_new(cx, CR_NETWORK_BAYES, &net));
    assert_ok(cx, cr_network_add_variable(cx, net, "x", 20, NULL, NULL));
    assert_ok(cx, cr_network_set_table(cx, net, 0, p));
    text = draw(cx, net, NULL);
    assert_non_null(strstr(text, ">13 others<"));
    assert_non_null(strstr(text, ">50.0%<"));
    assert_non_null(strstr(text, ">25.0%<"));
    assert_non_null(strstr(text, ">18.1%<")); /* 13 * 0.25 / 18 */
    free(text);
    cr_network_free(cx, net);
}

TEST(text_has_the_bars)
{
    cr_network     *net = burglary(cx);
    cr_question    *q;
    cr_network_plot p = { 0 };
    char           *text;
    assert_ok(cx, cr_question_parse(cx, net, "P(* | john=yes)", &q));
    p.question = q;
    assert_ok(cx, cr_plot_network_text(cx, net, &p, 60, &text));
    assert_non_null(strstr(text, "alarm \u2190 burglary, earthquake\n"));
    assert_non_null(strstr(text, "john \u2190 alarm  [observed]\n\u25b8 yes "));
    assert_non_null(strstr(text, "\u2588    100%\n"));
    cr_free(cx, text, strlen(text) + 1, 1);
    p.plain = true;
    assert_ok(cx, cr_plot_network_text(cx, net, &p, 60, &text));
    assert_null(strstr(text, "%"));
    cr_free(cx, text, strlen(text) + 1, 1);
    cr_question_free(cx, q);
    assert_ok(cx, cr_question_parse(cx, net, "P(john)", &q));
    p.question = q;
    assert_fails_with(cx, cr_plot_network_text(cx, net, &p, 60, &text), CR_EARG, "marginals");
    cr_question_free(cx, q);
    assert_ok(cx, cr_question_parse(cx, net, "P(* | burglary in {yes, no})", &q));
    p.question = q;
    p.plain = false;
    assert_ok(cx, cr_plot_network_text(cx, net, &p, 10, &text));
    cr_free(cx, text, strlen(text) + 1, 1);
    cr_question_free(cx, q);
    cr_network_free(cx, net);
}

/* x ~ N(1, 4), y | x ~ N(3 - 0.5 x, 1), z | x, y ~ N(x + 2.25 y, 0): a function. */
static cr_gaussian_network *three_normals(cr_ctx *cx)
{
    cr_gaussian_network *net;
    size_t               parents[] = { 0, 1 };
    double               weight = -0.5, weights[] = { 1, 2.25 };
    assert_ok(cx, cr_gaussian_network_new(cx, &net));
    assert_ok(cx, cr_gaussian_network_add(cx, net, "x<1", 0, NULL, NULL, 1, 4, NULL));
    assert_ok(cx, cr_gaussian_network_add(cx, net, "y", 1, parents, &weight, 3, 1, NULL));
    assert_ok(cx, cr_gaussian_network_add(cx, net, "z", 2, parents, weights, 0, 0, NULL));
    return net;
}

/* Where the line of the value that is known stands between the ends of its axis. */
static double place_of_value(char *text)
{
    double from = NAN, y, to = NAN, at = NAN;
    char  *line = strstr(text, "stroke-width='2.2' d='M"), *axis = NULL;
    assert_non_null(line);
    for (char *p = text; (p = strstr(p, "<path stroke='#edf0f3' d='M")) && p < line; p++) axis = p;
    assert_non_null(axis);
    assert_int_equal(sscanf(axis, "<path stroke='#edf0f3' d='M%lf %lfH%lf", &from, &y, &to), 3);
    assert_int_equal(sscanf(line, "stroke-width='2.2' d='M%lf", &at), 1);
    return (at - from) / (to - from);
}

TEST(normals_have_means_and_weights)
{
    cr_gaussian_network *net = three_normals(cx);
    cr_question         *given = NULL, *other = NULL;
    assert_ok(cx, cr_gaussian_question_parse(cx, net, "P(* | y=4)", &given));
    assert_ok(cx, cr_gaussian_question_parse(cx, net, "P(y)", &other));
    cr_network_plot p = { .question = given, .title = "three" };
    char            path[512], *text = calloc(1, 1 << 20), *lines = NULL;
    snprintf(path, sizeof path, "%s/normals.svg", test_directory());
    for (int known = 0; known < 2; known++) {
        assert_ok(cx, cr_plot_gaussian(cx, net, known ? &p : NULL, path));
        FILE *f = fopen(path, "rb");
        assert_non_null(f);
        memset(text, 0, 1 << 20);
        assert_true(fread(text, 1, (1 << 20) - 1, f) > 0);
        fclose(f);
        assert_null(find_xml_error(text));
        assert_int_equal(count_text(text, " stroke='none' d='M"), 3); /* arrows */
        assert_int_equal(count_text(text, ">-0.5</text>"), 1);        /* and their weights */
        assert_int_equal(count_text(text, ">2.25</text>"), 1);
        /* var y = 1 + 4/4 = 2; given y = 4: x ~ N(1 - 4 (0.5) (4 - 2.5) / 2, 4 - 4/2) */
        assert_non_null(strstr(text, known ? ">-0.5 \u00b1 1.41<" : ">1 \u00b1 2<"));
        assert_int_equal(count_text(text, ">observed<"), (size_t)known);
        assert_true(!known == !strstr(text, "given y=4"));
        assert_null(strstr(text, "nan"));
        /* y: from 2.5 - 3 sqrt 2, without what is known, to 4 + 3 sqrt 2 */
        if (known) assert_close(place_of_value(text), 5.7426 / 9.9853, 0.005);
    }
    assert_ok(cx, cr_plot_gaussian_text(cx, net, &p, 70, &lines));
    assert_string_equal(lines, "x<1\n  -0.5 \u00b1 1.41\ny \u2190 -0.5 x<1  [observed]\n  4\n"
                               "z \u2190 1 x<1, 2.25 y\n  8.5 \u00b1 1.41\n");
    p.question = other;
    assert_fails_with(cx, cr_plot_gaussian(cx, net, &p, path), CR_EARG, "all its variables");
    cr_free(cx, lines, strlen(lines) + 1, 1);
    free(text);
    cr_question_free(cx, given);
    cr_question_free(cx, other);
    cr_gaussian_network_free(cx, net);
}

static cr_status draw_normals(cr_ctx *cx, void *arg)
{
    cr_question    *q = NULL;
    char            path[512], *text = NULL;
    cr_status       st = cr_gaussian_question_parse(cx, arg, "P(* | y=4)", &q);
    cr_network_plot p = { .question = q };
    snprintf(path, sizeof path, "%s/normals.svg", test_directory());
    if (st == CR_OK) st = cr_plot_gaussian(cx, arg, &p, path);
    if (st == CR_OK) st = cr_plot_gaussian_text(cx, arg, &p, 70, &text);
    if (text) cr_free(cx, text, strlen(text) + 1, 1);
    cr_question_free(cx, q);
    return st;
}

static cr_status draw_both(cr_ctx *cx, void *arg)
{
    char      path[512], *text = NULL;
    cr_status st;
    snprintf(path, sizeof path, "%s/net.svg", test_directory());
    st = cr_plot_network(cx, arg, NULL, path);
    if (st == CR_OK) st = cr_plot_network_text(cx, arg, NULL, 70, &text);
    if (text) cr_free(cx, text, strlen(text) + 1, 1);
    return st;
}

TEST(memory_may_be_short)
{
    cr_rng      r = cr_rng_stream(8, 2);
    cr_network *net = random_network(cx, &r, CR_NETWORK_BAYES, 4);
    test_every_allocation_fails(draw_both, net);
    cr_network_free(cx, net);
    net = random_network(cx, &r, CR_NETWORK_MARKOV, 4);
    test_every_allocation_fails(draw_both, net);
    cr_network_free(cx, net);
    cr_gaussian_network *normals = three_normals(cx);
    test_every_allocation_fails(draw_normals, normals);
    cr_gaussian_network_free(cx, normals);
}
