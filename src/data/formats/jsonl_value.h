/* jsonl_value.h -- one value of a flat JSON object.  (Internal header.) */
#ifndef CREDENCE_DATA_FORMATS_JSONL_VALUE_H
#define CREDENCE_DATA_FORMATS_JSONL_VALUE_H

#include <stdbool.h>
#include <stddef.h>

typedef enum cri_jsonl_kind {
    CRI_JSONL_NULL,
    CRI_JSONL_WHOLE, /* at most 2^53 in size, without point and exponent */
    CRI_JSONL_NUMBER,
    CRI_JSONL_BOOLEAN,
    CRI_JSONL_TEXT /* or a whole number that would lose digits as a double */
} cri_jsonl_kind;

typedef struct cri_jsonl_value {
    cri_jsonl_kind kind;
    double         number; /* of a number or boolean */
    const char    *text;   /* of a text, [length], no '\0'; in the line, or in the space given */
    size_t         length;
    const char    *end;   /* behind the value */
    const char    *fault; /* what is wrong, or NULL */
    const char    *fault_at;
} cri_jsonl_value;

/* Behind blanks. */
const char *cri_jsonl_skip(const char *at, const char *end);
/* The text in quotes at `at`; escapes are undone in `space`, which has room for end - at bytes. */
cri_jsonl_value cri_jsonl_text(const char *at, const char *end, char *space);
/* The value at `at`, likewise. */
cri_jsonl_value cri_jsonl_value_read(const char *at, const char *end, char *space);

#endif
