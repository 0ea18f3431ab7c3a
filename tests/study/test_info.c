/* test_info.c -- information in columns: laws, closed forms, coverage by simulation.
 */
#include "data/formats/read.h"
#include "math/special/special.h"
#include "info_fixture.h"

/* --- counts ---------------------------------------------------------------------------------- */

enum { N = 300 };

/* z -> x, y: three categories that depend on each other. */
static cr_table *three_categories(cr_ctx *cx)
{
    uint32_t  x[N], y[N], z[N];
    cr_rng    r = cr_rng_stream(21, 0);
    cr_table *t = new_table(cx, N);
    for (size_t i = 0; i < N; i++) {
        z[i] = (uint32_t)cr_rng_below(&r, 3);
        x[i] = cr_rng_uniform(&r) < 0.6 ? z[i] : (uint32_t)cr_rng_below(&r, 4);
        y[i] = cr_rng_uniform(&r) < 0.5 ? (x[i] + z[i]) % 5 : (uint32_t)cr_rng_below(&r, 5);
    }
    add_codes(cx, t, "x", x, 4);
    add_codes(cx, t, "y", y, 6); /* one level never comes */
    add_codes(cx, t, "z", z, 3);
    return t;
}

/* H(X,Y) = H(X) + H(Y|X); I = H(X) - H(X|Y) = H(X) + H(Y) - H(X,Y); I(X;Y|Z) = H(X|Z) - H(X|Y,Z).
 */
static void check_chain_rules(cr_ctx *cx, const cr_table *t, const char *x, const char *y,
                              const char *z)
{
    for (int e = CR_INFO_PLUGIN; e <= CR_INFO_SCHUERMANN; e++) {
        cr_info_options o = plain(cx);
        cr_information  g;
        o.estimator = e;
        double h_x = entropy_of(cx, t, x, NULL, NULL, &o), h_xy = entropy_of(cx, t, x, y, NULL, &o);
        double i = mutual_of(cx, t, x, y, NULL, &o);
        assert_close(h_xy, h_x + entropy_of(cx, t, y, NULL, x, &o), 1e-12);
        assert_close(i, h_x - entropy_of(cx, t, x, NULL, y, &o), 1e-12);
        assert_close(i, mutual_of(cx, t, y, x, NULL, &o), 1e-12);
        assert_ok(cx, cr_table_entropy(cx, t, &x, 1, (const char *[]){ y, z }, 2, &o, 0, &g));
        assert_close(mutual_of(cx, t, x, y, z, &o), entropy_of(cx, t, x, NULL, z, &o) - g.value,
                     1e-12);
        if (e == CR_INFO_PLUGIN) assert_true(i >= -1e-12 && g.value >= -1e-12);
    }
}

TEST(chain_rules)
{
    cr_table *t = three_categories(cx);
    check_chain_rules(cx, t, "x", "y", "z");
    check_chain_rules(cx, t, "z", "y", "x");
    cr_table_free(cx, t);
}

TEST(chain_rules_on_real_data)
{
    const char     *path = test_data("tabular/servo.csv");
    cr_read_options read;
    cr_table       *t = NULL;
    assert_ok(cx, cr_options_init(cx, cr_read_table, &read));
    assert_ok(cx, cr_options_set(cx, cr_read_table, &read, "category", "motor,screw,pgain,vgain"));
    assert_ok(cx, cr_table_read(cx, path, &read, &t));
    check_chain_rules(cx, t, "motor", "screw", "pgain");
    check_chain_rules(cx, t, "pgain", "vgain", "motor");
    cr_table_free(cx, t);
    cr_options_free(cx, cr_read_table, &read);
}

