/* file.c -- whole files in, and atomic writing: temporary file, fsync, rename, fsync of the
 * directory. */
#include "file.h"
#include "context_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BUFFER_SIZE = 1 << 16,
    LARGEST_STEP = 1 << 24, /* bytes per read or write, so that an interrupt is seen soon */
    MOST_LINKS = 40,        /* symbolic links followed, as in the kernel                   */
    NAME_KEPT = 200         /* bytes of the name that its temporary keeps: NAME_MAX is 255 */
};

struct cri_file {
    cr_ctx   *cx;
    cr_status status; /* the first failure; later calls only repeat it */
    int       fd;
    bool      replaces; /* an older file stands at `target`, whose mode and owner are kept */
    mode_t    mode;
    uid_t     uid;
    gid_t     gid;
    char     *path;      /* as the caller wrote it, for messages                    */
    char     *target;    /* `path` with symbolic links followed; NULL = no renaming */
    char     *temporary; /* NULL = none on disk                                     */
    size_t    used;
    char      buffer[BUFFER_SIZE];
};

const char *cri_reason(int error, char buffer[static CRI_REASON_SIZE])
{
    return strerror_r(error, buffer, CRI_REASON_SIZE) == 0 ? buffer : "unknown error";
}

static cr_status fail_errno(cr_ctx *cx, const char *verb, const char *path, int error)
{
    char text[CRI_REASON_SIZE];
    return cr_fail(cx, CR_EIO, "cannot %s %s: %s", verb, path, cri_reason(error, text));
}

/* The directory part of path, "." when it has none. */
static void directory_of(const char *path, char out[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    size_t      n = slash == path ? 1 : slash ? (size_t)(slash - path) : 0;
    if (n >= PATH_MAX) n = PATH_MAX - 1;
    memcpy(out, path, n);
    out[n] = '\0';
    if (n == 0) memcpy(out, ".", 2);
}

/* Opens path, which may mean to wait for the other end of a pipe. */
static cr_status open_path(cr_ctx *cx, const char *verb, const char *path, int flags, int *out_fd)
{
    cr_status st = CR_OK;
    int       fd;
    do {
        fd = open(path, flags | O_CLOEXEC | O_NOCTTY);
        if (fd < 0 && errno != EINTR) CR_TRY(fail_errno(cx, verb, path, errno));
        if (fd < 0) CR_TRY(cr_check_interrupt(cx));
    } while (fd < 0);
    *out_fd = fd;
done:
    return st;
}

/* --- where to write -------------------------------------------------------------------------- */

/* The descriptor that a name such as /dev/stdout or /dev/fd/3 stands for, or -1.  These are written
 * through the open descriptor: its place in the file counts, and renaming would miss it. */
static int descriptor_of(const char *path)
{
    static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };
    if (strcmp(path, "/dev/stdout") == 0) return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0) return STDERR_FILENO;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        size_t n = strlen(folders[i]);
        if (strncmp(path, folders[i], n) != 0) continue;
        char *stop;
        long  fd = strtol(path + n, &stop, 10);
        if (stop > path + n && *stop == '\0' && fd >= 0 && fd <= INT_MAX) return (int)fd;
    }
    return -1;
}

/* Follows symbolic links, also to a file that is not there yet.  Returns 0 or an errno. */
static int follow_links(const char *path, char out[PATH_MAX])
{
    char link[PATH_MAX], folder[PATH_MAX];
    if (strlen(path) >= PATH_MAX) return ENAMETOOLONG;
    memcpy(out, path, strlen(path) + 1);
    for (int i = 0; i < MOST_LINKS; i++) {
        ssize_t n = readlink(out, link, sizeof link - 1);
        if (n < 0) return 0; /* not a link, or not there */
        link[n] = '\0';
        size_t head = 0; /* of the folder that the link is relative to */
        if (link[0] != '/' && strchr(out, '/')) {
            directory_of(out, folder);
            head = strlen(folder);
            if (folder[head - 1] != '/') folder[head++] = '/';
        }
        if (head + (size_t)n >= PATH_MAX) return ENAMETOOLONG;
        memcpy(out, folder, head);
        memcpy(out + head, link, (size_t)n + 1);
    }
    return ELOOP;
}

