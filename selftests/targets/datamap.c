// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Maps program files as data, as a linker or a debugger does, above and below what it runs
 * itself: none of their code is code here.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "target.h"

static __attribute__((noinline)) unsigned long down(int depth)
{
	if (depth)
		return down(depth - 1) + target_sum;
	target_spin(2000);
	return target_sum;
}

int main(int argc, char **argv)
{
	long until = target_until(argc, argv);

	for (int k = 2; k < argc; k++) {
		int fd = open(argv[k], O_RDONLY);
		off_t size = lseek(fd, 0, SEEK_END);
		const volatile char *p;

		if (fd < 0)
			return 2;
		p = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (p == MAP_FAILED)
			return 2;
		target_sum += (unsigned long)p[size / 2];
		close(fd);
	}
	while (target_ms() < until)
		target_sum += down(20);
	return 0;
}
