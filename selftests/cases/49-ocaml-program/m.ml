(* SPDX-License-Identifier: GPL-2.0-only OR MIT *)
(* OCaml -> C -> OCaml callbacks, exceptions as control flow, tail calls, and calls into the collector *)
external through_c : (int -> int) -> int -> int = "through_c"
exception Stop of int
let rec fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)
let alloc n = List.length (List.rev_map (fun x -> (x, string_of_int x)) (List.init n (fun x -> x)))
let work n = (try List.iter (fun x -> if x > 50 then raise (Stop x)) (List.init 100 (fun x -> x + n)); 0 with Stop x -> x) + fib 22
let () =
  let t = ref 0 in
  for i = 1 to 400 do
    t := !t + through_c (fun n -> work n + alloc 2000) i;
    t := !t + alloc 5000
  done;
  print_int !t
