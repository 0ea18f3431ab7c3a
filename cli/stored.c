/* stored.c -- a pipe that is read several times: its bytes in a file without a name. */
#include "cli.h"
#include "base/context_internal.h"
#include "base/file.h"
#include "data/stream/stream_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool cli_is_pipe(const char *path)
{
    struct stat info;
    int         failed = strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &info) : stat(path, &info);
    return failed == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

/* A file in the folder that has no name, so that it is gone when the program ends, however it does; or one
 * whose name is taken away at once, where the system has no such files.  -1, and errno, on failure. */
static int open_nameless(const char *folder)
{
    char path[4096];
    int  fd = -1;
#ifdef O_TMPFILE
    fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
#endif
    if (fd >= 0) return fd;
    snprintf(path, sizeof path, "%s/credence-XXXXXX", folder);
    fd = mkstemp(path);
    if (fd >= 0) unlink(path);
    return fd;
}

static bool write_whole(int to, const char *bytes, ssize_t n)
{
    while (n > 0) {
        ssize_t written = write(to, bytes, (size_t)n);
        if (written < 0 && errno != EINTR) return false;
        if (written > 0) bytes += written, n -= written;
    }
    return true;
}

/* Copies all that comes; *out_done is false, and errno set, when that fails. */
static cr_status copy_whole(cli *c, int from, int to, bool *out_done)
{
    char    bytes[65536];
    ssize_t n;
    *out_done = false;
    while ((n = read(from, bytes, sizeof bytes)) != 0) {
        cr_status st = cr_check_interrupt(c->cx);
        if (st != CR_OK) return st;
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 || !write_whole(to, bytes, n)) return CR_OK;
    }
    *out_done = lseek(to, 0, SEEK_SET) == 0;
    return CR_OK;
}

/* open(2) of a pipe waits for its other end: an interruption may end that. */
static cr_status open_pipe(cli *c, const char *path, int *out_fd)
{
    cr_status st = CR_OK;
    do *out_fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    while (*out_fd < 0 && errno == EINTR && (st = cr_check_interrupt(c->cx)) == CR_OK);
    if (st == CR_OK && *out_fd < 0) st = cr_fail(c->cx, CR_EIO, "cannot open %s: %m", path);
    return st;
}

cr_status cli_open_stored(cli *c, const char *path, size_t rows, cr_stream **out_stream)
{
    cr_status   st = CR_OK;
    cri_source *source = NULL;
    bool        input = strcmp(path, "-") == 0, done = false;
    const char *wish = getenv("TMPDIR"), *folder = wish && *wish ? wish : "/tmp";
    const char *name = input ? "stdin" : path;
    char        reason[CRI_REASON_SIZE];
    int         from = STDIN_FILENO, to = -1;

    if (!input) CR_TRY(open_pipe(c, path, &from));
    to = open_nameless(folder);
    if (to >= 0) CR_TRY(copy_whole(c, from, to, &done));
    if (!done) {
        cr_fail(c->cx, CR_EIO, "%s cannot be stored in '%s': %s", name, folder,
                cri_reason(errno, reason));
        CR_TRY(cr_fail_hint(c->cx, "it is read several times; set TMPDIR to use another folder"));
    }
    st = cri_source_open_descriptor(c->cx, name, to, &source);
    to = -1; /* taken over */
    CR_TRY(st);
    CR_TRY(cri_stream_open_source(c->cx, path, source, &c->read,
                                  (cri_block_size){ .rows = rows, .bytes = cri_leaf_bytes(c->cx) },
                                  out_stream));
done:
    if (to >= 0) close(to);
    if (!input && from >= 0) close(from);
    return st;
}
