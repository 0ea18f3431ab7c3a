/* test_hmm.c -- hidden Markov models against stored references, sums over all paths, and their own simulations. */
#include "hmm_fixture.h"

#include "data/table/subset.h"
#include "graph/exact/junction.h"
#include "graph/files/json_network.h"
#include "math/special/special.h"

/* --- references ------------------------------------------------------------------------------ */

static json_t *reference(cr_ctx *cx, const char *id)
{
    json_t *cases = reference_cases(cx, "hmm"), *item;
    size_t  i;
    json_array_foreach(cases, i, item)
    {
        if (strcmp(json_string_value(json_object_get(item, "id")), id) == 0)
            return json_object_get(item, "expected");
    }
    fail_msg("there is no case %s", id);
    return NULL;
}

static const char casino_start[] =
    "{\"pi\":[0.5,0.5],\"A\":[[0.95,0.05],[0.1,0.9]],\"B\":[{\"0\":0.16666666666666666,\"1\":"
    "0.16666666666666666,\"2\":0.16666666666666666,\"3\":0.16666666666666666,\"4\":"
    "0.16666666666666666,\"5\":0.16666666666666666},[0.1,0.1,0.1,0.1,0.1,0.5]]}";

/* Given parameters: likelihood, posterior probabilities, the most probable path. */
TEST(casino_given)
{
    char        settings[640];
    json_t     *expected = reference(cx, "hmm-casino-fixed-casino"), *value;
    const char *at;
    double      path[2000], log_path[2000], sum = 0, share = 0;
    cr_table   *t = read_categories(cx, test_data("classic/hmm/casino.csv"), "roll");
    snprintf(settings, sizeof settings, "features=roll max_iter=0 start=%s", casino_start);
    cr_model     *m = rising(cx, t, settings);
    cr_prediction p = predict(cx, m, t);
    assert_proper(&p);
    assert_close(m->report.log_likelihood, number_of(expected, "loglik"), 1e-11);
    json_object_foreach(json_object_get(expected, "posterior_state1_at"), at, value)
    {
        assert_close(p.prob[2 * (size_t)atoi(at) + 1], json_number_value(value), 1e-11);
    }
    for (size_t i = 0; i < p.n; i++) sum += p.log_density[i], share += p.prob[2 * i + 1];
    assert_close(sum, m->report.log_likelihood, 1e-12);
    assert_close(share / (double)p.n, number_of(expected, "posterior_state1_mean"), 1e-11);
    assert_ok(cx, cr_decode(cx, m, t, path, log_path));
    assert_close(log_path[7], number_of(expected, "viterbi_logprob"), 1e-12);
    size_t i, row = 0;
    json_array_foreach(json_object_get(expected, "viterbi_run_lengths"), i, value)
    {
        for (size_t n = (size_t)element(value, 1); n > 0; n--)
            assert_true(path[row++] == element(value, 0));
    }
    assert_int_equal(row, p.n);
}

TEST(casino_learned)
{
    json_t   *expected = reference(cx, "hmm-casino-baumwelch-casino");
    cr_table *t = read_categories(cx, test_data("classic/hmm/casino.csv"), "roll");
    cr_model *m = rising(cx, t, "features=roll states=2 tol=1e-10");
    json_t   *d = describe(cx, m);
    assert_true(m->report.log_likelihood > number_of(expected, "best_loglik") - 1e-3);
    assert_close(value_of(d, "A[1,2]"), 0.052474548, 2e-3);
    assert_close(value_of(d, "B[2,5]"), 0.473916877, 2e-3);
    assert_true(statistic(d, "restarts_agreed") > 1);
}

