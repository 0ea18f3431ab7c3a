/* conformance.h -- the subjects of the laws that every model keeps: each class of the registry with
 * each line of tests/cli/options, the one table of what is exempt from a law and why, and the rows
 * that the laws are tried on. */
#ifndef CREDENCE_TEST_MODELS_CONFORMANCE_H
#define CREDENCE_TEST_MODELS_CONFORMANCE_H

#include "account.h"
#include "data/table/subset.h"
#include "models/core/fit_stream.h"

enum { MOST_LINE = 512 };

typedef enum law { THREADS, FILES, ORDER, WEIGHTS, UPDATES, STREAMS, COLUMNS, MEMORY } law;
static const char *const law_names[] = { "threads", "files",   "order",   "weights",
                                         "updates", "streams", "columns", "memory" };

/* A model with the options of one line. */
typedef struct subject {
    const cr_model_class *class;
    const char *model;
    char        line[MOST_LINE], settings[MOST_LINE];
    const char *data;  /* path of the rows */
    size_t      block; /* of a stream; 0: none */
    law         law;
} subject;

/* --- exemptions ------------------------------------------------------------------------------- */

/* Lines of options of a model that contain `words` are not held to a law; or are, except for one
 * member of what the model says, or for those that begin so.  Empty texts stand for any. */
static const struct exemption {
    law         law;
    const char *model, *words, *member, *reason;
} exemptions[] = {
    { THREADS, "markov", "--continuous", "", "these rows have several symbols at a time" },
    { ORDER, "bn", "holdout", "", "holds out rows by their numbers" },
    { WEIGHTS, "bn", "holdout", "", "holds out rows by their numbers" },
    { ORDER, "rbm", "cd", "", "draws rows by their numbers" },
    { WEIGHTS, "rbm", "cd", "", "draws rows by their numbers" },
    { ORDER, "dbn", "", "", "learns from the order of the rows" },
    { ORDER, "hmm", "", "", "learns from the order of the rows" },
    { ORDER, "markov", "", "", "learns from the order of the rows" },
    { ORDER, "topics", "", "", "draws by the numbers of the rows, and takes batches of them" },
    { WEIGHTS, "topics", "", "", "a document cannot count twice, as it has a mix of its own" },
    { WEIGHTS, "dbn", "", "", "a row of a sequence cannot count twice" },
    { WEIGHTS, "hmm", "", "", "a row of a sequence cannot count twice" },
    { WEIGHTS, "markov", "", "", "a row of a sequence cannot count twice" },
    { ORDER, "program", "", "", "adds up rows in their order, and chains magnify rounding" },
    { WEIGHTS, "program", "", "", "weighs rows by its own statements" },
    { STREAMS, "gp-online", "", "", "learns as the rows come" },
    { STREAMS, "topics", "--infer online", "", "learns as the documents come" },
    { WEIGHTS, "gp", "--inducing-inputs", "",
      "ends a search half-way, where rounding is magnified" },
    { ORDER, "nadaraya-watson", "--per-column", "parameters",
      "a width below all gaps is any width" },
    { ORDER, "gmm", "--infer gibbs", "", "draws by the numbers of the rows" },
    { WEIGHTS, "gmm", "--infer gibbs", "", "draws by the numbers of the rows" },
    { ORDER, "", "", "cv", "folds are drawn by the numbers of the rows" },
    { ORDER, "linear", "--criterion cv", "", "folds are drawn by the numbers of the rows" },
    { WEIGHTS, "linear", "--criterion cv", "", "folds are drawn by the numbers of the rows" },
    { ORDER, "linear", "", "max_leverage_row", "is the number of a row" },
    { ORDER, "spline", "", "parameters", "lambda is without bound: the best curve is a line" },
    { ORDER, "spline", "", "lambda", "is without bound, as above" },
    { WEIGHTS, "crf", "", "", "a row that is repeated makes a longer sequence" },
    { ORDER, "crf", "--solver sgd", "", "takes sequences in an order of their numbers" },
    { STREAMS, "crf", "--solver sgd", "", "takes sequences block by block" },
    { WEIGHTS, "gp", "--noise-column", "", "a variance per row says what a weight would" },
    { WEIGHTS, "bayes-linear", "--noise-model", "", "models the precision of each row itself" },
    { WEIGHTS, "gp", "--noise-model", "", "models the precision of each row itself" },
    { WEIGHTS, "linear", "--noise-model", "", "models the precision of each row itself" },
    { WEIGHTS, "glm", "--weights", "", "has weights, which are precisions" },
    { WEIGHTS, "linear", "--weights", "", "has weights, which are precisions" },
    { WEIGHTS, "", "", "cv", "folds are drawn by the numbers of the rows" },
    { WEIGHTS, "", "", "conformal", "folds are drawn by the numbers of the rows" },
    { WEIGHTS, "", "", "loocv", "leaves out a row with all its weight" },
    { WEIGHTS, "", "", "max_leverage", "is that of a row with all its weight" },
    { WEIGHTS, "svr", "", "support_vectors", "counts rows, not weights" },
    { WEIGHTS, "svr", "", "bounded", "counts rows, not weights" },
    { WEIGHTS, "svr", "", "free", "counts rows, not weights" },
    { WEIGHTS, "spline", "--choose loo", "log_", "goes through the points: rounding is left" },
    { UPDATES, "", "", "conformal", "stays that of the rows of the fit" },
    { UPDATES, "", "", "loocv", "takes rows that are not kept" },
    { UPDATES, "", "", "max_leverage", "takes rows that are not kept" },
    { STREAMS, "", "", "loocv", "takes rows that are not kept" },
    { STREAMS, "", "", "max_leverage", "takes rows that are not kept" },
    { ORDER, "kalman", "", "", "the rows of a series follow each other" },
    { WEIGHTS, "kalman", "", "", "the rows of a series follow each other once" },
    { ORDER, "svm", "spectrum", "support_vectors",
      "a kernel of low rank: several weights are best" },
    { ORDER, "svm", "spectrum", "bounded", "as above" },
    { WEIGHTS, "svm", "spectrum", "support_vectors", "as above" },
    { COLUMNS, "kalman", "", "mean", "the first rows of a series have none: nothing is known yet" },
};

