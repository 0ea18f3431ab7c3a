/* Solutions of the UAI competitions: written and read back, the public ones, malformed ones. */
#include "support.h"

#include "graph/files/uai.h"
#include "graph/files/uai_solution.h"

#include <glob.h>

static const char SMALL[] = "BAYES\n2\n2 3\n2\n1 0\n2 0\t1\n\n2\n 0.25 0.75\n6\n.1 .2 .7 1 0 0";

static cr_network *small(cr_ctx *cx)
{
    cr_network *net;
    assert_ok(cx, cr_uai_parse(cx, "small", SMALL, sizeof SMALL - 1, &net));
    return net;
}

TEST(names_of_files)
{
    assert_int_equal(cr_solution_kind_of("a/b.uai.MAR"), CR_SOLUTION_MAR);
    assert_int_equal(cr_solution_kind_of("b.pr"), CR_SOLUTION_PR);
    assert_int_equal(cr_solution_kind_of("b.Map"), CR_SOLUTION_MAP);
    assert_int_equal(cr_solution_kind_of("b.mpe"), CR_SOLUTION_MPE);
    assert_int_equal(cr_solution_kind_of("MAR"), CR_SOLUTION_NONE);
    assert_int_equal(cr_solution_kind_of("b.MAR.gz"), CR_SOLUTION_NONE);
    assert_string_equal(cr_solution_name(CR_SOLUTION_MPE), "MPE");
}

TEST(both_dialects)
{
    static const char *const MAR[] = { "MAR\n2 2 0.25 0.75 3 0.1 0.2 0.7",
                                       "MAR\n1\n2 2 .25 .75 3 .1 .2 .7\n" };
    static const char *const PR[] = { "PR\n-1.5", "PR\n1\n-1.5\n" };
    static const char *const MAP[] = { "MAP\n2 1 2\n", "MPE 1 2 1 2" };
    const double             p[] = { 0.25, 0.75, 0.1, 0.2, 0.7 };
    cr_network              *net = small(cx);
    for (size_t i = 0; i < 2; i++) {
        cr_solution s;
        assert_ok(cx, cr_solution_read(cx, test_file("x.MAR", MAR[i], strlen(MAR[i])), net, &s));
        assert_int_equal(s.states, 5);
        for (size_t k = 0; k < 5; k++) assert_close(s.marginal[k], p[k], 0);
        cr_solution_free(cx, &s);
        assert_ok(cx, cr_solution_read(cx, test_file("x.PR", PR[i], strlen(PR[i])), net, &s));
        assert_close(s.log_z, -1.5 * 2.302585092994046, 1e-14);
        cr_solution_free(cx, &s);
        assert_ok(cx, cr_solution_read(cx, test_file("x.MAP", MAP[i], strlen(MAP[i])), net, &s));
        assert_true(s.variables == 2 && s.state[0] == 1 && s.state[1] == 2);
        assert_int_equal(s.kind, i ? CR_SOLUTION_MPE : CR_SOLUTION_MAP);
        cr_solution_free(cx, &s);
    }
    cr_network_free(cx, net);
}

TEST(written_solutions_read_back)
{
    cr_network *net = small(cx);
    char        path[1024];
    for (int kind = CR_SOLUTION_MAR; kind <= CR_SOLUTION_MPE; kind++) {
        cr_solution a, b;
        snprintf(path, sizeof path, "%s/x.%s", test_directory(), cr_solution_name(kind));
        assert_ok(cx, cr_solution_new(cx, net, (cr_solution_kind)kind, &a));
        for (size_t k = 0; a.marginal && k < a.states; k++) a.marginal[k] = 1.0 / (double)(k + 3);
        for (size_t v = 0; a.state && v < a.variables; v++) a.state[v] = 1 - v;
        a.log_z = kind == CR_SOLUTION_PR ? -12.3456789012345 : 0;
        assert_ok(cx, cr_solution_write(cx, net, &a, path));
        assert_ok(cx, cr_solution_read(cx, path, net, &b));
        assert_int_equal(b.kind, kind);
        assert_close(b.log_z, a.log_z, 1e-14);
        for (size_t k = 0; a.marginal && k < a.states; k++)
            assert_close(b.marginal[k], a.marginal[k], 0);
        for (size_t v = 0; a.state && v < a.variables; v++)
            assert_int_equal(b.state[v], a.state[v]);
        cr_solution_free(cx, &a);
        cr_solution_free(cx, &b);
    }
    cr_network_free(cx, net);
}

