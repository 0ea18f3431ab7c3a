/* test_dbn.c -- tables of dynamic networks from data: by hand where nothing is missing; step by step against counts by a sum
 * over all joint states; as hidden Markov models, against hmm; objectives that never fall; the answers as a network. */
#include "dbn_fixture.h"

#include "base/context_internal.h"
#include "models/core/network_ask.h"
#include "models/sequence/hmm.h"

/* A fit whose objective has never fallen, and whose description is in order. */
static cr_model *rising(cr_ctx *cx, const cr_table *t, const char *settings)
{
    cr_model             *m = fit(cx, "dbn", t, settings);
    const cri_em_outcome *o = &state_of(m)->em;
    for (size_t i = 1; i < o->iterations; i++)
        if (!(o->trace[i] >= o->trace[i - 1] - 1e-10 * (1 + fabs(o->trace[i]))))
            fail_msg("%s: pass %zu falls by %g", settings, i, o->trace[i - 1] - o->trace[i]);
    describe(cx, m);
    return m;
}

/* --- nothing is missing ---------------------------------------------------------------------- */

TEST(complete_rows_are_counted)
{
    /* 1: no/no yes/yes yes/no;  2: yes/yes no/no;  3: yes/yes */
    cr_table *t = table_of_text(cx, "data.csv",
                                "s,rain,umbrella\n1,no,no\n2,yes,yes\n1,yes,yes\n3,yes,yes\n"
                                "1,yes,no\n2,no,no\n");
    cr_model *m = fit(cx, "dbn", t, "sequence=s prior=2 network=" UMBRELLA);
    json_t   *d = describe(cx, m);
    assert_int_equal(m->report.stop, CR_STOP_CLOSED_FORM);
    assert_close(parameter(d, "P(rain[t=1]=no)", "value"), (1 + 2 * 0.5) / (3 + 2), 1e-14);
    assert_close(parameter(d, "P(rain=yes | rain[-1]=no)", "value"), (1 + 2 * 0.3) / (1 + 2),
                 1e-14);
    assert_close(parameter(d, "P(rain=no | rain[-1]=yes)", "value"), (1 + 2 * 0.3) / (2 + 2),
                 1e-14);
    assert_close(parameter(d, "P(umbrella=no | rain=no)", "value"), (2 + 2 * 0.8) / (2 + 2), 1e-14);
    assert_close(parameter(d, "P(umbrella=yes | rain=yes)", "value"), (3 + 2 * 0.9) / (4 + 2),
                 1e-14);
    assert_close(statistic(d, "parameters"), 1 + 2 + 2, 0);
    assert_close(statistic(d, "hidden"), 0, 0);
    double log_p = 3 * log(parameter(d, "P(umbrella=yes | rain=yes)", "value")) +
                   log(parameter(d, "P(umbrella=no | rain=yes)", "value")) +
                   2 * log(parameter(d, "P(umbrella=no | rain=no)", "value")) +
                   log(parameter(d, "P(rain[t=1]=no)", "value")) +
                   2 * log(parameter(d, "P(rain[t=1]=yes)", "value")) +
                   log(parameter(d, "P(rain=yes | rain[-1]=no)", "value")) +
                   log(parameter(d, "P(rain=no | rain[-1]=yes)", "value")) +
                   log(parameter(d, "P(rain=yes | rain[-1]=yes)", "value"));
    assert_close(m->report.log_likelihood, log_p, 1e-13);
    assert_close(statistic(d, "bic"), -2 * log_p + 5 * log(6), 1e-12);
    /* without a prior these are shares; a row that nothing is counted in stays */
    t = table_of_text(cx, "data.csv", "rain,umbrella\nno,no\nno,yes\nno,no\n");
    d = describe(cx, fit(cx, "dbn", t, "prior=0 network=" UMBRELLA));
    assert_close(parameter(d, "P(rain=no | rain[-1]=no)", "value"), 1, 0);
    assert_close(parameter(d, "P(rain=no | rain[-1]=yes)", "value"), 0.3, 0);
    assert_close(parameter(d, "P(umbrella=yes | rain=no)", "value"), 1. / 3, 1e-14);
}

/* --- by all joint states --------------------------------------------------------------------- */