/* Whether a subject is exempt from its law for this member; "": from all of it. */
static inline bool is_exempt(const subject *s, const char *member)
{
    for (size_t i = 0; i < sizeof exemptions / sizeof *exemptions; i++) {
        const struct exemption *e = &exemptions[i];
        bool matches = *member ? *e->member && strncmp(member, e->member, strlen(e->member)) == 0
                               : !*e->member;
        if (e->law == s->law && matches && strstr(s->line, e->words) &&
            (!*e->model || strcmp(e->model, s->model) == 0))
            return true;
    }
    return false;
}

/* --- the subjects ----------------------------------------------------------------------------- */

static size_t broken; /* laws, in the test at hand: all of them are shown before it fails */

static void        break_law(const subject *s, const char *format, ...) CR_PRINTF(2, 3);
static inline void break_law(const subject *s, const char *format, ...)
{
    char    text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    print_error("%s: %s %s: %s\n", law_names[s->law], s->model, s->line, text);
    broken++;
}

static inline void add_setting(subject *s, const char *name, const char *value)
{
    char  *end = s->settings + strlen(s->settings);
    size_t free_bytes = (size_t)(s->settings + sizeof s->settings - end);
    int    n = snprintf(end, free_bytes, "%s%s=%s", *s->settings ? " " : "", name, value);
    assert_true(n > 0 && (size_t)n < free_bytes);
    for (char *c = end; *c && *c != '='; c++)
        if (*c == '-') *c = '_';
}

/* "--lambda 2 --no-intercept --gradient" as settings; what is for the program alone is kept aside. */
static inline void read_line(subject *s)
{
    char text[MOST_LINE], *rest = NULL, *word, *next;
    bool target = false;
    snprintf(text, sizeof text, "%s", s->line);
    for (word = strtok_r(text, " ", &rest); word; word = next) {
        next = strtok_r(NULL, " ", &rest);
        assert_memory_equal(word, "--", 2);
        bool flag = !next || strncmp(next, "--", 2) == 0, off = strncmp(word, "--no-", 5) == 0;
        const char *name = word + 2, *value = flag ? "true" : next;
        if (strcmp(name, "no-target") == 0)
            target = true;
        else if (strcmp(name, "stream") == 0)
            s->block = s->block ? s->block : 7;
        else if (strcmp(name, "block") == 0)
            s->block = (size_t)atoi(value);
        else
            add_setting(s, off ? name + 3 : name,
                        off                           ? "false"
                        : strcmp(value, "d.csv") == 0 ? s->data
                                                      : value);
        target |= strcmp(name, "target") == 0;
        if (!flag) next = strtok_r(NULL, " ", &rest);
    }
    if (!target) add_setting(s, "target", "y");
}

/* Each law has a context of its own for each subject, in which leaks are seen.  CREDENCE_SUBJECT
 * names the one model to try, when a law is broken and one wants to look at it. */
static inline void try_subject(subject *s, void (*body)(cr_ctx *cx, const subject *s))
{
    const char *wish = getenv("CREDENCE_SUBJECT");
    s->settings[0] = '\0';
    s->block = 0;
    read_line(s);
    if (is_exempt(s, "") || (wish && strcmp(wish, s->model) != 0)) return;
    cr_ctx *cx = test_context();
    body(cx, s);
    test_context_free(cx);
}

