/* renames.c -- other names for columns. */
#include "renames.h"
#include "base/list.h"

#include <stdio.h>
#include <string.h>

cr_status cri_renames_begin(cr_scratch *s, const char *opt_list, cri_renames *out)
{
    char    **items = NULL;
    size_t    n = 0;
    cr_status st = cri_list_split(s, opt_list, &items, &n);
    *out = (cri_renames){ .items = cr_scratch_bytes(s, n, sizeof *out->items), .n = n };
    if (st == CR_OK) st = s->status;
    for (size_t i = 0; i < n && st == CR_OK; i++) {
        char *equals = strchr(items[i], '=');
        if (!equals || equals == items[i] || !equals[1]) {
            cr_fail(s->cx, CR_EARG, "--rename: '%s' is not OLD=NEW", items[i]);
            return cr_fail_hint(s->cx, "for example --rename qty=quantity");
        }
        *equals = '\0';
        out->items[i] = (cri_rename){ .from = items[i],
                                      .to = equals + 1,
                                      .from_length = (size_t)(equals - items[i]) };
    }
    return st;
}

const char *cri_renames_find(cri_renames *r, const char *name, size_t length, size_t times)
{
    char   suffix[32] = "";
    size_t extra = times > 1 ? (size_t)snprintf(suffix, sizeof suffix, ".%zu", times) : 0;
    for (size_t i = 0; i < r->n; i++) {
        cri_rename *k = &r->items[i];
        if (k->from_length != length + extra || memcmp(k->from, name, length) != 0 ||
            memcmp(k->from + length, suffix, extra) != 0)
            continue;
        k->used = true;
        return k->to;
    }
    return NULL;
}

const char *cri_renames_unused(const cri_renames *r)
{
    for (size_t i = 0; i < r->n; i++)
        if (!r->items[i].used) return r->items[i].from;
    return NULL;
}
