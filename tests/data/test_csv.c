/* test_csv.c -- the CSV reader against a parser that reads character by character, cut in every
 * place and on several threads; malformed files with their exact messages. */
#include "support.h"
#include "data/csv.h"
#include "data/csv_levels.h"
#include "data/table_internal.h"

#include <strings.h>

static const cri_csv_sizes usual = { 1 << 18, 32, 1 << 16 }, small = { 1 << 10, 4, 1 << 16 };

static uint64_t random_state = 7;

/* SplitMix64 (Steele, Lea & Flood 2014), below n. */
static size_t draw(size_t n)
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return (size_t)((z ^ z >> 31) % n);
}

/* A context on one thread: many small parallel regions are slow on a busy machine. */
static cr_ctx *one_thread(void)
{
    cr_ctx *cx = test_context();
    cr_ctx_set_threads(cx, 1);
    return cx;
}

static cr_status read_bytes(cr_ctx *cx, const char *bytes, size_t size, const cr_read_options *o,
                            const cri_csv_sizes *sizes, cr_table **out)
{
    const cr_read_options none = { 0 };
    cri_source           *source = NULL;
    cr_status             st = cri_source_open_bytes(cx, "t.csv", bytes, size, &source);
    if (st == CR_OK) st = cri_csv_read_cut(cx, source, o ? o : &none, sizes, out);
    cri_source_close(source);
    return st;
}

static cr_table *read_good(cr_ctx *cx, const char *text, const cr_read_options *o)
{
    cr_table *t = NULL;
    assert_ok(cx, read_bytes(cx, text, strlen(text), o, &usual, &t));
    return t;
}

/* --- tables ----------------------------------------------------------------------------------- */

static void check_same_column(const cr_column *a, const cr_column *b, size_t rows)
{
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->type, b->type);
    assert_int_equal(a->missing, b->missing);
    if (a->type != CR_CATEGORY) {
        for (size_t i = 0; i < rows; i++)
            if (isnan(a->values[i]) != isnan(b->values[i]) ||
                (!isnan(a->values[i]) && memcmp(&a->values[i], &b->values[i], 8) != 0))
                fail_msg("column %s, row %zu: %.17g and %.17g", a->name, i, a->values[i],
                         b->values[i]);
        return;
    }
    assert_int_equal(a->n_levels, b->n_levels);
    for (size_t k = 0; k < a->n_levels; k++) assert_string_equal(a->levels[k], b->levels[k]);
    assert_memory_equal(a->codes, b->codes, rows * sizeof *a->codes);
}

static void check_same(const cr_table *a, const cr_table *b)
{
    char x[64], y[64];
    assert_int_equal(cr_table_rows(a), cr_table_rows(b));
    assert_int_equal(cr_table_columns(a), cr_table_columns(b));
    for (size_t c = 0; c < cr_table_columns(a); c++)
        check_same_column(cr_table_column(a, c), cr_table_column(b, c), cr_table_rows(a));
    assert_string_equal(cri_table_where(a, 0, x, sizeof x), cri_table_where(b, 0, y, sizeof y));
}

/* The cell as text: a level, or the number as %.17g; "" if missing. */
static const char *cell(const cr_table *t, const char *name, size_t row)
{
    static char      text[64];
    const cr_column *c = cr_table_find(t, name);
    assert_non_null(c);
    if (c->type == CR_CATEGORY)
        return c->codes[row] == CR_MISSING_CODE ? "" : c->levels[c->codes[row]];
    snprintf(text, sizeof text, "%.17g", c->values[row]);
    return isnan(c->values[row]) ? "" : text;
}

static cr_type type_of(const cr_table *t, const char *name)
{
    const cr_column *c = cr_table_find(t, name);
    assert_non_null(c);
    return c->type;
}

/* --- the naive parser: header, comma, one character at a time --------------------------------- */

enum { MOST_ROWS = 400, MOST_COLUMNS = 8, MOST_TEXT = 64 };

typedef struct naive {
    char   text[MOST_ROWS][MOST_COLUMNS][MOST_TEXT]; /* row 0 is the header */
    size_t rows, columns;
} naive;

