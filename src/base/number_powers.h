/* number_powers.h -- 5^q as 128-bit significands, for reading and printing doubles.
 * Row q - CRI_POWER_FIRST holds { high, low } words of g, 2^127 <= g < 2^128, with
 * 5^q = g * 2^e up to rounding: exact for 0 <= q <= 55, a little above for -27 <= q < 0, a little
 * below elsewhere (less than one unit of g either way).  The table is generated.
 * (Internal header.) */
#ifndef CREDENCE_BASE_NUMBER_POWERS_H
#define CREDENCE_BASE_NUMBER_POWERS_H

#include <stdint.h>

enum { CRI_POWER_FIRST = -342, CRI_POWER_LAST = 324 };

extern const uint64_t cri_powers_of_five[CRI_POWER_LAST - CRI_POWER_FIRST + 1][2];

#endif