TEST(earthquakes)
{
    json_t   *by_k = json_object_get(reference(cx, "hmm-poisson-earthquakes"), "by_k");
    cr_table *t = read_table(cx, test_data("classic/hmm/earthquakes.csv"));
    for (size_t k = 1; k <= 3; k++) {
        char settings[96], name[24];
        snprintf(settings, sizeof settings, "features=count emission=poisson states=%zu", k);
        snprintf(name, sizeof name, "%zu", k);
        json_t   *of = json_object_get(by_k, name);
        cr_model *m = rising(cx, t, settings);
        json_t   *d = describe(cx, m);
        assert_true(fabs(m->report.log_likelihood - number_of(of, "best_loglik")) < 1e-3);
        for (size_t c = 0; c < k; c++) {
            snprintf(name, sizeof name, "rate[%zu]", c + 1);
            assert_close(value_of(d, name), element(json_object_get(of, "lambda"), c), 2e-3);
        }
        if (k > 1) assert_true(fabs(statistic(d, "bic") - number_of(of, "bic")) < 2e-3);
    }
    cr_model *chosen = rising(cx, t, "features=count emission=poisson states=1:4");
    assert_int_equal(state_of(chosen)->k, 2);
    assert_int_equal(json_array_size(json_object_get(describe(cx, chosen), "numbers")), 4);
}

TEST(gauss3)
{
    json_t   *expected = reference(cx, "hmm-gaussian-gauss3"), *paths;
    cr_table *t = read_table(cx, test_data("classic/hmm/gauss3.csv"));
    cr_model *m = rising(cx, t, "features=x0,x1 sequence=seq states=3");
    json_t   *d = describe(cx, m);
    size_t    n = cr_table_rows(t);
    double   *path = calloc(n, sizeof *path), *log_path = calloc(n, sizeof *log_path);
    assert_true(fabs(m->report.log_likelihood - number_of(expected, "best_loglik")) < 0.01);
    for (size_t c = 0; c < 3; c++) {
        char    name[32];
        json_t *mean = json_array_get(json_object_get(expected, "means"), c);
        json_t *S = json_array_get(json_object_get(expected, "covariances"), c);
        snprintf(name, sizeof name, "mean[%zu].x0", c + 1);
        assert_close(value_of(d, name), element(mean, 0), 1e-3);
        snprintf(name, sizeof name, "mean[%zu].x1", c + 1);
        assert_close(value_of(d, name), element(mean, 1), 1e-3);
        snprintf(name, sizeof name, "sd[%zu].x1", c + 1);
        assert_close(value_of(d, name), sqrt(element(json_array_get(S, 1), 1)), 2e-3);
    }
    assert_ok(cx, cr_decode(cx, m, t, path, log_path));
    paths = json_object_get(expected, "viterbi_logprob_per_seq");
    for (size_t s = 0; s < 3; s++)
        assert_true(fabs(log_path[s * (n / 3)] - element(paths, s)) < 0.1);
    free(path), free(log_path);
}

/* Vowels and consonants. */
TEST(letters)
{
    enum { N = 10000 };
    static char text[N];
    text_buffer b = text_new(1 << 16);
    FILE       *f = fopen(test_data("classic/hmm/letters.txt"), "rb");
    json_t     *expected = reference(cx, "hmm-letters-letters");
    assert_non_null(f);
    assert_int_equal(fread(text, 1, N, f), N);
    fclose(f);
    text_put(&b, "letter\n");
    for (size_t i = 0; i < N; i++) text_put(&b, text[i] == ' ' ? "space\n" : "%c\n", text[i]);
    cr_table *t = table_of_text(cx, "letters.csv", b.at);
    cr_model *m = rising(cx, t, "states=2 restarts=15 prior_transitions=1e-4");
    json_t   *d = describe(cx, m);
    assert_true(m->report.log_likelihood > number_of(expected, "best_loglik") - 0.05);
    bool first = value_of(d, "B[1,e]") > value_of(d, "B[2,e]");
    for (const char *v = "aeiou"; *v; v++) {
        char vowel[16], other[16];
        snprintf(vowel, sizeof vowel, "B[%d,%c]", first ? 1 : 2, *v);
        snprintf(other, sizeof other, "B[%d,%c]", first ? 2 : 1, *v);
        assert_true(value_of(d, vowel) > 2 * value_of(d, other));
    }
    free(b.at);
}

/* The first n rows of a table. */
static cr_table *choose_first(cr_ctx *cx, const cr_table *t, size_t n)
{
    size_t    rows[64];
    cr_table *part = NULL;
    assert_true(n <= 64);
    for (size_t i = 0; i < n; i++) rows[i] = i;
    assert_ok(cx, cri_table_subset(cx, t, rows, n, &part));
    test_own(cx, part, release_table);
    return part;
}

