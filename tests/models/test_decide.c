/* test_decide.c -- Bayes actions: known ones (mode, mean, median, quantile), and for every loss and
 * distribution the least of the expected losses that are added up the plain way. */
#include "support.h"
#include "math/special/special.h"
#include "models/core/decide.h"
#include "prob/dist/dist_class.h"

enum { MOST = 8 };

/* One row: Student's t or the normal, or a family. */
typedef struct row {
    const char *family; /* NULL: mean, scale, dof */
    double      v[3];
    size_t      n;
} row;

static const row rows[] = {
    { NULL, { 2, 3, INFINITY }, 3 },
    { NULL, { -1, 0.5, 7 }, 3 },
    { NULL, { 4, 2, 2.5 }, 3 },
    { "gamma", { 4, 0.5 }, 2 },
    { "gamma", { 0.7, 2 }, 2 },
    { "log-normal", { 0.3, 0.6 }, 2 },
    { "beta", { 5, 2 }, 2 },
    { "exponential", { 0.4 }, 1 },
    { "laplace", { 1, 2 }, 2 },
    { "weibull", { 2, 3 }, 2 },
    { "student-t", { 5, 1, 2 }, 3 },
    { "normal", { 3, 2 }, 2 },
    { "uniform", { -1, 5 }, 2 },
    { "poisson", { 3.6 }, 1 },
    { "binomial", { 9, 0.35 }, 2 },
    { "bernoulli", { 0.7 }, 1 },
    { "geometric", { 0.3 }, 1 },
    { "negative-binomial", { 3, 0.45 }, 2 },
    { "beta-binomial", { 10, 2, 1.5 }, 3 },
};
enum { ROWS = sizeof rows / sizeof *rows };

typedef struct one {
    double        mean, scale, dof, params[3];
    cr_prediction p;
} one;

static const cr_prediction *prediction_of(cr_ctx *cx, const row *r, one *o)
{
    *o = (one){ .mean = r->v[0], .scale = r->v[1], .dof = r->v[2] };
    o->p = (cr_prediction){
        .kind = CR_ANSWER_NUMBER, .n = 1, .mean = &o->mean, .scale = &o->scale, .dof = &o->dof
    };
    if (r->family) {
        o->p.family = cr_dist_find(cx, r->family);
        assert_non_null(o->p.family);
        memcpy(o->params, r->v, sizeof o->params);
        o->p.params = o->params, o->p.n_params = r->n;
        o->mean = o->scale = 1, o->dof = INFINITY; /* only the parameters are looked at */
    }
    return &o->p;
}

static cr_loss loss_of(cr_ctx *cx, const char *text)
{
    cr_loss l = { 0 };
    assert_ok(cx, cr_loss_read(cx, text, &l));
    return l;
}

static void decide_one(cr_ctx *cx, const row *r, const char *text, double *action, double *loss)
{
    one          o;
    cr_loss      l = loss_of(cx, text);
    cr_decisions d = { 0 };
    assert_ok(cx, cr_decide(cx, prediction_of(cx, r, &o), &l, &d));
    assert_int_equal(d.n, 1);
    assert_int_equal(d.n_actions, 0);
    *action = d.action[0], *loss = d.expected_loss[0];
    cr_decisions_free(cx, &d);
    cr_loss_free(cx, &l);
}

/* --- by brute force -------------------------------------------------------------------------- */

/* The points that the distribution is replaced by: counts, or the middles of equal shares. */
typedef struct cloud {
    double x[4000], p[4000];
    size_t n;
} cloud;

