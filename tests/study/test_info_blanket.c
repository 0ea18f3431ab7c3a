/* Markov blankets of columns: a network whose blankets are known, as categories and as numbers. */
#include "support.h"

#include "base/rng.h"
#include "study/info_report.h"

#include <jansson.h>

/* source -> y -> child <- spouse, child -> grandchild, alone; columns in this order but y, which is third. */
enum { ROWS = 3000, COLUMNS = 6 };
static const char *const name[COLUMNS] = {
    "source", "spouse", "y", "child", "grandchild", "alone"
};

static void draw(cr_rng *r, bool numbers, double *x)
{
    double noise[COLUMNS];
    for (size_t c = 0; c < COLUMNS; c++)
        noise[c] = numbers ? cr_rng_normal(r) : (double)(cr_rng_uniform(r) < 0.15);
    if (numbers) {
        x[0] = noise[0], x[1] = noise[1], x[5] = noise[5];
        x[2] = x[0] + noise[2];
        x[3] = x[2] + x[1] + noise[3];
        x[4] = x[3] + noise[4];
        return;
    }
    for (size_t c = 0; c < COLUMNS; c++) x[c] = (double)cr_rng_below(r, 2);
    x[2] = noise[2] != x[0];
    x[3] = noise[3] != ((x[2] != 0) + (x[1] != 0) > 0);
    x[4] = noise[4] != x[3];
}

static cr_table *make(cr_ctx *cx, bool numbers, size_t rows)
{
    static double   x[COLUMNS][ROWS];
    static uint32_t code[ROWS];
    const char     *levels[] = { "no", "yes" };
    cr_table       *t;
    for (size_t i = 0; i < rows; i++) {
        double row[COLUMNS];
        cr_rng r = cr_rng_stream(61, i);
        draw(&r, numbers, row);
        for (size_t c = 0; c < COLUMNS; c++) x[c][i] = row[c];
    }
    if (cr_table_new(cx, "rows", rows, &t) != CR_OK) return NULL;
    for (size_t c = 0; c < COLUMNS; c++) {
        cr_status st;
        for (size_t i = 0; i < rows; i++) code[i] = (uint32_t)(x[c][i] > 0.5);
        if (numbers && c != 5) /* the last is a category in a third table */
            st = cr_table_add_numbers(cx, t, name[c], CR_REAL, x[c], 1);
        else
            st = cr_table_add_category(cx, t, name[c], code, levels, 2);
        if (st == CR_OK) continue;
        cr_table_free(cx, t);
        return NULL;
    }
    return t;
}

static const cr_info_question usual = { .neighbours = 3,
                                        .level = 0.95,
                                        .length = 10,
                                        .beta = 0.1,
                                        .delta = 0.01,
                                        .alpha = 0.001,
                                        .bins = 4,
                                        .top = CR_COUNT_UNSET };

static json_t *ask(cr_ctx *cx, const cr_table *t, cr_info_question q, const char *columns)
{
    char *text = NULL, target[] = "y", list[64];
    q.blanket = target;
    if (columns) q.columns = strcpy(list, columns);
    assert_ok(cx, cr_info_report(cx, t, NULL, &q, 5, &text));
    json_t *root = json_loads(text, 0, NULL);
    cr_free(cx, text, strlen(text) + 1, 1);
    return root;
}

static const char *role_of(const json_t *root, const char *column)
{
    size_t  i;
    json_t *row;
    json_array_foreach(json_object_get(root, "blanket"), i,
                       row) if (strcmp(json_string_value(json_object_get(row, "name")), column) ==
                                0) return json_string_value(json_object_get(row, "role"));
    return NULL;
}

static void check_roles(const json_t *root, const char *test)
{
    assert_string_equal(json_string_value(json_object_get(root, "test")), test);
    assert_string_equal(role_of(root, "source"), "neighbour");
    assert_string_equal(role_of(root, "child"), "neighbour");
    assert_string_equal(role_of(root, "spouse"), "spouse");
    assert_string_equal(role_of(root, "grandchild"), "");
    assert_int_equal(json_array_size(json_object_get(root, "members")), 3);
}

TEST(blankets_of_a_known_network)
{
    cr_table *t = make(cx, false, ROWS);
    json_t   *root = ask(cx, t, usual, NULL);
    check_roles(root, "g2");
    assert_string_equal(role_of(root, "alone"), "");
    assert_null(role_of(root, "y"));
    json_decref(root);
    cr_table_free(cx, t);
    t = make(cx, true, ROWS);
    root = ask(cx, t, usual, "source,spouse,child,grandchild");
    check_roles(root, "fisher-z");
    json_decref(root);
    root = ask(cx, t, usual, NULL); /* with a category: numbers are cut */
    assert_string_equal(json_string_value(json_object_get(root, "test")), "g2");
    assert_string_equal(role_of(root, "child"), "neighbour");
    json_decref(root);
    cr_table_free(cx, t);
}

/* The first column is that of the largest information; --top shows so many, members all the same. */
TEST(columns_are_ranked)
{
    cr_table        *t = make(cx, false, ROWS);
    cr_info_question q = usual;
    cr_info_options  how = { .neighbours = 3, .level = 0.95, .estimator = 0 };
    double           most = 0, is;
    q.top = 1, q.unit = 1;
    json_t *root = ask(cx, t, q, NULL), *rows = json_object_get(root, "blanket");
    assert_int_equal(json_array_size(rows), 1);
    assert_int_equal(json_array_size(json_object_get(root, "members")), 3);
    for (size_t c = 0; c < COLUMNS; c++) {
        cr_information g;
        if (c == 2) continue;
        assert_ok(cx, cr_table_mutual(cx, t, name[c], "y", NULL, 0, &how, 5, &g));
        if (g.plugin > most) most = g.plugin;
    }
    is = json_number_value(json_object_get(json_array_get(rows, 0), "relevance"));
    assert_close(is, most, 1e-12);
    json_decref(root);
    cr_table_free(cx, t);
}

TEST(questions_that_make_no_sense_are_refused)
{
    cr_table        *t = make(cx, false, 20);
    cr_info_question q = usual;
    char            *text = NULL, wrong[] = "yy", target[] = "y", given[] = "alone";
    q.blanket = wrong;
    assert_fails_with(cx, cr_info_report(cx, t, NULL, &q, 5, &text), CR_EDATA, "yy");
    q.blanket = target, q.columns = target;
    assert_fails_with(cx, cr_info_report(cx, t, NULL, &q, 5, &text), CR_EARG, "besides");
    q.columns = NULL, q.given = given;
    assert_fails_with(cx, cr_info_report(cx, t, NULL, &q, 5, &text), CR_EARG, "--given");
    q.given = NULL, q.matrix = true;
    assert_fails_with(cx, cr_info_report(cx, t, NULL, &q, 5, &text), CR_EARG, "--blanket");
    cr_table_free(cx, t);
}

static cr_status run(cr_ctx *cx, void *arg)
{
    char            *text = NULL, target[] = "y";
    cr_info_question q = usual;
    cr_table        *t = make(cx, *(bool *)arg, 60);
    if (!t) return CR_ENOMEM;
    q.blanket = target;
    cr_status st = cr_info_report(cx, t, NULL, &q, 5, &text);
    if (st == CR_OK) cr_free(cx, text, strlen(text) + 1, 1);
    cr_table_free(cx, t);
    return st;
}

TEST(memory_may_run_out)
{
    bool numbers = true;
    test_every_allocation_fails(run, &numbers);
}
