/* test_hmm_durations.c -- hidden Markov models with explicit durations (hidden semi-Markov models): against sums over all
 * ways to cut a sequence into segments, counts where the states are known, the chain where durations are geometric, and
 * their own simulations; what is refused. */
#include "hmm_fixture.h"

#include "models/sequence/hmm_duration.h"

/* --- all segmentations ----------------------------------------------------------------------- */

enum { K = 3, D = 3, T = 9 };
static const double given_pi[K] = { 0.5, 0.3, 0.2 };
static const double given_A[K][K] = { { 0, 0.7, 0.3 }, { 0.4, 0, 0.6 }, { 0.9, 0.1, 0 } };
static const double given_leave[K][D] = { { 0.1, 0.6, 0.3 }, { 0.5, 0.25, 0.8 }, { 0, 0.9, 0.05 } };
static const double given_B[K][2] = { { 0.9, 0.1 }, { 0.3, 0.7 }, { 0.55, 0.45 } };
static const char   given[] =
    "features=c duration=3 max_iter=0 "
    "start={\"pi\":[0.5,0.3,0.2],\"A\":[[0,0.7,0.3],[0.4,0,0.6],[0.9,0.1,0]],"
    "\"leave\":[[0.1,0.6,0.3],[0.5,0.25,0.8],[0,0.9,0.05]],\"B\":[[0.9,0.1],[0.3,0.7],[0.55,0.45]]"
    "}";

/* P(a state lasts d rows), or more. */
static double lasts(size_t state, size_t d, bool or_more)
{
    double p = 1;
    for (size_t r = 1; r < d; r++) p *= 1 - given_leave[state][r < D ? r - 1 : D - 1];
    return or_more ? p : p * given_leave[state][d < D ? d - 1 : D - 1];
}

/* P(z, x): segment after segment. */
static double path_probability(const size_t *z, const int *x)
{
    double p = given_pi[z[0]];
    for (size_t t = 0; t < T; t++) p *= x[t] < 0 ? 1 : given_B[z[t]][x[t]];
    for (size_t begin = 0, end = 0; begin < T; begin = end) {
        while (end < T && z[end] == z[begin]) end++;
        p *= lasts(z[begin], end - begin, end == T);
        if (end < T) p *= given_A[z[begin]][z[end]];
    }
    return p;
}

/* Likelihood, smoothed and filtered probabilities, and the most probable path, with a gap. */
TEST(by_all_segmentations)
{
    const int x[T] = { 0, 1, 1, 1, -1, 0, 0, 1, 0 };
    cr_table *t =
        table_of_text(cx, "data.csv", "n,c\n1,a\n2,b\n3,b\n4,b\n5,\n6,a\n7,a\n8,b\n9,a\n");
    cr_model     *m = rising(cx, t, given);
    cr_prediction smooth = predict(cx, m, t), filtered = { 0 };
    double        total = 0, best = 0, at[T][K] = { { 0 } }, path[T], log_path[T];
    size_t        best_path[T] = { 0 }, paths = 1;
    for (size_t i = 0; i < T; i++) paths *= K;
    for (size_t n = 0; n < paths; n++) {
        size_t z[T];
        for (size_t i = 0, rest = n; i < T; i++, rest /= K) z[i] = rest % K;
        double p = path_probability(z, x);
        total += p;
        for (size_t i = 0; i < T; i++) at[i][z[i]] += p;
        if (p > best) best = p, memcpy(best_path, z, sizeof z);
    }
    assert_close(m->report.log_likelihood, log(total), 1e-12);
    for (size_t i = 0; i < T; i++)
        for (size_t c = 0; c < K; c++)
            assert_close(smooth.prob[i * K + c], at[i][c] / total, 1e-12);
    assert_ok(cx, cr_decode(cx, m, t, path, log_path));
    assert_close(log_path[0], log(best), 1e-12);
    for (size_t i = 0; i < T; i++) assert_true(path[i] == (double)best_path[i]);
    assert_ok(cx, cr_filter(cx, m, t, &filtered));
    double sum = 0;
    for (size_t i = 0; i < T; i++) sum += filtered.log_density[i];
    assert_close(sum, log(total), 1e-12);
    for (size_t c = 0; c < K; c++)
        assert_close(filtered.prob[(T - 1) * K + c], at[T - 1][c] / total, 1e-12);
    cr_prediction_free(cx, &filtered);
}

