/* test_knn_ties.c -- nearest neighbours where many rows are equal or equally far: the choice of k and
 * smoothing and the answers against the definition over single rows, which shares a ring by weight;
 * in any order of the rows, and with weights for equal rows. */
#include "../drawn.h"

static drawn_data data, other; /* large for a stack */

/* --- the definition -------------------------------------------------------------------------- */

typedef struct near_row {
    double distance;
    size_t row;
} near_row;

static int by_distance(const void *a, const void *b)
{
    double d = ((const near_row *)a)->distance - ((const near_row *)b)->distance;
    return d < 0 ? -1 : d > 0;
}

/* c [n] := what each row counts among the k nearest to row `at`, of which min(1, w) is left out if
 * asked for. */
static void count_rows(const drawn_data *d, size_t at, bool without, double k, double *c)
{
    static near_row list[DRAWN_MOST];
    for (size_t i = 0; i < d->n; i++) {
        double sum = 0;
        for (size_t j = 0; j < d->p; j++) sum += pow(d->X[i * d->p + j] - d->X[at * d->p + j], 2);
        list[i] = (near_row){ sqrt(sum), i };
        c[i] = d->w[i] - (without && i == at ? fmin(1, d->w[i]) : 0);
    }
    qsort(list, d->n, sizeof *list, by_distance);
    for (size_t i = 0, end; i < d->n; i = end) {
        double ring = 0;
        for (end = i; end < d->n && list[end].distance <= list[i].distance + 1e-9; end++)
            ring += c[list[end].row];
        double share = ring > 0 ? fmin(1, fmax(k, 0) / ring) : 0;
        for (size_t j = i; j < end; j++) c[list[j].row] *= share;
        k -= ring * share;
    }
}

/* The mean of the targets, or the share of the class of row `at`. */
static double answer_at(const drawn_data *d, const double *c, size_t at)
{
    double sum = 0, mass = 0;
    for (size_t i = 0; i < d->n; i++) {
        mass += c[i];
        sum += c[i] * (d->classes ? d->y[i] == d->y[at] : d->y[i]);
    }
    return sum / mass;
}

static double loss_at(const drawn_data *d, size_t k, double smoothing)
{
    static double c[DRAWN_MOST];
    double        loss = 0, K = (double)d->classes;
    for (size_t i = 0; i < d->n; i++) {
        double mass = 0, answer;
        count_rows(d, i, true, (double)k, c);
        for (size_t j = 0; j < d->n; j++) mass += c[j];
        answer = answer_at(d, c, i);
        loss += d->w[i] * (d->classes ? -log((answer * mass + smoothing) / (mass + smoothing * K))
                                      : pow(d->y[i] - answer, 2));
    }
    return loss;
}

static double total(const drawn_data *d)
{
    double sum = 0;
    for (size_t i = 0; i < d->n; i++) sum += d->w[i];
    return sum;
}

/* --- what is said ---------------------------------------------------------------------------- */

typedef struct choice {
    double k, loss, smoothing;
} choice;

static cr_model *fit_rows(cr_ctx *cx, const drawn_data *d, const char *more, choice *out)
{
    char      settings[256];
    cr_table *t = make_table(cx, d->X, d->n, d->p, d->y, d->w);
    snprintf(settings, sizeof settings, "target=y weights=w features=x* scale=none %s %s",
             d->classes ? "task=classification" : "task=regression", more);
    cr_model *m = fit(cx, "knn", t, settings);
    json_t   *said = describe(cx, m);
    out->k = parameter(said, "k", "value");
    out->loss = statistic(said, d->classes ? "loo_log_loss" : "loo_mse");
    out->smoothing = d->classes ? statistic(said, "smoothing") : 0;
    return m;
}

