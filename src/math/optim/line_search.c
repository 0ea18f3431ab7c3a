/* line_search.c -- the search of More & Thuente (1994).
 * `low` is the best step so far and one end of the interval [low, high] that holds a minimiser once
 * it is bracketed; high.a = 0 before the first step.  While the decrease condition has not been met
 * together with a slope that is not negative, steps are chosen for the auxiliary function
 * psi(a) = phi(a) - phi(0) - c1 phi'(0) a, and for phi from then on (their sec. 2). */
#include "line_search.h"

#include <math.h>

static const double SHRINK = 0.66;    /* the interval must shrink so much in two steps      */
static const double LONGEST_LEAP = 4; /* of the last move, while there is no bracket        */
static const double SHORTEST_LEAP = 1.1;
static const double ROUNDING = 0x1p-50;  /* relative error of f that counts as no rise         */
static const double NARROWEST = 0x1p-46; /* of an interval, against its far end                */

typedef struct search {
    const cri_line_options *o;
    cri_line_point          start, low, high, trial;
    bool                    bracketed, on_psi, walled;
    double                  width, width_before, most;
} search;

/* --- the next trial: sec. 4 of the paper ----------------------------------------------------- */

/* Minimiser of the cubic through values and slopes at p and q, between them. */
static double cubic_between(cri_line_point p, cri_line_point q)
{
    double theta = 3 * (p.f - q.f) / (q.a - p.a) + p.slope + q.slope;
    double scale = fmax(fabs(theta), fmax(fabs(p.slope), fabs(q.slope)));
    double inner = (theta / scale) * (theta / scale) - (p.slope / scale) * (q.slope / scale);
    double gamma = scale * sqrt(fmax(0, inner));
    if (q.a < p.a) gamma = -gamma;
    double r = ((gamma - p.slope) + theta) / (((gamma - p.slope) + gamma) + q.slope);
    return p.a + r * (q.a - p.a);
}

/* The same for slopes of one sign: past q as seen from p, or `away` when there is none. */
static double cubic_beyond(cri_line_point p, cri_line_point q, double away)
{
    double theta = 3 * (p.f - q.f) / (q.a - p.a) + p.slope + q.slope;
    double scale = fmax(fabs(theta), fmax(fabs(p.slope), fabs(q.slope)));
    double inner = (theta / scale) * (theta / scale) - (p.slope / scale) * (q.slope / scale);
    double gamma = scale * sqrt(fmax(0, inner));
    if (q.a > p.a) gamma = -gamma;
    double r = ((gamma - q.slope) + theta) / ((gamma + (p.slope - q.slope)) + gamma);
    return r < 0 && gamma != 0 ? q.a + r * (p.a - q.a) : away;
}

static double secant(cri_line_point p, cri_line_point q)
{
    return q.a + q.slope / (q.slope - p.slope) * (p.a - q.a);
}

static double quadratic(cri_line_point p, cri_line_point q)
{
    return p.a + p.slope / ((p.f - q.f) / (q.a - p.a) + p.slope) / 2 * (q.a - p.a);
}

/* The next step from low l, high h and the last trial t, within [least, most]. */
static double choose_step(cri_line_point l, cri_line_point h, cri_line_point t, bool *bracketed,
                          double least, double most)
{
    bool turned = t.slope * (l.slope / fabs(l.slope)) < 0;
    if (t.f > l.f) { /* case 1: a minimiser lies between; the cubic step when it is nearer to l */
        double c = cubic_between(l, t), q = quadratic(l, t);
        *bracketed = true;
        return fabs(c - l.a) < fabs(q - l.a) ? c : c + (q - c) / 2;
    }
    if (turned) { /* case 2: also between; the step farther from t */
        double c = cubic_between(t, l), s = secant(l, t);
        *bracketed = true;
        return fabs(c - t.a) > fabs(s - t.a) ? c : s;
    }
    if (fabs(t.slope) < fabs(l.slope)) { /* case 3: falling less steeply */
        double c = cubic_beyond(l, t, t.a > l.a ? most : least), s = secant(l, t);
        if (!*bracketed) {
            double far = fabs(c - t.a) > fabs(s - t.a) ? c : s;
            return fmax(least, fmin(most, far));
        }
        double near = fabs(c - t.a) < fabs(s - t.a) ? c : s, limit = t.a + SHRINK * (h.a - t.a);
        return t.a > l.a ? fmin(limit, near) : fmax(limit, near);
    }
    if (*bracketed) return cubic_between(t, h); /* case 4: falling as steeply */
    return t.a > l.a ? most : least;
}

/* Low and high after the trial t (their values are those of phi or psi alike). */
static void update_interval(cri_line_point *l, cri_line_point *h, cri_line_point t)
{
    if (t.f > l->f) {
        *h = t;
        return;
    }
    if (t.slope * (l->slope / fabs(l->slope)) < 0) *h = *l;
    *l = t;
}

/* --- the search ------------------------------------------------------------------------------ */

