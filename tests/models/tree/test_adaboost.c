/* test_adaboost.c -- boosting against the published recurrences on stumps found by brute force, and
 * the reference answers. */
#include "../drawn.h"

static drawn_data data;

/* --- stumps by brute force ------------------------------------------------------------------- */

typedef struct stump {
    size_t column;
    double cut, left, right; /* what it answers at x <= cut, and beyond */
} stump;

static double answer_of(const stump *s, const double *x)
{
    return x[s->column] <= s->cut ? s->left : s->right;
}

/* The threshold halfway to the next value above row i's in column j; NaN for the highest. */
static double cut_after(const drawn_data *d, size_t i, size_t j)
{
    double x = d->X[i * d->p + j], next = INFINITY;
    for (size_t k = 0; k < d->n; k++)
        if (d->X[k * d->p + j] > x) next = fmin(next, d->X[k * d->p + j]);
    return isinf(next) ? NAN : (x + next) / 2;
}

/* Class weights on both sides. */
static void count_sides(const drawn_data *d, const double *w, size_t j, double cut, double c[2][8])
{
    memset(c, 0, 2 * sizeof c[0]);
    for (size_t i = 0; i < d->n; i++) c[d->X[i * d->p + j] > cut][(size_t)d->y[i]] += w[i];
}

static double gini_of(const double *c, size_t K)
{
    double sum = 0, square = 0;
    for (size_t k = 0; k < K; k++) sum += c[k], square += c[k] * c[k];
    return sum - square / sum;
}

static double largest(const double *c, size_t K)
{
    size_t best = 0;
    for (size_t k = 1; k < K; k++)
        if (c[k] > c[best]) best = k;
    return (double)best;
}

static stump best_gini(const drawn_data *d, const double *w)
{
    double least = INFINITY, c[2][8];
    stump  best = { 0 };
    for (size_t j = 0; j < d->p; j++)
        for (size_t i = 0; i < d->n; i++) {
            double cut = cut_after(d, i, j);
            if (isnan(cut)) continue;
            count_sides(d, w, j, cut, c);
            double loss = gini_of(c[0], d->classes) + gini_of(c[1], d->classes);
            bool   tie = loss < least + 1e-12 && best.column == j && cut < best.cut;
            if (loss < least - 1e-12 || tie)
                least = loss,
                best = (stump){ j, cut, largest(c[0], d->classes), largest(c[1], d->classes) };
        }
    return best;
}

/* --- samme ----------------------------------------------------------------------------------- */

static void check_recurrence(cr_ctx *cx, size_t classes, double rate)
{
    enum { ROUNDS = 12 };
    double w[DRAWN_MOST], F[DRAWN_MOST] = { 0 }, K = (double)classes;
    char   settings[256];
    draw_data(classes, 60, 2, classes, &data);
    snprintf(settings, sizeof settings,
             "target=y task=classification temper=1 rounds=%d learning_rate=%g", ROUNDS, rate);
    cr_table     *t = make_table(cx, data.X, data.n, 2, data.y, NULL);
    cr_model     *m = fit(cx, "adaboost", t, settings);
    json_t       *d = describe(cx, m), *rounds = json_object_get(d, "rounds");
    cr_prediction q = predict(cx, m, t);
    assert_int_equal(json_array_size(rounds), ROUNDS);
    for (size_t i = 0; i < data.n; i++) w[i] = 1 / (double)data.n;
    for (size_t r = 0; r < ROUNDS; r++) {
        stump  s = best_gini(&data, w);
        double error = 0, sum = 0;
        for (size_t i = 0; i < data.n; i++)
            error += w[i] * (answer_of(&s, data.X + 2 * i) != data.y[i]);
        double        vote = rate * (log((1 - error) / error) + log(K - 1));
        const json_t *round = json_array_get(rounds, r);
        assert_close(number_of(round, "error"), error, 1e-9);
        assert_close(number_of(round, "vote"), vote, 1e-9);
        for (size_t i = 0; i < data.n; i++) {
            double h = answer_of(&s, data.X + 2 * i);
            F[i * classes + (size_t)h] += vote;
            if (h != data.y[i]) w[i] *= exp(vote);
            sum += w[i];
        }
        for (size_t i = 0; i < data.n; i++) w[i] /= sum;
    }
    for (size_t i = 0; i < data.n; i++) {
        double sum = 0;
        for (size_t k = 0; k < classes; k++) sum += exp(F[i * classes + k]);
        for (size_t k = 0; k < classes; k++)
            assert_close(q.prob[i * classes + k], exp(F[i * classes + k]) / sum, 1e-9);
    }
}

