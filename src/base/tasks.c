/* tasks.c -- counts of reads and writes stand in for a graph: a task knows how many of each its
 * items had before it, and may start when that many are done. */
#include "tasks.h"
#include "clock.h"
#include "context_internal.h"
#include "team.h"

#include <stdatomic.h>

enum { LOOK_AHEAD = 256 }; /* tasks beyond the first that has not started */

/* How long to look for a task that becomes free before going to sleep: a tile takes about as long, and
 * so does waking up. */
static const double PATIENCE = 2e-4; /* seconds */

struct cri_task {
    cri_task_body *body;
    size_t         i, j, k;
    size_t         writes, after_writes, after_reads;
    size_t         reads[2], reads_after[2];
    bool           taken;
};

cri_tasks cri_tasks_new(cr_scratch *s, size_t items, size_t capacity)
{
    return (cri_tasks){
        .cx = s->cx,
        .items = items,
        .capacity = capacity,
        .item = cr_scratch_bytes(s, items, sizeof(cri_item)),
        .task = cr_scratch_bytes(s, capacity, sizeof(cri_task)),
    };
}

void cri_tasks_add(cri_tasks *t, cri_task_body *body, size_t i, size_t j, size_t k, size_t writes,
                   size_t reads, size_t reads_too)
{
    cri_task *a = &t->task[t->count++];
    cri_item *w = &t->item[writes];
    *a = (cri_task){ .body = body,
                     .i = i,
                     .j = j,
                     .k = k,
                     .writes = writes,
                     .after_writes = w->writes,
                     .after_reads = w->reads,
                     .reads = { reads, reads_too } };
    for (size_t r = 0; r < 2; r++) {
        if (a->reads[r] == CRI_NO_ITEM) continue;
        cri_item *item = &t->item[a->reads[r]];
        a->reads_after[r] = item->writes;
        item->reads++;
    }
    w->writes++;
}

typedef struct run_work {
    cri_tasks      *t;
    void           *arg;
    pthread_mutex_t lock; /* of what follows, and of the items */
    pthread_cond_t  change;
    size_t          first; /* all before it were taken */
    atomic_size_t   done;  /* tasks */
} run_work;

static bool may_start(const cri_tasks *t, const cri_task *a)
{
    const cri_item *w = &t->item[a->writes];
    if (a->taken || w->written < a->after_writes || w->read < a->after_reads) return false;
    for (size_t r = 0; r < 2; r++)
        if (a->reads[r] != CRI_NO_ITEM && t->item[a->reads[r]].written < a->reads_after[r])
            return false;
    return true;
}

/* The first task that may start; NULL when it must be waited for. */
static cri_task *find_task(run_work *w)
{
    cri_tasks *t = w->t;
    while (w->first < t->count && t->task[w->first].taken) w->first++;
    for (size_t n = w->first; n < t->count && n - w->first < LOOK_AHEAD; n++)
        if (may_start(t, &t->task[n])) return &t->task[n];
    return NULL;
}

static void note_done(cri_tasks *t, const cri_task *a)
{
    t->item[a->writes].written++;
    for (size_t r = 0; r < 2; r++)
        if (a->reads[r] != CRI_NO_ITEM) t->item[a->reads[r]].read++;
}

/* Returns when another task is done; the lock is held before and after. */
static void wait_for_change(run_work *w)
{
    size_t seen = atomic_load(&w->done);
    pthread_mutex_unlock(&w->lock);
    double begin = cri_seconds();
    while (atomic_load_explicit(&w->done, memory_order_relaxed) == seen &&
           cri_seconds() - begin < PATIENCE) {}
    pthread_mutex_lock(&w->lock);
    while (atomic_load(&w->done) == seen) pthread_cond_wait(&w->change, &w->lock);
}

/* As long as a task is left that nobody has taken, one is running or may start. */
static void take_tasks(void *arg, bool caller)
{
    run_work *w = arg;
    (void)caller;
    pthread_mutex_lock(&w->lock);
    for (;;) {
        cri_task *a = find_task(w);
        if (w->first == w->t->count) break;
        if (!a) {
            wait_for_change(w);
            continue;
        }
        a->taken = true;
        pthread_mutex_unlock(&w->lock);
        a->body(w->arg, a->i, a->j, a->k);
        pthread_mutex_lock(&w->lock);
        note_done(w->t, a);
        atomic_fetch_add(&w->done, 1);
        pthread_cond_broadcast(&w->change);
    }
    pthread_mutex_unlock(&w->lock);
}

void cri_tasks_run(cri_tasks *t, void *arg)
{
    run_work w = { .t = t, .arg = arg };
    pthread_mutex_init(&w.lock, NULL);
    pthread_cond_init(&w.change, NULL);
    cri_team_run(cri_ctx_team(t->cx), cr_ctx_threads(t->cx), take_tasks, &w);
    pthread_cond_destroy(&w.change);
    pthread_mutex_destroy(&w.lock);
}
