/* test_sqlite.c -- tables and queries of SQLite files: types from values, refusals, messages. */
#include "support.h"
#include "data/formats/sqlite_source.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

/* A database in the test's directory, made by these statements; gives its path. */
static const char *make_database(const char *name, const char *sql)
{
    static char path[256];
    sqlite3    *db = NULL;
    snprintf(path, sizeof path, "%s/%s", test_directory(), name);
    unlink(path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return path;
}

static cr_status read_part(cr_ctx *cx, const char *path, const char *part, cr_table **out)
{
    char spec[1024];
    snprintf(spec, sizeof spec, "%s%s", path, part);
    return cri_sqlite_read(cx, spec, out);
}

static const char houses[] =
    "CREATE TABLE houses(price REAL, rooms INTEGER, town TEXT, code, big INTEGER, none TEXT);"
    "INSERT INTO houses VALUES (1.5, 3, 'Ulm', 7, 9007199254740993, NULL);"
    "INSERT INTO houses VALUES (NULL, 4, 'Bonn', 'A', 1, NULL);"
    "INSERT INTO houses VALUES (2.0, NULL, NULL, 0.5, 2, NULL);"
    "INSERT INTO houses VALUES (-1e300, -2, 'Ulm', 9007199254740993, 3, NULL);"
    "INSERT INTO houses VALUES (0, 0, '', NULL, 4, NULL);"
    "CREATE TABLE people(name TEXT); INSERT INTO people VALUES ('Ada');"
    "CREATE VIEW cheap AS SELECT price FROM houses WHERE price < 2;";

TEST(types_come_from_values)
{
    cr_table   *t = NULL;
    const char *path = make_database("houses.db", houses);
    assert_ok(cx, read_part(cx, path, "?HOUSES", &t));
    assert_int_equal(cr_table_rows(t), 5);
    assert_int_equal(cr_table_columns(t), 6);

    const cr_column *price = cr_table_find(t, "price"), *rooms = cr_table_find(t, "rooms");
    assert_int_equal(price->type, CR_REAL);
    assert_int_equal(price->missing, 1);
    assert_true(price->values[0] == 1.5 && isnan(price->values[1]) && price->values[3] == -1e300);
    assert_int_equal(rooms->type, CR_INTEGER);
    assert_true(rooms->values[1] == 4 && isnan(rooms->values[2]) && rooms->values[3] == -2);

    const cr_column *town = cr_table_find(t, "town");
    assert_int_equal(town->type, CR_CATEGORY);
    assert_int_equal(town->n_levels, 3);
    assert_string_equal(town->levels[town->codes[0]], "Ulm");
    assert_string_equal(town->levels[town->codes[1]], "Bonn");
    assert_int_equal(town->codes[2], CR_MISSING_CODE);
    assert_int_equal(town->codes[3], town->codes[0]);
    assert_string_equal(town->levels[town->codes[4]], "");

    const cr_column  *code = cr_table_find(t, "code"); /* numbers keep all their digits as text */
    const char *const texts[] = { "7", "A", "0.5", "9007199254740993" };
    assert_int_equal(code->type, CR_CATEGORY);
    for (size_t i = 0; i < 4; i++) assert_string_equal(code->levels[code->codes[i]], texts[i]);
    assert_int_equal(code->codes[4], CR_MISSING_CODE);

    const cr_column *big = cr_table_find(t, "big"); /* as a double it would lose a digit */
    assert_int_equal(big->type, CR_CATEGORY);
    assert_string_equal(big->levels[big->codes[0]], "9007199254740993");
    assert_string_equal(big->levels[big->codes[4]], "4");
    assert_int_equal(cr_table_find(t, "none")->type, CR_REAL);
    assert_int_equal(cr_table_find(t, "none")->missing, 5);
    cr_table_free(cx, t);
}

TEST(queries_views_and_the_only_table)
{
    cr_table   *t = NULL;
    const char *path = make_database("houses.db", houses);
    assert_ok(cx, read_part(cx, path,
                            "?query=SELECT rooms*2 AS twice, '?' AS mark FROM houses "
                            "WHERE rooms > 2 ORDER BY rooms DESC;  ",
                            &t));
    assert_int_equal(cr_table_rows(t), 2);
    assert_true(cr_table_find(t, "twice")->values[0] == 8);
    assert_string_equal(cr_table_find(t, "mark")->levels[0], "?");
    cr_table_free(cx, t);
    assert_ok(cx, read_part(cx, path, "?cheap", &t));
    assert_int_equal(cr_table_rows(t), 3);
    cr_table_free(cx, t);
    path = make_database("one.db", "CREATE TABLE \"odd \"\" name?\"(a);"
                                   "INSERT INTO \"odd \"\" name?\" VALUES (1)");
    assert_ok(cx, read_part(cx, path, "", &t));
    assert_true(cr_table_find(t, "a")->values[0] == 1);
    cr_table_free(cx, t);
}

TEST(messages)
{
    cr_table   *t = NULL;
    const char *path = make_database("houses.db", houses);

    assert_fails_with(cx, read_part(cx, path, "?house", &t), CR_EDATA,
                      "table 'house' not found in ");
    assert_string_equal(cr_error_notes(cx), "tables: cheap, houses, people");
    assert_string_equal(cr_error_nearest(cx), "houses");
    assert_fails_with(cx, read_part(cx, path, "", &t), CR_EARG, "has 3 tables: name one of them");
    assert_string_equal(cr_error_notes(cx), "tables: cheap, houses, people");
    assert_non_null(strstr(cr_error_hint(cx), "houses.db?cheap'"));
    assert_fails_with(cx, read_part(cx, path, "?query=SELECT price FORM houses", &t), CR_EARG,
                      "near \"houses\": syntax error");
    assert_string_equal(cr_error_notes(cx), "query: SELECT price FORM houses");
    assert_fails_with(cx, read_part(cx, path, "?query=SELECT prise FROM houses", &t), CR_EARG,
                      "no such column: prise");
    assert_fails_with(cx, read_part(cx, path, "?query=SELECT price, price FROM houses", &t),
                      CR_EDATA, "two columns are called 'price'");
    assert_fails_with(cx, read_part(cx, path, "?query=SELECT 1; SELECT 2", &t), CR_EARG,
                      "must be one SELECT");
    assert_fails_with(cx, read_part(cx, path, "?query=-- nothing", &t), CR_EARG,
                      "must be one SELECT");
    assert_fails_with(cx, read_part(cx, path, "?query=SELECT 1 WHERE 0", &t), CR_EDATA,
                      "there are no rows");
    assert_fails_with(cx, read_part(cx, path, "?query=SELECT 1 AS a, 9e999 AS x", &t), CR_EDATA,
                      "column 'x' contains an infinite number in row 1");
    assert_fails_with(cx, read_part(cx, path, "?query=SELECT price, x'00' AS pic FROM houses", &t),
                      CR_EDATA, "column 'pic' contains a BLOB in row 1");
    assert_fails_with(cx, read_part(cx, path, "?query=SELECT 'a' || char(0) || 'b' AS s", &t),
                      CR_EDATA, "column 's' contains a text with a zero byte in row 1");
    assert_fails_with(cx, cri_sqlite_read(cx, "?houses", &t), CR_EARG, "does not name a database");
    assert_fails_with(cx, read_part(cx, path, "?", &t), CR_EARG, "does not name a database");
    assert_fails_with(cx, cri_sqlite_read(cx, "/nowhere/x.db?t", &t), CR_EIO,
                      "/nowhere/x.db: No such file or directory");
    path = test_file("text.db", "this is not a database at all, but some text\n", 45);
    assert_fails_with(cx, read_part(cx, path, "?t", &t), CR_EDATA, "file is not a database");
    path = test_file("empty.db", "", 0);
    assert_fails_with(cx, read_part(cx, path, "?t", &t), CR_EDATA, "holds no tables");
    assert_null(t);
}

TEST(never_writes)
{
    cr_table         *t = NULL;
    const char       *path = make_database("houses.db", houses);
    char              other[300], part[700];
    struct stat       before, after;
    const char *const writes[] = {
        "DELETE FROM houses",
        "CREATE TABLE x(a)",
        "INSERT INTO people VALUES ('Bob')",
        "PRAGMA user_version = 3",
        "VACUUM",
        "DROP TABLE people",
        "INSERT INTO people VALUES ('Bob') RETURNING name",
    };
    assert_int_equal(stat(path, &before), 0);
    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++) {
        snprintf(part, sizeof part, "?query=%s", writes[i]);
        assert_fails_with(cx, read_part(cx, path, part, &t), CR_EARG, "does more than read");
    }
    snprintf(other, sizeof other, "%s/other.db", test_directory());
    snprintf(part, sizeof part, "?query=ATTACH '%s' AS o", other);
    assert_fails_with(cx, read_part(cx, path, part, &t), CR_EARG, "does more than read");
    snprintf(part, sizeof part, "?query=VACUUM INTO '%s'", other);
    assert_fails_with(cx, read_part(cx, path, part, &t), CR_EARG, "does more than read");
    assert_fails_with(cx, read_part(cx, path, "?query=SELECT load_extension('x')", &t), CR_EARG,
                      "does more than read");
    assert_int_not_equal(access(other, F_OK), 0);
    assert_int_equal(stat(path, &after), 0);
    assert_int_equal(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
    assert_int_equal(before.st_size, after.st_size);
}

/* A database with a write-ahead log is read without leaving files beside it, under any name; what
 * stands in a log is read as well. */
TEST(write_ahead_log)
{
    cr_table   *t = NULL;
    sqlite3    *db = NULL;
    char        beside[300];
    struct stat info;
    const char *path = make_database("log #1%3F.db", "PRAGMA journal_mode=WAL; CREATE TABLE a(x);"
                                                     "INSERT INTO a VALUES (1), (2);");
    assert_ok(cx, read_part(cx, path, "?a", &t));
    assert_int_equal(cr_table_rows(t), 2);
    cr_table_free(cx, t);
    snprintf(beside, sizeof beside, "%s-wal", path);
    assert_int_not_equal(stat(beside, &info), 0);
    snprintf(beside, sizeof beside, "%s-shm", path);
    assert_int_not_equal(stat(beside, &info), 0);

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "INSERT INTO a VALUES (3)", NULL, NULL, NULL), SQLITE_OK);
    t = NULL;
    assert_ok(cx, read_part(cx, path, "?a", &t));
    assert_int_equal(cr_table_rows(t), 3);
    cr_table_free(cx, t);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* A value that is large beside the memory limit is refused before SQLite makes it. */
