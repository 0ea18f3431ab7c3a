/* csv_internal.h -- what the parts of the CSV reader share.
 * Sample: dialect, names, first guess of the types (csv_sample.c).  Batch: bytes read and cut into
 * pieces of whole records (csv_batch.c).  Piece: parsed into the columns (csv_parse.c).  The passes
 * and the table: csv.c.  (Internal header.) */
#ifndef CREDENCE_DATA_CSV_CSV_INTERNAL_H
#define CREDENCE_DATA_CSV_CSV_INTERNAL_H

#include "csv.h"
#include "csv_cell.h"
#include "csv_levels.h"
#include "number_style.h"
#include "base/pages.h"
#include "data/bytes/renames.h"

typedef enum cri_csv_mode {
    CRI_CSV_NUMBERS, /* numbers or booleans, as long as nothing else comes */
    CRI_CSV_STRICT,  /* numbers; anything else is a fault                  */
    CRI_CSV_CATEGORY,
    CRI_CSV_SKIP
} cri_csv_mode;

/* Marks a place in the batch that stands for a code. */
#define CRI_CSV_PLACE ((uint32_t)1 << 31)

typedef struct cri_csv_column {
    const char  *name;
    cri_csv_mode mode;
    cri_csv_mode way; /* of parsing a cell: the mode, but CRI_CSV_SKIP, the rarest, for numbers in a
                           * style: a test of its own for each cell would cost 6 % of the reading */
    bool         must_be_real, must_be_category;
    bool         padded; /* whole numbers in the sample, some like 007                 */
    bool
        keeps_zeros; /* a text where it is padded; not where numbers are asked for, or a model knows it */
    bool             zeros;   /* some cell so far is like 007                               */
    unsigned         seen;    /* kinds of its cells, CRI_CSV_WHOLE ...                      */
    unsigned         sampled; /* those of the sample                                        */
    cr_type          type;    /* of a stream: what all blocks give                          */
    double          *values;  /* [capacity], of numbers                                    */
    uint32_t        *codes;   /* [capacity], of categories; before interning, for texts not
                                yet known, CRI_CSV_PLACE + where the field starts        */
    size_t           capacity;
    cri_large_pages  pages; /* of values or codes, still to be touched */
    bool             slow_pages;
    cri_csv_levels   levels;
    cr_status        status;      /* of interning                                               */
    bool             styled;      /* its numbers are written in this style; else in the plain one */
    bool             restyled;    /* without which they would be texts */
    bool             told_digits; /* that some are lost */
    bool             parentheses; /* some are negative by them */
    const char      *doubtful; /* a cell like 1.000 that may be a thousand (csv_doubt.c), or NULL */
    cri_number_style style;
} cri_csv_column;

/* The characters of a number style that the options name; '\0': not named. */
typedef struct cri_csv_characters {
    char decimal, thousands;
    bool no_groups; /* --thousands none */
} cri_csv_characters;

/* What the sample says of the numbers of one column: bits by style (csv_style.c). */
typedef struct cri_csv_look {
    unsigned        fits, decided; /* all cells are numbers of the style; some cell of no other */
    unsigned        whole;         /* all of them are whole */
    char            unclear[24];   /* a cell that two styles read differently; "": none */
    cri_number_sign sign;
    bool            any;  /* value at all */
    bool            bare; /* and one that is not in parentheses */
    bool            parentheses;
} cri_csv_look;

typedef struct cri_csv_piece {
    const char *begin, *end;                /* whole records; the last byte is a line end */
    size_t      first_line;                 /* of begin */
    size_t      lines;                      /* line ends: no fewer than rows */
    size_t      row, rows;                  /* its first row in the columns, and how many it has */
    const char *first_record, *last_record; /* where these begin; NULL without rows */

    cri_csv_fault fault;
    const char   *fault_at;
    size_t        fault_length, fault_fields, fault_column;
} cri_csv_piece;

/* Bytes [0, filled), of which [0, whole) are complete records, cut into pieces. */
typedef struct cri_csv_batch {
    char          *buffer; /* [capacity] */
    size_t         capacity, filled, whole;
    cri_csv_piece *pieces; /* [sizes.pieces + 1] */
    size_t         n_pieces;
    bool           begins_leaf; /* a leaf ended before its first record */
} cri_csv_batch;

