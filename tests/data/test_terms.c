/* test_terms.c -- functions and interactions of columns: the grammar, the matrix they make, and the
 * same answers as columns written out by hand and as R's formulas. */
#include "../models/life.h"
#include "design_fixture.h"

#include <math.h>

static const char small[] = "y,x,z,kind,color\n"
                            "3.1,1.5,0.2,a,red\n4.7,2.5,-1.1,b,blue\n2.2,0.5,0.9,c,red\n"
                            "8.9,4.0,1.7,a,blue\n5.3,3.5,-0.4,b,red\n7.7,2.0,2.2,c,blue\n"
                            "6.1,1.0,-1.9,a,red\n4.4,3.0,0.6,b,blue\n9.6,4.5,-0.8,c,red\n"
                            "1.8,0.8,1.3,a,blue\n6.6,2.8,-2.1,b,red\n3.9,1.2,0.1,c,blue\n"
                            "5.0,2.2,1.0,a,red\n7.1,3.3,-0.3,c,blue\n";

static cr_status try_terms(cr_ctx *cx, const cr_table *t, const char *terms, const char *others,
                           const cri_design_needs *needs, cr_design **out)
{
    cr_design_options o;
    set_options(cx, others, &o);
    assert_ok(cx, cr_options_set(cx, cr_design_table, &o, "terms", terms));
    cr_status st = cri_design_fit(cx, t, &o, needs, out);
    cr_options_free(cx, cr_design_table, &o);
    return st;
}

static cr_design *design_by(cr_ctx *cx, const cr_table *t, const char *terms, const char *others)
{
    cr_design *d = NULL;
    assert_ok(cx, try_terms(cx, t, terms, others, &(cri_design_needs){ 0 }, &d));
    return d;
}

/* --- grammar --------------------------------------------------------------------------------- */

TEST(names)
{
    cr_table         *t = table_of_text(cx, "t.csv", small);
    const char *const cases[][2] = {
        { "x", "x" },
        { "z,x", "z,x" }, /* as written, and not as in the table */
        { ".", "x,z,kind=b,kind=c,color=red" },
        { "-x", "z,kind=b,kind=c,color=red" },
        { ". - kind -color", "x,z" },
        { "., -x, -z", "kind=b,kind=c,color=red" },
        { ". , x, x, .", "x,z,kind=b,kind=c,color=red" },
        { "x:z, x", "x,x:z" }, /* those of one column first */
        { "x:z, z:x", "x:z" },
        { "x*z", "x,z,x:z" },
        { "x*x", "x" },
        { "x*z - x", "z,x:z" },
        { "x*kind", "x,kind=b,kind=c,x:kind=b,x:kind=c" },
        { "x:kind", "x:kind=a,x:kind=b,x:kind=c" },
        { "kind:x + x", "x,kind=b:x,kind=c:x" },
        { "color:kind+color", "color=red,color=blue:kind=b,color=red:kind=b,color=blue:kind=c,"
                              "color=red:kind=c" },
        { "color*kind", "color=red,kind=b,kind=c,color=red:kind=b,color=red:kind=c" },
        { "log(x), log1p(x),log2(x) ,log10( x )", "log(x),log1p(x),log2(x),log10(x)" },
        { "sqrt(x)+abs(z)+exp(z)", "sqrt(x),abs(z),exp(z)" },
        { "z^2, square(z), I(z^2), z^1", "z^2,z" },
        { "1/x, inverse(x), 1 / log1p(x)", "1/x,1/log1p(x)" },
        { "log(x)^2", "log(x)^2" },
        { "sqrt(abs(z)^3)", "sqrt(abs(z)^3)" },
        { "poly(z,2)", "z,z^2" },
        { "poly(log(x),3)", "log(x),log(x)^2,log(x)^3" },
        { "poly(z,2):color", "z:color=blue,z:color=red,z^2:color=blue,z^2:color=red" },
        { "bspline(x,4)", "x[bspline 2],x[bspline 3],x[bspline 4]" },
        { "fourier(z, 1, 3):x", "z[sin 1]:x,z[cos 1]:x" },
        { "\"x\", \"z\":\"x\"", "x,z:x" },
        { "x*z*color - x:z:color", "x,z,color=red,x:z,x:color=red,z:color=red" },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        cr_design *d = design_by(cx, t, cases[k][0], "target=y");
        assert_string_equal(terms_of(d), cases[k][1]);
        cri_design_free(cx, d);
    }
}

