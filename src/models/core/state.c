/* state.c -- the state of a class: checked, saved, loaded and freed by its record. */
#include "class.h"

void cri_state_free(cr_ctx *cx, const cr_model_class *c, void *state)
{
    if (!state) return;
    if (c->release) c->release(cx, state);
    cri_record_free(cx, c->state, state);
    cr_free(cx, state, 1, c->state_size);
}

cr_status cri_state_check(cr_ctx *cx, const cr_model_class *c, const void *state)
{
    const cri_member *wrong = cri_record_find_wrong(c->state, state);
    if (!wrong) return CR_OK;
    cr_fail(cx, CR_ENUMERIC, "the numbers of the model %s overflow: '%s' (%s) is outside its range",
            c->name, cri_member_file_name(wrong), wrong->help);
    return cr_fail_hint(cx, "multiply the target, and columns of very large numbers, by a power of "
                            "ten, such as 1e-100");
}

cr_status cri_state_write(cr_ctx *cx, const cr_model_class *c, const void *state, cri_store *store,
                          json_t *out)
{
    return cri_record_write(cx, c->state, state, store, out);
}

cr_status cri_state_read(cr_ctx *cx, const cr_model_class *c, const cri_store *store,
                         const json_t *in, const cr_design *design, void **out_state)
{
    cr_status st = CR_OK;
    void     *state;
    state = cr_alloc(cx, 1, c->state_size);
    if (!state) return CR_ENOMEM;
    CR_TRY(cri_record_read(cx, c->state, store, in, state));
    if (c->ready) {
        st = c->ready(cx, state, design);
        if (st == CR_EDATA)
            st = cr_fail(cx, CR_EDATA, "%s: the state of %s does not fit its design",
                         cri_store_source(store), c->name);
        if (st == CR_EARG)
            st = cr_fail(cx, CR_EDATA, "%s: %s", cri_store_source(store), cr_error(cx));
        CR_TRY(st);
    }
    *out_state = state;
    state = NULL;
done:
    cri_state_free(cx, c, state);
    return st;
}
