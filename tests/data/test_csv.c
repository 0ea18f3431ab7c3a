/* test_csv.c -- the CSV reader: types, dialects, headers, and malformed files with their exact
 * messages. */
#include "csv_fixture.h"
#include "data/csv/csv_levels.h"

/* --- types and missing values ---------------------------------------------------------------- */

TEST(types)
{
    cr_ctx_set_threads(cx, 1);
    cr_table *t = read_good(cx,
                            "i,r,b,c,m,big,inf,q\n"
                            "1,1.0,true,007,,9007199254740992,inf,\"1\"\n"
                            "-2, 2 ,FALSE,8,NA,9007199254740993,-Infinity,\"2\"\n"
                            "+3,1e3,?,x,?,1,0,\" 3 \"\n",
                            NULL);
    assert_int_equal(cr_table_rows(t), 3);
    assert_int_equal(type_of(t, "i"), CR_INTEGER);
    assert_int_equal(type_of(t, "r"), CR_REAL);
    assert_int_equal(type_of(t, "b"), CR_BOOLEAN);
    assert_int_equal(type_of(t, "c"), CR_CATEGORY);
    assert_int_equal(type_of(t, "m"), CR_REAL);
    assert_int_equal(type_of(t, "big"), CR_CATEGORY); /* 2^53 + 1 is no double */
    assert_string_equal(cell(t, "big", 0), "9007199254740992");
    assert_string_equal(cell(t, "big", 1), "9007199254740993");
    assert_int_equal(type_of(t, "inf"), CR_REAL);
    assert_int_equal(type_of(t, "q"), CR_INTEGER);
    assert_string_equal(cell(t, "c", 0), "007");
    assert_string_equal(cell(t, "r", 1), "2");
    assert_string_equal(cell(t, "inf", 1), "-inf");
    assert_string_equal(cell(t, "b", 0), "1");
    assert_int_equal(cr_table_find(t, "m")->missing, 3);
    assert_int_equal(cr_table_find(t, "b")->missing, 1);
    cr_table_free(cx, t);

    t = read_good(cx, "a,b,c\n9007199254740994,true,1\n1,0,true\n", NULL);
    assert_int_equal(type_of(t, "a"), CR_REAL);
    assert_int_equal(type_of(t, "b"), CR_CATEGORY); /* booleans and numbers */
    assert_int_equal(type_of(t, "c"), CR_CATEGORY);
    cr_table_free(cx, t);
}

/* Whole numbers that a double does not give back are texts, wherever in the file they are; others, and
 * columns with a decimal point or exponent somewhere, are numbers. */
TEST(digits_of_whole_numbers)
{
    const struct {
        const char *cells[3];
        cr_type     type;
    } columns[] = {
        { { "9007199254740992", "-9007199254740992", "1" }, CR_INTEGER },
        { { "9007199254740993", "1", "2" }, CR_CATEGORY },
        { { "1", "2", "-9007199254740993" }, CR_CATEGORY },
        { { "1234567890123456789", "1234567890123456788", "" }, CR_CATEGORY },
        { { "1000000000000000000", "1234567890123456789", "0" }, CR_CATEGORY },
        { { "5972000000000000000000000", "641710000000000000000000", "1" }, CR_REAL },
        { { "9007199254740994", "1", "2" }, CR_REAL },
        { { "9007199254740993", "1.5", "2" }, CR_REAL },
        { { "1e3", "1", "9007199254740993" }, CR_REAL },
        { { "9007199254740993.0", "1", "2" }, CR_REAL },
        { { "\"9007199254740993\"", "1", "2" }, CR_CATEGORY },
        { { "00009007199254740993", "1", "2" }, CR_CATEGORY },
    };
    cr_ctx_set_threads(cx, 1);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        char text[256];
        snprintf(text, sizeof text, "a,b\n%s,1\n%s,2\n%s,3\n", columns[i].cells[0],
                 columns[i].cells[1], columns[i].cells[2]);
        cr_table *t = read_good(cx, text, NULL);
        if (type_of(t, "a") != columns[i].type) fail_msg("of the wrong type: %s", text);
        cr_table_free(cx, t);
        cr_read_options o = { .real = (char[]){ "a" } };
        t = read_good(cx, text, &o);
        assert_int_equal(type_of(t, "a"), CR_REAL);
        assert_true(cr_table_find(t, "a")->values[1] ==
                    strtod(columns[i].cells[1][0] ? columns[i].cells[1] : "nan", NULL));
        cr_table_free(cx, t);
    }
}

