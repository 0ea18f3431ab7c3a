/* blocks.h -- the options of verbs that take data in block by block. */
#ifndef CREDENCE_CLI_VERBS_BLOCKS_H
#define CREDENCE_CLI_VERBS_BLOCKS_H

/* `without` tells what a block is when its rows are not given. */
#define BLOCK_OPTIONS(X, without)                                                                  \
    X(flag, stream, "false", "",                                                                   \
      "read the data in blocks, for files larger than memory; for models with an exact update",    \
      "")                                                                                          \
    X(count, block, "0", "", "rows per block; 0: " without, "100000")

#endif
