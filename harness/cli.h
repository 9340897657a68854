/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Command lines as a table: parsing, --help and usage errors for every tool. */
#ifndef HARNESS_CLI_H
#define HARNESS_CLI_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Exit status of every tool; where several apply, 1 wins over 3 over 4. */
enum cli_status {
	CLI_STATUS_OK = 0,		/* all agree, or the work is done */
	CLI_STATUS_DIFFERS = 1,		/* something differs */
	CLI_STATUS_USAGE = 2,		/* the command line is wrong */
	CLI_STATUS_INPUT = 3,		/* bad input */
	CLI_STATUS_IMPOSSIBLE = 4,	/* not possible here, or nothing compared */
};

/**
 * struct cli_opt - one option of a tool
 * @name: long name without dashes; NULL ends the table
 * @letter: one-letter form, or 0
 * @argname: what its value is called in the help text, NULL for an option without value
 * @help: one sentence; '\n' starts another line in the same column
 */
struct cli_opt {
	const char *name;
	char letter;
	const char *argname;
	const char *help;
};

/**
 * struct cli - a tool's command line
 * @prog: name in messages
 * @usage: what follows the name in the usage line; '\n' starts another usage line
 * @about: what the tool does, printed below the usage, or NULL
 * @opts: options, ended by an entry without a name
 * @footer: last paragraph of the help text, or NULL
 * @stop_at_operand: the first operand ends the options (for "TOOL [OPTION]... CMD ARGS")
 * @tell_separator: call on() with CLI_SEPARATOR when "--" is met
 */
struct cli {
	const char *prog;
	const char *usage;
	const char *about;
	const struct cli_opt *opts;
	const char *footer;
	bool stop_at_operand;
	bool tell_separator;
};

/* Passed to on() as the index of the option; value: the operand before "--", or NULL. */
#define CLI_SEPARATOR	(-1)

/* Results of cli_parse() that are not an index. */
#define CLI_ERROR	(-1)	/* usage error, already reported: exit with CLI_STATUS_USAGE */
#define CLI_HELP	(-2)	/* help was asked for and printed: exit with CLI_STATUS_OK */

int cli_parse(const struct cli *cli, int argc, char **argv,
	      int (*on)(int idx, const char *value, void *arg), void *arg);
void cli_help(const struct cli *cli, FILE *to);
int cli_error(const struct cli *cli, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
int cli_number(const struct cli *cli, int idx, const char *value, uint64_t min, uint64_t max,
	       uint64_t *out);

#endif /* HARNESS_CLI_H */