TEST(quoted_names)
{
    cr_table  *t = table_of_text(cx, "t.csv", "\"a b\",\"q\"\"\",2nd,y\n1,2,3,4\n6,4,3,2\n");
    cr_design *d = design_by(cx, t, "\"a b\":\"q\"\"\", log(\"2nd\")", "target=y");
    assert_string_equal(terms_of(d), "log(2nd),a b:q\"");
    cri_design_free(cx, d);
}

TEST(faults)
{
    cr_table         *t = table_of_text(cx, "t.csv", small);
    const char *const cases[][2] = {
        { "x*", "--terms: a term is expected at the end of 'x*'" },
        { "x,,z", "--terms: a term is expected at ',z'" },
        { "x z", "--terms: ',', '+', ':' or '*' is expected at 'z'" },
        { "(x+z):kind", "(1 | COLUMN)" },
        { "x^0", "a power from 1 to 32 is expected at '0'" },
        { "x^33", "a power from 1 to 32 is expected at '33'" },
        { "log(x", "a closing bracket is expected at the end" },
        { "lag(x)", "--terms: 'lag' is not a function" },
        { "1 + x", "a number is not a term" },
        { "\"x", "a double quote is not closed" },
        { "\"\"", "a name is empty" },
        { ".:x", "',', '+', ':' or '*' is expected" },
        { "x:.", "'.' means all features and must stand alone" },
        { "x - .", "without them nothing is left" },
        { "x - z", "'-z' removes a term that is not there" },
        { "x - x", "leaves no term" },
        { "u", "column 'u' not found" },
        { "log(y)", "column 'y' is the target" },
        { "log(kind)", "log(kind) needs a number, but 'kind' is a category" },
        { "poly(kind,2)", "'kind' is a category, which has no basis" },
        { "log(poly(x,2))", "a function cannot be applied to it" },
        { "bspline(x,0)", "--basis: 'bspline:0' is not" },
        { "poly(x)", "--basis: 'poly' is not" },
        { "month(x)", "month(x) needs a date, but 'x' is a number" },
        { "x, (1 | kind)", "(1 | kind) is a varying intercept, which this model does not have" },
        { "log(log(log(log(log(log(log(log(log(log(x))))))))))", "too many nested functions" },
        { "x:z:kind:color:log(x):sqrt(x):x^2:x^3:x^4", "multiplies too many columns" },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        cr_design *d = NULL;
        cr_status  st = try_terms(cx, t, cases[k][0], "target=y", &(cri_design_needs){ 0 }, &d);
        assert_true(st == CR_EARG || st == CR_EDATA || st == CR_EUNSUPPORTED);
        assert_non_null(strstr(cr_error(cx), cases[k][1]));
        assert_null(d);
    }
    cr_design *d = NULL;
    assert_fails_with(cx,
                      try_terms(cx, t, "x", "target=y basis=poly:2", &(cri_design_needs){ 0 }, &d),
                      CR_EARG, "--basis and --terms cannot both be given");
    assert_fails_with(cx,
                      try_terms(cx, t, "x,z", "target=y features=x", &(cri_design_needs){ 0 }, &d),
                      CR_EARG, "column 'z' is not a feature");
}

/* --- what the matrix holds ------------------------------------------------------------------- */