static void write_stories(const story *x, size_t n, size_t columns, text_buffer *b)
{
    text_put(b, "s,a,b,c,d\n");
    for (size_t t = 0; t < 8; t++) /* rows of the sequences in turn */
        for (size_t k = 0; k < n; k++) {
            if (t >= x[k].slices) continue;
            text_put(b, "%zu", k);
            for (size_t v = 0; v < columns; v++)
                if (x[k].cell[t][v] < 0)
                    text_put(b, ",");
                else
                    text_put(b, ",%d", x[k].cell[t][v]);
            text_put(b, "\n");
        }
}

/* Steps of EM by the definition, from the given tables, against as many passes of the fit. */
static void check_steps(cr_ctx *cx, const story *x, size_t n, double prior)
{
    enum { STEPS = 6 };
    text_buffer b = text_new(4096);
    char        settings[1200];
    double      given[MOST_SIZE], value[MOST_SIZE], trace[STEPS];
    write_stories(x, n, 4, &b);
    cr_table *t = table_of_text(cx, "stories.csv", b.at);
    snprintf(settings, sizeof settings, "sequence=s restarts=1 max_iter=1 prior=%g network=%s",
             prior, CRANE);
    cr_model *at = fit(cx, "dbn", t, settings); /* its network has the given tables */
    cri_dbn  *m = at->state;
    assert_true(m->size <= MOST_SIZE);
    memcpy(given, m->value, m->size * sizeof *given);
    memcpy(value, given, sizeof given);
    for (size_t step = 0; step < STEPS; step++) {
        double count[MOST_SIZE] = { 0 };
        trace[step] = 0;
        cri_dbn_set(m, value);
        for (size_t k = 0; k < n; k++) trace[step] += add_counts(cx, m, &x[k], count);
        for (size_t i = 0; i < m->size; i++)
            if (given[i] > 0 && prior > 0) trace[step] += prior * given[i] * log(value[i]);
        if (step + 1 == STEPS) break;
        for (size_t k = 0; k < m->tables; k++)
            for (size_t i = m->table[k].at; i < m->table[k].at + m->table[k].size;
                 i += m->table[k].states) {
                double sum = 0;
                for (size_t s = i; s < i + m->table[k].states; s++)
                    sum += count[s] + prior * given[s];
                for (size_t s = i; s < i + m->table[k].states; s++)
                    value[s] = sum > 0 ? (count[s] + prior * given[s]) / sum : given[s];
            }
    }
    snprintf(settings, sizeof settings,
             "sequence=s restarts=1 max_iter=%d tol=0 prior=%g network=%s", STEPS, prior, CRANE);
    cr_model *made = rising(cx, t, settings);
    assert_int_equal(state_of(made)->em.iterations, STEPS);
    for (size_t i = 0; i < STEPS; i++) assert_close(state_of(made)->em.trace[i], trace[i], 1e-10);
    for (size_t i = 0; i < m->size; i++) assert_close(state_of(made)->value[i], value[i], 1e-10);
    free(b.at);
}

TEST(steps_are_those_of_all_joint_states)
{
    static const story hidden[] = { { 3,
                                      { { -1, -1, 1, -1 }, { -1, -1, 0, -1 }, { -1, -1, 1, -1 } } },
                                    { 1, { { -1, -1, 0, -1 } } },
                                    { 2, { { -1, -1, 1, -1 }, { -1, -1, -1, -1 } } } };
    static const story gaps[] = { { 3, { { 0, -1, 1, -1 }, { -1, 2, -1, -1 }, { 1, -1, 0, 0 } } },
                                  { 2, { { -1, -1, -1, 1 }, { -1, 0, 1, -1 } } },
                                  { 3, { { 1, 2, 0, 0 }, { -1, -1, 1, -1 }, { -1, 2, 1, 1 } } } };
    check_steps(cx, hidden, 3, 0);
    check_steps(cx, hidden, 3, 0.7);
    check_steps(cx, gaps, 3, 0);
    check_steps(cx, gaps, 3, 1.5);
}

/* --- hidden Markov models -------------------------------------------------------------------- */

enum { K = 2, SYMBOLS = 3 };

static void put_rows(text_buffer *b, const double *p, size_t rows, size_t n, size_t down,
                     size_t right)
{
    text_put(b, "[");
    for (size_t i = 0; i < rows; i++) {
        text_put(b, "%s%s", i ? "," : "", rows > 1 ? "[" : "");
        for (size_t k = 0; k < n; k++)
            text_put(b, "%s%.17g", k ? "," : "", p[i * down + k * right]);
        text_put(b, "%s", rows > 1 ? "]" : "");
    }
    text_put(b, "]");
}

