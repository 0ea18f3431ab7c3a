/* test_kernel_parse.c -- expressions: what they mean, what is wrong with them, how they are
 * written. */
#include "random_expression.h"

static const char *print(const cr_kernel *k)
{
    static char out[8192];
    assert_true(cr_kernel_print(k, out, sizeof out) < sizeof out);
    return out;
}

TEST(canonical_form)
{
    static const char *const pairs[][2] = {
        { "rbf", "rbf(l=1)" },
        { "  2.5 *rbf( l = 0.5 )+white( 0.1 )", "2.5*rbf(l=0.5) + white(variance=0.1)" },
        { "rbf(l=1.0, ard) * periodic(p=12) + linear(x1) + white",
          "rbf(l=[1,1,1])*periodic(l=1, p=12) + linear(x1) + white(variance=1)" },
        { "rbf(x1,x2; l=2)", "rbf(x1, x2; l=2)" },
        { "rbf(l=2)@[x3]", "rbf(x3; l=2)" },
        { "rbf(variance=4, l=2)", "4*rbf(l=2)" },
        { "3*rbf(variance=4)", "3*4*rbf(l=1)" },
        { "(rbf + (linear + white))", "rbf(l=1) + linear + white(variance=1)" },
        { "(rbf*(linear*2))*3", "rbf(l=1)*linear*2*3" },
        { "((rbf + linear))^2*cosine", "(rbf(l=1) + linear)^2*cosine(p=1)" },
        { "(rbf*linear)^2^3", "(rbf(l=1)*linear)^2^3" },
        { "matern52", "matern(l=1, nu=2.5)" },
        { "poly(3, c=2)", "polynomial(degree=3, c=2, variance=1)" },
        { "rbf(l=1[0.1,10] fixed ~ lognormal(0, 1))", "rbf(l=1 fixed[0.1,10]~lognormal(0,1))" },
        { "rbf(l~lognormal(0,1))", "rbf(l=1~lognormal(0,1))" },
        { "rbf(l=[1,2,3] fixed)", "rbf(l=[1 fixed,2 fixed,3 fixed])" },
        { "rbf(l=[1,2[1,3],3])", "rbf(l=[1,2[1,3],3])" },
        { "2 fixed*rbf", "2 fixed*rbf(l=1)" },
        { "rbf(base=linear(x1) + 1, l=3)", "rbf(base=linear(x1) + 1, l=3)" },
        { "2*normalize( linear(x1)+1 )^2", "2*normalise(linear(x1) + 1)^2" },
        { "normalise(rbf(base=normalise(linear)))", "normalise(rbf(base=normalise(linear), l=1))" },
        { "3 *center( (linear(x1)+1)*centre(rbf) )^2",
          "3*centre((linear(x1) + 1)*centre(rbf(l=1)))^2" },
        { "rbf(warp=kumaraswamy, b=2)", "rbf(l=1, warp=kumaraswamy, a=1, b=2)" },
        { "rbf(x1; warp=log)", "rbf(x1; l=1, warp=log)" },
        { "rbf(\"x1\")", "rbf(x1; l=1)" },
        { "subsequence(t1; lambda=0.25)", "subsequence(t1; k=3, normalise=0, lambda=0.25)" },
        { "rbf(l=0.1000000000000000055)\n + 1e-300", "rbf(l=0.1) + 1e-300" },
        { "category(c1)", "category(c1; levels=3, rank=1, w=[1,0.5,1], kappa=[1,1,1])" },
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        cr_kernel *k = parse(cx, pairs[i][0]), *again = parse(cx, pairs[i][1]);
        assert_string_equal(print(k), pairs[i][1]);
        assert_true(cr_kernel_equal(k, again));
        cr_kernel_free(cx, k);
        cr_kernel_free(cx, again);
    }
}