/* The best paths of all, and the entropy of their posterior. */
TEST(lists_of_paths_by_all_segmentations)
{
    enum { BEST = 6 };
    const int x[T] = { 0, 1, 1, 1, -1, 0, 0, 1, 0 };
    cr_table *t =
        table_of_text(cx, "data.csv", "n,c\n1,a\n2,b\n3,b\n4,b\n5,\n6,a\n7,a\n8,b\n9,a\n");
    cr_model *m = rising(cx, t, given);
    double best[BEST] = { 0 }, total = 0, logs = 0, path[BEST * T], log_path[BEST * T], entropy[T];
    size_t best_path[BEST][T], paths = 1;
    for (size_t i = 0; i < T; i++) paths *= K;
    for (size_t n = 0; n < paths; n++) {
        size_t z[T], at = BEST;
        for (size_t i = 0, rest = n; i < T; i++, rest /= K) z[i] = rest % K;
        double p = path_probability(z, x);
        total += p, logs += p > 0 ? p * log(p) : 0;
        for (; at > 0 && p > best[at - 1]; at--) {
            if (at == BEST) continue;
            best[at] = best[at - 1];
            memcpy(best_path[at], best_path[at - 1], sizeof z);
        }
        if (at < BEST) best[at] = p, memcpy(best_path[at], z, sizeof z);
    }
    assert_ok(cx, cr_path_entropy(cx, m, t, entropy));
    assert_close(entropy[0], log(total) - logs / total, 1e-12);
    assert_ok(cx, cr_decode_paths(cx, m, t, BEST, path, log_path));
    for (size_t r = 0; r < BEST; r++) {
        assert_close(log_path[r * T], log(best[r]), 1e-12);
        for (size_t i = 0; i < T; i++) assert_true(path[r * T + i] == (double)best_path[r][i]);
    }
}

/* --- the same by other roads ----------------------------------------------------------------- */

/* Where all stages are left alike durations are geometric. */
TEST(geometric_durations_are_a_chain)
{
    cr_table     *t = read_table(cx, test_data("classic/hmm/earthquakes.csv"));
    const char   *rates = "\"pi\":[0.5,0.3,0.2],\"rate\":[13,19,29]}";
    char          settings[400];
    cr_prediction p[3];
    cr_model     *m[3];
    snprintf(settings, sizeof settings,
             "features=count emission=poisson max_iter=0 "
             "start={\"A\":[[0.9,0.07,0.03],[0.1,0.8,0.1],[0,0.25,0.75]],%s",
             rates);
    m[0] = rising(cx, t, settings);
    snprintf(settings, sizeof settings,
             "features=count emission=poisson duration=4 max_iter=0 "
             "start={\"A\":[[0.9,0.07,0.03],[0.1,0.8,0.1],[0,0.25,0.75]],%s",
             rates);
    m[1] = rising(cx, t, settings);
    snprintf(settings, sizeof settings,
             "features=count emission=poisson duration=2 max_iter=0 "
             "start={\"A\":[[0,0.7,0.3],[0.5,0,0.5],[0,1,0]],\"leave\":[[0.1,0.1],[0.2,0.2],[0.25,"
             "0.25]],%s",
             rates);
    m[2] = rising(cx, t, settings);
    for (size_t i = 0; i < 3; i++) p[i] = predict(cx, m[i], t);
    for (size_t i = 1; i < 3; i++) {
        json_t *a = json_object_get(describe(cx, m[0]), "states");
        json_t *b = json_object_get(describe(cx, m[i]), "states");
        assert_close(m[i]->report.log_likelihood, m[0]->report.log_likelihood, 1e-10);
        for (size_t j = 0; j < p[0].n * 3; j++) assert_close(p[i].prob[j], p[0].prob[j], 1e-10);
        for (size_t c = 0; c < 3; c++) {
            json_t *u = json_array_get(a, c), *v = json_array_get(b, c);
            assert_close(number_of(v, "duration"), number_of(u, "duration"), 1e-10);
            assert_close(number_of(v, "duration_sd"), number_of(u, "duration_sd"), 1e-10);
            assert_close(number_of(v, "stationary"), number_of(u, "stationary"), 1e-10);
        }
    }
}

