/* test_number.c -- reading against strtod (correctly rounded in glibc), printing against the law
 * that it reads back and that no shorter text does. */
#include "support.h"
#include "base/number_digits.h"

#include <float.h>
#include <locale.h>

static uint64_t state_of_random = 1;

/* SplitMix64 (Steele, Lea & Flood 2014). */
static uint64_t random_u64(void)
{
    uint64_t z = state_of_random += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double of_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static double random_double(void)
{
    double x;
    do x = of_bits(random_u64());
    while (!isfinite(x));
    return x;
}

/* The whole text is one number with the bits that strtod gives. */
static void check_text(const char *text)
{
    double got = -77, wanted = strtod(text, NULL);
    size_t n = strlen(text), took = cri_parse_double(text, text + n, &got);
    if (took != n || bits_of(got) != bits_of(wanted))
        fail_msg("%s: took %zu of %zu, got %.17g, strtod says %.17g", text, took, n, got, wanted);
}

TEST(random_bits_as_strtod)
{
    char text[64];
    for (int i = 0; i < 330000; i++) {
        double x = random_double();
        snprintf(text, sizeof text, "%.17g", x);
        check_text(text);
        snprintf(text, sizeof text, "%.*g", 1 + i % 12, x);
        check_text(text);
        snprintf(text, sizeof text, "%.25g", x);
        check_text(text);
    }
}

TEST(plain_decimals_as_strtod)
{
    char text[96];
    for (int i = 0; i < 50000; i++) {
        double x = (double)(int64_t)random_u64() / 9.2e18 * pow(10, i % 20 - 10);
        snprintf(text, sizeof text, "%.*f", i % 30, x);
        check_text(text);
        snprintf(text, sizeof text, "%llu", (unsigned long long)(random_u64() >> i % 64));
        check_text(text);
        snprintf(text, sizeof text, "%llue%d", (unsigned long long)random_u64(), i % 700 - 350);
        check_text(text);
        snprintf(text, sizeof text, "000%llu.%llue-%d", (unsigned long long)random_u64(),
                 (unsigned long long)random_u64(), i % 360);
        check_text(text);
    }
}

/* The point half-way between x and the next double, in all its digits; and a hair on either side.
 */
static void check_half_way(double x)
{
    static char text[1200], longer[1300];
    long double middle = ((long double)x + (long double)nextafter(x, INFINITY)) / 2;
    snprintf(text, sizeof text, "%.1100Lg", middle); /* exact: a middle has at most 767 digits */
    check_text(text);
    char *e = strchr(text, 'e');
    int   length = e ? (int)(e - text) : (int)strlen(text);
    snprintf(longer, sizeof longer, "%.*s%s0000001%s", length, text,
             memchr(text, '.', (size_t)length) ? "" : ".", e ? e : "");
    check_text(longer);
    snprintf(longer, sizeof longer, "%.*s%s%0*d1%s", length, text,
             memchr(text, '.', (size_t)length) ? "" : ".", 1000 - length, 0, e ? e : "");
    check_text(longer); /* and one that lies beyond all the digits that are kept */
    for (char *last = text + length - 1; last > text; last--) {
        if (*last < '1' || *last > '9') continue;
        --*last;
        break;
    }
    check_text(text);
}

TEST(half_way_cases)
{
    for (int i = 0; i < 200; i++) {
        double x = fabs(random_double());
        if (x < DBL_MAX) check_half_way(x);
        check_half_way(of_bits(random_u64() >> 12 >> i % 52)); /* subnormal */
        check_half_way((double)(random_u64() >> 11));
        check_half_way((double)(random_u64() >> 11) * 0x1p-60);
        check_half_way((double)(1 + i) * 0.125);
    }
    check_half_way(0);
    check_half_way(DBL_MIN);
    check_half_way(nextafter(DBL_MIN, 0));
    for (int q = -30; q < 60; q++) check_half_way(ldexp(0x1.fffffffffffffp0, q));
}

TEST(corners)
{
    const char *const texts[] = {
        "0",
        "-0",
        "+0",
        "0.0",
        "-0e5",
        "0e999999999999999999999",
        "1",
        "+1",
        "-1",
        ".5",
        "5.",
        "-.5e1",
        "1e22",
        "1e23",
        "9007199254740991",
        "9007199254740992",
        "9007199254740993",
        "9007199254740993.0000000000000000000000000001",
        "9007199254740992.999999999999999999999",
        "18446744073709551615",
        "18446744073709551616",
        "9999999999999999999",
        "99999999999999999999",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "179769313486231580793728971405303415079934132710037826936173778980444968292764750946649017"
        "977"
        "587207096330286416692887910946555547851940402630657488671505820681908902000708383676273854"
        "84"
        "581771153176447573027006985557136695962284291481986083493647529271907416844436551070434271"
        "15"
        "596995080930428801779041744977.999",
        "179769313486231580793728971405303415079934132710037826936173778980444968292764750946649017"
        "977"
        "587207096330286416692887910946555547851940402630657488671505820681908902000708383676273854"
        "84"
        "581771153176447573027006985557136695962284291481986083493647529271907416844436551070434271"
        "15"
        "596995080930428801779041744978",
        "2.2250738585072014e-308",
        "2.2250738585072011e-308",
        "2.2250738585072012e-308",
        "4.9406564584124654e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "2.47032822920623272088284396434110686182e-324",
        "2.47032822920623272088284396434110686183e-324",
        "1e-400",
        "1e400",
        "-1e999",
        "1e-999999999999999999999",
        "1e999999999999999999999",
        "7.3177701707893310e+15",
        "1448997445238699",
        "0.000000000000000000000000000000000000000000000000012345678901234567",
        "6.631236846766476e-316",
        "1090544144181609348671888949248",
        "3.2378839133029012895883524125015e-1",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) check_text(texts[i]);

    static char many[5000]; /* zeros on either side are only an exponent */
    memset(many, '0', sizeof many);
    many[0] = '1', snprintf(many + 4000, 16, "e-3999");
    check_text(many);
    memset(many, '0', sizeof many);
    many[1] = '.', snprintf(many + 3000, 32, "123456789e+2999");
    check_text(many);
    memset(many, '9', 3000), many[3000] = '\0';
    check_text(many);
    memcpy(many, "0.1", 3);
    check_text(many);
}

static void check_junk(const char *text, size_t took)
{
    double x = -77;
    size_t got = cri_parse_double(text, text + strlen(text), &x);
    if (got != took) fail_msg("'%s': took %zu, expected %zu", text, got, took);
    if (took == 0) assert_true(x == -77);
}

TEST(junk_and_words)
{
    const char *const none[] = { "",   "-",   "+",   ".",   "-.", "e5",    ".e5",
                                 " 1", "\t1", "--1", "+-1", "in", "na",    "abc",
                                 ",1", "/1",  ":1",  "i",   "n",  "\"1\"", "\xff" };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) check_junk(none[i], 0);
    check_junk("1 ", 1), check_junk("1,2", 1), check_junk("0x10", 1), check_junk("1e", 1);
    check_junk("1e+", 1), check_junk("1.5e-x", 3), check_junk("1.2.3", 3), check_junk("1p5", 1);
    check_junk("12345678:", 8), check_junk("1234567/9", 7), check_junk("infinit", 3);
    check_junk("nan(5)", 3), check_junk("1_000", 1);

    double      x = 0;
    const char *inf = "-iNfInItY!";
    assert_int_equal(cri_parse_double(inf, inf + 10, &x), 9);
    assert_true(x == -INFINITY);
    assert_int_equal(cri_parse_double(inf + 1, inf + 4, &x), 3);
    assert_true(x == INFINITY);
    const char *nan = "+NaN";
    assert_int_equal(cri_parse_double(nan, nan + 4, &x), 4);
    assert_true(isnan(x));
}

