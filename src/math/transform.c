/* transform.c -- rising functions of a number, the way back, and their slopes. */
#include "transform.h"

#include <math.h>

const char *cri_transform_name(cri_transform_kind kind)
{
    static const char *const names[] = { "none", "log", "sqrt", "logit", "boxcox" };
    return names[kind];
}

bool cri_transform_takes(cri_transform t, double y)
{
    if (t.kind == CRI_TRANSFORM_NONE) return true;
    return y > 0 && (t.kind != CRI_TRANSFORM_LOGIT || y < 1) && isfinite(y);
}

double cri_transform_forward(cri_transform t, double y)
{
    switch (t.kind) {
    case CRI_TRANSFORM_LOG:
        return log(y);
    case CRI_TRANSFORM_SQRT:
        return sqrt(y);
    case CRI_TRANSFORM_LOGIT:
        return log(y) - log1p(-y);
    case CRI_TRANSFORM_BOXCOX: /* no cancellation near lambda = 0 */
        return t.lambda == 0 ? log(y) : expm1(t.lambda * log(y)) / t.lambda;
    default:
        return y;
    }
}

static double back_boxcox(double lambda, double z)
{
    if (lambda == 0) return exp(z);
    if (!(lambda * z > -1)) return isnan(z) ? (double)NAN : lambda > 0 ? 0 : (double)INFINITY;
    return exp(log1p(lambda * z) / lambda);
}

double cri_transform_back(cri_transform t, double z)
{
    switch (t.kind) {
    case CRI_TRANSFORM_LOG:
        return exp(z);
    case CRI_TRANSFORM_SQRT:
        return z < 0 ? 0 : z * z;
    case CRI_TRANSFORM_LOGIT:
        return z < 0 ? exp(z) / (1 + exp(z)) : 1 / (1 + exp(-z));
    case CRI_TRANSFORM_BOXCOX:
        return back_boxcox(t.lambda, z);
    default:
        return z;
    }
}

double cri_transform_log_slope(cri_transform t, double y)
{
    switch (t.kind) {
    case CRI_TRANSFORM_LOG:
        return -log(y);
    case CRI_TRANSFORM_SQRT:
        return -log(2) - 0.5 * log(y);
    case CRI_TRANSFORM_LOGIT:
        return -log(y) - log1p(-y);
    case CRI_TRANSFORM_BOXCOX:
        return (t.lambda - 1) * log(y);
    default:
        return 0;
    }
}