static void parse_naively(const char *text, size_t size, naive *out)
{
    enum { START, PLAIN, QUOTED, AFTER } state = START;
    size_t row = 0, column = 0, n = 0;
    bool   something = false; /* on this line, besides blanks */
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i <= size; i++) {
        char ch = i < size ? text[i] : '\n';
        if (i == size && !something && column == 0) break;
        if (ch == '\r' && i + 1 < size && text[i + 1] == '\n' && state != QUOTED) continue;
        char *field = out->text[row][column];
        if (state == QUOTED) {
            if (ch != '"') field[n++] = ch;
            else if (i + 1 < size && text[i + 1] == '"') field[n++] = ch, i++;
            else state = AFTER;
        } else if (ch == ',' || ch == '\n') {
            while (state == PLAIN && n > 0 && (field[n - 1] == ' ' || field[n - 1] == '\t'))
                field[--n] = 0;
            bool blank_line = ch == '\n' && !something;
            if (ch == ',') column++, something = true;
            if (ch == '\n' && !blank_line) out->columns = column + 1, row++;
            if (ch == '\n') column = 0, something = false;
            state = START, n = 0;
        } else if (state == START && ch == '"') {
            state = QUOTED, something = true;
        } else if (ch != ' ' && ch != '\t') {
            field[n++] = ch, state = PLAIN, something = true;
        } else if (state == PLAIN) {
            field[n++] = ch;
        }
    }
    out->rows = row;
}

/* Without the blanks around it; the result is good until the fourth next call. */
static const char *trimmed(const char *text)
{
    static char copies[4][MOST_TEXT];
    static int  next;
    char       *copy = copies[next++ % 4];
    while (*text == ' ' || *text == '\t') text++;
    snprintf(copy, MOST_TEXT, "%s", text);
    for (size_t n = strlen(copy); n > 0 && (copy[n - 1] == ' ' || copy[n - 1] == '\t');)
        copy[--n] = 0;
    return copy;
}

static bool is_missing(const char *text)
{
    const char *const words[] = { "", "NA", "N/A", "#N/A", "null", "NULL", "?" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(trimmed(text), words[i]) == 0) return true;
    return strcasecmp(trimmed(text), "nan") == 0;
}

static bool is_number(const char *text, double *x)
{
    char *end;
    text = trimmed(text);
    *x = strtod(text, &end);
    return *text && !strpbrk(text, "xXpP( ") && *end == '\0';
}

static bool is_whole(const char *text)
{
    double x;
    text = trimmed(text);
    if (!is_number(text, &x) || fabs(x) > 0x1p53) return false;
    return strspn(text + (*text == '-' || *text == '+'), "0123456789") ==
           strlen(text + (*text == '-' || *text == '+'));
}

static cr_type type_by_definition(const naive *n, size_t c)
{
    size_t whole = 0, numbers = 0, booleans = 0, values = 0;
    double x;
    for (size_t r = 1; r < n->rows; r++) {
        const char *text = n->text[r][c];
        if (is_missing(text)) continue;
        values++;
        whole += is_whole(text);
        numbers += is_number(text, &x);
        booleans +=
            strcasecmp(trimmed(text), "true") == 0 || strcasecmp(trimmed(text), "false") == 0;
    }
    if (values == 0) return CR_REAL;
    if (whole == values) return CR_INTEGER;
    if (numbers == values) return CR_REAL;
    return booleans == values ? CR_BOOLEAN : CR_CATEGORY;
}

static void check_as_naive(const cr_table *t, const naive *n)
{
    assert_int_equal(cr_table_rows(t), n->rows - 1);
    assert_int_equal(cr_table_columns(t), n->columns);
    for (size_t c = 0; c < n->columns; c++) {
        const cr_column *k = cr_table_column(t, c);
        assert_string_equal(k->name, n->text[0][c]);
        assert_int_equal(k->type, type_by_definition(n, c));
        for (size_t r = 1; r < n->rows; r++) {
            const char *text = n->text[r][c];
            double      x = NAN;
            if (k->type == CR_CATEGORY) {
                assert_string_equal(cell(t, k->name, r - 1), is_missing(text) ? "" : text);
                continue;
            }
            if (k->type == CR_BOOLEAN && !is_missing(text)) x = (*trimmed(text) | 0x20) == 't';
            else if (!is_missing(text)) assert_true(is_number(text, &x));
            if (!(isnan(x) && isnan(k->values[r - 1]))) assert_true(x == k->values[r - 1]);
        }
    }
}

