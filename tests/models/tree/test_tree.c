/* test_tree.c -- trees against all splits by brute force, pruning against dynamic programming,
 * leaves against their rows. */
#include "../drawn.h"

static drawn_data data;

/* --- nodes of a description ------------------------------------------------------------------ */

static const json_t *nodes_of(const json_t *d) { return json_object_get(d, "tree"); }

/* weight x mean loss, of the leaves. */
static double loss_of_leaves(const json_t *d, size_t *out_leaves)
{
    size_t  i;
    json_t *node;
    double  sum = 0;
    *out_leaves = 0;
    json_array_foreach(nodes_of(d), i, node)
    {
        if (!json_is_true(json_object_get(node, "leaf"))) continue;
        sum += number_of(node, "weight") * number_of(node, "loss");
        ++*out_leaves;
    }
    return sum;
}

/* --- the best split by brute force ----------------------------------------------------------- */

enum { ROWS = 14, COLUMNS = 3, LEVELS = 4 };

typedef struct tiny {
    double X[ROWS * COLUMNS]; /* NaN for a gap; column 2 holds levels */
    double y[ROWS], w[ROWS];
    size_t classes, n;
    bool   entropy;
} tiny;

static double loss_of_side(const tiny *t, const bool *in, double *out_weight)
{
    double weight = 0, mean = 0, loss = 0, count[8] = { 0 };
    for (size_t i = 0; i < t->n; i++) {
        if (!in[i]) continue;
        weight += t->w[i];
        mean += t->w[i] * t->y[i];
        count[(size_t)fabs(t->y[i]) % 8] += t->w[i];
    }
    mean /= weight;
    for (size_t i = 0; i < t->n; i++)
        if (in[i]) loss += t->w[i] * (t->y[i] - mean) * (t->y[i] - mean);
    *out_weight = weight;
    if (t->classes == 0) return loss;
    loss = t->entropy ? 0 : weight;
    for (size_t k = 0; k < t->classes; k++) {
        double p = count[k] / weight;
        if (p > 0) loss -= t->entropy ? weight * p * log(p) : weight * p * p;
    }
    return loss;
}

static double loss_of_split(const tiny *t, const bool *left, double min_leaf)
{
    bool   right[ROWS];
    double a, b;
    for (size_t i = 0; i < t->n; i++) right[i] = !left[i];
    double sum = loss_of_side(t, left, &a);
    sum += loss_of_side(t, right, &b);
    return a >= min_leaf && b >= min_leaf ? sum : INFINITY;
}

/* The least loss of the two sides over every threshold, subset of levels, and side for the gaps. */
static double best_by_force(const tiny *t, double min_leaf)
{
    double best = INFINITY;
    bool   left[ROWS];
    for (size_t j = 0; j < COLUMNS; j++)
        for (size_t cut = 0; cut < (j == 2 ? 1 << LEVELS : t->n); cut++)
            for (unsigned gap = 0; gap < 2; gap++) {
                for (size_t i = 0; i < t->n; i++) {
                    double x = t->X[i * COLUMNS + j];
                    left[i] = isnan(x) ? gap
                              : j == 2 ? cut >> (size_t)x & 1
                                       : x <= t->X[cut * COLUMNS + j];
                }
                double loss = loss_of_split(t, left, min_leaf);
                if (loss < best) best = loss;
            }
    return best;
}

static cr_table *tiny_table(cr_ctx *cx, const tiny *t)
{
    static const char *const levels[LEVELS] = { "a", "b", "c", "d" };
    cr_table                *table = NULL;
    uint32_t                 codes[ROWS];
    for (size_t i = 0; i < t->n; i++) {
        double x = t->X[i * COLUMNS + 2];
        codes[i] = isnan(x) ? CR_MISSING_CODE : (uint32_t)x;
    }
    assert_ok(cx, cr_table_new(cx, "tiny.csv", t->n, &table));
    test_own(cx, table, release_table);
    assert_ok(cx, cr_table_add_numbers(cx, table, "u", CR_REAL, t->X, COLUMNS));
    assert_ok(cx, cr_table_add_numbers(cx, table, "v", CR_REAL, t->X + 1, COLUMNS));
    assert_ok(cx, cr_table_add_category(cx, table, "g", codes, levels, LEVELS));
    assert_ok(cx, cr_table_add_numbers(cx, table, "y", CR_REAL, t->y, 1));
    assert_ok(cx, cr_table_add_numbers(cx, table, "w", CR_REAL, t->w, 1));
    return table;
}

