/* coordinates.c -- predict --coordinates: where the rows stand in the space a model works in. */
#include "base/scratch.h"
#include "cli.h"

#include <math.h>

/* One row Z [q] in CSV or text; nothing where it was left out. */
static void print_row(cli *c, const double *Z, size_t q)
{
    char number[32];
    for (size_t j = 0; j < q; j++) {
        if (c->format == FORMAT_CSV && j) out_text(c, ",");
        if (isnan(Z[j])) continue;
        out_text(c, c->format == FORMAT_CSV ? "%s" : "  %12s",
                 out_number(Z[j], c->format == FORMAT_CSV, number));
    }
    out_text(c, "\n");
}

static json_t *json_row(const double *Z, size_t q, const char *const *names)
{
    json_t *row = json_object(), *at = json_object();
    for (size_t j = 0; j < q; j++)
        json_object_set_new(at, names[j], isfinite(Z[j]) ? json_real(Z[j]) : json_null());
    json_object_set_new(row, "coordinates", at);
    return row;
}

static cr_status print_json(cli *c, const cr_model *m, double interval, const double *Z, size_t n,
                            size_t q, const char *const *names)
{
    cr_status st = CR_OK;
    json_t   *root = json_object();
    json_object_set_new(root, "model", json_string(cr_class_name(cr_model_get_class(m))));
    json_object_set_new(root, "rows", json_integer((json_int_t)n));
    json_object_set_new(root, "interval", json_real(interval));
    json_object_set_new(root, "seed", json_integer((json_int_t)cr_model_get_seed(m)));
    out_json_begin(c, "predict", root, "predictions");
    for (size_t i = 0; i < n; i++) {
        if (i % 4096 == 0) CR_TRY(cr_check_interrupt(c->cx));
        json_t *row = json_row(Z + i * q, q, names);
        out_json_item(c, row, i == 0);
        json_decref(row);
    }
    out_json_end(c);
done:
    json_decref(root);
    return st;
}

cr_status cli_print_coordinates(cli *c, const cr_model *m, const cr_table *t, double interval)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(c->cx);
    size_t             q = 0, n = cr_table_rows(t);
    const char *const *names = cr_transform_labels(m, &q);
    double            *Z = cr_scratch_matrix(&s, n, q);

    CR_TRY(s.status);
    CR_TRY(cr_transform(c->cx, m, t, Z));
    CR_TRY(cli_check_strict(c));
    CR_TRY(out_open(c, c->global.output));
    if (c->format == FORMAT_JSON) {
        CR_TRY(print_json(c, m, interval, Z, n, q, names));
        goto done;
    }
    for (size_t j = 0; j < q; j++)
        out_text(c, c->format == FORMAT_CSV ? "%s%s" : "%s  %12s",
                 j && c->format == FORMAT_CSV ? "," : "", names[j]);
    out_text(c, "\n");
    for (size_t i = 0; i < n; i++) {
        if (i % 4096 == 0) CR_TRY(cr_check_interrupt(c->cx));
        print_row(c, Z + i * q, q);
    }
done:
    cr_scratch_end(&s);
    return st;
}
