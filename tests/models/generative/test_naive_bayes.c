/* test_naive_bayes.c -- naive Bayes: every kind of column by its definition in long double, gaps as
 * factors left out, scikit-learn's answers, predictives as ratios of marginal likelihoods, laws. */
#include "classes.h"

#include "math/special/special.h"

enum { N = 150, K = 3, COLUMNS = 8 };

/* A table of all kinds, with gaps: g normal, d kernel, c count, b boolean, s category, m1 .. m3
 * words; and the class and weight of each row. */
enum { G, D, C, B, S, M1, M2, M3 };
static const char *const names[COLUMNS] = { "g", "d", "c", "b", "s", "m1", "m2", "m3" };
enum { LEVELS = 4 };

typedef struct data {
    double x[N][COLUMNS], y[N], w[N];
} data;

static double draw_count(cr_rng *r, double rate)
{
    double count = 0;
    for (double t = cr_rng_exponential(r); t < rate; t += cr_rng_exponential(r)) count++;
    return count;
}

static void draw(uint64_t seed, double gaps, data *t)
{
    cr_rng r = cr_rng_stream(seed, 21);
    for (size_t i = 0; i < N; i++) {
        size_t k = i < 3 * K ? i % K : (size_t)(cr_rng_uniform(&r) * K);
        double q = (double)k, *x = t->x[i];
        t->y[i] = q;
        t->w[i] = 1 + (double)(i % 3);
        x[G] = 5 + q + (1 + 0.5 * q) * cr_rng_normal(&r);
        x[D] = -2 * q + (cr_rng_uniform(&r) < 0.5 ? 3 : 0) + cr_rng_normal(&r);
        x[C] = draw_count(&r, 1 + 2 * q);
        x[B] = cr_rng_uniform(&r) < 0.3 + 0.2 * q;
        x[S] = floor((double)LEVELS * cr_rng_uniform(&r) / (1 + 0.3 * q));
        for (size_t j = M1; j <= M3; j++) x[j] = draw_count(&r, 1 + (double)((j + k) % 3));
        for (size_t j = 0; j < COLUMNS; j++)
            if (i >= 3 * K && cr_rng_uniform(&r) < gaps) x[j] = NAN;
    }
}

/* The rows begin .. end-1 of the data as a file; with `repeated` each as often as its weight says.
 */
static cr_table *table_of(cr_ctx *cx, const data *t, size_t begin, size_t end, bool repeated)
{
    static char text[1 << 20];
    size_t      used = (size_t)sprintf(text, "g,d,c,b,s,m1,m2,m3,w,y\n");
    for (size_t i = begin; i < end; i++)
        for (int copy = 0; copy < (repeated ? (int)t->w[i] : 1); copy++) {
            for (size_t j = 0; j < COLUMNS; j++) {
                double x = t->x[i][j];
                if (isnan(x))
                    used += (size_t)sprintf(text + used, ",");
                else if (j == S)
                    used += (size_t)sprintf(text + used, "l%g,", x);
                else if (j == B)
                    used += (size_t)sprintf(text + used, "%s,", x > 0 ? "true" : "false");
                else
                    used += (size_t)sprintf(text + used, "%.17g,", x);
            }
            used += (size_t)sprintf(text + used, "%g,k%g\n", t->w[i], t->y[i]);
        }
    assert_true(used < sizeof text);
    return table_of_text(cx, "mixed.csv", text);
}

/* --- oracle ---------------------------------------------------------------------------------- */

static long double normal(long double x, long double m, long double v)
{
    return -0.5L * (logl(2 * acosl(-1) * v) + (x - m) * (x - m) / v);
}

/* sum of w f(x) over the rows of class k (all with k = K) whose column j is there. */
static long double sum_of(const data *t, size_t j, size_t k, long double (*f)(double, const void *),
                          const void *arg)
{
    long double sum = 0;
    for (size_t i = 0; i < N; i++)
        if ((k == K || t->y[i] == (double)k) && !isnan(t->x[i][j]))
            sum += t->w[i] * f(t->x[i][j], arg);
    return sum;
}
static long double one(double x, const void *arg) { return (void)x, (void)arg, 1; }
static long double self(double x, const void *arg) { return (void)arg, x; }
static long double square_from(double x, const void *arg)
{
    long double d = x - *(const long double *)arg;
    return d * d;
}
static long double equals(double x, const void *arg) { return x == *(const double *)arg; }
static long double gauss_at(double x, const void *arg)
{
    const long double *a = arg; /* place, bandwidth */
    return expl(normal(a[0], x, a[1] * a[1]));
}
static long double is_at_most(double x, const void *arg) { return x <= *(const double *)arg; }

