/* jsonl_records.h -- the text of one object after the other: of JSON lines each line, of an array [{...}, {...}] each
 * element, which may be of several lines.  A record lies in a buffer that the next one overwrites; memory is that of the
 * longest.  O(bytes).
 * (Internal header.) */
#ifndef CREDENCE_DATA_FORMATS_JSONL_RECORDS_H
#define CREDENCE_DATA_FORMATS_JSONL_RECORDS_H

#include "data/bytes/source.h"

typedef struct cri_jsonl_records {
    cr_ctx     *cx;
    cri_source *source;
    char       *buffer; /* [capacity], at .. end not yet given               */
    char       *space;  /* [capacity] free for texts of the record           */
    size_t      capacity, at, end;
    size_t      line, passed; /* on which the record begins; line feeds before `at` */
    uint64_t    offset;       /* of `at` in the text                                 */
    bool        begun, ended; /* the first record was asked for; the source is read   */
    bool        array, closed;
} cri_jsonl_records;

cr_status cri_jsonl_records_open(cr_ctx *cx, cri_source *source, cri_jsonl_records *out);
void      cri_jsonl_records_close(cri_jsonl_records *r);
/* The next record, without the end of its line; *out_begin NULL behind the last one. */
cr_status cri_jsonl_next(cri_jsonl_records *r, const char **out_begin, const char **out_end);
/* Back to the first one. */
cr_status cri_jsonl_records_rewind(cri_jsonl_records *r);
/* Fails at a place within the record, or behind it. */
cr_status cri_jsonl_fail_at(const cri_jsonl_records *r, const char *begin, const char *end,
                            const char *at, const char *what);

#endif