static unsigned notes_of(const char *text)
{
    double   x;
    unsigned notes = 99;
    assert_int_equal(cri_scan_double(text, text + strlen(text), &x, &notes), strlen(text));
    return notes;
}

TEST(how_it_was_written)
{
    assert_int_equal(notes_of("-12"), CRI_NUMBER_WHOLE);
    assert_int_equal(notes_of("007"), CRI_NUMBER_WHOLE);
    assert_int_equal(notes_of("12345678901234567890123"), CRI_NUMBER_WHOLE);
    assert_int_equal(notes_of("12."), 0);
    assert_int_equal(notes_of("1e2"), 0);
    assert_int_equal(notes_of("1e999"), CRI_NUMBER_OVERFLOW);
    assert_int_equal(notes_of("inf"), 0);
    assert_int_equal(notes_of("nan"), 0);
    const char *big = "1e999", *word = "-inf";
    assert_true(cri_is_overflow(big, big + 5));
    assert_false(cri_is_overflow(word, word + 4));
}

/* --- printing -------------------------------------------------------------------------------- */

static int significant_digits(const char *text)
{
    char digits[64];
    int  n = 0, first = 0;
    for (; *text && *text != 'e'; text++)
        if (*text >= '0' && *text <= '9') digits[n++] = *text;
    while (first < n && digits[first] == '0') first++;
    while (n > first && digits[n - 1] == '0') n--;
    return n - first;
}

/* Reads back to the same bits; no text with fewer digits does; of those with as many, it is the
 * one that printf's exact rounding gives (the nearest), if that reads back at all. */