/* The least x with a share q of the weight up to it, by looking at all. */
static double quantile(const data *t, size_t j, size_t k, long double q)
{
    double      best = INFINITY;
    long double n = sum_of(t, j, k, one, NULL);
    for (size_t i = 0; i < N; i++) {
        double x = t->x[i][j];
        if (isnan(x) || t->y[i] != (double)k || x >= best) continue;
        if (sum_of(t, j, k, is_at_most, &x) >= q * n) best = x;
    }
    return best;
}

/* log p(x_j | k) of the columns on their own. */
static long double factor(const data *t, size_t j, size_t k, double x, double a)
{
    long double n = sum_of(t, j, k, one, NULL), mean = sum_of(t, j, k, self, NULL) / n;
    if (j == G) return normal(x, mean, sum_of(t, j, k, square_from, &mean) / n);
    if (j == C) return x * logl(mean) - mean - lgammal(x + 1);
    if (j == B) return logl((sum_of(t, j, k, equals, &x) + a) / (n + 2 * a));
    if (j == S) return logl((sum_of(t, j, k, equals, &x) + a) / (n + LEVELS * a));
    long double sd = sqrtl(sum_of(t, j, k, square_from, &mean) / (n - 1));
    long double iqr = (quantile(t, j, k, 0.75L) - quantile(t, j, k, 0.25L)) / 1.34L;
    long double at[2] = { x, 0.9L * (iqr < sd ? iqr : sd) * powl(n, -0.2L) };
    return logl(sum_of(t, j, k, gauss_at, at) / n);
}

/* log p(words | k) given how many there are in the columns that are there; x may have gaps. */
static long double words(const data *t, size_t k, const double *x, double a)
{
    long double all = 0, sum = 0, total = 0;
    for (size_t j = M1; j <= M3; j++)
        if (!isnan(x[j])) all += sum_of(t, j, k, self, NULL) + a;
    for (size_t j = M1; j <= M3; j++) {
        if (isnan(x[j])) continue;
        sum += x[j] * logl((sum_of(t, j, k, self, NULL) + a) / all) - lgammal(x[j] + 1);
        total += x[j];
    }
    return sum + lgammal(total + 1);
}

/* log p(x, k) over the columns of the set `use`, one bit each. */
static long double log_joint(const data *t, size_t k, const double *x, double a, unsigned use)
{
    long double n = 0, own = 0, sum;
    for (size_t i = 0; i < N; i++) n += t->w[i], own += t->y[i] == (double)k ? t->w[i] : 0;
    sum = logl(own / n);
    for (size_t j = 0; j < M1; j++)
        if (use & 1u << j && !isnan(x[j])) sum += factor(t, j, k, x[j], a);
    if (use & 1u << M1) sum += words(t, k, x, a);
    return sum;
}

static double posterior(const long double *joint, size_t k)
{
    long double sum = 0;
    for (size_t c = 0; c < K; c++) sum += expl(joint[c] - joint[k]);
    return (double)(1 / sum);
}

static const char MIXED[] = "target=y weights=w numbers=gaussian,d=kernel,c=poisson,m1=multinomial,"
                            "m2=multinomial,m3=multinomial smoothing=0.7";

