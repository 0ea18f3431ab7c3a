/* test_registry.c -- what every model class declares, since every surface is made from it. */
#include "support.h"
#include "data/formats/read.h"
#include "models/core/class.h"
#include "study/assess.h"
#include "study/cross_validate.h"
#include "study/compare_groups.h"

typedef struct named_table {
    const char      *name;
    const cr_option *options;
    size_t           size;
} named_table;

static const named_table shared[] = {
    { "design", cr_design_table, sizeof(cr_design_options) },
    { "read", cr_read_table, sizeof(cr_read_options) },
    { "fit", cr_fit_table, sizeof(cr_fit_options) },
    { "cv", cr_cv_table, sizeof(cr_cv_options) },
    { "compare", cr_group_table, sizeof(cr_group_options) },
};
enum { SHARED = sizeof shared / sizeof *shared };

/* The shared tables, then one per class. */
static size_t      table_count(void) { return SHARED + cr_class_count(); }
static named_table table_at(size_t i)
{
    if (i < SHARED) return shared[i];
    const cr_model_class *c = cr_class_at(i - SHARED);
    return (named_table){ c->name, c->options, c->options_size };
}

TEST(names)
{
    assert_true(cr_class_count() >= 3);
    for (size_t i = 0; i < cr_class_count(); i++) {
        const char *name = cr_class_name(cr_class_at(i));
        assert_true(strlen(name) > 0);
        assert_int_equal(strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-"), strlen(name));
        if (i > 0) assert_true(strcmp(cr_class_name(cr_class_at(i - 1)), name) < 0);
    }
}

TEST(find)
{
    for (size_t i = 0; i < cr_class_count(); i++)
        assert_ptr_equal(cr_class_find(cx, cr_class_name(cr_class_at(i))), cr_class_at(i));
    assert_null(cr_class_find(cx, "rigde"));
    assert_int_equal(cr_error_status(cx), CR_EARG);
    assert_non_null(strstr(cr_error(cx), "there is no model 'rigde'"));
    assert_string_equal(cr_error_nearest(cx), "ridge");
    for (size_t i = 0; i < cr_class_count(); i++) /* and all there are */
        assert_non_null(strstr(cr_error_notes(cx), cr_class_name(cr_class_at(i))));
    assert_null(cr_class_find(cx, ""));
    assert_null(cr_class_find(cx, "quite another thing"));
    assert_string_equal(cr_error_nearest(cx), "");
}

TEST(declarations)
{
    for (size_t i = 0; i < cr_class_count(); i++) {
        const cr_model_class *c = cr_class_at(i);
        assert_true(strlen(cr_class_summary(c)) > 10);
        assert_true(strlen(cr_class_formulas(c)) > 10);
        assert_true(strlen(cr_class_reference(c)) > 10);
        assert_true(strlen(cr_class_example(c)) > 3);
        assert_ptr_equal(cr_class_options(c), c->options);
        assert_true(cr_class_tasks(c) != 0 && cr_class_tasks(c) < 1u << 7);
        assert_true(c->default_scale == CR_SCALE_STANDARD || c->default_scale == CR_SCALE_NONE);
        assert_true(cri_learning_of(c)->fit || c->sums || c->em);
        if (c->sums) assert_true(c->sums->record && c->sums->size > 0);
        if (c->sums) assert_true(c->sums->gather && c->sums->merge);
        if (c->sums) assert_true(c->sums->solve && !cri_learning_of(c)->update);
        assert_non_null(c->describe);
        assert_true(c->state && c->state_size > 0);
        assert_int_equal(cr_class_offers(c, "predict"), cri_answers_of(c)->predict != NULL);
        assert_int_equal(cr_class_offers(c, "update"), c->sums || cri_learning_of(c)->update);
        assert_false(cr_class_offers(c, "fly"));
        assert_int_equal(cri_class_scale(c, CR_SCALE_AUTO), c->default_scale);
        assert_int_equal(cri_class_scale(c, CR_SCALE_NONE), CR_SCALE_NONE);
        assert_int_equal(cri_class_scale(c, CR_SCALE_STANDARD), CR_SCALE_STANDARD);
    }
    assert_string_equal(cr_task_name(CR_TASK_REGRESSION), "regression");
    assert_string_equal(cr_task_name(CR_TASK_NETWORK), "network");
    assert_string_equal(cr_task_name(CR_TASK_DENSITY | CR_TASK_CLUSTER), "density");
    assert_string_equal(cr_task_name(0), "none");
}

/* The default and the example parse and lie in range, and print back to what they were. */
TEST(options_parse)
{
    for (size_t i = 0; i < table_count(); i++) {
        named_table t = table_at(i);
        void       *values = calloc(1, t.size), *again = calloc(1, t.size);
        assert_ok(cx, cr_options_init(cx, t.options, values));
        assert_ok(cx, cr_options_init(cx, t.options, again));
        for (const cr_option *o = t.options; o->name; o++) {
            char first[256], second[256];
            if (strlen(o->help) < 5) fail_msg("%s: %s has no help", t.name, o->name);
            if (strlen(o->example) == 0) fail_msg("%s: %s has no example", t.name, o->name);
            if (strcmp(o->example, o->fallback) == 0)
                fail_msg("%s: the example of %s is its default", t.name, o->name);
            cr_options_print(o, values, first, sizeof first);
            if (strcmp(first, o->fallback) != 0 && o->kind != CR_OPTION_real)
                fail_msg("%s: the default of %s prints as '%s'", t.name, o->name, first);
            check_status(cx, cr_options_set(cx, t.options, values, o->name, o->example), CR_OK,
                         NULL, o->name, __FILE__, __LINE__);
            cr_options_print(o, values, first, sizeof first);
            assert_ok(cx, cr_options_set(cx, t.options, again, o->name, first));
            cr_options_print(o, again, second, sizeof second);
            assert_string_equal(first, second);
            assert_true(o->offset < t.size);
        }
        cr_options_free(cx, t.options, values);
        cr_options_free(cx, t.options, again);
        free(values);
        free(again);
    }
}

/* One name takes a value, or takes none, in every model: the command line asks before it knows
 * which. */
TEST(options_agree)
{
    for (size_t i = 0; i < table_count(); i++) {
        named_table a = table_at(i);
        for (const cr_option *o = a.options; o->name; o++) {
            /* The price of a support vector machine is C everywhere. */
            assert_int_equal(strspn(o->name, "abcdefghijklmnopqrstuvwxyz0123456789_C"),
                             strlen(o->name));
            if (cr_option_find(a.options, o->name) != o)
                fail_msg("%s: two options are called %s", a.name, o->name);
            for (size_t j = 0; j < i; j++) {
                named_table      b = table_at(j);
                const cr_option *same = cr_option_find(b.options, o->name);
                if (!same) continue;
                if (j < SHARED) fail_msg("%s and %s both have %s", a.name, b.name, o->name);
                if ((same->kind == CR_OPTION_flag) != (o->kind == CR_OPTION_flag))
                    fail_msg("%s is a flag in one of %s and %s only", o->name, a.name, b.name);
            }
        }
    }
}