TEST(recurrence)
{
    check_recurrence(cx, 2, 1);
    check_recurrence(cx, 3, 1);
    check_recurrence(cx, 4, 0.5);
}

/* Where the trees know every row, one will do; where none is better than guessing, the shares. */
TEST(ends)
{
    double        X[6] = { 1, 2, 3, 4, 5, 6 }, y[6] = { 0, 0, 0, 1, 1, 1 }, same[6] = { 0 };
    double        z[6] = { 0, 0, 1, 0, 1, 1 }, two[6] = { 0, 1, 0, 1, 0, 0 };
    cr_table     *t = make_table(cx, X, 6, 1, y, NULL), *flat = make_table(cx, same, 6, 1, z, NULL);
    cr_table     *odd = make_table(cx, same, 6, 1, two, NULL);
    cr_model     *m = fit(cx, "adaboost", t, "target=y task=classification temper=1");
    json_t       *d = describe(cx, m);
    cr_prediction q = predict(cx, m, t);
    assert_int_equal(statistic(d, "trees"), 1);
    for (size_t i = 0; i < 6; i++) assert_true(q.prob[2 * i + (size_t)y[i]] > 0.999);
    cr_model_free(cx, m);
    q = fit_and_predict(cx, "adaboost", flat, "target=y task=classification temper=1", flat);
    assert_close(q.prob[0], 0.5, 1e-12);
    q = fit_and_predict(cx, "adaboost", odd, "target=y task=classification form=gradient temper=1",
                        odd);
    assert_close(q.prob[0], 2.0 / 3, 1e-12);
}

/* --- gradient -------------------------------------------------------------------------------- */

/* The stump with the least squared error on r, answering with sum r / sum h on each side. */
static stump best_squares(const drawn_data *d, const double *r, const double *h)
{
    double least = INFINITY;
    stump  best = { 0 };
    for (size_t j = 0; j < d->p; j++)
        for (size_t i = 0; i < d->n; i++) {
            double cut = cut_after(d, i, j), n[2] = { 0 }, s[2] = { 0 }, c[2] = { 0 };
            if (isnan(cut)) continue;
            for (size_t k = 0; k < d->n; k++) {
                bool right = d->X[k * d->p + j] > cut;
                n[right]++, s[right] += r[k], c[right] += h[k];
            }
            double loss = -s[0] * s[0] / n[0] - s[1] * s[1] / n[1];
            bool   tie = loss < least + 1e-9 && best.column == j && cut < best.cut;
            if (loss < least - 1e-9 || tie)
                least = loss, best = (stump){ j, cut, s[0] / c[0], s[1] / c[1] };
        }
    return best;
}