/* Each pass of the network has the likelihood of a pass of hmm, which goes on from where it was. */
TEST(as_a_hidden_markov_model)
{
    enum { STEPS = 8 };
    const double pi[K] = { 0.6, 0.4 }, A[K * K] = { 0.7, 0.3, 0.2, 0.8 };
    const double B[K * SYMBOLS] = { 0.5, 0.3, 0.2, 0.1, 0.3, 0.6 };
    cr_rng       r = cr_rng_stream(3, 1);
    text_buffer  data = text_new(8192), net = text_new(1024), start = text_new(1024);
    text_put(&data, "s,y\n");
    for (size_t i = 0; i < 120; i++)
        text_put(&data, "%zu,%c\n", i / 40, "uvw"[(i / 7 % 2 + cr_rng_below(&r, 2)) % 3]);
    cr_table *t = table_of_text(cx, "symbols.csv", data.at);
    text_put(&net,
             "sequence=s prior=0 restarts=1 tol=0 max_iter=%d network={\"network\":\"bayes\","
             "\"slices\":2,\"variables\":{\"z\":{\"states\":2,\"initial\":{\"table\":",
             STEPS);
    put_rows(&net, pi, 1, K, K, 1);
    text_put(&net, "},\"parents\":[\"z[-1]\"],\"table\":");
    put_rows(&net, A, K, K, K, 1);
    text_put(&net, "},\"y\":{\"states\":[\"u\",\"v\",\"w\"],\"parents\":[\"z\"],\"table\":");
    put_rows(&net, B, K, SYMBOLS, SYMBOLS, 1);
    text_put(&net, "}}}");
    cr_model *m = rising(cx, t, net.at);
    assert_int_equal(state_of(m)->em.iterations, STEPS);
    const cri_hmm *h = NULL;
    for (size_t i = 0; i + 1 < STEPS; i++) {
        start.at[0] = '\0';
        start.used = 0;
        text_put(&start,
                 "sequence=s states=2 restarts=1 max_iter=2 prior_rows=0 prior_transitions=0 "
                 "start={\"pi\":");
        put_rows(&start, h ? h->pi : pi, 1, K, K, 1);
        text_put(&start, ",\"A\":");
        put_rows(&start, h ? h->A : A, K, K, K, 1);
        text_put(&start, ",\"B\":");
        put_rows(&start, h ? h->level : B, K, SYMBOLS, h ? 1 : SYMBOLS, h ? K : 1);
        text_put(&start, "}");
        cr_model *of = fit(cx, "hmm", t, start.at);
        h = of->state;
        assert_close(h->em.trace[0], state_of(m)->em.trace[i], 1e-8);
        assert_close(h->em.trace[1], state_of(m)->em.trace[i + 1], 1e-8);
    }
    free(data.at), free(net.at), free(start.at);
}

/* --- laws ------------------------------------------------------------------------------------ */

TEST(parameters_are_recovered_with_gaps)
{
    cr_table *t = draw_days(cx, 1, 20000, 0.6);
    json_t   *d = describe(cx, rising(cx, t, "sequence=town restarts=2 network=" UMBRELLA));
    assert_close(parameter(d, "P(rain=yes | rain[-1]=yes)", "value"), 0.8, 0.03);
    assert_close(parameter(d, "P(rain=yes | rain[-1]=no)", "value"), 0.1, 0.02);
    assert_close(parameter(d, "P(umbrella=yes | rain=yes)", "value"), 0.95, 0.02);
    assert_close(parameter(d, "P(umbrella=yes | rain=no)", "value"), 0.25, 0.03);
    assert_close(statistic(d, "restarts"), 2, 0);
}

TEST(starts_and_ends)
{
    cr_table        *t = draw_days(cx, 2, 400, 0.7);
    cr_model        *m = rising(cx, t, "sequence=town restarts=6 network=" UMBRELLA);
    const cr_report *r = cr_model_get_report(m);
    assert_int_equal(state_of(m)->em.restarts, 6);
    assert_true(state_of(m)->em.restarts_agreed >= 1 && state_of(m)->em.converged);
    assert_int_equal(r->stop, CR_STOP_TOLERANCE);
    cr_model *one = rising(cx, t, "sequence=town restarts=1 network=" UMBRELLA);
    assert_true(state_of(m)->em.objective >= state_of(one)->em.objective - 1e-3);
    m = rising(cx, t, "sequence=town max_iter=3 restarts=2 network=" UMBRELLA);
    assert_false(state_of(m)->em.converged);
    assert_int_equal(cr_model_get_report(m)->stop, CR_STOP_LIMIT);
}