/* All columns, and each kind on its own, with gaps in training and prediction. */
TEST(definition)
{
    static data t;
    const struct {
        const char *features;
        unsigned    use;
        double      gaps;
    } cases[] = {
        { "g", 1u << G, 0.1 },   { "d", 1u << D, 0.1 }, { "c", 1u << C, 0 },
        { "b", 1u << B, 0.1 },   { "s", 1u << S, 0 },   { "m*", 1u << M1, 0 },
        { "m*", 1u << M1, 0.2 }, { "*", 0xff, 0.1 },
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char settings[512];
        draw(c, cases[c].gaps, &t);
        cr_table *table = table_of(cx, &t, 0, N, false);
        snprintf(settings, sizeof settings,
                 "target=y weights=w smoothing=0.7 predictive=plugin features=%s,!w numbers=%s",
                 cases[c].features,
                 c == 0   ? "gaussian"
                 : c == 1 ? "kernel"
                 : c == 2 ? "poisson"
                 : c < 5  ? "gaussian"
                 : c < 7  ? "multinomial"
                          : strstr(MIXED, "numbers=") + 8);
        cr_model     *m = fit(cx, "naive-bayes", table, settings);
        cr_prediction p = predict(cx, m, table);
        long double   sum = 0;
        for (size_t i = 0; i < N; i++) {
            long double joint[K];
            for (size_t k = 0; k < K; k++) joint[k] = log_joint(&t, k, t.x[i], 0.7, cases[c].use);
            for (size_t k = 0; k < K; k++)
                assert_close(p.prob[i * K + k], posterior(joint, k), 1e-11);
            sum += t.w[i] * joint[(size_t)t.y[i]];
        }
        double said = cr_model_get_report(m)->log_likelihood;
        if (cases[c].use & 1u << D || (cases[c].use & 1u << M1 && cases[c].gaps > 0))
            assert_true(isnan(said));
        else
            assert_relative(said, (double)sum, 1e-11);
    }
}

/* A row without a column is answered as by a model that was fitted without it. */
TEST(gap_is_no_factor)
{
    static data t, without;
    draw(77, 0, &t);
    static const char *const predictive[] = { "plugin", "bayes", "shrunk" };
    for (size_t v = 0; v < 3; v++)
        for (size_t j = 0; j < COLUMNS; j++) {
            char settings[512], fewer[600], column[64];
            without = t;
            for (size_t i = 0; i < N; i++) without.x[i][j] = NAN;
            without.x[0][j] = t.x[0][j]; /* the column keeps its type */
            snprintf(settings, sizeof settings, "%s predictive=%s", MIXED, predictive[v]);
            snprintf(fewer, sizeof fewer, "%s features=*,!w,!%s", settings, names[j]);
            snprintf(column, sizeof column,
                     ",%s=", names[j]); /* and loses its place in --numbers */
            char *place = strstr(fewer, column), *end = place ? strpbrk(place + 1, ", ") : NULL;
            if (place) memmove(place, end, strlen(end) + 1);
            cr_table *all = table_of(cx, &t, 0, N, false),
                     *some = table_of(cx, &without, 0, N, false);
            cr_model *a = fit(cx, "naive-bayes", all, settings),
                     *b = fit(cx, "naive-bayes", all, fewer);
            cr_prediction p = predict(cx, a, some), q = predict(cx, b, all);
            for (size_t i = K; i < N * K; i++) assert_close(p.prob[i], q.prob[i], 1e-12);
        }
}

/* The predictive density of a row as the ratio of marginal likelihoods with and without it:
 * normal with prior 1/v:       Gamma((n-1)/2) (pi S)^(-(n-1)/2) n^(-1/2)
 * Poisson, Jeffreys:           Gamma(sum + 1/2) n^-(sum + 1/2) / prod x!
 * words, Dirichlet(a):         Gamma(A)/Gamma(A + sum) prod Gamma(a + s_j)/Gamma(a). */
static long double log_marginal(const data *t, size_t k, char kind, double a)
{
    size_t      j = kind == 'g' ? G : C;
    long double n = sum_of(t, j, k, one, NULL), sum = sum_of(t, j, k, self, NULL), mean = sum / n,
                all = 0, out = 0;
    if (kind == 'g')
        return lgammal((n - 1) / 2) - 0.5L * logl(n) -
               0.5L * (n - 1) * logl(acosl(-1) * sum_of(t, j, k, square_from, &mean));
    if (kind == 'c') return lgammal(sum + 0.5L) - (sum + 0.5L) * logl(n);
    for (j = M1; j <= M3; j++) {
        long double s = sum_of(t, j, k, self, NULL);
        out += lgammal(a + s);
        all += a + s;
    }
    return out - lgammal(all);
}

