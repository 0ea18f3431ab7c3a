/* dense_copy.c -- transposes and mirror images, square by square. */
#include "dense_internal.h"

#include <math.h>

enum { SQUARE = 32 }; /* 2 x 8 KiB: both squares fit in the nearest cache */

static size_t end_of(size_t begin, size_t end)
{
    return end - begin > SQUARE ? begin + SQUARE : end;
}

void cri_transpose(cr_cmat A, cr_mat out)
{
    for (size_t i0 = 0; i0 < A.rows; i0 += SQUARE)
        for (size_t j0 = 0; j0 < A.cols; j0 += SQUARE)
            for (size_t j = j0; j < end_of(j0, A.cols); j++)
                for (size_t i = i0; i < end_of(i0, A.rows); i++)
                    out.a[j * out.stride + i] = A.a[i * A.stride + j];
}

/* Runs over the entries i > j of rows x cols in squares; up: copies (i, j) to (j, i), else back. */
static inline void mirror(cr_mat C, cri_range rows, cri_range cols, bool up)
{
    for (size_t i0 = rows.begin; i0 < rows.end; i0 += SQUARE)
        for (size_t j0 = cols.begin; j0 < cols.end && j0 < end_of(i0, rows.end); j0 += SQUARE)
            for (size_t i = i0; i < end_of(i0, rows.end); i++)
                for (size_t j = j0; j < end_of(j0, cols.end) && j < i; j++) {
                    double *lower = C.a + i * C.stride + j, *upper = C.a + j * C.stride + i;
                    if (up)
                        *upper = *lower;
                    else
                        *lower = *upper;
                }
}

void cri_mirror_lower(cr_mat C, cri_range rows, cri_range cols) { mirror(C, rows, cols, true); }
void cri_mirror_upper(cr_mat C, cri_range rows, cri_range cols) { mirror(C, rows, cols, false); }

bool cri_find_non_finite(cr_cmat A, bool lower, size_t *out_i, size_t *out_j)
{
    for (size_t i = 0; i < A.rows; i++) {
        size_t        end = lower && i + 1 < A.cols ? i + 1 : A.cols;
        const double *row = A.a + i * A.stride;
        double        zero = 0; /* x * 0 is 0 for finite x alone: one quick pass, then look */
        for (size_t j = 0; j < end; j++) zero += row[j] * 0;
        for (size_t j = 0; zero != 0 && j < end; j++)
            if (!isfinite(row[j])) {
                *out_i = i, *out_j = j;
                return true;
            }
    }
    return false;
}
