/* test_info_range.c -- intervals of information: they stay within what is possible, have a width, and hold
 * the truth about as often as they say, also where that is at the end of the range. */
#include "base/rng.h"
#include "math/special/special.h"
#include "study/info.h"
#include "support.h"

enum { MOST = 200 };

static const char *const levels[] = { "a", "b", "c", "d", "e", "f" };

typedef enum kind { ENTROPY, GIVEN, MUTUAL, KL, NORMAL, PAIR, MIXED, MIXED_GIVEN } kind;

/* p: of the category; of two, y is drawn from p as x is, and is x with probability `same`.  rho: of two
 * normals. */
typedef struct problem {
    const char *name;
    kind        kind;
    size_t      K;
    double      p[6], same, truth, most; /* the last two by complete() */
} problem;

typedef struct tally {
    double held, outside, flat, width, none, count;
} tally;

static void add(tally *s, double lower, double upper, double truth, double least, double most)
{
    s->count++;
    if (isnan(lower)) {
        s->none++;
        return;
    }
    s->held += lower <= truth + 1e-12 && truth - 1e-12 <= upper;
    s->outside += lower < least - 1e-12 || upper > most + 1e-12;
    s->flat += !(upper > lower);
    s->width += upper - lower;
}

static void draw(const problem *q, cr_rng *r, size_t n, uint32_t *x, uint32_t *y, double *u,
                 double *v)
{
    for (size_t i = 0; i < n; i++) {
        x[i] = (uint32_t)cr_rng_categorical(r, q->p, q->K);
        y[i] = cr_rng_uniform(r) < q->same ? x[i] : (uint32_t)cr_rng_categorical(r, q->p, q->K);
        u[i] = cr_rng_normal(r);
        v[i] = q->same * u[i] + sqrt(1 - q->same * q->same) * cr_rng_normal(r);
    }
}

/* Only levels that occur are in a table; returns how many. */
static size_t recode(uint32_t *code, size_t n, size_t K)
{
    uint32_t to[6] = { 0 }, seen = 0;
    for (uint32_t k = 0; k < K; k++) {
        bool occurs = false;
        for (size_t i = 0; i < n; i++) occurs |= code[i] == k;
        to[k] = seen;
        seen += occurs;
    }
    for (size_t i = 0; i < n; i++) code[i] = to[code[i]];
    return seen;
}

static cr_table *table(cr_ctx *cx, const problem *q, cr_rng *r, size_t n)
{
    cr_table *t = NULL;
    uint32_t  x[MOST], y[MOST];
    double    u[MOST], v[MOST];
    draw(q, r, n, x, y, u, v);
    assert_ok(cx, cr_table_new(cx, "test.csv", n, &t));
    assert_ok(cx, cr_table_add_category(cx, t, "x", x, levels, recode(x, n, q->K)));
    assert_ok(cx, cr_table_add_category(cx, t, "y", y, levels, recode(y, n, q->K)));
    assert_ok(cx, cr_table_add_numbers(cx, t, "u", CR_REAL, u, 1));
    assert_ok(cx, cr_table_add_numbers(cx, t, "v", CR_REAL, v, 1));
    return t;
}