TEST(values)
{
    cr_table    *t = table_of_text(cx, "t.csv", "x,z,k\n4,-2,b\n0.25,3,a\n9,0.5,c\n");
    cr_design   *d = design_by(cx, t, "log(x), sqrt(x):z, z^3, x:k, 1/x, exp(z), abs(z)", "");
    const double expected[] = {
        log(4),    -8,    0.25,    exp(-2),  2,   2 * -2.0, 0,    4, 0, /* */
        log(0.25), 27,    4,       exp(3),   3,   0.5 * 3,  0.25, 0, 0,
        log(9),    0.125, 1.0 / 9, exp(0.5), 0.5, 3 * 0.5,  0,    0, 9,
    };
    assert_string_equal(terms_of(d), "log(x),z^3,1/x,exp(z),abs(z),sqrt(x):z,x:k=a,x:k=b,x:k=c");
    check_matrix(cx, d, t, expected, 1e-15);
    assert_int_equal(cr_design_columns(d), 3); /* those that a table must have */
    cri_design_free(cx, d);
}

TEST(crossed_codes)
{
    cr_table        *t = table_of_text(cx, "t.csv", "x,k,c\n4,b,u\n2,a,v\n9,c,u\n");
    cri_design_needs codes = { .coding = CRI_CODING_CODE };
    cr_design       *d = NULL;
    assert_ok(cx, try_terms(cx, t, "k:c, x:c", "", &codes, &d));
    assert_string_equal(terms_of(d), "k:c,x:c=u,x:c=v");
    check_matrix(cx, d, t, ((double[]){ 2, 4, 0, 1, 0, 2, 4, 9, 0 }), 0);
    cri_design_free(cx, d);
}

/* A gap is filled before anything is made of it, or is a gap of all that is made of it. */
TEST(gaps)
{
    cr_table  *t = table_of_text(cx, "t.csv", "x,z,k\n4,1,b\n,3,a\n2,,b\n6,5,\n");
    cr_design *d = design_by(cx, t, "log(x), x:z, z:k", "missing=impute");
    assert_string_equal(terms_of(d), "log(x),x:z,z:k=a,z:k=b");
    const double filled[] = { log(4), 4,     0, 1, log(4), 12, 3, 0,
                              log(2), 2 * 3, 0, 3, log(6), 30, 0, 5 };
    check_matrix(cx, d, t, filled, 1e-15);
    cri_design_free(cx, d);
    d = design_by(cx, t, "log(x), x:z, z:k", "missing=drop");
    check_matrix(cx, d, t, ((double[]){ log(4), 4, 0, 1 }), 1e-15);
    cri_design_free(cx, d);
    d = design_by(cx, t, "log(x)", "");
    check_open_fails(cx, d, t, CRI_TARGET_NONE, "t.csv:3: the column 'x' has no value");
    cri_design_free(cx, d);
    cri_design_needs keep = { .keep_missing = true };
    assert_ok(cx, try_terms(cx, t, "log(x), x:z", "", &keep, &d));
    cri_rows r;
    double   X[8];
    assert_ok(cx, cri_rows_open(cx, d, t, CRI_TARGET_NONE, &r));
    cri_rows_fill(&r, 0, 4, X, 2);
    assert_true(isnan(X[2]) && isnan(X[3]) && X[4] == log(2) && isnan(X[5]) && X[7] == 30);
    cri_rows_close(cx, &r);
    cri_design_free(cx, d);
}

