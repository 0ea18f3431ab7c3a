/* limits.h -- what exact work may take: memory, operations, time.
 * What it will take is predicted before it begins (table_sizes.h), and whatever plans it asks here:
 * an elimination (bucket_plan.c), a tree (junction.c), runs given a cutset (condition.h), a query
 * (plan.c).  (Internal header.) */
#ifndef CREDENCE_GRAPH_EXACT_LIMITS_H
#define CREDENCE_GRAPH_EXACT_LIMITS_H

#include "bucket.h"

/* The bytes of tables that are allowed. */
double cri_exact_memory(const cr_ctx *cx, const cr_exact_options *o);
/* Do the tables fit into the memory allowed for them; without such a limit, all that is held? */
bool cri_exact_fits(const cr_ctx *cx, const cr_exact_options *o, const cr_exact_report *r);
/* ... and what runs keep beside it? */
bool cri_exact_fits_runs(const cr_ctx *cx, const cr_exact_options *o, const cr_exact_report *r,
                         const cr_network *net);
/* Are so many operations allowed: by the options, by the time limit or, without one, within a day?
 */
bool cri_exact_in_time(const cr_ctx *cx, const cr_exact_options *o, double operations);
/* The seconds that so many operations take, a cautious guess: the one that is shown. */
double cri_exact_seconds(double operations);
/* The operations that it has so many seconds for. */
double cri_exact_operations(double seconds);
/* Warns before work that takes more than a minute by that guess. */
void cri_exact_warn_long(cr_ctx *cx, const cr_exact_report *r);
/* The failure of work that takes too much; `what` would do it. */
cr_status cri_exact_refuse(cr_ctx *cx, const char *what, const cr_exact_report *r,
                           const cr_exact_options *o);
/* How many runs may go side by side; 0: one at a time, with all threads. */
size_t cri_exact_lanes(const cr_ctx *cx, const cr_exact_report *r, const cr_exact_options *o);
/* Says that the work goes on in runs. */
void cri_exact_report_runs(cr_ctx *cx, const cr_exact_report *one);

#endif