TEST(missing_values_and_column_options)
{
    cr_ctx_set_threads(cx, 1);
    char            missing[] = "-999,none", category[] = "zip", real[] = "n";
    cr_read_options o = { .missing_values = missing, .category = category, .real = real };
    cr_table       *t = read_good(cx, "zip,n,v\n01234,1,-999\n-999,2,-999.0\n99,none,7\n", &o);
    assert_int_equal(type_of(t, "zip"), CR_CATEGORY);
    assert_int_equal(type_of(t, "n"), CR_REAL);
    assert_int_equal(type_of(t, "v"), CR_INTEGER);
    assert_string_equal(cell(t, "zip", 0), "01234");
    assert_string_equal(cell(t, "zip", 1), "");
    assert_string_equal(cell(t, "n", 2), "");
    assert_int_equal(cr_table_find(t, "v")->missing, 2);
    cr_table_free(cx, t);
}

TEST(names_with_commas)
{
    cr_ctx_set_threads(cx, 1);
    char            missing[] = "\"no, none\",-1", category[] = ",\"k,1\",", real[] = "\"a\"\"b,\"";
    cr_read_options o = { .missing_values = missing, .category = category, .real = real };
    cr_table *t = read_good(cx, "\"k,1\",\"a\"\"b,\",v\n1,2,\"no, none\"\n2,-1,7\n2,4,1\n", &o);
    assert_int_equal(type_of(t, "k,1"), CR_CATEGORY);
    assert_int_equal(type_of(t, "a\"b,"), CR_REAL);
    assert_int_equal(cr_table_find(t, "a\"b,")->missing, 1);
    assert_int_equal(cr_table_find(t, "v")->missing, 1);
    assert_int_equal(type_of(t, "v"), CR_INTEGER);
    cr_table_free(cx, t);
}

/* Columns are numbered in parallel: a failure there is silent, and told afterwards, in the order of
 * the columns. */
TEST(levels_fail_silently)
{
    cri_csv_levels v = { .n = 0 };
    uint32_t       number = 7;
    for (uint64_t nth = 1; nth <= 3; nth++) {
        cr_ctx_fail_allocation(cx, nth);
        assert_int_equal(cri_csv_levels_add(cx, &v, "abc", 3, &number), CR_ENOMEM);
        assert_int_equal(cr_error_status(cx), CR_OK);
        assert_string_equal(cr_error(cx), "");
        assert_true(v.n == 0 && number == 7 && v.refused > 0);
        cri_csv_levels_clear(cx, &v);
    }
    cr_ctx_fail_allocation(cx, 0);
    cr_ctx_set_memory_limit(cx, 100);
    assert_int_equal(cri_csv_levels_add(cx, &v, "abc", 3, &number), CR_ENOMEM);
    assert_fails_with(cx, cri_csv_levels_fail(cx, &v, CR_ENOMEM), CR_ENOMEM,
                      "the memory limit of 100 bytes is reached");
    assert_string_equal(cr_error_hint(cx), "raise it with --memory-limit");
    assert_fails_with(cx, cri_csv_levels_fail(cx, &v, CR_EUNSUPPORTED), CR_EUNSUPPORTED,
                      "different values");
    cri_csv_levels_clear(cx, &v);
}

/* A category that shows only after the sample and some batches is read again with its texts. */
TEST(late_category)
{
    cr_ctx_set_threads(cx, 1);
    size_t n = 0, size = 400000;
    char  *text = malloc(size);
    n += (size_t)sprintf(text, "id,code,x\n");
    for (int i = 0; i < 20000; i++) n += (size_t)sprintf(text + n, "%d,%03d,%d.5\n", i, i % 100, i);
    n += (size_t)sprintf(text + n, "20000,x9,0.25\n");
    cr_table           *t = NULL;
    const cri_csv_sizes sizes = { 1000, 7, 1 << 16, false };
    assert_ok(cx, read_bytes(cx, text, n, NULL, &sizes, &t));
    assert_int_equal(cr_table_rows(t), 20001);
    assert_int_equal(type_of(t, "code"), CR_CATEGORY);
    assert_int_equal(cr_table_find(t, "code")->n_levels, 101);
    assert_string_equal(cell(t, "code", 7), "007");
    assert_string_equal(cell(t, "code", 20000), "x9");
    assert_int_equal(type_of(t, "id"), CR_INTEGER);
    assert_string_equal(cell(t, "x", 19999), "19999.5");
    cr_table_free(cx, t);
    free(text);
}