TEST(outside_the_domain)
{
    cr_table *t = table_of_text(cx, "t.csv", "x,z,u\n4,1,1e200\n0,3,1e200\n-2,-1,3\n710,5,3\n");
    struct {
        const char *terms, *text, *hint;
    } cases[] = {
        { "log(x)", "t.csv:3: 'x' is 0, which has no logarithm", "log1p(x)" },
        { "log2(z)", "t.csv:4: 'z' is -1, which has no logarithm", "another function of 'z'" },
        { "log1p(x)", "t.csv:4: 'x' is -2, which has no logarithm", "another function" },
        { "sqrt(x)", "t.csv:4: 'x' is -2, which has no real square root", "another function" },
        { "1/x", "t.csv:3: 'x' is 0, which has no inverse", "another function" },
        { "exp(x)", "t.csv:5: 'x' is 710, and exp(x) overflows", "" },
        { "u^2", "t.csv:2: 'u' is 1e+200, and u^2 overflows", "" },
        { "u:u^2", "t.csv:2: 'u' is 1e+200, and u^2 overflows", "" },
        { "u:poly(u,2)", "t.csv:2: the product 'u:u' overflows", "" },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        cr_design *d = design_by(cx, t, cases[k].terms, "");
        check_open_fails(cx, d, t, CRI_TARGET_NONE, cases[k].text);
        assert_non_null(strstr(cr_error_hint(cx), cases[k].hint));
        cri_design_free(cx, d);
    }
}

/* --- the same as other roads ----------------------------------------------------------------- */

static void check_coefficients(cr_ctx *cx, const char *terms, const char *const *names,
                               const double *values, size_t n)
{
    cr_table  *t = table_of_text(cx, "t.csv", small);
    cr_setting s[] = { { "target", "y" }, { "terms", terms } };
    cr_model  *m = NULL;
    assert_ok(cx, cr_fit(cx, "linear", t, s, 2, &m));
    json_t *list = json_object_get(describe(cx, m), "parameters");
    assert_int_equal(json_array_size(list), n);
    for (size_t i = 0; i < n; i++) {
        json_t *one = json_array_get(list, i);
        assert_string_equal(json_string_value(json_object_get(one, "name")), names[i]);
        assert_close(json_number_value(json_object_get(one, "value")), values[i], 1e-12);
    }
    cr_model_free(cx, m);
}

/* lm(y ~ x*kind + log(x) + I(z^2)), lm(y ~ color:x + kind) and
 * lm(y ~ x:z + sqrt(x) + poly(z, 2, raw = TRUE) + color:kind:x) of R 4.2.2. */
TEST(as_formulas_of_r)
{
    check_coefficients(cx, "x*kind, log(x), z^2",
                       (const char *const[]){ "intercept", "x", "kind=b", "kind=c", "log(x)", "z^2",
                                              "x:kind=b", "x:kind=c" },
                       (double[]){ 1.1977918383173225, 1.1083264408365208, -1.1804859561956529,
                                   0.5680873142454247, 1.0112185238592613, 0.6498833650463643,
                                   -0.0409537285441363, 0.1616922685462453 },
                       8);
    check_coefficients(
        cx, "color:x + kind",
        (const char *const[]){ "intercept", "kind=b", "kind=c", "color=blue:x", "color=red:x" },
        (double[]){ 1.829483986048869, -1.471417214363995, 0.457142375848293, 1.656699259028766,
                    1.659664601365444 },
        5);
    check_coefficients(
        cx, "x:z + sqrt(x) + poly(z,2) + color:kind:x",
        (const char *const[]){ "intercept", "sqrt(x)", "z", "z^2", "x:z", "color=blue:kind=a:x",
                               "color=red:kind=a:x", "color=blue:kind=b:x", "color=red:kind=b:x",
                               "color=blue:kind=c:x", "color=red:kind=c:x" },
        (double[]){ 0.467381511650339, 1.792378616856579, -1.352291606316312, 0.571101340512898,
                    0.604290642963729, 0.328332238779878, 0.498124061522766, 0.212669592773148,
                    0.480087677191745, 1.098573637680478, 1.353034436953654 },
        11);
}

