// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Names, texts and classes of the stop reasons, from the one list in stop.h.
 */
#include "ehframe/stop.h"

struct stop_info {
	const char *name;
	const char *text;
	u8 class;
};

static const struct stop_info stops[] = {
#define X(sym, name, class, text) [EHF_STOP_##sym] = { name, text, EHF_CLASS_##class },
	EHF_STOPS(X)
#undef X
};

static const char *const classes[] = {
#define X(sym, name, text) [EHF_CLASS_##sym] = name,
	EHF_STOP_CLASSES(X)
#undef X
};

/**
 * ehf_stop_name() - the fixed name of a stop reason, as reports and JSON print it
 * @stop: the reason
 *
 * Return: a constant string, "?" for a number that is no reason.
 */
const char *ehf_stop_name(enum ehf_stop stop)
{
	return (unsigned int)stop < EHF_NR_STOPS ? stops[stop].name : "?";
}

/**
 * ehf_stop_text() - what a stop reason means, in a few words
 * @stop: the reason
 *
 * Return: a constant string, "?" for a number that is no reason.
 */
const char *ehf_stop_text(enum ehf_stop stop)
{
	return (unsigned int)stop < EHF_NR_STOPS ? stops[stop].text : "?";
}

/**
 * ehf_stop_class() - the class of a stop reason
 * @stop: the reason
 *
 * Only EHF_CLASS_CORRUPT lets a caller remove the section.
 *
 * Return: the class; EHF_CLASS_NONE for a number that is no reason.
 */
enum ehf_stop_class ehf_stop_class(enum ehf_stop stop)
{
	return (unsigned int)stop < EHF_NR_STOPS ? (enum ehf_stop_class)stops[stop].class :
						   EHF_CLASS_NONE;
}

/**
 * ehf_class_name() - the fixed name of a class of stop reasons
 * @cls: the class
 *
 * Return: a constant string, "?" for a number that is no class.
 */
const char *ehf_class_name(enum ehf_stop_class cls)
{
	return (unsigned int)cls < EHF_NR_STOP_CLASSES ? classes[cls] : "?";
}