/* Says why no file can be made beside the target. */
static cr_status fail_directory(cri_file *f, int error)
{
    struct stat info;
    char        folder[PATH_MAX], text[CRI_REASON_SIZE];
    directory_of(f->target, folder);
    if (error == ENOENT && stat(folder, &info) != 0)
        return cr_fail(f->cx, CR_EIO, "cannot write %s: the directory '%s' does not exist", f->path,
                       folder);
    if (error == ENOTDIR)
        return cr_fail(f->cx, CR_EIO, "cannot write %s: '%s' is not a directory", f->path, folder);
    if (error == EACCES || error == EPERM || error == EROFS || error == ENOENT)
        return cr_fail(f->cx, CR_EIO, "cannot write %s: no new file can be made in '%s': %s",
                       f->path, folder, cri_reason(error, text));
    return fail_errno(f->cx, "write", f->path, error);
}

/* fd is locked and still the file at path: nobody removed it as left behind meanwhile.  The lock is
 * `known` to be held, or the file system has none. */
static bool claim(int fd, const char *path, bool known)
{
    struct stat ours, there;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && (known || errno == EWOULDBLOCK)) return false;
    return fstat(fd, &ours) == 0 && lstat(path, &there) == 0 && ours.st_dev == there.st_dev &&
           ours.st_ino == there.st_ino;
}

/* Removes what a save that was killed left at path: a plain file of ours that no process holds. */
static void remove_leftover(const char *path)
{
    struct stat info;
    int         fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) return;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
        info.st_nlink == 1 && claim(fd, path, true))
        unlink(path);
    close(fd);
}

/* Opens a new file at path that is locked for as long as it is open.  Returns 0 or an errno, EEXIST
 * where another process is at work there. */
static int open_new(const char *path, mode_t mode, int *out_fd)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, mode);
    if (fd < 0) return errno;
    if (claim(fd, path, false)) return *out_fd = fd, 0;
    close(fd);
    return EEXIST;
}

/* Opens a new file `.NAME.credence-1` beside the target, or 2, 3, ... where others save under the
 * same name at this time.  The file that takes the place of another one is nobody else's to read
 * before it has that one's mode; to a new one the kernel applies the umask. */
static cr_status open_temporary(cri_file *f)
{
    enum { DIGITS = 4, ATTEMPTS = 1000 };
    static const char mark[] = ".credence-";
    const char       *slash = strrchr(f->target, '/'), *name = slash ? slash + 1 : f->target;
    size_t            folder = (size_t)(name - f->target), kept = strnlen(name, NAME_KEPT);
    size_t            size = folder + 1 + kept + sizeof mark + DIGITS;
    char             *path = cr_alloc(f->cx, size, 1), *own = NULL;
    int               error = EEXIST;

    if (!path) return CR_ENOMEM;
    for (int i = 1; i <= ATTEMPTS && error == EEXIST; i++) {
        snprintf(path, size, "%.*s.%.*s%s%d", (int)folder, f->target, (int)kept, name, mark, i);
        remove_leftover(path);
        error = open_new(path, f->replaces ? 0600 : 0666, &f->fd);
    }
    if (!error && !(own = cri_string_copy(f->cx, path))) unlink(path);
    cr_free(f->cx, path, size, 1);
    if (error) return fail_directory(f, error);
    if (!own) return CR_ENOMEM;
    f->temporary = own;
    cri_ctx_note_temporary(f->cx, own);
    return CR_OK;
}

/* Decides between a temporary file and writing directly, and opens it. */
static cr_status open_output(cri_file *f)
{
    int fd = descriptor_of(f->path);
    if (fd >= 0) {
        f->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
        return f->fd < 0 ? fail_errno(f->cx, "write", f->path, errno) : CR_OK;
    }
    struct stat info;
    if (stat(f->path, &info) == 0) {
        if (S_ISDIR(info.st_mode)) return fail_errno(f->cx, "write", f->path, EISDIR);
        if (!S_ISREG(info.st_mode)) return open_path(f->cx, "write", f->path, O_WRONLY, &f->fd);
        /* A write-protected file stays, although its directory would let it be replaced. */
        if (faccessat(AT_FDCWD, f->path, W_OK, AT_EACCESS) != 0)
            return fail_errno(f->cx, "write", f->path, errno);
        f->replaces = true;
        f->mode = info.st_mode & 07777;
        f->uid = info.st_uid;
        f->gid = info.st_gid;
    }
    char target[PATH_MAX];
    int  error = follow_links(f->path, target);
    if (error) return fail_errno(f->cx, "write", f->path, error);
    size_t n = strlen(target);
    if (n == 0) return fail_errno(f->cx, "write", "''", ENOENT);
    if (target[n - 1] == '/') return fail_errno(f->cx, "write", f->path, EISDIR);
    f->target = cri_string_copy(f->cx, target);
    return f->target ? open_temporary(f) : CR_ENOMEM;
}