/* The plug-in values by loops over a contingency table. */
TEST(against_a_contingency_table)
{
    cr_table       *t = three_categories(cx);
    cr_info_options o = plain(cx);
    cr_information  g;
    double          n[4][6][3] = { { { 0 } } }, joint = 0, mutual = 0, given = 0;
    for (size_t i = 0; i < N; i++)
        n[cr_table_column(t, 0)->codes[i]][cr_table_column(t, 1)->codes[i]]
         [cr_table_column(t, 2)->codes[i]] += 1.0 / N;
    for (size_t x = 0; x < 4; x++)
        for (size_t y = 0; y < 6; y++) {
            double p_xy = 0, p_x = 0, p_y = 0;
            for (size_t z = 0; z < 3; z++) {
                double p_xz = 0, p_yz = 0, p_z = 0, p = n[x][y][z];
                p_xy += p;
                for (size_t k = 0; k < 6; k++) p_xz += n[x][k][z], p_x += n[x][k][z];
                for (size_t k = 0; k < 4; k++) p_yz += n[k][y][z], p_y += n[k][y][z];
                for (size_t k = 0; k < 24; k++) p_z += n[k / 6][k % 6][z];
                if (p > 0) given += p * log(p * p_z / (p_xz * p_yz));
            }
            joint -= cr_xlogy(p_xy, p_xy);
            if (p_xy > 0) mutual += p_xy * log(p_xy / (p_x * p_y));
        }
    o.estimator = CR_INFO_PLUGIN;
    assert_close(entropy_of(cx, t, "x", "y", NULL, &o), joint, 1e-12);
    assert_close(mutual_of(cx, t, "x", "y", NULL, &o), mutual, 1e-12);
    assert_close(mutual_of(cx, t, "x", "y", "z", &o), given, 1e-12);
    o.estimator = CR_INFO_SCHUERMANN;
    assert_ok(cx, cr_table_mutual(cx, t, "x", "y", NULL, 0, &o, 0, &g));
    assert_close(g.plugin, mutual, 1e-12);
    assert_true(g.counted && g.rows == N && g.cells == 20 && isnan(g.se) && isnan(g.p));
    cr_table_free(cx, t);
}

/* Many sparse cells go another way (sorting) than few: the same entropies. */
TEST(many_levels)
{
    enum { ROWS = 400 };
    static char     text[ROWS][2][16];
    static uint32_t code[2][ROWS];
    const char     *levels[2][ROWS];
    cr_table       *t = new_table(cx, ROWS);
    cr_info_options o = plain(cx);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < 2; j++) {
            snprintf(text[i][j], sizeof text[i][j], "level %04zu", i);
            levels[j][i] = text[i][j];
            code[j][i] = (uint32_t)(j ? (i * 7) % ROWS : i / 2);
        }
    assert_ok(cx, cr_table_add_category(cx, t, "pairs", code[0], levels[0], ROWS));
    assert_ok(cx, cr_table_add_category(cx, t, "each", code[1], levels[1], ROWS));
    o.estimator = CR_INFO_PLUGIN;
    assert_close(entropy_of(cx, t, "pairs", NULL, NULL, &o), log(ROWS / 2), 1e-12);
    assert_close(entropy_of(cx, t, "each", "pairs", NULL, &o), log(ROWS), 1e-12);
    assert_close(mutual_of(cx, t, "each", "pairs", NULL, &o), log(ROWS / 2), 1e-12);
    cr_table_free(cx, t);
}

/* --- intervals ------------------------------------------------------------------------------- */

/* Of 95 % intervals for the entropy of counted draws, about 95 % hold the truth; naive percentiles
 * of the plug-in value would hold it far less often. */
TEST(coverage_of_counts)
{
    enum { ROWS = 80, K = 6, TIMES = 200 };
    const double    p[K] = { 0.4, 0.25, 0.15, 0.1, 0.06, 0.04 };
    double          truth = cr_info_entropy(p, K);
    size_t          held = 0, mutual_held = 0;
    cr_info_options o = plain(cx);
    o.bootstrap = 150;
    for (size_t s = 0; s < TIMES; s++) {
        uint32_t       x[ROWS], y[ROWS];
        cr_rng         r = cr_rng_stream(31, s);
        cr_table      *t = new_table(cx, ROWS);
        cr_information g;
        for (size_t i = 0; i < ROWS; i++) {
            x[i] = (uint32_t)cr_rng_categorical(&r, p, K);
            y[i] = cr_rng_uniform(&r) < 0.7 ? x[i] % 2 : (uint32_t)cr_rng_below(&r, 2);
        }
        add_codes(cx, t, "x", x, K);
        add_codes(cx, t, "y", y, 2);
        assert_ok(cx, cr_table_entropy(cx, t, (const char *[]){ "x" }, 1, NULL, 0, &o, s, &g));
        held += g.lower <= truth && truth <= g.upper;
        assert_true(g.lower < g.value && g.value < g.upper && g.se > 0);
        assert_ok(cx, cr_table_mutual(cx, t, "x", "y", NULL, 0, &o, s, &g));
        double odd = 0.25 + 0.1 + 0.04; /* P(x is odd); y repeats the parity but for 15 % */
        double h_y = cr_entropy_binary_nats(0.85 * odd + 0.15 * (1 - odd));
        double information = h_y - cr_entropy_binary_nats(0.15);
        mutual_held += g.lower <= information && information <= g.upper;
        cr_table_free(cx, t);
    }
    print_message("coverage: entropy %.3f, mutual information %.3f\n", (double)held / TIMES,
                  (double)mutual_held / TIMES);
    assert_true(held >= 0.90 * TIMES && held <= 0.995 * TIMES); /* standard error: 0.0154 */
    assert_true(mutual_held >= 0.90 * TIMES && mutual_held <= 0.995 * TIMES);
}

