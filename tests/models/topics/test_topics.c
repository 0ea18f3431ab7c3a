/* test_topics.c -- latent Dirichlet allocation: against sums over all assignments of topics on tiny corpora, against
 * corpora whose topics are known, and against the sampler of others on Reuters; text, long tables, updates, corners. */
#include "../fixture.h"

#include "data/table/subset.h"
#include "models/topics/topics.h"
#include "study/assess.h"

#include <math.h>

/* --- enumeration ------------------------------------------------------------------------------ */

enum { DOCS = 2, TERMS = 3, TOPICS = 2, TOKENS = 9 };

static const double   tiny[DOCS * TERMS] = { 3, 1, 0, 1, 1, 3 };
static const unsigned word[TOKENS] = { 0, 0, 0, 1, 0, 1, 2, 2, 2 };
static const unsigned document[TOKENS] = { 0, 0, 0, 0, 1, 1, 1, 1, 1 };
static const double   ALPHA = 0.7, ETA = 0.6;

typedef struct exact {
    double log_evidence, log_joint;    /* log p(w), E log p(w, z) */
    double mean[TERMS], square[TERMS]; /* of phi_1w                */
    double likeness;                   /* E sum_w (phi_1w - phi_2w)^2 under z, by posterior means */
} exact;

/* log p(w, z) by its definition. */
static double log_joint_of(const unsigned z[TOKENS], double n_kw[TOPICS][TERMS])
{
    double n_dk[DOCS][TOPICS] = { { 0 } }, sum = 0;
    memset(n_kw, 0, TOPICS * sizeof *n_kw);
    for (size_t i = 0; i < TOKENS; i++) n_dk[document[i]][z[i]]++, n_kw[z[i]][word[i]]++;
    for (size_t k = 0; k < TOPICS; k++) {
        double n = 0;
        for (size_t w = 0; w < TERMS; w++) {
            n += n_kw[k][w];
            sum += lgamma(n_kw[k][w] + ETA) - lgamma(ETA);
        }
        sum += lgamma(TERMS * ETA) - lgamma(n + TERMS * ETA);
    }
    for (size_t d = 0; d < DOCS; d++) {
        double n = 0;
        for (size_t k = 0; k < TOPICS; k++) {
            n += n_dk[d][k];
            sum += lgamma(n_dk[d][k] + ALPHA) - lgamma(ALPHA);
        }
        sum += lgamma(TOPICS * ALPHA) - lgamma(n + TOPICS * ALPHA);
    }
    return sum;
}

static exact enumerate(void)
{
    exact  e = { 0 };
    double total = 0, n[TOPICS][TERMS];
    for (unsigned code = 0; code < 1u << TOKENS; code++) {
        unsigned z[TOKENS];
        for (size_t i = 0; i < TOKENS; i++) z[i] = code >> i & 1;
        double log_p = log_joint_of(z, n), p = exp(log_p), size = TERMS * ETA;
        for (size_t w = 0; w < TERMS; w++) size += n[0][w];
        for (size_t w = 0; w < TERMS; w++) {
            double mean = (n[0][w] + ETA) / size;
            e.mean[w] += p * mean;
            e.square[w] += p * (mean * mean + mean * (1 - mean) / (size + 1));
        }
        e.log_joint += p * log_p;
        total += p;
    }
    e.log_joint /= total;
    for (size_t w = 0; w < TERMS; w++) e.mean[w] /= total, e.square[w] /= total;
    e.log_evidence = log(total);
    return e;
}

/* "probability" or "sd" of a term in a topic. */
static double of_term(const json_t *d, const char *topic, const char *term, const char *key)
{
    size_t  i;
    json_t *row;
    json_array_foreach(json_object_get(d, "topics"), i, row)
    {
        if (strcmp(json_string_value(json_object_get(row, "topic")), topic) == 0 &&
            strcmp(json_string_value(json_object_get(row, "term")), term) == 0)
            return number_of(row, key);
    }
    fail_msg("%s has no term '%s'", topic, term);
    return NAN;
}

