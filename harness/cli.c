// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Command lines as a table: parsing, --help and usage errors for every tool. */

#include "harness/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define HELP_COLUMN	28	/* where the descriptions begin */

static void print_lines(FILE *to, const char *text, int indent)
{
	for (;;) {
		const char *nl = strchr(text, '\n');
		int len = nl ? (int)(nl - text) : (int)strlen(text);

		fprintf(to, "%.*s\n", len, text);
		if (!nl)
			return;
		text = nl + 1;
		fprintf(to, "%*s", indent, "");
	}
}

static void print_option(FILE *to, const struct cli_opt *o)
{
	int len;

	if (o->letter)
		len = fprintf(to, "  -%c, --%s", o->letter, o->name);
	else
		len = fprintf(to, "      --%s", o->name);
	if (o->argname)
		len += fprintf(to, "=%s", o->argname);
	if (len > HELP_COLUMN - 2) {
		fputc('\n', to);
		len = 0;
	}
	fprintf(to, "%*s", HELP_COLUMN - len, "");
	print_lines(to, o->help ? o->help : "", HELP_COLUMN);
}

/**
 * cli_help() - print the help text that follows from the table
 * @cli: the tool
 * @to: where to
 */
void cli_help(const struct cli *cli, FILE *to)
{
	static const struct cli_opt help = { "help", 'h', NULL, "print this text" };
	const char *line = cli->usage ? cli->usage : "[OPTION]...";
	const char *head = "usage:";
	bool have_help = false;

	for (;;) {
		const char *nl = strchr(line, '\n');
		int len = nl ? (int)(nl - line) : (int)strlen(line);

		fprintf(to, "%s %s %.*s\n", head, cli->prog, len, line);
		if (!nl)
			break;
		line = nl + 1;
		head = "      ";
	}
	if (cli->about)
		fprintf(to, "\n%s\n", cli->about);

	fprintf(to, "\noptions:\n");
	for (const struct cli_opt *o = cli->opts; o && o->name; o++) {
		print_option(to, o);
		have_help |= !strcmp(o->name, "help");
	}
	if (!have_help)
		print_option(to, &help);
	if (cli->footer)
		fprintf(to, "\n%s\n", cli->footer);
}

/**
 * cli_error() - report a usage error on stderr
 * @cli: the tool
 * @format: what is wrong, without a newline
 *
 * Return: CLI_ERROR, so that a caller can end with it.
 */
int cli_error(const struct cli *cli, const char *format, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", cli->prog);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fprintf(stderr, "\nTry '%s --help'.\n", cli->prog);
	return CLI_ERROR;
}

/**
 * cli_number() - read the value of an option as a number
 * @cli: the tool
 * @idx: index of the option in the table, for the message
 * @value: text: decimal, 0x hexadecimal, with an optional suffix K, M or G (powers of 1024)
 * @min: smallest value allowed
 * @max: largest value allowed
 * @out: the number; untouched on error
 *
 * Return: 0, or CLI_ERROR after a message on stderr.
 */
int cli_number(const struct cli *cli, int idx, const char *value, uint64_t min, uint64_t max,
	       uint64_t *out)
{
	const char *name = cli->opts[idx].name;
	unsigned long long n;
	unsigned int shift = 0;
	char *end;

	/* strtoull() takes blanks and signs, and negates: none of it is a size. */
	if (value[0] < '0' || value[0] > '9')
		return cli_error(cli, "--%s: '%s' is not a number", name, value);
	errno = 0;
	n = strtoull(value, &end, 0);
	if (*end == 'K' || *end == 'k')
		shift = 10;
	else if (*end == 'M' || *end == 'm')
		shift = 20;
	else if (*end == 'G' || *end == 'g')
		shift = 30;
	if (shift)
		end++;
	if (*end)
		return cli_error(cli, "--%s: '%s' is not a number", name, value);
	if (errno || n > UINT64_MAX >> shift || n << shift < min || n << shift > max)
		return cli_error(cli, "--%s: %s is not in %llu..%llu", name, value,
				 (unsigned long long)min, (unsigned long long)max);
	*out = (uint64_t)n << shift;
	return 0;
}

static int find_long(const struct cli *cli, const char *name, size_t len)
{
	for (int i = 0; cli->opts && cli->opts[i].name; i++) {
		if (!strncmp(cli->opts[i].name, name, len) && !cli->opts[i].name[len])
			return i;
	}
	return -1;
}