static void draw_tiny(uint64_t seed, tiny *t)
{
    cr_rng r = cr_rng_stream(seed, 3);
    *t = (tiny){ .n = ROWS, .classes = (size_t[]){ 0, 2, 3 }[seed % 3], .entropy = seed / 3 % 2 };
    for (size_t i = 0; i < ROWS; i++) {
        double *x = t->X + i * COLUMNS;
        x[0] = cr_rng_normal(&r);
        x[1] = (double)cr_rng_below(&r, 4);
        x[2] = (double)cr_rng_below(&r, LEVELS);
        for (size_t j = 0; j < COLUMNS && seed / 6 % 2; j++)
            if (cr_rng_below(&r, 4) == 0) x[j] = NAN;
        t->y[i] = t->classes ? (double)cr_rng_below(&r, t->classes) : cr_rng_normal(&r);
        t->w[i] = 0.25 * (double)(1 + cr_rng_below(&r, 8));
    }
    for (size_t k = 0; k < t->classes; k++) t->y[k] = (double)k;
}

TEST(best_split)
{
    size_t split = 0;
    for (uint64_t seed = 0; seed < 150; seed++) {
        tiny   t;
        size_t leaves;
        char   settings[256];
        draw_tiny(seed, &t);
        size_t min_leaf = seed % 2 ? 1 : 4;
        snprintf(
            settings, sizeof settings,
            "target=y features=u,v,g weights=w max_depth=1 min_leaf=%zu min_split=2 prune=none "
            "criterion=%s %s",
            min_leaf, t.entropy && t.classes ? "entropy" : "gini",
            t.classes ? "task=classification" : "");
        cr_table *table = tiny_table(cx, &t);
        cr_model *m = fit(cx, "tree", table, settings);
        json_t   *d = describe(cx, m);
        double    best = best_by_force(&t, (double)min_leaf), found = loss_of_leaves(d, &leaves);
        assert_int_equal(leaves, isinf(best) ? 1 : 2);
        if (leaves == 2) assert_close(found, best, 1e-11);
        split += leaves == 2;
        cr_table_free(cx, table);
    }
    assert_true(split > 120);
}

/* --- deep trees ------------------------------------------------------------------------------ */

/* Without limits the tree knows every row, also where the first split gains nothing (exclusive or).
 */
TEST(exact_fit)
{
    const char *deep = "target=y min_leaf=1 min_split=2 prune=none";
    double      X[8] = { 0, 0, 0, 1, 1, 0, 1, 1 }, y[4] = { 5, 7, 7, 5 };
    cr_table * xor = make_table(cx, X, 4, 2, y, NULL);
    cr_prediction q = fit_and_predict(cx, "tree", xor, deep, xor);
    for (size_t i = 0; i < 4; i++) assert_close(q.mean[i], y[i], 1e-15);
    cr_table_free(cx, xor);
    draw_data(2, 700, 2, 0, &data);
    cr_table *t = make_table(cx, data.X, data.n, 2, data.y, NULL);
    q = fit_and_predict(cx, "tree", t, deep, t);
    for (size_t i = 0; i < data.n; i++) assert_close(q.mean[i], data.y[i], 1e-14);
}

/* Adjacent numbers, huge and tiny ones: a threshold is always between. */
TEST(thresholds)
{
    double        a = 1, X[6] = { a, nextafter(a, 2), -1.7e308, 1.7e308, 5e-324, 0 };
    double        y[6] = { 1, 2, 3, 4, 5, 6 };
    cr_table     *t = make_table(cx, X, 6, 1, y, NULL);
    cr_prediction q =
        fit_and_predict(cx, "tree", t, "target=y min_leaf=1 min_split=2 prune=none", t);
    for (size_t i = 0; i < 6; i++) assert_close(q.mean[i], y[i], 1e-15);
}