/* --- random files ----------------------------------------------------------------------------- */

static size_t put_cell(char *out, const char *text)
{
    size_t n = 0;
    size_t style = draw(6);
    if (style == 0) n += (size_t)sprintf(out + n, "%s", draw(2) ? " " : "\t ");
    if (style <= 2 || strpbrk(text, ",\"\n\r") || text[0] == ' ') {
        out[n++] = '"';
        for (; *text; text++) {
            if (*text == '"') out[n++] = '"';
            out[n++] = *text;
        }
        out[n++] = '"';
    } else {
        n += (size_t)sprintf(out + n, "%s", text);
    }
    if (draw(6) == 0) out[n++] = ' ';
    return n;
}

static const char *random_cell(size_t kind)
{
    static char             text[40];
    static const char *const texts[] = { "a",          "b,c",      "say \"x\"",
                                         "two\nlines", "cr\r\nlf", "\"\"",
                                         " padded ",   "007",      "na\xc3\xafve",
                                         "5\" pipe",   "NaN",      "",
                                         "NA",         "?",        "tab\there" };
    static const char *const booleans[] = { "true", "FALSE", "True", "false", "", "NA" };
    switch (kind) {
    case 0: snprintf(text, sizeof text, "%.17g", (double)draw(1000000) / 977 - 400); break;
    case 1: snprintf(text, sizeof text, "%d", (int)draw(2000) - 1000); break;
    case 2: return booleans[draw(6)];
    case 3: return texts[draw(15)];
    case 4: snprintf(text, sizeof text, "%zue%d", draw(99999999), (int)draw(600) - 300); break;
    case 5: return draw(40) ? "12" : draw(2) ? "12x" : "true"; /* a late category */
    case 6: return draw(3) ? "" : "null";
    default:
        snprintf(text, sizeof text, "%zu", draw(10) ? draw(100) : (size_t)9007199254740993);
        break;
    }
    return draw(12) ? text : "";
}

/* A file with every trouble that is allowed; every row has the header's number of fields. */
static size_t random_file(char *out)
{
    size_t      n = 0, columns = 1 + draw(MOST_COLUMNS), rows = 1 + draw(60), kinds[MOST_COLUMNS];
    const char *line_end = draw(2) ? "\n" : "\r\n";
    if (draw(4) == 0) n += (size_t)sprintf(out + n, "\xef\xbb\xbf");
    for (size_t c = 0; c < columns; c++) {
        kinds[c] = draw(8);
        n += (size_t)sprintf(out + n, "%scolumn %zu%s", c ? "," : "", c, draw(9) ? "" : " ");
    }
    n += (size_t)sprintf(out + n, "%s", line_end);
    for (size_t r = 0; r < rows; r++) {
        if (draw(15) == 0) n += (size_t)sprintf(out + n, "%s%s", draw(2) ? "" : "  ", line_end);
        for (size_t c = 0; c < columns; c++) {
            if (c) out[n++] = ',';
            const char *text = random_cell(kinds[c]);
            if (columns == 1 && !*text) text = "NA";
            n += put_cell(out + n, text);
        }
        if (r + 1 < rows || draw(2)) n += (size_t)sprintf(out + n, "%s", line_end);
    }
    return n;
}

static void test_random_files_as_naive_parser(void **state)
{
    (void)state;
    static char  text[1 << 17];
    static naive expected;
    char            comma[] = ",";
    cr_read_options o = { .header = 1, .delimiter = comma };
    for (int i = 0; i < 200; i++) {
        cr_ctx   *cx = one_thread();
        cr_table *t = NULL, *u = NULL;
        size_t    size = random_file(text);
        parse_naively(memcmp(text, "\xef\xbb\xbf", 3) ? text : text + 3,
                      memcmp(text, "\xef\xbb\xbf", 3) ? size : size - 3, &expected);
        assert_ok(cx, read_bytes(cx, text, size, &o, &small, &t));
        check_as_naive(t, &expected);
        for (size_t threads = 1; threads <= (i % 40 ? 1 : 4); threads *= 2) {
            cri_csv_sizes sizes = { 1 + draw(40), 1 + draw(5), 1 + draw(200) };
            if (threads > 1) sizes.pieces = 100; /* few batches, all of them parallel */
            cr_ctx_set_threads(cx, threads);
            assert_ok(cx, read_bytes(cx, text, size, &o, &sizes, &u));
            check_same(t, u);
            cr_table_free(cx, u);
        }
        cr_table_free(cx, t);
        test_context_free(cx);
    }
}

