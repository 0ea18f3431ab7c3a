/* bn_structure.c -- which arcs a network has. */
#include "bn.h"
#include "base/context_internal.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

static cr_status arcs_from_target(cr_ctx *cx, cri_bn *m)
{
    cr_status st = CR_OK;
    if (m->target == CR_NONE) {
        cr_fail(cx, CR_EARG, "--structure naive needs a target, from which the arcs lead");
        return cr_fail_hint(cx, "name it with --target COLUMN");
    }
    for (size_t v = 0; v < cr_network_size(m->net); v++)
        if (v != m->target) CR_TRY(cr_network_set_parents(cx, m->net, v, 1, &m->target));
done:
    return st;
}

/* What the model keeps of its arcs: where they are from, and room for what is known of them. */
static cr_status note_arcs(cr_ctx *cx, const char *how, cri_bn *m)
{
    cr_status st = CR_OK;
    for (size_t v = 0; v < cr_network_size(m->net); v++) {
        size_t n;
        cr_network_parents(m->net, v, &n);
        m->arcs += n;
    }
    m->how = cri_string_copy(cx, how);
    m->strength = cr_alloc(cx, m->arcs, sizeof *m->strength);
    m->direction = cr_alloc(cx, m->arcs, sizeof *m->direction);
    if (!m->how || !m->strength || !m->direction) CR_TRY(CR_ENOMEM);
    for (size_t i = 0; i < m->arcs; i++) m->strength[i] = m->direction[i] = NAN;
done:
    return st;
}

cr_status cri_bn_find_structure(cr_ctx *cx, const cri_rows *rows, const cri_bn_options *o,
                                const cri_bn_rows *data, uint64_t seed, cri_bn *m,
                                cr_report *report)
{
    cr_status st = CR_OK;
    (void)rows, (void)data, (void)seed, (void)report;
    if (strcmp(o->structure, "naive") == 0) CR_TRY(arcs_from_target(cx, m));
    CR_TRY(note_arcs(cx, o->structure, m));
done:
    return st;
}
