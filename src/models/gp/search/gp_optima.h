/* gp_optima.h -- where the optimiser starts, and what they find on few rows.  From a grid of lengths and
 * noises, and random settings, they go on to the optimum.  Starts of other kinds, one term of a sum at a
 * time, some of the columns, next to no noise, as short as neighbours are far, are given up after a few
 * steps where they stay far behind.  Few of the optima go on with more rows.  (Internal header.) */
#ifndef CREDENCE_MODELS_GP_SEARCH_GP_OPTIMA_H
#define CREDENCE_MODELS_GP_SEARCH_GP_OPTIMA_H

#include "gp_optimiser.h"

/* At one time, beside the restarts asked for. */
enum { CRI_GP_MOST_STARTS = 100 };

typedef struct cri_gp_start_at {
    cri_gp_point at;
    double      *curvature; /* [size x size], or NULL */
    double       length;    /* in units; 0 for those not of the grid */
} cri_gp_start_at;

/* n of them, memory of the arena. */
cr_status cri_gp_starts_new(cr_scratch *s, size_t size, size_t n, cri_gp_start_at **out);
/* Best first. */
void cri_gp_sort_starts(cri_gp_start_at *a, size_t n);
/* Of n starts, best first, those to go on with over more rows, `most` or less: a difference of some
 * nats may turn there, one of very many does not. */
size_t cri_gp_drop_hopeless(const cri_gp_start_at *a, size_t n, size_t most);
/* At most `most` of the rows of a problem, with their H of the scratch; cri_gp_data_free(part). */
cr_status cri_gp_draw_problem(cr_scratch *s, const cri_gp_problem *all, size_t most, uint64_t seed,
                              cri_gp_data *part, cri_gp_problem *out);
/* None of n starts has a value. */
cr_status cri_gp_fail_starts(cri_gp_optimiser *run, const cri_gp_start_at *a, size_t n);
/* Roughly to the optimum from each start; *n different ones are left, best first. */
cr_status cri_gp_ascend_roughly(cri_gp_optimiser *run, cri_gp_start_at *a, size_t *n);
/* On the rows of the run: where to ascend from, best first. */
cr_status cri_gp_search_starts(cri_gp_optimiser *run, cri_gp_start_at *a, size_t *out_n);

#endif