TEST(round_trip)
{
    dice d = { 31 };
    for (size_t trial = 0; trial < 600; trial++) {
        text_out t = { .used = 0 };
        double   theta[2][200];
        say_expression(&t, &d, 1 + trial % 4, false, true, true);
        cr_kernel *k = NULL, *again = NULL;
        if (cr_kernel_parse(cx, t.text, &test_columns, NULL, 0, &k) != CR_OK) {
            assert_non_null(strstr(cr_error(cx), "more than")); /* a very long one */
            continue;
        }
        size_t n = cr_kernel_theta_size(k);
        assert_true(n <= 200);
        cr_kernel_theta(k, theta[0]);
        for (size_t j = 0; j < n; j++) theta[0][j] += uniform(&d, -0.2, 0.2);
        assert_ok(cx, cr_kernel_set_theta(cx, k, theta[0]));
        again = parse(cx, print(k));
        if (!cr_kernel_equal(k, again)) fail_msg("%s came back as %s", t.text, print(again));
        cr_kernel_theta(k, theta[0]);
        cr_kernel_theta(again, theta[1]);
        assert_memory_equal(theta[0], theta[1], n * sizeof(double));
        cr_kernel_free(cx, k);
        cr_kernel_free(cx, again);
    }
}

TEST(equality_sees_differences)
{
    static const char *const others[] = { "2*rbf(x1; l=1.5)",
                                          "2*rbf(x1; l=1)^2",
                                          "2*rbf(x2; l=1)",
                                          "2*rbf(x1; l=1 fixed)",
                                          "2*rbf(x1; l=1[0.5,2])",
                                          "2*rbf(x1; l=1~gamma(1,1))",
                                          "2*matern32(x1; l=1)",
                                          "2+rbf(x1; l=1)",
                                          "2*rbf(x1; l=1, warp=log)",
                                          "2*rbf(x1,x2; l=1)",
                                          "2*rbf(l=1)",
                                          "rbf(x1; l=1)" };
    cr_kernel               *k = parse(cx, "2*rbf(x1; l=1)");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        cr_kernel *other = parse(cx, others[i]);
        assert_false(cr_kernel_equal(k, other));
        cr_kernel_free(cx, other);
    }
    cr_kernel_free(cx, k);
}

/* A printed text that does not fit is cut, and its length told. */
TEST(short_capacity)
{
    cr_kernel *k = parse(cx, "rbf + white");
    char       out[8] = "#######";
    assert_int_equal(cr_kernel_print(k, out, 6), strlen("rbf(l=1) + white(variance=1)"));
    assert_string_equal(out, "rbf(l");
    assert_int_equal(cr_kernel_print(k, NULL, 0), strlen("rbf(l=1) + white(variance=1)"));
    cr_kernel_free(cx, k);
}

/* --- faults ---------------------------------------------------------------------------------- */