/* --- writing --------------------------------------------------------------------------------- */

/* There is no temporary any more. */
static void forget_temporary(cri_file *f)
{
    cri_ctx_forget_temporary(f->cx, f->temporary);
    cri_string_free(f->cx, f->temporary);
    f->temporary = NULL;
}

static void free_file(cri_file *f)
{
    cri_string_free(f->cx, f->path);
    cri_string_free(f->cx, f->target);
    forget_temporary(f);
    cr_free(f->cx, f, 1, sizeof *f);
}

void cri_file_abandon(cri_file *f)
{
    if (!f) return;
    if (f->temporary) unlink(f->temporary); /* while it is locked */
    if (f->fd >= 0) close(f->fd);
    free_file(f);
}

cr_status cri_file_create(cr_ctx *cx, const char *path, cri_file **out_file)
{
    cr_status st = CR_OK;
    cri_file *f = cr_resize(cx, NULL, 0, 1, sizeof *f);
    if (!f) return CR_ENOMEM;
    memset(f, 0, offsetof(cri_file, buffer));
    f->cx = cx;
    f->fd = -1;
    f->path = cri_string_copy(cx, path);
    if (!f->path) CR_TRY(CR_ENOMEM);
    CR_TRY(open_output(f));
    *out_file = f;
    return CR_OK;
done:
    cri_file_abandon(f);
    return st;
}

/* Writes all of the bytes past the buffer, in as many steps as the system takes.  A request to
 * stop ends the wait for a pipe, but not the writing of a file: interrupted work can be saved. */
static cr_status write_through(cri_file *f, const char *bytes, size_t size)
{
    cr_status st = CR_OK;
    while (size > 0) {
        ssize_t n = write(f->fd, bytes, size < LARGEST_STEP ? size : LARGEST_STEP);
        if (n < 0 && errno != EINTR) CR_TRY(fail_errno(f->cx, "write", f->path, errno));
        if (n < 0) {
            if (!f->temporary) CR_TRY(cr_check_interrupt(f->cx));
            continue;
        }
        bytes += n;
        size -= (size_t)n;
    }
done:
    return st;
}

static cr_status flush(cri_file *f)
{
    cr_status st = write_through(f, f->buffer, f->used);
    f->used = 0;
    return st;
}

cr_status cri_file_write(cri_file *f, const void *bytes, size_t size)
{
    cr_status st = f->status;
    if (st != CR_OK || size == 0) return st;
    if (size >= BUFFER_SIZE - f->used) CR_TRY(flush(f));
    if (size >= BUFFER_SIZE)
        CR_TRY(write_through(f, bytes, size));
    else {
        memcpy(f->buffer + f->used, bytes, size);
        f->used += size;
    }
done:
    return f->status = st;
}

/* fsync, where the file system knows it. */
static int sync_descriptor(int fd)
{
    int error;
    do error = fsync(fd) == 0 ? 0 : errno;
    while (error == EINTR);
    return error == EINVAL || error == ENOTSUP ? 0 : error;
}

/* Makes a rename in the directory of the target last. */
static int sync_directory(const char *target)
{
    char folder[PATH_MAX];
    directory_of(target, folder);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return errno == EACCES ? 0 : errno; /* a directory one may write but not list */
    int error = sync_descriptor(fd);
    close(fd);
    return error;
}

/* Puts the finished temporary in the place of the target.  The second descriptor keeps the lock
 * until it is there: close may tell of a write that failed, so it comes before the renaming. */
static cr_status put_in_place(cri_file *f)
{
    int error = 0, lock = fcntl(f->fd, F_DUPFD_CLOEXEC, 0);
    if (f->replaces) { /* the owner first: changing it may clear bits of the mode */
        bool ours = fchown(f->fd, f->uid, f->gid) == 0;
        if (fchmod(f->fd, ours ? f->mode : f->mode & 0777) != 0) error = errno;
    }
    if (!error) error = sync_descriptor(f->fd);
    if (close(f->fd) != 0 && !error) error = errno;
    f->fd = -1;
    if (!error && rename(f->temporary, f->target) != 0) error = errno;
    if (error) unlink(f->temporary);
    if (lock >= 0) close(lock);
    forget_temporary(f);
    if (error) return fail_errno(f->cx, "write", f->path, error);
    error = sync_directory(f->target);
    return error ? fail_errno(f->cx, "write", f->path, error) : CR_OK;
}