/* One, two and more classes' worth of F, by the definition. */
static void check_gradient(cr_ctx *cx, size_t classes)
{
    enum { ROUNDS = 6 };
    size_t widths = classes > 2 ? classes : 1, n;
    double F[DRAWN_MOST] = { 0 }, p[DRAWN_MOST], r[DRAWN_MOST], h[DRAWN_MOST], K = (double)classes;
    char   settings[256];
    draw_data(30 + classes, 60, 2, classes, &data);
    n = data.n;
    snprintf(settings, sizeof settings, "target=y form=gradient rounds=%d learning_rate=0.3 %s",
             ROUNDS, classes ? "task=classification temper=1" : "");
    cr_table     *t = make_table(cx, data.X, n, 2, data.y, NULL);
    cr_prediction q = fit_and_predict(cx, "adaboost", t, settings, t);
    double        share[8] = { 0 }, mean = 0;
    for (size_t i = 0; i < n; i++) mean += data.y[i] / (double)n;
    for (size_t i = 0; classes && i < n; i++) share[(size_t)data.y[i]] += 1 / (double)n;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < widths; k++)
            F[i * widths + k] = !classes       ? mean
                                : classes == 2 ? log(share[1] / share[0])
                                               : log(share[k]);
    for (size_t round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < n; i++) {
            double sum = 0;
            for (size_t k = 0; k < widths; k++) sum += exp(F[i * widths + k]);
            for (size_t k = 0; k < widths; k++)
                p[i * widths + k] = exp(F[i * widths + k]) / (classes == 2 ? 1 + sum : sum);
        }
        for (size_t k = 0; k < widths; k++) {
            for (size_t i = 0; i < n; i++) {
                double pi = p[i * widths + k];
                bool   hit = (size_t)data.y[i] == (classes == 2 ? 1 : k);
                r[i] = classes ? hit - pi : data.y[i] - F[i];
                h[i] = !classes ? 1 : pi * (1 - pi) * (classes == 2 ? 1 : K / (K - 1));
            }
            stump s = best_squares(&data, r, h);
            for (size_t i = 0; i < n; i++) F[i * widths + k] += 0.3 * answer_of(&s, data.X + 2 * i);
        }
    }
    for (size_t i = 0; i < n; i++) {
        double sum = classes == 2;
        for (size_t k = 0; k < widths; k++) sum += exp(F[i * widths + k]);
        if (!classes)
            assert_close(q.mean[i], F[i], 1e-9);
        else if (classes == 2)
            assert_close(q.prob[2 * i + 1], exp(F[i]) / sum, 1e-9);
        for (size_t k = 0; classes > 2 && k < classes; k++)
            assert_close(q.prob[i * classes + k], exp(F[i * classes + k]) / sum, 1e-9);
    }
}

/* The loss after the last round is minus the mean log probability that the rows have of their own
 * class, by their weights. */
static void check_loss(cr_ctx *cx, size_t classes, bool weighted)
{
    enum { ROUNDS = 25 };
    double w[DRAWN_MOST], sum = 0, weight = 0;
    char   settings[256];
    draw_data(50 + classes, 60, 2, classes, &data);
    for (size_t i = 0; i < data.n; i++) w[i] = weighted ? 0.5 + (double)(i % 4) : 2;
    snprintf(settings, sizeof settings,
             "target=y weights=w form=gradient rounds=%d depth=2 task=classification temper=1",
             ROUNDS);
    cr_table     *t = make_table(cx, data.X, data.n, 2, data.y, w);
    cr_model     *m = fit(cx, "adaboost", t, settings);
    cr_prediction q = predict(cx, m, t);
    json_t       *rounds = json_object_get(describe(cx, m), "rounds");
    for (size_t i = 0; i < data.n; i++) {
        sum -= w[i] * log(q.prob[i * classes + (size_t)data.y[i]]);
        weight += w[i];
    }
    assert_int_equal(json_array_size(rounds), ROUNDS);
    assert_close(number_of(json_array_get(rounds, ROUNDS - 1), "error"), sum / weight, 1e-9);
}

TEST(losses)
{
    for (size_t classes = 2; classes <= 3; classes++) {
        check_loss(cx, classes, false);
        check_loss(cx, classes, true);
    }
}

TEST(gradient)
{
    check_gradient(cx, 0);
    check_gradient(cx, 2);
    check_gradient(cx, 3);
}

/* The spread is that of rows that were not seen: near the noise, and above the training error. */
TEST(spread)
{
    draw_data(40, 600, 2, 0, &data);
    cr_table     *t = make_table(cx, data.X, data.n, 2, data.y, NULL);
    cr_model     *m = fit(cx, "adaboost", t, "target=y depth=2 rounds=150");
    json_t       *d = describe(cx, m);
    cr_prediction q = predict(cx, m, t);
    assert_close(q.scale[7], statistic(d, "cv_rmse"), 1e-12);
    assert_true(statistic(d, "cv_rmse") > sqrt(statistic(d, "training_loss")));
    assert_true(statistic(d, "cv_rmse") > 0.28 && statistic(d, "cv_rmse") < 0.5);
}

