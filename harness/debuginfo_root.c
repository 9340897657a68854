// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Regular files below a root folder that no symbolic link leads out of: --symfs, /proc/PID/root.
 */
#include "harness/debuginfo.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Links in one path; the kernel's own limit. */
#define MAX_LINKS	40

static bool same_link(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/**
 * debuginfo_root_open() - find where a process's paths start
 * @di: session
 * @pid: the process, 0 for none in particular
 * @root: filled in
 *
 * --symfs wins over everything. A process that shares our mount namespace and root folder, is
 * gone, or may not be looked at, has this host's root: what is found there still has to prove
 * by its build-id that it is the right file.
 */
void debuginfo_root_open(struct debuginfo *di, pid_t pid, struct debuginfo_root *root)
{
	char ns[64], link[64];

	*root = (struct debuginfo_root){ .fd = -1 };
	if (di->opts.symfs) {
		snprintf(root->prefix, sizeof(root->prefix), "%s", di->opts.symfs);
		root->fd = di->symfs_fd;
		return;
	}
	if (pid <= 0)
		return;
	snprintf(ns, sizeof(ns), "/proc/%d/ns/mnt", (int)pid);
	snprintf(link, sizeof(link), "/proc/%d/root", (int)pid);
	if (same_link(ns, "/proc/self/ns/mnt") && same_link(link, "/proc/self/root"))
		return;
	root->fd = open(link, O_PATH | O_DIRECTORY | O_CLOEXEC);
	root->own_fd = root->fd >= 0;
	if (root->fd >= 0)
		snprintf(root->prefix, sizeof(root->prefix), "%s", link);
}

/**
 * debuginfo_root_close() - undo debuginfo_root_open()
 * @root: the root
 */
void debuginfo_root_close(struct debuginfo_root *root)
{
	if (root->own_fd)
		close(root->fd);
	root->fd = -1;
	root->own_fd = false;
}

/* Drop the last component of "/a/b". */
static void pop(char *path)
{
	char *slash = strrchr(path, '/');

	if (slash)
		*slash = '\0';
}

/*
 * What RESOLVE_IN_ROOT does, component by component: @done never holds a link, so that opening
 * it relative to the root stays below the root.
 */
static int walk(int root, const char *path)
{
	char done[PATH_MAX] = "", todo[PATH_MAX], next[PATH_MAX], target[PATH_MAX];
	int links = 0;

	if (strlen(path) >= sizeof(todo))
		goto too_long;
	strcpy(todo, path);
	while (*todo) {
		char *comp = todo + strspn(todo, "/");
		size_t len = strcspn(comp, "/"), at = strlen(done);
		const char *rest = comp + len;
		ssize_t got;

		if (!len)
			break;
		if (len == 2 && !memcmp(comp, "..", 2)) {
			pop(done);
		} else if (len != 1 || *comp != '.') {
			if (len >= sizeof(done) - at - 1)
				goto too_long;
			done[at] = '/';
			memcpy(done + at + 1, comp, len);
			done[at + 1 + len] = '\0';
			got = readlinkat(root, done + 1, target, sizeof(target) - 1);
			if (got < 0 && errno != EINVAL)
				return -1;
			if (got >= 0) {
				if (++links > MAX_LINKS) {
					errno = ELOOP;
					return -1;
				}
				target[got] = '\0';
				done[*target == '/' ? 0 : at] = '\0';
				if ((size_t)got + strlen(rest) + 1 >= sizeof(next))
					goto too_long;
				strcpy(next, target);
				strcat(next, rest);
				strcpy(todo, next);
				continue;
			}
		}
		memmove(todo, rest, strlen(rest) + 1);
	}
	return openat(root, *done ? done + 1 : ".", O_PATH | O_NOFOLLOW | O_CLOEXEC);
too_long:
	errno = ENAMETOOLONG;
	return -1;
}

static int open_below(const struct debuginfo *di, int root, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	int fd;

	if (di->opts.no_openat2)
		return walk(root, path);
	fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	/* An old kernel, or a container whose filter knows no such call. */
	if (fd < 0 && (errno == ENOSYS || errno == EPERM || errno == EINVAL))
		return walk(root, path);
	return fd;
}

static enum debuginfo_verdict verdict_of(int error)
{
	switch (error) {
	case ENOENT:
	case ENOTDIR:
		return DEBUGINFO_ABSENT;
	case ELOOP:
		return DEBUGINFO_SYMLINK_LOOP;
	default:
		return DEBUGINFO_UNREADABLE;
	}
}

/**
 * debuginfo_root_file() - open a regular file below a root for reading
 * @di: session
 * @root: where @path starts
 * @path: absolute there
 * @verdict: filled in where the result is -1
 *
 * Links are followed as the target would see them: none leads out of the root. The file is
 * looked at before it is opened, so that no FIFO blocks and no device is touched.
 *
 * Return: a file descriptor, or -1 with errno set.
 */
int debuginfo_root_file(const struct debuginfo *di, const struct debuginfo_root *root,
			const char *path, enum debuginfo_verdict *verdict)
{
	char again[64];
	struct stat st;
	int at, fd;

	if (*root->prefix)
		at = root->fd < 0 ? -1 : open_below(di, root->fd, path);
	else
		at = open(path, O_PATH | O_CLOEXEC);
	if (at < 0) {
		/* A symfs that is not there: nothing is found, and the host is not asked. */
		if (*root->prefix && root->fd < 0)
			errno = ENOENT;
		*verdict = verdict_of(errno);
		return -1;
	}
	if (fstat(at, &st) || !S_ISREG(st.st_mode)) {
		close(at);
		errno = EINVAL;
		*verdict = DEBUGINFO_NOT_REGULAR;
		return -1;
	}
	snprintf(again, sizeof(again), "/proc/self/fd/%d", at);
	fd = open(again, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		*verdict = DEBUGINFO_UNREADABLE;
	close(at);
	return fd;
}