/* Likewise for neighbours, where the standard error comes from parts. */
TEST(coverage_of_neighbours)
{
    enum { ROWS = 400, TIMES = 40 };
    const double    rho = 0.7;
    double          truth = 0.5 * log(2 * M_PI * M_E), information = -0.5 * log(1 - rho * rho);
    size_t          held = 0, mutual_held = 0;
    cr_info_options o = plain(cx);
    o.bootstrap = 24;
    for (size_t s = 0; s < TIMES; s++) {
        double         x[ROWS], y[ROWS];
        cr_rng         r = cr_rng_stream(32, s);
        cr_table      *t = new_table(cx, ROWS);
        cr_information g;
        for (size_t i = 0; i < ROWS; i++) {
            x[i] = cr_rng_normal(&r);
            y[i] = rho * x[i] + sqrt(1 - rho * rho) * cr_rng_normal(&r);
        }
        add_real(cx, t, "x", x);
        add_real(cx, t, "y", y);
        assert_ok(cx, cr_table_entropy(cx, t, (const char *[]){ "x" }, 1, NULL, 0, &o, s, &g));
        held += g.lower <= truth && truth <= g.upper;
        assert_ok(cx, cr_table_mutual(cx, t, "x", "y", NULL, 0, &o, s, &g));
        mutual_held += g.lower <= information && information <= g.upper;
        cr_table_free(cx, t);
    }
    print_message("coverage: entropy %.3f, mutual information %.3f\n", (double)held / TIMES,
                  (double)mutual_held / TIMES);
    assert_true(held >= 0.85 * TIMES && mutual_held >= 0.85 * TIMES); /* standard error: 0.034 */
}

/* --- permutations ---------------------------------------------------------------------------- */

TEST(permutations)
{
    cr_table       *t = normal_table(cx, 150, 2, 0), *c = three_categories(cx);
    cr_info_options o = plain(cx);
    cr_information  g;
    o.permutations = 39;
    assert_ok(cx, cr_table_mutual(cx, t, "x", "y", NULL, 0, &o, 0, &g));
    assert_close(g.p, 1.0 / 40, 1e-15);
    assert_ok(cx, cr_table_mutual(cx, t, "x", "v", NULL, 0, &o, 0, &g));
    assert_true(g.p > 0.03 && g.p <= 1);
    assert_ok(cx, cr_table_mutual(cx, c, "x", "y", (const char *[]){ "z" }, 1, &o, 0, &g));
    assert_close(g.p, 1.0 / 40, 1e-15);
    assert_fails(cx, cr_table_mutual(cx, t, "x", "y", (const char *[]){ "w" }, 1, &o, 0, &g),
                 CR_EUNSUPPORTED);
    cr_table_free(cx, t);
    cr_table_free(cx, c);
}