/* One stage is the ordinary model, to the last bit. */
TEST(one_stage_is_today)
{
    cr_table *t = read_table(cx, test_data("classic/hmm/earthquakes.csv"));
    cr_model *a = rising(cx, t, "features=count emission=poisson states=2 restarts=3");
    cr_model *b = rising(cx, t, "features=count emission=poisson states=2 restarts=3 duration=1");
    assert_true(a->report.log_likelihood == b->report.log_likelihood);
    assert_memory_equal(state_of(a)->A, state_of(b)->A, 4 * sizeof(double));
}

/* Where the states are known leave is counted: of the segments that last so long, those that end there; the last one
 * is cut off. */
TEST(known_states_are_counted)
{
    cr_table *t =
        table_of_text(cx, "data.csv",
                      "c,z\na,1\na,1\nb,2\na,1\nb,3\nb,3\nb,3\na,1\na,1\na,1\na,1\nb,2\nb,2\n"
                      "a,3\na,3\na,1\nb,2\nb,2\nb,2\nb,2\n");
    /* 1: 2 1 4 1; 2: 1 2 4+; 3: 3 2 */
    const double expected[3][3] = { { 2. / 4, 1. / 2, 1. / 2 },
                                    { 1. / 3, 1. / 2, 0 },
                                    { 0, 1. / 2, 1 } };
    cr_model    *m = rising(
           cx, t,
           "features=c state=z states=3 duration=3 restarts=1 prior_rows=0 prior_transitions=0");
    const cri_hmm *h = state_of(m);
    for (size_t i = 0; i < 3; i++)
        for (size_t d = 0; d < 3; d++) assert_close(h->leave[d * 3 + i], expected[i][d], 1e-12);
    assert_close(h->A[1], 3. / 4, 1e-12);
    assert_close(h->A[5], 1. / 2, 1e-12);
    assert_close(h->A[6], 1, 1e-12);
    assert_close(h->pi[0], 1, 1e-12);
    assert_close(cri_hmm_parameters(h), 2 + 3 + 9 + 3, 0);
}

/* Mean and sd of durations, and the table of them, by adding up. */
TEST(durations_by_sums)
{
    cr_table *t = table_of_text(cx, "data.csv", "n,c\n1,a\n2,b\n");
    cr_model *m = rising(cx, t, given);
    json_t   *d = describe(cx, m);
    for (size_t c = 0; c < K; c++) {
        double  mean = 0, square = 0, rows = 0;
        json_t *row = json_array_get(json_object_get(d, "states"), c);
        for (size_t n = 1; n < 4000; n++)
            mean += (double)n * lasts(c, n, false), square += (double)(n * n) * lasts(c, n, false);
        assert_close(number_of(row, "duration"), mean, 1e-10);
        assert_close(number_of(row, "duration_sd"), sqrt(square - mean * mean), 1e-9);
        for (size_t n = 1; n <= D; n++) {
            row = json_array_get(json_object_get(d, "durations"), c * D + n - 1);
            assert_close(number_of(row, "rows"), (double)n, 0);
            assert_close(number_of(row, "probability"), lasts(c, n, n == D), 1e-12);
            rows += cri_hmm_stage_rows(state_of(m), c, n - 1);
        }
        assert_close(rows, state_of(m)->share[c] * state_of(m)->weight, 1e-12);
    }
}

