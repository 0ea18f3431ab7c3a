/* search.c -- greedy local search and local beam search. */
#include "search.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

/* Where neighbours go: the best of one round (greedy), or the beam. */
struct cr_search_sink {
    cr_ctx                  *cx;
    const cr_search_problem *p;
    cr_search_report        *report;
    size_t                   scores; /* at the most */
    bool                     full;   /* that many have been computed */
    void (*keep)(cr_search_sink *sink, const void *state, double score);

    unsigned char *states;   /* [width + 1 x state_size], best first; greedy: one          */
    double        *score;    /* [width + 1]                                                */
    bool          *expanded; /* [width + 1]                                                */
    size_t         width, count;
};

static void *state_at(const cr_search_sink *s, size_t i)
{
    return s->states + i * s->p->state_size;
}

static int compare(const cr_search_sink *s, const void *a, const void *b)
{
    return s->p->compare ? s->p->compare(s->p->user, a, b) : memcmp(a, b, s->p->state_size);
}

static cr_status compute_score(cr_search_sink *s, const void *state, double *out_score)
{
    s->report->scores++;
    *out_score = NAN;
    cr_status st = s->p->score(s->p->user, state, out_score);
    if (st != CR_OK && cr_error_status(s->cx) != st) cr_fail(s->cx, st, "search: the score failed");
    return st;
}

cr_status cr_search_offer(cr_search_sink *s, const void *state)
{
    double    score;
    cr_status st = CR_OK;
    if (s->full || (s->scores && s->report->scores >= s->scores)) {
        s->full = true;
        return CR_OK;
    }
    CR_TRY(cr_check_interrupt(s->cx));
    CR_TRY(compute_score(s, state, &score));
    if (score > -INFINITY) s->keep(s, state, score);
done:
    return st;
}

/* --- greedy ---------------------------------------------------------------------------------- */

/* Slot 0 holds the best neighbour so far, score[1] the score to be beaten. */
static void keep_best(cr_search_sink *s, const void *state, double score)
{
    if (!(score > s->score[1])) return;
    bool better = s->count == 0 || score > s->score[0] ||
                  (score == s->score[0] && compare(s, state, state_at(s, 0)) < 0);
    if (!better) return;
    memcpy(state_at(s, 0), state, s->p->state_size);
    s->score[0] = score;
    s->count = 1;
}

static cr_status expand(cr_search_sink *s, const void *state)
{
    cr_status st = cr_check_interrupt(s->cx);
    if (st != CR_OK) return st;
    st = s->p->neighbours(s->p->user, state, s);
    if (st != CR_OK && cr_error_status(s->cx) != st)
        cr_fail(s->cx, st, "search: the neighbours failed");
    return st;
}

/* Room for the states, the copy of the start, and its score. */
static cr_status begin(cr_search_sink *s, cr_scratch *scratch, const void *state,
                       void **out_current, double *out_score)
{
    cr_status st = CR_OK;
    s->states = cr_scratch_bytes(scratch, s->width + 1, s->p->state_size);
    s->score = cr_scratch_f64(scratch, s->width + 1);
    s->expanded = cr_scratch_bytes(scratch, s->width + 1, sizeof(bool));
    *out_current = cr_scratch_bytes(scratch, 1, s->p->state_size);
    CR_TRY(scratch->status);
    memcpy(*out_current, state, s->p->state_size);
    CR_TRY(compute_score(s, state, out_score));
    if (!(*out_score > -INFINITY))
        CR_TRY(cr_fail(s->cx, CR_EARG, "search: the start scores %g", *out_score));
done:
    return st;
}

static cr_search_sink sink_of(cr_ctx *cx, const cr_search_problem *p,
                              const cr_search_limits *limits,
                              void (*keep)(cr_search_sink *, const void *, double), size_t width,
                              cr_search_report *r)
{
    return (cr_search_sink){ .cx = cx,
                             .p = p,
                             .report = r,
                             .scores = limits ? limits->scores : 0,
                             .keep = keep,
                             .width = width };
}