/* Texts of earlier batches get their code at once: a quote written twice is not the text with two. */
TEST(known_texts)
{
    cr_ctx_set_threads(cx, 1);
    const cri_csv_sizes sizes = { 16, 2, 1 << 10, false };
    char                text[4096] = "t,n\n";
    for (int i = 0; i < 20; i++)
        strcat(text, "\"a\"\"\"\"b\",1\n\"a\"\"b\",2\nlong text 0,3\nlong text 1,4\n,5\nNA,6\n\" "
                     "NA \",7\n\" a\",8\na,9\n");
    cr_table *t = NULL;
    assert_ok(cx, read_bytes(cx, text, strlen(text), NULL, &sizes, &t));
    assert_int_equal(cr_table_rows(t), 180);
    assert_int_equal(cr_table_find(t, "t")->n_levels, 6);
    static const char *const wanted[] = {
        "a\"\"b", "a\"b", "long text 0", "long text 1", "", "", "", " a", "a"
    };
    for (size_t i = 0; i < 180; i++) assert_string_equal(cell(t, "t", i), wanted[i % 9]);
    cr_table_free(cx, t);
}

/* --- dialect and header ---------------------------------------------------------------------- */

/* Reads and checks: the names joined by '|', rows, and a cell. */
static void check_shape(const char *text, const cr_read_options *o, const char *names, size_t rows)
{
    cr_ctx   *cx = one_thread();
    cr_table *t = read_good(cx, text, o);
    char      joined[256] = "";
    for (size_t c = 0; c < cr_table_columns(t); c++) {
        if (c) strcat(joined, "|");
        strcat(joined, cr_table_column(t, c)->name);
    }
    assert_string_equal(joined, names);
    assert_int_equal(cr_table_rows(t), rows);
    cr_table_free(cx, t);
    test_context_free(cx);
}

TEST(delimiters)
{
    char            bar[] = "|", space[] = " ", tab[] = "tab", colon[] = ":";
    cr_read_options tsv = { .from = 2 };
    check_shape("a,b\n1,2\n", NULL, "a|b", 1);
    check_shape("a;b\n1,5;2,5\n", NULL, "a|b", 1);
    check_shape("a\tb\n1\t2\n3\t\n", NULL, "a|b", 2);
    check_shape("a|b|c\n1|2|3\n", NULL, "a|b|c", 1);
    check_shape("a b  c\n1   2\t3\n  4 5 6  \n", NULL, "a|b|c", 2);
    check_shape("a b c\r\n1 2 3 \r\n \r\n4 5 6\r\n", NULL, "a|b|c", 2);
    check_shape("a;b\n\"x;y\";2\n\"1,2,3\";4\n", NULL, "a|b", 2);
    check_shape("name of\n1\n2\n", NULL, "name of", 2);
    check_shape("x\n1\n\n2\n\"\"\n", NULL, "x", 3);
    check_shape("a,b\n1,2\n", &(cr_read_options){ .delimiter = bar, .header = 1 }, "a,b", 1);
    check_shape("a  b\n1 2\n", &(cr_read_options){ .delimiter = space }, "a|b", 1);
    check_shape("a,c\tb\n1\t2\n", &(cr_read_options){ .delimiter = tab }, "a,c|b", 1);
    check_shape("a:b\n1:2\n", &(cr_read_options){ .delimiter = colon }, "a|b", 1);
    check_shape("a,c\tb\n1\t2\n", &tsv, "a,c|b", 1);
    check_shape("a,b\r1,2\r3,4", NULL, "a|b", 2);
}