/* Forecasts are what is said of rows without cells; far ahead, the long run. */
TEST(forecasts_are_rows_without_cells)
{
    cr_table     *t = table_of_text(cx, "data.csv", "n,c\n1,a\n2,b\n3,b\n4,a\n"), *more;
    cr_model     *m = rising(cx, t, given);
    cr_forecast   f = { 0 };
    cr_prediction p;
    more = table_of_text(cx, "more.csv", "n,c\n1,a\n2,b\n3,b\n4,a\n5,\n6,\n7,\n8,\n9,\n10,\n");
    p = predict(cx, m, more);
    assert_ok(cx, cr_forecast_rows(cx, m, NULL, 3000, &f));
    for (size_t h = 0; h < 6; h++)
        for (size_t c = 0; c < K; c++)
            assert_close(f.p.prob[h * K + c], p.prob[(4 + h) * K + c], 1e-12);
    json_t *states = json_object_get(describe(cx, m), "states");
    for (size_t c = 0; c < K; c++)
        assert_close(f.p.prob[2999 * K + c], number_of(json_array_get(states, c), "stationary"),
                     1e-10);
    cr_forecast_free(cx, &f);
}

/* --- the chain of nodes ---------------------------------------------------------------------- */

typedef struct long_chain {
    double *log_b; /* [LONG x NODES] */
} long_chain;
enum { STATES = 2, STAGES = 50, NODES = STATES * STAGES, LONG = 24000 };

static void emit_nodes(const void *of, size_t begin, size_t end, double *out)
{
    const long_chain *l = of;
    for (size_t t = begin; t < end; t++)
        for (size_t a = 0; a < NODES; a++)
            out[(t - begin) * cri_chain_stride(NODES) + a] = l->log_b[t * STATES + a % STATES];
}

/* Many blocks of steps with stages are those of a chain with all transitions between nodes. */
TEST(stages_as_a_full_chain)
{
    static double A[NODES * NODES], At[NODES * NODES], pi[NODES], leave[NODES], stay[NODES],
        log_b[LONG * STATES], onward[STATES], pairs[NODES * NODES],
        counts[2 * NODES + STATES * STATES];
    static double smooth[2][LONG * NODES], density[2][LONG], begins[2][NODES];
    double        jump[4] = { 0, 1, 1, 0 };
    cri_hmm       m = { .k = STATES, .stages = STAGES, .leave = leave, .A = jump };
    long_chain    l = { log_b };
    cr_rng        r = cr_rng_stream(2, 9);
    double       *work = calloc(cri_chain_work(LONG, NODES), sizeof *work);
    for (size_t a = 0; a < NODES; a++) leave[a] = 0.2 * cr_rng_uniform(&r), stay[a] = 1 - leave[a];
    for (size_t i = 0; i < LONG * STATES; i++) log_b[i] = cr_rng_normal(&r);
    log_b[1000] = log_b[1001] = -INFINITY; /* a step that is passed over */
    pi[0] = 0.25, pi[1] = 0.75;
    cri_hmm_unfold(&m, smooth[0]);
    cri_chain_pad(smooth[0], NODES, false, 0, A);
    cri_chain_pad(smooth[0], NODES, true, 0, At);
    cri_chain_stages stages = { STATES, STAGES, leave, stay, jump, onward };
    cri_chain        full = { .k = NODES,
                              .stride = cri_chain_stride(NODES),
                              .pi = pi,
                              .A = A,
                              .At = At,
                              .emit = emit_nodes,
                              .of = &l },
              staged = full;
    staged.A = staged.At = NULL, staged.stages = &stages;
    cri_chain_wish wish = {
        .log_density = density[0], .smoothed = smooth[0], .begins = begins[0], .pairs = pairs
    };
    cri_chain_run(&full, 0, LONG, LONG, &wish, work);
    wish = (cri_chain_wish){
        .log_density = density[1], .smoothed = smooth[1], .begins = begins[1], .pairs = counts
    };
    assert_true(cri_chain_block(LONG, NODES) < LONG / 4);
    cri_chain_run(&staged, 0, LONG, LONG, &wish, work);
    for (size_t t = 0; t < LONG; t++)
        if (t != 500) assert_close(density[1][t], density[0][t], 1e-10);
    assert_true(density[1][500] == -INFINITY);
    for (size_t i = 0; i < LONG * NODES; i += 7) assert_close(smooth[1][i], smooth[0][i], 1e-11);
    for (size_t a = 0; a < NODES; a++) {
        const double *row = pairs + a * NODES;
        size_t        state = a % STATES, next = a + STATES < NODES ? a + STATES : a;
        assert_close(begins[1][a], begins[0][a], 1e-11);
        assert_close(counts[a], row[next], 1e-8);
        assert_close(counts[NODES + a], row[1 - state], 1e-8);
    }
    for (size_t i = 0; i < STATES; i++) {
        double sum = 0;
        for (size_t d = 0; d < STAGES; d++) sum += pairs[(d * STATES + i) * NODES + 1 - i];
        assert_close(counts[2 * NODES + i * STATES + 1 - i], sum, 1e-8);
    }
    free(work);
}