/* --- leaves ---------------------------------------------------------------------------------- */

/* Mean and spread of the rows that share a leaf, here those that share a mean. */
TEST(leaf_answers)
{
    draw_data(5, 200, 2, 0, &data);
    cr_table     *t = make_table(cx, data.X, data.n, 2, data.y, NULL);
    cr_prediction q = fit_and_predict(cx, "tree", t, "target=y prune=none max_depth=4", t);
    for (size_t i = 0; i < data.n; i++) {
        double n = 0, mean = 0, square = 0;
        for (size_t k = 0; k < data.n; k++)
            if (q.mean[k] == q.mean[i]) n++, mean += data.y[k];
        mean /= n;
        for (size_t k = 0; k < data.n; k++)
            if (q.mean[k] == q.mean[i]) square += pow(data.y[k] - mean, 2);
        assert_true(n >= 5);
        assert_close(q.mean[i], mean, 1e-12);
        assert_close(q.dof[i], n - 1, 1e-12);
        assert_close(q.scale[i], sqrt(square / (n - 1) * (1 + 1 / n)), 1e-12);
    }
    cr_table_free(cx, t);
    draw_data(6, 200, 2, 3, &data);
    t = make_table(cx, data.X, data.n, 2, data.y, NULL);
    q = fit_and_predict(cx, "tree", t, "target=y task=classification max_depth=0 smoothing=2", t);
    double count[3] = { 0 };
    for (size_t i = 0; i < data.n; i++) count[(size_t)data.y[i]]++;
    for (size_t k = 0; k < 3; k++) assert_close(q.prob[k], (count[k] + 2) / 206, 1e-14);
}

/* The predictive variances of the rows of the fit add up to the squared error in rows left out: splits that were
 * chosen by noise do not make a leaf sure of itself. */
TEST(inflation)
{
    draw_data(7, 150, 2, 0, &data);
    cr_table     *t = make_table(cx, data.X, data.n, 2, data.y, NULL);
    cr_model     *m = fit(cx, "tree", t, "target=y prune=min min_leaf=5");
    json_t       *d = describe(cx, m);
    cr_prediction q = predict(cx, m, t);
    double        sum = 0;
    for (size_t i = 0; i < data.n; i++) sum += q.scale[i] * q.scale[i];
    assert_true(statistic(d, "inflation") > 1.01);
    assert_relative(sum / (double)data.n, statistic(d, "cv_loss"), 1e-12);
}

/* A leaf of one row has the spread of the others. */
TEST(lonely_leaf)
{
    double        X[7] = { 0, 1, 2, 3, 4, 5, 100 }, y[7] = { 1, 2, 1, 2, 1, 2, 50 };
    cr_table     *t = make_table(cx, X, 7, 1, y, NULL);
    cr_prediction q =
        fit_and_predict(cx, "tree", t, "target=y max_depth=1 min_leaf=1 min_split=2 prune=none", t);
    assert_close(q.mean[6], 50, 1e-14);
    assert_close(q.dof[6], 5, 1e-14);
    assert_close(q.scale[6], sqrt(1.5 / 5 * 2), 1e-12);
    assert_close(q.scale[0], sqrt(1.5 / 5 * (1 + 1.0 / 6)), 1e-12);
}

/* --- gaps and categories --------------------------------------------------------------------- */

