/* test_csv_random.c -- the CSV reader against a parser that reads character by character, on random
 * and mutated files, cut in every place and on several threads. */
#include "csv_fixture.h"

#include <strings.h>

static uint64_t random_state = 7;

/* SplitMix64 (Steele, Lea & Flood 2014), below n. */
static size_t draw(size_t n)
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return (size_t)((z ^ z >> 31) % n);
}

/* --- the naive parser: header, comma, one character at a time -------------------------------- */

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
            if (ch != '"')
                field[n++] = ch;
            else if (i + 1 < size && text[i + 1] == '"')
                field[n++] = ch, i++;
            else
                state = AFTER;
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

static bool is_digits(const char *text)
{
    double x;
    text = trimmed(text);
    if (!is_number(text, &x)) return false;
    return strspn(text + (*text == '-' || *text == '+'), "0123456789") ==
           strlen(text + (*text == '-' || *text == '+'));
}

/* The shortest decimal of the double has other digits than the text. */
static bool loses_digits(const char *text)
{
    double x;
    char   printed[64], digits[64] = "";
    size_t n = 0, skip;
    if (!is_digits(text) || !is_number(text, &x) || fabs(x) < 0x1p53) return false;
    text = trimmed(text);
    for (int places = 0; places < 18; places++) {
        snprintf(printed, sizeof printed, "%.*e", places, fabs(x));
        if (strtod(printed, NULL) == fabs(x)) break;
    }
    for (const char *p = printed; *p != 'e'; p++)
        if (*p != '.') digits[n++] = *p;
    while (n > 0 && digits[n - 1] == '0') n--;
    skip = strspn(text, "+-0");
    return strncmp(text + skip, digits, n) != 0 ||
           strspn(text + skip + n, "0") != strlen(text + skip + n);
}

static cr_type type_by_definition(const naive *n, size_t c)
{
    size_t whole = 0, numbers = 0, booleans = 0, values = 0, lost = 0, large = 0;
    double x;
    for (size_t r = 1; r < n->rows; r++) {
        const char *text = n->text[r][c];
        if (is_missing(text)) continue;
        values++;
        whole += is_digits(text);
        lost += loses_digits(text);
        numbers += is_number(text, &x);
        large += is_digits(text) && is_number(text, &x) && fabs(x) > 0x1p53;
        booleans +=
            strcasecmp(trimmed(text), "true") == 0 || strcasecmp(trimmed(text), "false") == 0;
    }
    if (values == 0) return CR_REAL;
    if (whole == values && lost) return CR_CATEGORY;
    if (whole == values && !large) return CR_INTEGER;
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
            if (k->type == CR_BOOLEAN && !is_missing(text))
                x = (*trimmed(text) | 0x20) == 't';
            else if (!is_missing(text))
                assert_true(is_number(text, &x));
            if (!(isnan(x) && isnan(k->values[r - 1]))) assert_true(x == k->values[r - 1]);
        }
    }
}

/* --- random files ---------------------------------------------------------------------------- */

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
    static char              text[40];
    static const char *const texts[] = {
        "a",        "b,c", "say \"x\"",    "two\nlines", "cr\r\nlf", "\"\"",
        " padded ", "007", "na\xc3\xafve", "5\" pipe",   "NaN",      "",
        "NA",       "?",   "tab\there",    "x\n# y",     "\n#,\"z"
    };
    static const char *const booleans[] = { "true", "FALSE", "True", "false", "", "NA" };
    switch (kind) {
    case 0:
        snprintf(text, sizeof text, "%.17g", (double)draw(1000000) / 977 - 400);
        break;
    case 1:
        snprintf(text, sizeof text, "%d", (int)draw(2000) - 1000);
        break;
    case 2:
        return booleans[draw(6)];
    case 3:
        return texts[draw(17)];
    case 4:
        snprintf(text, sizeof text, "%zue%d", draw(99999999), (int)draw(600) - 300);
        break;
    case 5:
        return draw(40) ? "12" : draw(2) ? "12x" : "true"; /* a late category */
    case 6:
        return draw(3) ? "" : "null";
    default:
        snprintf(text, sizeof text, "%zu", draw(10) ? draw(100) : (size_t)9007199254740993);
        break;
    }
    return draw(12) ? text : "";
}

/* A comment between records; no cell has a line that begins like it. */
static size_t put_comment(char *out, const char *line_end)
{
    static const char *const texts[] = { "", " a, b", " \"", " \"\"", ",\"x" };
    return (size_t)sprintf(out, "#@%s%s", texts[draw(5)], line_end);
}