/* --- learning -------------------------------------------------------------------------------- */

/* Durations that no chain has: 4 to 6 rows of one state, and 2 or 9 of the other. */
TEST(durations_are_recovered)
{
    enum { N = 6000 };
    static double drawn[N];
    cr_table     *t = table_of_text(cx, "data.csv", "x\n0\n1\n3\n"), *u;
    cr_model     *truth =
        fit(cx, "hmm", t,
            "duration=10 max_iter=0 start={\"pi\":[0.5,0.5],\"A\":[[0,1],[1,0]],\"mean\":[0,3],"
            "\"sd\":[1,1],\"leave\":[[0,0,0,0.3,0.5,1,1,1,1,1],[0,0.6,0,0,0,0,0,0,1,1]]}");
    assert_ok(cx, truth->class->rows->sample(cx, truth->state, truth->design, NULL, N, 8, drawn));
    u = make_table(cx, NULL, N, 0, NULL, NULL);
    assert_ok(cx, cr_table_add_numbers(cx, u, "x", CR_REAL, drawn, 1));
    cr_model *m = rising(cx, u, "states=2 duration=10 restarts=4"),
             *chain = rising(cx, u, "states=2 restarts=4");
    json_t      *d = describe(cx, m), *states = json_object_get(d, "states");
    const double leave[2][9] = { { 0, 0, 0, 0.3, 0.5 }, { 0, 0.6, 0, 0, 0, 0, 0, 0, 1 } };
    for (size_t c = 0; c < 2; c++)
        for (size_t r = 0; r < (c == 0 ? 5 : 9); r++) {
            char name[32];
            snprintf(name, sizeof name, "leave[%zu,%zu]", c + 1, r + 1);
            double sd = parameter(d, name, "sd");
            if (!(fabs(value_of(d, name) - leave[c][r]) < (isnan(sd) ? 0.06 : 5 * sd)))
                fail_msg("%s is %g +- %g, not %g", name, value_of(d, name), sd, leave[c][r]);
        }
    assert_close(number_of(json_array_get(states, 0), "duration"), 4 * 0.3 + 5 * 0.35 + 6 * 0.35,
                 0.05);
    assert_close(number_of(json_array_get(states, 1), "duration"), 2 * 0.6 + 9 * 0.4, 0.06);
    assert_true(m->report.log_likelihood > chain->report.log_likelihood + 300);
    assert_true(statistic(d, "bic") < statistic(describe(cx, chain), "bic") - 400);
}