static void check_choice(cr_ctx *cx, const drawn_data *d)
{
    choice said;
    double least = INFINITY, fewest = INFINITY, best = 0, smooth = 0, K = (double)d->classes;
    double start = d->classes ? 1 / K : 0; /* while k is chosen */
    fit_rows(cx, d, "k=auto", &said);
    for (size_t k = d->classes ? 1 : 4; k < 64; k++) {
        double loss = loss_at(d, k, start);
        if (loss < least * (1 - 1e-12)) least = loss, best = (double)k;
    }
    assert_int_equal(said.k, best);
    assert_relative(said.loss, least / total(d), 1e-11);
    for (double a = 4 / K; d->classes && a > 0.005 / K; a /= 2) {
        double loss = loss_at(d, (size_t)best, a) - log(a / (best + a * K));
        if (loss < fewest * (1 - 1e-12)) fewest = loss, smooth = a;
    }
    assert_close(said.smoothing, smooth, 1e-12);
}

/* The answers at the rows themselves. */
static void check_answers(cr_ctx *cx, const drawn_data *d, size_t k)
{
    static double c[DRAWN_MOST];
    char          settings[64];
    choice        said;
    snprintf(settings, sizeof settings, "k=%zu", k);
    cr_model     *m = fit_rows(cx, d, settings, &said);
    cr_prediction q = predict(cx, m, make_table(cx, d->X, d->n, d->p, d->y, d->w));
    for (size_t i = 0; i < d->n; i += 7) {
        double K = (double)d->classes, a = said.smoothing, mass = 0, square = 0, mean;
        count_rows(d, i, false, (double)k, c);
        for (size_t j = 0; j < d->n; j++) mass += c[j];
        mean = answer_at(d, c, i);
        for (size_t j = 0; j < d->n; j++) square += c[j] * pow(d->y[j] - mean, 2);
        if (d->classes) {
            assert_close(q.prob[i * d->classes + (size_t)d->y[i]],
                         (mean * mass + a) / (mass + a * K), 1e-12);
            continue;
        }
        assert_close(q.mean[i], mean, 1e-12);
        assert_close(q.dof[i], mass - 1, 1e-9);
        assert_close(q.scale[i], sqrt(square / (mass - 1) * (1 + 1 / mass)), 1e-12);
    }
}

/* The same rows from the last to the first, and the same with equal rows as one of their weight. */
static void reverse(const drawn_data *d, drawn_data *out)
{
    *out = *d;
    for (size_t i = 0; i < d->n; i++) {
        size_t from = d->n - 1 - i;
        memcpy(out->X + i * d->p, d->X + from * d->p, d->p * sizeof(double));
        out->y[i] = d->y[from];
        out->w[i] = d->w[from];
    }
}

static void merge_equal(const drawn_data *d, drawn_data *out)
{
    *out = *d;
    out->n = 0;
    for (size_t i = 0; i < d->n; i++) {
        size_t at = 0, size = d->p * sizeof(double);
        while (at < out->n &&
               (memcmp(out->X + at * d->p, d->X + i * d->p, size) != 0 || out->y[at] != d->y[i]))
            at++;
        if (at < out->n) {
            out->w[at] += d->w[i];
            continue;
        }
        memcpy(out->X + at * d->p, d->X + i * d->p, size);
        out->y[at] = d->y[i];
        out->w[at] = d->w[i];
        out->n++;
    }
}

static void assert_same_choice(cr_ctx *cx, const drawn_data *a, const drawn_data *b)
{
    choice        one, two;
    cr_table     *at = make_table(cx, a->X, a->n, a->p, a->y, a->w);
    cr_prediction p = predict(cx, fit_rows(cx, a, "k=auto", &one), at);
    cr_prediction q = predict(cx, fit_rows(cx, b, "k=auto", &two), at);
    assert_int_equal(one.k, two.k);
    assert_close(one.smoothing, two.smoothing, 0);
    assert_relative(one.loss, two.loss, 1e-12);
    assert_same_answers(&p, &q, 1e-11);
}

/* --- ratings --------------------------------------------------------------------------------- */

/* A rating of 1 to 5, n times; what follows from it is a class, or a number of few values. */
static void draw_ratings(size_t n, size_t classes, drawn_data *d)
{
    cr_rng r = cr_rng_stream(1, 6);
    *d = (drawn_data){ .n = n, .p = 1, .classes = classes };
    for (size_t i = 0; i < n; i++) {
        double x = 1 + (double)cr_rng_below(&r, 5), e = cr_rng_uniform(&r);
        d->X[i] = x;
        d->y[i] = classes ? e < 1 / (1 + exp(-1.2 * (x - 3))) : round(2 * x + 3 * e);
        d->w[i] = 1;
    }
}

