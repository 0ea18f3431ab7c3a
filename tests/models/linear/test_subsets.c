/* test_subsets.c -- the best subset against all 2^p of them, forward and backward against refits,
 * the selected model against the same terms given, cross-validation of the search by hand, and the
 * reference answers. */
#include "../life.h"
#include "data/judge/split.h"
#include "models/linear/subsets.h"

enum { N = 30, P = 9 };

/* --- by definition --------------------------------------------------------------------------- */

/* RSS of least squares on the set of bits, from cross-products in long double; INFINITY where the
 * terms of the set are dependent. */
static double rss_of(const cri_gram *g, unsigned set)
{
    size_t      p = g->p, in[32], k = 0;
    long double A[32 * 33], rss = g->tt;
    for (size_t j = 0; j < p; j++)
        if (set >> j & 1) in[k++] = j;
    for (size_t a = 0; a < k; a++) {
        for (size_t b = 0; b < k; b++) A[a * 33 + b] = g->G[in[a] * p + in[b]];
        A[a * 33 + k] = g->g[in[a]];
    }
    for (size_t a = 0; a < k; a++) { /* elimination takes what each explains off the RSS */
        if (A[a * 33 + a] < 1e-9L * (long double)g->G[in[a] * p + in[a]]) return INFINITY;
        rss -= A[a * 33 + k] * A[a * 33 + k] / A[a * 33 + a];
        for (size_t b = a + 1; b < k; b++) {
            long double f = A[b * 33 + a] / A[a * 33 + a];
            for (size_t c = a; c <= k; c++) A[b * 33 + c] -= f * A[a * 33 + c];
        }
    }
    return (double)rss;
}

static unsigned bits_of(const cri_subsets *s, size_t size)
{
    unsigned set = 0;
    for (size_t j = 0; j < s->p; j++) set |= (unsigned)(s->member[size * s->p + j] != 0) << j;
    return set;
}

/* Cross-products of drawn data; columns lean on each other by `lean`, and the last may be one of
 * the others again. */
static cri_gram draw_gram(cr_ctx *cx, uint64_t seed, size_t p, double lean, bool twin)
{
    cr_rng      r = cr_rng_stream(seed, 5);
    cri_moments m = { 0 };
    cri_gram    g = { 0 };
    double      X[N][20], y[N], mean[21] = { 0 };
    assert_ok(cx, cri_moments_new(cx, p, &m));
    for (size_t i = 0; i < N; i++) {
        y[i] = 2 * cr_rng_normal(&r);
        for (size_t j = 0; j < p; j++) {
            X[i][j] = cr_rng_normal(&r) + (j ? lean * X[i][j - 1] : 0);
            y[i] += (j % 3 ? 0.2 : 0.7) * X[i][j];
        }
        if (twin) X[i][p - 1] = X[i][1];
        for (size_t j = 0; j < p; j++) mean[j] += X[i][j] / N;
        mean[p] += y[i] / N;
    }
    m.weight = N, m.rows = N;
    for (size_t i = 0; i < N; i++)
        for (size_t a = 0; a <= p; a++)
            for (size_t b = 0; b <= p; b++)
                m.S[a * (p + 1) + b] +=
                    ((a < p ? X[i][a] : y[i]) - mean[a]) * ((b < p ? X[i][b] : y[i]) - mean[b]);
    assert_ok(cx, cri_gram_new(cx, &m, true, true, &g));
    cri_moments_free(cx, &m);
    return g;
}