/* --- all paths ------------------------------------------------------------------------------- */

/* Columns of every kind with gaps: the log likelihood of each sequence is that of all paths. */
TEST(mixed_columns_by_paths)
{
    static const char data[] = "s,real,count,wait,angle,heavy,many,colour,answer\n"
                               "a,0.3,2,1.5,0.2,-1,4,red,true\n"
                               "a,,3,0.7,3.0,2,0,blue,false\n"
                               "b,1.2,0,2.5,-1.2,0.5,7,red,true\n"
                               "a,2.1,5,,1.1,4,2,,true\n"
                               "a,-0.7,,0.2,,0.1,,green,\n"
                               "b,0.9,1,4,2.2,-3,1,blue,false\n"
                               "b,,,,,,,,\n";
    cr_table         *t = table_of_text(cx, "data.csv", data);
    cr_model         *m = rising(cx, t,
                                 "sequence=s states=2 restarts=3 max_iter=7 least_spread=0 prior_rows=0.5 "
                                         "emission=auto,count=poisson,wait=gamma,angle=von-mises,heavy=student-t,"
                                         "many=negative-binomial");
    const cri_hmm    *h = state_of(m);
    json_t           *d = describe(cx, m);
    double            total = 0;
    const size_t      rows[2][4] = { { 0, 1, 3, 4 }, { 2, 5, 6, 6 } }, length[2] = { 4, 3 };
    const double      cells[7][6] = { { 0.3, 2, 1.5, 0.2, -1, 4 },       { NAN, 3, 0.7, 3.0, 2, 0 },
                                      { 1.2, 0, 2.5, -1.2, 0.5, 7 },     { 2.1, 5, NAN, 1.1, 4, 2 },
                                      { -0.7, NAN, 0.2, NAN, 0.1, NAN }, { 0.9, 1, 4, 2.2, -3, 1 },
                                      { NAN, NAN, NAN, NAN, NAN, NAN } };
    const char *const colour[7] = { "red", "blue", "red", NULL, "green", "blue", NULL };
    const double      answer[7] = { 1, 0, 1, 1, NAN, 0, NAN };
    for (size_t s = 0; s < 2; s++) {
        double log_b[8] = { 0 };
        for (size_t i = 0; i < length[s]; i++)
            for (size_t c = 0; c < 2; c++) {
                const double *x = cells[rows[s][i]];
                double       *b = &log_b[i * 2 + c], v;
                char          name[40];
#define OF(format) (snprintf(name, sizeof name, format, c + 1), value_of(d, name))
                if (!isnan(x[0]))
                    v = OF("sd[%zu].real"),
                    *b += cr_norm_logpdf((x[0] - OF("mean[%zu].real")) / v) - log(v);
                if (!isnan(x[1])) v = OF("rate[%zu]"), *b += x[1] * log(v) - v - lgamma(x[1] + 1);
                if (!isnan(x[2])) {
                    double a = OF("shape[%zu].wait"), rate = a / OF("mean[%zu].wait");
                    *b += a * log(rate) - lgamma(a) + (a - 1) * log(x[2]) - rate * x[2];
                }
                if (!isnan(x[3])) {
                    double kappa = OF("kappa[%zu].angle");
                    *b += kappa * cos(x[3] - OF("direction[%zu].angle")) -
                          cr_log_bessel_i(0, kappa) - log(2 * M_PI);
                }
                if (!isnan(x[4]))
                    v = OF("scale[%zu].heavy"),
                    *b += cr_student_t_logpdf((x[4] - OF("location[%zu].heavy")) / v,
                                              OF("dof[%zu].heavy")) -
                          log(v);
                if (!isnan(x[5])) {
                    double size = OF("size[%zu].many"), mean = OF("mean[%zu].many");
                    *b += lgamma(size + x[5]) - lgamma(size) - lgamma(x[5] + 1) +
                          size * log(size / (size + mean)) + x[5] * log(mean / (size + mean));
                }
                const char *level = colour[rows[s][i]];
                if (level) {
                    snprintf(name, sizeof name, "B[%zu,%s]", c + 1, level);
                    *b += log(value_of(d, name));
                }
                v = OF("p[%zu].answer");
                if (!isnan(answer[rows[s][i]])) *b += log(answer[rows[s][i]] > 0 ? v : 1 - v);
#undef OF
            }
        total += log_by_paths(h->pi, h->A, log_b, length[s], 2);
    }
    assert_close(m->report.log_likelihood, total, 1e-8);
}

