// Carries out a program, operation by operation. Every thread reads all of it, and they meet after each operation.
#include "ops.h"
#include "team.h"

#define NO_BARRIER (1 << 16)

#define OPERATION(code, type, run) \
  case code: \
    run(thread, (const type *)(program + at + 1)); \
    at += 1 + (int32_t)(sizeof(type) / 4); \
    break;

// Loses one thread, as a defect of a kernel would.
static void run_trap(Thread *t, const OpTrap *op) {
  if (t->index == op->thread % t->count) __builtin_trap();
}

// The program was checked: its opcodes are known and it is whole.
static int interpret(Thread *thread, const int32_t *program, int32_t words) {
  for (int32_t at = 0; at < words;) {
    int32_t code = program[at] & 0xffff;
    int waits = !(program[at] & NO_BARRIER);
    // The next hand-out of tasks starts at a barrier.
    if (code == OP_ATTENTION || code == OP_ATTENTION_BACK) waits = 1;
    switch (code) {
      OPERATION(OP_GEMM, OpGemm, run_gemm)
      OPERATION(OP_PACK, OpPack, run_pack)
      OPERATION(OP_GEMM_PACKED, OpGemmPacked, run_gemm_packed)
      OPERATION(OP_RMS_NORM, OpRmsNorm, run_rms_norm)
      OPERATION(OP_RMS_NORM_BACK, OpRmsNormBack, run_rms_norm_back)
      OPERATION(OP_ROPE, OpRope, run_rope)
      OPERATION(OP_ATTENTION, OpAttention, run_attention)
      OPERATION(OP_ATTENTION_BACK, OpAttentionBack, run_attention_back)
      OPERATION(OP_CACHE_ATTENTION, OpCacheAttention, run_cache_attention)
      OPERATION(OP_SWIGLU, OpSwiglu, run_swiglu)
      OPERATION(OP_SWIGLU_BACK, OpSwigluBack, run_swiglu_back)
      OPERATION(OP_ADD_BIAS, OpAddBias, run_add_bias)
      OPERATION(OP_BIAS_BACK, OpBiasBack, run_bias_back)
      OPERATION(OP_GATHER_ROWS, OpGatherRows, run_gather_rows)
      OPERATION(OP_CACHE_ROWS, OpCacheRows, run_cache_rows)
      OPERATION(OP_SCATTER_ADD_ROWS, OpScatterAddRows, run_scatter_add_rows)
      OPERATION(OP_HEAD, OpHead, run_head)
      OPERATION(OP_HEAD_BACK, OpHeadBack, run_head_back)
      OPERATION(OP_LOG_SUM_EXP, OpLogSumExp, run_log_sum_exp)
      OPERATION(OP_ADD, OpAdd, run_add)
      OPERATION(OP_SCALE, OpScale, run_scale)
      OPERATION(OP_FILL, OpFill, run_fill)
      OPERATION(OP_COPY_ROWS, OpCopyRows, run_copy_rows)
      OPERATION(OP_CONVERT, OpConvert, run_convert)
      OPERATION(OP_SUM_SQUARES, OpSumSquares, run_sum_squares)
      OPERATION(OP_ADAMW, OpAdamw, run_adamw)
      OPERATION(OP_TRAP, OpTrap, run_trap)
      default: return UNKNOWN_OPERATION;
    }
    if (waits) barrier(thread);
    int32_t failed = read_now(&thread->team->failed);
    if (failed) return failed;
  }
  return FINE;
}
