/* test_column_names.c -- the names are those that reading the whole gives, and little is read for
 * it. */
#include "support.h"
#include "data/formats/column_names.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct names {
    char   text[256];
    size_t used;
} names;

static void add(void *user, const char *name)
{
    names *n = user;
    n->used += (size_t)snprintf(n->text + n->used, sizeof n->text - n->used, "%s|", name);
}

static cr_status look(cr_ctx *cx, const char *path, const char *option, const char *value,
                      names *out)
{
    cr_read_options o;
    cr_status       st = cr_options_init(cx, cr_read_table, &o);
    out->used = 0;
    out->text[0] = '\0';
    if (st == CR_OK && option) st = cr_options_set(cx, cr_read_table, &o, option, value);
    if (st == CR_OK) st = cri_column_names(cx, path, &o, add, out);
    cr_options_free(cx, cr_read_table, &o);
    return st;
}

/* The names by the long road: reading everything. */
static void read_names(cr_ctx *cx, const char *path, names *out)
{
    cr_read_options o;
    cr_table       *t = NULL;
    out->used = 0;
    assert_ok(cx, cr_options_init(cx, cr_read_table, &o));
    assert_ok(cx, cr_table_read(cx, path, &o, &t));
    for (size_t i = 0; i < cr_table_columns(t); i++) add(out, cr_table_column(t, i)->name);
    cr_table_free(cx, t);
    cr_options_free(cx, cr_read_table, &o);
}

static const char *text_file(const char *name, const char *text)
{
    return test_file(name, text, strlen(text));
}

TEST(text)
{
    static const char *const files[][2] = {
        { "a.csv", "a,b c,\"d,e\"\n1,2,3\n" }, { "b.csv", "1;2\n3;4\n" },
        { "c.tsv", "x\ty\n1\t2\n" },           { "d.csv", "\xef\xbb\xbfleft,right\r\n1,2\r\n" },
        { "e.svm", "1 1:0.5 3:2\n0 2:1\n" },   { "f.csv", ",v\n1,2\n" },
    };
    names quick, whole;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const char *path = text_file(files[i][0], files[i][1]);
        assert_ok(cx, look(cx, path, NULL, NULL, &quick));
        read_names(cx, path, &whole);
        assert_string_equal(quick.text, whole.text);
        assert_true(quick.used > 0);
    }
    const char *path = text_file("g.csv", "a,b\n1,2\n");
    assert_ok(cx, look(cx, path, "header", "no", &quick));
    assert_string_equal(quick.text, "x1|x2|");
    assert_ok(cx, look(cx, path, "from", "tsv", &quick));
    assert_ok(cx, look(cx, path, "delimiter", ";", &quick));
    assert_string_equal(quick.text, "a,b|");
}

/* A fault behind the part that is looked at does not matter; a line of 3 among lines of 2 would. */
TEST(the_rest_is_not_read)
{
    enum { SIZE = 1 << 18 };
    char  *text = malloc(SIZE);
    names  n;
    size_t used = (size_t)snprintf(text, SIZE, "p,q\n");
    while (used + 4 < SIZE - 8) memcpy(text + used, "1,2\n", 4), used += 4;
    memcpy(text + used, "1,2,3\n", 6);
    const char *path = test_file("long.csv", text, used + 6);
    assert_ok(cx, look(cx, path, NULL, NULL, &n));
    assert_string_equal(n.text, "p|q|");
    free(text);
}

static const char *make_database(void)
{
    static char path[600];
    sqlite3    *db;
    snprintf(path, sizeof path, "%s/d.db", test_directory());
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db,
                                  "create table t (u real, v real); insert into t values (1, 2);",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);
    return path;
}

TEST(database)
{
    const char              *path = make_database();
    char                     spec[700], long_query[1200];
    names                    n;
    static const char *const ends[][2] = { { "", "u|v|" },
                                           { "?t", "u|v|" },
                                           { "?query=select v as w from t", "w|" } };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        snprintf(spec, sizeof spec, "sqlite:%s%s", path, ends[i][0]);
        assert_ok(cx, look(cx, spec, NULL, NULL, &n));
        assert_string_equal(n.text, ends[i][1]);
    }
    snprintf(spec, sizeof spec, "sqlite:%s?absent", path);
    assert_true(look(cx, spec, NULL, NULL, &n) != CR_OK);
    memset(long_query, 'x', sizeof long_query - 1);
    memcpy(long_query, "sqlite:d.db?query=", 18);
    long_query[sizeof long_query - 1] = '\0';
    assert_fails_with(cx, look(cx, long_query, NULL, NULL, &n), CR_EDATA, "too long");
}

TEST(refused)
{
    char  path[600];
    names n;
    snprintf(path, sizeof path, "%s/pipe", test_directory());
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_fails(cx, look(cx, path, NULL, NULL, &n), CR_EIO); /* without waiting */
    assert_fails(cx, look(cx, test_directory(), NULL, NULL, &n), CR_EIO);
    assert_fails(cx, look(cx, "/nowhere/x.csv", NULL, NULL, &n), CR_EIO);
    assert_fails(cx, look(cx, "-", NULL, NULL, &n), CR_EIO);
    assert_fails(cx, look(cx, text_file("empty.csv", ""), NULL, NULL, &n), CR_EDATA);
    const char *large = test_file("large.npy", "\x93NUMPY", 6);
    assert_int_equal(truncate(large, 1 << 25), 0); /* a hole: takes no room */
    assert_fails_with(cx, look(cx, large, NULL, NULL, &n), CR_EDATA, "too large");
}

static cr_status look_at_file(cr_ctx *cx, void *path)
{
    names n;
    return look(cx, path, NULL, NULL, &n);
}

TEST(allocations)
{
    char path[600];
    snprintf(path, sizeof path, "%s", text_file("small.csv", "a,b\n1,2\n"));
    test_every_allocation_fails(look_at_file, path);
    snprintf(path, sizeof path, "%s", text_file("small.svm", "1 1:0.5\n"));
    test_every_allocation_fails(look_at_file, path);
}