TEST(headers)
{
    check_shape("1,2\n3,4\n", NULL, "x1|x2", 2);
    check_shape("1,2\n3,4", &(cr_read_options){ .header = 1 }, "1|2", 1);
    check_shape("a,b\n3,4", &(cr_read_options){ .header = 2 }, "x1|x2", 2);
    check_shape("5.1,3.5,setosa\n4.9,3.0,setosa\n", NULL, "x1|x2|x3", 2);
    check_shape("id,2019,2020\n1,5,6\n", NULL, "id|2019|2020", 1);
    check_shape("unknown,5.1\n4.0,4.9\n", NULL, "x1|x2", 2);
    check_shape("p,x,s,x\np,y,s,n\n", NULL, "x1|x2|x3|x4", 2);
    check_shape("name,town\nAnn,Rome\n", NULL, "name|town", 1);
    check_shape("\"\",\"a\",\"b\"\n\"r1\",1,2\n", NULL, "x1|a|b", 1);
    check_shape(",,\n1,2,3\n", &(cr_read_options){ .header = 1 }, "x1|x2|x3", 1);
    check_shape("\"a\"\"b\",\" c \", d \n1,2,3\n", NULL, "a\"b| c |d", 1);
    check_shape("\xef\xbb\xbf\"a\",b\n1,2\n", NULL, "a|b", 1);
    check_shape("\n\n  \na,b\n1,2\n", NULL, "a|b", 1);
    check_shape("\"two\nlines\",b\n1,2\n", NULL, "two\nlines|b", 1);
    check_shape("true,false\nfalse,true\n", NULL, "x1|x2", 2);
    check_shape("7\n", NULL, "x1", 1);
    check_shape("inf,1\n2,3\n", NULL, "x1|x2", 2);
    check_shape("name,inf\nAnn,Rome\n", NULL, "name|inf", 1);
    check_shape("1,a\n", NULL, "x1|x2", 1);
}

/* Names that are numbers: years, what pandas numbers, and what is in quotes above numbers that are not. */
TEST(headers_of_numbers)
{
    check_shape("region,2021,2022,2023\nNorth,10.5,11.2,12.0\nSouth,8.1,8.4,9.0\n", NULL,
                "region|2021|2022|2023", 2);
    check_shape("region,2021,2022\nNorth,10,11\nSouth,8,9\n", NULL, "region|2021|2022", 2);
    check_shape("region,2021\nNorth,10.5\nSouth,8.1\n", NULL, "region|2021", 2);
    check_shape("\"country\",\"2018\",\"2019\"\n\"DE\",1,5\n\"FR\",3,4\n", NULL,
                "country|2018|2019", 2);
    check_shape("\"0.5\",\"7\"\n1,2\n3,5\n", NULL, "0.5|7", 2);
    check_shape("0,1\n0.4,1.3\n-0.2,0.7\n1.1,2.0\n", NULL, "0|1", 3);
    check_shape("0,1,2\n5.1,3,a\n4.9,2,b\n", NULL, "0|1|2", 2);
    check_shape(",0,1\n0,3,4\n1,5,6\n", NULL, "x1|0|1", 2);
    check_shape(",0\na,3\nb,5\n", NULL, "x1|0", 2);
    check_shape("2019,2020\n10,12\n14,15\n", NULL, "2019|2020", 2);
}

/* What begins with such numbers, but goes on with them, is data. */
TEST(no_headers_of_numbers)
{
    check_shape("1,2,3\n4,5,6\n", NULL, "x1|x2|x3", 2);
    check_shape("0,1\n0,2\n1,2\n", NULL, "x1|x2", 3);
    check_shape("0,1\n1,0\n1,1\n", NULL, "x1|x2", 3);
    check_shape("0,1\n0.1,0.9\n0.2,0.8\n", NULL, "x1|x2", 3); /* time goes up by steps */
    check_shape("2000,2001\n2001,2003\n2005,2006\n", NULL, "x1|x2", 3);
    check_shape("North,2021,5\nSouth,2022,6\n", NULL, "x1|x2|x3", 2);
    check_shape("a,1,2\nb,3.5,4.5\na,2.5,1.5\n", NULL, "x1|x2|x3", 3);
    check_shape("\"a\",1\n\"b\",2\n", NULL, "x1|x2", 2);
    check_shape("\"1\",\"2\"\n\"3\",\"5\"\n", NULL, "x1|x2", 2);
    check_shape("5,3\n4.9,3.1\n4.7,3.2\n", NULL, "x1|x2", 3);
    check_shape("2000\n1500.5\n3.5\n", NULL, "x1", 3);
}