static void check_print(double x)
{
    char   text[CRI_DOUBLE_SIZE], other[64];
    size_t n = cri_print_double(x, text);
    assert_int_equal(n, strlen(text));
    if (bits_of(strtod(text, NULL)) != bits_of(x)) fail_msg("%.17g is printed as %s", x, text);
    int digits = significant_digits(text);
    if (digits > 1) {
        snprintf(other, sizeof other, "%.*e", digits - 2, x);
        if (strtod(other, NULL) == x) fail_msg("%s is longer than %s", text, other);
    }
    snprintf(other, sizeof other, "%.*e", digits > 0 ? digits - 1 : 0, x);
    char again[64];
    snprintf(again, sizeof again, "%.*e", digits > 0 ? digits - 1 : 0, strtod(text, NULL));
    if (strtod(other, NULL) == x) assert_string_equal(other, again);
}

/* The first `n` characters of the text are one number, also with much text behind them: readers then
 * take eight characters at a time. */
static void check_in_text(const char *number, char behind)
{
    char     text[96];
    double   wanted = strtod(number, NULL), got = -77;
    unsigned notes = 77;
    size_t   n = strlen(number);
    snprintf(text, sizeof text, "%s%c1234567,8.5,9e9,0123456789,x", number, behind);
    size_t took = cri_scan_double(text, text + strlen(text), &got, &notes);
    if (took != n || bits_of(got) != bits_of(wanted))
        fail_msg("%s: took %zu, got %.17g instead of %.17g", text, took, got, wanted);
    assert_int_equal(notes, strpbrk(number, ".eE") ? 0 : CRI_NUMBER_WHOLE);
}

/* Every split of up to nine digits on either side of the point, before every byte that is no part of
 * a number, also those that the arithmetic on eight bytes could take for digits. */
TEST(numbers_inside_text)
{
    static const char behind[] = ",;|\t\n /:\x01\x7f\x80\xb0\xb9\xba\xff*x", *const sign[] = {
        "", "-", "+"
    };
    for (size_t i = 0; i < 300000; i++) {
        int  whole = (int)(i % 10), places = (int)(i / 10 % 11) - 1;
        char digits[24], number[40];
        snprintf(digits, sizeof digits, "%020llu", (unsigned long long)random_u64());
        if (whole + places <= 0) continue;
        snprintf(number, sizeof number, "%s%.*s%s%.*s", sign[i % 3], whole, digits,
                 places < 0 ? "" : ".", places < 0 ? 0 : places, digits + 9);
        check_in_text(number, behind[i / 110 % (sizeof behind - 1)]);
    }
    check_in_text("1e5", ',');
    check_in_text("1.5E-3", ',');
    check_in_text("-0", ',');
    check_in_text("-0.0", ',');
}

TEST(print_is_shortest_and_exact)
{
    for (int i = 0; i < 40000; i++) {
        check_print(random_double());
        check_print((double)(int64_t)random_u64() / (double)(1 + random_u64() % 1000000));
        check_print((double)(int)(random_u64() % 2000001 - 1000000) / 1000);
        check_print(of_bits(random_u64() >> 12 >> i % 52));
    }
    for (int e = -1074; e < 1024; e++) { /* the uneven neighbours of powers of two */
        check_print(ldexp(1, e));
        check_print(-nextafter(ldexp(1, e), 0));
        check_print(nextafter(ldexp(1, e), INFINITY));
    }
    for (int e = -323; e <= 308; e++) {
        char text[16];
        snprintf(text, sizeof text, "1e%d", e);
        check_print(strtod(text, NULL));
    }
}

static void check_printed(double x, const char *wanted)
{
    char text[CRI_DOUBLE_SIZE];
    assert_int_equal(cri_print_double(x, text), strlen(wanted));
    assert_string_equal(text, wanted);
}

TEST(print_forms)
{
    check_printed(0, "0"), check_printed(-0.0, "-0"), check_printed(3, "3");
    check_printed(-1500, "-1500"), check_printed(0.1, "0.1"), check_printed(0.5, "0.5");
    check_printed(1e-4, "0.0001"), check_printed(1.25e-4, "0.000125"), check_printed(1e-5, "1e-05");
    check_printed(1.5e-7, "1.5e-07"), check_printed(1e16, "10000000000000000");
    check_printed(1e17, "1e+17"), check_printed(123456789012345680., "1.2345678901234568e+17");
    check_printed(1.0 / 3, "0.3333333333333333"), check_printed(NAN, "nan");
    check_printed(-NAN, "nan"), check_printed(INFINITY, "inf"), check_printed(-INFINITY, "-inf");
    check_printed(DBL_MAX, "1.7976931348623157e+308"), check_printed(5e-324, "5e-324");
    check_printed(-DBL_MIN, "-2.2250738585072014e-308"), check_printed(0x1p53, "9007199254740992");
}