static inline void for_each(law kept, void (*body)(cr_ctx *cx, const subject *s))
{
    char data[1024];
    broken = 0;
    snprintf(data, sizeof data, "%s", test_data("golden/d.csv"));
    for (size_t i = 0; i < cr_class_count(); i++) {
        subject s = { .class = cr_class_at(i),
                      .model = cr_class_name(cr_class_at(i)),
                      .data = data,
                      .law = kept };
        char    path[256];
        snprintf(path, sizeof path, "tests/cli/options/%s.txt", s.model);
        FILE *f = fopen(path, "r");
        if (!f) fail_msg("%s is not there: each model has one", path);
        while (fgets(s.line, sizeof s.line, f)) {
            s.line[strcspn(s.line, "\n")] = '\0';
            if (*s.line) try_subject(&s, body);
        }
        fclose(f);
    }
    assert_int_equal(broken, 0);
}

/* --- rows ------------------------------------------------------------------------------------- */

/* Those of the table whose numbers are in the list. */
static inline cr_table *choose_rows(cr_ctx *cx, const cr_table *t, const size_t *rows, size_t n)
{
    cr_table *part = NULL;
    assert_ok(cx, cri_table_subset(cx, t, rows, n, &part));
    test_own(cx, part, release_table);
    return part;
}

enum { MOST_ROWS = 256 };

static inline cr_table *rows_between(cr_ctx *cx, const cr_table *t, size_t begin, size_t end)
{
    size_t rows[MOST_ROWS];
    for (size_t i = begin; i < end; i++) rows[i - begin] = i;
    return choose_rows(cx, t, rows, end - begin);
}

/* --- fits ------------------------------------------------------------------------------------- */

static inline cr_status fit_blocks(cr_ctx *cx, const subject *s, size_t block, cr_model **out)
{
    cr_status       st = CR_OK;
    cr_read_options o;
    cr_stream      *stream = NULL;
    setting_list    list;
    split_settings(s->settings, &list);
    CR_TRY(cr_options_init(cx, cr_read_table, &o));
    CR_TRY(cr_stream_open(cx, s->data, &o, block, &stream));
    CR_TRY(cr_fit_stream(cx, s->model, stream, list.list, list.n, out));
done:
    cr_stream_free(cx, stream);
    cr_options_free(cx, cr_read_table, &o);
    return st;
}

static inline cr_model *fit_rows(cr_ctx *cx, const subject *s, const cr_table *t, const char *more)
{
    char      settings[2 * MOST_LINE];
    cr_model *m = NULL;
    snprintf(settings, sizeof settings, "%s%s", s->settings, more);
    cr_status st = try_fit(cx, s->model, t, settings, &m);
    if (st != CR_OK) fail_msg("%s %s%s: %s", s->model, s->line, more, cr_error(cx));
    test_own(cx, m, release_model);
    return m;
}

/* Cuts the search of a Gaussian process short after so many steps: for laws that hold wherever it ends. */
static inline const char *short_search(const subject *s)
{
    bool searches = strncmp(s->model, "gp", 2) == 0 && !strstr(s->line, "--optimize none");
    return searches ? " max_iter=3" : "";
}

static inline cr_model *fit_subject(cr_ctx *cx, const subject *s)
{
    cr_model *m = NULL;
    if (!s->block) return fit_rows(cx, s, read_table(cx, s->data), short_search(s));
    if (fit_blocks(cx, s, s->block, &m) != CR_OK)
        fail_msg("%s %s: %s", s->model, s->line, cr_error(cx));
    test_own(cx, m, release_model);
    return m;
}

/* --- comparisons ------------------------------------------------------------------------------ */

/* Members that say how and not what, draws that rounding may turn, and what is exempt. */
static inline bool may_differ(const void *subject_at_hand, const char *member)
{
    static const char *const unlike[] = { "settings",      "rows",        "iterations", "stop",
                                          "evaluations",   "refinements", "solver",     "kernel",
                                          "targets drawn", "rows drawn" };
    for (size_t i = 0; i < sizeof unlike / sizeof *unlike; i++)
        if (strcmp(unlike[i], member) == 0) return true;
    return is_exempt(subject_at_hand, member);
}

/* Both say the same of the rows, to the last bit for a tolerance of 0. */
static inline void compare(cr_ctx *cx, const subject *s, const cr_model *a, const cr_model *b,
                           const cr_table *t, double tolerance)
{
    comparison c = { .tolerance = tolerance,
                     .may_differ = tolerance > 0 ? may_differ : NULL,
                     .subject = s };
    if (!is_same(&c, "the account", full_account_of(cx, b, t), full_account_of(cx, a, t)))
        break_law(s, "%s", c.text);
}

/* Rounding alone, or what is left when a search ends. */
static inline double tolerance_of(const cr_model *m)
{
    return cr_model_get_report(m)->stop == CR_STOP_CLOSED_FORM ? 1e-9 : 1e-6;
}

#endif
