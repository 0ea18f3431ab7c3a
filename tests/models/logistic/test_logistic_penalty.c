/* test_logistic_penalty.c -- l2, l1 and elastic on one scale:
 *   minimise  sum_i w_i nll_i / sum w + lambda (r |b|_1 + (1 - r)/2 |b|^2)
 * r = 0 (l2) and r = 1 (l1) as the ends of elastic; the minimum by proximal gradients, which share
 * nothing with the solvers; glmnet and scikit-learn at the same lambda. */
#include "opened.h"
#include "data/table/subset.h"

enum { N = 60, P = 3, Q = P + 1, MOST_VECTORS = 3 };

/* The value of parameter a, in the order of the description. */
static double nth(const json_t *d, size_t a)
{
    return number_of(json_array_get(json_object_get(d, "parameters"), a), "value");
}

/* --- the ends of elastic ---------------------------------------------------------------------- */

TEST(elastic_between_l2_and_l1)
{
    static const char *const ends[] = { "penalty=l2", "penalty=elastic l1_ratio=0", "penalty=l1",
                                        "penalty=elastic l1_ratio=1" };
    double                   X[N * P], y[N], value[4];
    for (size_t classes = 2; classes <= 3; classes++) {
        json_t *said[4];
        draw_classes(classes, N, P, classes, 0.9, X, y);
        cr_table *t = make_table(cx, X, N, P, y, NULL);
        for (size_t k = 0; k < 4; k++) {
            char settings[100];
            snprintf(settings, sizeof settings, "target=y lambda=0.07 %s", ends[k]);
            json_t *d = describe(cx, fit(cx, "logistic", t, settings));
            said[k] = json_object_get(d, "parameters");
            value[k] = statistic(d, "objective_value");
        }
        for (size_t k = 0; k < 4; k += 2) {
            assert_true(json_equal(said[k], said[k + 1]));
            assert_true(value[k] == value[k + 1]);
        }
        assert_false(json_equal(said[0], said[2]));
    }
}

/* --- another minimiser ------------------------------------------------------------------------ */

typedef struct problem {
    const double *X, *y, *w; /* [N x P] [N] [N] */
    size_t        classes, vectors;
    double        weight, lambda, ratio;
} problem;

/* The scores of class k: two classes have one vector, of the second. */
static double score(const problem *p, const double *b, size_t i, size_t k)
{
    if (p->vectors == 1 && k == 0) return 0;
    const double *c = b + (p->vectors == 1 ? 0 : k * Q);
    double        eta = c[0];
    for (size_t j = 0; j < P; j++) eta += c[1 + j] * p->X[i * P + j];
    return eta;
}

/* The mean of w nll, and its gradient g [vectors x Q]. */
static double mean_nll(const problem *p, const double *b, double *g)
{
    double sum = 0;
    memset(g, 0, p->vectors * Q * sizeof *g);
    for (size_t i = 0; i < N; i++) {
        double e[MOST_VECTORS], total = 0;
        for (size_t k = 0; k < p->classes; k++) total += e[k] = exp(score(p, b, i, k));
        sum += p->w[i] / p->weight * log(total / e[(size_t)p->y[i]]);
        for (size_t m = 0; m < p->vectors; m++) {
            size_t k = p->vectors == 1 ? 1 : m;
            double r = p->w[i] / p->weight * (e[k] / total - ((size_t)p->y[i] == k));
            g[m * Q] += r;
            for (size_t j = 0; j < P; j++) g[m * Q + 1 + j] += r * p->X[i * P + j];
        }
    }
    return sum;
}

static double penalty_of(const problem *p, const double *b)
{
    double sum = 0;
    for (size_t a = 0; a < p->vectors * Q; a++)
        if (a % Q) sum += p->ratio * fabs(b[a]) + (1 - p->ratio) / 2 * b[a] * b[a];
    return p->lambda * sum;
}

/* Steps along the gradient, then the penalty's own minimum, from 0; the objective at the end. */
static double minimise(const problem *p, double *b)
{
    enum { STEPS = 40000 };
    const double step = 0.2;
    double       g[MOST_VECTORS * Q];
    memset(b, 0, p->vectors * Q * sizeof *b);
    for (size_t k = 0; k < STEPS; k++) {
        mean_nll(p, b, g);
        for (size_t a = 0; a < p->vectors * Q; a++) {
            double next = b[a] - step * g[a], cut = step * p->lambda * p->ratio;
            if (a % Q)
                next = copysign(fmax(fabs(next) - cut, 0), next) /
                       (1 + step * p->lambda * (1 - p->ratio));
            b[a] = next;
        }
    }
    return mean_nll(p, b, g) + penalty_of(p, b);
}

