/* test_array.c -- the two least of an array, against a sort of it. */
#include "support.h"

#include "base/rng.h"
#include "math/kernel/array.h"

#include <math.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void check_least_two(const double *v, size_t n)
{
    double sorted[80], least, next;
    size_t at = cri_least_two(v, n, &least, &next), first = 0;
    for (size_t i = 0; i < n; i++) sorted[i] = v[i];
    qsort(sorted, n, sizeof *sorted, compare);
    while (v[first] != sorted[0]) first++;
    assert_true(at == first);
    assert_true(least == sorted[0]);
    assert_true(n == 1 ? isinf(next) && next > 0 : next == sorted[1]);
}

/* Few values, so that many are equal; lengths that eight divides and that it does not. */
TEST(the_two_least_are_those_of_a_sort)
{
    cr_rng rng = cr_rng_stream(7, 0);
    for (size_t n = 1; n <= 70; n++)
        for (int t = 0; t < 40; t++) {
            double v[80];
            for (size_t i = 0; i < n; i++) {
                v[i] = cr_rng_normal(&rng);
                if (t % 2) v[i] = floor(2 * v[i]);
            }
            check_least_two(v, n);
        }
}

TEST(infinite_numbers_are_numbers)
{
    check_least_two((const double[]){ INFINITY, INFINITY, INFINITY }, 3);
    check_least_two((const double[]){ INFINITY, 3, INFINITY, -INFINITY, 3 }, 5);
}
