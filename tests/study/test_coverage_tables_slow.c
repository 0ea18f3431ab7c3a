/* test_coverage_tables_slow.c -- uncertainty on real data, by 10-fold cross-validation: how many 95 % intervals of
 * new rows hold, of every model of numbers, and how far the probabilities of every classifier are from how often
 * they come true.  Over all tables a model holds on average, and where it misses on one, its fits warn.  With
 * CREDENCE_COVERAGE=FILE the tables are written there, as docs/uncertainty.md shows them. */
#include "fixture.h"
#include "models/core/class.h"

enum { FOLDS = 10, ANY = 100000, MOST_TABLES = 12 };

/* A file of the tabular data, with its number of rows; the smallest first. */
typedef struct table {
    const char *name, *target;
    size_t      rows;
} table;

static const table numbers[] = {
    { "mtcars", "mpg", 32 },
    { "lakehuron", "level_ft", 98 },
    { "nile", "flow", 100 },
    { "airquality", "Ozone", 111 },
    { "mcycle", "accel", 133 },
    { "airpassengers", "passengers", 144 },
    { "servo", "class", 167 },
    { "snelson", "y", 200 },
    { "faithful", "eruptions", 272 },
    { "yacht", "resistance", 308 },
    { "diabetes", "progression", 442 },
    { "boston", "medv", 506 },
};

static const table classes[] = {
    { "iris", "species", 150 },
    { "wine", "cultivar", 178 },
    { "pima_tr", "type", 200 },
    { "sonar", "class", 208 },
    { "synth_tr", "yc", 250 },
    { "heart_scale", "y", 270 },
    { "pima_te", "type", 332 },
    { "ionosphere", "class", 351 },
    { "breast_cancer", "diagnosis", 569 },
};

/* A model, and the largest table that it does not take minutes on. */
typedef struct subject {
    const char *model, *settings;
    size_t      most_rows;
} subject;

static const subject of_numbers[] = {
    { "adaboost", "", ANY },
    { "bayes-linear", "", ANY },
    { "glm", "family=gaussian", ANY },
    { "gp", "", 200 },
    { "gp-online", "", 200 },
    { "kernel-ridge", "", 308 },
    { "knn", "", ANY },
    { "lasso", "", ANY },
    { "linear", "", ANY },
    { "nadaraya-watson", "", 308 },
    { "ridge", "", ANY },
    { "robust", "", ANY },
    { "robust", "method=huber", ANY },
    { "robust", "method=lad", ANY },
    { "rvm", "", 200 },
    { "spline", "", 442 },
    { "svr", "", 308 },
    { "tree", "", ANY },
};

static const subject of_classes[] = {
    { "adaboost", "", ANY },
    { "bayes-logistic", "", ANY },
    { "fisher", "", ANY },
    { "gp-classify", "", 200 },
    { "knn", "", ANY },
    { "lda", "", ANY },
    { "logistic", "", ANY },
    { "naive-bayes", "", ANY },
    { "probit", "", ANY },
    { "qda", "", ANY },
    { "svm", "calibrate=platt", ANY },
    { "tree", "", ANY },
    { "bn", "bins=3", 208 },
    { "rvm", "", 150 },
};

/* --- one table -------------------------------------------------------------------------------- */

/* What was counted in the rows of a table, or of several. */
typedef struct score {
    double rows;
    double value; /* share that lies within, or calibration error */
    double slack; /* by chance: sd of the share; error that the truth itself would have */
    bool   warned;
} score;

/* What a fit says where its intervals or probabilities are not to be relied on. */
static bool is_warned(const char *heard)
{
    static const char *const words[] = { "overconfident",         "are few for",
                                         "are separated",         "too narrow",
                                         "--calibrate conformal", "at their lower bound" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(heard, words[i])) return true;
    return false;
}

static score count_inside(const cr_cv *cv)
{
    score s = { 0 };
    for (size_t f = 0; f < cv->folds; f++) {
        double share = metric_of(&cv->fold[f], "coverage");
        if (isnan(share)) continue;
        s.value += share * (double)cv->fold[f].rows;
        s.rows += (double)cv->fold[f].rows;
    }
    s.value /= s.rows;
    s.slack = sqrt(0.95 * 0.05 / s.rows);
    return s;
}

/* The error over the bins of all folds.  In a bin of n rows with confidence c the share of hits has the sd
 * sqrt(c (1 - c) / n) even where c is right, and is sqrt(2 / pi) of that away on average. */
static score count_gaps(const cr_cv *cv)
{
    score s = { .value = metric_of(&cv->mean, "calibration_error"), .rows = (double)cv->mean.rows };
    for (size_t b = 0; b < CR_CALIBRATION_BINS; b++) {
        double n = 0, c = 0;
        for (size_t f = 0; f < cv->folds; f++) {
            const cr_calibration_bin *bin = &cv->fold[f].bins[b];
            n += bin->weight, c += bin->weight * bin->confidence;
        }
        if (n > 0) s.slack += sqrt(2 / M_PI * n * (c / n) * (1 - fmin(c / n, 1))) / s.rows;
    }
    return s;
}