static const struct {
    const char *text, *sentence;
    size_t      caret;   /* blanks before it */
    const char *nearest; /* "" for none      */
} faults[] = {
    { "", "expected a kernel or a number, found the end", 0, "" },
    { "rbg(l=1)", "there is no kernel 'rbg'", 0, "rbf" },
    { "rbf + martern(nu=1)", "there is no kernel 'martern'", 6, "matern" },
    { "rbf(lenghtscale=1)", "rbf has no parameter 'lenghtscale'", 4, "" },
    { "rq(alhpa=1)", "rq has no parameter 'alhpa'", 3, "alpha" },
    { "rbf(x7)", "there is no column 'x7'", 4, "x1" },
    { "rbf(c1)", "contains categories, but rbf acts on numbers", 4, "" },
    { "rbf(x1, x1)", "column 'x1' is named twice", 8, "" },
    { "spectrum(t1, t1)", "acts on one column", 13, "" },
    { "white(x1)", "white acts on no columns", 6, "" },
    { "rbf(l=0)", "l must be >0", 6, "" },
    { "rbf(l=-1)", "l must be >0", 6, "" },
    { "-2*rbf", "variance must be >0", 0, "" },
    { "rbf(l=1", "expected ')'", 7, "" },
    { "rbf(l=)", "expected a number, found ')'", 6, "" },
    { "rbf(l=1e999)", "the number is out of range", 6, "" },
    { "rbf(l=1x)", "expected a number, found '1x'", 7, "" },
    { "rbf(l=1, l=2)", "l is given twice", 9, "" },
    { "rbf(l=1, lengthscale=2)", "lengthscale is given twice", 9, "" },
    { "rbf(1, 2)", "which parameter is this?", 7, "" },
    { "normalise", "expected '(' and a kernel after normalise", 9, "" },
    { "normalise()", "expected a kernel or a number, found ')'", 10, "" },
    { "normalise(rbf, l=2)", "expected ')' after the kernel to normalise", 13, "" },
    { "rbf + normalise(rbf*(1 + white))", "white must be outside normalise", 6, "" },
    { "centre", "expected '(' and a kernel after centre", 6, "" },
    { "centre(rbf, l=2)", "expected ')' after the kernel to centre", 10, "" },
    { "2*centre(rbf + white)", "white must be outside centre: centre(...) + white(...)", 2, "" },
    { "centre(centre(1 + centre(2*centre(rbf))))", "centre is nested more than 3 deep", 0, "" },
    { "linear(2)", "linear has no parameter that takes a number", 7, "" },
    { "rbf(l=[1,2])", "l has 2 values, but there are 3 to fill", 4, "" },
    { "rbf(l=[])", "expected a number, found ']'", 7, "" },
    { "rbf(l=[1,2)", "expected ']'", 10, "" },
    { "rbf(l=1[2,3])", "l lies outside its bounds", 6, "" },
    { "rbf(l=2[3,1])", "the lower bound is above the upper one", 7, "" },
    { "rbf(l=2[0,1])", "lower bound of l must be positive", 7, "" },
    { "rbf(l=1~lognormla(0,1))", "there is no prior 'lognormla'", 8, "lognormal" },
    { "rbf(l=1~gamma(0,1))", "must be positive", 8, "" },
    { "rbf(l=1~normal(0,1))", "its prior cannot be normal", 8, "" },
    { "sigmoid(c=1~gamma(1,1))", "its prior must be normal", 12, "" },
    { "subsequence(lambda=1)", "lambda must be 0<..<1", 19, "" },
    { "polynomial(degree=2.5)", "degree must be a whole number in 1..50", 18, "" },
    { "polynomial(degree=2 fixed)", "degree is not learned", 18, "" },
    { "matern52(nu=1)", "already sets nu", 9, "" },
    { "matern(nu=0)", "nu must be 0<..<100", 10, "" },
    { "mismatch(k=2, m=3)", "m must not be greater than k", 14, "" },
    { "rbf^0", "a power must be a whole number in 1..50", 4, "" },
    { "rbf^1.5", "a power must be a whole number in 1..50", 4, "" },
    { "rbf +", "expected a kernel or a number, found the end", 5, "" },
    { "rbf(x1; l=1 fix)", "after a value, found 'fix'", 12, "" },
    { "0.5\xC3\xA9", "expected a number, found '0.5\xC3\xA9'", 3, "" },
    { "rbf rbf", "expected '+', '*' or the end, found 'rbf'", 4, "" },
    { "(rbf", "expected ')' to close the parenthesis", 4, "" },
    { "rbf)", "expected '+', '*' or the end, found ')'", 3, "" },
    { "rbf(\"x1)", "this quote is not closed", 4, "" },
    { "rbf(\"\")", "a name is empty", 4, "" },
    { "rbf(a=2)", "a and b need warp=kumaraswamy", 0, "" },
    { "rbf(warp=exp)", "expected warp=log or warp=kumaraswamy", 9, "" },
    { "chi2(warp=log)", "chi2 has no parameter 'warp'", 5, "" },
    { "linear(base=rbf)", "linear has no parameter 'base'", 7, "" },
    { "rbf(x1, base=linear)", "belong to the base", 0, "" },
    { "linear(ard)", "linear has no length-scales for ard", 7, "" },
    { "rbf @ x1", "expected '[' after '@'", 6, "" },
    { "rbf + $", "expected a kernel or a number, found '$'", 6, "" },
    { "rbf +\n  rbg", "there is no kernel 'rbg'", 2, "rbf" },
    { "category(levels=2, w=[1,2,3])", "w has 3 values, but there are 2 to fill", 19, "" },
};

TEST(faults)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        cr_kernel *k = NULL;
        if (cr_kernel_parse(cx, faults[i].text, &test_columns, NULL, 0, &k) != CR_EARG)
            fail_msg("%s was read", faults[i].text);
        if (!strstr(cr_error(cx), faults[i].sentence))
            fail_msg("%s: \"%s\" does not say \"%s\"", faults[i].text, cr_error(cx),
                     faults[i].sentence);
        const char *caret = strchr(cr_error_notes(cx), '\n');
        assert_non_null(caret);
        if (strspn(caret + 1, " ") != faults[i].caret || caret[1 + faults[i].caret] != '^')
            fail_msg("%s: caret at %zu", faults[i].text, strspn(caret + 1, " "));
        if (strcmp(cr_error_nearest(cx), faults[i].nearest) != 0)
            fail_msg("%s: nearest is '%s'", faults[i].text, cr_error_nearest(cx));
        assert_null(k);
    }
}