cr_status cr_search_greedy(cr_ctx *cx, const cr_search_problem *p, const cr_search_limits *limits,
                           void *state, cr_search_report *out_report)
{
    cr_status        st = CR_OK;
    cr_scratch       scratch = cr_scratch_begin(cx);
    cr_search_report r = { 0, 0, 0, false };
    cr_search_sink   s = sink_of(cx, p, limits, keep_best, 1, &r);
    void            *current;

    CR_TRY(begin(&s, &scratch, state, &current, &r.score));
    while (!r.complete && !s.full && !(limits && limits->rounds && r.rounds >= limits->rounds)) {
        s.count = 0;
        s.score[1] = r.score;
        CR_TRY(expand(&s, current));
        if (s.count > 0) {
            memcpy(current, state_at(&s, 0), p->state_size);
            r.score = s.score[0];
            r.rounds++;
        } else {
            r.complete = !s.full;
            break;
        }
    }
    memcpy(state, current, p->state_size);
    *out_report = r;
done:
    cr_scratch_end(&scratch);
    return st;
}

/* --- beam ------------------------------------------------------------------------------------ */

/* Puts the state in its place: by score, states already there first among equals unless they have
 * not been expanded and come later in the order.  Drops what is already there, and the last. */
static void keep_in_beam(cr_search_sink *s, const void *state, double score)
{
    size_t at = s->count, size = s->p->state_size;
    if (s->count == s->width && !(score > s->score[s->count - 1])) {
        bool before = score == s->score[s->count - 1] && !s->expanded[s->count - 1] &&
                      compare(s, state, state_at(s, s->count - 1)) < 0;
        if (!before) return;
    }
    for (size_t i = 0; i < s->count; i++)
        if (s->score[i] == score && compare(s, state, state_at(s, i)) == 0) return;
    while (at > 0 &&
           (s->score[at - 1] < score || (s->score[at - 1] == score && !s->expanded[at - 1] &&
                                         compare(s, state, state_at(s, at - 1)) < 0)))
        at--;
    memmove(state_at(s, at + 1), state_at(s, at), (s->count - at) * size);
    memmove(s->score + at + 1, s->score + at, (s->count - at) * sizeof *s->score);
    memmove(s->expanded + at + 1, s->expanded + at, (s->count - at) * sizeof *s->expanded);
    memcpy(state_at(s, at), state, size);
    s->score[at] = score;
    s->expanded[at] = false;
    if (s->count < s->width) s->count++;
}

/* The best state that has not been expanded; width when there is none. */
static size_t next_to_expand(const cr_search_sink *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (!s->expanded[i]) return i;
    return s->width;
}

cr_status cr_search_beam(cr_ctx *cx, const cr_search_problem *p, size_t width,
                         const cr_search_limits *limits, void *state, cr_search_report *out_report)
{
    cr_status        st = CR_OK;
    cr_scratch       scratch = cr_scratch_begin(cx);
    cr_search_report r = { 0, 0, 0, false };
    cr_search_sink   s = sink_of(cx, p, limits, keep_in_beam, width, &r);
    void            *current;
    size_t           next;

    if (width == 0) CR_TRY(cr_fail(cx, CR_EARG, "search: the width of the beam is 0"));
    CR_TRY(begin(&s, &scratch, state, &current, &r.score));
    keep_in_beam(&s, state, r.score);
    while ((next = next_to_expand(&s)) < width && !s.full &&
           !(limits && limits->rounds && r.rounds >= limits->rounds)) {
        memcpy(current, state_at(&s, next), p->state_size);
        s.expanded[next] = true;
        CR_TRY(expand(&s, current));
        r.rounds++;
    }
    r.complete = next == width && !s.full;
    r.score = s.score[0];
    memcpy(state, state_at(&s, 0), p->state_size);
    *out_report = r;
done:
    cr_scratch_end(&scratch);
    return st;
}
