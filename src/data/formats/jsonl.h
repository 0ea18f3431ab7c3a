/* jsonl.h -- JSON lines: one flat object a line, {"area": 54.5, "heating": "gas", "garden": true}; or an array of such
 * objects, on any lines.
 * Columns are the keys of all objects, in the order in which they first come.  null, a key that is not
 * there and "" are missing.  A column is real, integer (at most 2^53 in size), boolean (true and false
 * beside numbers are 1 and 0), or a category where some value is a text: numbers in it are their
 * shortest texts.  NaN and Infinity are read too.  Nested values, a key twice in an object and, outside
 * an array, objects of several lines are failures, with their place.  Blank lines are skipped.
 *
 * A reader holds the rows it has read until they are taken as a table.  One pass, O(bytes).
 * (Internal header.) */
#ifndef CREDENCE_DATA_FORMATS_JSONL_H
#define CREDENCE_DATA_FORMATS_JSONL_H

#include "read.h"
#include "data/bytes/source.h"

typedef struct cri_jsonl cri_jsonl;

/* At the start of the source, which becomes text (text_decoder.h). */
cr_status cri_jsonl_open(cr_ctx *cx, cri_source *source, const cr_read_options *options,
                         cri_jsonl **out_reader);
void      cri_jsonl_free(cri_jsonl *reader);
/* Reads until `rows` rows are held, or the end; *out_rows: how many are. */
cr_status cri_jsonl_fill(cri_jsonl *reader, size_t rows, size_t *out_rows);
/* The rows that are held, at least one, as a table; then none is. */
cr_status cri_jsonl_take(cri_jsonl *reader, cr_table **out_table);
/* Forgets the rows that are held, but not their keys and types. */
void cri_jsonl_drop(cri_jsonl *reader);
/* From now on there are these columns, of the types that they have so far (opt_real: numbers are real):
 * what does not fit is a failure. */
void   cri_jsonl_settle(cri_jsonl *reader, bool real);
size_t cri_jsonl_columns(const cri_jsonl *reader);
bool   cri_jsonl_has_texts(const cri_jsonl *reader);
/* Back to the first line; keys and types stay. */
cr_status cri_jsonl_rewind(cri_jsonl *reader);

/* All of the source as a table; there must be a row. */
cr_status cri_jsonl_read(cr_ctx *cx, cri_source *source, const cr_read_options *options,
                         cr_table **out_table);

#endif