/* Every network and every solution of the competitions, written and read again. */
TEST(public_files_survive)
{
    const char *reference = test_data("uai/reference.json");
    char        pattern[1024], path[1100];
    size_t      seen = 0;
    glob_t      files = { 0 };
    snprintf(pattern, sizeof pattern, "%.*s*.uai",
             (int)(strlen(reference) - strlen("reference.json")), reference);
    assert_int_equal(glob(pattern, 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        cr_network *a, *b;
        cr_solution x, y;
        assert_ok(cx, cr_uai_read(cx, files.gl_pathv[i], &a));
        snprintf(path, sizeof path, "%s/again.uai", test_directory());
        assert_ok(cx, cr_uai_write(cx, a, path));
        assert_ok(cx, cr_uai_read(cx, path, &b));
        assert_int_equal(cr_network_get_kind(a), cr_network_get_kind(b));
        assert_int_equal(cr_network_size(a), cr_network_size(b));
        assert_int_equal(cr_network_tables(a), cr_network_tables(b));
        for (size_t t = 0; t < cr_network_tables(a); t++) {
            cr_table_view p = cr_network_table(a, t), q = cr_network_table(b, t);
            assert_int_equal(p.size, q.size);
            assert_int_equal(p.n, q.n);
            if (p.n > 0) assert_memory_equal(p.scope, q.scope, p.n * sizeof *p.scope);
            assert_memory_equal(p.value, q.value, p.size * sizeof *p.value);
        }
        cr_network_free(cx, b);
        for (int kind = CR_SOLUTION_MAR; kind <= CR_SOLUTION_PR; kind++) {
            snprintf(path, sizeof path, "%s.%s", files.gl_pathv[i], cr_solution_name(kind));
            assert_ok(cx, cr_solution_read(cx, path, a, &x));
            snprintf(path, sizeof path, "%s/again.%s", test_directory(), cr_solution_name(kind));
            assert_ok(cx, cr_solution_write(cx, a, &x, path));
            assert_ok(cx, cr_solution_read(cx, path, a, &y));
            assert_relative(y.log_z, x.log_z, 1e-14);
            if (x.marginal)
                assert_memory_equal(x.marginal, y.marginal, x.states * sizeof *x.marginal);
            cr_solution_free(cx, &x);
            cr_solution_free(cx, &y);
        }
        cr_network_free(cx, a);
        seen++;
    }
    globfree(&files);
    assert_true(seen >= 20);
}

TEST(malformed_solutions)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        { "", "a solution begins with MAR, PR, MAP or MPE" },
        { "MARS 2", "a solution begins with MAR, PR, MAP or MPE" },
        { "MAR\n3 2 .5 .5", "x.MAR:2:1: a solution for 3 variables, but the network has 2" },
        { "MAR\n2 2 .5 .5 2 .5 .5", "2 states, but variable 1 of the network has 3" },
        { "MAR\n2 2 .5 1.5", "a probability is 0 to 1" },
        { "MAR\n2 2 .5", "the file ends where a probability should be" },
        { "MAR\n2 2 .5 .5 3 0 0 1 7", "the solution should end here" },
        { "PR\nx", "log10 of P(e) should be a number" },
        { "PR\n1 2 3", "the solution should end here" },
        { "MAP\n2 0 3", "a state should be a whole number below 3" },
    };
    cr_network *net = small(cx);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_solution s = { 0 };
        assert_fails_with(
            cx,
            cr_solution_read(cx, test_file("x.MAR", cases[i].text, strlen(cases[i].text)), net, &s),
            CR_EDATA, cases[i].message);
        assert_null(s.marginal);
    }
    cr_network_free(cx, net);
}

static cr_status everything(cr_ctx *cx, void *net)
{
    cr_solution s = { 0 };
    cr_status   st = CR_OK;
    char        path[1024];
    CR_TRY(cr_solution_read(
        cx, test_file("y.MAR", "MAR 2 2 .5 .5 3 0 0 1", strlen("MAR 2 2 .5 .5 3 0 0 1")), net, &s));
    snprintf(path, sizeof path, "%s/z.MAR", test_directory());
    CR_TRY(cr_solution_write(cx, net, &s, path));
done:
    cr_solution_free(cx, &s);
    return st;
}

TEST(allocations_may_fail)
{
    cr_network *net = small(cx);
    test_every_allocation_fails(everything, net);
    cr_network_free(cx, net);
}