static void test_every_cut_gives_the_same(void **state)
{
    (void)state;
    const char *text =
        "a,b,c\r\n1,\"x\r\ny\",true\r\n\r\n 2 , \"p\"\"q\" ,FALSE\r\n3,5\" z,\r\n,\"\",\"true\"\r\n"
        "4x,last,true";
    cr_ctx     *cx = one_thread();
    cr_table   *t = read_good(cx, text, NULL), *u = NULL;
    assert_string_equal(cell(t, "a", 3), "");
    assert_string_equal(cell(t, "a", 4), "4x");
    assert_string_equal(cell(t, "b", 0), "x\r\ny");
    assert_string_equal(cell(t, "b", 1), "p\"q");
    assert_string_equal(cell(t, "b", 2), "5\" z");
    assert_int_equal(type_of(t, "c"), CR_BOOLEAN);
    for (size_t piece = 1; piece < 90; piece++)
        for (size_t pieces = 1; pieces < 4; pieces++)
            for (size_t sample = 1; sample < 90; sample += 29) {
                char                  comma[] = ",";
                const cr_read_options o = { .header = 1, .delimiter = comma };
                assert_ok(cx, read_bytes(cx, text, strlen(text), &o,
                                         &(cri_csv_sizes){ piece, pieces, sample }, &u));
                check_same(t, u);
                cr_table_free(cx, u);
            }
    cr_table_free(cx, t);
    test_context_free(cx);
}

/* --- types and missing values ----------------------------------------------------------------- */

static void test_types(void **state)
{
    (void)state;
    cr_ctx   *cx = one_thread();
    cr_table *t = read_good(cx, "i,r,b,c,m,big,inf,q\n"
                                "1,1.0,true,007,,9007199254740992,inf,\"1\"\n"
                                "-2, 2 ,FALSE,8,NA,9007199254740993,-Infinity,\"2\"\n"
                                "+3,1e3,?,x,?,1,0,\" 3 \"\n", NULL);
    assert_int_equal(cr_table_rows(t), 3);
    assert_int_equal(type_of(t, "i"), CR_INTEGER);
    assert_int_equal(type_of(t, "r"), CR_REAL);
    assert_int_equal(type_of(t, "b"), CR_BOOLEAN);
    assert_int_equal(type_of(t, "c"), CR_CATEGORY);
    assert_int_equal(type_of(t, "m"), CR_REAL);
    assert_int_equal(type_of(t, "big"), CR_INTEGER); /* 2^53 + 1 rounds to 2^53 */
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
    test_context_free(cx);
}

static void test_missing_values_and_column_options(void **state)
{
    (void)state;
    cr_ctx         *cx = one_thread();
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
    test_context_free(cx);
}

static void test_names_with_commas(void **state)
{
    (void)state;
    cr_ctx         *cx = one_thread();
    char            missing[] = "\"no, none\",-1", category[] = ",\"k,1\",", real[] = "\"a\"\"b,\"";
    cr_read_options o = { .missing_values = missing, .category = category, .real = real };
    cr_table       *t =
        read_good(cx, "\"k,1\",\"a\"\"b,\",v\n1,2,\"no, none\"\n2,-1,7\n2,4,1\n", &o);
    assert_int_equal(type_of(t, "k,1"), CR_CATEGORY);
    assert_int_equal(type_of(t, "a\"b,"), CR_REAL);
    assert_int_equal(cr_table_find(t, "a\"b,")->missing, 1);
    assert_int_equal(cr_table_find(t, "v")->missing, 1);
    assert_int_equal(type_of(t, "v"), CR_INTEGER);
    cr_table_free(cx, t);
    test_context_free(cx);
}

/* Columns are numbered in parallel: a failure there is silent, and told afterwards, in the order of the
 * columns. */
static void test_levels_fail_silently(void **state)
{
    (void)state;
    cr_ctx        *cx = test_context();
    cri_csv_levels v = { .n = 0 };
    uint32_t       number = 7;
    for (uint64_t nth = 1; nth <= 4; nth++) {
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
                      "different texts");
    cri_csv_levels_clear(cx, &v);
    test_context_free(cx);
}