TEST(gibbs_sampling_has_the_exact_posterior)
{
    exact  e = enumerate();
    size_t sweeps = simulation_size(40000, 400000);
    char   settings[200];
    snprintf(settings, sizeof settings, "k=2 alpha=0.7 eta=0.6 chains=1 sweeps=%zu", sweeps);
    cr_table *t = make_table(cx, tiny, DOCS, TERMS, NULL, NULL);
    json_t   *d = describe(cx, fit(cx, "topics", t, settings));
    double    ess = statistic(d, "ess");
    assert_true(ess > (double)sweeps / 100);
    /* log p(w, z) varies by about 1.5, phi by 0.25 and its square by 0.3. */
    assert_close(statistic(d, "log_joint") - e.log_joint, 0, 4 * 1.5 / sqrt(ess));
    for (size_t w = 0; w < TERMS; w++) {
        char term[8];
        snprintf(term, sizeof term, "x%zu", w + 1);
        double mean = of_term(d, "topic_1", term, "probability");
        double sd = of_term(d, "topic_1", term, "sd");
        assert_close(mean - e.mean[w], 0, 4 * 0.25 / sqrt(ess));
        assert_close(sd * sd + mean * mean - e.square[w], 0, 4 * 0.3 / sqrt(ess));
    }
}

TEST(the_variational_bound_is_below_the_evidence)
{
    exact     e = enumerate();
    cr_table *t = make_table(cx, tiny, DOCS, TERMS, NULL, NULL);
    for (size_t seed = 0; seed < 5; seed++) {
        char settings[200];
        snprintf(settings, sizeof settings,
                 "k=2 alpha=0.7 eta=0.6 infer=vb tol=1e-10 passes=500 seed=%zu", seed);
        json_t *d = describe(cx, fit(cx, "topics", t, settings));
        assert_true(statistic(d, "bound") < e.log_evidence);
        assert_true(statistic(d, "bound") > e.log_evidence - 3);
        snprintf(settings, sizeof settings,
                 "k=2 alpha=0.7 eta=0.6 infer=online batch=1 passes=50 seed=%zu", seed);
        d = describe(cx, fit(cx, "topics", t, settings));
        assert_true(statistic(d, "bound") < e.log_evidence);
        assert_true(statistic(d, "bound") > e.log_evidence - 4);
    }
}

TEST(the_bound_rises_pass_by_pass)
{
    cr_table *t = make_table(cx, tiny, DOCS, TERMS, NULL, NULL);
    double    before = -INFINITY;
    for (size_t passes = 2; passes < 30; passes++) {
        char settings[200];
        snprintf(settings, sizeof settings, "k=2 infer=vb tol=0 passes=%zu", passes);
        double bound = statistic(describe(cx, fit(cx, "topics", t, settings)), "bound");
        assert_true(bound >= before - 1e-3); /* gamma is settled to 1e-3 */
        before = bound;
    }
}

/* --- tallies ---------------------------------------------------------------------------------- */

TEST(sums_over_tallies_are_sums_over_counts)
{
    double    at[8] = { 0, 5, 0, 2, 1, 0, 0, 3 };
    cri_tally t = { 7, at };
    double    a = 0.37, psi = 0, gamma = 0;
    for (size_t n = 1; n < 8; n++) {
        for (size_t i = 0; i < n; i++) psi += at[n] / (a + (double)i);
        gamma += at[n] * (lgamma((double)n + a) - lgamma(a));
    }
    assert_relative(cri_tally_digamma(&t, a), psi, 1e-13);
    assert_relative(cri_tally_lgamma(&t, a), gamma, 1e-13);
}

/* --- corpora whose topics are known ----------------------------------------------------------- */

enum { LARGE_DOCS = 400, LARGE_TERMS = 30, LENGTH = 80, LARGE_TOPICS = 3 };

/* Topic k has most of its mass on ten terms of its own. */
static double true_phi(size_t k, size_t w)
{
    double own = (double)(w % 10 + 1) / 55;
    return 0.9 * (w / 10 == k ? own : 0) + 0.1 / LARGE_TERMS;
}

static cr_table *simulate(cr_ctx *cx, uint64_t seed, size_t docs)
{
    double *X = calloc(docs * LARGE_TERMS, sizeof *X), phi[LARGE_TOPICS][LARGE_TERMS];
    for (size_t k = 0; k < LARGE_TOPICS; k++)
        for (size_t w = 0; w < LARGE_TERMS; w++) phi[k][w] = true_phi(k, w);
    for (size_t d = 0; d < docs; d++) {
        cr_rng r = cr_rng_stream(seed, d);
        double theta[LARGE_TOPICS];
        for (size_t k = 0; k < LARGE_TOPICS; k++) theta[k] = cr_rng_gamma(&r, 0.3) + 1e-300;
        for (size_t i = 0; i < LENGTH; i++)
            X[d * LARGE_TERMS + cr_rng_categorical(&r,
                                                   phi[cr_rng_categorical(&r, theta, LARGE_TOPICS)],
                                                   LARGE_TERMS)]++;
    }
    cr_table *t = make_table(cx, X, docs, LARGE_TERMS, NULL, NULL);
    free(X);
    return t;
}