/* A basis as a term is the basis of --basis, to the bit. */
TEST(as_bases)
{
    cr_table         *t = table_of_text(cx, "t.csv", small);
    const char *const cases[][2] = {
        { "bspline(x,5)", "basis=x=bspline:5" },
        { "natural(x,4)", "basis=x=natural:4" },
        { "poly(x,3)", "basis=x=poly:3" },
        { "fourier(x,2,5)", "basis=x=fourier:2:5" },
        { "rbf(x,3,0.5)", "basis=x=rbf:3:0.5" },
        { "hinge(x,3)", "basis=x=hinge:3" },
        { "bspline(x,knots=1;2;3,degree=2)", "basis=x=bspline:knots=1;2;3:degree=2" },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        cr_design *a = design_by(cx, t, cases[k][0], "target=y");
        char       settings[128];
        snprintf(settings, sizeof settings, "target=y features=x %s", cases[k][1]);
        cr_design *b = design_of(cx, t, settings, false);
        char       names[512];
        strcpy(names, terms_of(a));
        assert_string_equal(names, terms_of(b));
        cri_rows r;
        double   X[256];
        assert_ok(cx, cri_rows_open(cx, b, t, CRI_TARGET_NONE, &r));
        assert_ok(cx, cri_rows_matrix(cx, &r, X));
        check_matrix(cx, a, t, X, 0);
        cri_rows_close(cx, &r);
        cri_design_free(cx, a);
        cri_design_free(cx, b);
    }
}

/* A category of many levels times a number stays sparse, and has the same matrix. */
TEST(many_levels)
{
    enum { LEVELS = 300, ROWS = 900 };
    char *text = malloc(ROWS * 32), *at = text + sprintf(text, "g,x,y\n");
    for (size_t i = 0; i < ROWS; i++)
        at += sprintf(at, "g%zu,%g,%g\n", i * 7 % LEVELS, 0.5 + (double)(i % 11), (double)(i % 5));
    cr_table  *t = table_of_text(cx, "t.csv", text);
    cr_design *d = design_by(cx, t, "x, g:x", "target=y");
    cri_rows   dense = { 0 }, sparse = { 0 };
    assert_true(cri_design_has_many_levels(d));
    assert_ok(cx, cri_rows_open(cx, d, t, CRI_TARGET_NONE, &dense));
    d->sparse_levels = true;
    assert_ok(cx, cri_rows_open(cx, d, t, CRI_TARGET_NONE, &sparse));
    assert_non_null(sparse.sparse);
    assert_true(cri_sparse_entries(sparse.sparse) <= 2 * ROWS);
    double a[LEVELS + 1], b[LEVELS + 1];
    for (size_t i = 0; i < ROWS; i++) {
        cri_rows_fill(&dense, i, i + 1, a, d->p);
        cri_rows_fill(&sparse, i, i + 1, b, d->p);
        assert_memory_equal(a, b, d->p * sizeof *a);
    }
    cri_rows_close(cx, &dense);
    cri_rows_close(cx, &sparse);
    cri_design_free(cx, d);
    free(text);
}

TEST(too_many_combinations)
{
    enum { ROWS = 400 };
    char *text = malloc(ROWS * 48), *at = text + sprintf(text, "a,b,x\n");
    for (size_t i = 0; i < ROWS; i++) at += sprintf(at, "a%zu,b%zu,%zu\n", i, i, i);
    cr_table  *t = table_of_text(cx, "t.csv", text);
    cr_design *d = NULL;
    assert_fails_with(cx, try_terms(cx, t, "a:b", "", &(cri_design_needs){ 0 }, &d), CR_EDATA,
                      "the interaction of 'a' with 'b' has more than 100000 combinations");
    assert_fails_with(
        cx, try_terms(cx, t, "bspline(x,200):rbf(x,200)", "", &(cri_design_needs){ 0 }, &d),
        CR_EDATA, "the interactions make more than 10000 columns");
    free(text);
}

/* --- stored ---------------------------------------------------------------------------------- */

/* Models that see levels, sparse rows and codes. */
TEST(life)
{
    static const char *const settings =
        "target=y terms=x*kind,log(x),poly(z,2):color,bspline(x,4),color:kind,x:z";
    cr_table *t = table_of_text(cx, "t.csv", small);
    check_every_allocation_with_update(t, "linear", settings);
    check_every_allocation(t, "tree", settings);
    check_every_allocation(t, "knn", settings);
}
