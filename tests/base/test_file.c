/* test_file.c -- what is written is read back; whatever goes wrong, the old file stays. */
#include "support.h"
#include "base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* A path in the test's directory, in one of a few static buffers. */
static const char *in_directory(const char *name)
{
    static char     path[4][512];
    static unsigned next;
    char           *p = path[next++ % 4];
    snprintf(p, sizeof path[0], "%s/%s", test_directory(), name);
    return p;
}

/* A fresh directory below the test's. */
static const char *fresh(const char *name)
{
    const char *path = in_directory(name);
    assert_int_equal(mkdir(path, 0777), 0);
    return path;
}

static size_t count_entries(const char *folder)
{
    size_t n = 0;
    DIR   *d = opendir(folder);
    assert_non_null(d);
    while (readdir(d)) n++;
    closedir(d);
    return n - 2; /* . and .. */
}

/* The file's bytes by stdio, the other road. */
static void assert_holds(const char *path, const void *bytes, size_t size)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char  *got = malloc(size + 1);
    size_t n = fread(got, 1, size + 1, f);
    fclose(f);
    bool same = n == size && memcmp(got, bytes, size) == 0;
    free(got);
    assert_true(same);
}

static char *noise(size_t size)
{
    char    *bytes = malloc(size + 1);
    uint32_t x = 12345;
    for (size_t i = 0; i < size; i++) bytes[i] = (char)((x = x * 1664525u + 1013904223u) >> 24);
    return bytes;
}

/* Runs body in a child process, which must leave with status 0. */
static void in_child(void (*body)(void *arg), void *arg)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        body(arg);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

TEST(round_trip)
{
    static const size_t sizes[] = { 0, 1, 65535, 65536, 65537, 1000003 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char       *bytes = noise(sizes[i]), *got = NULL;
        size_t      size = 99;
        const char *path = in_directory("round");
        assert_ok(cx, cri_file_save(cx, path, bytes, sizes[i]));
        assert_holds(path, bytes, sizes[i]);
        assert_ok(cx, cri_file_load(cx, path, 0, &got, &size));
        assert_int_equal(size, sizes[i]);
        assert_memory_equal(got, bytes, size);
        cr_free(cx, got, size, 1);
        free(bytes);
    }
}

TEST(many_small_writes)
{
    enum { SIZE = 300000 };
    char       *bytes = noise(SIZE);
    const char *path = in_directory("pieces");
    cri_file   *f;
    assert_ok(cx, cri_file_create(cx, path, &f));
    for (size_t at = 0, step = 0; at < SIZE; at += step) {
        step = (step * 7 + 3) % 90001; /* some larger than the buffer */
        if (step > SIZE - at) step = SIZE - at;
        assert_ok(cx, cri_file_write(f, bytes + at, step));
    }
    assert_int_equal(access(path, F_OK), -1); /* not before commit */
    assert_ok(cx, cri_file_commit(f));
    assert_holds(path, bytes, SIZE);
    free(bytes);
}

TEST(abandon_leaves_nothing)
{
    const char *folder = fresh("abandon");
    test_file("abandon/old", "old", 3);
    cri_file *f;
    assert_ok(cx, cri_file_create(cx, in_directory("abandon/old"), &f));
    assert_ok(cx, cri_file_write(f, "new", 3));
    assert_int_equal(count_entries(folder), 2);
    cri_file_abandon(f);
    cri_file_abandon(NULL);
    assert_int_equal(count_entries(folder), 1);
    assert_holds(in_directory("abandon/old"), "old", 3);
}

/* --- permission bits, links ------------------------------------------------------------------ */

static mode_t mode_of(const char *path)
{
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return info.st_mode & 07777;
}

TEST(permission_bits)
{
    mode_t old = umask(027);
    assert_ok(cx, cri_file_save(cx, in_directory("masked"), "a", 1));
    assert_int_equal(mode_of(in_directory("masked")), 0640);
    assert_int_equal(umask(old), 027); /* left as it was */
    assert_int_equal(chmod(in_directory("masked"), 0604), 0);
    assert_ok(cx, cri_file_save(cx, in_directory("masked"), "b", 1));
    assert_int_equal(mode_of(in_directory("masked")), 0604);
}

