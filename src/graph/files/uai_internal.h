/* uai_internal.h -- lists of numbers, as the files of the UAI competitions are.  (Internal
 * header.) */
#ifndef CREDENCE_GRAPH_FILES_UAI_INTERNAL_H
#define CREDENCE_GRAPH_FILES_UAI_INTERNAL_H

#include "base/reader.h"

/* Goes over white space. */
void cri_uai_skip(cri_reader *r);
/* A number; fails (r->status) with what it should be. */
double cri_uai_number(cri_reader *r, const char *what);
/* A whole number below `limit`. */
size_t cri_uai_count(cri_reader *r, const char *what, double limit);

#endif
