/* coordinates.h -- the names z1, z2, ... of coordinates, and what a fit reports of each: the same for all
 * classes that have them.  (Internal header.) */
#ifndef CREDENCE_MODELS_COMMON_COORDINATES_H
#define CREDENCE_MODELS_COMMON_COORDINATES_H

#include "base/sheet.h"

typedef struct cri_coordinates {
    size_t       q;
    char        *text;  /* [q x name size] */
    const char **names; /* [q]             */
} cri_coordinates;

/* Fails with CR_ENOMEM; what was made is freed by cri_coordinates_free in any case. */
cr_status cri_coordinates_name(cr_ctx *cx, size_t q, cri_coordinates *out);
/* The names h1, h2, ... of hidden units, and 1, 2, ... of clusters, likewise. */
cr_status cri_units_name(cr_ctx *cx, size_t q, cri_coordinates *out);
cr_status cri_clusters_name(cr_ctx *cx, size_t k, cri_coordinates *out);
/* The names PREFIX1, PREFIX2, ..., likewise; the prefix is short. */
cr_status cri_numbered_names(cr_ctx *cx, const char *prefix, size_t q, cri_coordinates *out);
void      cri_coordinates_free(cr_ctx *cx, cri_coordinates *c);

/* Puts eigenvalue(zj) and share(zj), its part of `total`, for each coordinate; returns the sum of the shares. */
double cri_coordinates_describe(const cri_coordinates *c, const double *eigenvalue, double total,
                                cri_sheet *statistics);

/* Points of a plane from coordinates Z [n x q] in it: out = centre + scale Z V, V [q x p], each at distance 0. */
typedef struct cri_plane {
    size_t        q, p;
    const double *V, *centre, *scale; /* [q x p], [p], [p] */
} cri_plane;
cr_status cri_plane_points(cr_ctx *cx, const cri_plane *plane, const double *Z, size_t n,
                           double *out, double *distance);

#endif
