/* test_option.c -- option tables: every kind, ranges, choices, lists, and text that reads back. */
#include "support.h"
#include "base/option.h"

#define EXAMPLE_OPTIONS(X)                                                                         \
    X(flag, verbose, "false", "", "say more", "true")                                              \
    X(count, max_iter, "200", "1..1000", "steps at the most", "50")                                \
    X(count, rank, "", "", "rank; as the data needs", "3")                                         \
    X(real, lambda, "1", ">=0", "penalty", "0.5")                                                  \
    X(real, noise, "", ">0", "noise; learnt when not given", "0.1")                                \
    X(real, level, "0.95", "0<..<1", "level", "0.9")                                               \
    X(real, share, "0.25", "-0.5..<0.5", "share", "0.1")                                           \
    X(real, offset, "-2.5", "", "any number", "1e-3")                                              \
    X(choice, solver, "auto", "auto|primal|dual", "which system", "dual")                          \
    X(text, output, "", "", "file", "a.csv")                                                       \
    X(text, title, "plain title", "", "title", "My title")                                         \
    X(list, columns, "", "", "columns", "a,b")                                                     \
    X(list, metrics, "rmse,mae", "", "metrics", "crps")

CR_OPTIONS_STRUCT(example_options, EXAMPLE_OPTIONS);
#define ROW(...) CR_OPTION_ROW(example_options, __VA_ARGS__)
static const cr_option example_table[] = { EXAMPLE_OPTIONS(ROW) CR_OPTION_LAST };
#undef ROW

typedef struct fixture {
    cr_ctx         *cx;
    example_options o;
} fixture;

static void release_options(cr_ctx *cx, void *options)
{
    example_options *o = options;
    cr_options_free(cx, example_table, o);
    assert_null(o->title);
}

static fixture *set_up(cr_ctx *cx)
{
    static fixture f;
    f.cx = cx;
    assert_ok(cx, cr_options_init(cx, example_table, &f.o));
    test_own(cx, &f.o, release_options);
    return &f;
}

static cr_status set(fixture *f, const char *name, const char *value)
{
    return cr_options_set(f->cx, example_table, &f->o, name, value);
}

static const char *print(fixture *f, const char *name)
{
    static char text[256];
    size_t      n = cr_options_print(cr_option_find(example_table, name), &f->o, text, sizeof text);
    assert_int_equal(n, strlen(text));
    return text;
}

/* --- defaults and names ---------------------------------------------------------------------- */

TEST(defaults)
{
    fixture *f = set_up(cx);
    assert_false(f->o.verbose);
    assert_int_equal(f->o.max_iter, 200);
    assert_true(f->o.rank == CR_COUNT_UNSET && isnan(f->o.noise));
    assert_true(f->o.lambda == 1 && f->o.level == 0.95 && f->o.offset == -2.5);
    assert_int_equal(f->o.solver, 0);
    assert_null(f->o.output);
    assert_null(f->o.columns);
    assert_string_equal(f->o.title, "plain title");
    assert_string_equal(f->o.metrics, "rmse,mae");
}

TEST(at_default)
{
    fixture          *f = set_up(cx);
    const char *const changes[][2] = { { "verbose", "true" }, { "max_iter", "50" },
                                       { "rank", "3" },       { "lambda", "0.5" },
                                       { "noise", "0.1" },    { "solver", "dual" },
                                       { "output", "a.csv" }, { "title", "plain" },
                                       { "columns", "a" },    { "metrics", "crps" } };
    for (const cr_option *o = example_table; o->name; o++)
        assert_true(cr_options_at_default(o, &f->o));
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        assert_ok(f->cx, set(f, changes[i][0], changes[i][1]));
        assert_false(cr_options_at_default(cr_option_find(example_table, changes[i][0]), &f->o));
    }
    assert_ok(f->cx, set(f, "lambda", "1.0"));
    assert_ok(f->cx, set(f, "solver", "auto"));
    assert_true(cr_options_at_default(cr_option_find(example_table, "lambda"), &f->o));
    assert_true(cr_options_at_default(cr_option_find(example_table, "solver"), &f->o));
}

TEST(names)
{
    fixture *f = set_up(cx);
    assert_ptr_equal(cr_option_find(example_table, "max-iter"), &example_table[1]);
    assert_ptr_equal(cr_option_find(example_table, "max_iter"), &example_table[1]);
    assert_null(cr_option_find(example_table, "max_ite"));
    assert_null(cr_option_find(example_table, "max_iters"));
    assert_null(cr_option_find(example_table, ""));
    assert_ok(f->cx, set(f, "max-iter", "7"));
    assert_int_equal(f->o.max_iter, 7);
    assert_fails_with(f->cx, set(f, "lamda", "1"), CR_EARG, "'lamda'");
    assert_string_equal(cr_error_nearest(f->cx), "lambda");
    assert_non_null(strstr(cr_error_hint(f->cx), "did you mean 'lambda'?"));
    assert_non_null(strstr(cr_error_notes(f->cx), "options: verbose, max_iter"));
}

