// All kernels as one unit, so that the compiler sees through them and a build is one command.
#include "ops.h"

#include "team.c"

#include "gemm.c"

#include "attention.c"

#include "attention-back.c"

#include "adamw.c"
#include "elementwise.c"
#include "head.c"
#include "norms.c"
#include "rope.c"
#include "rows.c"
#include "swiglu.c"

#include "bounds.c"

#include "interpreter.c"