/* Gaps that tell something go their own way; where none were seen, with the larger part. */
TEST(gaps)
{
    cr_table *t = table_of_text(cx, "gaps.csv", "x,z,y\n1,0,1\n2,0,1\n3,0,5\n4,0,5\n,0,5\n,0,5\n");
    cr_table *none = table_of_text(cx, "none.csv", "x,z,y\n1,0,1\n2,0,1\n3,0,5\n4,0,5\n5,0,5\n");
    cr_table *low = table_of_text(cx, "low.csv", "x,z,y\n1,0,1\n2,0,1\n3,0,1\n4,0,5\n5,0,5\n");
    cr_table *at = table_of_text(cx, "at.csv", "x,z\n,0\n1,0\n");
    const char   *settings = "target=y task=regression min_leaf=1 min_split=2 prune=none";
    cr_prediction q = fit_and_predict(cx, "tree", t, settings, at);
    assert_close(q.mean[0], 5, 1e-15);
    assert_close(q.mean[1], 1, 1e-15);
    q = fit_and_predict(cx, "tree", none, settings, at);
    assert_close(q.mean[0], 5, 1e-15);
    cr_table_free(cx, t);
    q = fit_and_predict(cx, "tree", low, settings, at);
    assert_close(q.mean[0], 1, 1e-15);
    cr_table_free(cx, none);
    cr_table_free(cx, low);
    t = table_of_text(cx, "alone.csv", "x,z,y\n1,,2\n3,,2\n2,,2\n,,7\n,,7\n"); /* gaps alone */
    q = fit_and_predict(cx, "tree", t, settings, at);
    assert_close(q.mean[0], 7, 1e-15);
    assert_close(q.mean[1], 2, 1e-15);
}

TEST(categories)
{
    cr_table     *t = table_of_text(cx, "g.csv", "g,y\na,1\nb,9\nc,1\nd,9\ne,1\nf,9\n");
    cr_model     *m = fit(cx, "tree", t,
                          "target=y task=regression max_depth=1 min_leaf=1 min_split=2 prune=none");
    json_t       *d = describe(cx, m);
    const json_t *left = json_array_get(nodes_of(d), 1);
    assert_string_equal(json_string_value(json_object_get(left, "rule")), "g in {a, c, e}");
    assert_close(number_of(left, "mean"), 1, 1e-15);
    assert_close(parameter(d, "g", "value"), 1, 1e-15);
    cr_model_free(cx, m);
    cr_table_free(cx, t);
    /* more levels than subsets can be tried of, three classes: one level against the rest */
    t = table_of_text(cx, "h.csv",
                      "g,y\na,p\nb,q\nc,q\nd,q\ne,q\nf,q\ng,q\nh,q\ni,r\nj,q\nk,q\n"
                      "a,p\na,p\na,p\n");
    m = fit(cx, "tree", t, "target=y max_depth=1 min_leaf=1 min_split=2 prune=none");
    d = describe(cx, m);
    left = json_array_get(nodes_of(d), 1);
    assert_string_equal(json_string_value(json_object_get(left, "rule")), "g in {a}");
    assert_string_equal(json_string_value(json_object_get(left, "label")), "p");
}

/* Seventy levels, y = level^2 mod 7: every level comes to the leaf of its own y, read from
 * a file too, where subsets are bits. */
TEST(many_levels)
{
    enum { MANY = 70 };
    char  text[64 * MANY] = "g,y\n";
    char *end = text + strlen(text);
    for (int k = 0; k < MANY; k++)
        end += sprintf(end, "l%d,%d\nl%d,%d\n", k, k * k % 7, k, k * k % 7);
    cr_table *t = table_of_text(cx, "many.csv", text);
    cr_model *m = fit(cx, "tree", t,
                      "target=y task=regression min_leaf=1 min_split=2 prune=none splits=exact");
    char      path[256];
    snprintf(path, sizeof path, "%s/many.cred", test_directory());
    assert_ok(cx, cr_model_save(cx, m, path));
    cr_model *again = NULL;
    assert_ok(cx, cr_model_load(cx, path, &again));
    cr_prediction q = predict(cx, again, t);
    for (int i = 0; i < 2 * MANY; i++) assert_close(q.mean[i], i / 2 * (i / 2) % 7, 1e-12);
    cr_model_free(cx, again);
}

/* --- pruning --------------------------------------------------------------------------------- */

typedef struct cost {
    double least, leaves;
} cost;