TEST(best_is_the_best_of_all)
{
    for (uint64_t seed = 0; seed < 24; seed++) {
        size_t      p = seed % 4 == 0 ? 11 : 1 + seed % P;
        bool        twin = seed % 3 == 2 && p > 2;
        cri_gram    g = draw_gram(cx, seed, p, seed % 2 ? 0.9 : 0.1, twin);
        double      rss[16], member[16 * 16], best[16];
        cri_subsets s = { p, p, rss, member };
        assert_ok(cx, cri_subsets_find(cx, &g, CRI_SUBSET_BEST, SIZE_MAX, &s));
        for (size_t k = 0; k <= p; k++) best[k] = INFINITY;
        for (unsigned set = 0; set < 1u << p; set++) {
            size_t k = (size_t)__builtin_popcount(set);
            best[k] = fmin(best[k], rss_of(&g, set));
        }
        for (size_t k = 0; k <= p; k++) {
            if (isinf(best[k])) { /* the twin makes the largest set dependent */
                assert_true(k == p && twin && rss[k] == -1);
                continue;
            }
            assert_relative(rss[k], best[k], 1e-9);
            assert_int_equal(__builtin_popcount(bits_of(&s, k)), k);
            assert_relative(rss_of(&g, bits_of(&s, k)), best[k], 1e-9);
        }
        double      one_rss[16], one_member[16 * 16];
        cri_subsets one = { p, p, one_rss, one_member };
        for (size_t k = 0; k < p; k++) { /* a single size */
            assert_ok(cx, cri_subsets_find(cx, &g, CRI_SUBSET_BEST, k, &one));
            assert_relative(one_rss[k], best[k], 1e-9);
            for (size_t i = 0; i <= p; i++)
                if (i != k) assert_true(one_rss[i] == -1);
        }
        cri_gram_free(cx, &g);
    }
}

/* Every step by all possible refits. */
TEST(steps)
{
    for (uint64_t seed = 0; seed < 8; seed++) {
        cri_gram    g = draw_gram(cx, 40 + seed, P, seed % 2 ? 0.9 : 0.2, false);
        double      up[16], down[16], up_member[16 * 16], down_member[16 * 16];
        cri_subsets f = { P, P, up, up_member }, b = { P, P, down, down_member };
        unsigned    set = 0;
        assert_ok(cx, cri_subsets_find(cx, &g, CRI_SUBSET_FORWARD, SIZE_MAX, &f));
        assert_ok(cx, cri_subsets_find(cx, &g, CRI_SUBSET_BACKWARD, SIZE_MAX, &b));
        for (size_t k = 0; k <= P; k++) {
            unsigned next = set;
            assert_int_equal(bits_of(&f, k), set);
            assert_relative(up[k], rss_of(&g, set), 1e-9);
            for (size_t j = 0; j < P; j++)
                if (!(set >> j & 1) &&
                    (next == set || rss_of(&g, set | 1u << j) < rss_of(&g, next)))
                    next = set | 1u << j;
            set = next;
        }
        set = (1u << P) - 1;
        for (size_t k = P + 1; k-- > 0;) {
            unsigned next = set;
            assert_int_equal(bits_of(&b, k), set);
            assert_relative(down[k], rss_of(&g, set), 1e-9);
            for (size_t j = 0; j < P; j++)
                if (set >> j & 1 &&
                    (next == set || rss_of(&g, set & ~(1u << j)) < rss_of(&g, next)))
                    next = set & ~(1u << j);
            set = next;
        }
        cri_gram_free(cx, &g);
    }
    /* dependent terms are never in one set */
    cri_gram    g = draw_gram(cx, 77, P, 0.3, true);
    double      rss[16], member[16 * 16];
    cri_subsets s = { P, P, rss, member };
    for (int method = CRI_SUBSET_FORWARD; method <= CRI_SUBSET_BACKWARD; method++) {
        assert_ok(cx, cri_subsets_find(cx, &g, (cri_subset_method)method, SIZE_MAX, &s));
        assert_true(rss[P] == -1);
        assert_true(rss[P - 1] >= 0);
    }
    cri_gram_free(cx, &g);
}

/* --- the model ------------------------------------------------------------------------------- */

