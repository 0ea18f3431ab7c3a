/* test_crf_stream.c -- a conditional random field fitted to a stream is that of all rows at once, however
 * the blocks cut the sequences. */
#include "../fixture.h"

#include "models/core/fit_stream.h"

enum { SEQUENCES = 30 };

/* Sequences of 1 to 12 rows, of which each in turn has rows out of the order of the times; x is far
 * from 0, c constant, z and u have gaps, levels of k are not with all labels, v weighs sequences, some with 0. */
static const char *write_sequences(bool numbers, int sequences)
{
    static char text[1 << 19];
    cr_rng      r = cr_rng_stream(11, 4);
    size_t      used = (size_t)snprintf(text, sizeof text, "s,t,u,k,c,x,z,v,tag\n");
    for (int s = 0; s < sequences; s++) {
        int rows = 1 + (int)(cr_rng_uniform(&r) * 12), state = s % 3;
        for (int i = 0; i < rows; i++) {
            if (cr_rng_uniform(&r) > 0.6) state = (int)(cr_rng_uniform(&r) * 3);
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%d,%d,%.*s,k%d,0.1,%.4f,",
                                     numbers ? "" : "q", (s * 7) % (sequences < 31 ? 31 : 1009),
                                     s % 2 ? i : rows - i, i % 5 != 4, &"abc"[(state + i) % 3],
                                     state + i % 2, 1e5 + 3 * state + cr_rng_normal(&r));
            if (i % 6 != 3)
                used += (size_t)snprintf(text + used, sizeof text - used, "%.4f",
                                         cr_rng_normal(&r) - state);
            used +=
                (size_t)snprintf(text + used, sizeof text - used, ",%d,%c\n", s % 4, "ABC"[state]);
        }
    }
    return test_file("sequences.csv", text, used);
}

static const char *write_rows(bool numbers) { return write_sequences(numbers, SEQUENCES); }

static cr_status fit_blocks(cr_ctx *cx, const char *path, const char *settings, size_t rows,
                            cr_model **out)
{
    cr_status       st = CR_OK;
    cr_read_options o = { 0 };
    cr_stream      *stream = NULL;
    setting_list    s;
    split_settings(settings, &s);
    CR_TRY(cr_options_init(cx, cr_read_table, &o));
    CR_TRY(cr_stream_open(cx, path, &o, rows, &stream));
    CR_TRY(cr_fit_stream(cx, "crf", stream, s.list, s.n, out));
done:
    cr_stream_free(cx, stream);
    cr_options_free(cx, cr_read_table, &o);
    return st;
}

static cr_model *fit_stream(cr_ctx *cx, const char *path, const char *settings, size_t rows)
{
    cr_model *m = NULL;
    assert_ok(cx, fit_blocks(cx, path, settings, rows, &m));
    test_own(cx, m, release_model);
    return m;
}

static void check_parameters(const json_t *a, const json_t *b)
{
    json_t *pa = json_object_get(a, "parameters"), *pb = json_object_get(b, "parameters");
    assert_int_equal(json_array_size(pa), json_array_size(pb));
    for (size_t i = 0; i < json_array_size(pa); i++) {
        json_t *x = json_array_get(pa, i), *y = json_array_get(pb, i);
        assert_string_equal(json_string_value(json_object_get(x, "name")),
                            json_string_value(json_object_get(y, "name")));
        assert_true(fabs(number_of(x, "value") - number_of(y, "value")) < 1e-7);
        if (json_is_number(json_object_get(x, "sd")))
            assert_close(number_of(x, "sd"), number_of(y, "sd"), 1e-7);
        else
            assert_false(json_is_number(json_object_get(y, "sd")));
    }
}

static void check_same(cr_ctx *cx, const cr_model *a, const cr_model *b)
{
    static const char *const counts[] = { "sequences", "attributes", "weights", "labels" };
    const cr_report         *ra = cr_model_get_report(a), *rb = cr_model_get_report(b);
    json_t                  *da = describe(cx, a), *db = describe(cx, b);
    check_parameters(da, db);
    for (size_t k = 0; k < 4; k++)
        assert_close(statistic(da, counts[k]), statistic(db, counts[k]), 0);
    assert_close(statistic(da, "objective_value"), statistic(db, "objective_value"), 1e-10);
    assert_int_equal(ra->rows, rb->rows);
    assert_close(ra->log_likelihood, rb->log_likelihood, 1e-8);
    assert_int_equal(isnan(ra->log_evidence), isnan(rb->log_evidence));
    if (!isnan(ra->log_evidence)) assert_close(ra->log_evidence, rb->log_evidence, 1e-8);
}