static void check_where(const char *text, size_t row, const char *wanted)
{
    char      where[64];
    cr_ctx   *cx = one_thread();
    cr_table *t = read_good(cx, text, NULL);
    assert_string_equal(cri_table_where(t, row, where, sizeof where), wanted);
    cr_table_free(cx, t);
    test_context_free(cx);
}

TEST(rows_know_their_line)
{
    check_where("a\n1\n2\n3\n", 2, "t.csv:4");
    check_where("1\n2\n", 1, "t.csv:2");
    check_where("\n\na\n1\n2\n\n\n", 1, "t.csv:5");
    check_where("\"a\nb\"\n1\n2\n", 0, "t.csv:3");
    check_where("a\n\n1\n2\n", 1, "t.csv:4"); /* one to one from the third line on */
    check_where("a\n1\n\n2\n", 1, "t.csv, row 2");
    check_where("a,b\n1,\"x\ny\"\n2,z\n", 0, "t.csv, row 1");
    check_where("a,b\n1,z\n2,\"x\ny\"\n", 1, "t.csv:3");
}

/* --- malformed files ------------------------------------------------------------------------- */

typedef struct bad {
    const char *text, *message;
    size_t      size; /* 0 = strlen */
    const char *delimiter, *category, *real, *missing;
    int         header;
} bad;

