/* credence/dist.h -- distributions, the algebra of Gaussians, and information: of probabilities, of
 * distributions and in the columns of tables. */
#ifndef CREDENCE_DIST_H
#define CREDENCE_DIST_H

#include "../credence.h"

#include "../../src/prob/dist/dist.h"
#include "../../src/prob/dist/tail_integral.h"
#include "../../src/prob/gaussian/gaussian.h"
#include "../../src/prob/info.h"
#include "../../src/prob/info_source.h"

#include "../../src/study/info.h"
#include "../../src/study/info_report.h"
#include "../../src/study/mmd.h"

#endif