/* The chain of the first rows of the casino, unrolled into a Bayesian network: evidence and marginals by the junction
 * tree. */
TEST(unrolled_as_a_network)
{
    enum { T = 40 };
    cr_table        *all = read_categories(cx, test_data("classic/hmm/casino.csv"), "roll"), *t;
    char             settings[640];
    text_buffer      net = text_new(1 << 16);
    cr_network      *network = NULL;
    cr_evidence     *e = NULL;
    cr_junction     *tree = NULL;
    double           log_p = 0, p[2];
    const cr_column *roll = cr_table_find(all, "roll");
    snprintf(settings, sizeof settings, "features=roll max_iter=0 start=%s", casino_start);
    text_put(&net, "{\"network\": \"bayes\", \"variables\": {");
    for (size_t i = 0; i < T; i++) {
        if (i == 0)
            text_put(&net, "\"z0\": {\"states\": 2, \"table\": [0.5, 0.5]}");
        else
            text_put(&net,
                     ", \"z%zu\": {\"states\": 2, \"parents\": [\"z%zu\"], \"table\": [[0.95, "
                     "0.05], [0.1, 0.9]]}",
                     i, i - 1);
    }
    for (size_t i = 0; i < T; i++) {
        text_put(&net,
                 ", \"x%zu\": {\"states\": 6, \"parents\": [\"z%zu\"], \"table\": "
                 "[[%.17g, %.17g, %.17g, %.17g, %.17g, %.17g], [0.1, 0.1, 0.1, 0.1, 0.1, 0.5]]}",
                 i, i, 1. / 6, 1. / 6, 1. / 6, 1. / 6, 1. / 6, 1. / 6);
    }
    text_put(&net, "}}");
    assert_ok(cx, cr_json_parse(cx, "chain.json", net.at, net.used, &network));
    assert_ok(cx, cr_evidence_new(cx, network, &e));
    for (size_t i = 0; i < T; i++)
        assert_ok(cx,
                  cr_evidence_observe(cx, e, T + i, (size_t)atoi(roll->levels[roll->codes[i]])));
    assert_ok(cx, cr_junction_new(cx, network, e, NULL, &tree));
    assert_ok(cx, cr_junction_log_evidence(cx, tree, &log_p));
    cr_model *whole = fit(cx, "hmm", all, settings);
    t = choose_first(cx, all, T);
    cr_prediction q = predict(cx, whole, t);
    double        sum = 0;
    for (size_t i = 0; i < T; i++) {
        sum += q.log_density[i];
        assert_ok(cx, cr_junction_marginal(cx, tree, i, p));
        assert_close(q.prob[2 * i + 1], p[1], 1e-12);
    }
    assert_close(sum, log_p, 1e-12);
    cr_junction_free(cx, tree);
    cr_evidence_free(cx, e);
    cr_network_free(cx, network);
    free(net.at);
}

/* Symbols, which are looked up, with a gap: the best of all paths, and their sum. */
TEST(symbols_with_gaps)
{
    enum { T = 5 };
    static const char *const rows[T] = { "a", "b", NULL, "b", "a" };
    const double pi[2] = { 0.3, 0.7 }, A[4] = { 0.6, 0.4, 0.2, 0.8 }, B[4] = { 0.9, 0.1, 0.4, 0.6 };
    text_buffer  text = text_new(256);
    double       log_b[2 * T], path[T], log_path[T], best = -INFINITY;
    size_t       winner = 0;
    text_put(&text, "c,d\n");
    for (size_t t = 0; t < T; t++) {
        text_put(&text, "%s,1\n", rows[t] ? rows[t] : "");
        for (size_t c = 0; c < 2; c++)
            log_b[2 * t + c] = rows[t] ? log(B[2 * c + (size_t)(*rows[t] - 'a')]) : 0;
    }
    cr_table *t = table_of_text(cx, "data.csv", text.at);
    cr_model *m =
        rising(cx, t,
               "features=c max_iter=0 start={\"pi\":[0.3,0.7],\"A\":[[0.6,0.4],[0.2,0.8]],"
               "\"B\":[[0.9,0.1],[0.4,0.6]]}");
    assert_close(m->report.log_likelihood, log_by_paths(pi, A, log_b, T, 2), 1e-13);
    for (size_t z = 0; z < 1 << T; z++) {
        double p = log(pi[z & 1]) + log_b[z & 1];
        for (size_t i = 1; i < T; i++)
            p += log(A[2 * (z >> (i - 1) & 1) + (z >> i & 1)]) + log_b[2 * i + (z >> i & 1)];
        if (p > best) best = p, winner = z;
    }
    assert_ok(cx, cr_decode(cx, m, t, path, log_path));
    assert_close(log_path[0], best, 1e-13);
    for (size_t i = 0; i < T; i++) assert_int_equal((size_t)path[i], winner >> i & 1);
    free(text.at);
}