/* The least of R + alpha leaves over all pruned trees below node *at, and the fewest leaves that
 * have it; nodes stand depth first. */
static cost least_cost(const json_t *nodes, size_t *at, double alpha, double total)
{
    const json_t *node = json_array_get(nodes, (*at)++);
    double        own = number_of(node, "weight") * number_of(node, "loss") / total + alpha;
    if (json_is_true(json_object_get(node, "leaf"))) return (cost){ own, 1 };
    cost   a = least_cost(nodes, at, alpha, total), b = least_cost(nodes, at, alpha, total);
    double below = a.least + b.least;
    return own <= below + 1e-13 ? (cost){ own, 1 } : (cost){ below, a.leaves + b.leaves };
}

static void check_pruning(cr_ctx *cx, const char *settings, const cr_table *t, double unit)
{
    char      text[512];
    double    before = INFINITY;
    cr_model *full = fit(cx, "tree", t, settings);
    json_t   *all = describe(cx, full);
    for (size_t k = 0; k < 24; k++) {
        double alpha = k ? unit * pow(1.6, (double)k - 16) : 0;
        size_t leaves, at = 0;
        snprintf(text, sizeof text, "%s prune=%.17g", settings, alpha);
        cr_model *m = fit(cx, "tree", t, text);
        json_t   *d = describe(cx, m);
        double    total = (double)cr_table_rows(t), loss = loss_of_leaves(d, &leaves) / total;
        cost      c = least_cost(nodes_of(all), &at, alpha, total);
        assert_close(loss + alpha * (double)leaves, c.least, 1e-12);
        assert_int_equal(leaves, c.leaves);
        assert_true((double)leaves <= before); /* and nested: fewer leaves of the same tree */
        before = (double)leaves;
    }
    assert_close(before, 1, 0);
}

TEST(pruning)
{
    draw_data(11, 120, 2, 0, &data);
    cr_table *t = make_table(cx, data.X, data.n, 2, data.y, NULL);
    check_pruning(cx, "target=y min_leaf=2 min_split=2 prune=none", t, 0.5);
    cr_table_free(cx, t);
    draw_data(12, 120, 2, 3, &data);
    t = make_table(cx, data.X, data.n, 2, data.y, NULL);
    check_pruning(cx, "target=y task=classification min_leaf=1 min_split=2 prune=none", t, 0.5);
    check_pruning(cx, "target=y task=classification criterion=entropy prune=none", t, 0.7);
}

/* Noise alone has no tree; a step has two leaves, found among noise columns. */
TEST(cross_validation)
{
    cr_rng r = cr_rng_stream(4, 4);
    double X[900], y[300], step[300];
    draw_normals(&r, X, 900);
    draw_normals(&r, y, 300);
    for (size_t i = 0; i < 300; i++) step[i] = y[i] + (X[3 * i + 1] > 0.4 ? 4 : 0);
    cr_table *noise = make_table(cx, X, 300, 3, y, NULL),
             *t = make_table(cx, X, 300, 3, step, NULL);
    cr_model *a = fit(cx, "tree", noise, "target=y"), *b = fit(cx, "tree", t, "target=y");
    cr_model *c = fit(cx, "tree", t, "target=y prune=min");
    json_t   *da = describe(cx, a), *db = describe(cx, b), *dc = describe(cx, c);
    assert_int_equal(statistic(da, "leaves"), 1);
    assert_int_equal(statistic(db, "leaves"), 2);
    assert_true(statistic(dc, "leaves") >= 2);
    assert_true(statistic(dc, "cv_loss") <= statistic(db, "cv_loss"));
    assert_true(statistic(db, "cv_loss") <= statistic(dc, "cv_loss") + statistic(db, "cv_se"));
    assert_true(fabs(statistic(db, "cv_loss") - 1) < 0.25); /* the noise */
    assert_close(parameter(db, "x2", "value"), 1, 1e-12);
}

/* --- corners ---------------------------------------------------------------------------------- */

/* --- few different rows ---------------------------------------------------------------------- */

