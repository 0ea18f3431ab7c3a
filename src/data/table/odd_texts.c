/* odd_texts.c -- levels of a category that may be one, and texts that are times of day. */
#include "oddities.h"
#include "base/scratch.h"

#include <stdlib.h>
#include <string.h>

/* --- levels that are alike ------------------------------------------------------------------- */

static char small(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c; }

static size_t length_without_blanks(const char *text)
{
    size_t n = strlen(text);
    while (n > 0 && text[n - 1] == ' ') n--;
    return n;
}

/* Without blanks at the ends, and small and capital letters of ASCII the same. */
static int compare_alike(const char *a, const char *b)
{
    a += strspn(a, " ");
    b += strspn(b, " ");
    size_t n = length_without_blanks(a), m = length_without_blanks(b);
    for (size_t i = 0; i < n && i < m; i++)
        if (small(a[i]) != small(b[i])) return small(a[i]) < small(b[i]) ? -1 : 1;
    return (n > m) - (n < m);
}

static int compare_levels(const void *left, const void *right)
{
    const char *a = *(const char *const *)left, *b = *(const char *const *)right;
    int         by = compare_alike(a, b);
    return by ? by : strcmp(a, b);
}

cr_status cri_find_alike(cr_ctx *cx, const cr_column *c, const char **out_one,
                         const char **out_other)
{
    cr_scratch   s = cr_scratch_begin(cx);
    const char **sorted = cr_scratch_bytes(&s, c->n_levels, sizeof *sorted);
    cr_status    st = s.status;
    *out_one = *out_other = NULL;
    if (st == CR_OK && c->n_levels > 1) {
        memcpy(sorted, c->levels, c->n_levels * sizeof *sorted);
        qsort(sorted, c->n_levels, sizeof *sorted, compare_levels);
    }
    for (size_t k = 1; st == CR_OK && k < c->n_levels && !*out_one; k++)
        if (compare_alike(sorted[k - 1], sorted[k]) == 0)
            *out_one = sorted[k - 1], *out_other = sorted[k];
    cr_scratch_end(&s);
    return st;
}

/* --- times of day ---------------------------------------------------------------------------- */

/* Two digits, or one where that is allowed, below `most`; returns what is behind them, or NULL. */
static const char *skip_number(const char *text, bool short_too, int most)
{
    size_t n = strspn(text, "0123456789");
    if (n != 2 && !(short_too && n == 1)) return NULL;
    return atoi(text) < most ? text + n : NULL;
}

/* 9:15 and 09:15: "%H:%M"; 09:15:30 and 09:15:30.5: "%H:%M:%S"; else NULL. */
static const char *time_format(const char *text)
{
    const char *at = skip_number(text, true, 24);
    if (at && *at == ':')
        at = skip_number(at + 1, false, 60);
    else
        at = NULL;
    if (!at) return NULL;
    if (*at == '\0') return "%H:%M";
    at = *at == ':' ? skip_number(at + 1, false, 61) : NULL;
    if (at && *at == '.') at += 1 + strspn(at + 1, "0123456789");
    return at && *at == '\0' ? "%H:%M:%S" : NULL;
}

bool cri_are_times(const cr_column *c, const char **out_format, const char *out_two[2])
{
    const char *format = c->n_levels ? time_format(c->levels[0]) : NULL, *other = format;
    const char *two[2] = { NULL, NULL };
    for (size_t k = 1; other && k < c->n_levels; k++) {
        other = time_format(c->levels[k]);
        if (other && strcmp(other, format) != 0 && !two[0])
            two[0] = c->levels[0], two[1] = c->levels[k];
    }
    if (!other) return false;
    *out_format = two[0] ? NULL : format;
    out_two[0] = two[0], out_two[1] = two[1];
    return true;
}
