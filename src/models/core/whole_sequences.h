/* whole_sequences.h -- the blocks of a stream, cut anew so that none of them cuts a sequence.
 * The rows of a sequence must follow one another in the stream, in any order.  The last sequence of a block is held
 * back until another one begins, so that memory is that of a block and of the longest sequence; and, while
 * the order is checked, a number for each sequence.  (Internal header.) */
#ifndef CREDENCE_MODELS_CORE_WHOLE_SEQUENCES_H
#define CREDENCE_MODELS_CORE_WHOLE_SEQUENCES_H

#include "data/stream/stream.h"

typedef struct cri_whole_sequences {
    cr_stream  *stream;
    const char *by;    /* the column that names sequences; NULL: blocks are given as they come */
    bool        check; /* that no sequence begins again  */
    cr_table  **held;  /* [room], n_held of them: rows of one sequence, in their order */
    size_t      n_held, room;
    double      last;  /* the label of the last row read */
    double     *ended; /* [slots] labels of sequences, open hash; NaN: free */
    size_t      n_ended, slots;
} cri_whole_sequences;

/* The next rows, NULL at the end.  CR_EDATA where a sequence goes on after another one. */
cr_status cri_whole_sequences_next(cr_ctx *cx, cri_whole_sequences *w, cr_table **out_block);
/* Frees what is held; the stream stays. */
void cri_whole_sequences_close(cr_ctx *cx, cri_whole_sequences *w);

#endif
