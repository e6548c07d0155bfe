/* Preloaded into a process: puts on a tape what it does to the files of a directory, and what it says on pipes.

   TAPE_ROOT: the directory, without symbolic links. TAPE_FILE: where the tape is written; all processes share it.
   TAPE_KILL_AT: the number of the call on those files before which this process is killed.

   Each call leaves two records, before it and after it, so that a call which overlaps an fsync is known not to be covered
   by it. A record is one write to a file opened with O_APPEND: their order is that of all processes. tape.py reads them. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

struct __attribute__((packed)) head {
    uint32_t kind;
    uint64_t call;
    uint64_t inode;
    int64_t offset;
    int64_t length;
    uint32_t path, other, data;
};

static char root[PATH_MAX];
static int tape = -1;
static atomic_long kill_at, made;
static atomic_uint calls;

__attribute__((constructor)) static void begin_tape(void) {
    const char *directory = getenv("TAPE_ROOT"), *file = getenv("TAPE_FILE"), *number = getenv("TAPE_KILL_AT");
    if (!directory || !file) return;
    snprintf(root, sizeof root, "%s/", directory);
    int fd = syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    tape = fcntl(fd, F_DUPFD_CLOEXEC, 500);
    syscall(SYS_close, fd);
    if (number) kill_at = atol(number);
}

/* Of a process that was forked for this. */
void tape_kill_at(long number) {
    made = 0;
    kill_at = number;
}

static void put(struct head head, const char *path, const char *other, const void *data) {
    int before = errno;
    head.path = strlen(path), head.other = strlen(other);
    struct iovec parts[] = {
        {&head, sizeof head}, {(void *)path, head.path}, {(void *)other, head.other}, {(void *)data, head.data}};
    if (writev(tape, parts, 4) < 0) abort();
    errno = before;
}

static uint64_t begin(struct head head, const char *path, const char *other, const void *data) {
    if (head.kind != 'p' && ++made == kill_at) kill(getpid(), SIGKILL);
    head.call = (uint64_t)getpid() << 32 | ++calls;
    put(head, path, other, data);
    return head.call;
}

static long end(uint64_t call, long result, uint64_t inode) {
    put((struct head){'.', call, inode, 0, result}, "", "", "");
    return result;
}

static int is_ours(const char *path) {
    return tape >= 0 && strncmp(path, root, strlen(root)) == 0;
}

static const char *full(int directory, const char *path, char *out) {
    char link[64];
    if (path[0] == '/') return path;
    if (directory == AT_FDCWD) strcpy(link, "/proc/self/cwd");
    else snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
    ssize_t length = readlink(link, out, PATH_MAX - 1);
    if (length < 0) length = 0;
    snprintf(out + length, PATH_MAX - length, "/%s", path);
    return out;
}

static int of(int fd, char *path, struct stat *found) {
    char link[64];
    if (tape < 0 || fd == tape) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length < 0 || fstat(fd, found)) return 0;
    path[length] = 0;
    strcat(path, "/"); /* so that the directory itself is ours as well */
    int ours = is_ours(path);
    path[length] = 0;
    return ours;
}

/* Content. */

static ssize_t written(int fd, const void *data, size_t size, off_t offset, int at_offset) {
    char path[PATH_MAX + 1];
    struct stat found;
    long done;
    if (of(fd, path, &found) && S_ISREG(found.st_mode)) {
        int appends = fcntl(fd, F_GETFL) & O_APPEND;
        int64_t where = at_offset ? offset : appends ? found.st_size : lseek(fd, 0, SEEK_CUR);
        uint64_t call = begin((struct head){'w', 0, found.st_ino, where, size, .data = size}, path, "", data);
        done = at_offset ? syscall(SYS_pwrite64, fd, data, size, offset) : syscall(SYS_write, fd, data, size);
        return end(call, done, found.st_ino);
    }
    if (!at_offset && tape >= 0 && !fstat(fd, &found) && S_ISFIFO(found.st_mode))
        begin((struct head){'p', 0, 0, fd, size, .data = size}, "", "", data);
    return at_offset ? syscall(SYS_pwrite64, fd, data, size, offset) : syscall(SYS_write, fd, data, size);
}

ssize_t write(int fd, const void *data, size_t size) { return written(fd, data, size, 0, 0); }
ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) { return written(fd, data, size, offset, 1); }
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset) { return written(fd, data, size, offset, 1); }

