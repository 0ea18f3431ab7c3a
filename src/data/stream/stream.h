/* stream.h -- data of any size, block by block: consecutive tables of some rows each.
 * CSV and TSV, JSON lines, LIBSVM and NPY, from files (also compressed) and pipes.  Memory is bounded by the
 * block, whatever the size of the source.  All blocks have the same columns, types and levels:
 *
 *   columns     of delimited text are told by its first part, as cr_table_read does.  Of a regular
 *               file a first pass then finds the types that a table of the whole has, unless all
 *               columns begin with numbers with a decimal point, which must go on as numbers.  Of a
 *               pipe numbers are real, since later ones may not be whole; a column that begins with
 *               true and false is boolean, one with texts a category.  What does not fit later is an
 *               error.
 *   categories  of a regular file: all levels are found by a first pass over it.  Of a pipe: they
 *               are those of the first block, and another one later is an error.
 *   a pipe      of text in blocks of a given number of rows is followed as it fills: a block is given
 *               as soon as its last row has come, and the types are told by the first block.
 *   LIBSVM      is a sparse block where cr_table_read makes one.  Of a regular file the first pass
 *               finds the largest index, how many cells are written and which numbers are whole; of a
 *               pipe the first block decides on the index, a larger one later being an error, and on
 *               whether it is sparse, and numbers are real.
 *
 * The blocks depend neither on threads nor on how the bytes arrive. */
#ifndef CREDENCE_DATA_STREAM_STREAM_H
#define CREDENCE_DATA_STREAM_STREAM_H

#include "data/formats/read.h"

typedef struct cr_stream cr_stream;

/* Opens `path` ("-" is standard input) as a stream of blocks of at most `rows` rows; 0 means as
 * many as 16 MiB of the source hold, which are the leaves that a table read whole has
 * (table_internal.h).  Reads the first pass, where one is needed.  Fails like
 * cr_table_read, and with CR_EUNSUPPORTED for databases, archives and arrays in Fortran order. */
CR_API cr_status cr_stream_open(cr_ctx *cx, const char *path, const cr_read_options *options,
                                size_t rows, cr_stream **out_stream);
/* Frees the stream; the tables it gave stay.  NULL is allowed. */
CR_API void cr_stream_free(cr_ctx *cx, cr_stream *stream);

/* The next block, a table of its own with at least one row; NULL at the end.  Messages about its
 * rows name their place in the source.  After a failure the stream can only be freed; *out_table is
 * then left as it was. */
CR_API cr_status cr_stream_next(cr_ctx *cx, cr_stream *stream, cr_table **out_table);
/* From now on a category has in each block the levels seen up to there, and new ones are welcome:
 * for a reader that knows which there are, as a fitted model does. */
CR_API void cr_stream_free_levels(cr_stream *stream);
/* How many rows have been given so far. */
CR_API size_t cr_stream_rows(const cr_stream *stream);

#endif
