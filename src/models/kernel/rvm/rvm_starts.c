/* rvm_starts.c -- searches from no function up and from all of them down. */
#include "rvm_job.h"
#include "base/parallel.h"
#include "base/scratch.h"

#include <math.h>

enum { MOST_DOWN = 2000, MOST_DOWN_CLASSES = 1000 }; /* functions that all start together */
enum { MOST_STRENGTHS = 500 };                       /* functions that every strength is tried on */
enum { MOST_EXCHANGED = 2000 };                      /* inputs whose classes are worth the time */

static cr_status fail_size(cr_ctx *cx, const cri_rvm_basis *b)
{
    cr_fail(cx, CR_EUNSUPPORTED,
            "a search from all functions down keeps all of them in memory: %zu are too many, the "
            "limit is %d",
            b->C, CRI_RVM_KEPT);
    return cr_fail_hint(cx, "--start up begins with none");
}

/* --- regression ------------------------------------------------------------------------------ */

/* Prior variances of all functions together that a search from all down starts with, in units of the noise: where it
 * ends turns on that. */
static const double STRENGTHS[] = { 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5,
                                    3e-6, 1e-6, 3e-7, 1e-7, 3e-8, 1e-8 };
enum { N_STRENGTHS = sizeof STRENGTHS / sizeof *STRENGTHS };

/* Searches, each in a context of its own.  First all go down, and the one up runs to its end; of those that went down only
 * the ones of the largest evidence take steps. */
enum { LANES = 8, MOST_CLIMBS = 4 };
typedef struct lane {
    cr_ctx              *cx, *child;
    const cri_rvm_job   *job;
    const cri_rvm_basis *basis;
    double               strength; /* NaN: from none up */
    bool                 done;     /* has ended: took its steps, or will not */
    double               value;    /* the evidence so far */
    cri_rvm_gauss        end;
    cr_stop              stop;
    cr_status            status;
} lane;

/* Down, into memory of the size of what is left. */
static cr_status go_down(cr_ctx *cx, lane *l, const cri_rvm_limits *limits)
{
    cr_status     st = CR_OK;
    cri_rvm_gauss g = { 0 };
    CR_TRY(cri_rvm_gauss_new(cx, l->basis, l->job->noise, l->job->floor, l->job->hyper, &g));
    CR_TRY(cri_rvm_gauss_down(cx, &g, l->strength, limits));
    CR_TRY(cri_rvm_gauss_refresh(cx, &g));
    CR_TRY(cri_rvm_gauss_copy(cx, &g, &l->end));
done:
    cri_rvm_gauss_free(cx, &g);
    return st;
}

static cr_status search(cr_ctx *cx, lane *l)
{
    cr_status      st = CR_OK;
    cri_rvm_limits limits = l->job->limits;
    limits.clock.cx = cx;
    l->stop = CR_STOP_TOLERANCE;
    if (!isnan(l->strength) && !l->end.basis)
        CR_TRY(go_down(cx, l, &limits));
    else {
        if (!l->end.basis)
            CR_TRY(cri_rvm_gauss_new(cx, l->basis, l->job->noise, l->job->floor, l->job->hyper,
                                     &l->end));
        CR_TRY(cri_rvm_gauss_climb(cx, &l->end, &limits, &l->stop));
        l->done = true;
    }
    l->value = cri_rvm_gauss_evidence(&l->end);
done:
    return st;
}

static void run_lane(void *arg, size_t k)
{
    lane *l = ((lane **)arg)[k];
    l->status = l->child ? CR_OK : cri_ctx_child(l->cx, &l->child);
    if (l->status == CR_OK) l->status = search(l->child, l);
}

/* true where the end of the time broke a search off, and there is another that it did not. */
static bool is_spared(const lane *l, const lane *lanes, size_t n)
{
    bool other = false;
    for (size_t k = 0; k < n; k++)
        other |= &lanes[k] != l && lanes[k].end.basis && lanes[k].status == CR_OK;
    return other && l->status == CR_EINTERRUPTED && cri_clock_over(&l->job->limits.clock);
}