int ftruncate(int fd, off_t size) {
    char path[PATH_MAX + 1];
    struct stat found;
    if (!of(fd, path, &found)) return syscall(SYS_ftruncate, fd, size);
    uint64_t call = begin((struct head){'t', 0, found.st_ino, 0, size}, path, "", "");
    return end(call, syscall(SYS_ftruncate, fd, size), found.st_ino);
}
int ftruncate64(int fd, off64_t size) { return ftruncate(fd, size); }

static int synced(long number, int fd) {
    char path[PATH_MAX + 1];
    struct stat found;
    if (!of(fd, path, &found)) return syscall(number, fd);
    uint64_t call = begin((struct head){'s', 0, found.st_ino}, path, "", "");
    return end(call, syscall(number, fd), found.st_ino);
}
int fsync(int fd) { return synced(SYS_fsync, fd); }
int fdatasync(int fd) { return synced(SYS_fdatasync, fd); }

/* Names. */

static int opened(int directory, const char *name, int flags, mode_t mode) {
    char out[PATH_MAX];
    struct stat found = {0};
    const char *path = full(directory, name, out);
    int is_nameless = (flags & O_TMPFILE) == O_TMPFILE, is_there = !stat(path, &found);
    int changes = is_nameless || (flags & O_CREAT && !is_there) || (flags & O_TRUNC && is_there);
    if (!changes || !is_ours(path)) return syscall(SYS_openat, directory, name, flags, mode);
    uint64_t call = begin((struct head){is_nameless ? 'n' : is_there ? 'e' : 'c'}, path, "", "");
    int fd = syscall(SYS_openat, directory, name, flags, mode);
    if (fd >= 0) fstat(fd, &found);
    return end(call, fd, found.st_ino);
}

#define OPENED(directory)                                                                                             \
    va_list more;                                                                                                      \
    va_start(more, flags);                                                                                             \
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;                                            \
    va_end(more);                                                                                                      \
    return opened(directory, name, flags, mode);

int open(const char *name, int flags, ...) { OPENED(AT_FDCWD) }
int open64(const char *name, int flags, ...) { OPENED(AT_FDCWD) }
int openat(int directory, const char *name, int flags, ...) { OPENED(directory) }
int openat64(int directory, const char *name, int flags, ...) { OPENED(directory) }

int unlinkat(int directory, const char *name, int flags) {
    char out[PATH_MAX];
    const char *path = full(directory, name, out);
    if (!is_ours(path)) return syscall(SYS_unlinkat, directory, name, flags);
    uint64_t call = begin((struct head){'u'}, path, "", "");
    return end(call, syscall(SYS_unlinkat, directory, name, flags), 0);
}
int unlink(const char *name) { return unlinkat(AT_FDCWD, name, 0); }
int rmdir(const char *name) { return unlinkat(AT_FDCWD, name, AT_REMOVEDIR); }

int renameat(int from, const char *name, int to, const char *other) {
    char out[PATH_MAX], second[PATH_MAX];
    const char *old = full(from, name, out), *new = full(to, other, second);
    if (!is_ours(old) && !is_ours(new)) return syscall(SYS_renameat2, from, name, to, other, 0);
    uint64_t call = begin((struct head){'r'}, old, new, "");
    return end(call, syscall(SYS_renameat2, from, name, to, other, 0), 0);
}
int rename(const char *name, const char *other) { return renameat(AT_FDCWD, name, AT_FDCWD, other); }

int linkat(int from, const char *name, int to, const char *other, int flags) {
    char out[PATH_MAX], second[PATH_MAX];
    const char *old = full(from, name, out), *new = full(to, other, second);
    if (!is_ours(new)) return syscall(SYS_linkat, from, name, to, other, flags);
    uint64_t call = begin((struct head){'l'}, old, new, "");
    return end(call, syscall(SYS_linkat, from, name, to, other, flags), 0);
}
int link(const char *name, const char *other) { return linkat(AT_FDCWD, name, AT_FDCWD, other, 0); }

int mkdirat(int directory, const char *name, mode_t mode) {
    char out[PATH_MAX];
    const char *path = full(directory, name, out);
    if (!is_ours(path)) return syscall(SYS_mkdirat, directory, name, mode);
    uint64_t call = begin((struct head){'m'}, path, "", "");
    return end(call, syscall(SYS_mkdirat, directory, name, mode), 0);
}
int mkdir(const char *name, mode_t mode) { return mkdirat(AT_FDCWD, name, mode); }
