/* dist_fit.c -- the data of dist --fit: a column, or several for a distribution of vectors, whose
 * rows are the points. */
#include "dist_job.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* --- columns --------------------------------------------------------------------------------- */

static const char *column_name(const void *t, size_t i) { return cr_table_column(t, i)->name; }

static cr_status no_column(dist_job *j, const cr_table *t, const char *name)
{
    cr_fail(j->c->cx, CR_EDATA, "column '%s' not found in %s", name, cr_table_source(t));
    return cr_fail_nearest(j->c->cx, name, "columns", cr_table_columns(t), column_name, t);
}

/* Several columns, and a distribution of one variable. */
static cr_status fail_many(dist_job *j, const char *names)
{
    cr_fail(j->c->cx, CR_EARG, "--fit: %s is a distribution of one variable, but '%s' names more",
            cr_dist_name(j->dist), names);
    return cr_fail_hint(j->c->cx,
                        "name one column, or use a distribution of vectors: credence dist mvn");
}

static cr_status which_column(dist_job *j, const cr_table *t)
{
    size_t n = cr_table_columns(t);
    cr_fail(j->c->cx, CR_EARG, "%s has %zu columns: which one?", cr_table_source(t), n);
    cr_fail_nearest(j->c->cx, "", "columns", n, column_name, t);
    return cr_fail_hint(j->c->cx, "--fit %s:%s", cr_table_source(t), n ? column_name(t, 0) : "x");
}

static cr_status check_numbers(dist_job *j, const cr_table *t, const cr_column *col)
{
    if (col->type != CR_CATEGORY) return CR_OK;
    return cr_fail(j->c->cx, CR_EDATA, "column '%s' of %s does not contain numbers", col->name,
                   cr_table_source(t));
}

/* The columns that the comma-separated names choose, changing `names`; all of them without names,
 * which for one variable must be one. */
static cr_status choose_columns(dist_job *j, const cr_table *t, char *names, const cr_column **out,
                                size_t *out_n)
{
    cr_status st = CR_OK;
    size_t    n = 0, all = cr_table_columns(t);
    if (!names && all != 1 && !cr_dist_is_vector(j->dist)) CR_TRY(which_column(j, t));
    for (size_t i = 0; !names && i < all; i++) out[n++] = cr_table_column(t, i);
    if (names && !cr_dist_is_vector(j->dist)) { /* one name, whatever is in it */
        out[n++] = cr_table_find(t, names);
        if (!out[0]) CR_TRY(strchr(names, ',') ? fail_many(j, names) : no_column(j, t, names));
        names = NULL;
    }
    for (char *rest; names; names = rest) {
        rest = strchr(names, ',');
        if (rest) *rest++ = '\0';
        out[n] = cr_table_find(t, names);
        if (!out[n++]) CR_TRY(no_column(j, t, names));
    }
    for (size_t i = 0; i < n; i++) CR_TRY(check_numbers(j, t, out[i]));
    *out_n = n;
done:
    return st;
}

/* x [*rows x n]: the rows of these columns that are complete; those that are not are told of. */
static cr_status read_rows(dist_job *j, const cr_table *t, const cr_column *const *column, size_t n,
                           double **out, size_t *rows)
{
    size_t  all = cr_table_rows(t), kept = 0;
    double *x = cr_scratch_matrix(&j->s, all, n);
    for (size_t i = 0; x && i < all; i++) {
        bool whole = true;
        for (size_t k = 0; k < n; k++) {
            x[kept * n + k] = column[k]->values[i * column[k]->stride];
            whole = whole && !isnan(x[kept * n + k]);
        }
        kept += whole;
    }
    if (x && kept < all && n == 1)
        cr_log(j->c->cx, CR_LOG_WARNING, "%zu missing values of '%s' are left out", all - kept,
               column[0]->name);
    else if (x && kept < all)
        cr_log(j->c->cx, CR_LOG_WARNING, "%zu rows with missing values are left out", all - kept);
    *out = x, *rows = kept;
    return j->s.status;
}

/* --- sizes ----------------------------------------------------------------------------------- */

/* Room for n parameters, those that are given kept. */
static cr_status reserve(dist_job *j, size_t n)
{
    double *v = cr_scratch_f64(&j->s, n);
    for (size_t i = 0; v && i < n; i++) v[i] = NAN;
    for (size_t i = 0; v && cr_dist_parameter(j->dist, i); i++) /* each has had one place so far */
        if (cr_dist_parameter(j->dist, i)->given && i < n) v[i] = j->v[i];
    j->v = v, j->n = n;
    return j->s.status;
}

