/* dbn_update.c -- sequences that come later.
 * The expected counts n_old of the earlier rows were kept with the fit.  EM goes through the new rows alone, from the tables
 * there are, and adds both:
 *   p(x | u) = (n_old + n + N g) / (their sum over x)
 * Where nothing was missing in the earlier rows that is the fit to all of them; else they count as they did when that fit
 * ended (Neal & Hinton 1998), and the log likelihood of all rows is at least the one that is said, by Jensen's
 * inequality. */
#include "dbn.h"
#include "base/context_internal.h"
#include "base/scratch.h"

#include <stdlib.h>
#include <string.h>

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* A sequence that is there already would go on, not begin. */
static cr_status check_sequences(cr_ctx *cx, const cri_dbn *old, const cri_sequences *q)
{
    cr_status    st = CR_OK;
    cr_scratch   s = cr_scratch_begin(cx);
    size_t       n = old->known.name ? old->known.n : 0;
    const char **known = cr_scratch_bytes(&s, n, sizeof *known);
    CR_TRY(s.status);
    if (!q->names || n == 0) {
        cr_log(cx, CR_LOG_WARNING,
               "sequences have no names: these rows are taken as a new one, not as the next of an "
               "earlier one");
        goto done;
    }
    memcpy(known, old->known.name, n * sizeof *known);
    qsort(known, n, sizeof *known, compare_names);
    for (size_t i = 0; i < q->n; i++) {
        const char *name = q->names[i];
        if (!bsearch(&name, known, n, sizeof *known, compare_names)) continue;
        cr_fail(cx, CR_EUNSUPPORTED,
                "dbn: the sequence '%s' is known from earlier rows, and an update takes new ones "
                "only",
                name);
        CR_TRY(cr_fail_hint(cx, "fit it again to all the rows"));
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* The names of both. */
static cr_status join_labels(cr_ctx *cx, const cri_dbn *old, const cri_sequences *q, cri_dbn *m)
{
    cr_status st = CR_OK;
    char     *fresh = NULL;
    if (!old->labels) goto done;
    CR_TRY(cri_sequence_labels_join(cx, q, &fresh));
    if (!fresh) goto done;
    m->labels = cri_string_format(cx, "%s%s", old->labels, fresh);
    if (!m->labels) CR_TRY(CR_ENOMEM);
done:
    cri_string_free(cx, fresh);
    return st;
}

cr_status cri_dbn_update(cr_ctx *cx, const void *state, const cri_rows *rows, const void *options,
                         void **out_state, cr_report *report)
{
    cr_status      st = CR_OK;
    const cri_dbn *old = state;
    cri_dbn       *m = cr_alloc(cx, 1, sizeof *m);
    if (!m) return CR_ENOMEM;
    CR_TRY(cri_dbn_check_rows(cx, rows));
    if (!old->count) {
        cr_fail(cx, CR_EUNSUPPORTED,
                "dbn: this model was stored without the counts of its rows, which an update adds "
                "to");
        CR_TRY(cr_fail_hint(cx, "fit it again to all the rows"));
    }
    CR_TRY(check_sequences(cx, old, rows->sequences));
    m->network = cri_string_copy(cx, old->network);
    if (!m->network) CR_TRY(CR_ENOMEM);
    m->prior = old->prior;
    cri_mute_warnings(cx, true); /* what there was to say of the network was said by the fit */
    st = cri_dbn_open(cx, "the network in it", m);
    cri_mute_warnings(cx, false);
    CR_TRY(st);
    CR_TRY(cri_dbn_fit(cx, rows, options, 0, old, m, report));
    CR_TRY(join_labels(cx, old, rows->sequences, m));
    CR_TRY(cri_sequence_names_open(cx, m->labels, m->sequences, &m->known));
    *out_state = m;
    m = NULL;
done:
    cri_state_free(cx, &cri_class_dbn, m);
    return st;
}
