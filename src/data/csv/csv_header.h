/* csv_header.h -- whether the first record names the columns; the rule is in csv.h.  (Internal
 * header.) */
#ifndef CREDENCE_DATA_CSV_CSV_HEADER_H
#define CREDENCE_DATA_CSV_CSV_HEADER_H

#include "csv_internal.h"

/* The choices of --header. */
enum { CRI_HEADER_AUTO, CRI_HEADER_YES, CRI_HEADER_NO };

/* Beside the kinds of csv_cell.h: a number, but as good a name; a text like 1,5 or 3 %; any other
 * text; a value in quotes; a whole number like 007. */
enum {
    CRI_CSV_INFINITY_WORD = 256,
    CRI_CSV_STYLED_NUMBER = 512,
    CRI_CSV_OTHER_TEXT = 1024,
    CRI_CSV_QUOTED = 2048,
    CRI_CSV_PADDED = 4096
};

/* What the first record, at `at`, and those after it, from `below` to `end`, hold, per column. */
typedef struct cri_csv_contents {
    const char *at, *below, *end;
    unsigned   *first, *later; /* [n] kinds */
    size_t      n;
} cri_csv_contents;

/* Sets csv->has_header and csv->header_in_doubt. */
cr_status cri_csv_find_header(cri_csv *csv, const cri_csv_contents *k);

#endif
