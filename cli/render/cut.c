/* cut.c -- long tables on a terminal: some rows, and how to see the others.  Pipes and files get every row. */
#include "../cli.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 30, SPARED = 5 }; /* shown; a table that has only a few more is not cut */

static bool is_cut(const cli *c, const cri_sheet *rows)
{
    return c->format == FORMAT_TEXT && c->terminal && !c->global.all &&
           cri_sheet_size(rows) > MOST_ROWS + SPARED;
}

void out_some_rows(cli *c, const cri_sheet *rows)
{
    if (!is_cut(c, rows)) {
        out_rows(c, rows);
        return;
    }
    cri_sheet       *s = cri_sheet_new(c->cx), *some = cri_put_list(s, "rows");
    const cri_sheet *row = cri_sheet_first(rows);
    for (size_t i = 0; row && i < MOST_ROWS; i++, row = cri_sheet_next(row))
        cri_put_copy(some, NULL, row);
    if (cri_sheet_status(s) != CR_OK) out_fail(c, CR_ENOMEM);
    out_rows(c, some);
    out_text(c, "  ... %zu more: --all shows them, --format csv writes them\n",
             cri_sheet_size(rows) - MOST_ROWS);
    cri_sheet_free(s);
}

/* --- terms ----------------------------------------------------------------------------------- */

typedef struct term {
    double           size; /* less the size: the largest come first */
    size_t           place;
    const cri_sheet *row;
} term;

CRI_COMPARE_BY_TWO(by_size, term, size, place);

static bool is_intercept(const cri_sheet *row)
{
    const char *name = cri_sheet_text(cri_sheet_get(row, "name"));
    const char *colon = name ? strrchr(name, ':') : NULL;
    return name && strcmp(colon ? colon + 1 : name, "intercept") == 0;
}

/* By how much of its own error a coefficient is away from 0, or by how much, where it has none. */
static double size_of(const cri_sheet *row)
{
    double value = cri_sheet_real(cri_sheet_get(row, "value"));
    double sd = cri_sheet_real(cri_sheet_get(row, "sd"));
    if (isnan(value)) return 0;
    return sd > 0 ? fabs(value) / sd : fabs(value);
}

void out_terms(cli *c, const cri_sheet *rows)
{
    if (!is_cut(c, rows)) {
        out_rows(c, rows);
        return;
    }
    size_t     n = cri_sheet_size(rows), zeros = 0, shown = 0, i = 0;
    term      *terms = cli_allocate(n * sizeof *terms);
    cri_sheet *s = cri_sheet_new(c->cx), *some = cri_put_list(s, "rows");
    bool       errors = false;
    for (const cri_sheet *row = cri_sheet_first(rows); row; row = cri_sheet_next(row), i++) {
        double size = size_of(row);
        terms[i] = (term){ is_intercept(row) ? -INFINITY : -size, i, row };
        zeros += size == 0 && !is_intercept(row);
        errors |= cri_sheet_real(cri_sheet_get(row, "sd")) > 0;
    }
    qsort(terms, n, sizeof *terms, by_size);
    for (; shown < MOST_ROWS && terms[shown].size < 0; shown++)
        cri_put_copy(some, NULL, terms[shown].row);
    if (cri_sheet_status(s) != CR_OK) out_fail(c, CR_ENOMEM);
    out_rows(c, some);
    out_text(c, "  ... %zu more of %zu terms", n - shown, n);
    if (zeros > 0) out_text(c, ", %zu of them 0", zeros);
    out_text(c, " (largest |%s| first): --all shows them, --format csv writes them\n",
             errors ? "value / sd" : "value");
    free(terms);
    cri_sheet_free(s);
}