/* Without dependence a p-value below 0.1 comes in a tenth of the cases, also when z moves both. */
TEST(level_of_permutations)
{
    enum { ROWS = 60, TIMES = 200 };
    cr_info_options o = plain(cx);
    size_t          low = 0;
    o.permutations = 19;
    for (size_t s = 0; s < TIMES; s++) {
        uint32_t       x[ROWS], y[ROWS], z[ROWS];
        cr_rng         r = cr_rng_stream(61, s);
        cr_table      *t = new_table(cx, ROWS);
        cr_information g;
        for (size_t i = 0; i < ROWS; i++) {
            z[i] = (uint32_t)cr_rng_below(&r, 2);
            x[i] = z[i] + (uint32_t)cr_rng_below(&r, 2);
            y[i] = z[i] + (uint32_t)cr_rng_below(&r, 3);
        }
        add_codes(cx, t, "x", x, 3), add_codes(cx, t, "y", y, 4), add_codes(cx, t, "z", z, 2);
        assert_ok(cx, cr_table_mutual(cx, t, "x", "y", (const char *[]){ "z" }, 1, &o, s, &g));
        low += g.p <= 0.1 + 1e-9;
        cr_table_free(cx, t);
    }
    assert_true(low >= 0.03 * TIMES && low <= 0.17 * TIMES); /* standard error: 0.021 */
}

/* --- all pairs ------------------------------------------------------------------------------- */

/* The same bits as pair by pair, with and without missing values; a constant column spoils its
 * own. */
TEST(pairs)
{
    enum { ROWS = 120 };
    const char     *names[] = { "g", "x", "y", "v", "constant" };
    double          c[ROWS] = { 0 }, holes[ROWS];
    cr_table       *t = normal_table(cx, ROWS, 8, 0);
    cr_info_options o = plain(cx);
    cr_information  all[10], one;
    for (size_t i = 0; i < ROWS; i++) holes[i] = i % 9 ? (double)(i * i % 97) : NAN;
    add_real(cx, t, "constant", c), add_real(cx, t, "holes", holes);
    o.permutations = 2;
    for (size_t n = 4; n <= 5; n++) {
        assert_ok(cx, cr_table_mutual_pairs(cx, t, names, n, &o, 3, all));
        for (size_t b = 1, k = 0; b < n; b++)
            for (size_t a = 0; a < b; a++, k++) {
                if (b == 4) {
                    assert_true(isnan(all[k].value));
                    continue;
                }
                assert_ok(cx, cr_table_mutual(cx, t, names[a], names[b], NULL, 0, &o, 3, &one));
                assert_true(all[k].value == one.value && all[k].p == one.p && all[k].rows == ROWS);
            }
    }
    names[4] = "holes";
    assert_ok(cx, cr_table_mutual_pairs(cx, t, names, 5, &o, 3, all));
    assert_ok(cx, cr_table_mutual(cx, t, "x", "holes", NULL, 0, &o, 3, &one));
    assert_true(all[7].value == one.value && all[7].dropped == 14 && all[0].dropped == 0);
    names[1] = "nobody";
    assert_fails(cx, cr_table_mutual_pairs(cx, t, names, 5, &o, 3, all), CR_EDATA);
    cr_table_free(cx, t);
}

/* --- two tables ------------------------------------------------------------------------------ */

TEST(divergence_of_numbers)
{
    const char     *x[] = { "x", "y" };
    cr_table       *a = normal_table(cx, GAUSS, 3, 0), *b = normal_table(cx, GAUSS + 300, 4, 3);
    cr_info_options o = plain(cx);
    cr_divergence   d;
    assert_ok(cx, cr_table_divergence(cx, a, b, x, 1, &o, 0, &d));
    assert_close(d.kl, 0.5, 0.12); /* the means are one standard deviation apart */
    assert_close(d.kl, d.cross_entropy - d.entropy, 1e-12);
    assert_close(d.entropy, entropy_of(cx, a, "x", NULL, NULL, &o), 1e-9);
    assert_close(d.js, 0.5 * 0.2228, 0.05); /* by integration: 0.11137 nats */
    assert_true(!d.counted && isnan(d.se) && d.shared == 0);
    assert_ok(cx, cr_table_divergence(cx, a, b, x, 2, &o, 0, &d));
    assert_close(d.kl, 0.5 / 0.36, 0.2); /* mu' S^-1 mu / 2 with S = [1 .8; .8 1] */
    o.bootstrap = 60;
    assert_ok(cx, cr_table_divergence(cx, a, b, x, 1, &o, 0, &d));
    assert_true(d.lower < 0.5 && 0.5 < d.upper && d.se > 0.01 && d.se < 0.15);
    assert_ok(cx, cr_table_divergence(cx, a, a, x, 1, &o, 0, &d));
    assert_int_equal(d.shared, GAUSS);
    assert_fails(cx, cr_table_divergence(cx, a, b, (const char *[]){ "x", "g" }, 2, &o, 0, &d),
                 CR_EUNSUPPORTED);
    cr_table_free(cx, a);
    cr_table_free(cx, b);
}