static const bad bad_files[] = {
    { "", "t.csv: the file is empty", 0, 0, 0, 0, 0, 0 },
    { "\n\r\n   \n", "t.csv: the file is empty", 0, 0, 0, 0, 0, 0 },
    { "\xef\xbb\xbf", "t.csv: the file is empty", 0, 0, 0, 0, 0, 0 },
    { "a,b\n", "t.csv: there is a header but no row below it", 0, 0, 0, 0, 0, 0 },
    { "a,b", "t.csv: there is a header but no row below it", 0, 0, 0, 0, 0, 0 },
    { "a,b\n\n\n", "t.csv: there is a header but no row below it", 0, 0, 0, 0, 0, 0 },
    { "1,2\n", "t.csv: there is a header but no row below it", 0, 0, 0, 0, 0, 1 },
    { "a,b\n1,3.340,47\n", "t.csv:2:9: row has 3 fields, the header has 2", 0, 0, 0, 0, 0, 0 },
    { "a;b\n1;3.340,47\n2;x\n", "t.csv:2:3: '3.340,47' in column 'b' is not a number", 0, 0, 0, "b",
      0, 0 },
    { "a,b,c,d,e\n1,2,3,4,5\n1,2,3,4\n", "t.csv:3:8: row has 4 fields, the header has 5", 0, 0, 0,
      0, 0, 0 },
    { "a,b\n1,2\n1,2,3,4\n", "t.csv:3:5: row has 4 fields, the header has 2", 0, 0, 0, 0, 0, 0 },
    { "a,b\n1,2,\n3,4\n", "t.csv:2:5: row has 3 fields, the header has 2", 0, 0, 0, 0, 0, 0 },
    { "1,2\n3\n", "t.csv:2:2: row has 1 field, the first row has 2", 0, 0, 0, 0, 0, 0 },
    { "a,b\n1,2\n\n3\n", "t.csv:4:2: row has 1 field, the header has 2", 0, 0, 0, 0, 0, 0 },
    { "a,b\r\n1,2\r\n3\r\n", "t.csv:3:3: row has 1 field, the header has 2", 0, 0, 0, 0, 0, 0 },
    { "a,b\n\"x\ny\",2\n3\n", "t.csv:4:2: row has 1 field, the header has 2", 0, 0, 0, 0, 0, 0 },
    { "a,b\n1,\"x\ny\",2\n", "t.csv:3:4: row has 3 fields, the header has 2", 0, 0, 0, 0, 0, 0 },
    { "a b\n1 2\n1 2 3\n", "t.csv:3:5: row has 3 fields, the header has 2", 0, " ", 0, 0, 0, 0 },
    { "a,b\r1,2\r3\r", "t.csv:3:2: row has 1 field, the header has 2", 0, 0, 0, 0, 0, 0 },
    { "a,b\n1,\"2\n3,4\n", "t.csv:2:3: the quote that opens here is never closed", 0, 0, 0, 0, 0,
      0 },
    { "a,b\n1,2\n3,\"x\"\"\n5,6", "t.csv:3:3: the quote that opens here is never closed", 0, 0, 0,
      0, 0, 0 },
    { "\"a,b\n1,2\n", "t.csv:1:1: the quote that opens here is never closed", 0, 0, 0, 0, 0, 0 },
    { "a,b\n1, \"", "t.csv:2:4: the quote that opens here is never closed", 0, 0, 0, 0, 0, 0 },
    { "\"", "t.csv:1:1: the quote that opens here is never closed", 0, 0, 0, 0, 0, 0 },
    { "a,b\n\"1\"x,2\n", "t.csv:2:4: text after the closing quote of a field", 0, 0, 0, 0, 0, 0 },
    { "a,b\n\"1\" x,2\n", "t.csv:2:5: text after the closing quote of a field", 0, 0, 0, 0, 0, 0 },
    { "a,b\n\"1\" \"2\",2\n", "t.csv:2:5: text after the closing quote of a field", 0, 0, 0, 0, 0,
      0 },
    { "\"a\"b,c\n1,2\n", "t.csv:1:4: text after the closing quote of a field", 0, 0, 0, 0, 0, 0 },
    { "a,b\n\"x\ny\"z,2\n", "t.csv:3:3: text after the closing quote of a field", 0, 0, 0, 0, 0,
      0 },
    { "a,b\r\n0,\"y\"\r\n1,\"x\"\r,2\r\n", "t.csv:3:6: text after the closing quote of a field", 0,
      0, 0, 0, 0, 0 },
    { "a,b\n1,2\0\n", "t.csv:2:4: a NUL byte: this is not a text file", 9, 0, 0, 0, 0, 0 },
    { "a,b\n1,x\0y\n", "t.csv:2:4: a NUL byte: this is not a text file", 10, 0, 0, 0, 0, 0 },
    { "a,b\n1,\"x\0y\"\n", "t.csv:2:5: a NUL byte: this is not a text file", 12, 0, 0, 0, 0, 0 },
    { "a,b\n1,\"x\"\0y\n", "t.csv:2:6: a NUL byte: this is not a text file", 12, 0, 0, 0, 0, 0 },
    { "\0\0\0\0", "t.csv:1:1: a NUL byte: this is not a text file", 4, 0, 0, 0, 0, 0 },
    { "a,b,a\n1,2,3\n", "t.csv:1:5: two columns are called 'a'", 0, 0, 0, 0, 0, 0 },
    { "a,\"a\"\n1,2\n", "t.csv:1:4: two columns are called 'a'", 0, 0, 0, 0, 0, 0 },
    { ",b,x1\n1,2,3\n", "t.csv:1:4: two columns are called 'x1'", 0, 0, 0, 0, 0, 0 },
    { "a,,\n1,2,3\n", "t.csv:1:3: column 2 has no name", 0, 0, 0, 0, 0, 0 },
    { "\n\na,\"\",\"\"\n1,2,3\n", "t.csv:3:4: column 2 has no name", 0, 0, 0, 0, 0, 0 },
    { "a,,,\n1,2,3,\n4,5,,\n", "t.csv:1:3: column 2 has no name", 0, 0, 0, 0, 0, 0 },
    { "a,,x2\n1,2,3\n", "t.csv:1:4: two columns are called 'x2'", 0, 0, 0, 0, 0, 0 },
    { "a,b,,\n1,2,,\n1,2\n", "t.csv:3:4: row has 2 fields, the header has 4", 0, 0, 0, 0, 0, 0 },
    { "a,b\n1,2\n", "the delimiter ',,' is not one character", 0, ",,", 0, 0, 0, 0 },
    { "a,b\n1,2\n", "'\"' cannot be the delimiter", 0, "\"", 0, 0, 0, 0 },
    { "a,b\n1,2\n", "'7' cannot be the delimiter", 0, "7", 0, 0, 0, 0 },
    { "a,b\n1,2\n", "'.' cannot be the delimiter", 0, ".", 0, 0, 0, 0 },
    { "a,b\n1,2\n", "a control character cannot be the delimiter", 0, "\n", 0, 0, 0, 0 },
    { "a,price\n1,2\n", "column 'prise' not found in t.csv", 0, 0, "a,prise", 0, 0, 0 },
    { "a,price\n1,2\n", "column 'b' not found in t.csv", 0, 0, 0, "b", 0, 0 },
    { "a,b\n1,2\n", "column 'a' cannot be both real and a category", 0, 0, "a", "a", 0, 0 },
    { "a,b\n1,2\nx7,4\n", "t.csv:3:1: 'x7' in column 'a' is not a number", 0, 0, 0, "a", 0, 0 },
    { "a,b\n1,2\n3, \"yes\"\n", "t.csv:3:5: 'yes' in column 'b' is not a number", 0, 0, 0, "b", 0,
      0 },
    { "a,b\n1,true\n", "t.csv:2:3: 'true' in column 'b' is not a number", 0, 0, 0, "b", 0, 0 },
    { "a,b\n1,2\n3,1e999\n", "t.csv:3:3: 1e999 is out of range for a double", 0, 0, 0, "b", 0, 0 },
    { "a,b\n1,2\n3,-1e999\n4,5\n6,1e400\n", "t.csv:3:3: -1e999 is out of range for a double", 0, 0,
      0, 0, 0, 0 },
    { "a,b\n1,2\n3,\"1e999\"\n", "t.csv:3:4: 1e999 is out of range for a double", 0, 0, 0, 0, 0,
      0 },
    { "a\n1\n1 2\n", "t.csv:3:1: '1 2' in column 'a' is not a number", 0, ",", 0, "a", 0, 0 },
};