/* A category that shows only after the sample and some batches is read again with its texts. */
static void test_late_category(void **state)
{
    (void)state;
    cr_ctx *cx = one_thread();
    size_t  n = 0, size = 400000;
    char   *text = malloc(size);
    n += (size_t)sprintf(text, "id,code,x\n");
    for (int i = 0; i < 20000; i++) n += (size_t)sprintf(text + n, "%d,%03d,%d.5\n", i, i % 100, i);
    n += (size_t)sprintf(text + n, "20000,x9,0.25\n");
    cr_table           *t = NULL;
    const cri_csv_sizes sizes = { 1000, 7, 1 << 16 };
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
    test_context_free(cx);
}

/* --- dialect and header ----------------------------------------------------------------------- */

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

static void test_delimiters(void **state)
{
    (void)state;
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

static void test_headers(void **state)
{
    (void)state;
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

static void check_where(const char *text, size_t row, const char *wanted)
{
    char      where[64];
    cr_ctx   *cx = one_thread();
    cr_table *t = read_good(cx, text, NULL);
    assert_string_equal(cri_table_where(t, row, where, sizeof where), wanted);
    cr_table_free(cx, t);
    test_context_free(cx);
}

static void test_rows_know_their_line(void **state)
{
    (void)state;
    check_where("a\n1\n2\n3\n", 2, "t.csv:4");
    check_where("1\n2\n", 1, "t.csv:2");
    check_where("\n\na\n1\n2\n\n\n", 1, "t.csv:5");
    check_where("\"a\nb\"\n1\n2\n", 0, "t.csv:3");
    check_where("a\n\n1\n2\n", 1, "t.csv:4"); /* one to one from the third line on */
    check_where("a\n1\n\n2\n", 1, "t.csv, row 2");
    check_where("a,b\n1,\"x\ny\"\n2,z\n", 0, "t.csv, row 1");
    check_where("a,b\n1,z\n2,\"x\ny\"\n", 1, "t.csv:3");
}

/* --- malformed files -------------------------------------------------------------------------- */

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
    { "\xff\xfe"
      "a",
      "t.csv:1:1: the text is UTF-16, not UTF-8", 0, 0, 0, 0, 0, 0 },
    { "\xfe\xff"
      "a",
      "t.csv:1:1: the text is UTF-16, not UTF-8", 0, 0, 0, 0, 0, 0 },
    { "a,b,c,d,e\n1,2,3,4,5\n1,2,3,4\n", "t.csv:3:8: row has 4 fields, the header has 5", 0, 0, 0,
      0, 0, 0 },
    { "a,b\n1,2\n1,2,3,4\n", "t.csv:3:5: row has 4 fields, the header has 2", 0, 0, 0, 0, 0, 0 },
    { "a,b\n1,2,\n", "t.csv:2:5: row has 3 fields, the header has 2", 0, 0, 0, 0, 0, 0 },
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
    { "a,b\n1,2\0\n", "t.csv:2:4: a NUL byte: this is not a text file", 9, 0, 0, 0, 0, 0 },
    { "a,b\n1,x\0y\n", "t.csv:2:4: a NUL byte: this is not a text file", 10, 0, 0, 0, 0, 0 },
    { "a,b\n1,\"x\0y\"\n", "t.csv:2:5: a NUL byte: this is not a text file", 12, 0, 0, 0, 0, 0 },
    { "a,b\n1,\"x\"\0y\n", "t.csv:2:6: a NUL byte: this is not a text file", 12, 0, 0, 0, 0, 0 },
    { "\0\0\0\0", "t.csv:1:1: a NUL byte: this is not a text file", 4, 0, 0, 0, 0, 0 },
    { "a,b,a\n1,2,3\n", "t.csv:1:5: two columns are called 'a'", 0, 0, 0, 0, 0, 0 },
    { "a,\"a\"\n1,2\n", "t.csv:1:4: two columns are called 'a'", 0, 0, 0, 0, 0, 0 },
    { ",b,x1\n1,2,3\n", "t.csv:1:4: two columns are called 'x1'", 0, 0, 0, 0, 0, 0 },
    { "a,,c\n1,2,3\n", "t.csv:1:3: column 2 has no name", 0, 0, 0, 0, 0, 0 },
    { "a,b,\n1,2,3\n", "t.csv:1:5: column 3 has no name", 0, 0, 0, 0, 0, 0 },
    { "\n\na,\"\",c\n1,2,3\n", "t.csv:3:4: column 2 has no name", 0, 0, 0, 0, 0, 0 },
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
    char            texts[4][32];
    const char     *given[4] = { b->delimiter, b->category, b->real, b->missing };
    for (int i = 0; i < 4; i++) snprintf(texts[i], sizeof texts[i], "%s", given[i] ? given[i] : "");
    cr_read_options o = { .header = b->header,
                          .delimiter = given[0] ? texts[0] : NULL,
                          .category = given[1] ? texts[1] : NULL,
                          .real = given[2] ? texts[2] : NULL,
                          .missing_values = given[3] ? texts[3] : NULL };
    cr_ctx   *cx = one_thread();
    cr_table *untouched = (cr_table *)(uintptr_t)16, *t = untouched;
    cr_status st = read_bytes(cx, b->text, b->size ? b->size : strlen(b->text), &o, sizes, &t);
    assert_ptr_equal(t, untouched);
    assert_true(st == CR_EDATA || st == CR_EARG);
    assert_string_equal(cr_error(cx), b->message);
    test_context_free(cx);
}

static void test_malformed_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_files / sizeof *bad_files; i++) {
        check_bad(&bad_files[i], &usual);
        check_bad(&bad_files[i], &(cri_csv_sizes){ 3, 3, 1 << 16 });
        check_bad(&bad_files[i], &(cri_csv_sizes){ 1, 2, 1 << 16 });
    }
}