/* Two columns with a covariance and gaps: the density of what is there. */
TEST(covariance_with_gaps)
{
    cr_table *t = table_of_text(cx, "data.csv", "x,y\n1,2\n,3\n4,\n,\n2,2.5\n");
    cr_model *m =
        rising(cx, t,
               "max_iter=0 start={\"pi\":[0.3,0.7],\"A\":[[0.6,0.4],[0.2,0.8]],\"mean\":[["
               "1,2],[3,3]],\"covariance\":[[[2,0.5],[0.5,1]],[[1,-0.3],[-0.3,2]]]}");
    const double pi[2] = { 0.3, 0.7 }, A[4] = { 0.6, 0.4, 0.2, 0.8 };
    const double mean[2][2] = { { 1, 2 }, { 3, 3 } };
    const double S[2][3] = { { 2, 0.5, 1 }, { 1, -0.3, 2 } };
    const double x[5][2] = { { 1, 2 }, { NAN, 3 }, { 4, NAN }, { NAN, NAN }, { 2, 2.5 } };
    double       log_b[10] = { 0 };
    for (size_t i = 0; i < 5; i++)
        for (size_t c = 0; c < 2; c++) {
            double a = x[i][0] - mean[c][0], b = x[i][1] - mean[c][1], *out = &log_b[i * 2 + c];
            double det = S[c][0] * S[c][2] - S[c][1] * S[c][1];
            if (!isnan(a) && !isnan(b))
                *out = -0.5 * (S[c][2] * a * a - 2 * S[c][1] * a * b + S[c][0] * b * b) / det -
                       0.5 * log(det) - log(2 * M_PI);
            else if (!isnan(a))
                *out = cr_norm_logpdf(a / sqrt(S[c][0])) - 0.5 * log(S[c][0]);
            else if (!isnan(b))
                *out = cr_norm_logpdf(b / sqrt(S[c][2])) - 0.5 * log(S[c][2]);
        }
    assert_close(m->report.log_likelihood, log_by_paths(pi, A, log_b, 5, 2), 1e-12);
}

/* --- learning -------------------------------------------------------------------------------- */

/* One step of EM with gaps in two normal columns, by plain loops over paths' posteriors: the means and covariances that
 * are expected given what is there. */
TEST(one_step_with_gaps)
{
    static const char start[] =
        "start={\"pi\":[1],\"A\":[[1]],\"mean\":[[1,1]],\"covariance\":[[[2,0.5],["
        "0.5,1]]]}";
    char      settings[256];
    cr_table *t = table_of_text(cx, "data.csv", "x,y\n1,2\n,3\n4,\n2,0.5\n");
    snprintf(settings, sizeof settings, "max_iter=2 prior_rows=0 prior_transitions=0 %s", start);
    json_t      *d = describe(cx, fit(cx, "hmm", t, settings));
    const double X[4][2] = { { 1, 2 }, { 1 + 0.5 * 2, 3 }, { 4, 1 + 0.25 * 3 }, { 2, 0.5 } };
    double       mean[2] = { 0 }, S[2][2] = { { 0 } };
    for (size_t i = 0; i < 4; i++)
        for (size_t a = 0; a < 2; a++) mean[a] += X[i][a] / 4;
    for (size_t i = 0; i < 4; i++)
        for (size_t a = 0; a < 2; a++)
            for (size_t b = 0; b < 2; b++) S[a][b] += (X[i][a] - mean[a]) * (X[i][b] - mean[b]) / 4;
    S[0][0] += (2 - 0.25) / 4;
    S[1][1] += (1 - 0.125) / 4;
    assert_close(value_of(d, "mean[1].x"), mean[0], 1e-12);
    assert_close(value_of(d, "mean[1].y"), mean[1], 1e-12);
    assert_close(value_of(d, "sd[1].x"), sqrt(S[0][0]), 1e-12);
    assert_close(value_of(d, "sd[1].y"), sqrt(S[1][1]), 1e-12);
    assert_close(value_of(d, "correlation[1].x.y"), S[0][1] / sqrt(S[0][0] * S[1][1]), 1e-12);
}

