/* kalman_file.c -- a model given by its matrices, in JSON.
 *   { "T": [[...]], "Q": [[...]], "Z": [...], "H": 0.5, "mean": [...], "cov": [[...]] }
 * in the letters of Durbin & Koopman, or F, Q, H, R for the same four in those of the engineers.  mean and cov are of
 * the state of the first row, or, with "before": true, of the state a step before it.  Without cov the start
 * is unknown in all states.  An option that begins with a brace is the JSON itself. */
#include "kalman.h"
#include "base/context_internal.h"
#include "base/file.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

enum { MOST_BYTES = 1 << 28 };

static cr_status fail_matrix(cr_ctx *cx, const char *path, const char *name, const char *what)
{
    return cr_fail(cx, CR_EDATA, "%s: \"%s\" %s", path, name, what);
}

/* The numbers of a list, or of a list of lists, row by row: exactly `rows` of `cols`. */
static cr_status read_numbers(cr_ctx *cx, const char *path, const char *name, const json_t *from,
                              size_t rows, size_t cols, double *out)
{
    char what[96];
    snprintf(what, sizeof what, "is not %zu x %zu numbers", rows, cols);
    if (rows == 1 && cols == 1 && json_is_number(from)) {
        *out = json_number_value(from);
        return CR_OK;
    }
    bool flat = rows == 1 && json_is_array(from) && !json_is_array(json_array_get(from, 0));
    if (!json_is_array(from) || json_array_size(from) != (flat ? cols : rows))
        return fail_matrix(cx, path, name, what);
    for (size_t i = 0; i < rows; i++) {
        const json_t *row = flat ? from : json_array_get(from, i);
        if (!json_is_array(row) || json_array_size(row) != cols)
            return fail_matrix(cx, path, name, what);
        for (size_t j = 0; j < cols; j++) {
            const json_t *cell = json_array_get(row, j);
            if (!json_is_number(cell)) return fail_matrix(cx, path, name, what);
            out[i * cols + j] = json_number_value(cell);
        }
    }
    return CR_OK;
}

/* A covariance: symmetric, and no variance below 0. */
static cr_status check_covariance(cr_ctx *cx, const char *path, const char *name, const double *A,
                                  size_t m)
{
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++) {
            double bound = sqrt(fmax(A[i * m + i], 0) * fmax(A[j * m + j], 0));
            if (!(A[i * m + i] >= 0) || fabs(A[i * m + j] - A[j * m + i]) > 1e-9 * bound ||
                fabs(A[i * m + j]) > bound * (1 + 1e-9))
                return fail_matrix(cx, path, name, "is not a covariance");
        }
    return CR_OK;
}

static cr_status read_start(cr_ctx *cx, const char *path, const json_t *root, kalman_state *m)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    size_t            n = m->m;
    const json_t     *mean = json_object_get(root, "mean"), *cov = json_object_get(root, "cov");
    double           *work = cr_scratch_matrix(&s, n, n);
    cri_kalman_system system;
    CR_TRY(s.status);
    if (mean) CR_TRY(read_numbers(cx, path, "mean", mean, 1, n, m->start));
    if (mean && !cov) CR_TRY(fail_matrix(cx, path, "mean", "has no \"cov\" beside it"));
    for (size_t i = 0; i < n; i++) m->diffuse[i] = cov ? 0 : 1;
    if (!cov) goto done;
    CR_TRY(read_numbers(cx, path, "cov", cov, n, n, m->P1));
    CR_TRY(check_covariance(cx, path, "cov", m->P1, n));
    if (!json_is_true(json_object_get(root, "before"))) goto done;
    CR_TRY(cri_kalman_new(&s, n, 1, 0, &system));
    memcpy(system.T, m->T, n * n * sizeof(double));
    cri_kalman_pack(&system);
    cri_kalman_move(&system.forward, n, m->start, work);
    cri_kalman_carry(&system.forward, n, m->P1, m->Q, false, work);
done:
    cr_scratch_end(&s);
    return st;
}

static const char *name_at(const void *list, size_t i) { return ((const char *const *)list)[i]; }

