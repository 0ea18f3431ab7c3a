/* dist_plot.h -- the density of a distribution, drawn in the terminal or given as points. */
#ifndef CREDENCE_CLI_VERBS_DIST_PLOT_H
#define CREDENCE_CLI_VERBS_DIST_PLOT_H

#include "../cli.h"
#include "prob/dist/dist.h"

/* 60 columns by 12 lines of block characters with labelled axes. */
cr_status dist_plot_text(cli *c, const cr_dist_class *d, const double *v, size_t n);
/* Puts "plot": {"x": [...], "density": [...]}. */
cr_status dist_plot_put(cli *c, const cr_dist_class *d, const double *v, size_t n, cri_sheet *to);

#endif