/* Joins the names of the terms in the chosen set with commas. */
static void chosen_terms(const json_t *d, char *out, size_t size)
{
    size_t  i, k, used = 0;
    json_t *item, *name;
    json_array_foreach(json_object_get(d, "subsets"), i, item)
    {
        if (!json_is_true(json_object_get(item, "chosen"))) continue;
        json_array_foreach(json_object_get(item, "terms"), k, name)
        {
            used += (size_t)snprintf(out + used, size - used, "%s%s", k ? "," : "",
                                     json_string_value(name));
        }
    }
}

static double weight_of(const double *w, bool weighted)
{
    double sum = 0;
    for (size_t i = 0; i < N; i++) sum += weighted ? w[i] : 1;
    return sum;
}

/* The selected model is least squares on the terms it names, to the last statistic; but where the
 * search was cross-validated, the noise is that of the rows left out. */
TEST(as_if_given)
{
    double            X[N * 6], y[N], w[N];
    const char *const kinds[] = { "select=best",
                                  "select=forward criterion=aic",
                                  "select=backward weights=w",
                                  "select=best size=3 solver=gram",
                                  "select=best criterion=adjusted-r2 intercept=false",
                                  "select=forward criterion=cv cv_folds=4 seed=3" };
    const char *const plain[] = { "", "", "weights=w", "solver=gram", "intercept=false", "" };
    static const char *const same[] = { "rss", "r2", "adjusted_r2", "aic", "bic", "f", "loocv" };
    draw_regression(20, N, 6, 3, X, y);
    for (size_t i = 0; i < N; i++) w[i] = 1 + (double)(i % 3);
    cr_table *t = make_table(cx, X, N, 6, y, w);
    size_t    inflated = 0;
    for (size_t k = 0; k < 6; k++) {
        char settings[400], terms[200] = "";
        snprintf(settings, sizeof settings, "target=y features=x* %s", kinds[k]);
        cr_model *m = fit(cx, "linear", t, settings);
        json_t   *d = describe(cx, m);
        chosen_terms(d, terms, sizeof terms);
        assert_true(strlen(terms) > 0);
        snprintf(settings, sizeof settings, "target=y features=%s %s", terms, plain[k]);
        cr_model *o = fit(cx, "linear", t, settings);
        json_t   *e = describe(cx, o);
        bool      wider = json_object_get(json_object_get(d, "statistics"), "inflation");
        double    times = wider ? sqrt(statistic(d, "inflation")) : 1;
        inflated += wider;
        for (size_t i = 0; i < sizeof same / sizeof *same; i++)
            assert_relative(statistic(d, same[i]), statistic(e, same[i]), 1e-10);
        for (size_t j = 1; j <= 6; j++) {
            char name[8];
            snprintf(name, sizeof name, "x%zu", j);
            bool in = strstr(terms, name);
            if (!in) assert_true(coefficient(d, j, "value") == 0 && isnan(coefficient(d, j, "sd")));
            if (!in) continue;
            assert_relative(coefficient(d, j, "value"), coefficient(e, j, "value"), 1e-10);
            assert_relative(coefficient(d, j, "sd"), coefficient(e, j, "sd") * times, 1e-10);
            if (!wider) assert_relative(coefficient(d, j, "p"), coefficient(e, j, "p"), 1e-8);
        }
        cr_prediction p = predict(cx, m, t), q = predict(cx, o, t);
        for (size_t i = 0; i < N; i++) {
            assert_relative(p.mean[i], q.mean[i], 1e-10);
            assert_relative(p.scale[i], q.scale[i] * times, 1e-10);
            assert_relative(p.dof[i], wider ? (k == 5 ? 4 : 10) - 1 : q.dof[i], 1e-14);
            assert_relative(p.leverage[i], q.leverage[i], 1e-9);
        }
        json_t *item; /* and the table says the same of it */
        size_t  i;
        json_array_foreach(json_object_get(d, "subsets"), i, item)
        {
            if (!json_is_true(json_object_get(item, "chosen"))) continue;
            assert_relative(number_of(item, "rss"), statistic(e, "rss"), 1e-9);
            assert_relative(number_of(item, "aic"), statistic(e, "aic"), 1e-9);
            assert_relative(number_of(item, "bic"), statistic(e, "bic"), 1e-9);
            assert_relative(number_of(item, "adjusted_r2"), statistic(e, "adjusted_r2"), 1e-9);
            double all = number_of(item, "size") + (k != 4), n = wider ? weight_of(w, k == 2) : 1;
            if (wider) /* by the error in rows left out, which the table shows */
                assert_relative(statistic(d, "inflation"),
                                (number_of(item, "cv") + number_of(item, "cv_se")) /
                                    (statistic(e, "rss") / (n - all) * (1 + all / n)),
                                1e-9);
        }
    }
    assert_true(inflated > 0);
}

