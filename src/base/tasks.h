/* tasks.h -- tasks over numbered items, run in the order that what they read and write asks for.
 * The caller lists the tasks in an order that would be right on one thread.  A task may start when
 * all earlier ones that write what it reads or writes are done, and those that read what it writes;
 * so every item sees its changes in the order of the list, on any number of threads.  Threads look
 * for the first task that may start, not far beyond the first that has not, so that work on the
 * longest chain is not put off.  Made for tasks of 10 microseconds and more.  (Internal header.) */
#ifndef CREDENCE_BASE_TASKS_H
#define CREDENCE_BASE_TASKS_H

#include "scratch.h"

/* A task: what it does to arg with three numbers of its own choice.  It cannot fail. */
typedef void cri_task_body(void *arg, size_t i, size_t j, size_t k);

typedef struct cri_task cri_task;
typedef struct cri_item {
    size_t writes, reads, written, read;
} cri_item;

typedef struct cri_tasks {
    cr_ctx   *cx;
    size_t    items, capacity, count; /* items; tasks that there is room for, and that there are */
    cri_item *item;                   /* [items] how often it is to be written and read, and was */
    cri_task *task;                   /* [capacity]                                              */
} cri_tasks;

#define CRI_NO_ITEM SIZE_MAX

/* An empty list, in memory of s: check s->status before anything is added. */
cri_tasks cri_tasks_new(cr_scratch *s, size_t items, size_t capacity);

/* body(arg, i, j, k) changes the item `writes`, and reads up to two others. */
void cri_tasks_add(cri_tasks *t, cri_task_body *body, size_t i, size_t j, size_t k, size_t writes,
                   size_t reads, size_t reads_too);

/* Runs them all, over the threads of the context.  It does not stop: bodies that have nothing more
 * to do return at once. */
void cri_tasks_run(cri_tasks *t, void *arg);

#endif
