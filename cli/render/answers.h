/* answers.h -- a result with a line for each row: columns of numbers, names and texts, as text, CSV
 * or JSON.  Columns point at what they show; the arena they are made in outlives them. */
#ifndef CREDENCE_CLI_RENDER_ANSWERS_H
#define CREDENCE_CLI_RENDER_ANSWERS_H

#include "../cli.h"
#include "base/scratch.h"

/* The cell of row i is x[i * stride], a number or, with names, the index of one; or the cell of a
 * column of data; or texts[i].  NaN and NULL are empty. */
typedef struct answer_column {
    const char        *name;        /* in the header of text and CSV; NULL: in JSON only          */
    const char        *group, *key; /* in JSON: row[key]; with a group row[group][key], or, when  */
    const double      *x; /* key is NULL, an item of the list row[group]; both NULL: not */
    size_t             stride;
    const char *const *names;
    size_t             n_names;
    const cr_column   *from;
    const size_t *from_row; /* which row of `from` that of the answer shows; NULL: the same one */
    const char *const *texts;
} answer_column;

typedef struct answers {
    answer_column *columns; /* [capacity] in the arena */
    size_t         n, capacity, rows;
} answers;

/* Room for some columns; the status of a full arena is that of the arena. */
answers answers_new(cr_scratch *s, size_t rows, size_t capacity);
/* Adds a column and gives it back to be filled in; one more than there is room for is not shown. */
answer_column *answers_add(answers *a, const char *name, const char *key);
/* "<prefix><name>" in the arena; "" when that has failed. */
const char *answers_name(cr_scratch *s, const char *prefix, const char *name);

/* Header and rows as text or CSV. */
cr_status answers_print(cli *c, const answers *a);
/* Further rows below those that answers_print has shown. */
cr_status answers_print_more(cli *c, const answers *a);
/* The rows as lines of JSON, an object each. */
cr_status answers_print_lines(cli *c, const answers *a);
/* The result of the verb: rows as text or CSV; as JSON the members of `head`, then the rows as the
 * list of this name. */
cr_status answers_print_result(cli *c, const answers *a, const cri_sheet *head, const char *list);

/* The columns of a prediction (prediction_columns.c): its distribution as mean, sd and interval,
 * the most probable class with the probability of each, coordinates, or the log density.  What is
 * made for them is in the arena. */
cr_status answers_add_prediction(cli *c, cr_scratch *s, const cr_model *m, const cr_prediction *p,
                                 double interval, bool leverage, answers *a);

/* The values by whose signs a classifier decides, where there are any. */
void answers_add_decisions(cr_scratch *s, const cr_prediction *p, answers *a);

/* Coordinates Z [rows x n] by their names. */
void answers_add_coordinates(answers *a, const char *const *names, size_t n, const double *Z);

/* The levels of the categories in the next row with their probabilities, or, with a loss, an action
 * for each column; no columns where the model tells of no categories (next_levels.c). */
struct cr_loss;
cr_status answers_next_levels(cli *c, const cr_model *m, const struct cr_loss *opt_loss,
                              cr_scratch *s, answers *out);

#endif
