// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Children by fork and by vfork: some work and exit, some execute this program again.
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "target.h"

int main(int argc, char **argv)
{
	long until = target_until(argc, argv);
	int status;

	if (argc > 2 && !strcmp(argv[2], "child")) {
		while (target_ms() < until)
			target_spin(5000);
		return 0;
	}
	for (int k = 0; k < (argc > 2 ? atoi(argv[2]) : 40); k++) {
		pid_t pid = k & 1 ? fork() : vfork();

		if (!pid) {
			if (k & 1) {
				while (target_ms() < 5)
					target_spin(5000);
				_exit(0);
			}
			execl("/proc/self/exe", "forks", "5", "child", (char *)NULL);
			_exit(127);
		}
		if (pid > 0)
			waitpid(pid, &status, 0);
	}
	return 0;
}