/* What it draws, it finds again: every kind of column. */
TEST(recovers_its_simulation)
{
    static const struct {
        const char *column, *settings, *names[3];
        double      truth[3];
    } cases[] = {
        { "x", "emission=gaussian", { "mean[1].x", "sd[2].x", "A[1,2]" }, { -1, 0.5, 0.1 } },
        { "x", "emission=poisson", { "rate[1]", "rate[2]", "A[2,1]" }, { 3, 9, 0.2 } },
        { "x", "emission=gamma", { "mean[1].x", "shape[2].x", "A[1,2]" }, { 1, 6, 0.1 } },
        { "x", "emission=lognormal", { "meanlog[1].x", "sdlog[2].x", "A[1,2]" }, { 0, 0.3, 0.1 } },
        { "x", "emission=von-mises", { "direction[1].x", "kappa[2].x", "A[1,2]" }, { 0, 4, 0.1 } },
        { "x", "emission=student-t", { "location[1].x", "scale[2].x", "A[1,2]" }, { -3, 1, 0.1 } },
        { "x",
          "emission=negative-binomial",
          { "mean[1].x", "size[2].x", "A[1,2]" },
          { 2, 8, 0.1 } },
    };
    static const char *const start[] = {
        "\"mean\":[-1,2],\"sd\":[1,0.5]",
        "\"rate\":[3,9]",
        "\"mean\":[1,5],\"shape\":[4,6]",
        "\"meanlog\":[0,2],\"sdlog\":[0.5,0.3]",
        "\"direction\":[0,2.5],\"kappa\":[3,4]",
        "\"location\":[-3,3],\"scale\":[0.5,1],\"dof\":[4,4]",
        "\"mean\":[2,12],\"size\":[4,8]",
    };
    enum { N = 6000 };
    static double drawn[N], first[24];
    for (size_t i = 0; i < 24; i++) first[i] = 0.2 + (double)(i % 5);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char settings[320];
        bool counts = strstr(cases[i].settings, "poisson") || strstr(cases[i].settings, "binomial");
        for (size_t j = 0; j < 24; j++) first[j] = counts ? (double)(j % 5) : 0.2 + (double)(j % 5);
        cr_table *t = make_table(cx, NULL, 24, 0, NULL, NULL), *u;
        assert_ok(cx, cr_table_add_numbers(cx, t, "x", CR_REAL, first, 1));
        snprintf(settings, sizeof settings,
                 "%s max_iter=0 start={\"pi\":[0.5,0.5],\"A\":[[0.9,0.1],[0.2,0.8]],%s}",
                 cases[i].settings, start[i]);
        cr_model *truth = fit(cx, "hmm", t, settings);
        assert_ok(cx,
                  truth->class->rows->sample(cx, truth->state, truth->design, NULL, N, 3, drawn));
        u = make_table(cx, NULL, N, 0, NULL, NULL);
        assert_ok(cx, cr_table_add_numbers(cx, u, "x", CR_REAL, drawn, 1));
        snprintf(settings, sizeof settings, "%s states=2 restarts=3", cases[i].settings);
        json_t *d = describe(cx, rising(cx, u, settings));
        for (size_t j = 0; j < 3; j++) {
            double got = value_of(d, cases[i].names[j]), wanted = cases[i].truth[j];
            if (!(fabs(got - wanted) <
                  0.12 * fmax(fabs(wanted), 0.5) + (j == 1 ? 0.15 * wanted : 0)))
                fail_msg("%s: %s is %g, not %g", cases[i].settings, cases[i].names[j], got, wanted);
        }
    }
}

