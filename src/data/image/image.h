/* image.h -- grey images: PNM files (PBM, PGM: P1, P2, P4, P5) and PNG.
 * A pixel is a number from 0 (black) to 1 (white).  Colours become their luminance (Rec. 601), an
 * alpha channel is left out.  PNG: 8 or 16 bits per sample, all colour types, not interlaced; other
 * depths of grey and palettes of 1, 2, 4 bits.
 * ISO/IEC 15948 (PNG), the netpbm formats. */
#ifndef CREDENCE_DATA_IMAGE_IMAGE_H
#define CREDENCE_DATA_IMAGE_IMAGE_H

#include "base/context.h"

typedef struct cr_image {
    size_t  width, height;
    double *pixel; /* [height x width] rows from the top */
} cr_image;        /* all zeros: no image */

/* Room for an image, all black.  CR_EARG for one without pixels, CR_ENOMEM. */
CR_API cr_status cr_image_new(cr_ctx *cx, size_t width, size_t height, cr_image *out);
/* Frees the pixels and leaves no image. */
CR_API void cr_image_free(cr_ctx *cx, cr_image *image);
/* Reads an image, of the format that its first bytes say.  CR_EDATA says what is wrong with it. */
CR_API cr_status cr_image_read(cr_ctx *cx, const char *path, cr_image *out);
/* Writes an image of 256 greys, whole or not at all: PNG where the name ends in .png, else PGM. */
CR_API cr_status cr_image_write(cr_ctx *cx, const cr_image *image, const char *path);

#endif