/* Errors are as large as the estimates vary. */
TEST(duration_errors_in_simulations)
{
    enum { N = 800, MOST = 60 };
    static double drawn[N];
    size_t        trials = simulation_size(6, MOST), covered = 0, all = 0;
    const char   *names[] = { "leave[1,1]", "leave[1,2]", "leave[1,3]",
                              "leave[2,1]", "leave[2,3]", "mean[2].x" };
    const double  truth[] = { 0.05, 0.5, 0.2, 0.3, 0.1, 4 };
    cr_table     *t = table_of_text(cx, "data.csv", "x\n1\n0\n2\n");
    cr_model     *m = fit(cx, "hmm", t,
                          "duration=3 max_iter=0 "
                              "start={\"pi\":[0.5,0.5],\"A\":[[0,1],[1,0]],\"mean\":[0,4],\"sd\":[1,1],"
                              "\"leave\":[[0.05,0.5,0.2],[0.3,0.3,0.1]]}");
    for (size_t i = 0; i < trials; i++) {
        assert_ok(cx, m->class->rows->sample(cx, m->state, m->design, NULL, N, i, drawn));
        cr_table *u = make_table(cx, NULL, N, 0, NULL, NULL);
        assert_ok(cx, cr_table_add_numbers(cx, u, "x", CR_REAL, drawn, 1));
        json_t *d = describe(cx, fit(cx, "hmm", u, "states=2 duration=3 restarts=2"));
        for (size_t j = 0; j < 6; j++) {
            double sd = parameter(d, names[j], "sd");
            if (isnan(sd)) continue;
            all++;
            covered += fabs(value_of(d, names[j]) - truth[j]) < 1.96 * sd;
        }
    }
    assert_true(all > 5 * trials);
    double share = (double)covered / (double)all;
    if (!(share > 0.88 - (trials < MOST ? 0.1 : 0)))
        fail_msg("%zu of %zu intervals cover the truth", covered, all);
}

/* The objective rises in every combination; sequences of one row, states without rows, states that are never left. */
TEST(durations_everywhere)
{
    cr_table *t = read_table(cx, test_data("classic/hmm/gauss3.csv"));
    cr_table *few = table_of_text(cx, "data.csv", "c,s\na,1\nb,2\na,2\nb,2\na,3\na,4\n");
    static const char *const many[] = {
        "features=x0,x1 sequence=seq states=3 duration=5 restarts=2",
        "features=x0 sequence=seq states=3 duration=3 topology=left-right restarts=2",
        "features=x0 sequence=seq states=4 duration=2 topology=banded:1 restarts=2",
        "features=x0,x1 sequence=seq covariates=x1 duration=4 states=2 restarts=3",
        "features=x0 sequence=seq duration=3 transitions={\"A\":[[0.5,0.5],[0,1]]} restarts=1",
    };
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
        cr_model      *m = rising(cx, t, many[i]);
        const cri_hmm *h = state_of(m);
        cr_prediction  p = predict(cx, m, t);
        assert_proper(&p);
        for (size_t c = 0; c < h->k; c++) {
            double sum = 0;
            for (size_t j = 0; j < h->k; j++) sum += h->A[c * h->k + j];
            assert_close(sum, 1, 1e-12);
            assert_true(h->A[c * h->k + c] == (cri_hmm_can_leave(h, c) ? 0 : 1));
        }
    }
    static const char *const little[] = {
        "features=c sequence=s states=3 duration=4 restarts=3 prior_transitions=2",
        "features=c sequence=s states=3 duration=4 restarts=3 prior_rows=0 prior_transitions=0 "
        "max_iter=20",
        "features=c states=1:3 duration=40 restarts=2",
        "features=c states=1 duration=3",
    };
    for (size_t i = 0; i < sizeof little / sizeof *little; i++) {
        cr_model      *m = rising(cx, few, little[i]);
        const cri_hmm *h = state_of(m);
        cr_prediction  p = predict(cx, m, few);
        assert_proper(&p);
        for (size_t j = 0; j < h->stages * h->k; j++) assert_true(isfinite(h->leave[j]));
    }
}

