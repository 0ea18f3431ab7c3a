/* transform.h -- rising functions z = g(y) that make a positive or bounded number more nearly normal:
 *   log      log y                    y > 0
 *   sqrt     sqrt(y)                  y > 0
 *   logit    log(y / (1 - y))         0 < y < 1
 *   boxcox   (y^lambda - 1) / lambda  y > 0; log y for lambda = 0
 * The density of y is that of z times g'(y).  Values of z that no y has, below those of the smallest one or above
 * those of the largest, lead back to the end of the range of y.
 * Box & Cox (1964), J. R. Statist. Soc. B 26:211-252.  (Internal header.) */
#ifndef CREDENCE_MATH_TRANSFORM_H
#define CREDENCE_MATH_TRANSFORM_H

#include <stdbool.h>

typedef enum cri_transform_kind {
    CRI_TRANSFORM_NONE,
    CRI_TRANSFORM_LOG,
    CRI_TRANSFORM_SQRT,
    CRI_TRANSFORM_LOGIT,
    CRI_TRANSFORM_BOXCOX,
    CRI_TRANSFORM_KINDS
} cri_transform_kind;

typedef struct cri_transform {
    cri_transform_kind kind;
    double             lambda; /* of boxcox */
} cri_transform;

/* "none", "log", ... */
const char *cri_transform_name(cri_transform_kind kind);
/* true when g is defined at y. */
bool cri_transform_takes(cri_transform t, double y);
/* g(y), of a y that it takes. */
double cri_transform_forward(cri_transform t, double y);
/* The y of z; of any z. */
double cri_transform_back(cri_transform t, double z);
/* log g'(y), of a y that it takes. */
double cri_transform_log_slope(cri_transform t, double y);

#endif
