/* test_csv_marks.c -- blocks of 64 bytes against one byte at a time: marks, the cursor, and the cutter,
 * whose records are found by walking through the text as the rules of csv.h say. */
#include "support.h"
#include "data/csv/csv_internal.h"
#include "data/csv/csv_marks.h"

static uint64_t state_of_random = 7;

static size_t draw(size_t n)
{
    state_of_random = state_of_random * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(state_of_random >> 33) % n;
}

/* n bytes, mostly of those that matter; clean: a quote comes only where a field begins or ends. */
static void random_text(char *out, size_t n)
{
    static const char bytes[] = ",,,\n\"\"ab \r\xac\x0a\x8a\xa2;";
    for (size_t i = 0; i < n; i++) out[i] = bytes[draw(sizeof bytes - 1)];
}

static size_t random_clean_text(char *out, size_t n)
{
    static const char *const fields[] = {
        "\"a,b\"",  "\"\"",     "\"x\"\"y\"",
        "\"1\n2\"", "12",       "abc",
        "",         "\"\"\"\"", "\"a long text, with\n line ends in it\""
    };
    size_t at = 0;
    while (n - at > 60) {
        const char *field = fields[draw(sizeof fields / sizeof *fields)];
        memcpy(out + at, field, strlen(field));
        at += strlen(field);
        out[at++] = draw(4) ? ',' : '\n';
    }
    return at;
}

static void check_marks(cri_csv_marks m, const char *p, char delimiter, char line_end)
{
    for (int i = 0; i < CRI_CSV_BLOCK; i++) {
        assert_int_equal(m.stops >> i & 1, p[i] == delimiter || p[i] == line_end);
        assert_int_equal(m.quotes >> i & 1, p[i] == '"');
    }
}

TEST(marks_as_byte_by_byte)
{
    char text[CRI_CSV_BLOCK + 8];
    for (int i = 0; i < 2000; i++) {
        for (size_t k = 0; k < sizeof text; k++) text[k] = (char)draw(256);
        if (i % 2) random_text(text, sizeof text);
        const char *p = text + draw(8);
        const char  delimiter = ",;\t\xac"[draw(4)], line_end = "\n\r"[draw(2)];
        check_marks(cri_csv_mark(p, delimiter, line_end), p, delimiter, line_end);
        check_marks(cri_csv_mark_plainly(p, delimiter, line_end), p, delimiter, line_end);
    }
}

TEST(cursor_meets_every_stop)
{
    enum { N = 700 };
    char text[N + 2 * CRI_CSV_BLOCK] = { 0 };
    for (int i = 0; i < 500; i++) {
        random_text(text, N);
        text[N - 1] = '\n';
        cri_csv_cursor k = { .delimiter = ',', .line_end = '\n' };
        cri_csv_cursor_load(&k, text);
        for (const char *at = text; at < text + N;) {
            const char *end = text + N, *stop = at, *quote = at;
            if (draw(9) == 0) cri_csv_cursor_move(&k, at += draw((size_t)(end - at)));
            for (stop = at; *stop != ',' && *stop != '\n'; stop++) {}
            for (quote = at; quote < end && *quote != '"'; quote++) {}
            if (draw(2)) {
                assert_ptr_equal(cri_csv_next_stop(&k), stop);
                at = stop + 1;
            } else {
                assert_ptr_equal(cri_csv_next_quote(&k, at, end), quote < end ? quote : NULL);
                if (quote == end) break;
                cri_csv_cursor_move(&k, at = quote + 1);
            }
        }
    }
}

/* ends[i]: a record ends with byte i.  A quote that closes at the very end leaves its record open. */
static void find_record_ends(const char *text, size_t n, bool *ends)
{
    bool start = true, inside = false; /* of a field, but for blanks; of quotes */
    for (size_t i = 0; i < n; i++) {
        ends[i] = false;
        if (inside) {
            if (text[i] != '"') continue;
            if (i + 1 < n && text[i + 1] == '"')
                ends[++i] = false;
            else
                inside = false;
            continue;
        }
        ends[i] = text[i] == '\n';
        if (text[i] == '"' && start) inside = true;
        if (text[i] != ' ') start = text[i] == ',' || text[i] == '\n';
    }
}

TEST(cuts_where_records_end)
{
    enum { N = 900 };
    static char          text[N];
    static bool          ends[N];
    static cri_csv_piece pieces[N + 1];
    cri_csv_dialect      d = cri_csv_dialect_of(',', '\n');
    for (int i = 0; i < 6000; i++) {
        size_t n = random_clean_text(text, 100 + draw(N - 100)), count = 0, found = 0, piece = 0;
        if (i % 3 == 0) random_text(text + draw(n), 1); /* one odd byte */
        if (i % 7 == 0) random_text(text, n = draw(N)); /* all of them  */
        size_t target = 1 + draw(i % 2 ? 5 : 300), whole = 0;
        find_record_ends(text, n, ends);
        size_t got = cri_csv_cut(&d, text, text + n, target, pieces, &count);
        for (size_t at = 0; at < n; at++) {
            if (!ends[at]) continue;
            whole = at + 1;
            if (whole - piece < target) continue;
            assert_true(found < count);
            assert_ptr_equal(pieces[found].begin, text + piece);
            assert_ptr_equal(pieces[found++].end, text + whole);
            piece = whole;
        }
        assert_int_equal(got, whole);
        assert_int_equal(count, found + (whole > piece));
        assert_int_equal(cri_csv_cut(&d, text, text + n, 1, NULL, NULL), whole);
    }
}