TEST(predictive_is_ratio_of_marginals)
{
    static data t, more;
    draw(5, 0, &t);
    t.w[N - 1] = 0; /* not learned from */
    cr_table *table = table_of(cx, &t, 0, N, false);
    for (const char *kind = "gcm"; *kind; kind++) {
        char settings[256];
        snprintf(settings, sizeof settings,
                 "target=y weights=w priors=uniform predictive=bayes smoothing=0.7 features=%s "
                 "numbers=%s",
                 *kind == 'g'   ? "g"
                 : *kind == 'c' ? "c"
                                : "m*",
                 *kind == 'g'   ? "gaussian"
                 : *kind == 'c' ? "poisson"
                                : "multinomial");
        cr_model     *m = fit(cx, "naive-bayes", table, settings);
        cr_prediction p = predict(cx, m, table);
        long double   joint[K];
        for (size_t k = 0; k < K; k++) {
            more = t;
            more.y[N - 1] = (double)k;
            more.w[N - 1] = 1;
            joint[k] = log_marginal(&more, k, *kind, 0.7) - log_marginal(&t, k, *kind, 0.7);
        }
        for (size_t k = 0; k < K; k++)
            assert_close(p.prob[(N - 1) * K + k], posterior(joint, k), 1e-11);
    }
}

/* --- peers ----------------------------------------------------------------------------------- */

TEST(reference)
{
    json_t *cases = reference_cases(cx, "naive_bayes"), *item;
    size_t  i, seen = 0;
    json_array_foreach(cases, i, item)
    {
        const char *id = json_string_value(json_object_get(item, "id"));
        const char *settings = strncmp(id, "gaussian", 8) == 0
                                   ? "predictive=plugin variance-floor=1e-300"
                               : strncmp(id, "bernoulli", 9) == 0    ? "numbers=bernoulli:7.5"
                               : strncmp(id, "multinomial", 11) == 0 ? "numbers=multinomial"
                                                                     : NULL;
        if (!settings) continue;
        split_case c = run_case(cx, item, "naive-bayes", settings);
        check_case(item, &c, 1e-9);
        end_case(cx, &c);
        seen++;
    }
    assert_true(seen >= 4);
}

/* --- laws ------------------------------------------------------------------------------------ */

/* Numbers at 1e12 with a spread of 1 lose nothing: shifted data, the same answers. */
TEST(shift)
{
    enum { n = 2000, P = 2 };
    static double X[n * P], Y[n * P], y[n], w[n];
    draw_classes(10, n, P, K, X, y, w);
    for (size_t i = 0; i < n * P; i++) {
        X[i] = round(X[i] * 1024) / 1024; /* so that the shift is exact */
        Y[i] = X[i] + 1e12;
    }
    cr_table *a = make_table(cx, X, n, P, y, NULL), *b = make_table(cx, Y, n, P, y, NULL);
    cr_model *m = fit(cx, "naive-bayes", a, "target=y"), *s = fit(cx, "naive-bayes", b, "target=y");
    cr_prediction p = predict(cx, m, a), q = predict(cx, s, b);
    assert_same_answers(&p, &q, 2e-3); /* the means themselves are good to 1e-4 there */
}

/* --- corners --------------------------------------------------------------------------------- */

TEST(far_away)
{
    double       far[6 * 2], none[6] = { 0 }, X[60 * 2], y[60], w[60];
    const double sizes[] = { 1e3, 1e9, 1e100, 1e200, 1e300, -1.7e308 };
    const char  *settings[] = { "target=y predictive=plugin", "target=y numbers=kernel",
                                "target=y predictive=bayes",
                                "target=y numbers=kernel bandwidth=1e-200", "target=y" };
    draw_classes(3, 60, 2, K, X, y, w);
    for (size_t i = 0; i < 12; i++) far[i] = sizes[i / 2] * (i % 2 ? -0.5 : 1);
    cr_table *t = make_table(cx, X, 60, 2, y, NULL), *f = make_table(cx, far, 6, 2, none, NULL);
    for (size_t v = 0; v < 5; v++) {
        cr_model     *m = fit(cx, "naive-bayes", t, settings[v]);
        cr_prediction p = predict(cx, m, f), q = predict(cx, m, t);
        assert_same_answers(&p, &p, 0);
        assert_same_answers(&q, &q, 0);
        for (size_t k = 0; k < K && v < 1; k++) /* the widest class wins at every distance */
            for (size_t i = 0; i < 6; i++) assert_close(p.prob[i * K + k], k == 2, 1e-9);
    }
}

