/* passes.c -- going through a stream again and again. */
#include "passes.h"
#include "whole_sequences.h"
#include "base/context_internal.h"
#include "base/scratch.h"
#include "data/stream/stream_internal.h"

cr_status cri_passes_each(cr_ctx *cx, cri_passes *p, cri_leaf_fn *body, void *arg)
{
    cr_status st = CR_OK;
    cr_table *block = NULL;
    cri_rows  rows = { 0 };
    bool      again = p->made > 0;

    cri_whole_sequences whole = { .stream = p->stream,
                                  .by = p->model->design->sequence,
                                  .check = !again };
    p->rows = 0;
    CR_TRY(cri_stream_rewind(cx, p->stream));
    for (;;) {
        bool any;
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(cri_whole_sequences_next(cx, &whole, &block));
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
    cri_whole_sequences_close(cx, &whole);
    return st;
}

static cr_status measure_block(cr_ctx *cx, void *arg, const cri_rows *rows)
{
    return cri_terms_measure(cx, rows, arg);
}

cr_status cri_passes_centre(cr_ctx *cx, cri_passes *p, cri_centring how, cr_design *d)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    cri_term_moments *terms = cr_scratch_bytes(&s, d->p, sizeof *terms);
    CR_TRY(s.status);
    if (!cri_design_has_powers(d)) goto done;
    CR_TRY(cri_passes_each(cx, p, measure_block, terms));
    CR_TRY(cri_centre_powers(cx, d, how, terms));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_passes_standardise(cr_ctx *cx, cri_passes *p, cr_design *d)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    cri_term_moments *terms = cr_scratch_bytes(&s, d->p, sizeof *terms);
    bool              numbers = false;
    CR_TRY(s.status);
    for (size_t j = 0; j < d->p; j++) numbers = numbers || !cri_design_is_code(d, j);
    if (!numbers) goto done;
    CR_TRY(cri_passes_each(cx, p, measure_block, terms));
    CR_TRY(cri_terms_standardise(cx, d, terms));
done:
    cr_scratch_end(&s);
    return st;
}