static void check_bad(const bad *b, const cri_csv_sizes *sizes)
{
    char        texts[4][32];
    const char *given[4] = { b->delimiter, b->category, b->real, b->missing };
    for (int i = 0; i < 4; i++) snprintf(texts[i], sizeof texts[i], "%s", given[i] ? given[i] : "");
    cr_read_options o = { .header = b->header,
                          .delimiter = given[0] ? texts[0] : NULL,
                          .category = given[1] ? texts[1] : NULL,
                          .real = given[2] ? texts[2] : NULL,
                          .missing_values = given[3] ? texts[3] : NULL };
    cr_ctx         *cx = one_thread();
    cr_table       *untouched = (cr_table *)(uintptr_t)16, *t = untouched;
    cr_status st = read_bytes(cx, b->text, b->size ? b->size : strlen(b->text), &o, sizes, &t);
    assert_ptr_equal(t, untouched);
    assert_true(st == CR_EDATA || st == CR_EARG);
    assert_string_equal(cr_error(cx), b->message);
    test_context_free(cx);
}

TEST(malformed_files)
{
    for (size_t i = 0; i < sizeof bad_files / sizeof *bad_files; i++) {
        check_bad(&bad_files[i], &usual);
        check_bad(&bad_files[i], &(cri_csv_sizes){ 3, 3, 1 << 16, false });
        check_bad(&bad_files[i], &(cri_csv_sizes){ 1, 2, 1 << 16, false });
    }
}

TEST(notes_and_hints)
{
    cr_ctx_set_threads(cx, 1);
    cr_table       *t = NULL;
    char            real[] = "price", unknown[] = "prise";
    cr_read_options o = { .real = real }, p = { .category = unknown };
    const char     *text = "id,price\n1,2\n2,unknown\n";
    assert_fails(cx, read_bytes(cx, text, strlen(text), &o, &usual, &t), CR_EDATA);
    assert_string_equal(cr_error_notes(cx), "   3 | 2,unknown\n     |   ^~~~~~~");
    assert_string_equal(cr_error_hint(cx), "if it means missing, use --missing-values 'unknown'");
    assert_fails(cx, read_bytes(cx, text, strlen(text), &p, &usual, &t), CR_EDATA);
    assert_string_equal(cr_error_nearest(cx), "price");
    assert_string_equal(cr_error_notes(cx), "columns: id, price");
}