TEST(divergence_of_categories)
{
    const char *const levels_a[] = { "p", "q", "r" }, *const levels_b[] = { "q", "r", "s" };
    const uint32_t  in_a[] = { 0, 0, 1, 1, 1, 2, 2, 2, 2, 2 };            /* p 2 q 3 r 5 */
    const uint32_t  in_b[] = { 0, 0, 0, 0, 1, 1, 2, 2, CR_MISSING_CODE }; /* q 4 r 2 s 2 */
    const char     *name = "c";
    cr_table       *a = new_table(cx, 10), *b = new_table(cx, 9);
    cr_info_options o = plain(cx);
    cr_divergence   d;
    assert_ok(cx, cr_table_add_category(cx, a, name, in_a, levels_a, 3));
    assert_ok(cx, cr_table_add_category(cx, b, name, in_b, levels_b, 3));
    o.bootstrap = 50;
    assert_ok(cx, cr_table_divergence(cx, a, b, &name, 1, &o, 0, &d));
    assert_true(isinf(d.kl) && isinf(d.cross_entropy) && isnan(d.se));
    double m[] = { 0.1, 0.4, 0.375, 0.125 };
    double p[] = { 0.2, 0.3, 0.5, 0 }, q[] = { 0, 0.5, 0.25, 0.25 };
    assert_close(d.js, cr_info_entropy(m, 4) - (cr_info_entropy(p, 4) + cr_info_entropy(q, 4)) / 2,
                 1e-12);
    assert_true(d.rows[0] == 10 && d.rows[1] == 8 && d.dropped[1] == 1);
    o.smoothing = 0.5;
    assert_ok(cx, cr_table_divergence(cx, a, b, &name, 1, &o, 0, &d));
    double u[] = { 2.5, 3.5, 5.5, 0.5 }, w[] = { 0.5, 4.5, 2.5, 2.5 }, kl = 0;
    for (size_t i = 0; i < 4; i++) kl += u[i] / 12 * log(u[i] / 12 / (w[i] / 10));
    assert_close(d.kl, kl, 1e-12);
    assert_true(d.lower >= 0 && d.lower < d.upper && d.se > 0);
    assert_ok(cx, cr_table_divergence(cx, a, a, &name, 1, &o, 0, &d));
    assert_true(d.kl == 0 && d.js == 0);
    cr_table_free(cx, a);
    cr_table_free(cx, b);
}

/* --- rows ------------------------------------------------------------------------------------ */

TEST(surprise)
{
    const char     *names[] = { "x", "g" };
    cr_table       *t = normal_table(cx, 400, 5, 0);
    cr_info_options o = plain(cx);
    cr_surprise     s;
    double          mean = 0, h_x, h_g, h_xg;
    size_t          most = 0, farthest = 0;
    const double   *x = cr_table_find(t, "x")->values;
    o.estimator = CR_INFO_PLUGIN;
    h_x = entropy_of(cx, t, "x", NULL, NULL, &o);
    h_g = entropy_of(cx, t, "g", NULL, NULL, &o);
    h_xg = entropy_of(cx, t, "x", "g", NULL, &o);
    assert_ok(cx, cr_table_surprise(cx, t, names, 2, false, &o, 0, &s));
    for (size_t i = 0; i < 400; i++) {
        mean += s.total[i] / 400;
        assert_close(s.total[i], s.part[2 * i] + s.part[2 * i + 1], 1e-12);
        if (s.part[2 * i] > s.part[2 * most]) most = i;
        if (fabs(x[i]) > fabs(x[farthest])) farthest = i;
    }
    assert_close(mean, h_x + h_g, 1e-11);
    assert_int_equal(most, farthest);
    cr_surprise_free(cx, &s);
    assert_ok(cx, cr_table_surprise(cx, t, names, 2, true, &o, 0, &s));
    mean = 0;
    for (size_t i = 0; i < 400; i++) mean += s.total[i] / 400;
    assert_close(mean, h_xg, 1e-11);
    assert_null(s.part);
    cr_surprise_free(cx, &s);
    cr_table_free(cx, t);
}

