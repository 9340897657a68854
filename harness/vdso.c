// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Gets at the vDSO that this kernel maps into 32-bit tasks: from one that is started for it.
 */
#include "harness/vdso.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOAD_AT		0x08048000U
#define MAX_SIZE	(1U << 20)

/* A 32-bit program: one byte to standard output says that it is mapped whole, then it waits. */
struct program {
	Elf32_Ehdr eh;
	Elf32_Phdr ph;
	u8 code[32];
};

static const u8 code[32] = {
	0xbb, 1, 0, 0, 0,	/* mov $1, %ebx */
	0x89, 0xe1,		/* mov %esp, %ecx */
	0xba, 1, 0, 0, 0,	/* mov $1, %edx */
	0xb8, 4, 0, 0, 0,	/* mov $4, %eax (write) */
	0xcd, 0x80,		/* int $0x80 */
	0xb8, 29, 0, 0, 0,	/* mov $29, %eax (pause) */
	0xcd, 0x80,		/* int $0x80 */
	0xeb, 0xf7,		/* jmp to that mov */
};

static int make_program(void)
{
	struct program p = {
		.eh = {
			.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB,
				     EV_CURRENT },
			.e_type = ET_EXEC, .e_machine = EM_386, .e_version = EV_CURRENT,
			.e_entry = LOAD_AT + offsetof(struct program, code),
			.e_phoff = offsetof(struct program, ph),
			.e_ehsize = sizeof(p.eh), .e_phentsize = sizeof(p.ph), .e_phnum = 1,
		},
		.ph = {
			.p_type = PT_LOAD, .p_vaddr = LOAD_AT, .p_filesz = sizeof(p),
			.p_memsz = sizeof(p), .p_flags = PF_R | PF_X, .p_align = 4096,
		},
	};
	int fd = memfd_create("compat", MFD_CLOEXEC);

	memcpy(p.code, code, sizeof(code));
	if (fd >= 0 && write(fd, &p, sizeof(p)) != (ssize_t)sizeof(p)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Starts it; returns when it has said its byte, or is gone. */
static pid_t start(void)
{
	char *argv[] = { (char *)(uintptr_t)"compat", NULL }, *envp[] = { NULL };
	int fd = make_program(), said[2];
	char byte;
	pid_t pid;

	if (fd < 0)
		return -1;
	if (pipe2(said, O_CLOEXEC)) {
		close(fd);
		return -1;
	}
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(said[1], STDOUT_FILENO);
		syscall(SYS_execveat, fd, "", argv, envp, AT_EMPTY_PATH);
		_exit(127);
	}
	close(fd);
	close(said[1]);
	if (pid > 0 && read(said[0], &byte, 1) != 1)
		byte = 0;	/* its maps have no vDSO then */
	close(said[0]);
	return pid;
}

static void *read_mem(pid_t pid, u64 from, size_t size)
{
	void *bytes = malloc(size);
	char path[64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd >= 0 && bytes ? pread(fd, bytes, size, (off_t)from) : -1;
	if (fd >= 0)
		close(fd);
	if (got == (ssize_t)size)
		return bytes;
	free(bytes);
	return NULL;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void *image;
static size_t image_size;

static void fetch(void)
{
	pid_t pid = start();
	char line[512];
	u64 from, to;
	FILE *f;

	if (pid <= 0)
		return;
	snprintf(line, sizeof(line), "/proc/%d/maps", pid);
	f = fopen(line, "re");
	while (f && !image && fgets(line, sizeof(line), f)) {
		if (!strstr(line, "[vdso]") ||
		    sscanf(line, "%" SCNx64 "-%" SCNx64, &from, &to) != 2 || to >> 32 ||
		    to <= from || to - from > MAX_SIZE)
			continue;
		image_size = (size_t)(to - from);
		image = read_mem(pid, from, image_size);
	}
	if (f)
		fclose(f);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/**
 * vdso_compat() - the vDSO of this kernel's 32-bit tasks (i386)
 * @size: bytes of it
 *
 * No capture carries it, and a 64-bit process has another one. The first call starts a 32-bit
 * program of a few instructions, and reads its mapping.
 *
 * Return: the ELF image, which lives as long as the process; NULL where no 32-bit program can
 * be run, or not looked into.
 */
const void *vdso_compat(size_t *size)
{
	pthread_once(&once, fetch);
	*size = image ? image_size : 0;
	return image;
}