/* Blocks of one row, which every sequence goes on beyond, and of more. */
TEST(blocks_are_the_whole)
{
    static const char *const more[] = { "",
                                        " features=u,k,z pairs=seen window=u[-1],u*z",
                                        " l1=0.5 window=x[1]",
                                        " weights=v",
                                        " features=u window=u[-2:2] lambda=0.1",
                                        " missing=drop",
                                        " features=z bias=true lambda=0" };
    for (size_t k = 0; k < sizeof more / sizeof *more; k++) {
        const char  *path = write_rows(k % 2);
        cr_table    *t = read_table(cx, path);
        char         settings[200];
        const size_t sizes[] = { 1, 5, 40, 150 };
        snprintf(settings, sizeof settings, "target=tag sequence=s time=t%s%s",
                 strstr(more[k], "features") ? "" : " features=u,c,x,z", more[k]);
        cr_model *whole = fit(cx, "crf", t, settings);
        for (size_t i = 0; i < 4; i++)
            check_same(cx, whole, fit_stream(cx, path, settings, sizes[i]));
    }
}

TEST(the_same_bits_on_any_number_of_threads)
{
    const char *path = write_rows(false);
    char       *kept = NULL;
    size_t      length = 0;
    for (size_t threads = 1; threads <= 5; threads += 2) {
        cr_ctx_set_threads(cx, threads);
        cr_model     *m = fit_stream(cx, path, "target=tag sequence=s features=u,x", 20);
        cr_prediction p = predict(cx, m, read_table(cx, path));
        size_t        size = p.n * p.n_classes * sizeof *p.prob;
        if (!kept) {
            kept = malloc(length = size);
            memcpy(kept, p.prob, size);
        }
        assert_int_equal(size, length);
        assert_memory_equal(kept, p.prob, size);
    }
    free(kept);
}

static void count_rereading(void *user, cr_log_level level, const char *text)
{
    size_t *n = user;
    (void)level;
    *n += strstr(text, "every pass reads the file") != NULL;
}

/* Blocks are kept where there is memory for them, and read again where there is not: with the same bits. */
TEST(kept_or_read_again)
{
    const char *path = write_sequences(true, 1000);
    const char *solvers[] = { "lbfgs max_iter=5", "sgd max_iter=3" };
    for (size_t i = 0; i < 2; i++) {
        char      settings[200];
        double    first = NAN;
        size_t    fitted = 0, read_again = 0;
        cr_status st = CR_OK;
        cr_ctx_set_log(cx, count_rereading, &read_again);
        snprintf(settings, sizeof settings, "target=tag sequence=s time=t features=u,x solver=%s",
                 solvers[i]);
        for (size_t more = (size_t)1 << 26; st == CR_OK; more = more / 5 * 4) {
            cr_model *m = NULL;
            cr_ctx_set_memory_limit(cx, cr_ctx_memory(cx) + more);
            st = fit_blocks(cx, path, settings, 500, &m);
            cr_ctx_set_memory_limit(cx, 0);
            if (st != CR_OK) break;
            double objective = statistic(describe(cx, m), "objective_value");
            if (fitted++ == 0) first = objective;
            assert_true(objective == first);
            cr_model_free(cx, m);
        }
        cr_ctx_set_log(cx, NULL, NULL);
        assert_int_equal(st, CR_ENOMEM);
        assert_true(read_again > 0 && read_again < fitted);
    }
}

/* Of blocks too it ends near the minimum, and not above what it says. */
TEST(stochastic_descent)
{
    const char *path = write_rows(false);
    char        text[200];
    for (size_t block = 5; block <= 80; block *= 4) {
        const char *settings = "target=tag sequence=s time=t features=u,c,x,z lambda=2";
        snprintf(text, sizeof text, "%s solver=sgd tol=1e-4", settings);
        json_t *a = describe(cx, fit_stream(cx, path, text, block));
        json_t *b = describe(cx, fit_stream(cx, path, settings, block));
        double best = statistic(b, "objective_value"), gap = statistic(a, "objective_value") - best;
        assert_true(gap >= 0 && gap <= statistic(a, "above_minimum") && gap < 0.01 * best);
    }
}