cr_status cri_file_commit(cri_file *f)
{
    cr_status st = f->status;
    CR_TRY(st);
    CR_TRY(flush(f));
    if (f->temporary)
        CR_TRY(put_in_place(f));
    else {
        int error = close(f->fd) == 0 ? 0 : errno;
        f->fd = -1;
        if (error) CR_TRY(fail_errno(f->cx, "write", f->path, error));
    }
done:
    cri_file_abandon(f);
    return st;
}

cr_status cri_file_save(cr_ctx *cx, const char *path, const void *bytes, size_t size)
{
    cri_file *f;
    cr_status st = cri_file_create(cx, path, &f);
    if (st != CR_OK) return st;
    cri_file_write(f, bytes, size); /* a failure sticks until commit */
    return cri_file_commit(f);
}

/* --- reading --------------------------------------------------------------------------------- */

typedef struct incoming {
    const char *path;
    size_t      most; /* 0 = any */
    char       *bytes;
    size_t      used, capacity;
} incoming;

/* Reads up to `size` bytes to `into`; *out_n = 0 at the end. */
static cr_status read_some(cr_ctx *cx, const char *path, int fd, char *into, size_t size,
                           size_t *out_n)
{
    cr_status st = CR_OK;
    ssize_t   n;
    do {
        n = read(fd, into, size < LARGEST_STEP ? size : LARGEST_STEP);
        if (n < 0 && errno != EINTR) CR_TRY(fail_errno(cx, "read", path, errno));
        CR_TRY(cr_check_interrupt(cx));
    } while (n < 0);
    *out_n = (size_t)n;
done:
    return st;
}

static cr_status set_capacity(cr_ctx *cx, incoming *in, size_t capacity)
{
    char *bytes = cr_resize(cx, in->bytes, in->capacity, capacity, 1);
    if (!bytes) return CR_ENOMEM;
    in->bytes = bytes;
    in->capacity = capacity;
    return CR_OK;
}

static cr_status fail_too_large(cr_ctx *cx, const incoming *in)
{
    return cr_fail(cx, CR_EDATA, "%s is larger than the %zu bytes allowed here", in->path,
                   in->most);
}

/* Reads until the end, whatever size the file was said to have: it may have grown or shrunk. */
static cr_status read_all(cr_ctx *cx, int fd, incoming *in)
{
    cr_status st = CR_OK;
    char      probe[4096];
    for (;;) {
        bool   full = in->used == in->capacity;
        size_t n;
        CR_TRY(read_some(cx, in->path, fd, full ? probe : in->bytes + in->used,
                         full ? sizeof probe : in->capacity - in->used, &n));
        if (n == 0) break;
        if (in->most && n > in->most - in->used) CR_TRY(fail_too_large(cx, in));
        if (full) {
            CR_TRY(set_capacity(
                cx, in, in->capacity + (in->capacity > BUFFER_SIZE ? in->capacity : BUFFER_SIZE)));
            memcpy(in->bytes + in->used, probe, n);
        }
        in->used += n;
    }
    CR_TRY(set_capacity(cx, in, in->used));
done:
    return st;
}

cr_status cri_file_load(cr_ctx *cx, const char *path, size_t most, char **out_bytes,
                        size_t *out_size)
{
    cr_status   st = CR_OK;
    incoming    in = { .path = path, .most = most };
    struct stat info;
    int         fd = -1;

    CR_TRY(open_path(cx, "read", path, O_RDONLY, &fd));
    if (fstat(fd, &info) != 0) CR_TRY(fail_errno(cx, "read", path, errno));
    if (S_ISDIR(info.st_mode)) CR_TRY(fail_errno(cx, "read", path, EISDIR));
    if (S_ISREG(info.st_mode) && info.st_size > 0) {
        if (most && (uintmax_t)info.st_size > most) CR_TRY(fail_too_large(cx, &in));
        if ((uintmax_t)info.st_size > SIZE_MAX) CR_TRY(fail_errno(cx, "read", path, EFBIG));
        CR_TRY(set_capacity(cx, &in, (size_t)info.st_size));
    }
    CR_TRY(read_all(cx, fd, &in));
    *out_bytes = in.bytes;
    *out_size = in.used;
    in.bytes = NULL;
done:
    cr_free(cx, in.bytes, in.capacity, 1);
    if (fd >= 0) close(fd);
    return st;
}
