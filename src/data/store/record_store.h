/* record_store.h -- records (base/record.h) to and from the model file: numbers as JSON members,
 * arrays as .npy entries, each under the name of its member.  (Internal header.) */
#ifndef CREDENCE_DATA_STORE_RECORD_STORE_H
#define CREDENCE_DATA_STORE_RECORD_STORE_H

#include "base/record.h"
#include "store.h"

/* Writes the members; an array that is NULL is left out. */
cr_status cri_record_write(cr_ctx *cx, const cri_member *record, const void *state,
                           cri_store *store, json_t *out);
/* Reads them into a zeroed struct.  CR_EDATA, naming file and member, where one is missing, of
 * another shape, or out of its range.  What was read is freed by cri_record_free. */
cr_status cri_record_read(cr_ctx *cx, const cri_member *record, const cri_store *store,
                          const json_t *in, void *state);

#endif