/* A stream in blocks is filtered as all rows at once: the stage is kept. */
TEST(stages_are_kept_between_blocks)
{
    cr_table     *t = table_of_text(cx, "data.csv", "n,c\n1,a\n2,b\n3,b\n4,b\n5,a\n6,a\n");
    cr_table     *one = table_of_text(cx, "one.csv", "n,c\n1,a\n2,b\n3,b\n");
    cr_table     *two = table_of_text(cx, "two.csv", "n,c\n4,b\n5,a\n6,a\n");
    cr_model     *m = rising(cx, t, given);
    cr_follower  *f = NULL;
    cr_prediction all = { 0 }, p = { 0 };
    assert_ok(cx, cr_filter(cx, m, t, &all));
    assert_ok(cx, cr_follow_open(cx, m, &f));
    for (size_t b = 0; b < 2; b++) {
        assert_ok(cx, cr_follow(cx, f, b == 0 ? one : two, &p));
        for (size_t i = 0; i < 3 * K; i++) assert_close(p.prob[i], all.prob[b * 3 * K + i], 1e-14);
        cr_prediction_free(cx, &p);
        p = (cr_prediction){ 0 };
    }
    cr_follow_free(cx, f);
    cr_prediction_free(cx, &all);
}

/* Rows that come later go on with a segment where it stands. */
TEST(durations_are_updated)
{
    static const char *const rows =
        "c,z\na,1\na,1\nb,2\na,1\nb,3\nb,3\nb,3\na,1\na,1\na,1\na,1\nb,2\nb,2\n"
        "a,3\na,3\na,1\nb,2\nb,2\nb,2\nb,2\n";
    const char *settings =
        "features=c state=z states=3 duration=3 restarts=1 prior_rows=1e-7 prior_transitions=1e-9";
    cr_model *whole = fit(cx, "hmm", table_of_text(cx, "data.csv", rows), settings);
    for (size_t cut = 6; cut < 20; cut++) {
        char        first[256], later[256];
        const char *at = rows;
        cr_model   *m = NULL;
        for (size_t i = 0; i < cut; i++) at = strchr(at, '\n') + 1;
        snprintf(first, sizeof first, "%.*s", (int)(at - rows), rows);
        snprintf(later, sizeof later, "c,z\n%s", at);
        cr_model *old = fit(cx, "hmm", table_of_text(cx, "first.csv", first), settings);
        assert_ok(cx, cr_update(cx, old, table_of_text(cx, "later.csv", later), &m));
        test_own(cx, m, release_model);
        for (size_t i = 0; i < 9; i++) {
            assert_close(state_of(m)->leave[i], state_of(whole)->leave[i], 1e-6);
            assert_close(state_of(m)->A[i], state_of(whole)->A[i], 1e-6);
        }
        for (size_t i = 0; i < state_of(m)->place; i++)
            assert_close(state_of(m)->ends[i], state_of(whole)->ends[i], 1e-6);
    }
}

TEST(durations_refused)
{
    cr_table *t = table_of_text(cx, "data.csv", "c\na\nb\nb\na\n");
    static const struct {
        const char *settings, *sentence;
    } bad[] = {
        { "duration=0", "duration" },
        { "duration=2 infer=vb", "--duration has no posterior" },
        { "duration=900 states=3", "3 states times --duration 900 is more than 2000" },
        { "start={\"leave\":[[0.1],[0.2]]}", "'leave' is of durations" },
        { "duration=3 start={\"leave\":[[0.1],[0.2]]}",
          "there are 1 numbers, but --duration is 3" },
        { "duration=2 start={\"leave\":[[0.1,2],[0.2,0.1]]}", "leave" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cr_model *m = NULL;
        cr_status st = try_fit(cx, "hmm", t, bad[i].settings, &m);
        if (st == CR_OK || !strstr(cr_error(cx), bad[i].sentence))
            fail_msg("%s: %s", bad[i].settings, st == CR_OK ? "is taken" : cr_error(cx));
    }
}