/* With categories not given, there are as many as the data show. */
static cr_status size_categories(dist_job *j, const double *x, size_t n)
{
    double top = 0;
    if (cr_dist_parameter(j->dist, 0)->shape != CR_SHAPE_VECTOR || j->n != 1) return CR_OK;
    for (size_t i = 0; i < n; i++) top = fmax(top, x[i]);
    if (top > 1e6)
        return cr_fail(j->c->cx, CR_EDATA, "%s: a value is %g", cr_dist_name(j->dist), top);
    return reserve(j, (size_t)top + 1);
}

/* As many parameters as points of this many columns have. */
static cr_status size_vectors(dist_job *j, const char *source, size_t columns)
{
    size_t n = cr_dist_parameters_for(j->dist, columns);
    if (n > 0) return reserve(j, n);
    cr_fail(j->c->cx, CR_EDATA, "%s: a point cannot have %zu entries, as the rows of %s do",
            cr_dist_name(j->dist), columns, source);
    return cr_fail_hint(j->c->cx, "name the columns: --fit %s:a,b,c", source);
}

/* --- fit ------------------------------------------------------------------------------------- */

/* "mean", "mean 2", "covariance 1,2"; the one vector of a distribution of one variable counts from
 * 0, as its values do. */
static void add_fitted(dist_job *j)
{
    size_t at = 0, d = dist_dimension(j->dist, j->n);
    bool   vector = cr_dist_is_vector(j->dist);
    for (size_t i = 0; cr_dist_parameter(j->dist, i); i++) {
        const cr_dist_param *p = cr_dist_parameter(j->dist, i);
        size_t size = p->shape == CR_SHAPE_SCALAR ? 1 : p->shape == CR_SHAPE_VECTOR ? d : d * d;
        for (size_t k = 0; k < size; k++) {
            char label[96];
            if (p->shape == CR_SHAPE_SCALAR)
                snprintf(label, sizeof label, "%s", p->name);
            else if (!vector)
                snprintf(label, sizeof label, "%zu", k);
            else if (p->shape == CR_SHAPE_VECTOR)
                snprintf(label, sizeof label, "%s %zu", p->name, k + 1);
            else
                snprintf(label, sizeof label, "%s %zu,%zu", p->name, k / d + 1, k % d + 1);
            dist_add_row(j, "parameter", label, j->v[at++]);
        }
    }
}

/* FILE:COLUMNS into its two parts, both in *path; no columns when the whole is a file. */
static cr_status split_source(dist_job *j, char **path, char **columns)
{
    const char *text = j->o->fit, *colon = strrchr(text, ':');
    *path = cr_scratch_bytes(&j->s, strlen(text) + 1, 1);
    *columns = NULL;
    if (!*path) return j->s.status;
    memcpy(*path, text, strlen(text) + 1);
    if (!colon || access(*path, F_OK) == 0 ||
        strncmp(*path, "sqlite:", (size_t)(colon - text) + 1) == 0)
        return CR_OK;
    (*path)[colon - text] = '\0';
    *columns = *path + (colon - text) + 1;
    return CR_OK;
}

cr_status dist_fit(dist_job *j)
{
    cr_status         st = CR_OK;
    cr_table         *t = NULL;
    const cr_column **column;
    double           *x = NULL, loglik = 0;
    size_t            n = 0, columns = 0;
    char             *path = NULL, *names = NULL;
    bool              vector = cr_dist_is_vector(j->dist);
    CR_TRY(split_source(j, &path, &names));
    CR_TRY(cr_table_read(j->c->cx, path, &j->c->read, &t));
    column = cr_scratch_bytes(&j->s, cr_table_columns(t) + strlen(j->o->fit) + 1, sizeof *column);
    CR_TRY(j->s.status);
    CR_TRY(choose_columns(j, t, names, column, &columns));
    CR_TRY(read_rows(j, t, column, columns, &x, &n));
    CR_TRY(vector ? size_vectors(j, cr_table_source(t), columns) : size_categories(j, x, n));
    CR_TRY((vector ? cr_dist_vector_fit : cr_dist_fit)(j->c->cx, j->dist, x, NULL, n, j->v, j->n,
                                                       &loglik));
    cri_put_count(j->r.object, "rows", n);
    add_fitted(j);
    dist_add_number(j, "log_likelihood", loglik);
done:
    cr_table_free(j->c->cx, t);
    return st;
}
