/* json_plates.h -- variables that are repeated, in networks as JSON.
 *   "plates": {"student": 3, "course": ["logic", "latin"]},
 *   "variables": {"grade": {"plate": ["student", "course"], "parents": ["talent", "hard"], ...}}
 * stands for grade[student=1,course=logic], ..., which share their probabilities.  A parent in a plate is the one with
 * the same place in it; it may be in some of the plates of its child, and in no others; one in a particular place has its
 * full name.  (Internal header.) */
#ifndef CREDENCE_GRAPH_FILES_JSON_PLATES_H
#define CREDENCE_GRAPH_FILES_JSON_PLATES_H

#include "json_text.h"

enum { CRI_MOST_REPEATED = 100000 };

/* The variables with all repetitions, in place of `list`: values that are made know what they were made from, so that
 * failures show the place in the text.  It belongs to d, and is `list` itself where there are no plates.  CR_EDATA. */
cr_status cri_json_plates(cri_json *d, json_t *list, json_t **out_list);
/* Is this a name with a place in plates: grade[student=1,course=logic]? */
bool cri_json_is_repeated(const char *name);

#endif