/* One row in a class, a constant column, a column constant in one class, a class without values in
 * a column, no smoothing: finite answers that make sense. */
TEST(little_data)
{
    cr_table   *t = table_of_text(cx, "few.csv",
                                  "x,k,z,s,c\n1,0.1,7,u,a\n2,0.1,7,u,a\n3,0.1,8,v,a\n9,0.1,,v,b\n"
                                    "11,0.1,4,v,d\n11,0.1,,u,d\n11,0.1,,w,d\n");
    const char *settings[] = { "target=c",
                               "target=c predictive=bayes",
                               "target=c numbers=kernel",
                               "target=c smoothing=0",
                               "target=c numbers=poisson,k=gaussian",
                               "target=c numbers=bernoulli:5",
                               "target=c numbers=poisson,k=gaussian predictive=bayes",
                               "target=c numbers=multinomial smoothing=0 predictive=bayes" };
    for (size_t v = 0; v < sizeof settings / sizeof *settings; v++) {
        cr_model     *m = fit(cx, "naive-bayes", t, settings[v]);
        cr_prediction p = predict(cx, m, t);
        assert_same_answers(&p, &p, 0);
        for (size_t i = 0; i < 7 && v < 2; i++) {
            size_t truth = i < 3 ? 0 : i == 3 ? 1 : 2;
            for (size_t k = 0; k < 3; k++) assert_true(p.prob[i * 3 + truth] >= p.prob[i * 3 + k]);
        }
    }
    cr_model *with = fit(cx, "naive-bayes", t, "target=c features=x,s");
    cr_model *and =
        fit(cx, "naive-bayes", t, "target=c features=x,s,k"); /* a constant tells nothing */
    cr_prediction p = predict(cx, with, t), q = predict(cx, and, t);
    assert_same_answers(&p, &q, 1e-13);
}

