/* program_names.c -- which quantities of a program are kept, and what their entries are called. */
#include "base/context_internal.h"
#include "program.h"

#include <stdio.h>
#include <string.h>

/* What follows from parameters row by row is as long as the data, and can be had again from the draws. */
enum { MOST_DERIVED = 100 };

static bool is_kept(const cri_program_quantity *q) { return q->parameter || q->n <= MOST_DERIVED; }

/* A text that goes on. */
typedef struct pen {
    char  *at; /* NULL: only measures */
    size_t used;
} pen;

static void put(pen *p, const char *text)
{
    for (; *text; text++, p->used++)
        if (p->at)
            p->at[p->used] = (char)(*text == '\n' ? ' ' : *text); /* names are cut at line ends */
}

/* theta[A], theta[2,3]: entry i, the last index fastest. */
static void put_entry(pen *p, const cri_program_quantity *q, size_t i)
{
    size_t index[CRI_VALUE_DIMS], rest = i;
    char   number[32];
    for (unsigned k = q->dims; k-- > 0; rest /= q->dim[k]) index[k] = rest % q->dim[k];
    put(p, q->name);
    for (unsigned k = 0; k < q->dims; k++) {
        put(p, k ? "," : "[");
        snprintf(number, sizeof number, "%zu", index[k] + 1);
        put(p, k == 0 && q->levels ? q->levels[index[0]] : number);
    }
    if (q->dims) put(p, "]");
}

static void put_names(pen *p, const cri_bound *bound)
{
    for (size_t k = 0; k < bound->n_quantities; k++) {
        const cri_program_quantity *q = &bound->quantity[k];
        for (size_t i = 0; is_kept(q) && i < q->n; i++) {
            put_entry(p, q, i);
            if (p->at) p->at[p->used] = '\n';
            p->used++;
        }
    }
}

cr_status cri_program_choose(cr_ctx *cx, const cri_bound *bound, cr_scratch *s, cri_slot **out_slot,
                             cri_program *out)
{
    cr_status st = CR_OK;
    pen       measured = { 0 }, written = { 0 };
    size_t    n = 0;
    for (size_t k = 0; k < bound->n_quantities; k++) {
        const cri_program_quantity *q = &bound->quantity[k];
        if (is_kept(q))
            out->n += q->n;
        else
            cr_log(cx, CR_LOG_INFO,
                   "'%s' has %zu values, which are not kept: they follow from the others", q->name,
                   q->n);
    }
    if (out->n == 0)
        CR_TRY(cr_fail(cx, CR_EDATA, "the program has no quantity to report: all are of length 0"));
    put_names(&measured, bound);
    written.at = cr_scratch_bytes(s, measured.used + 1, 1);
    *out_slot = cr_scratch_bytes(s, out->n, sizeof **out_slot);
    out->flat = cr_alloc(cx, out->n, sizeof *out->flat);
    CR_TRY(s->status);
    if (!out->flat) CR_TRY(CR_ENOMEM);
    put_names(&written, bound);
    out->names = cri_string_copy(cx, written.at);
    if (!out->names) CR_TRY(CR_ENOMEM);
    for (size_t k = 0; k < bound->n_quantities; k++) {
        const cri_program_quantity *q = &bound->quantity[k];
        for (size_t i = 0; is_kept(q) && i < q->n; i++, n++)
            (*out_slot)[n] = q->slot[i], out->flat[n] = q->flat;
    }
done:
    return st;
}