TEST(ratings)
{
    for (size_t classes = 0; classes <= 2; classes += 2) {
        draw_ratings(300, classes, &data);
        check_choice(cx, &data);
        for (size_t k = 5; k < 200; k += 90) check_answers(cx, &data, k);
        reverse(&data, &other);
        assert_same_choice(cx, &data, &other);
        merge_equal(&data, &other);
        assert_true(other.n < 60);
        assert_same_choice(cx, &data, &other);
        for (size_t i = 0; i < data.n; i++) data.w[i] = i % 3 ? 0.4 : 2.5; /* not whole rows */
        check_choice(cx, &data);
        check_answers(cx, &data, 6);
    }
}

/* A number that has few values at each of five points still has a spread. */
TEST(spread_of_ratings)
{
    draw_ratings(300, 0, &data);
    choice        said;
    cr_model     *m = fit_rows(cx, &data, "k=auto", &said);
    cr_prediction q = predict(cx, m, make_table(cx, data.X, data.n, 1, data.y, data.w));
    for (size_t i = 0; i < data.n; i++) assert_true(isfinite(q.scale[i]) && q.dof[i] > 2);
}

/* The choice does not end at an sd without bound, though the two nearest rows say most. */
TEST(finite_sd)
{
    data = (drawn_data){ .n = 60, .p = 1 };
    for (size_t i = 0; i < data.n; i++) {
        data.X[i] = (double)i;
        data.y[i] = sin((double)i);
        data.w[i] = 1;
    }
    choice        said;
    cr_model     *m = fit_rows(cx, &data, "k=auto", &said);
    cr_prediction q = predict(cx, m, make_table(cx, data.X, data.n, 1, data.y, data.w));
    for (size_t i = 0; i < data.n; i++) assert_true(q.dof[i] > 2);
}

/* --- rings of many sites --------------------------------------------------------------------- */

/* Points of a circle around the middle, and the middle itself: a ring that is longer than any list
 * that is asked for at first. */
TEST(long_ring)
{
    enum { AROUND = 400 };
    data = (drawn_data){ .n = AROUND + 8, .p = 2, .classes = 2 };
    for (size_t i = 0; i < data.n; i++) {
        double angle = 2 * acos(-1) * (double)i / AROUND;
        data.X[2 * i] = i < AROUND ? cos(angle) : 0;
        data.X[2 * i + 1] = i < AROUND ? sin(angle) : 0;
        data.y[i] = i < AROUND ? i >= 300 : i % 2 == 1;
        data.w[i] = 1;
    }
    check_answers(cx, &data, 20);
    check_choice(cx, &data);
    reverse(&data, &other);
    assert_same_choice(cx, &data, &other);
}

/* Levels of a category are all as far from each other. */
TEST(levels)
{
    text_buffer b = text_new(8192), c = text_new(8192);
    text_put(&b, "g,y\n");
    text_put(&c, "g,y\n");
    for (size_t i = 0; i < 240; i++) text_put(&b, "l%zu,%s\n", i % 120, i % 120 < 80 ? "a" : "b");
    for (size_t i = 240; i-- > 0;) text_put(&c, "l%zu,%s\n", i % 120, i % 120 < 80 ? "a" : "b");
    cr_table     *t = table_of_text(cx, "t.csv", b.at), *u = table_of_text(cx, "u.csv", c.at);
    cr_prediction p = fit_and_predict(cx, "knn", t, "target=y k=20 smoothing=0 scale=none", t);
    cr_prediction q = fit_and_predict(cx, "knn", u, "target=y k=20 smoothing=0 scale=none", t);
    assert_close(p.prob[0], (2 + 18 * 158.0 / 238) / 20, 1e-12);
    assert_same_answers(&p, &q, 1e-12);
    free(b.at);
    free(c.at);
}

/* Those aboard the Titanic by class, sex and age, and who was saved (Dawson 1995): 2201 rows at 14
 * points. */