static void make_cloud(cr_ctx *cx, const row *r, cloud *c)
{
    const cr_dist_class *family = cr_dist_find(cx, r->family ? r->family : "student-t");
    double               t[3] = { r->v[2], r->v[0], r->v[1] };
    const double        *v = r->family ? r->v : t;
    if (!r->family && isinf(r->v[2])) family = cr_dist_find(cx, "normal"), v = r->v;
    size_t n = family == cr_dist_find(cx, "normal") ? 2 : r->n;
    c->n = 0;
    if (family->discrete) {
        for (double k = 0; k < 200; k++) {
            double mass = exp(cri_dist_logpdf(family, (cri_par){ v, n }, k));
            if (mass > 0) c->x[c->n] = k, c->p[c->n++] = mass;
        }
        return;
    }
    for (size_t i = 0; i < 4000; i++) { /* more of them towards the ends: u = (1 - cos s) / 2 */
        double s = M_PI * ((double)i + 0.5) / 4000, u = 0.5 * (1 - cos(s));
        assert_ok(cx, cr_dist_quantile(cx, family, v, n, u, &c->x[i]));
        c->p[i] = 0.5 * sin(s) * M_PI / 4000;
        c->n++;
    }
}

static double loss_between(const char *loss, double q, double y, double a)
{
    if (strcmp(loss, "0-1") == 0) return y != a;
    if (strcmp(loss, "squared") == 0) return (y - a) * (y - a);
    if (strcmp(loss, "absolute") == 0) return fabs(y - a);
    return y > a ? q * (y - a) : (1 - q) * (a - y);
}

static double expected(const cloud *c, const char *loss, double q, double a)
{
    long double sum = 0;
    for (size_t i = 0; i < c->n; i++)
        sum += (long double)(c->p[i] * loss_between(loss, q, c->x[i], a));
    return (double)sum;
}

TEST(against_brute_force)
{
    cloud *c = calloc(1, sizeof *c);
    const struct {
        const char *text;
        double      q;
    } losses[] = { { "squared", 0 },          { "absolute", 0 },       { "quantile:0.5", 0.5 },
                   { "quantile:0.05", 0.05 }, { "quantile:0.9", 0.9 }, { "0-1", 0 } };
    for (size_t k = 0; k < ROWS; k++) {
        make_cloud(cx, &rows[k], c);
        bool counts = c->n < 4000;
        for (size_t i = 0; i < 6; i++) {
            double action, loss, far = 0.2 * (c->x[c->n * 3 / 4] - c->x[c->n / 4]);
            if (i == 5 && !counts) continue; /* hit by no action */
            decide_one(cx, &rows[k], losses[i].text, &action, &loss);
            double mine = expected(c, losses[i].text, losses[i].q, action);
            double size = fmax(loss, mine);
            bool   heavy =
                !rows[k].family && rows[k].v[2] < 3 && i == 0; /* the cloud has no such tails */
            if (!heavy) check_close(mine, loss, 2e-3, size, rows[k].family, __FILE__, __LINE__);
            if (counts) check_close(mine, loss, 1e-9, size, rows[k].family, __FILE__, __LINE__);
            for (double step = counts ? 1 : far; step < 20 * far + 3;
                 step *= 2) { /* none is better */
                double up = expected(c, losses[i].text, losses[i].q, action + step);
                double down = expected(c, losses[i].text, losses[i].q, action - step);
                if (up < mine - 1e-4 * size || down < mine - 1e-4 * size)
                    fail_msg("%s: %s: %g is worse than %g away", rows[k].family, losses[i].text,
                             action, step);
            }
        }
    }
    free(c);
}

/* --- known actions --------------------------------------------------------------------------- */