/* The search is done again in each fold.  The rows stand by target, as they are dealt. */
TEST(cross_validated_search)
{
    double            X[N * 4], y[N];
    size_t            which[N];
    const char *const methods[] = { "best", "forward", "backward" };
    draw_regression(21, N, 4, 4, X, y);
    for (size_t i = 1; i < N; i++)
        for (size_t k = i; k > 0 && y[k - 1] > y[k]; k--) {
            double row[5] = { y[k] };
            memcpy(row + 1, X + k * 4, 4 * sizeof *X);
            memcpy(X + k * 4, X + (k - 1) * 4, 4 * sizeof *X);
            memcpy(X + (k - 1) * 4, row + 1, 4 * sizeof *X);
            y[k] = y[k - 1], y[k - 1] = row[0];
        }
    cr_table *t = make_table(cx, X, N, 4, y, NULL);
    cr_folds  split;
    assert_ok(cx, cr_folds_new(cx, N, 4, 8, &split));
    for (size_t k = 0; k < 3; k++) {
        char settings[200];
        snprintf(settings, sizeof settings, "target=y select=%s criterion=cv cv_folds=4 seed=8",
                 methods[k]);
        cr_model *m = fit(cx, "linear", t, settings);
        json_t   *d = describe(cx, m);
        double    least = INFINITY;
        size_t    at = 0;
        for (size_t size = 0; size <= 4; size++) {
            json_t *item = json_array_get(json_object_get(d, "subsets"), size);
            double  sum = 0;
            for (size_t f = 0; f < 4; f++) {
                double XX[N * 4], yy[N];
                size_t n = cr_folds_train(&split, f, which);
                for (size_t i = 0; i < n; i++) {
                    memcpy(XX + i * 4, X + which[i] * 4, 4 * sizeof(double));
                    yy[i] = y[which[i]];
                }
                cr_table *train = make_table(cx, XX, n, 4, yy, NULL);
                snprintf(settings, sizeof settings, "target=y select=%s size=%zu", methods[k],
                         size);
                cr_model *o = fit(cx, "linear", train, settings);
                n = cr_folds_test(&split, f, which);
                for (size_t i = 0; i < n; i++)
                    memcpy(XX + i * 4, X + which[i] * 4, 4 * sizeof(double));
                cr_table     *test = make_table(cx, XX, n, 4, NULL, NULL);
                cr_prediction q = predict(cx, o, test);
                for (size_t i = 0; i < n; i++) sum += pow(y[which[i]] - q.mean[i], 2) / N;
            }
            assert_int_equal(number_of(item, "size"), size);
            assert_relative(number_of(item, "cv"), sum, 1e-9);
            assert_true(number_of(item, "cv_se") > 0);
            if (sum < least) least = sum, at = size;
        }
        assert_int_equal(statistic(d, "selected"), at);
    }
    cr_folds_free(cx, &split);
}