/* --- values ---------------------------------------------------------------------------------- */

TEST(flags)
{
    fixture *f = set_up(cx);
    assert_ok(f->cx, set(f, "verbose", "true"));
    assert_true(f->o.verbose);
    static const char *const wrong[] = { "", "yes", "1", "True", "truee" };
    for (size_t i = 0; i < 5; i++) {
        assert_fails_with(f->cx, set(f, "verbose", wrong[i]), CR_EARG, "--verbose");
        assert_true(f->o.verbose);
    }
    assert_ok(f->cx, set(f, "verbose", "false"));
    assert_false(f->o.verbose);
}

TEST(counts)
{
    fixture                 *f = set_up(cx);
    static const char *const right[] = { "1", "1000", "1e2" };
    static const size_t      values[] = { 1, 1000, 100 };
    for (size_t i = 0; i < 3; i++) {
        assert_ok(f->cx, set(f, "max-iter", right[i]));
        assert_int_equal(f->o.max_iter, values[i]);
    }
    static const char *const wrong[] = { "",   "0",  "1001", "-1",  "2.5",   "x",   "5x",
                                         " 5", "5 ", "nan",  "inf", "1e300", "0x10" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_fails_with(f->cx, set(f, "max-iter", wrong[i]), CR_EARG, "range 1..1000");
        assert_non_null(strstr(cr_error(f->cx), "--max-iter"));
        assert_string_equal(cr_error_hint(f->cx), "for example --max-iter 50");
        assert_int_equal(f->o.max_iter, 100);
    }
    assert_ok(f->cx, set(f, "rank", "9007199254740992"));
    assert_true(f->o.rank == 9007199254740992u);
    assert_fails(f->cx, set(f, "rank", "1e16"), CR_EARG); /* beyond what a double counts */
    assert_ok(f->cx, set(f, "rank", ""));
    assert_true(f->o.rank == CR_COUNT_UNSET);
}

typedef struct bound_case {
    const char *name, *value;
    bool        fits;
} bound_case;