TEST(known_actions)
{
    for (size_t k = 0; k < ROWS; k++) {
        if (!rows[k].family) continue;
        const cr_dist_class *c = cr_dist_find(cx, rows[k].family);
        double               action, loss, x;
        decide_one(cx, &rows[k], "squared", &action, &loss);
        assert_ok(cx, cr_dist_mean(cx, c, rows[k].v, rows[k].n, &x));
        assert_true(action == x);
        assert_ok(cx, cr_dist_variance(cx, c, rows[k].v, rows[k].n, &x));
        assert_true(loss == x);
        decide_one(cx, &rows[k], "absolute", &action, &loss);
        assert_ok(cx, cr_dist_quantile(cx, c, rows[k].v, rows[k].n, 0.5, &x));
        assert_true(action == x);
        decide_one(cx, &rows[k], "quantile:0.9", &action, &loss);
        assert_ok(cx, cr_dist_quantile(cx, c, rows[k].v, rows[k].n, 0.9, &x));
        assert_true(action == x);
        decide_one(cx, &rows[k], "0-1", &action, &loss);
        if (!cr_dist_offers(c, "mode")) { /* every place is as good */
            assert_true(isnan(action) && loss == 1);
            continue;
        }
        assert_ok(cx, cr_dist_mode(cx, c, rows[k].v, rows[k].n, &x));
        assert_true(action == x);
        if (!cr_dist_is_discrete(c)) assert_true(loss == 1);
    }
}

/* Student's t by closed forms is the family of that name by quadrature. */
TEST(student_t_by_two_roads)
{
    const char *texts[] = { "squared", "absolute", "quantile:0.1", "quantile:0.999", "0-1" };
    for (double dof = 1.3; dof < 1e6; dof *= 3.3)
        for (size_t i = 0; i < 5; i++) {
            double a[2], l[2];
            decide_one(cx, &(row){ NULL, { -3, 0.7, dof }, 3 }, texts[i], &a[0], &l[0]);
            decide_one(cx, &(row){ "student-t", { dof, -3, 0.7 }, 3 }, texts[i], &a[1], &l[1]);
            assert_relative(a[0], a[1], 1e-12);
            assert_relative(l[0], l[1], 1e-7);
        }
    double a, l;
    decide_one(cx, &(row){ NULL, { 5, 2, INFINITY }, 3 }, "absolute", &a, &l);
    assert_relative(l, 2 * sqrt(2 / M_PI), 1e-14);
    decide_one(cx, &(row){ NULL, { 5, 2, INFINITY }, 3 }, "quantile:0.975", &a, &l);
    assert_relative(a, 5 + 2 * 1.959963984540054, 1e-14);
    assert_relative(l, 2 * exp(cr_norm_logpdf(1.959963984540054)), 1e-13);
}

/* What has no variance, or no mean, is told. */
TEST(long_tails)
{
    double a, l;
    decide_one(cx, &(row){ NULL, { 5, 2, 2 }, 3 }, "squared", &a, &l);
    assert_true(a == 5 && isinf(l));
    decide_one(cx, &(row){ NULL, { 5, 2, 1 }, 3 }, "squared", &a, &l);
    assert_true(isnan(a) && isinf(l));
    decide_one(cx, &(row){ NULL, { 5, 2, 1 }, 3 }, "absolute", &a, &l);
    assert_true(a == 5 && isinf(l));
    decide_one(cx, &(row){ NULL, { 5, 2, 1 }, 3 }, "quantile:0.75", &a, &l);
    assert_relative(a, 7, 1e-13);
    assert_true(isinf(l));
    decide_one(cx, &(row){ "cauchy", { 5, 2 }, 2 }, "squared", &a, &l);
    assert_true(isnan(a) && isinf(l));
    decide_one(cx, &(row){ "inverse-gamma", { 1.5, 1 }, 2 }, "squared", &a, &l);
    assert_relative(a, 2, 1e-14);
    assert_true(isinf(l));
    decide_one(cx, &(row){ NULL, { 5, 0, 3 }, 3 }, "quantile:0.9", &a, &l); /* no doubt at all */
    assert_true(a == 5 && l == 0);
    decide_one(cx, &(row){ NULL, { NAN, NAN, NAN }, 3 }, "squared", &a, &l); /* left out */
    assert_true(isnan(a) && isnan(l));
}

/* --- classes --------------------------------------------------------------------------------- */

static const char *const names[] = { "cat", "dog", "eel" };
static double            prob[] = { 0.5, 0.3, 0.2, 0.1, 0.45, 0.45, 0, 0, 1, NAN, NAN, NAN };

