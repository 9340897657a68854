// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A plug-in for dlopen.c, built several times with different frames (PLUG_ROOM bytes).
 */
#include <string.h>

#include "target.h"

#ifndef PLUG_ROOM
#define PLUG_ROOM 100
#endif

int plug(int (*back)(int), int n);

static __attribute__((noinline)) int inner(int (*back)(int), int n)
{
	volatile char room[PLUG_ROOM];

	memset((char *)room, n, sizeof(room));
	target_spin(PLUG_ROOM * 20);
	return back(n) + room[n % PLUG_ROOM];
}

int plug(int (*back)(int), int n)
{
	return n ? inner(back, n) + plug(back, n - 1) : 0;
}