/* Classes that have little to do with the columns: the votes count less, which new rows bear out, and the answer
 * is the same as with the factor given. */
TEST(temper)
{
    enum { N = 200 };
    static drawn_data fresh;
    const char *const forms[] = { "samme", "gradient" };
    draw_data(41, N, 2, 2, &data);
    draw_data(42, N, 2, 2, &fresh);
    for (size_t i = 0; i < N; i += 3) data.y[i] = 1 - data.y[i], fresh.y[i] = 1 - fresh.y[i];
    cr_table *t = make_table(cx, data.X, N, 2, data.y, NULL);
    cr_table *new = make_table(cx, fresh.X, N, 2, fresh.y, NULL);
    for (size_t k = 0; k < 2; k++) {
        char   settings[128], given[160];
        double loss[2] = { 0 };
        snprintf(settings, sizeof settings, "target=y task=classification depth=2 form=%s",
                 forms[k]);
        cr_model *m = fit(cx, "adaboost", t, settings);
        double    temper = statistic(describe(cx, m), "temper");
        assert_true(temper > 0.01 && temper < 0.7);
        cr_prediction q = predict(cx, m, new);
        snprintf(given, sizeof given, "%s temper=%.17g", settings, temper);
        cr_prediction same = fit_and_predict(cx, "adaboost", t, given, new);
        snprintf(given, sizeof given, "%s temper=1", settings);
        cr_prediction plain = fit_and_predict(cx, "adaboost", t, given, new);
        for (size_t i = 0; i < N; i++) {
            size_t at = 2 * i + (size_t)fresh.y[i];
            assert_close(q.prob[at], same.prob[at], 0);
            loss[0] -= log(q.prob[at]) / N;
            loss[1] -= log(plain.prob[at]) / N;
        }
        assert_true(loss[0] < loss[1] - 0.02);
    }
}

/* Two levels whose classes are known by their shares, 1 in 5 and 4 in 5 of 200 rows: one stump says
 * all, and votes a = log(0.8 / 0.2) for its class against none, so that the shares are met untempered.
 * Equal rows left out together would speak against any vote. */
TEST(temper_of_equal_rows)
{
    enum { N = 400 };
    double X[N], y[N];
    for (size_t i = 0; i < N; i++) {
        X[i] = (double)(i % 2);
        y[i] = i / 2 % 5 ? X[i] : 1 - X[i];
    }
    cr_table *t = make_table(cx, X, N, 1, y, NULL);
    cr_model *m = fit(cx, "adaboost", t, "target=y task=classification rounds=1");
    assert_true(statistic(describe(cx, m), "temper") > 0.9);
    cr_prediction q = predict(cx, m, t);
    for (size_t i = 0; i < N; i++) assert_close(q.prob[2 * i + 1], X[i] > 0 ? 0.8 : 0.2, 0.03);
}

/* --- corners ---------------------------------------------------------------------------------- */

TEST(corners)
{
    double        X[4] = { 1, 2, 3, 4 }, y[4] = { 5, 6, 7, 8 };
    cr_model     *m = NULL;
    cr_table     *one = make_table(cx, X, 1, 1, y, NULL), *t = make_table(cx, X, 4, 1, y, NULL);
    cr_prediction q = fit_and_predict(cx, "adaboost", one, "target=y", one);
    assert_close(q.mean[0], 5, 1e-15);
    assert_true(isnan(q.scale[0]));
    const char *const single[] = { "target=y task=classification",
                                   "target=y task=classification form=gradient" };
    for (size_t i = 0; i < 2; i++)
        assert_fails_with(cx, try_fit(cx, "adaboost", one, single[i], &m), CR_EDATA,
                          "only one class");
    assert_fails_with(cx, try_fit(cx, "adaboost", t, "target=y form=samme", &m), CR_EARG,
                      "samme is for classes");
    cr_table *gaps = table_of_text(cx, "g.csv", "x,g,y\n1,a,no\n,a,no\n3,b,yes\n,b,yes\n5,,yes\n");
    q = fit_and_predict(cx, "adaboost", gaps, "target=y depth=2 rounds=5", gaps);
    assert_true(q.prob[0] > 0.5 && q.prob[1 * 2] > 0.5 && q.prob[3 * 2 + 1] > 0.5);
}

