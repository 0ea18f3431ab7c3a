/* number.c -- numbers to and from text. */
#include "number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t cri_parse_double(const char *begin, const char *end, double *out)
{
    char   text[128];
    size_t n = (size_t)(end - begin);
    if (n == 0 || n >= sizeof text) return 0;
    memcpy(text, begin, n);
    text[n] = '\0';
    if (strchr(" \t\n\r\v\f", text[0]) || strpbrk(text, "xXpP(")) return 0;
    char *stop;
    *out = strtod(text, &stop);
    return (size_t)(stop - text);
}

bool cri_is_overflow(const char *begin, const char *end)
{
    for (; begin < end; begin++)
        if (*begin >= '0' && *begin <= '9') return true;
    return false;
}

size_t cri_print_double(double x, char out[CRI_DOUBLE_SIZE])
{
    int n = 0;
    for (int digits = 15; digits <= 17; digits++) {
        n = snprintf(out, CRI_DOUBLE_SIZE, "%.*g", digits, x);
        if (strtod(out, NULL) == x) break;
    }
    return (size_t)n;
}