/* Deep, long and wide ones end in a sentence. */
TEST(limits)
{
    static char text[40000];
    cr_kernel  *k = NULL;
    memset(text, '(', 39999);
    assert_fails_with(cx, cr_kernel_parse(cx, text, NULL, NULL, 0, &k), CR_EARG, "nested");
    text[0] = '\0';
    for (char *at = text; at < text + 30000;) at = stpcpy(at, "rbf+");
    assert_fails_with(cx, cr_kernel_parse(cx, text, NULL, NULL, 0, &k), CR_EARG,
                      "more than 256 parts");
    memset(text, 'x', 39999);
    assert_fails_with(cx, cr_kernel_parse(cx, text, NULL, NULL, 0, &k), CR_EARG, "more than 255");
    assert_fails_with(cx, cr_kernel_parse(cx, "rbf(ard)", NULL, NULL, 0, &k), CR_EARG,
                      "ard needs columns");
    assert_fails_with(cx, cr_kernel_parse(cx, "rbf(y1)", NULL, NULL, 0, &k), CR_EARG,
                      "there is no column 'y1'");
    assert_ok(cx, cr_kernel_parse(cx, "rbf(x12)", NULL, NULL, 0, &k));
    cr_kernel_free(cx, k);
}

/* Every text that is an expression with one character changed, left out or put in is read or
 * refused. */
TEST(damaged)
{
    static const char signs[] = "()[],;=~^*+@\"1.e- x\xC3";
    dice              d = { 32 };
    for (size_t trial = 0; trial < 4000; trial++) {
        text_out   t = { .used = 0 };
        cr_kernel *k = NULL;
        say_expression(&t, &d, 2, false, true, true);
        size_t at = pick(&d, t.used), kind = pick(&d, 3);
        if (kind == 0) t.text[at] = signs[pick(&d, sizeof signs - 1)];
        if (kind == 1) memmove(t.text + at, t.text + at + 1, t.used - at);
        if (kind == 2) t.text[at] = '\0';
        cr_status st = cr_kernel_parse(cx, t.text, &test_columns, NULL, 0, &k);
        assert_true(st == CR_OK || (st == CR_EARG && strchr(cr_error_notes(cx), '^')));
        cr_kernel_free(cx, k);
    }
}

/* --- parameters ------------------------------------------------------------------------------ */

TEST(names)
{
    static const char *const wanted[] = {
        "1.rbf.variance", "1.rbf.l",    "2.rbf.l[1]",     "2.rbf.l[2]",      "1.constant.variance",
        "periodic.l",     "periodic.p", "white.variance", "white.amplitude", "2.constant.variance"
    };
    cr_kernel *k = parse(cx, "2*rbf + rbf(x1, x2; l=[1,2])*3*periodic(p=12 fixed) + 5*white + 7");
    bool       seen[10] = { false };
    assert_int_equal(cr_kernel_parameters(k), 10);
    assert_int_equal(cr_kernel_theta_size(k), 9);
    for (size_t i = 0; i < 10; i++) {
        cr_kernel_parameter p = cr_kernel_parameter_at(k, i);
        size_t              w = 0;
        while (w < 10 && strcmp(wanted[w], p.name) != 0) w++;
        if (w == 10 || seen[w]) fail_msg("parameter %zu is called %s", i, p.name);
        seen[w] = true;
        assert_true(p.fixed == (strcmp(p.name, "periodic.p") == 0));
        assert_true((p.theta == SIZE_MAX) == p.fixed);
        assert_true(p.help[0] != '\0');
    }
    cr_kernel_free(cx, k);
}

