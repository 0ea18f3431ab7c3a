/* topics_prior.c -- sums of digamma and log gamma differences over many counts, by how often each count occurs.
 *   psi(n + a) - psi(a) = sum_(i < n) 1 / (a + i),   lnG(n + a) - lnG(a) = sum_(i < n) log(a + i)
 * so that over a tally of counts both are one sum over i, weighted by how many counts are above i: O(largest count).
 * Wallach (2008), Structured topic models for language, sec. 2.3. */
#include "topics.h"

#include <math.h>

double cri_tally_digamma(const cri_tally *t, double a)
{
    double above = 0, sum = 0;
    for (size_t i = t->most; i > 0; i--) {
        above += t->at[i];
        sum += above / (a + (double)(i - 1));
    }
    return sum;
}

double cri_tally_lgamma(const cri_tally *t, double a)
{
    double above = 0, sum = 0;
    for (size_t i = t->most; i > 0; i--) {
        above += t->at[i];
        if (above > 0) sum += above * log(a + (double)(i - 1));
    }
    return sum;
}
