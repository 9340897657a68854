#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Say what a guest's console shows: each test, the counters, and complaints of its kernel.

    tools/kernel-report.py CONSOLE-LOG

Status 0 if every test passed or was skipped, all counters say that nothing is left over, and
the kernel logged nothing of level warning or worse after the module was loaded.
"""
import re
import sys

# What a kernel says of any module that is not its own, and of a machine that is emulated slowly.
EXPECTED = re.compile(r"hrtimer: interrupt took \d+ ns|clocksource: .*skew|ehunwind: (loading out-of-tree module taints kernel"
                      r"|module verification failed: signature and/or required key missing)")
BAD = re.compile(r"WARNING:|BUG:|Oops|Call Trace|general protection|stall|hung task|UBSAN|KASAN"
                 r"|Kernel panic|scheduling while atomic|refcount_t|possible .* locking")
LEFT = ("objects", "threads", "queued", "mms")


def parts(path):
    """Yields (marker, argument, lines that follow it)."""
    head, body = ("", ""), []
    with open(path, encoding="utf-8", errors="replace") as f:
        for line in f:
            m = re.match(r".*?@@ (\w+) ?(.*)", line)
            if m:
                yield head[0], head[1], body
                head, body = (m.group(1), m.group(2)), []
            else:
                body.append(line.rstrip("\n"))
    yield head[0], head[1], body


def main():
    failed, passed, skipped, counts, programs, ended, program = [], 0, [], {}, 0, False, ""
    for marker, argument, body in parts(sys.argv[1]):
        if marker == "kernel":
            print("# " + argument)
        elif marker == "uptime":
            print("# %s s after its start" % argument)
        elif marker == "took":
            m = re.match(r"from ([\d.]+) to ([\d.]+)", argument)
            print("  # %s took %.1f s" % (program, float(m.group(2)) - float(m.group(1))))
        elif marker == "failed":
            failed.append(argument)
        elif marker == "run":
            program, programs = argument, programs + 1
            plan = seen = 0
            for line in body:
                m = re.match(r"1\.\.(\d+)", line)
                plan = int(m.group(1)) if m else plan
                m = re.match(r"(not ok|ok) \d+ (.*)", line)
                if not m:
                    if line.startswith("#"):
                        print("  " + line)
                    continue
                seen += 1
                name = program + ": " + m.group(2)
                if m.group(1) == "not ok":
                    failed.append(name)
                    print("  not ok " + name)
                elif "# SKIP" in m.group(2):
                    skipped.append(name)
                else:
                    passed += 1
                    print("  ok " + name)
            if not plan or plan != seen:
                failed.append("%s: %d of %d tests ran" % (program, seen, plan))
        elif marker == "status" and argument.strip() != "0":
            failed.append("%s: status %s" % (program, argument))
        elif marker == "counts":
            for line in body:
                m = re.match(r"(\w+) +(-?\d+)  (.*)", line)
                if m:
                    counts[m.group(1)] = int(m.group(2))
                    print("# %-12s %10s  %s" % m.groups())
        elif marker == "unload":
            failed += ["rmmod: " + line for line in body if line.strip()]
        elif marker == "dmesg":
            loaded = False
            for line in body:
                m = re.match(r"<(\d+)>(.*)", line)
                loaded |= "ehunwind" in line
                if BAD.search(line) or (loaded and m and int(m.group(1)) & 7 <= 4 and
                                        not EXPECTED.search(line)):
                    failed.append("dmesg: " + line)
                if "works left" in line and not re.search(r"\b0 objects, 0 threads, 0 works",
                                                          line):
                    failed.append("left over: " + line)
        elif marker == "end":
            ended = True
    if not ended:
        failed.append("the guest did not come to its end; see " + sys.argv[1])
    for name in LEFT[1:3]:
        if counts.get(name):
            failed.append("%d %s left" % (counts[name], name))
    if counts.get("walks"):
        print("# %d ns a walk, %.1f frames, %.1f reads" % (
            counts["ns"] / counts["walks"], counts["frames"] / counts["walks"],
            counts["reads"] / counts["walks"]))
    for name in skipped:
        print("# skipped " + name)
    for name in failed:
        print("# FAILED " + name)
    print("# %d programs, %d tests passed, %d skipped, %d failures"
          % (programs, passed, len(skipped), len(failed)))
    print("Result: " + ("FAIL" if failed or not passed else "PASS"))
    return 1 if failed or not passed else 0


sys.exit(main())
