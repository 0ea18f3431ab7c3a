/* info_answer.h -- one question about information, and its answer in sheets: an object for JSON, rows for tables.
 * (Internal header.) */
#ifndef CREDENCE_STUDY_INFO_ANSWER_H
#define CREDENCE_STUDY_INFO_ANSWER_H

#include "base/scratch.h"
#include "base/sheet.h"
#include "info_report.h"

/* What is being asked, and the answer. */
typedef struct cri_info_answer {
    cr_ctx                 *cx;
    const cr_info_question *o;
    cr_info_options         how;
    uint64_t                seed;
    double                  per; /* nats in one unit */
    const char             *unit;
    const cr_table         *a, *b; /* NULL where there is none */
    cr_scratch              s;
    cri_sheet              *object, *rows;
    bool                    lines;      /* there is one row, which text shows as lines */
    char                    title[512]; /* of the table */
} cri_info_answer;

/* Which question it is, and what does not go together: CR_EARG.  `tables`: how many there are. */
cr_status cri_info_check(cr_ctx *cx, const cr_info_question *o, size_t tables);
/* Answers it into the sheets, which are the caller's; what it needs is freed with the scratch of the answer. */
cri_info_answer cri_info_open(cr_ctx *cx, const cr_info_question *o, uint64_t seed,
                              const cr_table *opt_a, const cr_table *opt_b, cri_sheet *object,
                              cri_sheet *rows);
/* The table with each row as often as the column `weights`, which is left out, says.  Fails with
 * CR_EDATA where these are not whole numbers, are all 0, or sum to more than 1e8. */
cr_status cri_info_repeat(cr_ctx *cx, const cr_table *table, const char *weights,
                          cr_table **out_table);
cr_status cri_info_run(cri_info_answer *j);

/* --- what all answers need -------------------------------------------------------------------- */

/* Information in the unit asked for; null, and in tables inf or nothing, where there is no number. */
void cri_info_put(const cri_info_answer *j, cri_sheet *to, const char *name, double nats);
void cri_info_put_cell(const cri_info_answer *j, cri_sheet *to, const char *name, double nats);
/* A list of texts. */
cri_sheet *cri_info_put_texts(cri_sheet *to, const char *name, const char *const *texts, size_t n);
/* An answer that is one object becomes the row of the table: lists of texts are one text with
 * commas, other lists are left out. */
void cri_info_put_row(cri_info_answer *j, const cri_sheet *object);
/* The columns asked for, or else all of the first table. */
cr_status cri_info_columns(cri_info_answer *j, const char ***out, size_t *out_n);
/* Tells of rows that were left out. */
void cri_info_warn_dropped(const cri_info_answer *j, const cr_table *t, size_t dropped);
void cri_info_title(cri_info_answer *j, const char *format, ...) CR_PRINTF(2, 3);

/* --- the questions ---------------------------------------------------------------------------- */

/* info_answer_pairs.c: the matrix of all pairs. */
cr_status cri_info_matrix(cri_info_answer *j);
/* info_answer_blanket.c: the Markov blanket of a column. */
cr_status cri_info_blanket(cri_info_answer *j);
/* info_answer_tables.c: two tables, also by a kernel; rows; a source. */
cr_status cri_info_divergence(cri_info_answer *j);
cr_status cri_info_mmd(cri_info_answer *j);
cr_status cri_info_surprise(cri_info_answer *j);
cr_status cri_info_source(cri_info_answer *j);

#endif