/* Transitions that are not possible stay so; left to right begins in the first state. */
TEST(topologies)
{
    cr_table *t = read_table(cx, test_data("classic/hmm/gauss3.csv"));
    cr_model *m =
        rising(cx, t, "features=x0,x1 sequence=seq states=3 topology=left-right restarts=2");
    const cri_hmm *h = state_of(m);
    assert_true(h->pi[0] == 1 && h->A[3] == 0 && h->A[6] == 0 && h->A[7] == 0 && h->A[8] == 1);
    assert_close(cri_hmm_parameters(h), 3 + 3 * 5, 0);
    m = rising(cx, t, "features=x0 sequence=seq states=4 topology=banded:1 restarts=2");
    h = state_of(m);
    assert_true(h->A[2] == 0 && h->A[3] == 0 && h->A[7] == 0 && h->A[1] > 0);
    m = rising(cx, t, "features=x0 sequence=seq transitions={\"A\":[[0.5,0.5],[0,1]]} restarts=2");
    h = state_of(m);
    assert_true(h->k == 2 && h->A[2] == 0 && h->A[3] == 1);
}

/* Known states: none left to find is counting; a few help to name the states. */
TEST(known_states)
{
    cr_table *t =
        table_of_text(cx, "data.csv", "c,z\na,1\nb,1\na,2\na,2\nb,2\nb,1\na,1\nb,2\na,1\na,2\n");
    cr_model *m =
        rising(cx, t, "features=c state=z states=2 prior_rows=0 prior_transitions=0 restarts=1");
    const cri_hmm *h = state_of(m);
    const double   A[4] = { 0.4, 0.6, 0.5, 0.5 };
    for (size_t i = 0; i < 4; i++) assert_close(h->A[i], A[i], 1e-12);
    assert_close(h->pi[0], 1, 1e-12);
    assert_close(h->level[0], 0.6, 1e-12);
    assert_close(h->level[1], 0.6, 1e-12);
    cr_table     *without = table_of_text(cx, "new.csv", "c\na\nb\n");
    cr_prediction p = predict(cx, m, without);
    assert_proper(&p);
    t = read_table(cx, test_data("classic/hmm/gauss3.csv"));
    m = rising(cx, t, "features=x0,x1 sequence=seq states=3 restarts=2");
    assert_true(state_of(m)->mean[0] < state_of(m)->mean[1]);
}

/* --- standard errors ------------------------------------------------------------------------- */

/* Where the states are known the parameters are means and shares of counts, whose errors are known: s / sqrt(n), s / sqrt(2
 * n), sqrt(p (1 - p) / n). */
TEST(errors_of_known_states)
{
    enum { N = 400 };
    static double x[N], z[N];
    cr_rng        r = cr_rng_stream(6, 6);
    double        n[2] = { 0 }, from[2] = { 0 }, stay[2] = { 0 };
    for (size_t i = 0; i < N; i++) {
        size_t state =
            i > 0 && cr_rng_uniform(&r) < 0.8 ? (size_t)z[i - 1] - 1 : cr_rng_below(&r, 2);
        z[i] = 1 + (double)state;
        x[i] = 3 * (double)state + cr_rng_normal(&r);
        n[state]++;
        if (i > 0) from[(size_t)z[i - 1] - 1]++, stay[(size_t)z[i - 1] - 1] += z[i] == z[i - 1];
    }
    cr_table *t = make_table(cx, NULL, N, 0, NULL, NULL);
    assert_ok(cx, cr_table_add_numbers(cx, t, "x", CR_REAL, x, 1));
    assert_ok(cx, cr_table_add_numbers(cx, t, "z", CR_REAL, z, 1));
    json_t *d = describe(cx, rising(cx, t,
                                    "features=x state=z states=2 prior_rows=1e-6 "
                                    "prior_transitions=1e-4"));
    for (size_t c = 0; c < 2; c++) {
        char   mean[16], sd[16], self[16];
        double p = stay[c] / from[c];
        snprintf(mean, sizeof mean, "mean[%zu].x", c + 1);
        snprintf(sd, sizeof sd, "sd[%zu].x", c + 1);
        snprintf(self, sizeof self, "A[%zu,%zu]", c + 1, c + 1);
        assert_relative(parameter(d, mean, "sd"), value_of(d, sd) / sqrt(n[c]), 2e-3);
        assert_relative(parameter(d, sd, "sd"), value_of(d, sd) / sqrt(2 * n[c]), 2e-3);
        assert_relative(parameter(d, self, "sd"), sqrt(p * (1 - p) / from[c]), 2e-3);
    }
    assert_true(isnan(parameter(d, "pi[1]", "sd"))); /* of one sequence there is nothing to know */
}