static int find_letter(const struct cli *cli, char letter)
{
	for (int i = 0; cli->opts && cli->opts[i].name; i++) {
		if (cli->opts[i].letter == letter)
			return i;
	}
	return -1;
}

/* One argv word "--name" or "--name=value"; returns words taken, or CLI_ERROR / CLI_HELP. */
static int parse_long(const struct cli *cli, char **argv,
		      int (*on)(int, const char *, void *), void *arg)
{
	const char *name = argv[0] + 2;
	const char *eq = strchr(name, '=');
	size_t len = eq ? (size_t)(eq - name) : strlen(name);
	const char *value = eq ? eq + 1 : NULL;
	int idx = find_long(cli, name, len);
	int taken = 1;

	if (idx < 0 && len == 4 && !eq && !memcmp(name, "help", 4)) {
		cli_help(cli, stdout);
		return CLI_HELP;
	}
	if (idx < 0)
		return cli_error(cli, "unknown option '--%.*s'", (int)len, name);
	if (!cli->opts[idx].argname && value)
		return cli_error(cli, "option '--%.*s' takes no value", (int)len, name);
	if (cli->opts[idx].argname && !value) {
		value = argv[1];
		if (!value)
			return cli_error(cli, "option '--%s' needs a value: %s",
					 cli->opts[idx].name, cli->opts[idx].argname);
		taken = 2;
	}
	return on(idx, value, arg) ? CLI_ERROR : taken;
}

/* One argv word of letters, "-xyz VALUE"; returns as parse_long(). */
static int parse_letters(const struct cli *cli, char **argv,
			 int (*on)(int, const char *, void *), void *arg)
{
	for (const char *p = argv[0] + 1; *p; p++) {
		int idx = find_letter(cli, *p);
		const char *value = NULL;
		int taken = 1;

		if (idx < 0 && *p == 'h') {
			cli_help(cli, stdout);
			return CLI_HELP;
		}
		if (idx < 0)
			return cli_error(cli, "unknown option '-%c'", *p);
		if (!cli->opts[idx].argname) {
			if (on(idx, NULL, arg))
				return CLI_ERROR;
			continue;
		}
		value = p + 1;
		if (!*value) {
			value = argv[1];
			taken = 2;
		}
		if (!value)
			return cli_error(cli, "option '-%c' needs a value: %s", *p,
					 cli->opts[idx].argname);
		return on(idx, value, arg) ? CLI_ERROR : taken;
	}
	return 1;
}

/* Move the @words words at argv[0] in front of the @nr operands before them. */
static void move_before(char **argv, int words, int nr)
{
	char *keep[2];

	if (!nr)
		return;
	memcpy(keep, argv, sizeof(*argv) * (size_t)words);
	memmove(argv - nr + words, argv - nr, sizeof(*argv) * (size_t)nr);
	memcpy(argv - nr, keep, sizeof(*argv) * (size_t)words);
}

/**
 * cli_parse() - parse a command line by its table
 * @cli: the tool
 * @argc: as main() got it
 * @argv: as main() got it; operands are moved behind the options
 * @on: called for each option in order with its index in the table and its value (NULL for
 *      an option without one); non-zero ends the parse as a usage error that on() has reported
 * @arg: passed to @on
 *
 * Understands --name, --name=VALUE, --name VALUE, -x, -xVALUE, -x VALUE and -xyz; names are
 * never abbreviated. "--" ends the options; "-" is an operand. --help and -h are always there.
 *
 * Return: index of the first operand in @argv (argc if there is none), CLI_ERROR after a
 *         message on stderr, CLI_HELP after the help text on stdout.
 */
int cli_parse(const struct cli *cli, int argc, char **argv,
	      int (*on)(int idx, const char *value, void *arg), void *arg)
{
	int nr = 0;	/* operands before argv[i] */
	int i = 1;

	while (i < argc) {
		int taken = 1;

		if (!strcmp(argv[i], "--")) {
			if (cli->tell_separator &&
			    on(CLI_SEPARATOR, nr ? argv[i - nr] : NULL, arg))
				return CLI_ERROR;
			move_before(argv + i, 1, nr);
			return i + 1 - nr;
		}
		if (argv[i][0] != '-' || !argv[i][1]) {
			if (cli->stop_at_operand)
				return i;
			nr++;
			i++;
			continue;
		}
		if (argv[i][1] == '-')
			taken = parse_long(cli, argv + i, on, arg);
		else
			taken = parse_letters(cli, argv + i, on, arg);
		if (taken < 0)
			return taken;
		move_before(argv + i, taken, nr);
		i += taken;
	}
	return i - nr;
}
