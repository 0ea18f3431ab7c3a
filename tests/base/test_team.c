/* test_team.c -- the caller always works, helpers only while it does; work inside work and forks
 * get along without them. */
#include "support.h"
#include "base/team.h"

#include <sys/wait.h>
#include <unistd.h>

typedef struct count {
    cri_team     *team;
    atomic_size_t callers, helpers, left, inner;
    size_t        pause; /* microseconds that a helper takes */
} count;

static void take_parts(void *arg, bool caller)
{
    count *c = arg;
    atomic_fetch_add(caller ? &c->callers : &c->helpers, 1);
    if (!caller && c->pause) usleep((useconds_t)c->pause);
    for (size_t left = atomic_load(&c->left); left > 0;)
        if (atomic_compare_exchange_weak(&c->left, &left, left - 1)) left--;
    if (!caller) atomic_fetch_sub(&c->helpers, 1); /* back before the call returns */
}

TEST(all_is_done_and_nobody_stays)
{
    static const size_t threads[] = { 0, 1, 2, 3, 7, CRI_MOST_HELPERS + 50, 2 };
    cri_team            team;
    cri_team_init(&team);
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++)
        for (size_t repeat = 0; repeat < 200; repeat++) {
            count c = { .team = &team, .left = repeat, .pause = repeat % 50 == 0 ? 100 : 0 };
            cri_team_run(&team, threads[i], take_parts, &c);
            assert_int_equal(atomic_load(&c.callers), 1);
            assert_int_equal(atomic_load(&c.helpers), 0);
            assert_int_equal(atomic_load(&c.left), 0);
            if (threads[i] < 2 && i < 2) assert_int_equal(team.count, 0); /* none were needed */
        }
    assert_true(team.count <= CRI_MOST_HELPERS);
    cri_team_free(&team);
}

/* Waits until `helpers` others are there: they come although the caller does nothing. */
static void wait_for_others(void *arg, bool caller)
{
    count *c = arg;
    if (!caller) atomic_fetch_add(&c->helpers, 1);
    for (size_t i = 0; caller && i < 10000 && atomic_load(&c->helpers) < c->left; i++) usleep(1000);
}

TEST(as_many_help_as_were_asked_for)
{
    cri_team team;
    cri_team_init(&team);
    for (size_t helpers = 5; helpers-- > 1;) { /* fewer seats than threads, too */
        count c = { .team = &team, .left = helpers };
        cri_team_run(&team, helpers + 1, wait_for_others, &c);
        assert_int_equal(atomic_load(&c.helpers), helpers);
    }
    cri_team_free(&team);
}

static void work_inside(void *arg, bool caller)
{
    count *c = arg;
    atomic_fetch_add(caller ? &c->callers : &c->helpers, 1);
    if (caller) usleep(500); /* time enough for one to come */
}

static void work_around(void *arg, bool caller)
{
    count *c = arg;
    count  inner = { .team = c->team };
    (void)caller;
    cri_team_run(c->team, 4, work_inside, &inner);
    atomic_fetch_add(&c->inner,
                     atomic_load(&inner.callers) == 1 && atomic_load(&inner.helpers) == 0);
    atomic_fetch_add(&c->callers, 1);
}

TEST(work_inside_work_is_done_alone)
{
    cri_team team;
    cri_team_init(&team);
    for (size_t repeat = 0; repeat < 20; repeat++) {
        count c = { .team = &team };
        cri_team_run(&team, 3, work_around, &c);
        assert_int_equal(atomic_load(&c.inner), atomic_load(&c.callers));
    }
    cri_team_free(&team);
}

static void assert_ends_well(pid_t child)
{
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(a_fork_goes_on)
{
    cri_team team;
    count    c = { .team = &team, .left = 100 };
    cri_team_init(&team);
    cri_team_run(&team, 3, take_parts, &c);
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        atomic_store(&c.left, 2);
        cri_team_run(&team, 3, wait_for_others, &c); /* with threads of its own */
        cri_team_free(&team);
        _exit(atomic_load(&c.helpers) == 2 ? 0 : 1);
    }
    assert_ends_well(child);
    atomic_store(&c.left, 2);
    cri_team_run(&team, 3, wait_for_others, &c);
    assert_int_equal(atomic_load(&c.helpers), 2);
    cri_team_free(&team);
}

TEST(a_fork_frees_what_it_did_not_use)
{
    cri_team team;
    count    c = { .team = &team, .left = 100 };
    cri_team_init(&team);
    cri_team_run(&team, 3, take_parts, &c);
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        cri_team_free(&team); /* whose threads are not here */
        _exit(0);
    }
    assert_ends_well(child);
    cri_team_free(&team);
}