/* --- what can be wrong ----------------------------------------------------------------------- */

TEST(refusals)
{
    enum { ROWS = 10 };
    double          x[ROWS], c[ROWS], none[ROWS], wild[ROWS];
    uint32_t        one[ROWS] = { 0 };
    const char     *name;
    cr_table       *t = new_table(cx, ROWS), *few = new_table(cx, 3);
    cr_info_options o = plain(cx);
    cr_information  g = { .rows = 77 };
    for (size_t i = 0; i < ROWS; i++)
        x[i] = (double)(i * i), c[i] = 4, none[i] = NAN, wild[i] = i ? (double)i : INFINITY;
    add_real(cx, t, "weight", x), add_real(cx, t, "constant", c), add_real(cx, t, "none", none);
    add_real(cx, t, "wild", wild), add_codes(cx, t, "one", one, 1);
    add_real(cx, few, "weight", x);
    name = "wieght";
    assert_fails_with(cx, cr_table_entropy(cx, t, &name, 1, NULL, 0, &o, 0, &g), CR_EDATA,
                      "not found");
    assert_string_equal(cr_error_nearest(cx), "weight");
    name = "constant";
    assert_fails_with(cx, cr_table_entropy(cx, t, &name, 1, NULL, 0, &o, 0, &g), CR_EDATA,
                      "constant");
    name = "none";
    assert_fails_with(cx, cr_table_entropy(cx, t, &name, 1, NULL, 0, &o, 0, &g), CR_EDATA,
                      "no values");
    name = "wild";
    assert_fails_with(cx, cr_table_entropy(cx, t, &name, 1, NULL, 0, &o, 0, &g), CR_EDATA,
                      "infinite");
    name = "weight";
    assert_fails_with(cx, cr_table_entropy(cx, few, &name, 1, NULL, 0, &o, 0, &g), CR_EDATA,
                      "3 rows with values: neighbour 3 needs at least 4");
    assert_fails(cx, cr_table_entropy(cx, t, &name, 0, NULL, 0, &o, 0, &g), CR_EARG);
    assert_fails_with(cx, cr_table_entropy(cx, t, &name, 1, &name, 1, &o, 0, &g), CR_EARG, "twice");
    assert_fails_with(cx, cr_table_mutual(cx, t, "weight", "one", NULL, 0, &o, 0, &g), CR_EDATA,
                      "one level");
    assert_int_equal(g.rows, 77);
    name = "one";
    assert_ok(cx, cr_table_entropy(cx, t, &name, 1, NULL, 0, &o, 0, &g));
    assert_true(g.value == 0 && g.plugin == 0 && g.cells == 1);
    cr_table_free(cx, t);
    cr_table_free(cx, few);
}

/* Rows without a value are left out pair by pair; a row alone in its category has no neighbour. */
TEST(missing_and_alone)
{
    enum { ROWS = 40 };
    double          x[ROWS], y[ROWS], kept_x[ROWS], kept_y[ROWS];
    uint32_t        g[ROWS];
    size_t          n = 0;
    cr_rng          r = cr_rng_stream(71, 0);
    cr_table       *t = new_table(cx, ROWS), *kept;
    cr_info_options o = plain(cx);
    cr_information  got, want;
    for (size_t i = 0; i < ROWS; i++) {
        x[i] = i % 7 == 3 ? NAN : cr_rng_normal(&r);
        y[i] = i % 11 == 5 ? NAN : cr_rng_normal(&r);
        g[i] = i == 0 ? 2 : (uint32_t)(i % 2);
        if (!isnan(x[i]) && !isnan(y[i])) kept_x[n] = x[i], kept_y[n++] = y[i];
    }
    add_real(cx, t, "x", x), add_real(cx, t, "y", y), add_codes(cx, t, "g", g, 3);
    kept = new_table(cx, n);
    add_real(cx, kept, "x", kept_x), add_real(cx, kept, "y", kept_y);
    assert_ok(cx, cr_table_mutual(cx, t, "x", "y", NULL, 0, &o, 0, &got));
    assert_ok(cx, cr_table_mutual(cx, kept, "x", "y", NULL, 0, &o, 0, &want));
    assert_true(got.value == want.value && got.rows == n && got.dropped == ROWS - n);
    assert_ok(cx, cr_table_mutual(cx, t, "g", "x", NULL, 0, &o, 0, &got));
    assert_int_equal(got.alone, 1);
    cr_table_free(cx, t);
    cr_table_free(cx, kept);
}

