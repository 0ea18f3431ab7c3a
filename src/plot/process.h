/* process.h -- the figures that look inside a model: parts of a sum, maps over two columns, the
 * evidence over two hyper-parameters.  (Internal header.) */
#ifndef CREDENCE_PLOT_PROCESS_H
#define CREDENCE_PLOT_PROCESS_H

#include "kinds.h"
#include "map.h"

enum { CRI_MOST_PARTS = 8 };

/* The parts of a model's function, one chart each over the column that it looks at. */
typedef struct cri_parts {
    const char *title, *description, *caption[2];
    cri_chart   chart[CRI_MOST_PARTS];
    size_t      n;
    bool        shared;   /* all over the same column                     */
    double      constant; /* of the mean function; NaN where it has none */
} cri_parts;

/* Fills it; its arrays are the scratch's.  Fails with CR_EUNSUPPORTED for a model without parts. */
cr_status cri_parts_new(cr_scratch *s, const cr_model *model, const cr_table *table,
                        const cr_plot_options *options, cri_parts *out_parts);
/* Draws to a file. */
cr_status cri_parts_svg(cr_ctx *cx, const cri_parts *parts, const char *path);
/* Draws each part into width x height characters; the text is the scratch's. */
cr_status cri_parts_text(cr_scratch *s, const cri_parts *parts, size_t width, size_t height,
                         const char **out_text);

/* Mean and sd, or the probability and entropy of classes, of a model of two columns of numbers over
 * the plane. */
cr_status cri_heat_map(cr_scratch *s, const cr_model *model, const cr_table *table,
                       const cr_plot_options *options, cri_maps *out_maps);
/* The log evidence over two hyper-parameters, the others as learned. */
cr_status cri_evidence_map(cr_scratch *s, const cr_model *model, const cr_table *table,
                           const cr_plot_options *options, cri_maps *out_maps);

#endif
