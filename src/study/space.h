/* space.h -- the settings that a search tries: dimensions read from text, points as settings.
 * (Internal header.) */
#ifndef CREDENCE_STUDY_SPACE_H
#define CREDENCE_STUDY_SPACE_H

#include "base/rng.h"
#include "base/scratch.h"
#include "models/core/model.h"

enum { CRI_MOST_POINTS = 1000000 };

typedef struct cri_dimension {
    char  *name;
    bool   range, logarithmic, whole; /* whole: a setting that counts */
    double low, high;                 /* of a range                   */
    size_t n;                         /* values on the grid           */
    char **values;                    /* [n] of a list                */
} cri_dimension;

typedef struct cri_space {
    size_t         n;
    cri_dimension *dimensions; /* in the arena that it was read into */
} cri_space;

/* Reads dimensions from a list of NAME=VALUES.  Fails with CR_EARG naming the item. */
cr_status cri_space_read(cr_scratch *s, const cr_model_class *model, const char *list,
                         cri_space *out_space);
/* How many points the grid has; CRI_MOST_POINTS + 1 when there are more than that. */
size_t cri_space_points(const cri_space *space);
/* Coordinate d of grid point i (the last dimension runs fastest), or of a random point, as text
 * that is freed by cri_string_free.  NULL on failure. */
char *cri_space_at(cr_ctx *cx, const cri_space *space, size_t i, size_t d);
char *cri_space_draw(cr_ctx *cx, const cri_space *space, cr_rng *r, size_t d);
/* How many points there are where every dimension is a list or a range of whole numbers drawn
 * alike; 0 where there are more than CRI_MOST_POINTS, or no end of them. */
size_t cri_space_count(const cri_space *space);
/* Coordinate d of the i-th of these, likewise. */
char *cri_space_pick(cr_ctx *cx, const cri_space *space, size_t i, size_t d);

#endif
