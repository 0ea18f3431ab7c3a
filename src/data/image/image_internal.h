/* image_internal.h -- the formats of images.  (Internal header.) */
#ifndef CREDENCE_DATA_IMAGE_IMAGE_INTERNAL_H
#define CREDENCE_DATA_IMAGE_IMAGE_INTERNAL_H

#include "image.h"

enum { CRI_MOST_PIXELS = 1 << 28 };

typedef struct cri_image_bytes {
    const char          *path;
    const unsigned char *bytes;
    size_t               size;
} cri_image_bytes;

/* Fails where the size is nothing or too much; else makes room. */
cr_status cri_image_start(cr_ctx *cx, const char *path, double width, double height, cr_image *out);

/* As cr_image_read, from memory; `name` serves in messages. */
cr_status cri_image_parse(cr_ctx *cx, const char *name, const void *bytes, size_t size,
                          cr_image *out);

bool      cri_is_png(const unsigned char *bytes, size_t size);
cr_status cri_png_read(cr_ctx *cx, const cri_image_bytes *in, cr_image *out);
/* The bytes of a PNG file, freed with cr_free(cx, bytes, *out_capacity, 1). */
cr_status cri_png_write(cr_ctx *cx, const cr_image *image, unsigned char **out_bytes,
                        size_t *out_size, size_t *out_capacity);

#endif