/* --- reference answers ----------------------------------------------------------------------- */

/* Rows whose number is (or is not) a multiple of five; all columns numbers but the target. */
static cr_table *rows_of(cr_ctx *cx, const cr_table *t, bool fifth)
{
    size_t    n = 0, rows = cr_table_rows(t);
    double   *a = malloc(rows * sizeof *a);
    uint32_t *codes = malloc(rows * sizeof *codes);
    cr_table *out = NULL;
    for (size_t i = 0; i < rows; i++) n += (i % 5 == 0) == fifth;
    assert_ok(cx, cr_table_new(cx, "part.csv", n, &out));
    test_own(cx, out, release_table);
    for (size_t j = 0; j < cr_table_columns(t); j++) {
        const cr_column *c = cr_table_column(t, j);
        size_t           at = 0;
        for (size_t i = 0; i < rows; i++) {
            if ((i % 5 == 0) != fifth) continue;
            if (c->type == CR_CATEGORY)
                codes[at++] = c->codes[i];
            else
                a[at++] = c->values[i * c->stride];
        }
        assert_ok(cx, c->type == CR_CATEGORY
                          ? cr_table_add_category(cx, out, c->name, codes,
                                                  (const char *const *)c->levels, c->n_levels)
                          : cr_table_add_numbers(cx, out, c->name, CR_REAL, a, 1));
    }
    free(a);
    free(codes);
    return out;
}

static double accuracy(cr_ctx *cx, const cr_model *m, const cr_table *t)
{
    size_t        n = cr_table_rows(t), right = 0;
    double       *y = malloc(n * sizeof *y);
    cr_prediction q = predict(cx, m, t);
    assert_ok(cx, cr_observed(cx, m, t, y, NULL));
    for (size_t i = 0; i < n; i++) right += largest(q.prob + i * q.n_classes, q.n_classes) == y[i];
    free(y);
    return (double)right / (double)n;
}

static void check_reference(cr_ctx *cx, const json_t *item)
{
    char    path[256], settings[256];
    json_t *data_of = json_object_get(item, "data"), *expected = json_object_get(item, "expected");
    const char *file = json_string_value(json_object_get(data_of, "file")), *rounds;
    const char *target = json_string_value(json_object_get(data_of, "target"));
    json_t     *pair;
    snprintf(path, sizeof path, "classic/%s", file);
    cr_table *t = read_table(cx, test_data(path));
    cr_table *train = rows_of(cx, t, false), *test = rows_of(cx, t, true);
    json_object_foreach(json_object_get(expected, "rounds_to_[train_acc,test_acc]"), rounds, pair)
    {
        if (atoi(rounds) > 20) continue; /* slow under a sanitizer */
        snprintf(settings, sizeof settings, "target=%s task=classification temper=1 rounds=%s",
                 target, rounds);
        cr_model *m = fit(cx, "adaboost", train, settings);
        json_t   *d = describe(cx, m);
        for (size_t r = 0; r < 5 && r < (size_t)atoi(rounds); r++) {
            const json_t *round = json_array_get(json_object_get(d, "rounds"), r);
            assert_close(number_of(round, "error"),
                         element(json_object_get(expected, "weighted_error_first5"), r), 1e-9);
            assert_close(number_of(round, "vote"),
                         element(json_object_get(expected, "round_weight_first5"), r), 1e-9);
        }
        assert_true(fabs(accuracy(cx, m, train) - element(pair, 0)) <= 0.02);
        assert_true(fabs(accuracy(cx, m, test) - element(pair, 1)) <= 0.021);
    }
    cr_table_free(cx, train);
    cr_table_free(cx, test);
}

TEST(reference)
{
    json_t *cases = reference_cases(cx, "adaboost"), *item;
    size_t  i;
    json_array_foreach(cases, i, item) check_reference(cx, item);
}