/* How many of the true probabilities are within two sds, and the largest error; topics are told by their first term. */
static void check_recovery(const json_t *d, double most, double share)
{
    size_t within = 0;
    for (size_t k = 0; k < LARGE_TOPICS; k++) {
        char   name[32], term[32];
        size_t best = 0;
        double highest = 0;
        for (size_t j = 0; j < LARGE_TOPICS; j++) {
            snprintf(name, sizeof name, "topic_%zu", j + 1);
            snprintf(term, sizeof term, "x%zu", 10 * k + 10);
            double p = of_term(d, name, term, "probability");
            if (p > highest) highest = p, best = j;
        }
        snprintf(name, sizeof name, "topic_%zu", best + 1);
        for (size_t w = 0; w < LARGE_TERMS; w++) {
            snprintf(term, sizeof term, "x%zu", w + 1);
            double error = of_term(d, name, term, "probability") - true_phi(k, w);
            assert_close(error, 0, most);
            within += fabs(error) <= 2 * of_term(d, name, term, "sd");
        }
    }
    if (!(within >= share * LARGE_TOPICS * LARGE_TERMS))
        fail_msg("only %zu of %d probabilities are within two sds", within,
                 LARGE_TOPICS * LARGE_TERMS);
}

TEST(topics_are_recovered_with_their_sds)
{
    cr_table *t = simulate(cx, 3, LARGE_DOCS);
    json_t   *d = describe(cx, fit(cx, "topics", t, "k=3 top_terms=30 sweeps=300 shards=7"));
    check_recovery(d, 0.02, 0.85);
    assert_true(statistic(d, "agreement") > 0.99);
    assert_true(statistic(d, "shards") == 7); /* the corpus is cut: tokens are conserved */
    double  share = 0, alpha = 0;
    size_t  i;
    json_t *row;
    json_array_foreach(json_object_get(d, "summary"), i, row) share += number_of(row, "share"),
        alpha += number_of(row, "alpha");
    assert_close(share, 1, 1e-12);
    assert_close(alpha, 0.9, 0.15); /* learned: 3 x 0.3 */
    json_t *vb = describe(cx, fit(cx, "topics", t, "k=3 top_terms=30 infer=vb alpha=0.3 eta=0.1"));
    check_recovery(vb, 0.03, 0);
}

TEST(online_learning_takes_in_further_documents)
{
    cr_table *first = simulate(cx, 3, LARGE_DOCS), *more = simulate(cx, 4, LARGE_DOCS),
             *new = simulate(cx, 5, 100);
    cr_model *m = fit(cx, "topics", first,
                      "k=3 top_terms=30 infer=online alpha=0.3 eta=0.1 batch=40 passes=3"),
             *u = NULL;
    cr_assessment before, after;
    cr_judging    how = { .level = 0.95 };
    assert_ok(cx, cr_update(cx, m, more, &u));
    test_own(cx, u, release_model);
    json_t *d = describe(cx, u);
    assert_close(statistic(d, "documents"), 2 * LARGE_DOCS, 0);
    assert_ok(cx, cr_evaluate_with(cx, m, new, &how, &before));
    assert_ok(cx, cr_evaluate_with(cx, u, new, &how, &after));
    assert_string_equal(after.metrics[1].name, "perplexity");
    assert_true(after.metrics[1].value < before.metrics[1].value * 1.02);
    cr_model *g = fit(cx, "topics", first, "k=3 sweeps=20");
    assert_fails_with(cx, cr_update(cx, g, more, &u), CR_EUNSUPPORTED, "on-line");
}

/* --- new documents ---------------------------------------------------------------------------- */

/* E theta_1 of a document under phi that is given, by a sum over the topics of its tokens. */
static double exact_mix(const double phi[2][TERMS], const double *alpha, const unsigned *w,
                        size_t n)
{
    double total = 0, mean = 0, sum = alpha[0] + alpha[1];
    for (unsigned code = 0; code < 1u << n; code++) {
        double count[2] = { 0, 0 }, p = 1;
        for (size_t i = 0; i < n; i++) {
            size_t k = code >> i & 1;
            p *= (count[k] + alpha[k]) * phi[k][w[i]];
            count[k]++;
        }
        total += p;
        mean += p * (count[0] + alpha[0]) / ((double)n + sum);
    }
    return mean / total;
}

