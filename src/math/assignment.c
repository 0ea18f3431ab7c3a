/* assignment.c -- the assignment problem by shortest augmenting paths. */
#include "assignment.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

/* Rows and columns count from 1; column 0 is where the row that looks for a column waits. */
typedef struct matching {
    const double *cost;
    size_t        k;
    size_t       *row_of,
        *before; /* [k + 1] of each column: its row, 0 for none; the column before it on the path */
    double *row_price, *column_price, *least; /* [k + 1] */
    bool   *reached;                          /* [k + 1] columns */
} matching;

/* The nearest column that is not reached yet from those that are, by reduced costs; prices keep these from falling
 * below 0. */
static size_t extend(matching *a, size_t from)
{
    size_t row = a->row_of[from], nearest = 0;
    double step = INFINITY;
    a->reached[from] = true;
    for (size_t j = 1; j <= a->k; j++) {
        if (a->reached[j]) continue;
        double reduced = a->cost[(row - 1) * a->k + j - 1] - a->row_price[row] - a->column_price[j];
        if (reduced < a->least[j]) a->least[j] = reduced, a->before[j] = from;
        if (a->least[j] < step) step = a->least[j], nearest = j;
    }
    for (size_t j = 0; j <= a->k; j++)
        if (a->reached[j])
            a->row_price[a->row_of[j]] += step, a->column_price[j] -= step;
        else
            a->least[j] -= step;
    return nearest;
}

cr_status cri_assign(cr_ctx *cx, const double *cost, size_t k, size_t *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    matching   a = { .cost = cost, .k = k };

    a.row_of = cr_scratch_bytes(&s, k + 1, sizeof *a.row_of);
    a.before = cr_scratch_bytes(&s, k + 1, sizeof *a.before);
    a.row_price = cr_scratch_bytes(&s, k + 1, sizeof(double));
    a.column_price = cr_scratch_bytes(&s, k + 1, sizeof(double));
    a.least = cr_scratch_f64(&s, k + 1);
    a.reached = cr_scratch_bytes(&s, k + 1, sizeof(bool));
    CR_TRY(s.status);
    for (size_t row = 1; row <= k; row++) {
        size_t column = 0;
        a.row_of[0] = row;
        for (size_t j = 0; j <= k; j++) a.least[j] = INFINITY, a.reached[j] = false;
        do column = extend(&a, column);
        while (a.row_of[column] != 0);
        for (; column != 0; column = a.before[column])
            a.row_of[column] = a.row_of[a.before[column]];
    }
    for (size_t j = 1; j <= k; j++) out[a.row_of[j] - 1] = j - 1;
done:
    cr_scratch_end(&s);
    return st;
}
