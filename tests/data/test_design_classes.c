/* test_design_classes.c -- the classes of a target, as the design remembers them. */
#include "support.h"

#include "data/design_internal.h"

static void check_classes(const char *target, size_t n, const char *const *expected)
{
    cr_ctx           *cx = test_context();
    cr_table         *t = NULL;
    cr_design        *d = NULL;
    cr_design_options o;
    const double      x[] = { 1, 2, 3, 4 };
    const char *const color[] = { "red", "blue", "red", "green" };

    assert_ok(cx, cr_table_new(cx, "t", 4, &t));
    assert_ok(cx, cr_table_add_numbers(cx, t, "x", CR_REAL, x, 1));
    assert_ok(cx, cr_table_add_numbers(cx, t, "y", CR_INTEGER, x, 1));
    assert_ok(cx, cr_table_add_texts(cx, t, "color", color));
    assert_ok(cx, cr_options_init(cx, cr_design_table, &o));
    assert_ok(cx, cr_options_set(cx, cr_design_table, &o, "target", target));
    assert_ok(cx, cri_design_fit(cx, t, &o, &(cri_design_needs){ 0 }, &d));
    assert_int_equal(cr_design_classes(d), n);
    for (size_t i = 0; i < n; i++) assert_string_equal(cr_design_class(d, i), expected[i]);
    cri_design_free(cx, d);
    cr_options_free(cx, cr_design_table, &o);
    cr_table_free(cx, t);
    test_context_free(cx);
}

static void test_a_category_has_its_levels(void **state)
{
    (void)state;
    const char *const expected[] = { "blue", "green", "red" };
    check_classes("color", 3, expected);
}

static void test_numbers_have_no_classes(void **state)
{
    (void)state;
    check_classes("y", 0, NULL);
    check_classes("", 0, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_category_has_its_levels),
        cmocka_unit_test(test_numbers_have_no_classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
