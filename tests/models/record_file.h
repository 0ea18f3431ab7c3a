/* record_file.h -- a record written and read again, through the bytes of a file. */
#ifndef CREDENCE_TEST_MODELS_RECORD_FILE_H
#define CREDENCE_TEST_MODELS_RECORD_FILE_H

#include "data/store/record_store.h"
#include "support.h"

static inline cr_status there_and_back(cr_ctx *cx, const cri_member *record, const void *from,
                                       void *to)
{
    cr_status  st = CR_OK;
    cri_store *store = NULL, *back = NULL;
    char      *bytes = NULL;
    size_t     size = 0;
    CR_TRY(cri_store_new(cx, &store));
    CR_TRY(cri_record_write(cx, record, from, store, cri_store_json(store)));
    CR_TRY(cri_store_to_bytes(cx, store, &bytes, &size));
    CR_TRY(cri_store_from_bytes(cx, "the file", bytes, size, &back));
    CR_TRY(cri_record_read(cx, record, back, cri_store_json(back), to));
done:
    cr_free(cx, bytes, size, 1);
    cri_store_free(cx, store);
    cri_store_free(cx, back);
    return st;
}

#endif