TEST(theta)
{
    cr_kernel *k = parse(cx, "2[1,4]*rbf(l=3 fixed) + sigmoid(gamma=0.5, c=-1[-2,5]) + "
                             "subsequence(lambda=0.25[0.1,0.9])");
    double     theta[4], lower[4], upper[4];
    assert_int_equal(cr_kernel_theta_size(k), 4);
    cr_kernel_theta(k, theta);
    assert_close(theta[0], log(2), 1e-15);
    assert_close(theta[1], log(0.5), 1e-15);
    assert_true(theta[2] == -1);
    assert_close(theta[3], log(0.25 / 0.75), 1e-15);
    cr_kernel_theta_bounds(k, lower, upper);
    assert_close(upper[0], log(4), 1e-15);
    assert_true(lower[0] == 0 && lower[1] == -INFINITY && upper[1] == INFINITY && lower[2] == -2 &&
                upper[2] == 5);
    assert_close(lower[3], log(0.1 / 0.9), 1e-14);
    theta[0] = 50, theta[1] = -3, theta[2] = -7, theta[3] = 0;
    assert_ok(cx, cr_kernel_set_theta(cx, k, theta));
    assert_true(cr_kernel_parameter_at(k, 0).value == 4);
    assert_true(cr_kernel_parameter_at(k, 1).value == 3);
    assert_close(cr_kernel_parameter_at(k, 2).value, exp(-3), 1e-15);
    assert_true(cr_kernel_parameter_at(k, 3).value == -2);
    theta[1] = NAN;
    assert_fails_with(cx, cr_kernel_set_theta(cx, k, theta), CR_EARG, "theta[1]");
    theta[1] = -1e6;
    assert_ok(cx, cr_kernel_set_theta(cx, k, theta));
    assert_true(cr_kernel_parameter_at(k, 2).value > 0);
    cr_kernel_fix(k, 0, true);
    cr_kernel_fix(k, 1, false);
    assert_int_equal(cr_kernel_theta_size(k), 4);
    assert_ok(cx, cr_kernel_set_value(cx, k, 1, 0.125));
    assert_string_equal(print(k) + 0, print(k));
    assert_non_null(strstr(print(k), "4 fixed[1,4]*rbf(l=0.125)"));
    assert_fails_with(cx, cr_kernel_set_value(cx, k, 1, 0), CR_EARG, "rbf.l");
    assert_fails(cx, cr_kernel_set_value(cx, k, 99, 1), CR_EARG);
    assert_true(cr_kernel_reads(k, CR_KERNEL_TEXT) && cr_kernel_reads(k, CR_KERNEL_NUMBER) &&
                !cr_kernel_reads(k, CR_KERNEL_CATEGORY));
    cr_kernel_free(cx, k);
}

/* The table: in order, complete, and its examples are expressions. */
TEST(table)
{
    for (size_t i = 0; i < cr_kernel_count(); i++) {
        const cr_kernel_class *c = cr_kernel_at(i);
        assert_true(i == 0 || strcmp(cr_kernel_name(cr_kernel_at(i - 1)), cr_kernel_name(c)) < 0);
        assert_ptr_equal(cr_kernel_find(cx, cr_kernel_name(c)), c);
        assert_true(cr_kernel_summary(c)[0] && cr_kernel_formula(c)[0] &&
                    cr_kernel_reference(c)[0]);
        assert_true(cr_kernel_acts_on(c)[0] != '\0');
        assert_memory_equal(cr_kernel_example(c), cr_kernel_name(c), strlen(cr_kernel_name(c)));
        for (size_t s = 0; cr_kernel_spec_at(c, s); s++) {
            const cr_kernel_spec *spec = cr_kernel_spec_at(c, s);
            char                  text[200];
            assert_true(spec->help[0] && spec->fallback[0]);
            bool warp = strcmp(spec->name, "a") == 0 || strcmp(spec->name, "b") == 0;
            snprintf(text, sizeof text, "%s(%s%s=%s)", cr_kernel_name(c),
                     warp ? "warp=kumaraswamy, " : "", spec->name, spec->fallback);
            cr_kernel_free(cx, parse(cx, text));
        }
    }
    assert_null(cr_kernel_at(cr_kernel_count()));
    assert_null(cr_kernel_find(cx, "rfb"));
    assert_string_equal(cr_error_nearest(cx), "rbf");
    assert_ptr_equal(cr_kernel_find(cx, "matern52"), cr_kernel_find(cx, "matern"));
}

static cr_status parse_only(cr_ctx *cx, void *arg)
{
    cr_kernel *k = NULL, *copy = NULL;
    cr_status  st = cr_kernel_parse(cx, arg, &test_columns, NULL, 0, &k);
    if (st == CR_OK) st = cr_kernel_copy(cx, k, &copy);
    cr_kernel_free(cx, k);
    cr_kernel_free(cx, copy);
    return st;
}

TEST(allocations)
{
    test_every_allocation_fails(
        parse_only,
        (char[]){ "2*rbf(x1, x2; ard)*periodic(x3) + matern52(base=linear(x1) + white)^2" });
}