TEST(corners)
{
    static double X[N * 60];
    double        y[N];
    cr_model     *m = NULL;
    draw_regression(22, N, 60, 1, X, y);
    cr_table *t = make_table(cx, X, N, 60, y, NULL);
    assert_fails_with(
        cx, try_fit(cx, "linear", t, "target=y select=best", &m), CR_EARG,
        "60 terms are too many for the search for the best subset, which takes at most 50");
    assert_true(strlen(cr_error_hint(cx)) > 0);
    assert_fails_with(cx, try_fit(cx, "linear", t, "target=y select=backward", &m), CR_EARG,
                      "starts from all 60 terms");
    assert_fails_with(cx, try_fit(cx, "linear", t, "target=y size=3", &m), CR_EARG,
                      "--size is the number of terms of a selection");
    assert_fails_with(cx, try_fit(cx, "linear", t, "target=y select=forward size=40", &m), CR_EARG,
                      "the rows allow at most 28");
    m = fit(cx, "linear", t, "target=y select=forward size=5"); /* more terms than rows */
    json_t *d = describe(cx, m);
    assert_int_equal(statistic(d, "rank"), 5);
    assert_int_equal(json_array_size(json_object_get(d, "subsets")), 6);
    cr_model_free(cx, m);
    m = fit(cx, "linear", t, "target=y features=x1,x2,x3 select=best size=0"); /* the mean alone */
    cr_prediction q = predict(cx, m, t);
    assert_close(q.mean[0], q.mean[N - 1], 1e-14);
    cr_model_free(cx, m);
    cr_table_free(cx, t);

    double one[2] = { 1, 2 }, target[1] = { 7 };
    t = make_table(cx, one, 1, 2, target, NULL);
    m = fit(cx, "linear", t, "target=y select=best");
    q = predict(cx, m, t);
    assert_close(q.mean[0], 7, 1e-15);
}

/* --- reference ------------------------------------------------------------------------------- */

static void check_terms(const json_t *names, const json_t *terms)
{
    size_t  i, k;
    json_t *name, *term;
    assert_int_equal(json_array_size(names), json_array_size(terms));
    json_array_foreach(names, i, name)
    {
        bool found = false;
        json_array_foreach(terms, k, term) found |= json_equal(name, term);
        assert_true(found);
    }
}

TEST(reference)
{
    json_t *cases = reference_cases(cx, "subset_selection"), *item, *best;
    size_t  i, checked = 0;
    json_array_foreach(cases, i, item)
    {
        char      base[512], settings[600];
        json_t   *expected = json_object_get(item, "expected");
        cr_table *t = reference_table(cx, item, base, sizeof base);
        snprintf(settings, sizeof settings, "%s select=best criterion=bic", base);
        cr_model   *m = fit(cx, "linear", t, settings);
        json_t     *d = describe(cx, m), *list = json_object_get(d, "subsets");
        double      n = (double)cr_table_rows(t);
        const char *size;
        json_object_foreach(json_object_get(expected, "best_by_size"), size, best)
        {
            json_t *got = json_array_get(list, (size_t)atoi(size));
            assert_relative(number_of(got, "rss"), number_of(best, "rss"), 1e-8);
            /* theirs leave out constants, and the noise variance */
            assert_relative(number_of(got, "bic") - n * (log(2 * M_PI) + 1) - log(n),
                            number_of(best, "bic"), 1e-10);
            assert_relative(number_of(got, "aic") - n * (log(2 * M_PI) + 1) - 2,
                            number_of(best, "aic"), 1e-10);
            check_terms(json_object_get(best, "features"), json_object_get(got, "terms"));
            checked++;
        }
        assert_int_equal(statistic(d, "selected"), number_of(expected, "size_min_bic"));
        cr_model_free(cx, m);
        snprintf(settings, sizeof settings, "%s select=forward criterion=aic", base);
        m = fit(cx, "linear", t, settings);
        d = describe(cx, m);
        json_t *order = json_object_get(expected, "forward_order");
        for (size_t k = 0; k <= json_array_size(order); k++) {
            json_t *first = json_array();
            for (size_t j = 0; j < k; j++) json_array_append(first, json_array_get(order, j));
            check_terms(first,
                        json_object_get(json_array_get(json_object_get(d, "subsets"), k), "terms"));
            json_decref(first);
        }
    }
    assert_true(checked >= 20);
}
