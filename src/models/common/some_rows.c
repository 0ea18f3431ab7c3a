/* some_rows.c -- fits to a sample of the rows, where all take too long. */
#include "some_rows.h"
#include "rows_view.h"
#include "base/clock.h"
#include "base/context_internal.h"
#include "base/rng.h"
#include "base/sort.h"

#include <math.h>
#include <string.h>

enum { FEWEST = 20, FRACTION = 4 }; /* rows worth a fit; a sample has a quarter of them or less */
static const double RESERVE = 0.25; /* of the time: the most that is left to a smaller sample   */
static const double WORK = 1e8;     /* cubes of rows in a second                                */

/* The share of the time that is left for a try: all but what a sample would take. */
static double share_of_time(const cr_ctx *cx, size_t n)
{
    double sample = pow((double)n / FRACTION, 3) / WORK;
    return 1 - fmin(RESERVE, sample / cri_time_left(cx));
}

/* A try within its share of the time; *out_late: that was not enough. */
static cr_status try_rows(cr_ctx *cx, cri_fit_rows *fit, const cri_rows *rows, const void *options,
                          uint64_t seed, void **out_state, cr_report *report, bool *out_late)
{
    cr_report before = *report;
    double    deadline = cri_ctx_hasten(cx, share_of_time(cx, rows->n));
    cri_hold_warnings(cx);
    report->rows = rows->n;
    cr_status st = fit(cx, rows, options, seed, out_state, report);
    *out_late = cri_is_late(cx, st);
    cri_ctx_set_deadline(cx, deadline);
    cri_release_warnings(cx, st == CR_OK);
    if (st != CR_OK) *report = before;
    return st;
}

static cr_status try_sample(cr_ctx *cx, cri_fit_rows *fit, const cri_rows *rows, size_t n,
                            const void *options, uint64_t seed, void **out_state, cr_report *report,
                            bool *out_late)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t    *which = cr_scratch_index(&s, n);
    cr_rng     r = cr_rng_stream(seed, (uint64_t)0x534f4d45u << 32); /* "SOME" */
    CR_TRY(s.status);
    cr_rng_choose(&r, rows->n, n, which);
    cri_sort_indices(which, n);
    cri_rows some = cri_rows_pick(&s, rows, which, n);
    CR_TRY(s.status);
    CR_TRY(try_rows(cx, fit, &some, options, seed, out_state, report, out_late));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_fit_some(cr_ctx *cx, cri_fit_rows *fit, const cri_rows *rows, const void *options,
                       uint64_t seed, void **out_state, cr_report *report)
{
    bool   late = false, roles = false;
    size_t n = rows->n;
    double began = cri_seconds();
    for (size_t k = 0; k < CRI_MOST_ROLES; k++) roles |= rows->roles[k] != NULL;
    if (isinf(cri_time_left(cx)) || rows->more || roles)
        return fit(cx, rows, options, seed, out_state, report);
    cr_status st = try_rows(cx, fit, rows, options, seed, out_state, report, &late);
    double    took = cri_seconds() - began;
    while (late) {
        double most = cbrt(WORK * cri_time_left(cx));
        n = most < (double)n / FRACTION ? (size_t)most : n / FRACTION;
        if (n < FEWEST) {
            cr_fail(cx, CR_ENOMEM, "the time limit is reached: %zu rows take more than %.2g s",
                    rows->n, took);
            return cr_fail_hint(cx, "give it longer, for example --time-limit %.0fs",
                                fmax(1, ceil(10 * took)));
        }
        st = try_sample(cx, fit, rows, n, options, seed, out_state, report, &late);
    }
    if (st != CR_OK || n == rows->n) return st;
    report->stop = CR_STOP_TIME;
    cr_log(
        cx, CR_LOG_WARNING,
        "the time limit is too short for all %zu rows: this is learned from %zu of them, drawn at "
        "random",
        rows->n, n);
    return CR_OK;
}
