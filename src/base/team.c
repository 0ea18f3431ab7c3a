/* team.c -- helpers around one lock: a call offers seats, whoever wakes up takes one, and the
 * caller takes back those that are left when the work is done. */
#include "team.h"
#include "clock.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

/* How long to look for a change before going to sleep: about what falling asleep and waking up
 * cost. */
static const double BRIEFLY = 2e-5; /* seconds */

/* Looks for a moment whether *value becomes (or stops to be) 0. */
static void watch_briefly(const atomic_size_t *value, bool zero)
{
    double begin = cri_seconds();
    while ((atomic_load_explicit(value, memory_order_relaxed) == 0) != zero &&
           cri_seconds() - begin < BRIEFLY) {}
}

static void *help(void *arg)
{
    cri_team *t = arg;
    pthread_mutex_lock(&t->lock);
    while (!t->quit) {
        if (atomic_load(&t->seats) == 0) {
            pthread_cond_wait(&t->call, &t->lock);
            continue;
        }
        atomic_fetch_sub(&t->seats, 1);
        atomic_fetch_add(&t->inside, 1);
        cri_team_work *work = t->work;
        void          *what = t->arg;
        pthread_mutex_unlock(&t->lock);
        work(what, false);
        pthread_mutex_lock(&t->lock);
        if (atomic_fetch_sub(&t->inside, 1) == 1) pthread_cond_signal(&t->leave);
        pthread_mutex_unlock(&t->lock);
        watch_briefly(&t->seats, false);
        pthread_mutex_lock(&t->lock);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

/* Starts threads until there are `wanted`, with all signals left to the caller's. */
static void start_helpers(cri_team *t, size_t wanted)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (t->count < wanted && pthread_create(&t->helper[t->count], NULL, help, t) == 0)
        t->count++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void cri_team_init(cri_team *t)
{
    memset(t, 0, sizeof *t);
    atomic_flag_clear(&t->taken);
}

/* The team as it is in this process: a fork has none of the threads, and nobody to open the lock.
 */
static void settle(cri_team *t)
{
    pid_t here = getpid();
    if (t->process == here) return;
    t->process = here;
    t->count = 0;
    t->quit = false;
    atomic_store(&t->seats, 0);
    atomic_store(&t->inside, 0);
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->call, NULL);
    pthread_cond_init(&t->leave, NULL);
}

static void call_helpers(cri_team *t, size_t wanted, cri_team_work *work, void *arg)
{
    settle(t);
    if (t->count < wanted) start_helpers(t, wanted);
    if (wanted > t->count) wanted = t->count;
    pthread_mutex_lock(&t->lock);
    t->work = work, t->arg = arg;
    atomic_store(&t->seats, wanted);
    if (wanted == 1)
        pthread_cond_signal(&t->call);
    else if (wanted > 1)
        pthread_cond_broadcast(&t->call);
    pthread_mutex_unlock(&t->lock);
}

/* Nobody joins in any more; those inside come out. */
static void wait_for_helpers(cri_team *t)
{
    pthread_mutex_lock(&t->lock);
    atomic_store(&t->seats, 0);
    if (atomic_load(&t->inside) > 0) {
        pthread_mutex_unlock(&t->lock);
        watch_briefly(&t->inside, true);
        pthread_mutex_lock(&t->lock);
    }
    while (atomic_load(&t->inside) > 0) pthread_cond_wait(&t->leave, &t->lock);
    pthread_mutex_unlock(&t->lock);
}

void cri_team_run(cri_team *t, size_t threads, cri_team_work *work, void *arg)
{
    size_t wanted = threads > 1 ? threads - 1 : 0;
    if (wanted > CRI_MOST_HELPERS) wanted = CRI_MOST_HELPERS;
    bool ours = wanted > 0 && !atomic_flag_test_and_set(&t->taken);
    if (ours) call_helpers(t, wanted, work, arg);
    work(arg, true);
    if (!ours) return;
    wait_for_helpers(t);
    atomic_flag_clear(&t->taken);
}

void cri_team_free(cri_team *t)
{
    if (t->process == 0 || t->process != getpid()) return;
    pthread_mutex_lock(&t->lock);
    t->quit = true;
    pthread_cond_broadcast(&t->call);
    pthread_mutex_unlock(&t->lock);
    for (size_t i = 0; i < t->count; i++) pthread_join(t->helper[i], NULL);
    pthread_cond_destroy(&t->leave);
    pthread_cond_destroy(&t->call);
    pthread_mutex_destroy(&t->lock);
}
