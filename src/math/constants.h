/* constants.h -- numbers that <math.h> has no name for.  (Internal header.) */
#ifndef CREDENCE_MATH_CONSTANTS_H
#define CREDENCE_MATH_CONSTANTS_H

#define CRI_LOG_2PI 1.8378770664093454836
#define CRI_HALF_LOG_2PI 0.91893853320467274178
#define CRI_SQRT_2PI 2.5066282746310005024
#define CRI_Z95 1.959963984540054 /* sds of a normal that hold 95 % of it, either way */

#endif
