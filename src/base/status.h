/* status.h -- what a call can say, and the one control-flow macro.
 * A code says what the caller can do about a failure, never which dependency complained.  The
 * sentence that goes with it is in the context (context.h): cr_fail is the only way to make one. */
#ifndef CREDENCE_BASE_STATUS_H
#define CREDENCE_BASE_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CR_API __attribute__((visibility("default")))
#define CR_PRINTF(text, first) __attribute__((format(printf, text, first)))

typedef enum cr_status {
    CR_OK = 0,
    CR_EARG,         /* an argument or option is wrong: call again with another        */
    CR_EDATA,        /* the data or the model file is wrong: mend the input            */
    CR_ENUMERIC,     /* the computation cannot go on: not positive definite, overflow  */
    CR_EIO,          /* a file could not be read or written, or the disk is full       */
    CR_ENOMEM,       /* memory, the memory limit or the time limit ran out             */
    CR_EINTERRUPTED, /* the caller asked to stop                                       */
    CR_EUNSUPPORTED  /* this model or build cannot do that                             */
} cr_status;

/* Runs a step; when it fails, keeps its status and leaves by the single exit `done`.
 * Needs `cr_status st` and a label `done` in the function. */
#define CR_TRY(step)                                                                               \
    do {                                                                                           \
        st = (step);                                                                               \
        if (st != CR_OK) goto done;                                                                \
    } while (0)

#endif
