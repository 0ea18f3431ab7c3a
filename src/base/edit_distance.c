/* edit_distance.c -- how far apart two names are, to suggest the one that was meant.
 * Optimal string alignment distance (Damerau 1964; Wagner & Fischer 1974), O(|a| |b|). */
#include "context_internal.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST = 64 }; /* names beyond this are not worth a guess */

static double min3(double a, double b, double c)
{
    double m = a < b ? a : b;
    return m < c ? m : c;
}

static double replace_cost(char a, char b)
{
    if (a == b) return 0;
    return tolower((unsigned char)a) == tolower((unsigned char)b) ? 0.5 : 1;
}

double cri_edit_distance(const char *a, const char *b, double most)
{
    size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST || m > LONGEST) return strcmp(a, b) == 0 ? 0 : most;

    double  rows[3][LONGEST + 1]; /* rows i-2, i-1, i of the table */
    double *before = rows[0], *above = rows[1], *row = rows[2];
    for (size_t j = 0; j <= m; j++) above[j] = before[j] = (double)j;
    for (size_t i = 1; i <= n; i++) {
        row[0] = (double)i;
        for (size_t j = 1; j <= m; j++) {
            row[j] =
                min3(above[j] + 1, row[j - 1] + 1, above[j - 1] + replace_cost(a[i - 1], b[j - 1]));
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && before[j - 2] + 1 < row[j]) row[j] = before[j - 2] + 1;
        }
        double *spare = before;
        before = above, above = row, row = spare;
    }
    return above[m] < most ? above[m] : most;
}