/* A part of every search that has not ended, as many side by side as there are threads, so that all of them have begun when
 * the time ends and none is missing; *out_over: it has. */
static cr_status run_lanes(cr_ctx *cx, lane *lanes, size_t n, bool *out_over)
{
    cr_status st = CR_OK;
    size_t    most = cr_ctx_threads(cx) < LANES ? cr_ctx_threads(cx) : LANES;
    lane     *some[LANES];
    for (size_t k = 0; k < n && !*out_over;) {
        size_t together = 0;
        for (; k < n && together < most; k++)
            if (!lanes[k].done) some[together++] = &lanes[k];
        CR_TRY(cri_parallel_for(cx, NULL, together, run_lane, some));
        for (size_t i = 0; i < together; i++) {
            lane *l = some[i];
            if (l->status == CR_OK) continue;
            if (is_spared(l, lanes, n)) {
                cri_rvm_gauss_free(cx, &l->end);
                continue;
            }
            CR_TRY(l->child && cr_error_status(l->child) != CR_OK ? cri_fail_as(cx, l->child)
                                                                  : cri_fail_memory(cx, 1));
        }
        *out_over = cri_clock_over(&lanes[0].job->limits.clock);
    }
done:
    return st;
}

/* Ends the searches that went down, but for those of the largest evidence; of equal ones the first. */
static void keep_best(lane *lanes, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        size_t better = 0;
        for (size_t i = 0; i < n && !isnan(lanes[k].strength); i++)
            better += !isnan(lanes[i].strength) && (lanes[i].value > lanes[k].value ||
                                                    (lanes[i].value == lanes[k].value && i < k));
        if (better >= MOST_CLIMBS) lanes[k].done = true;
    }
}

/* The best end, and the evidence of the best of either kind. */
static void settle(cr_ctx *cx, lane *lanes, size_t n, cri_rvm_gauss *best, double *up, double *down,
                   cr_stop *out_stop)
{
    size_t at = n;
    for (size_t k = 0; k < n; k++) {
        double *value = isnan(lanes[k].strength) ? up : down;
        if (!lanes[k].end.basis) continue;
        if (!(lanes[k].value <= *value)) *value = lanes[k].value;
        if (at == n || lanes[k].value > lanes[at].value) at = k;
    }
    if (at == n) return;
    cri_rvm_gauss_free(cx, best);
    *best = lanes[at].end;
    *out_stop = lanes[at].done ? lanes[at].stop : CR_STOP_TIME;
    lanes[at].end = (cri_rvm_gauss){ 0 };
}

cr_status cri_rvm_numbers(cr_ctx *cx, const cri_rvm_job *j, cri_rvm_basis *b, cri_rvm_gauss *best,
                          double *up, double *down, cr_stop *out_stop)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    lane      *lanes = cr_scratch_bytes(&s, N_STRENGTHS + 1, sizeof *lanes);
    size_t     n = 0;
    int        start = j->start;
    bool       over = false;
    if (start == CRI_RVM_AUTO) start = b->C <= MOST_DOWN ? CRI_RVM_BOTH : CRI_RVM_UP;
    *up = *down = NAN;
    CR_TRY(s.status);
    if (start != CRI_RVM_UP && !b->Phi) CR_TRY(fail_size(cx, b));
    if (start != CRI_RVM_UP) CR_TRY(cri_rvm_basis_gram(&s, b));
    if (start != CRI_RVM_DOWN)
        lanes[n++] = (lane){ .cx = cx, .job = j, .basis = b, .strength = NAN };
    for (size_t k = 0; start != CRI_RVM_UP && k<N_STRENGTHS; k += b->C> MOST_STRENGTHS ? 2 : 1)
        lanes[n++] = (lane){ .cx = cx, .job = j, .basis = b, .strength = STRENGTHS[k] };
    if (b->Phi) {
        CR_TRY(run_lanes(cx, lanes, n, &over));
        keep_best(lanes, n);
        if (!over) CR_TRY(run_lanes(cx, lanes, n, &over));
    } else /* the threads share the work of the one search */
        CR_TRY(search(cx, lanes));
    settle(cx, lanes, n, best, up, down, out_stop);
    double before = cri_rvm_gauss_evidence(best);
    if (*out_stop == CR_STOP_TOLERANCE && b->Phi) {
        CR_TRY(cri_rvm_gauss_exchange(cx, best, &j->limits));
        CR_TRY(cri_rvm_gauss_finish(cx, best, &j->limits));
    }
    *(before == *up ? up : down) = cri_rvm_gauss_evidence(best);