static cr_prediction classes(void)
{
    return (cr_prediction){
        .kind = CR_ANSWER_CLASS, .n = 4, .n_classes = 3, .classes = names, .prob = prob
    };
}

static cr_loss matrix_of(cr_ctx *cx, const char *text)
{
    return loss_of(cx, test_file("loss.csv", text, strlen(text)));
}

static void check_classes(cr_ctx *cx, cr_loss l, const char *const *actions, const double *losses)
{
    cr_prediction p = classes();
    cr_decisions  d = { 0 };
    assert_ok(cx, cr_decide(cx, &p, &l, &d));
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(d.actions[(size_t)d.action[i]], actions[i]);
        assert_close(d.expected_loss[i], losses[i], 1e-15);
    }
    assert_true(isnan(d.action[3]) && isnan(d.expected_loss[3]));
    cr_decisions_free(cx, &d);
    cr_loss_free(cx, &l);
}

TEST(classes)
{
    check_classes(cx, loss_of(cx, "0-1"), (const char *const[]){ "cat", "dog", "eel" },
                  (double[]){ 0.5, 0.55, 0 });
    /* the same as a matrix without names, the columns in any order */
    check_classes(cx, matrix_of(cx, "eel,cat,dog\n0,1,1\n1,0,1\n1,1,0\n"),
                  (const char *const[]){ "cat", "eel", "eel" }, (double[]){ 0.5, 0.55, 0 });
    /* an action beside the classes: to ask costs 0.4 */
    check_classes(
        cx, matrix_of(cx, "action,cat,dog,eel\ncat,0,1,1\ndog,1,0,1\neel,1,1,0\nask,.4,.4,.4\n"),
        (const char *const[]){ "ask", "ask", "eel" }, (double[]){ 0.4, 0.4, 0 });
    /* fewer actions than classes, gains as negative losses, any name for the first column of texts
     */
    check_classes(cx, matrix_of(cx, "what,dog,eel,cat\nstroke,-1,5,-2\nleave,0,0,0\n"),
                  (const char *const[]){ "stroke", "leave", "leave" }, (double[]){ -0.3, 0, 0 });
}

/* --- counts by a matrix ---------------------------------------------------------------------- */

TEST(counts_by_a_matrix)
{
    one          o;
    cr_decisions d = { 0 };
    cr_loss      l = matrix_of(cx, "action,0,1,2+\nnone,0,5,9\none,1,0,3\ntwo,2,1,0\n");
    const double rates[] = { 0.05, 0.9, 4 };
    for (size_t i = 0; i < 3; i++) {
        double r = rates[i], p[] = { exp(-r), r * exp(-r), 1 - (1 + r) * exp(-r) }, best = INFINITY;
        size_t action = 0;
        for (size_t a = 0; a < 3; a++) {
            double sum = 0;
            for (size_t k = 0; k < 3; k++) sum += p[k] * l.loss[3 * a + k];
            if (sum < best) best = sum, action = a;
        }
        assert_ok(cx, cr_decide(cx, prediction_of(cx, &(row){ "poisson", { r }, 1 }, &o), &l, &d));
        assert_int_equal(d.action[0], action);
        assert_int_equal(action, i);
        assert_relative(d.expected_loss[0], best, 1e-12);
        assert_string_equal(d.actions[2], "two");
        cr_decisions_free(cx, &d);
    }
    cr_loss_free(cx, &l);
    l = matrix_of(cx, "action,0,1,2\nnone,0,5,9\none,1,0,3\n"); /* and three or more? */
    assert_fails_with(cx,
                      cr_decide(cx, prediction_of(cx, &(row){ "poisson", { 1 }, 1 }, &o), &l, &d),
                      CR_EARG, "have a total probability of 0.919699");
    assert_ok(cx,
              cr_decide(cx, prediction_of(cx, &(row){ "binomial", { 2, 0.5 }, 2 }, &o), &l, &d));
    assert_relative(d.expected_loss[0], 1, 1e-14); /* action one: 1/4 + 3/4 */
    cr_decisions_free(cx, &d);
    cr_loss_free(cx, &l);
}

