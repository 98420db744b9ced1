// The kernels as an addon of Node: open(threads, bytes) gives a pool, window(pool, offset, bytes) an ArrayBuffer over a part of its
// arena, run(pool, offset, words) a status; detach(window) for each, then close(pool).
#include "pool.c"

#include "napi.h"

static int arguments(napi_env env, napi_callback_info info, napi_value *args, size_t count) {
  size_t given = count;
  return napi_get_cb_info(env, info, &given, args, 0, 0) == 0 && given == count;
}

static napi_value complain(napi_env env, const char *message) {
  napi_throw_error(env, 0, message);
  return 0;
}

// Also for a thread of Node that ends without closing its pool, as one that is terminated does.
static void close_left(void *pool) { pool_close(pool); }

static napi_value js_open(napi_env env, napi_callback_info info) {
  napi_value args[2], result;
  double count, bytes;
  if (!arguments(env, info, args, 2) || napi_get_value_double(env, args[0], &count) ||
      napi_get_value_double(env, args[1], &bytes) || !(count >= 1 && count <= MAX_THREADS) || !(bytes >= 4096))
    return complain(env, "open(threads, bytes)");
#if defined(__x86_64__) && defined(__AVX512F__)
  if (!__builtin_cpu_supports("avx512f")) return complain(env, "built for AVX-512, which this processor lacks");
#elif defined(__x86_64__) && defined(__AVX2__)
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
    return complain(env, "built for AVX2, which this processor lacks");
#endif
  Pool *pool = pool_open((int)count, (size_t)bytes);
  if (!pool) return complain(env, "memory or threads cannot be had");
  if (!napi_create_external(env, pool, 0, 0, &result) && !napi_add_env_cleanup_hook(env, close_left, pool)) return result;
  pool_close(pool);
  return complain(env, "the pool cannot be shown to JavaScript");
}

static napi_value js_window(napi_env env, napi_callback_info info) {
  napi_value args[3], result;
  void *data;
  double offset, bytes;
  if (!arguments(env, info, args, 3) || napi_get_value_external(env, args[0], &data) ||
      napi_get_value_double(env, args[1], &offset) || napi_get_value_double(env, args[2], &bytes))
    return complain(env, "window(pool, offset, bytes)");
  Pool *pool = data;
  if (!(offset >= 0 && bytes > 0 && offset + bytes <= (double)pool->bytes)) return complain(env, "no such part of the arena");
  return napi_create_external_arraybuffer(env, pool->arena + (size_t)offset, (size_t)bytes, 0, 0, &result) ? 0 : result;
}

static napi_value js_run(napi_env env, napi_callback_info info) {
  napi_value args[3], result;
  void *data;
  double offset, words;
  if (!arguments(env, info, args, 3) || napi_get_value_external(env, args[0], &data) ||
      napi_get_value_double(env, args[1], &offset) || napi_get_value_double(env, args[2], &words))
    return complain(env, "run(pool, offset, words)");
  return napi_create_int32(env, pool_run(data, (size_t)offset, (int32_t)words), &result) ? 0 : result;
}

// Views that are left behind become empty instead of pointing at nothing.
static napi_value js_detach(napi_env env, napi_callback_info info) {
  napi_value window;
  return arguments(env, info, &window, 1) && !napi_detach_arraybuffer(env, window) ? 0 : complain(env, "detach(window)");
}

static napi_value js_close(napi_env env, napi_callback_info info) {
  napi_value value;
  void *data;
  if (!arguments(env, info, &value, 1) || napi_get_value_external(env, value, &data)) return complain(env, "close(pool)");
  napi_remove_env_cleanup_hook(env, close_left, data);
  pool_close(data);
  return 0;
}

__attribute__((visibility("default"))) napi_value napi_register_module_v1(napi_env env, napi_value exports) {
  static const struct { const char *name; napi_callback call; } functions[] = {
      {"open", js_open}, {"window", js_window}, {"run", js_run}, {"detach", js_detach}, {"close", js_close}};
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    napi_value function;
    if (napi_create_function(env, functions[i].name, (size_t)-1, functions[i].call, 0, &function) ||
        napi_set_named_property(env, exports, functions[i].name, function))
      return 0;
  }
  return exports;
}
