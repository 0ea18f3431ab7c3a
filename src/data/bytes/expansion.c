/* expansion.c -- the bound on what packed data may become. */
#include "expansion.h"
#include "base/context_internal.h"

cr_status cri_check_expansion(cr_ctx *cx, const char *source, uint64_t packed, uint64_t unpacked)
{
    const uint64_t harmless = (uint64_t)1 << 29, ratio = 100;
    if (unpacked <= harmless || unpacked / ratio <= packed || cri_memory_is_limited(cx))
        return CR_OK;
    cr_fail(cx, CR_ENOMEM,
            "%s: %llu packed bytes expand to %llu or more: perhaps made to fill the memory", source,
            (unsigned long long)packed, (unsigned long long)unpacked);
    return cr_fail_hint(cx, "if that is intended, allow it with a limit: --memory-limit 8G");
}
