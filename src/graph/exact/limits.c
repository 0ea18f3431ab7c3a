/* limits.c -- what exact work may take, what is said of it, and its refusal. */
#include "limits.h"
#include "condition.h"
#include "base/context_internal.h"

#include <math.h>

/* Entries that one thread works off in a second, if nothing hinders it: what would take longer even
 * then is refused. */
static const double QUICKEST = 5e8, DAY = 86400;
/* ... and cautiously, by all of them; what is worth a word before it begins, in seconds. */
static const double RATE = 1e8, LONG = 60;
/* A run of more operations is better off with all threads than alone. */
static const double WORTH_THREADS = 2e7;
enum { MOST_LANES = 64, CONTEXT = 12000 }; /* bytes of a context, a little more */

double cri_exact_memory(const cr_ctx *cx, const cr_exact_options *o)
{
    return o->memory ? (double)o->memory : (double)cri_memory_left(cx);
}

bool cri_exact_fits(const cr_ctx *cx, const cr_exact_options *o, const cr_exact_report *r)
{
    return (o->memory ? r->tables : r->bytes) <= cri_exact_memory(cx, o);
}

bool cri_exact_fits_runs(const cr_ctx *cx, const cr_exact_options *o, const cr_exact_report *r,
                         const cr_network *net)
{
    cr_exact_report more = *r;
    double          states = 0;
    for (size_t v = 0; v < cr_network_size(net); v++) states += (double)cr_network_states(net, v);
    more.bytes += CONTEXT + (2 + CRI_BATCH) * 8 * states;
    return cri_exact_fits(cx, o, &more);
}

static double least_seconds(const cr_ctx *cx, double operations)
{
    return operations / (QUICKEST * (double)cr_ctx_threads(cx));
}

static double seconds_allowed(const cr_ctx *cx)
{
    double left = cri_time_left(cx);
    return isfinite(left) ? left : DAY;
}

bool cri_exact_in_time(const cr_ctx *cx, const cr_exact_options *o, double operations)
{
    if (o->most > 0 && operations > o->most) return false;
    return least_seconds(cx, operations) <= seconds_allowed(cx);
}

double cri_exact_seconds(double operations) { return operations / RATE; }

double cri_exact_operations(double seconds) { return seconds * RATE; }

void cri_exact_warn_long(cr_ctx *cx, const cr_exact_report *r)
{
    double seconds = cri_exact_seconds(r->operations);
    if (seconds > LONG)
        cr_log(cx, CR_LOG_WARNING,
               "an exact answer takes about %.2g s and %.2g GB (width %zu): --method auto would "
               "approximate it",
               seconds, r->bytes / 1e9, r->width);
}

cr_status cri_exact_refuse(cr_ctx *cx, const char *what, const cr_exact_report *r,
                           const cr_exact_options *o)
{
    cr_fail(cx, CR_ENOMEM,
            "%s would take %.3g operations, about %.2g s, and %.3g GB (induced width %zu), but "
            "only %.2g s and %.3g GB are available",
            what, r->operations, cri_exact_seconds(r->operations), r->bytes / 1e9, r->width,
            seconds_allowed(cx), cri_exact_memory(cx, o) / 1e9);
    return cr_fail_hint(cx, "--method auto approximates it; or give more evidence, or a larger "
                            "--time-limit or --memory-limit");
}

size_t cri_exact_lanes(const cr_ctx *cx, const cr_exact_report *r, const cr_exact_options *o)
{
    double lanes = floor(cri_exact_memory(cx, o) / (r->bytes + CONTEXT));
    size_t threads = cr_ctx_threads(cx) < MOST_LANES ? cr_ctx_threads(cx) : MOST_LANES;
    if (lanes >= (double)threads) return threads;
    if (r->operations / r->runs > WORTH_THREADS) return 0;
    return lanes >= 2 ? (size_t)lanes : 1;
}

void cri_exact_report_runs(cr_ctx *cx, const cr_exact_report *r)
{
    cr_log(
        cx, CR_LOG_INFO,
        "tables do not fit into memory: %zu variables are held fixed in turn, in %.0f runs of %.3g "
        "operations each",
        r->conditioned, r->runs, r->operations / r->runs);
}
