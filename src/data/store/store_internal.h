/* store_internal.h -- what the parts of the store share, and what its tests need. */
#ifndef CREDENCE_DATA_STORE_STORE_INTERNAL_H
#define CREDENCE_DATA_STORE_STORE_INTERNAL_H

#include "data/formats/npy.h"
#include "store.h"

typedef struct cri_stored {
    char   *name;  /* without ".npy"                    */
    char   *bytes; /* the whole .npy file, from cr_alloc */
    size_t  size;
    cri_npy array; /* its data points into bytes         */
} cri_stored;

struct cri_store {
    char       *source;
    json_t     *root;
    cri_stored *arrays;
    size_t      n, capacity;
    char        within[34]; /* what names of arrays begin with; "": nothing */
};

/* An empty store with this JSON, whose reference is taken, also on failure (NULL = no memory). */
cr_status cri_store_with_json(cr_ctx *cx, const char *source, json_t *root, cri_store **out_store);
/* The array called name, or NULL. */
const cri_stored *cri_store_find(const cri_store *store, const char *name);
/* Adds a .npy file of doubles under a name of this length, taking over its bytes, also on failure.
 * Fails with CR_EDATA when the name or the bytes are not fit for a model file. */
cr_status cri_store_add(cr_ctx *cx, cri_store *store, const char *name, size_t length, char *bytes,
                        size_t size);

/* Writes version, size and checksum of a model file into its last bytes.  size must be that of a
 * file made by cri_store_to_bytes, or at least CRI_STORE_FRAME.  Tests use it to forge files. */
enum { CRI_STORE_FRAME = 51, CRI_STORE_VERSION = 1 };
void cri_store_seal(char *bytes, size_t size, unsigned version);

#endif