static tally simulate(cr_ctx *cx, const problem *q, size_t n, size_t times)
{
    static const char *const x = "x", *const y = "y", *const u = "u";
    tally           s = { 0 };
    cr_info_options o;
    assert_ok(cx, cr_options_init(cx, cr_info_table, &o));
    for (size_t k = 0; k < times; k++) {
        cr_rng         r = cr_rng_stream(71, k);
        cr_table      *t = table(cx, q, &r, n), *other = table(cx, q, &r, n);
        cr_information g = { .lower = NAN };
        cr_divergence  d = { .lower = NAN };
        cr_status      st = CR_OK;
        double         least = q->kind == NORMAL ? -INFINITY : 0;
        if (q->kind == ENTROPY) st = cr_table_entropy(cx, t, &x, 1, NULL, 0, &o, k, &g);
        if (q->kind == GIVEN) st = cr_table_entropy(cx, t, &x, 1, &y, 1, &o, k, &g);
        if (q->kind == MUTUAL) st = cr_table_mutual(cx, t, "x", "y", NULL, 0, &o, k, &g);
        if (q->kind == KL) st = cr_table_divergence(cx, t, other, &x, 1, &o, k, &d);
        if (q->kind == NORMAL) st = cr_table_entropy(cx, t, &u, 1, NULL, 0, &o, k, &g);
        if (q->kind == PAIR) st = cr_table_mutual(cx, t, "u", "v", NULL, 0, &o, k, &g);
        if (q->kind == MIXED) st = cr_table_mutual(cx, t, "x", "u", NULL, 0, &o, k, &g);
        if (q->kind == MIXED_GIVEN) st = cr_table_entropy(cx, t, &x, 1, &u, 1, &o, k, &g);
        if (q->kind == KL) g.lower = d.lower, g.upper = d.upper;
        if (st == CR_OK) add(&s, g.lower, g.upper, q->truth, least, q->most);
        cr_table_free(cx, t);
        cr_table_free(cx, other);
    }
    return s;
}

/* H of the category, and of x given y, which is x with probability `same`. */
static double entropy_given(const problem *q)
{
    double h = 0, H = 0;
    for (size_t j = 0; j < q->K; j++) {
        if (q->p[j] > 0) H -= q->p[j] * log(q->p[j]);
        for (size_t i = 0; i < q->K; i++) {
            double p = q->p[j] * ((1 - q->same) * q->p[i] + (i == j ? q->same : 0));
            if (p > 0) h -= p * log(p);
        }
    }
    return h - H;
}

static problem complete(problem q)
{
    double h = 0;
    for (size_t j = 0; j < q.K; j++)
        if (q.p[j] > 0) h -= q.p[j] * log(q.p[j]);
    double given = entropy_given(&q), top = log((double)(q.K > 1 ? q.K : 2));
    q.most = top;
    q.truth = q.kind == ENTROPY ? h : q.kind == GIVEN ? given : q.kind == MUTUAL ? h - given : 0;
    if (q.kind == NORMAL) q.truth = 0.5 * log(2 * M_PI * M_E), q.most = INFINITY;
    if (q.kind == PAIR) q.truth = -0.5 * log(1 - q.same * q.same), q.most = INFINITY;
    if (q.kind == KL) q.most = INFINITY;
    if (q.kind == MIXED_GIVEN) q.truth = h;
    return q;
}

static const problem problems[] = {
    { "entropy, even 2", ENTROPY, 2, { 0.5, 0.5 }, 0, 0, 0 },
    { "entropy, 0.9 0.1", ENTROPY, 2, { 0.9, 0.1 }, 0, 0, 0 },
    { "entropy, even 4", ENTROPY, 4, { 0.25, 0.25, 0.25, 0.25 }, 0, 0, 0 },
    { "entropy, 0.7 and 3", ENTROPY, 4, { 0.7, 0.1, 0.1, 0.1 }, 0, 0, 0 },
    { "entropy, constant", ENTROPY, 1, { 1 }, 0, 0, 0 },
    { "given, even 2", GIVEN, 2, { 0.5, 0.5 }, 0, 0, 0 },
    { "given, copy of 3", GIVEN, 3, { 0.5, 0.3, 0.2 }, 1, 0, 0 },
    { "given, most of 3", GIVEN, 3, { 0.5, 0.3, 0.2 }, 0.6, 0, 0 },
    { "mutual, 0 of 2", MUTUAL, 2, { 0.5, 0.5 }, 0, 0, 0 },
    { "mutual, 0 of 3", MUTUAL, 3, { 0.5, 0.3, 0.2 }, 0, 0, 0 },
    { "mutual, some of 3", MUTUAL, 3, { 0.5, 0.3, 0.2 }, 0.6, 0, 0 },
    { "mutual, copy of 3", MUTUAL, 3, { 0.5, 0.3, 0.2 }, 1, 0, 0 },
    { "kl, 0 of 3", KL, 3, { 0.5, 0.3, 0.2 }, 0, 0, 0 },
    { "normal", NORMAL, 2, { 0.5, 0.5 }, 0, 0, 0 },
    { "normals, rho 0", PAIR, 2, { 0.5, 0.5 }, 0, 0, 0 },
    { "normals, rho 0.6", PAIR, 2, { 0.5, 0.5 }, 0.6, 0, 0 },
    { "category, number", MIXED, 2, { 0.5, 0.5 }, 0, 0, 0 },
    { "category given number", MIXED_GIVEN, 2, { 0.5, 0.5 }, 0, 0, 0 },
};