/* --- refusals -------------------------------------------------------------------------------- */

static void check_refused(cr_ctx *cx, const cr_prediction *p, cr_loss l, cr_status status,
                          const char *text)
{
    cr_decisions d = { .n = 4711 };
    assert_fails_with(cx, cr_decide(cx, p, &l, &d), status, text);
    assert_int_equal(d.n, 4711);
    cr_loss_free(cx, &l);
}

TEST(refusals)
{
    cr_prediction p = classes(), density = { .kind = CR_ANSWER_DENSITY, .n = 0 };
    one           o;
    check_refused(cx, &p, loss_of(cx, "squared"), CR_EARG, "this loss is for numbers");
    check_refused(cx, &p, matrix_of(cx, "cat,dog\n0,1\n1,0\n"), CR_EARG,
                  "no column for the class 'eel'");
    check_refused(cx, &p, matrix_of(cx, "cat,dog,eal\n0,1,1\n1,0,1\n1,1,0\n"), CR_EARG,
                  "a column 'eal', which is not a class");
    assert_string_equal(cr_error_nearest(cx), "eel");
    check_refused(cx, &density, loss_of(cx, "0-1"), CR_EUNSUPPORTED, "the model gives neither");
    prediction_of(cx, &(row){ NULL, { 0, 1, INFINITY }, 3 }, &o);
    check_refused(cx, &o.p, matrix_of(cx, "0,1\n0,1\n1,0\n"), CR_EARG, "classes or counts");
    prediction_of(cx, &(row){ "poisson", { 2 }, 1 }, &o);
    check_refused(cx, &o.p, matrix_of(cx, "a,b\n0,1\n1,0\n"), CR_EARG, "counts are 0, 1, 2");
    prediction_of(cx, &(row){ "von-mises", { 0, 1 }, 2 }, &o);
    check_refused(cx, &o.p, loss_of(cx, "absolute"), CR_EUNSUPPORTED, "partial means");
    o.p.scale = NULL;
    check_refused(cx, &o.p, loss_of(cx, "absolute"), CR_EARG, "with a standard deviation");
}

static cr_status decide_all(cr_ctx *cx, void *path)
{
    cr_status     st = CR_OK;
    cr_prediction p = classes();
    cr_loss       l = { 0 };
    cr_decisions  d = { 0 };
    one           o = { .mean = 1, .scale = 1, .dof = INFINITY, .params = { 3 } };
    CR_TRY(cr_loss_read(cx, path, &l));
    CR_TRY(cr_decide(cx, &p, &l, &d));
    cr_decisions_free(cx, &d);
    cr_loss_free(cx, &l);
    o.p = (cr_prediction){ .kind = CR_ANSWER_NUMBER,
                           .n = 1,
                           .mean = &o.mean,
                           .scale = &o.scale,
                           .dof = &o.dof,
                           .params = o.params,
                           .n_params = 1 };
    if (!(o.p.family = cr_dist_find(cx, "exponential"))) CR_TRY(CR_ENOMEM);
    CR_TRY(cr_loss_read(cx, "absolute", &l));
    CR_TRY(cr_decide(cx, &o.p, &l, &d));
done:
    cr_decisions_free(cx, &d);
    cr_loss_free(cx, &l);
    return st;
}

TEST(allocations)
{
    const char text[] = "action,cat,dog,eel\na,0,1,1\nb,1,0,1\n";
    char       path[256];
    snprintf(path, sizeof path, "%s", test_file("all.csv", text, strlen(text)));
    test_every_allocation_fails(decide_all, path);
}

/* --- what decisions turn out to cost --------------------------------------------------------- */

