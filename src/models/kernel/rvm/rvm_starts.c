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

/* Searches that run side by side, each in a context of its own. */
enum { LANES = 8 };
typedef struct lane {
    cr_ctx              *cx, *child;
    const cri_rvm_job   *job;
    const cri_rvm_basis *basis;
    double               strength; /* NaN: from none up */
    cri_rvm_gauss        end;
    cr_stop              stop;
    cr_status            status;
} lane;

static cr_status search(cr_ctx *cx, lane *l)
{
    cr_status      st = CR_OK;
    cri_rvm_limits limits = l->job->limits;
    limits.clock.cx = cx;
    l->stop = CR_STOP_TOLERANCE;
    CR_TRY(cri_rvm_gauss_new(cx, l->basis, l->job->noise, l->job->floor, l->job->hyper, &l->end));
    if (!isnan(l->strength)) CR_TRY(cri_rvm_gauss_down(cx, &l->end, l->strength, &limits));
    CR_TRY(cri_rvm_gauss_climb(cx, &l->end, &limits, &l->stop));
done:
    return st;
}

static void run_lane(void *arg, size_t k)
{
    lane *l = (lane *)arg + k;
    l->status = cri_ctx_child(l->cx, &l->child);
    if (l->status == CR_OK) l->status = search(l->child, l);
}

/* What became of a search: its failure, or its end in place of the best so far; *value: the best of its kind. */
static cr_status settle(cr_ctx *cx, lane *l, cri_rvm_gauss *best, double *value, cr_stop *out_stop)
{
    if (l->status != CR_OK)
        return l->child && cr_error_status(l->child) != CR_OK ? cri_fail_as(cx, l->child)
                                                              : cri_fail_memory(cx, 1);
    double now = cri_rvm_gauss_evidence(&l->end);
    if (!(now <= *value)) *value = now;
    if (best->basis && now <= cri_rvm_gauss_evidence(best)) return CR_OK;
    cri_rvm_gauss_free(cx, best);
    *best = l->end;
    *out_stop = l->stop;
    l->end = (cri_rvm_gauss){ 0 };
    return CR_OK;
}

/* The searches number begin .. end - 1 of the list; number 0 is the one up. */
static cr_status run_lanes(cr_ctx *cx, const cri_rvm_job *j, const cri_rvm_basis *b,
                           const double *strength, size_t n, cri_rvm_gauss *best, double *up,
                           double *down, cr_stop *out_stop)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    lane      *l = cr_scratch_bytes(&s, n, sizeof *l);
    CR_TRY(s.status);
    for (size_t k = 0; k < n; k++)
        l[k] = (lane){ .cx = cx, .job = j, .basis = b, .strength = strength[k] };
    CR_TRY(cri_parallel_for(cx, NULL, n, run_lane, l));
    for (size_t k = 0; k < n; k++)
        CR_TRY(settle(cx, &l[k], best, isnan(strength[k]) ? up : down, out_stop));
done:
    for (size_t k = 0; l && k < n; k++) {
        cri_rvm_gauss_free(cx, &l[k].end);
        cr_ctx_free(l[k].child);
    }
    cr_scratch_end(&s);
    return st;
}

cr_status cri_rvm_numbers(cr_ctx *cx, const cri_rvm_job *j, cri_rvm_basis *b, cri_rvm_gauss *best,
                          double *up, double *down, cr_stop *out_stop)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double     strength[N_STRENGTHS + 1];
    size_t     n = 0, lanes = cr_ctx_threads(cx) < LANES ? cr_ctx_threads(cx) : LANES;
    int        start = j->start;
    if (start == CRI_RVM_AUTO) start = b->C <= MOST_DOWN ? CRI_RVM_BOTH : CRI_RVM_UP;
    *up = *down = NAN;
    if (start != CRI_RVM_UP && !b->Phi) CR_TRY(fail_size(cx, b));
    if (start != CRI_RVM_UP) CR_TRY(cri_rvm_basis_gram(&s, b));
    if (start != CRI_RVM_DOWN) strength[n++] = NAN;
    for (size_t k = 0; start != CRI_RVM_UP && k<N_STRENGTHS; k += b->C> MOST_STRENGTHS ? 2 : 1)
        strength[n++] = STRENGTHS[k];
    for (size_t k = 0; k < n; k += lanes) {
        if (best->basis && cri_clock_over(&j->limits.clock)) break;
        if (b->Phi)
            CR_TRY(run_lanes(cx, j, b, strength + k, n - k < lanes ? n - k : lanes, best, up, down,
                             out_stop));
        else { /* the threads share the work of the one search */
            lane l = { .cx = cx, .job = j, .basis = b, .strength = strength[k] };
            CR_TRY(search(cx, &l));
            CR_TRY(settle(cx, &l, best, up, out_stop));
        }
    }
    double before = cri_rvm_gauss_evidence(best);
    if (*out_stop == CR_STOP_TOLERANCE && b->Phi) {
        CR_TRY(cri_rvm_gauss_exchange(cx, best, &j->limits));
        CR_TRY(cri_rvm_gauss_finish(cx, best, &j->limits));
    }
    *(before == *up ? up : down) = cri_rvm_gauss_evidence(best);
done:
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
