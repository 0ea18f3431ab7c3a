/* fuzz_model.c -- the contents of model files: a small model of any kind, with values of its JSON and
 * elements of its arrays changed and the checksum made right again, is refused or answers: no crash,
 * no endless loop, no probability outside 0 .. 1, no negative spread, no leak.
 * The first byte chooses the kind; then each three bytes are a change: two say where, one what. */
#include "base/context.h"
#include "data/table/table.h"
#include "models/core/model.h"
#include "data/store/store_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROWS = 24, MOST_KINDS = 128, MOST_CHANGES = 8 };

static void require(bool fact)
{
    if (!fact) abort();
}

/* --- one model of each kind ------------------------------------------------------------------ */

static cr_table *make_table(cr_ctx *cx)
{
    double      x[3][ROWS];
    const char *kind[ROWS], *class[ROWS];
    cr_table   *t = NULL;
    for (size_t i = 0; i < ROWS; i++) {
        x[0][i] = (double)(i * 7 % ROWS) / 4;
        x[1][i] = (double)(i * 5 % 11) - 3;
        x[2][i] = 1 + x[0][i] + (double)(i % 3);
        kind[i] = i % 3 ? "p" : "q";
        class[i] = i % 2 ? "yes" : "no";
    }
    static const char *const names[] = { "x1", "x2", "y" };
    require(cr_table_new(cx, "fuzz.csv", ROWS, &t) == CR_OK);
    for (size_t j = 0; j < 3; j++)
        require(cr_table_add_numbers(cx, t, names[j], CR_REAL, x[j], 1) == CR_OK);
    require(cr_table_add_texts(cx, t, "k", kind) == CR_OK);
    require(cr_table_add_texts(cx, t, "c", class) == CR_OK);
    return t;
}

/* Fits the class with the first of these settings that it takes; its file in *out_bytes, or NULL. */
static void fit_kind(cr_ctx *cx, const cr_table *t, const char *name, char **out_bytes,
                     size_t *out_size)
{
    static const cr_setting tried[][2] = { { { "target", "y" }, { "features", "x1,x2,k" } },
                                           { { "target", "y" }, { "features", "x1,x2" } },
                                           { { "target", "c" }, { "features", "x1,x2,k" } },
                                           { { "target", "c" }, { "features", "x1,x2" } },
                                           { { "features", "x1,x2" } },
                                           { { "features", "k" } } };
    cr_model               *m = NULL;
    for (size_t i = 0; i < sizeof tried / sizeof *tried && !m; i++)
        if (cr_fit(cx, name, t, tried[i], tried[i][1].name ? 2 : 1, &m) != CR_OK) m = NULL;
    *out_bytes = NULL;
    if (m) require(cr_model_to_bytes(cx, m, out_bytes, out_size) == CR_OK);
    cr_model_free(cx, m);
}

/* --- changes --------------------------------------------------------------------------------- */

static double odd_number(unsigned what)
{
    static const double odd[] = { 0,    -1,    1,         0.5,    -0.5,     2,     -22,
                                  1e18, -1e18, 1e300,     -1e300, 1e-300,   65536, 4294967296.0,
                                  NAN,  3,     -INFINITY, 7,      INFINITY, 1e-8 };
    return odd[what % (sizeof odd / sizeof *odd)];
}

/* Counts the values that are neither object nor array; changes number `at`, if it comes by. */
static size_t change_leaf(json_t *node, size_t seen, size_t at, unsigned what)
{
    const char *key;
    json_t     *value;
    size_t      i;
    void       *next;
    if (json_is_object(node)) {
        json_object_foreach_safe(node, next, key, value)
        {
            bool   leaf = !json_is_object(value) && !json_is_array(value);
            double x = odd_number(what);
            if (leaf && seen == at)
                json_object_set_new(node, key,
                                    what > 220   ? json_null()
                                    : what > 200 ? json_string("x1")
                                    : json_is_integer(value) || !isfinite(x)
                                        ? json_integer((json_int_t)(what % 64) - 16)
                                        : json_real(x));
            seen = leaf ? seen + 1 : change_leaf(value, seen, at, what);
        }
    } else
        json_array_foreach(node, i, value)
        {
            bool leaf = !json_is_object(value) && !json_is_array(value);
            if (leaf && seen == at) json_array_set_new(node, i, json_integer((int)what - 16));
            seen = leaf ? seen + 1 : change_leaf(value, seen, at, what);
        }
    return seen;
}