/* Two levels of `each` rows, of which `ones` in the first, and as many zeros in the second, are of
 * class 1.  Counted: a row for each cell, whose weight is the number of its rows. */
static cr_table *table_of_cells(cr_ctx *cx, size_t each, size_t ones, bool counted, bool backwards)
{
    double X[400], y[400], w[400];
    size_t n = 0;
    for (size_t cell = 0; cell < 4; cell++) {
        size_t c = backwards ? 3 - cell : cell, level = c / 2, class = c % 2;
        size_t rows = level == class ? each - ones : ones;
        for (size_t i = 0; i < (counted ? 1 : rows); i++, n++) {
            X[n] = (double)level;
            y[n] = (double)class;
            w[n] = counted ? (double)rows : 1;
        }
    }
    return make_table(cx, X, n, 1, y, w);
}

static json_t *prune_cells(cr_ctx *cx, const cr_table *t, bool classes, unsigned seed,
                           const char *prune)
{
    char settings[256];
    snprintf(settings, sizeof settings, "target=y features=x1 weights=w task=%s seed=%u prune=%s",
             classes ? "classification" : "regression", seed, prune);
    return describe(cx, fit(cx, "tree", t, settings));
}

/* Equal rows are left out one by one.  Were they left out together, what a level says would be
 * judged by the rows that say the opposite, and the tree cut to its root.  The loss of a share p is
 * p (1 - p), and for two classes twice that. */
TEST(equal_rows)
{
    for (unsigned classes = 0; classes < 2; classes++) {
        cr_table *t = table_of_cells(cx, 200, 40, false, false);
        json_t   *d = prune_cells(cx, t, classes, 1, "auto");
        assert_int_equal(statistic(d, "leaves"), 2);
        assert_relative(statistic(d, "cv_loss"), classes ? 0.32 : 0.16, 0.05);
    }
}

/* The folds are told by neither the order of rows nor whether they are counted, be the equal rows
 * few or many. */
TEST(equal_rows_in_any_form)
{
    for (size_t each = 10; each <= 200; each *= 20) {
        double loss[4];
        for (unsigned form = 0; form < 4; form++) {
            cr_table *t = table_of_cells(cx, each, each / 5, form & 1, form & 2);
            loss[form] = statistic(prune_cells(cx, t, true, 1, "auto"), "cv_loss");
            assert_relative(loss[form], loss[0], 1e-12);
        }
    }
}

/* Nor are they spread evenly: the rows left out would have the very shares of the others, and
 * shares that differ by chance, 0.48 and 0.52 of 200, would always be seen to gain. */
TEST(equal_rows_without_signal)
{
    cr_table *t = table_of_cells(cx, 200, 96, false, false);
    size_t    roots = 0;
    for (unsigned seed = 0; seed < 20; seed++)
        roots += statistic(prune_cells(cx, t, true, seed, "min"), "leaves") == 1;
    assert_true(roots >= 12);
}

/* --- units ------------------------------------------------------------------------------------ */

/* The folds are drawn by ranks: a change of units changes neither tree nor spread.  Powers of 2 keep even the means'
 * bits; the shift rounds them. */
