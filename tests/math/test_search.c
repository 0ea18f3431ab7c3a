/* Greedy and beam search on random landscapes over bit strings, whose optimum enumeration gives. */
#include "support.h"

#include "base/rng.h"
#include "math/search.h"

enum { BITS = 10, STATES = 1 << BITS };

typedef struct landscape {
    double  score[STATES];
    bool    backwards; /* neighbours in the other order */
    cr_ctx *stop_cx;
    size_t  calls, expanded[STATES];
} landscape;

static cr_status flip(void *user, const void *state, cr_search_sink *sink)
{
    landscape *l = user;
    uint32_t   s;
    cr_status  st = CR_OK;
    memcpy(&s, state, sizeof s);
    l->expanded[s]++;
    for (unsigned k = 0; k < BITS && st == CR_OK; k++) {
        uint32_t t = s ^ (1u << (l->backwards ? BITS - 1 - k : k));
        st = cr_search_offer(sink, &t);
    }
    return st;
}

static cr_status look_up(void *user, const void *state, double *out_score)
{
    landscape *l = user;
    uint32_t   s;
    memcpy(&s, state, sizeof s);
    if (l->stop_cx && l->calls == 15) cr_interrupt(l->stop_cx);
    l->calls++;
    *out_score = l->score[s];
    return CR_OK;
}