static void change_element(cri_store *s, size_t at, unsigned what)
{
    size_t count = 0;
    for (size_t i = 0; i < s->n; i++) count += s->arrays[i].array.rows * s->arrays[i].array.cols;
    if (count == 0) return;
    at %= count;
    for (size_t i = 0; i < s->n; i++) {
        cri_npy *a = &s->arrays[i].array;
        size_t   n = a->rows * a->cols;
        double   x = odd_number(what);
        if (at < n) {
            memcpy(s->arrays[i].bytes + ((const char *)a->data - s->arrays[i].bytes) + 8 * at, &x,
                   8);
            return;
        }
        at -= n;
    }
}

/* --- one input ------------------------------------------------------------------------------- */

static void ask(cr_ctx *cx, const cr_model *m, const cr_table *t)
{
    char         *text = NULL;
    cr_prediction p = { 0 };
    if (cr_describe(cx, m, &text) == CR_OK) cr_free(cx, text, strlen(text) + 1, 1);
    if (cr_predict(cx, m, t, &p) != CR_OK) {
        require(cr_error(cx)[0] != '\0');
        return;
    }
    for (size_t i = 0; p.scale && i < ROWS; i++) require(!(p.scale[i] < 0));
    for (size_t i = 0; p.prob && i < ROWS * p.n_classes; i++)
        require(!(p.prob[i] < 0) && !(p.prob[i] > 1 + 1e-9));
    cr_prediction_free(cx, &p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char   *known[MOST_KINDS]; /* files of the models, made when first asked for */
    static size_t  known_size[MOST_KINDS];
    static bool    tried[MOST_KINDS];
    static cr_ctx *keeper;
    cr_ctx        *cx = NULL;
    cri_store     *s = NULL;
    cr_model      *m = NULL;
    char          *bytes = NULL;
    size_t         n = 0, k = size ? data[0] % cr_class_count() : 0;
    if (size < 4 || k >= MOST_KINDS || cr_ctx_new(NULL, &cx) != CR_OK) return 0;
    cr_ctx_set_threads(cx, 1);
    if (!keeper) {
        require(cr_ctx_new(NULL, &keeper) == CR_OK);
        cr_ctx_set_threads(keeper, 1);
    }
    cr_table *t = make_table(cx);
    if (!tried[k]) fit_kind(keeper, t, cr_class_name(cr_class_at(k)), &known[k], &known_size[k]);
    tried[k] = true;
    cr_ctx_set_memory_limit(cx, (size_t)1 << 26);
    cr_ctx_set_time_limit(cx, 5);
    if (known[k] && cri_store_from_bytes(cx, "fuzz", known[k], known_size[k], &s) == CR_OK) {
        size_t leaves = change_leaf(s->root, 0, SIZE_MAX, 0);
        for (size_t i = 1; i + 3 <= size && i < 1 + 3 * MOST_CHANGES; i += 3) {
            size_t where = data[i] + 256u * (data[i + 1] & 127u);
            if (data[i + 1] & 128)
                change_element(s, where, data[i + 2]);
            else if (leaves)
                change_leaf(s->root, 0, where % leaves, data[i + 2]);
        }
        if (cri_store_to_bytes(cx, s, &bytes, &n) == CR_OK &&
            cr_model_from_bytes(cx, "fuzz", bytes, n, &m) == CR_OK)
            ask(cx, m, t);
        else
            require(cr_error(cx)[0] != '\0');
    }
    cr_model_free(cx, m);
    cr_free(cx, bytes, n, 1);
    cri_store_free(cx, s);
    cr_table_free(cx, t);
    require(cr_ctx_memory(cx) == 0);
    cr_ctx_free(cx);
    return 0;
}