/* A file with every trouble that is allowed; every row has the header's number of fields. */
static size_t random_file(char *out, bool comments)
{
    size_t      n = 0, columns = 1 + draw(MOST_COLUMNS), rows = 1 + draw(60), kinds[MOST_COLUMNS];
    const char *line_end = draw(2) ? "\n" : "\r\n";
    if (!comments && draw(4) == 0) n += (size_t)sprintf(out + n, "\xef\xbb\xbf");
    if (comments && draw(2)) n += put_comment(out + n, line_end);
    for (size_t c = 0; c < columns; c++) {
        kinds[c] = draw(8);
        n += (size_t)sprintf(out + n, "%scolumn %zu%s", c ? "," : "", c, draw(9) ? "" : " ");
    }
    n += (size_t)sprintf(out + n, "%s", line_end);
    for (size_t r = 0; r < rows; r++) {
        if (draw(15) == 0) n += (size_t)sprintf(out + n, "%s%s", draw(2) ? "" : "  ", line_end);
        if (comments && draw(3) == 0) n += put_comment(out + n, line_end);
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

TEST(random_files_as_naive_parser)
{
    static char     text[1 << 17];
    static naive    expected;
    char            comma[] = ",";
    cr_read_options o = { .header = 1, .delimiter = comma };
    for (int i = 0; i < 200; i++) {
        cr_ctx   *own = one_thread();
        cr_table *t = NULL, *u = NULL;
        size_t    size = random_file(text, false);
        parse_naively(memcmp(text, "\xef\xbb\xbf", 3) ? text : text + 3,
                      memcmp(text, "\xef\xbb\xbf", 3) ? size : size - 3, &expected);
        assert_ok(own, read_bytes(own, text, size, &o, &small, &t));
        check_as_naive(t, &expected);
        for (size_t threads = 1; threads <= (i % 40 ? 1 : 4); threads *= 2) {
            cri_csv_sizes sizes = { 1 + draw(40), 1 + draw(5), 1 + draw(200), false };
            if (threads > 1) sizes.pieces = 100; /* few batches, all of them parallel */
            cr_ctx_set_threads(own, threads);
            assert_ok(own, read_bytes(own, text, size, &o, &sizes, &u));
            check_same(t, u);
            cr_table_free(own, u);
        }
        cr_table_free(own, t);
        test_context_free(own);
    }
}

/* Without the comments, which are whole lines, [size]; returns how many bytes are left. */
static size_t strip_comments(const char *text, size_t size, char *out)
{
    size_t n = 0;
    for (size_t at = 0; at < size;) {
        const char *stop = memchr(text + at, '\n', size - at);
        size_t      next = stop ? (size_t)(stop - text) + 1 : size;
        bool        comment = next - at >= 2 && memcmp(text + at, "#@", 2) == 0;
        if (!comment) memcpy(out + n, text + at, next - at), n += next - at;
        at = next;
    }
    return n;
}

/* Lines that begin with the character of comments are part of a quoted cell inside one, and else not
 * there, whatever quotes they hold. */
TEST(comments_and_quoted_cells)
{
    static char     text[1 << 17], plain[1 << 17];
    static naive    expected;
    char            comma[] = ",", mark[] = "#";
    cr_read_options o = { .header = 1, .delimiter = comma, .comment = mark };
    for (int i = 0; i < 200; i++) {
        cr_ctx       *own = one_thread();
        cr_table     *t = NULL;
        size_t        size = random_file(text, true);
        cri_csv_sizes sizes = { 1 + draw(40), 1 + draw(5), 1 + draw(200), false };
        parse_naively(plain, strip_comments(text, size, plain), &expected);
        assert_ok(own, read_bytes(own, text, size, &o, i % 2 ? &small : &sizes, &t));
        check_as_naive(t, &expected);
        cr_table_free(own, t);
        test_context_free(own);
    }
}

TEST(every_cut_gives_the_same)
{
    cr_ctx_set_threads(cx, 1);
    const char *text =
        "a,b,c\r\n1,\"x\r\ny\",true\r\n\r\n 2 , \"p\"\"q\" ,FALSE\r\n3,5\" z,\r\n,\"\",\"true\"\r\n"
        "4x,last,true";
    cr_table *t = read_good(cx, text, NULL), *u = NULL;
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
                                         &(cri_csv_sizes){ piece, pieces, sample, false }, &u));
                check_same(t, u);
                cr_table_free(cx, u);
            }
    cr_table_free(cx, t);
}

/* --- mutations ------------------------------------------------------------------------------- */

/* Changes, drops, doubles or inserts a few bytes. */
static size_t mutate(char *text, size_t n, size_t most)
{
    static const char odd[] = "\",\n\r\t ;|0e-.x\0\xff"
                              "1NA";
    for (size_t k = 1 + draw(4); k > 0; k--) {
        size_t at = n ? draw(n) : 0, span = n ? 1 + draw(n - at < 9 ? n - at : 9) : 0;
        switch (draw(4)) {
        case 0:
            if (n) text[at] = odd[draw(sizeof odd - 1)];
            break;
        case 1:
            if (n) memmove(text + at, text + at + span, n - at - span), n -= span;
            break;
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

TEST(mutated_files_agree)
{
    static const char *const seeds[] = {
        "a,b,c\n1,2.5,x\n3,4.5,\"y\"\n5,6,z\n",
        "a;b\n\"1;2\";true\n\"x\"\"y\";false\n;\n",
        "\xef\xbb\xbfid,name\r\n1,\"two\r\nlines\"\r\n2,NA\r\n\r\n3,?\r\n",
        "1 2 3\n4 5 6\n7 8 9\n",
        "a|b\n1|2\n3|4",
        "x\n1\n2\n\n3\n",
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
        cr_status two = read_bytes(
            b, text, n, NULL, &(cri_csv_sizes){ 1 + draw(9), 1 + draw(3), 1 << 16, false }, &u);
        assert_int_equal(one, two);
        if (one == CR_OK)
            check_same(t, u);
        else
            assert_string_equal(cr_error(a), cr_error(b));
        cr_table_free(a, t), cr_table_free(b, u);
        test_context_free(a), test_context_free(b);
    }
}