done:
    for (size_t k = 0; k < n; k++) {
        cri_rvm_gauss_free(cx, &lanes[k].end);
        cr_ctx_free(lanes[k].child);
    }
    b->gram = NULL; /* it was of this arena */
    cr_scratch_end(&s);
    return st;
}

/* --- classification -------------------------------------------------------------------------- */

/* One search, as try_start. */
static cr_status try_classes(cr_ctx *cx, const cri_rvm_job *j, const cri_rvm_basis *b,
                             double strength, cri_rvm_classes *best, double *value,
                             cr_stop *out_stop)
{
    cr_status       st = CR_OK;
    cri_rvm_classes z = { 0 };
    cr_stop         stop = CR_STOP_TOLERANCE;
    CR_TRY(cri_rvm_classes_new(cx, b, j->F, j->T, j->count, &z));
    if (!isnan(strength)) CR_TRY(cri_rvm_classes_down(cx, &z, strength, &j->limits));
    CR_TRY(cri_rvm_classes_climb(cx, &z, &j->limits, &stop));
    if (!(z.evidence <= *value)) *value = z.evidence;
    if (best->basis && z.evidence <= best->evidence) goto done;
    cri_rvm_classes_free(cx, best);
    *best = z;
    *out_stop = stop;
    z = (cri_rvm_classes){ 0 };
done:
    cri_rvm_classes_free(cx, &z);
    return st;
}

/* As STRENGTHS, the noise of a score being 1. */
static const double CLASS_STRENGTHS[] = { 1, 1e-1, 1e-2, 1e-3 };
enum { N_CLASS_STRENGTHS = sizeof CLASS_STRENGTHS / sizeof *CLASS_STRENGTHS };

cr_status cri_rvm_groups(cr_ctx *cx, const cri_rvm_job *j, const cri_rvm_basis *b,
                         cri_rvm_classes *best, double *up, double *down, cr_stop *out_stop)
{
    cr_status st = CR_OK;
    int       start = j->start;
    if (start == CRI_RVM_AUTO) start = j->F * b->C <= MOST_DOWN_CLASSES ? CRI_RVM_BOTH : CRI_RVM_UP;
    *up = *down = NAN;
    if (start != CRI_RVM_UP && !b->Phi) CR_TRY(fail_size(cx, b));
    if (start != CRI_RVM_DOWN) CR_TRY(try_classes(cx, j, b, NAN, best, up, out_stop));
    for (size_t k = 0; start != CRI_RVM_UP && k < N_CLASS_STRENGTHS; k++) {
        if (best->basis && cri_clock_over(&j->limits.clock)) break;
        CR_TRY(try_classes(cx, j, b, CLASS_STRENGTHS[k], best, down, out_stop));
    }
    double before = best->evidence;
    if (*out_stop == CR_STOP_TOLERANCE && b->n <= MOST_EXCHANGED)
        CR_TRY(cri_rvm_classes_exchange(cx, best, &j->limits));
    *(before == *up ? up : down) = best->evidence;
done:
    return st;
}
