// The few declarations of Node-API that the addon uses (stable since version 7), so that building it needs no headers of Node.
#ifndef EVSYS_NAPI_H
#define EVSYS_NAPI_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct napi_env__ *napi_env;
typedef struct napi_value__ *napi_value;
typedef struct napi_ref__ *napi_ref;
typedef struct napi_callback_info__ *napi_callback_info;
typedef int napi_status; // 0 is success
typedef napi_value (*napi_callback)(napi_env, napi_callback_info);
typedef void (*napi_finalize)(napi_env, void *data, void *hint);

napi_status napi_get_cb_info(napi_env, napi_callback_info, size_t *count, napi_value *args, napi_value *self, void **data);
napi_status napi_create_function(napi_env, const char *name, size_t length, napi_callback, void *data, napi_value *result);
napi_status napi_set_named_property(napi_env, napi_value object, const char *name, napi_value value);
napi_status napi_create_external(napi_env, void *data, napi_finalize, void *hint, napi_value *result);
napi_status napi_get_value_external(napi_env, napi_value, void **result);
napi_status napi_create_external_arraybuffer(napi_env, void *data, size_t bytes, napi_finalize, void *hint, napi_value *result);
napi_status napi_detach_arraybuffer(napi_env, napi_value);
napi_status napi_get_typedarray_info(napi_env, napi_value, int *type, size_t *length, void **data, napi_value *buffer,
                                     size_t *offset);
napi_status napi_create_reference(napi_env, napi_value, uint32_t count, napi_ref *result);
napi_status napi_delete_reference(napi_env, napi_ref);
napi_status napi_get_value_double(napi_env, napi_value, double *result);
napi_status napi_create_int32(napi_env, int32_t, napi_value *result);
napi_status napi_add_env_cleanup_hook(napi_env, void (*call)(void *), void *argument);
napi_status napi_remove_env_cleanup_hook(napi_env, void (*call)(void *), void *argument);
napi_status napi_throw_error(napi_env, const char *code, const char *message);
#endif