TEST(what_a_stream_cannot_be_fitted_to)
{
    static const char rows[] = "s,u,tag\na,p,A\na,q,B\nb,p,A\nb,q,B\nc,p,A\n";
    const struct {
        const char *last, *settings, *says;
        cr_status   status;
    } cases[] = {
        { "c,q,B\n", "target=tag features=u", "without --sequence", CR_EARG },
        { "a,q,B\n", "target=tag sequence=s", "sequences.csv:7: the sequence 'a' goes on",
          CR_EDATA },
        { ",q,B\n", "target=tag sequence=s", "sequences.csv:7: column 's' is missing", CR_EDATA },
        { "c,q,\n", "target=tag sequence=s", "sequences.csv:7", CR_EDATA },
        { "c,q,B\n", "target=tag sequence=s scale=standard window=w", "not one of the features",
          CR_EARG },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (size_t block = 1; block < 6; block++) {
            char        text[200];
            cr_model   *m = NULL;
            int         n = snprintf(text, sizeof text, "%s%s", rows, cases[k].last);
            const char *path = test_file("sequences.csv", text, (size_t)n);
            assert_fails_with(cx, fit_blocks(cx, path, cases[k].settings, block, &m),
                              cases[k].status, cases[k].says);
        }
}

typedef struct life {
    const char *path, *settings;
} life;

static cr_status fit_life(cr_ctx *cx, void *arg)
{
    const life *l = arg;
    cr_model   *m = NULL;
    cr_status   st = fit_blocks(cx, l->path, l->settings, 2, &m);
    cr_model_free(cx, m);
    return st;
}

TEST(allocations)
{
    static const char text[] =
        "s,u,x,w,tag\n1,p,1,1,A\n1,q,2,1,B\n1,p,4,1,A\n2,q,1,2,B\n3,p,2,1,A\n"
        "3,q,1,1,B\n4,q,3,1,A\n";
    static const char *const settings[] = {
        "target=tag sequence=s features=u,x window=u[-1] max_iter=3",
        "target=tag sequence=s features=u,x pairs=seen l1=0.1 max_iter=3",
        "target=tag sequence=s features=x weights=w lambda=2",
        "target=tag sequence=s features=u,x solver=sgd max_iter=2",
    };
    test_call_sites known = { 0 };
    for (size_t k = 0; k < 4; k++) {
        life l = { test_file("life.csv", text, sizeof text - 1), settings[k] };
        test_new_allocations_fail(&known, fit_life, &l);
    }
    test_call_sites_free(&known);
}

/* With pairs=seen there are weights for the pairs that are there, whatever the order in which levels come. */
TEST(weights_of_seen_pairs)
{
    static const char        text[] = "s,u,tag\n1,z,A\n1,b,B\n2,z,A\n2,a,C\n3,m,B\n4,z,A\n4,b,C\n";
    const char              *path = test_file("pairs.csv", text, sizeof text - 1);
    static const char *const seen[] = { "state[A].u=z", "state[B].u=b", "state[C].u=b",
                                        "state[C].u=a", "state[B].u=m" };
    for (size_t block = 1; block < 9; block += 2) {
        json_t *d = describe(cx, fit_stream(cx, path, "target=tag sequence=s pairs=seen", block));
        size_t  i, others = 0;
        json_t *item;
        assert_close(statistic(d, "weights"), 5 + 9, 0);
        json_array_foreach(json_object_get(d, "parameters"), i, item)
        {
            const char *name = json_string_value(json_object_get(item, "name"));
            bool        there = strncmp(name, "transition", 10) == 0;
            for (size_t k = 0; k < 5; k++) there = there || strcmp(name, seen[k]) == 0;
            assert_int_equal(number_of(item, "value") != 0, there);
            others += !there;
        }
        assert_int_equal(others, 3 * 4 - 5);
    }
}