/* A time limit within the first start, and after it: the best so far. */
TEST(time_limits)
{
    cr_table *t = draw_days(cx, 2, 400, 0.7);
    size_t    iterations = 0;
    for (uint64_t nth = 1; nth < 60; nth += 7) {
        warnings  said = { 0 };
        cr_model *m = NULL;
        cr_ctx_set_log(cx, keep_warning, &said);
        cri_ctx_run_out_at(cx, nth);
        cr_status st = try_fit(cx, "dbn", t, "sequence=town restarts=40 network=" UMBRELLA, &m);
        cri_ctx_run_out_at(cx, 0);
        cr_ctx_set_log(cx, NULL, NULL);
        check_status(cx, st, CR_OK, NULL, "fit", __FILE__, __LINE__);
        assert_int_equal(cr_model_get_report(m)->stop, CR_STOP_TIME);
        assert_int_equal(said.n, 1);
        assert_non_null(strstr(said.text, "the time limit ended the search after"));
        assert_true(state_of(m)->em.iterations >= iterations && state_of(m)->em.restarts < 40);
        iterations = state_of(m)->em.iterations;
        assert_true(isfinite(predict(cx, m, t).log_density[0]));
        cr_model_free(cx, m);
    }
}

/* Entries of 0 stay, whatever the start, and what is not a table stays; log densities of rows add up to the likelihood. */
TEST(zeros_stay)
{
    story       x[12];
    text_buffer b = text_new(4096);
    cr_rng      r = cr_rng_stream(5, 1);
    for (size_t k = 0; k < 12; k++) {
        x[k] = (story){ .slices = 5 };
        for (size_t t = 0; t < 5; t++)
            for (size_t v = 0; v < 4; v++)
                x[k].cell[t][v] = v == 2 && cr_rng_below(&r, 4) ? (int)cr_rng_below(&r, 2) : -1;
    }
    write_stories(x, 12, 4, &b);
    cr_table *t = table_of_text(cx, "stories.csv", b.at);
    cr_model *m = rising(cx, t, "sequence=s restarts=4 prior=0 network=" CRANE);
    assert_close(parameter(describe(cx, m), "P(b=0 | b[-1]=2)", "value"), 0, 0);
    assert_int_equal(cr_network_table(state_of(m)->net->next, 4 + 3).kind, CR_CPD_DETERMINISTIC);
    cr_prediction p = predict(cx, m, t);
    double        sum = 0;
    for (size_t i = 0; i < p.n; i++) sum += p.log_density[i];
    assert_close(sum, m->report.log_likelihood, 1e-9);
    free(b.at);
}

/* Two towns side by side that share their tables are two sequences of one town. */
TEST(plates_are_learned_as_one)
{
    static const char *const network =
        "restarts=1 tol=0 max_iter=12 "
        "network={\"network\":\"bayes\",\"slices\":2,\"plates\":{\"p\":2},"
        "\"variables\":{\"rain\":{\"plate\":\"p\",\"states\":[\"no\",\"yes\"],\"initial\":{"
        "\"table\":"
        "[0.5,0.5]},\"parents\":[\"rain[-1]\"],\"table\":[[0.7,0.3],[0.3,0.7]]},\"umbrella\":{"
        "\"plate\":\"p\","
        "\"states\":[\"no\",\"yes\"],\"parents\":[\"rain\"],\"table\":[[0.8,0.2],[0.1,0.9]]}}}";
    cr_rng      r = cr_rng_stream(8, 1);
    text_buffer side = text_new(4096), below = text_new(4096);
    bool        brings[2][60];
    text_put(&side, "umbrella[p=1],umbrella[p=2]\n");
    text_put(&below, "s,umbrella\n");
    for (size_t i = 0; i < 60; i++) {
        for (size_t p = 0; p < 2; p++) brings[p][i] = cr_rng_below(&r, 10) < (i / 6 % 2 ? 8 : 3);
        text_put(&side, "%s,%s\n", brings[0][i] ? "yes" : "no", brings[1][i] ? "yes" : "no");
    }
    for (size_t p = 0; p < 2; p++)
        for (size_t i = 0; i < 60; i++)
            text_put(&below, "%zu,%s\n", p, brings[p][i] ? "yes" : "no");
    cr_model *a = rising(cx, table_of_text(cx, "side.csv", side.at), network);
    cr_model *b = rising(cx, table_of_text(cx, "below.csv", below.at),
                         "sequence=s restarts=1 tol=0 max_iter=12 network=" UMBRELLA);
    assert_int_equal(state_of(a)->size, state_of(b)->size);
    assert_int_equal(state_of(a)->free, state_of(b)->free);
    for (size_t i = 0; i < 12; i++)
        assert_close(state_of(a)->em.trace[i], state_of(b)->em.trace[i], 1e-10);
    for (size_t i = 0; i < state_of(a)->size; i++)
        assert_close(state_of(a)->value[i], state_of(b)->value[i], 1e-10);
    json_t *d = describe(cx, a);
    assert_close(parameter(d, "P(umbrella[p=1]=yes | rain[p=1]=yes)", "value"),
                 parameter(describe(cx, b), "P(umbrella=yes | rain=yes)", "value"), 1e-10);
    size_t size;
    for (size_t v = 0; v < 2; v++)
        assert_memory_equal(cri_dynamic_table(state_of(a)->net, false, v, &size),
                            cri_dynamic_table(state_of(a)->net, false, 0, &size),
                            4 * sizeof(double));
    free(side.at), free(below.at);
}