/* Overflow is a fault only in a numeric column; elsewhere 1e999 is a text. */
TEST(overflow_in_a_category_is_text)
{
    cr_ctx_set_threads(cx, 1);
    cr_table             *t = NULL;
    char                  comma[] = ",";
    const cr_read_options o = { .header = 1, .delimiter = comma };
    const char           *text = "a\n1e999\n2\nx\n";
    for (size_t piece = 1; piece < 12; piece++) {
        assert_ok(
            cx, read_bytes(cx, text, strlen(text), &o, &(cri_csv_sizes){ piece, 1, 2, false }, &t));
        assert_string_equal(cell(t, "a", 0), "1e999");
        cr_table_free(cx, t);
    }
}

/* --- memory ---------------------------------------------------------------------------------- */

static cr_status read_small(cr_ctx *cx, void *arg)
{
    cr_table             *t = NULL;
    char                  missing[] = "-,x", category[] = "b";
    const cr_read_options o = { .missing_values = missing, .category = category };
    const char           *text = "a,b,c\n1,2,\"p\"\"q\"\n2,3,u\n3,\"4\n4\",v\n,,\n5x,2,w\n";
    cr_ctx_set_threads(cx, 1);
    cr_status st = read_bytes(cx, text, strlen(text), &o, arg, &t);
    cr_table_free(cx, t);
    return st;
}

TEST(allocations_fail)
{
    cri_csv_sizes tiny = { 3, 2, 20, false }, large = usual;
    test_every_allocation_fails(read_small, &tiny);
    test_every_allocation_fails(read_small, &large);
}

TEST(memory_limit_and_interrupt)
{
    cr_ctx_set_threads(cx, 1);
    cr_table *t = NULL;
    size_t    size = 200000;
    char     *text = malloc(size);
    memset(text, 'x', size);
    text[0] = '"'; /* one endless field */
    cr_ctx_set_memory_limit(cx, 100000);
    assert_fails_with(cx,
                      read_bytes(cx, text, size, NULL, &(cri_csv_sizes){ 64, 4, 64, false }, &t),
                      CR_ENOMEM, "memory limit");
    free(text);
    cr_ctx_set_memory_limit(cx, 0);
    cr_interrupt(cx);
    assert_fails(cx, read_bytes(cx, "a\n1\n", 4, NULL, &usual, &t), CR_EINTERRUPTED);
}

/* --- real files ------------------------------------------------------------------------------ */

TEST(shared_iris)
{
    cr_ctx_set_threads(cx, 1);
    const char           *path = test_data("tabular/iris.csv");
    cri_source           *source = NULL;
    cr_table             *t = NULL;
    const cr_read_options o = { 0 };
    assert_ok(cx, cri_source_open(cx, path, &source));
    assert_ok(cx, cri_csv_read(cx, source, &o, &t));
    assert_int_equal(cr_table_rows(t), 150);
    const cr_column *last = cr_table_column(t, cr_table_columns(t) - 1);
    assert_int_equal(last->n_levels, last->type == CR_CATEGORY ? 3 : 0);
    cr_table_free(cx, t);
    cri_source_close(source);
}

/* A header alone, where that is allowed: columns of the kinds asked for, without rows. */
static cr_status read_header(cr_ctx *cx, void *arg)
{
    cr_status       st = CR_OK;
    cri_source     *source = NULL;
    cr_table       *t = NULL;
    cr_read_options o = { 0 };
    CR_TRY(cr_options_init(cx, cr_read_table, &o));
    CR_TRY(cr_options_add(cx, cr_read_table, &o, "category", "b"));
    CR_TRY(cri_source_open_bytes(cx, "h.csv", arg, strlen(arg), &source));
    CR_TRY(cri_csv_read_any(cx, source, &o, &t));
    assert_int_equal(cr_table_rows(t), 0);
    assert_int_equal(cr_table_columns(t), 3);
    assert_int_equal(cr_table_column(t, 0)->type, CR_REAL);
    assert_int_equal(cr_table_column(t, 1)->type, CR_CATEGORY);
    assert_int_equal(cr_table_column(t, 1)->n_levels, 0);
done:
    cr_table_free(cx, t);
    cri_source_close(source);
    cr_options_free(cx, cr_read_table, &o);
    return st;
}

TEST(header_alone)
{
    assert_ok(cx, read_header(cx, (char[]){ "a,b,c\n" }));
    assert_ok(cx, read_header(cx, (char[]){ "a,b,c\n\n" }));
    test_every_allocation_fails(read_header, (char[]){ "a,b,c" });
}