TEST(memory_limit)
{
    cr_table   *t = NULL;
    const char *path = make_database("limit.db", "CREATE TABLE a(x);");
    cr_ctx_set_memory_limit(cx, 8000000);
    assert_fails_with(cx,
                      read_part(cx, path, "?query=SELECT length(hex(zeroblob(5000000))) AS n", &t),
                      CR_ENOMEM, "too big");
    cr_ctx_set_memory_limit(cx, 80000000);
    assert_ok(cx, read_part(cx, path, "?query=SELECT length(hex(zeroblob(4000000))) AS n", &t));
    cr_table_free(cx, t);
}

TEST(endless_query_can_be_stopped)
{
    cr_table   *t = NULL;
    const char *path = make_database("houses.db", houses);
    const char *endless = "?query=WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) "
                          "SELECT max(x) FROM c";
    cr_ctx_set_time_limit(cx, 0.02);
    assert_fails_with(cx, read_part(cx, path, endless, &t), CR_ENOMEM, "time limit");
    cr_ctx_set_time_limit(cx, 0);
    cr_interrupt(cx);
    assert_fails(cx, read_part(cx, path, endless, &t), CR_EINTERRUPTED);
    cr_interrupt_clear(cx);
    cr_ctx_set_memory_limit(cx, 1000000);
    assert_fails_with(cx,
                      read_part(cx, path,
                                "?query=WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL "
                                "SELECT x+1 FROM c) SELECT x FROM c",
                                &t),
                      CR_ENOMEM, "memory limit");
    assert_null(t);
}