TEST(threads_give_the_same)
{
    cr_information  g[2];
    cr_divergence   d[2];
    const char     *x = "x";
    cr_table       *t = normal_table(cx, 300, 6, 0), *b = normal_table(cx, 200, 7, 1);
    cr_info_options o = plain(cx);
    o.bootstrap = 12, o.permutations = 5;
    for (size_t i = 0; i < 2; i++) {
        cr_ctx_set_threads(cx, i ? 4 : 1);
        assert_ok(cx, cr_table_mutual(cx, t, "x", "y", NULL, 0, &o, 9, &g[i]));
        assert_ok(cx, cr_table_divergence(cx, t, b, &x, 1, &o, 9, &d[i]));
    }
    assert_true(g[0].value == g[1].value && g[0].se == g[1].se && g[0].p == g[1].p);
    assert_true(d[0].kl == d[1].kl && d[0].js == d[1].js && d[0].se == d[1].se);
    cr_table_free(cx, t);
    cr_table_free(cx, b);
}

/* --- memory ---------------------------------------------------------------------------------- */

static cr_status ask(cr_ctx *cx, void *arg)
{
    cr_status                st = CR_OK;
    cr_table                *t = NULL;
    cr_info_options          o = { .estimator = CR_INFO_SCHUERMANN,
                                   .neighbours = 1,
                                   .bootstrap = 2,
                                   .level = 0.9,
                                   .permutations = 1 };
    cr_information           g, pairs[3];
    cr_divergence            d;
    cr_surprise              s = { 0 };
    static double            x[] = { 1, 2.5, 3, 7, 2, 4, 4, 9 }, y[] = { 3, 1, 4, 1.5, 9, 2, 6, 5 };
    static uint32_t          c[] = { 0, 1, 0, 1, 0, 1, 0, 1 }, e[] = { 0, 0, 1, 1, 0, 0, 1, 1 };
    static const char *const levels[] = { "a", "b" };
    const char              *names[] = { "x", "c", "y", "e" };
    CR_TRY(cr_table_new(cx, "t", 8, &t));
    CR_TRY(cr_table_add_numbers(cx, t, "x", CR_REAL, x, 1));
    CR_TRY(cr_table_add_numbers(cx, t, "y", CR_REAL, y, 1));
    CR_TRY(cr_table_add_category(cx, t, "c", c, levels, 2));
    CR_TRY(cr_table_add_category(cx, t, "e", e, levels, 2));
    switch (*(const int *)arg) {
    case 0:
        CR_TRY(cr_table_entropy(cx, t, names, 2, names + 3, 1, &o, 0, &g));
        break;
    case 1:
        CR_TRY(cr_table_mutual(cx, t, "x", "y", names + 1, 1, &o, 0, &g));
        break;
    case 2:
        CR_TRY(cr_table_mutual(cx, t, "c", "e", NULL, 0, &o, 0, &g));
        break;
    case 3:
        CR_TRY(cr_table_divergence(cx, t, t, names, 1, &o, 0, &d));
        break;
    case 4:
        CR_TRY(cr_table_divergence(cx, t, t, names + 1, 1, &o, 0, &d));
        break;
    case 5:
        CR_TRY(cr_table_mutual_pairs(cx, t, names, 3, &o, 0, pairs));
        break;
    default:
        CR_TRY(cr_table_surprise(cx, t, names, 2, false, &o, 0, &s));
    }
done:
    cr_surprise_free(cx, &s);
    cr_table_free(cx, t);
    return st;
}

TEST(allocations)
{
    for (int question = 0; question < 7; question++) test_every_allocation_fails(ask, &question);
}
