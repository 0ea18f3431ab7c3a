/* numbered.c -- see numbered.h. */
#include "numbered.h"

#include <stdio.h>
#include <stdlib.h>

enum { NAME_SIZE = 24 };

cr_status cri_read_numbers(cr_ctx *cx, const char *model, const char *option, const char *what,
                           const char *text, size_t *from, size_t *to)
{
    char         *end = NULL;
    unsigned long a = strtoul(text, &end, 10), b = a;
    bool          good = end != text && text[0] != '-' && text[0] != '+';
    if (good && *end == ':') {
        const char *second = end + 1;
        b = strtoul(second, &end, 10);
        good = end != second && second[0] != '-' && second[0] != '+';
    }
    if (good && *end == '\0' && a >= 1 && b >= a && b <= CRI_MOST_NUMBERED) {
        *from = a, *to = b;
        return CR_OK;
    }
    cr_fail(cx, CR_EARG,
            "%s: --%s is '%s', but must be a whole number from 1 to %d, or two such with a colon",
            model, option, text, CRI_MOST_NUMBERED);
    return cr_fail_hint(cx, "--%s 3 for three %s, --%s 1:9 to choose among nine numbers", option,
                        what, option);
}

cr_status cri_cluster_names_new(cr_ctx *cx, size_t k, char **text, const char ***names)
{
    *text = cr_alloc(cx, k, NAME_SIZE);
    *names = cr_alloc(cx, k, sizeof **names);
    if (!*text || !*names) return CR_ENOMEM;
    for (size_t c = 0; c < k; c++) {
        snprintf(*text + c * NAME_SIZE, NAME_SIZE, "%zu", c + 1);
        (*names)[c] = *text + c * NAME_SIZE;
    }
    return CR_OK;
}

void cri_cluster_names_free(cr_ctx *cx, size_t k, char **text, const char ***names)
{
    cr_free(cx, *text, k, NAME_SIZE);
    cr_free(cx, *names, k, sizeof **names);
    *text = NULL, *names = NULL;
}
