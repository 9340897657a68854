/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Stop reasons: the one list of why a row or a trace ends, with the name in reports
 * and the class that decides what follows from it.
 */
#ifndef EHFRAME_STOP_H
#define EHFRAME_STOP_H

#include "ehframe/base.h"

/*	symbol		name			meaning */
#define EHF_STOP_CLASSES(X) \
	X(NONE,		"none",			"not stopped") \
	X(COMPLETE,	"complete",		"the stack really ends here") \
	X(NOT_FOUND,	"not-found",		"nothing describes this pc") \
	X(FAULT,	"fault",		"bytes could not be read") \
	X(UNKNOWN_REG,	"unknown-register",	"a rule needs a value that we do not have") \
	X(UNSUPPORTED,	"unsupported",		"legal CFI outside our subset") \
	X(OVER_LIMIT,	"over-limit",		"legal, but past a stated bound") \
	X(POLICY,	"policy",		"we refuse to follow") \
	X(MALFORMED,	"malformed",		"one FDE's program is wrong from there on") \
	X(CORRUPT,	"corrupt",		"the section itself is wrong: it is removed")

/*	symbol		name				class		meaning */
#define EHF_STOPS(X) \
	X(NONE,		"none",				NONE, \
	  "not stopped") \
	X(RA_UNDEFINED,	"ra-undefined",			COMPLETE, \
	  "the return address is marked undefined: the outermost frame") \
	X(RA_ZERO,	"ra-zero",			COMPLETE, \
	  "the return address is 0") \
	X(END_MARKER,	"end-marker",			COMPLETE, \
	  "the end that the architecture's ABI agrees on") \
	X(NO_FDE,	"no-fde",			NOT_FOUND, \
	  "the module has no FDE for this pc") \
	X(PC_NOT_IN_MODULE, "pc-not-in-module",		NOT_FOUND, \
	  "no registered section covers this pc") \
	X(MEMORY,	"memory",			FAULT, \
	  "stack or data could not be read") \
	X(SECTION_MEMORY, "section-memory",		FAULT, \
	  "CFI bytes could not be read") \
	X(FP_UNKNOWN,	"fp-unknown",			UNKNOWN_REG, \
	  "the rule needs the frame pointer, which was lost on the way") \
	X(CFA_REG,	"cfa-register-untracked",	UNKNOWN_REG, \
	  "the CFA is based on a register that is not known in this frame") \
	X(RA_REG,	"ra-in-untracked-register",	UNKNOWN_REG, \
	  "the return address is in a register that is not known in this frame") \
	X(SP_REG,	"sp-in-untracked-register",	UNKNOWN_REG, \
	  "the stack pointer is in a register that is not known in this frame") \
	X(RA_NOT_SAVED,	"ra-not-saved",			UNKNOWN_REG, \
	  "a caller's frame has no rule for its return address") \
	X(OPCODE,	"unsupported-opcode",		UNSUPPORTED, \
	  "a call frame instruction that is not defined for this machine") \
	X(EXPRESSION,	"unsupported-expression",	UNSUPPORTED, \
	  "a DWARF expression outside the known patterns") \
	X(ENCODING,	"unsupported-encoding",		UNSUPPORTED, \
	  "a pointer encoding that is not followed in .eh_frame") \
	X(AUGMENTATION,	"unsupported-augmentation",	UNSUPPORTED, \
	  "an augmentation string without a length to skip it by") \
	X(CIE_VERSION,	"unsupported-cie-version",	UNSUPPORTED, \
	  "a CIE version other than 1, 3 and 4") \
	X(ADDRESS_SIZE,	"unsupported-address-size",	UNSUPPORTED, \
	  "a version 4 CIE with segments, or not of the machine's word size") \
	X(REG_RULE,	"unsupported-register-rule",	UNSUPPORTED, \
	  "a rule for the return address that cannot be followed") \
	X(SP_RULE,	"sp-rule-unsupported",		UNSUPPORTED, \
	  "a rule for the stack pointer that cannot be followed") \
	X(SIGNAL_FRAME,	"signal-frame-unsupported",	UNSUPPORTED, \
	  "a signal frame of unknown layout") \
	X(LIMIT_FDE_LENGTH, "limit-fde-length",		OVER_LIMIT, \
	  "a CIE or FDE longer than the limit") \
	X(LIMIT_INSNS,	"limit-instructions",		OVER_LIMIT, \
	  "more call frame instructions in CIE and FDE than the limit") \
	X(LIMIT_STATES,	"limit-state-depth",		OVER_LIMIT, \
	  "remember_state nests deeper than the limit") \
	X(LIMIT_EXPRESSION, "limit-expression-length",	OVER_LIMIT, \
	  "an expression longer than the limit") \
	X(LIMIT_LEB,	"limit-leb-length",		OVER_LIMIT, \
	  "a LEB128 number padded to more bytes than the limit") \
	X(LIMIT_SCAN,	"limit-scan",			OVER_LIMIT, \
	  "more records in a section without a table than the limit") \
	X(TRACE_FULL,	"trace-full",			OVER_LIMIT, \
	  "the caller's array of entries is full") \
	X(NO_PROGRESS,	"no-progress",			POLICY, \
	  "the frame would unwind to itself") \
	X(CFA_BELOW_SP,	"cfa-below-sp",			POLICY, \
	  "the CFA lies below the stack pointer") \
	X(STACK_SWITCH,	"stack-switch",			POLICY, \
	  "the CFA was loaded from memory and lies below the stack pointer") \
	X(MISALIGNED,	"misaligned",			POLICY, \
	  "CFA or SP is not a multiple of the word size") \
	X(LOC_BACKWARDS, "location-backwards",		MALFORMED, \
	  "the program's location moves backwards") \
	X(RESTORE_EMPTY, "restore-on-empty",		MALFORMED, \
	  "restore_state without a remembered state") \
	X(REG_AFTER_EXPR, "register-after-expression",	MALFORMED, \
	  "def_cfa_register or def_cfa_offset while the CFA is an expression") \
	X(TRUNCATED,	"truncated-operand",		MALFORMED, \
	  "a record ends inside an operand") \
	X(LEB_RANGE,	"leb-range",			MALFORMED, \
	  "a LEB128 number does not fit in 64 bits") \
	X(OFFSET_RANGE,	"offset-range",			MALFORMED, \
	  "an offset does not fit in 64 bits once multiplied by its factor") \
	X(CFA_UNDEFINED, "cfa-undefined",		MALFORMED, \
	  "no rule defines the CFA") \
	X(CIE_ADVANCES,	"cie-moves-location",		MALFORMED, \
	  "a CIE's initial instructions move the location") \
	X(FDE_RANGE,	"fde-range",			MALFORMED, \
	  "an FDE's address range wraps around") \
	X(TABLE_MISMATCH, "table-mismatch",		MALFORMED, \
	  "a search table entry and the FDE it names disagree") \
	X(BAD_EXPRESSION, "bad-expression",		MALFORMED, \
	  "an expression ends inside an operation") \
	X(BAD_HEADER,	"bad-header",			CORRUPT, \
	  ".eh_frame_hdr cannot be used") \
	X(BAD_TABLE,	"bad-table",			CORRUPT, \
	  "the search table does not fit or points outside the section") \
	X(BAD_RECORD_LENGTH, "bad-record-length",	CORRUPT, \
	  "a record's length is reserved or reaches beyond the section") \
	X(BAD_CIE_POINTER, "bad-cie-pointer",		CORRUPT, \
	  "an FDE's CIE pointer leads outside the section or to no CIE") \
	X(BAD_CIE,	"bad-cie",			CORRUPT, \
	  "a CIE's fields are cut off or impossible")

enum ehf_stop {
#define X(sym, name, class, text) EHF_STOP_##sym,
	EHF_STOPS(X)
#undef X
	EHF_NR_STOPS
};

enum ehf_stop_class {
#define X(sym, name, text) EHF_CLASS_##sym,
	EHF_STOP_CLASSES(X)
#undef X
	EHF_NR_STOP_CLASSES
};

const char *ehf_stop_name(enum ehf_stop stop);
const char *ehf_stop_text(enum ehf_stop stop);
enum ehf_stop_class ehf_stop_class(enum ehf_stop stop);
const char *ehf_class_name(enum ehf_stop_class cls);

#endif /* EHFRAME_STOP_H */
