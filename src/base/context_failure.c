/* context_failure.c -- the text of a failure: the sentence, notes, a hint, the name that was meant. */
#include "context_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void lock_error(cr_ctx *cx)
{
    while (atomic_flag_test_and_set(&cx->error_lock)) {}
}

static void unlock_error(cr_ctx *cx) { atomic_flag_clear(&cx->error_lock); }

cr_status cr_fail(cr_ctx *cx, cr_status status, const char *format, ...)
{
    char    text[SENTENCE_SIZE]; /* an argument may be the old sentence */
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    lock_error(cx);
    memcpy(cx->sentence, text, sizeof text);
    cx->notes[0] = cx->hint[0] = cx->unknown[0] = cx->nearest[0] = '\0';
    cx->status = status;
    unlock_error(cx);
    return status;
}

cr_status cr_fail_note(cr_ctx *cx, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    lock_error(cx);
    size_t used = strlen(cx->notes);
    if (used > 0 && used + 1 < NOTES_SIZE) cx->notes[used++] = '\n';
    vsnprintf(cx->notes + used, NOTES_SIZE - used, format, args);
    unlock_error(cx);
    va_end(args);
    return cx->status;
}

cr_status cr_fail_hint(cr_ctx *cx, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    lock_error(cx);
    vsnprintf(cx->hint, HINT_SIZE, format, args);
    unlock_error(cx);
    va_end(args);
    return cx->status;
}

cr_status cr_fail_nearest(cr_ctx *cx, const char *unknown, const char *title, size_t n,
                          const char *(*name)(const void *user, size_t i), const void *user)
{
    size_t length = strlen(unknown);
    double best = length < 2   ? 0.6 /* only its case */
                  : length < 3 ? 1.01
                               : 1.01 + (double)length / 4; /* a quarter may be mistyped */
    char   list[NOTES_SIZE / 2] = "";
    size_t used = 0, left_out = 0;

    const char *nearest = NULL;
    for (size_t i = 0; i < n; i++) {
        const char *known = name(user, i);
        double      d = cri_edit_distance(unknown, known, best);
        if (strncmp(known, unknown, length) == 0) d -= 0.3; /* its end is missing: of equals this */
        if (d < best) best = d, nearest = known;

        size_t need = strlen(known) + 2;
        if (i < 60 && used + need < sizeof list - 32)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", known);
        else
            left_out++;
    }
    if (n > 0 && left_out)
        cr_fail_note(cx, "%s: %s and %zu more", title, list, left_out);
    else if (n > 0)
        cr_fail_note(cx, "%s: %s", title, list);
    return nearest ? cri_fail_meant(cx, unknown, nearest) : cx->status;
}

cr_status cri_fail_meant(cr_ctx *cx, const char *unknown, const char *meant)
{
    lock_error(cx);
    snprintf(cx->unknown, sizeof cx->unknown, "%s", unknown);
    snprintf(cx->nearest, sizeof cx->nearest, "%s", meant);
    unlock_error(cx);
    return cr_fail_hint(cx, "did you mean '%s'?", meant);
}

cr_status cri_fail_as(cr_ctx *cx, const cr_ctx *other)
{
    lock_error(cx);
    cx->status = other->status;
    memcpy(cx->sentence, other->sentence, sizeof cx->sentence);
    memcpy(cx->notes, other->notes, sizeof cx->notes);
    memcpy(cx->hint, other->hint, sizeof cx->hint);
    memcpy(cx->unknown, other->unknown, sizeof cx->unknown);
    memcpy(cx->nearest, other->nearest, sizeof cx->nearest);
    unlock_error(cx);
    return other->status;
}

const char *cr_error(const cr_ctx *cx) { return cx->sentence; }
const char *cr_error_notes(const cr_ctx *cx) { return cx->notes; }
const char *cr_error_hint(const cr_ctx *cx) { return cx->hint; }
const char *cr_error_unknown(const cr_ctx *cx) { return cx->unknown; }
const char *cr_error_nearest(const cr_ctx *cx) { return cx->nearest; }
cr_status   cr_error_status(const cr_ctx *cx) { return cx->status; }