TEST(cost_of_actions_on_classes)
{
    static const char *const classes[] = { "no", "yes" };
    char                    *actions[] = { (char[]){ "wait" }, (char[]){ "treat" } };
    char         *outcomes[] = { (char[]){ "yes" }, (char[]){ "no" } }; /* in another order */
    double        matrix[] = { 9, 0, 1, 2 }, chance[] = { 0.95, 0.05, 0.5, 0.5, NAN, NAN };
    double        y[] = { 1, 0, 1 }, cost[3];
    cr_loss       loss = { .kind = CR_LOSS_MATRIX,
                           .n_actions = 2,
                           .n_outcomes = 2,
                           .actions = actions,
                           .outcomes = outcomes,
                           .loss = matrix };
    cr_prediction p = {
        .kind = CR_ANSWER_CLASS, .n = 3, .n_classes = 2, .prob = chance, .classes = classes
    };
    cr_decisions d = { 0 };
    assert_ok(cx, cr_decide(cx, &p, &loss, &d));
    assert_true(d.action[0] == 0 && d.action[1] == 1 && isnan(d.action[2]));
    assert_ok(cx, cr_decisions_cost(cx, &p, &loss, &d, y, cost));
    assert_true(cost[0] == 9 && cost[1] == 2 &&
                isnan(cost[2])); /* waited: it was; treated: it was not */
    cr_decisions_free(cx, &d);
}

TEST(cost_of_actions_on_numbers)
{
    double        mean[] = { 3, 3 }, scale[] = { 2, 2 }, dof[] = { INFINITY, INFINITY };
    double        y[] = { 5, 1 }, cost[2];
    cr_prediction p = {
        .kind = CR_ANSWER_NUMBER, .n = 2, .mean = mean, .scale = scale, .dof = dof
    };
    const struct {
        cr_loss loss;
        double  want[2];
    } cases[] = { { { .kind = CR_LOSS_SQUARED }, { 4, 4 } },
                  { { .kind = CR_LOSS_ABSOLUTE }, { 2, 2 } },
                  { { .kind = CR_LOSS_ZERO_ONE }, { 1, 1 } },
                  { { .kind = CR_LOSS_QUANTILE, .quantile = 0.5 }, { 1, 1 } } };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        cr_decisions d = { 0 };
        assert_ok(cx, cr_decide(cx, &p, &cases[k].loss, &d));
        assert_ok(cx, cr_decisions_cost(cx, &p, &cases[k].loss, &d, y, cost));
        assert_close(cost[0], cases[k].want[0], 1e-12);
        assert_close(cost[1], cases[k].want[1], 1e-12);
        cr_decisions_free(cx, &d);
    }
}

TEST(cost_of_actions_on_counts)
{
    char   *actions[] = { (char[]){ "few" }, (char[]){ "many" } };
    char   *outcomes[] = { (char[]){ "0" }, (char[]){ "1+" } };
    double  matrix[] = { 0, 5, 1, 0 }, mean = 2, scale = 1, dof = INFINITY, rate = 2, y = 7, cost;
    cr_loss loss = { .kind = CR_LOSS_MATRIX,
                     .n_actions = 2,
                     .n_outcomes = 2,
                     .actions = actions,
                     .outcomes = outcomes,
                     .loss = matrix };
    cr_prediction p = { .kind = CR_ANSWER_NUMBER,
                        .n = 1,
                        .mean = &mean,
                        .scale = &scale,
                        .dof = &dof,
                        .family = cr_dist_find(cx, "poisson"),
                        .params = &rate,
                        .n_params = 1 };
    cr_decisions  d = { 0 };
    assert_ok(cx, cr_decide(cx, &p, &loss, &d));
    assert_ok(cx, cr_decisions_cost(cx, &p, &loss, &d, &y, &cost));
    assert_true(d.action[0] == 1 && cost == 0);
    y = -1;
    assert_fails_with(cx, cr_decisions_cost(cx, &p, &loss, &d, &y, &cost), CR_EDATA,
                      "the count -1");
    cr_decisions_free(cx, &d);
}