TEST(units)
{
    enum { UNITS = 40 };
    static double X[UNITS * 2], y[UNITS], XX[UNITS * 2], yy[UNITS], mean[UNITS], sd[UNITS];
    static const char *const models[] = { "tree", "adaboost", "tree", "tree" };
    static const char *const settings[] = { "target=y", "target=y", "target=y prune=min",
                                            "target=y splits=histogram" };
    static const double      tries[][4] = { /* factor and shift of x, of y */
                                       { 1, 0, 1, 0 },   { 1048576, 0, 1, 0 }, { 1.8, 32, 1, 0 },
                                       { 1, 1e6, 1, 0 }, { 1, 0, 0x1p-20, 0 }, { 1e-8, 0, 1e6, 1e9 }
    };
    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        cr_rng r = cr_rng_stream(k, 41);
        draw_normals(&r, X, UNITS * 2);
        for (size_t i = 0; i < UNITS; i++)
            y[i] = sin(2 * X[2 * i]) + 0.5 * X[2 * i + 1] + 0.2 * cr_rng_normal(&r);
        for (size_t u = 0; u < sizeof tries / sizeof *tries; u++) {
            const double *c = tries[u];
            for (size_t i = 0; i < 2 * UNITS; i++) XX[i] = c[0] * X[i] + c[1];
            for (size_t i = 0; i < UNITS; i++) yy[i] = c[2] * y[i] + c[3];
            cr_table     *t = make_table(cx, XX, UNITS, 2, yy, NULL);
            cr_prediction q = fit_and_predict(cx, models[k], t, settings[k], t);
            for (size_t i = 0; i < UNITS; i++) {
                double m = (q.mean[i] - c[3]) / c[2], s = q.scale[i] / c[2];
                if (u == 0) mean[i] = m, sd[i] = s;
                assert_close(m, mean[i], 1e-9);
                assert_close(s, sd[i], 1e-9);
            }
        }
    }
}

/* Enough entries that columns are searched side by side. */
TEST(large_nodes)
{
    enum { N = 20100, P = 20 };
    double *X = malloc(N * P * sizeof *X), *y = malloc(N * sizeof *y), *first = NULL;
    cr_rng  r = cr_rng_stream(6, 6);
    draw_normals(&r, X, N * P);
    for (size_t i = 0; i < N; i++) y[i] = X[i * P + 3] * X[i * P + 7] + 0.1 * X[i * P];
    cr_table *t = make_table(cx, X, N, P, y, NULL);
    for (size_t threads = 1; threads <= 3; threads += 2) {
        cr_ctx_set_threads(cx, threads);
        cr_prediction q = fit_and_predict(cx, "tree", t, "target=y prune=none max_depth=2", t);
        if (first) assert_memory_equal(first, q.mean, N * sizeof(double));
        if (!first) memcpy(first = malloc(N * sizeof(double)), q.mean, N * sizeof(double));
    }
    free(first);
    free(X);
    free(y);
}

TEST(corners)
{
    double        X[4] = { 1, 1, 1, 1 }, y[4] = { 5, 6, 7, 8 };
    cr_model     *m = NULL;
    cr_table     *one = make_table(cx, X, 1, 1, y, NULL), *t = make_table(cx, X, 4, 1, y, NULL);
    cr_prediction q = fit_and_predict(cx, "tree", one, "target=y", one);
    assert_close(q.mean[0], 5, 1e-15);
    assert_true(isnan(q.scale[0]));
    assert_fails_with(cx, try_fit(cx, "tree", one, "target=y task=classification", &m), CR_EDATA,
                      "only one class");
    q = fit_and_predict(cx, "tree", t, "target=y min_leaf=1 min_split=2",
                        t); /* nothing to split by */
    for (size_t i = 0; i < 4; i++) assert_close(q.mean[i], 6.5, 1e-15);
    cr_table *same = make_table(cx, X, 4, 1, X, NULL); /* one row, four times */
    q = fit_and_predict(cx, "tree", same, "target=y", same);
    assert_close(q.mean[0], 1, 1e-15);
    cr_table_free(cx, same);
    q = fit_and_predict(cx, "tree", t, "target=y features=x1 scale_target=standard prune=2", t);
    assert_close(q.mean[0], 6.5, 1e-15);
    cr_table *gaps = table_of_text(cx, "gaps.csv", "x,z,y\n,,1\n,,2\n");
    assert_fails_with(cx, try_fit(cx, "tree", gaps, "target=y", &m), CR_EDATA,
                      "all feature values are missing");
    cr_table_free(cx, gaps);
    assert_fails_with(cx, try_fit(cx, "tree", t, "target=y prune=-1", &m), CR_EARG,
                      "is not auto, min, none or a number of 0 or more");
    assert_fails_with(cx, try_fit(cx, "tree", t, "target=y prune=some", &m), CR_EARG,
                      "is not auto, min, none or a number of 0 or more");
}