TEST(mixes_and_completion_are_those_of_a_sum_over_topics)
{
    cr_table     *t = make_table(cx, tiny, DOCS, TERMS, NULL, NULL);
    cr_model     *m = fit(cx, "topics", t, "k=2 alpha=0.7 eta=0.6 infer=vb");
    json_t       *d = describe(cx, m);
    cr_prediction p = predict(cx, m, t);
    double        phi[2][TERMS], alpha[2] = { 0.7, 0.7 };
    for (size_t k = 0; k < 2; k++)
        for (size_t w = 0; w < TERMS; w++) {
            char topic[16], term[16];
            snprintf(topic, sizeof topic, "topic_%zu", k + 1);
            snprintf(term, sizeof term, "x%zu", w + 1);
            phi[k][w] = of_term(d, topic, term, "probability");
        }
    assert_string_equal(p.classes[1], "topic_2");
    for (size_t i = 0; i < DOCS; i++) {
        const unsigned *w = word + (i ? 4 : 0);
        size_t          n = i ? 5 : 4;
        unsigned        seen[3];
        double          log_p = 0;
        assert_close(p.vector[2 * i], exact_mix(phi, alpha, w, n), 0.1); /* 100 sweeps */
        assert_close(p.vector[2 * i] + p.vector[2 * i + 1], 1, 1e-12);
        for (size_t j = 0; j < n; j += 2) seen[j / 2] = w[j];
        double mix = exact_mix(phi, alpha, seen, (n + 1) / 2);
        for (size_t j = 1; j < n; j += 2)
            log_p += log(mix * phi[0][w[j]] + (1 - mix) * phi[1][w[j]]);
        assert_close(p.log_density[i], log_p, 0.25);
        assert_close(p.observations[i], (double)(n / 2), 0);
    }
}

/* --- Reuters ---------------------------------------------------------------------------------- */

/* shared/data/classic/reference.json, lda-gibbs-reuters-K20: log p(w, z) after 10 sweeps -720006, sd 1292 between seeds;
 * after 500 sweeps -658494, sd 877; held-out perplexity by completion after 1000 sweeps 1492, sd 15. */
TEST(reuters_is_as_others_have_it)
{
    cr_table *t = read_table(cx, test_extra_data("classic/text/reuters.ldac"));
    size_t runs = simulation_size(1, 3), n = cr_table_rows(t), held[64], train[512], a = 0, b = 0;
    double mean = 0;
    assert_int_equal(n, 395);
    for (size_t seed = 0; seed < runs; seed++) {
        char settings[200];
        snprintf(settings, sizeof settings, "k=20 alpha=0.1 eta=0.01 chains=1 sweeps=10 seed=%zu",
                 seed);
        mean += statistic(describe(cx, fit(cx, "topics", t, settings)), "log_joint") / (double)runs;
    }
    assert_close((mean + 720006) / 1292, 0, 4);
    for (size_t i = 0; i < n; i++) *(i % 10 == 0 ? &held[a++] : &train[b++]) = i;
    cr_table *test = NULL, *rest = NULL;
    assert_ok(cx, cri_table_subset(cx, t, held, a, &test));
    test_own(cx, test, release_table);
    assert_ok(cx, cri_table_subset(cx, t, train, b, &rest));
    test_own(cx, rest, release_table);
    cr_assessment e;
    cr_judging    how = { .level = 0.95 };
    cr_model     *m = fit(cx, "topics", rest, "k=20 alpha=0.1 eta=0.01 chains=1 sweeps=400");
    assert_ok(cx, cr_evaluate_with(cx, m, test, &how, &e));
    assert_true(e.metrics[1].value < 1492 * 1.03);
    assert_true(e.metrics[1].value > 1300);
}

/* --- texts ------------------------------------------------------------------------------------ */

static const char headlines[] =
    "id,body\n1,\"The Bank, the bank!\"\n2,Ball and goal\n3,\"goal-keeper: BALL\"\n4,\n";

