/* range.c -- bounds from their text. */
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

cri_range_of cri_range_parse(const char *text, size_t length)
{
    cri_range_of r = { -INFINITY, INFINITY, false, false };
    const char  *end = text + length, *dots = text;
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

bool cri_range_holds(cri_range_of r, double x)
{
    return (r.open_low ? x > r.low : x >= r.low) && (r.open_high ? x < r.high : x <= r.high);
}