typedef struct cri_csv {
    cr_ctx                *cx;
    cri_source            *source;
    const cr_read_options *options;
    cri_csv_sizes          sizes;
    bool                   streaming;  /* rows are given away block by block */
    bool                   by_leaves;  /* a batch holds all records of a leaf */
    size_t                 leaf_bytes; /* SIZE_MAX: no leaves are told apart */
    size_t     follow_lines; /* of a pipe that is followed as it fills: the first lines, the
                                          * sample; 0 where waiting for bytes is all right */
    cr_scratch scratch;      /* lives as long as the read */

    cri_csv_dialect    dialect;
    cri_number_style   style;         /* of the numbers of the file */
    cri_csv_look      *looks;         /* [n] of the columns, where some have texts; or NULL */
    cri_csv_characters asked;         /* for the file at hand */
    cri_csv_characters usual;         /* of the file that a model was fitted to (read_options.h) */
    bool               is_unclear;    /* the usual style was taken, but another would do as well */
    bool               told_encoding; /* that some bytes are not UTF-8 */
    bool               has_header;
    bool               has_row_names;      /* and it has no cell for the first column */
    bool               row_names_in_doubt; /* they are numbers without quotes */
    bool               header_in_doubt;    /* it may be one, but is read as data */
    size_t empty_at_end; /* cells of every record, perhaps, with nothing in them, and no column */
    size_t data_offset, data_line; /* where the rows begin */
    cri_csv_levels  names;
    cri_csv_column *columns;
    size_t          n;

    /* The batch that is parsed, and the next one, which is read meanwhile. */
    cri_csv_batch  batch, ahead;
    bool           has_ahead;
    cr_status      ahead_status; /* of reading it */
    bool           ended;        /* the source */
    unsigned char *seen;         /* [(sizes.pieces + 1) x seen_stride] kinds of cells per piece */
    size_t         seen_stride;  /* >= n: no two pieces share a cache line */
    size_t         line;         /* of the first byte of the batch; once placed, behind its last */
    size_t         bytes_done;
    size_t         leaf_left; /* bytes not read yet of the leaf that is being read */
    size_t        *leaves;    /* [n_leaves] of [leaf_capacity]: the row where each begins */
    size_t         n_leaves, leaf_capacity;

    bool   small_pages;         /* large ones are slow here (pages.h)     */
    size_t rows, expected_rows; /* so far; 0 = not known                  */
    size_t row_capacity;        /* rows that there may be with this batch */
    size_t batch_row;           /* the first row of the batch             */
    size_t first_record_line, last_record_line;
} cri_csv;

/* Finds dialect, header, names and the first modes of the columns. */
cr_status cri_csv_sample(cri_csv *csv);

/* The first record of the sample [begin, end), at `at`, which names n columns, the first of them not where it has row
 * names, or, if nameless, none. */
typedef struct cri_csv_header {
    char  *begin, *end, *at;
    size_t first_line; /* of begin */
    size_t n;
    bool   nameless;
} cri_csv_header;

/* Names the columns, as the options and the header say; *out_next is behind the record. */
cr_status cri_csv_take_names(cri_csv *csv, cri_csv_header *header, const char **out_next);

/* How the numbers of the file and of its columns are written, by the records in [at, end) (csv_style.c);
 * columns of texts that are numbers so become numbers. */
cr_status cri_csv_find_styles(cri_csv *csv, const char *at, const char *end);
/* The options with the style that was found, where it is not the plain one: what a model keeps.  The
 * texts are constants. */
cr_read_options cri_csv_reading(const cri_csv *csv);
/* Warns of columns of texts that look like numbers, but could be read in several ways. */
void cri_csv_warn_of_styles(const cri_csv *csv);
/* Finds columns of numbers whose points may stand between thousands, by the same records; then warns of them
 * (csv_doubt.c). */
cr_status cri_csv_find_doubts(cri_csv *csv, const char *at, const char *end);
void      cri_csv_warn_of_doubts(const cri_csv *csv);
/* How the numbers of a column are written, by an example, where that is not plain; else "". */
const char *cri_csv_written(const cri_csv_column *column);
/* The options that read numbers of this style. */
enum { CRI_CSV_STYLE_OPTIONS = 32 };
void cri_csv_style_options(const cri_number_style *style, char out[static CRI_CSV_STYLE_OPTIONS]);
/* Warns of a column of numbers in the first part of the file, which later cells, numbers in another style, have made
 * texts; `column` is that of the table. */