/* Against the printed digits, which are checked above. */
TEST(digits_that_are_kept)
{
    const struct {
        const char *text;
        bool        kept;
    } cases[] = { { "9007199254740992", true },
                  { "-9007199254740992", true },
                  { "9007199254740993", false },
                  { "9007199254740994", true },
                  { "-9007199254740995", false },
                  { "1152921504606846976", false }, /* 2^60 is printed as 1.152921504606847e+18 */
                  { "1152921504606847000", true },
                  { "+00010000000000000000000", true },
                  { "10000000000000000000001", false },
                  { "1.234.567.890.123.456.789", false },
                  { "1.234.567.890.123.456.800", true },
                  { "123456789012345678901234567890123456789", false },
                  { "0", true },
                  { "123", true } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char   digits[64];
        size_t n = 0;
        for (const char *p = cases[i].text; *p; p++)
            if (*p != '.') digits[n++] = *p;
        digits[n] = '\0';
        double x = strtod(digits, NULL);
        if (cri_keeps_digits(cases[i].text, cases[i].text + strlen(cases[i].text), x) !=
            cases[i].kept)
            fail_msg("%s", cases[i].text);
    }
}

/* A locale with a decimal comma changes nothing, where one is installed. */
TEST(locale_does_not_matter)
{
    const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8" };
    for (size_t i = 0; i < 3; i++)
        if (setlocale(LC_ALL, names[i])) break;
    double      x = 0;
    const char *text = "1.5";
    assert_int_equal(cri_parse_double(text, text + 3, &x), 3);
    assert_true(x == 1.5);
    check_printed(1.5, "1.5");
    setlocale(LC_ALL, "C");
}

/* A field behind which other bytes stand, as the next field does in a file. */
static bool scan_field(const char *text, double *out, bool *whole)
{
    char buffer[128];
    memset(buffer, '7', sizeof buffer);
    memcpy(buffer, text, strlen(text));
    return cri_scan_field(buffer, buffer + strlen(text), out, whole);
}

TEST(fields_as_strtod)
{
    char text[64];
    for (int i = 0; i < 400000; i++) {
        double x = 0;
        bool   whole = i % 2, taken;
        if (i % 4 == 0) /* a sign, up to 7 digits, a point, and up to 19 digits in all */
            snprintf(text, sizeof text, "%s%.*f", i % 3 ? "" : "-", (int)(random_u64() % 12),
                     (double)(random_u64() >> (random_u64() % 23 + 41)) / 1024);
        else if (i % 4 == 1)
            snprintf(text, sizeof text, "%s0.%0*llu", i % 3 ? "" : "-",
                     (int)(random_u64() % 17) + 1,
                     (unsigned long long)(random_u64() % 100000000000000000u));
        else
            snprintf(text, sizeof text, "%lld",
                     (long long)random_u64() >> (random_u64() % 28 + 36));
        size_t length = strlen(text) - (text[0] == '-');
        taken = scan_field(text, &x, &whole);
        if (!taken && (length <= 8 || (strchr(text, '.') && strcspn(text, ".") <= 7)))
            fail_msg("%s is not taken", text);
        if (taken && (bits_of(x) != bits_of(strtod(text, NULL)) || whole != !strchr(text, '.')))
            fail_msg("%s: got %.17g, whole: %d", text, x, whole);
    }
}

/* What is not a plain number is left to cri_scan_double, whatever byte makes it so. */
TEST(fields_that_are_not_plain)
{
    static const char *const plain[] = {
        "5",        "-5",       "12.5",        "-0.25",       "12345678",
        "1234.567", "-999.999", "0.123456789", "123.4567890", "-0.12345678901234567"
    };
    static const char *const odd[] = { "",
                                       "-",
                                       ".",
                                       "-.",
                                       "1.2.3",
                                       "..",
                                       "1e5",
                                       "0.1e-5",
                                       "--1",
                                       "1-",
                                       "+1",
                                       "0.123456789.1",
                                       "1234567890123.12345678",
                                       "9.9999999999999999999",
                                       "12.345678901234567890123" };
    double                   x;
    bool                     whole;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        char text[32];
        assert_true(scan_field(plain[i], &x, &whole));
        for (size_t at = 0; plain[i][at]; at++)
            for (int byte = 1; byte < 256; byte++) {
                strcpy(text, plain[i]);
                text[at] = (char)byte;
                bool   digit = byte >= '0' && byte <= '9', same = text[at] == plain[i][at];
                bool   point = byte == '.', minus = byte == '-' && at == 0;
                double wanted = strtod(text, NULL);
                if (digit || same || point || minus) {
                    if (scan_field(text, &x, &whole)) assert_int_equal(bits_of(x), bits_of(wanted));
                } else
                    assert_false(scan_field(text, &x, &whole));
            }
    }
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        assert_false(scan_field(odd[i], &x, &whole));
}