/* A name that is none would leave out what it should have said. */
static cr_status check_names(cr_ctx *cx, const char *path, const json_t *root,
                             const char *const *names)
{
    enum { NAMES = 7 };
    const char   *list[NAMES] = { names[0], names[1], names[2], names[3], "mean", "cov", "before" };
    const json_t *before = json_object_get(root, "before");
    for (void *at = json_object_iter((json_t *)(uintptr_t)root); at;
         at = json_object_iter_next((json_t *)(uintptr_t)root, at)) {
        const char *name = json_object_iter_key(at);
        size_t      i = 0;
        while (i < NAMES && strcmp(list[i], name) != 0) i++;
        if (i < NAMES) continue;
        cr_fail(cx, CR_EDATA, "%s: \"%s\" is no part of a model", path, name);
        return cr_fail_nearest(cx, name, "parts", NAMES, name_at, list);
    }
    if (before && !json_is_boolean(before))
        return cr_fail(cx, CR_EDATA, "%s: \"before\" must be true or false", path);
    return CR_OK;
}

static cr_status read_model(cr_ctx *cx, const char *path, const json_t *root, kalman_state *m)
{
    cr_status     st = CR_OK;
    bool          letters = json_object_get(root, "F") != NULL;
    const char   *names[] = { letters ? "F" : "T", "Q", letters ? "H" : "Z", letters ? "R" : "H" };
    const json_t *part[4];
    for (size_t k = 0; k < 4; k++) {
        part[k] = json_object_get(root, names[k]);
        if (part[k]) continue;
        cr_fail(cx, CR_EDATA, "%s: \"%s\" is not there", path, names[k]);
        CR_TRY(cr_fail_hint(
            cx, "a model is { \"T\": ..., \"Q\": ..., \"Z\": ..., \"H\": ... }, or F, Q, H and R"));
    }
    CR_TRY(check_names(cx, path, root, names));
    size_t n = json_array_size(part[0]);
    if (n == 0 || n > CRI_KALMAN_MOST_STATES)
        CR_TRY(fail_matrix(cx, path, names[0], "is not a square matrix of 1 to 1000 rows"));
    if (json_array_size(part[2]) > 1 && json_is_array(json_array_get(part[2], 0)))
        CR_TRY(
            fail_matrix(cx, path, names[2], "has more than one row, but the series is one column"));
    m->m = n;
    m->T = cr_alloc(cx, n * n, sizeof(double));
    m->Q = cr_alloc(cx, n * n, sizeof(double));
    m->P1 = cr_alloc(cx, n * n, sizeof(double));
    m->Z = cr_alloc(cx, n, sizeof(double));
    m->start = cr_alloc(cx, n, sizeof(double));
    m->diffuse = cr_alloc(cx, n, sizeof(double));
    if (!m->T || !m->Q || !m->P1 || !m->Z || !m->start || !m->diffuse) CR_TRY(CR_ENOMEM);
    CR_TRY(read_numbers(cx, path, names[0], part[0], n, n, m->T));
    CR_TRY(read_numbers(cx, path, names[1], part[1], n, n, m->Q));
    CR_TRY(read_numbers(cx, path, names[2], part[2], 1, n, m->Z));
    CR_TRY(read_numbers(cx, path, names[3], part[3], 1, 1, &m->h));
    CR_TRY(check_covariance(cx, path, names[1], m->Q, n));
    CR_TRY(check_covariance(cx, path, names[3], &m->h, 1));
    CR_TRY(read_start(cx, path, root, m));
done:
    return st;
}

cr_status cri_kalman_read_matrices(cr_ctx *cx, const char *text, kalman_state *m)
{
    cr_status    st = CR_OK;
    bool         itself = *text == '{';
    const char  *path = itself ? "--model" : text;
    char        *bytes = NULL;
    size_t       size = 0;
    json_t      *root = NULL;
    json_error_t error;
    if (!itself) CR_TRY(cri_file_load(cx, path, MOST_BYTES, &bytes, &size));
    root = itself ? json_loads(text, JSON_REJECT_DUPLICATES, &error)
                  : json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &error);
    if (!root) CR_TRY(cr_fail(cx, CR_EDATA, "%s:%d: not JSON: %s", path, error.line, error.text));
    if (!json_is_object(root))
        CR_TRY(cr_fail(cx, CR_EDATA, "%s: not a JSON object with the matrices of a model", path));
    CR_TRY(read_model(cx, path, root, m));
    m->shift = 0;
    m->scale = 1;
    m->longest = 4;
done:
    json_decref(root);
    cr_free(cx, bytes, size, 1);
    return st;
}