TEST(many_rows_and_texts)
{
    cr_table   *t = NULL;
    const char *path = make_database("houses.db", houses);
    assert_ok(cx, read_part(cx, path,
                            "?query=WITH RECURSIVE c(x) AS (SELECT 0 UNION ALL SELECT x+1 FROM c "
                            "WHERE x < 9999) SELECT x, 'n' || (x * 7919 % 5003) AS s FROM c",
                            &t));
    const cr_column *x = cr_table_find(t, "x"), *s = cr_table_find(t, "s");
    assert_int_equal(cr_table_rows(t), 10000);
    assert_int_equal(s->n_levels, 5003);
    for (size_t i = 0; i < 10000; i++) {
        char text[32];
        snprintf(text, sizeof text, "n%zu", i * 7919 % 5003);
        assert_true(x->values[i] == (double)i);
        assert_string_equal(s->levels[s->codes[i]], text);
    }
    cr_table_free(cx, t);
}

static cr_status read_houses(cr_ctx *cx, void *arg)
{
    cr_table *t = NULL;
    cr_status st = read_part(cx, arg, "?houses", &t);
    cr_table_free(cx, t);
    return st;
}

TEST(allocation_failures)
{
    char path[256];
    snprintf(path, sizeof path, "%s", make_database("houses.db", houses));
    test_every_allocation_fails(read_houses, path);
}