static const struct cell {
    const char *who;
    size_t      lost, saved;
} aboard[] = {
    { "1st,male,child", 0, 5 },      { "2nd,male,child", 0, 11 },    { "3rd,male,child", 35, 13 },
    { "1st,female,child", 0, 1 },    { "2nd,female,child", 0, 13 },  { "3rd,female,child", 17, 14 },
    { "1st,male,adult", 118, 57 },   { "2nd,male,adult", 154, 14 },  { "3rd,male,adult", 387, 75 },
    { "crew,male,adult", 670, 192 }, { "1st,female,adult", 4, 140 }, { "2nd,female,adult", 13, 80 },
    { "3rd,female,adult", 89, 76 },  { "crew,female,adult", 3, 20 },
};
enum { CELLS = sizeof aboard / sizeof *aboard };

/* One row a person, forwards or backwards, or one row for all who are alike. */
static json_t *fit_aboard(cr_ctx *cx, bool backwards, bool counted, cr_prediction *out)
{
    text_buffer b = text_new(1 << 17);
    text_put(&b, "class,sex,age,saved,n\n");
    for (size_t i = 0; i < (size_t)2 * CELLS; i++) {
        size_t             at = backwards ? 2 * CELLS - 1 - i : i, saved = at % 2;
        const struct cell *c = &aboard[at / 2];
        size_t             n = saved ? c->saved : c->lost;
        for (size_t j = 0; j < (counted ? 1 : n); j++)
            text_put(&b, "%s,%s,%zu\n", c->who, saved ? "yes" : "no", counted ? n : 1);
    }
    cr_model *m = fit(cx, "knn", table_of_text(cx, "t.csv", b.at), "target=saved weights=n k=auto");
    b.used = 0;
    text_put(&b, "class,sex,age\n");
    for (size_t i = 0; i < CELLS; i++) text_put(&b, "%s\n", aboard[i].who);
    *out = predict(cx, m, table_of_text(cx, "at.csv", b.at));
    free(b.at);
    return describe(cx, m);
}

TEST(people)
{
    cr_prediction forwards, others;
    json_t       *one = fit_aboard(cx, false, false, &forwards);
    assert_true(statistic(one, "loo_log_loss") < 0.49);
    for (unsigned bits = 1; bits < 4; bits++) {
        json_t *two = fit_aboard(cx, bits & 1, bits & 2, &others);
        assert_int_equal(parameter(one, "k", "value"), parameter(two, "k", "value"));
        assert_close(statistic(one, "smoothing"), statistic(two, "smoothing"), 0);
        assert_relative(statistic(one, "loo_log_loss"), statistic(two, "loo_log_loss"), 1e-12);
        assert_same_answers(&forwards, &others, 1e-11);
    }
}

/* More sites than are asked for the smoothing. */
TEST(many_sites)
{
    draw_data(3, 3000, 2, 3, &data);
    for (size_t i = 0; i < data.n; i++) data.w[i] = 1;
    reverse(&data, &other);
    assert_same_choice(cx, &data, &other);
    merge_equal(&data, &other);
    assert_same_choice(cx, &data, &other);
}

/* The same bits, with sites for many blocks and rings that are asked for again. */
TEST(threads)
{
    static const size_t counts[] = { 1, 2, 3, 7 };
    cr_prediction       first = { 0 };
    choice              one, said;
    draw_data(9, 4000, 2, 3, &data);
    for (size_t i = 0; i < data.n; i++) { /* a lattice */
        data.X[2 * i] = round(10 * data.X[2 * i]) / 10;
        data.w[i] = i % 5 ? 1 : 0.25;
    }
    cr_table *at = make_table(cx, data.X, data.n, 2, data.y, data.w);
    for (size_t k = 0; k < 4; k++) {
        cr_ctx_set_threads(cx, counts[k]);
        cr_prediction p = predict(cx, fit_rows(cx, &data, "k=auto", &said), at);
        if (k == 0) first = p, one = said;
        assert_memory_equal(&one, &said, sizeof one);
        assert_same_answers(&first, &p, 0);
    }
}
