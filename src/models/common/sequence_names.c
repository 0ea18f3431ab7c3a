/* sequence_names.c -- see sequence_names.h. */
#include "sequence_names.h"

#include <string.h>

cr_status cri_sequence_labels_join(cr_ctx *cx, const cri_sequences *of, char **out)
{
    size_t size = 1;
    for (size_t s = 0; of->names && s < of->n; s++) {
        if (strchr(of->names[s], '\n')) return CR_OK;
        size += strlen(of->names[s]) + 1;
    }
    if (!of->names) return CR_OK;
    char *text = cr_alloc(cx, size, 1), *at = text;
    if (!text) return CR_ENOMEM;
    for (size_t s = 0; s < of->n; s++) {
        size_t length = strlen(of->names[s]);
        memcpy(at, of->names[s], length);
        at[length] = '\n';
        at += length + 1;
    }
    *at = '\0';
    *out = text;
    return CR_OK;
}

cr_status cri_sequence_names_open(cr_ctx *cx, const char *opt_labels, size_t n,
                                  cri_sequence_names *out)
{
    if (!opt_labels) return CR_OK;
    out->n = n;
    out->size = strlen(opt_labels) + 1;
    out->name = cr_alloc(cx, n, sizeof *out->name);
    out->text = cr_alloc(cx, out->size, 1);
    if (!out->name || !out->text) return CR_ENOMEM;
    memcpy(out->text, opt_labels, out->size);
    char *at = out->text;
    for (size_t s = 0; s < n; s++) {
        char *end = strchr(at, '\n');
        if (!end) return CR_EDATA;
        *end = '\0';
        out->name[s] = at;
        at = end + 1;
    }
    return *at ? CR_EDATA : CR_OK;
}

void cri_sequence_names_close(cr_ctx *cx, cri_sequence_names *names)
{
    if (names->name) cr_free(cx, names->name, names->n, sizeof *names->name);
    if (names->text) cr_free(cx, names->text, names->size, 1);
    *names = (cri_sequence_names){ 0 };
}