TEST(minimum_by_proximal_gradients)
{
    static const double ratios[] = { 0, 0.3, 1 };
    double              X[N * P], y[N], w[N], b[MOST_VECTORS * Q];
    for (size_t k = 0; k < 6; k++) {
        problem p = { X, y, w, 2 + k / 3, k / 3 ? 3 : 1, 0, 0.04, ratios[k % 3] };
        char    settings[160];
        draw_classes(20 + k, N, P, p.classes, 0.9, X, y);
        for (size_t i = 0; i < N * P; i++) X[i] = fmax(fmin(X[i], 2), -2);
        for (size_t i = 0; i < N; i++) p.weight += w[i] = 0.25 * (double)(1 + i % 5);
        snprintf(settings, sizeof settings,
                 "target=y features=x* weights=w scale=none penalty=elastic l1_ratio=%g lambda=%g",
                 p.ratio, p.lambda);
        json_t *d = describe(cx, fit(cx, "logistic", make_table(cx, X, N, P, y, w), settings));
        assert_relative(statistic(d, "objective_value"), minimise(&p, b), 1e-9);
        double shift = 0; /* a constant may be added to the intercepts of several classes */
        for (size_t m = 0; p.vectors > 1 && m < p.vectors; m++)
            shift += (nth(d, m * Q) - b[m * Q]) / (double)p.vectors;
        for (size_t a = 0; a < p.vectors * Q; a++)
            assert_close(nth(d, a), b[a] + (a % Q ? 0 : shift), 1e-5);
    }
}

/* --- peers ------------------------------------------------------------------------------------ */

/* Two species of iris at lambda = 0.05: glmnet 4.1-6 in R 4.2, glmnet(X, y, family = "binomial",
 * alpha, lambda = c(0.5, 0.2, 0.05), thresh = 1e-15), whose lambda is this one and whose alpha is r;
 * scikit-learn 1.2's LogisticRegression(C = 1 / (n lambda)) of standardised columns says what alpha = 0
 * does to these digits. */
TEST(peers_at_the_same_lambda)
{
    static const struct {
        const char *settings;
        double      b[5];
    } said[] = {
        { "penalty=l2", { -11.33466640, 0.09987468, -0.71181898, 1.48178759, 3.30478682 } },
        { "penalty=elastic l1_ratio=0.4",
          { -12.29793438, 0, -0.30654352, 1.52165707, 3.44384754 } },
        { "penalty=l1", { -14.04851042, 0, 0, 1.46888702, 4.13244164 } },
    };
    cr_table *all = read_table(cx, "examples/iris.csv"), *t = NULL;
    size_t    rows[100];
    for (size_t i = 0; i < 100; i++) rows[i] = 50 + i;
    assert_ok(cx, cri_table_subset(cx, all, rows, 100, &t));
    for (size_t k = 0; k < 3; k++) {
        char settings[100];
        snprintf(settings, sizeof settings, "target=species lambda=0.05 %s", said[k].settings);
        json_t *d = describe(cx, fit(cx, "logistic", t, settings));
        for (size_t j = 0; j < 5; j++) assert_close(nth(d, j), said[k].b[j], 2e-6);
    }
    cr_table_free(cx, t);
}

/* All three species, by scikit-learn 1.2: a vector for each class, C = 1 / (150 lambda). */
TEST(peer_of_three_classes)
{
    static const double said[] = { 3.04078000,  -0.73062852, 1.38768871,  -0.52404958, -1.13293481,
                                   2.83772814,  0.22822318,  -0.97299677, 0.02164274,  -0.36346564,
                                   -5.87850813, 0.50240534,  -0.41469195, 0.50240684,  1.49640045 };
    cr_table           *t = read_table(cx, "examples/iris.csv");
    json_t             *d = describe(cx, fit(cx, "logistic", t, "target=species lambda=0.05"));
    for (size_t a = 0; a < 15; a++) assert_close(nth(d, a), said[a], 2e-6);
}

/* The same columns with more rows of the same kind mean the same penalty; weights of any unit do. */
TEST(lambda_does_not_depend_on_the_number_of_rows)
{
    double X[2 * N * P], y[2 * N], w[N];
    draw_classes(31, N, P, 2, 0.9, X, y);
    memcpy(X + N * P, X, N * P * sizeof *X);
    memcpy(y + N, y, N * sizeof *y);
    for (size_t i = 0; i < N; i++) w[i] = 7;
    static const char *const penalties[] = { "l2", "l1", "elastic" };
    for (size_t k = 0; k < 4; k++) {
        char        settings[100], weighted[120];
        const char *model = k < 3 ? "logistic" : "probit";
        snprintf(settings, sizeof settings, "target=y features=x* lambda=0.1 %s%s",
                 k < 3 ? "penalty=" : "", k < 3 ? penalties[k] : "");
        snprintf(weighted, sizeof weighted, "%s weights=w", settings);
        json_t *one = describe(cx, fit(cx, model, make_table(cx, X, N, P, y, NULL), settings));
        json_t *two = describe(cx, fit(cx, model, make_table(cx, X, 2 * N, P, y, NULL), settings));
        json_t *seven = describe(cx, fit(cx, model, make_table(cx, X, N, P, y, w), weighted));
        for (size_t j = 0; j <= P; j++) {
            assert_close(nth(two, j), nth(one, j), 1e-7);
            assert_close(nth(seven, j), nth(one, j), 1e-7);
        }
        assert_relative(statistic(two, "objective_value"), statistic(one, "objective_value"), 1e-9);
    }
}