TEST(real_ranges)
{
    fixture                *f = set_up(cx);
    static const bound_case cases[] = {
        { "lambda", "0", true },      { "lambda", "-0.001", false }, { "lambda", "1e300", true },
        { "lambda", "inf", false },   { "lambda", "nan", false },    { "lambda", "1e999", false },
        { "lambda", "", false },      { "noise", "0", false },       { "noise", "1e-320", true },
        { "noise", "", true },        { "level", "0", false },       { "level", "1", false },
        { "level", "0.5", true },     { "level", "1e-9", true },     { "share", "-0.5", true },
        { "share", "-0.51", false },  { "share", "0.5", false },     { "share", "0.499", true },
        { "offset", "-1e308", true }, { "offset", "abc", false },    { "offset", ".5", true },
        { "offset", "+3", true },     { "offset", "-inf", false },   { "offset", "1,5", false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double before = f->o.offset;
        if (cases[i].fits)
            assert_ok(f->cx, set(f, cases[i].name, cases[i].value));
        else
            assert_fails(f->cx, set(f, cases[i].name, cases[i].value), CR_EARG);
        if (!cases[i].fits) assert_true(f->o.offset == before);
    }
    assert_true(f->o.offset == 3 && isnan(f->o.noise) && f->o.share == 0.499);
}

TEST(choices)
{
    fixture *f = set_up(cx);
    assert_ok(f->cx, set(f, "solver", "dual"));
    assert_int_equal(f->o.solver, 2);
    assert_ok(f->cx, set(f, "solver", "primal"));
    assert_int_equal(f->o.solver, 1);
    assert_fails_with(f->cx, set(f, "solver", "prmal"), CR_EARG, "auto|primal|dual");
    assert_string_equal(cr_error_hint(f->cx), "did you mean --solver primal?");
    assert_fails(f->cx, set(f, "solver", "zzzzzzzz"), CR_EARG);
    assert_string_equal(cr_error_hint(f->cx), "for example --solver dual");
    assert_fails(f->cx, set(f, "solver", "auto|primal"), CR_EARG);
    assert_fails(f->cx, set(f, "solver", ""), CR_EARG);
    assert_fails(f->cx, set(f, "solver", "prima"), CR_EARG); /* no abbreviations */
    assert_int_equal(f->o.solver, 1);
}

TEST(texts_and_lists)
{
    fixture *f = set_up(cx);
    assert_ok(f->cx, set(f, "output", "a,b c.csv"));
    assert_ok(f->cx, set(f, "output", "second")); /* a text is replaced */
    assert_string_equal(f->o.output, "second");
    assert_ok(f->cx, set(f, "output", ""));
    assert_null(f->o.output);
    assert_ok(f->cx, set(f, "columns", "a"));
    assert_ok(f->cx, set(f, "columns", "b,c")); /* a list grows */
    assert_ok(f->cx, set(f, "columns", "d"));
    assert_string_equal(f->o.columns, "a,b,c,d");
    assert_ok(f->cx, set(f, "columns", ""));
    assert_null(f->o.columns);
    assert_ok(f->cx, set(f, "metrics", "crps")); /* but the default gives way */
    assert_string_equal(f->o.metrics, "crps");
    assert_ok(f->cx, set(f, "metrics", "mae"));
    assert_string_equal(f->o.metrics, "crps,mae");
}

TEST(items_with_commas)
{
    fixture *f = set_up(cx);
    assert_ok(f->cx, set(f, "columns", "\"k,1\",x"));
    assert_ok(f->cx, cr_options_add(f->cx, example_table, &f->o, "columns", "y,\"2"));
    assert_ok(f->cx, cr_options_add(f->cx, example_table, &f->o, "columns", "")); /* no item */
    assert_ok(f->cx, cr_options_add(f->cx, example_table, &f->o, "columns", "plain"));
    assert_string_equal(f->o.columns, "\"k,1\",x,\"y,\"\"2\",plain");
    assert_fails_with(f->cx, set(f, "columns", "a,\"b"), CR_EARG,
                      "--columns: a double quote is not closed in 'a,\"b'");
    assert_fails(f->cx, set(f, "columns", "\"a\"b"), CR_EARG);
    assert_string_equal(f->o.columns, "\"k,1\",x,\"y,\"\"2\",plain");
    assert_ok(f->cx, set(f, "output", "a,\"b")); /* a text is no list */
    assert_fails(f->cx, cr_options_add(f->cx, example_table, &f->o, "colums", "a,b"), CR_EARG);
}

/* --- printing -------------------------------------------------------------------------------- */

/* What is printed sets a fresh struct to the same value, for every row; also the defaults. */
static void check_round_trip(fixture *f)
{
    example_options copy;
    assert_ok(f->cx, cr_options_init(f->cx, example_table, &copy));
    for (const cr_option *o = example_table; o->name; o++) {
        char text[256], again[256];
        cr_options_print(o, &f->o, text, sizeof text);
        assert_ok(f->cx, cr_options_set(f->cx, example_table, &copy, o->name, text));
        cr_options_print(o, &copy, again, sizeof again);
        assert_string_equal(text, again);
    }
    assert_true(copy.verbose == f->o.verbose && copy.max_iter == f->o.max_iter);
    assert_true(copy.rank == f->o.rank && copy.lambda == f->o.lambda);
    assert_true(copy.noise == f->o.noise || (isnan(copy.noise) && isnan(f->o.noise)));
    assert_true(copy.level == f->o.level && copy.offset == f->o.offset);
    assert_int_equal(copy.solver, f->o.solver);
    cr_options_free(f->cx, example_table, &copy);
}

TEST(print_reads_back)
{
    fixture *f = set_up(cx);
    assert_string_equal(print(f, "rank"), "");
    assert_string_equal(print(f, "noise"), "");
    assert_string_equal(print(f, "solver"), "auto");
    assert_string_equal(print(f, "verbose"), "false");
    assert_string_equal(print(f, "level"), "0.95");
    assert_string_equal(print(f, "columns"), "");
    check_round_trip(f);
    f->o.offset = 0.1 + 0.2, f->o.lambda = 5e-324, f->o.level = 1.0 / 3, f->o.noise = 1.0 / 7;
    f->o.verbose = true, f->o.rank = 9007199254740991u, f->o.solver = 2;
    assert_ok(f->cx, set(f, "columns", "x,y"));
    assert_ok(f->cx, set(f, "columns", "z"));
    assert_ok(f->cx, set(f, "metrics", "crps"));
    assert_ok(f->cx, set(f, "output", "a b=c.csv"));
    assert_string_equal(print(f, "solver"), "dual");
    assert_string_equal(print(f, "columns"), "x,y,z");
    check_round_trip(f);
    char   short_text[4] = "###"; /* like snprintf: cut, ended, the full length returned */
    size_t n = cr_options_print(cr_option_find(example_table, "title"), &f->o, short_text, 4);
    assert_int_equal(n, strlen("plain title"));
    assert_string_equal(short_text, "pla");
}

/* --- failures -------------------------------------------------------------------------------- */

static cr_status fill(cr_ctx *cx, void *arg)
{
    (void)arg;
    example_options o;
    cr_status       st = cr_options_init(cx, example_table, &o);
    if (st == CR_OK) st = cr_options_set(cx, example_table, &o, "columns", "first");
    if (st == CR_OK) st = cr_options_add(cx, example_table, &o, "columns", "second");
    if (st == CR_OK) {
        st = cr_options_set(cx, example_table, &o, "title", "other");
        assert_string_equal(o.title, st == CR_OK ? "other" : "plain title");
        assert_string_equal(o.columns, "first,second");
    }
    cr_options_free(cx, example_table, &o);
    return st;
}

TEST(allocations) { test_every_allocation_fails(fill, NULL); }