void cri_csv_warn_of_late_style(const cri_csv *csv, const cri_csv_column *c, const cr_table *table,
                                const cr_column *column);
/* The styles in which the text is a number, as bits (csv_style.c). */
unsigned cri_csv_styles_of(const char *begin, const char *end);
/* The first style in which the text is a number; false: there is none. */
bool cri_csv_style_of(const char *begin, const char *end, cri_number_style *out);

/* What the options say: the delimiter ('\0' = find it), further missing values for the dialect,
 * and which columns must be real or categories. */
cr_status cri_csv_ask_delimiter(cri_csv *csv, char *out_delimiter);
cr_status cri_csv_take_missing_values(cri_csv *csv);
/* The source gives text in the encoding, and without the lines, that the options say. */
cr_status cri_csv_begin_text(cr_ctx *cx, cri_source *source, const cr_read_options *options);
/* Checks --decimal and --thousands. */
cr_status cri_csv_ask_style(cri_csv *csv);
/* The line "sep=;" that spreadsheets write first: its length with the line end, 0 if there is none. */
size_t    cri_csv_separator_line(const char *text, size_t size, char *out_delimiter);
cr_status cri_csv_take_column_options(cri_csv *csv);

/* Room for the pieces and the kinds of their cells, once the columns are known. */
cr_status cri_csv_make_pieces(cri_csv *csv);
/* Starts a pass at the first row.  Then: the next batch, cut into pieces; n_pieces == 0 at the
 * end. */
cr_status cri_csv_start_pass(cri_csv *csv);
cr_status cri_csv_next_batch(cri_csv *csv);
/* Reads the batch after this one, so that it is there when it is asked for; a failure is reported
 * then.  Not where rows are given away as they come. */
void cri_csv_read_ahead(cri_csv *csv);
/* How many bytes of [begin, end) are complete records, when begin starts one; also cuts them into
 * pieces of at least `target` bytes (the last may be smaller), unless opt_pieces is NULL. */
size_t cri_csv_cut(const cri_csv_dialect *d, const char *begin, const char *end, size_t target,
                   cri_csv_piece *opt_pieces, size_t *opt_n);

/* Parses the pieces into the columns, which have room for all their lines. */
cr_status cri_csv_parse(cri_csv *csv);

/* Warns of a column of whole numbers that is read as text for their leading zeros. */
void cri_csv_warn_of_zeros(const cri_csv *csv, const cri_csv_column *k);
/* Warns once of a column of a stream that has begun with whole numbers, and loses zeros of later ones. */
void cri_csv_warn_of_late_zeros(const cri_csv *csv, cri_csv_column *k);
/* Warns of a column of whole numbers in the first part of the file, in which later cells have a point that may stand
 * between thousands; values [n] are its numbers (csv_doubt.c). */
void cri_csv_warn_of_late_points(const cri_csv *csv, const cri_csv_column *k, const double *values,
                                 size_t n);

/* What the kinds of cells seen so far make of a column: the rule of csv.h. */
cr_type cri_csv_type(const cri_csv_column *k);
/* Warns once of a column of numbers that has lost digits of whole numbers. */
void cri_csv_warn_of_digits(const cri_csv *csv, cri_csv_column *k);
/* Frees the cells of a column and its levels: it may be read again as another type. */
void cri_csv_drop_column(cr_ctx *cx, cri_csv_column *k);
/* Frees what the columns and the batch hold. */
void cri_csv_free(cri_csv *csv);

/* Warns once of a byte that is not UTF-8 if it stands in `bytes`, which begin at this offset and line of
 * the text; with --encoding utf-8 it is a failure. */
cr_status cri_csv_check_encoding(cri_csv *csv, const char *bytes, size_t size, size_t offset,
                                 size_t line);

/* Fails with the words for this fault; `block` holds the text from a line start on. */
cr_status cri_csv_fail(const cri_csv *csv, const cri_csv_piece *block);

#endif
