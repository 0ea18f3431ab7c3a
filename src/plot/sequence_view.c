/* sequence_view.c -- one sequence of a table: its rows in their order, and where they stand on the axis. */
#include "sequences.h"
#include "chart.h"
#include "data/table/table_internal.h"
#include "models/core/faces.h"

#include <math.h>
#include <string.h>

/* Which rows of which sequence are shown. */
static const char *note_of(cr_scratch *s, const cri_sequences *all, size_t shown, bool last)
{
    size_t      length = all->start[1];
    const char *which = last ? "last" : "first", *name = all->names ? all->names[0] : NULL;
    if (shown < length && all->n > 1)
        return cri_compose(s, "The %s %zu of %zu rows of the first of %zu sequences%s%s%s.", which,
                           shown, length, all->n, name ? ", '" : "", name ? name : "",
                           name ? "'" : "");
    if (shown < length) return cri_compose(s, "The %s %zu of %zu rows.", which, shown, length);
    if (all->n > 1)
        return cri_compose(s, "The first of %zu sequences%s%s%s.", all->n, name ? ", '" : "",
                           name ? name : "", name ? "'" : "");
    return NULL;
}

cr_status cri_sequence_view_open(cr_scratch *s, const cr_model *model, const cr_table *table,
                                 size_t most, bool last, cri_sequence_view *out)
{
    cr_status         st = CR_OK;
    const cr_design  *d = cr_model_get_design(model);
    cri_rows          rows = { 0 };
    cri_sequence_view v = { .title = "row of the sequence", .type = CR_REAL, .step = 1 };

    if (!d->sequences) {
        cr_fail(s->cx, CR_EUNSUPPORTED, "the model %s treats rows one by one, not in sequences",
                cr_class_name(cr_model_get_class(model)));
        CR_TRY(cr_fail_hint(s->cx, "hmm and kalman are models of sequences"));
    }
    CR_TRY(cri_rows_open(s->cx, d, table, CRI_TARGET_NONE, &rows));
    if (rows.n == 0) CR_TRY(cr_fail(s->cx, CR_EDATA, "there is no row to draw"));
    const cri_sequences *all = rows.sequences;
    const cr_column     *time = d->time ? cr_table_find(table, d->time) : NULL;
    size_t               length = all->start[1];
    v.n = length < most ? length : most;
    v.row = cr_scratch_bytes(s, v.n, sizeof *v.row);
    v.x = cr_scratch_f64(s, v.n);
    v.note = note_of(s, all, v.n, last);
    CR_TRY(s->status);
    size_t from = last ? length - v.n : 0;
    for (size_t i = 0; i < v.n; i++) {
        size_t row = all->row[from + i];
        v.row[i] = rows.index ? rows.index[row] : row;
        v.x[i] = time ? time->values[v.row[i] * time->stride] : (double)(from + i + 1);
    }
    if (time) v.title = cri_compose(s, "%s", d->time), v.type = time->type;
    double step = time ? cri_model_step(model, time->type) : NAN;
    if (time && v.n > 1) v.step = (v.x[v.n - 1] - v.x[0]) / (double)(v.n - 1);
    if (!isnan(step)) v.step = step;
    CR_TRY(s->status);
    *out = v;
done:
    cri_rows_close(s->cx, &rows);
    return st;
}

const char *cri_modelled_target(cr_scratch *s, const cr_model *model)
{
    const cr_design *d = cr_model_get_design(model);
    const char      *name = cr_design_target(d);
    return d->transform.kind == CRI_TRANSFORM_NONE
               ? name
               : cri_compose(s, "%s(%s)", cri_transform_name(d->transform.kind), name);
}
