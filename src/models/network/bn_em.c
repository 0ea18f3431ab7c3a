/* bn_em.c -- tables from rows with gaps. */
#include "bn.h"

cr_status cri_bn_fit_em(cr_ctx *cx, const cri_rows *rows, const cri_bn_options *o,
                        const cri_bn_rows *data, uint64_t seed, cri_bn *m, cr_report *report)
{
    (void)rows, (void)o, (void)data, (void)seed, (void)m, (void)report;
    return cr_fail(cx, CR_EUNSUPPORTED, "bn: rows with gaps are not taken yet");
}
