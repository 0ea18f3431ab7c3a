/* measure.c -- measure FILE COMMAND ARG...
 * Runs a command and writes to FILE: exit status, wall seconds, CPU seconds (user and system), peak
 * resident bytes.  A program of its own because Linux counts the memory of whoever starts a process
 * towards that process's peak: this one is small. */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double seconds_of(struct timeval t) { return (double)t.tv_sec + 1e-6 * (double)t.tv_usec; }

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: measure FILE COMMAND ARG...\n");
        return 2;
    }
    pid_t         child;
    int           status;
    struct rusage used;
    double        start = now();
    if (posix_spawnp(&child, argv[2], NULL, NULL, argv + 2, environ) != 0 ||
        wait4(child, &status, 0, &used) != child) {
        perror(argv[2]);
        return 127;
    }
    double wall = now() - start;
    FILE  *out = fopen(argv[1], "w");
    if (!out) {
        perror(argv[1]);
        return 2;
    }
    fprintf(out, "%d %.9f %.6f %.0f\n",
            WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), wall,
            seconds_of(used.ru_utime) + seconds_of(used.ru_stime), 1024.0 * (double)used.ru_maxrss);
    return fclose(out) == 0 ? 0 : 2;
}
