/* coordinates.c -- names of coordinates, their shares, and the way back from them. */
#include "coordinates.h"
#include "math/dense/dense.h"

#include <stdio.h>

enum { NAME_SIZE = 24 };

cr_status cri_numbered_names(cr_ctx *cx, const char *prefix, size_t q, cri_coordinates *out)
{
    out->q = q;
    out->text = cr_alloc(cx, q, NAME_SIZE);
    out->names = cr_alloc(cx, q, sizeof *out->names);
    if (!out->text || !out->names) return CR_ENOMEM;
    for (size_t j = 0; j < q; j++) {
        snprintf(out->text + j * NAME_SIZE, NAME_SIZE, "%s%zu", prefix, j + 1);
        out->names[j] = out->text + j * NAME_SIZE;
    }
    return CR_OK;
}

cr_status cri_coordinates_name(cr_ctx *cx, size_t q, cri_coordinates *out)
{
    return cri_numbered_names(cx, "z", q, out);
}

cr_status cri_units_name(cr_ctx *cx, size_t q, cri_coordinates *out)
{
    return cri_numbered_names(cx, "h", q, out);
}

cr_status cri_clusters_name(cr_ctx *cx, size_t k, cri_coordinates *out)
{
    return cri_numbered_names(cx, "", k, out);
}

void cri_coordinates_free(cr_ctx *cx, cri_coordinates *c)
{
    cr_free(cx, c->text, c->q, NAME_SIZE);
    cr_free(cx, c->names, c->q, sizeof *c->names);
    *c = (cri_coordinates){ 0 };
}

double cri_coordinates_describe(const cri_coordinates *c, const double *eigenvalue, double total,
                                cri_sheet *statistics)
{
    double explained = 0;
    char   name[64];
    for (size_t j = 0; j < c->q; j++) {
        double share = total > 0 ? eigenvalue[j] / total : 0;
        explained += share;
        snprintf(name, sizeof name, "eigenvalue(%s)", c->names[j]);
        cri_put_real(statistics, name, eigenvalue[j]);
        snprintf(name, sizeof name, "share(%s)", c->names[j]);
        cri_put_real(statistics, name, share);
    }
    return explained;
}

cr_status cri_plane_points(cr_ctx *cx, const cri_plane *a, const double *Z, size_t n, double *out,
                           double *distance)
{
    cr_status st = cr_gemm(cx, 1, cr_cmat_of(Z, n, a->q), CR_PLAIN, cr_cmat_of(a->V, a->q, a->p),
                           CR_PLAIN, 0, cr_mat_of(out, n, a->p));
    if (st != CR_OK) return st;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < a->p; j++)
            out[i * a->p + j] = a->centre[j] + a->scale[j] * out[i * a->p + j];
        distance[i] = 0;
    }
    return CR_OK;
}
