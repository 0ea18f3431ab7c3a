/* range.c -- bounds and choices from their text. */
#include "range.h"
#include "number.h"

#include <math.h>
#include <string.h>

static double parse_bound(const char *begin, const char *end)
{
    double x = 0;
    cri_parse_double(begin, end, &x);
    return x;
}

cri_bounds cri_bounds_parse(const char *text, size_t length)
{
    cri_bounds  r = { -INFINITY, INFINITY, false, false };
    const char *end = text + length, *dots = text;
    if (length == 0) return r;
    if (text[0] == '>') {
        r.open_low = text[1] != '=';
        r.low = parse_bound(text + 1 + !r.open_low, end);
        return r;
    }
    while (dots < end && strncmp(dots, "..", 2) != 0) dots++;
    r.open_low = dots > text && dots[-1] == '<';
    r.open_high = dots[2] == '<';
    r.low = parse_bound(text, dots - r.open_low);
    r.high = parse_bound(dots + 2 + r.open_high, end);
    return r;
}

bool cri_bounds_hold(cri_bounds r, double x)
{
    return (r.open_low ? x > r.low : x >= r.low) && (r.open_high ? x < r.high : x <= r.high);
}

int cri_choice_find(const char *choices, const char *value)
{
    size_t length = strlen(value);
    int    index = 0;
    for (const char *c = choices;; index++) {
        size_t n = strcspn(c, "|");
        if (n == length && strncmp(c, value, n) == 0) return index;
        if (!c[n]) return -1;
        c += n + 1;
    }
}

size_t cri_choice_text(const char *choices, int index, const char **out)
{
    while (index-- > 0) choices += strcspn(choices, "|") + 1;
    *out = choices;
    return strcspn(choices, "|");
}