/* At the end of its range a truth is held more often than the level says, since only one side can miss it.
 * Counts of ten rows in nine cells, and the bias of neighbours among twenty rows, leave somewhat less. */
TEST(intervals_hold_and_stay_in_range)
{
    static const size_t rows[] = { 10, 20, 50, 200 };
    size_t              times = simulation_size(20, 100);
    for (size_t k = 0; k < sizeof problems / sizeof *problems; k++) {
        problem q = complete(problems[k]);
        for (size_t j = 0; j < 4; j++) {
            tally  s = simulate(cx, &q, rows[j], times);
            double m = s.count - s.none, least = rows[j] > 20 ? 0.94 : rows[j] == 20 ? 0.91 : 0.85;
            if (m == 0) continue;
            print_message("%-22s %3zu rows: held %.3f, outside %.3f, width %.3f, none %.2f\n",
                          q.name, rows[j], s.held / m, s.outside / m, s.width / m,
                          s.none / s.count);
            assert_true(s.flat == 0);
            assert_true(rows[j] < 50 || s.outside == 0);
            assert_true(s.held / m > least - 3 * sqrt(least * (1 - least) / m));
        }
    }
}

/* A constant column of n rows, by hand: another value may have the share e, (1 - e)^n = 0.05.  Of a category
 * with two levels in many rows no interval goes beyond one bit, nor does what a number tells of it. */
TEST(ends_of_the_range)
{
    enum { N = 60 };
    static const char *const x = "x", *const y = "y", *const u = "u";
    uint32_t        same[N] = { 0 }, even[N];
    double          number[N];
    cr_table       *t = NULL;
    cr_information  g;
    cr_info_options o;
    cr_rng          r = cr_rng_stream(5, 5);
    for (size_t i = 0; i < N; i++) even[i] = i % 2, number[i] = cr_rng_normal(&r) + (double)even[i];
    assert_ok(cx, cr_options_init(cx, cr_info_table, &o));
    assert_ok(cx, cr_table_new(cx, "test.csv", N, &t));
    assert_ok(cx, cr_table_add_category(cx, t, x, same, levels, 1));
    assert_ok(cx, cr_table_add_category(cx, t, y, even, levels, 2));
    assert_ok(cx, cr_table_add_numbers(cx, t, u, CR_REAL, number, 1));
    assert_ok(cx, cr_table_entropy(cx, t, &x, 1, NULL, 0, &o, 0, &g));
    double e = 1 - pow(0.05, 1.0 / N);
    assert_close(g.lower, 0, 0);
    assert_close(g.upper, -e * log(e) - (1 - e) * log(1 - e), 1e-12);
    assert_ok(cx, cr_table_entropy(cx, t, &y, 1, NULL, 0, &o, 0, &g));
    assert_true(g.lower < log(2) && g.lower > 0.6 && g.upper <= log(2));
    assert_ok(cx, cr_table_entropy(cx, t, &y, 1, &u, 1, &o, 0, &g));
    assert_true(g.lower >= 0 && g.lower < g.upper && g.upper <= log(2));
    assert_ok(cx, cr_table_mutual(cx, t, y, u, NULL, 0, &o, 0, &g));
    assert_true(g.lower >= 0 && g.lower < g.upper && g.upper <= log(2));
    cr_table_free(cx, t);
}