static cri_line_point tilt(cri_line_point p, double by)
{
    return (cri_line_point){ p.a, p.f - p.a * by, p.slope - by };
}

/* A rise by no more than the rounding error of f counts as none. */
static bool decreased(const search *s)
{
    double slack = fmax(ROUNDING * fabs(s->start.f), s->o->f_error);
    return s->trial.f <= s->start.f + s->o->c1 * s->trial.a * s->start.slope + slack;
}

/* Whether the trial is the step; if not, whether psi has done its work. */
static bool accepts(search *s, cri_line_result *out_result)
{
    bool flat = fabs(s->trial.slope) <= s->o->c2 * fabs(s->start.slope);
    bool at_most = s->trial.a >= s->most && s->trial.slope <= s->o->c1 * s->start.slope;
    if (!decreased(s)) return false;
    if (s->trial.slope >= 0) s->on_psi = false;
    *out_result = flat ? CRI_LINE_WOLFE : CRI_LINE_CUT_SHORT;
    return flat || at_most;
}

/* Chooses the next trial, on psi or phi, and updates the interval. */
static double advance(search *s)
{
    bool   was_bracketed = s->bracketed;
    double tilted =
        s->on_psi && s->trial.f <= s->low.f && !decreased(s) ? s->o->c1 * s->start.slope : 0;
    double         least = was_bracketed ? fmin(s->low.a, s->high.a)
                                         : s->trial.a + SHORTEST_LEAP * (s->trial.a - s->low.a);
    double         most = was_bracketed ? fmax(s->low.a, s->high.a)
                                        : s->trial.a + LONGEST_LEAP * (s->trial.a - s->low.a);
    cri_line_point l = tilt(s->low, tilted), h = tilt(s->high, tilted);
    cri_line_point t = tilt(s->trial, tilted);
    double         next = choose_step(l, h, t, &s->bracketed, least, most);

    update_interval(&l, &h, t);
    s->low = tilt(l, -tilted);
    s->high = tilt(h, -tilted);
    if (s->bracketed) {
        double width = fabs(s->high.a - s->low.a);
        if (width >= SHRINK * s->width_before) next = s->low.a + (s->high.a - s->low.a) / 2;
        s->width_before = s->width;
        s->width = width;
    }
    return fmin(next, s->most);
}

/* Between low and the wall at a: near low while nothing is known, halfway later. */
static double step_back(search *s, double wall)
{
    s->walled = true;
    s->most = s->low.a + 0.9 * (wall - s->low.a);
    if (s->bracketed && s->high.a > s->most) s->bracketed = false;
    return s->low.a + (s->low.a == 0 ? 0.1 : 0.5) * (wall - s->low.a);
}

static bool exhausted(const search *s, double next)
{
    double least = fmin(s->low.a, s->high.a), most = fmax(s->low.a, s->high.a);
    if (!(next > 0) || next == s->trial.a) return true;
    return s->bracketed && (next <= least || next >= most || most - least <= NARROWEST * most);
}

/* Where the best step is when the search cannot go on. */
static void settle(const search *s, cri_line_point *out_point, cri_line_result *out_result)
{
    bool fell = s->low.a > 0 && s->low.f < s->start.f;
    bool enough = s->low.f <= s->start.f + s->o->c1 * s->low.a * s->start.slope;
    *out_point = s->low;
    *out_result = !fell                 ? CRI_LINE_FAILED
                  : s->walled && enough ? CRI_LINE_CUT_SHORT
                                        : CRI_LINE_DECREASE;
}

cr_status cri_line_search(const cri_line_options *o, cri_line_fn *phi, void *arg,
                          cri_line_point start, double first, cri_line_point *out_point,
                          double *out_last, cri_line_result *out_result)
{
    search s = { .o = o,
                 .start = start,
                 .low = start,
                 .high = start,
                 .on_psi = true,
                 .most = o->most,
                 .width = INFINITY,
                 .width_before = INFINITY };
    double next = fmin(first, o->most);

    *out_last = 0;
    if (!(start.slope < 0) || !(next > 0)) {
        *out_point = start;
        *out_result = CRI_LINE_FAILED;
        return CR_OK;
    }
    for (size_t k = 0; k < o->max_evaluations; k++) {
        s.trial.a = next;
        cr_status st = phi(arg, next, &s.trial.f, &s.trial.slope);
        if (st != CR_OK) return st;
        *out_last = next;
        if (!(fabs(s.trial.f) < INFINITY) || !(fabs(s.trial.slope) < INFINITY)) {
            if (s.trial.f == -INFINITY) { /* as low as can be */
                *out_point = s.trial;
                *out_result = CRI_LINE_DECREASE;
                return CR_OK;
            }
            double back = step_back(&s, next);
            if (!(back > s.low.a) || back == next) break;
            next = back;
            continue;
        }
        *out_point = s.trial;
        if (accepts(&s, out_result)) return CR_OK;
        next = advance(&s);
        if (exhausted(&s, next)) break;
    }
    settle(&s, out_point, out_result);
    return CR_OK;
}