/* A noisy-or of many parents is kept as its effects: the engine has tables of its own beside the network then. */
TEST(beside_large_noisy_ors)
{
    text_buffer net = text_new(4096), names = text_new(256), data = text_new(4096);
    cr_rng      r = cr_rng_stream(6, 1);
    text_put(&net, "{\"network\":\"bayes\",\"slices\":2,\"variables\":{"
                   "\"z\":{\"states\":2,\"initial\":{\"table\":[0.5,0.5]},\"parents\":[\"z[-1]\"],"
                   "\"table\":[[0.8,0.2],[0.3,0.7]]}");
    for (size_t i = 0; i < 12; i++) {
        text_put(&net,
                 ",\"c%zu\":{\"states\":2,\"parents\":[\"z\"],\"table\":[[0.9,0.1],[0.7,0.3]]}", i);
        text_put(&names, "%s\"c%zu\"", i ? "," : "", i);
    }
    text_put(&net,
             ",\"e\":{\"states\":2,\"parents\":[%s],\"noisy-or\":{\"leak\":0.05,\"strengths\":{",
             names.at);
    for (size_t i = 0; i < 12; i++) text_put(&net, "%s\"c%zu\":0.5", i ? "," : "", i);
    text_put(&net, "}}}}}");
    text_put(&data, "e,c0\n");
    for (size_t i = 0; i < 40; i++)
        text_put(&data, "%zu,%zu\n", i / 10 % 2, (size_t)cr_rng_below(&r, 2));
    char settings[256];
    snprintf(settings, sizeof settings, "restarts=1 max_iter=8 network=%s",
             test_file("noisy.json", net.at, strlen(net.at)));
    cr_model *m = rising(cx, table_of_text(cx, "data.csv", data.at), settings);
    assert_true(state_of(m)->em.trace[7] > state_of(m)->em.trace[1] + 0.1);
    free(net.at), free(names.at), free(data.at);
}

/* --- as a network ---------------------------------------------------------------------------- */

static double answer_of(cr_ctx *cx, const cr_model *m, const char *question)
{
    char *text = NULL;
    assert_ok(cx, cr_model_query(cx, m, question, NULL, NULL, &text));
    json_t *a = json_loads(text, 0, NULL);
    double  p = number_of(a, "log_evidence");
    json_decref(a);
    cr_free(cx, text, strlen(text) + 1, 1);
    return p;
}

/* Questions to the model, to the model that was saved, and to the network that it is written as. */
TEST(it_is_a_network)
{
    const char *question = "P(rain[t=2] | umbrella[t=1..3]=yes)";
    cr_table   *t = draw_days(cx, 4, 300, 0.5);
    cr_model   *m = rising(cx, t, "sequence=town restarts=1 network=" UMBRELLA), *back = NULL,
             *net = NULL;
    char       *bytes = NULL;
    size_t      size;
    const char *path = test_file("learned.json", "", 0);
    double      p = answer_of(cx, m, question);
    assert_ok(cx, cr_model_to_bytes(cx, m, &bytes, &size));
    assert_ok(cx, cr_model_from_bytes(cx, "saved", bytes, size, &back));
    assert_ok(cx, cr_model_write_network(cx, m, path, CR_FORMAT_JSON));
    assert_ok(cx, cr_model_load_network(cx, path, CR_FORMAT_AUTO, &net));
    assert_true(answer_of(cx, back, question) == p);
    assert_close(answer_of(cx, net, question), p, 1e-13);
    cr_posteriors rows = { 0 };
    assert_ok(cx, cr_model_infer(cx, m, t, "rain", NULL, NULL, &rows));
    assert_int_equal(rows.rows, 300);
    cr_posteriors_free(cx, &rows);
    /* what is written begins a fit where this one ended */
    char settings[256];
    snprintf(settings, sizeof settings, "sequence=town prior=0 max_iter=1 network=%s", path);
    assert_close(fit(cx, "dbn", t, settings)->report.log_likelihood, m->report.log_likelihood,
                 1e-9);
    cr_free(cx, bytes, size, 1);
    cr_model_free(cx, back);
    cr_model_free(cx, net);
}