static void test_notes_and_hints(void **state)
{
    (void)state;
    cr_ctx         *cx = one_thread();
    cr_table       *t = NULL;
    char            real[] = "price", unknown[] = "prise";
    cr_read_options o = { .real = real }, p = { .category = unknown };
    const char     *text = "id,price\n1,2\n2,unknown\n";
    assert_fails(cx, read_bytes(cx, text, strlen(text), &o, &usual, &t), CR_EDATA);
    assert_string_equal(cr_error_notes(cx), "   3 | 2,unknown\n     |   ^~~~~~~");
    assert_string_equal(cr_error_hint(cx),
                        "if it means a missing value: --missing-values 'unknown'");
    assert_fails(cx, read_bytes(cx, text, strlen(text), &p, &usual, &t), CR_EDATA);
    assert_string_equal(cr_error_nearest(cx), "price");
    assert_string_equal(cr_error_notes(cx), "columns: id, price");
    test_context_free(cx);
}

/* Overflow is a fault only in a numeric column; elsewhere 1e999 is a text. */
static void test_overflow_in_a_category_is_text(void **state)
{
    (void)state;
    cr_ctx   *cx = one_thread();
    cr_table *t = NULL;
    char      comma[] = ",";
    const cr_read_options o = { .header = 1, .delimiter = comma };
    const char           *text = "a\n1e999\n2\nx\n";
    for (size_t piece = 1; piece < 12; piece++) {
        assert_ok(cx, read_bytes(cx, text, strlen(text), &o, &(cri_csv_sizes){ piece, 1, 2 }, &t));
        assert_string_equal(cell(t, "a", 0), "1e999");
        cr_table_free(cx, t);
    }
    test_context_free(cx);
}

/* --- mutations, memory ------------------------------------------------------------------------ */

/* Changes, drops, doubles or inserts a few bytes. */
static size_t mutate(char *text, size_t n, size_t most)
{
    static const char odd[] = "\",\n\r\t ;|0e-.x\0\xff" "1NA";
    for (size_t k = 1 + draw(4); k > 0; k--) {
        size_t at = n ? draw(n) : 0, span = n ? 1 + draw(n - at < 9 ? n - at : 9) : 0;
        switch (draw(4)) {
        case 0: if (n) text[at] = odd[draw(sizeof odd - 1)]; break;
        case 1: if (n) memmove(text + at, text + at + span, n - at - span), n -= span; break;
        case 2:
            if (n && n + span < most) memmove(text + at + span, text + at, n - at), n += span;
            break;
        default:
            if (n + 1 >= most) break;
            memmove(text + at + 1, text + at, n - at);
            text[at] = odd[draw(sizeof odd - 1)], n++;
        }
    }
    return n;
}