static score try_table(const subject *m, const table *t, bool is_class)
{
    cr_ctx       *cx = test_context();
    warnings      heard = { 0 };
    char          name[64], settings[256];
    setting_list  list;
    cr_cv_options o = cv_of(cx, "folds=10");
    cr_cv         cv = { 0 };
    snprintf(name, sizeof name, "tabular/%s.csv", t->name);
    snprintf(settings, sizeof settings, "target=%s %s%s", t->target, m->settings,
             is_class ? " task=classification" : " task=regression");
    split_settings(settings, &list);
    cr_table *data = read_table(cx, test_extra_data(name));
    assert_int_equal(cr_table_rows(data), t->rows);
    cr_ctx_set_log(cx, keep_warning, &heard);
    assert_ok(cx, cr_cross_validate(cx, m->model, data, list.list, list.n, &o, &cv));
    score s = is_class ? count_gaps(&cv) : count_inside(&cv);
    s.warned = is_warned(heard.text);
    cr_cv_free(cx, &cv);
    cr_options_free(cx, cr_cv_table, &o);
    test_context_free(cx);
    return s;
}

/* --- all tables ------------------------------------------------------------------------------- */

/* Outside of 0.92 to 0.98, or calibrated worse than by 0.03, by more than chance explains. */
static bool misses(const score *s, bool is_class, double chance)
{
    if (is_class) return s->value - s->slack > 0.03 + chance * s->slack;
    return s->value < 0.92 - chance * s->slack || s->value > 0.98 + chance * s->slack;
}

/* Too wide is not what a warning is for: intervals of rows from a narrow range (snelson) all hold. */
static bool misleads(const score *s, bool is_class)
{
    return misses(s, is_class, is_class ? 1 : 3) && (is_class || s->value < 0.92);
}

static void write_name(FILE *f, const subject *m)
{
    const char *cut = strchr(m->settings, '=');
    if (cut)
        fprintf(f, "| `%s --%.*s %s` |", m->model, (int)(cut - m->settings), m->settings, cut + 1);
    else
        fprintf(f, "| `%s` |", m->model);
}

/* Whether the model holds over all of the tables it is tried on, and warns of those where it does not. */
static bool try_model(const subject *m, const table *t, size_t n, bool is_class, FILE *f)
{
    score  all = { 0 }, at[MOST_TABLES], *least = NULL, *most = NULL;
    bool   holds = true, warned = false;
    size_t tried = 0;
    for (size_t k = 0; k < n; k++) {
        if (t[k].rows > m->most_rows) continue;
        score *s = &at[tried++];
        *s = try_table(m, &t[k], is_class);
        double slack = is_class ? s->slack : 0;
        all.value += s->rows * (s->value - slack), all.rows += s->rows;
        if (!least || s->value < least->value) least = s;
        if (!most || s->value > most->value) most = s;
        warned |= s->warned;
        if (!misleads(s, is_class)) continue;
        fprintf(stderr, "%s %s, %s: %.3f, by chance %.3f%s\n", m->model, m->settings, t[k].name,
                s->value, s->slack, s->warned ? "; the fit warns" : "");
        holds &= s->warned;
    }
    all.value /= all.rows;
    all.slack = is_class ? 0 : sqrt(0.95 * 0.05 / all.rows);
    bool on_average = !misses(&all, is_class, 2) || warned;
    if (!on_average) fprintf(stderr, "%s %s: %.3f in all\n", m->model, m->settings, all.value);
    if (f) {
        write_name(f, m);
        fprintf(f, " %zu | %.0f | %.3f | %.3f | %.3f |\n", tried, all.rows, all.value, least->value,
                most->value);
        fflush(f);
    }
    return holds && on_average;
}

static void try_models(const subject *m, size_t models, const table *t, size_t n, bool is_class)
{
    const char *path = getenv("CREDENCE_COVERAGE"), *only = getenv("CREDENCE_COVERAGE_OF");
    FILE       *f = path ? fopen(path, "a") : NULL;
    size_t      broken = 0;
    test_extra_data("tabular/iris.csv"); /* or all of it is skipped */
    for (size_t k = 0; k < models; k++)
        if (!only || strcmp(only, m[k].model) == 0) broken += !try_model(&m[k], t, n, is_class, f);
    if (f) fclose(f);
    assert_int_equal(broken, 0);
}

#define COUNT(a) (sizeof(a) / sizeof *(a))

TEST(intervals) { try_models(of_numbers, COUNT(of_numbers), numbers, COUNT(numbers), false); }

TEST(probabilities) { try_models(of_classes, COUNT(of_classes), classes, COUNT(classes), true); }

/* No model of rows is left out; these tables have no sequences. */
static void check_all(unsigned task, const subject *list, size_t n)
{
    for (size_t i = 0; i < cr_class_count(); i++) {
        const cr_model_class *c = cr_class_at(i);
        bool                  found = !(c->tasks & task) || c->sequences;
        for (size_t k = 0; !found && k < n; k++)
            found = strcmp(list[k].model, cr_class_name(c)) == 0;
        if (!found) fail_msg("%s is not tried", cr_class_name(c));
    }
}

TEST(all_models_are_tried)
{
    check_all(CR_TASK_REGRESSION, of_numbers, COUNT(of_numbers));
    check_all(CR_TASK_CLASSIFICATION, of_classes, COUNT(of_classes));
}
