#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Say what a KUnit log shows: the tests of each suite, and what a sanitizer reported.

    tools/kernel-kunit.py LOG

Status 0 if there were tests, all passed or were skipped, and no sanitizer had anything to say.
"""
import re
import sys


def main():
    passed, skipped, failed, reports, suites = {}, [], [], [], []
    tail, suite, plan = [], None, None
    with open(sys.argv[1], encoding="utf-8", errors="replace") as f:
        for line in f:
            line = line.rstrip("\n")
            tail = (tail + [line])[-15:]
            # What is said before the first suite is of the kernel's start.
            if plan and re.search(r"BUG: KASAN|UBSAN:|WARNING: |Kernel panic|BUG: ", line):
                reports.append(line.strip())
            m = re.match(r"\s*# Subtest: (core_\w+)$", line)
            if m:
                suite = m.group(1)
            m = re.match(r"1\.\.(\d+)", line)
            if m:
                plan = int(m.group(1))
            m = re.match(r"(\s*)(not ok|ok) \d+ (?:- )?(\S+)(.*)", line)
            if not m:
                continue
            indent, verdict, name, rest = m.groups()
            if not indent:
                suites.append(name)
            elif "." in name or len(indent) >= 8:
                name = "%s: %s" % (suite, name)
                if verdict == "not ok":
                    failed.append(name)
                elif "SKIP" in rest:
                    skipped.append(name)
                else:
                    passed[suite] = passed.get(suite, 0) + 1
    for name, nr in passed.items():
        print("# %-20s %5d tests passed" % (name, nr))
    for name in skipped:
        print("# skipped " + name)
    for name in failed:
        print("# FAILED " + name)
    for line in reports:
        print("# REPORT " + line)
    total = sum(passed.values())
    if plan is None or plan != len(suites) or not total:
        print("# %s of %s suites ran; the log ends:" % (len(suites), plan))
        for line in tail:
            print("#   " + line)
        failed.append("plan")
    print("# %d tests passed, %d skipped, %d failed, %d sanitizer reports"
          % (total, len(skipped), len(failed), len(reports)))
    print("Result: " + ("FAIL" if failed or reports else "PASS"))
    return 1 if failed or reports else 0


sys.exit(main())
