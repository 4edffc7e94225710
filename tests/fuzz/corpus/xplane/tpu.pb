
Ø/device:TPU:00XLA Modules"  ÷6" " ûÿÿÿÿÿÿÿÿ/XLA Ops"ğ“	 " M" c"
à§Àš)Async XLA Ops"
€â	 Â"
ÀšÀÏ$Steps"
  ÷6"jit_f(7)"$ %dot.1 = f32[2,2] dot"dot.1"%copy-start"
copy-start"	3*_ct*
_c*	flops*bytes_accessed
É	/host:CPUQıÿÿÿÿÿÿÿÿmain/3"N œ" " ûÿÿÿÿÿÿÿÿ"	À¸ˆ'"	Ğ†ˆ'"	("DoEnqueueProgram"	$a.py:1 f"#net/x/MatMul:MatMul"MatMul*_pt*
_pan error"h