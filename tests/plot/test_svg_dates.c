/* test_svg_dates.c -- ticks of an axis of dates: inside, increasing, few enough, at round places, and
 * labelled by what the calendar says of them. */
#include "support.h"
#include "base/rng.h"
#include "data/table/date.h"
#include "plot/svg.h"

#include <math.h>

static const char *labels_of(cr_type type, const char *low, const char *high, size_t most)
{
    static char  text[1024];
    cri_svg_tick ticks[CRI_SVG_MOST_TICKS];
    double       a, b;
    bool         day = cri_date_read(low, &a) == CRI_DATE_DAY;
    assert_true(cri_date_read(high, &b) >= CRI_DATE_DAY);
    if (type == CR_DATETIME && day) a *= 86400, b *= 86400;
    size_t n = cri_svg_date_ticks(type, a, b, most, ticks);
    text[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        if (i) strcat(text, " ");
        strcat(text, ticks[i].label);
    }
    return text;
}

TEST(labels)
{
    assert_string_equal(labels_of(CR_DATE, "1957-01-23", "1999-09-08", 10),
                        "1960 1965 1970 1975 1980 1985 1990 1995");
    assert_string_equal(labels_of(CR_DATE, "1990-01-01", "1993-06-01", 8),
                        "1990-01 1990-07 1991-01 1991-07 1992-01 1992-07 1993-01");
    assert_string_equal(labels_of(CR_DATE, "2023-01-31", "2023-02-03", 6),
                        "2023-01-31 2023-02-01 2023-02-02 2023-02-03");
    assert_string_equal(labels_of(CR_DATE, "2023-01-01", "2023-02-15", 8),
                        "2023-01-02 2023-01-09 2023-01-16 2023-01-23 2023-01-30 2023-02-06 "
                        "2023-02-13"); /* Mondays */
    assert_string_equal(labels_of(CR_DATETIME, "2023-01-31T10:00:00", "2023-02-01T13:00:00", 6),
                        "12:00 18:00 02-01 06:00 12:00");
    assert_string_equal(labels_of(CR_DATETIME, "2023-01-31T10:00:05", "2023-01-31T10:00:50", 4),
                        "10:00:15 10:00:30 10:00:45");
    assert_string_equal(labels_of(CR_DATETIME, "2023-01-01", "2025-01-01", 4), "2023 2024 2025");
}

/* Any interval, from seconds to thousands of years. */
TEST(laws)
{
    cr_rng r = cr_rng_stream(7, 1);
    for (size_t k = 0; k < 5000; k++) {
        cr_type      type = k % 2 ? CR_DATE : CR_DATETIME;
        double       unit = type == CR_DATE ? 1 : 86400;
        double       low = unit * (100000 * cr_rng_normal(&r));
        double       high = low + unit * pow(10, 10 * cr_rng_uniform(&r) - 4);
        size_t       most = 2 + k % (CRI_SVG_MOST_TICKS - 1);
        cri_svg_tick t[CRI_SVG_MOST_TICKS];
        size_t       n = cri_svg_date_ticks(type, low, high, most, t);
        assert_true(n >= 1 && n <= most);
        for (size_t i = 0; i < n; i++) {
            double slack = 1e-6 * (high - low);
            assert_true(t[i].value >= low - slack && t[i].value <= high + slack);
            assert_true(i == 0 || t[i].value > t[i - 1].value);
            assert_true(t[i].label[0] != '\0');
        }
    }
}
