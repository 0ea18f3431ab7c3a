/* failing_calls.c -- a library to load first, which lets one call to the system fail.
 * FAIL_CALL names it (open, read, write, fsync, rename, close), FAIL_NTH says which one of them,
 * FAIL_ERRNO the reason.  `cut` lets mmap succeed and makes the file empty then, as another process
 * might.  The file FAIL_MARK is made when it happens.  Standard error is spared: it tells of it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static long count; /* of calls by the name so far */

/* true when this call is the one that fails. */
static int now(const char *call)
{
    const char *which = getenv("FAIL_CALL"), *nth = getenv("FAIL_NTH"), *mark = getenv("FAIL_MARK");
    if (!which || !nth || strcmp(which, call) != 0) return 0;
    if (__atomic_add_fetch(&count, 1, __ATOMIC_SEQ_CST) != atol(nth)) return 0;
    if (mark) syscall(SYS_close, syscall(SYS_openat, AT_FDCWD, mark, O_CREAT | O_WRONLY, 0644));
    const char *reason = getenv("FAIL_ERRNO");
    errno = reason ? atoi(reason) : EIO;
    return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t read(int fd, void *to, size_t n) { return now("read") ? -1 : REAL(read)(fd, to, n); }

ssize_t write(int fd, const void *from, size_t n)
{
    return fd != STDERR_FILENO && now("write") ? -1 : REAL(write)(fd, from, n);
}

int fsync(int fd) { return now("fsync") ? -1 : REAL(fsync)(fd); }

int close(int fd)
{
    int failed = now("close"), reason = errno, st = REAL(close)(fd);
    if (failed) errno = reason;
    return failed ? -1 : st;
}

int rename(const char *from, const char *to) { return now("rename") ? -1 : REAL(rename)(from, to); }

int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
    va_end(args);
    return now("open") ? -1 : REAL(open)(path, flags, mode);
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t from)
{
    void *p = (void *)syscall(SYS_mmap, at, size, protection, flags, fd, from);
    char  path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (fd >= 0 && p != MAP_FAILED && !(protection & PROT_EXEC) && now("cut") &&
        truncate(path, 0) != 0)
        abort();
    return p;
}
