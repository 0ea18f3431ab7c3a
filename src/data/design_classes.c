/* design_classes.c -- a target of numbers whose values name classes: 0 and 1, -1 and 1, 1 to 9. */
#include "design_internal.h"
#include "table_internal.h"
#include "../base/context_internal.h"
#include "../base/number.h"
#include "../base/scratch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CLASSES = 1000, SURELY_CLASSES = 20 };

const char *cri_level_text(const cr_column *c, double value, char *room)
{
    if (c->type == CR_BOOLEAN) return value != 0 ? "true" : "false";
    cri_print_double(value == 0 ? 0 : value, room); /* no class "-0" */
    return room;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The place of v among sorted numbers: of the first that is not below it. */
static size_t place_of(const double *x, size_t n, double v)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (x[middle] < v) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* The different values of a column, sorted, in x; their number, or MOST_CLASSES + 1 where there are
 * more than x [MOST_CLASSES] holds. */
static size_t different_values(const cr_column *c, size_t rows, double *x)
{
    size_t n = 0;
    for (size_t i = 0; i < rows; i++) {
        double v = c->values[i * c->stride];
        size_t at = place_of(x, n, v);
        if (isnan(v) || (at < n && x[at] == v)) continue;
        if (n == MOST_CLASSES) return n + 1;
        memmove(x + at + 1, x + at, (n - at) * sizeof *x);
        x[at] = v;
        n++;
    }
    return n;
}

cr_status cri_remember_classes(cr_ctx *cx, const cr_table *t, const cr_column *from,
                               cri_design_column *c)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     rows = cr_table_rows(t), n;
    double    *x = cr_scratch_f64(&s, MOST_CLASSES);
    char       room[CRI_DOUBLE_SIZE];

    CR_TRY(s.status);
    n = different_values(from, rows, x);
    if (n > MOST_CLASSES || (n > SURELY_CLASSES && n > rows / 4)) {
        cr_fail(cx, CR_EDATA,
                "%s: the target '%s' has %zu%s different numbers in %zu rows, too many for classes",
                cr_table_source(t), from->name, n - (n > MOST_CLASSES),
                n > MOST_CLASSES ? " and more" : "", rows);
        CR_TRY(cr_fail_hint(cx, "a model of regression predicts numbers; to take them as classes "
                                "all the same, say --category %s", from->name));
    }
    c->type = CR_CATEGORY;
    c->reference = CRI_NO_LEVEL;
    c->name = cri_string_copy(cx, from->name);
    c->levels = cr_alloc(cx, n, sizeof *c->levels);
    if (c->levels) c->n_levels = n; /* it is freed by this number */
    if (!c->name || !c->levels) CR_TRY(CR_ENOMEM);
    for (size_t k = 0; k < n; k++) {
        c->levels[k] = cri_string_copy(cx, cri_level_text(from, x[k], room));
        if (!c->levels[k]) CR_TRY(CR_ENOMEM);
    }
    if (n > 0) qsort(c->levels, n, sizeof *c->levels, compare_texts);
done:
    cr_scratch_end(&s);
    return st;
}