/* Errors are as large as the estimates vary from simulation to simulation. */
TEST(errors_in_simulations)
{
    enum { N = 600, MOST = 100 };
    static double drawn[N];
    size_t        trials = simulation_size(10, MOST), covered = 0, all = 0;
    const char   *names[] = { "A[1,2]", "A[2,1]", "mean[1].x", "mean[2].x", "sd[1].x" };
    const double  truth[] = { 0.1, 0.2, 0, 2, 1 };
    cr_table     *t = table_of_text(cx, "data.csv", "x\n1\n0\n2\n");
    cr_model     *m =
        fit(cx, "hmm", t,
            "max_iter=0 start={\"pi\":[0.5,0.5],\"A\":[[0.9,0.1],[0.2,0.8]],\"mean\":[0,2],"
            "\"sd\":[1,1]}");
    for (size_t i = 0; i < trials; i++) {
        assert_ok(cx, m->class->rows->sample(cx, m->state, m->design, NULL, N, i, drawn));
        cr_table *u = make_table(cx, NULL, N, 0, NULL, NULL);
        assert_ok(cx, cr_table_add_numbers(cx, u, "x", CR_REAL, drawn, 1));
        json_t *d = describe(cx, fit(cx, "hmm", u, "states=2 restarts=2"));
        for (size_t j = 0; j < 5; j++) {
            double sd = parameter(d, names[j], "sd");
            if (isnan(sd)) continue;
            all++;
            covered += fabs(value_of(d, names[j]) - truth[j]) < 1.96 * sd;
        }
    }
    assert_true(all > 4 * trials);
    double share = (double)covered / (double)all;
    if (!(share > 0.88 - (trials < MOST ? 0.1 : 0) && share < 0.995))
        fail_msg("%zu of %zu intervals cover the truth", covered, all);
}

/* --- sequences ------------------------------------------------------------------------------- */

TEST(filters_and_forecasts)
{
    cr_table *t = table_of_text(cx, "data.csv", "s,x\na,1\na,2\nb,9\na,8\nb,7\nb,1\n");
    cr_model *m =
        rising(cx, t,
               "sequence=s max_iter=0 start={\"pi\":[0.5,0.5],\"A\":[[0.8,0.2],[0.3,0.7]],"
               "\"mean\":[2,8],\"sd\":[1,1.5]}");
    cr_prediction smoothed = predict(cx, m, t), filtered = { 0 };
    cr_forecast   f = { 0 };
    assert_ok(cx, cr_filter(cx, m, t, &filtered));
    for (size_t c = 0; c < 2; c++) {
        assert_close(filtered.prob[3 * 2 + c], smoothed.prob[3 * 2 + c], 1e-13); /* the last rows */
        assert_close(filtered.prob[5 * 2 + c], smoothed.prob[5 * 2 + c], 1e-13);
    }
    assert_true(fabs(filtered.prob[0] - smoothed.prob[0]) > 1e-6);
    assert_ok(cx, cr_forecast_rows(cx, m, NULL, 3, &f));
    assert_int_equal(f.n, 2);
    assert_string_equal(f.names[0], "a");
    double p = filtered.prob[3 * 2];
    for (size_t h = 0; h < 3; h++) {
        p = p * 0.8 + (1 - p) * 0.3;
        assert_close(f.p.prob[h * 2], p, 1e-13);
    }
    cr_forecast_free(cx, &f);
    cr_prediction_free(cx, &filtered);
}
