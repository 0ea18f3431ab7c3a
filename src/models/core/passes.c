/* passes.c -- going through a stream again and again. */
#include "passes.h"
#include "base/context_internal.h"
#include "data/stream/stream_internal.h"

cr_status cri_passes_each(cr_ctx *cx, cri_passes *p, cri_leaf_fn *body, void *arg)
{
    cr_status st = CR_OK;
    cr_table *block = NULL;
    cri_rows  rows = { 0 };
    bool      again = p->made > 0;

    p->rows = 0;
    CR_TRY(cri_stream_rewind(cx, p->stream));
    for (;;) {
        bool any;
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(cr_stream_next(cx, p->stream, &block));
        if (!block) break;
        if (again) cri_hold_warnings(cx);
        CR_TRY(cri_model_open_rows(cx, p->model, block, &any, again, &rows));
        if (any) CR_TRY(body(cx, arg, &rows));
        p->rows += rows.n;
        cri_rows_close(cx, &rows);
        rows = (cri_rows){ 0 };
        cr_table_free(cx, block);
        block = NULL;
    }
    p->made++;
done:
    if (again) cri_hold_warnings(cx); /* and forgotten */
    cri_rows_close(cx, &rows);
    cr_table_free(cx, block);
    return st;
}