TEST(a_text_is_cut_into_words)
{
    cr_table *t = table_of_text(cx, "h.csv", headlines);
    cr_model *m = fit(cx, "topics", t, "text=body k=2 chains=1 sweeps=50");
    json_t   *d = describe(cx, m);
    assert_close(statistic(d, "terms"), 6, 0); /* the bank ball and goal keeper */
    assert_close(statistic(d, "tokens"), 10, 0);
    assert_close(statistic(d, "documents"), 4, 0);
    cr_prediction p = predict(cx, m, t);
    assert_close(p.vector[6] + p.vector[7], 1, 1e-12);
    const char *stop = test_file("stop.txt", "the\r\nand\n", 9);
    char        settings[1200];
    snprintf(settings, sizeof settings,
             "text=body k=2 chains=1 sweeps=50 min_documents=2 stop_words=%s", stop);
    assert_close(statistic(describe(cx, fit(cx, "topics", t, settings)), "terms"), 2, 0);
    assert_close(
        statistic(describe(cx, fit(cx, "topics", t, "text=body k=2 sweeps=20 max_share=0.25")),
                  "terms"),
        4, 0);
    cr_model *none = NULL;
    assert_fails_with(cx, try_fit(cx, "topics", t, "text=body min_documents=5", &none), CR_EDATA,
                      "no term");
    assert_fails_with(cx, try_fit(cx, "topics", t, "text=id", &none), CR_EDATA,
                      "has numbers, not text");
    assert_fails_with(cx, try_fit(cx, "topics", t, "text=boy", &none), CR_EDATA, "boy");
    assert_fails_with(cx, try_fit(cx, "topics", t, "document=id", &none), CR_EARG, "--document");
}

TEST(a_long_table_is_the_same_as_a_wide_one)
{
    cr_table *wide = table_of_text(cx, "w.csv", "a,b,new york\n3,1,0\n0,2,2\n1,0,4\n");
    cr_table *tall = table_of_text(
        cx, "l.csv", "d,term,n\np,a,2\np,b,1\nq,b,2\np,a,1\nq,new york,2\nr,a,1\nr,new york,4\n");
    json_t   *x = describe(cx, fit(cx, "topics", wide, "k=2 sweeps=100"));
    cr_model *m =
        fit(cx, "topics", tall, "text=term document=d counts=n tokens=cells k=2 sweeps=100");
    json_t *y = describe(cx, m);
    assert_close(statistic(y, "log_joint"), statistic(x, "log_joint"), 1e-12);
    assert_close(of_term(y, "topic_1", "new york", "probability"),
                 of_term(x, "topic_1", "new york", "probability"), 1e-12);
    cr_prediction p = predict(cx, m, tall);
    assert_close(p.vector[0], p.vector[6], 0); /* rows 0 and 3 are of document p */
    assert_true(!isnan(p.log_density[0]) && isnan(p.log_density[3]));
}

/* --- corners ---------------------------------------------------------------------------------- */

TEST(what_is_no_count_is_refused)
{
    cr_model *m = NULL;
    assert_fails_with(
        cx, try_fit(cx, "topics", table_of_text(cx, "a.csv", "a,b\n1,2\n0.5,1\n"), "k=2", &m),
        CR_EDATA, "a.csv:3");
    assert_fails_with(cx,
                      try_fit(cx, "topics", table_of_text(cx, "b.csv", "a,b\n1,-2\n"), "k=2", &m),
                      CR_EDATA, "'b' is -2");
    assert_fails_with(cx,
                      try_fit(cx, "topics", table_of_text(cx, "c.csv", "a,b\n0,0\n"), "k=2", &m),
                      CR_EDATA, "no tokens");
    assert_fails_with(
        cx,
        try_fit(cx, "topics", table_of_text(cx, "d.csv", "a,b,w\n1,2,2\n"), "k=2 weights=w", &m),
        CR_EARG, "more than another");
}

TEST(one_topic_one_term_one_token)
{
    const char *const tables[] = { "a,b\n1,0\n", "a\n3\n2\n", "a,b\n0,0\n5,1\n" };
    for (size_t i = 0; i < 3; i++) {
        cr_table                *t = table_of_text(cx, "t.csv", tables[i]);
        static const char *const ways[] = { "k=1 sweeps=20", "k=5 sweeps=20", "k=3 infer=vb",
                                            "k=3 infer=online" };
        for (size_t j = 0; j < 4; j++) {
            cr_model *m = fit(cx, "topics", t, ways[j]);
            json_t   *d = describe(cx, m);
            assert_true(statistic(d, "perplexity") >= 1 - 1e-9);
            cr_prediction p = predict(cx, m, t);
            for (size_t r = 0; r < p.n; r++) assert_true(isfinite(p.log_density[r]));
        }
    }
}

static cr_status fit_text(cr_ctx *cx, void *arg)
{
    cr_model *m = NULL;
    cr_status st = try_fit(cx, "topics", arg, "text=body k=2 sweeps=20 document=id", &m);
    cr_model_free(cx, m);
    return st;
}

TEST(allocations_for_texts_fail)
{
    cr_table *t = table_of_text(cx, "h.csv", headlines);
    test_every_allocation_fails(fit_text, t);
}