static int by_number(void *user, const void *a, const void *b)
{
    uint32_t x, y;
    (void)user;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

/* `levels` values only: many ties. */
static void make(landscape *l, uint64_t seed, unsigned levels)
{
    memset(l, 0, sizeof *l);
    cr_rng r = cr_rng_stream(seed, 5);
    for (size_t s = 0; s < STATES; s++) l->score[s] = (double)cr_rng_below(&r, levels) - 3;
}

static cr_search_problem problem_of(landscape *l)
{
    return (cr_search_problem){ .state_size = sizeof(uint32_t),
                                .neighbours = flip,
                                .score = look_up,
                                .compare = by_number,
                                .user = l };
}

/* Steepest ascent from the definition; ties to the smallest number. */
static uint32_t climb(const landscape *l, uint32_t s)
{
    for (;;) {
        uint32_t best = s;
        for (unsigned k = 0; k < BITS; k++) {
            uint32_t t = s ^ (1u << k);
            bool     up = l->score[t] > l->score[s];
            if (up && (best == s || l->score[t] > l->score[best] ||
                       (l->score[t] == l->score[best] && t < best)))
                best = t;
        }
        if (best == s) return s;
        s = best;
    }
}

TEST(greedy_climbs_and_beam_of_one_agrees)
{
    static landscape l;
    for (uint64_t seed = 0; seed < 60; seed++) {
        make(&l, seed, seed % 2 ? 5 : 1000);
        for (uint32_t start = 0; start < STATES; start += 97) {
            cr_search_problem p = problem_of(&l);
            cr_search_report  g, b;
            uint32_t          found = start, beam = start;
            l.backwards = start % 2;
            assert_ok(cx, cr_search_greedy(cx, &p, NULL, &found, &g));
            assert_int_equal(found, climb(&l, start));
            assert_ok(cx, cr_search_beam(cx, &p, 1, NULL, &beam, &b));
            assert_int_equal(beam, found);
            assert_true(g.score == l.score[found] && b.score == g.score);
            assert_true(g.complete && b.complete);
            assert_int_equal(b.rounds, g.rounds + 1);
            assert_int_equal(b.scores, g.scores);
        }
    }
}

TEST(wide_beam_finds_the_best)
{
    static landscape l;
    double           sum[4] = { 0 };
    for (uint64_t seed = 0; seed < 30; seed++) {
        static const size_t widths[] = { 1, 4, 32, STATES };
        double              best = -INFINITY;
        make(&l, seed, 1000);
        for (size_t s = 0; s < STATES; s++) best = fmax(best, l.score[s]);
        for (int w = 0; w < 4; w++) {
            cr_search_problem p = problem_of(&l);
            cr_search_report  r;
            uint32_t          s = 0;
            memset(l.expanded, 0, sizeof l.expanded);
            assert_ok(cx, cr_search_beam(cx, &p, widths[w], NULL, &s, &r));
            assert_true(r.score == l.score[s] && r.complete);
            for (size_t k = 0; k < STATES; k++) assert_true(l.expanded[k] <= 1);
            for (unsigned k = 0; k < BITS; k++) assert_true(l.score[s ^ (1u << k)] <= r.score);
            if (widths[w] == STATES) assert_true(r.score == best);
            sum[w] += r.score;
        }
    }
    assert_true(sum[0] < sum[1] && sum[1] < sum[2] && sum[2] <= sum[3]);
}

TEST(order_of_neighbours_does_not_matter)
{
    static landscape l;
    for (uint64_t seed = 0; seed < 40; seed++)
        for (size_t width = 1; width < 9; width++) {
            uint32_t         s[2] = { 5, 5 };
            cr_search_report r[2];
            make(&l, seed, 4); /* plateaus everywhere */
            for (int k = 0; k < 2; k++) {
                cr_search_problem p = problem_of(&l);
                l.backwards = k;
                assert_ok(cx, cr_search_beam(cx, &p, width, NULL, &s[k], &r[k]));
            }
            assert_int_equal(s[0], s[1]);
            assert_int_equal(r[0].scores, r[1].scores);
        }
}

static cr_status refuse(void *user, const void *state, double *out_score)
{
    (void)user, (void)state, (void)out_score;
    return CR_EDATA;
}

static cr_status alone(void *user, const void *state, cr_search_sink *sink)
{
    (void)user, (void)state, (void)sink;
    return CR_OK;
}

TEST(limits_and_refusals)
{
    static landscape l;
    uint32_t         s = 3;
    cr_search_report r = { .rounds = 77 };
    cr_search_limits one_round = { 1, 0 }, few_scores = { 0, 4 };
    make(&l, 8, 1000);
    cr_search_problem p = problem_of(&l);
    assert_fails(cx, cr_search_beam(cx, &p, 0, NULL, &s, &r), CR_EARG);
    l.score[3] = NAN;
    assert_fails(cx, cr_search_greedy(cx, &p, NULL, &s, &r), CR_EARG);
    l.score[3] = -INFINITY;
    assert_fails(cx, cr_search_beam(cx, &p, 2, NULL, &s, &r), CR_EARG);
    p.score = refuse;
    assert_fails_with(cx, cr_search_beam(cx, &p, 2, NULL, &s, &r), CR_EDATA, "score");
    p.score = look_up;
    l.score[3] = -5;
    l.stop_cx = cx;
    l.calls = 0;
    assert_fails(cx, cr_search_beam(cx, &p, 4, NULL, &s, &r), CR_EINTERRUPTED);
    cr_interrupt_clear(cx);
    l.calls = 0;
    assert_fails(cx, cr_search_greedy(cx, &p, NULL, &s, &r), CR_EINTERRUPTED);
    cr_interrupt_clear(cx);
    l.stop_cx = NULL;
    assert_true(s == 3 && r.rounds == 77);

    for (unsigned k = 0; k < BITS; k++) l.score[3u ^ (1u << k)] = k % 2 ? NAN : (double)k;
    assert_ok(cx, cr_search_greedy(cx, &p, &one_round, &s, &r));
    assert_true(s == (3 ^ (1u << 8)) && r.rounds == 1 && !r.complete && r.scores == BITS + 1);
    s = 3;
    assert_ok(cx, cr_search_beam(cx, &p, 3, &few_scores, &s, &r));
    assert_true(r.scores == 4 && !r.complete && r.score == 2);
    s = 3;
    p.neighbours = alone;
    assert_ok(cx, cr_search_greedy(cx, &p, NULL, &s, &r));
    assert_true(s == 3 && r.complete && r.score == -5);
}

static cr_status run(cr_ctx *cx, void *arg)
{
    cr_search_problem p = problem_of(arg);
    cr_search_report  r;
    uint32_t          s = 1;
    p.compare = NULL;
    cr_status st = cr_search_greedy(cx, &p, NULL, &s, &r);
    return st == CR_OK ? cr_search_beam(cx, &p, 5, NULL, &s, &r) : st;
}

TEST(allocations_fail)
{
    static landscape l;
    make(&l, 1, 50);
    test_every_allocation_fails(run, &l);
}