/* --- what cannot be -------------------------------------------------------------------------- */

static void refused(cr_ctx *cx, const char *text, const char *settings, const char *because)
{
    cr_model *m = NULL;
    cr_table *t = table_of_text(cx, "data.csv", text);
    cr_status st = try_fit(cx, "dbn", t, settings, &m);
    if (st == CR_OK) cr_model_free(cx, m);
    if (st == CR_OK || !strstr(cr_error(cx), because))
        fail_msg("%s: %s", settings, st == CR_OK ? "is taken" : cr_error(cx));
}

TEST(what_cannot_be_learned_is_refused)
{
    const char *days = "rain,umbrella\nno,no\nyes,yes\n";
    refused(cx, days, "prior=1", "learns the tables of a network, which is not given");
    refused(cx, days, "network={\"network\":\"bayes\"", "not JSON");
    refused(cx, days, "network={\"network\":\"bayes\",\"variables\":{}}", "\"slices\": 2");
    refused(cx, days, "network=/nowhere/net.json", "/nowhere/net.json");
    refused(cx, "rain,umbrella\nno,no\nmaybe,yes\n", "network=" UMBRELLA,
            "data.csv, row 2: 'rain' has no state 'maybe'");
    refused(cx, "rain,umbrella\n0,no\n1,yes\n", "network=" UMBRELLA, "'rain' has no state '0'");
    refused(cx, "a,b\n1,2\n", "network=" UMBRELLA, "names a variable of the network");
    refused(cx, "rain,w\nno,1\nyes,2\n", "weights=w network=" UMBRELLA, "cannot count more");
    refused(cx, "rain,umbrella\nno,no\n,yes\nno,yes\n", "missing=impute network=" UMBRELLA,
            "cannot be filled in");
    refused(cx, "rain,umbrella\nno,no\nyes,yes\n", "target=rain network=" UMBRELLA, "no target");
    refused(cx, "d\n1\n0\n",
            "network={\"network\":\"bayes\",\"slices\":2,\"variables\":{\"d\":{\"states\":2,"
            "\"initial\":{\"deterministic\":{\"\":\"0\"}},\"parents\":[\"d[-1]\"],"
            "\"deterministic\":{\"0\":\"1\",\"1\":\"0\"}}}}",
            "d");
    /* 2 is never followed by 0 */
    refused(cx, "s,b\n1,0\n1,1\n2,2\n2,0\n", "sequence=s network=" CRANE,
            "data.csv, row 4: by the network");
}

TEST(corners)
{
    warnings heard;
    assert_non_null(
        strstr(fit_and_hear(cx, "dbn", table_of_text(cx, "d.csv", "rain,umbrela\nno,1\n"),
                            "network=" UMBRELLA, &heard),
               "'umbrela' does not match a variable of the network and is left out (did you "
               "mean 'umbrella'?)"));
    assert_int_equal(heard.n, 1);
    /* one row of which nothing is known; numbers for states; sequences of one row */
    cr_model *m = rising(cx, table_of_text(cx, "d.csv", "umbrella,x\n,1\n"),
                         "features=umbrella network=" UMBRELLA);
    assert_close(m->report.log_likelihood, 0, 1e-15);
    assert_close(statistic(describe(cx, m), "hidden"), 2, 0);
    m = rising(cx, table_of_text(cx, "d.csv", "s,a,c\n1,0,1\n2,1.0,0\n3,,1\n"),
               "sequence=s network=" CRANE);
    assert_close(statistic(describe(cx, m), "sequences"), 3, 0);
    assert_close(statistic(describe(cx, m), "missing"), 1, 0);
}