TEST(symbolic_links)
{
    struct stat info;
    fresh("links");
    fresh("links/below");
    test_file("links/below/real", "old", 3);
    assert_int_equal(symlink("below/real", in_directory("links/one")), 0);
    assert_int_equal(symlink("one", in_directory("links/two")), 0);
    assert_ok(cx, cri_file_save(cx, in_directory("links/two"), "new", 3));
    assert_int_equal(lstat(in_directory("links/two"), &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_holds(in_directory("links/below/real"), "new", 3);

    assert_int_equal(symlink("below/later", in_directory("links/dangling")), 0);
    assert_ok(cx, cri_file_save(cx, in_directory("links/dangling"), "made", 4));
    assert_holds(in_directory("links/below/later"), "made", 4);

    assert_int_equal(symlink("loop", in_directory("links/loop")), 0);
    assert_fails_with(cx, cri_file_save(cx, in_directory("links/loop"), "x", 1), CR_EIO,
                      "Too many levels");
    assert_int_equal(count_entries(in_directory("links/below")), 2);
}

static void save_to_relative_name(void *arg)
{
    (void)arg;
    cr_ctx *cx = test_context();
    assert_int_equal(chdir(test_directory()), 0);
    assert_int_equal(symlink("relative", "to-relative"), 0);
    assert_ok(cx, cri_file_save(cx, "to-relative", "here", 4));
    test_context_free(cx);
}

TEST(relative_name)
{
    in_child(save_to_relative_name, NULL);
    assert_holds(in_directory("relative"), "here", 4);
}

TEST(longest_name)
{
    char name[257];
    memset(name, 'n', 256);
    name[256] = '\0';
    assert_fails_with(cx, cri_file_save(cx, in_directory(name), "x", 1), CR_EIO, "name too long");
    name[255] = '\0';
    assert_ok(cx, cri_file_save(cx, in_directory(name), "x", 1));
    assert_holds(in_directory(name), "x", 1);
}

/* --- what is not a regular file -------------------------------------------------------------- */

TEST(devices)
{
    struct stat info;
    assert_ok(cx, cri_file_save(cx, "/dev/null", "abc", 3));
    assert_int_equal(stat("/dev/null", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
    if (access("/dev/full", W_OK) == 0) {
        assert_fails(cx, cri_file_save(cx, "/dev/full", "abc", 3), CR_EIO);
        assert_string_equal(cr_error(cx), "cannot write /dev/full: No space left on device");
        char *bytes = noise(200000); /* past the buffer: the failure comes with write and sticks */
        assert_fails_with(cx, cri_file_save(cx, "/dev/full", bytes, 200000), CR_EIO, "No space");
        free(bytes);
    }
}

static void drain_pipe(void *fifo)
{
    char buffer[4096];
    int  fd = open(fifo, O_RDONLY), out = open(in_directory("drained"), O_WRONLY | O_CREAT, 0666);
    if (fd < 0 || out < 0) _exit(1);
    for (ssize_t n; (n = read(fd, buffer, sizeof buffer)) > 0;)
        if (write(out, buffer, (size_t)n) != n) _exit(1);
}

TEST(named_pipe)
{
    const char *fifo = in_directory("fifo");
    char       *bytes = noise(500000);
    assert_int_equal(mkfifo(fifo, 0666), 0);
    pid_t reader = fork();
    if (reader == 0) {
        drain_pipe((void *)(uintptr_t)fifo);
        _exit(0);
    }
    assert_ok(cx, cri_file_save(cx, fifo, bytes, 500000));
    int status;
    assert_int_equal(waitpid(reader, &status, 0), reader);
    assert_int_equal(status, 0);
    assert_holds(in_directory("drained"), bytes, 500000);
    free(bytes);
}

/* A name for an open descriptor goes on where that descriptor stands. */
TEST(descriptor_names)
{
    char name[64];
    int  fd = open(in_directory("open"), O_RDWR | O_CREAT, 0666);
    assert_int_equal(write(fd, "one ", 4), 4);
    snprintf(name, sizeof name, "/dev/fd/%d", fd);
    assert_ok(cx, cri_file_save(cx, name, "two ", 4));
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    assert_ok(cx, cri_file_save(cx, name, "three", 5));
    close(fd);
    assert_holds(in_directory("open"), "one two three", 13);
    assert_fails_with(cx, cri_file_save(cx, name, "x", 1), CR_EIO, "Bad file descriptor");
}

/* --- failures -------------------------------------------------------------------------------- */

TEST(no_place_to_write)
{
    test_file("plain", "x", 1);
    assert_fails_with(cx, cri_file_save(cx, in_directory("absent/m.cred"), "x", 1), CR_EIO,
                      "absent' does not exist");
    assert_fails_with(cx, cri_file_save(cx, in_directory("plain/m.cred"), "x", 1), CR_EIO,
                      "plain' is not a directory");
    assert_fails_with(cx, cri_file_save(cx, test_directory(), "x", 1), CR_EIO, "Is a directory");
    assert_fails_with(cx, cri_file_save(cx, in_directory("new/"), "x", 1), CR_EIO, "a directory");
    assert_fails_with(cx, cri_file_save(cx, "", "x", 1), CR_EIO, "cannot write ''");
    assert_fails_with(cx, cri_file_save(cx, "/proc/m.cred", "x", 1), CR_EIO,
                      "no new file can be made in '/proc'");
}

static void write_past_limit(void *path)
{
    cr_ctx *cx = test_context();
    char   *bytes = noise(1000000);
    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 100000, 100000 }) != 0) _exit(2);
    cr_status st = cri_file_save(cx, path, bytes, 1000000);
    if (st != CR_EIO || !strstr(cr_error(cx), "full/model.cred: File too large")) _exit(3);
    if (cr_ctx_memory(cx) != 0) _exit(4);
    _exit(0);
}

/* The system stops in the middle of the file, as it does when the disk is full. */
TEST(full_disk)
{
    const char *folder = fresh("full");
    test_file("full/model.cred", "old", 3);
    char path[512];
    snprintf(path, sizeof path, "%s/model.cred", folder);
    in_child(write_past_limit, path);
    assert_holds(path, "old", 3);
    assert_int_equal(count_entries(folder), 1);
}

static void die_half_way(void *path)
{
    cri_file *f;
    cr_ctx   *cx = test_context();
    char     *bytes = noise(200000);
    if (cri_file_create(cx, path, &f) != CR_OK || cri_file_write(f, bytes, 200000) != CR_OK)
        _exit(2);
    _exit(0);
}

TEST(death_half_way)
{
    char path[512];
    fresh("death");
    test_file("death/model.cred", "old", 3);
    snprintf(path, sizeof path, "%s", in_directory("death/model.cred"));
    in_child(die_half_way, path);
    assert_holds(path, "old", 3);
}

TEST(reading_failures)
{
    char  *bytes = NULL;
    size_t size = 7;
    assert_fails_with(cx, cri_file_load(cx, in_directory("absent"), 0, &bytes, &size), CR_EIO,
                      "absent: No such file or directory");
    assert_fails_with(cx, cri_file_load(cx, test_directory(), 0, &bytes, &size), CR_EIO,
                      "Is a directory");
    test_file("ten", "0123456789", 10);
    assert_fails_with(cx, cri_file_load(cx, in_directory("ten"), 9, &bytes, &size), CR_EDATA,
                      "larger than the 9 bytes");
    assert_fails_with(cx, cri_file_load(cx, "/dev/zero", 100000, &bytes, &size), CR_EDATA,
                      "larger than the 100000 bytes");
    cr_ctx_set_memory_limit(cx, 1000000);
    assert_fails(cx, cri_file_load(cx, "/dev/zero", 0, &bytes, &size), CR_ENOMEM);
    assert_true(bytes == NULL && size == 7); /* untouched */
    assert_ok(cx, cri_file_load(cx, in_directory("ten"), 10, &bytes, &size));
    assert_int_equal(size, 10);
    cr_free(cx, bytes, size, 1);
}

/* Files of /proc say they are empty, and are not. */
TEST(size_is_not_believed)
{
    char  *bytes;
    size_t size;
    assert_ok(cx, cri_file_load(cx, "/proc/self/status", 0, &bytes, &size));
    assert_true(size > 5 && memcmp(bytes, "Name:", 5) == 0);
    cr_free(cx, bytes, size, 1);
}

static cr_ctx *interrupted;
static void    on_alarm(int signal_number)
{
    (void)signal_number;
    cr_interrupt(interrupted);
}

TEST(interrupted_while_waiting)
{
    struct sigaction action = { .sa_handler = on_alarm }, old;
    int              ends[2];
    char             name[64], *bytes;
    size_t           size;
    interrupted = cx;
    assert_int_equal(pipe(ends), 0);
    snprintf(name, sizeof name, "/proc/self/fd/%d", ends[0]);
    sigaction(SIGALRM, &action, &old);
    setitimer(ITIMER_REAL, &(struct itimerval){ .it_value = { 0, 20000 } }, NULL);
    assert_fails(cx, cri_file_load(cx, name, 0, &bytes, &size), CR_EINTERRUPTED);
    sigaction(SIGALRM, &old, NULL);
    close(ends[0]);
    close(ends[1]);
    /* a file can still be saved: that is how interrupted work is kept */
    assert_ok(cx, cri_file_save(cx, in_directory("kept"), "work", 4));
}

static cr_status save_and_load(cr_ctx *cx, void *path)
{
    char     *bytes;
    size_t    size;
    cr_status st = cri_file_save(cx, path, "some bytes", 10);
    if (st == CR_OK) st = cri_file_load(cx, path, 0, &bytes, &size);
    if (st == CR_OK) cr_free(cx, bytes, size, 1);
    if (st == CR_OK) st = cri_file_load(cx, "/proc/self/status", 0, &bytes, &size);
    if (st == CR_OK) cr_free(cx, bytes, size, 1);
    return st;
}

TEST(allocations)
{
    char path[512];
    snprintf(path, sizeof path, "%s/kept", fresh("allocations"));
    test_every_allocation_fails(save_and_load, path);
    assert_int_equal(count_entries(in_directory("allocations")), 1);
}