TEST(refusals)
{
    cr_model *m = NULL;
    cr_table *t = table_of_text(cx, "r.csv", "x,n,s,c\n1.5,1,u,a\n-2,3,v,a\n3,0,u,b\n4,2,v,b\n");
    cr_table *one = table_of_text(cx, "o.csv", "x,c\n1,a\n2,a\n");
    const struct {
        const char *settings, *text;
        cr_status   status;
    } cases[] = {
        { "target=c numbers=poisson", "is 1.5, but poisson counts are whole", CR_EDATA },
        { "target=c numbers=multinomial", "r.csv:3: 'x' is -2, but multinomial counts are not",
          CR_EDATA },
        { "target=c numbers=normal", "no distribution 'normal'", CR_EARG },
        { "target=c numbers=kernel:3", "'kernel:3' is not understood", CR_EARG },
        { "target=c numbers=bernoulli:x", "'bernoulli:x' is not understood", CR_EARG },
        { "target=c numbers=z=poisson", "does not use a column 'z'", CR_EARG },
        { "target=c numbers=s=poisson", "'s' is a category", CR_EARG },
        { "target=c numbers=kernel bandwidth=0", "'0' is not a number above 0", CR_EARG },
        { "target=c numbers=kernel bandwidth=x=y", "'y' is not a number", CR_EARG },
        { "target=c variance-floor=0", "variance", CR_EARG },
        { "target=c smoothing=-1", "smoothing", CR_EARG },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_fails_with(cx, try_fit(cx, "naive-bayes", t, cases[i].settings, &m), cases[i].status,
                          cases[i].text);
    assert_fails_with(cx, try_fit(cx, "naive-bayes", one, "target=c", &m), CR_EDATA,
                      "only one class");
    cr_table *empty = table_of_text(cx, "e.csv", "x,y,c\n,,a\n,,b\n");
    assert_fails_with(cx, try_fit(cx, "naive-bayes", empty, "target=c", &m), CR_EDATA,
                      "are missing");
    cr_table_free(cx, empty);
    cr_table     *unseen = table_of_text(cx, "u.csv", "x,n,s\n1,1,u\n2,2,new\n");
    cr_prediction p = { 0 };
    m = fit(cx, "naive-bayes", t, "target=c");
    assert_fails_with(cx, cr_predict(cx, m, unseen, &p), CR_EDATA, "'new'");
}

TEST(description)
{
    cr_table *t = table_of_text(
        cx, "d.csv",
        "x,n,s,b,c\n1,2,u,true,a\n3,4,u,false,a\n8,9,v,true,b\n8,1,u,true,b\n6,2,v,true,b\n");
    cr_model *m = fit(cx, "naive-bayes", t, "target=c numbers=gaussian,n=poisson");
    json_t   *d = describe(cx, m);
    assert_close(parameter(d, "x | a", "value"), 2, 1e-14);
    assert_close(parameter(d, "x | a", "spread"), 1, 1e-14);
    assert_close(parameter(d, "x | a", "sd"), sqrt(0.5), 1e-14);
    assert_close(parameter(d, "n | b", "value"), 4, 1e-14);
    assert_close(parameter(d, "n | b", "sd"), sqrt(4 / 3.0), 1e-14);
    assert_close(parameter(d, "s=v | b", "value"), 3 / 5.0, 1e-14);
    assert_close(parameter(d, "s=v | b", "sd"), sqrt(0.24 / 6), 1e-14);
    assert_close(parameter(d, "b | b", "value"), 4 / 5.0, 1e-14);
    assert_close(statistic(d, "category_columns"), 1, 0);
    assert_close(statistic(d, "bernoulli_columns"), 1, 0);
    assert_close(statistic(d, "prior(b)"), 0.6, 1e-14);
}

/* --- too sure --------------------------------------------------------------------------------- */

/* One column eight times counts its evidence eight times: said in the fit, unless calibrated or reweighted. */
TEST(too_sure)
{
    enum { ROWS = 300, COPIES = 8 };
    static double X[ROWS * COPIES], y[ROWS];
    cr_rng        r = cr_rng_stream(8, 1);
    for (size_t i = 0; i < ROWS; i++) {
        double x = cr_rng_normal(&r);
        y[i] = x + 1.5 * cr_rng_normal(&r) > 0;
        for (size_t j = 0; j < COPIES; j++) X[i * COPIES + j] = x + 0.1 * cr_rng_normal(&r);
    }
    cr_table         *t = make_table(cx, X, ROWS, COPIES, y, NULL);
    const char *const said = "naive-bayes is overconfident here: --calibrate platt";
    const struct {
        const char *settings;
        bool        warns;
    } tries[] = { { "target=y", true },
                  { "target=y features=x1", false },
                  { "target=y calibrate=platt", false },
                  { "target=y priors=uniform", false } };
    for (size_t k = 0; k < sizeof tries / sizeof *tries; k++) {
        warnings heard = { 0 };
        cr_ctx_set_log(cx, keep_warning, &heard);
        fit(cx, "naive-bayes", t, tries[k].settings);
        if ((strstr(heard.text, said) != NULL) != tries[k].warns)
            fail_msg("%s: %s", tries[k].settings, heard.text);
    }
}

/* Levels that are made of others are levels: as a column of them would be, also from a file. */
TEST(crossed_levels)
{
    cr_table *t =
        table_of_text(cx, "t.csv",
                      "g,h,gh,y\na,u,au,1\na,v,av,0\nb,u,bu,0\nb,v,bv,1\na,u,au,1\nb,u,bu,1\n"
                      "b,v,bv,1\na,v,av,0\nb,u,bu,0\na,u,au,0\n");
    cr_model     *crossed = fit(cx, "naive-bayes", t, "target=y terms=g*h"), *loaded;
    cr_model     *written = fit(cx, "naive-bayes", t, "target=y features=g,h,gh");
    cr_prediction p = predict(cx, crossed, t), q = predict(cx, written, t);
    char         *bytes;
    size_t        size;
    for (size_t i = 0; i < p.n * p.n_classes; i++) assert_close(p.prob[i], q.prob[i], 1e-12);
    assert_ok(cx, cr_model_to_bytes(cx, crossed, &bytes, &size));
    assert_ok(cx, cr_model_from_bytes(cx, "memory", bytes, size, &loaded));
    cr_free(cx, bytes, size, 1);
    cr_prediction again = predict(cx, loaded, t);
    for (size_t i = 0; i < p.n * p.n_classes; i++) assert_close(again.prob[i], p.prob[i], 1e-15);
    cr_model_free(cx, loaded);
}
