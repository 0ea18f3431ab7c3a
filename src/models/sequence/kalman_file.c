/* kalman_file.c -- a model given by its matrices, in JSON.
 *   { "T": [[...]], "Q": [[...]], "Z": [...], "H": 0.5, "mean": [...], "cov": [[...]] }
 * in the letters of Durbin & Koopman, or F, Q, H, R for the same four in those of the engineers.  mean and cov are of
 * the state of the first row, or, with "before": true, of the state a step before it.  Without cov the start
 * is unknown in all states.  Of several columns Z has a row for each, the target's first, and H is their covariance,
 * or the list of their variances.  Where they are correlated the noise becomes states of its own, the last ones.  An option
 * that begins with a brace is the JSON itself. */
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

/* A [n x n] as a block of B [m x m] on its diagonal. */
static void put_corner(const double *A, size_t n, size_t at, size_t m, double *B)
{
    for (size_t i = 0; i < n; i++) memcpy(B + (at + i) * m + at, A + i * n, n * sizeof *B);
}

/* Mean and covariance of the first n states, the others being noise. */
static cr_status read_start(cr_ctx *cx, const char *path, const json_t *root, size_t n,
                            kalman_state *m)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    const json_t     *mean = json_object_get(root, "mean"), *cov = json_object_get(root, "cov");
    double           *work = cr_scratch_matrix(&s, m->m, m->m);
    cri_kalman_system system;
    CR_TRY(s.status);
    if (mean) CR_TRY(read_numbers(cx, path, "mean", mean, 1, n, m->start));
    if (mean && !cov) CR_TRY(fail_matrix(cx, path, "mean", "has no \"cov\" beside it"));
    for (size_t i = 0; i < n; i++) m->diffuse[i] = cov ? 0 : 1;
    if (!cov) goto done;
    CR_TRY(read_numbers(cx, path, "cov", cov, n, n, work));
    CR_TRY(check_covariance(cx, path, "cov", work, n));
    put_corner(work, n, 0, m->m, m->P1);
    if (!json_is_true(json_object_get(root, "before"))) goto done;
    CR_TRY(cri_kalman_new(&s, m->m, 1, 0, &system));
    memcpy(system.T, m->T, m->m * m->m * sizeof(double));
    cri_kalman_pack(&system);
    cri_kalman_move(&system.forward, m->m, m->start, work);
    cri_kalman_carry(&system.forward, m->m, m->P1, m->Q, false, work);
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

/* H [p x p] from a number, the variances or the covariance of the columns. */
static cr_status read_noise(cr_ctx *cx, const char *path, const char *name, const json_t *from,
                            size_t p, double *H)
{
    cr_status st = CR_OK;
    bool      list = p > 1 && json_is_array(from) && !json_is_array(json_array_get(from, 0));
    memset(H, 0, p * p * sizeof *H);
    CR_TRY(read_numbers(cx, path, name, from, list ? 1 : p, p, H));
    for (size_t i = p; list && i-- > 1;) H[i * (p + 1)] = H[i], H[i] = 0;
    CR_TRY(check_covariance(cx, path, name, H, p));
done:
    return st;
}

static bool is_diagonal(const double *A, size_t n)
{
    bool diagonal = true;
    for (size_t i = 0; i < n * n; i++) diagonal = diagonal && (i % (n + 1) == 0 || A[i] == 0);
    return diagonal;
}

/* The arrays of m->m states. */
static cr_status make_room(cr_ctx *cx, kalman_state *m)
{
    size_t square = m->m * m->m;
    m->T = cr_alloc(cx, square, sizeof(double));
    m->Q = cr_alloc(cx, square, sizeof(double));
    m->P1 = cr_alloc(cx, square, sizeof(double));
    m->Z = cr_alloc(cx, m->m, sizeof(double));
    m->start = cr_alloc(cx, m->m, sizeof(double));
    m->diffuse = cr_alloc(cx, m->m, sizeof(double));
    if (m->beside > 0) m->beside_Z = cr_alloc(cx, m->beside * m->m, sizeof(double));
    if (m->beside > 0) m->beside_h = cr_alloc(cx, m->beside, sizeof(double));
    bool there = m->T && m->Q && m->P1 && m->Z && m->start && m->diffuse;
    return there && (m->beside == 0 || (m->beside_Z && m->beside_h)) ? CR_OK : CR_ENOMEM;
}

/* Noise that is correlated becomes states that start anew at each row. */
static void keep_noise(const double *H, kalman_state *m)
{
    size_t p = m->beside + 1, n = m->m - m->noise;
    for (size_t c = 0; c < p; c++) {
        double *Z = c == 0 ? m->Z : m->beside_Z + (c - 1) * m->m;
        double *h = c == 0 ? &m->h : &m->beside_h[c - 1];
        *h = m->noise > 0 ? 0 : H[c * (p + 1)];
        if (m->noise > 0) Z[n + c] = 1;
    }
    if (m->noise == 0) return;
    put_corner(H, p, n, m->m, m->Q);
    put_corner(H, p, n, m->m, m->P1);
}

static cr_status read_parts(cr_ctx *cx, const char *path, const json_t *root,
                            const char *const *names, const json_t *const *part, kalman_state *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = json_array_size(part[0]), p = m->beside + 1;
    if (n == 0 || n + p > CRI_KALMAN_MOST_STATES)
        CR_TRY(fail_matrix(cx, path, names[0], "is not a square matrix of 1 to 1000 rows"));
    if (p == 1 && json_array_size(part[2]) > 1 && json_is_array(json_array_get(part[2], 0))) {
        fail_matrix(cx, path, names[2], "has more than one row, but the series is one column");
        CR_TRY(cr_fail_hint(cx, "--beside names the other columns"));
    }
    double *A = cr_scratch_matrix(&s, n, n), *Z = cr_scratch_matrix(&s, p, n);
    double *H = cr_scratch_matrix(&s, p, p);
    CR_TRY(s.status);
    CR_TRY(read_noise(cx, path, names[3], part[3], p, H));
    m->noise = is_diagonal(H, p) ? 0 : p;
    m->m = n + m->noise;
    CR_TRY(make_room(cx, m));
    CR_TRY(read_numbers(cx, path, names[0], part[0], n, n, A));
    put_corner(A, n, 0, m->m, m->T);
    CR_TRY(read_numbers(cx, path, names[1], part[1], n, n, A));
    CR_TRY(check_covariance(cx, path, names[1], A, n));
    put_corner(A, n, 0, m->m, m->Q);
    CR_TRY(read_numbers(cx, path, names[2], part[2], p, n, Z));
    memcpy(m->Z, Z, n * sizeof(double));
    for (size_t c = 1; c < p; c++)
        memcpy(m->beside_Z + (c - 1) * m->m, Z + c * n, n * sizeof(double));
    keep_noise(H, m);
    CR_TRY(read_start(cx, path, root, n, m));
done:
    cr_scratch_end(&s);
    return st;
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
    CR_TRY(read_parts(cx, path, root, names, part, m));
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
    for (size_t c = 0; c < m->beside; c++) m->beside_shift[c] = 0, m->beside_scale[c] = 1;
    m->longest = 4;
done:
    json_decref(root);
    cr_free(cx, bytes, size, 1);
    return st;
}