static void test_mutated_files_agree(void **state)
{
    (void)state;
    static const char *const seeds[] = {
        "a,b,c\n1,2.5,x\n3,4.5,\"y\"\n5,6,z\n", "a;b\n\"1;2\";true\n\"x\"\"y\";false\n;\n",
        "\xef\xbb\xbfid,name\r\n1,\"two\r\nlines\"\r\n2,NA\r\n\r\n3,?\r\n", "1 2 3\n4 5 6\n7 8 9\n",
        "a|b\n1|2\n3|4", "x\n1\n2\n\n3\n",
    };
    char text[256];
    for (int i = 0; i < 20000; i++) {
        const char *seed = seeds[draw(sizeof seeds / sizeof *seeds)];
        size_t      n = strlen(seed);
        memcpy(text, seed, n);
        n = mutate(text, n, sizeof text);
        cr_ctx   *a = test_context(), *b = one_thread();
        cr_table *t = NULL, *u = NULL;
        if (i % 1000 == 0) cr_ctx_set_threads(b, 3);
        cr_status one = read_bytes(a, text, n, NULL, &small, &t);
        cr_status two =
            read_bytes(b, text, n, NULL, &(cri_csv_sizes){ 1 + draw(9), 1 + draw(3), 1 << 16 }, &u);
        assert_int_equal(one, two);
        if (one == CR_OK) check_same(t, u);
        else assert_string_equal(cr_error(a), cr_error(b));
        cr_table_free(a, t), cr_table_free(b, u);
        test_context_free(a), test_context_free(b);
    }
}

static cr_status read_small(cr_ctx *cx, void *arg)
{
    cr_table *t = NULL;
    char      missing[] = "-,x", category[] = "b";
    const cr_read_options o = { .missing_values = missing, .category = category };
    const char           *text = "a,b,c\n1,2,\"p\"\"q\"\n2,3,u\n3,\"4\n4\",v\n,,\n5x,2,w\n";
    cr_ctx_set_threads(cx, 1);
    cr_status st = read_bytes(cx, text, strlen(text), &o, arg, &t);
    cr_table_free(cx, t);
    return st;
}

static void test_allocations_fail(void **state)
{
    (void)state;
    cri_csv_sizes tiny = { 3, 2, 20 }, large = usual;
    test_every_allocation_fails(read_small, &tiny);
    test_every_allocation_fails(read_small, &large);
}

static void test_memory_limit_and_interrupt(void **state)
{
    (void)state;
    cr_ctx   *cx = one_thread();
    cr_table *t = NULL;
    size_t    size = 200000;
    char     *text = malloc(size);
    memset(text, 'x', size);
    text[0] = '"'; /* one endless field */
    cr_ctx_set_memory_limit(cx, 100000);
    assert_fails_with(cx, read_bytes(cx, text, size, NULL, &(cri_csv_sizes){ 64, 4, 64 }, &t),
                      CR_ENOMEM, "memory limit");
    free(text);
    cr_ctx_set_memory_limit(cx, 0);
    cr_interrupt(cx);
    assert_fails(cx, read_bytes(cx, "a\n1\n", 4, NULL, &usual, &t), CR_EINTERRUPTED);
    test_context_free(cx);
}

/* --- real files ------------------------------------------------------------------------------- */

static void test_shared_iris(void **state)
{
    (void)state;
    const char *path = test_shared_data("tabular/iris.csv");
    if (!path) {
        print_message("skipped: ../shared/data/tabular/iris.csv is not here\n");
        return;
    }
    cr_ctx               *cx = one_thread();
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
    test_context_free(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_files_as_naive_parser),
        cmocka_unit_test(test_every_cut_gives_the_same),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_missing_values_and_column_options),
        cmocka_unit_test(test_names_with_commas),
        cmocka_unit_test(test_levels_fail_silently),
        cmocka_unit_test(test_late_category),
        cmocka_unit_test(test_delimiters),
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_rows_know_their_line),
        cmocka_unit_test(test_malformed_files),
        cmocka_unit_test(test_notes_and_hints),
        cmocka_unit_test(test_overflow_in_a_category_is_text),
        cmocka_unit_test(test_mutated_files_agree),
        cmocka_unit_test(test_allocations_fail),
        cmocka_unit_test(test_memory_limit_and_interrupt),
        cmocka_unit_test(test_shared_iris),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
