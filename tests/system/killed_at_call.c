// Preloaded into a program, this ends it as kill -9 does, right before one of the calls by which
// others could notice what the program does: writes to files and pipes, changes to folders, new
// processes. So the place of a kill does not depend on timing.
//   KILLED_PROGRAM  its name; other programs that inherit the environment are left alone
//   KILLED_AT       the number of the call, from 1
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long calls_left;

__attribute__((constructor)) static void begin(void) {
  const char *program = getenv("KILLED_PROGRAM"), *at = getenv("KILLED_AT");
  if (program && at && strcmp(program, program_invocation_short_name) == 0)
    atomic_store(&calls_left, atol(at));
}

// With 0 from the beginning it counts below 0, and never comes to 1.
static void count(void) {
  if (atomic_fetch_sub(&calls_left, 1) == 1) kill(getpid(), SIGKILL);
}

#define COUNT(type, name, parameters, arguments)         \
  type name parameters {                                 \
    static type(*next) parameters;                       \
    if (!next) *(void**)&next = dlsym(RTLD_NEXT, #name); \
    count();                                             \
    return next arguments;                               \
  }

COUNT(ssize_t, write, (int fd, const void* data, size_t size), (fd, data, size))
COUNT(ssize_t, writev, (int fd, const struct iovec* data, int parts), (fd, data, parts))
COUNT(ssize_t, pwrite64, (int fd, const void* data, size_t size, off64_t at), (fd, data, size, at))
COUNT(ssize_t, sendmsg, (int fd, const struct msghdr* message, int flags), (fd, message, flags))
COUNT(int, ftruncate64, (int fd, off64_t size), (fd, size))
COUNT(int, fdatasync, (int fd), (fd))
COUNT(int, rename, (const char* from, const char* to), (from, to))
COUNT(int, unlink, (const char* path), (path))
COUNT(int, rmdir, (const char* path), (path))
COUNT(int, mkdir, (const char* path, mode_t mode), (path, mode))
COUNT(int, kill, (pid_t pid, int number), (pid, number))
COUNT(int, posix_spawn,
      (pid_t * pid, const char* path, const posix_spawn_file_actions_t* actions,
       const posix_spawnattr_t* attributes, char* const arguments[], char* const environment[]),
      (pid, path, actions, attributes, arguments, environment))
