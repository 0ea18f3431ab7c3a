/* boxes.h -- boxes for the functions of mgh.h, some of whose bounds hold the minimum off: every
 * third variable between start - 0.3 and start + 0.2, the next bounded below by start - 2 alone,
 * the third free (all scaled by max(1, |start|)). */
#ifndef CREDENCE_TEST_BOXES_H
#define CREDENCE_TEST_BOXES_H

#include "mgh.h"

static void mgh_box_of(const mgh_problem *p, double *lower, double *upper)
{
    for (size_t i = 0; i < p->n; i++) {
        double x = p->start[i], scale = fmax(1, fabs(x));
        lower[i] = i % 3 == 0 ? x - 0.3 * scale : i % 3 == 1 ? x - 2 * scale : -INFINITY;
        upper[i] = i % 3 == 0 ? x + 0.2 * scale : INFINITY;
    }
}

#endif
