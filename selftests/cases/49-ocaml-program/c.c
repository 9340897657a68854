// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <caml/callback.h>
#include <caml/memory.h>
#include <caml/mlvalues.h>
value through_c(value f, value n) { CAMLparam2(f, n); CAMLlocal1(r); r = caml_callback(f, n); CAMLreturn(Val_long(Long_val(r) + 1)); }
